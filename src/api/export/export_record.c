/* export_record.c -- see export_record.h. The detail is an item, for its checksum. */
#include "api/export/export_record.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "jobs/job_record.h"
#include "model/error.h"
#include "model/item_record.h"
#include "model/value.h"

enum { TIME_COUNT = 2, POSITION_SIZE = 24 };
static_assert(sizeof(struct export_file) == 72, "as documented");
static_assert(EXPORT_FILES_MAX * sizeof(struct export_file) + EXPORT_REQUEST_SIZE_MAX + 1024 <
                  JOB_DETAIL_SIZE_MAX,
              "a record has room for all files");

static void add_binary(struct item_builder *builder, const char *name, struct bytes value)
{
    struct buffer encoded;
    buffer_init(&encoded, builder->arena);
    value_append_binary(&encoded, value);
    item_builder_add(builder, bytes_from_text(name), buffer_bytes(&encoded));
}

struct bytes export_detail_encode(struct arena *arena, const struct export_detail *detail)
{
    const uint64_t times[TIME_COUNT] = { (uint64_t)detail->from_us, (uint64_t)detail->to_us };
    struct item_builder builder;
    assert(detail->file_count <= EXPORT_FILES_MAX);
    item_builder_init(&builder, arena);
    add_binary(&builder, "b", detail->body);
    add_binary(&builder, "d", detail->table_record.encoded);
    add_binary(&builder, "f", bytes_of(detail->files, detail->file_count * sizeof *detail->files));
    item_record_add_numbers(&builder, "t", times, TIME_COUNT);
    return item_builder_finish(&builder).encoded;
}

static bool find_binary(const struct item *item, const char *name, struct bytes *out)
{
    struct value value;
    if (!item_find(item, bytes_from_text(name), &value) || value.type != VALUE_B)
        return false;
    *out = value.data;
    return true;
}

static bool read_files(struct arena *arena, struct bytes files, struct export_detail *out)
{
    if (files.len % sizeof *out->files != 0 || files.len > EXPORT_FILES_MAX * sizeof *out->files)
        return false;
    out->files = (const struct export_file *)arena_copy(arena, files).data;
    out->file_count = files.len / sizeof *out->files;
    for (size_t i = 0; i < out->file_count; i++)
        if (memchr(out->files[i].etag, '\0', sizeof out->files[i].etag) == NULL)
            return false;
    return true;
}

bool export_detail_decode(struct arena *arena, const struct job_record *record,
                          struct export_detail *out)
{
    struct item item;
    struct bytes table, files;
    uint64_t *times;
    size_t time_count;
    struct error err;
    error_init(&err, arena);
    if (!item_open(record->detail, &item) || !item_verify(&item) ||
        !find_binary(&item, "b", &out->body) || !find_binary(&item, "d", &table) ||
        !find_binary(&item, "f", &files) ||
        !item_record_find_numbers(arena, &item, "t", TIME_COUNT, &times, &time_count) ||
        time_count != TIME_COUNT || times[0] > INT64_MAX || times[1] > INT64_MAX)
        return false;
    out->from_us = (int64_t)times[0];
    out->to_us = (int64_t)times[1];
    return item_open(table, &out->table_record) && item_verify(&out->table_record) &&
           table_definition_decode(arena, &out->table_record, &out->table) &&
           shape_read(arena, out->body, &export_request_shape, &out->request, &err) &&
           read_files(arena, files, out);
}

bool export_position_decode(struct bytes text, struct export_position *out)
{
    *out = (struct export_position){ .key = BYTES("") };
    if (text.len == 0)
        return true;
    if (text.len < POSITION_SIZE)
        return false;
    out->partition = load_u64_be(text.data);
    out->items = (int64_t)load_u64_be(text.data + 8);
    out->bytes = (int64_t)load_u64_be(text.data + 16);
    out->key = bytes_of(text.data + POSITION_SIZE, text.len - POSITION_SIZE);
    return out->items >= 0 && out->bytes >= 0 && out->key.len <= BACKFILLED_SIZE_MAX;
}

struct bytes export_position_encode(struct arena *arena, const struct export_position *position)
{
    uint8_t *out = arena_alloc(arena, POSITION_SIZE + position->key.len);
    store_u64_be(out, position->partition);
    store_u64_be(out + 8, (uint64_t)position->items);
    store_u64_be(out + 16, (uint64_t)position->bytes);
    if (position->key.len > 0)
        memcpy(out + POSITION_SIZE, position->key.data, position->key.len);
    return bytes_of(out, POSITION_SIZE + position->key.len);
}
