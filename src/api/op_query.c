/* op_query.c -- Query: the items of one partition key of a table or index, in the order of their
 * sort keys. */
#include <assert.h>
#include "api/item_authorization.h"
#include "api/operation.h"
#include "api/read_expressions.h"
#include "api/read_page.h"
#include "api/read_shapes.h"
#include "api/read_source.h"
#include "expr/ast.h"
#include "expr/key_condition_check.h"
#include "index/index_entry.h"
#include "model/key.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/item_place.h"
#include "table/item_range.h"

/* --- The key condition --- */

/* The key that the condition is on: the table's or the index's. */
struct query_key {
    const struct index_definition *index; /* NULL: the table's. */
    struct key_attribute hash[INDEX_HASH_KEYS_MAX];
    struct key_attribute range[INDEX_RANGE_KEYS_MAX];
    size_t hash_count;
    size_t range_count;
};

static struct query_key key_of(const struct read_source *source)
{
    const struct index_definition *index = source->index;
    struct query_key key = { .index = index };
    if (index == NULL) {
        const struct key_schema *schema = &table_definition(source->table)->key;
        key.hash[key.hash_count++] = schema->hash;
        if (schema->has_range)
            key.range[key.range_count++] = schema->range;
        return key;
    }
    for (; key.hash_count < index->hash_count; key.hash_count++)
        key.hash[key.hash_count] = index->hash[key.hash_count];
    for (; key.range_count < index->range_count; key.range_count++)
        key.range[key.range_count] = index->range[key.range_count];
    return key;
}

static struct key_condition_schema schema_of(const struct query_key *key)
{
    struct key_condition_schema schema = { .hash_count = key->hash_count,
                                           .range_count = key->range_count };
    for (size_t i = 0; i < key->hash_count; i++)
        schema.hash[i] = (struct key_condition_attribute){ key->hash[i].name, key->hash[i].type };
    for (size_t i = 0; i < key->range_count; i++)
        schema.range[i] =
            (struct key_condition_attribute){ key->range[i].name, key->range[i].type };
    return schema;
}

static bool check_not_empty(struct api_call *call, const struct query_key *key,
                            const struct key_attribute *attribute, const struct value *value)
{
    return key->index == NULL
               ? key_check_not_empty(attribute, value, &call->error)
               : index_entry_check_not_empty(key->index, attribute, value, &call->error);
}

static bool check_sort_key_value(struct api_call *call, const struct query_key *key,
                                 const struct key_attribute *attribute, const struct value *value)
{
    return check_not_empty(call, key, attribute, value) &&
           key_check_range_size(value, &call->error);
}

static bool check_values(struct api_call *call, const struct query_key *key,
                         const struct key_condition_plan *plan)
{
    for (size_t i = 0; i < key->hash_count; i++) {
        if (!check_not_empty(call, key, &key->hash[i], &plan->hash[i]->values[0]))
            return false;
    }
    for (size_t i = 0; i < plan->range_count; i++) {
        const struct key_term *term = plan->range[i];
        if (!check_sort_key_value(call, key, &key->range[i], &term->values[0]) ||
            (term->type == KEY_TERM_BETWEEN &&
             !check_sort_key_value(call, key, &key->range[i], &term->values[1])))
            return false;
    }
    return true;
}

static enum item_range_test test_of(const struct key_term *term)
{
    if (term->type == KEY_TERM_BETWEEN)
        return ITEM_RANGE_BETWEEN;
    if (term->type == KEY_TERM_BEGINS_WITH)
        return ITEM_RANGE_BEGINS_WITH;
    switch (term->comparator) {
    case COMPARE_EQUAL:
        return ITEM_RANGE_EQUAL;
    case COMPARE_LESS:
        return ITEM_RANGE_LESS;
    case COMPARE_LESS_EQUAL:
        return ITEM_RANGE_LESS_EQUAL;
    case COMPARE_GREATER:
        return ITEM_RANGE_GREATER;
    case COMPARE_GREATER_EQUAL:
        return ITEM_RANGE_GREATER_EQUAL;
    case COMPARE_NOT_EQUAL:
        break;
    }
    assert(false); /* The parsers refuse it. */
    return ITEM_RANGE_ALL;
}

/* --- What to read --- */

struct query {
    const struct query_request *request;
    struct read_expressions expressions;
    struct read_source source;
    struct item_range range;
    size_t range_count; /* 0: no item can match. */
};

/* ExclusiveStartKey must lie where the pages before could have ended. */
static bool start(struct api_call *call, struct query *query, bool has_condition)
{
    const struct read_request *request = &query->request->read;
    struct item_place place;
    if (!request->exclusive_start_key.present)
        return true;
    if (request->exclusive_start_key.item.count != query->source.key_count)
        return error_validation(&call->error, "The provided starting key is invalid");
    if (!read_source_locate_start(call, &query->source, request, &place))
        return false;
    if (query->range_count == 1 &&
        item_range_start_behind(call->arena, &query->range, place.address.key))
        return true;
    return error_validation(&call->error,
                            has_condition
                                ? "The provided starting key does not match the range key predicate"
                                : "The provided starting key is outside query boundaries based on "
                                  "provided conditions");
}

/* Observed: a partition key that is too long to exist is no error; it has no items. */
static bool can_exist(const struct query_key *key, const struct key_condition_plan *terms)
{
    for (size_t i = 0; i < key->hash_count; i++) {
        if (terms->hash[i]->values[0].data.len > PARTITION_KEY_SIZE_MAX)
            return false;
    }
    return true;
}

/* All terms on the sort key but the last are equalities; the last one is the range's condition. */
static void set_range(struct api_call *call, struct query *query, const struct query_key *key,
                      const struct key_condition_plan *terms)
{
    const struct shape_boolean *forward = &query->request->scan_index_forward;
    struct item_range_condition condition = { .test = ITEM_RANGE_ALL };
    struct item_range_key range_key = { .index = key->index, .hash_count = key->hash_count };
    for (size_t i = 0; i < key->hash_count; i++)
        range_key.hash[i] = &terms->hash[i]->values[0];
    for (size_t i = 0; i + 1 < terms->range_count; i++)
        range_key.equal[range_key.equal_count++] = &terms->range[i]->values[0];
    if (terms->range_count > 0) {
        const struct key_term *last = terms->range[terms->range_count - 1];
        condition = (struct item_range_condition){ .test = test_of(last) };
        condition.values[0] = last->values[0];
        condition.values[1] = last->values[1];
    }
    item_range_of_key(call->arena, table_definition(query->source.table), &range_key, &condition,
                      forward->present && !forward->value, &query->range);
    query->range_count = 1;
}

static bool plan(struct api_call *call, struct query *query)
{
    const struct query_key key = key_of(&query->source);
    const struct key_condition_schema schema = schema_of(&key);
    struct key_condition_plan terms;
    if (!key_condition_check(query->expressions.key_condition, &schema, &terms, &call->error) ||
        !check_values(call, &key, &terms))
        return false;
    if (can_exist(&key, &terms))
        set_range(call, query, &key, &terms);
    return start(call, query, terms.range_count > 0);
}

static bool answer(struct api_call *call, struct query *query)
{
    const struct read_request *request = &query->request->read;
    const struct read_expressions *expressions = &query->expressions;
    struct read_source *source = &query->source;
    if (expressions->key_condition == NULL)
        return error_validation(&call->error, "Either the KeyConditions or KeyConditionExpression "
                                              "parameter must be specified in the request.");
    return expr_params_check_key_paths(&expressions->params, source->key_names,
                                       source->own_key_count, &call->error) &&
           plan(call, query) &&
           read_expressions_check_filter(call, request, expressions, source->key_names,
                                         source->own_key_count) &&
           read_source_check_filter(call, source, expressions->filter) &&
           read_source_check_attributes(call, source, request, expressions) &&
           read_page_answer(call, source, request, expressions, &query->range, query->range_count);
}

static void run(struct api_call *call, const void *input)
{
    struct query query = { .request = input };
    const struct read_request *request = &query.request->read;
    struct table *table = NULL;
    bool ok = read_expressions_check(call, request, query.request, &query.expressions) &&
              read_expressions_compile(call, request, query.request, &query.expressions) &&
              read_source_find(call, request, &table, &query.source) &&
              item_authorization_read(call, &query.source, request, &query.expressions) &&
              answer(call, &query);
    table_release(table);
    if (ok)
        operation_succeed(call);
    else
        operation_fail(call);
}

const struct operation op_query = { .name = "Query",
                                    .kind = OPERATION_DATA,
                                    .request = &query_shape,
                                    .asks = OPERATION_ASKS_ITSELF,
                                    .run = run };
