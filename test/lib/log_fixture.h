/* log_fixture.h -- writes to change logs as the write path does, without a table. */
#ifndef STATOR_TEST_LOG_FIXTURE_H
#define STATOR_TEST_LOG_FIXTURE_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct change_record;
struct clock;
struct engine;

/* Opens the log of a partition, with one empty shard that begins with number 1. */
void log_fixture_open(struct engine *engine, struct arena *arena, uint64_t log_id,
                      uint64_t partition);
/* Appends a record in a write of its own, and sets its times. False if the log is closed. */
bool log_fixture_append(struct engine *engine, struct arena *arena, const struct clock *clock,
                        uint64_t log_id, uint64_t partition, struct change_record *record);
/* Closes the log, and the one shard that it has. */
void log_fixture_close(struct engine *engine, struct arena *arena, uint64_t log_id,
                       uint64_t partition);

#endif
