/* replica_settings.c -- see replica_settings.h. */
#include "control/replica_settings.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "control/expiry_life.h"
#include "control/index_life.h"
#include "model/table_definition.h"

/* --- Overrides --- */

static void apply_override(const struct replica_override *override, enum billing_mode mode,
                           struct throughput *throughput, struct unit_pair *on_demand_max)
{
    if (mode == BILLING_PROVISIONED && override->read_units != UNITS_UNSET)
        throughput->read_units = override->read_units;
    if (mode == BILLING_PAY_PER_REQUEST && override->on_demand_read_max != UNITS_UNSET)
        on_demand_max->read_units = override->on_demand_read_max;
}

void replica_settings_apply_overrides(struct table_definition *table)
{
    const struct replica_member *own = &table->replicas.own;
    if (!replica_definition_is_group(&table->replicas))
        return;
    apply_override(&own->override, table->billing_mode, &table->throughput, &table->on_demand_max);
    for (size_t i = 0; i < own->index_override_count; i++)
        for (size_t j = 0; j < table->index_count; j++) {
            struct index_definition *index = &table->indexes[j];
            if (index->global && bytes_equal(index->name, own->index_overrides[i].index_name))
                apply_override(&own->index_overrides[i], table->billing_mode, &index->throughput,
                               &index->on_demand_max);
        }
    if (own->table_class_given) {
        table->table_class = (enum table_class)own->table_class;
        table->table_class_given = true;
    }
}

/* --- Indexes --- */

static bool is_wanted(const struct index_definition *index)
{
    return index != NULL && index->global && index->status != INDEX_DELETING;
}

static void add_attributes(struct arena *arena, struct table_definition *table,
                           const struct table_definition *said)
{
    size_t count = table->attribute_count;
    struct key_attribute *all = arena_alloc(arena, (count + said->attribute_count) * sizeof(*all));
    memcpy(all, table->attributes, count * sizeof(*all));
    for (size_t i = 0; i < said->attribute_count; i++)
        if (table_definition_attribute(table, said->attributes[i].name) == NULL &&
            table_definition_uses_attribute(table, said->attributes[i].name))
            all[count++] = said->attributes[i];
    table->attributes = all;
    table->attribute_count = count;
}

/* An index of its own, with the keys and the projection of the other one. */
static struct index_definition copy_index(const struct index_definition *said, int64_t now_ms)
{
    struct index_definition index = *said;
    index.id = 0;
    index.created_ms = now_ms;
    index.partitions = NULL;
    index.partition_count = 0;
    index.status = INDEX_ALLOCATING;
    index.backfilled = (struct bytes){ 0 };
    index.insight = (struct insight_definition){ 0 };
    index.insight_rules = 0;
    return index;
}

static bool remove_indexes(struct table_definition *table, const struct table_definition *said)
{
    bool complete = true;
    for (size_t i = 0; i < table->index_count; i++) {
        struct index_definition *index = &table->indexes[i];
        if (!is_wanted(index) || is_wanted(table_definition_index(said, index->name)))
            continue;
        if (index_life_may_move(index->status, INDEX_DELETING))
            index_life_move(index, INDEX_DELETING);
        else
            complete = false;
    }
    return complete;
}

static size_t count_global(const struct table_definition *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->index_count; i++)
        count += table->indexes[i].global;
    return count;
}

static bool follow_indexes(struct arena *arena, struct table_definition *table,
                           const struct table_definition *said, int64_t now_ms)
{
    bool complete = remove_indexes(table, said);
    struct index_definition *all = arena_alloc_zeroed(arena, INDEXES_MAX * sizeof(*all));
    for (size_t i = 0; i < table->index_count; i++)
        all[i] = table->indexes[i];
    table->indexes = all;
    table->index_names = NULL;
    for (size_t i = 0; i < said->index_count; i++) {
        const struct index_definition *wanted = &said->indexes[i];
        const struct index_definition *own = table_definition_index(table, wanted->name);
        if (!is_wanted(wanted) || is_wanted(own))
            continue;
        if (own != NULL || count_global(table) == GLOBAL_INDEXES_MAX) {
            complete = false; /* It is still being removed. */
            continue;
        }
        all[table->index_count++] = copy_index(wanted, now_ms);
        add_attributes(arena, table, said);
    }
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *other = table_definition_index(said, all[i].name);
        if (!is_wanted(other) || !is_wanted(&all[i]))
            continue;
        all[i].throughput = other->throughput;
        all[i].on_demand_max = other->on_demand_max;
        all[i].warm_throughput = other->warm_throughput;
    }
    return complete;
}

/* --- Time to live --- */

static bool is_expiring(const struct expiry_definition *expiry)
{
    return expiry->status != EXPIRY_NONE && expiry->status != EXPIRY_REMOVING;
}

static bool follow_expiry(struct table_definition *table, const struct expiry_definition *said)
{
    const struct expiry_definition *own = &table->expiry;
    bool wanted = is_expiring(said);
    if (wanted == is_expiring(own) && (!wanted || bytes_equal(own->attribute, said->attribute)))
        return true;
    if (wanted && own->status == EXPIRY_NONE) {
        expiry_life_move(table, EXPIRY_ALLOCATING);
        table->expiry.attribute = said->attribute;
        return true;
    }
    if (!expiry_life_may_move(own->status, EXPIRY_REMOVING))
        return false;
    expiry_life_move(table, EXPIRY_REMOVING);
    return !wanted;
}

/* --- The whole --- */

bool replica_settings_follow(struct arena *arena, struct table_definition *table,
                             const struct table_definition *said, int64_t now_ms)
{
    assert(table != said);
    table->billing_mode = said->billing_mode;
    table->billing_mode_given = said->billing_mode_given;
    table->on_demand_since_ms = said->on_demand_since_ms;
    memcpy(table->on_demand_turns_ms, said->on_demand_turns_ms, sizeof table->on_demand_turns_ms);
    table->throughput = said->throughput;
    table->on_demand_max = said->on_demand_max;
    table->warm_throughput = said->warm_throughput;
    table->encryption_given = said->encryption_given;
    if (!said->encryption_given)
        table->encryption_key = (struct bytes){ 0 };
    if (!table->replicas.own.table_class_given) {
        table->table_class = said->table_class;
        table->table_class_given = said->table_class_given;
        table->table_class_updated_ms = said->table_class_updated_ms;
    }
    bool complete = follow_indexes(arena, table, said, now_ms);
    complete = follow_expiry(table, &said->expiry) && complete;
    replica_settings_apply_overrides(table);
    return complete;
}
