/* read_items.c -- see read_items.h. */
#include "read/read_items.h"
#include <assert.h>
#include "model/error.h"
#include "table/item_address.h"
#include "table/storage_error.h"

bool read_items_open(struct engine *engine, bool consistent, const char *purpose,
                     struct read_items *out, struct error *err)
{
    assert(engine != NULL && purpose != NULL);
    *out = (struct read_items){ .purpose = purpose };
    enum engine_status status =
        engine_view_open(engine, consistent ? ENGINE_STRONG : ENGINE_EVENTUAL, &out->view);
    return status == ENGINE_OK || storage_error_set(err, status, purpose);
}

void read_items_close(struct read_items *items)
{
    engine_view_close(items->view);
    items->view = NULL;
}

bool read_items_get(struct read_items *items, const struct table_definition *table,
                    const struct item_address *place, enum read_item_as as, struct read_item *out,
                    struct error *err)
{
    assert(items->view != NULL && place->address.key.len > 0);
    *out = (struct read_item){ .exists = false };
    enum engine_status status =
        as == READ_ITEM_SHOWN
            ? item_address_get_shown(items->view, table, place, &out->value, &out->shown)
            : item_address_get(items->view, table, place, &out->value, &out->shown.item);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
        return storage_error_set(err, status, items->purpose);
    out->exists = status == ENGINE_OK;
    uint32_t size = shown_item_size(&out->shown);
    assert(out->exists || size == 0);
    items->size += size;
    work_clock_count(&items->clock, size);
    return true;
}

void read_item_release(struct read_item *item)
{
    engine_value_release(&item->value);
}

void read_items_pause(struct read_items *items)
{
    assert(items->view != NULL);
    items->view = engine_view_move(items->view);
}
