/* advice.c -- findings, prices, and the order of the rules. See advice.h. */
#include "advice/advice.h"
#include <assert.h>
#include <string.h>
#include "advice/advice_parts.h"

enum { LIST_CAPACITY_FIRST = 16 };
#define GB (1024.0 * 1024.0 * 1024.0)

double price_of(enum price price)
{
#define PRICE_VALUE(identifier, value, unit) [PRICE_##identifier] = (value),
    static const double prices[] = { PRICE_LIST(PRICE_VALUE) };
#undef PRICE_VALUE
    assert(price < PRICE_COUNT);
    return prices[price];
}

const char *price_unit(enum price price)
{
#define PRICE_UNIT(identifier, value, unit) [PRICE_##identifier] = (unit),
    static const char *const units[] = { PRICE_LIST(PRICE_UNIT) };
#undef PRICE_UNIT
    assert(price < PRICE_COUNT);
    return units[price];
}

void advice_report_init(struct advice_report *report, struct arena *arena)
{
    *report = (struct advice_report){ .arena = arena };
}

static void *grow(struct arena *arena, void *list, size_t *capacity, size_t element_size)
{
    size_t wanted = *capacity == 0 ? LIST_CAPACITY_FIRST : *capacity * 2;
    list = arena_grow(arena, list, *capacity * element_size, wanted * element_size);
    *capacity = wanted;
    return list;
}

struct advice_finding *advice_add(struct advice_report *report, const struct advice_table *table,
                                  const char *rule, bool is_warning)
{
    if (report->finding_count == report->finding_capacity)
        report->findings = grow(report->arena, report->findings, &report->finding_capacity,
                                sizeof *report->findings);
    struct advice_finding *finding = &report->findings[report->finding_count++];
    *finding = (struct advice_finding){ .rule = rule,
                                        .is_warning = is_warning,
                                        .table_name = table->definition->name,
                                        .from_ms = table->shapes_from_ms,
                                        .until_ms = table->now_ms };
    return finding;
}

void advice_evidence(struct advice_finding *finding, const char *name, double value)
{
    assert(finding->evidence_count < ADVICE_EVIDENCE_MAX);
    finding->evidence[finding->evidence_count++] =
        (struct advice_number){ .name = name, .value = value };
}

void advice_cost(struct advice_finding *finding, double usd_per_month)
{
    finding->has_cost = true;
    finding->cost = usd_per_month > 0 ? usd_per_month : 0;
}

void advice_not_judged(struct advice_report *report, const struct advice_table *table,
                       const struct index_definition *index, const char *rule, const char *reason)
{
    if (report->unjudged_count == report->unjudged_capacity)
        report->unjudged = grow(report->arena, report->unjudged, &report->unjudged_capacity,
                                sizeof *report->unjudged);
    report->unjudged[report->unjudged_count++] =
        (struct advice_unjudged){ .rule = rule,
                                  .table_name = table->definition->name,
                                  .index_name = index == NULL ? (struct bytes){ 0 } : index->name,
                                  .reason = reason };
}

double advice_ratio(double a, double b)
{
    return b == 0 ? 0 : a / b;
}

double advice_monthly(double value, int64_t from_ms, int64_t until_ms)
{
    double hours = (double)(until_ms - from_ms) / (double)ADVICE_HOUR_MS;
    return value * ADVICE_MONTH_HOURS / (hours < 1 ? 1 : hours);
}

double advice_units_price(const struct table_definition *table, enum meter_direction direction)
{
    bool is_ia = table->table_class == TABLE_CLASS_STANDARD_INFREQUENT_ACCESS;
    if (direction == METER_READ)
        return price_of(is_ia ? PRICE_IA_READ_REQUEST_UNIT : PRICE_READ_REQUEST_UNIT);
    return price_of(is_ia ? PRICE_IA_WRITE_REQUEST_UNIT : PRICE_WRITE_REQUEST_UNIT);
}

double advice_capacity_price(const struct table_definition *table, enum meter_direction direction)
{
    bool is_ia = table->table_class == TABLE_CLASS_STANDARD_INFREQUENT_ACCESS;
    if (direction == METER_READ)
        return price_of(is_ia ? PRICE_IA_READ_CAPACITY_HOUR : PRICE_READ_CAPACITY_HOUR);
    return price_of(is_ia ? PRICE_IA_WRITE_CAPACITY_HOUR : PRICE_WRITE_CAPACITY_HOUR);
}

double advice_unit_cost(const struct table_definition *table, enum meter_direction direction)
{
    return table->billing_mode == BILLING_PAY_PER_REQUEST
               ? advice_units_price(table, direction)
               : advice_capacity_price(table, direction) / 3600;
}

double advice_storage_price(const struct table_definition *table)
{
    bool is_ia = table->table_class == TABLE_CLASS_STANDARD_INFREQUENT_ACCESS;
    return price_of(is_ia ? PRICE_IA_STORAGE_GB_MONTH : PRICE_STORAGE_GB_MONTH) / GB;
}

size_t advice_index_of(const struct table_definition *table, uint64_t id)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].id == id)
            return i;
    }
    return SIZE_MAX;
}

void advice_judge(struct advice_report *report, const struct advice_table *table)
{
    advice_judge_keys(report, table);
    advice_judge_access(report, table);
    advice_judge_indexes(report, table);
    advice_judge_items(report, table);
    advice_judge_capacity(report, table);
    advice_judge_operation(report, table);
}
