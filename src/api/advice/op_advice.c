/* op_advice.c -- GetAdvice, our own: what the use of tables says about their design.
 *
 * For `stator advise` and the console. It tells names, numbers and the structure of expressions of
 * all tables, so it asks for stator:GetAdvice on "*". An answer has the tables of one page;
 * LastEvaluatedTableName says where the next one begins, as ListTables does.
 */
#include "advice/advice.h"
#include "advice/price_list.h"
#include "api/advice/advice_gather.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/error.h"
#include "table/catalogue.h"

enum { TABLES_MAX_DEFAULT = 10, TABLES_PER_PAGE_MAX = 25 };
#define WINDOW_DEFAULT_MS ADVICE_DAY_MS

struct get_advice_request {
    struct bytes table_name;
    struct bytes start_table_name;
    struct shape_integer start_time;
    struct shape_integer limit;
};

static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape limit_shape = { .kind = SHAPE_INTEGER,
                                          .min = 1,
                                          .max = TABLES_PER_PAGE_MAX };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct get_advice_request, table_name, "TableName",
                  &common_existing_table_name) },
    { SHAPE_FIELD(struct get_advice_request, start_table_name, "ExclusiveStartTableName",
                  &common_resource_name) },
    { SHAPE_FIELD(struct get_advice_request, start_time, "StartTime", &time_shape) },
    { SHAPE_FIELD(struct get_advice_request, limit, "Limit", &limit_shape) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct get_advice_request, fields),
                                            .type_name = "GetAdviceInput" };

/* --- The tables of a page --- */

struct page {
    struct table *tables[TABLES_PER_PAGE_MAX]; /* Held. */
    size_t count;
    bool has_more;
};

static bool is_listed(const struct table_definition *definition, void *context)
{
    (void)context;
    return definition->status == TABLE_ACTIVE || definition->status == TABLE_UPDATING;
}

static bool find_tables(struct api_call *call, const struct get_advice_request *request,
                        struct page *page)
{
    struct catalogue *catalogue = api_catalogue(call->api);
    size_t max = request->limit.present ? (size_t)request->limit.value : TABLES_MAX_DEFAULT;
    if (request->table_name.data != NULL) {
        struct table *table = catalogue_find(catalogue, operation_table_name(request->table_name));
        if (table == NULL)
            return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Table: %.*s not found",
                             BYTES_FMT(request->table_name));
        page->tables[page->count++] = table;
        return true;
    }
    struct bytes after =
        request->start_table_name.data == NULL ? BYTES("") : request->start_table_name;
    struct table *table = catalogue_find_next(catalogue, after, is_listed, NULL);
    while (table != NULL && page->count < max) {
        page->tables[page->count++] = table;
        table = catalogue_find_next(catalogue, table_definition(table)->name, is_listed, NULL);
    }
    page->has_more = table != NULL;
    table_release(table);
    return true;
}

/* --- The answer --- */

static void write_number(struct json_writer *json, const char *name, double value)
{
    json_write_name(json, name);
    json_write_double(json, value);
}

static void write_names(struct json_writer *json, struct bytes table, struct bytes index)
{
    json_write_name(json, "TableName");
    json_write_string(json, table);
    if (index.data == NULL)
        return;
    json_write_name(json, "IndexName");
    json_write_string(json, index);
}

static void write_finding(struct json_writer *json, const struct advice_finding *finding)
{
    json_open_object(json);
    json_write_name(json, "Rule");
    json_write_text(json, finding->rule);
    json_write_name(json, "Severity");
    json_write_text(json, finding->is_warning ? "WARNING" : "INFO");
    write_names(json, finding->table_name, finding->index_name);
    if (finding->operation != NULL) {
        json_write_name(json, "Operation");
        json_write_text(json, finding->operation);
    }
    if (finding->shape.data != NULL) {
        json_write_name(json, "Shape");
        json_write_string(json, finding->shape);
    }
    json_write_name(json, "Summary");
    json_write_string(json, finding->summary);
    json_write_name(json, "Action");
    json_write_text(json, finding->action);
    json_write_name(json, "Evidence");
    json_open_object(json);
    for (size_t i = 0; i < finding->evidence_count; i++)
        write_number(json, finding->evidence[i].name, finding->evidence[i].value);
    json_close_object(json);
    json_write_name(json, "WindowStart");
    json_write_seconds(json, finding->from_ms);
    json_write_name(json, "WindowEnd");
    json_write_seconds(json, finding->until_ms);
    if (finding->has_cost)
        write_number(json, "MonthlyCost", finding->cost);
    json_close_object(json);
}

static void write_unjudged(struct json_writer *json, const struct advice_unjudged *unjudged)
{
    json_open_object(json);
    json_write_name(json, "Rule");
    json_write_text(json, unjudged->rule);
    write_names(json, unjudged->table_name, unjudged->index_name);
    json_write_name(json, "Reason");
    json_write_text(json, unjudged->reason);
    json_close_object(json);
}

static void write_answer(const struct advice_gathering *gathering, const struct page *page,
                         const struct advice_report *report)
{
    struct json_writer json;
    json_writer_init(&json, &gathering->call->response);
    json_open_object(&json);
    json_write_name(&json, "Time");
    json_write_seconds(&json, gathering->now_ms);
    json_write_name(&json, "StartTime");
    json_write_seconds(&json, gathering->since_ms);
    json_write_name(&json, "ServerStarted");
    json_write_seconds(&json, advice_history_started_ms(api_advice_history(gathering->call->api)));
    price_list_write(&json, "PriceList");
    json_write_name(&json, "Tables");
    json_open_array(&json);
    for (size_t i = 0; i < page->count; i++)
        json_write_string(&json, table_definition(page->tables[i])->name);
    json_close_array(&json);
    json_write_name(&json, "Findings");
    json_open_array(&json);
    for (size_t i = 0; i < report->finding_count; i++)
        write_finding(&json, &report->findings[i]);
    json_close_array(&json);
    json_write_name(&json, "NotJudged");
    json_open_array(&json);
    for (size_t i = 0; i < report->unjudged_count; i++)
        write_unjudged(&json, &report->unjudged[i]);
    json_close_array(&json);
    json_write_name(&json, "ShapesMissed");
    json_write_integer(&json, (int64_t)gathering->shapes.missed);
    if (page->has_more) {
        json_write_name(&json, "LastEvaluatedTableName");
        json_write_string(&json, table_definition(page->tables[page->count - 1])->name);
    }
    json_close_object(&json);
}

static bool judge_tables(struct api_call *call, struct page *page, int64_t since_ms)
{
    struct advice_gathering gathering;
    struct advice_report report;
    struct advice_window *windows =
        arena_alloc_zeroed(call->arena, (page->count + 1) * sizeof *windows);
    struct advice_table *facts = arena_alloc(call->arena, sizeof *facts);
    struct arena *scratch = arena_create();
    bool ok = true;
    for (size_t i = 0; i < page->count; i++)
        windows[i].table_id = table_definition(page->tables[i])->id;
    advice_history_read(api_advice_history(call->api), since_ms, windows, page->count);
    advice_gathering_init(&gathering, call, since_ms);
    advice_report_init(&report, call->arena);
    for (size_t i = 0; i < page->count && ok; i++) {
        *facts = (struct advice_table){ .window = windows[i] };
        ok = advice_gather(&gathering, scratch, page->tables[i], facts);
        if (ok)
            advice_judge(&report, facts);
        arena_reset(scratch);
    }
    arena_destroy(scratch);
    if (ok)
        write_answer(&gathering, page, &report);
    return ok;
}

static void run(struct api_call *call, const void *input)
{
    const struct get_advice_request *request = input;
    struct page *page = arena_alloc_zeroed(call->arena, sizeof *page);
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    int64_t since_ms =
        request->start_time.present ? request->start_time.value : now_ms - WINDOW_DEFAULT_MS;
    bool ok = since_ms >= 0 && since_ms < now_ms
                  ? find_tables(call, request, page)
                  : error_validation(&call->error, "StartTime must be in the past");
    ok = ok && judge_tables(call, page, since_ms);
    for (size_t i = 0; i < page->count; i++)
        table_release(page->tables[i]);
    operation_end(call, ok);
}

const struct operation op_get_advice = { .name = "GetAdvice",
                                         .service = OPERATION_OF_STATOR,
                                         .kind = OPERATION_DATA,
                                         .request = &request_shape,
                                         .asks = OPERATION_ASKS_ACCOUNT,
                                         .waits = true,
                                         .run = run };
