/* One thread of the process runs at a time: it has the baton. A thread that waits looks for the
 * next one that can go on, in fixed order; when there is none the process is quiescent. Only the
 * thread with the baton touches what is here, so that no lock is needed. */
#include "part.h"
#include <linux/futex.h>
#include <limits.h>

__thread struct thread *me __attribute__((tls_model("initial-exec")));
struct thread threads[THREADS_MAX];
unsigned threads_high;             /* slots ever used */
static unsigned last_run;
static pid_t leaving;              /* a thread that ends: gone before another one runs */
static uint64_t futex_order;

static void give(struct thread *to) {
  __atomic_store_n(&to->baton, 1, __ATOMIC_RELEASE);
  SYS(SYS_futex, &to->baton, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* The kernel clears and wakes a leaving thread's number; those who join it look there. */
static void see_off(void) {
  static const struct timespec moment = {0, 20000};
  pid_t pid = (pid_t)SYS(SYS_getpid, 0, 0, 0, 0, 0, 0);
  for (int i = 0; leaving && i < 50000; i++) {
    if (SYS(SYS_tgkill, pid, leaving, 0, 0, 0, 0) == -ESRCH) break;
    SYS(SYS_nanosleep, &moment, 0, 0, 0, 0, 0);
  }
  leaving = 0;
}

/* The wait comes first, always: whether the baton was already there must not change how many
 * instructions this takes. With a timeout, so that no handler makes the kernel restart it. */
void take(struct thread *self) {
  static const struct timespec long_time = {1000000000, 0};
  for (;;) {
    long r = SYS(SYS_futex, &self->baton, FUTEX_WAIT_PRIVATE, 0, &long_time, 0, 0);
    if (__atomic_load_n(&self->baton, __ATOMIC_ACQUIRE)) break;
    if (r == -EINTR && self->interrupted) say(SIGNALLED, 0, NULL);
  }
  __atomic_store_n(&self->baton, 0, __ATOMIC_RELAXED);
  see_off();
}

static bool interrupts(struct thread *t) {
  if (!t->interrupted) return false;
  t->interrupted = false;
  return !(t->may_restart && handlers_all_restart());
}

/* Whether a waiting thread can go on; then with its result. */
static bool is_ready(struct thread *t) {
  t->result = 0;
  if (t->wait == W_YIELD) return true;
  if (interrupts(t)) {
    t->result = -EINTR;
    return true;
  }
  if (t->wait == W_POLL && real_poll(t->fds, t->count, 0) != 0) return true;
  if (t->wait == W_RETRY && t->grant != grants) return true;
  if (t->wait == W_FUTEX && t->futex_shared && __atomic_load_n((const int *)t->futex, __ATOMIC_SEQ_CST) != t->futex_value)
    return true;
  if (t->deadline <= now_ns()) {
    t->result = -ETIMEDOUT;
    return true;
  }
  return false;
}

static void all_wait(void) {
  int64_t until = timers_next();
  uint32_t waits = 0;
  for (unsigned i = 0; i < threads_high; i++) {
    struct thread *t = &threads[i];
    if (t->state != T_WAITING) continue;
    if (t->deadline < until) until = t->deadline;
    if (t->wait == W_POLL || t->wait == W_RETRY || (t->wait == W_FUTEX && t->futex_shared)) waits |= 1;
    for (unsigned k = 0; t->wait == W_POLL && k < t->count; k++)
      if (t->fds[k].events & POLLOUT) waits |= 2;
  }
  if (choked) waits |= 2;
  quiescent(until, waits);
}

/* The next thread to run, in order after the last; waits for the coordinator when there is none. */
static struct thread *pick(void) {
  for (;;) {
    timers_fire();
    for (unsigned pass = 0; pass < 2; pass++) {
      for (unsigned k = 1; k <= threads_high; k++) {
        unsigned at = (last_run + k) % threads_high;
        struct thread *t = &threads[at];
        bool go = pass == 0 ? t->state == T_RUNNABLE : t->state == T_WAITING && is_ready(t);
        if (!go) continue;
        t->state = T_RUNNABLE;
        last_run = at;
        return t;
      }
    }
    if (late_octets()) continue;
    all_wait();
  }
}

long block(enum wait wait, int64_t deadline) {
  struct thread *self = me;
  self->wait = wait;
  self->deadline = deadline;
  self->grant = grants;
  self->state = T_WAITING;
  self->spins = 0;
  slot->waits++;
  for (;;) {
    struct thread *next = pick();
    if (next != self) {
      give(next);
      take(self);
    }
    if (self->state == T_RUNNABLE) break; /* else a thread that ended left the looking to us */
  }
  self->state = T_RUNNING;
  self->wait = W_NONE;
  return self->result;
}

/* A thread that polls without waiting lets the others run now and then. */
void spin(void) {
  if (++me->spins % 64 == 0 && threads_high > 1) block(W_YIELD, FOREVER);
}

struct thread *thread_new(void) {
  for (unsigned i = 0; i < THREADS_MAX; i++) {
    struct thread *t = &threads[i];
    if (t->state != T_FREE) continue;
    if (i >= threads_high) threads_high = i + 1;
    *t = (struct thread){.state = T_RUNNABLE};
    slot->threads++;
    return t;
  }
  return NULL;
}

/* First act of a new thread: nothing until it is its turn. */
void thread_begin(struct thread *thread) {
  me = thread;
  thread->tid = (pid_t)SYS(SYS_gettid, 0, 0, 0, 0, 0, 0);
  take(thread);
  thread->state = T_RUNNING;
}

/* Last act: somebody else looks who is next, after this thread is gone. */
void thread_end(void) {
  struct thread *self = me;
  futex_wake(&self->id, INT_MAX);
  self->state = T_FREE;
  me = NULL;
  for (unsigned i = 0; i < threads_high; i++)
    if (threads[i].state != T_FREE) {
      leaving = self->tid;
      give(&threads[i]);
      return;
    }
}

void threads_only_me(void) {
  for (unsigned i = 0; i < threads_high; i++)
    if (&threads[i] != me) threads[i].state = T_FREE;
  me->tid = (pid_t)SYS(SYS_gettid, 0, 0, 0, 0, 0, 0);
  leaving = 0;
}

static int wake(const void *at, int most, uint32_t bits) {
  int woken = 0;
  while (woken < most) {
    struct thread *first = NULL;
    for (unsigned i = 0; i < threads_high; i++) {
      struct thread *t = &threads[i];
      if (t->state == T_WAITING && t->wait == W_FUTEX && t->futex == at && (t->bits & bits) &&
          (!first || t->queued < first->queued))
        first = t;
    }
    if (!first) break;
    first->state = T_RUNNABLE;
    first->result = 0;
    woken++;
  }
  return woken;
}

/* For locks of libc where its own waits are not seen: nobody else runs between a look at the lock
 * and this. 0, -ETIMEDOUT or -EINTR. */
long futex_wait_at(const void *at, int64_t deadline) {
  if (deadline <= now_ns()) return -ETIMEDOUT;
  me->futex = at;
  me->bits = ~0u;
  me->futex_shared = false;
  me->queued = futex_order++;
  me->may_restart = deadline == FOREVER;
  return block(W_FUTEX, deadline);
}

int futex_wake(const void *at, int most) { return wake(at, most, ~0u); }

static long futex_wait(int *at, int value, int64_t deadline, uint32_t bits, bool shared) {
  if (!bits) return -EINVAL;
  if (__atomic_load_n(at, __ATOMIC_SEQ_CST) != value) return -EAGAIN;
  if (deadline <= now_ns()) return -ETIMEDOUT;
  me->futex = at;
  me->futex_value = value;
  me->bits = bits;
  me->futex_shared = shared;
  me->queued = futex_order++;
  me->may_restart = deadline == FOREVER;
  return block(W_FUTEX, deadline);
}

static int requeue(int *from, int wakes, int moves, int *to) {
  int done = wake(from, wakes, ~0u);
  for (; moves > 0; moves--) {
    struct thread *first = NULL;
    for (unsigned i = 0; i < threads_high; i++) {
      struct thread *t = &threads[i];
      if (t->state == T_WAITING && t->wait == W_FUTEX && t->futex == from && (!first || t->queued < first->queued))
        first = t;
    }
    if (!first) break;
    first->futex = to;
    done++;
  }
  return done;
}

static long wake_op(int *at, int wakes, int wakes2, int *at2, uint32_t op) {
  int how = op >> 28 & 7, compare = op >> 24 & 15;
  int arg = (int)(op << 8) >> 20, with = (int)(op << 20) >> 20;
  if (op & 0x80000000u) arg = (int)(1u << (arg & 31));
  int old = *at2;
  switch (how) {
    case 0: *at2 = arg; break;
    case 1: *at2 = old + arg; break;
    case 2: *at2 = old | arg; break;
    case 3: *at2 = old & ~arg; break;
    case 4: *at2 = old ^ arg; break;
    default: return -ENOSYS;
  }
  bool go = compare == 0   ? old == with
            : compare == 1 ? old != with
            : compare == 2 ? old < with
            : compare == 3 ? old <= with
            : compare == 4 ? old > with
                           : old >= with;
  return wake(at, wakes, ~0u) + (go ? wake(at2, wakes2, ~0u) : 0);
}

/* futex(2) among the threads of this process; processes that share one look after each wake. */
long futex(int *at, int op, int value, long time, int *at2, uint32_t value3) {
  bool shared = !(op & FUTEX_PRIVATE_FLAG);
  int command = op & FUTEX_CMD_MASK;
  const struct timespec *t = (const struct timespec *)time;
  int64_t deadline = FOREVER;
  if (t && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET)) {
    deadline = t->tv_sec > 9000000000LL ? FOREVER : t->tv_sec * NS + t->tv_nsec;
    if (command == FUTEX_WAIT && deadline != FOREVER) deadline += now_ns();
    else if (op & FUTEX_CLOCK_REALTIME && deadline != FOREVER) deadline += now_ns() - page->utc_ns;
  }
  if (shared && command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) token(WAKE, NULL, NULL, 0);
  switch (command) {
    case FUTEX_WAIT: return futex_wait(at, value, deadline, ~0u, shared);
    case FUTEX_WAIT_BITSET: return futex_wait(at, value, deadline, value3, shared);
    case FUTEX_WAKE: return wake(at, value, ~0u);
    case FUTEX_WAKE_BITSET: return wake(at, value, value3);
    case FUTEX_CMP_REQUEUE:
      if (*at != (int)value3) return -EAGAIN;
      return requeue(at, value, (int)time, at2);
    case FUTEX_REQUEUE: return requeue(at, value, (int)time, at2);
    case FUTEX_WAKE_OP: return wake_op(at, value, (int)time, at2, value3);
    default: say(REFUSED, SYS_futex, "futex with priority inheritance"); return -ENOSYS;
  }
}
