// Counts the words of a text that it composes, and says the most frequent ones: a program that costs
// something else in each of its versions (-DVERSION=1 to 6), for the view of runs to show.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 12000, KINDS = 600, SLOTS = 1024 };

struct entry {
  char word[16];
  unsigned count;
};
static struct entry table[SLOTS];

// The n-th word of the text; low numbers are frequent, as in any language.
static void compose(unsigned n, char word[16]) {
  unsigned random = n * 2654435761u >> 8;
  unsigned kind = random % KINDS * (random / KINDS % KINDS) / KINDS;
  snprintf(word, 16, "word%u", kind);
}

// A profile names functions that are not a part of others.
#define APART __attribute__((noinline))

static APART unsigned hash(const char *word) {
#if VERSION < 3
  unsigned sum = 0; // fewer slots are used than there are
  while (*word) sum = sum * 13 + (unsigned char)*word++;
#else
  unsigned sum = 2166136261u;
  while (*word) sum = (sum ^ (unsigned char)*word++) * 16777619u;
#endif
  return sum % SLOTS;
}

static APART struct entry *find(const char *word) {
  unsigned slot = hash(word);
  while (table[slot].count && strcmp(table[slot].word, word)) slot = (slot + 1) % SLOTS;
  return &table[slot];
}

#if VERSION > 1
static int more_frequent(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  return (x->count < y->count) - (x->count > y->count);
}

static APART void order(void) {
#if VERSION == 2 || VERSION == 3
  for (int i = 1; i < SLOTS; i++) // insertion sort
    for (int j = i; j > 0 && more_frequent(&table[j - 1], &table[j]) > 0; j--) {
      struct entry swapped = table[j];
      table[j] = table[j - 1];
      table[j - 1] = swapped;
    }
#else
  qsort(table, SLOTS, sizeof table[0], more_frequent);
#endif
}
#endif

#if VERSION > 4
static APART int plausible(const char *word) {
  for (; *word; word++)
    if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789", *word)) return 0;
  return 1;
}
#endif

int main(void) {
  char word[16];
  for (unsigned n = 0; n < WORDS; n++) {
    compose(n, word);
#if VERSION > 4
    if (!plausible(word)) continue;
#endif
    struct entry *entry = find(word);
    if (!entry->count++) strcpy(entry->word, word);
  }
#if VERSION > 1
  order();
#endif
  for (int i = 0; i < 5; i++) printf("%s %u\n", table[i].word, table[i].count);
  return 0;
}
