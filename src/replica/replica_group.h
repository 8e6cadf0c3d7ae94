/* replica_group.h -- the group of regions that share a table: how members come and go.
 *
 * The group is stored with each member's copy of the table (model/replica_definition.h):
 * `definition->replicas` tells members, their statuses and overrides; a table without a group has
 * no `group_id`. A change of the membership is made at one member, its coordinator. The functions
 * here change a draft of the definition, which the caller then stores (catalogue_update). The
 * threads of replicas.h carry the new epoch to the other members and take the steps that follow
 * from it, also after a restart:
 *
 *   CREATING  the table there is filled; then it becomes ACTIVE
 *   DELETING  the table there is dropped; then the member is gone. When the last one is gone, the
 *             table is a regional one again
 *
 * All functions run on the control thread unless they say otherwise. Those that ask another server
 * wait for it, REPLICA_ASK_MS at most.
 */
#ifndef STATOR_REPLICA_REPLICA_GROUP_H
#define STATOR_REPLICA_REPLICA_GROUP_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/replica_definition.h"

struct arena;
struct catalogue;
struct error;
struct replicas;
struct table_definition;

enum { REPLICA_ASK_MS = 5000 };

/* Why a region cannot become a member. */
enum replica_refusal {
    REPLICA_TAKEN,       /* It did. */
    REPLICA_UNKNOWN,     /* The server has no such peer. */
    REPLICA_EXISTS,      /* A table of that name exists there. */
    REPLICA_UNREACHABLE, /* The server there does not answer. */
    REPLICA_DENIED,      /* It does not admit our key. */
    REPLICA_PROTECTED,   /* A rule forbids it: of a removal, the deletion protection there. */
    REPLICA_FAILED,      /* It refused for another reason, which `problem` tells. */
    REPLICA_GONE,        /* It has no such table, or none of the group. */
    REPLICA_BUSY,        /* The table there is changing, or the group has changed: try again. */
};

/* Asks the server of `wanted->region` to make a table like `changed`, and adds it to the group in
 * `changed`, CREATING; makes a group of a regional table. `wanted` has the region and overrides;
 * the rest is set here. `changed` has its stream enabled already. All else the caller has checked.
 * `*problem` is for people. */
enum replica_refusal replica_group_add(struct replicas *replicas, struct arena *arena,
                                       const struct replica_member *wanted,
                                       struct table_definition *changed, struct bytes *problem);

/* Tells the server of a member that `changed` has DELETING to drop its table now. */
enum replica_refusal replica_group_ask_removal(struct replicas *replicas, struct arena *arena,
                                               const struct table_definition *changed,
                                               struct bytes region, struct bytes *problem);

/* Marks a member DELETING: its table is going to be dropped. False if there is none. */
MUST_CHECK bool replica_group_remove(struct arena *arena, struct table_definition *changed,
                                     struct bytes region);
/* Takes a member out at once, although its table may be left: for a region that is lost for good.
 * The others send each other what only some of them had from it. False if there is none. */
MUST_CHECK bool replica_group_forget(struct arena *arena, struct table_definition *changed,
                                     struct bytes region);
/* Lets this region begin to leave the group: it keeps its table. False if it leaves already. */
MUST_CHECK bool replica_group_disassociate(struct arena *arena, struct table_definition *changed);
/* This region is a member no more, whether it was waiting to leave or not. */
void replica_group_leave(struct table_definition *changed);
/* Replaces the overrides of a member, or of this region. False if there is none. */
MUST_CHECK bool replica_group_override(struct arena *arena, struct table_definition *changed,
                                       const struct replica_member *wanted);

/* Makes a new epoch of the group because a setting that all members share has changed, which they
 * then follow (control/replica_settings.h). `overrides_end`: it is one that regions may have
 * overrides for. Nothing for a regional table. */
void replica_group_announce(struct arena *arena, struct table_definition *changed,
                            bool overrides_end);

/* Whether no member is being made or deleted. Any thread. */
bool replica_group_is_settled(const struct replica_definition *group);

/* Takes every table out of its group: the other regions then take this one out. A table that was
 * being filled is removed later. For a store that was made from a backup, before anything else runs
 * on it. */
MUST_CHECK enum engine_status replica_group_leave_all(struct catalogue *catalogue);

/* A copy of the group whose members may be changed, and one more added. Any thread. */
struct replica_definition replica_group_copy(struct arena *arena,
                                             const struct replica_definition *group);

/* Whether one view of a group is later than another: of two epochs with one number, which two
 * members made at the same time, one is, everywhere. */
bool replica_group_is_newer(const struct replica_definition *said,
                            const struct replica_definition *known);

/* What another member says about the group. True if `changed` adopted it: it is newer than what was
 * known. Local notes of members that stay are kept. */
bool replica_group_adopt(struct arena *arena, struct table_definition *changed,
                         const struct replica_definition *said);

#endif
