/* test_item.c -- sealed items: bytes, checksum, search, builder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "base/random.h"
#include "model/item.h"
#include "model/limits.h"

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

static struct bytes string_value(struct fixture *fixture, const char *text)
{
    struct buffer out;
    buffer_init(&out, fixture->arena);
    value_append_string(&out, bytes_from_text(text));
    return buffer_bytes(&out);
}

static struct item build(struct fixture *fixture, const char *const *pairs, size_t count)
{
    struct item_builder builder;
    item_builder_init(&builder, fixture->arena);
    for (size_t i = 0; i < count; i++)
        item_builder_add(&builder, bytes_from_text(pairs[2 * i]),
                         string_value(fixture, pairs[2 * i + 1]));
    return item_builder_finish(&builder);
}

/* The worked example of doc/disk-format.md, "Items". */
static const uint8_t example[] = {
    0x01,                                     /* Format. */
    0xD2, 0xF3, 0xBD, 0x7D,                   /* CRC-32C. */
    0x06, 0x00, 0x00, 0x00,                   /* DynamoDB's size. */
    0x02,                                     /* Two attributes. */
    0x01, 0x61, 0x01, 0x01, 0x78,             /* "a": "x" */
    0x02, 0x70, 0x6B, 0x01, 0x02, 0x79, 0x7A, /* "pk": "yz" */
};

static void items_are_encoded_as_documented(void **state)
{
    struct fixture *fixture = *state;
    static const char *const pairs[] = { "pk", "yz", "a", "x" };
    struct item item = build(fixture, pairs, 2), opened;
    if (!bytes_equal(item.encoded, bytes_of(example, sizeof example)))
        fail_msg("checksum %08x", crc32c(bytes_of(item.encoded.data + 5, item.encoded.len - 5)));
    assert_true(item_open(bytes_of(example, sizeof example), &opened));
    assert_true(item_verify(&opened));
    assert_int_equal(opened.count, 2);
    assert_int_equal(opened.size, 1 + 1 + 2 + 2);
    assert_true(bytes_equal(opened.attributes, item.attributes));
}

static void no_changed_bit_goes_unnoticed(void **state)
{
    (void)state;
    uint8_t copy[sizeof example];
    struct item item;
    for (size_t bit = 0; bit < sizeof example * 8; bit++) {
        memcpy(copy, example, sizeof copy);
        copy[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        if (item_open(bytes_of(copy, sizeof copy), &item))
            fail_msg("bit %zu", bit);
    }
    for (size_t size = 0; size < sizeof example; size++)
        assert_false(item_open(bytes_of(example, size), &item));
}

/* Changes one byte and makes the checksum right again, as a bug of ours would. */
static bool verifies_with(size_t at, uint8_t byte)
{
    uint8_t copy[sizeof example];
    memcpy(copy, example, sizeof copy);
    copy[at] = byte;
    uint32_t checksum = crc32c(bytes_of(copy + 5, sizeof copy - 5));
    for (int i = 0; i < 4; i++)
        copy[1 + i] = (uint8_t)(checksum >> (8 * i));
    struct item item;
    return item_open(bytes_of(copy, sizeof copy), &item) && item_verify(&item);
}

static void verifying_looks_behind_the_checksum(void **state)
{
    (void)state;
    assert_true(verifies_with(5, example[5]));
    assert_false(verifies_with(5, 0x08));  /* Another size. */
    assert_false(verifies_with(9, 0x03));  /* Another count. */
    assert_false(verifies_with(11, 0x71)); /* Names out of order. */
    assert_false(verifies_with(12, 0x0F)); /* No such type. */
    assert_false(verifies_with(14, 0xFF)); /* Not UTF-8. */
}

static void attributes_are_found_by_name(void **state)
{
    struct fixture *fixture = *state;
    static const char *const pairs[] = { "b", "2", "a", "1", "bb", "3" };
    struct item item = build(fixture, pairs, 3);
    struct value value;
    assert_true(item_find(&item, BYTES("a"), &value));
    assert_true(bytes_equal_text(value.data, "1"));
    assert_true(item_find(&item, BYTES("bb"), &value));
    assert_true(bytes_equal_text(value.data, "3"));
    assert_false(item_find(&item, BYTES("ab"), &value));
    assert_false(item_find(&item, BYTES("c"), &value));
    assert_false(item_find(&item, BYTES(""), &value));

    struct item_iter iter;
    struct bytes name;
    static const char *const order[] = { "a", "b", "bb" };
    item_iter_init(&iter, &item);
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        assert_true(item_iter_next(&iter, &name, &value));
        assert_true(bytes_equal_text(name, order[i]));
    }
    assert_false(item_iter_next(&iter, &name, &value));
}

static void a_later_attribute_of_the_same_name_wins(void **state)
{
    struct fixture *fixture = *state;
    static const char *const pairs[] = { "a", "1", "b", "2", "a", "3", "a", "4" };
    struct item item = build(fixture, pairs, 4);
    struct value value;
    assert_int_equal(item.count, 2);
    assert_true(item_find(&item, BYTES("a"), &value));
    assert_true(bytes_equal_text(value.data, "4"));
}

static void an_empty_item_has_no_size(void **state)
{
    struct fixture *fixture = *state;
    struct item item = build(fixture, NULL, 0), opened;
    assert_true(item_open(item.encoded, &opened));
    assert_true(item_verify(&opened));
    assert_int_equal(opened.count, 0);
    assert_int_equal(opened.size, 0);
}

static void sorting_is_stable_at_every_length(void **state)
{
    (void)state;
    struct random seeds, random;
    random_init_from_system(&seeds);
    uint64_t seed = random_next(&seeds);
    printf("seed %llu\n", (unsigned long long)seed);
    random_init(&random, seed);
    enum { LENGTH_MAX = 200 };
    uint8_t names[LENGTH_MAX];
    struct item_attribute attributes[LENGTH_MAX], scratch[LENGTH_MAX];
    for (size_t count = 0; count <= LENGTH_MAX; count++) {
        for (size_t i = 0; i < count; i++) {
            names[i] = (uint8_t)random_below(&random, 40);
            attributes[i].name = bytes_of(&names[i], 1);
        }
        item_sort_attributes(attributes, count, scratch);
        for (size_t i = 1; i < count; i++) {
            const uint8_t *before = attributes[i - 1].name.data, *here = attributes[i].name.data;
            assert_true(*before < *here || (*before == *here && before < here));
        }
    }
}

/* What stands under each of the 256 names of one byte; "" is nothing. */
static struct item item_of_table(struct fixture *fixture, const char *const table[256])
{
    struct item_builder builder;
    item_builder_init(&builder, fixture->arena);
    for (unsigned name = 0; name < 256; name++) {
        uint8_t *byte = arena_alloc(fixture->arena, 1);
        *byte = (uint8_t)name;
        if (table[name][0] != '\0')
            item_builder_add(&builder, bytes_of(byte, 1), string_value(fixture, table[name]));
    }
    return item_builder_finish(&builder);
}

/* An item changed in some places is, byte for byte, that which is built of the same attributes. */
static void a_changed_item_equals_one_built_anew(void **state)
{
    static const char *const values[] = { "", "x", "yy" };
    enum { ROUNDS = 2000 };
    struct fixture *fixture = *state;
    struct random seeds, random;
    random_init_from_system(&seeds);
    uint64_t seed = random_next(&seeds);
    printf("seed %llu\n", (unsigned long long)seed);
    random_init(&random, seed);
    for (size_t round = 0; round < ROUNDS; round++) {
        const char *before[256], *after[256];
        uint64_t filled = random_below(&random, 256), changed = 1 + random_below(&random, 100);
        for (size_t i = 0; i < 256; i++)
            before[i] = values[i < filled ? random_below(&random, COUNT_OF(values)) : 0];
        struct item old = item_of_table(fixture, before);
        struct item_edit edit;
        item_edit_init(&edit, fixture->arena, &old);
        for (size_t i = 0; i < 256; i++) {
            const uint8_t name = (uint8_t)i;
            struct value current;
            after[i] = before[i];
            if (random_below(&random, changed) != 0)
                continue;
            after[i] = values[random_below(&random, COUNT_OF(values))];
            bool had = item_edit_take(&edit, bytes_of(&name, 1), &current);
            assert_int_equal(had, before[i][0] != '\0');
            if (had)
                assert_true(bytes_equal_text(current.data, before[i]));
            if (after[i][0] == '\0')
                continue;
            struct value put = value_view(string_value(fixture, after[i]));
            item_edit_put(&edit, bytes_of(&name, 1), &put);
        }
        struct item got = item_edit_finish(&edit), want = item_of_table(fixture, after), opened;
        assert_true(bytes_equal(got.encoded, want.encoded));
        assert_true(item_open(got.encoded, &opened));
        assert_int_equal(got.size, want.size);
        assert_int_equal(got.count, want.count);
        assert_true(bytes_equal(got.attributes, opened.attributes));
        arena_reset(fixture->arena);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(items_are_encoded_as_documented),
        cmocka_unit_test(no_changed_bit_goes_unnoticed),
        cmocka_unit_test(verifying_looks_behind_the_checksum),
        TEST(attributes_are_found_by_name),
        TEST(a_later_attribute_of_the_same_name_wins),
        TEST(an_empty_item_has_no_size),
        cmocka_unit_test(sorting_is_stable_at_every_length),
        TEST(a_changed_item_equals_one_built_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
