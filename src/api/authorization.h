/* authorization.h -- whether the caller of a request may do what it asks for.
 *
 * Operations that read or write items say what they touch, because policies may be about single
 * partition keys and attributes: authorization_begin, what is known of the request, then
 * authorization_check. All others are asked about here, by the resource their request names, before
 * they run (authorization_check_request). Where requests are not authenticated there is no caller,
 * and all of this costs one comparison.
 */
#ifndef STATOR_API_AUTHORIZATION_H
#define STATOR_API_AUTHORIZATION_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct condition;
struct item;
struct path_node;
struct table_definition;
struct update;
struct value;

/* Texts without duplicates. */
struct authorization_list {
    struct bytes *texts;
    size_t count;
    size_t capacity;
};

struct authorization {
    struct api_call *call;
    struct authorization_list leading_keys;
    struct authorization_list attributes;
    /* Texts that are absent (data NULL) are not known to policies. */
    struct bytes select;
    struct bytes return_values;
    struct bytes return_consumed_capacity;
    struct bytes full_table_scan;
    struct bytes enclosing_operation;
};

/* False if nobody has to be asked. */
MUST_CHECK bool authorization_begin(struct authorization *authorization, struct api_call *call);

/* The partition key of an item that is read or written, and the names of its key attributes. `key`
 * has at least the key attributes. */
void authorization_add_key(struct authorization *authorization,
                           const struct table_definition *table, const struct item *key);
/* The value of a partition key. */
void authorization_add_leading_key(struct authorization *authorization, const struct value *value);
void authorization_add_attribute(struct authorization *authorization, struct bytes name);
/* The names of all attributes. */
void authorization_add_item(struct authorization *authorization, const struct item *item);
/* The attributes that an expression reads, writes or shows; NULL: none. */
void authorization_add_condition(struct authorization *authorization,
                                 const struct condition *condition);
void authorization_add_update(struct authorization *authorization, const struct update *update);
void authorization_add_projection(struct authorization *authorization,
                                  const struct path_node *projection);

/* Asks about an action ("GetItem") on a table, or on one of its indexes if `index_name` is given.
 * False with AccessDeniedException set. */
MUST_CHECK bool authorization_check(struct authorization *authorization, const char *action,
                                    const struct table_definition *table, struct bytes index_name);

/* Asks about the call's own action on a resource, of which nothing else is known: a table's name,
 * or the ARN of a table or stream. */
MUST_CHECK bool authorization_check_resource(struct api_call *call, struct bytes name_or_arn);
/* The same as authorization_check_resource, before an operation runs, by what its request names.
 * Refuses operations that do not say who may call them. */
MUST_CHECK bool authorization_check_request(struct api_call *call);

#endif
