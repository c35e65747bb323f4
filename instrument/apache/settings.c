#include "settings.h"

#include <apr_network_io.h>
#include <apr_strings.h>
#include <http_log.h>

const server_settings *arm4_server_settings(const server_rec *server)
{
    return ap_get_module_config(server->module_config, &arm4_module);
}

const directory_settings *arm4_directory_settings(const request_rec *r)
{
    return ap_get_module_config(r->per_dir_config, &arm4_module);
}

void *arm4_new_server(apr_pool_t *pool, server_rec *server)
{
    (void)server;
    server_settings *settings = apr_pcalloc(pool, sizeof *settings);
    settings->application = "httpd";
    settings->answers = -1;
    return settings;
}

/* The application is the process's: the main server names it. */
void *arm4_merge_server(apr_pool_t *pool, void *outer, void *inner)
{
    const server_settings *from = outer;
    server_settings *merged = apr_pmemdup(pool, inner, sizeof *merged);
    merged->application = from->application;
    if (!merged->trust) {
        merged->trust = from->trust;
        merged->trust_all = from->trust_all;
    }
    if (merged->answers < 0) {
        merged->answers = from->answers;
    }
    return merged;
}

void *arm4_new_directory(apr_pool_t *pool, char *path)
{
    (void)path;
    directory_settings *settings = apr_pcalloc(pool, sizeof *settings);
    settings->on = -1;
    return settings;
}

void *arm4_merge_directory(apr_pool_t *pool, void *outer, void *inner)
{
    const directory_settings *from = outer;
    directory_settings *merged = apr_pmemdup(pool, inner, sizeof *merged);
    if (merged->on < 0) {
        merged->on = from->on;
    }
    if (!merged->class) {
        merged->class = from->class;
    }
    return merged;
}

static server_settings *server_of(cmd_parms *command)
{
    return ap_get_module_config(command->server->module_config, &arm4_module);
}

static const char *set_application(cmd_parms *command, void *directory, const char *name)
{
    (void)directory;
    const char *wrong = ap_check_cmd_context(command, GLOBAL_ONLY);
    if (wrong) {
        return wrong;
    }
    if (!*name || strlen(name) > 127) {
        return "Arm4Application: a name has 1 to 127 bytes";
    }
    server_of(command)->application = name;
    return NULL;
}

static const char *set_class(cmd_parms *command, void *directory, const char *name)
{
    (void)command;
    if (!*name || strlen(name) > 100) {
        return "Arm4Class: a name has 1 to 100 bytes";
    }
    ((directory_settings *)directory)->class = name;
    return NULL;
}

static const char *set_on(cmd_parms *command, void *directory, int on)
{
    (void)command;
    ((directory_settings *)directory)->on = on;
    return NULL;
}

/* Arm4Trust all | none | ADDRESS[/BITS] ... */
static const char *add_trust(cmd_parms *command, void *directory, const char *word)
{
    (void)directory;
    server_settings *settings = server_of(command);
    if (!settings->trust) {
        settings->trust = apr_array_make(command->pool, 4, sizeof(apr_ipsubnet_t *));
    }
    if (ap_cstr_casecmp(word, "none") == 0) {
        return NULL;
    }
    if (ap_cstr_casecmp(word, "all") == 0) {
        settings->trust_all = true;
        return NULL;
    }
    char *address = apr_pstrdup(command->temp_pool, word);
    char *bits = strchr(address, '/');
    if (bits) {
        *bits++ = '\0';
    }
    apr_ipsubnet_t **subnet = apr_array_push(settings->trust);
    if (apr_ipsubnet_create(subnet, address, bits, command->pool) != APR_SUCCESS) {
        return apr_pstrcat(command->pool, "Arm4Trust: neither all, none nor an address: ", word,
                           NULL);
    }
    return NULL;
}

static const char *set_answers(cmd_parms *command, void *directory, const char *word)
{
    (void)directory;
    static const char *const words[] = {"off", "trusted", "on"};
    for (int index = 0; index < 3; index++) {
        if (ap_cstr_casecmp(word, words[index]) == 0) {
            server_of(command)->answers = index;
            return NULL;
        }
    }
    return "Arm4ResponseHeader: on, off or trusted";
}

const command_rec arm4_directives[] = {
    AP_INIT_FLAG("Arm4", set_on, NULL, RSRC_CONF | ACCESS_CONF, "on (default) or off"),
    AP_INIT_TAKE1("Arm4Application", set_application, NULL, RSRC_CONF,
                  "what the application is called; httpd by default"),
    AP_INIT_TAKE1("Arm4Class", set_class, NULL, RSRC_CONF | ACCESS_CONF,
                  "what the requests here are called, after their method; the handler by default"),
    AP_INIT_ITERATE("Arm4Trust", add_trust, NULL, RSRC_CONF,
                    "addresses or networks whose correlators are believed, all or none; "
                    "loopback by default"),
    AP_INIT_TAKE1("Arm4ResponseHeader", set_answers, NULL, RSRC_CONF,
                  "whether responses carry ARM-Correlator: on, off, or to trusted clients "
                  "(default)"),
    {NULL, {NULL}, NULL, 0, 0, NULL}};

static bool is_loopback(const apr_sockaddr_t *peer)
{
    const unsigned char *bytes = peer->ipaddr_ptr;
    if (peer->family == APR_INET) {
        return bytes[0] == 127;
    }
#if APR_HAVE_IPV6
    if (peer->family == APR_INET6) {
        static const unsigned char mapped[13] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
        return memcmp(bytes, mapped, sizeof mapped) == 0 ||
               IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)peer->ipaddr_ptr);
    }
#endif
    return false;
}

bool arm4_is_trusted(request_rec *r)
{
    const server_settings *settings = arm4_server_settings(r->server);
    apr_sockaddr_t *peer = r->connection->client_addr;
    if (!settings->trust) {
        return is_loopback(peer);
    }
    bool trusted = settings->trust_all;
    for (int index = 0; index < settings->trust->nelts; index++) {
        trusted |=
            apr_ipsubnet_test(APR_ARRAY_IDX(settings->trust, index, apr_ipsubnet_t *), peer) != 0;
    }
    return trusted;
}

bool arm4_answers(request_rec *r)
{
    const int answers = arm4_server_settings(r->server)->answers;
    return answers == ANSWERS_ALWAYS || (answers != ANSWERS_NEVER && arm4_is_trusted(r));
}
