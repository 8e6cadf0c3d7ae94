/* arena.h -- memory that is freed all at once.
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
    /* Larger allocations come from malloc one by one, and grow there. */
    ARENA_LARGE_SIZE = 256 * 1024,
    /* So many of them, of at most so many bytes, are kept when they are freed, for all arenas with
     * a budget. */
    ARENA_SHELF_BLOCKS_MAX = 8,
    ARENA_SHELF_SIZE_MAX = 2 * 1024 * 1024,
};
/* Far above every bound on input: a larger size is a programming error, and doubling never wraps.
 */
#define ARENA_ALLOCATION_MAX (SIZE_MAX / 8)

/* The owner calls arena_destroy; destroying NULL is allowed. */
struct arena *arena_create(void);
/* All memory it holds, its first block included, counts in the budget, which must outlive it. */
struct arena *arena_create_counted(struct memory_budget *budget);
/* For an arena that is kept for long: its first block has `size` bytes, above 0, but is never a
 * large allocation. */
struct arena *arena_create_sized(size_t size);
void arena_destroy(struct arena *arena);

/* Forgets everything allocated. Under ASan the memory is poisoned, so a stale pointer fails. */
void arena_reset(struct arena *arena);

/* Gives the large allocations that are kept back to the system, because memory is scarce. Any
 * thread may call; does nothing while another thread uses them. */
void arena_empty_shelf(void);

/* Aligned to ARENA_ALIGNMENT, not cleared. Never NULL: running out of memory aborts. */
void *arena_alloc(struct arena *arena, size_t size);
/* The same, cleared. */
void *arena_alloc_zeroed(struct arena *arena, size_t size);
/* Makes `block` of `old_size` bytes larger: in place if it was the last one or a large one,
 * otherwise by copying. `block` NULL with `old_size` 0 allocates. */
void *arena_grow(struct arena *arena, void *block, size_t old_size, size_t new_size);
/* Frees the end of `block`, of `*size` bytes, beyond `wanted`, if it was the last one or a large
 * one. Sets `*size` to its new size; it may move. */
void *arena_shrink(struct arena *arena, void *block, size_t *size, size_t wanted);

struct bytes arena_copy(struct arena *arena, struct bytes value);
/* Concatenates the parts; much faster than arena_printf. */
struct bytes arena_join(struct arena *arena, const struct bytes *parts, size_t count);
struct bytes arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
struct bytes arena_vprintf(struct arena *arena, const char *format, va_list arguments)
    PRINTF_LIKE(2, 0);

/* Bytes held from the system, for tests and limits. */
size_t arena_held_size(const struct arena *arena);

#endif
