/* access.c -- see access.h. */
#include "access/access.h"
#include <assert.h>
#include <stdlib.h>
#include "auth/caller.h"
#include "auth/policy.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/path.h"
#include "json/base64.h"
#include "model/error.h"
#include "model/item.h"
#include "model/number.h"
#include "model/table_definition.h"
#include "model/value.h"

/* --- Policies of resources --- */

static struct access_policy compile(struct arena *arena, struct bytes text)
{
    struct error ignored;
    if (text.data == NULL)
        return (struct access_policy){ .policy = NULL };
    error_init(&ignored, arena);
    const struct policy *policy = policy_parse(arena, text, POLICY_OF_RESOURCE, &ignored);
    return (struct access_policy){ .policy = policy, .is_unreadable = policy == NULL };
}

const struct access_policy *access_compile_policy(struct arena *arena, struct bytes text)
{
    struct access_policy *policy = arena_alloc(arena, sizeof *policy);
    *policy = compile(arena, text);
    return policy;
}

const struct access_table_policies *access_compile(struct arena *arena,
                                                   const struct table_definition *table)
{
    struct access_table_policies *policies = arena_alloc(arena, sizeof *policies);
    policies->table = compile(arena, table->resource_policy.text);
    policies->stream = compile(arena, table->stream_policy.text);
    return policies;
}

/* --- Questions --- */

void access_reserve(struct arena *arena, struct access_question *question, size_t part_count)
{
    assert(question->parts == NULL);
    question->parts = arena_alloc(arena, part_count * sizeof *question->parts);
    question->part_capacity = part_count;
}

void access_add(struct access_question *question, struct access_part part)
{
    assert(question->part_count < question->part_capacity);
    question->parts[question->part_count++] = part;
}

void access_add_return_values(struct access_question *question, struct bytes words)
{
    if (words.data == NULL)
        words = BYTES("NONE");
    bool is_none = bytes_equal_text(words, "NONE");
    if (question->return_value_count > 0) {
        struct bytes *first = &question->return_values[0];
        if (is_none || bytes_equal(*first, words))
            return;
        if (bytes_equal_text(*first, "NONE"))
            question->return_value_count = 0;
    }
    assert(question->return_value_count < ACCESS_RETURN_VALUES_MAX);
    question->return_values[question->return_value_count++] = words;
    question->shows_unnamed |=
        bytes_equal_text(words, "ALL_OLD") || bytes_equal_text(words, "ALL_NEW");
}

/* --- What a request touches, as texts --- */

struct texts {
    struct bytes *items;
    size_t count;
    size_t capacity;
};

/* Built for one decision. */
struct lists {
    struct arena *arena;
    const struct access_question *question;
    unsigned needed; /* A set of enum policy_list. */
    struct texts leading_keys;
    struct texts attributes;
};

static void append(struct arena *arena, struct texts *texts, struct bytes text)
{
    if (texts->count == texts->capacity) {
        size_t capacity = texts->capacity == 0 ? 16 : texts->capacity * 2;
        texts->items = arena_grow(arena, texts->items, texts->capacity * sizeof *texts->items,
                                  capacity * sizeof *texts->items);
        texts->capacity = capacity;
    }
    texts->items[texts->count++] = text;
}

static void add_name(struct lists *lists, struct bytes name)
{
    if ((lists->needed & POLICY_ATTRIBUTES) != 0)
        append(lists->arena, &lists->attributes, name);
}

/* Adds a key as policies write it: strings literally, numbers in digits, binary in base64. A value
 * of another type is no key; the operation refuses it later. */
static void add_leading_key(struct lists *lists, const struct value *value)
{
    struct bytes text = value->data;
    if ((lists->needed & POLICY_LEADING_KEYS) == 0)
        return;
    if (value->type == VALUE_N) {
        char *digits = arena_alloc(lists->arena, NUMBER_TEXT_MAX);
        text = bytes_of(digits, number_format_encoded(value->data, digits));
    } else if (value->type == VALUE_B) {
        char *base64 = arena_alloc(lists->arena, base64_encoded_size(value->data.len));
        base64_encode(value->data, base64);
        text = bytes_of(base64, base64_encoded_size(value->data.len));
    } else if (value->type != VALUE_S) {
        return;
    }
    append(lists->arena, &lists->leading_keys, text);
}

static bool is_partition_key(const struct access_question *question, struct bytes name)
{
    for (size_t i = 0; i < question->hash_count; i++)
        if (bytes_equal(question->hash[i].name, name))
            return true;
    return false;
}

static void add_key_of(struct lists *lists, const struct item *item)
{
    const struct table_definition *table = lists->question->table;
    struct value value;
    if (table == NULL)
        return;
    if (item_find(item, table->key.hash.name, &value))
        add_leading_key(lists, &value);
    add_name(lists, table->key.hash.name);
    if (table->key.has_range)
        add_name(lists, table->key.range.name);
}

static void add_names_of(struct lists *lists, const struct item *item)
{
    struct item_iter iter;
    struct bytes name;
    struct value value;
    if ((lists->needed & POLICY_ATTRIBUTES) == 0)
        return;
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value))
        add_name(lists, name);
}

/* The parser bounds the depth of operands, and so of the recursion. */
static void add_operand(struct lists *lists, const struct operand *operand)
{
    if (operand == NULL)
        return;
    if (operand->path.step_count > 0)
        add_name(lists, operand->path.steps[0].name);
    add_operand(lists, operand->left);
    add_operand(lists, operand->right);
}

/* The parser bounds the depth of conditions, and so of the recursion. */
static void add_condition(struct lists *lists, const struct condition *condition)
{
    if (condition == NULL)
        return;
    add_condition(lists, condition->left);
    add_condition(lists, condition->right);
    for (size_t i = 0; i < condition->operand_count; i++)
        add_operand(lists, &condition->operands[i]);
}

static void add_update(struct lists *lists, const struct update *update)
{
    for (size_t i = 0; update != NULL && i < update->action_count; i++) {
        add_name(lists, update->actions[i].path.steps[0].name);
        add_operand(lists, update->actions[i].operand);
    }
}

static void add_key_condition(struct lists *lists, const struct key_condition *condition)
{
    for (size_t i = 0; condition != NULL && i < condition->term_count; i++) {
        const struct key_term *term = &condition->terms[i];
        add_name(lists, term->name);
        if (is_partition_key(lists->question, term->name))
            add_leading_key(lists, &term->values[0]);
    }
}

static void add_part(struct lists *lists, const struct access_part *part)
{
    switch (part->kind) {
    case ACCESS_KEY_OF:
        add_key_of(lists, part->item);
        break;
    case ACCESS_NAMES_OF:
        add_names_of(lists, part->item);
        break;
    case ACCESS_NAMES:
        for (size_t i = 0; i < part->count; i++)
            add_name(lists, part->names[i]);
        break;
    case ACCESS_KEY_VALUES:
        for (size_t i = 0; i < part->count; i++)
            add_leading_key(lists, part->values[i]);
        break;
    case ACCESS_KEY_CONDITION:
        add_key_condition(lists, part->key_condition);
        break;
    case ACCESS_CONDITION:
        add_condition(lists, part->condition);
        break;
    case ACCESS_UPDATE:
        add_update(lists, part->update);
        break;
    case ACCESS_PROJECTION:
        for (size_t i = 0; part->projection != NULL && i < part->projection->child_count; i++)
            add_name(lists, path_node_child_name(part->projection, i));
        break;
    case ACCESS_COLUMNS:
        for (size_t i = 0; i < part->count; i++)
            add_name(lists, part->columns[i].path.steps[0].name);
        break;
    }
}

static int compare_texts(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

/* A batch names the same attributes for each of its items. */
static void remove_duplicates(struct texts *texts)
{
    size_t kept = 0;
    if (texts->count < 2)
        return;
    qsort(texts->items, texts->count, sizeof *texts->items, compare_texts);
    for (size_t i = 1; i < texts->count; i++)
        if (!bytes_equal(texts->items[kept], texts->items[i]))
            texts->items[++kept] = texts->items[i];
    texts->count = kept + 1;
}

static struct lists collect(struct arena *arena, const struct access_question *question,
                            unsigned needed)
{
    struct lists lists = { .arena = arena, .question = question, .needed = needed };
    for (size_t i = 0; needed != 0 && i < question->part_count; i++)
        add_part(&lists, &question->parts[i]);
    remove_duplicates(&lists.leading_keys);
    remove_duplicates(&lists.attributes);
    return lists;
}

/* --- The decision --- */

enum { SINGLE_KEYS = 5, LIST_KEYS = 2 };

static struct policy_key one_value(struct bytes name, const struct bytes *text)
{
    return (struct policy_key){ .name = name, .values = text, .count = text->data != NULL };
}

/* Fills in all context keys except the lists, and leaves room for those. */
static void fill_keys(struct arena *arena, const struct caller *caller,
                      const struct access_question *question, struct policy_request *request)
{
    size_t tag_count = question->table == NULL ? 0 : question->table->tags.count;
    struct policy_key *keys = arena_alloc(
        arena, (caller->key_count + SINGLE_KEYS + tag_count + LIST_KEYS) * sizeof *keys);
    struct policy_key *at = keys;
    for (size_t i = 0; i < caller->key_count; i++)
        *at++ = caller->keys[i];
    *at++ = one_value(BYTES("dynamodb:Select"), &question->select);
    *at++ =
        one_value(BYTES("dynamodb:ReturnConsumedCapacity"), &question->return_consumed_capacity);
    *at++ = one_value(BYTES("dynamodb:FullTableScan"), &question->full_table_scan);
    *at++ = one_value(BYTES("dynamodb:EnclosingOperation"), &question->enclosing_operation);
    *at++ = (struct policy_key){ .name = BYTES("dynamodb:ReturnValues"),
                                 .values = question->return_values,
                                 .count = question->return_value_count };
    for (size_t i = 0; i < tag_count; i++) {
        const struct tag *tag = &question->table->tags.elements[i];
        *at++ = one_value(arena_printf(arena, "aws:ResourceTag/%.*s", BYTES_FMT(tag->key)),
                          &tag->value);
    }
    request->keys = keys;
    request->key_count = (size_t)(at - keys);
}

static void fill_lists(struct arena *arena, const struct access_question *question, unsigned needed,
                       struct policy_request *request)
{
    struct policy_key *at = (struct policy_key *)request->keys + request->key_count;
    struct lists lists = collect(arena, question, needed);
    *at++ = (struct policy_key){ .name = BYTES("dynamodb:LeadingKeys"),
                                 .values = lists.leading_keys.items,
                                 .count = lists.leading_keys.count };
    *at++ = (struct policy_key){ .name = BYTES("dynamodb:Attributes"),
                                 .values = lists.attributes.items,
                                 .count = lists.attributes.count };
    request->key_count += LIST_KEYS;
    if (question->shows_unnamed)
        request->lists_with_unknown_values = POLICY_ATTRIBUTES;
}

/* A caller without permission must not learn from a resource's denial that the resource exists, so
 * it gets the answer for a missing resource. */
static enum policy_decision decide(struct arena *arena, const struct caller *caller,
                                   const struct access_question *question,
                                   struct policy_request *request)
{
    const struct policy_set own = { .identity = caller->policies,
                                    .identity_count = caller->policy_count };
    struct policy_set all = own;
    bool is_unreadable = question->policy != NULL && question->policy->is_unreadable;
    if (question->policy != NULL)
        all.resource = question->policy->policy;
    fill_keys(arena, caller, question, request);
    fill_lists(arena, question, policy_lists_needed(arena, &all, request), request);
    enum policy_decision decision = policy_decide(arena, &all, request);
    if (!is_unreadable && decision != POLICY_DENIED_BY_RESOURCE)
        return decision;
    decision = policy_decide(arena, &own, request);
    return decision == POLICY_ALLOWED ? POLICY_DENIED_BY_RESOURCE : decision;
}

static bool refuse(const struct policy_request *request, const char *because, struct error *err)
{
    return error_set(err, ERROR_ACCESS_DENIED,
                     "User: %.*s is not authorized to perform: %.*s on resource: %.*s %s",
                     BYTES_FMT(request->principal), BYTES_FMT(request->action),
                     BYTES_FMT(request->resource), because);
}

/* Without the context keys. */
static struct policy_request request_of(struct arena *arena, const struct caller *caller,
                                        const struct access_question *question)
{
    assert(question->service != NULL && question->action != NULL && question->arn.data != NULL);
    const struct bytes action[] = { bytes_from_text(question->service), BYTES(":"),
                                    bytes_from_text(question->action) };
    return (struct policy_request){ .action = arena_join(arena, action, COUNT_OF(action)),
                                    .resource = question->arn,
                                    .principal = caller->arn,
                                    .account = caller->account };
}

unsigned access_lists_needed(struct arena *arena, const struct caller *caller,
                             const struct access_question *question)
{
    struct policy_request request = request_of(arena, caller, question);
    const struct policy_set policies = {
        .identity = caller->policies,
        .identity_count = caller->policy_count,
        .resource = question->policy == NULL ? NULL : question->policy->policy,
    };
    fill_keys(arena, caller, question, &request);
    return policy_lists_needed(arena, &policies, &request);
}

bool access_decide(struct arena *arena, const struct caller *caller,
                   const struct access_question *question, struct error *err)
{
    struct policy_request request = request_of(arena, caller, question);
    switch (decide(arena, caller, question, &request)) {
    case POLICY_ALLOWED:
        return true;
    case POLICY_DENIED_BY_IDENTITY:
        return refuse(&request, "with an explicit deny in an identity-based policy", err);
    case POLICY_DENIED_BY_RESOURCE:
        return refuse(&request, "with an explicit deny in a resource-based policy", err);
    case POLICY_NOT_ALLOWED:
        break;
    }
    struct bytes because =
        arena_printf(arena, "because no identity-based policy allows the %.*s action",
                     BYTES_FMT(request.action));
    return refuse(&request, (const char *)because.data, err);
}
