/* arena.c -- a bump allocator over a chain of blocks that double in size.
 *
 * The first block is kept over a reset, so the steady state of a server costs no malloc.
 */
#include "base/arena.h"
#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

struct arena {
    struct block *newest; /* The chain ends with the first block, which a reset keeps. */
    size_t used;          /* Of the newest block. */
    size_t held;
};

static size_t round_up(size_t size)
{
    return (size + (ARENA_ALIGNMENT - 1)) & ~(size_t)(ARENA_ALIGNMENT - 1);
}

static struct block *block_create(size_t size, struct block *previous)
{
    struct block *block = malloc(sizeof *block + size);
    if (block == NULL) {
        fprintf(stderr, "out of memory: %zu bytes\n", size);
        abort();
    }
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

struct arena *arena_create_sized(size_t size)
{
    assert(size > 0 && size <= ARENA_ALLOCATION_MAX);
    struct arena *arena = malloc(sizeof *arena);
    if (arena == NULL)
        abort();
    *arena = (struct arena){ .newest = block_create(size, NULL), .held = size };
    return arena;
}

struct arena *arena_create(void)
{
    return arena_create_sized(ARENA_KEPT_SIZE);
}

static void drop_later_blocks(struct arena *arena)
{
    while (arena->newest->previous != NULL) {
        struct block *block = arena->newest;
        arena->newest = block->previous;
        block_destroy(block);
    }
    arena->held = arena->newest->size;
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL)
        return;
    drop_later_blocks(arena);
    block_destroy(arena->newest);
    free(arena);
}

void arena_reset(struct arena *arena)
{
    drop_later_blocks(arena);
    POISON(arena->newest->memory, arena->newest->size);
    arena->used = 0;
}

static void add_block(struct arena *arena, size_t needed)
{
    size_t size = arena->newest->size * 2;
    while (size < needed)
        size *= 2;
    arena->newest = block_create(size, arena->newest);
    arena->held += size;
    arena->used = 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    assert(size <= ARENA_ALLOCATION_MAX);
    size_t taken = round_up(size) + REDZONE;
    if (UNLIKELY(taken > arena->newest->size - arena->used))
        add_block(arena, taken);
    uint8_t *memory = arena->newest->memory + arena->used;
    arena->used += taken;
    UNPOISON(memory, size);
    return memory;
}

void *arena_alloc_zeroed(struct arena *arena, size_t size)
{
    void *memory = arena_alloc(arena, size);
    memset(memory, 0, size);
    return memory;
}

void *arena_grow(struct arena *arena, void *block, size_t old_size, size_t new_size)
{
    assert(new_size >= old_size);
    if (block == NULL)
        return arena_alloc(arena, new_size);
    uint8_t *end = (uint8_t *)block + round_up(old_size) + REDZONE;
    size_t more = round_up(new_size) - round_up(old_size);
    if (end == arena->newest->memory + arena->used && more <= arena->newest->size - arena->used) {
        arena->used += more;
        UNPOISON(block, new_size);
        return block;
    }
    void *copy = arena_alloc(arena, new_size);
    memcpy(copy, block, old_size);
    return copy;
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
