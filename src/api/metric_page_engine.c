/* metric_page_engine.c -- see metric_page_engine.h. */
#include "api/metric_page_engine.h"
#include "api/api.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "metric/exposition.h"
#include "trigger/triggers.h"

/* Syncs of less than 2^13 ns (8 us) and more than 2^36 ns (a minute) need no buckets of their own.
 */
enum { SYNC_OCTAVE_FIRST = 13, SYNC_OCTAVE_LAST = 36 };

static const double ns_in_seconds = 1e-9;

static void add_syncs(struct exposition *page, const struct engine_statistics *statistics)
{
    enum { ENDS = SYNC_OCTAVE_LAST - SYNC_OCTAVE_FIRST + 1 };
    double ends[ENDS];
    uint64_t counts[ENDS + 1] = { 0 };
    for (size_t i = 0; i < ENDS; i++)
        ends[i] = (double)(UINT64_C(1) << (SYNC_OCTAVE_FIRST + i)) * ns_in_seconds;
    for (size_t i = 0; i < ENGINE_SYNC_OCTAVES; i++) {
        size_t end = i < SYNC_OCTAVE_FIRST  ? 0
                     : i > SYNC_OCTAVE_LAST ? ENDS
                                            : i - SYNC_OCTAVE_FIRST;
        counts[end] += statistics->sync_octaves[i];
    }
    struct exposition_family *family =
        exposition_add(page, EXPOSITION_HISTOGRAM, "stator_engine_sync_duration_seconds", "seconds",
                       "Syncs of the write-ahead log; each makes all waiting writes durable.");
    exposition_buckets(family, NULL, 0, ends, ENDS, counts,
                       (double)statistics->sync_ns * ns_in_seconds);
}

static void add_lookups(struct exposition *page, const struct engine_statistics *statistics)
{
    struct exposition_family *items = exposition_add(
        page, EXPOSITION_COUNTER, "stator_item_cache_lookups", NULL, "Reads by the item cache.");
    struct exposition_family *blocks = exposition_add(
        page, EXPOSITION_COUNTER, "stator_block_cache_sampled_lookups", NULL,
        "Blocks that were looked up, of one read in 64 among those that need blocks.");
    struct exposition_label result[] = { { "result", BYTES("hit") } };
    exposition_integer(items, result, 1, statistics->item_cache_hits);
    exposition_integer(blocks, result, 1, statistics->block_cache_hits_sampled);
    result[0].value = BYTES("miss");
    exposition_integer(items, result, 1, statistics->item_cache_misses);
    exposition_integer(blocks, result, 1, statistics->block_cache_misses_sampled);
}

void metric_page_add_engine(struct api *api, struct exposition *page)
{
    struct engine_statistics statistics;
    engine_read_statistics(api_options(api)->engine, &statistics);
    const struct {
        const char *name, *unit, *help;
        enum exposition_type type;
        uint64_t value;
    } families[] = {
        { "stator_engine_writes", NULL, "Batches that the store has taken.", EXPOSITION_COUNTER,
          statistics.writes },
        { "stator_engine_written_bytes", "bytes", "Their size in the write-ahead log.",
          EXPOSITION_COUNTER, statistics.written_size },
        { "stator_engine_sync_queue", NULL, "Writes that wait for a sync.", EXPOSITION_GAUGE,
          statistics.sync_queue },
        { "stator_engine_stalled_writes", NULL,
          "Writes that had to wait because flushes or compactions lag behind.", EXPOSITION_COUNTER,
          statistics.stalls },
        { "stator_engine_stall_queue", NULL, "Writes that wait so now.", EXPOSITION_GAUGE,
          statistics.stall_queue },
        { "stator_engine_stalled", NULL, "1 while the store takes no writes at once.",
          EXPOSITION_GAUGE, statistics.is_stalled },
        { "stator_item_cache_bytes", "bytes", "Memory of the item cache.", EXPOSITION_GAUGE,
          statistics.item_cache_size },
        { "stator_item_cache_max_bytes", "bytes", "Its bound.", EXPOSITION_GAUGE,
          statistics.item_cache_size_max },
        { "stator_block_cache_bytes", "bytes", "Memory of the block cache.", EXPOSITION_GAUGE,
          statistics.block_cache_size },
        { "stator_block_cache_max_bytes", "bytes", "Its bound.", EXPOSITION_GAUGE,
          statistics.block_cache_size_max },
        { "stator_engine_memtable_bytes", "bytes", "Writes that are not in table files yet.",
          EXPOSITION_GAUGE, statistics.memtable_size },
        { "stator_engine_file_bytes", "bytes", "Table files.", EXPOSITION_GAUGE,
          statistics.file_size },
        { "stator_engine_live_bytes", "bytes",
          "An estimate of the table files without garbage; the ratio of the two is the space "
          "amplification.",
          EXPOSITION_GAUGE, statistics.live_size },
        { "stator_engine_files", NULL, "How many table files there are.", EXPOSITION_GAUGE,
          statistics.file_count },
        { "stator_engine_compactions_running", NULL, "Compactions under way.", EXPOSITION_GAUGE,
          statistics.compactions_running },
        { "stator_engine_flushes_running", NULL, "Flushes of memory to files under way.",
          EXPOSITION_GAUGE, statistics.flushes_running },
        { "stator_engine_compaction_pending_bytes", "bytes",
          "An estimate of what compactions have to rewrite.", EXPOSITION_GAUGE,
          statistics.compaction_pending_size },
    };
    if (statistics.has_disk)
        add_syncs(page, &statistics);
    add_lookups(page, &statistics);
    for (size_t i = 0; i < COUNT_OF(families); i++)
        exposition_integer(exposition_add(page, families[i].type, families[i].name,
                                          families[i].unit, families[i].help),
                           NULL, 0, families[i].value);
}

/* --- Triggers --- */

/* How far behind the slowest reader of each stream is that the server knows of. */
static void add_stream_lags(struct exposition *page, const struct trigger_statistics *triggers,
                            size_t count)
{
    struct exposition_family *lags =
        exposition_add(page, EXPOSITION_GAUGE, "stator_stream_lag_seconds", "seconds",
                       "Age of the oldest stream record that a trigger of the table waits to "
                       "deliver.");
    for (size_t i = 0; i < count; i++) {
        int64_t lag_ms = triggers[i].lag_ms;
        bool is_first = true;
        for (size_t k = 0; k < count; k++) {
            if (!bytes_equal(triggers[k].table_name, triggers[i].table_name))
                continue;
            is_first = is_first && k >= i;
            lag_ms = triggers[k].lag_ms > lag_ms ? triggers[k].lag_ms : lag_ms;
        }
        const struct exposition_label labels[] = { { "table", triggers[i].table_name } };
        if (is_first)
            exposition_number(lags, labels, 1, (double)lag_ms / 1000);
    }
}

void metric_page_add_triggers(struct api *api, struct arena *arena, struct exposition *page)
{
    struct trigger_statistics *triggers = arena_alloc(arena, TRIGGERS_MAX * sizeof *triggers);
    size_t count = triggers_read_statistics(api_triggers(api), arena, triggers);
    struct exposition_family *delivered =
        exposition_add(page, EXPOSITION_COUNTER, "stator_trigger_delivered_records", NULL,
                       "Stream records that a trigger's endpoint has taken.");
    struct exposition_family *failures =
        exposition_add(page, EXPOSITION_COUNTER, "stator_trigger_failed_calls", NULL,
                       "Calls of a trigger's endpoint that failed.");
    struct exposition_family *given_up =
        exposition_add(page, EXPOSITION_COUNTER, "stator_trigger_given_up_records", NULL,
                       "Stream records that a trigger gave up.");
    struct exposition_family *letters =
        exposition_add(page, EXPOSITION_COUNTER, "stator_trigger_dead_letters", NULL,
                       "Those of them that were written to a dead-letter file.");
    struct exposition_family *lost =
        exposition_add(page, EXPOSITION_COUNTER, "stator_trigger_lost_records", NULL,
                       "Stream records that were trimmed before they were delivered.");
    struct exposition_family *lag =
        exposition_add(page, EXPOSITION_GAUGE, "stator_trigger_lag_seconds", "seconds",
                       "Age of the oldest stream record that waits to be delivered.");
    for (size_t i = 0; i < count; i++) {
        const struct exposition_label labels[] = { { "table", triggers[i].table_name },
                                                   { "trigger", triggers[i].uuid } };
        exposition_integer(delivered, labels, 2, triggers[i].records_delivered);
        exposition_integer(failures, labels, 2, triggers[i].failures);
        exposition_integer(given_up, labels, 2, triggers[i].records_given_up);
        exposition_integer(letters, labels, 2, triggers[i].dead_letters);
        exposition_integer(lost, labels, 2, triggers[i].records_lost);
        exposition_number(lag, labels, 2, (double)triggers[i].lag_ms / 1000);
    }
    add_stream_lags(page, triggers, count);
}
