/* op_create_table.c -- CreateTable. */
#include "api/authorization.h"
#include "api/index_rules.h"
#include "api/operation.h"
#include "api/setting_rules.h"
#include "api/stream_operation.h"
#include "api/table_operation.h"
#include "api/table_shapes.h"
#include "api/throughput_rules.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"
#include "model/limits.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

/* TableId: a random UUID (RFC 4122, version 4). */
static struct bytes new_uuid(struct arena *arena)
{
    struct random random;
    random_init_from_system(&random);
    uint64_t high = random_next(&random);
    uint64_t low = random_next(&random);
    high = (high & ~UINT64_C(0xF000)) | UINT64_C(0x4000);     /* Version 4. */
    low = (low & ~(UINT64_C(3) << 62)) | (UINT64_C(2) << 62); /* Variant 1. */
    return arena_printf(arena, "%08llx-%04llx-%04llx-%04llx-%012llx",
                        (unsigned long long)(high >> 32), (unsigned long long)(high >> 16 & 0xFFFF),
                        (unsigned long long)(high & 0xFFFF), (unsigned long long)(low >> 48),
                        (unsigned long long)(low & UINT64_C(0xFFFFFFFFFFFF)));
}

static bool make_draft(struct api_call *call, const struct create_table_request *request,
                       struct table_definition *draft)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    *draft = (struct table_definition){ .name = operation_table_name(request->table_name),
                                        .created_ms = now_ms };
    if (!throughput_rules_create(request, now_ms, draft, &call->error) ||
        !index_rules_draft(call->arena, request, draft, &call->error) ||
        !setting_rules_create(call->arena, request, draft, &call->error))
        return false;
    draft->uuid = new_uuid(call->arena);
    if (draft->stream_enabled)
        stream_operation_label(call, draft);
    table_operation_begin(call, draft, TABLE_CREATING);
    return true;
}

static bool check_free(struct api_call *call, struct bytes name)
{
    struct catalogue *catalogue = api_catalogue(call->api);
    struct table *table = catalogue_find(catalogue, name);
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
        return storage_error_set(&call->error, status, "CreateTable");
    stream_operation_settle(call, draft);
    struct table_answer answer = { .member = "TableDescription",
                                   .definition = draft,
                                   .status = TABLE_CREATING,
                                   .provisioned = draft->throughput };
    return table_operation_answer(call, &answer);
}

/* What the request does beside creating a table needs a permission of its own, which the new
 * table's own policy and tags cannot give. */
static bool authorize_rest(struct api_call *call, const struct table_definition *draft)
{
    const struct table_definition bare = { .name = draft->name };
    const struct bytes no_index = { 0 };
    struct authorization authorization;
    if (!authorization_begin(&authorization, call))
        return true;
    return (draft->tag_count == 0 ||
            authorization_check(&authorization, "TagResource", &bare, no_index)) &&
           (draft->resource_policy.text.data == NULL ||
            (authorization_check(&authorization, "PutResourcePolicy", &bare, no_index) &&
             authorization_check_policy(call, draft->resource_policy.text)));
}

static void run(struct api_call *call, const void *input)
{
    const struct create_table_request *request = input;
    struct table_definition draft;
    table_operation_end(call, make_draft(call, request, &draft) && authorize_rest(call, &draft) &&
                                  check_free(call, draft.name) && create(call, &draft));
}

const struct operation op_create_table = { .name = "CreateTable",
                                           .kind = OPERATION_CONTROL,
                                           .request = &create_table_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run };
