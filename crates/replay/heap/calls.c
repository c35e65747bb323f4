// The functions that give memory and take it back, before those of the program's allocator.
#include "heap.h"
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

_Thread_local bool own;
_Thread_local bool within;

static struct {
  void *(*malloc)(size_t);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  void (*free)(void *);
  int (*posix_memalign)(void **, size_t, size_t);
  void *(*aligned_alloc)(size_t, size_t);
  void *(*memalign)(size_t, size_t);
  void *(*valloc)(size_t);
  void *(*pvalloc)(size_t);
} next;
static _Atomic int found; // 0: not yet, 1: being looked for, 2: found

/// What `dlsym` itself may ask for while it looks: never given back, never counted.
static char early[16384] __attribute__((aligned(16)));
static size_t early_used;

static void *from_early(size_t bytes) {
  size_t rounded = (bytes + 15) & ~(size_t)15;
  if (rounded < bytes || rounded > sizeof early - early_used) return NULL;
  void *block = early + early_used;
  early_used += rounded;
  return block;
}

static bool is_early(const void *block) {
  return (const char *)block >= early && (const char *)block < early + sizeof early;
}

/// False while they are being looked for: by this thread, since that happens before there are two.
static bool ready(void) {
  int state = atomic_load_explicit(&found, memory_order_acquire);
  if (__builtin_expect(state == 2, 1)) return true;
  if (state == 1) return false;
  atomic_store(&found, 1);
#define FIND(name) next.name = (__typeof__(next.name))dlsym(RTLD_NEXT, #name)
  FIND(malloc);
  FIND(calloc);
  FIND(realloc);
  FIND(free);
  FIND(posix_memalign);
  FIND(aligned_alloc);
  FIND(memalign);
  FIND(valloc);
  FIND(pvalloc);
  atomic_store_explicit(&found, 2, memory_order_release);
  return true;
}

void *real_malloc(void) {
  return ready() ? (void *)next.malloc : NULL;
}

static void more(_Atomic uint64_t *counter, uint64_t by) {
  atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static void held(void *block, size_t bytes) {
  struct page *now = atomic_load_explicit(&page, memory_order_acquire);
  if (!blocks_add(block, bytes)) {
    more(&now->lost, 1);
    return;
  }
  more(&now->held, 1);
  uint64_t all = atomic_fetch_add_explicit(&now->held_bytes, bytes, memory_order_relaxed) + bytes;
  uint64_t most = atomic_load_explicit(&now->held_bytes_max, memory_order_relaxed);
  while (most < all && !atomic_compare_exchange_weak(&now->held_bytes_max, &most, all)) {
  }
}

static void *given(void *block, size_t bytes) {
  within = false;
  if (block != NULL && !own) {
    struct page *now = atomic_load_explicit(&page, memory_order_acquire);
    more(&now->allocations, 1);
    more(&now->bytes, bytes);
    held(block, bytes);
  }
  return block;
}

/// Before it is taken back: afterwards another thread may already have been given it.
static bool taken(void *block, size_t *bytes) {
  struct page *now = atomic_load_explicit(&page, memory_order_acquire);
  if (!blocks_take(block, bytes)) {
    more(&now->foreign, 1);
    return false;
  }
  more(&now->frees, 1);
  atomic_fetch_sub_explicit(&now->held, 1, memory_order_relaxed);
  atomic_fetch_sub_explicit(&now->held_bytes, *bytes, memory_order_relaxed);
  return true;
}

static void *no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

SHOWN void *malloc(size_t bytes) {
  if (!ready()) return from_early(bytes);
  within = true;
  return given(next.malloc(bytes), bytes);
}

SHOWN void *calloc(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) return no_memory();
  if (!ready()) return from_early(all);
  within = true;
  return given(next.calloc(count, bytes), all);
}

SHOWN void free(void *block) {
  if (block == NULL || is_early(block) || !ready()) return;
  int kept = errno; // as glibc's own
  size_t bytes;
  if (!own) taken(block, &bytes);
  within = true;
  next.free(block);
  within = false;
  errno = kept;
}

SHOWN void *realloc(void *block, size_t bytes) {
  if (block == NULL) return malloc(bytes);
  if (!ready() || is_early(block)) {
    void *other = malloc(bytes);
    size_t room = (size_t)(early + sizeof early - (char *)block);
    if (other != NULL) memcpy(other, block, bytes < room ? bytes : room);
    return other;
  }
  size_t before;
  bool known = !own && taken(block, &before);
  within = true;
  void *other = next.realloc(block, bytes);
  if (other == NULL && bytes != 0 && known) {
    // Refused: the old block is still there.
    within = false;
    more(&atomic_load(&page)->frees, (uint64_t)-1);
    held(block, before);
    return NULL;
  }
  return given(other, bytes);
}

SHOWN int posix_memalign(void **place, size_t alignment, size_t bytes) {
  if (!ready()) return ENOMEM;
  within = true;
  int failed = next.posix_memalign(place, alignment, bytes);
  given(failed ? NULL : *place, bytes);
  return failed;
}

SHOWN void *aligned_alloc(size_t alignment, size_t bytes) {
  if (!ready()) return no_memory();
  within = true;
  return given(next.aligned_alloc(alignment, bytes), bytes);
}

SHOWN void *memalign(size_t alignment, size_t bytes) {
  if (!ready() || next.memalign == NULL) return no_memory();
  within = true;
  return given(next.memalign(alignment, bytes), bytes);
}

SHOWN void *valloc(size_t bytes) {
  if (!ready() || next.valloc == NULL) return no_memory();
  within = true;
  return given(next.valloc(bytes), bytes);
}

SHOWN void *pvalloc(size_t bytes) {
  if (!ready() || next.pvalloc == NULL) return no_memory();
  within = true;
  return given(next.pvalloc(bytes), bytes);
}
