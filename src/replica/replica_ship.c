/* replica_ship.c -- the thread of a peer: tells it about groups and sends it rows. See replicas.h.
 */
#include "base/arena.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "history/history_cut.h"
#include "model/table_definition.h"
#include "replica/replica_internal.h"
#include "replica/replica_message.h"
#include "replica/replica_rows.h"
#include "table/catalogue.h"

/* A table in a round. */
struct turn {
    struct replica_peer_state *peer;
    struct replicas *replicas;
    const struct table *table;
    const struct table_definition *definition;
    const struct replica_member *member;
    struct replica_link *link;
    bool found_work;
    bool is_behind; /* More work waits. */
    bool failed;    /* The peer did not take what was sent, */
    bool unreached; /* because there was no answer. */
};

static bool is_stopping(void *context)
{
    struct replica_peer_state *peer = context;
    return job_thread_is_stopping(&peer->thread);
}

/* --- For people --- */

static void fail(struct turn *turn, const char *doing, struct bytes problem)
{
    struct replica_peer_state *peer = turn->peer;
    bool *in_trouble = turn->unreached ? &peer->in_trouble : &turn->link->in_trouble;
    turn->failed = true;
    if (!*in_trouble && !is_stopping(peer))
        log_write(LOG_WARN, "replica", "%.*s, table %.*s: %s: %.*s; trying again",
                  BYTES_FMT(peer->at.region), BYTES_FMT(turn->definition->name), doing,
                  BYTES_FMT(problem));
    *in_trouble = true;
}

static void fail_stored(struct turn *turn, const char *doing, enum engine_status status)
{
    fail(turn, doing, bytes_from_text(engine_status_name(status)));
}

static void note_reached(struct turn *turn, bool reached)
{
    turn->unreached = !reached;
    pthread_mutex_lock(&turn->replicas->mutex);
    turn->peer->is_called = true;
    turn->peer->is_reached = reached;
    pthread_mutex_unlock(&turn->replicas->mutex);
}

/* --- The group --- */

/* Tells the peer about the epoch. True if it knows it now, and still has the table. */
static bool tell(struct turn *turn)
{
    struct replica_peer_state *peer = turn->peer;
    struct replica_said said = { 0 };
    arena_reset(peer->arena);
    struct bytes body = replica_message_table(peer->arena, turn->replicas->options.region,
                                              peer->at.region, turn->definition, false);
    struct replica_reply reply = replica_client_call(peer->client, peer->arena, "ReplicateSettings",
                                                     body, REPLICA_TIMEOUT_MS);
    note_reached(turn, reply.reached);
    if (reply.status != 200 || !replica_message_read(peer->arena, reply.body, &said)) {
        fail(turn, "telling it about its replicas", reply.problem);
        return false;
    }
    if (said.is_gone || said.is_removed) {
        enum engine_status status = replica_step_take(
            turn->replicas, turn->definition,
            said.is_gone ? REPLICA_STEP_FORGET : REPLICA_STEP_REMOVED, turn->member->region);
        if (status != ENGINE_OK)
            fail_stored(turn, "taking out a member", status);
        return false;
    }
    const struct replica_definition *group = &turn->definition->replicas;
    bool is_known = said.epoch == group->epoch && bytes_equal(said.coordinator, group->coordinator);
    pthread_mutex_lock(&turn->replicas->mutex);
    turn->link->known_epoch = is_known ? said.epoch : 0;
    pthread_mutex_unlock(&turn->replicas->mutex);
    return is_known;
}

/* Whether all other members count the newcomer, so that none of them removes stamps any more that
 * it needs. */
static bool is_known_by_all(struct turn *turn)
{
    const struct replica_definition *group = &turn->definition->replicas;
    bool known = true;
    pthread_mutex_lock(&turn->replicas->mutex);
    for (size_t i = 0; i < group->count; i++) {
        struct replica_peer_state *peer =
            replica_peer_find(turn->replicas, group->members[i].region);
        struct replica_link *link = peer == NULL ? NULL : replica_link_find_locked(peer, group);
        if (replica_member_is_fed(&group->members[i]))
            known = known && link != NULL && link->known_epoch == group->epoch;
    }
    pthread_mutex_unlock(&turn->replicas->mutex);
    return known;
}

static bool is_source(const struct turn *turn)
{
    return turn->member->status == REPLICA_CREATING &&
           bytes_equal(turn->member->source, turn->definition->replicas.own.region);
}

static void drop_pass(struct replica_link *link)
{
    free(link->pass);
    link->pass = NULL;
}

/* Queues what was there before the member. Afterwards the definition is another one. */
static void note(struct turn *turn)
{
    if (!table_is_only_version(turn->table) || (is_source(turn) && !is_known_by_all(turn)))
        return; /* Soon. */
    pthread_mutex_lock(&turn->replicas->mutex);
    turn->link->closed_us = 0;
    pthread_mutex_unlock(&turn->replicas->mutex);
    drop_pass(turn->link); /* Keys are queued behind its walk, so its end would say too much. */
    enum engine_status status =
        replica_rows_queue_all(turn->peer->arena, turn->replicas->options.engine, turn->definition,
                               turn->member->id, is_source(turn), is_stopping, turn->peer);
    if (status == ENGINE_OK)
        status = replica_step_take(turn->replicas, turn->definition, REPLICA_STEP_NOTE,
                                   turn->member->region);
    if (status != ENGINE_OK)
        fail_stored(turn, "queueing what was there before", status);
    turn->found_work = turn->is_behind = true;
}

/* --- Rows --- */

static void note_latency(struct replica_link *link, int64_t took_us)
{
    struct replica_latency *latency = &link->latency;
    latency->min_us = latency->count == 0 || took_us < latency->min_us ? took_us : latency->min_us;
    latency->max_us = took_us > latency->max_us ? took_us : latency->max_us;
    latency->sum_us += took_us;
    latency->count++;
    link->latency_max_us = took_us > link->latency_max_us ? took_us : link->latency_max_us;
}

static void count_sent(struct turn *turn, const struct replica_page *page)
{
    int64_t now_us = clock_wall_us(turn->replicas->options.clock);
    pthread_mutex_lock(&turn->replicas->mutex);
    for (size_t i = 0; i < page->count; i++) {
        const struct replica_stamp *stamp = &page->list[i].row.stamp;
        if (!page->list[i].is_sent)
            continue;
        int64_t took_us = now_us > stamp->commit_us ? now_us - stamp->commit_us : 0;
        turn->link->rows_sent++;
        turn->peer->rows_sent++;
        if (stamp->region != turn->definition->replicas.own.id)
            continue;
        note_latency(turn->link, took_us);
    }
    pthread_mutex_unlock(&turn->replicas->mutex);
}

/* Sends a page, which may be empty. True once it is durable there. */
static bool send(struct turn *turn, const struct replica_page *page)
{
    struct replica_peer_state *peer = turn->peer;
    const struct replica_definition *group = &turn->definition->replicas;
    for (int tries = 0; tries < 2; tries++) {
        struct replica_said said = { 0 };
        pthread_mutex_lock(&turn->replicas->mutex);
        const struct replica_batch batch = {
            .from = turn->replicas->options.region,
            .to = peer->at.region,
            .session = bytes_from_text(peer->session),
            .number = ++peer->number,
            .epoch = group->epoch,
            .time_us = clock_wall_us(turn->replicas->options.clock),
            .closed_us = turn->member->is_noted ? turn->link->closed_us : 0,
            .low_us = replica_own_low_locked(turn->replicas, group),
        };
        pthread_mutex_unlock(&turn->replicas->mutex);
        struct bytes body = replica_message_rows(peer->arena, turn->definition, &batch, page);
        struct replica_reply reply = replica_client_call(
            peer->client, peer->arena, "WriteDataForReplication", body, REPLICA_TIMEOUT_MS);
        note_reached(turn, reply.reached);
        if (reply.status != 200 || !replica_message_read(peer->arena, reply.body, &said)) {
            pthread_mutex_lock(&turn->replicas->mutex);
            turn->link->known_epoch = 0; /* Perhaps it has another epoch, or no table. */
            pthread_mutex_unlock(&turn->replicas->mutex);
            fail(turn, "sending rows", reply.problem);
            return false;
        }
        if (said.is_applied)
            return true;
        if (said.session.len != REPLICA_ID_SIZE)
            break;
        memcpy(peer->session, said.session.data, said.session.len);
        peer->session[said.session.len] = '\0';
        peer->number = said.number;
    }
    fail(turn, "sending rows", BYTES("it gives out no session"));
    return false;
}

static bool has_rows(const struct replica_page *page)
{
    for (size_t i = 0; i < page->count; i++)
        if (page->list[i].is_sent)
            return true;
    return false;
}

/* A pass over a queue, which may take many turns: a table with a long queue, such as one that a new
 * member is filled from, must not hold up the others. What is queued behind the walk meanwhile is
 * later than the cut that the pass began with. */
struct replica_pass {
    int64_t epoch; /* Of the group, and how many partitions the table had: if either changes, */
    size_t partition_count; /* the pass begins anew. */
    int64_t cut_us;         /* 0: none was made. */
    size_t partition;       /* Which one the walk is in. */
    struct replica_walk walk;
};

static void enter_partition(struct turn *turn)
{
    struct replica_pass *pass = turn->link->pass;
    if (pass->partition == pass->partition_count)
        return;
    pass->walk =
        (struct replica_walk){ .engine = turn->replicas->options.engine,
                               .partition = turn->definition->partitions[pass->partition].id,
                               .region = turn->member->id };
}

/* Up to `*pages` more requests. */
static void ship_partition(struct turn *turn, struct replica_page *page, int *pages)
{
    struct replica_peer_state *peer = turn->peer;
    struct replica_walk *walk = &turn->link->pass->walk;
    struct engine *engine = turn->replicas->options.engine;
    walk->table = turn->definition; /* Of this turn. */
    while (!walk->ended && !turn->failed && *pages > 0 && !is_stopping(peer)) {
        arena_reset(peer->arena);
        enum engine_status status = replica_rows_gather(peer->arena, walk, page);
        if (status != ENGINE_OK)
            fail_stored(turn, "reading its queue", status);
        else if (has_rows(page) && !send(turn, page))
            return;
        if (status == ENGINE_OK && page->count > 0) {
            count_sent(turn, page);
            status = replica_rows_settle(peer->arena, engine, turn->member->id, page);
            if (status != ENGINE_OK)
                fail_stored(turn, "taking rows out of its queue", status);
            turn->found_work = true;
            turn->is_behind |= !walk->ended;
            --*pages;
        }
    }
}

/* Makes a cut if a heartbeat is due. 0: none was made. */
static int64_t cut(struct turn *turn)
{
    const struct replicas_options *options = &turn->replicas->options;
    if (clock_monotonic_ns() / 1000000 < turn->link->heartbeat_at_ms)
        return 0;
    int64_t cut_us = clock_commit_now_us(options->clock);
    enum engine_status status = history_cut(options->engine, options->clock, cut_us);
    if (status == ENGINE_OK)
        return cut_us;
    fail_stored(turn, "cutting the log", status);
    return 0;
}

/* A pass over the queue is complete. */
static void close_time(struct turn *turn, int64_t cut_us, struct replica_page *page)
{
    pthread_mutex_lock(&turn->replicas->mutex);
    if (cut_us - 1 > turn->link->closed_us)
        turn->link->closed_us = cut_us - 1; /* The cut excludes its own time. */
    pthread_mutex_unlock(&turn->replicas->mutex);
    page->count = 0;
    arena_reset(turn->peer->arena);
    if (!send(turn, page))
        return;
    turn->link->heartbeat_at_ms = clock_monotonic_ns() / 1000000 + REPLICA_HEARTBEAT_MS;
    if (!is_source(turn))
        return;
    enum engine_status status = replica_step_take(turn->replicas, turn->definition,
                                                  REPLICA_STEP_ACTIVATE, turn->member->region);
    if (status != ENGINE_OK)
        fail_stored(turn, "activating it", status);
}

static void begin_pass(struct turn *turn)
{
    struct replica_link *link = turn->link;
    const struct table_definition *table = turn->definition;
    if (link->pass != NULL && (link->pass->epoch != table->replicas.epoch ||
                               link->pass->partition_count != table->partition_count))
        drop_pass(link);
    if (link->pass != NULL)
        return;
    link->pass = memory_checked(calloc(1, sizeof *link->pass));
    link->pass->epoch = table->replicas.epoch;
    link->pass->partition_count = table->partition_count;
    link->pass->cut_us = cut(turn);
    enter_partition(turn);
}

static void ship(struct turn *turn, struct replica_page *page)
{
    int pages = REPLICA_TURN_PAGES;
    begin_pass(turn);
    struct replica_pass *pass = turn->link->pass;
    while (pass->partition < pass->partition_count && !turn->failed) {
        ship_partition(turn, page, &pages);
        if (is_stopping(turn->peer) || (!turn->failed && !pass->walk.ended))
            return; /* The next turn resumes here. */
        pass->partition++;
        enter_partition(turn);
    }
    int64_t cut_us = pass->cut_us;
    drop_pass(turn->link); /* After a failure too: what was not sent is behind the walk. */
    if (cut_us != 0 && !turn->failed)
        close_time(turn, cut_us, page);
}

/* --- Rounds --- */

static int64_t next_retry(int64_t retry_ms)
{
    if (retry_ms == 0)
        return REPLICA_RETRY_MS;
    return retry_ms * 2 > REPLICA_RETRY_MS_MAX ? REPLICA_RETRY_MS_MAX : retry_ms * 2;
}

static bool is_waiting(const struct replica_link *link)
{
    return link->retry_ms > 0 && clock_monotonic_ns() / 1000000 < link->retry_at_ms;
}

/* What the peer refuses of one table is tried again later, and holds up no other table. */
static void end_turn(struct turn *turn)
{
    struct replica_link *link = turn->link;
    if (turn->unreached)
        return;
    link->retry_ms = turn->failed ? next_retry(link->retry_ms) : 0;
    link->retry_at_ms = clock_monotonic_ns() / 1000000 + link->retry_ms;
    if (!turn->failed && link->in_trouble)
        log_write(LOG_INFO, "replica", "%.*s, table %.*s: is taken again",
                  BYTES_FMT(turn->peer->at.region), BYTES_FMT(turn->definition->name));
    link->in_trouble = turn->failed;
    pthread_mutex_lock(&turn->replicas->mutex);
    link->is_refused = turn->failed;
    pthread_mutex_unlock(&turn->replicas->mutex);
}

static void serve_member(struct turn *turn, int64_t known_epoch, struct replica_page *page)
{
    if (known_epoch != turn->definition->replicas.epoch && !tell(turn))
        return;
    if (!replica_member_is_fed(turn->member))
        return;
    if (!turn->member->is_noted)
        note(turn);
    else
        ship(turn, page);
}

static void log_full(const struct turn *turn)
{
    struct replica_peer_state *peer = turn->peer;
    if (!peer->is_full)
        log_write(LOG_ERROR, "replica",
                  "%.*s, table %.*s: is not replicated: there are %d global tables already",
                  BYTES_FMT(peer->at.region), BYTES_FMT(turn->definition->name), REPLICA_LINKS_MAX);
    peer->is_full = true;
}

static void take_turn(struct turn *turn, struct replica_page *page)
{
    const struct replica_definition *group = &turn->definition->replicas;
    turn->member = replica_definition_find(group, turn->peer->at.region);
    if (turn->member == NULL)
        return;
    pthread_mutex_lock(&turn->replicas->mutex);
    turn->link = replica_link_find_locked(turn->peer, group);
    int64_t known_epoch = turn->link == NULL ? 0 : turn->link->known_epoch;
    if (turn->link != NULL)
        turn->link->seen_round = turn->peer->round;
    pthread_mutex_unlock(&turn->replicas->mutex);
    if (turn->link == NULL) {
        log_full(turn);
        return;
    }
    if (is_waiting(turn->link))
        return;
    serve_member(turn, known_epoch, page);
    end_turn(turn);
}

static bool is_member(const struct table_definition *table, void *context)
{
    const struct replica_peer_state *peer = context;
    return table->replicas.count > 0 && table->status != TABLE_DELETING &&
           replica_definition_find(&table->replicas, peer->at.region) != NULL;
}

/* Longer if there was no work, or the peer is away. Not shorter if there was: under a steady load,
 * what gathers in a pause shares one request, and one write of both servers. */
static int64_t pause_after(struct replica_peer_state *peer, bool found_work, bool is_behind,
                           bool unreached)
{
    if (unreached) {
        peer->retry_ms = next_retry(peer->retry_ms);
        return peer->retry_ms;
    }
    if (peer->in_trouble)
        log_write(LOG_INFO, "replica", "%.*s: is reached again", BYTES_FMT(peer->at.region));
    peer->in_trouble = false;
    peer->retry_ms = 0;
    peer->idle_ms = found_work || peer->idle_ms == 0 ? REPLICA_IDLE_MS : peer->idle_ms * 2;
    if (peer->idle_ms > REPLICA_IDLE_MS_MAX)
        peer->idle_ms = REPLICA_IDLE_MS_MAX;
    return is_behind ? 1 : peer->idle_ms;
}

static void begin_round(struct replica_peer_state *peer)
{
    pthread_mutex_lock(&peer->owner->mutex);
    peer->round++;
    pthread_mutex_unlock(&peer->owner->mutex);
}

/* Of a round that has seen all tables. */
static void end_round(struct replica_peer_state *peer)
{
    pthread_mutex_lock(&peer->owner->mutex);
    replica_links_drop_locked(peer);
    pthread_mutex_unlock(&peer->owner->mutex);
}

int64_t replica_ship_round(void *context)
{
    struct replica_peer_state *peer = context;
    struct replicas *replicas = peer->owner;
    struct arena *names = arena_create();
    struct replica_page *page = memory_checked(malloc(sizeof *page));
    struct bytes after = BYTES("");
    struct table *table;
    bool found_work = false, is_behind = false, unreached = false;
    begin_round(peer);
    while (!is_stopping(peer) && !unreached &&
           (table = catalogue_find_next(replicas->options.catalogue, after, is_member, peer)) !=
               NULL) {
        struct turn turn = { .peer = peer,
                             .replicas = replicas,
                             .table = table,
                             .definition = table_definition(table) };
        after = arena_copy(names, turn.definition->name);
        take_turn(&turn, page);
        found_work |= turn.found_work;
        is_behind |= turn.is_behind;
        unreached |= turn.unreached;
        table_release(table);
    }
    free(page);
    arena_destroy(names);
    if (!unreached && !is_stopping(peer))
        end_round(peer);
    return pause_after(peer, found_work, is_behind, unreached);
}
