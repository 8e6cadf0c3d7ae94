/* test_key_hash.c -- the hash of keys agrees with the order that the service shows.
 *
 * The digests were computed by another implementation of MD5. That they are of the right bytes was
 * seen in recorded orders of Scan and Query. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "model/key.h"
#include "model/number.h"
#include "model/table_definition.h"
#include "table/key_hash.h"

static struct bytes key_bytes(struct arena *arena, enum value_type type, struct bytes text)
{
    struct value value = { .type = type, .data = text };
    struct buffer out;
    uint8_t *encoded = arena_alloc(arena, NUMBER_ENCODED_MAX);
    size_t size;
    if (type == VALUE_N) {
        assert_true(number_encode_text(text, encoded, &size, NULL));
        value.data = bytes_of(encoded, size);
    }
    buffer_init(&out, arena);
    key_encode_part(&out, &value);
    return buffer_bytes(&out);
}

static uint64_t hash_of(struct arena *arena, enum value_type type, struct bytes text)
{
    const struct key_attribute attribute = { .name = BYTES("pk"), .type = type };
    const struct table_definition table = { .hash = TABLE_HASH_MD5 };
    return key_hash_of_partition(&table, &attribute, 1, key_bytes(arena, type, text));
}

static void a_partition_key_counts_in_the_form_of_the_service(void **state)
{
    (void)state;
    static const struct {
        enum value_type type;
        const char *text;
        uint64_t want;
    } cases[] = {
        { VALUE_S, "a", 0xf6558e516275dee2 },
        { VALUE_S, "k0", 0xd68ecde11b209afc },
        { VALUE_S, "é", 0x1062807ac84fe65a },
        { VALUE_S, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0x24b4102af26bb651 },
        { VALUE_S, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0xf598f76bc3e9f800 },
        { VALUE_S,
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
          "aaaaaaaaaaaaaaaaaaaaaaaa",
          0x23f9b799e72c7d6e },
        { VALUE_N, "0", 0xce212d751674ab5d },
        { VALUE_N, "1", 0xc3a0310aed78739b },
        { VALUE_N, "-1", 0x0267df4c95559d50 },
        { VALUE_N, "1.5", 0x8158bdac51f21183 },
        { VALUE_N, "-1.5", 0x98f4b174125ac721 },
        { VALUE_N, "100", 0x6840bd23a62fcf9a },
        { VALUE_N, "-123", 0x410ac7b95c506fe6 },
        { VALUE_N, "1e125", 0x2f2857f5242da8c0 },
        { VALUE_N, "1e-130", 0x727de75fed0d7a87 },
        { VALUE_N, "-1e-130", 0x3ad3e0d25a9e3913 },
        { VALUE_N, "99999999999999999999999999999999999999", 0xbe31f610444ad737 },
        { VALUE_N, "-99999999999999999999999999999999999999", 0x1ee423923d65e0d1 },
        { VALUE_N, "0.01", 0x355037b7082c4384 },
        { VALUE_N, "12345.678", 0x587e1c5351504cdd },
        { VALUE_N, "-0.1234567890123456789012345678901234567", 0x08cf5b665fcd61f9 },
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(hash_of(arena, cases[i].type, bytes_from_text(cases[i].text)),
                         cases[i].want);
    arena_destroy(arena);
}

static void zero_bytes_of_a_binary_key_count_once(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    static const uint8_t zeros[] = { 0, 1, 0, 0xFF, 0 };
    assert_int_equal(hash_of(arena, VALUE_B, bytes_of(zeros, sizeof zeros)), 0x4688cd4ad7d45f51);
    arena_destroy(arena);
}

static void an_item_is_hashed_by_both_parts_of_its_key(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct table_definition table = {
        .hash = TABLE_HASH_MD5,
        .key = { .hash = { .name = BYTES("pk"), .type = VALUE_S },
                 .range = { .name = BYTES("sk"), .type = VALUE_N },
                 .has_range = true },
    };
    assert_int_equal(key_hash_of_item(&table, key_bytes(arena, VALUE_S, BYTES("p4")),
                                      key_bytes(arena, VALUE_N, BYTES("-1.5"))),
                     0x4397478ca9fb28d9);
    table.key.has_range = false;
    assert_int_equal(
        key_hash_of_item(&table, key_bytes(arena, VALUE_S, BYTES("p4")), (struct bytes){ 0 }),
        0xaf9c1a4cc9065db4);
    arena_destroy(arena);
}

static void the_partition_key_of_an_index_is_all_its_attributes(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct table_definition table = { .hash = TABLE_HASH_MD5 };
    const struct key_attribute attributes[] = { { .name = BYTES("a"), .type = VALUE_S },
                                                { .name = BYTES("b"), .type = VALUE_N } };
    struct buffer key;
    buffer_init(&key, arena);
    buffer_append_bytes(&key, key_bytes(arena, VALUE_S, BYTES("p4")));
    buffer_append_bytes(&key, key_bytes(arena, VALUE_N, BYTES("-1.5")));
    assert_int_equal(key_hash_of_partition(&table, attributes, 2, buffer_bytes(&key)),
                     0x4397478ca9fb28d9);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_partition_key_counts_in_the_form_of_the_service),
        cmocka_unit_test(zero_bytes_of_a_binary_key_count_once),
        cmocka_unit_test(an_item_is_hashed_by_both_parts_of_its_key),
        cmocka_unit_test(the_partition_key_of_an_index_is_all_its_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
