/* operations.c -- the list of operations, found by name. */
#include "api/operation.h"

/* Sorted by name: operation_find searches by halves. */
static const struct operation *const operations[] = {
    &op_batch_get_item,
    &op_batch_write_item,
    &op_create_table,
    &op_delete_item,
    &op_delete_table,
    &op_describe_endpoints,
    &op_describe_limits,
    &op_describe_table,
    &op_get_item,
    &op_list_tables,
    &op_list_tags_of_resource,
    &op_put_item,
    &op_query,
    &op_scan,
    &op_tag_resource,
    &op_transact_get_items,
    &op_transact_write_items,
    &op_untag_resource,
    &op_update_item,
    &op_update_table,
};

const struct operation *operation_find(struct bytes name)
{
    size_t low = 0, high = COUNT_OF(operations);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bytes_compare(bytes_from_text(operations[middle]->name), name);
        if (order == 0)
            return operations[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

size_t operation_count(void)
{
    return COUNT_OF(operations);
}

const struct operation *operation_at(size_t index)
{
    return operations[index];
}
