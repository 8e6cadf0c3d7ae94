/* bulk_load.c -- see bulk_load.h. */
#include "jobs/bulk_load.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "index/index_change.h"
#include "index/index_view.h"
#include "jobs/job_runner.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/collection_size.h"
#include "table/item_address.h"
#include "table/table_stats.h"

enum {
    /* Each item may need the addresses of its shard and of its collection. */
    ADDRESSES_PER_ITEM = 2,
    ADDRESSES_MAX = ENGINE_WRITE_ADDRESSES_MAX - ADDRESSES_PER_ITEM,
};
/* A hash table of a batch's entries, at most half full. */
enum { SLOTS = 2 * BULK_LOAD_BATCH_ITEMS };
static_assert((SLOTS & (SLOTS - 1)) == 0 && BULK_LOAD_BATCH_ITEMS < UINT16_MAX,
              "a slot is found by a mask, and holds an index");

struct entry {
    struct item item; /* In the arena. */
    struct item_address place;
};

/* What the batch adds to a shard of the statistics. */
struct shard {
    struct engine_address address;
    struct table_stats sum;
    struct table_stats *indexes;
};

/* What it adds to an item collection. */
struct collection {
    struct engine_address address;
    int64_t change;
};

struct batch {
    struct arena *arena;
    struct entry entries[BULK_LOAD_BATCH_ITEMS];
    uint16_t slots[SLOTS]; /* Where keys may repeat: 1 + the index of an entry; 0: free. */
    size_t count;
    size_t size;
    struct shard shards[ADDRESSES_MAX];
    size_t shard_count;
    struct collection collections[ADDRESSES_MAX];
    size_t collection_count;
};

struct bulk_load {
    struct bulk_load_options options;
    bool has_collections;
    struct batch *batches[2]; /* One is put together while the other is committed. */
    struct batch *current;

    struct engine_completion completion;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t ended;
    bool under_way;
    enum engine_status status; /* How the last commit ended. */
};

static struct batch *batch_create(void)
{
    struct batch *batch = memory_checked(calloc(1, sizeof *batch));
    batch->arena = arena_create();
    return batch;
}

struct bulk_load *bulk_load_create(const struct bulk_load_options *options)
{
    const struct table_definition *table = options->table;
    /* The table has no stream and no expiry queue yet, so a load need not write to them. */
    assert(table->log_id == 0 && table->expiry.status == EXPIRY_NONE);
    struct bulk_load *load = memory_checked(calloc(1, sizeof *load));
    load->options = *options;
    load->has_collections = table_definition_has_local_index(table);
    for (size_t i = 0; i < COUNT_OF(load->batches); i++)
        load->batches[i] = batch_create();
    load->current = load->batches[0];
    pthread_mutex_init(&load->mutex, NULL);
    timed_wait_init(&load->ended);
    return load;
}

enum engine_status bulk_load_wait(struct bulk_load *load)
{
    pthread_mutex_lock(&load->mutex);
    while (load->under_way)
        pthread_cond_wait(&load->ended, &load->mutex);
    enum engine_status status = load->status;
    pthread_mutex_unlock(&load->mutex);
    return status;
}

void bulk_load_destroy(struct bulk_load *load)
{
    if (load == NULL)
        return;
    enum engine_status ignored = bulk_load_wait(load);
    (void)ignored;
    for (size_t i = 0; i < COUNT_OF(load->batches); i++) {
        arena_destroy(load->batches[i]->arena);
        free(load->batches[i]);
    }
    pthread_cond_destroy(&load->ended);
    pthread_mutex_destroy(&load->mutex);
    free(load);
}

/* --- Putting a batch together --- */

/* The entry of the same item; a new one, without an item, if the batch has none. */
static struct entry *find_entry(struct batch *batch, const struct item_address *place)
{
    size_t slot = place->hash % SLOTS;
    for (; batch->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        struct entry *entry = &batch->entries[batch->slots[slot] - 1];
        if (item_address_equal(&entry->place, place))
            return entry;
    }
    batch->slots[slot] = (uint16_t)(batch->count + 1);
    return &batch->entries[batch->count++];
}

/* The one used last is found first: in the order of keys it is one of a few. */
static struct shard *find_shard(struct bulk_load *load, struct batch *batch,
                                const struct item_address *place)
{
    struct engine_address address = table_stats_address(place);
    for (size_t i = batch->shard_count; i-- > 0;) {
        if (engine_address_equal(&batch->shards[i].address, &address))
            return &batch->shards[i];
    }
    assert(batch->shard_count < COUNT_OF(batch->shards));
    struct shard *shard = &batch->shards[batch->shard_count++];
    *shard = (struct shard){ .address = address };
    if (load->options.table->index_count > 0)
        shard->indexes = arena_alloc_zeroed(batch->arena, load->options.table->index_count *
                                                              sizeof *shard->indexes);
    return shard;
}

static struct collection *find_collection(struct batch *batch, const struct item_address *place)
{
    struct engine_address address = collection_size_address(place);
    for (size_t i = batch->collection_count; i-- > 0;) {
        if (engine_address_equal(&batch->collections[i].address, &address))
            return &batch->collections[i];
    }
    assert(batch->collection_count < COUNT_OF(batch->collections));
    struct collection *collection = &batch->collections[batch->collection_count++];
    *collection = (struct collection){ .address = address };
    return collection;
}

bool bulk_load_add(struct bulk_load *load, const struct item *item, struct error *err)
{
    struct batch *batch = load->current;
    struct item_address place;
    struct item copy;
    assert(!bulk_load_is_full(load));
    if (!item_address_of_item(batch->arena, load->options.table, item, &place, err))
        return false;
    bool opened = item_open(arena_copy(batch->arena, item->encoded), &copy);
    assert(opened); /* It was an item before. */
    (void)opened;
    struct entry *entry =
        load->options.keys_may_repeat ? find_entry(batch, &place) : &batch->entries[batch->count++];
    *entry = (struct entry){ .item = copy, .place = place };
    batch->size += copy.encoded.len;
    find_shard(load, batch, &place);
    if (load->has_collections)
        find_collection(batch, &place);
    return true;
}

bool bulk_load_is_full(const struct bulk_load *load)
{
    const struct batch *batch = load->current;
    return batch->size >= BULK_LOAD_BATCH_SIZE || batch->count >= BULK_LOAD_BATCH_ITEMS ||
           batch->shard_count + batch->collection_count >= ADDRESSES_MAX - ADDRESSES_PER_ITEM;
}

size_t bulk_load_count(const struct bulk_load *load)
{
    return load->current->count;
}

/* --- Writing --- */

static size_t collect_addresses(const struct batch *batch,
                                struct engine_address out[ENGINE_WRITE_ADDRESSES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < batch->shard_count; i++)
        out[count++] = batch->shards[i].address;
    for (size_t i = 0; i < batch->collection_count; i++)
        out[count++] = batch->collections[i].address;
    assert(count <= ENGINE_WRITE_ADDRESSES_MAX);
    return count;
}

/* Puts what changes in one index. Returns by how many bytes an item collection grows. */
static int64_t put_index_change(struct engine_write *write, const struct index_definition *index,
                                const struct index_change *change, struct table_stats *stats)
{
    if (change->type == INDEX_CHANGE_REMOVE || change->type == INDEX_CHANGE_MOVE)
        engine_write_delete(write, &change->removed);
    if (change->type != INDEX_CHANGE_NONE && change->type != INDEX_CHANGE_REMOVE)
        engine_write_put(write, &change->stored, change->entry.encoded);
    int64_t growth = (int64_t)change->size_after - (int64_t)change->size_before;
    stats->item_count += change->type == INDEX_CHANGE_INSERT;
    stats->item_count -= change->type == INDEX_CHANGE_REMOVE;
    stats->size += growth;
    return index->global ? 0 : growth;
}

/* `before` is NULL if there is no item yet. */
static void put_entry(struct bulk_load *load, struct batch *batch, struct engine_write *write,
                      const struct entry *entry, const struct item *before)
{
    const struct table_definition *table = load->options.table;
    struct shard *shard = find_shard(load, batch, &entry->place);
    int64_t growth = (int64_t)entry->item.size - (before == NULL ? 0 : (int64_t)before->size);
    engine_write_put(write, &entry->place.address, entry->item.encoded);
    shard->sum.item_count += before == NULL;
    shard->sum.size += growth;
    if (table->index_count == 0)
        return;
    struct index_view view_before, view_after = index_view_open(batch->arena, table, &entry->item);
    if (before != NULL)
        view_before = index_view_open(batch->arena, table, before);
    struct index_comparison comparison =
        index_comparison_of(batch->arena, before == NULL ? NULL : &view_before, &view_after);
    for (size_t i = 0; i < table->index_count; i++) {
        struct index_change change =
            index_change_between(batch->arena, &comparison, &table->indexes[i]);
        growth += put_index_change(write, &table->indexes[i], &change, &shard->indexes[i]);
    }
    if (load->has_collections)
        find_collection(batch, &entry->place)->change += growth;
}

/* Nobody else writes to the table, and the batch before this one is complete: a view shows what
 * this one replaces. */
static enum engine_status put_repeated(struct bulk_load *load, struct batch *batch,
                                       struct engine_write *write)
{
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(load->options.engine, ENGINE_STRONG, &view);
    for (size_t i = 0; i < batch->count && status == ENGINE_OK; i++) {
        struct engine_value value = { 0 };
        struct item before;
        status =
            item_address_get(view, load->options.table, &batch->entries[i].place, &value, &before);
        bool exists = status == ENGINE_OK;
        status = status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
        if (status == ENGINE_OK)
            put_entry(load, batch, write, &batch->entries[i], exists ? &before : NULL);
        engine_value_release(&value);
    }
    engine_view_close(view);
    return status;
}

static enum engine_status put_entries(struct bulk_load *load, struct batch *batch,
                                      struct engine_write *write)
{
    if (load->options.keys_may_repeat)
        return put_repeated(load, batch, write);
    for (size_t i = 0; i < batch->count; i++)
        put_entry(load, batch, write, &batch->entries[i], NULL);
    return ENGINE_OK;
}

static enum engine_status put_sums(struct bulk_load *load, struct batch *batch,
                                   struct engine_write *write)
{
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < batch->shard_count && status == ENGINE_OK; i++) {
        const struct shard *shard = &batch->shards[i];
        status = table_stats_change(write, load->options.table, &shard->address, &shard->sum,
                                    shard->indexes);
    }
    for (size_t i = 0; i < batch->collection_count && status == ENGINE_OK; i++) {
        int64_t size;
        const struct collection *collection = &batch->collections[i];
        status = collection_size_get_for_write(write, &collection->address, &size);
        if (status == ENGINE_OK && size + collection->change < 0)
            status = ENGINE_CORRUPT;
        if (status == ENGINE_OK)
            collection_size_put(write, &collection->address, size + collection->change);
    }
    return status;
}

static void done(struct engine_completion *completion, enum engine_status status)
{
    struct bulk_load *load =
        (struct bulk_load *)((char *)completion - offsetof(struct bulk_load, completion));
    pthread_mutex_lock(&load->mutex);
    load->status = status;
    load->under_way = false;
    pthread_cond_signal(&load->ended);
    pthread_mutex_unlock(&load->mutex);
}

static void commit(struct bulk_load *load, struct engine_write *write)
{
    pthread_mutex_lock(&load->mutex);
    load->under_way = true;
    pthread_mutex_unlock(&load->mutex);
    load->completion = (struct engine_completion){ .done = done };
    engine_write_commit(write, &load->completion);
}

/* The previous commit has completed, so its memory serves the next batch. */
static void swap_batches(struct bulk_load *load)
{
    load->current = load->current == load->batches[0] ? load->batches[1] : load->batches[0];
    arena_reset(load->current->arena);
    load->current->count = load->current->size = 0;
    load->current->shard_count = load->current->collection_count = 0;
    memset(load->current->slots, 0, sizeof load->current->slots);
}

enum engine_status bulk_load_write(struct bulk_load *load, struct job *job)
{
    struct engine_address addresses[ENGINE_WRITE_ADDRESSES_MAX];
    struct batch *batch = load->current;
    struct engine_write *write = NULL;
    size_t count = collect_addresses(batch, addresses);
    enum engine_status status = bulk_load_wait(load);
    if (status == ENGINE_OK)
        status = engine_write_begin(load->options.engine, addresses, count, &write);
    if (status != ENGINE_OK)
        return status;
    status = put_entries(load, batch, write);
    if (status == ENGINE_OK)
        status = put_sums(load, batch, write);
    if (status != ENGINE_OK) {
        engine_write_abandon(write);
        return status;
    }
    if (job != NULL)
        job_put_record(job, write);
    commit(load, write);
    swap_batches(load);
    return ENGINE_OK;
}
