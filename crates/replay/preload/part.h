/* A process's part in a replay under a virtual clock: what the files of this library share.
 * The octets are those of docs/formats/virtual-clock.md. */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define PUBLIC __attribute__((visibility("default")))
#define FOREVER INT64_MAX
#define NS 1000000000LL

/* ---- raw.c: system calls that no trap sees ---- */
HIDDEN long chrono_sys(long nr, long a, long b, long c, long d, long e, long f);
#define SYS(nr, a, b, c, d, e, f) \
  chrono_sys((nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Always with a timeout: otherwise the kernel could restart it after a handler. */
static inline long real_poll(struct pollfd *fds, unsigned long count, long ms) {
  struct timespec t = {ms < 0 ? 1000000000 : ms / 1000, ms < 0 ? 0 : ms % 1000 * 1000000};
  return SYS(SYS_ppoll, fds, count, &t, 0, 8, 0);
}

/* ---- the page ---- */
struct page {
  char magic[8];
  uint32_t version, slots;
  volatile int64_t utc_ns, monotonic_ns;
};
struct slot {
  uint64_t clock_reads, calls, waits, threads, rest[4];
};
HIDDEN extern struct page *page;     /* a private one before start and without a coordinator */
HIDDEN extern struct slot *slot;
HIDDEN extern bool taking_part;      /* connected to a coordinator */
static inline int64_t now_ns(void) { return page->monotonic_ns; }

/* ---- threads.c: one thread of the process runs at a time ---- */
enum wait { W_NONE, W_TIME, W_POLL, W_FUTEX, W_RETRY, W_YIELD };
enum state { T_FREE, T_RUNNABLE, T_RUNNING, T_WAITING };
struct thread {
  int baton;                 /* futex: this thread may run */
  enum state state;
  enum wait wait;
  pid_t tid;
  int depth;                 /* > 0: inside this library; what a signal handler calls is real */
  bool interrupted;          /* a handler of the program ran */
  bool may_restart;          /* the wait goes on after handlers that ask for it */
  int64_t deadline;          /* monotonic, FOREVER for none */
  uint64_t grant;            /* W_RETRY: look again after the next grant */
  struct pollfd *fds;
  unsigned count;
  const void *futex;
  int futex_value;
  uint32_t bits;
  bool futex_shared;
  long result;               /* of a futex wait that was woken */
  uint64_t queued;           /* order of futex waits */
  unsigned spins;
  unsigned long id;          /* pthread_t */
  void *(*start)(void *);
  void *argument;
};
#define THREADS_MAX 1024
HIDDEN extern __thread struct thread *me __attribute__((tls_model("initial-exec")));
HIDDEN extern struct thread threads[THREADS_MAX];
HIDDEN extern unsigned threads_high;
/* 0 when what is waited for may be there, -ETIMEDOUT, -EINTR, or a futex's result. */
HIDDEN long block(enum wait wait, int64_t deadline);
HIDDEN struct thread *thread_new(void);
HIDDEN void thread_begin(struct thread *thread);
HIDDEN void thread_end(void);
HIDDEN void threads_only_me(void);
HIDDEN void take(struct thread *self);
HIDDEN void spin(void);
HIDDEN long futex_wait_at(const void *at, int64_t deadline);
HIDDEN int futex_wake(const void *at, int most);
HIDDEN long futex(int *at, int op, int value, long time, int *at2, uint32_t value3);

/* ---- talk.c: the coordinator ---- */
struct end {
  uint8_t address[16];
  uint16_t port;
} __attribute__((packed));
struct token {
  uint8_t event, zero[3];
  struct end from, to;
  uint64_t count;
} __attribute__((packed));
enum event { SENT = 1, RECEIVED, DATAGRAM, LISTEN, BOUND, CONNECT, ACCEPTED, CLOSED, LOCAL, KILL, WAKE };
enum kind { HELLO = 1, QUIESCENT, TOKENS, FORK, EXEC, EXEC_FAILED, SIGNALLED, REFUSED, WELCOME = 16, GO };
HIDDEN extern int control;           /* descriptor of the socket */
HIDDEN extern uint64_t grants;
HIDDEN void token(enum event event, const struct end *from, const struct end *to, uint64_t count);
HIDDEN void say(enum kind kind, int64_t a, const char *text);
HIDDEN void hello(void);
HIDDEN void flush(void);
HIDDEN void quiescent(int64_t until, uint32_t waits);
HIDDEN uint64_t random_next(void);

/* ---- files.c: what descriptors are ---- */
enum what { F_UNKNOWN, F_FILE, F_INNER, F_LOCAL, F_PIPE, F_STREAM, F_LISTEN, F_DATAGRAM, F_RANDOM };
HIDDEN enum what what_is(int fd);
HIDDEN void opened(int fd);          /* forget what the number was */
HIDDEN void closed(int fd);
HIDDEN void duplicated(int from, int to);
HIDDEN void did_send(int fd, long result, unsigned long wanted);
HIDDEN void did_datagram(int fd, const void *name, unsigned length);
HIDDEN void did_receive(int fd, long result);
HIDDEN void did_connect(int fd, const void *name, unsigned length);
HIDDEN void did_accept(int fd);
HIDDEN void did_listen(int fd);
HIDDEN void did_bind(int fd);
HIDDEN void did_shutdown(int fd);
HIDDEN void local_touched(void);
HIDDEN void streams_tokens(void);    /* what streams carried since, as tokens */
HIDDEN void arrived(const struct token *tokens, unsigned count);
HIDDEN bool late_octets(void);
HIDDEN extern bool choked;           /* a send found no room */
HIDDEN int64_t *receive_timeout(int fd);
HIDDEN int64_t *send_timeout(int fd);

/* ---- timers.c ---- */
HIDDEN long timerfd_set(int fd, int flags, const struct itimerspec *new, struct itimerspec *old);
HIDDEN long timerfd_get(int fd, struct itimerspec *now);
HIDDEN bool timerfd_is(int fd);
HIDDEN void timerfd_made(int fd, int clock);
HIDDEN void timerfd_gone(int fd);
HIDDEN uint64_t timerfd_count(int fd);
HIDDEN int64_t timers_next(void);
HIDDEN void timers_fire(void);
HIDDEN int64_t alarm_set(int64_t after, int64_t interval, int64_t *old_interval);
HIDDEN int64_t alarm_left(int64_t *interval);
HIDDEN void timers_forget_alarm(void);

/* ---- calls.c ---- */
HIDDEN long dispatch(long nr, long a, long b, long c, long d, long e, long f);
HIDDEN long clock_read(int clock, struct timespec *out);
HIDDEN bool clock_is_virtual(int clock);
HIDDEN uint64_t fill_random(void *to, uint64_t length);

/* ---- trap.c ---- */
HIDDEN void trap_on(void);           /* for the calling thread */
HIDDEN bool trap_works(void);
HIDDEN void trap_pause(bool pause);  /* for calls into libc that make threads and children */
HIDDEN long trap_sigaction(int sig, const void *act, void *old, size_t size);
HIDDEN long trap_sigmask(int how, const uint64_t *set, uint64_t *old);
HIDDEN bool handlers_all_restart(void);
HIDDEN bool is_handler(void *handler);
HIDDEN void *signal_handler(void);
HIDDEN void signal_wanted(int sig, void *handler, unsigned long flags);
HIDDEN void *signal_asked(int sig, void *handler, unsigned long *flags);

/* ---- count.c ---- */
HIDDEN void start_counting(void);

/* ---- stack.c ---- */
HIDDEN void stack_start(char **arguments, char **environment);

/* ---- start.c ---- */
HIDDEN void after_fork_in_child(void);
HIDDEN char **environment_with_ours(char *const *environment);
HIDDEN void give_up(const char *why) __attribute__((noreturn));
