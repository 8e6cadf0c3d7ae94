/* log_fixture.c -- see log_fixture.h. */
#include "log_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "engine/engine.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "log/log_layout.h"
#include "log/shard.h"

enum { SHARD_CREATED_MS = 1, SHARD_CLOSED_MS = 2 };

static struct engine_write *begin(struct engine *engine, const struct engine_address *address,
                                  struct change_log_head *head)
{
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, address, 1, &write), ENGINE_OK);
    assert_int_equal(change_log_read_head(write, address, head), ENGINE_OK);
    return write;
}

void log_fixture_open(struct engine *engine, struct arena *arena, uint64_t log_id,
                      uint64_t partition)
{
    struct engine_address address = change_log_head_address(log_id, partition);
    struct change_log_head head;
    struct engine_write *write = begin(engine, &address, &head);
    const struct shard shard = { .partition = partition,
                                 .first = LOG_FIRST_SEQUENCE,
                                 .kept = LOG_FIRST_SEQUENCE + 1,
                                 .created_ms = SHARD_CREATED_MS };
    head = (struct change_log_head){ .open = true,
                                     .next = LOG_FIRST_SEQUENCE + 1,
                                     .shard_first = LOG_FIRST_SEQUENCE };
    change_log_put_head(write, &address, &head);
    shard_put(arena, write, log_id, &shard);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

bool log_fixture_append(struct engine *engine, struct arena *arena, const struct clock *clock,
                        uint64_t log_id, uint64_t partition, struct change_record *record)
{
    struct engine_address address = change_log_head_address(log_id, partition);
    struct change_log_head head;
    struct engine_write *write = begin(engine, &address, &head);
    if (!head.open) {
        engine_write_abandon(write);
        return false;
    }
    const struct change_log_time now = change_log_take_time(clock, head.commit_us);
    change_log_append(arena, write, &address.place, &head, record, &now);
    change_log_put_head(write, &address, &head);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    return true;
}

void log_fixture_close(struct engine *engine, struct arena *arena, uint64_t log_id,
                       uint64_t partition)
{
    struct engine_address address = change_log_head_address(log_id, partition);
    struct change_log_head head;
    struct engine_write *write = begin(engine, &address, &head);
    const struct shard shard = { .partition = partition,
                                 .first = LOG_FIRST_SEQUENCE,
                                 .last = head.next - 1,
                                 .kept = LOG_FIRST_SEQUENCE + 1,
                                 .created_ms = SHARD_CREATED_MS,
                                 .closed_ms = SHARD_CLOSED_MS };
    head.open = false;
    change_log_put_head(write, &address, &head);
    shard_put(arena, write, log_id, &shard);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}
