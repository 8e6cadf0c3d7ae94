/* test_write_groups.c -- writes that are carried out together, and wait for one another and for
 * others, leave the same answers and the same bytes as writes carried out one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <assert.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "engine/commit/commit_engine.h"
#include "engine/engine.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "failing_engine.h"
#include "item_fixture.h"
#include "partition_memory.h"
#include "reference_engine.h"
#include "transaction_fixture.h"
#include "txn/txn_group.h"

enum {
    CALLS_MAX = 3 * TXN_GROUP_MAX,
    BODY_MAX = 8192,
    ROUNDS = 150,
    KEYS = 12, /* Few, so that writes of one group often meet. */
};

struct side {
    struct api_fixture db;
    struct txn_group *group;
};

static struct side alone, together;

#define LOGGED                                                                                     \
    "{'TableName':'indexed','StreamSpecification':{'StreamEnabled':true,'StreamViewType':"         \
    "'NEW_AND_OLD_IMAGES'}}"
#define EXPIRING                                                                                   \
    "{'TableName':'plain','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'n'}}"

static void open_side(struct side *side)
{
    api_fixture_open_on(&side->db, failing_engine_create(reference_engine_create()), 0);
    transaction_fixture_create_tables(&side->db);
    transaction_fixture_must(&side->db, "UpdateTable", LOGGED);
    side->group = api_group_create(NULL, NULL);
}

static void close_side(struct side *side)
{
    api_group_destroy(side->group);
    api_fixture_close(&side->db);
}

static int set_up(void **state)
{
    (void)state;
    open_side(&alone);
    open_side(&together);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_side(&alone);
    close_side(&together);
    return 0;
}

/* --- Calls --- */

struct counted_call {
    struct api_call call;
    unsigned end_count;
};

/* The last calls that ended, in their order. */
static struct counted_call *ended[CALLS_MAX];
static size_t ended_count;

static void call_done(struct api_call *call)
{
    struct counted_call *counted = (struct counted_call *)call;
    counted->end_count++;
    ended[ended_count++ % CALLS_MAX] = counted;
}

struct request {
    const char *operation;
    char body[BODY_MAX];
};

static void start(struct side *side, struct arena *arena, const struct request *request,
                  struct txn_group *group, struct counted_call *out)
{
    *out = (struct counted_call){ .call = { .arena = arena,
                                            .operation = operation_find_action(
                                                bytes_from_text(request->operation)),
                                            .body = item_fixture_text(arena, request->body),
                                            .group = group,
                                            .done = call_done } };
    api_run(side->db.api, &out->call);
}

static void expect_same(const struct request *request, const struct api_call *a,
                        const struct api_call *b)
{
    if (!bytes_equal(buffer_bytes(&a->response), buffer_bytes(&b->response)) ||
        !bytes_equal(a->error.message, b->error.message) ||
        !bytes_equal(a->error.item_json, b->error.item_json) ||
        !bytes_equal(a->error.reasons_json, b->error.reasons_json))
        fail_msg("%s %s\n   alone: %.*s%.*s\ntogether: %.*s%.*s", request->operation, request->body,
                 BYTES_FMT(buffer_bytes(&a->response)), BYTES_FMT(a->error.message),
                 BYTES_FMT(buffer_bytes(&b->response)), BYTES_FMT(b->error.message));
}

/* A value of a change log without its commit time, which the writes of a group share and
 * single writes do not. */
static struct bytes without_commit_time(struct engine_view *view, const struct engine_place *place,
                                        const struct engine_entry *entry)
{
    struct change_record record;
    if (change_record_decode(entry->value, &record)) {
        record.commit_us = 0;
        return change_record_encode(alone.db.arena, &record);
    }
    if (!bytes_equal(entry->key, change_log_head_address(0, 0).key))
        return entry->value; /* A stream or a shard. */
    struct engine_address address = { .place = *place, .key = entry->key };
    struct change_log_head head;
    assert_int_equal(change_log_view_head(view, &address, &head), ENGINE_OK);
    head.commit_us = 0;
    return arena_copy(alone.db.arena, bytes_of(&head, sizeof head));
}

static bool is_same_value(struct engine_view *a, struct engine_view *b,
                          const struct engine_place *place, const struct engine_entry *of_a,
                          const struct engine_entry *of_b)
{
    if (place->space != ENGINE_SPACE_CHANGES)
        return bytes_equal(of_a->value, of_b->value);
    return bytes_equal(without_commit_time(a, place, of_a), without_commit_time(b, place, of_b));
}

/* Everything stored but the catalogue, whose tables have names of chance. */
static void expect_same_stores(void)
{
    struct engine_view *a, *b;
    struct engine_place place, other;
    assert_int_equal(engine_view_open(alone.db.engine, ENGINE_STRONG, &a), ENGINE_OK);
    assert_int_equal(engine_view_open(together.db.engine, ENGINE_STRONG, &b), ENGINE_OK);
    enum engine_status status = engine_view_next_place(a, NULL, &place);
    assert_int_equal(engine_view_next_place(b, NULL, &other), status);
    while (status == ENGINE_OK) {
        assert_true(engine_place_equal(&place, &other));
        struct engine_range range = { .place = place };
        struct engine_scan *scan_a, *scan_b;
        struct engine_entry of_a, of_b;
        assert_int_equal(engine_scan_open(a, &range, &scan_a), ENGINE_OK);
        assert_int_equal(engine_scan_open(b, &range, &scan_b), ENGINE_OK);
        while (place.space != ENGINE_SPACE_CATALOGUE &&
               (status = engine_scan_next(scan_a, &of_a)) == ENGINE_OK) {
            assert_int_equal(engine_scan_next(scan_b, &of_b), ENGINE_OK);
            assert_true(bytes_equal(of_a.key, of_b.key));
            assert_true(is_same_value(a, b, &place, &of_a, &of_b));
        }
        if (place.space != ENGINE_SPACE_CATALOGUE)
            assert_int_equal(engine_scan_next(scan_b, &of_b), ENGINE_END);
        engine_scan_close(scan_a);
        engine_scan_close(scan_b);
        status = engine_view_next_place(a, &place, &place);
        assert_int_equal(engine_view_next_place(b, &other, &other), status);
    }
    engine_view_close(a);
    engine_view_close(b);
}

/* --- Requests of chance --- */

static unsigned below(struct random *random, unsigned bound)
{
    return (unsigned)(random_next(random) % bound);
}

static void make_item_write(struct random *random, struct request *out)
{
    unsigned key = below(random, KEYS), value = below(random, 1000);
    switch (below(random, 6)) {
    case 0:
        out->operation = "PutItem";
        snprintf(out->body, BODY_MAX,
                 "{'TableName':'plain','Item':{'pk':{'S':'%u'},'n':{'N':'%u'}},'ReturnValues':"
                 "'ALL_OLD','ReturnConsumedCapacity':'INDEXES'}",
                 key, value);
        break;
    case 1:
        out->operation = "PutItem";
        snprintf(out->body, BODY_MAX,
                 "{'TableName':'indexed','Item':{'h':{'S':'%u'},'r':{'N':'%u'},'l':{'S':'%u'},'g':"
                 "{'S':'%u'}},'ReturnItemCollectionMetrics':'SIZE','ReturnConsumedCapacity':"
                 "'INDEXES'}",
                 key % 3, key, value, value % 5);
        break;
    case 2:
        out->operation = "UpdateItem";
        snprintf(out->body, BODY_MAX,
                 "{'TableName':'plain','Key':{'pk':{'S':'%u'}},'UpdateExpression':'ADD n :v',"
                 "'ExpressionAttributeValues':{':v':{'N':'%u'}},'ReturnValues':'ALL_NEW'}",
                 key, value);
        break;
    case 3:
        out->operation = "UpdateItem";
        snprintf(out->body, BODY_MAX,
                 "{'TableName':'indexed','Key':{'h':{'S':'%u'},'r':{'N':'%u'}},'UpdateExpression':"
                 "'SET g = :g REMOVE l','ConditionExpression':'attribute_exists(l)',"
                 "'ExpressionAttributeValues':{':g':{'S':'%u'}},"
                 "'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}",
                 key % 3, key, value % 5);
        break;
    default:
        out->operation = "DeleteItem";
        snprintf(out->body, BODY_MAX,
                 "{'TableName':'%s','Key':{'pk':{'S':'%u'}},'ReturnValues':'ALL_OLD'}",
                 value % 2 ? "plain" : "other", key);
        break;
    }
}

static void make_request(struct random *random, struct request *out)
{
    unsigned first = below(random, KEYS), second = (first + 1) % KEYS;
    switch (below(random, 8)) {
    case 0:
        out->operation = "BatchWriteItem";
        snprintf(
            out->body, BODY_MAX,
            "{'RequestItems':{'other':[{'PutRequest':{'Item':{'pk':{'S':'%u'},'n':{'N':'%u'}}}"
            "},{'DeleteRequest':{'Key':{'pk':{'S':'%u'}}}}]},'ReturnConsumedCapacity':'TOTAL'}",
            first, below(random, 1000), second);
        break;
    case 1:
        out->operation = "TransactWriteItems";
        snprintf(out->body, BODY_MAX,
                 "{'TransactItems':[{'Put':{'TableName':'plain','Item':{'pk':{'S':'%u'}}}},"
                 "{'ConditionCheck':{'TableName':'other','Key':{'pk':{'S':'%u'}},"
                 "'ConditionExpression':'attribute_not_exists(n)'}}],'ClientRequestToken':'%u'}",
                 first, second, below(random, 40));
        break;
    case 2:
        out->operation = "ExecuteStatement";
        snprintf(out->body, BODY_MAX,
                 "{'Statement':'UPDATE other SET n=%u WHERE pk=?','Parameters':[{'S':'%u'}]}",
                 below(random, 1000), first);
        break;
    default:
        make_item_write(random, out);
        break;
    }
}

static struct request requests[CALLS_MAX];
static struct counted_call calls[2][CALLS_MAX];

/* Sends the requests to both sides and compares what comes back. */
static void run_both(size_t count)
{
    struct arena *arena = arena_create();
    for (size_t i = 0; i < count; i++) {
        start(&alone, arena, &requests[i], NULL, &calls[0][i]);
        start(&together, arena, &requests[i], together.group, &calls[1][i]);
    }
    api_group_run(together.group);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(calls[0][i].end_count, 1);
        assert_int_equal(calls[1][i].end_count, 1);
        expect_same(&requests[i], &calls[0][i].call, &calls[1][i].call);
    }
    arena_destroy(arena);
}

static void a_group_answers_and_stores_what_single_writes_do(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 4711);
    transaction_fixture_must(&alone.db, "UpdateTimeToLive", EXPIRING);
    transaction_fixture_must(&together.db, "UpdateTimeToLive", EXPIRING);
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = 1 + below(&random, CALLS_MAX);
        for (size_t i = 0; i < count; i++)
            make_request(&random, &requests[i]);
        run_both(count);
    }
    expect_same_stores();
}

/* Whatever call of the engine fails while a group is carried out, everybody is tried again. */
static void a_failure_of_a_group_fails_no_write_of_it(void **state)
{
    (void)state;
    struct random random;
    static const enum engine_status failures[] = { ENGINE_CORRUPT, ENGINE_FULL, ENGINE_CONFLICT };
    random_init(&random, 815);
    for (size_t f = 0; f < COUNT_OF(failures); f++) {
        for (uint64_t call = 1; call < 40; call++) {
            /* All different: they make one batch. */
            for (unsigned i = 0; i < 5; i++) {
                requests[i].operation = "PutItem";
                snprintf(requests[i].body, BODY_MAX,
                         "{'TableName':'indexed','Item':{'h':{'S':'%u'},'r':{'N':'1'},'g':{'S':"
                         "'%u'},'l':{'S':'%u'}}}",
                         i, below(&random, 1000), below(&random, 1000));
            }
            failing_engine_set(together.db.engine, &(struct failing_engine_plan){
                                                       .call = call, .status = failures[f] });
            run_both(5);
            bool struck = failing_engine_struck(together.db.engine);
            failing_engine_set(together.db.engine, &(struct failing_engine_plan){ 0 });
            if (!struck)
                break;
        }
    }
    expect_same_stores();
}

/* --- Obstacles of chance --- */

enum { OBSTRUCTED_ROUNDS = 400, OBSTRUCTED_CALLS_MAX = 60 };
static_assert((int)OBSTRUCTED_CALLS_MAX <= (int)CALLS_MAX, "the order of all calls is known");

static struct obstructed {
    struct txn_group *group;
    _Atomic bool woken; /* The control thread may wake it up, too. */
    /* What happened in all rounds. */
    unsigned resumed, refused, carried_out;
} obstructed;

static void wake_obstructed(void *context)
{
    (void)context;
    assert_false(obstructed.woken);
    obstructed.woken = true;
}

/* Did others, or a failure of the engine, keep the call from being carried out? */
static bool is_refused(const struct api_call *call)
{
    struct bytes response = buffer_bytes(&call->response);
    switch (call->error.code) {
    case ERROR_INTERNAL:
        assert_true(bytes_equal(call->error.message, BYTES("Internal server error")) ||
                    bytes_starts_with(call->error.message, BYTES("The disk is full")));
        return true;
    case ERROR_THROTTLING:
        assert_true(bytes_starts_with(call->error.message, BYTES("Other writes kept the item")));
        return true;
    case ERROR_TRANSACTION_CANCELED: /* Conditions of these requests fail for one item at most. */
        return bytes_equal(call->error.message,
                           BYTES(CANCELLED "[TransactionConflict, TransactionConflict]"));
    default:
        return !error_is_set(&call->error) &&
               bytes_starts_with(response, BYTES("{\"UnprocessedItems\":{\"other\""));
    }
}

/* Lets calls start, go on and fail in an order of chance until all have ended. */
static void run_obstructed(struct random *random, struct arena *arena, size_t count)
{
    struct engine *engine = together.db.engine;
    size_t started = 0;
    ended_count = 0;
    while (ended_count < count) {
        switch (below(random, 6)) {
        case 0:
        case 1:
        case 2:
            if (started == count)
                break;
            start(&together, arena, &requests[started], obstructed.group, &calls[1][started]);
            started++;
            break;
        case 3:
            api_group_run(obstructed.group);
            break;
        case 4:
            obstructed.resumed += failing_engine_resume(engine);
            break;
        default:
            if (!obstructed.woken)
                break;
            obstructed.woken = false;
            api_group_resume(obstructed.group);
            break;
        }
    }
    assert_false(failing_engine_resume(engine));
    if (obstructed.woken) {
        obstructed.woken = false;
        api_group_resume(obstructed.group);
    }
}

/* Has the other side carry out the same calls one at a time, in the order in which they ended: the
 * reference engine ends a write as it applies it. */
static void repeat_alone(struct arena *arena, size_t count)
{
    size_t order[OBSTRUCTED_CALLS_MAX];
    for (size_t i = 0; i < count; i++)
        order[i] = (size_t)(ended[i] - calls[1]);
    for (size_t i = 0; i < count; i++) {
        size_t at = order[i];
        assert_int_equal(calls[1][at].end_count, 1);
        if (is_refused(&calls[1][at].call)) {
            obstructed.refused++;
            continue;
        }
        obstructed.carried_out++;
        start(&alone, arena, &requests[at], NULL, &calls[0][at]);
        assert_int_equal(calls[0][at].end_count, 1);
        expect_same(&requests[at], &calls[0][at].call, &calls[1][at].call);
    }
}

/* Single writes, groups of them, batches and transactions. Their latches are held by others now and
 * then, for a while or for too long, before the decision and after it; reads and commits fail. */
static void obstacles_change_neither_answers_nor_what_is_stored(void **state)
{
    (void)state;
    struct random random;
    static const enum engine_status failures[] = { ENGINE_CORRUPT, ENGINE_FULL, ENGINE_IO };
    random_init(&random, 20261116);
    transaction_fixture_must(&alone.db, "UpdateTimeToLive", EXPIRING);
    transaction_fixture_must(&together.db, "UpdateTimeToLive", EXPIRING);
    obstructed = (struct obstructed){ .group = api_group_create(wake_obstructed, NULL) };
    for (int round = 0; round < OBSTRUCTED_ROUNDS; round++) {
        struct arena *arena = arena_create();
        size_t count = 1 + below(&random, OBSTRUCTED_CALLS_MAX);
        for (size_t i = 0; i < count; i++)
            make_request(&random, &requests[i]);
        failing_engine_obstruct(together.db.engine,
                                &(struct failing_engine_obstacles){ .waits = below(&random, 60),
                                                                    .busy = below(&random, 10),
                                                                    .held = below(&random, 80),
                                                                    .seed = random_next(&random) });
        if (below(&random, 2) == 0)
            failing_engine_set(together.db.engine,
                               &(struct failing_engine_plan){
                                   .call = 1 + below(&random, 200),
                                   .status = failures[below(&random, COUNT_OF(failures))],
                                   .commits_only = below(&random, 2) == 0 });
        run_obstructed(&random, arena, count);
        failing_engine_set(together.db.engine, &(struct failing_engine_plan){ 0 });
        failing_engine_obstruct(together.db.engine, &(struct failing_engine_obstacles){ 0 });
        repeat_alone(arena, count);
        arena_destroy(arena);
    }
    api_group_destroy(obstructed.group);
    expect_same_stores();
    /* About ten and one for each round. How many exactly depends on which of the calls that the
     * engine lets fail are the control thread's. */
    assert_true(obstructed.resumed > OBSTRUCTED_ROUNDS);
    assert_true(obstructed.refused > OBSTRUCTED_ROUNDS / 4);
    assert_true(obstructed.carried_out > 10 * OBSTRUCTED_ROUNDS);
}

/* --- How many go together --- */

static void put_different_items(struct arena *arena, size_t count)
{
    for (unsigned i = 0; i < count; i++) {
        requests[i].operation = "PutItem";
        snprintf(requests[i].body, BODY_MAX, "{'TableName':'plain','Item':{'pk':{'S':'%u'}}}", i);
        start(&together, arena, &requests[i], together.group, &calls[1][i]);
    }
}

static uint64_t commits(void)
{
    return failing_engine_calls(together.db.engine);
}

static void count_commits(void)
{
    failing_engine_set(together.db.engine, &(struct failing_engine_plan){ .commits_only = true });
}

static void writes_of_different_items_are_one_commit(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    count_commits();
    put_different_items(arena, TXN_GROUP_MAX - 1);
    assert_int_equal(commits(), 0);
    assert_int_equal(calls[1][0].end_count, 0);
    api_group_run(together.group);
    assert_int_equal(commits(), 1);
    for (size_t i = 0; i < TXN_GROUP_MAX - 1; i++)
        assert_int_equal(calls[1][i].end_count, 1);
    arena_destroy(arena);
}

static void a_full_group_does_not_wait(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    count_commits();
    put_different_items(arena, TXN_GROUP_MAX);
    assert_int_equal(commits(), 1);
    assert_int_equal(calls[1][TXN_GROUP_MAX - 1].end_count, 1);
    api_group_run(together.group);
    assert_int_equal(commits(), 1);
    arena_destroy(arena);
}

static size_t count_item_partitions(struct engine *engine)
{
    struct engine_view *view;
    struct engine_place place;
    size_t count = 0;
    assert_int_equal(engine_view_open(engine, ENGINE_STRONG, &view), ENGINE_OK);
    enum engine_status status = engine_view_next_place(view, NULL, &place);
    for (; status == ENGINE_OK; status = engine_view_next_place(view, &place, &place))
        count += place.space == ENGINE_SPACE_ITEMS;
    engine_view_close(view);
    return count;
}

/* On such an engine a write of two partitions is four operations. */
static void a_group_is_a_commit_for_each_partition_where_writes_do_not_span_freely(void **state)
{
    (void)state;
    char message[ENGINE_MESSAGE_MAX];
    struct arena *arena = arena_create();
    struct partition_store *store = partition_memory_create(true);
    close_side(&together);
    api_fixture_open_on(&together.db, commit_engine_create(store, &commit_time_system, 1, message),
                        0);
    together.group = api_group_create(NULL, NULL);
    transaction_fixture_create_tables(&together.db);
    /* The first write also raises the ceiling of commit times. */
    transaction_fixture_must(&together.db, "PutItem",
                             "{'TableName':'plain','Item':{'pk':{'S':'0'}}}");
    size_t before = partition_memory_counts(store).writes;
    put_different_items(arena, TXN_GROUP_MAX - 1);
    api_group_run(together.group);
    for (size_t i = 0; i < TXN_GROUP_MAX - 1; i++) {
        assert_int_equal(calls[1][i].end_count, 1);
        assert_false(error_is_set(&calls[1][i].call.error));
    }
    size_t partitions = count_item_partitions(together.db.engine);
    assert_true(partitions > 1);
    assert_int_equal(partition_memory_counts(store).writes - before, partitions);
    arena_destroy(arena);
}

static void make_batch(unsigned number, struct request *out)
{
    int size = snprintf(out->body, BODY_MAX, "{'RequestItems':{'plain':[");
    for (unsigned i = 0; i < 25; i++)
        size += snprintf(out->body + size, (size_t)(BODY_MAX - size),
                         "%s{'PutRequest':{'Item':{'pk':{'S':'%u-%u'}}}}", i == 0 ? "" : ",",
                         number, i);
    snprintf(out->body + size, (size_t)(BODY_MAX - size), "]}}");
    out->operation = "BatchWriteItem";
}

static void a_commit_has_no_more_items_than_the_largest_transaction(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    static const struct {
        unsigned batches, commits;
    } cases[] = { { 4, 1 }, { 5, 2 }, { 8, 2 }, { 9, 3 } };
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        count_commits();
        for (unsigned i = 0; i < cases[c].batches; i++) {
            make_batch(i, &requests[i]);
            start(&together, arena, &requests[i], together.group, &calls[1][i]);
        }
        api_group_run(together.group);
        assert_int_equal(commits(), cases[c].commits);
    }
    arena_destroy(arena);
}

static void writes_of_one_item_are_one_commit_each(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    count_commits();
    for (unsigned i = 0; i < 3; i++) {
        requests[i] = (struct request){
            .operation = "UpdateItem",
            .body = "{'TableName':'plain','Key':{'pk':{'S':'k'}},'UpdateExpression':'ADD n :v',"
                    "'ExpressionAttributeValues':{':v':{'N':'1'}},'ReturnValues':'UPDATED_NEW'}"
        };
        start(&together, arena, &requests[i], together.group, &calls[1][i]);
    }
    api_group_run(together.group);
    assert_int_equal(commits(), 3);
    assert_true(bytes_equal(buffer_bytes(&calls[1][2].call.response),
                            item_fixture_text(arena, "{'Attributes':{'n':{'N':'3'}}}")));
    arena_destroy(arena);
}

/* A call that ends may lead to another one, as the next request of a connection does. */
static struct counted_call next_call;
static struct arena *next_arena;

static void done_and_next(struct api_call *call)
{
    call_done(call);
    if (next_call.call.api == NULL)
        start(&together, next_arena, &requests[0], together.group, &next_call);
}

static void a_write_that_follows_from_an_answer_is_carried_out_too(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    next_arena = arena;
    next_call = (struct counted_call){ 0 };
    put_different_items(arena, 2);
    calls[1][0].call.done = done_and_next;
    api_group_run(together.group);
    assert_int_equal(next_call.end_count, 1);
    arena_destroy(arena);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_group_answers_and_stores_what_single_writes_do),
        TEST(a_failure_of_a_group_fails_no_write_of_it),
        TEST(obstacles_change_neither_answers_nor_what_is_stored),
        TEST(writes_of_different_items_are_one_commit),
        TEST(a_full_group_does_not_wait),
        TEST(a_group_is_a_commit_for_each_partition_where_writes_do_not_span_freely),
        TEST(a_commit_has_no_more_items_than_the_largest_transaction),
        TEST(writes_of_one_item_are_one_commit_each),
        TEST(a_write_that_follows_from_an_answer_is_carried_out_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
