/* test_txn_conflicts.c -- a transaction's items are its own until it ends, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "txn/txn.h"
#include "txn/txn_conflicts.h"

enum { ITEMS_MAX = 3 };

static const struct table_definition definition = { .id = 7 };

struct fixture {
    struct arena *arena;
    struct engine *engine;
    struct txn_conflicts *conflicts;
};

/* A write that changes nothing. */
struct attempt {
    struct txn txn;
    struct txn_item items[ITEMS_MAX];
    struct txn_record record;
    unsigned ends;
    enum engine_status status;
};

static int set_up(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->arena = arena_create();
    fixture->engine = failing_engine_create(reference_engine_create());
    fixture->conflicts = txn_conflicts_create();
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    txn_conflicts_destroy(fixture->conflicts);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static bool decide(struct txn *txn)
{
    (void)txn;
    return true;
}

static void done(struct txn *txn, enum engine_status status)
{
    struct attempt *attempt = (struct attempt *)((char *)txn - offsetof(struct attempt, txn));
    attempt->ends++;
    attempt->status = status;
}

static struct engine_address address(enum engine_space space, const char *key)
{
    return (struct engine_address){ .place = { .owner = 7, .partition = 1, .space = space },
                                    .key = bytes_from_text(key) };
}

/* `keys` has one letter for each item; `token` may be NULL. */
static void start(struct fixture *fixture, struct attempt *attempt, bool is_transaction,
                  const char *keys, const char *token)
{
    static const char *const letters[] = { "a", "b", "c", "d" };
    *attempt = (struct attempt){ .txn = { .arena = fixture->arena,
                                          .engine = fixture->engine,
                                          .clock = &clock_system,
                                          .items = attempt->items,
                                          .conflicts = fixture->conflicts,
                                          .is_transaction = is_transaction,
                                          .decide = decide,
                                          .done = done } };
    for (; keys[attempt->txn.item_count] != '\0'; attempt->txn.item_count++) {
        size_t index = attempt->txn.item_count;
        attempt->items[index].table = &definition;
        attempt->items[index].place.address =
            address(ENGINE_SPACE_ITEMS, letters[keys[index] - 'a']);
    }
    if (token != NULL) {
        attempt->record.address = address(ENGINE_SPACE_TOKENS, token);
        attempt->txn.records = &attempt->record;
        attempt->txn.record_count = 1;
    }
    txn_start(&attempt->txn);
}

static void a_second_transaction_is_told_which_items_another_has(void **state)
{
    struct fixture *fixture = *state;
    struct attempt first, second;
    failing_engine_hold_commit(fixture->engine);
    start(fixture, &first, true, "ab", NULL);
    assert_int_equal(first.ends, 0);
    start(fixture, &second, true, "cbd", NULL);
    assert_int_equal(second.ends, 1);
    assert_int_equal(second.status, ENGINE_CONFLICT);
    assert_false(second.items[0].conflict);
    assert_true(second.items[1].conflict);
    assert_false(second.items[2].conflict);
    failing_engine_let_go(fixture->engine);
    assert_int_equal(first.status, ENGINE_OK);
}

static void what_was_refused_claims_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct attempt first, refused, third;
    failing_engine_hold_commit(fixture->engine);
    start(fixture, &first, true, "a", NULL);
    start(fixture, &refused, true, "ba", NULL);
    assert_int_equal(refused.status, ENGINE_CONFLICT);
    start(fixture, &third, true, "b", NULL);
    assert_int_equal(third.status, ENGINE_OK);
    failing_engine_let_go(fixture->engine);
}

static void items_are_free_again_at_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct attempt attempt;
    start(fixture, &attempt, true, "ab", "t");
    assert_int_equal(attempt.status, ENGINE_OK);
    start(fixture, &attempt, true, "ba", "t");
    assert_int_equal(attempt.status, ENGINE_OK);
}

static void items_are_free_again_after_a_failure(void **state)
{
    struct fixture *fixture = *state;
    struct attempt attempt;
    failing_engine_set(fixture->engine,
                       &(struct failing_engine_plan){ .call = 1, .status = ENGINE_IO });
    start(fixture, &attempt, true, "ab", NULL);
    assert_int_equal(attempt.status, ENGINE_IO);
    start(fixture, &attempt, true, "ab", NULL);
    assert_int_equal(attempt.status, ENGINE_OK);
}

static void a_single_write_meets_transactions_but_is_not_met(void **state)
{
    struct fixture *fixture = *state;
    struct attempt transaction, single;
    failing_engine_hold_commit(fixture->engine);
    start(fixture, &transaction, true, "ab", NULL);
    start(fixture, &single, false, "a", NULL);
    assert_int_equal(single.status, ENGINE_CONFLICT);
    start(fixture, &single, false, "c", NULL);
    assert_int_equal(single.status, ENGINE_OK);
    failing_engine_let_go(fixture->engine);

    failing_engine_hold_commit(fixture->engine);
    start(fixture, &single, false, "a", NULL);
    start(fixture, &transaction, true, "a", NULL);
    assert_int_equal(transaction.status, ENGINE_OK);
    failing_engine_let_go(fixture->engine);
}

static void records_are_claimed_like_items(void **state)
{
    struct fixture *fixture = *state;
    struct attempt first, second;
    failing_engine_hold_commit(fixture->engine);
    start(fixture, &first, true, "a", "t");
    start(fixture, &second, true, "b", "t");
    assert_int_equal(second.status, ENGINE_CONFLICT);
    assert_true(second.record.conflict);
    assert_false(second.items[0].conflict);
    start(fixture, &second, true, "b", "u");
    assert_int_equal(second.status, ENGINE_OK);
    failing_engine_let_go(fixture->engine);
}

static void the_place_counts_not_the_key_alone(void **state)
{
    struct fixture *fixture = *state;
    struct attempt first;
    struct engine_address same = address(ENGINE_SPACE_ITEMS, "a");
    struct engine_address other = address(ENGINE_SPACE_INDEX, "a");
    failing_engine_hold_commit(fixture->engine);
    start(fixture, &first, true, "a", NULL);
    assert_true(txn_conflicts_has(fixture->conflicts, &same));
    assert_false(txn_conflicts_has(fixture->conflicts, &other));
    failing_engine_let_go(fixture->engine);
    assert_false(txn_conflicts_has(fixture->conflicts, &same));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_second_transaction_is_told_which_items_another_has),
        TEST(what_was_refused_claims_nothing),
        TEST(items_are_free_again_at_the_end),
        TEST(items_are_free_again_after_a_failure),
        TEST(a_single_write_meets_transactions_but_is_not_met),
        TEST(records_are_claimed_like_items),
        TEST(the_place_counts_not_the_key_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
