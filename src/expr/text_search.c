/* text_search.c -- see text_search.h.
 *
 * The texts are a tree in which each node is a beginning of some of them. A node's fallback is the
 * longest other beginning that it ends with: that is where the search goes on if the next byte does
 * not continue the node. So the search never goes back in the haystack. Edges are in a hash table
 * by node and byte, since a node may have hundreds and most have one.
 */
#include "expr/text_search.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"

enum { ROOT = 0, NONE = UINT32_MAX, FIRST_CAPACITY = 1024, BYTES_VALUES = 256 };

struct node {
    uint32_t parent;
    uint32_t fallback;
    uint32_t text; /* One that ends here; NONE: no text does. */
    uint32_t
        shorter; /* The next node along the fallbacks where a text ends; NONE: there is none. */
    uint32_t reported; /* The run in which it was. */
    uint8_t byte;      /* Of the edge that leads here. */
};

struct edge {
    uint32_t node; /* From. */
    uint32_t child;
    uint8_t byte;
    bool used;
};

struct text_search {
    struct arena *arena;
    struct bytes *texts;
    uint32_t *same; /* For each text: an earlier one that is equal; NONE: there is none. */
    size_t text_count, text_capacity;
    struct node *nodes;
    size_t node_count, node_capacity;
    struct edge *edges;                   /* At most half of the slots are used. */
    size_t edge_capacity;                 /* A power of two. */
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

void text_search_add(struct text_search *search, struct bytes text)
{
    assert(text.len > 0 && !search->is_built);
    if (search->text_count == search->text_capacity) {
        size_t capacity = search->text_capacity == 0 ? 64 : search->text_capacity * 2;
        search->texts =
            arena_grow(search->arena, search->texts, search->text_count * sizeof *search->texts,
                       capacity * sizeof *search->texts);
        search->same =
            arena_grow(search->arena, search->same, search->text_count * sizeof *search->same,
                       capacity * sizeof *search->same);
        search->text_capacity = capacity;
    }
    search->texts[search->text_count++] = text;
}

/* --- The tree --- */

/* Where the edge is, or would be. */
static struct edge *slot_of(const struct text_search *search, uint32_t node, uint8_t byte)
{
    uint64_t hash = ((uint64_t)node << 8 | byte) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t at = (size_t)(hash >> 32);; at++) {
        struct edge *edge = &search->edges[at & (search->edge_capacity - 1)];
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

static void reserve(struct text_search *search)
{
    size_t size = 1, edges = FIRST_CAPACITY;
    for (size_t i = 0; i < search->text_count; i++)
        size += search->texts[i].len;
    assert(size < NONE / 2); /* Requests are far smaller. */
    while (edges < 2 * size)
        edges *= 2;
    if (size > search->node_capacity) {
        search->nodes = arena_alloc(search->arena, size * sizeof *search->nodes);
        search->node_capacity = size;
    }
    if (edges > search->edge_capacity) {
        search->edges = arena_alloc(search->arena, edges * sizeof *search->edges);
        search->edge_capacity = edges;
    }
    memset(search->edges, 0, search->edge_capacity * sizeof *search->edges);
    memset(search->root_children, 0xFF, sizeof search->root_children);
    search->nodes[ROOT] = (struct node){ .text = NONE, .shorter = NONE };
    search->node_count = 1;
}

static void add_path(struct text_search *search, uint32_t number)
{
    struct bytes text = search->texts[number];
    uint32_t node = ROOT;
    for (size_t i = 0; i < text.len; i++) {
        uint32_t child = child_of(search, node, text.data[i]);
        node = child != NONE ? child : add_child(search, node, text.data[i]);
    }
    search->same[number] = search->nodes[node].text;
    if (search->nodes[node].text == NONE)
        search->nodes[node].text = number;
}

/* Where the search is after another byte. */
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

/* A fallback is shorter than its node, so nodes are visited by their depth. */
static void set_fallbacks(struct text_search *search)
{
    size_t count = search->node_count;
    uint32_t *depths = arena_alloc(search->arena, count * sizeof *depths);
    uint32_t *order = arena_alloc(search->arena, count * sizeof *order);
    size_t depth_max = 0;
    depths[ROOT] = 0;
    for (size_t i = 1; i < count; i++) { /* A parent has a lower number. */
        depths[i] = depths[search->nodes[i].parent] + 1;
        depth_max = depths[i] > depth_max ? depths[i] : depth_max;
    }
    uint32_t *starts = arena_alloc_zeroed(search->arena, (depth_max + 2) * sizeof *starts);
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

static void build(struct text_search *search)
{
    reserve(search);
    for (size_t i = 0; i < search->text_count; i++)
        add_path(search, (uint32_t)i);
    set_fallbacks(search);
    search->is_built = true;
    search->run_count = 0;
}

/* --- Searching --- */

/* All texts that end here: this node's, and those it ends with. Those of a node that was reported
 * before were, too, so that all reports together are as many as there are nodes. */
static void report(struct text_search *search, uint32_t at, bool *found)
{
    while (at != NONE && search->nodes[at].reported != search->run_count) {
        struct node *node = &search->nodes[at];
        node->reported = search->run_count;
        if (node->text != NONE)
            found[node->text] = true;
        at = node->shorter;
    }
}

void text_search_run(struct text_search *search, struct bytes haystack, bool *found)
{
    if (!search->is_built)
        build(search);
    search->run_count++;
    memset(found, 0, search->text_count * sizeof *found);
    uint32_t node = ROOT;
    for (size_t i = 0; i < haystack.len; i++) {
        node = step(search, node, haystack.data[i]);
        report(search, node, found);
    }
    for (size_t i = 0; i < search->text_count; i++) {
        if (search->same[i] != NONE)
            found[i] = found[search->same[i]];
    }
}
