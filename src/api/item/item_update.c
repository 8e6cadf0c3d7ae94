/* item_update.c -- see item_update.h. */
#include "api/item/item_update.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/ast.h"
#include "expr/path_tree.h"
#include "expr/projection.h"
#include "expr/update.h"
#include "index/index_entry.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/table_definition.h"

/* Measured on the service: what an update may make of an item is judged by more than its size. */
enum { GATE_BASE = 3, GATE_PER_WRITE = 19, GATE_PER_CLEAR = 2 };

bool item_update_check_keys(const struct update *update, const struct table_definition *table,
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
    return true;
}

bool item_update_apply(struct arena *arena, const struct update *update,
                       const struct table_definition *table, const struct item *current,
                       const struct item *key, struct item *out, struct error *err)
{
    return update_apply(arena, update, current != NULL ? current : key, out, err) &&
           index_entry_check_update(table, current, out, err);
}

bool item_update_fits(struct arena *arena, const struct table_definition *table,
                      const struct item *item)
{
    return item->size <= ITEM_SIZE_MAX && index_entry_local_fits(arena, table, item);
}

bool item_update_check_size(struct arena *arena, const struct table_definition *table,
                            const struct update *update, const struct item *key,
                            const struct item *item, struct error *err)
{
    size_t gate = item->size - key->size + GATE_BASE;
    for (size_t i = 0; i < update->action_count; i++) {
        enum update_action_type type = update->actions[i].type;
        gate += type == UPDATE_SET || type == UPDATE_ADD ? GATE_PER_WRITE : GATE_PER_CLEAR;
    }
    return (gate <= ITEM_SIZE_MAX && item_update_fits(arena, table, item)) ||
           update_refuse_size(err);
}

/* --- What was changed --- */

static const struct path_node *updated_paths(struct arena *arena, const struct update *update)
{
    struct path *paths = arena_alloc(arena, update->action_count * sizeof *paths);
    for (size_t i = 0; i < update->action_count; i++)
        paths[i] = update->actions[i].path;
    return path_tree_build(arena, paths, update->action_count);
}

struct bytes item_update_changed_json(struct arena *arena, const struct update *update,
                                      const struct item *item)
{
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, arena);
    json_writer_init(&writer, &text);
    projection_write(&writer, updated_paths(arena, update), item);
    return bytes_equal_text(buffer_bytes(&text), "{}") ? BYTES("") : buffer_bytes(&text);
}
