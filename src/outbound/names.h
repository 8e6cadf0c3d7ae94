/* names.h -- looks host names up on threads of their own, so that callers can stop waiting.
 *
 * getaddrinfo cannot be interrupted, and a broken name server makes it hang for any time. A lookup
 * therefore runs on a detached thread. A caller waits for it for a bounded time, and abandons it
 * when time is up or the caller is cancelled. Callers that ask for the same
 * name share one lookup, so a name that hangs costs one thread, however often it is asked for.
 */
#ifndef STATOR_OUTBOUND_NAMES_H
#define STATOR_OUTBOUND_NAMES_H
#include <stdatomic.h>
#include <stdint.h>
#include "base/compiler.h"

struct names;

enum {
    NAMES_HOST_SIZE_MAX = 255,
    NAMES_LOOKUPS_MAX = 64,   /* Under way at a time; each has a thread. */
    NAMES_ADDRESSES_MAX = 16, /* Of one name; the others are dropped. */
    NAMES_ADDRESS_SIZE_MAX = 48,
    NAMES_TEXT_SIZE_MAX = NAMES_ADDRESSES_MAX * NAMES_ADDRESS_SIZE_MAX,
};

/* Addresses with commas between them, those of IPv6 in brackets: "127.0.0.1,[::1]". */
struct names_addresses {
    char text[NAMES_TEXT_SIZE_MAX];
};

/* 0, or getaddrinfo's error code. May block for any time; runs on a thread of its own. */
typedef int names_lookup(const char *host, struct names_addresses *out);

/* `lookup` is NULL for the system's, or a test's own. */
struct names *names_create(names_lookup *lookup);
/* Does not wait for lookups that are under way: the memory they use goes with the last one. No
 * caller may be in names_find. Releasing NULL is allowed. */
void names_release(struct names *names);

enum names_status {
    NAMES_FOUND,
    NAMES_FAILED,    /* `*error` is getaddrinfo's code. */
    NAMES_LATE,      /* No result in time; the lookup continues. */
    NAMES_BUSY,      /* NAMES_LOOKUPS_MAX are under way, or the system has no thread. */
    NAMES_CANCELLED, /* `*cancelled` became true. */
};
/* Any thread; waits for `wait_ms` at most. `host` has at most NAMES_HOST_SIZE_MAX bytes. Whoever
 * sets `*cancelled` calls names_wake afterwards. */
MUST_CHECK enum names_status names_find(struct names *names, const char *host, int64_t wait_ms,
                                        const atomic_bool *cancelled, struct names_addresses *out,
                                        int *error);
/* Makes all waiting callers check their `*cancelled`. Any thread. */
void names_wake(struct names *names);

#endif
