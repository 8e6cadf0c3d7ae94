/* slow_names.c -- a name server that does not answer, preloaded into a server (LD_PRELOAD).
 *
 * Looking up a name that ends with ".slow" blocks, as a broken name server makes it, and then
 * fails.
 *
 *   SLOW_NAMES_SECONDS   for how long
 *   SLOW_NAMES_REPORT    file to which "begun\n" is appended when such a lookup begins, and
 *                        "ended\n" when it ends
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int lookup(const char *host, const char *service, const struct addrinfo *hints,
                   struct addrinfo **out);

static void report(const char *line)
{
    const char *name = getenv("SLOW_NAMES_REPORT");
    int file = name == NULL ? -1 : open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    ssize_t ignored = write(file, line, strlen(line));
    (void)ignored;
    close(file);
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    size_t size = host == NULL ? 0 : strlen(host);
    if (size < 5 || strcmp(host + size - 5, ".slow") != 0)
        return ((lookup *)dlsym(RTLD_NEXT, "getaddrinfo"))(host, service, hints, out);
    const char *seconds = getenv("SLOW_NAMES_SECONDS");
    struct timespec left = { .tv_sec = seconds == NULL ? 0 : strtol(seconds, NULL, 10) };
    report("begun\n");
    while (nanosleep(&left, &left) != 0)
        continue;
    report("ended\n");
    return EAI_AGAIN;
}
