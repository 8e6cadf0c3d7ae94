/* op_contributor_insights.c -- DescribeContributorInsights and ListContributorInsights: always
 * disabled and of no table, as nothing can enable insights. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_name.h"
#include "api/table/table_operation.h"
#include "json/writer.h"
#include "model/limits.h"
#include "table/catalogue.h"

/* --- DescribeContributorInsights --- */

struct describe_contributor_insights_request {
    struct bytes table_name;
    struct bytes index_name;
};

static const struct shape index_name_shape = {
    .kind = SHAPE_STRING,
    .min = TABLE_NAME_SIZE_MIN,
    .max = TABLE_NAME_SIZE_MAX,
    .length_text = "IndexName must be at least 3 characters long and at most 255 characters long",
    .pattern = TABLE_NAME_PATTERN,
    .matches = table_name_matches,
};
static const struct shape_field describe_fields[] = {
    { SHAPE_FIELD(struct describe_contributor_insights_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct describe_contributor_insights_request, index_name, "IndexName",
                  &index_name_shape) },
};
static const struct shape describe_shape = {
    SHAPE_STRUCTURE_OF(struct describe_contributor_insights_request, describe_fields),
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
           error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Index: %.*s not found for table: %.*s",
                     BYTES_FMT(name), BYTES_FMT(definition->name));
}

static void answer_describe(struct api_call *call, const struct table_definition *definition,
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

static void run_describe(struct api_call *call, const void *input)
{
    const struct describe_contributor_insights_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok = table != NULL && check_index(call, table_definition(table), request->index_name);
    if (ok)
        answer_describe(call, table_definition(table), request->index_name);
    operation_end(call, ok);
}

const struct operation op_describe_contributor_insights = { .name = "DescribeContributorInsights",
                                                            .kind = OPERATION_DATA,
                                                            .request = &describe_shape,
                                                            .asks = OPERATION_ASKS_RESOURCE,
                                                            .run = run_describe };

/* --- ListContributorInsights --- */

enum { PAGE_MAX = 100 };

struct list_contributor_insights_request {
    struct bytes table_name;
    struct bytes next_token;
    struct shape_integer max_results;
};

static const struct shape max_results_shape = { .kind = SHAPE_INTEGER,
                                                .min = SHAPE_NO_MIN,
                                                .max = PAGE_MAX };
static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_contributor_insights_request, table_name, "TableName",
                  &common_existing_table_name) },
    { SHAPE_FIELD(struct list_contributor_insights_request, next_token, "NextToken",
                  &common_string) },
    { SHAPE_FIELD(struct list_contributor_insights_request, max_results, "MaxResults",
                  &max_results_shape) },
};
static const struct shape list_shape = {
    SHAPE_STRUCTURE_OF(struct list_contributor_insights_request, list_fields),
    .type_name = "ListContributorInsightsInput",
};

static bool check(struct api_call *call, const struct list_contributor_insights_request *request)
{
    if (!table_operation_check_token(call, request->next_token))
        return false;
    if (request->table_name.data == NULL)
        return true;
    struct table *table = table_operation_find(call, request->table_name);
    return table != NULL;
}

static void answer_list(struct api_call *call)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "ContributorInsightsSummaries");
    json_open_array(&writer);
    json_close_array(&writer);
    json_close_object(&writer);
}

static void run_list(struct api_call *call, const void *input)
{
    bool ok = check(call, input);
    if (ok)
        answer_list(call);
    operation_end(call, ok);
}

const struct operation op_list_contributor_insights = { .name = "ListContributorInsights",
                                                        .kind = OPERATION_DATA,
                                                        .request = &list_shape,
                                                        .asks = OPERATION_ASKS_ACCOUNT,
                                                        .run = run_list };
