/* test_catalogue_readers.c -- tables that are looked up without a lock, while others change them.
 *
 * Readers say which version of a table they use, and the control thread says which versions are
 * over: the two must never disagree, since backfills, drops and streams rely on it.
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
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/catalogue.h"
#include "table_fixture.h"

enum { TABLES = 5, READERS = 3, CHANGES = 20000, NAME_SIZE = 16 };

/* The version of a table is its created_ms, counted up over all tables, so it tells which of two
 * tables of one name came later, too. */
struct reader {
    struct race *race;
    uint64_t seed;
    pthread_t thread;
    atomic_int_fast64_t uses[TABLES]; /* A version that it holds; INT64_MAX: none. */
};

struct race {
    struct catalogue *catalogue;
    atomic_bool over;
    atomic_int_fast64_t published[TABLES]; /* What a lookup finds is not older. */
    int64_t first[TABLES]; /* The version that the table was created with. Control thread only. */
    struct reader readers[READERS];
};

static struct bytes name_of(size_t table, char text[NAME_SIZE])
{
    return bytes_of(text, (size_t)snprintf(text, NAME_SIZE, "table-%zu", table));
}

/* --- Readers --- */

static void use_table(struct reader *reader, size_t number, bool counts)
{
    char text[NAME_SIZE];
    struct bytes name = name_of(number, text);
    int64_t least = atomic_load(&reader->race->published[number]);
    struct table *table = counts ? catalogue_find(reader->race->catalogue, name)
                                 : catalogue_borrow(reader->race->catalogue, name);
    if (table != NULL) {
        const struct table_definition *definition = table_definition(table);
        assert_true(bytes_equal(definition->name, name));
        assert_true(definition->created_ms >= least);
        atomic_store(&reader->uses[number], definition->created_ms);
        assert_true(bytes_equal_text(definition->key.hash.name, "p"));
        atomic_store(&reader->uses[number], INT64_MAX); /* Before it is let go. */
    }
    table_release(table);
}

static void *use_tables(void *argument)
{
    struct reader *reader = argument;
    struct random random;
    struct bytes names[TABLES];
    struct arena *arena = arena_create();
    random_init(&random, reader->seed);
    while (!atomic_load(&reader->race->over)) {
        use_table(reader, random_below(&random, TABLES), random_below(&random, 4) == 0);
        if (random_below(&random, 16) > 0)
            continue;
        size_t count =
            catalogue_list(reader->race->catalogue, arena, BYTES(""), names, COUNT_OF(names));
        for (size_t i = 1; i < count; i++)
            assert_true(bytes_compare(names[i - 1], names[i]) < 0);
        arena_reset(arena);
    }
    arena_destroy(arena);
    return NULL;
}

/* --- The control thread --- */

/* Nobody holds a version of the table before this one. A table that was dropped, and had the same
 * name, is another one. */
static void check_versions_over(struct race *race, size_t number, int64_t version)
{
    for (size_t i = 0; i < READERS; i++) {
        int64_t used = atomic_load(&race->readers[i].uses[number]);
        if (used >= race->first[number] && used < version)
            fail_msg("table %zu: version %lld is in use, and %lld is said to be the only one",
                     number, (long long)used, (long long)version);
    }
}

/* One change of a table; `version` is the new one's. True if the table was seen to have no older
 * version in use. */
static bool change_table(struct race *race, struct arena *arena, size_t number, int64_t version,
                         struct random *random)
{
    char text[NAME_SIZE];
    bool waiting, only = false;
    struct bytes name = name_of(number, text);
    struct table *table = catalogue_find(race->catalogue, name);
    struct table_definition changed =
        table == NULL ? table_fixture_draft(arena, name) : *table_definition(table);
    changed.created_ms = version;
    if (table == NULL) {
        assert_int_equal(catalogue_create(race->catalogue, arena, &changed), ENGINE_OK);
        race->first[number] = version;
        atomic_store(&race->published[number], version);
    } else if (random_below(random, 8) == 0) {
        assert_int_equal(catalogue_drop(race->catalogue, arena, name), ENGINE_OK);
    } else {
        assert_int_equal(catalogue_update(race->catalogue, arena, &changed), ENGINE_OK);
        atomic_store(&race->published[number], version);
    }
    table_release(table);
    table = catalogue_find(race->catalogue, name);
    if (table != NULL && table_is_only_version(table)) {
        check_versions_over(race, number, version);
        only = true;
    }
    table_release(table);
    enum engine_status status = catalogue_remove_dropped(race->catalogue, arena, &waiting);
    assert_true(status == ENGINE_OK || status == ENGINE_END);
    return only;
}

static void no_version_is_said_to_be_over_while_it_is_in_use(void **state)
{
    struct engine *engine = reference_engine_create();
    struct race *race = calloc(1, sizeof *race);
    struct arena *arena = arena_create();
    enum engine_status status;
    struct random random;
    int only_count = 0;
    (void)state;
    random_init(&random, 20261116);
    race->catalogue = catalogue_open(engine, &status);
    assert_int_equal(status, ENGINE_OK);
    for (size_t i = 0; i < READERS; i++) {
        struct reader *reader = &race->readers[i];
        reader->race = race;
        reader->seed = i;
        for (size_t number = 0; number < TABLES; number++)
            atomic_init(&reader->uses[number], INT64_MAX);
    }
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(
            pthread_create(&race->readers[i].thread, NULL, use_tables, &race->readers[i]), 0);
    for (int64_t version = 1; version <= CHANGES; version++) {
        only_count += change_table(race, arena, random_below(&random, TABLES), version, &random);
        arena_reset(arena);
    }
    atomic_store(&race->over, true);
    for (size_t i = 0; i < READERS; i++)
        pthread_join(race->readers[i].thread, NULL);
    assert_true(only_count > 0);
    bool waiting;
    while (catalogue_remove_dropped(race->catalogue, arena, &waiting) == ENGINE_OK)
        continue;
    assert_false(waiting); /* Nothing is held for good. */
    catalogue_close(race->catalogue);
    engine_close(engine);
    arena_destroy(arena);
    free(race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_version_is_said_to_be_over_while_it_is_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
