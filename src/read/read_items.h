/* read_items.h -- items read by their keys, all from one view of the store: one for GetItem, up to
 * a hundred for a batch or a transaction.
 *
 * A view is consistent and waits for no writer: its reads see all of a write under way or nothing.
 */
#ifndef STATOR_READ_READ_ITEMS_H
#define STATOR_READ_READ_ITEMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/rendered_item.h"
#include "read/work_clock.h"

struct error;
struct item_address;
struct table_definition;

/* Callers that read many items stop after this time; see READ_PAGE_NS_MAX of read_page.h. */
#define READ_ITEMS_NS_MAX (INT64_C(10) * 1000 * 1000 * 1000)

struct read_items {
    struct engine_view *view;
    const char *purpose; /* For the log, if the engine fails: "GetItem". */
    size_t size;         /* Of all items read so far, as DynamoDB counts. */
    struct work_clock clock;
};

/* The clock asks for no pause, unless the caller sets its `is_pause_due`. False with the error set
 * if the engine fails; otherwise the caller owes a read_items_close. */
MUST_CHECK bool read_items_open(struct engine *engine, bool consistent, const char *purpose,
                                struct read_items *out, struct error *err);
void read_items_close(struct read_items *items);

struct read_item {
    bool exists;
    struct shown_item shown;   /* Of size 0 if there is none. Borrows `value`. */
    struct engine_value value; /* For read_item_release. */
};
enum read_item_as {
    READ_ITEM_OPENED, /* `shown.item` is open, so that its attributes can be read. */
    READ_ITEM_SHOWN,  /* To be sent whole, and perhaps only rendered (model/rendered_item.h). */
};
/* True if the item was read or there is none. False with the error set if the engine fails. */
MUST_CHECK bool read_items_get(struct read_items *items, const struct table_definition *table,
                               const struct item_address *place, enum read_item_as as,
                               struct read_item *out, struct error *err);
void read_item_release(struct read_item *item);

/* Between two items: makes ready to be resumed by another thread. */
void read_items_pause(struct read_items *items);

#endif
