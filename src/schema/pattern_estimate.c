/* pattern_estimate.c -- what patterns consume on the rows of a sample: see pattern_verdict.h. */
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/key.h"
#include "model/limits.h"
#include "model/value_json.h"
#include "schema/json_tree.h"
#include "schema/model_budget.h"
#include "schema/pattern_verdict.h"

enum { ROW_DEPTH_MAX = 2 * NESTING_DEPTH_MAX + 8 };

bool model_row_item(struct arena *arena, const struct json_node *row, struct item *out,
                    struct bytes *failure)
{
    struct json_reader reader;
    struct error rule, err;
    error_init(&rule, arena);
    error_init(&err, arena);
    json_reader_init(&reader, arena, json_tree_text(arena, row), ROW_DEPTH_MAX);
    if (!item_json_read(&reader, arena, out, &rule, &err)) {
        *failure = error_is_set(&err) ? err.message : BYTES("it is nested too deeply");
        return false;
    }
    *failure = rule.message;
    return !error_is_set(&rule);
}

/* --- Keys as bytes --- */

static struct bytes encode(struct arena *arena, const struct value *value)
{
    struct buffer out;
    buffer_init(&out, arena);
    key_encode_part(&out, value);
    return buffer_bytes(&out);
}

/* The key of that text; data NULL: it is none. */
static struct bytes encode_text(struct arena *arena, const struct key_attribute *key,
                                struct bytes text)
{
    struct buffer json, out;
    struct json_writer writer;
    struct json_reader reader;
    struct error rule, err;
    buffer_init(&json, arena);
    buffer_init(&out, arena);
    json_writer_init(&writer, &json);
    json_open_object(&writer);
    json_write_name(&writer, value_type_name(key->type));
    json_write_string(&writer, text);
    json_close_object(&writer);
    error_init(&rule, arena);
    error_init(&err, arena);
    json_reader_init(&reader, arena, buffer_bytes(&json), ROW_DEPTH_MAX);
    if (!value_json_read(&reader, &out, &rule, &err) || error_is_set(&rule))
        return (struct bytes){ 0 };
    struct value value = value_view(buffer_bytes(&out));
    return encode(arena, &value);
}

static struct bytes encode_template(struct arena *arena, const struct model_pattern *pattern,
                                    const struct key_attribute *key,
                                    const struct key_template *template)
{
    struct bytes text, missing;
    if (!key_template_fill(arena, template, model_pattern_parameter, pattern, &text, &missing))
        return (struct bytes){ 0 };
    return encode_text(arena, key, text);
}

/* data NULL: the value can be one of the key. */
static struct bytes value_fault(struct arena *arena, const struct model_pattern *pattern,
                                const struct key_attribute *key,
                                const struct key_template *template, bool is_prefix)
{
    struct bytes text, missing;
    if (!key_template_fill(arena, template, model_pattern_parameter, pattern, &text, &missing))
        return arena_printf(arena, "the parameter %.*s has no value", BYTES_FMT(missing));
    if (encode_text(arena, key, text).data == NULL || (text.len == 0 && !is_prefix))
        return arena_printf(arena, "\"%.*s\" is no value of the key %.*s", BYTES_FMT(text),
                            BYTES_FMT(key->name));
    return (struct bytes){ 0 };
}

struct bytes pattern_estimate_fault(struct arena *arena, const struct model_pattern *pattern,
                                    const struct model_index *index)
{
    struct bytes fault = { 0 };
    bool is_prefix = pattern->compare == PATTERN_BEGINS_WITH;
    if (pattern->has_hash)
        fault = value_fault(arena, pattern, &index->hash, &pattern->hash, false);
    if (fault.data == NULL && pattern->compare != PATTERN_ANY)
        fault = value_fault(arena, pattern, &index->range, &pattern->range[0], is_prefix);
    if (fault.data != NULL || pattern->compare != PATTERN_BETWEEN)
        return fault;
    fault = value_fault(arena, pattern, &index->range, &pattern->range[1], false);
    if (fault.data == NULL &&
        bytes_compare(encode_template(arena, pattern, &index->range, &pattern->range[0]),
                      encode_template(arena, pattern, &index->range, &pattern->range[1])) > 0)
        fault = BYTES("the upper bound is below the lower one");
    return fault;
}

/* --- Entries of an index --- */

struct entry {
    struct bytes hash, range; /* As bytes; range may be empty. */
    size_t size;              /* Of what is projected. */
};

/* False if the item has no entry. */
static bool make_entry(struct arena *arena, const struct model_table *table,
                       const struct model_index *index, const struct item *item, struct entry *out)
{
    struct value value;
    struct item_iter iter;
    struct bytes name;
    *out = (struct entry){ .range = BYTES("") };
    if (!item_find(item, index->hash.name, &value) || value.type != index->hash.type)
        return false;
    out->hash = encode(arena, &value);
    if (index->has_range) {
        if (!item_find(item, index->range.name, &value) || value.type != index->range.type)
            return false;
        out->range = encode(arena, &value);
    }
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value)) {
        if (model_index_projects(table, index, name))
            out->size += name.len + value_size(&value);
    }
    return true;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return bytes_compare(left->range, right->range);
}

/* --- Reads --- */

static bool in_range(const struct model_pattern *pattern, struct bytes value, struct bytes low,
                     struct bytes high, struct bytes prefix)
{
    int order = low.data == NULL ? 0 : bytes_compare(value, low);
    switch (pattern->compare) {
    case PATTERN_ANY:
        return true;
    case PATTERN_EQUALS:
        return order == 0;
    case PATTERN_BEGINS_WITH:
        return bytes_starts_with(value, prefix);
    case PATTERN_BETWEEN:
        return order >= 0 && bytes_compare(value, high) <= 0;
    case PATTERN_LESS:
        return order < 0;
    case PATTERN_AT_MOST:
        return order <= 0;
    case PATTERN_GREATER:
        return order > 0;
    case PATTERN_AT_LEAST:
        return order >= 0;
    case PATTERN_COMPARE_COUNT:
        break;
    }
    return false;
}

static struct bytes prefix_of(struct arena *arena, const struct model_pattern *pattern)
{
    struct buffer out;
    struct bytes text, missing;
    buffer_init(&out, arena);
    if (pattern->compare == PATTERN_BEGINS_WITH &&
        key_template_fill(arena, &pattern->range[0], model_pattern_parameter, pattern, &text,
                          &missing))
        key_encode_prefix(&out, text);
    return buffer_bytes(&out);
}

/* The entries that a Query or a Scan reads, in their order, before a limit. */
static size_t select_entries(struct arena *arena, const struct model_table *table,
                             const struct model_index *index, const struct model_pattern *pattern,
                             struct entry *entries)
{
    size_t count = 0;
    bool all = pattern->operation == PATTERN_SCAN;
    struct bytes hash = { 0 }, low = { 0 }, high = { 0 }, prefix = prefix_of(arena, pattern);
    if (!all)
        hash = encode_template(arena, pattern, &index->hash, &pattern->hash);
    if (!all && pattern->compare != PATTERN_ANY && pattern->compare != PATTERN_BEGINS_WITH)
        low = encode_template(arena, pattern, &index->range, &pattern->range[0]);
    if (!all && pattern->compare == PATTERN_BETWEEN)
        high = encode_template(arena, pattern, &index->range, &pattern->range[1]);
    for (size_t i = 0; i < table->row_count; i++) {
        struct item item;
        struct bytes failure;
        struct entry *entry = &entries[count];
        if (model_row_item(arena, table->rows[i], &item, &failure) &&
            make_entry(arena, table, index, &item, entry) &&
            (all || (hash.data != NULL && bytes_equal(entry->hash, hash) &&
                     in_range(pattern, entry->range, low, high, prefix))))
            count++;
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    return count;
}

static int64_t read_half_units(size_t size, bool consistent)
{
    int64_t units = (int64_t)((size + READ_UNIT_SIZE - 1) / READ_UNIT_SIZE);
    return (units == 0 ? 1 : units) * (consistent ? 2 : 1);
}

/* In the order in which they are read. */
static const struct entry *entry_at(const struct model_pattern *pattern,
                                    const struct entry *entries, size_t count, size_t position)
{
    assert(position < count);
    return &entries[pattern->descending ? count - 1 - position : position];
}

static struct pattern_estimate estimate_read(struct arena *arena, const struct model_table *table,
                                             const struct model_index *index,
                                             const struct model_pattern *pattern)
{
    struct pattern_estimate estimate = { .known = true };
    struct entry *entries = arena_alloc(arena, (table->row_count + 1) * sizeof *entries);
    size_t count = select_entries(arena, table, index, pattern, entries), page = 0;
    size_t limit =
        pattern->limit > 0 && (uint64_t)pattern->limit < count ? (size_t)pattern->limit : count;
    /* In which order a Scan reads, or entries with equal sort keys follow, is not known here. */
    if (limit < count && (pattern->operation == PATTERN_SCAN ||
                          bytes_equal(entry_at(pattern, entries, count, limit)->range,
                                      entry_at(pattern, entries, count, limit - 1)->range)))
        return (struct pattern_estimate){ 0 };
    for (size_t i = 0; i < limit; i++) {
        page += entry_at(pattern, entries, count, i)->size;
        if (page < READ_PAGE_SIZE_MAX && i + 1 < limit)
            continue;
        estimate.half_units += read_half_units(page, pattern->consistent);
        page = 0;
    }
    estimate.items = (int64_t)limit;
    if (limit == 0)
        estimate.half_units = read_half_units(0, pattern->consistent);
    return estimate;
}

/* --- Single items --- */

/* The row with the pattern's key, or the item's that it puts. */
static bool find_row(struct arena *arena, const struct model_table *table, struct bytes hash,
                     struct bytes range, struct item *out)
{
    for (size_t i = 0; i < table->row_count; i++) {
        struct bytes failure;
        struct entry entry;
        if (model_row_item(arena, table->rows[i], out, &failure) &&
            make_entry(arena, table, &table->indexes[0], out, &entry) &&
            bytes_equal(entry.hash, hash) && bytes_equal(entry.range, range))
            return true;
    }
    return false;
}

static bool find_target(struct arena *arena, const struct model_table *table,
                        const struct model_pattern *pattern, struct item *out)
{
    const struct model_index *key = &table->indexes[0];
    struct bytes hash = encode_template(arena, pattern, &key->hash, &pattern->hash);
    struct bytes range = key->has_range
                             ? encode_template(arena, pattern, &key->range, &pattern->range[0])
                             : BYTES("");
    return hash.data != NULL && range.data != NULL && find_row(arena, table, hash, range, out);
}

static int64_t write_half_units(size_t before, size_t after)
{
    size_t size = before > after ? before : after;
    int64_t units = (int64_t)((size + WRITE_UNIT_SIZE - 1) / WRITE_UNIT_SIZE);
    return 2 * (units == 0 ? 1 : units);
}

static bool is_projection_equal(const struct model_table *table, const struct model_index *index,
                                const struct item *a, const struct item *b)
{
    struct item_iter iter;
    struct bytes name;
    struct value value, other;
    const struct item *pairs[2][2] = { { a, b }, { b, a } };
    for (size_t i = 0; i < 2; i++) {
        item_iter_init(&iter, pairs[i][0]);
        while (item_iter_next(&iter, &name, &value)) {
            if (model_index_projects(table, index, name) &&
                (!item_find(pairs[i][1], name, &other) || !value_equal(&value, &other)))
                return false;
        }
    }
    return true;
}

/* What an index is charged for a change of an item; `before` or `after` NULL: there is none. */
static int64_t index_half_units(struct arena *arena, const struct model_table *table,
                                const struct model_index *index, const struct item *before,
                                const struct item *after)
{
    struct entry old_entry, new_entry;
    bool had = before != NULL && make_entry(arena, table, index, before, &old_entry);
    bool has = after != NULL && make_entry(arena, table, index, after, &new_entry);
    if (!had && !has)
        return 0;
    if (!had || !has)
        return write_half_units(had ? old_entry.size : 0, has ? new_entry.size : 0);
    if (!bytes_equal(old_entry.hash, new_entry.hash) ||
        !bytes_equal(old_entry.range, new_entry.range))
        return write_half_units(old_entry.size, 0) + write_half_units(0, new_entry.size);
    return is_projection_equal(table, index, before, after)
               ? 0
               : write_half_units(old_entry.size, new_entry.size);
}

static struct pattern_estimate estimate_write(struct arena *arena, const struct model_table *table,
                                              const struct item *before, const struct item *after)
{
    struct pattern_estimate estimate = { .known = true, .items = 1 };
    estimate.half_units =
        write_half_units(before == NULL ? 0 : before->size, after == NULL ? 0 : after->size);
    for (size_t i = 1; i < table->index_count; i++)
        estimate.half_units += index_half_units(arena, table, &table->indexes[i], before, after);
    return estimate;
}

static struct pattern_estimate estimate_put(struct arena *arena, const struct model_table *table,
                                            const struct model_pattern *pattern)
{
    struct item before, after;
    struct entry entry;
    struct bytes failure;
    if (!model_row_item(arena, pattern->item, &after, &failure) ||
        !make_entry(arena, table, &table->indexes[0], &after, &entry))
        return (struct pattern_estimate){ 0 };
    bool exists = find_row(arena, table, entry.hash, entry.range, &before);
    return estimate_write(arena, table, exists ? &before : NULL, &after);
}

struct pattern_estimate pattern_estimate_of(struct arena *arena, const struct model_file *file,
                                            const struct model_pattern *pattern)
{
    const struct model_table *table = model_file_table(file, pattern->table);
    const struct model_index *index = model_table_index(table, pattern->index);
    struct pattern_estimate unknown = { 0 };
    struct item item;
    if (!model_budget_take(file, model_budget_estimate(pattern, table)))
        return unknown;
    switch (pattern->operation) {
    case PATTERN_QUERY:
    case PATTERN_SCAN:
        if (pattern_verdict_of(arena, file, pattern).missing.data != NULL)
            return unknown;
        return estimate_read(arena, table, index, pattern);
    case PATTERN_GET_ITEM: {
        bool found = find_target(arena, table, pattern, &item);
        return (struct pattern_estimate){
            .known = true,
            .items = found,
            .half_units = read_half_units(found ? item.size : 0, pattern->consistent),
        };
    }
    case PATTERN_PUT_ITEM:
        return estimate_put(arena, table, pattern);
    case PATTERN_DELETE_ITEM: {
        bool found = find_target(arena, table, pattern, &item);
        return estimate_write(arena, table, found ? &item : NULL, NULL);
    }
    default:
        return unknown;
    }
}
