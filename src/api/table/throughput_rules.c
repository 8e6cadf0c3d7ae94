/* throughput_rules.c -- see throughput_rules.h.
 *
 * A table and each of its global indexes are capacities of the same kind, with the same rules and
 * nearly the same texts; `struct capacity` is what they share.
 */
#include "api/table/throughput_rules.h"
#include <assert.h>
#include "api/table/index_rules.h"
#include "api/table/table_shapes.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "model/error.h"

#define INVALID_VALUES "One or more parameter values were invalid: "
#define DAY_MS INT64_C(86400000)

struct capacity {
    struct bytes index_name; /* `data` NULL: the table itself. */
    bool is_added;           /* Of an index that UpdateTable creates: observed with other texts. */
    struct throughput *provisioned;
    struct unit_pair *on_demand_max;
    struct unit_pair *warm;
};

static struct capacity table_capacity(struct table_definition *table)
{
    return (struct capacity){ .provisioned = &table->throughput,
                              .on_demand_max = &table->on_demand_max,
                              .warm = &table->warm_throughput };
}

static struct capacity index_capacity(struct index_definition *index)
{
    return (struct capacity){ .index_name = index->name,
                              .provisioned = &index->throughput,
                              .on_demand_max = &index->on_demand_max,
                              .warm = &index->warm_throughput };
}

static bool is_index(const struct capacity *capacity)
{
    return capacity->index_name.data != NULL;
}

/* --- Units --- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct unit_pair initial_units(enum billing_mode mode, const struct throughput *provisioned)
{
    if (mode == BILLING_PAY_PER_REQUEST)
        return (struct unit_pair){ ON_DEMAND_WARM_READ_UNITS, ON_DEMAND_WARM_WRITE_UNITS };
    return (struct unit_pair){ provisioned->read_units, provisioned->write_units };
}

struct unit_pair throughput_rules_warm(enum billing_mode mode, const struct throughput *provisioned,
                                       const struct unit_pair *asked)
{
    static_assert(UNITS_UNSET < 0, "absent is smaller than any figure");
    struct unit_pair initial = initial_units(mode, provisioned);
    return (struct unit_pair){ larger(initial.read_units, asked->read_units),
                               larger(initial.write_units, asked->write_units) };
}

int64_t throughput_rules_decreases_today(const struct throughput *throughput, int64_t now_ms)
{
    bool today = throughput->last_decrease_ms / DAY_MS == now_ms / DAY_MS;
    return today ? throughput->decreases_today : 0;
}

static void count_decrease(struct throughput *throughput, int64_t now_ms)
{
    throughput->decreases_today = throughput_rules_decreases_today(throughput, now_ms) + 1;
    throughput->last_decrease_ms = now_ms;
}

static void provision(struct throughput *throughput, const struct units_request *request,
                      int64_t now_ms)
{
    int64_t read_units = request->read_units.value;
    int64_t write_units = request->write_units.value;
    if (read_units > throughput->read_units || write_units > throughput->write_units)
        throughput->last_increase_ms = now_ms;
    if (read_units < throughput->read_units || write_units < throughput->write_units)
        count_decrease(throughput, now_ms);
    throughput->read_units = read_units;
    throughput->write_units = write_units;
}

/* --- ProvisionedThroughput --- */

static bool refuse_bounds(const struct capacity *capacity, const char *field, int64_t value,
                          struct error *err)
{
    if (is_index(capacity))
        return error_validation(err, "Given value %lld for %s is out of bounds for index %.*s",
                                (long long)value, field, BYTES_FMT(capacity->index_name));
    return error_validation(err, "Given value %lld for %s is out of bounds", (long long)value,
                            field);
}

static bool check_bounds(const struct capacity *capacity, const struct units_request *request,
                         struct error *err)
{
    if (request->read_units.value > PROVISIONED_UNITS_MAX)
        return refuse_bounds(capacity, "ReadCapacityUnits", request->read_units.value, err);
    if (request->write_units.value > PROVISIONED_UNITS_MAX)
        return refuse_bounds(capacity, "WriteCapacityUnits", request->write_units.value, err);
    return true;
}

void throughput_rules_keep(bool is_about_reads, const struct throughput *current,
                           struct units_request *request)
{
    if (request == NULL)
        return;
    if (is_about_reads)
        request->write_units.value = current->write_units;
    else
        request->read_units.value = current->read_units;
}

static bool refuse_provisioned(struct error *err)
{
    return error_validation(err, INVALID_VALUES "Neither ReadCapacityUnits nor WriteCapacityUnits "
                                                "can be specified when BillingMode is "
                                                "PAY_PER_REQUEST");
}

/* The service refuses to be asked for what is there already. */
static bool check_changes(const struct capacity *capacity, const struct units_request *request,
                          struct error *err)
{
    const struct throughput *current = capacity->provisioned;
    if (request->read_units.value != current->read_units ||
        request->write_units.value != current->write_units)
        return true;
    struct bytes name =
        is_index(capacity) ? arena_printf(err->arena, "index %.*s", BYTES_FMT(capacity->index_name))
                           : BYTES("table");
    const char *article = is_index(capacity) ? "" : "the ";
    return error_validation(
        err,
        "The provisioned throughput for the %.*s will not change. The requested value equals the "
        "current value. Current ReadCapacityUnits provisioned for %s%.*s: %lld. Requested "
        "ReadCapacityUnits: %lld. Current WriteCapacityUnits provisioned for %s%.*s: %lld. "
        "Requested WriteCapacityUnits: %lld. Refer to the Amazon DynamoDB Developer Guide for "
        "current limits and how to request higher limits.",
        BYTES_FMT(name), article, BYTES_FMT(name), (long long)current->read_units,
        (long long)request->read_units.value, article, BYTES_FMT(name),
        (long long)current->write_units, (long long)request->write_units.value);
}

/* --- OnDemandThroughput --- */

/* What UpdateTable takes for "no limit any more". */
enum { UNITS_REMOVED = -1 };
static_assert((int)UNITS_REMOVED == (int)UNITS_UNSET, "a removed limit is stored as an absent one");

static bool set_cap(const struct capacity *capacity, const char *field,
                    const struct shape_integer *given, bool may_remove, int64_t *out,
                    struct error *err)
{
    if (!given->present)
        return true;
    if (given->value < 1 && !(may_remove && given->value == UNITS_REMOVED)) {
        if (is_index(capacity))
            return error_validation(err,
                                    INVALID_VALUES "Requested %s for OnDemandThroughput for index"
                                                   "%s: %.*s is outside of valid range",
                                    field, capacity->is_added ? "" : " ",
                                    BYTES_FMT(capacity->index_name));
        return error_validation(err,
                                INVALID_VALUES "Requested %s for OnDemandThroughput for table is "
                                               "outside of valid range",
                                field);
    }
    *out = given->value;
    return true;
}

static bool set_caps(const struct capacity *capacity, const struct units_request *request,
                     bool may_remove, struct error *err)
{
    return set_cap(capacity, "MaxReadRequestUnits", &request->read_units, may_remove,
                   &capacity->on_demand_max->read_units, err) &&
           set_cap(capacity, "MaxWriteRequestUnits", &request->write_units, may_remove,
                   &capacity->on_demand_max->write_units, err);
}

/* `NULL` if the request gives no cap. */
static const char *given_cap(const struct units_request *request)
{
    if (request->read_units.present)
        return "MaxReadRequestUnits";
    return request->write_units.present ? "MaxWriteRequestUnits" : NULL;
}

/* --- WarmThroughput --- */

static bool check_warm(const struct capacity *capacity, const char *field,
                       const struct shape_integer *given, int64_t least, const char *than_what,
                       struct error *err)
{
    if (!given->present || given->value >= least)
        return true;
    if (is_index(capacity))
        return error_validation(err,
                                INVALID_VALUES "Requested %s for WarmThroughput for index %.*s is "
                                               "lower than %s",
                                field, BYTES_FMT(capacity->index_name), than_what);
    return error_validation(
        err, INVALID_VALUES "Requested %s for WarmThroughput for table is lower than %s", field,
        than_what);
}

/* What WarmThroughput must not be lower than, and how that is called. */
struct warm_floor {
    struct unit_pair units;
    const char *read_words;
    const char *write_words;
};

static bool set_warm(const struct capacity *capacity, const struct units_request *request,
                     const struct warm_floor *floor, struct error *err)
{
    if (!check_warm(capacity, "ReadUnitsPerSecond", &request->read_units, floor->units.read_units,
                    floor->read_words, err) ||
        !check_warm(capacity, "WriteUnitsPerSecond", &request->write_units,
                    floor->units.write_units, floor->write_words, err))
        return false;
    if (request->read_units.present)
        capacity->warm->read_units = request->read_units.value;
    if (request->write_units.present)
        capacity->warm->write_units = request->write_units.value;
    return true;
}

static struct warm_floor initial_floor(enum billing_mode mode, const struct throughput *provisioned)
{
    static const char on_demand[] =
        "initial throughput for OnDemand. See: "
        "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
        "on-demand-capacity-mode.html#on-demand-capacity-mode-initial";
    struct unit_pair units = initial_units(mode, provisioned);
    if (mode == BILLING_PAY_PER_REQUEST)
        return (struct warm_floor){ units, on_demand, on_demand };
    return (struct warm_floor){ units, "ReadCapacityUnits of ProvisionedThroughput",
                                "WriteCapacityUnits of ProvisionedThroughput" };
}

/* --- CreateTable --- */

/* OnDemandThroughput is for on-demand tables. Observed: CreateTable and UpdateTable word it
 * differently. */
static bool check_mode_of_caps(const struct capacity *capacity, enum billing_mode mode,
                               const struct units_request *on_demand, bool creates,
                               struct error *err)
{
    const char *cap = on_demand == NULL ? NULL : given_cap(on_demand);
    const char *the = creates ? "" : "the ", *end = creates ? "." : "";
    if (cap == NULL || mode != BILLING_PROVISIONED)
        return true;
    if (is_index(capacity))
        return error_validation(err,
                                INVALID_VALUES "%s for OnDemandThroughput for index%s: %.*s cannot "
                                               "be specified when %stable BillingMode is "
                                               "PROVISIONED%s",
                                cap, creates ? "" : " ", BYTES_FMT(capacity->index_name), the, end);
    return error_validation(err,
                            INVALID_VALUES "%s for OnDemandThroughput cannot be specified when "
                                           "%stable BillingMode is PROVISIONED%s",
                            cap, the, end);
}

static bool create_capacity(const struct capacity *capacity, enum billing_mode mode,
                            const struct units_request *on_demand, const struct units_request *warm,
                            struct error *err)
{
    *capacity->on_demand_max = (struct unit_pair){ UNITS_UNSET, UNITS_UNSET };
    *capacity->warm = (struct unit_pair){ UNITS_UNSET, UNITS_UNSET };
    if (!check_mode_of_caps(capacity, mode, on_demand, true, err) ||
        (on_demand != NULL && !set_caps(capacity, on_demand, false, err)))
        return false;
    struct warm_floor floor = initial_floor(mode, capacity->provisioned);
    return warm == NULL || set_warm(capacity, warm, &floor, err);
}

bool throughput_rules_create(const struct create_table_request *request, int64_t now_ms,
                             struct table_definition *draft, struct error *err)
{
    const struct units_request *provisioned = request->provisioned_throughput;
    struct capacity capacity = table_capacity(draft);
    draft->billing_mode = BILLING_PROVISIONED;
    if (request->billing_mode.data != NULL) {
        bool known = billing_mode_parse(request->billing_mode, &draft->billing_mode);
        assert(known); /* The shape's enumeration. */
    }
    bool on_demand = draft->billing_mode == BILLING_PAY_PER_REQUEST;
    if (on_demand && provisioned != NULL)
        return refuse_provisioned(err);
    if (!on_demand && provisioned == NULL)
        return error_validation(err, INVALID_VALUES
                                "ReadCapacityUnits and WriteCapacityUnits must both be specified "
                                "when BillingMode is PROVISIONED");
    if (on_demand) {
        table_definition_turn_on_demand(draft, now_ms);
        draft->billing_mode_given = true;
    } else {
        if (!check_bounds(&capacity, provisioned, err))
            return false;
        draft->throughput = (struct throughput){ .read_units = provisioned->read_units.value,
                                                 .write_units = provisioned->write_units.value };
    }
    return create_capacity(&capacity, draft->billing_mode, request->on_demand_throughput,
                           request->warm_throughput, err);
}

static bool set_index_units(const struct capacity *capacity, const struct units_request *request,
                            struct error *err)
{
    if (!check_bounds(capacity, request, err))
        return false;
    *capacity->provisioned = (struct throughput){ .read_units = request->read_units.value,
                                                  .write_units = request->write_units.value };
    return true;
}

bool throughput_rules_create_index(const struct index_request *request, enum billing_mode mode,
                                   struct index_definition *index, struct error *err)
{
    const struct units_request *provisioned = request->provisioned_throughput;
    struct capacity capacity = index_capacity(index);
    if (mode == BILLING_PAY_PER_REQUEST && provisioned != NULL)
        return error_validation(err,
                                INVALID_VALUES "ProvisionedThroughput should not be specified for "
                                               "index: %.*s when BillingMode is PAY_PER_REQUEST",
                                BYTES_FMT(index->name));
    if (mode == BILLING_PROVISIONED && provisioned == NULL)
        return error_validation(
            err, INVALID_VALUES "ProvisionedThroughput is not specified for index: %.*s",
            BYTES_FMT(index->name));
    if (provisioned != NULL && !set_index_units(&capacity, provisioned, err))
        return false;
    return create_capacity(&capacity, mode, request->on_demand_throughput, request->warm_throughput,
                           err);
}

bool throughput_rules_add_index(const struct index_request *request, enum billing_mode mode,
                                struct index_definition *index, struct error *err)
{
    const struct units_request *provisioned = request->provisioned_throughput;
    struct capacity capacity = index_capacity(index);
    capacity.is_added = true;
    if (mode == BILLING_PAY_PER_REQUEST && provisioned != NULL)
        return error_validation(err,
                                INVALID_VALUES "Neither ReadCapacityUnits nor WriteCapacityUnits "
                                               "can be specified for index: %.*s when BillingMode "
                                               "is PAY_PER_REQUEST",
                                BYTES_FMT(index->name));
    if (mode == BILLING_PROVISIONED && provisioned == NULL)
        return error_validation(err,
                                INVALID_VALUES "Both ReadCapacityUnits and WriteCapacityUnits must "
                                               "be specified for index: %.*s",
                                BYTES_FMT(index->name));
    if (provisioned != NULL && !set_index_units(&capacity, provisioned, err))
        return false;
    return create_capacity(&capacity, mode, request->on_demand_throughput, request->warm_throughput,
                           err);
}

/* --- UpdateTable --- */

/* NULL if the index is created or deleted. */
static const struct index_request *index_update(const struct update_table_request *request,
                                                size_t index)
{
    const struct index_update_request *const *updates =
        request->global_secondary_index_updates.elements;
    return updates[index]->update;
}

/* NULL if the request has no update of that index. */
static const struct index_request *find_update(const struct update_table_request *request,
                                               struct bytes name)
{
    for (size_t i = 0; i < request->global_secondary_index_updates.count; i++) {
        const struct index_request *update = index_update(request, i);
        if (update != NULL && bytes_equal(update->index_name, name))
            return update;
    }
    return NULL;
}

static bool check_index_update(const struct index_request *update, struct error *err)
{
    const struct units_request *warm = update->warm_throughput;
    if (warm == NULL || warm->read_units.present || warm->write_units.present)
        return true;
    return error_validation(err,
                            INVALID_VALUES "WarmThroughput must have at least one of "
                                           "ReadUnitsPerSecond or WriteUnitsPerSecond specified "
                                           "for index: %.*s",
                            BYTES_FMT(update->index_name));
}

bool throughput_rules_check_index_updates(const struct update_table_request *request,
                                          struct error *err)
{
    for (size_t i = 0; i < request->global_secondary_index_updates.count; i++) {
        const struct index_request *update = index_update(request, i);
        if (update != NULL && !check_index_update(update, err))
            return false;
    }
    return true;
}

bool throughput_rules_check_update(const struct update_table_request *request, struct error *err)
{
    const struct units_request *provisioned = request->provisioned_throughput;
    if (provisioned == NULL)
        return true;
    if (bytes_equal_text(request->billing_mode, "PAY_PER_REQUEST"))
        return error_validation(err, INVALID_VALUES "ProvisionedThroughput cannot be specified "
                                                    "when BillingMode is PAY_PER_REQUEST");
    struct capacity capacity = { .provisioned = NULL };
    return check_bounds(&capacity, provisioned, err);
}

/* Every global index must be given its share when a table turns to provisioned throughput. */
static bool check_indexes_provisioned(const struct update_table_request *request,
                                      const struct table_definition *table, struct error *err)
{
    struct buffer missing;
    buffer_init(&missing, err->arena);
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        const struct index_request *update = find_update(request, index->name);
        if (!index->global || index->status == INDEX_DELETING ||
            (update != NULL && update->provisioned_throughput != NULL))
            continue;
        if (missing.len > 0)
            buffer_append_byte(&missing, ',');
        buffer_append_bytes(&missing, index->name);
    }
    if (missing.len == 0)
        return true;
    return error_validation(
        err, INVALID_VALUES "ProvisionedThroughput must be specified for index: %.*s",
        BYTES_FMT(buffer_bytes(&missing)));
}

/* Throughput that a table of mode `mode` had stays warm whatever comes next. */
static void keep_warm(const struct capacity *capacity, enum billing_mode mode)
{
    *capacity->warm = throughput_rules_warm(mode, capacity->provisioned, capacity->warm);
}

/* Observed: what is remembered of increases and decreases stays. */
static void turn_mode(const struct capacity *capacity, enum billing_mode from)
{
    keep_warm(capacity, from);
    capacity->provisioned->read_units = 0;
    capacity->provisioned->write_units = 0;
    *capacity->on_demand_max = (struct unit_pair){ UNITS_UNSET, UNITS_UNSET };
}

/* The table and its global indexes turn together. */
static void turn_table(struct table_definition *table, enum billing_mode mode, int64_t now_ms)
{
    struct capacity capacity = table_capacity(table);
    turn_mode(&capacity, table->billing_mode);
    for (size_t i = 0; i < table->index_count; i++) {
        capacity = index_capacity(&table->indexes[i]);
        if (!table->indexes[i].global)
            continue;
        turn_mode(&capacity, table->billing_mode);
        if (mode == BILLING_PAY_PER_REQUEST) /* Observed: not so for the table. */
            count_decrease(capacity.provisioned, now_ms);
    }
    table->billing_mode = mode;
    table->billing_mode_given = true;
    if (mode == BILLING_PAY_PER_REQUEST)
        table_definition_turn_on_demand(table, now_ms);
}

static bool update_mode(const struct update_table_request *request, int64_t now_ms,
                        struct table_definition *table, struct error *err)
{
    if (request->billing_mode.data == NULL)
        return true;
    enum billing_mode mode;
    bool known = billing_mode_parse(request->billing_mode, &mode);
    assert(known); /* The shape's enumeration. */
    if (mode == BILLING_PROVISIONED && request->provisioned_throughput == NULL)
        return error_validation(err, INVALID_VALUES "ProvisionedThroughput must be specified when "
                                                    "BillingMode is PROVISIONED");
    if (mode == table->billing_mode)
        return true;
    if (mode == BILLING_PROVISIONED && !check_indexes_provisioned(request, table, err))
        return false;
    turn_table(table, mode, now_ms);
    return true;
}

/* `turned`: the table was on demand until now, so there is nothing to compare with. */
static bool update_provisioned(const struct capacity *capacity, const struct units_request *request,
                               bool turned, int64_t now_ms, struct error *err)
{
    if (!check_bounds(capacity, request, err))
        return false;
    if (turned) {
        capacity->provisioned->read_units = request->read_units.value;
        capacity->provisioned->write_units = request->write_units.value;
        return true;
    }
    if (!check_changes(capacity, request, err))
        return false;
    keep_warm(capacity, BILLING_PROVISIONED);
    provision(capacity->provisioned, request, now_ms);
    return true;
}

/* OnDemandThroughput and WarmThroughput, for the table and for indexes alike. */
static bool update_capacity(const struct capacity *capacity, enum billing_mode mode,
                            const struct units_request *on_demand, const struct units_request *warm,
                            struct error *err)
{
    if (!check_mode_of_caps(capacity, mode, on_demand, false, err) ||
        (on_demand != NULL && !set_caps(capacity, on_demand, true, err)))
        return false;
    if (warm == NULL)
        return true;
    static const char current[] =
        "current WarmThroughput, decreasing WarmThroughput is not supported";
    struct warm_floor floor = { throughput_rules_warm(mode, capacity->provisioned, capacity->warm),
                                current, current };
    return set_warm(capacity, warm, &floor, err);
}

static bool update_index(const struct index_request *request, bool turned, int64_t now_ms,
                         struct table_definition *table, struct error *err)
{
    struct index_definition *index = NULL;
    for (size_t i = 0; i < table->index_count; i++) {
        if (bytes_equal(table->indexes[i].name, request->index_name))
            index = &table->indexes[i];
    }
    if (index == NULL)
        return index_rules_refuse_missing(table, request->index_name, err);
    if (!index->global)
        return error_validation(err,
                                "Cannot update an index that is not a GlobalSecondaryIndex: %.*s",
                                BYTES_FMT(index->name));
    struct capacity capacity = index_capacity(index);
    const struct units_request *provisioned = request->provisioned_throughput;
    bool other =
        request->warm_throughput != NULL ||
        (request->on_demand_throughput != NULL && given_cap(request->on_demand_throughput) != NULL);
    if ((provisioned != NULL || !other) && table->billing_mode == BILLING_PAY_PER_REQUEST)
        return error_validation(err,
                                INVALID_VALUES "The only Updates for index: %.*s when "
                                               "TableThroughputMode is PAY_PER_REQUEST can be to "
                                               "OnDemandThroughput, WarmThroughput",
                                BYTES_FMT(index->name));
    if (provisioned != NULL && !update_provisioned(&capacity, provisioned, turned, now_ms, err))
        return false;
    return update_capacity(&capacity, table->billing_mode, request->on_demand_throughput,
                           request->warm_throughput, err);
}

bool throughput_rules_update(const struct update_table_request *request, int64_t now_ms,
                             struct table_definition *table, struct error *err)
{
    struct capacity capacity = table_capacity(table);
    const struct units_request *provisioned = request->provisioned_throughput;
    enum billing_mode before = table->billing_mode;
    if (!update_mode(request, now_ms, table, err))
        return false;
    bool turned = table->billing_mode != before;
    if (provisioned != NULL && table->billing_mode == BILLING_PAY_PER_REQUEST)
        return refuse_provisioned(err);
    if (provisioned != NULL && !update_provisioned(&capacity, provisioned, turned, now_ms, err))
        return false;
    if (!update_capacity(&capacity, table->billing_mode, request->on_demand_throughput,
                         request->warm_throughput, err))
        return false;
    for (size_t i = 0; i < request->global_secondary_index_updates.count; i++) {
        const struct index_request *update = index_update(request, i);
        if (update != NULL && !update_index(update, turned, now_ms, table, err))
            return false;
    }
    return true;
}
