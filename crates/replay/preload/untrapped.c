/* What is seen of libc where system calls are not trapped (under Valgrind, on other processors): the
 * waits that it would do within itself, and what it does to descriptors and processes. One thread
 * runs at a time, so that a lock is its own look at it and a wait in order. */
#include "part.h"
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define COND_VERSION "GLIBC_2.3.2"
#else
#define COND_VERSION "GLIBC_2.17"
#endif
#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define REAL_COND(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, COND_VERSION); \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static bool seen(void) { return me && !me->depth && taking_part && !trap_works(); }

static long wait_at(const void *at, int64_t deadline) {
  me->depth++;
  me->interrupted = false;
  slot->calls++;
  long r = futex_wait_at(at, deadline);
  me->depth--;
  return r;
}

static int64_t deadline_of(clockid_t clock, const struct timespec *t) {
  int64_t at = t->tv_sec > 4000000000LL ? FOREVER : t->tv_sec * NS + t->tv_nsec;
  return clock == CLOCK_REALTIME && at != FOREVER ? at + now_ns() - page->utc_ns : at;
}

/* ---- mutexes ---- */
static int lock(pthread_mutex_t *m) {
  int r;
  while ((r = pthread_mutex_trylock(m)) == EBUSY) wait_at(m, FOREVER);
  return r;
}

PUBLIC int pthread_mutex_lock(pthread_mutex_t *m) {
  REAL(pthread_mutex_lock);
  return seen() ? lock(m) : real(m);
}

PUBLIC int pthread_mutex_unlock(pthread_mutex_t *m) {
  REAL(pthread_mutex_unlock);
  int r = real(m);
  if (r == 0 && seen()) futex_wake(m, 1);
  return r;
}

/* ---- condition variables ---- */
static int cond_wait(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline) {
  int r = pthread_mutex_unlock(m);
  if (r) return r;
  long waited = wait_at(c, deadline);
  lock(m);
  return waited == -ETIMEDOUT ? ETIMEDOUT : 0;
}

PUBLIC int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m) {
  REAL_COND(pthread_cond_wait);
  return seen() ? cond_wait(c, m, FOREVER) : real(c, m);
}

PUBLIC int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const struct timespec *restrict t) {
  REAL_COND(pthread_cond_timedwait);
  if (!seen()) return real(c, m, t);
  /* glibc keeps the clock of a condition variable in the second bit of this word. */
  clockid_t clock = c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  return cond_wait(c, m, deadline_of(clock, t));
}

PUBLIC int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t clock, const struct timespec *restrict t) {
  REAL(pthread_cond_clockwait);
  return seen() ? cond_wait(c, m, deadline_of(clock, t)) : real(c, m, clock, t);
}

PUBLIC int pthread_cond_signal(pthread_cond_t *c) {
  REAL_COND(pthread_cond_signal);
  return seen() ? futex_wake(c, 1), 0 : real(c);
}

PUBLIC int pthread_cond_broadcast(pthread_cond_t *c) {
  REAL_COND(pthread_cond_broadcast);
  return seen() ? futex_wake(c, INT_MAX), 0 : real(c);
}

/* ---- semaphores ---- */
static int sem_until(sem_t *s, int64_t deadline) {
  while (sem_trywait(s) != 0) {
    if (errno != EAGAIN) return -1;
    long r = wait_at(s, deadline);
    if (r == -ETIMEDOUT || r == -EINTR) return errno = (int)-r, -1;
  }
  return 0;
}

PUBLIC int sem_wait(sem_t *s) {
  REAL(sem_wait);
  return seen() ? sem_until(s, FOREVER) : real(s);
}

PUBLIC int sem_timedwait(sem_t *restrict s, const struct timespec *restrict t) {
  REAL(sem_timedwait);
  return seen() ? sem_until(s, deadline_of(CLOCK_REALTIME, t)) : real(s, t);
}

PUBLIC int sem_clockwait(sem_t *restrict s, clockid_t clock, const struct timespec *restrict t) {
  REAL(sem_clockwait);
  return seen() ? sem_until(s, deadline_of(clock, t)) : real(s, clock, t);
}

PUBLIC int sem_post(sem_t *s) {
  REAL(sem_post);
  int r = real(s);
  if (r == 0 && seen()) futex_wake(s, 1);
  return r;
}

/* ---- locks of readers and writers ---- */
PUBLIC int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
  REAL(pthread_rwlock_rdlock);
  if (!seen()) return real(l);
  int r;
  while ((r = pthread_rwlock_tryrdlock(l)) == EBUSY) wait_at(l, FOREVER);
  return r;
}

PUBLIC int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
  REAL(pthread_rwlock_wrlock);
  if (!seen()) return real(l);
  int r;
  while ((r = pthread_rwlock_trywrlock(l)) == EBUSY) wait_at(l, FOREVER);
  return r;
}

PUBLIC int pthread_rwlock_unlock(pthread_rwlock_t *l) {
  REAL(pthread_rwlock_unlock);
  int r = real(l);
  if (r == 0 && seen()) futex_wake(l, INT_MAX);
  return r;
}

/* ---- threads ---- */
PUBLIC int pthread_join(pthread_t id, void **result) {
  REAL(pthread_join);
  for (unsigned i = 0; seen() && i < threads_high; i++) {
    struct thread *t = &threads[i];
    while (t != me && t->state != T_FREE && t->id == (unsigned long)id) wait_at(&t->id, FOREVER);
  }
  return real(id, result);
}

/* ---- system calls that are trapped elsewhere ---- */
static long answer(long r) {
  if (r >= 0 || r < -4095) return r;
  errno = (int)-r;
  return -1;
}
#define CALL(nr, a, b, c, d, e, f) \
  answer(dispatch((nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))

PUBLIC int dup(int fd) { return (int)CALL(SYS_dup, fd, 0, 0, 0, 0, 0); }
PUBLIC int dup2(int from, int to) {
  if (from == to) return (int)CALL(SYS_fcntl, from, 1 /* F_GETFD */, 0, 0, 0, 0) < 0 ? -1 : to;
  return (int)CALL(SYS_dup3, from, to, 0, 0, 0, 0);
}
PUBLIC int dup3(int from, int to, int flags) { return (int)CALL(SYS_dup3, from, to, flags, 0, 0, 0); }
PUBLIC int setsockopt(int fd, int level, int name, const void *value, socklen_t length) {
  return (int)CALL(SYS_setsockopt, fd, level, name, value, length, 0);
}
PUBLIC int timerfd_create(clockid_t clock, int flags) { return (int)CALL(SYS_timerfd_create, clock, flags, 0, 0, 0, 0); }
PUBLIC int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old) {
  return (int)CALL(SYS_timerfd_settime, fd, flags, new, old, 0, 0);
}
PUBLIC int timerfd_gettime(int fd, struct itimerspec *now) { return (int)CALL(SYS_timerfd_gettime, fd, now, 0, 0, 0, 0); }
PUBLIC int kill(pid_t pid, int sig) { return (int)CALL(SYS_kill, pid, sig, 0, 0, 0, 0); }
PUBLIC pid_t wait4(pid_t child, int *status, int options, struct rusage *usage) {
  return (pid_t)CALL(SYS_wait4, child, status, options, usage, 0, 0);
}
PUBLIC pid_t wait3(int *status, int options, struct rusage *usage) { return wait4(-1, status, options, usage); }
PUBLIC int waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
  return (int)CALL(SYS_waitid, type, id, info, options, 0, 0);
}
PUBLIC int sigsuspend(const sigset_t *mask) { return (int)CALL(SYS_rt_sigsuspend, mask, 8, 0, 0, 0, 0); }
PUBLIC ssize_t sendfile(int to, int from, off_t *at, size_t n) { return CALL(SYS_sendfile, to, from, at, n, 0, 0); }
PUBLIC int sendmmsg(int fd, struct mmsghdr *all, unsigned n, int flags) {
  return (int)CALL(SYS_sendmmsg, fd, all, n, flags, 0, 0);
}
PUBLIC int recvmmsg(int fd, struct mmsghdr *all, unsigned n, int flags, struct timespec *t) {
  return (int)CALL(SYS_recvmmsg, fd, all, n, flags, t, 0);
}
PUBLIC int execve(const char *path, char *const argv[], char *const environment[]) {
  return (int)CALL(SYS_execve, path, argv, environment, 0, 0, 0);
}
PUBLIC int execv(const char *path, char *const argv[]) { return execve(path, argv, environ); }
PUBLIC void _exit(int status) {
  REAL(_exit);
  if (seen()) flush();
  real(status);
  __builtin_unreachable();
}

/* A handler of the program has one of ours before it (trap.c); a trapped call does that itself. */
PUBLIC int sigaction(int sig, const struct sigaction *restrict act, struct sigaction *restrict old) {
  REAL(sigaction);
  if (!taking_part || trap_works() || sig < 1 || sig > 64) return real(sig, act, old);
  struct sigaction ours, before;
  if (act) ours = *act;
  if (act && is_handler((void *)act->sa_sigaction)) {
    ours.sa_sigaction = (void (*)(int, siginfo_t *, void *))signal_handler();
    ours.sa_flags |= SA_SIGINFO;
  }
  int r = real(sig, act ? &ours : NULL, &before);
  if (r) return r;
  unsigned long flags = (unsigned long)before.sa_flags;
  before.sa_sigaction = (void (*)(int, siginfo_t *, void *))signal_asked(sig, (void *)before.sa_sigaction, &flags);
  before.sa_flags = (int)flags;
  if (act) signal_wanted(sig, (void *)act->sa_sigaction, (unsigned long)act->sa_flags);
  if (old) *old = before;
  return 0;
}

PUBLIC sighandler_t signal(int sig, sighandler_t handler) {
  REAL(signal);
  if (!taking_part || trap_works()) return real(sig, handler);
  struct sigaction act, old;
  memset(&act, 0, sizeof act);
  act.sa_handler = handler;
  act.sa_flags = SA_RESTART;
  return sigaction(sig, &act, &old) ? SIG_ERR : old.sa_handler;
}

/* Reads of stdio are within libc. */
static ssize_t read_random(void *unused, char *to, size_t n) {
  (void)unused;
  return (ssize_t)fill_random(to, n);
}

static FILE *open_random(const char *path, const char *how) {
  if (!seen() || (strcmp(path, "/dev/urandom") && strcmp(path, "/dev/random"))) return NULL;
  return fopencookie(NULL, how, (cookie_io_functions_t){.read = read_random});
}

PUBLIC FILE *fopen(const char *restrict path, const char *restrict how) {
  REAL(fopen);
  FILE *random = open_random(path, how);
  return random ? random : real(path, how);
}

PUBLIC FILE *fopen64(const char *restrict path, const char *restrict how) {
  REAL(fopen64);
  FILE *random = open_random(path, how);
  return random ? random : real(path, how);
}
