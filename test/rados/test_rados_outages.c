/* test_rados_outages.c -- OSDs that die, return, and do not answer, under the store and under the
 * commit protocol: what was acknowledged stays, and a lost answer is never taken for a refusal. */
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
#include <time.h>
#include "accounts.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "engine/commit/commit_engine.h"
#include "engine_fixture.h"
#include "rados_fixture.h"

enum { SHORT_TIMEOUT_S = 2 };

static struct engine *open_on(struct partition_store *store)
{
    char message[ENGINE_MESSAGE_MAX];
    struct random random;
    random_init_from_system(&random);
    struct engine *engine =
        commit_engine_create(store, &commit_time_system, random_next(&random), message);
    assert_non_null(engine);
    return engine;
}

static void all_osds(const char *action)
{
    for (unsigned i = 0; i < RADOS_FIXTURE_OSDS; i++)
        rados_fixture_osd(action, i);
}

static void rest(unsigned ms)
{
    struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
    nanosleep(&pause, NULL);
}

/* --- The store alone --- */

static struct bytes value_of(struct arena *arena, char stamp)
{
    uint8_t *value = arena_alloc(arena, PARTITION_STAMP_SIZE + 1);
    memset(value, stamp, PARTITION_STAMP_SIZE);
    value[PARTITION_STAMP_SIZE] = 1;
    return bytes_of(value, PARTITION_STAMP_SIZE + 1);
}

/* Replaces the value with stamp `from` (0: none) by one with stamp `to`. */
static enum partition_status replace(struct partition_store *store, struct arena *arena, char from,
                                     char to)
{
    struct partition_guard guard = { .key = BYTES("k"), .absent = from == 0 };
    memset(guard.stamp.bytes, from, sizeof guard.stamp.bytes);
    struct partition_change change = { BYTES("k"), value_of(arena, to) };
    struct partition_operation write = {
        .partition = { PARTITION_TABLES, 1 },
        .is_write = true,
        .guards = &guard,
        .guard_count = 1,
        .changes = &change,
        .change_count = 1,
    };
    store->ops->run(store, arena, &write, 1);
    return write.status;
}

static enum partition_status look(struct partition_store *store, struct arena *arena, char *stamp)
{
    struct bytes key = BYTES("k"), value = { 0 };
    struct partition_operation read = {
        .partition = { PARTITION_TABLES, 1 },
        .keys = &key,
        .key_count = 1,
        .values = &value,
    };
    store->ops->run(store, arena, &read, 1);
    if (read.status == PARTITION_OK)
        *stamp = value.data == NULL ? 0 : (char)value.data[0];
    return read.status;
}

static void an_answer_that_is_lost_is_unknown_and_a_later_guard_decides(void **state)
{
    (void)state;
    char space[RADOS_FIXTURE_SPACE_SIZE], stamp = 0;
    struct arena *arena = arena_create();
    rados_fixture_new_space(space);
    struct partition_store *store = rados_fixture_open(space, SHORT_TIMEOUT_S);
    assert_int_equal(replace(store, arena, 0, 'a'), PARTITION_OK);
    all_osds("pause");
    assert_int_equal(replace(store, arena, 'a', 'b'), PARTITION_UNKNOWN);
    assert_int_equal(look(store, arena, &stamp), PARTITION_FAILED);
    struct partition_id next;
    assert_int_equal(store->ops->next_partition(store, NULL, &next), PARTITION_FAILED);
    all_osds("resume");
    rados_fixture_await_clean();
    /* Either the operation has happened, or the guard of this one keeps it from ever happening. */
    enum partition_status decided = replace(store, arena, 'a', 'c');
    assert_true(decided == PARTITION_OK || decided == PARTITION_REFUSED);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(look(store, arena, &stamp), PARTITION_OK);
        assert_int_equal(stamp, decided == PARTITION_OK ? 'c' : 'b');
        rest(50);
    }
    printf("the operation %s\n", decided == PARTITION_OK ? "never happened" : "happened late");
    store->ops->close(store);
    arena_destroy(arena);
}

static void the_first_write_of_a_partition_that_cannot_be_listed_changes_nothing(void **state)
{
    (void)state;
    char space[RADOS_FIXTURE_SPACE_SIZE], stamp = 1;
    struct arena *arena = arena_create();
    rados_fixture_new_space(space);
    struct partition_store *store = rados_fixture_open(space, SHORT_TIMEOUT_S);
    all_osds("pause");
    enum partition_status status = replace(store, arena, 0, 'a');
    assert_true(status == PARTITION_UNKNOWN || status == PARTITION_FAILED);
    all_osds("resume");
    rados_fixture_await_clean();
    /* It asked for an object that was not there, so it cannot have created one. */
    assert_int_equal(look(store, arena, &stamp), PARTITION_OK);
    assert_int_equal(stamp, 0);
    store->ops->close(store);
    arena_destroy(arena);
}

/* --- The engine: lost answers --- */

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };
static const struct engine_place others = { 8, 1, ENGINE_SPACE_ITEMS };

struct change {
    struct engine *engine;
    size_t partitions; /* 1 or 2 */
    struct bytes value;
    enum engine_status status;
    atomic_bool has_ended;
};

static void *run_change(void *argument)
{
    struct change *change = argument;
    struct engine_address addresses[] = { { items, BYTES("k") }, { others, BYTES("k") } };
    struct engine_write *write;
    change->status = engine_write_begin(change->engine, addresses, change->partitions, &write);
    for (size_t i = 0; change->status == ENGINE_OK && i < change->partitions; i++)
        engine_write_put(write, &addresses[i], change->value);
    if (change->status == ENGINE_OK)
        change->status = engine_write_commit_wait(write);
    atomic_store(&change->has_ended, true);
    return NULL;
}

/* The cluster stops answering, and answers again once the engine has begun to find out. */
static void lose_answers(size_t partitions)
{
    enum { ROUNDS = 3 };
    char space[RADOS_FIXTURE_SPACE_SIZE];
    rados_fixture_new_space(space);
    struct partition_store *store = rados_fixture_open(space, SHORT_TIMEOUT_S);
    struct engine *engine = open_on(store), *reader = open_on(rados_fixture_open(space, 0));
    struct bytes last = BYTES("first");
    struct change change = { engine, partitions, last, ENGINE_IO, false };
    run_change(&change);
    assert_int_equal(change.status, ENGINE_OK);
    for (int round = 0; round < ROUNDS; round++) {
        char text[32];
        pthread_t thread;
        snprintf(text, sizeof text, "round %d", round);
        change.value = bytes_from_text(text);
        struct rados_counts before = rados_store_counts(store);
        atomic_store(&change.has_ended, false);
        all_osds("pause");
        assert_int_equal(pthread_create(&thread, NULL, run_change, &change), 0);
        while (!atomic_load(&change.has_ended) &&
               rados_store_counts(store).writes < before.writes + 2)
            rest(10);
        all_osds("resume");
        pthread_join(thread, NULL);
        rados_fixture_await_clean();
        printf("%zu partitions: %s\n", partitions, engine_status_name(change.status));
        bool is_new = engine_fixture_has(reader, items, BYTES("k"), change.value);
        if (change.status == ENGINE_OK)
            assert_true(is_new);
        else if (change.status != ENGINE_UNKNOWN) /* Did not and will not take place. */
            assert_false(is_new);
        if (partitions == 2) /* Both or neither. */
            assert_int_equal(engine_fixture_has(reader, others, BYTES("k"), change.value), is_new);
        if (!is_new)
            assert_false(engine_fixture_lacks(reader, items, BYTES("k")));
    }
    engine_close(engine);
    engine_close(reader);
}

static void a_write_of_one_partition_finds_out_what_became_of_it(void **state)
{
    (void)state;
    lose_answers(1);
}

static void a_write_of_two_partitions_takes_place_in_both_or_in_none(void **state)
{
    (void)state;
    lose_answers(2);
}

/* --- Two servers while OSDs die and return --- */

enum { SERVERS = 2, THREADS = 4, ACCOUNTS = 8, START = 100, PROGRESS = 100 };

struct bank {
    struct engine *engines[SERVERS];
    atomic_bool stop;
    atomic_uint done; /* Acknowledged transfers and audits. */
    atomic_uint failed;
};

struct teller {
    struct bank *bank;
    unsigned number;
    uint32_t last; /* The greatest number that was acknowledged. */
};

static struct engine_address journal(const struct teller *teller)
{
    static const char names[] = "0123";
    return (struct engine_address){ { 2, 1, ENGINE_SPACE_CHANGES },
                                    bytes_of(names + teller->number, 1) };
}

static enum engine_status transfer(struct teller *teller, struct engine *engine, uint64_t from,
                                   uint64_t to, uint32_t number)
{
    struct engine_address entry = journal(teller);
    struct engine_write *write;
    enum engine_status status = accounts_move(engine, from, to, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_put(write, &entry, bytes_of(&number, sizeof number));
    return engine_write_commit_wait(write);
}

static void *run_teller(void *argument)
{
    struct teller *teller = argument;
    struct bank *bank = teller->bank;
    struct engine *engine = bank->engines[teller->number % SERVERS];
    struct random random;
    random_init(&random, teller->number + 1);
    for (uint32_t number = 1; !atomic_load(&bank->stop); number++) {
        uint64_t from = random_below(&random, ACCOUNTS);
        uint64_t to = (from + 1 + random_below(&random, ACCOUNTS - 1)) % ACCOUNTS;
        unsigned total = 0;
        bool audits = random_below(&random, 8) == 0;
        enum engine_status status = audits ? accounts_sum(engine, ACCOUNTS, &total)
                                           : transfer(teller, engine, from, to, number);
        assert_true(status == ENGINE_OK || status == ENGINE_CONFLICT || status == ENGINE_BUSY ||
                    status == ENGINE_UNKNOWN || status == ENGINE_IO);
        if (audits && status == ENGINE_OK)
            assert_int_equal(total, ACCOUNTS * START);
        if (!audits && status == ENGINE_OK)
            teller->last = number;
        atomic_fetch_add(status == ENGINE_OK ? &bank->done : &bank->failed, 1);
    }
    return NULL;
}

/* Waits for some more work to be acknowledged. */
static void await_progress(struct bank *bank)
{
    unsigned before = atomic_load(&bank->done);
    while (atomic_load(&bank->done) < before + PROGRESS)
        rest(10);
}

static void what_was_acknowledged_survives_osds_that_die_one_after_another(void **state)
{
    (void)state;
    char space[RADOS_FIXTURE_SPACE_SIZE];
    struct bank bank = { 0 };
    struct teller tellers[THREADS];
    pthread_t threads[THREADS];
    rados_fixture_new_space(space);
    for (size_t i = 0; i < SERVERS; i++)
        bank.engines[i] = open_on(rados_fixture_open(space, 0));
    accounts_create(bank.engines[0], ACCOUNTS, START);
    for (unsigned i = 0; i < THREADS; i++) {
        tellers[i] = (struct teller){ &bank, i, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, run_teller, &tellers[i]), 0);
    }
    for (unsigned osd = 0; osd < RADOS_FIXTURE_OSDS; osd++) {
        await_progress(&bank);
        rados_fixture_osd("kill", osd);
        await_progress(&bank); /* Two of three are enough. */
        rados_fixture_osd("start", osd);
        rados_fixture_await_clean();
    }
    await_progress(&bank);
    atomic_store(&bank.stop, true);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    unsigned total = 0;
    assert_int_equal(commit_engine_sweep(bank.engines[0]), ENGINE_OK);
    assert_int_equal(accounts_sum(bank.engines[1], ACCOUNTS, &total), ENGINE_OK);
    assert_int_equal(total, ACCOUNTS * START);
    for (size_t i = 0; i < THREADS; i++) {
        struct engine_address entry = journal(&tellers[i]);
        struct engine_view *view = engine_fixture_view(bank.engines[0]);
        struct engine_value value;
        uint32_t number;
        assert_true(tellers[i].last > 0);
        assert_int_equal(engine_view_get(view, &entry, &value), ENGINE_OK);
        memcpy(&number, value.bytes.data, sizeof number);
        assert_true(number >= tellers[i].last); /* Above it: one whose answer was lost. */
        engine_value_release(&value);
        engine_view_close(view);
    }
    printf("%u acknowledged, %u not\n", atomic_load(&bank.done), atomic_load(&bank.failed));
    for (size_t i = 0; i < SERVERS; i++)
        engine_close(bank.engines[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_is_lost_is_unknown_and_a_later_guard_decides),
        cmocka_unit_test(the_first_write_of_a_partition_that_cannot_be_listed_changes_nothing),
        cmocka_unit_test(a_write_of_one_partition_finds_out_what_became_of_it),
        cmocka_unit_test(a_write_of_two_partitions_takes_place_in_both_or_in_none),
        cmocka_unit_test(what_was_acknowledged_survives_osds_that_die_one_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
