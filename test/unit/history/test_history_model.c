/* test_history_model.c -- random changes of two tables against a plain model that keeps every
 * state.
 *
 * Puts, updates, deletes, transactions over both tables, and expiry, while the wall clock steps
 * both ways and the server restarts. Then the tables are read as they were at random moments, at
 * commit times, and a microsecond before and after them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/random.h"
#include "history/history_cut.h"
#include "history/history_reader.h"
#include "model/number.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "api/operation.h"

enum { TABLES = 2, KEYS = 10, STEPS = 300, SEEDS = 40, READS = 40, STATES_MAX = STEPS * 3 };

static const char *const names[TABLES] = { "first", "second" };

/* The value of each item; 0: there is none. */
struct model_state {
    int64_t from_us; /* The commit time it came with. */
    int values[TABLES][KEYS];
};

struct run {
    struct api_fixture db;
    uint64_t random;
    int last_value;
    int64_t begun_us;
    struct model_state states[STATES_MAX];
    size_t count;
};

static uint64_t draw(struct run *run, uint64_t below)
{
    run->random = run->random * 6364136223846793005u + 1442695040888963407u;
    return (run->random >> 33) % below;
}

/* --- Changes --- */

static void call(struct run *run, const char *operation, const char *body)
{
    if (!api_fixture_call(&run->db, operation, body))
        fail_msg("%s %s: %.*s", operation, body, BYTES_FMT(run->db.error.message));
}

/* A new state, which begins with the commit time of the last change. */
static struct model_state *add_state(struct run *run)
{
    assert_true(run->count < STATES_MAX);
    struct model_state *state = &run->states[run->count];
    *state = run->states[run->count - 1];
    run->count++;
    return state;
}

static void note_time(struct run *run)
{
    struct model_state *state = &run->states[run->count - 1];
    state->from_us = atomic_load(&run->db.commits.newest_us);
    assert_true(state->from_us > run->states[run->count - 2].from_us);
}

static void put(struct run *run, int table, int key)
{
    char body[256];
    int value = ++run->last_value;
    snprintf(body, sizeof body,
             "{'TableName':'%s','Item':{'p':{'S':'k%d'},'v':{'N':'%d'},'x':{'S':'%0*d'}}}",
             names[table], key, value, (int)draw(run, 60) + 1, 0);
    call(run, "PutItem", body);
    add_state(run)->values[table][key] = value;
    note_time(run);
}

static void update(struct run *run, int table, int key)
{
    char body[256];
    int value = ++run->last_value;
    snprintf(body, sizeof body,
             "{'TableName':'%s','Key':{'p':{'S':'k%d'}},'UpdateExpression':'SET v = :v',"
             "'ExpressionAttributeValues':{':v':{'N':'%d'}}}",
             names[table], key, value);
    call(run, "UpdateItem", body);
    add_state(run)->values[table][key] = value;
    note_time(run);
}

static void delete (struct run *run, int table, int key)
{
    char body[128];
    snprintf(body, sizeof body, "{'TableName':'%s','Key':{'p':{'S':'k%d'}}}", names[table], key);
    call(run, "DeleteItem", body);
    if (run->states[run->count - 1].values[table][key] == 0)
        return; /* Nothing changed. */
    add_state(run)->values[table][key] = 0;
    note_time(run);
}

/* Two puts and a delete, in both tables: one commit time. */
static void transact(struct run *run)
{
    char body[1024];
    int a = (int)draw(run, KEYS), b = (int)draw(run, KEYS),
        c = (a + 1 + (int)draw(run, KEYS - 1)) % KEYS;
    int value = ++run->last_value;
    snprintf(
        body, sizeof body,
        "{'TransactItems':[{'Put':{'TableName':'first','Item':{'p':{'S':'k%d'},'v':{'N':'%d'}}}},"
        "{'Put':{'TableName':'second','Item':{'p':{'S':'k%d'},'v':{'N':'%d'}}}},"
        "{'Delete':{'TableName':'first','Key':{'p':{'S':'k%d'}}}}]}",
        a, value, b, value, c);
    call(run, "TransactWriteItems", body);
    struct model_state *state = add_state(run);
    state->values[0][a] = value;
    state->values[1][b] = value;
    state->values[0][c] = 0;
    note_time(run);
}

/* An item that has expired is deleted by the service, when it comes to it. */
static void expire(struct run *run, int table, int key)
{
    char body[256];
    const struct timespec pause = { .tv_nsec = 1000000 };
    int value = ++run->last_value;
    int64_t second = (run->db.clock.fixed_ms + run->db.clock.wall_ahead_ms) / 1000 + 5;
    snprintf(body, sizeof body,
             "{'TableName':'%s','Item':{'p':{'S':'k%d'},'v':{'N':'%d'},'t':{'N':'%lld'}}}",
             names[table], key, value, (long long)second);
    call(run, "PutItem", body);
    add_state(run)->values[table][key] = value;
    note_time(run);
    int64_t newest_us = run->states[run->count - 1].from_us;
    run->db.clock.fixed_ms += 10 * 1000;
    while (atomic_load(&run->db.commits.newest_us) == newest_us)
        nanosleep(&pause, NULL);
    snprintf(body, sizeof body, "{'TableName':'%s','ConsistentRead':true,'Key':{'p':{'S':'k%d'}}}",
             names[table], key);
    do
        call(run, "GetItem", body);
    while (api_fixture_shows(&run->db, "Item"));
    add_state(run)->values[table][key] = 0;
    note_time(run);
}

static void step_clock(struct run *run)
{
    static const int64_t steps_ms[] = { 1, 40, 5000, 3600 * 1000, 26 * 3600 * 1000 };
    int64_t step_ms = steps_ms[draw(run, COUNT_OF(steps_ms))];
    if (draw(run, 4) == 0)
        run->db.clock.wall_ahead_ms -= step_ms;
    else
        run->db.clock.fixed_ms += step_ms;
}

static void change(struct run *run)
{
    int table = (int)draw(run, TABLES), key = (int)draw(run, KEYS);
    switch (draw(run, 12)) {
    case 0:
    case 1:
        delete (run, table, key);
        break;
    case 2:
    case 3:
        transact(run);
        break;
    case 4:
    case 5:
    case 6:
        update(run, table, key);
        break;
    case 7:
        step_clock(run);
        break;
    case 8:
        if (draw(run, 8) == 0)
            api_fixture_restart(&run->db, (int64_t)draw(run, 3) * 700);
        break;
    case 9:
        if (draw(run, 6) == 0)
            expire(run, table, key);
        break;
    default:
        put(run, table, key);
    }
}

/* --- Reading --- */

static const struct model_state *state_at(const struct run *run, int64_t at_us)
{
    size_t i = run->count - 1;
    while (run->states[i].from_us >= at_us && i > 0)
        i--;
    return &run->states[i];
}

static int value_of(const struct item *item)
{
    struct value value;
    struct number number;
    size_t size;
    int64_t out = 0;
    assert_true(item_find(item, BYTES("v"), &value) && value.type == VALUE_N);
    assert_true(number_decode(value.data, &number, &size) && !number.negative);
    for (out = (int64_t)number.coefficient; number.exponent > 0; number.exponent--)
        out *= 10;
    return (int)out;
}

static int key_of(const struct item *item)
{
    struct value value;
    assert_true(item_find(item, BYTES("p"), &value) && value.data.len == 2);
    return value.data.data[1] - '0';
}

struct position {
    uint8_t bytes[256];
    size_t size;
};

static void keep_position(struct position *position, struct bytes key)
{
    assert_true(key.len <= sizeof position->bytes);
    assert_true(bytes_compare(bytes_of(position->bytes, position->size), key) < 0);
    memcpy(position->bytes, key.data, key.len);
    position->size = key.len;
}

/* Reads in several readers, each of which begins where the one before was given up. */
static void read_state(struct run *run, const struct table_definition *table, int64_t at_us,
                       int values[KEYS])
{
    struct position position = { .size = 0 };
    enum engine_status status = ENGINE_OK;
    while (status == ENGINE_OK) {
        const struct history_range range = { .after = bytes_of(position.bytes, position.size) };
        struct history_reader *reader =
            history_reader_open_state(run->db.engine, table, at_us, &range);
        struct history_state state;
        for (uint64_t left = draw(run, 8) + 1; left > 0 && status == ENGINE_OK; left--) {
            status = history_reader_next_state(reader, &state);
            if (status == ENGINE_OK && state.exists)
                values[key_of(&state.item)] = value_of(&state.item);
            if (status == ENGINE_OK)
                keep_position(&position, state.key);
        }
        history_reader_close(reader);
    }
    assert_int_equal(status, ENGINE_END);
}

static void check_state(struct run *run, int64_t at_us)
{
    const struct model_state *want = state_at(run, at_us);
    if (at_us < run->begun_us || at_us > clock_commit_now_us(&run->db.clock))
        return;
    assert_int_equal(history_cut(run->db.engine, &run->db.clock, at_us), ENGINE_OK);
    for (int i = 0; i < TABLES; i++) {
        struct table *table = catalogue_find(api_catalogue(run->db.api), bytes_from_text(names[i]));
        int values[KEYS] = { 0 };
        read_state(run, table_definition(table), at_us, values);
        assert_memory_equal(values, want->values[i], sizeof values);
        table_release(table);
    }
}

/* The changes from one moment to another lead from the one state to the other. */
static void check_changes(struct run *run, int64_t from_us, int64_t to_us)
{
    const struct model_state *from = state_at(run, from_us), *to = state_at(run, to_us);
    if (from_us < run->begun_us || from_us > to_us || to_us > clock_commit_now_us(&run->db.clock))
        return;
    for (int i = 0; i < TABLES; i++) {
        struct table *table = catalogue_find(api_catalogue(run->db.api), bytes_from_text(names[i]));
        int values[KEYS];
        struct history_change change;
        enum engine_status status;
        memcpy(values, from->values[i], sizeof values);
        struct history_reader *reader = history_reader_open_changes(
            run->db.engine, table_definition(table), from_us, to_us, &(struct history_range){ 0 });
        while ((status = history_reader_next_change(reader, &change)) == ENGINE_OK) {
            if (!change.changed)
                continue;
            int key = key_of(change.has_new ? &change.new_image : &change.old_image);
            assert_int_equal(change.had_old ? value_of(&change.old_image) : 0, values[key]);
            assert_true(change.written_us >= from_us && change.written_us < to_us);
            values[key] = change.has_new ? value_of(&change.new_image) : 0;
        }
        assert_int_equal(status, ENGINE_END);
        history_reader_close(reader);
        assert_memory_equal(values, to->values[i], sizeof values);
        table_release(table);
    }
}

/* A commit time, the microsecond before or after it, or any moment. */
static int64_t draw_moment(struct run *run)
{
    const struct model_state *state = &run->states[draw(run, run->count)];
    int64_t now_us = clock_commit_now_us(&run->db.clock);
    switch (draw(run, 6)) {
    case 0:
        return state->from_us - 1;
    case 1:
        return state->from_us + 1;
    case 2:
        return run->begun_us;
    case 3:
        return now_us;
    case 4:
        return run->begun_us + (int64_t)draw(run, (uint64_t)(now_us - run->begun_us) + 1);
    default:
        return state->from_us;
    }
}

static void open_tables(struct run *run)
{
    char body[512];
    for (int i = 0; i < TABLES; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'%s','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
                 "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p',"
                 "'KeyType':'HASH'}]}",
                 names[i]);
        call(run, "CreateTable", body);
        snprintf(body, sizeof body,
                 "{'TableName':'%s','PointInTimeRecoverySpecification':"
                 "{'PointInTimeRecoveryEnabled':true}}",
                 names[i]);
        call(run, "UpdateContinuousBackups", body);
        snprintf(body, sizeof body,
                 "{'TableName':'%s','TimeToLiveSpecification':{'Enabled':true,"
                 "'AttributeName':'t'}}",
                 names[i]);
        call(run, "UpdateTimeToLive", body);
    }
    run->begun_us = clock_commit_now_us(&run->db.clock);
    run->states[0] = (struct model_state){ .from_us = 0 };
    run->count = 1;
}

static void every_moment_shows_exactly_the_changes_before_it(void **state)
{
    (void)state;
    static struct run run;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run = (struct run){ .random = seed };
        api_fixture_open_with(&run.db, &(struct api_options){ .expiry_interval_ms = 5 });
        open_tables(&run);
        for (int i = 0; i < STEPS; i++) {
            change(&run);
            if (draw(&run, 30) == 0)
                check_state(&run, draw_moment(&run));
        }
        for (int i = 0; i < READS; i++) {
            check_state(&run, draw_moment(&run));
            check_changes(&run, draw_moment(&run), draw_moment(&run));
        }
        api_fixture_close(&run.db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_moment_shows_exactly_the_changes_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
