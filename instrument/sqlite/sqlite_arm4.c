/* A SQLite extension that makes every statement a transaction.
 *
 * Loaded once, it stays, and every connection that the process opens from then on is measured:
 *
 *     .load libsqlite_arm4            -- or SELECT load_extension('libsqlite_arm4')
 *
 * A statement's transaction lasts from its first step until it is done, reset or failed. Its class
 * is the SQL text without values (or its first word alone, ARM4_SQL=verb), its properties the
 * database file, its metrics the rows it returned, the rows it changed, the virtual machine's
 * steps, full-scan steps and the triggers it fired. A statement that runs inside another one (a
 * SQL function that asks the database) is its child; the parent of the others is the transaction
 * bound to the thread, or what the connection was told with `SELECT arm4_parent(X)`, a W3C
 * traceparent or a correlator in hexadecimal; NULL ends that.
 *
 * Limits: a connection has one trace callback; a program that sets its own switches this off. A
 * text that does not compile never becomes a statement and is not measured. Result codes are not
 * in SQLite's trace interface: see outcome.h.
 */
#include "../common/classes.h"
#include "../common/parent.h"
#include "../common/sql.h"
#include "outcome.h"

#include <arm4_chronoscope.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

enum { METRIC_ROWS, METRIC_CHANGES, METRIC_STEPS, METRIC_SCANNED, METRIC_TRIGGERS };
enum { DATABASE_BYTES = 96 }; /* kept of a database file's name: its end */

/* A statement that has begun. */
typedef struct open_statement {
    struct open_statement *below; /* the one that was open when this one began */
    sqlite3_stmt *statement;
    arm_tran_start_handle_t handle;
    arm_correlator_t correlator;
    arm_int64_t rows;
    arm_int64_t triggers;
    arm_int64_t changes_before;
    int steps_before;
    int scanned_before;
} open_statement;

/* State of a connection, guarded by the connection's own mutex, until it is gone for good. */
typedef struct {
    sqlite3 *db;
    open_statement *open; /* the one that began last is first */
    open_statement *spare;
    bool has_parent;
    arm_correlator_t parent;
} connection;

static struct {
    pthread_once_t once;
    classes *set;
    bool verb_only;
} measured = {.once = PTHREAD_ONCE_INIT};

static void start_measuring(void)
{
    const char *application = getenv("ARM4_APPLICATION");
    const char *detail = getenv("ARM4_SQL");
    const classes_options options = {
        .application = application && *application ? application : "sqlite",
        .context_names = {"database"},
        .metrics = {"rows", "changes", "vm_steps", "fullscan_steps", "triggers"},
        .max = 512,
    };
    measured.verb_only = detail && strcmp(detail, "verb") == 0;
    measured.set = classes_new(&options, "SQLite", sqlite3_libversion());
    outcome_calibrate(sqlite3_api);
}

/* The file of the main database; the end of a long name. */
static const char *database_name(sqlite3 *db)
{
    const char *file = sqlite3_db_filename(db, "main");
    if (!file || !*file) {
        return ":memory:";
    }
    const size_t size = strlen(file);
    if (size > DATABASE_BYTES) {
        file += size - DATABASE_BYTES;
        while (((unsigned char)*file & 0xc0) == 0x80) {
            file++; /* not inside a character of UTF-8 */
        }
    }
    return file;
}

static const class_entry *class_of(sqlite3_stmt *statement)
{
    const char *text = sqlite3_sql(statement);
    char normalised[SQL_NORMALISED_BYTES];
    const size_t size = sql_normalise(SQL_SQLITE, text, strlen(text), normalised);
    return classes_get(measured.set, normalised,
                       measured.verb_only ? sql_verb(normalised) : size);
}

static open_statement *find(const connection *c, sqlite3_stmt *statement)
{
    open_statement *open = c->open;
    while (open && open->statement != statement) {
        open = open->below;
    }
    return open;
}

static const arm_correlator_t *parent_of(connection *c, bool nested, arm_correlator_t *room)
{
    if (nested && c->open) {
        return &c->open->correlator;
    }
    return c->has_parent ? &c->parent : parent_of_thread(room);
}

static void begin(connection *c, sqlite3_stmt *statement, bool nested)
{
    const class_entry *class = class_of(statement);
    open_statement *open = c->spare ? c->spare : malloc(sizeof *open);
    if (!class || !open) {
        if (!c->spare) {
            free(open);
        }
        return; /* ARM has counted its refusal; without memory there is nowhere to count */
    }
    c->spare = c->spare ? c->spare->below : NULL;
    *open = (open_statement){.below = c->open, .statement = statement};
    open->changes_before = sqlite3_total_changes(c->db);
    open->steps_before = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
    open->scanned_before = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    arm_correlator_t room;
    const char *context[] = {database_name(c->db)};
    classes_start(measured.set, class, parent_of(c, nested, &room), context, NULL, &open->handle,
                  &open->correlator);
    c->open = open;
}

static void take_out(connection *c, open_statement *gone)
{
    open_statement **link = &c->open;
    while (*link != gone) {
        link = &(*link)->below;
    }
    *link = gone->below;
    gone->below = c->spare;
    c->spare = gone;
}

static void end(connection *c, open_statement *open)
{
    const int code = outcome_of(open->statement);
    if ((code & 0xff) == SQLITE_SCHEMA) {
        /* SQLite compiles it anew and begins again, unseen by the program. */
        arm_discard_transaction(open->handle, ARM_FLAG_NONE, ARM_BUF4_NONE);
        take_out(c, open);
        return;
    }
    metric_values values = {0};
    const arm_int64_t changes = sqlite3_total_changes(c->db) - open->changes_before;
    const int steps = sqlite3_stmt_status(open->statement, SQLITE_STMTSTATUS_VM_STEP, 0);
    const int scanned = sqlite3_stmt_status(open->statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    metric_values_add(&values, METRIC_ROWS, open->rows);
    metric_values_add(&values, METRIC_CHANGES, changes);
    /* A program may set the counters back meanwhile. */
    metric_values_add(&values, METRIC_STEPS,
                      steps >= open->steps_before ? steps - open->steps_before : steps);
    metric_values_add(&values, METRIC_SCANNED,
                      scanned >= open->scanned_before ? scanned - open->scanned_before : scanned);
    if (open->triggers > 0) {
        metric_values_add(&values, METRIC_TRIGGERS, open->triggers);
    }
    const arm_tran_status_t status = outcome_status(code);
    classes_stop(open->handle, status, &values,
                 status == ARM_STATUS_GOOD || code < 0 ? NULL : sqlite3_errstr(code));
    take_out(c, open);
}

/* The text is a comment where a trigger begins, or a statement inside another one. */
static void statement_event(connection *c, sqlite3_stmt *statement, const char *text)
{
    open_statement *open = find(c, statement);
    const bool comment = text && text[0] == '-' && text[1] == '-';
    if (open && comment) {
        open->triggers += strncmp(text, "-- TRIGGER ", 11) == 0; /* else: a statement in one */
        return;
    }
    if (open) { /* a profile event was missed: the program had a callback of its own meanwhile */
        arm_discard_transaction(open->handle, ARM_FLAG_NONE, ARM_BUF4_NONE);
        take_out(c, open);
    }
    begin(c, statement, comment);
}

static int trace(unsigned event, void *context, void *first, void *second)
{
    connection *c = context;
    if (event == SQLITE_TRACE_STMT) {
        statement_event(c, first, second);
        return 0;
    }
    open_statement *open = find(c, first);
    if (open && event == SQLITE_TRACE_ROW) {
        open->rows++;
    } else if (open && event == SQLITE_TRACE_PROFILE) {
        end(c, open);
    }
    return 0;
}

/* Called when the connection is gone for good, also one that outlived its sqlite3_close_v2. */
static void forget(void *context)
{
    connection *c = context;
    while (c->open) {
        arm_stop_transaction(c->open->handle, ARM_STATUS_ABORTED, ARM_FLAG_NONE, ARM_BUF4_NONE);
        take_out(c, c->open);
    }
    while (c->spare) {
        open_statement *next = c->spare->below;
        free(c->spare);
        c->spare = next;
    }
    free(c);
}

/* SQL function arm4_parent(X): 1 when X is a parent from now on, 0 when there is none. */
static void set_parent(sqlite3_context *call, int count, sqlite3_value **values)
{
    (void)count;
    connection *c = sqlite3_user_data(call);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    if (text) {
        const size_t size = (size_t)sqlite3_value_bytes(values[0]);
        c->has_parent = correlator_from_text(text, size, &c->parent) ||
                        chronoscope_correlator_from_traceparent(text, &c->parent) == 0;
        if (!c->has_parent) {
            sqlite3_result_error(call, "arm4_parent: neither a traceparent nor a correlator", -1);
            return;
        }
    } else {
        c->has_parent = false;
    }
    sqlite3_result_int(call, c->has_parent);
}

/* Measures one connection; every later one comes here by itself. Never fails the opening. */
static int measure_connection(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    if (outcome_is_calibrating()) {
        return SQLITE_OK; /* our own probe */
    }
    pthread_once(&measured.once, start_measuring);
    connection *c = measured.set ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        return SQLITE_OK;
    }
    c->db = db;
    /* The function also carries the connection's end to us; a refusal has called `forget`. */
    if (sqlite3_create_function_v2(db, "arm4_parent", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, c,
                                   set_parent, NULL, NULL, forget) == SQLITE_OK) {
        sqlite3_trace_v2(db, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE | SQLITE_TRACE_ROW, trace,
                         c);
    }
    return SQLITE_OK;
}

/* The entry that sqlite3_load_extension looks for first. */
__attribute__((visibility("default"))) int
sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    const int code = sqlite3_auto_extension((void (*)(void))measure_connection);
    if (code != SQLITE_OK) {
        return code;
    }
    measure_connection(db, message, api);
    return SQLITE_OK_LOAD_PERMANENTLY;
}
