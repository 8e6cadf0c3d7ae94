/* demand_level.c -- see demand_level.h. */
#include "capacity/demand_level.h"
#include <stdatomic.h>

enum { SECOND_MS = 1000, SPAN_SECONDS = DEMAND_LEVEL_SPAN_MS / SECOND_MS };

void demand_level_init(struct demand_level *level, int64_t now_ms)
{
    atomic_store(&level->second, now_ms / SECOND_MS);
    atomic_store(&level->second_half_units, 0);
    atomic_store(&level->span_half_units, 0);
    atomic_store(&level->peak_half_units, 0);
}

static void raise_to(_Atomic int64_t *most, int64_t value)
{
    int64_t known = atomic_load_explicit(most, memory_order_relaxed);
    while (value > known && !atomic_compare_exchange_weak(most, &known, value))
        ;
}

/* Ends the second that was counted, and its span, if they have passed. One thread does it. */
static void advance(struct demand_level *level, int64_t now_ms)
{
    int64_t second = now_ms / SECOND_MS;
    int64_t last = atomic_load_explicit(&level->second, memory_order_relaxed);
    if (second <= last || !atomic_compare_exchange_strong(&level->second, &last, second))
        return;
    raise_to(&level->span_half_units, atomic_exchange(&level->second_half_units, 0));
    if (second / SPAN_SECONDS > last / SPAN_SECONDS)
        raise_to(&level->peak_half_units, atomic_exchange(&level->span_half_units, 0));
}

void demand_level_charge(struct demand_level *level, int64_t half_units, int64_t now_ms)
{
    advance(level, now_ms);
    atomic_fetch_add_explicit(&level->second_half_units, half_units, memory_order_relaxed);
}

int64_t demand_level_units(struct demand_level *level, int64_t now_ms, int64_t *since_ms)
{
    advance(level, now_ms);
    *since_ms = now_ms / DEMAND_LEVEL_SPAN_MS * DEMAND_LEVEL_SPAN_MS;
    /* Half units are units when doubled. */
    return atomic_load_explicit(&level->peak_half_units, memory_order_relaxed);
}
