/* policy_condition.c -- see policy_condition.h. */
#include "auth/policy_condition.h"
#include <arpa/inet.h>
#include <assert.h>
#include <strings.h>
#include <time.h>
#include "auth/policy.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/error.h"

enum value_result {
    RESULT_LESS,
    RESULT_EQUAL, /* Equal, alike, or within the range. */
    RESULT_GREATER,
    RESULT_OTHER,      /* Not equal, and without order. */
    RESULT_UNRESOLVED, /* A variable in it has no value in this request. */
};

/* --- Digits --- */

/* Takes exactly `count` digits off the front. */
static bool take_digits(struct bytes *rest, size_t count, int *out)
{
    *out = 0;
    if (rest->len < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (rest->data[i] < '0' || rest->data[i] > '9')
            return false;
        *out = *out * 10 + (rest->data[i] - '0');
    }
    *rest = bytes_of(rest->data + count, rest->len - count);
    return true;
}

static bool take_character(struct bytes *rest, char character)
{
    if (rest->len == 0 || rest->data[0] != (uint8_t)character)
        return false;
    *rest = bytes_of(rest->data + 1, rest->len - 1);
    return true;
}

/* --- Times --- */

enum { EPOCH_DIGITS_MAX = 12, YEAR_DIGITS = 4 };

/* Seconds since 1970. Four digits are refused: they are more likely meant as a year. */
static bool parse_epoch(struct bytes text, int64_t *out_ms)
{
    int64_t seconds = 0;
    if (text.len == 0 || text.len > EPOCH_DIGITS_MAX || text.len == YEAR_DIGITS)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        seconds = seconds * 10 + (text.data[i] - '0');
    }
    *out_ms = seconds * 1000;
    return true;
}

/* "Z" or "+hh:mm" to the end of the text. */
static bool take_zone(struct bytes *rest, int *out_minutes)
{
    *out_minutes = 0;
    if (take_character(rest, 'Z'))
        return rest->len == 0;
    int hours;
    int minutes;
    int sign = take_character(rest, '-') ? -1 : 1;
    if (sign > 0 && !take_character(rest, '+'))
        return false;
    if (!take_digits(rest, 2, &hours) || !take_character(rest, ':') ||
        !take_digits(rest, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *out_minutes = sign * (hours * 60 + minutes);
    return rest->len == 0;
}

/* The fraction's first three digits count. */
static bool take_fraction(struct bytes *rest, int *out_ms)
{
    int scale = 100;
    int digit;
    *out_ms = 0;
    if (!take_character(rest, '.'))
        return true;
    if (!take_digits(rest, 1, &digit))
        return false;
    do {
        *out_ms += digit * scale;
        scale /= 10;
    } while (take_digits(rest, 1, &digit));
    return true;
}

/* "2026-11-15T05:40Z", optionally with seconds, a fraction and another zone. */
static bool take_time_of_day(struct bytes *rest, struct tm *parts, int *out_ms, int *out_zone)
{
    *out_ms = 0;
    if (!take_character(rest, 'T') || !take_digits(rest, 2, &parts->tm_hour) ||
        !take_character(rest, ':') || !take_digits(rest, 2, &parts->tm_min))
        return false;
    if (take_character(rest, ':') &&
        (!take_digits(rest, 2, &parts->tm_sec) || !take_fraction(rest, out_ms)))
        return false;
    return parts->tm_hour <= 23 && parts->tm_min <= 59 && parts->tm_sec <= 59 &&
           take_zone(rest, out_zone);
}

static bool parse_time(struct bytes text, int64_t *out_ms)
{
    struct bytes rest = text;
    struct tm parts = { 0 };
    int milliseconds = 0;
    int zone_minutes = 0;
    if (parse_epoch(text, out_ms))
        return true;
    if (!take_digits(&rest, YEAR_DIGITS, &parts.tm_year) || !take_character(&rest, '-') ||
        !take_digits(&rest, 2, &parts.tm_mon) || !take_character(&rest, '-') ||
        !take_digits(&rest, 2, &parts.tm_mday) || parts.tm_mon < 1 || parts.tm_mon > 12 ||
        parts.tm_mday < 1 || parts.tm_mday > 31)
        return false;
    if (rest.len > 0 && !take_time_of_day(&rest, &parts, &milliseconds, &zone_minutes))
        return false;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    *out_ms = ((int64_t)timegm(&parts) - zone_minutes * 60) * 1000 + milliseconds;
    return true;
}

/* --- Addresses --- */

static bool parse_prefix_bits(struct bytes text, unsigned bits_max, unsigned *out)
{
    int value;
    if (text.len < 1 || text.len > 3 || !take_digits(&text, text.len, &value))
        return false;
    *out = (unsigned)value;
    return *out <= bits_max;
}

/* "192.0.2.0/24", "2001:db8::/32", or one address. */
static bool parse_address(struct bytes text, struct address_range *out)
{
    char name[INET6_ADDRSTRLEN];
    const uint8_t *slash = memchr(text.data, '/', text.len);
    size_t size = slash == NULL ? text.len : (size_t)(slash - text.data);
    *out = (struct address_range){ 0 };
    if (size >= sizeof name || memchr(text.data, 0, size) != NULL)
        return false;
    memcpy(name, text.data, size);
    name[size] = '\0';
    if (inet_pton(AF_INET, name, out->bytes) == 1)
        out->size = 4;
    else if (inet_pton(AF_INET6, name, out->bytes) == 1)
        out->size = 16;
    else
        return false;
    out->prefix_bits = out->size * 8;
    return slash == NULL || parse_prefix_bits(bytes_of(slash + 1, text.len - size - 1),
                                              out->size * 8, &out->prefix_bits);
}

static bool address_in_range(const struct address_range *range, const struct address_range *address)
{
    unsigned whole = range->prefix_bits / 8;
    unsigned rest = range->prefix_bits % 8;
    if (range->size != address->size || memcmp(range->bytes, address->bytes, whole) != 0)
        return false;
    return rest == 0 || (range->bytes[whole] ^ address->bytes[whole]) >> (8 - rest) == 0;
}

/* --- ARNs --- */

/* "arn:partition:service:region:account:resource", each part a pattern. */
static bool parse_arn(struct arena *arena, struct bytes text, bool variables,
                      struct pattern out[ARN_PARTS])
{
    struct pattern whole;
    struct pattern_syntax syntax = { .wildcards = true, .variables = variables };
    size_t first = 0;
    if (!pattern_parse(arena, text, syntax, &whole))
        return false;
    for (size_t i = 0; i < ARN_PARTS - 1; i++) {
        size_t end = pattern_find(&whole, first, ':');
        if (end == whole.count)
            return false;
        out[i] = pattern_slice(&whole, first, end);
        first = end + 1;
    }
    out[ARN_PARTS - 1] = pattern_slice(&whole, first, whole.count);
    return true;
}

static enum value_result compare_arn(struct arena *arena, const struct pattern parts[ARN_PARTS],
                                     struct bytes text, const struct policy_request *request)
{
    bool alike = true;
    for (size_t i = 0; i < ARN_PARTS; i++) {
        const uint8_t *colon =
            i + 1 < ARN_PARTS ? memchr(text.data, ':', text.len) : text.data + text.len;
        struct pattern part;
        if (!pattern_resolve(arena, &parts[i], request, &part))
            return RESULT_UNRESOLVED;
        if (colon == NULL)
            return RESULT_OTHER;
        size_t size = (size_t)(colon - text.data);
        alike = alike && pattern_matches(&part, bytes_of(text.data, size));
        if (i + 1 < ARN_PARTS)
            text = bytes_of(colon + 1, text.len - size - 1);
    }
    return alike ? RESULT_EQUAL : RESULT_OTHER;
}

/* --- Values of any family --- */

static bool parse_bool(struct bytes text, bool *out)
{
    *out = text.len == 4 && strncasecmp((const char *)text.data, "true", 4) == 0;
    return *out || (text.len == 5 && strncasecmp((const char *)text.data, "false", 5) == 0);
}

/* False if the text is no value of that family. */
static bool parse_value(struct arena *arena, enum condition_family family, struct bytes text,
                        bool variables, struct condition_value *out)
{
    struct pattern_syntax syntax = { .wildcards = family == FAMILY_STRING_LIKE,
                                     .variables = variables };
    switch (family) {
    case FAMILY_STRING:
    case FAMILY_STRING_IGNORING_CASE:
    case FAMILY_STRING_LIKE:
        return pattern_parse(arena, text, syntax, &out->text);
    case FAMILY_NUMBER:
        return number_parse(text, &out->number, NULL);
    case FAMILY_TIME:
        return parse_time(text, &out->time_ms);
    case FAMILY_BOOL:
    case FAMILY_ABSENCE:
        return parse_bool(text, &out->boolean);
    case FAMILY_ARN:
        return parse_arn(arena, text, variables, out->arn);
    case FAMILY_ADDRESS:
        return parse_address(text, &out->address);
    }
    return false;
}

static enum value_result ordered(int order)
{
    if (order == 0)
        return RESULT_EQUAL;
    return order < 0 ? RESULT_LESS : RESULT_GREATER;
}

static enum value_result compare_text(struct arena *arena, const struct pattern *pattern,
                                      struct bytes text, const struct policy_request *request,
                                      bool ignoring_case)
{
    struct pattern resolved;
    if (!pattern_resolve(arena, pattern, request, &resolved))
        return RESULT_UNRESOLVED;
    bool alike = ignoring_case ? pattern_matches_ignoring_case(&resolved, text)
                               : pattern_matches(&resolved, text);
    return alike ? RESULT_EQUAL : RESULT_OTHER;
}

/* Compares a value of the request with one of the policy. */
static enum value_result compare_value(struct arena *arena, enum condition_family family,
                                       const struct condition_value *value, struct bytes text,
                                       const struct policy_request *request)
{
    struct condition_value given;
    switch (family) {
    case FAMILY_STRING:
    case FAMILY_STRING_LIKE:
        return compare_text(arena, &value->text, text, request, false);
    case FAMILY_STRING_IGNORING_CASE:
        return compare_text(arena, &value->text, text, request, true);
    case FAMILY_NUMBER:
        return number_parse(text, &given.number, NULL)
                   ? ordered(number_compare(&given.number, &value->number))
                   : RESULT_OTHER;
    case FAMILY_TIME:
        if (!parse_time(text, &given.time_ms))
            return RESULT_OTHER;
        return ordered((given.time_ms > value->time_ms) - (given.time_ms < value->time_ms));
    case FAMILY_BOOL:
        return parse_bool(text, &given.boolean) && given.boolean == value->boolean ? RESULT_EQUAL
                                                                                   : RESULT_OTHER;
    case FAMILY_ARN:
        return compare_arn(arena, value->arn, text, request);
    case FAMILY_ADDRESS:
        return parse_address(text, &given.address) &&
                       address_in_range(&value->address, &given.address)
                   ? RESULT_EQUAL
                   : RESULT_OTHER;
    case FAMILY_ABSENCE:
        break;
    }
    assert(false); /* An absent key has nothing to compare. */
    return RESULT_OTHER;
}

/* --- Parsing --- */

static const struct {
    const char *name;
    enum condition_family family;
    enum condition_order order;
    bool negated;
} operators[] = {
    { "StringEquals", FAMILY_STRING, CONDITION_EQUAL, false },
    { "StringNotEquals", FAMILY_STRING, CONDITION_EQUAL, true },
    { "StringEqualsIgnoreCase", FAMILY_STRING_IGNORING_CASE, CONDITION_EQUAL, false },
    { "StringNotEqualsIgnoreCase", FAMILY_STRING_IGNORING_CASE, CONDITION_EQUAL, true },
    { "StringLike", FAMILY_STRING_LIKE, CONDITION_EQUAL, false },
    { "StringNotLike", FAMILY_STRING_LIKE, CONDITION_EQUAL, true },
    { "NumericEquals", FAMILY_NUMBER, CONDITION_EQUAL, false },
    { "NumericNotEquals", FAMILY_NUMBER, CONDITION_EQUAL, true },
    { "NumericLessThan", FAMILY_NUMBER, CONDITION_LESS, false },
    { "NumericLessThanEquals", FAMILY_NUMBER, CONDITION_LESS_OR_EQUAL, false },
    { "NumericGreaterThan", FAMILY_NUMBER, CONDITION_GREATER, false },
    { "NumericGreaterThanEquals", FAMILY_NUMBER, CONDITION_GREATER_OR_EQUAL, false },
    { "DateEquals", FAMILY_TIME, CONDITION_EQUAL, false },
    { "DateNotEquals", FAMILY_TIME, CONDITION_EQUAL, true },
    { "DateLessThan", FAMILY_TIME, CONDITION_LESS, false },
    { "DateLessThanEquals", FAMILY_TIME, CONDITION_LESS_OR_EQUAL, false },
    { "DateGreaterThan", FAMILY_TIME, CONDITION_GREATER, false },
    { "DateGreaterThanEquals", FAMILY_TIME, CONDITION_GREATER_OR_EQUAL, false },
    { "Bool", FAMILY_BOOL, CONDITION_EQUAL, false },
    { "IpAddress", FAMILY_ADDRESS, CONDITION_EQUAL, false },
    { "NotIpAddress", FAMILY_ADDRESS, CONDITION_EQUAL, true },
    /* "The ArnEquals and ArnLike condition operators behave identically." */
    { "ArnEquals", FAMILY_ARN, CONDITION_EQUAL, false },
    { "ArnLike", FAMILY_ARN, CONDITION_EQUAL, false },
    { "ArnNotEquals", FAMILY_ARN, CONDITION_EQUAL, true },
    { "ArnNotLike", FAMILY_ARN, CONDITION_EQUAL, true },
    { "Null", FAMILY_ABSENCE, CONDITION_EQUAL, false },
};

static bool take_prefix(struct bytes *text, struct bytes prefix)
{
    if (!bytes_starts_with(*text, prefix))
        return false;
    *text = bytes_of(text->data + prefix.len, text->len - prefix.len);
    return true;
}

static bool take_suffix(struct bytes *text, struct bytes suffix)
{
    if (text->len < suffix.len ||
        memcmp(text->data + text->len - suffix.len, suffix.data, suffix.len) != 0)
        return false;
    text->len -= suffix.len;
    return true;
}

bool condition_operator_parse(struct bytes name, struct condition_operator *out, struct error *err)
{
    struct bytes rest = name;
    *out = (struct condition_operator){ .quantifier = CONDITION_SINGLE };
    if (take_prefix(&rest, BYTES("ForAllValues:")))
        out->quantifier = CONDITION_FOR_ALL;
    else if (take_prefix(&rest, BYTES("ForAnyValue:")))
        out->quantifier = CONDITION_FOR_ANY;
    out->if_exists = take_suffix(&rest, BYTES("IfExists"));
    for (size_t i = 0; i < COUNT_OF(operators); i++) {
        if (!bytes_equal_text(rest, operators[i].name))
            continue;
        out->family = operators[i].family;
        out->order = operators[i].order;
        out->negated = operators[i].negated;
        /* Null tests the key itself, so it has neither a suffix nor a quantifier. */
        if (out->family != FAMILY_ABSENCE || rest.len == name.len)
            return true;
    }
    return error_validation(err, "Unknown condition operator: %.*s", BYTES_FMT(name));
}

static unsigned list_of(struct bytes key)
{
    if (context_key_equal(key, BYTES("dynamodb:LeadingKeys")))
        return POLICY_LEADING_KEYS;
    return context_key_equal(key, BYTES("dynamodb:Attributes")) ? POLICY_ATTRIBUTES : 0;
}

bool policy_condition_parse(struct arena *arena, const struct condition_operator *op,
                            struct bytes key, const struct bytes *texts, size_t count,
                            bool variables, struct policy_condition *out, struct error *err)
{
    struct condition_value *values = arena_alloc(arena, count * sizeof *values);
    if (!context_key_is_known(key))
        return error_validation(err, "Unknown condition key: %.*s", BYTES_FMT(key));
    if (count == 0)
        return error_validation(err, "A condition on %.*s has no values", BYTES_FMT(key));
    for (size_t i = 0; i < count; i++)
        if (!parse_value(arena, op->family, texts[i], variables, &values[i]))
            return error_validation(err, "A condition on %.*s has an invalid value: %.*s",
                                    BYTES_FMT(key), BYTES_FMT(texts[i]));
    *out = (struct policy_condition){
        .op = *op, .key = key, .list = list_of(key), .values = values, .count = count
    };
    return true;
}

/* --- Testing --- */

static bool in_order(enum condition_order order, enum value_result result)
{
    switch (order) {
    case CONDITION_EQUAL:
        return result == RESULT_EQUAL;
    case CONDITION_LESS:
        return result == RESULT_LESS;
    case CONDITION_LESS_OR_EQUAL:
        return result == RESULT_LESS || result == RESULT_EQUAL;
    case CONDITION_GREATER:
        return result == RESULT_GREATER;
    case CONDITION_GREATER_OR_EQUAL:
        return result == RESULT_GREATER || result == RESULT_EQUAL;
    }
    return false;
}

/* True if a value of the request compares as required with some value of the policy, or, negated,
 * with none. */
static bool value_passes(struct arena *arena, const struct policy_condition *condition,
                         struct bytes text, const struct policy_request *request, bool deny)
{
    bool unresolved = false;
    for (size_t i = 0; i < condition->count; i++) {
        enum value_result result =
            compare_value(arena, condition->op.family, &condition->values[i], text, request);
        if (in_order(condition->op.order, result))
            return !condition->op.negated;
        unresolved = unresolved || result == RESULT_UNRESOLVED;
    }
    return unresolved ? deny : condition->op.negated;
}

static bool is_wanted_absent(const struct policy_condition *condition, bool absent)
{
    for (size_t i = 0; i < condition->count; i++)
        if (condition->values[i].boolean == absent)
            return true;
    return false;
}

/* An unknown value may be any. It passes if every value would, or if passing means denial. */
static bool unknown_value_passes(const struct policy_condition *condition, bool deny)
{
    bool passes = deny;
    for (size_t i = 0; i < condition->count && !passes; i++)
        passes = condition->op.family == FAMILY_STRING_LIKE && !condition->op.negated &&
                 pattern_matches_everything(&condition->values[i].text);
    return passes;
}

bool policy_condition_holds(struct arena *arena, const struct policy_condition *condition,
                            const struct policy_request *request, bool deny)
{
    const struct condition_operator *op = &condition->op;
    assert(condition->count > 0);
    const struct policy_key *key = context_key_find(request, condition->key);
    bool has_unknown = (condition->list & request->lists_with_unknown_values) != 0;
    bool absent = key == NULL && !has_unknown;
    if (op->family == FAMILY_ABSENCE)
        return is_wanted_absent(condition, absent);
    if (absent)
        return op->if_exists || op->quantifier == CONDITION_FOR_ALL ||
               (op->quantifier == CONDITION_SINGLE && op->negated);
    /* The meaning of an operator for one value is undefined for several, so the strict one holds.
     */
    bool any_is_enough =
        op->quantifier == CONDITION_FOR_ANY || (op->quantifier == CONDITION_SINGLE && deny);
    if (has_unknown && unknown_value_passes(condition, deny) == any_is_enough)
        return any_is_enough;
    for (size_t i = 0; key != NULL && i < key->count; i++)
        if (value_passes(arena, condition, key->values[i], request, deny) == any_is_enough)
            return any_is_enough;
    return !any_is_enough;
}
