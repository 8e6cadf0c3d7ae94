/* text_search.c -- see text_search.h.
 *
 * The texts are a tree in which each node is a prefix of some of them. A node's fallback is the
 * longest proper suffix of it that is a prefix, too: the search continues there if the next byte
 * does not continue the node. So the search never goes back in the haystack. Edges are in a hash
 * table by node and byte, because a node may have hundreds and most have one.
 *
 * A byte of a text costs up to 60 bytes of memory here, so equal texts are added once, and only the
 * shortest texts are added: a long one gains little.
 */
#include "expr/text_search.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"

enum { ROOT = 0, NONE = UINT32_MAX, FIRST_CAPACITY = 512, BYTES_VALUES = 256 };

struct node {
    uint32_t parent;
    uint32_t fallback;
    uint32_t text; /* One that ends here; NONE: no text does. */
    uint32_t
        shorter; /* The next node along the fallbacks where a text ends; NONE: there is none. */
    uint32_t reported; /* The run in which it was reported. */
    uint8_t byte;      /* Of the edge that leads here. */
};

struct edge {
    uint32_t node; /* From. */
    uint32_t child;
    uint8_t byte;
    bool used;
};

struct text {
    struct bytes bytes;
    uint32_t number;
};

struct text_search {
    struct arena *arena;
    struct text *texts; /* As they were added; once it is built, the distinct ones by length. */
    uint32_t *first;    /* For each text: the index of the equal text that represents it. */
    size_t text_count, text_capacity;
    size_t distinct_count;
    size_t tree_count; /* How many of the distinct texts are in the tree: the shortest ones. */
    struct node *nodes;
    size_t node_count, node_capacity; /* The capacity is a power of two, or 0. */
    /* Scratch of set_fallbacks: one more than there are nodes. */
    uint32_t *depths, *order, *starts;
    struct edge *edges; /* Two for each node of the capacity. */
    /* The part of `edges` in use: a power of two, at least half of it free. */
    size_t edge_slots;
    uint32_t root_children[BYTES_VALUES]; /* NONE: there is none. */
    bool is_built;
    uint32_t run_count;
};

struct text_search *text_search_create(struct arena *arena)
{
    struct text_search *search = arena_alloc_zeroed(arena, sizeof *search);
    search->arena = arena;
    text_search_reset(search);
    return search;
}

void text_search_reset(struct text_search *search)
{
    search->text_count = 0;
    search->is_built = false;
}

/* Gives `array` room for `capacity` elements; it has room for `old`. */
#define GROW(search, array, old, capacity)                                                         \
    ((array) = arena_grow((search)->arena, (array), (old) * sizeof *(array),                       \
                          (capacity) * sizeof *(array)))

void text_search_add(struct text_search *search, struct bytes text)
{
    assert(text.len > 0 && !search->is_built);
    if (search->text_count == search->text_capacity) {
        size_t capacity = search->text_capacity == 0 ? 64 : search->text_capacity * 2;
        GROW(search, search->texts, search->text_capacity, capacity);
        GROW(search, search->first, search->text_capacity, capacity);
        search->text_capacity = capacity;
    }
    uint32_t number = (uint32_t)search->text_count++;
    search->texts[number] = (struct text){ .bytes = text, .number = number };
}

/* --- Equal texts --- */

static int compare_lengths(const struct text *a, const struct text *b)
{
    return a->bytes.len < b->bytes.len ? -1 : a->bytes.len > b->bytes.len;
}

static int compare_places(const void *left, const void *right)
{
    const struct text *a = left, *b = right;
    int order = compare_lengths(a, b);
    uintptr_t place_a = (uintptr_t)a->bytes.data, place_b = (uintptr_t)b->bytes.data;
    return order != 0 ? order : place_a < place_b ? -1 : place_a > place_b;
}

static int compare_contents(const void *left, const void *right)
{
    const struct text *a = left, *b = right;
    int order = compare_lengths(a, b);
    return order != 0 ? order : memcmp(a->bytes.data, b->bytes.data, a->bytes.len);
}

static void drop_equal(struct text_search *search, int (*compare)(const void *, const void *))
{
    struct text *texts = search->texts;
    size_t kept = 0;
    qsort(texts, search->distinct_count, sizeof *texts, compare);
    for (size_t i = 0; i < search->distinct_count; i++) {
        if (kept == 0 || compare(&texts[kept - 1], &texts[i]) != 0)
            texts[kept++] = texts[i];
        else
            search->first[texts[i].number] = texts[kept - 1].number;
    }
    search->distinct_count = kept;
}

/* Drops those at the same address first: if there are any, there are many, and each content is then
 * compared only a few times. */
static void find_distinct(struct text_search *search)
{
    search->distinct_count = search->text_count;
    for (size_t i = 0; i < search->text_count; i++)
        search->first[i] = (uint32_t)i;
    drop_equal(search, compare_places);
    drop_equal(search, compare_contents);
    for (size_t i = 0; i < search->text_count; i++) /* Follows chains of dropped texts. */
        search->first[i] = search->first[search->first[i]];
}

/* --- The tree --- */

/* The slot of the edge, or the free one where it belongs. */
static struct edge *slot_of(const struct text_search *search, uint32_t node, uint8_t byte)
{
    uint64_t hash = ((uint64_t)node << 8 | byte) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t at = (size_t)(hash >> 32);; at++) {
        struct edge *edge = &search->edges[at & (search->edge_slots - 1)];
        if (!edge->used || (edge->node == node && edge->byte == byte))
            return edge;
    }
}

/* NONE: there is no such child. */
static uint32_t child_of(const struct text_search *search, uint32_t node, uint8_t byte)
{
    if (node == ROOT)
        return search->root_children[byte];
    const struct edge *edge = slot_of(search, node, byte);
    return edge->used ? edge->child : NONE;
}

static uint32_t add_child(struct text_search *search, uint32_t node, uint8_t byte)
{
    uint32_t child = (uint32_t)search->node_count++;
    assert(search->node_count <= search->node_capacity);
    search->nodes[child] =
        (struct node){ .parent = node, .text = NONE, .shorter = NONE, .byte = byte };
    if (node == ROOT)
        search->root_children[byte] = child;
    else
        *slot_of(search, node, byte) =
            (struct edge){ .node = node, .child = child, .byte = byte, .used = true };
    return child;
}

/* Makes room for a tree of so many nodes; the memory is reused for the next tree. */
static void reserve(struct text_search *search, size_t node_max)
{
    size_t capacity = FIRST_CAPACITY;
    while (capacity < node_max)
        capacity *= 2;
    if (capacity > search->node_capacity) {
        size_t old = search->node_capacity;
        GROW(search, search->nodes, old, capacity);
        GROW(search, search->depths, old, capacity);
        GROW(search, search->order, old, capacity);
        GROW(search, search->starts, old == 0 ? 0 : old + 1, capacity + 1);
        GROW(search, search->edges, 2 * old, 2 * capacity);
        search->node_capacity = capacity;
    }
    search->edge_slots = 2 * capacity;
    memset(search->edges, 0, search->edge_slots * sizeof *search->edges);
    memset(search->root_children, 0xFF, sizeof search->root_children);
    search->nodes[ROOT] = (struct node){ .text = NONE, .shorter = NONE };
    search->node_count = 1;
}

static void add_path(struct text_search *search, const struct text *text)
{
    uint32_t node = ROOT;
    for (size_t i = 0; i < text->bytes.len; i++) {
        uint32_t child = child_of(search, node, text->bytes.data[i]);
        node = child != NONE ? child : add_child(search, node, text->bytes.data[i]);
    }
    search->nodes[node].text = text->number;
}

/* The node after the next byte. */
static uint32_t step(const struct text_search *search, uint32_t node, uint8_t byte)
{
    for (;;) {
        uint32_t child = child_of(search, node, byte);
        if (child != NONE)
            return child;
        if (node == ROOT)
            return ROOT;
        node = search->nodes[node].fallback;
    }
}

/* A fallback is shorter than its node, so nodes are visited in the order of their depth. */
static void set_fallbacks(struct text_search *search)
{
    size_t count = search->node_count;
    uint32_t *depths = search->depths, *order = search->order, *starts = search->starts;
    size_t depth_max = 0;
    depths[ROOT] = 0;
    for (size_t i = 1; i < count; i++) { /* A parent has a lower number. */
        depths[i] = depths[search->nodes[i].parent] + 1;
        depth_max = depths[i] > depth_max ? depths[i] : depth_max;
    }
    memset(starts, 0, (depth_max + 2) * sizeof *starts);
    for (size_t i = 0; i < count; i++)
        starts[depths[i] + 1]++;
    for (size_t depth = 1; depth <= depth_max + 1; depth++)
        starts[depth] += starts[depth - 1];
    for (size_t i = 0; i < count; i++)
        order[starts[depths[i]]++] = (uint32_t)i;
    for (size_t i = 1; i < count; i++) {
        struct node *node = &search->nodes[order[i]];
        node->fallback = node->parent == ROOT
                             ? ROOT
                             : step(search, search->nodes[node->parent].fallback, node->byte);
        const struct node *fallback = &search->nodes[node->fallback];
        node->shorter = fallback->text != NONE ? node->fallback : fallback->shorter;
    }
}

/* The sum of the lengths of the texts in the tree. */
static size_t build(struct text_search *search)
{
    size_t size = 0, count = 0;
    find_distinct(search);
    while (count < search->distinct_count &&
           search->texts[count].bytes.len <= TEXT_SEARCH_SIZE_MAX - size)
        size += search->texts[count++].bytes.len;
    search->tree_count = count;
    if (count > 0) {
        reserve(search, size + 1);
        for (size_t i = 0; i < count; i++)
            add_path(search, &search->texts[i]);
        set_fallbacks(search);
    }
    search->is_built = true;
    search->run_count = 0;
    return size;
}

/* --- Searching --- */

/* Reports all texts that end here: the node's own, and its suffixes. It stops at a node that was
 * reported before, so that a run visits each node at most once. */
static void report(struct text_search *search, uint32_t at, uint8_t *found)
{
    while (at != NONE && search->nodes[at].reported != search->run_count) {
        struct node *node = &search->nodes[at];
        node->reported = search->run_count;
        if (node->text != NONE)
            found[node->text] = TEXT_FOUND;
        at = node->shorter;
    }
}

size_t text_search_run(struct text_search *search, struct bytes haystack, uint8_t *found)
{
    size_t steps = search->is_built ? 0 : build(search);
    memset(found, TEXT_NOT_SEARCHED, search->text_count * sizeof *found);
    if (search->tree_count == 0)
        return steps;
    search->run_count++;
    for (size_t i = 0; i < search->tree_count; i++)
        found[search->texts[i].number] = TEXT_MISSING;
    uint32_t node = ROOT;
    for (size_t i = 0; i < haystack.len; i++) {
        node = step(search, node, haystack.data[i]);
        report(search, node, found);
    }
    for (size_t i = 0; i < search->text_count; i++)
        found[i] = found[search->first[i]];
    return steps + haystack.len;
}

size_t text_search_first(const struct text_search *search, size_t number)
{
    assert(search->is_built && number < search->text_count);
    return search->first[number];
}
