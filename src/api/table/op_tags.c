/* op_tags.c -- TagResource, UntagResource and ListTagsOfResource: of tables, and of the streams
 * that tables have at present. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/setting_rules.h"
#include "api/table/table_name.h"
#include "api/table/table_operation.h"
#include "api/table/table_shapes.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

/* Required, but the service has words of its own for a missing one: see check_arn. */
static const struct shape arn_shape = { .kind = SHAPE_STRING,
                                        .min = SHAPE_NO_MIN,
                                        .max = RESOURCE_ARN_SIZE_MAX };

static bool refuse_account(struct api_call *call)
{
    return error_set(&call->error, ERROR_ACCESS_DENIED, "Access is denied");
}

/* False with the error set unless the ARN is a table's or a stream's. */
static bool check_arn(struct api_call *call, struct bytes arn)
{
    if (arn.len == 0)
        return error_validation(&call->error, "Invalid TableArn");
    return table_operation_check_arn(
        call, arn, "Invalid TableArn: Invalid ResourceArn provided as input ", refuse_account);
}

/* The table or stream of a request. */
struct tagged {
    struct table_definition definition; /* A copy that may be changed and stored. */
    struct tag_list *tags;              /* Within the copy. */
};

/* False if there is no resource of an ARN that passed. A stream's tags are not its table's. */
static bool find_tagged(struct api_call *call, struct bytes arn, struct tagged *out)
{
    struct bytes table_arn = arn;
    struct bytes label = { 0 };
    bool is_stream = table_name_split_stream_arn(arn, &table_arn, &label);
    const struct table *table = operation_find_table(call, table_arn);
    if (table != NULL && table_operation_is_restoring(table))
        table = NULL;
    if (table == NULL)
        return false;
    out->definition = *table_definition(table);
    out->tags = is_stream ? &out->definition.stream_tags : &out->definition.tags;
    return !is_stream || bytes_equal(out->definition.stream_label, label);
}

static bool refuse_missing(struct api_call *call, struct bytes arn)
{
    return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: ResourceArn: %.*s not found", BYTES_FMT(arn));
}

/* Observed: the tags of a table that is CREATING can be removed, but none can be added. */
static bool check_state(struct api_call *call, const struct table_definition *definition, bool adds)
{
    bool refused =
        definition->status == TABLE_DELETING || (adds && definition->status == TABLE_CREATING);
    return !refused || table_operation_check_idle(call, definition);
}

static void store_tags(struct api_call *call, struct table_definition *changed)
{
    /* The answer has an empty body, as the service's. */
    operation_end(call, table_operation_store(call, changed, "table tags"));
}

/* --- TagResource --- */

struct tag_resource_request {
    struct bytes resource_arn;
    struct shape_list tags; /* of struct tag_request * */
};

static const struct shape_field tag_fields[] = {
    { SHAPE_FIELD(struct tag_resource_request, resource_arn, "ResourceArn", &arn_shape) },
    { SHAPE_FIELD(struct tag_resource_request, tags, "Tags", &tag_list_shape) },
};
static const struct shape tag_shape = { SHAPE_STRUCTURE_OF(struct tag_resource_request, tag_fields),
                                        .type_name = "TagResourceInput" };

static bool check_tag(struct api_call *call, const struct tag_resource_request *request)
{
    if (!check_arn(call, request->resource_arn))
        return false;
    if (request->tags.count == 0)
        return error_validation(&call->error, "Atleast one Tag needs to be provided as Input.");
    return setting_rules_check_tags(&request->tags, &call->error);
}

static void run_tag(struct api_call *call, const void *input)
{
    const struct tag_resource_request *request = input;
    struct tagged resource;
    bool ok = check_tag(call, request) && (find_tagged(call, request->resource_arn, &resource) ||
                                           refuse_missing(call, request->resource_arn));
    if (ok && check_state(call, &resource.definition, true) &&
        setting_rules_add_tags(call->arena, &request->tags, resource.tags, &call->error))
        store_tags(call, &resource.definition);
    else
        operation_fail(call);
}

const struct operation op_tag_resource = { .name = "TagResource",
                                           .kind = OPERATION_CONTROL,
                                           .request = &tag_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run_tag };

/* --- UntagResource --- */

struct untag_resource_request {
    struct bytes resource_arn;
    struct shape_list tag_keys; /* of struct bytes */
};

static const struct shape tag_keys_shape = { .kind = SHAPE_LIST,
                                             .element = &common_string,
                                             SHAPE_UNBOUNDED };
static const struct shape_field untag_fields[] = {
    { SHAPE_FIELD(struct untag_resource_request, resource_arn, "ResourceArn", &arn_shape) },
    { SHAPE_FIELD(struct untag_resource_request, tag_keys, "TagKeys", &tag_keys_shape) },
};
static const struct shape untag_shape = { SHAPE_STRUCTURE_OF(struct untag_resource_request,
                                                             untag_fields),
                                          .type_name = "UntagResourceInput" };

static bool check_untag(struct api_call *call, const struct untag_resource_request *request)
{
    if (!check_arn(call, request->resource_arn))
        return false;
    if (request->tag_keys.count == 0)
        return error_validation(&call->error, "Atleast one Tag Key needs to be provided as Input.");
    return setting_rules_check_tag_keys(&request->tag_keys, &call->error);
}

static void run_untag(struct api_call *call, const void *input)
{
    const struct untag_resource_request *request = input;
    struct tagged resource;
    /* Observed: the error lacks the ARN, which the others show. */
    bool ok = check_untag(call, request) &&
              (find_tagged(call, request->resource_arn, &resource) ||
               error_set(&call->error, ERROR_RESOURCE_NOT_FOUND, "Requested resource not found"));
    if (!ok || !check_state(call, &resource.definition, false)) {
        operation_fail(call);
        return;
    }
    setting_rules_remove_tags(call->arena, &request->tag_keys, resource.tags);
    store_tags(call, &resource.definition);
}

const struct operation op_untag_resource = { .name = "UntagResource",
                                             .kind = OPERATION_CONTROL,
                                             .request = &untag_shape,
                                             .asks = OPERATION_ASKS_RESOURCE,
                                             .run = run_untag };

/* --- ListTagsOfResource --- */

struct list_tags_request {
    struct bytes resource_arn;
    struct bytes next_token;
};

static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_tags_request, resource_arn, "ResourceArn", &arn_shape) },
    { SHAPE_FIELD(struct list_tags_request, next_token, "NextToken", &common_string) },
};
static const struct shape list_shape = { SHAPE_STRUCTURE_OF(struct list_tags_request, list_fields),
                                         .type_name = "ListTagsOfResourceInput" };

static void answer(struct api_call *call, const struct tag_list *tags)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Tags");
    json_open_array(&writer);
    for (size_t i = 0; i < tags->count; i++) {
        json_open_object(&writer);
        json_write_name(&writer, "Key");
        json_write_string(&writer, tags->elements[i].key);
        json_write_name(&writer, "Value");
        json_write_string(&writer, tags->elements[i].value);
        json_close_object(&writer);
    }
    json_close_array(&writer);
    json_close_object(&writer);
}

static void run_list(struct api_call *call, const void *input)
{
    const struct list_tags_request *request = input;
    struct tagged resource;
    bool ok = check_arn(call, request->resource_arn) && /* Observed: any NextToken is ignored. */
              (find_tagged(call, request->resource_arn, &resource) ||
               refuse_missing(call, request->resource_arn));
    if (ok)
        answer(call, resource.tags);
    operation_end(call, ok);
}

const struct operation op_list_tags_of_resource = { .name = "ListTagsOfResource",
                                                    .kind = OPERATION_DATA,
                                                    .request = &list_shape,
                                                    .asks = OPERATION_ASKS_RESOURCE,
                                                    .run = run_list };
