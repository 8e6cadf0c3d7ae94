/* advice_gather.h -- the facts about a table that the adviser judges by (advice/advice.h).
 *
 * They come from the catalogue, from the table's statistics, the meter, CloudWatch's samples,
 * Contributor Insights, auto scaling, alarms and triggers, and from a look at a few hundred items.
 * It waits for the disk: not for event loops.
 */
#ifndef STATOR_API_ADVICE_ADVICE_GATHER_H
#define STATOR_API_ADVICE_ADVICE_GATHER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "advice/advice.h"
#include "base/compiler.h"

struct api_call;
struct arena;
struct insight_report;
struct key_summary;
struct series_reader;
struct table;

/* Read once for all tables of an answer. */
struct advice_gathering {
    struct api_call *call;
    int64_t now_ms;
    int64_t since_ms;
    struct shape_uses shapes;
    struct bytes *watched; /* Tables whose metrics alarms watch, one element for each alarm. */
    size_t watched_count;
    const struct trigger_statistics *triggers;
    size_t trigger_count;
};
void advice_gathering_init(struct advice_gathering *gathering, struct api_call *call,
                           int64_t since_ms);
enum advice_gather_stage {
    ADVICE_GATHER_STATS,
    ADVICE_GATHER_KEYS, /* This and the next two: of the table and each index in turn. */
    ADVICE_GATHER_USAGE,
    ADVICE_GATHER_ITEMS,
    ADVICE_GATHER_END,
};

/* The facts about one table, gathered in small steps, between which the call may pause and move to
 * another thread. Memory: what the facts point to, and what one step needs. */
struct advice_gather {
    const struct advice_gathering *gathering;
    const struct table *table;
    struct advice_table *out;
    struct arena *arena;   /* What the facts point to. */
    struct arena *scratch; /* For one table or index. */
    enum advice_gather_stage stage;
    size_t resource;               /* 0: the table; otherwise its index of that number less 1. */
    struct insight_report *pieces; /* NULL, as the next one: not open. */
    struct key_summary *merged;
    struct series_reader *reader; /* NULL: not open. */
    struct arena *reader_arena;
};

/* `out->window` is set. The table, `gathering` and `out` outlive it. Shapes and the definition live
 * as long as the call and the table. */
void advice_gather_begin(struct advice_gather *gather, const struct advice_gathering *gathering,
                         const struct table *table, struct advice_table *out);
enum advice_gather_status {
    ADVICE_GATHER_GOES_ON,
    ADVICE_GATHER_DONE,
    ADVICE_GATHER_FAILED, /* The call's error is set: the store cannot be read. */
};
MUST_CHECK enum advice_gather_status advice_gather_step(struct advice_gather *gather);
/* Lets go of what belongs to this thread. */
void advice_gather_pause(struct advice_gather *gather);
/* Releases everything, whatever the last step said. */
void advice_gather_end(struct advice_gather *gather);

/* For advice_gather.c only. `index` NULL: the table; otherwise a global index. */

/* Samples of CloudWatch, targets of auto scaling: advice_gather_usage.c. */
MUST_CHECK bool advice_gather_usage(struct advice_gather *gather,
                                    const struct index_definition *index, struct advice_usage *out);
void advice_gather_close_samples(struct advice_gather *gather);
/* A look at items: advice_gather_items.c. */
MUST_CHECK bool advice_gather_items(struct advice_gather *gather,
                                    const struct index_definition *index,
                                    struct advice_sample *out);

#endif
