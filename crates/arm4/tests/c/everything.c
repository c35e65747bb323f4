/* Every function and every sub-buffer of ARM 4.0 and 4.1, used as meant. */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"

#include <arm4_chronoscope.h>
#include <time.h>

#define BUFFER(name, ...)                                        \
  arm_subbuffer_t *name##_array[] = {__VA_ARGS__};               \
  arm_buffer4_t name = {sizeof(name##_array) / sizeof(name##_array[0]), name##_array}

static void nap(long ms) {
  struct timespec time = {0, ms * 1000000};
  nanosleep(&time, NULL);
}

static arm_id_t app_id, plain_id, full_id;
static arm_app_start_handle_t app;

static void registration(void) {
  arm_subbuffer_charset_t charset = {{ARM_SUBBUFFER_CHARSET}, ARM_CHARSET_UTF8, 0};
  arm_property_t properties[] = {{"site", "Karlsruhe"}, {NULL, "nobody"}};
  const char *names[] = {"config", NULL, "mode"};
  arm_subbuffer_app_identity_t identity = {{ARM_SUBBUFFER_APP_IDENTITY}, 2, properties, 3, names};
  BUFFER(of_app, ARM_SB(charset), NULL, ARM_SB(identity));
  EXPECT_CODE(0, arm_register_application("MRTS", NULL, 0, &of_app, &app_id));

  arm_id_t same;
  EXPECT_CODE(0, arm_register_application("MRTS", NULL, 0, &of_app, &same));
  EXPECT(memcmp(&same, &app_id, sizeof same) == 0);
  EXPECT_CODE(0, arm_destroy_application(&same, 0, NULL)); /* one of two */

  arm_id_t metrics[ARM_METRIC_MAX_COUNT];
  const arm_metric_format_t formats[] = {
      ARM_METRIC_FORMAT_COUNTER32,   ARM_METRIC_FORMAT_COUNTER64,  ARM_METRIC_FORMAT_CNTRDIVR32,
      ARM_METRIC_FORMAT_GAUGE32,     ARM_METRIC_FORMAT_GAUGE64,    ARM_METRIC_FORMAT_GAUGEDIVR32,
      ARM_METRIC_FORMAT_STRING32};
  const char *metric_names[] = {"c32", "c64", "cdiv", "g32", "g64", "gdiv", "text"};
  arm_metric_binding_t bindings[ARM_METRIC_MAX_COUNT];
  for (int i = 0; i < ARM_METRIC_MAX_COUNT; i++) {
    EXPECT_CODE(0, arm_register_metric(&app_id, metric_names[i], formats[i],
                                       i == 1 ? ARM_METRIC_USE_TRAN_SIZE : ARM_METRIC_USE_GENERAL,
                                       i == 0 ? "plots" : NULL, NULL, 0, NULL, &metrics[i]));
    bindings[i].slot = (arm_metric_slot_t)i;
    bindings[i].id = metrics[i];
  }
  arm_property_t kind[] = {{"kind", "radar"}};
  const char *context[] = {"sensor", "sector"};
  arm_subbuffer_tran_identity_t tran = {
      {ARM_SUBBUFFER_TRAN_IDENTITY}, 1, kind, 2, context, "mrts:/plots"};
  arm_subbuffer_metric_bindings_t bound = {{ARM_SUBBUFFER_METRIC_BINDINGS}, 7, bindings};
  BUFFER(of_tran, ARM_SB(tran), ARM_SB(bound));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "full", NULL, 0, &of_tran, &full_id));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "plain", NULL, 0, NULL, &plain_id));

  const char *values[] = {"fast", "skipped", "live"};
  arm_subbuffer_app_context_t app_context = {{ARM_SUBBUFFER_APP_CONTEXT}, 3, values};
  const arm_uint8_t octets[] = {10, 0, 0, 7, 0x1f, 0x90};
  arm_subbuffer_system_address_t address = {
      {ARM_SUBBUFFER_SYSTEM_ADDRESS}, ARM_SYSADDR_FORMAT_IPV4PORT, 6, octets, ARM_FALSE, {{{0}}}};
  arm_subbuffer_app_control_t control;
  memset(&control, -1, sizeof control);
  control.header.format = ARM_SUBBUFFER_APP_CONTROL;
  control.control_count_app = ARM41_APP_CONTROL_COUNT;
  BUFFER(of_start, ARM_SB(app_context), ARM_SB(address), ARM_SB(control));
  EXPECT_CODE(0, arm_start_application(&app_id, "radar", "unit 1", 0, &of_start, &app));
  EXPECT(control.control_count_arm == ARM41_APP_CONTROL_COUNT);
  EXPECT(control.use_metric == ARM_TRUE && control.use_user == ARM_TRUE);
  EXPECT(control.collection_depth == ARM_COLLECTION_DEPTH_CONTAINER);
}

/* One transaction with all that can be said. */
static void full(void) {
  arm_id_t user_id = {{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}};
  arm_subbuffer_user_t user = {{ARM_SUBBUFFER_USER}, "controller", ARM_TRUE, user_id};
  const char *values[] = {"RDR-3", "North"};
  arm_subbuffer_tran_context_t context = {{ARM_SUBBUFFER_TRAN_CONTEXT}, 2, values, NULL};
  arm_metric_t at_start[] = {{0, ARM_METRIC_FORMAT_COUNTER32, 0, ARM_TRUE, {0}}};
  at_start[0].metric_u.counter32 = 3;
  arm_subbuffer_metric_values_t first = {{ARM_SUBBUFFER_METRIC_VALUES}, 1, at_start};
  arm_message_rcvd_event_t event = {NULL, "plot"};
  arm_subbuffer_message_rcvd_event_t received = {
      {ARM_SUBBUFFER_MESSAGE_RCVD_EVENT}, ARM_FALSE, 1, &event};
  arm_subbuffer_tran_id_control_t control;
  memset(&control, -1, sizeof control);
  control.header.format = ARM_SUBBUFFER_TRAN_ID_CONTROL;
  control.control_count_app = 8;
  control.tran_id = &full_id;
  BUFFER(of_start, ARM_SB(user), ARM_SB(context), ARM_SB(first), ARM_SB(received),
         ARM_SB(control));
  arm_tran_start_handle_t tran;
  EXPECT_CODE(0, arm_start_transaction(app, &full_id, NULL, 0, &of_start, &tran, NULL));
  EXPECT(control.control_used == ARM_TRUE && control.use_block == ARM_TRUE);
  EXPECT(control.control_count_arm == 8);

  arm_subbuffer_block_cause_t cause = {
      {ARM_SUBBUFFER_BLOCK_CAUSE}, ARM_BLOCK_CAUSE_SYNCHRONOUS_EVENT, 0, "database"};
  BUFFER(of_block, ARM_SB(cause));
  arm_tran_block_handle_t one, two;
  EXPECT_CODE(0, arm_block_transaction(tran, 0, &of_block, &one));
  EXPECT_CODE(0, arm_block_transaction(tran, 0, NULL, &two));
  nap(5);
  EXPECT_CODE(0, arm_unblock_transaction(tran, one, 0, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_BLOCK_HANDLE, arm_unblock_transaction(tran, one, 0, NULL));
  EXPECT_CODE(0, arm_unblock_transaction(tran, two, 0, NULL));

  arm_metric_t values_now[6];
  memset(values_now, 0, sizeof values_now);
  for (int i = 0; i < 6; i++) {
    values_now[i].slot = (arm_metric_slot_t)(i + 1);
    values_now[i].format = i == 5 ? ARM_METRIC_FORMAT_STRING32 : (arm_metric_format_t)(i + 2);
    values_now[i].valid = ARM_TRUE;
  }
  values_now[0].metric_u.counter64 = 5000000000LL;
  values_now[1].metric_u.counterdivisor32.counter = 7;
  values_now[1].metric_u.counterdivisor32.divisor = 2;
  values_now[2].metric_u.gauge32 = -4;
  values_now[3].metric_u.gauge64 = 99;
  values_now[3].valid = ARM_FALSE;
  values_now[4].metric_u.gaugedivisor32.gauge = 1;
  values_now[4].metric_u.gaugedivisor32.divisor = 4;
  values_now[5].metric_u.string32 = "warm";
  arm_subbuffer_metric_values_t now = {{ARM_SUBBUFFER_METRIC_VALUES}, 6, values_now};
  BUFFER(of_update, ARM_SB(now));
  EXPECT_CODE(0, arm_update_transaction(tran, 0, &of_update));

  arm_subbuffer_diag_detail_t diag = {{ARM_SUBBUFFER_DIAG_DETAIL}, "late"};
  BUFFER(of_stop, ARM_SB(diag));
  EXPECT_CODE(0, arm_stop_transaction(tran, ARM_STATUS_ABORTED, 0, &of_stop));
  EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_stop_transaction(tran, 0, 0, NULL));
}

/* User and diagnosis, in the order in which they are kept. */
static void shorter(void) {
  arm_id_t id, user_id = {{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}};
  arm_subbuffer_user_t user = {{ARM_SUBBUFFER_USER}, "controller", ARM_TRUE, user_id};
  arm_property_t code[] = {{"code", "17"}};
  arm_subbuffer_diag_detail_t diag = {{ARM_SUBBUFFER_DIAG_DETAIL}, "late"};
  arm_subbuffer_diag_properties_t more = {{ARM_SUBBUFFER_DIAG_PROPERTIES}, 1, code};
  BUFFER(of_start, ARM_SB(user));
  BUFFER(of_stop, ARM_SB(diag), ARM_SB(more));
  arm_tran_start_handle_t tran;
  EXPECT_CODE(0, arm_register_transaction(&app_id, "short", NULL, 0, NULL, &id));
  EXPECT_CODE(0, arm_start_transaction(app, &id, NULL, 0, &of_start, &tran, NULL));
  EXPECT_CODE(0, arm_stop_transaction(tran, ARM_STATUS_GOOD, 0, &of_stop));
}

/* Both URIs, and metrics whose names say their units. */
static void uris(void) {
  arm_id_t id, metrics[2];
  arm_tran_start_handle_t tran;
  EXPECT_CODE(0, arm_register_metric(&app_id, "rows", ARM_METRIC_FORMAT_GAUGE64, 0, "rows", NULL, 0,
                                     NULL, &metrics[0]));
  EXPECT_CODE(0, arm_register_metric(&app_id, "sent_ms", ARM_METRIC_FORMAT_GAUGE64, 0, "ms", NULL,
                                     0, NULL, &metrics[1]));
  arm_metric_binding_t bindings[2] = {{0, metrics[0]}, {1, metrics[1]}};
  arm_subbuffer_metric_bindings_t bound = {{ARM_SUBBUFFER_METRIC_BINDINGS}, 2, bindings};
  arm_subbuffer_tran_identity_t identity = {
      {ARM_SUBBUFFER_TRAN_IDENTITY}, 0, NULL, 0, NULL, "mrts:/plots"};
  BUFFER(of_tran, ARM_SB(identity), ARM_SB(bound));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "with URIs", NULL, 0, &of_tran, &id));
  arm_subbuffer_tran_context_t context = {
      {ARM_SUBBUFFER_TRAN_CONTEXT}, 0, NULL, "/plots?radar=7"};
  arm_metric_t values[2];
  memset(values, 0, sizeof values);
  for (int i = 0; i < 2; i++) {
    values[i].slot = (arm_metric_slot_t)i;
    values[i].format = ARM_METRIC_FORMAT_GAUGE64;
    values[i].valid = ARM_TRUE;
    values[i].metric_u.gauge64 = i + 2;
  }
  arm_subbuffer_metric_values_t now = {{ARM_SUBBUFFER_METRIC_VALUES}, 2, values};
  BUFFER(of_start, ARM_SB(context), ARM_SB(now));
  EXPECT_CODE(0, arm_start_transaction(app, &id, NULL, 0, &of_start, &tran, NULL));
  EXPECT_CODE(0, arm_stop_transaction(tran, ARM_STATUS_GOOD, 0, NULL));
}

/* Starts that lie before the call. */
static void arrival(void) {
  arm_id_t id;
  arm_tran_start_handle_t tran;
  arm_subbuffer_arrival_time_t opaque = {{ARM_SUBBUFFER_ARRIVAL_TIME}, 0};
  EXPECT_CODE(0, arm_get_arrival_time(&opaque.opaque_time));
  nap(20);
  EXPECT_CODE(0, arm_register_transaction(&app_id, "arrived", NULL, 0, NULL, &id));
  BUFFER(by_opaque, ARM_SB(opaque));
  EXPECT_CODE(0, arm_start_transaction(app, &id, NULL, 0, &by_opaque, &tran, NULL));
  EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL));

  EXPECT_CODE(0, arm_register_transaction(&app_id, "arrived by the clock", NULL, 0, NULL, &id));
  arm_subbuffer_formatted_arrival_time_usecJan1970_t usec = {
      {ARM_SUBBUFFER_FORMATTED_ARRIVAL_TIME_USECJAN1970}, (arm_int64_t)(time(NULL) - 2) * 1000000};
  BUFFER(by_usec, ARM_SB(usec));
  EXPECT_CODE(0, arm_start_transaction(app, &id, NULL, 0, &by_usec, &tran, NULL));
  EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL));
  opaque.opaque_time = -7;
  EXPECT_CODE(CHRONOSCOPE_ARM_TIME,
              arm_start_transaction(app, &plain_id, NULL, 0, &by_opaque, &tran, NULL));
  EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL));
}

/* Told of afterwards, with a child that was there first. */
static void reported(void) {
  arm_id_t parent_id, child_id;
  arm_correlator_t parent, child;
  EXPECT_CODE(0, arm_register_transaction(&app_id, "reported", NULL, 0, NULL, &parent_id));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "reported child", NULL, 0, NULL, &child_id));
  EXPECT_CODE(0, arm_generate_correlator(app, &parent_id, NULL, ARM_FLAG_TRACE_REQUEST, NULL,
                                         &parent));
  arm_boolean_t flag;
  EXPECT_CODE(0, arm_get_correlator_flags(&parent, ARM_CORR_FLAGNUM_APP_TRACE, &flag));
  EXPECT(flag);
  EXPECT_CODE(0, arm_get_correlator_flags(&parent, ARM_CORR_FLAGNUM_ASYNCH, &flag));
  EXPECT(!flag);
  ARM_SET_CORRELATOR_FLAG(&parent, ARM_CORR_FLAGNUM_ASYNCH, ARM_TRUE);
  ARM_SET_CORRELATOR_FLAG(&parent, ARM_CORR_FLAGNUM_INDEPENDENT, ARM_TRUE);
  EXPECT_CODE(0, arm_get_correlator_flags(&parent, ARM_CORR_FLAGNUM_ASYNCH, &flag));
  EXPECT(flag);
  EXPECT_CODE(0, arm_generate_correlator(app, &child_id, &parent, 0, NULL, &child));
  EXPECT_CODE(0, arm_report_transaction(app, &child_id, ARM_STATUS_FAILED, 2000000, 1700000000123LL,
                                        &parent, &child, 0, NULL));
  arm_subbuffer_diag_detail_t diag = {{ARM_SUBBUFFER_DIAG_DETAIL}, "afterwards"};
  BUFFER(of_report, ARM_SB(diag));
  EXPECT_CODE(0, arm_report_transaction(app, &parent_id, ARM_STATUS_GOOD, 5000000,
                                        ARM_USE_CURRENT_TIME, NULL, &parent, 0, &of_report));
  EXPECT_CODE(CHRONOSCOPE_ARM_CORRELATOR,
              arm_report_transaction(app, &child_id, 0, 1, ARM_USE_CURRENT_TIME, NULL, &parent, 0,
                                     NULL)); /* of another class */
}

/* A batch: its first message is the parent, the others are inputs; one comes later. */
static void inputs(void) {
  arm_id_t sender_id, batch_id;
  arm_correlator_t sent[4];
  arm_tran_start_handle_t tran;
  EXPECT_CODE(0, arm_register_transaction(&app_id, "sender", NULL, 0, NULL, &sender_id));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "batch", NULL, 0, NULL, &batch_id));
  for (int i = 0; i < 4; i++) {
    EXPECT_CODE(0, arm_start_transaction(app, &sender_id, NULL, 0, NULL, &tran, &sent[i]));
    EXPECT_CODE(0, arm_stop_transaction(tran, ARM_STATUS_GOOD, 0, NULL));
  }
  arm_message_rcvd_event_t events[] = {{&sent[1], NULL}, {NULL, NULL}, {&sent[2], NULL}};
  arm_subbuffer_message_rcvd_event_t received = {
      {ARM_SUBBUFFER_MESSAGE_RCVD_EVENT}, ARM_FALSE, 3, events};
  BUFFER(of_start, ARM_SB(received));
  EXPECT_CODE(0, arm_start_transaction(app, &batch_id, &sent[0], 0, &of_start, &tran, NULL));
  events[0].received_correlator = &sent[3];
  received.event_count = 1;
  EXPECT_CODE(0, arm_update_transaction(tran, 0, &of_start));
  EXPECT_CODE(0, arm_stop_transaction(tran, ARM_STATUS_GOOD, 0, NULL));
}

/* Parents of other kinds. */
static void foreign(void) {
  arm_id_t id;
  arm_tran_start_handle_t tran;
  arm_correlator_t parent, own;
  char header[56];
  const char *w3c = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_CODE(0, arm_register_transaction(&app_id, "under W3C", NULL, 0, NULL, &id));
  EXPECT_CODE(0, chronoscope_correlator_from_traceparent(w3c, &parent));
  EXPECT_CODE(0, arm_start_transaction(app, &id, &parent, 0, NULL, &tran, &own));
  EXPECT_CODE(0, chronoscope_correlator_to_traceparent(&own, header));
  EXPECT(strlen(header) == 55 && strncmp(header, w3c, 36) == 0 && strcmp(header, w3c) != 0);
  EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL));

  EXPECT_CODE(0, arm_register_transaction(&app_id, "under another agent", NULL, 0, NULL, &id));
  memset(&parent, 0x5a, sizeof parent);
  parent.opaque[0] = 0;
  parent.opaque[1] = 33;
  for (int i = 0; i < 2; i++) {
    EXPECT_CODE(0, arm_start_transaction(app, &id, &parent, 0, NULL, &tran, NULL));
    EXPECT_CODE(0, arm_stop_transaction(tran, 0, 0, NULL));
  }
}

static void discarded(void) {
  arm_id_t id;
  arm_tran_start_handle_t tran;
  EXPECT_CODE(0, arm_register_transaction(&app_id, "discarded", NULL, 0, NULL, &id));
  EXPECT_CODE(0, arm_start_transaction(app, &id, NULL, ARM_FLAG_BIND_THREAD, NULL, &tran, NULL));
  EXPECT_CODE(0, arm_discard_transaction(tran, 0, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_TRAN_HANDLE, arm_discard_transaction(tran, 0, NULL));
  arm_correlator_t current;
  EXPECT_CODE(CHRONOSCOPE_ARM_NO_CURRENT, chronoscope_current_correlator(&current));
}

/* Bound: what the thread begins meanwhile is its child, and what binds it last comes first. */
static void bound(void) {
  arm_id_t a_id, b_id, c_id;
  arm_tran_start_handle_t a, b, c;
  arm_correlator_t corr, current;
  EXPECT_CODE(0, arm_register_transaction(&app_id, "bound a", NULL, 0, NULL, &a_id));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "bound b", NULL, 0, NULL, &b_id));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "under b", NULL, 0, NULL, &c_id));
  const chronoscope_class_t *in_b = chronoscope_class("in b");
  const chronoscope_class_t *in_a = chronoscope_class("in a");
  EXPECT_CODE(0, arm_start_transaction(app, &a_id, NULL, ARM_FLAG_BIND_THREAD, NULL, &a, NULL));
  EXPECT_CODE(0, arm_start_transaction(app, &b_id, NULL, 0, NULL, &b, &corr));
  EXPECT_CODE(CHRONOSCOPE_ARM_NOT_BOUND, arm_unbind_thread(b, 0, NULL));
  EXPECT_CODE(0, arm_bind_thread(b, 0, NULL));
  EXPECT_CODE(0, arm_bind_thread(b, 0, NULL)); /* once more is no more */
  EXPECT_CODE(0, chronoscope_current_correlator(&current));
  EXPECT(memcmp(&current, &corr, (size_t)corr.opaque[1] + corr.opaque[0] * 256u) == 0);
  chronoscope_token_t token = chronoscope_begin(in_b);
  chronoscope_end(token, ARM_STATUS_GOOD);
  EXPECT_CODE(0, arm_start_transaction(app, &c_id, &current, 0, NULL, &c, NULL));
  EXPECT_CODE(0, arm_stop_transaction(c, 0, 0, NULL));
  EXPECT_CODE(0, arm_stop_transaction(b, 0, 0, NULL)); /* unbinds */
  token = chronoscope_begin(in_a);
  chronoscope_end(token, ARM_STATUS_GOOD);
  EXPECT_CODE(0, arm_unbind_thread(a, 0, NULL));
  EXPECT_CODE(0, arm_stop_transaction(a, 0, 0, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_NO_CURRENT, chronoscope_current_correlator(&current));
}

/* Switched off by the program: nothing of it is recorded, and the chain holds together. */
static void controlled(void) {
  arm_id_t off_id, under_id;
  arm_tran_start_handle_t root, off, under;
  arm_correlator_t root_corr, off_corr;
  EXPECT_CODE(0, arm_register_transaction(&app_id, "off", NULL, 0, NULL, &off_id));
  EXPECT_CODE(0, arm_register_transaction(&app_id, "under off", NULL, 0, NULL, &under_id));
  EXPECT_CODE(0, chronoscope_control(&off_id, CHRONOSCOPE_CONTROL_TRANSACTION, ARM_FALSE));
  arm_subbuffer_tran_id_control_t control = {
      .header = {ARM_SUBBUFFER_TRAN_ID_CONTROL}, .control_count_app = 1, .control_used = 7,
      .tran_id = &off_id, .use_block = 7};
  BUFFER(question, ARM_SB(control));
  EXPECT_CODE(0, arm_generate_correlator(app, &off_id, NULL, 0, &question, NULL));
  EXPECT(control.control_used == ARM_FALSE && control.use_block == 7);
  EXPECT_CODE(0, arm_start_transaction(app, &plain_id, NULL, 0, NULL, &root, &root_corr));
  EXPECT_CODE(0, arm_start_transaction(app, &off_id, &root_corr, 0, NULL, &off, &off_corr));
  EXPECT_CODE(0, arm_start_transaction(app, &under_id, &off_corr, 0, NULL, &under, NULL));
  EXPECT_CODE(0, arm_stop_transaction(under, 0, 0, NULL));
  arm_tran_block_handle_t block;
  EXPECT_CODE(0, arm_block_transaction(off, 0, NULL, &block));
  EXPECT_CODE(0, arm_unblock_transaction(off, block, 0, NULL));
  EXPECT_CODE(0, arm_bind_thread(off, 0, NULL));
  EXPECT_CODE(0, arm_unbind_thread(off, 0, NULL));
  EXPECT_CODE(0, arm_update_transaction(off, 0, NULL));
  EXPECT_CODE(0, arm_stop_transaction(off, 0, 0, NULL));
  EXPECT_CODE(0, arm_stop_transaction(root, 0, 0, NULL));

  /* Only the blocks of one transaction. */
  arm_id_t id;
  EXPECT_CODE(0, arm_register_transaction(&app_id, "without blocks", NULL, 0, NULL, &id));
  EXPECT_CODE(0, arm_start_transaction(app, &id, NULL, 0, NULL, &root, NULL));
  EXPECT_CODE(0, chronoscope_control_transaction(root, CHRONOSCOPE_CONTROL_BLOCK, ARM_FALSE));
  EXPECT_CODE(0, arm_block_transaction(root, 0, NULL, &block));
  EXPECT_CODE(0, arm_unblock_transaction(root, block, 0, NULL));
  EXPECT_CODE(0, arm_stop_transaction(root, 0, 0, NULL));
}

static void words(void) {
  arm_message_buffer_t message;
  arm_boolean_t supported = 7;
  EXPECT_CODE(0, arm_get_error_message(ARM_CHARSET_UTF8, CHRONOSCOPE_ARM_TRAN_ID, message));
  EXPECT(strstr(message, "transaction class") != NULL);
  EXPECT_CODE(0, arm_is_charset_supported(ARM_CHARSET_ASCII, &supported));
  EXPECT(supported == ARM_TRUE);
  EXPECT_CODE(0, arm_is_charset_supported(ARM_CHARSET_IBM1047, &supported));
  EXPECT(supported == ARM_FALSE);
  /* An application in UTF-16. */
  arm_subbuffer_charset_t charset = {{ARM_SUBBUFFER_CHARSET}, ARM_CHARSET_UTF16LE, 0};
  BUFFER(of_app, ARM_SB(charset));
  arm_id_t id, tran_id;
  arm_app_start_handle_t handle;
  arm_tran_start_handle_t tran;
  EXPECT_CODE(0, arm_register_application("C\0W\0P\0\0", NULL, 0, &of_app, &id));
  EXPECT_CODE(0, arm_register_transaction(&id, "d\0\xfc\0\0", NULL, 0, NULL, &tran_id));
  EXPECT_CODE(0, arm_start_application(&id, NULL, NULL, 0, NULL, &handle));
  EXPECT_CODE(0, arm_start_transaction(handle, &tran_id, NULL, 0, NULL, &tran, NULL));
  EXPECT_CODE(0, arm_stop_transaction(tran, ARM_STATUS_UNKNOWN, 0, NULL));
}

int main(void) {
  registration();
  full();
  shorter();
  uris();
  arrival();
  reported();
  inputs();
  foreign();
  discarded();
  bound();
  controlled();
  words();
  EXPECT_CODE(0, arm_stop_application(app, 0, NULL));
  EXPECT_CODE(0, arm_destroy_application(&app_id, 0, NULL));
  EXPECT_CODE(CHRONOSCOPE_ARM_APP_ID, arm_destroy_application(&app_id, 0, NULL));
  return failures != 0;
}
