/* Kinds of descriptors, and the traffic over them. */
#include "part.h"
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <linux/sockios.h>

#define FILES_MAX 65536
#define STREAMS_MAX 8192
struct file {
  uint8_t what;
  bool bound;             /* datagrams: the coordinator knows where it takes them */
  uint16_t stream;        /* F_STREAM */
  int64_t receive, send;  /* SO_RCVTIMEO, SO_SNDTIMEO in ns, 0 for none */
};
struct stream {
  unsigned references;
  int fd;
  struct end local, peer;
  uint64_t sent, received; /* since the last packet */
  int64_t owed;            /* octets that were said to come and were not read yet */
};
static struct file files[FILES_MAX];
static struct stream streams[STREAMS_MAX]; /* the first is no stream */
static unsigned streams_high = 1;
bool choked;

static bool is_local(enum what what) { return what == F_LOCAL || what == F_PIPE; }

static struct file *file_of(int fd) { return fd >= 0 && fd < FILES_MAX ? &files[fd] : NULL; }

static bool end_of(const struct sockaddr_storage *from, struct end *end) {
  memset(end, 0, sizeof *end);
  if (from->ss_family == AF_INET) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)from;
    end->port = in->sin_port;
    if (in->sin_addr.s_addr) {
      end->address[10] = end->address[11] = 255;
      memcpy(end->address + 12, &in->sin_addr, 4);
    }
    return true;
  }
  if (from->ss_family != AF_INET6) return false;
  const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
  end->port = in6->sin6_port;
  memcpy(end->address, &in6->sin6_addr, 16);
  return true;
}

static bool name_of(int fd, bool peer, struct end *end) {
  struct sockaddr_storage at;
  socklen_t length = sizeof at;
  memset(&at, 0, sizeof at);
  long r = SYS(peer ? SYS_getpeername : SYS_getsockname, fd, &at, &length, 0, 0, 0);
  return r == 0 && end_of(&at, end);
}

static int option(int fd, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  return SYS(SYS_getsockopt, fd, level, name, &value, &length, 0) < 0 ? -1 : value;
}

static struct stream *stream_of(int fd) {
  struct file *f = file_of(fd);
  return f && f->what == F_STREAM ? &streams[f->stream] : NULL;
}

/* A connected stream gets a place; Nagle's wait for acknowledgements is real time: not here. */
static void stream_new(int fd) {
  struct file *f = file_of(fd);
  struct end local, peer;
  if (!f || !name_of(fd, false, &local) || !name_of(fd, true, &peer)) return;
  unsigned at = 1;
  while (at < streams_high && streams[at].references) at++;
  if (at == STREAMS_MAX) return say(REFUSED, SYS_connect, "more than 8191 streams at a time");
  if (at == streams_high) streams_high++;
  streams[at] = (struct stream){.references = 1, .fd = fd, .local = local, .peer = peer};
  f->what = F_STREAM;
  f->stream = (uint16_t)at;
  int one = 1;
  SYS(SYS_setsockopt, fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one, 0);
}

static enum what classify_socket(int fd) {
  int domain = option(fd, SOL_SOCKET, SO_DOMAIN), type = option(fd, SOL_SOCKET, SO_TYPE);
  if (domain != AF_INET && domain != AF_INET6) return F_LOCAL;
  if (type == SOCK_DGRAM) return F_DATAGRAM;
  if (type != SOCK_STREAM) return F_LOCAL;
  if (option(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1) return F_LISTEN;
  stream_new(fd);
  struct stream *s = stream_of(fd);
  if (!s) return F_UNKNOWN;      /* not connected yet: ask again */
  token(ACCEPTED, &s->local, &s->peer, 0); /* came by inheritance */
  return F_STREAM;
}

enum what what_is(int fd) {
  struct file *f = file_of(fd);
  if (!f) return F_UNKNOWN;
  if (f->what != F_UNKNOWN) return f->what;
  struct stat s;
  if (SYS(SYS_fstat, fd, &s, 0, 0, 0, 0) < 0) return F_UNKNOWN;
  if (S_ISSOCK(s.st_mode)) {
    enum what what = classify_socket(fd);
    if (what != F_STREAM) f->what = (uint8_t)what;
    return what;
  }
  bool terminal = S_ISCHR(s.st_mode) && (s.st_rdev >> 8 == 136 || s.st_rdev >> 8 == 4 || s.st_rdev >> 8 == 5);
  bool random = S_ISCHR(s.st_mode) && s.st_rdev >> 8 == 1 && ((s.st_rdev & 255) == 8 || (s.st_rdev & 255) == 9);
  if (random) f->what = F_RANDOM;
  else if (S_ISFIFO(s.st_mode) || terminal) f->what = F_PIPE;
  else if (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode) || S_ISBLK(s.st_mode) || S_ISCHR(s.st_mode)) f->what = F_FILE;
  else f->what = F_INNER;
  return f->what;
}

void opened(int fd) {
  struct file *f = file_of(fd);
  if (f) *f = (struct file){0};
}

static void stream_tokens(struct stream *s) {
  if (s->sent) token(SENT, &s->local, &s->peer, s->sent);
  if (s->received) token(RECEIVED, &s->peer, &s->local, s->received);
  s->sent = s->received = 0;
}

void closed(int fd) {
  struct file *f = file_of(fd);
  if (!f) return;
  struct stream *s = stream_of(fd);
  if (s && --s->references == 0) {
    stream_tokens(s);
    token(CLOSED, &s->local, &s->peer, 0);
  } else if (s && s->fd == fd) {
    unsigned at = f->stream;
    for (int other = 0; other < FILES_MAX; other++)
      if (other != fd && files[other].what == F_STREAM && files[other].stream == at) s->fd = other;
  }
  if (is_local(f->what)) local_touched();
  timerfd_gone(fd);
  *f = (struct file){0};
}

void duplicated(int from, int to) {
  struct file *a = file_of(from), *b = file_of(to);
  if (!a || !b || from == to) return;
  *b = *a;
  if (b->what == F_STREAM) streams[b->stream].references++;
}

void did_send(int fd, long result, unsigned long wanted) {
  enum what what = what_is(fd);
  if (what == F_STREAM || is_local(what)) choked = result == -EAGAIN || (result >= 0 && (unsigned long)result < wanted);
  if (result <= 0) return;
  struct stream *s = stream_of(fd);
  if (s) s->sent += (uint64_t)result;
  else if (is_local(what)) local_touched();
}

void did_datagram(int fd, const void *name, unsigned length) {
  struct end from, to;
  struct sockaddr_storage at;
  memset(&at, 0, sizeof at);
  if (name && length) {
    memcpy(&at, name, length < sizeof at ? length : sizeof at);
    if (!end_of(&at, &to)) return;
  } else if (!name_of(fd, true, &to)) return;
  if (!name_of(fd, false, &from)) return;
  struct file *f = file_of(fd);
  if (f && !f->bound) token(BOUND, &from, NULL, 0);
  if (f) f->bound = true;
  token(DATAGRAM, &from, &to, 1);
}

void did_receive(int fd, long result) {
  if (result <= 0) return;
  enum what what = what_is(fd);
  struct stream *s = stream_of(fd);
  if (s) {
    s->received += (uint64_t)result;
    s->owed -= result;
  } else if (is_local(what)) local_touched();
}

/* Done, or under way: on one host it is done in a moment, which is waited for. */
void did_connect(int fd, const void *name, unsigned length) {
  int domain = option(fd, SOL_SOCKET, SO_DOMAIN), type = option(fd, SOL_SOCKET, SO_TYPE);
  if (domain != AF_INET && domain != AF_INET6) return local_touched();
  if (type != SOCK_STREAM) {
    struct end local;
    struct file *f = file_of(fd);
    if (f && name_of(fd, false, &local)) {
      token(BOUND, &local, NULL, 0);
      f->bound = true;
    }
    return;
  }
  struct pollfd p = {fd, POLLOUT, 0};
  real_poll(&p, 1, 2000);
  opened(fd);
  stream_new(fd);
  struct stream *s = stream_of(fd);
  if (s) {
    token(CONNECT, &s->local, &s->peer, 0);
    return;
  }
  struct sockaddr_storage at;
  struct end to, none = {0};
  memset(&at, 0, sizeof at);
  memcpy(&at, name, length < sizeof at ? length : sizeof at);
  if (p.revents == 0 && end_of(&at, &to)) token(CONNECT, &none, &to, 0); /* a stranger far away */
}

void did_accept(int fd) {
  opened(fd);
  what_is(fd); /* says that it was accepted */
  if (what_is(fd) == F_LOCAL) local_touched();
}

void did_listen(int fd) {
  struct end local;
  struct file *f = file_of(fd);
  if (!f || !name_of(fd, false, &local)) return;
  f->what = F_LISTEN;
  token(LISTEN, &local, NULL, 0);
}

void did_bind(int fd) {
  struct end local;
  if (what_is(fd) != F_DATAGRAM || !name_of(fd, false, &local)) return;
  token(BOUND, &local, NULL, 0);
  files[fd].bound = true;
}

/* The end of writing: count 1 means that reading continues. */
void did_shutdown(int fd) {
  struct stream *s = stream_of(fd);
  if (s) {
    stream_tokens(s);
    token(CLOSED, &s->local, &s->peer, 1);
  } else if (what_is(fd) == F_LOCAL) local_touched();
}

void streams_tokens(void) {
  for (unsigned i = 1; i < streams_high; i++) stream_tokens(&streams[i]);
}

int64_t *receive_timeout(int fd) {
  static int64_t none;
  return file_of(fd) ? &files[fd].receive : (none = 0, &none);
}

int64_t *send_timeout(int fd) {
  static int64_t none;
  return file_of(fd) ? &files[fd].send : (none = 0, &none);
}

static int queued(int fd) {
  int octets = 0;
  return SYS(SYS_ioctl, fd, SIOCINQ, &octets, 0, 0, 0) < 0 ? 0 : octets;
}

/* Octets are in the receiver's queue when a send on this host returns, but for a busy moment.
 * Waits until `octets` are there, or nothing more came for 50 ms (a full window), at most 2 s. */
static void wait_octets(struct stream *s, int64_t octets) {
  static const struct timespec moment = {0, 50000};
  int last = queued(s->fd);
  for (int i = 0, still = 0; last < octets && i < 40000 && still < 1000; i++) {
    SYS(SYS_nanosleep, &moment, 0, 0, 0, 0, 0);
    int n = queued(s->fd);
    still = n == last ? still + 1 : 0;
    last = n;
  }
}

static bool wait_poll(int fd, short events, int ms) {
  struct pollfd p = {fd, events, 0};
  return real_poll(&p, 1, ms) > 0;
}

static void wait_port(enum what what, const struct end *at) {
  for (int fd = 0; fd < FILES_MAX; fd++) {
    struct end local;
    if (files[fd].what != what || !name_of(fd, false, &local) || local.port != at->port) continue;
    wait_poll(fd, POLLIN, 20);
    return;
  }
}

/* What the coordinator says was sent is there before anybody looks. */
void arrived(const struct token *tokens, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const struct token *t = &tokens[i];
    if (t->event == CONNECT) wait_port(F_LISTEN, &t->to);
    if (t->event == DATAGRAM) wait_port(F_DATAGRAM, &t->to);
    if (t->event != SENT && t->event != CLOSED) continue;
    for (unsigned k = 1; k < streams_high; k++) {
      struct stream *s = &streams[k];
      if (!s->references || memcmp(&s->local, &t->to, sizeof s->local) || memcmp(&s->peer, &t->from, sizeof s->peer))
        continue;
      s->owed = (int64_t)t->count;
      wait_octets(s, (int64_t)t->count);
      if (t->event == CLOSED) wait_poll(s->fd, POLLRDHUP, 1000);
    }
  }
}

/* A sender whose octets found no room sends the rest by itself once something was read. */
bool late_octets(void) {
  for (unsigned i = 1; i < streams_high; i++) {
    struct stream *s = &streams[i];
    if (!s->references || s->owed <= 0 || queued(s->fd) > 0) continue;
    if (wait_poll(s->fd, POLLIN, 200) && queued(s->fd) > 0) return true;
    s->owed = 0;
  }
  return false;
}
