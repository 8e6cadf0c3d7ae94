/* curl_library.c -- see curl_library.h. */
#include "outbound/curl_library.h"
#include "base/library.h"

bool curl_library_load(struct curl_library *out, const char *file, char *message,
                       size_t message_size)
{
    const struct library_use use = {
        .file = file,
        .in_static = "this program is static and was linked without libcurl",
        .advice = "install libcurl4 to send requests",
    };
    void *library = library_open(&use, message, message_size);
#define FIND(name) library_find(library, "curl_" #name, &out->name, message, message_size) &&
    return library != NULL && CURL_LIBRARY_FUNCTIONS(FIND) true;
#undef FIND
}
