/* State of each connection and prepared statement of a client library.
 *
 * The table is keyed by the library's own pointer. It takes no lock, so that it works in the
 * child of a fork; the libraries let one thread at a time use a connection, and what is kept of
 * one is touched by that thread only. When the table is full, further connections are not
 * measured, and counted.
 */
#ifndef CHRONOSCOPE_INSTRUMENT_SESSIONS_H
#define CHRONOSCOPE_INSTRUMENT_SESSIONS_H

#include "../common/classes.h"
#include "../common/sql.h"

#include <stdbool.h>

enum {
    SESSIONS_MAX = 8192,     /* connections and statements at once; a power of two */
    SESSIONS_QUEUE_MAX = 4096, /* queries of one connection that wait for their results */
    SESSIONS_PREPARED_MAX = 1024, /* prepared statements remembered by name, a connection */
    SESSIONS_WORD_BYTES = 64 /* of a property's value */
};

/* A query that has begun. */
typedef struct {
    arm_tran_start_handle_t handle;
    arm_int64_t rows;
    arm_tran_status_t status;
    char sqlstate[6]; /* "" or why it failed */
} query;

/* A statement prepared under a name. */
typedef struct prepared {
    struct prepared *next;
    const class_entry *class;
    char name[];
} prepared;

/* A connection, or a statement object of one. */
typedef struct session {
    bool inside; /* a call of the library is running; what it calls is its own business */
    query *queue; /* `count` of them from `first` on, around the end of `room` places */
    int room;
    int first;
    int count;
    int unmeasured; /* begun after the queue was full: they end after all in it */
    const class_entry *class; /* a statement object: what executing it is called */
    struct session *owner;    /* a result that is being fetched: its connection */
    const void *fetching;     /* a connection: such a result of it */
    prepared *prepared;
    int prepared_count;
    char database[SESSIONS_WORD_BYTES];
    char server[SESSIONS_WORD_BYTES];
} session;

/* The classes of this process's queries; NULL when nothing can be measured. */
classes *sessions_classes(void);

/* State stored under `key`; made when `make`. NULL for a NULL key, when it is not there, or when
 * there is no room. */
session *session_of(const void *key, bool make);

/* Ends what is open as aborted, and forgets `key`. */
void session_forget(const void *key);

/* The class of an SQL text (NULL is none): its text without values, or with ARM4_SQL=verb its
 * first word. */
const class_entry *session_class(sql_dialect dialect, const char *text, size_t size);

/* Remembers, and finds again, what a prepared statement is called. */
void session_prepare(session *s, const char *name, const class_entry *class);
const class_entry *session_prepared(const session *s, const char *name);

/* Begins a query under the thread's transaction. */
void session_begin(session *s, const class_entry *class);

/* The oldest query that has begun and not ended; NULL when there is none. */
query *session_oldest(session *s);

/* Ends the oldest query. */
void session_end_oldest(session *s);

/* The query begun last did not even get on its way: it has failed and ends. */
void session_refused(session *s, const char *sqlstate);

/* Ends all of them as they stand. */
void session_end_all(session *s);

/* Says that a query failed, with the standard's five characters. Class 57014 and the like, a
 * query that was cancelled, is aborted. */
void query_failed(query *q, const char *sqlstate);

#endif
