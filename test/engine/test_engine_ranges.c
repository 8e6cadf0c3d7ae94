/* test_engine_ranges.c -- scans and range deletes: the contract of engine.h on every engine.
 *
 * Tables of single cases first; then random writes on every engine, whose scans must agree with
 * the reference engine's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compiler.h"
#include "base/random.h"
#include "engine_fixture.h"
#include "reference_engine.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

static int setup(void **state)
{
    enum engine_fixture_kind kind = *(const enum engine_fixture_kind *)*state;
    struct engine_fixture *fixture = malloc(sizeof *fixture);
    engine_fixture_open(fixture, kind);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    engine_fixture_close(*state);
    free(*state);
    return 0;
}

static struct engine *engine_of(void **state)
{
    return ((struct engine_fixture *)*state)->engine;
}

/* Neighbours on all sides of `items`, which no scan of it may show and no delete may touch. */
static const struct engine_place neighbours[] = {
    { 6, 1, ENGINE_SPACE_ITEMS }, { 8, 1, ENGINE_SPACE_ITEMS },     { 7, 0, ENGINE_SPACE_ITEMS },
    { 7, 2, ENGINE_SPACE_ITEMS }, { 7, 1, ENGINE_SPACE_CATALOGUE }, { 7, 1, ENGINE_SPACE_INDEX },
};

static void put_letters(struct engine *engine)
{
    for (size_t i = 0; i < COUNT_OF(neighbours); i++)
        engine_fixture_put(engine, neighbours[i], BYTES("e"), BYTES("x"));
    for (char key = 'b'; key <= 'h'; key++) /* Keys b to h, values of 1 to 7 bytes. */
        engine_fixture_put(engine, items, bytes_of(&key, 1),
                           bytes_of("1234567", (size_t)(key - 'a')));
}

/* The keys that a scan shows, one byte each, as text. */
static void scan_keys(struct engine_view *view, const struct engine_range *range, char *out,
                      size_t out_size)
{
    struct engine_scan *scan;
    struct engine_entry entry;
    enum engine_status status;
    size_t count = 0;
    assert_int_equal(engine_scan_open(view, range, &scan), ENGINE_OK);
    while ((status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        assert_int_equal(entry.key.len, 1);
        assert_int_equal(entry.value.len, entry.key.data[0] - 'a');
        assert_true(count + 1 < out_size);
        out[count++] = (char)entry.key.data[0];
    }
    assert_int_equal(status, ENGINE_END);
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_END); /* And stays there. */
    out[count] = '\0';
    engine_scan_close(scan);
}

static const struct {
    const char *name, *first, *last;
    size_t count_max, bytes_max;
    const char *forward, *backward;
} scan_cases[] = {
    { "no bounds: the place, no more", "", "", 0, 0, "bcdefgh", "hgfedcb" },
    { "first is inclusive", "d", "", 0, 0, "defgh", "hgfed" },
    { "last is exclusive", "", "d", 0, 0, "bc", "cb" },
    { "both bounds", "c", "f", 0, 0, "cde", "edc" },
    { "bounds between keys", "c\x01", "f\x01", 0, 0, "def", "fed" },
    { "bounds outside of all keys", "a", "z", 0, 0, "bcdefgh", "hgfedcb" },
    { "one key", "e", "e\x01", 0, 0, "e", "e" },
    { "first equal to last: empty", "e", "e", 0, 0, "", "" },
    { "first above last: empty", "f", "c", 0, 0, "", "" },
    { "nothing above", "i", "", 0, 0, "", "" },
    { "nothing below", "", "b", 0, 0, "", "" },
    { "count limit", "", "", 3, 0, "bcd", "hgf" },
    { "count limit of one", "c", "", 1, 0, "c", "h" },
    { "count limit equal to the range", "", "", 7, 0, "bcdefgh", "hgfedcb" },
    { "count limit above the range", "", "", 8, 0, "bcdefgh", "hgfedcb" },
    /* Entries measure 2 to 8 bytes: b is 2, c 3, d 4; h is 8, g 7. */
    { "byte limit reached by the first", "", "", 0, 1, "b", "h" },
    { "byte limit reached exactly", "", "", 0, 5, "bc", "h" },
    { "byte limit passed", "", "", 0, 6, "bcd", "h" },
    { "byte limit reached exactly, backward", "", "", 0, 15, "bcdef", "hg" },
    { "byte limit above the range", "", "", 0, 1000, "bcdefgh", "hgfedcb" },
    { "count before bytes", "", "", 1, 6, "b", "h" },
    { "bytes before count", "", "", 5, 6, "bcd", "h" },
};

static void scans_respect_bounds_and_limits(void **state)
{
    struct engine *engine = engine_of(state);
    put_letters(engine);
    struct engine_view *view = engine_fixture_view(engine);
    for (size_t i = 0; i < COUNT_OF(scan_cases); i++) {
        struct engine_range range = {
            .place = items,
            .first = bytes_from_text(scan_cases[i].first),
            .last = bytes_from_text(scan_cases[i].last),
            .count_max = scan_cases[i].count_max,
            .bytes_max = scan_cases[i].bytes_max,
        };
        char keys[16];
        scan_keys(view, &range, keys, sizeof keys);
        if (strcmp(keys, scan_cases[i].forward) != 0)
            fail_msg("%s: %s", scan_cases[i].name, keys);
        range.reverse = true;
        scan_keys(view, &range, keys, sizeof keys);
        if (strcmp(keys, scan_cases[i].backward) != 0)
            fail_msg("%s, backward: %s", scan_cases[i].name, keys);
    }
    engine_view_close(view);
}

/* Adds `page` to the keys seen so far. */
static void append_keys(char *keys, size_t size, const char *page)
{
    size_t used = strlen(keys);
    assert_true(used + strlen(page) < size);
    memcpy(keys + used, page, strlen(page) + 1);
}

static void a_scan_resumes_behind_its_last_key(void **state)
{
    struct engine *engine = engine_of(state);
    put_letters(engine);
    struct engine_view *view = engine_fixture_view(engine);
    for (size_t count_max = 1; count_max <= 8; count_max++) {
        char forward[16] = "", backward[16] = "", page[16], bound[2];
        struct engine_range range = { .place = items, .count_max = count_max };
        for (;;) { /* Behind a key is the key with a zero byte added. */
            scan_keys(view, &range, page, sizeof page);
            if (page[0] == '\0')
                break;
            append_keys(forward, sizeof forward, page);
            bound[0] = page[strlen(page) - 1];
            bound[1] = '\0';
            range.first = bytes_of(bound, 2);
        }
        range = (struct engine_range){ .place = items, .count_max = count_max, .reverse = true };
        for (;;) {
            scan_keys(view, &range, page, sizeof page);
            if (page[0] == '\0')
                break;
            append_keys(backward, sizeof backward, page);
            bound[0] = page[strlen(page) - 1];
            range.last = bytes_of(bound, 1);
        }
        assert_string_equal(forward, "bcdefgh");
        assert_string_equal(backward, "hgfedcb");
    }
    engine_view_close(view);
}

static void a_scan_shows_its_view_while_writes_go_on(void **state)
{
    struct engine *engine = engine_of(state);
    if (!engine_fixture_keeps_views(*state))
        skip();
    put_letters(engine);
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_range range = { .place = items };
    struct engine_scan *scan;
    struct engine_entry entry;
    char keys[16];
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
    engine_fixture_delete(engine, items, BYTES("c"));
    engine_fixture_put(engine, items, BYTES("cc"), BYTES("new"));
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
    assert_true(bytes_equal(entry.key, BYTES("c")));
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
    assert_true(bytes_equal(entry.key, BYTES("d")));
    engine_scan_close(scan);
    scan_keys(view, &range, keys, sizeof keys);
    assert_string_equal(keys, "bcdefgh");
    engine_view_close(view);
}

static void keys_order_by_unsigned_bytes_and_length(void **state)
{
    static const struct bytes ordered[] = {
        { (const uint8_t *)"", 0 },          { (const uint8_t *)"\0", 1 },
        { (const uint8_t *)"\0\0", 2 },      { (const uint8_t *)"\0\xFF", 2 },
        { (const uint8_t *)"\x01", 1 },      { (const uint8_t *)"a", 1 },
        { (const uint8_t *)"a\0", 2 },       { (const uint8_t *)"a\0b", 3 },
        { (const uint8_t *)"aa", 2 },        { (const uint8_t *)"\x7F", 1 },
        { (const uint8_t *)"\x80", 1 },      { (const uint8_t *)"\xFF", 1 },
        { (const uint8_t *)"\xFF\0", 2 },    { (const uint8_t *)"\xFF\xFF", 2 },
        { (const uint8_t *)"\xFF\xFFz", 3 },
    };
    struct engine *engine = engine_of(state);
    for (size_t i = 0; i < COUNT_OF(ordered); i++) { /* Put in another order. */
        size_t index = i * 7 % COUNT_OF(ordered);
        engine_fixture_put(engine, items, ordered[index], bytes_of(&index, sizeof index));
    }
    for (int reverse = 0; reverse <= 1; reverse++) {
        struct engine_view *view = engine_fixture_view(engine);
        struct engine_range range = { .place = items, .reverse = reverse };
        struct engine_scan *scan;
        struct engine_entry entry;
        assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
        for (size_t i = 0; i < COUNT_OF(ordered); i++) {
            size_t index = reverse ? COUNT_OF(ordered) - 1 - i : i;
            assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
            assert_true(bytes_equal(entry.key, ordered[index]));
            assert_true(bytes_equal(entry.value, bytes_of(&index, sizeof index)));
        }
        assert_int_equal(engine_scan_next(scan, &entry), ENGINE_END);
        engine_scan_close(scan);
        engine_view_close(view);
    }
}

static const struct {
    const char *name, *first, *last, *left;
} delete_cases[] = {
    { "whole place", "", "", "" },
    { "first is inclusive", "f", "", "bcde" },
    { "last is exclusive", "", "d", "defgh" },
    { "both bounds", "c", "f", "bfgh" },
    { "between keys", "d\x01", "d\x02", "bcdefgh" },
    { "first equal to last: nothing", "e", "e", "bcdefgh" },
    { "first above last: nothing", "g", "c", "bcdefgh" },
};

static void range_deletes_respect_bounds(void **state)
{
    struct engine *engine = engine_of(state);
    for (size_t i = 0; i < COUNT_OF(delete_cases); i++) {
        put_letters(engine);
        struct engine_view *before = engine_fixture_view(engine);
        struct engine_write *write;
        assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_OK);
        engine_write_delete_range(write, &items, bytes_from_text(delete_cases[i].first),
                                  bytes_from_text(delete_cases[i].last));
        assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);

        struct engine_view *after = engine_fixture_view(engine);
        struct engine_range range = { .place = items };
        char keys[16];
        scan_keys(after, &range, keys, sizeof keys);
        if (strcmp(keys, delete_cases[i].left) != 0)
            fail_msg("%s: %s", delete_cases[i].name, keys);
        if (engine_fixture_keeps_views(*state)) {
            scan_keys(before, &range, keys, sizeof keys);
            assert_string_equal(keys, "bcdefgh");
        }
        for (size_t j = 0; j < COUNT_OF(neighbours); j++)
            assert_true(engine_fixture_view_has(after, neighbours[j], BYTES("e"), BYTES("x")));
        engine_view_close(after);
        engine_view_close(before);
    }
}

static void deleting_an_owner_spares_its_neighbours(void **state)
{
    static const uint64_t owners[] = { 0, 1, 255, 256, ENGINE_OWNER_MAX - 1 };
    struct engine *engine = engine_of(state);
    for (size_t gone = 0; gone < COUNT_OF(owners); gone++) {
        for (size_t i = 0; i < COUNT_OF(owners); i++) {
            struct engine_place low = { owners[i], 0, ENGINE_SPACE_CATALOGUE };
            struct engine_place high = { owners[i], UINT64_MAX, ENGINE_SPACE_STATS };
            engine_fixture_put(engine, low, BYTES(""), BYTES("low"));
            engine_fixture_put(engine, high, BYTES("\xFF\xFF"), BYTES("high"));
        }
        struct engine_write *write;
        assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_OK);
        engine_write_delete_owner(write, owners[gone]);
        assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
        for (size_t i = 0; i < COUNT_OF(owners); i++) {
            struct engine_place low = { owners[i], 0, ENGINE_SPACE_CATALOGUE };
            struct engine_place high = { owners[i], UINT64_MAX, ENGINE_SPACE_STATS };
            assert_int_equal(engine_fixture_lacks(engine, low, BYTES("")), i == gone);
            assert_int_equal(engine_fixture_lacks(engine, high, BYTES("\xFF\xFF")), i == gone);
        }
    }
}

/* --- Places --- */

static void places_that_hold_anything_are_listed_in_order(void **state)
{
    static const struct engine_place places[] = {
        { 0, 0, ENGINE_SPACE_CATALOGUE },
        { 1, 1, ENGINE_SPACE_ITEMS },
        { 1, 1, ENGINE_SPACE_STATS },
        { 1, 256, ENGINE_SPACE_ITEMS },
        { 1, UINT64_MAX, ENGINE_SPACE_INDEX },
        { 255, 1, ENGINE_SPACE_ITEMS },
        { 255, 256, ENGINE_SPACE_MONITORS },
        { 256, 0, ENGINE_SPACE_ITEMS },
        { ENGINE_OWNER_MAX - 1, UINT64_MAX, ENGINE_SPACE_STATS },
    };
    struct engine *engine = engine_of(state);
    struct engine_place place;
    struct engine_view *view = engine_fixture_view(engine);
    assert_int_equal(engine_view_next_place(view, NULL, &place), ENGINE_END);
    engine_view_close(view);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        engine_fixture_put(engine, places[i], BYTES(""), BYTES("1"));
        engine_fixture_put(engine, places[i], BYTES("\xFF\xFF"), BYTES("2"));
    }
    engine_fixture_put(engine, (struct engine_place){ 9, 9, ENGINE_SPACE_ITEMS }, BYTES("a"),
                       BYTES("1"));
    engine_fixture_delete(engine, (struct engine_place){ 9, 9, ENGINE_SPACE_ITEMS }, BYTES("a"));

    view = engine_fixture_view(engine);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        assert_int_equal(engine_view_next_place(view, i == 0 ? NULL : &place, &place), ENGINE_OK);
        assert_true(place.owner == places[i].owner && place.partition == places[i].partition &&
                    place.space == places[i].space);
    }
    assert_int_equal(engine_view_next_place(view, &place, &place), ENGINE_END);
    engine_view_close(view);
}

static void places_are_found_behind_one_that_holds_nothing(void **state)
{
    struct engine *engine = engine_of(state);
    struct engine_place place;
    engine_fixture_put(engine, items, BYTES("a"), BYTES("1"));
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_place before = { items.owner - 1, UINT64_MAX, (enum engine_space)UINT8_MAX };
    assert_int_equal(engine_view_next_place(view, &before, &place), ENGINE_OK);
    assert_true(place.owner == items.owner && place.partition == items.partition);
    struct engine_place same_owner = { items.owner, UINT64_MAX, (enum engine_space)UINT8_MAX };
    assert_int_equal(engine_view_next_place(view, &same_owner, &place), ENGINE_END);
    struct engine_place last = { UINT64_MAX, UINT64_MAX, (enum engine_space)UINT8_MAX };
    assert_int_equal(engine_view_next_place(view, &last, &place), ENGINE_END);
    engine_view_close(view);
}

/* --- Random writes, checked against the reference --- */

static struct engine_place random_place(struct random *random)
{
    return (struct engine_place){ random_below(random, 3), random_below(random, 2),
                                  random_below(random, 2) == 0 ? ENGINE_SPACE_ITEMS
                                                               : ENGINE_SPACE_INDEX };
}

enum {
    HEADS = 20, /* The first is no head at all. */
    HEAD_SIZE = 8,
    TAIL_SIZE_MAX = 3,
    RANDOM_KEY_SIZE_MAX = HEAD_SIZE + TAIL_SIZE_MAX,
};

/* Short keys over few byte values, so that they meet often. Most stand behind a head, as items
 * stand behind their hash: engines may have a quicker way to what has one head in common. */
static struct bytes key_behind(uint64_t head, struct random *random,
                               uint8_t space[RANDOM_KEY_SIZE_MAX])
{
    static const uint8_t alphabet[] = { 0x00, 0x01, 'a', 0xFF };
    size_t size = head == 0 ? 0 : HEAD_SIZE;
    memset(space, (int)head, size);
    for (size_t left = random_below(random, TAIL_SIZE_MAX + 1); left > 0; left--)
        space[size++] = alphabet[random_below(random, COUNT_OF(alphabet))];
    return bytes_of(space, size);
}

static struct bytes random_key(struct random *random, uint8_t space[RANDOM_KEY_SIZE_MAX])
{
    return key_behind(random_below(random, HEADS), random, space);
}

static void random_change(struct random random, struct engine_write *write)
{
    uint8_t key_space[RANDOM_KEY_SIZE_MAX], last_space[RANDOM_KEY_SIZE_MAX];
    uint8_t value_space[40] = { 0 };
    struct engine_place place = random_place(&random);
    struct bytes key = random_key(&random, key_space), last = random_key(&random, last_space);
    struct engine_address address = { place, key };
    random_fill(&random, value_space, sizeof value_space);
    switch (random_below(&random, 40)) {
    case 0:
        engine_write_delete_owner(write, place.owner);
        break;
    case 1:
    case 2:
        engine_write_delete_range(write, &place, key, last);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        engine_write_delete(write, &address);
        break;
    default:
        engine_write_put(write, &address, bytes_of(value_space, random_below(&random, 40)));
    }
}

static void expect_equal_scans(struct engine *a, struct engine *b, const struct engine_range *range)
{
    struct engine_view *view_a = engine_fixture_view(a), *view_b = engine_fixture_view(b);
    struct engine_scan *scan_a, *scan_b;
    struct engine_entry entry_a, entry_b;
    enum engine_status status;
    assert_int_equal(engine_scan_open(view_a, range, &scan_a), ENGINE_OK);
    assert_int_equal(engine_scan_open(view_b, range, &scan_b), ENGINE_OK);
    do {
        status = engine_scan_next(scan_a, &entry_a);
        assert_int_equal(engine_scan_next(scan_b, &entry_b), status);
        assert_true(bytes_equal(entry_a.key, entry_b.key));
        assert_true(bytes_equal(entry_a.value, entry_b.value));
    } while (status == ENGINE_OK);
    engine_scan_close(scan_b);
    engine_scan_close(scan_a);
    engine_view_close(view_b);
    engine_view_close(view_a);
}

static void expect_equal_random_scan(struct engine *a, struct engine *b, struct random *random)
{
    uint8_t first[RANDOM_KEY_SIZE_MAX], last[RANDOM_KEY_SIZE_MAX];
    uint64_t first_head = random_below(random, HEADS);
    uint64_t last_head = random_below(random, 2) == 0 ? first_head : random_below(random, HEADS);
    struct engine_range range = {
        .place = random_place(random),
        .first = key_behind(first_head, random, first),
        .last = key_behind(last_head, random, last),
        .reverse = random_below(random, 2),
        .count_max = random_below(random, 10),
        .bytes_max = random_below(random, 100),
    };
    expect_equal_scans(a, b, &range);
}

static void random_writes_and_scans_agree_with_the_reference(void **state)
{
    enum { ROUNDS = 300, CHANGES_MAX = 6, SCANS = 4, ROUNDS_UNTIL_REOPEN = 20, SEED = 20240531 };
    struct engine_fixture *fixture = *state;
    struct engine *reference = reference_engine_create();
    struct random random;
    random_init(&random, SEED);
    for (int round = 0; round < ROUNDS; round++) {
        struct engine_write *write, *expected;
        assert_int_equal(engine_write_begin(fixture->engine, NULL, 0, &write), ENGINE_OK);
        assert_int_equal(engine_write_begin(reference, NULL, 0, &expected), ENGINE_OK);
        uint64_t changes = random_below(&random, CHANGES_MAX);
        /* A range delete leaves what its own write has put there. */
        if ((engine_capabilities(fixture->engine) & ENGINE_RANGE_DELETE) == 0 && changes > 1)
            changes = 1;
        for (uint64_t i = changes; i > 0; i--) {
            random_next(&random);
            random_change(random, write); /* By value: the same change twice. */
            random_change(random, expected);
        }
        assert_int_equal(engine_write_commit_wait(expected), ENGINE_OK);
        assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
        for (int scan = 0; scan < SCANS; scan++)
            expect_equal_random_scan(fixture->engine, reference, &random);
        if (engine_fixture_is_persistent(fixture) && (round + 1) % ROUNDS_UNTIL_REOPEN == 0)
            engine_fixture_reopen(fixture);
    }
    engine_close(reference);
}

#define ON(test, kind) cmocka_unit_test_prestate_setup_teardown(test, setup, teardown, kind)

static int run_on(enum engine_fixture_kind kind)
{
    const struct CMUnitTest tests[] = {
        ON(scans_respect_bounds_and_limits, &kind),
        ON(a_scan_resumes_behind_its_last_key, &kind),
        ON(a_scan_shows_its_view_while_writes_go_on, &kind),
        ON(keys_order_by_unsigned_bytes_and_length, &kind),
        ON(range_deletes_respect_bounds, &kind),
        ON(deleting_an_owner_spares_its_neighbours, &kind),
        ON(places_that_hold_anything_are_listed_in_order, &kind),
        ON(places_are_found_behind_one_that_holds_nothing, &kind),
        ON(random_writes_and_scans_agree_with_the_reference, &kind),
    };
    printf("engine: %s\n", engine_fixture_kind_name(kind));
    return cmocka_run_group_tests_name(engine_fixture_kind_name(kind), tests, NULL, NULL);
}

int main(void)
{
    int failures = 0;
    for (int kind = 0; kind < ENGINE_FIXTURE_KIND_COUNT; kind++)
        if (engine_fixture_is_chosen((enum engine_fixture_kind)kind))
            failures += run_on((enum engine_fixture_kind)kind);
    return failures == 0 ? 0 : 1;
}
