/*
 * arm4.h: Application Response Measurement, version 4.0, C binding.
 *
 * Chronoscope's own header for the interface that the Open Group defines: a program written for
 * that binding compiles with it as it is. Names, values and layouts are those of the binding; the
 * words are ours. What is particular to Chronoscope is in arm4_chronoscope.h, what came with
 * version 4.1 in arm41.h. docs/arm4.md says what is done with everything.
 *
 * Every function returns 0, or a negative code (arm4_chronoscope.h has them all) when an argument
 * was bad. None ever blocks the program, ends it or writes outside of what it was given: a
 * program need not look at the codes. Every function may be called by any thread at any time,
 * except in a signal handler.
 */
#ifndef ARM4_H_INCLUDED
#define ARM4_H_INCLUDED

#include <stddef.h>

#include "arm4os.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Plain types ---- */

typedef ARM4_CHAR arm_char_t;
typedef ARM4_INT8 arm_int8_t;
typedef ARM4_UINT8 arm_uint8_t;
typedef ARM4_INT16 arm_int16_t;
typedef ARM4_UINT16 arm_uint16_t;
typedef ARM4_INT32 arm_int32_t;
typedef ARM4_UINT32 arm_uint32_t;
typedef ARM4_INT64 arm_int64_t;
typedef ARM4_UINT64 arm_uint64_t;

typedef arm_int32_t arm_boolean_t;
/* 0, or a negative code. */
typedef arm_int32_t arm_error_t;
/* Opaque: what arm_get_arrival_time() gave. */
typedef arm_int64_t arm_arrival_time_t;
/* Milliseconds since 1970, UTC, or ARM_USE_CURRENT_TIME. */
typedef arm_int64_t arm_stop_time_t;
/* Nanoseconds. */
typedef arm_int64_t arm_response_time_t;
/* ARM_STATUS_... */
typedef arm_int32_t arm_tran_status_t;
/* ARM_CHARSET_...: an IANA MIBenum. */
typedef arm_int32_t arm_charset_t;
/* ARM_SYSADDR_FORMAT_... */
typedef arm_int32_t arm_sysaddr_format_t;
/* ARM_SUBBUFFER_... */
typedef arm_int32_t arm_subbuffer_format_t;
/* ARM_METRIC_FORMAT_... */
typedef arm_uint8_t arm_metric_format_t;
/* In [ARM_METRIC_MIN_ARRAY_INDEX, ARM_METRIC_MAX_ARRAY_INDEX]. */
typedef arm_uint8_t arm_metric_slot_t;
/* ARM_METRIC_USE_..., or below 0 what a program means by it. */
typedef arm_int16_t arm_metric_usage_t;
/* A running application, an open transaction, a block; 0 is none. */
typedef arm_int64_t arm_app_start_handle_t;
typedef arm_int64_t arm_tran_start_handle_t;
typedef arm_int64_t arm_tran_block_handle_t;
/* In [ARM_CORR_MIN_LENGTH, ARM_CORR_MAX_LENGTH]. */
typedef arm_int16_t arm_correlator_length_t;

typedef arm_int32_t arm_metric_counter32_t;
typedef arm_int64_t arm_metric_counter64_t;
typedef arm_int32_t arm_metric_divisor32_t;
typedef arm_int32_t arm_metric_gauge32_t;
typedef arm_int64_t arm_metric_gauge64_t;
typedef arm_int32_t arm_metric_numericID32_t;
typedef arm_int64_t arm_metric_numericID64_t;
typedef const arm_char_t *arm_metric_string32_t;

/* ---- Constants ---- */

#define ARM_FALSE 0
#define ARM_TRUE 1

/* How a transaction ended. */
#define ARM_STATUS_GOOD 0
#define ARM_STATUS_ABORTED 1
#define ARM_STATUS_FAILED 2
#define ARM_STATUS_UNKNOWN 3

/* The codes that the binding keeps for itself; no implementation's own is among them. */
#define ARM_ERROR_CODE_RESERVED_MIN (-20999)
#define ARM_ERROR_CODE_RESERVED_MAX (-20000)
/* Not of the binding, but in wide use. */
#define ARM_SUCCESS 0

#define ARM_FLAG_NONE 0x00000000
/* Start, report, generate_correlator: the chain is of particular interest; its correlator says so. */
#define ARM_FLAG_TRACE_REQUEST 0x00000001
/* Start: as arm_bind_thread() right after it. */
#define ARM_FLAG_BIND_THREAD 0x00000002
/* Start, generate_correlator: the correlator does not leave the process. */
#define ARM_FLAG_CORR_IN_PROCESS 0x00000004

/* Nothing, where something is optional. */
#define ARM_BUF4_NONE ((arm_buffer4_t *)NULL)
#define ARM_CORR_NONE ((arm_correlator_t *)NULL)
#define ARM_ID_NONE ((arm_id_t *)NULL)
#define ARM_STRING_NONE ((arm_char_t *)NULL)
#define ARM_USE_CURRENT_TIME ((arm_stop_time_t)-1)

/* The sub-buffer as arm_buffer4_t lists it: ARM_SB(my_user). */
#define ARM_SB(x) (&((x).header))

/* Correlators, in octets. */
#define ARM_CORR_MIN_LENGTH 4
#define ARM_CORR_MAX_LENGTH 512
/* For arm_get_correlator_flags(). */
#define ARM_CORR_FLAGNUM_APP_TRACE 1
#define ARM_CORR_FLAGNUM_AGENT_TRACE 2

/* Sub-buffers. */
#define ARM_SUBBUFFER_USER 3
#define ARM_SUBBUFFER_ARRIVAL_TIME 4
#define ARM_SUBBUFFER_METRIC_VALUES 5
#define ARM_SUBBUFFER_SYSTEM_ADDRESS 6
#define ARM_SUBBUFFER_DIAG_DETAIL 7
#define ARM_SUBBUFFER_APP_IDENTITY 102
#define ARM_SUBBUFFER_APP_CONTEXT 103
#define ARM_SUBBUFFER_TRAN_IDENTITY 104
#define ARM_SUBBUFFER_TRAN_CONTEXT 105
#define ARM_SUBBUFFER_METRIC_BINDINGS 106
#define ARM_SUBBUFFER_CHARSET 107

/* Metrics. */
#define ARM_METRIC_FORMAT_RESERVED 0
#define ARM_METRIC_FORMAT_COUNTER32 1
#define ARM_METRIC_FORMAT_COUNTER64 2
#define ARM_METRIC_FORMAT_CNTRDIVR32 3
#define ARM_METRIC_FORMAT_GAUGE32 4
#define ARM_METRIC_FORMAT_GAUGE64 5
#define ARM_METRIC_FORMAT_GAUGEDIVR32 6
#define ARM_METRIC_FORMAT_NUMERICID32 7
#define ARM_METRIC_FORMAT_NUMERICID64 8
/* 9 was withdrawn. */
#define ARM_METRIC_FORMAT_STRING32 10
#define ARM_METRIC_USE_GENERAL 0
#define ARM_METRIC_USE_TRAN_SIZE 1
#define ARM_METRIC_USE_TRAN_STATUS 2
#define ARM_METRIC_MIN_ARRAY_INDEX 0
/* STRING32 goes into the last slot, everything else into those before it. */
#define ARM_METRIC_MAX_ARRAY_INDEX 6
#define ARM_METRIC_MAX_COUNT 7

/* Texts: most characters, and the octets that they need in any character set, NUL included. */
#define ARM_NAME_MAX_CHARS 127
#define ARM_NAME_MAX_LENGTH (ARM_NAME_MAX_CHARS * 3 + 1)
#define ARM_METRIC_STRING32_MAX_CHARS 31
#define ARM_METRIC_STRING32_MAX_LENGTH (ARM_METRIC_STRING32_MAX_CHARS * 3 + 1)
#define ARM_DIAG_DETAIL_MAX_CHARS 4095
#define ARM_DIAG_DETAIL_MAX_LENGTH (ARM_DIAG_DETAIL_MAX_CHARS * 3 + 1)
#define ARM_MSG_BUFFER_CHARS 255
#define ARM_MSG_BUFFER_LENGTH (ARM_MSG_BUFFER_CHARS * 3 + 1)
#define ARM_PROPERTY_NAME_MAX_CHARS 127
#define ARM_PROPERTY_NAME_MAX_LENGTH (ARM_PROPERTY_NAME_MAX_CHARS * 3 + 1)
#define ARM_PROPERTY_VALUE_MAX_CHARS 255
#define ARM_PROPERTY_VALUE_MAX_LENGTH (ARM_PROPERTY_VALUE_MAX_CHARS * 3 + 1)
#define ARM_PROPERTY_URI_MAX_CHARS 4095
#define ARM_PROPERTY_URI_MAX_LENGTH (ARM_PROPERTY_URI_MAX_CHARS * 3 + 1)
#define ARM_PROPERTY_MIN_ARRAY_INDEX 0
#define ARM_PROPERTY_MAX_ARRAY_INDEX 19
#define ARM_PROPERTY_MAX_COUNT 20

/* System addresses. */
#define ARM_SYSADDR_FORMAT_RESERVED 0
#define ARM_SYSADDR_FORMAT_IPV4 1
#define ARM_SYSADDR_FORMAT_IPV4PORT 2
#define ARM_SYSADDR_FORMAT_IPV6 3
#define ARM_SYSADDR_FORMAT_IPV6PORT 4
#define ARM_SYSADDR_FORMAT_SNA 5
#define ARM_SYSADDR_FORMAT_X25 6
#define ARM_SYSADDR_FORMAT_HOSTNAME 7
#define ARM_SYSADDR_FORMAT_UUID 8

/* Character sets. Every implementation has the first two. */
#define ARM_CHARSET_ASCII 3
#define ARM_CHARSET_UTF8 106
#define ARM_CHARSET_UTF16BE 1013
#define ARM_CHARSET_UTF16LE 1014
#define ARM_CHARSET_UTF16 1015
#define ARM_CHARSET_IBM037 2028
#define ARM_CHARSET_IBM1047 2102

typedef arm_char_t arm_message_buffer_t[ARM_MSG_BUFFER_LENGTH];

/* ---- Structures ---- */

/* 16 octets that name an application, a transaction class, a metric, a user. */
typedef struct arm_id {
  union {
    arm_uint8_t uint8[16];
    arm_uint32_t uint32[4];
    arm_uint64_t uint64[2];
  } id_u;
} arm_id_t;

/* The token that travels with a message. Octets 0 and 1 are its length, most significant first;
 * the rest is the implementation's. */
typedef struct arm_correlator {
  arm_uint8_t opaque[ARM_CORR_MAX_LENGTH];
} arm_correlator_t;

typedef struct arm_property {
  const arm_char_t *name;
  const arm_char_t *value;
} arm_property_t;

typedef struct arm_metric_cntrdivr32 {
  arm_metric_counter32_t counter;
  arm_metric_divisor32_t divisor;
} arm_metric_cntrdivr32_t;

typedef struct arm_metric_gaugedivr32 {
  arm_metric_gauge32_t gauge;
  arm_metric_divisor32_t divisor;
} arm_metric_gaugedivr32_t;

typedef struct arm_metric {
  arm_metric_slot_t slot;
  arm_metric_format_t format;
  arm_metric_usage_t usage;
  arm_boolean_t valid;
  union {
    arm_metric_counter32_t counter32;
    arm_metric_counter64_t counter64;
    arm_metric_cntrdivr32_t counterdivisor32;
    arm_metric_gauge32_t gauge32;
    arm_metric_gauge64_t gauge64;
    arm_metric_gaugedivr32_t gaugedivisor32;
    arm_metric_numericID32_t numericid32;
    arm_metric_numericID64_t numericid64;
    arm_metric_string32_t string32;
  } metric_u;
} arm_metric_t;

typedef struct arm_metric_binding {
  arm_metric_slot_t slot;
  arm_id_t id;
} arm_metric_binding_t;

/* Where every sub-buffer begins. */
typedef struct arm_subbuffer {
  arm_subbuffer_format_t format;
} arm_subbuffer_t;

/* What more there is to say in a call. Entries may be NULL; of two of a format the first counts. */
typedef struct arm_buffer4 {
  arm_int32_t count;
  arm_subbuffer_t **subbuffer_array;
} arm_buffer4_t;

typedef struct arm_subbuffer_charset {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_CHARSET */
  arm_charset_t charset;
  arm_int32_t flags;
} arm_subbuffer_charset_t;

typedef struct arm_subbuffer_app_identity {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_APP_IDENTITY */
  arm_int32_t identity_property_count;
  const arm_property_t *identity_property_array;
  arm_int32_t context_name_count;
  const arm_char_t **context_name_array;
} arm_subbuffer_app_identity_t;

typedef struct arm_subbuffer_app_context {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_APP_CONTEXT */
  arm_int32_t context_value_count;
  const arm_char_t **context_value_array;
} arm_subbuffer_app_context_t;

typedef struct arm_subbuffer_tran_identity {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_TRAN_IDENTITY */
  arm_int32_t identity_property_count;
  const arm_property_t *identity_property_array;
  arm_int32_t context_name_count;
  const arm_char_t **context_name_array;
  const arm_char_t *uri;
} arm_subbuffer_tran_identity_t;

typedef struct arm_subbuffer_tran_context {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_TRAN_CONTEXT */
  arm_int32_t context_value_count;
  const arm_char_t **context_value_array;
  const arm_char_t *uri;
} arm_subbuffer_tran_context_t;

typedef struct arm_subbuffer_arrival_time {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_ARRIVAL_TIME */
  arm_arrival_time_t opaque_time;
} arm_subbuffer_arrival_time_t;

typedef struct arm_subbuffer_metric_bindings {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_METRIC_BINDINGS */
  arm_int32_t count;
  const arm_metric_binding_t *metric_binding_array;
} arm_subbuffer_metric_bindings_t;

typedef struct arm_subbuffer_metric_values {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_METRIC_VALUES */
  arm_int32_t count;
  const arm_metric_t *metric_value_array;
} arm_subbuffer_metric_values_t;

typedef struct arm_subbuffer_user {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_USER */
  const arm_char_t *name;
  arm_boolean_t id_valid;
  arm_id_t id;
} arm_subbuffer_user_t;

typedef struct arm_subbuffer_system_address {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_SYSTEM_ADDRESS */
  arm_int16_t address_format; /* ARM_SYSADDR_FORMAT_... */
  arm_int16_t address_length;
  const arm_uint8_t *address;
  arm_boolean_t id_valid;
  arm_id_t id;
} arm_subbuffer_system_address_t;

typedef struct arm_subbuffer_diag_detail {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_DIAG_DETAIL */
  const arm_char_t *diag_detail;
} arm_subbuffer_diag_detail_t;

/* The layouts that programs and libraries built elsewhere rely on. */
#if defined(__LP64__)
ARM4_ASSERT(arm_id_t, sizeof(arm_id_t) == 16);
ARM4_ASSERT(arm_correlator_t, sizeof(arm_correlator_t) == 512);
ARM4_ASSERT(arm_property_t, sizeof(arm_property_t) == 16);
ARM4_ASSERT(arm_metric_t, sizeof(arm_metric_t) == 16 && offsetof(arm_metric_t, metric_u) == 8);
ARM4_ASSERT(arm_metric_binding_t, sizeof(arm_metric_binding_t) == 24);
ARM4_ASSERT(arm_subbuffer_t, sizeof(arm_subbuffer_t) == 4);
ARM4_ASSERT(arm_buffer4_t, sizeof(arm_buffer4_t) == 16);
ARM4_ASSERT(arm_subbuffer_charset_t, sizeof(arm_subbuffer_charset_t) == 12);
ARM4_ASSERT(arm_subbuffer_app_identity_t, sizeof(arm_subbuffer_app_identity_t) == 32);
ARM4_ASSERT(arm_subbuffer_app_context_t, sizeof(arm_subbuffer_app_context_t) == 16);
ARM4_ASSERT(arm_subbuffer_tran_identity_t, sizeof(arm_subbuffer_tran_identity_t) == 40);
ARM4_ASSERT(arm_subbuffer_tran_context_t, sizeof(arm_subbuffer_tran_context_t) == 24);
ARM4_ASSERT(arm_subbuffer_arrival_time_t, sizeof(arm_subbuffer_arrival_time_t) == 16);
ARM4_ASSERT(arm_subbuffer_metric_bindings_t, sizeof(arm_subbuffer_metric_bindings_t) == 16);
ARM4_ASSERT(arm_subbuffer_metric_values_t, sizeof(arm_subbuffer_metric_values_t) == 16);
ARM4_ASSERT(arm_subbuffer_user_t, sizeof(arm_subbuffer_user_t) == 40 &&
                                      offsetof(arm_subbuffer_user_t, id) == 24);
ARM4_ASSERT(arm_subbuffer_system_address_t, sizeof(arm_subbuffer_system_address_t) == 40 &&
                                                offsetof(arm_subbuffer_system_address_t, address) == 8);
ARM4_ASSERT(arm_subbuffer_diag_detail_t, sizeof(arm_subbuffer_diag_detail_t) == 16);
ARM4_ASSERT(arm_message_buffer_t, sizeof(arm_message_buffer_t) == 766);
#endif

/* ---- Functions ----
 *
 * Output arguments may be NULL where the result is not wanted, except ids and handles without
 * which nothing can follow.
 */

/* Names an application. With input_app_id the application has that id, else one that is made from
 * the name; the same name and properties give the same id again. */
ARM4_API_DYNAMIC(arm_error_t)
arm_register_application(const arm_char_t *app_name, const arm_id_t *input_app_id,
                         const arm_int32_t flags, const arm_buffer4_t *buffer4,
                         arm_id_t *output_app_id);

/* The program no longer uses what it registered under the application; ends its running
 * instances. Transactions that are open are recorded all the same. */
ARM4_API_DYNAMIC(arm_error_t)
arm_destroy_application(const arm_id_t *app_id, const arm_int32_t flags,
                        const arm_buffer4_t *buffer4);

/* Names a transaction class of an application. */
ARM4_API_DYNAMIC(arm_error_t)
arm_register_transaction(const arm_id_t *app_id, const arm_char_t *tran_name,
                         const arm_id_t *input_tran_id, const arm_int32_t flags,
                         const arm_buffer4_t *buffer4, arm_id_t *output_tran_id);

/* Names a metric, which transactions bind to a slot (arm_subbuffer_metric_bindings_t). */
ARM4_API_DYNAMIC(arm_error_t)
arm_register_metric(const arm_id_t *app_id, const arm_char_t *metric_name,
                    const arm_metric_format_t metric_format, const arm_metric_usage_t metric_usage,
                    const arm_char_t *metric_unit, const arm_id_t *input_metric_id,
                    const arm_int32_t flags, const arm_buffer4_t *buffer4,
                    arm_id_t *output_metric_id);

/* A running instance of the application; group and instance name may be NULL. */
ARM4_API_DYNAMIC(arm_error_t)
arm_start_application(const arm_id_t *app_id, const arm_char_t *app_group,
                      const arm_char_t *app_instance, const arm_int32_t flags,
                      const arm_buffer4_t *buffer4, arm_app_start_handle_t *app_handle);

ARM4_API_DYNAMIC(arm_error_t)
arm_stop_application(const arm_app_start_handle_t app_handle, const arm_int32_t flags,
                     const arm_buffer4_t *buffer4);

/* Starts a transaction, under the one that issued parent_correlator, else as the root of a chain.
 * current_correlator, if not NULL, has room for 512 octets and receives its correlator. */
ARM4_API_DYNAMIC(arm_error_t)
arm_start_transaction(const arm_app_start_handle_t app_handle, const arm_id_t *tran_id,
                      const arm_correlator_t *parent_correlator, const arm_int32_t flags,
                      const arm_buffer4_t *buffer4, arm_tran_start_handle_t *tran_handle,
                      arm_correlator_t *current_correlator);

/* Stops it, on any thread; what is still blocked or bound is so no longer. */
ARM4_API_DYNAMIC(arm_error_t)
arm_stop_transaction(const arm_tran_start_handle_t tran_handle, const arm_tran_status_t tran_status,
                     const arm_int32_t flags, const arm_buffer4_t *buffer4);

/* Still running; new values of its metrics. */
ARM4_API_DYNAMIC(arm_error_t)
arm_update_transaction(const arm_tran_start_handle_t tran_handle, const arm_int32_t flags,
                       const arm_buffer4_t *buffer4);

/* As if it had never been started. */
ARM4_API_DYNAMIC(arm_error_t)
arm_discard_transaction(const arm_tran_start_handle_t tran_handle, const arm_int32_t flags,
                        const arm_buffer4_t *buffer4);

/* It waits for something from here until arm_unblock_transaction(). Several may be open. */
ARM4_API_DYNAMIC(arm_error_t)
arm_block_transaction(const arm_tran_start_handle_t tran_handle, const arm_int32_t flags,
                      const arm_buffer4_t *buffer4, arm_tran_block_handle_t *block_handle);

ARM4_API_DYNAMIC(arm_error_t)
arm_unblock_transaction(const arm_tran_start_handle_t tran_handle,
                        const arm_tran_block_handle_t block_handle, const arm_int32_t flags,
                        const arm_buffer4_t *buffer4);

/* The calling thread works for the transaction: its CPU time counts as the transaction's. Any
 * number of threads may be bound to one. */
ARM4_API_DYNAMIC(arm_error_t)
arm_bind_thread(const arm_tran_start_handle_t tran_handle, const arm_int32_t flags,
                const arm_buffer4_t *buffer4);

ARM4_API_DYNAMIC(arm_error_t)
arm_unbind_thread(const arm_tran_start_handle_t tran_handle, const arm_int32_t flags,
                  const arm_buffer4_t *buffer4);

/* A transaction that is over: it took response_time nanoseconds and stopped at stop_time. Times
 * that cannot be are refused (CHRONOSCOPE_ARM_TIME): nothing is recorded.
 * current_correlator, if not NULL, is one from arm_generate_correlator(). */
ARM4_API_DYNAMIC(arm_error_t)
arm_report_transaction(const arm_app_start_handle_t app_handle, const arm_id_t *tran_id,
                       const arm_tran_status_t tran_status, const arm_response_time_t response_time,
                       const arm_stop_time_t stop_time, const arm_correlator_t *parent_correlator,
                       const arm_correlator_t *current_correlator, const arm_int32_t flags,
                       const arm_buffer4_t *buffer4);

/* A correlator for a transaction that arm_report_transaction() will tell of. */
ARM4_API_DYNAMIC(arm_error_t)
arm_generate_correlator(const arm_app_start_handle_t app_handle, const arm_id_t *tran_id,
                        const arm_correlator_t *parent_correlator, const arm_int32_t flags,
                        const arm_buffer4_t *buffer4, arm_correlator_t *current_correlator);

/* The length of a correlator; 0 when it is none. */
ARM4_API_DYNAMIC(arm_error_t)
arm_get_correlator_length(const arm_correlator_t *correlator, arm_correlator_length_t *length);

/* Whether one of a correlator's flags, ARM_CORR_FLAGNUM_..., is set. */
ARM4_API_DYNAMIC(arm_error_t)
arm_get_correlator_flags(const arm_correlator_t *correlator, const arm_int32_t corr_flag_num,
                         arm_boolean_t *flag);

/* Now, for arm_subbuffer_arrival_time_t. */
ARM4_API_DYNAMIC(arm_error_t)
arm_get_arrival_time(arm_arrival_time_t *opaque_time);

/* What a code means, in a character set; an empty message and a code below 0 when it is none. */
ARM4_API_DYNAMIC(arm_error_t)
arm_get_error_message(const arm_charset_t charset, const arm_error_t code,
                      arm_message_buffer_t msg);

/* Whether texts may be given in a character set (arm_subbuffer_charset_t). */
ARM4_API_DYNAMIC(arm_error_t)
arm_is_charset_supported(const arm_charset_t charset, arm_boolean_t *supported);

#ifdef __cplusplus
}
#endif

#endif
