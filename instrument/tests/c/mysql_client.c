/* A client of MariaDB that uses its library in every way that is measured, and says what it saw. */
#include "application.h"

#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *what, MYSQL *c)
{
    printf("%s: %u %s, %lld changed\n", what, mysql_errno(c), mysql_sqlstate(c),
           (long long)mysql_affected_rows(c));
}

static void rows(const char *what, MYSQL *c, int use)
{
    MYSQL_RES *result = use ? mysql_use_result(c) : mysql_store_result(c);
    int count = 0;
    while (result && mysql_fetch_row(result)) {
        count++;
    }
    printf("%s: %d rows, error %u\n", what, count, mysql_errno(c));
    mysql_free_result(result);
}

static void texts(MYSQL *c)
{
    const char *sent = "SELECT n FROM words WHERE n > 0";
    mysql_query(c, "CREATE TABLE words (n int PRIMARY KEY, word text)");
    say("create", c);
    mysql_query(c, "INSERT INTO words VALUES (1, 'one'), (2, \"two\"), (3, 'th''ree')");
    say("insert", c);
    mysql_query(c, "INSERT INTO words VALUES (1, 'again')");
    say("again", c);
    mysql_real_query(c, "SELECT * FROM words", 19);
    rows("stored", c, 0);
    mysql_query(c, "SELECT word FROM words");
    rows("one by one", c, 1);
    mysql_send_query(c, sent, strlen(sent));
    mysql_read_query_result(c);
    rows("sent", c, 0);
    mysql_query(c, "SELEC 1");
    say("no sense", c);
    mysql_query(c, "SELECT 1; UPDATE words SET word = 'x' WHERE n < 3; SELECT n FROM words");
    do {
        rows("several", c, 0);
    } while (mysql_next_result(c) == 0);
    mysql_query(c, "CREATE DATABASE other");
    mysql_query(c, "USE `other`");
    mysql_query(c, "SELECT 'in other'");
    rows("other", c, 0);
    printf("select %d\n", mysql_select_db(c, "test"));
}

static void statement(MYSQL *c)
{
    const char *text = "SELECT n FROM words WHERE n < ?";
    MYSQL_STMT *s = mysql_stmt_init(c);
    int limit = 3;
    int n = 0;
    MYSQL_BIND in = {.buffer_type = MYSQL_TYPE_LONG, .buffer = &limit};
    MYSQL_BIND out = {.buffer_type = MYSQL_TYPE_LONG, .buffer = &n};
    printf("prepare %d\n", mysql_stmt_prepare(s, text, strlen(text)));
    for (int round = 0; round < 2; round++) {
        int count = 0;
        mysql_stmt_bind_param(s, &in);
        printf("execute %d\n", mysql_stmt_execute(s));
        mysql_stmt_bind_result(s, &out);
        if (round == 0) {
            printf("store %d\n", mysql_stmt_store_result(s));
        }
        while (mysql_stmt_fetch(s) == 0) {
            count += n;
        }
        printf("sum %d\n", count);
    }
    mysql_stmt_close(s);
    s = mysql_stmt_init(c);
    text = "SELECT * FROM nowhere";
    printf("no table %d %s\n", mysql_stmt_prepare(s, text, strlen(text)) != 0,
           mysql_stmt_sqlstate(s));
    mysql_stmt_close(s);
    s = mysql_stmt_init(c);
    text = "UPDATE words SET word = 'y' WHERE n = 3";
    mysql_stmt_prepare(s, text, strlen(text));
    printf("update %d %lld\n", mysql_stmt_execute(s), (long long)mysql_stmt_affected_rows(s));
    mysql_stmt_close(s);
}

int main(int count, char **arguments)
{
    const arm_tran_start_handle_t job =
        begin_application("client", "job", ARM_CORR_NONE, ARM_FLAG_BIND_THREAD);
    MYSQL *c = mysql_init(NULL);
    if (count < 3 || !mysql_real_connect(c, "localhost", arguments[2], NULL, "test", 0, arguments[1],
                                         CLIENT_MULTI_STATEMENTS)) {
        fprintf(stderr, "%s\n", mysql_error(c));
        return 1;
    }
    texts(c);
    statement(c);
    mysql_query(c, "SELECT 'never fetched'");
    mysql_close(c);
    end_application(job);
    return 0;
}
