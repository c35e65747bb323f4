/* Threads, forks, a sudden end, a switch from outside. Arguments: threads | fork | wait | switch. */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"

#include <arm4_chronoscope.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 2000

static arm_id_t app_id, work_id, part_id;
static arm_app_start_handle_t app;
static arm_tran_start_handle_t shared;
static arm_tran_start_handle_t handed[THREADS][ROUNDS];

static void burn(long ms) {
  struct timespec now;
  long long until;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  until = now.tv_sec * 1000000000LL + now.tv_nsec + ms * 1000000LL;
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec * 1000000000LL + now.tv_nsec < until);
}

/* A call that gives up because another thread stays at the transaction has done nothing: on a busy
 * machine that may be, and it is made again. */
#define PATIENTLY(call)                                                                            \
  do {                                                                                             \
    arm_error_t code;                                                                              \
    int again = 0;                                                                                 \
    while ((code = (call)) == CHRONOSCOPE_ARM_BUSY && again++ < 10000) sched_yield();              \
    EXPECT_CODE(0, code);                                                                          \
  } while (0)

/* All at the same transaction: bind, block, update, unbind. Then each hands its own over. */
static void *worker(void *argument) {
  long own = (long)argument;
  PATIENTLY(arm_bind_thread(shared, 0, NULL));
  burn(4);
  if (own % 2 == 0) PATIENTLY(arm_unbind_thread(shared, 0, NULL)); /* others just end */
  for (int i = 0; i < ROUNDS; i++) {
    arm_tran_block_handle_t block;
    PATIENTLY(arm_block_transaction(shared, 0, NULL, &block));
    PATIENTLY(arm_unblock_transaction(shared, block, 0, NULL));
    EXPECT_CODE(0, arm_start_transaction(app, &part_id, NULL, 0, NULL, &handed[own][i], NULL));
  }
  return NULL;
}

/* Stops what another thread has started. */
static void *stopper(void *argument) {
  long own = (long)argument;
  for (int i = 0; i < ROUNDS; i++) {
    EXPECT_CODE(0, arm_stop_transaction(handed[own][i], ARM_STATUS_GOOD, 0, NULL));
  }
  return NULL;
}

/* Several stop the same: exactly one does. */
static void *racer(void *argument) {
  int *won = argument;
  for (int i = 0; i < ROUNDS; i++) {
    if (arm_stop_transaction(handed[0][i], ARM_STATUS_FAILED, 0, NULL) == 0) {
      __atomic_fetch_add(won, 1, __ATOMIC_RELAXED);
    }
  }
  return NULL;
}

static void all(void *(*what)(void *), void *same) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], NULL, what, same ? same : (void *)i);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "threads";
  EXPECT_CODE(0, arm_register_application("Threads", NULL, 0, NULL, &app_id));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "work", NULL, 0, NULL, &work_id));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "part", NULL, 0, NULL, &part_id));
  EXPECT_CODE(0, arm_start_application(&app_id, NULL, NULL, 0, NULL, &app));
  EXPECT_CODE(0, arm_start_transaction(app, &work_id, NULL, 0, NULL, &shared, NULL));
  if (strcmp(what, "wait") == 0) {
    arm_tran_start_handle_t part;
    EXPECT_CODE(0, arm_start_transaction(app, &part_id, NULL, 0, NULL, &part, NULL));
    EXPECT_CODE(0, arm_stop_transaction(part, 0, 0, NULL));
    puts("ready");
    fflush(stdout);
    for (;;) pause();
  }
  if (strcmp(what, "switch") == 0) {
    puts("ready");
    fflush(stdout);
    EXPECT(getchar() == '\n'); /* the class is off by now */
    for (int i = 0; i < 10; i++) {
      arm_tran_start_handle_t part;
      arm_correlator_t corr;
      EXPECT_CODE(0, arm_start_transaction(app, &part_id, NULL, 0, NULL, &part, &corr));
      EXPECT_CODE(0, arm_bind_thread(part, 0, NULL));
      EXPECT_CODE(0, arm_stop_transaction(part, 0, 0, NULL));
    }
  } else if (strcmp(what, "fork") == 0) {
    pid_t child = fork();
    if (child == 0) {
      arm_tran_start_handle_t part;
      arm_stop_transaction(shared, 0, 0, NULL); /* the parent's to stop: no harm */
      EXPECT_CODE(0, arm_start_transaction(app, &part_id, NULL, 0, NULL, &part, NULL));
      EXPECT_CODE(0, arm_stop_transaction(part, ARM_STATUS_ABORTED, 0, NULL));
      EXPECT_CODE(0, arm_register_transaction(&app_id, "child", NULL, 0, NULL, &work_id));
      EXPECT_CODE(0, arm_start_transaction(app, &work_id, NULL, 0, NULL, &part, NULL));
      EXPECT_CODE(0, arm_stop_transaction(part, 0, 0, NULL));
      fflush(stdout);
      _exit(failures != 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT(status == 0);
  } else {
    int won = 0;
    all(worker, NULL);
    all(stopper, NULL);
    for (int i = 0; i < ROUNDS; i++) {
      EXPECT_CODE(0, arm_start_transaction(app, &part_id, NULL, 0, NULL, &handed[0][i], NULL));
    }
    all(racer, &won);
    EXPECT(won == ROUNDS);
  }
  EXPECT_CODE(0, arm_stop_transaction(shared, ARM_STATUS_GOOD, 0, NULL));
  return failures != 0;
}
