/* static_program.c -- what is different in the program of the tarball, which is linked statically.
 *
 * libcurl is inside, so curl_library_load, which opens it in the other programs, has its functions
 * at hand: this file stands before the archive with the other one. Debian has static forms of what
 * libcurl needs for HTTP and TLS, but not of the libraries for protocols that outbound/ forbids:
 * LDAP, SSH, RTMP, Kerberos, HTTP/2. Their functions are in the list that make-absent writes, and
 * are never called. Were one called all the same, the program would end at once.
 */
#include <netdb.h>
#include <nss.h>
#include <stdio.h>
#include <stdlib.h>
#include "outbound/curl_library.h"

bool curl_library_load(struct curl_library *out, const char *file, char *message,
                       size_t message_size)
{
    (void)file;
    (void)message;
    (void)message_size;
    /* A system's nsswitch.conf may name libraries that glibc would load, and that would bring
     * another glibc with them. These two are inside. */
    __nss_configure_lookup("hosts", "files dns");
#define TAKE(name) .name = curl_##name,
    *out = (struct curl_library){ CURL_LIBRARY_FUNCTIONS(TAKE) };
#undef TAKE
    return true;
}

/* --- What is not inside --- */

static void absent(void)
{
    fputs("stator: a library was called that is not in the static program\n", stderr);
    abort();
}

#define ABSENT(name)                                                                               \
    void name(void);                                                                               \
    void name(void) __attribute__((alias("absent")));
#include "absent.h"
#undef ABSENT

/* libcurl calls these two whatever the protocol is. */
int libssh2_init(int flags);
int libssh2_init(int flags)
{
    (void)flags;
    return 0;
}

void libssh2_exit(void);
void libssh2_exit(void)
{
}
