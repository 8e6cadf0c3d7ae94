/* stack_objects.c -- see stack_objects.h. */
#include "cloudformation/stack_objects.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/item_record.h"
#include "model/value.h"
#include "shape/shape_write.h"
#include "table/layout.h"

const struct engine_place stack_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                          .partition = LAYOUT_STACKS_PARTITION,
                                          .space = ENGINE_SPACE_MONITORS };

/* --- Shapes of the stored documents --- */

static const struct shape any_text = { .kind = SHAPE_STRING,
                                       .min = SHAPE_NO_MIN,
                                       .max = STACK_TEXT_SIZE_MAX };
static const struct shape changes_text = { .kind = SHAPE_STRING,
                                           .min = SHAPE_NO_MIN,
                                           .max = STACK_CHANGES_SIZE_MAX };
static const struct shape caller_text = { .kind = SHAPE_STRING,
                                          .min = SHAPE_NO_MIN,
                                          .max = STACK_CALLER_SIZE_MAX };
static const struct shape any_number = { .kind = SHAPE_LONG, SHAPE_UNBOUNDED };
static const struct shape any_boolean = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };

#define RECORD "StackRecord" /* In messages that nobody sees. */
#define LIST_OF(shape_pointer, count_max)                                                          \
    {                                                                                              \
        .kind = SHAPE_LIST, .element = (shape_pointer), .min = SHAPE_NO_MIN, .max = (count_max)    \
    }

static const struct shape_field pair_fields[] = {
    { SHAPE_FIELD(struct stack_pair, key, "k", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_pair, value, "v", &any_text), .required = true },
};
static const struct shape pair_shape = { SHAPE_STRUCTURE_OF(struct stack_pair, pair_fields),
                                         .type_name = RECORD };
static const struct shape_field output_fields[] = {
    { SHAPE_FIELD(struct stack_output, key, "k", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_output, value, "v", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_output, description, "d", &any_text) },
    { SHAPE_FIELD(struct stack_output, export_name, "e", &any_text) },
};
static const struct shape output_shape = { SHAPE_STRUCTURE_OF(struct stack_output, output_fields),
                                           .type_name = RECORD };
static const struct shape parameters_shape = LIST_OF(&pair_shape, STACK_PARAMETERS_MAX);
static const struct shape parameter_names_shape = LIST_OF(&any_text, STACK_PARAMETERS_MAX);
static const struct shape tags_shape = LIST_OF(&pair_shape, STACK_TAGS_MAX);
static const struct shape capabilities_shape = LIST_OF(&any_text, STACK_CAPABILITIES_MAX);
static const struct shape arns_shape = LIST_OF(&any_text, STACK_ARNS_MAX);
static const struct shape outputs_shape = LIST_OF(&output_shape, STACK_OUTPUTS_MAX);
static const struct shape logical_ids_shape = LIST_OF(&any_text, STACK_RESOURCES_MAX);

static const struct shape_field settings_fields[] = {
    { SHAPE_FIELD(struct stack_settings, parameters, "p", &parameters_shape) },
    { SHAPE_FIELD(struct stack_settings, tags, "t", &tags_shape) },
    { SHAPE_FIELD(struct stack_settings, capabilities, "c", &capabilities_shape) },
    { SHAPE_FIELD(struct stack_settings, notifications, "n", &arns_shape) },
    { SHAPE_FIELD(struct stack_settings, role_arn, "r", &any_text) },
    { SHAPE_FIELD(struct stack_settings, description, "d", &any_text) },
    { SHAPE_FIELD(struct stack_settings, no_echo, "h", &parameter_names_shape) },
    { SHAPE_FIELD(struct stack_settings, imported, "i", &parameters_shape) },
};
const struct shape stack_settings_shape = {
    SHAPE_STRUCTURE_OF(struct stack_settings, settings_fields), .type_name = RECORD
};

#define HEAD_FIELDS                                                                                \
    { SHAPE_FIELD(struct stack_head, stack_uid, "u", &any_text), .required = true },               \
    {                                                                                              \
        SHAPE_FIELD(struct stack_head, id, "i", &any_text), .required = true                       \
    }

static const struct shape_field stack_fields[] = {
    HEAD_FIELDS,
    { SHAPE_FIELD(struct stack, name, "n", &any_text), .required = true },
    { SHAPE_FIELD(struct stack, status_name, "s", &any_text), .required = true },
    { SHAPE_FIELD(struct stack, reason, "why", &any_text) },
    { SHAPE_FIELD(struct stack, created_ms, "c", &any_number), .required = true },
    { SHAPE_FIELD(struct stack, updated_ms, "up", &any_number) },
    { SHAPE_FIELD(struct stack, deleted_ms, "del", &any_number) },
    { SHAPE_FIELD(struct stack, settings, "set", &stack_settings_shape), .required = true },
    { SHAPE_FIELD(struct stack, next, "next", &stack_settings_shape) },
    { SHAPE_FIELD(struct stack, outputs, "out", &outputs_shape) },
    { SHAPE_FIELD(struct stack, imports, "imp", &parameter_names_shape) },
    { SHAPE_FIELD(struct stack, disable_rollback, "dr", &any_boolean) },
    { SHAPE_FIELD(struct stack, timeout_ms, "to", &any_number) },
    { SHAPE_FIELD(struct stack, on_failure, "of", &any_text) },
    { SHAPE_FIELD(struct stack, is_protected, "tp", &any_boolean) },
    { SHAPE_FIELD(struct stack, retained, "ret", &logical_ids_shape) },
    { SHAPE_FIELD(struct stack, change_set_id, "cs", &any_text) },
    { SHAPE_FIELD(struct stack, token, "tok", &any_text) },
    { SHAPE_FIELD(struct stack, caller, "by", &caller_text) },
    { SHAPE_FIELD(struct stack, generation, "g", &any_number), .required = true },
    { SHAPE_FIELD(struct stack, stable_generation, "sg", &any_number) },
    { SHAPE_FIELD(struct stack, event_count, "ev", &any_number), .required = true },
};
static const struct shape_field resource_fields[] = {
    HEAD_FIELDS,
    { SHAPE_FIELD(struct stack_resource, type, "t", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_resource, physical_id, "p", &any_text) },
    { SHAPE_FIELD(struct stack_resource, old_physical_id, "old", &any_text) },
    { SHAPE_FIELD(struct stack_resource, status_name, "s", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_resource, reason, "why", &any_text) },
    { SHAPE_FIELD(struct stack_resource, updated_ms, "up", &any_number), .required = true },
    { SHAPE_FIELD(struct stack_resource, order, "o", &any_number), .required = true },
    { SHAPE_FIELD(struct stack_resource, generation, "g", &any_number), .required = true },
    { SHAPE_FIELD(struct stack_resource, deletion_policy, "dp", &any_text) },
    { SHAPE_FIELD(struct stack_resource, is_skipped, "sk", &any_boolean) },
    { SHAPE_FIELD(struct stack_resource, is_new, "new", &any_boolean) },
};
static const struct shape_field event_fields[] = {
    HEAD_FIELDS,
    { SHAPE_FIELD(struct stack_event, uid, "e", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_event, logical_id, "l", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_event, physical_id, "p", &any_text) },
    { SHAPE_FIELD(struct stack_event, type, "t", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_event, status_name, "s", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_event, reason, "why", &any_text) },
    { SHAPE_FIELD(struct stack_event, token, "tok", &any_text) },
    { SHAPE_FIELD(struct stack_event, at_ms, "at", &any_number), .required = true },
};
static const struct shape_field change_set_fields[] = {
    HEAD_FIELDS,
    { SHAPE_FIELD(struct stack_change_set, name, "n", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_change_set, type, "t", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_change_set, status, "s", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_change_set, reason, "why", &any_text) },
    { SHAPE_FIELD(struct stack_change_set, execution, "x", &any_text), .required = true },
    { SHAPE_FIELD(struct stack_change_set, description, "d", &any_text) },
    { SHAPE_FIELD(struct stack_change_set, created_ms, "c", &any_number), .required = true },
    { SHAPE_FIELD(struct stack_change_set, settings, "set", &stack_settings_shape),
      .required = true },
    { SHAPE_FIELD(struct stack_change_set, changes, "ch", &changes_text), .required = true },
    { SHAPE_FIELD(struct stack_change_set, on_failure, "of", &any_text) },
};

static const struct {
    uint8_t letter; /* First byte of the key. */
    struct shape shape;
} kinds[STACK_KIND_COUNT] = {
    [STACK_STACK] = { 'S',
                      { SHAPE_STRUCTURE_OF(struct stack, stack_fields), .type_name = RECORD } },
    [STACK_RESOURCE] = { 'R',
                         { SHAPE_STRUCTURE_OF(struct stack_resource, resource_fields),
                           .type_name = RECORD } },
    [STACK_EVENT] = { 'E',
                      { SHAPE_STRUCTURE_OF(struct stack_event, event_fields),
                        .type_name = RECORD } },
    [STACK_CHANGE_SET] = { 'C',
                           { SHAPE_STRUCTURE_OF(struct stack_change_set, change_set_fields),
                             .type_name = RECORD } },
};

size_t stack_object_size(enum stack_kind kind)
{
    return kinds[kind].shape.size;
}

/* --- Keys --- */

struct bytes stack_key_prefix(struct arena *arena, enum stack_kind kind, struct bytes stack_uid)
{
    const struct bytes parts[] = { bytes_of(&kinds[kind].letter, 1), stack_uid };
    return arena_join(arena, parts, COUNT_OF(parts));
}

struct bytes stack_key(struct arena *arena, enum stack_kind kind, const struct stack_head *head)
{
    const struct bytes parts[] = { bytes_of(&kinds[kind].letter, 1), head->stack_uid, head->id };
    return arena_join(arena, parts, COUNT_OF(parts));
}

struct bytes stack_template_key(struct arena *arena, struct bytes stack_uid, struct bytes which)
{
    const uint8_t letter = STACK_KEY_TEMPLATE;
    const struct bytes parts[] = { bytes_of(&letter, 1), stack_uid, which };
    return arena_join(arena, parts, COUNT_OF(parts));
}

struct bytes stack_asset_key(struct arena *arena, struct bytes name)
{
    const uint8_t letter = STACK_KEY_ASSET;
    const struct bytes parts[] = { bytes_of(&letter, 1), name };
    return arena_join(arena, parts, COUNT_OF(parts));
}

/* --- Values --- */

static struct bytes to_json(struct arena *arena, enum stack_kind kind, const void *object)
{
    struct buffer text;
    struct json_writer json;
    buffer_init(&text, arena);
    json_writer_init(&json, &text);
    shape_write(&json, &kinds[kind].shape, object);
    return buffer_bytes(&text);
}

struct bytes stack_encode(struct arena *arena, enum stack_kind kind, const void *object)
{
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "j", to_json(arena, kind, object));
    return item_builder_finish(&builder).encoded;
}

/* The texts that must be one of a few. */
static bool is_sound(enum stack_kind kind, const void *object)
{
    const struct stack_head *head = object;
    if (head->stack_uid.len != UUID_TEXT_SIZE)
        return false;
    switch (kind) {
    case STACK_STACK:
        return head->id.len == 0 && stack_is_name(((const struct stack *)object)->name) &&
               stack_status_find(((const struct stack *)object)->status_name) < STACK_STATUS_COUNT;
    case STACK_RESOURCE:
        return head->id.len > 0 &&
               stack_status_find(((const struct stack_resource *)object)->status_name) <=
                   STACK_DELETE_SKIPPED;
    case STACK_EVENT:
        return head->id.len > 0 &&
               stack_status_find(((const struct stack_event *)object)->status_name) <
                   STACK_STATUS_COUNT;
    default:
        return head->id.len == UUID_TEXT_SIZE;
    }
}

static void *from_json(struct arena *arena, enum stack_kind kind, struct bytes text)
{
    struct error ignored;
    void *object = arena_alloc_zeroed(arena, kinds[kind].shape.size);
    error_init(&ignored, arena);
    if (!shape_read(arena, text, &kinds[kind].shape, object, &ignored) ||
        !shape_validate(arena, &kinds[kind].shape, object, &ignored) || !is_sound(kind, object))
        return NULL;
    return object;
}

void *stack_decode_any(struct arena *arena, enum stack_kind kind, struct bytes value)
{
    struct item item;
    struct bytes text;
    if (!item_open(value, &item) || !item_verify(&item) ||
        !item_record_find_text(arena, &item, "j", STACK_DOCUMENT_SIZE_MAX, &text))
        return NULL;
    return from_json(arena, kind, text);
}

void *stack_decode(struct arena *arena, const struct engine_entry *entry, enum stack_kind *kind)
{
    enum stack_kind found = 0;
    if (entry->key.len == 0)
        return NULL;
    while (found < STACK_KIND_COUNT && kinds[found].letter != entry->key.data[0])
        found++;
    if (found == STACK_KIND_COUNT)
        return NULL;
    void *object = stack_decode_any(arena, found, entry->value);
    if (object == NULL || !bytes_equal(stack_key(arena, found, object), entry->key))
        return NULL;
    *kind = found;
    return object;
}

void *stack_copy(struct arena *arena, enum stack_kind kind, const void *object)
{
    return from_json(arena, kind, to_json(arena, kind, object));
}

/* --- Templates and files --- */

struct bytes stack_blob_encode(struct arena *arena, const struct stack_blob *blob)
{
    const uint64_t numbers[] = { (uint64_t)blob->modified_ms };
    struct item_builder builder;
    struct buffer value;
    assert(blob->bytes.len <= STACK_ASSET_SIZE_MAX);
    buffer_init(&value, arena);
    value_append_binary(&value, blob->bytes);
    item_builder_init(&builder, arena);
    item_builder_add(&builder, BYTES("b"), buffer_bytes(&value));
    item_record_add_numbers(&builder, "i", numbers, COUNT_OF(numbers));
    if (blob->media_type.data != NULL)
        item_record_add_text(&builder, "m", blob->media_type);
    return item_builder_finish(&builder).encoded;
}

bool stack_blob_decode(struct arena *arena, struct bytes stored, struct stack_blob *out)
{
    struct item record;
    struct value value;
    uint64_t *numbers;
    size_t count;
    *out = (struct stack_blob){ 0 };
    if (!item_open(stored, &record) || !item_verify(&record) ||
        !item_find(&record, BYTES("b"), &value) || value.type != VALUE_B ||
        value.data.len > STACK_ASSET_SIZE_MAX ||
        !item_record_find_numbers(arena, &record, "i", 1, &numbers, &count) || count != 1 ||
        numbers[0] > INT64_MAX)
        return false;
    out->bytes = value.data;
    out->modified_ms = (int64_t)numbers[0];
    if (!item_find(&record, BYTES("m"), &value))
        return true;
    return item_record_find_text(arena, &record, "m", STACK_TEXT_SIZE_MAX, &out->media_type);
}

bool stack_record_is_whole(struct arena *arena, const struct engine_entry *entry)
{
    enum stack_kind kind;
    struct stack_blob blob;
    uint8_t letter = entry->key.len == 0 ? 0 : entry->key.data[0];
    if (letter == STACK_KEY_TEMPLATE)
        return entry->key.len > 1 + UUID_TEXT_SIZE &&
               stack_blob_decode(arena, entry->value, &blob) &&
               blob.bytes.len <= STACK_TEMPLATE_SIZE_MAX;
    if (letter == STACK_KEY_ASSET)
        return entry->key.len > 1 && entry->key.len <= 1 + STACK_ASSET_NAME_SIZE_MAX &&
               stack_blob_decode(arena, entry->value, &blob);
    return stack_decode(arena, entry, &kind) != NULL;
}

static bool is_letter(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

bool stack_is_name(struct bytes name)
{
    if (name.len == 0 || name.len > STACK_NAME_SIZE_MAX || !is_letter(name.data[0]))
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(name.data[i]) && name.data[i] != '-' &&
            (name.data[i] < '0' || name.data[i] > '9'))
            return false;
    return true;
}

const struct stack_pair *stack_find_pair(const struct shape_list *list, struct bytes key)
{
    const struct stack_pair *const *pairs = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        if (bytes_equal(pairs[i]->key, key))
            return pairs[i];
    return NULL;
}

bool stack_same_pairs(const struct shape_list *a, const struct shape_list *b)
{
    const struct stack_pair *const *x = a->elements, *const *y = b->elements;
    if (a->kept != b->kept)
        return false;
    for (size_t i = 0; i < a->kept; i++)
        if (!bytes_equal(x[i]->key, y[i]->key) || !bytes_equal(x[i]->value, y[i]->value))
            return false;
    return true;
}
