/* names.c -- see names.h.
 *
 * A lookup belongs to its thread while it runs, and to the last of its waiters once it is done.
 * Every running lookup holds a reference to `struct names`, since it may outlive the owner's.
 */
#include "outbound/names.h"
#include <arpa/inet.h>
#include <assert.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/timed_wait.h"

struct names {
    names_lookup *lookup;
    pthread_mutex_t mutex; /* Guards what follows, and all lookups. */
    pthread_cond_t changed;
    struct name_lookup *running; /* A list of at most NAMES_LOOKUPS_MAX. */
    size_t running_count;
    size_t references;
};

struct name_lookup {
    struct names *names;
    struct name_lookup *next; /* While it runs. */
    char host[NAMES_HOST_SIZE_MAX + 1];
    size_t waiter_count;
    bool done;
    int error;
    struct names_addresses addresses;
};

/* --- The system's lookup --- */

/* Appends an address, unless it is scoped to a link: curl's lists cannot express such an address.
 */
static void append_address(struct names_addresses *out, size_t *size, const struct addrinfo *at)
{
    char text[INET6_ADDRSTRLEN];
    const struct sockaddr_in *v4 = (const void *)at->ai_addr;
    const struct sockaddr_in6 *v6 = (const void *)at->ai_addr;
    bool is_v6 = at->ai_family == AF_INET6;
    if ((!is_v6 && at->ai_family != AF_INET) || (is_v6 && v6->sin6_scope_id != 0))
        return;
    const void *address = is_v6 ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr;
    if (inet_ntop(at->ai_family, address, text, sizeof text) == NULL)
        return;
    *size += (size_t)snprintf(out->text + *size, sizeof out->text - *size, "%s%s%s%s",
                              *size > 0 ? "," : "", is_v6 ? "[" : "", text, is_v6 ? "]" : "");
}

static int look_up(const char *host, struct names_addresses *out)
{
    static_assert(NAMES_ADDRESS_SIZE_MAX >= INET6_ADDRSTRLEN + 2, "brackets and a comma");
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *addresses = NULL;
    size_t size = 0, count = 0;
    int error = getaddrinfo(host, NULL, &hints, &addresses);
    if (error != 0)
        return error;
    out->text[0] = '\0';
    for (const struct addrinfo *at = addresses; at != NULL && count < NAMES_ADDRESSES_MAX;
         at = at->ai_next, count++)
        append_address(out, &size, at);
    freeaddrinfo(addresses);
    return size == 0 ? EAI_NONAME : 0;
}

/* --- Lifetimes --- */

struct names *names_create(names_lookup *lookup)
{
    struct names *names = calloc(1, sizeof *names);
    if (names == NULL)
        abort();
    names->lookup = lookup != NULL ? lookup : look_up;
    names->references = 1;
    pthread_mutex_init(&names->mutex, NULL);
    timed_wait_init(&names->changed);
    return names;
}

/* Unlocks the mutex, which the caller holds. */
static void release_locked(struct names *names)
{
    assert(names->references > 0);
    bool last = --names->references == 0;
    pthread_mutex_unlock(&names->mutex);
    if (!last)
        return;
    pthread_cond_destroy(&names->changed);
    pthread_mutex_destroy(&names->mutex);
    free(names);
}

void names_release(struct names *names)
{
    if (names == NULL)
        return;
    pthread_mutex_lock(&names->mutex);
    release_locked(names);
}

void names_wake(struct names *names)
{
    pthread_mutex_lock(&names->mutex);
    pthread_cond_broadcast(&names->changed);
    pthread_mutex_unlock(&names->mutex);
}

/* --- Lookups --- */

static void unlink_locked(struct names *names, struct name_lookup *lookup)
{
    struct name_lookup **link = &names->running;
    while (*link != lookup)
        link = &(*link)->next;
    *link = lookup->next;
    names->running_count--;
}

static void *lookup_main(void *context)
{
    struct name_lookup *lookup = context;
    struct names *names = lookup->names;
    int error = names->lookup(lookup->host, &lookup->addresses);
    pthread_mutex_lock(&names->mutex);
    unlink_locked(names, lookup);
    lookup->error = error;
    lookup->done = true;
    pthread_cond_broadcast(&names->changed);
    if (lookup->waiter_count == 0)
        free(lookup);
    release_locked(names);
    return NULL;
}

/* NULL if there is no room or no thread for it. */
static struct name_lookup *start_locked(struct names *names, const char *host)
{
    pthread_t thread;
    if (names->running_count == NAMES_LOOKUPS_MAX)
        return NULL;
    struct name_lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup == NULL)
        abort();
    lookup->names = names;
    memcpy(lookup->host, host, strlen(host) + 1);
    if (pthread_create(&thread, NULL, lookup_main, lookup) != 0) {
        free(lookup);
        return NULL;
    }
    pthread_detach(thread);
    lookup->next = names->running;
    names->running = lookup;
    names->running_count++;
    names->references++;
    return lookup;
}

static struct name_lookup *find_locked(struct names *names, const char *host)
{
    struct name_lookup *lookup = names->running;
    while (lookup != NULL && strcmp(lookup->host, host) != 0)
        lookup = lookup->next;
    return lookup != NULL ? lookup : start_locked(names, host);
}

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static enum names_status await_locked(struct names *names, const struct name_lookup *lookup,
                                      int64_t deadline_ms, const atomic_bool *cancelled)
{
    for (;;) {
        int64_t left_ms = deadline_ms - now_ms();
        if (atomic_load(cancelled))
            return NAMES_CANCELLED;
        if (lookup->done)
            return lookup->error == 0 ? NAMES_FOUND : NAMES_FAILED;
        if (left_ms <= 0)
            return NAMES_LATE;
        timed_wait(&names->changed, &names->mutex, left_ms);
    }
}

enum names_status names_find(struct names *names, const char *host, int64_t wait_ms,
                             const atomic_bool *cancelled, struct names_addresses *out, int *error)
{
    assert(strlen(host) <= NAMES_HOST_SIZE_MAX);
    int64_t deadline_ms = now_ms() + wait_ms;
    pthread_mutex_lock(&names->mutex);
    struct name_lookup *lookup = find_locked(names, host);
    if (lookup == NULL) {
        pthread_mutex_unlock(&names->mutex);
        return NAMES_BUSY;
    }
    lookup->waiter_count++;
    enum names_status status = await_locked(names, lookup, deadline_ms, cancelled);
    if (status == NAMES_FOUND)
        *out = lookup->addresses;
    *error = lookup->error;
    if (--lookup->waiter_count == 0 && lookup->done)
        free(lookup);
    pthread_mutex_unlock(&names->mutex);
    return status;
}
