/* model_import.c -- see model_import.h. Access patterns of AWS's MCP model are read in
 * model_command_line.c: they are commands of the AWS CLI. */
#include "schema/model_import.h"
#include <assert.h>
#include "base/arena.h"
#include "schema/json_tree.h"
#include "schema/model_command_line.h"
#include "schema/model_file.h"

static struct json_node *fail(struct arena *arena, struct model_report *report, const char *text,
                              struct bytes name)
{
    report->failure = arena_printf(arena, text, BYTES_FMT(name));
    return NULL;
}

/* False with the failure set if the list, which may be NULL, is longer. Asked before anything is
 * made of its elements, so that time and memory stay in proportion to the text. */
static bool check_count(struct arena *arena, const struct json_node *list, size_t count_max,
                        struct model_report *report)
{
    if (list == NULL || list->count <= count_max)
        return true;
    report->failure = arena_printf(arena, "%.*s: it has more than %zu elements",
                                   BYTES_FMT(json_tree_path(arena, list)), count_max);
    return false;
}

/* A new file without tables. */
static struct json_node *new_file(struct arena *arena, struct bytes name)
{
    struct json_node *root = json_tree_new(arena, JSON_OBJECT);
    struct json_node *metadata = json_tree_new(arena, JSON_OBJECT);
    json_tree_add_text(arena, root, "ModelName", name);
    json_tree_add(root, BYTES("ModelMetadata"), metadata);
    json_tree_add_text(arena, metadata, "AWSService", BYTES("Amazon DynamoDB"));
    json_tree_add_text(arena, metadata, "Version", BYTES(MODEL_FILE_VERSION));
    json_tree_add(root, BYTES("DataModel"), json_tree_new(arena, JSON_ARRAY));
    return root;
}

/* The list in the file's key "Stator", which is made if it is not there. */
static struct json_node *additions(struct arena *arena, struct json_node *root, const char *name)
{
    struct json_node *stator = json_tree_member(root, "Stator");
    if (stator == NULL) {
        stator = json_tree_new(arena, JSON_OBJECT);
        json_tree_add(root, BYTES("Stator"), stator);
    }
    struct json_node *list = json_tree_member(stator, name);
    if (list == NULL) {
        list = json_tree_new(arena, JSON_ARRAY);
        json_tree_add(stator, bytes_from_text(name), list);
    }
    return list;
}

/* A remnant of Workbench's, which its own files all have. */
static void add_data_access(struct arena *arena, struct json_node *table)
{
    struct json_node *access = json_tree_new(arena, JSON_OBJECT);
    json_tree_add(access, BYTES("MySql"), json_tree_new(arena, JSON_OBJECT));
    json_tree_add(table, BYTES("DataAccess"), access);
}

static struct json_node *new_attribute(struct arena *arena, struct bytes name, struct bytes type)
{
    struct json_node *attribute = json_tree_new(arena, JSON_OBJECT);
    json_tree_add_text(arena, attribute, "AttributeName", name);
    json_tree_add_text(arena, attribute, "AttributeType", type);
    return attribute;
}

/* --- CreateTable and DescribeTable --- */

static struct bytes attribute_type(const struct json_node *table, struct bytes name)
{
    const struct json_node *list = json_tree_member(table, "AttributeDefinitions");
    for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL;
         at = at->next) {
        if (bytes_equal(json_tree_string(at, "AttributeName"), name))
            return json_tree_string(at, "AttributeType");
    }
    return (struct bytes){ 0 };
}

/* Whether several attributes have one role. */
static bool has_wide_key(const struct json_node *holder)
{
    const struct json_node *schema = json_tree_member(holder, "KeySchema");
    size_t hashes = 0, ranges = 0;
    for (const struct json_node *at = schema == NULL ? NULL : schema->first; at != NULL;
         at = at->next) {
        if (bytes_equal_text(json_tree_string(at, "KeyType"), "HASH"))
            hashes++;
        else
            ranges++;
    }
    return hashes > 1 || ranges > 1;
}

/* KeySchema as KeyAttributes; NULL with the failure set. */
static struct json_node *convert_keys(struct arena *arena, const struct json_node *table,
                                      const struct json_node *holder, struct model_report *report)
{
    struct json_node *keys = json_tree_new(arena, JSON_OBJECT);
    const struct json_node *schema = json_tree_member(holder, "KeySchema");
    for (const struct json_node *at = schema == NULL ? NULL : schema->first; at != NULL;
         at = at->next) {
        struct bytes name = json_tree_string(at, "AttributeName");
        const char *role =
            bytes_equal_text(json_tree_string(at, "KeyType"), "HASH") ? "PartitionKey" : "SortKey";
        struct bytes type = attribute_type(table, name);
        if (name.data == NULL || type.data == NULL)
            return fail(arena, report, "the key attribute \"%.*s\" has no AttributeDefinition",
                        name);
        if (json_tree_member(keys, role) != NULL)
            return fail(arena, report,
                        "a key of several attributes (\"%.*s\") has no form in a model file", name);
        json_tree_add(keys, bytes_from_text(role), new_attribute(arena, name, type));
    }
    return keys;
}

static struct bytes billing_mode(const struct json_node *source)
{
    struct bytes mode = json_tree_string(source, "BillingMode");
    if (mode.data == NULL)
        mode = json_tree_string(json_tree_member(source, "BillingModeSummary"), "BillingMode");
    return mode.data == NULL ? BYTES("PROVISIONED") : mode; /* CreateTable's default. */
}

static bool is_provisioned(const struct json_node *source)
{
    return bytes_equal_text(billing_mode(source), "PROVISIONED");
}

/* What Workbench's form has no place for. Each is a list. */
struct table_additions {
    struct json_node *local_indexes;
    struct json_node *other_indexes; /* Those that a file names only. */
    struct json_node *index_throughput;
};

/* The units of a global index if they are not those of its table. */
static void add_throughput(struct arena *arena, const struct json_node *source,
                           const struct json_node *index, struct bytes name,
                           struct json_node *throughput)
{
    static const char *const names[] = { "ReadCapacityUnits", "WriteCapacityUnits" };
    const struct json_node *units = json_tree_member(index, "ProvisionedThroughput");
    const struct json_node *table_units = json_tree_member(source, "ProvisionedThroughput");
    struct json_node *own = json_tree_new(arena, JSON_OBJECT);
    json_tree_add_text(arena, own, "IndexName", name);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct json_node *value = json_tree_member(units, names[i]);
        const struct json_node *usual = json_tree_member(table_units, names[i]);
        if (value != NULL && (usual == NULL || !json_tree_equal(value, usual)))
            json_tree_add(own, bytes_from_text(names[i]), json_tree_copy(arena, value));
    }
    if (own->count > 1)
        json_tree_add(throughput, (struct bytes){ 0 }, own);
}

static bool convert_indexes(struct arena *arena, const struct json_node *source, const char *member,
                            bool is_local, struct json_node *indexes,
                            const struct table_additions *additions, struct model_report *report)
{
    const struct json_node *list = json_tree_member(source, member);
    if (!check_count(arena, list, MODEL_INDEXES_MAX - 1, report))
        return false;
    for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL;
         at = at->next) {
        struct bytes name = json_tree_string(at, "IndexName");
        if (!is_local && name.data != NULL && has_wide_key(at)) {
            model_report_add_at(arena, report, at,
                                BYTES("an index whose key has several attributes has no form in a "
                                      "model file, and is left out but for its name"));
            json_tree_add(additions->other_indexes, (struct bytes){ 0 },
                          json_tree_new_string(arena, name));
            continue;
        }
        struct json_node *index = json_tree_new(arena, JSON_OBJECT);
        struct json_node *keys = convert_keys(arena, source, at, report);
        const struct json_node *projection = json_tree_member(at, "Projection");
        if (keys == NULL)
            return false;
        json_tree_add_text(arena, index, "IndexName", name.data == NULL ? BYTES("") : name);
        json_tree_add(index, BYTES("KeyAttributes"), keys);
        if (projection != NULL)
            json_tree_add(index, BYTES("Projection"), json_tree_copy(arena, projection));
        json_tree_add(indexes, (struct bytes){ 0 }, index);
        if (is_local && name.data != NULL)
            json_tree_add(additions->local_indexes, (struct bytes){ 0 },
                          json_tree_new_string(arena, name));
        else if (name.data != NULL && is_provisioned(source))
            add_throughput(arena, source, at, name, additions->index_throughput);
    }
    return true;
}

static void convert_billing(struct arena *arena, const struct json_node *source,
                            struct json_node *table)
{
    struct bytes mode = billing_mode(source);
    const struct json_node *throughput = json_tree_member(source, "ProvisionedThroughput");
    json_tree_add_text(arena, table, "BillingMode", mode);
    if (!is_provisioned(source) || throughput == NULL)
        return;
    struct json_node *settings = json_tree_new(arena, JSON_OBJECT);
    struct json_node *units = json_tree_new(arena, JSON_OBJECT);
    const char *const names[] = { "ReadCapacityUnits", "WriteCapacityUnits" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct json_node *value = json_tree_member(throughput, names[i]);
        if (value != NULL)
            json_tree_add(units, bytes_from_text(names[i]), json_tree_copy(arena, value));
    }
    json_tree_add(settings, BYTES("ProvisionedThroughput"), units);
    json_tree_add(table, BYTES("ProvisionedCapacitySettings"), settings);
}

/* The attribute of an enabled TimeToLiveSpecification, which templates have beside CreateTable's
 * members, and `stator model` adds to what a server tells; data NULL: none. */
static struct bytes time_to_live(const struct json_node *source)
{
    const struct json_node *ttl = json_tree_member(source, "TimeToLiveSpecification");
    const struct json_node *enabled = json_tree_member(ttl, "Enabled");
    bool is_enabled = enabled != NULL && enabled->type == JSON_BOOL && enabled->boolean;
    return is_enabled ? json_tree_string(ttl, "AttributeName") : (struct bytes){ 0 };
}

static void add_additions(struct arena *arena, struct json_node *root, struct bytes table,
                          struct bytes ttl, const struct table_additions *lists)
{
    const struct {
        const char *name;
        struct json_node *list;
    } members[] = { { "LocalIndexes", lists->local_indexes },
                    { "OtherIndexes", lists->other_indexes },
                    { "IndexThroughput", lists->index_throughput } };
    struct json_node *addition = json_tree_new(arena, JSON_OBJECT);
    json_tree_add_text(arena, addition, "TableName", table);
    if (ttl.data != NULL)
        json_tree_add_text(arena, addition, "TimeToLive", ttl);
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        if (members[i].list->count > 0)
            json_tree_add(addition, bytes_from_text(members[i].name), members[i].list);
    }
    if (addition->count > 1)
        json_tree_add(additions(arena, root, "Tables"), (struct bytes){ 0 }, addition);
}

/* Adds the table to the file. NULL with the failure set. */
static struct json_node *convert_table(struct arena *arena, const struct json_node *source,
                                       struct json_node *root, struct model_report *report)
{
    struct json_node *table = json_tree_new(arena, JSON_OBJECT);
    struct json_node *indexes = json_tree_new(arena, JSON_ARRAY);
    const struct table_additions lists = { json_tree_new(arena, JSON_ARRAY),
                                           json_tree_new(arena, JSON_ARRAY),
                                           json_tree_new(arena, JSON_ARRAY) };
    struct bytes name = json_tree_string(source, "TableName");
    struct json_node *keys = convert_keys(arena, source, source, report);
    if (keys == NULL ||
        !convert_indexes(arena, source, "GlobalSecondaryIndexes", false, indexes, &lists, report) ||
        !convert_indexes(arena, source, "LocalSecondaryIndexes", true, indexes, &lists, report))
        return NULL;
    json_tree_add_text(arena, table, "TableName", name.data == NULL ? BYTES("") : name);
    json_tree_add(table, BYTES("KeyAttributes"), keys);
    json_tree_add(table, BYTES("NonKeyAttributes"), json_tree_new(arena, JSON_ARRAY));
    json_tree_add(table, BYTES("GlobalSecondaryIndexes"), indexes);
    json_tree_add(table, BYTES("TableData"), json_tree_new(arena, JSON_ARRAY));
    add_data_access(arena, table);
    convert_billing(arena, source, table);
    json_tree_add(json_tree_member(root, "DataModel"), (struct bytes){ 0 }, table);
    if (name.data != NULL)
        add_additions(arena, root, name, time_to_live(source), &lists);
    return table;
}

/* --- AWS's MCP server --- */

static void convert_items(struct arena *arena, const struct json_node *requests,
                          struct json_node *table)
{
    struct json_node *rows = json_tree_member(table, "TableData");
    for (const struct json_node *at = requests == NULL ? NULL : requests->first; at != NULL;
         at = at->next) {
        const struct json_node *put = json_tree_member(at, "PutRequest");
        const struct json_node *item = json_tree_member(put == NULL ? at : put, "Item");
        if (item != NULL)
            json_tree_add(rows, (struct bytes){ 0 }, json_tree_copy(arena, item));
    }
}

static bool has_table(const struct json_node *root, struct bytes name)
{
    const struct json_node *tables = json_tree_member(root, "DataModel");
    for (const struct json_node *at = tables->first; at != NULL; at = at->next) {
        if (bytes_equal(json_tree_string(at, "TableName"), name))
            return true;
    }
    return false;
}

static struct json_node *import_mcp(struct arena *arena, const struct json_node *source,
                                    struct model_report *report)
{
    struct json_node *root = new_file(arena, BYTES("Imported model"));
    const struct json_node *tables = json_tree_member(source, "tables");
    const struct json_node *items = json_tree_member(source, "items");
    const struct json_node *patterns = json_tree_member(source, "access_patterns");
    report->format = BYTES("the data model of AWS's MCP server");
    if (!check_count(arena, tables, MODEL_TABLES_MAX, report) ||
        !check_count(arena, patterns, MODEL_PATTERNS_MAX, report))
        return NULL;
    for (const struct json_node *at = tables->first; at != NULL; at = at->next) {
        struct bytes name = json_tree_string(at, "TableName");
        if (name.data != NULL && has_table(root, name)) /* Each would get a copy of the items. */
            return fail(arena, report, "there are two tables of the name %.*s", name);
        struct json_node *table = convert_table(arena, at, root, report);
        if (table == NULL)
            return NULL;
        if (name.data != NULL)
            convert_items(arena, json_tree_member_bytes(items, name), table);
    }
    for (const struct json_node *at = patterns == NULL ? NULL : patterns->first; at != NULL;
         at = at->next) {
        struct bytes why;
        struct json_node *pattern = model_command_line_pattern(arena, at, root, &why);
        if (pattern != NULL)
            json_tree_add(additions(arena, root, "Patterns"), (struct bytes){ 0 }, pattern);
        else
            model_report_add_at(arena, report, at, why);
    }
    return root;
}

/* --- OneTable --- */

/* "string" and the like as types of ours; data NULL: more than one is possible. */
static struct bytes onetable_type(struct bytes type)
{
    static const struct {
        const char *theirs, *ours;
    } types[] = { { "string", "S" },     { "number", "N" }, { "boolean", "BOOL" },
                  { "buffer", "B" },     { "binary", "B" }, { "array", "L" },
                  { "object", "M" },     { "String", "S" }, { "Number", "N" },
                  { "Boolean", "BOOL" }, { "Array", "L" },  { "Object", "M" } };
    for (size_t i = 0; type.data != NULL && i < COUNT_OF(types); i++) {
        if (bytes_equal_text(type, types[i].theirs))
            return bytes_from_text(types[i].ours);
    }
    return (struct bytes){ 0 };
}

static const struct json_node *onetable_index(const struct json_node *schema, const char *name)
{
    return json_tree_member(json_tree_member(schema, "indexes"), name);
}

/* The template of an attribute of a model, which is one parameter if the schema has none. */
static struct bytes onetable_template(struct arena *arena, const struct json_node *model,
                                      struct bytes attribute)
{
    const struct json_node *field = json_tree_member_bytes(model, attribute);
    struct bytes value = json_tree_string(field, "value");
    if (field == NULL)
        return (struct bytes){ 0 };
    return value.data != NULL ? value : arena_printf(arena, "<%.*s>", BYTES_FMT(attribute));
}

static void add_onetable_key(struct arena *arena, const struct json_node *model,
                             const struct json_node *index, struct json_node *keys)
{
    struct bytes hash = json_tree_string(index, "hash"), sort = json_tree_string(index, "sort");
    bool primary = bytes_equal_text(index->name, "primary");
    struct bytes hash_template = hash.data == NULL ? hash : onetable_template(arena, model, hash);
    struct bytes sort_template = sort.data == NULL ? sort : onetable_template(arena, model, sort);
    if (hash_template.data == NULL)
        return;
    struct json_node *key = json_tree_new(arena, JSON_OBJECT);
    if (!primary)
        json_tree_add_text(arena, key, "Index", index->name);
    json_tree_add_text(arena, key, "PartitionKey", hash_template);
    if (sort_template.data != NULL)
        json_tree_add_text(arena, key, "SortKey", sort_template);
    json_tree_add(keys, (struct bytes){ 0 }, key);
}

static struct json_node *onetable_entity(struct arena *arena, const struct json_node *indexes,
                                         struct bytes type_field, const struct json_node *model,
                                         struct bytes table)
{
    struct json_node *entity = json_tree_new(arena, JSON_OBJECT);
    struct json_node *discriminator = json_tree_new(arena, JSON_OBJECT);
    struct json_node *keys = json_tree_new(arena, JSON_ARRAY);
    struct json_node *attributes = json_tree_new(arena, JSON_ARRAY);
    json_tree_add_text(arena, entity, "Name", model->name);
    json_tree_add_text(arena, entity, "Table", table);
    json_tree_add_text(arena, discriminator, "Attribute",
                       type_field.data == NULL ? BYTES("_type") : type_field);
    json_tree_add_text(arena, discriminator, "Value", model->name);
    json_tree_add(entity, BYTES("Discriminator"), discriminator);
    for (const struct json_node *index = indexes->first; index != NULL; index = index->next)
        add_onetable_key(arena, model, index, keys);
    json_tree_add(entity, BYTES("Keys"), keys);
    for (const struct json_node *field = model->first; field != NULL; field = field->next) {
        struct bytes type = onetable_type(json_tree_string(field, "type"));
        const struct json_node *required = json_tree_member(field, "required");
        struct json_node *attribute = json_tree_new(arena, JSON_OBJECT);
        if (json_tree_string(field, "value").data != NULL)
            continue; /* A key, or computed. */
        json_tree_add_text(arena, attribute, "Name", field->name);
        if (type.data != NULL)
            json_tree_add_text(arena, attribute, "Type", type);
        if (required != NULL && required->type == JSON_BOOL && required->boolean)
            json_tree_add(attribute, BYTES("Required"), json_tree_copy(arena, required));
        json_tree_add(attributes, (struct bytes){ 0 }, attribute);
    }
    json_tree_add(entity, BYTES("Attributes"), attributes);
    return entity;
}

static bool is_onetable(const struct json_node *schema)
{
    const struct json_node *models = json_tree_member(schema, "models");
    const struct json_node *indexes = json_tree_member(schema, "indexes");
    return models != NULL && models->type == JSON_OBJECT && indexes != NULL &&
           indexes->type == JSON_OBJECT &&
           json_tree_string(onetable_index(schema, "primary"), "hash").data != NULL;
}

bool model_import_onetable_entities(struct arena *arena, const struct json_node *schema,
                                    struct bytes table, struct json_node *entities)
{
    if (schema == NULL || !is_onetable(schema))
        return true;
    const struct json_node *indexes = json_tree_member(schema, "indexes");
    struct bytes type_field = json_tree_string(json_tree_member(schema, "params"), "typeField");
    if (indexes->count > MODEL_INDEXES_MAX)
        return false;
    for (const struct json_node *model = json_tree_member(schema, "models")->first; model != NULL;
         model = model->next) {
        if (model->type == JSON_OBJECT && entities->count < MODEL_ENTITIES_MAX)
            json_tree_add(entities, (struct bytes){ 0 },
                          onetable_entity(arena, indexes, type_field, model, table));
    }
    return true;
}

/* --- The browser modeller's MapFunction --- */

/* The entity of that name and table, which is made if it is not there; NULL: there are too many. */
static struct json_node *mapped_entity(struct arena *arena, struct json_node *entities,
                                       struct bytes table, struct bytes name)
{
    for (struct json_node *at = entities->first; at != NULL; at = at->next) {
        if (bytes_equal(json_tree_string(at, "Name"), name) &&
            bytes_equal(json_tree_string(at, "Table"), table))
            return at;
    }
    if (entities->count >= MODEL_ENTITIES_MAX)
        return NULL;
    struct json_node *entity = json_tree_new(arena, JSON_OBJECT);
    json_tree_add_text(arena, entity, "Name", name);
    json_tree_add_text(arena, entity, "Table", table);
    json_tree_add(entity, BYTES("Keys"), json_tree_new(arena, JSON_ARRAY));
    json_tree_add(entities, (struct bytes){ 0 }, entity);
    return entity;
}

/* Of one key attribute. Those of one index follow each other, so its key is the entity's last. */
static void add_mapped(struct arena *arena, const struct json_node *map, const char *role,
                       struct bytes table, struct bytes index, struct json_node *entities)
{
    if (map == NULL || map->type != JSON_OBJECT)
        return;
    for (const struct json_node *at = map->first; at != NULL; at = at->next) {
        struct json_node *entity =
            at->type == JSON_STRING ? mapped_entity(arena, entities, table, at->name) : NULL;
        if (entity == NULL)
            continue;
        struct json_node *keys = json_tree_member(entity, "Keys");
        struct bytes last = json_tree_string(keys->last, "Index");
        bool same = keys->last != NULL &&
                    (index.data == NULL ? last.data == NULL : bytes_equal(last, index));
        if (!same) {
            struct json_node *key = json_tree_new(arena, JSON_OBJECT);
            if (index.data != NULL)
                json_tree_add_text(arena, key, "Index", index);
            json_tree_add(keys, (struct bytes){ 0 }, key);
        }
        json_tree_set(arena, keys->last, role, json_tree_new_string(arena, at->text), NULL);
    }
}

static void add_mapped_keys(struct arena *arena, const struct json_node *holder, struct bytes table,
                            struct bytes index, struct json_node *entities)
{
    static const char *const roles[] = { "PartitionKey", "SortKey" };
    const struct json_node *keys = json_tree_member(holder, "KeyAttributes");
    for (size_t i = 0; i < COUNT_OF(roles); i++)
        add_mapped(arena, json_tree_member(json_tree_member(keys, roles[i]), "MapFunction"),
                   roles[i], table, index, entities);
}

void model_import_map_functions(struct arena *arena, const struct json_node *table,
                                struct json_node *entities)
{
    struct bytes name = json_tree_string(table, "TableName");
    const struct json_node *list = json_tree_member(table, "GlobalSecondaryIndexes");
    add_mapped_keys(arena, table, name, (struct bytes){ 0 }, entities);
    for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL; at = at->next)
        add_mapped_keys(arena, at, name, json_tree_string(at, "IndexName"), entities);
}

/* --- A schema's tables --- */

/* The type of a key attribute: that of the first model that has it. */
static struct bytes onetable_key_type(const struct json_node *schema, struct bytes attribute)
{
    for (const struct json_node *model = json_tree_member(schema, "models")->first; model != NULL;
         model = model->next) {
        struct bytes type =
            onetable_type(json_tree_string(json_tree_member_bytes(model, attribute), "type"));
        if (type.data != NULL && type.len == 1 && type.data[0] != 'L' && type.data[0] != 'M')
            return type;
    }
    return BYTES("S");
}

static struct json_node *onetable_keys(struct arena *arena, const struct json_node *schema,
                                       const struct json_node *index)
{
    struct json_node *keys = json_tree_new(arena, JSON_OBJECT);
    struct bytes hash = json_tree_string(index, "hash"), sort = json_tree_string(index, "sort");
    if (hash.data != NULL)
        json_tree_add(keys, BYTES("PartitionKey"),
                      new_attribute(arena, hash, onetable_key_type(schema, hash)));
    if (sort.data != NULL)
        json_tree_add(keys, BYTES("SortKey"),
                      new_attribute(arena, sort, onetable_key_type(schema, sort)));
    return keys;
}

static struct json_node *onetable_projection(struct arena *arena, const struct json_node *index)
{
    struct json_node *projection = json_tree_new(arena, JSON_OBJECT);
    const struct json_node *project = json_tree_member(index, "project");
    bool listed = project != NULL && project->type == JSON_ARRAY;
    bool keys =
        project != NULL && project->type == JSON_STRING && bytes_equal_text(project->text, "keys");
    json_tree_add_text(arena, projection, "ProjectionType",
                       listed ? BYTES("INCLUDE")
                       : keys ? BYTES("KEYS_ONLY")
                              : BYTES("ALL"));
    if (listed)
        json_tree_add(projection, BYTES("NonKeyAttributes"), json_tree_copy(arena, project));
    return projection;
}

static struct json_node *import_onetable(struct arena *arena, const struct json_node *schema,
                                         struct model_report *report)
{
    const struct bytes table_name = BYTES("OneTable");
    struct json_node *root = new_file(arena, table_name);
    struct json_node *table = json_tree_new(arena, JSON_OBJECT);
    struct json_node *list = json_tree_new(arena, JSON_ARRAY);
    const struct json_node *indexes = json_tree_member(schema, "indexes");
    report->format = BYTES("a schema of dynamodb-onetable");
    if (!check_count(arena, indexes, MODEL_INDEXES_MAX, report) ||
        !check_count(arena, json_tree_member(schema, "models"), MODEL_ENTITIES_MAX, report))
        return NULL;
    for (const struct json_node *index = indexes->first; index != NULL; index = index->next) {
        if (bytes_equal_text(index->name, "primary"))
            continue;
        struct json_node *converted = json_tree_new(arena, JSON_OBJECT);
        json_tree_add_text(arena, converted, "IndexName", index->name);
        json_tree_add(converted, BYTES("KeyAttributes"), onetable_keys(arena, schema, index));
        json_tree_add(converted, BYTES("Projection"), onetable_projection(arena, index));
        json_tree_add(list, (struct bytes){ 0 }, converted);
    }
    json_tree_add_text(arena, table, "TableName", table_name);
    json_tree_add(table, BYTES("KeyAttributes"),
                  onetable_keys(arena, schema, onetable_index(schema, "primary")));
    json_tree_add(table, BYTES("NonKeyAttributes"), json_tree_new(arena, JSON_ARRAY));
    json_tree_add(table, BYTES("GlobalSecondaryIndexes"), list);
    json_tree_add(table, BYTES("TableData"), json_tree_new(arena, JSON_ARRAY));
    add_data_access(arena, table);
    json_tree_add_text(arena, table, "BillingMode", BYTES("PAY_PER_REQUEST"));
    json_tree_add(json_tree_member(root, "DataModel"), (struct bytes){ 0 }, table);
    struct json_node *entities = additions(arena, root, "Entities");
    bool ok = model_import_onetable_entities(arena, schema, table_name, entities);
    assert(ok); /* The indexes were counted above. */
    (void)ok;
    return root;
}

/* --- Which one it is --- */

struct json_node *model_import(struct arena *arena, struct json_node *root,
                               struct model_report *report)
{
    const struct json_node *tables = json_tree_member(root, "tables");
    const struct json_node *described = json_tree_member(root, "Table");
    if (root->type != JSON_OBJECT)
        return fail(arena, report, "the file is not a JSON object%.*s", BYTES(""));
    if (json_tree_member(root, "DataModel") != NULL) {
        struct bytes version = json_tree_string(json_tree_member(root, "ModelMetadata"), "Version");
        report->format =
            arena_printf(arena, "NoSQL Workbench %.*s",
                         BYTES_FMT(version.data == NULL ? BYTES("without a version") : version));
        return root;
    }
    if (tables != NULL && tables->type == JSON_ARRAY)
        return import_mcp(arena, root, report);
    if (is_onetable(root))
        return import_onetable(arena, root, report);
    if (json_tree_member(described, "KeySchema") != NULL)
        root = json_tree_member(root, "Table");
    if (json_tree_member(root, "KeySchema") != NULL) {
        struct bytes name = json_tree_string(root, "TableName");
        struct json_node *file = new_file(arena, name.data == NULL ? BYTES("") : name);
        report->format = BYTES("a table's definition");
        return convert_table(arena, root, file, report) == NULL ? NULL : file;
    }
    return fail(arena, report,
                "the file is no model: it has neither DataModel (NoSQL Workbench), tables (AWS's "
                "MCP server), models and indexes (OneTable) nor KeySchema (a table)%.*s",
                BYTES(""));
}
