/* test_update_table.c -- every rule of UpdateTable, and what a change leaves behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "api_fixture.h"
#include "base/compiler.h"

static struct api_fixture db;

#define KEY                                                                                        \
    "'AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'},"                           \
    "{'AttributeName':'b','AttributeType':'S'}],"                                                  \
    "'KeySchema':[{'AttributeName':'a','KeyType':'HASH'}]"
#define GSI(name, rest)                                                                            \
    "{'IndexName':'" name "','KeySchema':[{'AttributeName':'b','KeyType':'HASH'}],"                \
    "'Projection':{'ProjectionType':'ALL'}" rest "}"
#define UNITS(read, write)                                                                         \
    "'ProvisionedThroughput':{'ReadCapacityUnits':" read ",'WriteCapacityUnits':" write "}"
#define INVALID "One or more parameter values were invalid: "

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    assert_true(
        api_fixture_call(&db, "CreateTable",
                         "{'TableName':'demand'," KEY ",'BillingMode':'PAY_PER_REQUEST',"
                         "'GlobalSecondaryIndexes':[" GSI("gsi", "") "," GSI("gsj", "") "]}"));
    assert_true(api_fixture_call(
        &db, "CreateTable",
        "{'TableName':'provisioned'," KEY
        "," UNITS("5", "5") ",'GlobalSecondaryIndexes':[" GSI("gsi", "," UNITS("5", "5")) "]}"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

#define DEMAND(rest) "{'TableName':'demand'," rest "}"
#define PROVISIONED(rest) "{'TableName':'provisioned'," rest "}"
#define INDEX_UPDATE(name, rest) "{'Update':{'IndexName':'" name "'" rest "}}"
#define INDEX_UPDATES(list) "'GlobalSecondaryIndexUpdates':[" list "]"
#define NOTHING                                                                                    \
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "                    \
    "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "    \
    "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "                   \
    "OnDemandThroughput, WarmThroughput or TableClass is required"
#define NEITHER                                                                                    \
    INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode "  \
            "is PAY_PER_REQUEST"
#define LOWER_THAN_CURRENT                                                                         \
    "is lower than current WarmThroughput, decreasing WarmThroughput is not supported"

#define NO_UNITS                                                                                   \
    INVALID "ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST"

static const struct {
    const char *body, *message;
} refused[] = {
    { "{'TableName':'demand'}", NOTHING },
    { "{'TableName':'missing'}", NOTHING },
    { DEMAND("'OnDemandThroughput':{}"), NOTHING },
    { DEMAND("'WarmThroughput':{}"), NOTHING },
    { DEMAND("'GlobalSecondaryIndexUpdates':[]"), NOTHING },
    { DEMAND("'GlobalSecondaryIndexUpdates':[],'DeletionProtectionEnabled':true"),
      INVALID "List of GlobalSecondaryIndexUpdates is empty" },
    { DEMAND("'ReplicaUpdates':[]"),
      "1 validation error detected: Value '[]' at 'replicaUpdates' failed to satisfy constraint: "
      "Member must have length greater than or equal to 1" },
    { DEMAND("'AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'}]"), NOTHING },
    /* Not there yet. */
    { DEMAND("'GlobalTableSettingsReplicationMode':'ENABLED'"),
      "UpdateTable: GlobalTableSettingsReplicationMode is not supported yet" },
    { DEMAND("'DisassociationProtectionEnabled':true"),
      "One or more parameter values were invalid: DisassociationProtectionEnabled is only for a "
      "replica of a global table" },
    { DEMAND("'VectorIndexUpdates':[{}]"), "UpdateTable: VectorIndexUpdates is not supported yet" },
    /* Billing mode and provisioned throughput. */
    { DEMAND("'BillingMode':'PAY_PER_REQUEST'," UNITS("1", "1")), NO_UNITS },
    { "{'TableName':'missing','BillingMode':'PAY_PER_REQUEST'," UNITS("1", "1") "}", NO_UNITS },
    { DEMAND(UNITS("1", "1")), NEITHER },
    { "{'TableName':'missing'," UNITS("1000000000001", "1") "}",
      "Given value 1000000000001 for ReadCapacityUnits is out of bounds" },
    { PROVISIONED(UNITS("1", "1000000000001")),
      "Given value 1000000000001 for WriteCapacityUnits is out of bounds" },
    { PROVISIONED("'BillingMode':'PROVISIONED'"),
      INVALID "ProvisionedThroughput must be specified when BillingMode is PROVISIONED" },
    { DEMAND("'BillingMode':'PROVISIONED'"),
      INVALID "ProvisionedThroughput must be specified when BillingMode is PROVISIONED" },
    { DEMAND("'BillingMode':'PROVISIONED'," UNITS("1", "1")),
      INVALID "ProvisionedThroughput must be specified for index: gsi,gsj" },
    { DEMAND("'BillingMode':'PROVISIONED'," UNITS("1", "1") "," INDEX_UPDATES(
          INDEX_UPDATE("gsi", "," UNITS("1", "1")))),
      INVALID "ProvisionedThroughput must be specified for index: gsj" },
    { PROVISIONED(UNITS("5", "5")),
      "The provisioned throughput for the table will not change. The requested value equals the "
      "current value. Current ReadCapacityUnits provisioned for the table: 5. Requested "
      "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 5. Requested "
      "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits and "
      "how to request higher limits." },
    { PROVISIONED(INDEX_UPDATES(INDEX_UPDATE("gsi", "," UNITS("5", "5")))),
      "The provisioned throughput for the index gsi will not change. The requested value equals "
      "the current value. Current ReadCapacityUnits provisioned for index gsi: 5. Requested "
      "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for index gsi: 5. Requested "
      "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits and "
      "how to request higher limits." },
    /* Index updates. */
    { DEMAND(INDEX_UPDATES("{}")),
      INVALID "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
              "GlobalSecondaryIndexUpdate.Delete must not be null" },
    { PROVISIONED(INDEX_UPDATES(
          INDEX_UPDATE("gsi", "," UNITS("6", "6")) "," INDEX_UPDATE("gsi", "," UNITS("7", "7")))),
      INVALID "Only one global secondary index update per index is allowed simultaneously. Index: "
              "gsi" },
    { DEMAND(INDEX_UPDATES(INDEX_UPDATE("gsi", "," UNITS("6", "6")))),
      INVALID "The only Updates for index: gsi when TableThroughputMode is PAY_PER_REQUEST can be "
              "to OnDemandThroughput, WarmThroughput" },
    { PROVISIONED(INDEX_UPDATES(INDEX_UPDATE("gsi", "," UNITS("1", "1000000000001")))),
      "Given value 1000000000001 for WriteCapacityUnits is out of bounds for index gsi" },
    /* On-demand and warm throughput. */
    { PROVISIONED("'OnDemandThroughput':{'MaxReadRequestUnits':1}"),
      INVALID "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "
              "BillingMode is PROVISIONED" },
    { DEMAND("'OnDemandThroughput':{'MaxReadRequestUnits':0}"),
      INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid "
              "range" },
    { DEMAND("'OnDemandThroughput':{'MaxWriteRequestUnits':-2}"),
      INVALID "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid "
              "range" },
    { DEMAND("'WarmThroughput':{'ReadUnitsPerSecond':11999}"),
      INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table " LOWER_THAN_CURRENT },
    { PROVISIONED("'WarmThroughput':{'WriteUnitsPerSecond':4}"),
      INVALID "Requested WriteUnitsPerSecond for WarmThroughput for table " LOWER_THAN_CURRENT },
    { DEMAND(INDEX_UPDATES(INDEX_UPDATE("gsi", ",'WarmThroughput':{'ReadUnitsPerSecond':11999}"))),
      INVALID "Requested ReadUnitsPerSecond for WarmThroughput for index gsi " LOWER_THAN_CURRENT },
    { DEMAND("'SSESpecification':{'Enabled':true,'SSEType':'AES256'}"),
      INVALID "SSEType AES256 is not supported" },
};

static void each_rule_refuses_in_the_service_s_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        api_fixture_expect_error(&db, "UpdateTable", refused[i].body, ERROR_VALIDATION,
                                 refused[i].message);
}

static void tables_and_indexes_must_exist(void **state)
{
    (void)state;
    api_fixture_expect_error(
        &db, "UpdateTable", "{'TableName':'missing','BillingMode':'PROVISIONED'}",
        ERROR_RESOURCE_NOT_FOUND, "Requested resource not found: Table: missing not found");
    api_fixture_expect_error(&db, "UpdateTable", DEMAND(INDEX_UPDATES(INDEX_UPDATE("other", ""))),
                             ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Index other for table demand");
}

static void more_index_updates_than_indexes_are_refused(void **state)
{
    (void)state;
    /* Twenty and twenty-one different names, none of which exists. */
#define FIVE(tens)                                                                                 \
    INDEX_UPDATE("ix" tens "0", "")                                                                \
    "," INDEX_UPDATE("ix" tens "1", "") "," INDEX_UPDATE("ix" tens "2", "") "," INDEX_UPDATE(      \
        "ix" tens "3", "") "," INDEX_UPDATE("ix" tens "4", "")
#define TWENTY FIVE("0") "," FIVE("1") "," FIVE("2") "," FIVE("3")
    api_fixture_expect_error(&db, "UpdateTable", DEMAND(INDEX_UPDATES(TWENTY)),
                             ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Index ix00 for table demand");
    api_fixture_expect_error(
        &db, "UpdateTable", DEMAND(INDEX_UPDATES(TWENTY "," INDEX_UPDATE("ix5", ""))),
        ERROR_VALIDATION, INVALID "GlobalSecondaryIndex count exceeds the per-table limit of 20");
}

/* --- What changes --- */

static void update(const char *body)
{
    if (!api_fixture_call(&db, "UpdateTable", body))
        fail_msg("%s\n got: %.*s", body, BYTES_FMT(db.error.message));
}

static void assert_shows(const char *text)
{
    if (!api_fixture_shows(&db, text))
        fail_msg("%s is not in\n%.*s", text, BYTES_FMT(db.response));
}

static void describe(const char *table)
{
    assert_true(api_fixture_call(&db, "DescribeTable", table));
}

#define THE_DEMAND "{'TableName':'demand'}"
#define THE_PROVISIONED "{'TableName':'provisioned'}"
#define WARM(read, write)                                                                          \
    "'WarmThroughput':{'ReadUnitsPerSecond':" read ",'WriteUnitsPerSecond':" write                 \
    ",'Status':'ACTIVE'}"

static void the_answer_shows_updating_and_the_old_units(void **state)
{
    (void)state;
    update(PROVISIONED(UNITS("6", "4")));
    assert_shows("'TableStatus':'UPDATING'");
    assert_shows("'ProvisionedThroughput':{'LastIncreaseDateTime':1700000000,"
                 "'LastDecreaseDateTime':1700000000,'NumberOfDecreasesToday':0,"
                 "'ReadCapacityUnits':5,'WriteCapacityUnits':5}");
    describe(THE_PROVISIONED);
    assert_shows("'TableStatus':'ACTIVE'");
    assert_shows("'NumberOfDecreasesToday':1,'ReadCapacityUnits':6,'WriteCapacityUnits':4}");
}

static void decreases_are_counted_by_day(void **state)
{
    (void)state;
    update(PROVISIONED(UNITS("4", "5")));
    update(PROVISIONED(UNITS("3", "5")));
    describe(THE_PROVISIONED);
    assert_shows("'NumberOfDecreasesToday':2");
    db.clock.fixed_ms += 86400000;
    describe(THE_PROVISIONED);
    assert_shows("'NumberOfDecreasesToday':0");
    update(PROVISIONED(UNITS("2", "5")));
    describe(THE_PROVISIONED);
    assert_shows("'NumberOfDecreasesToday':1");
}

static void throughput_once_provisioned_stays_warm(void **state)
{
    (void)state;
    update(PROVISIONED(UNITS("9", "2")));
    describe(THE_PROVISIONED);
    assert_shows("'DeletionProtectionEnabled':false," WARM("9", "5"));
    update(PROVISIONED(UNITS("1", "1")));
    describe(THE_PROVISIONED);
    assert_shows("'DeletionProtectionEnabled':false," WARM("9", "5"));
}

static void a_table_turns_on_demand_with_its_indexes(void **state)
{
    (void)state;
    update(PROVISIONED("'BillingMode':'PAY_PER_REQUEST'"));
    describe(THE_PROVISIONED);
    assert_shows("'BillingModeSummary':{'BillingMode':'PAY_PER_REQUEST',"
                 "'LastUpdateToPayPerRequestDateTime':1700000000}");
    assert_shows("'IndexStatus':'ACTIVE','ProvisionedThroughput':{'LastDecreaseDateTime':"
                 "1700000000,'NumberOfDecreasesToday':1,'ReadCapacityUnits':0,"
                 "'WriteCapacityUnits':0}");
    assert_shows("'DeletionProtectionEnabled':false," WARM("12000", "4000"));
}

static void a_table_turns_provisioned_with_its_indexes(void **state)
{
    (void)state;
    update(DEMAND("'OnDemandThroughput':{'MaxReadRequestUnits':9}"));
    update(DEMAND("'BillingMode':'PROVISIONED'," UNITS("3", "4") "," INDEX_UPDATES(
        INDEX_UPDATE("gsi", "," UNITS("5", "6")) "," INDEX_UPDATE("gsj", "," UNITS("7", "8")))));
    describe(THE_DEMAND);
    assert_shows("'BillingModeSummary':{'BillingMode':'PROVISIONED',"
                 "'LastUpdateToPayPerRequestDateTime':1700000000}");
    assert_shows("'ReadCapacityUnits':3,'WriteCapacityUnits':4}");
    assert_shows("'ReadCapacityUnits':5,'WriteCapacityUnits':6}");
    assert_shows("'ReadCapacityUnits':7,'WriteCapacityUnits':8}");
    assert_shows("'DeletionProtectionEnabled':false," WARM("12000", "4000")); /* Not the limit. */
}

static void naming_the_mode_there_is_changes_nothing(void **state)
{
    (void)state;
    db.clock.fixed_ms += 5000;
    update(DEMAND("'BillingMode':'PAY_PER_REQUEST'"));
    describe(THE_DEMAND);
    assert_shows("'LastUpdateToPayPerRequestDateTime':1700000000}");
}

static void on_demand_limits_merge_and_minus_one_removes(void **state)
{
    (void)state;
    static const struct {
        const char *change, *want;
    } steps[] = {
        { "'MaxReadRequestUnits':5", "false,'OnDemandThroughput':{'MaxReadRequestUnits':5},'W" },
        { "'MaxWriteRequestUnits':7",
          "false,'OnDemandThroughput':{'MaxReadRequestUnits':5,'MaxWriteRequestUnits':7},'W" },
        { "'MaxReadRequestUnits':-1", "false,'OnDemandThroughput':{'MaxWriteRequestUnits':7},'W" },
        { "'MaxWriteRequestUnits':-1", "'DeletionProtectionEnabled':false,'WarmThroughput'" },
        { "'MaxWriteRequestUnits':-1", "'DeletionProtectionEnabled':false,'WarmThroughput'" },
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        char body[128];
        snprintf(body, sizeof(body), DEMAND("'OnDemandThroughput':{%s}"), steps[i].change);
        update(body);
        describe(THE_DEMAND);
        assert_shows(steps[i].want);
    }
}

static void warm_throughput_only_grows(void **state)
{
    (void)state;
    update(DEMAND("'WarmThroughput':{'ReadUnitsPerSecond':12000}"));
    update(DEMAND("'WarmThroughput':{'ReadUnitsPerSecond':12001}"));
    describe(THE_DEMAND);
    assert_shows("'DeletionProtectionEnabled':false," WARM("12001", "4000"));
    api_fixture_expect_error(
        &db, "UpdateTable", DEMAND("'WarmThroughput':{'ReadUnitsPerSecond':12000}"),
        ERROR_VALIDATION,
        INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table " LOWER_THAN_CURRENT);
    update(DEMAND(
        INDEX_UPDATES(INDEX_UPDATE("gsi", ",'WarmThroughput':{'WriteUnitsPerSecond':4001}"))));
    describe(THE_DEMAND);
    assert_shows(
        "'IndexArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/demand/index/gsi'," WARM(
            "12000", "4001"));
}

static void settings_change_and_are_shown(void **state)
{
    (void)state;
    db.clock.fixed_ms += 1500;
    update(DEMAND("'TableClass':'STANDARD_INFREQUENT_ACCESS'"));
    update(DEMAND("'DeletionProtectionEnabled':true"));
    update(DEMAND("'SSESpecification':{'SSEType':'KMS','KMSMasterKeyId':'abc'}"));
    describe(THE_DEMAND);
    assert_shows("'SSEDescription':{'Status':'ENABLED','SSEType':'KMS',"
                 "'KMSMasterKeyArn':'arn:aws:kms:eu-west-1:123456789012:key/abc'},"
                 "'TableClassSummary':{'TableClass':'STANDARD_INFREQUENT_ACCESS',"
                 "'LastUpdateDateTime':1700000001.5},'DeletionProtectionEnabled':true");
    update(DEMAND("'SSESpecification':{'Enabled':true}"));
    describe(THE_DEMAND);
    assert_shows("'KMSMasterKeyArn':'arn:aws:kms:eu-west-1:123456789012:key/"
                 "fa7135e9-4c8f-38b0-9d0e-e8f04a88ac6a'");
    update(DEMAND("'SSESpecification':{'Enabled':false}"));
    assert_shows("'SSEDescription':{'Status':'UPDATING','SSEType':'KMS','KMSMasterKeyArn':'arn:");
    describe(THE_DEMAND);
    assert_false(api_fixture_shows(&db, "SSEDescription"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_rule_refuses_in_the_service_s_words),
        TEST(tables_and_indexes_must_exist),
        TEST(more_index_updates_than_indexes_are_refused),
        TEST(the_answer_shows_updating_and_the_old_units),
        TEST(decreases_are_counted_by_day),
        TEST(throughput_once_provisioned_stays_warm),
        TEST(a_table_turns_on_demand_with_its_indexes),
        TEST(a_table_turns_provisioned_with_its_indexes),
        TEST(naming_the_mode_there_is_changes_nothing),
        TEST(on_demand_limits_merge_and_minus_one_removes),
        TEST(warm_throughput_only_grows),
        TEST(settings_change_and_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
