/* event_filter_match.c -- holds filter patterns against records; see event_filter.h.
 *
 * The record's text is walked once per pattern: where an object of the pattern meets one of the
 * record, each member that the pattern does not name is skipped.
 */
#include <strings.h>
#include "json/reader.h"
#include "trigger/event_filter.h"
#include "trigger/event_filter_tree.h"

enum {
    /* An attribute value nested to NESTING_DEPTH_MAX takes two containers a level, and the record
     * some around it. */
    RECORD_DEPTH_MAX = 128,
};

/* --- Values --- */

static bool ends_with(struct bytes value, struct bytes suffix)
{
    return value.len >= suffix.len &&
           bytes_equal(bytes_of(value.data + (value.len - suffix.len), suffix.len), suffix);
}

static bool equal_ignoring_case(struct bytes a, struct bytes b)
{
    return a.len == b.len && strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0;
}

static bool is_within(const struct filter_rule *rule, const struct number *value)
{
    int low = rule->has_low ? number_compare(value, &rule->low) : 1;
    int high = rule->has_high ? number_compare(value, &rule->high) : -1;
    return (low > 0 || (low == 0 && !rule->low_excluded)) &&
           (high < 0 || (high == 0 && !rule->high_excluded));
}

/* A single value of the record. */
struct scalar {
    enum json_type type;
    struct bytes text;
    bool flag;
    bool has_number;
    struct number number;
};

static bool rule_matches(const struct filter_rule *rule, const struct scalar *value);

static bool is_none_of(const struct filter_rule *rule, const struct scalar *value)
{
    for (size_t i = 0; i < rule->rule_count; i++) {
        if (rule_matches(&rule->rules[i], value))
            return false;
    }
    return true;
}

static bool rule_matches(const struct filter_rule *rule, const struct scalar *value)
{
    bool is_text = value->type == JSON_STRING;
    switch (rule->kind) {
    case FILTER_TEXT:
        return is_text && bytes_equal(value->text, rule->text);
    case FILTER_PREFIX:
        return is_text && bytes_starts_with(value->text, rule->text);
    case FILTER_SUFFIX:
        return is_text && ends_with(value->text, rule->text);
    case FILTER_IGNORE_CASE:
        return is_text && equal_ignoring_case(value->text, rule->text);
    case FILTER_NUMBER:
        return value->has_number && number_compare(&value->number, &rule->low) == 0;
    case FILTER_BOOL:
        return value->type == JSON_BOOL && value->flag == rule->flag;
    case FILTER_NULL:
        return value->type == JSON_NULL;
    case FILTER_EXISTS:
        return rule->flag;
    case FILTER_ANYTHING_BUT:
        return is_none_of(rule, value);
    case FILTER_NUMERIC:
        return value->has_number && is_within(rule, &value->number);
    }
    return false;
}

static bool read_scalar(struct json_reader *reader, struct scalar *out)
{
    *out = (struct scalar){ .type = json_peek(reader) };
    switch (out->type) {
    case JSON_STRING:
        return json_read_string(reader, &out->text);
    case JSON_NUMBER:
        if (!json_read_number(reader, &out->text))
            return false;
        out->has_number = number_parse(out->text, &out->number, NULL);
        return true;
    case JSON_BOOL:
        return json_read_bool(reader, &out->flag);
    case JSON_NULL:
        return json_read_null(reader);
    default:
        return false;
    }
}

static bool rules_match(const struct filter_field *field, const struct scalar *value)
{
    for (size_t i = 0; i < field->rule_count; i++) {
        if (rule_matches(&field->rules[i], value))
            return true;
    }
    return false;
}

/* --- Fields --- */

static bool asks_for_absence(const struct filter_field *field)
{
    for (size_t i = 0; i < field->rule_count; i++) {
        if (field->rules[i].kind == FILTER_EXISTS && !field->rules[i].flag)
            return true;
    }
    return false;
}

static bool object_matches_nothing(const struct event_filter *object);

/* Whether a field is met by a record that has nothing there. */
static bool field_matches_nothing(const struct filter_field *field)
{
    if (field->kind == FILTER_LEAF)
        return asks_for_absence(field);
    for (size_t i = 0; i < field->object_count; i++) {
        if (object_matches_nothing(&field->objects[i]))
            return true;
    }
    return false;
}

static bool object_matches_nothing(const struct event_filter *object)
{
    for (size_t i = 0; i < object->field_count; i++) {
        if (!field_matches_nothing(&object->fields[i]))
            return false;
    }
    return true;
}

/* Consumes the value. Of a list, one element has to match; only values count as being there. */
static bool leaf_matches(const struct filter_field *field, struct json_reader *reader)
{
    struct scalar value;
    enum json_type type = json_peek(reader);
    if (type == JSON_OBJECT) {
        json_skip(reader);
        return asks_for_absence(field);
    }
    if (type != JSON_ARRAY)
        return read_scalar(reader, &value) && rules_match(field, &value);
    bool found = false;
    json_enter_array(reader);
    while (json_next_element(reader)) {
        enum json_type element = json_peek(reader);
        if (element == JSON_OBJECT || element == JSON_ARRAY)
            json_skip(reader);
        else if (read_scalar(reader, &value))
            found |= rules_match(field, &value);
    }
    return found;
}

static bool object_matches(const struct event_filter *object, struct json_reader *reader);

/* Consumes the value of a member that the pattern names. */
static bool member_matches(const struct filter_field *field, struct json_reader *reader)
{
    if (field->kind == FILTER_LEAF)
        return leaf_matches(field, reader);
    if (json_peek(reader) == JSON_OBJECT)
        return object_matches(field->objects, reader);
    json_skip(reader);
    return object_matches_nothing(field->objects);
}

static bool any_matches(const struct filter_field *field, const struct json_reader *reader)
{
    for (size_t i = 0; i < field->object_count; i++) {
        struct json_reader again = *reader;
        if (object_matches(&field->objects[i], &again))
            return true;
    }
    return false;
}

/* Consumes an object of the record. */
static bool object_matches(const struct event_filter *object, struct json_reader *reader)
{
    bool seen[EVENT_FILTER_FIELDS_MAX] = { false };
    bool matches = true;
    struct bytes name;
    for (size_t i = 0; i < object->field_count; i++) {
        if (object->fields[i].kind == FILTER_ANY_OF) {
            seen[i] = true;
            matches = matches && any_matches(&object->fields[i], reader);
        }
    }
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        size_t i = 0;
        while (i < object->field_count && (object->fields[i].kind == FILTER_ANY_OF ||
                                           !bytes_equal(object->fields[i].name, name)))
            i++;
        if (i == object->field_count || !matches) {
            json_skip(reader);
            continue;
        }
        seen[i] = true;
        matches = member_matches(&object->fields[i], reader);
    }
    for (size_t i = 0; i < object->field_count && matches; i++)
        matches = seen[i] || field_matches_nothing(&object->fields[i]);
    return matches && !json_failed(reader);
}

bool event_filter_matches(const struct event_filter *filter, struct arena *arena,
                          struct bytes record)
{
    struct json_reader reader;
    json_reader_init(&reader, arena, record, RECORD_DEPTH_MAX);
    return json_peek(&reader) == JSON_OBJECT && object_matches(filter, &reader) &&
           json_finish(&reader);
}
