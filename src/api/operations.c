/* operations.c -- finds an operation by its name: a binary search in operation_list.h's order. */
#include "api/operation.h"

static const struct operation *const operations[] = {
#define POINT_TO(identifier, name) &op_##identifier,
    OPERATION_LIST(POINT_TO)
#undef POINT_TO
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

bool operation_changes_tables(const struct operation *operation)
{
    return operation->kind == OPERATION_CONTROL && !operation->only_lists;
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
