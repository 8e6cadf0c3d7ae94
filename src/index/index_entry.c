/* index_entry.c -- see index_entry.h. */
#include "index/index_entry.h"
#include <assert.h>
#include "index/index_view.h"
#include "model/error.h"
#include "model/index_names.h"
#include "model/limits.h"
#include "model/table_definition.h"

/* --- One entry --- */

bool index_entry_locate(struct arena *arena, const struct table_definition *table,
                        const struct index_definition *index, const struct item *item,
                        struct item_address *out)
{
    struct index_view view = index_view_open(arena, table, item);
    return index_view_locate(arena, &view, index, out);
}

struct item index_entry_project(struct arena *arena, const struct table_definition *table,
                                const struct index_definition *index, const struct item *item)
{
    struct index_view view = index_view_open(arena, table, item);
    return index_view_project(arena, &view, index);
}

/* --- Names --- */

static size_t add_name(struct bytes *names, size_t count, struct bytes name)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal(names[i], name))
            return count;
    }
    assert(count < INDEX_ENTRY_KEYS_MAX);
    names[count] = name;
    return count + 1;
}

size_t index_entry_key_names(const struct table_definition *table,
                             const struct index_definition *index,
                             struct bytes names[INDEX_ENTRY_KEYS_MAX])
{
    assert(index->hash_count > 0);
    size_t count = 0;
    for (size_t i = 0; i < index->hash_count; i++)
        count = add_name(names, count, index->hash[i].name);
    for (size_t i = 0; i < index->range_count; i++)
        count = add_name(names, count, index->range[i].name);
    count = add_name(names, count, table->key.hash.name);
    if (table->key.has_range)
        count = add_name(names, count, table->key.range.name);
    return count;
}

static bool is_among(const struct bytes *names, size_t count, struct bytes name)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal(names[i], name))
            return true;
    }
    return false;
}

bool index_entry_projects(const struct table_definition *table,
                          const struct index_definition *index, struct bytes name)
{
    struct bytes keys[INDEX_ENTRY_KEYS_MAX];
    return index->projection == PROJECTION_ALL ||
           is_among(keys, index_entry_key_names(table, index, keys), name) ||
           is_among(index->included, index->included_count, name);
}

bool index_entry_local_fits(struct arena *arena, const struct table_definition *table,
                            const struct item *item)
{
    assert(item->size <= ITEM_SIZE_MAX);
    if (!table_definition_has_local_index(table) || item->size <= ITEM_SIZE_MAX / 2)
        return true; /* An entry is never larger than its item. */
    struct index_view view = index_view_open(arena, table, item);
    for (size_t i = 0; i < table->index_count && !table->indexes[i].global; i++) {
        const struct index_definition *index = &table->indexes[i];
        if (index_view_has_entry(&view, index) &&
            index_view_size(&view, index) > ITEM_SIZE_MAX - item->size)
            return false;
    }
    return true;
}

/* --- The service's rules --- */

struct refusal {
    const struct index_definition *index;
    const struct key_attribute *attribute;
    struct value value;
    enum index_fault fault;
    size_t size_max;
};

/* An item that a client wants to store, and the one that it replaces. */
struct replacement {
    struct arena *arena;
    struct index_view after;
    const struct item *before;     /* NULL: there is none, or it does not matter. */
    struct index_view before_view; /* Opened when it is asked for: faults are rare. */
};

static bool was_same(struct replacement *item, size_t position)
{
    assert(position < item->after.names->count);
    if (item->before == NULL)
        return false;
    if (item->before_view.item == NULL)
        item->before_view = index_view_open(item->arena, item->after.table, item->before);
    struct bytes old = item->before_view.values[position].encoded;
    return old.data != NULL && bytes_equal(old, item->after.values[position].encoded);
}

/* Finds the first attribute that is new and no key. */
static bool find_fault(const struct index_definition *index, const struct key_attribute *attributes,
                       const uint16_t *positions, size_t count, size_t size_max,
                       struct replacement *item, struct refusal *out)
{
    assert(size_max > 0);
    for (size_t i = 0; i < count; i++) {
        struct refusal found = { .index = index,
                                 .attribute = &attributes[i],
                                 .value = item->after.values[positions[i]],
                                 .size_max = size_max };
        if (found.value.encoded.data == NULL)
            continue;
        found.fault = index_view_fault(&attributes[i], &found.value, size_max);
        if (found.fault == INDEX_FAULT_NONE || was_same(item, positions[i]))
            continue;
        *out = found;
        return true;
    }
    return false;
}

/* Observed: of several indexes that refuse an item, the first by name is reported. */
static bool find_refusal(struct arena *arena, const struct table_definition *table,
                         const struct item *before, const struct item *after, struct refusal *out)
{
    assert(after != NULL);
    bool refused = false;
    if (table->index_count == 0)
        return false;
    struct replacement item = { .arena = arena,
                                .after = index_view_open(arena, table, after),
                                .before = before };
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        const struct index_positions *at = &item.after.names->indexes[i];
        if (index->status == INDEX_DELETING ||
            (refused && bytes_compare(index->name, out->index->name) > 0))
            continue;
        refused |= find_fault(index, index->hash, at->hash, index->hash_count,
                              PARTITION_KEY_SIZE_MAX, &item, out) ||
                   find_fault(index, index->range, at->range, index->range_count, SORT_KEY_SIZE_MAX,
                              &item, out);
    }
    assert(!refused || out->fault != INDEX_FAULT_NONE);
    return refused;
}

static bool refuse_type(const struct refusal *refusal, struct error *err)
{
    assert(refusal->fault == INDEX_FAULT_TYPE);
    return error_validation(err,
                            "One or more parameter values were invalid: Type mismatch for Index "
                            "Key %.*s Expected: %s Actual: %s IndexName: %.*s",
                            BYTES_FMT(refusal->attribute->name),
                            value_type_name(refusal->attribute->type),
                            value_type_name(refusal->value.type), BYTES_FMT(refusal->index->name));
}

static bool refuse_size(const struct refusal *refusal, struct error *err)
{
    assert(refusal->fault == INDEX_FAULT_SIZE && refusal->value.data.len > refusal->size_max);
    return error_validation(err,
                            "One or more parameter values were invalid: Size limit exceeded for "
                            "Index Key %.*s Actual Size: %zu bytes Max Size: %zu bytes IndexName: "
                            "%.*s",
                            BYTES_FMT(refusal->attribute->name), refusal->value.data.len,
                            refusal->size_max, BYTES_FMT(refusal->index->name));
}

static const char *type_word(const struct value *value)
{
    assert(value->type == VALUE_S || value->type == VALUE_B); /* A number is never empty. */
    return value->type == VALUE_S ? "string" : "binary";
}

static bool refuse_empty(const struct index_definition *index,
                         const struct key_attribute *attribute, const struct value *value,
                         struct error *err)
{
    return error_validation(err,
                            "One or more parameter values are not valid. A value specified for a "
                            "secondary index key is not supported. The AttributeValue for a key "
                            "attribute cannot contain an empty %s value. IndexName: %.*s, "
                            "IndexKey: %.*s",
                            type_word(value), BYTES_FMT(index->name), BYTES_FMT(attribute->name));
}

bool index_entry_check_not_empty(const struct index_definition *index,
                                 const struct key_attribute *attribute, const struct value *value,
                                 struct error *err)
{
    return value->type == VALUE_N || value->data.len > 0 ||
           refuse_empty(index, attribute, value, err);
}

bool index_entry_check_put(const struct table_definition *table, const struct item *item,
                           struct error *err)
{
    struct refusal refusal;
    if (!find_refusal(err->arena, table, NULL, item, &refusal))
        return true;
    if (refusal.fault == INDEX_FAULT_TYPE)
        return refuse_type(&refusal, err);
    if (refusal.fault == INDEX_FAULT_SIZE)
        return refuse_size(&refusal, err);
    return refuse_empty(refusal.index, refusal.attribute, &refusal.value, err);
}

bool index_entry_check_update(const struct table_definition *table, const struct item *before,
                              const struct item *after, struct error *err)
{
    struct refusal refusal;
    if (!find_refusal(err->arena, table, before, after, &refusal))
        return true;
    if (refusal.fault == INDEX_FAULT_TYPE)
        return refuse_type(&refusal, err);
    if (refusal.fault == INDEX_FAULT_SIZE)
        return refuse_size(&refusal, err);
    return error_validation(err,
                            "One or more parameter values are not valid. The update expression "
                            "attempted to update a secondary index key to a value that is not "
                            "supported. The AttributeValue for a key attribute cannot contain an "
                            "empty %s value.",
                            type_word(&refusal.value));
}
