#include "payload.h"

#include <stdlib.h>
#include <string.h>

void payload_open(struct payload *payload, JNIEnv *env, jbyteArray array, jint length) {
  payload->at = payload->end = payload->inline_bytes;
  payload->heap = NULL;
  payload->error = 0;
  payload->buffer.count = 0;
  payload->buffer.subbuffer_array = payload->parts;
  if (length == 0) return;
  if (array == NULL || length < 0 || length > (*env)->GetArrayLength(env, array)) {
    payload->error = PAYLOAD_MALFORMED;
    return;
  }
  uint8_t *bytes = payload->inline_bytes;
  if (length > PAYLOAD_INLINE_BYTES) {
    bytes = length > PAYLOAD_BYTES_MAX ? NULL : malloc((size_t)length);
    payload->heap = bytes;
    if (bytes == NULL) {
      payload->error = PAYLOAD_MALFORMED;
      return;
    }
  }
  (*env)->GetByteArrayRegion(env, array, 0, length, (jbyte *)bytes);
  payload->at = bytes;
  payload->end = bytes + length;
}

void payload_close(struct payload *payload) { free(payload->heap); }

/* The next bytes; NULL, and an error, when there are not so many. */
static const uint8_t *take(struct payload *payload, size_t count) {
  if (payload->error != 0 || (size_t)(payload->end - payload->at) < count) {
    payload->error = PAYLOAD_MALFORMED;
    return NULL;
  }
  const uint8_t *bytes = payload->at;
  payload->at += count;
  return bytes;
}

static uint64_t number(struct payload *payload, size_t size) {
  const uint8_t *bytes = take(payload, size);
  uint64_t value = 0;
  for (size_t i = 0; bytes != NULL && i < size; i++) value |= (uint64_t)bytes[i] << (8 * i);
  return value;
}

/* A count of at most so many; 0, and an error, beyond. */
static int count_of(struct payload *payload, int most) {
  int count = (int)number(payload, 1);
  if (count > most) {
    payload->error = PAYLOAD_MALFORMED;
    return 0;
  }
  return count;
}

const char *payload_text(struct payload *payload) {
  size_t length = number(payload, 2);
  if (length == 0) return NULL;
  const uint8_t *bytes = take(payload, length);
  if (bytes == NULL) return NULL;
  if (bytes[length - 1] != 0) {
    payload->error = PAYLOAD_MALFORMED;
    return NULL;
  }
  return (const char *)bytes;
}

static void texts(struct payload *payload, const char **array, int count) {
  for (int i = 0; i < count; i++) array[i] = payload_text(payload);
}

static void id_of(struct payload *payload, arm_boolean_t *valid, arm_id_t *id) {
  *valid = number(payload, 1) != 0 ? ARM_TRUE : ARM_FALSE;
  memset(id, 0, sizeof *id);
  const uint8_t *bytes = *valid ? take(payload, sizeof *id) : NULL;
  if (bytes != NULL) memcpy(id, bytes, sizeof *id);
}

/* ---- One function for each part; each returns where it put the part. ---- */

static arm_subbuffer_t *user(struct payload *payload) {
  arm_subbuffer_user_t *part = &payload->user;
  part->name = payload_text(payload);
  id_of(payload, &part->id_valid, &part->id);
  return ARM_SB(*part);
}

static arm_subbuffer_t *arrival(struct payload *payload) {
  payload->arrival.opaque_time = (arm_arrival_time_t)number(payload, 8);
  return ARM_SB(payload->arrival);
}

/* The value of a metric: in Java always 8 bytes, the lower ones first, or a text. */
static void metric_value(struct payload *payload, arm_metric_t *metric) {
  if (metric->format == ARM_METRIC_FORMAT_STRING32) {
    metric->metric_u.string32 = payload_text(payload);
    return;
  }
  uint64_t value = number(payload, 8);
  arm_int32_t low = (arm_int32_t)(uint32_t)value, high = (arm_int32_t)(uint32_t)(value >> 32);
  switch (metric->format) {
    case ARM_METRIC_FORMAT_COUNTER32: metric->metric_u.counter32 = low; break;
    case ARM_METRIC_FORMAT_GAUGE32: metric->metric_u.gauge32 = low; break;
    case ARM_METRIC_FORMAT_NUMERICID32: metric->metric_u.numericid32 = low; break;
    case ARM_METRIC_FORMAT_CNTRDIVR32:
      metric->metric_u.counterdivisor32.counter = low;
      metric->metric_u.counterdivisor32.divisor = high;
      break;
    case ARM_METRIC_FORMAT_GAUGEDIVR32:
      metric->metric_u.gaugedivisor32.gauge = low;
      metric->metric_u.gaugedivisor32.divisor = high;
      break;
    case ARM_METRIC_FORMAT_COUNTER64: metric->metric_u.counter64 = (arm_int64_t)value; break;
    case ARM_METRIC_FORMAT_GAUGE64: metric->metric_u.gauge64 = (arm_int64_t)value; break;
    case ARM_METRIC_FORMAT_NUMERICID64: metric->metric_u.numericid64 = (arm_int64_t)value; break;
    default: payload->error = PAYLOAD_MALFORMED;
  }
}

static arm_subbuffer_t *metric_values(struct payload *payload) {
  int count = count_of(payload, ARM_METRIC_MAX_COUNT);
  for (int i = 0; i < count; i++) {
    arm_metric_t *metric = &payload->metrics[i];
    metric->slot = (arm_metric_slot_t)number(payload, 1);
    metric->format = (arm_metric_format_t)number(payload, 1);
    metric->usage = (arm_metric_usage_t)number(payload, 2);
    metric->valid = ARM_TRUE;
    metric_value(payload, metric);
  }
  payload->metric_values.count = count;
  payload->metric_values.metric_value_array = payload->metrics;
  return ARM_SB(payload->metric_values);
}

static arm_subbuffer_t *address(struct payload *payload) {
  arm_subbuffer_system_address_t *part = &payload->address;
  part->address_format = (arm_int16_t)number(payload, 2);
  part->address_length = (arm_int16_t)number(payload, 2);
  part->address = take(payload, (size_t)(uint16_t)part->address_length);
  id_of(payload, &part->id_valid, &part->id);
  return ARM_SB(*part);
}

static arm_subbuffer_t *diag(struct payload *payload) {
  payload->diag.diag_detail = payload_text(payload);
  return ARM_SB(payload->diag);
}

/* Identity properties and context names; returns how many there are of each. */
static void identity(struct payload *payload, arm_int32_t *properties, arm_int32_t *names) {
  *properties = count_of(payload, ARM_PROPERTY_MAX_COUNT);
  for (int i = 0; i < *properties; i++) {
    payload->properties[i].name = payload_text(payload);
    payload->properties[i].value = payload_text(payload);
  }
  *names = count_of(payload, ARM_PROPERTY_MAX_COUNT);
  texts(payload, payload->names, *names);
}

static arm_subbuffer_t *app_identity(struct payload *payload) {
  arm_subbuffer_app_identity_t *part = &payload->app_identity;
  identity(payload, &part->identity_property_count, &part->context_name_count);
  part->identity_property_array = payload->properties;
  part->context_name_array = payload->names;
  return ARM_SB(*part);
}

static arm_subbuffer_t *tran_identity(struct payload *payload) {
  arm_subbuffer_tran_identity_t *part = &payload->tran_identity;
  identity(payload, &part->identity_property_count, &part->context_name_count);
  part->identity_property_array = payload->properties;
  part->context_name_array = payload->names;
  part->uri = payload_text(payload);
  return ARM_SB(*part);
}

static arm_subbuffer_t *app_context(struct payload *payload) {
  arm_subbuffer_app_context_t *part = &payload->app_context;
  part->context_value_count = count_of(payload, ARM_PROPERTY_MAX_COUNT);
  texts(payload, payload->values, part->context_value_count);
  part->context_value_array = payload->values;
  return ARM_SB(*part);
}

static arm_subbuffer_t *tran_context(struct payload *payload) {
  arm_subbuffer_tran_context_t *part = &payload->tran_context;
  part->context_value_count = count_of(payload, ARM_PROPERTY_MAX_COUNT);
  texts(payload, payload->values, part->context_value_count);
  part->context_value_array = payload->values;
  part->uri = payload_text(payload);
  return ARM_SB(*part);
}

static arm_subbuffer_t *bindings(struct payload *payload) {
  int count = count_of(payload, ARM_METRIC_MAX_COUNT);
  for (int i = 0; i < count; i++) {
    payload->metric_bindings[i].slot = (arm_metric_slot_t)number(payload, 1);
    payload->metric_bindings[i].id.id_u.uint64[0] = number(payload, 8);
    payload->metric_bindings[i].id.id_u.uint64[1] = number(payload, 8);
  }
  payload->bindings.count = count;
  payload->bindings.metric_binding_array = payload->metric_bindings;
  return ARM_SB(payload->bindings);
}

static arm_subbuffer_t *part(struct payload *payload, int format) {
  switch (format) {
    case ARM_SUBBUFFER_USER: return user(payload);
    case ARM_SUBBUFFER_ARRIVAL_TIME: return arrival(payload);
    case ARM_SUBBUFFER_METRIC_VALUES: return metric_values(payload);
    case ARM_SUBBUFFER_SYSTEM_ADDRESS: return address(payload);
    case ARM_SUBBUFFER_DIAG_DETAIL: return diag(payload);
    case ARM_SUBBUFFER_APP_IDENTITY: return app_identity(payload);
    case ARM_SUBBUFFER_APP_CONTEXT: return app_context(payload);
    case ARM_SUBBUFFER_TRAN_IDENTITY: return tran_identity(payload);
    case ARM_SUBBUFFER_TRAN_CONTEXT: return tran_context(payload);
    case ARM_SUBBUFFER_METRIC_BINDINGS: return bindings(payload);
    default: payload->error = PAYLOAD_MALFORMED; return NULL;
  }
}

static void add(struct payload *payload, arm_subbuffer_t *part, int format) {
  part->format = format;
  payload->parts[payload->buffer.count++] = part;
}

void payload_add_charset(struct payload *payload) {
  payload->charset.charset = ARM_CHARSET_UTF8;
  payload->charset.flags = ARM_FLAG_NONE;
  add(payload, ARM_SB(payload->charset), ARM_SUBBUFFER_CHARSET);
}

const arm_buffer4_t *payload_buffer(struct payload *payload) {
  while (payload->error == 0 && payload->at < payload->end) {
    if (payload->buffer.count == PAYLOAD_PARTS_MAX) {
      payload->error = PAYLOAD_MALFORMED;
      break;
    }
    int format = (int)number(payload, 1);
    arm_subbuffer_t *next = part(payload, format);
    if (next != NULL) add(payload, next, format);
  }
  return payload->buffer.count == 0 ? NULL : &payload->buffer;
}
