/* curl_library.h -- libcurl's functions, loaded when they are first needed. Internal to outbound/.
 *
 * Linking libcurl would load 26 libraries of protocols that outbound/ forbids, and cost every
 * server 6 MB and about 15 ms at the start. Most servers never send a request. So the program is
 * compiled against curl's headers, and the library is opened with the first client.
 */
#ifndef STATOR_OUTBOUND_CURL_LIBRARY_H
#define STATOR_OUTBOUND_CURL_LIBRARY_H
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

/* Everything that outbound/ calls, without "curl_". */
#define CURL_LIBRARY_FUNCTIONS(X)                                                                  \
    X(easy_cleanup)                                                                                \
    X(easy_getinfo)                                                                                \
    X(easy_init)                                                                                   \
    X(easy_perform)                                                                                \
    X(easy_reset)                                                                                  \
    X(easy_setopt)                                                                                 \
    X(global_cleanup)                                                                              \
    X(global_init)                                                                                 \
    X(multi_add_handle)                                                                            \
    X(multi_cleanup)                                                                               \
    X(multi_info_read)                                                                             \
    X(multi_init)                                                                                  \
    X(multi_perform)                                                                               \
    X(multi_poll)                                                                                  \
    X(multi_remove_handle)                                                                         \
    X(multi_setopt)                                                                                \
    X(multi_wakeup)                                                                                \
    X(slist_append)                                                                                \
    X(slist_free_all)

#define CURL_LIBRARY_MEMBER(name) __typeof__(&curl_##name) name;
struct curl_library {
    CURL_LIBRARY_FUNCTIONS(CURL_LIBRARY_MEMBER)
};
#undef CURL_LIBRARY_MEMBER

/* The library's file name, as its ABI calls it. */
#define CURL_LIBRARY_FILE "libcurl.so.4"

/* Opens the library, for as long as the process lives, and finds all functions. False with one line
 * for people if the file or a function is missing. */
MUST_CHECK bool curl_library_load(struct curl_library *out, const char *file, char *message,
                                  size_t message_size);

#endif
