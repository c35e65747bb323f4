/* Takes a block of 1,000 octets every minute, ten of them; gives half of them back. */
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  static void *volatile blocks[10];
  for (int i = 0; i < 10; i++) {
    blocks[i] = malloc(1000);
    sleep(60);
  }
  for (int i = 0; i < 10; i += 2) free(blocks[i]);
  sleep(86400);
}
