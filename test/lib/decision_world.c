/* decision_world.c -- see decision_world.h. */
#include "decision_world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "policy_fixture.h"
#include "trigger/trigger_runner.h"

#define WORLD_ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/"
#define WORLD_LABEL "2023-11-14T22:13:20.000"
#define WORLD_USER "arn:aws:iam::123456789012:user/alice"

enum { SETTLE_ATTEMPTS_MAX = 10000 };

static const struct bytes username = BYTES("alice");
static const struct policy_key caller_keys[] = { { BYTES("aws:username"), &username, 1 } };
static const char *const marks[DECISION_NAMES] = { "<shard>",    "<secret_shard>",
                                                   "<iterator>", "<secret_iterator>",
                                                   "<trigger>",  "<secret_trigger>" };
static const struct trigger_outside outside = { .dead_letter_dir = "unused" };

/* --- Tables --- */

static void must(struct decision_world *world, const char *operation, const char *body)
{
    if (!api_fixture_call(&world->api, operation, body))
        fail_msg("%s %s: %.*s", operation, body, BYTES_FMT(world->api.error.message));
}

static const char *text(struct decision_world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *text(struct decision_world *world, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct bytes formatted = arena_vprintf(world->arena, format, arguments);
    va_end(arguments);
    return (const char *)formatted.data;
}

static void create(struct decision_world *world, const char *table)
{
    static const char *const users[] = { "alice", "bob", "carol" };
    must(world, "CreateTable",
         text(world,
              "{'TableName':'%s','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':"
              "'S'},{'AttributeName':'sk','AttributeType':'N'},{'AttributeName':'g',"
              "'AttributeType':'S'},{'AttributeName':'l','AttributeType':'S'}],'KeySchema':["
              "{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
              "'BillingMode':'PAY_PER_REQUEST','Tags':[{'Key':'team','Value':'blue'}],"
              "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_AND_OLD_IMAGES'},"
              "'GlobalSecondaryIndexes':[{'IndexName':'Ind','KeySchema':[{'AttributeName':'g',"
              "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}],"
              "'LocalSecondaryIndexes':[{'IndexName':'Loc','KeySchema':[{'AttributeName':'pk',"
              "'KeyType':'HASH'},{'AttributeName':'l','KeyType':'RANGE'}],'Projection':"
              "{'ProjectionType':'KEYS_ONLY'}}]}",
              table));
    for (size_t i = 0; i < COUNT_OF(users); i++)
        must(world, "PutItem",
             text(world,
                  "{'TableName':'%s','Item':{'pk':{'S':'%s'},'sk':{'N':'1'},'g':{'S':'%s'},"
                  "'l':{'S':'l'},'name':{'S':'n'},'pay':{'S':'%s-%s'}}}",
                  table, users[i], users[i], table, users[i]));
}

/* A table with one item, whose partition key has that type. */
static void create_typed(struct decision_world *world, const char *table, const char *type,
                         const char *key)
{
    must(world, "CreateTable",
         text(world,
              "{'TableName':'%s','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':"
              "'%s'}],'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
              "'BillingMode':'PAY_PER_REQUEST'}",
              table, type));
    must(world, "PutItem",
         text(world, "{'TableName':'%s','Item':{'pk':{'%s':'%s'}}}", table, type, key));
}

/* What stands behind a mark in the last response, up to the next quote. */
static void take(struct decision_world *world, const char *mark, char out[DECISION_NAME_SIZE])
{
    struct bytes answer = world->api.response;
    const uint8_t *at = memmem(answer.data, answer.len, mark, strlen(mark));
    assert_non_null(at);
    at += strlen(mark);
    const uint8_t *end = memchr(at, '"', (size_t)(answer.data + answer.len - at));
    snprintf(out, DECISION_NAME_SIZE, "%.*s", (int)(end - at), (const char *)at);
}

/* The names of the table's shard, of an iterator there and of a trigger, which are random. */
static void take_names(struct decision_world *world, const char *table, size_t place)
{
    const char *arn = text(world, WORLD_ARN "%s/stream/" WORLD_LABEL, table);
    must(world, "DescribeStream", text(world, "{'StreamArn':'%s'}", arn));
    take(world, "\"ShardId\":\"", world->names[place]);
    must(world, "GetShardIterator",
         text(world, "{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'TRIM_HORIZON'}", arn,
              world->names[place]));
    take(world, "\"ShardIterator\":\"", world->names[place + 2]);
    must(world, "AddTrigger",
         text(world, "{'TableName':'%s','Url':'http://127.0.0.1:9/f?token=topsecret'}", table));
    take(world, "\"UUID\":\"", world->names[place + 4]);
}

void decision_world_open(struct decision_world *world)
{
    *world = (struct decision_world){ .arena = arena_create() };
    api_fixture_open_with(&world->api, &(struct api_options){ .trigger_outside = &outside });
    create(world, "Tab");
    create(world, "Secret");
    must(world, "CreateTable",
         "{'TableName':'Plain','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
         "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'}");
    create_typed(world, "Num", "N", "42");
    create_typed(world, "Bin", "B", "YWJj");
    take_names(world, "Tab", 0);
    take_names(world, "Secret", 1);
    world->caller = (struct caller){ .arn = BYTES(WORLD_USER),
                                     .account = BYTES("123456789012"),
                                     .policies = &world->policy,
                                     .policy_count = 1,
                                     .keys = caller_keys,
                                     .key_count = COUNT_OF(caller_keys) };
}

void decision_world_close(struct decision_world *world)
{
    api_fixture_close(&world->api);
    arena_destroy(world->arena);
}

/* --- Policies --- */

void decision_world_use_policy(struct decision_world *world, const char *statements)
{
    struct error err;
    world->api.caller = NULL;
    if (statements == NULL)
        return;
    arena_reset(world->arena);
    error_init(&err, world->arena);
    world->policy = policy_parse(world->arena, policy_fixture_document(world->arena, statements),
                                 POLICY_OF_IDENTITY, &err);
    if (world->policy == NULL)
        fail_msg("%s: %.*s", statements, BYTES_FMT(err.message));
    world->api.caller = &world->caller;
}

void decision_world_put_resource_policy(struct decision_world *world, const char *resource,
                                        const char *statements)
{
    const struct caller *caller = world->api.caller;
    const char *stream = strstr(resource, "/stream/");
    world->api.caller = NULL;
    if (statements == NULL)
        must(world, "DeleteResourcePolicy",
             text(world, "{'ResourceArn':'" WORLD_ARN "%s'}", resource));
    else if (stream == NULL)
        api_fixture_store_policy(&world->api, bytes_from_text(resource), NULL,
                                 policy_fixture_document(world->arena, statements));
    else
        api_fixture_store_policy(
            &world->api, bytes_of((const uint8_t *)resource, (size_t)(stream - resource)),
            stream + strlen("/stream/"), policy_fixture_document(world->arena, statements));
    world->api.caller = caller;
}

/* --- Calls --- */

const char *decision_world_fill(struct decision_world *world, const char *from)
{
    struct buffer filled;
    buffer_init(&filled, world->arena);
    while (*from != '\0') {
        size_t i = 0;
        while (i < DECISION_NAMES && strncmp(from, marks[i], strlen(marks[i])) != 0)
            i++;
        if (i < DECISION_NAMES) {
            buffer_append_bytes(&filled, bytes_from_text(world->names[i]));
            from += strlen(marks[i]);
        } else if (*from == '~') {
            buffer_append_bytes(&filled, BYTES("\\u0027"));
            from++;
        } else {
            buffer_append_byte(&filled, (uint8_t)*from++);
        }
    }
    buffer_append_byte(&filled, 0);
    return (const char *)filled.data;
}

bool decision_world_call(struct decision_world *world, const char *operation, const char *body)
{
    return api_fixture_call(&world->api, operation, decision_world_fill(world, body));
}

static void add(struct buffer *to, struct bytes part)
{
    if (part.data == NULL)
        return;
    buffer_append_bytes(to, part);
    buffer_append_byte(to, '\n');
}

struct bytes decision_world_answer(struct decision_world *world)
{
    struct buffer answer;
    buffer_init(&answer, world->arena);
    if (error_is_set(&world->api.error)) {
        add(&answer, bytes_from_text(error_kind(world->api.error.code)->type));
        add(&answer, world->api.error.message);
        add(&answer, world->api.error.item_json);
        add(&answer, world->api.error.reasons_json);
    } else {
        add(&answer, world->api.response);
    }
    return buffer_bytes(&answer);
}

/* A stack that a row has created makes its table later. */
static void settle_stacks(struct decision_world *world)
{
    static const struct timespec moment = { .tv_nsec = 1000000 };
    for (unsigned i = 0; i < SETTLE_ATTEMPTS_MAX; i++) {
        must(world, "cloudformation:ListStacks", "{}");
        if (!api_fixture_shows(&world->api, "'CREATE_IN_PROGRESS'"))
            return;
        nanosleep(&moment, NULL);
    }
    fail_msg("a stack does not settle");
}

struct bytes decision_world_state(struct decision_world *world)
{
    static const struct {
        const char *operation;
        const char *body;
    } reads[] = {
        { "ListTables", "{}" },
        { "Scan", "{'TableName':'Tab'}" },
        { "Scan", "{'TableName':'Secret'}" },
        { "ListTriggers", "{}" },
        { "DescribeTable", "{'TableName':'Tab'}" },
        { "DescribeTimeToLive", "{'TableName':'Tab'}" },
        { "DescribeContinuousBackups", "{'TableName':'Tab'}" },
        { "ListTagsOfResource", "{'ResourceArn':'" WORLD_ARN "Tab'}" },
        { "GetResourcePolicy", "{'ResourceArn':'" WORLD_ARN "Tab'}" },
        { "GetResourcePolicy", "{'ResourceArn':'" WORLD_ARN "Tab/stream/" WORLD_LABEL "'}" },
    };
    const struct caller *caller = world->api.caller;
    struct buffer state;
    buffer_init(&state, world->arena);
    world->api.caller = NULL;
    settle_stacks(world);
    for (size_t i = 0; i < COUNT_OF(reads); i++) {
        (void)api_fixture_call(&world->api, reads[i].operation, reads[i].body);
        add(&state, decision_world_answer(world));
    }
    world->api.caller = caller;
    return buffer_bytes(&state);
}
