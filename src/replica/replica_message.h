/* replica_message.h -- the bodies of calls between regions, and what their answers say. */
#ifndef STATOR_REPLICA_REPLICA_MESSAGE_H
#define STATOR_REPLICA_REPLICA_MESSAGE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct replica_batch;
struct replica_page;
struct table_definition;

/* Both name the region they are meant for: a server whose address was given for that of another
 * region refuses them.
 * Of ReplicateSettings: the table as this region stores it. `makes`: that region is to make it. */
struct bytes replica_message_table(struct arena *arena, struct bytes from, struct bytes to,
                                   const struct table_definition *table, bool makes);
/* Of WriteDataForReplication: those rows of the page that are sent. */
struct bytes replica_message_rows(struct arena *arena, const struct table_definition *table,
                                  const struct replica_batch *batch,
                                  const struct replica_page *page);

/* What an answer says. */
struct replica_said {
    int64_t epoch;            /* Of ReplicateSettings: that the server knows, */
    struct bytes coordinator; /* and who made it. */
    bool is_gone;             /* It has no such table, or is no member any more. */
    bool is_removed;          /* The caller is no member any more. */
    bool is_applied;          /* Of WriteDataForReplication. */
    struct bytes session;     /* To be used from now on, */
    int64_t number;           /* behind this number. */
};
MUST_CHECK bool replica_message_read(struct arena *arena, struct bytes body,
                                     struct replica_said *out);

#endif
