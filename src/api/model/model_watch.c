/* model_watch.c -- see model_watch.h.
 *
 * Loops never wait: a violation that finds the table of entries locked counts as not listed, and in
 * the total of its rule, which is atomic. */
#include "api/model/model_watch.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "api/api.h"
#include "api/operation.h"
#include "auth/caller.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "json/writer.h"
#include "metric/capacity_use.h"
#include "table/catalogue.h"
#include "table/table_runtime.h"

/* One violation of a call. */
struct model_note {
    const struct txn_item *item;
    struct entity_violation violation; /* ENTITY_RULE_NONE: a later decision found none. */
    struct model_note *next;
};

struct entry {
    enum entity_rule rule;
    char entity[MODEL_WATCH_TEXT_MAX + 1];
    char attribute[MODEL_WATCH_TEXT_MAX + 1];
    char caller[MODEL_WATCH_TEXT_MAX + 1];
    uint64_t count;
    int64_t last_ms;
};

struct watch {
    struct table_runtime_part part;
    _Atomic uint64_t totals[ENTITY_RULE_COUNT];
    _Atomic uint64_t unlisted; /* In the totals, and in no entry. */
    _Atomic int64_t since_ms;
    pthread_mutex_t mutex; /* Guards what follows. */
    struct entry *entries;
    size_t entry_count;
};

/* --- Counting --- */

static void watch_destroy(struct table_runtime_part *part)
{
    struct watch *watch = (struct watch *)part;
    pthread_mutex_destroy(&watch->mutex);
    free(watch->entries);
    free(watch);
}

/* `now_ms` is since when a new one counts. */
static struct watch *watch_of(struct table_runtime *runtime, int64_t now_ms)
{
    struct table_runtime_part *part = atomic_load(&runtime->model);
    if (part != NULL)
        return (struct watch *)part;
    struct watch *made = memory_checked(calloc(1, sizeof *made));
    made->part.destroy = watch_destroy;
    atomic_init(&made->since_ms, now_ms);
    pthread_mutex_init(&made->mutex, NULL);
    if (atomic_compare_exchange_strong(&runtime->model, &part, &made->part))
        return made;
    watch_destroy(&made->part);
    return (struct watch *)part;
}

/* Cuts between characters. */
static void copy_text(char out[MODEL_WATCH_TEXT_MAX + 1], struct bytes text)
{
    size_t size = text.len;
    if (size > MODEL_WATCH_TEXT_MAX) {
        size = MODEL_WATCH_TEXT_MAX;
        while (size > 0 && (text.data[size] & 0xC0) == 0x80)
            size--;
    }
    memset(out, 0, MODEL_WATCH_TEXT_MAX + 1);
    if (size > 0)
        memcpy(out, text.data, size);
}

static struct entry *find_entry(struct watch *watch, const struct entry *wanted)
{
    for (size_t i = 0; i < watch->entry_count; i++) {
        struct entry *entry = &watch->entries[i];
        if (entry->rule == wanted->rule && strcmp(entry->entity, wanted->entity) == 0 &&
            strcmp(entry->attribute, wanted->attribute) == 0 &&
            strcmp(entry->caller, wanted->caller) == 0)
            return entry;
    }
    if (watch->entry_count == MODEL_WATCH_ENTRIES_MAX)
        return NULL;
    if (watch->entries == NULL)
        watch->entries = memory_checked(calloc(MODEL_WATCH_ENTRIES_MAX, sizeof *watch->entries));
    struct entry *entry = &watch->entries[watch->entry_count++];
    *entry = *wanted;
    return entry;
}

void model_watch_count(struct table_runtime *runtime, const struct entity_violation *violation,
                       struct bytes caller, int64_t now_ms)
{
    struct watch *watch = watch_of(runtime, now_ms);
    struct entry wanted = { .rule = violation->rule };
    copy_text(wanted.entity, violation->entity);
    copy_text(wanted.attribute, violation->attribute);
    copy_text(wanted.caller, caller);
    atomic_fetch_add(&watch->totals[violation->rule], 1);
    if (pthread_mutex_trylock(&watch->mutex) != 0) {
        atomic_fetch_add(&watch->unlisted, 1);
        return;
    }
    struct entry *entry = find_entry(watch, &wanted);
    if (entry == NULL) {
        atomic_fetch_add(&watch->unlisted, 1);
    } else {
        entry->count++;
        entry->last_ms = now_ms;
    }
    pthread_mutex_unlock(&watch->mutex);
}

static struct table_runtime *runtime_of(const struct api_call *call,
                                        const struct table_definition *definition)
{
    for (size_t i = 0; i < call->use_count; i++) {
        struct table *table = call->uses[i].table;
        if (table != NULL && table_definition(table) == definition)
            return table_runtime(table);
    }
    return NULL;
}

void model_watch_count_call(struct api_call *call)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    bool failed = error_is_set(&call->error);
    struct bytes caller = call->caller == NULL ? BYTES("anonymous") : call->caller->arn;
    for (const struct model_note *note = call->model_notes; note != NULL; note = note->next) {
        const struct table_definition *table = note->item->table;
        struct table_runtime *runtime = runtime_of(call, table);
        /* A write that failed for another reason has stored nothing. */
        bool counts = note->violation.rule != ENTITY_RULE_NONE &&
                      (!failed || table->model.mode == MODEL_ENFORCE);
        if (counts && runtime != NULL)
            model_watch_count(runtime, &note->violation, caller, now_ms);
    }
}

void model_watch_reset(struct table_runtime *runtime, int64_t now_ms)
{
    struct watch *watch = watch_of(runtime, now_ms);
    pthread_mutex_lock(&watch->mutex);
    watch->entry_count = 0;
    for (size_t i = 0; i < ENTITY_RULE_COUNT; i++)
        atomic_store(&watch->totals[i], 0);
    atomic_store(&watch->unlisted, 0);
    atomic_store(&watch->since_ms, now_ms);
    pthread_mutex_unlock(&watch->mutex);
}

/* --- Checking --- */

bool model_watch_refuse(struct error *err, const struct entity_violation *violation)
{
    const struct bytes parts[] = {
        BYTES("One or more parameter values were invalid: The item does not follow the model of "
              "its table: "),
        entity_violation_text(err->arena, violation),
    };
    return error_set_bytes(err, ERROR_VALIDATION, arena_join(err->arena, parts, 2));
}

/* The note of the item, which may have been decided about before; NULL: there is none. */
static struct model_note *find_note(const struct api_call *call, const struct txn_item *item)
{
    struct model_note *note = call->model_notes;
    while (note != NULL && note->item != item)
        note = note->next;
    return note;
}

bool model_watch_check_slowly(struct api_call *call, const struct txn_item *item, struct error *err)
{
    struct entity_violation violation;
    struct model_note *note = call->model_notes == NULL ? NULL : find_note(call, item);
    if (LIKELY(entity_rules_check(item->table->entity_rules, &item->replacement, &violation))) {
        if (note != NULL)
            note->violation.rule = ENTITY_RULE_NONE;
        return true;
    }
    if (note == NULL) {
        note = arena_alloc(call->arena, sizeof *note);
        *note = (struct model_note){ .item = item, .next = call->model_notes };
        call->model_notes = note;
    }
    note->violation = violation;
    return item->table->model.mode != MODEL_ENFORCE || model_watch_refuse(err, &violation);
}

bool model_watch_check_all(struct api_call *call, const struct txn *txn, struct error *err)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        if (!model_watch_check(call, &txn->items[i], err))
            return false;
    }
    return true;
}

/* --- Showing --- */

static void write_entry(struct json_writer *writer, const struct entry *entry)
{
    json_open_object(writer);
    json_write_name(writer, "Rule");
    json_write_text(writer, entity_rule_name(entry->rule));
    if (entry->rule != ENTITY_RULE_KEY) {
        json_write_name(writer, "Entity");
        json_write_text(writer, entry->entity);
        json_write_name(writer, "Attribute");
        json_write_text(writer, entry->attribute);
    }
    json_write_name(writer, "Caller");
    json_write_text(writer, entry->caller);
    json_write_name(writer, "Count");
    json_write_integer(writer, (int64_t)entry->count);
    json_write_name(writer, "LastDateTime");
    json_write_seconds(writer, entry->last_ms);
    json_close_object(writer);
}

void model_watch_write(struct json_writer *writer, struct table_runtime *runtime)
{
    struct watch *watch = watch_of(runtime, 0);
    uint64_t total = 0;
    json_write_name(writer, "Violations");
    json_open_object(writer);
    json_write_name(writer, "SinceDateTime");
    json_write_seconds(writer, atomic_load(&watch->since_ms));
    json_write_name(writer, "ByRule");
    json_open_object(writer);
    for (enum entity_rule rule = ENTITY_RULE_KEY; rule < ENTITY_RULE_COUNT; rule++) {
        uint64_t count = atomic_load(&watch->totals[rule]);
        total += count;
        json_write_name(writer, entity_rule_name(rule));
        json_write_integer(writer, (int64_t)count);
    }
    json_close_object(writer);
    json_write_name(writer, "Total");
    json_write_integer(writer, (int64_t)total);
    json_write_name(writer, "Entries");
    json_open_array(writer);
    pthread_mutex_lock(&watch->mutex);
    for (size_t i = 0; i < watch->entry_count; i++)
        write_entry(writer, &watch->entries[i]);
    pthread_mutex_unlock(&watch->mutex);
    json_close_array(writer);
    json_write_name(writer, "NotListed");
    json_write_integer(writer, (int64_t)atomic_load(&watch->unlisted));
    json_close_object(writer);
}
