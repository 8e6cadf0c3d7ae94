/* library.c -- see library.h. */
#include "base/library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

void *library_open(const struct library_use *use, char *message, size_t message_size)
{
    /* A program without an interpreter is statically linked. glibc would load a library into it,
     * and fail in strange ways unless the system has the very glibc that is inside. */
    if (getauxval(AT_BASE) == 0) {
        snprintf(message, message_size, "%s", use->in_static);
        return NULL;
    }
    void *library = dlopen(use->file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        snprintf(message, message_size, "%s; %s", dlerror(), use->advice);
    return library;
}

/* ISO C does not convert the pointer to an object that dlsym returns, hence the copy. */
bool library_find(void *library, const char *name, void *function, char *message,
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
