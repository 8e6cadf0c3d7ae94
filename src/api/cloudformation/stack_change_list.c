/* stack_change_list.c -- see stack_change_list.h. */
#include "api/cloudformation/stack_change_list.h"
#include "api/cloudformation/stack_evaluation.h"
#include "api/cloudformation/stack_request.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "template/plan.h"

/* What of a resource differs, beside its properties. */
struct attributes {
    bool tags; /* Those of the stack. */
    bool deletion_policy;
    bool replace_policy;
};

static struct attributes compare_attributes(const struct plan_item *item,
                                            const struct stack_evaluation *before,
                                            const struct stack_evaluation *after, bool tags_differ)
{
    struct bytes id = item->logical_id;
    return (struct attributes){
        .tags = tags_differ && item->kind == TEMPLATE_KIND_TABLE,
        .deletion_policy =
            before != NULL && stack_evaluation_deletion_policy_differs(before, after, id),
        .replace_policy =
            before != NULL && stack_evaluation_replace_policy_differs(before, after, id),
    };
}

/* NULL: nothing happens to it. */
static const char *action_of(const struct plan_item *item, const struct stack_evaluation *before,
                             const struct stack_evaluation *after, struct attributes differ)
{
    switch (item->action) {
    case PLAN_CREATE:
        return "Add";
    case PLAN_UPDATE:
    case PLAN_REPLACE:
    case PLAN_REFUSE:
        return "Modify";
    case PLAN_DELETE:
    case PLAN_RETAIN:
        return "Remove";
    case PLAN_SKIP:
        if (before == NULL || template_find(before->result, item->logical_id) == NULL)
            return "Add";
        if (item->resource == NULL)
            return "Remove";
        return stack_evaluation_declares_same(before, after, item->logical_id) ? NULL : "Modify";
    default:
        return differ.tags || differ.deletion_policy || differ.replace_policy ? "Modify" : NULL;
    }
}

/* `property` data NULL: none. */
static void write_detail(struct json_writer *json, const char *attribute, struct bytes property,
                         bool replaces)
{
    json_open_object(json);
    json_write_name(json, "Target");
    json_open_object(json);
    json_write_name(json, "Attribute");
    json_write_text(json, attribute);
    stack_request_write(json, "Name", property);
    json_write_name(json, "RequiresRecreation");
    json_write_text(json, replaces ? "Always" : "Never");
    json_close_object(json);
    json_write_name(json, "Evaluation");
    json_write_text(json, "Static");
    json_write_name(json, "ChangeSource");
    json_write_text(json, "DirectModification");
    json_close_object(json);
}

static void write_modification(struct json_writer *json, const struct plan_item *item,
                               struct attributes differ)
{
    const struct {
        bool differs;
        const char *name;
    } attributes[] = { { differ.tags, "Tags" },
                       { differ.deletion_policy, "DeletionPolicy" },
                       { differ.replace_policy, "UpdateReplacePolicy" } };
    bool replaces = item->action == PLAN_REPLACE;
    json_write_name(json, "Replacement");
    json_write_text(json, replaces ? "True" : "False");
    json_write_name(json, "Scope");
    json_open_array(json);
    if (item->change_count > 0 || item->action != PLAN_NOTHING)
        json_write_text(json, "Properties");
    for (size_t i = 0; i < COUNT_OF(attributes); i++)
        if (attributes[i].differs)
            json_write_text(json, attributes[i].name);
    json_close_array(json);
    json_write_name(json, "Details");
    json_open_array(json);
    for (size_t i = 0; i < item->change_count; i++) {
        struct bytes property = item->changes[i].property;
        if (property.data != NULL && bytes_equal_text(property, "Tags"))
            write_detail(json, "Tags", (struct bytes){ 0 }, replaces);
        else if (property.data != NULL)
            write_detail(json, "Properties", property, replaces);
    }
    for (size_t i = 0; i < COUNT_OF(attributes); i++)
        if (attributes[i].differs)
            write_detail(json, attributes[i].name, (struct bytes){ 0 }, false);
    json_close_array(json);
}

static void write_change(struct json_writer *json, const struct plan_item *item, const char *action,
                         struct attributes differ)
{
    struct bytes physical =
        item->old_physical_id.data != NULL ? item->old_physical_id : item->physical_id;
    bool adds = action[0] == 'A', modifies = action[0] == 'M';
    json_open_object(json);
    json_write_name(json, "Type");
    json_write_text(json, "Resource");
    json_write_name(json, "ResourceChange");
    json_open_object(json);
    json_write_name(json, "Action");
    json_write_text(json, action);
    stack_request_write(json, "LogicalResourceId", item->logical_id);
    if (!adds)
        stack_request_write(json, "PhysicalResourceId", physical);
    stack_request_write(json, "ResourceType", item->type);
    if (modifies) {
        write_modification(json, item, differ);
    } else {
        json_write_name(json, "Scope");
        json_open_array(json);
        json_close_array(json);
        json_write_name(json, "Details");
        json_open_array(json);
        json_close_array(json);
    }
    json_close_object(json);
    json_close_object(json);
}

/* Skipped resources that are no longer in the template are not part of plans. */
static void write_removed(struct json_writer *json, const struct plan *plan,
                          const struct stack_evaluation *before,
                          const struct stack_evaluation *after)
{
    for (size_t i = 0; before != NULL && i < before->result->resource_count; i++) {
        const struct template_resource *old = &before->result->resources[i];
        bool is_planned = false;
        for (size_t j = 0; j < plan->item_count; j++)
            is_planned = is_planned || bytes_equal(plan->items[j].logical_id, old->logical_id);
        const struct plan_item item = { .logical_id = old->logical_id,
                                        .type = old->type,
                                        .physical_id = old->physical_id };
        if (!is_planned && template_find(after->result, old->logical_id) == NULL)
            write_change(json, &item, "Remove", (struct attributes){ 0 });
    }
}

struct bytes stack_change_list(struct arena *arena, const struct plan *plan,
                               const struct stack_evaluation *before,
                               const struct stack_evaluation *after, bool tags_differ)
{
    struct buffer text;
    struct json_writer json;
    buffer_init(&text, arena);
    json_writer_init(&json, &text);
    json_open_array(&json);
    for (size_t i = 0; i < plan->item_count; i++) {
        const struct plan_item *item = &plan->items[i];
        struct attributes differ = compare_attributes(item, before, after, tags_differ);
        const char *action = action_of(item, before, after, differ);
        if (action != NULL)
            write_change(&json, item, action, differ);
    }
    write_removed(&json, plan, before, after);
    json_close_array(&json);
    return buffer_bytes(&text);
}
