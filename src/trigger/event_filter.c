/* event_filter.c -- parses filter patterns; see event_filter.h. */
#include "trigger/event_filter.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "json/reader.h"
#include "model/error.h"
#include "trigger/event_filter_tree.h"

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

/* --- Rules --- */

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

/* --- Objects --- */

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
