/* Asks where the main thread's stack is: the C library itself, and whoever stands before it. With
 * "keep" as its argument there are many more mappings than with "drop", after the same calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*ask)(pthread_t, pthread_attr_t *);
static pthread_t main_thread;
static ask librarys;

struct answer {
  void *low;
  size_t size, guard;
  int detach, policy;
  struct sched_param parameters;
  cpu_set_t processors;
};

static struct answer answer_of(ask how, pthread_t id) {
  struct answer a;
  pthread_attr_t attr;
  memset(&a, 0, sizeof a);
  if (how(id, &attr) != 0) return a;
  pthread_attr_getstack(&attr, &a.low, &a.size);
  pthread_attr_getguardsize(&attr, &a.guard);
  pthread_attr_getdetachstate(&attr, &a.detach);
  pthread_attr_getschedpolicy(&attr, &a.policy);
  pthread_attr_getschedparam(&attr, &a.parameters);
  pthread_attr_getaffinity_np(&attr, sizeof a.processors, &a.processors);
  pthread_attr_destroy(&attr);
  return a;
}

static void compare(const char *where, pthread_t id) {
  struct answer ours = answer_of(pthread_getattr_np, id), theirs = answer_of(librarys, id);
  if (ours.size && memcmp(&ours, &theirs, sizeof ours) == 0) printf("%s: same\n", where);
  else printf("%s: %p %zu %zu, not %p %zu %zu\n", where, ours.low, ours.size, ours.guard, theirs.low, theirs.size, theirs.guard);
  fflush(stdout);
}

static void *thread(void *unused) {
  compare("main from a thread", main_thread);
  compare("thread", pthread_self());
  return unused;
}

int main(int count, char **arguments) {
  pthread_t other;
  main_thread = pthread_self();
  if (count > 1) {
    char *pages[200], *unused = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(unused, 4096);
    for (int i = 0; i < 200; i++) /* neighbours of another protection stay mappings of their own */
      pages[i] = mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long keep = -(arguments[1][0] == 'k');
    for (int i = 0; i < 200; i++)
      munmap((char *)(((long)unused & keep) | ((long)pages[i] & ~keep)), 4096);
    size_t size = 0;
    for (int i = 0; i < 10; i++) size += answer_of(pthread_getattr_np, main_thread).size;
    return size == 0;
  }
  librarys = (ask)dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_getattr_np");
  compare("main", main_thread);
  pthread_create(&other, NULL, thread, NULL);
  pthread_join(other, NULL);
  if (fork() == 0) {
    compare("main of a child", pthread_self());
    _exit(0);
  }
  wait(NULL);
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur /= 2;
  setrlimit(RLIMIT_STACK, &limit);
  compare("main with another limit", main_thread);
  pthread_detach(main_thread);
  limit.rlim_cur *= 2;
  setrlimit(RLIMIT_STACK, &limit);
  compare("main detached", main_thread);
  return 0;
}
