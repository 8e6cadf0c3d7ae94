/* fault_injection.c -- see fault_injection.h. */
#include "api/fault_injection.h"
#include <assert.h>
#include "api/api.h"
#include "api/capacity.h"
#include "api/operation.h"
#include "base/arena.h"
#include "fault/faults.h"
#include "model/error.h"
#include "model/table_definition.h"

/* A fault of one of the call's tables. */
struct call_fault {
    struct fault *fault;
    const struct capacity_use *use;
    struct drawn *drawn; /* For its parts, the last one first. */
};

struct drawn {
    struct drawn *next;
    struct bytes key; /* Of the part; empty: the whole call. */
    struct fault_draw draw;
};

/* In the call's arena. */
struct call_faults {
    enum fault_operation operation;
    struct call_fault *list;
    size_t count;
    bool has_refused; /* Something, by one that fails requests. */
};

static struct call_faults *create(struct api_call *call)
{
    struct call_faults *faults = arena_alloc_zeroed(call->arena, sizeof *faults);
    faults->operation = fault_operation_find(call->operation->name);
    return faults;
}

bool fault_injection_bind(struct api_call *call, const struct capacity_use *use)
{
    struct fault *found[FAULTS_MAX];
    if (operation_service(call->operation) != OPERATION_OF_DYNAMODB)
        return false;
    struct call_faults *faults = call->faults == NULL ? create(call) : call->faults;
    call->faults = faults;
    if (faults->operation == FAULT_OPERATIONS)
        return false;
    size_t count = faults_find(api_options(call->api)->faults, use->definition->name,
                               faults->operation, found);
    if (count == 0)
        return false;
    struct call_fault *list = arena_alloc(call->arena, (faults->count + count) * sizeof *list);
    for (size_t i = 0; i < faults->count; i++)
        list[i] = faults->list[i];
    for (size_t i = 0; i < count; i++)
        list[faults->count + i] = (struct call_fault){ .fault = found[i], .use = use };
    faults->list = list;
    faults->count += count;
    return true;
}

/* --- Drawing --- */

static bool is_about_calls(enum fault_kind kind, enum fault_operation operation)
{
    switch (kind) {
    case FAULT_CUT_CONNECTION:
    case FAULT_LOSE_ANSWER:
    case FAULT_DELAY:
        return true;
    case FAULT_INTERNAL_ERROR:
        return fault_operation_is_transaction(operation);
    case FAULT_THROTTLE:
    case FAULT_TRANSACTION_CONFLICT:
    case FAULT_CONDITION_FAILED:
    case FAULT_KINDS:
        break;
    }
    return false;
}

/* A decision about a write may be repeated, and some operations ask before it as well. */
static struct fault_draw draw_once(struct api_call *call, struct call_fault *of, struct bytes key)
{
    if (is_about_calls(fault_rule(of->fault)->kind, call->faults->operation))
        key = BYTES("");
    for (const struct drawn *drawn = of->drawn; drawn != NULL; drawn = drawn->next) {
        if (bytes_equal(drawn->key, key))
            return drawn->draw;
    }
    struct drawn *drawn = arena_alloc(call->arena, sizeof *drawn);
    *drawn = (struct drawn){ .next = of->drawn, .key = key, .draw = fault_draw(of->fault) };
    of->drawn = drawn;
    return drawn->draw;
}

/* Writes ask about their table first and then about indexes, so a fault that names no index is
 * drawn with the table; reads ask once. */
static bool is_meant(const struct fault_rule *rule, const struct fault_attempt *attempt,
                     enum fault_operation operation)
{
    if (rule->kind == FAULT_CONDITION_FAILED)
        return false;
    if (rule->kind == FAULT_TRANSACTION_CONFLICT && attempt->direction == LIMITER_READ)
        return fault_operation_is_transaction(operation);
    if (rule->index_name.len > 0)
        return attempt->index != NULL && bytes_equal(rule->index_name, attempt->index->name);
    return attempt->index == NULL || attempt->direction == LIMITER_READ;
}

/* True if it refuses. */
static bool take_effect(struct api_call *call, const struct fault_rule *rule,
                        const struct fault_draw *draw)
{
    switch (rule->kind) {
    case FAULT_DELAY:
        if (draw->delay_ms > call->delay_ms)
            call->delay_ms = draw->delay_ms;
        return false;
    case FAULT_LOSE_ANSWER:
        call->is_cut = true;
        return false;
    case FAULT_CUT_CONNECTION:
        call->is_cut = true;
        return true;
    case FAULT_THROTTLE:
    case FAULT_INTERNAL_ERROR:
    case FAULT_TRANSACTION_CONFLICT:
    case FAULT_CONDITION_FAILED:
    case FAULT_KINDS:
        break;
    }
    return true;
}

const struct fault_rule *fault_injection_ask(struct api_call *call,
                                             const struct fault_attempt *attempt)
{
    struct call_faults *faults = call->faults;
    for (size_t i = 0; faults != NULL && i < faults->count; i++) {
        struct call_fault *of = &faults->list[i];
        const struct fault_rule *rule = fault_rule(of->fault);
        if (of->use != attempt->use || !is_meant(rule, attempt, faults->operation))
            continue;
        struct fault_draw draw = draw_once(call, of, attempt->key);
        if (draw.is_hit && take_effect(call, rule, &draw)) {
            faults->has_refused = true;
            return rule;
        }
    }
    return NULL;
}

bool fault_injection_fails_condition(struct api_call *call, const struct capacity_use *use,
                                     struct bytes key)
{
    struct call_faults *faults = call->faults;
    for (size_t i = 0; faults != NULL && i < faults->count; i++) {
        struct call_fault *of = &faults->list[i];
        if (of->use == use && fault_rule(of->fault)->kind == FAULT_CONDITION_FAILED &&
            draw_once(call, of, key).is_hit) {
            faults->has_refused = true;
            return true;
        }
    }
    return false;
}

void fault_injection_end(struct api_call *call)
{
    struct call_faults *faults = call->faults;
    if (faults == NULL)
        return;
    call->is_injected = faults->has_refused && error_is_set(&call->error);
    for (size_t i = 0; i < faults->count; i++)
        fault_release(faults->list[i].fault);
    faults->count = 0;
}
