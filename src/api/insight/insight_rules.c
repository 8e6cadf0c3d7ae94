/* insight_rules.c -- see insight_rules.h. */
#include "api/insight/insight_rules.h"
#include <assert.h>
#include "api/insight/key_report.h"
#include "api/operation.h"
#include "base/arena.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

static bool counts(const struct table_definition *table, void *context)
{
    (void)context;
    return table->counts_keys;
}

void insight_rules_each(struct api_call *call,
                        bool (*each)(void *context, const struct table *table,
                                     const struct insight_target *target, enum insight_rule rule,
                                     struct bytes name),
                        void *context)
{
    struct catalogue *catalogue = api_catalogue(call->api);
    struct bytes after = BYTES("");
    bool goes_on = true;
    while (goes_on) {
        struct insight_target target;
        struct table *table = catalogue_find_next(catalogue, after, counts, NULL);
        if (table == NULL)
            return;
        for (size_t i = 0; insight_target_at(table_definition(table), i, &target); i++) {
            unsigned rules = insight_target_rules(&target);
            for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT && goes_on; rule++)
                goes_on = (rules & 1U << rule) == 0 ||
                          each(context, table, &target, rule,
                               insight_target_rule_name(call->arena, &target, rule));
        }
        after = arena_copy(call->arena, table_definition(table)->name);
        table_release(table);
    }
}

struct search {
    struct arena *arena;
    struct bytes name;
    struct bytes table;
    struct bytes index; /* data NULL: the table itself. */
    enum insight_rule rule;
    bool found;
};

static bool compare(void *context, const struct table *table, const struct insight_target *target,
                    enum insight_rule rule, struct bytes name)
{
    struct search *search = context;
    if (!bytes_equal(name, search->name))
        return true;
    search->found = true;
    search->table = arena_copy(search->arena, table_definition(table)->name);
    if (target->index != NULL)
        search->index = arena_copy(search->arena, target->index->name);
    search->rule = rule;
    return false;
}

static bool refuse(struct api_call *call, struct bytes name)
{
    return error_set(&call->error, ERROR_CW_NO_SUCH_RESOURCE, "The rule %.*s does not exist.",
                     BYTES_FMT(name));
}

bool insight_rules_find(struct api_call *call, struct bytes name, struct key_report *report)
{
    struct search search = { .arena = call->arena, .name = name };
    insight_rules_each(call, compare, &search);
    if (!search.found)
        return refuse(call, name);
    struct table *table = operation_find_table(call, search.table);
    if (table == NULL)
        return refuse(call, name);
    report->table = table;
    report->rule = search.rule;
    report->target = (struct insight_target){ .table = table_definition(table) };
    if (search.index.data != NULL)
        report->target.index = table_definition_index(table_definition(table), search.index);
    /* The table may have changed meanwhile. */
    return ((search.index.data == NULL || report->target.index != NULL) &&
            (insight_target_rules(&report->target) & 1U << report->rule) != 0) ||
           refuse(call, name);
}

/* --- Metrics --- */

const char *insight_rules_metric_name(enum insight_metric metric)
{
    static const char *const names[INSIGHT_METRIC_COUNT] = {
        [INSIGHT_UNIQUE_CONTRIBUTORS] = "UniqueContributors",
        [INSIGHT_MAX_CONTRIBUTOR_VALUE] = "MaxContributorValue",
        [INSIGHT_SAMPLE_COUNT] = "SampleCount",
        [INSIGHT_AVERAGE] = "Average",
        [INSIGHT_SUM] = "Sum",
        [INSIGHT_MINIMUM] = "Minimum",
        [INSIGHT_MAXIMUM] = "Maximum",
    };
    assert(metric < INSIGHT_METRIC_COUNT);
    return names[metric];
}

bool insight_rules_find_metric(struct bytes name, enum insight_metric *out)
{
    for (enum insight_metric metric = 0; metric < INSIGHT_METRIC_COUNT; metric++) {
        if (bytes_equal_text(name, insight_rules_metric_name(metric))) {
            *out = metric;
            return true;
        }
    }
    return false;
}

double insight_rules_metric_value(enum insight_rule rule, const struct key_report_period *period,
                                  enum insight_metric metric)
{
    switch (metric) {
    case INSIGHT_UNIQUE_CONTRIBUTORS:
        return (double)period->distinct;
    case INSIGHT_MAX_CONTRIBUTOR_VALUE:
        return key_report_value(rule, period->heaviest);
    case INSIGHT_SAMPLE_COUNT:
        return (double)period->events;
    case INSIGHT_AVERAGE:
        return period->distinct == 0
                   ? 0
                   : key_report_value(rule, period->total) / (double)period->distinct;
    case INSIGHT_SUM:
        return key_report_value(rule, period->total);
    case INSIGHT_MINIMUM:
        return key_report_value(rule, period->weight_min);
    case INSIGHT_MAXIMUM:
        return key_report_value(rule, period->weight_max);
    case INSIGHT_METRIC_COUNT:
        break;
    }
    assert(false);
    return 0;
}
