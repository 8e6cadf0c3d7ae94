/* test_waiting_writes.c -- a thread that must not wait is told when its write begins: the contract
 * of engine.h on every engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/compiler.h"
#include "engine_fixture.h"

static const struct engine_address item = { { 7, 1, ENGINE_SPACE_ITEMS },
                                            { (const uint8_t *)"a", 1 } };
static const struct engine_address stats = { { 7, 1, ENGINE_SPACE_STATS },
                                             { (const uint8_t *)"f", 1 } };

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

/* One thread has them all, so each `ready` runs before the call that leads to it returns. */
struct waiter {
    struct engine_wait wait;
    int told;
    enum engine_status status;
    struct engine_write *write;
};

static void note_ready(struct engine_wait *wait, enum engine_status status,
                       struct engine_write *write)
{
    struct waiter *waiter = (struct waiter *)wait;
    waiter->told++;
    waiter->status = status;
    waiter->write = write;
}

static enum engine_status begin(struct engine *engine, const struct engine_address *address,
                                struct waiter *waiter)
{
    *waiter = (struct waiter){ .wait.ready = note_ready };
    return engine_write_begin_later(engine, address, 1, &waiter->wait, &waiter->write);
}

static void commit(struct engine_write *write)
{
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void add_one(struct engine_write *write, const struct engine_address *address)
{
    struct engine_value value;
    uint8_t number = 0;
    if (engine_write_get(write, address, &value) == ENGINE_OK)
        number = value.bytes.data[0];
    engine_value_release(&value);
    number++;
    engine_write_put(write, address, bytes_of(&number, 1));
}

static bool is_number(struct engine *engine, const struct engine_address *address, uint8_t number)
{
    return engine_fixture_has(engine, address->place, address->key, bytes_of(&number, 1));
}

static void a_write_begins_at_once_if_nobody_is_in_the_way(void **state)
{
    struct waiter waiter;
    assert_int_equal(begin(engine_of(state), &item, &waiter), ENGINE_OK);
    add_one(waiter.write, &item);
    commit(waiter.write);
    assert_int_equal(waiter.told, 0);
    assert_true(is_number(engine_of(state), &item, 1));
}

static void writes_of_one_address_begin_in_their_order(void **state)
{
    struct engine *engine = engine_of(state);
    struct waiter waiters[4];
    assert_int_equal(begin(engine, &item, &waiters[0]), ENGINE_OK);
    for (size_t i = 1; i < COUNT_OF(waiters); i++)
        assert_int_equal(begin(engine, &item, &waiters[i]), ENGINE_WAITING);
    for (size_t i = 0; i < COUNT_OF(waiters); i++) {
        for (size_t j = 1; j < COUNT_OF(waiters); j++)
            assert_int_equal(waiters[j].told, j <= i);
        add_one(waiters[i].write, &item);
        if (i == 2)
            engine_write_abandon(waiters[i].write);
        else
            commit(waiters[i].write);
    }
    assert_int_equal(waiters[3].status, ENGINE_OK);
    assert_true(is_number(engine, &item, COUNT_OF(waiters) - 1));
}

static void what_is_held_is_not_taken_by_trying(void **state)
{
    struct engine *engine = engine_of(state);
    struct engine_write *write = NULL;
    struct waiter waiter;
    bool busy[2];
    const struct engine_address both[] = { item, item };
    assert_int_equal(begin(engine, &item, &waiter), ENGINE_OK);
    assert_int_equal(engine_write_try(engine, both, 2, busy, &write), ENGINE_BUSY);
    assert_true(busy[0] && busy[1]);
    add_one(waiter.write, &item);
    commit(waiter.write);
    assert_int_equal(engine_write_try(engine, both, 2, busy, &write), ENGINE_OK);
    assert_int_equal(begin(engine, &item, &waiter), ENGINE_WAITING);
    add_one(write, &item);
    commit(write);
    assert_int_equal(waiter.told, 1);
    engine_write_abandon(waiter.write);
    assert_true(is_number(engine, &item, 2));
}

/* Both forms, one after the other. */
static void a_write_is_extended_by_what_many_share(void **state)
{
    struct engine *engine = engine_of(state);
    struct waiter first, second;
    assert_int_equal(begin(engine, &item, &first), ENGINE_OK);
    assert_int_equal(engine_write_extend_later(first.write, &stats, 1, &first.wait), ENGINE_OK);
    add_one(first.write, &item);
    add_one(first.write, &stats);
    assert_int_equal(begin(engine, &stats, &second), ENGINE_WAITING);
    commit(first.write);
    assert_int_equal(second.told, 1);
    add_one(second.write, &stats);
    commit(second.write);
    assert_int_equal(begin(engine, &item, &first), ENGINE_OK);
    assert_int_equal(engine_write_extend(first.write, &stats, 1), ENGINE_OK);
    add_one(first.write, &stats);
    commit(first.write);
    assert_true(is_number(engine, &item, 1));
    assert_true(is_number(engine, &stats, 3));
}

#define ON(test, kind) cmocka_unit_test_prestate_setup_teardown(test, setup, teardown, kind)

static int run_on(enum engine_fixture_kind kind)
{
    const struct CMUnitTest tests[] = {
        ON(a_write_begins_at_once_if_nobody_is_in_the_way, &kind),
        ON(writes_of_one_address_begin_in_their_order, &kind),
        ON(what_is_held_is_not_taken_by_trying, &kind),
        ON(a_write_is_extended_by_what_many_share, &kind),
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
