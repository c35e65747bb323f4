#include "real.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

typedef struct {
    const char *name;
    const char *const *libraries;
    void *found;
} search;

static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    search *s = context;
    const char *file = strrchr(object->dlpi_name, '/');
    file = file ? file + 1 : object->dlpi_name;
    for (int index = 0; s->libraries[index]; index++) {
        if (strncmp(file, s->libraries[index], strlen(s->libraries[index])) == 0) {
            void *library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
            s->found = library ? dlsym(library, s->name) : NULL;
            if (library) {
                dlclose(library); /* only the count that this look added */
            }
        }
    }
    return s->found != NULL;
}

void *real_function(_Atomic(void *) *found, const char *name, const char *const *libraries)
{
    void *function = atomic_load_explicit(found, memory_order_acquire);
    if (function) {
        return function;
    }
    function = dlsym(RTLD_NEXT, name);
    if (!function) {
        search s = {name, libraries, NULL};
        dl_iterate_phdr(look, &s);
        function = s.found;
    }
    atomic_store_explicit(found, function, memory_order_release);
    return function;
}
