/* catalogue_store.c -- see catalogue.h: the catalogue's records, and their changes by the control
 * thread. Records: doc/disk-format.md, "Catalogue".
 *
 * Memory follows the disk: a change is published to readers only after its batch is durable, so
 * nobody sees a table that a power cut could take back.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/memory.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/catalogue_internal.h"
#include "table/catalogue_record.h"
#include "table/expiry_queue.h"
#include "table/replica_stamp.h"
#include "table/layout.h"
#include "table/table_runtime.h"

/* --- Dropped tables --- */

/* Takes over a reference to the runtime. */
static struct dropped_table *dropped_create(uint64_t id, struct table_runtime *runtime,
                                            size_t owner_count)
{
    assert(runtime != NULL && owner_count > 0);
    struct dropped_table *dropped =
        memory_checked(malloc(sizeof *dropped + owner_count * sizeof dropped->owners[0]));
    *dropped = (struct dropped_table){ .id = id, .runtime = runtime, .owner_count = owner_count };
    return dropped;
}

static void dropped_destroy(struct dropped_table *dropped)
{
    table_runtime_release(dropped->runtime);
    free(dropped);
}

/* --- Loading --- */

/* The tables that are loaded so far. */
struct loading {
    struct catalogue *catalogue;
    struct table **tables;
    size_t count;
    size_t capacity;
};

/* Records come in the order of their keys, hence of the names. */
static bool load_table(struct loading *loading, struct bytes record)
{
    struct table *table = catalogue_table_create(loading->catalogue, record, NULL);
    if (table == NULL)
        return false;
    if (loading->count == loading->capacity) {
        loading->capacity = loading->capacity * 2 + 16;
        loading->tables =
            memory_checked(realloc(loading->tables, loading->capacity * sizeof loading->tables[0]));
    }
    loading->tables[loading->count++] = table;
    return loading->count == 1 ||
           bytes_compare(loading->tables[loading->count - 2]->definition.name,
                         table->definition.name) < 0;
}

static bool load_record(struct loading *loading, struct bytes key, struct bytes record)
{
    struct catalogue *catalogue = loading->catalogue;
    struct bytes ids;
    switch (key.len > 0 ? key.data[0] : 0) {
    case LAYOUT_KEY_TABLE:
        return load_table(loading, record);
    case LAYOUT_KEY_DROPPED:
        ids = catalogue_record_decode_ids(record);
        if (ids.data == NULL || key.len != 1 + 8)
            return false;
        uint64_t id = load_u64_be(key.data + 1);
        struct dropped_table *dropped = dropped_create(id, table_runtime_create(id), ids.len / 8);
        for (size_t i = 0; i < dropped->owner_count; i++)
            dropped->owners[i] = load_u64_be(ids.data + i * 8);
        dropped->next = catalogue->dropped;
        catalogue->dropped = dropped;
        return true;
    case LAYOUT_KEY_NEXT_ID:
        ids = catalogue_record_decode_ids(record);
        if (ids.data == NULL || ids.len != 8)
            return false;
        catalogue->next_id = load_u64_be(ids.data);
        return true;
    default:
        return false;
    }
}

static enum engine_status load(struct catalogue *catalogue)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct loading loading = { .catalogue = catalogue };
    enum engine_status status = engine_view_open(catalogue->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK) {
        struct engine_range range = { .place = catalogue_record_place };
        status = engine_scan_open(view, &range, &scan);
    }
    while (status == ENGINE_OK) {
        struct engine_entry entry;
        status = engine_scan_next(scan, &entry);
        if (status == ENGINE_OK && !load_record(&loading, entry.key, entry.value)) {
            log_write(LOG_ERROR, "catalogue", "damaged record '%.*s'", BYTES_FMT(entry.key));
            status = ENGINE_CORRUPT;
        }
    }
    engine_scan_close(scan);
    engine_view_close(view);
    struct listing *listing =
        catalogue_listing_create(loading.count); /* Nobody else reads it yet. */
    if (loading.count > 0)
        memcpy(listing->tables, loading.tables, loading.count * sizeof loading.tables[0]);
    free(loading.tables);
    catalogue->oldest = listing;
    atomic_init(&catalogue->listing, listing);
    return status == ENGINE_END ? ENGINE_OK : status;
}

struct catalogue *catalogue_open(struct engine *engine, enum engine_status *status)
{
    return catalogue_open_attaching(engine, NULL, status);
}

struct catalogue *catalogue_open_attaching(struct engine *engine, catalogue_attach *attach,
                                           enum engine_status *status)
{
    assert(engine != NULL && status != NULL);
    struct catalogue *catalogue =
        memory_checked(aligned_alloc(CATALOGUE_LINE_SIZE, sizeof *catalogue));
    memset(catalogue, 0, sizeof *catalogue);
    catalogue->engine = engine;
    catalogue->attach = attach;
    catalogue->next_id = LAYOUT_FIRST_ID;
    pthread_mutex_init(&catalogue->mutex, NULL);
    *status = load(catalogue);
    if (*status == ENGINE_OK)
        return catalogue;
    catalogue_close(catalogue);
    return NULL;
}

void catalogue_close(struct catalogue *catalogue)
{
    if (catalogue == NULL)
        return;
    catalogue_release_unused(catalogue);
    struct listing *listing = atomic_load(&catalogue->listing);
    assert(catalogue->oldest == listing && catalogue->retired == NULL); /* No table is held. */
    for (size_t i = 0; i < listing->count; i++) {
        assert(atomic_load(&listing->tables[i]->references) == 0);
        catalogue_table_destroy(listing->tables[i]);
    }
    free(listing);
    while (catalogue->dropped != NULL) {
        struct dropped_table *dropped = catalogue->dropped;
        catalogue->dropped = dropped->next;
        dropped_destroy(dropped);
    }
    pthread_mutex_destroy(&catalogue->mutex);
    free(catalogue);
}

/* --- Changes: control thread --- */

static enum engine_status begin_change(struct catalogue *catalogue, struct engine_write **write)
{
    assert(*write == NULL);
    /* One control thread makes all changes and holds their state in memory: nothing to read. */
    return engine_write_begin(catalogue->engine, NULL, 0, write);
}

/* Data that is removed, or stored, in the same step as a change of a definition. */
struct removal {
    uint64_t owner;                      /* All that it stores; 0: nobody. */
    bool expiry;                         /* The table's expiry queue. */
    bool replicas;                       /* Its stamps and queues of other regions. */
    const struct catalogue_extra *extra; /* To be stored as well; NULL: nothing. */
};
static_assert(LAYOUT_CATALOGUE_OWNER == 0, "0 is nobody that could be removed");

/* Whether a space of each partition is removed. */
static bool is_of_partitions(const struct removal *removal)
{
    assert(!removal->expiry || !removal->replicas);
    return removal->expiry || removal->replicas;
}

static struct engine_place place_of_removal(const struct removal *removal,
                                            const struct table_definition *definition, size_t i)
{
    uint64_t partition = definition->partitions[i].id;
    return removal->expiry ? expiry_queue_place(definition->id, partition)
                           : replica_stamp_place(definition->id, partition);
}

static enum engine_status prepare_removal(struct catalogue *catalogue,
                                          const struct removal *removal,
                                          const struct table_definition *definition)
{
    enum engine_status status = ENGINE_OK;
    if (removal->owner != 0)
        status = engine_prepare_delete_owner(catalogue->engine, removal->owner);
    for (size_t i = 0;
         is_of_partitions(removal) && i < definition->partition_count && status == ENGINE_OK; i++) {
        struct engine_place place = place_of_removal(removal, definition, i);
        status = engine_prepare_delete_range(catalogue->engine, &place, BYTES(""), BYTES(""));
    }
    return status;
}

static void put_extra(const struct catalogue_extra *extra, struct engine_write *write)
{
    if (extra != NULL)
        engine_write_put(write, &extra->address, extra->value);
}

static void remove_with(const struct removal *removal, const struct table_definition *definition,
                        struct engine_write *write)
{
    put_extra(removal->extra, write);
    if (removal->owner != 0)
        engine_write_delete_owner(write, removal->owner);
    for (size_t i = 0; is_of_partitions(removal) && i < definition->partition_count; i++) {
        struct engine_place place = place_of_removal(removal, definition, i);
        engine_write_delete_range(write, &place, BYTES(""), BYTES(""));
    }
}

/* Writes the record of `definition` and the next free id, then makes the table findable. `before`
 * is the version that it replaces; NULL: none. */
static enum engine_status store(struct catalogue *catalogue, struct arena *arena,
                                const struct table_definition *definition,
                                const struct table *before, const struct removal *removal)
{
    assert(before == NULL || before->definition.id == definition->id);
    struct engine_write *write = NULL;
    struct item record = table_definition_encode(arena, definition);
    struct table *table = catalogue_table_create(catalogue, record.encoded, before);
    if (table == NULL) { /* Parts of definitions come from servers of other regions. */
        log_write(LOG_ERROR, "catalogue", "table %.*s: a definition that cannot be read is refused",
                  BYTES_FMT(definition->name));
        return ENGINE_CORRUPT;
    }
    enum engine_status status = prepare_removal(catalogue, removal, definition);
    if (status == ENGINE_OK)
        status = begin_change(catalogue, &write);
    if (status == ENGINE_OK) {
        struct engine_address address =
            catalogue_record_address(arena, LAYOUT_KEY_TABLE, definition->name);
        engine_write_put(write, &address, record.encoded);
        address = catalogue_record_address(arena, LAYOUT_KEY_NEXT_ID, BYTES(""));
        engine_write_put(write, &address,
                         catalogue_record_encode_ids(arena, &catalogue->next_id, 1));
        remove_with(removal, definition, write);
        status = engine_write_commit_wait(write);
    }
    if (status == ENGINE_OK)
        catalogue_publish_with(catalogue, table);
    else
        catalogue_table_destroy(table);
    return status;
}

enum {
    /* What one partition of the service can take in a second. */
    PARTITION_READ_UNITS_MAX = 3000,
    PARTITION_WRITE_UNITS_MAX = 1000,
    /* A bound of ours, since each costs a range of the store and a shard of the stream. */
    NEW_PARTITIONS_MAX = 64,
};

/* How many partitions the service gives a new table or global index: four on demand, otherwise as
 * many as the throughput needs. */
static size_t partition_count_for(enum billing_mode mode, const struct throughput *throughput)
{
    if (mode == BILLING_PAY_PER_REQUEST)
        return CATALOGUE_ON_DEMAND_PARTITIONS;
    double share = (double)throughput->read_units / PARTITION_READ_UNITS_MAX +
                   (double)throughput->write_units / PARTITION_WRITE_UNITS_MAX;
    if (share <= 1)
        return 1;
    return share < NEW_PARTITIONS_MAX ? (size_t)ceil(share) : NEW_PARTITIONS_MAX;
}

static struct partition *give_partitions(struct catalogue *catalogue, struct arena *arena,
                                         size_t count)
{
    assert(count > 0 && count <= NEW_PARTITIONS_MAX);
    struct partition *partitions = arena_alloc_zeroed(arena, count * sizeof *partitions);
    for (size_t i = 0; i < count; i++) {
        partitions[i].id = catalogue->next_id++;
        partitions[i].first_hash = (uint64_t)(((unsigned __int128)i << 64) / count);
    }
    return partitions;
}

static void give_index_ids(struct catalogue *catalogue, struct arena *arena,
                           struct table_definition *definition)
{
    for (size_t i = 0; i < definition->index_count; i++) {
        struct index_definition *index = &definition->indexes[i];
        if (index->id != 0)
            continue;
        index->id = catalogue->next_id++;
        if (!index->global)
            continue;
        index->partition_count = partition_count_for(definition->billing_mode, &index->throughput);
        index->partitions = give_partitions(catalogue, arena, index->partition_count);
    }
}

/* A log is an owner of its own. One that was closed is never opened again. */
static void give_log_id(struct catalogue *catalogue, struct table_definition *definition)
{
    bool needed = table_definition_log_needs(definition).changes;
    if (!needed)
        definition->log_id = 0;
    else if (definition->log_id == 0)
        definition->log_id = catalogue->next_id++;
}

/* A split begins with a partition that has no id. */
static void give_split_id(struct catalogue *catalogue, struct table_definition *definition)
{
    for (size_t i = 0; i < definition->split_count; i++) {
        if (definition->splits[i].id == 0)
            definition->splitting_id = definition->splits[i].id = catalogue->next_id++;
    }
}

static void give_history_id(struct catalogue *catalogue, struct table_definition *definition)
{
    if (definition->history.status != HISTORY_NONE && definition->history.id == 0)
        definition->history.id = catalogue->next_id++;
}

enum engine_status catalogue_create(struct catalogue *catalogue, struct arena *arena,
                                    struct table_definition *draft)
{
    return catalogue_create_with(catalogue, arena, draft, NULL);
}

enum engine_status catalogue_create_with(struct catalogue *catalogue, struct arena *arena,
                                         struct table_definition *draft,
                                         const struct catalogue_extra *extra)
{
    assert(draft->id == 0 && draft->log_id == 0);
    draft->id = catalogue->next_id++;
    give_index_ids(catalogue, arena, draft);
    give_log_id(catalogue, draft);
    draft->hash = TABLE_HASH_MD5;
    draft->partition_count = partition_count_for(draft->billing_mode, &draft->throughput);
    draft->partitions = give_partitions(catalogue, arena, draft->partition_count);
    draft->splits = NULL; /* Of the table that it was made from. */
    draft->split_count = 0;
    draft->splitting_id = 0;
    return store(catalogue, arena, draft, NULL, &(struct removal){ .extra = extra });
}

static enum engine_status update(struct catalogue *catalogue, struct arena *arena,
                                 struct table_definition *changed, const struct removal *removal)
{
    struct table *table = catalogue_find(catalogue, changed->name);
    assert(table != NULL && table->definition.id == changed->id);
    table_release(table); /* The listing keeps it until `store` publishes another one. */
    give_index_ids(catalogue, arena, changed);
    give_log_id(catalogue, changed);
    give_split_id(catalogue, changed);
    give_history_id(catalogue, changed);
    return store(catalogue, arena, changed, table, removal);
}

enum engine_status catalogue_update(struct catalogue *catalogue, struct arena *arena,
                                    struct table_definition *changed)
{
    return update(catalogue, arena, changed, &(struct removal){ 0 });
}

enum engine_status catalogue_update_with(struct catalogue *catalogue, struct arena *arena,
                                         struct table_definition *changed,
                                         const struct catalogue_extra *extra)
{
    return update(catalogue, arena, changed, &(struct removal){ .extra = extra });
}

enum engine_status catalogue_remove_index(struct catalogue *catalogue, struct arena *arena,
                                          struct table_definition *changed, uint64_t index_id)
{
    return update(catalogue, arena, changed, &(struct removal){ .owner = index_id });
}

enum engine_status catalogue_remove_expiry(struct catalogue *catalogue, struct arena *arena,
                                           struct table_definition *changed)
{
    assert(changed->expiry.status == EXPIRY_NONE);
    return update(catalogue, arena, changed, &(struct removal){ .expiry = true });
}

enum engine_status catalogue_remove_replicas(struct catalogue *catalogue, struct arena *arena,
                                             struct table_definition *changed)
{
    assert(!replica_definition_is_group(&changed->replicas));
    return update(catalogue, arena, changed, &(struct removal){ .replicas = true });
}

enum engine_status catalogue_remove_history(struct catalogue *catalogue, struct arena *arena,
                                            struct table_definition *changed, uint64_t history_id)
{
    assert(changed->history.status == HISTORY_NONE && history_id != 0);
    return update(catalogue, arena, changed, &(struct removal){ .owner = history_id });
}

void catalogue_set_keeper(struct catalogue *catalogue, const struct catalogue_keeper *keeper)
{
    assert(keeper != NULL);
    catalogue->keeper = *keeper;
}

/* Notes whose data is to be removed: that of the indexes, and of the table itself unless it is
 * kept.
 */
static void add_owners(struct dropped_table *dropped, const struct table_definition *definition,
                       bool is_kept)
{
    dropped->owner_count = 0;
    if (!is_kept)
        dropped->owners[dropped->owner_count++] = definition->id;
    if (!is_kept && definition->history.id != 0)
        dropped->owners[dropped->owner_count++] = definition->history.id;
    for (size_t i = 0; i < definition->index_count; i++)
        dropped->owners[dropped->owner_count++] = definition->indexes[i].id;
    if (dropped->owner_count > 0)
        dropped->id = dropped->owners[0];
}

/* Begins the write that drops a table, and asks whether its data is kept. */
static enum engine_status begin_drop(struct catalogue *catalogue, struct arena *arena,
                                     const struct table_definition *definition,
                                     struct engine_write **write, bool *is_kept)
{
    const struct catalogue_keeper *keeper = &catalogue->keeper;
    enum engine_status status = begin_change(catalogue, write);
    if (status != ENGINE_OK || keeper->keep == NULL)
        return status;
    status = keeper->keep(keeper->context, arena, definition, *write, is_kept);
    if (status != ENGINE_OK)
        engine_write_abandon(*write);
    return status;
}

static void put_dropped(struct arena *arena, const struct dropped_table *dropped,
                        struct engine_write *write)
{
    assert(dropped->owner_count > 0);
    const struct engine_address address = catalogue_record_dropped_address(arena, dropped->id);
    engine_write_put(write, &address,
                     catalogue_record_encode_ids(arena, dropped->owners, dropped->owner_count));
}

/* Once the record is stored, i.e. if it is `noted`. Otherwise there is nothing to remove. */
static void add_dropped(struct catalogue *catalogue, struct dropped_table *dropped, bool noted)
{
    if (!noted) {
        dropped_destroy(dropped);
        return;
    }
    dropped->next = catalogue->dropped;
    catalogue->dropped = dropped;
}

enum engine_status catalogue_drop(struct catalogue *catalogue, struct arena *arena,
                                  struct bytes name)
{
    return catalogue_drop_with(catalogue, arena, name, NULL);
}

enum engine_status catalogue_drop_with(struct catalogue *catalogue, struct arena *arena,
                                       struct bytes name, const struct catalogue_extra *extra)
{
    struct table *table = catalogue_find(catalogue, name);
    assert(table != NULL);
    const struct table_definition *definition = &table->definition;
    struct dropped_table *dropped = dropped_create(
        definition->id, table_runtime_acquire(table->runtime), 2 + definition->index_count);

    struct engine_write *write = NULL;
    bool is_kept = false;
    enum engine_status status = begin_drop(catalogue, arena, definition, &write, &is_kept);
    if (status == ENGINE_OK) {
        add_owners(dropped, definition, is_kept);
        struct engine_address address =
            catalogue_record_address(arena, LAYOUT_KEY_TABLE, definition->name);
        engine_write_delete(write, &address);
        if (dropped->owner_count > 0)
            put_dropped(arena, dropped, write);
        put_extra(extra, write);
        status = engine_write_commit_wait(write);
    }
    if (status == ENGINE_OK)
        catalogue_publish_without(catalogue, definition->name);
    add_dropped(catalogue, dropped, status == ENGINE_OK && dropped->owner_count > 0);
    table_release(table);
    return status;
}

enum engine_status catalogue_give_up(struct catalogue *catalogue, struct arena *arena,
                                     const struct engine_address *record, const uint64_t *owners,
                                     size_t owner_count)
{
    assert(owner_count > 0 && owners[0] != LAYOUT_CATALOGUE_OWNER);
    struct dropped_table *dropped =
        dropped_create(owners[0], table_runtime_create(owners[0]), owner_count);
    memcpy(dropped->owners, owners, owner_count * sizeof owners[0]);
    struct engine_write *write = NULL;
    enum engine_status status = begin_change(catalogue, &write);
    if (status == ENGINE_OK) {
        engine_write_delete(write, record);
        put_dropped(arena, dropped, write);
        status = engine_write_commit_wait(write);
    }
    add_dropped(catalogue, dropped, status == ENGINE_OK);
    return status;
}

static enum engine_status remove_data(struct catalogue *catalogue, struct arena *arena,
                                      const struct dropped_table *dropped)
{
    struct engine_write *write = NULL;
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < dropped->owner_count && status == ENGINE_OK; i++)
        status = engine_prepare_delete_owner(catalogue->engine, dropped->owners[i]);
    if (status == ENGINE_OK)
        status = begin_change(catalogue, &write);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < dropped->owner_count; i++)
        engine_write_delete_owner(write, dropped->owners[i]);
    struct engine_address address = catalogue_record_dropped_address(arena, dropped->id);
    engine_write_delete(write, &address);
    return engine_write_commit_wait(write);
}

/* Whether anybody may still look at the data of a dropped table. */
static bool is_in_use(const struct dropped_table *dropped, const struct catalogue_keeper *keeper)
{
    return atomic_load(&dropped->runtime->references) > 1 ||
           (keeper->is_read != NULL && keeper->is_read(keeper->context, dropped->id));
}

bool catalogue_waits_for_jobs(struct catalogue *catalogue)
{
    for (const struct dropped_table *dropped = catalogue->dropped; dropped != NULL;
         dropped = dropped->next)
        if (atomic_load(&dropped->runtime->references) > 1 ||
            !is_in_use(dropped, &catalogue->keeper))
            return false;
    return catalogue->dropped != NULL;
}

enum engine_status catalogue_remove_dropped(struct catalogue *catalogue, struct arena *arena,
                                            bool *waiting)
{
    struct dropped_table **link = &catalogue->dropped;
    catalogue_release_unused(catalogue);
    while (*link != NULL && is_in_use(*link, &catalogue->keeper))
        link = &(*link)->next;
    struct dropped_table *dropped = *link;
    *waiting = catalogue->dropped != NULL;
    if (dropped == NULL)
        return ENGINE_END;
    enum engine_status status = remove_data(catalogue, arena, dropped);
    if (status == ENGINE_OK) {
        *link = dropped->next;
        dropped_destroy(dropped);
    }
    return status;
}
