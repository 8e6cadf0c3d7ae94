/* condition_texts.c -- see condition_texts.h. */
#include "expr/condition_texts.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/lookup.h"
#include "expr/text_search.h"
#include "model/limits.h"

/* One long value of an item that contains() was applied to. */
struct haystack {
    const uint8_t *data;
    unsigned search_count;
    bool is_searched; /* All texts were searched for. */
    uint8_t *found;   /* For each text: an enum text_found. Reused for the next item. */
    size_t found_capacity;
};

enum { HAYSTACKS_MAX = ITEM_SIZE_MAX / CONDITION_TEXTS_LONG_MIN + 1 };

struct lookup_texts {
    const struct condition *condition; /* Whose texts `search` has; NULL: it has none. */
    struct text_search *search;
    const struct condition **contains; /* Sorted by address, in the order of the texts. */
    size_t contains_count, contains_capacity;
    bool depends_on_item;       /* A text is an attribute of the item. */
    uint32_t search_generation; /* The generation of the item that the texts were taken from. */
    struct haystack haystacks[HAYSTACKS_MAX];
    size_t haystack_count;
    uint32_t generation; /* The generation of the item that the haystacks belong to. */
};

/* --- The texts of a condition --- */

static void add_contains(struct lookup_texts *texts, struct arena *arena,
                         const struct condition *contains)
{
    if (texts->contains_count == texts->contains_capacity) {
        size_t capacity = texts->contains_capacity == 0 ? 64 : texts->contains_capacity * 2;
        size_t unit = sizeof(*texts->contains);
        texts->contains =
            arena_grow(arena, texts->contains, texts->contains_count * unit, capacity * unit);
        texts->contains_capacity = capacity;
    }
    texts->contains[texts->contains_count++] = contains;
}

/* Recursion is bounded by the nesting that the parser allows. */
static void collect(struct lookup_texts *texts, struct arena *arena,
                    const struct condition *condition)
{
    if (condition->left != NULL)
        collect(texts, arena, condition->left);
    if (condition->right != NULL)
        collect(texts, arena, condition->right);
    if (condition->type == CONDITION_CONTAINS)
        add_contains(texts, arena, condition);
}

static int compare_addresses(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t) * (const void *const *)left,
              b = (uintptr_t) * (const void *const *)right;
    return a < b ? -1 : a > b;
}

/* The text that a contains() searches for; empty if its operand is no text. */
static struct bytes text_of(struct lookup *lookup, const struct operand *operand)
{
    struct value value;
    if (operand->type == OPERAND_VALUE)
        value = operand->value;
    else if (operand->type != OPERAND_PATH || !lookup_path(lookup, &operand->path, &value))
        return BYTES("");
    return value.type == VALUE_S || value.type == VALUE_B ? value.data : BYTES("");
}

static void prepare_search(struct lookup_texts *texts, struct lookup *lookup)
{
    if (texts->condition == lookup->condition &&
        (!texts->depends_on_item || texts->search_generation == lookup->generation))
        return;
    if (texts->search == NULL)
        texts->search = text_search_create(lookup->arena);
    text_search_reset(texts->search);
    texts->condition = lookup->condition;
    texts->search_generation = lookup->generation;
    texts->depends_on_item = false;
    texts->contains_count = 0;
    collect(texts, lookup->arena, lookup->condition);
    qsort(texts->contains, texts->contains_count, sizeof(*texts->contains), compare_addresses);
    size_t kept = 0;
    for (size_t i = 0; i < texts->contains_count; i++) {
        const struct operand *wanted = &texts->contains[i]->operands[1];
        struct bytes text = text_of(lookup, wanted);
        texts->depends_on_item |= wanted->type != OPERAND_VALUE;
        if (text.len == 0)
            continue;
        text_search_add(texts->search, text);
        texts->contains[kept++] = texts->contains[i];
        lookup->work += LOOKUP_WORK_SORTED + text.len / LOOKUP_WORK_COMPARED_BYTES;
    }
    texts->contains_count = kept;
    for (size_t i = 0; i < texts->haystack_count; i++)
        texts->haystacks[i].is_searched = false;
}

/* --- Haystacks --- */

static struct lookup_texts *texts_of(struct lookup *lookup)
{
    if (lookup->texts == NULL)
        lookup->texts = arena_alloc_zeroed(lookup->arena, sizeof *lookup->texts);
    if (lookup->texts->generation != lookup->generation) {
        lookup->texts->generation = lookup->generation;
        lookup->texts->haystack_count = 0;
    }
    return lookup->texts;
}

/* Finds or adds the record of a long value; NULL if there are too many. */
static struct haystack *note_haystack(struct lookup_texts *texts, struct bytes haystack)
{
    for (size_t i = 0; i < texts->haystack_count; i++) {
        if (texts->haystacks[i].data == haystack.data)
            return &texts->haystacks[i];
    }
    if (texts->haystack_count == HAYSTACKS_MAX)
        return NULL;
    struct haystack *noted = &texts->haystacks[texts->haystack_count++];
    noted->data = haystack.data;
    noted->search_count = 0;
    noted->is_searched = false;
    return noted;
}

/* --- Searching --- */

static bool search_alone(struct lookup *lookup, struct bytes haystack, struct bytes needle)
{
    lookup->work += haystack.len + needle.len;
    return memmem(haystack.data, haystack.len, needle.data, needle.len) != NULL;
}

static void search_at_once(struct lookup *lookup, struct haystack *noted, struct bytes haystack)
{
    struct lookup_texts *texts = lookup->texts;
    if (texts->contains_count > noted->found_capacity) {
        noted->found_capacity = texts->contains_capacity;
        noted->found = arena_alloc(lookup->arena, noted->found_capacity * sizeof *noted->found);
    }
    size_t passed = text_search_run(texts->search, haystack, noted->found);
    lookup->work += passed * LOOKUP_WORK_SEARCHED_BYTE;
    noted->is_searched = true;
}

bool condition_texts_found(struct lookup *lookup, const struct condition *contains,
                           struct bytes haystack, struct bytes needle)
{
    struct haystack *noted = NULL;
    if (needle.len == 0)
        return true;
    if (needle.len > haystack.len)
        return false;
    if (haystack.len >= CONDITION_TEXTS_LONG_MIN)
        noted = note_haystack(texts_of(lookup), haystack);
    if (noted == NULL || noted->search_count < CONDITION_TEXTS_SEARCHES_MAX) {
        if (noted != NULL)
            noted->search_count++;
        return search_alone(lookup, haystack, needle);
    }
    struct lookup_texts *texts = lookup->texts;
    prepare_search(texts, lookup);
    if (!noted->is_searched)
        search_at_once(lookup, noted, haystack);
    const struct condition **at = bsearch(&contains, texts->contains, texts->contains_count,
                                          sizeof(*texts->contains), compare_addresses);
    assert(at != NULL);
    uint8_t *found =
        &noted->found[text_search_first(texts->search, (size_t)(at - texts->contains))];
    if (*found == TEXT_NOT_SEARCHED)
        *found = search_alone(lookup, haystack, needle) ? TEXT_FOUND : TEXT_MISSING;
    return *found == TEXT_FOUND;
}
