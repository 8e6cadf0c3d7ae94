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

static size_t find_token(const struct pattern *pattern, size_t from, size_t end, uint16_t token)
{
    while (from < end && pattern->tokens[from] != token)
        from++;
    return from;
}

static bool has_short_parts(const struct pattern *pattern)
{
    size_t star = find_token(pattern, 0, pattern->count, TOKEN_ANY);
    while (star < pattern->count) {
        size_t end = find_token(pattern, star + 1, pattern->count, TOKEN_ANY);
        if (end < pattern->count && end - star - 1 > PATTERN_PART_TOKENS_MAX &&
            find_token(pattern, star + 1, end, TOKEN_ONE) < end)
            return false;
        star = end;
    }
    return true;
}

bool pattern_parse(struct arena *arena, struct bytes text, struct pattern_syntax syntax,
                   struct pattern *out)
{
    struct pattern_variable *variables =
        arena_alloc(arena, count_variables(text) * sizeof *variables);
    uint16_t *tokens = arena_alloc(arena, text.len * sizeof *tokens);
    uint8_t *bytes = arena_alloc(arena, text.len);
    *out = (struct pattern){ .tokens = tokens, .bytes = bytes, .variables = variables };
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
        bytes[out->count] = (uint8_t)token;
        tokens[out->count++] = token;
    }
    return has_short_parts(out);
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
                             .bytes = pattern->bytes + first,
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
    uint8_t *bytes = arena_alloc(arena, count);
    *out = (struct pattern){ .tokens = tokens, .bytes = bytes };
    const struct pattern_variable *variable = pattern->variables;
    for (size_t i = 0; i < pattern->count; i++) {
        if (pattern->tokens[i] != TOKEN_VARIABLE) {
            bytes[out->count] = pattern->bytes[i];
            tokens[out->count++] = pattern->tokens[i];
            continue;
        }
        struct bytes value = variable_value(variable++, request);
        for (size_t j = 0; j < value.len; j++) {
            bytes[out->count] = value.data[j];
            tokens[out->count++] = value.data[j];
        }
    }
    return true;
}

/* --- Matching --- */

/* The parts between the *s of a pattern are looked for one after the other: the first at the start
 * of the text, the last at its end, and each of the others where it is found first, since that
 * leaves most of the text to those behind it. ? matches one character, not one byte. */

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

static size_t character_end(struct bytes text, size_t at)
{
    at++;
    while (at < text.len && is_continuation(text.data[at]))
        at++;
    return at;
}

static size_t character_start(struct bytes text, size_t end)
{
    end--;
    while (end > 0 && is_continuation(text.data[end]))
        end--;
    return end;
}

static bool same_byte(uint16_t token, uint8_t byte, bool ignore_case)
{
    if (token == byte || !ignore_case)
        return token == byte;
    return token < TOKEN_ANY && tolower(token) == tolower(byte);
}

/* A part of a pattern, without *. */
struct part {
    const uint16_t *tokens;
    const uint8_t *bytes;
    size_t count;
    bool ignore_case;
};

/* Whether the text begins with the part; `*at` moves behind it. */
static bool match_start(const struct part *part, struct bytes text, size_t *at)
{
    for (size_t i = 0; i < part->count; i++) {
        if (*at >= text.len)
            return false;
        if (part->tokens[i] == TOKEN_ONE)
            *at = character_end(text, *at);
        else if (same_byte(part->tokens[i], text.data[*at], part->ignore_case))
            ++*at;
        else
            return false;
    }
    return true;
}

/* Whether what lies behind `from` ends with the part. */
static bool match_end(const struct part *part, struct bytes text, size_t from)
{
    size_t at = text.len;
    for (size_t i = part->count; i-- > 0;) {
        if (at <= from)
            return false;
        size_t before = part->tokens[i] == TOKEN_ONE ? character_start(text, at) : at - 1;
        if (before < from || (part->tokens[i] != TOKEN_ONE &&
                              !same_byte(part->tokens[i], text.data[before], part->ignore_case)))
            return false;
        at = before;
    }
    return true;
}

/* Finds a part of at most 64 tokens at or behind `*at`: bit i of `state` is set if the first i + 1
 * tokens end with the byte that was looked at last. */
static bool find_short(const struct part *part, struct bytes text, size_t *at)
{
    uint64_t matching[256] = { 0 }; /* Which tokens match a byte. */
    uint64_t ones = 0, state = 0;
    assert(part->count > 0 && part->count <= PATTERN_PART_TOKENS_MAX);
    for (size_t i = 0; i < part->count; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (part->tokens[i] == TOKEN_ONE) {
            ones |= bit;
            continue;
        }
        matching[part->bytes[i]] |= bit;
        if (part->ignore_case) {
            matching[tolower(part->bytes[i])] |= bit;
            matching[toupper(part->bytes[i])] |= bit;
        }
    }
    uint64_t last = UINT64_C(1) << (part->count - 1);
    for (size_t i = *at; i < text.len; i++) {
        uint8_t byte = text.data[i];
        uint64_t shifted = state << 1;
        if (is_continuation(byte)) /* A character that a ? matches goes on. */
            state = (shifted & matching[byte]) | (state & ones);
        else
            state = (shifted | 1) & (matching[byte] | ones);
        if ((state & last) != 0) {
            *at = part->tokens[part->count - 1] == TOKEN_ONE ? character_end(text, i) : i + 1;
            return true;
        }
    }
    return false;
}

/* The same for any part. Only values of variables make a part with ? longer than find_short takes,
 * and these are short. */
static bool find_part(const struct part *part, struct bytes text, size_t *at)
{
    bool has_ones = false;
    for (size_t i = 0; i < part->count; i++)
        has_ones |= part->tokens[i] == TOKEN_ONE;
    if (!has_ones && !part->ignore_case) {
        const uint8_t *found = memmem(text.data + *at, text.len - *at, part->bytes, part->count);
        if (found == NULL)
            return false;
        *at = (size_t)(found - text.data) + part->count;
        return true;
    }
    if (part->count <= PATTERN_PART_TOKENS_MAX)
        return find_short(part, text, at);
    for (size_t start = *at; start < text.len; start = character_end(text, start)) {
        size_t end = start;
        if (match_start(part, text, &end)) {
            *at = end;
            return true;
        }
    }
    return false;
}

static struct part part_between(const struct pattern *pattern, size_t first, size_t end,
                                bool ignore_case)
{
    return (struct part){ .tokens = pattern->tokens + first,
                          .bytes = pattern->bytes + first,
                          .count = end - first,
                          .ignore_case = ignore_case };
}

static bool matches(const struct pattern *pattern, struct bytes text, bool ignore_case)
{
    assert(pattern->variable_count == 0);
    size_t at = 0;
    size_t star = find_token(pattern, 0, pattern->count, TOKEN_ANY);
    struct part part = part_between(pattern, 0, star, ignore_case);
    if (!match_start(&part, text, &at))
        return false;
    if (star == pattern->count)
        return at == text.len;
    for (;;) {
        size_t first = star + 1;
        star = find_token(pattern, first, pattern->count, TOKEN_ANY);
        part = part_between(pattern, first, star, ignore_case);
        if (star == pattern->count)
            return match_end(&part, text, at);
        if (part.count > 0 && !find_part(&part, text, &at))
            return false;
    }
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
