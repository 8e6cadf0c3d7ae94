/* authentication.h -- from a request's signature to its caller: the only way from credentials to an
 * identity.
 *
 * Runs before anything looks into the body. An unknown key, a disabled one, and one with another
 * key's token get the same answer. A wrong signature gets another one, as the service's does. All
 * of them take the same work, so that times tell nothing.
 */
#ifndef STATOR_CALL_AUTHENTICATION_H
#define STATOR_CALL_AUTHENTICATION_H
#include <stdbool.h>
#include "auth/caller.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct clock;
struct error;
struct http_exchange;
struct live_keys;
struct live_ring;

/* Derived keys that a worker caches: deriving one costs four hashes more than a signature. */
enum { AUTHENTICATION_CACHE_SIZE = 256 };

struct authentication_options {
    struct live_keys
        *keys; /* NULL: any credentials are accepted, and callers are not distinguished. */
    const struct clock *clock;
    const char *region;
    const char *account_id;
};

/* State that a worker keeps between requests. For one thread. */
struct authentication;
struct authentication *authentication_create(const struct authentication_options *options);
void authentication_destroy(struct authentication *authentication);

struct authenticated {
    struct caller caller;
    struct live_ring *ring; /* The caller borrows from it. */
};

/* Verifies a request that must be signed for `service`. The result lives in the exchange's arena
 * and needs an authentication_release. NULL with the service's exception set; `*claimed` is then
 * the access key id in the request, if there is one. */
MUST_CHECK struct authenticated *authentication_check(struct authentication *authentication,
                                                      const struct http_exchange *exchange,
                                                      const char *service, struct bytes *claimed,
                                                      struct error *err);
/* Sets the exception for a request without credentials, and returns false. */
bool authentication_refuse_missing(struct error *err);
/* Once nothing uses the caller. From any thread. NULL is allowed. */
void authentication_release(struct authenticated *authenticated);

#endif
