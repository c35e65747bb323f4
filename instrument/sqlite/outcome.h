/* Outcome of a statement, at the moment when SQLite's trace callback reports its end.
 *
 * The trace interface tells of a statement's end but not of its result code, and
 * sqlite3_errcode() still has the previous one then. The code is in the statement object, at a
 * place that differs between versions and builds of SQLite. It is found, not assumed: a private
 * database in memory runs statements of known outcome, and only where exactly one place agrees
 * with all of them is it read from then on. Otherwise every outcome is unknown, and said so.
 */
#ifndef CHRONOSCOPE_INSTRUMENT_OUTCOME_H
#define CHRONOSCOPE_INSTRUMENT_OUTCOME_H

#include <arm4.h>
#include <stdbool.h>
#include <sqlite3ext.h>

/* Looks for the place; once a process. */
void outcome_calibrate(const sqlite3_api_routines *api);

/* Whether the calling thread is in outcome_calibrate(). */
bool outcome_is_calibrating(void);

/* SQLite's extended result code of a statement in its profile callback; SQLITE_OK where it was
 * done, or reset in the middle; -1 where it cannot be known. */
int outcome_of(sqlite3_stmt *statement);

/* ARM's word for such a code: interrupted is aborted. */
arm_tran_status_t outcome_status(int code);

#endif
