/* Transaction classes made from words met at run time: SQL texts, request kinds, functions.
 *
 * A set belongs to one ARM application and is bounded. When it is full, further words share one
 * class per first word ("SELECT (other)"), so that a program which makes up a new SQL text for
 * every statement cannot fill the recorder. Looking up takes no lock, and neither does adding:
 * it may run in a child of fork and in many threads.
 */
#ifndef CHRONOSCOPE_INSTRUMENT_CLASSES_H
#define CHRONOSCOPE_INSTRUMENT_CLASSES_H

#include <arm4.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    CLASSES_NAME_BYTES = 127,  /* of a class's name, without the NUL: ARM_NAME_MAX_CHARS */
    CLASSES_METRICS_MAX = 6,   /* slots 0..5 */
    CLASSES_CONTEXT_MAX = 4,   /* context values of a transaction */
    CLASSES_SLOTS = 4096,      /* of the table; a power of two, at least twice `max` */
    CLASSES_MAX = 1024         /* classes of one set at most */
};

/* Properties of a set; the strings have to live as long as the set. */
typedef struct {
    const char *application;                      /* ARM's application name */
    const char *context_names[CLASSES_CONTEXT_MAX]; /* names of the context values, then NULL */
    const char *metrics[CLASSES_METRICS_MAX];     /* names of the metrics, then NULL */
    int max;                                      /* classes, "other" ones not counted */
} classes_options;

/* One class. */
typedef struct {
    arm_id_t id;
    char name[CLASSES_NAME_BYTES + 1];
} class_entry;

typedef struct classes classes;

/* Registers and starts the application. NULL when there is no memory or ARM refuses; then
 * nothing is measured. Never freed: transactions may end until the process does. */
classes *classes_new(const classes_options *options, const char *group, const char *instance);

/* The handle of the application that is running. */
arm_app_start_handle_t classes_application(const classes *set);

/* The class called `name` (`size` bytes, cut and marked with a hash past CLASSES_NAME_BYTES).
 * NULL when neither it nor the class for others could be registered. */
const class_entry *classes_get(classes *set, const char *name, size_t size);

/* Names that found the set full, since it was made. */
unsigned long classes_overflow(const classes *set);

/* Values of a transaction, to be handed to ARM. */
typedef struct {
    int count;
    arm_metric_t metrics[CLASSES_METRICS_MAX];
} metric_values;

/* Adds the value of the set's metric number `slot`. */
void metric_values_add(metric_values *values, int slot, arm_int64_t value);

/* Starts a transaction. `context` has as many values as the set has names (NULL entries are
 * empty); `arrival` is NULL or when the request arrived; `parent` and `current` may be NULL.
 * 0 in `*handle` when it could not be started. */
void classes_start(const classes *set, const class_entry *class, const arm_correlator_t *parent,
                   const char *const *context, const arm_arrival_time_t *arrival,
                   arm_tran_start_handle_t *handle, arm_correlator_t *current);

/* Stops it. `diagnosis` is NULL or the reason of a failure. A zero handle is ignored. */
void classes_stop(arm_tran_start_handle_t handle, arm_tran_status_t status,
                  const metric_values *values, const char *diagnosis);

#endif
