/* The directives of mod_arm4. */
#ifndef CHRONOSCOPE_INSTRUMENT_SETTINGS_H
#define CHRONOSCOPE_INSTRUMENT_SETTINGS_H

#include <httpd.h>
#include <http_config.h>
#include <stdbool.h>

/* Symbol that httpd looks for in the file. */
extern __attribute__((visibility("default"))) module AP_MODULE_DECLARE_DATA arm4_module;

/* Settings of a server or virtual host. */
typedef struct {
    const char *application;   /* Arm4Application */
    apr_array_header_t *trust; /* Arm4Trust: apr_ipsubnet_t*; NULL: not said, loopback alone */
    bool trust_all;
    int answers;               /* Arm4ResponseHeader: -1 not said, else below */
} server_settings;

enum { ANSWERS_NEVER, ANSWERS_TRUSTED, ANSWERS_ALWAYS };

/* Settings of a directory or location. */
typedef struct {
    int on;            /* Arm4; -1 not said */
    const char *class; /* Arm4Class; NULL not said */
} directory_settings;

extern const command_rec arm4_directives[];

void *arm4_new_server(apr_pool_t *pool, server_rec *server);
void *arm4_merge_server(apr_pool_t *pool, void *outer, void *inner);
void *arm4_new_directory(apr_pool_t *pool, char *path);
void *arm4_merge_directory(apr_pool_t *pool, void *outer, void *inner);

/* The settings that hold. */
const server_settings *arm4_server_settings(const server_rec *server);
const directory_settings *arm4_directory_settings(const request_rec *r);

/* Whether the peer of the request's connection may name a parent. */
bool arm4_is_trusted(request_rec *r);

/* Whether the response contains our correlator. */
bool arm4_answers(request_rec *r);

#endif
