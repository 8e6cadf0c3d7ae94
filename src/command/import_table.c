/* import_table.c -- see import_table.h. */
#include "command/import_table.h"
#include <string.h>
#include "base/arena.h"
#include "command/answer.h"
#include "json/writer.h"

static bool is_key_type(enum value_type type)
{
    return type == VALUE_S || type == VALUE_N || type == VALUE_B;
}

bool import_table_parse_key(const char *text, struct import_table *out)
{
    out->key_count = 0;
    while (out->key_count < 2) {
        size_t len = strcspn(text, ",");
        struct bytes part = bytes_of(text, len);
        const uint8_t *colon = memrchr(part.data, ':', part.len);
        if (colon == NULL || colon == part.data)
            return false;
        struct key_attribute *key = &out->keys[out->key_count++];
        key->name = bytes_of(part.data, (size_t)(colon - part.data));
        struct bytes type = bytes_of(colon + 1, (size_t)(part.data + part.len - colon - 1));
        if (!value_type_parse(type, &key->type) || !is_key_type(key->type))
            return false;
        text += len;
        if (*text == '\0')
            break;
        text++;
    }
    memcpy(out->typed, out->keys, sizeof out->keys);
    out->typed_count = out->key_count;
    return *text == '\0';
}

struct reading {
    struct arena *arena;
    struct import_table *table;
    bool ok;
};

static void read_definition(void *context, struct bytes element)
{
    struct reading *reading = context;
    struct import_table *table = reading->table;
    struct bytes type = answer_text(reading->arena, element, "AttributeType");
    if (table->typed_count == IMPORT_ATTRIBUTES_MAX ||
        !value_type_parse(type, &table->typed[table->typed_count].type)) {
        reading->ok = false;
        return;
    }
    table->typed[table->typed_count++].name = answer_text(reading->arena, element, "AttributeName");
}

static void read_key(void *context, struct bytes element)
{
    struct reading *reading = context;
    struct import_table *table = reading->table;
    bool is_range = bytes_equal_text(answer_text(reading->arena, element, "KeyType"), "RANGE");
    table->keys[is_range].name = answer_text(reading->arena, element, "AttributeName");
    if (table->key_count < (is_range ? 2u : 1u))
        table->key_count = is_range ? 2 : 1;
}

bool import_table_read(struct arena *arena, struct bytes answer, struct import_table *out)
{
    struct reading reading = { .arena = arena, .table = out, .ok = true };
    struct bytes object = answer_json(arena, answer, "Table");
    if (object.data == NULL)
        object = answer_json(arena, answer, "TableDescription");
    out->key_count = out->typed_count = 0;
    out->status = answer_text(arena, object, "TableStatus");
    answer_visit(arena, answer_json(arena, object, "AttributeDefinitions"), read_definition,
                 &reading);
    answer_visit(arena, answer_json(arena, object, "KeySchema"), read_key, &reading);
    for (size_t i = 0; reading.ok && i < out->key_count; i++) {
        for (size_t t = 0; t < out->typed_count; t++) {
            if (bytes_equal(out->typed[t].name, out->keys[i].name))
                out->keys[i].type = out->typed[t].type;
        }
    }
    return reading.ok && answer_is_object(arena, answer) && out->key_count > 0;
}

void import_table_write(struct json_writer *json, const struct import_table *table)
{
    json_write_name(json, "TableName");
    json_write_string(json, table->name);
    json_write_name(json, "BillingMode");
    json_write_text(json, "PAY_PER_REQUEST");
    json_write_name(json, "AttributeDefinitions");
    json_open_array(json);
    for (size_t i = 0; i < table->key_count; i++) {
        json_open_object(json);
        json_write_name(json, "AttributeName");
        json_write_string(json, table->keys[i].name);
        json_write_name(json, "AttributeType");
        json_write_text(json, value_type_name(table->keys[i].type));
        json_close_object(json);
    }
    json_close_array(json);
    json_write_name(json, "KeySchema");
    json_open_array(json);
    for (size_t i = 0; i < table->key_count; i++) {
        json_open_object(json);
        json_write_name(json, "AttributeName");
        json_write_string(json, table->keys[i].name);
        json_write_name(json, "KeyType");
        json_write_text(json, i == 0 ? "HASH" : "RANGE");
        json_close_object(json);
    }
    json_close_array(json);
}
