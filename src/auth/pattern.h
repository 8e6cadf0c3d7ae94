/* pattern.h -- texts of a policy that requests are compared with, and the context keys that they
 * may name. Private to auth/.
 *
 * A pattern has wildcards, and variables that stand for values of the request. A variable's value
 * is compared literally: a user named "*" is not everybody.
 *
 * Both a policy and a request can be long, and neither may hold up other requests, so matching is
 * linear in the text, whatever the pattern (see pattern.c).
 */
#ifndef STATOR_AUTH_PATTERN_H
#define STATOR_AUTH_PATTERN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct policy_key;
struct policy_request;

/* --- Context keys ---
 *
 * Policies may name the keys that requests here have, and those of IAM that they never have, since
 * nobody comes through a VPC, an organisation or another service. A policy that names any other key
 * is refused. Above all one to which the service gives values (aws:RequestTag): its conditions
 * would be decided by the key's absence, which allows as often as it denies. */

bool context_key_equal(struct bytes a, struct bytes b); /* Ignores case, as IAM does. */
bool context_key_is_known(struct bytes name);
/* True if a request can have more than one value for it. */
bool context_key_has_many(struct bytes name);
/* NULL if the request has no value for it. */
const struct policy_key *context_key_find(const struct policy_request *request, struct bytes name);

/* --- Patterns --- */

struct pattern_variable {
    struct bytes name;
    struct bytes fallback; /* For requests without that key; data NULL: none. */
};

/* Lives in the arena it was made in. */
struct pattern {
    const uint16_t *tokens; /* Bytes, and the special tokens of pattern.c. */
    const uint8_t *bytes;   /* The same where they are bytes. */
    size_t count;
    const struct pattern_variable *variables; /* In the order of their tokens. */
    size_t variable_count;
};

struct pattern_syntax {
    bool wildcards; /* * and ? are special. */
    bool variables; /* ${name} is special. */
};

/* What stands behind a * up to the next one has at most so many tokens if a ? is among them. A
 * bound of ours. */
enum { PATTERN_PART_TOKENS_MAX = 64 };

/* False if the text has a variable that is malformed or that no request can have, or a part that is
 * too long. */
MUST_CHECK bool pattern_parse(struct arena *arena, struct bytes text, struct pattern_syntax syntax,
                              struct pattern *out);

/* The part of a pattern between two of its tokens. */
struct pattern pattern_slice(const struct pattern *pattern, size_t first, size_t end);
/* The index of the next token at or after `from` that is this literal character; `count` if there
 * is none. */
size_t pattern_find(const struct pattern *pattern, size_t from, uint8_t character);

/* Replaces variables by their values. False if one of them has no value in this request. */
MUST_CHECK bool pattern_resolve(struct arena *arena, const struct pattern *pattern,
                                const struct policy_request *request, struct pattern *out);

/* True for a pattern of stars only. */
bool pattern_matches_everything(const struct pattern *pattern);
/* The pattern must have no variables. */
bool pattern_matches(const struct pattern *pattern, struct bytes text);
bool pattern_matches_ignoring_case(const struct pattern *pattern, struct bytes text);

#endif
