/* model_command_line.c -- see model_command_line.h.
 *
 * Understands get-item, query, scan, put-item and delete-item with the key conditions that DynamoDB
 * has: `a = :v`, then perhaps one about the sort key. */
#include "schema/model_command_line.h"
#include <strings.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "schema/json_tree.h"
#include "schema/model_file.h"

enum { WORDS_MAX = 64, TERMS_MAX = 16 };

/* --- Words, as a shell splits them --- */

static size_t split_words(struct arena *arena, struct bytes line, struct bytes *words)
{
    size_t count = 0, at = 0;
    while (at < line.len && count < WORDS_MAX) {
        struct buffer word;
        uint8_t quote = 0;
        bool any = false;
        buffer_init(&word, arena);
        for (; at < line.len; at++) {
            uint8_t c = line.data[at];
            if (quote != 0 && c == quote) {
                quote = 0;
            } else if (quote == 0 && (c == '\'' || c == '"')) {
                quote = c;
                any = true;
            } else if (c == '\\' && quote != '\'' && at + 1 < line.len) {
                if (line.data[++at] != '\n')
                    buffer_append_byte(&word, line.data[at]);
            } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
                if (any)
                    break;
            } else {
                buffer_append_byte(&word, c);
                any = true;
            }
        }
        if (any)
            words[count++] = buffer_bytes(&word);
    }
    return count;
}

static struct bytes flag_value(const struct bytes *words, size_t count, const char *flag)
{
    for (size_t i = 0; i + 1 < count; i++) {
        if (bytes_equal_text(words[i], flag))
            return words[i + 1];
    }
    return (struct bytes){ 0 };
}

static bool has_word(const struct bytes *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal_text(words[i], word))
            return true;
    }
    return false;
}

static struct json_node *flag_json(struct arena *arena, const struct bytes *words, size_t count,
                                   const char *flag)
{
    struct bytes text = flag_value(words, count, flag), failure;
    if (text.data == NULL)
        return NULL;
    struct json_node *node = json_tree_parse(arena, text, &failure);
    return node != NULL && node->type == JSON_OBJECT ? node : NULL;
}

/* --- Key conditions --- */

struct condition {
    struct bytes terms[TERMS_MAX]; /* Names, values and signs, without spaces and brackets. */
    size_t count;
    const struct json_node *names;
    const struct json_node *values;
};

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '(' || c == ')' || c == ',';
}

static bool is_sign(uint8_t c)
{
    return c == '=' || c == '<' || c == '>';
}

static bool split_terms(struct bytes text, struct condition *out)
{
    size_t at = 0;
    while (at < text.len) {
        size_t begin = at;
        if (is_space(text.data[at])) {
            at++;
            continue;
        }
        bool sign = is_sign(text.data[at]);
        while (at < text.len && !is_space(text.data[at]) && is_sign(text.data[at]) == sign)
            at++;
        if (out->count == TERMS_MAX)
            return false;
        out->terms[out->count++] = bytes_of(text.data + begin, at - begin);
    }
    return true;
}

static bool is_word(struct bytes term, const char *word)
{
    return term.len == strlen(word) && strncasecmp((const char *)term.data, word, term.len) == 0;
}

static struct bytes name_of(const struct condition *condition, struct bytes term)
{
    const struct json_node *name =
        term.len > 0 && term.data[0] == '#' ? json_tree_member_bytes(condition->names, term) : NULL;
    return name != NULL && name->type == JSON_STRING ? name->text : term;
}

/* The text of {"S": "..."} that a value stands for; data NULL: it is none. */
static struct bytes value_of(const struct condition *condition, struct bytes term)
{
    const struct json_node *value = json_tree_member_bytes(condition->values, term);
    if (value == NULL || value->type != JSON_OBJECT || value->count != 1 ||
        value->first->type != JSON_STRING)
        return (struct bytes){ 0 };
    return value->first->text;
}

static struct json_node *one_member(struct arena *arena, const char *name, struct bytes text)
{
    struct json_node *object = json_tree_new(arena, JSON_OBJECT);
    json_tree_add_text(arena, object, name, text);
    return object;
}

/* The terms from `at` on are about the sort key. */
static struct json_node *sort_condition(struct arena *arena, const struct condition *condition,
                                        size_t at)
{
    static const struct {
        const char *sign, *name;
    } signs[] = { { "=", "Equals" },
                  { "<", "LessThan" },
                  { "<=", "AtMost" },
                  { ">", "GreaterThan" },
                  { ">=", "AtLeast" } };
    const struct bytes *terms = condition->terms + at;
    size_t count = condition->count - at;
    if (count == 3 && is_word(terms[0], "begins_with")) {
        struct bytes value = value_of(condition, terms[2]);
        return value.data == NULL ? NULL : one_member(arena, "BeginsWith", value);
    }
    if (count == 5 && is_word(terms[1], "between")) {
        struct bytes low = value_of(condition, terms[2]), high = value_of(condition, terms[4]);
        struct json_node *object = json_tree_new(arena, JSON_OBJECT);
        struct json_node *bounds = json_tree_new(arena, JSON_ARRAY);
        if (low.data == NULL || high.data == NULL)
            return NULL;
        json_tree_add(bounds, (struct bytes){ 0 }, json_tree_new_string(arena, low));
        json_tree_add(bounds, (struct bytes){ 0 }, json_tree_new_string(arena, high));
        json_tree_add(object, BYTES("Between"), bounds);
        return object;
    }
    for (size_t i = 0; count == 3 && i < COUNT_OF(signs); i++) {
        struct bytes value = value_of(condition, terms[2]);
        if (bytes_equal_text(terms[1], signs[i].sign) && value.data != NULL)
            return one_member(arena, signs[i].name, value);
    }
    return NULL;
}

/* Adds PartitionKey and SortKey. */
static bool add_condition(struct arena *arena, struct bytes text, const struct json_node *names,
                          const struct json_node *values, struct json_node *pattern)
{
    struct condition condition = { .names = names, .values = values };
    if (!split_terms(text, &condition) || condition.count < 3 ||
        !bytes_equal_text(condition.terms[1], "="))
        return false;
    struct bytes hash = value_of(&condition, condition.terms[2]);
    if (hash.data == NULL || name_of(&condition, condition.terms[0]).len == 0)
        return false;
    json_tree_add_text(arena, pattern, "PartitionKey", hash);
    if (condition.count == 3)
        return true;
    struct json_node *sort =
        is_word(condition.terms[3], "and") ? sort_condition(arena, &condition, 4) : NULL;
    if (sort == NULL)
        return false;
    json_tree_add(pattern, BYTES("SortKey"), sort);
    return true;
}

/* --- Keys of items --- */

static const struct json_node *find_table(const struct json_node *root, struct bytes name)
{
    const struct json_node *tables = json_tree_member(root, "DataModel");
    for (const struct json_node *at = tables->first; at != NULL; at = at->next) {
        if (bytes_equal(json_tree_string(at, "TableName"), name))
            return at;
    }
    return NULL;
}

static bool add_key(struct arena *arena, const struct json_node *key, const struct json_node *table,
                    struct json_node *pattern)
{
    static const char *const roles[] = { "PartitionKey", "SortKey" };
    const struct json_node *keys = json_tree_member(table, "KeyAttributes");
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        struct bytes name = json_tree_string(json_tree_member(keys, roles[i]), "AttributeName");
        if (name.data == NULL)
            continue;
        const struct json_node *value = json_tree_member_bytes(key, name);
        if (value == NULL || value->type != JSON_OBJECT || value->count != 1 ||
            value->first->type != JSON_STRING)
            return false;
        json_tree_add_text(arena, pattern, roles[i], value->first->text);
    }
    return true;
}

/* --- Patterns --- */

static const char *operation_of(const struct bytes *words, size_t count)
{
    static const struct {
        const char *command, *operation;
    } commands[] = {
        { "get-item", "GetItem" },
        { "query", "Query" },
        { "scan", "Scan" },
        { "put-item", "PutItem" },
        { "delete-item", "DeleteItem" },
    };
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        if (has_word(words, count, commands[i].command))
            return commands[i].operation;
    }
    return NULL;
}

static struct json_node *not_understood(struct bytes *why)
{
    *why = BYTES("the pattern's command is not understood: the pattern is left out");
    return NULL;
}

static bool is_text(const struct json_node *pattern, const char *name, const char *text)
{
    struct bytes value = json_tree_string(pattern, name);
    return value.data != NULL && bytes_equal_text(value, text);
}

static bool add_request(struct arena *arena, const struct bytes *words, size_t count,
                        const struct json_node *table, struct json_node *pattern)
{
    struct json_node *names = flag_json(arena, words, count, "--expression-attribute-names");
    struct json_node *values = flag_json(arena, words, count, "--expression-attribute-values");
    struct json_node *key = flag_json(arena, words, count, "--key");
    struct json_node *item = flag_json(arena, words, count, "--item");
    struct bytes condition = flag_value(words, count, "--key-condition-expression");
    struct bytes filter = flag_value(words, count, "--filter-expression");
    if (is_text(pattern, "Operation", "Query"))
        return condition.data != NULL && filter.data == NULL &&
               add_condition(arena, condition, names, values, pattern);
    if (is_text(pattern, "Operation", "PutItem")) {
        if (item != NULL)
            json_tree_add(pattern, BYTES("Item"), item);
        return item != NULL;
    }
    if (is_text(pattern, "Operation", "Scan"))
        return filter.data == NULL;
    return key != NULL && add_key(arena, key, table, pattern);
}

struct json_node *model_command_line_pattern(struct arena *arena, const struct json_node *source,
                                             const struct json_node *root, struct bytes *why)
{
    struct bytes words[WORDS_MAX];
    struct bytes line = json_tree_string(source, "implementation");
    struct bytes table_name = json_tree_string(source, "table");
    struct bytes index = json_tree_string(source, "index");
    struct bytes name = json_tree_string(source, "description");
    if (name.data == NULL || name.len == 0 || name.len > MODEL_NAME_SIZE_MAX)
        name = json_tree_string(source, "pattern");
    if (name.data == NULL || name.len == 0 || name.len > MODEL_NAME_SIZE_MAX)
        name = BYTES("imported");
    size_t count = line.data == NULL ? 0 : split_words(arena, line, words);
    const char *operation = operation_of(words, count);
    if (table_name.data == NULL)
        table_name = flag_value(words, count, "--table-name");
    if (index.data == NULL)
        index = flag_value(words, count, "--index-name");
    const struct json_node *table = table_name.data == NULL ? NULL : find_table(root, table_name);
    if (operation == NULL || table == NULL)
        return not_understood(why);
    struct json_node *pattern = json_tree_new(arena, JSON_OBJECT);
    json_tree_add_text(arena, pattern, "Name", name);
    json_tree_add_text(arena, pattern, "Table", table_name);
    if (index.data != NULL)
        json_tree_add_text(arena, pattern, "Index", index);
    json_tree_add_text(arena, pattern, "Operation", bytes_from_text(operation));
    return add_request(arena, words, count, table, pattern) ? pattern : not_understood(why);
}
