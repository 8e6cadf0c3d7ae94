/* pressure.h -- what is done when requests hold too much memory together, inside http/.
 *
 * Counted in `http_shared.memory`: input buffers and arenas with their spares, bodies, and answers
 * that clients have not taken yet, which lie in the arenas. Two bounds:
 *
 * - Beyond three quarters of memory_max no body grows any more, so that the rest is there for
 *   requests without one. What makes no progress is dropped, the longest without it first.
 * - Beyond all of it no request begins. Answers that are not being read at that moment go, too.
 *
 * Who finds no room is answered 503, which SDKs take for a reason to try again later. Requests that
 * are being handled are never dropped; each loop has but one that is not waiting for something.
 */
#ifndef STATOR_HTTP_PRESSURE_H
#define STATOR_HTTP_PRESSURE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"
#include "http/loop.h"

enum {
    /* Without progress for so long, and memory is scarce: dropped. */
    HTTP_PRESSURE_STALL_MS = 1000,
    /* Beyond all of the bound, an answer of which nothing was read in the last millisecond goes. */
    HTTP_PRESSURE_URGENT_STALL_MS = 1,
    HTTP_PRESSURE_SCARCE_PERCENT = 75,
};

/* What bodies may grow to, of a server that may have `memory_max`. */
size_t http_pressure_scarce_size(size_t memory_max);

/* A body of this loop found no room for `size` more bytes, or is about to ask for them. True if
 * there will be once the loop has been round. */
MUST_CHECK bool http_pressure_makes_room_for_body(struct http_loop *loop, size_t size);
/* Whether another request may begin. For every one, so it costs next to nothing. */
MUST_CHECK static inline bool http_pressure_has_room(const struct http_loop *loop)
{
    const struct http_shared *shared = loop->shared;
    return LIKELY(memory_budget_used(&shared->memory) <= shared->options.memory_max);
}
/* The same where there was none: drops what makes no progress. */
MUST_CHECK bool http_pressure_makes_room(struct http_loop *loop);

/* Another loop asked this one to drop what makes no progress. */
void http_pressure_run_task(struct http_task *task);

#endif
