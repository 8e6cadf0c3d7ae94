/* parameters.c -- the parameters of a template: declarations, values and their constraints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buffer.h"
#include "template/document.h"
#include "template/evaluation.h"
#include "template/pattern.h"

enum { VALUE_SIZE_MAX = 4096, NUMBER_SIZE_MAX = 64 };

/* --- Declarations --- */

/* A default may be a list in a template, though a client gives one text. */
static struct bytes text_of_default(struct arena *arena, const struct node *node)
{
    struct buffer out;
    if (node == NULL || node->kind == NODE_NULL)
        return (struct bytes){ 0 };
    if (node->kind != NODE_LIST)
        return node->text;
    buffer_init(&out, arena);
    for (size_t i = 0; i < node->count; i++) {
        if (i > 0)
            buffer_append_byte(&out, ',');
        buffer_append_bytes(&out, node->members[i].value->text);
    }
    return buffer_bytes(&out);
}

static bool is_known_type(struct bytes type)
{
    static const char *const types[] = { "String", "Number", "List<Number>", "CommaDelimitedList",
                                         "List<String>" };
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (bytes_equal_text(type, types[i]))
            return true;
    }
    return bytes_starts_with(type, BYTES("AWS::")) || bytes_starts_with(type, BYTES("List<AWS::"));
}

static bool declare(struct arena *arena, const struct node_member *member,
                    struct template_parameter *out, struct template_error *err)
{
    const struct node *node = member->value, *allowed = node_get(node, "AllowedValues");
    *out = (struct template_parameter){
        .name = member->name,
        .type = node_text(node, "Type"),
        .description = node_text(node, "Description"),
        .default_value = text_of_default(arena, node_get(node, "Default")),
        .allowed_pattern = node_text(node, "AllowedPattern"),
        .constraint_description = node_text(node, "ConstraintDescription"),
        .no_echo = node_is_true(node, "NoEcho"),
        .line = member->line,
    };
    if (out->type.data == NULL)
        return template_error_set(arena, err, member->line,
                                  "Template format error: [/Parameters/%.*s] Every Parameters "
                                  "object must contain a Type member.",
                                  BYTES_FMT(member->name));
    if (!is_known_type(out->type))
        return template_error_set(arena, err, node_get(node, "Type")->line,
                                  "Template format error: Unrecognized parameter type: %.*s",
                                  BYTES_FMT(out->type));
    if (allowed == NULL)
        return true;
    if (allowed->kind != NODE_LIST)
        return template_error_set(arena, err, allowed->line,
                                  "Template format error: [/Parameters/%.*s] AllowedValues must "
                                  "be a list.",
                                  BYTES_FMT(member->name));
    out->allowed_values = arena_alloc(arena, (allowed->count + 1) * sizeof *out->allowed_values);
    for (size_t i = 0; i < allowed->count; i++) {
        if (node_is_scalar(allowed->members[i].value))
            out->allowed_values[out->allowed_value_count++] = allowed->members[i].value->text;
    }
    return true;
}

bool parameters_declare(struct arena *arena, struct template *template, struct template_error *err)
{
    const struct node *section = template->parameters;
    if (section == NULL)
        return true;
    if (section->count > TEMPLATE_PARAMETERS_MAX)
        return template_error_set(arena, err, section->line,
                                  "Template format error: Number of parameters, %zu, is greater "
                                  "than maximum allowed, %d",
                                  section->count, TEMPLATE_PARAMETERS_MAX);
    template->parameter_list =
        arena_alloc(arena, (section->count + 1) * sizeof *template->parameter_list);
    for (size_t i = 0; i < section->count; i++) {
        if (!declare(arena, &section->members[i], &template->parameter_list[i], err))
            return false;
    }
    template->parameter_count = section->count;
    return true;
}

/* --- Values --- */

static bool is_list_type(struct bytes type)
{
    return bytes_equal_text(type, "CommaDelimitedList") ||
           bytes_starts_with(type, BYTES("List<")) ||
           bytes_starts_with(type, BYTES("AWS::SSM::Parameter::Value<List<")) ||
           bytes_equal_text(type, "AWS::SSM::Parameter::Value<CommaDelimitedList>");
}

static bool parse_number(struct bytes text, double *out)
{
    char copy[NUMBER_SIZE_MAX], *end;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    *out = strtod(copy, &end);
    return *end == '\0' && strpbrk(copy, "nNxX") == NULL;
}

static struct bytes trim(struct bytes text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_of(text.data + 1, text.len - 1);
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

static const struct node *make_value(struct evaluation *evaluation, struct bytes type,
                                     struct bytes text, unsigned line)
{
    if (!is_list_type(type))
        return node_string(evaluation->arena, text, line);
    struct node *list = node_create(evaluation->arena, NODE_LIST, line);
    while (text.len > 0) {
        const uint8_t *comma = memchr(text.data, ',', text.len);
        size_t size = comma == NULL ? text.len : (size_t)(comma - text.data);
        node_append(evaluation->arena, list,
                    node_string(evaluation->arena, trim(bytes_of(text.data, size)), line));
        if (comma == NULL)
            break;
        text = bytes_of(comma + 1, text.len - size - 1);
        if (text.len == 0)
            node_append(evaluation->arena, list, node_string(evaluation->arena, BYTES(""), line));
    }
    return list;
}

/* --- Constraints --- */

static bool violate(struct evaluation *evaluation, const struct template_parameter *parameter,
                    const char *rule)
{
    if (parameter->constraint_description.data != NULL)
        return template_error_set(evaluation->arena, evaluation->err, parameter->line,
                                  "Parameter %.*s failed to satisfy constraint: %.*s",
                                  BYTES_FMT(parameter->name),
                                  BYTES_FMT(parameter->constraint_description));
    return template_error_set(evaluation->arena, evaluation->err, parameter->line,
                              "Parameter '%.*s' %s", BYTES_FMT(parameter->name), rule);
}

static bool check_limits(struct evaluation *evaluation, const struct template_parameter *parameter,
                         const struct node *declaration, struct bytes text)
{
    int64_t limit;
    char rule[NUMBER_SIZE_MAX + 64];
    double number, bound;
    if (node_integer(declaration, "MinLength", &limit) && (int64_t)text.len < limit) {
        snprintf(rule, sizeof rule, "must contain at least %lld characters", (long long)limit);
        return violate(evaluation, parameter, rule);
    }
    if (node_integer(declaration, "MaxLength", &limit) && (int64_t)text.len > limit) {
        snprintf(rule, sizeof rule, "must contain at most %lld characters", (long long)limit);
        return violate(evaluation, parameter, rule);
    }
    if (!parse_number(text, &number))
        return true;
    struct bytes min = node_text(declaration, "MinValue"), max = node_text(declaration, "MaxValue");
    if (min.data != NULL && parse_number(min, &bound) && number < bound) {
        snprintf(rule, sizeof rule, "must be a number not less than %.*s", BYTES_FMT(min));
        return violate(evaluation, parameter, rule);
    }
    if (max.data != NULL && parse_number(max, &bound) && number > bound) {
        snprintf(rule, sizeof rule, "must be a number not greater than %.*s", BYTES_FMT(max));
        return violate(evaluation, parameter, rule);
    }
    return true;
}

static bool check_pattern(struct evaluation *evaluation, const struct template_parameter *parameter,
                          struct bytes text)
{
    if (parameter->allowed_pattern.data == NULL)
        return true;
    switch (pattern_match(parameter->allowed_pattern, text, &evaluation->pattern_steps)) {
    case PATTERN_MATCHES:
        return true;
    case PATTERN_DIFFERS: {
        struct bytes rule = arena_printf(evaluation->arena, "must match pattern %.*s%c",
                                         BYTES_FMT(parameter->allowed_pattern), 0);
        return violate(evaluation, parameter, (const char *)rule.data);
    }
    case PATTERN_UNSUPPORTED:
        if (evaluation->unchecked == parameter) /* One notice for all elements of a list. */
            return true;
        evaluation->unchecked = parameter;
        evaluation_notice(evaluation, (struct bytes){ 0 }, parameter->line,
                          arena_printf(evaluation->arena,
                                       "the AllowedPattern of %.*s is not supported and was not "
                                       "checked",
                                       BYTES_FMT(parameter->name)));
        return true;
    case PATTERN_TOO_LONG:
        break;
    }
    return violate(evaluation, parameter,
                   "has an AllowedPattern that is too long, or takes too long to match");
}

static bool check_value(struct evaluation *evaluation, const struct template_parameter *parameter,
                        const struct node *declaration, struct bytes text)
{
    double number;
    bool is_allowed = parameter->allowed_value_count == 0;
    if (bytes_equal_text(parameter->type, "Number") ||
        bytes_equal_text(parameter->type, "List<Number>")) {
        if (!parse_number(text, &number))
            return template_error_set(evaluation->arena, evaluation->err, parameter->line,
                                      "Parameter '%.*s' must be a number",
                                      BYTES_FMT(parameter->name));
    }
    for (size_t i = 0; i < parameter->allowed_value_count; i++)
        is_allowed |= bytes_equal(parameter->allowed_values[i], text);
    if (!is_allowed)
        return violate(evaluation, parameter, "must be one of AllowedValues");
    return check_limits(evaluation, parameter, declaration, text) &&
           check_pattern(evaluation, parameter, text);
}

static bool check_all(struct evaluation *evaluation, const struct template_parameter *parameter,
                      const struct node *declaration, const struct node *value)
{
    /* The value in SSM is not the template's to constrain. */
    if (bytes_starts_with(parameter->type, BYTES("AWS::SSM::")))
        return true;
    if (value->kind != NODE_LIST)
        return check_value(evaluation, parameter, declaration, value->text);
    for (size_t i = 0; i < value->count; i++) {
        if (!check_value(evaluation, parameter, declaration, value->members[i].value->text))
            return false;
    }
    return true;
}

/* --- All --- */

static struct bytes given_value(const struct template_environment *environment, struct bytes name)
{
    struct bytes found = { 0 };
    for (size_t i = 0; i < environment->parameter_count; i++) {
        if (bytes_equal(environment->parameters[i].name, name))
            found = environment->parameters[i].value; /* The last one counts. */
    }
    return found;
}

static bool is_declared(const struct template *template, struct bytes name)
{
    for (size_t i = 0; i < template->parameter_count; i++) {
        if (bytes_equal(template->parameter_list[i].name, name))
            return true;
    }
    return false;
}

/* Names with a slash are those of dynamic references, "/app/table". */
static bool check_unknown(struct evaluation *evaluation)
{
    const struct template_environment *environment = &evaluation->environment;
    if (environment->ignore_unknown_parameters)
        return true;
    for (size_t i = 0; i < environment->parameter_count; i++) {
        struct bytes name = environment->parameters[i].name;
        if (!is_declared(evaluation->template, name) && memchr(name.data, '/', name.len) == NULL)
            return template_error_set(evaluation->arena, evaluation->err, 0,
                                      "Parameters: [%.*s] do not exist in the template",
                                      BYTES_FMT(name));
    }
    return true;
}

static bool refuse_missing(struct evaluation *evaluation, const struct template_value *values)
{
    const struct template *template = evaluation->template;
    struct buffer names;
    unsigned line = 0;
    buffer_init(&names, evaluation->arena);
    for (size_t i = 0; i < template->parameter_count; i++) {
        if (values[i].value.data != NULL)
            continue;
        if (names.len > 0)
            buffer_append_bytes(&names, BYTES(", "));
        buffer_append_bytes(&names, values[i].name);
        line = line == 0 ? template->parameter_list[i].line : line;
    }
    return template_error_set(evaluation->arena, evaluation->err, line,
                              "Parameters: [%.*s] must have values",
                              BYTES_FMT(buffer_bytes(&names)));
}

bool evaluation_parameters(struct evaluation *evaluation, struct template_result *result)
{
    const struct template *template = evaluation->template;
    size_t count = template->parameter_count;
    struct template_value *values = arena_alloc(evaluation->arena, (count + 1) * sizeof *values);
    bool is_complete = true;
    evaluation->parameter_values =
        arena_alloc_zeroed(evaluation->arena, (count + 1) * sizeof *evaluation->parameter_values);
    result->parameters = values;
    result->parameter_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct template_parameter *parameter = &template->parameter_list[i];
        struct bytes given = given_value(&evaluation->environment, parameter->name);
        values[i] =
            (struct template_value){ parameter->name,
                                     given.data != NULL ? given : parameter->default_value };
        is_complete &= values[i].value.data != NULL;
        if (values[i].value.len > VALUE_SIZE_MAX)
            return violate(evaluation, parameter, "must contain at most 4096 bytes");
    }
    if (!check_unknown(evaluation))
        return false;
    if (!is_complete)
        return refuse_missing(evaluation, values);
    for (size_t i = 0; i < count; i++) {
        const struct template_parameter *parameter = &template->parameter_list[i];
        evaluation->parameter_values[i] =
            make_value(evaluation, parameter->type, values[i].value, parameter->line);
        if (!check_all(evaluation, parameter, template->parameters->members[i].value,
                       evaluation->parameter_values[i]))
            return false;
    }
    return true;
}
