/* item_change.c -- see item_change.h. */
#include "api/operation.h"
#include "api/item/item_change.h"
#include <assert.h>
#include <stdatomic.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/path.h"
#include "expr/projection.h"
#include "expr/update.h"
#include "index/index_entry.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/item.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "table/catalogue.h"
#include "table/table_runtime.h"
#include "txn/txn.h"

/* --- Updates --- */

/* Measured on the service: UpdateItem refuses a result by this sum, which is more than its size. */
enum { GATE_BASE = 3, GATE_PER_WRITE = 19, GATE_PER_CLEAR = 2 };

static bool has_attribute(const struct key_attribute *attributes, size_t count, struct bytes name)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal(attributes[i].name, name))
            return true;
    }
    return false;
}

static bool is_index_key(const struct table_definition *table, struct bytes name)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        if (has_attribute(index->hash, index->hash_count, name) ||
            has_attribute(index->range, index->range_count, name))
            return true;
    }
    return false;
}

/* The keys of indexes may be set, but have no parts. */
static bool check_index_keys(const struct update *update, const struct table_definition *table,
                             struct error *err)
{
    for (size_t i = 0; i < update->action_count; i++) {
        const struct path *path = &update->actions[i].path;
        if (path->step_count > 1 && is_index_key(table, path->steps[0].name))
            return error_validation(err,
                                    "Key attributes must be scalars; list random access '[]' and "
                                    "map lookup '.' are not allowed: IndexKey: %.*s",
                                    BYTES_FMT(path->steps[0].name));
    }
    return true;
}

bool item_change_check_keys(const struct update *update, const struct table_definition *table,
                            struct error *err)
{
    const struct key_schema *key = &table->key;
    for (size_t i = 0; i < update->action_count; i++) {
        struct bytes name = update->actions[i].path.steps[0].name;
        if (bytes_equal(name, key->hash.name) ||
            (key->has_range && bytes_equal(name, key->range.name)))
            return error_validation(err,
                                    "One or more parameter values were invalid: Cannot update "
                                    "attribute %.*s. This attribute is part of the key",
                                    BYTES_FMT(name));
    }
    return table->index_count == 0 || check_index_keys(update, table, err);
}

bool item_change_creates_nothing(const struct update *update)
{
    for (size_t i = 0; i < update->action_count; i++) {
        enum update_action_type type = update->actions[i].type;
        if (type != UPDATE_REMOVE && type != UPDATE_DELETE)
            return false;
    }
    return update->action_count > 0;
}

bool item_change_apply_update(struct arena *arena, const struct update *update,
                              const struct table_definition *table, const struct item *current,
                              const struct item *key, struct item *out, struct error *err)
{
    assert(current != NULL || key != NULL);
    return update_apply(arena, update, current != NULL ? current : key, out, err) &&
           index_entry_check_update(table, current, out, err);
}

bool item_change_fits(struct arena *arena, const struct table_definition *table,
                      const struct item *item)
{
    return item->size <= ITEM_SIZE_MAX && index_entry_local_fits(arena, table, item);
}

bool item_change_check_update_size(struct arena *arena, const struct table_definition *table,
                                   const struct update *update, const struct item *key,
                                   const struct item *item, struct error *err)
{
    assert(item->size >= key->size); /* An update keeps the key. */
    size_t gate = item->size - key->size + GATE_BASE;
    for (size_t i = 0; i < update->action_count; i++) {
        enum update_action_type type = update->actions[i].type;
        gate += type == UPDATE_SET || type == UPDATE_ADD ? GATE_PER_WRITE : GATE_PER_CLEAR;
    }
    return (gate <= ITEM_SIZE_MAX && item_change_fits(arena, table, item)) ||
           update_refuse_size(err);
}

/* --- What answers show --- */

struct bytes item_change_item_json(struct arena *arena, const struct item *item)
{
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, arena);
    json_writer_init(&writer, &text);
    item_json_write(&writer, item);
    return buffer_bytes(&text);
}

static const struct path_node *updated_paths(struct arena *arena, const struct update *update)
{
    struct path *paths = arena_alloc(arena, update->action_count * sizeof *paths);
    for (size_t i = 0; i < update->action_count; i++)
        paths[i] = update->actions[i].path;
    return path_tree_build(arena, paths, update->action_count);
}

struct bytes item_change_updated_json(struct arena *arena, const struct update *update,
                                      const struct item *item)
{
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, arena);
    json_writer_init(&writer, &text);
    projection_write(&writer, updated_paths(arena, update), item);
    return bytes_equal_text(buffer_bytes(&text), "{}") ? BYTES("") : buffer_bytes(&text);
}

/* --- Item collections --- */

#define GIB (INT64_C(1024) * 1024 * 1024)

bool item_change_wants_collection(struct bytes wanted, const struct table_definition *table)
{
    return table_definition_has_local_index(table) && bytes_equal_text(wanted, "SIZE");
}

/* The service reports the size as a range between two whole numbers of gigabytes. */
static void write_estimate(struct json_writer *writer, int64_t size)
{
    int64_t lower = size / GIB;
    json_open_array(writer);
    json_write_half_units(writer, 2 * lower);
    json_write_half_units(writer, 2 * (lower + 1));
    json_close_array(writer);
}

void item_change_write_collection(struct json_writer *writer, const struct table_definition *table,
                                  const struct item *item, int64_t size)
{
    struct value value;
    json_open_object(writer);
    json_write_name(writer, "ItemCollectionKey");
    json_open_object(writer);
    if (item_find(item, table->key.hash.name, &value)) {
        json_write_name_bytes(writer, table->key.hash.name);
        value_json_write(writer, &value);
    }
    json_close_object(writer);
    json_write_name(writer, "SizeEstimateRangeGB");
    write_estimate(writer, size);
    json_close_object(writer);
}

/* For the adviser. Collections of this size are rare. */
__attribute__((noinline)) static void
note_collection(const struct api *api, const struct table_definition *definition, int64_t size)
{
    struct table *table = catalogue_find(api_catalogue(api), definition->name);
    if (table == NULL)
        return;
    _Atomic int64_t *noted = &table_runtime(table)->collection_size_max;
    int64_t before = atomic_load_explicit(noted, memory_order_relaxed);
    while (before < size && !atomic_compare_exchange_weak(noted, &before, size))
        continue;
    table_release(table);
}

bool item_change_exceeds_collection(const struct api *api, struct txn *txn,
                                    const struct txn_item *item)
{
    assert(item->table != NULL);
    if (!table_definition_has_local_index(item->table))
        return false;
    int64_t size = txn_collection_size_after(txn, item);
    if (UNLIKELY(size > api_options(api)->item_collection_size_max / 2))
        note_collection(api, item->table, size);
    return size > api_options(api)->item_collection_size_max && size > item->collection_size;
}

bool item_change_check_collections(struct api_call *call, struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        const struct txn_item *item = &txn->items[i];
        if (txn_collection_is_first(txn, item) &&
            item_change_exceeds_collection(call->api, txn, item))
            return error_set(&call->error, ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED,
                             ITEM_CHANGE_COLLECTION_EXCEEDED);
    }
    return true;
}
