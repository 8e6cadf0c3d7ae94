/* context_key.h -- the context keys that policies may name: those that requests here have, and
 * those of IAM's that they never have: nobody comes through a VPC, an organisation or another
 * service.
 *
 * A policy that names another one is refused, above all one that the service would give a value
 * (aws:RequestTag): its conditions would be decided by the key's absence, and that allows as often
 * as it denies. Private to auth/.
 */
#ifndef STATOR_AUTH_CONTEXT_KEY_H
#define STATOR_AUTH_CONTEXT_KEY_H
#include <stdbool.h>
#include "base/bytes.h"

struct policy_key;
struct policy_request;

bool context_key_equal(struct bytes a, struct bytes b); /* Names have no case. */
bool context_key_is_known(struct bytes name);
/* Can a request have more than one value for it? */
bool context_key_has_many(struct bytes name);
/* NULL if the request has no value for it. */
const struct policy_key *context_key_find(const struct policy_request *request, struct bytes name);

#endif
