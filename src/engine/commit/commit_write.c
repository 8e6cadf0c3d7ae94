/* commit_write.c -- the commit of a transaction: one operation if it concerns one partition,
 * otherwise intents, a decision, and their settlement. README.md has the reasons.
 *
 * An operation that changes data is sent at most once. If its answer is lost, the partition's epoch
 * is raised before anybody concludes anything, so that the operation cannot take effect later.
 */
#include <assert.h>
#include "base/arena.h"
#include "engine/commit/commit_parts.h"
#include "engine/commit/commit_txn.h"

/* --- Operations --- */

static bool is_relevant(const struct commit_entry *entry)
{
    return entry->is_read || entry->change != COMMIT_CHANGE_NONE;
}

static size_t relevant_count(const struct commit_txn *txn, size_t part)
{
    size_t count = 0;
    for (size_t i = txn->parts[part].first; i != SIZE_MAX; i = txn->entries[i].next)
        count += is_relevant(&txn->entries[i]);
    return count;
}

/* An operation that is put together. */
struct draft {
    struct partition_guard *guards;
    size_t guard_count;
    struct partition_change *changes;
    size_t change_count;
};

static struct draft begin_draft(struct commit_txn *txn, size_t part)
{
    size_t count = relevant_count(txn, part);
    return (struct draft){
        .guards = arena_alloc(txn->arena, (2 * count + 2) * sizeof(struct partition_guard)),
        .changes = arena_alloc(txn->arena, (2 * count + 1) * sizeof(struct partition_change)),
    };
}

static void add_guard(struct draft *draft, struct partition_guard guard)
{
    draft->guards[draft->guard_count++] = guard;
}

static void add_change(struct draft *draft, struct bytes key, struct bytes value)
{
    draft->changes[draft->change_count++] = (struct partition_change){ key, value };
}

/* Guards that nobody else has an intent on an entry, and that it is as it was read. */
static void guard_entry(struct commit_txn *txn, const struct commit_entry *entry,
                        struct draft *draft)
{
    add_guard(draft, (struct partition_guard){
                         .key = commit_format_key(txn->arena, COMMIT_KEY_INTENT, entry->name),
                         .absent = true,
                     });
    if (entry->is_read)
        add_guard(draft, (struct partition_guard){
                             .key = commit_format_key(txn->arena, COMMIT_KEY_DATA, entry->name),
                             .absent = !entry->is_present,
                             .stamp = entry->stamp,
                         });
}

static void apply_entry(struct commit_txn *txn, const struct commit_entry *entry,
                        struct draft *draft)
{
    struct bytes value = { 0 };
    if (entry->change == COMMIT_CHANGE_NONE)
        return;
    if (entry->change == COMMIT_CHANGE_PUT)
        value = commit_format_data(txn->arena, &txn->id, entry->new_payload);
    add_change(draft, commit_format_key(txn->arena, COMMIT_KEY_DATA, entry->name), value);
}

/* Everything of one part, with its changes applied at once. */
static struct draft draft_direct(struct commit_txn *txn, size_t part)
{
    struct draft draft = begin_draft(txn, part);
    add_guard(&draft, commit_format_epoch_guard(txn->parts[part].epoch));
    for (size_t i = txn->parts[part].first; i != SIZE_MAX; i = txn->entries[i].next)
        if (is_relevant(&txn->entries[i])) {
            guard_entry(txn, &txn->entries[i], &draft);
            apply_entry(txn, &txn->entries[i], &draft);
        }
    return draft;
}

static struct commit_intent intent_of(const struct commit_txn *txn,
                                      const struct commit_entry *entry)
{
    return (struct commit_intent){
        .id = txn->id,
        .primary = txn->parts[txn->primary].id,
        .epoch = txn->parts[txn->primary].epoch,
        .change = entry->change,
        .payload = entry->new_payload,
    };
}

static struct draft draft_intents(struct commit_txn *txn, size_t part)
{
    struct draft draft = begin_draft(txn, part);
    for (size_t i = txn->parts[part].first; i != SIZE_MAX; i = txn->entries[i].next)
        if (is_relevant(&txn->entries[i])) {
            struct commit_intent intent = intent_of(txn, &txn->entries[i]);
            guard_entry(txn, &txn->entries[i], &draft);
            add_change(&draft,
                       commit_format_key(txn->arena, COMMIT_KEY_INTENT, txn->entries[i].name),
                       commit_format_intent(txn->arena, &intent));
        }
    return draft;
}

/* Turns the intents of a part into what was decided, all at once. */
static struct draft draft_settlement(struct commit_txn *txn, size_t part, bool committed)
{
    struct draft draft = begin_draft(txn, part);
    for (size_t i = txn->parts[part].first; i != SIZE_MAX; i = txn->entries[i].next)
        if (is_relevant(&txn->entries[i])) {
            struct bytes key =
                commit_format_key(txn->arena, COMMIT_KEY_INTENT, txn->entries[i].name);
            add_guard(&draft, (struct partition_guard){ .key = key, .stamp = txn->id });
            add_change(&draft, key, (struct bytes){ 0 });
            if (committed)
                apply_entry(txn, &txn->entries[i], &draft);
        }
    return draft;
}

static struct partition_operation operation_of(const struct commit_txn *txn, size_t part,
                                               const struct draft *draft)
{
    return (struct partition_operation){
        .partition = txn->parts[part].id,
        .is_write = true,
        .guards = draft->guards,
        .guard_count = draft->guard_count,
        .changes = draft->changes,
        .change_count = draft->change_count,
    };
}

static bool fits(const struct commit_txn *txn, const struct draft *draft)
{
    const struct partition_store_ops *ops = txn->core->store->ops;
    size_t size = 0;
    for (size_t i = 0; i < draft->guard_count; i++)
        size += draft->guards[i].key.len + PARTITION_STAMP_SIZE;
    for (size_t i = 0; i < draft->change_count; i++)
        size += draft->changes[i].key.len + draft->changes[i].value.len;
    return draft->change_count <= ops->changes_max && size <= ops->size_max;
}

/* --- One partition --- */

/* After a lost answer: fences the operation, then looks for its traces. */
static enum engine_status settle_single(struct commit_txn *txn, size_t part)
{
    struct commit_reading reading = { .part = part };
    if (!commit_core_fence(txn->core, txn->arena, &txn->parts[part].id, txn->parts[part].epoch,
                           txn->deadline_ms) ||
        commit_parts_read(txn, &reading, 1, COMMIT_READ_ALL) != ENGINE_OK)
        return ENGINE_UNKNOWN;
    enum engine_status status = ENGINE_UNKNOWN;
    for (size_t i = 0; i < reading.count; i++) {
        const struct commit_entry *entry = &txn->entries[reading.entries[i]];
        struct bytes value = reading.values[1 + 2 * i];
        struct partition_stamp stamp;
        struct bytes payload;
        if (entry->change == COMMIT_CHANGE_NONE || value.data == NULL)
            continue;
        if (!commit_format_read_data(value, &stamp, &payload))
            return ENGINE_UNKNOWN;
        if (partition_stamp_equal(&stamp, &txn->id))
            return ENGINE_OK;
        /* It would have changed this value, and no value ever comes back. */
        if (entry->is_read && entry->is_present && partition_stamp_equal(&stamp, &entry->stamp))
            status = ENGINE_CONFLICT;
    }
    return status;
}

static enum engine_status commit_single(struct commit_txn *txn, size_t part)
{
    struct draft draft = draft_direct(txn, part);
    if (!fits(txn, &draft))
        return ENGINE_TOO_LARGE;
    struct partition_operation operation = operation_of(txn, part, &draft);
    enum partition_status status = commit_core_run(txn->core, txn->arena, &operation);
    return status == PARTITION_UNKNOWN ? settle_single(txn, part) : commit_core_status(status);
}

/* --- Several partitions --- */

static bool has_intents(const struct commit_txn *txn, size_t part)
{
    return part != txn->primary && relevant_count(txn, part) > 0;
}

/* Settles the transaction's own intents in one part, one by one. */
static bool settle_entries(struct commit_txn *txn, size_t part, bool committed)
{
    for (size_t i = txn->parts[part].first; i != SIZE_MAX; i = txn->entries[i].next) {
        if (!is_relevant(&txn->entries[i]))
            continue;
        if (commit_core_is_late(txn->core, txn->deadline_ms))
            return false;
        struct commit_intent intent = intent_of(txn, &txn->entries[i]);
        enum partition_status status = commit_core_settle(
            txn->core, txn->arena, &txn->parts[part].id, txn->entries[i].name, &intent, committed);
        if (status != PARTITION_OK && status != PARTITION_REFUSED)
            return false;
    }
    return true;
}

/* Settles the transaction's own intents, side by side. False if some may be left, which others will
 * find: nobody waits for a store that does not answer only to clean up. */
static bool settle_parts(struct commit_txn *txn, bool committed)
{
    struct partition_operation *operations =
        arena_alloc(txn->arena, txn->part_count * sizeof *operations);
    size_t count = 0;
    if (commit_core_is_late(txn->core, txn->deadline_ms))
        return false;
    for (size_t part = 0; part < txn->part_count; part++)
        if (has_intents(txn, part)) {
            struct draft draft = draft_settlement(txn, part, committed);
            operations[count++] = operation_of(txn, part, &draft);
        }
    txn->core->store->ops->run(txn->core->store, txn->arena, operations, count);
    bool settled = true;
    for (size_t part = 0, i = 0; part < txn->part_count; part++) {
        if (!has_intents(txn, part))
            continue;
        enum partition_status status = operations[i++].status;
        if (status == PARTITION_REFUSED) /* Others have settled some of them. */
            settled = settle_entries(txn, part, committed) && settled;
        else
            settled = settled && status == PARTITION_OK;
    }
    return settled;
}

/* ENGINE_OK once all intents are stored. Otherwise the transaction cannot commit any more, since
 * nobody but us would send the commit. */
static enum engine_status place_intents(struct commit_txn *txn)
{
    struct partition_operation *operations =
        arena_alloc(txn->arena, txn->part_count * sizeof *operations);
    size_t count = 0;
    for (size_t part = 0; part < txn->part_count; part++) {
        if (!has_intents(txn, part))
            continue;
        struct draft draft = draft_intents(txn, part);
        struct draft settlement = draft_settlement(txn, part, true);
        if (!fits(txn, &draft) || !fits(txn, &settlement) || count == COMMIT_PARTICIPANTS_MAX)
            return ENGINE_TOO_LARGE;
        operations[count++] = operation_of(txn, part, &draft);
    }
    txn->core->store->ops->run(txn->core->store, txn->arena, operations, count);
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < count; i++) {
        if (operations[i].status == PARTITION_OK)
            continue;
        if (operations[i].status == PARTITION_REFUSED || operations[i].status == PARTITION_UNKNOWN)
            status = ENGINE_CONFLICT;
        else
            return commit_core_status(operations[i].status);
    }
    return status;
}

static struct bytes record_key(const struct commit_txn *txn)
{
    return commit_format_key(txn->arena, COMMIT_KEY_RECORD,
                             bytes_of(txn->id.bytes, PARTITION_STAMP_SIZE));
}

static void add_record(struct commit_txn *txn, struct draft *draft)
{
    struct commit_record record = { .id = txn->id };
    record.participants = arena_alloc(txn->arena, txn->part_count * sizeof *record.participants);
    for (size_t part = 0; part < txn->part_count; part++)
        if (has_intents(txn, part))
            record.participants[record.participant_count++] = txn->parts[part].id;
    add_guard(draft, (struct partition_guard){ .key = record_key(txn), .absent = true });
    add_change(draft, record_key(txn), commit_format_record(txn->arena, &record));
}

/* After a lost answer to the commit itself: makes the primary decide, one way or the other. */
static enum engine_status settle_decision(struct commit_txn *txn)
{
    const struct commit_part *primary = &txn->parts[txn->primary];
    struct partition_guard guards[] = {
        commit_format_epoch_guard(primary->epoch),
        { .key = record_key(txn), .absent = true },
    };
    struct partition_change change = { BYTES("E"),
                                       commit_format_epoch(txn->arena, primary->epoch + 1) };
    struct commit_intent intent = { .id = txn->id,
                                    .primary = primary->id,
                                    .epoch = primary->epoch };
    for (unsigned i = 0; i < COMMIT_TRIES_MAX && !commit_core_is_late(txn->core, txn->deadline_ms);
         i++) {
        struct partition_operation fence = {
            .partition = primary->id,
            .is_write = true,
            .guards = guards,
            .guard_count = 2,
            .changes = &change,
            .change_count = 1,
        };
        enum partition_status status = commit_core_run(txn->core, txn->arena, &fence);
        if (status == PARTITION_OK)
            return ENGINE_CONFLICT; /* There was no record, and there never will be. */
        enum commit_outcome outcome;
        if (status != PARTITION_REFUSED ||
            commit_core_look_up(txn->core, txn->arena, &intent, &outcome) != ENGINE_OK)
            continue;
        if (outcome == COMMIT_COMMITTED)
            return ENGINE_OK;
        /* Aborted by somebody else, or committed and settled by somebody else: nothing tells. */
        if (outcome == COMMIT_ABORTED)
            return ENGINE_UNKNOWN;
    }
    return ENGINE_UNKNOWN;
}

static enum engine_status commit_several(struct commit_txn *txn)
{
    struct draft draft = draft_direct(txn, txn->primary);
    add_record(txn, &draft);
    if (!fits(txn, &draft))
        return ENGINE_TOO_LARGE;
    enum engine_status status = place_intents(txn);
    if (status == ENGINE_OK) {
        struct partition_operation commit = operation_of(txn, txn->primary, &draft);
        enum partition_status answer = commit_core_run(txn->core, txn->arena, &commit);
        status = answer == PARTITION_UNKNOWN ? settle_decision(txn) : commit_core_status(answer);
    }
    if (status == ENGINE_OK)
        txn->needs_finish = true;
    else if (status != ENGINE_UNKNOWN && status != ENGINE_TOO_LARGE)
        (void)settle_parts(txn, false);
    return status;
}

void commit_txn_finish(struct commit_txn *txn)
{
    if (!txn->needs_finish)
        return;
    txn->needs_finish = false;
    if (!settle_parts(txn, true))
        return; /* The record stays for those who meet the intents, and for the sweep. */
    struct partition_change change = { .key = record_key(txn) };
    struct partition_operation remove = {
        .partition = txn->parts[txn->primary].id,
        .is_write = true,
        .changes = &change,
        .change_count = 1,
    };
    (void)commit_core_run(txn->core, txn->arena, &remove);
}

/* --- Commit --- */

static struct commit_reading *all_readings(struct commit_txn *txn, size_t *count)
{
    struct commit_reading *readings =
        arena_alloc_zeroed(txn->arena, (txn->part_count + 1) * sizeof *readings);
    *count = 0;
    for (size_t part = 0; part < txn->part_count; part++)
        if (relevant_count(txn, part) > 0)
            readings[(*count)++].part = part;
    return readings;
}

/* True if an entry still has the value that was read. */
static bool is_as_read(const struct commit_entry *entry, struct bytes value)
{
    if (!entry->is_read)
        return true;
    if (!entry->is_present || value.data == NULL)
        return !entry->is_present && value.data == NULL;
    return value.len >= PARTITION_STAMP_SIZE &&
           memcmp(value.data, entry->stamp.bytes, PARTITION_STAMP_SIZE) == 0;
}

/* After a refusal: ENGINE_OK if it was not for what was read, so that the commit may try again. */
static enum engine_status read_again(struct commit_txn *txn)
{
    size_t count;
    struct commit_reading *readings = all_readings(txn, &count);
    enum engine_status status = commit_parts_read_settled(txn, readings, count, COMMIT_READ_ALL);
    for (size_t i = 0; status == ENGINE_OK && i < count; i++)
        for (size_t j = 0; j < readings[i].count; j++)
            if (!is_as_read(&txn->entries[readings[i].entries[j]], readings[i].values[1 + 2 * j]))
                return ENGINE_CONFLICT;
    return status;
}

/* Of a transaction without changes: ENGINE_OK if all that was read held at one moment. Everything
 * was read before this reads it again, so what has not changed in between held at that moment. A
 * key that was and is absent may have been there meanwhile, unless its partition is unchanged. */
static enum engine_status confirm_reads(struct commit_txn *txn)
{
    size_t count;
    struct commit_reading *readings = all_readings(txn, &count);
    if (count == 0 || (count == 1 && txn->fetches == 1))
        return ENGINE_OK;
    enum engine_status status = commit_parts_read(txn, readings, count, COMMIT_READ_ALL);
    for (size_t i = 0; status == ENGINE_OK && i < count; i++) {
        size_t intent;
        if (commit_parts_find_intent(&readings[i], &intent))
            return ENGINE_CONFLICT;
        for (size_t j = 0; j < readings[i].count; j++) {
            const struct commit_entry *entry = &txn->entries[readings[i].entries[j]];
            if (entry->version != readings[i].version &&
                (!entry->is_present || !is_as_read(entry, readings[i].values[1 + 2 * j])))
                return ENGINE_CONFLICT;
        }
    }
    return status;
}

/* The epoch of the part that decides: known from a read, or remembered, or read now. */
static enum engine_status find_epoch(struct commit_txn *txn, size_t part)
{
    struct commit_reading reading = { .part = part };
    if (txn->parts[part].has_epoch)
        return ENGINE_OK;
    txn->parts[part].has_epoch =
        commit_core_known_epoch(txn->core, &txn->parts[part].id, &txn->parts[part].epoch);
    if (txn->parts[part].has_epoch)
        return ENGINE_OK;
    return commit_parts_read(txn, &reading, 1, COMMIT_READ_MISSING);
}

enum engine_status commit_txn_commit(struct commit_txn *txn)
{
    size_t relevant = 0;
    assert(!txn->needs_finish);
    txn->primary = SIZE_MAX;
    for (size_t part = 0; part < txn->part_count; part++) {
        relevant += relevant_count(txn, part) > 0;
        if (txn->parts[part].has_changes && txn->primary == SIZE_MAX)
            txn->primary = part;
    }
    if (txn->primary == SIZE_MAX)
        return confirm_reads(txn);
    for (unsigned attempt = 0; attempt < COMMIT_ATTEMPTS_MAX; attempt++) {
        enum engine_status status = find_epoch(txn, txn->primary);
        if (status != ENGINE_OK)
            return status;
        txn->id = commit_core_new_id(txn->core);
        status = relevant == 1 ? commit_single(txn, txn->primary) : commit_several(txn);
        if (status != ENGINE_CONFLICT)
            return status;
        if (commit_core_is_late(txn->core, txn->deadline_ms))
            return ENGINE_BUSY;
        commit_core_forget_epoch(txn->core, &txn->parts[txn->primary].id);
        status = read_again(txn);
        if (status != ENGINE_OK)
            return status;
    }
    return ENGINE_BUSY;
}
