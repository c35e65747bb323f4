/* Runs `clickhouse local` out of the library beside this program; see tools/clickhouse. */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* chDB's answer, as its header chdb.h lays it out. */
struct result {
  char *text;
  size_t length;
  void *buffer;
  double elapsed_s;
  uint64_t rows, bytes;
  char *error;
};

int main(int argc, char **argv) {
  char self[PATH_MAX], path[PATH_MAX + 16];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return perror("/proc/self/exe"), 1;
  self[length] = 0;
  snprintf(path, sizeof path, "%s/libchdb.so", dirname(self));
  void *library = dlopen(path, RTLD_NOW);
  void *symbol = library ? dlsym(library, "query_stable_v2") : NULL;
  if (!symbol) return fprintf(stderr, "%s\n", dlerror()), 1;
  struct result *(*run)(int, char **) = (struct result * (*)(int, char **)) symbol;
  struct result *answer = run(argc, argv);
  if (answer && answer->error) return fprintf(stderr, "%s\n", answer->error), 1;
  return 0;
}
