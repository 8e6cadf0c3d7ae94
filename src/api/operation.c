/* operation.c -- what operations share: how a call names its table. */
#include "api/operation.h"
#include <assert.h>
#include "advice/expression_shape.h"
#include "api/admission.h"
#include "api/capacity.h"
#include "base/arena.h"
#include "index/index_entry.h"
#include "model/arn.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/table_stats.h"
#include "table/storage_error.h"

struct bytes operation_table_name(struct bytes name_or_arn)
{
    static const char kind[] = ":table/";
    if (!bytes_starts_with(name_or_arn, BYTES("arn:")))
        return name_or_arn;
    const uint8_t *found = memmem(name_or_arn.data, name_or_arn.len, kind, sizeof kind - 1);
    if (found == NULL)
        return name_or_arn;
    const uint8_t *name = found + sizeof kind - 1;
    return bytes_of(name, (size_t)(name_or_arn.data + name_or_arn.len - name));
}

struct bytes operation_table_arn(struct api_call *call, struct bytes name)
{
    const struct api_options *options = api_options(call->api);
    return arn_of_table(call->arena, options->region, options->account_id, name);
}

/* Items can be read and written while a table is being updated, not before it exists for good. */
static bool serves_items(enum table_status status)
{
    return status == TABLE_ACTIVE || status == TABLE_UPDATING;
}

void operation_note_single_transaction(struct api_call *call)
{
    if (!api_counts_shapes(call->api))
        return;
    call->shape = arena_alloc(call->arena, sizeof *call->shape);
    *call->shape = (struct expression_shape){ .kind = SHAPE_SINGLE_TRANSACTION };
}

void operation_expect_tables(struct api_call *call, size_t count_max)
{
    assert(call->uses == NULL && count_max > 0);
    call->uses = arena_alloc(call->arena, count_max * sizeof *call->uses);
    call->use_max = count_max;
}

static struct table *hold(struct api_call *call, struct bytes name_or_arn, struct table *table)
{
    if (call->uses == NULL)
        operation_expect_tables(call, 1);
    assert(call->use_count < call->use_max);
    struct capacity_use *use = &call->uses[call->use_count++];
    capacity_use_init(use, call->arena, table, name_or_arn);
    if (table != NULL) {
        const struct api_options *options = api_options(call->api);
        enum capacity_setting setting = admission_setting(options, use->definition->capacity);
        if (UNLIKELY(setting != CAPACITY_ACCOUNT))
            admission_bind(call, use, setting);
        if (UNLIKELY(options->faults != NULL))
            admission_bind_faults(call, use);
    }
    return table;
}

/* The name of a table that may be here; data NULL for the ARN of one that is not, which is kept for
 * operation_is_own. */
static struct bytes own_name(struct api_call *call, struct bytes name_or_arn)
{
    const struct api_options *options = api_options(call->api);
    struct bytes name = operation_table_name(name_or_arn);
    if (name.data == name_or_arn.data ||
        arn_owner_of(name_or_arn, options->region, options->account_id) == ARN_OWN)
        return name;
    call->foreign_arn = name_or_arn;
    return (struct bytes){ 0 };
}

struct table *operation_find_table(struct api_call *call, struct bytes name_or_arn)
{
    struct bytes name = own_name(call, name_or_arn);
    struct catalogue *catalogue = api_catalogue(call->api);
    return hold(call, name_or_arn, name.data == NULL ? NULL : catalogue_find(catalogue, name));
}

struct table *operation_borrow_table(struct api_call *call, struct bytes name_or_arn)
{
    struct bytes name = own_name(call, name_or_arn);
    struct catalogue *catalogue = api_catalogue(call->api);
    return hold(call, name_or_arn, name.data == NULL ? NULL : catalogue_borrow(catalogue, name));
}

void operation_release_tables(struct api_call *call)
{
    for (size_t i = 0; i < call->use_count; i++)
        table_release(call->uses[i].table);
    call->use_count = 0;
}

bool operation_is_own(struct api_call *call)
{
    const struct api_options *options = api_options(call->api);
    struct bytes arn = call->foreign_arn;
    if (arn.data == NULL)
        return true;
    switch (arn_owner_of(arn, options->region, options->account_id)) {
    case ARN_OF_OTHER_ACCOUNT:
        return error_set(&call->error, ERROR_ACCESS_DENIED, "Access is denied");
    case ARN_OF_OTHER_REGION:
        return error_validation(&call->error,
                                "1 validation error detected: Invalid AWS region in '%.*s'",
                                BYTES_FMT(arn));
    default:
        return error_validation(&call->error,
                                "1 validation error detected: Invalid AWS partition in '%.*s'",
                                BYTES_FMT(arn));
    }
}

bool operation_check_table(struct api_call *call, const struct table *table)
{
    if (table == NULL && !operation_is_own(call))
        return false;
    return (table != NULL && serves_items(table_definition(table)->status)) ||
           error_set(&call->error, ERROR_RESOURCE_NOT_FOUND, "Requested resource not found");
}

bool operation_table_stats(struct api_call *call, const struct table *table,
                           struct table_stats *stats, struct table_stats *indexes)
{
    struct engine_view *view = NULL;
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_EVENTUAL, &view);
    if (status == ENGINE_OK)
        status = table_stats_sum(view, table_definition(table), stats, indexes);
    engine_view_close(view);
    return status == ENGINE_OK ||
           storage_error_set_for_table(&call->error, status, "table statistics");
}

bool operation_check_item_size(struct api_call *call, const struct table_definition *table,
                               const struct item *item)
{
    bool fits = table == NULL ? item->size <= ITEM_SIZE_MAX
                              : index_entry_local_fits(call->arena, table, item);
    return fits || operation_refuse_item_size(&call->error);
}

bool operation_refuse_item_size(struct error *err)
{
    return error_validation(err, "Item size has exceeded the maximum allowed size");
}

bool operation_check_rule(struct api_call *call, const struct error *rule)
{
    if (LIKELY(rule == NULL))
        return true;
    assert(error_is_set(rule));
    call->error = *rule;
    return false;
}
