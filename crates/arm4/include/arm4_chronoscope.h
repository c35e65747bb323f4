/*
 * arm4_chronoscope.h: what is particular to Chronoscope's ARM library. Includes arm41.h.
 */
#ifndef ARM4_CHRONOSCOPE_H_INCLUDED
#define ARM4_CHRONOSCOPE_H_INCLUDED

#include "arm41.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes ----
 *
 * What was bad about a call. Unless it says otherwise the call has done all that it could without
 * the bad argument: a transaction that is started with a bad sub-buffer is started, and has to be
 * stopped. The library's own numbers; some are those that another implementation has published.
 */

/* A name is NULL or empty: nothing is registered, the id is all zeros. */
#define CHRONOSCOPE_ARM_APP_NAME (-1001)
#define CHRONOSCOPE_ARM_TRAN_NAME (-1004)
#define CHRONOSCOPE_ARM_METRIC_NAME (-1101)
/* The pointer for the result is NULL. A transaction without a handle is not started. */
#define CHRONOSCOPE_ARM_HANDLE_OUT (-1011)
#define CHRONOSCOPE_ARM_CORRELATOR_OUT (-1012)
/* Flags that the call does not know: ignored. */
#define CHRONOSCOPE_ARM_FLAGS (-1013)
/* Not one of the four statuses: taken as ARM_STATUS_UNKNOWN. */
#define CHRONOSCOPE_ARM_STATUS (-1014)
/* Not an id or handle of this library, or of something that is over: nothing is done. */
#define CHRONOSCOPE_ARM_APP_ID (-1016)
#define CHRONOSCOPE_ARM_APP_HANDLE (-1017)
#define CHRONOSCOPE_ARM_TRAN_ID (-1018)
#define CHRONOSCOPE_ARM_TRAN_HANDLE (-1019)
#define CHRONOSCOPE_ARM_BLOCK_HANDLE (-1020)
/* A table of the library is full: nothing is registered or started. */
#define CHRONOSCOPE_ARM_FULL (-1032)
/* A character set that the library lacks: texts are taken as UTF-8. */
#define CHRONOSCOPE_ARM_CHARSET (-1035)
/* A pointer that the call cannot do without is NULL: nothing is done. */
#define CHRONOSCOPE_ARM_NULL (-1042)
#define CHRONOSCOPE_ARM_FLAG_NUMBER (-1043)
/* A sub-buffer is unknown, does not belong to the call, or contradicts itself: ignored. */
#define CHRONOSCOPE_ARM_SUBBUFFER (-1058)
/* A metric's format or usage is unknown: it is not registered. */
#define CHRONOSCOPE_ARM_METRIC_FORMAT (-1102)
#define CHRONOSCOPE_ARM_METRIC_USAGE (-1103)
/* An input id of all zeros or ones, or one that names something else already: the library makes
 * one of its own. */
#define CHRONOSCOPE_ARM_INPUT_ID (-1104)
/* Octets that are no correlator: taken as none. */
#define CHRONOSCOPE_ARM_CORRELATOR (-1105)
/* A time that cannot be. A report with a response time below 0, a start before 1970 or a stop more
 * than ten minutes ahead is refused; an arrival time that is none or lies ahead is ignored. */
#define CHRONOSCOPE_ARM_TIME (-1106)
/* A text is longer than the binding allows: cut there. */
#define CHRONOSCOPE_ARM_TEXT (-1107)
/* The thread is not bound to the transaction. */
#define CHRONOSCOPE_ARM_NOT_BOUND (-1108)
/* Another thread was at the same transaction for longer than a call may wait: nothing is done. */
#define CHRONOSCOPE_ARM_BUSY (-1109)
/* The thread works for no transaction. */
#define CHRONOSCOPE_ARM_NO_CURRENT (-1110)
/* Not a W3C traceparent, or a chain that cannot be written as one. */
#define CHRONOSCOPE_ARM_TRACEPARENT (-1111)
/* Not one of CHRONOSCOPE_CONTROL_... */
#define CHRONOSCOPE_ARM_CONTROL (-1112)
/* A mistake of the library's own; it has said on stderr what. */
#define CHRONOSCOPE_ARM_INTERNAL (-1113)
/* Not one of these codes: it has no message. */
#define CHRONOSCOPE_ARM_CODE (-1114)

/* ---- Correlators ---- */

/* A correlator from a W3C trace context header, as HTTP requests carry it
 * ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"). */
ARM4_API_DYNAMIC(int)
chronoscope_correlator_from_traceparent(const char *traceparent, arm_correlator_t *correlator);

/* The header for a correlator: 55 characters and NUL. */
ARM4_API_DYNAMIC(int)
chronoscope_correlator_to_traceparent(const arm_correlator_t *correlator, char traceparent[56]);

/* The correlator of the transaction that the calling thread works for: the one it is bound to, or
 * the innermost that it has begun with chronoscope_begin(). Libraries that measure on behalf of a
 * program ask for their parent here. */
ARM4_API_DYNAMIC(arm_error_t) chronoscope_current_correlator(arm_correlator_t *correlator);

/* The correlator of an open transaction: what arm_start_transaction() would have given. */
ARM4_API_DYNAMIC(arm_error_t)
chronoscope_transaction_correlator(const arm_tran_start_handle_t tran_handle,
                                   arm_correlator_t *correlator);

/* ---- Control ----
 *
 * What is recorded, of an application, a class or one transaction. What any of the three switches
 * off is off, and costs a load and a branch. From outside: the environment variable
 * CHRONOSCOPE_ARM_OFF (docs/arm4.md), and "chronoscope live --disable" for whole classes.
 */
#define CHRONOSCOPE_CONTROL_BIND_THREAD 0
#define CHRONOSCOPE_CONTROL_BLOCK 1
#define CHRONOSCOPE_CONTROL_DIAGNOSTIC 2
#define CHRONOSCOPE_CONTROL_MESSAGE_EVENT 3
#define CHRONOSCOPE_CONTROL_METRIC 4
#define CHRONOSCOPE_CONTROL_USER 5
/* The transactions themselves. */
#define CHRONOSCOPE_CONTROL_TRANSACTION 6

/* Of an application or a class, by its id. */
ARM4_API_DYNAMIC(arm_error_t)
chronoscope_control(const arm_id_t *id, const arm_int32_t what, const arm_boolean_t on);
/* Of an open transaction, from here on. */
ARM4_API_DYNAMIC(arm_error_t)
chronoscope_control_transaction(const arm_tran_start_handle_t tran_handle, const arm_int32_t what,
                                const arm_boolean_t on);

/* ---- Nested transactions of one thread ----
 *
 * The quick way for instrumentation that begins and ends on one thread, inside out: no handles, no
 * correlators, no registration but a class; the application is the process's.
 */

typedef struct chronoscope_class chronoscope_class_t;
typedef struct chronoscope_token {
  arm_uint64_t id;
  arm_uint32_t index;
} chronoscope_token_t;

/* A class by its name (UTF-8), for good; NULL when it is none. */
ARM4_API_DYNAMIC(const chronoscope_class_t *) chronoscope_class(const char *name);
/* Begins a transaction under the thread's current one, else as a root; class is not NULL. */
ARM4_API_DYNAMIC(chronoscope_token_t) chronoscope_begin(const chronoscope_class_t *class_);
ARM4_API_DYNAMIC(void) chronoscope_end(chronoscope_token_t token, arm_int32_t status);

#if defined(__LP64__)
ARM4_ASSERT(chronoscope_token_t, sizeof(chronoscope_token_t) == 16);
#endif

#ifdef __cplusplus
}
#endif

#endif
