/* change_record.c -- see change_record.h. */
#include "log/change_record.h"
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "model/key.h"
#include "log/log_layout.h"

enum {
    FORMAT_AT = 0,
    CHECKSUM_AT = 1,
    FLAGS_AT = 5,
    COMMIT_AT = 6,
    SERVER_TIME_AT = 14,
    ITEMS_AT = SERVER_TIME_AT + LOG_STAMP_SIZE,
    UNSTAMPED_ITEMS_AT = SERVER_TIME_AT,
    LENGTH_SIZE = 4, /* Before each item. */

    FLAG_EVENT_MASK = 0x03,
    FLAG_BY_SERVICE = 0x04,
    FLAG_IMAGES_SHIFT = 3,
    FLAGS_ALL = FLAG_EVENT_MASK | FLAG_BY_SERVICE | CHANGE_IMAGES_ALL << FLAG_IMAGES_SHIFT,
};

const char *change_event_name(enum change_event event)
{
    static const char *const names[] = {
        [CHANGE_INSERT] = "INSERT", [CHANGE_MODIFY] = "MODIFY", [CHANGE_REMOVE] = "REMOVE"
    };
    assert(event >= CHANGE_INSERT && event <= CHANGE_REMOVE);
    return names[event];
}

/* --- Keys --- */

static void add_key(struct item_builder *builder, const struct item *item,
                    const struct key_attribute *attribute)
{
    struct value value;
    if (item_find(item, attribute->name, &value))
        item_builder_add(builder, attribute->name, value.encoded);
}

static struct item project_keys(struct arena *arena, const struct key_schema *schema,
                                const struct item *item)
{
    struct item_builder builder;
    item_builder_init(&builder, arena);
    add_key(&builder, item, &schema->hash);
    if (schema->has_range)
        add_key(&builder, item, &schema->range);
    return item_builder_finish(&builder);
}

struct change_record change_record_between(struct arena *arena, const struct key_schema *schema,
                                           const struct item *before, const struct item *after,
                                           unsigned wanted)
{
    assert(before != NULL || after != NULL);
    struct change_record record = { .event = before == NULL  ? CHANGE_INSERT
                                             : after == NULL ? CHANGE_REMOVE
                                                             : CHANGE_MODIFY };
    if (after != NULL && (wanted & CHANGE_NEW_IMAGE) != 0) {
        record.images |= CHANGE_NEW_IMAGE;
        record.new_image = *after;
    }
    if (before != NULL && (wanted & CHANGE_OLD_IMAGE) != 0) {
        record.images |= CHANGE_OLD_IMAGE;
        record.old_image = *before;
    }
    if (record.images == 0)
        record.keys = project_keys(arena, schema, after != NULL ? after : before);
    return record;
}

struct item change_record_keys(struct arena *arena, const struct key_schema *schema,
                               const struct change_record *record)
{
    if (record->images == 0)
        return record->keys;
    return project_keys(arena, schema,
                        (record->images & CHANGE_NEW_IMAGE) != 0 ? &record->new_image
                                                                 : &record->old_image);
}

/* --- Bytes --- */

/* The items of a record in the order they are stored. Returns how many. */
static size_t list_items(struct change_record *record, struct item *out[2])
{
    size_t count = 0;
    if ((record->images & CHANGE_NEW_IMAGE) != 0)
        out[count++] = &record->new_image;
    if ((record->images & CHANGE_OLD_IMAGE) != 0)
        out[count++] = &record->old_image;
    if (count == 0)
        out[count++] = &record->keys;
    return count;
}

/* An item that did not exist before or after the change has no image then. */
static bool fits_event(const struct change_record *record)
{
    switch (record->event) {
    case CHANGE_INSERT:
        return (record->images & CHANGE_OLD_IMAGE) == 0;
    case CHANGE_MODIFY:
        return true;
    case CHANGE_REMOVE:
        return (record->images & CHANGE_NEW_IMAGE) == 0;
    }
    return false;
}

struct bytes change_record_encode(struct arena *arena, const struct change_record *record)
{
    assert(fits_event(record));
    assert(record->commit_us >= 0 && record->server_ms >= 0);
    struct change_record source = *record;
    struct item *items[2];
    size_t count = list_items(&source, items);
    size_t size = ITEMS_AT;
    for (size_t i = 0; i < count; i++)
        size += LENGTH_SIZE + items[i]->encoded.len;
    uint8_t *out = arena_alloc(arena, size);
    out[FORMAT_AT] = LOG_RECORD_FORMAT;
    out[FLAGS_AT] = (uint8_t)((unsigned)record->event | (record->by_service ? FLAG_BY_SERVICE : 0) |
                              record->images << FLAG_IMAGES_SHIFT);
    store_u64_le(out + COMMIT_AT, (uint64_t)record->commit_us);
    store_u64_le(out + SERVER_TIME_AT, (uint64_t)record->server_ms);
    size_t at = ITEMS_AT;
    for (size_t i = 0; i < count; i++) {
        store_u32_le(out + at, (uint32_t)items[i]->encoded.len);
        memcpy(out + at + LENGTH_SIZE, items[i]->encoded.data, items[i]->encoded.len);
        at += LENGTH_SIZE + items[i]->encoded.len;
    }
    assert(at == size);
    store_u32_le(out + CHECKSUM_AT, crc32c(bytes_of(out + FLAGS_AT, size - FLAGS_AT)));
    return bytes_of(out, size);
}

static bool open_next_item(struct bytes *rest, struct item *out)
{
    if (rest->len < LENGTH_SIZE)
        return false;
    size_t size = load_u32_le(rest->data);
    *rest = bytes_of(rest->data + LENGTH_SIZE, rest->len - LENGTH_SIZE);
    if (size > rest->len || !item_open(bytes_of(rest->data, size), out))
        return false;
    *rest = bytes_of(rest->data + size, rest->len - size);
    return true;
}

/* The offset of the record's items; 0: it is too short, or of an unknown format. */
static size_t items_place(struct bytes encoded)
{
    size_t at = 0;
    uint8_t format = encoded.len > FORMAT_AT ? encoded.data[FORMAT_AT] : 0;
    if (format == LOG_RECORD_FORMAT || format == LOG_MILLISECONDS_FORMAT)
        at = ITEMS_AT;
    else if (format == LOG_UNSTAMPED_FORMAT)
        at = UNSTAMPED_ITEMS_AT;
    return encoded.len < at ? 0 : at;
}

bool change_record_decode(struct bytes encoded, struct change_record *out)
{
    size_t items_at = items_place(encoded);
    if (items_at == 0 || load_u32_le(encoded.data + CHECKSUM_AT) !=
                             crc32c(bytes_of(encoded.data + FLAGS_AT, encoded.len - FLAGS_AT)))
        return false;
    unsigned flags = encoded.data[FLAGS_AT];
    *out = (struct change_record){
        .event = (enum change_event)(flags & FLAG_EVENT_MASK),
        .by_service = (flags & FLAG_BY_SERVICE) != 0,
        .commit_us = (int64_t)load_u64_le(encoded.data + COMMIT_AT),
        .images = flags >> FLAG_IMAGES_SHIFT & CHANGE_IMAGES_ALL,
    };
    if (encoded.data[FORMAT_AT] != LOG_RECORD_FORMAT)
        out->commit_us = log_layout_commit_us(out->commit_us);
    if (items_at == ITEMS_AT)
        out->server_ms = (int64_t)load_u64_le(encoded.data + SERVER_TIME_AT);
    if ((flags & ~(unsigned)FLAGS_ALL) != 0 || out->commit_us < 0 || out->server_ms < 0 ||
        !fits_event(out))
        return false;
    struct item *items[2];
    size_t count = list_items(out, items);
    struct bytes rest = bytes_of(encoded.data + items_at, encoded.len - items_at);
    for (size_t i = 0; i < count; i++) {
        if (!open_next_item(&rest, items[i]))
            return false;
    }
    return rest.len == 0;
}
