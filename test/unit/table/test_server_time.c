/* test_server_time.c -- where the server time of a store resumes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"
#include "table/server_time.h"
#include "table/token_record.h"

static int set_up(void **state)
{
    *state = reference_engine_create();
    return 0;
}

static int tear_down(void **state)
{
    engine_close(*state);
    return 0;
}

static void store_token(struct engine *engine, int64_t at_ms)
{
    struct arena *arena = arena_create();
    struct engine_address addresses[TOKEN_RECORD_PLACES];
    struct token_record record = { .expires_at_ms = at_ms + TOKEN_RECORD_LIFETIME_MS };
    token_record_addresses(arena, LAYOUT_TOKEN_WRITE, BYTES("t"), at_ms, addresses);
    engine_fixture_put(engine, token_record_place, addresses[0].key,
                       token_record_encode(arena, &record));
    arena_destroy(arena);
}

static void assert_resumes(struct engine *engine, int64_t origin_ms, int64_t position_ms)
{
    struct server_time time = { -1, -1 };
    assert_int_equal(server_time_load(engine, &time), ENGINE_OK);
    assert_int_equal(time.origin_ms, origin_ms);
    assert_int_equal(time.position_ms, position_ms);
}

/* As doc/disk-format.md has it. */
static void the_bytes_are_those_of_the_document(void **state)
{
    static const uint8_t want[] = { 0x01, 0x00, 0x00, 0x00, 0x00, 0x08, 0x07,
                                    0x06, 0x05, 0x04, 0x03, 0x02, 0x01, 0x18,
                                    0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11 };
    uint8_t bytes[sizeof want];
    struct engine *engine = *state;
    memcpy(bytes, want, sizeof bytes);
    store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, sizeof bytes - 5)));
    const struct server_time time = { .origin_ms = 0x0102030405060708,
                                      .position_ms = 0x1112131415161718 };
    assert_int_equal(server_time_store(engine, &time), ENGINE_OK);
    struct engine_address address = { .place = server_time_place, .key = BYTES("") };
    assert_int_equal(address.place.owner, 0);
    assert_int_equal(address.place.partition, 3);
    assert_int_equal(address.place.space, 1);
    struct engine_view *view;
    struct engine_value value = { 0 };
    assert_int_equal(engine_view_open(engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    assert_int_equal(value.bytes.len, sizeof bytes);
    assert_memory_equal(value.bytes.data, bytes, sizeof bytes);
    engine_value_release(&value);
    engine_view_close(view);
    assert_resumes(engine, time.origin_ms, time.position_ms);
}

static void a_new_store_begins_with_zero(void **state)
{
    assert_resumes(*state, 0, 0);
}

/* Its tokens were stored by wall time. They must be found, and count from now on. */
static void a_store_without_server_time_begins_with_its_newest_token(void **state)
{
    const int64_t token_ms = INT64_C(1700000000000);
    const int64_t generation_ms = token_ms - token_ms % TOKEN_RECORD_LIFETIME_MS;
    store_token(*state, token_ms - 5 * (int64_t)TOKEN_RECORD_LIFETIME_MS);
    store_token(*state, token_ms);
    assert_resumes(*state, generation_ms, generation_ms);
}

/* A server that keeps nothing does not store the time; its first token then proves how late it is.
 */
static void a_token_that_is_newer_than_the_position_proves_a_later_one(void **state)
{
    const int64_t hour_ms = INT64_C(60) * 60 * 1000;
    assert_int_equal(server_time_store(*state, &(struct server_time){ 10, 1000 }), ENGINE_OK);
    store_token(*state, 999);
    assert_resumes(*state, 10, 1000);
    store_token(*state, hour_ms + 7);
    assert_resumes(*state, 10, hour_ms);
}

static void a_damaged_record_keeps_the_store_from_opening(void **state)
{
    static const struct server_time times[] = { { -1, 5 }, { 6, 5 }, { 0, -1 } };
    struct server_time ignored;
    uint8_t bytes[21] = { 1 };
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        store_u64_le(bytes + 5, (uint64_t)times[i].origin_ms);
        store_u64_le(bytes + 13, (uint64_t)times[i].position_ms);
        store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, sizeof bytes - 5)));
        assert_false(server_time_decode(bytes_of(bytes, sizeof bytes), &ignored));
    }
    store_u64_le(bytes + 5, 5);
    store_u64_le(bytes + 13, 5);
    store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, sizeof bytes - 5)));
    assert_true(server_time_decode(bytes_of(bytes, sizeof bytes), &ignored));
    for (size_t i = 0; i < sizeof bytes; i++) {
        assert_false(server_time_decode(bytes_of(bytes, i), &ignored));
        bytes[i] ^= 0x20;
        assert_false(server_time_decode(bytes_of(bytes, sizeof bytes), &ignored));
        bytes[i] ^= 0x20;
    }
    engine_fixture_put(*state, server_time_place, BYTES(""), BYTES("damaged"));
    assert_int_equal(server_time_load(*state, &ignored), ENGINE_CORRUPT);
}

static void a_failure_of_the_engine_is_told(void **state)
{
    struct server_time time = { 0 };
    (void)state;
    for (uint64_t call = 1, struck = 1; struck; call++) {
        struct engine *engine = failing_engine_create(reference_engine_create());
        failing_engine_set(engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        enum engine_status stored = server_time_store(engine, &time);
        enum engine_status loaded = server_time_load(engine, &time);
        struck = failing_engine_struck(engine);
        assert_int_equal(stored == ENGINE_OK && loaded == ENGINE_OK, !struck);
        engine_close(engine);
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(the_bytes_are_those_of_the_document),
        RULE(a_new_store_begins_with_zero),
        RULE(a_store_without_server_time_begins_with_its_newest_token),
        RULE(a_token_that_is_newer_than_the_position_proves_a_later_one),
        RULE(a_damaged_record_keeps_the_store_from_opening),
        RULE(a_failure_of_the_engine_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
