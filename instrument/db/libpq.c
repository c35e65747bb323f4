/* PostgreSQL's client library: every query through libpq is a transaction.
 *
 * A query that waits (PQexec and its kin) lasts as long as the call; one that was sent lasts until
 * PQgetResult has said that there is nothing more, also in pipeline mode, where several are under
 * way. COPY lasts until its data has gone over. What the program sees is untouched: every result,
 * error and NULL is the library's own.
 */
#include "real.h"
#include "sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const LIBRARIES[] = {"libpq.", "libpq-", NULL};

/* libpq's interface as far as it is used here, so that building needs no PostgreSQL. It has not
 * changed since PostgreSQL 7.4; the numbers are part of its binary interface. */
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned Oid;
enum {
    EMPTY_QUERY = 0,
    COMMAND_OK = 1,
    TUPLES_OK = 2,
    COPY_OUT = 3,
    COPY_IN = 4,
    BAD_RESPONSE = 5,
    NONFATAL_ERROR = 6,
    FATAL_ERROR = 7,
    COPY_BOTH = 8,
    SINGLE_TUPLE = 9,
    PIPELINE_SYNC = 10,
    PIPELINE_ABORTED = 11
};
enum { DIAG_SQLSTATE = 'C' };

PGresult *PQexec(PGconn *, const char *);
PGresult *PQexecParams(PGconn *, const char *, int, const Oid *, const char *const *, const int *,
                       const int *, int);
PGresult *PQprepare(PGconn *, const char *, const char *, int, const Oid *);
PGresult *PQexecPrepared(PGconn *, const char *, int, const char *const *, const int *,
                         const int *, int);
int PQsendQuery(PGconn *, const char *);
int PQsendQueryParams(PGconn *, const char *, int, const Oid *, const char *const *, const int *,
                      const int *, int);
int PQsendPrepare(PGconn *, const char *, const char *, int, const Oid *);
int PQsendQueryPrepared(PGconn *, const char *, int, const char *const *, const int *,
                        const int *, int);
int PQsendDescribePrepared(PGconn *, const char *);
int PQsendDescribePortal(PGconn *, const char *);
int PQsendClosePrepared(PGconn *, const char *);
int PQsendClosePortal(PGconn *, const char *);
PGresult *PQgetResult(PGconn *);
void PQreset(PGconn *);
int PQresetStart(PGconn *);
void PQfinish(PGconn *);
/* Only asked. */
char *PQdb(const PGconn *);
char *PQhost(const PGconn *);
int PQresultStatus(const PGresult *);
int PQntuples(const PGresult *);
char *PQcmdTuples(PGresult *);
char *PQresultErrorField(const PGresult *, int);

static void name_connection(session *s, PGconn *connection)
{
    const char *database = REAL(PQdb) ? REAL(PQdb)(connection) : NULL;
    const char *server = REAL(PQhost) ? REAL(PQhost)(connection) : NULL;
    snprintf(s->database, sizeof s->database, "%s", database ? database : "");
    snprintf(s->server, sizeof s->server, "%s", server ? server : "");
}

/* What is kept of the connection, for a call that the program makes; NULL for a call that the
 * library makes of itself, and where nothing is measured. Undone by `leave`. */
static session *enter(PGconn *connection)
{
    session *s = session_of(connection, true);
    if (!s || s->inside) {
        return NULL;
    }
    if (!*s->database) {
        name_connection(s, connection);
    }
    s->inside = true;
    return s;
}

static void leave(session *s)
{
    s->inside = false;
}

/* Processes the outcome in a result. True when the data of a COPY are still to come. */
static bool note(query *q, PGresult *result)
{
    const int status = result && REAL(PQresultStatus) ? REAL(PQresultStatus)(result) : FATAL_ERROR;
    switch (status) {
    case TUPLES_OK:
    case SINGLE_TUPLE:
        q->rows += REAL(PQntuples) ? REAL(PQntuples)(result) : 0;
        return false;
    case COMMAND_OK:
        q->rows += REAL(PQcmdTuples) ? atoll(REAL(PQcmdTuples)(result)) : 0;
        return false;
    case COPY_IN:
    case COPY_OUT:
    case COPY_BOTH:
        return true;
    case BAD_RESPONSE:
    case FATAL_ERROR:
        query_failed(q, result && REAL(PQresultErrorField)
                            ? REAL(PQresultErrorField)(result, DIAG_SQLSTATE)
                            : NULL);
        return false;
    case PIPELINE_ABORTED:
        q->status = ARM_STATUS_ABORTED;
        return false;
    default: /* an empty query, a notice, the end of a pipeline */
        return false;
    }
}

static const class_entry *text_class(const char *text)
{
    return text ? session_class(SQL_POSTGRESQL, text, strlen(text)) : NULL;
}

static const class_entry *fixed_class(const char *name)
{
    classes *set = sessions_classes();
    return set ? classes_get(set, name, strlen(name)) : NULL;
}

/* A call that waits for its result. The library itself drops what an earlier query left. */
static session *begin_waiting(PGconn *connection, const class_entry *class)
{
    session *s = enter(connection);
    if (s) {
        session_end_all(s);
        session_begin(s, class);
    }
    return s;
}

static PGresult *end_waiting(session *s, PGresult *result)
{
    if (s) {
        leave(s);
        query *q = session_oldest(s);
        if (!q || !note(q, result)) {
            session_end_oldest(s);
        }
    }
    return result;
}

WRAPPER PGresult *PQexec(PGconn *connection, const char *text)
{
    if (!REAL(PQexec)) {
        return NULL;
    }
    session *s = begin_waiting(connection, text_class(text));
    return end_waiting(s, REAL(PQexec)(connection, text));
}

WRAPPER PGresult *PQexecParams(PGconn *connection, const char *text, int count, const Oid *types,
                               const char *const *values, const int *lengths, const int *formats,
                               int format)
{
    if (!REAL(PQexecParams)) {
        return NULL;
    }
    session *s = begin_waiting(connection, text_class(text));
    return end_waiting(
        s, REAL(PQexecParams)(connection, text, count, types, values, lengths, formats, format));
}

WRAPPER PGresult *PQprepare(PGconn *connection, const char *name, const char *text, int count,
                            const Oid *types)
{
    if (!REAL(PQprepare)) {
        return NULL;
    }
    session *s = begin_waiting(connection, fixed_class("PREPARE"));
    if (s) {
        session_prepare(s, name, text_class(text));
    }
    return end_waiting(s, REAL(PQprepare)(connection, name, text, count, types));
}

WRAPPER PGresult *PQexecPrepared(PGconn *connection, const char *name, int count,
                                 const char *const *values, const int *lengths,
                                 const int *formats, int format)
{
    if (!REAL(PQexecPrepared)) {
        return NULL;
    }
    session *s = session_of(connection, true);
    s = begin_waiting(connection, s ? session_prepared(s, name) : NULL);
    return end_waiting(
        s, REAL(PQexecPrepared)(connection, name, count, values, lengths, formats, format));
}

static session *begin_sent(PGconn *connection, const class_entry *class)
{
    session *s = enter(connection);
    if (s) {
        session_begin(s, class);
    }
    return s;
}

static int end_sent(session *s, int sent)
{
    if (s) {
        leave(s);
        if (!sent) {
            session_refused(s, NULL);
        }
    }
    return sent;
}

WRAPPER int PQsendQuery(PGconn *connection, const char *text)
{
    if (!REAL(PQsendQuery)) {
        return 0;
    }
    session *s = begin_sent(connection, text_class(text));
    return end_sent(s, REAL(PQsendQuery)(connection, text));
}

WRAPPER int PQsendQueryParams(PGconn *connection, const char *text, int count, const Oid *types,
                              const char *const *values, const int *lengths, const int *formats,
                              int format)
{
    if (!REAL(PQsendQueryParams)) {
        return 0;
    }
    session *s = begin_sent(connection, text_class(text));
    return end_sent(s, REAL(PQsendQueryParams)(connection, text, count, types, values, lengths,
                                               formats, format));
}

WRAPPER int PQsendPrepare(PGconn *connection, const char *name, const char *text, int count,
                          const Oid *types)
{
    if (!REAL(PQsendPrepare)) {
        return 0;
    }
    session *s = begin_sent(connection, fixed_class("PREPARE"));
    if (s) {
        session_prepare(s, name, text_class(text));
    }
    return end_sent(s, REAL(PQsendPrepare)(connection, name, text, count, types));
}

WRAPPER int PQsendQueryPrepared(PGconn *connection, const char *name, int count,
                                const char *const *values, const int *lengths,
                                const int *formats, int format)
{
    if (!REAL(PQsendQueryPrepared)) {
        return 0;
    }
    session *s = session_of(connection, true);
    s = begin_sent(connection, s ? session_prepared(s, name) : NULL);
    return end_sent(s, REAL(PQsendQueryPrepared)(connection, name, count, values, lengths, formats,
                                                 format));
}

/* Calls that send something else than a query, and have results too. */
#define SENDER(function, class)                                                                   \
    WRAPPER int function(PGconn *connection, const char *name)                                    \
    {                                                                                             \
        if (!REAL(function)) {                                                                    \
            return 0;                                                                             \
        }                                                                                         \
        session *s = begin_sent(connection, fixed_class(class));                                  \
        return end_sent(s, REAL(function)(connection, name));                                     \
    }
SENDER(PQsendDescribePrepared, "DESCRIBE")
SENDER(PQsendDescribePortal, "DESCRIBE")
SENDER(PQsendClosePrepared, "CLOSE")
SENDER(PQsendClosePortal, "CLOSE")

WRAPPER PGresult *PQgetResult(PGconn *connection)
{
    if (!REAL(PQgetResult)) {
        return NULL;
    }
    session *s = enter(connection);
    PGresult *result = REAL(PQgetResult)(connection);
    if (!s) {
        return result;
    }
    leave(s);
    query *q = session_oldest(s);
    if (!result) {
        session_end_oldest(s);
    } else if (q) {
        note(q, result);
    }
    return result;
}

/* Transactions in progress on a connection that is reset never end. */
static void abort_all(PGconn *connection)
{
    session *s = session_of(connection, false);
    for (query *q; s && (q = session_oldest(s));) {
        q->status = ARM_STATUS_ABORTED;
        session_end_oldest(s);
    }
}

WRAPPER void PQreset(PGconn *connection)
{
    abort_all(connection);
    if (REAL(PQreset)) {
        REAL(PQreset)(connection);
    }
}

WRAPPER int PQresetStart(PGconn *connection)
{
    abort_all(connection);
    return REAL(PQresetStart) ? REAL(PQresetStart)(connection) : 0;
}

WRAPPER void PQfinish(PGconn *connection)
{
    session_forget(connection);
    if (REAL(PQfinish)) {
        REAL(PQfinish)(connection);
    }
}
