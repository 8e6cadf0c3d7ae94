/* series_write.c -- adds samples to their bins.
 *
 * A batch is sorted by the chunks that it changes. Each chunk is read, changed and put once, whole;
 * so the bytes put depend on what was stored before and on the batch alone. The batch's position is
 * put by the same engine writes: a batch that is repeated continues behind the last chunk that was
 * stored.
 */
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/log.h"
#include "cloudwatch/series_store.h"

/* One sample in one chunk. */
struct touch {
    enum series_resolution resolution;
    int64_t start_s; /* Of the chunk. */
    struct series *series;
    const struct series_sample *sample;
};

struct batch {
    struct series_store *store;
    struct arena *arena;   /* For the whole batch, */
    struct arena *scratch; /* and for one chunk. */
    const struct series_position *position;
    struct touch *touches;
    size_t count;
    size_t at; /* The next one. */
    /* Of the engine write: */
    struct engine_view *view;
    struct engine_write *write;
    size_t written_size;
    /* The totals that it changes; a batch of users may have samples of two weeks. */
    struct series_total *totals;
    size_t total_count;
    size_t first_touch;
};

static int compare_touches(const void *a, const void *b)
{
    const struct touch *one = a, *other = b;
    if (one->resolution != other->resolution)
        return one->resolution < other->resolution ? -1 : 1;
    if (one->start_s != other->start_s)
        return one->start_s < other->start_s ? -1 : 1;
    if (one->series->id != other->series->id)
        return one->series->id < other->series->id ? -1 : 1;
    return one->sample < other->sample ? -1 : one->sample > other->sample;
}

static bool is_same_chunk(const struct touch *a, const struct touch *b)
{
    return a->resolution == b->resolution && a->start_s == b->start_s &&
           a->series->id == b->series->id;
}

static void touch(struct batch *batch, enum series_resolution resolution, struct series *series,
                  const struct series_sample *sample, int64_t now_s)
{
    const struct series_resolution_rule *rule = series_resolution_rule(resolution);
    int64_t start_s = sample->time_s - sample->time_s % rule->chunk_s;
    if (start_s + rule->chunk_s <= now_s - rule->kept_s)
        return; /* Upkeep has been there already. */
    series->is_held = true;
    batch->touches[batch->count++] = (struct touch){
        .resolution = resolution, .start_s = start_s, .series = series, .sample = sample
    };
}

/* Finds the series of all samples. Returns how many have none. */
static size_t prepare(struct batch *batch, const struct series_sample *samples, size_t count)
{
    struct series_store *store = batch->store;
    int64_t now_s = clock_wall_ms(store->options.clock) / 1000;
    size_t refused = 0;
    batch->touches = arena_alloc(batch->arena, (count * 2 + 1) * sizeof batch->touches[0]);
    for (size_t i = 0; i < count; i++) {
        assert(samples[i].set.count > 0 && samples[i].time_s >= 0);
        struct series *series = series_store_define(store, batch->scratch, &samples[i], now_s);
        arena_reset(batch->scratch);
        if (series == NULL) {
            refused++;
            continue;
        }
        touch(batch, SERIES_RESOLUTION_60S, series, &samples[i], now_s);
        if (samples[i].is_high_resolution)
            touch(batch, SERIES_RESOLUTION_1S, series, &samples[i], now_s);
    }
    qsort(batch->touches, batch->count, sizeof batch->touches[0], compare_touches);
    return refused;
}

static struct bytes key_of(struct arena *arena, const struct touch *touch)
{
    return series_chunk_key(arena, touch->resolution, touch->start_s, touch->series->id);
}

/* Skips what an earlier attempt stored. */
static void skip_stored(struct batch *batch)
{
    const struct series_store *store = batch->store;
    if (batch->position == NULL || store->position.run != batch->position->run ||
        store->position.step != batch->position->step)
        return;
    const struct bytes last = bytes_of(store->position_key, sizeof store->position_key);
    while (batch->at < batch->count &&
           bytes_compare(key_of(batch->scratch, &batch->touches[batch->at]), last) <= 0)
        batch->at++;
    arena_reset(batch->scratch);
}

/* --- One engine write --- */

static enum engine_status begin(struct batch *batch)
{
    enum engine_status status =
        engine_view_open(batch->store->options.engine, ENGINE_STRONG, &batch->view);
    if (status == ENGINE_OK)
        status = engine_write_begin(batch->store->options.engine, NULL, 0, &batch->write);
    batch->written_size = 0;
    batch->total_count = 0;
    batch->first_touch = batch->at;
    return status;
}

/* The total of the chunk's time, as it is with what this write changes. */
static struct series_total *total_of(struct batch *batch, const struct touch *touch)
{
    struct series_store *store = batch->store;
    struct series_total *last =
        batch->total_count == 0 ? NULL : &batch->totals[batch->total_count - 1];
    if (last != NULL && last->resolution == touch->resolution && last->start_s == touch->start_s)
        return last; /* Touches are sorted. */
    struct series_total *total = &batch->totals[batch->total_count++];
    *total = (struct series_total){ .resolution = touch->resolution, .start_s = touch->start_s };
    size_t at = series_store_total_at(store, touch->resolution, touch->start_s);
    if (at < store->total_count && store->totals[at].resolution == touch->resolution &&
        store->totals[at].start_s == touch->start_s)
        total->size = store->totals[at].size;
    return total;
}

/* Reads the chunk, or leaves it empty. A damaged one is replaced: `stator check` reports it, but it
 * must not stop all metrics. */
static enum engine_status load_chunk(struct batch *batch, const struct engine_address *address,
                                     size_t bin_count, struct series_chunk *chunk,
                                     size_t *stored_size)
{
    struct engine_value value = { 0 };
    enum engine_status status = engine_view_get(batch->view, address, &value);
    chunk->count = 0;
    *stored_size = 0;
    if (status == ENGINE_OK) {
        *stored_size = address->key.len + value.bytes.len;
        if (!series_chunk_decode(batch->scratch, value.bytes, bin_count, chunk)) {
            log_write(LOG_ERROR, "metrics", "damaged samples of a metric were replaced");
            chunk->count = 0;
        }
    }
    engine_value_release(&value);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

/* The series' definition is stored when it is new, and when its last sample is in another hour than
 * the stored definition says. */
static void put_definition(struct batch *batch, struct series *series)
{
    const struct series_definition definition = {
        .unit = series->unit,
        .is_own = series->is_own,
        .last_s = series->last_s,
        .identity = series->identity,
    };
    const struct engine_address address =
        series_store_address(series_definition_key(batch->scratch, series->id));
    struct bytes value = series_definition_encode(batch->scratch, &definition);
    engine_write_put(batch->write, &address, value);
    batch->written_size += address.key.len + value.len;
}

static void extend_series(struct batch *batch, struct series *series, int64_t time_s)
{
    pthread_mutex_lock(&batch->store->lock);
    if (time_s > series->last_s)
        series->last_s = time_s;
    pthread_mutex_unlock(&batch->store->lock);
}

/* Changes the next chunk, by all touches of it. */
static enum engine_status write_chunk(struct batch *batch)
{
    struct series_chunk chunk;
    const struct touch *first = &batch->touches[batch->at];
    const struct series_resolution_rule *rule = series_resolution_rule(first->resolution);
    const struct engine_address address = series_store_address(key_of(batch->scratch, first));
    size_t before;
    enum engine_status status =
        load_chunk(batch, &address, (size_t)(rule->chunk_s / rule->bin_s), &chunk, &before);
    if (status != ENGINE_OK)
        return status;
    struct series *series = first->series;
    for (; batch->at < batch->count && is_same_chunk(first, &batch->touches[batch->at]);
         batch->at++) {
        const struct series_sample *sample = batch->touches[batch->at].sample;
        uint8_t offset = (uint8_t)((sample->time_s - first->start_s) / rule->bin_s);
        sample_set_add(batch->scratch, series_chunk_bin(&chunk, offset), &sample->set);
        extend_series(batch, series, sample->time_s);
    }
    struct bytes value = series_chunk_encode(batch->scratch, &chunk);
    engine_write_put(batch->write, &address, value);
    batch->written_size += address.key.len + value.len;
    total_of(batch, first)->size += address.key.len + value.len - before;
    if (!series->is_stored || series->last_s / 3600 != series->stored_last_s / 3600)
        put_definition(batch, series);
    return ENGINE_OK;
}

static void put_numbers(struct batch *batch, struct bytes key, const uint64_t *numbers,
                        size_t count)
{
    const struct engine_address address = series_store_address(key);
    engine_write_put(batch->write, &address, series_numbers_encode(batch->scratch, numbers, count));
}

/* The records that are put with every write: totals, the next id, the position. */
static void put_records(struct batch *batch)
{
    const struct touch *last = &batch->touches[batch->at - 1];
    for (size_t i = 0; i < batch->total_count; i++) {
        const struct series_total *total = &batch->totals[i];
        put_numbers(batch, series_total_key(batch->scratch, total->resolution, total->start_s),
                    &total->size, SERIES_NUMBERS_TOTAL);
    }
    put_numbers(batch, BYTES("N"), &batch->store->next_id, SERIES_NUMBERS_NEXT_ID);
    if (batch->position == NULL)
        return;
    const uint64_t numbers[SERIES_NUMBERS_POSITION] = { batch->position->run, batch->position->step,
                                                        last->resolution, (uint64_t)last->start_s,
                                                        last->series->id };
    put_numbers(batch, BYTES("P"), numbers, SERIES_NUMBERS_POSITION);
}

/* What the write changed is true now. */
static void note_written(struct batch *batch)
{
    struct series_store *store = batch->store;
    for (size_t i = 0; i < batch->total_count; i++)
        series_store_set_total(store, batch->totals[i].resolution, batch->totals[i].start_s,
                               batch->totals[i].size);
    for (size_t i = batch->first_touch; i < batch->at; i++) {
        struct series *series = batch->touches[i].series;
        series->is_stored = true;
        series->stored_last_s = series->last_s;
    }
    if (batch->position != NULL) {
        struct bytes key = key_of(batch->scratch, &batch->touches[batch->at - 1]);
        store->position = *batch->position;
        memcpy(store->position_key, key.data, key.len);
    }
}

/* Writes chunks until the write is large enough. */
static enum engine_status write_part(struct batch *batch)
{
    enum engine_status status = begin(batch);
    while (status == ENGINE_OK && batch->at < batch->count &&
           batch->written_size < SERIES_WRITE_SIZE_MAX) {
        status = write_chunk(batch);
        arena_reset(batch->scratch);
    }
    engine_view_close(batch->view);
    batch->view = NULL;
    if (status == ENGINE_OK) {
        put_records(batch);
        status = engine_write_commit_wait(batch->write);
    } else if (batch->write != NULL) {
        engine_write_abandon(batch->write);
    }
    batch->write = NULL;
    if (status == ENGINE_OK)
        note_written(batch);
    else
        batch->store->is_unsure = true;
    arena_reset(batch->scratch);
    return status;
}

enum series_outcome series_write(struct series_store *store, struct arena *arena,
                                 const struct series_sample *samples, size_t count,
                                 const struct series_position *position, size_t *refused,
                                 enum engine_status *status)
{
    struct batch batch = {
        .store = store, .arena = arena, .scratch = arena_create(), .position = position
    };
    assert(position == NULL || position->step > 0);
    pthread_mutex_lock(&store->write_lock);
    *status = series_store_be_sure(store);
    size_t refused_count = 0;
    if (*status == ENGINE_OK) {
        refused_count = prepare(&batch, samples, count);
        batch.totals = arena_alloc(arena, (batch.count + 1) * sizeof batch.totals[0]);
        skip_stored(&batch);
    }
    while (*status == ENGINE_OK && batch.at < batch.count)
        *status = write_part(&batch);
    for (size_t i = 0; i < batch.count; i++)
        batch.touches[i].series->is_held = false;
    pthread_mutex_unlock(&store->write_lock);
    arena_destroy(batch.scratch);
    if (refused != NULL)
        *refused = refused_count;
    if (*status != ENGINE_OK)
        return SERIES_FAILED;
    return refused_count > 0 ? SERIES_FULL : SERIES_STORED;
}
