/* catalogue.c -- see catalogue.h. Records: doc/disk-format.md, "Catalogue".
 *
 * Memory follows the disk: a change is published to readers only after its batch is durable, so
 * nobody sees a table that a power cut could take back.
 *
 * Readers find tables in a listing, which never changes: a change publishes another one. They take
 * no lock; hazards (base/hazard.h) keep the listing while they look into it, and the table while
 * they use it. A listing that was replaced is freed when nobody looks into it, and those before it
 * are freed. Only then is the table that the next listing lacks looked at, since nobody can come to
 * it any more: it is destroyed when no hazard and no counted reference holds it.
 */
#include "table/catalogue.h"
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/hazard.h"
#include "base/log.h"
#include "base/memory.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "table/catalogue_record.h"
#include "table/expiry_queue.h"
#include "table/layout.h"
#include "table/table_runtime.h"

enum {
    LINE_SIZE = 64, /* Of a cache line. */
    /* Whoever has a table opens a view and reads values. */
    HAZARDS_FOR_TABLES = HAZARDS_PER_THREAD / 2,
};

struct table {
    struct catalogue *catalogue;
    struct arena *arena; /* Holds the definition. */
    struct table_definition definition;
    struct table_runtime *runtime;
    /* Of the table's partitions, then of each index's, in the definition's order. In the arena. */
    struct partition_runtime **partitions;
    size_t partition_count;
    const void *attachment;     /* In the arena. */
    struct table *next_retired; /* Guarded by the catalogue's mutex. */
    /* Those of catalogue_find, which writes take. In a line of its own: reads look at the rest. */
    _Alignas(LINE_SIZE) atomic_uint references;
};

/* The tables at one moment. */
struct listing {
    struct listing *next;  /* The one that replaced it. Guarded by the catalogue's mutex. */
    struct table *removed; /* The one that `next` lacks; NULL: none. Guarded likewise. */
    size_t count;
    struct table *tables[]; /* Sorted by name. */
};

/* A table that left the catalogue and whose data is still there. */
struct dropped_table {
    struct dropped_table *next;
    uint64_t id;
    struct table_runtime *runtime; /* Has no other reference once the last version is gone. */
    size_t owner_count;
    uint64_t owners[]; /* The table and its indexes. */
};

struct catalogue {
    struct engine *engine;
    catalogue_attach *attach;          /* NULL: nothing. */
    _Atomic(struct listing *) listing; /* Set under the mutex. */

    /* Guards what was withdrawn. A leaf: the engine is not called under it. */
    _Alignas(LINE_SIZE) pthread_mutex_t mutex;
    struct listing *oldest; /* That is not freed; the others follow, the current one is the last. */
    struct table *retired;  /* Tables that no listing has. */

    uint64_t next_id;              /* Control thread only. */
    struct dropped_table *dropped; /* Control thread only. */
};

/* --- Tables in memory --- */

/* A small definition, decoded, takes about four times its record and this. */
enum { DECODED_SIZE = 1024 };

static size_t count_partitions(const struct table_definition *definition)
{
    size_t count = definition->partition_count;
    for (size_t i = 0; i < definition->index_count; i++)
        count += definition->indexes[i].partition_count;
    return count;
}

/* What the version before has for the partition, or a new one. Partitions keep their order, so the
 * search resumes at `*hint`, where the one before was found. */
static struct partition_runtime *runtime_of_partition(const struct table *before, uint64_t id,
                                                      size_t *hint)
{
    size_t count = before == NULL ? 0 : before->partition_count;
    for (size_t i = 0; i < count; i++) {
        size_t at = (*hint + i) % count;
        if (before->partitions[at]->partition_id == id) {
            *hint = at + 1;
            return partition_runtime_acquire(before->partitions[at]);
        }
    }
    return partition_runtime_create(id);
}

/* Connects a version with the runtime of its table: that of the version before, or a new one. */
static void bind_runtime(struct table *table, const struct table *before)
{
    const struct table_definition *definition = &table->definition;
    size_t hint = 0;
    assert(before == NULL || before->definition.id == definition->id);
    table->runtime = before == NULL ? table_runtime_create(definition->id)
                                    : table_runtime_acquire(before->runtime);
    size_t count = count_partitions(definition);
    table->partitions = arena_alloc(table->arena, count * sizeof *table->partitions);
    for (size_t i = 0; i < definition->partition_count; i++)
        table->partitions[table->partition_count++] =
            runtime_of_partition(before, definition->partitions[i].id, &hint);
    for (size_t i = 0; i < definition->index_count; i++) {
        const struct index_definition *index = &definition->indexes[i];
        for (size_t p = 0; p < index->partition_count; p++)
            table->partitions[table->partition_count++] =
                runtime_of_partition(before, index->partitions[p].id, &hint);
    }
    assert(table->partition_count == count);
}

static void table_destroy(struct table *table)
{
    for (size_t i = 0; i < table->partition_count; i++)
        partition_runtime_release(table->partitions[i]);
    if (table->runtime != NULL)
        table_runtime_release(table->runtime);
    arena_destroy(table->arena);
    free(table);
}

/* `before` is the current version of the table; NULL: it is new. NULL if the record is no
 * definition. */
static struct table *table_create(struct catalogue *catalogue, struct bytes record,
                                  const struct table *before)
{
    struct table *table = memory_checked(aligned_alloc(LINE_SIZE, sizeof *table));
    memset(table, 0, sizeof *table);
    atomic_init(&table->references, 0);
    table->catalogue = catalogue;
    table->arena = arena_create_sized(4 * record.len + DECODED_SIZE);
    struct item item;
    if (item_open(arena_copy(table->arena, record), &item) &&
        table_definition_decode(table->arena, &item, &table->definition)) {
        bind_runtime(table, before);
        if (catalogue->attach != NULL)
            table->attachment = catalogue->attach(table->arena, &table->definition);
        return table;
    }
    table_destroy(table);
    return NULL;
}

/* A thread may hold a version both by a hazard and by a counted reference. It does not matter which
 * of the two is released first. */
void table_release(struct table *table)
{
    if (table == NULL)
        return;
    struct hazard *hazard = hazard_find(table);
    if (hazard != NULL) {
        hazard_clear(hazard);
        return;
    }
    unsigned before = atomic_fetch_sub(&table->references, 1);
    assert(before > 0); /* It was borrowed, by another thread. */
    (void)before;
}

/* --- Listings --- */

static struct listing *listing_create(size_t count)
{
    struct listing *listing =
        memory_checked(malloc(sizeof *listing + count * sizeof listing->tables[0]));
    *listing = (struct listing){ .count = count };
    return listing;
}

/* Frees listings that nobody can reach, and returns the list of tables that nobody can reach or
 * uses. */
static struct table *take_unused_locked(struct catalogue *catalogue)
{
    struct table *unused = NULL;
    struct hazard_list held;
    hazard_collect(&held);
    while (catalogue->oldest->next != NULL && !hazard_list_has(&held, catalogue->oldest)) {
        struct listing *listing = catalogue->oldest;
        catalogue->oldest = listing->next;
        if (listing->removed != NULL) {
            listing->removed->next_retired = catalogue->retired;
            catalogue->retired = listing->removed;
        }
        free(listing);
    }
    /* Look again: whoever found a table set a hazard for it before that of the listing went. And
     * counters are read after that, since a table is counted before the listing's hazard goes. */
    if (catalogue->retired != NULL)
        hazard_collect(&held);
    struct table **link = &catalogue->retired;
    while (*link != NULL) {
        struct table *table = *link;
        if (hazard_list_has(&held, table) || atomic_load(&table->references) > 0) {
            link = &table->next_retired;
            continue;
        }
        *link = table->next_retired;
        table->next_retired = unused;
        unused = table;
    }
    return unused;
}

static void destroy_all(struct table *tables)
{
    while (tables != NULL) {
        struct table *next = tables->next_retired;
        table_destroy(tables);
        tables = next;
    }
}

static void release_unused(struct catalogue *catalogue)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct table *unused = take_unused_locked(catalogue);
    pthread_mutex_unlock(&catalogue->mutex);
    destroy_all(unused);
}

/* Makes `listing`, which lacks `removed`, the one that readers find. */
static void publish(struct catalogue *catalogue, struct listing *listing, struct table *removed)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct listing *before = atomic_exchange(&catalogue->listing, listing);
    before->removed = removed;
    before->next = listing;
    struct table *unused = take_unused_locked(catalogue);
    pthread_mutex_unlock(&catalogue->mutex);
    destroy_all(unused);
}

/* A listing that a reader looks into. */
struct look {
    const struct listing *listing;
    struct hazard *hazard; /* NULL: the reader holds the mutex, under which nothing is freed. */
};

static struct look look_begin(struct catalogue *catalogue)
{
    struct listing *listing = atomic_load(&catalogue->listing);
    struct hazard *hazard = hazard_take(HAZARDS_PER_THREAD, listing);
    if (UNLIKELY(hazard == NULL)) {
        pthread_mutex_lock(&catalogue->mutex);
        return (struct look){ .listing = atomic_load(&catalogue->listing) };
    }
    for (struct listing *now; (now = atomic_load(&catalogue->listing)) != listing; listing = now)
        hazard_set(hazard, now);
    return (struct look){ .listing = listing, .hazard = hazard };
}

static void look_end(struct catalogue *catalogue, const struct look *look)
{
    if (UNLIKELY(look->hazard == NULL))
        pthread_mutex_unlock(&catalogue->mutex);
    hazard_clear(look->hazard);
}

bool table_is_only_version(const struct table *table)
{
    release_unused(table->catalogue);
    return atomic_load(&table->runtime->references) == 1;
}

const struct table_definition *table_definition(const struct table *table)
{
    return &table->definition;
}

const void *table_attachment(const struct table *table)
{
    return table->attachment;
}

struct table_runtime *table_runtime(const struct table *table)
{
    return table->runtime;
}

struct partition_runtime *table_partition_runtime(const struct table *table,
                                                  const struct index_definition *index,
                                                  size_t partition)
{
    const struct table_definition *definition = &table->definition;
    if (index == NULL) {
        assert(partition < definition->partition_count);
        return table->partitions[partition];
    }
    assert(index >= definition->indexes && index < definition->indexes + definition->index_count);
    assert(partition < index->partition_count);
    size_t first = definition->partition_count;
    for (const struct index_definition *i = definition->indexes; i < index; i++)
        first += i->partition_count;
    return table->partitions[first + partition];
}

/* The first table whose name is not below `name`. */
static size_t position_of(const struct listing *listing, struct bytes name)
{
    size_t low = 0, high = listing->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bytes_compare(listing->tables[middle]->definition.name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct table *table_at(const struct listing *listing, size_t position, struct bytes name)
{
    if (position == listing->count ||
        !bytes_equal(listing->tables[position]->definition.name, name))
        return NULL;
    return listing->tables[position];
}

static size_t position_behind(const struct listing *listing, struct bytes name)
{
    size_t position = position_of(listing, name);
    return table_at(listing, position, name) == NULL ? position : position + 1;
}

struct table *catalogue_borrow(struct catalogue *catalogue, struct bytes name)
{
    struct look look = look_begin(catalogue);
    struct table *table = table_at(look.listing, position_of(look.listing, name), name);
    if (table != NULL && UNLIKELY(hazard_take(HAZARDS_FOR_TABLES, table) == NULL))
        atomic_fetch_add(&table->references, 1);
    look_end(catalogue, &look);
    return table;
}

/* Ends the look. NULL is allowed. */
static struct table *count_found(struct catalogue *catalogue, const struct look *look,
                                 struct table *table)
{
    if (table != NULL)
        atomic_fetch_add(&table->references, 1);
    look_end(catalogue, look);
    return table;
}

struct table *catalogue_find(struct catalogue *catalogue, struct bytes name)
{
    struct look look = look_begin(catalogue);
    return count_found(catalogue, &look,
                       table_at(look.listing, position_of(look.listing, name), name));
}

bool catalogue_is_current(struct catalogue *catalogue, const struct table *table)
{
    struct bytes name = table->definition.name;
    struct look look = look_begin(catalogue);
    bool current = table_at(look.listing, position_of(look.listing, name), name) == table;
    look_end(catalogue, &look);
    return current;
}

size_t catalogue_table_count(struct catalogue *catalogue)
{
    struct look look = look_begin(catalogue);
    size_t count = look.listing->count;
    look_end(catalogue, &look);
    return count;
}

size_t catalogue_list(struct catalogue *catalogue, struct arena *arena, struct bytes after,
                      struct bytes *names, size_t names_max)
{
    struct look look = look_begin(catalogue);
    size_t position = position_behind(look.listing, after);
    size_t count = 0;
    for (; position < look.listing->count && count < names_max; position++)
        names[count++] = arena_copy(arena, look.listing->tables[position]->definition.name);
    look_end(catalogue, &look);
    return count;
}

struct table *catalogue_find_transient(struct catalogue *catalogue)
{
    struct table *first = NULL;
    struct look look = look_begin(catalogue);
    for (size_t i = 0; i < look.listing->count; i++) {
        int64_t at_ms = look.listing->tables[i]->definition.transition_at_ms;
        if (at_ms != 0 && (first == NULL || at_ms < first->definition.transition_at_ms))
            first = look.listing->tables[i];
    }
    return count_found(catalogue, &look, first);
}

struct table *catalogue_find_next(struct catalogue *catalogue, struct bytes after,
                                  bool (*test)(const struct table_definition *definition,
                                               void *context),
                                  void *context)
{
    struct table *found = NULL;
    struct look look = look_begin(catalogue);
    size_t position = position_behind(look.listing, after);
    for (; position < look.listing->count && found == NULL; position++) {
        if (test(&look.listing->tables[position]->definition, context))
            found = look.listing->tables[position];
    }
    return count_found(catalogue, &look, found);
}

/* The listing that changes follow: only the control thread makes others. */
static const struct listing *current_listing(struct catalogue *catalogue)
{
    return atomic_load(&catalogue->listing);
}

/* Puts `table` in the place of the one of its name, or among the others if there is none. */
static void publish_with(struct catalogue *catalogue, struct table *table)
{
    const struct listing *before = current_listing(catalogue);
    size_t position = position_of(before, table->definition.name);
    struct table *replaced = table_at(before, position, table->definition.name);
    size_t kept_from = replaced == NULL ? position : position + 1;
    struct listing *listing = listing_create(position + 1 + before->count - kept_from);
    memcpy(listing->tables, before->tables, position * sizeof before->tables[0]);
    listing->tables[position] = table;
    memcpy(&listing->tables[position + 1], &before->tables[kept_from],
           (before->count - kept_from) * sizeof before->tables[0]);
    publish(catalogue, listing, replaced);
}

static void publish_without(struct catalogue *catalogue, struct bytes name)
{
    const struct listing *before = current_listing(catalogue);
    size_t position = position_of(before, name);
    struct table *table = table_at(before, position, name);
    assert(table != NULL);
    struct listing *listing = listing_create(before->count - 1);
    memcpy(listing->tables, before->tables, position * sizeof before->tables[0]);
    memcpy(&listing->tables[position], &before->tables[position + 1],
           (before->count - position - 1) * sizeof before->tables[0]);
    publish(catalogue, listing, table);
}

/* --- Dropped tables --- */

/* Takes over a reference to the runtime. */
static struct dropped_table *dropped_create(uint64_t id, struct table_runtime *runtime,
                                            size_t owner_count)
{
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
    struct table *table = table_create(loading->catalogue, record, NULL);
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
    struct listing *listing = listing_create(loading.count); /* Nobody else reads it yet. */
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
    struct catalogue *catalogue = memory_checked(aligned_alloc(LINE_SIZE, sizeof *catalogue));
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
    release_unused(catalogue);
    struct listing *listing = atomic_load(&catalogue->listing);
    assert(catalogue->oldest == listing && catalogue->retired == NULL); /* No table is held. */
    for (size_t i = 0; i < listing->count; i++) {
        assert(atomic_load(&listing->tables[i]->references) == 0);
        table_destroy(listing->tables[i]);
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
    /* One control thread makes all changes and holds their state in memory: nothing to read. */
    return engine_write_begin(catalogue->engine, NULL, 0, write);
}

/* Data that is removed in the same step as a change of a definition. */
struct removal {
    uint64_t owner; /* All that it stores; 0: nobody. */
    bool expiry;    /* The table's expiry queue. */
};
static_assert(LAYOUT_CATALOGUE_OWNER == 0, "0 is nobody that could be removed");

static enum engine_status prepare_removal(struct catalogue *catalogue,
                                          const struct removal *removal,
                                          const struct table_definition *definition)
{
    enum engine_status status = ENGINE_OK;
    if (removal->owner != 0)
        status = engine_prepare_delete_owner(catalogue->engine, removal->owner);
    for (size_t i = 0; removal->expiry && i < definition->partition_count && status == ENGINE_OK;
         i++) {
        struct engine_place place =
            expiry_queue_place(definition->id, definition->partitions[i].id);
        status = engine_prepare_delete_range(catalogue->engine, &place, BYTES(""), BYTES(""));
    }
    return status;
}

static void remove_with(const struct removal *removal, const struct table_definition *definition,
                        struct engine_write *write)
{
    if (removal->owner != 0)
        engine_write_delete_owner(write, removal->owner);
    for (size_t i = 0; removal->expiry && i < definition->partition_count; i++) {
        struct engine_place place =
            expiry_queue_place(definition->id, definition->partitions[i].id);
        engine_write_delete_range(write, &place, BYTES(""), BYTES(""));
    }
}

/* Writes the record of `definition` and the next free id, then makes the table findable. `before`
 * is the version that it replaces; NULL: none. */
static enum engine_status store(struct catalogue *catalogue, struct arena *arena,
                                const struct table_definition *definition,
                                const struct table *before, const struct removal *removal)
{
    struct engine_write *write = NULL;
    struct item record = table_definition_encode(arena, definition);
    struct table *table = table_create(catalogue, record.encoded, before);
    assert(table != NULL); /* What we encode decodes. */
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
        publish_with(catalogue, table);
    else
        table_destroy(table);
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

enum engine_status catalogue_create(struct catalogue *catalogue, struct arena *arena,
                                    struct table_definition *draft)
{
    assert(draft->id == 0 && draft->log_id == 0);
    draft->id = catalogue->next_id++;
    give_index_ids(catalogue, arena, draft);
    give_log_id(catalogue, draft);
    draft->hash = TABLE_HASH_MD5;
    draft->partition_count = partition_count_for(draft->billing_mode, &draft->throughput);
    draft->partitions = give_partitions(catalogue, arena, draft->partition_count);
    return store(catalogue, arena, draft, NULL, &(struct removal){ 0 });
}

static enum engine_status update(struct catalogue *catalogue, struct arena *arena,
                                 struct table_definition *changed, const struct removal *removal)
{
    struct table *table = catalogue_find(catalogue, changed->name);
    assert(table != NULL && table->definition.id == changed->id);
    table_release(table); /* The listing keeps it until `store` publishes another one. */
    give_index_ids(catalogue, arena, changed);
    give_log_id(catalogue, changed);
    return store(catalogue, arena, changed, table, removal);
}

enum engine_status catalogue_update(struct catalogue *catalogue, struct arena *arena,
                                    struct table_definition *changed)
{
    return update(catalogue, arena, changed, &(struct removal){ 0 });
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

enum engine_status catalogue_drop(struct catalogue *catalogue, struct arena *arena,
                                  struct bytes name)
{
    struct table *table = catalogue_find(catalogue, name);
    assert(table != NULL);
    const struct table_definition *definition = &table->definition;
    struct dropped_table *dropped = dropped_create(
        definition->id, table_runtime_acquire(table->runtime), 1 + definition->index_count);
    dropped->owners[0] = definition->id;
    for (size_t i = 0; i < definition->index_count; i++)
        dropped->owners[1 + i] = definition->indexes[i].id;

    struct engine_write *write = NULL;
    enum engine_status status = begin_change(catalogue, &write);
    if (status == ENGINE_OK) {
        struct engine_address address =
            catalogue_record_address(arena, LAYOUT_KEY_TABLE, definition->name);
        engine_write_delete(write, &address);
        address = catalogue_record_dropped_address(arena, definition->id);
        engine_write_put(write, &address,
                         catalogue_record_encode_ids(arena, dropped->owners, dropped->owner_count));
        status = engine_write_commit_wait(write);
    }
    if (status == ENGINE_OK) {
        publish_without(catalogue, definition->name);
        dropped->next = catalogue->dropped;
        catalogue->dropped = dropped;
    } else {
        dropped_destroy(dropped);
    }
    table_release(table);
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

enum engine_status catalogue_remove_dropped(struct catalogue *catalogue, struct arena *arena,
                                            bool *waiting)
{
    struct dropped_table **link = &catalogue->dropped;
    release_unused(catalogue);
    while (*link != NULL && atomic_load(&(*link)->runtime->references) > 1)
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
