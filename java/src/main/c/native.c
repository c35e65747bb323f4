/*
 * The calls of io.github.openchronoscope.arm40.Native, one for each function of libarm4.
 *
 * Nothing here keeps memory between calls, so that what Java drops is gone. No call throws; where
 * a handle is returned, the result is kept for lastError(), for each thread.
 */
#include "io_github_openchronoscope_arm40_Native.h"
#include "payload.h"

#include <arm41.h>
#include <arm4_chronoscope.h>
#include <string.h>

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_io_github_openchronoscope_arm40_Native_##name

static __thread jint last_error;

/* A handle for Java; the result is kept. */
static jlong handle_and_result(arm_int64_t handle, arm_error_t result) {
  last_error = result;
  return handle;
}

static arm_id_t id_of(jlong high, jlong low) {
  arm_id_t id;
  id.id_u.uint64[0] = (arm_uint64_t)high;
  id.id_u.uint64[1] = (arm_uint64_t)low;
  return id;
}

/* An id of 16 bytes; NULL when there is none. */
static const arm_id_t *input_id(JNIEnv *env, jbyteArray array, arm_id_t *id) {
  if (array == NULL || (*env)->GetArrayLength(env, array) != (jsize)sizeof *id) return NULL;
  (*env)->GetByteArrayRegion(env, array, 0, sizeof *id, (jbyte *)id);
  return id;
}

static void deliver_id(JNIEnv *env, const arm_id_t *id, jlongArray array) {
  jlong halves[2] = {(jlong)id->id_u.uint64[0], (jlong)id->id_u.uint64[1]};
  if (array != NULL && (*env)->GetArrayLength(env, array) == 2) {
    (*env)->SetLongArrayRegion(env, array, 0, 2, halves);
  }
}

/* A correlator that came as an array; NULL when there is none. */
static const arm_correlator_t *correlator_of(
    JNIEnv *env, jbyteArray array, arm_correlator_t *correlator) {
  if (array == NULL) return NULL;
  jsize length = (*env)->GetArrayLength(env, array);
  if (length < ARM_CORR_MIN_LENGTH || length > ARM_CORR_MAX_LENGTH) return NULL;
  (*env)->GetByteArrayRegion(env, array, 0, length, (jbyte *)correlator->opaque);
  int said = correlator->opaque[0] << 8 | correlator->opaque[1];
  return said <= length ? correlator : NULL; /* the library reads as far as it says */
}

static void no_correlator(arm_correlator_t *correlator) { memset(correlator->opaque, 0, 4); }

/* Copies as much as there is, to an array of 512: a length of 0 where there is no correlator. To a
 * shorter array, or none, nothing. */
static void deliver_correlator(JNIEnv *env, const arm_correlator_t *correlator, jbyteArray array) {
  if (array == NULL || (*env)->GetArrayLength(env, array) < ARM_CORR_MAX_LENGTH) return;
  int length = correlator->opaque[0] << 8 | correlator->opaque[1];
  if (length < ARM_CORR_MIN_LENGTH || length > ARM_CORR_MAX_LENGTH) length = 2;
  (*env)->SetByteArrayRegion(env, array, 0, length, (const jbyte *)correlator->opaque);
}

NATIVE(jint, lastError)(JNIEnv *env, jclass class) {
  (void)env, (void)class;
  return last_error;
}

/* ---- Definitions ---- */

NATIVE(jint, registerApplication)
(JNIEnv *env, jclass class, jbyteArray array, jint length, jbyteArray input, jlongArray output) {
  (void)class;
  struct payload payload;
  payload_open(&payload, env, array, length);
  const char *name = payload_text(&payload);
  payload_add_charset(&payload);
  const arm_buffer4_t *buffer = payload_buffer(&payload);
  arm_id_t given, made = id_of(0, 0);
  jint result = payload.error;
  if (result == 0) {
    result = arm_register_application(
        name, input_id(env, input, &given), ARM_FLAG_NONE, buffer, &made);
  }
  deliver_id(env, &made, output);
  payload_close(&payload);
  return result;
}

NATIVE(jint, destroyApplication)(JNIEnv *env, jclass class, jlong high, jlong low) {
  (void)env, (void)class;
  arm_id_t id = id_of(high, low);
  return arm_destroy_application(&id, ARM_FLAG_NONE, ARM_BUF4_NONE);
}

NATIVE(jint, registerTransaction)
(JNIEnv *env, jclass class, jlong high, jlong low, jbyteArray array, jint length,
 jbyteArray input, jlongArray output) {
  (void)class;
  struct payload payload;
  payload_open(&payload, env, array, length);
  const char *name = payload_text(&payload);
  const arm_buffer4_t *buffer = payload_buffer(&payload);
  arm_id_t app = id_of(high, low), given, made = id_of(0, 0);
  jint result = payload.error;
  if (result == 0) {
    result = arm_register_transaction(
        &app, name, input_id(env, input, &given), ARM_FLAG_NONE, buffer, &made);
  }
  deliver_id(env, &made, output);
  payload_close(&payload);
  return result;
}

NATIVE(jint, registerMetric)
(JNIEnv *env, jclass class, jlong high, jlong low, jint format, jint usage,
 jbyteArray array, jint length, jbyteArray input, jlongArray output) {
  (void)class;
  struct payload payload;
  payload_open(&payload, env, array, length);
  const char *name = payload_text(&payload);
  const char *unit = payload_text(&payload);
  arm_id_t app = id_of(high, low), given, made = id_of(0, 0);
  jint result = payload.error;
  if (result == 0) {
    result = arm_register_metric(&app, name, (arm_metric_format_t)format,
        (arm_metric_usage_t)usage, unit, input_id(env, input, &given), ARM_FLAG_NONE,
        ARM_BUF4_NONE, &made);
  }
  deliver_id(env, &made, output);
  payload_close(&payload);
  return result;
}

/* ---- Application instances ---- */

NATIVE(jlong, startApplication)
(JNIEnv *env, jclass class, jlong high, jlong low, jbyteArray array, jint length) {
  (void)class;
  struct payload payload;
  payload_open(&payload, env, array, length);
  const char *group = payload_text(&payload);
  const char *instance = payload_text(&payload);
  const arm_buffer4_t *buffer = payload_buffer(&payload);
  arm_id_t app = id_of(high, low);
  arm_app_start_handle_t handle = 0;
  arm_error_t result = payload.error;
  if (result == 0) {
    result = arm_start_application(&app, group, instance, ARM_FLAG_NONE, buffer, &handle);
  }
  payload_close(&payload);
  return handle_and_result(handle, result);
}

NATIVE(jint, stopApplication)(JNIEnv *env, jclass class, jlong application) {
  (void)env, (void)class;
  return arm_stop_application(application, ARM_FLAG_NONE, ARM_BUF4_NONE);
}

/* ---- Transactions ---- */

NATIVE(jlong, start)
(JNIEnv *env, jclass class, jlong application, jlong high, jlong low, jint flags,
 jbyteArray output) {
  (void)class;
  arm_id_t tran = id_of(high, low);
  arm_tran_start_handle_t handle = 0;
  arm_correlator_t current;
  no_correlator(&current);
  arm_error_t result = arm_start_transaction(
      application, &tran, ARM_CORR_NONE, flags, ARM_BUF4_NONE, &handle, &current);
  deliver_correlator(env, &current, output);
  if (handle == 0) last_error = result;
  return handle;
}

NATIVE(jlong, startWith)
(JNIEnv *env, jclass class, jlong application, jlong high, jlong low, jint flags,
 jbyteArray parent_array, jbyteArray array, jint length, jbyteArray output) {
  (void)class;
  struct payload payload;
  payload_open(&payload, env, array, length);
  const arm_buffer4_t *buffer = payload_buffer(&payload);
  arm_id_t tran = id_of(high, low);
  arm_tran_start_handle_t handle = 0;
  arm_correlator_t parent, current;
  no_correlator(&current);
  /* A malformed payload costs its context, not the measurement. */
  arm_error_t result = arm_start_transaction(application, &tran,
      correlator_of(env, parent_array, &parent), flags,
      payload.error == 0 ? buffer : ARM_BUF4_NONE, &handle, &current);
  if (result == 0) result = payload.error;
  deliver_correlator(env, &current, output);
  payload_close(&payload);
  return handle_and_result(handle, result);
}

NATIVE(jint, stop)(JNIEnv *env, jclass class, jlong transaction, jint status) {
  (void)env, (void)class;
  return arm_stop_transaction(transaction, status, ARM_FLAG_NONE, ARM_BUF4_NONE);
}

NATIVE(jint, stopWith)
(JNIEnv *env, jclass class, jlong transaction, jint status, jbyteArray array, jint length) {
  (void)class;
  struct payload payload;
  payload_open(&payload, env, array, length);
  const arm_buffer4_t *buffer = payload_buffer(&payload);
  jint result = arm_stop_transaction(transaction, status, ARM_FLAG_NONE,
      payload.error == 0 ? buffer : ARM_BUF4_NONE);
  if (result == 0) result = payload.error;
  payload_close(&payload);
  return result;
}

NATIVE(jint, update)(JNIEnv *env, jclass class, jlong transaction, jbyteArray array, jint length) {
  (void)class;
  struct payload payload;
  payload_open(&payload, env, array, length);
  const arm_buffer4_t *buffer = payload_buffer(&payload);
  jint result = arm_update_transaction(
      transaction, ARM_FLAG_NONE, payload.error == 0 ? buffer : ARM_BUF4_NONE);
  if (result == 0) result = payload.error;
  payload_close(&payload);
  return result;
}

NATIVE(jint, discard)(JNIEnv *env, jclass class, jlong transaction) {
  (void)env, (void)class;
  return arm_discard_transaction(transaction, ARM_FLAG_NONE, ARM_BUF4_NONE);
}

NATIVE(jlong, block)(JNIEnv *env, jclass class, jlong transaction) {
  (void)env, (void)class;
  arm_tran_block_handle_t handle = 0;
  arm_error_t result =
      arm_block_transaction(transaction, ARM_FLAG_NONE, ARM_BUF4_NONE, &handle);
  return handle_and_result(handle, result);
}

NATIVE(jint, unblock)(JNIEnv *env, jclass class, jlong transaction, jlong block) {
  (void)env, (void)class;
  return arm_unblock_transaction(transaction, block, ARM_FLAG_NONE, ARM_BUF4_NONE);
}

NATIVE(jint, bindThread)(JNIEnv *env, jclass class, jlong transaction) {
  (void)env, (void)class;
  return arm_bind_thread(transaction, ARM_FLAG_NONE, ARM_BUF4_NONE);
}

NATIVE(jint, unbindThread)(JNIEnv *env, jclass class, jlong transaction) {
  (void)env, (void)class;
  return arm_unbind_thread(transaction, ARM_FLAG_NONE, ARM_BUF4_NONE);
}

NATIVE(jlong, arrivalTime)(JNIEnv *env, jclass class) {
  (void)env, (void)class;
  arm_arrival_time_t now = 0;
  arm_get_arrival_time(&now);
  return now;
}

/* ---- Reports ---- */

NATIVE(jint, report)
(JNIEnv *env, jclass class, jlong application, jlong high, jlong low, jint status, jlong response,
 jlong stop, jbyteArray parent_array, jbyteArray current_array, jbyteArray array,
 jint length) {
  (void)class;
  struct payload payload;
  payload_open(&payload, env, array, length);
  const arm_buffer4_t *buffer = payload_buffer(&payload);
  arm_id_t tran = id_of(high, low);
  arm_correlator_t parent, current;
  jint result = arm_report_transaction(application, &tran, status, response, stop,
      correlator_of(env, parent_array, &parent), correlator_of(env, current_array, &current),
      ARM_FLAG_NONE, payload.error == 0 ? buffer : ARM_BUF4_NONE);
  if (result == 0) result = payload.error;
  payload_close(&payload);
  return result;
}

NATIVE(jint, generateCorrelator)
(JNIEnv *env, jclass class, jlong application, jlong high, jlong low, jint flags,
 jbyteArray parent_array, jbyteArray array, jint length, jbyteArray output) {
  (void)class;
  struct payload payload;
  payload_open(&payload, env, array, length);
  const arm_buffer4_t *buffer = payload_buffer(&payload);
  arm_id_t tran = id_of(high, low);
  arm_correlator_t parent, current;
  no_correlator(&current);
  jint result = arm_generate_correlator(application, &tran,
      correlator_of(env, parent_array, &parent), flags,
      payload.error == 0 ? buffer : ARM_BUF4_NONE, &current);
  if (result == 0) result = payload.error;
  deliver_correlator(env, &current, output);
  payload_close(&payload);
  return result;
}

/* ---- Correlators and messages ---- */

NATIVE(jint, correlatorFlag)(JNIEnv *env, jclass class, jbyteArray array, jint flag) {
  (void)class;
  arm_correlator_t correlator;
  arm_boolean_t set = ARM_FALSE;
  jint result = arm_get_correlator_flags(correlator_of(env, array, &correlator), flag, &set);
  return result < 0 ? result : set != ARM_FALSE;
}

NATIVE(jint, setCorrelatorFlag)
(JNIEnv *env, jclass class, jbyteArray array, jint flag, jboolean value) {
  (void)class;
  arm_correlator_t correlator;
  arm_boolean_t known = ARM_FALSE;
  const arm_correlator_t *given = correlator_of(env, array, &correlator);
  jint result = arm_get_correlator_flags(given, flag, &known);
  if (given == NULL || result < 0) return result < 0 ? result : PAYLOAD_MALFORMED;
  ARM_SET_CORRELATOR_FLAG(&correlator, flag, value);
  (*env)->SetByteArrayRegion(env, array, 3, 1, (const jbyte *)&correlator.opaque[3]);
  return 0;
}

static jbyteArray bytes_of(JNIEnv *env, const char *text) {
  jsize length = (jsize)strlen(text);
  jbyteArray array = (*env)->NewByteArray(env, length);
  if (array != NULL) (*env)->SetByteArrayRegion(env, array, 0, length, (const jbyte *)text);
  return array;
}

NATIVE(jbyteArray, errorMessage)(JNIEnv *env, jclass class, jint code) {
  (void)class;
  arm_message_buffer_t message;
  message[0] = 0;
  if (arm_get_error_message(ARM_CHARSET_UTF8, code, message) < 0 || message[0] == 0) return NULL;
  message[ARM_MSG_BUFFER_LENGTH - 1] = 0;
  return bytes_of(env, message);
}

NATIVE(jint, fromTraceparent)(JNIEnv *env, jclass class, jbyteArray text, jbyteArray output) {
  (void)class;
  char traceparent[128];
  if (text == NULL) return PAYLOAD_MALFORMED;
  jsize length = (*env)->GetArrayLength(env, text);
  if (length >= (jsize)sizeof traceparent) return PAYLOAD_MALFORMED;
  (*env)->GetByteArrayRegion(env, text, 0, length, (jbyte *)traceparent);
  traceparent[length] = 0;
  arm_correlator_t correlator;
  no_correlator(&correlator);
  jint result = chronoscope_correlator_from_traceparent(traceparent, &correlator);
  deliver_correlator(env, &correlator, output);
  return result;
}

NATIVE(jbyteArray, toTraceparent)(JNIEnv *env, jclass class, jbyteArray array) {
  (void)class;
  arm_correlator_t correlator;
  char traceparent[56] = "";
  const arm_correlator_t *given = correlator_of(env, array, &correlator);
  if (given == NULL || chronoscope_correlator_to_traceparent(given, traceparent) != 0) return NULL;
  return bytes_of(env, traceparent);
}
