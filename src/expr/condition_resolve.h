/* condition_resolve.h -- the meaning of a condition's nodes. Private to the parsers. */
#ifndef STATOR_EXPR_CONDITION_RESOLVE_H
#define STATOR_EXPR_CONDITION_RESOLVE_H
#include <stdbool.h>
#include "base/compiler.h"

struct parser;

/* Fills `operand` or `condition` of every node that the parser lists. */
MUST_CHECK bool condition_resolve(struct parser *parser);

#endif
