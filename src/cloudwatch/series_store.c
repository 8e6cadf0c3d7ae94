/* series_store.c -- the list of series in memory, and how it is opened. */
#include "cloudwatch/series_store.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "cloudwatch/series_identity.h"

/* --- Definitions --- */

enum {
    CHECKSUM_AT = 1,
    UNIT_AT = 5,
    FLAGS_AT = 6,
    LAST_AT = 7,
    IDENTITY_AT = 15,
    FLAG_OWN = 1,
};

struct bytes series_definition_encode(struct arena *arena, const struct series_definition *value)
{
    size_t size = IDENTITY_AT + value->identity.len;
    uint8_t *out = arena_alloc(arena, size);
    out[0] = SERIES_CHUNK_FORMAT;
    out[UNIT_AT] = (uint8_t)value->unit;
    out[FLAGS_AT] = value->is_own ? FLAG_OWN : 0;
    store_u64_le(out + LAST_AT, (uint64_t)value->last_s);
    memcpy(out + IDENTITY_AT, value->identity.data, value->identity.len);
    store_u32_le(out + CHECKSUM_AT, crc32c(bytes_of(out + UNIT_AT, size - UNIT_AT)));
    return bytes_of(out, size);
}

bool series_definition_decode(struct bytes stored, struct series_definition *out)
{
    if (stored.len < IDENTITY_AT || stored.data[0] != SERIES_CHUNK_FORMAT ||
        load_u32_le(stored.data + CHECKSUM_AT) !=
            crc32c(bytes_of(stored.data + UNIT_AT, stored.len - UNIT_AT)))
        return false;
    *out = (struct series_definition){
        .unit = (enum unit)stored.data[UNIT_AT],
        .is_own = stored.data[FLAGS_AT] == FLAG_OWN,
        .last_s = (int64_t)load_u64_le(stored.data + LAST_AT),
        .identity = bytes_of(stored.data + IDENTITY_AT, stored.len - IDENTITY_AT),
    };
    return out->unit > UNIT_ANY && out->unit < UNIT_KIND_COUNT &&
           stored.data[FLAGS_AT] <= FLAG_OWN && out->last_s >= 0;
}

enum { DEFINITION_KEY_SIZE = 1 + 8 };

struct bytes series_definition_key(struct arena *arena, uint64_t id)
{
    uint8_t *key = arena_alloc(arena, DEFINITION_KEY_SIZE);
    key[0] = SERIES_KEY_DEFINITION;
    store_u64_be(key + 1, id);
    return bytes_of(key, DEFINITION_KEY_SIZE);
}

bool series_definition_key_parse(struct bytes key, uint64_t *id)
{
    if (key.len != DEFINITION_KEY_SIZE || key.data[0] != SERIES_KEY_DEFINITION)
        return false;
    *id = load_u64_be(key.data + 1);
    return *id > 0;
}

/* --- The list in memory --- */

static struct series **bucket_of(struct series_store *store, uint64_t hash)
{
    return &store->buckets[hash & (store->bucket_count - 1)];
}

struct series *series_store_find(struct series_store *store, struct bytes identity, uint64_t hash,
                                 enum unit unit)
{
    for (struct series *series = *bucket_of(store, hash); series != NULL; series = series->next) {
        if (series->hash == hash && series->unit == unit && bytes_equal(series->identity, identity))
            return series;
    }
    return NULL;
}

static size_t index_of_id(const struct series_store *store, uint64_t id)
{
    size_t low = 0, high = store->series_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (store->by_id[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct series *series_store_at(struct series_store *store, uint64_t id)
{
    size_t at = index_of_id(store, id);
    return at < store->series_count && store->by_id[at]->id == id ? store->by_id[at] : NULL;
}

static size_t names_size_of(const struct series *series)
{
    return sizeof *series + series->identity.len;
}

static size_t names_size_max(const struct series_store *store)
{
    return store->options.series_max * (size_t)SERIES_NAMES_SIZE_EACH;
}

/* `series->id` is above all others. */
static void link_series(struct series_store *store, struct series *series)
{
    struct series **bucket = bucket_of(store, series->hash);
    assert(store->series_count < store->options.series_max);
    assert(store->series_count == 0 || store->by_id[store->series_count - 1]->id < series->id);
    series->next = *bucket;
    *bucket = series;
    store->by_id[store->series_count++] = series;
    store->user_count += series->is_own ? 0 : 1;
    store->names_size += names_size_of(series);
}

static struct series *create_series(struct series_store *store, uint64_t id,
                                    const struct series_definition *definition)
{
    struct series *series = memory_checked(malloc(sizeof *series + definition->identity.len));
    *series = (struct series){
        .id = id,
        .unit = definition->unit,
        .is_own = definition->is_own,
        .last_s = definition->last_s,
        .stored_last_s = definition->last_s,
        .hash = series_identity_hash(definition->identity, store->seed),
    };
    memcpy(series->data, definition->identity.data, definition->identity.len);
    series->identity = bytes_of(series->data, definition->identity.len);
    return series;
}

void series_store_forget(struct series_store *store, struct series *series)
{
    pthread_mutex_lock(&store->lock);
    struct series **link = bucket_of(store, series->hash);
    while (*link != series)
        link = &(*link)->next;
    *link = series->next;
    size_t at = index_of_id(store, series->id);
    assert(store->by_id[at] == series);
    store->series_count--;
    memmove(&store->by_id[at], &store->by_id[at + 1],
            (store->series_count - at) * sizeof store->by_id[0]);
    store->user_count -= series->is_own ? 0 : 1;
    store->names_size -= names_size_of(series);
    pthread_mutex_unlock(&store->lock);
    free(series);
}

/* --- Room for new series --- */

static bool has_room(const struct series_store *store, bool is_own, size_t size)
{
    size_t count_max = is_own ? store->options.series_max : store->options.series_max / 2;
    size_t count = is_own ? store->series_count : store->user_count;
    return count < count_max && store->series_count < store->options.series_max &&
           store->names_size + size <= names_size_max(store);
}

/* The series whose last sample is the oldest, if that is so old that nobody lists it. A user's new
 * series may only displace another user's. If there is none, notes until when it need not look
 * again: last samples only become younger. */
static struct series *find_idle(struct series_store *store, bool is_own, int64_t now_s)
{
    struct series *idle = NULL;
    if (now_s < store->idle_not_before_s[is_own])
        return NULL;
    for (size_t i = 0; i < store->series_count; i++) {
        struct series *series = store->by_id[i];
        if (!series->is_held && (is_own || !series->is_own) &&
            (idle == NULL || series->last_s < idle->last_s))
            idle = series;
    }
    if (idle != NULL && idle->last_s >= now_s - SERIES_LISTED_S) {
        store->idle_not_before_s[is_own] = idle->last_s + SERIES_LISTED_S;
        idle = NULL;
    }
    return idle;
}

static bool delete_definition(struct series_store *store, struct arena *arena, uint64_t id)
{
    struct engine_write *write;
    const struct engine_address address = series_store_address(series_definition_key(arena, id));
    if (engine_write_begin(store->options.engine, NULL, 0, &write) != ENGINE_OK)
        return false;
    engine_write_delete(write, &address);
    return engine_write_commit_wait(write) == ENGINE_OK;
}

/* False if there is none. The samples of a series that was displaced expire with their time. */
static bool make_room(struct series_store *store, struct arena *arena, bool is_own, size_t size,
                      int64_t now_s)
{
    while (!has_room(store, is_own, size)) {
        struct series *idle = find_idle(store, is_own, now_s);
        if (idle == NULL || !delete_definition(store, arena, idle->id))
            return false;
        series_store_forget(store, idle);
    }
    return true;
}

struct series *series_store_define(struct series_store *store, struct arena *arena,
                                   const struct series_sample *sample, int64_t now_s)
{
    const struct series_definition definition = {
        .unit = sample->key.unit,
        .is_own = sample->is_own,
        .last_s = sample->time_s,
        .identity = series_identity_encode(arena, &sample->key),
    };
    assert(definition.unit != UNIT_ANY);
    uint64_t hash = series_identity_hash(definition.identity, store->seed);
    struct series *series = series_store_find(store, definition.identity, hash, definition.unit);
    if (series == NULL &&
        make_room(store, arena, sample->is_own, sizeof *series + definition.identity.len, now_s)) {
        series = create_series(store, store->next_id++, &definition);
        pthread_mutex_lock(&store->lock);
        link_series(store, series);
        pthread_mutex_unlock(&store->lock);
    }
    return series;
}

/* --- Totals --- */

size_t series_store_total_at(const struct series_store *store, enum series_resolution resolution,
                             int64_t start_s)
{
    size_t low = 0, high = store->total_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct series_total *total = &store->totals[middle];
        if (total->resolution < resolution ||
            (total->resolution == resolution && total->start_s < start_s))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_total(struct series_store *store, size_t at)
{
    if (store->total_count == store->total_capacity) {
        store->total_capacity = store->total_capacity == 0 ? 64 : store->total_capacity * 2;
        store->totals =
            memory_checked(realloc(store->totals, store->total_capacity * sizeof store->totals[0]));
    }
    memmove(&store->totals[at + 1], &store->totals[at],
            (store->total_count - at) * sizeof store->totals[0]);
    store->total_count++;
}

void series_store_set_total(struct series_store *store, enum series_resolution resolution,
                            int64_t start_s, uint64_t size)
{
    pthread_mutex_lock(&store->lock);
    size_t at = series_store_total_at(store, resolution, start_s);
    bool exists = at < store->total_count && store->totals[at].resolution == resolution &&
                  store->totals[at].start_s == start_s;
    if (!exists && size > 0) {
        insert_total(store, at);
        store->totals[at] = (struct series_total){ .resolution = resolution, .start_s = start_s };
        exists = true;
    }
    if (exists) {
        store->size += (int64_t)size - (int64_t)store->totals[at].size;
        store->totals[at].size = size;
    }
    if (exists && size == 0) {
        store->total_count--;
        memmove(&store->totals[at], &store->totals[at + 1],
                (store->total_count - at) * sizeof store->totals[0]);
    }
    pthread_mutex_unlock(&store->lock);
}

struct series_usage series_usage(struct series_store *store)
{
    pthread_mutex_lock(&store->lock);
    const struct series_usage usage = { .series_count = store->series_count,
                                        .names_size = store->names_size,
                                        .size = store->size };
    pthread_mutex_unlock(&store->lock);
    return usage;
}

/* --- Reading the records --- */

static bool load_definition(struct series_store *store, uint64_t id, struct bytes stored)
{
    struct series_definition definition;
    struct series_key key;
    struct arena *arena = arena_create();
    bool ok = series_definition_decode(stored, &definition) &&
              series_identity_decode(arena, definition.identity, &key);
    arena_destroy(arena);
    if (!ok)
        return false;
    if (id >= store->next_id)
        store->next_id = id + 1;
    /* The setting may have become smaller: the newest series stay out, and their samples expire. */
    if (!has_room(store, true, sizeof(struct series) + definition.identity.len))
        return true;
    struct series *series = create_series(store, id, &definition);
    series->is_stored = true;
    link_series(store, series);
    return true;
}

static bool load_total(struct series_store *store, struct bytes key, struct bytes stored)
{
    enum series_resolution resolution;
    int64_t start_s;
    uint64_t size;
    if (!series_total_key_parse(key, &resolution, &start_s) ||
        !series_numbers_decode(stored, &size, SERIES_NUMBERS_TOTAL) || size == 0 ||
        size > INT64_MAX / 2)
        return false;
    series_store_set_total(store, resolution, start_s, size);
    return true;
}

static bool load_position(struct series_store *store, struct bytes stored)
{
    uint64_t numbers[SERIES_NUMBERS_POSITION];
    if (!series_numbers_decode(stored, numbers, SERIES_NUMBERS_POSITION))
        return false;
    store->position = (struct series_position){ .run = numbers[0], .step = numbers[1] };
    store->position_key[0] = SERIES_KEY_CHUNK;
    store->position_key[1] = (uint8_t)numbers[2];
    store_u64_be(store->position_key + 2, numbers[3]);
    store_u64_be(store->position_key + 10, numbers[4]);
    return true;
}

static bool load_entry(struct series_store *store, const struct engine_entry *entry)
{
    uint64_t id;
    if (entry->key.len == 0)
        return false;
    switch (entry->key.data[0]) {
    case SERIES_KEY_DEFINITION:
        return series_definition_key_parse(entry->key, &id) &&
               load_definition(store, id, entry->value);
    case SERIES_KEY_NEXT_ID:
        if (entry->key.len != 1 ||
            !series_numbers_decode(entry->value, &id, SERIES_NUMBERS_NEXT_ID))
            return false;
        store->next_id = id > store->next_id ? id : store->next_id;
        return true;
    case SERIES_KEY_POSITION:
        return entry->key.len == 1 && load_position(store, entry->value);
    case SERIES_KEY_TOTAL:
        return load_total(store, entry->key, entry->value);
    default:
        return false;
    }
}

/* All records whose keys begin with bytes from `first` to before `last`. */
static enum engine_status load_range(struct series_store *store, struct engine_view *view,
                                     struct bytes first, struct bytes last)
{
    const struct engine_range range = { .place = series_place, .first = first, .last = last };
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum engine_status status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK && (status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        if (!load_entry(store, &entry)) {
            log_write(LOG_ERROR, "metrics", "damaged record in the list of metrics");
            status = ENGINE_CORRUPT;
        }
    }
    engine_scan_close(scan);
    return status == ENGINE_END ? ENGINE_OK : status;
}

static enum engine_status load(struct series_store *store, struct bytes first)
{
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(store->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = load_range(store, view, first, (struct bytes){ 0 });
    engine_view_close(view);
    return status;
}

enum engine_status series_store_be_sure(struct series_store *store)
{
    if (!store->is_unsure)
        return ENGINE_OK;
    pthread_mutex_lock(&store->lock);
    store->total_count = 0;
    store->size = 0;
    pthread_mutex_unlock(&store->lock);
    store->position = (struct series_position){ 0 };
    enum engine_status status = load(store, BYTES("P")); /* Positions and totals come last. */
    store->is_unsure = status != ENGINE_OK;
    return status;
}

/* --- Opening and closing --- */

struct series_store *series_store_open(const struct series_store_options *options,
                                       enum engine_status *status)
{
    struct series_store *store = memory_checked(calloc(1, sizeof *store));
    struct random random;
    random_init_from_system(&random);
    store->options = *options;
    if (store->options.series_max == 0)
        store->options.series_max = SERIES_COUNT_DEFAULT;
    if (store->options.size_max == 0)
        store->options.size_max = SERIES_SIZE_DEFAULT;
    store->seed = random_next(&random);
    store->next_id = 1;
    for (store->bucket_count = 1; store->bucket_count < store->options.series_max;)
        store->bucket_count *= 2;
    store->buckets = memory_checked(calloc(store->bucket_count, sizeof store->buckets[0]));
    store->by_id = memory_checked(calloc(store->options.series_max, sizeof store->by_id[0]));
    pthread_mutexattr_t recursive; /* Whoever holds the store writes too. */
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&store->write_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    pthread_mutex_init(&store->lock, NULL);
    static_assert(SERIES_KEY_CHUNK + 1 == SERIES_KEY_DEFINITION &&
                      SERIES_KEY_DEFINITION < SERIES_KEY_NEXT_ID &&
                      SERIES_KEY_NEXT_ID < SERIES_KEY_POSITION &&
                      SERIES_KEY_POSITION + 4 == SERIES_KEY_TOTAL,
                  "all records but chunks come behind them");
    *status = load(store, BYTES("D"));
    if (*status == ENGINE_OK)
        return store;
    series_store_close(store);
    return NULL;
}

void series_store_close(struct series_store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->series_count; i++)
        free(store->by_id[i]);
    pthread_mutex_destroy(&store->write_lock);
    pthread_mutex_destroy(&store->lock);
    free(store->totals);
    free(store->by_id);
    free(store->buckets);
    free(store);
}

void series_store_hold(struct series_store *store)
{
    pthread_mutex_lock(&store->write_lock);
}

void series_store_release(struct series_store *store)
{
    pthread_mutex_unlock(&store->write_lock);
}

void series_store_set_live(struct series_store *store, series_live *live, void *context)
{
    store->live = live;
    store->live_context = context;
}

void series_samples_append(struct arena *arena, struct series_samples *list,
                           const struct series_sample *sample)
{
    if (list->count == list->capacity) {
        size_t larger = list->capacity == 0 ? 64 : list->capacity * 2;
        list->samples = arena_grow(arena, list->samples, list->capacity * sizeof *sample,
                                   larger * sizeof *sample);
        list->capacity = larger;
    }
    list->samples[list->count++] = *sample;
}
