/* update_answer.c -- see update_answer.h. */
#include "api/table/update_answer.h"
#include "api/table/setting_rules.h"
#include "api/table/table_description.h"
#include "api/table/table_shapes.h"
#include "api/table/throughput_rules.h"

static bool changes_index_list(const struct update_table_request *request)
{
    const struct index_update_request *const *updates =
        request->global_secondary_index_updates.elements;
    for (size_t i = 0; i < request->global_secondary_index_updates.count; i++) {
        if (updates[i]->create != NULL || updates[i]->remove != NULL)
            return true;
    }
    return false;
}

bool update_answer_begins_update(const struct update_table_request *request,
                                 const struct table_definition *before,
                                 const struct table_definition *after)
{
    return before->billing_mode != after->billing_mode || request->provisioned_throughput != NULL ||
           request->stream_specification != NULL || setting_rules_changes_class(request, before) ||
           changes_index_list(request);
}

/* --- Throughput --- */

/* The times are the new ones already. */
static void show_old_units(const struct throughput *before, int64_t now_ms,
                           struct throughput *shown)
{
    shown->read_units = before->read_units;
    shown->write_units = before->write_units;
    shown->decreases_today = throughput_rules_decreases_today(before, now_ms);
}

static void show_removed(const struct units_request *request, struct capacity_shown *shown)
{
    if (request == NULL)
        return;
    shown->read_max_removed = request->read_units.present && request->read_units.value < 0;
    shown->write_max_removed = request->write_units.present && request->write_units.value < 0;
}

static bool has_units(const struct units_request *request)
{
    return request != NULL && (request->read_units.present || request->write_units.present);
}

static void show_old_warm(const struct units_request *request, enum billing_mode mode,
                          const struct throughput *provisioned, const struct unit_pair *before,
                          struct capacity_shown *shown)
{
    if (!has_units(request))
        return;
    shown->warm = throughput_rules_warm(mode, provisioned, before);
    shown->is_warming = true;
}

static void show_index(const struct index_request *request, enum billing_mode mode,
                       const struct index_definition *before, int64_t now_ms,
                       struct capacity_shown *shown)
{
    if (request->provisioned_throughput != NULL) {
        show_old_units(&before->throughput, now_ms, &shown->provisioned);
        shown->is_updating = true;
    }
    shown->is_updating |= has_units(request->on_demand_throughput);
    show_removed(request->on_demand_throughput, shown);
    show_old_warm(request->warm_throughput, mode, &before->throughput, &before->warm_throughput,
                  shown);
}

/* Observed: the indexes are UPDATING, and show the new units. A table that turns to on-demand
 * throughput shows a decrease that is not there any more once it is ACTIVE, and its indexes show
 * theirs only then. */
static void show_turn(const struct table_definition *before, struct table_description *shown)
{
    bool on_demand = shown->definition->billing_mode == BILLING_PAY_PER_REQUEST;
    shown->on_demand_since_ms = before->on_demand_since_ms;
    if (on_demand) {
        struct throughput *provisioned = &shown->table.provisioned;
        provisioned->decreases_today =
            throughput_rules_decreases_today(&before->throughput, shown->now_ms);
        provisioned->last_decrease_ms = shown->now_ms;
    }
    for (size_t i = 0; i < before->index_count; i++) {
        struct capacity_shown *index = &shown->indexes[i];
        index->is_updating = true;
        if (!on_demand)
            continue;
        index->provisioned = before->indexes[i].throughput;
        index->provisioned.read_units = 0;
        index->provisioned.write_units = 0;
    }
}

static void show_indexes(const struct update_table_request *request,
                         const struct table_definition *before, struct table_description *shown)
{
    const struct index_update_request *const *updates =
        request->global_secondary_index_updates.elements;
    for (size_t i = 0; i < request->global_secondary_index_updates.count; i++) {
        const struct index_request *update = updates[i]->update;
        if (update == NULL)
            continue;
        const struct index_definition *index = table_definition_index(before, update->index_name);
        show_index(update, before->billing_mode, index, shown->now_ms,
                   &shown->indexes[index - before->indexes]);
    }
}

static void show_throughput(const struct update_table_request *request,
                            const struct table_definition *before, struct table_description *shown)
{
    show_removed(request->on_demand_throughput, &shown->table);
    show_old_warm(request->warm_throughput, before->billing_mode, &before->throughput,
                  &before->warm_throughput, &shown->table);
    if (before->billing_mode != shown->definition->billing_mode) {
        show_turn(before, shown);
        return;
    }
    if (request->provisioned_throughput != NULL)
        show_old_units(&before->throughput, shown->now_ms, &shown->table.provisioned);
    show_indexes(request, before, shown);
}

/* --- The whole --- */

/* Observed: the same mode or class again answers UPDATING, though nothing is updated. A change of
 * encryption answers ACTIVE even while the table is UPDATING. */
static enum table_status shown_status(const struct update_table_request *request,
                                      const struct table_definition *before,
                                      const struct table_definition *after)
{
    if (request->billing_mode.data != NULL || request->table_class.data != NULL ||
        update_answer_begins_update(request, before, after))
        return TABLE_UPDATING;
    return request->sse_specification != NULL ? TABLE_ACTIVE : before->status;
}

void update_answer_apply(const struct update_table_request *request,
                         const struct table_definition *before, struct table_description *shown)
{
    shown->status = shown_status(request, before, shown->definition);
    shown->classed = before;
    if (request->sse_specification != NULL) {
        shown->encrypted = before;
        shown->encryption_changes = true;
    }
    show_throughput(request, before, shown);
}
