/* replica_rules.h -- the rules of UpdateTable for the replicas and witnesses of global tables.
 *
 * Pure: requests that passed their shape in, one action on one replica out, or the service's
 * message. In the service's order: what else is in the request, how many actions it has, their
 * regions, and then the state of the table and its replicas.
 */
#ifndef STATOR_API_TABLE_REPLICA_RULES_H
#define STATOR_API_TABLE_REPLICA_RULES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct error;
struct replica_request;
struct table_definition;
struct update_table_request;

/* The service has no such bound, and accepts one action, or the same Create several times. */
enum { REPLICA_UPDATES_MAX = 64 };
/* How long the region stays that a replica was filled from. */
#define REPLICA_SOURCE_MS (INT64_C(24) * 3600 * 1000)

/* The regions that this server knows. */
struct replica_regions {
    const char *own;
    const struct bytes *peers;
    size_t peer_count;
};

enum replica_action_kind {
    REPLICA_CREATE,
    REPLICA_UPDATE,
    REPLICA_DELETE,
    REPLICA_DISASSOCIATE,
};
struct replica_action {
    enum replica_action_kind kind;
    const struct replica_request *replica;
};

/* Of the table in this region. */
struct replica_state {
    const struct table_definition *table; /* With its group. */
    bool is_strong;                       /* MultiRegionConsistency is STRONG. */
    struct bytes witness;                 /* Its region; data NULL: none. */
    bool engine_is_shared; /* Several servers use one store, so STRONG is possible. */
    /* Names a global index whose write capacity is provisioned and not scaled, or the table itself
     * (empty); data NULL: none. */
    struct bytes unscaled;
};

/* Is the request about replicas, witnesses, or the settings of a global table? */
bool replica_rules_concerns(const struct update_table_request *request);

/* The rules that do not depend on the table. Sets `action` to the first one of the request; a
 * request has more than one only with strong consistency. */
MUST_CHECK bool replica_rules_check(const struct update_table_request *request,
                                    const struct replica_regions *regions,
                                    struct replica_action *action, struct error *err);
/* The rules of a change of DisassociationProtectionEnabled. */
MUST_CHECK bool replica_rules_check_protection(const struct update_table_request *request,
                                               const struct table_definition *table,
                                               struct error *err);
/* The rest, for a request that passed the first. The table is ACTIVE. */
MUST_CHECK bool replica_rules_check_state(const struct update_table_request *request,
                                          const struct replica_action *action,
                                          const struct replica_state *state, struct error *err);

/* A table of that name is in the region already; returns false. */
bool replica_rules_refuse_existing(const struct table_definition *table, struct error *err);

/* Deletion protection keeps the replica of that region; returns false. */
bool replica_rules_refuse_protected(const struct table_definition *table, struct bytes region,
                                    struct error *err);

/* Some table of the group is being changed; returns false. */
bool replica_rules_refuse_unsettled(struct error *err);

/* What a global table refuses while one of its replicas is being made or deleted. */
MUST_CHECK bool replica_rules_check_settled(const struct table_definition *table,
                                            struct error *err);
/* The rules of UpdateTable for other settings of a global table. */
MUST_CHECK bool replica_rules_check_update(const struct update_table_request *request,
                                           const struct table_definition *table, struct error *err);
/* Does UpdateTable ask for something that all replicas share? And for something that overrides of
 * regions stand against, so that they end? */
bool replica_rules_is_shared(const struct update_table_request *request);
bool replica_rules_ends_overrides(const struct update_table_request *request);
/* A table that others are filled from stays for a day, or until they are gone. */
MUST_CHECK bool replica_rules_check_source(const struct table_definition *table,
                                           struct bytes region, int64_t now_ms, struct error *err);
/* DeleteTable of a member of a group, which is not protected. */
MUST_CHECK bool replica_rules_check_delete(const struct table_definition *table, int64_t now_ms,
                                           struct error *err);

#endif
