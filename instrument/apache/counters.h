/* Counts over all child processes of the server. */
#ifndef CHRONOSCOPE_INSTRUMENT_COUNTERS_H
#define CHRONOSCOPE_INSTRUMENT_COUNTERS_H

#include <httpd.h>

enum {
    COUNT_REQUESTS,    /* measured */
    COUNT_CORRELATORS, /* with a parent by ARM-Correlator */
    COUNT_TRACES,      /* with a parent by traceparent */
    COUNT_STRANGERS,   /* a parent from an address that is not trusted: ignored */
    COUNT_REFUSED,     /* a header that is no correlator: ignored */
    COUNTERS
};

/* Makes them, before there are children: a post_config hook. */
int arm4_make_counters(apr_pool_t *pool, apr_pool_t *log, apr_pool_t *temporary,
                       server_rec *server);

void arm4_count(int counter);
apr_uint64_t arm4_counted(int counter);
const char *arm4_counter_name(int counter);

#endif
