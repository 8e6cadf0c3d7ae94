/* policy_parse.c -- a policy's JSON to its compiled form.
 *
 * Two passes, because Version says whether texts have variables, and may follow the statements. To
 * look ahead and to count, a copy of the reader is used; skipping allocates nothing.
 */
#include <assert.h>
#include <strings.h>
#include "auth/policy_parts.h"
#include "auth/policy_element.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "json/reader.h"
#include "model/error.h"

enum { ACCOUNT_DIGITS = 12, ARN_COLONS_BEFORE_RESOURCE = 5 };

const char policy_invalid_principal_text[] = "Invalid principal in policy document.";

struct parser {
    struct json_reader reader;
    struct arena *arena;
    struct error *err;
    enum policy_kind kind;
    bool variables; /* Of policies of version 2012-10-17. */
};

/* Line and column, from 1, behind what was read last. */
static bool refuse_syntax(struct parser *parser)
{
    size_t line = 1;
    const uint8_t *line_start = parser->reader.start;
    for (const uint8_t *at = line_start; at < parser->reader.at; at++) {
        if (*at == '\n') {
            line++;
            line_start = at + 1;
        }
    }
    return error_validation(parser->err, "Syntax error at position (%zu,%zu)", line,
                            (size_t)(parser->reader.at - line_start) + 1);
}

/* Finds a member's name in the list. Each may occur once: other readers of JSON would let the
 * second one replace the first. */
static bool find_name(struct parser *parser, const char *const *names, size_t count,
                      struct bytes name, unsigned *seen, size_t *out)
{
    size_t at = 0;
    while (at < count && !bytes_equal_text(name, names[at]))
        at++;
    if (at == count)
        return error_validation(parser->err, "Unknown field %.*s", BYTES_FMT(name));
    if ((*seen >> at & 1) != 0)
        return error_validation(parser->err, "The element %.*s comes twice", BYTES_FMT(name));
    *seen |= 1u << at;
    *out = at;
    return true;
}

/* --- Lists --- */

struct texts {
    struct bytes *items;
    size_t count;
};

/* Numbers and booleans are read as text, as in IAM's conditions. */
static bool read_scalar(struct parser *parser, struct bytes *out)
{
    bool boolean;
    switch (json_peek(&parser->reader)) {
    case JSON_NUMBER:
        return json_read_number(&parser->reader, out);
    case JSON_BOOL:
        if (!json_read_bool(&parser->reader, &boolean))
            return false;
        *out = boolean ? BYTES("true") : BYTES("false");
        return true;
    default:
        return json_read_string(&parser->reader, out);
    }
}

static size_t count_elements(struct json_reader reader)
{
    size_t count = 0;
    json_enter_array(&reader);
    while (json_next_element(&reader)) {
        json_skip(&reader);
        count++;
    }
    return count;
}

/* One text, or an array of them. */
static bool read_texts(struct parser *parser, bool (*read)(struct parser *, struct bytes *),
                       struct texts *out)
{
    bool is_array = json_peek(&parser->reader) == JSON_ARRAY;
    size_t capacity = is_array ? count_elements(parser->reader) : 1;
    *out = (struct texts){ .items = arena_alloc(parser->arena, capacity * sizeof *out->items) };
    if (!is_array) {
        out->count = 1;
        return read(parser, &out->items[0]) || refuse_syntax(parser);
    }
    json_enter_array(&parser->reader);
    while (json_next_element(&parser->reader))
        if (!read(parser, &out->items[out->count++]))
            break;
    return (!json_failed(&parser->reader) && out->count > 0) || refuse_syntax(parser);
}

static bool read_string(struct parser *parser, struct bytes *out)
{
    return json_read_string(&parser->reader, out);
}

/* --- Actions and resources --- */

/* "*", or "service:Name" with wildcards in the name only. */
static bool check_action(struct bytes text)
{
    const uint8_t *colon = memchr(text.data, ':', text.len);
    if (bytes_equal_text(text, "*"))
        return true;
    if (colon == NULL || colon == text.data || colon + 1 == text.data + text.len)
        return false;
    size_t service_size = (size_t)(colon - text.data);
    return memchr(text.data, '*', service_size) == NULL &&
           memchr(text.data, '?', service_size) == NULL;
}

/* "*", or an ARN; variables may stand in its last part only. */
static bool check_resource(struct bytes text)
{
    size_t colons = 0;
    if (bytes_equal_text(text, "*"))
        return true;
    for (size_t i = 0; i < text.len && colons < ARN_COLONS_BEFORE_RESOURCE; i++) {
        if (text.data[i] == '$')
            return false;
        colons += text.data[i] == ':';
    }
    return bytes_starts_with(text, BYTES("arn:"));
}

static bool read_patterns(struct parser *parser, bool (*check)(struct bytes),
                          struct pattern_syntax syntax, struct pattern_list *out)
{
    struct texts texts;
    if (!read_texts(parser, read_string, &texts))
        return false;
    struct pattern *patterns = arena_alloc(parser->arena, texts.count * sizeof *patterns);
    for (size_t i = 0; i < texts.count; i++)
        if (!check(texts.items[i]) ||
            !pattern_parse(parser->arena, texts.items[i], syntax, &patterns[i]))
            return error_validation(parser->err, "Invalid action or resource: %.*s",
                                    BYTES_FMT(texts.items[i]));
    out->patterns = patterns;
    out->count = texts.count;
    return true;
}

static bool read_actions(struct parser *parser, struct pattern_list *out)
{
    return read_patterns(parser, check_action, (struct pattern_syntax){ .wildcards = true }, out);
}

static bool read_resources(struct parser *parser, struct pattern_list *out)
{
    struct pattern_syntax syntax = { .wildcards = true, .variables = parser->variables };
    return read_patterns(parser, check_resource, syntax, out);
}

/* --- Principals --- */

static bool is_account(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.len == ACCOUNT_DIGITS;
}

/* "arn:aws:iam::123456789012:root" is the whole account. */
static bool take_account(struct bytes arn, struct bytes *out)
{
    struct bytes start = BYTES("arn:aws:iam::");
    struct bytes end = BYTES(":root");
    if (!bytes_starts_with(arn, start) || arn.len != start.len + ACCOUNT_DIGITS + end.len ||
        memcmp(arn.data + arn.len - end.len, end.data, end.len) != 0)
        return false;
    *out = bytes_of(arn.data + start.len, ACCOUNT_DIGITS);
    return is_account(*out);
}

static bool parse_principal(struct parser *parser, struct bytes text, struct policy_principal *out)
{
    out->text = text;
    if (bytes_equal_text(text, "*"))
        out->kind = PRINCIPAL_EVERYBODY;
    else if (is_account(text) || take_account(text, &out->text))
        out->kind = PRINCIPAL_ACCOUNT;
    else if (bytes_starts_with(text, BYTES("arn:")) && memchr(text.data, '*', text.len) == NULL &&
             memchr(text.data, '?', text.len) == NULL)
        out->kind = PRINCIPAL_ARN;
    else
        return error_validation(parser->err, "%s", policy_invalid_principal_text);
    return true;
}

static bool append_principals(struct parser *parser, bool foreign, struct policy_statement *out)
{
    struct texts texts;
    if (!read_texts(parser, read_string, &texts))
        return false;
    size_t size = out->principal_count * sizeof *out->principals;
    struct policy_principal *principals =
        arena_alloc(parser->arena, (out->principal_count + texts.count) * sizeof *out->principals);
    if (size > 0)
        memcpy(principals, out->principals, size);
    out->principals = principals;
    for (size_t i = 0; i < texts.count; i++) {
        struct policy_principal *principal = &principals[out->principal_count++];
        *principal = (struct policy_principal){ PRINCIPAL_FOREIGN, texts.items[i] };
        if (!foreign && !parse_principal(parser, texts.items[i], principal))
            return false;
    }
    return true;
}

static bool read_principals(struct parser *parser, struct policy_statement *out)
{
    static const char *const kinds[] = { "AWS", "Service", "Federated", "CanonicalUser" };
    struct bytes name;
    unsigned seen = 0;
    if (json_peek(&parser->reader) == JSON_STRING) {
        if (!append_principals(parser, false, out))
            return false;
        return out->principals[0].kind == PRINCIPAL_EVERYBODY || refuse_syntax(parser);
    }
    json_enter_object(&parser->reader);
    while (json_next_member(&parser->reader, &name)) {
        size_t kind;
        if (!find_name(parser, kinds, COUNT_OF(kinds), name, &seen, &kind) ||
            !append_principals(parser, kind != 0, out))
            return false;
    }
    return out->principal_count > 0 || refuse_syntax(parser);
}

/* --- Conditions --- */

static size_t count_conditions(struct json_reader reader)
{
    struct bytes name;
    size_t count = 0;
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        json_enter_object(&reader);
        while (json_next_member(&reader, &name)) {
            json_skip(&reader);
            count++;
        }
    }
    return count;
}

static bool same_operator(const struct condition_operator *a, const struct condition_operator *b)
{
    return a->family == b->family && a->order == b->order && a->negated == b->negated &&
           a->if_exists == b->if_exists && a->quantifier == b->quantifier;
}

/* Operators, and keys of an operator, may not occur twice. ArnLike beside ArnEquals is refused too:
 * they are one operator. */
static bool check_new(struct parser *parser, const struct policy_condition *conditions,
                      size_t first, size_t count, const struct policy_condition *added)
{
    for (size_t i = 0; i < count; i++) {
        bool same = i < first ? same_operator(&conditions[i].op, &added->op)
                              : context_key_equal(conditions[i].key, added->key);
        if (same)
            return error_validation(parser->err, "Conditions on %.*s come twice",
                                    BYTES_FMT(added->key));
    }
    return true;
}

/* The tests of one operator. */
static bool read_tests(struct parser *parser, const struct condition_operator *op,
                       struct policy_condition *conditions, size_t *count)
{
    struct bytes key;
    struct texts texts;
    size_t first = *count;
    json_enter_object(&parser->reader);
    while (json_next_member(&parser->reader, &key)) {
        struct policy_condition *added = &conditions[*count];
        if (!read_texts(parser, read_scalar, &texts) ||
            !policy_condition_parse(parser->arena, op, key, texts.items, texts.count,
                                    parser->variables, added, parser->err) ||
            !check_new(parser, conditions, first, *count, added))
            return false;
        ++*count;
    }
    return !json_failed(&parser->reader) || refuse_syntax(parser);
}

static bool read_conditions(struct parser *parser, struct policy_statement *out)
{
    struct bytes name;
    struct policy_condition *conditions =
        arena_alloc(parser->arena, count_conditions(parser->reader) * sizeof *conditions);
    json_enter_object(&parser->reader);
    while (json_next_member(&parser->reader, &name)) {
        struct condition_operator op;
        if (!condition_operator_parse(name, &op, parser->err) ||
            !read_tests(parser, &op, conditions, &out->condition_count))
            return false;
    }
    out->conditions = conditions;
    for (size_t i = 0; i < out->condition_count; i++)
        out->lists_needed |= conditions[i].list;
    return !json_failed(&parser->reader) || refuse_syntax(parser);
}

/* --- Statements --- */

const char *const policy_element_names[ELEMENT_COUNT] = {
    [ELEMENT_SID] = "Sid",
    [ELEMENT_EFFECT] = "Effect",
    [ELEMENT_PRINCIPAL] = "Principal",
    [ELEMENT_NOT_PRINCIPAL] = "NotPrincipal",
    [ELEMENT_ACTION] = "Action",
    [ELEMENT_NOT_ACTION] = "NotAction",
    [ELEMENT_RESOURCE] = "Resource",
    [ELEMENT_NOT_RESOURCE] = "NotResource",
    [ELEMENT_CONDITION] = "Condition",
};

/* Observed: policies of resources may have it in any case. */
static bool is_effect(const struct parser *parser, struct bytes text, const char *effect)
{
    if (parser->kind != POLICY_OF_RESOURCE)
        return bytes_equal_text(text, effect);
    return text.len == strlen(effect) &&
           strncasecmp((const char *)text.data, effect, text.len) == 0;
}

static bool read_effect(struct parser *parser, struct policy_statement *out)
{
    struct bytes effect = { 0 };
    if (!json_read_string(&parser->reader, &effect))
        return refuse_syntax(parser);
    out->deny = is_effect(parser, effect, "Deny");
    return out->deny || is_effect(parser, effect, "Allow") ||
           error_validation(parser->err, "Invalid effect: %.*s", BYTES_FMT(effect));
}

static bool read_element(struct parser *parser, enum policy_element element,
                         struct policy_statement *out)
{
    struct bytes sid;
    switch (element) {
    case ELEMENT_SID:
        return json_read_string(&parser->reader, &sid) || refuse_syntax(parser);
    case ELEMENT_EFFECT:
        return read_effect(parser, out);
    case ELEMENT_ACTION:
    case ELEMENT_NOT_ACTION:
        out->actions.inverted = element == ELEMENT_NOT_ACTION;
        return read_actions(parser, &out->actions);
    case ELEMENT_RESOURCE:
    case ELEMENT_NOT_RESOURCE:
        out->resources.inverted = element == ELEMENT_NOT_RESOURCE;
        return read_resources(parser, &out->resources);
    case ELEMENT_PRINCIPAL:
    case ELEMENT_NOT_PRINCIPAL:
        out->principals_inverted = element == ELEMENT_NOT_PRINCIPAL;
        return read_principals(parser, out);
    case ELEMENT_CONDITION:
        return read_conditions(parser, out);
    case ELEMENT_COUNT:
        break;
    }
    return false;
}

/* One of the two must be there, and not both. */
static bool check_either(struct parser *parser, unsigned seen, enum policy_element a,
                         enum policy_element b)
{
    bool has_a = (seen >> a & 1) != 0;
    bool has_b = (seen >> b & 1) != 0;
    if (has_a != has_b)
        return true;
    if (!has_a)
        return error_validation(parser->err, "Missing required field %s", policy_element_names[a]);
    return error_validation(parser->err, "A statement has both %s and %s", policy_element_names[a],
                            policy_element_names[b]);
}

static bool check_complete(struct parser *parser, unsigned seen,
                           const struct policy_statement *statement)
{
    bool of_resource = parser->kind == POLICY_OF_RESOURCE;
    if ((seen >> ELEMENT_EFFECT & 1) == 0)
        return error_validation(parser->err, "Missing required field Effect");
    if (of_resource && !check_either(parser, seen, ELEMENT_PRINCIPAL, ELEMENT_NOT_PRINCIPAL))
        return false;
    if (!check_either(parser, seen, ELEMENT_ACTION, ELEMENT_NOT_ACTION) ||
        !check_either(parser, seen, ELEMENT_RESOURCE, ELEMENT_NOT_RESOURCE))
        return false;
    if (!of_resource && (seen >> ELEMENT_PRINCIPAL & 3) != 0)
        return error_validation(parser->err, "A policy of a key has no principals");
    if (statement->principals_inverted && !statement->deny)
        return error_validation(parser->err, "NotPrincipal needs the effect Deny");
    return true;
}

static bool read_statement(struct parser *parser, struct policy_statement *out)
{
    struct bytes name;
    unsigned seen = 0;
    *out = (struct policy_statement){ 0 };
    json_enter_object(&parser->reader);
    while (json_next_member(&parser->reader, &name)) {
        size_t element;
        if (!find_name(parser, policy_element_names, ELEMENT_COUNT, name, &seen, &element) ||
            !read_element(parser, (enum policy_element)element, out))
            return false;
    }
    if (json_failed(&parser->reader))
        return refuse_syntax(parser);
    return check_complete(parser, seen, out);
}

static bool read_statements(struct parser *parser, struct policy *out)
{
    bool is_array = json_peek(&parser->reader) == JSON_ARRAY;
    size_t count = is_array ? count_elements(parser->reader) : 1;
    struct policy_statement *statements = arena_alloc(parser->arena, count * sizeof *statements);
    out->statements = statements;
    if (!is_array) {
        out->count = 1;
        return read_statement(parser, &statements[0]);
    }
    json_enter_array(&parser->reader);
    while (json_next_element(&parser->reader))
        if (!read_statement(parser, &statements[out->count++]))
            return false;
    return out->count > 0 ||
           error_validation(parser->err, "Could not parse the policy: Statement is empty!");
}

/* --- The whole --- */

static bool read_version(struct parser *parser)
{
    struct bytes version = { 0 };
    if (!json_read_string(&parser->reader, &version))
        return refuse_syntax(parser);
    parser->variables = bytes_equal_text(version, "2012-10-17");
    return parser->variables || bytes_equal_text(version, "2008-10-17") ||
           error_validation(parser->err, "Unknown version of policy: %.*s", BYTES_FMT(version));
}

enum member { MEMBER_VERSION, MEMBER_ID, MEMBER_STATEMENT, MEMBER_COUNT };
static const char *const member_names[] = { "Version", "Id", "Statement" };
static_assert(COUNT_OF(member_names) == MEMBER_COUNT, "each member has a name");

/* Reads everything except the statements, and leaves the reader before them. */
static bool read_outline(struct parser *parser)
{
    struct json_reader statements = { 0 };
    struct bytes name;
    unsigned seen = 0;
    json_enter_object(&parser->reader);
    while (json_next_member(&parser->reader, &name)) {
        size_t member;
        if (!find_name(parser, member_names, MEMBER_COUNT, name, &seen, &member))
            return false;
        if (member == MEMBER_VERSION) {
            if (!read_version(parser))
                return false;
        } else if (member == MEMBER_ID) {
            if (!json_read_string(&parser->reader, &name))
                return refuse_syntax(parser);
        } else {
            statements = parser->reader;
            json_skip(&parser->reader);
        }
    }
    if (!json_finish(&parser->reader) || statements.at == NULL)
        return refuse_syntax(parser);
    parser->reader = statements;
    return true;
}

const struct policy *policy_parse(struct arena *arena, struct bytes text, enum policy_kind kind,
                                  struct error *err)
{
    struct parser parser = { .arena = arena, .err = err, .kind = kind };
    struct policy *policy = arena_alloc(arena, sizeof *policy);
    *policy = (struct policy){ .kind = kind };
    if (text.len > POLICY_SIZE_MAX) {
        error_validation(err, "The policy is larger than %d bytes", POLICY_SIZE_MAX);
        return NULL;
    }
    json_reader_init(&parser.reader, arena, arena_copy(arena, text), POLICY_DEPTH_MAX);
    return read_outline(&parser) && read_statements(&parser, policy) ? policy : NULL;
}

bool policy_allows_everybody(const struct policy *policy)
{
    for (size_t i = 0; i < policy->count; i++) {
        const struct policy_statement *statement = &policy->statements[i];
        if (statement->deny || statement->condition_count > 0)
            continue;
        for (size_t j = 0; j < statement->principal_count; j++) {
            if (statement->principals[j].kind == PRINCIPAL_EVERYBODY)
                return true;
        }
    }
    return false;
}
