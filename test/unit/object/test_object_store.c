/* test_object_store.c -- the contract of object stores, on folders and on the fake S3 server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "object/object_parts.h"
#include "object_fixture.h"

static void put(struct object_fixture *fixture, const char *key, const char *body)
{
    struct object_error err;
    if (!object_put(fixture->bucket, bytes_from_text(key), bytes_from_text(body), &err))
        fail_msg("%s: %s", key, err.text);
}

static struct bytes get(struct object_fixture *fixture, const char *key)
{
    enum { SIZE_MAX_READ = 100000 };
    struct object_error err;
    size_t size;
    uint8_t *out = arena_alloc(fixture->arena, SIZE_MAX_READ);
    if (!object_read(fixture->bucket, bytes_from_text(key), (struct bytes){ 0 }, 0, out,
                     SIZE_MAX_READ, &size, &err))
        fail_msg("%s: %s", key, err.text);
    return bytes_of(out, size);
}

static void expect_keys(struct object_fixture *fixture, const char *prefix, const char *const *keys,
                        size_t count)
{
    struct object_page page;
    struct object_error err;
    if (!object_list(fixture->bucket, fixture->arena, bytes_from_text(prefix), BYTES(""), &page,
                     &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < page.count && i < count; i++)
        if (!bytes_equal_text(page.entries[i].key, keys[i]))
            fail_msg("'%.*s' instead of '%s'", BYTES_FMT(page.entries[i].key), keys[i]);
    assert_int_equal(page.count, count);
    assert_false(page.more);
}

static void an_object_is_read_as_it_was_put(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_entry entry;
    struct object_error err;
    put(fixture, "a/b.txt", "first");
    put(fixture, "a/b.txt", "second");
    put(fixture, "empty", "");
    assert_true(bytes_equal_text(get(fixture, "a/b.txt"), "second"));
    assert_true(bytes_equal_text(get(fixture, "empty"), ""));
    assert_true(object_stat(fixture->bucket, fixture->arena, BYTES("a/b.txt"), &entry, &err));
    assert_int_equal(entry.size, 6);
    assert_true(bytes_equal_text(entry.key, "a/b.txt"));
}

static void ranges_end_at_the_end_of_the_object(void **state)
{
    struct object_fixture *fixture = *state;
    static const struct {
        uint64_t offset;
        size_t size;
        const char *want;
    } cases[] = { { 0, 3, "012" },         { 3, 4, "3456" },       { 8, 10, "89" },
                  { 9, 1, "9" },           { 10, 5, "" },          { 1000, 5, "" },
                  { 0, 10, "0123456789" }, { 0, 11, "0123456789" } };
    put(fixture, "k", "0123456789");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint8_t out[16];
        size_t size = 99;
        struct object_error err;
        assert_true(object_read(fixture->bucket, BYTES("k"), (struct bytes){ 0 }, cases[i].offset,
                                out, cases[i].size, &size, &err));
        assert_true(bytes_equal_text(bytes_of(out, size), cases[i].want));
    }
}

static void what_is_missing_is_told_apart(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_error err;
    struct object_entry entry;
    uint8_t out[4];
    size_t size;
    put(fixture, "folder/file", "x");
    static const char *const keys[] = { "nothing", "no/thing", "folder", "folder/file/below" };
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        err.status = OBJECT_OK;
        assert_false(object_read(fixture->bucket, bytes_from_text(keys[i]), (struct bytes){ 0 }, 0,
                                 out, sizeof out, &size, &err));
        assert_int_equal(err.status, OBJECT_NO_KEY);
        assert_false(
            object_stat(fixture->bucket, fixture->arena, bytes_from_text(keys[i]), &entry, &err));
        assert_int_equal(err.status, OBJECT_NO_KEY);
    }
}

static void a_missing_bucket_fails_as_at_the_service(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_bucket_options options = { .name = BYTES("missing") };
    struct object_error err = { 0 };
    struct object_bucket *bucket = object_bucket_open(fixture->store, &options, &err);
    if (bucket != NULL)
        assert_false(object_put(bucket, BYTES("k"), BYTES("v"), &err));
    object_bucket_close(bucket);
    assert_int_equal(err.status, OBJECT_NO_BUCKET);
    assert_string_equal(object_failure_code(err.status), "S3NoSuchBucket");
    assert_non_null(strstr(err.text, "The specified bucket does not exist (Service: Amazon S3; "
                                     "Status Code: 404; Error Code: NoSuchBucket; Request ID: "));
}

static void a_bucket_is_its_owners(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_error err = { 0 };
    struct object_bucket_options options = { .name = BYTES("bucket"),
                                             .owner = BYTES("111111111111") };
    assert_null(object_bucket_open(fixture->store, &options, &err));
    assert_int_equal(err.status, OBJECT_DENIED);
    assert_string_equal(object_failure_code(err.status), "S3AccessDenied");
    options.owner = BYTES("000000000000");
    struct object_bucket *bucket = object_bucket_open(fixture->store, &options, &err);
    assert_non_null(bucket);
    object_bucket_close(bucket);
}

/* Kept by both kinds, though S3 itself would take some of them. */
static void keys_that_lead_elsewhere_are_refused(void **state)
{
    struct object_fixture *fixture = *state;
    char longest[OBJECT_KEY_SIZE_MAX + 2];
    struct object_error err;
    static const struct bytes keys[] = { BYTES(""),      BYTES(".."),     BYTES("../x"),
                                         BYTES("a/.."),  BYTES("a/../b"), BYTES("."),
                                         BYTES("a/./b"), BYTES("a\0b"),   BYTES("a\nb") };
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        assert_false(object_put(fixture->bucket, keys[i], BYTES("x"), &err));
        assert_int_equal(err.status, OBJECT_BAD_KEY);
    }
    for (size_t i = 0; i < sizeof longest; i++)
        longest[i] = i % 200 == 199 ? '/' : 'k';
    assert_true(
        object_put(fixture->bucket, bytes_of(longest, OBJECT_KEY_SIZE_MAX - 1), BYTES("x"), &err));
    assert_true(
        object_put(fixture->bucket, bytes_of(longest, OBJECT_KEY_SIZE_MAX), BYTES("x"), &err));
    assert_false(
        object_put(fixture->bucket, bytes_of(longest, OBJECT_KEY_SIZE_MAX + 1), BYTES("x"), &err));
    assert_int_equal(err.status, OBJECT_BAD_KEY);
}

static void any_text_can_be_a_key(void **state)
{
    struct object_fixture *fixture = *state;
    static const char *const keys[] = {
        " lead",        "!$&'()*,;=:@", "a b/c+d",   "a%20b",        "caf\xC3\xA9/\xF0\x9F\x98\x80",
        "percent%/%41", "q?uery#frag",  "~tilde_-.", "\xE2\x82\xAC",
    };
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        put(fixture, keys[i], keys[i]);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        assert_true(bytes_equal_text(get(fixture, keys[i]), keys[i]));
    expect_keys(fixture, "", keys, COUNT_OF(keys));
}

static void an_upload_appears_whole_when_it_is_finished(void **state)
{
    struct object_fixture *fixture = *state;
    static const struct {
        size_t size;
        const char *etag; /* By Python's hashlib. */
    } cases[] = {
        { 0, "59adb24ef3cdbe0297f05b395827453f-1" },
        { 1, "b6ff9a06b7e20bcb2858c5b8ff744aea-1" },
        { 1000, NULL },
        { 1001, NULL },
        { 2500, NULL },
        { 3000, NULL },
    };
    uint8_t content[3000];
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (uint8_t)('a' + i % 26);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct object_error err;
        struct object_written written;
        struct object_entry entry;
        struct object_upload *upload = object_upload_begin(fixture->bucket, BYTES("up/load"), &err);
        if (upload == NULL)
            fail_msg("%s", err.text);
        size_t split = cases[i].size / 3;
        assert_true(object_upload_write(upload, bytes_of(content, split), &err));
        expect_keys(fixture, "up/load", (const char *const[]){ "up/load" }, i > 0);
        assert_true(
            object_upload_write(upload, bytes_of(content + split, cases[i].size - split), &err));
        if (!object_upload_finish(upload, &written, &err))
            fail_msg("%s", err.text);
        assert_int_equal(written.size, cases[i].size);
        assert_true(bytes_equal(get(fixture, "up/load"), bytes_of(content, cases[i].size)));
        assert_true(object_stat(fixture->bucket, fixture->arena, BYTES("up/load"), &entry, &err));
        size_t parts = cases[i].size == 0 ? 1 : (cases[i].size + 999) / 1000;
        assert_int_equal(strtol(strchr(written.etag, '-') + 1, NULL, 10), parts);
        if (fixture->kind == OBJECT_FIXTURE_S3)
            assert_true(bytes_equal_text(entry.etag, written.etag));
        if (cases[i].etag != NULL)
            assert_string_equal(written.etag, cases[i].etag);
    }
}

static void an_aborted_upload_leaves_nothing(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_error err;
    uint8_t content[2500] = { 0 };
    put(fixture, "k", "old");
    struct object_upload *upload = object_upload_begin(fixture->bucket, BYTES("k"), &err);
    assert_non_null(upload);
    assert_true(object_upload_write(upload, bytes_of(content, sizeof content), &err));
    object_upload_abort(upload);
    assert_true(bytes_equal_text(get(fixture, "k"), "old"));
    expect_keys(fixture, "", (const char *const[]){ "k" }, 1);
    if (fixture->kind == OBJECT_FIXTURE_S3)
        assert_non_null(strstr((const char *)object_fixture_state(fixture).data, "\"uploads\": 0"));
}

static void what_a_crash_left_is_removed_by_folder_or_by_key(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_error err;
    static const char *const keys[] = { "x/data/1", "x/data/2", "y/1", "y/12", "x", "z" };
    struct object_upload *uploads[COUNT_OF(keys)];
    /* Never finished: a process that was killed. */
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (i == 4)
            continue;
        uploads[i] = object_upload_begin(fixture->bucket, bytes_from_text(keys[i]), &err);
        assert_non_null(uploads[i]);
    }
    assert_true(object_abort_uploads(fixture->bucket, BYTES("x/"), &err));
    assert_true(object_abort_uploads(fixture->bucket, BYTES("y/1"), &err));
    assert_true(object_abort_uploads(fixture->bucket, BYTES("no/such/"), &err));
    assert_true(object_abort_uploads(fixture->bucket, BYTES("no/such"), &err));
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct object_written written;
        if (i == 4)
            continue;
        bool survives = i == 3 || i == 5;
        assert_int_equal(object_upload_finish(uploads[i], &written, &err), survives);
    }
    static const char *const left[] = { "y/12", "z" };
    expect_keys(fixture, "", left, COUNT_OF(left));
}

static void a_deleted_object_is_gone(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_error err;
    put(fixture, "a/b", "x");
    assert_true(object_delete(fixture->bucket, BYTES("a/b"), &err));
    assert_true(object_delete(fixture->bucket, BYTES("a/b"), &err));
    assert_true(object_delete(fixture->bucket, BYTES("never/was"), &err));
    expect_keys(fixture, "", NULL, 0);
}

/* A folder sorts by its slash: "a.b" < "a/..." < "a0". */
static void lists_are_in_the_order_of_the_bytes_of_whole_keys(void **state)
{
    struct object_fixture *fixture = *state;
    static const char *const stored[] = { "A",     "a!b", "a-b", "a.b", "a/b",     "a/b-c",
                                          "a/c/d", "a0",  "aa",  "b",   "\xC3\xA4" };
    for (size_t i = COUNT_OF(stored); i > 0; i--)
        put(fixture, stored[i - 1], "x");
    expect_keys(fixture, "", stored, COUNT_OF(stored));
    expect_keys(fixture, "a", stored + 1, 8);
    expect_keys(fixture, "a/", stored + 4, 3);
    expect_keys(fixture, "a/b", stored + 4, 2);
    expect_keys(fixture, "a/c/d", stored + 6, 1);
    expect_keys(fixture, "a/c/d/", NULL, 0);
    expect_keys(fixture, "c", NULL, 0);
}

static void pages_continue_behind_their_last_key(void **state)
{
    struct object_fixture *fixture = *state;
    enum { COUNT = 2205 };
    char key[64], last[64] = "";
    struct object_error err;
    struct object_page page;
    size_t seen = 0, pages = 0;
    for (int i = 0; i < COUNT; i++) {
        /* In three folders, and most of them in one: more than a page. */
        snprintf(key, sizeof key, "%s/%05d", i < 2 ? "a" : i < 2200 ? "b" : "c", i);
        put(fixture, key, "x");
    }
    do {
        assert_true(object_list(fixture->bucket, fixture->arena, BYTES(""), bytes_from_text(last),
                                &page, &err));
        for (size_t i = 0; i < page.count; i++) {
            assert_true(bytes_compare(bytes_from_text(last), page.entries[i].key) < 0);
            snprintf(last, sizeof last, "%.*s", BYTES_FMT(page.entries[i].key));
            assert_int_equal(page.entries[i].size, 1);
        }
        assert_true(page.count <= OBJECT_PAGE_ENTRIES_MAX);
        seen += page.count;
        pages++;
    } while (page.more);
    assert_int_equal(seen, COUNT);
    assert_int_equal(pages, 3);
    assert_string_equal(last, "c/02204");
}

static void a_version_that_was_replaced_is_not_read(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_entry entry;
    struct object_page page;
    struct object_error err;
    uint8_t out[16];
    size_t size;
    put(fixture, "k", "first");
    assert_true(object_stat(fixture->bucket, fixture->arena, BYTES("k"), &entry, &err));
    assert_true(object_list(fixture->bucket, fixture->arena, BYTES("k"), BYTES(""), &page, &err));
    assert_true(bytes_equal(page.entries[0].etag, entry.etag));
    assert_true(object_read(fixture->bucket, BYTES("k"), entry.etag, 1, out, 2, &size, &err));
    put(fixture, "k", "other");
    assert_false(object_read(fixture->bucket, BYTES("k"), entry.etag, 1, out, 2, &size, &err));
    assert_int_equal(err.status, OBJECT_CHANGED);
}

static void a_cancelled_bucket_does_nothing_more(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_error err;
    struct object_page page;
    object_bucket_cancel(fixture->bucket);
    assert_false(object_put(fixture->bucket, BYTES("k"), BYTES("v"), &err));
    assert_int_equal(err.status, OBJECT_CANCELLED);
    assert_false(object_list(fixture->bucket, fixture->arena, BYTES(""), BYTES(""), &page, &err));
    assert_int_equal(err.status, OBJECT_CANCELLED);
    assert_null(object_upload_begin(fixture->bucket, BYTES("k"), &err));
}

static bool asked_for_the_last_time(void *context)
{
    int *left = context;
    return --*left < 0;
}

/* It may be in a folder with very many files. */
static void a_list_can_be_cancelled_while_a_folder_is_read(void **state)
{
    enum { FILES = 1200 };
    struct object_fixture *fixture = *state;
    struct object_error err;
    struct object_page page;
    int left = 2; /* The call and its first folder. */
    for (int i = 0; i < FILES; i++) {
        char path[2 * SCRATCH_PATH_MAX];
        snprintf(path, sizeof path, "%s/bucket/%d", fixture->folder, i);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
    }
    struct object_bucket *bucket =
        object_bucket_open(fixture->store,
                           &(struct object_bucket_options){ .name = BYTES("bucket"),
                                                            .is_cancelled = asked_for_the_last_time,
                                                            .cancel_context = &left },
                           &err);
    assert_non_null(bucket);
    left = 2;
    assert_false(object_list(bucket, fixture->arena, BYTES("x"), BYTES(""), &page, &err));
    assert_int_equal(err.status, OBJECT_CANCELLED);
    object_bucket_close(bucket);
}

/* What an S3 server says becomes part of records, answers and the log. */
static void a_failure_is_told_in_utf8_without_control_characters(void **state)
{
    (void)state;
    struct object_error err;
    object_error_set(&err, OBJECT_FAILED, "caf\xC3\xA9 \xFF\x01\xC3");
    assert_string_equal(err.text, "caf\xC3\xA9 ???");
}

#define BOTH(test)                                                                                 \
    { #test " (folder)", test, object_fixture_set_up_folder, object_fixture_tear_down, NULL },     \
    {                                                                                              \
#test " (S3)", test, object_fixture_set_up_s3, object_fixture_tear_down, NULL              \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(an_object_is_read_as_it_was_put),
        BOTH(ranges_end_at_the_end_of_the_object),
        BOTH(what_is_missing_is_told_apart),
        BOTH(a_missing_bucket_fails_as_at_the_service),
        BOTH(a_bucket_is_its_owners),
        BOTH(keys_that_lead_elsewhere_are_refused),
        BOTH(any_text_can_be_a_key),
        BOTH(an_upload_appears_whole_when_it_is_finished),
        BOTH(an_aborted_upload_leaves_nothing),
        BOTH(what_a_crash_left_is_removed_by_folder_or_by_key),
        BOTH(a_deleted_object_is_gone),
        BOTH(lists_are_in_the_order_of_the_bytes_of_whole_keys),
        BOTH(pages_continue_behind_their_last_key),
        BOTH(a_version_that_was_replaced_is_not_read),
        BOTH(a_cancelled_bucket_does_nothing_more),
        cmocka_unit_test_setup_teardown(a_list_can_be_cancelled_while_a_folder_is_read,
                                        object_fixture_set_up_folder, object_fixture_tear_down),
        cmocka_unit_test(a_failure_is_told_in_utf8_without_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
