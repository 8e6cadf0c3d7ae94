/* op_advice.c -- GetAdvice, our own: what the use of tables says about their design.
 *
 * For `stator advise` and the console. It tells names, numbers and the structure of expressions of
 * all tables, so it asks for stator:GetAdvice on "*". An answer has the tables of one page;
 * LastEvaluatedTableName says where the next one begins, as ListTables does. It pauses between
 * steps, so that the thread that read the request is free for others.
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

enum {
    TABLES_MAX_DEFAULT = 10,
    TABLES_PER_PAGE_MAX = 25,
    /* Tables and indexes: a page ends with the table that reaches it. Each takes a look at a day of
     * minutes of keys, a month of samples, and a megabyte of items. */
    RESOURCES_PER_PAGE = 50,
};
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
    size_t resources = 0;
    while (table != NULL && page->count < max && resources < RESOURCES_PER_PAGE) {
        page->tables[page->count++] = table;
        resources += 1 + table_definition(table)->index_count;
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

/* --- The call --- */

struct run {
    struct api_call *call;
    struct page page;
    struct advice_gathering gathering;
    struct advice_report report;
    struct advice_window *windows; /* Of each table. */
    struct advice_table facts;     /* Of the current one. */
    struct advice_gather gather;
    bool is_gathering;
    size_t judged_count;
};

static void end(struct run *run, bool ok)
{
    if (run->is_gathering)
        advice_gather_end(&run->gather);
    for (size_t i = 0; i < run->page.count; i++)
        table_release(run->page.tables[i]);
    operation_end(run->call, ok);
}

/* A step of the current table; judges it after the last one. */
static bool step(struct run *run)
{
    if (!run->is_gathering) {
        run->facts = (struct advice_table){ .window = run->windows[run->judged_count] };
        advice_gather_begin(&run->gather, &run->gathering, run->page.tables[run->judged_count],
                            &run->facts);
        run->is_gathering = true;
    }
    enum advice_gather_status status = advice_gather_step(&run->gather);
    if (status != ADVICE_GATHER_DONE)
        return status == ADVICE_GATHER_GOES_ON;
    advice_judge(&run->report, &run->facts);
    advice_gather_end(&run->gather);
    run->is_gathering = false;
    run->judged_count++;
    return true;
}

static void go_on(struct run *run);

static void resume(struct api_call *call, bool cancelled)
{
    if (cancelled)
        end(call->resume_state, false);
    else
        go_on(call->resume_state);
}

static void go_on(struct run *run)
{
    while (run->judged_count < run->page.count) {
        if (!step(run)) {
            end(run, false);
            return;
        }
        if (!operation_is_pause_due(run->call, clock_monotonic_ns()))
            continue;
        if (run->is_gathering)
            advice_gather_pause(&run->gather);
        operation_pause(run->call, resume, run);
        return;
    }
    write_answer(&run->gathering, &run->page, &run->report);
    end(run, true);
}

static void begin(struct run *run, int64_t since_ms)
{
    struct api_call *call = run->call;
    run->windows = arena_alloc_zeroed(call->arena, (run->page.count + 1) * sizeof *run->windows);
    for (size_t i = 0; i < run->page.count; i++)
        run->windows[i].table_id = table_definition(run->page.tables[i])->id;
    advice_history_read(api_advice_history(call->api), since_ms, run->windows, run->page.count);
    advice_gathering_init(&run->gathering, call, since_ms);
    advice_report_init(&run->report, call->arena);
    go_on(run);
}

static void run(struct api_call *call, const void *input)
{
    const struct get_advice_request *request = input;
    struct run *run = arena_alloc_zeroed(call->arena, sizeof *run);
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    int64_t since_ms =
        request->start_time.present ? request->start_time.value : now_ms - WINDOW_DEFAULT_MS;
    run->call = call;
    bool ok = since_ms >= 0 && since_ms < now_ms
                  ? find_tables(call, request, &run->page)
                  : error_validation(&call->error, "StartTime must be in the past");
    if (ok)
        begin(run, since_ms);
    else
        end(run, false);
}

const struct operation op_get_advice = { .name = "GetAdvice",
                                         .service = OPERATION_OF_STATOR,
                                         .kind = OPERATION_DATA,
                                         .request = &request_shape,
                                         .asks = OPERATION_ASKS_ACCOUNT,
                                         .reads_many = true,
                                         .waits = OPERATION_WAITS,
                                         .run = run };
