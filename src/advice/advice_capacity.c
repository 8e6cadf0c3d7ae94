/* advice_capacity.c -- rules about what capacity and storage cost: billing mode, provisioned units,
 * auto scaling, consistent reads, table class.
 *
 * Prices: price_list.h. What auto scaling would have provisioned: scaling/simulation.h.
 */
#include <assert.h>
#include <math.h>
#include "advice/advice.h"
#include "advice/advice_parts.h"
#include "base/arena.h"
#include "scaling/simulation.h"

enum {
    BINS_PER_HOUR = 3600 / ADVICE_BIN_S,
    HOURS_MIN = 24, /* Of samples. */
    MINUTE_MS = 60 * 1000,
    MINUTES_PER_BIN = ADVICE_BIN_S / 60,
    TARGET_PERCENT = 70,
    CAPACITY_MAX = 40000, /* The service's default quota of a table. */
    CONSISTENT_UNITS_MIN = 100,
};
#define SAVING_SHARE_MIN 0.10
#define SAVING_USD_MIN 1.0
#define UTILIZATION_MIN 0.30
#define HEADROOM 1.25
#define QUIET_SHARE_MAX 0.5

/* The table, and its global indexes: what a billing mode is of. */
static size_t resource_count(const struct advice_table *table)
{
    return 1 + table->definition->index_count;
}

static const struct index_definition *index_at(const struct advice_table *table, size_t resource)
{
    return resource == 0 ? NULL : &table->definition->indexes[resource - 1];
}

/* NULL: a local index, which is a part of its table. */
static const struct advice_usage *usage_at(const struct advice_table *table, size_t resource)
{
    const struct index_definition *index = index_at(table, resource);
    if (index == NULL)
        return &table->usage;
    return index->global ? &table->index_usage[resource - 1] : NULL;
}

static int64_t provisioned_at(const struct advice_table *table, size_t resource,
                              enum meter_direction direction)
{
    const struct index_definition *index = index_at(table, resource);
    const struct throughput *throughput =
        index == NULL ? &table->definition->throughput : &index->throughput;
    return direction == METER_READ ? throughput->read_units : throughput->write_units;
}

/* What is paid for. Auto scaling moves the capacity all day, so that of this moment says nothing.
 */
static double provisioned_average(const struct advice_table *table, size_t resource,
                                  enum meter_direction direction)
{
    const struct advice_usage *usage = usage_at(table, resource);
    if (usage->has_target[direction] && usage->provisioned[direction] > 0)
        return usage->provisioned[direction];
    return (double)provisioned_at(table, resource, direction);
}

static double hours_of(const struct advice_usage *usage)
{
    return (double)usage->bin_count / BINS_PER_HOUR;
}

static double peak_of(const struct advice_usage *usage, enum meter_direction direction)
{
    double peak = 0;
    for (size_t i = 0; i < usage->bin_count; i++)
        peak = fmax(peak, usage->bins[direction][i]);
    return peak / ADVICE_BIN_S;
}

/* --- Billing mode --- */

/* Auto scaling with the adviser's target (scaling/simulation.h), on minutes: each has its part of
 * its bin. `minutes` has room for all of them. */
static struct simulation_result simulate(const struct advice_table *table,
                                         const struct advice_usage *usage,
                                         enum meter_direction direction, double *minutes)
{
    assert(usage->bin_count <= ADVICE_BINS_MAX);
    for (size_t i = 0; i < usage->bin_count * MINUTES_PER_BIN; i++)
        minutes[i] = usage->bins[direction][i / MINUTES_PER_BIN] / MINUTES_PER_BIN;
    const struct simulation_load load = {
        .units = minutes,
        .count = usage->bin_count * MINUTES_PER_BIN,
        .first_minute = table->now_ms / MINUTE_MS - (int64_t)(usage->bin_count * MINUTES_PER_BIN),
    };
    return simulation_scaled(&load,
                             &(struct simulation_policy){
                                 .min = 1, .max = CAPACITY_MAX, .target_percent = TARGET_PERCENT });
}

/* Costs per month of the table and its global indexes. */
struct costs {
    double on_demand;
    double simulated;   /* Provisioned, with auto scaling. */
    double provisioned; /* As it is, or was on average. */
    double throttled_share;
    double hours;
};

static void add_resource(const struct advice_table *table, size_t resource,
                         const struct advice_usage *usage, double *minutes, struct costs *costs,
                         double *throttled, double *units)
{
    for (enum meter_direction d = METER_READ; d < METER_DIRECTIONS; d++) {
        double months = hours_of(usage) / ADVICE_MONTH_HOURS;
        double capacity_price = advice_capacity_price(table->definition, d);
        struct simulation_result simulation = simulate(table, usage, d, minutes);
        costs->on_demand += usage->units[d] * advice_units_price(table->definition, d) / months;
        costs->simulated += simulation.unit_minutes / 60 * capacity_price / months;
        costs->provisioned +=
            provisioned_average(table, resource, d) * capacity_price * ADVICE_MONTH_HOURS;
        *throttled += simulation.throttled_units;
        *units += usage->units[d];
    }
    costs->hours = fmin(costs->hours, hours_of(usage));
}

/* False: there are too few samples, which is reported. An index that was added within the last day
 * is left out: minutes of use say nothing about a month. */
static bool compute_costs(struct advice_report *report, const struct advice_table *table,
                          struct costs *costs)
{
    double throttled = 0, units = 0;
    *costs = (struct costs){ .hours = hours_of(&table->usage) };
    if (table->usage.bin_count == 0 || hours_of(&table->usage) < HOURS_MIN) {
        advice_not_judged(report, table, NULL, "billing-mode",
                          table->usage.bin_count == 0 ? "there are no samples of consumed units"
                                                      : "there are samples of less than 24 hours");
        return false;
    }
    double *minutes =
        arena_alloc(report->arena, ADVICE_BINS_MAX * MINUTES_PER_BIN * sizeof *minutes);
    for (size_t i = 0; i < resource_count(table); i++) {
        const struct advice_usage *usage = usage_at(table, i);
        if (usage != NULL && hours_of(usage) >= HOURS_MIN)
            add_resource(table, i, usage, minutes, costs, &throttled, &units);
    }
    costs->throttled_share = advice_ratio(throttled, units);
    return true;
}

static void add_mode_finding(struct advice_report *report, const struct advice_table *table,
                             const struct costs *costs, double now, double then)
{
    bool is_on_demand = table->definition->billing_mode == BILLING_PAY_PER_REQUEST;
    if (now - then <= SAVING_USD_MIN || now - then <= SAVING_SHARE_MIN * now)
        return;
    struct advice_finding *finding = advice_add(report, table, "billing-mode", true);
    finding->from_ms = table->now_ms - (int64_t)(hours_of(&table->usage) * 3600000);
    advice_evidence(finding, "OnDemandPerMonth", costs->on_demand);
    advice_evidence(finding, "ProvisionedWithAutoScalingPerMonth", costs->simulated);
    if (!is_on_demand)
        advice_evidence(finding, "ProvisionedPerMonth", costs->provisioned);
    advice_evidence(finding, "ShareThrottledInSimulation", costs->throttled_share);
    advice_evidence(finding, "HoursOfData", costs->hours);
    finding->summary =
        arena_printf(report->arena, "%s costs $%.2f a month, %s would cost $%.2f",
                     is_on_demand ? "on-demand" : "provisioned capacity", now,
                     is_on_demand ? "provisioned capacity with auto scaling" : "on-demand", then);
    finding->action = is_on_demand ? "Set BillingMode PROVISIONED and register targets of auto "
                                     "scaling for reads and writes of the table and each global "
                                     "index, with a target of 70%."
                                   : "Set BillingMode PAY_PER_REQUEST.";
    advice_cost(finding, now - then);
}

static void judge_mode(struct advice_report *report, const struct advice_table *table)
{
    struct costs costs;
    if (!compute_costs(report, table, &costs))
        return;
    if (table->definition->billing_mode == BILLING_PAY_PER_REQUEST)
        add_mode_finding(report, table, &costs, costs.on_demand, costs.simulated);
    else
        add_mode_finding(report, table, &costs, costs.provisioned, costs.on_demand);
}

/* --- Provisioned units --- */

static void judge_provisioned(struct advice_report *report, const struct advice_table *table,
                              size_t resource, enum meter_direction direction)
{
    const struct advice_usage *usage = usage_at(table, resource);
    double provisioned = (double)provisioned_at(table, resource, direction);
    if (usage == NULL || usage->has_target[direction] || hours_of(usage) < HOURS_MIN ||
        provisioned == 0)
        return;
    double hours = hours_of(usage);
    double utilization = usage->units[direction] / (provisioned * hours * 3600);
    double wanted = fmax(1, ceil(HEADROOM * peak_of(usage, direction)));
    double saving = (provisioned - wanted) * ADVICE_MONTH_HOURS *
                    advice_capacity_price(table->definition, direction);
    if (utilization >= UTILIZATION_MIN || saving <= SAVING_USD_MIN)
        return;
    const struct index_definition *index = index_at(table, resource);
    struct advice_finding *finding = advice_add(report, table, "over-provisioned", true);
    if (index != NULL)
        finding->index_name = index->name;
    finding->from_ms = table->now_ms - (int64_t)(hours * 3600000);
    advice_evidence(finding, "ProvisionedUnits", provisioned);
    advice_evidence(finding, "Utilization", utilization);
    advice_evidence(finding, "PeakUnitsPerSecond", peak_of(usage, direction));
    advice_evidence(finding, "UnitsForPeak", wanted);
    advice_evidence(finding, "HoursOfData", hours);
    finding->summary =
        arena_printf(report->arena, "%.0f%% of the %.0f provisioned %s units are used",
                     100 * utilization, provisioned, direction == METER_READ ? "read" : "write");
    finding->action = "Lower the provisioned units to UnitsForPeak, or register a target of auto "
                      "scaling.";
    advice_cost(finding, saving);
}

static void judge_targets(struct advice_report *report, const struct advice_table *table)
{
    const struct index_definition *first = NULL;
    size_t missing = 0, all = 0;
    bool is_table = false;
    if (table->usage.units[METER_READ] + table->usage.units[METER_WRITE] == 0)
        return;
    for (size_t i = 0; i < resource_count(table); i++) {
        const struct advice_usage *usage = usage_at(table, i);
        for (enum meter_direction d = METER_READ; usage != NULL && d < METER_DIRECTIONS; d++) {
            all++;
            if (usage->has_target[d])
                continue;
            missing++;
            is_table |= i == 0;
            if (first == NULL)
                first = index_at(table, i);
        }
    }
    if (missing == 0)
        return;
    struct advice_finding *finding = advice_add(report, table, "no-auto-scaling", false);
    if (!is_table && first != NULL)
        finding->index_name = first->name;
    advice_evidence(finding, "Targets", (double)(all - missing));
    advice_evidence(finding, "TargetsMissing", (double)missing);
    finding->summary = arena_printf(report->arena,
                                    "auto scaling has a target for %zu of %zu: reads and writes "
                                    "of the table and each global index",
                                    all - missing, all);
    finding->action = "Register the missing targets (RegisterScalableTarget, PutScalingPolicy). An "
                      "index without capacity throttles the writes of its table.";
}

/* --- Consistent reads --- */

static void judge_consistency(struct advice_report *report, const struct advice_table *table)
{
    const struct advice_counts *counts = &table->window.counts;
    double consistent = (double)counts->consistent_half_units / 2;
    double quiet = (double)counts->quiet_half_units / 2;
    if (!table->window.has_counts || consistent < CONSISTENT_UNITS_MIN ||
        quiet <= QUIET_SHARE_MAX * consistent)
        return;
    struct advice_finding *finding = advice_add(report, table, "consistent-reads", false);
    finding->from_ms = table->window.from_ms;
    advice_evidence(finding, "ConsistentReadUnits", consistent);
    advice_evidence(finding, "InQuietMinutes", quiet);
    advice_evidence(finding, "ReadUnits", (double)counts->half_units[METER_READ] / 2);
    finding->summary = arena_printf(report->arena,
                                    "%.0f%% of the consistent reads were in minutes in which the "
                                    "table had not been written for a minute or longer",
                                    100 * quiet / consistent);
    finding->action = "Leave ConsistentRead out where an item may be a second old: such reads cost "
                      "half.";
    advice_cost(finding, advice_monthly(quiet / 2, table->window.from_ms, table->now_ms) *
                             advice_unit_cost(table->definition, METER_READ));
}

/* --- Table class --- */

/* As with billing modes, what was consumed in less than a day says nothing about a month. */
static double class_cost(const struct advice_table *table, bool is_ia, double size)
{
    const struct table_definition *definition = table->definition;
    bool is_on_demand = definition->billing_mode == BILLING_PAY_PER_REQUEST;
    struct table_definition other = *definition;
    other.table_class = is_ia ? TABLE_CLASS_STANDARD_INFREQUENT_ACCESS : TABLE_CLASS_STANDARD;
    double cost = size * advice_storage_price(&other);
    for (size_t i = 0; i < resource_count(table); i++) {
        const struct advice_usage *usage = usage_at(table, i);
        for (enum meter_direction d = METER_READ; usage != NULL && d < METER_DIRECTIONS; d++) {
            if (is_on_demand && hours_of(usage) >= HOURS_MIN)
                cost += usage->units[d] * ADVICE_MONTH_HOURS / hours_of(usage) *
                        advice_units_price(&other, d);
            if (!is_on_demand)
                cost += provisioned_average(table, i, d) * ADVICE_MONTH_HOURS *
                        advice_capacity_price(&other, d);
        }
    }
    return cost;
}

static void judge_class(struct advice_report *report, const struct advice_table *table)
{
    bool is_ia = table->definition->table_class == TABLE_CLASS_STANDARD_INFREQUENT_ACCESS;
    double size = (double)table->size;
    if (!table->has_stats || hours_of(&table->usage) < HOURS_MIN)
        return; /* compute_costs has said so. */
    for (size_t i = 0; i < table->definition->index_count; i++)
        size += (double)table->index_sizes[i];
    double now = class_cost(table, is_ia, size), then = class_cost(table, !is_ia, size);
    if (now - then <= SAVING_USD_MIN || now - then <= SAVING_SHARE_MIN * now)
        return;
    struct advice_finding *finding = advice_add(report, table, "table-class", true);
    finding->from_ms = table->now_ms - (int64_t)(hours_of(&table->usage) * 3600000);
    advice_evidence(finding, "Bytes", size);
    advice_evidence(finding, "CostPerMonth", now);
    advice_evidence(finding, "CostPerMonthInOtherClass", then);
    advice_evidence(finding, "HoursOfData", hours_of(&table->usage));
    finding->summary = arena_printf(report->arena,
                                    "storage and throughput cost $%.2f a month in this table "
                                    "class, and $%.2f in the other one",
                                    now, then);
    finding->action = is_ia ? "Set TableClass STANDARD: the table is used too much for "
                              "Standard-IA."
                            : "Set TableClass STANDARD_INFREQUENT_ACCESS, or archive items that "
                              "nobody reads.";
    advice_cost(finding, now - then);
}

void advice_judge_capacity(struct advice_report *report, const struct advice_table *table)
{
    judge_mode(report, table);
    judge_class(report, table);
    judge_consistency(report, table);
    if (table->definition->billing_mode != BILLING_PROVISIONED)
        return;
    judge_targets(report, table);
    for (size_t i = 0; i < resource_count(table); i++) {
        judge_provisioned(report, table, i, METER_READ);
        judge_provisioned(report, table, i, METER_WRITE);
    }
}
