/* discard.c -- see discard.h. */
#include "http/discard.h"
#include <pthread.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/memory.h"
#include "http/body.h"
#include "http/loop.h"

struct heap {
    struct heap *next;
    struct arena *arena; /* NULL: none. */
    struct http_body body;
};

struct http_discard {
    pthread_t thread;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    struct heap *heaps;
    bool stopping;
};

/* All that there are; NULL: it is over. */
static struct heap *take(struct http_discard *discard)
{
    pthread_mutex_lock(&discard->mutex);
    while (discard->heaps == NULL && !discard->stopping)
        pthread_cond_wait(&discard->changed, &discard->mutex);
    struct heap *heaps = discard->heaps;
    discard->heaps = NULL;
    pthread_mutex_unlock(&discard->mutex);
    return heaps;
}

static void *run(void *argument)
{
    struct heap *heap;
    while ((heap = take(argument)) != NULL) {
        while (heap != NULL) {
            struct heap *next = heap->next;
            arena_destroy(heap->arena);
            http_body_deinit(&heap->body, NULL);
            free(heap);
            heap = next;
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

static void discard_apart(struct http_discard *discard, struct arena *arena, struct http_body body)
{
    struct heap *heap = memory_checked(malloc(sizeof *heap));
    *heap = (struct heap){ .arena = arena, .body = body };
    pthread_mutex_lock(&discard->mutex);
    heap->next = discard->heaps;
    discard->heaps = heap;
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
    if (body->capacity < HTTP_DISCARD_APART_SIZE) {
        http_body_deinit(body, &loop->shared->memory);
        return;
    }
    /* At once: the next body, perhaps of the same client, need not wait for the other thread. */
    memory_budget_give(&loop->shared->memory, body->capacity);
    discard_apart(loop->shared->discard, NULL, *body);
    *body = (struct http_body){ 0 };
}
