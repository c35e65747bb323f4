/* Position of the main thread's stack. glibc reads /proc/self/maps for it, line by line up to the
 * stack: some 2,000 instructions a mapping, and how many mappings there are is nobody's change
 * (another library, a longer path, Valgrind's own). Rust's runtime asks at its start, and so do
 * Python's, Java's and collectors of garbage. The same answer comes from the stack itself: what the
 * kernel left at its end says where that is. */
#include "part.h"
#include <elf.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

extern void *__libc_stack_end; /* of the loader, all versions of glibc */
static pthread_t first;        /* the main thread */
static bool detached;
static uintptr_t page_bytes, top; /* the end of the stack's mapping; 0 when it is not known */
static rlim_t limit;

static void reaches(const char *text) {
  uintptr_t end = (uintptr_t)text + (text ? strlen(text) + 1 : 0);
  if (end > top) top = end;
}

static bool limit_now(rlim_t *now) {
  struct rlimit of;
  if (SYS(SYS_prlimit64, 0, RLIMIT_STACK, 0, &of, 0, 0) != 0) return false;
  *now = of.rlim_cur;
  return true;
}

/* Texts end within the last page: the kernel's last one is the program's path. */
void stack_start(char **arguments, char **environment) {
  char **at = environment;
  while (*at) reaches(*at++);
  for (; *arguments; arguments++) reaches(*arguments);
  for (const Elf64_auxv_t *of = (const Elf64_auxv_t *)(at + 1); of->a_type != AT_NULL; of++) {
    if (of->a_type == AT_PAGESZ) page_bytes = of->a_un.a_val;
    if (of->a_type == AT_EXECFN || of->a_type == AT_PLATFORM) reaches((const char *)of->a_un.a_val);
  }
  first = pthread_self();
  if (!page_bytes || !limit_now(&limit)) top = 0;
  else top = (top + page_bytes - 1) & -page_bytes;
}

static int from_maps(pthread_t id, pthread_attr_t *attr) {
  static __typeof__(&pthread_getattr_np) real;
  if (!real) real = (__typeof__(&pthread_getattr_np))dlsym(RTLD_NEXT, "pthread_getattr_np");
  return real(id, attr);
}

/* The kernel keeps as much room below the stack as the limit was when the program started; with
 * another limit, or none, other mappings may be in the way, and the file has to tell. */
PUBLIC int pthread_getattr_np(pthread_t id, pthread_attr_t *attr) {
  rlim_t now;
  cpu_set_t processors;
  int policy;
  struct sched_param parameters;
  bool known = taking_part && top && pthread_equal(id, first) && limit < 1ull << 40;
  if (!known || !limit_now(&now) || now != limit) return from_maps(id, attr);
  uintptr_t end = ((uintptr_t)__libc_stack_end & -page_bytes) + page_bytes;
  if (end > top || limit <= top - end) return from_maps(id, attr);
  size_t size = (limit - (top - end)) & -page_bytes;
  if (pthread_getaffinity_np(id, sizeof processors, &processors) != 0 ||
      pthread_getschedparam(id, &policy, &parameters) != 0)
    return from_maps(id, attr);
  int r = pthread_attr_init(attr);
  if (r) return r;
  if ((r = pthread_attr_setstack(attr, (void *)(end - size), size)) == 0 &&
      (r = pthread_attr_setguardsize(attr, 0)) == 0 &&
      (r = pthread_attr_setdetachstate(attr, detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE)) == 0 &&
      (r = pthread_attr_setschedpolicy(attr, policy)) == 0 &&
      (r = pthread_attr_setschedparam(attr, &parameters)) == 0)
    r = pthread_attr_setaffinity_np(attr, sizeof processors, &processors);
  if (r) pthread_attr_destroy(attr);
  return r;
}

PUBLIC int pthread_detach(pthread_t id) {
  static __typeof__(&pthread_detach) real;
  if (!real) real = (__typeof__(&pthread_detach))dlsym(RTLD_NEXT, "pthread_detach");
  int r = real(id);
  if (r == 0 && pthread_equal(id, first)) detached = true;
  return r;
}
