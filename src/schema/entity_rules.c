/* entity_rules.c -- see entity_rules.h. */
#include "schema/entity_rules.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "schema/json_tree.h"
#include "schema/model_import.h"
#include "schema/model_parts.h"
#include "schema/template_work.h"

/* What an entity asks of an attribute. */
struct demand {
    struct bytes name;
    bool required;
    bool has_type;
    enum value_type type;
    const struct key_template *template; /* Of a key of an index; NULL: none. */
};

struct entity {
    struct bytes name;
    const struct key_template *hash; /* NULL: any, also where the key is no text. */
    const struct key_template *range;
    struct bytes discriminator; /* data NULL: none. */
    struct bytes discriminator_value;
    const struct demand *demands; /* Sorted by name. */
    size_t demand_count;
};

/* What some entity asks of an attribute. */
struct asked {
    struct bytes name;
    const struct demand *demand; /* NULL: the entity's discriminator. */
    size_t entity;               /* Index into the entities. */
};

struct entity_rules {
    struct bytes hash_name;
    struct bytes range_name; /* data NULL: none. */
    const struct entity *entities;
    size_t entity_count;       /* At most MODEL_ENTITIES_MAX. */
    const struct asked *asked; /* By all entities, sorted by name; those of one in its order. */
    size_t asked_count;
};

const char *entity_rule_name(enum entity_rule rule)
{
    static const char *const names[ENTITY_RULE_COUNT] = {
        [ENTITY_RULE_NONE] = "None",         [ENTITY_RULE_KEY] = "Key",
        [ENTITY_RULE_REQUIRED] = "Required", [ENTITY_RULE_DISCRIMINATOR] = "Discriminator",
        [ENTITY_RULE_TYPE] = "Type",         [ENTITY_RULE_INDEX_KEY] = "IndexKey",
    };
    assert(rule < ENTITY_RULE_COUNT);
    return names[rule];
}

struct bytes entity_violation_text(struct arena *arena, const struct entity_violation *violation)
{
    static const char *const texts[ENTITY_RULE_COUNT] = {
        [ENTITY_RULE_DISCRIMINATOR] = "is not \"%.*s\"",
        [ENTITY_RULE_REQUIRED] = "is missing%.*s",
        [ENTITY_RULE_TYPE] = "is not of type %.*s",
        [ENTITY_RULE_INDEX_KEY] = "does not follow the template %.*s",
    };
    if (violation->rule == ENTITY_RULE_KEY)
        return BYTES("rule Key: the key follows the templates of no entity");
    assert(texts[violation->rule] != NULL);
    const struct bytes parts[] = {
        arena_printf(arena, "entity %.*s, rule %s: the attribute %.*s ",
                     BYTES_FMT(violation->entity), entity_rule_name(violation->rule),
                     BYTES_FMT(violation->attribute)),
        arena_printf(arena, texts[violation->rule], BYTES_FMT(violation->expected)),
    };
    return arena_join(arena, parts, 2);
}

/* --- Attributes and keys --- */

/* The first attributes of an item, opened once for all that looks at them. */
enum { VIEW_ATTRIBUTES_MAX = 32 };
struct view {
    const struct item *item;
    size_t count;
    struct bytes names[VIEW_ATTRIBUTES_MAX];
    struct value values[VIEW_ATTRIBUTES_MAX];
    bool has_more;
};

static void view_open(struct view *view, const struct item *item)
{
    struct item_iter iter;
    view->item = item;
    view->count = 0;
    item_iter_init(&iter, item);
    while (view->count < VIEW_ATTRIBUTES_MAX &&
           item_iter_next(&iter, &view->names[view->count], &view->values[view->count]))
        view->count++;
    view->has_more = item->count > view->count;
}

/* NULL: the item has none. `room` is for one that was not opened. */
static const struct value *view_find(const struct view *view, struct bytes name, struct value *room)
{
    for (size_t i = 0; i < view->count; i++) {
        if (view->names[i].len == name.len && view->names[i].data[0] == name.data[0] &&
            memcmp(view->names[i].data, name.data, name.len) == 0)
            return &view->values[i];
    }
    return view->has_more && item_find(view->item, name, room) ? room : NULL;
}

/* Most templates of other entities differ in size or in the first byte. */
static bool follows(const struct key_template *template, const struct value *value)
{
    if (template == NULL)
        return true;
    struct bytes text = template->parts[0].text;
    return value->data.len >= template->size_min &&
           (text.len == 0 || value->data.data[0] == text.data[0]) &&
           key_template_matches(template, value->data);
}

static bool is_discriminator(const struct entity *entity, const struct value *value)
{
    return value != NULL && value->type == VALUE_S &&
           bytes_equal(value->data, entity->discriminator_value);
}

static bool has_discriminator(const struct entity *entity, const struct view *view)
{
    struct value room;
    return entity->discriminator.data == NULL ||
           is_discriminator(entity, view_find(view, entity->discriminator, &room));
}

struct item_key {
    const struct value *hash;
    const struct value *range; /* NULL: the table has none. */
    struct value room[2];
};

static bool find_key(const struct entity_rules *rules, const struct view *view,
                     struct item_key *key)
{
    key->hash = view_find(view, rules->hash_name, &key->room[0]);
    key->range = NULL;
    if (rules->range_name.data != NULL)
        key->range = view_find(view, rules->range_name, &key->room[1]);
    return key->hash != NULL && (key->range != NULL || rules->range_name.data == NULL);
}

static bool has_key(const struct entity *entity, const struct item_key *key)
{
    return follows(entity->hash, key->hash) &&
           (key->range == NULL || follows(entity->range, key->range));
}

/* --- Checking --- */

/* How an item stands to an entity whose key it has. */
struct standing {
    bool lacks_discriminator;
    const struct demand *broken; /* The first one by name; NULL: none. */
    enum entity_rule rule;       /* The one of `broken`. */
};

static bool is_satisfied(const struct standing *standing)
{
    return !standing->lacks_discriminator && standing->broken == NULL;
}

/* The rule that an attribute breaks; `value` is NULL if the item has none. */
static enum entity_rule check_demand(const struct demand *demand, const struct value *value)
{
    if (value == NULL)
        return demand->required ? ENTITY_RULE_REQUIRED : ENTITY_RULE_NONE;
    if (demand->has_type && value->type != demand->type)
        return ENTITY_RULE_TYPE;
    /* A key of an index has the index's type, or the write is refused for that. */
    if (demand->template != NULL && value->type == VALUE_S &&
        !key_template_matches(demand->template, value->data))
        return ENTITY_RULE_INDEX_KEY;
    return ENTITY_RULE_NONE;
}

static struct bytes expected_of(const struct demand *demand, enum entity_rule rule)
{
    if (rule == ENTITY_RULE_TYPE)
        return bytes_from_text(value_type_name(demand->type));
    return rule == ENTITY_RULE_INDEX_KEY ? demand->template->source : BYTES("");
}

static struct entity_violation violation_of(const struct entity *entity,
                                            const struct standing *standing)
{
    if (standing->lacks_discriminator)
        return (struct entity_violation){ .rule = ENTITY_RULE_DISCRIMINATOR,
                                          .entity = entity->name,
                                          .attribute = entity->discriminator,
                                          .expected = entity->discriminator_value };
    return (struct entity_violation){ .rule = standing->rule,
                                      .entity = entity->name,
                                      .attribute = standing->broken->name,
                                      .expected = expected_of(standing->broken, standing->rule) };
}

/* Of several entities that the item could be one of, the first whose discriminator it has is
 * meant; otherwise the first one. */
static void note_violation(const struct entity *entity, const struct standing *standing,
                           struct entity_violation *found)
{
    if (found->rule == ENTITY_RULE_KEY ||
        (found->rule == ENTITY_RULE_DISCRIMINATOR && !standing->lacks_discriminator))
        *found = violation_of(entity, standing);
}

/* The view has the whole item. One walk over its attributes and the entity's demands. */
static struct standing judge(const struct entity *entity, const struct view *view)
{
    struct standing standing = { .lacks_discriminator = !has_discriminator(entity, view) };
    size_t at = 0;
    for (size_t i = 0; i < entity->demand_count && is_satisfied(&standing); i++) {
        const struct demand *demand = &entity->demands[i];
        while (at < view->count && value_compare_names(view->names[at], demand->name) < 0)
            at++;
        bool has = at < view->count && bytes_equal(view->names[at], demand->name);
        standing.rule = check_demand(demand, has ? &view->values[at] : NULL);
        if (standing.rule != ENTITY_RULE_NONE)
            standing.broken = demand;
    }
    return standing;
}

/* Judges an item of many attributes by all entities in one walk over them: `standings` has one for
 * each, and `is_possible` says which of them count. */
static void judge_together(const struct entity_rules *rules, const struct item *item,
                           const bool *is_possible, struct standing *standings)
{
    struct item_iter iter;
    struct bytes name = { 0 };
    struct value value;
    item_iter_init(&iter, item);
    bool more = item_iter_next(&iter, &name, &value);
    for (size_t i = 0; i < rules->asked_count; i++) {
        const struct asked *asked = &rules->asked[i];
        struct standing *standing = &standings[asked->entity];
        if (!is_possible[asked->entity] || (asked->demand != NULL && standing->broken != NULL))
            continue;
        while (more && value_compare_names(name, asked->name) < 0)
            more = item_iter_next(&iter, &name, &value);
        const struct value *found = more && bytes_equal(name, asked->name) ? &value : NULL;
        if (asked->demand == NULL) {
            standing->lacks_discriminator =
                !is_discriminator(&rules->entities[asked->entity], found);
            continue;
        }
        standing->rule = check_demand(asked->demand, found);
        if (standing->rule != ENTITY_RULE_NONE)
            standing->broken = asked->demand;
    }
}

/* Whether an item that has more attributes than a view follows the model. */
static bool check_large(const struct entity_rules *rules, const struct item *item,
                        const struct item_key *key, struct entity_violation *found)
{
    struct standing standings[MODEL_ENTITIES_MAX];
    bool is_possible[MODEL_ENTITIES_MAX];
    bool any = false;
    for (size_t i = 0; i < rules->entity_count; i++) {
        is_possible[i] = has_key(&rules->entities[i], key);
        any = any || is_possible[i];
        standings[i] = (struct standing){ .broken = NULL };
    }
    if (!any)
        return false;
    judge_together(rules, item, is_possible, standings);
    for (size_t i = 0; i < rules->entity_count; i++) {
        if (!is_possible[i])
            continue;
        if (is_satisfied(&standings[i]))
            return true;
        note_violation(&rules->entities[i], &standings[i], found);
    }
    return false;
}

static bool check_small(const struct entity_rules *rules, const struct view *view,
                        const struct item_key *key, struct entity_violation *found)
{
    for (size_t i = 0; i < rules->entity_count; i++) {
        const struct entity *entity = &rules->entities[i];
        if (!has_key(entity, key))
            continue;
        struct standing standing = judge(entity, view);
        if (is_satisfied(&standing))
            return true;
        note_violation(entity, &standing, found);
    }
    return false;
}

bool entity_rules_check(const struct entity_rules *rules, const struct item *item,
                        struct entity_violation *violation)
{
    struct item_key key;
    struct view view;
    struct entity_violation found = {
        .rule = ENTITY_RULE_KEY, .entity = BYTES(""), .attribute = BYTES(""), .expected = BYTES("")
    };
    view_open(&view, item);
    if (find_key(rules, &view, &key) && (view.has_more ? check_large(rules, item, &key, &found)
                                                       : check_small(rules, &view, &key, &found)))
        return true;
    *violation = found;
    return false;
}

struct bytes entity_rules_classify(const struct entity_rules *rules, const struct item *item)
{
    struct item_key key;
    struct view view;
    view_open(&view, item);
    bool has_keys = find_key(rules, &view, &key);
    for (size_t i = 0; has_keys && i < rules->entity_count; i++) {
        const struct entity *entity = &rules->entities[i];
        if (has_key(entity, &key) && has_discriminator(entity, &view))
            return entity->name;
    }
    return (struct bytes){ 0 };
}

size_t entity_rules_entity_count(const struct entity_rules *rules)
{
    return rules->entity_count;
}

/* --- Compiling --- */

static const struct key_template *copy_template(struct arena *arena,
                                                const struct key_template *template)
{
    struct key_template *copy = arena_alloc(arena, sizeof *copy);
    struct bytes failure;
    bool parsed = key_template_parse(arena, arena_copy(arena, template->source), copy, &failure);
    assert(parsed); /* It was parsed before. */
    (void)parsed;
    return copy;
}

static int compare_demands(const void *a, const void *b)
{
    const struct demand *left = a, *right = b;
    int order = bytes_compare(left->name, right->name);
    if (order != 0)
        return order;
    /* Types first, so that the reported violation does not depend on the order. */
    if (left->template == NULL || right->template == NULL)
        return (left->template != NULL) - (right->template != NULL);
    return bytes_compare(left->template->source, right->template->source);
}

static void add_template(struct arena *arena, const struct key_attribute *key,
                         const struct key_template *template, struct demand *demands, size_t *count)
{
    if (key->type != VALUE_S)
        return; /* One parameter, which takes every value. */
    demands[(*count)++] = (struct demand){ .name = arena_copy(arena, key->name),
                                           .template = copy_template(arena, template) };
}

static void compile_entity(struct arena *arena, const struct model_table *table,
                           const struct model_entity *source, struct entity *out)
{
    struct demand *demands =
        arena_alloc(arena, (source->attribute_count + 2 * source->key_count + 1) * sizeof *demands);
    size_t count = 0;
    *out = (struct entity){ .name = arena_copy(arena, source->name) };
    if (source->discriminator.data != NULL) {
        out->discriminator = arena_copy(arena, source->discriminator);
        out->discriminator_value = arena_copy(arena, source->discriminator_value);
    }
    for (size_t i = 0; i < source->attribute_count; i++) {
        const struct model_attribute *attribute = &source->attributes[i];
        demands[count++] = (struct demand){ .name = arena_copy(arena, attribute->name),
                                            .required = attribute->required,
                                            .has_type = attribute->has_type,
                                            .type = attribute->type };
    }
    for (size_t i = 0; i < source->key_count; i++) {
        const struct model_entity_key *key = &source->keys[i];
        const struct model_index *index = model_table_index(table, key->index);
        assert(index != NULL);
        if (key->index.data != NULL) {
            if (key->has_hash)
                add_template(arena, &index->hash, &key->hash, demands, &count);
            if (key->has_range)
                add_template(arena, &index->range, &key->range, demands, &count);
            continue;
        }
        if (key->has_hash && index->hash.type == VALUE_S)
            out->hash = copy_template(arena, &key->hash);
        if (key->has_range && index->range.type == VALUE_S)
            out->range = copy_template(arena, &key->range);
    }
    qsort(demands, count, sizeof *demands, compare_demands);
    out->demands = demands;
    out->demand_count = count;
}

static int compare_asked(const void *a, const void *b)
{
    const struct asked *left = a, *right = b;
    int order = value_compare_names(left->name, right->name);
    if (order != 0)
        return order;
    if (left->entity != right->entity)
        return left->entity < right->entity ? -1 : 1;
    /* Demands of one entity are an array, which has their order. */
    if (left->demand == NULL || right->demand == NULL)
        return (left->demand != NULL) - (right->demand != NULL);
    return (left->demand > right->demand) - (left->demand < right->demand);
}

static void collect_asked(struct arena *arena, struct entity_rules *rules)
{
    size_t room = 0, count = 0;
    for (size_t i = 0; i < rules->entity_count; i++)
        room += rules->entities[i].demand_count + 1;
    struct asked *asked = arena_alloc(arena, (room + 1) * sizeof *asked);
    for (size_t i = 0; i < rules->entity_count; i++) {
        const struct entity *entity = &rules->entities[i];
        if (entity->discriminator.data != NULL)
            asked[count++] = (struct asked){ .name = entity->discriminator, .entity = i };
        for (size_t d = 0; d < entity->demand_count; d++)
            asked[count++] = (struct asked){ .name = entity->demands[d].name,
                                             .demand = &entity->demands[d],
                                             .entity = i };
    }
    qsort(asked, count, sizeof *asked, compare_asked);
    rules->asked = asked;
    rules->asked_count = count;
}

static const struct entity_rules *make_rules(struct arena *arena, const struct model_file *file,
                                             const struct model_table *table)
{
    const struct model_index *key = &table->indexes[0];
    struct entity_rules *rules = arena_alloc(arena, sizeof *rules);
    struct entity *entities =
        arena_alloc_zeroed(arena, (file->entity_count + 1) * sizeof *entities);
    size_t count = 0;
    for (size_t i = 0; i < file->entity_count; i++) {
        if (bytes_equal(file->entities[i].table, table->name))
            compile_entity(arena, table, &file->entities[i], &entities[count++]);
    }
    *rules = (struct entity_rules){ .hash_name = arena_copy(arena, key->hash.name),
                                    .entities = entities,
                                    .entity_count = count };
    if (key->has_range)
        rules->range_name = arena_copy(arena, key->range.name);
    assert(count <= MODEL_ENTITIES_MAX);
    collect_asked(arena, rules);
    return rules;
}

const struct entity_rules *entity_rules_of_model(struct arena *arena, const struct model_file *file,
                                                 const struct model_table *table)
{
    const struct entity_rules *rules = make_rules(arena, file, table);
    return rules->entity_count == 0 ? NULL : rules;
}

/* The table as a model file has it. Indexes with keys of several attributes are left out. */
static struct model_table *table_of(struct arena *arena, const struct table_definition *definition)
{
    struct model_table *table = arena_alloc_zeroed(arena, sizeof *table);
    table->name = definition->name;
    table->indexes =
        arena_alloc_zeroed(arena, (1 + definition->index_count) * sizeof *table->indexes);
    table->indexes[0] = (struct model_index){ .hash = definition->key.hash,
                                              .range = definition->key.range,
                                              .has_range = definition->key.has_range };
    table->index_count = 1;
    for (size_t i = 0; i < definition->index_count; i++) {
        const struct index_definition *index = &definition->indexes[i];
        if (index->hash_count > 1 || index->range_count > 1)
            continue;
        table->indexes[table->index_count++] =
            (struct model_index){ .name = index->name,
                                  .local = !index->global,
                                  .hash = index->hash[0],
                                  .range = index->range[0],
                                  .has_range = index->range_count == 1 };
    }
    return table;
}

static bool read_entities(struct model_reader *reader, struct json_node *entities,
                          const struct table_definition *definition)
{
    *reader->report = (struct model_report){ 0 };
    reader->file->tables = table_of(reader->arena, definition);
    reader->file->table_count = 1;
    return model_entities_read(reader, entities);
}

const struct entity_rules *entity_rules_compile(struct arena *arena, struct bytes text,
                                                const struct table_definition *definition)
{
    struct arena *scratch = arena_create();
    const struct entity_rules *rules = NULL;
    struct model_file file = { 0 };
    struct model_report report;
    struct model_reader reader = {
        .arena = scratch, .file = &file, .report = &report, .is_lenient = true
    };
    struct bytes failure;
    struct json_node *root = json_tree_parse(scratch, text, &failure);
    struct json_node *list = json_tree_member(root, "Entities");
    if (list != NULL && list->type == JSON_ARRAY && list->count <= MODEL_ENTITIES_MAX &&
        read_entities(&reader, list, definition)) {
        rules = make_rules(arena, &file, file.tables);
    }
    arena_destroy(scratch);
    return rules;
}

/* --- Preparing --- */

/* The list of entities of the table, without their member "Table". */
static struct json_node *select_entities(struct arena *arena, const struct json_node *list,
                                         struct bytes table)
{
    struct json_node *selected = json_tree_new(arena, JSON_ARRAY);
    for (const struct json_node *at = list->first; at != NULL; at = at->next) {
        const struct json_node *named = json_tree_member(at, "Table");
        if (at->type == JSON_OBJECT && named != NULL && named->type == JSON_STRING &&
            !bytes_equal(named->text, table))
            continue;
        struct json_node *copy = json_tree_new(arena, at->type);
        for (const struct json_node *member = at->first; member != NULL; member = member->next) {
            if (at->type == JSON_ARRAY || !bytes_equal_text(member->name, "Table"))
                json_tree_add(copy, member->name, json_tree_copy(arena, member));
        }
        json_tree_add(selected, (struct bytes){ 0 }, copy);
    }
    return selected;
}

/* The entities that the text has for the table; NULL with the failure set. */
static struct json_node *find_entities(struct arena *arena, struct bytes text,
                                       const struct table_definition *table, struct bytes *failure)
{
    struct model_report report = { 0 };
    struct bytes name = table->name;
    struct json_node *root = json_tree_parse(arena, text, failure);
    if (root == NULL)
        return NULL;
    struct json_node *list = json_tree_member(root, "Entities");
    if (list == NULL) {
        struct json_node *file = model_import(arena, root, &report);
        if (file == NULL) {
            *failure = report.failure;
            return NULL;
        }
        /* The only table of a file may have another name, such as one without a stage. */
        struct json_node *tables = json_tree_member(file, "DataModel");
        if (tables != NULL && tables->type == JSON_ARRAY && tables->count == 1 &&
            json_tree_string(tables->first, "TableName").data != NULL)
            name = json_tree_string(tables->first, "TableName");
        list = json_tree_member(json_tree_member(file, "Stator"), "Entities");
    }
    if (list == NULL || list->type != JSON_ARRAY || list->count > MODEL_ENTITIES_MAX) {
        *failure = BYTES("there is no list of Stator.Entities, or it is too long");
        return NULL;
    }
    return select_entities(arena, list, name);
}

struct bytes entity_rules_prepare(struct arena *arena, struct bytes text,
                                  const struct table_definition *table, struct bytes *failure)
{
    struct model_file file = { 0 };
    struct model_report report;
    struct model_reader reader = { .arena = arena, .file = &file, .report = &report };
    struct json_node *list = find_entities(arena, text, table, failure);
    if (list == NULL)
        return (struct bytes){ 0 };
    if (list->count == 0) {
        *failure = BYTES("there are no entities of this table");
        return (struct bytes){ 0 };
    }
    struct json_node *root = json_tree_new(arena, JSON_OBJECT);
    json_tree_add(root, BYTES("Entities"), list);
    if (!read_entities(&reader, list, table)) {
        *failure = report.failure;
        return (struct bytes){ 0 };
    }
    if (!template_work_check(arena, &file, failure))
        return (struct bytes){ 0 };
    struct bytes stored = json_tree_text(arena, root);
    if (stored.len > ENTITY_MODEL_SIZE_MAX) {
        *failure = arena_printf(arena, "the entities of a table have more than %d KB",
                                ENTITY_MODEL_SIZE_MAX / 1024);
        return (struct bytes){ 0 };
    }
    return stored;
}
