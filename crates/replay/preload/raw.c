/* System calls from a place that the trap exempts. */
#include "part.h"

#if defined(__x86_64__)
/* Calls between chrono_raw_begin and chrono_raw_end are not trapped. The return from our handler
 * must be in there too, and so must the return from everybody else's (trap.c puts it there). */
__asm__(
    ".text\n.globl chrono_raw_begin\n.hidden chrono_raw_begin\nchrono_raw_begin:\n"
    ".globl chrono_sys\n.hidden chrono_sys\n.type chrono_sys,@function\nchrono_sys:\n"
    "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n"
    "  mov %r8, %r10\n  mov %r9, %r8\n  mov 8(%rsp), %r9\n  syscall\n  ret\n"
    ".globl chrono_restore\n.hidden chrono_restore\nchrono_restore:\n"
    "  mov $15, %eax\n  syscall\n  ud2\n"
    ".globl chrono_return_at\n.hidden chrono_return_at\nchrono_return_at:\n"
    "  mov %rdi, %rsp\n  mov $15, %eax\n  syscall\n  ud2\n"
    ".globl chrono_raw_end\n.hidden chrono_raw_end\nchrono_raw_end:\n");
#elif defined(__aarch64__)
long chrono_sys(long nr, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = nr;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "no system calls for this processor"
#endif
