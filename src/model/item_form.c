/* item_form.c -- see item_form.h. The size, as this machine stores it, then the JSON. */
#include "model/item_form.h"
#include <assert.h>
#include <string.h>
#include "base/buffer.h"
#include "json/writer.h"
#include "model/value_json.h"

struct bytes item_form_make(struct arena *arena, struct bytes encoded)
{
    struct item item;
    struct buffer form;
    struct json_writer writer;
    if (!item_open(encoded, &item))
        return (struct bytes){ 0 };
    buffer_init(&form, arena);
    buffer_append(&form, &item.size, sizeof item.size);
    json_writer_init(&writer, &form);
    item_json_write(&writer, &item);
    return buffer_bytes(&form);
}

bool item_form_read(struct bytes form, struct item_form *out)
{
    if (form.data == NULL)
        return false;
    assert(form.len > sizeof out->size); /* It is our own, and never left memory. */
    memcpy(&out->size, form.data, sizeof out->size);
    out->json = bytes_of(form.data + sizeof out->size, form.len - sizeof out->size);
    return true;
}

void shown_item_write(struct json_writer *writer, const struct shown_item *shown)
{
    if (shown->form.json.data != NULL)
        json_write_raw(writer, shown->form.json);
    else
        item_json_write(writer, &shown->item);
}
