/* restore_rules.c -- see restore_rules.h.
 *
 * Taken over are keys, attribute definitions, indexes, billing mode, throughput, on-demand maxima
 * and encryption. Stream, time to live, recovery, tags, deletion protection, policies, model and
 * table class are not, as at the service.
 */
#include "api/backup/restore_rules.h"
#include <assert.h>
#include "api/common_shapes.h"
#include "api/table/setting_rules.h"
#include "api/table/table_name.h"
#include "api/table/table_shapes.h"
#include "base/arena.h"
#include "base/uuid.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/table_definition.h"

#define INVALID "Invalid Request: "

const struct shape restore_target_shape = { .kind = SHAPE_STRING,
                                            .length_text = COMMON_NAME_LENGTH_TEXT,
                                            .min = TABLE_NAME_SIZE_MIN,
                                            .max = TABLE_NAME_SIZE_MAX,
                                            .pattern = TABLE_NAME_PATTERN,
                                            .matches = table_name_matches };
static const struct shape vector_index_shape = {
    .kind = SHAPE_STRUCTURE, .type_name = "VectorIndex", .size = 1, SHAPE_UNBOUNDED
};
const struct shape restore_vector_indexes_shape = { .kind = SHAPE_LIST,
                                                    .element = &vector_index_shape,
                                                    SHAPE_UNBOUNDED };

/* --- Indexes --- */

static bool same_names(const struct shape_list *names, const struct bytes *included, size_t count)
{
    if (names->count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct bytes *given = names->elements;
        size_t j = 0;
        while (j < count && !bytes_equal(given[i], included[j]))
            j++;
        if (j == count)
            return false;
    }
    return true;
}

static bool same_projection(const struct projection_request *request,
                            const struct index_definition *index)
{
    enum projection_type type;
    return request->projection_type.data != NULL &&
           projection_type_parse(request->projection_type, &type) && type == index->projection &&
           same_names(&request->non_key_attributes, index->included,
                      type == PROJECTION_INCLUDE ? index->included_count : 0);
}

/* HASH attributes, then RANGE attributes, each in their order. */
static bool same_key(const struct shape_list *schema, const struct index_definition *index)
{
    size_t hash_count = 0, range_count = 0;
    struct key_schema_element_request *const *elements = schema->elements;
    if (schema->count != index->hash_count + index->range_count)
        return false;
    for (size_t i = 0; i < schema->count; i++) {
        bool is_hash = bytes_equal_text(elements[i]->key_type, "HASH");
        size_t at = is_hash ? hash_count++ : range_count++;
        if (at >= (is_hash ? index->hash_count : index->range_count))
            return false;
        const struct key_attribute *key = is_hash ? &index->hash[at] : &index->range[at];
        if (!bytes_equal(elements[i]->attribute_name, key->name))
            return false;
    }
    return true;
}

/* The index of the source that an entry stands for: the name may be another one, but an index of
 * that name goes first. Each index is `used` once. */
static const struct index_definition *find_index(const struct table_definition *source, bool global,
                                                 const struct index_request *request,
                                                 bool used[INDEXES_MAX])
{
    size_t found = source->index_count;
    for (size_t i = 0; i < source->index_count; i++) {
        const struct index_definition *index = &source->indexes[i];
        if (used[i] || index->global != global || index->status == INDEX_DELETING ||
            !same_key(&request->key_schema, index) || !same_projection(request->projection, index))
            continue;
        if (found == source->index_count || bytes_equal(index->name, request->index_name))
            found = i;
    }
    if (found == source->index_count)
        return NULL;
    used[found] = true;
    return &source->indexes[found];
}

static bool has_name(const struct table_definition *draft, struct bytes name)
{
    return table_definition_index(draft, name) != NULL;
}

/* As a new table has it. */
static struct index_definition fresh_index(const struct index_definition *index)
{
    struct index_definition fresh = *index;
    fresh.id = 0;
    fresh.partitions = NULL;
    fresh.partition_count = 0;
    fresh.status = INDEX_ACTIVE;
    fresh.backfilled = (struct bytes){ 0 };
    fresh.insight = (struct insight_definition){ 0 };
    fresh.insight_rules = 0;
    fresh.warm_throughput = (struct unit_pair){ UNITS_UNSET, UNITS_UNSET };
    return fresh;
}

static bool override_units(const struct index_request *request, enum billing_mode mode,
                           struct index_definition *index, struct error *err)
{
    const struct units_request *units = request->provisioned_throughput;
    if (request->warm_throughput != NULL)
        return error_validation(err, INVALID "WarmThroughput is not supported on Global Secondary "
                                             "Indexes via RestoreTable");
    if (mode == BILLING_PAY_PER_REQUEST && units != NULL)
        return error_validation(err,
                                INVALID "Cannot override ProvisionedThroughput if BillingMode is "
                                        "overridden to PAY_PER_REQUEST for index %.*s",
                                BYTES_FMT(request->index_name));
    if (mode == BILLING_PROVISIONED && units == NULL)
        return error_validation(err, INVALID "Must specify provisioned throughput for index %.*s",
                                BYTES_FMT(request->index_name));
    if (units != NULL)
        index->throughput = (struct throughput){ .read_units = units->read_units.value,
                                                 .write_units = units->write_units.value };
    if (request->on_demand_throughput == NULL)
        return true;
    const struct units_request *max = request->on_demand_throughput;
    index->on_demand_max =
        (struct unit_pair){ max->read_units.present ? max->read_units.value : UNITS_UNSET,
                            max->write_units.present ? max->write_units.value : UNITS_UNSET };
    return true;
}

static bool add_overridden(const struct shape_list *list, bool global,
                           const struct table_definition *source, struct table_definition *draft,
                           struct error *err)
{
    struct index_request *const *requests = list->elements;
    bool used[INDEXES_MAX] = { false };
    for (size_t i = 0; i < list->count && i < list->kept; i++) {
        const struct index_definition *index = find_index(source, global, requests[i], used);
        if (index == NULL || draft->index_count == INDEXES_MAX ||
            has_name(draft, requests[i]->index_name))
            return error_validation(err,
                                    INVALID "Index %.*s does not match a secondary index that "
                                            "existed in the source table and cannot be created "
                                            "during the restore operation",
                                    BYTES_FMT(requests[i]->index_name));
        struct index_definition added = fresh_index(index);
        added.name = requests[i]->index_name;
        if (global && !override_units(requests[i], draft->billing_mode, &added, err))
            return false;
        draft->indexes[draft->index_count++] = added;
    }
    return true;
}

static bool add_inherited(bool global, const struct table_definition *source,
                          struct table_definition *draft, struct error *err)
{
    for (size_t i = 0; i < source->index_count; i++) {
        const struct index_definition *index = &source->indexes[i];
        if (index->global != global || index->status == INDEX_DELETING)
            continue;
        struct index_definition added = fresh_index(index);
        if (global && draft->billing_mode == BILLING_PROVISIONED &&
            added.throughput.read_units == 0)
            return error_validation(err,
                                    INVALID "Must override ProvisionedThroughput if BillingMode is "
                                            "overridden to PROVISIONED for index %.*s",
                                    BYTES_FMT(index->name));
        draft->indexes[draft->index_count++] = added;
    }
    return true;
}

/* An on-demand index has no provisioned units, a provisioned one no maxima. */
static void fit_indexes(struct table_definition *draft)
{
    for (size_t i = 0; i < draft->index_count; i++) {
        struct index_definition *index = &draft->indexes[i];
        if (draft->billing_mode == BILLING_PAY_PER_REQUEST)
            index->throughput = (struct throughput){ 0 };
        else
            index->on_demand_max = (struct unit_pair){ UNITS_UNSET, UNITS_UNSET };
    }
}

static bool set_indexes(struct arena *arena, const struct restore_overrides *overrides,
                        const struct table_definition *source, struct table_definition *draft,
                        struct error *err)
{
    draft->indexes = arena_alloc_zeroed(arena, INDEXES_MAX * sizeof *draft->indexes);
    bool ok = (overrides->local_indexes.present
                   ? add_overridden(&overrides->local_indexes, false, source, draft, err)
                   : add_inherited(false, source, draft, err)) &&
              (overrides->global_indexes.present
                   ? add_overridden(&overrides->global_indexes, true, source, draft, err)
                   : add_inherited(true, source, draft, err));
    if (ok)
        fit_indexes(draft);
    return ok;
}

/* Only those that the keys of the table and its indexes need. */
static void set_attributes(struct arena *arena, const struct table_definition *source,
                           struct table_definition *draft)
{
    draft->attributes = arena_alloc(arena, source->attribute_count * sizeof *draft->attributes);
    for (size_t i = 0; i < source->attribute_count; i++) {
        if (table_definition_uses_attribute(draft, source->attributes[i].name))
            draft->attributes[draft->attribute_count++] = source->attributes[i];
    }
}

/* --- Throughput --- */

static bool check_on_demand(const struct units_request *max, enum billing_mode mode,
                            struct error *err)
{
    static const struct {
        const char *name;
    } names[] = { { "MaxReadRequestUnits" }, { "MaxWriteRequestUnits" } };
    const struct shape_integer *units[] = { &max->read_units, &max->write_units };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (!units[i]->present)
            continue;
        if (mode != BILLING_PAY_PER_REQUEST)
            return error_validation(err,
                                    INVALID "Cannot override %s for OnDemandThroughput unless "
                                            "BillingModeOverride is PAY_PER_REQUEST",
                                    names[i].name);
        if (units[i]->value < 1 && units[i]->value != UNITS_UNSET)
            return error_validation(err,
                                    INVALID "Requested %s for OnDemandThroughput is outside of "
                                            "valid range",
                                    names[i].name);
    }
    return true;
}

static bool check_provisioned(const struct restore_overrides *overrides, enum billing_mode mode,
                              const struct table_definition *source, struct error *err)
{
    bool given = overrides->provisioned_throughput != NULL;
    bool overridden = overrides->billing_mode.data != NULL;
    if (given && mode == BILLING_PAY_PER_REQUEST)
        return error_validation(err, "%s",
                                overridden ? INVALID "Cannot override ProvisionedThroughput if "
                                                     "BillingMode is overridden to PAY_PER_REQUEST"
                                           : INVALID "Cannot override ProvisionedThroughput unless "
                                                     "BillingMode is PROVISIONED");
    if (!given && mode == BILLING_PROVISIONED && source->throughput.read_units == 0)
        return error_validation(err, INVALID "Must override ProvisionedThroughput if BillingMode "
                                             "is overridden to PROVISIONED");
    return true;
}

static bool set_throughput(const struct restore_overrides *overrides,
                           const struct table_definition *source, int64_t now_ms,
                           struct table_definition *draft, struct error *err)
{
    const struct units_request *units = overrides->provisioned_throughput;
    const struct units_request *max = overrides->on_demand_throughput;
    draft->billing_mode = source->billing_mode;
    if (overrides->billing_mode.data != NULL) {
        bool known = billing_mode_parse(overrides->billing_mode, &draft->billing_mode);
        assert(known); /* By its shape. */
        (void)known;
    }
    if (!check_provisioned(overrides, draft->billing_mode, source, err) ||
        (max != NULL && !check_on_demand(max, draft->billing_mode, err)))
        return false;
    draft->billing_mode_given =
        source->billing_mode_given || draft->billing_mode == BILLING_PAY_PER_REQUEST;
    draft->on_demand_max = draft->warm_throughput = (struct unit_pair){ UNITS_UNSET, UNITS_UNSET };
    if (draft->billing_mode == BILLING_PAY_PER_REQUEST) {
        draft->on_demand_max = source->on_demand_max;
        table_definition_turn_on_demand(draft, now_ms);
    } else {
        draft->throughput = (struct throughput){ .read_units = source->throughput.read_units,
                                                 .write_units = source->throughput.write_units };
    }
    if (units != NULL)
        draft->throughput = (struct throughput){ .read_units = units->read_units.value,
                                                 .write_units = units->write_units.value };
    if (max != NULL && max->read_units.present)
        draft->on_demand_max.read_units = max->read_units.value;
    if (max != NULL && max->write_units.present)
        draft->on_demand_max.write_units = max->write_units.value;
    return true;
}

bool restore_rules_draft(struct arena *arena, const struct restore_overrides *overrides,
                         const struct table_definition *source, int64_t now_ms,
                         struct table_definition *draft, struct error *err)
{
    *draft = (struct table_definition){ .name = overrides->target_table_name,
                                        .created_ms = now_ms,
                                        .key = source->key,
                                        .encryption_given = source->encryption_given,
                                        .encryption_key = source->encryption_key };
    if (overrides->vector_indexes.count > 0)
        return error_validation(err, INVALID "vector indexes are not supported");
    if (!set_throughput(overrides, source, now_ms, draft, err) ||
        !set_indexes(arena, overrides, source, draft, err) ||
        (overrides->encryption != NULL &&
         !setting_rules_set_encryption(overrides->encryption, draft, err)))
        return false;
    set_attributes(arena, source, draft);
    draft->uuid = uuid_create(arena);
    return true;
}
