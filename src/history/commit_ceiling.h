/* commit_ceiling.h -- the stored time that is later than every commit time of the store.
 *
 * Commit times must never be taken twice and never go back (base/clock.h), although a server may be
 * killed and the wall clock set back before the next one starts. So a write whose commit time is
 * not below the durable ceiling puts a new ceiling, the end of that second, into its own batch.
 * Commit times resume at the ceiling: at most a second, and usually nothing, is skipped.
 *
 * Each ceiling has a key of its own, and the greatest one counts. Batches may reach the store in
 * another order than their times; with one key for all, a late batch would bring back a lower
 * ceiling. A batch that puts a ceiling removes the one before; the next start removes those that a
 * crash left. Layout: doc/disk-format-recovery.md, "Commit times".
 */
#ifndef STATOR_HISTORY_COMMIT_CEILING_H
#define STATOR_HISTORY_COMMIT_CEILING_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct clock;

enum {
    COMMIT_CEILING_FORMAT = 1,
    COMMIT_CEILING_KEY_SIZE = 8,
    COMMIT_CEILING_SIZE = 1 + 4,
    /* A server that starts says so if commit times are this much ahead of the wall clock. */
    COMMIT_CEILING_AHEAD_SECONDS = 60 * 60,
};

extern const struct engine_place commit_ceiling_place;

/* Makes commit times resume behind those of earlier runs. For a server that starts, before any
 * write. Removes ceilings that a later one has replaced. */
MUST_CHECK enum engine_status commit_ceiling_load(struct engine *engine, const struct clock *clock);

/* Puts a ceiling above `commit_us` into the write unless the durable one is above it already.
 * Returns the ceiling, for commit_clock_raise_ceiling once the write is durable; 0: none was put.
 */
int64_t commit_ceiling_put(const struct clock *clock, struct engine_write *write,
                           int64_t commit_us);

/* Makes all commit times that are taken from now on `at_us` or later, also after a restart, and
 * returns when that is durable. Waits for the disk. */
MUST_CHECK enum engine_status commit_ceiling_reach(struct engine *engine, const struct clock *clock,
                                                   int64_t at_us);

/* The ceiling that a stored record is. False if it is none. */
MUST_CHECK bool commit_ceiling_decode(struct bytes key, struct bytes value, int64_t *ceiling_us);

#endif
