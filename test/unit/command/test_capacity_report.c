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

enum { FIRST_MINUTE = 29000160, DAY = 24 * 60 }; /* The beginning of a UTC day. */

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

static void expect_absent(struct buffer *out, const char *text)
{
    struct bytes unwanted = json_of(text), shown = buffer_bytes(out);
    if (memmem(shown.data, shown.len, unwanted.data, unwanted.len) != NULL)
        fail_msg("%.*s is in %.*s", (int)unwanted.len, unwanted.data, (int)shown.len, shown.data);
}

/* Samples of so many units of the table's writes, in the minutes from `from` to `until` of the
 * window, one in each `step`. */
static void fill(struct capacity_report *report, int from, int until, int step, double units)
{
    struct bytes token;
    struct buffer answer;
    char text[64];
    buffer_init(&answer, arena);
    buffer_append_bytes(&answer, json_of("{'MetricDataResults':[{'Id':'writes','StatusCode':"
                                         "'Complete','Timestamps':["));
    for (int i = from; i < until; i += step) {
        snprintf(text, sizeof text, "%s%lld", i == from ? "" : ",",
                 ((long long)report->first_minute + i) * 60);
        buffer_append(&answer, text, strlen(text));
    }
    buffer_append_bytes(&answer, json_of("],'Values':["));
    for (int i = from; i < until; i += step) {
        snprintf(text, sizeof text, "%s%.1f", i == from ? "" : ",", units);
        buffer_append(&answer, text, strlen(text));
    }
    buffer_append_bytes(&answer, json_of("]}],'Messages':[]}"));
    assert_true(capacity_report_read_samples(report, arena, 0, buffer_bytes(&answer), &token));
    assert_null(token.data);
}

/* A table with 10 provisioned write units that wrote 600 units in each minute of a day, which is
 * all of them. */
static void fill_day(struct capacity_report *report)
{
    fill(report, 0, DAY, 1, 600);
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
    capacity_report_set_window(report, arena, FIRST_MINUTE + DAY, 1);
    fill_day(report);
    buffer_init(&out, arena);
    capacity_report_write_json(report, &out);
    /* 864,000 units of $0.625 per million; 10 units for 24 hours of $0.00065. */
    expect(&out, "'OnDemand':{'Cost':0.54,'CostPerMonth':16.425,'ThrottledUnits':0.0,"
                 "'ThrottledMinutes':0}");
    expect(&out, "'Provisioned':{'CapacityUnits':10,'Cost':0.156,'CostPerMonth':4.745,");
    /* All of ten units is above 70%: after two minutes there are ceil(10 / 0.7) = 15. */
    expect(&out, "'MaxCapacityUnits':15,'Increases':1,'Decreases':0,");
    expect(&out, "'ConsumedUnits':864000.0,'PeakUnitsPerSecond':10.0,'MinutesWithSamples':1440,");
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
    capacity_report_set_window(report, arena, FIRST_MINUTE + DAY, 1);
    fill_day(report);
    buffer_init(&out, arena);
    capacity_report_write_json(report, &out);
    expect(&out, "'BillingMode':'PAY_PER_REQUEST'");
    expect(&out, "'OnDemand':{'Cost':0.67392,"); /* $0.78 per million in this class. */
    expect(&out, "'Provisioned':{'CapacityUnits':10,");
    buffer_init(&out, arena);
    capacity_report_write(report, &out);
    expect(&out, "Tab, on demand, 2025-02-20T00:00:00Z to 2025-02-21T00:00:00Z\n");
    expect(&out, "table writes                    24.0       864000      10.0");
    expect(&out, "hours: with samples, of 24 in the window");
}

/* The server ran on one day of fourteen. What it wrote then is what it writes in a day: the month
 * costs what it would cost with a window of that day. */
static void minutes_without_a_sample_are_not_idle(void **state)
{
    struct capacity_report *report = *state;
    struct buffer out;
    assert_true(capacity_report_read_table(report, arena, json_of(PROVISIONED)));
    capacity_report_set_window(report, arena, FIRST_MINUTE + 14 * DAY, 14);
    fill(report, 3 * DAY, 3 * DAY + DAY / 2, 1, 600);
    fill(report, 9 * DAY, 9 * DAY + DAY / 2, 1, 600);
    buffer_init(&out, arena);
    capacity_report_write_json(report, &out);
    expect(&out, "'OnDemand':{'Cost':0.54,'CostPerMonth':16.425,'ThrottledUnits':0.0,");
    expect(&out, "'Provisioned':{'CapacityUnits':10,'Cost':0.156,'CostPerMonth':4.745,");
    expect(&out, "'MaxCapacityUnits':15,'Increases':1,'Decreases':0,");
    expect(&out, "'MinutesWithSamples':1440,");
    buffer_init(&out, arena);
    capacity_report_write(report, &out);
    expect(&out, "table writes                    24.0       864000      10.0       16.4");
    expect(&out, "hours: with samples, of 336 in the window");
}

static void less_than_a_day_of_samples_is_not_judged(void **state)
{
    struct capacity_report *report = *state;
    struct buffer out;
    assert_true(capacity_report_read_table(report, arena, json_of(PROVISIONED)));
    capacity_report_set_window(report, arena, FIRST_MINUTE + 2 * DAY, 2);
    fill(report, 0, DAY - 1, 1, 600);
    buffer_init(&out, arena);
    capacity_report_write_json(report, &out);
    expect(&out,
           "'MinutesWithSamples':1439,'NotJudged':'there are samples of less than 24 hours'}");
    expect_absent(&out, "CostPerMonth");
    buffer_init(&out, arena);
    capacity_report_write(report, &out);
    expect(&out, "863400      10.0  not judged: there are samples of less than 24 hours\n");
    expect_absent(&out, "\nall");
    fill(report, DAY - 1, DAY, 1, 600);
    buffer_init(&out, arena);
    capacity_report_write(report, &out);
    expect(&out, "\nall judged "); /* Not the index. */
    expect(&out, "\nInd reads                        0.0            0       0.0  not judged: ");
}

/* Older samples are kept in bins of five minutes only: a window with older ones asks for those. */
static void a_window_of_more_than_15_days_has_bins_of_five_minutes(void **state)
{
    struct capacity_report *report = *state;
    struct buffer out;
    assert_true(capacity_report_read_table(report, arena, json_of(PROVISIONED)));
    capacity_report_set_window(report, arena, FIRST_MINUTE + 15 * DAY + 3, 15);
    assert_int_equal(report->first_minute, FIRST_MINUTE + 3);
    buffer_init(&out, arena);
    buffer_append_bytes(&out, capacity_report_request(report, arena, 0, (struct bytes){ 0 }));
    expect(&out, "'Period':60,");
    capacity_report_set_window(report, arena, FIRST_MINUTE + 16 * DAY + 3, 16);
    assert_int_equal(report->first_minute, FIRST_MINUTE);
    buffer_init(&out, arena);
    buffer_append_bytes(&out, capacity_report_request(report, arena, 0, (struct bytes){ 0 }));
    expect(&out, "'Period':300,");
    expect_absent(&out, "'Period':60,");
    fill(report, 0, 16 * DAY, 5, 3000);
    buffer_init(&out, arena);
    capacity_report_write_json(report, &out);
    expect(&out, "'ConsumedUnits':13824000.0,'PeakUnitsPerSecond':10.0,'MinutesWithSamples':23040,"
                 "'OnDemand':{'Cost':8.64,'CostPerMonth':16.425,");
}

static void the_request_names_the_index_and_the_page(void **state)
{
    struct capacity_report *report = *state;
    assert_true(capacity_report_read_table(report, arena, json_of(PROVISIONED)));
    capacity_report_set_window(report, arena, FIRST_MINUTE + DAY, 1);
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
    expect(&out, "'StartTime':1740009600,'EndTime':1740096000,'NextToken':'abc'}");
}

/* Samples outside of the window, and of unknown queries. */
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
        { "{'MetricDataResults':[{'Id':'other','Timestamps':[1740009600],'Values':[1]}]}", true,
          0 },
        { "{'MetricDataResults':[{'Id':'reads','Timestamps':[1740009600],'Values':[]}]}", true, 0 },
        { "{'MetricDataResults':[{'Id':'reads','Timestamps':[1740009600],'Values':[-1]}]}", true,
          0 },
        { "{'MetricDataResults':[{'Id':'reads','Timestamps':[1740095880,1740095940,1740096000],"
          "'Values':[1,1,1]}]}",
          true, 2 },
    };
    assert_true(capacity_report_read_table(report, arena, json_of(PROVISIONED)));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        capacity_report_set_window(report, arena, FIRST_MINUTE + DAY, 1);
        assert_int_equal(
            capacity_report_read_samples(report, arena, 0, json_of(cases[i].text), &token),
            cases[i].ok);
        assert_int_equal(report->resources[0].known_count, cases[i].samples);
    }
    assert_false(capacity_report_read_table(report, arena, json_of("{'TableName':'Tab'}x")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(costs_follow_from_the_price_list),
        TEST(a_table_on_demand_gets_the_fewest_units),
        TEST(minutes_without_a_sample_are_not_idle),
        TEST(less_than_a_day_of_samples_is_not_judged),
        TEST(a_window_of_more_than_15_days_has_bins_of_five_minutes),
        TEST(the_request_names_the_index_and_the_page),
        TEST(strange_answers_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
