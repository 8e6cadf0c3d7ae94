/* advice_operation.c -- rules about running a table: streams, recovery, alarms. */
#include "advice/advice.h"
#include "advice/advice_parts.h"

#define STREAM_LAG_S_MAX (20.0 * 3600) /* Records are kept for 24 hours. */

static bool is_used(const struct advice_table *table)
{
    const struct advice_counts *counts = &table->window.counts;
    return table->window.has_counts &&
           counts->half_units[METER_READ] + counts->half_units[METER_WRITE] > 0;
}

static bool has_writes(const struct advice_table *table)
{
    return table->window.has_counts && table->window.counts.half_units[METER_WRITE] > 0;
}

static void judge_stream(struct advice_report *report, const struct advice_table *table)
{
    if (!table->definition->stream_enabled)
        return;
    if (table->stream_lag_s > STREAM_LAG_S_MAX) {
        struct advice_finding *finding = advice_add(report, table, "stream-lag", true);
        finding->from_ms = table->now_ms;
        advice_evidence(finding, "LagSeconds", table->stream_lag_s);
        finding->summary = arena_printf(report->arena,
                                        "a trigger of the table's stream is %.1f hours behind; "
                                        "records are kept for 24 hours",
                                        table->stream_lag_s / 3600);
        finding->action = "Find out why its endpoint does not answer (`stator trigger list`); "
                          "otherwise records are lost.";
    }
    if (table->trigger_count > 0 || !has_writes(table) || table->window.counts.stream_reads > 0)
        return;
    if (table->now_ms - table->window.from_ms < ADVICE_DAY_MS) {
        advice_not_judged(report, table, NULL, "unread-stream",
                          "reads of streams were counted for less than 24 hours");
        return;
    }
    struct advice_finding *finding = advice_add(report, table, "unread-stream", true);
    finding->from_ms = table->window.from_ms;
    advice_evidence(finding, "StreamReads", 0);
    advice_evidence(finding, "Triggers", 0);
    advice_evidence(finding, "WriteUnits",
                    (double)table->window.counts.half_units[METER_WRITE] / 2);
    finding->summary = arena_printf(report->arena,
                                    "nobody has read the table's stream for %.0f "
                                    "hours, and it has no trigger",
                                    (double)(table->now_ms - table->window.from_ms) / 3600000);
    finding->action = "Disable the stream, or find out why its consumer does not run: records are "
                      "kept for 24 hours.";
}

static void judge_recovery(struct advice_report *report, const struct advice_table *table)
{
    if (table->definition->recovery_since_ms != 0 || !has_writes(table))
        return;
    struct advice_finding *finding = advice_add(report, table, "no-recovery", false);
    finding->from_ms = table->window.from_ms;
    advice_evidence(finding, "WriteUnits",
                    (double)table->window.counts.half_units[METER_WRITE] / 2);
    finding->summary =
        arena_printf(report->arena, "the table is written to and has no point-in-time recovery");
    finding->action = "Enable it by UpdateContinuousBackups on tables whose loss would hurt; on "
                      "the service it costs what MonthlyCost says. Run `stator backup` as well.";
    if (table->has_stats)
        advice_cost(finding, (double)table->size / (1024.0 * 1024 * 1024) *
                                 price_of(PRICE_RECOVERY_GB_MONTH));
}

static void judge_alarms(struct advice_report *report, const struct advice_table *table)
{
    if (table->alarm_count > 0 || !is_used(table))
        return;
    struct advice_finding *finding = advice_add(report, table, "no-alarms", false);
    finding->from_ms = table->now_ms;
    advice_evidence(finding, "Alarms", 0);
    finding->summary = arena_printf(report->arena, "no alarm watches a metric of the table");
    finding->action = "Put alarms on ReadThrottleEvents, WriteThrottleEvents, SystemErrors and "
                      "SuccessfulRequestLatency, or use the rules in monitoring/.";
}

void advice_judge_operation(struct advice_report *report, const struct advice_table *table)
{
    judge_stream(report, table);
    judge_recovery(report, table);
    judge_alarms(report, table);
}
