/* libc's functions that read time, wait or move octets: time is read without any system call
 * (libc would read it without one too, where no trap sees it), and what is called most is spared
 * the trap. Not cancellation points. */
#include "part.h"
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static long answer(long r) {
  if (r >= 0 || r < -4095) return r;
  errno = (int)-r;
  return -1;
}
#define CALL(nr, a, b, c, d, e, f) \
  answer(dispatch((nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* ---- time ---- */
PUBLIC int clock_gettime(clockid_t clock, struct timespec *t) { return (int)answer(clock_read(clock, t)); }

PUBLIC int gettimeofday(struct timeval *restrict v, void *restrict zone) {
  struct timespec t;
  (void)zone;
  clock_read(CLOCK_REALTIME, &t);
  if (v) *v = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
  return 0;
}

PUBLIC time_t time(time_t *to) {
  struct timespec t;
  clock_read(CLOCK_REALTIME, &t);
  if (to) *to = t.tv_sec;
  return t.tv_sec;
}

PUBLIC int timespec_get(struct timespec *t, int base) {
  return base == TIME_UTC && clock_read(CLOCK_REALTIME, t) == 0 ? base : 0;
}

PUBLIC int nanosleep(const struct timespec *t, struct timespec *left) { return (int)CALL(SYS_nanosleep, t, left, 0, 0, 0, 0); }

PUBLIC int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left) {
  return (int)-dispatch(SYS_clock_nanosleep, clock, flags, (long)t, (long)left, 0, 0);
}

PUBLIC int usleep(useconds_t us) {
  struct timespec t = {us / 1000000, us % 1000000 * 1000};
  return nanosleep(&t, NULL);
}

PUBLIC unsigned sleep(unsigned s) {
  struct timespec t = {s, 0}, left = {0, 0};
  return nanosleep(&t, &left) ? (unsigned)left.tv_sec + (left.tv_nsec > 0) : 0;
}

/* ---- descriptors ---- */
PUBLIC int poll(struct pollfd *fds, nfds_t count, int ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  return (int)CALL(SYS_ppoll, fds, count, ms < 0 ? NULL : &t, 0, 0, 0);
}

PUBLIC int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *t, const sigset_t *mask) {
  return (int)CALL(SYS_ppoll, fds, count, t, mask, 8, 0);
}

PUBLIC int pselect(int count, fd_set *in, fd_set *out, fd_set *special, const struct timespec *t, const sigset_t *mask) {
  const void *masks[2] = {mask, (void *)8};
  return (int)CALL(SYS_pselect6, count, in, out, special, t, masks);
}

PUBLIC int select(int count, fd_set *in, fd_set *out, fd_set *special, struct timeval *v) {
  struct timespec t = {0, 0};
  if (v) t = (struct timespec){v->tv_sec + v->tv_usec / 1000000, v->tv_usec % 1000000 * 1000};
  return pselect(count, in, out, special, v ? &t : NULL, NULL);
}

PUBLIC int epoll_wait(int fd, struct epoll_event *events, int most, int ms) {
  return (int)CALL(SYS_epoll_pwait, fd, events, most, ms, 0, 8);
}

PUBLIC int epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask) {
  return (int)CALL(SYS_epoll_pwait, fd, events, most, ms, mask, 8);
}

PUBLIC int epoll_pwait2(int fd, struct epoll_event *events, int most, const struct timespec *t, const sigset_t *mask) {
  return (int)CALL(SYS_epoll_pwait2, fd, events, most, t, mask, 8);
}

PUBLIC ssize_t read(int fd, void *to, size_t n) { return CALL(SYS_read, fd, to, n, 0, 0, 0); }
PUBLIC ssize_t write(int fd, const void *from, size_t n) { return CALL(SYS_write, fd, from, n, 0, 0, 0); }
PUBLIC ssize_t readv(int fd, const struct iovec *to, int n) { return CALL(SYS_readv, fd, to, n, 0, 0, 0); }
PUBLIC ssize_t writev(int fd, const struct iovec *from, int n) { return CALL(SYS_writev, fd, from, n, 0, 0, 0); }
PUBLIC ssize_t recv(int fd, void *to, size_t n, int flags) { return CALL(SYS_recvfrom, fd, to, n, flags, 0, 0); }
PUBLIC ssize_t send(int fd, const void *from, size_t n, int flags) { return CALL(SYS_sendto, fd, from, n, flags, 0, 0); }
PUBLIC ssize_t recvfrom(int fd, void *restrict to, size_t n, int flags, struct sockaddr *restrict at, socklen_t *restrict length) {
  return CALL(SYS_recvfrom, fd, to, n, flags, at, length);
}
PUBLIC ssize_t sendto(int fd, const void *from, size_t n, int flags, const struct sockaddr *at, socklen_t length) {
  return CALL(SYS_sendto, fd, from, n, flags, at, length);
}
PUBLIC ssize_t recvmsg(int fd, struct msghdr *m, int flags) { return CALL(SYS_recvmsg, fd, m, flags, 0, 0, 0); }
PUBLIC ssize_t sendmsg(int fd, const struct msghdr *m, int flags) { return CALL(SYS_sendmsg, fd, m, flags, 0, 0, 0); }
PUBLIC int accept(int fd, struct sockaddr *restrict at, socklen_t *restrict length) {
  return (int)CALL(SYS_accept4, fd, at, length, 0, 0, 0);
}
PUBLIC int accept4(int fd, struct sockaddr *restrict at, socklen_t *restrict length, int flags) {
  return (int)CALL(SYS_accept4, fd, at, length, flags, 0, 0);
}
PUBLIC int connect(int fd, const struct sockaddr *at, socklen_t length) { return (int)CALL(SYS_connect, fd, at, length, 0, 0, 0); }
PUBLIC int bind(int fd, const struct sockaddr *at, socklen_t length) { return (int)CALL(SYS_bind, fd, at, length, 0, 0, 0); }
PUBLIC int listen(int fd, int backlog) { return (int)CALL(SYS_listen, fd, backlog, 0, 0, 0, 0); }
PUBLIC int shutdown(int fd, int how) { return (int)CALL(SYS_shutdown, fd, how, 0, 0, 0, 0); }
PUBLIC int close(int fd) { return (int)CALL(SYS_close, fd, 0, 0, 0, 0, 0); }

/* ---- the rest ---- */
PUBLIC ssize_t getrandom(void *to, size_t n, unsigned flags) { return CALL(SYS_getrandom, to, n, flags, 0, 0, 0); }
PUBLIC int getentropy(void *to, size_t n) {
  if (n > 256) return errno = EIO, -1;
  return CALL(SYS_getrandom, to, n, 0, 0, 0, 0) < 0 ? -1 : 0;
}
PUBLIC int sched_yield(void) { return (int)CALL(SYS_sched_yield, 0, 0, 0, 0, 0, 0); }

/* Declared with an ellipsis; its six arguments are where those of this function are. */
PUBLIC long chrono_syscall(long nr, long a, long b, long c, long d, long e, long f) __asm__("syscall");
long chrono_syscall(long nr, long a, long b, long c, long d, long e, long f) { return answer(dispatch(nr, a, b, c, d, e, f)); }

/* ---- threads and children ---- */
static pthread_key_t last_act;
static void at_end(void *unused) {
  (void)unused;
  if (!trap_works() && me) thread_end();
}

static void *begin(void *argument) {
  struct thread *t = argument;
  thread_begin(t);
  t->depth = 0;
  if (trap_works()) trap_on();
  else pthread_setspecific(last_act, t);
  return t->start(t->argument);
}

PUBLIC int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attr, void *(*start)(void *), void *restrict argument) {
  REAL(pthread_create);
  static bool made;
  if (!me || me->depth) return real(id, attr, start, argument);
  if (!made) made = pthread_key_create(&last_act, at_end) == 0;
  struct thread *t = thread_new();
  if (!t) return say(REFUSED, SYS_clone, "more than 1024 threads"), EAGAIN;
  t->start = start;
  t->argument = argument;
  t->depth = 1;
  me->depth++;
  if (trap_works()) trap_pause(true);
  int r = real(id, attr, begin, t);
  if (trap_works()) trap_pause(false);
  me->depth--;
  if (r) t->state = T_FREE;
  else t->id = (unsigned long)*id;
  return r;
}

struct c11 {
  thrd_start_t start;
  void *argument;
};
static void *c11_begin(void *argument) {
  struct c11 of = *(struct c11 *)argument;
  free(argument);
  return (void *)(intptr_t)of.start(of.argument);
}

PUBLIC int thrd_create(thrd_t *id, thrd_start_t start, void *argument) {
  struct c11 *of = malloc(sizeof *of);
  if (!of) return thrd_nomem;
  *of = (struct c11){start, argument};
  if (pthread_create((pthread_t *)id, NULL, c11_begin, of) == 0) return thrd_success;
  free(of);
  return thrd_error;
}

PUBLIC pid_t fork(void) {
  REAL(fork);
  if (!me || me->depth) return real();
  me->depth++;
  flush();
  pid_t child = real();
  if (child == 0) after_fork_in_child();
  else if (child > 0) say(FORK, child, NULL);
  me->depth--;
  return child;
}

/* The memory is not shared: what a child may do after vfork is little enough for that. */
PUBLIC pid_t vfork(void) { return fork(); }

static int spawned(int r, const pid_t *child) {
  if (trap_works()) trap_pause(false);
  if (r == 0) say(FORK, *child, NULL);
  me->depth--;
  return r;
}

static void before_spawn(void) {
  me->depth++;
  flush();
  if (trap_works()) trap_pause(true);
}

PUBLIC int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attr, char *const argv[], char *const environment[]) {
  REAL(posix_spawn);
  pid_t here;
  if (!me || me->depth) return real(child, path, actions, attr, argv, environment);
  before_spawn();
  if (!child) child = &here;
  return spawned(real(child, path, actions, attr, argv, environment_with_ours(environment)), child);
}

PUBLIC int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attr, char *const argv[], char *const environment[]) {
  REAL(posix_spawnp);
  pid_t here;
  if (!me || me->depth) return real(child, file, actions, attr, argv, environment);
  before_spawn();
  if (!child) child = &here;
  return spawned(real(child, file, actions, attr, argv, environment_with_ours(environment)), child);
}

PUBLIC FILE *popen(const char *command, const char *how) {
  REAL(popen);
  static const pid_t some_child = 0;
  if (!me || me->depth) return real(command, how);
  before_spawn();
  FILE *f = real(command, how);
  spawned(f ? 0 : 1, &some_child);
  return f;
}

PUBLIC int system(const char *command) {
  REAL(system);
  if (!command || !me || me->depth) return real(command);
  struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
  sigset_t child_signal, before;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  sigaction(SIGINT, &ignore, &interrupt);
  sigaction(SIGQUIT, &ignore, &quit);
  sigprocmask(SIG_BLOCK, &child_signal, &before);
  pid_t child = fork();
  int status = -1;
  if (child == 0) {
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  if (child > 0)
    while (CALL(SYS_wait4, child, &status, 0, 0, 0, 0) < 0 && errno == EINTR) {}
  sigaction(SIGINT, &interrupt, NULL);
  sigaction(SIGQUIT, &quit, NULL);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return status;
}

PUBLIC pid_t waitpid(pid_t child, int *status, int options) { return (pid_t)CALL(SYS_wait4, child, status, options, 0, 0, 0); }
PUBLIC pid_t wait(int *status) { return (pid_t)CALL(SYS_wait4, -1, status, 0, 0, 0, 0); }
