/* policy_fixture.c -- see policy_fixture.h. */
#include "policy_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "model/error.h"

struct bytes policy_fixture_json(struct arena *arena, const char *text)
{
    struct bytes source = bytes_from_text(text);
    uint8_t *json = arena_alloc(arena, source.len);
    for (size_t i = 0; i < source.len; i++)
        json[i] = source.data[i] == '\'' ? '"' : source.data[i];
    return bytes_of(json, source.len);
}

struct bytes policy_fixture_document(struct arena *arena, const char *statements)
{
    struct bytes text = policy_fixture_json(arena, statements);
    return arena_printf(arena, "{\"Version\":\"2012-10-17\",\"Statement\":[%.*s]}",
                        BYTES_FMT(text));
}

static struct bytes take(struct bytes *rest, uint8_t separator)
{
    const uint8_t *end = memchr(rest->data, separator, rest->len);
    struct bytes part = *rest;
    *rest = bytes_of(rest->data + rest->len, 0);
    if (end != NULL) {
        size_t size = (size_t)(end - part.data);
        *rest = bytes_of(end + 1, part.len - size - 1);
        part.len = size;
    }
    return part;
}

enum { KEYS_MAX = 16, VALUES_MAX = 16 };

static struct policy_key make_key(struct arena *arena, struct bytes text)
{
    struct bytes *values = arena_alloc(arena, VALUES_MAX * sizeof *values);
    struct policy_key key = { .name = take(&text, '='), .values = values };
    if (memchr(key.name.data, ':', key.name.len) == NULL)
        key.name = arena_printf(arena, "dynamodb:%.*s", BYTES_FMT(key.name));
    while (text.len > 0 && key.count < VALUES_MAX)
        values[key.count++] = take(&text, ',');
    return key;
}

struct policy_request policy_fixture_request(struct arena *arena, const char *action,
                                             const char *resource, const char *keys)
{
    static const char always[] = ";aws:username=alice;aws:PrincipalArn=" POLICY_FIXTURE_ALICE;
    struct policy_key *list = arena_alloc(arena, KEYS_MAX * sizeof *list);
    struct bytes rest = arena_printf(arena, "%s%s", keys, always);
    struct policy_request request = {
        .action = arena_printf(arena, "dynamodb:%s", action),
        .resource = arena_printf(
            arena, "arn:aws:dynamodb:us-east-1:" POLICY_FIXTURE_ACCOUNT ":table/%s", resource),
        .principal = BYTES(POLICY_FIXTURE_ALICE),
        .account = BYTES(POLICY_FIXTURE_ACCOUNT),
        .keys = list,
    };
    if (strcmp(resource, "*") == 0)
        request.resource = BYTES("*");
    while (rest.len > 0 && request.key_count < KEYS_MAX) {
        struct bytes text = take(&rest, ';');
        if (text.len > 0)
            list[request.key_count++] = make_key(arena, text);
    }
    return request;
}

void policy_fixture_check(const struct policy_row *rows, size_t count)
{
    struct arena *arena = arena_create();
    for (size_t i = 0; i < count; i++) {
        const struct policy_row *row = &rows[i];
        const struct policy *identity = NULL;
        struct policy_set set = { .identity = &identity };
        struct error err;
        error_init(&err, arena);
        if (row->identity != NULL) {
            identity = policy_parse(arena, policy_fixture_document(arena, row->identity),
                                    POLICY_OF_IDENTITY, &err);
            set.identity_count = 1;
        }
        if (row->resource_policy != NULL && !error_is_set(&err))
            set.resource = policy_parse(arena, policy_fixture_document(arena, row->resource_policy),
                                        POLICY_OF_RESOURCE, &err);
        if (error_is_set(&err))
            fail_msg("%s: %.*s", row->rule, BYTES_FMT(err.message));
        struct policy_request request =
            policy_fixture_request(arena, row->action, row->resource, row->keys);
        enum policy_decision got = policy_decide(arena, &set, &request);
        if (got != row->want)
            fail_msg("row %zu, %s: decision %d, not %d", i, row->rule, (int)got, (int)row->want);
        arena_reset(arena);
    }
    arena_destroy(arena);
}
