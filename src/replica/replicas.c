/* replicas.c -- see replicas.h. The threads' work is in replica_ship.c and replica_collect.c, the
 * rows of others in replica_apply.c. */
#include "replica/replicas.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "model/table_definition.h"
#include "replica/replica_group.h"
#include "replica/replica_internal.h"
#include "replica/replica_rows.h"
#include "table/catalogue.h"

/* --- Links --- */

struct replica_peer_state *replica_peer_find(struct replicas *replicas, struct bytes region)
{
    for (size_t i = 0; i < replicas->peer_count; i++)
        if (bytes_equal(replicas->peers[i].at.region, region))
            return &replicas->peers[i];
    return NULL;
}

const struct replica_peer *replicas_find_peer(const struct replicas *replicas, struct bytes region)
{
    for (size_t i = 0; i < replicas->peer_count; i++)
        if (bytes_equal(replicas->peers[i].at.region, region))
            return &replicas->peers[i].at;
    return NULL;
}

const struct replicas_options *replicas_get_options(const struct replicas *replicas)
{
    return &replicas->options;
}

struct replica_link *replica_link_find_locked(struct replica_peer_state *peer,
                                              const struct replica_definition *group)
{
    assert(group->group_id.len == REPLICA_ID_SIZE);
    for (size_t i = 0; i < peer->link_count; i++)
        if (memcmp(peer->links[i]->group_id, group->group_id.data, REPLICA_ID_SIZE) == 0)
            return peer->links[i];
    if (peer->link_count >= REPLICA_LINKS_MAX)
        return NULL;
    if (peer->link_count == peer->link_capacity) {
        peer->link_capacity = peer->link_capacity * 2 + 8;
        peer->links = memory_checked(
            realloc(peer->links, peer->link_capacity * sizeof(struct replica_link *)));
    }
    struct replica_link *link = memory_checked(calloc(1, sizeof *link));
    memcpy(link->group_id, group->group_id.data, REPLICA_ID_SIZE);
    link->seen_round = peer->round;
    peer->links[peer->link_count++] = link;
    return link;
}

static void free_link(struct replica_link *link)
{
    free(link->pass);
    free(link);
}

void replica_links_drop_locked(struct replica_peer_state *peer)
{
    size_t kept = 0;
    for (size_t i = 0; i < peer->link_count; i++) {
        struct replica_link *link = peer->links[i];
        if (link->seen_round + 1 < peer->round)
            free_link(link);
        else
            peer->links[kept++] = link;
    }
    peer->link_count = kept;
}

static const struct replica_link *
find_link(struct replicas *replicas, const struct replica_definition *group, struct bytes region)
{
    struct replica_peer_state *peer = replica_peer_find(replicas, region);
    return peer == NULL ? NULL : replica_link_find_locked(peer, group);
}

int64_t replica_own_low_locked(struct replicas *replicas, const struct replica_definition *group)
{
    int64_t low_us = INT64_MAX;
    for (size_t i = 0; i < group->count; i++) {
        const struct replica_member *member = &group->members[i];
        if (!replica_member_is_fed(member))
            continue;
        const struct replica_link *link = find_link(replicas, group, member->region);
        int64_t closed_us = link == NULL || !member->is_noted ? 0 : link->closed_us;
        low_us = closed_us < low_us ? closed_us : low_us;
    }
    return low_us == INT64_MAX ? 0 : low_us;
}

int64_t replicas_low_us(struct replicas *replicas, const struct table_definition *table)
{
    const struct replica_definition *group = &table->replicas;
    if (replicas == NULL || !replica_definition_is_group(group) || !replica_group_is_settled(group))
        return 0;
    pthread_mutex_lock(&replicas->mutex);
    int64_t low_us = replica_own_low_locked(replicas, group);
    for (size_t i = 0; i < group->count; i++) {
        const struct replica_link *link = find_link(replicas, group, group->members[i].region);
        int64_t said_us = link == NULL || link->low_epoch != group->epoch ? 0 : link->low_us;
        low_us = said_us < low_us ? said_us : low_us;
    }
    pthread_mutex_unlock(&replicas->mutex);
    return low_us;
}

int64_t replicas_complete_us(struct replicas *replicas, const struct table_definition *table)
{
    const struct replica_definition *group = &table->replicas;
    int64_t complete_us = INT64_MAX;
    if (replicas == NULL || group->own.status != REPLICA_ACTIVE)
        return 0;
    pthread_mutex_lock(&replicas->mutex);
    for (size_t i = 0; i < group->count; i++) {
        const struct replica_link *link = find_link(replicas, group, group->members[i].region);
        /* What it said in an older epoch counts no more: it may have to send again what a region
         * that was taken out had sent to some of the others only. For the same reason nothing is
         * complete while a region is DELETING. One that is being made has not written anything. */
        bool has_said = link != NULL && link->low_epoch == group->epoch &&
                        group->members[i].status != REPLICA_DELETING;
        int64_t received_us = has_said ? link->received_us : 0;
        if (group->members[i].status != REPLICA_CREATING && received_us < complete_us)
            complete_us = received_us;
    }
    pthread_mutex_unlock(&replicas->mutex);
    return complete_us;
}

int64_t replicas_expiry_limit(void *context, const struct table_definition *table, int64_t to)
{
    const struct replica_definition *group = &table->replicas;
    if (group->count == 0)
        return to;
    int64_t complete_us = replicas_complete_us(context, table);
    int64_t limit = complete_us == INT64_MAX ? to : complete_us / 1000000;
    for (size_t i = 0; i < group->count; i++)
        if (bytes_compare(group->members[i].region, group->own.region) < 0) {
            limit -= REPLICA_EXPIRY_DELAY_S;
            break;
        }
    return limit < to ? limit : to;
}

bool replicas_link_state(struct replicas *replicas, const struct table_definition *table,
                         struct bytes region, struct replica_link_state *out)
{
    const struct replica_definition *group = &table->replicas;
    struct replica_peer_state *peer = replicas == NULL ? NULL : replica_peer_find(replicas, region);
    if (peer == NULL || !replica_definition_is_group(group))
        return false;
    pthread_mutex_lock(&replicas->mutex);
    const struct replica_link *link = replica_link_find_locked(peer, group);
    if (link != NULL)
        *out = (struct replica_link_state){ .closed_us = link->closed_us,
                                            .received_us = link->received_us,
                                            .rows_sent = link->rows_sent,
                                            .latency_max_us = link->latency_max_us,
                                            .ahead_us = peer->ahead_us,
                                            .is_reached = peer->is_reached };
    pthread_mutex_unlock(&replicas->mutex);
    return link != NULL;
}

bool replicas_lost_source(struct replicas *replicas, const struct table_definition *table,
                          const struct replica_member *member)
{
    if (replicas == NULL || member->status != REPLICA_CREATING ||
        bytes_equal(member->source, table->replicas.own.region))
        return false;
    struct replica_peer_state *peer = replica_peer_find(replicas, member->source);
    if (peer == NULL)
        return true;
    pthread_mutex_lock(&replicas->mutex);
    bool is_lost = peer->is_called && !peer->is_reached;
    pthread_mutex_unlock(&replicas->mutex);
    return is_lost;
}

bool replicas_take_latency(struct replicas *replicas, const struct table_definition *table,
                           struct bytes region, struct replica_latency *out)
{
    const struct replica_definition *group = &table->replicas;
    struct replica_peer_state *peer = replicas == NULL ? NULL : replica_peer_find(replicas, region);
    *out = (struct replica_latency){ 0 };
    if (peer == NULL || !replica_definition_is_group(group))
        return false;
    pthread_mutex_lock(&replicas->mutex);
    struct replica_link *link = replica_link_find_locked(peer, group);
    if (link != NULL) {
        *out = link->latency;
        link->latency = (struct replica_latency){ 0 };
    }
    pthread_mutex_unlock(&replicas->mutex);
    return out->count > 0;
}

bool replicas_read_statistics(struct replicas *replicas, size_t index,
                              struct replicas_peer_statistics *out)
{
    if (replicas == NULL || index >= replicas->peer_count)
        return false;
    pthread_mutex_lock(&replicas->mutex);
    const struct replica_peer_state *peer = &replicas->peers[index];
    *out = (struct replicas_peer_statistics){ .region = peer->at.region,
                                              .is_reached = peer->is_reached,
                                              .table_count = peer->link_count,
                                              .rows_sent = peer->rows_sent,
                                              .closed_us = peer->link_count == 0 ? 0 : INT64_MAX };
    for (size_t i = 0; i < peer->link_count; i++) {
        const struct replica_link *link = peer->links[i];
        out->refused_count += link->is_refused;
        out->closed_us = link->closed_us < out->closed_us ? link->closed_us : out->closed_us;
    }
    pthread_mutex_unlock(&replicas->mutex);
    return true;
}

/* --- Steps --- */

struct step {
    struct replicas *replicas;
    const struct table_definition *table; /* As the thread has seen it. */
    enum replica_step kind;
    struct bytes region;
    enum engine_status status;
};

static struct replica_member *member_of(struct replica_definition *group, struct bytes region)
{
    for (size_t i = 0; i < group->count; i++)
        if (bytes_equal(group->members[i].region, region))
            return &group->members[i];
    return NULL;
}

/* False if there is nothing to store. */
static bool change(struct arena *arena, const struct step *step, struct table_definition *changed)
{
    struct replica_definition group = replica_group_copy(arena, &changed->replicas);
    struct replica_member *member = member_of(&group, step->region);
    switch (step->kind) {
    case REPLICA_STEP_FORGET:
        return replica_group_forget(arena, changed, step->region);
    case REPLICA_STEP_NOTE:
        if (member != NULL)
            member->is_noted = true;
        break;
    case REPLICA_STEP_ACTIVATE:
        if (member == NULL || member->status != REPLICA_CREATING)
            return false;
        member->status = REPLICA_ACTIVE;
        group.epoch++;
        group.coordinator = group.own.region;
        break;
    case REPLICA_STEP_SWEEP:
        return true;
    case REPLICA_STEP_LEAVE:
        if (changed->replicas.own.status != REPLICA_DISASSOCIATING)
            return false;
        log_write(LOG_INFO, "replica", "table %.*s: is disassociated", BYTES_FMT(changed->name));
        replica_group_leave(changed);
        return true;
    case REPLICA_STEP_REMOVED:
        log_write(LOG_WARN, "replica", "table %.*s: was taken out of its global table",
                  BYTES_FMT(changed->name));
        replica_group_leave(changed);
        return true;
    case REPLICA_STEP_END:
    case REPLICA_STEP_DROP:
        changed->replicas = (struct replica_definition){ 0 };
        return true;
    }
    changed->replicas = group;
    return member != NULL;
}

static enum engine_status store(const struct step *step, struct arena *arena,
                                struct table_definition *changed)
{
    struct catalogue *catalogue = step->replicas->options.catalogue;
    if (step->kind == REPLICA_STEP_SWEEP)
        return replica_rows_remove_strangers(arena, step->replicas->options.engine, changed);
    if (step->kind == REPLICA_STEP_END)
        return catalogue_remove_replicas(catalogue, arena, changed);
    if (step->kind != REPLICA_STEP_DROP)
        return catalogue_update(catalogue, arena, changed);
    log_write(LOG_WARN, "replica", "table %.*s: removed, since no region knows this replica",
              BYTES_FMT(changed->name));
    return catalogue_drop(catalogue, arena, changed->name);
}

static void run_step(void *context)
{
    struct step *step = context;
    struct catalogue *catalogue = step->replicas->options.catalogue;
    struct table *table = catalogue_find(catalogue, step->table->name);
    step->status = ENGINE_OK;
    if (table != NULL && table_definition(table)->id == step->table->id &&
        table_definition(table)->replicas.epoch == step->table->replicas.epoch &&
        bytes_equal(table_definition(table)->replicas.coordinator,
                    step->table->replicas.coordinator) &&
        table_definition(table)->status != TABLE_DELETING) {
        struct arena *arena = arena_create();
        struct table_definition changed = table_definition_copy(arena, table_definition(table));
        if (change(arena, step, &changed))
            step->status = store(step, arena, &changed);
        arena_destroy(arena);
    }
    table_release(table);
}

enum engine_status replica_step_take(struct replicas *replicas,
                                     const struct table_definition *table, enum replica_step kind,
                                     struct bytes region)
{
    struct step step = { .replicas = replicas, .table = table, .kind = kind, .region = region };
    replicas->run(replicas->run_context, run_step, &step);
    return step.status;
}

/* --- Life --- */

struct replicas *replicas_create(const struct replicas_options *options)
{
    struct replicas *replicas = memory_checked(calloc(1, sizeof *replicas));
    replicas->options = *options;
    replicas->peer_count = options->peer_count;
    replicas->peers = memory_checked(
        calloc(options->peer_count == 0 ? 1 : options->peer_count, sizeof *replicas->peers));
    pthread_mutex_init(&replicas->mutex, NULL);
    for (size_t i = 0; i < options->peer_count; i++) {
        struct replica_peer_state *peer = &replicas->peers[i];
        peer->owner = replicas;
        peer->at = options->peers[i];
        peer->id = replica_region_id(peer->at.region);
        peer->arena = arena_create();
        pthread_mutex_init(&peer->receiving, NULL);
    }
    return replicas;
}

void replicas_start(struct replicas *replicas,
                    void (*run)(void *context, void (*task)(void *task_context),
                                void *task_context),
                    void *context)
{
    char message[OUTBOUND_MESSAGE_MAX];
    const struct replicas_options *options = &replicas->options;
    assert(!replicas->is_started);
    replicas->run = run;
    replicas->run_context = context;
    if (replicas->peer_count == 0 || options->outside.network == NULL)
        return;
    if (options->loses_writes) {
        log_write(LOG_WARN, "replica",
                  "durability is \"os\": no table can have replicas, and those that have some are "
                  "not replicated");
        return;
    }
    replicas->is_started = true;
    for (size_t i = 0; i < replicas->peer_count; i++) {
        struct replica_peer_state *peer = &replicas->peers[i];
        peer->client = replica_client_create(&options->outside, options->clock, &peer->at, message);
        if (peer->client == NULL) {
            log_write(LOG_ERROR, "replica", "%.*s: nothing is sent there: %s",
                      BYTES_FMT(peer->at.region), message);
            continue;
        }
        peer->has_thread = true;
        job_thread_start(&peer->thread, "replica", replica_ship_round, peer);
    }
    job_thread_start(&replicas->collector, "replica", replica_collect_round, replicas);
}

void replicas_stop(struct replicas *replicas)
{
    if (replicas == NULL || !replicas->is_started)
        return;
    for (size_t i = 0; i < replicas->peer_count; i++)
        if (replicas->peers[i].has_thread)
            replica_client_cancel(replicas->peers[i].client);
    for (size_t i = 0; i < replicas->peer_count; i++)
        if (replicas->peers[i].has_thread)
            job_thread_stop(&replicas->peers[i].thread);
    job_thread_stop(&replicas->collector);
}

void replicas_destroy(struct replicas *replicas)
{
    if (replicas == NULL)
        return;
    if (replicas->is_started)
        job_thread_deinit(&replicas->collector);
    for (size_t i = 0; i < replicas->peer_count; i++) {
        struct replica_peer_state *peer = &replicas->peers[i];
        if (peer->has_thread)
            job_thread_deinit(&peer->thread);
        replica_client_destroy(peer->client);
        arena_destroy(peer->arena);
        if (peer->batches.engine != NULL)
            job_batches_deinit(&peer->batches);
        for (size_t j = 0; j < peer->link_count; j++)
            free_link(peer->links[j]);
        free(peer->links);
        pthread_mutex_destroy(&peer->receiving);
    }
    pthread_mutex_destroy(&replicas->mutex);
    free(replicas->peers);
    free(replicas);
}
