/* partiql_write.c -- see partiql_write.h. */
#include "api/partiql/partiql_write.h"
#include <assert.h>
#include "api/capacity.h"
#include "api/item/item_change.h"
#include "api/operation.h"
#include "api/partiql/partiql_plan.h"
#include "api/partiql/partiql_statement.h"
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/condition.h"
#include "expr/lookup.h"
#include "expr/update.h"
#include "index/index_entry.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "partiql/statement.h"
#include "table/item_address.h"
#include "txn/txn.h"

const char partiql_write_duplicate_text[] = "Duplicate primary key exists in table";

/* --- Conditions --- */

/* The condition that no item has the key: every item has a partition key. The name is copied,
 * because the condition may outlive the reference to the table. */
static const struct condition *not_exists(struct arena *arena, const struct table_definition *table)
{
    struct path_step *step = arena_alloc(arena, sizeof *step);
    struct operand *operand = arena_alloc(arena, sizeof *operand);
    struct condition *condition = arena_alloc(arena, sizeof *condition);
    *step = (struct path_step){ .name = arena_copy(arena, table->key.hash.name) };
    *operand = (struct operand){ .type = OPERAND_PATH, .path = { step, 1 } };
    *condition = (struct condition){ .type = CONDITION_ATTRIBUTE_NOT_EXISTS,
                                     .operands = operand,
                                     .operand_count = 1 };
    return condition;
}

/* A DELETE of an item that does not exist succeeds. UPDATE and EXISTS need an item: their
 * equalities on the key do not hold without one. */
static const struct condition *condition_of(struct arena *arena, const struct statement *statement,
                                            const struct table_definition *table)
{
    if (statement->type == STATEMENT_TYPE_INSERT)
        return not_exists(arena, table);
    if (statement->type != STATEMENT_TYPE_DELETE)
        return statement->where;
    struct condition *condition = arena_alloc(arena, sizeof *condition);
    *condition = (struct condition){ .type = CONDITION_OR,
                                     .left = not_exists(arena, table),
                                     .right = statement->where };
    return condition;
}

/* --- Keys --- */

static bool check_inserted(const struct item *item, const struct key_attribute *attribute,
                           struct error *err)
{
    struct value value;
    if (!item_find(item, attribute->name, &value))
        return error_validation(err, "Key attribute should be present in the item: Key %.*s",
                                BYTES_FMT(attribute->name));
    return partiql_plan_check_type(attribute, &value, err);
}

static bool prepare_insert(const struct statement *statement, const struct key_schema *key,
                           struct partiql_write *out, struct error *err)
{
    out->key = statement->item;
    if (statement->item.size > ITEM_SIZE_MAX)
        return operation_refuse_item_size(err);
    return check_inserted(&out->key, &key->hash, err) &&
           (!key->has_range || check_inserted(&out->key, &key->range, err));
}

bool partiql_write_prepare(struct arena *arena, const struct statement *statement,
                           const struct table_definition *table, struct partiql_write *out,
                           struct error *err)
{
    assert(statement->type != STATEMENT_TYPE_SELECT);
    const struct key_schema *key = &table->key;
    *out = (struct partiql_write){ .statement = statement,
                                   .condition = condition_of(arena, statement, table) };
    if (statement->type == STATEMENT_TYPE_INSERT)
        return prepare_insert(statement, key, out, err);
    return partiql_plan_key(arena, statement->where, key, &out->key, err) &&
           partiql_statement_check_paths(statement, table, err);
}

bool partiql_write_locate(struct arena *arena, const struct partiql_write *write,
                          const struct table_definition *table, struct item_address *out,
                          struct error *err)
{
    if (write->statement->type == STATEMENT_TYPE_INSERT)
        return item_address_of_item(arena, table, &write->key, out, err) &&
               index_entry_check_put(table, &write->key, err) &&
               (index_entry_local_fits(arena, table, &write->key) ||
                operation_refuse_item_size(err));
    return item_address_of_key(arena, table, &write->key, out, err) &&
           (write->statement->type != STATEMENT_TYPE_UPDATE ||
            item_change_check_keys(write->statement->update, table, err));
}

/* --- Decisions --- */

static bool refuse(const struct partiql_write *write, struct error *err)
{
    if (write->statement->type == STATEMENT_TYPE_INSERT)
        return error_set(err, ERROR_DUPLICATE_ITEM, "%s", partiql_write_duplicate_text);
    return error_set(err, ERROR_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
}

/* The old item is only valid during the decision. `updated`, in the arena, is NULL if the item was
 * deleted. */
static struct partiql_returned returned_item(struct arena *arena, const struct statement *statement,
                                             const struct item *current, const struct item *updated)
{
    struct partiql_returned returned = { .is_any = true };
    switch (statement->returning) {
    case RETURNING_NOTHING:
        returned.is_any = false;
        break;
    case RETURNING_ALL_OLD:
        returned.item = item_copy(arena, current);
        break;
    case RETURNING_MODIFIED_OLD:
        returned.item = item_copy(arena, current);
        returned.update = statement->update;
        break;
    case RETURNING_ALL_NEW:
        assert(updated != NULL); /* The grammar has it for UPDATE only. */
        returned.item = *updated;
        break;
    case RETURNING_MODIFIED_NEW:
        assert(updated != NULL);
        returned.item = *updated;
        returned.update = statement->update;
        break;
    }
    return returned;
}

struct bytes partiql_write_returned_json(struct arena *arena,
                                         const struct partiql_returned *returned)
{
    if (!returned->is_any)
        return BYTES("");
    return returned->update == NULL
               ? item_change_item_json(arena, &returned->item)
               : item_change_updated_json(arena, returned->update, &returned->item);
}

static bool decide_update(struct arena *arena, const struct partiql_write *write,
                          struct txn_item *item, struct partiql_returned *returned,
                          struct error *err)
{
    const struct statement *statement = write->statement;
    assert(item->exists); /* Otherwise the condition failed. */
    if (!item_change_apply_update(arena, statement->update, item->table, &item->current,
                                  &write->key, &item->replacement, err))
        return false;
    if (!item_change_fits(arena, item->table, &item->replacement))
        return update_refuse_size(err);
    item->effect = TXN_PUT;
    *returned = returned_item(arena, statement, &item->current, &item->replacement);
    return true;
}

bool partiql_write_decide(struct arena *arena, const struct partiql_write *write,
                          struct txn_item *item, struct partiql_returned *returned,
                          struct error *err)
{
    struct lookup lookup;
    lookup_init(&lookup, arena, item->exists ? &item->current : NULL);
    *returned = (struct partiql_returned){ 0 };
    if (!condition_matches(write->condition, &lookup))
        return refuse(write, err);
    switch (write->statement->type) {
    case STATEMENT_TYPE_INSERT:
        item->effect = TXN_PUT;
        item->replacement = write->key;
        return true;
    case STATEMENT_TYPE_DELETE:
        item->effect = TXN_DELETE;
        if (item->exists)
            *returned = returned_item(arena, write->statement, &item->current, NULL);
        return true;
    default:
        assert(write->statement->type == STATEMENT_TYPE_UPDATE);
        return decide_update(arena, write, item, returned, err);
    }
}

/* An INSERT fails if there is an item, which is no condition that the caller has set. */
void partiql_write_count_refused(const struct partiql_write *write, const struct txn_item *item,
                                 const struct error *err, struct capacity_use *use)
{
    if (err->code == ERROR_CONDITIONAL_CHECK_FAILED)
        use->condition_failure_count++;
    else if (err->code != ERROR_DUPLICATE_ITEM)
        return;
    capacity_use_add_refused_write(
        use, item, write->statement->type == STATEMENT_TYPE_INSERT ? write->key.size : 0);
}
