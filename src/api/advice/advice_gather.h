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
/* `out->window` is set. What it points to lives in `scratch`, but for shapes and the definition,
 * which live as long as the call and the table. False with the call's error set if the store cannot
 * be read. */
MUST_CHECK bool advice_gather(const struct advice_gathering *gathering, struct arena *scratch,
                              const struct table *table, struct advice_table *out);

/* Those of CloudWatch and auto scaling: advice_gather_usage.c. */
MUST_CHECK bool advice_gather_usage(const struct advice_gathering *gathering, struct arena *scratch,
                                    struct advice_table *out);
/* A look at items: advice_gather_items.c. */
MUST_CHECK bool advice_gather_items(const struct advice_gathering *gathering, struct arena *scratch,
                                    struct advice_table *out);

#endif
