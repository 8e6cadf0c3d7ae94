/* call_meter.c -- see call_meter.h.
 *
 * The meter knows operations by number. A call has a pointer to its operation, so a small table
 * with open addressing, filled once, leads from the pointer to the number.
 */
#include "api/call_meter.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "api/admission.h"
#include "api/api.h"
#include "api/capacity.h"
#include "api/operation.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "metric/meter.h"
#include "metric/slow_log.h"

enum {
    PLACES = 512, /* A power of two, well above the number of operations. */
    NAME_SIZE_MAX = 96,
    NS_PER_MS = 1000000,
};
static_assert((int)PLACES >= 2 * (int)METER_OPERATIONS_MAX, "most lookups meet no other operation");

struct call_meter {
    struct meter *meter;
    struct slow_log *slow_log;
    int64_t slow_ns; /* Its threshold. */
    const struct clock *clock;
    struct {
        const struct operation *operation; /* NULL: free. */
        unsigned number;
    } places[PLACES];
    struct meter_operation operations[METER_OPERATIONS_MAX];
    char names[METER_OPERATIONS_MAX][NAME_SIZE_MAX]; /* Of those that need a prefix. */
};

static size_t first_place(const struct operation *operation)
{
    return (size_t)(((uint64_t)(uintptr_t)operation * UINT64_C(0x9E3779B97F4A7C15)) >> 55) % PLACES;
}

/* Names are unique within a service, so those of other services get its prefix. */
static const char *name_of(char out[NAME_SIZE_MAX], const struct operation *operation)
{
    enum operation_service service = operation_service(operation);
    if (service <= OPERATION_OF_STATOR)
        return operation_name(operation);
    int length = snprintf(out, NAME_SIZE_MAX, "%s:%s", operation_service_prefix(service),
                          operation_name(operation));
    assert(length > 0 && length < NAME_SIZE_MAX);
    (void)length;
    return out;
}

static void add_operation(struct call_meter *call_meter, unsigned number)
{
    const struct operation *operation = operation_at(number);
    size_t place = first_place(operation);
    while (call_meter->places[place].operation != NULL)
        place = (place + 1) % PLACES;
    call_meter->places[place].operation = operation;
    call_meter->places[place].number = number;
    enum operation_service service = operation_service(operation);
    call_meter->operations[number] = (struct meter_operation){
        .name = name_of(call_meter->names[number], operation),
        .has_user_errors = service == OPERATION_OF_DYNAMODB || service == OPERATION_OF_STREAMS,
        .returns_items = operation == &op_query || operation == &op_scan ||
                         operation == &op_execute_statement || operation == &op_get_records,
    };
}

struct call_meter *call_meter_create(struct catalogue *catalogue, const struct api_options *options)
{
    struct call_meter *call_meter = memory_checked(calloc(1, sizeof *call_meter));
    assert(operation_count() <= METER_OPERATIONS_MAX);
    for (unsigned i = 0; i < operation_count(); i++)
        add_operation(call_meter, i);
    call_meter->meter =
        meter_create(&(struct meter_options){ .catalogue = catalogue,
                                              .clock = options->clock,
                                              .operations = call_meter->operations,
                                              .operation_count = operation_count(),
                                              .tables_max = options->metric_tables_max });
    call_meter->clock = options->clock;
    call_meter->slow_log = slow_log_create(options->slow_request_ms * NS_PER_MS);
    call_meter->slow_ns = slow_log_threshold_ns(call_meter->slow_log);
    return call_meter;
}

void call_meter_destroy(struct call_meter *call_meter)
{
    if (call_meter == NULL)
        return;
    meter_destroy(call_meter->meter);
    slow_log_destroy(call_meter->slow_log);
    free(call_meter);
}

struct meter *call_meter_meter(const struct call_meter *call_meter)
{
    return call_meter->meter;
}

struct slow_log *call_meter_slow_log(const struct call_meter *call_meter)
{
    return call_meter->slow_log;
}

static unsigned number_of(const struct call_meter *call_meter, const struct operation *operation)
{
    size_t place = first_place(operation);
    while (call_meter->places[place].operation != operation) {
        assert(call_meter->places[place].operation != NULL);
        place = (place + 1) % PLACES;
    }
    return call_meter->places[place].number;
}

/* A transaction that is cancelled because a limit refused a part, and a batch of statements all of
 * which were refused. Other requests end with an exception that says it. */
static bool is_throttled(const struct api_call *call, enum error_code error)
{
    bool may_be =
        error == ERROR_TRANSACTION_CANCELED || (error == ERROR_NONE && call->is_all_throttled);
    return may_be && admission_has_throttled(call);
}

void call_meter_count(struct call_meter *call_meter, const struct api_call *call,
                      const struct api_outcome *outcome, int64_t now_ns)
{
    const struct meter_call counted = {
        .operation = number_of(call_meter, call->operation),
        .error = outcome->error,
        .now_ns = now_ns,
        .elapsed_ns = outcome->elapsed_ns,
        .request_size = call->body.len,
        .response_size = outcome->error == ERROR_NONE ? call->response.len : 0,
        .batch_count = call->batch_count,
        .verb = (enum meter_verb)call->verb,
        .is_throttled = UNLIKELY(call->admission != NULL) && is_throttled(call, outcome->error),
        .queue_ns = call->queue_ns,
    };
    meter_count_call(call_meter->meter, &counted, call->uses, call->use_count);
    if (UNLIKELY(outcome->elapsed_ns >= call_meter->slow_ns))
        slow_log_note(call_meter->slow_log, &counted, clock_wall_ms(call_meter->clock),
                      call->pause_count, call->uses, call->use_count);
}

void call_meter_count_injected(struct call_meter *call_meter, const struct api_call *call,
                               int64_t now_ns)
{
    meter_count_injected(call_meter->meter, number_of(call_meter, call->operation), now_ns,
                         call->uses, call->use_count);
}
