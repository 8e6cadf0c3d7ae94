/* test_create_table.c -- every rule of CreateTable, and what it answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "model/limits.h"

static struct api_fixture db;
static struct arena *arena; /* For bodies; the fixture's own is reset by each call. */

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    api_fixture_open(&db, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    arena_destroy(arena);
    return 0;
}

#define INVALID "One or more parameter values were invalid: "
#define DEF(name) "{'AttributeName':'" name "','AttributeType':'S'}"
#define HASH(name) "{'AttributeName':'" name "','KeyType':'HASH'}"
#define RANGE(name) "{'AttributeName':'" name "','KeyType':'RANGE'}"
#define DEFS(list) "'AttributeDefinitions':[" list "]"
#define KEYS(list) "'KeySchema':[" list "]"
#define ON_DEMAND "'BillingMode':'PAY_PER_REQUEST'"
#define UNITS(read, write)                                                                         \
    "'ProvisionedThroughput':{'ReadCapacityUnits':" read ",'WriteCapacityUnits':" write "}"
#define ALL "'Projection':{'ProjectionType':'ALL'}"
#define INDEX(name, keys, rest) "{'IndexName':'" name "'," KEYS(keys) "," rest "}"
#define LOCALS(list) "'LocalSecondaryIndexes':[" list "]"
#define GLOBALS(list) "'GlobalSecondaryIndexes':[" list "]"
#define KEYED(defs, keys) "{'TableName':'abc'," DEFS(defs) "," KEYS(keys) "," ON_DEMAND "}"
/* A table with partition key a, or a and b, and whatever else. */
#define A_TABLE(rest) "{'TableName':'abc'," DEFS(DEF("a")) "," KEYS(HASH("a")) "," rest "}"
#define AB_TABLE(defs, rest)                                                                       \
    "{'TableName':'abc'," DEFS(defs) "," KEYS(HASH("a") "," RANGE("b")) "," ON_DEMAND "," rest "}"
#define ABC DEF("a") "," DEF("b") "," DEF("c")
#define AC_TABLE(rest)                                                                             \
    "{'TableName':'abc'," DEFS(DEF("a") "," DEF("c")) "," KEYS(HASH("a")) "," rest "}"
#define AB HASH("a") "," RANGE("b")
#define AC HASH("a") "," RANGE("c")
#define CAB HASH("c") "," RANGE("a") "," RANGE("b")
#define BOTH_SAME "Both the Hash Key and the Range Key element in the KeySchema have the same name"
#define NOT_HASH_FIRST "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
#define NOT_RANGE_SECOND "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
#define SAME_NAME "The KeySchema contains multiple key attributes with the same name"
#define NO_DEFINITION "Invalid KeySchema: Some index key attribute have no definition"
#define UNDEFINED(keys, defs)                                                                      \
    INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [" keys      \
            "], AttributeDefinitions: [" defs "]"
#define NOT_ALL_USED                                                                               \
    INVALID "Number of attributes in KeySchema does not exactly match number of attributes "       \
            "defined in AttributeDefinitions"

static const struct {
    const char *body, *message;
} refused[] = {
    /* Billing mode and provisioned throughput. */
    { A_TABLE(ON_DEMAND "," UNITS("1", "1")),
      INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode "
              "is PAY_PER_REQUEST" },
    { A_TABLE("'BillingMode':'PROVISIONED'"),
      INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
              "PROVISIONED" },
    { A_TABLE("'TableClass':'STANDARD'"),
      INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
              "PROVISIONED" },
    { A_TABLE(UNITS("1000000000001", "1000000000001")),
      "Given value 1000000000001 for ReadCapacityUnits is out of bounds" },
    { A_TABLE(UNITS("1", "1000000000001")),
      "Given value 1000000000001 for WriteCapacityUnits is out of bounds" },
    /* Attribute definitions and the table's key. */
    { KEYED("", HASH("a")), NO_DEFINITION },
    { KEYED(DEF("a"), HASH("a") "," HASH("a")), NO_DEFINITION },
    { KEYED(DEF("b"), HASH("a")), UNDEFINED("a", "b") },
    { KEYED(DEF("a") "," DEF("b"), HASH("a") "," RANGE("c")), UNDEFINED("a, c", "a, b") },
    { KEYED(DEF("a"), RANGE("a")), NOT_HASH_FIRST },
    { KEYED(DEF("a") "," DEF("b"), RANGE("b") "," HASH("a")), NOT_HASH_FIRST },
    { KEYED(DEF("a") "," DEF("b"), HASH("a") "," HASH("b")), NOT_RANGE_SECOND },
    { KEYED(DEF("a") "," DEF("b"), HASH("a") "," RANGE("a")), BOTH_SAME },
    { KEYED(DEF("a") "," DEF("b"), HASH("a")), NOT_ALL_USED },
    { KEYED(DEF("a") "," DEF("a"), HASH("a")), "Attribute Name is duplicated: a" },
    /* Local indexes. */
    { A_TABLE(ON_DEMAND "," LOCALS("")), INVALID "List of LocalSecondaryIndexes is empty" },
    { AC_TABLE(ON_DEMAND "," LOCALS(INDEX("lsi", AC, ALL))),
      INVALID "Table KeySchema does not have a range key, which is required when specifying a "
              "LocalSecondaryIndex" },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", HASH("a"), ALL))),
      INVALID "Index KeySchema does not have a range key for index: lsi" },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", HASH("b") "," RANGE("c"), ALL))),
      INVALID "Index KeySchema does not have the same leading hash key as table KeySchema for "
              "index: lsi. index hash key: b, table hash key: a" },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", RANGE("c") "," HASH("a"), ALL))), NOT_HASH_FIRST },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", HASH("a") "," HASH("c"), ALL))), NOT_RANGE_SECOND },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", HASH("a") "," RANGE("a"), ALL))), BOTH_SAME },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", HASH("a") "," RANGE("d"), ALL))),
      UNDEFINED("a, d", "a, b, c") },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", HASH("a") "," RANGE("b"), ALL))),
      INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [a, b, c], keys used: "
              "[a, b]" },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", AC, ALL) "," INDEX("lsi", AC, ALL))),
      INVALID "Duplicate index name: lsi" },
    { AB_TABLE(ABC, LOCALS(INDEX("same", AC, ALL)) "," GLOBALS(INDEX("same", HASH("c"), ALL))),
      INVALID "Duplicate index name: same" },
    /* Projections. */
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", AC, "'Projection':{}"))),
      INVALID "Unknown ProjectionType: null" },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", AC, "'Projection':{'NonKeyAttributes':['x']}"))),
      INVALID "Unknown ProjectionType: null" },
    { AB_TABLE(ABC, LOCALS(INDEX("lsi", AC, "'Projection':{'ProjectionType':'INCLUDE'}"))),
      INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified" },
    { AB_TABLE(ABC,
               LOCALS(INDEX("lsi", AC,
                            "'Projection':{'ProjectionType':'ALL','NonKeyAttributes':['x']}"))),
      INVALID "ProjectionType is ALL, but NonKeyAttributes is specified" },
    { AB_TABLE(ABC, LOCALS(INDEX(
                        "lsi", AC,
                        "'Projection':{'ProjectionType':'KEYS_ONLY','NonKeyAttributes':['x']}"))),
      INVALID "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified" },
    { AB_TABLE(ABC, LOCALS(INDEX(
                        "lsi", AC,
                        "'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['x','x']}"))),
      INVALID "Duplicate element in NonKeyAttributes: x" },
    /* Global indexes. */
    { A_TABLE(ON_DEMAND "," GLOBALS("")), INVALID "List of GlobalSecondaryIndexes is empty" },
    { A_TABLE(ON_DEMAND "," GLOBALS(INDEX("gsi", HASH("c"), ALL))), UNDEFINED("c", "a") },
    { AC_TABLE(ON_DEMAND "," GLOBALS(INDEX("gsi", RANGE("c"), ALL))), NOT_HASH_FIRST },
    { AC_TABLE(ON_DEMAND "," GLOBALS(INDEX("gsi", HASH("c") "," RANGE("c"), ALL))), SAME_NAME },
    { AB_TABLE(ABC, GLOBALS(INDEX("gsi", HASH("c") "," RANGE("a") "," RANGE("c"), ALL))),
      SAME_NAME },
    { AB_TABLE(ABC, GLOBALS(INDEX("gsi", HASH("c") "," RANGE("a") "," HASH("b"), ALL))),
      INVALID "All HASH key attributes must precede RANGE key attributes in the KeySchema" },
    { AC_TABLE(ON_DEMAND "," GLOBALS(INDEX("gsi", HASH("c"), ALL "," UNITS("1", "1")))),
      INVALID "ProvisionedThroughput should not be specified for index: gsi when BillingMode is "
              "PAY_PER_REQUEST" },
    { AC_TABLE(UNITS("1", "1") "," GLOBALS(INDEX("gsi", HASH("c"), ALL))),
      INVALID "ProvisionedThroughput is not specified for index: gsi" },
    { AC_TABLE(UNITS("1", "1") "," GLOBALS(
          INDEX("gsi", HASH("c"), ALL "," UNITS("1000000000001", "1")))),
      "Given value 1000000000001 for ReadCapacityUnits is out of bounds for index gsi" },
    { AC_TABLE(ON_DEMAND "," GLOBALS(
          INDEX("gsi", HASH("c"), ALL ",'OnDemandThroughput':{'MaxReadRequestUnits':0}"))),
      INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for index : gsi is outside of "
              "valid range" },
    { AC_TABLE(ON_DEMAND "," GLOBALS(
          INDEX("gsi", HASH("c"), ALL ",'WarmThroughput':{'WriteUnitsPerSecond':3999}"))),
      INVALID "Requested WriteUnitsPerSecond for WarmThroughput for index gsi is lower than "
              "initial throughput for OnDemand. See: "
              "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
              "on-demand-capacity-mode.html#on-demand-capacity-mode-initial" },
    /* On-demand and warm throughput. */
    { A_TABLE(UNITS("1", "1") ",'OnDemandThroughput':{'MaxReadRequestUnits':1}"),
      INVALID "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table "
              "BillingMode is PROVISIONED." },
    { A_TABLE(UNITS("1", "1") ",'OnDemandThroughput':{'MaxWriteRequestUnits':1}"),
      INVALID "MaxWriteRequestUnits for OnDemandThroughput cannot be specified when table "
              "BillingMode is PROVISIONED." },
    { A_TABLE(ON_DEMAND ",'OnDemandThroughput':{'MaxReadRequestUnits':-1}"),
      INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid "
              "range" },
    { A_TABLE(ON_DEMAND ",'OnDemandThroughput':{'MaxWriteRequestUnits':0}"),
      INVALID "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid "
              "range" },
    { A_TABLE(ON_DEMAND ",'WarmThroughput':{'ReadUnitsPerSecond':11999}"),
      INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than initial "
              "throughput for OnDemand. See: "
              "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
              "on-demand-capacity-mode.html#on-demand-capacity-mode-initial" },
    { A_TABLE(UNITS("5", "5") ",'WarmThroughput':{'WriteUnitsPerSecond':4}"),
      INVALID "Requested WriteUnitsPerSecond for WarmThroughput for table is lower than "
              "WriteCapacityUnits of ProvisionedThroughput" },
    /* Settings. */
    { A_TABLE(ON_DEMAND ",'StreamSpecification':{'StreamEnabled':true}"),
      INVALID "Table is being created with a stream enabled, UpdateViewType is required" },
    { A_TABLE(ON_DEMAND
              ",'StreamSpecification':{'StreamEnabled':false,'StreamViewType':'KEYS_ONLY'}"),
      INVALID "Table is being created with a stream disabled, UpdateViewType should not be "
              "specified" },
    { A_TABLE(ON_DEMAND ",'SSESpecification':{'Enabled':true,'SSEType':'AES256'}"),
      INVALID "SSEType AES256 is not supported" },
    { A_TABLE(ON_DEMAND ",'Tags':[{'Key':'aws:a','Value':''}]"),
      "Tag Key cannot be prefixed with aws:, Key: aws:a" },
    { A_TABLE(ON_DEMAND ",'Tags':[{}]"), "The Tag Key provided is invalid, Key: null" },
    { A_TABLE(ON_DEMAND ",'Tags':[{'Key':'a'}]"),
      "The Tag Value provided is invalid, Value: null" },
    { A_TABLE(ON_DEMAND ",'VectorIndexes':[]"), "VectorIndexes is not supported yet" },
    { A_TABLE(ON_DEMAND ",'GlobalTableSourceArn':'x'"),
      "GlobalTableSourceArn is not supported yet" },
    { A_TABLE(ON_DEMAND ",'GlobalTableSettingsReplicationMode':'ENABLED'"),
      "GlobalTableSettingsReplicationMode is not supported yet" },
};

static void each_rule_refuses_in_the_service_s_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        api_fixture_expect_error(&db, "CreateTable", refused[i].body, ERROR_VALIDATION,
                                 refused[i].message);
    api_fixture_expect(&db, "ListTables", "{}", "{'TableNames':[]}");
}

/* --- Limits --- */

/* `format`, which has one %u, printed `count` times with commas between. */
static struct bytes series(const char *format, unsigned count)
{
    struct buffer out;
    buffer_init(&out, arena);
    for (unsigned i = 0; i < count; i++) {
        char text[256];
        if (i > 0)
            buffer_append_byte(&out, ',');
        const char *mark = strstr(format, "%u");
        assert_non_null(mark);
        int len =
            snprintf(text, sizeof(text), "%.*s%u%s", (int)(mark - format), format, i, mark + 2);
        buffer_append(&out, text, (size_t)len);
    }
    return buffer_bytes(&out);
}

static void expect_created(bool created, struct bytes body, const char *message)
{
    const char *text = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(body)).data;
    if (!created) {
        api_fixture_expect_error(&db, "CreateTable", text, ERROR_VALIDATION, message);
        return;
    }
    if (!api_fixture_call(&db, "CreateTable", text))
        fail_msg("%s\n got: %.*s", text, BYTES_FMT(db.error.message));
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}"));
}

static void a_table_has_at_most_five_local_indexes(void **state)
{
    (void)state;
    for (unsigned count = LOCAL_INDEXES_MAX - 1; count <= LOCAL_INDEXES_MAX + 1; count++) {
        struct bytes list = series(INDEX("lsi%u", AC, ALL), count);
        expect_created(count <= LOCAL_INDEXES_MAX,
                       arena_printf(arena, AB_TABLE(ABC, LOCALS("%.*s")), BYTES_FMT(list)),
                       INVALID "Number of LocalSecondaryIndexes exceeds per-table limit of 5");
    }
}

static void a_table_has_at_most_twenty_global_indexes(void **state)
{
    (void)state;
    for (unsigned count = GLOBAL_INDEXES_MAX - 1; count <= GLOBAL_INDEXES_MAX + 1; count++) {
        struct bytes list = series(INDEX("gsi%u", HASH("c"), ALL), count);
        expect_created(
            count <= GLOBAL_INDEXES_MAX,
            arena_printf(arena, AC_TABLE(ON_DEMAND "," GLOBALS("%.*s")), BYTES_FMT(list)),
            INVALID "GlobalSecondaryIndex count exceeds the per-table limit of 20");
    }
}

static void a_global_index_has_at_most_four_keys_of_each_kind(void **state)
{
    (void)state;
    for (unsigned hashes = 1; hashes <= INDEX_HASH_KEYS_MAX + 1; hashes++) {
        for (unsigned ranges = 0; ranges <= INDEX_RANGE_KEYS_MAX + 1; ranges++) {
            struct bytes definitions = series(DEF("h%u"), hashes);
            struct bytes keys = series(HASH("h%u"), hashes);
            if (ranges > 0) {
                struct bytes more = series(DEF("r%u"), ranges);
                definitions =
                    arena_printf(arena, "%.*s,%.*s", BYTES_FMT(definitions), BYTES_FMT(more));
                more = series(RANGE("r%u"), ranges);
                keys = arena_printf(arena, "%.*s,%.*s", BYTES_FMT(keys), BYTES_FMT(more));
            }
            struct bytes body =
                arena_printf(arena,
                             "{'TableName':'abc'," DEFS(DEF("a") ",%.*s") "," KEYS(HASH(
                                 "a")) "," ON_DEMAND "," GLOBALS(INDEX("gsi", "%.*s", ALL)) "}",
                             BYTES_FMT(definitions), BYTES_FMT(keys));
            expect_created(hashes <= INDEX_HASH_KEYS_MAX && ranges <= INDEX_RANGE_KEYS_MAX, body,
                           hashes > INDEX_HASH_KEYS_MAX
                               ? INVALID "The KeySchema exceeds the maximum allowed number of "
                                         "HASH key attributes"
                               : INVALID "The KeySchema exceeds the maximum allowed number of "
                                         "RANGE key attributes");
        }
    }
}

static void all_indexes_together_include_at_most_a_hundred_names(void **state)
{
    (void)state;
    struct bytes twenty = series("'n%u'", 20);
    struct bytes four = series("{'IndexName':'gsi%u'," KEYS(HASH(
                                   "c")) ",'Projection':"
                                         "{'ProjectionType':'INCLUDE','NonKeyAttributes':[@]}}",
                               4);
    struct buffer full; /* Four indexes that include twenty names each. */
    buffer_init(&full, arena);
    for (size_t i = 0; i < four.len; i++) {
        if (four.data[i] == '@')
            buffer_append_bytes(&full, twenty);
        else
            buffer_append_byte(&full, four.data[i]);
    }
    for (unsigned last = 19; last <= 20; last++) {
        for (unsigned more = 0; more <= 1; more++) {
            struct bytes names = series("'n%u'", last);
            struct bytes body =
                arena_printf(arena,
                             AC_TABLE(ON_DEMAND "," GLOBALS(
                                 "%.*s," INDEX("gsi4", HASH("c"),
                                               "'Projection':{'ProjectionType':'INCLUDE',"
                                               "'NonKeyAttributes':[%.*s]}") "%s")),
                             BYTES_FMT(buffer_bytes(&full)), BYTES_FMT(names),
                             more == 0 ? ""
                                       : "," INDEX("gsi5", HASH("c"),
                                                   "'Projection':{'ProjectionType':'INCLUDE',"
                                                   "'NonKeyAttributes':['x']}"));
            expect_created(80 + last + more <= 100, body,
                           INVALID "Number of projected attributes in all indexes exceeds limit of "
                                   "100");
        }
    }
}

static void a_table_has_at_most_fifty_tags(void **state)
{
    (void)state;
    for (unsigned count = TAGS_MAX - 1; count <= TAGS_MAX + 1; count++) {
        struct bytes list = series("{'Key':'k%u','Value':''}", count);
        expect_created(count <= TAGS_MAX,
                       arena_printf(arena, A_TABLE(ON_DEMAND ",'Tags':[%.*s]"), BYTES_FMT(list)),
                       "Number of Tags exceed the current limit for the provided ResourceArn");
    }
}

/* Within a body, a policy is a string, whose quotes are \'. */
#define POLICY                                                                                     \
    "{\\'Statement\\':{\\'Effect\\':\\'Deny\\',\\'Principal\\':\\'*\\',\\'Action\\':\\'*\\',"      \
    "\\'Resource\\':\\'*\\'}}"

static void a_resource_policy_has_at_most_twenty_kilobytes(void **state)
{
    (void)state;
    size_t policy_size = 0; /* A quote and its backslash are one byte of the policy. */
    for (const char *at = POLICY; *at != '\0'; at++)
        policy_size += *at != '\\';
    for (size_t size = 20 * 1024 - 1; size <= 20 * 1024 + 1; size++)
        expect_created(size <= 20 * 1024, /* White space counts. */
                       arena_printf(arena, A_TABLE(ON_DEMAND ",'ResourcePolicy':'%*s" POLICY "'"),
                                    (int)(size - policy_size), ""),
                       INVALID "Maximum policy size of 20480 bytes exceeded");
}

static void provisioned_units_have_a_greatest_value(void **state)
{
    (void)state;
    expect_created(true, bytes_from_text(A_TABLE(UNITS("1000000000000", "1000000000000"))), NULL);
    expect_created(true, bytes_from_text(A_TABLE(UNITS("999999999999", "1"))), NULL);
}

static void a_key_name_of_the_greatest_length_is_stored(void **state)
{
    (void)state;
    struct buffer name; /* 255 UTF-16 units, three bytes each. */
    buffer_init(&name, arena);
    for (int i = 0; i < KEY_ATTRIBUTE_NAME_SIZE_MAX; i++)
        buffer_append_bytes(&name, BYTES("\xE2\x82\xAC"));
    struct bytes text = buffer_bytes(&name);
    expect_created(
        true,
        arena_printf(
            arena, "{'TableName':'abc'," DEFS(DEF("%.*s")) "," KEYS(HASH("%.*s")) "," ON_DEMAND "}",
            BYTES_FMT(text), BYTES_FMT(text)),
        NULL);
}

static void there_are_at_most_2500_tables(void **state)
{
    (void)state;
    char body[512];
    for (unsigned i = 0; i <= TABLES_MAX; i++) {
        snprintf(body, sizeof(body),
                 "{'TableName':'table%u'," DEFS(DEF("a")) "," KEYS(HASH("a")) "," ON_DEMAND "}", i);
        if (i < TABLES_MAX)
            assert_true(api_fixture_call(&db, "CreateTable", body));
        else
            api_fixture_expect_error(&db, "CreateTable", body, ERROR_LIMIT_EXCEEDED,
                                     "Subscriber limit exceeded: There is a limit of 2500 tables "
                                     "per subscriber");
    }
}

/* --- Answers --- */

#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/abc"
#define NO_UNITS                                                                                   \
    "'ProvisionedThroughput':{'NumberOfDecreasesToday':0,'ReadCapacityUnits':0,"                   \
    "'WriteCapacityUnits':0}"
#define WARM(read, write)                                                                          \
    "'WarmThroughput':{'ReadUnitsPerSecond':" read ",'WriteUnitsPerSecond':" write                 \
    ",'Status':'ACTIVE'}"

/* The response with its random TableId left out. */
static void assert_response(const char *want)
{
    static const char mark[] = "\"TableId\":\"";
    const uint8_t *id = memmem(db.response.data, db.response.len, mark, sizeof(mark) - 1);
    assert_non_null(id);
    const uint8_t *rest = id + sizeof(mark) - 1 + 36 + 2;
    struct buffer got;
    buffer_init(&got, arena);
    buffer_append(&got, db.response.data, (size_t)(id - db.response.data));
    buffer_append(&got, rest, (size_t)(db.response.data + db.response.len - rest));
    for (size_t i = 0; i < got.len; i++) {
        if (got.data[i] == '"')
            got.data[i] = '\'';
    }
    if (!bytes_equal_text(buffer_bytes(&got), want))
        fail_msg("\n got: %.*s\nwant: %s", BYTES_FMT(buffer_bytes(&got)), want);
}

static void a_small_table_is_described(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&db, "CreateTable", A_TABLE(ON_DEMAND)));
#define SMALL_START "{" DEFS(DEF("a")) ",'TableName':'abc'," KEYS(HASH("a")) ",'TableStatus':"
#define SMALL_SIZE ",'TableSizeBytes':0,'ItemCount':0,'TableArn':'" ARN "',"
#define SMALL_MODE(since)                                                                          \
    "'BillingModeSummary':{'BillingMode':'PAY_PER_REQUEST'" since                                  \
    "},'TableThroughputModeSummary':{'TableThroughputMode':'PAY_PER_REQUEST'" since                \
    "},'DeletionProtectionEnabled':false"
#define SMALL_SINCE ",'LastUpdateToPayPerRequestDateTime':1700000000"
#define SMALL_TIME ",'CreationDateTime':1700000000," NO_UNITS SMALL_SIZE
    assert_response("{'TableDescription':" SMALL_START "'CREATING'" SMALL_TIME SMALL_MODE("") "}}");
    assert_true(api_fixture_call(&db, "DescribeTable", "{'TableName':'abc'}"));
    assert_response("{'Table':" SMALL_START
                    "'ACTIVE'" SMALL_TIME SMALL_MODE(SMALL_SINCE) "," WARM("12000", "4000") "}}");
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'" ARN "'}"));
    assert_response(
        "{'TableDescription':{'TableName':'abc','TableStatus':'DELETING'," NO_UNITS SMALL_SIZE
            SMALL_MODE(SMALL_SINCE) "}}");
}

/* A request with every field, and what DescribeTable shows of it. */
static const char full_request[] =
    "{'TableName':'abc',"
    "'AttributeDefinitions':[" ABC "],"
    "'KeySchema':[" AB "],"
    "'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':6},"
    "'LocalSecondaryIndexes':[{'IndexName':'lsi','KeySchema':[" AC "],"
    "'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['z','y']}}],"
    "'GlobalSecondaryIndexes':[{'IndexName':'gsi','KeySchema':[" CAB "],"
    "'Projection':{'ProjectionType':'ALL'},"
    "'ProvisionedThroughput':{'ReadCapacityUnits':7,'WriteCapacityUnits':8},"
    "'WarmThroughput':{'ReadUnitsPerSecond':50}}],"
    "'TableClass':'STANDARD_INFREQUENT_ACCESS',"
    "'DeletionProtectionEnabled':true,"
    "'SSESpecification':{'Enabled':true,'SSEType':'KMS','KMSMasterKeyId':'alias/k'},"
    "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'},"
    "'WarmThroughput':{'WriteUnitsPerSecond':9},"
    "'ResourcePolicy':'" POLICY "',"
    "'Tags':[{'Key':'k','Value':'v'}]}";

static const char full_description[] =
    "{'Table':{'AttributeDefinitions':[" ABC "],"
    "'TableName':'abc',"
    "'KeySchema':[" AB "],"
    "'TableStatus':'ACTIVE',"
    "'CreationDateTime':1700000000,"
    "'ProvisionedThroughput':{'NumberOfDecreasesToday':0,'ReadCapacityUnits':5,"
    "'WriteCapacityUnits':6},"
    "'TableSizeBytes':0,'ItemCount':0,"
    "'TableArn':'" ARN "',"
    "'LocalSecondaryIndexes':[{'IndexName':'lsi','KeySchema':[" AC "],"
    "'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['y','z']},"
    "'IndexSizeBytes':0,'ItemCount':0,"
    "'IndexArn':'" ARN "/index/lsi'}],"
    "'GlobalSecondaryIndexes':[{'IndexName':'gsi','KeySchema':[" CAB "],"
    "'Projection':{'ProjectionType':'ALL'},"
    "'IndexStatus':'ACTIVE',"
    "'ProvisionedThroughput':{'NumberOfDecreasesToday':0,'ReadCapacityUnits':7,"
    "'WriteCapacityUnits':8},"
    "'IndexSizeBytes':0,'ItemCount':0,"
    "'IndexArn':'" ARN "/index/gsi',"
    "'WarmThroughput':{'ReadUnitsPerSecond':50,'WriteUnitsPerSecond':8,'Status':'ACTIVE'}}],"
    "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'},"
    "'LatestStreamLabel':'2023-11-14T22:13:20.000',"
    "'LatestStreamArn':'" ARN "/stream/2023-11-14T22:13:20.000',"
    "'SSEDescription':{'Status':'ENABLED','SSEType':'KMS',"
    "'KMSMasterKeyArn':'arn:aws:kms:eu-west-1:123456789012:key/"
    "cf23a16d-8aba-39b0-ba9b-daff8080e8c6'},"
    "'TableClassSummary':{'TableClass':'STANDARD_INFREQUENT_ACCESS'},"
    "'DeletionProtectionEnabled':true,"
    "'WarmThroughput':{'ReadUnitsPerSecond':5,'WriteUnitsPerSecond':9,'Status':'ACTIVE'}}}";

static void every_field_is_echoed(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&db, "CreateTable", full_request));
    assert_true(api_fixture_call(&db, "DescribeTable", "{'TableName':'abc'}"));
    assert_response(full_description);
    api_fixture_expect(&db, "ListTagsOfResource", "{'ResourceArn':'" ARN "'}",
                       "{'Tags':[{'Key':'k','Value':'v'}]}");
}

static void an_on_demand_index_shows_zeros_and_its_limits(void **state)
{
    (void)state;
    assert_true(api_fixture_call(
        &db, "CreateTable",
        AC_TABLE(ON_DEMAND ",'OnDemandThroughput':{'MaxReadRequestUnits':3}," GLOBALS(
            INDEX("gsi", HASH("c"), ALL ",'OnDemandThroughput':{'MaxWriteRequestUnits':4}")))));
    assert_true(api_fixture_shows(&db, "'IndexStatus':'CREATING'," NO_UNITS));
    assert_true(api_fixture_shows(&db, "'OnDemandThroughput':{'MaxReadRequestUnits':3}"));
    assert_true(api_fixture_shows(&db, "'OnDemandThroughput':{'MaxWriteRequestUnits':4}}"));
    assert_true(api_fixture_call(&db, "DescribeTable", "{'TableName':'abc'}"));
    assert_true(api_fixture_shows(
        &db, "'OnDemandThroughput':{'MaxWriteRequestUnits':4}," WARM("12000", "4000")));
}

static void a_name_is_taken_until_the_table_is_gone(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&db, "CreateTable", A_TABLE(ON_DEMAND)));
    api_fixture_expect_error(&db, "CreateTable", A_TABLE(ON_DEMAND), ERROR_RESOURCE_IN_USE,
                             "Table already exists: abc");
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}"));
    assert_true(api_fixture_call(&db, "CreateTable", A_TABLE(ON_DEMAND)));
}

static void a_table_may_be_named_by_its_arn(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&db, "CreateTable",
                                 "{'TableName':'" ARN
                                 "'," DEFS(DEF("a")) "," KEYS(HASH("a")) "," ON_DEMAND "}"));
    api_fixture_expect(&db, "ListTables", "{}", "{'TableNames':['abc']}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_rule_refuses_in_the_service_s_words),
        TEST(a_table_has_at_most_five_local_indexes),
        TEST(a_table_has_at_most_twenty_global_indexes),
        TEST(a_global_index_has_at_most_four_keys_of_each_kind),
        TEST(all_indexes_together_include_at_most_a_hundred_names),
        TEST(a_table_has_at_most_fifty_tags),
        TEST(a_resource_policy_has_at_most_twenty_kilobytes),
        TEST(provisioned_units_have_a_greatest_value),
        TEST(a_key_name_of_the_greatest_length_is_stored),
        TEST(there_are_at_most_2500_tables),
        TEST(a_small_table_is_described),
        TEST(every_field_is_echoed),
        TEST(an_on_demand_index_shows_zeros_and_its_limits),
        TEST(a_name_is_taken_until_the_table_is_gone),
        TEST(a_table_may_be_named_by_its_arn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
