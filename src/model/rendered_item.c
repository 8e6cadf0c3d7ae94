/* rendered_item.c -- see rendered_item.h. The size, as this machine stores it, then the JSON. */
#include "model/rendered_item.h"
#include <assert.h>
#include <string.h>
#include "base/buffer.h"
#include "json/writer.h"
#include "model/value_json.h"

struct bytes rendered_item_make(struct arena *arena, struct bytes encoded)
{
    struct item item;
    struct buffer rendered;
    struct json_writer writer;
    if (!item_open(encoded, &item))
        return (struct bytes){ 0 };
    buffer_init(&rendered, arena);
    buffer_append(&rendered, &item.size, sizeof item.size);
    json_writer_init(&writer, &rendered);
    item_json_write(&writer, &item);
    return buffer_bytes(&rendered);
}

bool rendered_item_read(struct bytes rendered, struct rendered_item *out)
{
    if (rendered.data == NULL)
        return false;
    assert(rendered.len > sizeof out->size); /* It is our own, and never left memory. */
    memcpy(&out->size, rendered.data, sizeof out->size);
    out->json = bytes_of(rendered.data + sizeof out->size, rendered.len - sizeof out->size);
    return true;
}

void shown_item_write(struct json_writer *writer, const struct shown_item *shown)
{
    if (shown->rendered.json.data != NULL)
        json_write_raw(writer, shown->rendered.json);
    else
        item_json_write(writer, &shown->item);
}
