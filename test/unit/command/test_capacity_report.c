/* What `stator simulate-capacity` makes of a server's answers: costs by hand from the price list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "advice/price_list.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "command/capacity_report.h"

enum { FIRST_MINUTE = 29000000, HOUR = 60 };

static struct arena *arena;

static int set_up(void **state)
{
    arena = arena_create();
    struct capacity_report *report = arena_alloc_zeroed(arena, sizeof *report);
    report->target_percent = 70;
    report->min_units = 1;
    report->max_units = 100;
    *state = report;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* With ' for ". */
static struct bytes json_of(const char *text)
{
    char *copy = arena_alloc(arena, strlen(text) + 1);
    strcpy(copy, text);
    for (char *c = copy; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    return bytes_from_text(copy);
}

static void expect(struct buffer *out, const char *text)
{
    struct bytes wanted = json_of(text), shown = buffer_bytes(out);
    if (memmem(shown.data, shown.len, wanted.data, wanted.len) == NULL)
        fail_msg("no %.*s in %.*s", (int)wanted.len, wanted.data, (int)shown.len, shown.data);
}

/* A table with 10 provisioned write units that wrote 600 units in each minute of an hour, which is
 * all of them. */
static void fill_hour(struct capacity_report *report)
{
    char answer[4000];
    struct bytes token;
    int size = snprintf(answer, sizeof answer,
                        "{'MetricDataResults':[{'Id':'writes','StatusCode':'Complete',"
                        "'Timestamps':[");
    for (int i = 0; i < HOUR; i++)
        size += snprintf(answer + size, sizeof answer - (size_t)size, "%s%d", i == 0 ? "" : ",",
                         (FIRST_MINUTE + i) * 60);
    size += snprintf(answer + size, sizeof answer - (size_t)size, "],'Values':[");
    for (int i = 0; i < HOUR; i++)
        size += snprintf(answer + size, sizeof answer - (size_t)size, "%s600.0", i == 0 ? "" : ",");
    snprintf(answer + size, sizeof answer - (size_t)size, "]}],'Messages':[]}");
    assert_true(capacity_report_read_samples(report, arena, 0, json_of(answer), &token));
    assert_null(token.data);
}

#define PROVISIONED                                                                                \
    "{'TableName':'Tab','TableStatus':'ACTIVE','ProvisionedThroughput':"                           \
    "{'ReadCapacityUnits':5,'WriteCapacityUnits':10},'GlobalSecondaryIndexes':["                   \
    "{'IndexName':'Ind','ProvisionedThroughput':{'ReadCapacityUnits':2,"                           \
    "'WriteCapacityUnits':3}}]}"

static void costs_follow_from_the_price_list(void **state)
{
    struct capacity_report *report = *state;
    struct buffer out;
    assert_true(capacity_report_read_table(report, arena, json_of(PROVISIONED)));
    capacity_report_set_window(report, arena, FIRST_MINUTE, HOUR);
    fill_hour(report);
    buffer_init(&out, arena);
    capacity_report_write_json(report, &out);
    /* 36,000 units of $0.625 per million; 10 units for an hour of $0.00065. */
    expect(&out, "'OnDemand':{'Cost':0.0225,'CostPerMonth':16.425,'ThrottledUnits':0.0,"
                 "'ThrottledMinutes':0}");
    expect(&out, "'Provisioned':{'CapacityUnits':10,'Cost':0.0065,'CostPerMonth':4.745,");
    /* All of ten units is above 70%: after two minutes there are ceil(10 / 0.7) = 15. */
    expect(&out, "'MaxCapacityUnits':15,'Increases':1,'Decreases':0,");
    expect(&out, "'ConsumedUnits':36000.0,'PeakUnitsPerSecond':10.0,'MinutesWithSamples':60,");
    expect(&out, "'Date':'" PRICE_LIST_DATE "'");
    expect(&out, "'IndexName':'Ind'");
}

static void a_table_on_demand_gets_the_fewest_units(void **state)
{
    struct capacity_report *report = *state;
    struct buffer out;
    assert_true(capacity_report_read_table(
        report, arena,
        json_of("{'TableName':'Tab','ProvisionedThroughput':{'ReadCapacityUnits':0,"
                "'WriteCapacityUnits':0},'BillingModeSummary':{'BillingMode':'PAY_PER_REQUEST'},"
                "'TableClassSummary':{'TableClass':'STANDARD_INFREQUENT_ACCESS'}}")));
    capacity_report_set_window(report, arena, FIRST_MINUTE, HOUR);
    fill_hour(report);
    buffer_init(&out, arena);
    capacity_report_write_json(report, &out);
    expect(&out, "'BillingMode':'PAY_PER_REQUEST'");
    expect(&out, "'OnDemand':{'Cost':0.02808,");        /* $0.78 per million in this class. */
    expect(&out, "'Provisioned':{'CapacityUnits':10,"); /* 36,000 = 3,600 * 9.23 + 300 * 9.23. */
    buffer_init(&out, arena);
    capacity_report_write(report, &out);
    expect(&out, "Tab, on demand, 2025-02-19T21:20:00Z to 2025-02-19T22:20:00Z\n");
    expect(&out, "table writes                        36000      10.0");
    expect(&out, "Minutes with samples: 60 of 120.");
}

static void the_request_names_the_index_and_the_page(void **state)
{
    struct capacity_report *report = *state;
    assert_true(capacity_report_read_table(report, arena, json_of(PROVISIONED)));
    capacity_report_set_window(report, arena, FIRST_MINUTE, HOUR);
    struct bytes first = capacity_report_request(report, arena, 0, (struct bytes){ 0 });
    assert_null(memmem(first.data, first.len, "Ind", 3));
    assert_null(memmem(first.data, first.len, "NextToken", 9));
    struct bytes body = capacity_report_request(report, arena, 1, BYTES("abc"));
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, body);
    expect(&out, "'MetricName':'ConsumedWriteCapacityUnits','Dimensions':[{'Name':'TableName',"
                 "'Value':'Tab'},{'Name':'GlobalSecondaryIndexName','Value':'Ind'}]},'Period':60,"
                 "'Stat':'Sum'}");
    expect(&out, "'StartTime':1740000000,'EndTime':1740003600,'NextToken':'abc'}");
}

/* Samples outside of the window, of unknown queries, and more than there are minutes. */
static void strange_answers_do_no_harm(void **state)
{
    struct capacity_report *report = *state;
    struct bytes token;
    static const struct {
        const char *text;
        bool ok;
        size_t samples;
    } cases[] = {
        { "", false, 0 },
        { "{}", false, 0 },
        { "[]", false, 0 },
        { "{'MetricDataResults':[]}", true, 0 },
        { "{'MetricDataResults':[{'Id':'reads','Timestamps':[0,1e300,-5],'Values':[1,1,1]}]}", true,
          0 },
        { "{'MetricDataResults':[{'Id':'other','Timestamps':[1740000000],'Values':[1]}]}", true,
          0 },
        { "{'MetricDataResults':[{'Id':'reads','Timestamps':[1740000000],'Values':[]}]}", true, 0 },
        { "{'MetricDataResults':[{'Id':'reads','Timestamps':[1740000000],'Values':[-1]}]}", true,
          0 },
        { "{'MetricDataResults':[{'Id':'reads','Timestamps':[1740000000,1740000060,1740000120],"
          "'Values':[1,1,1]}]}",
          true, 2 },
    };
    assert_true(capacity_report_read_table(report, arena, json_of(PROVISIONED)));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        report->resources[0].sides[REPORT_READS].sample_count = 0;
        capacity_report_set_window(report, arena, FIRST_MINUTE, 2);
        assert_int_equal(
            capacity_report_read_samples(report, arena, 0, json_of(cases[i].text), &token),
            cases[i].ok);
        assert_int_equal(report->resources[0].sides[REPORT_READS].sample_count, cases[i].samples);
    }
    assert_false(capacity_report_read_table(report, arena, json_of("{'TableName':'Tab'}x")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(costs_follow_from_the_price_list),
        TEST(a_table_on_demand_gets_the_fewest_units),
        TEST(the_request_names_the_index_and_the_page),
        TEST(strange_answers_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
