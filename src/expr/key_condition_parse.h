/* key_condition_parse.h -- the text of a KeyConditionExpression to its compiled form.
 *
 * The result lives in the arena and borrows from `text` and from what `params` was made of.
 * Errors are ERROR_VALIDATION with the service's message, of the first fault the service reports.
 * What the key schema decides is left to key_condition_check.h.
 */
#ifndef STATOR_EXPR_KEY_CONDITION_PARSE_H
#define STATOR_EXPR_KEY_CONDITION_PARSE_H
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"

struct arena;
struct error;
struct expr_params;

MUST_CHECK const struct key_condition *key_condition_parse(struct arena *arena, struct bytes text,
                                                           struct expr_params *params,
                                                           struct error *err);

#endif
