/* request_memory.c -- see request_memory.h. */
#include "http/request_memory.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/memory_budget.h"
#include "http/connection.h"
#include "http/exchange.h"
#include "http/loop.h"

/* --- Spares ---
 *
 * The last one returned is the first one taken: it is still in the processor's cache. */

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
        input = memory_checked(malloc(sizeof *input + pool->input_capacity));
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
    assert(input->next == NULL && input->capacity == pool->input_capacity);
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
    assert(input->start <= input->end && input->end <= input->capacity);
    if (input->start == 0)
        return;
    memmove(input->data, input->data + input->start, input->end - input->start);
    input->end -= input->start;
    input->start = 0;
}

/* --- Bodies --- */

static bool is_mapped(size_t capacity)
{
    return capacity >= HTTP_BODY_MAPPED_CAPACITY;
}

static void *checked_map(void *memory)
{
    return memory_checked(memory == MAP_FAILED ? NULL : memory);
}

static void *map(size_t size)
{
    return checked_map(
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void http_body_deinit(struct http_body *body, struct memory_budget *budget)
{
    memory_budget_give(budget, body->capacity);
    if (is_mapped(body->capacity))
        munmap(body->data, body->capacity);
    else
        free(body->data);
    *body = (struct http_body){ 0 };
}

size_t http_body_growth(const struct http_body *body, size_t more, size_t len_max)
{
    assert(more <= len_max - body->len);
    size_t capacity = body->capacity;
    while (capacity - body->len < more)
        capacity = capacity == 0 ? HTTP_BODY_FIRST_CAPACITY : capacity * 2;
    if (capacity > len_max)
        capacity = len_max;
    return capacity - body->capacity;
}

void http_body_grow(struct http_body *body, size_t size)
{
    assert(size > 0 && body->len <= body->capacity);
    size_t capacity = body->capacity + size;
    if (is_mapped(body->capacity)) {
        body->data = checked_map(mremap(body->data, body->capacity, capacity, MREMAP_MAYMOVE));
    } else if (is_mapped(capacity)) {
        uint8_t *data = map(capacity);
        if (body->len > 0)
            memcpy(data, body->data, body->len);
        free(body->data);
        body->data = data;
        body->copied += body->len;
    } else {
        body->data = memory_checked(realloc(body->data, capacity));
        body->copied += body->len;
    }
    body->capacity = capacity;
}

void http_body_append(struct http_body *body, struct bytes more)
{
    assert(more.len <= body->capacity - body->len);
    if (more.len > 0)
        memcpy(body->data + body->len, more.data, more.len);
    body->len += more.len;
}

/* --- Freeing --- */

struct garbage {
    struct garbage *next;
    struct arena *arena; /* NULL: none. */
    struct http_body body;
};

struct http_discard {
    pthread_t thread;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    struct garbage *garbage;
    bool empties_shelf;
    bool stopping;
};

/* Waits for garbage, and takes all there is; NULL: the shelf is to be emptied. False: stopping. */
static bool take(struct http_discard *discard, struct garbage **garbage)
{
    pthread_mutex_lock(&discard->mutex);
    while (discard->garbage == NULL && !discard->empties_shelf && !discard->stopping)
        pthread_cond_wait(&discard->changed, &discard->mutex);
    *garbage = discard->garbage;
    bool empties_shelf = discard->empties_shelf;
    discard->garbage = NULL;
    discard->empties_shelf = false;
    pthread_mutex_unlock(&discard->mutex);
    if (empties_shelf)
        arena_empty_shelf();
    return empties_shelf || *garbage != NULL;
}

static void *run(void *argument)
{
    struct garbage *item;
    while (take(argument, &item)) {
        while (item != NULL) {
            struct garbage *next = item->next;
            arena_destroy(item->arena);
            http_body_deinit(&item->body, NULL);
            free(item);
            item = next;
        }
    }
    return NULL;
}

struct http_discard *http_discard_start(void)
{
    struct http_discard *discard = memory_checked(calloc(1, sizeof *discard));
    pthread_mutex_init(&discard->mutex, NULL);
    pthread_cond_init(&discard->changed, NULL);
    if (pthread_create(&discard->thread, NULL, run, discard) == 0)
        return discard;
    pthread_cond_destroy(&discard->changed);
    pthread_mutex_destroy(&discard->mutex);
    free(discard);
    return NULL;
}

void http_discard_stop(struct http_discard *discard)
{
    if (discard == NULL)
        return;
    pthread_mutex_lock(&discard->mutex);
    discard->stopping = true;
    pthread_cond_signal(&discard->changed);
    pthread_mutex_unlock(&discard->mutex);
    pthread_join(discard->thread, NULL);
    pthread_cond_destroy(&discard->changed);
    pthread_mutex_destroy(&discard->mutex);
    free(discard);
}

void http_discard_shelf(struct http_discard *discard)
{
    pthread_mutex_lock(&discard->mutex);
    if (!discard->empties_shelf)
        pthread_cond_signal(&discard->changed);
    discard->empties_shelf = true;
    pthread_mutex_unlock(&discard->mutex);
}

static void discard_apart(struct http_discard *discard, struct arena *arena, struct http_body body)
{
    struct garbage *item = memory_checked(malloc(sizeof *item));
    *item = (struct garbage){ .arena = arena, .body = body };
    pthread_mutex_lock(&discard->mutex);
    item->next = discard->garbage;
    discard->garbage = item;
    pthread_cond_signal(&discard->changed);
    pthread_mutex_unlock(&discard->mutex);
}

void http_discard_arena(struct http_loop *loop, struct arena *arena)
{
    if (arena_held_size(arena) < HTTP_DISCARD_APART_SIZE)
        http_pool_give_arena(&loop->pool, arena);
    else
        discard_apart(loop->shared->discard, arena, (struct http_body){ 0 });
}

void http_discard_body(struct http_loop *loop, struct http_body *body)
{
    if (body->capacity == 0)
        return; /* It was in the input, as small ones are: leave the shared budget alone. */
    if (body->capacity < HTTP_DISCARD_APART_SIZE) {
        http_body_deinit(body, &loop->shared->memory);
        return;
    }
    /* At once: the next body, perhaps of the same client, does not wait for the other thread. */
    memory_budget_give(&loop->shared->memory, body->capacity);
    discard_apart(loop->shared->discard, NULL, *body);
    *body = (struct http_body){ 0 };
}

/* --- Pressure ---
 *
 * Each kind of deadline is a queue in the order in which deadlines were set, so its first
 * connection has gone longest without progress. Dropping it does what its time-out would have done
 * later. The memory of a dropped connection is free after one turn of the loop. */

enum { LOG_INTERVAL_MS = 10 * 1000 };

/* Those that hold most memory first. */
static const enum http_deadline_kind kinds[] = { HTTP_DEADLINE_WRITE, HTTP_DEADLINE_BODY,
                                                 HTTP_DEADLINE_HEADER };

size_t http_pressure_scarce_size(size_t memory_max)
{
    return memory_max / 100 * HTTP_PRESSURE_SCARCE_PERCENT;
}

static size_t held_by(const struct http_connection *connection)
{
    size_t size = connection->body.capacity;
    if (connection->input != NULL)
        size += connection->input->capacity;
    if (connection->exchange != NULL)
        size += arena_held_size(connection->exchange->arena);
    return size;
}

/* Drops the first connections of a queue that have made no progress for `stall_ms`, until that
 * frees `wanted` bytes. Returns how many bytes it frees. */
static size_t drop_stalled(struct http_loop *loop, enum http_deadline_kind kind, uint64_t stall_ms,
                           size_t wanted)
{
    assert(stall_ms > 0); /* So the loop below ends: a renewed deadline is not stalled. */
    uint64_t now_ms = uv_now(&loop->uv);
    uint64_t duration_ms = loop->deadlines.queues[kind].duration_ms;
    size_t found = 0;
    struct http_deadline *first;
    while (found < wanted && (first = loop->deadlines.queues[kind].first) != NULL &&
           now_ms + duration_ms >= first->due_ms + stall_ms) {
        struct http_connection *connection = http_connection_of_deadline(first);
        size_t size = held_by(connection);
        http_connection_expire(connection); /* Renews the deadline after progress. */
        if (connection->deadline.kind != kind)
            found += size;
    }
    return found;
}

static size_t drop_all_stalled(struct http_loop *loop, size_t wanted)
{
    size_t found = 0;
    for (size_t i = 0; i < COUNT_OF(kinds) && found < wanted; i++)
        found += drop_stalled(loop, kinds[i], HTTP_PRESSURE_STALL_MS, wanted - found);
    return found;
}

/* By how much `more` bytes would exceed the bound. */
static size_t excess(const struct http_loop *loop, size_t more, size_t bound)
{
    size_t used = memory_budget_used(&loop->shared->memory) + more;
    return used > bound ? used - bound : 0;
}

void http_pressure_run_task(struct http_task *task)
{
    struct http_loop *loop =
        (struct http_loop *)(void *)((char *)task - offsetof(struct http_loop, relief));
    drop_all_stalled(loop, atomic_exchange(&loop->relief_size, 0));
}

/* The clients that hold most may belong to other loops. Each loop is asked for the whole size: it
 * may be the only one with stalled connections. */
static void ask_others(const struct http_loop *loop, size_t wanted)
{
    const struct http_shared *shared = loop->shared;
    for (unsigned i = 0; i < shared->loop_count; i++) {
        struct http_loop *other = shared->loops[i];
        if (other != loop && atomic_exchange(&other->relief_size, wanted) == 0)
            http_loop_post_if_running(other, &other->relief);
    }
}

static void log_pressure(struct http_loop *loop)
{
    uint64_t now_ms = uv_now(&loop->uv);
    if (now_ms < loop->pressure_told_ms + LOG_INTERVAL_MS && loop->pressure_told_ms != 0)
        return;
    loop->pressure_told_ms = now_ms;
    log_write(LOG_WARN, "http", "requests hold %zu of %zu bytes: some are answered 503",
              memory_budget_used(&loop->shared->memory), loop->shared->options.memory_max);
}

bool http_pressure_makes_room_for_body(struct http_loop *loop, size_t size)
{
    size_t wanted = excess(loop, size, loop->shared->memory.size_max);
    if (wanted == 0)
        return true;
    http_discard_shelf(loop->shared->discard);
    ask_others(loop, wanted);
    if (drop_all_stalled(loop, wanted) >= wanted)
        return true;
    log_pressure(loop);
    return false;
}

bool http_pressure_makes_room(struct http_loop *loop)
{
    size_t wanted = excess(loop, 0, loop->shared->options.memory_max);
    if (wanted == 0)
        return true;
    http_discard_shelf(loop->shared->discard);
    ask_others(loop, wanted);
    size_t found = drop_all_stalled(loop, wanted);
    if (found < wanted)
        found +=
            drop_stalled(loop, HTTP_DEADLINE_WRITE, HTTP_PRESSURE_URGENT_STALL_MS, wanted - found);
    if (found >= wanted)
        return true;
    log_pressure(loop);
    return false;
}
