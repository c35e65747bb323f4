// The file that counts are in, and what is written into it when a program begins, forks and ends.
#include "heap.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// Counts before the file is open, and where it cannot be.
static struct page nowhere;
struct page *_Atomic page = &nowhere;

static char folder[3000]; // of CHRONOSCOPE_HEAP; empty: counts go nowhere
static char path[3100];   // of this image's page

// mallinfo2 came with glibc 2.33.
extern struct mallinfo2 mallinfo2(void) __attribute__((weak));

/// Opens a page of its own, named by pid and how many images that process has had.
static struct page *open_page(void) {
  if (folder[0] == 0) return NULL;
  int file = -1;
  for (int image = 0; file < 0 && image < 10000; image++) {
    snprintf(path, sizeof path, "%s/%d.%d.page", folder, (int)getpid(), image);
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno != EEXIST) return NULL;
  }
  if (file < 0) return NULL;
  void *memory = MAP_FAILED;
  if (ftruncate(file, sizeof(struct page)) == 0)
    memory = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

static void describe(struct page *opened, bool forked) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  opened->pid = (uint32_t)getpid();
  opened->parent = (uint32_t)getppid();
  opened->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  opened->forked = forked;
  ssize_t length = readlink("/proc/self/exe", opened->program, sizeof opened->program - 1);
  opened->program[length < 0 ? 0 : length] = 0;
  memcpy(opened->magic, "CHRHEAP1", 8); // last: now it is one
}

static void move_to(struct page *opened, const struct page *before, bool forked) {
  // One thread only, in a constructor or after fork: nobody counts meanwhile.
  if (!forked) {
    opened->allocations = before->allocations;
    opened->bytes = before->bytes;
    opened->frees = before->frees;
    opened->foreign = before->foreign;
    opened->lost = before->lost;
  }
  opened->held = before->held;
  opened->held_bytes = before->held_bytes;
  opened->held_bytes_max = forked ? before->held_bytes : before->held_bytes_max;
  opened->inherited_bytes = forked ? before->held_bytes : 0;
  atomic_store_explicit(&page, opened, memory_order_release);
}

static void before_fork(void) {
  blocks_lock();
}

static void after_fork_here(void) {
  blocks_unlock();
}

static void after_fork_there(void) {
  blocks_unlock();
  int kept = errno;
  struct page *before = atomic_load(&page);
  struct page *opened = open_page();
  if (opened != NULL) {
    describe(opened, true);
    move_to(opened, before, true);
    if (before != &nowhere) munmap(before, sizeof *before); // the parent's
  } else if (before != &nowhere) {
    // Without a page of its own it must not count into its parent's.
    nowhere.held = before->held;
    nowhere.held_bytes = before->held_bytes;
    atomic_store(&page, &nowhere);
  }
  errno = kept;
}

/// What glibc's allocator says of itself, if it is the one that gives the memory.
static void ask_glibc(struct page *now) {
  Dl_info asked, giving;
  void *malloc_there = real_malloc();
  if (mallinfo2 == NULL || !dladdr((void *)mallinfo2, &asked) ||
      malloc_there == NULL || !dladdr(malloc_there, &giving) || asked.dli_fbase != giving.dli_fbase)
    return;
  struct mallinfo2 said = mallinfo2();
  now->arena = said.arena;
  now->mapped = said.hblkhd;
  now->used = said.uordblks;
  now->unused = said.fordblks;
  now->has_glibc = 1;
  size_t length = strlen(path);
  memcpy(path + length, ".xml", 5);
  FILE *file = fopen(path, "wx");
  path[length] = 0;
  if (file != NULL) {
    malloc_info(0, file);
    fclose(file);
  }
}

static void finish(void) {
  struct page *now = atomic_load(&page);
  // A child of vfork lives in its parent's memory until exec.
  if (now == &nowhere || now->ended || now->pid != (uint32_t)getpid()) return;
  now->ended = 1;
  if (within) return; // a signal ended it in the midst of the allocator
  int kept = errno;
  own = true;
  ask_glibc(now);
  own = false;
  errno = kept;
}

__attribute__((constructor)) static void begin(void) {
  const char *given = getenv("CHRONOSCOPE_HEAP");
  if (given == NULL || strlen(given) >= sizeof folder) return;
  int kept = errno;
  strcpy(folder, given);
  own = true;
  struct page *opened = open_page();
  if (opened != NULL) {
    describe(opened, false);
    move_to(opened, &nowhere, false);
    pthread_atfork(before_fork, after_fork_here, after_fork_there);
  }
  own = false;
  errno = kept;
}

__attribute__((destructor)) static void end(void) {
  finish();
}

SHOWN _Noreturn void _exit(int status) {
  finish();
  for (;;) syscall(SYS_exit_group, status); // what libc's does
}

SHOWN _Noreturn void _Exit(int status) {
  _exit(status);
}
