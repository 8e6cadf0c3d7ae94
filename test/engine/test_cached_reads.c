/* test_cached_reads.c -- reads through the item cache show what RocksDB would have shown.
 *
 * Once step by step against the reference engine, with views of different ages, and once with
 * threads that write while others read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "engine/rocksdb/store_run.h"
#include "engine_fixture.h"

enum {
    RUN_SIZE = 8, /* Bytes of a key that keys of the same run have in common. */
    KEY_TEXT_SIZE = 32,
};

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };
static const struct engine_place others = { 8, 1, ENGINE_SPACE_ITEMS };

/* --- Step by step --- */

enum { RUNS = 6, KEYS_PER_RUN = 12, STEPS = 4000, READS_PER_STEP = 4 };

/* The bytes of the run, then the key's own. */
static struct bytes random_key(struct random *random, char out[KEY_TEXT_SIZE])
{
    unsigned run = (unsigned)random_below(random, RUNS);
    unsigned key = (unsigned)random_below(random, KEYS_PER_RUN);
    return bytes_of(out, (size_t)snprintf(out, KEY_TEXT_SIZE, "%08u%02u", run, key));
}

static atomic_uint forms_seen;

/* A rendered value is that of the value beside it. */
static void check_rendered(struct bytes value, struct bytes rendered)
{
    if (rendered.data == NULL)
        return;
    struct arena *arena = arena_create();
    assert_true(bytes_equal(rendered, engine_fixture_render(arena, value)));
    arena_destroy(arena);
    atomic_fetch_add(&forms_seen, 1);
}

static void compare_values(const enum engine_status statuses[2], struct engine_value values[2])
{
    assert_int_equal(statuses[0], statuses[1]);
    assert_true(bytes_equal(values[0].bytes, values[1].bytes));
    check_rendered(values[1].bytes, values[1].rendered);
    for (int i = 0; i < 2; i++)
        engine_value_release(&values[i]);
}

static void change_both(struct random *random, struct engine *engines[2])
{
    static uint8_t value[STORE_RUN_SIZE_MAX / 4];
    char text[KEY_TEXT_SIZE];
    struct bytes key = random_key(random, text);
    const struct engine_place *place = random_below(random, 2) == 0 ? &items : &others;
    struct engine_address address = engine_fixture_address(*place, key);
    /* One of the runs becomes too large to be kept. */
    size_t size =
        key.data[RUN_SIZE - 1] == '0' ? sizeof value : (size_t)(1 + random_below(random, 300));
    uint64_t kind = random_below(random, 40);
    bool reads = random_below(random, 4) > 0;
    struct engine_write *writes[2];
    struct engine_value values[2] = { 0 };
    enum engine_status statuses[2];
    memset(value, (int)random_below(random, 256), sizeof value);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(engine_write_begin(engines[i], &address, 1, &writes[i]), ENGINE_OK);
        statuses[i] = reads ? engine_write_get(writes[i], &address, &values[i]) : ENGINE_OK;
    }
    compare_values(statuses, values);
    for (int i = 0; i < 2; i++) {
        if (kind == 0)
            engine_write_delete_owner(writes[i], place->owner);
        else if (kind == 1)
            engine_write_delete_range(writes[i], place, key, BYTES(""));
        else if (kind < 12)
            engine_write_delete(writes[i], &address);
        else
            engine_write_put(writes[i], &address, bytes_of(value, size));
        if (kind == 2) /* The last change counts. */
            engine_write_put(writes[i], &address, bytes_of(value, size));
        assert_int_equal(engine_write_commit_wait(writes[i]), ENGINE_OK);
    }
}

static void compare_gets(struct engine_view *views[2], const struct engine_address *address)
{
    struct engine_value values[2] = { 0 };
    enum engine_status statuses[2];
    for (int i = 0; i < 2; i++)
        statuses[i] = engine_view_get(views[i], address, &values[i]);
    compare_values(statuses, values);
}

static void compare_scans(struct engine_view *views[2], const struct engine_range *range)
{
    struct engine_scan *scans[2];
    struct engine_entry entries[2];
    enum engine_status statuses[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(engine_scan_open(views[i], range, &scans[i]), ENGINE_OK);
    do {
        for (int i = 0; i < 2; i++)
            statuses[i] = engine_scan_next(scans[i], &entries[i]);
        assert_int_equal(statuses[0], statuses[1]);
        if (statuses[0] != ENGINE_OK)
            break;
        assert_true(bytes_equal(entries[0].key, entries[1].key));
        assert_true(bytes_equal(entries[0].value, entries[1].value));
        check_rendered(entries[1].value, entries[1].rendered);
    } while (true);
    for (int i = 0; i < 2; i++)
        engine_scan_close(scans[i]);
}

static void compare_reads(struct random *random, struct engine_view *views[2])
{
    char first[KEY_TEXT_SIZE], last[KEY_TEXT_SIZE];
    struct engine_range range = { .place = random_below(random, 2) == 0 ? items : others,
                                  .first = random_key(random, first),
                                  .last = random_key(random, last),
                                  .reverse = random_below(random, 2) == 0 };
    struct engine_address address = engine_fixture_address(range.place, range.first);
    memcpy(last, first, RUN_SIZE); /* Within one run. */
    if (random_below(random, 4) == 0)
        range.count_max = 1 + random_below(random, 4);
    if (random_below(random, 4) == 0)
        range.bytes_max = 1 + random_below(random, 200);
    if (random_below(random, 3) == 0)
        range.first.len = RUN_SIZE;
    compare_gets(views, &address);
    compare_scans(views, &range);
}

static void reads_agree_with_an_engine_without_a_cache(void **state)
{
    uint64_t seed = 20261115;
    struct random random;
    struct engine_fixture plain, cached;
    struct engine_view *views[2] = { NULL, NULL };
    (void)state;
    random_init(&random, seed);
    atomic_store(&forms_seen, 0);
    engine_fixture_open(&plain, ENGINE_FIXTURE_REFERENCE);
    engine_fixture_open(&cached, ENGINE_FIXTURE_ROCKSDB_MEMORY);
    struct engine *engines[2] = { plain.engine, cached.engine };
    for (int step = 0; step < STEPS; step++) {
        change_both(&random, engines);
        if (step % 7 == 0) /* Some views are older than what is read beside them. */
            for (int i = 0; i < 2; i++) {
                engine_view_close(views[i]);
                views[i] = engine_fixture_view(engines[i]);
            }
        struct engine_view *newest[2] = { engine_fixture_view(plain.engine),
                                          engine_fixture_view(cached.engine) };
        for (int read = 0; read < READS_PER_STEP; read++) {
            compare_reads(&random, newest);
            compare_reads(&random, views);
        }
        engine_view_close(newest[0]);
        engine_view_close(newest[1]);
    }
    engine_view_close(views[0]);
    engine_view_close(views[1]);
    engine_fixture_close(&cached);
    engine_fixture_close(&plain);
    assert_true(atomic_load(&forms_seen) > STEPS);
}

/* --- All at once --- */

enum { PAIRS = 4, WRITERS = 2, READERS = 2, WRITES = 3000 };

struct race {
    struct engine *engine;
    atomic_int writers_left;
    atomic_uint_fast64_t newest[PAIRS]; /* What was acknowledged last. */
};

struct racer {
    struct race *race;
    int number;
};

static void pair_keys(int pair, char first[KEY_TEXT_SIZE], char second[KEY_TEXT_SIZE])
{
    snprintf(first, KEY_TEXT_SIZE, "pair %03da", pair);
    snprintf(second, KEY_TEXT_SIZE, "pair %03db", pair);
}

static uint64_t number_of(struct bytes value)
{
    char text[32] = "";
    assert_true(value.len < sizeof text);
    memcpy(text, value.data, value.len);
    return strtoull(text, NULL, 10);
}

static uint64_t get_newest(struct engine_write *write, const struct engine_address *address)
{
    struct engine_value value = { 0 };
    if (engine_write_get(write, address, &value) != ENGINE_OK)
        return 0;
    uint64_t number = number_of(value.bytes);
    engine_value_release(&value);
    return number;
}

/* Both items of a pair always have the same number, counted up. */
static void *write_pairs(void *argument)
{
    struct racer *racer = argument;
    char first[KEY_TEXT_SIZE], second[KEY_TEXT_SIZE], value[32];
    uint64_t last[PAIRS] = { 0 };
    for (uint64_t count = 1; count <= WRITES; count++) {
        int pair = racer->number + WRITERS * (int)(count % (PAIRS / WRITERS));
        pair_keys(pair, first, second);
        struct engine_address addresses[] = {
            engine_fixture_address(items, bytes_from_text(first)),
            engine_fixture_address(items, bytes_from_text(second)),
        };
        struct engine_write *write;
        snprintf(value, sizeof value, "%llu", (unsigned long long)count);
        assert_int_equal(engine_write_begin(racer->race->engine, addresses, 2, &write), ENGINE_OK);
        assert_int_equal(get_newest(write, &addresses[0]), last[pair]); /* Nobody else writes it. */
        last[pair] = count;
        engine_write_put(write, &addresses[0], bytes_from_text(value));
        engine_write_put(write, &addresses[1], bytes_from_text(value));
        assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
        atomic_store(&racer->race->newest[pair], count);
    }
    atomic_fetch_sub(&racer->race->writers_left, 1);
    return NULL;
}

static uint64_t get_number(struct engine_view *view, const char *key)
{
    struct engine_address address = engine_fixture_address(items, bytes_from_text(key));
    struct engine_value value = { 0 };
    if (engine_view_get(view, &address, &value) != ENGINE_OK)
        return 0;
    uint64_t number = number_of(value.bytes);
    check_rendered(value.bytes, value.rendered);
    engine_value_release(&value);
    return number;
}

static void check_pair(struct race *race, int pair)
{
    char first[KEY_TEXT_SIZE], second[KEY_TEXT_SIZE];
    struct engine_entry entry;
    struct engine_scan *scan;
    pair_keys(pair, first, second);
    uint64_t acknowledged = atomic_load(&race->newest[pair]);
    struct engine_view *view = engine_fixture_view(race->engine);
    uint64_t number = get_number(view, first);
    assert_true(number >= acknowledged);
    assert_int_equal(get_number(view, second), number);
    second[RUN_SIZE] = '~'; /* Behind both. */
    struct engine_range range = { .place = items,
                                  .first = bytes_of(first, RUN_SIZE),
                                  .last = bytes_of(second, RUN_SIZE + 1) };
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK) {
        assert_int_equal(number_of(entry.value), number);
        check_rendered(entry.value, entry.rendered);
    }
    engine_scan_close(scan);
    engine_view_close(view);
}

static void *read_pairs(void *argument)
{
    struct racer *racer = argument;
    while (atomic_load(&racer->race->writers_left) > 0)
        for (int pair = 0; pair < PAIRS; pair++)
            for (int again = 0; again < 8; again++)
                check_pair(racer->race, pair);
    return NULL;
}

static void a_view_shows_one_moment_and_all_that_was_acknowledged_before_it(void **state)
{
    static const enum engine_fixture_kind kinds[] = { ENGINE_FIXTURE_ROCKSDB_MEMORY,
                                                      ENGINE_FIXTURE_ROCKSDB_SYNC };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct engine_fixture fixture;
        pthread_t threads[WRITERS + READERS];
        struct racer racers[WRITERS + READERS];
        engine_fixture_open(&fixture, kinds[i]);
        struct race race = { .engine = fixture.engine };
        atomic_init(&race.writers_left, WRITERS);
        for (int t = 0; t < WRITERS + READERS; t++) {
            racers[t] = (struct racer){ &race, t };
            assert_int_equal(pthread_create(&threads[t], NULL,
                                            t < WRITERS ? write_pairs : read_pairs, &racers[t]),
                             0);
        }
        for (int t = 0; t < WRITERS + READERS; t++)
            pthread_join(threads[t], NULL);
        engine_fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_agree_with_an_engine_without_a_cache),
        cmocka_unit_test(a_view_shows_one_moment_and_all_that_was_acknowledged_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
