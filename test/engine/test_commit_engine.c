/* test_commit_engine.c -- the engine over a partitioned store: how many operations it needs, what
 * its views promise, its limits, and two servers at once. The rest of the contract is tested with
 * the other engines' (test_engine.c and others). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "accounts.h"
#include "api_fixture.h"
#include "base/compiler.h"
#include "base/random.h"
#include "engine/commit/commit_engine.h"
#include "engine_fixture.h"
#include "partition_memory.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };
static const struct engine_place other_items = { 7, 2, ENGINE_SPACE_ITEMS };

static struct engine *open_on(struct partition_store *store, uint64_t server)
{
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = commit_engine_create(store, &commit_time_system, server, message);
    assert_non_null(engine);
    return engine;
}

/* --- Operations --- */

struct counted {
    struct partition_store *store;
    struct partition_memory_counts before;
};

static void expect_counts(struct counted *counted, size_t reads, size_t writes)
{
    struct partition_memory_counts now = partition_memory_counts(counted->store);
    assert_int_equal(now.reads - counted->before.reads, reads);
    assert_int_equal(now.writes - counted->before.writes, writes);
    counted->before = now;
}

/* A write that reads its addresses and then changes them. */
static enum engine_status change(struct engine *engine, const struct engine_address *addresses,
                                 size_t count, struct bytes value)
{
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, addresses, count, &write), ENGINE_OK);
    for (size_t i = 0; i < count; i++) {
        struct engine_value found;
        enum engine_status status = engine_write_get(write, &addresses[i], &found);
        assert_true(status == ENGINE_OK || status == ENGINE_NOT_FOUND);
        engine_value_release(&found);
        engine_write_put(write, &addresses[i], value);
    }
    return engine_write_commit_wait(write);
}

static void a_write_of_one_partition_is_one_operation(void **state)
{
    (void)state;
    struct counted counted = { .store = partition_memory_create(true) };
    struct engine *engine = open_on(counted.store, 1);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("1"));
    expect_counts(&counted, 1, 1); /* It did not know the partition's epoch. */
    engine_fixture_put(engine, items, BYTES("a"), BYTES("2"));
    expect_counts(&counted, 0, 1);
    struct engine_address both[] = { { items, BYTES("a") }, { items, BYTES("b") } };
    assert_int_equal(change(engine, both, 2, BYTES("3")), ENGINE_OK);
    expect_counts(&counted, 1, 1); /* Both are read at once. */
    engine_close(engine);
}

/* Whoever owns it: a table, its log, a local index, its history. */
static void what_changes_with_an_item_is_in_its_partition(void **state)
{
    (void)state;
    struct counted counted = { .store = partition_memory_create(true) };
    struct engine *engine = open_on(counted.store, 1);
    struct engine_address addresses[] = {
        { items, BYTES("a") },
        { { 7, 1, ENGINE_SPACE_STATS }, BYTES("a") },
        { { 8, 1, ENGINE_SPACE_INDEX }, BYTES("a") },
        { { 300, 1, ENGINE_SPACE_CHANGES }, BYTES("a") },
        { { ENGINE_OWNER_MAX - 1, 1, ENGINE_SPACE_HISTORY }, BYTES("a") },
    };
    assert_int_equal(change(engine, addresses, COUNT_OF(addresses), BYTES("1")), ENGINE_OK);
    expect_counts(&counted, 1, 1);
    for (size_t i = 0; i < COUNT_OF(addresses); i++) {
        assert_true(engine_fixture_has(engine, addresses[i].place, BYTES("a"), BYTES("1")));
        engine_fixture_delete(engine, addresses[i].place, BYTES("a"));
        for (size_t j = 0; j < COUNT_OF(addresses); j++)
            assert_int_equal(engine_fixture_lacks(engine, addresses[j].place, BYTES("a")), j <= i);
    }
    engine_close(engine);
}

/* The numbers of the catalogue's partitions are those of the first tables, too. */
static void the_catalogue_shares_no_partition_with_tables(void **state)
{
    (void)state;
    struct counted counted = { .store = partition_memory_create(true) };
    struct engine *engine = open_on(counted.store, 1);
    struct engine_address both[] = { { items, BYTES("a") },
                                     { { 0, 1, ENGINE_SPACE_TOKENS }, BYTES("a") } };
    assert_int_equal(change(engine, both, 2, BYTES("1")), ENGINE_OK);
    expect_counts(&counted, 2, 4);
    engine_close(engine);
}

/* Through all layers. */
static void a_put_with_a_stream_and_a_local_index_is_one_operation(void **state)
{
    (void)state;
    struct api_fixture db;
    struct counted counted = { .store = partition_memory_create(true) };
    api_fixture_open_on(&db, open_on(counted.store, 1), 0);
    assert_true(api_fixture_call(
        &db, "CreateTable",
        "{'TableName':'orders','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'s','AttributeType':'S'},"
        "{'AttributeName':'l','AttributeType':'S'}],'KeySchema':["
        "{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','KeyType':'RANGE'}],"
        "'LocalSecondaryIndexes':[{'IndexName':'by-l','KeySchema':["
        "{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'l','KeyType':'RANGE'}],"
        "'Projection':{'ProjectionType':'ALL'}}],"
        "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_AND_OLD_IMAGES'}}"));
    static const char put[] = "{'TableName':'orders','Item':"
                              "{'p':{'S':'a'},'s':{'S':'b'},'l':{'S':'c'},'v':{'N':'%d'}}}";
    char body[256];
    for (int i = 0; i < 3; i++) {
        struct partition_memory_counts before = partition_memory_counts(counted.store);
        snprintf(body, sizeof body, put, i);
        assert_true(api_fixture_call(&db, "PutItem", body));
        struct partition_memory_counts after = partition_memory_counts(counted.store);
        if (i == 0)
            continue; /* It also raised the ceiling of commit times, which is the catalogue's. */
        assert_int_equal(after.writes - before.writes, 1);
        assert_int_equal(after.reads - before.reads, 2); /* The item; the shared addresses. */
    }
    api_fixture_close(&db);
}

static void a_strong_read_is_one_operation(void **state)
{
    (void)state;
    struct counted counted = { .store = partition_memory_create(true) };
    struct engine *engine = open_on(counted.store, 1);
    for (char key = 'a'; key <= 'z'; key++)
        engine_fixture_put(engine, items, bytes_of(&key, 1), BYTES("1"));
    expect_counts(&counted, 1, 26);
    assert_true(engine_fixture_has(engine, items, BYTES("c"), BYTES("1")));
    expect_counts(&counted, 1, 0);
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_scan *scan;
    struct engine_entry entry;
    assert_int_equal(
        engine_scan_open(view, &(struct engine_range){ .place = items, .count_max = 20 }, &scan),
        ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK)
        ;
    engine_scan_close(scan);
    engine_view_close(view);
    expect_counts(&counted, 1, 0);
    engine_close(engine);
}

static void a_write_of_two_partitions_commits_with_the_second_operation(void **state)
{
    (void)state;
    struct counted counted = { .store = partition_memory_create(true) };
    struct engine *engine = open_on(counted.store, 1);
    struct engine_address both[] = { { items, BYTES("a") }, { other_items, BYTES("a") } };
    assert_int_equal(change(engine, both, 2, BYTES("1")), ENGINE_OK);
    expect_counts(&counted, 2, 4); /* An intent, the commit, its settlement, the record's end. */
    assert_int_equal(partition_memory_count_keys(counted.store, 'I'), 0);
    assert_int_equal(partition_memory_count_keys(counted.store, 'R'), 0);
    engine_close(engine);
}

static void a_write_beyond_the_stores_limits_is_refused_whole(void **state)
{
    (void)state;
    struct partition_store *store = partition_memory_create(true);
    struct engine *engine = open_on(store, 1);
    struct engine_address addresses[3] = { { items, BYTES("a") },
                                           { items, BYTES("b") },
                                           { items, BYTES("c") } };
    partition_memory_limit(store, 2, 1000);
    assert_int_equal(change(engine, addresses, 2, BYTES("1")), ENGINE_OK);
    assert_int_equal(change(engine, addresses, 3, BYTES("1")), ENGINE_TOO_LARGE);
    /* The limit of bytes: exactly, and one more. */
    static uint8_t large[1000];
    struct engine_write *write;
    for (size_t size = 800; size < 1000; size++) {
        assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_OK);
        engine_write_put(write, &addresses[0], bytes_of(large, size));
        enum engine_status status = engine_write_commit_wait(write);
        /* The epoch's guard, the intent's guard, and the change with its header. */
        size_t whole = (1 + 16) + (5 + 16) + (5 + 17 + size);
        assert_int_equal(status, whole <= 1000 ? ENGINE_OK : ENGINE_TOO_LARGE);
    }
    addresses[1] = (struct engine_address){ other_items, BYTES("b") };
    addresses[2] = (struct engine_address){ other_items, BYTES("c") };
    assert_int_equal(change(engine, addresses, 3, BYTES("2")), ENGINE_TOO_LARGE);
    assert_true(engine_fixture_lacks(engine, other_items, BYTES("b")));
    assert_int_equal(partition_memory_count_keys(store, 'I'), 0);
    engine_close(engine);
}

/* --- Views --- */

static enum engine_status look(struct engine_view *view, struct engine_place place, const char *key,
                               const char *value)
{
    struct engine_address address = { place, bytes_from_text(key) };
    struct engine_value found;
    enum engine_status status = engine_view_get(view, &address, &found);
    if (status == ENGINE_OK)
        assert_true(bytes_equal(found.bytes, bytes_from_text(value)));
    engine_value_release(&found);
    return status;
}

static void a_view_is_of_one_moment_or_reports_a_conflict(void **state)
{
    (void)state;
    struct engine *engine = open_on(partition_memory_create(true), 1);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("1"));
    engine_fixture_put(engine, other_items, BYTES("b"), BYTES("1"));
    struct engine_view *view = engine_fixture_view(engine);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("2"));
    assert_int_equal(look(view, items, "a", "2"), ENGINE_OK); /* Not older than its opening. */
    engine_fixture_put(engine, other_items, BYTES("b"), BYTES("2"));
    assert_int_equal(look(view, other_items, "b", "2"), ENGINE_OK);
    assert_int_equal(look(view, items, "a", "2"), ENGINE_OK);
    struct engine_view *shared = engine_view_share(view);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("3"));
    assert_int_equal(look(view, items, "a", ""), ENGINE_CONFLICT);
    engine_view_close(view);
    assert_int_equal(look(shared, other_items, "b", "2"), ENGINE_OK);
    assert_int_equal(look(shared, items, "a", ""), ENGINE_CONFLICT);
    engine_view_close(shared);

    view = engine_fixture_view(engine);
    assert_int_equal(look(view, items, "a", "3"), ENGINE_OK);
    engine_fixture_put(engine, items, BYTES("z"), BYTES("1"));
    assert_int_equal(look(view, other_items, "b", ""), ENGINE_CONFLICT);
    engine_view_close(view);
    engine_close(engine);
}

static void an_eventual_view_shows_what_is_committed(void **state)
{
    (void)state;
    struct engine *engine = open_on(partition_memory_create(true), 1);
    struct engine_view *view;
    engine_fixture_put(engine, items, BYTES("a"), BYTES("1"));
    assert_int_equal(engine_view_open(engine, ENGINE_EVENTUAL, &view), ENGINE_OK);
    assert_int_equal(look(view, items, "a", "1"), ENGINE_OK);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("2"));
    assert_int_equal(look(view, items, "a", "2"), ENGINE_OK);
    engine_view_close(view);
    engine_close(engine);
}

static enum engine_status scan_all(struct engine_view *view, size_t *count)
{
    struct engine_scan *scan;
    struct engine_entry entry;
    enum engine_status status =
        engine_scan_open(view, &(struct engine_range){ .place = items }, &scan);
    for (*count = 0; status == ENGINE_OK; *count += status == ENGINE_OK)
        status = engine_scan_next(scan, &entry);
    engine_scan_close(scan);
    return status;
}

static void a_view_of_the_newest_goes_on_while_others_write(void **state)
{
    (void)state;
    struct partition_store *store = partition_memory_create(true);
    struct engine *engine = open_on(store, 1);
    struct engine_view *view;
    size_t count;
    for (char key = 'a'; key <= 'e'; key++)
        engine_fixture_put(engine, items, bytes_of(&key, 1), BYTES("1"));
    partition_memory_disturb(store, true);
    view = engine_fixture_view(engine);
    assert_int_equal(scan_all(view, &count), ENGINE_CONFLICT);
    engine_view_close(view);
    assert_int_equal(engine_view_open(engine, ENGINE_NEWEST, &view), ENGINE_OK);
    assert_int_equal(scan_all(view, &count), ENGINE_END);
    assert_int_equal(count, 5);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("2"));
    assert_int_equal(look(view, items, "a", "2"), ENGINE_OK);
    engine_view_close(view);
    engine_close(engine);
}

static void await_index(struct api_fixture *db)
{
    do
        assert_true(api_fixture_call(db, "DescribeTable", "{'TableName':'orders'}"));
    while (!api_fixture_shows(db, "'IndexStatus':'ACTIVE'"));
}

/* Each of them reads a partition in several steps. */
static void what_needs_no_common_moment_comes_through_a_busy_partition(void **state)
{
    (void)state;
    enum { ITEMS = 9 };
    struct api_fixture db;
    struct partition_store *store = partition_memory_create(true);
    char body[256];
    api_fixture_open_on(&db, open_on(store, 1), 0);
    assert_true(api_fixture_call(
        &db, "CreateTable",
        "{'TableName':'orders','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'s','AttributeType':'N'}],"
        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},"
        "{'AttributeName':'s','KeyType':'RANGE'}]}"));
    for (int i = 0; i < ITEMS; i++) {
        snprintf(body, sizeof body, "{'TableName':'orders','Item':{'p':{'S':'a'},'s':{'N':'%d'}}}",
                 i);
        assert_true(api_fixture_call(&db, "PutItem", body));
    }
    partition_memory_disturb(store, true);
    assert_true(api_fixture_call(&db, "Query",
                                 "{'TableName':'orders','ConsistentRead':true,"
                                 "'KeyConditionExpression':'p=:p',"
                                 "'ExpressionAttributeValues':{':p':{'S':'a'}}}"));
    assert_true(api_fixture_shows(&db, "'Count':9,"));
    assert_true(api_fixture_call(&db, "Scan", "{'TableName':'orders','ConsistentRead':true}"));
    assert_true(api_fixture_shows(&db, "'Count':9,"));
    assert_true(api_fixture_call(
        &db, "UpdateTable",
        "{'TableName':'orders','AttributeDefinitions':[{'AttributeName':'s','AttributeType':'N'}],"
        "'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'by-s','KeySchema':["
        "{'AttributeName':'s','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}}]}"));
    await_index(&db);
    assert_true(api_fixture_call(&db, "Scan", "{'TableName':'orders','IndexName':'by-s'}"));
    assert_true(api_fixture_shows(&db, "'Count':9,"));
    partition_memory_disturb(store, false);
    api_fixture_close(&db);
}

static void a_view_reads_a_bounded_number_of_partitions(void **state)
{
    (void)state;
    struct engine *engine = open_on(partition_memory_create(true), 1);
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_place place = items;
    for (uint64_t i = 0; i < COMMIT_VIEW_PARTITIONS_MAX; i++) {
        place.partition = i;
        assert_int_equal(look(view, place, "a", ""), ENGINE_NOT_FOUND);
    }
    place.partition = COMMIT_VIEW_PARTITIONS_MAX;
    assert_int_equal(look(view, place, "a", ""), ENGINE_TOO_LARGE);
    engine_view_close(view);
    engine_close(engine);
}

static void a_scan_reads_page_by_page(void **state)
{
    enum { KEYS = 2 * COMMIT_PAGE_ENTRIES + 1 };
    (void)state;
    struct counted counted = { .store = partition_memory_create(true) };
    struct engine *engine = open_on(counted.store, 1);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint8_t key[] = { (uint8_t)(i >> 8), (uint8_t)i };
        engine_fixture_put(engine, items, bytes_of(key, 2), BYTES("1"));
    }
    for (int reverse = 0; reverse <= 1; reverse++) {
        struct engine_view *view = engine_fixture_view(engine);
        struct engine_range range = { .place = items, .reverse = reverse };
        struct engine_scan *scan;
        struct engine_entry entry;
        uint32_t count = 0;
        expect_counts(&counted, reverse ? 3 : 1, reverse ? 0 : KEYS);
        assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
        while (engine_scan_next(scan, &entry) == ENGINE_OK) {
            uint32_t number = reverse ? KEYS - 1 - count : count;
            assert_int_equal(entry.key.data[0] << 8 | entry.key.data[1], number);
            count++;
        }
        assert_int_equal(count, KEYS);
        engine_scan_close(scan);
        engine_view_close(view);
    }
    expect_counts(&counted, 3, 0);
    engine_close(engine);
}

/* --- Outages --- */

enum { OPERATION_MS = 30 * 1000 }; /* Until an operation without an answer is given up. */

/* A store that answers no more after some calls. Only it makes the time go by. */
struct outage {
    struct partition_store base;
    struct partition_store *inner;
    size_t calls_left;
    int64_t now_ms;
};

static void run_until_outage(struct partition_store *base, struct arena *arena,
                             struct partition_operation *operations, size_t count)
{
    struct outage *outage = (struct outage *)base;
    if (outage->calls_left > 0) {
        outage->calls_left--;
        outage->inner->ops->run(outage->inner, arena, operations, count);
        return;
    }
    outage->now_ms += OPERATION_MS;
    for (size_t i = 0; i < count; i++)
        operations[i].status = operations[i].is_write ? PARTITION_UNKNOWN : PARTITION_FAILED;
}

static void close_outage(struct partition_store *base)
{
    struct partition_store *inner = ((struct outage *)base)->inner;
    inner->ops->close(inner);
}

static int64_t outage_now_ms(void *context)
{
    return ((struct outage *)context)->now_ms;
}

static void outage_pause(void *context, unsigned ms)
{
    ((struct outage *)context)->now_ms += ms;
}

/* Whenever the store stops answering, the thread and the latches are free soon after, and what the
 * write has left is no trouble to others. */
static void a_write_in_an_outage_repeats_nothing_after_its_time(void **state)
{
    (void)state;
    const struct engine_address addresses[] = { { items, BYTES("a") },
                                                { other_items, BYTES("a") },
                                                { { 7, 3, ENGINE_SPACE_ITEMS }, BYTES("a") } };
    size_t statuses[ENGINE_UNSUPPORTED + 1] = { 0 };
    for (size_t partitions = 1; partitions <= COUNT_OF(addresses); partitions++) {
        bool is_over = false;
        for (size_t calls = 0; !is_over; calls++) {
            struct partition_store_ops ops = { .changes_max = 100,
                                               .size_max = 10000,
                                               .run = run_until_outage,
                                               .close = close_outage };
            struct outage outage = { .base.ops = &ops,
                                     .inner = partition_memory_create(true),
                                     .calls_left = SIZE_MAX };
            struct commit_time time = { outage_now_ms, outage_pause, &outage };
            char message[ENGINE_MESSAGE_MAX];
            struct engine *engine = commit_engine_create(&outage.base, &time, 1, message);
            assert_non_null(engine);
            struct engine_write *write;
            assert_int_equal(engine_write_begin(engine, addresses, partitions, &write), ENGINE_OK);
            outage.calls_left = calls;
            for (size_t i = 0; i < partitions; i++)
                engine_write_put(write, &addresses[i], BYTES("1"));
            enum engine_status status = engine_write_commit_wait(write);
            assert_in_range(outage.now_ms, 0, COMMIT_WRITE_MS + OPERATION_MS);
            statuses[status]++;
            is_over = status == ENGINE_OK && outage.calls_left > 0;
            outage.calls_left = SIZE_MAX;
            assert_int_equal(change(engine, addresses, partitions, BYTES("2")), ENGINE_OK);
            engine_close(engine);
        }
    }
    assert_true(statuses[ENGINE_OK] > 0 && statuses[ENGINE_UNKNOWN] > 0);
}

/* --- Two servers at once --- */

enum { SERVERS = 2, THREADS = 2, ACCOUNTS = 6, TRANSFERS = 150, START = 100 };

struct teller {
    struct engine *engine;
    uint64_t seed;
    unsigned conflicts;
};

static enum engine_status transfer(struct engine *engine, uint64_t from, uint64_t to)
{
    struct engine_write *write;
    enum engine_status status = accounts_move(engine, from, to, &write);
    return status == ENGINE_OK ? engine_write_commit_wait(write) : status;
}

static void *run_teller(void *argument)
{
    struct teller *teller = argument;
    struct random random;
    random_init(&random, teller->seed);
    for (int i = 0; i < TRANSFERS;) {
        uint64_t from = random_below(&random, ACCOUNTS);
        uint64_t to = (from + 1 + random_below(&random, ACCOUNTS - 1)) % ACCOUNTS;
        unsigned total = 0;
        bool audits = random_below(&random, 8) == 0;
        enum engine_status status = audits ? accounts_sum(teller->engine, ACCOUNTS, &total)
                                           : transfer(teller->engine, from, to);
        assert_true(status == ENGINE_OK || status == ENGINE_CONFLICT || status == ENGINE_BUSY);
        if (audits && status == ENGINE_OK)
            assert_int_equal(total, ACCOUNTS * START);
        i += status == ENGINE_OK;
        teller->conflicts += status != ENGINE_OK;
    }
    return NULL;
}

static void two_servers_keep_the_books_together(void **state)
{
    (void)state;
    struct partition_store *store = partition_memory_create(true);
    struct engine *engines[SERVERS];
    struct teller tellers[SERVERS * THREADS];
    pthread_t threads[SERVERS * THREADS];
    engines[0] = open_on(store, 1);
    engines[1] = open_on(partition_memory_retain(store), 2);
    accounts_create(engines[0], ACCOUNTS, START);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        tellers[i] = (struct teller){ engines[i % SERVERS], i + 1, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, run_teller, &tellers[i]), 0);
    }
    unsigned conflicts = 0;
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        pthread_join(threads[i], NULL);
        conflicts += tellers[i].conflicts;
    }
    printf("%u conflicts\n", conflicts); /* As many as it happens. */
    unsigned total = 0;
    assert_int_equal(accounts_sum(engines[1], ACCOUNTS, &total), ENGINE_OK);
    assert_int_equal(total, ACCOUNTS * START);
    assert_int_equal(commit_engine_sweep(engines[0]), ENGINE_OK);
    assert_int_equal(partition_memory_count_keys(store, 'I'), 0);
    assert_int_equal(partition_memory_count_keys(store, 'R'), 0);
    engine_close(engines[0]);
    engine_close(engines[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_of_one_partition_is_one_operation),
        cmocka_unit_test(what_changes_with_an_item_is_in_its_partition),
        cmocka_unit_test(the_catalogue_shares_no_partition_with_tables),
        cmocka_unit_test(a_put_with_a_stream_and_a_local_index_is_one_operation),
        cmocka_unit_test(a_strong_read_is_one_operation),
        cmocka_unit_test(a_write_of_two_partitions_commits_with_the_second_operation),
        cmocka_unit_test(a_write_beyond_the_stores_limits_is_refused_whole),
        cmocka_unit_test(a_view_is_of_one_moment_or_reports_a_conflict),
        cmocka_unit_test(an_eventual_view_shows_what_is_committed),
        cmocka_unit_test(a_view_of_the_newest_goes_on_while_others_write),
        cmocka_unit_test(what_needs_no_common_moment_comes_through_a_busy_partition),
        cmocka_unit_test(a_view_reads_a_bounded_number_of_partitions),
        cmocka_unit_test(a_scan_reads_page_by_page),
        cmocka_unit_test(a_write_in_an_outage_repeats_nothing_after_its_time),
        cmocka_unit_test(two_servers_keep_the_books_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
