/* streams.c -- see streams.h. Records: doc/disk-format.md, "Streams". */
#include "stream/streams.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "log/change_log.h"
#include "model/item.h"
#include "stream/stream_definition.h"
#include "table/layout.h"

struct stream {
    atomic_uint references;
    struct arena *arena; /* Holds the definition. */
    struct stream_definition definition;
};

struct streams {
    struct engine *engine;
    /* Guards what follows. The control thread, the only writer, reads without it. */
    pthread_rwlock_t lock;
    struct stream **list; /* Sorted by table name and label. */
    size_t count;
    size_t capacity;
};

const struct engine_place streams_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                            .partition = LAYOUT_CATALOGUE_PARTITION,
                                            .space = ENGINE_SPACE_CHANGES };

/* --- Streams in memory --- */

/* About the size of a decoded definition, without its texts. */
enum { DECODED_SIZE = 256 };

/* NULL if the record is not a definition. */
static struct stream *stream_create(const struct engine_entry *entry)
{
    struct stream *stream = memory_checked(malloc(sizeof *stream));
    atomic_init(&stream->references, 1);
    stream->arena = arena_create_sized(2 * entry->value.len + DECODED_SIZE);
    if (streams_open_entry(stream->arena, entry, &stream->definition))
        return stream;
    stream_release(stream);
    return NULL;
}

void stream_release(struct stream *stream)
{
    if (stream == NULL || atomic_fetch_sub(&stream->references, 1) > 1)
        return;
    arena_destroy(stream->arena);
    free(stream);
}

const struct stream_definition *stream_definition(const struct stream *stream)
{
    return &stream->definition;
}

static int compare(const struct stream *stream, struct bytes table_name, struct bytes label)
{
    int order = bytes_compare(stream->definition.table_name, table_name);
    return order != 0 ? order : bytes_compare(stream->definition.label, label);
}

/* The position of the first stream that is not below that name. */
static size_t position_of(const struct streams *streams, struct bytes table_name,
                          struct bytes label)
{
    size_t low = 0, high = streams->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(streams->list[middle], table_name, label) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct streams *streams, size_t position, struct bytes table_name,
                  struct bytes label)
{
    return position < streams->count && compare(streams->list[position], table_name, label) == 0;
}

struct stream *streams_find(struct streams *streams, struct bytes table_name, struct bytes label)
{
    struct stream *stream = NULL;
    pthread_rwlock_rdlock(&streams->lock);
    size_t position = position_of(streams, table_name, label);
    if (is_at(streams, position, table_name, label) &&
        !stream_definition_is_hidden(&streams->list[position]->definition)) {
        stream = streams->list[position];
        atomic_fetch_add(&stream->references, 1);
    }
    pthread_rwlock_unlock(&streams->lock);
    return stream;
}

/* `count` if there is none. */
static size_t position_of_log(const struct streams *streams, uint64_t log_id)
{
    size_t position = 0;
    while (position < streams->count &&
           (streams->list[position]->definition.log_id != log_id ||
            stream_definition_is_detached(&streams->list[position]->definition)))
        position++;
    return position;
}

struct stream *streams_find_log(struct streams *streams, uint64_t log_id)
{
    struct stream *stream = NULL;
    pthread_rwlock_rdlock(&streams->lock);
    size_t position = position_of_log(streams, log_id);
    if (position < streams->count) {
        stream = streams->list[position];
        atomic_fetch_add(&stream->references, 1);
    }
    pthread_rwlock_unlock(&streams->lock);
    return stream;
}

size_t streams_list(struct streams *streams, struct arena *arena, struct bytes table_name,
                    struct stream_name after, struct stream_name *names, size_t names_max)
{
    size_t count = 0;
    pthread_rwlock_rdlock(&streams->lock);
    size_t position = position_of(streams, after.table_name, after.label);
    if (is_at(streams, position, after.table_name, after.label))
        position++;
    for (; position < streams->count && count < names_max; position++) {
        const struct stream_definition *found = &streams->list[position]->definition;
        if ((table_name.data != NULL && !bytes_equal(found->table_name, table_name)) ||
            stream_definition_is_hidden(found))
            continue;
        names[count++] = (struct stream_name){ .table_name = arena_copy(arena, found->table_name),
                                               .label = arena_copy(arena, found->label) };
    }
    pthread_rwlock_unlock(&streams->lock);
    return count;
}

/* --- Control --- */

size_t streams_count(const struct streams *streams)
{
    return streams->count;
}

const struct stream_definition *streams_at(const struct streams *streams, size_t index)
{
    assert(index < streams->count);
    return &streams->list[index]->definition;
}

const struct stream_definition *streams_named(const struct streams *streams,
                                              struct bytes table_name, struct bytes label)
{
    size_t position = position_of(streams, table_name, label);
    return is_at(streams, position, table_name, label) ? &streams->list[position]->definition
                                                       : NULL;
}

const struct stream_definition *streams_of_log(const struct streams *streams, uint64_t log_id)
{
    size_t position = position_of_log(streams, log_id);
    return position == streams->count ? NULL : &streams->list[position]->definition;
}

bool streams_shows_log(const struct streams *streams, uint64_t log_id)
{
    for (size_t i = 0; i < streams->count; i++) {
        const struct stream_definition *stream = &streams->list[i]->definition;
        if (stream->log_id == log_id && !stream_definition_is_hidden(stream))
            return true;
    }
    return false;
}

bool streams_has_detached(const struct streams *streams, uint64_t log_id)
{
    for (size_t i = 0; i < streams->count; i++) {
        const struct stream_definition *stream = &streams->list[i]->definition;
        if (stream->log_id == log_id && stream_definition_is_detached(stream))
            return true;
    }
    return false;
}

/* --- Records --- */

enum { LOG_ID_SIZE = 8 };

static struct engine_address record_address(struct arena *arena,
                                            const struct stream_definition *definition)
{
    size_t label_size = stream_definition_is_detached(definition) ? definition->label.len : 0;
    uint8_t *key = arena_alloc(arena, LOG_ID_SIZE + label_size);
    store_u64_be(key, definition->log_id);
    memcpy(key + LOG_ID_SIZE, definition->label.data, label_size);
    return (struct engine_address){ .place = streams_place,
                                    .key = bytes_of(key, LOG_ID_SIZE + label_size) };
}

bool streams_open_entry(struct arena *arena, const struct engine_entry *entry,
                        struct stream_definition *out)
{
    struct item item;
    if (entry->key.len < LOG_ID_SIZE || !item_open(arena_copy(arena, entry->value), &item) ||
        !item_verify(&item) ||
        !stream_definition_decode(arena, load_u64_be(entry->key.data), &item, out))
        return false;
    struct engine_address address = record_address(arena, out);
    return bytes_equal(address.key, entry->key);
}

enum engine_status streams_view(struct arena *arena, struct engine_view *view,
                                const struct stream_definition *definition,
                                struct stream_definition *out)
{
    struct engine_address address = record_address(arena, definition);
    struct engine_value value = { 0 };
    *out = *definition;
    enum engine_status status = engine_view_get(view, &address, &value);
    struct engine_entry entry = { .key = address.key, .value = value.bytes };
    struct stream_definition found;
    if (status == ENGINE_OK && !streams_open_entry(arena, &entry, &found)) {
        log_write(LOG_ERROR, "stream", "damaged record of a stream");
        status = ENGINE_CORRUPT;
    } else if (status == ENGINE_OK && bytes_equal(found.label, definition->label)) {
        *out = found;
    }
    engine_value_release(&value);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

void streams_put(struct arena *arena, struct engine_write *write,
                 const struct stream_definition *definition)
{
    struct engine_address address = record_address(arena, definition);
    engine_write_put(write, &address, stream_definition_encode(arena, definition).encoded);
}

void streams_delete(struct arena *arena, struct engine_write *write,
                    const struct stream_definition *definition)
{
    struct engine_address address = record_address(arena, definition);
    engine_write_delete(write, &address);
}

/* --- Changes of the list --- */

static void insert(struct streams *streams, struct stream *stream)
{
    size_t position = position_of(streams, stream->definition.table_name, stream->definition.label);
    if (streams->count == streams->capacity) {
        streams->capacity = streams->capacity * 2 + 16;
        streams->list =
            memory_checked(realloc(streams->list, streams->capacity * sizeof *streams->list));
    }
    memmove(&streams->list[position + 1], &streams->list[position],
            (streams->count - position) * sizeof *streams->list);
    streams->list[position] = stream;
    streams->count++;
}

/* Whether it is in the list, where. A main definition may have had another label. */
static bool find_position(const struct streams *streams, const struct stream_definition *definition,
                          size_t *out)
{
    if (!stream_definition_is_detached(definition)) {
        *out = position_of_log(streams, definition->log_id);
        return *out < streams->count;
    }
    *out = position_of(streams, definition->table_name, definition->label);
    return is_at(streams, *out, definition->table_name, definition->label) &&
           stream_definition_is_detached(&streams->list[*out]->definition);
}

/* Removes the definition from the list and returns it; NULL if there is none. */
static struct stream *take_out(struct streams *streams, const struct stream_definition *definition)
{
    size_t position;
    if (!find_position(streams, definition, &position))
        return NULL;
    struct stream *stream = streams->list[position];
    streams->count--;
    memmove(&streams->list[position], &streams->list[position + 1],
            (streams->count - position) * sizeof *streams->list);
    return stream;
}

static void publish(struct streams *streams, struct stream *stream)
{
    pthread_rwlock_wrlock(&streams->lock);
    struct stream *replaced = take_out(streams, &stream->definition);
    insert(streams, stream);
    pthread_rwlock_unlock(&streams->lock);
    stream_release(replaced);
}

void streams_publish(struct streams *streams, const struct stream_definition *definition)
{
    struct arena *arena = arena_create();
    struct engine_entry entry = { .key = record_address(arena, definition).key,
                                  .value = stream_definition_encode(arena, definition).encoded };
    struct stream *stream = stream_create(&entry);
    arena_destroy(arena);
    assert(stream != NULL); /* It was encoded here. */
    publish(streams, stream);
}

void streams_unpublish(struct streams *streams, const struct stream_definition *definition)
{
    pthread_rwlock_wrlock(&streams->lock);
    struct stream *stream = take_out(streams, definition);
    pthread_rwlock_unlock(&streams->lock);
    stream_release(stream);
}

/* --- Loading --- */

static bool load_record(struct streams *streams, const struct engine_entry *entry)
{
    struct stream *stream = stream_create(entry);
    if (stream == NULL)
        return false;
    publish(streams, stream);
    return true;
}

/* Commit times resume behind those of all logs (log/change_log.h). */
static enum engine_status resume_commit_time(const struct streams *streams,
                                             struct engine_view *view, const struct clock *clock)
{
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < streams->count && status == ENGINE_OK; i++) {
        const struct stream_definition *stream = &streams->list[i]->definition;
        int64_t newest_us = 0;
        status = change_log_newest_commit(view, stream->log_id, stream->partitions,
                                          stream->partition_count, &newest_us);
        clock_raise_commit_us(clock, newest_us);
    }
    return status;
}

static enum engine_status load(struct streams *streams, const struct clock *clock)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct engine_range range = { .place = streams_place };
    enum engine_status status = engine_view_open(streams->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK && (status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        if (!load_record(streams, &entry)) {
            log_write(LOG_ERROR, "stream", "damaged record of a stream");
            status = ENGINE_CORRUPT;
        }
    }
    engine_scan_close(scan);
    if (status == ENGINE_END)
        status = resume_commit_time(streams, view, clock);
    engine_view_close(view);
    return status;
}

struct streams *streams_open(struct engine *engine, const struct clock *clock,
                             enum engine_status *status)
{
    struct streams *streams = memory_checked(calloc(1, sizeof *streams));
    streams->engine = engine;
    pthread_rwlock_init(&streams->lock, NULL);
    *status = load(streams, clock);
    if (*status == ENGINE_OK)
        return streams;
    streams_close(streams);
    return NULL;
}

void streams_close(struct streams *streams)
{
    if (streams == NULL)
        return;
    for (size_t i = 0; i < streams->count; i++)
        stream_release(streams->list[i]);
    pthread_rwlock_destroy(&streams->lock);
    free(streams->list);
    free(streams);
}
