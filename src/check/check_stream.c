/* check_stream.c -- see check_stream.h.
 *
 * The shards say which sequence numbers the log must hold; one walk compares its records with them.
 * The shards are compared with the head of the log and with one another.
 *
 * Of triggers and Kinesis destinations, definitions sort before positions and are few, so one walk
 * finds both.
 */
#include "check/check_stream.h"
#include <inttypes.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "check/check_catalogue.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "model/key.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "log/log_layout.h"
#include "log/shard.h"
#include "stream/stream_definition.h"
#include "consumer/consumer_position.h"
#include "kinesis/destination_definition.h"
#include "trigger/trigger_definition.h"
#include "trigger/triggers.h"

struct log_check {
    struct engine_view *view;
    struct check_report *report;
    const struct stream_definition *stream;
    struct arena *arena; /* Of one partition. */
    uint64_t partition;
    struct change_log_head head;
    struct shard *shards;
    size_t shard_count;

    /* While the records are walked. */
    size_t shard;      /* That the next expected record belongs to. */
    uint64_t expected; /* Its number. */
    int64_t commit_us; /* Of the last record, */
    int64_t server_ms; /* and in server time. */
};

static void report(const struct log_check *check, const char *problem)
{
    check_report_problem(check->report, "stream %.*s/%.*s, partition %" PRIu64 ": %s",
                         BYTES_FMT(check->stream->table_name), BYTES_FMT(check->stream->label),
                         check->partition, problem);
}

static void report_record(const struct log_check *check, uint64_t sequence, const char *problem)
{
    check_report_problem(check->report,
                         "stream %.*s/%.*s, partition %" PRIu64 ", record %" PRIu64 ": %s",
                         BYTES_FMT(check->stream->table_name), BYTES_FMT(check->stream->label),
                         check->partition, sequence, problem);
}

/* --- Shards --- */

static uint64_t end_of(const struct log_check *check, const struct shard *shard)
{
    return shard_is_open(shard) ? check->head.next : shard->last + 1;
}

static void check_shards(const struct log_check *check)
{
    for (size_t i = 1; i < check->shard_count; i++) {
        const struct shard *parent = &check->shards[i - 1], *child = &check->shards[i];
        if (shard_is_open(parent))
            report(check, "a shard is open that has a child");
        else if (child->first != parent->last + 1)
            report(check, "a shard does not begin where its parent ends");
        if (child->parent_created_ms != parent->created_ms ||
            child->parent_partition != check->partition)
            report(check, "a shard names another parent than its own");
    }
    if (check->shard_count == 0) {
        if (check->stream->status == STREAM_ENABLED)
            report(check, "has no shard");
        return;
    }
    const struct shard *newest = &check->shards[check->shard_count - 1];
    if (newest->first != check->head.shard_first)
        report(check, "its head names another shard than the newest one");
    if (shard_is_open(newest) != check->head.open)
        report(check, "its head and its newest shard do not agree on whether it is open");
    if (end_of(check, newest) != check->head.next)
        report(check, "its newest shard does not end with the newest record");
}

static void check_status(const struct log_check *check)
{
    if (check->stream->status == STREAM_ENABLED && !check->head.open)
        report(check, "is not open, and the stream is enabled");
    if (check->stream->status == STREAM_DISABLED && check->head.open)
        report(check, "is open, and the stream is disabled");
}

/* The first shard of a partition that was split off. Its parent may have been trimmed. */
static enum engine_status check_split(const struct log_check *check)
{
    if (check->shard_count == 0 || !shard_is_split_off(&check->shards[0]))
        return ENGINE_OK;
    const struct shard *child = &check->shards[0];
    struct shard *shards;
    size_t count;
    if (!stream_definition_has_partition(check->stream, child->parent_partition)) {
        report(check, "its first shard names a parent that is not in the stream");
        return ENGINE_OK;
    }
    enum engine_status status = shard_list(check->arena, check->view, check->stream->log_id,
                                           child->parent_partition, &shards, &count);
    for (size_t i = 0; status == ENGINE_OK && i < count; i++) {
        if (shards[i].created_ms == child->parent_created_ms &&
            (shard_is_open(&shards[i]) || shards[i].last + 1 != child->first))
            report(check, "its first shard does not begin where its parent ends");
    }
    return status;
}

/* --- Records --- */

/* Moves to the shard of the next expected record, if there is one. */
static void skip_ended_shards(struct log_check *check)
{
    while (check->shard < check->shard_count &&
           check->expected >= end_of(check, &check->shards[check->shard])) {
        check->shard++;
        if (check->shard < check->shard_count)
            check->expected = check->shards[check->shard].kept;
    }
}

/* Reports the sequence numbers below `sequence` that are missing. */
static void report_missing(struct log_check *check, uint64_t sequence)
{
    for (skip_ended_shards(check); check->shard < check->shard_count && check->expected < sequence;
         skip_ended_shards(check)) {
        uint64_t end = end_of(check, &check->shards[check->shard]);
        report_record(check, check->expected, "is missing");
        check->expected = sequence < end ? sequence : end;
    }
}

static bool has_keys(const struct log_check *check, const struct change_record *record)
{
    const struct key_schema *schema = &check->stream->key;
    struct item keys = change_record_keys(check->arena, schema, record);
    return keys.count == (schema->has_range ? 2u : 1u);
}

static bool images_are_whole(const struct change_record *record)
{
    if (record->images == 0)
        return item_verify(&record->keys);
    return ((record->images & CHANGE_NEW_IMAGE) == 0 || item_verify(&record->new_image)) &&
           ((record->images & CHANGE_OLD_IMAGE) == 0 || item_verify(&record->old_image));
}

static void check_record(struct log_check *check, uint64_t sequence, struct bytes value)
{
    struct change_record record;
    report_missing(check, sequence);
    if (check->shard == check->shard_count || sequence != check->expected) {
        report_record(check, sequence, "belongs to no shard");
        return;
    }
    check->expected++;
    if (!change_record_decode(value, &record) || !images_are_whole(&record)) {
        report_record(check, sequence, "is damaged");
        return;
    }
    if (!has_keys(check, &record))
        report_record(check, sequence, "does not have the table's key");
    if (record.commit_us < check->commit_us || record.server_ms < check->server_ms)
        report_record(check, sequence, "is older than the one before");
    check->commit_us = record.commit_us;
    check->server_ms = record.server_ms;
}

static bool visit_log(void *context, const struct engine_place *place,
                      const struct engine_entry *entry)
{
    (void)place;
    struct log_check *check = context;
    uint64_t sequence;
    struct shard ignored;
    bool is_head = entry->key.len == 1 && entry->key.data[0] == LOG_KEY_HEAD;
    if (change_log_sequence_of_key(entry->key, &sequence))
        check_record(check, sequence, entry->value);
    else if (!is_head && !shard_open_entry(check->partition, entry, &ignored))
        report(check, "a record of its log is damaged or unknown");
    return !check_report_gave_up(check->report);
}

/* --- The stream --- */

static enum engine_status check_partition(struct log_check *check)
{
    uint64_t log_id = check->stream->log_id;
    struct engine_address head = change_log_head_address(log_id, check->partition);
    enum engine_status status = change_log_view_head(check->view, &head, &check->head);
    if (status == ENGINE_OK)
        status = shard_list(check->arena, check->view, log_id, check->partition, &check->shards,
                            &check->shard_count);
    if (status != ENGINE_OK)
        return status;
    check_status(check);
    check_shards(check);
    status = check_split(check);
    if (status != ENGINE_OK)
        return status;
    check->expected = check->shard_count > 0 ? check->shards[0].kept : 0;
    status = check_walk(check->view, &head.place, visit_log, check);
    if (status == ENGINE_OK && !check_report_gave_up(check->report))
        report_missing(check, UINT64_MAX);
    return status;
}

void check_stream(struct engine_view *view, const struct stream_definition *stream,
                  struct check_report *to)
{
    for (size_t i = 0; i < stream->partition_count && !check_report_gave_up(to); i++) {
        struct log_check check = { .view = view,
                                   .report = to,
                                   .stream = stream,
                                   .arena = arena_create(),
                                   .partition = stream->partitions[i] };
        enum engine_status status = check_partition(&check);
        if (status != ENGINE_OK)
            check_report_unreadable(to, status, "stream %.*s/%.*s, partition %" PRIu64,
                                    BYTES_FMT(stream->table_name), BYTES_FMT(stream->label),
                                    check.partition);
        arena_destroy(check.arena);
    }
}

/* --- Triggers --- */

struct trigger_check {
    struct engine_view *view;
    const struct check_catalogue *catalogue;
    struct check_report *report;
    struct arena *arena; /* Holds the definitions. */
    struct trigger_definition *triggers;
    size_t count;
    struct buffer destinations; /* struct destination_definition each. */
};

static const struct stream_definition *find_stream(const struct trigger_check *check,
                                                   uint64_t log_id)
{
    const struct check_owner *owner = check_catalogue_owner(check->catalogue, log_id);
    return owner == NULL ? NULL : owner->stream;
}

static void report_position(const struct trigger_check *check, const struct trigger_record *record,
                            const char *problem)
{
    check_report_problem(check->report, "reader %.*s, partition %" PRIu64 ": %s",
                         BYTES_FMT(record->uuid), record->partition, problem);
}

/* The log of the trigger or destination. False if there is no such one. */
static bool find_log(const struct trigger_check *check, struct bytes uuid, uint64_t *out)
{
    const struct destination_definition *destinations =
        (const struct destination_definition *)(const void *)check->destinations.data;
    for (size_t i = 0; i < check->count; i++) {
        *out = check->triggers[i].log_id;
        if (bytes_equal(check->triggers[i].uuid, uuid))
            return true;
    }
    for (size_t i = 0; i < check->destinations.len / sizeof *destinations; i++) {
        *out = destinations[i].log_id;
        if (bytes_equal(destinations[i].uuid, uuid))
            return *out != 0; /* One that has ended has no positions. */
    }
    return false;
}

/* A trigger outlives its stream; its positions then have nothing to be compared with. */
static void check_position(const struct trigger_check *check, const struct trigger_record *record)
{
    uint64_t log_id;
    if (!find_log(check, record->uuid, &log_id)) {
        report_position(check, record, "is the position of no trigger and no destination");
        return;
    }
    const struct stream_definition *stream = find_stream(check, log_id);
    if (stream == NULL)
        return;
    if (!stream_definition_has_partition(stream, record->partition)) {
        report_position(check, record, "is no partition of its stream");
        return;
    }
    struct engine_address address = change_log_head_address(stream->log_id, record->partition);
    struct change_log_head head;
    if (change_log_view_head(check->view, &address, &head) == ENGINE_OK && record->next > head.next)
        report_position(check, record, "its position lies behind the newest record");
}

static void check_destination(struct trigger_check *check, const struct engine_entry *entry)
{
    struct destination_definition definition;
    bool ok = false;
    if (destination_definition_open_entry(check->arena, entry, &definition, &ok) && ok)
        buffer_append(&check->destinations, &definition, sizeof definition);
    else
        check_report_problem(check->report, "a record of a Kinesis destination is damaged");
}

static bool visit_trigger(void *context, const struct engine_place *place,
                          const struct engine_entry *entry)
{
    (void)place;
    struct trigger_check *check = context;
    struct trigger_definition definition;
    struct trigger_record record = trigger_definition_open_entry(check->arena, entry, &definition);
    if (record.kind == TRIGGER_RECORD_POSITION)
        check_position(check, &record);
    else if (record.kind == TRIGGER_RECORD_DESTINATION)
        check_destination(check, entry);
    else if (record.kind == TRIGGER_RECORD_NONE)
        check_report_problem(check->report, "a record of a trigger is damaged or unknown");
    else if (check->count == TRIGGERS_MAX)
        check_report_problem(check->report, "there are more than %d triggers", TRIGGERS_MAX);
    else
        check->triggers[check->count++] = definition;
    return !check_report_gave_up(check->report);
}

void check_stream_triggers(struct engine_view *view, const struct check_catalogue *catalogue,
                           struct check_report *report)
{
    struct arena *arena = arena_create();
    struct trigger_check check = { .view = view,
                                   .catalogue = catalogue,
                                   .report = report,
                                   .arena = arena,
                                   .triggers =
                                       arena_alloc(arena, TRIGGERS_MAX * sizeof *check.triggers) };
    buffer_init(&check.destinations, arena);
    enum engine_status status = check_walk(view, &consumer_position_place, visit_trigger, &check);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the triggers");
    arena_destroy(arena);
}
