/* params.h -- ExpressionAttributeNames and ExpressionAttributeValues of one request.
 *
 * All expressions of a request look up their #names and :values here. Each lookup marks its entry
 * as used; after the last expression, expr_params_check_unused refuses unused ones.
 */
#ifndef STATOR_EXPR_PARAMS_H
#define STATOR_EXPR_PARAMS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/value.h"

struct arena;
struct error;
struct item;

enum {
    EXPR_PARAMS_TOKEN_SIZE_MAX = 255,           /* Of "#name" or ":value", sign included. */
    EXPR_PARAMS_MAP_SIZE_MAX = 2 * 1024 * 1024, /* Keys and values of one map. */
};

/* Both maps as sent. A map that is present but empty is an error. */
struct expr_params_input {
    bool names_present;
    const struct bytes *name_keys; /* "#n"; sorted by bytes, no two equal. */
    const struct bytes *name_values;
    size_t name_count;
    const struct item *values; /* Attributes are named ":v"; NULL: absent. */
};

struct expr_params {
    struct expr_params_name {
        struct bytes key;
        struct bytes name;
        bool used;
    } * names;
    size_t name_count;
    struct expr_params_value {
        struct bytes key;
        struct value value;
        bool used;
    } * values;
    size_t value_count;
    /* Document paths of more than one step that the expressions read, in the order parsed. */
    struct expr_params_nested {
        struct bytes root;
        struct expr_params_nested *next;
    } * nested, **nested_end;
};

/* Checks both maps, as the service does before it parses any expression. Everything that `input`
 * points to must outlive `params`. The values themselves were checked when they were encoded. */
MUST_CHECK bool expr_params_init(struct expr_params *params, struct arena *arena,
                                 const struct expr_params_input *input, struct error *err);

/* For requests that have no expression: both maps must be absent. `expressions` ends the message,
 * as in "ConditionExpression is null" or "FilterExpression and KeyConditionExpression are null". */
MUST_CHECK bool expr_params_check_absent(const struct expr_params_input *input,
                                         const char *expressions, struct error *err);

/* `key` with its sign. False if it is not defined; otherwise marks it as used. */
MUST_CHECK bool expr_params_find_name(struct expr_params *params, struct bytes key,
                                      struct bytes *out);
MUST_CHECK bool expr_params_find_value(struct expr_params *params, struct bytes key,
                                       struct value *out);

/* For the parsers: an expression reads a path of more than one step that starts at `root`. */
void expr_params_add_nested(struct expr_params *params, struct arena *arena, struct bytes root);
/* Refuses a path into one of the key attributes, which are scalars: `key_names` are those of the
 * table, or of the index that is read. To be called when all expressions are parsed. */
MUST_CHECK bool expr_params_check_key_paths(const struct expr_params *params,
                                            const struct bytes *key_names, size_t count,
                                            struct error *err);

/* To be called when all expressions of the request are parsed. */
MUST_CHECK bool expr_params_check_unused(const struct expr_params *params, struct arena *arena,
                                         struct error *err);

#endif
