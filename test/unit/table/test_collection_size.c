/* test_collection_size.c -- the record of an item collection's size: its bytes, and every way in
 * which they can be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "engine/engine.h"
#include "engine_fixture.h"
#include "model/limits.h"
#include "reference_engine.h"
#include "table/collection_size.h"
#include "table/item_address.h"
#include "table/layout.h"

/* The key of an item: the hash, "p" and the end mark, then the sort key's bytes. */
static const struct item_address place = {
    .address = { .place = { .owner = 3, .partition = 4, .space = ENGINE_SPACE_ITEMS },
                 .key = { (const uint8_t *)"01234567p\x00\x01s\x00\x01", 14 } },
    .prefix_size = 11,
};

static void write_size(struct engine *engine, int64_t size)
{
    struct engine_address address = collection_size_address(&place);
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, &address, 1, &write), ENGINE_OK);
    collection_size_put(write, &address, size);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static enum engine_status read_size(struct engine *engine, int64_t *out)
{
    struct engine_address address = collection_size_address(&place);
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, &address, 1, &write), ENGINE_OK);
    enum engine_status status = collection_size_get_for_write(write, &address, out);
    engine_write_abandon(write);
    return status;
}

static void the_record_lies_beside_the_items_under_their_partition_key(void **state)
{
    (void)state;
    struct engine_address address = collection_size_address(&place);
    assert_int_equal(address.place.owner, 3);
    assert_int_equal(address.place.partition, 4);
    assert_int_equal(address.place.space, ENGINE_SPACE_COLLECTIONS);
    assert_true(bytes_equal(address.key, bytes_of("01234567p\x00\x01", 11)));
}

static void a_size_is_read_as_it_was_stored(void **state)
{
    static const int64_t sizes[] = { 1, 255, ITEM_COLLECTION_SIZE_MAX, INT64_MAX };
    (void)state;
    struct engine *engine = reference_engine_create();
    int64_t size;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        write_size(engine, sizes[i]);
        assert_int_equal(read_size(engine, &size), ENGINE_OK);
        assert_int_equal(size, sizes[i]);
    }
    engine_close(engine);
}

static void an_empty_collection_has_no_record(void **state)
{
    (void)state;
    struct engine *engine = reference_engine_create();
    struct engine_address address = collection_size_address(&place);
    struct engine_value value;
    int64_t size = 7;
    assert_int_equal(read_size(engine, &size), ENGINE_OK);
    assert_int_equal(size, 0);
    write_size(engine, 5);
    write_size(engine, 0);
    struct engine_view *view = engine_fixture_view(engine);
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_NOT_FOUND);
    engine_view_close(view);
    engine_close(engine);
}

/* doc/disk-format.md, "Item collections". */
static void encode(uint8_t record[LAYOUT_COLLECTION_SIZE], uint64_t size)
{
    record[0] = 1;
    store_u64_le(record + 5, size);
    store_u32_le(record + 1, crc32c(bytes_of(record + 5, 8)));
}

static void the_bytes_are_those_of_the_document(void **state)
{
    (void)state;
    struct engine *engine = reference_engine_create();
    struct engine_address address = collection_size_address(&place);
    struct engine_value value;
    uint8_t want[LAYOUT_COLLECTION_SIZE];
    encode(want, 1000);
    write_size(engine, 1000);
    struct engine_view *view = engine_fixture_view(engine);
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    assert_true(bytes_equal(value.bytes, bytes_of(want, sizeof want)));
    engine_value_release(&value);
    engine_view_close(view);
    engine_close(engine);
}

static void every_damaged_bit_and_length_is_found(void **state)
{
    (void)state;
    struct engine *engine = reference_engine_create();
    struct engine_address address = collection_size_address(&place);
    uint8_t record[LAYOUT_COLLECTION_SIZE + 1] = { 0 };
    int64_t size;
    encode(record, 1000);
    assert_true(collection_size_decode(bytes_of(record, LAYOUT_COLLECTION_SIZE), &size));
    for (size_t len = 0; len <= sizeof record; len++) {
        if (len != LAYOUT_COLLECTION_SIZE)
            assert_false(collection_size_decode(bytes_of(record, len), &size));
    }
    for (size_t bit = 0; bit < 8 * (size_t)LAYOUT_COLLECTION_SIZE; bit++) {
        record[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(collection_size_decode(bytes_of(record, LAYOUT_COLLECTION_SIZE), &size));
        record[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    engine_fixture_put(engine, address.place, address.key, BYTES("damaged"));
    assert_int_equal(read_size(engine, &size), ENGINE_CORRUPT);
    engine_close(engine);
}

static void no_size_is_zero_or_beyond_63_bits(void **state)
{
    static const struct {
        uint64_t size;
        bool valid;
    } cases[] = { { 0, false }, { 1, true }, { INT64_MAX, true }, { UINT64_C(1) << 63, false } };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint8_t record[LAYOUT_COLLECTION_SIZE];
        int64_t size;
        encode(record, cases[i].size);
        assert_int_equal(collection_size_decode(bytes_of(record, sizeof record), &size),
                         cases[i].valid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_lies_beside_the_items_under_their_partition_key),
        cmocka_unit_test(a_size_is_read_as_it_was_stored),
        cmocka_unit_test(an_empty_collection_has_no_record),
        cmocka_unit_test(the_bytes_are_those_of_the_document),
        cmocka_unit_test(every_damaged_bit_and_length_is_found),
        cmocka_unit_test(no_size_is_zero_or_beyond_63_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
