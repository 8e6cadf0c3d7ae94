/* resource_policy.c -- see resource_policy.h. */
#include "api/table/resource_policy.h"
#include <inttypes.h>
#include "api/operation.h"
#include "api/table/table_name.h"
#include "api/table/table_operation.h"
#include "auth/policy.h"
#include "base/arena.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/limits.h"
#include "table/catalogue.h"

#define INVALID_VALUES "One or more parameter values were invalid: "

enum { REVISION_SIZE_MAX = 255 };

const struct shape resource_policy_arn_shape = { .kind = SHAPE_STRING,
                                                 .min = 1,
                                                 .max = RESOURCE_ARN_SIZE_MAX };
const struct shape resource_policy_revision_shape = { .kind = SHAPE_STRING,
                                                      .min = 1,
                                                      .max = REVISION_SIZE_MAX };

static bool is_json_object(struct arena *arena, struct bytes text)
{
    struct json_reader reader;
    json_reader_init(&reader, arena, text, JSON_DEPTH_LIMIT);
    bool object = json_peek(&reader) == JSON_OBJECT;
    json_skip(&reader);
    return json_finish(&reader) && object;
}

bool resource_policy_check(struct arena *arena, struct bytes text, struct error *err)
{
    if (text.len > RESOURCE_POLICY_SIZE_MAX)
        return error_validation(
            err, INVALID_VALUES "ResourcePolicy is larger than the limit of %d bytes",
            RESOURCE_POLICY_SIZE_MAX);
    if (!is_json_object(arena, text))
        return error_validation(err,
                                INVALID_VALUES "Invalid policy document: Syntax errors in policy.");
    return true;
}

bool resource_policy_check_meaning(struct arena *arena, struct bytes text, struct error *err)
{
    struct error why;
    error_init(&why, arena);
    return policy_parse(arena, text, POLICY_OF_RESOURCE, &why) != NULL ||
           error_validation(err, INVALID_VALUES "Invalid policy document: %.*s",
                            BYTES_FMT(why.message));
}

static bool find_stream(struct api_call *call, struct bytes label, struct policy_resource *resource)
{
    struct table_definition *definition = &resource->definition;
    if (definition->stream_label.data == NULL || !bytes_equal(definition->stream_label, label))
        return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                         "Requested resource not found: Stream: %.*s not found",
                         BYTES_FMT(resource->arn));
    resource->policy = &definition->stream_policy;
    if (!bytes_equal(definition->stream_policy_label, label)) {
        definition->stream_policy = (struct resource_policy){ 0 }; /* It was an earlier stream's. */
        definition->stream_policy_label = definition->stream_label;
    }
    return true;
}

bool resource_policy_find(struct api_call *call, struct bytes arn, struct table **table,
                          struct policy_resource *resource)
{
    struct bytes table_arn = arn;
    struct bytes label = { 0 };
    *table = NULL;
    if (!table_name_is_arn(arn) && !table_name_split_stream_arn(arn, &table_arn, &label))
        return error_validation(&call->error,
                                "Invalid TableArn: Invalid ResourceArn provided as input %.*s",
                                BYTES_FMT(arn));
    *table = table_operation_find(call, table_arn);
    if (*table == NULL)
        return false;
    *resource = (struct policy_resource){ .arn = arn, .definition = *table_definition(*table) };
    resource->policy = &resource->definition.resource_policy;
    return label.data == NULL || find_stream(call, label, resource);
}

struct bytes resource_policy_revision(struct api_call *call, const struct resource_policy *policy)
{
    return arena_printf(call->arena, "%" PRId64, policy->revision);
}

bool resource_policy_refuse(struct api_call *call, const struct policy_resource *resource)
{
    return error_set(&call->error, ERROR_POLICY_NOT_FOUND,
                     "Resource-based policy not found for the provided ResourceArn: %.*s",
                     BYTES_FMT(resource->arn));
}

bool resource_policy_expect(struct api_call *call, const struct policy_resource *resource,
                            struct bytes expected)
{
    if (expected.data == NULL ||
        (resource->policy->text.data != NULL &&
         bytes_equal(expected, resource_policy_revision(call, resource->policy))))
        return true;
    return resource_policy_refuse(call, resource);
}

void resource_policy_answer(struct api_call *call, const struct resource_policy *shown,
                            struct bytes revision)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    if (shown != NULL) {
        json_write_name(&writer, "Policy");
        json_write_string(&writer, shown->text);
    }
    if (revision.data != NULL) {
        json_write_name(&writer, "RevisionId");
        json_write_string(&writer, revision);
    }
    json_close_object(&writer);
}
