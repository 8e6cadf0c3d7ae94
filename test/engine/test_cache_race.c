/* test_cache_race.c -- views that find entries without a lock, while writers remove them.
 *
 * The store is an array of numbers instead of RocksDB, so that nothing but the cache orders the
 * threads, and a view's snapshot is the number that one key had at one moment. What the cache lends
 * to the view must be that number exactly: store_cache.h has the argument.
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
#include "base/compiler.h"
#include "base/random.h"
#include "engine/rocksdb/store_cache.h"
#include "engine/rocksdb/store_key.h"

enum {
    KEYS_MAX = 24,
    RUNS = 3,
    WRITERS = 2,
    READERS = 2,
    REMOVALS_EVERY = 500,
    PADDING_SIZE = 64,
};

static const struct course {
    const char *name;
    size_t keys;     /* Of few runs, which is of few stripes and shards. */
    size_t key_size; /* At least. */
    size_t capacity; /* Of a shard. */
    int writes;
    uint64_t pause_max; /* Of a writer, while its change is under way. */
} courses[] = {
    /* Entries are often removed to make room, and buckets have several. */
    { "a crowded cache", KEYS_MAX, 1, 1500, 250000, 100 },
    /* To compare such a key takes longer than to end a change: it matters what is looked at first.
     */
    { "long keys", RUNS, 16 * 1024, 128 * 1024, 40000, 5000 },
};

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

struct race {
    const struct course *course;
    struct store_cache *cache;
    struct store_key keys[KEYS_MAX];
    struct store_cache_name names[KEYS_MAX];
    pthread_mutex_t latches[KEYS_MAX];
    atomic_uint_fast64_t stored[KEYS_MAX];
    atomic_uint_fast64_t generation;
    atomic_int writers_left;
    atomic_uint lent;
    atomic_uint wrong; /* Entries that showed something else. */
};

struct racer {
    struct race *race;
    uint64_t seed;
};

/* What an entry holds: the key, its number, and enough to be overwritten if it is freed too soon.
 */
struct content {
    uint64_t key;
    uint64_t number;
    uint8_t padding[PADDING_SIZE];
};

static struct content content_of(uint64_t key, uint64_t number)
{
    struct content content = { .key = key, .number = number };
    memset(content.padding, (int)number, sizeof content.padding);
    return content;
}

static bool shows(const struct store_cache_entry *entry, uint64_t key, uint64_t number)
{
    struct content want = content_of(key, number);
    struct bytes bytes = store_cache_content(entry);
    return bytes.len == sizeof want && memcmp(bytes.data, &want, sizeof want) == 0;
}

/* --- Writers --- */

/* A batch takes its time, before it is stored and after. */
static void pause_for(uint64_t count)
{
    for (volatile uint64_t i = 0; i < count; i = i + 1)
        continue;
}

static void write_number(struct race *race, size_t key, struct random *random,
                         struct store_cache_removed *removed)
{
    struct store_cache_touch touch = { race->names[key].run_hash, race->names[key].hash };
    bool wanted;
    pthread_mutex_lock(&race->latches[key]);
    uint64_t number = atomic_load(&race->stored[key]);
    struct store_cache_entry *entry =
        store_cache_find(race->cache, &race->names[key], STORE_CACHE_NEWEST, &wanted);
    if (entry != NULL) {
        if (!shows(entry, key, number))
            atomic_fetch_add(&race->wrong, 1);
        store_cache_release(entry);
    }
    struct content content = content_of(key, number + 1);
    uint64_t moment = store_cache_moment(race->cache);
    store_cache_begin_change(race->cache, &touch);
    pause_for(random_below(random, race->course->pause_max));
    atomic_store(&race->stored[key], number + 1);
    pause_for(random_below(random, race->course->pause_max));
    uint64_t generation = atomic_load(&race->generation);
    if (random_below(random, 2) == 0)
        store_cache_replace(race->cache, &race->names[key], moment, generation,
                            bytes_of(&content, sizeof content), removed);
    else
        store_cache_end_change(race->cache, &touch, generation, removed);
    if (random_below(random, 2) == 0) /* Otherwise together with those of the next write. */
        store_cache_free_removed(race->cache, removed);
    pthread_mutex_unlock(&race->latches[key]);
}

/* A write that changes all keys at once. */
static void write_range(struct race *race)
{
    for (size_t i = 0; i < race->course->keys; i++)
        pthread_mutex_lock(&race->latches[i]);
    store_cache_begin_removal(race->cache);
    for (size_t i = 0; i < race->course->keys; i++)
        atomic_fetch_add(&race->stored[i], 1);
    store_cache_end_removal(race->cache, items.owner, items.owner, atomic_load(&race->generation));
    for (size_t i = 0; i < race->course->keys; i++)
        pthread_mutex_unlock(&race->latches[i]);
}

static void *write_numbers(void *argument)
{
    struct racer *racer = argument;
    struct race *race = racer->race;
    struct store_cache_removed removed = { 0 };
    struct random random;
    random_init(&random, racer->seed);
    for (int i = 0; i < race->course->writes; i++)
        if (random_below(&random, REMOVALS_EVERY) == 0)
            write_range(race);
        else
            write_number(race, random_below(&random, race->course->keys), &random, &removed);
    store_cache_free_removed(race->cache, &removed);
    atomic_fetch_sub(&race->writers_left, 1);
    return NULL;
}

/* --- Views --- */

static void read_number(struct race *race, size_t key)
{
    struct store_cache_loan loan;
    bool wanted;
    uint64_t generation = atomic_fetch_add(&race->generation, 1) + 1;
    uint64_t number = atomic_load(&race->stored[key]); /* The snapshot. */
    for (int again = 0; again < 3; again++) {
        if (store_cache_lend(race->cache, &race->names[key], generation, &loan, &wanted)) {
            if (!shows(loan.entry, key, number))
                atomic_fetch_add(&race->wrong, 1);
            atomic_fetch_add_explicit(&race->lent, 1, memory_order_relaxed);
            store_cache_return(&loan);
            continue;
        }
        struct content content = content_of(key, number);
        store_cache_keep(race->cache, &race->names[key], generation,
                         bytes_of(&content, sizeof content));
    }
}

static void *read_numbers(void *argument)
{
    struct racer *racer = argument;
    struct random random;
    random_init(&random, racer->seed);
    while (atomic_load(&racer->race->writers_left) > 0)
        read_number(racer->race, random_below(&random, racer->race->course->keys));
    return NULL;
}

static void set_up(struct race *race, const struct course *course)
{
    char *text = malloc(course->key_size + 64);
    *race = (struct race){ .course = course };
    race->cache = store_cache_create(STORE_CACHE_SHARDS * course->capacity);
    memset(text, 'k', course->key_size + 64);
    for (size_t i = 0; i < course->keys; i++) {
        int size = snprintf(text, 32, "run %04zukey %zu", i % RUNS, i);
        text[size] = 'k';
        store_key_init(&race->keys[i], &items, bytes_of(text, (size_t)size + course->key_size));
        assert_true(store_cache_name_value(&race->keys[i], &race->names[i]));
        pthread_mutex_init(&race->latches[i], NULL);
    }
    atomic_init(&race->writers_left, WRITERS);
    free(text);
}

static void tear_down(struct race *race)
{
    for (size_t i = 0; i < race->course->keys; i++) {
        pthread_mutex_destroy(&race->latches[i]);
        store_key_deinit(&race->keys[i]);
    }
    store_cache_destroy(race->cache);
}

static void a_view_is_lent_exactly_what_its_snapshot_shows(void **state)
{
    struct race *race = malloc(sizeof *race);
    struct racer racers[WRITERS + READERS];
    pthread_t threads[WRITERS + READERS];
    (void)state;
    for (size_t c = 0; c < COUNT_OF(courses); c++) {
        set_up(race, &courses[c]);
        for (size_t i = 0; i < WRITERS + READERS; i++) {
            racers[i] = (struct racer){ race, i + 1 };
            assert_int_equal(pthread_create(&threads[i], NULL,
                                            i < WRITERS ? write_numbers : read_numbers, &racers[i]),
                             0);
        }
        for (size_t i = 0; i < WRITERS + READERS; i++)
            pthread_join(threads[i], NULL);
        if (atomic_load(&race->wrong) > 0)
            fail_msg("%s: %u of %u were wrong", courses[c].name, atomic_load(&race->wrong),
                     atomic_load(&race->lent));
        assert_true(atomic_load(&race->lent) > 0);
        assert_true(store_cache_retired_count(race->cache) <=
                    STORE_CACHE_SHARDS * STORE_CACHE_RETIRED_MAX);
        tear_down(race);
    }
    free(race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_lent_exactly_what_its_snapshot_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
