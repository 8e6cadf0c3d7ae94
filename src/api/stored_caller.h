/* stored_caller.h -- the sender of a request, noted for what is done after the request has ended:
 * by a job, or by the deployment of a stack.
 *
 * What is stored is who it was and the context keys of the request. The policies are those that the
 * sender's key has when something is decided: a key that is deleted or disabled meanwhile may do
 * nothing. The session of a temporary key may end meanwhile; then the policies of its parent count.
 * The context keys are those of the request, except for the time.
 */
#ifndef STATOR_API_STORED_CALLER_H
#define STATOR_API_STORED_CALLER_H
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct caller;
struct live_ring;
struct stored_caller; /* Lives in the arena that it was decoded into. */

struct bytes stored_caller_encode(struct arena *arena, const struct caller *caller);
/* NULL for what stored_caller_encode would not have written. Copies what it keeps. */
MUST_CHECK const struct stored_caller *stored_caller_decode(struct arena *arena,
                                                            struct bytes stored);
/* "arn:aws:iam::ACCOUNT:user/NAME" */
struct bytes stored_caller_arn(const struct stored_caller *stored);
/* The caller with the policies and the time of now; NULL: its key may do nothing any more. Borrows
 * from the arena, from `stored` and from the ring. */
const struct caller *stored_caller_now(struct arena *arena, const struct stored_caller *stored,
                                       const struct live_ring *ring, int64_t now_ms);

#endif
