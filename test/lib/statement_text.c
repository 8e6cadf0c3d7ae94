/* statement_text.c -- see statement_text.h. */
#include "statement_text.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/writer.h"
#include "model/value.h"
#include "model/value_json.h"
#include "partiql/statement.h"

struct text {
    struct arena *arena;
    struct buffer out;
    struct statement_text_values *values;
};

static void put(struct text *text, const char *part)
{
    buffer_append(&text->out, part, strlen(part));
}

static void put_quoted(struct text *text, struct bytes name, uint8_t quote)
{
    buffer_append_byte(&text->out, quote);
    for (size_t i = 0; i < name.len; i++) {
        buffer_append_byte(&text->out, name.data[i]);
        if (name.data[i] == quote)
            buffer_append_byte(&text->out, quote);
    }
    buffer_append_byte(&text->out, quote);
}

static void put_name(struct text *text, struct bytes name)
{
    put_quoted(text, name, '"');
}

static void put_value(struct text *text, const struct value *value)
{
    struct statement_text_values *values = text->values;
    if (values == NULL) {
        struct json_writer writer;
        json_writer_init(&writer, &text->out);
        value_json_write(&writer, value);
        return;
    }
    if (values->count == values->capacity) {
        size_t capacity = values->capacity == 0 ? 16 : values->capacity * 2;
        values->items =
            arena_grow(text->arena, values->items, values->capacity * sizeof *values->items,
                       capacity * sizeof *values->items);
        values->capacity = capacity;
    }
    values->items[values->count++] = *value;
    put(text, "?");
}

static void put_path(struct text *text, const struct path *path)
{
    for (size_t i = 0; i < path->step_count; i++) {
        const struct path_step *step = &path->steps[i];
        if (step->name.data == NULL) {
            buffer_append_bytes(&text->out, arena_printf(text->arena, "[%u]", step->index));
            continue;
        }
        put(text, i > 0 ? "." : "");
        put_name(text, step->name);
    }
}

static void put_operand(struct text *text, const struct operand *operand);

static void put_pair(struct text *text, const char *function, const struct operand *left,
                     const struct operand *right)
{
    put(text, function);
    put_operand(text, left);
    put(text, ",");
    put_operand(text, right);
    put(text, ")");
}

static void put_sum(struct text *text, const struct operand *operand)
{
    bool grouped = operand->right->type == OPERAND_PLUS || operand->right->type == OPERAND_MINUS;
    put_operand(text, operand->left);
    put(text, operand->type == OPERAND_PLUS ? "+" : "-");
    put(text, grouped ? "(" : "");
    put_operand(text, operand->right);
    put(text, grouped ? ")" : "");
}

static void put_operand(struct text *text, const struct operand *operand)
{
    struct operand path = { .type = OPERAND_PATH, .path = operand->path };
    switch (operand->type) {
    case OPERAND_PATH:
        put_path(text, &operand->path);
        break;
    case OPERAND_VALUE:
        if (operand->left == NULL) {
            put_value(text, &operand->value);
            break;
        }
        put(text, "size("); /* Of a value: folded. */
        put_operand(text, operand->left);
        put(text, ")");
        break;
    case OPERAND_SIZE:
        put(text, "size(");
        put_path(text, &operand->path);
        put(text, ")");
        break;
    case OPERAND_PLUS:
    case OPERAND_MINUS:
        put_sum(text, operand);
        break;
    case OPERAND_IF_NOT_EXISTS:
        put_pair(text, "if_not_exists(", &path, operand->right);
        break;
    case OPERAND_LIST_APPEND:
        put_pair(text, "list_append(", operand->left, operand->right);
        break;
    }
}

static void put_operands(struct text *text, const char *open, const struct condition *condition,
                         size_t first, const char *close)
{
    put(text, open);
    for (size_t i = first; i < condition->operand_count; i++) {
        put(text, i > first ? "," : "");
        put_operand(text, &condition->operands[i]);
    }
    put(text, close);
}

static const char *const comparators[] = {
    [COMPARE_EQUAL] = "=",       [COMPARE_NOT_EQUAL] = "<>", [COMPARE_LESS] = "<",
    [COMPARE_LESS_EQUAL] = "<=", [COMPARE_GREATER] = ">",    [COMPARE_GREATER_EQUAL] = ">=",
};
static const char *const types[VALUE_TYPE_COUNT] = {
    [VALUE_NULL] = "NULL", [VALUE_BOOL] = "BOOLEAN", [VALUE_S] = "STRING",  [VALUE_L] = "LIST",
    [VALUE_M] = "STRUCT",  [VALUE_B] = "BLOB",       [VALUE_N] = "NUMERIC",
};

static void put_comparison(struct text *text, const struct condition *condition)
{
    put_operand(text, &condition->operands[0]);
    if (condition->type == CONDITION_COMPARE) {
        put(text, comparators[condition->comparator]);
        put_operand(text, &condition->operands[1]);
    } else if (condition->type == CONDITION_BETWEEN) {
        put(text, " BETWEEN ");
        put_operand(text, &condition->operands[1]);
        put(text, " AND ");
        put_operand(text, &condition->operands[2]);
    } else if (condition->type == CONDITION_IN) {
        put_operands(text, " IN [", condition, 1, "]");
    } else {
        assert(condition->type == CONDITION_ATTRIBUTE_TYPE);
        put(text, " IS ");
        put(text, types[condition->attribute_type]);
    }
}

static void put_condition(struct text *text, const struct condition *condition);

static void put_grouped(struct text *text, const struct condition *condition, bool grouped)
{
    put(text, grouped ? "(" : "");
    put_condition(text, condition);
    put(text, grouped ? ")" : "");
}

/* The right side of AND and OR is grouped if it is of the same kind: they join from the left. */
static void put_junction(struct text *text, const struct condition *condition)
{
    bool is_and = condition->type == CONDITION_AND;
    enum condition_type left = condition->left->type, right = condition->right->type;
    put_grouped(text, condition->left, is_and && left == CONDITION_OR);
    put(text, is_and ? " AND " : " OR ");
    put_grouped(text, condition->right,
                right == CONDITION_OR || (is_and && right == CONDITION_AND));
}

static void put_condition(struct text *text, const struct condition *condition)
{
    switch (condition->type) {
    case CONDITION_AND:
    case CONDITION_OR:
        put_junction(text, condition);
        break;
    case CONDITION_NOT:
        put(text, "NOT ");
        put_grouped(text, condition->left,
                    condition->left->type == CONDITION_AND ||
                        condition->left->type == CONDITION_OR);
        break;
    case CONDITION_COMPARE:
    case CONDITION_BETWEEN:
    case CONDITION_IN:
        put_comparison(text, condition);
        break;
    case CONDITION_ATTRIBUTE_TYPE:
        if (condition->operand_count == 1)
            put_comparison(text, condition);
        else
            put_operands(text, "attribute_type(", condition, 0, ")");
        break;
    case CONDITION_ATTRIBUTE_EXISTS:
        put_operands(text, "attribute_exists(", condition, 0, ")");
        break;
    case CONDITION_ATTRIBUTE_NOT_EXISTS:
        put_operands(text, "", condition, 0, " IS MISSING");
        break;
    case CONDITION_BEGINS_WITH:
        put_operands(text, "begins_with(", condition, 0, ")");
        break;
    case CONDITION_CONTAINS:
        put_operands(text, "contains(", condition, 0, ")");
        break;
    }
}

static void put_select(struct text *text, const struct statement *statement)
{
    put(text, "SELECT ");
    put(text, statement->column_count == 0 ? "*" : "");
    for (size_t i = 0; i < statement->column_count; i++) {
        put(text, i > 0 ? "," : "");
        put_path(text, &statement->columns[i].path);
    }
    put(text, " FROM ");
    put_name(text, statement->table_name);
    if (statement->index_name.data != NULL) {
        put(text, ".");
        put_name(text, statement->index_name);
    }
}

static void put_item(struct text *text, const struct item *item)
{
    struct item_iter iter;
    struct bytes name;
    struct value value;
    bool first = true;
    put(text, "{");
    item_iter_init(&iter, item);
    for (; item_iter_next(&iter, &name, &value); first = false) {
        put(text, first ? "" : ",");
        put_quoted(text, name, '\'');
        put(text, ":");
        put_value(text, &value);
    }
    put(text, "}");
}

static void put_action(struct text *text, const struct update_action *action)
{
    put(text, action->type == UPDATE_REMOVE ? " REMOVE " : " SET ");
    put_path(text, &action->path);
    if (action->type == UPDATE_REMOVE)
        return;
    put(text, "=");
    if (action->type == UPDATE_SET) {
        put_operand(text, action->operand);
        return;
    }
    struct operand path = { .type = OPERAND_PATH, .path = action->path };
    put_pair(text, action->type == UPDATE_ADD ? "set_add(" : "set_delete(", &path, action->operand);
}

static void put_tail(struct text *text, const struct statement *statement)
{
    static const char *const returning[] = {
        [RETURNING_NOTHING] = "",
        [RETURNING_ALL_OLD] = " RETURNING ALL OLD *",
        [RETURNING_MODIFIED_OLD] = " RETURNING MODIFIED OLD *",
        [RETURNING_ALL_NEW] = " RETURNING ALL NEW *",
        [RETURNING_MODIFIED_NEW] = " RETURNING MODIFIED NEW *",
    };
    if (statement->where != NULL) {
        put(text, " WHERE ");
        put_condition(text, statement->where);
    }
    for (size_t i = 0; i < statement->order_count; i++) {
        put(text, i == 0 ? " ORDER BY " : ",");
        put_name(text, statement->orders[i].name);
        put(text, statement->orders[i].descending ? " DESC" : "");
    }
    put(text, returning[statement->returning]);
}

struct bytes statement_text_write(struct arena *arena, const struct statement *statement,
                                  struct statement_text_values *values)
{
    struct text text = { .arena = arena, .values = values };
    buffer_init(&text.out, arena);
    switch (statement->type) {
    case STATEMENT_TYPE_SELECT:
        put_select(&text, statement);
        break;
    case STATEMENT_TYPE_EXISTS:
        put(&text, "EXISTS(");
        put_select(&text, statement);
        break;
    case STATEMENT_TYPE_INSERT:
        put(&text, "INSERT INTO ");
        put_name(&text, statement->table_name);
        put(&text, " VALUE ");
        put_item(&text, &statement->item);
        break;
    case STATEMENT_TYPE_UPDATE:
        put(&text, "UPDATE ");
        put_name(&text, statement->table_name);
        for (size_t i = 0; i < statement->update->action_count; i++)
            put_action(&text, &statement->update->actions[i]);
        break;
    case STATEMENT_TYPE_DELETE:
        put(&text, "DELETE FROM ");
        put_name(&text, statement->table_name);
        break;
    }
    put_tail(&text, statement);
    if (statement->type == STATEMENT_TYPE_EXISTS)
        put(&text, ")");
    return buffer_bytes(&text.out);
}
