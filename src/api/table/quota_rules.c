/* quota_rules.c -- see quota_rules.h. */
#include "api/table/quota_rules.h"
#include <assert.h>
#include <time.h>
#include "api/admission.h"
#include "api/operation.h"
#include "api/table/throughput_rules.h"
#include "base/arena.h"
#include "base/clock.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

#define SUBSCRIBER_LIMIT "Subscriber limit exceeded: "
#define HIGHER_LIMITS                                                                              \
    "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher "   \
    "limits."
#define DAY_MS INT64_C(86400000)

/* A table or global index in a change. */
struct resource {
    struct bytes index_name;            /* data NULL: the table. */
    const struct throughput *before;    /* NULL: it is new. */
    const struct throughput *after;     /* Zeros on demand. */
    const struct unit_pair *max_before; /* NULL: it is new. */
    const struct unit_pair *max_after;
    const struct unit_pair *warm_before;
    const struct unit_pair *warm_after;
};

struct change {
    const struct api_options *options;
    const struct table_definition *before;
    const struct table_definition *after;
    int64_t now_ms;
};

static struct resource table_of(const struct change *change)
{
    const struct table_definition *before = change->before, *after = change->after;
    return (struct resource){
        .before = before == NULL ? NULL : &before->throughput,
        .after = &after->throughput,
        .max_before = before == NULL ? NULL : &before->on_demand_max,
        .max_after = &after->on_demand_max,
        .warm_before = before == NULL ? NULL : &before->warm_throughput,
        .warm_after = &after->warm_throughput,
    };
}

static struct resource index_of(const struct change *change, const struct index_definition *after)
{
    const struct index_definition *before = NULL;
    for (size_t i = 0; change->before != NULL && after->id != 0 && i < change->before->index_count;
         i++) {
        if (change->before->indexes[i].id == after->id)
            before = &change->before->indexes[i];
    }
    return (struct resource){
        .index_name = after->name,
        .before = before == NULL ? NULL : &before->throughput,
        .after = &after->throughput,
        .max_before = before == NULL ? NULL : &before->on_demand_max,
        .max_after = &after->on_demand_max,
        .warm_before = before == NULL ? NULL : &before->warm_throughput,
        .warm_after = &after->warm_throughput,
    };
}

/* --- The quotas of a table or index --- */

static bool check_provisioned(const struct change *change, const struct resource *resource,
                              const char *field, int64_t before, int64_t after, int64_t quota,
                              struct error *err)
{
    if (after <= quota || after == before)
        return true;
    if (resource->index_name.data != NULL)
        return error_set(err, ERROR_LIMIT_EXCEEDED,
                         "The requested %s for index %.*s, %lld, is above the per index maximum "
                         "for the account in %s. Per table maximum: %lld. " HIGHER_LIMITS,
                         field, BYTES_FMT(resource->index_name), (long long)after,
                         change->options->region, (long long)quota);
    return error_set(err, ERROR_LIMIT_EXCEEDED,
                     "The requested %s, %lld, is above the per table maximum for the account in "
                     "%s. Per table maximum: %lld. " HIGHER_LIMITS,
                     field, (long long)after, change->options->region, (long long)quota);
}

/* What a request for OnDemandThroughput or WarmThroughput is called; texts differ in a space. */
struct other_throughput {
    const char *kind;
    const char *before_index; /* "index : gsi1", "index gsi1" */
    const char *read_field;
    const char *write_field;
};

static bool check_other(const struct change *change, const struct resource *resource,
                        const struct other_throughput *words, bool is_read, int64_t before,
                        int64_t after, struct error *err)
{
    const struct api_quotas *quotas = &change->options->quotas;
    if (after <= (is_read ? quotas->table_read_units : quotas->table_write_units) ||
        after == before)
        return true;
    struct bytes name = BYTES("table");
    if (resource->index_name.data != NULL)
        name = arena_printf(err->arena, "%s%.*s", words->before_index,
                            BYTES_FMT(resource->index_name));
    return error_set(err, ERROR_LIMIT_EXCEEDED,
                     SUBSCRIBER_LIMIT
                     "Requested %s for %s for %.*s exceeds TableMax%sCapacityUnits "
                     "of the account in region %s",
                     is_read ? words->read_field : words->write_field, words->kind, BYTES_FMT(name),
                     is_read ? "Read" : "Write", change->options->region);
}

static bool check_pair(const struct change *change, const struct resource *resource,
                       const struct other_throughput *words, const struct unit_pair *before,
                       const struct unit_pair *after, struct error *err)
{
    const struct unit_pair none = { UNITS_UNSET, UNITS_UNSET };
    if (before == NULL)
        before = &none;
    return check_other(change, resource, words, true, before->read_units, after->read_units, err) &&
           check_other(change, resource, words, false, before->write_units, after->write_units,
                       err);
}

static bool check_resource(const struct change *change, const struct resource *resource,
                           struct error *err)
{
    static const struct other_throughput on_demand = { "OnDemandThroughput",
                                                       "index : ", "MaxReadRequestUnits",
                                                       "MaxWriteRequestUnits" };
    static const struct other_throughput warm = { "WarmThroughput", "index ", "ReadUnitsPerSecond",
                                                  "WriteUnitsPerSecond" };
    const struct api_quotas *quotas = &change->options->quotas;
    const struct throughput none = { 0 };
    const struct throughput *before = resource->before == NULL ? &none : resource->before;
    return check_provisioned(change, resource, "ReadCapacityUnits", before->read_units,
                             resource->after->read_units, quotas->table_read_units, err) &&
           check_provisioned(change, resource, "WriteCapacityUnits", before->write_units,
                             resource->after->write_units, quotas->table_write_units, err) &&
           check_pair(change, resource, &on_demand, resource->max_before, resource->max_after,
                      err) &&
           check_pair(change, resource, &warm, resource->warm_before, resource->warm_after, err);
}

/* --- Decreases --- */

/* "Friday, September 18, 2026 at 8:15:44 AM Coordinated Universal Time" */
static struct bytes long_date(struct arena *arena, int64_t time_ms)
{
    static const char *const days[] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday" };
    static const char *const months[] = { "January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December" };
    struct tm parts = clock_utc(clock_second_of_ms(time_ms));
    int hour = parts.tm_hour % 12;
    return arena_printf(arena, "%s, %s %d, %d at %d:%02d:%02d %s Coordinated Universal Time",
                        days[parts.tm_wday], months[parts.tm_mon], parts.tm_mday,
                        parts.tm_year + 1900, hour == 0 ? 12 : hour, parts.tm_min, parts.tm_sec,
                        parts.tm_hour < 12 ? "AM" : "PM");
}

static bool check_decrease(const struct change *change, const struct resource *resource,
                           struct error *err)
{
    const struct throughput *before = resource->before;
    bool lowered = before != NULL && (resource->after->read_units < before->read_units ||
                                      resource->after->write_units < before->write_units);
    int64_t today = before == NULL ? 0 : throughput_rules_decreases_today(before, change->now_ms);
    if (!lowered || today < DECREASES_FREE ||
        change->now_ms - before->last_decrease_ms >= DECREASE_INTERVAL_MS)
        return true;
    int64_t next_ms = before->last_decrease_ms + DECREASE_INTERVAL_MS;
    int64_t midnight_ms = (change->now_ms / DAY_MS + 1) * DAY_MS;
    struct bytes last = long_date(err->arena, before->last_decrease_ms);
    struct bytes next = long_date(err->arena, next_ms < midnight_ms ? next_ms : midnight_ms);
    return error_set(err, ERROR_LIMIT_EXCEEDED,
                     SUBSCRIBER_LIMIT
                     "Provisioned throughput decreases are limited within a given UTC day. "
                     "After the first %d decreases, each subsequent decrease in the same UTC "
                     "day can be performed at most once every %d seconds. Number of decreases "
                     "today: %lld. Last decrease at %.*s. Next decrease can be made at %.*s",
                     DECREASES_FREE, DECREASE_INTERVAL_MS / 1000, (long long)today, BYTES_FMT(last),
                     BYTES_FMT(next));
}

/* --- Turns to on-demand --- */

/* "Fri Sep 18 09:01:50 UTC 2026" */
static struct bytes short_date(struct arena *arena, int64_t time_ms)
{
    char text[64];
    struct tm parts = clock_utc(clock_second_of_ms(time_ms));
    size_t size = strftime(text, sizeof text, "%a %b %d %H:%M:%S UTC %Y", &parts);
    return arena_copy(arena, bytes_of(text, size));
}

static bool check_turn(const struct change *change, struct error *err)
{
    const struct table_definition *before = change->before;
    if (before == NULL || before->billing_mode != BILLING_PROVISIONED ||
        change->after->billing_mode != BILLING_PAY_PER_REQUEST)
        return true;
    int64_t oldest_ms = before->on_demand_turns_ms[ON_DEMAND_TURNS_MAX - 1];
    if (oldest_ms == 0 || change->now_ms - oldest_ms >= DAY_MS)
        return true;
    struct bytes last = short_date(err->arena, before->on_demand_turns_ms[0]);
    struct bytes next = short_date(err->arena, oldest_ms + DAY_MS);
    return error_set(err, ERROR_LIMIT_EXCEEDED,
                     SUBSCRIBER_LIMIT "Update to PayPerRequest mode are limited to %d in 1 day(s). "
                                      "Last update at %.*s. Next update can be made at %.*s",
                     ON_DEMAND_TURNS_MAX, BYTES_FMT(last), BYTES_FMT(next));
}

/* --- The account --- */

/* What a table and its global indexes have provisioned. */
static struct unit_pair provisioned_units(const struct table_definition *table)
{
    struct unit_pair sum = { table->throughput.read_units, table->throughput.write_units };
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].global && table->indexes[i].status != INDEX_DELETING) {
            sum.read_units += table->indexes[i].throughput.read_units;
            sum.write_units += table->indexes[i].throughput.write_units;
        }
    }
    return sum;
}

static bool add_table(const struct table_definition *table, void *context)
{
    struct unit_pair *sum = context;
    struct unit_pair units = provisioned_units(table);
    if (table->status != TABLE_DELETING) {
        sum->read_units += units.read_units;
        sum->write_units += units.write_units;
    }
    return false; /* Goes on with the next one. */
}

static bool check_account_units(const struct change *change, const char *field, int64_t reserved,
                                int64_t more, int64_t quota, struct error *err)
{
    if (more <= 0 || reserved + more <= quota)
        return true;
    return error_set(err, ERROR_LIMIT_EXCEEDED,
                     "This request would have caused the %s limit to be exceeded for the account "
                     "in %s. Current %s reserved by the account: %lld. Limit: %lld. Requested: "
                     "%lld. " HIGHER_LIMITS,
                     field, change->options->region, field, (long long)reserved, (long long)quota,
                     (long long)more);
}

static bool check_account(struct api *api, const struct change *change, struct error *err)
{
    struct unit_pair before = { 0, 0 }, after = provisioned_units(change->after);
    struct unit_pair reserved = { 0, 0 };
    if (change->before != NULL)
        before = provisioned_units(change->before);
    if (after.read_units <= before.read_units && after.write_units <= before.write_units)
        return true;
    struct table *none = catalogue_find_next(api_catalogue(api), BYTES(""), add_table, &reserved);
    assert(none == NULL);
    (void)none;
    const struct api_quotas *quotas = &change->options->quotas;
    return check_account_units(change, "ReadCapacityUnits", reserved.read_units,
                               after.read_units - before.read_units, quotas->account_read_units,
                               err) &&
           check_account_units(change, "WriteCapacityUnits", reserved.write_units,
                               after.write_units - before.write_units, quotas->account_write_units,
                               err);
}

bool quota_rules_check(struct api *api, const struct table_definition *before,
                       const struct table_definition *after, int64_t now_ms, struct error *err)
{
    const struct change change = {
        .options = api_options(api), .before = before, .after = after, .now_ms = now_ms
    };
    if (admission_setting(change.options, table_definition_capacity(after)) != CAPACITY_ENFORCE)
        return true;
    bool turns = before != NULL && before->billing_mode != after->billing_mode;
    struct resource resource = table_of(&change);
    bool ok = check_turn(&change, err) && check_resource(&change, &resource, err) &&
              (turns || check_decrease(&change, &resource, err));
    for (size_t i = 0; i < after->index_count && ok; i++) {
        if (!after->indexes[i].global || after->indexes[i].status == INDEX_DELETING)
            continue;
        resource = index_of(&change, &after->indexes[i]);
        ok = check_resource(&change, &resource, err) &&
             (turns || check_decrease(&change, &resource, err));
    }
    return ok && check_account(api, &change, err);
}
