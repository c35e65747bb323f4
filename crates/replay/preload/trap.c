/* Every system call of the process that is not ours arrives here as a signal (Syscall User
 * Dispatch of Linux, x86-64 from 5.11): what libc does within itself (condition variables, stdio,
 * joins) is seen as well. Neither a child nor another program inherits it; start.c turns it on
 * again. Where the kernel has none (or Valgrind stands between), only what libc.c interposes is
 * seen. */
#include "part.h"
#include <string.h>
#include <ucontext.h>

#define PR_DISPATCH 59
struct kernel_action {
  void *handler;
  unsigned long flags;
  void *restorer;
  uint64_t mask;
};
#define RESTART 0x10000000ul
#define NODEFER 0x40000000ul
#define RESTORER 0x04000000ul
#define SIGINFO 4ul
static const uint64_t sigsys_bit = 1ull << (SIGSYS - 1);
static unsigned char flags_of[65]; /* 1: a handler that restarts, 2: one that does not */
static struct kernel_action wanted[65]; /* what the program asked for */
static bool works;

/* Stands before every handler of the program: whether one ran during a wait must not depend on
 * whether the kernel ran it before or after the octets that ended the wait. */
static void on_signal(int sig, siginfo_t *info, void *context) {
  struct kernel_action action = wanted[sig];
  if (me) me->interrupted = true;
  if (action.flags & SA_RESETHAND) {
    wanted[sig].handler = (void *)SIG_DFL;
    flags_of[sig] = 0;
  }
  if (action.flags & SIGINFO) ((void (*)(int, siginfo_t *, void *))action.handler)(sig, info, context);
  else ((void (*)(int))action.handler)(sig);
}

bool is_handler(void *handler) { return handler != (void *)SIG_DFL && handler != (void *)SIG_IGN; }

void *signal_handler(void) { return (void *)on_signal; }

/* The program asked for it, from now on. */
void signal_wanted(int sig, void *handler, unsigned long flags) {
  wanted[sig] = (struct kernel_action){.handler = handler, .flags = flags};
  flags_of[sig] = !is_handler(handler) ? 0 : flags & RESTART ? 1 : 2;
}

/* The program's own handler and flags, where the kernel knows the one that stands before it. */
void *signal_asked(int sig, void *handler, unsigned long *flags) {
  if (handler != (void *)on_signal) return handler;
  *flags = wanted[sig].flags;
  return wanted[sig].handler;
}

bool handlers_all_restart(void) { return memchr(flags_of, 2, sizeof flags_of) == NULL; }
bool trap_works(void) { return works; }

#if defined(__x86_64__)
extern char chrono_raw_begin[] HIDDEN, chrono_raw_end[] HIDDEN, chrono_restore[] HIDDEN;
HIDDEN void chrono_return_at(long stack) __attribute__((noreturn));
static __thread volatile char selector __attribute__((tls_model("initial-exec")));
static __thread ucontext_t *frame __attribute__((tls_model("initial-exec")));

static void on_call(int sig, siginfo_t *info, void *context) {
  ucontext_t *u = context;
  greg_t *g = u->uc_mcontext.gregs;
  (void)sig;
  if (info->si_code != 2) return; /* SYS_USER_DISPATCH; any other is of a filter of the program's */
  if (info->si_syscall == SYS_rt_sigreturn) chrono_return_at(g[REG_RSP]);
  ucontext_t *outer = frame;
  frame = u;
  g[REG_RAX] = dispatch(info->si_syscall, g[REG_RDI], g[REG_RSI], g[REG_RDX], g[REG_R10], g[REG_R8], g[REG_R9]);
  frame = outer;
}

static void install(void) {
  struct kernel_action action = {(void *)on_call, SIGINFO | NODEFER | RESTORER, chrono_restore, 0};
  SYS(SYS_rt_sigaction, SIGSYS, &action, 0, 8, 0, 0);
}

/* Valgrind's own question, an instruction sequence that does nothing elsewhere. It runs the
 * program's system calls itself: trapping them would end Valgrind. */
static bool on_valgrind(void) {
  volatile unsigned long question[6] = {0x1001, 0, 0, 0, 0, 0};
  unsigned long answer = 0;
  __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\trolq $61, %%rdi; rolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                   : "+d"(answer)
                   : "a"(&question[0])
                   : "cc", "memory");
  return answer != 0;
}

void trap_on(void) {
  static bool installed;
  if (on_valgrind()) return;
  if (!installed) install();
  installed = true;
  SYS(SYS_rt_sigprocmask, SIG_UNBLOCK, &sigsys_bit, 0, 8, 0, 0);
  selector = 1;
  works = SYS(SYS_prctl, PR_DISPATCH, 1, chrono_raw_begin, chrono_raw_end - chrono_raw_begin, &selector, 0) == 0;
}

void trap_pause(bool pause) { selector = !pause; }

static void restores(struct kernel_action *action) {
  action->flags |= RESTORER;
  action->restorer = chrono_restore;
}

static void applied(uint64_t mask) {
  if (frame) memcpy(&frame->uc_sigmask, &mask, 8);
}
#else
void trap_on(void) {}
void trap_pause(bool pause) { (void)pause; }
static void restores(struct kernel_action *action) { (void)action; }
static void applied(uint64_t mask) { (void)mask; }
#endif

/* No handler may block SIGSYS, and the program may not handle it. */
long trap_sigaction(int sig, const void *act, void *old, size_t size) {
  if (sig == SIGSYS && works) {
    if (old) memset(old, 0, sizeof(struct kernel_action));
    return 0;
  }
  if (size != 8 || sig < 1 || sig > 64) return SYS(SYS_rt_sigaction, sig, act, old, size, 0, 0);
  struct kernel_action action, before;
  if (act) {
    memcpy(&action, act, sizeof action);
    action.mask &= ~sigsys_bit;
    if (works) restores(&action);
    if (is_handler(action.handler)) {
      action.handler = (void *)on_signal;
      action.flags |= SIGINFO;
    }
  }
  long r = SYS(SYS_rt_sigaction, sig, act ? &action : NULL, &before, size, 0, 0);
  if (r != 0) return r;
  before.handler = signal_asked(sig, before.handler, &before.flags);
  if (act) {
    const struct kernel_action *asked = act;
    signal_wanted(sig, asked->handler, asked->flags);
  }
  if (old) memcpy(old, &before, sizeof before);
  return r;
}

/* Now and, when a trapped call asked, also after its return. SIGSYS is never blocked. */
long trap_sigmask(int how, const uint64_t *set, uint64_t *old) {
  uint64_t wanted = set ? *set & ~sigsys_bit : 0, mask = 0;
  long r = SYS(SYS_rt_sigprocmask, how, set ? &wanted : NULL, old, 8, 0, 0);
  if (r == 0 && set && SYS(SYS_rt_sigprocmask, SIG_BLOCK, 0, &mask, 8, 0, 0) == 0) applied(mask);
  return r;
}
