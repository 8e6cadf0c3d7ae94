/* commit_sweep.c -- removes what dead servers left: intents, and records of transactions.
 *
 * A record is removed only after every partition that it names was seen without an intent of it.
 * No further intent can come: a transaction commits after all its intents were answered. Its own
 * server may still ask for the record: see remove_record.
 */
#include "base/arena.h"
#include "engine/commit/commit_core.h"

enum { SWEEP_PAGE = 64, SWEEP_ROUNDS_MAX = 4096 };

/* A page of intents or records of a partition, from `first` on. */
static enum engine_status read_page(struct commit_core *core, struct arena *arena,
                                    const struct partition_id *partition, enum commit_key_kind kind,
                                    struct bytes first, struct partition_range *range)
{
    uint8_t next = (uint8_t)(kind + 1);
    *range = (struct partition_range){
        .first = first,
        .last = arena_copy(arena, bytes_of(&next, 1)),
        .count_max = SWEEP_PAGE,
        .alike_size = 1,
    };
    struct partition_operation read = {
        .partition = *partition,
        .ranges = range,
        .range_count = 1,
    };
    return commit_core_status(commit_core_run(core, arena, &read));
}

static struct bytes name_of(struct bytes key)
{
    return bytes_of(key.data + 1, key.len - 1);
}

/* Takes one step for each intent of a page that belongs to `only`; NULL: all. */
static enum engine_status resolve_page(struct commit_core *core, struct arena *arena,
                                       const struct partition_id *partition,
                                       const struct partition_range *range,
                                       const struct partition_stamp *only,
                                       struct commit_waiter *waiter, bool *found)
{
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; status == ENGINE_OK && i < range->count; i++) {
        struct commit_intent intent;
        if (!commit_format_read_intent(range->entries[i].value, &intent))
            return ENGINE_CORRUPT;
        if (only != NULL && !partition_stamp_equal(&intent.id, only))
            continue;
        *found = true;
        waiter->looks = 0; /* The rounds are bounded. */
        status = commit_core_resolve(core, arena, waiter, partition, name_of(range->entries[i].key),
                                     &intent);
    }
    return status;
}

/* `arena` is for this alone. Reads all intents of a partition and resolves those of `only` (NULL:
 * all), until a pass over the partition finds none. */
static enum engine_status sweep_intents(struct commit_core *core, struct arena *arena,
                                        const struct partition_id *partition,
                                        const struct partition_stamp *only)
{
    struct commit_waiter waiter = { 0 };
    for (unsigned round = 0; round < SWEEP_ROUNDS_MAX; round++) {
        arena_reset(arena);
        struct partition_range range = { 0 };
        struct bytes first = commit_format_key(arena, COMMIT_KEY_INTENT, BYTES(""));
        enum engine_status status = ENGINE_OK;
        bool found = false, more = true;
        while (status == ENGINE_OK && more) {
            status = read_page(core, arena, partition, COMMIT_KEY_INTENT, first, &range);
            if (status == ENGINE_OK)
                status = resolve_page(core, arena, partition, &range, only, &waiter, &found);
            more = status == ENGINE_OK && range.more && range.count > 0;
            if (more) { /* Behind a key is the key with a zero byte added. */
                struct bytes parts[] = { range.entries[range.count - 1].key, bytes_of("\0", 1) };
                first = arena_join(arena, parts, 2);
            }
        }
        if (status != ENGINE_OK || !found)
            return status;
    }
    return ENGINE_BUSY;
}

/* Removes the record and raises the epoch in one step. The transaction's own server may have lost
 * the answer to its commit and be about to ask: without the new epoch, the missing record would
 * tell it that the transaction was never committed. */
static enum engine_status remove_record(struct commit_core *core, struct arena *arena,
                                        const struct partition_id *partition, struct bytes key)
{
    struct bytes epoch_key = BYTES("E"), value = { 0 };
    uint64_t epoch;
    struct partition_operation read = {
        .partition = *partition,
        .keys = &epoch_key,
        .key_count = 1,
        .values = &value,
    };
    enum partition_status status = commit_core_run(core, arena, &read);
    if (status != PARTITION_OK)
        return commit_core_status(status);
    if (!commit_format_read_epoch(value, &epoch))
        return ENGINE_CORRUPT;
    struct partition_guard guard = commit_format_epoch_guard(epoch);
    struct partition_change changes[] = {
        { .key = key },
        { .key = epoch_key, .value = commit_format_epoch(arena, epoch + 1) },
    };
    struct partition_operation write = {
        .partition = *partition,
        .is_write = true,
        .guards = &guard,
        .guard_count = 1,
        .changes = changes,
        .change_count = 2,
    };
    commit_core_forget_epoch(core, partition);
    status = commit_core_run(core, arena, &write);
    /* If it is still there, the next round finds it. */
    return status == PARTITION_UNKNOWN || status == PARTITION_REFUSED ? ENGINE_OK
                                                                      : commit_core_status(status);
}

static enum engine_status sweep_record(struct commit_core *core, struct arena *arena,
                                       struct arena *scratch, const struct partition_id *partition,
                                       const struct partition_entry *entry)
{
    struct commit_record record;
    if (!commit_format_read_record(arena, entry->value, &record))
        return ENGINE_CORRUPT;
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < record.participant_count && status == ENGINE_OK; i++)
        status = sweep_intents(core, scratch, &record.participants[i], &record.id);
    return status == ENGINE_OK ? remove_record(core, arena, partition, entry->key) : status;
}

static enum engine_status sweep_records(struct commit_core *core, struct arena *arena,
                                        struct arena *scratch, const struct partition_id *partition)
{
    for (unsigned round = 0; round < SWEEP_ROUNDS_MAX; round++) {
        struct partition_range range;
        arena_reset(arena);
        enum engine_status status =
            read_page(core, arena, partition, COMMIT_KEY_RECORD,
                      commit_format_key(arena, COMMIT_KEY_RECORD, BYTES("")), &range);
        if (status == ENGINE_OK && range.count == 0)
            return ENGINE_OK;
        /* The transaction's own server usually does it, and may still want to see the record. */
        if (status == ENGINE_OK && round == 0)
            core->time.pause(core->time.context, COMMIT_PATIENCE_MS);
        for (size_t i = 0; status == ENGINE_OK && i < range.count; i++)
            status = sweep_record(core, arena, scratch, partition, &range.entries[i]);
        if (status != ENGINE_OK)
            return status;
    }
    return ENGINE_BUSY;
}

enum engine_status commit_core_sweep(struct commit_core *core, const struct partition_id *partition)
{
    struct arena *arena = arena_create(), *scratch = arena_create();
    enum engine_status status = sweep_intents(core, scratch, partition, NULL);
    if (status == ENGINE_OK)
        status = sweep_records(core, arena, scratch, partition);
    arena_destroy(scratch);
    arena_destroy(arena);
    return status;
}
