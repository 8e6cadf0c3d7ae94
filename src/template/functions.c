/* functions.c -- the value of an expression: CloudFormation's functions, apart from references
 * (references.c) and the boolean ones (conditions.c).
 *
 * A function is a map with one member, whose name is Ref or begins with Fn::. Text that depends on
 * a resource of another service, or on an attribute that is not known yet, is marked as such, and
 * every value made from it inherits the mark.
 */
#include <assert.h>
#include <string.h>
#include "base/buffer.h"
#include "json/base64.h"
#include "template/evaluation.h"

#define FUNCTION_PREFIX "Fn::"

static const struct node *fail(struct evaluation *evaluation, unsigned line, const char *message)
{
    template_error_set(evaluation->arena, evaluation->err, line, "%s", message);
    return NULL;
}

static struct node *make_text(struct evaluation *evaluation, struct bytes text, unsigned line)
{
    if (!evaluation_count(evaluation, 1, text.len, line))
        return NULL;
    return node_string(evaluation->arena, text, line);
}

static void inherit(struct node *to, const struct node *from)
{
    if (to->foreign.data == NULL)
        to->foreign = from->foreign;
    if (to->pending.data == NULL)
        to->pending = from->pending;
}

/* The marks of any value within a list or map. */
static void inherit_below(struct node *to, const struct node *from)
{
    const struct node *foreign = node_find_foreign(from), *pending = node_find_pending(from);
    if (foreign != NULL)
        to->foreign = foreign->foreign;
    if (pending != NULL)
        to->pending = pending->pending;
}

/* Recursion is bounded by the depth of a document. */
static void mark(struct node *node, const struct node *from)
{
    inherit(node, from);
    for (size_t i = 0; i < node->count; i++)
        mark(node->members[i].value, from);
}

/* The value, which was chosen by what `by` says: a copy with its marks, if it has any. */
static const struct node *chosen(struct evaluation *evaluation, const struct node *value,
                                 const struct node *by)
{
    if (value == NULL || (by->foreign.data == NULL && by->pending.data == NULL) ||
        evaluation_is_no_value(evaluation, value))
        return value;
    struct node *copy = node_copy(evaluation->arena, value);
    mark(copy, by);
    return copy;
}

const struct node *evaluation_scalar(struct evaluation *evaluation, const struct node *node,
                                     const char *what)
{
    const struct node *value = evaluation_value(evaluation, node);
    if (value == NULL || (!evaluation_is_no_value(evaluation, value) && node_is_scalar(value)))
        return value;
    template_error_set(evaluation->arena, evaluation->err, node->line,
                       "Template error: %s must be a string", what);
    return NULL;
}

/* A list of scalars, evaluated as a whole. */
static const struct node *evaluate_list(struct evaluation *evaluation, const struct node *node,
                                        const char *otherwise)
{
    const struct node *list = evaluation_value(evaluation, node);
    if (list == NULL)
        return NULL;
    if (list->kind != NODE_LIST || evaluation_is_no_value(evaluation, list))
        return fail(evaluation, node->line, otherwise);
    return list;
}

static const struct node *element(const struct node *list, size_t index)
{
    return list->members[index].value;
}

static bool has_elements(const struct node *argument, size_t count)
{
    return argument->kind == NODE_LIST && argument->count == count;
}

/* --- Texts and lists --- */

static const struct node *join(struct evaluation *evaluation, const struct node *argument)
{
    static const char wrong[] =
        "Template error: every Fn::Join object requires two parameters, (1) a string delimiter and "
        "(2) a list of strings to be joined or a function that returns a list of strings (such as "
        "Fn::GetAZs) to be joined.";
    if (!has_elements(argument, 2) || element(argument, 0)->kind != NODE_STRING)
        return fail(evaluation, argument->line, wrong);
    struct bytes delimiter = element(argument, 0)->text;
    const struct node *list = evaluate_list(evaluation, element(argument, 1), wrong);
    struct buffer out;
    if (list == NULL)
        return NULL;
    struct node *result = node_string(evaluation->arena, BYTES(""), argument->line);
    buffer_init(&out, evaluation->arena);
    for (size_t i = 0; i < list->count; i++) {
        const struct node *part = element(list, i);
        if (!node_is_scalar(part))
            return fail(evaluation, argument->line, wrong);
        if (!evaluation_count(evaluation, 1, part->text.len + delimiter.len, argument->line))
            return NULL;
        if (i > 0)
            buffer_append_bytes(&out, delimiter);
        buffer_append_bytes(&out, part->text);
        inherit(result, part);
    }
    result->text = buffer_bytes(&out);
    return result;
}

static const struct node *split(struct evaluation *evaluation, const struct node *argument)
{
    static const char wrong[] =
        "Template error: every Fn::Split object requires two parameters, (1) a string delimiter "
        "and (2) a string to be split or a function that returns a string to be split.";
    if (!has_elements(argument, 2) || element(argument, 0)->kind != NODE_STRING ||
        element(argument, 0)->text.len == 0)
        return fail(evaluation, argument->line, wrong);
    struct bytes delimiter = element(argument, 0)->text;
    const struct node *text = evaluation_value(evaluation, element(argument, 1));
    if (text == NULL)
        return NULL;
    if (!node_is_scalar(text))
        return fail(evaluation, argument->line, wrong);
    struct node *list = node_create(evaluation->arena, NODE_LIST, argument->line);
    struct bytes rest = text->text;
    for (;;) {
        const uint8_t *found = memmem(rest.data, rest.len, delimiter.data, delimiter.len);
        size_t size = found == NULL ? rest.len : (size_t)(found - rest.data);
        if (!evaluation_count(evaluation, 1, 0, argument->line))
            return NULL;
        struct node *part =
            node_string(evaluation->arena, bytes_of(rest.data, size), argument->line);
        inherit(part, text);
        node_append(evaluation->arena, list, part);
        if (found == NULL)
            return list;
        rest = bytes_of(found + delimiter.len, rest.len - size - delimiter.len);
    }
}

static const struct node *select_one(struct evaluation *evaluation, const struct node *argument)
{
    static const char wrong[] =
        "Template error: every Fn::Select object requires two non-null parameters, (1) an integer "
        "index and (2) a list or a function that returns a list.";
    if (!has_elements(argument, 2))
        return fail(evaluation, argument->line, wrong);
    const struct node *number = evaluation_value(evaluation, element(argument, 0));
    if (number == NULL)
        return NULL;
    const struct node *list = evaluate_list(evaluation, element(argument, 1), wrong);
    if (list == NULL)
        return NULL;
    if (!node_is_scalar(number) || number->text.len == 0 || number->text.len > 9)
        return fail(evaluation, argument->line, wrong);
    size_t index = 0;
    for (size_t i = 0; i < number->text.len; i++) {
        if (number->text.data[i] < '0' || number->text.data[i] > '9')
            return fail(evaluation, argument->line, wrong);
        index = index * 10 + (size_t)(number->text.data[i] - '0');
    }
    if (index >= list->count) {
        template_error_set(evaluation->arena, evaluation->err, argument->line,
                           "Template error: Fn::Select cannot select nonexistent value at index "
                           "%zu",
                           index);
        return NULL;
    }
    return chosen(evaluation, element(list, index), number);
}

static const struct node *encode_base64(struct evaluation *evaluation, const struct node *argument)
{
    const struct node *text = evaluation_scalar(evaluation, argument, "the value of Fn::Base64");
    if (text == NULL)
        return NULL;
    size_t size = base64_encoded_size(text->text.len);
    if (!evaluation_count(evaluation, 1, size, argument->line))
        return NULL;
    char *out = arena_alloc(evaluation->arena, size + 1);
    base64_encode(text->text, out);
    struct node *result = node_string(evaluation->arena, bytes_of(out, size), argument->line);
    inherit(result, text);
    return result;
}

static const struct node *get_azs(struct evaluation *evaluation, const struct node *argument)
{
    const struct node *region = evaluation_scalar(evaluation, argument, "the region of Fn::GetAZs");
    if (region == NULL)
        return NULL;
    struct bytes name = region->text.len > 0 ? region->text : evaluation->environment.region;
    struct node *list = node_create(evaluation->arena, NODE_LIST, argument->line);
    for (int zone = 'a'; zone <= 'c'; zone++) {
        struct node *text =
            make_text(evaluation, arena_printf(evaluation->arena, "%.*s%c", BYTES_FMT(name), zone),
                      argument->line);
        if (text == NULL)
            return NULL;
        inherit(text, region);
        node_append(evaluation->arena, list, text);
    }
    return list;
}

/* --- Mappings, exports, choices --- */

static bool find_default(struct evaluation *evaluation, const struct node *argument,
                         const struct node **out)
{
    *out = NULL;
    if (argument->count != 4)
        return true;
    *out = node_get(element(argument, 3), "DefaultValue");
    return *out != NULL || fail(evaluation, argument->line,
                                "Template error: the fourth parameter of "
                                "Fn::FindInMap must have a DefaultValue") != NULL;
}

static const struct node *find_in_map(struct evaluation *evaluation, const struct node *argument)
{
    static const char wrong[] =
        "Template error: every Fn::FindInMap object requires three parameters, the map name, map "
        "key and the attribute for return value";
    const struct node *keys[3], *otherwise, *value;
    struct node by = { 0 }; /* The marks of all keys. */
    if (argument->kind != NODE_LIST ||
        (argument->count != 3 &&
         !(argument->count == 4 && evaluation->template->has_language_extensions)))
        return fail(evaluation, argument->line, wrong);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        keys[i] = evaluation_scalar(evaluation, element(argument, i), "a key of Fn::FindInMap");
        if (keys[i] == NULL)
            return NULL;
        inherit(&by, keys[i]);
    }
    if (!find_default(evaluation, argument, &otherwise))
        return NULL;
    const struct node *map = node_get_bytes(evaluation->template->mappings, keys[0]->text);
    value = node_get_bytes(node_get_bytes(map, keys[1]->text), keys[2]->text);
    if (value != NULL && (node_is_scalar(value) || value->kind == NODE_LIST))
        return evaluation_count_tree(evaluation, value, argument->line)
                   ? chosen(evaluation, value, &by)
                   : NULL;
    if (otherwise != NULL)
        return chosen(evaluation, evaluation_value(evaluation, otherwise), &by);
    if (map == NULL)
        template_error_set(evaluation->arena, evaluation->err, argument->line,
                           "Template error: Mapping named '%.*s' is not present in the 'Mappings' "
                           "section of template.",
                           BYTES_FMT(keys[0]->text));
    template_error_set(evaluation->arena, evaluation->err, argument->line,
                       "Template error: Unable to get mapping for %.*s::%.*s::%.*s",
                       BYTES_FMT(keys[0]->text), BYTES_FMT(keys[1]->text),
                       BYTES_FMT(keys[2]->text));
    return NULL;
}

static const struct node *import_value(struct evaluation *evaluation, const struct node *argument)
{
    const struct template_environment *environment = &evaluation->environment;
    const struct node *name =
        evaluation_scalar(evaluation, argument, "the name of Fn::ImportValue");
    struct bytes value;
    if (name == NULL)
        return NULL;
    if (environment->import != NULL &&
        environment->import(environment->context, name->text, &value))
        return chosen(evaluation, make_text(evaluation, value, argument->line), name);
    template_error_set(evaluation->arena, evaluation->err, argument->line,
                       "No export named %.*s found.", BYTES_FMT(name->text));
    return NULL;
}

static const struct node *choose(struct evaluation *evaluation, const struct node *argument)
{
    bool holds = false;
    if (!has_elements(argument, 3) || element(argument, 0)->kind != NODE_STRING)
        return fail(evaluation, argument->line,
                    "Template error: Fn::If requires a list argument with three elements, the "
                    "first of which is the name of a condition");
    if (!evaluation_condition(evaluation, element(argument, 0)->text, argument->line, &holds))
        return NULL;
    return evaluation_value(evaluation, element(argument, holds ? 1 : 2));
}

/* --- AWS::LanguageExtensions --- */

static const struct node *length(struct evaluation *evaluation, const struct node *argument)
{
    const struct node *list =
        evaluate_list(evaluation, argument, "Template error: Fn::Length requires a list");
    if (list == NULL || !evaluation_count(evaluation, 1, 0, argument->line))
        return NULL;
    struct node *result = node_number(evaluation->arena, (int64_t)list->count);
    inherit_below(result, list);
    return result;
}

static const struct node *to_json(struct evaluation *evaluation, const struct node *argument)
{
    const struct node *value = evaluation_value(evaluation, argument);
    if (value == NULL)
        return NULL;
    if ((value->kind != NODE_LIST && value->kind != NODE_MAP) ||
        evaluation_is_no_value(evaluation, value))
        return fail(evaluation, argument->line,
                    "Template error: Fn::ToJsonString requires an object or a list");
    struct node *result =
        make_text(evaluation, node_json(evaluation->arena, value), argument->line);
    if (result != NULL)
        inherit_below(result, value);
    return result;
}

/* --- References --- */

static const struct node *refer(struct evaluation *evaluation, const struct node *argument)
{
    if (argument->kind != NODE_STRING)
        return fail(evaluation, argument->line,
                    "Template error: every Ref object must have a single String value.");
    return evaluation_ref(evaluation, argument->text, argument->line);
}

static const struct node *get_att(struct evaluation *evaluation, const struct node *argument)
{
    static const char wrong[] =
        "Template error: every Fn::GetAtt object requires two non-empty parameters, the resource "
        "name and the resource attribute";
    if (argument->kind == NODE_STRING) {
        const uint8_t *dot = memchr(argument->text.data, '.', argument->text.len);
        if (dot == NULL)
            return fail(evaluation, argument->line, wrong);
        size_t size = (size_t)(dot - argument->text.data);
        return evaluation_get_att(evaluation, bytes_of(argument->text.data, size),
                                  bytes_of(dot + 1, argument->text.len - size - 1), argument->line);
    }
    if (!has_elements(argument, 2) || element(argument, 0)->kind != NODE_STRING)
        return fail(evaluation, argument->line, wrong);
    const struct node *attribute =
        evaluation_scalar(evaluation, element(argument, 1), "the attribute of Fn::GetAtt");
    if (attribute == NULL)
        return NULL;
    return chosen(
        evaluation,
        evaluation_get_att(evaluation, element(argument, 0)->text, attribute->text, argument->line),
        attribute);
}

/* --- All --- */

static const struct function {
    const char *name;
    const struct node *(*run)(struct evaluation *evaluation, const struct node *argument);
    bool is_extension; /* Of AWS::LanguageExtensions. */
} functions[] = {
    { "Ref", refer, false },
    { "Fn::GetAtt", get_att, false },
    { "Fn::Sub", evaluation_sub, false },
    { "Fn::Join", join, false },
    { "Fn::Select", select_one, false },
    { "Fn::Split", split, false },
    { "Fn::If", choose, false },
    { "Fn::FindInMap", find_in_map, false },
    { "Fn::ImportValue", import_value, false },
    { "Fn::Base64", encode_base64, false },
    { "Fn::GetAZs", get_azs, false },
    { "Fn::Length", length, true },
    { "Fn::ToJsonString", to_json, true },
};

static const struct node *run_function(struct evaluation *evaluation,
                                       const struct node_member *member)
{
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        if (!bytes_equal_text(member->name, functions[i].name))
            continue;
        if (functions[i].is_extension && !evaluation->template->has_language_extensions) {
            template_error_set(evaluation->arena, evaluation->err, member->line,
                               "%s needs `Transform: AWS::LanguageExtensions`", functions[i].name);
            return NULL;
        }
        return functions[i].run(evaluation, member->value);
    }
    template_error_set(evaluation->arena, evaluation->err, member->line,
                       "Template error: the function %.*s is not supported here",
                       BYTES_FMT(member->name));
    return NULL;
}

static bool is_function(struct bytes name)
{
    return bytes_equal_text(name, "Ref") || bytes_starts_with(name, BYTES(FUNCTION_PREFIX));
}

static const struct node *evaluate_members(struct evaluation *evaluation, const struct node *node)
{
    struct node *result = node_create(evaluation->arena, node->kind, node->line);
    for (size_t i = 0; i < node->count; i++) {
        const struct node_member *member = &node->members[i];
        if (node->kind == NODE_MAP && bytes_starts_with(member->name, BYTES(FUNCTION_PREFIX)))
            return fail(evaluation, member->line,
                        "Template error: a function must be the only key of its object");
        const struct node *value = evaluation_value(evaluation, member->value);
        if (value == NULL)
            return NULL;
        if (!evaluation_is_no_value(evaluation, value))
            node_add(evaluation->arena, result, member->name, (struct node *)value);
    }
    return result;
}

const struct node *evaluation_value(struct evaluation *evaluation, const struct node *node)
{
    const struct node *result = NULL;
    if (!evaluation_count(evaluation, 1, 0, node->line))
        return NULL;
    if (evaluation->template->is_literal)
        return node;
    if (node->kind != NODE_LIST && node->kind != NODE_MAP)
        return node->kind == NODE_STRING ? evaluation_dynamic(evaluation, node) : node;
    if (!evaluation_enter(evaluation, node->line))
        return NULL;
    if (node->kind == NODE_MAP && node->count == 1 && is_function(node->members[0].name))
        result = run_function(evaluation, &node->members[0]);
    else
        result = evaluate_members(evaluation, node);
    evaluation_leave(evaluation);
    return result;
}
