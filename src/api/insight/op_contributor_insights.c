/* op_contributor_insights.c -- UpdateContributorInsights, DescribeContributorInsights and
 * ListContributorInsights.
 *
 * Observed: a request that asks for what there is already changes nothing and echoes the status.
 * ENABLE without a mode asks for the default mode. List shows what is not DISABLED. */
#include <assert.h>
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_name.h"
#include "api/table/table_operation.h"
#include "base/arena.h"
#include "control/insight_life.h"
#include "json/writer.h"
#include "model/limits.h"
#include "table/catalogue.h"

static const struct shape index_name_shape = {
    .kind = SHAPE_STRING,
    .min = TABLE_NAME_SIZE_MIN,
    .max = TABLE_NAME_SIZE_MAX,
    .length_text = "IndexName must be at least 3 characters long and at most 255 characters long",
    .pattern = TABLE_NAME_PATTERN,
    .matches = table_name_matches,
};

/* --- What the answers share --- */

/* The table itself, or one of its global indexes: only those have insights of their own. False with
 * the service's error set if there is no such index. */
static bool find_target(struct api_call *call, const struct table_definition *definition,
                        struct bytes index_name, struct insight_target *out)
{
    *out = (struct insight_target){ .table = definition };
    if (index_name.data == NULL)
        return true;
    out->index = table_definition_index(definition, index_name);
    /* Observed: an index that is being created is not found at first. */
    return (out->index != NULL && out->index->global && out->index->status != INDEX_ALLOCATING) ||
           error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Index: %.*s not found for table: %.*s",
                     BYTES_FMT(index_name), BYTES_FMT(definition->name));
}

static void write_names(struct json_writer *writer, const struct insight_target *target)
{
    json_write_name(writer, "TableName");
    json_write_string(writer, target->table->name);
    if (target->index != NULL) {
        json_write_name(writer, "IndexName");
        json_write_string(writer, target->index->name);
    }
}

static void write_status(struct json_writer *writer, const struct insight_definition *insight)
{
    json_write_name(writer, "ContributorInsightsStatus");
    json_write_text(writer, insight_status_name(insight->status));
    if (insight->status == INSIGHT_NEVER)
        return;
    json_write_name(writer, "ContributorInsightsMode");
    json_write_text(writer, insight_definition_mode_name(insight));
}

/* --- UpdateContributorInsights --- */

struct update_contributor_insights_request {
    struct bytes table_name;
    struct bytes index_name;
    struct bytes action;
    struct bytes mode;
};

static const char *const actions[] = { "ENABLE", "DISABLE", NULL };
static const char *const modes[] = { "THROTTLED_KEYS", "ACCESSED_AND_THROTTLED_KEYS", NULL };
static const struct shape action_shape = { .kind = SHAPE_STRING,
                                           SHAPE_UNBOUNDED,
                                           .enum_values = actions };
static const struct shape mode_shape = { .kind = SHAPE_STRING,
                                         SHAPE_UNBOUNDED,
                                         .enum_values = modes };
static const struct shape_field update_fields[] = {
    { SHAPE_FIELD(struct update_contributor_insights_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct update_contributor_insights_request, index_name, "IndexName",
                  &index_name_shape) },
    { SHAPE_FIELD(struct update_contributor_insights_request, action, "ContributorInsightsAction",
                  &action_shape),
      .required = true },
    { SHAPE_FIELD(struct update_contributor_insights_request, mode, "ContributorInsightsMode",
                  &mode_shape) },
};
static const struct shape update_shape = {
    SHAPE_STRUCTURE_OF(struct update_contributor_insights_request, update_fields),
    .type_name = "UpdateContributorInsightsInput",
};

static bool check_status(struct api_call *call, const struct insight_target *target)
{
    const char *what = "Table";
    if (target->table->status != TABLE_CREATING && target->table->status != TABLE_DELETING) {
        if (target->index == NULL || target->index->status == INDEX_ACTIVE)
            return true;
        what = "Index";
    }
    return error_validation(&call->error,
                            "Table or Index is not in a valid state to update Key Access Insights: "
                            "%sStatus must be ACTIVE to enable ContributorInsights.",
                            what);
}

/* Makes the change; false if there is nothing to change. `shown` is what the answer says: where
 * transitions take no time, their end is stored and their beginning is shown. */
static bool change(struct api_call *call, const struct update_contributor_insights_request *request,
                   bool has_sort_key, struct insight_definition *insight,
                   struct insight_definition *shown)
{
    const struct insight_life life = { .catalogue = api_catalogue(call->api),
                                       .insights = api_insights(call->api) };
    const struct table_life_pace pace = table_operation_pace(call);
    bool throttled_only = bytes_equal_text(request->mode, "THROTTLED_KEYS");
    bool is_on = insight_definition_counts(insight);
    bool is_off = insight->status == INSIGHT_NEVER || insight->status == INSIGHT_DISABLED ||
                  insight->status == INSIGHT_DISABLING;
    *shown = *insight;
    if (bytes_equal_text(request->action, "DISABLE")) {
        if (is_off)
            return false;
        insight_life_disable(insight, &pace);
        *shown = *insight;
        return true;
    }
    if (is_on && insight->throttled_only == throttled_only)
        return false;
    insight_life_enable(&life, insight, has_sort_key, throttled_only, &pace);
    *shown = *insight;
    shown->status = INSIGHT_ENABLING;
    return true;
}

static void answer_update(struct api_call *call, const struct insight_target *target,
                          const struct insight_definition *shown)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    write_names(&writer, target);
    write_status(&writer, shown);
    json_close_object(&writer);
}

static bool update(struct api_call *call, const struct update_contributor_insights_request *request,
                   const struct table *table)
{
    struct insight_target target;
    struct insight_definition shown;
    struct table_definition changed = table_definition_copy(call->arena, table_definition(table));
    if (!find_target(call, table_definition(table), request->index_name, &target) ||
        !check_status(call, &target))
        return false;
    struct insight_definition *insight =
        target.index == NULL ? &changed.insight
                             : &changed.indexes[target.index - target.table->indexes].insight;
    bool has_change = change(call, request, insight_target_has_sort_key(&target), insight, &shown);
    answer_update(call, &target, &shown);
    return !has_change || table_operation_store(call, &changed, "UpdateContributorInsights");
}

static void run_update(struct api_call *call, const void *input)
{
    const struct update_contributor_insights_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    operation_end(call, table != NULL && update(call, request, table));
}

const struct operation op_update_contributor_insights = { .name = "UpdateContributorInsights",
                                                          .kind = OPERATION_CONTROL,
                                                          .request = &update_shape,
                                                          .asks = OPERATION_ASKS_RESOURCE,
                                                          .run = run_update };

/* --- DescribeContributorInsights --- */

struct describe_contributor_insights_request {
    struct bytes table_name;
    struct bytes index_name;
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

static void write_rules(struct api_call *call, struct json_writer *writer,
                        const struct insight_target *target)
{
    unsigned rules = insight_target_rules(target);
    if (rules == 0)
        return;
    json_write_name(writer, "ContributorInsightsRuleList");
    json_open_array(writer);
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT; rule++) {
        if ((rules & 1U << rule) != 0)
            json_write_string(writer, insight_target_rule_name(call->arena, target, rule));
    }
    json_close_array(writer);
}

static void answer_describe(struct api_call *call, const struct insight_target *target)
{
    const struct insight_definition *insight = insight_target_definition(target);
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    write_names(&writer, target);
    write_rules(call, &writer, target);
    write_status(&writer, insight);
    if (insight->status != INSIGHT_NEVER) {
        json_write_name(&writer, "LastUpdateDateTime");
        json_write_seconds(&writer, insight->updated_ms);
    }
    if (insight->status == INSIGHT_FAILED) {
        json_write_name(&writer, "FailureException");
        json_open_object(&writer);
        json_write_name(&writer, "ExceptionName");
        json_write_text(&writer, "LimitExceededException");
        json_write_name(&writer, "ExceptionDescription");
        json_write_text(&writer,
                        "Amazon CloudWatch Contributor Insights rule limit reached. Please "
                        "disable Contributor Insights for other tables/indexes OR disable "
                        "other CloudWatch Contributor Insights rules before retrying.");
        json_close_object(&writer);
    }
    json_close_object(&writer);
}

static void run_describe(struct api_call *call, const void *input)
{
    const struct describe_contributor_insights_request *request = input;
    struct insight_target target;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok =
        table != NULL && find_target(call, table_definition(table), request->index_name, &target);
    if (ok)
        answer_describe(call, &target);
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

/* A page that is being written. A token is the last table and index of the page before:
 * "Table/Index", or "Table/" for the table itself. */
struct page {
    struct api_call *call;
    struct json_writer writer;
    struct bytes after_table; /* Empty: from the start. */
    struct bytes after_index; /* Of that table: entries up to this one were shown. */
    size_t left;
    bool is_full; /* There is more. */
    struct bytes last;
};

static bool read_token(struct page *page, struct bytes token)
{
    page->after_table = BYTES("");
    page->after_index = (struct bytes){ 0 };
    if (token.data == NULL)
        return true;
    const uint8_t *slash = token.len == 0 ? NULL : memchr(token.data, '/', token.len);
    if (slash == NULL || slash == token.data)
        return error_validation(&page->call->error, "Invalid NextToken");
    page->after_table = bytes_of(token.data, (size_t)(slash - token.data));
    page->after_index = bytes_of(slash + 1, token.len - page->after_table.len - 1);
    return true;
}

static bool is_listed(const struct insight_target *target)
{
    enum insight_status status = insight_target_definition(target)->status;
    return status != INSIGHT_NEVER && status != INSIGHT_DISABLED;
}

static bool has_listed(const struct table_definition *table, void *context)
{
    struct insight_target target;
    (void)context;
    for (size_t i = 0; insight_target_at(table, i, &target); i++) {
        if (is_listed(&target))
            return true;
    }
    return false;
}

/* How many targets of the table come before the page: all up to the one that the token names. */
static size_t first_target(const struct page *page, const struct table_definition *table)
{
    struct insight_target target;
    if (page->after_index.data == NULL || !bytes_equal(table->name, page->after_table))
        return 0;
    for (size_t i = 0; insight_target_at(table, i, &target); i++) {
        struct bytes name = target.index == NULL ? BYTES("") : target.index->name;
        if (bytes_equal(name, page->after_index))
            return i + 1;
    }
    return 0; /* The index is gone. */
}

static void list_table(struct page *page, const struct table_definition *table)
{
    struct insight_target target;
    for (size_t i = first_target(page, table); insight_target_at(table, i, &target); i++) {
        if (!is_listed(&target))
            continue;
        if (page->left == 0) {
            page->is_full = true;
            return;
        }
        json_open_object(&page->writer);
        write_names(&page->writer, &target);
        write_status(&page->writer, insight_target_definition(&target));
        json_close_object(&page->writer);
        page->left--;
        struct bytes index = target.index == NULL ? BYTES("") : target.index->name;
        page->last =
            arena_printf(page->call->arena, "%.*s/%.*s", BYTES_FMT(table->name), BYTES_FMT(index));
    }
}

static void list_all(struct page *page)
{
    struct catalogue *catalogue = api_catalogue(page->call->api);
    struct bytes after = page->after_table;
    struct table *table = catalogue_find(catalogue, after); /* What the token's table has left. */
    if (table == NULL)
        table = catalogue_find_next(catalogue, after, has_listed, NULL);
    while (table != NULL && !page->is_full) {
        list_table(page, table_definition(table));
        after = arena_copy(page->call->arena, table_definition(table)->name);
        table_release(table);
        table = page->is_full ? NULL : catalogue_find_next(catalogue, after, has_listed, NULL);
    }
    table_release(table);
}

static bool list(struct api_call *call, const struct list_contributor_insights_request *request)
{
    struct page page = { .call = call,
                         .left = request->max_results.present && request->max_results.value > 0
                                     ? (size_t)request->max_results.value
                                     : PAGE_MAX };
    struct table *table = NULL;
    if (!read_token(&page, request->next_token))
        return false;
    if (request->table_name.data != NULL) {
        table = table_operation_find(call, request->table_name);
        if (table == NULL)
            return false;
    }
    json_writer_init(&page.writer, &call->response);
    json_open_object(&page.writer);
    json_write_name(&page.writer, "ContributorInsightsSummaries");
    json_open_array(&page.writer);
    if (table != NULL)
        list_table(&page, table_definition(table));
    else
        list_all(&page);
    json_close_array(&page.writer);
    if (page.is_full) {
        json_write_name(&page.writer, "NextToken");
        json_write_string(&page.writer, page.last);
    }
    json_close_object(&page.writer);
    return true;
}

static void run_list(struct api_call *call, const void *input)
{
    operation_end(call, list(call, input));
}

const struct operation op_list_contributor_insights = { .name = "ListContributorInsights",
                                                        .kind = OPERATION_DATA,
                                                        .request = &list_shape,
                                                        .asks = OPERATION_ASKS_ACCOUNT,
                                                        .run = run_list };
