/* library.h -- libraries that are opened at run time, when they are first needed. */
#ifndef STATOR_BASE_LIBRARY_H
#define STATOR_BASE_LIBRARY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

struct library_use {
    const char *file;      /* "libcurl.so.4" */
    const char *in_static; /* Why the statically linked program cannot. */
    const char *advice;    /* "install libcurl4 to send requests" */
};

/* The library stays open until the process ends. NULL with `message` set. */
MUST_CHECK void *library_open(const struct library_use *use, char *message, size_t message_size);
/* Stores the function's address in `*function`, a pointer to a function. False with `message`. */
MUST_CHECK bool library_find(void *library, const char *name, void *function, char *message,
                             size_t message_size);

#endif
