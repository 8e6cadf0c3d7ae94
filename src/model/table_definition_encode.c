/* table_definition_encode.c -- a table's record in the catalogue, written.
 *
 * A record is an item, so it has an item's checksum and grows by attributes: a reader ignores those
 * it does not know, and an absent one means the zero of its field. Layout: doc/disk-format.md,
 * "Catalogue". table_definition_decode.c is the other half.
 */
#include "model/table_definition.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "model/number.h"
#include "model/table_record.h"

static void append_unsigned(struct buffer *out, uint64_t value, bool negative)
{
    struct number number = { .coefficient = value, .negative = negative };
    while (value != 0 && number.coefficient % 10 == 0) { /* Canonical: no trailing zero. */
        number.coefficient /= 10;
        number.exponent++;
    }
    uint8_t encoded[NUMBER_ENCODED_MAX];
    size_t size = number_encode(&number, encoded);
    value_append_number(out, bytes_of(encoded, size));
}

static void append_signed(struct buffer *out, int64_t value)
{
    append_unsigned(out, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
}

static void append_text(struct buffer *out, const char *text)
{
    value_append_string(out, bytes_from_text(text));
}

static void append_list(struct buffer *out, uint32_t count, const struct buffer *elements)
{
    value_append_container(out, VALUE_L, count, buffer_bytes(elements));
}

static void append_throughput(struct buffer *out, const struct throughput *throughput)
{
    struct buffer elements;
    buffer_init(&elements, out->arena);
    append_signed(&elements, throughput->read_units);
    append_signed(&elements, throughput->write_units);
    append_signed(&elements, throughput->last_increase_ms);
    append_signed(&elements, throughput->last_decrease_ms);
    append_signed(&elements, throughput->decreases_today);
    append_list(out, TABLE_RECORD_THROUGHPUT_FIELDS, &elements);
}

static void append_turns(struct buffer *out, const struct table_definition *definition)
{
    struct buffer elements;
    buffer_init(&elements, out->arena);
    for (size_t i = 0; i < ON_DEMAND_TURNS_MAX; i++)
        append_signed(&elements, definition->on_demand_turns_ms[i]);
    append_list(out, ON_DEMAND_TURNS_MAX, &elements);
}

static void append_units(struct buffer *out, const struct unit_pair *pair)
{
    struct buffer elements;
    buffer_init(&elements, out->arena);
    append_signed(&elements, pair->read_units);
    append_signed(&elements, pair->write_units);
    append_list(out, TABLE_RECORD_UNIT_PAIR_FIELDS, &elements);
}

static void append_insight(struct buffer *out, const struct insight_definition *insight)
{
    struct buffer elements;
    buffer_init(&elements, out->arena);
    append_signed(&elements, insight->status);
    append_signed(&elements, insight->throttled_only);
    append_signed(&elements, insight->accessed_since_ms);
    append_signed(&elements, insight->throttled_since_ms);
    append_signed(&elements, insight->updated_ms);
    append_signed(&elements, insight->transition_at_ms);
    append_list(out, INSIGHT_DEFINITION_FIELDS, &elements);
}

static void append_names(struct buffer *out, const struct bytes *names, size_t count)
{
    struct buffer elements;
    buffer_init(&elements, out->arena);
    for (size_t i = 0; i < count; i++)
        value_append_string(&elements, names[i]);
    append_list(out, (uint32_t)count, &elements);
}

/* Key attributes are kept by name; their types are in the list of attributes. */
static void append_key_names(struct buffer *out, const struct key_attribute *keys, size_t count)
{
    struct bytes names[INDEX_HASH_KEYS_MAX];
    static_assert(INDEX_RANGE_KEYS_MAX <= INDEX_HASH_KEYS_MAX, "both fit into names");
    assert(count <= COUNT_OF(names));
    for (size_t i = 0; i < count; i++)
        names[i] = keys[i].name;
    append_names(out, names, count);
}

/* Puts a map together; the caller adds members in the order of their names. */
struct map_writer {
    struct buffer members;
    uint32_t count;
};

static struct buffer *map_member(struct map_writer *map, const char *name)
{
    value_append_length_prefixed(&map->members, bytes_from_text(name));
    map->count++;
    return &map->members;
}

static void append_partitions(struct buffer *out, const struct partition *partitions, size_t count)
{
    struct buffer list;
    buffer_init(&list, out->arena);
    for (size_t i = 0; i < count; i++) {
        struct buffer fields;
        buffer_init(&fields, out->arena);
        append_unsigned(&fields, partitions[i].id, false);
        append_unsigned(&fields, partitions[i].first_hash, false);
        append_unsigned(&fields, partitions[i].parent_id, false);
        append_list(&list, TABLE_RECORD_PARTITION_FIELDS, &fields);
    }
    append_list(out, (uint32_t)count, &list);
}

static void append_index(struct buffer *out, const struct index_definition *index)
{
    struct map_writer map = { .count = 0 };
    buffer_init(&map.members, out->arena);
    value_append_bool(map_member(&map, "b"), index->status == INDEX_ACTIVE);
    if (index->created_ms > 0)
        append_signed(map_member(&map, "c"), index->created_ms);
    if (index->insight.status != INSIGHT_NEVER)
        append_insight(map_member(&map, "ci"), &index->insight);
    if (index->backfilled.len > 0)
        value_append_binary(map_member(&map, "f"), index->backfilled);
    value_append_bool(map_member(&map, "g"), index->global);
    append_key_names(map_member(&map, "h"), index->hash, index->hash_count);
    append_unsigned(map_member(&map, "id"), index->id, false);
    value_append_string(map_member(&map, "n"), index->name);
    append_units(map_member(&map, "o"), &index->on_demand_max);
    append_text(map_member(&map, "p"), projection_type_name(index->projection));
    if (index->global)
        append_partitions(map_member(&map, "pa"), index->partitions, index->partition_count);
    append_key_names(map_member(&map, "r"), index->range, index->range_count);
    if (index->status != INDEX_ACTIVE)
        append_text(map_member(&map, "s"), index_status_name(index->status));
    append_throughput(map_member(&map, "t"), &index->throughput);
    append_units(map_member(&map, "w"), &index->warm_throughput);
    if (index->projection == PROJECTION_INCLUDE)
        append_names(map_member(&map, "x"), index->included, index->included_count);
    value_append_container(out, VALUE_M, map.count, buffer_bytes(&map.members));
}

/* Appends an attribute's value; finish_attribute then adds it to the record. */
struct record_writer {
    struct item_builder builder;
    struct buffer value;
};

static struct buffer *begin_attribute(struct record_writer *record)
{
    buffer_init(&record->value, record->builder.arena);
    return &record->value;
}

static void finish_attribute(struct record_writer *record, const char *name)
{
    item_builder_add(&record->builder, bytes_from_text(name), buffer_bytes(&record->value));
}

static void add_text(struct record_writer *record, const char *name, struct bytes text)
{
    if (text.data == NULL)
        return;
    value_append_string(begin_attribute(record), text);
    finish_attribute(record, name);
}

static void add_name(struct record_writer *record, const char *name, const char *text)
{
    add_text(record, name, bytes_from_text(text));
}

static void add_integer(struct record_writer *record, const char *name, int64_t value)
{
    if (value == 0)
        return;
    append_signed(begin_attribute(record), value);
    finish_attribute(record, name);
}

/* Nothing for 0, which is nobody's. */
static void add_id(struct record_writer *record, const char *name, uint64_t id)
{
    if (id == 0)
        return;
    append_unsigned(begin_attribute(record), id, false);
    finish_attribute(record, name);
}

static void add_flag(struct record_writer *record, const char *name, bool flag)
{
    if (!flag)
        return;
    value_append_bool(begin_attribute(record), true);
    finish_attribute(record, name);
}

static void add_keys(struct record_writer *record, const struct table_definition *definition)
{
    const struct bytes names[] = { definition->key.hash.name, definition->key.range.name };
    append_names(begin_attribute(record), names, definition->key.has_range ? 2 : 1);
    finish_attribute(record, "k");

    struct buffer list;
    buffer_init(&list, record->builder.arena);
    for (size_t i = 0; i < definition->attribute_count; i++) {
        const struct key_attribute *attribute = &definition->attributes[i];
        const struct bytes pair[] = { attribute->name,
                                      bytes_from_text(value_type_name(attribute->type)) };
        append_names(&list, pair, 2);
    }
    append_list(begin_attribute(record), (uint32_t)definition->attribute_count, &list);
    finish_attribute(record, "a");
}

static void add_indexes(struct record_writer *record, const struct table_definition *definition)
{
    struct buffer list;
    buffer_init(&list, record->builder.arena);
    for (size_t i = 0; i < definition->index_count; i++)
        append_index(&list, &definition->indexes[i]);
    append_list(begin_attribute(record), (uint32_t)definition->index_count, &list);
    finish_attribute(record, "i");
}

static void add_partitions(struct record_writer *record, const struct table_definition *definition)
{
    append_partitions(begin_attribute(record), definition->partitions, definition->partition_count);
    finish_attribute(record, "p");
    if (definition->split_count == 0)
        return;
    append_partitions(begin_attribute(record), definition->splits, definition->split_count);
    finish_attribute(record, "sp");
    add_id(record, "sq", definition->splitting_id);
}

static void add_tags(struct record_writer *record, const char *name, const struct tag_list *tags)
{
    struct map_writer map = { .count = 0 };
    buffer_init(&map.members, record->builder.arena);
    for (size_t i = 0; i < tags->count; i++) {
        value_append_length_prefixed(&map.members, tags->elements[i].key);
        value_append_string(&map.members, tags->elements[i].value);
        map.count++;
    }
    value_append_container(begin_attribute(record), VALUE_M, map.count, buffer_bytes(&map.members));
    finish_attribute(record, name);
}

static void add_capacity(struct record_writer *record, const struct table_definition *definition)
{
    add_name(record, "bm", billing_mode_name(definition->billing_mode));
    add_flag(record, "bg", definition->billing_mode_given);
    add_integer(record, "bs", definition->on_demand_since_ms);
    if (definition->on_demand_turns_ms[1] != 0) { /* Otherwise "bs" tells all. */
        append_turns(begin_attribute(record), definition);
        finish_attribute(record, "bt");
    }
    append_throughput(begin_attribute(record), &definition->throughput);
    finish_attribute(record, "t");
    append_units(begin_attribute(record), &definition->on_demand_max);
    finish_attribute(record, "o");
    append_units(begin_attribute(record), &definition->warm_throughput);
    finish_attribute(record, "w");
}

static void add_expiry(struct record_writer *record, const struct expiry_definition *expiry)
{
    if (expiry->status == EXPIRY_NONE)
        return;
    add_name(record, "qs", expiry_status_name(expiry->status));
    add_text(record, "qa", expiry->attribute);
    if (expiry->filled.len == 0)
        return;
    value_append_binary(begin_attribute(record), expiry->filled);
    finish_attribute(record, "qf");
}

static void add_history(struct record_writer *record, const struct history_definition *history)
{
    if (history->status == HISTORY_NONE)
        return;
    add_id(record, "hi", history->id);
    add_name(record, "hs", history_status_name(history->status));
    add_integer(record, "hf", history->since_us);
}

static void add_insight(struct record_writer *record, const struct insight_definition *insight)
{
    if (insight->status == INSIGHT_NEVER)
        return;
    append_insight(begin_attribute(record), insight);
    finish_attribute(record, "ci");
}

static void add_model(struct record_writer *record, const struct model_definition *model)
{
    if (model->mode == MODEL_NONE)
        return;
    add_integer(record, "mm", model->mode);
    add_text(record, "mt", model->text);
    add_integer(record, "mu", model->updated_ms);
}

static void append_override(struct buffer *out, const struct replica_override *override)
{
    struct map_writer map = { .count = 0 };
    buffer_init(&map.members, out->arena);
    append_signed(map_member(&map, "m"), override->on_demand_read_max);
    if (override->index_name.data != NULL)
        value_append_string(map_member(&map, "n"), override->index_name);
    append_signed(map_member(&map, "r"), override->read_units);
    value_append_container(out, VALUE_M, map.count, buffer_bytes(&map.members));
}

static void append_member(struct buffer *out, const struct replica_member *member)
{
    struct map_writer map = { .count = 0 };
    struct buffer list;
    buffer_init(&map.members, out->arena);
    append_signed(map_member(&map, "a"), member->added_ms);
    if (member->table_class_given)
        append_signed(map_member(&map, "c"), member->table_class);
    if (member->source.len > 0)
        value_append_string(map_member(&map, "f"), member->source);
    buffer_init(&list, out->arena);
    for (size_t i = 0; i < member->index_override_count; i++)
        append_override(&list, &member->index_overrides[i]);
    append_list(map_member(&map, "i"), (uint32_t)member->index_override_count, &list);
    value_append_bool(map_member(&map, "k"), member->is_noted);
    if (member->may_leave)
        value_append_bool(map_member(&map, "l"), true);
    value_append_string(map_member(&map, "n"), member->region);
    append_override(map_member(&map, "o"), &member->override);
    append_text(map_member(&map, "s"), replica_status_name(member->status));
    value_append_container(out, VALUE_M, map.count, buffer_bytes(&map.members));
}

/* The own region comes first. */
static void add_replicas(struct record_writer *record, const struct replica_definition *replicas)
{
    struct buffer list;
    if (!replica_definition_is_group(replicas))
        return;
    add_text(record, "gi", replicas->group_id);
    add_integer(record, "ge", replicas->epoch);
    add_text(record, "gc", replicas->coordinator);
    buffer_init(&list, record->builder.arena);
    append_member(&list, &replicas->own);
    for (size_t i = 0; i < replicas->count; i++)
        append_member(&list, &replicas->members[i]);
    append_list(begin_attribute(record), (uint32_t)replicas->count + 1, &list);
    finish_attribute(record, "gm");
}

static void add_origin(struct record_writer *record, const struct origin_definition *origin)
{
    if (origin->kind == TABLE_ORIGIN_NONE)
        return;
    add_integer(record, "ro", origin->kind);
    add_text(record, "rj", origin->job_id);
    add_text(record, "rb", origin->backup_arn);
    add_text(record, "rt", origin->table_arn);
    add_integer(record, "rd", origin->restored_ms);
}

int64_t table_record_version(const struct table_definition *definition)
{
    if (definition->split_count > 0)
        return TABLE_RECORD_VERSION_SPLITS;
    if (replica_definition_is_group(&definition->replicas))
        return TABLE_RECORD_VERSION_REPLICAS;
    if (definition->model.mode != MODEL_NONE)
        return TABLE_RECORD_VERSION_MODEL;
    if (definition->origin.kind != TABLE_ORIGIN_NONE)
        return TABLE_RECORD_VERSION_ORIGIN;
    if (definition->history.status != HISTORY_NONE)
        return TABLE_RECORD_VERSION_RECOVERY;
    if (definition->hash != TABLE_HASH_XXH3)
        return TABLE_RECORD_VERSION_HASH;
    if (definition->expiry.status != EXPIRY_NONE)
        return TABLE_RECORD_VERSION_EXPIRY;
    for (size_t i = 0; i < definition->index_count; i++) {
        if (definition->indexes[i].status != INDEX_ACTIVE)
            return TABLE_RECORD_VERSION_INDEX_CHANGE;
    }
    return TABLE_RECORD_VERSION;
}

struct item table_definition_encode(struct arena *arena, const struct table_definition *definition)
{
    struct record_writer record;
    item_builder_init(&record.builder, arena);
    add_integer(&record, "v", table_record_version(definition));
    add_text(&record, "n", definition->name);
    append_unsigned(begin_attribute(&record), definition->id, false);
    finish_attribute(&record, "id");
    add_text(&record, "u", definition->uuid);
    add_integer(&record, "c", definition->created_ms);
    add_name(&record, "s", table_status_name(definition->status));
    add_integer(&record, "sa", definition->transition_at_ms);
    add_origin(&record, &definition->origin);
    add_keys(&record, definition);
    add_indexes(&record, definition);
    add_integer(&record, "h", definition->hash);
    add_partitions(&record, definition);
    add_capacity(&record, definition);
    add_name(&record, "tc", table_class_name(definition->table_class));
    add_flag(&record, "tg", definition->table_class_given);
    add_integer(&record, "tu", definition->table_class_updated_ms);
    add_flag(&record, "dp", definition->deletion_protected);
    add_flag(&record, "e", definition->encryption_given);
    add_text(&record, "ek", definition->encryption_key);
    add_flag(&record, "x", definition->stream_enabled);
    add_text(&record, "xv", definition->stream_view_type);
    add_text(&record, "xl", definition->stream_label);
    add_flag(&record, "xk", definition->feeds_kinesis);
    add_id(&record, "l", definition->log_id);
    add_integer(&record, "ps", definition->recovery_since_ms);
    add_integer(&record, "pd", definition->recovery_days);
    add_history(&record, &definition->history);
    add_text(&record, "rp", definition->resource_policy.text);
    add_integer(&record, "rr", definition->resource_policy.revision);
    add_text(&record, "xp", definition->stream_policy.text);
    add_integer(&record, "xr", definition->stream_policy.revision);
    add_text(&record, "xo", definition->stream_policy_label);
    add_expiry(&record, &definition->expiry);
    add_insight(&record, &definition->insight);
    add_model(&record, &definition->model);
    add_replicas(&record, &definition->replicas);
    if (definition->stream_tags.count > 0)
        add_tags(&record, "xg", &definition->stream_tags);
    add_tags(&record, "g", &definition->tags);
    return item_builder_finish(&record.builder);
}
