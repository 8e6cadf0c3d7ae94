/* test_writer.c -- commas, escapes and numbers, compared byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "json/reader.h"
#include "json/writer.h"

struct fixture {
    struct arena *arena;
    struct buffer out;
    struct json_writer writer;
};

static void start(struct fixture *fixture)
{
    buffer_init(&fixture->out, fixture->arena);
    json_writer_init(&fixture->writer, &fixture->out);
}

static void assert_written(struct fixture *fixture, struct bytes want)
{
    struct bytes got = buffer_bytes(&fixture->out);
    if (!bytes_equal(got, want))
        fail_msg("wrote %.*s, want %.*s", BYTES_FMT(got), BYTES_FMT(want));
}

static const struct {
    const char *rule;
    struct bytes value, want;
} strings[] = {
    { "empty", BYTES(""), BYTES("\"\"") },
    { "plain", BYTES("abc"), BYTES("\"abc\"") },
    { "quote", BYTES("\""), BYTES("\"\\\"\"") },
    { "backslash", BYTES("\\"), BYTES("\"\\\\\"") },
    { "a slash has no escape", BYTES("/"), BYTES("\"/\"") },
    { "backspace", BYTES("\b"), BYTES("\"\\b\"") },
    { "form feed", BYTES("\f"), BYTES("\"\\f\"") },
    { "line feed", BYTES("\n"), BYTES("\"\\n\"") },
    { "carriage return", BYTES("\r"), BYTES("\"\\r\"") },
    { "tab", BYTES("\t"), BYTES("\"\\t\"") },
    { "the first control character", BYTES("\0"), BYTES("\"\\u0000\"") },
    { "a control character without a letter", BYTES("\v"), BYTES("\"\\u000b\"") },
    { "the last control character", BYTES("\x1F"), BYTES("\"\\u001f\"") },
    { "U+007F has no escape", BYTES("\x7F"), BYTES("\"\x7F\"") },
    { "UTF-8 has no escape", BYTES("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
      BYTES("\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"") },
    { "U+2028 has no escape", BYTES("\xE2\x80\xA8"), BYTES("\"\xE2\x80\xA8\"") },
    { "escapes first and last", BYTES("\nabc\n"), BYTES("\"\\nabc\\n\"") },
    { "escapes in a row", BYTES("\"\\\""), BYTES("\"\\\"\\\\\\\"\"") },
    { "an escape behind a long run", BYTES("0123456789abcdef0123456789abcdef\"x"),
      BYTES("\"0123456789abcdef0123456789abcdef\\\"x\"") },
    { "a long run behind an escape", BYTES("\t0123456789abcdef0123456789abcdef"),
      BYTES("\"\\t0123456789abcdef0123456789abcdef\"") },
};

static void strings_have_the_fewest_escapes(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(strings); i++) {
        start(fixture);
        json_write_string(&fixture->writer, strings[i].value);
        assert_written(fixture, strings[i].want);
    }
}

static void names_have_the_same_escapes(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(strings); i++) {
        start(fixture);
        json_write_name_bytes(&fixture->writer, strings[i].value);
        struct bytes got = buffer_bytes(&fixture->out);
        assert_int_equal(got.data[got.len - 1], ':');
        fixture->out.len--;
        assert_written(fixture, strings[i].want);
    }
}

static void a_frame_stands_around_the_same_escapes(void **state)
{
    struct fixture *fixture = *state;
    static const struct json_frame frame = JSON_FRAME("12345678", "abcdefgh");
    for (size_t i = 0; i < COUNT_OF(strings); i++) {
        struct bytes want = bytes_of(strings[i].want.data + 1, strings[i].want.len - 2);
        start(fixture);
        json_write_framed(&fixture->writer, &frame, strings[i].value);
        assert_written(fixture,
                       arena_printf(fixture->arena, "12345678%.*sabcdefgh", BYTES_FMT(want)));
    }
}

typedef void member_writer(struct json_writer *writer, struct bytes name,
                           const struct json_frame *frame, struct bytes value,
                           const uint8_t *readable);

static void check_member(struct fixture *fixture, member_writer *write, size_t n, size_t v,
                         struct bytes behind)
{
    static const struct json_frame frame = JSON_FRAME("\":{\"S\":\"", "\"}");
    struct bytes name = strings[n].value, value = strings[v].value;
    const struct bytes parts[] = { name, value, behind };
    struct bytes all = arena_join(fixture->arena, parts, COUNT_OF(parts)); /* Poison follows it. */
    start(fixture);
    json_open_object(&fixture->writer);
    json_write_name(&fixture->writer, "a");
    json_write_integer(&fixture->writer, 1);
    write(&fixture->writer, bytes_of(all.data, name.len), &frame,
          bytes_of(all.data + name.len, value.len), all.data + all.len);
    json_write_name(&fixture->writer, "b");
    json_write_integer(&fixture->writer, 2);
    json_close_object(&fixture->writer);
    assert_written(fixture, arena_printf(fixture->arena, "{\"a\":1,%.*s:{\"S\":%.*s},\"b\":2}",
                                         BYTES_FMT(strings[n].want), BYTES_FMT(strings[v].want)));
}

static void a_member_is_a_name_and_a_framed_value(void **state)
{
    const struct bytes block = BYTES("\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\");
    assert_int_equal(block.len, JSON_BLOCK_SIZE);
    for (size_t n = 0; n < COUNT_OF(strings); n++) {
        for (size_t v = 0; v < COUNT_OF(strings); v++) {
            check_member(*state, json_write_framed_member, n, v, BYTES(""));
            check_member(*state, json_write_framed_member, n, v, BYTES("x"));
            check_member(*state, json_write_framed_member, n, v, block);
            check_member(*state, json_write_made_member, n, v, block);
        }
    }
}

static void every_byte_below_128_reads_back(void **state)
{
    struct fixture *fixture = *state;
    uint8_t all[128];
    struct json_reader reader;
    struct bytes back;
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (uint8_t)i;
    json_write_string(&fixture->writer, bytes_of(all, sizeof all));
    json_reader_init(&reader, fixture->arena, buffer_bytes(&fixture->out), 0);
    assert_true(json_read_string(&reader, &back) && json_finish(&reader));
    assert_true(bytes_equal(back, bytes_of(all, sizeof all)));
}

static void a_string_far_larger_than_the_buffer_is_written_whole(void **state)
{
    struct fixture *fixture = *state;
    enum { SIZE = 400 * 1024 };
    uint8_t *value = arena_alloc(fixture->arena, SIZE);
    struct json_reader reader;
    struct bytes back;
    for (size_t i = 0; i < SIZE; i++)
        value[i] = i % 7 == 0 ? 1 : 'a';
    json_write_string(&fixture->writer, bytes_of(value, SIZE));
    json_reader_init(&reader, fixture->arena, buffer_bytes(&fixture->out), 0);
    assert_true(json_read_string(&reader, &back) && json_finish(&reader));
    assert_true(bytes_equal(back, bytes_of(value, SIZE)));
}

/* Behind the buffer's capacity lies poison; each value in turn ends at each place before it. */
static void every_value_makes_room_for_itself(void **state)
{
    struct fixture *fixture = *state;
    struct json_writer *writer = &fixture->writer;
    static const struct json_frame frame = JSON_FRAME("12345678", "abcdefgh");
    for (size_t filled = 0; filled < 600; filled++) {
        for (int kind = 0; kind < 10; kind++) {
            start(fixture);
            memset(buffer_reserve(&fixture->out, filled), ' ', filled);
            fixture->out.len = filled;
            json_write_null(writer);
            if (kind == 0)
                json_open_object(writer);
            else if (kind == 1)
                json_write_name(writer, "name");
            else if (kind == 2)
                json_write_name_bytes(writer, BYTES("name"));
            else if (kind == 3)
                json_write_string(writer, BYTES("value"));
            else if (kind == 4)
                json_write_string(writer, BYTES("\x01\n\"x"));
            else if (kind == 5)
                json_write_base64(writer, BYTES("value"));
            else if (kind == 6)
                json_write_integer(writer, INT64_MIN);
            else if (kind == 7)
                json_write_framed(writer, &frame, BYTES("value"));
            else if (kind == 8)
                json_write_framed(writer, &frame, BYTES("\x01\n\"x"));
            else
                json_close_array(writer);
            assert_true(fixture->out.len > filled + 4);
            assert_true(fixture->out.len <= fixture->out.capacity);
        }
        arena_reset(fixture->arena);
    }
}

static void commas_stand_between_members_and_elements_only(void **state)
{
    struct fixture *fixture = *state;
    struct json_writer *writer = &fixture->writer;
    json_open_object(writer);
    json_write_name(writer, "a");
    json_open_array(writer);
    json_close_array(writer);
    json_write_name(writer, "b");
    json_open_array(writer);
    json_write_integer(writer, 1);
    json_write_text(writer, "x");
    json_write_bool(writer, true);
    json_write_bool(writer, false);
    json_write_null(writer);
    json_write_base64(writer, BYTES("fo"));
    json_write_seconds(writer, 1500);
    json_write_half_units(writer, 1);
    json_write_raw(writer, BYTES("[9]"));
    json_open_object(writer);
    json_close_object(writer);
    json_open_array(writer);
    json_close_array(writer);
    json_close_array(writer);
    json_write_name_bytes(writer, BYTES("c"));
    json_open_object(writer);
    json_write_name(writer, "d");
    json_write_null(writer);
    json_write_name_bytes(writer, BYTES("e"));
    json_write_null(writer);
    json_close_object(writer);
    json_close_object(writer);
    assert_written(fixture,
                   BYTES("{\"a\":[],\"b\":[1,\"x\",true,false,null,\"Zm8=\",1.5,0.5,[9],{},[]],"
                         "\"c\":{\"d\":null,\"e\":null}}"));
}

static const struct {
    int64_t value;
    const char *want;
} integers[] = {
    { 0, "0" },
    { 7, "7" },
    { 10, "10" },
    { -1, "-1" },
    { -10, "-10" },
    { 409600, "409600" },
    { INT64_MAX, "9223372036854775807" },
    { INT64_MIN, "-9223372036854775808" },
};

static void integers_are_written_in_full(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(integers); i++) {
        start(fixture);
        json_write_integer(&fixture->writer, integers[i].value);
        assert_written(fixture, bytes_from_text(integers[i].want));
    }
}

static const struct {
    int64_t milliseconds;
    const char *want;
} times[] = {
    { 1700000000123, "1700000000.123" },
    { 1700000000120, "1700000000.12" },
    { 1700000000100, "1700000000.1" },
    { 1700000000000, "1700000000" },
    { 1700000000001, "1700000000.001" },
    { 1700000000010, "1700000000.01" },
    { 1700000000101, "1700000000.101" },
    { 0, "0" },
    { 1, "0.001" },
    { 999, "0.999" },
    { 1000, "1" },
    { -1, "-0.001" },
    { -1500, "-1.5" },
    { INT64_MAX, "9223372036854775.807" },
    { INT64_MIN, "-9223372036854775.808" },
};

static void seconds_have_up_to_three_decimals_without_trailing_zeros(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        start(fixture);
        json_write_seconds(&fixture->writer, times[i].milliseconds);
        assert_written(fixture, bytes_from_text(times[i].want));
    }
}

static const struct {
    double value;
    const char *want;
} doubles[] = {
    { 0, "0.0" },
    { -0.0, "-0.0" },
    { 7, "7.0" },
    { -2.5, "-2.5" },
    { 0.1, "0.1" },
    { 0.1 + 0.2, "0.30000000000000004" },
    { 1e15, "1e+15" },
    { 123456789012345, "123456789012345.0" },
    { 5e-324, "4.94065645841247e-324" },
    { 1.7976931348623157e308, "1.7976931348623157e+308" },
    { -1.7976931348623157e308, "-1.7976931348623157e+308" },
};

static void doubles_read_back_as_themselves(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(doubles); i++) {
        start(fixture);
        json_write_double(&fixture->writer, doubles[i].value);
        assert_written(fixture, bytes_from_text(doubles[i].want));
        assert_true(strtod(doubles[i].want, NULL) == doubles[i].value);
    }
}

static const struct {
    int64_t half_units;
    const char *want;
} units[] = {
    { 0, "0.0" },
    { 1, "0.5" },
    { 2, "1.0" },
    { 3, "1.5" },
    { 20, "10.0" },
    { 80001, "40000.5" },
    { INT64_MAX, "4611686018427387903.5" },
};

static void halves_always_have_one_decimal(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        start(fixture);
        json_write_half_units(&fixture->writer, units[i].half_units);
        assert_written(fixture, bytes_from_text(units[i].want));
    }
}

static void base64_is_a_quoted_string(void **state)
{
    struct fixture *fixture = *state;
    json_write_base64(&fixture->writer, BYTES(""));
    assert_written(fixture, BYTES("\"\""));
    start(fixture);
    json_write_base64(&fixture->writer, BYTES("foobar"));
    assert_written(fixture, BYTES("\"Zm9vYmFy\""));
}

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture.arena = arena_create();
    start(&fixture);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(((struct fixture *)*state)->arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(strings_have_the_fewest_escapes),
        TEST(names_have_the_same_escapes),
        TEST(a_frame_stands_around_the_same_escapes),
        TEST(a_member_is_a_name_and_a_framed_value),
        TEST(every_byte_below_128_reads_back),
        TEST(a_string_far_larger_than_the_buffer_is_written_whole),
        TEST(every_value_makes_room_for_itself),
        TEST(commas_stand_between_members_and_elements_only),
        TEST(integers_are_written_in_full),
        TEST(seconds_have_up_to_three_decimals_without_trailing_zeros),
        TEST(doubles_read_back_as_themselves),
        TEST(halves_always_have_one_decimal),
        TEST(base64_is_a_quoted_string),
    };
    return cmocka_run_group_tests_name("json/writer", tests, NULL, NULL);
}
