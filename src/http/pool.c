/* pool.c -- see pool.h. The last one given is the first taken, for it is still in the cache. */
#include "http/pool.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/memory_budget.h"

void http_pool_init(struct http_pool *pool, size_t input_capacity, size_t spares_size_max,
                    struct memory_budget *budget)
{
    size_t size = sizeof(struct http_input) + input_capacity + ARENA_KEPT_SIZE; /* One of each. */
    size_t count = spares_size_max / size;
    *pool = (struct http_pool){ .input_capacity = input_capacity,
                                .spares_max =
                                    count < HTTP_POOL_SPARES_MAX ? count : HTTP_POOL_SPARES_MAX,
                                .budget = budget };
}

static void destroy_input(struct http_pool *pool, struct http_input *input)
{
    memory_budget_give(pool->budget, sizeof *input + input->capacity);
    free(input);
}

void http_pool_deinit(struct http_pool *pool)
{
    while (pool->inputs != NULL) {
        struct http_input *input = pool->inputs;
        pool->inputs = input->next;
        destroy_input(pool, input);
    }
    while (pool->arena_count > 0)
        arena_destroy(pool->arenas[--pool->arena_count]);
}

struct http_input *http_pool_take_input(struct http_pool *pool)
{
    struct http_input *input = pool->inputs;
    if (input != NULL) {
        pool->inputs = input->next;
        pool->input_count--;
    } else {
        input = malloc(sizeof *input + pool->input_capacity);
        if (input == NULL)
            abort();
        input->capacity = pool->input_capacity;
        memory_budget_take(pool->budget, sizeof *input + input->capacity);
    }
    input->next = NULL;
    input->start = 0;
    input->end = 0;
    return input;
}

void http_pool_give_input(struct http_pool *pool, struct http_input *input)
{
    if (pool->input_count == pool->spares_max) {
        destroy_input(pool, input);
        return;
    }
    input->next = pool->inputs;
    pool->inputs = input;
    pool->input_count++;
}

struct arena *http_pool_take_arena(struct http_pool *pool)
{
    if (pool->arena_count > 0)
        return pool->arenas[--pool->arena_count];
    return arena_create_counted(pool->budget);
}

void http_pool_give_arena(struct http_pool *pool, struct arena *arena)
{
    if (pool->arena_count == pool->spares_max) {
        arena_destroy(arena);
        return;
    }
    arena_reset(arena);
    pool->arenas[pool->arena_count++] = arena;
}

void http_input_compact(struct http_input *input)
{
    if (input->start == 0)
        return;
    memmove(input->data, input->data + input->start, input->end - input->start);
    input->end -= input->start;
    input->start = 0;
}
