/* test_shape_write.c -- what was read is written with its members, and reads back equal. */
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
#include "json/writer.h"
#include "shape/shape.h"
#include "shape/shape_write.h"

struct inner {
    struct bytes text;
    struct shape_boolean truth;
};

struct outer {
    struct bytes text;
    struct shape_integer number;
    struct shape_integer time;
    struct shape_double fraction;
    struct inner *inner;
    struct shape_list list;
    struct shape_map map;
    struct shape_item item;
    struct shape_value value;
};

static const struct shape text_shape = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
static const struct shape boolean_shape = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
static const struct shape long_shape = { .kind = SHAPE_LONG, SHAPE_UNBOUNDED };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape double_shape = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
static const struct shape item_shape = { .kind = SHAPE_ITEM, SHAPE_UNBOUNDED };
static const struct shape value_shape = { .kind = SHAPE_VALUE, SHAPE_UNBOUNDED };
static const struct shape_field inner_fields[] = {
    { SHAPE_FIELD(struct inner, text, "Text", &text_shape) },
    { SHAPE_FIELD(struct inner, truth, "Truth", &boolean_shape) },
};
static const struct shape inner_shape = { SHAPE_STRUCTURE_OF(struct inner, inner_fields),
                                          .type_name = "Inner" };
static const struct shape list_shape = { .kind = SHAPE_LIST,
                                         .element = &inner_shape,
                                         SHAPE_UNBOUNDED };
static const struct shape map_shape = { .kind = SHAPE_MAP,
                                        .element = &text_shape,
                                        SHAPE_UNBOUNDED };
static const struct shape_field outer_fields[] = {
    { SHAPE_FIELD(struct outer, text, "Text", &text_shape) },
    { SHAPE_FIELD(struct outer, number, "Number", &long_shape) },
    { SHAPE_FIELD(struct outer, time, "Time", &time_shape) },
    { SHAPE_FIELD(struct outer, fraction, "Fraction", &double_shape) },
    { SHAPE_FIELD(struct outer, inner, "Inner", &inner_shape) },
    { SHAPE_FIELD(struct outer, list, "List", &list_shape) },
    { SHAPE_FIELD(struct outer, map, "Map", &map_shape) },
    { SHAPE_FIELD(struct outer, item, "Item", &item_shape) },
    { SHAPE_FIELD(struct outer, value, "Value", &value_shape) },
};
static const struct shape outer_shape = { SHAPE_STRUCTURE_OF(struct outer, outer_fields),
                                          .type_name = "Outer" };

static void members_that_are_present_are_written(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"Text\":\"a\\n\",\"Number\":-7,\"Time\":1700000000.5,\"Fraction\":0.5,\"Inner\":{"
        "\"Text\":"
        "\"\"},\"List\":[{},{\"Truth\":true}],\"Map\":{\"a\":\"1\",\"b\":\"2\"},\"Item\":{\"p\":{"
        "\"S\":\"x\"}},\"Value\":{\"N\":\"1\"}}",
        "{\"Inner\":{},\"List\":[],\"Map\":{},\"Item\":{}}",
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct outer structure;
        struct error err;
        struct json_writer writer;
        struct buffer out;
        error_init(&err, arena);
        assert_true(shape_read(arena, bytes_from_text(texts[i]), &outer_shape, &structure, &err));
        buffer_init(&out, arena);
        json_writer_init(&writer, &out);
        shape_write(&writer, &outer_shape, &structure);
        buffer_append_byte(&out, 0);
        assert_string_equal((const char *)out.data, texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { ARENA_TEST(members_that_are_present_are_written) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
