/* item_authorization.c -- see item_authorization.h.
 *
 * A policy that lists partition keys or attributes holds for what is listed here, and ForAllValues
 * holds for what is not: whatever a request reads, writes, tests or shows must be named.
 */
#include "api/item_authorization.h"
#include "api/authorization.h"
#include "api/batch_shapes.h"
#include "api/item_expressions.h"
#include "api/item_shapes.h"
#include "api/operation.h"
#include "api/read_expressions.h"
#include "api/read_shapes.h"
#include "api/read_source.h"
#include "api/transaction.h"
#include "expr/ast.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

static const struct bytes no_index = { 0 };

/* What a request says of a parameter, or what it means by leaving it out. */
static struct bytes given_or(struct bytes given, struct bytes otherwise)
{
    return given.data != NULL ? given : otherwise;
}

static void set_reported(struct authorization *authorization, struct bytes return_consumed_capacity)
{
    authorization->return_consumed_capacity = given_or(return_consumed_capacity, BYTES("NONE"));
}

/* Documented for Query and Scan only; the examples of the developer guide rely on it for reads by
 * key as well, lest whole items pass a list of attributes. */
static void set_projection(struct authorization *authorization, const struct path_node *projection)
{
    authorization_add_projection(authorization, projection);
    authorization->select =
        projection == NULL ? BYTES("ALL_ATTRIBUTES") : BYTES("SPECIFIC_ATTRIBUTES");
}

bool item_authorization_get(struct api_call *call, const struct table_definition *table,
                            const struct get_item_request *request,
                            const struct path_node *projection)
{
    struct authorization authorization;
    if (!authorization_begin(&authorization, call))
        return true;
    authorization_add_key(&authorization, table, &request->key.item);
    set_projection(&authorization, projection);
    set_reported(&authorization, request->return_consumed_capacity);
    return authorization_check(&authorization, "GetItem", table, no_index);
}

bool item_authorization_write(struct api_call *call, const struct table_definition *table,
                              const struct condition_request *request, const struct item *item,
                              const struct item_expressions *expressions)
{
    struct authorization authorization;
    if (!authorization_begin(&authorization, call))
        return true;
    authorization_add_key(&authorization, table, item);
    authorization_add_item(&authorization, item);
    authorization_add_condition(&authorization, expressions->condition);
    authorization_add_update(&authorization, expressions->update);
    authorization.return_values = given_or(request->return_values, BYTES("NONE"));
    set_reported(&authorization, request->return_consumed_capacity);
    return authorization_check(&authorization, call->operation->name, table, no_index);
}

/* --- Query and Scan --- */

static bool is_partition_key(const struct read_source *source, struct bytes name)
{
    if (source->index == NULL)
        return bytes_equal(table_definition(source->table)->key.hash.name, name);
    for (size_t i = 0; i < source->index->hash_count; i++)
        if (bytes_equal(source->index->hash[i].name, name))
            return true;
    return false;
}

static void add_key_condition(struct authorization *authorization, const struct read_source *source,
                              const struct key_condition *condition)
{
    for (size_t i = 0; condition != NULL && i < condition->term_count; i++) {
        const struct key_term *term = &condition->terms[i];
        authorization_add_attribute(authorization, term->name);
        if (is_partition_key(source, term->name))
            authorization_add_leading_key(authorization, &term->values[0]);
    }
}

/* "If neither Select nor ProjectionExpression are specified": all, of an index all it projects. */
static struct bytes select_of(const struct read_source *source, const struct read_request *request,
                              const struct path_node *projection)
{
    if (request->select.data != NULL)
        return request->select;
    if (projection != NULL)
        return BYTES("SPECIFIC_ATTRIBUTES");
    return source->index != NULL ? BYTES("ALL_PROJECTED_ATTRIBUTES") : BYTES("ALL_ATTRIBUTES");
}

bool item_authorization_read(struct api_call *call, const struct read_source *source,
                             const struct read_request *request,
                             const struct read_expressions *expressions)
{
    struct authorization authorization;
    if (!authorization_begin(&authorization, call))
        return true;
    bool is_scan = call->operation == &op_scan;
    add_key_condition(&authorization, source, expressions->key_condition);
    for (size_t i = 0; i < source->key_count; i++)
        authorization_add_attribute(&authorization, source->key_names[i]);
    authorization_add_condition(&authorization, expressions->filter);
    authorization_add_projection(&authorization, expressions->projection);
    authorization.select = select_of(source, request, expressions->projection);
    authorization.full_table_scan = is_scan ? BYTES("true") : BYTES("false");
    set_reported(&authorization, request->return_consumed_capacity);
    return authorization_check(&authorization, call->operation->name,
                               table_definition(source->table), request->index_name);
}

/* --- Batches --- */

bool item_authorization_batch_get(struct api_call *call, const struct table_definition *table,
                                  const struct shape_list *keys, const struct path_node *projection,
                                  struct bytes return_consumed_capacity)
{
    struct authorization authorization;
    if (!authorization_begin(&authorization, call))
        return true;
    for (size_t i = 0; i < keys->count; i++)
        authorization_add_key(&authorization, table,
                              &((const struct shape_item *)keys->elements)[i].item);
    set_projection(&authorization, projection);
    set_reported(&authorization, return_consumed_capacity);
    return authorization_check(&authorization, "BatchGetItem", table, no_index);
}

bool item_authorization_batch_write(struct api_call *call, const struct table_definition *table,
                                    const struct shape_list *requests,
                                    struct bytes return_consumed_capacity)
{
    struct authorization authorization;
    if (!authorization_begin(&authorization, call))
        return true;
    for (size_t i = 0; i < requests->count; i++) {
        const struct write_request *request =
            ((struct write_request *const *)requests->elements)[i];
        const struct item *item =
            request->put != NULL ? &request->put->item.item : &request->delete->key.item;
        authorization_add_key(&authorization, table, item);
        authorization_add_item(&authorization, item);
    }
    set_reported(&authorization, return_consumed_capacity);
    return authorization_check(&authorization, "BatchWriteItem", table, no_index);
}

/* --- Transactions --- */

/* "Permissions for Put, Update, Delete, and Get are governed by the permissions used for the
 * underlying operations"; which transaction they are part of is a key of its own. */
bool item_authorization_action(struct api_call *call, const struct table_definition *table,
                               const struct transaction_action *action,
                               struct bytes return_consumed_capacity)
{
    static const char *const names[] = { [TRANSACTION_PUT] = "PutItem",
                                         [TRANSACTION_UPDATE] = "UpdateItem",
                                         [TRANSACTION_DELETE] = "DeleteItem",
                                         [TRANSACTION_CHECK] = "ConditionCheckItem" };
    struct authorization authorization;
    if (!authorization_begin(&authorization, call))
        return true;
    authorization_add_key(&authorization, table, action->key);
    authorization_add_item(&authorization, action->key);
    authorization_add_condition(&authorization, action->expressions.condition);
    authorization_add_update(&authorization, action->expressions.update);
    authorization.return_values = action->shows_item ? BYTES("ALL_OLD") : BYTES("NONE");
    authorization.enclosing_operation = bytes_from_text(call->operation->name);
    set_reported(&authorization, return_consumed_capacity);
    return authorization_check(&authorization, names[action->kind], table, no_index);
}

bool item_authorization_transact_get(struct api_call *call, const struct table_definition *table,
                                     const struct item *key, const struct path_node *projection,
                                     struct bytes return_consumed_capacity)
{
    struct authorization authorization;
    if (!authorization_begin(&authorization, call))
        return true;
    authorization_add_key(&authorization, table, key);
    set_projection(&authorization, projection);
    authorization.enclosing_operation = bytes_from_text(call->operation->name);
    set_reported(&authorization, return_consumed_capacity);
    return authorization_check(&authorization, "GetItem", table, no_index);
}
