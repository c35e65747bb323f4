/* Timers that make a descriptor readable or send a signal, on the virtual clock. The kernel's
 * timer stays disarmed until its time has come, and is then made to expire at once. */
#include "part.h"
#include <sys/timerfd.h>

#define TIMERS_MAX 256
struct timer {
  int fd; /* -1: free */
  int clock;
  int64_t next, interval; /* monotonic ns; next 0: disarmed */
  bool fired;
  bool used;
};
static struct timer timers[TIMERS_MAX];
static unsigned timers_high; /* slots ever used */
static int64_t alarm_next, alarm_interval;

static struct timer *timer_of(int fd) {
  for (unsigned i = 0; i < timers_high; i++)
    if (timers[i].used && timers[i].fd == fd) return &timers[i];
  return NULL;
}

void timerfd_made(int fd, int clock) {
  for (unsigned i = 0; i < TIMERS_MAX; i++)
    if (!timers[i].used) {
      timers[i] = (struct timer){.fd = fd, .clock = clock, .used = true};
      if (i >= timers_high) timers_high = i + 1;
      return;
    }
  say(REFUSED, SYS_timerfd_create, "more than 256 timers");
}

bool timerfd_is(int fd) { return timer_of(fd) != NULL; }

void timerfd_gone(int fd) {
  struct timer *t = timer_of(fd);
  if (t) t->used = false;
}

static int64_t ns_of(const struct timespec *t) { return t->tv_sec * NS + t->tv_nsec; }

static void real(int fd, bool expire) {
  struct itimerspec at = {{0, 0}, {0, expire ? 1 : 0}};
  SYS(SYS_timerfd_settime, fd, 0, &at, 0, 0, 0);
  if (expire) {
    struct pollfd p = {fd, POLLIN, 0};
    real_poll(&p, 1, 1000);
  }
}

long timerfd_get(int fd, struct itimerspec *now) {
  struct timer *t = timer_of(fd);
  int64_t left = !t->next ? 0 : t->next - now_ns();
  if (t->next && left <= 0) left = t->interval ? t->interval - (now_ns() - t->next) % t->interval : 0;
  now->it_value = (struct timespec){left / NS, left % NS};
  now->it_interval = (struct timespec){t->interval / NS, t->interval % NS};
  return 0;
}

long timerfd_set(int fd, int flags, const struct itimerspec *new, struct itimerspec *old) {
  struct timer *t = timer_of(fd);
  if (old) timerfd_get(fd, old);
  int64_t value = ns_of(&new->it_value);
  t->interval = ns_of(&new->it_interval);
  t->next = 0;
  t->fired = false;
  real(fd, false);
  if (!value) return 0;
  if (!(flags & TFD_TIMER_ABSTIME)) value += now_ns();
  else if (clock_is_virtual(t->clock) && (t->clock == CLOCK_REALTIME || t->clock == CLOCK_REALTIME_ALARM))
    value += now_ns() - page->utc_ns;
  t->next = value > 0 ? value : 1;
  timers_fire();
  return 0;
}

/* Expirations since the last read, which is now. */
uint64_t timerfd_count(int fd) {
  struct timer *t = timer_of(fd);
  if (!t->next || t->next > now_ns()) return 0;
  uint64_t count = 1;
  if (t->interval) {
    count += (uint64_t)((now_ns() - t->next) / t->interval);
    t->next += (int64_t)count * t->interval;
  } else t->next = 0;
  t->fired = false;
  real(fd, false);
  return count;
}

int64_t alarm_left(int64_t *interval) {
  *interval = alarm_interval;
  return alarm_next ? alarm_next - now_ns() : 0;
}

int64_t alarm_set(int64_t after, int64_t interval, int64_t *old_interval) {
  int64_t left = alarm_left(old_interval);
  alarm_next = after ? now_ns() + after : 0;
  alarm_interval = interval;
  return left;
}

void timers_forget_alarm(void) { alarm_next = 0; }

int64_t timers_next(void) {
  int64_t next = alarm_next ? alarm_next : FOREVER;
  for (unsigned i = 0; i < timers_high; i++) {
    struct timer *t = &timers[i];
    if (t->used && t->next && !t->fired && t->next < next) next = t->next;
  }
  return next;
}

void timers_fire(void) {
  if (alarm_next && alarm_next <= now_ns()) {
    alarm_next = alarm_interval ? alarm_next + alarm_interval : 0;
    SYS(SYS_kill, SYS(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGALRM, 0, 0, 0, 0);
  }
  for (unsigned i = 0; i < timers_high; i++) {
    struct timer *t = &timers[i];
    if (!t->used || !t->next || t->fired || t->next > now_ns()) continue;
    t->fired = true;
    real(t->fd, true);
  }
}
