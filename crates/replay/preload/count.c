/* Under Callgrind: instructions are counted from now on. */
#include "part.h"

/* Callgrind's client request "start instrumentation": its number is the tool's letters and the
 * place among its requests (valgrind's manual, "Client requests"). Valgrind knows a request by
 * rotations that come to nothing; to a processor they are nothing. */
void start_counting(void) {
#if defined(__x86_64__)
  const unsigned long letters = 'C' << 24 | 'T' << 16, start_instrumentation = 4;
  volatile unsigned long request[6] = {letters + start_instrumentation, 0, 0, 0, 0, 0};
  unsigned long answer = 0;
  __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                   "xchgq %%rbx, %%rbx"
                   : "+d"(answer)
                   : "a"(request)
                   : "cc", "memory");
#endif
}
