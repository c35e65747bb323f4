/* Threads that wait for each other and for time in every way that POSIX has. Prints when what
 * happened, by the clock. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static sem_t done;
static int queue[8], queued, taken_total;
static volatile sig_atomic_t alarms;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  static double start;
  double s = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
  if (start == 0) start = s;
  return s - start;
}

static void *produce(void *of) {
  for (int i = 0; i < 50; i++) {
    usleep(100000 + (unsigned)(uintptr_t)of * 1000);
    pthread_mutex_lock(&lock);
    while (queued == 8) pthread_cond_wait(&emptied, &lock);
    queue[queued++] = i;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
  }
  sem_post(&done);
  return of;
}

static void *consume(void *of) {
  int taken = 0;
  for (;;) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    pthread_mutex_lock(&lock);
    int late = 0;
    while (!queued && !late) late = pthread_cond_timedwait(&filled, &lock, &until);
    if (queued) {
      queued--;
      taken++;
      taken_total++;
      pthread_cond_signal(&emptied);
    }
    pthread_mutex_unlock(&lock);
    if (late) break;
    usleep(30000);
  }
  printf("%.6f consumer %d took %d\n", now(), (int)(uintptr_t)of, taken);
  return NULL;
}

static void on_alarm(int sig) { (void)sig; alarms++; }

int main(void) {
  pthread_t threads[7];
  uint32_t seed;
  now();
  sem_init(&done, 0, 0);
  for (uintptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, produce, (void *)i);
  for (uintptr_t i = 4; i < 7; i++) pthread_create(&threads[i], NULL, consume, (void *)i);
  for (int i = 0; i < 4; i++) sem_wait(&done);
  printf("%.6f produced\n", now());
  for (int i = 0; i < 7; i++) pthread_join(threads[i], NULL);
  printf("%.6f joined, %d taken\n", now(), taken_total);

  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec every = {{0, 250000000}, {1, 0}};
  timerfd_settime(timer, 0, &every, NULL);
  for (int i = 0; i < 3; i++) {
    uint64_t count;
    if (i == 2) sleep(2);
    if (read(timer, &count, 8) == 8) printf("%.6f timer %lu\n", now(), count);
  }
  fd_set set;
  FD_ZERO(&set);
  FD_SET(timer, &set);
  struct timeval limit = {0, 100};
  int ready = select(timer + 1, &set, NULL, NULL, &limit);
  printf("%.6f select %d\n", now(), ready);

  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  alarm(5);
  unsigned left = sleep(60);
  printf("%.6f alarm %d, %u left\n", now(), (int)alarms, left);
  getrandom(&seed, sizeof seed, 0);
  FILE *random = fopen("/dev/urandom", "r");
  unsigned char octets[4];
  size_t got = fread(octets, 1, 4, random);
  printf("random %u, %zu: %02x%02x%02x%02x\n", seed, got, octets[0], octets[1], octets[2], octets[3]);
  time_t t = time(NULL);
  printf("%s", ctime(&t));
  return 0;
}
