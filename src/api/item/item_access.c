/* item_access.c -- see item_access.h.
 *
 * "dynamodb:Attributes" are the attributes that a request names, and those that its answer shows:
 * whatever it reads, writes, tests or returns. An answer that shows whole items shows attributes
 * that cannot be named in advance; access.h calls them unnamed.
 */
#include "api/item/item_access.h"
#include "api/item/item_shapes.h"
#include "api/item/item_expressions.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/partiql/partiql_plan.h"
#include "api/item/item_page.h"
#include "api/transaction/transaction.h"
#include "api/transaction/transaction_read.h"
#include "base/arena.h"
#include "expr/ast.h"
#include "index/index_entry.h"
#include "model/table_definition.h"
#include "partiql/statement.h"
#include "table/catalogue.h"

static const struct bytes no_index = { 0 };

enum { ITEM_PARTS_MAX = 4 }; /* Parts of a question about one item. */

/* The value of a parameter, or its default if it is absent. */
static struct bytes given_or(struct bytes given, struct bytes otherwise)
{
    return given.data != NULL ? given : otherwise;
}

static void set_reported(struct access_question *question, struct bytes return_consumed_capacity)
{
    question->return_consumed_capacity = given_or(return_consumed_capacity, BYTES("NONE"));
}

/* Documented for Query and Scan only; the examples of the developer guide rely on it for reads by
 * key as well, so that a policy that lists attributes does not let whole items pass. */
static void set_projection(struct access_question *question, const struct path_node *projection)
{
    access_add(question,
               (struct access_part){ .kind = ACCESS_PROJECTION, .projection = projection });
    question->shows_unnamed |= projection == NULL;
    question->select = projection == NULL ? BYTES("ALL_ATTRIBUTES") : BYTES("SPECIFIC_ATTRIBUTES");
}

static void add_key(struct access_question *question, const struct item *key)
{
    access_add(question, (struct access_part){ .kind = ACCESS_KEY_OF, .item = key });
}

/* Adds a written item, or its key, and the expressions applied to it. */
static void add_written(struct access_question *question, const struct item *item,
                        const struct condition *condition, const struct update *update)
{
    add_key(question, item);
    access_add(question, (struct access_part){ .kind = ACCESS_NAMES_OF, .item = item });
    access_add(question, (struct access_part){ .kind = ACCESS_CONDITION, .condition = condition });
    access_add(question, (struct access_part){ .kind = ACCESS_UPDATE, .update = update });
}

bool item_access_get(struct api_call *call, const struct table *table,
                     const struct get_item_request *request, const struct path_node *projection)
{
    if (call->caller == NULL)
        return true;
    struct access_question question =
        operation_question(call, "GetItem", request->table_name, no_index, table);
    access_reserve(call->arena, &question, ITEM_PARTS_MAX);
    add_key(&question, &request->key.item);
    set_projection(&question, projection);
    set_reported(&question, request->return_consumed_capacity);
    return operation_may(call, &question);
}

bool item_access_history(struct api_call *call, const struct table *table, struct bytes table_name,
                         const struct item *key)
{
    if (call->caller == NULL)
        return true;
    struct access_question question =
        operation_question(call, call->operation->name, table_name, no_index, table);
    access_reserve(call->arena, &question, ITEM_PARTS_MAX);
    add_key(&question, key);
    set_projection(&question, NULL);
    return operation_may(call, &question);
}

bool item_access_write(struct api_call *call, const struct item_access_write *write)
{
    if (call->caller == NULL)
        return true;
    struct access_question question =
        operation_question(call, call->operation->name, write->table_name, no_index, write->table);
    access_reserve(call->arena, &question, ITEM_PARTS_MAX);
    add_written(&question, write->item, write->expressions->condition, write->expressions->update);
    access_add_return_values(&question, write->request->return_values);
    access_add_return_values(&question, write->request->return_values_on_condition_check_failure);
    set_reported(&question, write->request->return_consumed_capacity);
    return operation_may(call, &question);
}

/* --- Query, Scan and SELECT --- */

static const struct index_definition *index_of(const struct access_question *question,
                                               struct bytes index_name)
{
    return question->table == NULL || index_name.data == NULL
               ? NULL
               : table_definition_index(question->table, index_name);
}

/* The keys of the table or index that is read count as read. */
static void add_source_keys(struct api_call *call, struct access_question *question,
                            const struct index_definition *index)
{
    const struct table_definition *table = question->table;
    struct bytes *names = arena_alloc(call->arena, INDEX_ENTRY_KEYS_MAX * sizeof *names);
    size_t count = 0;
    if (table == NULL)
        return;
    if (index != NULL) {
        count = index_entry_key_names(table, index, names);
    } else {
        names[count++] = table->key.hash.name;
        if (table->key.has_range)
            names[count++] = table->key.range.name;
    }
    access_add(question,
               (struct access_part){ .kind = ACCESS_NAMES, .names = names, .count = count });
}

/* "If neither Select nor ProjectionExpression are specified": all, of an index all it projects. */
static struct bytes select_of(struct bytes select, struct bytes index_name, bool names_attributes)
{
    if (select.data != NULL)
        return select;
    if (names_attributes)
        return BYTES("SPECIFIC_ATTRIBUTES");
    return index_name.data != NULL ? BYTES("ALL_PROJECTED_ATTRIBUTES") : BYTES("ALL_ATTRIBUTES");
}

/* Adds the attributes that the answer shows, except those selected by name, which are already
 * there. */
static void add_shown(struct access_question *question, const struct index_definition *index,
                      struct bytes select, bool names_attributes)
{
    question->select = select;
    if (names_attributes || bytes_equal_text(select, "COUNT"))
        return;
    bool shows_projected = index != NULL && index->projection != PROJECTION_ALL &&
                           !bytes_equal_text(select, "ALL_ATTRIBUTES");
    if (shows_projected)
        access_add(question, (struct access_part){ .kind = ACCESS_NAMES,
                                                   .names = index->included,
                                                   .count = index->included_count });
    else
        question->shows_unnamed = true;
}

enum { READ_PARTS_MAX = 5 };

bool item_access_read(struct api_call *call, const char *action, const struct table *table,
                      const struct read_request *request,
                      const struct read_expressions *expressions)
{
    if (call->caller == NULL)
        return true;
    struct access_question question =
        operation_question(call, action, request->table_name, request->index_name, table);
    const struct index_definition *index = index_of(&question, request->index_name);
    bool names_attributes = expressions->projection != NULL;
    access_reserve(call->arena, &question, READ_PARTS_MAX);
    add_source_keys(call, &question, index);
    access_add(&question, (struct access_part){ .kind = ACCESS_KEY_CONDITION,
                                                .key_condition = expressions->key_condition });
    access_add(&question,
               (struct access_part){ .kind = ACCESS_CONDITION, .condition = expressions->filter });
    access_add(&question, (struct access_part){ .kind = ACCESS_PROJECTION,
                                                .projection = expressions->projection });
    add_shown(&question, index, select_of(request->select, request->index_name, names_attributes),
              names_attributes);
    question.full_table_scan = strcmp(action, "Scan") == 0 ? BYTES("true") : BYTES("false");
    set_reported(&question, request->return_consumed_capacity);
    return operation_may(call, &question);
}

/* --- Statements --- */

static struct bytes return_values_of(enum statement_returning returning)
{
    switch (returning) {
    case RETURNING_NOTHING:
        break;
    case RETURNING_ALL_OLD:
        return BYTES("ALL_OLD");
    case RETURNING_MODIFIED_OLD:
        return BYTES("UPDATED_OLD");
    case RETURNING_ALL_NEW:
        return BYTES("ALL_NEW");
    case RETURNING_MODIFIED_NEW:
        return BYTES("UPDATED_NEW");
    }
    return BYTES("NONE");
}

/* A SELECT that reads all partitions adds no keys. True if it reads only some. */
static bool add_partitions(struct api_call *call, struct access_question *question,
                           const struct statement *statement)
{
    struct partiql_values values[INDEX_HASH_KEYS_MAX];
    bool is_located = partiql_plan_partitions(call->arena, statement->where, question->hash,
                                              question->hash_count, values);
    if (!is_located && statement->type == STATEMENT_TYPE_SELECT)
        return false;
    for (size_t i = 0; i < question->hash_count; i++)
        access_add(question, (struct access_part){ .kind = ACCESS_KEY_VALUES,
                                                   .values = values[i].items,
                                                   .count = values[i].count });
    return is_located;
}

static void add_statement(struct api_call *call, struct access_question *question,
                          const struct item_access_statement *asked)
{
    const struct statement *statement = asked->statement;
    const struct index_definition *index = index_of(question, statement->index_name);
    if (statement->type == STATEMENT_TYPE_INSERT) {
        add_written(question, &statement->item, NULL, NULL);
        access_add_return_values(question, BYTES("NONE")); /* A duplicate is not shown. */
        return;
    }
    bool is_located = add_partitions(call, question, statement);
    bool names_attributes = statement->column_count > 0;
    add_source_keys(call, question, index);
    access_add(question,
               (struct access_part){ .kind = ACCESS_CONDITION, .condition = statement->where });
    access_add(question,
               (struct access_part){ .kind = ACCESS_UPDATE, .update = statement->update });
    access_add(question, (struct access_part){ .kind = ACCESS_COLUMNS,
                                               .columns = statement->columns,
                                               .count = statement->column_count });
    if (statement->type == STATEMENT_TYPE_SELECT) {
        question->full_table_scan = is_located ? BYTES("false") : BYTES("true");
        add_shown(question, index,
                  select_of((struct bytes){ 0 }, statement->index_name, names_attributes),
                  names_attributes);
        return;
    }
    access_add_return_values(question, return_values_of(statement->returning));
    if (asked->shows_item_on_failure)
        access_add_return_values(question, BYTES("ALL_OLD"));
}

bool item_access_statement(struct api_call *call, const struct item_access_statement *asked)
{
    static const char *const actions[] = { [STATEMENT_TYPE_SELECT] = "PartiQLSelect",
                                           [STATEMENT_TYPE_EXISTS] = "PartiQLSelect",
                                           [STATEMENT_TYPE_INSERT] = "PartiQLInsert",
                                           [STATEMENT_TYPE_UPDATE] = "PartiQLUpdate",
                                           [STATEMENT_TYPE_DELETE] = "PartiQLDelete" };
    const struct statement *statement = asked->statement;
    if (call->caller == NULL)
        return true;
    struct access_question question = operation_question(
        call, actions[statement->type], statement->table_name, statement->index_name, asked->table);
    access_reserve(call->arena, &question, READ_PARTS_MAX + INDEX_HASH_KEYS_MAX);
    add_statement(call, &question, asked);
    if (asked->in_transaction)
        question.enclosing_operation = bytes_from_text(call->operation->name);
    set_reported(&question, asked->return_consumed_capacity);
    return operation_may(call, &question);
}

/* --- Batches --- */

bool item_access_batch_get(struct api_call *call, struct bytes table_name,
                           const struct table *table, const struct shape_list *keys,
                           const struct path_node *projection,
                           struct bytes return_consumed_capacity)
{
    if (call->caller == NULL)
        return true;
    struct access_question question =
        operation_question(call, "BatchGetItem", table_name, no_index, table);
    access_reserve(call->arena, &question, keys->count + 1);
    for (size_t i = 0; i < keys->count; i++)
        add_key(&question, &((const struct shape_item *)keys->elements)[i].item);
    set_projection(&question, projection);
    set_reported(&question, return_consumed_capacity);
    return operation_may(call, &question);
}

bool item_access_batch_write(struct api_call *call, struct bytes table_name,
                             const struct table *table, const struct shape_list *requests,
                             struct bytes return_consumed_capacity)
{
    if (call->caller == NULL)
        return true;
    struct access_question question =
        operation_question(call, "BatchWriteItem", table_name, no_index, table);
    access_reserve(call->arena, &question, requests->count * ITEM_PARTS_MAX);
    for (size_t i = 0; i < requests->count; i++) {
        const struct write_request *request =
            ((struct write_request *const *)requests->elements)[i];
        add_written(&question,
                    request->put != NULL ? &request->put->item.item : &request->delete->key.item,
                    NULL, NULL);
    }
    set_reported(&question, return_consumed_capacity);
    return operation_may(call, &question);
}

/* --- Transactions --- */

/* "Permissions for Put, Update, Delete, and Get are governed by the permissions used for the
 * underlying operations"; which transaction they are part of is a key of its own. */
bool item_access_action(struct api_call *call, const struct table *table,
                        const struct transaction_action *action,
                        struct bytes return_consumed_capacity)
{
    static const char *const actions[] = { [TRANSACTION_PUT] = "PutItem",
                                           [TRANSACTION_UPDATE] = "UpdateItem",
                                           [TRANSACTION_DELETE] = "DeleteItem",
                                           [TRANSACTION_CHECK] = "ConditionCheckItem" };
    if (call->caller == NULL)
        return true;
    struct access_question question =
        operation_question(call, actions[action->kind], action->table_name, no_index, table);
    access_reserve(call->arena, &question, ITEM_PARTS_MAX);
    add_written(&question, action->key, action->expressions.condition, action->expressions.update);
    access_add_return_values(&question, action->shows_item ? BYTES("ALL_OLD") : BYTES("NONE"));
    question.enclosing_operation = bytes_from_text(call->operation->name);
    set_reported(&question, return_consumed_capacity);
    return operation_may(call, &question);
}

bool item_access_transact_get(struct api_call *call, const struct table *table,
                              const struct transaction_read *read,
                              struct bytes return_consumed_capacity)
{
    if (call->caller == NULL)
        return true;
    struct access_question question =
        operation_question(call, "GetItem", read->table_name, no_index, table);
    access_reserve(call->arena, &question, ITEM_PARTS_MAX);
    add_key(&question, read->key);
    set_projection(&question, read->projection);
    question.enclosing_operation = bytes_from_text(call->operation->name);
    set_reported(&question, return_consumed_capacity);
    return operation_may(call, &question);
}
