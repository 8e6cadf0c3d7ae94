/* partiql_plan.c -- see partiql_plan.h. */
#include "api/partiql/partiql_plan.h"
#include <assert.h>
#include "api/operation.h"
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/condition.h"
#include "expr/key_condition.h"
#include "expr/operand_rules.h"
#include "model/error.h"
#include "model/item.h"
#include "model/key.h"
#include "model/table_definition.h"
#include "partiql/statement.h"
#include "read/read_range.h"
#include "read/read_source.h"
#include "table/catalogue.h"
#include "table/item_range.h"

/* --- Terms --- */

/* In the order of the text. */
struct terms {
    const struct condition **items;
    size_t count;
};

/* `where` is NULL if the statement has none. */
static struct terms terms_of(struct arena *arena, const struct condition *where)
{
    enum { TERMS_MAX = OPERAND_RULES_OPERATORS_MAX + 1 }; /* One more than there are operators. */
    const struct condition *waiting[TERMS_MAX];
    struct terms terms = { .count = 0 };
    size_t count = 0;
    if (where == NULL)
        return terms;
    terms.items = arena_alloc(arena, TERMS_MAX * sizeof(*terms.items));
    waiting[count++] = where;
    while (count > 0) {
        const struct condition *condition = waiting[--count];
        if (condition->type == CONDITION_AND) {
            assert(count + 2 <= TERMS_MAX);
            waiting[count++] = condition->right;
            waiting[count++] = condition->left;
        } else {
            assert(terms.count < TERMS_MAX);
            terms.items[terms.count++] = condition;
        }
    }
    return terms;
}

/* Is the operand the whole attribute of that name? */
static bool is_attribute(const struct operand *operand, struct bytes name)
{
    return operand->type == OPERAND_PATH && operand->path.step_count == 1 &&
           bytes_equal(operand->path.steps[0].name, name);
}

/* The value that the term says the attribute is equal to; NULL if it says something else. */
static const struct value *equal_value(const struct condition *term, struct bytes name)
{
    if (term->type != CONDITION_COMPARE || term->comparator != COMPARE_EQUAL)
        return NULL;
    for (size_t i = 0; i < 2; i++) {
        if (is_attribute(&term->operands[i], name) && term->operands[1 - i].type == OPERAND_VALUE)
            return &term->operands[1 - i].value;
    }
    return NULL;
}

bool partiql_plan_check_type(const struct key_attribute *attribute, const struct value *value,
                             struct error *err)
{
    return value->type == attribute->type ||
           error_validation(err,
                            "Key attribute's data type should match its data type in table's "
                            "schema: Key %.*s",
                            BYTES_FMT(attribute->name));
}

/* The one value that the terms give to a key attribute. */
static bool add_attribute(const struct terms *terms, const struct key_attribute *attribute,
                          struct item_builder *key, struct error *err)
{
    const struct value *found = NULL;
    for (size_t i = 0; i < terms->count; i++) {
        const struct value *value = equal_value(terms->items[i], attribute->name);
        if (value == NULL)
            continue;
        if (found != NULL)
            return error_validation(err,
                                    "Multiple conditions on same key %.*s. Only single item "
                                    "Update/Insert/Delete are supported",
                                    BYTES_FMT(attribute->name));
        found = value;
    }
    if (found == NULL)
        return error_validation(
            err, "Where clause does not contain a mandatory equality on all key attributes");
    if (!partiql_plan_check_type(attribute, found, err))
        return false;
    item_builder_add(key, attribute->name, found->encoded);
    return true;
}

bool partiql_plan_key(struct arena *arena, const struct condition *where,
                      const struct key_schema *schema, struct item *key, struct error *err)
{
    struct terms terms = terms_of(arena, where);
    struct item_builder builder;
    item_builder_init(&builder, arena);
    if (!add_attribute(&terms, &schema->hash, &builder, err) ||
        (schema->has_range && !add_attribute(&terms, &schema->range, &builder, err)))
        return false;
    *key = item_builder_finish(&builder);
    return true;
}

static size_t count_equalities(const struct terms *terms, struct bytes name)
{
    size_t count = 0;
    for (size_t i = 0; i < terms->count; i++)
        count += equal_value(terms->items[i], name) != NULL;
    return count;
}

enum partiql_key_form partiql_plan_key_form(struct arena *arena, const struct condition *where,
                                            const struct key_schema *schema)
{
    struct terms terms = terms_of(arena, where);
    if (count_equalities(&terms, schema->hash.name) != 1 ||
        (schema->has_range && count_equalities(&terms, schema->range.name) != 1))
        return PARTIQL_KEY_OPEN;
    return terms.count == (schema->has_range ? 2 : 1) ? PARTIQL_KEY_WHOLE : PARTIQL_KEY_AND_MORE;
}

/* --- Plans --- */

/* The values that a key attribute may have. */
struct values {
    const struct value **items;
    size_t count;
    size_t capacity;
};
enum { VALUES_CAPACITY_MIN = 8, SETS_MAX = INDEX_HASH_KEYS_MAX + INDEX_RANGE_KEYS_MAX };

/* How the items are to be ordered. */
enum direction { AS_WRITTEN, ASCENDING, DESCENDING };
struct order {
    enum direction hash[INDEX_HASH_KEYS_MAX]; /* Of the values of each attribute. */
    enum direction range; /* One for all attributes, since a range is read from one end. */
};

struct planner {
    struct api_call *call;
    const struct read_source *source;
    struct read_key key;
    struct terms terms;
    struct order order;
    /* For each key attribute in order: the values that it may be equal to. */
    struct values sets[SETS_MAX];
    size_t set_count;
    size_t range_count; /* The product of the sets' sizes. */
    bool has_last;
    struct key_term last; /* The condition on the next key attribute. */
};

/* --- Values --- */

/* Adds a value unless it is there already. */
static void add_value(struct arena *arena, struct values *values, const struct value *value)
{
    for (size_t i = 0; i < values->count; i++) {
        if (bytes_equal(values->items[i]->encoded, value->encoded))
            return;
    }
    if (values->count == values->capacity) {
        size_t capacity = values->capacity == 0 ? VALUES_CAPACITY_MIN : values->capacity * 2;
        values->items = arena_grow(arena, values->items, values->capacity * sizeof(*values->items),
                                   capacity * sizeof(*values->items));
        values->capacity = capacity;
    }
    values->items[values->count++] = value;
}

/* Collects the values if the condition only says which ones the attribute may have; otherwise
 * returns false. Recursion is bounded by the nesting that the parser allows. */
static bool collect_values(struct arena *arena, const struct condition *condition,
                           struct bytes name, struct values *out)
{
    if (condition->type == CONDITION_OR)
        return collect_values(arena, condition->left, name, out) &&
               collect_values(arena, condition->right, name, out);
    const struct value *equal = equal_value(condition, name);
    if (equal != NULL) {
        add_value(arena, out, equal);
        return true;
    }
    if (condition->type != CONDITION_IN || !is_attribute(&condition->operands[0], name))
        return false;
    for (size_t i = 1; i < condition->operand_count; i++) {
        if (condition->operands[i].type != OPERAND_VALUE)
            return false;
        add_value(arena, out, &condition->operands[i].value);
    }
    return true;
}

static bool find_values(struct arena *arena, const struct terms *terms, struct bytes name,
                        struct values *out)
{
    for (size_t i = 0; i < terms->count; i++) {
        *out = (struct values){ .count = 0 };
        if (collect_values(arena, terms->items[i], name, out))
            return true;
    }
    return false;
}

/* The values of all terms, not only of the first suitable one, because it is not known here which
 * term a write uses. */
static struct values all_values(struct arena *arena, const struct terms *terms, struct bytes name)
{
    struct values all = { .count = 0 };
    for (size_t i = 0; i < terms->count; i++) {
        struct values of_term = { .count = 0 };
        if (!collect_values(arena, terms->items[i], name, &of_term))
            continue;
        for (size_t j = 0; j < of_term.count; j++)
            add_value(arena, &all, of_term.items[j]);
    }
    return all;
}

bool partiql_plan_partitions(struct arena *arena, const struct condition *where,
                             const struct key_attribute *hash, size_t hash_count,
                             struct partiql_values out[INDEX_HASH_KEYS_MAX])
{
    struct terms terms = terms_of(arena, where);
    size_t range_count = hash_count > 0;
    for (size_t i = 0; i < hash_count; i++) {
        struct values all = all_values(arena, &terms, hash[i].name);
        struct values first = { .count = 0 };
        out[i] = (struct partiql_values){ all.items, all.count };
        range_count *= find_values(arena, &terms, hash[i].name, &first) ? first.count : 0;
        if (range_count > PARTIQL_PLAN_RANGES_MAX)
            range_count = 0;
    }
    return range_count > 0;
}

static bool check_types(struct planner *planner, const struct key_attribute *attribute,
                        const struct values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        if (!partiql_plan_check_type(attribute, values->items[i], &planner->call->error))
            return false;
    }
    return true;
}

/* An insertion sort: there are few values. Encoded numbers are ordered by their bytes, like all
 * keys. */
static void sort_values(struct values *values, bool descending)
{
    for (size_t i = 1; i < values->count; i++) {
        const struct value *value = values->items[i];
        size_t at = i;
        for (; at > 0; at--) {
            int order = bytes_compare(values->items[at - 1]->data, value->data);
            if (descending ? order >= 0 : order <= 0)
                break;
            values->items[at] = values->items[at - 1];
        }
        values->items[at] = value;
    }
}

/* --- Conditions on the sort key --- */

/* Comparisons, BETWEEN and begins_with. */
static bool make_term(const struct condition *condition, struct bytes name, struct key_term *out)
{
    const struct operand *operands = condition->operands;
    *out = (struct key_term){ .name = name };
    switch (condition->type) {
    case CONDITION_COMPARE:
        if (condition->comparator == COMPARE_NOT_EQUAL)
            return false;
        for (size_t i = 0; i < 2; i++) {
            if (!is_attribute(&operands[i], name) || operands[1 - i].type != OPERAND_VALUE)
                continue;
            out->type = KEY_TERM_COMPARE;
            out->comparator =
                i == 0 ? condition->comparator : condition_turned(condition->comparator);
            out->values[0] = operands[1 - i].value;
            return true;
        }
        return false;
    case CONDITION_BETWEEN:
        out->type = KEY_TERM_BETWEEN;
        out->values[0] = operands[1].value;
        out->values[1] = operands[2].value;
        return is_attribute(&operands[0], name) && operands[1].type == OPERAND_VALUE &&
               operands[2].type == OPERAND_VALUE;
    case CONDITION_BEGINS_WITH:
        out->type = KEY_TERM_BEGINS_WITH;
        out->values[0] = operands[1].value;
        return is_attribute(&operands[0], name) && operands[1].type == OPERAND_VALUE;
    default:
        return false;
    }
}

static bool find_last(struct planner *planner, const struct key_attribute *attribute)
{
    for (size_t i = 0; i < planner->terms.count && !planner->has_last; i++)
        planner->has_last = make_term(planner->terms.items[i], attribute->name, &planner->last);
    if (!planner->has_last)
        return true;
    return partiql_plan_check_type(attribute, &planner->last.values[0], &planner->call->error) &&
           (planner->last.type != KEY_TERM_BETWEEN ||
            partiql_plan_check_type(attribute, &planner->last.values[1], &planner->call->error));
}

/* --- Sets --- */

static void add_set(struct planner *planner, const struct values *values)
{
    assert(planner->set_count < SETS_MAX);
    planner->sets[planner->set_count++] = *values;
    planner->range_count *= values->count;
}

/* False if it is a Scan; the error may be set. */
static bool add_hash_sets(struct planner *planner)
{
    planner->range_count = 1;
    for (size_t i = 0; i < planner->key.hash_count; i++) {
        const struct key_attribute *attribute = &planner->key.hash[i];
        struct values values;
        if (!find_values(planner->call->arena, &planner->terms, attribute->name, &values) ||
            !check_types(planner, attribute, &values) ||
            planner->range_count * values.count > PARTIQL_PLAN_RANGES_MAX)
            return false;
        if (planner->order.hash[i] != AS_WRITTEN)
            sort_values(&values, planner->order.hash[i] == DESCENDING);
        add_set(planner, &values);
    }
    return true;
}

/* Equalities from the first attribute of the sort key on, then perhaps one other condition. */
static bool add_range_sets(struct planner *planner)
{
    for (size_t i = 0; i < planner->key.range_count; i++) {
        const struct key_attribute *attribute = &planner->key.range[i];
        struct values values;
        if (!find_values(planner->call->arena, &planner->terms, attribute->name, &values))
            return find_last(planner, attribute);
        if (!check_types(planner, attribute, &values))
            return false;
        if (planner->range_count * values.count > PARTIQL_PLAN_RANGES_MAX)
            return true;
        sort_values(&values, planner->order.range == DESCENDING);
        add_set(planner, &values);
    }
    return true;
}

/* --- Ranges --- */

/* Adds the range of one choice of values: `choice[i]` is the index of the value within set i. */
static bool add_range(struct planner *planner, const size_t choice[SETS_MAX],
                      struct partiql_plan *out)
{
    assert(out->range_count < planner->range_count);
    struct key_term terms[SETS_MAX];
    struct key_condition_plan plan = { .range_count = 0 };
    size_t hash_count = planner->key.hash_count;
    for (size_t i = 0; i < planner->set_count; i++) {
        terms[i] = (struct key_term){ .type = KEY_TERM_COMPARE, .comparator = COMPARE_EQUAL };
        terms[i].values[0] = *planner->sets[i].items[choice[i]];
        if (i < hash_count)
            plan.hash[i] = &terms[i];
        else
            plan.range[plan.range_count++] = &terms[i];
    }
    if (planner->has_last)
        plan.range[plan.range_count++] = &planner->last;
    if (!read_range_check_values(&planner->key, &plan, &planner->call->error))
        return false;
    if (read_range_of_plan(planner->call->arena, planner->source, &planner->key, &plan,
                           planner->order.range == DESCENDING, &out->ranges[out->range_count]))
        out->range_count++;
    return true;
}

/* Adds the ranges of all choices, varying the last set fastest. */
static bool add_ranges(struct planner *planner, struct partiql_plan *out)
{
    size_t choice[SETS_MAX] = { 0 };
    out->ranges = arena_alloc(planner->call->arena, planner->range_count * sizeof *out->ranges);
    for (size_t n = 0; n < planner->range_count; n++) {
        if (!add_range(planner, choice, out))
            return false;
        for (size_t i = planner->set_count; i-- > 0;) {
            if (++choice[i] < planner->sets[i].count)
                break;
            choice[i] = 0;
        }
    }
    return true;
}

static void scan(struct planner *planner, struct partiql_plan *out)
{
    const struct item_range_segment all = { .index = 0, .total = 1 };
    out->range_count = item_range_of_segment(planner->call->arena, planner->source->table,
                                             planner->source->index, &all, &out->ranges);
}

/* --- ORDER BY --- */

/* The index of the attribute of that name; `count` if there is none. */
static size_t find_attribute(const struct key_attribute *attributes, size_t count,
                             struct bytes name)
{
    size_t i = 0;
    while (i < count && !bytes_equal(attributes[i].name, name))
        i++;
    return i;
}

static bool add_order(struct planner *planner, const struct statement_order *order)
{
    const struct read_key *key = &planner->key;
    enum direction direction = order->descending ? DESCENDING : ASCENDING;
    size_t hash = find_attribute(key->hash, key->hash_count, order->name);
    if (hash < key->hash_count) {
        planner->order.hash[hash] = direction;
        return true;
    }
    if (find_attribute(key->range, key->range_count, order->name) == key->range_count)
        return error_validation(&planner->call->error,
                                "Variable reference %.*s in ORDER BY clause must be part of the "
                                "primary key",
                                BYTES_FMT(order->name));
    if (planner->order.range != AS_WRITTEN && planner->order.range != direction)
        return error_validation(&planner->call->error,
                                "The attributes of a sort key in ORDER BY clause must be in the "
                                "same order");
    planner->order.range = direction;
    return true;
}

static bool read_order(struct planner *planner, const struct statement *statement)
{
    if (statement->order_count > 0 && statement->where == NULL)
        return error_validation(
            &planner->call->error,
            "Must have WHERE clause in the statement when using ORDER BY clause.");
    for (size_t i = 0; i < statement->order_count; i++) {
        if (!add_order(planner, &statement->orders[i]))
            return false;
    }
    return true;
}

bool partiql_plan_make(struct api_call *call, const struct read_source *source,
                       const struct statement *statement, struct partiql_plan *out)
{
    assert(statement->type == STATEMENT_TYPE_SELECT);
    struct planner planner = { .call = call,
                               .source = source,
                               .key = read_range_key(source),
                               .terms = terms_of(call->arena, statement->where) };
    *out = (struct partiql_plan){ .range_count = 0 };
    if (!read_order(&planner, statement))
        return false;
    out->is_query = add_hash_sets(&planner);
    if (out->is_query)
        return add_range_sets(&planner) && add_ranges(&planner, out);
    if (error_is_set(&call->error))
        return false;
    if (statement->order_count > 0)
        return error_validation(&call->error, "Must have at least one non-optional hash key "
                                              "condition in WHERE clause when using ORDER BY "
                                              "clause.");
    scan(&planner, out);
    return true;
}
