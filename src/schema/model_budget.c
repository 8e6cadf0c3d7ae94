/* model_budget.c -- see model_budget.h. The costs are upper bounds: how often a loop runs at most,
 * times the measured cost of one iteration, rounded up. */
#include "schema/model_budget.h"
#include "base/give_way.h"
#include "schema/json_tree.h"
#include "schema/model_file.h"

enum {
    WORK_CELL = 4,       /* Of the table of states of two templates. */
    WORK_COMPARISON = 4, /* Of two names, the next of a list fetched. */
    WORK_BYTE = 15,      /* Of JSON, written and read. */
    WORK_NODE = 100,     /* Of a new tree. */
    WORK_ROW = 500,
    MATCHED_PER_STEP = 32, /* Bytes of a template that are compared at once with a value. */
    FILLS = 4,             /* How often a pattern's template is filled for one of its entities. */
};

bool model_budget_take(const struct model_file *file, uint64_t work)
{
    struct model_budget *budget = file->budget;
    if (budget == NULL)
        return true;
    if (budget->is_used_up || work > budget->left) {
        budget->is_used_up = true;
        return false;
    }
    budget->left -= work;
    give_way_count(work);
    return true;
}

bool model_budget_is_used_up(const struct model_file *file)
{
    return file->budget != NULL && file->budget->is_used_up;
}

/* --- Sizes --- */

static uint64_t count_of(const struct json_node *list)
{
    return list == NULL ? 0 : list->count;
}

/* Roughly that of the text. */
static uint64_t size_of(const struct json_node *root)
{
    uint64_t size = 0;
    for (const struct json_node *at = root; at != NULL; at = json_tree_next(at, root))
        size += at->name.len + at->text.len + 4;
    return size;
}

static const struct json_node *entities_of(const struct model_pattern *pattern)
{
    return pattern->entities != NULL ? pattern->entities : pattern->expect.entities;
}

static uint64_t longest_parameter(const struct model_pattern *pattern)
{
    uint64_t size = 0;
    for (const struct json_node *at = pattern->parameters == NULL ? NULL
                                                                  : pattern->parameters->first;
         at != NULL; at = at->next) {
        if (at->text.len > size)
            size = at->text.len;
    }
    return size;
}

/* Of the value that a template becomes. */
static uint64_t filled_size(const struct model_pattern *pattern,
                            const struct key_template *template)
{
    return template->source.len + template->part_count * longest_parameter(pattern);
}

/* --- Work --- */

uint64_t model_budget_overlap(const struct key_template *a, const struct key_template *b)
{
    return WORK_ROW + (uint64_t)WORK_CELL * (a->source.len + 1) * (b->source.len + 1);
}

uint64_t model_budget_row(const struct json_node *row)
{
    return WORK_ROW + WORK_BYTE * size_of(row);
}

/* Of each byte of a value that is matched with all templates of an entity. */
static uint64_t match_work(const struct model_entity *entity)
{
    uint64_t work = 1;
    for (size_t i = 0; i < entity->key_count; i++) {
        const struct model_entity_key *key = &entity->keys[i];
        work += (key->has_hash ? key->hash.source.len / MATCHED_PER_STEP : 0) +
                (key->has_range ? key->range.source.len / MATCHED_PER_STEP : 0);
    }
    return work;
}

uint64_t model_budget_rules(const struct model_file *file, const struct model_table *table,
                            const struct json_node *row)
{
    uint64_t per_byte = 0, per_row = 0;
    for (size_t i = 0; i < file->entity_count; i++) {
        const struct model_entity *entity = &file->entities[i];
        if (!bytes_equal(entity->table, table->name))
            continue;
        per_byte += match_work(entity);
        per_row += (uint64_t)WORK_COMPARISON * (1 + entity->key_count + entity->attribute_count);
    }
    return per_row + per_byte * size_of(row);
}

static uint64_t projection_work(const struct model_pattern *pattern,
                                const struct model_index *index)
{
    return WORK_ROW +
           WORK_COMPARISON * count_of(pattern->attributes) * (4 + (uint64_t)index->included_count);
}

/* Filling a template, and encoding the value as a key. */
static uint64_t fill_work(const struct model_pattern *pattern, const struct key_template *template)
{
    return WORK_COMPARISON * template->part_count * (1 + count_of(pattern->parameters)) +
           WORK_BYTE * filled_size(pattern, template);
}

/* Whether items of an entity have the keys that the pattern asks for. */
static uint64_t find_work(const struct model_file *file, const struct model_pattern *pattern,
                          const struct key_template *template)
{
    const struct json_node *list = entities_of(pattern);
    uint64_t size = filled_size(pattern, template), fill = fill_work(pattern, template), work = 0;
    /* The value of a prefix becomes a template if it is short enough. */
    bool overlaps = pattern->compare == PATTERN_BEGINS_WITH && size <= KEY_TEMPLATE_SIZE_MAX;
    for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL;
         at = at->next) {
        const struct model_entity *entity = model_file_entity(file, at->text);
        uint64_t longest = 0;
        for (size_t i = 0; i < entity->key_count; i++) {
            if (entity->keys[i].has_range && entity->keys[i].range.source.len > longest)
                longest = entity->keys[i].range.source.len;
        }
        work += FILLS * fill + size * match_work(entity) +
                (uint64_t)WORK_COMPARISON * (file->entity_count + MODEL_INDEXES_MAX) +
                (overlaps ? WORK_CELL * (size + 8) * (longest + 1) : 0);
    }
    return work;
}

uint64_t model_budget_verdict(const struct model_file *file, const struct model_pattern *pattern,
                              const struct model_index *index)
{
    uint64_t work = projection_work(pattern, index) + size_of(pattern->item);
    if (pattern->filter.data != NULL) /* Words, at most, and all that each is compared with. */
        work += (pattern->filter.len / 2 + 1) * WORK_COMPARISON *
                (16 + count_of(pattern->names) + index->included_count);
    if (pattern->has_hash)
        work +=
            FILLS * fill_work(pattern, &pattern->hash) + find_work(file, pattern, &pattern->hash);
    if (pattern->compare != PATTERN_ANY)
        work += FILLS * fill_work(pattern, &pattern->range[0]) +
                find_work(file, pattern, &pattern->range[0]);
    if (pattern->compare == PATTERN_BETWEEN)
        work += FILLS * fill_work(pattern, &pattern->range[1]);
    return work;
}

uint64_t model_budget_elsewhere(const struct model_file *file, const struct model_pattern *pattern,
                                const struct model_index *index)
{
    return projection_work(pattern, index) +
           count_of(entities_of(pattern)) * WORK_COMPARISON *
               (file->entity_count + MODEL_INDEXES_MAX +
                KEY_TEMPLATE_PARAMETERS_MAX * count_of(pattern->parameters));
}

uint64_t model_budget_waste(const struct model_file *file, const struct model_index *index)
{
    uint64_t names = 0;
    for (size_t i = 0; i < file->pattern_count; i++)
        names += 1 + count_of(file->patterns[i].attributes);
    return WORK_ROW + WORK_COMPARISON * names * (4 + (uint64_t)index->included_count);
}

uint64_t model_budget_suggest(const struct model_file *file, const struct model_pattern *pattern,
                              const struct model_table *table)
{
    uint64_t names = count_of(entities_of(pattern)), attributes = 0, included = 0;
    for (const struct json_node *at = names == 0 ? NULL : entities_of(pattern)->first; at != NULL;
         at = at->next)
        attributes += model_file_entity(file, at->text)->attribute_count;
    for (size_t i = 0; i < table->index_count; i++)
        included += table->indexes[i].included_count;
    /* For each index: the common template twice, the filter's words, the keys, whether it is free.
     * What is new is made three times at most. */
    uint64_t look_up = WORK_COMPARISON * names * (file->entity_count + MODEL_INDEXES_MAX);
    uint64_t texts = pattern->filter.len + size_of(pattern->names) + size_of(pattern->parameters);
    uint64_t per_index =
        4 * look_up + 2 * WORK_COMPARISON * attributes + WORK_BYTE * texts +
        WORK_COMPARISON * KEY_TEMPLATE_PARAMETERS_MAX * count_of(pattern->parameters) * 2;
    uint64_t made = look_up + WORK_COMPARISON * names * (names + MODEL_ENTITIES_MAX) +
                    8 * WORK_NODE * (1 + names + count_of(pattern->attributes));
    return WORK_ROW + (table->index_count + 2) * per_index + 3 * made + WORK_NODE * included +
           3 * WORK_COMPARISON * (1 + count_of(pattern->attributes)) * included;
}

uint64_t model_budget_estimate(const struct model_pattern *pattern, const struct model_table *table)
{
    uint64_t size = 0, widest = 0, included = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        size += size_of(table->rows[i]);
        if (table->rows[i]->count > widest)
            widest = table->rows[i]->count;
    }
    for (size_t i = 0; i < table->index_count; i++)
        included += table->indexes[i].included_count;
    /* An attribute takes at least eight bytes. */
    uint64_t work = WORK_ROW * ((uint64_t)table->row_count + 1) + WORK_BYTE * size +
                    WORK_COMPARISON * size / 8 * (1 + included);
    if (pattern->operation != PATTERN_PUT_ITEM)
        return work;
    /* The item against the row that it replaces, once for each index. */
    return work + size_of(pattern->item) * (WORK_BYTE + included) +
           2 * WORK_COMPARISON * count_of(pattern->item) * (1 + widest) * table->index_count;
}
