/* catalogue.c -- see catalogue.h. Records: doc/disk-format.md, "Catalogue".
 *
 * Memory follows the disk: a change is published to readers only after its batch is durable, so
 * nobody sees a table that a power cut could take back.
 */
#include "table/catalogue.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/log.h"
#include "base/memory.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "table/catalogue_record.h"
#include "table/expiry_queue.h"
#include "table/layout.h"

/* Shared by all versions of one table, so that a drop knows when the last user has gone. */
struct table_life {
    atomic_uint references;
};

struct table {
    atomic_uint references;
    struct table_life *life;
    struct arena *arena; /* Holds the definition. */
    struct table_definition definition;
    const void *attachment; /* In the arena. */
};

/* A table that left the catalogue and whose data is still there. */
struct dropped_table {
    struct dropped_table *next;
    uint64_t id;
    struct table_life *life;
    size_t owner_count;
    uint64_t owners[]; /* The table and its indexes. */
};

struct catalogue {
    struct engine *engine;
    catalogue_attach *attach; /* NULL: nothing. */
    pthread_rwlock_t lock;    /* Guards `tables`, `table_count` and `table_capacity`. */
    struct table **tables;    /* Sorted by name. */
    size_t table_count;
    size_t table_capacity;
    uint64_t next_id;              /* Control thread only. */
    struct dropped_table *dropped; /* Control thread only. */
};

/* --- Tables in memory --- */

/* A small definition, decoded, takes about four times its record and this. */
enum { DECODED_SIZE = 1024 };

static struct table_life *life_create(void)
{
    struct table_life *life = memory_checked(malloc(sizeof *life));
    atomic_init(&life->references, 1);
    return life;
}

static void life_release(struct table_life *life)
{
    if (atomic_fetch_sub(&life->references, 1) == 1)
        free(life);
}

/* Takes over one reference of `life`. NULL if the record is no definition. */
static struct table *table_create(const struct catalogue *catalogue, struct bytes record,
                                  struct table_life *life)
{
    struct table *table = memory_checked(malloc(sizeof *table));
    atomic_init(&table->references, 1);
    table->life = life;
    table->attachment = NULL;
    table->arena = arena_create_sized(4 * record.len + DECODED_SIZE);
    struct item item;
    if (item_open(arena_copy(table->arena, record), &item) &&
        table_definition_decode(table->arena, &item, &table->definition)) {
        if (catalogue->attach != NULL)
            table->attachment = catalogue->attach(table->arena, &table->definition);
        return table;
    }
    table_release(table);
    return NULL;
}

void table_release(struct table *table)
{
    if (table == NULL || atomic_fetch_sub(&table->references, 1) > 1)
        return;
    life_release(table->life);
    arena_destroy(table->arena);
    free(table);
}

bool table_is_only_version(const struct table *table)
{
    return atomic_load(&table->life->references) == 1;
}

const struct table_definition *table_definition(const struct table *table)
{
    return &table->definition;
}

const void *table_attachment(const struct table *table)
{
    return table->attachment;
}

/* The first table whose name is not below `name`. */
static size_t position_of(const struct catalogue *catalogue, struct bytes name)
{
    size_t low = 0, high = catalogue->table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bytes_compare(catalogue->tables[middle]->definition.name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct table *table_at(const struct catalogue *catalogue, size_t position, struct bytes name)
{
    if (position == catalogue->table_count ||
        !bytes_equal(catalogue->tables[position]->definition.name, name))
        return NULL;
    return catalogue->tables[position];
}

struct table *catalogue_find(struct catalogue *catalogue, struct bytes name)
{
    pthread_rwlock_rdlock(&catalogue->lock);
    struct table *table = table_at(catalogue, position_of(catalogue, name), name);
    if (table != NULL)
        atomic_fetch_add(&table->references, 1);
    pthread_rwlock_unlock(&catalogue->lock);
    return table;
}

bool catalogue_is_current(struct catalogue *catalogue, const struct table *table)
{
    struct bytes name = table->definition.name;
    pthread_rwlock_rdlock(&catalogue->lock);
    bool current = table_at(catalogue, position_of(catalogue, name), name) == table;
    pthread_rwlock_unlock(&catalogue->lock);
    return current;
}

size_t catalogue_table_count(struct catalogue *catalogue)
{
    pthread_rwlock_rdlock(&catalogue->lock);
    size_t count = catalogue->table_count;
    pthread_rwlock_unlock(&catalogue->lock);
    return count;
}

size_t catalogue_list(struct catalogue *catalogue, struct arena *arena, struct bytes after,
                      struct bytes *names, size_t names_max)
{
    pthread_rwlock_rdlock(&catalogue->lock);
    size_t position = position_of(catalogue, after);
    if (table_at(catalogue, position, after) != NULL)
        position++;
    size_t count = 0;
    for (; position < catalogue->table_count && count < names_max; position++)
        names[count++] = arena_copy(arena, catalogue->tables[position]->definition.name);
    pthread_rwlock_unlock(&catalogue->lock);
    return count;
}

struct table *catalogue_find_transient(struct catalogue *catalogue)
{
    struct table *first = NULL;
    pthread_rwlock_rdlock(&catalogue->lock);
    for (size_t i = 0; i < catalogue->table_count; i++) {
        int64_t at_ms = catalogue->tables[i]->definition.transition_at_ms;
        if (at_ms != 0 && (first == NULL || at_ms < first->definition.transition_at_ms))
            first = catalogue->tables[i];
    }
    if (first != NULL)
        atomic_fetch_add(&first->references, 1);
    pthread_rwlock_unlock(&catalogue->lock);
    return first;
}

static bool has_index_change(const struct table_definition *definition, void *context)
{
    (void)context;
    for (size_t i = 0; i < definition->index_count; i++) {
        if (definition->indexes[i].status != INDEX_ACTIVE)
            return true;
    }
    return false;
}

struct table *catalogue_find_next(struct catalogue *catalogue, struct bytes after,
                                  bool (*test)(const struct table_definition *definition,
                                               void *context),
                                  void *context)
{
    struct table *found = NULL;
    pthread_rwlock_rdlock(&catalogue->lock);
    size_t position = position_of(catalogue, after);
    if (table_at(catalogue, position, after) != NULL)
        position++;
    for (; position < catalogue->table_count && found == NULL; position++) {
        if (test(&catalogue->tables[position]->definition, context))
            found = catalogue->tables[position];
    }
    if (found != NULL)
        atomic_fetch_add(&found->references, 1);
    pthread_rwlock_unlock(&catalogue->lock);
    return found;
}

struct table *catalogue_find_index_change(struct catalogue *catalogue, struct bytes after)
{
    return catalogue_find_next(catalogue, after, has_index_change, NULL);
}

/* Puts `table` in the place of the one of its name, or among the others if there is none. */
static void publish(struct catalogue *catalogue, struct table *table)
{
    struct table *replaced = NULL;
    pthread_rwlock_wrlock(&catalogue->lock);
    size_t position = position_of(catalogue, table->definition.name);
    replaced = table_at(catalogue, position, table->definition.name);
    if (replaced == NULL) {
        if (catalogue->table_count == catalogue->table_capacity) {
            catalogue->table_capacity = catalogue->table_capacity * 2 + 16;
            catalogue->tables = memory_checked(
                realloc(catalogue->tables, catalogue->table_capacity * sizeof *catalogue->tables));
        }
        memmove(&catalogue->tables[position + 1], &catalogue->tables[position],
                (catalogue->table_count - position) * sizeof *catalogue->tables);
        catalogue->table_count++;
    }
    catalogue->tables[position] = table;
    pthread_rwlock_unlock(&catalogue->lock);
    table_release(replaced);
}

static void unpublish(struct catalogue *catalogue, struct bytes name)
{
    pthread_rwlock_wrlock(&catalogue->lock);
    size_t position = position_of(catalogue, name);
    struct table *table = table_at(catalogue, position, name);
    assert(table != NULL);
    catalogue->table_count--;
    memmove(&catalogue->tables[position], &catalogue->tables[position + 1],
            (catalogue->table_count - position) * sizeof *catalogue->tables);
    pthread_rwlock_unlock(&catalogue->lock);
    table_release(table);
}

/* --- Dropped tables --- */

static struct dropped_table *dropped_create(uint64_t id, struct table_life *life,
                                            size_t owner_count)
{
    struct dropped_table *dropped =
        memory_checked(malloc(sizeof *dropped + owner_count * sizeof dropped->owners[0]));
    *dropped = (struct dropped_table){ .id = id, .life = life, .owner_count = owner_count };
    return dropped;
}

static void dropped_destroy(struct dropped_table *dropped)
{
    life_release(dropped->life);
    free(dropped);
}

/* --- Loading --- */

static bool load_record(struct catalogue *catalogue, struct bytes key, struct bytes record)
{
    struct bytes ids;
    switch (key.len > 0 ? key.data[0] : 0) {
    case LAYOUT_KEY_TABLE: {
        struct table *table = table_create(catalogue, record, life_create());
        if (table == NULL)
            return false;
        publish(catalogue, table);
        return true;
    }
    case LAYOUT_KEY_DROPPED:
        ids = catalogue_record_decode_ids(record);
        if (ids.data == NULL || key.len != 1 + 8)
            return false;
        struct dropped_table *dropped =
            dropped_create(load_u64_be(key.data + 1), life_create(), ids.len / 8);
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
    enum engine_status status = engine_view_open(catalogue->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK) {
        struct engine_range range = { .place = catalogue_record_place };
        status = engine_scan_open(view, &range, &scan);
    }
    while (status == ENGINE_OK) {
        struct engine_entry entry;
        status = engine_scan_next(scan, &entry);
        if (status == ENGINE_OK && !load_record(catalogue, entry.key, entry.value)) {
            log_write(LOG_ERROR, "catalogue", "damaged record '%.*s'", BYTES_FMT(entry.key));
            status = ENGINE_CORRUPT;
        }
    }
    engine_scan_close(scan);
    engine_view_close(view);
    return status == ENGINE_END ? ENGINE_OK : status;
}

struct catalogue *catalogue_open(struct engine *engine, enum engine_status *status)
{
    return catalogue_open_attaching(engine, NULL, status);
}

struct catalogue *catalogue_open_attaching(struct engine *engine, catalogue_attach *attach,
                                           enum engine_status *status)
{
    struct catalogue *catalogue = memory_checked(calloc(1, sizeof *catalogue));
    catalogue->engine = engine;
    catalogue->attach = attach;
    catalogue->next_id = LAYOUT_FIRST_ID;
    pthread_rwlock_init(&catalogue->lock, NULL);
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
    for (size_t i = 0; i < catalogue->table_count; i++)
        table_release(catalogue->tables[i]);
    while (catalogue->dropped != NULL) {
        struct dropped_table *dropped = catalogue->dropped;
        catalogue->dropped = dropped->next;
        dropped_destroy(dropped);
    }
    pthread_rwlock_destroy(&catalogue->lock);
    free(catalogue->tables);
    free(catalogue);
}

/* --- Changes: control thread --- */

static enum engine_status begin_change(struct catalogue *catalogue, struct engine_write **write)
{
    /* One control thread makes all changes and holds their state in memory: nothing to read. */
    return engine_write_begin(catalogue->engine, NULL, 0, write);
}

/* What goes in the same step as a change of a definition. */
struct removal {
    uint64_t owner; /* All that it stores; 0: nobody. */
    bool expiry;    /* The table's expiry queue. */
};
static_assert(LAYOUT_CATALOGUE_OWNER == 0, "0 is nobody that could be removed");

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

/* Writes the record of `definition` and the next free id, then makes the table findable. */
static enum engine_status store(struct catalogue *catalogue, struct arena *arena,
                                const struct table_definition *definition, struct table_life *life,
                                const struct removal *removal)
{
    struct engine_write *write = NULL;
    struct item record = table_definition_encode(arena, definition);
    struct table *table = table_create(catalogue, record.encoded, life);
    assert(table != NULL); /* What we encode decodes. */
    enum engine_status status = begin_change(catalogue, &write);
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
        publish(catalogue, table);
    else
        table_release(table);
    return status;
}

static struct partition *give_partitions(struct catalogue *catalogue, struct arena *arena,
                                         size_t *count)
{
    struct partition *partitions =
        arena_alloc_zeroed(arena, PARTITIONS_PER_TABLE * sizeof *partitions);
    for (size_t i = 0; i < PARTITIONS_PER_TABLE; i++) {
        partitions[i].id = catalogue->next_id++;
        partitions[i].first_hash = i * (UINT64_MAX / PARTITIONS_PER_TABLE + 1);
    }
    *count = PARTITIONS_PER_TABLE;
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
        if (index->global)
            index->partitions = give_partitions(catalogue, arena, &index->partition_count);
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
    draft->partitions = give_partitions(catalogue, arena, &draft->partition_count);
    return store(catalogue, arena, draft, life_create(), &(struct removal){ 0 });
}

static enum engine_status update(struct catalogue *catalogue, struct arena *arena,
                                 struct table_definition *changed, const struct removal *removal)
{
    struct table *table = catalogue_find(catalogue, changed->name);
    assert(table != NULL && table->definition.id == changed->id);
    struct table_life *life = table->life;
    atomic_fetch_add(&life->references, 1);
    table_release(table);
    give_index_ids(catalogue, arena, changed);
    give_log_id(catalogue, changed);
    return store(catalogue, arena, changed, life, removal);
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
    struct dropped_table *dropped =
        dropped_create(definition->id, table->life, 1 + definition->index_count);
    atomic_fetch_add(&table->life->references, 1);
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
        unpublish(catalogue, definition->name);
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
    enum engine_status status = begin_change(catalogue, &write);
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
    while (*link != NULL && atomic_load(&(*link)->life->references) > 1)
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
