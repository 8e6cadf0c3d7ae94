/* authorization.c -- see authorization.h. */
#include "api/authorization.h"
#include "api/operation.h"
#include "auth/caller.h"
#include "auth/policy.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/path_tree.h"
#include "json/base64.h"
#include "model/item.h"
#include "model/number.h"
#include "model/table_definition.h"
#include "model/value.h"
#include "stream/stream_names.h"
#include "table/catalogue.h"

bool authorization_begin(struct authorization *authorization, struct api_call *call)
{
    *authorization = (struct authorization){ .call = call };
    return call->caller != NULL;
}

/* --- What a request touches --- */

static void add(struct authorization *authorization, struct authorization_list *list,
                struct bytes text)
{
    for (size_t i = 0; i < list->count; i++)
        if (bytes_equal(list->texts[i], text))
            return;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        list->texts =
            arena_grow(authorization->call->arena, list->texts,
                       list->capacity * sizeof *list->texts, capacity * sizeof *list->texts);
        list->capacity = capacity;
    }
    list->texts[list->count++] = text;
}

void authorization_add_attribute(struct authorization *authorization, struct bytes name)
{
    add(authorization, &authorization->attributes, name);
}

/* As policies write keys: text as it is, numbers in digits, binary in base64. */
void authorization_add_leading_key(struct authorization *authorization, const struct value *value)
{
    struct arena *arena = authorization->call->arena;
    struct bytes text = value->data;
    if (value->type == VALUE_N) {
        char *digits = arena_alloc(arena, NUMBER_TEXT_MAX);
        text = bytes_of(digits, number_format_encoded(value->data, digits));
    } else if (value->type == VALUE_B) {
        char *base64 = arena_alloc(arena, base64_encoded_size(value->data.len));
        base64_encode(value->data, base64);
        text = bytes_of(base64, base64_encoded_size(value->data.len));
    }
    add(authorization, &authorization->leading_keys, text);
}

void authorization_add_key(struct authorization *authorization,
                           const struct table_definition *table, const struct item *key)
{
    struct value value;
    if (item_find(key, table->key.hash.name, &value))
        authorization_add_leading_key(authorization, &value);
    authorization_add_attribute(authorization, table->key.hash.name);
    if (table->key.has_range)
        authorization_add_attribute(authorization, table->key.range.name);
}

void authorization_add_item(struct authorization *authorization, const struct item *item)
{
    struct item_iter iter;
    struct bytes name;
    struct value value;
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value))
        authorization_add_attribute(authorization, name);
}

/* Recursion is as deep as parsing lets operands nest. */
static void add_operand(struct authorization *authorization, const struct operand *operand)
{
    if (operand == NULL)
        return;
    if (operand->path.step_count > 0)
        authorization_add_attribute(authorization, operand->path.steps[0].name);
    add_operand(authorization, operand->left);
    add_operand(authorization, operand->right);
}

/* So is this one, for conditions. */
void authorization_add_condition(struct authorization *authorization,
                                 const struct condition *condition)
{
    if (condition == NULL)
        return;
    authorization_add_condition(authorization, condition->left);
    authorization_add_condition(authorization, condition->right);
    for (size_t i = 0; i < condition->operand_count; i++)
        add_operand(authorization, &condition->operands[i]);
}

void authorization_add_update(struct authorization *authorization, const struct update *update)
{
    for (size_t i = 0; update != NULL && i < update->action_count; i++) {
        authorization_add_attribute(authorization, update->actions[i].path.steps[0].name);
        add_operand(authorization, update->actions[i].operand);
    }
}

void authorization_add_projection(struct authorization *authorization,
                                  const struct path_node *projection)
{
    for (size_t i = 0; projection != NULL && i < projection->child_count; i++)
        authorization_add_attribute(authorization, path_node_child_name(projection, i));
}

/* --- The question --- */

enum { OWN_KEYS = 7 };

static struct policy_key *add_text_key(struct policy_key *at, struct bytes name,
                                       const struct bytes *text)
{
    *at = (struct policy_key){ .name = name, .values = text, .count = text->data != NULL };
    return at + 1;
}

/* All that policies can know of the request. */
static void fill_keys(const struct authorization *authorization,
                      const struct table_definition *table, struct policy_request *request)
{
    const struct caller *caller = authorization->call->caller;
    struct arena *arena = authorization->call->arena;
    size_t tag_count = table == NULL ? 0 : table->tag_count;
    struct policy_key *keys =
        arena_alloc(arena, (caller->key_count + OWN_KEYS + tag_count) * sizeof *keys);
    struct policy_key *at = keys;
    for (size_t i = 0; i < caller->key_count; i++)
        *at++ = caller->keys[i];
    *at++ = (struct policy_key){ BYTES("dynamodb:LeadingKeys"), authorization->leading_keys.texts,
                                 authorization->leading_keys.count };
    *at++ = (struct policy_key){ BYTES("dynamodb:Attributes"), authorization->attributes.texts,
                                 authorization->attributes.count };
    at = add_text_key(at, BYTES("dynamodb:Select"), &authorization->select);
    at = add_text_key(at, BYTES("dynamodb:ReturnValues"), &authorization->return_values);
    at = add_text_key(at, BYTES("dynamodb:ReturnConsumedCapacity"),
                      &authorization->return_consumed_capacity);
    at = add_text_key(at, BYTES("dynamodb:FullTableScan"), &authorization->full_table_scan);
    at =
        add_text_key(at, BYTES("dynamodb:EnclosingOperation"), &authorization->enclosing_operation);
    for (size_t i = 0; i < tag_count; i++)
        at = add_text_key(
            at, arena_printf(arena, "aws:ResourceTag/%.*s", BYTES_FMT(table->tags[i].key)),
            &table->tags[i].value);
    request->keys = keys;
    request->key_count = (size_t)(at - keys);
}

static bool refuse(struct api_call *call, const struct policy_request *request, const char *because)
{
    call->denied = true;
    return error_set(&call->error, ERROR_ACCESS_DENIED,
                     "User: %.*s is not authorized to perform: %.*s on resource: %.*s %s",
                     BYTES_FMT(request->principal), BYTES_FMT(request->action),
                     BYTES_FMT(request->resource), because);
}

/* A resource's policy that cannot be read denies everything: it may have been meant to. */
static bool read_policy(struct api_call *call, const struct resource_policy *policy,
                        struct policy_set *set)
{
    struct error ignored;
    if (policy == NULL || policy->text.data == NULL)
        return true;
    error_init(&ignored, call->arena);
    set->resource = policy_parse(call->arena, policy->text, POLICY_OF_RESOURCE, &ignored);
    return set->resource != NULL;
}

static bool decide(struct authorization *authorization, struct policy_request *request,
                   const struct table_definition *table, const struct resource_policy *policy)
{
    struct api_call *call = authorization->call;
    const struct caller *caller = call->caller;
    struct policy_set set = { .identity = caller->policies,
                              .identity_count = caller->policy_count };
    call->resource = request->resource;
    request->principal = caller->arn;
    request->account = caller->account;
    fill_keys(authorization, table, request);
    enum policy_decision decision = POLICY_DENIED_BY_RESOURCE;
    if (read_policy(call, policy, &set))
        decision = policy_decide(call->arena, &set, request);
    switch (decision) {
    case POLICY_ALLOWED:
        return true;
    case POLICY_DENIED_BY_IDENTITY:
        return refuse(call, request, "with an explicit deny in an identity-based policy");
    case POLICY_DENIED_BY_RESOURCE:
        return refuse(call, request, "with an explicit deny in a resource-based policy");
    case POLICY_NOT_ALLOWED:
        break;
    }
    struct bytes because =
        arena_printf(call->arena, "because no identity-based policy allows the %.*s action",
                     BYTES_FMT(request->action));
    return refuse(call, request, (const char *)because.data);
}

static struct bytes action_name(struct api_call *call, const char *action)
{
    const struct bytes parts[] = { BYTES("dynamodb:"), bytes_from_text(action) };
    return arena_join(call->arena, parts, COUNT_OF(parts));
}

bool authorization_check(struct authorization *authorization, const char *action,
                         const struct table_definition *table, struct bytes index_name)
{
    struct api_call *call = authorization->call;
    struct bytes arn = operation_table_arn(call, table->name);
    if (index_name.data != NULL)
        arn = arena_printf(call->arena, "%.*s/index/%.*s", BYTES_FMT(arn), BYTES_FMT(index_name));
    struct policy_request request = { .action = action_name(call, action), .resource = arn };
    return decide(authorization, &request, table, &table->resource_policy);
}

/* --- Operations on whole resources --- */

/* The policy of the table's stream of that label; NULL: none. */
static const struct resource_policy *stream_policy(const struct table_definition *table,
                                                   struct bytes label)
{
    return bytes_equal(table->stream_policy_label, label) ? &table->stream_policy : NULL;
}

bool authorization_check_resource(struct api_call *call, struct bytes name_or_arn)
{
    struct authorization authorization;
    struct bytes name;
    struct bytes label;
    if (!authorization_begin(&authorization, call))
        return true;
    bool of_stream = stream_names_parse_arn(name_or_arn, &name, &label);
    if (!of_stream)
        name = operation_table_name(name_or_arn);
    struct policy_request request = { .action = action_name(call, call->operation->name),
                                      .resource = operation_table_arn(call, name) };
    if (of_stream)
        request.resource = arena_printf(call->arena, "%.*s/stream/%.*s",
                                        BYTES_FMT(request.resource), BYTES_FMT(label));
    struct table *table = catalogue_find(api_catalogue(call->api), name);
    const struct table_definition *definition = table == NULL ? NULL : table_definition(table);
    const struct resource_policy *policy = NULL;
    if (definition != NULL)
        policy = of_stream ? stream_policy(definition, label) : &definition->resource_policy;
    bool allowed = decide(&authorization, &request, definition, policy);
    table_release(table);
    return allowed;
}

/* What the request names in one of these members, or absent. */
static struct bytes named_resource(const struct api_call *call)
{
    static const char *const members[] = { "TableName", "ResourceArn", "StreamArn" };
    const struct shape *shape = call->operation->request;
    for (size_t i = 0; i < shape->field_count; i++)
        for (size_t j = 0; j < COUNT_OF(members); j++)
            if (strcmp(shape->fields[i].name, members[j]) == 0)
                return *(const struct bytes *)((const char *)call->request +
                                               shape->fields[i].offset);
    return (struct bytes){ 0 };
}

bool authorization_check_request(struct api_call *call)
{
    struct authorization authorization;
    struct policy_request request = { .resource = BYTES("*") };
    if (!authorization_begin(&authorization, call))
        return true;
    request.action = action_name(call, call->operation->name);
    switch (call->operation->asks) {
    case OPERATION_ASKS_ITSELF:
        return true;
    case OPERATION_ASKS_RESOURCE:
        return authorization_check_resource(call, named_resource(call));
    case OPERATION_ASKS_ACCOUNT:
        return decide(&authorization, &request, NULL, NULL);
    case OPERATION_ASKS_NOBODY:
        break;
    }
    request.principal = call->caller->arn;
    return refuse(call, &request, "because it cannot be authorized here");
}
