/* item_source.c -- see item_source.h. */
#include "api/backup/item_source.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/byte_order.h"
#include "base/memory.h"
#include "history/history_reader.h"
#include "model/table_definition.h"
#include "table/item_address.h"

struct item_source {
    struct history_reader *reader; /* NULL: the items as they are. */
    bool keeps_view;

    /* Of the items as they are. */
    struct engine *engine;
    const struct table_definition *table;
    size_t partition;
    struct engine_view *view;
    struct engine_scan *scan;
    size_t read_size;                      /* Since the view was opened. */
    uint8_t position[BACKFILLED_SIZE_MAX]; /* Where the scan begins: behind the last key. */
    size_t position_size;
};

/* The partition that a stored key belongs to. */
static size_t partition_of(const struct table_definition *table, struct bytes key)
{
    uint64_t hash = key.len < HISTORY_HASH_SIZE ? 0 : load_u64_be(key.data);
    size_t partition = table->partition_count - 1;
    while (table->partitions[partition].first_hash > hash)
        partition--;
    return partition;
}

/* Right behind a key: at that key and one zero byte. False if no item can have it. */
static bool go_behind(struct item_source *source, struct bytes key)
{
    if (key.len >= sizeof source->position)
        return false;
    memcpy(source->position, key.data, key.len);
    source->position[key.len] = 0;
    source->position_size = key.len + 1;
    return true;
}

struct item_source *item_source_open(struct engine *engine, const struct table_definition *table,
                                     int64_t at_us, struct bytes after)
{
    struct item_source *source = memory_checked(calloc(1, sizeof *source));
    const struct history_range range = { .after = after };
    source->engine = engine;
    source->table = table;
    if (at_us != 0) {
        source->reader = history_reader_open_state(engine, table, at_us, &range);
    } else if (after.len > 0) {
        source->partition = partition_of(table, after);
        bool fits = go_behind(source, after);
        assert(fits); /* It came from here. */
        (void)fits;
    }
    return source;
}

struct item_source *item_source_open_view(struct engine *engine,
                                          const struct table_definition *table,
                                          struct engine_view *view)
{
    struct item_source *source = item_source_open(engine, table, 0, BYTES(""));
    source->keeps_view = true;
    source->view = view;
    return source;
}

static void close_view(struct item_source *source)
{
    engine_scan_close(source->scan);
    engine_view_close(source->view);
    source->scan = NULL;
    source->view = NULL;
    source->read_size = 0;
}

void item_source_close(struct item_source *source)
{
    if (source == NULL)
        return;
    history_reader_close(source->reader);
    close_view(source);
    free(source);
}

static struct engine_place place_of(const struct item_source *source)
{
    return (struct engine_place){ .owner = source->table->id,
                                  .partition = source->table->partitions[source->partition].id,
                                  .space = ENGINE_SPACE_ITEMS };
}

static enum engine_status open_scan(struct item_source *source)
{
    const struct engine_range range = { .place = place_of(source),
                                        .first =
                                            bytes_of(source->position, source->position_size) };
    enum engine_status status = ENGINE_OK;
    if (source->view == NULL)
        status = engine_view_open(source->engine, ENGINE_STRONG, &source->view);
    return status == ENGINE_OK ? engine_scan_open(source->view, &range, &source->scan) : status;
}

static enum engine_status next_stored(struct item_source *source, struct source_item *out)
{
    struct engine_entry entry;
    enum engine_status status = ENGINE_END;
    if (source->read_size >= ITEM_SOURCE_VIEW_SIZE && !source->keeps_view)
        close_view(source);
    while (source->partition < source->table->partition_count) {
        status = source->scan == NULL ? open_scan(source) : ENGINE_OK;
        if (status == ENGINE_OK)
            status = engine_scan_next(source->scan, &entry);
        if (status != ENGINE_END)
            break;
        engine_scan_close(source->scan);
        source->scan = NULL;
        source->partition++;
        source->position_size = 0;
    }
    if (status != ENGINE_OK)
        return status;
    struct engine_place place = place_of(source);
    if (!go_behind(source, entry.key))
        return ENGINE_CORRUPT;
    source->read_size += entry.key.len + entry.value.len;
    out->key = entry.key;
    out->exists = true;
    return item_address_open_entry(source->table, &place, &entry, &out->item);
}

enum engine_status item_source_next(struct item_source *source, struct source_item *out)
{
    struct history_state state;
    if (source->reader == NULL)
        return next_stored(source, out);
    enum engine_status status = history_reader_next_state(source->reader, &state);
    if (status == ENGINE_OK)
        *out = (struct source_item){ .key = state.key, .exists = state.exists, .item = state.item };
    return status;
}
