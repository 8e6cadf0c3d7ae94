/* foreach.c -- Fn::ForEach of AWS::LanguageExtensions: loops become what they produce.
 *
 *     "Fn::ForEach::Tables": ["Name", ["A", "B"], {"Table${Name}": {...}}]
 *
 * is two members of the map it stands in. Within the body, ${Name} in names and texts and
 * {"Ref": "Name"} are the element; &{Name} is the element without what a logical id must not have.
 * Loops are expanded before anything else is evaluated, so a collection may refer to parameters
 * only.
 */
#include <assert.h>
#include <string.h>
#include "base/buffer.h"
#include "template/document.h"
#include "template/evaluation.h"

#define LOOP_PREFIX "Fn::ForEach::"

/* The element of a loop that is under way; the innermost one first. */
struct binding {
    struct bytes name;
    struct bytes value;
    const struct binding *outer;
};

static const struct node *expand(struct evaluation *evaluation, const struct node *node,
                                 const struct binding *binding);

static void append_plain(struct buffer *out, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
            buffer_append_byte(out, c);
    }
}

static const struct binding *find_binding(const struct binding *binding, struct bytes name)
{
    while (binding != NULL && !bytes_equal(binding->name, name))
        binding = binding->outer;
    return binding;
}

/* ${Name} and &{Name} of loops under way; others stay. Text within a loop counts even if it stays
 * as it is, because the loop repeats it. */
static bool fill_in(struct evaluation *evaluation, struct bytes text, unsigned line,
                    const struct binding *binding, struct bytes *out)
{
    struct buffer buffer;
    *out = text;
    if (binding == NULL)
        return true;
    if (!evaluation_count(evaluation, 0, text.len, line))
        return false;
    if (memchr(text.data, '{', text.len) == NULL)
        return true;
    buffer_init(&buffer, evaluation->arena);
    const uint8_t *close = NULL, *end = text.data + text.len;
    for (const uint8_t *at = text.data; at < end;) {
        bool is_plain = at[0] == '&';
        const struct binding *found = NULL;
        if ((at[0] == '$' || is_plain) && end - at > 2 && at[1] == '{') {
            close = evaluation_find_close(close, at + 2, end);
            if (close < end)
                found = find_binding(binding, bytes_of(at + 2, (size_t)(close - at) - 2));
        }
        if (found == NULL) {
            buffer_append_byte(&buffer, *at++);
            continue;
        }
        if (!evaluation_count(evaluation, 0, found->value.len, line))
            return false;
        if (is_plain)
            append_plain(&buffer, found->value);
        else
            buffer_append_bytes(&buffer, found->value);
        at = close + 1;
    }
    *out = buffer_bytes(&buffer);
    return true;
}

/* --- One loop --- */

static bool refuse_loop(struct evaluation *evaluation, unsigned line)
{
    return template_error_set(evaluation->arena, evaluation->err, line,
                              "Template error: Fn::ForEach requires an identifier, a collection "
                              "and an object");
}

static bool expand_members(struct evaluation *evaluation, const struct node *map,
                           const struct binding *binding, struct node *out);

static bool expand_loop(struct evaluation *evaluation, const struct node_member *loop,
                        const struct binding *outer, struct node *out)
{
    const struct node *argument = loop->value;
    if (argument->kind != NODE_LIST || argument->count != 3 ||
        argument->members[0].value->kind != NODE_STRING ||
        argument->members[2].value->kind != NODE_MAP)
        return refuse_loop(evaluation, loop->line);
    const struct node *collection = expand(evaluation, argument->members[1].value, outer);
    if (collection != NULL)
        collection = evaluation_value(evaluation, collection);
    if (collection == NULL)
        return false;
    if (collection->kind != NODE_LIST)
        return refuse_loop(evaluation, loop->line);
    for (size_t i = 0; i < collection->count; i++) {
        const struct node *element = collection->members[i].value;
        if (!node_is_scalar(element))
            return refuse_loop(evaluation, loop->line);
        const struct binding binding = { argument->members[0].value->text, element->text, outer };
        if (!expand_members(evaluation, argument->members[2].value, &binding, out))
            return false;
    }
    return true;
}

/* --- Trees --- */

static bool expand_members(struct evaluation *evaluation, const struct node *map,
                           const struct binding *binding, struct node *out)
{
    if (!evaluation_enter(evaluation, map->line))
        return false;
    for (size_t i = 0; i < map->count; i++) {
        const struct node_member *member = &map->members[i];
        struct bytes name;
        if (bytes_starts_with(member->name, BYTES(LOOP_PREFIX))) {
            if (!expand_loop(evaluation, member, binding, out))
                return false;
            continue;
        }
        const struct node *value = expand(evaluation, member->value, binding);
        if (value == NULL || !fill_in(evaluation, member->name, member->line, binding, &name) ||
            !document_add_member(evaluation->arena, out, name, member->line, (struct node *)value,
                                 evaluation->err))
            return false;
    }
    evaluation_leave(evaluation);
    return true;
}

static const struct node *expand_list(struct evaluation *evaluation, const struct node *node,
                                      const struct binding *binding)
{
    struct node *list = node_create(evaluation->arena, NODE_LIST, node->line);
    if (!evaluation_enter(evaluation, node->line))
        return NULL;
    for (size_t i = 0; i < node->count; i++) {
        const struct node *value = expand(evaluation, node->members[i].value, binding);
        if (value == NULL)
            return NULL;
        node_append(evaluation->arena, list, (struct node *)value);
    }
    evaluation_leave(evaluation);
    return list;
}

/* The depth is that of the document, in which loops are nested at most as deep as it is. */
static const struct node *expand(struct evaluation *evaluation, const struct node *node,
                                 const struct binding *binding)
{
    struct bytes text;
    if (!evaluation_count(evaluation, 1, 0, node->line))
        return NULL;
    if (node->kind == NODE_STRING) {
        if (!fill_in(evaluation, node->text, node->line, binding, &text))
            return NULL;
        return text.data == node->text.data ? node
                                            : node_string(evaluation->arena, text, node->line);
    }
    if (node->kind == NODE_LIST)
        return expand_list(evaluation, node, binding);
    if (node->kind != NODE_MAP)
        return node;
    struct bytes ref = node->count == 1 ? node_text(node, "Ref") : (struct bytes){ 0 };
    const struct binding *found = ref.data == NULL ? NULL : find_binding(binding, ref);
    if (found != NULL)
        return evaluation_count(evaluation, 0, found->value.len, node->line)
                   ? node_string(evaluation->arena, found->value, node->line)
                   : NULL;
    struct node *map = node_create(evaluation->arena, NODE_MAP, node->line);
    return expand_members(evaluation, node, binding, map) ? map : NULL;
}

const struct node *evaluation_expand(struct evaluation *evaluation, const struct node *section)
{
    assert(evaluation->depth == 0);
    return expand(evaluation, section, NULL);
}
