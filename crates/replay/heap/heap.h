// What a program asks of its heap, counted inside the program: see src/heap, which reads the
// pages that this library leaves.
#pragma once
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define SHOWN __attribute__((visibility("default")))

/// One program image's counts: a file that is mapped, so that they survive however it ends.
/// Octet for octet what heap/page.rs reads; fields are only added at the end, and `magic` changes when
/// the meaning of one does.
struct page {
  char magic[8];                        // "CHRHEAP1"
  uint32_t pid, parent;
  uint64_t start_ns;                    // CLOCK_MONOTONIC
  uint32_t forked;                      // 1: made by fork, 0: by exec
  uint32_t ended;                       // 1: by exit or _exit; 0: killed, or another image came
  _Atomic uint64_t allocations, bytes;  // given, and what was asked for
  _Atomic uint64_t frees;               // of what was given
  _Atomic uint64_t foreign;             // frees of what was not given here
  _Atomic uint64_t lost;                // no room to remember them: not in `held`
  _Atomic uint64_t held, held_bytes;    // given and not freed, now
  _Atomic uint64_t held_bytes_max;      // at most at once
  uint64_t inherited_bytes;             // held when it was forked
  uint64_t has_glibc;                   // 1: what follows was filled in, at exit
  uint64_t arena, mapped, used, unused; // struct mallinfo2: arena, hblkhd, uordblks, fordblks
  char program[256];                    // the path of the executable, ends with 0
};

// blocks.c: where is how much.
/// Remembers a block; false when there is no memory for that.
HIDDEN bool blocks_add(void *block, size_t bytes);
/// Forgets a block; false when it was never remembered.
HIDDEN bool blocks_take(void *block, size_t *bytes);
/// Around fork: nobody is in the middle of a change.
HIDDEN void blocks_lock(void);
HIDDEN void blocks_unlock(void);

// page.c
/// Where counts go: a page of the folder, or one of the process's own before that is open.
HIDDEN extern struct page *_Atomic page;

// calls.c
/// Calls of this thread are the library's own, and not counted.
HIDDEN extern _Thread_local bool own __attribute__((tls_model("initial-exec")));
/// This thread is within the allocator: a signal that came now must not ask it anything.
HIDDEN extern _Thread_local bool within __attribute__((tls_model("initial-exec")));
/// The `malloc` that stands behind this library.
HIDDEN void *real_malloc(void);
