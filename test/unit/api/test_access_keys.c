/* test_access_keys.c -- access keys and their policies by operations, and what CheckAccess tells of
 * other keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "api_fixture.h"
#include "auth/caller.h"
#include "auth/key_file.h"
#include "auth/live_keys.h"
#include "base/arena.h"
#include "scratch.h"

#define NOT_THERE "AKIAAAAAAAAAAAAAAAAA"

struct fixture {
    char folder[SCRATCH_PATH_MAX];
    char directory[SCRATCH_PATH_MAX];
    struct key_file file;
    struct live_keys *keys;
    struct api_fixture api;
};

static int setup(void **state)
{
    static struct fixture fixture;
    char message[KEY_FILE_MESSAGE_MAX];
    fixture = (struct fixture){ 0 };
    scratch_create(fixture.folder);
    scratch_join(fixture.directory, fixture.folder, "data");
    fixture.file.directory = fixture.directory; /* And a master key of zeros. */
    fixture.keys = live_keys_open(&fixture.file, message);
    assert_non_null(fixture.keys);
    api_fixture_open_with(&fixture.api, &(struct api_options){ .keys = fixture.keys });
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    api_fixture_close(&fixture->api);
    live_keys_close(fixture->keys);
    scratch_destroy(fixture->folder);
    return 0;
}

/* What follows `mark` in the last response, up to the next quote. */
static void take(struct fixture *fixture, const char *mark, char *out, size_t size)
{
    struct bytes text = fixture->api.response;
    const uint8_t *at = memmem(text.data, text.len, mark, strlen(mark));
    assert_non_null(at);
    at += strlen(mark);
    const uint8_t *end = memchr(at, '"', (size_t)(text.data + text.len - at));
    snprintf(out, size, "%.*s", (int)(end - at), (const char *)at);
}

struct id {
    char text[KEY_ID_SIZE + 1];
};

static struct id create(struct fixture *fixture, const char *user)
{
    struct id id;
    char body[200];
    snprintf(body, sizeof body, "{'UserName':'%s'}", user);
    assert_true(api_fixture_call(&fixture->api, "CreateKey", body));
    take(fixture, "\"AccessKeyId\":\"", id.text, sizeof id.text);
    return id;
}

static bool call(struct fixture *fixture, const char *operation, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool call(struct fixture *fixture, const char *operation, const char *format, ...)
{
    char body[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(body, sizeof body, format, arguments);
    va_end(arguments);
    return api_fixture_call(&fixture->api, operation, body);
}

static void expect_error(struct fixture *fixture, enum error_code code, const char *message)
{
    assert_int_equal(fixture->api.error.code, code);
    if (message != NULL && !bytes_equal_text(fixture->api.error.message, message))
        fail_msg("'%.*s', not '%s'", BYTES_FMT(fixture->api.error.message), message);
}

#define POLICY                                                                                     \
    "{\\\"Statement\\\":{\\\"Effect\\\":\\\"Allow\\\",\\\"Action\\\":\\\"dynamodb:GetItem\\\","    \
    "\\\"Resource\\\":\\\"*\\\"}}"

static void the_secret_is_in_the_answer_that_creates_the_key_and_in_no_other(void **state)
{
    struct fixture *fixture = *state;
    char secret[KEY_SECRET_SIZE + 1];
    struct id id = create(fixture, "bob");
    take(fixture, "\"SecretAccessKey\":\"", secret, sizeof secret);
    assert_int_equal(strlen(secret), KEY_SECRET_SIZE);
    assert_true(api_fixture_shows(&fixture->api, "'UserName':'bob','Status':'Active'"));
    assert_true(call(fixture, "ListKeys", "{}"));
    assert_true(api_fixture_shows(&fixture->api, id.text));
    assert_false(api_fixture_shows(&fixture->api, secret));
    assert_false(api_fixture_shows(&fixture->api, "Secret"));
}

static void a_key_is_disabled_enabled_and_deleted_with_its_sessions(void **state)
{
    struct fixture *fixture = *state;
    struct id id = create(fixture, "bob");
    assert_true(
        call(fixture, "CreateSession", "{'AccessKeyId':'%s','DurationSeconds':60}", id.text));
    assert_true(api_fixture_shows(&fixture->api, "'SessionToken':"));
    assert_true(api_fixture_shows(&fixture->api, "'ParentAccessKeyId':"));
    assert_true(call(fixture, "UpdateKey", "{'AccessKeyId':'%s','Status':'Inactive'}", id.text));
    assert_true(bytes_equal_text(fixture->api.response, "{}"));
    assert_true(call(fixture, "ListKeys", "{}"));
    assert_true(api_fixture_shows(&fixture->api, "'Status':'Inactive'"));
    assert_false(api_fixture_shows(&fixture->api, "'Usable':true")); /* Nor is its session. */
    assert_true(call(fixture, "UpdateKey", "{'AccessKeyId':'%s','Status':'Active'}", id.text));
    assert_true(call(fixture, "ListKeys", "{}"));
    assert_false(api_fixture_shows(&fixture->api, "'Usable':false"));
    assert_true(call(fixture, "DeleteKey", "{'AccessKeyId':'%s'}", id.text));
    assert_true(call(fixture, "ListKeys", "{}"));
    assert_true(bytes_equal_text(fixture->api.response, "{\"Keys\":[]}"));
}

static void policies_of_a_key_are_put_shown_and_deleted(void **state)
{
    struct fixture *fixture = *state;
    struct id id = create(fixture, "bob");
    assert_true(call(fixture, "PutKeyPolicy",
                     "{'AccessKeyId':'%s','PolicyName':'read','PolicyDocument':'" POLICY "'}",
                     id.text));
    assert_true(call(fixture, "ListKeyPolicies", "{'AccessKeyId':'%s'}", id.text));
    assert_true(bytes_equal_text(fixture->api.response, "{\"PolicyNames\":[\"read\"]}"));
    assert_true(call(fixture, "GetKeyPolicy", "{'AccessKeyId':'%s','PolicyName':'read'}", id.text));
    assert_true(api_fixture_shows(&fixture->api, POLICY));
    assert_false(call(fixture, "PutKeyPolicy",
                      "{'AccessKeyId':'%s','PolicyName':'bad','PolicyDocument':'{}'}", id.text));
    expect_error(fixture, ERROR_VALIDATION, NULL);
    assert_true(
        call(fixture, "DeleteKeyPolicy", "{'AccessKeyId':'%s','PolicyName':'read'}", id.text));
    assert_false(
        call(fixture, "GetKeyPolicy", "{'AccessKeyId':'%s','PolicyName':'read'}", id.text));
    expect_error(fixture, ERROR_RESOURCE_NOT_FOUND, NULL);
}

static void a_missing_key_is_not_found_by_any_of_them(void **state)
{
    static const struct {
        const char *operation, *body;
    } calls[] = {
        { "CreateSession", "{'AccessKeyId':'" NOT_THERE "'}" },
        { "UpdateKey", "{'AccessKeyId':'" NOT_THERE "','Status':'Active'}" },
        { "DeleteKey", "{'AccessKeyId':'" NOT_THERE "'}" },
        { "PutKeyPolicy",
          "{'AccessKeyId':'" NOT_THERE "','PolicyName':'p','PolicyDocument':'" POLICY "'}" },
        { "GetKeyPolicy", "{'AccessKeyId':'" NOT_THERE "','PolicyName':'p'}" },
        { "ListKeyPolicies", "{'AccessKeyId':'" NOT_THERE "'}" },
        { "DeleteKeyPolicy", "{'AccessKeyId':'" NOT_THERE "','PolicyName':'p'}" },
        { "CheckAccess",
          "{'AccessKeyId':'" NOT_THERE "','Questions':[{'Action':'dynamodb:GetItem'}]}" },
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        assert_false(api_fixture_call(&fixture->api, calls[i].operation, calls[i].body));
        expect_error(fixture, ERROR_RESOURCE_NOT_FOUND, "there is no access key " NOT_THERE);
    }
}

static void a_list_of_keys_has_pages(void **state)
{
    struct fixture *fixture = *state;
    char token[KEY_ID_SIZE + 1];
    size_t seen = 0;
    for (size_t i = 0; i < 5; i++)
        create(fixture, "bob");
    assert_true(call(fixture, "ListKeys", "{'MaxResults':2}"));
    for (seen = 2; api_fixture_shows(&fixture->api, "'NextToken'"); seen += 2) {
        take(fixture, "\"NextToken\":\"", token, sizeof token);
        assert_true(call(fixture, "ListKeys", "{'MaxResults':2,'NextToken':'%s'}", token));
    }
    assert_int_equal(seen, 6); /* The last page has one. */
    assert_true(call(fixture, "ListKeys", "{'MaxResults':5}"));
    assert_false(api_fixture_shows(&fixture->api, "'NextToken'"));
}

static void what_another_key_may_do_is_told_by_its_policies(void **state)
{
    static const char asks[] = "{'AccessKeyId':'%s','Questions':[{'Action':'dynamodb:GetItem',"
                               "'Resource':'Tab'},{'Action':'dynamodb:PutItem','Resource':'Tab'}]}";
    struct fixture *fixture = *state;
    struct id id = create(fixture, "bob");
    assert_true(call(fixture, "PutKeyPolicy",
                     "{'AccessKeyId':'%s','PolicyName':'read','PolicyDocument':'" POLICY "'}",
                     id.text));
    assert_true(call(fixture, "CheckAccess", asks, id.text));
    assert_true(api_fixture_shows(&fixture->api, "'Allowed':true"));
    assert_true(api_fixture_shows(&fixture->api,
                                  ":user/bob is not authorized to perform: dynamodb:PutItem"));
    assert_true(call(fixture, "UpdateKey", "{'AccessKeyId':'%s','Status':'Inactive'}", id.text));
    assert_true(call(fixture, "CheckAccess", asks, id.text));
    assert_false(api_fixture_shows(&fixture->api, "'Allowed':true"));
    assert_true(api_fixture_shows(&fixture->api, "The access key is disabled or expired"));
}

static void questions_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = arena_create();
    for (size_t count = 50; count <= 51; count++) {
        struct buffer body;
        buffer_init(&body, arena);
        buffer_append_bytes(&body, BYTES("{'Questions':["));
        for (size_t i = 0; i < count; i++)
            buffer_append_bytes(&body, i == 0 ? BYTES("{'Action':'dynamodb:Scan'}")
                                              : BYTES(",{'Action':'dynamodb:Scan'}"));
        buffer_append_bytes(&body, BYTES("]}"));
        buffer_append_byte(&body, 0);
        bool ok = api_fixture_call(&fixture->api, "CheckAccess", (const char *)body.data);
        assert_int_equal(ok, count == 50);
    }
    expect_error(fixture, ERROR_VALIDATION, NULL);
    arena_destroy(arena);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_secret_is_in_the_answer_that_creates_the_key_and_in_no_other),
        TEST(a_key_is_disabled_enabled_and_deleted_with_its_sessions),
        TEST(policies_of_a_key_are_put_shown_and_deleted),
        TEST(a_missing_key_is_not_found_by_any_of_them),
        TEST(a_list_of_keys_has_pages),
        TEST(what_another_key_may_do_is_told_by_its_policies),
        TEST(questions_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
