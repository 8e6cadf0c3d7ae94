/* expr_text.h -- compiled expressions back to text, for tests and fuzzers.
 *
 * Every name becomes a reference "#n0001" and every value ":v0001", numbered as they are met.
 * Two compiled expressions are equal if their texts, names and values are.
 */
#ifndef STATOR_TEST_EXPR_TEXT_H
#define STATOR_TEST_EXPR_TEXT_H
#include <stdbool.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "expr/ast.h"
#include "expr/params.h"
#include "model/error.h"
#include "model/item.h"

struct arena;

/* ExpressionAttributeNames from {"#a":"b"} and ExpressionAttributeValues from {":v":{"S":"x"}};
 * NULL: absent. False with `err` as a request would have it; a fixture that is wrong asserts. */
bool expr_text_params(struct arena *arena, const char *names_json, const char *values_json,
                      struct expr_params *params, struct error *err);

struct expr_text {
    struct arena *arena;
    struct buffer text;
    struct bytes *name_keys;
    struct bytes *names;
    size_t name_count;
    size_t name_capacity;
    struct item_builder values;
};

void expr_text_init(struct expr_text *out, struct arena *arena);
void expr_text_condition(struct expr_text *out, const struct condition *condition);
void expr_text_update(struct expr_text *out, const struct update *update);
void expr_text_projection(struct expr_text *out, const struct projection *projection);
void expr_text_key_condition(struct expr_text *out, const struct key_condition *condition);

/* The names and values to parse the text with. */
void expr_text_references(struct expr_text *text, struct expr_params *params);
bool expr_text_equal(struct expr_text *a, struct expr_text *b);

/* The text with names and values put back, for people: a.b[0]={'S':'x'}. */
struct bytes expr_text_show(struct expr_text *text);

#endif
