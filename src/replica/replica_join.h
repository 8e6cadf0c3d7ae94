/* replica_join.h -- how a region takes part in the group of a table of another region. */
#ifndef STATOR_REPLICA_REPLICA_JOIN_H
#define STATOR_REPLICA_REPLICA_JOIN_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/replica_definition.h"

struct arena;
struct table_definition;

/* The group as `region` sees it, from the definition of a table in another region. False if the
 * region is not a member. The result borrows the definition. */
MUST_CHECK bool replica_join_view(struct arena *arena, const struct table_definition *said,
                                  struct bytes region, struct replica_definition *out);

/* A draft of an empty table like that of another region, with its group; without what each region
 * has for itself: ids, policies, tags, protection, recovery, Kinesis destinations. Uuid, times and
 * the stream's label are the caller's. */
struct table_definition replica_join_draft(struct arena *arena, const struct table_definition *said,
                                           const struct replica_definition *group);

#endif
