#include "sessions.h"

#include "../common/parent.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place of the table. A removed key leaves a mark: entries behind it must still be found. */
typedef struct {
    _Atomic(const void *) key;
    session *session;
} place;

static place places[SESSIONS_MAX];
static const char gone;

static struct {
    pthread_once_t once;
    classes *set;
    bool verb_only;
} measured = {.once = PTHREAD_ONCE_INIT};

static void start_measuring(void)
{
    const char *application = getenv("ARM4_APPLICATION");
    const char *detail = getenv("ARM4_SQL");
    const classes_options options = {
        .application = application && *application ? application : program_invocation_short_name,
        .context_names = {"database", "server"},
        .metrics = {"rows"},
        .max = 512,
    };
    measured.verb_only = detail && strcmp(detail, "verb") == 0;
    if (!detail || strcmp(detail, "off") != 0) {
        measured.set = classes_new(&options, "SQL client", NULL);
    }
}

classes *sessions_classes(void)
{
    pthread_once(&measured.once, start_measuring);
    return measured.set;
}

/* The place of `key`, or with `make` one for it; NULL when there is none. */
static place *place_of(const void *key, bool make)
{
    const size_t start = (size_t)((uintptr_t)key * 0x9e3779b97f4a7c15u >> 32);
    place *empty = NULL;
    for (size_t probe = 0; probe < SESSIONS_MAX; probe++) {
        place *p = &places[(start + probe) % SESSIONS_MAX];
        const void *there = atomic_load_explicit(&p->key, memory_order_acquire);
        if (there == key) {
            return p;
        }
        if (!empty && (!there || there == &gone)) {
            empty = p;
        }
        if (!there) {
            break;
        }
    }
    if (!make || !empty) {
        return NULL;
    }
    const void *there = atomic_load(&empty->key);
    if ((!there || there == &gone) && atomic_compare_exchange_strong(&empty->key, &there, key)) {
        empty->session = NULL;
        return empty;
    }
    return place_of(key, make); /* another thread took it */
}

session *session_of(const void *key, bool make)
{
    if (!key || !sessions_classes()) {
        return NULL;
    }
    place *p = place_of(key, make);
    if (p && !p->session && make) {
        p->session = calloc(1, sizeof *p->session);
    }
    return p ? p->session : NULL;
}

void session_forget(const void *key)
{
    place *p = key && sessions_classes() ? place_of(key, false) : NULL;
    if (!p) {
        return;
    }
    session *s = p->session;
    p->session = NULL;
    atomic_store_explicit(&p->key, &gone, memory_order_release);
    if (!s) {
        return;
    }
    while (s->count > 0) {
        session_oldest(s)->status = ARM_STATUS_ABORTED;
        session_end_oldest(s);
    }
    free(s->queue);
    while (s->prepared) {
        prepared *next = s->prepared->next;
        free(s->prepared);
        s->prepared = next;
    }
    free(s);
}

const class_entry *session_class(sql_dialect dialect, const char *text, size_t size)
{
    char normalised[SQL_NORMALISED_BYTES];
    if (!text || !sessions_classes()) {
        return NULL;
    }
    size_t length = sql_normalise(dialect, text, size, normalised);
    if (measured.verb_only) {
        length = sql_verb(normalised);
    }
    return length > 0 ? classes_get(measured.set, normalised, length)
                      : classes_get(measured.set, "(empty)", 7);
}

void session_prepare(session *s, const char *name, const class_entry *class)
{
    if (!class || !name) {
        return;
    }
    for (prepared *p = s->prepared; p; p = p->next) {
        if (strcmp(p->name, name) == 0) {
            p->class = class;
            return;
        }
    }
    const size_t size = strlen(name) + 1;
    prepared *p = s->prepared_count < SESSIONS_PREPARED_MAX ? malloc(sizeof *p + size) : NULL;
    if (p) {
        *p = (prepared){.next = s->prepared, .class = class};
        memcpy(p->name, name, size);
        s->prepared = p;
        s->prepared_count++;
    }
}

const class_entry *session_prepared(const session *s, const char *name)
{
    for (const prepared *p = name ? s->prepared : NULL; p; p = p->next) {
        if (strcmp(p->name, name) == 0) {
            return p->class;
        }
    }
    return classes_get(measured.set, "EXECUTE (other)", 15); /* prepared by an SQL text */
}

/* Room for one more; false when there is none to be had. */
static bool grow(session *s)
{
    if (s->count < s->room) {
        return true;
    }
    const int room = s->room > 0 ? 2 * s->room : 2;
    query *queue = room <= SESSIONS_QUEUE_MAX ? malloc((size_t)room * sizeof *queue) : NULL;
    if (!queue) {
        return false;
    }
    for (int index = 0; index < s->count; index++) {
        queue[index] = s->queue[(s->first + index) % s->room];
    }
    free(s->queue);
    s->queue = queue;
    s->room = room;
    s->first = 0;
    return true;
}

void session_begin(session *s, const class_entry *class)
{
    if (!class || s->unmeasured > 0 || !grow(s)) {
        s->unmeasured++;
        return;
    }
    query *q = &s->queue[(s->first + s->count) % s->room];
    *q = (query){.status = ARM_STATUS_GOOD};
    const char *context[] = {s->database, s->server};
    arm_correlator_t room;
    classes_start(measured.set, class, parent_of_thread(&room), context, NULL, &q->handle,
                  ARM_CORR_NONE);
    s->count++;
}

query *session_oldest(session *s)
{
    return s->count > 0 ? &s->queue[s->first] : NULL;
}

static void end(const query *q)
{
    char diagnosis[32];
    metric_values values = {0};
    metric_values_add(&values, 0, q->rows);
    snprintf(diagnosis, sizeof diagnosis, "SQLSTATE %s", q->sqlstate);
    classes_stop(q->handle, q->status, &values, *q->sqlstate ? diagnosis : NULL);
}

void session_end_oldest(session *s)
{
    if (s->count > 0) {
        end(session_oldest(s));
        s->first = (s->first + 1) % s->room;
        s->count--;
    } else if (s->unmeasured > 0) {
        s->unmeasured--;
    }
}

void session_refused(session *s, const char *sqlstate)
{
    if (s->unmeasured > 0) {
        s->unmeasured--;
    } else if (s->count > 0) {
        query *q = &s->queue[(s->first + s->count - 1) % s->room];
        query_failed(q, sqlstate);
        end(q);
        s->count--;
    }
}

void session_end_all(session *s)
{
    while (s->count > 0) {
        session_end_oldest(s);
    }
    s->unmeasured = 0;
}

void query_failed(query *q, const char *sqlstate)
{
    const bool cancelled =
        sqlstate && (strcmp(sqlstate, "57014") == 0 || strcmp(sqlstate, "70100") == 0);
    q->status = cancelled ? ARM_STATUS_ABORTED : ARM_STATUS_FAILED;
    snprintf(q->sqlstate, sizeof q->sqlstate, "%.5s", sqlstate && *sqlstate ? sqlstate : "?????");
}
