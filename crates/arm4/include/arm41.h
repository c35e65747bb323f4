/*
 * arm41.h: what version 4.1 of Application Response Measurement added to the C binding.
 *
 * Includes arm4.h. The text of version 4.1 is not freely available: what is marked NOT VERIFIED
 * here is a guess from how the pages of an implementation's manual are ordered, and may differ
 * from what other implementations have. A program that uses it is tied to this header.
 */
#ifndef ARM41_H_INCLUDED
#define ARM41_H_INCLUDED

#include "arm4.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Correlator flags ---- */

/* The transaction that issued the correlator does not wait for those that receive it. */
#define ARM_CORR_FLAGNUM_ASYNCH 3
/* The status of those that receive it does not touch that of the one that issued it. */
#define ARM_CORR_FLAGNUM_INDEPENDENT 4

/* Where the flags are in octet 3 of Chronoscope's correlators. NOT VERIFIED: implementations
 * choose; ask through arm_get_correlator_flags(). */
#define CHRONOSCOPE_CORR_FLAG_BIT(flag_num) \
  ((flag_num) == ARM_CORR_FLAGNUM_APP_TRACE     ? 0x20 \
   : (flag_num) == ARM_CORR_FLAGNUM_AGENT_TRACE ? 0x40 \
   : (flag_num) == ARM_CORR_FLAGNUM_ASYNCH      ? 0x10 \
   : (flag_num) == ARM_CORR_FLAGNUM_INDEPENDENT ? 0x08 \
                                                : 0x00)

/* Sets (or clears) a flag in a correlator: ARM_SET_CORRELATOR_FLAG(&corr, flag, ARM_TRUE). The
 * name is the binding's; that the correlator is given by its address is NOT VERIFIED. */
#define ARM_SET_CORRELATOR_FLAG(corr, flag_num, boolean_value) \
  ((corr)->opaque[3] = \
       (arm_uint8_t)((boolean_value) ? (corr)->opaque[3] | CHRONOSCOPE_CORR_FLAG_BIT(flag_num) \
                                     : (corr)->opaque[3] & ~CHRONOSCOPE_CORR_FLAG_BIT(flag_num)))

/* ---- Constants ---- */

#define ARM_SUBBUFFER_BLOCK_CAUSE 8
#define ARM_SUBBUFFER_MESSAGE_RCVD_EVENT 9
#define ARM_SUBBUFFER_MESSAGE_SENT_EVENT 10
#define ARM_SUBBUFFER_FORMATTED_ARRIVAL_TIME_USECJAN1970 11
/* NOT VERIFIED: the numbers 12 to 18. */
#define ARM_SUBBUFFER_FORMATTED_ARRIVAL_TIME_STRINGS 12
#define ARM_SUBBUFFER_PREP_TIME 13
#define ARM_SUBBUFFER_PREP_STATS 14
#define ARM_SUBBUFFER_DIAG_PROPERTIES 15
#define ARM_SUBBUFFER_APP_CONTROL 16
#define ARM_SUBBUFFER_TRAN_ID_CONTROL 17
#define ARM_SUBBUFFER_TRAN_INSTANCE_CONTROL 18

#define ARM_MESSAGE_SENT_EVENT_MAX_COUNT 32
#define ARM_MESSAGE_RCVD_EVENT_MAX_COUNT 32
#define ARM_DIAG_PROPERTY_MAX_CHARS 2048
#define ARM_DIAG_PROPERTIES_MAX_CHARS 4096
#define ARM_EVENT_DESCRIPTION_MAX_CHARS 128

#define ARM_BLOCK_CAUSE_SYNCHRONOUS_EVENT 1
#define ARM_BLOCK_CAUSE_ASYNCHRONOUS_EVENT 2

/* How many fields of control there are. The names may be one implementation's own. */
#define ARM41_APP_CONTROL_COUNT 12
/* NOT VERIFIED: with the fields that are known there would be one less. */
#define ARM41_TRAN_ID_CONTROL_COUNT 9
#define ARM41_TRAN_INSTANCE_CONTROL_COUNT 10

/* How deep a program should be instrumented; further values are not known here. */
#define ARM_COLLECTION_DEPTH_NONE 0
#define ARM_COLLECTION_DEPTH_PROCESS 1
#define ARM_COLLECTION_DEPTH_CONTAINER 2

/* ---- Structures ---- */

/* NOT VERIFIED: its width. */
typedef arm_int32_t arm_block_cause_t;

typedef struct arm_subbuffer_block_cause {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_BLOCK_CAUSE */
  arm_block_cause_t cause; /* ARM_BLOCK_CAUSE_... */
  arm_int32_t extended_cause;
  const arm_char_t *description;
} arm_subbuffer_block_cause_t;

typedef struct arm_message_rcvd_event {
  const arm_correlator_t *received_correlator;
  const arm_char_t *description;
} arm_message_rcvd_event_t;

/* NOT VERIFIED: its fields, taken to be as those of a message received. */
typedef struct arm_message_sent_event {
  const arm_correlator_t *sent_correlator;
  const arm_char_t *description;
} arm_message_sent_event_t;

typedef struct arm_subbuffer_message_rcvd_event {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_MESSAGE_RCVD_EVENT */
  arm_boolean_t end_of_flow;
  arm_int32_t event_count;
  const arm_message_rcvd_event_t *message_event_array;
} arm_subbuffer_message_rcvd_event_t;

typedef struct arm_subbuffer_message_sent_event {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_MESSAGE_SENT_EVENT */
  arm_boolean_t end_of_flow;
  arm_int32_t event_count;
  const arm_message_sent_event_t *message_event_array;
} arm_subbuffer_message_sent_event_t;

typedef struct arm_subbuffer_formatted_arrival_time_usecJan1970 {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_FORMATTED_ARRIVAL_TIME_USECJAN1970 */
  arm_int64_t usecJan1970; /* microseconds since 1970, UTC */
} arm_subbuffer_formatted_arrival_time_usecJan1970_t;

/* "20260131", "23595999" (to hundredths of a second), "9999" (last digit of the milliseconds,
 * then microseconds). NOT VERIFIED: that they are UTC. */
typedef struct arm_subbuffer_formatted_arrival_time_strings {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_FORMATTED_ARRIVAL_TIME_STRINGS */
  const arm_char_t *yyyymmdd;
  const arm_char_t *hhmmssth;
  const arm_char_t *muuu;
} arm_subbuffer_formatted_arrival_time_strings_t;

/* Time spent on the request before the start of the transaction. */
typedef struct arm_subbuffer_prep_time {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_PREP_TIME */
  arm_int64_t prep_time_nanosec;
} arm_subbuffer_prep_time_t;

typedef struct arm_subbuffer_prep_stats {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_PREP_STATS */
  arm_int64_t prep_time_mean_nanosec;
  arm_int64_t prep_time_std_dev_nanosec;
  arm_int32_t prep_time_mean_count;
  arm_int32_t prep_time_mean_interval_millisec;
} arm_subbuffer_prep_stats_t;

typedef struct arm_subbuffer_diag_properties {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_DIAG_PROPERTIES */
  arm_int32_t tran_property_count;
  const arm_property_t *tran_property_array;
} arm_subbuffer_diag_properties_t;

/* What of an application is wanted. The program says how many fields of control it knows
 * (control_count_app); the library fills in as many, and says how many it has filled in
 * (control_count_arm). NOT VERIFIED: that the fields are the library's to fill in. */
typedef struct arm_subbuffer_app_control {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_APP_CONTROL */
  arm_int32_t control_count_app;
  arm_int32_t control_count_arm;
  arm_boolean_t app_control_used;
  arm_boolean_t tran_id_control_used;
  arm_boolean_t tran_instance_control_used;
  arm_int32_t collection_depth; /* ARM_COLLECTION_DEPTH_... */
  arm_boolean_t show_private;
  arm_boolean_t show_secure;
  arm_boolean_t use_bind_thread;
  arm_boolean_t use_block;
  arm_boolean_t use_diagnostic;
  arm_boolean_t use_message_event;
  arm_boolean_t use_metric;
  arm_boolean_t use_user;
} arm_subbuffer_app_control_t;

/* As above, for a transaction class. NOT VERIFIED: a ninth field is missing. */
typedef struct arm_subbuffer_tran_id_control {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_TRAN_ID_CONTROL */
  arm_int32_t control_count_app;
  arm_int32_t control_count_arm;
  arm_boolean_t control_used;
  const arm_id_t *tran_id;
  arm_boolean_t use_bind_thread;
  arm_boolean_t use_block;
  arm_boolean_t use_diagnostic;
  arm_boolean_t use_message_event;
  arm_boolean_t use_metric;
  arm_boolean_t use_user;
} arm_subbuffer_tran_id_control_t;

/* NOT VERIFIED: only the fields that the others begin with; the rest is not known. Instances are
 * controlled by chronoscope_control_transaction() (arm4_chronoscope.h). */
typedef struct arm_subbuffer_tran_instance_control {
  arm_subbuffer_t header; /* ARM_SUBBUFFER_TRAN_INSTANCE_CONTROL */
  arm_int32_t control_count_app;
  arm_int32_t control_count_arm;
  arm_boolean_t control_used;
} arm_subbuffer_tran_instance_control_t;

#if defined(__LP64__)
ARM4_ASSERT(arm_subbuffer_block_cause_t, sizeof(arm_subbuffer_block_cause_t) == 24);
ARM4_ASSERT(arm_message_rcvd_event_t, sizeof(arm_message_rcvd_event_t) == 16);
ARM4_ASSERT(arm_subbuffer_message_rcvd_event_t, sizeof(arm_subbuffer_message_rcvd_event_t) == 24);
ARM4_ASSERT(arm_subbuffer_message_sent_event_t, sizeof(arm_subbuffer_message_sent_event_t) == 24);
ARM4_ASSERT(arm_subbuffer_formatted_arrival_time_usecJan1970_t,
            sizeof(arm_subbuffer_formatted_arrival_time_usecJan1970_t) == 16);
ARM4_ASSERT(arm_subbuffer_formatted_arrival_time_strings_t,
            sizeof(arm_subbuffer_formatted_arrival_time_strings_t) == 32);
ARM4_ASSERT(arm_subbuffer_prep_time_t, sizeof(arm_subbuffer_prep_time_t) == 16);
ARM4_ASSERT(arm_subbuffer_prep_stats_t, sizeof(arm_subbuffer_prep_stats_t) == 32);
ARM4_ASSERT(arm_subbuffer_diag_properties_t, sizeof(arm_subbuffer_diag_properties_t) == 16);
ARM4_ASSERT(arm_subbuffer_app_control_t, sizeof(arm_subbuffer_app_control_t) == 60);
ARM4_ASSERT(arm_subbuffer_tran_id_control_t, sizeof(arm_subbuffer_tran_id_control_t) == 48);
#endif

#ifdef __cplusplus
}
#endif

#endif
