/* index_entry.c -- see index_entry.h. */
#include "index/index_entry.h"
#include <assert.h>
#include "base/buffer.h"
#include "base/byte_order.h"
#include "model/error.h"
#include "model/key.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/layout.h"

/* --- Key attributes --- */

enum fault { FAULT_NONE, FAULT_TYPE, FAULT_EMPTY, FAULT_SIZE };

static enum fault fault_of(const struct key_attribute *attribute, const struct value *value,
                           size_t size_max)
{
    if (value->type != attribute->type)
        return FAULT_TYPE;
    if (value->type == VALUE_N)
        return FAULT_NONE;
    if (value->data.len == 0)
        return FAULT_EMPTY;
    return value->data.len > size_max ? FAULT_SIZE : FAULT_NONE;
}

/* Appends the parts of some key attributes. False if one is missing or no key. */
static bool append_parts(struct buffer *out, const struct key_attribute *attributes, size_t count,
                         size_t size_max, const struct item *item)
{
    for (size_t i = 0; i < count; i++) {
        struct value value;
        if (!item_find(item, attributes[i].name, &value) ||
            fault_of(&attributes[i], &value, size_max) != FAULT_NONE)
            return false;
        key_encode_part(out, &value);
    }
    return true;
}

/* A local index has the table's partition key, which the index's own part stands for already. */
static bool append_table_key(struct buffer *out, const struct key_schema *key, bool global,
                             const struct item *item)
{
    return (!global || append_parts(out, &key->hash, 1, PARTITION_KEY_SIZE_MAX, item)) &&
           (!key->has_range || append_parts(out, &key->range, 1, SORT_KEY_SIZE_MAX, item));
}

bool index_entry_locate(struct arena *arena, const struct table_definition *table,
                        const struct index_definition *index, const struct item *item,
                        struct item_place *out)
{
    struct buffer key;
    buffer_init(&key, arena);
    buffer_reserve(&key, LAYOUT_HASH_SIZE);
    key.len = LAYOUT_HASH_SIZE; /* Filled in below, once the partition key is known. */
    if (!append_parts(&key, index->hash, index->hash_count, PARTITION_KEY_SIZE_MAX, item))
        return false;
    out->hash = item_place_hash(bytes_of(key.data + LAYOUT_HASH_SIZE, key.len - LAYOUT_HASH_SIZE));
    store_u64_be(key.data, out->hash);
    out->prefix_size = key.len;
    if (!append_parts(&key, index->range, index->range_count, SORT_KEY_SIZE_MAX, item) ||
        !append_table_key(&key, &table->key, index->global, item))
        return false;
    out->address = (struct engine_address){
        .place = item_place_of_index_hash(table, index, out->hash),
        .key = buffer_bytes(&key),
    };
    return true;
}

static size_t add_name(struct bytes *names, size_t count, struct bytes name)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal(names[i], name))
            return count;
    }
    names[count] = name;
    return count + 1;
}

size_t index_entry_key_names(const struct table_definition *table,
                             const struct index_definition *index,
                             struct bytes names[INDEX_ENTRY_KEYS_MAX])
{
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

/* --- Projections --- */

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

/* What an entry holds of an item, unless it holds everything. Returns how many names. */
enum { PROJECTED_NAMES_MAX = INDEX_ENTRY_KEYS_MAX + INCLUDED_NAMES_PER_INDEX_MAX };
static size_t projected_names(const struct table_definition *table,
                              const struct index_definition *index,
                              struct bytes names[PROJECTED_NAMES_MAX])
{
    size_t count = index_entry_key_names(table, index, names);
    assert(index->included_count <= INCLUDED_NAMES_PER_INDEX_MAX);
    for (size_t i = 0; i < index->included_count; i++)
        count = add_name(names, count, index->included[i]);
    return count;
}

struct item index_entry_project(struct arena *arena, const struct table_definition *table,
                                const struct index_definition *index, const struct item *item)
{
    struct item_builder builder;
    struct bytes names[PROJECTED_NAMES_MAX];
    if (index->projection == PROJECTION_ALL)
        return *item;
    size_t count = projected_names(table, index, names);
    item_builder_init(&builder, arena);
    for (size_t i = 0; i < count; i++) {
        struct value value;
        if (item_find(item, names[i], &value))
            item_builder_add(&builder, names[i], value.encoded);
    }
    return item_builder_finish(&builder);
}

size_t index_entry_size(const struct table_definition *table, const struct index_definition *index,
                        const struct item *item)
{
    struct bytes names[PROJECTED_NAMES_MAX];
    size_t size = 0;
    if (index->projection == PROJECTION_ALL)
        return item->size;
    size_t count = projected_names(table, index, names);
    for (size_t i = 0; i < count; i++) {
        struct value value;
        if (item_find(item, names[i], &value))
            size += names[i].len + value_size(&value);
    }
    return size;
}

bool index_entry_is_same(const struct table_definition *table, const struct index_definition *index,
                         const struct item *a, const struct item *b)
{
    struct bytes names[PROJECTED_NAMES_MAX];
    if (index->projection == PROJECTION_ALL)
        return bytes_equal(a->encoded, b->encoded);
    size_t count = projected_names(table, index, names);
    for (size_t i = 0; i < count; i++) {
        struct value of_a, of_b;
        bool has = item_find(a, names[i], &of_a);
        if (item_find(b, names[i], &of_b) != has ||
            (has && !bytes_equal(of_a.encoded, of_b.encoded)))
            return false;
    }
    return true;
}

bool index_entry_local_fits(struct arena *arena, const struct table_definition *table,
                            const struct item *item)
{
    assert(item->size <= ITEM_SIZE_MAX);
    if (item->size <= ITEM_SIZE_MAX / 2)
        return true; /* An entry is never larger than its item. */
    for (size_t i = 0; i < table->index_count && !table->indexes[i].global; i++) {
        const struct index_definition *index = &table->indexes[i];
        struct item_place ignored;
        if (index_entry_locate(arena, table, index, item, &ignored) &&
            index_entry_size(table, index, item) > ITEM_SIZE_MAX - item->size)
            return false;
    }
    return true;
}

/* --- The service's rules --- */

struct refusal {
    const struct index_definition *index;
    const struct key_attribute *attribute;
    struct value value;
    enum fault fault;
    size_t size_max;
};

/* Finds the first attribute that is new and no key. */
static bool find_fault(const struct index_definition *index, const struct key_attribute *attributes,
                       size_t count, size_t size_max, const struct item *before,
                       const struct item *after, struct refusal *out)
{
    for (size_t i = 0; i < count; i++) {
        struct value old;
        struct refusal found = { .index = index,
                                 .attribute = &attributes[i],
                                 .size_max = size_max };
        if (!item_find(after, attributes[i].name, &found.value))
            continue;
        found.fault = fault_of(&attributes[i], &found.value, size_max);
        if (found.fault == FAULT_NONE)
            continue;
        if (before != NULL && item_find(before, attributes[i].name, &old) &&
            bytes_equal(old.encoded, found.value.encoded))
            continue;
        *out = found;
        return true;
    }
    return false;
}

/* Observed: of several indexes that refuse an item, the first by name is reported. */
static bool find_refusal(const struct table_definition *table, const struct item *before,
                         const struct item *after, struct refusal *out)
{
    bool refused = false;
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        if (index->status == INDEX_DELETING ||
            (refused && bytes_compare(index->name, out->index->name) > 0))
            continue;
        refused |= find_fault(index, index->hash, index->hash_count, PARTITION_KEY_SIZE_MAX, before,
                              after, out) ||
                   find_fault(index, index->range, index->range_count, SORT_KEY_SIZE_MAX, before,
                              after, out);
    }
    return refused;
}

static bool refuse_type(const struct refusal *refusal, struct error *err)
{
    return error_validation(err,
                            "One or more parameter values were invalid: Type mismatch for Index "
                            "Key %.*s Expected: %s Actual: %s IndexName: %.*s",
                            BYTES_FMT(refusal->attribute->name),
                            value_type_name(refusal->attribute->type),
                            value_type_name(refusal->value.type), BYTES_FMT(refusal->index->name));
}

static bool refuse_size(const struct refusal *refusal, struct error *err)
{
    return error_validation(err,
                            "One or more parameter values were invalid: Size limit exceeded for "
                            "Index Key %.*s Actual Size: %zu bytes Max Size: %zu bytes IndexName: "
                            "%.*s",
                            BYTES_FMT(refusal->attribute->name), refusal->value.data.len,
                            refusal->size_max, BYTES_FMT(refusal->index->name));
}

static const char *type_word(const struct value *value)
{
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
    if (!find_refusal(table, NULL, item, &refusal))
        return true;
    if (refusal.fault == FAULT_TYPE)
        return refuse_type(&refusal, err);
    if (refusal.fault == FAULT_SIZE)
        return refuse_size(&refusal, err);
    return refuse_empty(refusal.index, refusal.attribute, &refusal.value, err);
}

bool index_entry_check_update(const struct table_definition *table, const struct item *before,
                              const struct item *after, struct error *err)
{
    struct refusal refusal;
    if (!find_refusal(table, before, after, &refusal))
        return true;
    if (refusal.fault == FAULT_TYPE)
        return refuse_type(&refusal, err);
    if (refusal.fault == FAULT_SIZE)
        return refuse_size(&refusal, err);
    return error_validation(err,
                            "One or more parameter values are not valid. The update expression "
                            "attempted to update a secondary index key to a value that is not "
                            "supported. The AttributeValue for a key attribute cannot contain an "
                            "empty %s value.",
                            type_word(&refusal.value));
}
