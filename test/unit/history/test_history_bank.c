/* test_history_bank.c -- transfers between accounts in two tables, by transactions of several
 * threads, while both tables are read as they were at some moment: the sum never changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "history/history_cut.h"
#include "history/history_reader.h"
#include "history/history_window.h"
#include "model/number.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "api/operation.h"

enum {
    TABLES = 2,
    ACCOUNTS = 6,
    OPENING = 1000,
    SUM = TABLES * ACCOUNTS * OPENING,
    CLERKS = 4,
    MOMENTS = 150
};

static const char *const names[TABLES] = { "first", "second" };

struct bank {
    struct api_fixture db;
    struct clock clock; /* The system's. */
    struct commit_clock commits;
    atomic_bool closed;
    atomic_uint transfers;
};

struct clerk {
    pthread_t thread;
    struct bank *bank;
    uint64_t random;
};

static uint64_t draw(uint64_t *random, uint64_t below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % below;
}

static void *transfer(void *context)
{
    struct clerk *clerk = context;
    struct api_fixture own = clerk->bank->db; /* With an arena of its own. */
    char body[1024];
    own.arena = arena_create();
    while (!atomic_load(&clerk->bank->closed)) {
        int amount = (int)draw(&clerk->random, 50) + 1;
        int first = (int)draw(&clerk->random, TABLES);
        snprintf(body, sizeof body,
                 "{'TransactItems':[{'Update':{'TableName':'%s','Key':{'p':{'S':'k%d'}},"
                 "'UpdateExpression':'SET v = v - :n','ExpressionAttributeValues':{':n':{'N':"
                 "'%d'}}}},{'Update':{'TableName':'%s','Key':{'p':{'S':'k%d'}},"
                 "'UpdateExpression':'SET v = v + :n','ExpressionAttributeValues':{':n':{'N':"
                 "'%d'}}}}]}",
                 names[first], (int)draw(&clerk->random, ACCOUNTS), amount, names[1 - first],
                 (int)draw(&clerk->random, ACCOUNTS), amount);
        if (api_fixture_call(&own, "TransactWriteItems", body))
            atomic_fetch_add(&clerk->bank->transfers, 1);
    }
    arena_destroy(own.arena);
    return NULL;
}

static int64_t value_of(const struct item *item)
{
    struct value value;
    struct number number;
    size_t size;
    assert_true(item_find(item, BYTES("v"), &value) && value.type == VALUE_N);
    assert_true(number_decode(value.data, &number, &size));
    int64_t out = (int64_t)number.coefficient;
    for (; number.exponent > 0; number.exponent--)
        out *= 10;
    return number.negative ? -out : out;
}

static int64_t sum_at(struct bank *bank, int64_t at_us)
{
    int64_t sum = 0;
    for (int i = 0; i < TABLES; i++) {
        struct table *table =
            catalogue_find(api_catalogue(bank->db.api), bytes_from_text(names[i]));
        struct history_reader *reader = history_reader_open_state(
            bank->db.engine, table_definition(table), at_us, &(struct history_range){ 0 });
        struct history_state state;
        enum engine_status status;
        while ((status = history_reader_next_state(reader, &state)) == ENGINE_OK)
            sum += state.exists ? value_of(&state.item) : 0;
        assert_int_equal(status, ENGINE_END);
        history_reader_close(reader);
        table_release(table);
    }
    return sum;
}

static void open_bank(struct bank *bank, struct engine *engine)
{
    char body[512];
    bank->clock = clock_system;
    bank->clock.commits = &bank->commits;
    api_fixture_open_with(&bank->db,
                          &(struct api_options){ .engine = engine, .clock = &bank->clock });
    for (int i = 0; i < TABLES; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'%s','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
                 "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p',"
                 "'KeyType':'HASH'}]}",
                 names[i]);
        assert_true(api_fixture_call(&bank->db, "CreateTable", body));
        for (int key = 0; key < ACCOUNTS; key++) {
            snprintf(body, sizeof body,
                     "{'TableName':'%s','Item':{'p':{'S':'k%d'},'v':{'N':'%d'}}}", names[i], key,
                     OPENING);
            assert_true(api_fixture_call(&bank->db, "PutItem", body));
        }
        snprintf(body, sizeof body,
                 "{'TableName':'%s','PointInTimeRecoverySpecification':"
                 "{'PointInTimeRecoveryEnabled':true}}",
                 names[i]);
        assert_true(api_fixture_call(&bank->db, "UpdateContinuousBackups", body));
    }
}

static int64_t begin_of(struct bank *bank)
{
    int64_t earliest_us = 0;
    for (int i = 0; i < TABLES; i++) {
        struct table *table =
            catalogue_find(api_catalogue(bank->db.api), bytes_from_text(names[i]));
        struct history_window window = history_window(table_definition(table), &bank->clock);
        earliest_us = window.earliest_us > earliest_us ? window.earliest_us : earliest_us;
        table_release(table);
    }
    return earliest_us;
}

static void no_moment_shows_half_a_transfer(void **state)
{
    static struct bank bank;
    struct clerk clerks[CLERKS];
    struct engine_fixture store;
    uint64_t random = 7;
    (void)state;
    engine_fixture_open(&store, ENGINE_FIXTURE_ROCKSDB_SYNC);
    bank = (struct bank){ 0 };
    open_bank(&bank, store.engine);
    int64_t begin_us = begin_of(&bank);
    for (size_t i = 0; i < CLERKS; i++) {
        clerks[i] = (struct clerk){ .bank = &bank, .random = i + 1 };
        assert_int_equal(pthread_create(&clerks[i].thread, NULL, transfer, &clerks[i]), 0);
    }
    int64_t wrong_sum = SUM;
    for (int i = 0; i < MOMENTS && wrong_sum == SUM; i++) {
        int64_t at_us = clock_commit_now_us(&bank.clock);
        if (draw(&random, 2) == 0)
            at_us = begin_us + (int64_t)draw(&random, (uint64_t)(at_us - begin_us) + 1);
        assert_int_equal(history_cut(store.engine, &bank.clock, at_us), ENGINE_OK);
        wrong_sum = sum_at(&bank, at_us);
    }
    atomic_store(&bank.closed, true);
    for (size_t i = 0; i < CLERKS; i++)
        pthread_join(clerks[i].thread, NULL);
    assert_int_equal(wrong_sum, SUM);
    assert_true(atomic_load(&bank.transfers) > 0);
    assert_true(commit_clock_drain(&bank.commits, 0)); /* Every write has left. */
    /* What was read while others wrote, read again. */
    for (int i = 0; i < MOMENTS; i++) {
        int64_t now_us = clock_commit_now_us(&bank.clock);
        int64_t at_us = begin_us + (int64_t)draw(&random, (uint64_t)(now_us - begin_us) + 1);
        assert_int_equal(sum_at(&bank, at_us), SUM);
    }
    api_close(bank.db.api);
    arena_destroy(bank.db.arena);
    engine_fixture_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_moment_shows_half_a_transfer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
