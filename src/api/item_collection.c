/* item_collection.c -- see item_collection.h. */
#include "api/item_collection.h"
#include "json/writer.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "model/value_json.h"

/* The estimate is in whole gigabytes, in halves as json_write_halves counts. */
enum { ESTIMATE_MIN_HALVES = 0, ESTIMATE_MAX_HALVES = 2 };

bool item_collection_is_wanted(struct bytes wanted, const struct table_definition *table)
{
    /* Local ones come first. */
    return table->index_count > 0 && !table->indexes[0].global && bytes_equal_text(wanted, "SIZE");
}

void item_collection_write(struct json_writer *writer, const struct table_definition *table,
                           const struct item *item)
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
    json_open_array(writer);
    json_write_halves(writer, ESTIMATE_MIN_HALVES);
    json_write_halves(writer, ESTIMATE_MAX_HALVES);
    json_close_array(writer);
    json_close_object(writer);
}
