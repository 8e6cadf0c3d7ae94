/* arena.h -- memory that is given back all at once.
 *
 * A request, a background step or a test owns one arena; what it parses, decodes or formats
 * lives there until arena_reset. One thread at a time may use an arena.
 */
#ifndef STATOR_BASE_ARENA_H
#define STATOR_BASE_ARENA_H
#include <stdarg.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct memory_budget;

enum {
    ARENA_ALIGNMENT = 16,
    /* What a reset keeps for the next user; larger requests give the rest back to the system. */
    ARENA_KEPT_SIZE = 64 * 1024,
    /* Allocations from about here on are the system's one by one, and grow there. */
    ARENA_LARGE_SIZE = 256 * 1024,
};
/* Far above every bound on input: a larger size is a mistake of ours, and doubling never wraps. */
#define ARENA_ALLOCATION_MAX (SIZE_MAX / 8)

/* The owner calls arena_destroy; destroying NULL is allowed. */
struct arena *arena_create(void);
/* What it holds, its first block included, counts in the budget, which must outlive it. */
struct arena *arena_create_counted(struct memory_budget *budget);
/* For one of many that are kept for long: holds `size` bytes, above 0, until more are needed; at
 * most what is not large yet. */
struct arena *arena_create_sized(size_t size);
void arena_destroy(struct arena *arena);

/* Forgets everything allocated. Under ASan the memory is poisoned, so a stale pointer fails. */
void arena_reset(struct arena *arena);

/* Aligned to ARENA_ALIGNMENT, not cleared. Never NULL: running out of memory aborts. */
void *arena_alloc(struct arena *arena, size_t size);
/* The same, cleared. */
void *arena_alloc_zeroed(struct arena *arena, size_t size);
/* Makes `block` of `old_size` bytes larger: in place if it was the last one or a large one, else by
 * copying. `block` NULL with `old_size` 0 allocates. */
void *arena_grow(struct arena *arena, void *block, size_t old_size, size_t new_size);
/* Gives back what `block` of `*size` bytes has beyond `wanted`, if it was the last one or a large
 * one. `*size` becomes what it keeps; it may have moved. */
void *arena_shrink(struct arena *arena, void *block, size_t *size, size_t wanted);

struct bytes arena_copy(struct arena *arena, struct bytes value);
/* The parts in a row: what arena_printf does to texts, in a fraction of the time. */
struct bytes arena_join(struct arena *arena, const struct bytes *parts, size_t count);
struct bytes arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
struct bytes arena_vprintf(struct arena *arena, const char *format, va_list arguments)
    PRINTF_LIKE(2, 0);

/* Bytes held from the system, for tests and limits. */
size_t arena_held_size(const struct arena *arena);

#endif
