/* failing_engine.h -- any engine, but its Nth fallible call fails.
 *
 * For sweeps: run a scenario with the failure at call 1, 2, 3 ... until it no longer strikes, and
 * check after each run that nothing was lost, leaked or half done. Fallible calls are checkpoint,
 * view_open, view_get, scan_open, scan_next, view_next_place, write_begin, write_get and the
 * completion of a commit. One thread at a time may use the wrapper where a test depends on the
 * count.
 *
 * It can also be in the way, as writes of others are: see failing_engine_obstruct.
 */
#ifndef STATOR_TEST_FAILING_ENGINE_H
#define STATOR_TEST_FAILING_ENGINE_H
#include <stdbool.h>
#include <stdint.h>
#include "engine/engine.h"

struct failing_engine_plan {
    uint64_t call;             /* Which one fails, counted from 1; 0: none. */
    enum engine_status status; /* What it answers. */
    bool commits_only;         /* Count commits alone, as ENGINE_CONFLICT and _UNKNOWN need it. */
    bool applied;              /* A commit that fails takes place all the same: ENGINE_UNKNOWN. */
};

/* Takes over `inner`, which engine_close closes too. Fails nothing until a plan is set. */
struct engine *failing_engine_create(struct engine *inner);
/* Starts to count anew. */
void failing_engine_set(struct engine *engine, const struct failing_engine_plan *plan);
/* The next commit is made, but its completion waits until failing_engine_let_go. */
void failing_engine_hold_commit(struct engine *engine);
void failing_engine_let_go(struct engine *engine);
/* What engine_health answers from now on; ENGINE_HEALTH_OK at first. */
void failing_engine_set_health(struct engine *engine, enum engine_health value);
/* How often it was asked. */
int failing_engine_health_calls(struct engine *engine);
/* How often, of a hundred times, the wrapper is in the way of a write whose thread does not wait.
 */
struct failing_engine_obstacles {
    unsigned waits; /* A write begins, or is extended, later: see failing_engine_resume. */
    unsigned busy;  /* It is refused with ENGINE_BUSY. */
    /* Of those that are tried now or not at all: about half of their addresses are held. */
    unsigned held;
    uint64_t seed;
};
/* All zero: never. For tests with one thread. */
void failing_engine_obstruct(struct engine *engine,
                             const struct failing_engine_obstacles *obstacles);
/* Lets one of the writes go on that wait for this, any of them. False if there is none. */
bool failing_engine_resume(struct engine *engine);
/* Calls counted since the plan was set. */
uint64_t failing_engine_calls(struct engine *engine);
/* Whether the planned failure has struck. */
bool failing_engine_struck(struct engine *engine);

#endif
