/* bench_model.c -- the cost of numbers and of a typical item in every direction, in nanoseconds.
 *
 * One line per measure, see measure.h.
 */
#include <stdlib.h>
#include "base/arena.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/key.h"
#include "model/number.h"
#include "model/value_json.h"
#include "measure.h"

enum { DEPTH_MAX = 72 };

/* The item of bench_json.c's PutItem. */
static const char item_text[] =
    "{\"customer_id\":{\"S\":\"customer#0000482913\"},"
    "\"order_id\":{\"S\":\"order#2026-11-15T05:40:04.123Z#7f3a\"},"
    "\"status\":{\"S\":\"SHIPPED\"},\"total\":{\"N\":\"1284.50\"},\"version\":{\"N\":\"17\"},"
    "\"paid\":{\"BOOL\":true},\"note\":{\"S\":\"leave at the door, ring twice\"},"
    "\"tags\":{\"SS\":[\"gift\",\"express\",\"fragile\"]},"
    "\"address\":{\"M\":{\"street\":{\"S\":\"12 Harbour Lane\"},\"city\":{\"S\":\"Aarhus\"},"
    "\"zip\":{\"S\":\"8000\"}}},\"checksum\":{\"B\":\"3q2+7wABAgM=\"}}";

struct bench {
    struct arena *arena; /* Reset after every call. */
    struct item item;
    uint8_t number[NUMBER_ENCODED_MAX];
    struct bytes number_text;
    struct bytes number_encoded;
};

static size_t encode_number(void *context)
{
    struct bench *bench = context;
    struct error err;
    size_t size;
    error_init(&err, bench->arena);
    if (!number_encode_text(bench->number_text, bench->number, &size, &err))
        abort();
    bench->number_encoded = bytes_of(bench->number, size);
    return size;
}

static size_t parse_number(void *context)
{
    struct bench *bench = context;
    struct error err;
    struct number number;
    error_init(&err, bench->arena);
    if (!number_parse(bench->number_text, &number, &err))
        abort();
    return (size_t)number.coefficient;
}

static size_t format_number(void *context)
{
    struct bench *bench = context;
    char text[NUMBER_TEXT_MAX];
    return number_format_encoded(bench->number_encoded, text);
}

static size_t add_numbers(void *context)
{
    struct bench *bench = context;
    static const struct number one = { .coefficient = 1 };
    struct error err;
    struct number number, sum;
    size_t size;
    error_init(&err, bench->arena);
    if (!number_decode(bench->number_encoded, &number, &size) ||
        !number_add(&number, &one, &sum, &err))
        abort();
    return number_encode(&sum, bench->number);
}

static struct item read_item(struct arena *arena)
{
    struct json_reader reader;
    struct item item;
    struct error rule, err;
    json_reader_init(&reader, arena, bytes_of(item_text, sizeof item_text - 1), DEPTH_MAX);
    error_init(&rule, arena);
    error_init(&err, arena);
    if (!item_json_read(&reader, arena, &item, &rule, &err) || error_is_set(&rule))
        abort();
    return item;
}

static size_t read_item_json(void *context)
{
    struct bench *bench = context;
    return read_item(bench->arena).size;
}

static size_t write_item_json(void *context)
{
    struct bench *bench = context;
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, bench->arena);
    json_writer_init(&writer, &out);
    item_json_write(&writer, &bench->item);
    return out.len;
}

static size_t open_item(void *context)
{
    struct bench *bench = context;
    struct item item;
    if (!item_open(bench->item.encoded, &item))
        abort();
    return item.count;
}

static size_t find_attribute(void *context)
{
    struct bench *bench = context;
    struct value value;
    if (!item_find(&bench->item, BYTES("status"), &value))
        abort();
    return value.data.len;
}

static size_t encode_key(void *context)
{
    struct bench *bench = context;
    static const struct key_schema schema = { { BYTES("customer_id"), VALUE_S },
                                              { BYTES("order_id"), VALUE_S },
                                              true };
    struct buffer hash, range;
    struct error err;
    buffer_init(&hash, bench->arena);
    buffer_init(&range, bench->arena);
    error_init(&err, bench->arena);
    if (!key_from_item(&schema, &bench->item, &hash, &range, &err))
        abort();
    return hash.len + range.len;
}

int main(void)
{
    struct arena *kept = arena_create();
    struct bench bench = { .arena = arena_create(), .item = read_item(kept) };

    bench.number_text = BYTES("1700000000123");
    measure("number_encode_text_13_digits", bench.arena, encode_number, &bench);
    measure("number_parse_13_digits", bench.arena, parse_number, &bench);
    measure("number_format_encoded_13_digits", bench.arena, format_number, &bench);
    measure("number_decode_add_encode_13_digits", bench.arena, add_numbers, &bench);
    bench.number_text = BYTES("-1234567890123456789.1234567890123456789");
    measure("number_encode_text_38_digits", bench.arena, encode_number, &bench);
    measure("number_parse_38_digits", bench.arena, parse_number, &bench);
    measure("number_format_encoded_38_digits", bench.arena, format_number, &bench);
    measure("item_json_read_500B", bench.arena, read_item_json, &bench);
    measure("item_json_write_500B", bench.arena, write_item_json, &bench);
    measure("item_open_300B", bench.arena, open_item, &bench);
    measure("item_find_of_10", bench.arena, find_attribute, &bench);
    measure("key_from_item_S_S", bench.arena, encode_key, &bench);
    arena_destroy(bench.arena);
    arena_destroy(kept);
    return 0;
}
