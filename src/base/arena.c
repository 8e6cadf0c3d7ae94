/* arena.c -- a bump allocator over a chain of blocks, with a list of large allocations beside it.
 *
 * The first block is kept over a reset, so the steady state of a server costs no malloc. Blocks
 * double in size, but stay below ARENA_LARGE_SIZE. Larger allocations come from malloc one
 * by one, so an array that grows leaves no copies behind, and realloc can often extend it in place.
 *
 * A few large allocations of requests are kept when they are freed. From the system each would come
 * as fresh pages: faulting them in and giving them back took a quarter of the time of a Scan's
 * page.
 */
#include "base/arena.h"
#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/log.h"
#include "base/memory_budget.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif

#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#define POISON(address, size) ASAN_POISON_MEMORY_REGION(address, size)
#define UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
/* A gap between allocations, so that running over the end of one meets poison. */
enum { REDZONE = ARENA_ALIGNMENT };
#else
#define POISON(address, size) ((void)0)
#define UNPOISON(address, size) ((void)0)
enum { REDZONE = 0 };
#endif

struct block {
    struct block *previous;
    size_t size; /* Of `memory`. */
    alignas(ARENA_ALIGNMENT) uint8_t memory[];
};

struct large {
    struct large *previous, *next;
    size_t size; /* Of `memory`. */
    alignas(ARENA_ALIGNMENT) uint8_t memory[];
};

struct arena {
    struct block *newest; /* The chain ends with the first block, which a reset keeps. */
    size_t used;          /* Of the newest block. */
    size_t held;
    struct large *large;          /* The newest. */
    struct memory_budget *budget; /* NULL: not counted. */
};

enum { BLOCK_SIZE_MAX = ARENA_LARGE_SIZE - ARENA_ALIGNMENT };

static size_t round_up(size_t size)
{
    return (size + (ARENA_ALIGNMENT - 1)) & ~(size_t)(ARENA_ALIGNMENT - 1);
}

/* What an allocation takes of its block. */
static size_t taken_by(size_t size)
{
    return round_up(size) + REDZONE;
}

/* No block has room for such an allocation, so the size alone tells which kind it is. */
static bool is_large(size_t size)
{
    return taken_by(size) > BLOCK_SIZE_MAX;
}

static void *checked(void *memory, size_t size)
{
    if (memory == NULL) {
        log_write(LOG_ERROR, "memory", "out of memory: %zu bytes", size);
        abort();
    }
    return memory;
}

static void hold(struct arena *arena, size_t size)
{
    arena->held += size;
    memory_budget_take(arena->budget, size);
}

static void release(struct arena *arena, size_t size)
{
    assert(size <= arena->held);
    arena->held -= size;
    memory_budget_give(arena->budget, size);
}

/* --- Blocks --- */

static struct block *block_create(size_t size, struct block *previous)
{
    struct block *block = checked(malloc(sizeof *block + size), size);
    block->previous = previous;
    block->size = size;
    POISON(block->memory, size);
    return block;
}

static void block_destroy(struct block *block)
{
    UNPOISON(block->memory, block->size);
    free(block);
}

static void add_block(struct arena *arena, size_t needed)
{
    size_t size = arena->newest->size * 2;
    while (size < needed)
        size *= 2;
    if (size > BLOCK_SIZE_MAX)
        size = BLOCK_SIZE_MAX;
    arena->newest = block_create(size, arena->newest);
    arena->used = 0;
    hold(arena, size);
}

/* --- Large allocations --- */

static struct large *large_of(void *memory)
{
    return (struct large *)(void *)((char *)memory - offsetof(struct large, memory));
}

/* Sets the pointers of its neighbours: realloc may have moved it. */
static void link_large(struct arena *arena, struct large *large)
{
    if (large->previous != NULL)
        large->previous->next = large;
    if (large->next != NULL)
        large->next->previous = large;
    else
        arena->large = large;
}

/* Those that were freed last, for any thread. Who finds the shelf in use does not wait, but asks
 * the system. */
static struct {
    atomic_flag in_use;
    size_t count;
    struct large *blocks[ARENA_SHELF_BLOCKS_MAX];
} shelf = { .in_use = ATOMIC_FLAG_INIT };

static bool shelf_try_lock(void)
{
    return !atomic_flag_test_and_set_explicit(&shelf.in_use, memory_order_acquire);
}

static void shelf_unlock(void)
{
    atomic_flag_clear_explicit(&shelf.in_use, memory_order_release);
}

/* One with room for so many bytes, or NULL. */
static struct large *shelf_take(size_t size)
{
    struct large *found = NULL;
    if (size > ARENA_SHELF_SIZE_MAX || !shelf_try_lock())
        return NULL;
    for (size_t i = 0; found == NULL && i < shelf.count; i++) {
        if (shelf.blocks[i]->size < size)
            continue;
        found = shelf.blocks[i];
        shelf.blocks[i] = shelf.blocks[--shelf.count];
    }
    shelf_unlock();
    return found;
}

/* Keeps it, perhaps instead of a smaller one; returns what is to be freed, or NULL. */
static struct large *shelf_put(struct large *large)
{
    size_t place = 0;
    if (large->size > ARENA_SHELF_SIZE_MAX || !shelf_try_lock())
        return large;
    if (shelf.count < ARENA_SHELF_BLOCKS_MAX) {
        shelf.blocks[shelf.count++] = large;
        large = NULL;
    } else {
        for (size_t i = 1; i < shelf.count; i++)
            if (shelf.blocks[i]->size < shelf.blocks[place]->size)
                place = i;
        if (shelf.blocks[place]->size < large->size) {
            struct large *smaller = shelf.blocks[place];
            shelf.blocks[place] = large;
            large = smaller;
        }
    }
    shelf_unlock();
    return large;
}

void arena_empty_shelf(void)
{
    struct large *blocks[ARENA_SHELF_BLOCKS_MAX];
    if (!shelf_try_lock())
        return;
    size_t count = shelf.count;
    memcpy(blocks, shelf.blocks, sizeof blocks);
    shelf.count = 0;
    shelf_unlock();
    for (size_t i = 0; i < count; i++) {
        UNPOISON(blocks[i]->memory, blocks[i]->size);
        free(blocks[i]);
    }
}

static struct large *large_create(size_t size)
{
    struct large *large = checked(malloc(sizeof *large + size), size);
    large->size = size;
    return large;
}

/* Only arenas with a budget, those of requests, use the shelf: what lives for long must not hold a
 * block that is larger than it needs. */
static void large_destroy(const struct arena *arena, struct large *large)
{
    POISON(large->memory, large->size);
    if (arena->budget != NULL)
        large = shelf_put(large);
    if (large != NULL) {
        UNPOISON(large->memory, large->size);
        free(large);
    }
}

static void *large_alloc(struct arena *arena, size_t size)
{
    struct large *large = arena->budget == NULL ? NULL : shelf_take(size);
    if (large == NULL)
        large = large_create(size);
    large->previous = arena->large;
    large->next = NULL;
    link_large(arena, large);
    hold(arena, large->size);
    UNPOISON(large->memory, size);
    return large->memory;
}

static void *large_resize(struct arena *arena, struct large *large, size_t size)
{
    size_t old_size = large->size;
    UNPOISON(large->memory, old_size);
    large = checked(realloc(large, sizeof *large + size), size);
    large->size = size;
    link_large(arena, large);
    release(arena, old_size);
    hold(arena, size);
    return large->memory;
}

static void *large_grow(struct arena *arena, void *memory, size_t size)
{
    struct large *large = large_of(memory);
    if (size > large->size)
        return large_resize(arena, large, size);
    UNPOISON(memory, size);
    return memory;
}

/* --- Life --- */

static struct arena *create(size_t size, struct memory_budget *budget)
{
    struct arena *arena = checked(malloc(sizeof *arena), sizeof *arena);
    *arena = (struct arena){ .newest = block_create(size, NULL), .budget = budget };
    hold(arena, size);
    return arena;
}

struct arena *arena_create_sized(size_t size)
{
    assert(size > 0 && size <= ARENA_ALLOCATION_MAX);
    return create(size < BLOCK_SIZE_MAX ? size : BLOCK_SIZE_MAX, NULL);
}

struct arena *arena_create(void)
{
    return create(ARENA_KEPT_SIZE, NULL);
}

struct arena *arena_create_counted(struct memory_budget *budget)
{
    return create(ARENA_KEPT_SIZE, budget);
}

static void drop_all_but_first(struct arena *arena)
{
    while (arena->large != NULL) {
        struct large *large = arena->large;
        arena->large = large->previous;
        large_destroy(arena, large);
    }
    while (arena->newest->previous != NULL) {
        struct block *block = arena->newest;
        arena->newest = block->previous;
        block_destroy(block);
    }
    if (arena->held > arena->newest->size)
        release(arena, arena->held - arena->newest->size);
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL)
        return;
    drop_all_but_first(arena);
    release(arena, arena->held);
    block_destroy(arena->newest);
    free(arena);
}

void arena_reset(struct arena *arena)
{
    drop_all_but_first(arena);
    POISON(arena->newest->memory, arena->newest->size);
    arena->used = 0;
}

/* --- Allocating --- */

static void *take(struct arena *arena, size_t size)
{
    uint8_t *memory = arena->newest->memory + arena->used;
    arena->used += taken_by(size);
    UNPOISON(memory, size);
    return memory;
}

/* Not inlined: it would make every allocation longer. */
__attribute__((noinline)) static void *alloc_elsewhere(struct arena *arena, size_t size)
{
    if (is_large(size))
        return large_alloc(arena, size);
    add_block(arena, taken_by(size));
    return take(arena, size);
}

void *arena_alloc(struct arena *arena, size_t size)
{
    assert(size <= ARENA_ALLOCATION_MAX);
    if (UNLIKELY(taken_by(size) > arena->newest->size - arena->used))
        return alloc_elsewhere(arena, size);
    return take(arena, size);
}

void *arena_alloc_zeroed(struct arena *arena, size_t size)
{
    void *memory = arena_alloc(arena, size);
    memset(memory, 0, size);
    return memory;
}

/* True if an allocation is the last one in the newest block. */
static bool is_last(const struct arena *arena, const void *memory, size_t size)
{
    return (const uint8_t *)memory + taken_by(size) == arena->newest->memory + arena->used;
}

void *arena_grow(struct arena *arena, void *block, size_t old_size, size_t new_size)
{
    assert(new_size >= old_size && new_size <= ARENA_ALLOCATION_MAX);
    if (block == NULL)
        return arena_alloc(arena, new_size);
    if (UNLIKELY(is_large(old_size)))
        return large_grow(arena, block, new_size);
    size_t more = round_up(new_size) - round_up(old_size);
    if (is_last(arena, block, old_size) && more <= arena->newest->size - arena->used) {
        arena->used += more;
        UNPOISON(block, new_size);
        return block;
    }
    void *copy = arena_alloc(arena, new_size);
    memcpy(copy, block, old_size);
    return copy;
}

void *arena_shrink(struct arena *arena, void *block, size_t *size, size_t wanted)
{
    assert(wanted <= *size);
    if (is_large(*size)) {
        size_t kept =
            is_large(wanted) ? wanted : ARENA_LARGE_SIZE; /* It must stay large: see is_large. */
        if (kept < large_of(block)->size) {
            *size = kept;
            block = large_resize(arena, large_of(block), kept);
        }
    } else if (block != NULL && is_last(arena, block, *size)) {
        arena->used -= round_up(*size) - round_up(wanted);
        POISON((uint8_t *)block + wanted, round_up(*size) - wanted);
        *size = wanted;
    }
    return block;
}

struct bytes arena_copy(struct arena *arena, struct bytes value)
{
    uint8_t *copy = arena_alloc(arena, value.len);
    if (value.len > 0)
        memcpy(copy, value.data, value.len);
    return bytes_of(copy, value.len);
}

struct bytes arena_vprintf(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    assert(length >= 0);
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return bytes_of(text, (size_t)length);
}

struct bytes arena_join(struct arena *arena, const struct bytes *parts, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].len;
    uint8_t *out = arena_alloc(arena, size);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(out + at, parts[i].data, parts[i].len);
        at += parts[i].len;
    }
    return bytes_of(out, size);
}

struct bytes arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct bytes text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

size_t arena_held_size(const struct arena *arena)
{
    return arena->held;
}
