/* op_list_tags_of_resource.c -- ListTagsOfResource.
 *
 * A table has at most TAGS_MAX tags, which fit on one page: there is never a NextToken.
 */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "api/table/tag_operation.h"
#include "json/writer.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

struct list_tags_request {
    struct bytes resource_arn;
    struct bytes next_token;
};

static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct list_tags_request, resource_arn, "ResourceArn",
                  &tag_operation_arn_shape) },
    { SHAPE_FIELD(struct list_tags_request, next_token, "NextToken", &common_string) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct list_tags_request, fields),
                                            .type_name = "ListTagsOfResourceInput" };

static void answer(struct api_call *call, const struct table_definition *definition)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Tags");
    json_open_array(&writer);
    for (size_t i = 0; i < definition->tag_count; i++) {
        json_open_object(&writer);
        json_write_name(&writer, "Key");
        json_write_string(&writer, definition->tags[i].key);
        json_write_name(&writer, "Value");
        json_write_string(&writer, definition->tags[i].value);
        json_close_object(&writer);
    }
    json_close_array(&writer);
    json_close_object(&writer);
}

static void run(struct api_call *call, const void *input)
{
    const struct list_tags_request *request = input;
    struct table *table = NULL;
    if (tag_operation_check(call, request->resource_arn) &&
        table_operation_check_token(call, request->next_token))
        table = tag_operation_find(call, request->resource_arn);
    if (table == NULL) {
        operation_fail(call);
        return;
    }
    answer(call, table_definition(table));
    table_release(table);
    operation_succeed(call);
}

const struct operation op_list_tags_of_resource = { .name = "ListTagsOfResource",
                                                    .kind = OPERATION_DATA,
                                                    .request = &request_shape,
                                                    .asks = OPERATION_ASKS_RESOURCE,
                                                    .run = run };
