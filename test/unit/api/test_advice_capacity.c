/* test_advice_capacity.c -- the adviser's rules about keys, capacity and operation: for each rule a
 * workload that triggers it, and one that just does not.
 *
 * Thresholds are those of doc/advice.md. test_advice.c has the other rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "advice_fixture.h"
#include "base/buffer.h"
#include "outbound/outbound.h"
#include "trigger/trigger_runner.h"

static int set_up(void **state)
{
    (void)state;
    return advice_open((struct api_options){ 0 });
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&advice_db);
    return 0;
}

/* --- Keys --- */

static void enable_insights(void)
{
    advice_call("UpdateContributorInsights",
                "{'TableName':'Tab','ContributorInsightsAction':'ENABLE'}");
    for (int i = 0; i < 60000; i++) {
        advice_call("DescribeContributorInsights", "{'TableName':'Tab'}");
        if (api_fixture_shows(&advice_db, "'ENABLED'"))
            return;
        usleep(1000);
    }
    fail_msg("insights were never enabled");
}

static void get_key(const char *partition_key)
{
    advice_call_with("GetItem",
                     "{'TableName':'Tab','Key':{'p':{'S':'%s'},'s':{'S':'1'}},"
                     "'ConsistentRead':true}",
                     partition_key);
}

/* In each minute so many reads of a unit; of ten in a row, so many of one key. */
static void read_for_minutes(int minutes, int reads, const char *hot, int hot_count)
{
    for (int m = 0; m < minutes; m++) {
        for (int i = 0; i < reads; i++) {
            char name[16];
            snprintf(name, sizeof name, "k%d", i % 10);
            get_key(i % 10 < hot_count ? hot : name);
        }
        advice_move_clock(ADVICE_MINUTE_MS);
    }
}

static void a_hot_key_is_reported_after_15_minutes(void **state)
{
    (void)state;
    advice_create();
    advice_expect_unjudged("hot-key", true); /* Nobody counts. */
    enable_insights();
    advice_expect_unjudged("hot-key", false);
    read_for_minutes(14, 60, "hot", 4);
    advice_expect("hot-key", false);
    read_for_minutes(1, 60, "hot", 4);
    advice_expect("hot-key", true);
    advice_shows("'ShardsNeeded':2.0");
    advice_call("DeleteTable", "{'TableName':'Tab'}");
    advice_create();
    enable_insights();
    read_for_minutes(16, 60, "hot", 3); /* 30% are not more than 30%. */
    advice_expect("hot-key", false);
}

/* Each minute of keys is a step, and is read once although the call pauses. */
static void keys_are_read_minute_by_minute_with_pauses(void **state)
{
    (void)state;
    advice_create();
    enable_insights();
    read_for_minutes(15, 60, "hot", 4);
    advice_db.pauses = true;
    advice_expect("hot-key", true);
    advice_shows("'Units':900.0,'UnitsOfHeaviestKey':360.0,");
    advice_shows("'Minutes':15.0");
    assert_true(advice_db.pause_count >= 15);
    advice_db.cancels = true;
    assert_false(api_fixture_call(&advice_db, "GetAdvice", "{}"));
    advice_db.pauses = advice_db.cancels = false;
}

static void less_than_a_unit_in_a_second_makes_no_key_hot(void **state)
{
    (void)state;
    advice_create();
    enable_insights();
    read_for_minutes(15, 59, "hot", 9);
    advice_expect("hot-key", false);
    read_for_minutes(1, 75, "hot", 9); /* 960 units in 16 minutes. */
    advice_expect("hot-key", true);
}

static void a_key_that_is_a_time_is_reported(void **state)
{
    (void)state;
    for (int share = 8; share <= 9; share++) {
        advice_create();
        enable_insights();
        read_for_minutes(15, 60, "2026-11-16", share);
        advice_expect("time-key", share == 9);
        advice_expect("hot-key", share == 8);
        advice_call("DeleteTable", "{'TableName':'Tab'}");
    }
    advice_create();
    enable_insights();
    read_for_minutes(15, 60, "20 apples", 9);
    advice_expect("time-key", false);
}

/* --- Few keys --- */

/* Items of the partition key "k", in batches of 25. */
static void put_many(int from, int until)
{
    static char body[25 * 96];
    for (int first = from; first < until; first += 25) {
        int size = snprintf(body, sizeof body, "{'RequestItems':{'Tab':[");
        for (int i = first; i < first + 25 && i < until; i++)
            size += snprintf(body + size, sizeof body - (size_t)size,
                             "%s{'PutRequest':{'Item':{'p':{'S':'k'},'s':{'S':'%06d'}}}}",
                             i == first ? "" : ",", i);
        snprintf(body + size, sizeof body - (size_t)size, "]}}");
        advice_call("BatchWriteItem", body);
    }
}

static void few_keys_of_many_items_are_reported(void **state)
{
    (void)state;
    advice_create();
    enable_insights();
    put_many(0, 10000);
    advice_move_clock(ADVICE_MINUTE_MS);
    advice_expect("few-keys", false); /* 10,000 items are not more than 10,000. */
    put_many(10000, 10001);
    advice_move_clock(ADVICE_MINUTE_MS);
    advice_expect("few-keys", true);
    advice_shows("'DifferentKeys':1.0,'Items':10001.0");
    get_key("another"); /* 5,000 items per key. */
    advice_move_clock(ADVICE_MINUTE_MS);
    advice_expect("few-keys", false);
}

/* --- Throttles --- */

static int set_up_enforced(void **state)
{
    (void)state;
    return advice_open((struct api_options){ .capacity = CAPACITY_ENFORCE });
}

/* One key admits 1,000 write units in a second; the clock stands still. */
static void throttles_of_a_key_are_reported(void **state)
{
    (void)state;
    advice_create();
    advice_put(1, 300 * 1024);
    advice_expect("hot-partition", false);
    for (int i = 0; i < 50; i++) {
        static char body[400 * 1024];
        snprintf(body, sizeof body,
                 "{'TableName':'Tab','Item':{'p':{'S':'k'},'s':{'S':'2'},'b':{'S':'%0*d'}}}",
                 350 * 1024, 7);
        if (!api_fixture_call(&advice_db, "PutItem", body))
            break;
    }
    advice_expect("hot-partition", true);
}

/* --- Capacity --- */

#define PROVISIONED(read, write)                                                                   \
    "'BillingMode':'PROVISIONED','ProvisionedThroughput':{'ReadCapacityUnits':" read               \
    ",'WriteCapacityUnits':" write "}"

/* So many units in each five minutes of a day. */
static void read_for_a_day(int batches)
{
    for (int i = 0; i < 24 * 12; i++) {
        for (int b = 0; b < batches; b++)
            advice_call("Scan", "{'TableName':'Tab','ConsistentRead':true,'Select':'COUNT'}");
        advice_move_clock(ADVICE_MINUTE_MS);
        advice_move_clock(4 * ADVICE_MINUTE_MS);
    }
}

/* A page of 1 MB is 256 units: two in five minutes are 1.7 units a second. On-demand that costs
 * 256 * 2 * 12 * 730 * 0.125e-6 = $0.56 a month, too little to save a dollar; ten cost $2.80, and
 * provisioned 13 units (8.5 / 0.7) cost $1.23. */
static void the_billing_mode_is_judged_by_its_cost(void **state)
{
    (void)state;
    for (int batches = 2; batches <= 10; batches += 8) {
        advice_create();
        for (int i = 0; i < 3; i++)
            advice_put(i, 349 * 1024);
        read_for_a_day(batches);
        advice_expect("billing-mode", batches == 10);
        advice_expect("table-class", false); /* Standard is right for what is used so much. */
        advice_call("DeleteTable", "{'TableName':'Tab'}");
    }
}

/* At the rate of its first minutes, the scans of a new index would cost many dollars a month. */
static void the_first_minutes_of_an_index_say_nothing_about_a_month(void **state)
{
    (void)state;
    advice_call("CreateTable",
                TABLE_OF("Tab", ON_DEMAND, KEYS ",'TableClass':'STANDARD_INFREQUENT_ACCESS'"));
    for (int i = 0; i < 3; i++)
        advice_put(i, 349 * 1024);
    read_for_a_day(2);
    advice_call("UpdateTable",
                "{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'s','AttributeType':"
                "'S'}],'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'Ind','KeySchema':[{"
                "'AttributeName':'s','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}}]}");
    for (int i = 0; i < 60000; i++) {
        advice_call("DescribeTable", "{'TableName':'Tab'}");
        if (api_fixture_shows(&advice_db, "'IndexStatus':'ACTIVE'"))
            break;
        usleep(1000);
    }
    for (int i = 0; i < 500; i++)
        advice_call("Scan", "{'TableName':'Tab','IndexName':'Ind','Select':'COUNT'}");
    for (int i = 0; i < 6; i++)
        advice_move_clock(ADVICE_MINUTE_MS);
    advice_expect("billing-mode", false);
    advice_expect("table-class", false);
}

static void a_provisioned_table_is_compared_with_on_demand(void **state)
{
    (void)state;
    advice_call("CreateTable", TABLE_OF("Tab", PROVISIONED("5", "4"), KEYS)); /* $2.37 a month. */
    advice_put(1, 10);
    read_for_a_day(1);
    advice_expect("billing-mode", true);
    advice_expect("over-provisioned", true);
    advice_shows("'UnitsForPeak':1.0");
    advice_expect("no-auto-scaling", true);
    advice_call("DeleteTable", "{'TableName':'Tab'}");
    advice_call("CreateTable", TABLE_OF("Tab", PROVISIONED("1", "1"), KEYS)); /* $0.57. */
    advice_put(1, 10);
    read_for_a_day(1);
    advice_expect("billing-mode", false);
    advice_expect("over-provisioned", false);
    static const char *const dimensions[] = { "dynamodb:table:ReadCapacityUnits",
                                              "dynamodb:table:WriteCapacityUnits" };
    for (size_t i = 0; i < 2; i++) {
        advice_expect("no-auto-scaling", true);
        advice_call_with(
            "application-autoscaling:RegisterScalableTarget",
            "{'ServiceNamespace':'dynamodb','ResourceId':'table/Tab','ScalableDimension':'%s',"
            "'MinCapacity':1,'MaxCapacity':10}",
            dimensions[i]);
    }
    advice_expect("no-auto-scaling", false);
}

static void set_capacity(int units)
{
    advice_call_with("UpdateTable",
                     "{'TableName':'Tab','ProvisionedThroughput':{'ReadCapacityUnits':%d,"
                     "'WriteCapacityUnits':%d}}",
                     units, units);
}

/* A month of 20 units for reads and for writes costs $11.39, and one unit of each $0.57: what an
 * auto-scaled table has at this moment is not what it costs. */
static void an_auto_scaled_table_costs_what_it_had_on_average(void **state)
{
    static const char *const dimensions[] = { "dynamodb:table:ReadCapacityUnits",
                                              "dynamodb:table:WriteCapacityUnits" };
    (void)state;
    for (int usual = 1; usual <= 20; usual += 19) {
        advice_call("CreateTable", TABLE_OF("Tab", PROVISIONED("1", "1"), KEYS));
        for (size_t i = 0; i < 2; i++)
            advice_call_with(
                "application-autoscaling:RegisterScalableTarget",
                "{'ServiceNamespace':'dynamodb','ResourceId':'table/Tab','ScalableDimension':'%s',"
                "'MinCapacity':1,'MaxCapacity':20}",
                dimensions[i]);
        advice_put(1, 10);
        if (usual == 20)
            set_capacity(20);
        read_for_a_day(1);
        set_capacity(21 - usual);
        advice_move_clock(ADVICE_MINUTE_MS);
        advice_expect("billing-mode", usual == 20);
        advice_call("DeleteTable", "{'TableName':'Tab'}");
    }
}

static void less_than_a_day_of_samples_is_not_judged(void **state)
{
    (void)state;
    advice_create();
    advice_expect_unjudged("billing-mode", true);
    for (int i = 0; i < 24 * 12 - 2; i++)
        advice_move_clock(5 * ADVICE_MINUTE_MS);
    advice_expect_unjudged("billing-mode", true);
    for (int i = 0; i < 4; i++)
        advice_move_clock(5 * ADVICE_MINUTE_MS);
    advice_expect_unjudged("billing-mode", false);
}

#define STRONG "{'TableName':'Tab','ConsistentRead':true,'Key':{'p':{'S':'k'},'s':{'S':'1'}}}"

/* A hundred consistent reads; half of them, or one more, in minutes without a write. */
static void consistent_reads_without_writes_are_reported(void **state)
{
    (void)state;
    for (int quiet = 50; quiet <= 51; quiet++) {
        advice_create();
        advice_put(1, 10);
        advice_repeat(100 - quiet, "GetItem", STRONG);
        advice_move_clock(ADVICE_MINUTE_MS + 2000);
        advice_move_clock(ADVICE_MINUTE_MS);
        advice_repeat(quiet, "GetItem", STRONG); /* Nobody wrote in the minute before. */
        advice_move_clock(ADVICE_MINUTE_MS);
        advice_move_clock(ADVICE_MINUTE_MS);
        advice_expect("consistent-reads", quiet == 51);
        advice_call("DeleteTable", "{'TableName':'Tab'}");
    }
}

/* --- Table class --- */

/* Reads in Standard-IA cost 24% more. Pages of 256 units in each five minutes of a day cost $0.28 a
 * month, and $0.347 in Standard-IA: 14 save $0.94, and 15 save $1.005. */
static void a_table_in_the_wrong_class_is_reported(void **state)
{
    (void)state;
    for (int batches = 14; batches <= 15; batches++) {
        advice_call("CreateTable",
                    TABLE_OF("Tab", ON_DEMAND, KEYS ",'TableClass':'STANDARD_INFREQUENT_ACCESS'"));
        for (int i = 0; i < 3; i++)
            advice_put(i, 349 * 1024);
        read_for_a_day(batches);
        advice_expect("table-class", batches == 15);
        advice_call("DeleteTable", "{'TableName':'Tab'}");
    }
}

/* --- Operation --- */

#define STREAMED                                                                                   \
    TABLE_OF("Tab", ON_DEMAND,                                                                     \
             KEYS ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}")

static void a_stream_that_nobody_reads_is_reported_after_a_day(void **state)
{
    (void)state;
    advice_call("CreateTable", STREAMED);
    advice_put(1, 10);
    advice_pass_hours(23);
    advice_expect("unread-stream", false);
    advice_expect_unjudged("unread-stream", true);
    advice_put(2, 10);
    advice_pass_hours(1);
    advice_put(3, 10);
    advice_expect("unread-stream", true);
}

/* Copies the text behind `before` in the last answer, up to the next quote. */
static void take(const char *before, char out[256])
{
    const char *found =
        memmem(advice_db.response.data, advice_db.response.len, before, strlen(before));
    assert_non_null(found);
    found += strlen(before);
    snprintf(out, 256, "%.*s", (int)strcspn(found, "\""), found);
}

static void read_stream(void)
{
    char arn[256], shard[256], iterator[256];
    advice_call("ListStreams", "{'TableName':'Tab'}");
    take("\"StreamArn\":\"", arn);
    advice_call_with("DescribeStream", "{'StreamArn':'%s'}", arn);
    take("\"ShardId\":\"", shard);
    advice_call_with("GetShardIterator",
                     "{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'TRIM_HORIZON'}", arn,
                     shard);
    take("\"ShardIterator\":\"", iterator);
    advice_call_with("GetRecords", "{'ShardIterator':'%s'}", iterator);
}

static void a_stream_with_a_reader_is_not_called_unread(void **state)
{
    (void)state;
    advice_call("CreateTable", STREAMED);
    advice_put(1, 10);
    advice_pass_hours(1);
    read_stream();
    advice_pass_hours(23);
    advice_put(2, 10);
    advice_expect("unread-stream", false);
    advice_pass_hours(2); /* Now the reader was there more than a day ago. */
    advice_expect("unread-stream", true);
}

/* --- Triggers --- */

static enum outbound_result refuse(struct outbound_client *client, struct arena *arena,
                                   const struct outbound_request *request,
                                   struct outbound_answer *answer)
{
    (void)client;
    (void)request;
    *answer = (struct outbound_answer){ .problem = BYTES("nobody listens") };
    buffer_init(&answer->head, arena);
    buffer_init(&answer->body, arena);
    return OUTBOUND_REFUSED;
}

static struct trigger_outside outside = { .send = refuse };

static int set_up_triggers(void **state)
{
    (void)state;
    char message[OUTBOUND_MESSAGE_MAX];
    outside.network = outbound_open(&(struct outbound_options){ 0 }, message);
    assert_non_null(outside.network);
    return advice_open((struct api_options){ .trigger_outside = &outside });
}

static int tear_down_triggers(void **state)
{
    int result = tear_down(state);
    outbound_close(outside.network);
    return result;
}

static void a_trigger_that_lags_is_reported(void **state)
{
    (void)state;
    advice_call("CreateTable", STREAMED);
    advice_call("AddTrigger", "{'TableName':'Tab','Url':'http://127.0.0.1:9/'}");
    advice_put(1, 10);
    for (int i = 0;; i++) {
        advice_call("ListTriggers", "{}");
        if (api_fixture_shows(&advice_db, "nobody listens"))
            break;
        assert_true(i < 60000);
        usleep(1000);
    }
    advice_move_clock(20 * 60 * ADVICE_MINUTE_MS);
    advice_expect("stream-lag", false);
    advice_move_clock(1);
    advice_expect("stream-lag", true);
    advice_pass_hours(24);
    advice_expect("unread-stream", false); /* The trigger is its reader. */
}

static void recovery_and_alarms_are_recommended(void **state)
{
    (void)state;
    advice_create();
    advice_expect("no-recovery", false); /* Nobody writes to it. */
    advice_expect("no-alarms", false);
    advice_put(1, 10);
    advice_expect("no-recovery", true);
    advice_expect("no-alarms", true);
    advice_call("UpdateContinuousBackups", "{'TableName':'Tab','PointInTimeRecoverySpecification':"
                                           "{'PointInTimeRecoveryEnabled':true}}");
    advice_expect("no-recovery", false);
    advice_call("cloudwatch:PutMetricAlarm",
                "{'AlarmName':'a','Namespace':'AWS/DynamoDB','MetricName':'ReadThrottleEvents',"
                "'Dimensions':[{'Name':'TableName','Value':'Tab'}],'Statistic':'Sum','Period':60,"
                "'EvaluationPeriods':1,'Threshold':1,'ComparisonOperator':'GreaterThanThreshold'}");
    advice_expect("no-alarms", false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_hot_key_is_reported_after_15_minutes),
        TEST(keys_are_read_minute_by_minute_with_pauses),
        TEST(less_than_a_unit_in_a_second_makes_no_key_hot),
        TEST(a_key_that_is_a_time_is_reported),
        cmocka_unit_test_setup_teardown(throttles_of_a_key_are_reported, set_up_enforced,
                                        tear_down),
        TEST(the_billing_mode_is_judged_by_its_cost),
        TEST(the_first_minutes_of_an_index_say_nothing_about_a_month),
        TEST(a_provisioned_table_is_compared_with_on_demand),
        TEST(an_auto_scaled_table_costs_what_it_had_on_average),
        TEST(less_than_a_day_of_samples_is_not_judged),
        TEST(consistent_reads_without_writes_are_reported),
        TEST(a_stream_that_nobody_reads_is_reported_after_a_day),
        TEST(recovery_and_alarms_are_recommended),
        TEST(few_keys_of_many_items_are_reported),
        TEST(a_table_in_the_wrong_class_is_reported),
        TEST(a_stream_with_a_reader_is_not_called_unread),
        cmocka_unit_test_setup_teardown(a_trigger_that_lags_is_reported, set_up_triggers,
                                        tear_down_triggers),
        cmocka_unit_test(advice_every_rule_was_seen_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
