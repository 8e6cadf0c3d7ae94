/* transaction_fixture.c -- see transaction_fixture.h. */
#include "transaction_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "item_fixture.h"

#define PLAIN_TABLE(name)                                                                          \
    "{'TableName':'" name "','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["             \
    "{'AttributeName':'pk','AttributeType':'S'}],'KeySchema':[{'AttributeName':'pk','KeyType':"    \
    "'HASH'}]}"
#define INDEXED_TABLE                                                                              \
    "{'TableName':'indexed','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["              \
    "{'AttributeName':'h','AttributeType':'S'},{'AttributeName':'r','AttributeType':'N'},"         \
    "{'AttributeName':'l','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],"        \
    "'KeySchema':[{'AttributeName':'h','KeyType':'HASH'},{'AttributeName':'r','KeyType':'RANGE'}]" \
    ",'LocalSecondaryIndexes':[{'IndexName':'by-l','KeySchema':[{'AttributeName':'h','KeyType':"   \
    "'HASH'},{'AttributeName':'l','KeyType':'RANGE'}],'Projection':{'ProjectionType':'ALL'}}],"    \
    "'GlobalSecondaryIndexes':[{'IndexName':'by-g','KeySchema':[{'AttributeName':'g','KeyType':"   \
    "'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}"

void transaction_fixture_must(struct api_fixture *db, const char *operation, const char *body)
{
    if (!api_fixture_call(db, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(db->error.message));
}

void transaction_fixture_create_tables(struct api_fixture *db)
{
    transaction_fixture_must(db, "CreateTable", PLAIN_TABLE("plain"));
    transaction_fixture_must(db, "CreateTable", PLAIN_TABLE("other"));
    transaction_fixture_must(db, "CreateTable", INDEXED_TABLE);
}

void transaction_fixture_expect_cancelled(struct api_fixture *db, const char *operation,
                                          const char *body, const char *codes, const char *reasons)
{
    char message[8192], list[8192];
    snprintf(message, sizeof message, CANCELLED "%s", codes);
    snprintf(list, sizeof list, "[%s]", reasons);
    api_fixture_expect_error(db, operation, body, ERROR_TRANSACTION_CANCELED, message);
    if (!bytes_equal(db->error.reasons_json, item_fixture_text(db->arena, list)))
        fail_msg("%s %s\n got: %.*s\nwant: %s", operation, body, BYTES_FMT(db->error.reasons_json),
                 list);
}

void transaction_fixture_expect_item(struct api_fixture *db, const char *key, const char *item)
{
    char body[512], response[512];
    snprintf(body, sizeof body, "{'TableName':'plain','ConsistentRead':true,'Key':%s}", key);
    snprintf(response, sizeof response, item == NULL ? "{}" : "{'Item':%s}", item);
    api_fixture_expect(db, "GetItem", body, response);
}

static void append_text(struct buffer *out, const char *text)
{
    buffer_append_bytes(out, bytes_from_text(text));
}

static void append_put(struct buffer *out, unsigned number, size_t size)
{
    size_t len = size - sizeof("pk0000x") + 1;
    buffer_append_bytes(out, arena_printf(out->arena,
                                          "{'Put':{'TableName':'plain','Item':{'pk':{'S':'%04u'},"
                                          "'x':{'S':'",
                                          number));
    memset(buffer_reserve(out, len), 'x', len);
    out->len += len;
    append_text(out, "'}}}}");
}

const char *transaction_fixture_puts(struct arena *arena, unsigned count, size_t size,
                                     size_t last_size)
{
    struct buffer out;
    buffer_init(&out, arena);
    append_text(&out, "{'TransactItems':[");
    for (unsigned i = 1; i <= count; i++) {
        append_text(&out, i > 1 ? "," : "");
        append_put(&out, i, i < count ? size : last_size);
    }
    append_text(&out, "]}");
    buffer_append_byte(&out, '\0');
    return (const char *)out.data;
}

const char *transaction_fixture_gets(struct arena *arena, unsigned count)
{
    struct buffer out;
    buffer_init(&out, arena);
    append_text(&out, "{'TransactItems':[");
    for (unsigned i = 1; i <= count; i++)
        buffer_append_bytes(&out, arena_printf(arena,
                                               "%s{'Get':{'TableName':'plain','Key':{'pk':{'S':"
                                               "'%04u'}}}}",
                                               i > 1 ? "," : "", i));
    append_text(&out, "]}");
    buffer_append_byte(&out, '\0');
    return (const char *)out.data;
}
