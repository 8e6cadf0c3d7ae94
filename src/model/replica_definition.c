/* replica_definition.c -- see replica_definition.h. */
#include "model/replica_definition.h"
#include <assert.h>
#include "base/compiler.h"
#include "base/crc32c.h"

static const char *const status_names[REPLICA_STATUS_COUNT] = {
    [REPLICA_ACTIVE] = "ACTIVE",
    [REPLICA_CREATING] = "CREATING",
    [REPLICA_CREATION_FAILED] = "CREATION_FAILED",
    [REPLICA_UPDATING] = "UPDATING",
    [REPLICA_DELETING] = "DELETING",
    [REPLICA_DISASSOCIATING] = "DISASSOCIATING",
};

const char *replica_status_name(enum replica_status status)
{
    assert(status < REPLICA_STATUS_COUNT);
    return status_names[status];
}

bool replica_status_parse(struct bytes text, enum replica_status *out)
{
    for (size_t i = 0; i < COUNT_OF(status_names); i++) {
        if (!bytes_equal_text(text, status_names[i]))
            continue;
        *out = (enum replica_status)i;
        return true;
    }
    return false;
}

uint32_t replica_region_id(struct bytes region)
{
    uint32_t id = crc32c(region);
    return id == 0 ? 1 : id;
}

const struct replica_member *replica_definition_find(const struct replica_definition *replicas,
                                                     struct bytes region)
{
    for (size_t i = 0; i < replicas->count; i++)
        if (bytes_equal(replicas->members[i].region, region))
            return &replicas->members[i];
    return NULL;
}
