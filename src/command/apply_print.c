/* apply_print.c -- plans for people and as JSON. See apply.h. */
#include <stdarg.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "command/answer.h"
#include "command/apply.h"
#include "json/writer.h"

enum { NAME_WIDTH_MAX = 32 };

static const char *const signs[] = {
    [PLAN_NOTHING] = " ", [PLAN_CREATE] = "+", [PLAN_UPDATE] = "~", [PLAN_REPLACE] = "-/+",
    [PLAN_DELETE] = "-",  [PLAN_RETAIN] = " ", [PLAN_SKIP] = " ",   [PLAN_REFUSE] = "!",
};

void apply_print_line(struct arena *arena, FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct bytes text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    struct bytes shown = answer_clean(arena, text);
    fprintf(out, "%.*s\n", BYTES_FMT(shown));
}

/* "1,204" */
static struct bytes grouped(struct arena *arena, uint64_t number)
{
    char digits[32], out[48];
    int size = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number), length = 0;
    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0)
            out[length++] = ',';
        out[length++] = digits[i];
    }
    return arena_copy(arena, bytes_of(out, (size_t)length));
}

static struct bytes describe(struct arena *arena, const struct plan_item *item)
{
    struct bytes reason =
        item->change_count > 0 ? item->changes[item->change_count - 1].text : BYTES("");
    switch (item->action) {
    case PLAN_NOTHING:
        return arena_printf(arena, "no change of %.*s", BYTES_FMT(item->summary));
    case PLAN_CREATE:
        return arena_printf(arena, "create %.*s", BYTES_FMT(item->summary));
    case PLAN_UPDATE:
        return arena_printf(arena, "update %.*s", BYTES_FMT(item->summary));
    case PLAN_REPLACE:
        return arena_printf(arena, "REPLACE: %.*s; %.*s items would be lost%s%.*s%s",
                            BYTES_FMT(reason), BYTES_FMT(grouped(arena, item->item_count)),
                            item->refusal.data != NULL ? " (" : "",
                            BYTES_FMT(item->refusal.data != NULL ? item->refusal : BYTES("")),
                            item->refusal.data != NULL ? ")" : "");
    case PLAN_DELETE:
        return arena_printf(arena, "DELETE %.*s; %.*s items would be lost",
                            BYTES_FMT(item->summary), BYTES_FMT(grouped(arena, item->item_count)));
    case PLAN_RETAIN:
        return arena_printf(arena, "retained: %.*s", BYTES_FMT(item->summary));
    case PLAN_SKIP:
        return arena_printf(arena, "skipped: %.*s", BYTES_FMT(item->summary));
    case PLAN_REFUSE:
        return arena_printf(arena, "refused: %.*s", BYTES_FMT(item->refusal));
    }
    return BYTES("");
}

static void print_heading(struct arena *arena, const struct apply_stack *stack)
{
    size_t tables = 0, others = 0, foreign = 0;
    struct bytes more = BYTES("");
    for (size_t i = 0; i < stack->result->resource_count; i++) {
        enum template_kind kind = stack->result->resources[i].kind;
        tables += kind == TEMPLATE_KIND_TABLE;
        foreign += kind == TEMPLATE_KIND_FOREIGN;
        others += kind != TEMPLATE_KIND_TABLE && kind != TEMPLATE_KIND_FOREIGN;
    }
    if (others > 0)
        more = arena_printf(arena, ", %zu of scaling and monitoring", others);
    if (foreign > 0)
        more = arena_printf(arena, "%.*s, %zu of another service", BYTES_FMT(more), foreign);
    apply_print_line(arena, stdout, "stack %.*s (%.*s, %zu resource%s: %zu table%s%.*s)",
                     BYTES_FMT(stack->name), BYTES_FMT(stack->file), stack->result->resource_count,
                     stack->result->resource_count == 1 ? "" : "s", tables, tables == 1 ? "" : "s",
                     BYTES_FMT(more));
}

static void print_stack(struct arena *arena, const struct apply_stack *stack)
{
    int width = 0;
    print_heading(arena, stack);
    for (size_t i = 0; i < stack->plan->item_count; i++) {
        size_t size = stack->plan->items[i].logical_id.len;
        if ((int)size > width && size <= NAME_WIDTH_MAX)
            width = (int)size;
    }
    for (size_t i = 0; i < stack->plan->item_count; i++) {
        const struct plan_item *item = &stack->plan->items[i];
        apply_print_line(arena, stdout, "%-3s %-*.*s  %.*s", signs[item->action], width,
                         BYTES_FMT(item->logical_id), BYTES_FMT(describe(arena, item)));
        for (size_t k = 0; item->action != PLAN_REPLACE && k < item->change_count; k++)
            apply_print_line(arena, stdout, "      %s %.*s",
                             item->changes[k].sign == '!' ? "-/+"
                                                          : (char[]){ item->changes[k].sign, '\0' },
                             BYTES_FMT(item->changes[k].text));
    }
    for (size_t i = 0; i < stack->result->notice_count; i++) {
        const struct template_notice *notice = &stack->result->notices[i];
        if (!bytes_starts_with(notice->message, BYTES("skipped: ")) ||
            notice->logical_id.data == NULL)
            apply_print_line(
                arena, stdout, "note: %.*s:%u: %.*s%s%.*s", BYTES_FMT(notice->file), notice->line,
                BYTES_FMT(notice->logical_id.data == NULL ? BYTES("") : notice->logical_id),
                notice->logical_id.data == NULL ? "" : ": ", BYTES_FMT(notice->message));
    }
}

void apply_print_plan(const struct apply_run *run)
{
    for (size_t i = 0; i < run->stack_count; i++)
        print_stack(run->arena, &run->stacks[i]);
}

void apply_print_outputs(const struct apply_run *run)
{
    for (size_t i = 0; i < run->stack_count; i++) {
        const struct template_result *result = run->stacks[i].result;
        for (size_t k = 0; k < result->output_count; k++) {
            const struct template_output *output = &result->outputs[k];
            if (!output->is_foreign)
                apply_print_line(
                    run->arena, stdout, "%.*s.%.*s = %.*s", BYTES_FMT(run->stacks[i].name),
                    BYTES_FMT(output->name),
                    BYTES_FMT(output->is_pending ? BYTES("(not known)") : output->value));
        }
    }
}

/* --- JSON --- */

static void write_member(struct json_writer *json, const char *name, struct bytes value)
{
    if (value.data == NULL)
        return;
    json_write_name(json, name);
    json_write_string(json, value);
}

static void write_item(struct json_writer *json, const struct plan_item *item)
{
    static const char *const actions[] = {
        [PLAN_NOTHING] = "None",    [PLAN_CREATE] = "Create", [PLAN_UPDATE] = "Update",
        [PLAN_REPLACE] = "Replace", [PLAN_DELETE] = "Delete", [PLAN_RETAIN] = "Retain",
        [PLAN_SKIP] = "Skip",       [PLAN_REFUSE] = "Refuse",
    };
    json_open_object(json);
    write_member(json, "Action", bytes_from_text(actions[item->action]));
    write_member(json, "LogicalId", item->logical_id);
    write_member(json, "Type", item->type);
    write_member(json, "PhysicalId", item->physical_id);
    write_member(json, "Refusal", item->refusal);
    json_write_name(json, "Changes");
    json_open_array(json);
    for (size_t i = 0; i < item->change_count; i++) {
        json_open_object(json);
        write_member(json, "Sign", bytes_of(&item->changes[i].sign, 1));
        write_member(json, "Property", item->changes[i].property);
        write_member(json, "Text", item->changes[i].text);
        json_close_object(json);
    }
    json_close_array(json);
    json_write_name(json, "Requests");
    json_open_array(json);
    for (size_t i = 0; i < item->step_count + item->cleanup_step_count; i++) {
        const struct plan_step *step =
            i < item->step_count ? &item->steps[i] : &item->cleanup_steps[i - item->step_count];
        json_open_object(json);
        write_member(json, "Operation", bytes_from_text(step->operation));
        json_write_name(json, "Body");
        json_write_raw(json, step->body);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void write_result(struct json_writer *json, const struct template_result *result)
{
    json_write_name(json, "Notices");
    json_open_array(json);
    for (size_t i = 0; i < result->notice_count; i++) {
        json_open_object(json);
        write_member(json, "LogicalId", result->notices[i].logical_id);
        json_write_name(json, "Line");
        json_write_integer(json, result->notices[i].line);
        write_member(json, "Message", result->notices[i].message);
        json_close_object(json);
    }
    json_close_array(json);
    json_write_name(json, "Outputs");
    json_open_object(json);
    for (size_t i = 0; i < result->output_count; i++) {
        json_write_name_bytes(json, result->outputs[i].name);
        if (result->outputs[i].is_pending || result->outputs[i].is_foreign)
            json_write_null(json);
        else
            json_write_string(json, result->outputs[i].value);
    }
    json_close_object(json);
}

void apply_print_json(const struct apply_run *run, bool is_applied)
{
    struct buffer out;
    struct json_writer json;
    buffer_init(&out, run->arena);
    json_writer_init(&json, &out);
    json_open_object(&json);
    json_write_name(&json, "Applied");
    json_write_bool(&json, is_applied);
    json_write_name(&json, "Stacks");
    json_open_array(&json);
    for (size_t i = 0; i < run->stack_count; i++) {
        const struct apply_stack *stack = &run->stacks[i];
        json_open_object(&json);
        write_member(&json, "Stack", stack->name);
        write_member(&json, "File", stack->file);
        json_write_name(&json, "Items");
        json_open_array(&json);
        for (size_t k = 0; k < stack->plan->item_count; k++)
            write_item(&json, &stack->plan->items[k]);
        json_close_array(&json);
        write_result(&json, stack->result);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    printf("%.*s\n", BYTES_FMT(buffer_bytes(&out)));
}
