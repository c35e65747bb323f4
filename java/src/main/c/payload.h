/*
 * What the Java side hands over in one byte array, as ARM's sub-buffers.
 *
 * The format is described at io.github.openchronoscope.arm40.Payload, which writes it. Texts stay where they
 * are in the copied bytes; nothing is allocated unless the bytes are many.
 */
#ifndef CHRONOSCOPE_ARM40_PAYLOAD_H
#define CHRONOSCOPE_ARM40_PAYLOAD_H

#include <arm4.h>
#include <jni.h>
#include <stdint.h>

enum {
  PAYLOAD_INLINE_BYTES = 1024,
  /* More than all texts of the longest kind together. */
  PAYLOAD_BYTES_MAX = 1 << 17,
  PAYLOAD_PARTS_MAX = 8,
  /* The array was malformed; as io.github.openchronoscope.arm40.ErrorCode.INTERNAL. */
  PAYLOAD_MALFORMED = -2021
};

struct payload {
  const uint8_t *at;
  const uint8_t *end;
  uint8_t *heap; /* where the bytes are when they are many, else NULL */
  int error;     /* 0, or PAYLOAD_MALFORMED from where on nothing more is read */

  arm_buffer4_t buffer;
  arm_subbuffer_t *parts[PAYLOAD_PARTS_MAX];
  arm_subbuffer_charset_t charset;
  arm_subbuffer_user_t user;
  arm_subbuffer_arrival_time_t arrival;
  arm_subbuffer_metric_values_t metric_values;
  arm_subbuffer_system_address_t address;
  arm_subbuffer_diag_detail_t diag;
  arm_subbuffer_app_identity_t app_identity;
  arm_subbuffer_app_context_t app_context;
  arm_subbuffer_tran_identity_t tran_identity;
  arm_subbuffer_tran_context_t tran_context;
  arm_subbuffer_metric_bindings_t bindings;
  arm_property_t properties[ARM_PROPERTY_MAX_COUNT];
  const char *names[ARM_PROPERTY_MAX_COUNT];
  const char *values[ARM_PROPERTY_MAX_COUNT];
  arm_metric_t metrics[ARM_METRIC_MAX_COUNT];
  arm_metric_binding_t metric_bindings[ARM_METRIC_MAX_COUNT];
  uint8_t inline_bytes[PAYLOAD_INLINE_BYTES];
};

/* Copies so many bytes of the array and begins to read; an error where it has not so many. To be
 * closed whatever happens. */
void payload_open(struct payload *payload, JNIEnv *env, jbyteArray array, jint length);

/* The next text of the arguments; NULL when there is none. */
const char *payload_text(struct payload *payload);

/* All that follows, as sub-buffers; NULL when there are none. */
const arm_buffer4_t *payload_buffer(struct payload *payload);

/* Says in which character set the texts are; before payload_buffer. */
void payload_add_charset(struct payload *payload);

void payload_close(struct payload *payload);

#endif
