/* rados_library.c -- see rados_library.h. */
#include "engine/rados/rados_library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

/* `function` points to a pointer to a function, which ISO C does not convert from an object's. */
static bool find(void *library, const char *name, void *function, char *message,
                 size_t message_size)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        snprintf(message, message_size, "%s", dlerror());
        return false;
    }
    memcpy(function, &symbol, sizeof symbol);
    return true;
}

bool rados_library_load(struct rados_library *out, const char *file, char *message,
                        size_t message_size)
{
    /* A program without an interpreter is statically linked, and cannot load a library that needs
     * another glibc than the one inside (as in outbound/curl_library.c). */
    if (getauxval(AT_BASE) == 0) {
        snprintf(message, message_size,
                 "the static program cannot load librados; use the Debian package or the container "
                 "image");
        return false;
    }
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(message, message_size, "%s; install librados2 to use a Ceph cluster", dlerror());
        return false;
    }
#define FIND(name) find(library, "rados_" #name, &out->name, message, message_size) &&
    return RADOS_LIBRARY_FUNCTIONS(FIND) true;
#undef FIND
}
