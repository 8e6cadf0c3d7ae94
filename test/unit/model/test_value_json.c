/* test_value_json.c -- attribute values and items from JSON and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/value_json.h"

enum { JSON_DEPTH = 100 };

#define EMPTY                                                                                      \
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
#define SEVERAL                                                                                    \
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "    \
    "supported datatypes"
#define NOT_A_NUMBER "The parameter cannot be converted to a numeric value"
#define INVALID "One or more parameter values were invalid: "
#define NULL_IS_TRUE INVALID "Null attribute value types must have the value of true"
#define TOO_DEEP                                                                                   \
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "    \
    "beyond supported limit"
#define STRUCTURE "Start of structure or map found where not expected"
#define ATTRIBUTE_VALUE "com.amazonaws.dynamodb.v20120810.AttributeValue"

/* --- What is accepted, and what it becomes --- */

static const struct {
    const char *name, *json, *want; /* NULL: as sent. */
} accepted[] = {
    { "string", "{\"S\":\"abc\"}", NULL },
    { "empty string", "{\"S\":\"\"}", NULL },
    { "escapes", "{\"S\":\"\\u00e9\\n\\u0000\"}", "{\"S\":\"\xC3\xA9\\n\\u0000\"}" },
    { "number", "{\"N\":\"1.50\"}", "{\"N\":\"1.5\"}" },
    { "number without exponent", "{\"N\":\"-1e3\"}", "{\"N\":\"-1000\"}" },
    { "binary", "{\"B\":\"YWJj\"}", NULL },
    { "empty binary", "{\"B\":\"\"}", NULL },
    { "true", "{\"BOOL\":true}", NULL },
    { "false", "{\"BOOL\":false}", NULL },
    { "null", "{\"NULL\":true}", NULL },
    { "empty list", "{\"L\":[]}", NULL },
    { "list keeps its order", "{\"L\":[{\"S\":\"b\"},{\"S\":\"a\"},{\"S\":\"b\"}]}", NULL },
    { "empty map", "{\"M\":{}}", NULL },
    { "map is sorted by bytes",
      "{\"M\":{\"b\":{\"S\":\"2\"},\"\xC3\xA9\":{\"S\":\"3\"},\"a\":{\"S\":\"1\"}}}",
      "{\"M\":{\"a\":{\"S\":\"1\"},\"b\":{\"S\":\"2\"},\"\xC3\xA9\":{\"S\":\"3\"}}}" },
    { "the last member of a name counts",
      "{\"M\":{\"a\":{\"N\":\"1\"},\"b\":{\"N\":\"3\"},\"a\":{\"N\":\"2\"}}}",
      "{\"M\":{\"a\":{\"N\":\"2\"},\"b\":{\"N\":\"3\"}}}" },
    { "string set is sorted", "{\"SS\":[\"b\",\"\",\"a\"]}", "{\"SS\":[\"\",\"a\",\"b\"]}" },
    { "number set is sorted by value", "{\"NS\":[\"10\",\"-1\",\"9\",\"1E-5\"]}",
      "{\"NS\":[\"-1\",\"0.00001\",\"9\",\"10\"]}" },
    { "binary set is sorted by bytes, not by base64", "{\"BS\":[\"/w==\",\"AA==\",\"YQ==\"]}",
      "{\"BS\":[\"AA==\",\"YQ==\",\"/w==\"]}" },
    { "nested", "{\"M\":{\"l\":{\"L\":[{\"M\":{\"x\":{\"NULL\":true}}},{\"NS\":[\"1\"]}]}}}",
      NULL },
    { "unknown members are ignored", "{\"X\":[1],\"S\":\"a\",\"s\":{}}", "{\"S\":\"a\"}" },
    { "null counts as not given", "{\"S\":null,\"N\":\"1\",\"L\":null}", "{\"N\":\"1\"}" },
    { "the last of one type counts", "{\"S\":\"a\",\"S\":\"b\"}", "{\"S\":\"b\"}" },
};

/* --- Rules: the request can be read, but the value is not allowed --- */

static const struct {
    const char *json, *rule;
} broken_rules[] = {
    { "{}", EMPTY },
    { "null", EMPTY },
    { "{\"X\":\"a\"}", EMPTY },
    { "{\"s\":\"a\"}", EMPTY },
    { "{\"S\":null}", EMPTY },
    { "{\"L\":[{}]}", EMPTY },
    { "{\"L\":[null]}", EMPTY },
    { "{\"M\":{\"a\":{}}}", EMPTY },
    { "{\"M\":{\"a\":null}}", EMPTY },
    { "{\"S\":\"a\",\"N\":\"1\"}", SEVERAL },
    { "{\"S\":\"a\",\"NULL\":true}", SEVERAL },
    { "{\"N\":\"\"}", NOT_A_NUMBER },
    { "{\"N\":\"x\"}", NOT_A_NUMBER ": x" },
    { "{\"N\":\"1E126\"}", "Number overflow. Attempting to store a number with magnitude larger "
                           "than supported range" },
    { "{\"N\":\"1E-131\"}", "Number underflow. Attempting to store a number with magnitude smaller "
                            "than supported range" },
    { "{\"N\":\"1.00000000000000000000000000000000000001\"}",
      "Attempting to store more than 38 significant digits in a Number" },
    { "{\"NS\":[\"1\",\"x\"]}", NOT_A_NUMBER ": x" },
    { "{\"NS\":[null]}", NOT_A_NUMBER },
    { "{\"NULL\":false}", NULL_IS_TRUE },
    { "{\"SS\":[]}", INVALID "An string set  may not be empty" },
    { "{\"NS\":[]}", INVALID "An number set  may not be empty" },
    { "{\"BS\":[]}", INVALID "Binary sets should not be empty" },
    { "{\"SS\":[null]}", INVALID "An string set may not have a null string as a member" },
    { "{\"BS\":[null]}", INVALID "An binary set may not have a null binary as a member" },
    { "{\"SS\":[\"a\",\"a\"]}", INVALID "Input collection [a, a] contains duplicates." },
    { "{\"SS\":[\"a\",\"\xC3\xA9\",\"a\"]}",
      INVALID "Input collection [a, \xC3\xA9, a] contains duplicates." },
    { "{\"SS\":[\"\",\"\"]}", INVALID "Input collection [, ] contains duplicates." },
    { "{\"NS\":[\"1\",\"2\",\"1.0\"]}", "Input collection contains duplicates" },
    { "{\"BS\":[\"YWI=\",\"YQ==\",\"YWI=\"]}",
      INVALID "Input collection [YWI=, YQ==, YWI=]of type BS contains duplicates." },
    { "{\"M\":{\"\":{\"S\":\"a\"}}}", "Empty attribute name" },
    /* The order between rules: kind first, then text order. */
    { "{\"L\":[{\"SS\":[]},{\"SS\":[\"a\",\"a\"]}]}", INVALID "An string set  may not be empty" },
    { "{\"L\":[{\"SS\":[\"a\",\"a\"]},{\"SS\":[]}]}",
      INVALID "Input collection [a, a] contains duplicates." },
    { "{\"L\":[{\"SS\":[]},{\"N\":\"x\"}]}", NOT_A_NUMBER ": x" },
    { "{\"M\":{\"b\":{\"SS\":[]},\"a\":{\"N\":\"x\"}}}", NOT_A_NUMBER ": x" },
    { "{\"L\":[{\"SS\":[]},{}]}", EMPTY },
    { "{\"L\":[{\"SS\":[]},{\"NULL\":false}]}", NULL_IS_TRUE },
    { "{\"L\":[{\"NULL\":false},{\"N\":\"x\"}]}", NULL_IS_TRUE },
    { "{\"L\":[{},{\"N\":\"x\"}]}", EMPTY },
    { "{\"L\":[{\"N\":\"x\"},{}]}", NOT_A_NUMBER ": x" },
    { "{\"L\":[{\"S\":\"a\",\"N\":\"1\"},{}]}", SEVERAL },
    { "{\"S\":\"a\",\"N\":\"x\"}", NOT_A_NUMBER ": x" },
    { "{\"S\":\"a\",\"SS\":[]}", SEVERAL },
    { "{\"NS\":[\"1\",\"1\",\"x\"]}", NOT_A_NUMBER ": x" },
};

/* --- Text that is not of the protocol's shape --- */

static const struct {
    const char *json, *error;
} unreadable[] = {
    { "\"a\"", "Unexpected value type in payload" },
    { "1", "Unexpected value type in payload" },
    { "true", "Unexpected value type in payload" },
    { "[]", "Unrecognized collection type class " ATTRIBUTE_VALUE },
    { "{\"S\":1}", "NUMBER_VALUE cannot be converted to String" },
    { "{\"S\":-1.5}", "DECIMAL_VALUE cannot be converted to String" },
    { "{\"S\":1e5}", "DECIMAL_VALUE cannot be converted to String" },
    { "{\"S\":true}", "TRUE_VALUE cannot be converted to String" },
    { "{\"S\":false}", "FALSE_VALUE cannot be converted to String" },
    { "{\"S\":{}}", STRUCTURE },
    { "{\"S\":[]}", "Unrecognized collection type class java.lang.String" },
    { "{\"N\":1}", "NUMBER_VALUE cannot be converted to String" },
    { "{\"B\":1}", "only base-64-encoded strings are convertible to bytes" },
    { "{\"B\":true}", "only base-64-encoded strings are convertible to bytes" },
    { "{\"B\":{}}", STRUCTURE },
    { "{\"B\":[]}", "Unrecognized collection type class java.nio.ByteBuffer" },
    { "{\"B\":\"abc\"}", "Base64 encoded length is expected a multiple of 4 bytes but found: 3" },
    { "{\"B\":\"!!!!\"}", "Invalid Base64 character: '!'" },
    { "{\"B\":\"Y=Q=\"}", "Invalid Base64 character: '='" },
    { "{\"B\":\"ab\xC3\xA9\"}", "Invalid Base64 character: '\xC3\xA9'" },
    { "{\"B\":\"YR==\"}", "Invalid last non-pad Base64 character dectected" },
    { "{\"BOOL\":\"t\"}", "Unexpected token received from parser" },
    { "{\"BOOL\":1}", "NUMBER_VALUE cannot be converted to Boolean" },
    { "{\"BOOL\":{}}", STRUCTURE },
    { "{\"BOOL\":[]}", "Unrecognized collection type class java.lang.Boolean" },
    { "{\"NULL\":\"x\"}", "Unexpected token received from parser" },
    { "{\"NULL\":0}", "NUMBER_VALUE cannot be converted to Boolean" },
    { "{\"L\":{}}", STRUCTURE },
    { "{\"L\":\"a\"}", "Unexpected field type" },
    { "{\"L\":[\"a\"]}", "Unexpected value type in payload" },
    { "{\"L\":[[]]}", "Unrecognized collection type class " ATTRIBUTE_VALUE },
    { "{\"M\":[]}",
      "Unrecognized collection type java.util.Map<java.lang.String, " ATTRIBUTE_VALUE ">" },
    { "{\"M\":\"a\"}", "Unexpected field type" },
    { "{\"M\":{\"a\":\"b\"}}", "Unexpected value type in payload" },
    { "{\"SS\":\"a\"}", "Unexpected field type" },
    { "{\"SS\":{}}", STRUCTURE },
    { "{\"SS\":[1]}", "NUMBER_VALUE cannot be converted to String" },
    { "{\"NS\":[1]}", "NUMBER_VALUE cannot be converted to String" },
    { "{\"BS\":[1]}", "only base-64-encoded strings are convertible to bytes" },
    { "{\"BS\":[\"x\"]}", "Base64 encoded length is expected a multiple of 4 bytes but found: 1" },
    { "{\"N\":\"x\",\"S\":1}", "NUMBER_VALUE cannot be converted to String" },
};

struct fixture {
    enum error_family family; /* Of the rules. */
    struct arena *arena;
    struct json_reader reader;
    struct buffer encoded;
    struct error rule, err;
};

static int setup(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->arena = arena_create();
    fixture->family = ERROR_FAMILY_OLDER;
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

/* Also checks that all of the text was read. */
static bool read_value(struct fixture *fixture, struct bytes json)
{
    json_reader_init(&fixture->reader, fixture->arena, json, JSON_DEPTH);
    buffer_init(&fixture->encoded, fixture->arena);
    error_init(&fixture->rule, fixture->arena);
    fixture->rule.family = fixture->family;
    error_init(&fixture->err, fixture->arena);
    bool ok = value_json_read(&fixture->reader, &fixture->encoded, &fixture->rule, &fixture->err);
    return ok && json_finish(&fixture->reader);
}

static bool read_item(struct fixture *fixture, struct bytes json, struct item *out)
{
    json_reader_init(&fixture->reader, fixture->arena, json, JSON_DEPTH);
    error_init(&fixture->rule, fixture->arena);
    fixture->rule.family = fixture->family;
    error_init(&fixture->err, fixture->arena);
    bool ok = item_json_read(&fixture->reader, fixture->arena, out, &fixture->rule, &fixture->err);
    return ok && json_finish(&fixture->reader);
}

static struct bytes written(struct fixture *fixture, struct bytes encoded)
{
    struct buffer text;
    struct json_writer writer;
    struct value value;
    buffer_init(&text, fixture->arena);
    json_writer_init(&writer, &text);
    assert_true(value_open(&encoded, &value));
    assert_int_equal(encoded.len, 0);
    value_json_write(&writer, &value);
    return buffer_bytes(&text);
}

static void values_come_back_in_canonical_form(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
        if (!read_value(fixture, bytes_from_text(accepted[i].json)))
            fail_msg("%s: %.*s", accepted[i].name, BYTES_FMT(fixture->err.message));
        if (error_is_set(&fixture->rule))
            fail_msg("%s: %.*s", accepted[i].name, BYTES_FMT(fixture->rule.message));
        struct bytes encoded = buffer_bytes(&fixture->encoded);
        assert_true(value_verify(encoded, NESTING_DEPTH_MAX));
        struct bytes back = written(fixture, encoded);
        const char *want = accepted[i].want != NULL ? accepted[i].want : accepted[i].json;
        if (!bytes_equal_text(back, want))
            fail_msg("%s: %.*s", accepted[i].name, BYTES_FMT(back));
    }
}

static void broken_rules_are_told_and_reading_goes_on(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(broken_rules); i++) {
        if (!read_value(fixture, bytes_from_text(broken_rules[i].json)))
            fail_msg("%s: %.*s", broken_rules[i].json, BYTES_FMT(fixture->err.message));
        assert_int_equal(fixture->rule.code, ERROR_VALIDATION);
        if (!bytes_equal_text(fixture->rule.message, broken_rules[i].rule))
            fail_msg("%s: %.*s", broken_rules[i].json, BYTES_FMT(fixture->rule.message));
        /* What was encoded instead can at least be walked. */
        written(fixture, buffer_bytes(&fixture->encoded));
    }
}

static void a_rule_that_was_broken_before_stays(void **state)
{
    struct fixture *fixture = *state;
    json_reader_init(&fixture->reader, fixture->arena, BYTES("{\"N\":\"x\"}"), JSON_DEPTH);
    buffer_init(&fixture->encoded, fixture->arena);
    error_init(&fixture->rule, fixture->arena);
    fixture->rule.family = fixture->family;
    error_init(&fixture->err, fixture->arena);
    error_validation(&fixture->rule, "earlier");
    assert_true(
        value_json_read(&fixture->reader, &fixture->encoded, &fixture->rule, &fixture->err));
    assert_true(bytes_equal_text(fixture->rule.message, "earlier"));
}

static void json_of_another_shape_is_a_serialization_failure(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(unreadable); i++) {
        if (read_value(fixture, bytes_from_text(unreadable[i].json)))
            fail_msg("%s was read", unreadable[i].json);
        assert_int_equal(fixture->err.code, ERROR_SERIALIZATION);
        if (!bytes_equal_text(fixture->err.message, unreadable[i].error))
            fail_msg("%s: %.*s", unreadable[i].json, BYTES_FMT(fixture->err.message));
    }
}

static void broken_json_leaves_the_report_to_the_caller(void **state)
{
    static const char *const texts[] = {
        "",           "{",          "{\"S\"",          "{\"S\":\"a\"",       "{\"S\":tru}",
        "{\"L\":[",   "{\"M\":{\"", "{\"SS\":[\"a\",", "{\"X\":[1,}",        "{\"BOOL\":trux}",
        "{\"N\":01}", "nul",        "{\"NULL\":nil}",  "{\"SS\":[\"a\" 1]}",
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (read_value(fixture, bytes_from_text(texts[i])))
            fail_msg("%s was read", texts[i]);
        assert_true(json_failed(&fixture->reader));
        assert_false(error_is_set(&fixture->err));
    }
}

/* `wraps` lists or maps around `inner`. */
static struct bytes nested(struct fixture *fixture, unsigned wraps, bool maps, const char *inner)
{
    struct buffer text;
    buffer_init(&text, fixture->arena);
    for (unsigned i = 0; i < wraps; i++)
        buffer_append_bytes(&text, maps ? BYTES("{\"M\":{\"a\":") : BYTES("{\"L\":["));
    buffer_append_bytes(&text, bytes_from_text(inner));
    for (unsigned i = 0; i < wraps; i++)
        buffer_append_bytes(&text, maps ? BYTES("}}") : BYTES("]}"));
    return buffer_bytes(&text);
}

static void nesting_is_bounded(void **state)
{
    struct fixture *fixture = *state;
    static const char *const inner[] = { "{\"S\":\"x\"}", "{\"SS\":[\"a\"]}", "{\"M\":{}}" };
    for (size_t i = 0; i < COUNT_OF(inner); i++) {
        for (int maps = 0; maps < 2; maps++) {
            for (unsigned wraps = NESTING_DEPTH_MAX - 2; wraps < NESTING_DEPTH_MAX; wraps++) {
                assert_true(read_value(fixture, nested(fixture, wraps, maps, inner[i])));
                assert_false(error_is_set(&fixture->rule));
                assert_true(value_verify(buffer_bytes(&fixture->encoded), wraps + 1));
                assert_false(value_verify(buffer_bytes(&fixture->encoded), wraps));
            }
            assert_true(read_value(fixture, nested(fixture, NESTING_DEPTH_MAX, maps, inner[i])));
            assert_true(bytes_equal_text(fixture->rule.message, TOO_DEEP));
        }
    }
    /* Deeper than the reader allows: broken JSON, not a deeper stack. */
    assert_false(read_value(fixture, nested(fixture, 100000, false, "{\"S\":\"x\"}")));
    assert_true(json_failed(&fixture->reader));
}

static void each_family_has_words_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *json, *older, *newer;
    } cases[] = {
        { "{\"N\":\"\"}", NOT_A_NUMBER, NOT_A_NUMBER ": " },
        { "{\"N\":\"1e2147483648\"}", NOT_A_NUMBER ": 1e2147483648",
          "Number overflow. Attempting to store a number with magnitude larger than supported "
          "range" },
        { "{\"N\":\"1e-2147483649\"}", NOT_A_NUMBER ": 1e-2147483649",
          "Number underflow. Attempting to store a number with magnitude smaller than supported "
          "range" },
        { "{\"N\":\"1e9223372036854775808\"}", NOT_A_NUMBER ": 1e9223372036854775808",
          NOT_A_NUMBER ": 1e9223372036854775808" },
        { "{\"N\":\"1e-9223372036854775806\"}", NOT_A_NUMBER ": 1e-9223372036854775806",
          "Number underflow. Attempting to store a number with magnitude smaller than supported "
          "range" },
        { "{\"SS\":[\"b\",\"a\",\"b\",\"c\",\"a\"]}",
          INVALID "Input collection [b, a, b, c, a] contains duplicates.",
          INVALID "Input collection [\"a\", \"b\", \"b\", \"c\", \"a\"] contains duplicates." },
        { "{\"BS\":[\"/w==\",\"AA==\",\"AA==\"]}",
          INVALID "Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
          INVALID "Input collection [\"AA==\",\"/w==\",\"AA==\"]of type BS contains duplicates." },
        { "{\"NS\":[\"1\",\"1\"]}", "Input collection contains duplicates",
          INVALID "Input collection contains duplicates." },
        { "{\"SS\":[]}", INVALID "An string set  may not be empty",
          INVALID "An string set  may not be empty" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fixture->family = ERROR_FAMILY_OLDER;
        assert_true(read_value(fixture, bytes_from_text(cases[i].json)));
        assert_true(bytes_equal_text(fixture->rule.message, cases[i].older));
        fixture->family = ERROR_FAMILY_NEWER;
        assert_true(read_value(fixture, bytes_from_text(cases[i].json)));
        if (!bytes_equal_text(fixture->rule.message, cases[i].newer))
            fail_msg("%s: %.*s", cases[i].json, BYTES_FMT(fixture->rule.message));
        fixture->family = ERROR_FAMILY_ENVELOPED;
        assert_true(read_value(fixture, bytes_from_text(cases[i].json)));
        assert_true(bytes_starts_with(fixture->rule.message, BYTES(ERROR_ENVELOPE)));
        assert_int_equal(fixture->rule.message.len,
                         strlen(ERROR_ENVELOPE) + strlen(cases[i].newer));
    }
}

static void depth_is_the_last_rule_to_be_told(void **state)
{
    struct fixture *fixture = *state;
    struct buffer text;
    buffer_init(&text, fixture->arena);
    buffer_append_bytes(&text, BYTES("{\"L\":["));
    buffer_append_bytes(&text, nested(fixture, NESTING_DEPTH_MAX, true, "{\"S\":\"x\"}"));
    buffer_append_bytes(&text, BYTES(",{\"SS\":[]}]}"));
    assert_true(read_value(fixture, buffer_bytes(&text)));
    assert_true(bytes_equal_text(fixture->rule.message, INVALID "An string set  may not be empty"));
}

static void attribute_names_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        size_t size;
        const char *rule;
    } cases[] = {
        { 0, "Empty attribute name" },
        { 1, NULL },
        { ATTRIBUTE_NAME_SIZE_MAX - 1, NULL },
        { ATTRIBUTE_NAME_SIZE_MAX, NULL },
        { ATTRIBUTE_NAME_SIZE_MAX + 1,
          "Attribute name is too large, must be less than 65536 bytes" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *name = arena_alloc(fixture->arena, cases[i].size + 1);
        memset(name, 'n', cases[i].size);
        name[cases[i].size] = '\0';
        struct item item;
        struct bytes json = arena_printf(fixture->arena, "{\"%s\":{\"S\":\"\"}}", name);
        assert_true(read_item(fixture, json, &item));
        assert_true(bytes_equal_text(fixture->rule.message, cases[i].rule ? cases[i].rule : ""));
        json = arena_printf(fixture->arena, "{\"M\":{\"%s\":{\"S\":\"\"}}}", name);
        assert_true(read_value(fixture, json));
        assert_true(bytes_equal_text(fixture->rule.message, cases[i].rule ? cases[i].rule : ""));
    }
}

static void items_are_read_and_written(void **state)
{
    struct fixture *fixture = *state;
    struct item item, opened;
    struct bytes json = BYTES("{\"b\":{\"N\":\"1\"},\"a\":{\"S\":\"x\"},\"b\":{\"N\":\"2\"}}");
    assert_true(read_item(fixture, json, &item));
    assert_int_equal(item.count, 2);
    assert_int_equal(item.size, 1 + 1 + 1 + 2);
    assert_true(item_open(item.encoded, &opened));
    assert_true(item_verify(&opened));
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, fixture->arena);
    json_writer_init(&writer, &text);
    item_json_write(&writer, &item);
    assert_true(bytes_equal_text(buffer_bytes(&text), "{\"a\":{\"S\":\"x\"},\"b\":{\"N\":\"2\"}}"));

    assert_true(read_item(fixture, BYTES("{}"), &item));
    assert_int_equal(item.count, 0);
    assert_false(read_item(fixture, BYTES("[]"), &item));
    assert_true(bytes_equal_text(
        fixture->err.message,
        "Unrecognized collection type java.util.Map<java.lang.String, " ATTRIBUTE_VALUE ">"));
    assert_false(read_item(fixture, BYTES("\"a\""), &item));
    assert_true(bytes_equal_text(fixture->err.message, "Unexpected field type"));
    assert_false(read_item(fixture, BYTES("{\"a\":{\"S\":\"x\"}"), &item));
    assert_false(error_is_set(&fixture->err));
}

/* Many members in a random order, with repeats, against the rule that the last one counts. */
static void large_maps_are_sorted_whatever_their_order(void **state)
{
    struct fixture *fixture = *state;
    enum { MEMBERS = 3000, NAMES = 1000 };
    static unsigned last[NAMES];
    struct random seeds, random;
    random_init_from_system(&seeds);
    uint64_t seed = random_next(&seeds);
    printf("seed %llu\n", (unsigned long long)seed);
    random_init(&random, seed);
    memset(last, 0, sizeof last);
    struct buffer text;
    buffer_init(&text, fixture->arena);
    buffer_append_bytes(&text, BYTES("{\"M\":{"));
    for (unsigned i = 1; i <= MEMBERS; i++) {
        unsigned name = (unsigned)random_below(&random, NAMES);
        last[name] = i;
        buffer_append_bytes(&text, arena_printf(fixture->arena, "%s\"%u\":{\"N\":\"%u\"}",
                                                i > 1 ? "," : "", name, i));
    }
    buffer_append_bytes(&text, BYTES("}}"));
    assert_true(read_value(fixture, buffer_bytes(&text)));
    assert_true(value_verify(buffer_bytes(&fixture->encoded), 2));

    struct bytes encoded = buffer_bytes(&fixture->encoded);
    struct value map, member;
    assert_true(value_open(&encoded, &map));
    for (unsigned name = 0; name < NAMES; name++) {
        struct bytes key = arena_printf(fixture->arena, "%u", name);
        bool found = value_map_find(&map, key, &member);
        assert_int_equal(found, last[name] != 0);
        if (found) {
            struct bytes want = arena_printf(fixture->arena, "{\"N\":\"%u\"}", last[name]);
            assert_true(bytes_equal(written(fixture, member.encoded), want));
        }
    }
}

/* "000000", "000001", ... as a string set or as the names of a map. */
static struct bytes many_members(struct fixture *fixture, bool map, unsigned count)
{
    struct buffer text;
    char member[40];
    buffer_init(&text, fixture->arena);
    buffer_append_bytes(&text, map ? BYTES("{\"M\":{") : BYTES("{\"SS\":["));
    for (unsigned i = 0; i < count; i++) {
        int size = snprintf(member, sizeof member, "%s\"%06u\"%s", i > 0 ? "," : "", i,
                            map ? ":{\"S\":\"\"}" : "");
        buffer_append(&text, member, (size_t)size);
    }
    buffer_append_bytes(&text, map ? BYTES("}}") : BYTES("]}"));
    return buffer_bytes(&text);
}

static void members_beyond_any_item_are_not_kept(void **state)
{
    struct fixture *fixture = *state;
    for (int map = 0; map < 2; map++) {
        for (unsigned count = ITEM_SIZE_MAX - 1; count <= ITEM_SIZE_MAX + 1; count++) {
            arena_reset(fixture->arena);
            assert_true(read_value(fixture, many_members(fixture, map, count)));
            struct bytes encoded = buffer_bytes(&fixture->encoded);
            struct value value;
            assert_true(value_open(&encoded, &value));
            bool surplus = count > ITEM_SIZE_MAX;
            assert_int_equal(value.count, surplus ? ITEM_SIZE_MAX : count);
            assert_true(
                bytes_equal_text(fixture->rule.message,
                                 surplus ? "Item size has exceeded the maximum allowed size" : ""));
        }
    }
}

/* Every one of them breaks a rule, or has to be sorted: memory must not be spent on each anew. */
static void a_message_shows_a_bounded_part_of_a_set(void **state)
{
    struct fixture *fixture = *state;
    enum { MEMBERS = 1000 * 1000 };
    fixture->family = ERROR_FAMILY_NEWER;
    struct buffer text;
    buffer_init(&text, fixture->arena);
    buffer_append_bytes(&text, BYTES("{\"SS\":[\"a\""));
    for (int member = 1; member < MEMBERS; member++)
        buffer_append_bytes(&text, BYTES(",\"a\""));
    buffer_append_bytes(&text, BYTES("]}"));
    assert_true(read_value(fixture, buffer_bytes(&text)));
    assert_true(error_is_set(&fixture->rule));
    assert_true(fixture->rule.message.len <= 2 * REPEATED_TEXT_MAX);
}

static void memory_stays_in_proportion_to_the_request(void **state)
{
    struct fixture *fixture = *state;
    enum { REPEATS = 100000 };
    static const char *const values[] = {
        "{\"N\":\"x\"}",
        "{\"SS\":[\"b\",\"a\"]}",
        "{\"SS\":[\"a\",\"a\"]}",
        "{\"M\":{\"b\":{\"S\":\"\"},\"a\":{\"S\":\"\"}}}",
    };
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        struct buffer text;
        arena_reset(fixture->arena);
        buffer_init(&text, fixture->arena);
        buffer_append_bytes(&text, BYTES("{\"L\":["));
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            buffer_append_bytes(&text, bytes_from_text(repeat > 0 ? "," : ""));
            buffer_append_bytes(&text, bytes_from_text(values[i]));
        }
        buffer_append_bytes(&text, BYTES("]}"));
        size_t held = arena_held_size(fixture->arena);
        assert_true(read_value(fixture, buffer_bytes(&text)));
        assert_true(arena_held_size(fixture->arena) <= held + 4 * text.len);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(values_come_back_in_canonical_form),
        TEST(broken_rules_are_told_and_reading_goes_on),
        TEST(a_rule_that_was_broken_before_stays),
        TEST(json_of_another_shape_is_a_serialization_failure),
        TEST(broken_json_leaves_the_report_to_the_caller),
        TEST(nesting_is_bounded),
        TEST(each_family_has_words_of_its_own),
        TEST(depth_is_the_last_rule_to_be_told),
        TEST(attribute_names_are_bounded),
        TEST(items_are_read_and_written),
        TEST(large_maps_are_sorted_whatever_their_order),
        TEST(members_beyond_any_item_are_not_kept),
        TEST(a_message_shows_a_bounded_part_of_a_set),
        TEST(memory_stays_in_proportion_to_the_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
