/* test_restores.c -- random changes of two tables, restored to random moments, against a plain
 * model that keeps every state.
 *
 * Puts, updates, deletes, transactions over both tables, expiry, and a global index that is deleted
 * and created again, while the wall clock steps both ways and the server restarts, also in the
 * middle of restores. The tables are restored to moments around commit times, at the ends of the
 * window and anywhere between; every item, every index, the numbers of items and their sizes are
 * compared with the model, and `stator check` has nothing to say. In the end a table is deleted,
 * and restored from what is kept of it. MODEL_SEED is the first seed,
 * MODEL_SEEDS how many there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/commit_clock.h"
#include "base/compiler.h"
#include "check/check.h"
#include "run_length.h"

enum {
    TABLES = 2,
    PARTITIONS = 3, /* Values of p, */
    SORTS = 4,      /* and of s. */
    KEYS = PARTITIONS * SORTS,
    GROUPS = 3,
    STEPS = 120,
    SEEDS = 40,
    SEEDS_LONG = 1000, /* With STATOR_TEST_LONG. */
    RESTORES = 8,
    STATES_MAX = STEPS * 3,
};

static const char *const names[TABLES] = { "first", "second" };

/* Everything in an item follows from its value. 0: there is none. */
struct cell {
    int value;
    int64_t expires; /* 0: never. */
};

struct model_state {
    int64_t from_us; /* The commit time it came with. */
    struct cell cells[TABLES][KEYS];
};

struct run {
    struct api_fixture db;
    struct arena *arena; /* Of texts; reset now and then. */
    uint64_t random;
    int last_value;
    int restored_count;
    int64_t begun_us;
    bool has_global[TABLES];
    struct model_state states[STATES_MAX];
    size_t count;
};

static uint64_t draw(struct run *run, uint64_t below)
{
    run->random = run->random * 6364136223846793005u + 1442695040888963407u;
    return (run->random >> 33) % below;
}

static void call(struct run *run, const char *operation, struct bytes body)
{
    const char *text = (const char *)body.data; /* arena_printf ends it with a NUL. */
    if (!api_fixture_call(&run->db, operation, text))
        fail_msg("%s %s: %.*s", operation, text, BYTES_FMT(run->db.error.message));
}

#define CALL(run, operation, ...) call(run, operation, arena_printf((run)->arena, __VA_ARGS__))

/* --- Items --- */

static bool has_group(struct cell cell)
{
    return cell.value % 4 != 0;
}

static int padding_of(struct cell cell)
{
    return cell.value % 50 + 1;
}

/* The attributes in the order of their names. */
static struct bytes attributes_of(struct run *run, int key, struct cell cell)
{
    struct bytes group = has_group(cell)
                             ? arena_printf(run->arena, "'g':{'S':'g%d'},", cell.value % GROUPS)
                             : BYTES("");
    struct bytes expires =
        cell.expires == 0 ? BYTES("")
                          : arena_printf(run->arena, "'t':{'N':'%lld'},", (long long)cell.expires);
    return arena_printf(run->arena,
                        "%.*s'p':{'S':'p%d'},'s':{'N':'%d'},%.*s'v':{'N':'%d'},'x':{'S':'%0*d'}",
                        BYTES_FMT(group), key / SORTS, key % SORTS, BYTES_FMT(expires), cell.value,
                        padding_of(cell), 0);
}

static struct bytes key_of(struct run *run, int key)
{
    return arena_printf(run->arena, "{'p':{'S':'p%d'},'s':{'N':'%d'}}", key / SORTS, key % SORTS);
}

/* As the service counts: one byte for two digits, and one more. */
static int64_t number_size(int64_t number)
{
    int64_t digits = 0;
    if (number == 0)
        return 1;
    while (number % 10 == 0)
        number /= 10;
    for (; number > 0; number /= 10)
        digits++;
    return (digits + 1) / 2 + 1;
}

static int64_t key_size(int key)
{
    return 1 + 2 + 1 + number_size(key % SORTS);
}

static int64_t item_size(int key, struct cell cell)
{
    return key_size(key) + 1 + number_size(cell.value) + 1 + padding_of(cell) +
           (has_group(cell) ? 1 + 2 : 0) + (cell.expires == 0 ? 0 : 1 + number_size(cell.expires));
}

/* --- Changes --- */

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

static void put(struct run *run, int table, int key, int64_t expires)
{
    struct cell cell = { .value = ++run->last_value, .expires = expires };
    CALL(run, "PutItem", "{'TableName':'%s','Item':{%.*s}}", names[table],
         BYTES_FMT(attributes_of(run, key, cell)));
    add_state(run)->cells[table][key] = cell;
    note_time(run);
}

static void update(struct run *run, int table, int key)
{
    struct cell cell = { .value = ++run->last_value };
    CALL(run, "UpdateItem",
         "{'TableName':'%s','Key':%.*s,'UpdateExpression':'SET v = :v, x = :x%s',"
         "'ExpressionAttributeValues':{':v':{'N':'%d'},':x':{'S':'%0*d'}%.*s}}",
         names[table], BYTES_FMT(key_of(run, key)),
         has_group(cell) ? ", g = :g REMOVE t" : " REMOVE g, t", cell.value, padding_of(cell), 0,
         BYTES_FMT(has_group(cell)
                       ? arena_printf(run->arena, ",':g':{'S':'g%d'}", cell.value % GROUPS)
                       : BYTES("")));
    add_state(run)->cells[table][key] = cell;
    note_time(run);
}

static void delete (struct run *run, int table, int key)
{
    CALL(run, "DeleteItem", "{'TableName':'%s','Key':%.*s}", names[table],
         BYTES_FMT(key_of(run, key)));
    if (run->states[run->count - 1].cells[table][key].value == 0)
        return; /* Nothing changed. */
    add_state(run)->cells[table][key] = (struct cell){ 0 };
    note_time(run);
}

/* A put in each table and a deletion in one of them: one commit time. */
static void transact(struct run *run)
{
    int a = (int)draw(run, KEYS), b = (int)draw(run, KEYS);
    int c = (a + 1 + (int)draw(run, KEYS - 1)) % KEYS;
    struct cell cell = { .value = ++run->last_value };
    CALL(run, "TransactWriteItems",
         "{'TransactItems':[{'Put':{'TableName':'first','Item':{%.*s}}},"
         "{'Put':{'TableName':'second','Item':{%.*s}}},"
         "{'Delete':{'TableName':'first','Key':%.*s}}]}",
         BYTES_FMT(attributes_of(run, a, cell)), BYTES_FMT(attributes_of(run, b, cell)),
         BYTES_FMT(key_of(run, c)));
    struct model_state *state = add_state(run);
    state->cells[0][a] = state->cells[1][b] = cell;
    state->cells[0][c] = (struct cell){ 0 };
    note_time(run);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* An item that has expired is deleted by the service, when it comes to it. */
static void expire(struct run *run, int table, int key)
{
    int64_t second = (run->db.clock.fixed_ms + run->db.clock.wall_ahead_ms) / 1000 + 5;
    put(run, table, key, second);
    int64_t newest_us = run->states[run->count - 1].from_us;
    run->db.clock.fixed_ms += 10 * 1000;
    while (atomic_load(&run->db.commits.newest_us) == newest_us)
        pause_ms(1);
    do
        CALL(run, "GetItem", "{'TableName':'%s','ConsistentRead':true,'Key':%.*s}", names[table],
             BYTES_FMT(key_of(run, key)));
    while (api_fixture_shows(&run->db, "Item"));
    add_state(run)->cells[table][key] = (struct cell){ 0 };
    note_time(run);
}

#define GLOBAL                                                                                     \
    "'IndexName':'Glo','KeySchema':[{'AttributeName':'g','KeyType':'HASH'},"                       \
    "{'AttributeName':'v','KeyType':'RANGE'}],'Projection':{'ProjectionType':'ALL'}"
#define DEFINITIONS                                                                                \
    "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"                           \
    "{'AttributeName':'s','AttributeType':'N'},{'AttributeName':'v','AttributeType':'N'},"         \
    "{'AttributeName':'g','AttributeType':'S'}]"

/* Until it is there, or gone. */
static void change_index(struct run *run, int table)
{
    bool had = run->has_global[table];
    if (had)
        CALL(run, "UpdateTable",
             "{'TableName':'%s','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'Glo'}}]}",
             names[table]);
    else
        CALL(run, "UpdateTable",
             "{'TableName':'%s'," DEFINITIONS ",'GlobalSecondaryIndexUpdates':[{'Create':{" GLOBAL
             "}}]}",
             names[table]);
    bool settled = false;
    while (!settled) {
        pause_ms(1);
        CALL(run, "DescribeTable", "{'TableName':'%s'}", names[table]);
        settled = !api_fixture_shows(&run->db, "'CREATING'") &&
                  !api_fixture_shows(&run->db, "'DELETING'") &&
                  !api_fixture_shows(&run->db, "'UPDATING'");
    }
    run->has_global[table] = !had;
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
    uint64_t what = draw(run, 20);
    run->db.clock.fixed_ms += (int64_t)draw(run, 3);
    if (what < 3)
        delete (run, table, key);
    else if (what < 7)
        transact(run);
    else if (what < 11)
        update(run, table, key);
    else if (what < 13)
        step_clock(run);
    else if (what == 13 && draw(run, 4) == 0)
        api_fixture_restart(&run->db, (int64_t)draw(run, 3) * 700);
    else if (what == 14 && draw(run, 4) == 0)
        expire(run, table, key);
    else if (what == 15 && draw(run, 4) == 0)
        change_index(run, table);
    else
        put(run, table, key, 0);
}

/* --- What a restored table must show --- */

static void expect(struct run *run, const char *operation, struct bytes body, struct bytes want)
{
    api_fixture_expect(&run->db, operation, (const char *)body.data, (const char *)want.data);
}

static void check_items(struct run *run, const char *name, const struct cell *cells)
{
    int count = 0;
    for (int key = 0; key < KEYS; key++) {
        bool exists = cells[key].value != 0;
        count += exists;
        expect(run, "GetItem",
               arena_printf(run->arena, "{'TableName':'%s','Key':%.*s}", name,
                            BYTES_FMT(key_of(run, key))),
               exists ? arena_printf(run->arena, "{'Item':{%.*s}}",
                                     BYTES_FMT(attributes_of(run, key, cells[key])))
                      : BYTES("{}"));
    }
    expect(run, "Scan", arena_printf(run->arena, "{'TableName':'%s','Select':'COUNT'}", name),
           arena_printf(run->arena, "{'Count':%d,'ScannedCount':%d}", count, count));
}

/* Whether an item is in the partition `which` of an index. */
static bool is_in(bool global, int which, int key, struct cell cell)
{
    if (cell.value == 0)
        return false;
    return global ? has_group(cell) && cell.value % GROUPS == which : key / SORTS == which;
}

/* The values in the order of the index, which both indexes sort by. */
static void check_partition(struct run *run, const char *name, const struct cell *cells,
                            bool global, int which)
{
    struct buffer want;
    int last = 0, count = 0;
    buffer_init(&want, run->arena);
    buffer_append_bytes(&want, BYTES("{'Items':["));
    for (;;) {
        int next = 0;
        for (int key = 0; key < KEYS; key++)
            if (is_in(global, which, key, cells[key]) && cells[key].value > last &&
                (next == 0 || cells[key].value < next))
                next = cells[key].value;
        if (next == 0)
            break;
        buffer_append_bytes(
            &want, arena_printf(run->arena, "%s{'v':{'N':'%d'}}", count++ == 0 ? "" : ",", next));
        last = next;
    }
    buffer_append_bytes(
        &want, arena_printf(run->arena, "],'Count':%d,'ScannedCount':%d}%c", count, count, '\0'));
    expect(run, "Query",
           arena_printf(run->arena,
                        "{'TableName':'%s','IndexName':'%s','KeyConditionExpression':'%s = :k',"
                        "'ExpressionAttributeValues':{':k':{'S':'%s%d'}},'ProjectionExpression':"
                        "'v'}",
                        name, global ? "Glo" : "Loc", global ? "g" : "p", global ? "g" : "p",
                        which),
           buffer_bytes(&want));
}

static void expect_shown(struct run *run, struct bytes text)
{
    if (!api_fixture_shows(&run->db, (const char *)text.data))
        fail_msg("not shown: %s\nin: %.*s", (const char *)text.data, BYTES_FMT(run->db.response));
}

static void check_figures(struct run *run, const char *name, const struct cell *cells,
                          bool has_global)
{
    int64_t size = 0, local_size = 0, global_size = 0;
    int count = 0, global_count = 0;
    for (int key = 0; key < KEYS; key++) {
        if (cells[key].value == 0)
            continue;
        count++;
        size += item_size(key, cells[key]);
        local_size += key_size(key) + 1 + number_size(cells[key].value);
        if (has_group(cells[key])) {
            global_count++;
            global_size += item_size(key, cells[key]);
        }
    }
    CALL(run, "DescribeTable", "{'TableName':'%s'}", name);
    expect_shown(run, arena_printf(run->arena, "'TableSizeBytes':%lld,'ItemCount':%d",
                                   (long long)size, count));
    expect_shown(run, arena_printf(run->arena, "'IndexSizeBytes':%lld,'ItemCount':%d",
                                   (long long)local_size, count));
    if (has_global)
        expect_shown(run, arena_printf(run->arena, "'IndexSizeBytes':%lld,'ItemCount':%d",
                                       (long long)global_size, global_count));
    else
        assert_false(api_fixture_shows(&run->db, "GlobalSecondaryIndexes"));
}

static void check_table(struct run *run, const char *name, const struct cell *cells,
                        bool has_global)
{
    check_items(run, name, cells);
    for (int which = 0; which < PARTITIONS; which++)
        check_partition(run, name, cells, false, which);
    for (int which = 0; has_global && which < GROUPS; which++)
        check_partition(run, name, cells, true, which);
    check_figures(run, name, cells, has_global);
}

/* --- Restores --- */

static const struct model_state *state_at(const struct run *run, int64_t at_us)
{
    size_t i = run->count - 1;
    while (run->states[i].from_us >= at_us && i > 0)
        i--;
    return &run->states[i];
}

static void wait_until_active(struct run *run, const char *name)
{
    do {
        pause_ms(1);
        CALL(run, "DescribeTable", "{'TableName':'%s'}", name);
    } while (!api_fixture_shows(&run->db, "'TableStatus':'ACTIVE'"));
}

/* Around a commit time, at the ends of the window, or anywhere. In milliseconds, as requests tell.
 */
static int64_t draw_moment_ms(struct run *run)
{
    int64_t from_us = run->states[draw(run, run->count)].from_us;
    int64_t now_us = clock_commit_now_us(&run->db.clock);
    switch (draw(run, 5)) {
    case 0:
        return from_us / 1000;
    case 1:
        return from_us / 1000 + 1;
    case 2:
        return (run->begun_us + 999) / 1000;
    case 3:
        return (now_us + 999) / 1000;
    default:
        return (run->begun_us + (int64_t)draw(run, (uint64_t)(now_us - run->begun_us) + 1)) / 1000;
    }
}

/* Both tables to one moment: transactions are whole across them. */
static void restore(struct run *run)
{
    int64_t at_ms = draw_moment_ms(run), now_us = clock_commit_now_us(&run->db.clock);
    bool latest = draw(run, 6) == 0;
    char name[TABLES][32];
    if (!latest && (at_ms * 1000 < run->begun_us || at_ms * 1000 > now_us))
        return;
    const struct model_state *want =
        latest ? &run->states[run->count - 1] : state_at(run, at_ms * 1000);
    run->restored_count++;
    for (int i = 0; i < TABLES; i++) {
        snprintf(name[i], sizeof name[i], "restored-%d-%s", run->restored_count, names[i]);
        struct bytes when = latest ? BYTES("'UseLatestRestorableTime':true")
                                   : arena_printf(run->arena, "'RestoreDateTime':%lld.%03d",
                                                  (long long)(at_ms / 1000), (int)(at_ms % 1000));
        CALL(run, "RestoreTableToPointInTime",
             "{'SourceTableName':'%s','TargetTableName':'%s',%.*s}", names[i], name[i],
             BYTES_FMT(when));
    }
    if (draw(run, 3) == 0)
        api_fixture_restart(&run->db, 0);
    for (int i = 0; i < TABLES; i++) {
        wait_until_active(run, name[i]);
        check_table(run, name[i], want->cells[i], run->has_global[i]);
        if (draw(run, 2) == 0)
            CALL(run, "DeleteTable", "{'TableName':'%s'}", name[i]);
    }
    arena_reset(run->arena);
}

/* What is kept of a deleted table. */
static void restore_deleted(struct run *run)
{
    CALL(run, "DeleteTable", "{'TableName':'first'}");
    CALL(run, "ListBackups", "{'TableName':'first','BackupType':'SYSTEM'}");
    struct bytes answer = run->db.response;
    const char *mark = "\"BackupArn\":\"";
    const uint8_t *arn = memmem(answer.data, answer.len, mark, strlen(mark));
    assert_non_null(arn);
    arn += strlen(mark);
    const uint8_t *end = memchr(arn, '"', (size_t)(answer.data + answer.len - arn));
    CALL(run, "RestoreTableFromBackup", "{'TargetTableName':'again','BackupArn':'%.*s'}",
         (int)(end - arn), (const char *)arn);
    wait_until_active(run, "again");
    check_table(run, "again", run->states[run->count - 1].cells[0], run->has_global[0]);
}

static void report(void *context, const char *line)
{
    (void)context;
    fail_msg("%s", line);
}

static void open_tables(struct run *run)
{
    for (int i = 0; i < TABLES; i++) {
        CALL(run, "CreateTable",
             "{'TableName':'%s','BillingMode':'PAY_PER_REQUEST'," DEFINITIONS
             ",'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','KeyType':"
             "'RANGE'}],'LocalSecondaryIndexes':[{'IndexName':'Loc','KeySchema':[{'AttributeName':"
             "'p','KeyType':'HASH'},{'AttributeName':'v','KeyType':'RANGE'}],'Projection':"
             "{'ProjectionType':'KEYS_ONLY'}}],'GlobalSecondaryIndexes':[{" GLOBAL "}]}",
             names[i]);
        CALL(run, "UpdateContinuousBackups",
             "{'TableName':'%s','PointInTimeRecoverySpecification':"
             "{'PointInTimeRecoveryEnabled':true}}",
             names[i]);
        CALL(run, "UpdateTimeToLive",
             "{'TableName':'%s','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}",
             names[i]);
        run->has_global[i] = true;
    }
    run->begun_us = clock_commit_now_us(&run->db.clock);
    run->states[0] = (struct model_state){ .from_us = 0 };
    run->count = 1;
}

static void run_seed(struct run *run, uint64_t seed)
{
    *run = (struct run){ .random = seed, .arena = arena_create() };
    api_fixture_open_with(&run->db, &(struct api_options){ .expiry_interval_ms = 5 });
    open_tables(run);
    for (int i = 0; i < STEPS; i++) {
        change(run);
        if (draw(run, 20) == 0)
            restore(run);
    }
    for (int i = 0; i < RESTORES; i++)
        restore(run);
    restore_deleted(run);
    assert_int_equal(check_store(run->db.engine, report, NULL).problem_count, 0);
    api_fixture_close(&run->db);
    arena_destroy(run->arena);
}

static void every_restored_table_is_exactly_what_it_was(void **state)
{
    (void)state;
    static struct run run;
    int count = 0;
    uint64_t first = run_length_setting("MODEL_SEED", 1);
    uint64_t seeds = run_length("MODEL_SEEDS", SEEDS, SEEDS_LONG);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        print_message("MODEL_SEED=%llu\n", (unsigned long long)seed);
        run_seed(&run, seed);
        count += run.restored_count;
    }
    print_message("%d pairs of tables restored\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_restored_table_is_exactly_what_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
