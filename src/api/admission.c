/* admission.c -- see admission.h. */
#include "api/admission.h"
#include <assert.h>
#include <stdatomic.h>
#include "api/fault_injection.h"
#include "api/key_use.h"
#include "api/operation.h"
#include "api/table/throughput_rules.h"
#include "api/transaction/transaction.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "capacity/limiter.h"
#include "fault/faults.h"
#include "index/index_view.h"
#include "json/writer.h"
#include "metric/meter.h"
#include "model/arn.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/table_runtime.h"
#include "txn/txn.h"

static_assert((int)LIMITER_RESOURCES_MAX > (int)GLOBAL_INDEXES_MAX, "a table and its indexes fit");
static_assert((int)LIMITER_READ == (int)METER_READ && (int)LIMITER_WRITE == (int)METER_WRITE,
              "directions have the same numbers");
static_assert((int)LIMITER_NO_MAX == (int)UNITS_UNSET, "an absent maximum is stored as such");

/* Something that a limit did not admit. */
struct refusal {
    const struct capacity_use *use;
    const struct index_definition *index; /* NULL: the table. */
    enum limiter_direction direction;
    struct limiter_answer answer;
    struct bytes key;               /* As stored, at least the partition key; data NULL: none. */
    bool is_whole_key;              /* It is that of one item or entry. */
    const struct fault_rule *fault; /* That has pretended it; NULL: it is real. */
};

/* Of a call, in its arena. */
struct admission {
    int64_t now_ms; /* When the call came: all its parts ask for the same moment. */
    struct refusal *refusals;
    size_t count;
    size_t room;
};

/* --- Which limits there are --- */

static struct limiter_rates rates_of(const struct api_options *options,
                                     const struct table_definition *table,
                                     const struct index_definition *index)
{
    const struct throughput *provisioned = index == NULL ? &table->throughput : &index->throughput;
    const struct unit_pair *max = index == NULL ? &table->on_demand_max : &index->on_demand_max;
    const struct unit_pair warm =
        throughput_rules_warm(table->billing_mode, provisioned,
                              index == NULL ? &table->warm_throughput : &index->warm_throughput);
    const struct api_quotas *quotas = &options->quotas;
    return (struct limiter_rates){
        .id = index == NULL ? table->id : index->id,
        .on_demand = table->billing_mode == BILLING_PAY_PER_REQUEST,
        .provisioned = { provisioned->read_units, provisioned->write_units },
        .warm = { warm.read_units, warm.write_units },
        .max = { max->read_units, max->write_units },
        .quota = { quotas->table_read_units, quotas->table_write_units },
    };
}

static void configure(struct limiter *limiter, const struct api_options *options,
                      const struct table_definition *table)
{
    struct limiter_rates rates[LIMITER_RESOURCES_MAX];
    size_t count = 0;
    rates[count++] = rates_of(options, table, NULL);
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].global)
            rates[count++] = rates_of(options, table, &table->indexes[i]);
    }
    limiter_configure(limiter, rates, count, clock_server_ms(options->clock));
}

/* Any thread may be the first that needs it. */
static struct limiter *limiter_of(const struct api_options *options, const struct table *table)
{
    struct table_runtime *runtime = table_runtime(table);
    struct limiter *known = atomic_load_explicit(&runtime->limiter, memory_order_acquire);
    if (known != NULL)
        return known;
    struct limiter *made = limiter_create();
    configure(made, options, table_definition(table));
    if (atomic_compare_exchange_strong(&runtime->limiter, &known, made))
        return made;
    limiter_destroy(made);
    return known;
}

static void open_admission(struct api_call *call, struct capacity_use *use)
{
    use->is_asked = true;
    if (call->admission != NULL)
        return;
    call->admission = arena_alloc_zeroed(call->arena, sizeof *call->admission);
    call->admission->now_ms = clock_server_ms(api_options(call->api)->clock);
}

void admission_bind(struct api_call *call, struct capacity_use *use, enum capacity_setting setting)
{
    const struct api_options *options = api_options(call->api);
    assert(use->table != NULL);
    if (setting != CAPACITY_ENFORCE) {
        call->has_uncounted = true;
        return;
    }
    use->limiter = limiter_of(options, use->table);
    open_admission(call, use);
}

void admission_bind_faults(struct api_call *call, struct capacity_use *use)
{
    if (faults_have_active(api_options(call->api)->faults) && fault_injection_bind(call, use))
        open_admission(call, use);
}

void admission_configure(struct api *api, const struct table *table)
{
    const struct api_options *options = api_options(api);
    const struct table_definition *definition = table_definition(table);
    struct limiter *known = atomic_load(&table_runtime(table)->limiter);
    if (known == NULL && admission_setting(options, definition->capacity) != CAPACITY_ENFORCE)
        return;
    configure(limiter_of(options, table), options, definition);
}

/* --- Questions --- */

static void remember(struct api_call *call, struct refusal refusal)
{
    struct admission *admission = call->admission;
    if (admission->count == admission->room) {
        size_t room = admission->room == 0 ? 1 : 2 * admission->room;
        struct refusal *moved = arena_alloc(call->arena, room * sizeof *moved);
        for (size_t i = 0; i < admission->count; i++)
            moved[i] = admission->refusals[i];
        admission->refusals = moved;
        admission->room = room;
    }
    admission->refusals[admission->count++] = refusal;
}

/* What the call has used of a resource so far, and of one key of it. A request may name a table
 * twice, by its name and by its ARN. */
static void add_pending(const struct api_call *call, const struct capacity_use *use,
                        const struct index_definition *index, struct limiter_question *question)
{
    for (size_t u = 0; u < call->use_count; u++) {
        const struct capacity_use *other = &call->uses[u];
        if (other->limiter != use->limiter)
            continue;
        if (index == NULL)
            question->pending_half_units += capacity_use_of_table(other);
        for (size_t i = 0; index != NULL && i < other->definition->index_count; i++) {
            if (other->definition->indexes[i].id == index->id)
                question->pending_half_units += other->index_half_units[i];
        }
        for (const struct capacity_key *key = other->keys; key != NULL; key = key->next) {
            if (question->has_key && key->id == question->id && key->key == question->key)
                question->pending_key_half_units += key->half_units;
        }
    }
}

/* What is about to be done. */
struct attempt {
    const struct capacity_use *use;
    const struct index_definition *index; /* NULL, or a global one. */
    enum limiter_direction direction;
    struct bytes key;
    bool is_whole_key;
};

/* Stored keys begin with the hash of the partition key. */
static uint64_t hash_of(struct bytes key)
{
    assert(key.len >= sizeof(uint64_t));
    return load_u64_be(key.data);
}

/* Refuses what a fault has hit. A throttle that names no limit is the usual one of the table. */
static bool ask_faults(struct api_call *call, const struct attempt *attempt)
{
    const struct capacity_use *use = attempt->use;
    const struct fault_rule *fault =
        fault_injection_ask(call, &(struct fault_attempt){ .use = use,
                                                           .index = attempt->index,
                                                           .direction = attempt->direction,
                                                           .key = attempt->key });
    if (fault == NULL)
        return true;
    bool on_demand = use->definition->billing_mode == BILLING_PAY_PER_REQUEST;
    enum limiter_limit limit = fault->limit;
    if (limit == LIMITER_ADMITS)
        limit = on_demand ? LIMITER_KEY_RANGE : LIMITER_PROVISIONED;
    remember(call, (struct refusal){ .use = use,
                                     .index = attempt->index,
                                     .direction = attempt->direction,
                                     .answer = { .limit = limit, .on_demand = on_demand },
                                     .fault = fault });
    return false;
}

static bool ask(struct api_call *call, const struct attempt *attempt)
{
    const struct index_definition *index = attempt->index;
    assert(call->admission != NULL && (index == NULL || index->global));
    if (call->faults != NULL && !ask_faults(call, attempt))
        return false;
    if (attempt->use->limiter == NULL)
        return true;
    struct limiter_question question = {
        .id = index == NULL ? attempt->use->definition->id : index->id,
        .direction = attempt->direction,
        .has_key = attempt->key.data != NULL,
        .key = attempt->key.data == NULL ? 0 : hash_of(attempt->key),
        .now_ms = call->admission->now_ms,
    };
    add_pending(call, attempt->use, index, &question);
    struct limiter_answer answer = limiter_ask(attempt->use->limiter, &question);
    if (answer.limit == LIMITER_ADMITS)
        return true;
    remember(call, (struct refusal){ .use = attempt->use,
                                     .index = index,
                                     .direction = attempt->direction,
                                     .answer = answer,
                                     .key = attempt->key,
                                     .is_whole_key = attempt->is_whole_key });
    return false;
}

bool admission_ask_read(struct api_call *call, const struct capacity_use *use,
                        const struct index_definition *index, struct bytes key)
{
    return ask(call, &(struct attempt){ .use = use,
                                        .index = index != NULL && index->global ? index : NULL,
                                        .direction = LIMITER_READ,
                                        .key = key });
}

bool admission_ask_get(struct api_call *call, const struct capacity_use *use,
                       const struct item_address *place)
{
    return ask(call, &(struct attempt){ .use = use,
                                        .direction = LIMITER_READ,
                                        .key = place->address.key,
                                        .is_whole_key = true });
}

bool admission_ask_write(struct api_call *call, const struct capacity_use *use,
                         const struct item_address *place)
{
    return ask(call, &(struct attempt){ .use = use,
                                        .direction = LIMITER_WRITE,
                                        .key = place->address.key,
                                        .is_whole_key = true });
}

/* An entry that moves is taken from one partition key and put to another: both must admit it. */
static bool ask_index(struct api_call *call, const struct capacity_use *use,
                      const struct index_definition *index, const struct index_view *before,
                      const struct index_view *after)
{
    struct item_address old, new;
    bool had = before != NULL && index_view_locate(call->arena, before, index, &old);
    bool has = after != NULL && index_view_locate(call->arena, after, index, &new);
    struct attempt attempt = {
        .use = use, .index = index, .direction = LIMITER_WRITE, .is_whole_key = true
    };
    if (has) {
        attempt.key = new.address.key;
        if (!ask(call, &attempt))
            return false;
    }
    if (!had || (has && old.hash == new.hash))
        return true;
    attempt.key = old.address.key;
    return ask(call, &attempt);
}

bool admission_ask_indexes(struct api_call *call, const struct capacity_use *use,
                           const struct table_definition *table, const struct item *before,
                           const struct item *after)
{
    struct index_view old, new;
    bool ok = true;
    if (before != NULL)
        old = index_view_open(call->arena, table, before);
    if (after != NULL)
        new = index_view_open(call->arena, table, after);
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        if (index->global && index->status != INDEX_DELETING && index->status != INDEX_ALLOCATING)
            ok &= ask_index(call, use, index, before == NULL ? NULL : &old,
                            after == NULL ? NULL : &new);
    }
    return ok;
}

bool admission_decided(struct api_call *call, const struct capacity_use *use,
                       const struct txn_item *item)
{
    if (item->effect != TXN_PUT && item->effect != TXN_DELETE)
        return true;
    return admission_indexes(call, use, item->table, item->exists ? &item->current : NULL,
                             item->effect == TXN_PUT ? &item->replacement : NULL);
}

bool admission_ask_condition(struct api_call *call, const struct capacity_use *use,
                             const struct item_address *place)
{
    return fault_injection_fails_condition(call, use, place->address.key);
}

/* --- Refusals --- */

static bool is_throttle(const struct refusal *refusal)
{
    return refusal->fault == NULL || refusal->fault->kind == FAULT_THROTTLE;
}

bool admission_is_of_request(const struct api_call *call)
{
    for (size_t i = 0; i < admission_refusal_count(call); i++) {
        const struct fault_rule *fault = call->admission->refusals[i].fault;
        if (fault != NULL &&
            (fault->kind == FAULT_INTERNAL_ERROR || fault->kind == FAULT_CUT_CONNECTION))
            return true;
    }
    return false;
}

size_t admission_refusal_count(const struct api_call *call)
{
    return call->admission == NULL ? 0 : call->admission->count;
}

bool admission_has_throttled(const struct api_call *call)
{
    for (size_t i = 0; i < admission_refusal_count(call); i++) {
        if (call->admission->refusals[i].fault == NULL)
            return true;
    }
    return false;
}

void admission_forget(struct api_call *call, size_t count)
{
    if (call->admission == NULL)
        return;
    assert(count <= call->admission->count);
    call->admission->count = count;
}

/* Written out: a refused request must cost no more than one that is served, and formatting would be
 * a good part of it. */
#define REASONS_OF(resource, direction)                                                            \
    {                                                                                              \
        [LIMITER_PROVISIONED] = resource direction "ProvisionedThroughputExceeded",                \
        [LIMITER_KEY_RANGE] = resource direction "KeyRangeThroughputExceeded",                     \
        [LIMITER_MAX_ON_DEMAND] = resource direction "MaxOnDemandThroughputExceeded",              \
        [LIMITER_ACCOUNT] = resource direction "AccountLimitExceeded",                             \
    }
static const char *const reason_names[2][LIMITER_DIRECTIONS][LIMITER_ACCOUNT + 1] = {
    { REASONS_OF("Table", "Read"), REASONS_OF("Table", "Write") },
    { REASONS_OF("Index", "Read"), REASONS_OF("Index", "Write") },
};

static const char *reason_name(const struct refusal *refusal)
{
    assert(refusal->answer.limit != LIMITER_ADMITS);
    return reason_names[refusal->index != NULL][refusal->direction][refusal->answer.limit];
}

static struct bytes resource_arn(struct api_call *call, const struct refusal *refusal)
{
    struct bytes table = operation_table_arn(call, refusal->use->definition->name);
    if (refusal->index == NULL)
        return table;
    const struct bytes parts[] = { table, BYTES("/index/"), refusal->index->name };
    return arena_join(call->arena, parts, COUNT_OF(parts));
}

static bool is_same(const struct refusal *a, const struct refusal *b)
{
    const uint64_t index_a = a->index == NULL ? 0 : a->index->id;
    const uint64_t index_b = b->index == NULL ? 0 : b->index->id;
    return a->use->definition->id == b->use->definition->id && index_a == index_b &&
           a->direction == b->direction && a->answer.limit == b->answer.limit;
}

static bool is_first_of_kind(const struct refusal *list, size_t first, size_t index)
{
    for (size_t i = first; i < index; i++) {
        if (is_same(&list[i], &list[index]))
            return false;
    }
    return true;
}

static struct bytes reasons_json(struct api_call *call, struct admission_refusals which)
{
    const struct refusal *list = call->admission->refusals;
    struct buffer json;
    struct json_writer writer;
    buffer_init(&json, call->arena);
    json_writer_init(&writer, &json);
    json_open_array(&writer);
    for (size_t i = which.first; i < which.end; i++) {
        if (!is_throttle(&list[i]) || !is_first_of_kind(list, which.first, i))
            continue;
        json_open_object(&writer);
        json_write_name(&writer, "reason");
        json_write_text(&writer, reason_name(&list[i]));
        json_write_name(&writer, "resource");
        json_write_string(&writer, resource_arn(call, &list[i]));
        json_close_object(&writer);
    }
    json_close_array(&writer);
    return buffer_bytes(&json);
}

/* The exception of a refusal, and its text. Texts of indexes end without a stop, except as reasons
 * of a cancelled transaction. */
struct exception {
    enum error_code code;
    const char *text;
    bool lacks_stop;
};

static struct exception exception_of_fault(enum fault_kind kind)
{
    if (kind == FAULT_TRANSACTION_CONFLICT)
        return (struct exception){ ERROR_TRANSACTION_CONFLICT,
                                   "Transaction is ongoing for the item", false };
    return (struct exception){ ERROR_INTERNAL, "Internal server error", false };
}

static struct exception exception_of(const struct refusal *refusal, bool is_single)
{
    static const char table_text[] =
        "The level of configured provisioned throughput for the table was exceeded. Consider "
        "increasing your provisioning level with the UpdateTable API.";
    static const char index_text[] =
        "The level of configured provisioned throughput for one or more global secondary indexes "
        "of the table was exceeded. Consider increasing your provisioning level for the "
        "under-provisioned global secondary indexes with the UpdateTable API";
    const struct exception provisioned = { ERROR_PROVISIONED_THROUGHPUT_EXCEEDED,
                                           refusal->index == NULL ? table_text : index_text,
                                           refusal->index != NULL };
    bool is_index_write = refusal->index != NULL && refusal->direction == LIMITER_WRITE;
    if (!is_throttle(refusal))
        return exception_of_fault(refusal->fault->kind);
    switch (refusal->answer.limit) {
    case LIMITER_ADMITS:
        break;
    case LIMITER_PROVISIONED:
        return provisioned;
    case LIMITER_KEY_RANGE:
        if (!refusal->answer.on_demand)
            return provisioned;
        if (is_index_write)
            return (struct exception){
                ERROR_THROTTLING,
                "Throughput exceeds the current capacity for one or more global "
                "secondary indexes. DynamoDB is automatically scaling your index "
                "so please try again shortly.",
                false
            };
        return (struct exception){
            ERROR_THROTTLING,
            "Throughput exceeds the current capacity of your table or index. DynamoDB is "
            "automatically scaling your table or index so please try again shortly. If exceptions "
            "persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/"
            "latest/developerguide/bp-partition-key-design.html",
            false
        };
    case LIMITER_MAX_ON_DEMAND:
        if (is_single && is_index_write)
            return provisioned;
        return (
            struct exception){ ERROR_THROTTLING,
                               "Throughput exceeds the maximum OnDemandThroughput configured on "
                               "table or index",
                               true };
    case LIMITER_ACCOUNT:
        return (
            struct exception){ ERROR_REQUEST_LIMIT_EXCEEDED,
                               "Throughput exceeds the current throughput limit for your account. "
                               "To request a limit increase, contact AWS Support at "
                               "https://aws.amazon.com/support.",
                               false };
    }
    assert(false);
    return provisioned;
}

/* The first one, or one that ends the whole request. */
static const struct refusal *find_reported(const struct api_call *call,
                                           struct admission_refusals which)
{
    const struct refusal *list = call->admission->refusals;
    for (size_t i = which.first; i < which.end; i++) {
        if (!is_throttle(&list[i]) && list[i].fault->kind != FAULT_TRANSACTION_CONFLICT)
            return &list[i];
    }
    return &list[which.first];
}

bool admission_fail_for(struct api_call *call, struct admission_refusals which, bool is_single,
                        struct error *err)
{
    assert(which.first < which.end && which.end <= call->admission->count);
    const struct exception exception = exception_of(find_reported(call, which), is_single);
    if (exception.code != ERROR_INTERNAL && exception.code != ERROR_TRANSACTION_CONFLICT)
        err->throttling_json = reasons_json(call, which);
    return error_set_bytes(err, exception.code, bytes_from_text(exception.text));
}

bool admission_fail(struct api_call *call)
{
    struct admission_refusals all = { 0, admission_refusal_count(call) };
    return admission_fail_for(call, all, true, &call->error);
}

bool admission_fail_batch(struct api_call *call)
{
    struct admission_refusals all = { 0, admission_refusal_count(call) };
    return admission_fail_for(call, all, false, &call->error);
}

struct transaction_reason admission_reason(struct api_call *call, struct admission_refusals which)
{
    assert(which.first < which.end && which.end <= call->admission->count);
    const struct exception exception = exception_of(&call->admission->refusals[which.first], false);
    bool provisioned = exception.code == ERROR_PROVISIONED_THROUGHPUT_EXCEEDED;
    if (exception.code == ERROR_TRANSACTION_CONFLICT)
        return transaction_reason_conflict();
    return (struct transaction_reason){
        .code = provisioned ? "ProvisionedThroughputExceeded" : "ThrottlingError",
        .message =
            arena_printf(call->arena, "%s%s", exception.text, exception.lacks_stop ? "." : ""),
    };
}

/* --- The end --- */

static void charge(const struct capacity_use *use, int64_t now_ms)
{
    const struct table_definition *table = use->definition;
    enum limiter_direction direction = use->kind == CAPACITY_READ ? LIMITER_READ : LIMITER_WRITE;
    limiter_charge(use->limiter, table->id, direction, capacity_use_of_table(use), now_ms);
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].global)
            limiter_charge(use->limiter, table->indexes[i].id, direction, use->index_half_units[i],
                           now_ms);
    }
    for (const struct capacity_key *key = use->keys; key != NULL; key = key->next)
        limiter_charge_key(use->limiter, key->id, direction, key->key, key->half_units, now_ms);
}

/* Meter and insights know the indexes of the version that the call found. */
static void count_refusal(struct api_call *call, const struct refusal *refusal)
{
    static const enum meter_reason reasons[] = {
        [LIMITER_PROVISIONED] = METER_PROVISIONED_THROUGHPUT,
        [LIMITER_KEY_RANGE] = METER_KEY_RANGE_THROUGHPUT,
        [LIMITER_MAX_ON_DEMAND] = METER_MAX_ON_DEMAND_THROUGHPUT,
        [LIMITER_ACCOUNT] = METER_ACCOUNT_LIMIT,
    };
    const struct index_definition *index = NULL;
    if (refusal->index != NULL)
        index = table_definition_index(table_definition(refusal->use->table), refusal->index->name);
    meter_count_throttle(api_meter(call->api), refusal->use->table, index,
                         (enum meter_direction)refusal->direction, reasons[refusal->answer.limit],
                         1);
    if (refusal->key.data != NULL && table_definition(refusal->use->table)->counts_keys)
        key_use_count_throttled(call, refusal->use->table, index, refusal->key,
                                refusal->is_whole_key);
}

void admission_forget_units(struct api_call *call)
{
    for (size_t u = 0; u < call->use_count; u++) {
        struct capacity_use *use = &call->uses[u];
        if (use->table == NULL ||
            admission_setting(api_options(call->api), table_definition(use->table)->capacity) !=
                CAPACITY_OFF)
            continue;
        use->table_half_units = 0;
        for (size_t i = 0; i < use->definition->index_count; i++)
            use->index_half_units[i] = 0;
    }
}

void admission_end(struct api_call *call)
{
    int64_t now_ms = clock_server_ms(api_options(call->api)->clock);
    for (size_t i = 0; i < call->use_count; i++) {
        if (call->uses[i].limiter != NULL)
            charge(&call->uses[i], now_ms);
    }
    for (size_t i = 0; i < call->admission->count; i++) {
        if (call->admission->refusals[i].fault == NULL)
            count_refusal(call, &call->admission->refusals[i]);
    }
    if (call->faults != NULL)
        fault_injection_end(call);
}
