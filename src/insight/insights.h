/* insights.h -- the counters of all Contributor Insights rules while the server runs.
 *
 * Each table that counts keys has its counters in its table_runtime. Counting never waits: the
 * counters of a table or index are divided into INSIGHTS_SHARDS, a thread takes the first that
 * nobody is using, and if all are in use it notes the weight as missed, which reports add to their
 * error. Minutes are those of the wall clock.
 *
 * insights_tick stores the minutes that have ended (insight_store.h), so a crash loses only the
 * current one. insight_report.h reads both what is stored and what is still in memory.
 */
#ifndef STATOR_INSIGHT_INSIGHTS_H
#define STATOR_INSIGHT_INSIGHTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/insight_definition.h"

struct catalogue;
struct clock;
struct insights; /* Opaque. */
struct key_summary;
struct table;
struct table_runtime;

enum {
    INSIGHTS_SHARDS = 8,
    /* A table, its global indexes, and indexes that were replaced and not yet forgotten. */
    INSIGHTS_TARGETS_MAX = 1 + 2 * 20,
    INSIGHTS_KEYS_DEFAULT = 256,  /* Counters of a summary. */
    INSIGHTS_RULES_DEFAULT = 100, /* Of all tables together; the service's own default. */
    INSIGHTS_MINUTE_MS = 60 * 1000,
    INSIGHTS_HOUR_MS = 60 * INSIGHTS_MINUTE_MS,
    INSIGHTS_MINUTES_KEPT_MS = 24 * INSIGHTS_HOUR_MS,
    INSIGHTS_HOURS_KEPT_MS = 15 * 24 * INSIGHTS_HOUR_MS,
};

struct insights_options {
    struct engine *engine; /* Borrowed. */
    size_t keys_max;       /* k; 0: INSIGHTS_KEYS_DEFAULT. */
    size_t rules_max;      /* 0: INSIGHTS_RULES_DEFAULT. */
};
struct insights *insights_create(const struct insights_options *options);
/* After the catalogue was closed, so that no table refers to it. NULL is allowed. */
void insights_destroy(struct insights *insights);
size_t insights_keys_max(const struct insights *insights);
size_t insights_rules_max(const struct insights *insights);
/* What all rules may occupy in memory together, and in the store. */
size_t insights_memory_max(const struct insights_options *options);
uint64_t insights_stored_size_max(const struct insights_options *options);

/* One access to, or throttled request for, an item. */
struct insight_event {
    uint64_t target; /* The id of the table or index. */
    unsigned rules;  /* A bit for each rule that counts it. */
    /* Encoded parts of the key (model/key.h): the partition key, and all of it; data NULL: it is
     * about no single item, and only rules of partition keys count it. */
    struct bytes partition_key;
    struct bytes key;
    /* Of the rules of accesses: half units, three times those of writes. Of the rules of throttles:
     * 1. */
    uint64_t weight;
};
/* The wall time of a moment of clock_monotonic_ns, exact to the minute: the clock is read once in a
 * while only. A step of the wall clock shows within a second. */
int64_t insights_wall_ms(struct insights *insights, const struct clock *clock, int64_t now_ns);
/* Any thread; never waits. */
void insights_count(struct insights *insights, struct table_runtime *runtime,
                    const struct insight_event *event, int64_t wall_ms);

/* Stores what was counted in minutes before that of `wall_ms`, makes hours of minutes, and removes
 * what is too old, for every table of the catalogue that counts keys. One thread at a time; waits
 * for the disk. Failures are logged and tried again with the next tick; returns the first. */
enum engine_status insights_tick(struct insights *insights, struct catalogue *catalogue,
                                 int64_t wall_ms);
/* Removes what rules other than `rules` of a table or index have counted, in memory and in the
 * store. The control thread calls it when no thread counts with them any more. */
MUST_CHECK enum engine_status insights_forget(struct insights *insights,
                                              struct table_runtime *runtime, uint64_t target,
                                              unsigned rules);

/* --- For insight_report.c --- */

/* What one rule has in memory for one minute. */
struct insight_live {
    int64_t minute_ms;
    struct key_summary *summary; /* The caller's. */
    bool replaces;               /* It is all there is of the minute; otherwise it is added. */
};
enum { INSIGHTS_LIVE_MAX = 4 * INSIGHTS_SHARDS };
/* Opens a view, and copies what is in memory at that moment: together they have every event once.
 * Returns the engine's status. */
MUST_CHECK enum engine_status insights_look(struct insights *insights,
                                            struct table_runtime *runtime, uint64_t target,
                                            enum insight_rule rule, struct engine_view **view,
                                            struct insight_live live[INSIGHTS_LIVE_MAX],
                                            size_t *live_count);
uint64_t insights_seed(const struct insights *insights);

#endif
