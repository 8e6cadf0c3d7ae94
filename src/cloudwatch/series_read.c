/* series_read.c -- the bins of a series, and the list of series. */
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "cloudwatch/series_identity.h"
#include "cloudwatch/series_store.h"

/* A sample that is not stored yet. */
struct live_sample {
    uint64_t series_id;
    int64_t time_s;
    const struct sample_set *set;
};

struct series_reader {
    struct series_store *store;
    struct arena *arena;
    struct arena *scratch; /* For one chunk. */
    struct engine_view *view;
    struct live_sample *live; /* Sorted by series. */
    size_t live_count;
};

static int compare_live(const void *a, const void *b)
{
    const struct live_sample *one = a, *other = b;
    if (one->series_id != other->series_id)
        return one->series_id < other->series_id ? -1 : 1;
    return one->time_s < other->time_s ? -1 : one->time_s > other->time_s;
}

/* Series that exist in live samples only become known, so that they are listed; they are stored
 * with their first samples. */
static void take_live(struct series_reader *reader)
{
    struct series_store *store = reader->store;
    struct series_samples samples = { 0 };
    int64_t now_s = clock_wall_ms(store->options.clock) / 1000;
    if (store->live == NULL)
        return;
    store->live(store->live_context, reader->arena, &samples);
    reader->live = arena_alloc(reader->arena, (samples.count + 1) * sizeof reader->live[0]);
    for (size_t i = 0; i < samples.count; i++) {
        const struct series_sample *sample = &samples.samples[i];
        struct series *series = series_store_define(store, reader->scratch, sample, now_s);
        arena_reset(reader->scratch);
        if (series == NULL)
            continue;
        pthread_mutex_lock(&store->lock);
        if (series->last_s < sample->time_s)
            series->last_s = sample->time_s;
        pthread_mutex_unlock(&store->lock);
        reader->live[reader->live_count++] = (struct live_sample){ .series_id = series->id,
                                                                   .time_s = sample->time_s,
                                                                   .set = &sample->set };
    }
    qsort(reader->live, reader->live_count, sizeof reader->live[0], compare_live);
}

struct series_reader *series_reader_open(struct series_store *store, struct arena *arena,
                                         enum engine_status *status)
{
    struct series_reader *reader = arena_alloc(arena, sizeof *reader);
    *reader = (struct series_reader){ .store = store, .arena = arena };
    pthread_mutex_lock(&store->write_lock);
    *status = series_store_be_sure(store);
    if (*status == ENGINE_OK)
        *status = engine_view_open(store->options.engine, ENGINE_STRONG, &reader->view);
    if (*status == ENGINE_OK) {
        reader->scratch = arena_create();
        take_live(reader);
    }
    pthread_mutex_unlock(&store->write_lock);
    return *status == ENGINE_OK ? reader : NULL;
}

void series_reader_close(struct series_reader *reader)
{
    if (reader == NULL)
        return;
    engine_view_close(reader->view);
    arena_destroy(reader->scratch);
}

struct arena *series_reader_set_arena(struct series_reader *reader, struct arena *arena)
{
    struct arena *before = reader->arena;
    reader->arena = arena;
    return before;
}

/* --- Bins --- */

/* One series_read. */
struct read {
    struct series_reader *reader;
    int64_t period_s, start_s, end_s;
    struct series_bins *out;
    uint64_t ids[UNIT_KIND_COUNT]; /* One series for each unit at most. */
    size_t id_count;
};

static void find_series(struct series_reader *reader, const struct series_key *key,
                        struct read *read)
{
    struct series_store *store = reader->store;
    struct bytes identity = series_identity_encode(reader->scratch, key);
    uint64_t hash = series_identity_hash(identity, store->seed);
    pthread_mutex_lock(&store->lock);
    for (enum unit unit = UNIT_NONE; unit < UNIT_KIND_COUNT; unit++) {
        if (key->unit != UNIT_ANY && key->unit != unit)
            continue;
        const struct series *series = series_store_find(store, identity, hash, unit);
        if (series != NULL)
            read->ids[read->id_count++] = series->id;
    }
    pthread_mutex_unlock(&store->lock);
    arena_reset(reader->scratch);
}

static void grow_bins(struct arena *arena, struct series_bins *out)
{
    if (out->count < out->capacity)
        return;
    size_t larger = out->capacity == 0 ? 64 : out->capacity * 2;
    out->bins = arena_grow(arena, out->bins, out->capacity * sizeof out->bins[0],
                           larger * sizeof out->bins[0]);
    out->capacity = larger;
}

/* The bin that holds the time: almost always the last one, or a new one behind it. */
static struct sample_set *bin_at(struct read *read, int64_t time_s)
{
    struct series_bins *out = read->out;
    int64_t start_s = time_s - (time_s - read->start_s) % read->period_s;
    size_t low = 0, high = out->count;
    if (out->count > 0 && out->bins[out->count - 1].start_s < start_s)
        low = out->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (out->bins[middle].start_s < start_s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < out->count && out->bins[low].start_s == start_s)
        return &out->bins[low].set;
    grow_bins(read->reader->arena, out);
    memmove(&out->bins[low + 1], &out->bins[low], (out->count - low) * sizeof out->bins[0]);
    out->bins[low] = (struct series_bin){ .start_s = start_s };
    out->count++;
    return &out->bins[low].set;
}

static void add(struct read *read, int64_t time_s, const struct sample_set *set)
{
    if (time_s >= read->start_s && time_s < read->end_s)
        sample_set_add(read->reader->arena, bin_at(read, time_s), set);
}

/* Decoded histograms are kept: a bin borrows that of its only part. */
static enum engine_status read_chunk(struct read *read, const struct series_total *time,
                                     uint64_t series_id)
{
    struct series_reader *reader = read->reader;
    const struct series_resolution_rule *rule = series_resolution_rule(time->resolution);
    struct engine_value value = { 0 };
    const struct engine_address address = series_store_address(
        series_chunk_key(reader->scratch, time->resolution, time->start_s, series_id));
    enum engine_status status = engine_view_get(reader->view, &address, &value);
    arena_reset(reader->scratch);
    if (status != ENGINE_OK)
        return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
    struct series_chunk chunk;
    if (!series_chunk_decode(reader->arena, value.bytes, (size_t)(rule->chunk_s / rule->bin_s),
                             &chunk)) {
        log_write(LOG_ERROR, "metrics", "damaged samples of a metric");
        chunk.count = 0;
        status = ENGINE_CORRUPT;
    }
    engine_value_release(&value);
    for (size_t i = 0; i < chunk.count; i++)
        add(read, time->start_s + (int64_t)chunk.bins[i].offset * rule->bin_s, &chunk.bins[i].set);
    return status;
}

/* The chunks' times that hold anything of the range, in a resolution that the period allows. */
static size_t find_times(struct read *read, struct series_total **out)
{
    struct series_store *store = read->reader->store;
    size_t count = 0;
    pthread_mutex_lock(&store->lock);
    *out = arena_alloc(read->reader->arena, (store->total_count + 1) * sizeof **out);
    for (enum series_resolution i = SERIES_RESOLUTION_1S; i < SERIES_RESOLUTION_END; i++) {
        const struct series_resolution_rule *rule = series_resolution_rule(i);
        bool is_fine = i == SERIES_RESOLUTION_1S; /* Minutes hold those samples too. */
        if (is_fine != (read->period_s < 60) || read->period_s % rule->bin_s != 0)
            continue;
        size_t at = series_store_total_at(store, i, read->start_s - rule->chunk_s + 1);
        for (; at < store->total_count && store->totals[at].resolution == i &&
               store->totals[at].start_s < read->end_s;
             at++)
            (*out)[count++] = store->totals[at];
    }
    pthread_mutex_unlock(&store->lock);
    return count;
}

static void add_live(struct read *read, uint64_t series_id)
{
    const struct series_reader *reader = read->reader;
    size_t low = 0, high = reader->live_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reader->live[middle].series_id < series_id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < reader->live_count && reader->live[low].series_id == series_id; low++)
        add(read, reader->live[low].time_s, reader->live[low].set);
}

enum engine_status series_read(struct series_reader *reader, const struct series_key *key,
                               int64_t period_s, int64_t start_s, int64_t end_s,
                               struct series_bins *out)
{
    struct read read = { .reader = reader,
                         .period_s = period_s,
                         .start_s = start_s < 0 ? 0 : start_s,
                         .end_s = end_s,
                         .out = out };
    struct series_total *times;
    enum engine_status status = ENGINE_OK;
    assert(period_s > 0);
    *out = (struct series_bins){ 0 };
    find_series(reader, key, &read);
    if (read.id_count == 0 || read.end_s <= read.start_s)
        return ENGINE_OK;
    size_t time_count = find_times(&read, &times);
    for (size_t i = 0; i < read.id_count && status == ENGINE_OK; i++) {
        for (size_t j = 0; j < time_count && status == ENGINE_OK; j++)
            status = read_chunk(&read, &times[j], read.ids[i]);
        if (period_s >= 60)
            add_live(&read, read.ids[i]);
    }
    return status;
}

size_t series_units(struct series_reader *reader, const struct series_key *key,
                    enum unit out[UNIT_KIND_COUNT])
{
    struct series_key any = *key;
    struct read read = { 0 };
    size_t count = 0;
    any.unit = UNIT_ANY;
    find_series(reader, &any, &read);
    pthread_mutex_lock(&reader->store->lock);
    for (size_t i = 0; i < read.id_count; i++) {
        const struct series *series = series_store_at(reader->store, read.ids[i]);
        if (series != NULL)
            out[count++] = series->unit;
    }
    pthread_mutex_unlock(&reader->store->lock);
    return count;
}

/* --- The list --- */

static bool has_dimension(const struct series_key *key, const struct series_dimension *wanted)
{
    for (size_t i = 0; i < key->dimension_count; i++) {
        if (bytes_equal(key->dimensions[i].name, wanted->name))
            return wanted->value.data == NULL ||
                   bytes_equal(key->dimensions[i].value, wanted->value);
    }
    return false;
}

static bool matches(const struct series_filter *filter, const struct series_key *key)
{
    if ((filter->namespace.data != NULL && !bytes_equal(filter->namespace, key->namespace)) ||
        (filter->name.data != NULL && !bytes_equal(filter->name, key->name)) ||
        (filter->exact_dimensions && filter->dimension_count != key->dimension_count))
        return false;
    for (size_t i = 0; i < filter->dimension_count; i++) {
        if (!has_dimension(key, &filter->dimensions[i]))
            return false;
    }
    return true;
}

/* The first series of its names, whatever the units, shows for all of them; and any of them may
 * have had the last sample. With `lock` held. */
static bool is_shown(struct series_store *store, const struct series *series, int64_t since_s)
{
    bool is_active = false;
    for (enum unit unit = UNIT_NONE; unit < UNIT_KIND_COUNT; unit++) {
        const struct series *other = series_store_find(store, series->identity, series->hash, unit);
        if (other != NULL && other->id < series->id)
            return false;
        is_active |= other != NULL && other->last_s >= since_s;
    }
    return is_active;
}

static void append_key(struct series_reader *reader, struct series_keys *out,
                       const struct series_key *key)
{
    if (out->count == out->capacity) {
        size_t larger = out->capacity == 0 ? 64 : out->capacity * 2;
        out->keys =
            arena_grow(reader->arena, out->keys, out->capacity * sizeof *key, larger * sizeof *key);
        out->capacity = larger;
    }
    out->keys[out->count++] = *key;
}

void series_list(struct series_reader *reader, const struct series_filter *filter, size_t count_max,
                 uint64_t *token, struct series_keys *out)
{
    struct series_store *store = reader->store;
    size_t appended = 0;
    uint64_t after = *token;
    *token = 0;
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->series_count; i++) {
        const struct series *series = store->by_id[i];
        struct series_key key;
        if (series->id <= after)
            continue;
        if (!series_identity_decode(reader->scratch, series->identity, &key) ||
            !matches(filter, &key) || !is_shown(store, series, filter->active_since_s)) {
            arena_reset(reader->scratch);
            continue;
        }
        if (appended == count_max) {
            *token = after;
            break;
        }
        bool is_whole = series_identity_decode(reader->arena,
                                               arena_copy(reader->arena, series->identity), &key);
        assert(is_whole);
        append_key(reader, out, &key);
        appended++;
        after = series->id;
        arena_reset(reader->scratch);
    }
    pthread_mutex_unlock(&store->lock);
}
