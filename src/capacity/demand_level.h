/* demand_level.h -- how much an on-demand table or index serves at once: twice its previous peak.
 *
 * The service documents that an on-demand table serves up to twice its previous peak, and that more
 * than that within 30 minutes may be throttled. Here the peak is the highest number of units in one
 * second of any earlier span of 30 minutes; spans are counted from the beginning of server time. So
 * a higher load raises the level with the next span, and it never falls again.
 *
 * Any thread may use it; nobody waits. A charge that meets the end of a second may count for the
 * next one.
 */
#ifndef STATOR_CAPACITY_DEMAND_LEVEL_H
#define STATOR_CAPACITY_DEMAND_LEVEL_H
#include <stdint.h>

enum { DEMAND_LEVEL_SPAN_MS = 30 * 60 * 1000 };

struct demand_level {
    _Atomic int64_t second;            /* That is being counted, by server time. */
    _Atomic int64_t second_half_units; /* Charged in it. */
    _Atomic int64_t span_half_units;   /* The most of a second before it, in the same span. */
    _Atomic int64_t peak_half_units;   /* The most of a second in any span before. */
};

void demand_level_init(struct demand_level *level, int64_t now_ms);
void demand_level_charge(struct demand_level *level, int64_t half_units, int64_t now_ms);
/* Twice the peak, in units per second; 0: there was none. `*since_ms` is the beginning of the span,
 * when the level began to hold. */
int64_t demand_level_units(struct demand_level *level, int64_t now_ms, int64_t *since_ms);

#endif
