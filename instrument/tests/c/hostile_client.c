/* A client of PostgreSQL that misuses libpq, without a server: texts that are none, connections that
 * failed, more of them than are kept, threads, forks and a program in its place. Says what libpq
 * answered, so that it can be compared with what it answers where nothing is measured. */
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_BYTES = 1 << 20, CONNECTIONS = 9000, STATEMENTS = 3000, THREADS = 20 };

static atomic_ulong asked, answered;

static PGconn *connect_nowhere(void)
{
    return PQconnectdb("host=/nowhere dbname=\x1b[2J\xff user=nobody");
}

static void take(PGresult *result)
{
    atomic_fetch_add(&asked, 1);
    atomic_fetch_add(&answered, result != NULL);
    PQclear(result);
}

/* One text in every way that takes one. */
static void say(PGconn *c, const char *text)
{
    take(PQexec(c, text));
    take(PQexecParams(c, text, 0, NULL, NULL, NULL, NULL, 0));
    take(PQprepare(c, text, text, 0, NULL));
    take(PQexecPrepared(c, text, 0, NULL, NULL, NULL, 0));
    atomic_fetch_add(&answered, PQsendQuery(c, text));
    take(PQgetResult(c));
}

/* A long text of one piece, again and again, behind a beginning. */
static void say_long(PGconn *c, const char *begin, const char *piece)
{
    const size_t size = strlen(piece);
    char *text = malloc(LONG_BYTES + 64);
    size_t at = (size_t)sprintf(text, "%s", begin);
    for (; at + size < LONG_BYTES; at += size) {
        memcpy(text + at, piece, size);
    }
    text[at] = '\0';
    take(PQexec(c, text));
    free(text);
}

static void texts(PGconn *c)
{
    static const char *const few[] = {
        NULL, "", ";", " \t\n", "'", "\"", "$", "$$", "$a$ $b$", "/*", "/*/", "--", "E'\\", "(", "))",
        "?,?,?", "\x1b[2J\x07\x7f", "\xff\xfe\xc3", "\xf0\x9f\x98", "SELECT '\xff'", "1e+", "0x", ".",
        "SELECT $tag$ never closed", "\xe4\xbd\xa0\xe5\xa5\xbd", "%s%n%d", "a\\", "N'", "U&'"};
    for (size_t index = 0; index < sizeof few / sizeof *few; index++) {
        say(c, few[index]);
    }
    static const char *const pieces[] = {"a", "'", "\"", "$", "$a$", "/*", "*/", "(", ")", "?,",
                                         "(?),", "--", "\n", "\\", "\xff", "\xe4\xbd\xa0", "1", "1,",
                                         "e+", "$1", "E'\\'", "\x01", "a "};
    for (size_t index = 0; index < sizeof pieces / sizeof *pieces; index++) {
        say_long(c, "", pieces[index]);
        say_long(c, "SELECT '", pieces[index]);
        say_long(c, "SELECT $a$", pieces[index]);
        say_long(c, "/*", pieces[index]);
    }
}

static void nobody(void)
{
    take(PQexec(NULL, "SELECT 1"));
    take(PQgetResult(NULL));
    PQreset(NULL);
    PQfinish(NULL);
}

/* More statements than there are classes. */
static void statements(PGconn *c)
{
    char text[64];
    for (int number = 0; number < STATEMENTS; number++) {
        snprintf(text, sizeof text, "SELECT column_%c%c%c\x1b FROM nowhere", 'a' + number % 26,
                 'a' + number / 26 % 26, 'a' + number / 676);
        take(PQexec(c, text));
    }
}

/* More connections than are kept, all open at once. */
static void connections(void)
{
    static PGconn *all[CONNECTIONS];
    for (int index = 0; index < CONNECTIONS; index++) {
        all[index] = connect_nowhere();
        take(PQexec(all[index], "SELECT 1"));
    }
    for (int index = 0; index < CONNECTIONS; index++) {
        PQfinish(all[index]);
    }
}

static void *thread(void *unused)
{
    PGconn *c = connect_nowhere();
    for (int round = 0; round < 20; round++) {
        say(c, "SELECT 1");
        PQreset(c);
        const pid_t child = fork();
        if (child == 0) {
            take(PQexec(c, "SELECT 2")); /* its parent's connection */
            _exit(0);
        }
        int status = -1;
        atomic_fetch_add(&asked, waitpid(child, &status, 0) == child && status == 0);
    }
    PQfinish(c);
    return unused;
}

int main(int count, char **words)
{
    PGconn *c = connect_nowhere();
    say(c, "SELECT 1");
    if (count > 1 && strcmp(words[1], "short") == 0) {
        PQfinish(c);
        printf("asked %lu, answered %lu\n", asked, answered);
        return 0;
    }
    texts(c);
    nobody();
    statements(c);
    connections();
    pthread_t threads[THREADS];
    for (int index = 0; index < THREADS; index++) {
        pthread_create(&threads[index], NULL, thread, NULL);
    }
    for (int index = 0; index < THREADS; index++) {
        pthread_join(threads[index], NULL);
    }
    printf("asked %lu, answered %lu\n", asked, answered);
    fflush(stdout);
    /* With the connection open, and whatever the library has opened. */
    return execl("/proc/self/exe", words[0], "short", (char *)NULL);
}
