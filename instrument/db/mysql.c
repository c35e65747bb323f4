/* MySQL's and MariaDB's client libraries: every query through libmysqlclient or libmariadb is a
 * transaction.
 *
 * A query that has no rows lasts as long as its call. One with rows lasts until the program has
 * them: until mysql_store_result has fetched them, or mysql_free_result ends fetching one by one;
 * with several result sets until the last. A prepared statement's transaction is its execution.
 * What the program sees is untouched: every result and error is the library's own.
 *
 * Not measured: MariaDB's non-blocking calls (mysql_real_query_start and its kin), save where
 * they come through the blocking ones.
 */
#include "real.h"
#include "sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const LIBRARIES[] = {"libmariadb", "libmysqlclient", NULL};

/* The interface as far as it is used here, so that building needs no client library. */
typedef struct st_mysql MYSQL;
typedef struct st_mysql_res MYSQL_RES;
typedef struct st_mysql_stmt MYSQL_STMT;
typedef unsigned long long my_ulonglong;
typedef char my_bool;
enum { NO_DATA = 100, DATA_TRUNCATED = 101 };

MYSQL *mysql_real_connect(MYSQL *, const char *, const char *, const char *, const char *,
                          unsigned, const char *, unsigned long);
int mysql_select_db(MYSQL *, const char *);
int mysql_query(MYSQL *, const char *);
int mysql_real_query(MYSQL *, const char *, unsigned long);
int mysql_send_query(MYSQL *, const char *, unsigned long);
my_bool mysql_read_query_result(MYSQL *);
MYSQL_RES *mysql_store_result(MYSQL *);
MYSQL_RES *mysql_use_result(MYSQL *);
void mysql_free_result(MYSQL_RES *);
int mysql_next_result(MYSQL *);
void mysql_close(MYSQL *);
MYSQL_STMT *mysql_stmt_init(MYSQL *);
int mysql_stmt_prepare(MYSQL_STMT *, const char *, unsigned long);
int mysql_stmt_execute(MYSQL_STMT *);
int mysql_stmt_store_result(MYSQL_STMT *);
int mysql_stmt_fetch(MYSQL_STMT *);
my_bool mysql_stmt_free_result(MYSQL_STMT *);
my_bool mysql_stmt_reset(MYSQL_STMT *);
my_bool mysql_stmt_close(MYSQL_STMT *);
/* Only asked. */
unsigned mysql_errno(MYSQL *);
const char *mysql_sqlstate(MYSQL *);
unsigned mysql_field_count(MYSQL *);
my_bool mysql_more_results(const MYSQL *);
my_ulonglong mysql_num_rows(MYSQL_RES *);
my_ulonglong mysql_affected_rows(MYSQL *);
const char *mysql_stmt_sqlstate(MYSQL_STMT *);
unsigned mysql_stmt_field_count(MYSQL_STMT *);
my_ulonglong mysql_stmt_num_rows(MYSQL_STMT *);
my_ulonglong mysql_stmt_affected_rows(MYSQL_STMT *);

/* For a call that the program makes: what is kept of its connection or statement. NULL for a call
 * that the library makes of itself, and where nothing is measured. */
static session *enter(const void *key)
{
    session *s = session_of(key, true);
    if (!s || s->inside) {
        return NULL;
    }
    s->inside = true;
    return s;
}

static void word(char out[SESSIONS_WORD_BYTES], const char *text)
{
    snprintf(out, SESSIONS_WORD_BYTES, "%s", text ? text : "");
}

/* Counts rows; the library uses the greatest number for "unknown". */
static void add_rows(query *q, my_ulonglong rows)
{
    if (rows != (my_ulonglong)-1) {
        q->rows += (arm_int64_t)rows;
    }
}

static void failed(session *s, const char *sqlstate)
{
    if (session_oldest(s)) {
        query_failed(session_oldest(s), sqlstate);
    }
    session_end_oldest(s);
}

static void end_unless_more(session *s, MYSQL *connection)
{
    if (!REAL(mysql_more_results) || !REAL(mysql_more_results)(connection)) {
        session_end_oldest(s);
    }
}

/* The server has answered: with an error, with a count, or with rows that are still to come. */
static void answered(session *s, MYSQL *connection, bool error)
{
    query *q = session_oldest(s);
    if (!q) {
        session_end_oldest(s);
    } else if (error) {
        failed(s, REAL(mysql_sqlstate) ? REAL(mysql_sqlstate)(connection) : NULL);
    } else if (REAL(mysql_field_count) && REAL(mysql_field_count)(connection) == 0) {
        add_rows(q, REAL(mysql_affected_rows) ? REAL(mysql_affected_rows)(connection) : 0);
        end_unless_more(s, connection);
    }
}

WRAPPER MYSQL *mysql_real_connect(MYSQL *connection, const char *host, const char *user,
                                  const char *password, const char *database, unsigned port,
                                  const char *socket, unsigned long flags)
{
    if (!REAL(mysql_real_connect)) {
        return NULL;
    }
    MYSQL *connected = REAL(mysql_real_connect)(connection, host, user, password, database, port,
                                                socket, flags);
    session *s = session_of(connected, true);
    if (s && !s->inside) {
        word(s->database, database);
        word(s->server, host ? host : "localhost");
    }
    return connected;
}

WRAPPER int mysql_select_db(MYSQL *connection, const char *database)
{
    if (!REAL(mysql_select_db)) {
        return 1;
    }
    const int error = REAL(mysql_select_db)(connection, database);
    session *s = session_of(connection, false);
    if (s && !error) {
        word(s->database, database);
    }
    return error;
}

/* `USE name` as a text changes the database too. */
static void note_use(session *s, const char *text, size_t size)
{
    char normalised[SQL_NORMALISED_BYTES];
    if (size < 5 || size > 256 || (text[0] | 0x20) != 'u') {
        return;
    }
    size_t length = sql_normalise(SQL_MYSQL, text, size, normalised);
    if (strncmp(normalised, "USE ", 4) != 0) {
        return;
    }
    const char *name = normalised + 4;
    length -= 4;
    if (length > 2 && name[0] == '`') {
        name++;
        length -= 2;
    }
    snprintf(s->database, sizeof s->database, "%.*s", (int)length, name);
}

static session *begin_text(MYSQL *connection, const char *text, size_t size)
{
    session *s = enter(connection);
    if (s) {
        session_end_all(s); /* what an earlier query left is lost to the program by now */
        session_begin(s, session_class(SQL_MYSQL, text, size));
    }
    return s;
}

static int end_text(session *s, MYSQL *connection, const char *text, size_t size, int error)
{
    if (s) {
        s->inside = false;
        answered(s, connection, error != 0);
        if (!error) {
            note_use(s, text, size);
        }
    }
    return error;
}

WRAPPER int mysql_query(MYSQL *connection, const char *text)
{
    if (!REAL(mysql_query)) {
        return 1;
    }
    const size_t size = text ? strlen(text) : 0;
    session *s = begin_text(connection, text, size);
    return end_text(s, connection, text, size, REAL(mysql_query)(connection, text));
}

WRAPPER int mysql_real_query(MYSQL *connection, const char *text, unsigned long size)
{
    if (!REAL(mysql_real_query)) {
        return 1;
    }
    session *s = begin_text(connection, text, size);
    return end_text(s, connection, text, size, REAL(mysql_real_query)(connection, text, size));
}

WRAPPER int mysql_send_query(MYSQL *connection, const char *text, unsigned long size)
{
    if (!REAL(mysql_send_query)) {
        return 1;
    }
    session *s = begin_text(connection, text, size);
    const int error = REAL(mysql_send_query)(connection, text, size);
    if (s) {
        s->inside = false;
        if (error) {
            session_refused(s, REAL(mysql_sqlstate) ? REAL(mysql_sqlstate)(connection) : NULL);
        }
    }
    return error;
}

WRAPPER my_bool mysql_read_query_result(MYSQL *connection)
{
    if (!REAL(mysql_read_query_result)) {
        return 1;
    }
    session *s = enter(connection);
    const my_bool error = REAL(mysql_read_query_result)(connection);
    if (s) {
        s->inside = false;
        answered(s, connection, error != 0);
    }
    return error;
}

WRAPPER MYSQL_RES *mysql_store_result(MYSQL *connection)
{
    if (!REAL(mysql_store_result)) {
        return NULL;
    }
    session *s = enter(connection);
    MYSQL_RES *result = REAL(mysql_store_result)(connection);
    if (!s) {
        return result;
    }
    s->inside = false;
    query *q = session_oldest(s);
    if (q && result) {
        add_rows(q, REAL(mysql_num_rows) ? REAL(mysql_num_rows)(result) : 0);
        end_unless_more(s, connection);
    } else if (q && REAL(mysql_errno) && REAL(mysql_errno)(connection) != 0) {
        failed(s, REAL(mysql_sqlstate) ? REAL(mysql_sqlstate)(connection) : NULL);
    }
    return result;
}

/* The result leads back to its connection when it is freed. */
WRAPPER MYSQL_RES *mysql_use_result(MYSQL *connection)
{
    if (!REAL(mysql_use_result)) {
        return NULL;
    }
    MYSQL_RES *result = REAL(mysql_use_result)(connection);
    session *s = session_of(connection, false);
    session *fetched = s && !s->inside && session_oldest(s) ? session_of(result, true) : NULL;
    if (fetched) {
        session_forget(s->fetching); /* never freed, or the same address again */
        fetched = session_of(result, true);
    }
    if (fetched) {
        fetched->owner = s;
        fetched->fetching = connection;
        s->fetching = result;
    }
    return result;
}

WRAPPER void mysql_free_result(MYSQL_RES *result)
{
    if (!REAL(mysql_free_result)) {
        return;
    }
    session *fetched = session_of(result, false);
    session *s = fetched ? fetched->owner : NULL;
    if (!s) {
        REAL(mysql_free_result)(result);
        return;
    }
    MYSQL *connection = (MYSQL *)fetched->fetching;
    query *q = session_oldest(s);
    if (q) {
        add_rows(q, REAL(mysql_num_rows) ? REAL(mysql_num_rows)(result) : 0);
    }
    session_forget(result);
    s->fetching = NULL;
    s->inside = true;
    REAL(mysql_free_result)(result); /* reads what the program left unread */
    s->inside = false;
    end_unless_more(s, connection);
}

WRAPPER int mysql_next_result(MYSQL *connection)
{
    if (!REAL(mysql_next_result)) {
        return 1;
    }
    session *s = enter(connection);
    const int error = REAL(mysql_next_result)(connection);
    if (s) {
        s->inside = false;
        if (error < 0) {
            session_end_oldest(s); /* there was none any more */
        } else {
            answered(s, connection, error > 0);
        }
    }
    return error;
}

WRAPPER void mysql_close(MYSQL *connection)
{
    session *s = session_of(connection, false);
    if (s) {
        session_forget(s->fetching);
        session_forget(connection);
    }
    if (REAL(mysql_close)) {
        REAL(mysql_close)(connection);
    }
}

WRAPPER MYSQL_STMT *mysql_stmt_init(MYSQL *connection)
{
    if (!REAL(mysql_stmt_init)) {
        return NULL;
    }
    MYSQL_STMT *statement = REAL(mysql_stmt_init)(connection);
    const session *c = session_of(connection, false);
    session *s = session_of(statement, true);
    if (s && c) {
        memcpy(s->database, c->database, sizeof s->database);
        memcpy(s->server, c->server, sizeof s->server);
    }
    return statement;
}

WRAPPER int mysql_stmt_prepare(MYSQL_STMT *statement, const char *text, unsigned long size)
{
    if (!REAL(mysql_stmt_prepare)) {
        return 1;
    }
    session *s = enter(statement);
    if (s) {
        if (size == (unsigned long)-1 && text) {
            size = strlen(text); /* MariaDB's way to say that a NUL ends it */
        }
        session_end_all(s);
        session_begin(s, classes_get(sessions_classes(), "PREPARE", 7));
    }
    const int error = REAL(mysql_stmt_prepare)(statement, text, size);
    if (s) {
        s->inside = false;
        if (error) {
            failed(s, REAL(mysql_stmt_sqlstate) ? REAL(mysql_stmt_sqlstate)(statement) : NULL);
        } else {
            session_end_oldest(s);
            s->class = session_class(SQL_MYSQL, text, size);
        }
    }
    return error;
}

WRAPPER int mysql_stmt_execute(MYSQL_STMT *statement)
{
    if (!REAL(mysql_stmt_execute)) {
        return 1;
    }
    session *s = enter(statement);
    if (s) {
        session_end_all(s);
        session_begin(s, s->class ? s->class
                                  : classes_get(sessions_classes(), "EXECUTE (other)", 15));
    }
    const int error = REAL(mysql_stmt_execute)(statement);
    if (s) {
        s->inside = false;
        query *q = session_oldest(s);
        if (error) {
            failed(s, REAL(mysql_stmt_sqlstate) ? REAL(mysql_stmt_sqlstate)(statement) : NULL);
        } else if (q && REAL(mysql_stmt_field_count) &&
                   REAL(mysql_stmt_field_count)(statement) == 0) {
            add_rows(q, REAL(mysql_stmt_affected_rows)
                            ? REAL(mysql_stmt_affected_rows)(statement)
                            : 0);
            session_end_oldest(s);
        }
    }
    return error;
}

WRAPPER int mysql_stmt_store_result(MYSQL_STMT *statement)
{
    if (!REAL(mysql_stmt_store_result)) {
        return 1;
    }
    session *s = enter(statement);
    const int error = REAL(mysql_stmt_store_result)(statement);
    if (s) {
        s->inside = false;
        query *q = session_oldest(s);
        if (q && error) {
            failed(s, REAL(mysql_stmt_sqlstate) ? REAL(mysql_stmt_sqlstate)(statement) : NULL);
        } else if (q) {
            add_rows(q, REAL(mysql_stmt_num_rows) ? REAL(mysql_stmt_num_rows)(statement) : 0);
            session_end_oldest(s);
        }
    }
    return error;
}

WRAPPER int mysql_stmt_fetch(MYSQL_STMT *statement)
{
    if (!REAL(mysql_stmt_fetch)) {
        return 1;
    }
    const int code = REAL(mysql_stmt_fetch)(statement);
    session *s = session_of(statement, false);
    query *q = s && !s->inside ? session_oldest(s) : NULL;
    if (q && (code == 0 || code == DATA_TRUNCATED)) {
        q->rows++;
    } else if (q && code == NO_DATA) {
        session_end_oldest(s);
    } else if (q) {
        failed(s, REAL(mysql_stmt_sqlstate) ? REAL(mysql_stmt_sqlstate)(statement) : NULL);
    }
    return code;
}

/* The program discards the remaining rows of the statement. */
static void end_statement(MYSQL_STMT *statement)
{
    session *s = session_of(statement, false);
    if (s && !s->inside) {
        session_end_all(s);
    }
}

WRAPPER my_bool mysql_stmt_free_result(MYSQL_STMT *statement)
{
    const my_bool error =
        REAL(mysql_stmt_free_result) ? REAL(mysql_stmt_free_result)(statement) : 1;
    end_statement(statement);
    return error;
}

WRAPPER my_bool mysql_stmt_reset(MYSQL_STMT *statement)
{
    const my_bool error = REAL(mysql_stmt_reset) ? REAL(mysql_stmt_reset)(statement) : 1;
    end_statement(statement);
    return error;
}

WRAPPER my_bool mysql_stmt_close(MYSQL_STMT *statement)
{
    end_statement(statement);
    session_forget(statement);
    return REAL(mysql_stmt_close) ? REAL(mysql_stmt_close)(statement) : 1;
}
