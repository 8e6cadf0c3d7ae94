/* value_json_fuzz.c -- arbitrary text as JSON of a value and of an item.
 *
 * What is read without a broken rule is canonical, and its JSON reads back to the same bytes. What
 * breaks a rule is at least well-formed enough to be written.
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

struct reading {
    struct json_reader reader;
    struct error rule, err;
};

static void reading_init(struct reading *reading, struct arena *arena, struct bytes text)
{
    json_reader_init(&reading->reader, arena, text, JSON_DEPTH);
    error_init(&reading->rule, arena);
    error_init(&reading->err, arena);
}

/* A failure is either told or the reader's. */
static bool read_value(struct reading *reading, struct buffer *out)
{
    bool ok = value_json_read(&reading->reader, out, &reading->rule, &reading->err);
    assert(ok == (!error_is_set(&reading->err) && !json_failed(&reading->reader)));
    return ok;
}

static void check_value(struct arena *arena, struct bytes text)
{
    struct reading reading;
    struct buffer encoded, written, again;
    struct json_writer writer;
    struct value value;
    buffer_init(&encoded, arena);
    buffer_init(&written, arena);
    buffer_init(&again, arena);
    reading_init(&reading, arena, text);
    if (!read_value(&reading, &encoded))
        return;
    bool broken = error_is_set(&reading.rule);
    assert(broken || value_verify(buffer_bytes(&encoded), NESTING_DEPTH_MAX));
    struct bytes rest = buffer_bytes(&encoded);
    bool opened = value_open(&rest, &value);
    assert(opened && rest.len == 0);
    json_writer_init(&writer, &written);
    value_json_write(&writer, &value);
    if (broken)
        return;
    reading_init(&reading, arena, buffer_bytes(&written));
    bool reads_back = read_value(&reading, &again);
    assert(reads_back && !error_is_set(&reading.rule));
    assert(bytes_equal(buffer_bytes(&encoded), buffer_bytes(&again)));
}

static void check_item(struct arena *arena, struct bytes text)
{
    struct reading reading;
    struct item item, opened, again;
    struct buffer written;
    struct json_writer writer;
    reading_init(&reading, arena, text);
    if (!item_json_read(&reading.reader, arena, &item, &reading.rule, &reading.err))
        return;
    bool opens = item_open(item.encoded, &opened);
    assert(opens);
    if (error_is_set(&reading.rule))
        return;
    bool sound = item_verify(&opened);
    assert(sound);
    buffer_init(&written, arena);
    json_writer_init(&writer, &written);
    item_json_write(&writer, &opened);
    reading_init(&reading, arena, buffer_bytes(&written));
    bool reads_back = item_json_read(&reading.reader, arena, &again, &reading.rule, &reading.err);
    assert(reads_back && bytes_equal(item.encoded, again.encoded));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes text = bytes_of(size == 0 ? (const uint8_t *)"" : data, size);
    check_value(arena, text);
    check_item(arena, text);
    arena_destroy(arena);
    return 0;
}
