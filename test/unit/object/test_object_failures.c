/* test_object_failures.c -- S3 servers that are busy, wrong, full or gone; folders with links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "object/s3_xml.h"
#include "object_fixture.h"

/* --- S3 --- */

static bool upload_parts(struct object_fixture *fixture, struct object_error *err)
{
    uint8_t content[2500] = { 0 };
    struct object_written written;
    struct object_upload *upload = object_upload_begin(fixture->bucket, BYTES("k"), err);
    if (upload == NULL)
        return false;
    if (!object_upload_write(upload, bytes_of(content, sizeof content), err)) {
        object_upload_abort(upload);
        return false;
    }
    return object_upload_finish(upload, &written, err);
}

static bool state_has(struct object_fixture *fixture, const char *text)
{
    struct bytes state = object_fixture_state(fixture);
    return memmem(state.data, state.len, text, strlen(text)) != NULL;
}

static void what_passes_is_waited_for(void **state)
{
    struct object_fixture *fixture = *state;
    static const char *const rules[] = {
        "{\"kind\":\"slow-down\",\"times\":3}",
        "{\"kind\":\"cut\",\"times\":2}",
        "{\"kind\":\"lost\",\"method\":\"PUT\"}",
        "{\"kind\":\"lost\",\"method\":\"POST\",\"contains\":\"uploads=\"}",
        "{\"kind\":\"lost\",\"method\":\"POST\",\"contains\":\"uploadId\"}",
        "{\"kind\":\"error-200\",\"method\":\"POST\",\"contains\":\"uploadId\"}",
        "{\"kind\":\"garbage\",\"method\":\"POST\"}",
        "{\"kind\":\"wrong-etag\",\"method\":\"PUT\"}",
        "{\"kind\":\"slow-down\",\"method\":\"PUT\",\"contains\":\"partNumber=2\",\"times\":2}",
    };
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        struct object_error err;
        object_fixture_fail(fixture, rules[i]);
        if (!upload_parts(fixture, &err))
            fail_msg("%s: %s", rules[i], err.text);
        if (!state_has(fixture, "\"uploads\": 0")) /* None was left behind. */
            fail_msg("%s: %.*s", rules[i], BYTES_FMT(object_fixture_state(fixture)));
        assert_true(state_has(fixture, "\"k\": [2500, "));
    }
}

static void what_does_not_pass_ends_with_its_code(void **state)
{
    struct object_fixture *fixture = *state;
    static const struct {
        const char *rule;
        enum object_status status;
        const char *code, *text;
    } cases[] = {
        { "{\"kind\":\"slow-down\",\"times\":1000}", OBJECT_UNREACHABLE, "S3Unavailable",
          "Please reduce your request rate. (Service: Amazon S3; Status Code: 503; Error Code: "
          "SlowDown; Request ID: FAKE0123456789AB; S3 Extended Request ID: fake+host/id=; Proxy: "
          "null)" },
        { "{\"kind\":\"cut\",\"times\":1000}", OBJECT_UNREACHABLE, "S3Unavailable",
          "The S3 server cannot be reached: the connection ended without an answer" },
        { "{\"kind\":\"full\",\"times\":1000,\"contains\":\"partNumber=2\"}", OBJECT_FULL,
          "S3NoSpace", NULL },
        { "{\"kind\":\"denied\",\"times\":1}", OBJECT_DENIED, "S3AccessDenied",
          "Access Denied (Service: Amazon S3; Status Code: 403; Error Code: AccessDenied; Request "
          "ID: FAKE0123456789AB; S3 Extended Request ID: fake+host/id=; Proxy: null)" },
        { "{\"kind\":\"no-kms-key\",\"times\":1}", OBJECT_NO_KMS_KEY, "KmsNotFoundException",
          NULL },
        { "{\"kind\":\"wrong-etag\",\"method\":\"PUT\",\"times\":1000}", OBJECT_FAILED, "S3Error",
          "The S3 server stored something other than what was sent" },
    };
    fixture->options.retry_ms = 500;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct object_error err;
        object_fixture_reopen(fixture);
        object_fixture_fail(fixture, cases[i].rule);
        assert_false(upload_parts(fixture, &err));
        assert_int_equal(err.status, cases[i].status);
        assert_string_equal(object_failure_code(err.status), cases[i].code);
        if (cases[i].text != NULL)
            assert_string_equal(err.text, cases[i].text);
        assert_true(state_has(fixture, "\"bucket\": {}"));
        object_fixture_tear_down(state);
        object_fixture_set_up_s3(state);
        fixture = *state;
        fixture->options.retry_ms = 500;
    }
}

static void a_failed_upload_is_aborted(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_error err;
    object_fixture_fail(fixture, "{\"kind\":\"full\",\"contains\":\"partNumber=3\"}");
    assert_false(upload_parts(fixture, &err));
    assert_int_equal(err.status, OBJECT_FULL);
    assert_true(state_has(fixture, "\"uploads\": 0"));
}

static void a_wrong_key_is_denied_and_a_new_one_is_read(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_error err;
    object_fixture_write_keys(fixture, "another");
    object_fixture_reopen(fixture);
    assert_false(object_put(fixture->bucket, BYTES("k"), BYTES("v"), &err));
    assert_int_equal(err.status, OBJECT_DENIED);
    assert_non_null(strstr(err.text, "SignatureDoesNotMatch"));
    assert_null(strstr(err.text, "another"));
    object_fixture_write_keys(fixture, NULL);
    struct object_bucket *bucket = object_fixture_bucket(fixture, "bucket");
    assert_true(object_put(bucket, BYTES("k"), BYTES("v"), &err));
    object_bucket_close(bucket);
}

static void a_key_file_is_its_owners_alone(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_bucket_options options = { .name = BYTES("bucket") };
    char message[OBJECT_MESSAGE_MAX];
    struct object_error err;
    static const struct {
        const char *text;
        mode_t mode;
        const char *problem;
    } cases[] = {
        { "aws_access_key_id=a\naws_secret_access_key=b\n", 0600, NULL },
        { "[default]\r\naws_access_key_id = a\r\naws_secret_access_key = b", 0400, NULL },
        { "aws_access_key_id=a\naws_secret_access_key=b\n", 0640,
          "others than its owner may open it: chmod 600" },
        { "[work]\naws_access_key_id=a\naws_secret_access_key=b\n", 0600,
          "the profile [default] needs aws_access_key_id and aws_secret_access_key" },
        { "aws_access_key_id=a\n", 0600,
          "the profile [default] needs aws_access_key_id and aws_secret_access_key" },
        { "aws_access_key_id=a b\n", 0600, "a key has no value, or one that cannot be used" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unlink(fixture->key_file);
        FILE *file = fopen(fixture->key_file, "w");
        fputs(cases[i].text, file);
        fclose(file);
        assert_int_equal(chmod(fixture->key_file, cases[i].mode), 0);
        assert_int_equal(object_store_check(fixture->store, message), cases[i].problem == NULL);
        struct object_bucket *bucket = object_bucket_open(fixture->store, &options, &err);
        assert_int_equal(bucket != NULL, cases[i].problem == NULL);
        object_bucket_close(bucket);
        if (cases[i].problem != NULL) {
            assert_non_null(strstr(message, cases[i].problem));
            assert_int_equal(err.status, OBJECT_DENIED);
            assert_non_null(strstr(err.text, cases[i].problem));
        }
    }
}

static void *cancel_soon(void *bucket)
{
    usleep(100000);
    object_bucket_cancel(bucket);
    return NULL;
}

static void a_call_that_waits_can_be_cancelled(void **state)
{
    struct object_fixture *fixture = *state;
    static const char *const rules[] = { "{\"kind\":\"slow-down\",\"times\":1000}",
                                         "{\"kind\":\"slow\",\"seconds\":5}" };
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        struct object_error err;
        pthread_t thread;
        fixture->options.retry_ms = 1000000;
        object_fixture_reopen(fixture);
        object_fixture_fail(fixture, rules[i]);
        pthread_create(&thread, NULL, cancel_soon, fixture->bucket);
        assert_false(object_put(fixture->bucket, BYTES("k"), BYTES("v"), &err));
        pthread_join(thread, NULL);
        assert_int_equal(err.status, OBJECT_CANCELLED);
    }
}

static void options_that_contradict_each_other_are_refused(void **state)
{
    struct object_fixture *fixture = *state;
    static const struct {
        const char *folder, *endpoint, *key_file, *message;
    } cases[] = {
        { "/tmp", "http://127.0.0.1:1", "/k", "buckets are either folders or an S3 server's" },
        { NULL, "127.0.0.1", "/k", "127.0.0.1: it does not begin with http:// or https://" },
        { NULL, "http://h/path", "/k", "http://h/path: an S3 endpoint has no path" },
        { NULL, "http://h", "", "http://h: an S3 endpoint needs a key file" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char message[OBJECT_MESSAGE_MAX];
        struct object_store_options options = fixture->options;
        options.folder = cases[i].folder;
        options.endpoint = cases[i].endpoint;
        options.key_file = cases[i].key_file;
        assert_null(object_store_open(&options, message));
        assert_string_equal(message, cases[i].message);
    }
}

static void without_a_place_for_them_all_buckets_are_missing(void **state)
{
    struct object_fixture *fixture = *state;
    struct object_store_options options = { .folder = "", .endpoint = "" };
    struct object_bucket_options bucket = { .name = BYTES("bucket") };
    char message[OBJECT_MESSAGE_MAX];
    struct object_error err;
    struct object_store *store = object_store_open(&options, message);
    assert_non_null(store);
    assert_null(object_bucket_open(store, &bucket, &err));
    assert_int_equal(err.status, OBJECT_NO_BUCKET);
    object_store_close(store);
    (void)fixture;
}

/* --- Folders --- */

static void links_and_pipes_are_no_objects(void **state)
{
    struct object_fixture *fixture = *state;
    char path[SCRATCH_PATH_MAX], secret[SCRATCH_PATH_MAX];
    struct object_error err;
    struct object_page page;
    uint8_t out[8];
    size_t size;
    scratch_join(secret, fixture->root, "secret");
    assert_int_equal(mkdir(secret, 0700), 0);
    scratch_join(path, secret, "file");
    close(open(path, O_CREAT | O_WRONLY, 0600));
    scratch_join(path, fixture->folder, "bucket/link");
    assert_int_equal(symlink(secret, path), 0);
    scratch_join(path, fixture->folder, "bucket/file");
    assert_int_equal(symlink("/etc/passwd", path), 0);
    scratch_join(path, fixture->folder, "bucket/pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    scratch_join(path, fixture->folder, "outside");
    assert_int_equal(symlink(secret, path), 0);
    static const struct bytes keys[] = { BYTES("link/file"), BYTES("file"), BYTES("pipe") };
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        assert_false(object_read(fixture->bucket, keys[i], (struct bytes){ 0 }, 0, out, sizeof out,
                                 &size, &err));
        assert_int_equal(err.status, OBJECT_NO_KEY);
    }
    assert_false(object_put(fixture->bucket, BYTES("link/new"), BYTES("x"), &err));
    assert_int_equal(err.status, OBJECT_BAD_KEY);
    assert_true(object_list(fixture->bucket, fixture->arena, BYTES(""), BYTES(""), &page, &err));
    assert_int_equal(page.count, 0);
    struct object_bucket_options options = { .name = BYTES("outside") };
    assert_null(object_bucket_open(fixture->store, &options, &err));
    assert_int_equal(err.status, OBJECT_NO_BUCKET);
}

static void no_name_of_a_bucket_leads_out(void **state)
{
    struct object_fixture *fixture = *state;
    static const struct bytes names[] = { BYTES(".."),     BYTES("."), BYTES("bucket/../.."),
                                          BYTES("/etc"),   BYTES(""),  BYTES("buck\0et"),
                                          BYTES(".hidden") };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct object_bucket_options options = { .name = names[i] };
        struct object_error err;
        assert_null(object_bucket_open(fixture->store, &options, &err));
        assert_int_equal(err.status, OBJECT_NO_BUCKET);
    }
}

static void the_parts_of_a_path_are_bounded(void **state)
{
    struct object_fixture *fixture = *state;
    char key[OBJECT_KEY_SIZE_MAX];
    struct object_error err;
    memset(key, 'k', sizeof key);
    assert_true(object_put(fixture->bucket, bytes_of(key, 255), BYTES("x"), &err));
    assert_false(object_put(fixture->bucket, bytes_of(key, 256), BYTES("x"), &err));
    assert_int_equal(err.status, OBJECT_BAD_KEY);
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = i % 2 == 0 ? 'd' : '/';
    assert_true(
        object_put(fixture->bucket, bytes_of(key, 2 * OBJECT_KEY_DEPTH_MAX - 1), BYTES("x"), &err));
    assert_false(
        object_put(fixture->bucket, bytes_of(key, 2 * OBJECT_KEY_DEPTH_MAX + 1), BYTES("x"), &err));
    assert_int_equal(err.status, OBJECT_BAD_KEY);
    assert_false(object_put(fixture->bucket, BYTES("a//b"), BYTES("x"), &err));
    assert_false(object_put(fixture->bucket, BYTES("a/"), BYTES("x"), &err));
    assert_false(object_put(fixture->bucket, BYTES("/a"), BYTES("x"), &err));
    assert_false(object_put(fixture->bucket, BYTES(".stator-upload-x"), BYTES("x"), &err));
    assert_int_equal(err.status, OBJECT_BAD_KEY);
}

/* --- XML --- */

struct leaves {
    char text[256];
};

static void take_leaf(void *context, struct bytes parent, struct bytes name, struct bytes text)
{
    struct leaves *leaves = context;
    size_t size = strlen(leaves->text);
    snprintf(leaves->text + size, sizeof leaves->text - size, "%.*s/%.*s=%.*s;", BYTES_FMT(parent),
             BYTES_FMT(name), BYTES_FMT(text));
}

static void documents_are_read_or_refused(void **state)
{
    static const struct {
        const char *text, *leaves; /* NULL: refused. */
    } cases[] = {
        { "<a/>", "/a=;" },
        { "<?xml version=\"1.0\"?>\n<a><b>x</b><c> y </c></a>\n", "a/b=x;a/c= y ;" },
        { "<s:a xmlns:s='>'><s:b x=\"/>\">&lt;&amp;&#65;&#x42;&quot;</s:b></s:a>", "a/b=<&AB\";" },
        { "<a><!-- <b> --><b><![CDATA[<&>]]></b></a>", "a/b=<&>;" },
        { "  <a>x</a>", "/a=x;" },
        { "", NULL },
        { "x", NULL },
        { "<a>", NULL },
        { "<a></b>", NULL },
        { "<a/><b/>", NULL },
        { "<a>&nbsp;</a>", NULL },
        { "<a>&#0;</a>", NULL },
        { "<a>&#xD800;</a>", NULL },
        { "<a>&#1114112;</a>", NULL },
        { "<!DOCTYPE a><a/>", NULL },
        { "<a><b><c><d><e><f><g><h><i><j><k><l><m><n><o><p></p></o></n></m></l></k></j></i></h></g>"
          "</f></e></d></c></b></a>",
          "o/p=;" },
        { "<a><b><c><d><e><f><g><h><i><j><k><l><m><n><o><p><q></q></p></o></n></m></l></k></j></i>"
          "</h></g></f></e></d></c></b></a>",
          NULL },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create();
        struct leaves leaves = { "" };
        const struct s3_xml_visitor visitor = { &leaves, take_leaf, NULL };
        bool ok = s3_xml_read(arena, bytes_from_text(cases[i].text), &visitor);
        if (ok != (cases[i].leaves != NULL) || (ok && strcmp(leaves.text, cases[i].leaves) != 0))
            fail_msg("%s: %s", cases[i].text, leaves.text);
        arena_destroy(arena);
    }
}

#define ON(kind, test)                                                                             \
    {                                                                                              \
#test, test, object_fixture_set_up_##kind, object_fixture_tear_down, NULL                  \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(s3, what_passes_is_waited_for),
        ON(s3, what_does_not_pass_ends_with_its_code),
        ON(s3, a_failed_upload_is_aborted),
        ON(s3, a_wrong_key_is_denied_and_a_new_one_is_read),
        ON(s3, a_key_file_is_its_owners_alone),
        ON(s3, a_call_that_waits_can_be_cancelled),
        ON(folder, options_that_contradict_each_other_are_refused),
        ON(folder, without_a_place_for_them_all_buckets_are_missing),
        ON(folder, links_and_pipes_are_no_objects),
        ON(folder, no_name_of_a_bucket_leads_out),
        ON(folder, the_parts_of_a_path_are_bounded),
        cmocka_unit_test(documents_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
