/* mod_arm4: every request of Apache httpd is a transaction.
 *
 *     LoadModule arm4_module /usr/lib/chronoscope/mod_arm4.so
 *     Arm4Application shop
 *     <Location "/orders">
 *         Arm4Class orders
 *     </Location>
 *
 * A transaction lasts from the request's arrival until it has been logged, that is until the last
 * byte went to the client's socket. Its class is the method and what Arm4Class says, else the
 * handler. The parent is a correlator that the request brought, in `ARM-Correlator` (hexadecimal
 * or base64) or `traceparent` (W3C), when it comes from an address that Arm4Trust names. Our own
 * correlator goes to whatever serves the request: to a proxied server in the same two headers,
 * to CGI and the like in the environment (ARM_CORRELATOR, TRACEPARENT), and back to the client
 * in `ARM-Correlator`.
 *
 * What a client sends is not to be believed: a header that is too long, no hexadecimal, of a
 * wrong version or from a stranger is ignored and counted (SetHandler arm4-status).
 */
#include "../common/classes.h"
#include "../common/parent.h"
#include "counters.h"
#include "settings.h"

#include <arm4_chronoscope.h>

#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <apr_strings.h>
#include <util_filter.h>

static const char CORRELATOR_HEADER[] = "ARM-Correlator";
static const char TRACE_HEADER[] = "traceparent";

enum { METRIC_STATUS, METRIC_SENT, METRIC_RECEIVED };
/* Limits of a transaction's context values: together they fit the recorder's limit for one. */
enum { URI_BYTES = 100, WORD_BYTES = 40, TRACE_BYTES = 55 };

/* State of a request, from its arrival until it is logged. */
typedef struct {
    arm_arrival_time_t arrival;
    bool arrived;
    arm_tran_start_handle_t handle;
    apr_off_t received; /* bytes of the request's body that were read */
    arm_correlator_t correlator;
    char *hex; /* the correlator as a header; NULL where there is none */
    char trace[TRACE_BYTES + 1];
} measured_request;

static classes *set; /* of this child process */

static void child_init(apr_pool_t *pool, server_rec *server)
{
    (void)pool;
    const classes_options options = {
        .application = arm4_server_settings(server)->application,
        .context_names = {"uri", "host", "user"},
        .metrics = {"status", "sent_bytes", "received_bytes"},
        .max = 512,
    };
    set = classes_new(&options, "httpd", server->server_hostname);
    if (!set) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, server,
                     "arm4: the application could not be started; nothing is measured");
    }
}

/* The request that the client sent, from one that came of it inside the server. */
static request_rec *original(request_rec *r)
{
    while (r->main || r->prev) {
        r = r->main ? r->main : r->prev;
    }
    return r;
}

static measured_request *measured(request_rec *r)
{
    return ap_get_module_config(original(r)->request_config, &arm4_module);
}

static void stop(request_rec *r, measured_request *m, arm_tran_status_t status)
{
    const request_rec *last = r;
    while (last->next) {
        last = last->next; /* an internal redirect, such as an ErrorDocument */
    }
    metric_values values = {0};
    metric_values_add(&values, METRIC_STATUS, last->status);
    metric_values_add(&values, METRIC_SENT, last->bytes_sent);
    metric_values_add(&values, METRIC_RECEIVED, m->received);
    classes_stop(m->handle, status, &values, NULL);
    m->handle = 0;
}

/* A request that goes without having been logged. */
static apr_status_t drop(void *context)
{
    measured_request *m = context;
    classes_stop(m->handle, ARM_STATUS_ABORTED, NULL, NULL);
    m->handle = 0;
    return APR_SUCCESS;
}

static int post_read_request(request_rec *r)
{
    if (!set || r->main || r->prev) {
        return DECLINED;
    }
    measured_request *m = apr_pcalloc(r->pool, sizeof *m);
    m->arrived = arm_get_arrival_time(&m->arrival) >= 0;
    ap_set_module_config(r->request_config, &arm4_module, m);
    apr_pool_cleanup_register(r->pool, m, drop, apr_pool_cleanup_null);
    return DECLINED;
}

/* The parent that the request brought; NULL when it brought none that can be used. */
static const arm_correlator_t *parent_of(request_rec *r, arm_correlator_t *room)
{
    const char *correlator = apr_table_get(r->headers_in, CORRELATOR_HEADER);
    const char *trace = apr_table_get(r->headers_in, TRACE_HEADER);
    if (!correlator && !trace) {
        return NULL;
    }
    if (!arm4_is_trusted(r)) {
        arm4_count(COUNT_STRANGERS);
        return NULL;
    }
    if (correlator && correlator_from_text(correlator, strlen(correlator), room)) {
        arm4_count(COUNT_CORRELATORS);
        return room;
    }
    if (trace && strlen(trace) >= TRACE_BYTES &&
        chronoscope_correlator_from_traceparent(trace, room) >= 0) {
        arm4_count(COUNT_TRACES);
        return room;
    }
    arm4_count(COUNT_REFUSED);
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, "arm4: a correlator that is none was ignored");
    return NULL;
}

/* A method of HTTP, or OTHER: a client may send any word. */
static const char *method_of(const request_rec *r)
{
    return r->method_number == M_INVALID ? "OTHER" : r->method;
}

static const class_entry *class_of(const request_rec *r)
{
    const char *name = arm4_directory_settings(r)->class;
    if (!name) {
        name = r->handler ? r->handler : "default";
    }
    name = apr_pstrcat(r->pool, method_of(r), " ", name, NULL);
    return classes_get(set, name, strlen(name));
}

static void start(request_rec *r, measured_request *m)
{
    const class_entry *class = class_of(r);
    if (!class || m->handle != 0) {
        return;
    }
    arm_correlator_t room;
    const char *context[] = {
        apr_pstrmemdup(r->pool, r->uri ? r->uri : "", strnlen(r->uri ? r->uri : "", URI_BYTES)),
        r->hostname ? apr_pstrndup(r->pool, r->hostname, WORD_BYTES) : NULL,
        r->user ? apr_pstrndup(r->pool, r->user, WORD_BYTES) : NULL,
    };
    classes_start(set, class, parent_of(r, &room), context, m->arrived ? &m->arrival : NULL,
                  &m->handle, &m->correlator);
    if (m->handle == 0) {
        return;
    }
    arm4_count(COUNT_REQUESTS);
    char hex[2 * ARM_CORR_MAX_LENGTH + 1];
    m->hex = correlator_to_hex(&m->correlator, hex) ? apr_pstrdup(r->pool, hex) : NULL;
    if (chronoscope_correlator_to_traceparent(&m->correlator, m->trace) < 0) {
        m->trace[0] = '\0';
    }
}

/* Hands the correlator to what will serve this request. */
static void pass_on(request_rec *r, const measured_request *m)
{
    const bool proxied = r->proxyreq || (r->handler && strncmp(r->handler, "proxy", 5) == 0);
    if (m->hex) {
        apr_table_setn(r->subprocess_env, "ARM_CORRELATOR", m->hex);
    }
    if (*m->trace) {
        apr_table_setn(r->subprocess_env, "TRACEPARENT", m->trace);
    }
    if (proxied) {
        /* Never a stranger's: without one of ours there is none. */
        apr_table_unset(r->headers_in, CORRELATOR_HEADER);
        apr_table_unset(r->headers_in, TRACE_HEADER);
        if (m->hex) {
            apr_table_setn(r->headers_in, CORRELATOR_HEADER, m->hex);
        }
        if (*m->trace) {
            apr_table_setn(r->headers_in, TRACE_HEADER, m->trace);
        }
    }
}

/* The last hook before the handler: by now it is known which one, and who the user is. */
static int fixups(request_rec *r)
{
    measured_request *m = measured(r);
    if (!m || !arm4_directory_settings(r)->on) {
        return DECLINED;
    }
    if (!r->main && !r->prev) {
        start(r, m);
    }
    if (m->handle != 0) {
        pass_on(r, m);
    }
    return DECLINED;
}

/* Sets the response's header, in the place of one that a proxied server sent. */
static apr_status_t answer(ap_filter_t *filter, apr_bucket_brigade *data)
{
    request_rec *r = filter->r;
    const measured_request *m = measured(r);
    apr_table_unset(r->headers_out, CORRELATOR_HEADER);
    apr_table_unset(r->err_headers_out, CORRELATOR_HEADER);
    if (m && m->hex && m->handle != 0 && arm4_answers(r)) {
        apr_table_setn(r->headers_out, CORRELATOR_HEADER, m->hex);
    }
    ap_remove_output_filter(filter);
    return ap_pass_brigade(filter->next, data);
}

/* Counts what is read of the request's body. */
static apr_status_t receive(ap_filter_t *filter, apr_bucket_brigade *data, ap_input_mode_t mode,
                            apr_read_type_e block, apr_off_t size)
{
    const apr_status_t status = ap_get_brigade(filter->next, data, mode, block, size);
    apr_off_t length = 0;
    if (status == APR_SUCCESS && mode != AP_MODE_SPECULATIVE &&
        apr_brigade_length(data, 0, &length) == APR_SUCCESS && length > 0) {
        measured(filter->r)->received += length;
    }
    return status;
}

static void insert_error_filter(request_rec *r)
{
    if (measured(r) && !r->main) {
        ap_add_output_filter("ARM4", NULL, r, r->connection);
    }
}

static void insert_filter(request_rec *r)
{
    insert_error_filter(r);
    if (measured(r) && !r->main && !r->prev) {
        ap_add_input_filter("ARM4_RECEIVED", NULL, r, r->connection);
    }
}

static int log_transaction(request_rec *r)
{
    measured_request *m = set ? measured(r) : NULL;
    if (!m || !arm4_directory_settings(r)->on) {
        return DECLINED;
    }
    start(r, m); /* refused before a handler was found */
    const request_rec *last = r;
    while (last->next) {
        last = last->next;
    }
    stop(r, m, r->connection->aborted ? ARM_STATUS_ABORTED
               : last->status >= 500  ? ARM_STATUS_FAILED
                                      : ARM_STATUS_GOOD);
    return DECLINED;
}

static int status_page(request_rec *r)
{
    if (!r->handler || strcmp(r->handler, "arm4-status") != 0) {
        return DECLINED;
    }
    if (r->method_number != M_GET) {
        return HTTP_METHOD_NOT_ALLOWED;
    }
    ap_set_content_type(r, "text/plain; charset=utf-8");
    for (int counter = 0; counter < COUNTERS; counter++) {
        ap_rprintf(r, "%s %" APR_UINT64_T_FMT "\n", arm4_counter_name(counter),
                   arm4_counted(counter));
    }
    return OK;
}

static void register_hooks(apr_pool_t *pool)
{
    (void)pool;
    ap_hook_post_config(arm4_make_counters, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_read_request(post_read_request, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_fixups(fixups, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_insert_filter(insert_filter, NULL, NULL, APR_HOOK_LAST);
    ap_hook_insert_error_filter(insert_error_filter, NULL, NULL, APR_HOOK_LAST);
    ap_hook_log_transaction(log_transaction, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_handler(status_page, NULL, NULL, APR_HOOK_MIDDLE);
    ap_register_output_filter("ARM4", answer, NULL, AP_FTYPE_CONTENT_SET);
    ap_register_input_filter("ARM4_RECEIVED", receive, NULL, AP_FTYPE_CONTENT_SET);
}

AP_DECLARE_MODULE(arm4) = {
    STANDARD20_MODULE_STUFF,  arm4_new_directory, arm4_merge_directory, arm4_new_server,
    arm4_merge_server,        arm4_directives,    register_hooks
#if defined(AP_MODULE_FLAG_NONE)
    , AP_MODULE_FLAG_NONE
#endif
};
