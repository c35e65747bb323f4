/* A program written for ARM 4.0 in C89: the binding's names only, nothing of Chronoscope. */
#include <arm4.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int ok, const char *what) {
  if (!ok) {
    printf("FAILED: %s\n", what);
    failures++;
  }
}

int main(void) {
  arm_id_t app_id, tran_id, child_id;
  arm_app_start_handle_t app_handle;
  arm_tran_start_handle_t tran_handle, child_handle;
  arm_correlator_t root_corr, child_corr;
  arm_correlator_length_t length = 0;
  arm_boolean_t flag = ARM_TRUE;

  arm_register_application("MRTS", ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE, &app_id);
  arm_register_transaction(&app_id, "decodePlots", ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE,
                           &tran_id);
  arm_register_transaction(&app_id, "Correlate", ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE,
                           &child_id);
  expect(arm_start_application(&app_id, ARM_STRING_NONE, ARM_STRING_NONE, ARM_FLAG_NONE,
                               ARM_BUF4_NONE, &app_handle) == 0, "start application");
  expect(arm_start_transaction(app_handle, &tran_id, ARM_CORR_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE,
                               &tran_handle, &root_corr) == 0, "start root");
  expect(arm_start_transaction(app_handle, &child_id, &root_corr, ARM_FLAG_TRACE_REQUEST,
                               ARM_BUF4_NONE, &child_handle, &child_corr) == 0, "start child");
  expect(arm_get_correlator_length(&child_corr, &length) == 0, "length");
  expect(length >= ARM_CORR_MIN_LENGTH && length <= ARM_CORR_MAX_LENGTH, "length in its bounds");
  expect(length == (child_corr.opaque[0] << 8 | child_corr.opaque[1]), "length's octets");
  expect(arm_get_correlator_flags(&child_corr, ARM_CORR_FLAGNUM_APP_TRACE, &flag) == 0, "flag");
  expect(flag == ARM_TRUE, "trace was requested");
  arm_get_correlator_flags(&root_corr, ARM_CORR_FLAGNUM_APP_TRACE, &flag);
  expect(flag == ARM_FALSE, "trace was not requested");
  expect(arm_stop_transaction(child_handle, ARM_STATUS_FAILED, ARM_FLAG_NONE, ARM_BUF4_NONE) == 0,
         "stop child");
  expect(arm_stop_transaction(tran_handle, ARM_STATUS_GOOD, ARM_FLAG_NONE, ARM_BUF4_NONE) == 0,
         "stop root");
  expect(arm_stop_application(app_handle, ARM_FLAG_NONE, ARM_BUF4_NONE) == 0, "stop application");
  expect(arm_destroy_application(&app_id, ARM_FLAG_NONE, ARM_BUF4_NONE) == 0, "destroy");
  return failures != 0;
}
