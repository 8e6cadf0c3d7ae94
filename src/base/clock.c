/* clock.c -- see clock.h. */
#include "base/clock.h"
#include <assert.h>
#include <stdatomic.h>
#include "base/commit_clock.h"

static_assert(CLOCK_WALL_SECOND_MAX <= INT64_MAX / 1000000 / 2,
              "a duration can be added to the latest time");

static int64_t system_wall_us(const struct clock *clock)
{
    (void)clock;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec < 0)
        return 0;
    if (now.tv_sec > CLOCK_WALL_SECOND_MAX)
        return CLOCK_WALL_SECOND_MAX * 1000000;
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t read_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t run_ms(void)
{
    return read_ns(CLOCK_MONOTONIC_RAW) / 1000000;
}

static int64_t system_server_ms(const struct clock *clock)
{
    return run_ms() + clock->server_base_ms;
}

static int64_t fixed_wall_us(const struct clock *clock)
{
    return (clock->fixed_ms + clock->wall_ahead_ms) * 1000;
}

static int64_t fixed_server_ms(const struct clock *clock)
{
    return clock->fixed_ms;
}

const struct clock clock_system = { .wall_us = system_wall_us, .server_ms = system_server_ms };

struct clock clock_fixed(int64_t now_ms)
{
    return (
        struct clock){ .wall_us = fixed_wall_us, .server_ms = fixed_server_ms, .fixed_ms = now_ms };
}

struct clock clock_resume(int64_t origin_ms, int64_t position_ms)
{
    return (struct clock){ .wall_us = system_wall_us,
                           .server_ms = system_server_ms,
                           .server_base_ms = position_ms - run_ms(),
                           .server_origin_ms = origin_ms };
}

int64_t clock_take_commit_us(const struct clock *clock, int64_t after_us)
{
    int64_t least_us = clock_wall_us(clock);
    if (least_us <= after_us)
        least_us = after_us + 1;
    if (clock->commits == NULL)
        return least_us;
    _Atomic int64_t *newest = &clock->commits->newest_us;
    int64_t newest_us = atomic_load_explicit(newest, memory_order_relaxed);
    int64_t taken_us;
    do
        taken_us = least_us > newest_us ? least_us : newest_us + 1;
    while (!atomic_compare_exchange_weak_explicit(newest, &newest_us, taken_us,
                                                  memory_order_relaxed, memory_order_relaxed));
    assert(taken_us > after_us && taken_us > newest_us);
    return taken_us;
}

void clock_raise_commit_us(const struct clock *clock, int64_t seen_us)
{
    if (clock->commits == NULL)
        return;
    _Atomic int64_t *newest = &clock->commits->newest_us;
    int64_t newest_us = atomic_load_explicit(newest, memory_order_relaxed);
    while (newest_us < seen_us &&
           !atomic_compare_exchange_weak_explicit(newest, &newest_us, seen_us, memory_order_relaxed,
                                                  memory_order_relaxed))
        continue;
}

int64_t clock_commit_now_us(const struct clock *clock)
{
    int64_t wall_us = clock_wall_us(clock);
    if (clock->commits == NULL)
        return wall_us;
    int64_t newest_us = atomic_load_explicit(&clock->commits->newest_us, memory_order_relaxed);
    return wall_us > newest_us ? wall_us : newest_us + 1;
}

int64_t clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_thread_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct timespec clock_monotonic_after_ms(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t nanoseconds = at.tv_nsec + ms % 1000 * 1000000;
    at.tv_sec += ms / 1000 + nanoseconds / 1000000000; /* Any number of milliseconds fits. */
    at.tv_nsec = nanoseconds % 1000000000;
    return at;
}

struct tm clock_utc(int64_t second)
{
    struct tm parts;
    if (second < CLOCK_SHOWN_SECOND_MIN)
        second = CLOCK_SHOWN_SECOND_MIN;
    if (second > CLOCK_SHOWN_SECOND_MAX)
        second = CLOCK_SHOWN_SECOND_MAX;
    time_t seconds = (time_t)second;
    gmtime_r(&seconds, &parts);
    return parts;
}

void clock_format_utc(int64_t wall_ms, char out[CLOCK_TEXT_SIZE])
{
    struct tm parts = clock_utc(clock_second_of_ms(wall_ms));
    strftime(out, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
}
