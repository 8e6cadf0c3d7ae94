/* expr_grammar.c -- see expr_grammar.h. */
#include "expr_grammar.h"
#include <assert.h>
#include "base/arena.h"
#include "expr/condition_parse.h"
#include "expr/key_condition.h"
#include "expr/parser.h"
#include "expr/projection.h"
#include "expr/update_parse.h"
#include "expr_text.h"
#include "model/error.h"

enum { MESSAGE_SIZE_MAX = 3 * PARSER_TEXT_SIZE_MAX };

static const char fuzz_names[] = "{\"#a\":\"a\",\"#b\":\"b.c\",\"#s\":\"size\"}";
static const char fuzz_values[] =
    "{\":s\":{\"S\":\"x\"},\":t\":{\"S\":\"SS\"},\":n\":{\"N\":\"1\"},\":b\":{\"B\":\"AA==\"},"
    "\":o\":{\"BOOL\":true},\":z\":{\"NULL\":true},\":l\":{\"L\":[]},\":m\":{\"M\":{}},"
    "\":e\":{\"SS\":[\"a\"]},\":f\":{\"NS\":[\"1\"]},\":g\":{\"BS\":[\"AA==\"]}}";

static const void *parse_condition(struct arena *arena, struct bytes text,
                                   struct expr_params *params, struct error *err)
{
    return condition_parse(arena, text, "ConditionExpression", params, err);
}

static void write_condition(struct expr_text *out, const void *compiled)
{
    expr_text_condition(out, compiled);
}

static const void *parse_update(struct arena *arena, struct bytes text, struct expr_params *params,
                                struct error *err)
{
    return update_parse(arena, text, params, err);
}

static void write_update(struct expr_text *out, const void *compiled)
{
    expr_text_update(out, compiled);
}

static const void *parse_projection(struct arena *arena, struct bytes text,
                                    struct expr_params *params, struct error *err)
{
    return projection_parse(arena, text, params, err);
}

static void write_projection(struct expr_text *out, const void *compiled)
{
    expr_text_projection(out, compiled);
}

static const void *parse_key_condition(struct arena *arena, struct bytes text,
                                       struct expr_params *params, struct error *err)
{
    const struct condition *parsed =
        condition_parse(arena, text, "KeyConditionExpression", params, err);
    return parsed == NULL ? NULL : key_condition_compile(arena, parsed, err);
}

static void write_key_condition(struct expr_text *out, const void *compiled)
{
    expr_text_key_condition(out, compiled);
}

const struct expr_grammar expr_grammar_condition = { "ConditionExpression", parse_condition,
                                                     write_condition };
const struct expr_grammar expr_grammar_update = { "UpdateExpression", parse_update, write_update };
const struct expr_grammar expr_grammar_projection = { "ProjectionExpression", parse_projection,
                                                      write_projection };
const struct expr_grammar expr_grammar_key_condition = { "KeyConditionExpression",
                                                         parse_key_condition, write_key_condition };

/* Written as text, a compiled expression compiles to itself. */
static void check_round_trip(const struct expr_grammar *grammar, struct arena *arena,
                             const void *compiled)
{
    struct expr_text first, second;
    struct expr_params params;
    struct error err;
    error_init(&err, arena);
    expr_text_init(&first, arena);
    grammar->write(&first, compiled);
    if (first.text.len > PARSER_TEXT_SIZE_MAX) /* References are longer than names. */
        return;
    expr_text_references(&first, &params);
    compiled = grammar->parse(arena, buffer_bytes(&first.text), &params, &err);
    assert(compiled != NULL && expr_params_check_unused(&params, arena, &err));
    expr_text_init(&second, arena);
    grammar->write(&second, compiled);
    assert(expr_text_equal(&first, &second));
}

void expr_grammar_fuzz(const struct expr_grammar *grammar, const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct expr_params params;
    struct error err;
    error_init(&err, arena);
    bool ready = expr_text_params(arena, fuzz_names, fuzz_values, &params, &err);
    assert(ready);
    (void)ready;
    const void *compiled = grammar->parse(arena, bytes_of(data, size), &params, &err);
    assert((compiled == NULL) == error_is_set(&err));
    assert(err.message.len <= MESSAGE_SIZE_MAX);
    if (compiled != NULL)
        check_round_trip(grammar, arena, compiled);
    arena_destroy(arena);
}
