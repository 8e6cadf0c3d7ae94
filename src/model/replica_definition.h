/* replica_definition.h -- the group of regions that a table is replicated in, as each member stores
 * it with its own copy of the table.
 *
 * All members agree on who belongs to the group by its epoch: every change of the membership makes
 * the next one, and the greatest wins. The rest is each member's own.
 */
#ifndef STATOR_MODEL_REPLICA_DEFINITION_H
#define STATOR_MODEL_REPLICA_DEFINITION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum {
    REPLICAS_MAX = 16, /* Members of a group besides the own region. */
    REPLICA_REGION_SIZE_MAX = 64,
    REPLICA_INDEX_OVERRIDES_MAX = 25,
};

/* Stored by name. */
enum replica_status {
    REPLICA_ACTIVE,
    REPLICA_CREATING, /* It is being filled, and takes no writes of clients. */
    REPLICA_CREATION_FAILED,
    REPLICA_UPDATING,
    REPLICA_DELETING,
    /* Of the own region only: it leaves the group once it has sent and received what waits. */
    REPLICA_DISASSOCIATING,
    REPLICA_STATUS_COUNT,
};
const char *replica_status_name(enum replica_status status);
MUST_CHECK bool replica_status_parse(struct bytes text, enum replica_status *out);

/* What a region has that differs from the others. -1: nothing. */
struct replica_override {
    struct bytes index_name; /* data NULL: of the table. */
    int64_t read_units;
    int64_t on_demand_read_max;
};

struct replica_member {
    struct bytes region;
    uint32_t id; /* replica_region_id. Set by whoever makes or decodes the definition. */
    enum replica_status status;
    int64_t added_ms;
    struct bytes source; /* The region that it was filled from; len 0: it is the first. */
    /* Local: everything that was there when it was added waits in its queue, or was sent. */
    bool is_noted;
    bool table_class_given; /* TableClassOverride; enum table_class. */
    bool may_leave;         /* Of the own region only: DisassociationProtectionEnabled is false. */
    int table_class;
    struct replica_override override; /* Of the table. */
    struct replica_override *index_overrides;
    size_t index_override_count;
};

struct replica_definition {
    struct bytes group_id; /* A UUID; data NULL: the table is of no group, and all else is zero. */
    int64_t epoch;
    struct bytes coordinator;       /* The region that made this epoch, and sees it through. */
    struct replica_member own;      /* This region. */
    struct replica_member *members; /* The others, in the order in which they were added. */
    size_t count;
};

static inline bool replica_definition_is_group(const struct replica_definition *replicas)
{
    return replicas->group_id.data != NULL;
}

/* By which stamps tell regions apart: never 0. */
uint32_t replica_region_id(struct bytes region);

/* The member of that region among the others; NULL: there is none. */
const struct replica_member *replica_definition_find(const struct replica_definition *replicas,
                                                     struct bytes region);
/* Whether writes are queued for the member. */
static inline bool replica_member_is_fed(const struct replica_member *member)
{
    return member->status != REPLICA_DELETING && member->status != REPLICA_CREATION_FAILED;
}

#endif
