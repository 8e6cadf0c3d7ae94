/* metric_page_engine.c -- see metric_page_engine.h. */
#include "api/metric_page_engine.h"
#include "api/api.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cloudwatch/alarms.h"
#include "engine/engine.h"
#include "jobs/job_runner.h"
#include "metric/exposition.h"
#include "replica/replicas.h"
#include "scaling/scaling.h"
#include "kinesis/destinations.h"
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

/* --- Readers of changes: triggers and Kinesis destinations --- */

enum { READER_COUNTERS = 5, READER_FAMILIES }; /* The counters, then a gauge of the lag. */

struct reader_text {
    const char *name;
    const char *help;
};

static void add_reader_families(struct exposition *page,
                                const struct reader_text texts[READER_FAMILIES],
                                struct exposition_family *out[READER_FAMILIES])
{
    for (size_t i = 0; i < READER_COUNTERS; i++)
        out[i] = exposition_add(page, EXPOSITION_COUNTER, texts[i].name, NULL, texts[i].help);
    out[READER_COUNTERS] = exposition_add(page, EXPOSITION_GAUGE, texts[READER_COUNTERS].name,
                                          "seconds", texts[READER_COUNTERS].help);
}

static void add_reader(struct exposition_family *const families[READER_FAMILIES],
                       const struct exposition_label *labels, size_t label_count,
                       const uint64_t counters[READER_COUNTERS], int64_t lag_ms)
{
    for (size_t i = 0; i < READER_COUNTERS; i++)
        exposition_integer(families[i], labels, label_count, counters[i]);
    exposition_number(families[READER_COUNTERS], labels, label_count, (double)lag_ms / 1000);
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
    static const struct reader_text texts[READER_FAMILIES] = {
        { "stator_trigger_delivered_records",
          "Stream records that a trigger's endpoint has taken." },
        { "stator_trigger_failed_calls", "Calls of a trigger's endpoint that failed." },
        { "stator_trigger_given_up_records", "Stream records that a trigger gave up." },
        { "stator_trigger_dead_letters", "Those of them that were written to a dead-letter file." },
        { "stator_trigger_lost_records",
          "Stream records that were trimmed before they were delivered." },
        { "stator_trigger_lag_seconds",
          "Age of the oldest stream record that waits to be delivered." },
    };
    struct exposition_family *families[READER_FAMILIES];
    struct trigger_statistics *triggers = arena_alloc(arena, TRIGGERS_MAX * sizeof *triggers);
    size_t count = triggers_read_statistics(api_triggers(api), arena, triggers);
    add_reader_families(page, texts, families);
    for (size_t i = 0; i < count; i++) {
        const struct exposition_label labels[] = { { "table", triggers[i].table_name },
                                                   { "trigger", triggers[i].uuid } };
        const uint64_t counters[READER_COUNTERS] = {
            triggers[i].records_delivered, triggers[i].failures, triggers[i].records_given_up,
            triggers[i].dead_letters, triggers[i].records_lost
        };
        add_reader(families, labels, COUNT_OF(labels), counters, triggers[i].lag_ms);
    }
    add_stream_lags(page, triggers, count);
}

/* --- Kinesis destinations --- */

void metric_page_add_destinations(struct api *api, struct arena *arena, struct exposition *page)
{
    static const struct reader_text texts[READER_FAMILIES] = {
        { "stator_kinesis_delivered_records", "Changes that a Kinesis stream has taken." },
        { "stator_kinesis_throttled_records",
          "Changes that a Kinesis stream refused for lack of capacity; they are sent again." },
        { "stator_kinesis_failed_records",
          "Changes that were larger than a Kinesis stream takes." },
        { "stator_kinesis_lost_records", "Changes that were trimmed before they were delivered." },
        { "stator_kinesis_failed_calls", "Calls of Kinesis that failed, wholly or in part." },
        { "stator_kinesis_lag_seconds", "Age of the oldest change that waits to be delivered." },
    };
    struct exposition_family *families[READER_FAMILIES];
    struct destination_statistics *found =
        arena_alloc(arena, DESTINATIONS_LIVE_MAX * sizeof *found);
    size_t count = destinations_read_statistics(api_destinations(api), arena, found);
    add_reader_families(page, texts, families);
    for (size_t i = 0; i < count; i++) {
        const struct exposition_label labels[] = { { "table", found[i].table_name },
                                                   { "stream", found[i].stream_arn } };
        const uint64_t counters[READER_COUNTERS] = { found[i].records_delivered,
                                                     found[i].records_throttled,
                                                     found[i].records_failed, found[i].records_lost,
                                                     found[i].failures };
        add_reader(families, labels, COUNT_OF(labels), counters, found[i].lag_ms);
    }
}

/* --- Global tables --- */

void metric_page_add_replicas(struct api *api, struct exposition *page)
{
    struct exposition_family *reached =
        exposition_add(page, EXPOSITION_GAUGE, "stator_replication_reached", NULL,
                       "1 if the server of the region answered the last call.");
    struct exposition_family *refused =
        exposition_add(page, EXPOSITION_GAUGE, "stator_replication_refused_tables", NULL,
                       "Global tables of which the region refused what it was sent last.");
    struct exposition_family *rows =
        exposition_add(page, EXPOSITION_COUNTER, "stator_replication_sent_items", NULL,
                       "Items of global tables that the region has made durable.");
    struct exposition_family *lag =
        exposition_add(page, EXPOSITION_GAUGE, "stator_replication_lag_seconds", "seconds",
                       "Age of the newest moment up to which the region has all writes.");
    int64_t now_us = clock_wall_us(api_options(api)->clock);
    struct replicas_peer_statistics peer;
    for (size_t i = 0; replicas_read_statistics(api_replicas(api), i, &peer); i++) {
        const struct exposition_label labels[] = { { "region", peer.region } };
        if (peer.table_count == 0)
            continue; /* No table has a replica there. */
        exposition_integer(reached, labels, 1, peer.is_reached);
        exposition_integer(refused, labels, 1, peer.refused_count);
        exposition_integer(rows, labels, 1, peer.rows_sent);
        if (peer.closed_us > 0)
            exposition_number(lag, labels, 1,
                              peer.closed_us < now_us ? (double)(now_us - peer.closed_us) / 1e6
                                                      : 0);
    }
}

/* --- Alarms and auto scaling --- */

/* With the scaling locked. */
static void add_actions(const struct scaling *scaling, struct exposition *page)
{
    struct exposition_family *family =
        exposition_add(page, EXPOSITION_COUNTER, "stator_autoscaling_actions", NULL,
                       "Changes of capacity by auto scaling, and alarms that it could not follow.");
    const struct scaling_actions *actions;
    for (size_t i = 0; (actions = scaling_actions_at(scaling, i)) != NULL; i++) {
        struct scaling_resource resource;
        if (!scaling_resource_parse(actions->id.resource_id, &resource))
            continue;
        for (enum scaling_outcome outcome = 0; outcome < SCALING_OUTCOMES; outcome++) {
            const struct exposition_label labels[] = {
                { "table", resource.table },
                { "index", resource.index.data == NULL ? BYTES("") : resource.index },
                { "direction", scaling_dimension_is_read(actions->id.dimension) ? BYTES("read")
                                                                                : BYTES("write") },
                { "status", bytes_from_text(scaling_outcome_name(outcome)) },
            };
            if (actions->counts[outcome] > 0)
                exposition_integer(family, labels, COUNT_OF(labels), actions->counts[outcome]);
        }
    }
}

static void add_activities(struct api *api, struct exposition *page)
{
    struct scaling *scaling = api_scaling(api);
    struct exposition_family *targets =
        exposition_add(page, EXPOSITION_GAUGE, "stator_autoscaling_targets", NULL,
                       "Targets of auto scaling: reads or writes of a table or index.");
    struct exposition_family *policies = exposition_add(
        page, EXPOSITION_GAUGE, "stator_autoscaling_policies", NULL, "Policies of auto scaling.");
    struct exposition_family *activities =
        exposition_add(page, EXPOSITION_GAUGE, "stator_autoscaling_activities", NULL,
                       "Activities of the last six weeks that are kept, by their status.");
    static const char *const statuses[] = { "Successful", "Failed", "InProgress", "Unfulfilled" };
    uint64_t counts[COUNT_OF(statuses)] = { 0 };
    scaling_lock(scaling);
    size_t target_count = scaling_count(scaling, SCALING_TARGET);
    size_t policy_count = scaling_count(scaling, SCALING_POLICY);
    for (size_t i = 0; i < scaling_count(scaling, SCALING_ACTIVITY); i++) {
        const struct scaling_activity *activity = scaling_at(scaling, SCALING_ACTIVITY, i);
        for (size_t k = 0; k < COUNT_OF(statuses); k++)
            counts[k] += bytes_equal_text(activity->status, statuses[k]);
    }
    add_actions(scaling, page);
    scaling_unlock(scaling);
    if (target_count == 0 && policy_count == 0)
        return; /* Nobody scales. */
    exposition_integer(targets, NULL, 0, target_count);
    exposition_integer(policies, NULL, 0, policy_count);
    for (size_t k = 0; k < COUNT_OF(statuses); k++) {
        const struct exposition_label label = { "status", bytes_from_text(statuses[k]) };
        if (counts[k] > 0)
            exposition_integer(activities, &label, 1, counts[k]);
    }
}

void metric_page_add_alarms(struct api *api, struct exposition *page)
{
    size_t counts[ALARM_STATE_COUNT];
    struct exposition_family *alarms = exposition_add(page, EXPOSITION_GAUGE, "stator_alarms", NULL,
                                                      "CloudWatch alarms in each state.");
    alarms_count_states(api_alarms(api), counts);
    for (size_t i = 0; i < ALARM_STATE_COUNT; i++) {
        const struct exposition_label label = { "state", bytes_from_text(alarm_state_name(
                                                             (enum alarm_state)i)) };
        exposition_integer(alarms, &label, 1, counts[i]);
    }
    add_activities(api, page);
}

void metric_page_add_jobs(struct api *api, struct exposition *page)
{
    struct job_kind_counts counts[JOB_KINDS_MAX];
    size_t count = job_runner_counts(api_jobs(api), counts);
    struct exposition_family *active =
        exposition_add(page, EXPOSITION_GAUGE, "stator_jobs_active", NULL,
                       "Backups, restores, exports and imports that run or wait for their turn.");
    struct exposition_family *items =
        exposition_add(page, EXPOSITION_GAUGE, "stator_job_items", NULL,
                       "Items that active jobs have done since they began.");
    struct exposition_family *bytes =
        exposition_add(page, EXPOSITION_GAUGE, "stator_job_bytes", "bytes", "The same in bytes.");
    struct exposition_family *ended =
        exposition_add(page, EXPOSITION_COUNTER, "stator_jobs_ended", NULL, "Jobs that ended.");
    struct exposition_family *retries =
        exposition_add(page, EXPOSITION_COUNTER, "stator_job_retries", NULL,
                       "Turns of jobs that failed and are tried again.");
    for (size_t i = 0; i < count; i++) {
        struct exposition_label labels[] = { { "kind", bytes_from_text(counts[i].name) },
                                             { "status", BYTES("completed") } };
        exposition_integer(active, labels, 1, counts[i].active);
        exposition_integer(items, labels, 1, counts[i].items);
        exposition_integer(bytes, labels, 1, counts[i].bytes);
        exposition_integer(retries, labels, 1, counts[i].retries);
        exposition_integer(ended, labels, 2, counts[i].completed);
        labels[1].value = BYTES("failed");
        exposition_integer(ended, labels, 2, counts[i].failed);
    }
}
