/* rados_library.c -- see rados_library.h. */
#include "engine/rados/rados_library.h"
#include "base/library.h"

bool rados_library_load(struct rados_library *out, const char *file, char *message,
                        size_t message_size)
{
    const struct library_use use = {
        .file = file,
        .in_static = "the static program cannot load librados; use the Debian package or the "
                     "container image",
        .advice = "install librados2 to use a Ceph cluster",
    };
    void *library = library_open(&use, message, message_size);
#define FIND(name) library_find(library, "rados_" #name, &out->name, message, message_size) &&
    return library != NULL && RADOS_LIBRARY_FUNCTIONS(FIND) true;
#undef FIND
}
