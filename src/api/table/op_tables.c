/* op_tables.c -- CreateTable, UpdateTable, DeleteTable, DescribeTable and ListTables. */
#include "api/admission.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/stream/stream_operation.h"
#include "api/table/index_rules.h"
#include "api/table/quota_rules.h"
#include "api/table/replica_rules.h"
#include "api/table/replica_update.h"
#include "api/table/setting_rules.h"
#include "api/table/table_operation.h"
#include "api/table/table_shapes.h"
#include "api/table/throughput_rules.h"
#include "api/table/update_answer.h"
#include "api/table/update_overlap.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "control/control.h"
#include "control/table_life.h"
#include "json/writer.h"
#include "model/limits.h"
#include "replica/replica_group.h"
#include "replica/replicas.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

/* --- CreateTable --- */

/* Tags that the server adds for a stack. Those of the request win. */
static bool add_own_tags(struct api_call *call, struct table_definition *draft)
{
    const struct tag_list *own = call->own_tags;
    struct shape_list list = { .present = true };
    if (own == NULL)
        return true;
    struct tag_request *requests = arena_alloc(call->arena, own->count * sizeof *requests);
    struct tag_request **added = arena_alloc(call->arena, own->count * sizeof(*added));
    for (size_t i = 0; i < own->count; i++) {
        size_t at = 0;
        while (at < draft->tags.count &&
               !bytes_equal(draft->tags.elements[at].key, own->elements[i].key))
            at++;
        requests[i] = (struct tag_request){ own->elements[i].key, own->elements[i].value };
        if (at == draft->tags.count)
            added[list.count++] = &requests[i];
    }
    list.kept = list.count;
    list.elements = added;
    return setting_rules_add_tags(call->arena, &list, &draft->tags, &call->error);
}

static bool make_draft(struct api_call *call, const struct create_table_request *request,
                       struct table_definition *draft)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    *draft = (struct table_definition){ .name = operation_table_name(request->table_name),
                                        .created_ms = now_ms };
    if (!throughput_rules_create(request, now_ms, draft, &call->error) ||
        !index_rules_draft(call->arena, request, draft, &call->error) ||
        !setting_rules_create(call->arena, request, draft, &call->error) ||
        !add_own_tags(call, draft) ||
        !quota_rules_check(call->api, NULL, draft, now_ms, &call->error))
        return false;
    draft->uuid = uuid_create(call->arena);
    if (draft->stream_enabled)
        stream_operation_label(call, draft);
    struct table_life_pace pace = table_operation_pace(call);
    table_life_begin(draft, TABLE_CREATING, &pace);
    return true;
}

static bool check_free(struct api_call *call, struct bytes name)
{
    struct catalogue *catalogue = api_catalogue(call->api);
    struct table *table = catalogue_borrow(catalogue, name);
    bool creating = table != NULL && table_definition(table)->status == TABLE_CREATING;
    if (creating && table_operation_is_restoring(table)) {
        table_release(table);
        return error_set(&call->error, ERROR_RESOURCE_IN_USE, "Table is being used: %.*s",
                         BYTES_FMT(name));
    }
    if (creating && !table_operation_check_idle(call, table_definition(table))) {
        table_release(table);
        return false;
    }
    table_release(table);
    if (table != NULL)
        return error_set(&call->error, ERROR_RESOURCE_IN_USE, "Table already exists: %.*s",
                         BYTES_FMT(name));
    if (catalogue_table_count(catalogue) >= TABLES_MAX)
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: There is a limit of %d tables per subscriber",
                         TABLES_MAX);
    return true;
}

static bool create(struct api_call *call, struct table_definition *draft)
{
    enum engine_status status = catalogue_create(api_catalogue(call->api), call->arena, draft);
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "CreateTable");
    control_settle_streams(api_control(call->api), call->arena, draft->log_id);
    operation_find_table(call, draft->name);
    struct table_answer answer = { .member = "TableDescription",
                                   .kind = DESCRIPTION_OF_CREATION,
                                   .definition = draft,
                                   .status = TABLE_CREATING };
    return table_operation_answer(call, &answer);
}

/* The tags that say which stack a table belongs to need no permission; no request can have such. */
static bool has_given_tags(const struct table_definition *draft)
{
    for (size_t i = 0; i < draft->tags.count; i++)
        if (!bytes_starts_with(draft->tags.elements[i].key, BYTES("aws:")))
            return true;
    return false;
}

/* What the request does beside creating a table needs a permission of its own, which the new
 * table's own policy and tags cannot give. */
static bool authorize_rest(struct api_call *call, const struct table_definition *draft)
{
    const struct bytes no_index = { 0 };
    if (call->caller == NULL)
        return true;
    struct access_question tag =
        operation_question(call, "TagResource", draft->name, no_index, NULL);
    struct access_question put_policy =
        operation_question(call, "PutResourcePolicy", draft->name, no_index, NULL);
    return (!has_given_tags(draft) || operation_may(call, &tag)) &&
           (draft->resource_policy.text.data == NULL || operation_may(call, &put_policy));
}

static void run_create(struct api_call *call, const void *input)
{
    const struct create_table_request *request = input;
    struct table_definition draft;
    operation_end(call, make_draft(call, request, &draft) && authorize_rest(call, &draft) &&
                            check_free(call, draft.name) && create(call, &draft));
}

const struct operation op_create_table = { .name = "CreateTable",
                                           .kind = OPERATION_CONTROL,
                                           .request = &create_table_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run_create };

/* --- UpdateTable --- */

static bool check_state(struct api_call *call, const struct update_table_request *request,
                        const struct table_definition *before)
{
    bool updating = before->status == TABLE_UPDATING;
    return (updating || table_operation_check_idle(call, before)) &&
           index_rules_check_state(request, before, &call->error) &&
           (!updating || update_overlap_check(request, before, &call->error));
}

/* Observed: only the key's own ARN is compared. An alias or an id encrypts the table again. */
static bool check_key(struct api_call *call, const struct update_table_request *request,
                      const struct table_definition *before)
{
    const struct api_options *options = api_options(call->api);
    if (request->sse_specification == NULL || !before->encryption_given)
        return true;
    struct bytes key = request->sse_specification->kms_master_key_id;
    return key.data == NULL ||
           !bytes_equal(key, table_description_key_arn(call->arena, before, options->region,
                                                       options->account_id)) ||
           error_validation(&call->error,
                            "One or more parameter values were invalid: Table is already encrypted "
                            "with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want "
                            "to change Master Key");
}

static bool apply_changes(struct api_call *call, const struct update_table_request *request,
                          const struct table_definition *before, struct table_definition *changed)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    if (!setting_rules_asks_for_change(request))
        return setting_rules_refuse_nothing(&call->error);
    if (!check_state(call, request, before))
        return false;
    index_rules_delete(request, changed);
    if (!throughput_rules_update(request, now_ms, changed, &call->error) ||
        !index_rules_create(call->arena, request, now_ms, changed, &call->error) ||
        !setting_rules_update(request, now_ms, changed, &call->error) ||
        !check_key(call, request, before) ||
        !quota_rules_check(call->api, before, changed, now_ms, &call->error))
        return false;
    struct table_life_pace pace = table_operation_pace(call);
    if (update_answer_begins_update(request, before, changed))
        table_life_begin(changed, TABLE_UPDATING, &pace);
    return true;
}

/* A log ends before the table's definition loses it, and begins after the definition has it. A log
 * that others than the stream read goes on without it (stream/stream_definition.h). */
static enum engine_status store(struct api_call *call, struct table_definition *changed)
{
    enum engine_status status = ENGINE_OK;
    if (!table_definition_log_needs(changed).changes)
        status = control_close_stream(api_control(call->api), call->arena, changed->log_id);
    if (status == ENGINE_OK)
        status = catalogue_update(api_catalogue(call->api), call->arena, changed);
    return status;
}

/* A caller that changes one kind of units, and has read the others before the call was queued, must
 * not undo what others changed since. */
static void keep_other_units(enum api_own_units own, const struct update_table_request *request,
                             const struct table_definition *table)
{
    struct index_update_request *const *updates = request->global_secondary_index_updates.elements;
    if (own == API_ALL_UNITS)
        return;
    throughput_rules_keep(own == API_OWN_READ_UNITS, &table->throughput,
                          request->provisioned_throughput);
    for (size_t i = 0; i < request->global_secondary_index_updates.count; i++) {
        struct index_request *index = updates[i]->update;
        const struct index_definition *known =
            index == NULL ? NULL : table_definition_index(table, index->index_name);
        if (known != NULL)
            throughput_rules_keep(own == API_OWN_READ_UNITS, &known->throughput,
                                  index->provisioned_throughput);
    }
}

static bool update(struct api_call *call, const struct update_table_request *request,
                   const struct table *table, struct table_definition *out)
{
    const struct table_definition *before = table_definition(table);
    struct table_definition changed = table_definition_copy(call->arena, before);
    keep_other_units(call->own_units, request, before);
    if (!replica_rules_check_update(request, before, &call->error) ||
        !apply_changes(call, request, before, &changed))
        return false;
    if (replica_rules_is_shared(request))
        replica_group_announce(call->arena, &changed, replica_rules_ends_overrides(request));
    if (changed.stream_enabled && !before->stream_enabled)
        stream_operation_label(call, &changed);
    struct table_answer answer = { .member = "TableDescription",
                                   .definition = &changed,
                                   .stats = table,
                                   .update = request,
                                   .before = before };
    if (!table_operation_answer(call, &answer))
        return false;
    enum engine_status status = store(call, &changed);
    *out = changed;
    return status == ENGINE_OK || storage_error_set_for_table(&call->error, status, "UpdateTable");
}

static void run_update(struct api_call *call, const void *input)
{
    const struct update_table_request *request = input;
    struct table *table = NULL;
    struct table_definition changed;
    if (replica_rules_concerns(request)) {
        operation_end(call, replica_update_run(call, request));
        return;
    }
    bool ok = throughput_rules_check_index_updates(request, &call->error) &&
              setting_rules_check_update(request, &call->error) &&
              index_rules_check(request, &call->error) &&
              throughput_rules_check_update(request, &call->error) &&
              (table = table_operation_find(call, request->table_name)) != NULL &&
              update(call, request, table, &changed);
    if (ok) {
        operation_release_tables(call); /* The stream opens once nobody holds an older version. */
        control_settle_streams(api_control(call->api), call->arena, changed.log_id);
        table = operation_find_table(call, request->table_name);
        admission_configure(call->api, table);
    }
    operation_end(call, ok);
}

const struct operation op_update_table = { .name = "UpdateTable",
                                           .kind = OPERATION_CONTROL,
                                           .request = &update_table_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run_update };

/* --- DeleteTable, whose answer shows DELETING even if the table is dropped at once --- */

static bool check_indexes_idle(struct api_call *call, const struct table_definition *definition)
{
    bool stands = definition->status == TABLE_ACTIVE || definition->status == TABLE_UPDATING;
    for (size_t i = 0; stands && i < definition->index_count; i++) {
        if (definition->indexes[i].status != INDEX_ACTIVE)
            return error_set(&call->error, ERROR_RESOURCE_IN_USE,
                             "Attempt to change a resource which is still in use: Cannot delete "
                             "table while indexes are being created, updated, or deleted.");
    }
    return true;
}

static bool check_deletable(struct api_call *call, const struct table_definition *definition)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    if (definition->replicas.own.status == REPLICA_CREATING)
        return replicas_lost_source(api_replicas(call->api), definition,
                                    &definition->replicas.own) ||
               replica_rules_check_delete(definition, now_ms, &call->error);
    if (!check_indexes_idle(call, definition))
        return false;
    if (definition->status == TABLE_UPDATING)
        return error_set(&call->error, ERROR_RESOURCE_IN_USE,
                         "Attempt to change a resource which is still in use: Table: %.*s is in "
                         "the process of being updated.",
                         BYTES_FMT(definition->name));
    if (!table_operation_check_idle(call, definition))
        return false;
    if (definition->deletion_protected && definition->replicas.count > 0)
        return replica_rules_refuse_protected(definition, definition->replicas.own.region,
                                              &call->error);
    if (definition->deletion_protected)
        return error_validation(&call->error,
                                "Resource cannot be deleted as it is currently protected against "
                                "deletion. Disable deletion protection first.");
    return replica_rules_check_delete(definition, now_ms, &call->error);
}

/* Others may have replaced the table since the caller looked at it. */
static bool check_identity(struct api_call *call, const struct table_definition *definition)
{
    return call->own_table_id.data == NULL || bytes_equal(call->own_table_id, definition->uuid) ||
           error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Table: %.*s not found",
                     BYTES_FMT(definition->name));
}

static void run_delete(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find_any(call, request->table_name);
    bool ok = table != NULL && check_identity(call, table_definition(table)) &&
              check_deletable(call, table_definition(table));
    if (ok) {
        struct table_answer answer = { .member = "TableDescription",
                                       .kind = DESCRIPTION_OF_DELETION,
                                       .definition = table_definition(table),
                                       .status = TABLE_DELETING,
                                       .stats = table };
        ok = table_operation_answer(call, &answer);
    }
    if (ok) {
        struct table_life_pace pace = table_operation_pace(call);
        enum engine_status status = table_life_delete(api_catalogue(call->api), call->arena,
                                                      table_definition(table), &pace);
        ok =
            status == ENGINE_OK || storage_error_set_for_table(&call->error, status, "DeleteTable");
    }
    if (ok) {
        operation_release_tables(call);
        control_settle_streams(api_control(call->api), call->arena, 0);
    }
    operation_end(call, ok);
}

const struct operation op_delete_table = { .name = "DeleteTable",
                                           .kind = OPERATION_CONTROL,
                                           .request = &table_name_request_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run_delete };

/* --- DescribeTable --- */

static void run_describe(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find_any(call, request->table_name);
    bool ok = table != NULL;
    if (ok) {
        const struct table_definition *definition = table_definition(table);
        struct table_answer answer = { .member = "Table",
                                       .definition = definition,
                                       .status = definition->status,
                                       .stats = table };
        ok = table_operation_answer(call, &answer);
    }
    operation_end(call, ok);
}

const struct operation op_describe_table = { .name = "DescribeTable",
                                             .kind = OPERATION_DATA,
                                             .request = &table_name_request_shape,
                                             .asks = OPERATION_ASKS_RESOURCE,
                                             .run = run_describe };

/* --- ListTables --- */

struct list_tables_request {
    struct bytes exclusive_start_table_name;
    struct shape_integer limit;
};

static const struct shape limit_shape = { .kind = SHAPE_INTEGER,
                                          .min = 1,
                                          .max = LIST_TABLES_PAGE_MAX };
static const struct shape_field list_tables_fields[] = {
    { SHAPE_FIELD(struct list_tables_request, exclusive_start_table_name, "ExclusiveStartTableName",
                  &common_resource_name) },
    { SHAPE_FIELD(struct list_tables_request, limit, "Limit", &limit_shape) },
};
static const struct shape list_tables_shape = { SHAPE_STRUCTURE_OF(struct list_tables_request,
                                                                   list_tables_fields),
                                                .type_name = "ListTablesInput" };

static void run_list(struct api_call *call, const void *input)
{
    const struct list_tables_request *request = input;
    /* One name more than the page holds tells whether there is another page. */
    struct bytes names[LIST_TABLES_PAGE_MAX + 1];
    size_t page_size = request->limit.present ? (size_t)request->limit.value : LIST_TABLES_PAGE_MAX;
    struct bytes after = request->exclusive_start_table_name;
    if (after.data == NULL)
        after = BYTES("");
    size_t count =
        catalogue_list(api_catalogue(call->api), call->arena, after, names, page_size + 1);
    bool more = count > page_size;

    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "TableNames");
    json_open_array(&writer);
    for (size_t i = 0; i < count && i < page_size; i++)
        json_write_string(&writer, names[i]);
    json_close_array(&writer);
    if (more) {
        json_write_name(&writer, "LastEvaluatedTableName");
        json_write_string(&writer, names[page_size - 1]);
    }
    json_close_object(&writer);
    operation_succeed(call);
}

const struct operation op_list_tables = { .name = "ListTables",
                                          .kind = OPERATION_DATA,
                                          .request = &list_tables_shape,
                                          .asks = OPERATION_ASKS_ACCOUNT,
                                          .run = run_list };
