/* legacy_mix.h -- refuses requests that mix the older parameters with expressions. */
#ifndef STATOR_EXPR_LEGACY_MIX_H
#define STATOR_EXPR_LEGACY_MIX_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

struct error;

/* A parameter of the request and whether it was sent. The message names them in the order given.
 * The service's orders: AttributesToGet, AttributeUpdates, QueryFilter or ScanFilter, Expected,
 * ConditionalOperator, KeyConditions; and ProjectionExpression, UpdateExpression,
 * FilterExpression, ConditionExpression, KeyConditionExpression. */
struct legacy_mix_parameter {
    const char *name;
    bool present;
};

MUST_CHECK bool legacy_mix_check(const struct legacy_mix_parameter *legacy, size_t legacy_count,
                                 const struct legacy_mix_parameter *expressions,
                                 size_t expression_count, struct error *err);
/* PutItem and UpdateItem: see expr_params_input.enveloped. */
MUST_CHECK bool legacy_mix_check_enveloped(const struct legacy_mix_parameter *legacy,
                                           size_t legacy_count,
                                           const struct legacy_mix_parameter *expressions,
                                           size_t expression_count, struct error *err);

#endif
