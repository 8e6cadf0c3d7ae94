/* attacker_world.c -- the tables that are attacked, and calls to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "attacker.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "trigger/trigger_runner.h"

const struct attack_table attack_tables[ATTACK_TABLES] = {
    [ALPHA] = { "Alpha", true, true, "blue" },
    [BETA] = { "Beta", true, false, "red" },
    [SECRET] = { "Secret", true, true, "blue" },
    [GAMMA] = { "Gamma", false, false, NULL },
};

static const char *const users[] = { "alice", "bob", "carol" };

/* --- Calls --- */

/* "<shard0>" and its kin; a spoiled one is none. */
static bool is_name(const char *text, const char *mark)
{
    size_t size = strlen(mark);
    return strncmp(text, mark, size) == 0 && text[size] >= '0' && text[size] < '0' + GAMMA &&
           text[size + 1] == '>';
}

static const char *fill(const struct attack_world *world, const char *body, struct arena *arena)
{
    static const char *const marks[] = { "<shard", "<iterator", "<trigger" };
    struct buffer out;
    buffer_init(&out, arena);
    while (*body != '\0') {
        size_t i = 0;
        while (i < COUNT_OF(marks) && !is_name(body, marks[i]))
            i++;
        if (i == COUNT_OF(marks)) {
            buffer_append_byte(&out, (uint8_t)*body++);
            continue;
        }
        size_t table = (size_t)(body[strlen(marks[i])] - '0');
        const char *names[] = { world->shards[table], world->iterators[table],
                                world->triggers[table] };
        buffer_append_bytes(&out, bytes_from_text(names[i]));
        body += strlen(marks[i]) + 2;
    }
    buffer_append_byte(&out, 0);
    return (const char *)out.data;
}

static void add(struct buffer *to, struct bytes part)
{
    if (part.data != NULL)
        buffer_append_bytes(to, part);
    buffer_append_byte(to, '\n');
}

struct bytes attack_world_call(struct attack_world *world, const struct caller *caller,
                               const char *operation, const char *body, struct arena *arena)
{
    struct buffer answer;
    buffer_init(&answer, arena);
    world->api.caller = caller;
    if (api_fixture_call(&world->api, operation, fill(world, body, arena))) {
        add(&answer, BYTES("200"));
        add(&answer, world->api.response);
    } else {
        const struct error *error = &world->api.error;
        add(&answer, bytes_from_text(error_kind(error->code)->type));
        add(&answer, error->message);
        add(&answer, error->item_json);
        add(&answer, error->reasons_json);
    }
    return buffer_bytes(&answer);
}

static void must(struct attack_world *world, const char *operation, struct bytes body,
                 struct arena *arena)
{
    struct bytes answer = attack_world_call(world, NULL, operation, (const char *)body.data, arena);
    if (bytes_starts_with(answer, BYTES("200")))
        return;
    fail_msg("%s %.*s: %.*s", operation, BYTES_FMT(body), BYTES_FMT(answer));
}

/* --- Tables --- */

#define RICH_TABLE                                                                                 \
    "{'TableName':'%s','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},"        \
    "{'AttributeName':'sk','AttributeType':'N'},{'AttributeName':'g','AttributeType':'S'},"        \
    "{'AttributeName':'l','AttributeType':'S'}],'KeySchema':[{'AttributeName':'pk','KeyType':"     \
    "'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],'BillingMode':'PAY_PER_REQUEST',"           \
    "'Tags':[{'Key':'team','Value':'%s'}],'StreamSpecification':{'StreamEnabled':true,"            \
    "'StreamViewType':'NEW_AND_OLD_IMAGES'},'GlobalSecondaryIndexes':[{'IndexName':'Ind',"         \
    "'KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],'Projection':{'ProjectionType':"         \
    "'ALL'}}],'LocalSecondaryIndexes':[{'IndexName':'Loc','KeySchema':[{'AttributeName':'pk',"     \
    "'KeyType':'HASH'},{'AttributeName':'l','KeyType':'RANGE'}],'Projection':"                     \
    "{'ProjectionType':'ALL'}}]}"
#define PLAIN_TABLE                                                                                \
    "{'TableName':'%s','AttributeDefinitions':[{'AttributeName':'%s','AttributeType':'%s'}],"      \
    "'KeySchema':[{'AttributeName':'%s','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST',"       \
    "'Tags':[{'Key':'team','Value':'%s'}]}"

static void take(struct attack_world *world, const char *mark, char out[ATTACK_NAME_SIZE])
{
    struct bytes answer = world->api.response;
    const uint8_t *at = memmem(answer.data, answer.len, mark, strlen(mark));
    assert_non_null(at);
    at += strlen(mark);
    const uint8_t *end = memchr(at, '"', (size_t)(answer.data + answer.len - at));
    snprintf(out, ATTACK_NAME_SIZE, "%.*s", (int)(end - at), (const char *)at);
}

static void take_names(struct attack_world *world, size_t table, struct arena *arena)
{
    struct bytes arn =
        arena_printf(arena, ATTACK_ARN "%s/stream/" ATTACK_LABEL, attack_tables[table].name);
    must(world, "DescribeStream", arena_printf(arena, "{'StreamArn':'%.*s'}", BYTES_FMT(arn)),
         arena);
    take(world, "\"ShardId\":\"", world->shards[table]);
    must(world, "GetShardIterator",
         arena_printf(arena,
                      "{'StreamArn':'%.*s','ShardId':'%s','ShardIteratorType':'TRIM_HORIZON'}",
                      BYTES_FMT(arn), world->shards[table]),
         arena);
    take(world, "\"ShardIterator\":\"", world->iterators[table]);
    must(world, "AddTrigger",
         arena_printf(arena, "{'TableName':'%s','Url':'http://owner:9/f?token=topsecret'}",
                      attack_tables[table].name),
         arena);
    take(world, "\"UUID\":\"", world->triggers[table]);
}

static void create(struct attack_world *world, size_t table, const char *name, struct arena *arena)
{
    const struct attack_table *made = &attack_tables[table];
    if (made->is_rich)
        must(world, "CreateTable", arena_printf(arena, RICH_TABLE, name, made->tag), arena);
    else
        must(world, "CreateTable",
             arena_printf(arena, PLAIN_TABLE, name, "pk", "S", "pk", made->tag), arena);
    for (size_t i = 0; i < COUNT_OF(users); i++)
        must(world, "PutItem",
             arena_printf(arena,
                          "{'TableName':'%s','Item':{'pk':{'S':'%s'},'sk':{'N':'1'},'g':{'S':"
                          "'%s'},'l':{'S':'mk-%s-%s-l'},'nick':{'S':'mk-%s-%s-nick'},"
                          "'pay':{'S':'mk-%s-%s-pay'}}}",
                          name, users[i], users[i], name, users[i], name, users[i], name, users[i]),
             arena);
}

static void put_policy(struct attack_world *world, const char *table, const char *label,
                       const struct naive_document *document, struct arena *arena)
{
    api_fixture_store_policy(&world->api, bytes_from_text(table), label,
                             naive_print(arena, document));
}

static void put_policies(struct attack_world *world, const struct attack_rights *rights,
                         struct arena *arena)
{
    for (size_t i = 0; i < ATTACK_TABLES; i++) {
        const char *name = attack_tables[i].name;
        if (i == SECRET && world->twin != ATTACK_ORIGINAL)
            continue;
        if (rights->has_policy[i])
            put_policy(world, name, NULL, &rights->of_table[i], arena);
        if (rights->has_stream_policy[i])
            put_policy(world, name, ATTACK_LABEL, &rights->of_stream[i], arena);
    }
}

void attack_world_open(struct attack_world *world, enum attack_twin twin,
                       const struct attack_world *original, const struct attack_rights *rights,
                       const struct trigger_outside *outside, struct arena *arena)
{
    *world = (struct attack_world){ .twin = twin };
    api_fixture_open_with(&world->api, &(struct api_options){ .trigger_outside = outside });
    create(world, ALPHA, "Alpha", arena);
    create(world, BETA, "Beta", arena);
    if (twin == ATTACK_ORIGINAL)
        create(world, SECRET, "Secret", arena);
    else
        create(world, SECRET, "Decoy", arena);
    if (twin == ATTACK_OTHER_SECRET)
        must(world, "CreateTable",
             arena_printf(arena, PLAIN_TABLE, "Secret", "other", "N", "other", "green"), arena);
    take_names(world, ALPHA, arena);
    if (original == NULL) {
        take_names(world, SECRET, arena);
    } else {
        memcpy(world->shards[SECRET], original->shards[SECRET], ATTACK_NAME_SIZE);
        memcpy(world->iterators[SECRET], original->iterators[SECRET], ATTACK_NAME_SIZE);
        memcpy(world->triggers[SECRET], original->triggers[SECRET], ATTACK_NAME_SIZE);
    }
    put_policies(world, rights, arena);
}

void attack_world_close(struct attack_world *world)
{
    api_fixture_close(&world->api);
}

/* --- What is stored --- */

static uint64_t hash(uint64_t start, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        start = (start ^ text.data[i]) * UINT64_C(1099511628211);
    return start;
}

static uint64_t hash_call(struct attack_world *world, uint64_t start, const char *operation,
                          struct bytes body, struct arena *arena)
{
    return hash(start, attack_world_call(world, NULL, operation, (const char *)body.data, arena));
}

uint64_t attack_world_items(struct attack_world *world, size_t table, struct arena *arena)
{
    return hash_call(world, 0, "Scan",
                     arena_printf(arena, "{'TableName':'%s'}", attack_tables[table].name), arena);
}

/* Which triggers there are; how their last call ended may change at any time. */
static uint64_t hash_triggers(struct attack_world *world, uint64_t all, struct arena *arena)
{
    static const char mark[] = "\"UUID\":\"";
    enum { UUID_SIZE = 36 };
    struct bytes rest = attack_world_call(world, NULL, "ListTriggers", "{}", arena);
    const uint8_t *at;
    while ((at = memmem(rest.data, rest.len, mark, sizeof mark - 1)) != NULL) {
        const uint8_t *end = rest.data + rest.len;
        at += sizeof mark - 1;
        all = hash(all, bytes_of(at, UUID_SIZE));
        rest = bytes_of(at, (size_t)(end - at));
    }
    return all;
}

/* Whether there is one; the status follows some time after the call that enabled it. */
static uint64_t hash_time_to_live(struct attack_world *world, uint64_t all, struct bytes body,
                                  struct arena *arena)
{
    static const char mark[] = "AttributeName";
    struct bytes answer =
        attack_world_call(world, NULL, "DescribeTimeToLive", (const char *)body.data, arena);
    bool enabled = memmem(answer.data, answer.len, mark, sizeof mark - 1) != NULL;
    return hash(all, enabled ? BYTES("enabled") : BYTES("disabled"));
}

uint64_t attack_world_settings(struct attack_world *world, struct arena *arena)
{
    uint64_t all = hash_call(world, 0, "ListTables", BYTES("{}"), arena);
    all = hash_triggers(world, all, arena);
    for (size_t i = 0; i < GAMMA; i++) {
        struct bytes by_name = arena_printf(arena, "{'TableName':'%s'}", attack_tables[i].name);
        struct bytes by_arn =
            arena_printf(arena, "{'ResourceArn':'" ATTACK_ARN "%s'}", attack_tables[i].name);
        all = hash_call(world, all, "DescribeTable", by_name, arena);
        all = hash_time_to_live(world, all, by_name, arena);
        all = hash_call(world, all, "DescribeContinuousBackups", by_name, arena);
        all = hash_call(world, all, "ListTagsOfResource", by_arn, arena);
        all = hash_call(world, all, "GetResourcePolicy", by_arn, arena);
    }
    return all;
}
