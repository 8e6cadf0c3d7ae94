/* operations.c -- finds an operation by service and name: a binary search in operation_list.h's
 * order, behind a memory of those found lately. */
#include "api/operation.h"
#include <assert.h>
#include <string.h>

static const struct operation *const operations[] = {
#define POINT_TO(identifier, name) &op_##identifier,
    OPERATION_LIST(POINT_TO)
#undef POINT_TO
};

static int compare(const struct operation *operation, enum operation_service service,
                   struct bytes name)
{
    if (operation->service != service)
        return operation->service < service ? -1 : 1;
    /* Most names differ in the first byte, and this runs for every request. */
    int first = name.len > 0 ? (uint8_t)operation->name[0] - name.data[0] : 0;
    if (first != 0)
        return first;
    return bytes_compare(bytes_from_text(operation->name), name);
}

static const struct operation *search(enum operation_service service, struct bytes name)
{
    size_t low = 0, high = COUNT_OF(operations);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(operations[middle], service, name);
        if (order == 0)
            return operations[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* A thread's requests name few operations: it looks first at what it found lately. */
const struct operation *operation_find(enum operation_service service, struct bytes name)
{
    enum { PLACES = 32 };
    static _Thread_local const struct operation *recent[PLACES];
    size_t first = name.len > 0 ? name.data[0] : 0;
    const struct operation **place = &recent[(name.len * 4 + first) % PLACES];
    const struct operation *found = *place;
    if (found != NULL && found->service == service && bytes_equal_text(name, found->name))
        return found;
    found = search(service, name);
    if (found != NULL)
        *place = found;
    return found;
}

const char *operation_service_prefix(enum operation_service service)
{
    static const char *const prefixes[OPERATION_SERVICE_COUNT] = {
        [OPERATION_OF_DYNAMODB] = "dynamodb",
        [OPERATION_OF_STREAMS] = "dynamodb",
        [OPERATION_OF_STATOR] = "stator",
        [OPERATION_OF_CLOUDWATCH] = "cloudwatch",
        [OPERATION_OF_STS] = "sts",
        [OPERATION_OF_SCALING] = "application-autoscaling",
        [OPERATION_OF_SSM] = "ssm",
        [OPERATION_OF_CLOUDFORMATION] = "cloudformation",
        [OPERATION_OF_S3] = "s3",
    };
    assert(service < OPERATION_SERVICE_COUNT);
    return prefixes[service];
}

static bool has_prefix(struct bytes action, const char *prefix)
{
    size_t size = strlen(prefix);
    return action.len > size && memcmp(action.data, prefix, size) == 0 && action.data[size] == ':';
}

const struct operation *operation_find_action(struct bytes action)
{
    const struct operation *found = NULL;
    bool has_service = action.len > 0 && memchr(action.data, ':', action.len) != NULL;
    for (enum operation_service i = 0; i < OPERATION_SERVICE_COUNT && found == NULL; i++) {
        const char *prefix = operation_service_prefix(i);
        if (!has_service && i <= OPERATION_OF_STATOR)
            found = operation_find(i, action);
        else if (has_service && has_prefix(action, prefix))
            found = operation_find(
                i, bytes_of(action.data + strlen(prefix) + 1, action.len - strlen(prefix) - 1));
    }
    return found;
}

const char *operation_action_prefix(const struct operation *operation)
{
    return operation->actions_of != NULL ? operation->actions_of
                                         : operation_service_prefix(operation->service);
}

const char *operation_name(const struct operation *operation)
{
    return operation->name;
}

bool operation_reads_many(const struct operation *operation)
{
    return operation->reads_many;
}

bool operation_only_reads(const struct operation *operation)
{
    return operation->only_reads;
}

enum operation_waits operation_waits(const struct operation *operation)
{
    return operation->waits;
}

bool operation_is_audited(const struct operation *operation)
{
    return operation->is_audited ||
           (operation->kind == OPERATION_CONTROL && !operation->only_lists);
}

enum operation_service operation_service(const struct operation *operation)
{
    return operation->service;
}

const struct shape *operation_request(const struct operation *operation)
{
    return operation->request;
}

size_t operation_count(void)
{
    return COUNT_OF(operations);
}

const struct operation *operation_at(size_t index)
{
    return operations[index];
}
