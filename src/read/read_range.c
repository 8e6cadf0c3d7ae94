/* read_range.c -- see read_range.h. */
#include "read/read_range.h"
#include <assert.h>
#include "read/read_source.h"
#include "expr/ast.h"
#include "expr/key_condition.h"
#include "index/index_entry.h"
#include "model/table_definition.h"
#include "table/item_range.h"

struct read_key read_range_key(const struct read_source *source)
{
    const struct index_definition *index = source->index;
    struct read_key key = { .index = index };
    if (index == NULL) {
        const struct key_schema *schema = &source->table->key;
        key.hash[key.hash_count++] = schema->hash;
        if (schema->has_range)
            key.range[key.range_count++] = schema->range;
        return key;
    }
    for (; key.hash_count < index->hash_count; key.hash_count++)
        key.hash[key.hash_count] = index->hash[key.hash_count];
    for (; key.range_count < index->range_count; key.range_count++)
        key.range[key.range_count] = index->range[key.range_count];
    assert(key.hash_count > 0);
    return key;
}

struct key_condition_schema read_range_schema(const struct read_key *key)
{
    assert(key->hash_count > 0);
    struct key_condition_schema schema = { .hash_count = key->hash_count,
                                           .range_count = key->range_count };
    for (size_t i = 0; i < key->hash_count; i++)
        schema.hash[i] = (struct key_condition_attribute){ key->hash[i].name, key->hash[i].type };
    for (size_t i = 0; i < key->range_count; i++)
        schema.range[i] =
            (struct key_condition_attribute){ key->range[i].name, key->range[i].type };
    return schema;
}

static bool check_not_empty(const struct read_key *key, const struct key_attribute *attribute,
                            const struct value *value, struct error *err)
{
    return key->index == NULL ? key_check_not_empty(attribute, value, err)
                              : index_entry_check_not_empty(key->index, attribute, value, err);
}

static bool check_sort_key_value(const struct read_key *key, const struct key_attribute *attribute,
                                 const struct value *value, struct error *err)
{
    return check_not_empty(key, attribute, value, err) && key_check_range_size(value, err);
}

bool read_range_check_values(const struct read_key *key, const struct key_condition_plan *plan,
                             struct error *err)
{
    assert(plan->range_count <= key->range_count);
    for (size_t i = 0; i < key->hash_count; i++) {
        if (!check_not_empty(key, &key->hash[i], &plan->hash[i]->values[0], err))
            return false;
    }
    for (size_t i = 0; i < plan->range_count; i++) {
        const struct key_term *term = plan->range[i];
        if (!check_sort_key_value(key, &key->range[i], &term->values[0], err) ||
            (term->type == KEY_TERM_BETWEEN &&
             !check_sort_key_value(key, &key->range[i], &term->values[1], err)))
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

/* Observed: a partition key that is longer than any item's is no error; it matches nothing. */
static bool can_exist(const struct read_key *key, const struct key_condition_plan *plan)
{
    for (size_t i = 0; i < key->hash_count; i++) {
        if (plan->hash[i]->values[0].data.len > PARTITION_KEY_SIZE_MAX)
            return false;
    }
    return true;
}

/* All terms on the sort key except the last are equalities; the last one bounds the range. */
bool read_range_of_plan(struct arena *arena, const struct read_source *source,
                        const struct read_key *key, const struct key_condition_plan *plan,
                        bool reverse, struct item_range *out)
{
    assert(key->index == source->index && plan->range_count <= key->range_count);
    struct item_range_condition condition = { .test = ITEM_RANGE_ALL };
    struct item_range_key range_key = { .index = key->index, .hash_count = key->hash_count };
    if (!can_exist(key, plan))
        return false;
    for (size_t i = 0; i < key->hash_count; i++)
        range_key.hash[i] = &plan->hash[i]->values[0];
    for (size_t i = 0; i + 1 < plan->range_count; i++)
        range_key.equal[range_key.equal_count++] = &plan->range[i]->values[0];
    if (plan->range_count > 0) {
        const struct key_term *last = plan->range[plan->range_count - 1];
        condition = (struct item_range_condition){ .test = test_of(last) };
        condition.values[0] = last->values[0];
        condition.values[1] = last->values[1];
    }
    item_range_of_key(arena, source->table, &range_key, &condition, reverse, out);
    return true;
}

void read_range_start_behind(struct arena *arena, struct item_range **ranges, size_t *count,
                             struct bytes key)
{
    while (*count > 0 && !item_range_start_behind(arena, *ranges, key)) {
        ++*ranges;
        --*count;
    }
}
