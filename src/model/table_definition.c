/* table_definition.c -- the words for a table's properties, its lifecycle, and finding in it. */
#include "model/table_definition.h"
#include <assert.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "model/change_image.h"

static const char *const status_names[TABLE_STATUS_COUNT] = {
    [TABLE_CREATING] = "CREATING",
    [TABLE_ACTIVE] = "ACTIVE",
    [TABLE_UPDATING] = "UPDATING",
    [TABLE_DELETING] = "DELETING",
};
static const char *const index_status_names[INDEX_STATUS_COUNT] = {
    [INDEX_ACTIVE] = "ACTIVE",
    [INDEX_ALLOCATING] = "ALLOCATING",
    [INDEX_BACKFILLING] = "BACKFILLING",
    [INDEX_DELETING] = "DELETING",
};
static const char *const expiry_status_names[EXPIRY_STATUS_COUNT] = {
    [EXPIRY_NONE] = "NONE",     [EXPIRY_ALLOCATING] = "ALLOCATING", [EXPIRY_FILLING] = "FILLING",
    [EXPIRY_ACTIVE] = "ACTIVE", [EXPIRY_REMOVING] = "REMOVING",
};
static const char *const history_status_names[HISTORY_STATUS_COUNT] = {
    [HISTORY_NONE] = "NONE",
    [HISTORY_OPENING] = "OPENING",
    [HISTORY_ACTIVE] = "ACTIVE",
    [HISTORY_CLOSING] = "CLOSING",
};
static const char *const billing_mode_names[] = {
    [BILLING_PROVISIONED] = "PROVISIONED",
    [BILLING_PAY_PER_REQUEST] = "PAY_PER_REQUEST",
};
static const char *const table_class_names[] = {
    [TABLE_CLASS_STANDARD] = "STANDARD",
    [TABLE_CLASS_STANDARD_INFREQUENT_ACCESS] = "STANDARD_INFREQUENT_ACCESS",
};
static const char *const projection_names[] = {
    [PROJECTION_ALL] = "ALL",
    [PROJECTION_KEYS_ONLY] = "KEYS_ONLY",
    [PROJECTION_INCLUDE] = "INCLUDE",
};

static const char *const model_mode_names[] = {
    [MODEL_NONE] = "NONE", [MODEL_OBSERVE] = "OBSERVE", [MODEL_ENFORCE] = "ENFORCE"
};
static const char *const capacity_names[] = {
    [CAPACITY_UNSET] = "", /* No setting has this name. */
    [CAPACITY_OFF] = "off",
    [CAPACITY_ACCOUNT] = "account",
    [CAPACITY_ENFORCE] = "enforce",
};

/* The index of `text` among `names`, or `count`. */
static size_t find_name(const char *const *names, size_t count, struct bytes text)
{
    size_t index = 0;
    while (index < count && !bytes_equal_text(text, names[index]))
        index++;
    return index;
}

const char *table_status_name(enum table_status status)
{
    assert(status < TABLE_STATUS_COUNT);
    return status_names[status];
}

const char *index_status_name(enum index_status status)
{
    assert(status < INDEX_STATUS_COUNT);
    return index_status_names[status];
}

const char *expiry_status_name(enum expiry_status status)
{
    assert(status < EXPIRY_STATUS_COUNT);
    return expiry_status_names[status];
}

const char *history_status_name(enum history_status status)
{
    assert(status < HISTORY_STATUS_COUNT);
    return history_status_names[status];
}

const char *billing_mode_name(enum billing_mode mode)
{
    assert(mode < COUNT_OF(billing_mode_names));
    return billing_mode_names[mode];
}

const char *table_class_name(enum table_class table_class)
{
    assert(table_class < COUNT_OF(table_class_names));
    return table_class_names[table_class];
}

const char *projection_type_name(enum projection_type type)
{
    assert(type < COUNT_OF(projection_names));
    return projection_names[type];
}

bool table_status_parse(struct bytes text, enum table_status *out)
{
    size_t index = find_name(status_names, COUNT_OF(status_names), text);
    *out = (enum table_status)index;
    return index < COUNT_OF(status_names);
}

bool index_status_parse(struct bytes text, enum index_status *out)
{
    size_t index = find_name(index_status_names, COUNT_OF(index_status_names), text);
    *out = (enum index_status)index;
    return index < COUNT_OF(index_status_names);
}

bool expiry_status_parse(struct bytes text, enum expiry_status *out)
{
    size_t index = find_name(expiry_status_names, COUNT_OF(expiry_status_names), text);
    *out = (enum expiry_status)index;
    return index < COUNT_OF(expiry_status_names);
}

bool history_status_parse(struct bytes text, enum history_status *out)
{
    size_t index = find_name(history_status_names, COUNT_OF(history_status_names), text);
    *out = (enum history_status)index;
    return index < COUNT_OF(history_status_names);
}

bool billing_mode_parse(struct bytes text, enum billing_mode *out)
{
    size_t index = find_name(billing_mode_names, COUNT_OF(billing_mode_names), text);
    *out = (enum billing_mode)index;
    return index < COUNT_OF(billing_mode_names);
}

const char *model_mode_name(enum model_mode mode)
{
    assert(mode < COUNT_OF(model_mode_names));
    return model_mode_names[mode];
}

bool model_mode_parse(struct bytes text, enum model_mode *out)
{
    size_t index = find_name(model_mode_names, COUNT_OF(model_mode_names), text);
    *out = (enum model_mode)index;
    return index != MODEL_NONE && index < COUNT_OF(model_mode_names);
}

bool capacity_setting_parse(struct bytes text, enum capacity_setting *out)
{
    size_t index = find_name(capacity_names, COUNT_OF(capacity_names), text);
    *out = (enum capacity_setting)index;
    return index != CAPACITY_UNSET && index < COUNT_OF(capacity_names);
}

void table_definition_turn_on_demand(struct table_definition *definition, int64_t now_ms)
{
    int64_t *turns = definition->on_demand_turns_ms;
    for (size_t i = ON_DEMAND_TURNS_MAX - 1; i > 0; i--)
        turns[i] = turns[i - 1];
    turns[0] = now_ms;
    definition->on_demand_since_ms = now_ms;
}

/* A value that is none of the words can only have been stored by an older version. */
enum capacity_setting table_definition_capacity(const struct table_definition *definition)
{
    enum capacity_setting setting;
    for (size_t i = 0; i < definition->tags.count; i++) {
        if (bytes_equal_text(definition->tags.elements[i].key, TABLE_CAPACITY_TAG) &&
            capacity_setting_parse(definition->tags.elements[i].value, &setting))
            return setting;
    }
    return CAPACITY_UNSET;
}

bool table_class_parse(struct bytes text, enum table_class *out)
{
    size_t index = find_name(table_class_names, COUNT_OF(table_class_names), text);
    *out = (enum table_class)index;
    return index < COUNT_OF(table_class_names);
}

bool projection_type_parse(struct bytes text, enum projection_type *out)
{
    size_t index = find_name(projection_names, COUNT_OF(projection_names), text);
    *out = (enum projection_type)index;
    return index < COUNT_OF(projection_names);
}

static bool is_among(const struct key_attribute *attributes, size_t count, struct bytes name)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal(attributes[i].name, name))
            return true;
    }
    return false;
}

bool index_definition_has_key(const struct index_definition *index, struct bytes name)
{
    return is_among(index->hash, index->hash_count, name) ||
           is_among(index->range, index->range_count, name);
}

bool table_definition_uses_attribute(const struct table_definition *definition, struct bytes name)
{
    const struct key_schema *key = &definition->key;
    bool used =
        bytes_equal(name, key->hash.name) || (key->has_range && bytes_equal(name, key->range.name));
    for (size_t i = 0; i < definition->index_count && !used; i++)
        used = definition->indexes[i].status != INDEX_DELETING &&
               index_definition_has_key(&definition->indexes[i], name);
    return used;
}

struct table_definition table_definition_copy(struct arena *arena,
                                              const struct table_definition *definition)
{
    struct table_definition copy = *definition;
    copy.index_names = NULL;
    copy.indexes = arena_alloc(arena, (definition->index_count + 1) * sizeof(*copy.indexes));
    if (definition->index_count > 0)
        memcpy(copy.indexes, definition->indexes, definition->index_count * sizeof(*copy.indexes));
    return copy;
}

void table_definition_remove_index(struct arena *arena, struct table_definition *definition,
                                   uint64_t index_id)
{
    struct table_definition without = *definition;
    without.index_count = 0;
    without.index_names = NULL;
    without.indexes = arena_alloc(arena, definition->index_count * sizeof(*without.indexes));
    for (size_t i = 0; i < definition->index_count; i++) {
        if (definition->indexes[i].id != index_id)
            without.indexes[without.index_count++] = definition->indexes[i];
    }
    without.attribute_count = 0;
    without.attributes =
        arena_alloc(arena, definition->attribute_count * sizeof(*without.attributes));
    for (size_t i = 0; i < definition->attribute_count; i++) {
        if (table_definition_uses_attribute(&without, definition->attributes[i].name))
            without.attributes[without.attribute_count++] = definition->attributes[i];
    }
    *definition = without;
}

struct log_needs table_definition_log_needs(const struct table_definition *definition)
{
    struct log_needs needs = { 0 };
    if (definition->stream_enabled) {
        needs.changes = true;
        needs.images |= change_image_of_view_type(definition->stream_view_type);
    }
    if (definition->feeds_kinesis) { /* Its records always have both images. */
        needs.changes = true;
        needs.images |= CHANGE_IMAGES_ALL;
    }
    return needs;
}

const struct index_definition *table_definition_index(const struct table_definition *definition,
                                                      struct bytes name)
{
    for (size_t i = 0; i < definition->index_count; i++) {
        if (bytes_equal(definition->indexes[i].name, name))
            return &definition->indexes[i];
    }
    return NULL;
}

bool table_definition_has_local_index(const struct table_definition *definition)
{
    return definition->index_count > 0 && !definition->indexes[0].global; /* Local ones first. */
}

const struct key_attribute *table_definition_attribute(const struct table_definition *definition,
                                                       struct bytes name)
{
    for (size_t i = 0; i < definition->attribute_count; i++) {
        if (bytes_equal(definition->attributes[i].name, name))
            return &definition->attributes[i];
    }
    return NULL;
}
