/* conditions.c -- the section of conditions: Fn::And, Fn::Or, Fn::Not, Fn::Equals, Condition.
 *
 * Each condition is evaluated once. One that needs its own value is refused.
 */
#include "template/evaluation.h"

enum { OPERANDS_MIN = 2, OPERANDS_MAX = 10 };

static bool evaluate(struct evaluation *evaluation, const struct node *node, bool *holds);

static bool refuse(struct evaluation *evaluation, unsigned line, const char *message)
{
    return template_error_set(evaluation->arena, evaluation->err, line, "%s", message);
}

static bool evaluate_equals(struct evaluation *evaluation, const struct node *argument, bool *holds)
{
    const struct node *sides[2];
    if (argument->kind != NODE_LIST || argument->count != 2)
        return refuse(evaluation, argument->line,
                      "Template error: every Fn::Equals object requires a list of 2 string "
                      "parameters.");
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        sides[i] = evaluation_value(evaluation, argument->members[i].value);
        if (sides[i] == NULL)
            return false;
    }
    if (node_is_scalar(sides[0]) && node_is_scalar(sides[1]))
        *holds = bytes_equal(sides[0]->text, sides[1]->text);
    else
        *holds = node_equal(sides[0], sides[1]);
    return true;
}

/* Fn::And and Fn::Or. All operands are evaluated, so that each mistake shows. */
static bool evaluate_several(struct evaluation *evaluation, const struct node *argument,
                             bool is_and, bool *holds)
{
    if (argument->kind != NODE_LIST || argument->count < OPERANDS_MIN ||
        argument->count > OPERANDS_MAX)
        return template_error_set(evaluation->arena, evaluation->err, argument->line,
                                  "Template error: every Fn::%s object requires a list of at "
                                  "least %d and at most %d boolean parameters.",
                                  is_and ? "And" : "Or", OPERANDS_MIN, OPERANDS_MAX);
    *holds = is_and;
    for (size_t i = 0; i < argument->count; i++) {
        bool one = false;
        if (!evaluate(evaluation, argument->members[i].value, &one))
            return false;
        *holds = is_and ? *holds && one : *holds || one;
    }
    return true;
}

static bool evaluate_not(struct evaluation *evaluation, const struct node *argument, bool *holds)
{
    bool one = false;
    if (argument->kind != NODE_LIST || argument->count != 1)
        return refuse(evaluation, argument->line,
                      "Template error: every Fn::Not object requires a list of one boolean "
                      "parameter.");
    if (!evaluate(evaluation, argument->members[0].value, &one))
        return false;
    *holds = !one;
    return true;
}

static bool evaluate_function(struct evaluation *evaluation, const struct node_member *member,
                              bool *holds)
{
    if (bytes_equal_text(member->name, "Fn::And"))
        return evaluate_several(evaluation, member->value, true, holds);
    if (bytes_equal_text(member->name, "Fn::Or"))
        return evaluate_several(evaluation, member->value, false, holds);
    if (bytes_equal_text(member->name, "Fn::Not"))
        return evaluate_not(evaluation, member->value, holds);
    if (bytes_equal_text(member->name, "Fn::Equals"))
        return evaluate_equals(evaluation, member->value, holds);
    if (bytes_equal_text(member->name, "Condition") && member->value->kind == NODE_STRING)
        return evaluation_condition(evaluation, member->value->text, member->line, holds);
    return refuse(evaluation, member->line,
                  "Template format error: Conditions can only be boolean operations on parameters "
                  "and other conditions");
}

static bool evaluate(struct evaluation *evaluation, const struct node *node, bool *holds)
{
    if (!evaluation_count(evaluation, 1, 0, node->line))
        return false;
    if (node->kind != NODE_MAP || node->count != 1)
        return refuse(evaluation, node->line,
                      "Template format error: Conditions can only be boolean operations on "
                      "parameters and other conditions");
    if (!evaluation_enter(evaluation, node->line))
        return false;
    bool ok = evaluate_function(evaluation, &node->members[0], holds);
    evaluation_leave(evaluation);
    return ok;
}

static bool evaluate_named(struct evaluation *evaluation, size_t index, unsigned line, bool *holds)
{
    const struct node_member *member = &evaluation->conditions->members[index];
    /* Loops are expanded before conditions are known, so a collection cannot depend on one. */
    if (evaluation->condition_states == NULL)
        return template_error_set(evaluation->arena, evaluation->err, line,
                                  "Template error: the collection of Fn::ForEach must not depend "
                                  "on the condition %.*s",
                                  BYTES_FMT(member->name));
    struct evaluation_condition *state = &evaluation->condition_states[index];
    if (state->progress == EVALUATION_BUSY)
        return template_error_set(evaluation->arena, evaluation->err, line,
                                  "Template format error: Circular dependency between conditions: "
                                  "[%.*s]",
                                  BYTES_FMT(member->name));
    if (state->progress == EVALUATION_NOT_YET) {
        bool in_condition = evaluation->in_condition;
        evaluation->in_condition = true;
        state->progress = EVALUATION_BUSY;
        bool ok = evaluate(evaluation, member->value, &state->holds);
        state->progress = EVALUATION_DONE;
        evaluation->in_condition = in_condition;
        if (!ok)
            return false;
    }
    *holds = state->holds;
    return true;
}

bool evaluation_condition(struct evaluation *evaluation, struct bytes name, unsigned line,
                          bool *holds)
{
    const struct node *section = evaluation->conditions;
    for (size_t i = 0; section != NULL && name.data != NULL && i < section->count; i++) {
        if (bytes_equal(section->members[i].name, name))
            return evaluate_named(evaluation, i, line, holds);
    }
    return template_error_set(evaluation->arena, evaluation->err, line,
                              "Template format error: Unresolved condition dependency %.*s",
                              BYTES_FMT(name.data == NULL ? BYTES("?") : name));
}

bool evaluation_all_conditions(struct evaluation *evaluation)
{
    const struct node *section = evaluation->conditions;
    bool holds;
    if (section == NULL)
        return true;
    evaluation->condition_states = arena_alloc_zeroed(
        evaluation->arena, (section->count + 1) * sizeof *evaluation->condition_states);
    for (size_t i = 0; i < section->count; i++) {
        if (!evaluate_named(evaluation, i, section->members[i].line, &holds))
            return false;
    }
    return true;
}
