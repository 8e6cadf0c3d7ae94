/* batch_fixture.c -- see batch_fixture.h. */
#include "batch_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_fixture.h"

void batch_fixture_must(struct api_fixture *db, const char *operation, const char *body)
{
    if (!api_fixture_call(db, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(db->error.message));
}

void batch_fixture_create_tables(struct api_fixture *db)
{
    batch_fixture_must(db, "CreateTable", TABLE("plain"));
    batch_fixture_must(
        db, "CreateTable",
        "{'TableName':'sorted','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'h','AttributeType':'S'},{'AttributeName':'r','AttributeType':'N'}],"
        "'KeySchema':[{'AttributeName':'h','KeyType':'HASH'},{'AttributeName':'r','KeyType':"
        "'RANGE'}]}");
}
