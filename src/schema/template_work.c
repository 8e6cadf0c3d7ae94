/* template_work.c -- see template_work.h.
 *
 * A value that follows several templates begins with the first text of each, so of any two of those
 * texts one is a prefix of the other. Sorted by attribute and text, the templates that one value
 * may be compared with are therefore chains, which a stack finds in one walk. */
#include "schema/template_work.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "schema/model_file.h"

/* A template that searches. */
struct search {
    struct bytes table;
    struct bytes attribute;
    struct bytes prefix;
};

struct searches {
    struct search *list;
    size_t count;
};

static void add(struct searches *searches, struct bytes table, const struct key_attribute *key,
                const struct key_template *template)
{
    if (key_template_searches(template))
        searches->list[searches->count++] = (struct search){ .table = table,
                                                             .attribute = key->name,
                                                             .prefix = template->parts[0].text };
}

static int compare(const void *a, const void *b)
{
    const struct search *left = a, *right = b;
    int order = bytes_compare(left->table, right->table);
    if (order == 0)
        order = bytes_compare(left->attribute, right->attribute);
    return order != 0 ? order : bytes_compare(left->prefix, right->prefix);
}

static bool is_of_chain(const struct search *begin, const struct search *search)
{
    return bytes_equal(begin->table, search->table) &&
           bytes_equal(begin->attribute, search->attribute) &&
           bytes_starts_with(search->prefix, begin->prefix);
}

static struct searches collect(struct arena *arena, const struct model_file *file)
{
    size_t room = 1;
    for (size_t i = 0; i < file->entity_count; i++)
        room += 2 * file->entities[i].key_count;
    struct searches searches = { .list = arena_alloc(arena, room * sizeof *searches.list) };
    for (size_t i = 0; i < file->entity_count; i++) {
        const struct model_entity *entity = &file->entities[i];
        const struct model_table *table = model_file_table(file, entity->table);
        for (size_t k = 0; k < entity->key_count && table != NULL; k++) {
            const struct model_entity_key *key = &entity->keys[k];
            const struct model_index *index = model_table_index(table, key->index);
            if (index != NULL && key->has_hash)
                add(&searches, table->name, &index->hash, &key->hash);
            if (index != NULL && key->has_range)
                add(&searches, table->name, &index->range, &key->range);
        }
    }
    assert(searches.count < room);
    return searches;
}

bool template_work_check(struct arena *arena, const struct model_file *file, struct bytes *failure)
{
    struct searches searches = collect(arena, file);
    const struct search *chain[TEMPLATE_SEARCHES_MAX];
    size_t depth = 0;
    qsort(searches.list, searches.count, sizeof *searches.list, compare);
    for (size_t i = 0; i < searches.count; i++) {
        const struct search *search = &searches.list[i];
        while (depth > 0 && !is_of_chain(chain[depth - 1], search))
            depth--;
        if (depth == TEMPLATE_SEARCHES_MAX) {
            *failure = arena_printf(
                arena,
                "more than %d templates of %.*s that begin alike have parameters with a text "
                "between them that does not begin with '#'",
                TEMPLATE_SEARCHES_MAX, BYTES_FMT(search->attribute));
            return false;
        }
        chain[depth++] = search;
    }
    return true;
}
