/* A program that knows nothing of measuring; built with -finstrument-functions. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf way_out;
static volatile int sink;

static void quiet(int n) /* no pattern matches it */
{
    sink += n;
}

static int leaf(int n)
{
    quiet(n);
    return n + 1;
}

static int twice(int n)
{
    return leaf(n) + leaf(n + 1);
}

/* Recursion; each level is a child of the one above. */
static int down(int n)
{
    return n == 0 ? leaf(0) : down(n - 1) + 1;
}

static void fails(int n)
{
    quiet(n);
    longjmp(way_out, 1);
}

static void deeper(int n)
{
    fails(n);
    quiet(n); /* so that the call above is none of the last kind */
}

static void survives(int rounds)
{
    for (volatile int round = 0; round < rounds; round++) {
        if (setjmp(way_out) == 0) {
            deeper(round);
        } else {
            leaf(round);
        }
    }
}

/* The stack grows between beginning and end. */
static int grows(int n)
{
    char *room = __builtin_alloca((size_t)n);
    memset(room, 1, (size_t)n);
    sink += room[n - 1];
    return leaf(n);
}

static void *in_thread(void *argument)
{
    for (int index = 0; index < 100; index++) {
        twice(index);
    }
    return argument;
}

static int forks(void)
{
    const pid_t child = fork();
    if (child == 0) {
        leaf(1); /* of the child's own, a root: its parent's work is not its own */
        exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status;
}

int main(void)
{
    sink += twice(1) + down(5) + grows(1000);
    survives(3);
    pthread_t threads[3];
    for (int index = 0; index < 3; index++) {
        if (pthread_create(&threads[index], NULL, in_thread, NULL) != 0) {
            return 1;
        }
    }
    for (int index = 0; index < 3; index++) {
        pthread_join(threads[index], NULL);
    }
    sink += down(100); /* deeper than is recorded */
    return forks();
}
