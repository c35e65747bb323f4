/* peer HEX: one transaction under the correlator in hexadecimal digits; prints its own. */
#include <arm4.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
  arm_correlator_t parent, own;
  const char *digits = count > 1 ? arguments[1] : "";
  size_t length = strlen(digits) / 2;
  for (size_t i = 0; i < length && i < sizeof parent; i++) {
    unsigned octet;
    if (sscanf(digits + 2 * i, "%2x", &octet) != 1) return 2;
    parent.opaque[i] = (arm_uint8_t)octet;
  }
  arm_id_t app, tran;
  arm_app_start_handle_t running;
  arm_tran_start_handle_t open;
  int wrong = arm_register_application("C", ARM_ID_NONE, 0, ARM_BUF4_NONE, &app) != 0 ||
      arm_register_transaction(&app, "c peer", ARM_ID_NONE, 0, ARM_BUF4_NONE, &tran) != 0 ||
      arm_start_application(&app, NULL, NULL, 0, ARM_BUF4_NONE, &running) != 0 ||
      arm_start_transaction(running, &tran, &parent, 0, ARM_BUF4_NONE, &open, &own) != 0 ||
      arm_stop_transaction(open, ARM_STATUS_GOOD, 0, ARM_BUF4_NONE) != 0;
  int said = own.opaque[0] << 8 | own.opaque[1];
  for (int i = 0; i < said; i++) printf("%02x", own.opaque[i]);
  puts("");
  return wrong;
}
