/* pool.c -- see pool.h. The last one given is the first taken, for it is still in the cache. */
#include "http/pool.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

void http_pool_init(struct http_pool *pool, size_t input_capacity)
{
    *pool = (struct http_pool){ .input_capacity = input_capacity };
}

void http_pool_deinit(struct http_pool *pool)
{
    while (pool->inputs != NULL) {
        struct http_input *input = pool->inputs;
        pool->inputs = input->next;
        free(input);
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
    }
    input->next = NULL;
    input->start = 0;
    input->end = 0;
    return input;
}

void http_pool_give_input(struct http_pool *pool, struct http_input *input)
{
    if (pool->input_count == HTTP_POOL_INPUTS_MAX) {
        free(input);
        return;
    }
    input->next = pool->inputs;
    pool->inputs = input;
    pool->input_count++;
}

struct arena *http_pool_take_arena(struct http_pool *pool)
{
    return pool->arena_count > 0 ? pool->arenas[--pool->arena_count] : arena_create();
}

void http_pool_give_arena(struct http_pool *pool, struct arena *arena)
{
    if (pool->arena_count == HTTP_POOL_ARENAS_MAX) {
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
