/* test_form.c -- forms of the query protocol read by shapes, and times in ISO 8601. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "codec/form.h"
#include "codec/iso_time.h"
#include "model/error.h"
#include "shape/shape.h"

static struct arena *arena;

/* PutMetricData's, in small, with a map. */
struct dimension {
    struct bytes name;
    struct bytes value;
};
struct datum {
    struct bytes name;
    struct shape_list dimensions;
    struct shape_integer at;
    struct shape_double value;
    struct shape_list values;
};
struct request {
    struct bytes space;
    struct shape_list data;
    struct shape_map labels;
    struct datum *one;
    struct shape_boolean strict;
    struct shape_integer period;
};

static const struct shape text_shape = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
static const struct shape boolean_shape = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
static const struct shape double_shape = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
static const struct shape integer_shape = { .kind = SHAPE_INTEGER, SHAPE_UNBOUNDED };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape doubles_shape = { .kind = SHAPE_LIST,
                                            .element = &double_shape,
                                            SHAPE_UNBOUNDED };
#define FIELD(structure, member, text, type)                                                       \
    {                                                                                              \
        .name = text, .shape = &type, .offset = offsetof(struct structure, member)                 \
    }
#define STRUCTURE(structure, list)                                                                 \
    {                                                                                              \
        .kind = SHAPE_STRUCTURE, .type_name = #structure, .fields = list,                          \
        .field_count = COUNT_OF(list), .size = sizeof(struct structure), SHAPE_UNBOUNDED           \
    }
static const struct shape_field dimension_fields[] = {
    FIELD(dimension, name, "Name", text_shape), FIELD(dimension, value, "Value", text_shape)
};
static const struct shape dimension_shape = STRUCTURE(dimension, dimension_fields);
static const struct shape dimensions_shape = { .kind = SHAPE_LIST,
                                               .element = &dimension_shape,
                                               SHAPE_UNBOUNDED };
static const struct shape_field datum_fields[] = {
    FIELD(datum, name, "MetricName", text_shape),
    FIELD(datum, dimensions, "Dimensions", dimensions_shape),
    FIELD(datum, at, "Timestamp", time_shape),
    FIELD(datum, value, "Value", double_shape),
    FIELD(datum, values, "Values", doubles_shape),
};
static const struct shape datum_shape = STRUCTURE(datum, datum_fields);
static const struct shape data_shape = { .kind = SHAPE_LIST,
                                         .element = &datum_shape,
                                         SHAPE_UNBOUNDED };
static const struct shape labels_shape = { .kind = SHAPE_MAP,
                                           .element = &text_shape,
                                           SHAPE_UNBOUNDED };
static const struct shape_field request_fields[] = {
    FIELD(request, space, "Namespace", text_shape),
    FIELD(request, data, "MetricData", data_shape),
    FIELD(request, labels, "Labels", labels_shape),
    FIELD(request, one, "One", datum_shape),
    FIELD(request, strict, "Strict", boolean_shape),
    FIELD(request, period, "Period", integer_shape),
};
static const struct shape request_shape = STRUCTURE(request, request_fields);

/* --- Forms --- */

static const struct {
    const char *body, *json;
} forms[] = {
    { "", "{}" },
    { "Action=PutMetricData&Version=2010-08-01", "{}" },
    { "Namespace=a", "{\"Namespace\":\"a\"}" },
    { "Namespace=", "{\"Namespace\":\"\"}" },
    { "Namespace", "{\"Namespace\":\"\"}" },
    { "&&Namespace=a&&", "{\"Namespace\":\"a\"}" },
    { "Namespace=a+b%20c%2Bd%3d%26%25", "{\"Namespace\":\"a b c+d=&%\"}" },
    { "Namespace=a=b", "{\"Namespace\":\"a=b\"}" },
    { "Namespace=%c3%BC%22%0a%00", "{\"Namespace\":\"\u00fc\\\"\\n\\u0000\"}" },
    { "Name%73pace=a", "{\"Namespace\":\"a\"}" },
    { "Namespace=a&Namespace=b", "{\"Namespace\":\"b\"}" },
    { "Strict=true", "{\"Strict\":true}" },
    { "Strict=false", "{\"Strict\":false}" },
    { "Period=60", "{\"Period\":60}" },
    { "Period=-060", "{\"Period\":-60}" },
    { "One.Value=5", "{\"One\":{\"Value\":5.0}}" },
    { "One.Value=-1.5e3", "{\"One\":{\"Value\":-1500.0}}" },
    { "One.Value=.5", "{\"One\":{\"Value\":0.5}}" },
    { "One.Value=1e999", "{\"One\":{\"Value\":\"Infinity\"}}" },
    { "One.Value=NaN", "{\"One\":{\"Value\":\"NaN\"}}" },
    { "One.Timestamp=2026-11-16T10%3A43%3A35Z", "{\"One\":{\"Timestamp\":1794825815}}" },
    { "One.Timestamp=2026-11-16T10:43:35.250Z", "{\"One\":{\"Timestamp\":1794825815.25}}" },
    { "MetricData=", "{\"MetricData\":[]}" },
    { "Labels=", "{\"Labels\":{}}" },
    { "One=", "{\"One\":{}}" },
    { "MetricData.member.1.MetricName=a&MetricData.member.1.Dimensions.member.1.Name=d&"
      "MetricData.member.1.Dimensions.member.1.Value=v&MetricData.member.2.MetricName=b",
      "{\"MetricData\":[{\"Dimensions\":[{\"Name\":\"d\",\"Value\":\"v\"}],\"MetricName\":\"a\"},"
      "{\"MetricName\":\"b\"}]}" },
    /* By number, whatever their order; gaps close. */
    { "One.Values.member.10=10&One.Values.member.9=9&One.Values.member.100=100&"
      "One.Values.member.0=0",
      "{\"One\":{\"Values\":[0.0,9.0,10.0,100.0]}}" },
    { "Labels.entry.1.key=k&Labels.entry.1.value=v&Labels.entry.2.value=y&Labels.entry.2.key=x.1",
      "{\"Labels\":{\"k\":\"v\",\"x.1\":\"y\"}}" },
    /* Unknown ones are left out, whatever their form. */
    { "Unknown.member.x..1=a&.=b&..=c&Namespace=n", "{\"Namespace\":\"n\"}" },
    { "One.Unknown=1&One.MetricName=m", "{\"One\":{\"MetricName\":\"m\"}}" },
};

static void forms_become_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct error err;
        struct bytes json;
        struct request out;
        error_init(&err, arena);
        if (!form_decode(arena, bytes_from_text(forms[i].body), &request_shape, &json, &err))
            fail_msg("%s: %.*s", forms[i].body, BYTES_FMT(err.message));
        if (!bytes_equal_text(json, forms[i].json))
            fail_msg("%s\n got: %.*s\nwant: %s", forms[i].body, BYTES_FMT(json), forms[i].json);
        assert_true(shape_read(arena, json, &request_shape, &out, &err));
    }
}

static const struct {
    const char *body, *message;
} refused[] = {
    { "Strict=yes", "The value is neither true nor false: Strict" },
    { "Strict=", "The value is neither true nor false: Strict" },
    { "Period=", "The value is not an integer: Period" },
    { "Period=1.5", "The value is not an integer: Period" },
    { "Period=+%201", "The value is not an integer: Period" },
    { "Period=%091", "The value is not an integer: Period" },
    { "Period=1%00", "The value is not an integer: Period" },
    { "Period=9223372036854775808", "The value is not an integer: Period" },
    { "One.Value=", "The value is not a number: One.Value" },
    { "One.Value=0x10", "The value is not a number: One.Value" },
    { "One.Value=inf", "The value is not a number: One.Value" },
    { "One.Value=1%00", "The value is not a number: One.Value" },
    { "One.Value=1-1", "The value is not a number: One.Value" },
    { "One.Timestamp=1794825815", "The value is not a time in ISO 8601: One.Timestamp" },
    { "Namespace=%", "The body has an escape that is not a percent sign with two hexadecimal "
                     "digits in: %" },
    { "Namespace=a%2", "The body has an escape that is not a percent sign with two hexadecimal "
                       "digits in: a%2" },
    { "Namespace=%2g", "The body has an escape that is not a percent sign with two hexadecimal "
                       "digits in: %2g" },
    { "Namespace=%ff", "The body has text that is not UTF-8 in: %ff" },
    { "Namespace.member.1=a",
      "Start of a list or structure found where not expected: Namespace.member.1" },
    { "Namespace=a&Namespace.x=a",
      "Start of a list or structure found where not expected: Namespace.x" },
    { "MetricData=a", "A value is found where a list, map or structure is expected: MetricData" },
    { "MetricData=&MetricData.member.1.Value=1",
      "A value is found where a list, map or structure is expected: MetricData" },
    { "One=x", "A value is found where a list, map or structure is expected: One" },
    { "MetricData.1.Value=1",
      "The parameter is not the element of a list or map: MetricData.1.Value" },
    { "MetricData.member=1", "The parameter is not the element of a list or map: "
                             "MetricData.member" },
    { "MetricData.member.x.Value=1",
      "The name of a list's element has no number: MetricData.member.x.Value" },
    { "MetricData.member..Value=1",
      "The name of a list's element has no number: MetricData.member..Value" },
    { "MetricData.member.1234567890.Value=1",
      "The name of a list's element has no number: MetricData.member.1234567890.Value" },
    { "MetricData.member.1=1",
      "A value is found where a list, map or structure is expected: MetricData.member.1" },
    { "Labels.member.1=a", "The parameter is not the element of a list or map: Labels.member.1" },
    { "Labels.entry.1=a", "The name of a map's entry has the wrong form: Labels.entry.1" },
    { "Labels.entry.1.key=a", "The entry of a map has no key or no value: Labels.entry.1.key" },
    { "Labels.entry.1.value=a", "The entry of a map has no key or no value: Labels.entry.1.value" },
};

static void malformed_forms_are_refused_with_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct error err;
        struct bytes json;
        error_init(&err, arena);
        if (form_decode(arena, bytes_from_text(refused[i].body), &request_shape, &json, &err))
            fail_msg("%s was read as %.*s", refused[i].body, BYTES_FMT(json));
        assert_int_equal(err.code, ERROR_SERIALIZATION);
        if (!bytes_equal_text(err.message, refused[i].message))
            fail_msg("%s\n got: %.*s\nwant: %s", refused[i].body, BYTES_FMT(err.message),
                     refused[i].message);
    }
}

static bool decodes(struct bytes body, enum error_code *code)
{
    struct error err;
    struct bytes json;
    error_init(&err, arena);
    bool ok = form_decode(arena, body, &request_shape, &json, &err);
    *code = err.code;
    return ok;
}

static struct bytes repeat(const char *text, size_t count)
{
    struct buffer out;
    buffer_init(&out, arena);
    for (size_t i = 0; i < count; i++)
        buffer_append_bytes(&out, bytes_from_text(text));
    return buffer_bytes(&out);
}

static void parameters_and_size_are_bounded(void **state)
{
    enum error_code code;
    (void)state;
    assert_true(decodes(repeat("a&", FORM_PARAMETERS_MAX), &code));
    assert_false(decodes(repeat("a&", FORM_PARAMETERS_MAX + 1), &code));
    assert_int_equal(code, ERROR_REQUEST_TOO_LARGE);
    assert_true(decodes(repeat("a", CODEC_INPUT_SIZE_MAX), &code));
    assert_false(decodes(repeat("a", CODEC_INPUT_SIZE_MAX + 1), &code));
    assert_int_equal(code, ERROR_REQUEST_TOO_LARGE);
    assert_true(decodes(repeat(".", CODEC_INPUT_SIZE_MAX), &code));
}

/* A shape that contains itself: the depth of the names alone decides. */
struct node {
    struct node *next;
};
extern const struct shape node_shape;
static const struct shape_field node_fields[] = { FIELD(node, next, "N", node_shape) };
const struct shape node_shape = STRUCTURE(node, node_fields);

static void nesting_is_bounded(void **state)
{
    (void)state;
    for (size_t depth = CODEC_DEPTH_MAX - 1; depth <= CODEC_DEPTH_MAX + 2; depth++) {
        struct error err;
        struct bytes json;
        struct bytes body = repeat("N.", depth);
        error_init(&err, arena);
        body.len--;
        bool ok = form_decode(arena, body, &node_shape, &json, &err);
        assert_int_equal(ok, depth <= CODEC_DEPTH_MAX + 1);
        if (!ok)
            assert_true(
                bytes_starts_with(err.message, BYTES("The parameter is nested too deeply")));
    }
}

static void a_parameter_is_found_by_its_whole_name(void **state)
{
    struct bytes body = BYTES("XAction=a&Action=ListMetrics&Action=b&Version=2010-08-01");
    (void)state;
    assert_true(bytes_equal_text(form_find(body, "Action"), "ListMetrics"));
    assert_true(bytes_equal_text(form_find(body, "Version"), "2010-08-01"));
    assert_null(form_find(body, "Actio").data);
    assert_null(form_find(BYTES(""), "Action").data);
    assert_null(form_find(BYTES("Action"), "Action").data);
    assert_null(form_find(BYTES("Action&Version=1"), "Action").data);
    assert_int_equal(form_find(BYTES("Action="), "Action").len, 0);
    assert_non_null(form_find(BYTES("Action="), "Action").data);
    assert_true(bytes_equal_text(form_find(BYTES("a=Action=1&Action=2"), "Action"), "2"));
    assert_true(bytes_equal_text(form_find(BYTES("ActionAction=1&Action=2&"), "Action"), "2"));
}

/* --- Times --- */

static const struct {
    const char *text;
    int64_t time_ms;
} times[] = {
    { "1970-01-01T00:00:00Z", 0 },
    { "1970-01-01", 0 },
    { "1970-01-01T00:01", 60000 },
    { "1970-01-01T00:01Z", 60000 },
    { "1970-01-01T00:00:01", 1000 },
    { "1970-01-01T00:00:00.5Z", 500 },
    { "1970-01-01T00:00:00.001999Z", 1 },
    { "1970-01-01T01:00:00+01:00", 0 },
    { "1970-01-01T00:00:00-0030", 1800000 },
    { "1969-12-31T23:59:59.999Z", -1 },
    { "2024-02-29T23:59:59Z", 1709251199000 },
    { "9999-12-31T23:59:59.999Z", 253402300799999 },
    { "0001-01-01T00:00:00Z", -62135596800000 },
};

static void times_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        int64_t got = -7;
        if (!iso_time_parse(bytes_from_text(times[i].text), &got) || got != times[i].time_ms)
            fail_msg("%s: %lld", times[i].text, (long long)got);
    }
}

static void texts_that_are_no_times_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "1970",
        "1970-1-1",
        "1970-01-01T",
        "1970-01-01Z",
        "1970-01-01 00:00:00",
        "1970-01-01T00",
        "1970-01-01T00:00:",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00z",
        "1970-01-01T00:00:00Zx",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+01",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:60Z",
        "1970-00-01",
        "1970-13-01",
        "1970-01-00",
        "2023-02-29",
        "0000-01-01",
        "19700101T000000Z",
    };
    int64_t got;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (iso_time_parse(bytes_from_text(texts[i]), &got))
            fail_msg("%s was read", texts[i]);
}

static void formatted_times_come_back(void **state)
{
    struct random random;
    char text[ISO_TIME_TEXT_SIZE];
    (void)state;
    iso_time_format(1794825815000, text);
    assert_string_equal(text, "2026-11-16T10:43:35Z");
    iso_time_format(1794825815007, text);
    assert_string_equal(text, "2026-11-16T10:43:35.007Z");
    iso_time_format(INT64_MAX, text);
    assert_string_equal(text, "9999-12-31T23:59:59Z");
    iso_time_format(INT64_MIN, text);
    assert_string_equal(text, "1000-01-01T00:00:00Z");
    random_init(&random, 8601);
    for (int i = 0; i < 10000; i++) {
        int64_t again, time_ms = (int64_t)random_below(&random, 280000000000000) - 30000000000000;
        iso_time_format(time_ms, text);
        assert_true(iso_time_parse(bytes_from_text(text), &again));
        if (time_ms <= 253402300799999)
            assert_int_equal(again, time_ms);
    }
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(forms_become_json),
        TEST(malformed_forms_are_refused_with_a_reason),
        TEST(parameters_and_size_are_bounded),
        TEST(nesting_is_bounded),
        TEST(a_parameter_is_found_by_its_whole_name),
        TEST(times_are_read),
        TEST(texts_that_are_no_times_are_refused),
        TEST(formatted_times_come_back),
    };
    return cmocka_run_group_tests_name("codec/form", tests, NULL, NULL);
}
