/* apply_run.c -- plans and carries them out. See apply.h.
 *
 * Stacks are evaluated in order, so that one may import what an earlier one exports. Nothing is
 * undone after a failure: what was done stays, and another run does the rest.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "api/api.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "command/apply.h"
#include "command/command.h"
#include "template/document.h"
#include "template/node.h"

enum {
    POLL_MS_FIRST = 10,
    POLL_MS_MAX = 1000,
    RETRY_MS = 1000,
    NS_PER_MS = 1000 * 1000,
    MS_PER_S = 1000,
};

/* --- Requests --- */

bool apply_send(const struct apply_target *target, struct arena *arena, const char *operation,
                struct bytes body, struct apply_answer *out)
{
    *out = (struct apply_answer){ 0 };
    if (operation_find_action(bytes_from_text(operation)) != NULL)
        return target->send(target->context, arena, operation, body, out);
    out->error = BYTES("UnknownOperationException");
    out->message = arena_printf(arena, "%s is not supported", operation);
    return true;
}

static struct node *parse(struct arena *arena, struct bytes json)
{
    struct template_error err = { 0 };
    return document_read(arena, json, &err);
}

static void pause_ms(int64_t ms)
{
    struct timespec rest = { ms / MS_PER_S, ms % MS_PER_S * NS_PER_MS };
    nanosleep(&rest, NULL);
}

static struct bytes table_body(struct arena *arena, struct bytes table)
{
    struct node *body = node_create(arena, NODE_MAP, 0);
    node_set(arena, body, "TableName", node_string(arena, table, 0));
    return node_json(arena, body);
}

/* --- Where the server is --- */

/* Account and region, by STS, or by the ARN of some table. Without either they stay unknown, which
 * matters only for ARNs in outputs and tags. */
static bool find_account(struct apply_run *run)
{
    struct apply_answer answer;
    struct arena *arena = run->arena;
    if (run->account.data != NULL)
        return true;
    if (!apply_send(&run->target, arena, "sts:GetCallerIdentity", BYTES("{}"), &answer))
        return false;
    if (answer.error.data == NULL) {
        const struct node *root = parse(arena, answer.body);
        struct bytes account = node_text(root, "Account");
        if (account.data == NULL)
            account = node_text(node_get(root, "GetCallerIdentityResult"), "Account");
        run->account = account;
    }
    if (run->account.data != NULL)
        return true;
    if (!apply_send(&run->target, arena, "ListTables", BYTES("{\"Limit\":1}"), &answer))
        return false;
    const struct node *names = node_get(parse(arena, answer.body), "TableNames");
    if (answer.error.data != NULL || names == NULL || names->count == 0)
        return true;
    if (!apply_send(&run->target, arena, "DescribeTable",
                    table_body(arena, names->members[0].value->text), &answer))
        return false;
    struct bytes arn = node_text(node_get(parse(arena, answer.body), "Table"), "TableArn");
    const uint8_t *at = arn.data;
    for (int part = 0; at != NULL && part < 5; part++) { /* arn:aws:dynamodb:REGION:ACCOUNT:... */
        size_t rest = arn.len - (size_t)(at - arn.data);
        const uint8_t *colon = memchr(at, ':', rest);
        if (colon != NULL && part == 3)
            run->region = bytes_of(at, (size_t)(colon - at));
        if (colon != NULL && part == 4)
            run->account = bytes_of(at, (size_t)(colon - at));
        at = colon == NULL ? NULL : colon + 1;
    }
    return true;
}

/* --- Evaluation --- */

struct lookup {
    struct apply_run *run;
    size_t stack; /* That is evaluated: the ones before it have results. */
    bool is_applied;
};

static bool find_import(void *context, struct bytes name, struct bytes *value)
{
    const struct lookup *lookup = context;
    for (size_t i = 0; i < lookup->stack; i++) {
        const struct template_result *result = lookup->run->stacks[i].result;
        for (size_t k = 0; result != NULL && k < result->output_count; k++) {
            const struct template_output *output = &result->outputs[k];
            if (output->export_name.data != NULL && bytes_equal(output->export_name, name)) {
                *value = output->value;
                return true;
            }
        }
    }
    return false;
}

/* Once tables are there, the server knows what their names do not tell. */
static bool find_attribute(void *context, struct bytes logical_id, struct bytes attribute,
                           struct bytes *value)
{
    const struct lookup *lookup = context;
    struct apply_run *run = lookup->run;
    struct apply_answer answer;
    const char *member = bytes_equal_text(attribute, "StreamArn") ? "LatestStreamArn"
                         : bytes_equal_text(attribute, "TableId") ? "TableId"
                                                                  : NULL;
    const struct template_result *result = run->stacks[lookup->stack].result;
    if (!lookup->is_applied || member == NULL)
        return false;
    const struct template_resource *resource = template_find(result, logical_id);
    if (resource == NULL || resource->kind != TEMPLATE_KIND_TABLE ||
        !apply_send(&run->target, run->arena, "DescribeTable",
                    table_body(run->arena, resource->physical_id), &answer) ||
        answer.error.data != NULL)
        return false;
    *value = node_text(node_get(parse(run->arena, answer.body), "Table"), member);
    return value->data != NULL;
}

/* Those of the tool first, so that the command line's count. */
static void join_parameters(struct apply_run *run, const struct apply_stack *stack,
                            struct template_environment *out)
{
    size_t count = stack->parameter_count + run->parameter_count;
    struct template_value *values = arena_alloc(run->arena, (count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = i < stack->parameter_count ? stack->parameters[i]
                                               : run->parameters[i - stack->parameter_count];
    out->parameters = values;
    out->parameter_count = count;
    out->ignore_unknown_parameters = run->stack_count > 1 || stack->parameter_count > 0;
}

static int evaluate(struct apply_run *run, size_t index, bool is_applied)
{
    struct apply_stack *stack = &run->stacks[index];
    struct lookup lookup = { run, index, is_applied };
    struct template_error err;
    struct template_environment environment = {
        .stack_name = stack->name,
        .region = run->region,
        .account_id = run->account,
        .refuse_foreign = run->refuse_foreign,
        .owner_tag = run->stack_name != NULL ? BYTES(APPLY_OWNER_TAG) : (struct bytes){ 0 },
        .attribute = find_attribute,
        .import = find_import,
        .context = &lookup,
    };
    join_parameters(run, stack, &environment);
    struct template_result *result =
        template_evaluate(run->arena, stack->template, &environment, &err);
    if (result == NULL) {
        apply_print_line(run->arena, stderr, "stator: %.*s",
                         BYTES_FMT(template_error_text(run->arena, &err)));
        return COMMAND_MISUSED;
    }
    stack->result = result;
    return COMMAND_OK;
}

int apply_plan(struct apply_run *run)
{
    const struct plan_options options = { .allow_replace = run->allow_replace,
                                          .prune = run->prune };
    if (!find_account(run))
        return COMMAND_FAILED;
    for (size_t i = 0; i < run->stack_count; i++) {
        struct plan_before *before;
        size_t count;
        int code = evaluate(run, i, false);
        if (code != COMMAND_OK)
            return code;
        if (!apply_read_live(run, &run->stacks[i], &before, &count))
            return COMMAND_FAILED;
        run->stacks[i].plan = plan_make(run->arena, run->stacks[i].result, before, count, &options);
    }
    return COMMAND_OK;
}

int apply_finish(struct apply_run *run)
{
    int code = COMMAND_OK;
    for (size_t i = 0; i < run->stack_count && code == COMMAND_OK; i++)
        code = evaluate(run, i, true);
    return code;
}

size_t apply_change_count(const struct apply_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->stack_count; i++)
        count += run->stacks[i].plan->change_count;
    return count;
}

size_t apply_refused_count(const struct apply_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->stack_count; i++)
        count += run->stacks[i].plan->refused_count;
    return count;
}

/* --- Waiting --- */

static bool is_active(const struct node *owner, const char *name)
{
    struct bytes status = node_text(owner, name);
    return status.data != NULL && bytes_equal_text(status, "ACTIVE");
}

static bool are_indexes_active(const struct node *table)
{
    const struct node *indexes = node_get(table, "GlobalSecondaryIndexes");
    for (size_t i = 0; indexes != NULL && i < indexes->count; i++) {
        if (!is_active(indexes->members[i].value, "IndexStatus"))
            return false;
    }
    return true;
}

/* Asks the server once. */
static bool is_reached(const struct plan_step *step, struct arena *arena,
                       const struct apply_answer *answer)
{
    bool is_gone =
        answer->error.data != NULL && bytes_equal_text(answer->error, "ResourceNotFoundException");
    if (step->wait == PLAN_WAIT_GONE)
        return is_gone;
    if (answer->error.data != NULL)
        return false;
    const struct node *root = parse(arena, answer->body);
    const struct node *table = node_get(root, "Table");
    if (step->wait == PLAN_WAIT_TTL) {
        struct bytes status =
            node_text(node_get(root, "TimeToLiveDescription"), "TimeToLiveStatus");
        return status.data != NULL &&
               (bytes_equal_text(status, "ENABLED") || bytes_equal_text(status, "DISABLED"));
    }
    return is_active(table, "TableStatus") &&
           (step->wait == PLAN_WAIT_ACTIVE || are_indexes_active(table));
}

static int wait_for(struct apply_run *run, const struct plan_step *step)
{
    const char *operation = step->wait == PLAN_WAIT_TTL ? "DescribeTimeToLive" : "DescribeTable";
    int64_t seconds =
        step->wait == PLAN_WAIT_INDEXES ? APPLY_INDEX_SECONDS_MAX : APPLY_WAIT_SECONDS_MAX;
    int64_t end_ns = clock_monotonic_ns() + seconds * MS_PER_S * NS_PER_MS;
    struct arena *arena = arena_create();
    int code = COMMAND_FAILED;
    for (int64_t ms = POLL_MS_FIRST;; ms = ms * 2 < POLL_MS_MAX ? ms * 2 : POLL_MS_MAX) {
        struct apply_answer answer;
        if (!apply_send(&run->target, arena, operation, table_body(arena, step->table), &answer))
            break;
        if (is_reached(step, arena, &answer)) {
            code = COMMAND_OK;
            break;
        }
        if (clock_monotonic_ns() > end_ns) {
            apply_print_line(arena, stderr, "stator: table %.*s: did not get ready in %lld seconds",
                             BYTES_FMT(step->table), (long long)seconds);
            break;
        }
        arena_reset(arena);
        pause_ms(ms);
    }
    arena_destroy(arena);
    return code;
}

/* --- Execution --- */

/* The server is busy with this or another table; CreateTable says so of a name that is taken. */
static bool is_worth_another_try(const struct plan_step *step, struct bytes error)
{
    if (bytes_equal_text(error, "ResourceInUseException"))
        return strcmp(step->operation, "CreateTable") != 0;
    return bytes_equal_text(error, "LimitExceededException") ||
           bytes_equal_text(error, "ThrottlingException");
}

static int execute_step(struct apply_run *run, const struct plan_item *item,
                        const struct plan_step *step)
{
    struct apply_answer answer;
    for (unsigned retry = 0;; retry++) {
        if (!apply_send(&run->target, run->arena, step->operation, step->body, &answer))
            return COMMAND_FAILED;
        if (answer.error.data == NULL)
            break;
        if (retry == APPLY_RETRIES_MAX || !is_worth_another_try(step, answer.error)) {
            apply_print_line(run->arena, stderr, "stator: %.*s: %s: %.*s",
                             BYTES_FMT(item->logical_id), step->operation,
                             BYTES_FMT(answer.message));
            return COMMAND_FAILED;
        }
        pause_ms(RETRY_MS);
    }
    return step->wait == PLAN_WAIT_NOTHING ? COMMAND_OK : wait_for(run, step);
}

static int execute_steps(struct apply_run *run, const struct plan_item *item,
                         const struct plan_step *steps, size_t count)
{
    int code = COMMAND_OK;
    for (size_t i = 0; i < count && code == COMMAND_OK; i++)
        code = execute_step(run, item, &steps[i]);
    return code;
}

static int execute_stack(struct apply_run *run, const struct plan *plan, size_t *done)
{
    static const char *const words[] = { [PLAN_CREATE] = "created",
                                         [PLAN_UPDATE] = "updated",
                                         [PLAN_REPLACE] = "replaced",
                                         [PLAN_DELETE] = "deleted" };
    int code = COMMAND_OK;
    for (size_t i = 0; i < plan->item_count && code == COMMAND_OK; i++) {
        const struct plan_item *item = &plan->items[i];
        if (item->step_count == 0)
            continue;
        code = execute_steps(run, item, item->steps, item->step_count);
        *done += code == COMMAND_OK;
        if (code == COMMAND_OK && !run->is_quiet)
            apply_print_line(run->arena, stdout, "%s %.*s", words[item->action],
                             BYTES_FMT(item->summary));
    }
    for (size_t i = 0; i < plan->item_count && code == COMMAND_OK; i++)
        code = execute_steps(run, &plan->items[i], plan->items[i].cleanup_steps,
                             plan->items[i].cleanup_step_count);
    return code;
}

int apply_execute(struct apply_run *run)
{
    size_t done = 0;
    int code = COMMAND_OK;
    for (size_t i = 0; i < run->stack_count && code == COMMAND_OK; i++)
        code = execute_stack(run, run->stacks[i].plan, &done);
    if (code != COMMAND_OK)
        fprintf(stderr,
                "stator: stopped after %zu of %zu changes; nothing was undone, and another run "
                "does the rest\n",
                done, apply_change_count(run));
    return code;
}
