/* index_view.c -- see index_view.h. */
#include "index/index_view.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "model/index_names.h"
#include "model/key.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/key_hash.h"
#include "table/layout.h"

/* --- The walk --- */

/* Both the names and the item's attributes are sorted, so the walk never goes back; it ends behind
 * the last name. */
static void find_values(struct index_view *view)
{
    struct item_iter iter;
    struct bytes name;
    struct value value;
    size_t at = 0;
    item_iter_init(&iter, view->item);
    while (at < view->names->count && item_iter_next(&iter, &name, &value)) {
        int order = value_compare_names(view->names->names[at], name);
        view->step_count++;
        while (order < 0 && ++at < view->names->count)
            order = value_compare_names(view->names->names[at], name);
        if (order == 0)
            view->values[at++] = value;
    }
    assert(at <= view->names->count);
}

struct index_view index_view_open(struct arena *arena, const struct table_definition *table,
                                  const struct item *item)
{
    struct index_view view = { .table = table, .item = item, .names = table->index_names };
    assert(table->index_count > 0);
    if (view.names == NULL)
        view.names = index_names_create(arena, table);
    view.values = arena_alloc_zeroed(arena, view.names->count * sizeof *view.values);
    view.sizes = arena_alloc_zeroed(arena, view.names->count * sizeof *view.sizes);
    find_values(&view);
    return view;
}

static const struct index_positions *positions_of(const struct index_view *view,
                                                  const struct index_definition *index)
{
    size_t at = (size_t)(index - view->table->indexes);
    assert(at < view->table->index_count);
    return &view->names->indexes[at];
}

static bool has_value(const struct index_view *view, size_t position)
{
    assert(position < view->names->count);
    return view->values[position].encoded.data != NULL;
}

/* --- Where an entry is --- */

enum index_fault index_view_fault(const struct key_attribute *attribute, const struct value *value,
                                  size_t size_max)
{
    assert(size_max > 0);
    if (value->type != attribute->type)
        return INDEX_FAULT_TYPE;
    if (value->type == VALUE_N)
        return INDEX_FAULT_NONE;
    if (value->data.len == 0)
        return INDEX_FAULT_EMPTY;
    return value->data.len > size_max ? INDEX_FAULT_SIZE : INDEX_FAULT_NONE;
}

static bool are_keys(const struct index_view *view, const struct key_attribute *attributes,
                     const uint16_t *positions, size_t count, size_t size_max)
{
    for (size_t i = 0; i < count; i++) {
        if (!has_value(view, positions[i]) ||
            index_view_fault(&attributes[i], &view->values[positions[i]], size_max) !=
                INDEX_FAULT_NONE)
            return false;
    }
    return true;
}

bool index_view_has_entry(const struct index_view *view, const struct index_definition *index)
{
    const struct index_positions *at = positions_of(view, index);
    const struct key_schema *key = &view->table->key;
    return are_keys(view, index->hash, at->hash, index->hash_count, PARTITION_KEY_SIZE_MAX) &&
           are_keys(view, index->range, at->range, index->range_count, SORT_KEY_SIZE_MAX) &&
           are_keys(view, &key->hash, &view->names->table_hash, 1, PARTITION_KEY_SIZE_MAX) &&
           are_keys(view, &key->range, &view->names->table_range, key->has_range ? 1 : 0,
                    SORT_KEY_SIZE_MAX);
}

static void append_parts(struct buffer *out, const struct index_view *view,
                         const uint16_t *positions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        key_encode_part(out, &view->values[positions[i]]);
}

/* What orders entries with equal keys: the hash of the table's key. */
static void append_tie_hash(struct buffer *out, const struct index_view *view)
{
    struct buffer hash, range;
    buffer_init(&hash, out->arena);
    buffer_init(&range, out->arena);
    append_parts(&hash, view, &view->names->table_hash, 1);
    append_parts(&range, view, &view->names->table_range, view->table->key.has_range ? 1 : 0);
    uint8_t bytes[LAYOUT_HASH_SIZE];
    store_u64_be(bytes, key_hash_of_item(view->table, buffer_bytes(&hash), buffer_bytes(&range)));
    buffer_append(out, bytes, sizeof bytes);
}

bool index_view_locate(struct arena *arena, const struct index_view *view,
                       const struct index_definition *index, struct item_address *out)
{
    const struct index_positions *at = positions_of(view, index);
    struct buffer key;
    if (!index_view_has_entry(view, index))
        return false;
    buffer_init(&key, arena);
    buffer_reserve(&key, LAYOUT_HASH_SIZE);
    key.len = LAYOUT_HASH_SIZE; /* Filled in below, once the partition key is known. */
    append_parts(&key, view, at->hash, index->hash_count);
    out->hash =
        key_hash_of_partition(view->table, index->hash, index->hash_count,
                              bytes_of(key.data + LAYOUT_HASH_SIZE, key.len - LAYOUT_HASH_SIZE));
    store_u64_be(key.data, out->hash);
    out->prefix_size = key.len;
    append_parts(&key, view, at->range, index->range_count);
    if (view->table->hash == TABLE_HASH_MD5)
        append_tie_hash(&key, view);
    /* A local index has the table's partition key, which its own part stands for already. */
    append_parts(&key, view, &view->names->table_hash, index->global ? 1 : 0);
    append_parts(&key, view, &view->names->table_range, view->table->key.has_range ? 1 : 0);
    out->address = (struct engine_address){
        .place = item_address_of_index_hash(view->table, index, out->hash),
        .key = buffer_bytes(&key),
    };
    return true;
}

/* --- What an entry holds --- */

static size_t size_at(const struct index_view *view, size_t position)
{
    if (view->sizes[position] == 0)
        view->sizes[position] =
            view->names->names[position].len + value_size(&view->values[position]);
    return view->sizes[position];
}

size_t index_view_size(const struct index_view *view, const struct index_definition *index)
{
    const struct index_positions *at = positions_of(view, index);
    size_t size = 0;
    if (index->projection == PROJECTION_ALL)
        return view->item->size;
    for (size_t i = 0; i < at->held_count; i++)
        size += has_value(view, at->held[i]) ? size_at(view, at->held[i]) : 0;
    return size;
}

struct item index_view_project(struct arena *arena, const struct index_view *view,
                               const struct index_definition *index)
{
    const struct index_positions *at = positions_of(view, index);
    if (index->projection == PROJECTION_ALL)
        return *view->item;
    struct item_attribute *held = arena_alloc(arena, at->held_count * sizeof *held);
    size_t count = 0;
    for (size_t i = 0; i < at->held_count; i++) {
        size_t position = at->held[i];
        if (has_value(view, position))
            held[count++] = (struct item_attribute){ .name = view->names->names[position],
                                                     .value = view->values[position].encoded };
    }
    return item_of_sorted(arena, held, count, index_view_size(view, index));
}

/* --- Comparing --- */

enum known { KNOWN_NOT, KNOWN_SAME, KNOWN_DIFFERENT };

struct index_comparison index_comparison_of(struct arena *arena, const struct index_view *before,
                                            const struct index_view *after)
{
    struct index_comparison comparison = { .before = before, .after = after };
    if (before != NULL && after != NULL)
        comparison.known = arena_alloc_zeroed(arena, before->names->count + 1);
    return comparison;
}

static bool note(uint8_t *known, struct bytes before, struct bytes after)
{
    if (*known == KNOWN_NOT) {
        bool same = (before.data == NULL) == (after.data == NULL) && bytes_equal(before, after);
        *known = same ? KNOWN_SAME : KNOWN_DIFFERENT;
    }
    return *known == KNOWN_SAME;
}

bool index_comparison_is_same(const struct index_comparison *comparison,
                              const struct index_definition *index)
{
    const struct index_view *before = comparison->before, *after = comparison->after;
    assert(before->names->count == after->names->count);
    const struct index_positions *at = positions_of(after, index);
    if (index->projection == PROJECTION_ALL)
        return note(&comparison->known[after->names->count], before->item->encoded,
                    after->item->encoded);
    for (size_t i = 0; i < at->held_count; i++) {
        size_t position = at->held[i];
        if (!note(&comparison->known[position], before->values[position].encoded,
                  after->values[position].encoded))
            return false;
    }
    return true;
}
