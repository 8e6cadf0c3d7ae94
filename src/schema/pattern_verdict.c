/* pattern_verdict.c -- see pattern_verdict.h. What patterns cost is in pattern_estimate.c. */
#include "schema/pattern_verdict.h"
#include <assert.h>
#include <string.h>
#include <strings.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "schema/json_tree.h"
#include "schema/model_budget.h"

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_SERVED] = "served",
        [VERDICT_FETCHES] = "served, and fetches",
        [VERDICT_NOT_PROJECTED] = "not projected",
        [VERDICT_SCAN] = "needs a Scan",
        [VERDICT_REFUSED] = "refused",
        [VERDICT_FINDS_NOTHING] = "finds nothing",
    };
    assert(verdict < VERDICT_COUNT);
    return names[verdict];
}

static struct pattern_verdict judged(enum verdict verdict, struct bytes reason)
{
    return (struct pattern_verdict){ .verdict = verdict, .reason = reason };
}

/* --- Projections --- */

static bool is_key(const struct model_index *index, struct bytes attribute)
{
    return bytes_equal(index->hash.name, attribute) ||
           (index->has_range && bytes_equal(index->range.name, attribute));
}

bool model_index_projects(const struct model_table *table, const struct model_index *index,
                          struct bytes attribute)
{
    if (index->name.data == NULL || index->projection == PROJECTION_ALL ||
        is_key(index, attribute) || is_key(&table->indexes[0], attribute))
        return true;
    for (size_t i = 0; i < index->included_count; i++) {
        if (bytes_equal(index->included[i], attribute))
            return true;
    }
    return false;
}

/* Those of the list that the index lacks, with commas; data NULL: none. */
static struct bytes find_missing(struct arena *arena, const struct model_table *table,
                                 const struct model_index *index, const struct json_node *list)
{
    struct buffer out;
    buffer_init(&out, arena);
    for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL;
         at = at->next) {
        if (model_index_projects(table, index, at->text))
            continue;
        if (out.len > 0)
            buffer_append_bytes(&out, BYTES(", "));
        buffer_append_bytes(&out, at->text);
    }
    return out.len == 0 ? (struct bytes){ 0 } : buffer_bytes(&out);
}

static struct bytes index_text(struct arena *arena, const struct model_table *table,
                               const struct model_index *index)
{
    return index->name.data == NULL ? arena_printf(arena, "table %.*s", BYTES_FMT(table->name))
                                    : arena_printf(arena, "index %.*s", BYTES_FMT(index->name));
}

static struct pattern_verdict judge_projection(struct arena *arena,
                                               const struct model_pattern *pattern,
                                               const struct model_table *table,
                                               const struct model_index *index)
{
    struct bytes missing = find_missing(arena, table, index, pattern->attributes);
    struct pattern_verdict verdict =
        judged(VERDICT_SERVED,
               arena_printf(arena, "one %s of %.*s", pattern_operation_name(pattern->operation),
                            BYTES_FMT(index_text(arena, table, index))));
    if (missing.data == NULL)
        return verdict;
    verdict.missing = missing;
    if (index->local) {
        verdict.verdict = VERDICT_FETCHES;
        verdict.reason = arena_printf(arena,
                                      "index %.*s reads %.*s from the table, once for each "
                                      "item",
                                      BYTES_FMT(index->name), BYTES_FMT(missing));
        return verdict;
    }
    verdict.verdict = VERDICT_NOT_PROJECTED;
    verdict.reason = arena_printf(arena,
                                  "index %.*s does not project %.*s: include it, or read "
                                  "each item from the table as well",
                                  BYTES_FMT(index->name), BYTES_FMT(missing));
    return verdict;
}

/* --- The pattern as it is written --- */

static bool has_values(const struct model_pattern *pattern, const struct key_template *template,
                       struct bytes *missing)
{
    for (size_t i = 0; i < template->part_count; i++) {
        struct bytes name = template->parts[i].parameter, value;
        if (name.data == NULL || model_pattern_parameter(pattern, name, &value))
            continue;
        *missing = name;
        return false;
    }
    return true;
}

static bool is_name_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_reserved(struct bytes word)
{
    static const char *const words[] = { "and",
                                         "or",
                                         "not",
                                         "in",
                                         "between",
                                         "attribute_exists",
                                         "attribute_not_exists",
                                         "attribute_type",
                                         "begins_with",
                                         "contains",
                                         "size" };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (word.len == strlen(words[i]) &&
            strncasecmp((const char *)word.data, words[i], word.len) == 0)
            return true;
    }
    return false;
}

/* The next attribute that the filter names at or behind `*at`; data NULL: none. Of a path that is
 * its first name: those behind a point are members of maps. */
static struct bytes next_filtered(const struct model_pattern *pattern, size_t *at)
{
    struct bytes filter = pattern->filter;
    while (*at < filter.len) {
        size_t begin = *at;
        uint8_t first = filter.data[begin];
        while (*at < filter.len &&
               (is_name_byte(filter.data[*at]) || (*at == begin && (first == '#' || first == ':'))))
            (*at)++;
        if (*at == begin) {
            (*at)++;
            continue;
        }
        struct bytes word = bytes_of(filter.data + begin, *at - begin);
        if (first == ':' || (first >= '0' && first <= '9') || is_reserved(word) ||
            (begin > 0 && filter.data[begin - 1] == '.'))
            continue;
        const struct json_node *name =
            first == '#' ? json_tree_member_bytes(pattern->names, word) : NULL;
        return name != NULL && name->type == JSON_STRING ? name->text : word;
    }
    return (struct bytes){ 0 };
}

/* What is wrong with the filter of a Query on the index. A Scan takes every filter. */
static struct pattern_verdict judge_filter(struct arena *arena, const struct model_pattern *pattern,
                                           const struct model_table *table,
                                           const struct model_index *index)
{
    size_t at = 0;
    struct bytes name, missing = { 0 };
    while (pattern->filter.data != NULL && (name = next_filtered(pattern, &at)).data != NULL) {
        if (is_key(index, name))
            return judged(VERDICT_REFUSED,
                          arena_printf(arena, "the filter names the key %.*s", BYTES_FMT(name)));
        if (!model_index_projects(table, index, name))
            missing = name;
    }
    if (missing.data == NULL)
        return judged(VERDICT_SERVED, BYTES(""));
    struct pattern_verdict verdict =
        judged(VERDICT_NOT_PROJECTED,
               arena_printf(arena, "index %.*s does not project %.*s, which the filter names",
                            BYTES_FMT(index->name), BYTES_FMT(missing)));
    verdict.missing = missing;
    return verdict;
}

static struct pattern_verdict judge_values(struct arena *arena, const struct model_pattern *pattern,
                                           const struct model_index *index)
{
    struct bytes missing;
    const struct key_template *templates[3] = { pattern->has_hash ? &pattern->hash : NULL };
    if (pattern->compare != PATTERN_ANY)
        templates[1] = &pattern->range[0];
    if (pattern->compare == PATTERN_BETWEEN)
        templates[2] = &pattern->range[1];
    for (size_t i = 0; i < COUNT_OF(templates); i++) {
        if (templates[i] != NULL && !has_values(pattern, templates[i], &missing))
            return judged(VERDICT_REFUSED, arena_printf(arena, "the parameter %.*s has no value",
                                                        BYTES_FMT(missing)));
    }
    if (pattern->compare != PATTERN_ANY && !index->has_range)
        return judged(VERDICT_REFUSED,
                      BYTES("it has a condition on a sort key, and there is none"));
    if (pattern->compare == PATTERN_BEGINS_WITH && index->range.type == VALUE_N)
        return judged(VERDICT_REFUSED, BYTES("a number does not begin with anything"));
    struct bytes fault = pattern_estimate_fault(arena, pattern, index);
    if (fault.data != NULL)
        return judged(VERDICT_REFUSED, fault);
    return judged(VERDICT_SERVED, BYTES(""));
}

static struct pattern_verdict judge_query(struct arena *arena, const struct model_pattern *pattern,
                                          const struct model_table *table,
                                          const struct model_index *index)
{
    if (!pattern->has_hash)
        return judged(VERDICT_SCAN, arena_printf(arena, "it does not give the partition key %.*s",
                                                 BYTES_FMT(index->hash.name)));
    if (pattern->consistent && index->name.data != NULL && !index->local)
        return judged(VERDICT_REFUSED, BYTES("a global index has no consistent reads"));
    struct pattern_verdict filter = judge_filter(arena, pattern, table, index);
    return filter.verdict == VERDICT_SERVED ? judge_values(arena, pattern, index) : filter;
}

/* GetItem, UpdateItem, DeleteItem. */
static struct pattern_verdict judge_key(struct arena *arena, const struct model_pattern *pattern,
                                        const struct model_index *index)
{
    if (index->name.data != NULL)
        return judged(VERDICT_REFUSED, arena_printf(arena, "%s is for tables, not for indexes",
                                                    pattern_operation_name(pattern->operation)));
    if (!pattern->has_hash || (index->has_range && pattern->compare != PATTERN_EQUALS))
        return judged(VERDICT_REFUSED, BYTES("it does not give the whole key of the table"));
    return judge_values(arena, pattern, index);
}

static struct pattern_verdict judge_put(struct arena *arena, const struct model_pattern *pattern,
                                        const struct model_index *index)
{
    if (index->name.data != NULL)
        return judged(VERDICT_REFUSED, BYTES("PutItem is for tables, not for indexes"));
    if (json_tree_member_bytes(pattern->item, index->hash.name) == NULL ||
        (index->has_range && json_tree_member_bytes(pattern->item, index->range.name) == NULL))
        return judged(VERDICT_REFUSED, arena_printf(arena, "it has no Item with the key of the "
                                                           "table"));
    return judged(VERDICT_SERVED, BYTES(""));
}

static struct pattern_verdict judge_scan(struct arena *arena, const struct model_pattern *pattern,
                                         const struct model_table *table,
                                         const struct model_index *index)
{
    struct pattern_verdict verdict = judge_projection(arena, pattern, table, index);
    if (pattern->consistent && index->name.data != NULL && !index->local)
        return judged(VERDICT_REFUSED, BYTES("a global index has no consistent reads"));
    if (verdict.verdict == VERDICT_NOT_PROJECTED)
        return verdict;
    verdict.verdict = VERDICT_SCAN;
    verdict.reason =
        arena_printf(arena, "it reads all of %.*s", BYTES_FMT(index_text(arena, table, index)));
    return verdict;
}

/* --- Entities --- */

static bool templates_meet(struct arena *arena, const struct model_pattern *pattern,
                           const struct key_template *source, const struct key_template *template,
                           bool is_prefix)
{
    struct key_template asked;
    struct bytes value, missing, failure;
    if (!key_template_fill(arena, source, model_pattern_parameter, pattern, &value, &missing))
        return false;
    if (is_prefix)
        value = arena_printf(arena, "%.*s<rest*>", BYTES_FMT(value));
    if (!is_prefix)
        return key_template_matches(template, value);
    /* A value with '<' in it is no template; it is then left to the run. */
    return !key_template_parse(arena, value, &asked, &failure) ||
           key_template_overlaps(&asked, template);
}

/* Whether items of the entity may have keys that the pattern asks for. */
static bool may_find(struct arena *arena, const struct model_pattern *pattern,
                     const struct model_entity *entity, const struct model_index *index)
{
    const struct model_entity_key *key = model_entity_key(entity, index->name);
    if (key == NULL)
        return index->name.data == NULL; /* The table holds all, perhaps without templates. */
    if (key->has_hash && pattern->has_hash && index->hash.type == VALUE_S &&
        !templates_meet(arena, pattern, &pattern->hash, &key->hash, false))
        return false;
    if (!key->has_range || index->range.type != VALUE_S)
        return true;
    if (pattern->compare == PATTERN_EQUALS)
        return templates_meet(arena, pattern, &pattern->range[0], &key->range, false);
    /* "BeginsWith" also matches an equal key. */
    return pattern->compare != PATTERN_BEGINS_WITH ||
           templates_meet(arena, pattern, &pattern->range[0], &key->range, false) ||
           templates_meet(arena, pattern, &pattern->range[0], &key->range, true);
}

static struct pattern_verdict judge_entities(struct arena *arena, const struct model_file *file,
                                             const struct model_pattern *pattern,
                                             const struct model_index *index)
{
    const struct json_node *list =
        pattern->entities != NULL ? pattern->entities : pattern->expect.entities;
    for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL;
         at = at->next) {
        const struct model_entity *entity = model_file_entity(file, at->text);
        assert(entity != NULL); /* The file was checked. */
        if (!may_find(arena, pattern, entity, index))
            return judged(VERDICT_FINDS_NOTHING, arena_printf(arena, "no %.*s has such a key there",
                                                              BYTES_FMT(entity->name)));
    }
    return judged(VERDICT_SERVED, BYTES(""));
}

struct pattern_verdict pattern_verdict_of(struct arena *arena, const struct model_file *file,
                                          const struct model_pattern *pattern)
{
    const struct model_table *table = model_file_table(file, pattern->table);
    const struct model_index *index = model_table_index(table, pattern->index);
    struct pattern_verdict verdict;
    assert(table != NULL && index != NULL); /* The file was checked. */
    if (!model_budget_take(file, model_budget_verdict(file, pattern, index)))
        return judged(VERDICT_REFUSED, BYTES(""));
    switch (pattern->operation) {
    case PATTERN_SCAN:
        return judge_scan(arena, pattern, table, index);
    case PATTERN_QUERY:
        verdict = judge_query(arena, pattern, table, index);
        break;
    case PATTERN_PUT_ITEM:
        verdict = judge_put(arena, pattern, index);
        break;
    default:
        verdict = judge_key(arena, pattern, index);
        break;
    }
    if (verdict.verdict != VERDICT_SERVED)
        return verdict;
    verdict = judge_projection(arena, pattern, table, index);
    /* What is not projected is refused, whether it would be found or not. */
    if (verdict.verdict == VERDICT_NOT_PROJECTED || pattern->operation == PATTERN_PUT_ITEM)
        return verdict;
    struct pattern_verdict found = judge_entities(arena, file, pattern, index);
    return found.verdict == VERDICT_SERVED ? verdict : found;
}

/* --- Elsewhere --- */

struct pattern_verdict pattern_verdict_elsewhere(struct arena *arena, const struct model_file *file,
                                                 const struct model_pattern *pattern,
                                                 const struct model_index *index)
{
    const struct model_table *table = model_file_table(file, pattern->table);
    const struct json_node *list =
        pattern->entities != NULL ? pattern->entities : pattern->expect.entities;
    if (!model_budget_take(file, model_budget_elsewhere(file, pattern, index)))
        return judged(VERDICT_REFUSED, BYTES(""));
    if (pattern->consistent && index->name.data != NULL && !index->local)
        return judged(VERDICT_REFUSED, BYTES("a global index has no consistent reads"));
    if (list == NULL || list->first == NULL)
        return judged(VERDICT_SCAN, BYTES("the pattern names no entities"));
    for (const struct json_node *at = list->first; at != NULL; at = at->next) {
        const struct model_entity *entity = model_file_entity(file, at->text);
        const struct model_entity_key *key = model_entity_key(entity, index->name);
        struct bytes missing;
        if (key == NULL || !key->has_hash)
            return judged(VERDICT_FINDS_NOTHING,
                          arena_printf(arena, "%.*s has no keys there", BYTES_FMT(entity->name)));
        if (!has_values(pattern, &key->hash, &missing))
            return judged(VERDICT_SCAN, arena_printf(arena, "its partition key needs <%.*s>",
                                                     BYTES_FMT(missing)));
    }
    return judge_projection(arena, pattern, table, index);
}

/* --- Collisions and waste --- */

static bool keys_overlap(const struct model_file *file, const struct key_attribute *key, bool has_a,
                         const struct key_template *a, bool has_b, const struct key_template *b)
{
    return has_a && has_b &&
           (key->type != VALUE_S ||
            (model_budget_take(file, model_budget_overlap(a, b)) && key_template_overlaps(a, b)));
}

static bool collide(const struct model_file *file, const struct model_table *table,
                    const struct model_entity *a, const struct model_entity *b)
{
    const struct model_index *index = &table->indexes[0];
    const struct bytes none = { 0 };
    const struct model_entity_key *key_a = model_entity_key(a, none);
    const struct model_entity_key *key_b = model_entity_key(b, none);
    if (key_a == NULL || key_b == NULL ||
        !keys_overlap(file, &index->hash, key_a->has_hash, &key_a->hash, key_b->has_hash,
                      &key_b->hash))
        return false;
    return !index->has_range || keys_overlap(file, &index->range, key_a->has_range, &key_a->range,
                                             key_b->has_range, &key_b->range);
}

size_t pattern_verdict_collisions(const struct model_file *file, collision_visit *visit,
                                  void *context)
{
    size_t count = 0;
    for (size_t i = 0; i < file->entity_count; i++) {
        const struct model_table *table = model_file_table(file, file->entities[i].table);
        for (size_t j = i + 1; j < file->entity_count && !model_budget_is_used_up(file); j++) {
            if (!bytes_equal(file->entities[j].table, table->name) ||
                !collide(file, table, &file->entities[i], &file->entities[j]))
                continue;
            count++;
            if (visit != NULL)
                visit(context, &file->entities[i], &file->entities[j]);
        }
    }
    return count;
}

static bool has_text(const struct json_node *list, struct bytes text)
{
    for (const struct json_node *at = list->first; at != NULL; at = at->next) {
        if (bytes_equal(at->text, text))
            return true;
    }
    return false;
}

static bool is_of(const struct model_pattern *pattern, const struct model_table *table,
                  const struct model_index *index)
{
    return bytes_equal(pattern->table, table->name) && pattern->index.data != NULL &&
           bytes_equal(pattern->index, index->name);
}

struct bytes pattern_verdict_waste(struct arena *arena, const struct model_file *file,
                                   const struct model_table *table, const struct model_index *index)
{
    struct buffer needed, wasted;
    bool is_used = false;
    if (index->name.data == NULL || file->pattern_count == 0 ||
        !model_budget_take(file, model_budget_waste(file, index)))
        return (struct bytes){ 0 };
    buffer_init(&needed, arena);
    buffer_init(&wasted, arena);
    for (size_t i = 0; i < file->pattern_count; i++) {
        const struct model_pattern *pattern = &file->patterns[i];
        if (!is_of(pattern, table, index))
            continue;
        is_used = true;
        if (pattern->attributes == NULL)
            return (struct bytes){ 0 }; /* It needs all attributes. */
        for (const struct json_node *at = pattern->attributes->first; at != NULL; at = at->next) {
            if (is_key(index, at->text) || is_key(&table->indexes[0], at->text))
                continue;
            buffer_append_bytes(&needed, needed.len > 0 ? BYTES(", ") : BYTES(""));
            buffer_append_bytes(&needed, at->text);
        }
    }
    if (!is_used)
        return arena_printf(arena, "no pattern uses index %.*s", BYTES_FMT(index->name));
    if (index->projection == PROJECTION_ALL)
        return arena_printf(arena, "index %.*s projects all attributes, and its patterns need %.*s",
                            BYTES_FMT(index->name),
                            BYTES_FMT(needed.len > 0 ? buffer_bytes(&needed) : BYTES("its keys")));
    for (size_t i = 0; i < index->included_count; i++) {
        bool used =
            is_key(index, index->included[i]) || is_key(&table->indexes[0], index->included[i]);
        for (size_t p = 0; p < file->pattern_count && !used; p++)
            used = is_of(&file->patterns[p], table, index) &&
                   has_text(file->patterns[p].attributes, index->included[i]);
        if (used)
            continue;
        buffer_append_bytes(&wasted, wasted.len > 0 ? BYTES(", ") : BYTES(""));
        buffer_append_bytes(&wasted, index->included[i]);
    }
    if (wasted.len == 0)
        return (struct bytes){ 0 };
    return arena_printf(arena, "index %.*s includes %.*s, and no pattern needs it",
                        BYTES_FMT(index->name), BYTES_FMT(buffer_bytes(&wasted)));
}
