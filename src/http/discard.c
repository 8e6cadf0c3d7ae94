/* discard.c -- see discard.h. */
#include "http/discard.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/memory.h"
#include "http/body.h"
#include "http/loop.h"

struct discard {
    uv_work_t work;      /* First: the work is converted back. */
    struct arena *arena; /* NULL: none. */
    struct http_body body;
};

static void free_both(struct discard *discard)
{
    arena_destroy(discard->arena);
    http_body_deinit(&discard->body, NULL);
}

static void run(uv_work_t *work)
{
    free_both((struct discard *)work);
}

static void on_done(uv_work_t *work, int status)
{
    (void)status;
    free(work);
}

static void discard_apart(struct http_loop *loop, struct arena *arena, struct http_body body)
{
    struct discard *discard = memory_checked(malloc(sizeof *discard));
    *discard = (struct discard){ .arena = arena, .body = body };
    if (uv_queue_work(&loop->uv, &discard->work, run, on_done) == 0)
        return;
    free_both(discard);
    free(discard);
}

void http_discard_arena(struct http_loop *loop, struct arena *arena)
{
    if (arena_held_size(arena) < HTTP_DISCARD_APART_SIZE)
        http_pool_give_arena(&loop->pool, arena);
    else
        discard_apart(loop, arena, (struct http_body){ 0 });
}

void http_discard_body(struct http_loop *loop, struct http_body *body)
{
    if (body->capacity < HTTP_DISCARD_APART_SIZE) {
        http_body_deinit(body, &loop->shared->memory);
        return;
    }
    /* At once: the next body, perhaps of the same client, need not wait for the other thread. */
    memory_budget_give(&loop->shared->memory, body->capacity);
    discard_apart(loop, NULL, *body);
    *body = (struct http_body){ 0 };
}
