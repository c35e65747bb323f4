/* A client of PostgreSQL that uses libpq in every way that is measured, and says what it saw. */
#include "application.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *what, PGresult *result)
{
    printf("%s: %s", what, result ? PQresStatus(PQresultStatus(result)) : "no result");
    if (result) {
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        printf(" %d rows, %s changed, %s\n", PQntuples(result), PQcmdTuples(result),
               state ? state : "no error");
        PQclear(result);
    } else {
        printf("\n");
    }
}

static void say_all(const char *what, PGconn *connection)
{
    for (PGresult *result; (result = PQgetResult(connection));) {
        say(what, result);
    }
    printf("%s: done\n", what);
}

static void waiting(PGconn *c)
{
    const char *values[] = {"7", "seven"};
    say("create", PQexec(c, "CREATE TABLE words (n int PRIMARY KEY, word text)"));
    say("insert", PQexecParams(c, "INSERT INTO words VALUES ($1, $2)", 2, NULL, values, NULL, NULL, 0));
    say("again", PQexecParams(c, "INSERT INTO words VALUES ($1, $2)", 2, NULL, values, NULL, NULL, 0));
    say("prepare", PQprepare(c, "find", "SELECT word FROM words WHERE n = $1", 1, NULL));
    say("find", PQexecPrepared(c, "find", 1, values, NULL, NULL, 0));
    say("unknown", PQexecPrepared(c, "never", 0, NULL, NULL, NULL, 0));
    say("no table", PQexec(c, "SELECT * FROM nowhere"));
    say("no sense", PQexec(c, "SELEC 1"));
    say("empty", PQexec(c, ""));
    say("two", PQexec(c, "SELECT 1; SELECT 2, 3"));
}

static void sent(PGconn *c)
{
    printf("sent %d\n", PQsendQuery(c, "SELECT generate_series(1, 5)"));
    printf("too early %d\n", PQsendQuery(c, "SELECT 'too early'"));
    say_all("series", c);
    PQsendQuery(c, "SELECT generate_series(1, 3)");
    PQsetSingleRowMode(c);
    say_all("single", c);
    PQsendQuery(c, "SELECT 1; SELECT 1 / 0; SELECT 3");
    say_all("several", c);
}

static void copy(PGconn *c)
{
    say("copy", PQexec(c, "COPY words FROM STDIN"));
    printf("put %d\n", PQputCopyData(c, "8\teight\n9\tnine\n", 15));
    printf("end %d\n", PQputCopyEnd(c, NULL));
    say_all("copied", c);
}

static void pipeline(PGconn *c)
{
    const char *values[] = {"8"};
    printf("pipeline %d\n", PQenterPipelineMode(c));
    PQsendQueryParams(c, "SELECT word FROM words WHERE n < $1", 1, NULL, values, NULL, NULL, 0);
    PQsendQueryPrepared(c, "find", 1, values, NULL, NULL, 0);
    PQsendDescribePrepared(c, "find");
    PQsendQueryParams(c, "SELECT count(*) FROM nobody", 0, NULL, NULL, NULL, NULL, 0);
    PQsendQueryParams(c, "SELECT count(*) FROM words", 0, NULL, NULL, NULL, NULL, 0);
    printf("sync %d\n", PQpipelineSync(c));
    for (int step = 1; step <= 5; step++) {
        say_all("step", c);
    }
    say_all("sync", c);
    printf("out %d\n", PQexitPipelineMode(c));
}

int main(int count, char **arguments)
{
    const arm_tran_start_handle_t job =
        begin_application("client", "job", ARM_CORR_NONE, ARM_FLAG_BIND_THREAD);
    say("nobody", PQexec(NULL, "SELECT 1"));
    printf("nobody %d %p\n", PQsendQuery(NULL, "SELECT 1"), (void *)PQgetResult(NULL));
    PQfinish(NULL);
    PGconn *c = PQconnectdb(count > 1 ? arguments[1] : "");
    if (PQstatus(c) != CONNECTION_OK) {
        fprintf(stderr, "%s", PQerrorMessage(c));
        return 1;
    }
    say("no text", PQexec(c, NULL));
    waiting(c);
    sent(c);
    copy(c);
    pipeline(c);
    PQsendQuery(c, "SELECT 'never fetched'");
    PQfinish(c);
    end_application(job);
    return 0;
}
