/* insight_store.h -- where the summaries of minutes and hours are stored, and for how long.
 *
 * They belong to the table or index that they are about, so they go with it. Minutes are kept for a
 * day and hours for 15 days. Layout: doc/disk-format-monitoring.md, "Summaries of keys".
 */
#ifndef STATOR_INSIGHT_INSIGHT_STORE_H
#define STATOR_INSIGHT_INSIGHT_STORE_H
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/insight_definition.h"

struct arena;

enum {
    INSIGHT_STORE_PARTITION = 0, /* Of the table or index; no partition of items has this number. */
    INSIGHT_STORE_MINUTES = 'M',
    INSIGHT_STORE_HOURS = 'H',
    INSIGHT_STORE_KEY_SIZE = 1 + 1 + 8, /* Rule, resolution, time in ms, big-endian. */
};

struct engine_place insight_store_place(uint64_t target);
struct engine_address insight_store_address(struct arena *arena, uint64_t target,
                                            enum insight_rule rule, uint8_t resolution,
                                            int64_t time_ms);
/* The time of a key. False if it is none of these. */
MUST_CHECK bool insight_store_read_key(struct bytes key, enum insight_rule *rule,
                                       uint8_t *resolution, int64_t *time_ms);
/* The earliest minute that is read and kept, at a time: older ones are read by the hour. */
int64_t insight_store_first_minute_ms(int64_t wall_ms);
int64_t insight_store_first_hour_ms(int64_t wall_ms);

/* Merges the minutes of each hour that has ended, unless that was done before, and removes
 * what is too old. `*rolled_ms`, 0 at first, is where it resumes. Waits for the disk. */
MUST_CHECK enum engine_status insight_store_roll(struct engine *engine, uint64_t target,
                                                 unsigned rules, size_t keys_max, int64_t wall_ms,
                                                 int64_t *rolled_ms);
/* Removes all records of the rules that are not in `rules`. */
MUST_CHECK enum engine_status insight_store_remove(struct engine *engine, uint64_t target,
                                                   unsigned rules);

#endif
