/* op_faults.c -- AddFault, ListFaults and RemoveFault, our own: faults injected into requests.
 *
 * All are refused unless the server was started with fault injection. They are about a table, and
 * ask for an action of their own on it, because whoever may write items should not by that be able
 * to make the requests of others fail.
 */
#include <assert.h>
#include <stdio.h>
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "fault/faults.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

enum { NUMBER_SIZE_MAX = 20 };

/* --- The JSON of a fault --- */

static const char *const limit_names[] = {
    [LIMITER_PROVISIONED] = "ProvisionedThroughputExceeded",
    [LIMITER_KEY_RANGE] = "KeyRangeThroughputExceeded",
    [LIMITER_MAX_ON_DEMAND] = "MaxOnDemandThroughputExceeded",
    [LIMITER_ACCOUNT] = "AccountLimitExceeded",
};

static void write_integer(struct json_writer *json, const char *name, int64_t value)
{
    json_write_name(json, name);
    json_write_integer(json, value);
}

static void write_operations(struct json_writer *json, uint32_t operations)
{
    json_write_name(json, "Operations");
    json_open_array(json);
    for (enum fault_operation i = 0; i < FAULT_OPERATIONS; i++) {
        if ((operations >> i & 1) != 0)
            json_write_text(json, fault_operation_name(i));
    }
    json_close_array(json);
}

static void write_fault(struct json_writer *json, const struct fault_reading *fault)
{
    const struct fault_rule *rule = &fault->rule;
    char number[NUMBER_SIZE_MAX + 1];
    snprintf(number, sizeof number, "%llu", (unsigned long long)fault->number);
    json_open_object(json);
    json_write_name(json, "FaultId");
    json_write_text(json, number);
    json_write_name(json, "TableName");
    json_write_string(json, rule->table_name);
    if (rule->index_name.len > 0) {
        json_write_name(json, "IndexName");
        json_write_string(json, rule->index_name);
    }
    write_operations(json, rule->operations);
    json_write_name(json, "Fault");
    json_write_text(json, fault_kind_name(rule->kind));
    if (rule->limit != LIMITER_ADMITS) {
        json_write_name(json, "Reason");
        json_write_text(json, limit_names[rule->limit]);
    }
    if (rule->kind == FAULT_DELAY) {
        write_integer(json, "DelayMilliseconds", rule->delay_ms);
        write_integer(json, "JitterMilliseconds", rule->jitter_ms);
    }
    json_write_name(json, "Percent");
    json_write_double(json, rule->percent);
    if (rule->count_max > 0)
        write_integer(json, "MaxCount", rule->count_max);
    write_integer(json, "Seed", (int64_t)rule->seed);
    json_write_name(json, "EndTime");
    json_write_seconds(json, rule->shown_end_ms);
    json_write_name(json, "State");
    json_write_text(json, fault->is_active ? "ACTIVE" : "ENDED");
    write_integer(json, "Requests", (int64_t)fault->draws);
    write_integer(json, "Injected", (int64_t)fault->hits);
    json_close_object(json);
}

static bool check_enabled(struct api_call *call)
{
    return api_options(call->api)->faults != NULL ||
           error_validation(&call->error, "Fault injection is off. Start the server with "
                                          "fault-injection = true to allow it");
}

/* --- AddFault --- */

struct add_fault_request {
    struct bytes table_name;
    struct bytes index_name;
    struct shape_list operations; /* of struct bytes */
    struct bytes fault;
    struct bytes reason;
    struct shape_double percent;
    struct shape_integer delay, jitter;
    struct shape_integer max_count;
    struct shape_integer duration;
    struct shape_integer seed;
};

static const char *const operation_values[] = {
    "BatchExecuteStatement",
    "BatchGetItem",
    "BatchWriteItem",
    "DeleteItem",
    "ExecuteStatement",
    "ExecuteTransaction",
    "GetItem",
    "PutItem",
    "Query",
    "Scan",
    "TransactGetItems",
    "TransactWriteItems",
    "UpdateItem",
    NULL,
};
static_assert(COUNT_OF(operation_values) == FAULT_OPERATIONS + 1, "all of faults.h");
static const char *const fault_values[] = {
    "Throttle",
    "InternalServerError",
    "TransactionConflict",
    "ConditionalCheckFailed",
    "CutConnection",
    "LoseAnswer",
    "Delay",
    NULL,
};
static_assert(COUNT_OF(fault_values) == FAULT_KINDS + 1, "all of faults.h");
static const char *const reason_values[] = {
    "ProvisionedThroughputExceeded",
    "KeyRangeThroughputExceeded",
    "MaxOnDemandThroughputExceeded",
    "AccountLimitExceeded",
    NULL,
};

static const struct shape operation_shape = { .kind = SHAPE_STRING,
                                              SHAPE_UNBOUNDED,
                                              .enum_values = operation_values };
static const struct shape operations_shape = {
    .kind = SHAPE_LIST, .min = 1, .max = FAULT_OPERATIONS, .element = &operation_shape
};
static const struct shape fault_shape = { .kind = SHAPE_STRING,
                                          SHAPE_UNBOUNDED,
                                          .enum_values = fault_values };
static const struct shape reason_shape = { .kind = SHAPE_STRING,
                                           SHAPE_UNBOUNDED,
                                           .enum_values = reason_values };
static const struct shape percent_shape = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
static const struct shape delay_shape = { .kind = SHAPE_INTEGER,
                                          .min = 1,
                                          .max = FAULT_DELAY_MS_MAX };
static const struct shape jitter_shape = { .kind = SHAPE_INTEGER,
                                           .min = 0,
                                           .max = FAULT_DELAY_MS_MAX };
static const struct shape count_shape = { .kind = SHAPE_LONG, .min = 1, .max = SHAPE_NO_MAX };
static const struct shape duration_shape = { .kind = SHAPE_INTEGER,
                                             .min = 1,
                                             .max = FAULT_DURATION_S_MAX };

static const struct shape_field add_fields[] = {
    { SHAPE_FIELD(struct add_fault_request, table_name, "TableName", &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct add_fault_request, index_name, "IndexName", &common_resource_name) },
    { SHAPE_FIELD(struct add_fault_request, operations, "Operations", &operations_shape) },
    { SHAPE_FIELD(struct add_fault_request, fault, "Fault", &fault_shape), .required = true },
    { SHAPE_FIELD(struct add_fault_request, reason, "Reason", &reason_shape) },
    { SHAPE_FIELD(struct add_fault_request, percent, "Percent", &percent_shape) },
    { SHAPE_FIELD(struct add_fault_request, delay, "DelayMilliseconds", &delay_shape) },
    { SHAPE_FIELD(struct add_fault_request, jitter, "JitterMilliseconds", &jitter_shape) },
    { SHAPE_FIELD(struct add_fault_request, max_count, "MaxCount", &count_shape) },
    { SHAPE_FIELD(struct add_fault_request, duration, "DurationSeconds", &duration_shape) },
    { SHAPE_FIELD(struct add_fault_request, seed, "Seed", &common_long) },
};
static const struct shape add_shape = { SHAPE_STRUCTURE_OF(struct add_fault_request, add_fields),
                                        .type_name = "AddFaultInput" };

static enum fault_kind kind_of(struct bytes name)
{
    enum fault_kind kind = 0;
    while (kind < FAULT_KINDS && !bytes_equal_text(name, fault_kind_name(kind)))
        kind++;
    return kind;
}

static enum limiter_limit limit_of(struct bytes name)
{
    for (size_t i = 1; name.data != NULL && i < COUNT_OF(limit_names); i++) {
        if (bytes_equal_text(name, limit_names[i]))
            return (enum limiter_limit)i;
    }
    return LIMITER_ADMITS;
}

/* Those of the request, or all that can meet the fault. */
static bool draft_operations(struct api_call *call, const struct shape_list *names,
                             struct fault_rule *draft)
{
    const struct bytes *given = names->elements;
    for (enum fault_operation i = 0; i < FAULT_OPERATIONS; i++) {
        bool is_named = !names->present && fault_operation_meets(i, draft->kind);
        for (size_t n = 0; n < names->kept && !is_named; n++)
            is_named = bytes_equal_text(given[n], fault_operation_name(i));
        if (is_named && !fault_operation_meets(i, draft->kind))
            return error_validation(&call->error, "%s never fails with %s", fault_operation_name(i),
                                    fault_kind_name(draft->kind));
        if (is_named)
            draft->operations |= UINT32_C(1) << i;
    }
    return true;
}

static bool check_members(struct api_call *call, const struct add_fault_request *request,
                          enum fault_kind kind)
{
    double percent = request->percent.value;
    if (request->percent.present && !(percent > 0 && percent <= 100))
        return error_validation(&call->error, "Percent is above 0 and at most 100");
    if (kind != FAULT_THROTTLE &&
        (request->reason.data != NULL || request->index_name.data != NULL))
        return error_validation(&call->error, "Reason and IndexName are for the fault Throttle");
    if ((kind == FAULT_DELAY) != request->delay.present)
        return error_validation(&call->error, "DelayMilliseconds is for the fault Delay, which "
                                              "needs it");
    if (kind != FAULT_DELAY && request->jitter.present)
        return error_validation(&call->error, "JitterMilliseconds is for the fault Delay");
    return true;
}

static uint64_t seed_of(const struct shape_integer *given)
{
    struct random random;
    if (given->present)
        return (uint64_t)given->value;
    random_init_from_system(&random);
    return random_next(&random) >> 12; /* A JSON number that every client reads exactly. */
}

static bool make_draft(struct api_call *call, const struct add_fault_request *request,
                       struct fault_rule *draft)
{
    const struct clock *clock = api_options(call->api)->clock;
    int64_t duration_s =
        request->duration.present ? request->duration.value : FAULT_DURATION_S_DEFAULT;
    *draft = (struct fault_rule){
        .index_name = request->index_name,
        .kind = kind_of(request->fault),
        .limit = limit_of(request->reason),
        .percent = request->percent.present ? request->percent.value : 100,
        .delay_ms = request->delay.value,
        .jitter_ms = request->jitter.value,
        .count_max = request->max_count.value,
        .ends_ms = clock_server_ms(clock) + duration_s * 1000,
        .shown_end_ms = clock_wall_ms(clock) + duration_s * 1000,
        .seed = seed_of(&request->seed),
    };
    return check_members(call, request, draft->kind) &&
           draft_operations(call, &request->operations, draft);
}

static bool find_target(struct api_call *call, const struct add_fault_request *request,
                        struct fault_rule *draft)
{
    const struct table *table = operation_find_table(call, request->table_name);
    if (!operation_check_table(call, table))
        return false;
    const struct table_definition *definition = table_definition(table);
    draft->table_name = definition->name;
    if (request->index_name.data == NULL)
        return true;
    const struct index_definition *index = table_definition_index(definition, request->index_name);
    return (index != NULL && index->global) ||
           error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Index: %.*s not found for table: %.*s",
                     BYTES_FMT(request->index_name), BYTES_FMT(definition->name));
}

static bool add(struct api_call *call, const struct fault_rule *draft)
{
    struct fault_reading added = { .rule = *draft, .is_active = true };
    struct json_writer json;
    added.number = faults_add(api_options(call->api)->faults, draft);
    if (added.number == 0)
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED, "There may be %d faults at most",
                         FAULTS_MAX);
    json_writer_init(&json, &call->response);
    write_fault(&json, &added);
    return true;
}

static void run_add(struct api_call *call, const void *input)
{
    const struct add_fault_request *request = input;
    struct fault_rule draft;
    operation_end(call, check_enabled(call) && make_draft(call, request, &draft) &&
                            find_target(call, request, &draft) && add(call, &draft));
}

const struct operation op_add_fault = { .name = "AddFault",
                                        .service = OPERATION_OF_STATOR,
                                        .kind = OPERATION_DATA,
                                        .request = &add_shape,
                                        .asks = OPERATION_ASKS_RESOURCE,
                                        .is_audited = true,
                                        .run = run_add };

/* --- ListFaults: those of a table, or of all --- */

struct list_faults_request {
    struct bytes table_name;
};

static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_faults_request, table_name, "TableName",
                  &common_existing_table_name) },
};
static const struct shape list_shape = {
    SHAPE_STRUCTURE_OF(struct list_faults_request, list_fields), .type_name = "ListFaultsInput"
};

static bool may_list(struct api_call *call, const struct list_faults_request *request)
{
    return request->table_name.data == NULL ? operation_may_use_account(call)
                                            : operation_may_use(call, request->table_name);
}

static void list(struct api_call *call, struct bytes table_name)
{
    struct fault_reading faults[FAULTS_MAX];
    size_t count = faults_read(api_options(call->api)->faults, call->arena, faults);
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Faults");
    json_open_array(&json);
    for (size_t i = 0; i < count; i++) {
        if (table_name.data == NULL ||
            bytes_equal(faults[i].rule.table_name, operation_table_name(table_name)))
            write_fault(&json, &faults[i]);
    }
    json_close_array(&json);
    json_close_object(&json);
}

static void run_list(struct api_call *call, const void *input)
{
    const struct list_faults_request *request = input;
    bool ok = may_list(call, request) && check_enabled(call);
    if (ok)
        list(call, request->table_name);
    operation_end(call, ok);
}

const struct operation op_list_faults = { .name = "ListFaults",
                                          .service = OPERATION_OF_STATOR,
                                          .kind = OPERATION_DATA,
                                          .request = &list_shape,
                                          .asks = OPERATION_ASKS_ITSELF,
                                          .run = run_list };

/* --- RemoveFault ---
 *
 * Asks about the table of the fault. One that the caller may not remove is answered like one that
 * does not exist: as not found, or, to a caller that may not remove faults in general, as denied.
 */

struct remove_fault_request {
    struct bytes fault_id;
};

static const struct shape_field remove_fields[] = {
    { SHAPE_FIELD(struct remove_fault_request, fault_id, "FaultId", &common_string),
      .required = true },
};
static const struct shape remove_shape = {
    SHAPE_STRUCTURE_OF(struct remove_fault_request, remove_fields), .type_name = "RemoveFaultInput"
};

/* 0 if it is no number of a fault. */
static uint64_t number_of(struct bytes text)
{
    uint64_t number = 0;
    if (text.len == 0 || text.len >= NUMBER_SIZE_MAX || text.data[0] == '0')
        return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return 0;
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    }
    return number;
}

/* Whether there is such a fault for this caller. */
static bool sees_fault(struct api_call *call, uint64_t number)
{
    struct fault_reading faults[FAULTS_MAX];
    struct faults *known = api_options(call->api)->faults;
    size_t count = known == NULL ? 0 : faults_read(known, call->arena, faults);
    for (size_t i = 0; i < count; i++) {
        if (faults[i].number != number || !operation_sees_table(call, faults[i].rule.table_name))
            continue;
        call->asked = true;
        call->resource = operation_table_arn(call, faults[i].rule.table_name);
        return true;
    }
    return false;
}

static bool remove_fault(struct api_call *call, struct bytes id)
{
    uint64_t number = number_of(id);
    bool sees = sees_fault(call, number);
    if (!sees && !operation_may_use_account(call))
        return false;
    if (!check_enabled(call))
        return false;
    return (sees && faults_remove(api_options(call->api)->faults, number)) ||
           error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Fault: %.*s not found", BYTES_FMT(id));
}

static void run_remove(struct api_call *call, const void *input)
{
    const struct remove_fault_request *request = input;
    struct json_writer json;
    bool ok = remove_fault(call, request->fault_id);
    if (ok) {
        json_writer_init(&json, &call->response);
        json_open_object(&json);
        json_close_object(&json);
    }
    operation_end(call, ok);
}

const struct operation op_remove_fault = { .name = "RemoveFault",
                                           .service = OPERATION_OF_STATOR,
                                           .kind = OPERATION_DATA,
                                           .request = &remove_shape,
                                           .asks = OPERATION_ASKS_ITSELF,
                                           .is_audited = true,
                                           .run = run_remove };
