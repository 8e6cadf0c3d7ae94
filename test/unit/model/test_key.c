/* test_key.c -- key bytes, their order, and the rules of key attributes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "json/reader.h"
#include "model/error.h"
#include "model/item.h"
#include "model/key.h"
#include "model/limits.h"
#include "model/value_json.h"

#define INVALID "One or more parameter values were invalid: "
#define EMPTY_KEY(kind, key)                                                                       \
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "   \
    "contain an empty " kind " value. Key: " key
#define HASH_TOO_LONG INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes"
#define RANGE_TOO_LONG                                                                             \
    INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
#define NO_MATCH "The provided key element does not match the schema"

struct fixture {
    struct arena *arena;
    struct error err;
};

static int setup(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->arena = arena_create();
    error_init(&fixture->err, fixture->arena);
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

/* The worked examples of doc/disk-format.md, "Key bytes". */
static const struct {
    enum value_type type;
    const char *content;
    size_t content_size;
    const char *bytes;
    size_t size;
} examples[] = {
    { VALUE_S, "", 0, "\x00\x01", 2 },
    { VALUE_S, "a", 1, "a\x00\x01", 3 },
    { VALUE_S, "a\x00", 2, "a\x00\xFF\x00\x01", 5 },
    { VALUE_B, "\x00\x01\xFF", 3, "\x00\xFF\x01\xFF\x00\x01", 6 },
    { VALUE_B, "\x00\x00", 2, "\x00\xFF\x00\xFF\x00\x01", 6 },
    { VALUE_N, "\xC1\x03\x64", 3, "\xC1\x03\x64", 3 },
};

static void keys_are_encoded_as_documented(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(examples); i++) {
        struct buffer out, back;
        struct value value = {
            .type = examples[i].type,
            .data = bytes_of(examples[i].content, examples[i].content_size),
        };
        struct bytes want = bytes_of(examples[i].bytes, examples[i].size);
        buffer_init(&out, fixture->arena);
        key_encode_part(&out, &value);
        if (!bytes_equal(buffer_bytes(&out), want))
            fail_msg("example %zu", i);

        buffer_append_byte(&out, 0x77); /* The next part, which stays. */
        struct bytes rest = buffer_bytes(&out);
        buffer_init(&back, fixture->arena);
        assert_true(key_decode_part(&rest, examples[i].type, &back));
        assert_int_equal(rest.len, 1);
        struct bytes encoded = buffer_bytes(&back);
        struct value decoded;
        assert_true(value_open(&encoded, &decoded));
        assert_int_equal(decoded.type, value.type);
        assert_true(bytes_equal(decoded.data, value.data));
        for (size_t size = 0; size < want.len; size++) {
            rest = arena_copy(fixture->arena, bytes_of(want.data, size));
            assert_false(key_decode_part(&rest, examples[i].type, &back));
        }
    }
    struct bytes strange = BYTES("a\x00\x02");
    struct buffer back;
    buffer_init(&back, fixture->arena);
    assert_false(key_decode_part(&strange, VALUE_S, &back));
    strange = BYTES("\xC1\x00");
    assert_false(key_decode_part(&strange, VALUE_N, &back));
}

static void a_prefix_starts_every_key_that_begins_with_it(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        struct bytes value;
        bool begins;
    } cases[] = {
        { BYTES("a\0"), true },   { BYTES("a\0b"), true }, { BYTES("a\0\0"), true },
        { BYTES("a\0\1"), true }, { BYTES("a"), false },   { BYTES("a\1"), false },
        { BYTES("ab"), false },
    };
    struct buffer prefix;
    buffer_init(&prefix, fixture->arena);
    key_encode_prefix(&prefix, BYTES("a\0"));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct value value = { .type = VALUE_S, .data = cases[i].value };
        struct buffer key;
        buffer_init(&key, fixture->arena);
        key_encode_part(&key, &value);
        assert_int_equal(bytes_starts_with(buffer_bytes(&key), buffer_bytes(&prefix)),
                         cases[i].begins);
    }
}

static void two_part_keys_sort_by_the_first_part_and_then_the_second(void **state)
{
    struct fixture *fixture = *state;
    struct random seeds, random;
    random_init_from_system(&seeds);
    uint64_t seed = random_next(&seeds);
    printf("seed %llu\n", (unsigned long long)seed);
    random_init(&random, seed);
    static const uint8_t alphabet[] = { 0x00, 0x01, 0xFE, 0xFF, 'a' };
    for (int round = 0; round < 20000; round++) {
        uint8_t content[2][2][3];
        struct value parts[2][2];
        struct buffer key[2];
        for (int k = 0; k < 2; k++) {
            buffer_init(&key[k], fixture->arena);
            for (int p = 0; p < 2; p++) {
                size_t size = random_below(&random, 4);
                for (size_t i = 0; i < size; i++)
                    content[k][p][i] = alphabet[random_below(&random, sizeof alphabet)];
                parts[k][p] =
                    (struct value){ .type = VALUE_B, .data = bytes_of(content[k][p], size) };
                key_encode_part(&key[k], &parts[k][p]);
            }
        }
        int want = bytes_compare(parts[0][0].data, parts[1][0].data);
        if (want == 0)
            want = bytes_compare(parts[0][1].data, parts[1][1].data);
        int got = bytes_compare(buffer_bytes(&key[0]), buffer_bytes(&key[1]));
        assert_int_equal((got > 0) - (got < 0), (want > 0) - (want < 0));
        arena_reset(fixture->arena);
    }
}

/* --- Rules --- */

enum { SCHEMA_S, SCHEMA_SS, SCHEMA_NN, SCHEMA_BB };
static const struct key_schema schemas[] = {
    [SCHEMA_S] = { .hash = { BYTES("pk"), VALUE_S } },
    [SCHEMA_SS] = { { BYTES("pk"), VALUE_S }, { BYTES("sk"), VALUE_S }, true },
    [SCHEMA_NN] = { { BYTES("pk"), VALUE_N }, { BYTES("sk"), VALUE_N }, true },
    [SCHEMA_BB] = { { BYTES("pk"), VALUE_B }, { BYTES("sk"), VALUE_B }, true },
};

static const struct {
    int schema;
    const char *json, *item_error, *request_error; /* NULL: accepted. */
} rules[] = {
    { SCHEMA_S, "{\"pk\":{\"S\":\"a\"}}", NULL, NULL },
    { SCHEMA_S, "{\"pk\":{\"S\":\"a\"},\"v\":{\"S\":\"b\"}}", NULL, NO_MATCH },
    { SCHEMA_SS, "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"b\"}}", NULL, NULL },
    { SCHEMA_NN, "{\"pk\":{\"N\":\"1\"},\"sk\":{\"N\":\"2\"}}", NULL, NULL },
    { SCHEMA_S, "{}", INVALID "Missing the key pk in the item", NO_MATCH },
    { SCHEMA_S, "{\"v\":{\"S\":\"b\"}}", INVALID "Missing the key pk in the item", NO_MATCH },
    { SCHEMA_S, "{\"pk\":{\"N\":\"1\"}}", INVALID "Type mismatch for key pk expected: S actual: N",
      NO_MATCH },
    { SCHEMA_S, "{\"pk\":{\"NULL\":true}}",
      INVALID "Type mismatch for key pk expected: S actual: NULL", NO_MATCH },
    { SCHEMA_S, "{\"pk\":{\"S\":\"\"}}", EMPTY_KEY("string", "pk"), EMPTY_KEY("string", "pk") },
    { SCHEMA_SS, "{\"pk\":{\"S\":\"a\"}}", INVALID "Missing the key sk in the item", NO_MATCH },
    { SCHEMA_SS, "{\"pk\":{\"S\":\"\"}}", EMPTY_KEY("string", "pk"), NO_MATCH },
    { SCHEMA_SS, "{\"pk\":{\"S\":\"\"},\"v\":{\"S\":\"b\"}}", EMPTY_KEY("string", "pk"),
      EMPTY_KEY("string", "pk") },
    { SCHEMA_SS, "{\"pk\":{\"S\":\"\"},\"sk\":{\"N\":\"1\"}}", EMPTY_KEY("string", "pk"),
      EMPTY_KEY("string", "pk") },
    { SCHEMA_SS, "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"\"}}", EMPTY_KEY("string", "sk"),
      EMPTY_KEY("string", "sk") },
    { SCHEMA_SS, "{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"}}",
      INVALID "Type mismatch for key sk expected: S actual: N", NO_MATCH },
    { SCHEMA_BB, "{\"pk\":{\"B\":\"\"},\"sk\":{\"B\":\"YQ==\"}}", EMPTY_KEY("binary", "pk"),
      EMPTY_KEY("binary", "pk") },
    { SCHEMA_BB, "{\"pk\":{\"B\":\"YQ==\"},\"sk\":{\"B\":\"\"}}", EMPTY_KEY("binary", "sk"),
      EMPTY_KEY("binary", "sk") },
};

static struct item read_item(struct fixture *fixture, struct bytes json)
{
    struct json_reader reader;
    struct item item;
    struct error rule, err;
    json_reader_init(&reader, fixture->arena, json, 80);
    error_init(&rule, fixture->arena);
    error_init(&err, fixture->arena);
    assert_true(item_json_read(&reader, fixture->arena, &item, &rule, &err));
    return item;
}

static void check(struct fixture *fixture, int schema, const struct item *item, bool request,
                  const char *error)
{
    struct buffer hash, range;
    buffer_init(&hash, fixture->arena);
    buffer_init(&range, fixture->arena);
    error_init(&fixture->err, fixture->arena);
    bool ok = request ? key_from_request(&schemas[schema], item, &hash, &range, &fixture->err)
                      : key_from_item(&schemas[schema], item, &hash, &range, &fixture->err);
    assert_int_equal(ok, error == NULL);
    assert_int_equal(fixture->err.code, error == NULL ? ERROR_NONE : ERROR_VALIDATION);
    if (!bytes_equal_text(fixture->err.message, error == NULL ? "" : error))
        fail_msg("%s: %.*s", error == NULL ? "accepted" : error, BYTES_FMT(fixture->err.message));
    if (ok) {
        assert_true(hash.len > 0);
        assert_int_equal(range.len > 0, schemas[schema].has_range);
    }
}

static void keys_obey_the_rules_in_the_order_of_the_service(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        struct item item = read_item(fixture, bytes_from_text(rules[i].json));
        check(fixture, rules[i].schema, &item, false, rules[i].item_error);
        check(fixture, rules[i].schema, &item, true, rules[i].request_error);
    }
}

static struct item key_of_sizes(struct fixture *fixture, size_t hash_size, size_t range_size)
{
    struct item_builder builder;
    struct buffer hash, range;
    size_t larger = hash_size > range_size ? hash_size : range_size;
    uint8_t *text = arena_alloc(fixture->arena, larger);
    memset(text, 'k', larger);
    item_builder_init(&builder, fixture->arena);
    buffer_init(&hash, fixture->arena);
    buffer_init(&range, fixture->arena);
    value_append_string(&hash, bytes_of(text, hash_size));
    value_append_string(&range, bytes_of(text, range_size));
    item_builder_add(&builder, BYTES("pk"), buffer_bytes(&hash));
    item_builder_add(&builder, BYTES("sk"), buffer_bytes(&range));
    return item_builder_finish(&builder);
}

static void key_values_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        size_t hash_size, range_size;
        const char *error;
    } cases[] = {
        { 1, 1, NULL },
        { PARTITION_KEY_SIZE_MAX - 1, SORT_KEY_SIZE_MAX - 1, NULL },
        { PARTITION_KEY_SIZE_MAX, SORT_KEY_SIZE_MAX, NULL },
        { PARTITION_KEY_SIZE_MAX + 1, 1, HASH_TOO_LONG },
        { 1, SORT_KEY_SIZE_MAX + 1, RANGE_TOO_LONG },
        { PARTITION_KEY_SIZE_MAX + 1, SORT_KEY_SIZE_MAX + 1, HASH_TOO_LONG },
        { PARTITION_KEY_SIZE_MAX + 1, 0, HASH_TOO_LONG },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item item = key_of_sizes(fixture, cases[i].hash_size, cases[i].range_size);
        check(fixture, SCHEMA_SS, &item, false, cases[i].error);
        check(fixture, SCHEMA_SS, &item, true, cases[i].error);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(keys_are_encoded_as_documented),
        TEST(a_prefix_starts_every_key_that_begins_with_it),
        TEST(two_part_keys_sort_by_the_first_part_and_then_the_second),
        TEST(keys_obey_the_rules_in_the_order_of_the_service),
        TEST(key_values_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
