/* log_retention.c -- see log_retention.h. */
#include "log/log_retention.h"
#include <assert.h>
#include "base/arena.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "log/shard.h"

/* --- Readers --- */

void log_retention_add(struct log_retention *retention, const struct log_retention_reader *reader)
{
    assert(retention->count < LOG_RETENTION_READERS_MAX);
    assert(reader->name != NULL && reader->need != NULL);
    retention->readers[retention->count++] = *reader;
}

struct log_need log_retention_need(const struct log_retention *retention, uint64_t log_id,
                                   uint64_t partition, int64_t now_ms)
{
    struct log_need least = { .server_ms = INT64_MAX, .sequence = UINT64_MAX };
    assert(retention->count > 0); /* Without a reader nothing would be kept. */
    for (size_t i = 0; i < retention->count; i++) {
        const struct log_retention_reader *reader = &retention->readers[i];
        struct log_need need = reader->need(reader->context, log_id, partition, now_ms);
        if (need.server_ms < least.server_ms)
            least.server_ms = need.server_ms;
        if (need.sequence < least.sequence)
            least.sequence = need.sequence;
    }
    return least;
}

/* --- Trimming --- */

struct trimming {
    const struct log_trim *trim;
    struct log_need need;
    struct engine_view *view;
    uint64_t log_id;
    uint64_t partition;
    /* Records that go in one write: an engine without ENGINE_RANGE_DELETE deletes them one by one.
     */
    uint64_t records_max;
    bool more;                  /* The bound left some records to trim. */
    struct engine_write *write; /* NULL: nothing to trim so far. */
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* True if no reader needs, by age, what was stored at that server time. */
static bool is_past(const struct trimming *in, int64_t stamp_ms)
{
    return later(stamp_ms, in->trim->origin_ms) < in->need.server_ms;
}

/* Reports whether no reader needs the record by age. A view shows every record below the head. */
static enum engine_status is_old(const struct trimming *in, uint64_t sequence, bool *old)
{
    struct engine_value value = { 0 };
    struct change_record record;
    struct engine_address address =
        change_log_record_address(in->trim->arena, in->log_id, in->partition, sequence);
    enum engine_status status = engine_view_get(in->view, &address, &value);
    if (status == ENGINE_OK && change_record_decode(value.bytes, &record))
        *old = is_past(in, record.server_ms);
    else if (status == ENGINE_OK || status == ENGINE_NOT_FOUND)
        status = ENGINE_CORRUPT;
    engine_value_release(&value);
    return status;
}

/* The first number of [first, end) whose record stays; `end` if none does. */
static enum engine_status find_border(const struct trimming *in, uint64_t first, uint64_t end,
                                      uint64_t *out)
{
    assert(first <= end);
    enum engine_status status = ENGINE_OK;
    while (first < end && status == ENGINE_OK) {
        uint64_t middle = first + (end - first) / 2;
        bool old = false;
        status = is_old(in, middle, &old);
        if (status == ENGINE_OK && old)
            first = middle + 1;
        else
            end = middle;
    }
    *out = first;
    return status;
}

static enum engine_status begin_write(struct trimming *in)
{
    return in->write == NULL ? engine_write_begin(in->trim->engine, NULL, 0, &in->write)
                             : ENGINE_OK;
}

static enum engine_status delete_records(struct trimming *in, uint64_t first, uint64_t end)
{
    assert(first <= end);
    struct arena *arena = in->trim->arena;
    enum engine_status status = begin_write(in);
    if (status != ENGINE_OK)
        return status;
    struct engine_address from = change_log_record_address(arena, in->log_id, in->partition, first);
    struct engine_address to = change_log_record_address(arena, in->log_id, in->partition, end);
    if (first < end)
        engine_write_delete_range(in->write, &from.place, from.key, to.key);
    return ENGINE_OK;
}

/* Trims one shard. `*whole` if it was removed, so that its child is next. */
static enum engine_status trim_shard(struct trimming *in, struct shard *shard, uint64_t end,
                                     bool *whole)
{
    *whole = !shard_is_open(shard) && is_past(in, shard->closed_server_ms) &&
             shard->last < in->need.sequence && end - shard->kept <= in->records_max;
    if (*whole) {
        struct engine_address address =
            shard_address(in->trim->arena, in->log_id, in->partition, shard->first);
        enum engine_status status = delete_records(in, shard->kept, end);
        if (status == ENGINE_OK)
            engine_write_delete(in->write, &address);
        return status;
    }
    uint64_t border = end < in->need.sequence ? end : in->need.sequence;
    if (border <= shard->kept)
        return ENGINE_OK;
    enum engine_status status = find_border(in, shard->kept, border, &border);
    if (status != ENGINE_OK || border == shard->kept)
        return status;
    if (border - shard->kept > in->records_max) {
        border = shard->kept + in->records_max;
        in->more = true;
    }
    status = delete_records(in, shard->kept, border);
    shard->kept = border;
    if (status == ENGINE_OK)
        shard_put(in->trim->arena, in->write, in->log_id, shard);
    return status;
}

static enum engine_status trim_partition(struct trimming *in)
{
    assert(in->view != NULL && in->write == NULL && in->records_max > 0);
    struct engine_address head_address = change_log_head_address(in->log_id, in->partition);
    struct change_log_head head;
    struct shard *shards = NULL;
    size_t count = 0;
    enum engine_status status = change_log_view_head(in->view, &head_address, &head);
    if (status == ENGINE_OK)
        status = shard_list(in->trim->arena, in->view, in->log_id, in->partition, &shards, &count);
    bool whole = true;
    for (size_t i = 0; status == ENGINE_OK && whole && i < count; i++)
        status = trim_shard(in, &shards[i],
                            shard_is_open(&shards[i]) ? head.next : shards[i].last + 1, &whole);
    if (in->write == NULL)
        return status;
    if (status == ENGINE_OK)
        return engine_write_commit_wait(in->write);
    engine_write_abandon(in->write);
    return status;
}

static enum engine_status trim_once(const struct log_trim *trim, uint64_t log_id,
                                    const uint64_t *partitions, size_t count, bool *more)
{
    bool ranges = (engine_capabilities(trim->engine) & ENGINE_RANGE_DELETE) != 0;
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(trim->engine, ENGINE_NEWEST, &view);
    *more = false;
    for (size_t i = 0; i < count && status == ENGINE_OK; i++) {
        struct trimming in = { .trim = trim,
                               .need = log_retention_need(trim->retention, log_id, partitions[i],
                                                          trim->now_ms),
                               .view = view,
                               .log_id = log_id,
                               .partition = partitions[i],
                               .records_max = ranges ? UINT64_MAX : ENGINE_RANGE_KEYS_MAX };
        status = trim_partition(&in);
        *more = *more || in.more;
    }
    engine_view_close(view);
    return status;
}

enum engine_status log_retention_trim(const struct log_trim *trim, uint64_t log_id,
                                      const uint64_t *partitions, size_t count)
{
    assert(trim->engine != NULL && trim->arena != NULL && trim->retention != NULL);
    assert(log_id != 0);
    enum engine_status status;
    bool more;
    do
        status = trim_once(trim, log_id, partitions, count, &more);
    while (status == ENGINE_OK && more);
    return status;
}

int64_t log_retention_wait_ms(const struct log_trim *trim, uint64_t log_id,
                              const uint64_t *partitions, size_t count, int64_t closed_ms)
{
    assert(trim->retention != NULL);
    enum { POSITION_WAIT_MS = 60 * 1000 };
    int64_t wait_ms = 0;
    for (size_t i = 0; i < count; i++) {
        struct log_need need =
            log_retention_need(trim->retention, log_id, partitions[i], trim->now_ms);
        wait_ms = later(wait_ms, later(closed_ms, trim->origin_ms) - need.server_ms);
        if (need.sequence != UINT64_MAX)
            wait_ms = later(wait_ms, POSITION_WAIT_MS);
    }
    return wait_ms;
}
