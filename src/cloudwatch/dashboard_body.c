/* dashboard_body.c -- checks the JSON of dashboards; see dashboards.h.
 *
 * The service refuses what its schema does not allow, with a list of places and messages. Here are
 * the rules that a mistake is likely to break: the types of what the schema names, the positions
 * and sizes of widgets, and the form of metrics. What they show is not checked.
 */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/dashboards.h"
#include "json/reader.h"

struct check {
    struct arena *arena;
    struct json_reader reader;
    struct dashboard_messages *out;
};

static void add(struct check *check, struct bytes path, const char *message)
{
    struct dashboard_messages *out = check->out;
    if (out->count == DASHBOARD_MESSAGES_MAX)
        return;
    if (out->list == NULL)
        out->list = arena_alloc(check->arena, DASHBOARD_MESSAGES_MAX * sizeof *out->list);
    out->list[out->count++] =
        (struct dashboard_message){ .path = path, .message = bytes_from_text(message) };
}

static struct bytes below(struct check *check, struct bytes path, struct bytes name)
{
    return arena_printf(check->arena, "%.*s/%.*s", BYTES_FMT(path),
                        name.len > 64 ? 64 : (int)name.len, (const char *)name.data);
}

static struct bytes below_index(struct check *check, struct bytes path, size_t index)
{
    return arena_printf(check->arena, "%.*s/%zu", BYTES_FMT(path), index);
}

/* Reads a number if it is an integer of that range. */
static void check_integer(struct check *check, struct bytes path, long min, long max)
{
    struct bytes text;
    char digits[16] = { 0 };
    if (json_peek(&check->reader) != JSON_NUMBER) {
        add(check, path, "Should be integer");
        json_skip(&check->reader);
        return;
    }
    if (!json_read_number(&check->reader, &text))
        return;
    memcpy(digits, text.data, text.len < sizeof digits - 1 ? text.len : sizeof digits - 1);
    char *end;
    long value = strtol(digits, &end, 10);
    if (*end != '\0')
        add(check, path, "Should be integer");
    else if (value < min || value > max)
        add(check, path, value < min ? "Value is below the minimum" : "Value is above the maximum");
}

/* ["Namespace", "MetricName", "Dimension", "Value", ..., {options}], or [{"expression": ...}]. */
static void check_metric(struct check *check, struct bytes path)
{
    struct json_reader *reader = &check->reader;
    size_t texts = 0;
    bool has_options = false;
    if (json_peek(reader) != JSON_ARRAY) {
        add(check, path, "Should be array");
        json_skip(reader);
        return;
    }
    json_enter_array(reader);
    while (json_next_element(reader)) {
        enum json_type type = json_peek(reader);
        if (type == JSON_STRING && !has_options)
            texts++;
        else if (type == JSON_OBJECT && !has_options)
            has_options = true;
        else
            add(check, path, "Invalid metric field type, only \"String\" type is allowed");
        json_skip(reader);
    }
    if (texts % 2 != 0 || (texts == 0 && !has_options))
        add(check, path, "Should have a namespace, a metric name, and pairs of dimensions");
}

/* Checks each element of an array that may have `count_max` of them. */
static void check_array(struct check *check, struct bytes path, size_t count_max,
                        void (*check_element)(struct check *check, struct bytes path))
{
    struct json_reader *reader = &check->reader;
    size_t count = 0;
    if (json_peek(reader) != JSON_ARRAY) {
        add(check, path, "Should be array");
        json_skip(reader);
        return;
    }
    json_enter_array(reader);
    while (json_next_element(reader))
        check_element(check, below_index(check, path, count++));
    if (count > count_max)
        add(check, path, "Should NOT have more than 500 items");
}

static void check_properties(struct check *check, struct bytes path)
{
    struct json_reader *reader = &check->reader;
    struct bytes name;
    if (json_peek(reader) != JSON_OBJECT) {
        add(check, path, "Should be object");
        json_skip(reader);
        return;
    }
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        if (bytes_equal_text(name, "metrics"))
            check_array(check, below(check, path, name), DASHBOARD_METRICS_MAX, check_metric);
        else
            json_skip(reader);
    }
}

static void check_type(struct check *check, struct bytes path)
{
    static const char *const types[] = { "metric", "text",     "log",  "alarm",
                                         "custom", "explorer", "trace" };
    struct bytes type;
    if (json_peek(&check->reader) != JSON_STRING) {
        add(check, path, "Should be string");
        json_skip(&check->reader);
        return;
    }
    if (!json_read_string(&check->reader, &type))
        return;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (bytes_equal_text(type, types[i]))
            return;
    add(check, path, "Should match one of the allowed widget types");
}

static void check_widget(struct check *check, struct bytes path)
{
    enum { COLUMNS = 24, ROWS = 1000 };
    struct json_reader *reader = &check->reader;
    struct bytes name;
    bool has_type = false, has_properties = false;
    if (json_peek(reader) != JSON_OBJECT) {
        add(check, path, "Should be object");
        json_skip(reader);
        return;
    }
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        struct bytes at = below(check, path, name);
        if (bytes_equal_text(name, "type")) {
            has_type = true;
            check_type(check, at);
        } else if (bytes_equal_text(name, "properties")) {
            has_properties = true;
            check_properties(check, at);
        } else if (bytes_equal_text(name, "x")) {
            check_integer(check, at, 0, COLUMNS - 1);
        } else if (bytes_equal_text(name, "y")) {
            check_integer(check, at, 0, INT32_MAX);
        } else if (bytes_equal_text(name, "width")) {
            check_integer(check, at, 1, COLUMNS);
        } else if (bytes_equal_text(name, "height")) {
            check_integer(check, at, 1, ROWS);
        } else {
            json_skip(reader);
        }
    }
    if (!has_type)
        add(check, path, "Should have required property 'type'");
    if (!has_properties)
        add(check, path, "Should have required property 'properties'");
}

bool dashboard_check_body(struct arena *arena, struct bytes body, struct dashboard_messages *out)
{
    struct check check = { .arena = arena, .out = out };
    struct bytes name;
    bool has_widgets = false;
    *out = (struct dashboard_messages){ 0 };
    json_reader_init(&check.reader, arena, body, DASHBOARD_DEPTH_MAX);
    if (json_peek(&check.reader) == JSON_OBJECT) {
        json_enter_object(&check.reader);
        while (json_next_member(&check.reader, &name)) {
            if (bytes_equal_text(name, "widgets")) {
                has_widgets = true;
                check_array(&check, BYTES("/widgets"), DASHBOARD_WIDGETS_MAX, check_widget);
            } else {
                json_skip(&check.reader);
            }
        }
        if (!has_widgets && !json_failed(&check.reader))
            add(&check, BYTES(""), "Should have required property 'widgets'");
    } else {
        add(&check, BYTES(""), "The field DashboardBody must be a valid JSON object");
        json_skip(&check.reader);
    }
    if (!json_finish(&check.reader)) {
        out->count = 0;
        add(&check, BYTES(""), "The field DashboardBody must be a valid JSON object");
    }
    return out->count == 0;
}

bool dashboard_is_name(struct bytes name)
{
    if (name.len == 0 || name.len > DASHBOARD_NAME_SIZE_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t symbol = name.data[i];
        if (!((symbol >= 'a' && symbol <= 'z') || (symbol >= 'A' && symbol <= 'Z') ||
              (symbol >= '0' && symbol <= '9') || symbol == '-' || symbol == '_'))
            return false;
    }
    return true;
}
