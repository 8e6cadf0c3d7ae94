/* template_fuzz.c -- arbitrary text as a template: parsing and evaluation end within the bounds,
 * and every refusal has a reason.
 */
#include <assert.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "json/reader.h"
#include "template/node.h"
#include "template/plan.h"
#include "template/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every request is valid JSON. */
static void check_request(struct arena *arena, const struct template_request *request)
{
    struct json_reader reader;
    json_reader_init(&reader, arena, request->body, JSON_DEPTH_LIMIT);
    json_skip(&reader);
    bool ok = json_finish(&reader);
    assert(ok);
}

/* A resource comes behind what it depends on. */
static void check_order(const struct template_result *result, size_t index)
{
    const struct template_resource *resource = &result->resources[index];
    for (size_t i = 0; i < resource->depends_on_count; i++) {
        const struct template_resource *other = template_find(result, resource->depends_on[i]);
        assert(other != NULL && other < resource);
    }
}

/* A template that was carried out has nothing left to do, and an empty one deletes everything. */
static void check_plan(struct arena *arena, const struct template_result *result)
{
    struct plan_before *before = arena_alloc(arena, (result->resource_count + 1) * sizeof *before);
    const struct plan_options options = { .as_stack = true, .allow_replace = true, .prune = true };
    for (size_t i = 0; i < result->resource_count; i++)
        before[i] = plan_before_of(&result->resources[i]);
    const struct plan *plan = plan_make(arena, result, before, result->resource_count, &options);
    assert(plan->change_count == 0 && plan->refused_count == 0);
    plan = plan_make(arena, NULL, before, result->resource_count, &options);
    assert(plan->item_count == result->resource_count);
    plan = plan_make(arena, result, NULL, 0, &options);
    for (size_t i = 0; i < plan->item_count; i++)
        assert(plan->items[i].action == PLAN_CREATE || plan->items[i].action == PLAN_SKIP);
}

/* The same text as the manifest of a folder, and as what a server says of a table. */
static void check_manifest(struct arena *arena, struct bytes text)
{
    const struct template_cdk_stack *stacks;
    const struct bytes *nested;
    size_t stack_count, nested_count;
    struct template_error err;
    struct plan_before before;
    const struct plan_live_table live = { text, text, text, text, text, text, text, text, text };
    bool ok = template_read_manifest(arena, text, BYTES("fuzz"), &stacks, &stack_count, &nested,
                                     &nested_count, &err);
    assert(ok == (err.message.data == NULL));
    for (size_t i = 0; ok && i < stack_count; i++)
        assert(stacks[i].file.data[0] != '/');
    if (plan_table_state(arena, &live, &before))
        assert(before.state != NULL && before.physical_id.data != NULL);
}

static void evaluate(struct arena *arena, const struct template *template)
{
    struct template_error err;
    const struct template_environment environment = { .ignore_unknown_parameters = true };
    const struct template_result *result = template_evaluate(arena, template, &environment, &err);
    assert((result == NULL) == (err.message.data != NULL));
    for (size_t i = 0; result != NULL && i < result->resource_count; i++) {
        const struct template_resource *resource = &result->resources[i];
        assert((resource->state == NULL) == (resource->kind == TEMPLATE_KIND_FOREIGN));
        check_order(result, i);
        for (size_t k = 0; k < resource->request_count; k++)
            check_request(arena, &resource->requests[k]);
    }
    if (result != NULL)
        check_plan(arena, result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct template_error err;
    const struct template *template =
        template_parse(arena, bytes_of(data, size), BYTES("fuzz"), &err);
    assert((template == NULL) == (err.message.data != NULL));
    if (template != NULL)
        evaluate(arena, template);
    check_manifest(arena, bytes_of(data, size));
    arena_destroy(arena);
    return 0;
}
