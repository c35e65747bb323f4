#include "counters.h"

#include <http_config.h>
#include <http_log.h>
#include <stdatomic.h>
#include <sys/mman.h>

APLOG_USE_MODULE(arm4);

static _Atomic(apr_uint64_t) alone[COUNTERS]; /* where no memory can be shared */
static _Atomic(apr_uint64_t) *counts = alone;

static apr_status_t drop(void *memory)
{
    counts = alone;
    munmap(memory, sizeof alone);
    return APR_SUCCESS;
}

int arm4_make_counters(apr_pool_t *pool, apr_pool_t *log, apr_pool_t *temporary,
                       server_rec *server)
{
    (void)log;
    (void)temporary;
    void *memory = mmap(NULL, sizeof alone, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, APR_FROM_OS_ERROR(errno), server,
                     "arm4: the counts of arm4-status are those of one child each");
        return OK;
    }
    counts = memory;
    apr_pool_cleanup_register(pool, memory, drop, apr_pool_cleanup_null);
    return OK;
}

void arm4_count(int counter)
{
    atomic_fetch_add_explicit(&counts[counter], 1, memory_order_relaxed);
}

apr_uint64_t arm4_counted(int counter)
{
    return atomic_load_explicit(&counts[counter], memory_order_relaxed);
}

const char *arm4_counter_name(int counter)
{
    static const char *const names[COUNTERS] = {"requests", "parents_by_correlator",
                                                "parents_by_traceparent", "ignored_strangers",
                                                "ignored_malformed"};
    return names[counter];
}
