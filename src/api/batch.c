/* batch.c -- see batch.h. */
#include "api/batch.h"
#include "api/capacity.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/shape.h"
#include "json/writer.h"
#include "table/item_place.h"

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

/* Tables' ids are unique, and an item's key decides its partition. */
static bool same_place(const struct item_place *a, const struct item_place *b)
{
    return a->hash == b->hash && a->address.place.owner == b->address.place.owner &&
           bytes_equal(a->address.key, b->address.key);
}

bool batch_check_place(struct api_call *call, const struct item_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (same_place(&places[i], &places[count]))
            return batch_refuse_duplicates(call);
    }
    return true;
}

void batch_write_capacity(struct json_writer *writer, struct bytes wanted,
                          const struct batch_capacity *tables, size_t count)
{
    if (!capacity_is_wanted(wanted))
        return;
    json_write_name(writer, "ConsumedCapacity");
    json_open_array(writer);
    for (size_t i = 0; i < count; i++)
        capacity_use_write_table(writer, wanted, tables[i].table_name, &tables[i].use);
    json_close_array(writer);
}
