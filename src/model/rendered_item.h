/* rendered_item.h -- an item ready to be sent: its size and its JSON.
 *
 * The engine's cache keeps hot items rendered (engine_render), so that a read neither checks nor
 * walks the stored bytes. In memory only.
 */
#ifndef STATOR_MODEL_RENDERED_ITEM_H
#define STATOR_MODEL_RENDERED_ITEM_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/item.h"

struct arena;
struct json_writer;

struct rendered_item {
    uint32_t size;     /* As struct item has it. */
    struct bytes json; /* Borrows the rendered bytes. */
};

/* Renders a stored item into the arena; data NULL if its bytes are damaged. An engine_render. */
struct bytes rendered_item_make(struct arena *arena, struct bytes encoded);
/* False if `rendered` has no data. */
MUST_CHECK bool rendered_item_read(struct bytes rendered, struct rendered_item *out);

/* An item that is sent whole: rendered, or from its stored bytes. */
struct shown_item {
    struct rendered_item rendered; /* json.data NULL: none, and `item` is open. */
    struct item item;
};

static inline uint32_t shown_item_size(const struct shown_item *shown)
{
    return shown->rendered.json.data != NULL ? shown->rendered.size : shown->item.size;
}
void shown_item_write(struct json_writer *writer, const struct shown_item *shown);

#endif
