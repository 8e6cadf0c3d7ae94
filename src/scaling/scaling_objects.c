/* scaling_objects.c -- see scaling_objects.h. */
#include "scaling/scaling_objects.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/item_record.h"
#include "table/layout.h"

const struct engine_place scaling_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                            .partition = LAYOUT_SCALING_PARTITION,
                                            .space = ENGINE_SPACE_MONITORS };

/* --- Names --- */

static const char *const dimension_names[SCALING_DIMENSION_COUNT] = {
    [SCALING_TABLE_READ] = "dynamodb:table:ReadCapacityUnits",
    [SCALING_TABLE_WRITE] = "dynamodb:table:WriteCapacityUnits",
    [SCALING_INDEX_READ] = "dynamodb:index:ReadCapacityUnits",
    [SCALING_INDEX_WRITE] = "dynamodb:index:WriteCapacityUnits",
};

const char *scaling_dimension_name(enum scaling_dimension dimension)
{
    assert(dimension < SCALING_DIMENSION_COUNT);
    return dimension_names[dimension];
}

enum scaling_dimension scaling_dimension_find(struct bytes name)
{
    enum scaling_dimension dimension = 0;
    while (dimension < SCALING_DIMENSION_COUNT &&
           !bytes_equal_text(name, dimension_names[dimension]))
        dimension++;
    return dimension;
}

static bool take(struct bytes *text, struct bytes prefix)
{
    if (!bytes_starts_with(*text, prefix))
        return false;
    *text = bytes_of(text->data + prefix.len, text->len - prefix.len);
    return true;
}

static struct bytes take_name(struct bytes *text)
{
    const uint8_t *slash = text->len == 0 ? NULL : memchr(text->data, '/', text->len);
    size_t size = slash == NULL ? text->len : (size_t)(slash - text->data);
    struct bytes name = bytes_of(text->data, size);
    *text = bytes_of(text->data + size, text->len - size);
    return name;
}

bool scaling_resource_parse(struct bytes resource_id, struct scaling_resource *out)
{
    *out = (struct scaling_resource){ 0 };
    if (!take(&resource_id, BYTES("table/")))
        return false;
    out->table = take_name(&resource_id);
    if (take(&resource_id, BYTES("/index/"))) {
        out->index = take_name(&resource_id);
        if (out->index.len == 0)
            return false;
    }
    return out->table.len > 0 && resource_id.len == 0;
}

bool scaling_resource_has(const struct scaling_resource *resource, enum scaling_dimension dimension)
{
    bool is_of_index = dimension == SCALING_INDEX_READ || dimension == SCALING_INDEX_WRITE;
    return is_of_index == (resource->index.data != NULL);
}

struct scaling_id scaling_id_of(const void *object)
{
    const struct scaling_head *head = object;
    return (struct scaling_id){ .resource_id = head->resource_id,
                                .dimension = (enum scaling_dimension)head->dimension.value };
}

/* --- Shapes of the stored documents --- */

static const struct shape any_text = { .kind = SHAPE_STRING,
                                       .min = SHAPE_NO_MIN,
                                       .max = SCALING_TEXT_SIZE_MAX };
static const struct shape any_number = { .kind = SHAPE_LONG, SHAPE_UNBOUNDED };
static const struct shape any_double = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
static const struct shape any_boolean = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
static const struct shape any_texts = {
    .kind = SHAPE_LIST, .element = &any_text, .min = SHAPE_NO_MIN, .max = 16
};
static const struct shape any_tags = {
    .kind = SHAPE_MAP, .element = &any_text, .min = SHAPE_NO_MIN, .max = SCALING_TAGS_MAX
};

#define HEAD_FIELDS                                                                                \
    { SHAPE_FIELD(struct scaling_head, resource_id, "r", &any_text), .required = true },           \
        { SHAPE_FIELD(struct scaling_head, dimension, "d", &any_number), .required = true },       \
        { SHAPE_FIELD(struct scaling_head, name, "n", &any_text) },                                \
        { SHAPE_FIELD(struct scaling_head, uuid, "u", &any_text), .required = true },              \
    {                                                                                              \
        SHAPE_FIELD(struct scaling_head, created_ms, "c", &any_number), .required = true           \
    }

static const struct shape_field target_fields[] = {
    HEAD_FIELDS,
    { SHAPE_FIELD(struct scaling_target, min, "min", &any_number), .required = true },
    { SHAPE_FIELD(struct scaling_target, max, "max", &any_number), .required = true },
    { SHAPE_FIELD(struct scaling_target, in_suspended, "si", &any_boolean) },
    { SHAPE_FIELD(struct scaling_target, out_suspended, "so", &any_boolean) },
    { SHAPE_FIELD(struct scaling_target, scheduled_suspended, "ss", &any_boolean) },
    { SHAPE_FIELD(struct scaling_target, tags, "tags", &any_tags) },
    { SHAPE_FIELD(struct scaling_target, unsettled, "why", &any_text) },
};
static const struct shape_field policy_fields[] = {
    HEAD_FIELDS,
    { SHAPE_FIELD(struct scaling_policy, target_value, "value", &any_double), .required = true },
    { SHAPE_FIELD(struct scaling_policy, out_cooldown_s, "oc", &any_number) },
    { SHAPE_FIELD(struct scaling_policy, in_cooldown_s, "ic", &any_number) },
    { SHAPE_FIELD(struct scaling_policy, disable_scale_in, "dis", &any_boolean) },
    { SHAPE_FIELD(struct scaling_policy, created_by, "by", &any_text), .required = true },
    { SHAPE_FIELD(struct scaling_policy, alarms, "alarms", &any_texts) },
    { SHAPE_FIELD(struct scaling_policy, alarms_capacity, "for", &any_number) },
    { SHAPE_FIELD(struct scaling_policy, last_out_ms, "lo", &any_number) },
    { SHAPE_FIELD(struct scaling_policy, last_in_ms, "li", &any_number) },
};
static const struct shape_field action_fields[] = {
    HEAD_FIELDS,
    { SHAPE_FIELD(struct scaling_action, schedule, "schedule", &any_text), .required = true },
    { SHAPE_FIELD(struct scaling_action, time_zone, "zone", &any_text) },
    { SHAPE_FIELD(struct scaling_action, start_ms, "start", &any_number) },
    { SHAPE_FIELD(struct scaling_action, end_ms, "end", &any_number) },
    { SHAPE_FIELD(struct scaling_action, min, "min", &any_number) },
    { SHAPE_FIELD(struct scaling_action, max, "max", &any_number) },
    { SHAPE_FIELD(struct scaling_action, next_ms, "next", &any_number) },
};
static const struct shape_field activity_fields[] = {
    HEAD_FIELDS,
    { SHAPE_FIELD(struct scaling_activity, description, "what", &any_text), .required = true },
    { SHAPE_FIELD(struct scaling_activity, cause, "cause", &any_text), .required = true },
    { SHAPE_FIELD(struct scaling_activity, status, "status", &any_text), .required = true },
    { SHAPE_FIELD(struct scaling_activity, message, "message", &any_text) },
    { SHAPE_FIELD(struct scaling_activity, end_ms, "end", &any_number) },
    { SHAPE_FIELD(struct scaling_activity, capacity, "capacity", &any_number) },
    { SHAPE_FIELD(struct scaling_activity, not_scaled_reason, "reason", &any_text) },
    { SHAPE_FIELD(struct scaling_activity, current, "current", &any_number) },
    { SHAPE_FIELD(struct scaling_activity, min, "min", &any_number) },
    { SHAPE_FIELD(struct scaling_activity, max, "max", &any_number) },
};

#define RECORD "ScalingRecord" /* In messages that nobody sees. */

static const struct {
    uint8_t letter; /* First byte of the key. */
    struct shape shape;
} kinds[SCALING_KIND_COUNT] = {
    [SCALING_TARGET] = { 'T',
                         { SHAPE_STRUCTURE_OF(struct scaling_target, target_fields),
                           .type_name = RECORD } },
    [SCALING_POLICY] = { 'P',
                         { SHAPE_STRUCTURE_OF(struct scaling_policy, policy_fields),
                           .type_name = RECORD } },
    [SCALING_ACTION] = { 'S',
                         { SHAPE_STRUCTURE_OF(struct scaling_action, action_fields),
                           .type_name = RECORD } },
    [SCALING_ACTIVITY] = { 'A',
                           { SHAPE_STRUCTURE_OF(struct scaling_activity, activity_fields),
                             .type_name = RECORD } },
};

size_t scaling_object_size(enum scaling_kind kind)
{
    return kinds[kind].shape.size;
}

/* --- Keys: letter, dimension, resource id, NUL, name --- */

struct bytes scaling_key_prefix(struct arena *arena, enum scaling_kind kind,
                                const struct scaling_id *id)
{
    struct buffer key;
    buffer_init(&key, arena);
    buffer_append_byte(&key, kinds[kind].letter);
    buffer_append_byte(&key, (uint8_t)('0' + id->dimension));
    buffer_append_bytes(&key, id->resource_id);
    buffer_append_byte(&key, '\0');
    return buffer_bytes(&key);
}

/* Activities are one range in the order of time, whatever they are about. */
struct bytes scaling_key(struct arena *arena, enum scaling_kind kind, const void *object)
{
    const struct scaling_head *head = object;
    struct scaling_id id = scaling_id_of(object);
    if (kind == SCALING_ACTIVITY)
        return arena_printf(arena, "%c%020lld%.*s", kinds[kind].letter,
                            (long long)head->created_ms.value, BYTES_FMT(head->uuid));
    struct bytes parts[] = { scaling_key_prefix(arena, kind, &id), head->name };
    return arena_join(arena, parts, COUNT_OF(parts));
}

/* --- Values --- */

static const void *field_at(const void *object, const struct shape_field *field)
{
    return (const char *)object + field->offset;
}

static void write_texts(struct json_writer *json, const struct shape_list *list)
{
    const struct bytes *texts = list->elements;
    json_open_array(json);
    for (size_t i = 0; i < list->count; i++)
        json_write_string(json, texts[i]);
    json_close_array(json);
}

static void write_tags(struct json_writer *json, const struct shape_map *map)
{
    const struct bytes *values = map->elements;
    json_open_object(json);
    for (size_t i = 0; i < map->count; i++) {
        json_write_name_bytes(json, map->names[i]);
        json_write_string(json, values[i]);
    }
    json_close_object(json);
}

static bool is_absent(const void *at, enum shape_kind kind)
{
    switch (kind) {
    case SHAPE_STRING:
        return ((const struct bytes *)at)->data == NULL;
    case SHAPE_LONG:
        return !((const struct shape_integer *)at)->present;
    case SHAPE_DOUBLE:
        return !((const struct shape_double *)at)->present;
    case SHAPE_BOOLEAN:
        return !((const struct shape_boolean *)at)->present;
    case SHAPE_LIST:
        return ((const struct shape_list *)at)->count == 0;
    case SHAPE_MAP:
        return ((const struct shape_map *)at)->count == 0;
    default:
        assert(false);
        return true;
    }
}

static void write_field(struct json_writer *json, const void *object,
                        const struct shape_field *field)
{
    const void *at = field_at(object, field);
    if (is_absent(at, field->shape->kind))
        return;
    json_write_name(json, field->name);
    switch (field->shape->kind) {
    case SHAPE_STRING:
        json_write_string(json, *(const struct bytes *)at);
        break;
    case SHAPE_LONG:
        json_write_integer(json, ((const struct shape_integer *)at)->value);
        break;
    case SHAPE_DOUBLE:
        json_write_double(json, ((const struct shape_double *)at)->value);
        break;
    case SHAPE_BOOLEAN:
        json_write_bool(json, ((const struct shape_boolean *)at)->value);
        break;
    case SHAPE_LIST:
        write_texts(json, at);
        break;
    default:
        write_tags(json, at);
        break;
    }
}

struct bytes scaling_encode(struct arena *arena, enum scaling_kind kind, const void *object)
{
    const struct shape *shape = &kinds[kind].shape;
    struct buffer text;
    struct json_writer json;
    struct item_builder builder;
    buffer_init(&text, arena);
    json_writer_init(&json, &text);
    json_open_object(&json);
    for (size_t i = 0; i < shape->field_count; i++)
        write_field(&json, object, &shape->fields[i]);
    json_close_object(&json);
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "j", buffer_bytes(&text));
    return item_builder_finish(&builder).encoded;
}

static bool is_sound(const struct scaling_head *head)
{
    struct scaling_resource resource;
    return head->dimension.value >= 0 && head->dimension.value < SCALING_DIMENSION_COUNT &&
           head->created_ms.value >= 0 && scaling_resource_parse(head->resource_id, &resource) &&
           scaling_resource_has(&resource, (enum scaling_dimension)head->dimension.value) &&
           memchr(head->resource_id.data, '\0', head->resource_id.len) == NULL;
}

void *scaling_decode_any(struct arena *arena, const struct engine_entry *entry,
                         enum scaling_kind *kind)
{
    struct item item;
    struct bytes text;
    struct error ignored;
    enum scaling_kind found = 0;
    error_init(&ignored, arena);
    if (entry->key.len == 0 || !item_open(entry->value, &item) || !item_verify(&item) ||
        !item_record_find_text(arena, &item, "j", SCALING_DOCUMENT_SIZE_MAX, &text))
        return NULL;
    while (found < SCALING_KIND_COUNT && kinds[found].letter != entry->key.data[0])
        found++;
    if (found == SCALING_KIND_COUNT)
        return NULL;
    void *object = arena_alloc_zeroed(arena, kinds[found].shape.size);
    if (!shape_read(arena, text, &kinds[found].shape, object, &ignored) ||
        !shape_validate(arena, &kinds[found].shape, object, &ignored) || !is_sound(object))
        return NULL;
    *kind = found;
    return object;
}

void *scaling_decode(struct arena *arena, const struct engine_entry *entry, enum scaling_kind *kind)
{
    void *object = scaling_decode_any(arena, entry, kind);
    bool belongs = object != NULL && bytes_equal(scaling_key(arena, *kind, object), entry->key);
    return belongs ? object : NULL;
}
