/* item_collection.c -- see item_collection.h. */
#include "api/item/item_collection.h"
#include "api/operation.h"
#include "json/writer.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "txn/txn.h"

#define GIB (INT64_C(1024) * 1024 * 1024)

bool item_collection_is_wanted(struct bytes wanted, const struct table_definition *table)
{
    return table_definition_has_local_index(table) && bytes_equal_text(wanted, "SIZE");
}

/* The service tells between which two whole numbers of gigabytes the size lies. */
static void write_estimate(struct json_writer *writer, int64_t size)
{
    int64_t lower = size / GIB;
    json_open_array(writer);
    json_write_half_units(writer, 2 * lower);
    json_write_half_units(writer, 2 * (lower + 1));
    json_close_array(writer);
}

void item_collection_write(struct json_writer *writer, const struct table_definition *table,
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

bool item_collection_is_exceeded(const struct api *api, struct txn *txn,
                                 const struct txn_item *item)
{
    if (!table_definition_has_local_index(item->table))
        return false;
    int64_t size = txn_collection_size_after(txn, item);
    return size > api_options(api)->item_collection_size_max && size > item->collection_size;
}

bool item_collection_check(struct api_call *call, struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        const struct txn_item *item = &txn->items[i];
        if (txn_collection_is_first(txn, item) && item_collection_is_exceeded(call->api, txn, item))
            return error_set(&call->error, ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED,
                             ITEM_COLLECTION_EXCEEDED);
    }
    return true;
}
