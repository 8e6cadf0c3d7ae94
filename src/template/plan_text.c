/* plan_text.c -- tables and indexes in words, for plans. See plan_parts.h. */
#include "base/arena.h"
#include "base/buffer.h"
#include "template/node.h"
#include "template/plan_parts.h"

struct bytes plan_text_type(const struct node *definitions, struct bytes name)
{
    return node_text(node_find(definitions, "AttributeName", name), "AttributeType");
}

struct bytes plan_text_key(struct arena *arena, const struct node *owner,
                           const struct node *definitions)
{
    const struct node *schema = node_get(owner, "KeySchema");
    struct buffer out;
    buffer_init(&out, arena);
    for (size_t i = 0; schema != NULL && i < schema->count; i++) {
        struct bytes name = node_text(schema->members[i].value, "AttributeName");
        struct bytes type = name.data == NULL ? name : plan_text_type(definitions, name);
        if (name.data == NULL)
            continue;
        if (out.len > 0)
            buffer_append_bytes(&out, BYTES(", "));
        buffer_append_bytes(&out, name);
        buffer_append_byte(&out, ' ');
        buffer_append_bytes(&out, type.data == NULL ? BYTES("?") : type);
    }
    return buffer_bytes(&out);
}

static struct bytes units_text(struct arena *arena, const struct node *owner)
{
    const struct node *throughput = node_get(owner, "ProvisionedThroughput");
    int64_t read = 0, write = 0;
    if (!node_integer(throughput, "ReadCapacityUnits", &read) ||
        !node_integer(throughput, "WriteCapacityUnits", &write))
        return BYTES("");
    return arena_printf(arena, " %lld/%lld", (long long)read, (long long)write);
}

static bool is_on_demand(const struct node *state)
{
    struct bytes mode = node_text(state, "BillingMode");
    return mode.data != NULL && bytes_equal_text(mode, "PAY_PER_REQUEST");
}

struct bytes plan_text_billing(struct arena *arena, const struct node *state)
{
    if (is_on_demand(state))
        return BYTES("PAY_PER_REQUEST");
    return arena_printf(arena, "PROVISIONED%.*s", BYTES_FMT(units_text(arena, state)));
}

struct bytes plan_text_index(struct arena *arena, const struct node *index,
                             const struct node *definitions)
{
    const struct node *projection = node_get(index, "Projection");
    const struct node *names = node_get(projection, "NonKeyAttributes");
    struct bytes type = node_text(projection, "ProjectionType");
    struct buffer out;
    buffer_init(&out, arena);
    for (size_t i = 0; names != NULL && i < names->count; i++) {
        buffer_append_bytes(&out, i == 0 ? BYTES(" ") : BYTES(", "));
        buffer_append_bytes(&out, names->members[i].value->text);
    }
    return arena_printf(
        arena, "index %.*s (%.*s; %.*s%.*s)", BYTES_FMT(node_text(index, "IndexName")),
        BYTES_FMT(plan_text_key(arena, index, definitions)),
        BYTES_FMT(type.data == NULL ? BYTES("ALL") : type), BYTES_FMT(buffer_bytes(&out)));
}

struct bytes plan_text_table(struct arena *arena, const struct node *state)
{
    struct bytes units = units_text(arena, state);
    return arena_printf(
        arena, "table %.*s (%.*s; %s%.*s)", BYTES_FMT(node_text(state, "TableName")),
        BYTES_FMT(plan_text_key(arena, state, node_get(state, "AttributeDefinitions"))),
        is_on_demand(state) ? "on demand" : "provisioned",
        BYTES_FMT(is_on_demand(state) ? BYTES("") : units));
}
