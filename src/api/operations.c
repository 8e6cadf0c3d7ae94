/* operations.c -- the list of operations, found by name. */
#include "api/operation.h"

/* Sorted by name: operation_find searches by halves. */
static const struct operation *const operations[] = {
    &op_add_trigger,
    &op_batch_execute_statement,
    &op_batch_get_item,
    &op_batch_write_item,
    &op_create_table,
    &op_delete_item,
    &op_delete_resource_policy,
    &op_delete_table,
    &op_describe_continuous_backups,
    &op_describe_contributor_insights,
    &op_describe_endpoints,
    &op_describe_kinesis_streaming_destination,
    &op_describe_limits,
    &op_describe_stream,
    &op_describe_table,
    &op_describe_time_to_live,
    &op_execute_statement,
    &op_execute_transaction,
    &op_get_item,
    &op_get_records,
    &op_get_resource_policy,
    &op_get_shard_iterator,
    &op_list_contributor_insights,
    &op_list_streams,
    &op_list_tables,
    &op_list_tags_of_resource,
    &op_list_triggers,
    &op_put_item,
    &op_put_resource_policy,
    &op_query,
    &op_remove_trigger,
    &op_scan,
    &op_tag_resource,
    &op_transact_get_items,
    &op_transact_write_items,
    &op_untag_resource,
    &op_update_continuous_backups,
    &op_update_item,
    &op_update_table,
    &op_update_time_to_live,
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

const char *operation_name(const struct operation *operation)
{
    return operation->name;
}

bool operation_reads_many(const struct operation *operation)
{
    return operation->reads_many;
}

bool operation_writes_many(const struct operation *operation)
{
    return operation->writes_many;
}

bool operation_is_control(const struct operation *operation)
{
    return operation->kind == OPERATION_CONTROL;
}

enum operation_service operation_service(const struct operation *operation)
{
    return operation->service;
}

size_t operation_count(void)
{
    return COUNT_OF(operations);
}

const struct operation *operation_at(size_t index)
{
    return operations[index];
}
