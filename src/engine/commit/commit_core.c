/* commit_core.c -- see commit_core.h. */
#include "engine/commit/commit_core.h"
#include <assert.h>
#include <time.h>
#include "base/arena.h"
#include "base/byte_order.h"

/* --- Time --- */

static int64_t system_now_ms(void *context)
{
    (void)context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void system_pause(void *context, unsigned ms)
{
    (void)context;
    struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
    nanosleep(&pause, NULL);
}

const struct commit_time commit_time_system = { system_now_ms, system_pause, NULL };

/* --- Ids and epochs --- */

void commit_core_init(struct commit_core *core, struct partition_store *store,
                      const struct commit_time *time, uint64_t server)
{
    memset(core, 0, sizeof *core);
    core->store = store;
    core->time = *time;
    core->server = server;
    atomic_init(&core->transactions, 0);
    pthread_mutex_init(&core->mutex, NULL);
}

void commit_core_deinit(struct commit_core *core)
{
    pthread_mutex_destroy(&core->mutex);
}

struct partition_stamp commit_core_new_id(struct commit_core *core)
{
    struct partition_stamp id;
    store_u64_be(id.bytes, core->server);
    store_u64_be(id.bytes + 8, atomic_fetch_add(&core->transactions, 1) + 1);
    return id;
}

static size_t epoch_slot(const struct partition_id *partition)
{
    uint64_t hash = (partition->number * 31 + partition->kind) * 0x9E3779B97F4A7C15u;
    return (size_t)(hash >> 32) % COMMIT_EPOCHS_KEPT;
}

bool commit_core_known_epoch(struct commit_core *core, const struct partition_id *partition,
                             uint64_t *epoch)
{
    size_t slot = epoch_slot(partition);
    pthread_mutex_lock(&core->mutex);
    bool known = core->epochs[slot].used &&
                 partition_id_compare(&core->epochs[slot].partition, partition) == 0;
    if (known)
        *epoch = core->epochs[slot].epoch;
    pthread_mutex_unlock(&core->mutex);
    return known;
}

void commit_core_note_epoch(struct commit_core *core, const struct partition_id *partition,
                            uint64_t epoch)
{
    size_t slot = epoch_slot(partition);
    pthread_mutex_lock(&core->mutex);
    core->epochs[slot].used = true;
    core->epochs[slot].partition = *partition;
    core->epochs[slot].epoch = epoch;
    pthread_mutex_unlock(&core->mutex);
}

void commit_core_forget_epoch(struct commit_core *core, const struct partition_id *partition)
{
    size_t slot = epoch_slot(partition);
    pthread_mutex_lock(&core->mutex);
    if (partition_id_compare(&core->epochs[slot].partition, partition) == 0)
        core->epochs[slot].used = false;
    pthread_mutex_unlock(&core->mutex);
}

/* --- Single operations --- */

enum partition_status commit_core_run(struct commit_core *core, struct arena *arena,
                                      struct partition_operation *operation)
{
    core->store->ops->run(core->store, arena, operation, 1);
    return operation->status;
}

enum engine_status commit_core_status(enum partition_status status)
{
    switch (status) {
    case PARTITION_OK:
        return ENGINE_OK;
    case PARTITION_REFUSED:
        return ENGINE_CONFLICT;
    case PARTITION_UNKNOWN:
        return ENGINE_UNKNOWN;
    case PARTITION_FULL:
        return ENGINE_FULL;
    case PARTITION_FAILED:
        return ENGINE_IO;
    case PARTITION_CORRUPT:
        return ENGINE_CORRUPT;
    }
    assert(false && "a status outside the enum");
    return ENGINE_IO;
}

static struct bytes record_key(struct arena *arena, const struct partition_stamp *id)
{
    return commit_format_key(arena, COMMIT_KEY_RECORD, bytes_of(id->bytes, PARTITION_STAMP_SIZE));
}

/* The epoch of a partition, and the record of a transaction in it; data NULL: there is none. */
static enum engine_status read_decision(struct commit_core *core, struct arena *arena,
                                        const struct partition_id *partition,
                                        const struct partition_stamp *id, uint64_t *epoch,
                                        struct bytes *record)
{
    struct bytes keys[] = { BYTES("E"), record_key(arena, id) };
    struct bytes values[2] = { 0 };
    struct partition_operation read = {
        .partition = *partition,
        .keys = keys,
        .key_count = 2,
        .values = values,
    };
    enum partition_status status = commit_core_run(core, arena, &read);
    if (status != PARTITION_OK)
        return commit_core_status(status);
    *record = values[1];
    return commit_format_read_epoch(values[0], epoch) ? ENGINE_OK : ENGINE_CORRUPT;
}

/* Raises the epoch by one. With `id`, only if that transaction has no record. */
static enum partition_status raise_epoch(struct commit_core *core, struct arena *arena,
                                         const struct partition_id *partition, uint64_t epoch,
                                         const struct partition_stamp *id)
{
    struct partition_guard guards[2] = { commit_format_epoch_guard(epoch) };
    if (id != NULL)
        guards[1] = (struct partition_guard){ .key = record_key(arena, id), .absent = true };
    struct partition_change change = { BYTES("E"), commit_format_epoch(arena, epoch + 1) };
    struct partition_operation write = {
        .partition = *partition,
        .is_write = true,
        .guards = guards,
        .guard_count = id == NULL ? 1 : 2,
        .changes = &change,
        .change_count = 1,
    };
    commit_core_forget_epoch(core, partition);
    return commit_core_run(core, arena, &write);
}

bool commit_core_is_late(struct commit_core *core, int64_t deadline_ms)
{
    return core->time.now_ms(core->time.context) >= deadline_ms;
}

bool commit_core_fence(struct commit_core *core, struct arena *arena,
                       const struct partition_id *partition, uint64_t epoch, int64_t deadline_ms)
{
    for (unsigned i = 0; i < COMMIT_TRIES_MAX && !commit_core_is_late(core, deadline_ms); i++) {
        enum partition_status status = raise_epoch(core, arena, partition, epoch, NULL);
        /* Epochs only grow, so a refusal means that it is above already. */
        if (status == PARTITION_OK || status == PARTITION_REFUSED)
            return true;
        core->time.pause(core->time.context, COMMIT_PAUSE_MS);
    }
    return false;
}

/* --- Intents of others --- */

enum engine_status commit_core_look_up(struct commit_core *core, struct arena *arena,
                                       const struct commit_intent *intent, enum commit_outcome *out)
{
    uint64_t epoch = 0;
    struct bytes record = { 0 };
    enum engine_status status =
        read_decision(core, arena, &intent->primary, &intent->id, &epoch, &record);
    if (status != ENGINE_OK)
        return status;
    if (record.data != NULL)
        *out = COMMIT_COMMITTED;
    else
        *out = epoch > intent->epoch ? COMMIT_ABORTED : COMMIT_PENDING;
    return ENGINE_OK;
}

enum partition_status commit_core_settle(struct commit_core *core, struct arena *arena,
                                         const struct partition_id *partition, struct bytes name,
                                         const struct commit_intent *intent, bool committed)
{
    struct partition_change changes[2] = {
        { commit_format_key(arena, COMMIT_KEY_INTENT, name), { 0 } },
    };
    struct partition_guard guard = { .key = changes[0].key, .stamp = intent->id };
    bool applies = committed && intent->change != COMMIT_CHANGE_NONE;
    if (applies)
        changes[1].key = commit_format_key(arena, COMMIT_KEY_DATA, name);
    if (applies && intent->change == COMMIT_CHANGE_PUT)
        changes[1].value = commit_format_data(arena, &intent->id, intent->payload);
    struct partition_operation write = {
        .partition = *partition,
        .is_write = true,
        .guards = &guard,
        .guard_count = 1,
        .changes = changes,
        .change_count = applies ? 2 : 1,
    };
    return commit_core_run(core, arena, &write);
}

/* The place of a transaction among those that are waited for: a free one if it has none; SIZE_MAX
 * if there is none either. */
static size_t find_wait(const struct commit_waiter *waiter, const struct partition_stamp *id)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < COMMIT_WAITS_MAX; i++) {
        if (waiter->waits[i].pauses > 0 && partition_stamp_equal(&waiter->waits[i].id, id))
            return i;
        if (waiter->waits[i].pauses == 0 && found == SIZE_MAX)
            found = i;
    }
    return found;
}

/* True if the transaction has been waited for long enough. Otherwise pauses. */
static bool wait_for(struct commit_core *core, struct commit_waiter *waiter,
                     const struct partition_stamp *id)
{
    int64_t now_ms = core->time.now_ms(core->time.context);
    size_t at = find_wait(waiter, id);
    unsigned pause_ms = COMMIT_PAUSE_MS;
    if (at != SIZE_MAX) {
        if (waiter->waits[at].pauses == 0) {
            waiter->waits[at].id = *id;
            waiter->waits[at].since_ms = now_ms;
        }
        if (waiter->waits[at].pauses >= COMMIT_PAUSES_MAX ||
            now_ms - waiter->waits[at].since_ms >= COMMIT_PATIENCE_MS)
            return true;
        for (unsigned i = 0; i < waiter->waits[at].pauses && pause_ms < COMMIT_PAUSE_MS_MAX; i++)
            pause_ms *= 2;
        waiter->waits[at].pauses++;
    }
    core->time.pause(core->time.context, pause_ms);
    return false;
}

enum engine_status commit_core_resolve(struct commit_core *core, struct arena *arena,
                                       struct commit_waiter *waiter,
                                       const struct partition_id *partition, struct bytes name,
                                       const struct commit_intent *intent)
{
    enum commit_outcome outcome;
    if (++waiter->looks > COMMIT_RESOLUTIONS_MAX)
        return ENGINE_BUSY;
    enum engine_status status = commit_core_look_up(core, arena, intent, &outcome);
    if (status != ENGINE_OK)
        return status;
    if (outcome == COMMIT_PENDING) {
        /* Whatever the primary answers, the caller looks again. */
        if (wait_for(core, waiter, &intent->id))
            (void)raise_epoch(core, arena, &intent->primary, intent->epoch, &intent->id);
        return ENGINE_OK;
    }
    size_t at = find_wait(waiter, &intent->id);
    if (at != SIZE_MAX)
        waiter->waits[at].pauses = 0;
    enum partition_status settled =
        commit_core_settle(core, arena, partition, name, intent, outcome == COMMIT_COMMITTED);
    /* Refused: somebody else did it. Unknown: the caller looks again. */
    return settled == PARTITION_REFUSED || settled == PARTITION_UNKNOWN
               ? ENGINE_OK
               : commit_core_status(settled);
}
