#include "classes.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct classes {
    classes_options options;
    arm_id_t application;
    arm_app_start_handle_t running;
    arm_metric_binding_t bindings[CLASSES_METRICS_MAX];
    int binding_count;
    int context_count;
    atomic_int registered;
    atomic_ulong overflow;
    _Atomic(class_entry *) slots[CLASSES_SLOTS];
};

static uint64_t hash(const char *bytes, size_t size)
{
    uint64_t value = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t index = 0; index < size; index++) {
        value = (value ^ (unsigned char)bytes[index]) * 0x100000001b3u;
    }
    return value;
}

/* A negative code need not mean that nothing was done; an id or handle of zeros does. */
static bool is_id(const arm_id_t *id)
{
    return id->id_u.uint64[0] != 0 || id->id_u.uint64[1] != 0;
}

/* Metrics that ARM refuses are left out; their slots are then not valid for it either. */
static void register_metrics(classes *set)
{
    for (int slot = 0; slot < CLASSES_METRICS_MAX && set->options.metrics[slot]; slot++) {
        arm_metric_binding_t *binding = &set->bindings[set->binding_count];
        binding->slot = (arm_metric_slot_t)slot;
        arm_register_metric(&set->application, set->options.metrics[slot],
                            ARM_METRIC_FORMAT_GAUGE64, ARM_METRIC_USE_GENERAL, ARM_STRING_NONE,
                            ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE, &binding->id);
        if (is_id(&binding->id)) {
            set->binding_count++;
        }
    }
}

classes *classes_new(const classes_options *options, const char *group, const char *instance)
{
    classes *set = calloc(1, sizeof *set);
    if (!set) {
        return NULL;
    }
    set->options = *options;
    if (set->options.max < 0 || set->options.max > CLASSES_MAX) {
        set->options.max = CLASSES_MAX;
    }
    arm_register_application(options->application, ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE,
                             &set->application);
    arm_start_application(&set->application, group, instance, ARM_FLAG_NONE, ARM_BUF4_NONE,
                          &set->running);
    if (!is_id(&set->application) || set->running == 0) {
        free(set);
        return NULL;
    }
    while (set->context_count < CLASSES_CONTEXT_MAX &&
           set->options.context_names[set->context_count]) {
        set->context_count++;
    }
    register_metrics(set);
    return set;
}

arm_app_start_handle_t classes_application(const classes *set)
{
    return set->running;
}

unsigned long classes_overflow(const classes *set)
{
    return atomic_load_explicit(&set->overflow, memory_order_relaxed);
}

static class_entry *new_entry(classes *set, const char *name)
{
    class_entry *entry = calloc(1, sizeof *entry);
    if (!entry) {
        return NULL;
    }
    snprintf(entry->name, sizeof entry->name, "%s", name);
    arm_subbuffer_tran_identity_t identity = {.header = {ARM_SUBBUFFER_TRAN_IDENTITY}};
    identity.context_name_count = set->context_count;
    identity.context_name_array = (const arm_char_t **)set->options.context_names;
    arm_subbuffer_metric_bindings_t bindings = {.header = {ARM_SUBBUFFER_METRIC_BINDINGS}};
    bindings.count = set->binding_count;
    bindings.metric_binding_array = set->bindings;
    arm_subbuffer_t *array[] = {ARM_SB(identity), ARM_SB(bindings)};
    const arm_buffer4_t buffer = {2, array};
    arm_register_transaction(&set->application, entry->name, ARM_ID_NONE, ARM_FLAG_NONE, &buffer,
                             &entry->id);
    if (!is_id(&entry->id)) {
        free(entry);
        return NULL;
    }
    return entry;
}

/* Finds or adds; `bounded` names count against the set's limit. NULL: full, or refused. */
static class_entry *find(classes *set, const char *name, bool bounded)
{
    const size_t start = hash(name, strlen(name));
    for (size_t probe = 0; probe < CLASSES_SLOTS; probe++) {
        _Atomic(class_entry *) *slot = &set->slots[(start + probe) % CLASSES_SLOTS];
        class_entry *entry = atomic_load_explicit(slot, memory_order_acquire);
        if (!entry) {
            if (bounded && atomic_fetch_add(&set->registered, 1) >= set->options.max) {
                atomic_fetch_sub(&set->registered, 1);
                return NULL;
            }
            class_entry *made = new_entry(set, name);
            if (!made) {
                return NULL;
            }
            if (atomic_compare_exchange_strong(slot, &entry, made)) {
                return made;
            }
            free(made); /* another thread was faster: `entry` is what it put there */
            if (bounded) {
                atomic_fetch_sub(&set->registered, 1);
            }
        }
        if (strcmp(entry->name, name) == 0) {
            return entry;
        }
    }
    return NULL;
}

/* Bytes of the character of UTF-8 that begins `text`; 0 when it is none. */
static size_t character(const unsigned char *text, size_t size)
{
    const size_t length = text[0] < 0x80                       ? 1
                          : text[0] >= 0xc2 && text[0] < 0xe0  ? 2
                          : (text[0] & 0xf0) == 0xe0           ? 3
                          : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                               : 0;
    for (size_t index = 1; index < length; index++) {
        if (index >= size || (text[index] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool refused = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
                         (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f);
    return length <= size && !refused ? length : 0;
}

/* Copies whole characters; what is no UTF-8 or a control character becomes `?`. A name that is
 * too long is cut and marked with a hash of all of it. */
static void fit(char *out, const char *name, size_t size)
{
    const size_t room = size <= CLASSES_NAME_BYTES ? size : CLASSES_NAME_BYTES - 9;
    size_t at = 0;
    while (at < room) {
        const size_t length = character((const unsigned char *)name + at, size - at);
        if (length > 1 && at + length > room) {
            break;
        }
        if (length > 1 || (length == 1 && name[at] >= ' ')) {
            memcpy(out + at, name + at, length);
            at += length;
        } else {
            out[at++] = '?';
        }
    }
    out[at] = '\0';
    if (size > CLASSES_NAME_BYTES) {
        snprintf(out + at, 10, "~%08x", (unsigned)hash(name, size));
    }
}

/* The class that shares what found the set full: by the first word, when it is one of few. */
static class_entry *other(classes *set, const char *name)
{
    static const char *const words[] = {
        "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH",     "CREATE", "DROP",
        "ALTER",  "BEGIN",  "COMMIT", "SET",    "CALL",    "ROLLBACK", "COPY",   "EXECUTE",
        "GET",    "POST",   "PUT",    "HEAD",   "OPTIONS", "PATCH",    "PRAGMA", "VALUES"};
    const size_t length = strcspn(name, " ");
    char shared[32] = "(other)";
    for (size_t index = 0; index < sizeof words / sizeof *words; index++) {
        if (strlen(words[index]) == length && strncmp(words[index], name, length) == 0) {
            snprintf(shared, sizeof shared, "%s (other)", words[index]);
        }
    }
    return find(set, shared, false);
}

const class_entry *classes_get(classes *set, const char *name, size_t size)
{
    char fitted[CLASSES_NAME_BYTES + 1];
    fit(fitted, name, size);
    const class_entry *entry = find(set, fitted, true);
    if (!entry) {
        atomic_fetch_add_explicit(&set->overflow, 1, memory_order_relaxed);
        entry = other(set, fitted);
    }
    return entry;
}

void metric_values_add(metric_values *values, int slot, arm_int64_t value)
{
    if (values->count < CLASSES_METRICS_MAX) {
        arm_metric_t *metric = &values->metrics[values->count++];
        metric->slot = (arm_metric_slot_t)slot;
        metric->format = ARM_METRIC_FORMAT_GAUGE64;
        metric->usage = ARM_METRIC_USE_GENERAL;
        metric->valid = ARM_TRUE;
        metric->metric_u.gauge64 = value;
    }
}

void classes_start(const classes *set, const class_entry *class, const arm_correlator_t *parent,
                   const char *const *context, const arm_arrival_time_t *arrival,
                   arm_tran_start_handle_t *handle, arm_correlator_t *current)
{
    arm_subbuffer_tran_context_t values = {.header = {ARM_SUBBUFFER_TRAN_CONTEXT}};
    arm_subbuffer_arrival_time_t arrived = {.header = {ARM_SUBBUFFER_ARRIVAL_TIME}};
    arm_subbuffer_t *array[2];
    arm_buffer4_t buffer = {0, array};
    if (context && set->context_count > 0) {
        values.context_value_count = set->context_count;
        values.context_value_array = (const arm_char_t **)context;
        array[buffer.count++] = ARM_SB(values);
    }
    if (arrival) {
        arrived.opaque_time = *arrival;
        array[buffer.count++] = ARM_SB(arrived);
    }
    *handle = 0; /* and so it stays when nothing is started */
    arm_start_transaction(set->running, &class->id, parent, ARM_FLAG_NONE,
                          buffer.count > 0 ? &buffer : ARM_BUF4_NONE, handle, current);
}

void classes_stop(arm_tran_start_handle_t handle, arm_tran_status_t status,
                  const metric_values *values, const char *diagnosis)
{
    if (handle == 0) {
        return;
    }
    arm_subbuffer_metric_values_t metrics = {.header = {ARM_SUBBUFFER_METRIC_VALUES}};
    arm_subbuffer_diag_detail_t detail = {.header = {ARM_SUBBUFFER_DIAG_DETAIL}};
    arm_subbuffer_t *array[2];
    arm_buffer4_t buffer = {0, array};
    if (values && values->count > 0) {
        metrics.count = values->count;
        metrics.metric_value_array = values->metrics;
        array[buffer.count++] = ARM_SB(metrics);
    }
    if (diagnosis) {
        detail.diag_detail = diagnosis;
        array[buffer.count++] = ARM_SB(detail);
    }
    arm_stop_transaction(handle, status, ARM_FLAG_NONE,
                         buffer.count > 0 ? &buffer : ARM_BUF4_NONE);
}
