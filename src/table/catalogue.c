/* catalogue.c -- see catalogue.h: the tables in memory, for readers. catalogue_store.c has the
 * rest.
 *
 * Readers find tables in a listing, which never changes: a change publishes another one. They take
 * no lock; hazards (base/hazard.h) keep the listing while they look into it, and the table while
 * they use it. A listing that was replaced is freed when nobody looks into it, and those before it
 * are freed. Only then is the table that the next listing lacks looked at, since nobody can come to
 * it any more: it is destroyed when no hazard and no counted reference holds it.
 */
#include "table/catalogue.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/hazard.h"
#include "base/memory.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "schema/entity_rules.h"
#include "table/catalogue_internal.h"
#include "table/table_runtime.h"

/* Whoever has a table opens a view and reads values. */
enum { HAZARDS_FOR_TABLES = HAZARDS_PER_THREAD / 2 };

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

void catalogue_table_destroy(struct table *table)
{
    assert(atomic_load(&table->references) == 0);
    for (size_t i = 0; i < table->partition_count; i++)
        partition_runtime_release(table->partitions[i]);
    if (table->runtime != NULL)
        table_runtime_release(table->runtime);
    arena_destroy(table->arena);
    free(table);
}

/* False if the stored model is none. */
static bool compile_model(struct arena *arena, struct table_definition *definition)
{
    if (definition->model.mode != MODEL_NONE)
        definition->entity_rules = entity_rules_compile(arena, definition->model.text, definition);
    return (definition->model.mode == MODEL_NONE) == (definition->entity_rules == NULL);
}

struct table *catalogue_table_create(struct catalogue *catalogue, struct bytes record,
                                     const struct table *before)
{
    assert(before == NULL || before->catalogue == catalogue);
    struct table *table = memory_checked(aligned_alloc(CATALOGUE_LINE_SIZE, sizeof *table));
    memset(table, 0, sizeof *table);
    atomic_init(&table->references, 0);
    table->catalogue = catalogue;
    table->arena = arena_create_sized(4 * record.len + DECODED_SIZE);
    struct item item;
    if (item_open(arena_copy(table->arena, record), &item) &&
        table_definition_decode(table->arena, &item, &table->definition) &&
        compile_model(table->arena, &table->definition)) {
        bind_runtime(table, before);
        if (catalogue->attach != NULL)
            table->attachment = catalogue->attach(table->arena, &table->definition);
        return table;
    }
    catalogue_table_destroy(table);
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

struct listing *catalogue_listing_create(size_t count)
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
    assert(catalogue->oldest != NULL); /* The current one at least. */
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
        catalogue_table_destroy(tables);
        tables = next;
    }
}

void catalogue_release_unused(struct catalogue *catalogue)
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
    assert(before->next == NULL && before != listing); /* Only the control thread publishes. */
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
    catalogue_release_unused(table->catalogue);
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

void catalogue_publish_with(struct catalogue *catalogue, struct table *table)
{
    const struct listing *before = current_listing(catalogue);
    size_t position = position_of(before, table->definition.name);
    struct table *replaced = table_at(before, position, table->definition.name);
    size_t kept_from = replaced == NULL ? position : position + 1;
    struct listing *listing = catalogue_listing_create(position + 1 + before->count - kept_from);
    memcpy(listing->tables, before->tables, position * sizeof before->tables[0]);
    listing->tables[position] = table;
    memcpy(&listing->tables[position + 1], &before->tables[kept_from],
           (before->count - kept_from) * sizeof before->tables[0]);
    publish(catalogue, listing, replaced);
}

void catalogue_publish_without(struct catalogue *catalogue, struct bytes name)
{
    const struct listing *before = current_listing(catalogue);
    size_t position = position_of(before, name);
    struct table *table = table_at(before, position, name);
    assert(table != NULL);
    struct listing *listing = catalogue_listing_create(before->count - 1);
    memcpy(listing->tables, before->tables, position * sizeof before->tables[0]);
    memcpy(&listing->tables[position], &before->tables[position + 1],
           (before->count - position - 1) * sizeof before->tables[0]);
    publish(catalogue, listing, table);
}
