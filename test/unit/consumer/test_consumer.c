/* test_consumer.c -- a consumer resumes where it was, retries one partition without the others, and
 * ends with its owner or its log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "base/timed_wait.h"
#include "consumer/consumer.h"
#include "consumer/consumer_position.h"
#include "item_fixture.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "log/log_read.h"
#include "log/shard.h"
#include "log_fixture.h"
#include "reference_engine.h"

enum { LOG_ID = 40, FIRST = 2, SEEN_MAX = 100, NO_PARTITION = 0 };
static const uint64_t partitions[] = { 11, 12 };
/* Those that are split off later: of the first one, and of that. */
enum { CHILD = 13, GRANDCHILD = 14 };
static const uint64_t split_partitions[] = { 11, 12, CHILD, GRANDCHILD };
static const struct bytes uuid = { (const uint8_t *)"01234567-89ab-cdef-0123-456789abcdef", 36 };
static const struct bytes other_uuid = { (const uint8_t *)"01234567-89ab-cdef-0123-456789abcdff",
                                         36 };

struct fixture {
    struct arena *arena;
    struct engine *engine;
    struct clock clock;
    struct consumer *consumer;

    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    uint64_t stuck; /* The partition whose work always fails. */
    bool closed;
    size_t split_count;
    bool stops_itself; /* Asks the consumer to stop when its next round begins. */
    bool interrupted;
    unsigned failures;
    uint64_t seen[COUNT_OF(split_partitions)][SEEN_MAX];
    size_t seen_count[COUNT_OF(split_partitions)];
};

/* --- The owner --- */

static bool find_log(void *context, struct consumer_log *out)
{
    struct fixture *fixture = context;
    pthread_mutex_lock(&fixture->mutex);
    *out = (struct consumer_log){ .log_id = LOG_ID,
                                  .partitions = split_partitions,
                                  .partition_count = COUNT_OF(partitions) + fixture->split_count,
                                  .closed = fixture->closed };
    bool stops = fixture->stops_itself;
    pthread_mutex_unlock(&fixture->mutex);
    if (stops)
        consumer_ask_to_stop(fixture->consumer);
    return true;
}

static void release_log(void *context)
{
    (void)context;
}

static void interrupt(void *context)
{
    struct fixture *fixture = context;
    pthread_mutex_lock(&fixture->mutex);
    fixture->interrupted = true;
    pthread_mutex_unlock(&fixture->mutex);
}

static bool take(void *context, uint64_t sequence, const struct change_record *record)
{
    (void)record;
    *(uint64_t *)context = sequence;
    return true;
}

/* False if the work failed. */
static bool work(struct fixture *fixture, uint64_t partition, uint64_t sequence)
{
    size_t index = (size_t)(partition - partitions[0]);
    pthread_mutex_lock(&fixture->mutex);
    bool fails = fixture->stuck == partition;
    if (fails)
        fixture->failures++;
    else
        fixture->seen[index][fixture->seen_count[index]++] = sequence;
    pthread_cond_broadcast(&fixture->changed);
    pthread_mutex_unlock(&fixture->mutex);
    return !fails;
}

static int64_t take_turn(void *context, struct consumer_turn *turn)
{
    struct consumer_found found;
    uint64_t sequence = 0;
    struct log_page page = { .count_max = 1, .visit = take, .context = &sequence };
    int64_t wait_ms;
    if (consumer_read(turn, &page, &found) != ENGINE_OK)
        return consumer_hold_up(turn, "reading", "failed");
    if (page.next == turn->progress->next)
        return found.ended ? TIMED_WAIT_FOREVER : consumer_idle_ms(turn);
    turn->found_work = true;
    if (sequence != 0 && !work(context, turn->partition, sequence)) {
        turn->progress->due_ms = consumer_now_ms() + 1;
        return 1;
    }
    if (consumer_store(turn, page.next, &wait_ms))
        turn->progress->next = page.next;
    return wait_ms;
}

static struct engine_address guard(void)
{
    return (struct engine_address){ .place = consumer_position_place, .key = BYTES("D-guard") };
}

static void start(struct fixture *fixture)
{
    fixture->consumer = consumer_start(
        &(struct consumer_options){ .engine = fixture->engine,
                                    .area = "test",
                                    .uuid = uuid,
                                    .guard = guard(),
                                    .progress_size = sizeof(struct consumer_progress),
                                    .context = fixture,
                                    .find_log = find_log,
                                    .release_log = release_log,
                                    .turn = take_turn,
                                    .interrupt = interrupt });
    assert_non_null(fixture->consumer);
}

static void await_seen(struct fixture *fixture, size_t index, size_t count)
{
    pthread_mutex_lock(&fixture->mutex);
    while (fixture->seen_count[index] < count)
        pthread_cond_wait(&fixture->changed, &fixture->mutex);
    pthread_mutex_unlock(&fixture->mutex);
}

/* --- The log --- */

static struct engine_write *begin(struct fixture *fixture, const struct engine_address *address)
{
    struct engine_write *write;
    assert_int_equal(engine_write_begin(fixture->engine, address, address == NULL ? 0 : 1, &write),
                     ENGINE_OK);
    return write;
}

static void append(struct fixture *fixture, uint64_t partition)
{
    struct change_record record = { .event = CHANGE_INSERT,
                                    .keys = item_fixture_read(fixture->arena, "{'p':{'S':'a'}}") };
    assert_true(log_fixture_append(fixture->engine, fixture->arena, &fixture->clock, LOG_ID,
                                   partition, &record));
}

static void close_log(struct fixture *fixture)
{
    for (size_t i = 0; i < COUNT_OF(partitions); i++)
        log_fixture_close(fixture->engine, fixture->arena, LOG_ID, partitions[i]);
    pthread_mutex_lock(&fixture->mutex);
    fixture->closed = true;
    pthread_mutex_unlock(&fixture->mutex);
}

/* Splits a partition: its shard ends and has two children. */
static void split_partition(struct fixture *fixture, uint64_t parent, uint64_t child)
{
    const struct engine_address addresses[] = { change_log_head_address(LOG_ID, parent),
                                                change_log_head_address(LOG_ID, child) };
    struct change_log_head heads[2];
    struct shard ended;
    struct engine_view *view;
    struct engine_write *write;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_write_begin(fixture->engine, addresses, 2, &write), ENGINE_OK);
    assert_int_equal(change_log_read_head(write, &addresses[0], &heads[0]), ENGINE_OK);
    assert_int_equal(
        shard_end(fixture->arena, view, write, LOG_ID, parent, &heads[0], 1000, 1000, &ended),
        ENGINE_OK);
    heads[1] = heads[0];
    shard_begin(fixture->arena, write, LOG_ID, parent, &heads[0], &ended, 1000);
    shard_begin(fixture->arena, write, LOG_ID, child, &heads[1], &ended, 1000);
    for (size_t i = 0; i < 2; i++)
        change_log_put_head(write, &addresses[i], &heads[i]);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    engine_view_close(view);
    pthread_mutex_lock(&fixture->mutex);
    fixture->split_count++;
    pthread_mutex_unlock(&fixture->mutex);
}

static void split_log(struct fixture *fixture)
{
    split_partition(fixture, partitions[0], CHILD);
}

static uint64_t position(struct fixture *fixture, struct bytes of, uint64_t partition)
{
    struct engine_view *view;
    uint64_t next;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(consumer_position_get(fixture->arena, view, of, partition, &next), ENGINE_OK);
    engine_view_close(view);
    return next;
}

static void set_guard(struct fixture *fixture, bool is_there)
{
    const struct engine_address address = guard();
    struct engine_write *write = begin(fixture, &address);
    if (is_there)
        engine_write_put(write, &address, BYTES("x"));
    else
        engine_write_delete(write, &address);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = arena_create();
    fixture->engine = reference_engine_create();
    fixture->clock = clock_fixed(1000);
    pthread_mutex_init(&fixture->mutex, NULL);
    pthread_cond_init(&fixture->changed, NULL);
    set_guard(fixture, true);
    for (size_t i = 0; i < COUNT_OF(partitions); i++)
        log_fixture_open(fixture->engine, fixture->arena, LOG_ID, partitions[i]);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    consumer_stop(fixture->consumer);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    pthread_cond_destroy(&fixture->changed);
    pthread_mutex_destroy(&fixture->mutex);
    free(fixture);
    return 0;
}

/* --- Rules --- */

static void each_partition_is_consumed_in_order_and_resumed_where_it_was(void **state)
{
    enum { EACH = 5 };
    struct fixture *fixture = *state;
    for (int round = 1; round <= 3; round++) {
        start(fixture);
        for (size_t i = 0; i < EACH * COUNT_OF(partitions); i++)
            append(fixture, partitions[i % COUNT_OF(partitions)]);
        for (size_t i = 0; i < COUNT_OF(partitions); i++)
            await_seen(fixture, i, (size_t)round * EACH);
        consumer_stop(fixture->consumer); /* After the turn, so the position is stored. */
        fixture->consumer = NULL;
        for (size_t i = 0; i < COUNT_OF(partitions); i++)
            assert_int_equal(position(fixture, uuid, partitions[i]), FIRST + round * EACH);
    }
    for (size_t i = 0; i < COUNT_OF(partitions); i++) {
        assert_int_equal(fixture->seen_count[i], 3 * EACH);
        for (size_t j = 0; j < 3 * EACH; j++)
            assert_int_equal(fixture->seen[i][j], FIRST + j);
    }
    assert_true(fixture->interrupted);
}

static void a_partition_that_fails_does_not_hold_up_the_others(void **state)
{
    struct fixture *fixture = *state;
    fixture->stuck = partitions[0];
    append(fixture, partitions[0]);
    append(fixture, partitions[1]);
    start(fixture);
    await_seen(fixture, 1, 1);
    pthread_mutex_lock(&fixture->mutex);
    while (fixture->failures < 3)
        pthread_cond_wait(&fixture->changed, &fixture->mutex);
    assert_int_equal(fixture->seen_count[0], 0);
    fixture->stuck = NO_PARTITION;
    pthread_mutex_unlock(&fixture->mutex);
    await_seen(fixture, 0, 1);
    assert_int_equal(fixture->seen[0][0], FIRST);
}

static void set_stuck(struct fixture *fixture, uint64_t partition)
{
    pthread_mutex_lock(&fixture->mutex);
    fixture->stuck = partition;
    fixture->failures = 0;
    pthread_mutex_unlock(&fixture->mutex);
}

static void await_failures(struct fixture *fixture, unsigned count)
{
    pthread_mutex_lock(&fixture->mutex);
    while (fixture->failures < count)
        pthread_cond_wait(&fixture->changed, &fixture->mutex);
    pthread_mutex_unlock(&fixture->mutex);
}

static void stop(struct fixture *fixture)
{
    consumer_stop(fixture->consumer);
    fixture->consumer = NULL;
}

/* Changes of the same items lie in both. */
static void a_partition_that_was_split_off_waits_for_its_parent(void **state)
{
    struct fixture *fixture = *state;
    fixture->stuck = partitions[0];
    append(fixture, partitions[0]);
    append(fixture, partitions[0]);
    split_log(fixture);
    append(fixture, CHILD);
    append(fixture, partitions[1]);
    start(fixture);
    await_seen(fixture, 1, 1);
    await_failures(fixture, 3);
    stop(fixture);
    assert_int_equal(fixture->seen_count[2], 0);
    assert_int_equal(position(fixture, uuid, CHILD), 0);
    fixture->stuck = NO_PARTITION;
    start(fixture);
    await_seen(fixture, 0, 2);
    await_seen(fixture, 2, 1);
    assert_int_equal(fixture->seen[2][0], FIRST + 3); /* Behind its shard's opening. */

    /* Once begun, it does not wait for what its parent's partition gets later. */
    stop(fixture);
    set_stuck(fixture, partitions[0]);
    append(fixture, partitions[0]);
    append(fixture, CHILD);
    start(fixture);
    await_failures(fixture, 1);
    await_seen(fixture, 2, 2);
    assert_int_equal(fixture->seen[2][1], FIRST + 4);
}

/* The one in between has no records before the second split, so nothing of it is left to read. */
static void a_partition_waits_for_its_grandparent(void **state)
{
    struct fixture *fixture = *state;
    fixture->stuck = partitions[0];
    append(fixture, partitions[0]);
    split_log(fixture);
    split_partition(fixture, CHILD, GRANDCHILD);
    append(fixture, CHILD);
    append(fixture, GRANDCHILD);
    start(fixture);
    await_failures(fixture, 3);
    stop(fixture);
    assert_int_equal(fixture->seen_count[2], 0);
    assert_int_equal(fixture->seen_count[3], 0);
    set_stuck(fixture, NO_PARTITION);
    start(fixture);
    await_seen(fixture, 0, 1);
    await_seen(fixture, 2, 1);
    await_seen(fixture, 3, 1);
}

static void a_running_consumer_follows_a_split(void **state)
{
    struct fixture *fixture = *state;
    start(fixture);
    append(fixture, partitions[0]);
    await_seen(fixture, 0, 1);
    split_log(fixture);
    append(fixture, CHILD);
    append(fixture, partitions[0]);
    await_seen(fixture, 0, 2);
    await_seen(fixture, 2, 1);
    append(fixture, CHILD);
    await_seen(fixture, 2, 2);
}

static void an_idle_parent_holds_nobody_up(void **state)
{
    struct fixture *fixture = *state;
    split_log(fixture);
    append(fixture, CHILD);
    start(fixture);
    await_seen(fixture, 2, 1);
    stop(fixture);
    assert_int_equal(position(fixture, uuid, CHILD), FIRST + 2);
}

static void a_consumer_whose_owner_was_removed_stores_nothing_and_stops(void **state)
{
    struct fixture *fixture = *state;
    set_guard(fixture, false);
    append(fixture, partitions[0]);
    start(fixture);
    await_seen(fixture, 0, 1);
    while (!consumer_has_stopped(fixture->consumer))
        usleep(1000);
    assert_int_equal(position(fixture, uuid, partitions[0]), 0);
    assert_int_equal(fixture->seen_count[0], 1);
    assert_true(fixture->interrupted);
}

static void a_consumer_ends_with_its_log(void **state)
{
    struct fixture *fixture = *state;
    append(fixture, partitions[1]);
    start(fixture);
    await_seen(fixture, 1, 1);
    assert_false(consumer_has_ended(fixture->consumer));
    close_log(fixture);
    while (!consumer_has_ended(fixture->consumer))
        usleep(1000);
    assert_false(consumer_has_stopped(fixture->consumer)); /* It waits to be asked. */
}

static void a_consumer_that_is_asked_to_stop_has_not_ended(void **state)
{
    struct fixture *fixture = *state;
    append(fixture, partitions[1]);
    start(fixture);
    await_seen(fixture, 1, 1);
    pthread_mutex_lock(&fixture->mutex);
    fixture->stops_itself = true;
    pthread_mutex_unlock(&fixture->mutex);
    while (!consumer_has_stopped(fixture->consumer))
        usleep(1000);
    assert_false(consumer_has_ended(fixture->consumer));
}

static void positions_are_apart_and_go_together(void **state)
{
    struct fixture *fixture = *state;
    struct engine_write *write = begin(fixture, NULL);
    consumer_position_put(fixture->arena, write, uuid, partitions[0], 7);
    consumer_position_put(fixture->arena, write, uuid, partitions[1], 8);
    consumer_position_put(fixture->arena, write, other_uuid, partitions[0], 9);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_int_equal(position(fixture, uuid, partitions[0]), 7);
    assert_int_equal(position(fixture, uuid, partitions[1]), 8);
    assert_int_equal(position(fixture, other_uuid, partitions[1]), 0); /* None is stored. */
    write = begin(fixture, NULL);
    consumer_position_delete_all(fixture->arena, write, uuid);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_int_equal(position(fixture, uuid, partitions[0]), 0);
    assert_int_equal(position(fixture, uuid, partitions[1]), 0);
    assert_int_equal(position(fixture, other_uuid, partitions[0]), 9);
}

static void a_damaged_position_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct engine_write *write = begin(fixture, NULL);
    struct engine_range range = { .place = consumer_position_place, .first = BYTES("P") };
    struct engine_view *view;
    struct engine_scan *scan;
    struct engine_entry entry;
    struct consumer_position read;
    consumer_position_put(fixture->arena, write, uuid, partitions[0], 7);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
    assert_true(consumer_position_open_entry(&entry, &read));
    assert_true(bytes_equal(read.uuid, uuid) && read.partition == partitions[0] && read.next == 7);
    for (size_t at = 0; at < entry.value.len; at++) {
        uint8_t *bytes = (uint8_t *)arena_copy(fixture->arena, entry.value).data;
        bytes[at] ^= 1;
        struct engine_entry damaged = { .key = entry.key,
                                        .value = bytes_of(bytes, entry.value.len) };
        assert_false(consumer_position_open_entry(&damaged, &read));
        damaged.value = bytes_of(entry.value.data, at);
        assert_false(consumer_position_open_entry(&damaged, &read));
    }
    engine_scan_close(scan);
    engine_view_close(view);
}

static void the_pause_between_retries_doubles_up_to_its_bound(void **state)
{
    (void)state;
    struct random random;
    int64_t bound_ms = CONSUMER_BACKOFF_MIN_MS;
    random_init(&random, 1);
    for (int64_t failures = 1; failures < 100; failures++) {
        for (int i = 0; i < 50; i++) {
            int64_t pause_ms = consumer_backoff_ms(failures, &random);
            assert_true(pause_ms >= bound_ms / 2 && pause_ms <= bound_ms);
        }
        bound_ms = bound_ms * 2 < CONSUMER_BACKOFF_MAX_MS ? bound_ms * 2 : CONSUMER_BACKOFF_MAX_MS;
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(each_partition_is_consumed_in_order_and_resumed_where_it_was),
        RULE(a_partition_that_fails_does_not_hold_up_the_others),
        RULE(a_partition_that_was_split_off_waits_for_its_parent),
        RULE(a_partition_waits_for_its_grandparent),
        RULE(a_running_consumer_follows_a_split),
        RULE(an_idle_parent_holds_nobody_up),
        RULE(a_consumer_whose_owner_was_removed_stores_nothing_and_stops),
        RULE(a_consumer_ends_with_its_log),
        RULE(a_consumer_that_is_asked_to_stop_has_not_ended),
        RULE(positions_are_apart_and_go_together),
        RULE(a_damaged_position_is_refused),
        cmocka_unit_test(the_pause_between_retries_doubles_up_to_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
