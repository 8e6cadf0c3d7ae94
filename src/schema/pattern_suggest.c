/* pattern_suggest.c -- see pattern_suggest.h.
 *
 * The keys of an index are made of what the pattern knows: its parameters, and the value that its
 * filter compares an attribute with. Both become the partition key, so that one Query reads what is
 * wanted and nothing else; the sort key repeats the one of the table, which tells items apart.
 */
#include "schema/pattern_suggest.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "model/limits.h"
#include "schema/json_tree.h"
#include "schema/model_budget.h"

const char *suggestion_kind_name(enum suggestion_kind kind)
{
    static const char *const names[SUGGESTION_COUNT] = {
        [SUGGESTION_USE] = "USE",           [SUGGESTION_PROJECT] = "PROJECT",
        [SUGGESTION_OVERLOAD] = "OVERLOAD", [SUGGESTION_INVERT] = "INVERT",
        [SUGGESTION_SPARSE] = "SPARSE",     [SUGGESTION_ADD] = "ADD",
    };
    assert(kind < SUGGESTION_COUNT);
    return names[kind];
}

enum { INCLUDED_MAX = 20 }; /* A new index that needs more attributes projects all. */

struct search {
    struct arena *arena;
    const struct model_file *file;
    const struct model_pattern *pattern;
    const struct model_table *table;
    const struct json_node *names;     /* Of entities; not empty. */
    const struct model_entity *entity; /* The first of them. */
    struct bytes filtered, value;      /* Of a filter that is one comparison; data NULL: none. */
    struct suggestions found;
};

/* --- Changes --- */

static void append_escaped(struct buffer *out, struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.data[i];
        if (c == '~' || c == '/')
            buffer_append_bytes(out, c == '~' ? BYTES("~0") : BYTES("~1"));
        else
            buffer_append_bytes(out, bytes_of(&name.data[i], 1));
    }
}

/* RFC 6901. Trees are at most JSON_TREE_DEPTH_MAX deep. */
static struct bytes pointer_of(struct arena *arena, const struct json_node *node)
{
    const struct json_node *path[JSON_TREE_DEPTH_MAX + 1];
    size_t depth = 0;
    struct buffer out;
    buffer_init(&out, arena);
    for (; node->parent != NULL; node = node->parent) {
        assert(depth <= JSON_TREE_DEPTH_MAX);
        path[depth++] = node;
    }
    while (depth > 0) {
        const struct json_node *at = path[--depth];
        buffer_append_bytes(&out, BYTES("/"));
        if (at->parent->type == JSON_OBJECT) {
            append_escaped(&out, at->name);
            continue;
        }
        size_t position = 0;
        for (const struct json_node *one = at->parent->first; one != at; one = one->next)
            position++;
        buffer_append_bytes(&out, arena_printf(arena, "%zu", position));
    }
    return buffer_bytes(&out);
}

static void change(const struct search *search, struct json_node *patch, const char *op,
                   const struct json_node *node, const char *member, struct json_node *value)
{
    struct json_node *one = json_tree_new(search->arena, JSON_OBJECT);
    json_tree_add_text(search->arena, one, "op", bytes_from_text(op));
    json_tree_add_text(
        search->arena, one, "path",
        arena_printf(search->arena, "%.*s/%s", BYTES_FMT(pointer_of(search->arena, node)), member));
    if (value != NULL)
        json_tree_add(one, BYTES("value"), value);
    json_tree_add(patch, (struct bytes){ 0 }, one);
}

static void set_text(const struct search *search, struct json_node *patch,
                     const struct json_node *node, const char *member, struct bytes text)
{
    const struct json_node *old = json_tree_member(node, member);
    if (old == NULL || old->type != JSON_STRING || !bytes_equal(old->text, text))
        change(search, patch, "add", node, member, json_tree_new_string(search->arena, text));
}

static void drop(const struct search *search, struct json_node *patch, const struct json_node *node,
                 const char *member)
{
    if (json_tree_member(node, member) != NULL)
        change(search, patch, "remove", node, member, NULL);
}

/* Adds to an array, which may be absent. */
static void append(const struct search *search, struct json_node *patch,
                   const struct json_node *node, const char *member, struct json_node *value)
{
    const struct json_node *list = json_tree_member(node, member);
    if (list != NULL && list->type == JSON_ARRAY) {
        change(search, patch, "add", list, "-", value);
        return;
    }
    struct json_node *fresh = json_tree_new(search->arena, JSON_ARRAY);
    json_tree_add(fresh, (struct bytes){ 0 }, value);
    change(search, patch, "add", node, member, fresh);
}

static struct json_node *find_index_node(const struct search *search,
                                         const struct model_index *index)
{
    struct json_node *list = json_tree_member(search->table->node, "GlobalSecondaryIndexes");
    for (struct json_node *at = list == NULL ? NULL : list->first; at != NULL; at = at->next) {
        if (bytes_equal(json_tree_string(at, "IndexName"), index->name))
            return at;
    }
    return NULL;
}

/* --- Projections --- */

static struct json_node *attribute_list(const struct search *search,
                                        const struct model_index *index, struct bytes filtered,
                                        bool all)
{
    struct json_node *out = json_tree_new(search->arena, JSON_ARRAY);
    const struct json_node *list = search->pattern->attributes;
    for (size_t i = 0; all && i < index->included_count; i++)
        json_tree_add(out, (struct bytes){ 0 },
                      json_tree_new_string(search->arena, index->included[i]));
    for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL;
         at = at->next) {
        if (!model_index_projects(search->table, index, at->text))
            json_tree_add(out, (struct bytes){ 0 }, json_tree_new_string(search->arena, at->text));
    }
    if (filtered.data != NULL && !model_index_projects(search->table, index, filtered))
        json_tree_add(out, (struct bytes){ 0 }, json_tree_new_string(search->arena, filtered));
    return out;
}

/* What the pattern needs and the index lacks is included; `filtered` may be absent. */
static bool project(const struct search *search, struct json_node *patch,
                    const struct model_index *index, struct bytes filtered)
{
    if (attribute_list(search, index, filtered, false)->count == 0)
        return false;
    struct json_node *node = find_index_node(search, index);
    struct json_node *projection = json_tree_new(search->arena, JSON_OBJECT);
    if (node == NULL)
        return false;
    json_tree_add_text(search->arena, projection, "ProjectionType", BYTES("INCLUDE"));
    json_tree_add(projection, BYTES("NonKeyAttributes"),
                  attribute_list(search, index, filtered, true));
    change(search, patch, "add", node, "Projection", projection);
    return true;
}

/* --- Texts of keys --- */

/* The text of a template up to the first parameter without a value; `*whole`: all have one. */
static struct bytes known_prefix(const struct search *search, const struct key_template *template,
                                 bool *whole)
{
    struct buffer out;
    struct bytes value;
    buffer_init(&out, search->arena);
    *whole = true;
    for (size_t i = 0; i < template->part_count && *whole; i++) {
        const struct key_template_part *part = &template->parts[i];
        buffer_append_bytes(&out, part->text);
        if (part->parameter.data == NULL)
            continue;
        *whole = model_pattern_parameter(search->pattern, part->parameter, &value);
        if (*whole)
            buffer_append_bytes(&out,
                                arena_printf(search->arena, "<%.*s%s>", BYTES_FMT(part->parameter),
                                             part->takes_all ? "*" : ""));
    }
    return buffer_bytes(&out);
}

static void append_upper(struct buffer *out, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        if (c >= 'a' && c <= 'z')
            c = (uint8_t)(c - 'a' + 'A');
        if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')
            buffer_append_bytes(out, bytes_of(&c, 1));
    }
}

static void append_separator(struct buffer *out)
{
    if (out->len > 0)
        buffer_append_bytes(out, BYTES("#"));
}

/* "CUSTOMER#<customer>#STATUS#open"; data NULL: it is no template. */
static struct bytes make_hash(const struct search *search, bool names_entity)
{
    struct buffer out;
    struct key_template template;
    struct bytes failure;
    const struct json_node *parameters = search->pattern->parameters;
    bool has_any = search->filtered.data != NULL || (parameters != NULL && parameters->count > 0);
    buffer_init(&out, search->arena);
    if (names_entity || !has_any)
        append_upper(&out, search->entity->name);
    for (const struct json_node *at = parameters == NULL ? NULL : parameters->first; at != NULL;
         at = at->next) {
        append_separator(&out);
        append_upper(&out, at->name);
        buffer_append_bytes(&out, arena_printf(search->arena, "#<%.*s>", BYTES_FMT(at->name)));
    }
    if (search->filtered.data != NULL) {
        append_separator(&out);
        append_upper(&out, search->filtered);
        append_separator(&out);
        buffer_append_bytes(&out, search->value);
    }
    struct bytes text = buffer_bytes(&out);
    if (out.len == 0 || !key_template_parse(search->arena, text, &template, &failure))
        return (struct bytes){ 0 };
    return text;
}

/* What tells the items of an entity apart: the sort key of the table, or its partition key. */
static struct bytes sort_source(const struct model_entity *entity)
{
    const struct model_entity_key *key = model_entity_key(entity, (struct bytes){ 0 });
    if (key != NULL && key->has_range && key_template_parameter_count(&key->range) > 0)
        return key->range.source;
    return key != NULL && key->has_hash ? key->hash.source : BYTES("<id>");
}

/* --- The pattern --- */

static const struct model_entity *entity_at(const struct search *search, const struct json_node *at)
{
    const struct model_entity *entity = model_file_entity(search->file, at->text);
    assert(entity != NULL); /* The file was checked. */
    return entity;
}

/* The next entity that the list has not named before; NULL at the end. */
static const struct json_node *next_name(const struct search *search, const struct json_node *at)
{
    for (at = at == NULL ? search->names->first : at->next; at != NULL; at = at->next) {
        const struct json_node *before = search->names->first;
        while (before != at && !bytes_equal(before->text, at->text))
            before = before->next;
        if (before == at)
            return at;
    }
    return NULL;
}

/* Makes the pattern a Query. `range` is a template that all its entities have; NULL: they differ.
 */
static void use_index(const struct search *search, struct json_node *patch, struct bytes index,
                      struct bytes hash, const struct key_template *range, bool is_text)
{
    const struct json_node *node = search->pattern->node;
    bool whole = false;
    struct bytes prefix = range == NULL ? (struct bytes){ 0 } : known_prefix(search, range, &whole);
    set_text(search, patch, node, "Operation", BYTES("Query"));
    if (index.data == NULL)
        drop(search, patch, node, "Index");
    else
        set_text(search, patch, node, "Index", index);
    set_text(search, patch, node, "PartitionKey", hash);
    if (prefix.len > 0 && (whole || is_text)) {
        struct json_node *condition = json_tree_new(search->arena, JSON_OBJECT);
        json_tree_add_text(search->arena, condition, whole ? "Equals" : "BeginsWith", prefix);
        change(search, patch, "add", node, "SortKey", condition);
    } else {
        drop(search, patch, node, "SortKey");
    }
    drop(search, patch, node, "AllowScan");
}

/* The partition key says what the filter said. */
static void drop_filter(const struct search *search, struct json_node *patch)
{
    if (search->filtered.data == NULL)
        return;
    drop(search, patch, search->pattern->node, "Filter");
    drop(search, patch, search->pattern->node, "Names");
    drop(search, patch, search->pattern->node, "Values");
}

static void add(struct search *search, enum suggestion_kind kind, struct bytes text,
                struct json_node *patch)
{
    if (search->found.count < PATTERN_SUGGESTIONS_MAX)
        search->found.list[search->found.count++] =
            (struct suggestion){ .kind = kind, .text = text, .patch = patch };
}

static bool is_name_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_space(struct bytes text, size_t at)
{
    return at < text.len && text.data[at] == ' ';
}

/* "#name" or "name" at `*at`; data NULL: something else is there. */
static struct bytes take_word(struct bytes text, size_t *at, uint8_t mark)
{
    size_t begin, end;
    while (is_space(text, *at))
        ++*at;
    begin = end = *at;
    if (end < text.len && text.data[end] == mark)
        end++;
    while (end < text.len && is_name_byte(text.data[end]))
        end++;
    *at = end;
    while (is_space(text, *at))
        ++*at;
    return end == begin ? (struct bytes){ 0 } : bytes_of(text.data + begin, end - begin);
}

static struct bytes string_of(const struct json_node *node)
{
    return node != NULL && node->type == JSON_STRING ? node->text : (struct bytes){ 0 };
}

/* A filter such as "#status = :open" whose value is a text. */
static void read_filter(struct search *search)
{
    const struct model_pattern *pattern = search->pattern;
    struct bytes text = pattern->filter;
    size_t at = 0;
    if (text.data == NULL)
        return;
    struct bytes name = take_word(text, &at, '#');
    if (name.data == NULL || at >= text.len || text.data[at] != '=')
        return;
    at++;
    struct bytes mark = take_word(text, &at, ':');
    if (mark.data == NULL || mark.data[0] != ':' || at != text.len)
        return;
    if (name.data[0] == '#')
        name = string_of(json_tree_member_bytes(pattern->names, name));
    struct bytes value = json_tree_string(json_tree_member_bytes(pattern->values, mark), "S");
    if (name.data == NULL || value.data == NULL || value.len == 0)
        return;
    search->filtered = name;
    search->value = value;
}

/* Whether the filter, which stays, names a key of the index: that would be refused. */
static bool filter_names_key(const struct search *search, const struct model_index *index)
{
    const struct model_pattern *pattern = search->pattern;
    struct bytes texts[2] = { pattern->filter };
    if (pattern->filter.data == NULL)
        return false;
    if (pattern->names != NULL)
        texts[1] = json_tree_text(search->arena, pattern->names);
    for (size_t i = 0; i < 2; i++) {
        if (texts[i].data != NULL &&
            (memmem(texts[i].data, texts[i].len, index->hash.name.data, index->hash.name.len) ||
             (index->has_range &&
              memmem(texts[i].data, texts[i].len, index->range.name.data, index->range.name.len))))
            return true;
    }
    return false;
}

/* --- Indexes that are there --- */

/* The template that all entities have for one key of an index; NULL: they differ or have none. */
static const struct key_template *common(const struct search *search, struct bytes index,
                                         bool is_range)
{
    const struct key_template *found = NULL;
    for (const struct json_node *at = search->names->first; at != NULL; at = at->next) {
        const struct model_entity_key *key = model_entity_key(entity_at(search, at), index);
        if (key == NULL || !(is_range ? key->has_range : key->has_hash))
            return NULL;
        const struct key_template *one = is_range ? &key->range : &key->hash;
        if (found != NULL && !bytes_equal(found->source, one->source))
            return NULL;
        found = one;
    }
    return found;
}

static struct bytes index_label(const struct search *search, const struct model_index *index)
{
    return index->name.data == NULL
               ? arena_printf(search->arena, "table %.*s", BYTES_FMT(search->table->name))
               : arena_printf(search->arena, "index %.*s", BYTES_FMT(index->name));
}

static void suggest_use(struct search *search, const struct model_index *index)
{
    struct json_node *patch = json_tree_new(search->arena, JSON_ARRAY);
    const struct key_template *hash = common(search, index->name, false);
    bool whole = false;
    if (hash == NULL || filter_names_key(search, index) ||
        (search->pattern->filter.data != NULL && index->name.data != NULL &&
         index->projection != PROJECTION_ALL))
        return;
    struct bytes text = known_prefix(search, hash, &whole);
    if (!whole)
        return;
    struct pattern_verdict verdict =
        pattern_verdict_elsewhere(search->arena, search->file, search->pattern, index);
    bool projects = verdict.verdict == VERDICT_NOT_PROJECTED &&
                    project(search, patch, index, (struct bytes){ 0 });
    if (!verdict_is_good(verdict.verdict) && !projects)
        return;
    use_index(search, patch, index->name, text, common(search, index->name, true),
              index->range.type == VALUE_S);
    add(search, SUGGESTION_USE,
        arena_printf(search->arena, "make it a Query of %.*s, whose keys it knows%s",
                     BYTES_FMT(index_label(search, index)),
                     projects ? ", and include what the index lacks" : ""),
        patch);
}

static void suggest_projection(struct search *search, const struct model_index *index,
                               const struct pattern_verdict *verdict)
{
    struct json_node *patch = json_tree_new(search->arena, JSON_ARRAY);
    if (project(search, patch, index, verdict->missing))
        add(search, SUGGESTION_PROJECT,
            arena_printf(search->arena, "include %.*s in index %.*s", BYTES_FMT(verdict->missing),
                         BYTES_FMT(index->name)),
            patch);
}

static bool is_table_key(const struct search *search, struct bytes name)
{
    const struct model_index *key = &search->table->indexes[0];
    return bytes_equal(key->hash.name, name) ||
           (key->has_range && bytes_equal(key->range.name, name));
}

/* Whether items of the entities may get keys of their own choice in the index. */
static bool is_free(const struct search *search, const struct model_index *index)
{
    if (index->local || index->hash.type != VALUE_S || is_table_key(search, index->hash.name) ||
        (index->has_range &&
         (index->range.type != VALUE_S || is_table_key(search, index->range.name))))
        return false;
    for (const struct json_node *at = search->names->first; at != NULL; at = at->next) {
        const struct model_entity *entity = entity_at(search, at);
        if (model_entity_key(entity, index->name) != NULL)
            return false;
        for (size_t i = 0; i < entity->attribute_count; i++) {
            /* A key that is also a plain attribute of the entity has a meaning already. */
            if (bytes_equal(entity->attributes[i].name, index->hash.name) ||
                (index->has_range && bytes_equal(entity->attributes[i].name, index->range.name)))
                return false;
        }
    }
    return true;
}

static bool meets_others(const struct search *search, const struct model_index *index,
                         struct bytes hash)
{
    struct key_template template;
    struct bytes failure;
    if (!key_template_parse(search->arena, hash, &template, &failure))
        return true;
    for (size_t i = 0; i < search->file->entity_count; i++) {
        const struct model_entity *entity = &search->file->entities[i];
        const struct model_entity_key *key = model_entity_key(entity, index->name);
        if (bytes_equal(entity->table, search->table->name) && key != NULL && key->has_hash &&
            (!model_budget_take(search->file, model_budget_overlap(&key->hash, &template)) ||
             key_template_overlaps(&key->hash, &template)))
            return true;
    }
    return false;
}

static void give_keys(const struct search *search, struct json_node *patch, struct bytes index,
                      struct bytes hash, bool has_range)
{
    for (const struct json_node *at = NULL; (at = next_name(search, at)) != NULL;) {
        const struct model_entity *entity = entity_at(search, at);
        struct json_node *key = json_tree_new(search->arena, JSON_OBJECT);
        json_tree_add_text(search->arena, key, "Index", index);
        json_tree_add_text(search->arena, key, "PartitionKey", hash);
        if (has_range)
            json_tree_add_text(search->arena, key, "SortKey", sort_source(entity));
        append(search, patch, entity->node, "Keys", key);
    }
}

static void suggest_overload(struct search *search, const struct model_index *index)
{
    struct json_node *patch = json_tree_new(search->arena, JSON_ARRAY);
    bool keeps_filter = search->filtered.data == NULL && search->pattern->filter.data != NULL;
    struct bytes hash = make_hash(search, false);
    if (!is_free(search, index) || (keeps_filter && index->projection != PROJECTION_ALL) ||
        (keeps_filter && filter_names_key(search, index)))
        return;
    if (hash.data != NULL && meets_others(search, index, hash))
        hash = make_hash(search, true);
    if (hash.data == NULL)
        return;
    give_keys(search, patch, index->name, hash, index->has_range);
    (void)project(search, patch, index, (struct bytes){ 0 });
    use_index(search, patch, index->name, hash, NULL, true);
    drop_filter(search, patch);
    add(search, SUGGESTION_OVERLOAD,
        arena_printf(search->arena, "overload index %.*s: give %.*s the keys %.*s there",
                     BYTES_FMT(index->name), BYTES_FMT(search->entity->name), BYTES_FMT(hash)),
        patch);
}

/* --- New indexes --- */

static struct json_node *new_key(const struct search *search, struct bytes name)
{
    struct json_node *key = json_tree_new(search->arena, JSON_OBJECT);
    json_tree_add_text(search->arena, key, "AttributeName", name);
    json_tree_add_text(search->arena, key, "AttributeType", BYTES("S"));
    return key;
}

static void create_index(const struct search *search, struct json_node *patch, struct bytes name,
                         struct bytes hash, struct bytes range)
{
    struct json_node *index = json_tree_new(search->arena, JSON_OBJECT);
    struct json_node *keys = json_tree_new(search->arena, JSON_OBJECT);
    struct json_node *projection = json_tree_new(search->arena, JSON_OBJECT);
    const struct model_index bare = { .name = name,
                                      .hash = { .name = hash },
                                      .range = { .name = range },
                                      .has_range = true,
                                      .projection = PROJECTION_KEYS_ONLY };
    bool keeps_filter = search->filtered.data == NULL && search->pattern->filter.data != NULL;
    struct json_node *needed = attribute_list(search, &bare, (struct bytes){ 0 }, false);
    json_tree_add_text(search->arena, index, "IndexName", name);
    json_tree_add(keys, BYTES("PartitionKey"), new_key(search, hash));
    json_tree_add(keys, BYTES("SortKey"), new_key(search, range));
    json_tree_add(index, BYTES("KeyAttributes"), keys);
    if (search->pattern->attributes == NULL || keeps_filter || needed->count > INCLUDED_MAX) {
        json_tree_add_text(search->arena, projection, "ProjectionType", BYTES("ALL"));
    } else {
        json_tree_add_text(search->arena, projection, "ProjectionType",
                           needed->count > 0 ? BYTES("INCLUDE") : BYTES("KEYS_ONLY"));
        if (needed->count > 0)
            json_tree_add(projection, BYTES("NonKeyAttributes"), needed);
    }
    json_tree_add(index, BYTES("Projection"), projection);
    append(search, patch, search->table->node, "GlobalSecondaryIndexes", index);
}

static bool is_taken(const struct search *search, struct bytes name, struct bytes hash,
                     struct bytes range)
{
    for (size_t i = 0; i < search->table->index_count; i++) {
        const struct model_index *index = &search->table->indexes[i];
        if ((index->name.data != NULL && bytes_equal(index->name, name)) ||
            bytes_equal(index->hash.name, hash) || bytes_equal(index->hash.name, range) ||
            (index->has_range &&
             (bytes_equal(index->range.name, hash) || bytes_equal(index->range.name, range))))
            return true;
    }
    return false;
}

static bool has_room(const struct search *search)
{
    size_t count = 0;
    for (size_t i = 1; i < search->table->index_count; i++)
        count += !search->table->indexes[i].local;
    return count < GLOBAL_INDEXES_MAX;
}

static void suggest_inverted(struct search *search)
{
    const struct model_index *key = &search->table->indexes[0];
    struct json_node *patch = json_tree_new(search->arena, JSON_ARRAY);
    const struct key_template *range = common(search, (struct bytes){ 0 }, true);
    const struct key_template *hash = common(search, (struct bytes){ 0 }, false);
    struct bytes name = BYTES("inverted");
    bool whole = false, exists = false;
    if (!key->has_range || key->hash.type != VALUE_S || key->range.type != VALUE_S ||
        range == NULL || hash == NULL || key_template_parameter_count(range) == 0 ||
        filter_names_key(search, key))
        return;
    struct bytes text = known_prefix(search, range, &whole);
    if (!whole)
        return;
    for (size_t i = 1; i < search->table->index_count; i++) {
        const struct model_index *index = &search->table->indexes[i];
        if (!exists && bytes_equal(index->hash.name, key->range.name) && index->has_range &&
            bytes_equal(index->range.name, key->hash.name)) {
            if (model_entity_key(search->entity, index->name) != NULL ||
                (search->pattern->filter.data != NULL && index->projection != PROJECTION_ALL))
                return; /* suggest_use has seen it. */
            exists = true;
            name = index->name;
            (void)project(search, patch, index, (struct bytes){ 0 });
        } else if (index->name.len == name.len && bytes_equal(index->name, name)) {
            return;
        }
    }
    if (!exists && !has_room(search))
        return;
    if (!exists)
        create_index(search, patch, name, key->range.name, key->hash.name);
    for (const struct json_node *at = NULL; (at = next_name(search, at)) != NULL;) {
        struct json_node *keys = json_tree_new(search->arena, JSON_OBJECT);
        json_tree_add_text(search->arena, keys, "Index", name);
        json_tree_add_text(search->arena, keys, "PartitionKey", range->source);
        json_tree_add_text(search->arena, keys, "SortKey", hash->source);
        append(search, patch, entity_at(search, at)->node, "Keys", keys);
    }
    use_index(search, patch, name, text, hash, true);
    add(search, SUGGESTION_INVERT,
        arena_printf(search->arena, "%s inverted index: the sort key %.*s is its partition key",
                     exists ? "use the" : "add an", BYTES_FMT(key->range.name)),
        patch);
}

static void suggest_new(struct search *search)
{
    struct json_node *patch = json_tree_new(search->arena, JSON_ARRAY);
    const struct json_node *parameters = search->pattern->parameters;
    bool sparse = search->filtered.data != NULL || parameters == NULL || parameters->count == 0;
    struct bytes hash = make_hash(search, false), names[3];
    unsigned number = 0;
    if (hash.data == NULL || !has_room(search))
        return;
    do {
        number++;
        names[0] = arena_printf(search->arena, "gsi%u", number);
        names[1] = arena_printf(search->arena, "GSI%uPK", number);
        names[2] = arena_printf(search->arena, "GSI%uSK", number);
    } while (is_taken(search, names[0], names[1], names[2]));
    create_index(search, patch, names[0], names[1], names[2]);
    /* Workbench wants all attributes to be listed. A file without the list stays without it. */
    if (json_tree_member(search->table->node, "NonKeyAttributes") != NULL) {
        append(search, patch, search->table->node, "NonKeyAttributes", new_key(search, names[1]));
        append(search, patch, search->table->node, "NonKeyAttributes", new_key(search, names[2]));
    }
    give_keys(search, patch, names[0], hash, true);
    use_index(search, patch, names[0], hash, NULL, true);
    drop_filter(search, patch);
    add(search, sparse ? SUGGESTION_SPARSE : SUGGESTION_ADD,
        arena_printf(search->arena,
                     sparse ? "add the sparse index %.*s: only items that are wanted have its keys "
                              "%.*s"
                            : "add the index %.*s with the keys %.*s",
                     BYTES_FMT(names[0]), BYTES_FMT(hash)),
        patch);
}

/* --- All --- */

static struct suggestions none(const char *hint)
{
    return (struct suggestions){ .hint = bytes_from_text(hint) };
}

static void suggest_all(struct search *search, const struct pattern_verdict *verdict)
{
    const struct model_table *table = search->table;
    const struct model_index *own = model_table_index(table, search->pattern->index);
    bool lacks = verdict->verdict == VERDICT_NOT_PROJECTED;
    if (lacks)
        suggest_projection(search, own, verdict);
    for (size_t i = 0; i < table->index_count; i++) {
        if (!lacks || &table->indexes[i] != own)
            suggest_use(search, &table->indexes[i]);
    }
    /* A global index does not serve consistent reads. What is there needs no new one. */
    if (search->pattern->consistent || search->found.count > 0)
        return;
    for (size_t i = 1; i < table->index_count && search->found.count < 1; i++)
        suggest_overload(search, &table->indexes[i]);
    suggest_inverted(search);
    suggest_new(search);
}

struct suggestions pattern_suggest(struct arena *arena, const struct model_file *file,
                                   const struct model_pattern *pattern,
                                   const struct pattern_verdict *verdict)
{
    struct search search = { .arena = arena, .file = file, .pattern = pattern };
    search.names = pattern->entities != NULL ? pattern->entities : pattern->expect.entities;
    search.table = model_file_table(file, pattern->table);
    assert(search.table != NULL && !verdict_is_good(verdict->verdict));
    if (!model_budget_take(file, model_budget_suggest(file, pattern, search.table)))
        return none("the model is too large to look for changes");
    if (pattern_operation_writes(pattern->operation))
        return none("a write needs the whole key of the table");
    if (search.names == NULL || search.names->first == NULL)
        return none("name the entities that the pattern reads");
    for (const struct json_node *at = search.names->first; at != NULL; at = at->next) {
        const struct model_entity *entity = entity_at(&search, at);
        if (entity->node == NULL || !bytes_equal(entity->table, pattern->table))
            return none("give the pattern's entities key templates, in its table");
    }
    search.entity = entity_at(&search, search.names->first);
    read_filter(&search);
    suggest_all(&search, verdict);
    if (search.found.count == 0)
        search.found.hint = pattern->consistent
                                ? BYTES("a global index has no consistent reads, and no other key "
                                        "fits")
                                : BYTES("no change of indexes makes it one Query");
    return search.found;
}
