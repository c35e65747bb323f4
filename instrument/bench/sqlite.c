/* Nanoseconds for a prepared statement that finds one row by its key; with a second argument that
 * extension is loaded before. The best of many rounds counts. */
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

enum { STATEMENTS = 500, ROUNDS = 1000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **arguments)
{
    sqlite3 *db;
    sqlite3_stmt *find;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
        return 1;
    }
    sqlite3_enable_load_extension(db, 1);
    if (count > 1 && sqlite3_load_extension(db, arguments[1], NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        return 1;
    }
    sqlite3_exec(db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); WITH RECURSIVE c(x) AS "
                     "(VALUES (1) UNION ALL SELECT x + 1 FROM c LIMIT 1000) "
                     "INSERT INTO t SELECT x, 'text ' || x FROM c", NULL, NULL, NULL);
    sqlite3_prepare_v2(db, "SELECT b FROM t WHERE a = ?", -1, &find, NULL);
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = now();
        for (int index = 0; index < STATEMENTS; index++) {
            sqlite3_bind_int(find, 1, index % 1000 + 1);
            while (sqlite3_step(find) == SQLITE_ROW) {
            }
            sqlite3_reset(find);
        }
        const double elapsed = now() - begin;
        best = elapsed < best ? elapsed : best;
    }
    printf("%.0f\n", best / STATEMENTS);
    sqlite3_finalize(find);
    return sqlite3_close(db);
}
