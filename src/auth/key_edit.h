/* key_edit.h -- changes of a key ring: what the commands `stator key` and `stator policy` do.
 *
 * Each makes its change in the ring given, in the arena given. False or NULL with a
 * ValidationException that says why not, for people.
 */
#ifndef STATOR_AUTH_KEY_EDIT_H
#define STATOR_AUTH_KEY_EDIT_H
#include <stdbool.h>
#include <stdint.h>
#include "auth/key_ring.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct error;

enum { KEY_TOKEN_SIZE = 88 }; /* 66 random bytes in base64. */

/* A new key with a random id and secret. */
MUST_CHECK const struct access_key *key_edit_create(struct arena *arena, struct key_ring *ring,
                                                    struct bytes user, int64_t now_ms,
                                                    struct error *err);
/* A temporary key with the policies of another one, which is not temporary. `token` is what its
 * requests must bring along; only its hash is kept. */
MUST_CHECK const struct access_key *
key_edit_create_session(struct arena *arena, struct key_ring *ring, struct bytes parent,
                        int64_t seconds, int64_t now_ms, struct bytes *token, struct error *err);
MUST_CHECK bool key_edit_disable(struct key_ring *ring, struct bytes id, bool disabled,
                                 struct error *err);
/* Takes the key's temporary keys along. */
MUST_CHECK bool key_edit_delete(struct key_ring *ring, struct bytes id, struct error *err);
/* Takes out temporary keys that nobody can use any more. */
void key_edit_drop_expired(struct key_ring *ring, int64_t now_ms);

/* Attaches a policy in the place of the one of that name. */
MUST_CHECK bool key_edit_put_policy(struct arena *arena, struct key_ring *ring, struct bytes id,
                                    struct bytes name, struct bytes text, struct error *err);
MUST_CHECK bool key_edit_delete_policy(struct key_ring *ring, struct bytes id, struct bytes name,
                                       struct error *err);
/* NULL if there is none. */
const struct key_policy *key_edit_find_policy(const struct key_ring *ring, struct bytes id,
                                              struct bytes name, struct error *err);

#endif
