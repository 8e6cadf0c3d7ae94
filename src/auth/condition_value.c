/* condition_value.c -- see condition_value.h. */
#include "auth/condition_value.h"
#include <arpa/inet.h>
#include <assert.h>
#include <strings.h>
#include <time.h>
#include "base/arena.h"

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

/* Seconds since 1970. Four digits are more likely meant as a year, and are neither. */
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

/* "2026-11-15T05:40Z", with seconds, a fraction and another zone if need be. */
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

/* --- Any --- */

static bool parse_bool(struct bytes text, bool *out)
{
    *out = text.len == 4 && strncasecmp((const char *)text.data, "true", 4) == 0;
    return *out || (text.len == 5 && strncasecmp((const char *)text.data, "false", 5) == 0);
}

bool condition_value_parse(struct arena *arena, enum condition_family family, struct bytes text,
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

enum value_result condition_value_compare(struct arena *arena, enum condition_family family,
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
