/* check_expiry.c -- see check_expiry.h. */
#include "check/check_expiry.h"
#include <inttypes.h>
#include "base/arena.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "table/expiry_queue.h"

#define ITEM "table %.*s, partition %" PRIu64 ", item %s"
#define ENTRY "table %.*s, partition %" PRIu64 ", entry of %" PRId64 " in the expiry queue, item %s"

/* --- Items --- */

static bool must_have_entry(const struct expiry_definition *expiry, struct bytes key)
{
    return expiry->status == EXPIRY_ACTIVE ||
           (expiry->status == EXPIRY_FILLING && bytes_compare(key, expiry->filled) < 0);
}

void check_expiry_of_item(const struct check_expiry *check, const struct engine_address *address,
                          const struct item *item)
{
    const struct table_definition *table = check->table;
    struct engine_value value = { 0 };
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    int64_t second;
    if (!must_have_entry(&table->expiry, address->key) ||
        !expiry_queue_second(table->expiry.attribute, item, &second))
        return;
    struct engine_address entry = expiry_queue_address(check->scratch, address, second);
    enum engine_status status = engine_view_get(check->view, &entry, &value);
    engine_value_release(&value);
    check_report_format_key(address->key, text);
    if (status == ENGINE_NOT_FOUND)
        check_report_problem(check->report, ITEM ": is not in the expiry queue",
                             BYTES_FMT(table->name), address->place.partition, text);
    else if (status != ENGINE_OK)
        check_report_unreadable(check->report, status, ITEM ", its entry in the expiry queue",
                                BYTES_FMT(table->name), address->place.partition, text);
}

/* --- Entries --- */

static void report_entry(const struct check_expiry *check, const struct engine_address *item,
                         int64_t second, const char *problem)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(item->key, text);
    check_report_problem(check->report, ENTRY ": %s", BYTES_FMT(check->table->name),
                         item->place.partition, second, text, problem);
}

static void check_item(const struct check_expiry *check, const struct engine_address *address,
                       int64_t second)
{
    struct engine_value value = { 0 };
    struct item item;
    int64_t own;
    enum engine_status status = engine_view_get(check->view, address, &value);
    if (status == ENGINE_NOT_FOUND) {
        report_entry(check, address, second, "belongs to no item");
    } else if (status != ENGINE_OK) {
        char text[CHECK_REPORT_KEY_TEXT_MAX];
        check_report_format_key(address->key, text);
        check_report_unreadable(check->report, status, ENTRY, BYTES_FMT(check->table->name),
                                address->place.partition, second, text);
    } else if (item_open(value.bytes, &item) && item_verify(&item) &&
               (!expiry_queue_second(check->table->expiry.attribute, &item, &own) ||
                own != second)) {
        report_entry(check, address, second, "is not one that its item has");
    }
    engine_value_release(&value);
}

static bool visit_entry(void *context, const struct engine_place *place,
                        const struct engine_entry *stored)
{
    const struct check_expiry *check = context;
    struct engine_address item = { .place = *place };
    int64_t second;
    arena_reset(check->scratch);
    item.place.space = ENGINE_SPACE_ITEMS;
    if (!expiry_queue_decode(stored->key, &second, &item.key) || stored->value.len > 0)
        check_report_problem(check->report,
                             "table %.*s, partition %" PRIu64
                             ": an entry of the expiry queue is damaged",
                             BYTES_FMT(check->table->name), place->partition);
    else
        check_item(check, &item, second);
    return !check_report_gave_up(check->report);
}

void check_expiry_queues(struct check_expiry *check)
{
    const struct table_definition *table = check->table;
    if (table->expiry.status == EXPIRY_NONE || table->expiry.status == EXPIRY_REMOVING)
        return;
    for (size_t i = 0; i < table->partition_count && !check_report_gave_up(check->report); i++) {
        struct engine_place place = expiry_queue_place(table->id, table->partitions[i].id);
        enum engine_status status = check_walk(check->view, &place, visit_entry, check);
        if (status != ENGINE_OK)
            check_report_unreadable(check->report, status,
                                    "table %.*s, partition %" PRIu64 ", expiry queue",
                                    BYTES_FMT(table->name), place.partition);
    }
}
