// The sizes of all blocks that are held: tables with open addressing, in memory that does not come
// from the heap that is measured. Asked-for sizes are kept and not the allocator's, which depend on
// what was there before.
#include "heap.h"
#include <sched.h>
#include <sys/mman.h>

#define TABLES 64
#define FIRST 256 // entries of a table at first

struct entry {
  uintptr_t block; // 0: free
  size_t bytes;
};

static struct table {
  _Atomic bool locked;
  struct entry *entries;
  size_t room, count; // room: a power of two
} tables[TABLES];

static uint64_t mixed(uintptr_t block) {
  uint64_t value = (uint64_t)block >> 4;
  value *= 0x9e3779b97f4a7c15u;
  return value ^ value >> 29;
}

static void lock(struct table *table) {
  for (unsigned spins = 0; atomic_exchange_explicit(&table->locked, true, memory_order_acquire);)
    if (++spins % 64 == 0) sched_yield();
}

static void unlock(struct table *table) {
  atomic_store_explicit(&table->locked, false, memory_order_release);
}

static size_t slot_of(const struct table *table, uintptr_t block) {
  size_t slot = (mixed(block) >> 6) & (table->room - 1);
  while (table->entries[slot].block != 0 && table->entries[slot].block != block)
    slot = (slot + 1) & (table->room - 1);
  return slot;
}

/// Room for one more; at most half of it is used.
static bool grow(struct table *table) {
  if (table->room != 0 && table->count * 2 < table->room) return true;
  struct table wider = {.room = table->room ? table->room * 2 : FIRST, .count = table->count};
  void *memory = mmap(NULL, wider.room * sizeof(struct entry), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  wider.entries = memory;
  for (size_t i = 0; i < table->room; i++)
    if (table->entries[i].block != 0)
      wider.entries[slot_of(&wider, table->entries[i].block)] = table->entries[i];
  if (table->room != 0) munmap(table->entries, table->room * sizeof(struct entry));
  table->entries = wider.entries;
  table->room = wider.room;
  return true;
}

bool blocks_add(void *block, size_t bytes) {
  uintptr_t key = (uintptr_t)block;
  struct table *table = &tables[mixed(key) % TABLES];
  lock(table);
  bool room = grow(table);
  if (room) {
    size_t slot = slot_of(table, key);
    // The same block twice: somebody freed it behind our back. What is there now counts.
    if (table->entries[slot].block == 0) table->count++;
    table->entries[slot] = (struct entry){key, bytes};
  }
  unlock(table);
  return room;
}

/// Closes the gap, so that what was put behind it for want of a place is still found.
static void close_gap(struct table *table, size_t gap) {
  size_t mask = table->room - 1;
  for (size_t next = (gap + 1) & mask; table->entries[next].block != 0; next = (next + 1) & mask) {
    size_t home = (mixed(table->entries[next].block) >> 6) & mask;
    if (((next - home) & mask) >= ((next - gap) & mask)) {
      table->entries[gap] = table->entries[next];
      gap = next;
    }
  }
  table->entries[gap] = (struct entry){0, 0};
}

bool blocks_take(void *block, size_t *bytes) {
  uintptr_t key = (uintptr_t)block;
  struct table *table = &tables[mixed(key) % TABLES];
  lock(table);
  bool found = false;
  if (table->room != 0) {
    size_t slot = slot_of(table, key);
    found = table->entries[slot].block != 0;
    if (found) {
      *bytes = table->entries[slot].bytes;
      table->count--;
      close_gap(table, slot);
    }
  }
  unlock(table);
  return found;
}

void blocks_lock(void) {
  for (size_t i = 0; i < TABLES; i++) lock(&tables[i]);
}

void blocks_unlock(void) {
  for (size_t i = 0; i < TABLES; i++) unlock(&tables[i]);
}
