/* expr_text.c -- see expr_text.h. */
#include "expr_text.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/value_json.h"

enum { JSON_DEPTH = 2 * NESTING_DEPTH_MAX + 2, NAMES_MAX = 64, KEY_SIZE = 6 };

/* --- Parameters from JSON --- */

static void read_names(struct arena *arena, const char *json, struct expr_params_input *input)
{
    struct json_reader reader;
    struct bytes *keys = arena_alloc(arena, NAMES_MAX * sizeof *keys);
    struct bytes *values = arena_alloc(arena, NAMES_MAX * sizeof *values);
    struct bytes key;
    json_reader_init(&reader, arena, bytes_from_text(json), JSON_DEPTH);
    bool entered = json_enter_object(&reader);
    assert(entered);
    while (json_next_member(&reader, &key)) {
        struct bytes value;
        bool ok = json_read_string(&reader, &value);
        assert(ok && input->name_count < NAMES_MAX);
        size_t at = input->name_count++; /* Sorted, as the request's reader leaves them. */
        for (; at > 0 && bytes_compare(keys[at - 1], key) > 0; at--) {
            keys[at] = keys[at - 1];
            values[at] = values[at - 1];
        }
        keys[at] = key;
        values[at] = value;
    }
    assert(!json_failed(&reader));
    input->names_present = true;
    input->name_keys = keys;
    input->name_values = values;
}

static const struct item *read_values(struct arena *arena, const char *json)
{
    struct json_reader reader;
    struct error rule, err;
    struct item *item = arena_alloc(arena, sizeof *item);
    error_init(&rule, arena);
    error_init(&err, arena);
    json_reader_init(&reader, arena, bytes_from_text(json), JSON_DEPTH);
    bool ok = item_json_read(&reader, arena, item, &rule, &err);
    assert(ok); /* A rule that the values break is for the request to report. */
    return item;
}

bool expr_text_params(struct arena *arena, const char *names_json, const char *values_json,
                      struct expr_params *params, struct error *err)
{
    struct expr_params_input input = { .names_present = false };
    if (names_json != NULL)
        read_names(arena, names_json, &input);
    if (values_json != NULL)
        input.values = read_values(arena, values_json);
    return expr_params_init(params, arena, &input, err);
}

/* --- Writing --- */

void expr_text_init(struct expr_text *out, struct arena *arena)
{
    *out = (struct expr_text){ .arena = arena };
    buffer_init(&out->text, arena);
    item_builder_init(&out->values, arena);
}

static void put(struct expr_text *out, const char *text)
{
    buffer_append(&out->text, text, strlen(text));
}

static void put_name(struct expr_text *out, struct bytes name)
{
    if (out->name_count == out->name_capacity) {
        size_t old = out->name_capacity * sizeof(struct bytes);
        out->name_capacity = out->name_capacity == 0 ? 16 : out->name_capacity * 2;
        size_t new = out->name_capacity * sizeof(struct bytes);
        out->name_keys = arena_grow(out->arena, out->name_keys, old, new);
        out->names = arena_grow(out->arena, out->names, old, new);
    }
    struct bytes key = arena_printf(out->arena, "#n%04zu", out->name_count);
    out->name_keys[out->name_count] = key;
    out->names[out->name_count++] = name;
    buffer_append_bytes(&out->text, key);
}

static void put_value(struct expr_text *out, const struct value *value)
{
    struct bytes key = arena_printf(out->arena, ":v%04zu", out->values.count);
    item_builder_add(&out->values, key, value->encoded);
    buffer_append_bytes(&out->text, key);
}

static void put_path(struct expr_text *out, const struct path *path)
{
    for (size_t i = 0; i < path->step_count; i++) {
        const struct path_step *step = &path->steps[i];
        if (step->name.data == NULL) {
            buffer_append_bytes(&out->text, arena_printf(out->arena, "[%u]", step->index));
            continue;
        }
        if (i > 0)
            put(out, ".");
        put_name(out, step->name);
    }
}

static void put_operand(struct expr_text *out, const struct operand *operand)
{
    switch (operand->type) {
    case OPERAND_PATH:
        put_path(out, &operand->path);
        break;
    case OPERAND_VALUE:
        put_value(out, &operand->value);
        break;
    case OPERAND_SIZE:
        put(out, "size(");
        put_path(out, &operand->path);
        put(out, ")");
        break;
    case OPERAND_PLUS:
    case OPERAND_MINUS:
        put_operand(out, operand->left);
        put(out, operand->type == OPERAND_PLUS ? "+" : "-");
        put_operand(out, operand->right);
        break;
    case OPERAND_IF_NOT_EXISTS:
        put(out, "if_not_exists(");
        put_path(out, &operand->path);
        put(out, ",");
        put_operand(out, operand->right);
        put(out, ")");
        break;
    case OPERAND_LIST_APPEND:
        put(out, "list_append(");
        put_operand(out, operand->left);
        put(out, ",");
        put_operand(out, operand->right);
        put(out, ")");
        break;
    }
}

static const char *const comparators[] = {
    [COMPARE_EQUAL] = "=",       [COMPARE_NOT_EQUAL] = "<>", [COMPARE_LESS] = "<",
    [COMPARE_LESS_EQUAL] = "<=", [COMPARE_GREATER] = ">",    [COMPARE_GREATER_EQUAL] = ">=",
};

static void put_call(struct expr_text *out, const char *function, const struct condition *condition)
{
    put(out, function);
    for (size_t i = 0; i < condition->operand_count; i++) {
        put(out, i == 0 ? "(" : ",");
        put_operand(out, &condition->operands[i]);
    }
    put(out, ")");
}

static void put_comparison(struct expr_text *out, const struct condition *condition)
{
    put_operand(out, &condition->operands[0]);
    if (condition->type == CONDITION_COMPARE) {
        put(out, comparators[condition->comparator]);
        put_operand(out, &condition->operands[1]);
    } else if (condition->type == CONDITION_BETWEEN) {
        put(out, " BETWEEN ");
        put_operand(out, &condition->operands[1]);
        put(out, " AND ");
        put_operand(out, &condition->operands[2]);
    } else {
        for (size_t i = 1; i < condition->operand_count; i++) {
            put(out, i == 1 ? " IN(" : ",");
            put_operand(out, &condition->operands[i]);
        }
        put(out, ")");
    }
}

static void put_condition(struct expr_text *out, const struct condition *condition);

static void put_grouped(struct expr_text *out, const struct condition *condition, bool grouped)
{
    put(out, grouped ? "(" : "");
    put_condition(out, condition);
    put(out, grouped ? ")" : "");
}

/* The right side of AND and OR is grouped if it is of the same kind: they join from the left. */
static void put_junction(struct expr_text *out, const struct condition *condition)
{
    bool and = condition->type == CONDITION_AND;
    enum condition_type left = condition->left->type, right = condition->right->type;
    put_grouped(out, condition->left, and&&left == CONDITION_OR);
    put(out, and? " AND " : " OR ");
    put_grouped(out, condition->right, right == CONDITION_OR || (and&&right == CONDITION_AND));
}

static void put_condition(struct expr_text *out, const struct condition *condition)
{
    switch (condition->type) {
    case CONDITION_AND:
    case CONDITION_OR:
        put_junction(out, condition);
        break;
    case CONDITION_NOT:
        put(out, "NOT ");
        put_grouped(out, condition->left,
                    condition->left->type == CONDITION_AND ||
                        condition->left->type == CONDITION_OR);
        break;
    case CONDITION_COMPARE:
    case CONDITION_BETWEEN:
    case CONDITION_IN:
        put_comparison(out, condition);
        break;
    case CONDITION_ATTRIBUTE_EXISTS:
        put_call(out, "attribute_exists", condition);
        break;
    case CONDITION_ATTRIBUTE_NOT_EXISTS:
        put_call(out, "attribute_not_exists", condition);
        break;
    case CONDITION_ATTRIBUTE_TYPE:
        put_call(out, "attribute_type", condition);
        break;
    case CONDITION_BEGINS_WITH:
        put_call(out, "begins_with", condition);
        break;
    case CONDITION_CONTAINS:
        put_call(out, "contains", condition);
        break;
    }
}

void expr_text_condition(struct expr_text *out, const struct condition *condition)
{
    put_condition(out, condition);
}

void expr_text_update(struct expr_text *out, const struct update *update)
{
    static const char *const sections[] = {
        [UPDATE_SET] = "SET ",
        [UPDATE_REMOVE] = "REMOVE ",
        [UPDATE_ADD] = "ADD ",
        [UPDATE_DELETE] = "DELETE ",
    };
    for (size_t i = 0; i < update->action_count; i++) {
        const struct update_action *action = &update->actions[i];
        if (i > 0 && action->type == update->actions[i - 1].type) {
            put(out, ",");
        } else {
            put(out, i > 0 ? " " : "");
            put(out, sections[action->type]);
        }
        put_path(out, &action->path);
        if (action->type != UPDATE_REMOVE) {
            put(out, action->type == UPDATE_SET ? "=" : " ");
            put_operand(out, action->operand);
        }
    }
}

void expr_text_projection(struct expr_text *out, const struct projection *projection)
{
    for (size_t i = 0; i < projection->path_count; i++) {
        put(out, i > 0 ? "," : "");
        put_path(out, &projection->paths[i]);
    }
}

void expr_text_key_condition(struct expr_text *out, const struct key_condition *condition)
{
    for (size_t i = 0; i < condition->term_count; i++) {
        const struct key_term *term = &condition->terms[i];
        put(out, i > 0 ? " AND " : "");
        put(out, term->type == KEY_TERM_BEGINS_WITH ? "begins_with(" : "");
        put_name(out, term->name);
        if (term->type == KEY_TERM_COMPARE)
            put(out, comparators[term->comparator]);
        else
            put(out, term->type == KEY_TERM_BETWEEN ? " BETWEEN " : ",");
        put_value(out, &term->values[0]);
        if (term->type == KEY_TERM_BETWEEN) {
            put(out, " AND ");
            put_value(out, &term->values[1]);
        }
        put(out, term->type == KEY_TERM_BEGINS_WITH ? ")" : "");
    }
}

/* --- Reading back --- */

void expr_text_references(struct expr_text *text, struct expr_params *params)
{
    struct item *values = arena_alloc(text->arena, sizeof *values);
    *values = item_builder_finish(&text->values);
    struct expr_params_input input = {
        .names_present = text->name_count > 0,
        .name_keys = text->name_keys,
        .name_values = text->names,
        .name_count = text->name_count,
        .values = values->count > 0 ? values : NULL,
    };
    struct error err;
    error_init(&err, text->arena);
    bool ok = expr_params_init(params, text->arena, &input, &err);
    assert(ok);
}

bool expr_text_equal(struct expr_text *a, struct expr_text *b)
{
    if (!bytes_equal(buffer_bytes(&a->text), buffer_bytes(&b->text)) ||
        a->name_count != b->name_count)
        return false;
    for (size_t i = 0; i < a->name_count; i++) {
        if (!bytes_equal(a->names[i], b->names[i]))
            return false;
    }
    struct item first = item_builder_finish(&a->values), second = item_builder_finish(&b->values);
    return bytes_equal(first.encoded, second.encoded);
}

/* References have a fixed size, so each can be found by its sign. */
struct bytes expr_text_show(struct expr_text *text)
{
    struct buffer out;
    struct json_writer writer;
    struct item values = item_builder_finish(&text->values);
    struct bytes from = buffer_bytes(&text->text);
    size_t name = 0;
    buffer_init(&out, text->arena);
    for (size_t i = 0; i < from.len; i++) {
        if (from.data[i] == '#') {
            buffer_append_bytes(&out, text->names[name++]);
            i += KEY_SIZE - 1;
        } else if (from.data[i] == ':') {
            struct value value;
            bool found = item_find(&values, bytes_of(from.data + i, KEY_SIZE), &value);
            assert(found);
            size_t start = out.len;
            json_writer_init(&writer, &out);
            value_json_write(&writer, &value);
            for (size_t j = start; j < out.len; j++) {
                if (out.data[j] == '"')
                    out.data[j] = '\'';
            }
            i += KEY_SIZE - 1;
        } else {
            buffer_append_byte(&out, from.data[i]);
        }
    }
    return buffer_bytes(&out);
}
