/* bench_expr.c -- the cost of a typical condition and a typical update, in nanoseconds.
 *
 * One line per measure, see measure.h. Parsing includes the
 * placeholders; evaluating and applying work on an item of ten attributes.
 */
#include <stdlib.h>
#include "base/arena.h"
#include "expr/condition.h"
#include "expr/condition_parse.h"
#include "expr/lookup.h"
#include "expr/params.h"
#include "expr/update.h"
#include "expr/update_parse.h"
#include "json/reader.h"
#include "model/error.h"
#include "model/value_json.h"
#include "measure.h"

enum { DEPTH_MAX = 72 };

static const char item_text[] =
    "{\"pk\":{\"S\":\"customer#0000482913\"},\"sk\":{\"S\":\"order#2026-11-15\"},"
    "\"status\":{\"S\":\"SHIPPED\"},\"total\":{\"N\":\"1284.50\"},\"version\":{\"N\":\"17\"},"
    "\"paid\":{\"BOOL\":true},\"note\":{\"S\":\"leave at the door, ring twice\"},"
    "\"tags\":{\"SS\":[\"gift\",\"express\",\"fragile\"]},\"city\":{\"S\":\"Aarhus\"},"
    "\"visits\":{\"N\":\"1906\"}}";
static const char values_text[] = "{\":v\":{\"N\":\"17\"},\":s\":{\"S\":\"SHIPPED\"},"
                                  "\":one\":{\"N\":\"1\"},\":t\":{\"S\":\"DELIVERED\"}}";
static const char condition_text[] = "attribute_exists(pk) AND version = :v AND #status = :s";
static const char update_text[] = "SET version = version + :one, #status = :t";

struct bench {
    struct arena *arena; /* Reset after every call. */
    struct item item;
    struct item values;
    const struct condition *condition;
    const struct update *update;
};

static struct item read_item(struct arena *arena, const char *text)
{
    struct json_reader reader;
    struct item item;
    struct error rule, err;
    json_reader_init(&reader, arena, bytes_from_text(text), DEPTH_MAX);
    error_init(&rule, arena);
    error_init(&err, arena);
    if (!item_json_read(&reader, arena, &item, &rule, &err) || error_is_set(&rule))
        abort();
    return item;
}

static void open_params(struct bench *bench, struct arena *arena, struct expr_params *params,
                        struct error *err)
{
    static const struct bytes keys[] = { BYTES("#status") };
    static const struct bytes names[] = { BYTES("status") };
    struct expr_params_input input = { .names_present = true,
                                       .name_keys = keys,
                                       .name_values = names,
                                       .name_count = 1,
                                       .values = &bench->values };
    error_init(err, arena);
    if (!expr_params_init(params, arena, &input, err))
        abort();
}

static const struct condition *parse_condition(struct bench *bench, struct arena *arena)
{
    struct expr_params params;
    struct error err;
    open_params(bench, arena, &params, &err);
    return condition_parse(arena, bytes_from_text(condition_text), "ConditionExpression", &params,
                           &err);
}

static const struct update *parse_update(struct bench *bench, struct arena *arena)
{
    struct expr_params params;
    struct error err;
    open_params(bench, arena, &params, &err);
    return update_parse(arena, bytes_from_text(update_text), &params, &err);
}

static size_t condition_parsed(void *context)
{
    struct bench *bench = context;
    return parse_condition(bench, bench->arena) != NULL;
}

static bool evaluate(struct bench *bench, const struct condition *condition)
{
    struct lookup lookup;
    lookup_init(&lookup, bench->arena, &bench->item);
    return condition_matches(condition, &lookup);
}

static size_t condition_evaluated(void *context)
{
    struct bench *bench = context;
    return evaluate(bench, bench->condition);
}

static size_t condition_whole(void *context)
{
    struct bench *bench = context;
    return evaluate(bench, parse_condition(bench, bench->arena));
}

static size_t update_parsed(void *context)
{
    struct bench *bench = context;
    return parse_update(bench, bench->arena) != NULL;
}

static size_t apply(struct bench *bench, const struct update *update)
{
    struct item updated;
    struct error err;
    error_init(&err, bench->arena);
    if (!update_apply(bench->arena, update, &bench->item, &updated, &err))
        abort();
    return updated.size;
}

static size_t update_applied(void *context)
{
    struct bench *bench = context;
    return apply(bench, bench->update);
}

static size_t update_whole(void *context)
{
    struct bench *bench = context;
    return apply(bench, parse_update(bench, bench->arena));
}

int main(void)
{
    struct arena *kept = arena_create();
    struct bench bench = { .arena = arena_create(),
                           .item = read_item(kept, item_text),
                           .values = read_item(kept, values_text) };
    bench.condition = parse_condition(&bench, kept);
    bench.update = parse_update(&bench, kept);
    if (bench.condition == NULL || bench.update == NULL)
        abort();
    measure("condition_parse_3_terms", bench.arena, condition_parsed, &bench);
    measure("condition_evaluate_3_terms", bench.arena, condition_evaluated, &bench);
    measure("condition_parse_and_evaluate_3_terms", bench.arena, condition_whole, &bench);
    measure("update_parse_2_actions", bench.arena, update_parsed, &bench);
    measure("update_apply_2_actions", bench.arena, update_applied, &bench);
    measure("update_parse_and_apply_2_actions", bench.arena, update_whole, &bench);
    arena_destroy(bench.arena);
    arena_destroy(kept);
    return 0;
}
