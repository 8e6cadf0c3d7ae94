/* key_ranges.h -- the limit of a single partition key, for the keys that are hot at the moment.
 *
 * The service limits each of its partitions to 3,000 read and 1,000 write units per second, and
 * splits partitions under sustained load until a hot key has one of its own. Here each key has one
 * at once: a key may use the whole capacity of its table up to that limit, which is what adaptive
 * capacity amounts to.
 *
 * Memory is fixed: KEY_RANGES_SLOTS keys are known, in sets of KEY_RANGES_WAYS. A key that is
 * charged and not known takes the place of the one in its set whose bucket is fullest, which loses
 * the least: a key with a full bucket might as well be unknown. So a limit can be exceeded only
 * while more than KEY_RANGES_WAYS keys of one set are hot.
 *
 * Any thread may use it; nobody waits. A key that loses its place while another thread charges it
 * may leave that charge to its successor.
 */
#ifndef STATOR_CAPACITY_KEY_RANGES_H
#define STATOR_CAPACITY_KEY_RANGES_H
#include <stdint.h>

struct key_ranges;

enum {
    KEY_RANGES_SLOTS = 256,
    KEY_RANGES_WAYS = 4,
    KEY_RANGES_BURST_MS = 1000,
    KEY_RANGE_READ_UNITS = 3000,
    KEY_RANGE_WRITE_UNITS = 1000,
};

/* `rate` in units per second, of each key. */
struct key_ranges *key_ranges_create(int64_t rate);
void key_ranges_destroy(struct key_ranges *ranges); /* NULL is allowed. */
/* Forgets all keys. NULL is allowed. */
void key_ranges_clear(struct key_ranges *ranges);

/* The balance of a key that was not used, in tokens. */
int64_t key_ranges_full(int64_t rate);
/* The balance of a key, given by its hash, in tokens; full if it is not known. */
int64_t key_ranges_balance(struct key_ranges *ranges, uint64_t key, int64_t now_ms);
void key_ranges_charge(struct key_ranges *ranges, uint64_t key, int64_t half_units, int64_t now_ms);

#endif
