/* policy_decide.c -- which statements apply to a request, and the decision that follows. */
#include "auth/policy_parts.h"
#include <assert.h>

enum effect { EFFECT_NONE, EFFECT_ALLOW, EFFECT_DENY };

static bool actions_match(const struct pattern_list *list, struct bytes action)
{
    for (size_t i = 0; i < list->count; i++)
        if (pattern_matches_ignoring_case(&list->patterns[i], action))
            return !list->inverted;
    return list->inverted;
}

/* A resource whose variable has no value in this request matches nothing, and, inverted, does not
 * allow everything else either. */
static bool resources_match(struct arena *arena, const struct pattern_list *list,
                            const struct policy_request *request, bool deny)
{
    bool unresolved = false;
    for (size_t i = 0; i < list->count; i++) {
        struct pattern resolved;
        if (!pattern_resolve(arena, &list->patterns[i], request, &resolved))
            unresolved = true;
        else if (pattern_matches(&resolved, request->resource))
            return !list->inverted;
    }
    return unresolved ? deny : list->inverted;
}

/* A permission for an account delegates the choice to the policies of its keys, so it allows
 * nothing by itself. */
static bool principals_match(const struct policy_statement *statement,
                             const struct policy_request *request)
{
    for (size_t i = 0; i < statement->principal_count; i++) {
        const struct policy_principal *principal = &statement->principals[i];
        bool named =
            principal->kind == PRINCIPAL_EVERYBODY ||
            (principal->kind == PRINCIPAL_ARN && bytes_equal(principal->text, request->principal));
        bool account =
            principal->kind == PRINCIPAL_ACCOUNT && bytes_equal(principal->text, request->account);
        if (statement->principals_inverted ? named : named || (account && statement->deny))
            return !statement->principals_inverted;
    }
    return statement->principals_inverted;
}

/* True if the statement is about such requests, apart from its conditions. */
static bool concerns(struct arena *arena, const struct policy *policy,
                     const struct policy_statement *statement, const struct policy_request *request)
{
    return actions_match(&statement->actions, request->action) &&
           (policy->kind != POLICY_OF_RESOURCE || principals_match(statement, request)) &&
           resources_match(arena, &statement->resources, request, statement->deny);
}

static bool applies(struct arena *arena, const struct policy *policy,
                    const struct policy_statement *statement, const struct policy_request *request)
{
    if (!concerns(arena, policy, statement, request))
        return false;
    for (size_t i = 0; i < statement->condition_count; i++)
        if (!policy_condition_holds(arena, &statement->conditions[i], request, statement->deny))
            return false;
    return true;
}

static unsigned lists_of(struct arena *arena, const struct policy *policy,
                         const struct policy_request *request)
{
    unsigned lists = 0;
    for (size_t i = 0; i < policy->count; i++) {
        const struct policy_statement *statement = &policy->statements[i];
        if (statement->lists_needed != 0 && concerns(arena, policy, statement, request))
            lists |= statement->lists_needed;
    }
    return lists;
}

unsigned policy_lists_needed(struct arena *arena, const struct policy_set *policies,
                             const struct policy_request *request)
{
    unsigned lists = policies->resource == NULL ? 0 : lists_of(arena, policies->resource, request);
    for (size_t i = 0; i < policies->identity_count; i++)
        lists |= lists_of(arena, policies->identity[i], request);
    return lists;
}

static enum effect effect_of(struct arena *arena, const struct policy *policy,
                             const struct policy_request *request)
{
    enum effect effect = EFFECT_NONE;
    for (size_t i = 0; i < policy->count; i++) {
        if (!applies(arena, policy, &policy->statements[i], request))
            continue;
        if (policy->statements[i].deny)
            return EFFECT_DENY;
        effect = EFFECT_ALLOW;
    }
    return effect;
}

enum policy_decision policy_decide(struct arena *arena, const struct policy_set *policies,
                                   const struct policy_request *request)
{
    bool allowed = false;
    assert(request->action.data != NULL && request->resource.data != NULL);
    for (size_t i = 0; i < policies->identity_count; i++) {
        assert(policies->identity[i]->kind == POLICY_OF_IDENTITY);
        enum effect effect = effect_of(arena, policies->identity[i], request);
        if (effect == EFFECT_DENY)
            return POLICY_DENIED_BY_IDENTITY;
        allowed = allowed || effect == EFFECT_ALLOW;
    }
    if (policies->resource != NULL) {
        assert(policies->resource->kind == POLICY_OF_RESOURCE);
        enum effect effect = effect_of(arena, policies->resource, request);
        if (effect == EFFECT_DENY)
            return POLICY_DENIED_BY_RESOURCE;
        allowed = allowed || effect == EFFECT_ALLOW;
    }
    return allowed ? POLICY_ALLOWED : POLICY_NOT_ALLOWED;
}
