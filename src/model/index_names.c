/* index_names.c -- see index_names.h. */
#include "model/index_names.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "model/table_definition.h"

enum {
    /* A stored definition may include more names than CreateTable allows for all indexes. */
    NAMES_MAX = ATTRIBUTES_MAX + INDEXES_MAX * INCLUDED_NAMES_PER_INDEX_MAX,
    HELD_MAX = 2 + INDEX_HASH_KEYS_MAX + INDEX_RANGE_KEYS_MAX + INCLUDED_NAMES_PER_INDEX_MAX,
};
static_assert(NAMES_MAX <= UINT16_MAX, "a position fits");

static int compare_names(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

static int compare_positions(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

static size_t add_keys(struct bytes *names, size_t count, const struct key_attribute *keys,
                       size_t key_count)
{
    for (size_t i = 0; i < key_count; i++)
        names[count++] = keys[i].name;
    return count;
}

static size_t drop_repeated_names(struct bytes *names, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !bytes_equal(names[kept - 1], names[i]))
            names[kept++] = names[i];
    }
    return kept;
}

static size_t collect_names(const struct table_definition *table, struct bytes names[NAMES_MAX])
{
    size_t count = add_keys(names, 0, &table->key.hash, 1);
    count = add_keys(names, count, &table->key.range, table->key.has_range ? 1 : 0);
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        assert(count + index->hash_count + index->range_count + index->included_count <= NAMES_MAX);
        count = add_keys(names, count, index->hash, index->hash_count);
        count = add_keys(names, count, index->range, index->range_count);
        for (size_t n = 0; n < index->included_count; n++)
            names[count++] = index->included[n];
    }
    qsort(names, count, sizeof *names, compare_names);
    return drop_repeated_names(names, count);
}

static uint16_t position_of(const struct index_names *names, struct bytes name)
{
    const struct bytes *found =
        bsearch(&name, names->names, names->count, sizeof *names->names, compare_names);
    assert(found != NULL);
    return (uint16_t)(found - names->names);
}

static struct index_positions positions_of(struct arena *arena, const struct index_names *names,
                                           const struct table_definition *table,
                                           const struct index_definition *index)
{
    struct index_positions out = { .held_count = 0 };
    uint16_t held[HELD_MAX];
    size_t count = 0;
    for (size_t i = 0; i < index->hash_count; i++)
        held[count++] = out.hash[i] = position_of(names, index->hash[i].name);
    for (size_t i = 0; i < index->range_count; i++)
        held[count++] = out.range[i] = position_of(names, index->range[i].name);
    held[count++] = names->table_hash;
    if (table->key.has_range)
        held[count++] = names->table_range;
    assert(index->included_count <= INCLUDED_NAMES_PER_INDEX_MAX);
    for (size_t i = 0; i < index->included_count; i++)
        held[count++] = position_of(names, index->included[i]);
    qsort(held, count, sizeof *held, compare_positions);
    uint16_t *kept = arena_alloc(arena, count * sizeof *kept);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || held[i] != held[i - 1])
            kept[out.held_count++] = held[i];
    }
    out.held = kept;
    return out;
}

const struct index_names *index_names_create(struct arena *arena,
                                             const struct table_definition *table)
{
    struct bytes collected[NAMES_MAX];
    if (table->index_count == 0)
        return NULL;
    struct index_names *out = arena_alloc(arena, sizeof *out);
    struct index_positions *indexes = arena_alloc(arena, table->index_count * sizeof *indexes);
    size_t count = collect_names(table, collected);
    struct bytes *names = arena_alloc(arena, count * sizeof *names);
    memcpy(names, collected, count * sizeof *names);
    *out = (struct index_names){ .names = names, .count = count, .indexes = indexes };
    out->table_hash = position_of(out, table->key.hash.name);
    if (table->key.has_range)
        out->table_range = position_of(out, table->key.range.name);
    for (size_t i = 0; i < table->index_count; i++)
        indexes[i] = positions_of(arena, out, table, &table->indexes[i]);
    return out;
}
