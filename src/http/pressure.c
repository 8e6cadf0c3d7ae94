/* pressure.c -- see pressure.h.
 *
 * Each kind of deadline is a queue in the order in which the clocks were set, so the connection
 * that has gone longest without progress is the first of its queue, and dropping it is what its
 * time-out would have done later. A dropped connection's memory is free when the loop has been
 * round once.
 */
#include "http/pressure.h"
#include <assert.h>
#include "base/arena.h"
#include "base/log.h"
#include "http/connection.h"
#include "http/exchange.h"

enum { LOG_INTERVAL_MS = 10 * 1000 };

/* Those that hold much first. */
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

/* Drops the first connections of a queue that have made no progress for `stall_ms`, until `wanted`
 * bytes are found. Returns how many were. */
static size_t drop_stalled(struct http_loop *loop, enum http_deadline_kind kind, uint64_t stall_ms,
                           size_t wanted)
{
    assert(stall_ms > 0); /* What goes to the end of its queue here is not met again. */
    uint64_t now_ms = uv_now(&loop->uv);
    uint64_t duration_ms = loop->deadlines.queues[kind].duration_ms;
    size_t found = 0;
    struct http_deadline *first;
    while (found < wanted && (first = loop->deadlines.queues[kind].first) != NULL &&
           now_ms + duration_ms >= first->due_ms + stall_ms) {
        struct http_connection *connection = http_connection_of_deadline(first);
        size_t size = held_by(connection);
        http_connection_expire(
            connection); /* One that has made progress goes to the end instead. */
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

/* How much more than `bound` is, or would be, in use. */
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

/* The clients that hold most may be those of other loops. Each is asked for all that is wanted: by
 * the time it looks, it may be the only one that has any. */
static void ask_others(const struct http_loop *loop, size_t wanted)
{
    const struct http_shared *shared = loop->shared;
    for (unsigned i = 0; i < shared->loop_count; i++) {
        struct http_loop *other = shared->loops[i];
        if (other != loop && atomic_exchange(&other->relief_size, wanted) == 0)
            http_loop_post_if_running(other, &other->relief);
    }
}

static void tell(struct http_loop *loop)
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
    ask_others(loop, wanted);
    if (drop_all_stalled(loop, wanted) >= wanted)
        return true;
    tell(loop);
    return false;
}

bool http_pressure_makes_room(struct http_loop *loop)
{
    size_t wanted = excess(loop, 0, loop->shared->options.memory_max);
    if (wanted == 0)
        return true;
    ask_others(loop, wanted);
    size_t found = drop_all_stalled(loop, wanted);
    if (found < wanted)
        found +=
            drop_stalled(loop, HTTP_DEADLINE_WRITE, HTTP_PRESSURE_URGENT_STALL_MS, wanted - found);
    if (found >= wanted)
        return true;
    tell(loop);
    return false;
}
