/* model_infer.c -- see model_infer.h. */
#include "schema/model_infer.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "schema/json_tree.h"
#include "schema/model_file.h"

/* Items that seem to be of one entity. */
struct group {
    struct bytes form;          /* What they have in common: discriminator and forms of the keys. */
    struct bytes discriminator; /* Its value; data NULL: none. */
    struct bytes hash, range;   /* Templates; data NULL: the key is no text. */
    const struct json_node **rows;
    size_t count, capacity;
};

struct inference {
    struct arena *arena;
    const struct model_table *table;
    struct bytes discriminator; /* The attribute; data NULL: none. */
    struct group *groups;
    size_t count;
};

/* The text of an attribute {"S": text}; data NULL: it is none. */
static struct bytes text_of(const struct json_node *row, struct bytes attribute)
{
    return json_tree_string(json_tree_member_bytes(row, attribute), "S");
}

/* --- Forms of keys --- */

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(struct bytes part)
{
    for (size_t i = 0; i < part.len; i++) {
        uint8_t c = part.data[i];
        if (!((c >= 'A' && c <= 'Z') || c == '_' || c == '-'))
            return false;
    }
    return part.len > 0;
}

static bool is_date(struct bytes part)
{
    return part.len >= 10 && is_digit(part.data[0]) && part.data[4] == '-' && part.data[7] == '-';
}

/* CUSTOMER becomes "customerId", a date "date". */
static struct bytes parameter_name(struct arena *arena, struct bytes before, struct bytes part,
                                   size_t number)
{
    struct buffer name;
    if (is_date(part))
        return arena_printf(arena, "date");
    if (before.len == 0)
        return arena_printf(arena, "p%zu", number);
    buffer_init(&name, arena);
    for (size_t i = 0; i < before.len; i++) {
        uint8_t c = before.data[i];
        buffer_append_byte(&name, c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c);
    }
    buffer_append_bytes(&name, BYTES("Id"));
    return buffer_bytes(&name);
}

/* The template that the value seems to follow. */
static struct bytes template_of(struct arena *arena, struct bytes value)
{
    struct buffer out;
    struct bytes before = BYTES("");
    size_t at = 0, number = 1, parameters = 0;
    buffer_init(&out, arena);
    while (at <= value.len) {
        const uint8_t *end =
            at < value.len ? memchr(value.data + at, KEY_TEMPLATE_SEPARATOR, value.len - at) : NULL;
        size_t size = end == NULL ? value.len - at : (size_t)(end - value.data) - at;
        struct bytes part = bytes_of(value.data + at, size);
        if (at > 0)
            buffer_append_byte(&out, KEY_TEMPLATE_SEPARATOR);
        if (is_word(part) || part.len == 0) {
            buffer_append_bytes(&out, part);
            before = part;
        } else if (parameters == KEY_TEMPLATE_PARAMETERS_MAX - 1) {
            buffer_append_bytes(&out, BYTES("<rest*>"));
            break;
        } else {
            struct bytes name = parameter_name(arena, before, part, number++);
            buffer_append_bytes(&out, arena_printf(arena, "<%.*s>", BYTES_FMT(name)));
            before = BYTES("");
            parameters++;
        }
        at += size + 1;
    }
    if (out.len > KEY_TEMPLATE_SIZE_MAX) /* No file with it could be loaded. */
        return BYTES("<key*>");
    return out.len > 0 ? buffer_bytes(&out) : BYTES("<key>");
}

static struct bytes key_template_of(struct arena *arena, const struct key_attribute *key,
                                    const struct json_node *row)
{
    struct bytes value = key->type == VALUE_S ? text_of(row, key->name) : (struct bytes){ 0 };
    return value.data == NULL ? value : template_of(arena, value);
}

/* --- Groups --- */

/* The usual names of discriminators, that most rows have. */
static struct bytes find_discriminator(const struct json_node *rows)
{
    static const char *const names[] = { "type",       "_type",      "entity", "entityType",
                                         "__typename", "EntityType", "Type",   "_et" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        size_t count = 0;
        for (const struct json_node *row = rows->first; row != NULL; row = row->next)
            count += text_of(row, bytes_from_text(names[i])).data != NULL;
        if (2 * count > rows->count)
            return bytes_from_text(names[i]);
    }
    return (struct bytes){ 0 };
}

static struct bytes or_empty(struct bytes text)
{
    return text.data == NULL ? BYTES("") : text;
}

static void add_row(struct inference *inference, const struct json_node *row)
{
    struct arena *arena = inference->arena;
    const struct model_index *key = &inference->table->indexes[0];
    struct group group = { .hash = key_template_of(arena, &key->hash, row) };
    if (key->has_range)
        group.range = key_template_of(arena, &key->range, row);
    if (inference->discriminator.data != NULL)
        group.discriminator = text_of(row, inference->discriminator);
    group.form = arena_printf(arena, "%.*s\n%.*s\n%.*s", BYTES_FMT(or_empty(group.discriminator)),
                              BYTES_FMT(or_empty(group.hash)), BYTES_FMT(or_empty(group.range)));
    size_t i = 0;
    while (i < inference->count && !bytes_equal(inference->groups[i].form, group.form))
        i++;
    if (i == MODEL_ENTITIES_MAX)
        return;
    if (i == inference->count)
        inference->groups[inference->count++] = group;
    struct group *found = &inference->groups[i];
    if (found->count == found->capacity) {
        size_t capacity = 2 * found->capacity + 8;
        found->rows = arena_grow(arena, found->rows, found->capacity * sizeof *found->rows,
                                 capacity * sizeof *found->rows);
        found->capacity = capacity;
    }
    found->rows[found->count++] = row;
}

/* --- Entities --- */

/* "CUSTOMER" becomes "Customer". */
static struct bytes name_of(const struct inference *inference, const struct group *group,
                            size_t number)
{
    struct bytes word = group->discriminator;
    struct buffer name;
    if (word.data == NULL) {
        struct bytes template = group->range.data != NULL ? group->range : or_empty(group->hash);
        const uint8_t *end = memchr(template.data, KEY_TEMPLATE_SEPARATOR, template.len);
        word = bytes_of(template.data, end == NULL ? template.len : (size_t)(end - template.data));
    }
    if (!is_word(word) && group->discriminator.data == NULL)
        return arena_printf(inference->arena, "Entity%zu", number + 1);
    buffer_init(&name, inference->arena);
    bool all_capitals = is_word(word);
    for (size_t i = 0; i < word.len; i++) {
        uint8_t c = word.data[i];
        bool lowers = all_capitals && i > 0 && c >= 'A' && c <= 'Z';
        buffer_append_byte(&name, lowers ? (uint8_t)(c - 'A' + 'a') : c);
    }
    return buffer_bytes(&name);
}

/* The template that all values of an index's key in the group follow; data NULL: there is none. */
static struct bytes shared_template(const struct inference *inference, const struct group *group,
                                    const struct key_attribute *key)
{
    struct bytes shared = { 0 };
    for (size_t i = 0; i < group->count; i++) {
        struct bytes template = key_template_of(inference->arena, key, group->rows[i]);
        if (template.data == NULL)
            continue;
        if (shared.data != NULL && !bytes_equal(shared, template))
            return (struct bytes){ 0 };
        shared = template;
    }
    return shared;
}

static void add_key(struct arena *arena, struct json_node *keys, struct bytes index,
                    struct bytes hash, struct bytes range)
{
    if (hash.data == NULL && range.data == NULL)
        return;
    struct json_node *key = json_tree_new(arena, JSON_OBJECT);
    if (index.data != NULL)
        json_tree_add_text(arena, key, "Index", index);
    if (hash.data != NULL)
        json_tree_add_text(arena, key, "PartitionKey", hash);
    if (range.data != NULL)
        json_tree_add_text(arena, key, "SortKey", range);
    json_tree_add(keys, (struct bytes){ 0 }, key);
}

static bool is_key(const struct model_table *table, struct bytes name)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct model_index *index = &table->indexes[i];
        if (bytes_equal(index->hash.name, name) ||
            (index->has_range && bytes_equal(index->range.name, name)))
            return true;
    }
    return false;
}

/* The attribute's type, if all rows of the group that have it agree; and how many do. */
static size_t count_attribute(const struct group *group, struct bytes name, struct bytes *type)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct json_node *value = json_tree_member_bytes(group->rows[i], name);
        if (value == NULL || value->first == NULL)
            continue;
        if (count++ == 0)
            *type = value->first->name;
        else if (type->data != NULL && !bytes_equal(*type, value->first->name))
            *type = (struct bytes){ 0 };
    }
    return count;
}

static void add_attribute(const struct inference *inference, const struct group *group,
                          struct bytes name, struct json_node *attributes)
{
    struct bytes type = { 0 };
    for (const struct json_node *at = attributes->first; at != NULL; at = at->next) {
        if (bytes_equal(json_tree_string(at, "Name"), name))
            return;
    }
    if (attributes->count == MODEL_ENTITY_ATTRIBUTES_MAX || name.len == 0 ||
        name.len > MODEL_NAME_SIZE_MAX)
        return;
    struct json_node *attribute = json_tree_new(inference->arena, JSON_OBJECT);
    size_t count = count_attribute(group, name, &type);
    json_tree_add_text(inference->arena, attribute, "Name", name);
    if (type.data != NULL)
        json_tree_add_text(inference->arena, attribute, "Type", type);
    if (count == group->count) {
        struct json_node *required = json_tree_new(inference->arena, JSON_BOOL);
        required->boolean = true;
        json_tree_add(attribute, BYTES("Required"), required);
    }
    json_tree_add(attributes, (struct bytes){ 0 }, attribute);
}

static struct json_node *make_entity(const struct inference *inference, const struct group *group,
                                     struct bytes name)
{
    struct arena *arena = inference->arena;
    struct json_node *entity = json_tree_new(arena, JSON_OBJECT);
    struct json_node *keys = json_tree_new(arena, JSON_ARRAY);
    struct json_node *attributes = json_tree_new(arena, JSON_ARRAY);
    json_tree_add_text(arena, entity, "Name", name);
    if (group->discriminator.data != NULL) {
        struct json_node *discriminator = json_tree_new(arena, JSON_OBJECT);
        json_tree_add_text(arena, discriminator, "Attribute", inference->discriminator);
        json_tree_add_text(arena, discriminator, "Value", group->discriminator);
        json_tree_add(entity, BYTES("Discriminator"), discriminator);
    }
    add_key(arena, keys, (struct bytes){ 0 }, group->hash, group->range);
    for (size_t i = 1; i < inference->table->index_count; i++) {
        const struct model_index *index = &inference->table->indexes[i];
        add_key(arena, keys, index->name, shared_template(inference, group, &index->hash),
                index->has_range ? shared_template(inference, group, &index->range)
                                 : (struct bytes){ 0 });
    }
    json_tree_add(entity, BYTES("Keys"), keys);
    for (size_t i = 0; i < group->count; i++) {
        for (const struct json_node *at = group->rows[i]->first; at != NULL; at = at->next) {
            bool is_discriminator = inference->discriminator.data != NULL &&
                                    bytes_equal(at->name, inference->discriminator);
            if (!is_key(inference->table, at->name) && !is_discriminator)
                add_attribute(inference, group, at->name, attributes);
        }
    }
    json_tree_add(entity, BYTES("Attributes"), attributes);
    return entity;
}

static bool is_taken(const struct json_node *entities, struct bytes name)
{
    for (const struct json_node *at = entities->first; at != NULL; at = at->next) {
        if (bytes_equal(json_tree_string(at, "Name"), name))
            return true;
    }
    return false;
}

void model_infer(struct arena *arena, struct model_file *file, const struct json_node *rows,
                 bool with_rows)
{
    assert(file->table_count == 1);
    struct inference inference = { .arena = arena, .table = &file->tables[0] };
    struct json_node *entities = json_tree_new(arena, JSON_ARRAY);
    struct json_node *stator = json_tree_member(file->root, "Stator");
    inference.groups = arena_alloc(arena, MODEL_ENTITIES_MAX * sizeof *inference.groups);
    inference.discriminator = find_discriminator(rows);
    for (const struct json_node *row = rows->first; row != NULL; row = row->next)
        add_row(&inference, row);
    for (size_t i = 0; i < inference.count; i++) {
        struct bytes name = name_of(&inference, &inference.groups[i], i);
        if (name.len == 0 || name.len > MODEL_NAME_SIZE_MAX - 8)
            name = arena_printf(arena, "Entity%zu", i + 1);
        if (is_taken(entities, name))
            name = arena_printf(arena, "%.*s%zu", BYTES_FMT(name), i + 1);
        json_tree_add(entities, (struct bytes){ 0 },
                      make_entity(&inference, &inference.groups[i], name));
    }
    if (stator == NULL) {
        stator = json_tree_new(arena, JSON_OBJECT);
        json_tree_add(file->root, BYTES("Stator"), stator);
    }
    json_tree_set(arena, stator, "Entities", entities, NULL);
    if (with_rows)
        json_tree_set(arena, file->tables[0].node, "TableData", json_tree_copy(arena, rows), NULL);
}
