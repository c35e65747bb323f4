/* System calls that wait, read time, or move octets, on the virtual clock. Everything else goes
 * to the kernel as it is. What is interposed in libc and what is trapped both come here. */
#include "part.h"
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <linux/sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>


struct call {
  long nr, a, b, c, d, e, f;
};
static long run(const struct call *c) { return chrono_sys(c->nr, c->a, c->b, c->c, c->d, c->e, c->f); }

bool clock_is_virtual(int clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || (clock >= CLOCK_MONOTONIC_RAW && clock <= CLOCK_TAI);
}

/* The same instructions every time. CPU clocks stay real: what code costs is real in a replay. */
long clock_read(int clock, struct timespec *out) {
  if (!taking_part || !clock_is_virtual(clock)) return SYS(SYS_clock_gettime, clock, out, 0, 0, 0, 0);
  bool utc = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
  int64_t ns = utc ? page->utc_ns : page->monotonic_ns;
  slot->clock_reads++;
  out->tv_sec = ns / NS;
  out->tv_nsec = ns % NS;
  return 0;
}

static bool bad(const struct timespec *t) { return t->tv_nsec < 0 || t->tv_nsec >= NS || t->tv_sec < 0; }

/* now + t; for ever when there is none or it is past every day that is replayed. */
static int64_t deadline_after(const struct timespec *t) {
  return !t || t->tv_sec > 4000000000LL ? FOREVER : now_ns() + t->tv_sec * NS + t->tv_nsec;
}

static long sleep_until(int64_t deadline, struct timespec *left) {
  if (deadline <= now_ns()) return 0;
  me->may_restart = false;
  if (block(W_TIME, deadline) != -EINTR) return 0;
  int64_t ns = deadline - now_ns();
  if (left) *left = (struct timespec){ns / NS, ns % NS};
  return -EINTR;
}

static long sleep_clock(int clock, int flags, const struct timespec *t, struct timespec *left) {
  if (!t || bad(t)) return -EINVAL;
  if (!(flags & TIMER_ABSTIME)) return sleep_until(deadline_after(t), left);
  int64_t at = t->tv_sec > 4000000000LL ? FOREVER : t->tv_sec * NS + t->tv_nsec;
  bool utc = clock == CLOCK_REALTIME || clock == CLOCK_TAI;
  return sleep_until(utc && at != FOREVER ? at + now_ns() - page->utc_ns : at, NULL);
}

/* ---- waiting for descriptors ---- */

static long wait_fds(struct pollfd *fds, unsigned count, int64_t deadline, bool may_restart) {
  me->fds = fds;
  me->count = count;
  me->may_restart = may_restart;
  return block(W_POLL, deadline);
}

/* `masked`: signals during the wait, as ppoll and its like have them. */
static long with_mask(const uint64_t *mask, uint64_t *before) {
  return mask ? trap_sigmask(SIG_SETMASK, mask, before) : 0;
}

static long poll_until(struct pollfd *fds, unsigned long count, int64_t deadline) {
  for (;;) {
    long r = real_poll(fds, count, 0);
    if (r != 0) return r;
    if (deadline <= now_ns()) return 0;
    if (wait_fds(fds, (unsigned)count, deadline, false) == -EINTR) return -EINTR;
  }
}

static long poll_masked(struct pollfd *fds, unsigned long count, int64_t deadline, const uint64_t *mask) {
  uint64_t before;
  with_mask(mask, &before);
  if (deadline <= now_ns()) spin();
  long r = poll_until(fds, count, deadline);
  if (mask) trap_sigmask(SIG_SETMASK, &before, NULL);
  return r;
}

static long epoll_until(int fd, void *events, long most, int64_t deadline, const uint64_t *mask) {
  uint64_t before;
  long r;
  with_mask(mask, &before);
  if (deadline <= now_ns()) spin();
  for (;;) {
    struct pollfd p = {fd, POLLIN, 0};
    r = SYS(SYS_epoll_pwait, fd, events, most, 0, 0, 8);
    if (r != 0 || deadline <= now_ns()) break;
    if (wait_fds(&p, 1, deadline, false) == -EINTR) {
      r = -EINTR;
      break;
    }
  }
  if (mask) trap_sigmask(SIG_SETMASK, &before, NULL);
  return r;
}

static long select_until(int count, fd_set *in, fd_set *out, fd_set *special, int64_t deadline, const uint64_t *mask) {
  struct pollfd fds[FD_SETSIZE];
  unsigned n = 0;
  if (count > FD_SETSIZE) return -EINVAL;
  for (int fd = 0; fd < count; fd++) {
    short events = (short)((in && FD_ISSET(fd, in) ? POLLIN : 0) | (out && FD_ISSET(fd, out) ? POLLOUT : 0) |
                           (special && FD_ISSET(fd, special) ? POLLPRI : 0));
    if (events) fds[n++] = (struct pollfd){fd, events, 0};
  }
  long r = poll_masked(fds, n, deadline, mask);
  if (r < 0) return r;
  static const struct timespec none = {0, 0};
  struct timespec zero = none;
  return SYS(SYS_pselect6, count, in, out, special, &zero, 0);
}

/* ---- reading and writing ---- */

static bool nonblocking(int fd) { return SYS(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_NONBLOCK; }

/* A call that was made not to wait, again and again until it need not. */
static long until_done(const struct call *c, int fd, short events, int64_t timeout, bool may_wait) {
  int64_t deadline = timeout ? now_ns() + timeout : FOREVER;
  for (;;) {
    long r = run(c);
    if (r != -EAGAIN) return r;
    if (!may_wait || nonblocking(fd)) return spin(), r;
    if (deadline <= now_ns()) return -EAGAIN;
    struct pollfd p = {fd, events, 0};
    if (wait_fds(&p, 1, deadline, !timeout) == -EINTR) return -EINTR;
  }
}

static bool is_socket(enum what what) { return what == F_STREAM || what == F_LOCAL || what == F_DATAGRAM; }

uint64_t fill_random(void *to, uint64_t length) {
  unsigned char *octets = to;
  for (uint64_t at = 0; at < length; at += 8) {
    uint64_t word = random_next();
    memcpy(octets + at, &word, length - at < 8 ? length - at : 8);
  }
  return length;
}

static long read_pollable(struct call c, int fd, enum what what) {
  if (timerfd_is(fd)) {
    if (c.c < 8) return -EINVAL;
    for (;;) {
      uint64_t count = timerfd_count(fd);
      if (count) return memcpy((void *)c.b, &count, 8), 8;
      if (nonblocking(fd)) return -EAGAIN;
      struct pollfd p = {fd, POLLIN, 0};
      if (wait_fds(&p, 1, FOREVER, true) == -EINTR) return -EINTR;
    }
  }
  if (!nonblocking(fd)) {
    struct pollfd p = {fd, POLLIN, 0};
    while (real_poll(&p, 1, 0) == 0)
      if (wait_fds(&p, 1, FOREVER, true) == -EINTR) return -EINTR;
  }
  long r = run(&c);
  if (what == F_PIPE) did_receive(fd, r);
  return r;
}

static long call_read(struct call c) {
  int fd = (int)c.a;
  enum what what = what_is(fd);
  if (what == F_RANDOM && c.nr == SYS_read) return (long)fill_random((void *)c.b, (uint64_t)c.c);
  if (what == F_FILE) return run(&c);
  if (what == F_INNER || what == F_PIPE) return read_pollable(c, fd, what);
  if (!is_socket(what)) return run(&c);
  if (c.nr == SYS_read) {
    struct call s = {SYS_recvfrom, c.a, c.b, c.c, MSG_DONTWAIT, 0, 0};
    long r = until_done(&s, fd, POLLIN, *receive_timeout(fd), true);
    did_receive(fd, r);
    return r;
  }
  struct msghdr m = {.msg_iov = (struct iovec *)c.b, .msg_iovlen = (size_t)c.c};
  struct call s = {SYS_recvmsg, c.a, (long)&m, MSG_DONTWAIT, 0, 0, 0};
  long r = until_done(&s, fd, POLLIN, *receive_timeout(fd), true);
  did_receive(fd, r);
  return r;
}

static long call_receive(struct call c) {
  int fd = (int)c.a;
  what_is(fd);
  if (c.nr == SYS_recvfrom) {
    /* the flags are in the copy that runs */
    bool may_wait = !(c.d & MSG_DONTWAIT), all = c.d & MSG_WAITALL, peek = c.d & MSG_PEEK;
    c.d |= MSG_DONTWAIT;
    long done = 0, r;
    do {
      r = until_done(&c, fd, POLLIN, *receive_timeout(fd), may_wait);
      if (r <= 0) break;
      if (!peek) did_receive(fd, r);
      done += r;
      c.b += r;
      c.c -= r;
    } while (all && !peek && may_wait && c.c > 0);
    return done ? done : r;
  }
  long *flags = c.nr == SYS_recvmsg ? &c.c : &c.d;
  bool may_wait = !(*flags & MSG_DONTWAIT), peek = *flags & MSG_PEEK;
  *flags |= MSG_DONTWAIT;
  if (c.nr == SYS_recvmmsg) {
    c.e = 0;
    *flags &= ~(long)MSG_WAITFORONE;
  }
  long r = until_done(&c, fd, POLLIN, *receive_timeout(fd), may_wait);
  if (!peek) did_receive(fd, r);
  return r;
}

/* A pipe that has room for one octet has room for a page: so much never waits. */
static long write_pipe(struct call c, int fd) {
  if (nonblocking(fd) || c.nr != SYS_write) {
    long r = run(&c);
    did_send(fd, r, (unsigned long)(r > 0 ? r : 1));
    return r;
  }
  long done = 0;
  do {
    struct pollfd p = {fd, POLLOUT, 0};
    while (real_poll(&p, 1, 0) == 0)
      if (wait_fds(&p, 1, FOREVER, true) == -EINTR) return done ? done : -EINTR;
    long part = c.c - done > 4096 ? 4096 : c.c - done;
    long r = SYS(SYS_write, fd, c.b + done, part, 0, 0, 0);
    if (r < 0) return done ? done : r;
    did_send(fd, r, (unsigned long)r);
    done += r;
  } while (done < c.c);
  return done;
}

/* sendmsg until everything went, or as much as a descriptor that does not wait takes. */
static long send_all(int fd, struct msghdr *m, long flags) {
  struct iovec parts[1024];
  struct msghdr copy = *m;
  if (m->msg_iovlen > 1024) return -EMSGSIZE;
  memcpy(parts, m->msg_iov, m->msg_iovlen * sizeof *parts);
  copy.msg_iov = parts;
  bool may_wait = !(flags & MSG_DONTWAIT);
  size_t wanted = 0;
  for (size_t i = 0; i < copy.msg_iovlen; i++) wanted += parts[i].iov_len;
  struct call c = {SYS_sendmsg, fd, (long)&copy, flags | MSG_DONTWAIT, 0, 0, 0};
  size_t done = 0;
  enum what what = what_is(fd);
  for (;;) {
    long r = until_done(&c, fd, POLLOUT, *send_timeout(fd), may_wait);
    did_send(fd, r, wanted - done);
    if (r < 0) return done ? (long)done : r;
    done += (size_t)r;
    if (done >= wanted || what == F_DATAGRAM || !may_wait || nonblocking(fd)) return (long)done;
    copy.msg_controllen = 0;
    for (size_t left = (size_t)r; left;) {
      size_t step = left < copy.msg_iov->iov_len ? left : copy.msg_iov->iov_len;
      copy.msg_iov->iov_base = (char *)copy.msg_iov->iov_base + step;
      copy.msg_iov->iov_len -= step;
      left -= step;
      if (!copy.msg_iov->iov_len) copy.msg_iov++, copy.msg_iovlen--;
    }
  }
}

static long send_datagram(struct call c, int fd, const void *name, unsigned length) {
  long r = run(&c);
  if (r >= 0) did_datagram(fd, name, length);
  return r;
}

static long call_send(struct call c) {
  int fd = (int)c.a;
  enum what what = what_is(fd);
  struct iovec one = {(void *)c.b, (size_t)c.c};
  struct msghdr m = {.msg_iov = &one, .msg_iovlen = 1};
  if (what == F_DATAGRAM) {
    const struct msghdr *given = (const struct msghdr *)c.b;
    if (c.nr == SYS_sendto) return send_datagram(c, fd, (void *)c.e, (unsigned)c.f);
    if (c.nr == SYS_sendmsg) return send_datagram(c, fd, given->msg_name, given->msg_namelen);
    if (c.nr != SYS_sendmmsg) return send_datagram(c, fd, NULL, 0);
    long r = run(&c);
    const struct mmsghdr *all = (const struct mmsghdr *)c.b;
    for (long i = 0; i < r; i++) did_datagram(fd, all[i].msg_hdr.msg_name, all[i].msg_hdr.msg_namelen);
    return r;
  }
  if (what == F_PIPE) return write_pipe(c, fd);
  if (what != F_STREAM && what != F_LOCAL) return run(&c);
  switch (c.nr) {
    case SYS_write: return send_all(fd, &m, 0);
    case SYS_writev:
      m.msg_iov = (struct iovec *)c.b;
      m.msg_iovlen = (size_t)c.c;
      return send_all(fd, &m, 0);
    case SYS_sendto:
      m.msg_name = (void *)c.e;
      m.msg_namelen = (socklen_t)c.f;
      return send_all(fd, &m, c.d);
    case SYS_sendmsg: return send_all(fd, (struct msghdr *)c.b, c.c);
    default: {
      long r = run(&c);
      if (c.nr == SYS_sendmmsg) {
        const struct mmsghdr *all = (const struct mmsghdr *)c.b;
        for (long i = 0; i < r; i++) did_send(fd, (long)all[i].msg_len, all[i].msg_len);
      } else did_send(fd, r, (unsigned long)c.d);
      return r;
    }
  }
}

static long call_accept(struct call c) {
  int fd = (int)c.a;
  int64_t timeout = *receive_timeout(fd), deadline = timeout ? now_ns() + timeout : FOREVER;
  struct pollfd p = {fd, POLLIN, 0};
  if (!nonblocking(fd))
    while (real_poll(&p, 1, 0) == 0) {
      if (deadline <= now_ns()) return -EAGAIN;
      if (wait_fds(&p, 1, deadline, !timeout) == -EINTR) return -EINTR;
    }
  long r = run(&c);
  if (r >= 0) did_accept((int)r);
  return r;
}

static long call_connect(struct call c) {
  long r = run(&c);
  if (r == 0 || r == -EINPROGRESS) did_connect((int)c.a, (void *)c.b, (unsigned)c.c);
  return r;
}

static void note_timeout(struct call c) {
  if (c.b != SOL_SOCKET || (c.c != SO_RCVTIMEO && c.c != SO_SNDTIMEO) || c.e < (long)sizeof(struct timeval)) return;
  const struct timeval *t = (const struct timeval *)c.d;
  *(c.c == SO_RCVTIMEO ? receive_timeout((int)c.a) : send_timeout((int)c.a)) = t->tv_sec * NS + t->tv_usec * 1000;
}

/* ---- processes ---- */

/* Tries what does not wait after each grant. */
static long retry(struct call c, long again, bool may_restart) {
  for (;;) {
    long r = run(&c);
    if (r != again) return r;
    me->may_restart = may_restart;
    if (block(W_RETRY, FOREVER) == -EINTR) return -EINTR;
  }
}

static long call_wait_child(struct call c) {
  bool id = c.nr == SYS_waitid;
  long *options = id ? &c.d : &c.c;
  bool may_wait = !(*options & WNOHANG);
  *options |= WNOHANG;
  siginfo_t here, *info = id && c.c ? (siginfo_t *)c.c : &here;
  if (id) c.c = (long)info;
  for (;;) {
    info->si_pid = 0;
    long r = run(&c);
    if (r != 0 || !may_wait || (id && info->si_pid)) return r;
    me->may_restart = true;
    if (block(W_RETRY, FOREVER) == -EINTR) return -EINTR;
  }
}

static long call_clone(struct call c, unsigned long flags) {
  if (flags & CLONE_VM && !(flags & CLONE_VFORK)) {
    say(REFUSED, c.nr, "a thread that libc did not make");
    return -ENOSYS;
  }
  if (flags & CLONE_VM) {
    if (c.nr != SYS_clone || c.b) return say(REFUSED, c.nr, "a child that shares memory"), -ENOSYS;
    c.a &= ~(long)(CLONE_VM | CLONE_VFORK);
  }
  flush();
  long r = run(&c);
  if (r == 0) after_fork_in_child();
  else if (r > 0) say(FORK, r, NULL);
  return r;
}

static long call_exec(struct call c) {
  flush();
  char *const **environment = (char *const **)(c.nr == SYS_execve ? &c.c : &c.d);
  *environment = environment_with_ours(*environment);
  say(EXEC, 0, NULL);
  long r = run(&c);
  say(EXEC_FAILED, r, NULL);
  return r;
}

static long call_open(struct call c) {
  long r = run(&c);
  if (r < 0) return r;
  opened((int)r);
  return r;
}

static long call_fcntl(struct call c) {
  long r = run(&c);
  if (r >= 0 && (c.b == F_DUPFD || c.b == F_DUPFD_CLOEXEC)) duplicated((int)c.a, (int)r);
  return r;
}

static long call_dup(struct call c) {
  if (c.nr != SYS_dup && c.b == control) return -EBADF;
  if (c.nr != SYS_dup && c.a != c.b) closed((int)c.b);
  long r = run(&c);
  if (r >= 0) duplicated((int)c.a, (int)r);
  return r;
}

static long call_close_range(struct call c) {
  unsigned first = (unsigned)c.a, last = (unsigned)c.b, own = (unsigned)control;
  if (!(c.c & 4)) /* CLOSE_RANGE_CLOEXEC closes nothing now */
    for (unsigned fd = first; fd <= last && fd < 65536; fd++)
      if (fd != own) closed((int)fd);
  if (own < first || own > last) return run(&c);
  long r = own > first ? SYS(c.nr, first, own - 1, c.c, 0, 0, 0) : 0;
  return r < 0 || own == last ? r : SYS(c.nr, own + 1, last, c.c, 0, 0, 0);
}

static int64_t us_of(const struct timeval *t) { return t->tv_sec * NS + t->tv_usec * 1000; }

static long call_itimer(struct call c) {
  int64_t interval, left;
  const struct itimerval *new = (const struct itimerval *)c.b;
  struct itimerval *old = (struct itimerval *)(c.nr == SYS_setitimer ? c.c : c.b);
  if (c.a != ITIMER_REAL) return run(&c);
  if (c.nr == SYS_setitimer && new) left = alarm_set(us_of(&new->it_value), us_of(&new->it_interval), &interval);
  else left = alarm_left(&interval);
  if (old)
    *old = (struct itimerval){{interval / NS, interval % NS / 1000}, {left / NS, left % NS / 1000}};
  return 0;
}

static const struct timespec *of_timeval(const struct timeval *t, struct timespec *out) {
  if (!t) return NULL;
  *out = (struct timespec){t->tv_sec + t->tv_usec / 1000000, t->tv_usec % 1000000 * 1000};
  return out;
}

static int64_t after_ms(long ms) { return ms < 0 ? FOREVER : now_ns() + ms * 1000000; }

static long replayed(struct call c) {
  struct timespec t;
  switch (c.nr) {
    case SYS_clock_gettime: return clock_read((int)c.a, (struct timespec *)c.b);
    case SYS_gettimeofday: {
      struct timeval *v = (struct timeval *)c.a;
      clock_read(CLOCK_REALTIME, &t);
      if (v) *v = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
      return 0;
    }
#ifdef SYS_time
    case SYS_time:
      clock_read(CLOCK_REALTIME, &t);
      if (c.a) *(time_t *)c.a = t.tv_sec;
      return t.tv_sec;
    case SYS_alarm: {
      int64_t interval, left = alarm_set(c.a * NS, 0, &interval);
      return (left + NS - 1) / NS;
    }
    case SYS_pause: me->may_restart = false; return block(W_RETRY, FOREVER), -EINTR;
    case SYS_poll: return poll_masked((struct pollfd *)c.a, (unsigned long)c.b, after_ms((int)c.c), NULL);
    case SYS_select:
      return select_until((int)c.a, (fd_set *)c.b, (fd_set *)c.c, (fd_set *)c.d,
                          deadline_after(of_timeval((struct timeval *)c.e, &t)), NULL);
    case SYS_epoll_wait: return epoll_until((int)c.a, (void *)c.b, c.c, after_ms((int)c.d), NULL);
    case SYS_open: return call_open(c);
    case SYS_dup2: return call_dup(c);
    case SYS_fork: return call_clone((struct call){SYS_clone, SIGCHLD, 0, 0, 0, 0, 0}, SIGCHLD);
    case SYS_vfork: return call_clone((struct call){SYS_clone, SIGCHLD, 0, 0, 0, 0, 0}, SIGCHLD);
    case SYS_accept: return call_accept(c);
#endif
    case SYS_nanosleep: return sleep_clock(CLOCK_MONOTONIC, 0, (struct timespec *)c.a, (struct timespec *)c.b);
    case SYS_clock_nanosleep:
      if (!clock_is_virtual((int)c.a)) return run(&c);
      return sleep_clock((int)c.a, (int)c.b, (struct timespec *)c.c, (struct timespec *)c.d);
    case SYS_ppoll:
      return poll_masked((struct pollfd *)c.a, (unsigned long)c.b, deadline_after((struct timespec *)c.c), (uint64_t *)c.d);
    case SYS_pselect6: {
      const uint64_t *const *mask = (const uint64_t *const *)c.f;
      return select_until((int)c.a, (fd_set *)c.b, (fd_set *)c.c, (fd_set *)c.d,
                          deadline_after((struct timespec *)c.e), mask ? *mask : NULL);
    }
    case SYS_epoll_pwait: return epoll_until((int)c.a, (void *)c.b, c.c, after_ms((int)c.d), (uint64_t *)c.e);
    case SYS_epoll_pwait2:
      return epoll_until((int)c.a, (void *)c.b, c.c, deadline_after((struct timespec *)c.d), (uint64_t *)c.e);
    case SYS_futex: return futex((int *)c.a, (int)c.b, (int)c.c, c.d, (int *)c.e, (uint32_t)c.f);
    case SYS_read: case SYS_readv: return call_read(c);
    case SYS_recvfrom: case SYS_recvmsg: case SYS_recvmmsg: return call_receive(c);
    case SYS_write: case SYS_writev: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg: case SYS_sendfile:
      return call_send(c);
    case SYS_accept4: return call_accept(c);
    case SYS_connect: return call_connect(c);
    case SYS_setsockopt: note_timeout(c); return run(&c);
    case SYS_bind: { long r = run(&c); if (r == 0) did_bind((int)c.a); return r; }
    case SYS_listen: { long r = run(&c); if (r == 0) did_listen((int)c.a); return r; }
    case SYS_shutdown: { long r = run(&c); if (r == 0 && c.b != SHUT_RD) did_shutdown((int)c.a); return r; }
    case SYS_close: if (c.a == control) return -EBADF; closed((int)c.a); return run(&c);
    case SYS_close_range: return call_close_range(c);
    case SYS_dup: case SYS_dup3: return call_dup(c);
    case SYS_fcntl: return call_fcntl(c);
    case SYS_openat: return call_open(c);
    case SYS_socket: case SYS_eventfd2: case SYS_epoll_create1: { long r = run(&c); opened((int)r); return r; }
    case SYS_timerfd_create: {
      long r = run(&c);
      if (r >= 0 && clock_is_virtual((int)c.a)) opened((int)r), timerfd_made((int)r, (int)c.a);
      return r;
    }
    case SYS_timerfd_settime:
      if (!timerfd_is((int)c.a)) return run(&c);
      return timerfd_set((int)c.a, (int)c.b, (struct itimerspec *)c.c, (struct itimerspec *)c.d);
    case SYS_timerfd_gettime:
      return timerfd_is((int)c.a) ? timerfd_get((int)c.a, (struct itimerspec *)c.b) : run(&c);
    case SYS_getrandom: return (long)fill_random((void *)c.a, (uint64_t)c.b);
    case SYS_getitimer: case SYS_setitimer: return call_itimer(c);
    case SYS_sched_yield: if (threads_high > 1) block(W_YIELD, FOREVER); return 0;
    case SYS_wait4: case SYS_waitid: return call_wait_child(c);
    case SYS_flock: {
      struct call n = c;
      n.b |= 4; /* LOCK_NB */
      return c.b & 4 ? run(&c) : retry(n, -EAGAIN, true);
    }
    case SYS_rt_sigsuspend: {
      uint64_t before;
      trap_sigmask(SIG_SETMASK, (uint64_t *)c.a, &before);
      me->may_restart = false;
      while (block(W_RETRY, FOREVER) != -EINTR) {}
      trap_sigmask(SIG_SETMASK, &before, NULL);
      return -EINTR;
    }
    case SYS_rt_sigtimedwait: {
      int64_t deadline = deadline_after((struct timespec *)c.c);
      struct timespec zero = {0, 0};
      for (;;) {
        long r = SYS(c.nr, c.a, c.b, &zero, c.d, 0, 0);
        if (r != -EAGAIN || deadline <= now_ns()) return r;
        if (block(W_RETRY, deadline) == -EINTR) return -EINTR;
      }
    }
    case SYS_kill: case SYS_tgkill: case SYS_tkill: case SYS_rt_sigqueueinfo: {
      long r = run(&c);
      if (r == 0) token(KILL, NULL, NULL, (uint64_t)c.a);
      return r;
    }
    case SYS_clone: return call_clone(c, (unsigned long)c.a);
    case SYS_clone3: return call_clone(c, *(uint64_t *)c.a);
    case SYS_execve: case SYS_execveat: return call_exec(c);
    case SYS_exit:
      thread_end();
      return run(&c);
    case SYS_exit_group: flush(); return run(&c);
    case SYS_rt_sigaction: return trap_sigaction((int)c.a, (const void *)c.b, (void *)c.c, (size_t)c.d);
    case SYS_rt_sigprocmask: return trap_sigmask((int)c.a, (const uint64_t *)c.b, (uint64_t *)c.c);
    case SYS_prctl: return c.a == 59 ? -EINVAL : run(&c); /* PR_SET_SYSCALL_USER_DISPATCH */
    case 425: case 426: case 427: return -ENOSYS; /* io_uring: programs have another way */
    default: return run(&c);
  }
}

long dispatch(long nr, long a, long b, long c, long d, long e, long f) {
  struct call call = {nr, a, b, c, d, e, f};
  /* In a handler that runs during a wait, before the start, on a thread that is not libc's. */
  if (!me || me->depth) {
    if (nr == SYS_rt_sigprocmask && taking_part) return trap_sigmask((int)a, (uint64_t *)b, (uint64_t *)c);
    if (nr == SYS_close && a == control && taking_part) return -EBADF;
    return run(&call);
  }
  me->depth++;
  me->interrupted = false;
  slot->calls++;
  long r = replayed(call);
  if (me) me->depth--;
  return r;
}
