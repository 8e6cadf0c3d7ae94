/* authentication.h -- from a request's signature to its caller: the one way credentials become an
 * identity.
 *
 * Judged before the body is looked into. A key that is unknown, disabled, or comes with a token
 * that is not its own gets the same answer; that of a wrong signature is another one, as the
 * service's is. The same work is done for all of them.
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

/* How many derived keys a loop remembers: a signing key costs four more hashes than a signature. */
enum { AUTHENTICATION_CACHE_SIZE = 256 };

struct authentication_options {
    struct live_keys *keys; /* NULL: any credentials are taken, and nobody is told apart. */
    const struct clock *clock;
    const char *region;
    const char *account_id;
};

/* One for each loop: what is kept between requests. */
struct authentication;
struct authentication *authentication_create(const struct authentication_options *options);
void authentication_destroy(struct authentication *authentication);

struct authenticated {
    struct caller caller;
    struct live_ring *ring; /* What the caller borrows from. */
};

/* The caller of a request, in the exchange's arena. The caller of this owes an
 * authentication_release. NULL with the service's exception set; then `*claimed` is the id of the
 * key that was claimed, if it came that far. */
MUST_CHECK struct authenticated *authentication_check(struct authentication *authentication,
                                                      const struct http_exchange *exchange,
                                                      const char *service, struct bytes *claimed,
                                                      struct error *err);
/* Sets the exception for a request without credentials, and returns false. */
bool authentication_refuse_missing(struct error *err);
/* When nothing of the call is needed any more; from any thread. NULL is allowed. */
void authentication_release(struct authenticated *authenticated);

#endif
