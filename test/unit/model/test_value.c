/* test_value.c -- the encoded form of attribute values: bytes, walking, checking, sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "json/reader.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/value.h"
#include "model/value_json.h"

/* The worked examples of doc/disk-format.md, "Values"; and what DynamoDB charges for them. */
static const struct {
    const char *json, *hex;
    size_t size;
} examples[] = {
    { "{\"S\":\"\"}", "0100", 0 },
    { "{\"S\":\"abc\"}", "0103616263", 3 },
    { "{\"S\":\"\xC3\xA9\"}", "0102C3A9", 2 },
    { "{\"N\":\"0\"}", "028000", 1 },
    { "{\"N\":\"-123\"}", "023DFCD1", 4 },
    { "{\"B\":\"AP8=\"}", "030200FF", 2 },
    { "{\"BOOL\":false}", "04", 1 },
    { "{\"BOOL\":true}", "05", 1 },
    { "{\"NULL\":true}", "06", 1 },
    { "{\"L\":[]}", "070100", 3 },
    { "{\"L\":[{\"S\":\"a\"},{\"NULL\":true}]}", "07050201016106", 3 + 2 + 1 + 1 },
    { "{\"M\":{}}", "080100", 3 },
    { "{\"M\":{\"b\":{\"N\":\"1\"},\"a\":{\"BOOL\":true}}}", "080902016105016202C102",
      3 + 2 + 1 + 1 + 1 + 2 },
    { "{\"SS\":[\"b\",\"a\"]}", "09050201610162", 2 },
    { "{\"NS\":[\"1\",\"-1\"]}", "0A05023EFDC102", 2 + 3 },
    { "{\"BS\":[\"AA==\"]}", "0B03010100", 1 },
};

static const struct {
    const char *name, *hex;
} refused[] = {
    { "nothing", "" },
    { "tag 0", "00" },
    { "unknown tag", "0C" },
    { "string without a length", "01" },
    { "string past the end", "010261" },
    { "length not in shortest form", "018300616263" },
    { "length past 32 bits", "01FFFFFFFF1F" },
    { "length without end", "01FFFFFFFFFF01" },
    { "string not in UTF-8", "0101FF" },
    { "string with an overlong form", "0102C080" },
    { "string with a surrogate", "0103EDA080" },
    { "string with half a character", "0102E282" },
    { "string with a third byte that is none", "0103E28241" },
    { "string above U+10FFFF", "0104F4908080" },
    { "number without an end", "02C103" },
    { "number not canonical", "02C100" },
    { "something behind", "0606" },
    { "list shorter than it says", "0702010606" },
    { "list with fewer elements than it says", "07020206" },
    { "list with more elements than it says", "0703010606" },
    { "list without a count", "0700" },
    { "list element past the end", "070401010361" },
    { "map out of order", "080702016206016106" },
    { "map with a name twice", "080702016106016106" },
    { "map with an empty name", "0803010006" },
    { "map with a name not in UTF-8", "08040101FF06" },
    { "map member without a value", "0803010161" },
    { "empty set", "090100" },
    { "set out of order", "09050201620161" },
    { "set with a member twice", "09050201610161" },
    { "string set not in UTF-8", "09030101FF" },
    { "number set out of order", "0A0502C1023EFD" },
    { "number set with something else", "0A0301C100" },
    { "binary set with fewer members", "0B03020100" },
    { "set with half a member", "090402016102" },
};

struct fixture {
    struct arena *arena;
};

static int setup(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->arena = arena_create();
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

static struct bytes unhex(struct fixture *fixture, const char *hex)
{
    struct buffer out;
    buffer_init(&out, fixture->arena);
    for (; hex[0] != '\0'; hex += 2) {
        char digits[3] = { hex[0], hex[1], '\0' };
        buffer_append_byte(&out, (uint8_t)strtoul(digits, NULL, 16));
    }
    return arena_copy(fixture->arena, buffer_bytes(&out));
}

static struct bytes encoded(struct fixture *fixture, const char *json)
{
    struct json_reader reader;
    struct buffer out;
    struct error rule, err;
    json_reader_init(&reader, fixture->arena, bytes_from_text(json), 80);
    buffer_init(&out, fixture->arena);
    error_init(&rule, fixture->arena);
    error_init(&err, fixture->arena);
    assert_true(value_json_read(&reader, &out, &rule, &err));
    return buffer_bytes(&out);
}

static struct value opened(struct bytes bytes)
{
    struct value value;
    assert_true(value_open(&bytes, &value));
    assert_int_equal(bytes.len, 0);
    return value;
}

static void values_are_encoded_as_documented(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(examples); i++) {
        struct bytes want = unhex(fixture, examples[i].hex);
        if (!bytes_equal(encoded(fixture, examples[i].json), want))
            fail_msg("%s", examples[i].json);
        assert_true(value_verify(want, NESTING_DEPTH_MAX));
        struct value value = opened(want);
        assert_true(bytes_equal(value.encoded, want));
        if (value_size(&value) != examples[i].size)
            fail_msg("%s: %zu", examples[i].json, value_size(&value));
    }
}

static void bytes_that_are_not_canonical_are_refused(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        if (value_verify(unhex(fixture, refused[i].hex), NESTING_DEPTH_MAX))
            fail_msg("%s", refused[i].name);
    }
}

static void every_cut_of_a_value_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct bytes whole = encoded(fixture, "{\"M\":{\"a\":{\"L\":[{\"N\":\"12\"},{\"S\":\"xy\"}]},"
                                          "\"b\":{\"SS\":[\"p\",\"q\"]},\"c\":{\"B\":\"AAAA\"}}}");
    assert_true(value_verify(whole, NESTING_DEPTH_MAX));
    for (size_t size = 0; size < whole.len; size++)
        assert_false(value_verify(arena_copy(fixture->arena, bytes_of(whole.data, size)), 32));
}

static void depth_counts_lists_and_maps_and_what_they_hold(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *json;
        unsigned depth;
    } cases[] = {
        { "{\"S\":\"a\"}", 1 },
        { "{\"SS\":[\"a\"]}", 1 },
        { "{\"L\":[]}", 1 },
        { "{\"L\":[{\"S\":\"a\"}]}", 2 },
        { "{\"M\":{\"a\":{\"L\":[{\"NS\":[\"1\"]}]},\"b\":{\"S\":\"\"}}}", 3 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes bytes = encoded(fixture, cases[i].json);
        assert_true(value_verify(bytes, cases[i].depth));
        assert_false(value_verify(bytes, cases[i].depth - 1));
    }
}

static void type_names_are_those_of_json(void **state)
{
    (void)state;
    for (int i = 0; i < VALUE_TYPE_COUNT; i++) {
        enum value_type type;
        const char *name = value_type_name((enum value_type)i);
        assert_true(value_type_parse(bytes_from_text(name), &type));
        assert_int_equal(type, i);
    }
    static const char *const others[] = { "", "s", "X", "SSS", "NUL", "BOOLE", "BO", "T" };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        enum value_type type;
        assert_false(value_type_parse(bytes_from_text(others[i]), &type));
    }
}

static void containers_are_walked_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct value map =
        opened(encoded(fixture, "{\"M\":{\"b\":{\"S\":\"2\"},\"a\":{\"S\":\"1\"}}}"));
    struct value_iter iter;
    struct value member;
    struct bytes name;
    assert_int_equal(map.count, 2);
    value_iter_init(&iter, &map);
    assert_true(value_iter_next(&iter, &name, &member));
    assert_true(bytes_equal_text(name, "a"));
    assert_true(bytes_equal_text(member.data, "1"));
    assert_true(value_iter_next(&iter, NULL, &member));
    assert_true(bytes_equal_text(member.data, "2"));
    assert_false(value_iter_next(&iter, &name, &member));

    struct value set = opened(encoded(fixture, "{\"BS\":[\"YQ==\",\"Yg==\"]}"));
    value_iter_init(&iter, &set);
    assert_true(value_iter_next(&iter, NULL, &member));
    assert_int_equal(member.type, VALUE_B);
    assert_true(bytes_equal_text(member.data, "a"));
    assert_true(value_iter_next(&iter, NULL, &member));
    assert_false(value_iter_next(&iter, NULL, &member));
}

static void members_are_found_by_their_whole_name(void **state)
{
    struct fixture *fixture = *state;
    struct value member, map = opened(encoded(fixture, "{\"M\":{\"aa\":{\"S\":\"1\"},"
                                                       "\"ab\":{\"S\":\"2\"},"
                                                       "\"b\":{\"S\":\"3\"}}}"));
    assert_true(value_map_find(&map, BYTES("ab"), &member));
    assert_true(bytes_equal_text(member.data, "2"));
    assert_true(value_map_find(&map, BYTES("b"), &member));
    static const char *const absent[] = { "", "a", "aaa", "ac", "c" };
    for (size_t i = 0; i < COUNT_OF(absent); i++)
        assert_false(value_map_find(&map, bytes_from_text(absent[i]), &member));
}

/* Appended by hand, the long way and the short way, with lengths around a byte's seven bits. */
static void lengths_of_every_size_are_encoded(void **state)
{
    struct fixture *fixture = *state;
    static const size_t sizes[] = { 0, 1, 127, 128, 129, 16383, 16384, 70000, 2097151, 2097152 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct buffer elements, copied, wrapped;
        uint8_t *text = arena_alloc_zeroed(fixture->arena, sizes[i] + 1);
        buffer_init(&elements, fixture->arena);
        buffer_init(&copied, fixture->arena);
        buffer_init(&wrapped, fixture->arena);
        value_append_binary(&elements, bytes_of(text, sizes[i]));
        value_append_container(&copied, VALUE_L, 1, buffer_bytes(&elements));
        value_append_null(&wrapped); /* Something before it, which stays. */
        value_append_binary(&wrapped, bytes_of(text, sizes[i]));
        value_wrap_container(&wrapped, 1, VALUE_L, 1);
        struct bytes both = buffer_bytes(&wrapped);
        assert_true(bytes_equal(bytes_of(both.data + 1, both.len - 1), buffer_bytes(&copied)));
        assert_true(value_verify(buffer_bytes(&copied), 2));
        struct value list = opened(buffer_bytes(&copied));
        assert_int_equal(value_size(&list), 3 + 1 + sizes[i]);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(values_are_encoded_as_documented),
        TEST(bytes_that_are_not_canonical_are_refused),
        TEST(every_cut_of_a_value_is_refused),
        TEST(depth_counts_lists_and_maps_and_what_they_hold),
        TEST(type_names_are_those_of_json),
        TEST(containers_are_walked_in_order),
        TEST(members_are_found_by_their_whole_name),
        TEST(lengths_of_every_size_are_encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
