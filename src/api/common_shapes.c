/* common_shapes.c -- shapes that the requests of several operations share. */
#include "api/common_shapes.h"
#include "api/table/table_name.h"
#include "base/compiler.h"
#include "model/limits.h"

const char common_table_name_absent_text[] =
    "The parameter 'TableName' is required but was not present in the request";

const struct shape common_string = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
const struct shape common_boolean = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
const struct shape common_long = { .kind = SHAPE_LONG, SHAPE_UNBOUNDED };
const struct shape common_item = { .kind = SHAPE_ITEM, SHAPE_UNBOUNDED };
const struct shape common_attribute_value = { .kind = SHAPE_VALUE, SHAPE_UNBOUNDED };
const struct shape common_attribute_name = { .kind = SHAPE_STRING,
                                             .min = SHAPE_NO_MIN,
                                             .max = ATTRIBUTE_NAME_SIZE_MAX };
const struct shape common_attribute_name_map = { .kind = SHAPE_MAP,
                                                 .element = &common_attribute_name,
                                                 SHAPE_UNBOUNDED };

/* Observed: an empty name breaks the length only; a short one passes here and is then not found. */
#define ITEM_TABLE_NAME                                                                            \
    .kind = SHAPE_STRING, .min = 1, .max = TABLE_NAME_SIZE_MAX, .pattern = TABLE_NAME_PATTERN,     \
    .matches = table_name_has_only_name_bytes, .exempt = table_name_is_arn
const struct shape common_item_table_name = { ITEM_TABLE_NAME };
const struct shape common_put_table_name = {
    ITEM_TABLE_NAME,
    .empty_text = "1 validation error detected: Value at 'TableName' failed to satisfy constraint: "
                  "Member must have length greater than or equal to 1",
};

const struct shape common_existing_table_name = {
    .kind = SHAPE_STRING,
    .min = TABLE_NAME_SIZE_MIN,
    .max = TABLE_NAME_SIZE_MAX,
    .length_first = true,
    .pattern = TABLE_NAME_PATTERN,
    .matches = table_name_matches,
    .exempt = table_name_is_arn,
};

const struct shape common_new_table_name = { .kind = SHAPE_STRING,
                                             .min = TABLE_NAME_SIZE_MIN,
                                             .max = TABLE_NAME_SIZE_MAX,
                                             .pattern = TABLE_NAME_PATTERN,
                                             .matches = table_name_matches,
                                             .exempt = table_name_is_arn };

const struct shape common_resource_name = { .kind = SHAPE_STRING,
                                            .min = TABLE_NAME_SIZE_MIN,
                                            .max = TABLE_NAME_SIZE_MAX,
                                            .pattern = TABLE_NAME_PATTERN,
                                            .matches = table_name_matches };

static const char *const comparison_operators[] = {
    "IN",       "NULL", "BETWEEN", "LT",          "NOT_CONTAINS", "EQ",       "GT",
    "NOT_NULL", "NE",   "LE",      "BEGINS_WITH", "GE",           "CONTAINS", NULL,
};
const struct shape common_comparison_operator = { .kind = SHAPE_STRING,
                                                  .enum_values = comparison_operators,
                                                  SHAPE_UNBOUNDED };
const struct shape common_attribute_value_list = { .kind = SHAPE_LIST,
                                                   .element = &common_attribute_value,
                                                   SHAPE_UNBOUNDED };
static const char *const conditional_operators[] = { "OR", "AND", NULL };
const struct shape common_query_conditional_operator = {
    .kind = SHAPE_STRING,
    .enum_values = conditional_operators,
    .enum_text = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]",
    SHAPE_UNBOUNDED,
};
const struct shape common_conditional_operator = { .kind = SHAPE_STRING,
                                                   .enum_values = conditional_operators,
                                                   SHAPE_UNBOUNDED };
const struct shape common_attributes_to_get = {
    .kind = SHAPE_LIST, .element = &common_attribute_name, .min = 1, .max = SHAPE_NO_MAX
};

static const char *const return_consumed_capacity_values[] = { "INDEXES", "TOTAL", "NONE", NULL };
const struct shape common_return_consumed_capacity = {
    .kind = SHAPE_STRING, .enum_values = return_consumed_capacity_values, SHAPE_UNBOUNDED
};
