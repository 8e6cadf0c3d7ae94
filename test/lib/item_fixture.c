/* item_fixture.c -- see item_fixture.h. */
#include "item_fixture.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/value_json.h"

enum { DEPTH_MAX = 200 };

struct bytes item_fixture_text(struct arena *arena, const char *single_quoted)
{
    struct bytes from = bytes_from_text(single_quoted);
    uint8_t *text = arena_alloc(arena, from.len + 1);
    for (size_t i = 0; i < from.len; i++)
        text[i] = from.data[i] == '\'' ? '"' : from.data[i];
    text[from.len] = '\0';
    return bytes_of(text, from.len);
}

struct item item_fixture_read(struct arena *arena, const char *single_quoted)
{
    struct json_reader reader;
    struct error rule, err;
    struct item item;
    error_init(&rule, arena);
    error_init(&err, arena);
    json_reader_init(&reader, arena, item_fixture_text(arena, single_quoted), DEPTH_MAX);
    bool ok = item_json_read(&reader, arena, &item, &rule, &err) && json_finish(&reader);
    assert(ok && !error_is_set(&rule));
    (void)ok;
    return item;
}

struct bytes item_fixture_write(struct arena *arena, const struct item *item)
{
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, arena);
    json_writer_init(&writer, &text);
    item_json_write(&writer, item);
    return buffer_bytes(&text);
}
