/* event_filter.c -- see event_filter.h.
 *
 * A pattern is parsed once into a tree. To match a record, its text is walked once per pattern:
 * where an object of the pattern meets one of the record, each member that the pattern does not
 * name is skipped.
 */
#include "trigger/event_filter.h"
#include <strings.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/reader.h"
#include "model/error.h"
#include "model/number.h"

enum {
    /* An attribute value nested to NESTING_DEPTH_MAX takes two containers a level, and the record
     * some around it. */
    RECORD_DEPTH_MAX = 128,
};

/* --- A parsed pattern --- */

enum filter_rule_kind {
    FILTER_TEXT, /* Uses `text`, as do the next three. */
    FILTER_PREFIX,
    FILTER_SUFFIX,
    FILTER_IGNORE_CASE,
    FILTER_NUMBER, /* `low` */
    FILTER_BOOL,   /* `flag` */
    FILTER_NULL,
    FILTER_EXISTS,       /* `flag`: must exist, or must not. */
    FILTER_ANYTHING_BUT, /* None of `rules`, which are of the kinds TEXT and NUMBER. */
    FILTER_NUMERIC,      /* Between `low` and `high`. */
};

struct filter_rule {
    enum filter_rule_kind kind;
    bool flag;
    bool has_low, low_excluded, has_high, high_excluded; /* FILTER_NUMERIC */
    struct bytes text;
    struct number low, high;
    struct filter_rule *rules;
    size_t rule_count;
};

/* A field of an object: a list of rules, an object of its own, or the alternatives of a "$or". */
enum filter_field_kind { FILTER_LEAF, FILTER_OBJECT, FILTER_ANY_OF };

struct event_filter {
    struct filter_field *fields;
    size_t field_count;
};

struct filter_field {
    enum filter_field_kind kind;
    struct bytes name;
    struct filter_rule *rules; /* FILTER_LEAF: at least one. */
    size_t rule_count;
    struct event_filter *objects; /* FILTER_OBJECT: one; FILTER_ANY_OF: at least one. */
    size_t object_count;
};

/* --- Parsing --- */

struct parsing {
    struct arena *arena;
    struct json_reader reader;
    struct error *err;
};

static bool refuse(struct parsing *in, const char *reason)
{
    if (!error_is_set(in->err))
        error_validation(in->err, "Invalid filter pattern: %s", reason);
    return false;
}

/* --- Parsing: rules --- */

static bool read_number(struct parsing *in, struct number *out)
{
    struct bytes text;
    if (!json_read_number(&in->reader, &text))
        return false;
    return number_parse(text, out, NULL) || refuse(in, "a number is out of range");
}

static bool read_text(struct parsing *in, struct bytes *out)
{
    if (json_peek(&in->reader) != JSON_STRING)
        return refuse(in, "text was expected");
    return json_read_string(&in->reader, out);
}

/* A value that stands for itself. */
static bool read_value(struct parsing *in, struct filter_rule *out)
{
    switch (json_peek(&in->reader)) {
    case JSON_STRING:
        out->kind = FILTER_TEXT;
        return read_text(in, &out->text);
    case JSON_NUMBER:
        out->kind = FILTER_NUMBER;
        return read_number(in, &out->low);
    case JSON_BOOL:
        out->kind = FILTER_BOOL;
        return json_read_bool(&in->reader, &out->flag);
    case JSON_NULL:
        out->kind = FILTER_NULL;
        return json_read_null(&in->reader);
    default:
        return refuse(in, "a list holds text, numbers, true, false, null and rules");
    }
}

/* [">", 0, "<=", 5]: one bound or two, or "=". */
static bool read_bound(struct parsing *in, struct filter_rule *out)
{
    struct bytes sign;
    struct number value;
    if (!read_text(in, &sign) || !json_next_element(&in->reader) ||
        json_peek(&in->reader) != JSON_NUMBER || !read_number(in, &value))
        return refuse(in, "\"numeric\" takes signs, each with a number behind it");
    bool is_equal = bytes_equal_text(sign, "=");
    bool is_low = is_equal || bytes_starts_with(sign, BYTES(">"));
    bool is_high = is_equal || bytes_starts_with(sign, BYTES("<"));
    bool excluded = bytes_equal_text(sign, ">") || bytes_equal_text(sign, "<");
    if (!is_equal && !excluded && !bytes_equal_text(sign, ">=") && !bytes_equal_text(sign, "<="))
        return refuse(in, "the signs of \"numeric\" are =, <, <=, > and >=");
    if ((is_low && out->has_low) || (is_high && out->has_high))
        return refuse(in, "\"numeric\" has two bounds on one side");
    if (is_low) {
        out->has_low = true;
        out->low_excluded = excluded;
        out->low = value;
    }
    if (is_high) {
        out->has_high = true;
        out->high_excluded = excluded;
        out->high = value;
    }
    return true;
}

static bool read_numeric(struct parsing *in, struct filter_rule *out)
{
    out->kind = FILTER_NUMERIC;
    if (!json_enter_array(&in->reader))
        return refuse(in, "\"numeric\" takes a list");
    while (json_next_element(&in->reader)) {
        if (!read_bound(in, out))
            return false;
    }
    return !json_failed(&in->reader) &&
           (out->has_low || out->has_high || refuse(in, "\"numeric\" has no bound"));
}

static bool read_anything_but(struct parsing *in, struct filter_rule *out)
{
    struct buffer list;
    buffer_init(&list, in->arena);
    out->kind = FILTER_ANYTHING_BUT;
    bool is_list = json_peek(&in->reader) == JSON_ARRAY;
    if (is_list && !json_enter_array(&in->reader))
        return false;
    while (!is_list || json_next_element(&in->reader)) {
        struct filter_rule rule = { 0 };
        if (!read_value(in, &rule))
            return false;
        if (rule.kind != FILTER_TEXT && rule.kind != FILTER_NUMBER)
            return refuse(in, "\"anything-but\" takes text and numbers");
        buffer_append(&list, &rule, sizeof rule);
        if (!is_list)
            break;
    }
    out->rules = (struct filter_rule *)(void *)list.data;
    out->rule_count = list.len / sizeof(struct filter_rule);
    return !json_failed(&in->reader) &&
           (out->rule_count > 0 || refuse(in, "\"anything-but\" is empty"));
}

static bool read_exists(struct parsing *in, struct filter_rule *out)
{
    out->kind = FILTER_EXISTS;
    if (json_peek(&in->reader) != JSON_BOOL)
        return refuse(in, "\"exists\" takes true or false");
    return json_read_bool(&in->reader, &out->flag);
}

/* {"prefix": "a"}, ...: one member, which names the rule. */
static bool read_named_rule(struct parsing *in, struct filter_rule *out)
{
    struct bytes name, more;
    bool ok = false;
    if (!json_enter_object(&in->reader) || !json_next_member(&in->reader, &name))
        return refuse(in, "a rule is empty");
    if (bytes_equal_text(name, "numeric"))
        ok = read_numeric(in, out);
    else if (bytes_equal_text(name, "anything-but"))
        ok = read_anything_but(in, out);
    else if (bytes_equal_text(name, "exists"))
        ok = read_exists(in, out);
    else if (bytes_equal_text(name, "prefix") || bytes_equal_text(name, "suffix") ||
             bytes_equal_text(name, "equals-ignore-case")) {
        out->kind = name.data[0] == 'p'   ? FILTER_PREFIX
                    : name.data[0] == 's' ? FILTER_SUFFIX
                                          : FILTER_IGNORE_CASE;
        ok = read_text(in, &out->text);
    } else {
        return refuse(in, "the rules are prefix, suffix, equals-ignore-case, anything-but, numeric "
                          "and exists");
    }
    return ok && (!json_next_member(&in->reader, &more) || refuse(in, "a rule has two names"));
}

static bool read_rules(struct parsing *in, struct filter_field *out)
{
    struct buffer list;
    buffer_init(&list, in->arena);
    out->kind = FILTER_LEAF;
    if (!json_enter_array(&in->reader))
        return false;
    while (json_next_element(&in->reader)) {
        struct filter_rule rule = { 0 };
        bool named = json_peek(&in->reader) == JSON_OBJECT;
        if (!(named ? read_named_rule(in, &rule) : read_value(in, &rule)))
            return false;
        buffer_append(&list, &rule, sizeof rule);
    }
    out->rules = (struct filter_rule *)(void *)list.data;
    out->rule_count = list.len / sizeof(struct filter_rule);
    return !json_failed(&in->reader) && (out->rule_count > 0 || refuse(in, "a list is empty"));
}

/* --- Parsing: objects --- */

static bool read_object(struct parsing *in, struct event_filter *out);

/* A list of patterns in a "$or", or the one of a field. */
static bool read_objects(struct parsing *in, struct filter_field *out)
{
    bool any_of = out->kind == FILTER_ANY_OF;
    struct buffer list;
    buffer_init(&list, in->arena);
    if (any_of && !json_enter_array(&in->reader))
        return refuse(in, "\"$or\" takes a list of patterns");
    while (!any_of || json_next_element(&in->reader)) {
        struct event_filter object;
        if (out->object_count == EVENT_FILTER_FIELDS_MAX)
            return refuse(in, "\"$or\" has more than 64 patterns");
        if (!read_object(in, &object))
            return false;
        buffer_append(&list, &object, sizeof object);
        out->object_count++;
        if (!any_of)
            break;
    }
    out->objects = (struct event_filter *)(void *)list.data;
    return !json_failed(&in->reader) &&
           (out->object_count > 0 || refuse(in, "\"$or\" has no patterns"));
}

static bool read_field(struct parsing *in, struct filter_field *out)
{
    if (bytes_equal_text(out->name, "$or")) {
        out->kind = FILTER_ANY_OF;
        return read_objects(in, out);
    }
    if (json_peek(&in->reader) == JSON_ARRAY)
        return read_rules(in, out);
    out->kind = FILTER_OBJECT;
    return read_objects(in, out);
}

static bool has_field(const struct buffer *list, struct bytes name)
{
    const struct filter_field *fields = (const struct filter_field *)(const void *)list->data;
    for (size_t i = 0; i < list->len / sizeof *fields; i++) {
        if (bytes_equal(fields[i].name, name))
            return true;
    }
    return false;
}

/* Recursion is bounded by the reader's depth. */
static bool read_object(struct parsing *in, struct event_filter *out)
{
    struct buffer list;
    struct bytes name;
    buffer_init(&list, in->arena);
    *out = (struct event_filter){ 0 };
    if (json_peek(&in->reader) != JSON_OBJECT)
        return refuse(in, "a field takes a list or an object");
    if (!json_enter_object(&in->reader))
        return false;
    while (json_next_member(&in->reader, &name)) {
        struct filter_field field = { .name = name };
        if (out->field_count++ == EVENT_FILTER_FIELDS_MAX)
            return refuse(in, "an object has more than 64 fields");
        if (has_field(&list, name))
            return refuse(in, "a field stands in an object twice");
        if (!read_field(in, &field))
            return false;
        buffer_append(&list, &field, sizeof field);
    }
    out->fields = (struct filter_field *)(void *)list.data;
    return !json_failed(&in->reader) && (out->field_count > 0 || refuse(in, "an object is empty"));
}

const struct event_filter *event_filter_parse(struct arena *arena, struct bytes pattern,
                                              struct error *err)
{
    struct parsing in = { .arena = arena, .err = err };
    struct event_filter *filter = arena_alloc(arena, sizeof *filter);
    if (pattern.len > EVENT_FILTER_SIZE_MAX) {
        refuse(&in, "it is longer than 4096 characters");
        return NULL;
    }
    json_reader_init(&in.reader, arena, pattern, EVENT_FILTER_DEPTH_MAX);
    if (read_object(&in, filter) && json_finish(&in.reader))
        return filter;
    refuse(&in, "it is not JSON, or too deep");
    return NULL;
}

/* --- Matching: values --- */

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

/* --- Matching: fields --- */

static bool asks_for_absence(const struct filter_field *field)
{
    for (size_t i = 0; i < field->rule_count; i++) {
        if (field->rules[i].kind == FILTER_EXISTS && !field->rules[i].flag)
            return true;
    }
    return false;
}

static bool object_matches_nothing(const struct event_filter *object);

/* True if a field matches a record that has nothing there. */
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

/* Consumes the value. One element of a list must match. Only scalars count as existing. */
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
