/* value_fuzz.c -- arbitrary bytes as an encoded value.
 *
 * Any bytes may be opened and walked. Those that are verified go through JSON and come back
 * identical, since the encoding is canonical.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/value_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { JSON_DEPTH = 2 * NESTING_DEPTH_MAX + 2 };

/* One level: what is not verified must still be safe to walk. */
static void walk(const struct value *value)
{
    struct value_iter iter;
    struct value element;
    struct bytes name;
    size_t count = 0;
    if (value->type < VALUE_L)
        return;
    value_iter_init(&iter, value);
    while (value_iter_next(&iter, &name, &element))
        count++;
    assert(count <= value->data.len);
    if (value->type == VALUE_M)
        (void)value_map_find(value, BYTES("name"), &element);
}

static void check_round_trip(struct arena *arena, const struct value *value)
{
    struct buffer text, back;
    struct json_writer writer;
    struct json_reader reader;
    struct error rule, err;
    buffer_init(&text, arena);
    buffer_init(&back, arena);
    json_writer_init(&writer, &text);
    value_json_write(&writer, value);
    json_reader_init(&reader, arena, buffer_bytes(&text), JSON_DEPTH);
    error_init(&rule, arena);
    error_init(&err, arena);
    bool ok = value_json_read(&reader, &back, &rule, &err);
    assert(ok && !error_is_set(&rule) && !error_is_set(&err));
    bool finished = json_finish(&reader);
    assert(finished);
    assert(bytes_equal(buffer_bytes(&back), value->encoded));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes rest = bytes_of(size == 0 ? (const uint8_t *)"" : data, size);
    struct bytes whole = rest;
    struct value value;
    while (value_open(&rest, &value)) {
        assert(value.encoded.len > 0);
        walk(&value);
    }
    if (value_verify(whole, NESTING_DEPTH_MAX)) {
        rest = whole;
        bool opened = value_open(&rest, &value);
        assert(opened && rest.len == 0);
        assert(value_size(&value) <= 4 * whole.len + 4);
        check_round_trip(arena, &value);
    }
    arena_destroy(arena);
    return 0;
}
