/* common_shapes.h -- shapes that the requests of several operations share.
 *
 * A table's name comes in three shapes, because the service words its rules differently for item
 * operations, for CreateTable and for the other operations on tables.
 */
#ifndef STATOR_API_COMMON_SHAPES_H
#define STATOR_API_COMMON_SHAPES_H
#include <stddef.h>
#include "shape/shape.h"

extern const struct shape common_string; /* Any text. */
extern const struct shape common_boolean;
extern const struct shape common_long; /* Any number. */
extern const struct shape common_item; /* A map of attribute values. */
extern const struct shape common_attribute_value;
extern const struct shape common_attribute_name;
extern const struct shape common_attribute_name_map; /* ExpressionAttributeNames */

/* Item operations: a name or an ARN. */
extern const struct shape common_put_table_name; /* With PutItem's own message. */
extern const struct shape common_item_table_name;
/* Operations on a table that must exist: a name or an ARN. */
extern const struct shape common_existing_table_name;
/* CreateTable: a name or an ARN. */
extern const struct shape common_new_table_name;
/* What some operations say of a name of the wrong length. */
#define COMMON_NAME_LENGTH_TEXT                                                                    \
    "TableName must be at least 3 characters long and at most 255 characters long"
/* A name and nothing else: IndexName, ExclusiveStartTableName. */
extern const struct shape common_resource_name;
/* What the operations on tables say where the name is missing. */
extern const char common_table_name_absent_text[];

/* Of the older parameters. */
extern const struct shape common_comparison_operator;
extern const struct shape common_attribute_value_list;
extern const struct shape common_conditional_operator;
extern const struct shape common_query_conditional_operator; /* With Query's own message. */
extern const struct shape common_attributes_to_get;

extern const struct shape common_return_consumed_capacity;

#endif
