/* test_job_record.c -- records of long work: stored whole, found by kind, time and token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "jobs/job_record.h"

enum { DAY_MS = 86400000 };

struct fixture {
    struct engine_fixture engine;
    struct arena *arena;
    struct clock clock;
};
static struct fixture fixture;

static int set_up(void **state)
{
    (void)state;
    fixture = (struct fixture){ .arena = arena_create() };
    fixture.clock = clock_fixed(INT64_C(1700000000000));
    engine_fixture_open(&fixture.engine, ENGINE_FIXTURE_REFERENCE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    engine_fixture_close(&fixture.engine);
    arena_destroy(fixture.arena);
    return 0;
}

static struct job_record record_at(enum job_letter letter, int64_t created_ms, uint32_t salt)
{
    struct job_record record = { .letter = letter,
                                 .created_ms = created_ms,
                                 .created_server_ms = clock_server_ms(&fixture.clock) };
    job_record_make_id(created_ms, salt, record.id);
    return record;
}

static void store(const struct job_record *record)
{
    assert_int_equal(job_record_store(fixture.engine.engine, fixture.arena, record), ENGINE_OK);
}

static void record_is_read_as_it_was_stored(void **state)
{
    (void)state;
    struct job_record record = record_at(JOB_EXPORT, INT64_C(1763300000123), 0xabc);
    struct job_record read;
    assert_string_equal(record.id, "01763300000123-00000abc");
    record.state = JOB_FAILED;
    record.ended_ms = INT64_C(1763300000999);
    record.table_name = BYTES("orders");
    record.table_uuid = BYTES("0b5a9a4e-6b36-4cbb-9d0a-0123456789ab");
    record.source_id = 7;
    record.hold_us = INT64_C(1763300000123000);
    record.token = BYTES("a token");
    record.request = BYTES("\x00\x01\xff");
    record.caller = BYTES("somebody");
    record.progress = (struct job_progress){ 1, 2, 3, 4, 5 };
    record.position = BYTES("\x00position\x00");
    record.detail = BYTES("{\"a\":1}");
    record.failure_code = BYTES("S3NoSuchBucket");
    record.failure_message = BYTES("The specified bucket does not exist");
    store(&record);
    assert_int_equal(job_record_load(fixture.engine.engine, fixture.arena, JOB_EXPORT,
                                     bytes_from_text(record.id), &read),
                     ENGINE_OK);
    assert_string_equal(read.id, record.id);
    assert_int_equal(read.state, JOB_FAILED);
    assert_int_equal(read.created_ms, record.created_ms);
    assert_int_equal(read.ended_ms, record.ended_ms);
    assert_int_equal(read.source_id, 7);
    assert_int_equal(read.hold_us, record.hold_us);
    assert_memory_equal(&read.progress, &record.progress, sizeof read.progress);
    const struct bytes pairs[][2] = {
        { read.table_name, record.table_name },
        { read.table_uuid, record.table_uuid },
        { read.token, record.token },
        { read.request, record.request },
        { read.caller, record.caller },
        { read.position, record.position },
        { read.detail, record.detail },
        { read.failure_code, record.failure_code },
        { read.failure_message, record.failure_message },
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        assert_true(bytes_equal(pairs[i][0], pairs[i][1]));
    assert_int_equal(job_record_load(fixture.engine.engine, fixture.arena, JOB_IMPORT,
                                     bytes_from_text(record.id), &read),
                     ENGINE_NOT_FOUND);
    assert_int_equal(job_record_remove(fixture.engine.engine, fixture.arena, JOB_EXPORT,
                                       bytes_from_text(record.id)),
                     ENGINE_OK);
    assert_int_equal(job_record_load(fixture.engine.engine, fixture.arena, JOB_EXPORT,
                                     bytes_from_text(record.id), &read),
                     ENGINE_NOT_FOUND);
}

static void only_an_id_is_an_id(void **state)
{
    (void)state;
    assert_true(job_record_is_id(BYTES("01763300000123-00000abc")));
    assert_false(job_record_is_id(BYTES("01763300000123-00000ABC")));
    assert_false(job_record_is_id(BYTES("01763300000123-00000ab")));
    assert_false(job_record_is_id(BYTES("01763300000123000000abc")));
    assert_false(job_record_is_id(BYTES("0176330000012a-00000abc")));
    assert_false(job_record_is_id(BYTES("")));
}

static void damaged_record_is_refused(void **state)
{
    (void)state;
    struct job_record record = record_at(JOB_BULK, 5, 1), read;
    struct engine_address address =
        job_record_address(fixture.arena, JOB_BULK, bytes_from_text(record.id));
    struct bytes stored = job_record_encode(fixture.arena, &record).encoded;
    assert_true(job_record_decode(fixture.arena, address.key, stored, &read));
    for (size_t i = 0; i < stored.len; i++) {
        uint8_t *copy = (uint8_t *)arena_copy(fixture.arena, stored).data;
        copy[i] ^= 0x40;
        assert_false(
            job_record_decode(fixture.arena, address.key, bytes_of(copy, stored.len), &read));
    }
    assert_false(
        job_record_decode(fixture.arena, BYTES("Z00000000000005-00000001"), stored, &read));
    engine_fixture_put(fixture.engine.engine, job_record_place, address.key, BYTES("garbage"));
    assert_int_equal(job_record_load(fixture.engine.engine, fixture.arena, JOB_BULK,
                                     bytes_from_text(record.id), &read),
                     ENGINE_CORRUPT);
}

/* Appends the last digit of each id's time. */
static bool note(void *context, const struct job_record *record)
{
    char *text = context;
    size_t size = strlen(text);
    text[size] = record->id[13];
    text[size + 1] = '\0';
    return size + 1 < 3;
}

static void records_are_visited_by_kind_and_time(void **state)
{
    (void)state;
    for (int i = 1; i <= 5; i++) {
        struct job_record record = record_at(JOB_EXPORT, i, 1), other = record_at(JOB_IMPORT, i, 1);
        store(&record);
        store(&other);
    }
    static const struct {
        int64_t first_ms, end_ms;
        const char *after;
        bool newest_first;
        const char *want;
    } cases[] = {
        { 0, 0, NULL, false, "123" },
        { 0, 0, NULL, true, "543" },
        { 2, 4, NULL, false, "23" },
        { 2, 4, NULL, true, "32" },
        { 0, 0, "00000000000003-00000001", false, "45" },
        { 0, 0, "00000000000003-00000000", false, "345" },
        { 0, 0, "00000000000003-00000001", true, "21" },
        { 4, 0, "00000000000001-00000001", false, "45" },
        { 0, 3, "00000000000009-00000001", true, "21" },
        { 6, 0, NULL, false, "" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char got[16] = "";
        struct job_record_query query = { .letter = JOB_EXPORT,
                                          .first_ms = cases[i].first_ms,
                                          .end_ms = cases[i].end_ms,
                                          .newest_first = cases[i].newest_first,
                                          .visit = note,
                                          .context = got };
        if (cases[i].after != NULL)
            query.after = bytes_from_text(cases[i].after);
        assert_int_equal(job_record_visit(fixture.engine.engine, &query), ENGINE_OK);
        assert_string_equal(got, cases[i].want);
    }
    size_t count;
    assert_int_equal(job_record_count(fixture.engine.engine, JOB_EXPORT, &count), ENGINE_OK);
    assert_int_equal(count, 5);
}

static void damaged_record_hides_no_other(void **state)
{
    (void)state;
    char got[16] = "";
    struct job_record record = record_at(JOB_EXPORT, 3, 1), damaged = record_at(JOB_EXPORT, 2, 1);
    struct engine_address address =
        job_record_address(fixture.arena, JOB_EXPORT, bytes_from_text(damaged.id));
    store(&record);
    engine_fixture_put(fixture.engine.engine, job_record_place, address.key, BYTES("garbage"));
    assert_int_equal(job_record_visit(fixture.engine.engine,
                                      &(struct job_record_query){
                                          .letter = JOB_EXPORT, .visit = note, .context = got }),
                     ENGINE_OK);
    assert_string_equal(got, "3");
}

static void remove_old(struct job_record_sweep *sweep, bool *more)
{
    assert_int_equal(job_record_remove_old(fixture.engine.engine, &fixture.clock, sweep, more),
                     ENGINE_OK);
}

static size_t count_of(enum job_letter letter)
{
    size_t count;
    assert_int_equal(job_record_count(fixture.engine.engine, letter, &count), ENGINE_OK);
    return count;
}

static void ended_records_go_after_ninety_days_except_backups(void **state)
{
    (void)state;
    bool more;
    struct job_record_sweep sweep = { 0 };
    struct job_record ended = record_at(JOB_EXPORT, 100, 1),
                      running = record_at(JOB_EXPORT, 200, 1);
    struct job_record backup = record_at(JOB_BACKUP, 100, 1), failed = record_at(JOB_BACKUP, 99, 1),
                      making = record_at(JOB_BACKUP, 101, 1);
    ended.state = backup.state = JOB_COMPLETED;
    failed.state = JOB_FAILED;
    store(&ended);
    store(&running);
    store(&backup);
    store(&failed);
    store(&making);
    fixture.clock.fixed_ms += (int64_t)DAY_MS * JOB_RECORD_LIFETIME_DAYS - 1;
    remove_old(&sweep, &more);
    assert_int_equal(count_of(JOB_EXPORT), 2);
    assert_int_equal(count_of(JOB_BACKUP), 3);
    fixture.clock.fixed_ms += 1;
    remove_old(&sweep, &more);
    assert_false(more);
    assert_int_equal(count_of(JOB_EXPORT), 1);
    assert_int_equal(count_of(JOB_BACKUP), 2); /* Without the one that failed. */
}

static void old_backups_are_looked_at_in_steps(void **state)
{
    (void)state;
    bool more = true;
    int rounds = 0;
    struct job_record_sweep sweep = { 0 };
    for (int i = 0; i <= JOB_SWEEP_VISITS_MAX; i++) {
        struct job_record backup = record_at(JOB_BACKUP, i + 1, 1);
        backup.state = i == JOB_SWEEP_VISITS_MAX ? JOB_FAILED : JOB_COMPLETED;
        store(&backup);
    }
    fixture.clock.fixed_ms += (int64_t)DAY_MS * JOB_RECORD_LIFETIME_DAYS;
    for (; more; rounds++) {
        remove_old(&sweep, &more);
        assert_int_equal(count_of(JOB_BACKUP), JOB_SWEEP_VISITS_MAX + (rounds == 0));
    }
    assert_int_equal(rounds, 2);
    assert_string_equal(sweep.after, ""); /* The next sweep begins anew. */
}

static void a_request_to_cancel_is_stored_beside_the_record(void **state)
{
    (void)state;
    bool found;
    struct job_record record = record_at(JOB_BULK, 5, 1);
    struct bytes id = bytes_from_text(record.id);
    store(&record);
    assert_int_equal(job_cancel_find(fixture.engine.engine, id, &found), ENGINE_OK);
    assert_false(found);
    assert_int_equal(job_cancel_store(fixture.engine.engine, &fixture.clock, id), ENGINE_OK);
    assert_int_equal(job_cancel_find(fixture.engine.engine, id, &found), ENGINE_OK);
    assert_true(found);
    assert_int_equal(count_of(JOB_BULK), 1);
    assert_int_equal(job_cancel_remove(fixture.engine.engine, id), ENGINE_OK);
    assert_int_equal(job_cancel_find(fixture.engine.engine, id, &found), ENGINE_OK);
    assert_false(found);
    struct engine_address address = job_cancel_address(fixture.arena, id);
    assert_false(job_cancel_decode(address.key, BYTES("garbage")));
    assert_false(
        job_cancel_decode(BYTES("Cshort"), job_record_encode(fixture.arena, &record).encoded));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(record_is_read_as_it_was_stored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_an_id_is_an_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_record_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(records_are_visited_by_kind_and_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_record_hides_no_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_backups_are_looked_at_in_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_to_cancel_is_stored_beside_the_record, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ended_records_go_after_ninety_days_except_backups, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
