/* test_item_reader.c -- what each format reads, the two kinds of bad records, and the bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "format/item_reader.h"
#include "item_fixture.h"
#include "model/key.h"

/* Reads a stream, `step` bytes at a time, into one text: items as JSON, "bad: ..." and
 * "broken: ...", a line each. */
static const char *read_all(struct arena *arena, const struct item_reader_options *options,
                            struct bytes stream, size_t step_size)
{
    struct item_reader *reader = item_reader_create(options);
    struct buffer out;
    size_t at = 0;
    uint64_t index = 0;
    buffer_init(&out, arena);
    for (;;) {
        struct item_record record;
        enum item_reader_step step = item_reader_next(reader, arena, &record);
        if (step == ITEM_READER_INPUT) {
            size_t rest = stream.len - at, size = rest < step_size ? rest : step_size;
            if (size == 0)
                item_reader_end(reader);
            else
                item_reader_feed(reader, bytes_of(stream.data + at, size));
            at += size;
            continue;
        }
        if (step == ITEM_READER_END)
            break;
        assert_int_equal(record.index, index++);
        if (step == ITEM_READER_ITEM)
            buffer_append_bytes(&out, item_fixture_write(arena, &record.item));
        else
            buffer_append_bytes(&out, arena_printf(arena, "%s: %.*s",
                                                   step == ITEM_READER_BAD ? "bad" : "broken",
                                                   BYTES_FMT(record.message)));
        buffer_append_byte(&out, '\n');
    }
    struct item_record record;
    assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_END);
    item_reader_destroy(reader);
    buffer_append_byte(&out, 0);
    return (const char *)out.data;
}

struct reading {
    const char *name, *text, *want;
};

static void check_readings(struct arena *arena, const struct item_reader_options *options,
                           const struct reading *cases, size_t count)
{
    static const size_t steps[] = { 1, 5, 1 << 20 };
    for (size_t i = 0; i < count; i++) {
        for (size_t s = 0; s < COUNT_OF(steps); s++) {
            const char *found = read_all(arena, options, bytes_from_text(cases[i].text), steps[s]);
            if (strcmp(found, cases[i].want) != 0)
                print_message("%s, pieces of %zu\n", cases[i].name, steps[s]);
            assert_string_equal(found, cases[i].want);
        }
    }
}

static void dynamodb_json_has_an_item_in_each_line(void **state)
{
    static const struct reading cases[] = {
        { "nothing", "", "" },
        { "one", "{\"Item\":{\"a\":{\"S\":\"x\"}}}\n", "{\"a\":{\"S\":\"x\"}}\n" },
        { "no newline at the end", "{\"Item\":{}}", "{}\n" },
        { "blank lines and white space", "\n  \r\n{\"Item\":{}} \r\n\n\t{ \"Item\" : {} }\n\n",
          "{}\n{}\n" },
        { "other members", "{\"Keys\":{},\"Item\":{\"a\":{\"N\":\"1\"}},\"x\":[1]}\n",
          "{\"a\":{\"N\":\"1\"}}\n" },
        { "no JSON ends the object", "{\"Item\":{}}\nnonsense\n{\"Item\":{}}\n",
          "{}\nbroken: The record cannot be read: an object was expected\n" },
        { "no Item ends the object", "{\"Keys\":{}}\n{\"Item\":{}}\n",
          "broken: The record cannot be read: it has no Item\n" },
        { "an Item that is no object", "{\"Item\":7}\n{\"Item\":{}}\n",
          "broken: The record cannot be read: it has no Item\n" },
        { "a broken rule does not", "{\"Item\":{\"\":{\"S\":\"x\"}}}\n{\"Item\":{}}\n",
          "bad: Empty attribute name\n{}\n" },
        { "nor does a wrong type", "{\"Item\":{\"a\":{\"S\":7}}}\n{\"Item\":{}}\n",
          "bad: NUMBER_VALUE cannot be converted to String\n{}\n" },
        { "unless the rest is no JSON", "{\"Item\":{\"a\":{\"S\":7}}\n{\"Item\":{}}\n",
          "broken: The record cannot be read: it is not JSON\n" },
        { "two values in a line", "{\"Item\":{}}{\"Item\":{}}\n",
          "broken: The record cannot be read: there is text behind the value\n" },
        { "a byte order mark", "\xEF\xBB\xBF{\"Item\":{}}\n",
          "broken: The record cannot be read: an object was expected\n" },
    };
    const struct item_reader_options options = { .format = ITEM_FORMAT_DYNAMODB_JSON };
    check_readings(*state, &options, cases, COUNT_OF(cases));
}

static void ion_has_structs_in_rows_or_lists(void **state)
{
    static const struct reading cases[] = {
        { "nothing", " // comment\n", "" },
        { "an export's line", "$ion_1_0 {Item:{Id:103.,a:6d2,Ok:false}}\n$ion_1_0 {Item:{}}\n",
          "{\"Id\":{\"N\":\"103\"},\"Ok\":{\"BOOL\":false},\"a\":{\"N\":\"600\"}}\n{}\n" },
        { "JSON's spelling", "{\"Item\": {\"p\": \"ion1\", \"c\": 1.0}}\n",
          "{\"c\":{\"N\":\"1\"},\"p\":{\"S\":\"ion1\"}}\n" },
        { "a list", "$ion_1_0 [ {Item:{a:1}}, {Item:{a:2}},\n {Item:{a:3}} ]",
          "{\"a\":{\"N\":\"1\"}}\n{\"a\":{\"N\":\"2\"}}\n{\"a\":{\"N\":\"3\"}}\n" },
        { "records over several lines",
          "{\n  Item: {\n    a: \"x\", // one\n    b: /* {{ */ 2,\n"
          "  },\n}\n",
          "{\"a\":{\"S\":\"x\"},\"b\":{\"N\":\"2\"}}\n" },
        { "sets",
          "{Item:{s:$dynamodb_SS::[\"b\",\"a\"],n:$dynamodb_NS::[1d1,2.],"
          "b:$dynamodb_BS::[{{AQ==}},{{ AA = = }}]}}",
          "{\"b\":{\"BS\":[\"AA==\",\"AQ==\"]},\"n\":{\"NS\":[\"2\",\"10\"]},\"s\":{\"SS\":[\"a\","
          "\"b\"]}}\n" },
        { "containers", "{Item:{l:[1,[],{}],m:{'a b':null,\"c\":null.string}}}",
          "{\"l\":{\"L\":[{\"N\":\"1\"},{\"L\":[]},{\"M\":{}}]},\"m\":{\"M\":{\"a b\":{\"NULL\":"
          "true},\"c\":{\"NULL\":true}}}}\n" },
        { "brackets in strings, symbols and blobs",
          "{Item:{'}':\"}\\\"}\",a:'''}'}''' '''x''',b:{{ab//cd==}}}}\n{Item:{'':\"e\"}}",
          "bad: Invalid last non-pad Base64 character dectected\nbad: Empty attribute name\n" },
        { "escapes",
          "{Item:{a:\"\\x41\\u00e9\\U0001F600\\ud83d\\ude00\\n\\/\\'\\?\\\nx\",b:\"\\0\\a\\v\"}}",
          "{\"a\":{\"S\":\"A\xc3\xa9\xf0\x9f\x98\x80\xf0\x9f\x98\x80\\n/'?x\"},\"b\":{\"S\":"
          "\"\\u0000\\u0007\\u000b\"}}\n" },
        { "numbers", "{Item:{a:-1_000,b:1.50d-2,c:2.5e3,d:0.,e:-0d5,f:12.}}",
          "{\"a\":{\"N\":\"-1000\"},\"b\":{\"N\":\"0.015\"},\"c\":{\"N\":\"2500\"},\"d\":{\"N\":"
          "\"0\"},\"e\":{\"N\":\"0\"},\"f\":{\"N\":\"12\"}}\n" },
        { "a broken rule does not end the object", "{Item:{a:$dynamodb_SS::[]}}{Item:{}}",
          "bad: One or more parameter values were invalid: An string set  may not be empty\n{}\n" },
        { "types that items do not have",
          "{Item:{a:2007-02-23T12:14Z}}{Item:{a:word}}{Item:{a:0x1F"
          "}}{Item:{a:nan}}{Item:{a:+inf}}{Item:{}}",
          "bad: One or more parameter values were invalid: an item cannot hold a value of this Ion "
          "type: timestamp, hexadecimal or binary integer, or infinity\n"
          "bad: One or more parameter values were invalid: an item cannot hold a value of this Ion "
          "type: symbol\n"
          "bad: One or more parameter values were invalid: an item cannot hold a value of this Ion "
          "type: timestamp, hexadecimal or binary integer, or infinity\n"
          "bad: One or more parameter values were invalid: an item cannot hold a value of this Ion "
          "type: float nan\n"
          "bad: One or more parameter values were invalid: an item cannot hold a value of this Ion "
          "type: timestamp, hexadecimal or binary integer, or infinity\n{}\n" },
        { "no Item", "{Record:{}}{Item:{}}",
          "broken: The record cannot be read: it has no Item\n" },
        { "no Ion", "{Item:{}}\nnonsense\n{Item:{}}",
          "{}\nbroken: The record cannot be read: it is not Ion\n" },
        { "cut", "{Item:{a:1}", "broken: The record cannot be read: it is not Ion\n" },
        { "cut in a list", "[{Item:{}}", "{}\nbroken: The record cannot be read: it is not Ion\n" },
        { "a missing comma", "{Item:{a:1 b:2}}",
          "broken: The record cannot be read: a comma is missing\n" },
        { "a clob", "{Item:{a:{{\"x\"}}}}", "broken: The record cannot be read: it is not Ion\n" },
        { "an s-expression", "{Item:{a:(1 2)}}",
          "broken: The record cannot be read: an s-expression is no part of an item\n" },
    };
    const struct item_reader_options options = { .format = ITEM_FORMAT_ION };
    check_readings(*state, &options, cases, COUNT_OF(cases));
}

static void csv_rows_have_the_types_of_keys_and_no_empty_columns(void **state)
{
    static const struct key_attribute typed[] = {
        { .name = { (const uint8_t *)"n", 1 }, .type = VALUE_N },
        { .name = { (const uint8_t *)"b", 1 }, .type = VALUE_B },
    };
    static const struct reading cases[] = {
        { "nothing", "", "" },
        { "a header alone", "a,b\n", "" },
        { "strings and known types", "a,n,b\nx,1.50,AQ==\r\n",
          "{\"a\":{\"S\":\"x\"},\"b\":{\"B\":\"AQ==\"},\"n\":{\"N\":\"1.5\"}}\n" },
        { "empty columns", "a,n,c\n,7,\"\"\n", "{\"n\":{\"N\":\"7\"}}\n" },
        { "quotes", "\"a\",\"c,d\"\n\"x \"\"y\"\"\",\"1\n2\"\n",
          "{\"a\":{\"S\":\"x \\\"y\\\"\"},\"c,d\":{\"S\":\"1\\n2\"}}\n" },
        { "backslashes mean nothing", "a\n\\n\n", "{\"a\":{\"S\":\"\\\\n\"}}\n" },
        { "a byte order mark",
          "\xEF\xBB\xBF"
          "a\nx",
          "{\"a\":{\"S\":\"x\"}}\n" },
        { "blank lines", "\na\n\nx\n \ny\n", "{\"a\":{\"S\":\"x\"}}\n{\"a\":{\"S\":\"y\"}}\n" },
        { "another number of columns", "a,c\nx\nx,y,z\nx,y\n",
          "bad: One or more parameter values were invalid: The row has 1 columns, but the header "
          "has 2\nbad: One or more parameter values were invalid: The row has 3 columns, but the "
          "header has 2\n{\"a\":{\"S\":\"x\"},\"c\":{\"S\":\"y\"}}\n" },
        { "no number", "n\nx\n1\n",
          "bad: The parameter cannot be converted to a numeric value: x\n{\"n\":{\"N\":\"1\"}}\n" },
        { "a bare quote", "a\nx\"y\nz\n",
          "broken: The record cannot be read: a quote stands in a field that is not quoted\n" },
        { "text behind a quoted field", "a\n\"x\"y\nz\n",
          "broken: The record cannot be read: text follows a quoted field\n" },
        { "no closing quote", "a\n\"x\nz\n",
          "broken: The record cannot be read: a quoted field has no end\n" },
        { "no UTF-8", "a\n\xff\n", "broken: The record cannot be read: a field is not UTF-8\n" },
        { "a header that is no CSV", "a\"\nx\n",
          "broken: The record cannot be read: a quote stands in a field that is not quoted\n" },
    };
    const struct item_reader_options options = { .format = ITEM_FORMAT_CSV,
                                                 .typed = typed,
                                                 .typed_count = COUNT_OF(typed) };
    check_readings(*state, &options, cases, COUNT_OF(cases));
    static const struct bytes header[] = { { (const uint8_t *)"h", 1 },
                                           { (const uint8_t *)"n", 1 } };
    static const struct reading given[] = {
        { "the first row is data", "x;1\ny;2\n",
          "{\"h\":{\"S\":\"x\"},\"n\":{\"N\":\"1\"}}\n{\"h\":{\"S\":\"y\"},\"n\":{\"N\":\"2\"}}"
          "\n" },
    };
    struct item_reader_options named = options;
    named.csv_delimiter = ';';
    named.csv_header = header;
    named.csv_header_count = COUNT_OF(header);
    check_readings(*state, &named, given, COUNT_OF(given));
}

static void plain_json_gets_its_types_from_its_values(void **state)
{
    static const struct key_attribute typed[] = {
        { .name = { (const uint8_t *)"n", 1 }, .type = VALUE_N },
        { .name = { (const uint8_t *)"b", 1 }, .type = VALUE_B },
    };
    static const struct reading cases[] = {
        { "all",
          "{\"s\":\"x\",\"i\":1e2,\"t\":true,\"z\":null,\"l\":[1,\"a\"],\"m\":{\"n\":\"5\"}}",
          "{\"i\":{\"N\":\"100\"},\"l\":{\"L\":[{\"N\":\"1\"},{\"S\":\"a\"}]},\"m\":{\"M\":{\"n\":{"
          "\"S\":\"5\"}}},\"s\":{\"S\":\"x\"},\"t\":{\"BOOL\":true},\"z\":{\"NULL\":true}}\n" },
        { "known types", "{\"n\":\"7\",\"b\":\"AQ==\"}\n",
          "{\"b\":{\"B\":\"AQ==\"},\"n\":{\"N\":\"7\"}}\n" },
        { "a byte order mark", "\xEF\xBB\xBF{}\n", "{}\n" },
        { "an array", "[1]\n{}\n", "broken: The record cannot be read: it is not a JSON object\n" },
        { "too many digits", "{\"n\":123456789012345678901234567890123456789}\n{}\n",
          "bad: Attempting to store more than 38 significant digits in a Number\n{}\n" },
    };
    const struct item_reader_options options = { .format = ITEM_FORMAT_PLAIN_JSON,
                                                 .typed = typed,
                                                 .typed_count = COUNT_OF(typed) };
    check_readings(*state, &options, cases, COUNT_OF(cases));
}

/* --- Bounds --- */

static void nesting_of_32_is_read_and_33_breaks_the_rule(void **state)
{
    struct arena *arena = *state;
    for (unsigned format = 0; format < ITEM_FORMAT_COUNT; format++) {
        for (unsigned lists = 31; lists <= 32; lists++) {
            struct buffer text;
            buffer_init(&text, arena);
            bool json = format == ITEM_FORMAT_DYNAMODB_JSON, ion = format == ITEM_FORMAT_ION;
            if (format == ITEM_FORMAT_CSV)
                continue;
            buffer_append_bytes(&text, json  ? BYTES("{\"Item\":{\"a\":")
                                       : ion ? BYTES("{Item:{a:")
                                             : BYTES("{\"a\":"));
            for (unsigned i = 0; i < lists; i++)
                buffer_append_bytes(&text, json ? BYTES("{\"L\":[") : BYTES("["));
            buffer_append_bytes(&text, json ? BYTES("{\"N\":\"1\"}") : BYTES("1"));
            for (unsigned i = 0; i < lists; i++)
                buffer_append_bytes(&text, json ? BYTES("]}") : BYTES("]"));
            buffer_append_bytes(&text, json || ion ? BYTES("}}") : BYTES("}"));
            struct item_reader_options options = { .format = (enum item_format)format };
            const char *found = read_all(arena, &options, buffer_bytes(&text), 1000);
            assert_int_equal(strncmp(found, "bad: Nesting Levels", 19) == 0, lists == 32);
            assert_true(lists == 32 || found[0] == '{');
        }
    }
}

static void a_record_above_the_bound_ends_the_stream(void **state)
{
    struct arena *arena = *state;
    for (int over = 0; over <= 1; over++) {
        size_t len = ITEM_READER_RECORD_SIZE_MAX + (size_t)over;
        uint8_t *text = malloc(len);
        memset(text, ' ', len);
        memcpy(text, "{\"Item\":{}}", 11);
        text[len - 1] = '\n';
        const struct item_reader_options options = { .format = ITEM_FORMAT_DYNAMODB_JSON };
        assert_string_equal(read_all(arena, &options, bytes_of(text, len), 1 << 16),
                            over ? "broken: The record cannot be read: it is larger than 16 MB\n"
                                 : "{}\n");
        free(text);
    }
}

static void a_row_above_the_bound_ends_the_stream(void **state)
{
    struct arena *arena = *state;
    for (int over = 0; over <= 1; over++) {
        /* The header has its own line. A row of which nothing is left but its delimiter. */
        size_t len = ITEM_READER_ROW_SIZE_MAX + (size_t)over;
        uint8_t *text = malloc(4 + len);
        memset(text, 'x', 4 + len);
        memcpy(text, "a,b\n", 4);
        text[4 + len - 2] = ',';
        text[4 + len - 1] = '\n';
        const struct item_reader_options options = { .format = ITEM_FORMAT_CSV };
        const char *found = read_all(arena, &options, bytes_of(text, 4 + len), 1 << 16);
        assert_string_equal(found, over ? "broken: The record cannot be read: it is larger than 2 "
                                          "MB\n"
                                        : "bad: Item size has exceeded the maximum allowed size\n");
        free(text);
    }
}

static bool keep(void *context, struct bytes piece)
{
    buffer_append_bytes(context, piece);
    return true;
}

static struct bytes pack(struct arena *arena, enum compressor_kind kind, struct bytes text)
{
    struct buffer out;
    buffer_init(&out, arena);
    struct compressor *compressor = compressor_create(kind, keep, &out);
    assert_true(compressor_write(compressor, text) && compressor_finish(compressor));
    compressor_destroy(compressor);
    return buffer_bytes(&out);
}

/* So that a server can stop within a few bytes that stand for gigabytes of nothing. */
static void the_caller_has_its_turn_where_no_record_is_found(void **state)
{
    struct arena *arena = *state;
    enum { SIZE = 2 * ITEM_READER_TURN_SIZE + 1000 };
    static const enum item_format formats[] = { ITEM_FORMAT_DYNAMODB_JSON, ITEM_FORMAT_ION };
    static const char *const lasts[] = { "{\"Item\":{}}\n", "{Item:{}}" };
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        size_t last_size = strlen(lasts[i]);
        uint8_t *text = arena_alloc(arena, SIZE + last_size);
        memset(text, '\n', SIZE);
        memcpy(text + SIZE, lasts[i], last_size);
        struct item_reader_options options = { .format = formats[i],
                                               .compression = COMPRESSOR_GZIP };
        struct item_reader *reader = item_reader_create(&options);
        struct item_record record;
        item_reader_feed(reader, pack(arena, COMPRESSOR_GZIP, bytes_of(text, SIZE + last_size)));
        assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_PAUSED);
        assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_PAUSED);
        assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_ITEM);
        assert_int_equal(record.index, 0);
        assert_int_equal(item_reader_offset(reader), SIZE + last_size);
        item_reader_destroy(reader);
    }
}

static void compressed_streams_are_read_and_damaged_ones_are_one_error(void **state)
{
    struct arena *arena = *state;
    struct bytes text = BYTES("{\"Item\":{}}\n{\"Item\":{}}\n");
    static const enum compressor_kind kinds[] = { COMPRESSOR_GZIP, COMPRESSOR_ZSTD };
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        struct item_reader_options options = { .compression = kinds[k] };
        struct bytes packed = pack(arena, kinds[k], text);
        for (size_t step = 1; step <= packed.len; step += 13)
            assert_string_equal(read_all(arena, &options, packed, step), "{}\n{}\n");
        const char *damaged = "broken: The record cannot be read: the compressed data is damaged\n";
        assert_string_equal(read_all(arena, &options, text, 100), damaged);
        assert_string_equal(read_all(arena, &options, BYTES(""), 100), "");
        assert_string_equal(read_all(arena, &options, pack(arena, kinds[k], BYTES("")), 9), "");
        struct bytes cut = bytes_of(packed.data, packed.len - 3);
        const char *found = read_all(arena, &options, cut, 100);
        assert_non_null(strstr(found, damaged));
        options.compression = COMPRESSOR_NONE;
        assert_int_equal(strncmp(read_all(arena, &options, packed, 100), "broken: ", 8), 0);
    }
}

static void output_that_fills_the_window_exactly_is_read_to_the_end(void **state)
{
    struct arena *arena = *state;
    for (size_t extra = 0; extra < 3; extra++) {
        size_t len = 1024 * 1024 + extra;
        uint8_t *text = arena_alloc(arena, len);
        memset(text, ' ', len);
        memcpy(text, "{\"Item\":{}}", 11);
        for (int k = COMPRESSOR_NONE; k <= COMPRESSOR_ZSTD; k++) {
            struct item_reader_options options = { .compression = (enum compressor_kind)k };
            struct bytes packed = pack(arena, options.compression, bytes_of(text, len));
            assert_string_equal(read_all(arena, &options, packed, packed.len), "{}\n");
        }
    }
}

static void a_resumed_stream_passes_over_what_was_read(void **state)
{
    struct arena *arena = *state;
    static const struct {
        enum item_format format;
        const char *text;
    } cases[] = {
        { ITEM_FORMAT_DYNAMODB_JSON,
          "{\"Item\":{\"a\":{\"S\":\"0\"}}}\n\n{\"Item\":{\"a\":{\"S\":\"1\"}}}\n{\"Item\":{\"a\":{"
          "\"S\":\"2\"}}}\n" },
        { ITEM_FORMAT_ION, "[{Item:{a:\"0\"}},{Item:{a:\"1\"}},{Item:{a:\"2\"}}]" },
        { ITEM_FORMAT_CSV, "a\n0\n1\n2\n" },
        { ITEM_FORMAT_PLAIN_JSON, "{\"a\":\"0\"}\n{\"a\":\"1\"}\n{\"a\":\"2\"}\n" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item_reader_options options = { .format = cases[i].format };
        struct item_reader *reader = item_reader_create(&options);
        struct item_record record;
        item_reader_resume(reader, 2);
        assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_INPUT);
        item_reader_feed(reader, bytes_from_text(cases[i].text));
        assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_ITEM);
        assert_int_equal(record.index, 2);
        struct bytes found = item_fixture_write(arena, &record.item);
        assert_true(bytes_equal(found, BYTES("{\"a\":{\"S\":\"2\"}}")));
        assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_INPUT);
        item_reader_end(reader);
        assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_END);
        assert_int_equal(item_reader_offset(reader), strlen(cases[i].text));
        item_reader_destroy(reader);
    }
}

static void conditions_stand_beside_the_item(void **state)
{
    struct arena *arena = *state;
    static const struct {
        enum item_format format;
        const char *text;
    } cases[] = {
        { ITEM_FORMAT_DYNAMODB_JSON,
          "{\"Item\":{\"a\":{\"S\":\"0\"}},\"ConditionExpression\":\"#v < :v\","
          "\"ExpressionAttributeNames\":{\"#v\":\"ver\"},\"ExpressionAttributeValues\":{\":v\":{"
          "\"N\":\"3\"}}}\n{\"Item\":{}}\n" },
        { ITEM_FORMAT_ION,
          "{Item:{a:\"0\"},ConditionExpression:\"#v < :v\",ExpressionAttributeNames:{'#v':\"ver\"},"
          "ExpressionAttributeValues:{':v':3}}{Item:{}}" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int on = 0; on <= 1; on++) {
            struct item_reader_options options = { .format = cases[i].format, .conditions = on };
            struct item_reader *reader = item_reader_create(&options);
            struct item_record record;
            assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_INPUT);
            item_reader_feed(reader, bytes_from_text(cases[i].text));
            assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_ITEM);
            if (on) {
                assert_true(bytes_equal(record.condition, BYTES("#v < :v")));
                assert_true(bytes_equal(record.condition_names, BYTES("{\"#v\":\"ver\"}")));
                assert_true(bytes_equal(record.condition_values, BYTES("{\":v\":{\"N\":\"3\"}}")));
            } else {
                assert_null(record.condition.data);
            }
            assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_ITEM);
            assert_null(record.condition.data);
            item_reader_destroy(reader);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(dynamodb_json_has_an_item_in_each_line),
        ARENA_TEST(ion_has_structs_in_rows_or_lists),
        ARENA_TEST(csv_rows_have_the_types_of_keys_and_no_empty_columns),
        ARENA_TEST(plain_json_gets_its_types_from_its_values),
        ARENA_TEST(nesting_of_32_is_read_and_33_breaks_the_rule),
        ARENA_TEST(a_record_above_the_bound_ends_the_stream),
        ARENA_TEST(a_row_above_the_bound_ends_the_stream),
        ARENA_TEST(compressed_streams_are_read_and_damaged_ones_are_one_error),
        ARENA_TEST(the_caller_has_its_turn_where_no_record_is_found),
        ARENA_TEST(output_that_fills_the_window_exactly_is_read_to_the_end),
        ARENA_TEST(a_resumed_stream_passes_over_what_was_read),
        ARENA_TEST(conditions_stand_beside_the_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
