/* test_txn_waiting.c -- a txn that has to wait holds up neither its thread nor the others of its
 * group, and goes on where it was started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "engine_fixture.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/table_stats.h"
#include "txn/txn.h"
#include "txn/txn_group.h"

enum { LONG_WAIT_MS = 60 * 1000, SHORT_WAIT_MS = 20, TEXT_SIZE = 24 };

static struct partition partitions[] = { { .id = 11, .first_hash = 0 } };
static const struct table_definition definition = {
    .name = { (const uint8_t *)"t", 1 },
    .id = 7,
    .key = { .hash = { .name = { (const uint8_t *)"pk", 2 }, .type = VALUE_S } },
    .partitions = partitions,
    .partition_count = COUNT_OF(partitions),
};

static struct partition other_partitions[] = { { .id = 12, .first_hash = 0 } };
static const struct table_definition other_definition = {
    .name = { (const uint8_t *)"o", 1 },
    .id = 8,
    .key = { .hash = { .name = { (const uint8_t *)"pk", 2 }, .type = VALUE_S } },
    .partitions = other_partitions,
    .partition_count = COUNT_OF(other_partitions),
};

/* --- A thread with its group --- */

struct loop {
    struct arena *arena;
    struct engine *engine;
    struct txn_group *group;
    const struct table_definition *table;
    const char *pad;         /* Put before the numbers; NULL: nothing. */
    bool hands_over;         /* Large txns, */
    struct txn *handed_over; /* such as this one; NULL: none. */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool woken;       /* Guarded by mutex. */
    size_t under_way; /* Guarded by mutex: txns end on any thread. */
};

static void wake(void *context)
{
    struct loop *loop = context;
    pthread_mutex_lock(&loop->mutex);
    assert_false(loop->woken); /* Once, until it is resumed. */
    loop->woken = true;
    pthread_cond_signal(&loop->changed);
    pthread_mutex_unlock(&loop->mutex);
}

static void loop_init(struct loop *loop, struct engine *engine)
{
    *loop = (struct loop){
        .arena = arena_create(), .engine = engine, .table = &definition, .thread = pthread_self()
    };
    loop->group = txn_group_create(wake, loop);
    pthread_mutex_init(&loop->mutex, NULL);
    pthread_cond_init(&loop->changed, NULL);
}

static void loop_deinit(struct loop *loop)
{
    txn_group_destroy(loop->group);
    pthread_cond_destroy(&loop->changed);
    pthread_mutex_destroy(&loop->mutex);
    arena_destroy(loop->arena);
}

static bool is_woken(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    bool woken = loop->woken;
    pthread_mutex_unlock(&loop->mutex);
    return woken;
}

/* False if it was not woken up. */
static bool resume(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    bool woken = loop->woken;
    loop->woken = false;
    pthread_mutex_unlock(&loop->mutex);
    if (woken)
        txn_group_resume(loop->group);
    return woken;
}

static int open_engine(void **state, unsigned write_wait_ms)
{
    static struct loop loop;
    struct engine_options options = engine_fixture_rocksdb_options(NULL);
    char message[ENGINE_MESSAGE_MAX];
    options.in_memory = true;
    options.write_wait_ms = write_wait_ms;
    struct engine *engine = engine_open(&options, message);
    if (engine == NULL)
        return -1;
    loop_init(&loop, engine);
    *state = &loop;
    return 0;
}

static int set_up(void **state)
{
    return open_engine(state, LONG_WAIT_MS);
}

static int set_up_impatient(void **state)
{
    return open_engine(state, SHORT_WAIT_MS);
}

static int tear_down(void **state)
{
    struct loop *loop = *state;
    struct engine *engine = loop->engine;
    loop_deinit(loop);
    engine_close(engine);
    return 0;
}

/* --- Txns that add one to the number that each of their items has --- */

enum { ITEMS_MAX = 3 };

struct addition {
    struct txn txn;
    struct txn_item items[ITEMS_MAX];
    struct loop *loop;
    const char *pad; /* As the loop's when it was started. */
    const char *keys[ITEMS_MAX];
    unsigned decisions, ends;
    bool answers;                     /* It forms an answer, and then */
    unsigned answered, answered_late; /* how often, and how often after its end. */
    bool strange;                     /* It was decided or answered on another thread. */
    enum engine_status status;
};

static struct item make_item(struct arena *arena, const char *pk, const char *pad, const char *text)
{
    struct item_builder builder;
    struct buffer key, value;
    item_builder_init(&builder, arena);
    buffer_init(&key, arena);
    buffer_init(&value, arena);
    value_append_string(&key, bytes_from_text(pk));
    value_append_string(&value, arena_printf(arena, "%s%s", pad == NULL ? "" : pad, text));
    item_builder_add(&builder, BYTES("pk"), buffer_bytes(&key));
    item_builder_add(&builder, BYTES("v"), buffer_bytes(&value));
    return item_builder_finish(&builder);
}

static long number_of(const struct item *item)
{
    struct value value;
    char text[TEXT_SIZE] = "";
    assert_true(item_find(item, BYTES("v"), &value));
    struct bytes digits = value.data;
    if (digits.len >= sizeof text) /* Zeros before it do not change a number. */
        digits = bytes_of(digits.data + digits.len - (sizeof text - 1), sizeof text - 1);
    memcpy(text, digits.data, digits.len);
    return strtol(text, NULL, 10);
}

/* Nobody holds the items any more. */
static void answer(struct txn *txn)
{
    struct addition *addition = (struct addition *)txn;
    addition->answered++;
    addition->answered_late += addition->ends > 0;
    addition->strange |= !pthread_equal(addition->loop->thread, pthread_self());
    for (size_t i = 0; i < txn->item_count; i++) {
        struct engine_write *write;
        bool busy;
        assert_int_equal(
            engine_write_try(txn->engine, &txn->items[i].place.address, 1, &busy, &write),
            ENGINE_OK);
        engine_write_abandon(write);
    }
}

static bool decide(struct txn *txn)
{
    struct addition *addition = (struct addition *)txn;
    addition->decisions++;
    assert_null(txn->answer);
    if (addition->answers)
        txn->answer = answer;
    addition->strange |= !pthread_equal(addition->loop->thread, pthread_self());
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        char text[TEXT_SIZE];
        snprintf(text, sizeof text, "%ld", 1 + (item->exists ? number_of(&item->current) : 0));
        item->effect = TXN_PUT;
        item->replacement = make_item(txn->arena, addition->keys[i], addition->pad, text);
    }
    return true;
}

static void done(struct txn *txn, enum engine_status status)
{
    struct addition *addition = (struct addition *)txn;
    struct loop *loop = addition->loop;
    pthread_mutex_lock(&loop->mutex);
    addition->ends++;
    addition->status = status;
    loop->under_way--;
    pthread_cond_signal(&loop->changed);
    pthread_mutex_unlock(&loop->mutex);
}

static void take_over(struct txn *txn, void *context)
{
    struct loop *loop = context;
    assert_null(loop->handed_over);
    loop->handed_over = txn;
}

static struct item_address place_of(struct loop *loop, const char *key)
{
    struct item_address place;
    struct error err;
    struct item item = make_item(loop->arena, key, NULL, "");
    error_init(&err, loop->arena);
    assert_true(item_address_of_item(loop->arena, loop->table, &item, &place, &err));
    return place;
}

static void start(struct loop *loop, struct addition *addition, const char *const *keys,
                  size_t count)
{
    *addition = (struct addition){ .txn = { .arena = loop->arena,
                                            .engine = loop->engine,
                                            .clock = &clock_system,
                                            .items = addition->items,
                                            .item_count = count,
                                            .group = loop->group,
                                            .hand_over = loop->hands_over ? take_over : NULL,
                                            .hand_over_context = loop,
                                            .decide = decide,
                                            .done = done },
                                   .loop = loop,
                                   .pad = loop->pad };
    for (size_t i = 0; i < count; i++) {
        addition->keys[i] = keys[i];
        addition->items[i] =
            (struct txn_item){ .table = loop->table, .place = place_of(loop, keys[i]) };
    }
    pthread_mutex_lock(&loop->mutex);
    loop->under_way++;
    pthread_mutex_unlock(&loop->mutex);
    txn_start(&addition->txn);
}

static void start_one(struct loop *loop, struct addition *addition, const char *key)
{
    start(loop, addition, &key, 1);
}

static void expect_ended(const struct addition *addition, enum engine_status status,
                         unsigned decisions)
{
    assert_int_equal(addition->ends, 1);
    assert_int_equal(addition->status, status);
    assert_int_equal(addition->decisions, decisions);
    assert_false(addition->strange);
}

/* --- What others hold --- */

static struct engine_write *hold(struct loop *loop, struct engine_address address)
{
    struct engine_write *write;
    assert_int_equal(engine_write_begin(loop->engine, &address, 1, &write), ENGINE_OK);
    return write;
}

static void *abandon(void *write)
{
    engine_write_abandon(write);
    return NULL;
}

static void let_go_elsewhere(struct engine_write *write)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, abandon, write), 0);
    pthread_join(thread, NULL);
}

static void answers_are_formed_when_the_latches_are_gone_and_before_the_end(void **state)
{
    struct loop *loop = *state;
    struct addition alone, together[4];
    start_one(loop, &alone, "a");
    alone.answers = true;
    txn_group_run(loop->group);
    expect_ended(&alone, ENGINE_OK, 1);
    assert_int_equal(alone.answered, 1);
    assert_int_equal(alone.answered_late, 0);
    static const char *const keys[] = { "a", "b", "c", "d" };
    for (size_t i = 0; i < COUNT_OF(together); i++) {
        start_one(loop, &together[i], keys[i]);
        together[i].answers = i % 2 == 0;
    }
    txn_group_run(loop->group);
    for (size_t i = 0; i < COUNT_OF(together); i++) {
        expect_ended(&together[i], ENGINE_OK, 1);
        assert_int_equal(together[i].txn.attempts, 0); /* In one batch. */
        assert_int_equal(together[i].answered, i % 2 == 0);
        assert_int_equal(together[i].answered_late, 0);
    }
}

static void one_held_item_holds_up_nobody_else_of_its_group(void **state)
{
    struct loop *loop = *state;
    struct addition a, b, c;
    struct engine_write *write = hold(loop, place_of(loop, "b").address);
    start_one(loop, &a, "a");
    start_one(loop, &b, "b");
    start_one(loop, &c, "c");
    txn_group_run(loop->group);
    expect_ended(&a, ENGINE_OK, 1);
    expect_ended(&c, ENGINE_OK, 1);
    assert_int_equal(a.txn.attempts + c.txn.attempts, 0); /* Still together. */
    assert_int_equal(b.decisions, 0);
    assert_int_equal(b.ends, 0);
    assert_false(is_woken(loop));
    engine_write_abandon(write);
    assert_true(resume(loop));
    expect_ended(&b, ENGINE_OK, 1);
}

static void a_txn_goes_on_on_the_thread_of_its_group(void **state)
{
    struct loop *loop = *state;
    struct addition a;
    struct engine_write *write = hold(loop, place_of(loop, "a").address);
    start_one(loop, &a, "a");
    txn_group_run(loop->group);
    let_go_elsewhere(write);
    assert_int_equal(a.decisions, 0);
    assert_true(resume(loop));
    expect_ended(&a, ENGINE_OK, 1);
}

/* The statistics of a table are shared by its writers: they are asked for once all is decided. */
static void held_statistics_are_waited_for_after_the_decision(void **state)
{
    struct loop *loop = *state;
    struct addition a, b, again;
    struct item_address place = place_of(loop, "a");
    struct engine_write *write = hold(loop, table_stats_address(&place));
    start_one(loop, &a, "a");
    start_one(loop, &b, "b");
    txn_group_run(loop->group);
    assert_int_equal(a.decisions, 1);
    assert_int_equal(b.decisions, 1); /* Of the same batch. */
    assert_int_equal(a.ends + b.ends, 0);
    start_one(loop, &again, "a"); /* Waits for the first one's item. */
    txn_group_run(loop->group);
    assert_int_equal(again.decisions, 0);
    let_go_elsewhere(write);
    assert_int_equal(a.ends + b.ends, 0);
    while (resume(loop))
        ;
    expect_ended(&a, ENGINE_OK, 1);
    expect_ended(&b, ENGINE_OK, 1);
    expect_ended(&again, ENGINE_OK, 1);
    struct engine_view *view = engine_fixture_view(loop->engine);
    struct table_stats sum;
    assert_int_equal(table_stats_sum(view, &definition, &sum, NULL), ENGINE_OK);
    assert_int_equal(sum.item_count, 2);
    engine_view_close(view);
}

static void a_write_that_changes_no_statistics_does_not_wait_for_them(void **state)
{
    struct loop *loop = *state;
    struct addition a;
    struct item_address place = place_of(loop, "a");
    start_one(loop, &a, "a");
    txn_group_run(loop->group);
    struct engine_write *write = hold(loop, table_stats_address(&place));
    start_one(loop, &a, "a"); /* "1" becomes "2". */
    txn_group_run(loop->group);
    expect_ended(&a, ENGINE_OK, 1);
    engine_write_abandon(write);
}

static void who_waits_for_too_long_is_refused_alone(void **state)
{
    struct loop *loop = *state;
    struct addition a, b;
    struct engine_write *write = hold(loop, place_of(loop, "b").address);
    start_one(loop, &a, "a");
    start_one(loop, &b, "b");
    txn_group_run(loop->group);
    expect_ended(&a, ENGINE_OK, 1);
    while (!resume(loop))
        usleep(1000);
    expect_ended(&b, ENGINE_BUSY, 0);
    engine_write_abandon(write);
    start_one(loop, &b, "b");
    txn_group_run(loop->group);
    expect_ended(&b, ENGINE_OK, 1);
}

/* Both were decided together. The one whose statistics are free is carried out all the same. */
static void who_waits_for_statistics_for_too_long_is_refused_alone(void **state)
{
    struct loop *loop = *state;
    struct addition a, b;
    struct item_address place = place_of(loop, "a"), other = place_of(loop, "b");
    struct engine_write *write = hold(loop, table_stats_address(&place));
    assert_false(table_stats_shared(&place, &other));
    start_one(loop, &a, "a");
    start_one(loop, &b, "b");
    txn_group_run(loop->group);
    while (a.ends == 0) {
        usleep(1000);
        resume(loop);
    }
    expect_ended(&a, ENGINE_BUSY, 2);
    expect_ended(&b, ENGINE_OK, 2);
    engine_write_abandon(write);
    start_one(loop, &a, "a");
    txn_group_run(loop->group);
    expect_ended(&a, ENGINE_OK, 1);
}

/* --- Turns --- */

enum { LARGE = 60 * 1024, LARGE_COUNT = 12, PER_TURN = TXN_GROUP_TURN_SIZE_MAX / LARGE + 1 };

static struct addition large[LARGE_COUNT];
static char large_names[LARGE_COUNT][TEXT_SIZE];
static char large_pad[LARGE];

static void start_large(struct loop *loop)
{
    memset(large_pad, '0', LARGE - 1); /* Zeros before a number do not change it. */
    loop->pad = large_pad;
    for (size_t i = 0; i < LARGE_COUNT; i++) {
        snprintf(large_names[i], TEXT_SIZE, "large-%zu", i);
        start_one(loop, &large[i], large_names[i]);
    }
}

static size_t count_ended(void)
{
    size_t count = 0;
    for (size_t i = 0; i < LARGE_COUNT; i++)
        count += large[i].ends;
    return count;
}

/* Large items take long: the thread looks at its other work after so many of them. */
static void large_items_are_carried_out_in_turns(void **state)
{
    struct loop *loop = *state;
    start_large(loop);
    txn_group_run(loop->group);
    assert_int_equal(count_ended(), PER_TURN);
    txn_group_run(loop->group); /* No other turn before it is woken up. */
    assert_int_equal(count_ended(), PER_TURN);
    assert_true(resume(loop));
    assert_int_equal(count_ended(), 2 * PER_TURN);
    assert_true(resume(loop));
    assert_false(resume(loop));
    for (size_t i = 0; i < LARGE_COUNT; i++) {
        expect_ended(&large[i], ENGINE_OK, 1);
        assert_int_equal(large[i].txn.attempts, 0); /* Together with others. */
    }
}

static void writes_of_other_tables_pass_by_those_of_large_items(void **state)
{
    struct loop *loop = *state;
    struct addition same, other;
    start_large(loop);
    loop->pad = NULL;
    txn_group_run(loop->group);
    start_one(loop, &same, "small");
    loop->table = &other_definition;
    start_one(loop, &other, "small");
    txn_group_run(loop->group);
    expect_ended(&other, ENGINE_OK, 1);
    assert_int_equal(same.ends, 0); /* In the order of its table. */
    assert_int_equal(count_ended(), PER_TURN);
    while (resume(loop)) {
        start_one(loop, &other, "small"); /* These do not keep the others waiting either. */
        txn_group_run(loop->group);
        expect_ended(&other, ENGINE_OK, 1);
    }
    assert_int_equal(count_ended(), LARGE_COUNT);
    expect_ended(&same, ENGINE_OK, 1);
}

/* --- Txns that are too large for their thread --- */

enum { HALF = TXN_HAND_OVER_SIZE / 2 };
static char half_pad[HALF];

static void run_all(struct loop *loop)
{
    txn_group_run(loop->group);
    while (resume(loop))
        ;
}

/* "a" and "b" have half of what a txn may have to stay on its thread, and "bb" a byte more. */
static void store_halves(struct loop *loop)
{
    static const char *const keys[] = { "a", "b", "bb" };
    struct addition added;
    memset(half_pad, '0', HALF - strlen("pk") - strlen("a") - strlen("v") - strlen("1"));
    loop->pad = half_pad;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        start_one(loop, &added, keys[i]);
        run_all(loop);
        expect_ended(&added, ENGINE_OK, 1);
    }
    loop->hands_over = true;
}

static void expect_handed_over(struct loop *loop, const struct addition *addition)
{
    assert_ptr_equal(loop->handed_over, &addition->txn);
    assert_int_equal(addition->decisions, 0);
    assert_int_equal(addition->ends, 0);
    for (size_t i = 0; i < addition->txn.item_count; i++) /* Nobody holds its items. */
        engine_write_abandon(hold(loop, addition->items[i].place.address));
    loop->handed_over = NULL;
}

static const char *const fitting[] = { "a", "b" }, *const too_large[] = { "a", "bb" };

static void a_txn_of_large_items_is_handed_over_before_it_is_decided(void **state)
{
    struct loop *loop = *state;
    struct addition txn;
    store_halves(loop);
    start(loop, &txn, fitting, 2);
    run_all(loop);
    expect_ended(&txn, ENGINE_OK, 1);
    for (unsigned i = 0; i < 2; i++) { /* The thread that takes it over may have a group. */
        start(loop, &txn, too_large, 2);
        run_all(loop);
        expect_handed_over(loop, &txn);
        txn_continue(&txn.txn, i == 0 ? loop->group : NULL);
        run_all(loop);
        expect_ended(&txn, ENGINE_OK, 1);
        assert_int_equal(number_of(&txn.items[0].replacement), 3 + i);
    }
    assert_null(loop->handed_over);
}

static void a_single_large_item_is_not_handed_over(void **state)
{
    struct loop *loop = *state;
    struct addition txn;
    static char pad[TXN_HAND_OVER_SIZE + 1];
    memset(pad, '0', sizeof pad - 1);
    loop->pad = pad;
    loop->hands_over = true;
    for (int i = 0; i < 2; i++) {
        start_one(loop, &txn, "a");
        run_all(loop);
        expect_ended(&txn, ENGINE_OK, 1);
    }
    assert_int_equal(number_of(&txn.items[0].replacement), 2);
}

/* Between others, which share a batch, and as the first of it. */
static void the_others_of_its_group_are_carried_out(void **state)
{
    struct loop *loop = *state;
    struct addition txn, others[2];
    store_halves(loop);
    loop->pad = NULL;
    for (size_t place = 0; place < 3; place++) {
        for (size_t i = 0, other = 0; i < 3; i++) {
            if (i == place)
                start(loop, &txn, too_large, 2);
            else
                start_one(loop, &others[other++], i == 0 ? "x" : i == 1 ? "y" : "z");
        }
        run_all(loop);
        for (size_t i = 0; i < COUNT_OF(others); i++)
            expect_ended(&others[i], ENGINE_OK, 1);
        expect_handed_over(loop, &txn);
        txn_forget(&txn.txn);
        run_all(loop);
        assert_int_equal(txn.ends, 0);
    }
    loop->hands_over = false;
    start(loop, &txn, too_large, 2); /* Nothing was done by those that were forgotten. */
    run_all(loop);
    expect_ended(&txn, ENGINE_OK, 1);
    assert_int_equal(number_of(&txn.items[0].replacement), 2);
}

/* What waits holds latches: it goes on before what was added. */
static void those_that_waited_go_on_first(void **state)
{
    struct loop *loop = *state;
    struct addition waiting, added;
    struct engine_write *write = hold(loop, place_of(loop, "a").address);
    start_one(loop, &waiting, "a");
    txn_group_run(loop->group);
    engine_write_abandon(write);
    start_one(loop, &added, "a");
    txn_group_run(loop->group); /* Before the thread was resumed. */
    expect_ended(&waiting, ENGINE_OK, 1);
    expect_ended(&added, ENGINE_OK, 1);
    assert_true(resume(loop)); /* It comes all the same, and finds nothing. */
}

/* A thread looks at its other work after so many that go on. */
static void those_that_waited_go_on_in_turns(void **state)
{
    enum { COUNT = TXN_GROUP_STEPS_MAX + 10 };
    struct loop *loop = *state;
    static struct addition waiting[COUNT];
    static char names[COUNT][TEXT_SIZE];
    struct engine_address addresses[COUNT];
    struct engine_write *write;
    size_t ended = 0;
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], TEXT_SIZE, "waiting-%zu", i);
        addresses[i] = place_of(loop, names[i]).address;
    }
    assert_int_equal(engine_write_begin(loop->engine, addresses, COUNT, &write), ENGINE_OK);
    for (size_t i = 0; i < COUNT; i++)
        start_one(loop, &waiting[i], names[i]);
    txn_group_run(loop->group);
    engine_write_abandon(write);
    assert_true(resume(loop));
    for (size_t i = 0; i < COUNT; i++)
        ended += waiting[i].ends;
    assert_int_equal(ended, TXN_GROUP_STEPS_MAX);
    assert_true(resume(loop));
    for (size_t i = 0; i < COUNT; i++)
        expect_ended(&waiting[i], ENGINE_OK, 1);
}

/* --- Many threads --- */

enum { THREADS = 4, TURNS = 200, TURN_MAX = 20, KEYS = 10 };

static char key_names[KEYS][TEXT_SIZE];
static _Atomic long additions[KEYS];

struct racer {
    struct engine *engine;
    uint64_t seed;
    bool waits; /* Without a group, as jobs are. */
};

static void wait_for_all(struct loop *loop)
{
    for (;;) {
        pthread_mutex_lock(&loop->mutex);
        while (loop->under_way > 0 && !loop->woken)
            pthread_cond_wait(&loop->changed, &loop->mutex);
        bool woken = loop->woken, ended = loop->under_way == 0;
        loop->woken = false;
        pthread_mutex_unlock(&loop->mutex);
        if (woken)
            txn_group_resume(loop->group);
        else if (ended)
            return;
    }
}

static void *race(void *argument)
{
    const struct racer *racer = argument;
    struct loop loop;
    struct random random;
    struct addition turn[TURN_MAX];
    loop_init(&loop, racer->engine);
    random_init(&random, racer->seed);
    for (int t = 0; t < TURNS; t++) {
        size_t count = 1 + random_next(&random) % TURN_MAX;
        for (size_t i = 0; i < count; i++) {
            const char *keys[ITEMS_MAX];
            size_t first = random_next(&random) % KEYS, item_count = 0;
            for (size_t k = 0; k < ITEMS_MAX && (k == 0 || random_next(&random) % 3 == 0); k++)
                keys[item_count++] = key_names[(first + 3 * k) % KEYS];
            struct txn_group *group = loop.group;
            if (racer->waits)
                loop.group = NULL;
            start(&loop, &turn[i], keys, item_count);
            loop.group = group;
        }
        txn_group_run(loop.group);
        wait_for_all(&loop);
        for (size_t i = 0; i < count; i++) {
            expect_ended(&turn[i], ENGINE_OK, 1);
            for (size_t k = 0; k < turn[i].txn.item_count; k++)
                for (size_t key = 0; key < KEYS; key++)
                    additions[key] += turn[i].keys[k] == key_names[key];
        }
        arena_reset(loop.arena);
    }
    loop_deinit(&loop);
    return NULL;
}

static void additions_of_many_threads_are_all_there(void **state)
{
    struct loop *loop = *state;
    struct racer racers[THREADS];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(key_names[i], TEXT_SIZE, "key-%zu", i);
        additions[i] = 0;
    }
    for (size_t i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){ loop->engine, 42 + i, .waits = i == 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct engine_view *view = engine_fixture_view(loop->engine);
    int64_t size = 0;
    for (size_t i = 0; i < KEYS; i++) {
        struct item_address place = place_of(loop, key_names[i]);
        struct engine_value value;
        struct item item;
        assert_int_equal(item_address_get(view, &definition, &place, &value, &item), ENGINE_OK);
        assert_int_equal(number_of(&item), additions[i]);
        size += (int64_t)item.size;
        engine_value_release(&value);
    }
    struct table_stats sum;
    assert_int_equal(table_stats_sum(view, &definition, &sum, NULL), ENGINE_OK);
    assert_int_equal(sum.item_count, KEYS);
    assert_int_equal(sum.size, size);
    engine_view_close(view);
}

int main(void)
{
#define TEST(name, with) cmocka_unit_test_setup_teardown(name, with, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(answers_are_formed_when_the_latches_are_gone_and_before_the_end, set_up),
        TEST(one_held_item_holds_up_nobody_else_of_its_group, set_up),
        TEST(a_txn_goes_on_on_the_thread_of_its_group, set_up),
        TEST(held_statistics_are_waited_for_after_the_decision, set_up),
        TEST(a_write_that_changes_no_statistics_does_not_wait_for_them, set_up),
        TEST(who_waits_for_too_long_is_refused_alone, set_up_impatient),
        TEST(who_waits_for_statistics_for_too_long_is_refused_alone, set_up_impatient),
        TEST(large_items_are_carried_out_in_turns, set_up),
        TEST(writes_of_other_tables_pass_by_those_of_large_items, set_up),
        TEST(a_txn_of_large_items_is_handed_over_before_it_is_decided, set_up),
        TEST(a_single_large_item_is_not_handed_over, set_up),
        TEST(the_others_of_its_group_are_carried_out, set_up),
        TEST(those_that_waited_go_on_first, set_up),
        TEST(those_that_waited_go_on_in_turns, set_up),
        TEST(additions_of_many_threads_are_all_there, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
