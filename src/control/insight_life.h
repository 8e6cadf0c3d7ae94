/* insight_life.h -- the life cycle of the Contributor Insights of a table or global index.
 *
 *   NEVER, DISABLED, FAILED --enable--> ENABLING --due--> ENABLED, or FAILED
 *   ENABLED --enable, another mode----> ENABLING --due--> ENABLED
 *   ENABLING, ENABLED, FAILED --disable--> DISABLING --due, no older version--> DISABLED
 *
 * Keys are counted as soon as a rule exists, i.e. in ENABLING too. FAILED is what becomes of one
 * that would make more rules than the server is to have. Whatever the rules that are gone have
 * counted is removed with the step that ends ENABLING or DISABLING: when no older version of the
 * table is referenced, nobody counts for them any more.
 */
#ifndef STATOR_CONTROL_INSIGHT_LIFE_H
#define STATOR_CONTROL_INSIGHT_LIFE_H
#include <stdbool.h>
#include <stdint.h>
#include "control/table_life.h"
#include "model/insight_definition.h"

struct arena;
struct catalogue;
struct insights;

/* The allowed transitions. */
bool insight_life_may_move(enum insight_status from, enum insight_status to);

struct insight_life {
    struct catalogue *catalogue;
    struct insights *insights;
};
/* Control. Enables one with a mode, or changes the mode of one that is enabled; `has_sort_key` is
 * its table's or index's. Where transitions take no time and no rule goes, it is ENABLED at once.
 */
void insight_life_enable(const struct insight_life *life, struct insight_definition *insight,
                         bool has_sort_key, bool throttled_only,
                         const struct table_life_pace *pace);
void insight_life_disable(struct insight_definition *insight, const struct table_life_pace *pace);
/* How many rules there are on the server. */
size_t insight_life_count_rules(const struct insight_life *life);

/* Control. Takes every step that is due. Returns as table_life_run. */
int64_t insight_life_run(const struct insight_life *life, struct arena *arena,
                         const struct table_life_pace *pace);

#endif
