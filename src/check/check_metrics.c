/* check_metrics.c -- see check_metrics.h. Keys sort as: chunks, definitions, next id, position,
 * totals. So sizes are summed up before the totals that they are compared with come. */
#include "check/check_metrics.h"
#include <inttypes.h>
#include "base/arena.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "cloudwatch/series_chunk.h"
#include "cloudwatch/series_identity.h"
#include "cloudwatch/series_store.h"

struct metrics_walk {
    struct check_report *report;
    struct arena *arena;   /* For the sums, */
    struct arena *scratch; /* and for one record. */
    struct series_total *sums;
    size_t sum_count;
    size_t sum_capacity;
    size_t compared; /* Sums whose total has come. */
    uint64_t last_id;
};

static void report_record(struct metrics_walk *walk, const char *what, struct bytes key,
                          const char *problem)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_bytes(key, text);
    check_report_problem(walk->report, "metrics, %s %s: %s", what, text, problem);
}

static void add_size(struct metrics_walk *walk, enum series_resolution resolution, int64_t start_s,
                     size_t size)
{
    struct series_total *last = walk->sum_count == 0 ? NULL : &walk->sums[walk->sum_count - 1];
    if (last != NULL && last->resolution == resolution && last->start_s == start_s) {
        last->size += size;
        return;
    }
    if (walk->sum_count == walk->sum_capacity) {
        size_t larger = walk->sum_capacity == 0 ? 64 : walk->sum_capacity * 2;
        walk->sums = arena_grow(walk->arena, walk->sums, walk->sum_capacity * sizeof *last,
                                larger * sizeof *last);
        walk->sum_capacity = larger;
    }
    walk->sums[walk->sum_count++] =
        (struct series_total){ .resolution = resolution, .start_s = start_s, .size = size };
}

static void check_chunk(struct metrics_walk *walk, const struct engine_entry *entry)
{
    enum series_resolution resolution;
    int64_t start_s;
    uint64_t id;
    struct series_chunk chunk;
    if (!series_chunk_key_parse(entry->key, &resolution, &start_s, &id)) {
        report_record(walk, "samples", entry->key, "are stored under a key that is none of theirs");
        return;
    }
    const struct series_resolution_rule *rule = series_resolution_rule(resolution);
    add_size(walk, resolution, start_s, entry->key.len + entry->value.len);
    if (!series_chunk_decode(walk->scratch, entry->value, (size_t)(rule->chunk_s / rule->bin_s),
                             &chunk) ||
        !bytes_equal(series_chunk_encode(walk->scratch, &chunk), entry->value))
        report_record(walk, "samples", entry->key, "are damaged");
}

static void check_definition(struct metrics_walk *walk, const struct engine_entry *entry)
{
    struct series_definition definition;
    struct series_key key;
    uint64_t id;
    if (!series_definition_key_parse(entry->key, &id) ||
        !series_definition_decode(entry->value, &definition) ||
        !series_identity_decode(walk->scratch, definition.identity, &key))
        report_record(walk, "series", entry->key, "is damaged");
    else
        walk->last_id = id;
}

/* Sums whose totals should have come before this one have none. */
static void report_missing(struct metrics_walk *walk, enum series_resolution resolution,
                           int64_t start_s)
{
    for (; walk->compared < walk->sum_count; walk->compared++) {
        const struct series_total *sum = &walk->sums[walk->compared];
        if (sum->resolution > resolution ||
            (sum->resolution == resolution && sum->start_s >= start_s))
            return;
        check_report_problem(walk->report,
                             "metrics, resolution %d, time %" PRId64 ": their size is not counted",
                             (int)sum->resolution, sum->start_s);
    }
}

static void check_total(struct metrics_walk *walk, const struct engine_entry *entry)
{
    enum series_resolution resolution;
    int64_t start_s;
    uint64_t size;
    if (!series_total_key_parse(entry->key, &resolution, &start_s) ||
        !series_numbers_decode(entry->value, &size, SERIES_NUMBERS_TOTAL)) {
        report_record(walk, "size", entry->key, "is damaged");
        return;
    }
    report_missing(walk, resolution, start_s);
    const struct series_total *sum =
        walk->compared < walk->sum_count ? &walk->sums[walk->compared] : NULL;
    bool is_of_sum = sum != NULL && sum->resolution == resolution && sum->start_s == start_s;
    walk->compared += is_of_sum ? 1 : 0;
    if (!is_of_sum || sum->size != size)
        check_report_problem(walk->report,
                             "metrics, resolution %d, time %" PRId64 ": %" PRIu64
                             " bytes are counted, but %" PRIu64 " are stored",
                             (int)resolution, start_s, size, is_of_sum ? sum->size : 0);
}

static void check_numbers(struct metrics_walk *walk, const struct engine_entry *entry, size_t count)
{
    uint64_t numbers[SERIES_NUMBERS_POSITION];
    if (entry->key.len != 1 || !series_numbers_decode(entry->value, numbers, count))
        report_record(walk, "record", entry->key, "is damaged");
    else if (entry->key.data[0] == SERIES_KEY_NEXT_ID && numbers[0] <= walk->last_id)
        report_record(walk, "record", entry->key, "says that an id in use is free");
}

static bool visit(void *context, const struct engine_place *place, const struct engine_entry *entry)
{
    struct metrics_walk *walk = context;
    (void)place;
    check_report_step(walk->report);
    switch (entry->key.len == 0 ? 0 : entry->key.data[0]) {
    case SERIES_KEY_CHUNK:
        check_chunk(walk, entry);
        break;
    case SERIES_KEY_DEFINITION:
        check_definition(walk, entry);
        break;
    case SERIES_KEY_NEXT_ID:
        check_numbers(walk, entry, SERIES_NUMBERS_NEXT_ID);
        break;
    case SERIES_KEY_POSITION:
        check_numbers(walk, entry, SERIES_NUMBERS_POSITION);
        break;
    case SERIES_KEY_TOTAL:
        check_total(walk, entry);
        break;
    default:
        report_record(walk, "record", entry->key, "is one that nothing reads");
        break;
    }
    arena_reset(walk->scratch);
    return !check_report_gave_up(walk->report);
}

void check_metrics(struct engine_view *view, struct check_report *report)
{
    struct metrics_walk walk = { .report = report,
                                 .arena = arena_create(),
                                 .scratch = arena_create() };
    enum engine_status status = check_walk(view, &series_place, visit, &walk);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the samples of metrics");
    else
        report_missing(&walk, SERIES_RESOLUTION_END, 0);
    arena_destroy(walk.scratch);
    arena_destroy(walk.arena);
}
