/* partiql_key.c -- see partiql_key.h. */
#include "api/partiql/partiql_key.h"
#include <assert.h>
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/operand_rules.h"
#include "model/error.h"
#include "model/item.h"
#include "model/key.h"

struct partiql_terms partiql_key_terms(struct arena *arena, const struct condition *where)
{
    enum { TERMS_MAX = OPERAND_RULES_OPERATORS_MAX + 1 }; /* One more than there are operators. */
    const struct condition *waiting[TERMS_MAX];
    struct partiql_terms terms = { .count = 0 };
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

bool partiql_key_is_attribute(const struct operand *operand, struct bytes name)
{
    return operand->type == OPERAND_PATH && operand->path.step_count == 1 &&
           bytes_equal(operand->path.steps[0].name, name);
}

const struct value *partiql_key_equal_value(const struct condition *term, struct bytes name)
{
    if (term->type != CONDITION_COMPARE || term->comparator != COMPARE_EQUAL)
        return NULL;
    for (size_t i = 0; i < 2; i++) {
        if (partiql_key_is_attribute(&term->operands[i], name) &&
            term->operands[1 - i].type == OPERAND_VALUE)
            return &term->operands[1 - i].value;
    }
    return NULL;
}

bool partiql_key_check_type(const struct key_attribute *attribute, const struct value *value,
                            struct error *err)
{
    return value->type == attribute->type ||
           error_validation(err,
                            "Key attribute's data type should match its data type in table's "
                            "schema: Key %.*s",
                            BYTES_FMT(attribute->name));
}

/* The one value that the terms give to a key attribute. */
static bool add_attribute(const struct partiql_terms *terms, const struct key_attribute *attribute,
                          struct item_builder *key, struct error *err)
{
    const struct value *found = NULL;
    for (size_t i = 0; i < terms->count; i++) {
        const struct value *value = partiql_key_equal_value(terms->items[i], attribute->name);
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
    if (!partiql_key_check_type(attribute, found, err))
        return false;
    item_builder_add(key, attribute->name, found->encoded);
    return true;
}

bool partiql_key_of_condition(struct arena *arena, const struct condition *where,
                              const struct key_schema *schema, struct item *key, struct error *err)
{
    struct partiql_terms terms = partiql_key_terms(arena, where);
    struct item_builder builder;
    item_builder_init(&builder, arena);
    if (!add_attribute(&terms, &schema->hash, &builder, err) ||
        (schema->has_range && !add_attribute(&terms, &schema->range, &builder, err)))
        return false;
    *key = item_builder_finish(&builder);
    return true;
}

static size_t count_equalities(const struct partiql_terms *terms, struct bytes name)
{
    size_t count = 0;
    for (size_t i = 0; i < terms->count; i++)
        count += partiql_key_equal_value(terms->items[i], name) != NULL;
    return count;
}

enum partiql_key_form partiql_key_form_of(struct arena *arena, const struct condition *where,
                                          const struct key_schema *schema)
{
    struct partiql_terms terms = partiql_key_terms(arena, where);
    if (count_equalities(&terms, schema->hash.name) != 1 ||
        (schema->has_range && count_equalities(&terms, schema->range.name) != 1))
        return PARTIQL_KEY_OPEN;
    return terms.count == (schema->has_range ? 2 : 1) ? PARTIQL_KEY_WHOLE : PARTIQL_KEY_AND_MORE;
}
