/* expiry_queue.h -- which item of a table expires when, in the order of time.
 *
 * Each item whose time-to-live attribute is a number of seconds since 1970 has one entry in the
 * queue of its partition: the second, then the item's key. An entry follows from its item alone, so
 * a write of the item knows it without a lookup; and since it holds the item's key, the item's
 * latch guards it. The expiry job reads the front of the queue and nothing else.
 */
#ifndef STATOR_TABLE_EXPIRY_QUEUE_H
#define STATOR_TABLE_EXPIRY_QUEUE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct item;
struct item_address;

/* The first second by which the item has expired: a fraction counts as the next whole one. False if
 * the attribute is missing, no number, negative, or later than EXPIRY_QUEUE_SECOND_MAX: such an
 * item never expires. */
bool expiry_queue_second(struct bytes attribute, const struct item *item, int64_t *out);
#define EXPIRY_QUEUE_SECOND_MAX (INT64_MAX / 1000) /* What a clock of milliseconds can reach. */

/* The seconds that have expired and are not too old to count, first and last: [from, to]. */
struct expiry_window {
    int64_t from;
    int64_t to;
};
struct expiry_window expiry_queue_window(int64_t now_ms);
static inline bool expiry_window_has(const struct expiry_window *window, int64_t second)
{
    return second >= window->from && second <= window->to;
}

/* The queue of a partition. */
struct engine_place expiry_queue_place(uint64_t table_id, uint64_t partition_id);
/* The entry of the item at `item`; its key is in the arena. */
struct engine_address expiry_queue_address(struct arena *arena, const struct engine_address *item,
                                           int64_t second);
/* Where the entries of a second begin; in the arena. */
struct bytes expiry_queue_first_key(struct arena *arena, int64_t second);
/* An entry's second, and its item's key, which is borrowed from it. False for what is no entry's
 * key. */
MUST_CHECK bool expiry_queue_decode(struct bytes key, int64_t *second, struct bytes *item_key);

#endif
