/* Packets to and from the coordinator. */
#include "part.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <fcntl.h>
#include <sys/resource.h>

#define TOKENS_MAX 1024
struct head {
  uint8_t version, kind;
  uint16_t count;
  uint32_t flags;
  int64_t a, b;
} __attribute__((packed));
struct packet {
  struct head head;
  struct token tokens[TOKENS_MAX];
} __attribute__((packed));

int control = -1;
uint64_t grants;
static struct packet out = {.head = {.version = 1}};
static struct packet in;
static uint64_t seed;
static bool local;

/* splitmix64: the next number of this process's own row. */
uint64_t random_next(void) {
  uint64_t z = (seed += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

static void send_octets(const void *octets, size_t length) {
  for (;;) {
    long r = SYS(SYS_sendto, control, octets, length, MSG_NOSIGNAL, 0, 0);
    if (r == (long)length) return;
    if (r != -EINTR) give_up("the coordinator is gone");
  }
}

/* A packet without tokens; from a signal handler too, as each is one datagram. */
void say(enum kind kind, int64_t a, const char *text) {
  if (!taking_part) return;
  struct {
    struct head head;
    char text[256];
  } __attribute__((packed)) p = {.head = {.version = 1, .kind = (uint8_t)kind, .a = a}};
  size_t length = text ? strlen(text) : 0;
  if (length > sizeof p.text) length = sizeof p.text;
  if (length) memcpy(p.text, text, length);
  if (kind == HELLO) p.head.b = SYS(SYS_getppid, 0, 0, 0, 0, 0, 0);
  send_octets(&p, sizeof p.head + length);
}

static void send_out(enum kind kind) {
  out.head.kind = (uint8_t)kind;
  send_octets(&out, sizeof out.head + out.head.count * sizeof(struct token));
  out.head.count = 0;
}

void token(enum event event, const struct end *from, const struct end *to, uint64_t count) {
  if (!taking_part) return;
  if (out.head.count == TOKENS_MAX) send_out(TOKENS);
  struct token *t = &out.tokens[out.head.count++];
  memset(t, 0, sizeof *t);
  t->event = (uint8_t)event;
  if (from) t->from = *from;
  if (to) t->to = *to;
  t->count = count;
}

void local_touched(void) { local = true; }

static void collect(void) {
  streams_tokens();
  if (local) token(LOCAL, NULL, NULL, 0);
  local = false;
}

/* Before an exit or another program: what this one did is not lost. */
void flush(void) {
  if (!taking_part) return;
  collect();
  if (out.head.count) send_out(TOKENS);
}

/* A packet of the coordinator. Poll is never restarted by the kernel: a handler is seen. */
static unsigned receive(void) {
  for (;;) {
    struct pollfd p = {control, POLLIN, 0};
    long r = real_poll(&p, 1, -1);
    if (r == -EINTR && me && me->interrupted) say(SIGNALLED, 0, NULL);
    if (r < 1) continue;
    r = SYS(SYS_recvfrom, control, &in, sizeof in, MSG_DONTWAIT, 0, 0);
    if (r == -EINTR || r == -EAGAIN) continue;
    if (r < (long)sizeof in.head) give_up("the coordinator is gone");
    if (in.head.version != 1) give_up("the coordinator speaks another version of the protocol");
    if (r != (long)(sizeof in.head + in.head.count * sizeof(struct token))) give_up("a packet's length is wrong");
    return in.head.kind;
  }
}

static void wait_for_go(void) {
  while (receive() != GO)
    if (in.head.kind == WELCOME) {
      slot = (struct slot *)((char *)page + 4096) + (in.head.a >= 0 && in.head.a < page->slots ? in.head.a : 0);
      seed = (uint64_t)in.head.b;
    }
  grants++;
  if (in.head.flags & 1) start_counting();
  arrived(in.tokens, in.head.count);
  if (in.head.a > 0 && me) { /* strangers: look at everything for a while of real time */
    struct pollfd fds[256];
    unsigned count = 0;
    for (unsigned i = 0; i < threads_high; i++)
      for (unsigned k = 0; threads[i].state == T_WAITING && threads[i].wait == W_POLL && k < threads[i].count && count < 256; k++)
        fds[count++] = threads[i].fds[k];
    real_poll(fds, count, in.head.a / 1000000);
  }
}

void quiescent(int64_t until, uint32_t waits) {
  collect();
  out.head.a = until;
  out.head.flags = waits;
  send_out(QUIESCENT);
  wait_for_go();
}

static void program_name(char *name, size_t size) {
  long fd = SYS(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0, 0, 0);
  long n = fd < 0 ? 0 : SYS(SYS_read, fd, name, size - 1, 0, 0, 0);
  if (fd >= 0) SYS(SYS_close, fd, 0, 0, 0, 0, 0);
  if (n < 0) n = 0;
  name[n] = 0;
  for (long i = 0; i + 1 < n; i++)
    if (!name[i]) name[i] = ' ';
}

/* Connects, sends the hello and waits for its first turn. */
void hello(void) {
  extern char chrono_folder[];
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  char name[256];
  size_t length = strlen(chrono_folder);
  if (length + 8 > sizeof at.sun_path) give_up("CHRONOSCOPE_TIME is too long a path");
  memcpy(at.sun_path, chrono_folder, length);
  memcpy(at.sun_path + length, "/socket", 8);
  long fd = SYS(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0, 0, 0);
  if (fd < 0 || SYS(SYS_connect, fd, &at, sizeof at, 0, 0, 0) < 0) give_up("no coordinator at CHRONOSCOPE_TIME");
  /* Out of the way of programs that close the low numbers or count on them. */
  struct rlimit limit = {0, 0};
  SYS(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &limit, 0, 0);
  long high = limit.rlim_cur > 65000 ? 65000 : (long)limit.rlim_cur - 8;
  long moved = high > 16 ? SYS(SYS_fcntl, fd, F_DUPFD_CLOEXEC, high, 0, 0, 0) : -1;
  if (moved >= 0) SYS(SYS_close, fd, 0, 0, 0, 0, 0);
  control = (int)(moved >= 0 ? moved : fd);
  out.head.count = 0;
  local = false;
  taking_part = true;
  program_name(name, sizeof name);
  say(HELLO, SYS(SYS_getpid, 0, 0, 0, 0, 0, 0), name);
  wait_for_go();
}
