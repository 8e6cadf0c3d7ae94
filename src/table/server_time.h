/* server_time.h -- how far the server time of a store has come (base/clock.h), stored durably.
 *
 * Server time counts how long servers have run on a store. What has to last (stream records,
 * tokens) is measured by it, so it must never be ahead of the time that really passed, and may be
 * somewhat behind. Therefore the stored position is one that was reached: after a crash server time
 * resumes there, at most SERVER_TIME_STORE_INTERVAL_MS before the last moment of the run that
 * crashed. Time during which no server runs is not counted: only the wall clock could tell how much
 * it was, and that clock may be wrong. Layout: doc/disk-format.md, "Server time".
 */
#ifndef STATOR_TABLE_SERVER_TIME_H
#define STATOR_TABLE_SERVER_TIME_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

enum { SERVER_TIME_STORE_INTERVAL_MS = 60 * 1000 };

extern const struct engine_place server_time_place;

struct server_time {
    int64_t origin_ms; /* The server time of what was stored before the store had server time. */
    int64_t position_ms;
};

/* Where a server that starts on this store has to resume. Stores from before server time resume
 * with their newest token, and new ones with 0. */
MUST_CHECK enum engine_status server_time_load(struct engine *engine, struct server_time *out);
/* Returns when it is durable. */
MUST_CHECK enum engine_status server_time_store(struct engine *engine,
                                                const struct server_time *time);
/* False if the bytes are not a stored server time. */
MUST_CHECK bool server_time_decode(struct bytes stored, struct server_time *out);

#endif
