/* latches.h -- who may decide about an address now.
 *
 * A fixed number of mutexes; an address belongs to the one its hash picks. A write takes all of
 * its latches in one go and in ascending order, so two writes never wait for each other in a ring.
 * Two addresses may share a latch, which costs a wait, never correctness. Whoever holds a latch
 * waits for nothing but RocksDB; should that stall, those behind give up after a while.
 */
#ifndef STATOR_ENGINE_ROCKSDB_LATCHES_H
#define STATOR_ENGINE_ROCKSDB_LATCHES_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "engine/engine.h"

/* A batch of writes holds a hundred of them, and should seldom meet another one's. */
enum { LATCHES_COUNT = 16384 };

struct latches {
    pthread_mutex_t mutexes[LATCHES_COUNT];
    unsigned wait_ms; /* For all latches of a write together. */
};

/* The latches that one write holds: ascending, each once. */
struct latches_held {
    size_t count;
    uint16_t indexes[ENGINE_WRITE_ADDRESSES_MAX];
};

void latches_init(struct latches *latches, unsigned wait_ms);
void latches_deinit(struct latches *latches); /* None may be held. */

/* False with none held if others kept one for too long. */
MUST_CHECK bool latches_take(struct latches *latches, const struct engine_address *addresses,
                             size_t address_count, struct latches_held *held);
/* On the thread that took them. */
void latches_release(struct latches *latches, struct latches_held *held);
/* Whether the latch of `address` is among those held. */
bool latches_cover(const struct latches_held *held, const struct engine_address *address);

#endif
