/* Everything that a program can get wrong, with pointers that are good: a code each, no harm. */
#include "expect.h"

#include <arm4_chronoscope.h>
#include <limits.h>
#include <stdint.h>
#include <time.h>

int main(void) {
  arm_id_t zeros, ones, app_id, tran_id, other;
  arm_app_start_handle_t app = 77;
  arm_tran_start_handle_t tran = 77;
  arm_tran_block_handle_t block;
  arm_correlator_t corr;
  arm_correlator_length_t length = 5;
  arm_boolean_t flag;
  memset(&zeros, 0, sizeof zeros);
  memset(&ones, 0xff, sizeof ones);

  /* Nothing is registered yet. */
  EXPECT_CODE(CHRONOSCOPE_ARM_APP_ID, arm_register_transaction(&ones, "t", NULL, 0, NULL, &tran_id));
  EXPECT_CODE(CHRONOSCOPE_ARM_APP_ID, arm_start_application(NULL, NULL, NULL, 0, NULL, &app));
  EXPECT(app == 0);
  EXPECT_CODE(CHRONOSCOPE_ARM_APP_HANDLE,
              arm_start_transaction(12345, &tran_id, NULL, 0, NULL, &tran, &corr));
  EXPECT(tran == 0);
  EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_stop_transaction(tran, 0, 0, NULL));

  /* Names. */
  EXPECT_CODE(CHRONOSCOPE_ARM_APP_NAME, arm_register_application(NULL, NULL, 0, NULL, &app_id));
  EXPECT_CODE(CHRONOSCOPE_ARM_APP_NAME, arm_register_application("", NULL, 0, NULL, &app_id));
  EXPECT_CODE(CHRONOSCOPE_ARM_NULL, arm_register_application("A", NULL, 0, NULL, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_FLAGS, arm_register_application("A", NULL, 0x40, NULL, &app_id));
  EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_NAME,
              arm_register_transaction(&app_id, NULL, NULL, 0, NULL, &tran_id));
  char *endless = malloc(ARM_NAME_MAX_LENGTH); /* sanitizers see a byte too far */
  memset(endless, 'x', ARM_NAME_MAX_LENGTH);
  EXPECT_CODE(CHRONOSCOPE_ARM_TEXT,
              arm_register_transaction(&app_id, endless, NULL, 0, NULL, &tran_id));
  free(endless);

  /* Ids that are asked for. */
  EXPECT_CODE(CHRONOSCOPE_ARM_INPUT_ID,
              arm_register_transaction(&app_id, "z", &zeros, 0, NULL, &tran_id));
  arm_id_t wish = {{{9, 9, 9}}};
  EXPECT_CODE(0, arm_register_transaction(&app_id, "wished", &wish, 0, NULL, &tran_id));
  EXPECT(memcmp(&wish, &tran_id, sizeof wish) == 0);
  EXPECT_CODE(CHRONOSCOPE_ARM_INPUT_ID,
              arm_register_transaction(&app_id, "other", &wish, 0, NULL, &other));
  EXPECT(memcmp(&wish, &other, sizeof wish) != 0);

  /* Metrics. */
  EXPECT_CODE(CHRONOSCOPE_ARM_METRIC_FORMAT,
              arm_register_metric(&app_id, "m", 9, 0, NULL, NULL, 0, NULL, &other));
  EXPECT_CODE(CHRONOSCOPE_ARM_METRIC_USAGE,
              arm_register_metric(&app_id, "m", 1, 3, NULL, NULL, 0, NULL, &other));
  EXPECT_CODE(CHRONOSCOPE_ARM_METRIC_NAME,
              arm_register_metric(&app_id, NULL, 1, 0, NULL, NULL, 0, NULL, &other));
  EXPECT_CODE(0, arm_register_metric(&app_id, "m", 1, 0, NULL, NULL, 0, NULL, &other));
  arm_metric_binding_t wrong_slot = {6, {{{0}}}};
  wrong_slot.id = other;
  arm_subbuffer_metric_bindings_t bindings = {{ARM_SUBBUFFER_METRIC_BINDINGS}, 1, &wrong_slot};
  arm_subbuffer_t *list[] = {ARM_SB(bindings)};
  arm_buffer4_t buffer = {1, list};
  EXPECT_CODE(CHRONOSCOPE_ARM_SUBBUFFER,
              arm_register_transaction(&app_id, "bound", NULL, 0, &buffer, &other));

  EXPECT_CODE(0, arm_start_application(&app_id, NULL, NULL, 0, NULL, &app));
  EXPECT_CODE(CHRONOSCOPE_ARM_HANDLE_OUT, arm_start_application(&app_id, NULL, NULL, 0, NULL, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_HANDLE_OUT,
              arm_start_transaction(app, &tran_id, NULL, 0, NULL, NULL, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_ID,
              arm_start_transaction(app, &ones, NULL, 0, NULL, &tran, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_ID,
              arm_start_transaction(app, &app_id, NULL, 0, NULL, &tran, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_ID,
              arm_start_transaction(app, NULL, NULL, 0, NULL, &tran, NULL));

  /* Lists that cannot be; the transaction is started all the same. */
  const arm_int32_t counts[] = {-1, INT_MIN, INT_MAX, 257};
  for (int i = 0; i < 4; i++) {
    arm_buffer4_t absurd = {counts[i], list};
    EXPECT_CODE(CHRONOSCOPE_ARM_SUBBUFFER,
                arm_start_transaction(app, &tran_id, NULL, 0, &absurd, &tran, NULL));
    EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL));
    arm_subbuffer_metric_values_t values = {{ARM_SUBBUFFER_METRIC_VALUES}, counts[i], NULL};
    arm_subbuffer_tran_context_t context = {{ARM_SUBBUFFER_TRAN_CONTEXT}, counts[i], NULL, NULL};
    arm_subbuffer_t *inner[] = {ARM_SB(values), ARM_SB(context)};
    arm_buffer4_t absurd_inside = {2, inner};
    EXPECT_CODE(CHRONOSCOPE_ARM_SUBBUFFER,
                arm_start_transaction(app, &tran_id, NULL, 0, &absurd_inside, &tran, NULL));
    EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL));
  }
  arm_subbuffer_t unknown = {4711};
  arm_subbuffer_t *strange[] = {&unknown, NULL};
  arm_buffer4_t misplaced = {2, strange};
  EXPECT_CODE(CHRONOSCOPE_ARM_SUBBUFFER,
              arm_start_transaction(app, &tran_id, NULL, 0, &misplaced, &tran, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_SUBBUFFER, arm_stop_transaction(tran, 0, 0, &misplaced));
  arm_buffer4_t null_array = {3, NULL};
  EXPECT_CODE(CHRONOSCOPE_ARM_SUBBUFFER,
              arm_start_transaction(app, &tran_id, NULL, 0, &null_array, &tran, NULL));

  /* Handles. */
  EXPECT_CODE(CHRONOSCOPE_ARM_BLOCK_HANDLE, arm_unblock_transaction(tran, 4711, 0, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_HANDLE_OUT, arm_block_transaction(tran, 0, NULL, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_STATUS, arm_stop_transaction(tran, 4711, 0, NULL));
  const arm_int64_t made_up[] = {0, -1, 2, 65536, INT64_MIN, INT64_MAX, tran + 65536, tran};
  for (int i = 0; i < 8; i++) {
    EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_stop_transaction(made_up[i], 0, 0, NULL));
    EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_update_transaction(made_up[i], 0, NULL));
    EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_discard_transaction(made_up[i], 0, NULL));
    EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_block_transaction(made_up[i], 0, NULL, &block));
    EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_unblock_transaction(made_up[i], 5, 0, NULL));
    EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_bind_thread(made_up[i], 0, NULL));
    EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_unbind_thread(made_up[i], 0, NULL));
    EXPECT_CODE(CHRONOSCOPE_ARM_APP_HANDLE, arm_stop_application(made_up[i], 0, NULL));
  }

  /* Correlators. */
  memset(&corr, 0, sizeof corr);
  EXPECT_CODE(CHRONOSCOPE_ARM_CORRELATOR, arm_get_correlator_length(&corr, &length));
  EXPECT(length == 0);
  memset(&corr, 0xff, sizeof corr);
  EXPECT_CODE(CHRONOSCOPE_ARM_CORRELATOR, arm_get_correlator_flags(&corr, 1, &flag));
  EXPECT_CODE(CHRONOSCOPE_ARM_CORRELATOR,
              arm_start_transaction(app, &tran_id, &corr, 0, NULL, &tran, &corr));
  EXPECT_CODE(0, arm_get_correlator_length(&corr, &length));
  EXPECT(length >= 48);
  EXPECT_CODE(CHRONOSCOPE_ARM_FLAG_NUMBER, arm_get_correlator_flags(&corr, 5, &flag));
  EXPECT_CODE(CHRONOSCOPE_ARM_FLAG_NUMBER, arm_get_correlator_flags(&corr, INT_MIN, &flag));
  EXPECT_CODE(CHRONOSCOPE_ARM_NULL, arm_get_correlator_flags(NULL, 1, &flag));
  EXPECT_CODE(CHRONOSCOPE_ARM_NULL, arm_get_correlator_length(NULL, &length));
  EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL));
  corr.opaque[5] = 29; /* more ancestors than there is room for */
  EXPECT_CODE(CHRONOSCOPE_ARM_CORRELATOR,
              arm_start_transaction(app, &tran_id, &corr, 0, NULL, &tran, NULL));
  EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_CORRELATOR_OUT,
              arm_generate_correlator(app, &tran_id, NULL, 0, NULL, NULL));

  /* Times. */
  arm_stop_time_t now_ms = (arm_stop_time_t)time(NULL) * 1000;
  struct {
    arm_response_time_t response_ns;
    arm_stop_time_t stop_ms;
  } never[] = {{-5, ARM_USE_CURRENT_TIME},
               {INT64_MAX, ARM_USE_CURRENT_TIME}, /* began before 1970 */
               {INT64_MIN, INT64_MIN},
               {1000001, 1},
               {5, INT64_MAX},
               {5, -2},
               {5, now_ms + 660 * 1000}};
  for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
    EXPECT_CODE(CHRONOSCOPE_ARM_TIME,
                arm_report_transaction(app, &tran_id, 0, never[i].response_ns, never[i].stop_ms,
                                       NULL, NULL, 0, NULL));
  }
  EXPECT_CODE(0, arm_report_transaction(app, &tran_id, 0, 1000000, 1, NULL, NULL, 0, NULL));
  EXPECT_CODE(0, arm_report_transaction(app, &tran_id, 0, 0, now_ms + 540 * 1000, NULL, NULL, 0,
                                        NULL));

  /* The rest. */
  EXPECT_CODE(CHRONOSCOPE_ARM_NULL, arm_get_arrival_time(NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_NULL, arm_get_error_message(ARM_CHARSET_UTF8, 0, NULL));
  arm_message_buffer_t message;
  memset(message, 'x', sizeof message);
  EXPECT_CODE(CHRONOSCOPE_ARM_CODE, arm_get_error_message(ARM_CHARSET_UTF16BE, -4711, message));
  EXPECT(message[0] == 0 && message[1] == 0);
  EXPECT_CODE(CHRONOSCOPE_ARM_CODE, arm_get_error_message(ARM_CHARSET_UTF8, INT_MAX, message));
  EXPECT(message[0] == 0);
  EXPECT_CODE(CHRONOSCOPE_ARM_CHARSET,
              arm_get_error_message(99, CHRONOSCOPE_ARM_TIME, message));
  EXPECT(strlen(message) > 10); /* in ASCII */
  EXPECT_CODE(CHRONOSCOPE_ARM_NULL, arm_is_charset_supported(ARM_CHARSET_UTF8, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_TRACEPARENT,
              chronoscope_correlator_from_traceparent("00-nonsense", &corr));
  EXPECT_CODE(CHRONOSCOPE_ARM_CONTROL, chronoscope_control(&tran_id, 7, ARM_TRUE));
  EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_ID, chronoscope_control(&ones, 0, ARM_TRUE));

  /* After the application has gone. */
  EXPECT_CODE(0, arm_start_transaction(app, &tran_id, NULL, 0, NULL, &tran, NULL));
  EXPECT_CODE(0, arm_destroy_application(&app_id, 0, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_APP_HANDLE,
              arm_start_transaction(app, &tran_id, NULL, 0, NULL, &block, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_APP_HANDLE, arm_stop_application(app, 0, NULL));
  EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL)); /* was open: is recorded */
  return failures != 0;
}
