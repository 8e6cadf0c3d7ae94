/* test_check_stream.c -- damage to change logs, shards and streams is found and named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "check_fixture.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "log/log_layout.h"
#include "log/shard.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"

enum { PROBLEMS_MAX = 8, CHANGES = 6 };

/* The only stream of the store, and a partition of it that has records: 2 and 3, the end of the
 * shard, then 5, 6 and 7 of its child. */
struct log_fixture {
    struct check_fixture check;
    struct arena *arena;
    uint64_t log_id;
    uint64_t partition;
};

static void call(struct check_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(&fixture->api, operation, body))
        fail_msg("%s %s\n%.*s", operation, body, BYTES_FMT(fixture->api.error.message));
}

static void put(struct check_fixture *fixture, int n)
{
    char body[256];
    snprintf(body, sizeof body, "{'TableName':'streamed','Item':{'pk':{'S':'a'},'n':{'N':'%d'}}}",
             n);
    call(fixture, "PutItem", body);
}

/* The place of the log's partition that has records. */
static void find_log(struct log_fixture *fixture)
{
    struct engine_view *view;
    struct engine_place place;
    assert_int_equal(engine_view_open(fixture->check.engine, ENGINE_STRONG, &view), ENGINE_OK);
    enum engine_status status = engine_view_next_place(view, NULL, &place);
    for (; status == ENGINE_OK; status = engine_view_next_place(view, &place, &place)) {
        struct engine_address head = change_log_head_address(place.owner, place.partition);
        struct change_log_head read;
        if (place.space != ENGINE_SPACE_CHANGES || place.owner == streams_place.owner)
            continue;
        assert_int_equal(change_log_view_head(view, &head, &read), ENGINE_OK);
        if (read.next > 5) {
            fixture->log_id = place.owner;
            fixture->partition = place.partition;
        }
    }
    engine_view_close(view);
    assert_int_not_equal(fixture->log_id, 0);
}

static void open_fixture(struct log_fixture *fixture)
{
    *fixture = (struct log_fixture){ .arena = arena_create() };
    check_fixture_open(&fixture->check);
    call(&fixture->check, "CreateTable",
         "{'TableName':'streamed','AttributeDefinitions':[{'AttributeName':'pk',"
         "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
         "'BillingMode':'PAY_PER_REQUEST',"
         "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'}}");
    put(&fixture->check, 1);
    put(&fixture->check, 2);
    fixture->check.api.clock.fixed_ms += 4 * 60 * 60 * 1000;
    call(&fixture->check, "CreateTable", /* What is due by the clock is done with it. */
         "{'TableName':'other','AttributeDefinitions':[{'AttributeName':'pk',"
         "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
         "'BillingMode':'PAY_PER_REQUEST'}");
    for (int n = 3; n < CHANGES; n++)
        put(&fixture->check, n);
    find_log(fixture);
}

static void close_fixture(struct log_fixture *fixture)
{
    check_fixture_close(&fixture->check);
    arena_destroy(fixture->arena);
}

/* --- Damage --- */

static struct check_fixture_entry read_entry(struct log_fixture *fixture,
                                             struct engine_address address)
{
    struct engine_view *view;
    struct engine_value value = { 0 };
    assert_int_equal(engine_view_open(fixture->check.engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    struct check_fixture_entry entry = { .place = address.place,
                                         .key = address.key,
                                         .value = arena_copy(fixture->arena, value.bytes) };
    engine_value_release(&value);
    engine_view_close(view);
    return entry;
}

static struct engine_address record_address(struct log_fixture *fixture, uint64_t sequence)
{
    return change_log_record_address(fixture->arena, fixture->log_id, fixture->partition, sequence);
}

static void remove_record(struct log_fixture *fixture)
{
    struct check_fixture_entry entry = read_entry(fixture, record_address(fixture, 6));
    check_fixture_delete(&fixture->check, &entry);
}

static void remove_last_records(struct log_fixture *fixture)
{
    for (uint64_t sequence = 6; sequence <= 7; sequence++) {
        struct check_fixture_entry entry = read_entry(fixture, record_address(fixture, sequence));
        check_fixture_delete(&fixture->check, &entry);
    }
}

static void flip_record(struct log_fixture *fixture)
{
    struct check_fixture_entry entry =
        check_fixture_flip(&fixture->check, read_entry(fixture, record_address(fixture, 3)));
    check_fixture_put(&fixture->check, &entry);
}

/* Number 4 is the beginning of a shard. */
static void add_records(struct log_fixture *fixture)
{
    static const uint64_t numbers[] = { 4, 8 };
    struct check_fixture_entry entry = read_entry(fixture, record_address(fixture, 3));
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        entry.key = record_address(fixture, numbers[i]).key;
        check_fixture_put(&fixture->check, &entry);
    }
}

static void swap_times(struct log_fixture *fixture)
{
    struct check_fixture_entry entry = read_entry(fixture, record_address(fixture, 2));
    entry.key = record_address(fixture, 6).key;
    check_fixture_put(&fixture->check, &entry);
}

static void swap_server_times(struct log_fixture *fixture)
{
    struct check_fixture_entry entry = read_entry(fixture, record_address(fixture, 6));
    struct change_record record;
    assert_true(change_record_decode(entry.value, &record));
    record.server_ms = 1;
    entry.value = change_record_encode(fixture->arena, &record);
    check_fixture_put(&fixture->check, &entry);
}

static struct shard read_shard(struct log_fixture *fixture, uint64_t first)
{
    struct engine_view *view;
    struct shard shard;
    assert_int_equal(engine_view_open(fixture->check.engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(
        shard_get(fixture->arena, view, fixture->log_id, fixture->partition, first, &shard),
        ENGINE_OK);
    engine_view_close(view);
    return shard;
}

static void put_shard(struct log_fixture *fixture, const struct shard *shard)
{
    struct engine_write *write;
    assert_int_equal(engine_write_begin(fixture->check.engine, NULL, 0, &write), ENGINE_OK);
    shard_put(fixture->arena, write, fixture->log_id, shard);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void reopen_parent(struct log_fixture *fixture)
{
    struct shard shard = read_shard(fixture, 1);
    shard.last = 0;
    put_shard(fixture, &shard);
}

static void shorten_parent(struct log_fixture *fixture)
{
    struct shard shard = read_shard(fixture, 1);
    shard.last--;
    put_shard(fixture, &shard);
}

static void rename_parent(struct log_fixture *fixture)
{
    struct shard shard = read_shard(fixture, 4);
    shard.parent_created_ms++;
    put_shard(fixture, &shard);
}

static void put_head(struct log_fixture *fixture, void (*change)(struct change_log_head *head))
{
    struct engine_address address = change_log_head_address(fixture->log_id, fixture->partition);
    struct engine_write *write;
    struct change_log_head head;
    assert_int_equal(engine_write_begin(fixture->check.engine, &address, 1, &write), ENGINE_OK);
    assert_int_equal(change_log_read_head(write, &address, &head), ENGINE_OK);
    change(&head);
    change_log_put_head(write, &address, &head);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void close_it(struct change_log_head *head)
{
    head->open = false;
}

static void close_head(struct log_fixture *fixture)
{
    put_head(fixture, close_it);
}

static void advance_it(struct change_log_head *head)
{
    head->next += 2;
}

static void advance_head(struct log_fixture *fixture)
{
    put_head(fixture, advance_it);
}

static void damage_head(struct log_fixture *fixture)
{
    struct check_fixture_entry entry = check_fixture_flip(
        &fixture->check,
        read_entry(fixture, change_log_head_address(fixture->log_id, fixture->partition)));
    check_fixture_put(&fixture->check, &entry);
}

static void put_unknown(struct log_fixture *fixture)
{
    struct check_fixture_entry entry = { .place =
                                             change_log_place(fixture->log_id, fixture->partition),
                                         .key = BYTES("X"),
                                         .value = BYTES("x") };
    check_fixture_put(&fixture->check, &entry);
    entry.place.partition = 7777;
    check_fixture_put(&fixture->check, &entry);
}

static void damage_stream(struct log_fixture *fixture)
{
    uint8_t *key = arena_alloc(fixture->arena, 8);
    store_u64_be(key, fixture->log_id);
    struct engine_address address = { .place = streams_place, .key = bytes_of(key, 8) };
    struct check_fixture_entry entry =
        check_fixture_flip(&fixture->check, read_entry(fixture, address));
    check_fixture_put(&fixture->check, &entry);
}

#define LOG "stream streamed/*, partition [0-9]*"

static const struct {
    const char *name;
    void (*damage)(struct log_fixture *fixture);
    const char *want[PROBLEMS_MAX];
} cases[] = {
    { "a record is gone", remove_record, { LOG ", record 6: is missing" } },
    { "the last records are gone", remove_last_records, { LOG ", record 6: is missing" } },
    { "a damaged record", flip_record, { LOG ", record 3: is damaged" } },
    { "records of no shard",
      add_records,
      { LOG ", record 4: belongs to no shard", LOG ", record 8: belongs to no shard" } },
    { "a record of another time", swap_times, { LOG ", record 6: is older than the one before" } },
    { "a record of another server time",
      swap_server_times,
      { LOG ", record 6: is older than the one before" } },
    { "a parent that is open",
      reopen_parent,
      { LOG ": a shard is open that has a child", LOG ", record 4: is missing",
        LOG ", record [58]: *" } },
    { "a gap between shards",
      shorten_parent,
      { LOG ": a shard does not begin where its parent ends",
        LOG ", record 3: belongs to no shard" } },
    { "another parent", rename_parent, { LOG ": a shard names another parent than its own" } },
    { "a closed head",
      close_head,
      { LOG ": is not open, and the stream is enabled",
        LOG ": its head and its newest shard do not agree on whether it is open" } },
    { "numbers that were never used", advance_head, { LOG ", record 8: is missing" } },
    { "a damaged head", damage_head, { LOG ": cannot be read: *" } },
    { "what nothing reads",
      put_unknown,
      { LOG ": a record of its log is damaged or unknown",
        "stream streamed/*, partition 7777, space 4: holds what nothing reads" } },
    { "a damaged stream",
      damage_stream,
      { "streams: record * is damaged or unknown",
        "owner [0-9]*: holds data that belongs to no table, index, stream, backup or dropped "
        "table" } },
};

static void each_kind_of_damage_is_found_and_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct log_fixture fixture;
        print_message("%s\n", cases[i].name);
        open_fixture(&fixture);
        cases[i].damage(&fixture);
        check_fixture_expect(&fixture.check, cases[i].want);
        close_fixture(&fixture);
    }
}

static void a_stream_in_every_state_is_whole(void **state)
{
    (void)state;
    static const char *const none[] = { NULL };
    struct log_fixture fixture;
    open_fixture(&fixture);
    check_fixture_expect(&fixture.check, none);
    call(&fixture.check, "UpdateTable",
         "{'TableName':'streamed','StreamSpecification':{'StreamEnabled':false}}");
    check_fixture_expect(&fixture.check, none);
    call(&fixture.check, "DeleteTable", "{'TableName':'streamed'}");
    check_fixture_expect(&fixture.check, none);
    close_fixture(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_damage_is_found_and_named),
        cmocka_unit_test(a_stream_in_every_state_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
