/* history_command.c -- `stator history`: the versions of an item, by requests to a running server.
 *
 * A key may be given as the API takes it, or by its plain values: then the table's description
 * tells the names and the types.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "codec/iso_time.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"
#include "json/writer.h"

enum { KEYS_MAX = 2, PAGE_MAX = 100, MS_PER_SECOND = 1000 };

/* --- The key --- */

struct key_names {
    struct arena *arena;
    struct bytes names[KEYS_MAX]; /* HASH, RANGE; empty: there is none. */
    struct bytes types[KEYS_MAX];
};

static void read_key_element(void *context, struct bytes element)
{
    struct key_names *keys = context;
    struct bytes type = answer_text(keys->arena, element, "KeyType");
    size_t at = bytes_equal_text(type, "HASH") ? 0 : 1;
    keys->names[at] = answer_text(keys->arena, element, "AttributeName");
}

static void read_attribute(void *context, struct bytes element)
{
    struct key_names *keys = context;
    struct bytes name = answer_text(keys->arena, element, "AttributeName");
    for (size_t i = 0; i < KEYS_MAX; i++)
        if (bytes_equal(name, keys->names[i]))
            keys->types[i] = answer_text(keys->arena, element, "AttributeType");
}

static int read_schema(const struct command_call *call, struct key_names *keys)
{
    struct bytes table;
    int code = admin_client_describe_table(call->arena, admin_client_call_of(call, NULL),
                                           call->words[0], &table);
    if (code != COMMAND_OK)
        return code;
    keys->arena = call->arena;
    answer_visit(call->arena, answer_json(call->arena, table, "KeySchema"), read_key_element, keys);
    answer_visit(call->arena, answer_json(call->arena, table, "AttributeDefinitions"),
                 read_attribute, keys);
    return COMMAND_OK;
}

/* {"name":{"S":"value"}} of the plain values. */
static int write_key(const struct command_call *call, struct json_writer *json)
{
    struct key_names keys = { 0 };
    if (call->words[1][0] == '{') {
        json_write_raw(json, bytes_from_text(call->words[1]));
        return COMMAND_OK;
    }
    int code = read_schema(call, &keys);
    if (code != COMMAND_OK)
        return code;
    size_t count = keys.names[1].len > 0 ? 2 : 1;
    if (call->word_count - 1 != count)
        return command_fail(COMMAND_MISUSED, call->words[0],
                            count == 2 ? "has a sort key: give both values of the key"
                                       : "has no sort key: give one value");
    json_open_object(json);
    for (size_t i = 0; i < count; i++) {
        json_write_name_bytes(json, keys.names[i]);
        json_open_object(json);
        json_write_name_bytes(json, keys.types[i]);
        json_write_string(json, bytes_from_text(call->words[1 + i]));
        json_close_object(json);
    }
    json_close_object(json);
    return COMMAND_OK;
}

/* --- The request --- */

static int write_time(const struct command_call *call, struct json_writer *json, const char *flag,
                      const char *member)
{
    const char *text = command_value_of(call, flag);
    int64_t time_ms;
    if (text == NULL)
        return COMMAND_OK;
    if (!iso_time_parse(bytes_from_text(text), &time_ms))
        return command_fail(COMMAND_MISUSED, flag, "expected a time such as 2026-11-16T10:43:35Z");
    json_write_name(json, member);
    json_write_seconds(json, time_ms);
    return COMMAND_OK;
}

/* All of the request but the page, without its closing brace. */
static int begin_request(const struct command_call *call, struct buffer *body,
                         struct json_writer *json)
{
    buffer_init(body, call->arena);
    json_writer_init(json, body);
    json_open_object(json);
    json_write_name(json, "TableName");
    json_write_string(json, bytes_from_text(call->words[0]));
    json_write_name(json, "Key");
    int code = write_key(call, json);
    if (code == COMMAND_OK)
        code = write_time(call, json, "from", "StartTime");
    return code == COMMAND_OK ? write_time(call, json, "to", "EndTime") : code;
}

/* --- The answer --- */

struct printing {
    struct arena *arena;
    bool json;
};

/* "2026-11-16T10:43:35.123456Z  MODIFY  {...}": the item after the change; of a deletion, before.
 */
static void print_version(void *context, struct bytes version)
{
    const struct printing *printing = context;
    struct arena *arena = printing->arena;
    if (printing->json) {
        printf("%.*s\n", BYTES_FMT(version));
        return;
    }
    struct bytes micros = answer_json(arena, version, "WriteTimestampMicros");
    struct bytes event = answer_text(arena, version, "EventName");
    struct bytes image = answer_json(arena, version, "NewImage");
    char digits[32], time[CLOCK_TEXT_SIZE];
    snprintf(digits, sizeof digits, "%.*s", BYTES_FMT(micros));
    long long commit_us = strtoll(digits, NULL, 10);
    clock_format_utc(commit_us / MS_PER_SECOND, time);
    if (image.len == 0)
        image = answer_json(arena, version, "OldImage");
    printf("%.*s.%06lldZ  %.*s%s  %.*s\n", (int)(sizeof "2026-11-16T10:43:35" - 1), time,
           commit_us % 1000000, BYTES_FMT(event),
           answer_json(arena, version, "UserIdentity").len > 0 ? " (expired)" : "",
           BYTES_FMT(image));
}

int history_command(const struct command_call *call)
{
    const char *max = command_value_of(call, "max");
    size_t left = max != NULL ? (size_t)strtoull(max, NULL, 10) : 20;
    struct printing printing = { .arena = call->arena,
                                 .json = command_value_of(call, "json") != NULL };
    struct buffer body;
    struct json_writer json;
    struct bytes token = { 0 };
    int code = begin_request(call, &body, &json);
    const size_t begun = body.len;
    while (code == COMMAND_OK && left > 0) {
        struct admin_client_call request = admin_client_call_of(call, "GetItemHistory");
        struct bytes answer, versions;
        size_t count;
        body.len = begun;
        buffer_append_bytes(&body, arena_printf(call->arena, ",\"Limit\":%zu",
                                                left < PAGE_MAX ? left : (size_t)PAGE_MAX));
        if (token.len > 0)
            buffer_append_bytes(
                &body, arena_printf(call->arena, ",\"NextToken\":\"%.*s\"", BYTES_FMT(token)));
        buffer_append_bytes(&body, BYTES("}"));
        request.body = buffer_bytes(&body);
        code = admin_client_send(call->arena, &request, &answer);
        if (code != COMMAND_OK)
            break;
        versions = answer_json(call->arena, answer, "Versions");
        count = answer_visit(call->arena, versions, print_version, &printing);
        token = answer_text(call->arena, answer, "NextToken");
        left -= count < left ? count : left;
        if (token.len == 0)
            break;
    }
    return code == COMMAND_OK ? command_flush() : code;
}
