/* pattern.h -- texts of a policy that a request is compared with: wildcards, and variables that
 * stand for what is known of the request. Private to auth/.
 *
 * Matching takes at most the product of the two lengths. What a variable stands for is compared as
 * it is: a user named "*" is not everybody.
 */
#ifndef STATOR_AUTH_PATTERN_H
#define STATOR_AUTH_PATTERN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct policy_request;

struct pattern_variable {
    struct bytes name;
    struct bytes fallback; /* Where the request has no such key; data NULL: none. */
};

/* Lives in the arena it was made in. */
struct pattern {
    const uint16_t *tokens; /* Bytes, and what pattern.c puts between them. */
    size_t count;
    const struct pattern_variable *variables; /* In the order of their tokens. */
    size_t variable_count;
};

struct pattern_syntax {
    bool wildcards; /* * and ? have their meaning. */
    bool variables; /* ${name} has its meaning. */
};

/* False if the text has a variable that is not well formed or that no request can have. */
MUST_CHECK bool pattern_parse(struct arena *arena, struct bytes text, struct pattern_syntax syntax,
                              struct pattern *out);

/* The part of a pattern between two of its tokens. */
struct pattern pattern_slice(const struct pattern *pattern, size_t first, size_t end);
/* The place of the next token that is this very character, at or behind `from`; `count` if there is
 * none. */
size_t pattern_find(const struct pattern *pattern, size_t from, uint8_t character);

/* Puts values in the place of variables. False if one of them has none in this request. */
MUST_CHECK bool pattern_resolve(struct arena *arena, const struct pattern *pattern,
                                const struct policy_request *request, struct pattern *out);

/* True of "*", and of nothing but stars. */
bool pattern_matches_everything(const struct pattern *pattern);
/* The pattern must have no variables (any more). */
bool pattern_matches(const struct pattern *pattern, struct bytes text);
bool pattern_matches_ignoring_case(const struct pattern *pattern, struct bytes text);

#endif
