/* test_token_record.c -- records of tokens: their bytes, where they are, and when they go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"
#include "table/token_record.h"

enum { LIFETIME = TOKEN_RECORD_LIFETIME_MS };
#define NOW_MS (INT64_C(1000000) * LIFETIME + 5)

static int set_up(void **state)
{
    *state = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(*state);
    return 0;
}

/* As doc/disk-format.md has it. */
static void the_bytes_are_those_of_the_document(void **state)
{
    static const uint8_t want[] = { 0x01, 0x46, 0x0D, 0x5B, 0x4B, 0x08, 0x07, 0x06, 0x05, 0x04,
                                    0x03, 0x02, 0x01, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
                                    0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F };
    struct token_record record = { .expires_at_ms = 0x0102030405060708 };
    for (size_t i = 0; i < sizeof record.hash.bytes; i++)
        record.hash.bytes[i] = (uint8_t)(0x10 + i);
    struct bytes encoded = token_record_encode(*state, &record);
    assert_int_equal(encoded.len, sizeof want);
    assert_memory_equal(encoded.data, want, sizeof want);
    struct token_record decoded;
    assert_true(token_record_decode(encoded, &decoded));
    assert_int_equal(decoded.expires_at_ms, record.expires_at_ms);
    assert_memory_equal(&decoded.hash, &record.hash, sizeof record.hash);
}

static void every_damaged_byte_is_noticed(void **state)
{
    struct token_record record = { .expires_at_ms = 12345 };
    struct bytes encoded = token_record_encode(*state, &record);
    uint8_t *bytes = (uint8_t *)encoded.data; /* Our own, in the arena. */
    for (size_t i = 0; i < encoded.len; i++) {
        bytes[i] ^= 0x20;
        assert_false(token_record_decode(encoded, &record));
        bytes[i] ^= 0x20;
    }
    assert_false(token_record_decode(bytes_of(bytes, encoded.len - 1), &record));
    assert_false(token_record_decode(BYTES(""), &record));
    assert_true(token_record_decode(encoded, &record));
}

static void a_hash_tells_parts_and_their_bounds_apart(void **state)
{
    static const char *const requests[][3] = {
        { "a", "bc", "" }, { "ab", "c", "" }, { "abc", "", "" },
        { "", "abc", "" }, { "bc", "a", "" },
    };
    struct token_hash hashes[COUNT_OF(requests)] = { 0 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        struct token_hash again = { 0 };
        for (size_t part = 0; part < 3; part++) {
            token_hash_add(&hashes[i], bytes_from_text(requests[i][part]));
            token_hash_add(&again, bytes_from_text(requests[i][part]));
        }
        assert_memory_equal(&hashes[i], &again, sizeof again);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(&hashes[i], &hashes[j], sizeof again);
    }
}

static void a_token_is_found_as_long_as_it_lives(void **state)
{
    struct engine_address stored[TOKEN_RECORD_PLACES], sought[TOKEN_RECORD_PLACES];
    static const int64_t offsets[] = { -LIFETIME + 1, -1, 0, 1, LIFETIME - 1, LIFETIME };
    for (int64_t at = NOW_MS - 10; at < NOW_MS + 10; at++) {
        token_record_addresses(*state, LAYOUT_TOKEN_WRITE, BYTES("t"), at, stored);
        for (size_t i = 0; i < COUNT_OF(offsets); i++) {
            bool found = false;
            token_record_addresses(*state, LAYOUT_TOKEN_WRITE, BYTES("t"), at + offsets[i], sought);
            for (size_t place = 0; place < TOKEN_RECORD_PLACES; place++)
                found |= engine_address_equal(&stored[0], &sought[place]);
            assert_true(found);
        }
    }
}

static void operations_have_tokens_of_their_own(void **state)
{
    struct engine_address write[TOKEN_RECORD_PLACES], statements[TOKEN_RECORD_PLACES];
    token_record_addresses(*state, LAYOUT_TOKEN_WRITE, BYTES("t"), NOW_MS, write);
    token_record_addresses(*state, LAYOUT_TOKEN_STATEMENTS, BYTES("t"), NOW_MS, statements);
    for (size_t i = 0; i < TOKEN_RECORD_PLACES; i++) {
        assert_false(engine_address_equal(&write[i], &statements[i]));
        assert_true(token_record_is_key(write[i].key));
        assert_true(token_record_is_key(statements[i].key));
    }
    assert_false(token_record_is_key(bytes_of(write[0].key.data, write[0].key.len - 1)));
    assert_false(token_record_is_key(BYTES("12345678Xt")));
}

static void a_caller_stands_before_its_token(void **state)
{
    static const struct {
        const char *rule;
        struct bytes key;
        bool is_key;
    } cases[] = {
        { "a caller and a token", BYTES("12345678w\003abct"), true },
        { "of statements", BYTES("12345678s\003abct"), true },
        { "no token", BYTES("12345678w\003abc"), false },
        { "a caller that is cut", BYTES("12345678w\003ab"), false },
        { "no caller", BYTES("12345678w\000t"), false },
        { "of no operation", BYTES("12345678x\003abct"), false },
    };
    struct engine_address out[TOKEN_RECORD_PLACES];
    token_record_addresses(*state, LAYOUT_TOKEN_WRITE | LAYOUT_TOKEN_OF_CALLER,
                           token_record_of_caller(*state, BYTES("abc"), BYTES("t")), 0, out);
    assert_true(bytes_equal(out[0].key, BYTES("\0\0\0\0\0\0\0\0w\003abct")));
    token_record_addresses(*state, LAYOUT_TOKEN_WRITE, BYTES("t"), 0, out);
    assert_true(bytes_equal(out[0].key, BYTES("\0\0\0\0\0\0\0\0Wt")));
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (token_record_is_key(cases[i].key) != cases[i].is_key)
            fail_msg("%s", cases[i].rule);
}

/* --- Removal --- */

static void store(struct arena *arena, struct engine *engine, struct bytes token, int64_t at_ms)
{
    struct engine_address addresses[TOKEN_RECORD_PLACES];
    struct token_record record = { .expires_at_ms = at_ms + LIFETIME };
    token_record_addresses(arena, LAYOUT_TOKEN_WRITE, token, at_ms, addresses);
    engine_fixture_put(engine, token_record_place, addresses[0].key,
                       token_record_encode(arena, &record));
}

static bool is_stored(struct arena *arena, struct engine *engine, struct bytes token, int64_t at_ms)
{
    struct engine_address addresses[TOKEN_RECORD_PLACES];
    token_record_addresses(arena, LAYOUT_TOKEN_WRITE, token, at_ms, addresses);
    return !engine_fixture_lacks(engine, token_record_place, addresses[0].key);
}

static void old_generations_go_and_the_living_stay(void **state)
{
    struct engine_fixture fixture;
    for (int kind = 0; kind < ENGINE_FIXTURE_KIND_COUNT; kind++) {
        if (!engine_fixture_is_chosen((enum engine_fixture_kind)kind))
            continue;
        engine_fixture_open(&fixture, (enum engine_fixture_kind)kind);
        for (int age = 0; age <= 4; age++)
            store(*state, fixture.engine, BYTES("t"), NOW_MS - age * INT64_C(1) * LIFETIME);
        assert_int_equal(token_record_remove_old(fixture.engine, NOW_MS), ENGINE_OK);
        for (int age = 0; age <= 4; age++)
            assert_int_equal(
                is_stored(*state, fixture.engine, BYTES("t"), NOW_MS - age * INT64_C(1) * LIFETIME),
                age <= 1);
        engine_fixture_close(&fixture);
    }
}

static void nothing_is_written_where_nothing_is_old(void **state)
{
    struct engine *engine = failing_engine_create(reference_engine_create());
    store(*state, engine, BYTES("t"), NOW_MS);
    failing_engine_set(engine, &(struct failing_engine_plan){
                                   .call = 1, .status = ENGINE_IO, .commits_only = true });
    assert_int_equal(token_record_remove_old(engine, NOW_MS), ENGINE_OK);
    assert_int_equal(token_record_remove_old(engine, 0), ENGINE_OK);
    assert_false(failing_engine_struck(engine));
    assert_int_equal(token_record_remove_old(engine, NOW_MS + 2 * LIFETIME), ENGINE_IO);
    engine_close(engine);
}

static void the_newest_token_tells_when_it_was_stored(void **state)
{
    struct engine_fixture fixture;
    for (int kind = 0; kind < ENGINE_FIXTURE_KIND_COUNT; kind++) {
        if (!engine_fixture_is_chosen((enum engine_fixture_kind)kind))
            continue;
        int64_t newest_ms = -1;
        engine_fixture_open(&fixture, (enum engine_fixture_kind)kind);
        assert_int_equal(token_record_newest_ms(fixture.engine, &newest_ms), ENGINE_OK);
        assert_int_equal(newest_ms, 0);
        store(*state, fixture.engine, BYTES("new"), NOW_MS + 3 * LIFETIME);
        store(*state, fixture.engine, BYTES("old"), NOW_MS);
        assert_int_equal(token_record_newest_ms(fixture.engine, &newest_ms), ENGINE_OK);
        assert_in_range(newest_ms, NOW_MS + 2 * LIFETIME + 1, NOW_MS + 3 * LIFETIME);
        assert_true(is_stored(*state, fixture.engine, BYTES("new"), newest_ms));
        engine_fixture_close(&fixture);
    }
}

static void a_token_that_makes_no_sense_is_not_believed(void **state)
{
    (void)state;
    const struct bytes keys[] = { BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\x01t"), BYTES("short") };
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        int64_t newest_ms = -1;
        struct engine *engine = reference_engine_create();
        engine_fixture_put(engine, token_record_place, keys[i], BYTES("x"));
        assert_int_equal(token_record_newest_ms(engine, &newest_ms), ENGINE_OK);
        assert_int_equal(newest_ms, 0);
        engine_close(engine);
    }
}

static void the_next_removal_is_due_with_the_next_generation(void **state)
{
    (void)state;
    assert_int_equal(token_record_next_removal_ms(0), LIFETIME);
    assert_int_equal(token_record_next_removal_ms(1), LIFETIME - 1);
    assert_int_equal(token_record_next_removal_ms(LIFETIME - 1), 1);
    assert_int_equal(token_record_next_removal_ms(LIFETIME), LIFETIME);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_bytes_are_those_of_the_document),
        TEST(every_damaged_byte_is_noticed),
        TEST(a_hash_tells_parts_and_their_bounds_apart),
        TEST(a_token_is_found_as_long_as_it_lives),
        TEST(operations_have_tokens_of_their_own),
        TEST(a_caller_stands_before_its_token),
        TEST(old_generations_go_and_the_living_stay),
        TEST(nothing_is_written_where_nothing_is_old),
        TEST(the_newest_token_tells_when_it_was_stored),
        TEST(a_token_that_makes_no_sense_is_not_believed),
        TEST(the_next_removal_is_due_with_the_next_generation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
