/* The beginning: of the process, and of a child. */
#include "part.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

char chrono_folder[108];
static struct page nobodys_page;
static struct slot nobodys_slot;
struct page *page = &nobodys_page;
struct slot *slot = &nobodys_slot;
bool taking_part;
static char preload_variable[4096], time_variable[128];

void give_up(const char *why) {
  static const char before[] = "chronoscope_time: ", after[] = "; this process ends\n";
  SYS(SYS_write, 2, before, sizeof before - 1, 0, 0, 0);
  SYS(SYS_write, 2, why, strlen(why), 0, 0, 0);
  SYS(SYS_write, 2, after, sizeof after - 1, 0, 0, 0);
  for (;;) SYS(SYS_exit_group, 124, 0, 0, 0, 0, 0);
}

static void map_page(void) {
  char path[128];
  size_t length = strlen(chrono_folder);
  memcpy(path, chrono_folder, length);
  memcpy(path + length, "/page", 6);
  long fd = SYS(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0, 0, 0);
  long at = fd < 0 ? -1 : SYS(SYS_mmap, 0, 4096 + 64 * 1024, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at < 0) give_up("no page in the folder CHRONOSCOPE_TIME names");
  SYS(SYS_close, fd, 0, 0, 0, 0, 0);
  page = (struct page *)at;
  if (memcmp(page->magic, "CHRONTIM", 8) || page->version != 1 || page->slots != 1024)
    give_up("the page is of another version of the protocol");
}

static const char *variable(char **environment, const char *name) {
  size_t length = strlen(name);
  for (; environment && *environment; environment++)
    if (!strncmp(*environment, name, length) && (*environment)[length] == '=') return *environment + length + 1;
  return NULL;
}

/* The loader runs this first of all (-z initfirst), before libc has its environment. */
__attribute__((constructor)) static void start(int count, char **arguments, char **environment) {
  const char *folder = variable(environment, "CHRONOSCOPE_TIME"), *preload = variable(environment, "LD_PRELOAD");
  (void)count;
  if (!folder || taking_part) return;
  if (strlen(folder) >= 96) give_up("CHRONOSCOPE_TIME is too long a path");
  strcpy(chrono_folder, folder);
  strcat(strcpy(time_variable, "CHRONOSCOPE_TIME="), folder);
  if (preload && strlen(preload) < 4000) strcat(strcpy(preload_variable, "LD_PRELOAD="), preload);
  map_page();
  stack_start(arguments, environment);
  me = thread_new();
  me->state = T_RUNNING;
  me->depth = 1;
  me->tid = (pid_t)SYS(SYS_gettid, 0, 0, 0, 0, 0, 0);
  hello();
  trap_on();
  me->depth = 0;
}

__attribute__((destructor)) static void end(void) { flush(); }

/* The child takes part as a process of its own, before it does anything. */
void after_fork_in_child(void) {
  int old = control;
  taking_part = false;
  control = -1;
  SYS(SYS_close, old, 0, 0, 0, 0, 0);
  threads_only_me();
  timers_forget_alarm();
  hello();
  trap_on();
}

static bool has(char *const *environment, const char *name, size_t length) {
  for (; *environment; environment++)
    if (!strncmp(*environment, name, length)) return true;
  return false;
}

/* A program that is started with a clean environment takes part all the same. */
char **environment_with_ours(char *const *environment) {
  static char *longer[8192];
  size_t count = 0;
  if (!taking_part || !environment) return (char **)environment;
  bool preload = has(environment, "LD_PRELOAD=", 11), time = has(environment, "CHRONOSCOPE_TIME=", 17);
  while (environment[count]) count++;
  if ((preload && time) || count > 8189) return (char **)environment;
  memcpy(longer, environment, count * sizeof *longer);
  if (!preload) longer[count++] = preload_variable;
  if (!time) longer[count++] = time_variable;
  longer[count] = NULL;
  return longer;
}
