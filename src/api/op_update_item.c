/* op_update_item.c -- UpdateItem: changes an item in place, or makes one of its key alone. */
#include "api/item_shapes.h"
#include "api/item_update.h"
#include "api/item_write.h"
#include "api/operation.h"
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/path_tree.h"
#include "expr/projection.h"
#include "index/index_entry.h"
#include "json/writer.h"
#include "model/limits.h"

/* Measured on the service: what an update may make of an item is judged by more than its size. */
enum { GATE_BASE = 3, GATE_PER_WRITE = 19, GATE_PER_CLEAR = 2 };

static bool check_keys_untouched(struct api_call *call, const struct table_definition *table,
                                 const void *input, const struct item_expressions *expressions)
{
    (void)input;
    return item_update_check_keys(expressions->update, table, &call->error);
}

static bool check_size(struct api_call *call, const struct table_definition *table,
                       const struct update *update, const struct item *key, const struct item *item)
{
    size_t gate = item->size - key->size + GATE_BASE;
    for (size_t i = 0; i < update->action_count; i++) {
        enum update_action_type type = update->actions[i].type;
        gate += type == UPDATE_SET || type == UPDATE_ADD ? GATE_PER_WRITE : GATE_PER_CLEAR;
    }
    if (item->size <= ITEM_SIZE_MAX && gate <= ITEM_SIZE_MAX &&
        index_entry_local_fits(call->arena, table, item))
        return true;
    return item_update_refuse_size(&call->error);
}

/* --- ReturnValues --- */

static bool same_path(const struct path *a, const struct path *b)
{
    if (a->step_count != b->step_count)
        return false;
    for (size_t i = 0; i < a->step_count; i++)
        if (!bytes_equal(a->steps[i].name, b->steps[i].name))
            return false;
    return true;
}

/* The paths that UPDATED_OLD and UPDATED_NEW show: those of the actions, up to a list's index,
 * since a list that was touched is shown whole. */
static const struct path_node *updated_paths(struct arena *arena, const struct update *update)
{
    struct path *paths = arena_alloc(arena, update->action_count * sizeof *paths);
    size_t count = 0;
    for (size_t i = 0; i < update->action_count; i++) {
        struct path path = update->actions[i].path;
        size_t steps = 0;
        while (steps < path.step_count && path.steps[steps].name.data != NULL)
            steps++;
        path.step_count = steps;
        /* Only paths that were cut can meet: two elements of one list. */
        bool known = false;
        for (size_t j = 0; steps < update->actions[i].path.step_count && j < count && !known; j++)
            known = same_path(&paths[j], &path);
        if (!known)
            paths[count++] = path;
    }
    return path_tree_build(arena, paths, count);
}

static struct bytes updated_attributes(struct item_write *write, const struct item *item)
{
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, write->call->arena);
    json_writer_init(&writer, &text);
    projection_write(&writer, updated_paths(write->call->arena, write->expressions.update), item);
    return bytes_equal_text(buffer_bytes(&text), "{}") ? BYTES("") : buffer_bytes(&text);
}

static struct bytes attributes(struct item_write *write, const struct item *updated)
{
    struct bytes wanted = write->condition_request->return_values;
    if (bytes_equal_text(wanted, "ALL_NEW"))
        return item_write_item_json(write->call->arena, updated);
    if (bytes_equal_text(wanted, "UPDATED_NEW"))
        return updated_attributes(write, updated);
    if (bytes_equal_text(wanted, "UPDATED_OLD"))
        return write->item.exists ? updated_attributes(write, &write->item.current) : BYTES("");
    return item_write_old_item(write);
}

/* --- The operation --- */

static bool decide(struct item_write *write)
{
    const struct update_item_request *request = write->request;
    const struct update *update = write->expressions.update;
    struct api_call *call = write->call;
    const struct item *key = &request->key.item;
    struct item updated;
    if (!item_update_apply(call->arena, update, write->item.table,
                           write->item.exists ? &write->item.current : NULL, key, &updated,
                           &call->error) ||
        !check_size(call, write->item.table, update, key, &updated))
        return false;
    write->item.effect = TXN_PUT;
    write->item.replacement = updated;
    item_write_answer(write, attributes(write, &updated), request->table_name);
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct update_item_request *request = input;
    struct item_write_start start = { .table_name = request->table_name,
                                      .request = request,
                                      .condition_request = &request->condition,
                                      .key = &request->key.item,
                                      .locate = item_place_of_key,
                                      .check = check_keys_untouched,
                                      .decide = decide };
    if (item_write_check(call, &request->condition, request, &request->key.rule) &&
        item_expressions_compile(call, &request->condition, request, &start.expressions))
        item_write_start(call, &start);
    else
        operation_fail(call);
}

const struct operation op_update_item = {
    .name = "UpdateItem", .kind = OPERATION_DATA, .request = &update_item_shape, .run = run
};
