/* op_describe_contributor_insights.c -- DescribeContributorInsights: always disabled, as nothing
 * can enable it. */
#include "api/common_shapes.h"
#include "api/table/index_rules.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "json/writer.h"
#include "table/catalogue.h"

struct describe_contributor_insights_request {
    struct bytes table_name;
    struct bytes index_name;
};

static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct describe_contributor_insights_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct describe_contributor_insights_request, index_name, "IndexName",
                  &common_resource_name) },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct describe_contributor_insights_request, fields),
    .type_name = "DescribeContributorInsightsInput",
};

/* Only global indexes have insights of their own. */
static bool check_index(struct api_call *call, const struct table_definition *definition,
                        struct bytes name)
{
    if (name.data == NULL)
        return true;
    const struct index_definition *index = table_definition_index(definition, name);
    return (index != NULL && index->global) ||
           index_rules_refuse_missing(definition, name, &call->error);
}

static void answer(struct api_call *call, const struct table_definition *definition,
                   struct bytes index_name)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "TableName");
    json_write_string(&writer, definition->name);
    if (index_name.data != NULL) {
        json_write_name(&writer, "IndexName");
        json_write_string(&writer, index_name);
    }
    json_write_name(&writer, "ContributorInsightsStatus");
    json_write_text(&writer, "DISABLED");
    json_close_object(&writer);
}

static void run(struct api_call *call, const void *input)
{
    const struct describe_contributor_insights_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok = table != NULL && check_index(call, table_definition(table), request->index_name);
    if (ok)
        answer(call, table_definition(table), request->index_name);
    table_release(table);
    operation_end(call, ok);
}

const struct operation op_describe_contributor_insights = { .name = "DescribeContributorInsights",
                                                            .kind = OPERATION_DATA,
                                                            .request = &request_shape,
                                                            .asks = OPERATION_ASKS_RESOURCE,
                                                            .run = run };
