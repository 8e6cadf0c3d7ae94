/* curl_library.c -- see curl_library.h. */
#include "outbound/curl_library.h"
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

bool curl_library_load(struct curl_library *out, const char *file, char *message,
                       size_t message_size)
{
    /* A program without an interpreter is statically linked. glibc would load a library into it,
     * and fail in strange ways unless the system has the very glibc that is inside. */
    if (getauxval(AT_BASE) == 0) {
        snprintf(message, message_size,
                 "the static program cannot load libcurl, so it sends no requests; use the Debian "
                 "package or the container image");
        return false;
    }
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(message, message_size, "%s; install libcurl4 to send requests", dlerror());
        return false;
    }
#define FIND(name) find(library, "curl_" #name, &out->name, message, message_size) &&
    return CURL_LIBRARY_FUNCTIONS(FIND) true;
#undef FIND
}
