/* spin clock: waits for the time to pass without waiting. spin deaf: never waits at all. */
#include <string.h>
#include <time.h>

int main(int count, char **arguments) {
  struct timespec t;
  time_t until = time(NULL) + 1;
  volatile int on = count > 1 && !strcmp(arguments[1], "deaf");
  do clock_gettime(CLOCK_REALTIME, &t);
  while (!on && t.tv_sec < until);
  while (on) {}
  return 0;
}
