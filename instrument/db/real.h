/* The functions that ours stand before, and what the two client libraries share. */
#ifndef CHRONOSCOPE_INSTRUMENT_REAL_H
#define CHRONOSCOPE_INSTRUMENT_REAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The function `name` of the client library whose file name begins with one of `libraries`
 * (NULL ends them): the next one after ours in the search order, or where the library was opened
 * for one plug-in alone (dlopen with RTLD_LOCAL), the one in it. NULL when there is none. */
void *real_function(_Atomic(void *) *found, const char *name, const char *const *libraries);

/* `REAL(PQexec)` within a wrapper of PQexec: the real function, with its type. The including
 * file defines LIBRARIES. */
#define REAL(name)                                                                                \
    ({                                                                                            \
        static _Atomic(void *) real_found;                                                        \
        (__typeof__(&name))real_function(&real_found, #name, LIBRARIES);                          \
    })

/* A symbol that programs find in place of the library's. */
#define WRAPPER __attribute__((visibility("default")))

#endif
