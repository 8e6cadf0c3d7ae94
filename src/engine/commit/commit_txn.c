/* commit_txn.c -- what a transaction reads and wants to change; see commit_txn.h.
 *
 * commit_write.c does the commit.
 */
#include "engine/commit/commit_txn.h"
#include <assert.h>
#include "base/arena.h"
#include "base/crc32c.h"
#include "engine/commit/commit_parts.h"

void commit_txn_init(struct commit_txn *txn, struct commit_core *core, struct arena *arena)
{
    *txn = (struct commit_txn){ .core = core,
                                .arena = arena,
                                .deadline_ms =
                                    core->time.now_ms(core->time.context) + COMMIT_WRITE_MS };
    for (size_t i = 0; i < COMMIT_TXN_BUCKETS; i++)
        txn->buckets[i] = SIZE_MAX;
}

static size_t find_part(struct commit_txn *txn, const struct engine_place *place)
{
    struct partition_id id = commit_format_partition(place);
    for (size_t i = txn->part_count; i > 0; i--) /* The last one is the likeliest. */
        if (partition_id_compare(&txn->parts[i - 1].id, &id) == 0)
            return i - 1;
    if (txn->part_count == txn->part_capacity) {
        size_t capacity = txn->part_capacity == 0 ? 4 : 2 * txn->part_capacity;
        txn->parts = arena_grow(txn->arena, txn->parts, txn->part_count * sizeof *txn->parts,
                                capacity * sizeof *txn->parts);
        txn->part_capacity = capacity;
    }
    txn->parts[txn->part_count] =
        (struct commit_part){ .id = id, .first = SIZE_MAX, .last = SIZE_MAX };
    return txn->part_count++;
}

/* The entry of an address, which is added if it is missing. */
static struct commit_entry *find_entry(struct commit_txn *txn, const struct engine_address *address)
{
    struct bytes name =
        commit_format_name(txn->arena, address->place.owner, address->place.space, address->key);
    size_t part = find_part(txn, &address->place);
    size_t *bucket = &txn->buckets[(crc32c(name) + part) % COMMIT_TXN_BUCKETS];
    for (size_t i = *bucket; i != SIZE_MAX; i = txn->entries[i].next_in_bucket)
        if (txn->entries[i].part == part && bytes_equal(txn->entries[i].name, name))
            return &txn->entries[i];
    if (txn->entry_count == txn->entry_capacity) {
        size_t capacity = txn->entry_capacity == 0 ? 8 : 2 * txn->entry_capacity;
        txn->entries = arena_grow(txn->arena, txn->entries, txn->entry_count * sizeof *txn->entries,
                                  capacity * sizeof *txn->entries);
        txn->entry_capacity = capacity;
    }
    size_t index = txn->entry_count++;
    txn->entries[index] = (struct commit_entry){
        .name = name,
        .part = part,
        .next = SIZE_MAX,
        .next_in_bucket = *bucket,
        .change = COMMIT_CHANGE_NONE,
    };
    *bucket = index;
    if (txn->parts[part].last == SIZE_MAX)
        txn->parts[part].first = index;
    else
        txn->entries[txn->parts[part].last].next = index;
    txn->parts[part].last = index;
    return &txn->entries[index];
}

void commit_txn_want(struct commit_txn *txn, const struct engine_address *address)
{
    find_entry(txn, address)->wanted = true;
}

static void change(struct commit_txn *txn, const struct engine_address *address,
                   enum commit_change kind, struct bytes payload)
{
    struct commit_entry *entry = find_entry(txn, address);
    entry->change = kind;
    entry->new_payload = payload;
    txn->parts[entry->part].has_changes = true;
}

void commit_txn_put(struct commit_txn *txn, const struct engine_address *address,
                    struct bytes payload)
{
    change(txn, address, COMMIT_CHANGE_PUT, arena_copy(txn->arena, payload));
}

void commit_txn_delete(struct commit_txn *txn, const struct engine_address *address)
{
    change(txn, address, COMMIT_CHANGE_DELETE, BYTES(""));
}

/* --- Reading parts --- */

/* An entry takes part in the reading: it is looked at, and intents on it are resolved. */
static bool is_chosen(const struct commit_entry *entry, enum commit_reading_kind kind)
{
    if (kind == COMMIT_READ_MISSING)
        return entry->wanted && !entry->is_read;
    return entry->is_read || entry->change != COMMIT_CHANGE_NONE;
}

static void prepare(struct commit_txn *txn, struct commit_reading *reading,
                    enum commit_reading_kind kind, struct partition_operation *operation)
{
    const struct commit_part *part = &txn->parts[reading->part];
    size_t count = 0;
    for (size_t i = part->first; i != SIZE_MAX; i = txn->entries[i].next)
        count += is_chosen(&txn->entries[i], kind);
    struct bytes *keys = arena_alloc(txn->arena, (1 + 2 * count) * sizeof *keys);
    reading->values = arena_alloc_zeroed(txn->arena, (1 + 2 * count) * sizeof *keys);
    reading->entries = arena_alloc(txn->arena, (1 + count) * sizeof *reading->entries);
    reading->count = 0;
    keys[0] = BYTES("E");
    for (size_t i = part->first; i != SIZE_MAX; i = txn->entries[i].next) {
        if (!is_chosen(&txn->entries[i], kind))
            continue;
        struct bytes name = txn->entries[i].name;
        reading->entries[reading->count] = i;
        keys[1 + 2 * reading->count] = commit_format_key(txn->arena, COMMIT_KEY_DATA, name);
        keys[2 + 2 * reading->count] = commit_format_key(txn->arena, COMMIT_KEY_INTENT, name);
        reading->count++;
    }
    *operation = (struct partition_operation){
        .partition = part->id,
        .keys = keys,
        .key_count = 1 + 2 * count,
        .values = reading->values,
    };
}

enum engine_status commit_parts_read(struct commit_txn *txn, struct commit_reading *readings,
                                     size_t count, enum commit_reading_kind kind)
{
    struct partition_operation *operations =
        arena_alloc_zeroed(txn->arena, (count + 1) * sizeof *operations);
    for (size_t i = 0; i < count; i++)
        prepare(txn, &readings[i], kind, &operations[i]);
    txn->core->store->ops->run(txn->core->store, txn->arena, operations, count);
    for (size_t i = 0; i < count; i++) {
        struct commit_part *part = &txn->parts[readings[i].part];
        if (operations[i].status != PARTITION_OK)
            return commit_core_status(operations[i].status);
        if (!commit_format_read_epoch(readings[i].values[0], &part->epoch))
            return ENGINE_CORRUPT;
        part->has_epoch = true;
        commit_core_note_epoch(txn->core, &part->id, part->epoch);
        readings[i].version = operations[i].version;
    }
    return ENGINE_OK;
}

bool commit_parts_find_intent(const struct commit_reading *reading, size_t *index)
{
    for (size_t i = 0; i < reading->count; i++)
        if (reading->values[2 + 2 * i].data != NULL) {
            *index = i;
            return true;
        }
    return false;
}

enum engine_status commit_parts_read_settled(struct commit_txn *txn,
                                             struct commit_reading *readings, size_t count,
                                             enum commit_reading_kind kind)
{
    struct commit_waiter waiter = { 0 };
    struct commit_reading *left =
        memcpy(arena_alloc(txn->arena, (count + 1) * sizeof *left), readings, count * sizeof *left);
    size_t left_count = count, done = 0;
    while (left_count > 0) {
        enum engine_status status = commit_parts_read(txn, left, left_count, kind);
        size_t kept = 0;
        for (size_t i = 0; status == ENGINE_OK && i < left_count; i++) {
            struct commit_intent intent;
            size_t index;
            if (!commit_parts_find_intent(&left[i], &index)) {
                readings[done++] = left[i];
                continue;
            }
            status = commit_format_read_intent(left[i].values[2 + 2 * index], &intent)
                         ? commit_core_resolve(txn->core, txn->arena, &waiter,
                                               &txn->parts[left[i].part].id,
                                               txn->entries[left[i].entries[index]].name, &intent)
                         : ENGINE_CORRUPT;
            if (status == ENGINE_OK && commit_core_is_late(txn->core, txn->deadline_ms))
                status = ENGINE_BUSY;
            left[kept++] = left[i];
        }
        if (status != ENGINE_OK)
            return status;
        left_count = kept;
    }
    return ENGINE_OK;
}

enum engine_status commit_txn_fetch(struct commit_txn *txn)
{
    struct commit_reading *readings =
        arena_alloc_zeroed(txn->arena, (txn->part_count + 1) * sizeof *readings);
    size_t count = 0;
    for (size_t part = 0; part < txn->part_count; part++) {
        bool missing = false;
        for (size_t i = txn->parts[part].first; i != SIZE_MAX && !missing; i = txn->entries[i].next)
            missing = is_chosen(&txn->entries[i], COMMIT_READ_MISSING);
        if (missing)
            readings[count++].part = part;
    }
    if (count == 0)
        return ENGINE_OK;
    txn->fetches++;
    enum engine_status status =
        commit_parts_read_settled(txn, readings, count, COMMIT_READ_MISSING);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < readings[i].count; j++) {
            struct commit_entry *entry = &txn->entries[readings[i].entries[j]];
            struct bytes value = readings[i].values[1 + 2 * j];
            entry->is_present = value.data != NULL;
            if (entry->is_present &&
                !commit_format_read_data(value, &entry->stamp, &entry->payload))
                return ENGINE_CORRUPT;
            entry->version = readings[i].version;
            entry->is_read = true;
        }
    return ENGINE_OK;
}

enum engine_status commit_txn_get(struct commit_txn *txn, const struct engine_address *address,
                                  struct bytes *payload, uint64_t *version)
{
    struct commit_entry *entry = find_entry(txn, address);
    if (!entry->is_read) {
        entry->wanted = true;
        enum engine_status status = commit_txn_fetch(txn);
        if (status != ENGINE_OK)
            return status;
        entry = find_entry(txn, address);
    }
    assert(entry->is_read);
    *version = entry->version;
    *payload = entry->payload;
    return entry->is_present ? ENGINE_OK : ENGINE_NOT_FOUND;
}
