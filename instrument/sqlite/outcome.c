#include "outcome.h"

#include <stddef.h>
#include <string.h>
SQLITE_EXTENSION_INIT3

enum {
    /* Looked at of a statement object. It is more than 200 bytes long in every version that has
     * sqlite3_trace_v2 (3.14 and later). */
    LOOKED_AT = 128,
    PLACES = LOOKED_AT / (int)sizeof(int)
};

static _Thread_local bool calibrating;
static int place = -1; /* written once, before any connection is measured */

/* Observations of a probe's callback. */
typedef struct {
    int expected;
    bool possible[PLACES];
    int seen; /* profile events */
} probe;

static int read_place(const void *statement, int index)
{
    int value;
    memcpy(&value, (const char *)statement + (size_t)index * sizeof value, sizeof value);
    return value;
}

static int look(unsigned event, void *context, void *statement, void *elapsed)
{
    (void)event;
    (void)elapsed;
    probe *p = context;
    p->seen++;
    for (int index = 0; index < PLACES; index++) {
        p->possible[index] &= read_place(statement, index) == p->expected;
    }
    return 0;
}

/* Runs one text of known outcome; false when its outcome was another. */
static bool run(sqlite3 *db, probe *p, const char *text, int code)
{
    sqlite3_stmt *statement = NULL;
    p->expected = code;
    p->seen = 0;
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK) {
        return false;
    }
    sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, look, p);
    while (sqlite3_step(statement) == SQLITE_ROW) {
    }
    sqlite3_trace_v2(db, 0, NULL, NULL);
    const int result = sqlite3_finalize(statement);
    return p->seen == 1 && result == code;
}

static bool run_all(sqlite3 *db, probe *p)
{
    static const struct {
        const char *text;
        int code;
    } outcomes[] = {
        {"INSERT INTO t VALUES (1, 1)", SQLITE_OK},
        {"INSERT INTO t VALUES (1, 2)", SQLITE_CONSTRAINT_PRIMARYKEY},
        {"INSERT INTO t VALUES (2, NULL)", SQLITE_CONSTRAINT_NOTNULL},
        {"INSERT INTO t VALUES (2, -1)", SQLITE_CONSTRAINT_CHECK},
        {"SELECT count(*) FROM t", SQLITE_OK},
        {"SELECT abs(-9223372036854775807 - 1)", SQLITE_ERROR},
        {"INSERT INTO t VALUES ('x', 1)", SQLITE_MISMATCH},
        {"DELETE FROM t", SQLITE_OK},
    };
    for (size_t index = 0; index < sizeof outcomes / sizeof *outcomes; index++) {
        if (!run(db, p, outcomes[index].text, outcomes[index].code)) {
            return false;
        }
    }
    return true;
}

void outcome_calibrate(const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    sqlite3 *db = NULL;
    probe p = {0};
    memset(p.possible, true, sizeof p.possible);
    calibrating = true;
    bool agreed = sqlite3_open(":memory:", &db) == SQLITE_OK &&
                  sqlite3_exec(db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b NOT NULL CHECK (b > 0))",
                               NULL, NULL, NULL) == SQLITE_OK;
    if (agreed) {
        sqlite3_extended_result_codes(db, 1);
        agreed = run_all(db, &p);
    }
    sqlite3_close(db);
    calibrating = false;
    int found = 0;
    for (int index = 0; index < PLACES; index++) {
        if (agreed && p.possible[index]) {
            place = index;
            found++;
        }
    }
    if (found != 1) {
        place = -1;
    }
}

bool outcome_is_calibrating(void)
{
    return calibrating;
}

int outcome_of(sqlite3_stmt *statement)
{
    return place < 0 ? -1 : read_place(statement, place);
}

arm_tran_status_t outcome_status(int code)
{
    if (code < 0) {
        return ARM_STATUS_UNKNOWN;
    }
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
        return ARM_STATUS_GOOD;
    case SQLITE_INTERRUPT:
        return ARM_STATUS_ABORTED;
    default:
        return ARM_STATUS_FAILED;
    }
}
