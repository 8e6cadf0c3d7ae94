/* batch.c -- see batch.h. */
#include "api/item/batch.h"
#include <assert.h>
#include "api/capacity.h"
#include "api/common_shapes.h"
#include "api/item/item_change.h"
#include "api/operation.h"
#include "json/writer.h"
#include "model/table_definition.h"
#include "shape/shape.h"
#include "table/item_address.h"
#include "txn/txn.h"

struct named_table {
    struct bytes table_name;
};
static const struct shape_field named_table_fields[] = {
    { SHAPE_FIELD(struct named_table, table_name, "TableName", &common_item_table_name),
      .required = true },
};
static const struct shape named_table_shape = { SHAPE_STRUCTURE_OF(struct named_table,
                                                                   named_table_fields) };

/* Observed: the service reports such a name as if it were a TableName, and alone. */
bool batch_check_names(struct api_call *call, const struct shape_map *request_items)
{
    for (size_t i = 0; i < request_items->count; i++) {
        struct named_table named = { .table_name = request_items->names[i] };
        if (!shape_validate(call->arena, &named_table_shape, &named, &call->error))
            return false;
    }
    return true;
}

bool batch_refuse_duplicates(struct api_call *call)
{
    return error_validation(&call->error, "Provided list of item keys contains duplicates");
}

bool batch_check_place(struct api_call *call, const struct item_address *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (item_address_equal(&places[i], &places[count]))
            return batch_refuse_duplicates(call);
    }
    return true;
}

static bool is_first_of_collection(const struct batch_item *items, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (txn_collection_is_shared(items[i].item, items[index].item))
            return false;
    }
    return true;
}

void batch_write_collections(struct json_writer *writer, struct bytes wanted, struct txn *txn,
                             const struct capacity_use *tables, size_t table_count,
                             const struct batch_item *items, size_t item_count)
{
    bool open = false;
    for (size_t t = 0; t < table_count; t++) {
        const struct table_definition *table = tables[t].definition;
        if (!item_change_wants_collection(wanted, table))
            continue;
        if (!open) {
            json_write_name(writer, "ItemCollectionMetrics");
            json_open_object(writer);
            open = true;
        }
        json_write_name_bytes(writer, tables[t].table_name);
        json_open_array(writer);
        for (size_t i = 0; i < item_count; i++) {
            if (items[i].table_index == t && is_first_of_collection(items, i))
                item_change_write_collection(writer, table, items[i].key,
                                             txn_collection_size_after(txn, items[i].item));
        }
        json_close_array(writer);
    }
    if (open)
        json_close_object(writer);
}

/* --- Tables --- */

/* The index of a table that was looked up already, or `use_count`. */
static size_t known_table(const struct api_call *call, struct bytes table_name)
{
    size_t index = 0;
    while (index < call->use_count && !bytes_equal(call->uses[index].table_name, table_name))
        index++;
    return index;
}

size_t batch_find_table(struct api_call *call, struct bytes table_name)
{
    size_t index = known_table(call, table_name);
    if (index == call->use_count)
        operation_find_table(call, table_name);
    return index;
}

size_t batch_borrow_table(struct api_call *call, struct bytes table_name)
{
    size_t index = known_table(call, table_name);
    if (index == call->use_count)
        operation_borrow_table(call, table_name);
    return index;
}
