/* stack_change_list.c -- see stack_change_list.h. */
#include "api/cloudformation/stack_change_list.h"
#include "api/cloudformation/stack_evaluation.h"
#include "api/cloudformation/stack_request.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "json/writer.h"
#include "template/plan.h"

/* NULL: nothing happens to it. */
static const char *action_of(const struct plan_item *item, const struct stack_evaluation *before,
                             const struct stack_evaluation *after, bool tags_differ)
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
        return tags_differ && item->kind == TEMPLATE_KIND_TABLE ? "Modify" : NULL;
    }
}

static void write_detail(struct json_writer *json, struct bytes property, bool replaces)
{
    bool is_tags = bytes_equal_text(property, "Tags");
    json_open_object(json);
    json_write_name(json, "Target");
    json_open_object(json);
    json_write_name(json, "Attribute");
    json_write_text(json, is_tags ? "Tags" : "Properties");
    if (!is_tags)
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
                               bool tags_differ)
{
    bool replaces = item->action == PLAN_REPLACE;
    json_write_name(json, "Replacement");
    json_write_text(json, replaces ? "True" : "False");
    json_write_name(json, "Scope");
    json_open_array(json);
    if (item->change_count > 0 || item->action != PLAN_NOTHING)
        json_write_text(json, "Properties");
    if (tags_differ)
        json_write_text(json, "Tags");
    json_close_array(json);
    json_write_name(json, "Details");
    json_open_array(json);
    for (size_t i = 0; i < item->change_count; i++)
        if (item->changes[i].property.data != NULL)
            write_detail(json, item->changes[i].property, replaces);
    if (tags_differ)
        write_detail(json, BYTES("Tags"), false);
    json_close_array(json);
}

static void write_change(struct json_writer *json, const struct plan_item *item, const char *action,
                         bool tags_differ)
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
        write_modification(json, item, tags_differ && item->kind == TEMPLATE_KIND_TABLE);
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
            write_change(json, &item, "Remove", false);
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
        const char *action = action_of(&plan->items[i], before, after, tags_differ);
        if (action != NULL)
            write_change(&json, &plan->items[i], action, tags_differ);
    }
    write_removed(&json, plan, before, after);
    json_close_array(&json);
    return buffer_bytes(&text);
}
