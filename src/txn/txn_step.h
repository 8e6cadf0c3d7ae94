/* txn_step.h -- where a write may wait, and how it resumes.
 *
 * A step asks the engine for what other writes may hold. If they do, the thread does other work,
 * and the group of the thread later runs the rest of the write, `go_on`, on the same thread. A
 * write without a group, or with one whose thread may wait, waits right there.
 */
#ifndef STATOR_TXN_TXN_STEP_H
#define STATOR_TXN_TXN_STEP_H
#include <stddef.h>
#include "engine/engine.h"

struct txn_group;

/* Embedded in what goes on. The owner sets `group`, the rest is zero. */
struct txn_step {
    struct txn_group *group; /* NULL: the thread waits. */

    /* For `go_on`: how the step ended. */
    enum engine_status status;
    struct engine_write *write;

    struct engine_wait wait; /* The step's own, like what follows. */
    void (*go_on)(struct txn_step *step);
    struct txn_step *next; /* In the group. */
};

/* Both call `go_on` exactly once, now or later. */
void txn_step_begin(struct txn_step *step, struct engine *engine,
                    const struct engine_address *addresses, size_t address_count,
                    void (*go_on)(struct txn_step *step));
/* Adds addresses to `step->write`. */
void txn_step_extend(struct txn_step *step, const struct engine_address *addresses,
                     size_t address_count, void (*go_on)(struct txn_step *step));
/* Has `go_on` run on the thread of the group, from any thread; now if it may wait. */
void txn_step_post(struct txn_step *step, void (*go_on)(struct txn_step *step));

#endif
