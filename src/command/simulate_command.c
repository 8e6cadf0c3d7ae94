/* simulate_command.c -- `stator simulate-capacity`: what each mode of capacity would have cost.
 *
 * Asks the endpoint for the table (DescribeTable) and for its consumed units in each minute
 * (CloudWatch's GetMetricData), so it works with AWS as well, where the two have endpoints of their
 * own.
 */
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "command/admin_client.h"
#include "command/capacity_report.h"
#include "command/command.h"

enum {
    DAYS_DEFAULT = 14,
    MINUTE_MS = 60 * 1000,
    LATE_MINUTES = 5, /* The last ones may not be stored yet; AWS takes minutes. */
    PAGES_MAX = 1000, /* Of one table or index. */
    TARGET_DEFAULT = 70,
    TARGET_MIN = 20,
    TARGET_MAX = 90,
    UNITS_MAX = 1000000000,
    UNITS_DEFAULT_MAX = 40000,
};

static bool read_flag(const struct command_call *call, const char *flag, int64_t min, int64_t max,
                      int64_t *value)
{
    char *end;
    const char *text = command_value_of(call, flag);
    if (text == NULL)
        return true;
    long long given = strtoll(text, &end, 10);
    if (*end != '\0' || given < min || given > max) {
        fprintf(stderr, "stator: --%s: must be from %lld to %lld\n", flag, (long long)min,
                (long long)max);
        return false;
    }
    *value = given;
    return true;
}

static int read_table(const struct command_call *call, struct capacity_report *report)
{
    struct bytes table;
    int code = admin_client_describe_table(call->arena, admin_client_call_of(call, NULL),
                                           call->words[0], &table);
    if (code != COMMAND_OK || capacity_report_read_table(report, call->arena, table))
        return code;
    return command_fail(COMMAND_FAILED, "simulate-capacity",
                        "the answer about the table is damaged");
}

/* Pages of samples of one table or index. */
static int read_samples(const struct command_call *call, struct capacity_report *report,
                        size_t resource)
{
    const char *endpoint = command_value_of(call, "cloudwatch-endpoint");
    struct admin_client_call request = admin_client_call_of(call, "cloudwatch:GetMetricData");
    struct bytes token = { 0 }, answer;
    size_t pages = 0;
    if (endpoint != NULL)
        request.endpoint = endpoint;
    do {
        request.body = capacity_report_request(report, call->arena, resource, token);
        int code = admin_client_send(call->arena, &request, &answer);
        if (code != COMMAND_OK)
            return code;
        if (!capacity_report_read_samples(report, call->arena, resource, answer, &token))
            return command_fail(COMMAND_FAILED, "simulate-capacity",
                                "the answer about metrics is damaged");
    } while (token.data != NULL && ++pages < PAGES_MAX);
    return COMMAND_OK;
}

int simulate_command(const struct command_call *call)
{
    struct capacity_report *report = arena_alloc_zeroed(call->arena, sizeof *report);
    int64_t days = DAYS_DEFAULT, target = TARGET_DEFAULT;
    struct buffer out;
    report->min_units = 1;
    report->max_units = UNITS_DEFAULT_MAX;
    if (!read_flag(call, "days", 1, CAPACITY_REPORT_DAYS_MAX, &days) ||
        !read_flag(call, "target", TARGET_MIN, TARGET_MAX, &target) ||
        !read_flag(call, "min", 1, UNITS_MAX, &report->min_units) ||
        !read_flag(call, "max", report->min_units, UNITS_MAX, &report->max_units))
        return COMMAND_MISUSED;
    report->target_percent = (double)target;
    int code = read_table(call, report);
    if (code != COMMAND_OK)
        return code;
    int64_t now_minute = clock_wall_ms(&clock_system) / MINUTE_MS;
    capacity_report_set_window(report, call->arena, now_minute - LATE_MINUTES, (size_t)days);
    for (size_t i = 0; i < report->resource_count && code == COMMAND_OK; i++)
        code = read_samples(call, report, i);
    if (code != COMMAND_OK)
        return code;
    buffer_init(&out, call->arena);
    if (command_value_of(call, "json") != NULL)
        capacity_report_write_json(report, &out);
    else
        capacity_report_write(report, &out);
    printf("%.*s", BYTES_FMT(buffer_bytes(&out)));
    return command_flush();
}
