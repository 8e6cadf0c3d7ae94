/* replica_settings.h -- the settings that all replicas of a global table share.
 *
 * A change at one member is announced as a new epoch of its group; each other member then makes its
 * own definition follow that member's. Capacity, global indexes, time to live, the table class and
 * whether there is encryption follow. Reads may differ where the group has an override for the
 * region, and so may the class. Deletion protection, recovery, tags, policies, insights, Kinesis
 * destinations and encryption keys are each region's own.
 */
#ifndef STATOR_CONTROL_REPLICA_SETTINGS_H
#define STATOR_CONTROL_REPLICA_SETTINGS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

struct arena;
struct table_definition;

/* Moves `table`, a copy of this region's definition, towards `said`, which another member has.
 * False if that needs another call later: an index or the expiry queue is still changing. What was
 * done is worth storing in either case; the group of `table` is not changed. */
MUST_CHECK bool replica_settings_follow(struct arena *arena, struct table_definition *table,
                                        const struct table_definition *said, int64_t now_ms);

/* Gives the table what the group has as this region's own overrides. */
void replica_settings_apply_overrides(struct table_definition *table);

#endif
