/* check_replicas.c -- see check_replicas.h. */
#include "check/check_replicas.h"
#include <inttypes.h>
#include "check/check_report.h"
#include "check/check_walk.h"
#include "model/table_definition.h"
#include "table/replica_stamp.h"

struct replica_check {
    struct engine_view *view;
    const struct table_definition *table;
    struct check_report *report;
};

static void report(const struct replica_check *check, const struct engine_place *place,
                   struct bytes key, const char *problem)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(key, text);
    check_report_problem(check->report,
                         "table %.*s, partition %" PRIu64 ", replication, item %s: %s",
                         BYTES_FMT(check->table->name), place->partition, text, problem);
}

static void check_stamp(const struct replica_check *check, const struct engine_address *item,
                        struct bytes encoded)
{
    struct replica_stamp stamp;
    struct engine_value value = { 0 };
    if (!replica_stamp_decode(encoded, &stamp)) {
        report(check, &item->place, item->key, "its stamp is damaged");
        return;
    }
    enum engine_status status = engine_view_get(check->view, item, &value);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
        check_report_unreadable(check->report, status, "table %.*s, partition %" PRIu64 ", an item",
                                BYTES_FMT(check->table->name), item->place.partition);
    else if (stamp.deleted != (status == ENGINE_NOT_FOUND))
        report(check, &item->place, item->key,
               stamp.deleted ? "its stamp says that it was deleted" : "has a stamp and is missing");
    engine_value_release(&value);
}

static bool visit(void *context, const struct engine_place *place,
                  const struct engine_entry *stored)
{
    const struct replica_check *check = context;
    struct engine_address item = { .place = *place };
    uint32_t region;
    int64_t commit_us;
    item.place.space = ENGINE_SPACE_ITEMS;
    if (!replica_stamp_decode_key(stored->key, &region, &item.key))
        report(check, place, stored->key, "its key is damaged");
    else if (region == 0)
        check_stamp(check, &item, stored->value);
    else if (!replica_queue_decode(stored->value, &commit_us))
        report(check, place, item.key, "its entry in a queue is damaged");
    return !check_report_gave_up(check->report);
}

void check_replicas(struct engine_view *view, const struct table_definition *table,
                    struct check_report *out)
{
    struct replica_check check = { .view = view, .table = table, .report = out };
    if (!replica_definition_is_group(&table->replicas))
        return;
    for (size_t i = 0; i < table->partition_count && !check_report_gave_up(out); i++) {
        struct engine_place place = replica_stamp_place(table->id, table->partitions[i].id);
        enum engine_status status = check_walk(view, &place, visit, &check);
        if (status != ENGINE_OK)
            check_report_unreadable(out, status, "table %.*s, partition %" PRIu64 ", replication",
                                    BYTES_FMT(table->name), place.partition);
    }
}
