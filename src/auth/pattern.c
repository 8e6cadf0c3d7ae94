/* pattern.c -- see pattern.h. */
#include "auth/pattern.h"
#include <assert.h>
#include <ctype.h>
#include <strings.h>
#include "auth/policy.h"
#include "base/arena.h"
#include "base/compiler.h"

/* --- Context keys --- */

enum key_form {
    KEY_ONE,  /* At most one value. */
    KEY_MANY, /* Any number of values. */
    KEY_TAG,  /* A tag's key follows the name; one value. */
};

static const struct known_key {
    const char *name;
    enum key_form form;
} known_keys[] = {
    { "dynamodb:Attributes", KEY_MANY },
    { "dynamodb:EnclosingOperation", KEY_ONE },
    { "dynamodb:FullTableScan", KEY_ONE },
    { "dynamodb:LeadingKeys", KEY_MANY },
    { "dynamodb:ReturnConsumedCapacity", KEY_ONE },
    { "dynamodb:ReturnValues", KEY_ONE },
    { "dynamodb:Select", KEY_ONE },
    { "aws:CurrentTime", KEY_ONE },
    { "aws:EpochTime", KEY_ONE },
    { "aws:PrincipalAccount", KEY_ONE },
    { "aws:PrincipalArn", KEY_ONE },
    { "aws:PrincipalIsAWSService", KEY_ONE },
    { "aws:PrincipalType", KEY_ONE },
    { "aws:Referer", KEY_ONE },
    { "aws:RequestedRegion", KEY_ONE },
    { "aws:ResourceAccount", KEY_ONE },
    { "aws:ResourceTag/", KEY_TAG },
    { "aws:SecureTransport", KEY_ONE },
    { "aws:SourceIp", KEY_ONE },
    { "aws:TokenIssueTime", KEY_ONE }, /* Of temporary keys. */
    { "aws:UserAgent", KEY_ONE },
    { "aws:username", KEY_ONE },
    { "aws:ViaAWSService", KEY_ONE },
    /* Always absent: */
    { "aws:CalledVia", KEY_MANY },
    { "aws:CalledViaFirst", KEY_ONE },
    { "aws:CalledViaLast", KEY_ONE },
    { "aws:Ec2InstanceSourcePrivateIPv4", KEY_ONE },
    { "aws:Ec2InstanceSourceVpc", KEY_ONE },
    { "aws:FederatedProvider", KEY_ONE },
    { "aws:MultiFactorAuthAge", KEY_ONE },
    { "aws:MultiFactorAuthPresent", KEY_ONE },
    { "aws:PrincipalOrgID", KEY_ONE },
    { "aws:PrincipalOrgPaths", KEY_MANY },
    { "aws:PrincipalServiceName", KEY_ONE },
    { "aws:PrincipalServiceNamesList", KEY_MANY },
    { "aws:PrincipalTag/", KEY_TAG },
    { "aws:ResourceOrgID", KEY_ONE },
    { "aws:ResourceOrgPaths", KEY_MANY },
    { "aws:SourceAccount", KEY_ONE },
    { "aws:SourceArn", KEY_ONE },
    { "aws:SourceIdentity", KEY_ONE },
    { "aws:SourceOrgID", KEY_ONE },
    { "aws:SourceOrgPaths", KEY_MANY },
    { "aws:SourceVpc", KEY_ONE },
    { "aws:SourceVpce", KEY_ONE },
    { "aws:userid", KEY_ONE },
    { "aws:VpcSourceIp", KEY_ONE },
};

bool context_key_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0;
}

static const struct known_key *find_known(struct bytes name)
{
    for (size_t i = 0; i < COUNT_OF(known_keys); i++) {
        struct bytes known = bytes_from_text(known_keys[i].name);
        struct bytes start = name;
        bool tag = known_keys[i].form == KEY_TAG;
        if (tag && name.len > known.len)
            start.len = known.len;
        if (context_key_equal(start, known))
            return tag && name.len == known.len ? NULL : &known_keys[i];
    }
    return NULL;
}

bool context_key_is_known(struct bytes name)
{
    return find_known(name) != NULL;
}

bool context_key_has_many(struct bytes name)
{
    const struct known_key *known = find_known(name);
    return known != NULL && known->form == KEY_MANY;
}

const struct policy_key *context_key_find(const struct policy_request *request, struct bytes name)
{
    for (size_t i = 0; i < request->key_count; i++)
        if (request->keys[i].count > 0 && context_key_equal(request->keys[i].name, name))
            return &request->keys[i];
    return NULL;
}

/* --- Patterns --- */

/* In addition to the 256 bytes. */
enum { TOKEN_ANY = 256, TOKEN_ONE, TOKEN_VARIABLE };

/* --- From text --- */

static struct bytes trim(struct bytes text)
{
    while (text.len > 0 && text.data[0] == ' ')
        text = bytes_of(text.data + 1, text.len - 1);
    while (text.len > 0 && text.data[text.len - 1] == ' ')
        text.len--;
    return text;
}

/* "name", or "name, 'fallback'". */
static bool parse_variable(struct bytes text, struct pattern_variable *out)
{
    const uint8_t *comma = memchr(text.data, ',', text.len);
    *out = (struct pattern_variable){ .name = trim(text) };
    if (comma != NULL) {
        struct bytes rest = bytes_of(comma + 1, (size_t)(text.data + text.len - comma - 1));
        out->name = trim(bytes_of(text.data, (size_t)(comma - text.data)));
        rest = trim(rest);
        if (rest.len < 2 || rest.data[0] != '\'' || rest.data[rest.len - 1] != '\'')
            return false;
        out->fallback = bytes_of(rest.data + 1, rest.len - 2);
    }
    return context_key_is_known(out->name) && !context_key_has_many(out->name);
}

static size_t count_variables(struct bytes text)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < text.len; i++)
        count += text.data[i] == '$' && text.data[i + 1] == '{';
    return count;
}

/* The token of "${...}" at the start of `text`; its size in `*size`. False if it is not well
 * formed. */
static bool read_variable(struct bytes text, struct pattern_variable *variable, uint16_t *token,
                          size_t *size)
{
    static const struct bytes literals = BYTES("*?$"); /* ${*} is a plain *. */
    const uint8_t *close = memchr(text.data, '}', text.len);
    if (close == NULL)
        return false;
    struct bytes inside = bytes_of(text.data + 2, (size_t)(close - text.data) - 2);
    *size = (size_t)(close - text.data) + 1;
    *token = TOKEN_VARIABLE;
    if (inside.len == 1 && memchr(literals.data, inside.data[0], literals.len))
        *token = inside.data[0];
    return *token != TOKEN_VARIABLE || parse_variable(inside, variable);
}

bool pattern_parse(struct arena *arena, struct bytes text, struct pattern_syntax syntax,
                   struct pattern *out)
{
    struct pattern_variable *variables =
        arena_alloc(arena, count_variables(text) * sizeof *variables);
    uint16_t *tokens = arena_alloc(arena, text.len * sizeof *tokens);
    *out = (struct pattern){ .tokens = tokens, .variables = variables };
    for (size_t at = 0, size = 1; at < text.len; at += size) {
        struct bytes rest = bytes_of(text.data + at, text.len - at);
        uint16_t token = rest.data[0];
        size = 1;
        if (syntax.variables && bytes_starts_with(rest, BYTES("${"))) {
            if (!read_variable(rest, &variables[out->variable_count], &token, &size))
                return false;
            out->variable_count += token == TOKEN_VARIABLE;
        } else if (syntax.wildcards && token == '*') {
            token = TOKEN_ANY;
        } else if (syntax.wildcards && token == '?') {
            token = TOKEN_ONE;
        }
        tokens[out->count++] = token;
    }
    return true;
}

static size_t count_variable_tokens(const struct pattern *pattern, size_t end)
{
    size_t count = 0;
    for (size_t i = 0; i < end; i++)
        count += pattern->tokens[i] == TOKEN_VARIABLE;
    return count;
}

struct pattern pattern_slice(const struct pattern *pattern, size_t first, size_t end)
{
    assert(first <= end && end <= pattern->count);
    size_t before = count_variable_tokens(pattern, first);
    return (struct pattern){ .tokens = pattern->tokens + first,
                             .count = end - first,
                             .variables = pattern->variables + before,
                             .variable_count = count_variable_tokens(pattern, end) - before };
}

size_t pattern_find(const struct pattern *pattern, size_t from, uint8_t character)
{
    while (from < pattern->count && pattern->tokens[from] != character)
        from++;
    return from;
}

/* --- Variables --- */

static struct bytes variable_value(const struct pattern_variable *variable,
                                   const struct policy_request *request)
{
    const struct policy_key *key = context_key_find(request, variable->name);
    return key != NULL && key->count == 1 ? key->values[0] : variable->fallback;
}

bool pattern_resolve(struct arena *arena, const struct pattern *pattern,
                     const struct policy_request *request, struct pattern *out)
{
    *out = *pattern;
    if (pattern->variable_count == 0)
        return true;
    size_t count = pattern->count;
    for (size_t i = 0; i < pattern->variable_count; i++) {
        struct bytes value = variable_value(&pattern->variables[i], request);
        if (value.data == NULL)
            return false;
        count += value.len;
    }
    uint16_t *tokens = arena_alloc(arena, count * sizeof *tokens);
    *out = (struct pattern){ .tokens = tokens };
    const struct pattern_variable *variable = pattern->variables;
    for (size_t i = 0; i < pattern->count; i++) {
        if (pattern->tokens[i] != TOKEN_VARIABLE) {
            tokens[out->count++] = pattern->tokens[i];
            continue;
        }
        struct bytes value = variable_value(variable++, request);
        for (size_t j = 0; j < value.len; j++)
            tokens[out->count++] = value.data[j];
    }
    return true;
}

/* --- Matching --- */

/* The end of the character that starts at `at`: ? matches one character, not one byte. */
static size_t character_end(struct bytes text, size_t at)
{
    at++;
    while (at < text.len && (text.data[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static bool same_byte(uint16_t token, uint8_t byte, bool ignore_case)
{
    if (token == byte || !ignore_case)
        return token == byte;
    return token < TOKEN_ANY && tolower(token) == tolower(byte);
}

/* Backtracks to the last * only. What earlier ones matched can stay, because the last one can match
 * whatever they left. */
static bool matches(const struct pattern *pattern, struct bytes text, bool ignore_case)
{
    assert(pattern->variable_count == 0);
    size_t token = 0;
    size_t at = 0;
    size_t star = SIZE_MAX; /* The token after the last *. */
    size_t star_at = 0;     /* The end of what it matches. */
    while (at < text.len) {
        if (token < pattern->count && pattern->tokens[token] == TOKEN_ANY) {
            star = ++token;
            star_at = at;
        } else if (token < pattern->count && pattern->tokens[token] == TOKEN_ONE) {
            token++;
            at = character_end(text, at);
        } else if (token < pattern->count &&
                   same_byte(pattern->tokens[token], text.data[at], ignore_case)) {
            token++;
            at++;
        } else if (star != SIZE_MAX) {
            star_at = character_end(text, star_at);
            token = star;
            at = star_at;
        } else {
            return false;
        }
    }
    while (token < pattern->count && pattern->tokens[token] == TOKEN_ANY)
        token++;
    return token == pattern->count;
}

bool pattern_matches_everything(const struct pattern *pattern)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->tokens[i] != TOKEN_ANY)
            return false;
    return pattern->count > 0;
}

bool pattern_matches(const struct pattern *pattern, struct bytes text)
{
    return matches(pattern, text, false);
}

bool pattern_matches_ignoring_case(const struct pattern *pattern, struct bytes text)
{
    return matches(pattern, text, true);
}
