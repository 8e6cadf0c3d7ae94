/* scaling.h -- the targets, policies, scheduled actions and activities of Application Auto Scaling:
 * held in memory, stored durably.
 *
 * A change is a set of objects to put and to delete. It is one engine write, and it shows in memory
 * once it is durable. Everything here happens between scaling_lock and scaling_unlock, which may
 * wait for the disk: never on an event loop.
 */
#ifndef STATOR_SCALING_SCALING_H
#define STATOR_SCALING_SCALING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "scaling/scaling_objects.h"

struct arena;
struct scaling;

enum {
    /* Of the service, per target. */
    SCALING_POLICIES_PER_TARGET_MAX = 50,
    SCALING_ACTIONS_PER_TARGET_MAX = 200,
    /* In all. The service's bound on targets of DynamoDB; ours on the rest. */
    SCALING_TARGETS_MAX = 5000,
    SCALING_POLICIES_MAX = 10000,
    SCALING_ACTIONS_MAX = 10000,
    SCALING_ACTIVITIES_MAX = 10000, /* The oldest go first. */
};
#define SCALING_ACTIVITY_MS_MAX (INT64_C(42) * 86400 * 1000) /* Six weeks. */

/* NULL with the engine's status if the store cannot be read; ENGINE_CORRUPT for a damaged record.
 */
MUST_CHECK struct scaling *scaling_open(struct engine *engine, enum engine_status *status);
void scaling_close(struct scaling *scaling); /* NULL is allowed. */

void scaling_lock(struct scaling *scaling);
void scaling_unlock(struct scaling *scaling);

/* --- Reading. What these return is valid until the next change. --- */

/* Sorted by key: dimension, resource and name; activities by time. */
size_t scaling_count(const struct scaling *scaling, enum scaling_kind kind);
const void *scaling_at(const struct scaling *scaling, enum scaling_kind kind, size_t index);
/* NULL if there is none. */
const struct scaling_target *scaling_find_target(const struct scaling *scaling,
                                                 const struct scaling_id *id);
const struct scaling_policy *scaling_find_policy(const struct scaling *scaling,
                                                 const struct scaling_id *id, struct bytes name);
const struct scaling_action *scaling_find_action(const struct scaling *scaling,
                                                 const struct scaling_id *id, struct bytes name);
/* The objects of one target: `*first` is the index of the first one; returns how many. Not for
 * activities. */
size_t scaling_of_target(const struct scaling *scaling, enum scaling_kind kind,
                         const struct scaling_id *id, size_t *first);
/* True if no further object of the kind has room. */
bool scaling_is_full(const struct scaling *scaling, enum scaling_kind kind);

/* --- Counters --- */

enum scaling_outcome {
    SCALING_SUCCESSFUL,
    SCALING_FAILED,
    SCALING_UNFULFILLED, /* An alarm asked for a change that was not possible. */
    SCALING_OUTCOMES,
};
const char *scaling_outcome_name(enum scaling_outcome outcome); /* "Successful" */

/* What was done for a target since the server's start. Lasts when the target goes, since counters
 * do not fall. */
struct scaling_actions {
    struct scaling_id id;
    uint64_t counts[SCALING_OUTCOMES];
};
/* Of no more than SCALING_TARGETS_MAX targets; those of others are not counted. */
void scaling_count_action(struct scaling *scaling, const struct scaling_id *id,
                          enum scaling_outcome outcome);
/* NULL behind the last one. */
const struct scaling_actions *scaling_actions_at(const struct scaling *scaling, size_t index);

/* --- Changing --- */

enum { SCALING_CHANGES_MAX = 512 }; /* A target with all that it may have fits. */

struct scaling_change {
    struct scaling *scaling;
    struct arena *arena;
    struct {
        enum scaling_kind kind;
        const void *object;
        bool is_deleted;
    } changes[SCALING_CHANGES_MAX];
    size_t count;
};
void scaling_change_init(struct scaling_change *change, struct scaling *scaling,
                         struct arena *arena);
/* The objects must live until the commit. A put replaces the object of the same key. */
void scaling_change_put(struct scaling_change *change, enum scaling_kind kind, const void *object);
void scaling_change_delete(struct scaling_change *change, enum scaling_kind kind,
                           const void *object);
/* What else belongs to the same engine write: the alarms of policies. */
struct scaling_partner {
    void *context;
    /* False: the write is abandoned, and the commit returns ENGINE_IO. */
    bool (*add)(void *context, struct engine_write *write);
    void (*end)(void *context, enum engine_status status); /* Of the commit. */
};
/* Adds the deletion of activities that are too old or too many, then writes. Either all or nothing
 * has happened. `partner` may be NULL. ENGINE_CORRUPT, and nothing is written, if an object exceeds
 * the bounds of scaling_objects.h. */
MUST_CHECK enum engine_status scaling_change_commit(struct scaling_change *change, int64_t now_ms,
                                                    const struct scaling_partner *partner);

#endif
