/* op_list_contributor_insights.c -- ListContributorInsights: of no table, as nothing can enable
 * insights. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "json/writer.h"
#include "table/catalogue.h"

enum { PAGE_MAX = 100 };

struct list_contributor_insights_request {
    struct bytes table_name;
    struct bytes next_token;
    struct shape_integer max_results;
};

static const struct shape max_results_shape = { .kind = SHAPE_INTEGER,
                                                .min = SHAPE_NO_MIN,
                                                .max = PAGE_MAX };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct list_contributor_insights_request, table_name, "TableName",
                  &common_existing_table_name) },
    { SHAPE_FIELD(struct list_contributor_insights_request, next_token, "NextToken",
                  &common_string) },
    { SHAPE_FIELD(struct list_contributor_insights_request, max_results, "MaxResults",
                  &max_results_shape) },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct list_contributor_insights_request, fields),
    .type_name = "ListContributorInsightsInput",
};

static bool check(struct api_call *call, const struct list_contributor_insights_request *request)
{
    if (!table_operation_check_token(call, request->next_token))
        return false;
    if (request->table_name.data == NULL)
        return true;
    struct table *table = table_operation_find(call, request->table_name);
    table_release(table);
    return table != NULL;
}

static void answer(struct api_call *call)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "ContributorInsightsSummaries");
    json_open_array(&writer);
    json_close_array(&writer);
    json_close_object(&writer);
}

static void run(struct api_call *call, const void *input)
{
    bool ok = check(call, input);
    if (ok)
        answer(call);
    operation_end(call, ok);
}

const struct operation op_list_contributor_insights = { .name = "ListContributorInsights",
                                                        .kind = OPERATION_DATA,
                                                        .request = &request_shape,
                                                        .asks = OPERATION_ASKS_ACCOUNT,
                                                        .run = run };
