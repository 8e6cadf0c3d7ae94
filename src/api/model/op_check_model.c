/* op_check_model.c -- CheckModel, our own: what `stator model check` finds without running a
 * pattern, as JSON, and what could be changed where no index serves a pattern.
 *
 * For the console's modeller: the rules are in schema/ only. It reads nothing but its request, so
 * it asks for stator:CheckModel on "*". Its work has one budget, CHECK_WORK_MAX, and its answer a
 * size, CHECK_RESPONSE_SIZE_MAX, behind which nothing more is listed; IsComplete tells. Verdicts
 * come first: they are left out only if they alone are too much.
 */
#include <assert.h>
#include "advice/price_list.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "base/arena.h"
#include "json/writer.h"
#include "model/error.h"
#include "schema/entity_rules.h"
#include "schema/json_tree.h"
#include "schema/model_budget.h"
#include "schema/model_file.h"
#include "schema/pattern_suggest.h"
#include "schema/pattern_verdict.h"

enum {
    CHECK_MODEL_SIZE_MAX = 1024 * 1024,
    CHECK_FAULTS_MAX = 100,                /* Told of a table. Further ones are only counted. */
    CHECK_WORK_MAX = 300 * 1000 * 1000,    /* As model_budget.h counts it. */
    CHECK_RESPONSE_SIZE_MAX = 1024 * 1024, /* Nothing is listed behind it but names and verdicts. */
    CHECK_TEXT_SIZE_MAX = 2048,            /* Of a place or a reason. Longer ones are cut. */
    CHECK_SAVED_SIZE_MAX = 4 * 1024 * 1024,
};
#define SECONDS_PER_MONTH (730.0 * 3600)

struct check_model_request {
    struct bytes model;
    struct shape_boolean returns_model;
};

static const struct shape model_shape = { .kind = SHAPE_STRING,
                                          .min = 2,
                                          .max = CHECK_MODEL_SIZE_MAX };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct check_model_request, model, "Model", &model_shape), .required = true },
    { SHAPE_FIELD(struct check_model_request, returns_model, "ReturnModel", &common_boolean) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct check_model_request, fields),
                                            .type_name = "CheckModelInput" };

struct check {
    struct arena *arena;
    struct arena *scratch; /* For what is needed for one pattern or row only. */
    const struct model_file *file;
    struct json_writer *json;
    const struct buffer *response;
    double cost; /* A month. */
    bool is_full;
};

/* Whether more may be looked for and listed. */
static bool may_go_on(struct check *check)
{
    if (check->response->len > CHECK_RESPONSE_SIZE_MAX)
        check->is_full = true;
    return !check->is_full && !model_budget_is_used_up(check->file);
}

/* At most CHECK_TEXT_SIZE_MAX bytes, whole characters. */
static struct bytes cut_text(struct bytes text)
{
    if (text.len <= CHECK_TEXT_SIZE_MAX)
        return text;
    text.len = CHECK_TEXT_SIZE_MAX;
    while (text.len > 0 && (text.data[text.len] & 0xC0) == 0x80)
        text.len--;
    return text;
}

static void write_text(struct json_writer *json, const char *name, struct bytes text)
{
    json_write_name(json, name);
    json_write_string(json, text);
}

static void write_integer(struct json_writer *json, const char *name, size_t value)
{
    json_write_name(json, name);
    json_write_integer(json, (int64_t)value);
}

static void write_flag(struct json_writer *json, const char *name, bool value)
{
    json_write_name(json, name);
    json_write_bool(json, value);
}

static void open_list(struct json_writer *json, const char *name)
{
    json_write_name(json, name);
    json_open_array(json);
}

/* --- The file and its tables --- */

static void write_notes(struct check *check, const struct model_report *report)
{
    open_list(check->json, "Notes");
    for (size_t i = 0; i < report->note_count && may_go_on(check); i++) {
        json_open_object(check->json);
        write_text(check->json, "Place", cut_text(report->notes[i].place));
        write_text(check->json, "Text", cut_text(report->notes[i].text));
        json_close_object(check->json);
    }
    json_close_array(check->json);
    write_integer(check->json, "NoteCount", report->note_count + report->notes_dropped);
}

static void write_fault(struct check *check, const struct json_node *row, struct bytes text)
{
    json_open_object(check->json);
    write_text(check->json, "Place", cut_text(json_tree_path(check->scratch, row)));
    write_text(check->json, "Text", cut_text(text));
    json_close_object(check->json);
}

/* Rows that are no items, or break their entities. */
static void write_faults(struct check *check, const struct model_table *table)
{
    const struct entity_rules *rules = entity_rules_of_model(check->arena, check->file, table);
    size_t count = 0;
    open_list(check->json, "Faults");
    for (size_t i = 0; i < table->row_count && may_go_on(check); i++) {
        struct item item;
        struct entity_violation violation;
        struct bytes failure = { 0 };
        if (!model_budget_take(check->file,
                               model_budget_row(table->rows[i]) +
                                   model_budget_rules(check->file, table, table->rows[i])))
            break;
        if (model_row_item(check->scratch, table->rows[i], &item, &failure) &&
            (rules == NULL || entity_rules_check(rules, &item, &violation)))
            continue;
        if (failure.data == NULL)
            failure = entity_violation_text(check->scratch, &violation);
        if (count++ < CHECK_FAULTS_MAX)
            write_fault(check, table->rows[i], failure);
    }
    arena_reset(check->scratch);
    json_close_array(check->json);
    write_integer(check->json, "FaultCount", count);
}

static void write_waste(struct check *check, const struct model_table *table)
{
    open_list(check->json, "Waste");
    for (size_t i = 1; i < table->index_count && may_go_on(check); i++) {
        const struct model_index *index = &table->indexes[i];
        struct bytes waste = pattern_verdict_waste(check->arena, check->file, table, index);
        if (waste.data == NULL)
            continue;
        json_open_object(check->json);
        write_text(check->json, "IndexName", index->name);
        write_text(check->json, "Text", cut_text(waste));
        json_close_object(check->json);
    }
    json_close_array(check->json);
}

static void write_tables(struct check *check)
{
    open_list(check->json, "Tables");
    for (size_t i = 0; i < check->file->table_count; i++) {
        const struct model_table *table = &check->file->tables[i];
        json_open_object(check->json);
        write_text(check->json, "TableName", table->name);
        write_integer(check->json, "RowCount", table->row_count);
        write_faults(check, table);
        write_waste(check, table);
        json_close_object(check->json);
    }
    json_close_array(check->json);
}

static void write_collision(void *context, const struct model_entity *a,
                            const struct model_entity *b)
{
    struct check *check = context;
    if (!may_go_on(check))
        return;
    json_open_array(check->json);
    json_write_string(check->json, a->name);
    json_write_string(check->json, b->name);
    json_close_array(check->json);
}

/* --- Patterns --- */

static void write_verdict(struct check *check, const struct pattern_verdict *verdict)
{
    json_write_name(check->json, "Verdict");
    json_write_text(check->json, verdict_name(verdict->verdict));
    write_flag(check->json, "IsGood", verdict_is_good(verdict->verdict));
    write_text(check->json, "Reason", cut_text(verdict->reason));
}

static void write_coverage(struct check *check, const struct model_pattern *pattern,
                           const struct pattern_verdict *own)
{
    const struct model_table *table = model_file_table(check->file, pattern->table);
    const struct model_index *used = model_table_index(table, pattern->index);
    open_list(check->json, "Coverage");
    for (size_t i = 0; i < table->index_count; i++) {
        const struct model_index *index = &table->indexes[i];
        struct pattern_verdict verdict = *own;
        if (index != used && (pattern_operation_writes(pattern->operation) || !may_go_on(check)))
            continue;
        if (index != used) {
            verdict = pattern_verdict_elsewhere(check->arena, check->file, pattern, index);
            if (model_budget_is_used_up(check->file))
                continue;
        }
        json_open_object(check->json);
        if (index->name.data != NULL)
            write_text(check->json, "IndexName", index->name);
        write_flag(check->json, "IsUsed", index == used);
        write_verdict(check, &verdict);
        json_close_object(check->json);
    }
    json_close_array(check->json);
}

static void write_suggestions(struct check *check, const struct model_pattern *pattern,
                              const struct pattern_verdict *verdict)
{
    if (!may_go_on(check))
        return;
    struct suggestions found = pattern_suggest(check->arena, check->file, pattern, verdict);
    if (model_budget_is_used_up(check->file))
        return;
    open_list(check->json, "Suggestions");
    for (size_t i = 0; i < found.count && may_go_on(check); i++) {
        json_open_object(check->json);
        json_write_name(check->json, "Kind");
        json_write_text(check->json, suggestion_kind_name(found.list[i].kind));
        write_text(check->json, "Text", cut_text(found.list[i].text));
        json_write_name(check->json, "Patch");
        json_tree_write_compact(check->json, found.list[i].patch);
        json_close_object(check->json);
    }
    json_close_array(check->json);
    if (found.hint.data != NULL)
        write_text(check->json, "Hint", found.hint);
}

static void write_estimate(struct check *check, const struct model_pattern *pattern)
{
    if (!may_go_on(check))
        return;
    struct pattern_estimate estimate = pattern_estimate_of(check->scratch, check->file, pattern);
    arena_reset(check->scratch);
    if (!estimate.known || model_budget_is_used_up(check->file))
        return;
#define PRICE(identifier, price, unit) PRICE_##identifier,
    enum price { PRICE_LIST(PRICE) PRICE_COUNT };
#undef PRICE
#define PRICE(identifier, price, unit) [PRICE_##identifier] = (price),
    static const double prices[PRICE_COUNT] = { PRICE_LIST(PRICE) };
#undef PRICE
    bool writes = pattern_operation_writes(pattern->operation);
    double cost = (double)estimate.half_units / 2 * pattern->calls_per_second * SECONDS_PER_MONTH *
                  prices[writes ? PRICE_WRITE_REQUEST_UNIT : PRICE_READ_REQUEST_UNIT];
    check->cost += cost;
    write_integer(check->json, "Items", (size_t)estimate.items);
    json_write_name(check->json, "Units");
    json_write_half_units(check->json, estimate.half_units);
    json_write_name(check->json, "MonthlyCost");
    json_write_double(check->json, cost);
}

static void write_pattern(struct check *check, const struct model_pattern *pattern,
                          const struct pattern_verdict *verdict)
{
    bool is_allowed = verdict->verdict == VERDICT_SCAN && pattern->allows_scan;
    json_open_object(check->json);
    write_text(check->json, "Name", pattern->name);
    write_text(check->json, "TableName", pattern->table);
    json_write_name(check->json, "Operation");
    json_write_text(check->json, pattern_operation_name(pattern->operation));
    write_verdict(check, verdict);
    write_flag(check->json, "IsAllowed", is_allowed);
    write_coverage(check, pattern, verdict);
    if (verdict_is_good(verdict->verdict) ||
        (verdict->verdict == VERDICT_SCAN && pattern->operation == PATTERN_SCAN))
        write_estimate(check, pattern);
    if (!verdict_is_good(verdict->verdict) && !is_allowed)
        write_suggestions(check, pattern, verdict);
    json_close_object(check->json);
}

/* Those of the first patterns; of all if the budget allows it. */
static size_t find_verdicts(const struct check *check, struct pattern_verdict *out)
{
    size_t count = 0;
    while (count < check->file->pattern_count) {
        out[count] = pattern_verdict_of(check->arena, check->file, &check->file->patterns[count]);
        if (model_budget_is_used_up(check->file))
            break;
        count++;
    }
    return count;
}

/* --- All --- */

static bool check_model(struct api_call *call, const struct check_model_request *request)
{
    struct model_report report = { 0 };
    struct json_writer json;
    struct model_budget budget = { .left = CHECK_WORK_MAX };
    struct model_file *file = model_file_load(call->arena, request->model, &report);
    if (file == NULL)
        return error_validation(&call->error, "Model is not valid: %.*s",
                                BYTES_FMT(cut_text(report.failure)));
    file->budget = &budget;
    struct check check = { .arena = call->arena,
                           .scratch = arena_create(),
                           .file = file,
                           .json = &json,
                           .response = &call->response };
    struct pattern_verdict *verdicts =
        arena_alloc(call->arena, (file->pattern_count + 1) * sizeof *verdicts);
    size_t verdict_count = find_verdicts(&check, verdicts);
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    write_text(&json, "Format", report.format);
    write_notes(&check, &report);
    write_tables(&check);
    open_list(&json, "Collisions");
    if (may_go_on(&check))
        (void)pattern_verdict_collisions(file, write_collision, &check);
    json_close_array(&json);
    open_list(&json, "Patterns");
    for (size_t i = 0; i < verdict_count; i++)
        write_pattern(&check, &file->patterns[i], &verdicts[i]);
    json_close_array(&json);
    json_write_name(&json, "MonthlyCost");
    json_write_double(&json, check.cost);
    price_list_write(&json, "PriceList");
    struct bytes saved = { 0 };
    if (request->returns_model.value)
        saved = model_file_save(call->arena, file);
    bool fits = saved.len <= CHECK_SAVED_SIZE_MAX;
    write_flag(&json, "IsComplete", !check.is_full && !budget.is_used_up && fits);
    if (saved.data != NULL && fits)
        write_text(&json, "Model", saved);
    json_close_object(&json);
    arena_destroy(check.scratch);
    return true;
}

static void run_check(struct api_call *call, const void *input)
{
    operation_end(call, check_model(call, input));
}

const struct operation op_check_model = { .name = "CheckModel",
                                          .service = OPERATION_OF_STATOR,
                                          .kind = OPERATION_DATA,
                                          .request = &request_shape,
                                          .asks = OPERATION_ASKS_ACCOUNT,
                                          .waits = OPERATION_WAITS,
                                          .run = run_check };
