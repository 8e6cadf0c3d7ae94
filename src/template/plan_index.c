/* plan_index.c -- the global indexes of a table that come, go or change. See plan_parts.h.
 *
 * A key or a projection cannot be changed in place: such an index is removed and added again, which
 * loses no data of the table. UpdateTable takes one index that comes or goes at a time.
 */
#include <assert.h>
#include "base/arena.h"
#include "template/node.h"
#include "template/plan_parts.h"
#include "template/table_requests.h"

static const struct node *indexes_of(const struct node *state)
{
    return node_get(state, "GlobalSecondaryIndexes");
}

static const struct node *find_index(const struct node *state, struct bytes name)
{
    return node_find(indexes_of(state), "IndexName", name);
}

/* --- Comparison --- */

static bool same_types(const struct node *schema, const struct node *before,
                       const struct node *after)
{
    const struct node *old = node_get(before, "AttributeDefinitions");
    const struct node *newer = node_get(after, "AttributeDefinitions");
    for (size_t i = 0; schema != NULL && i < schema->count; i++) {
        struct bytes name = node_text(schema->members[i].value, "AttributeName");
        if (name.data != NULL &&
            !bytes_equal(plan_text_type(old, name), plan_text_type(newer, name)))
            return false;
    }
    return true;
}

static bool same_projection(const struct node *a, const struct node *b)
{
    struct bytes left = node_text(a, "ProjectionType"), right = node_text(b, "ProjectionType");
    if (left.data == NULL)
        left = BYTES("ALL");
    if (right.data == NULL)
        right = BYTES("ALL");
    const struct node *names = node_get(a, "NonKeyAttributes");
    const struct node *others = node_get(b, "NonKeyAttributes");
    bool has_names = (names != NULL && names->count > 0) || (others != NULL && others->count > 0);
    return bytes_equal(left, right) && (!has_names || node_equal_unordered(names, others));
}

bool plan_index_stays(const struct node *before, const struct node *after, struct bytes name)
{
    const struct node *old = find_index(before, name), *newer = find_index(after, name);
    return old != NULL && newer != NULL &&
           node_equal(node_get(old, "KeySchema"), node_get(newer, "KeySchema")) &&
           same_projection(node_get(old, "Projection"), node_get(newer, "Projection")) &&
           same_types(node_get(newer, "KeySchema"), before, after);
}

void plan_index_check(struct plan_builder *builder, const struct plan_before *before,
                      const struct template_resource *after)
{
    const struct node *old = indexes_of(before->state), *newer = indexes_of(after->state);
    size_t moves = 0;
    if (!builder->options->as_stack)
        return;
    for (size_t i = 0; old != NULL && i < old->count; i++) {
        struct bytes name = node_text(old->members[i].value, "IndexName");
        if (find_index(after->state, name) == NULL)
            moves++;
        else if (!plan_index_stays(before->state, after->state, name))
            plan_builder_refuse(builder,
                                "Cannot update GSI's properties other than Provisioned Throughput "
                                "and Contributor Insights Specification. You can create a new GSI "
                                "with a different name.");
    }
    for (size_t i = 0; newer != NULL && i < newer->count; i++)
        moves += find_index(before->state, node_text(newer->members[i].value, "IndexName")) == NULL;
    if (moves > 1)
        plan_builder_refuse(
            builder, "Cannot perform more than one GSI creation or deletion in a single update");
}

/* --- Requests --- */

static void add_step(struct plan_builder *builder, struct bytes table, const char *action,
                     struct node *index, struct node *definitions)
{
    struct arena *arena = builder->arena;
    struct node *body = table_requests_body(arena, table);
    struct node *update = node_create(arena, NODE_MAP, 0);
    struct node *list = node_create(arena, NODE_LIST, 0);
    if (definitions != NULL)
        node_set(arena, body, "AttributeDefinitions", definitions);
    node_set(arena, update, action, index);
    node_append(arena, list, update);
    node_set(arena, body, "GlobalSecondaryIndexUpdates", list);
    /* CloudFormation does not wait for an index to be filled. */
    plan_builder_step(builder, "UpdateTable", body,
                      builder->options->as_stack ? PLAN_WAIT_ACTIVE : PLAN_WAIT_INDEXES, table);
}

void plan_index_remove(struct plan_builder *builder, const struct plan_before *before,
                       const struct template_resource *after)
{
    const struct node *old = indexes_of(before->state);
    if (builder->refusal.data != NULL)
        return;
    for (size_t i = 0; old != NULL && i < old->count; i++) {
        const struct node *index = old->members[i].value;
        struct bytes name = node_text(index, "IndexName");
        if (name.data == NULL || plan_index_stays(before->state, after->state, name))
            continue;
        if (find_index(after->state, name) == NULL)
            plan_builder_change(builder, '-', "GlobalSecondaryIndexes", "index %.*s",
                                BYTES_FMT(name));
        struct node *removal = node_create(builder->arena, NODE_MAP, 0);
        node_set(builder->arena, removal, "IndexName", node_string(builder->arena, name, 0));
        add_step(builder, before->physical_id, "Delete", removal, NULL);
    }
}

static bool is_key_of(const struct node *owner, struct bytes attribute)
{
    return node_find(node_get(owner, "KeySchema"), "AttributeName", attribute) != NULL;
}

/* The definitions of attributes that are keys of the table or of the first `count` new indexes, or
 * of an index that stays: UpdateTable refuses others. */
static struct node *used_definitions(struct plan_builder *builder, const struct node *before,
                                     const struct node *after, size_t count)
{
    const struct node *definitions = node_get(after, "AttributeDefinitions");
    const struct node *local = node_get(after, "LocalSecondaryIndexes");
    const struct node *global = indexes_of(after);
    struct node *list = node_create(builder->arena, NODE_LIST, 0);
    for (size_t i = 0; definitions != NULL && i < definitions->count; i++) {
        struct bytes name = node_text(definitions->members[i].value, "AttributeName");
        bool is_used = is_key_of(after, name);
        for (size_t k = 0; local != NULL && k < local->count; k++)
            is_used |= is_key_of(local->members[k].value, name);
        for (size_t k = 0; k < global->count; k++) {
            const struct node *index = global->members[k].value;
            if (k <= count || plan_index_stays(before, after, node_text(index, "IndexName")))
                is_used |= is_key_of(index, name);
        }
        if (is_used)
            node_append(builder->arena, list, definitions->members[i].value);
    }
    return list;
}

static void add_insights(struct plan_builder *builder, struct bytes table, const struct node *index)
{
    const struct node *insights = node_get(index, "ContributorInsightsSpecification");
    if (node_is_true(insights, "Enabled"))
        plan_builder_step(
            builder, "UpdateContributorInsights",
            table_requests_insights(builder->arena, table, node_text(index, "IndexName"), insights),
            PLAN_WAIT_NOTHING, table);
}

void plan_index_add(struct plan_builder *builder, const struct plan_before *before,
                    const struct template_resource *after)
{
    const struct node *newer = indexes_of(after->state);
    const struct node *definitions = node_get(after->state, "AttributeDefinitions");
    if (builder->refusal.data != NULL)
        return;
    for (size_t i = 0; newer != NULL && i < newer->count; i++) {
        const struct node *index = newer->members[i].value;
        struct bytes name = node_text(index, "IndexName");
        if (plan_index_stays(before->state, after->state, name))
            continue;
        bool is_new = find_index(before->state, name) == NULL;
        plan_builder_change(builder, is_new ? '+' : '!', "GlobalSecondaryIndexes",
                            "%.*s   builds in the background",
                            BYTES_FMT(plan_text_index(builder->arena, index, definitions)));
        add_step(builder, before->physical_id, "Create",
                 table_requests_index(builder->arena, index),
                 used_definitions(builder, before->state, after->state, i));
        add_insights(builder, before->physical_id, index);
    }
}
