/* check_history.c -- see check_history.h. */
#include "check/check_history.h"
#include <inttypes.h>
#include "base/arena.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "history/commit_ceiling.h"
#include "history/history_entry.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/item_address.h"

/* --- The ceiling --- */

struct ceiling_check {
    struct check_report *report;
    int64_t ceiling_us;
};

static bool visit_ceiling(void *context, const struct engine_place *place,
                          const struct engine_entry *entry)
{
    struct ceiling_check *check = context;
    int64_t ceiling_us;
    (void)place;
    if (!commit_ceiling_decode(entry->key, entry->value, &ceiling_us))
        check_report_problem(check->report, "commit times: a record is damaged");
    else
        check->ceiling_us = ceiling_us; /* The last one is the greatest. */
    return !check_report_gave_up(check->report);
}

int64_t check_history_ceiling(struct engine_view *view, struct check_report *report)
{
    struct ceiling_check check = { .report = report, .ceiling_us = INT64_MAX };
    enum engine_status status = check_walk(view, &commit_ceiling_place, visit_ceiling, &check);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the commit times");
    return check.ceiling_us;
}

/* --- Entries --- */

struct history_check {
    struct check_report *report;
    const struct table_definition *table;
    int64_t ceiling_us;
    struct arena *arena; /* Of one entry. */
    uint64_t count;
};

/* Whether the item that an entry holds is the one whose key the entry has. */
static bool is_its_item(struct history_check *check, const struct history_entry *entry,
                        struct bytes item_key)
{
    struct item_address address;
    struct error ignored;
    error_init(&ignored, check->arena);
    return item_address_of_item(check->arena, check->table, &entry->before, &address, &ignored) &&
           bytes_equal(address.address.key, item_key);
}

/* NULL if nothing is wrong with an entry. */
static const char *find_problem(struct history_check *check, const struct engine_place *place,
                                const struct history_key *key, struct bytes value)
{
    const struct table_definition *table = check->table;
    struct item_address address;
    struct history_entry entry;
    if (!item_address_of_stored_key(check->arena, table, place, key->item_key, &address))
        return "is stored under a key that is no item's";
    if (item_address_of_hash(table, address.hash).partition != place->partition)
        return "lies in another partition than its item";
    if (!history_entry_decode(value, &entry) || (entry.existed && !item_verify(&entry.before)))
        return "is damaged";
    if (entry.existed && !is_its_item(check, &entry, key->item_key))
        return "holds another item than its key says";
    if (key->commit_us >= check->ceiling_us)
        return "has a commit time that was not reached";
    return NULL;
}

static bool visit_entry(void *context, const struct engine_place *place,
                        const struct engine_entry *entry)
{
    struct history_check *check = context;
    struct history_key key = { 0 };
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    arena_reset(check->arena);
    check_report_step(check->report);
    check->count++;
    bool has_key = history_key_decode(entry->key, &key);
    const char *problem = has_key ? find_problem(check, place, &key, entry->value)
                                  : "is stored under a key that is no entry's";
    if (problem != NULL) {
        check_report_format_key(has_key ? key.item_key : entry->key, text);
        check_report_problem(check->report, "table %.*s, history, partition %" PRIu64 ", %s: %s",
                             BYTES_FMT(check->table->name), place->partition, text, problem);
    }
    return !check_report_gave_up(check->report);
}

uint64_t check_history(struct engine_view *view, const struct table_definition *table,
                       int64_t ceiling_us, struct check_report *report)
{
    struct history_check check = {
        .report = report, .table = table, .ceiling_us = ceiling_us, .arena = arena_create()
    };
    /* One that is about to be removed is read by nobody. */
    bool is_read = history_definition_is_kept(&table->history);
    for (size_t i = 0; is_read && i < table->partition_count && !check_report_gave_up(report);
         i++) {
        const struct engine_place place = history_place(table->history.id, table->partitions[i].id);
        enum engine_status status = check_walk(view, &place, visit_entry, &check);
        if (status != ENGINE_OK)
            check_report_unreadable(report, status, "table %.*s, history, partition %" PRIu64,
                                    BYTES_FMT(table->name), place.partition);
    }
    arena_destroy(check.arena);
    return check.count;
}
