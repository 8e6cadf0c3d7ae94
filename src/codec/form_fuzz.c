/* form_fuzz.c -- any body, read by a shape that has every kind a form can send.
 *
 * Properties: what decodes is JSON that the shape reads; what a time's text says, formatted and
 * read again, is the same time.
 */
#include <assert.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "codec/form.h"
#include "codec/iso_time.h"
#include "model/error.h"
#include "shape/shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct inner {
    struct bytes text;
    struct shape_list list;
};
struct outer {
    struct shape_boolean boolean;
    struct shape_double number;
    struct shape_integer integer;
    struct shape_list list;
    struct shape_map map;
    struct inner *structure;
    struct shape_integer time;
};

static const struct shape text_shape = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
static const struct shape boolean_shape = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
static const struct shape double_shape = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
static const struct shape integer_shape = { .kind = SHAPE_LONG, SHAPE_UNBOUNDED };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape texts_shape = { .kind = SHAPE_LIST,
                                          .element = &text_shape,
                                          SHAPE_UNBOUNDED };
static const struct shape_field inner_fields[] = {
    { .name = "T", .shape = &text_shape, .offset = offsetof(struct inner, text) },
    { .name = "L", .shape = &texts_shape, .offset = offsetof(struct inner, list) },
};
static const struct shape inner_shape = { .kind = SHAPE_STRUCTURE,
                                          .type_name = "Inner",
                                          .fields = inner_fields,
                                          .field_count = COUNT_OF(inner_fields),
                                          .size = sizeof(struct inner),
                                          SHAPE_UNBOUNDED };
static const struct shape list_shape = { .kind = SHAPE_LIST,
                                         .element = &inner_shape,
                                         SHAPE_UNBOUNDED };
static const struct shape map_shape = { .kind = SHAPE_MAP,
                                        .element = &inner_shape,
                                        SHAPE_UNBOUNDED };
static const struct shape_field outer_fields[] = {
    { .name = "B", .shape = &boolean_shape, .offset = offsetof(struct outer, boolean) },
    { .name = "D", .shape = &double_shape, .offset = offsetof(struct outer, number) },
    { .name = "I", .shape = &integer_shape, .offset = offsetof(struct outer, integer) },
    { .name = "L", .shape = &list_shape, .offset = offsetof(struct outer, list) },
    { .name = "M", .shape = &map_shape, .offset = offsetof(struct outer, map) },
    { .name = "S", .shape = &inner_shape, .offset = offsetof(struct outer, structure) },
    { .name = "W", .shape = &time_shape, .offset = offsetof(struct outer, time) },
};
static const struct shape outer_shape = { .kind = SHAPE_STRUCTURE,
                                          .type_name = "Outer",
                                          .fields = outer_fields,
                                          .field_count = COUNT_OF(outer_fields),
                                          .size = sizeof(struct outer),
                                          SHAPE_UNBOUNDED };

static void check_time(struct bytes text)
{
    char formatted[ISO_TIME_TEXT_SIZE];
    int64_t time_ms, again_ms;
    if (!iso_time_parse(text, &time_ms))
        return;
    iso_time_format(time_ms, formatted);
    bool parsed = iso_time_parse(bytes_from_text(formatted), &again_ms);
    assert(parsed);
    assert(again_ms == time_ms || time_ms < -30610224000000 || time_ms > 253402300799999);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes body = bytes_of(data, size);
    struct bytes json;
    struct error err;
    struct outer out;
    error_init(&err, arena);
    if (form_decode(arena, body, &outer_shape, &json, &err)) {
        bool readable = shape_read(arena, json, &outer_shape, &out, &err);
        assert(readable);
    } else {
        assert(error_is_set(&err) && err.message.len > 0);
    }
    check_time(body);
    (void)form_find(body, "Action");
    arena_destroy(arena);
    return 0;
}
