/* access_fixture.c -- see access_fixture.h. */
#include "access_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "policy_fixture.h"
#include "reference_engine.h"

static const struct bytes username = BYTES("alice");
static const struct policy_key caller_keys[] = { { BYTES("aws:username"), &username, 1 } };

void access_fixture_take(const struct access_fixture *fixture, const char *mark,
                         char out[ACCESS_FIXTURE_TEXT_MAX])
{
    struct bytes text = fixture->api.response;
    const uint8_t *at = memmem(text.data, text.len, mark, strlen(mark));
    assert_non_null(at);
    at += strlen(mark);
    const uint8_t *end = memchr(at, '"', (size_t)(text.data + text.len - at));
    snprintf(out, ACCESS_FIXTURE_TEXT_MAX, "%.*s", (int)(end - at), (const char *)at);
}

/* Of the first shard of the table's stream. */
static void take_iterator(struct access_fixture *fixture)
{
    char shard[ACCESS_FIXTURE_TEXT_MAX], body[2000];
    assert_true(api_fixture_call(&fixture->api, "ListStreams", "{}"));
    access_fixture_take(fixture, "\"StreamArn\":\"", fixture->stream_arn);
    snprintf(body, sizeof body, "{'StreamArn':'%s'}", fixture->stream_arn);
    assert_true(api_fixture_call(&fixture->api, "DescribeStream", body));
    access_fixture_take(fixture, "\"ShardId\":\"", shard);
    snprintf(body, sizeof body,
             "{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'TRIM_HORIZON'}",
             fixture->stream_arn, shard);
    assert_true(api_fixture_call(&fixture->api, "GetShardIterator", body));
    access_fixture_take(fixture, "\"ShardIterator\":\"", fixture->iterator);
}

int access_fixture_set_up(void **state)
{
    static struct access_fixture fixture;
    fixture = (struct access_fixture){ .arena = arena_create() };
    api_fixture_open_on(&fixture.api, failing_engine_create(reference_engine_create()), 0);
    assert_true(api_fixture_call(
        &fixture.api, "CreateTable",
        "{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},"
        "{'AttributeName':'sk','AttributeType':'N'},{'AttributeName':'g','AttributeType':'S'}],"
        "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':"
        "'RANGE'}],'BillingMode':'PAY_PER_REQUEST','Tags':[{'Key':'team','Value':'blue'}],"
        "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'},"
        "'GlobalSecondaryIndexes':[{'IndexName':'Ind','KeySchema':[{'AttributeName':'g',"
        "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}"));
    take_iterator(&fixture);
    fixture.caller = (struct caller){ .arn = BYTES(USER),
                                      .account = BYTES("123456789012"),
                                      .policies = &fixture.policy,
                                      .policy_count = 1,
                                      .keys = caller_keys,
                                      .key_count = COUNT_OF(caller_keys) };
    *state = &fixture;
    return 0;
}

int access_fixture_tear_down(void **state)
{
    struct access_fixture *fixture = *state;
    api_fixture_close(&fixture->api);
    arena_destroy(fixture->arena);
    return 0;
}

void access_fixture_use(struct access_fixture *fixture, const char *statements)
{
    struct error err;
    arena_reset(fixture->arena);
    error_init(&err, fixture->arena);
    fixture->policy =
        policy_parse(fixture->arena, policy_fixture_document(fixture->arena, statements),
                     POLICY_OF_IDENTITY, &err);
    if (fixture->policy == NULL)
        fail_msg("%s: %.*s", statements, BYTES_FMT(err.message));
    fixture->api.caller = &fixture->caller;
}

void access_fixture_use_none(struct access_fixture *fixture)
{
    fixture->api.caller = NULL;
}

const char *access_fixture_body(struct access_fixture *fixture, const char *body)
{
    struct buffer text;
    buffer_init(&text, fixture->arena);
    for (; *body != '\0'; body++) {
        if (*body == '~')
            buffer_append_bytes(&text, BYTES("\\u0027"));
        else if (*body == '@')
            buffer_append_bytes(&text, bytes_from_text(fixture->iterator));
        else
            buffer_append_byte(&text, (uint8_t)*body);
    }
    buffer_append_byte(&text, 0);
    return (const char *)text.data;
}

bool access_fixture_passes(struct access_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(&fixture->api, operation, access_fixture_body(fixture, body)))
        return fixture->api.error.code != ERROR_ACCESS_DENIED;
    /* A batch of statements tells of each in its own response. */
    return !api_fixture_shows(&fixture->api, "'Code':'AccessDenied'");
}

bool access_fixture_is_refused_with(struct access_fixture *fixture, const char *message)
{
    return error_is_set(&fixture->api.error) ? bytes_equal_text(fixture->api.error.message, message)
                                             : api_fixture_shows(&fixture->api, message);
}
