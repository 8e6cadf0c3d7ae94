/* item_form.h -- an item ready to be shown whole: its size and its JSON.
 *
 * Made once of an item that is kept in memory and read again and again (engine_form), so that a
 * read need neither check nor walk the stored bytes. Lives in memory only.
 */
#ifndef STATOR_MODEL_ITEM_FORM_H
#define STATOR_MODEL_ITEM_FORM_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/item.h"

struct arena;
struct json_writer;

struct item_form {
    uint32_t size;     /* As struct item has it. */
    struct bytes json; /* Borrows the form's bytes. */
};

/* The form of a stored item, in the arena; data NULL if its bytes are damaged. An engine_form. */
struct bytes item_form_make(struct arena *arena, struct bytes encoded);
/* False if there is none: `form` has no data. */
MUST_CHECK bool item_form_read(struct bytes form, struct item_form *out);

/* An item that is to be shown whole: as its form if there is one, else from its stored bytes. */
struct shown_item {
    struct item_form form; /* json.data NULL: none, and `item` is opened. */
    struct item item;
};

static inline uint32_t shown_item_size(const struct shown_item *shown)
{
    return shown->form.json.data != NULL ? shown->form.size : shown->item.size;
}
void shown_item_write(struct json_writer *writer, const struct shown_item *shown);

#endif
