/* model_diff.c -- see model_diff.h. */
#include "schema/model_diff.h"
#include <stdarg.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "schema/json_tree.h"
#include "schema/model_file.h"
#include "schema/model_request.h"

struct diff {
    struct arena *arena;
    struct model_step *steps;
    size_t count;
};

static void PRINTF_LIKE(5, 6) add(struct diff *diff, const struct model_table *table,
                                  const char *operation, struct bytes body, const char *format, ...)
{
    va_list arguments;
    if (diff->count == MODEL_STEPS_MAX)
        return;
    va_start(arguments, format);
    struct bytes text = arena_vprintf(diff->arena, format, arguments);
    va_end(arguments);
    diff->steps = arena_grow(diff->arena, diff->steps, diff->count * sizeof *diff->steps,
                             (diff->count + 1) * sizeof *diff->steps);
    diff->steps[diff->count++] =
        (struct model_step){ .text = text, .operation = operation, .body = body, .table = table };
}

static const struct bytes nothing;

/* --- Indexes --- */

static bool same_attribute(const struct key_attribute *a, const struct key_attribute *b)
{
    return a->type == b->type && bytes_equal(a->name, b->name);
}

static bool same_keys(const struct model_index *a, const struct model_index *b)
{
    return same_attribute(&a->hash, &b->hash) && a->has_range == b->has_range &&
           (!a->has_range || same_attribute(&a->range, &b->range));
}

static bool includes(const struct model_index *index, struct bytes name)
{
    for (size_t i = 0; i < index->included_count; i++) {
        if (bytes_equal(index->included[i], name))
            return true;
    }
    return false;
}

static bool same_projection(const struct model_index *a, const struct model_index *b)
{
    if (a->projection != b->projection)
        return false;
    if (a->projection != PROJECTION_INCLUDE)
        return true;
    for (size_t i = 0; i < a->included_count; i++) {
        if (!includes(b, a->included[i]))
            return false;
    }
    for (size_t i = 0; i < b->included_count; i++) {
        if (!includes(a, b->included[i]))
            return false;
    }
    return true;
}

static bool same_index(const struct model_index *a, const struct model_index *b)
{
    return a->local == b->local && same_keys(a, b) && same_projection(a, b);
}

static void create_index(struct diff *diff, const struct model_table *table,
                         const struct model_index *index, const char *why)
{
    add(diff, table, "UpdateTable", model_request_create_index(diff->arena, table, index),
        "table %.*s: create index %.*s, which %s", BYTES_FMT(table->name), BYTES_FMT(index->name),
        why);
}

static void delete_index(struct diff *diff, const struct model_table *table,
                         const struct model_index *index, const char *why)
{
    add(diff, table, "UpdateTable", model_request_delete_index(diff->arena, table, index),
        "table %.*s: delete index %.*s, which %s", BYTES_FMT(table->name), BYTES_FMT(index->name),
        why);
}

/* Says which index is in the way; local ones come and go with their table only. */
static void note_index(struct diff *diff, const struct model_table *table, struct bytes index,
                       const char *what)
{
    add(diff, table, NULL, nothing, "table %.*s: index %.*s %s", BYTES_FMT(table->name),
        BYTES_FMT(index), what);
}

static void remove_index(struct diff *diff, const struct model_table *to,
                         const struct model_index *old)
{
    const struct model_index *now = model_table_index(to, old->name);
    if (now != NULL && (same_index(old, now) || old->local || now->local))
        return; /* The same, or one that add_index notes. */
    if (now != NULL)
        delete_index(diff, to, old, "differs from the model");
    else if (old->local)
        note_index(diff, to, old->name, "is local and not in the model, and cannot be deleted");
    else if (model_table_has_other_index(to, old->name))
        note_index(diff, to, old->name,
                   "should have keys that a model cannot describe, and is left alone");
    else
        delete_index(diff, to, old, "is not in the model");
}

static void add_index(struct diff *diff, const struct model_table *from,
                      const struct model_table *to, const struct model_index *now)
{
    const struct model_index *old = model_table_index(from, now->name);
    if (old != NULL && same_index(old, now))
        return;
    if (model_table_has_other_index(from, now->name))
        note_index(diff, to, now->name,
                   "has a key of several attributes, which a model cannot describe, and is left "
                   "alone: give the new index another name");
    else if (old != NULL && old->local && !now->local)
        note_index(diff, to, now->name,
                   "is local, and a local index cannot be deleted: give the global index another "
                   "name, or create another table and copy the items");
    else if (old != NULL && old->local)
        note_index(diff, to, now->name,
                   "is local and differs from the model; local indexes come with their table only: "
                   "create another table and copy the items");
    else if (now->local)
        note_index(diff, to, now->name,
                   old == NULL ? "is local and new; local indexes come with their table only: "
                                 "create another table and copy the items"
                               : "is global and should be local; local indexes come with their "
                                 "table only: create another table and copy the items");
    else
        create_index(diff, to, now, old == NULL ? "is new" : "differs");
}

static void compare_other_indexes(struct diff *diff, const struct model_table *from,
                                  const struct model_table *to)
{
    for (size_t i = 0; i < from->other_index_count; i++) {
        struct bytes name = from->other_indexes[i];
        if (!model_table_has_other_index(to, name) && model_table_index(to, name) == NULL)
            note_index(diff, to, name,
                       "has a key of several attributes, which a model cannot describe, and is "
                       "left alone");
    }
    for (size_t i = 0; i < to->other_index_count; i++) {
        struct bytes name = to->other_indexes[i];
        if (!model_table_has_other_index(from, name) && model_table_index(from, name) == NULL)
            note_index(diff, to, name,
                       "is missing, and has a key of several attributes, which a model cannot "
                       "describe: create it with UpdateTable");
    }
}

/* Deletions come first: the number of indexes is bounded. */
static void compare_indexes(struct diff *diff, const struct model_table *from,
                            const struct model_table *to)
{
    for (size_t i = 1; i < from->index_count; i++)
        remove_index(diff, to, &from->indexes[i]);
    for (size_t i = 1; i < to->index_count; i++)
        add_index(diff, from, to, &to->indexes[i]);
    compare_other_indexes(diff, from, to);
}

/* --- Tables --- */

/* Another attribute takes two changes. Of the service, the second may have to wait for an hour. */
static void compare_time_to_live(struct diff *diff, const struct model_table *from,
                                 const struct model_table *to)
{
    struct bytes old = from->ttl_attribute, now = to->ttl_attribute;
    if (old.data == NULL && now.data != NULL)
        add(diff, to, "UpdateTimeToLive", model_request_time_to_live(diff->arena, to),
            "table %.*s: enable time to live", BYTES_FMT(to->name));
    else if (old.data != NULL && now.data == NULL)
        add(diff, to, NULL, nothing,
            "table %.*s: time to live by %.*s is not in the model, and is left alone",
            BYTES_FMT(to->name), BYTES_FMT(old));
    else if (old.data != NULL && !bytes_equal(old, now)) {
        add(diff, to, "UpdateTimeToLive", model_request_end_time_to_live(diff->arena, from),
            "table %.*s: disable time to live by %.*s", BYTES_FMT(to->name), BYTES_FMT(old));
        add(diff, to, "UpdateTimeToLive", model_request_time_to_live(diff->arena, to),
            "table %.*s: enable time to live by %.*s", BYTES_FMT(to->name), BYTES_FMT(now));
    }
}

/* The indexes of a live table whose throughput is to be set: all global ones when it becomes
 * provisioned, also those that are deleted next, otherwise those that stay and differ. */
static size_t index_updates(const struct model_table *from, const struct model_table *to,
                            struct model_throughput *out)
{
    size_t count = 0;
    bool turns = !from->provisioned;
    for (size_t i = 1; i < from->index_count; i++) {
        const struct model_index *old = &from->indexes[i];
        const struct model_index *now = model_table_index(to, old->name);
        bool stays = now != NULL && same_index(old, now);
        if (old->local || (!turns && (!stays || (old->read_units == now->read_units &&
                                                 old->write_units == now->write_units))))
            continue;
        out[count++] =
            (struct model_throughput){ .index = old->name,
                                       .read_units = stays ? now->read_units : to->read_units,
                                       .write_units = stays ? now->write_units : to->write_units };
    }
    for (size_t i = 0; turns && i < from->other_index_count; i++)
        out[count++] = (struct model_throughput){ .index = from->other_indexes[i],
                                                  .read_units = to->read_units,
                                                  .write_units = to->write_units };
    return count;
}

static void compare_billing(struct diff *diff, const struct model_table *from,
                            const struct model_table *to)
{
    size_t room = from->index_count + from->other_index_count;
    struct model_throughput *indexes = arena_alloc(diff->arena, room * sizeof *indexes);
    struct model_billing billing = {
        .table = to,
        .mode = from->provisioned != to->provisioned,
        .units = to->provisioned && (!from->provisioned || from->read_units != to->read_units ||
                                     from->write_units != to->write_units),
        .indexes = indexes,
        .index_count = to->provisioned ? index_updates(from, to, indexes) : 0,
    };
    if (billing.mode || billing.units || billing.index_count > 0)
        add(diff, to, "UpdateTable", model_request_billing(diff->arena, &billing),
            billing.mode || billing.units ? "table %.*s: set its billing mode or throughput"
                                          : "table %.*s: set the throughput of its indexes",
            BYTES_FMT(to->name));
}

static void compare_table(struct diff *diff, const struct model_table *from,
                          const struct model_table *to)
{
    if (!same_keys(&from->indexes[0], &to->indexes[0])) {
        add(diff, to, NULL, nothing,
            "table %.*s: its keys differ; create another table and copy the items",
            BYTES_FMT(to->name));
        return;
    }
    compare_billing(diff, from, to);
    compare_indexes(diff, from, to);
    compare_time_to_live(diff, from, to);
}

static void create_table(struct diff *diff, const struct model_table *table)
{
    add(diff, table, "CreateTable", model_request_create_table(diff->arena, table),
        "create table %.*s with %zu indexes", BYTES_FMT(table->name), table->index_count - 1);
    if (table->ttl_attribute.data != NULL)
        add(diff, table, "UpdateTimeToLive", model_request_time_to_live(diff->arena, table),
            "table %.*s: enable time to live", BYTES_FMT(table->name));
}

/* --- Entities --- */

static void compare_entities(struct diff *diff, const struct model_file *from,
                             const struct model_file *to)
{
    static const char advice[] =
        "PutModel in mode OBSERVE, ScanModel, rewrite what it finds, then ENFORCE";
    for (size_t i = 0; i < to->entity_count; i++) {
        const struct model_entity *now = &to->entities[i];
        const struct model_entity *old = model_file_entity(from, now->name);
        if (old == NULL)
            add(diff, NULL, NULL, nothing, "entity %.*s is new: %s", BYTES_FMT(now->name), advice);
        else if (old->node != NULL && now->node != NULL && !json_tree_equal(old->node, now->node))
            add(diff, NULL, NULL, nothing, "entity %.*s has changed: %s", BYTES_FMT(now->name),
                advice);
    }
    for (size_t i = 0; i < from->entity_count; i++) {
        const struct model_entity *old = &from->entities[i];
        if (model_file_entity(to, old->name) == NULL)
            add(diff, NULL, NULL, nothing, "entity %.*s is gone: its items break the model",
                BYTES_FMT(old->name));
    }
}

struct model_step *model_diff(struct arena *arena, const struct model_file *from,
                              const struct model_file *to, bool with_entities, size_t *count)
{
    struct diff diff = { .arena = arena };
    for (size_t i = 0; i < to->table_count; i++) {
        const struct model_table *now = &to->tables[i];
        const struct model_table *old = model_file_table(from, now->name);
        if (old == NULL)
            create_table(&diff, now);
        else
            compare_table(&diff, old, now);
    }
    for (size_t i = 0; i < from->table_count; i++) {
        const struct model_table *old = &from->tables[i];
        if (model_file_table(to, old->name) == NULL)
            add(&diff, old, NULL, nothing, "table %.*s is not in the model, and is left alone",
                BYTES_FMT(old->name));
    }
    if (with_entities)
        compare_entities(&diff, from, to);
    *count = diff.count;
    return diff.steps;
}
