/* projection_parse.h -- the text of a ProjectionExpression to its compiled form.
 *
 * The result lives in the arena and borrows from `text` and from what `params` was made of.
 * Errors are ERROR_VALIDATION with the service's message, of the first fault the service reports.
 */
#ifndef STATOR_EXPR_PROJECTION_PARSE_H
#define STATOR_EXPR_PROJECTION_PARSE_H
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"

struct arena;
struct error;
struct expr_params;

MUST_CHECK const struct projection *projection_parse(struct arena *arena, struct bytes text,
                                                     struct expr_params *params, struct error *err);

#endif
