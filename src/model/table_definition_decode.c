/* table_definition_decode.c -- a table's record in the catalogue, read.
 *
 * The checksum vouches for the bytes, not for the program that wrote them, so every type and bound
 * is checked again and a record that table_definition_encode would not have written is refused.
 * The first mistake is remembered in the decoder and the rest is read as zeros, so that one check
 * at the end is enough.
 */
#include "model/table_definition.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "model/index_names.h"
#include "model/number.h"
#include "model/table_record.h"

enum {
    UUID_SIZE = 36,
    /* The limit counts UTF-16 units, and one of them takes up to three bytes in UTF-8. */
    NAME_BYTES_MAX = KEY_ATTRIBUTE_NAME_SIZE_MAX * 3,
};

struct decoder {
    struct arena *arena;
    /* Where attributes are looked up: in `map`, or in the record itself while it is NULL. */
    const struct item *record;
    const struct value *map;
    bool failed;
};

/* --- Single values --- */

static struct value absent_value(void)
{
    return (struct value){ .type = VALUE_NULL };
}

static void require(struct decoder *in, bool condition)
{
    if (!condition)
        in->failed = true;
}

/* The attribute if it is there and of that type; of type VALUE_NULL if it is absent. */
static struct value find(struct decoder *in, const char *name, enum value_type type)
{
    struct value value;
    bool found = in->map != NULL ? value_map_find(in->map, bytes_from_text(name), &value)
                                 : item_find(in->record, bytes_from_text(name), &value);
    if (!found)
        return absent_value();
    require(in, value.type == type);
    return value.type == type ? value : absent_value();
}

static bool is_present(const struct value *value)
{
    return value->type != VALUE_NULL;
}

static struct value find_required(struct decoder *in, const char *name, enum value_type type)
{
    struct value value = find(in, name, type);
    require(in, is_present(&value));
    return value;
}

/* The magnitude of a whole number; fails on fractions and what 64 bits cannot hold. */
static uint64_t magnitude(struct decoder *in, const struct value *value, bool *negative)
{
    struct number number;
    size_t size;
    *negative = false;
    if (value->type != VALUE_N || !number_decode(value->data, &number, &size) ||
        size != value->data.len || number.exponent < 0) {
        in->failed = true;
        return 0;
    }
    for (; number.exponent > 0 && number.coefficient <= UINT64_MAX; number.exponent--)
        number.coefficient *= 10;
    if (number.coefficient > UINT64_MAX) {
        in->failed = true;
        return 0;
    }
    *negative = number.negative;
    return (uint64_t)number.coefficient;
}

static uint64_t as_unsigned(struct decoder *in, const struct value *value)
{
    bool negative;
    uint64_t result = magnitude(in, value, &negative);
    require(in, !negative);
    return result;
}

static int64_t as_signed(struct decoder *in, const struct value *value)
{
    bool negative;
    uint64_t size = magnitude(in, value, &negative);
    require(in, size <= INT64_MAX); /* INT64_MIN is never written. */
    if (in->failed)
        return 0;
    return negative ? -(int64_t)size : (int64_t)size;
}

static struct bytes as_text(struct decoder *in, const struct value *value)
{
    require(in, value->type == VALUE_S);
    return value->type == VALUE_S ? arena_copy(in->arena, value->data) : BYTES("");
}

static int64_t find_integer(struct decoder *in, const char *name)
{
    struct value value = find(in, name, VALUE_N);
    if (!is_present(&value))
        return 0;
    int64_t result = as_signed(in, &value);
    require(in, result != 0); /* Zero is written as absence. */
    return result;
}

static uint64_t find_id(struct decoder *in, const char *name)
{
    struct value value = find(in, name, VALUE_N);
    if (!is_present(&value))
        return 0;
    uint64_t id = as_unsigned(in, &value);
    require(in, id != 0); /* As above. */
    return id;
}

static bool find_flag(struct decoder *in, const char *name)
{
    struct value value = find(in, name, VALUE_BOOL);
    require(in, !is_present(&value) || value.boolean);
    return is_present(&value) && value.boolean;
}

/* `data` NULL where it is absent. */
static struct bytes find_text(struct decoder *in, const char *name)
{
    struct value value = find(in, name, VALUE_S);
    return is_present(&value) ? as_text(in, &value) : (struct bytes){ 0 };
}

static bool is_word(struct bytes text, size_t size_max)
{
    return text.len > 0 && text.len <= size_max;
}

static struct bytes find_name(struct decoder *in, const char *name, size_t size_min,
                              size_t size_max)
{
    struct bytes text = find_text(in, name);
    require(in, text.data != NULL && text.len >= size_min && text.len <= size_max);
    return text;
}

/* --- Lists --- */

/* Opens a list of at most `count_max`; an absent or wrong one reads as empty. */
static uint32_t open_list(struct decoder *in, const struct value *list, size_t count_max,
                          struct value_iter *iter)
{
    if (list->type != VALUE_L || list->count > count_max) {
        in->failed = true;
        return 0;
    }
    value_iter_init(iter, list);
    return list->count;
}

static struct value next_element(struct decoder *in, struct value_iter *iter)
{
    struct value value;
    if (value_iter_next(iter, NULL, &value))
        return value;
    in->failed = true;
    return absent_value();
}

static void read_integers(struct decoder *in, const char *name, int64_t *out, size_t count)
{
    struct value list = find_required(in, name, VALUE_L);
    struct value_iter iter;
    require(in, open_list(in, &list, count, &iter) == count);
    for (size_t i = 0; i < count && !in->failed; i++) {
        struct value element = next_element(in, &iter);
        out[i] = as_signed(in, &element);
    }
}

static void read_throughput(struct decoder *in, struct throughput *out)
{
    int64_t fields[TABLE_RECORD_THROUGHPUT_FIELDS] = { 0 };
    read_integers(in, "t", fields, COUNT_OF(fields));
    *out = (struct throughput){ .read_units = fields[0],
                                .write_units = fields[1],
                                .last_increase_ms = fields[2],
                                .last_decrease_ms = fields[3],
                                .decreases_today = fields[4] };
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        require(in, fields[i] >= 0);
}

static void read_units(struct decoder *in, const char *name, struct unit_pair *out)
{
    int64_t fields[TABLE_RECORD_UNIT_PAIR_FIELDS] = { 0 };
    read_integers(in, name, fields, COUNT_OF(fields));
    *out = (struct unit_pair){ .read_units = fields[0], .write_units = fields[1] };
    require(in, out->read_units >= UNITS_UNSET && out->write_units >= UNITS_UNSET);
}

/* Names of attributes in the order of the list; the array is in the arena. */
static struct bytes *read_names(struct decoder *in, const char *name, size_t count_max,
                                size_t *count)
{
    struct value list = find_required(in, name, VALUE_L);
    struct value_iter iter;
    *count = open_list(in, &list, count_max, &iter);
    struct bytes *names = arena_alloc(in->arena, *count * sizeof(*names));
    for (size_t i = 0; i < *count; i++) {
        struct value element = next_element(in, &iter);
        names[i] = as_text(in, &element);
        require(in, names[i].len >= 1 && names[i].len <= NAME_BYTES_MAX);
    }
    return names;
}

/* --- Keys --- */

static bool is_key_type(enum value_type type)
{
    return type == VALUE_S || type == VALUE_N || type == VALUE_B;
}

static void read_attributes(struct decoder *in, struct table_definition *out)
{
    struct value list = find_required(in, "a", VALUE_L);
    struct value_iter iter;
    size_t count = open_list(in, &list, ATTRIBUTES_MAX, &iter);
    out->attributes = arena_alloc_zeroed(in->arena, count * sizeof(*out->attributes));
    for (size_t i = 0; i < count && !in->failed; i++) {
        struct value pair = next_element(in, &iter);
        struct value_iter fields;
        require(in, open_list(in, &pair, TABLE_RECORD_ATTRIBUTE_FIELDS, &fields) ==
                        TABLE_RECORD_ATTRIBUTE_FIELDS);
        if (in->failed)
            return;
        struct value name = next_element(in, &fields);
        struct value type = next_element(in, &fields);
        struct key_attribute *attribute = &out->attributes[i];
        attribute->name = as_text(in, &name);
        require(in, value_type_parse(as_text(in, &type), &attribute->type) &&
                        is_key_type(attribute->type));
        require(in, attribute->name.len >= 1 && attribute->name.len <= NAME_BYTES_MAX);
        require(in, table_definition_attribute(out, attribute->name) == NULL);
        out->attribute_count++;
    }
}

/* Key attributes are kept by name; their types are in AttributeDefinitions. */
static size_t read_key(struct decoder *in, const char *name, const struct table_definition *table,
                       struct key_attribute *out, size_t count_max)
{
    size_t count;
    const struct bytes *names = read_names(in, name, count_max, &count);
    for (size_t i = 0; i < count && !in->failed; i++) {
        const struct key_attribute *attribute = table_definition_attribute(table, names[i]);
        require(in, attribute != NULL);
        if (attribute != NULL)
            out[i] = *attribute;
    }
    return count;
}

static void read_table_key(struct decoder *in, struct table_definition *out)
{
    struct key_attribute keys[2] = { { .type = VALUE_S } };
    size_t count = read_key(in, "k", out, keys, COUNT_OF(keys));
    require(in, count >= 1);
    out->key = (struct key_schema){ .hash = keys[0] };
    if (count == 2) {
        out->key.range = keys[1];
        out->key.has_range = true;
    }
}

/* --- Indexes, partitions, tags --- */

static struct partition *read_partition_list(struct decoder *in, const struct value *list,
                                             size_t *count)
{
    struct value_iter iter;
    *count = open_list(in, list, PARTITIONS_MAX, &iter);
    require(in, *count >= 1);
    struct partition *partitions = arena_alloc_zeroed(in->arena, *count * sizeof(*partitions));
    for (size_t i = 0; i < *count && !in->failed; i++) {
        struct value fields = next_element(in, &iter);
        struct value_iter field;
        require(in, open_list(in, &fields, TABLE_RECORD_PARTITION_FIELDS, &field) ==
                        TABLE_RECORD_PARTITION_FIELDS);
        if (in->failed)
            break;
        struct value id = next_element(in, &field);
        struct value first_hash = next_element(in, &field);
        struct value parent_id = next_element(in, &field);
        struct partition *partition = &partitions[i];
        *partition = (struct partition){ .id = as_unsigned(in, &id),
                                         .first_hash = as_unsigned(in, &first_hash),
                                         .parent_id = as_unsigned(in, &parent_id) };
        require(in, i == 0 || partition->first_hash > partition[-1].first_hash);
    }
    return partitions;
}

static struct partition *read_partitions(struct decoder *in, const char *name, size_t *count)
{
    struct value list = find_required(in, name, VALUE_L);
    struct partition *partitions = read_partition_list(in, &list, count);
    require(in, !in->failed && partitions[0].first_hash == 0);
    return partitions;
}

static const struct partition *partition_of_id(const struct partition *partitions, size_t count,
                                               uint64_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (partitions[i].id == id)
            return &partitions[i];
    }
    return NULL;
}

/* The parent of a split begins before it: a split leaves it the lower hashes. */
static bool has_parent(const struct table_definition *table, const struct partition *split)
{
    const struct partition *parent =
        partition_of_id(table->partitions, table->partition_count, split->parent_id);
    if (parent == NULL)
        parent = partition_of_id(table->splits, table->split_count, split->parent_id);
    return parent != NULL && parent->first_hash < split->first_hash;
}

static bool begins_a_place(const struct table_definition *table, uint64_t hash)
{
    for (size_t i = 0; i < table->partition_count; i++) {
        if (table->partitions[i].first_hash == hash)
            return true;
    }
    return false;
}

static void read_splits(struct decoder *in, struct table_definition *out)
{
    struct value list = find(in, "sp", VALUE_L);
    out->splitting_id = find_id(in, "sq");
    if (!is_present(&list)) {
        require(in, out->splitting_id == 0);
        return;
    }
    out->splits = read_partition_list(in, &list, &out->split_count);
    require(in, !in->failed && out->partition_count + out->split_count <= PARTITIONS_MAX);
    for (size_t i = 0; i < out->split_count && !in->failed; i++) {
        const struct partition *split = &out->splits[i];
        require(in, split->id != 0 && has_parent(out, split) &&
                        !begins_a_place(out, split->first_hash));
    }
    require(in, in->failed || out->splitting_id == 0 ||
                    partition_of_id(out->splits, out->split_count, out->splitting_id) != NULL);
}

static void read_index_status(struct decoder *in, struct index_definition *out)
{
    struct value active = find_required(in, "b", VALUE_BOOL);
    struct bytes status = find_text(in, "s");
    struct value backfilled = find(in, "f", VALUE_B);
    require(in, active.boolean == (status.data == NULL)); /* ACTIVE is written as absence. */
    if (status.data != NULL) {
        require(in, index_status_parse(status, &out->status) && out->status != INDEX_ACTIVE);
        require(in, out->global);
    }
    if (!is_present(&backfilled))
        return;
    require(in, out->status == INDEX_BACKFILLING);
    require(in, backfilled.data.len >= BACKFILLED_SIZE_MIN &&
                    backfilled.data.len <= BACKFILLED_SIZE_MAX);
    out->backfilled = arena_copy(in->arena, backfilled.data);
}

static void read_insight(struct decoder *in, struct insight_definition *out)
{
    int64_t fields[INSIGHT_DEFINITION_FIELDS] = { 0 };
    struct value list = find(in, "ci", VALUE_L);
    if (!is_present(&list))
        return;
    read_integers(in, "ci", fields, INSIGHT_DEFINITION_FIELDS);
    require(in, fields[0] > INSIGHT_NEVER && fields[0] < INSIGHT_STATUS_COUNT);
    require(in, fields[1] == 0 || fields[1] == 1);
    for (size_t i = 2; i < INSIGHT_DEFINITION_FIELDS; i++)
        require(in, fields[i] >= 0);
    if (in->failed)
        return;
    *out = (struct insight_definition){ .status = (enum insight_status)fields[0],
                                        .throttled_only = fields[1] == 1,
                                        .accessed_since_ms = fields[2],
                                        .throttled_since_ms = fields[3],
                                        .updated_ms = fields[4],
                                        .transition_at_ms = fields[5] };
}

static void read_index(struct decoder *in, const struct table_definition *table,
                       struct index_definition *out)
{
    struct value global = find_required(in, "g", VALUE_BOOL);
    struct value id = find_required(in, "id", VALUE_N);
    out->global = global.boolean;
    read_index_status(in, out);
    out->id = as_unsigned(in, &id);
    out->name = find_name(in, "n", TABLE_NAME_SIZE_MIN, TABLE_NAME_SIZE_MAX);
    out->hash_count = read_key(in, "h", table, out->hash, out->global ? INDEX_HASH_KEYS_MAX : 1);
    out->range_count = read_key(in, "r", table, out->range, out->global ? INDEX_RANGE_KEYS_MAX : 1);
    require(in, out->hash_count >= 1 && (out->global || out->range_count == 1));
    if (out->global)
        out->partitions = read_partitions(in, "pa", &out->partition_count);
    require(in, projection_type_parse(find_text(in, "p"), &out->projection));
    if (!in->failed && out->projection == PROJECTION_INCLUDE)
        out->included = read_names(in, "x", INCLUDED_NAMES_PER_INDEX_MAX, &out->included_count);
    read_throughput(in, &out->throughput);
    read_units(in, "o", &out->on_demand_max);
    read_units(in, "w", &out->warm_throughput);
    struct value created = find(in, "c", VALUE_N);
    if (is_present(&created))
        out->created_ms = as_signed(in, &created);
    require(in, out->created_ms >= 0 && (out->global || out->created_ms == 0));
    read_insight(in, &out->insight);
    require(in, out->global || out->insight.status == INSIGHT_NEVER);
}

static void read_indexes(struct decoder *in, struct table_definition *out)
{
    struct value list = find_required(in, "i", VALUE_L);
    struct value_iter iter;
    size_t count = open_list(in, &list, INDEXES_MAX, &iter);
    size_t global_count = 0;
    out->indexes = arena_alloc_zeroed(in->arena, count * sizeof(*out->indexes));
    for (size_t i = 0; i < count && !in->failed; i++) {
        struct value map = next_element(in, &iter);
        require(in, map.type == VALUE_M);
        if (in->failed)
            return;
        struct decoder nested = { .arena = in->arena, .map = &map };
        read_index(&nested, out, &out->indexes[i]);
        require(in, !nested.failed);
        if (in->failed)
            return;
        require(in, table_definition_index(out, out->indexes[i].name) == NULL);
        global_count += out->indexes[i].global;
        require(in, out->indexes[i].global || global_count == 0); /* Local ones come first. */
        out->index_count++;
    }
    require(in, global_count <= GLOBAL_INDEXES_MAX);
    require(in, out->index_count - global_count <= LOCAL_INDEXES_MAX);
}

static void read_tag_list(struct decoder *in, struct value map, struct tag_list *out)
{
    require(in, map.count <= TAGS_MAX);
    if (in->failed)
        return;
    struct value_iter iter;
    struct value value;
    struct bytes key;
    value_iter_init(&iter, &map);
    out->elements = arena_alloc_zeroed(in->arena, map.count * sizeof(*out->elements));
    while (out->count < map.count && value_iter_next(&iter, &key, &value)) {
        struct tag *tag = &out->elements[out->count++];
        tag->key = arena_copy(in->arena, key);
        tag->value = as_text(in, &value);
    }
    require(in, out->count == map.count);
}

static void read_tags(struct decoder *in, struct table_definition *out)
{
    struct value map = find_required(in, "g", VALUE_M);
    require(in, is_present(&map));
    read_tag_list(in, map, &out->tags);
    map = find(in, "xg", VALUE_M);
    if (is_present(&map))
        read_tag_list(in, map, &out->stream_tags);
}

/* --- The record --- */

static void read_identity(struct decoder *in, struct table_definition *out)
{
    struct value id = find_required(in, "id", VALUE_N);
    out->name = find_name(in, "n", TABLE_NAME_SIZE_MIN, TABLE_NAME_SIZE_MAX);
    out->id = as_unsigned(in, &id);
    out->uuid = find_name(in, "u", UUID_SIZE, UUID_SIZE);
    out->created_ms = find_integer(in, "c");
    require(in, table_status_parse(find_text(in, "s"), &out->status));
    out->transition_at_ms = find_integer(in, "sa");
}

static void read_origin(struct decoder *in, struct table_definition *out)
{
    int64_t kind = find_integer(in, "ro");
    out->origin.job_id = find_text(in, "rj");
    out->origin.backup_arn = find_text(in, "rb");
    out->origin.table_arn = find_text(in, "rt");
    out->origin.restored_ms = find_integer(in, "rd");
    require(in, kind >= TABLE_ORIGIN_NONE && kind <= TABLE_ORIGIN_IMPORT);
    require(in, (kind == TABLE_ORIGIN_NONE) == (out->origin.job_id.data == NULL));
    require(in, out->origin.job_id.len <= ORIGIN_JOB_ID_SIZE_MAX &&
                    out->origin.backup_arn.len <= ORIGIN_ARN_SIZE_MAX &&
                    out->origin.table_arn.len <= ORIGIN_ARN_SIZE_MAX);
    require(in, out->origin.restored_ms >= 0);
    if (in->failed || kind == TABLE_ORIGIN_NONE)
        return;
    out->origin.kind = (enum table_origin)kind;
    /* Until its end nothing else is due. */
    require(in, out->status == TABLE_CREATING && out->transition_at_ms == 0);
}

static void read_recovery(struct decoder *in, struct table_definition *out)
{
    out->recovery_since_ms = find_integer(in, "ps");
    out->recovery_days = find_integer(in, "pd");
    bool enabled = out->recovery_since_ms != 0;
    require(in, out->recovery_since_ms >= 0);
    require(in, enabled ? out->recovery_days >= RECOVERY_DAYS_MIN &&
                              out->recovery_days <= RECOVERY_DAYS_MAX
                        : out->recovery_days == 0);
}

static void read_history(struct decoder *in, struct history_definition *out)
{
    struct bytes status = find_text(in, "hs");
    out->id = find_id(in, "hi");
    out->since_us = find_integer(in, "hf");
    require(in, (status.data == NULL) == (out->id == 0));
    if (status.data != NULL)
        require(in, history_status_parse(status, &out->status) && out->status != HISTORY_NONE);
    require(in, out->status == HISTORY_ACTIVE ? out->since_us > 0 : out->since_us == 0);
}

static struct resource_policy read_policy(struct decoder *in, const char *text_name,
                                          const char *revision_name)
{
    struct resource_policy policy = { .text = find_text(in, text_name),
                                      .revision = find_integer(in, revision_name) };
    require(in, policy.text.len <= RESOURCE_POLICY_SIZE_MAX && policy.revision >= 0);
    return policy;
}

static void read_expiry(struct decoder *in, struct expiry_definition *out)
{
    struct bytes status = find_text(in, "qs");
    struct value filled = find(in, "qf", VALUE_B);
    out->attribute = find_text(in, "qa");
    require(in, (status.data == NULL) == (out->attribute.data == NULL));
    if (status.data != NULL) {
        require(in, expiry_status_parse(status, &out->status) && out->status != EXPIRY_NONE);
        require(in, out->attribute.len >= 1 && out->attribute.len <= NAME_BYTES_MAX);
    }
    if (!is_present(&filled))
        return;
    require(in, out->status == EXPIRY_FILLING);
    require(in, filled.data.len >= BACKFILLED_SIZE_MIN && filled.data.len <= BACKFILLED_SIZE_MAX);
    out->filled = arena_copy(in->arena, filled.data);
}

static void read_model(struct decoder *in, struct model_definition *out)
{
    int64_t mode = find_integer(in, "mm");
    out->text = find_text(in, "mt");
    out->updated_ms = find_integer(in, "mu");
    require(in, mode >= MODEL_NONE && mode <= MODEL_ENFORCE && out->updated_ms >= 0);
    require(in, (mode == MODEL_NONE) == (out->text.data == NULL));
    require(in,
            mode == MODEL_NONE ? out->updated_ms == 0 : is_word(out->text, MODEL_TEXT_SIZE_MAX));
    if (!in->failed)
        out->mode = (enum model_mode)mode;
}

/* Records of tables that turned at most once have no list. */
/* --- Replicas --- */

static int64_t required_integer(struct decoder *in, const char *name)
{
    struct value value = find_required(in, name, VALUE_N);
    return as_signed(in, &value);
}

static void read_override(struct decoder *in, const struct value *map, bool is_of_index,
                          struct replica_override *out)
{
    require(in, map->type == VALUE_M);
    if (in->failed)
        return;
    struct decoder nested = { .arena = in->arena, .map = map };
    out->read_units = required_integer(&nested, "r");
    out->on_demand_read_max = required_integer(&nested, "m");
    out->index_name = find_text(&nested, "n");
    require(&nested, out->read_units >= UNITS_UNSET && out->on_demand_read_max >= UNITS_UNSET);
    require(&nested, is_of_index ? is_word(out->index_name, TABLE_NAME_SIZE_MAX)
                                 : out->index_name.data == NULL);
    require(in, !nested.failed);
}

static void read_member(struct decoder *in, struct replica_member *out)
{
    struct value_iter iter;
    struct value list = find_required(in, "i", VALUE_L), table = find_required(in, "o", VALUE_M);
    struct value is_noted = find_required(in, "k", VALUE_BOOL);
    struct value table_class = find(in, "c", VALUE_N);
    out->region = find_name(in, "n", 1, REPLICA_REGION_SIZE_MAX);
    out->id = replica_region_id(out->region);
    out->added_ms = required_integer(in, "a");
    out->source = find_text(in, "f");
    require(in, out->added_ms >= 0 && out->source.len <= REPLICA_REGION_SIZE_MAX);
    require(in, replica_status_parse(find_text(in, "s"), &out->status));
    out->is_noted = is_noted.boolean;
    out->may_leave = find_flag(in, "l");
    out->table_class_given = is_present(&table_class);
    int64_t class_number = out->table_class_given ? as_signed(in, &table_class) : 0;
    require(in, class_number == TABLE_CLASS_STANDARD ||
                    class_number == TABLE_CLASS_STANDARD_INFREQUENT_ACCESS);
    out->table_class = (int)class_number;
    read_override(in, &table, false, &out->override);
    size_t count = open_list(in, &list, REPLICA_INDEX_OVERRIDES_MAX, &iter);
    out->index_overrides = arena_alloc_zeroed(in->arena, count * sizeof(*out->index_overrides));
    for (; out->index_override_count < count && !in->failed; out->index_override_count++) {
        struct value element = next_element(in, &iter);
        read_override(in, &element, true, &out->index_overrides[out->index_override_count]);
    }
}

/* The own region comes first. */
static void read_replicas(struct decoder *in, struct replica_definition *out)
{
    struct value list = find(in, "gm", VALUE_L);
    struct value_iter iter;
    if (!is_present(&list))
        return;
    struct bytes group_id = find_name(in, "gi", UUID_SIZE, UUID_SIZE);
    out->epoch = find_integer(in, "ge");
    out->coordinator = find_name(in, "gc", 1, REPLICA_REGION_SIZE_MAX);
    size_t count = open_list(in, &list, REPLICAS_MAX + 1, &iter);
    require(in, count >= 1 && out->epoch > 0);
    if (in->failed)
        return;
    out->members = arena_alloc_zeroed(in->arena, count * sizeof(*out->members));
    for (size_t i = 0; i < count && !in->failed; i++) {
        struct value map = next_element(in, &iter);
        struct decoder nested = { .arena = in->arena, .map = &map };
        require(in, map.type == VALUE_M);
        if (in->failed)
            return;
        struct replica_member *member = i == 0 ? &out->own : &out->members[out->count];
        read_member(&nested, member);
        require(in, !nested.failed);
        require(in, replica_definition_find(out, member->region) == NULL);
        require(in, i == 0 || member->id != out->own.id);
        out->count += i > 0;
    }
    out->group_id = group_id;
}

static void read_turns(struct decoder *in, struct table_definition *out)
{
    struct value list;
    out->on_demand_turns_ms[0] = out->on_demand_since_ms;
    if (!item_find(in->record, BYTES("bt"), &list))
        return;
    read_integers(in, "bt", out->on_demand_turns_ms, ON_DEMAND_TURNS_MAX);
    for (size_t i = 0; i < ON_DEMAND_TURNS_MAX; i++)
        require(in, out->on_demand_turns_ms[i] >= 0);
    require(in, out->on_demand_turns_ms[0] == out->on_demand_since_ms &&
                    out->on_demand_turns_ms[1] != 0);
}

static void read_settings(struct decoder *in, struct table_definition *out)
{
    require(in, billing_mode_parse(find_text(in, "bm"), &out->billing_mode));
    out->billing_mode_given = find_flag(in, "bg");
    out->on_demand_since_ms = find_integer(in, "bs");
    read_turns(in, out);
    read_throughput(in, &out->throughput);
    read_units(in, "o", &out->on_demand_max);
    read_units(in, "w", &out->warm_throughput);
    require(in, table_class_parse(find_text(in, "tc"), &out->table_class));
    out->table_class_given = find_flag(in, "tg");
    out->table_class_updated_ms = find_integer(in, "tu");
    out->deletion_protected = find_flag(in, "dp");
    out->encryption_given = find_flag(in, "e");
    out->encryption_key = find_text(in, "ek");
    out->stream_enabled = find_flag(in, "x");
    out->stream_view_type = find_text(in, "xv");
    out->stream_label = find_text(in, "xl");
    require(in, !out->stream_enabled || is_word(out->stream_view_type, STREAM_VIEW_TYPE_SIZE_MAX));
    require(in, !out->stream_enabled || is_word(out->stream_label, STREAM_LABEL_SIZE_MAX));
    out->feeds_kinesis = find_flag(in, "xk");
    out->log_id = find_id(in, "l");
    read_recovery(in, out);
    read_history(in, &out->history);
    out->resource_policy = read_policy(in, "rp", "rr");
    out->stream_policy = read_policy(in, "xp", "xr");
    out->stream_policy_label = find_text(in, "xo");
    read_expiry(in, &out->expiry);
    read_insight(in, &out->insight);
    read_model(in, &out->model);
    read_replicas(in, &out->replicas);
}

/* Calls look at these, so they are derived once. */
static void set_insight_rules(struct table_definition *out)
{
    for (size_t i = 0; i < out->index_count; i++) {
        const struct insight_target target = { .table = out, .index = &out->indexes[i] };
        out->indexes[i].insight_rules = insight_target_rules(&target);
        out->counts_keys |= out->indexes[i].insight_rules != 0;
    }
    out->insight_rules = insight_target_rules(&(struct insight_target){ .table = out });
    out->counts_keys |= out->insight_rules != 0;
}

bool table_definition_decode(struct arena *arena, const struct item *record,
                             struct table_definition *out)
{
    struct decoder in = { .arena = arena, .record = record };
    *out = (struct table_definition){ 0 };
    read_identity(&in, out);
    read_origin(&in, out);
    read_attributes(&in, out);
    read_table_key(&in, out);
    read_indexes(&in, out);
    int64_t hash = find_integer(&in, "h");
    require(&in, hash == TABLE_HASH_XXH3 || hash == TABLE_HASH_MD5);
    out->hash = (enum table_hash)hash;
    out->partitions = read_partitions(&in, "p", &out->partition_count);
    read_splits(&in, out);
    read_settings(&in, out);
    read_tags(&in, out);
    require(&in, find_integer(&in, "v") == table_record_version(out));
    if (in.failed)
        return false;
    out->index_names = index_names_create(arena, out);
    out->capacity = table_definition_capacity(out);
    set_insight_rules(out);
    return true;
}
