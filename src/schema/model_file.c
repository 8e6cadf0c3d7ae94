/* model_file.c -- see model_file.h. Tables are read in model_tables.c, entities and patterns in
 * model_patterns.c. */
#include "schema/model_file.h"
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "schema/json_tree.h"
#include "schema/model_import.h"
#include "schema/model_parts.h"

/* --- Reports --- */

void model_report_add(struct arena *arena, struct model_report *report, struct bytes place,
                      struct bytes text)
{
    if (report->notes == NULL)
        report->notes = arena_alloc(arena, MODEL_NOTES_MAX * sizeof *report->notes);
    if (report->note_count == MODEL_NOTES_MAX) {
        report->notes_dropped++;
        return;
    }
    report->notes[report->note_count++] = (struct model_note){ .place = place, .text = text };
}

void model_report_add_at(struct arena *arena, struct model_report *report,
                         const struct json_node *node, struct bytes text)
{
    bool kept = report->note_count < MODEL_NOTES_MAX;
    model_report_add(arena, report, kept ? json_tree_path(arena, node) : BYTES(""), text);
}

bool model_reader_fail(struct model_reader *reader, const struct json_node *node,
                       const char *format, ...)
{
    va_list arguments;
    if (model_reader_failed(reader))
        return false;
    va_start(arguments, format);
    struct bytes text = arena_vprintf(reader->arena, format, arguments);
    va_end(arguments);
    struct bytes place = node == NULL ? BYTES("the file") : json_tree_path(reader->arena, node);
    const struct bytes parts[] = { place, BYTES(": "), text };
    reader->report->failure = arena_join(reader->arena, parts, 3);
    return false;
}

/* --- Members --- */

static struct json_node *find(struct model_reader *reader, const struct json_node *object,
                              const char *name, enum json_type type, const char *what)
{
    struct json_node *member = json_tree_member(object, name);
    if (member == NULL || member->type == JSON_NULL)
        return NULL;
    if (member->type != type) {
        model_reader_fail(reader, member, "it is not %s", what);
        return NULL;
    }
    return member;
}

struct bytes model_reader_text(struct model_reader *reader, const struct json_node *object,
                               const char *name)
{
    struct json_node *member = find(reader, object, name, JSON_STRING, "a text");
    return member == NULL ? (struct bytes){ 0 } : member->text;
}

struct bytes model_reader_name(struct model_reader *reader, const struct json_node *object,
                               const char *name)
{
    struct bytes text = model_reader_text(reader, object, name);
    if (text.data == NULL || text.len == 0 || text.len > MODEL_NAME_SIZE_MAX) {
        model_reader_fail(reader, object, "%s is missing, empty or longer than %d bytes", name,
                          MODEL_NAME_SIZE_MAX);
        return BYTES("");
    }
    return text;
}

struct json_node *model_reader_array(struct model_reader *reader, const struct json_node *object,
                                     const char *name, size_t count_max)
{
    struct json_node *member = find(reader, object, name, JSON_ARRAY, "a list");
    if (member != NULL && member->count > count_max) {
        model_reader_fail(reader, member, "it has more than %zu elements", count_max);
        return NULL;
    }
    return member;
}

struct json_node *model_reader_object(struct model_reader *reader, const struct json_node *object,
                                      const char *name)
{
    return find(reader, object, name, JSON_OBJECT, "an object");
}

bool model_reader_flag(struct model_reader *reader, const struct json_node *object,
                       const char *name)
{
    struct json_node *member = find(reader, object, name, JSON_BOOL, "true or false");
    return member != NULL && member->boolean;
}

struct bytes model_reader_expression(struct model_reader *reader, const struct json_node *object,
                                     const char *name)
{
    struct bytes text = model_reader_text(reader, object, name);
    if (text.len > MODEL_EXPRESSION_SIZE_MAX)
        model_reader_fail(reader, object, "%s is longer than %d bytes", name,
                          MODEL_EXPRESSION_SIZE_MAX);
    return text;
}

static double parse_number(struct model_reader *reader, const struct json_node *member)
{
    char text[64];
    if (member->text.len >= sizeof text) {
        model_reader_fail(reader, member, "the number is too long");
        return 0;
    }
    memcpy(text, member->text.data, member->text.len);
    text[member->text.len] = '\0';
    return strtod(text, NULL);
}

double model_reader_number(struct model_reader *reader, const struct json_node *object,
                           const char *name)
{
    struct json_node *member = find(reader, object, name, JSON_NUMBER, "a number");
    double value = member == NULL ? 0 : parse_number(reader, member);
    if (value >= 0 && value <= MODEL_NUMBER_MAX)
        return value;
    model_reader_fail(reader, member, "it is not from 0 to %g", MODEL_NUMBER_MAX);
    return 0;
}

bool model_reader_integer(struct model_reader *reader, const struct json_node *object,
                          const char *name, int64_t *out)
{
    struct json_node *member = find(reader, object, name, JSON_NUMBER, "a number");
    if (member == NULL)
        return false;
    double value = parse_number(reader, member);
    if (!(value >= 0 && value <= 1e15) || value != (double)(int64_t)value)
        return model_reader_fail(reader, member, "it is not a whole number");
    *out = (int64_t)value;
    return true;
}

/* --- Loading --- */

/* Whatever is repaired gets deeper: what is saved must be readable again. */
static bool check_depth(struct model_reader *reader, const struct json_node *root)
{
    size_t depth = 1;
    for (const struct json_node *at = root; at != NULL;) {
        if (depth > JSON_TREE_DEPTH_MAX)
            return model_reader_fail(reader, NULL, "values are nested too deeply");
        if (at->first != NULL) {
            at = at->first;
            depth++;
            continue;
        }
        while (at != root && at->next == NULL) {
            at = at->parent;
            depth--;
        }
        at = at == root ? NULL : at->next;
    }
    return true;
}

static bool check_service(struct model_reader *reader, const struct json_node *metadata)
{
    struct bytes service = model_reader_text(reader, metadata, "AWSService");
    if (service.data != NULL && service.len > 0 && !bytes_equal_text(service, "Amazon DynamoDB"))
        return model_reader_fail(reader, metadata,
                                 "the model is for %.*s; only Amazon DynamoDB is supported",
                                 BYTES_FMT(service));
    return !model_reader_failed(reader);
}

static void note_version(struct model_reader *reader, const struct json_node *metadata)
{
    struct bytes version = json_tree_string(metadata, "Version");
    reader->file->version = version;
    if (version.data == NULL)
        model_report_add(reader->arena, reader->report, BYTES("ModelMetadata"),
                         BYTES("there is no version: it is saved as 3.0"));
    else if (!bytes_equal_text(version, MODEL_FILE_VERSION))
        model_report_add(
            reader->arena, reader->report, BYTES("ModelMetadata.Version"),
            arena_printf(reader->arena, "version %.*s is saved as 3.0", BYTES_FMT(version)));
}

static bool read_file(struct model_reader *reader)
{
    struct json_node *root = reader->file->root;
    struct json_node *metadata = model_reader_object(reader, root, "ModelMetadata");
    struct json_node *tables = model_reader_array(reader, root, "DataModel", MODEL_TABLES_MAX);
    struct json_node *additions = model_reader_object(reader, root, "Stator");
    if (model_reader_failed(reader) || !check_service(reader, metadata))
        return false;
    reader->file->name = model_reader_text(reader, root, "ModelName");
    if (reader->file->name.data == NULL)
        reader->file->name = BYTES("");
    note_version(reader, metadata);
    if (tables == NULL)
        return model_reader_fail(reader, NULL, "there is no DataModel");
    struct json_node *entities =
        model_reader_array(reader, additions, "Entities", MODEL_ENTITIES_MAX);
    struct json_node *patterns =
        model_reader_array(reader, additions, "Patterns", MODEL_PATTERNS_MAX);
    if (model_reader_failed(reader) || !model_tables_read(reader, tables) ||
        !model_entities_read(reader, entities) || !model_patterns_read(reader, patterns) ||
        !check_depth(reader, root))
        return false;
    model_unknown_note(reader);
    return true;
}

struct model_file *model_file_load(struct arena *arena, struct bytes text,
                                   struct model_report *report)
{
    *report = (struct model_report){ 0 };
    struct model_file *file = arena_alloc_zeroed(arena, sizeof *file);
    struct model_reader reader = { .arena = arena, .file = file, .report = report };
    struct bytes failure;
    if (text.len > MODEL_FILE_SIZE_MAX) {
        model_reader_fail(&reader, NULL, "it is larger than %d MiB",
                          MODEL_FILE_SIZE_MAX / 1024 / 1024);
        return NULL;
    }
    /* Some editors begin a file with a mark of its encoding. */
    if (bytes_starts_with(text, BYTES("\xEF\xBB\xBF")))
        text = bytes_of(text.data + 3, text.len - 3);
    struct json_node *root = json_tree_parse(arena, text, &failure);
    if (root == NULL) {
        model_reader_fail(&reader, NULL, "%.*s", BYTES_FMT(failure));
        return NULL;
    }
    file->root = model_import(arena, root, report);
    if (file->root == NULL || !read_file(&reader)) {
        assert(report->failure.data != NULL);
        return NULL;
    }
    return file;
}

/* --- Saving --- */

struct bytes model_file_save(struct arena *arena, const struct model_file *file)
{
    struct json_node *root = json_tree_copy(arena, file->root);
    struct json_node *metadata = json_tree_member(root, "ModelMetadata");
    struct buffer out;
    if (metadata == NULL || metadata->type != JSON_OBJECT) {
        json_tree_set(arena, root, "ModelMetadata", json_tree_new(arena, JSON_OBJECT), "ModelName");
        metadata = json_tree_member(root, "ModelMetadata");
    }
    json_tree_set(arena, metadata, "AWSService",
                  json_tree_new_string(arena, BYTES("Amazon DynamoDB")), NULL);
    json_tree_set(arena, metadata, "Version",
                  json_tree_new_string(arena, BYTES(MODEL_FILE_VERSION)), NULL);
    struct json_node *tables = json_tree_member(root, "DataModel");
    for (struct json_node *table = tables->first; table != NULL; table = table->next) {
        if (json_tree_member(table, "BillingMode") == NULL)
            json_tree_set(arena, table, "BillingMode",
                          json_tree_new_string(arena, BYTES("PAY_PER_REQUEST")), NULL);
    }
    buffer_init(&out, arena);
    json_tree_write(&out, root);
    return buffer_bytes(&out);
}

/* --- Looking things up --- */

const struct model_table *model_file_table(const struct model_file *file, struct bytes name)
{
    for (size_t i = 0; i < file->table_count; i++) {
        if (bytes_equal(file->tables[i].name, name))
            return &file->tables[i];
    }
    return NULL;
}

static bool same_index(struct bytes a, struct bytes b)
{
    return (a.data == NULL) == (b.data == NULL) && (a.data == NULL || bytes_equal(a, b));
}

const struct model_index *model_table_index(const struct model_table *table, struct bytes name)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (same_index(table->indexes[i].name, name))
            return &table->indexes[i];
    }
    return NULL;
}

bool model_table_has_other_index(const struct model_table *table, struct bytes name)
{
    for (size_t i = 0; i < table->other_index_count; i++) {
        if (bytes_equal(table->other_indexes[i], name))
            return true;
    }
    return false;
}

const struct model_entity *model_file_entity(const struct model_file *file, struct bytes name)
{
    for (size_t i = 0; i < file->entity_count; i++) {
        if (bytes_equal(file->entities[i].name, name))
            return &file->entities[i];
    }
    return NULL;
}

const struct model_entity_key *model_entity_key(const struct model_entity *entity,
                                                struct bytes index)
{
    for (size_t i = 0; i < entity->key_count; i++) {
        if (same_index(entity->keys[i].index, index))
            return &entity->keys[i];
    }
    return NULL;
}

bool model_pattern_parameter(const void *context, struct bytes name, struct bytes *value)
{
    const struct model_pattern *pattern = context;
    const struct json_node *member = json_tree_member_bytes(pattern->parameters, name);
    if (member == NULL || (member->type != JSON_STRING && member->type != JSON_NUMBER))
        return false;
    *value = member->text;
    return true;
}
