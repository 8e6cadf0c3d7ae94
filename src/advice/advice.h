/* advice.h -- what a table's use says about its design: facts in, findings out.
 *
 * Pure: the caller gathers the facts (api/advice/), and the rules compare them with thresholds.
 * Each rule is one row of the table in doc/advice.md, which has the thresholds for users.
 *
 * A rule has one of three results: a finding; nothing, because the facts show no problem; or "not
 * judged", because there are too few facts. A counter of zero is a fact only if counting was on.
 */
#ifndef STATOR_ADVICE_ADVICE_H
#define STATOR_ADVICE_ADVICE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "advice/advice_history.h"
#include "advice/price_list.h"
#include "advice/shape_counter.h"
#include "base/bytes.h"
#include "model/table_definition.h"

struct arena;

#define PRICE_ENUM(identifier, price, unit) PRICE_##identifier,
enum price { PRICE_LIST(PRICE_ENUM) PRICE_COUNT };
#undef PRICE_ENUM
double price_of(enum price price); /* USD */
const char *price_unit(enum price price);

#define ADVICE_HOUR_MS INT64_C(3600000)
#define ADVICE_DAY_MS (24 * ADVICE_HOUR_MS)
#define ADVICE_MONTH_HOURS 730.0

enum {
    ADVICE_CAPACITY_DAYS = 14, /* What the choice of a billing mode is judged by. */
    ADVICE_UNUSED_DAYS = 30,   /* How long an index has to be unused. */
    ADVICE_BIN_S = 300,        /* Of the samples of consumed units. */
    ADVICE_BINS_MAX = ADVICE_CAPACITY_DAYS * 86400 / ADVICE_BIN_S + 1,
    ADVICE_EVIDENCE_MAX = 8,
};

/* --- Facts --- */

/* What a table or global index has consumed, by the samples of CloudWatch. */
struct advice_usage {
    /* Units of each bin of ADVICE_BIN_S seconds, as far as there are samples; without gaps, because
     * the server emits zeros; while it does not run, there are none. */
    const double *bins[METER_DIRECTIONS];
    size_t bin_count;
    double units[METER_DIRECTIONS]; /* Sum of the bins. */
    /* Over ADVICE_UNUSED_DAYS, by the hour: from the first sample on, and how many hours have any.
     */
    int64_t first_ms; /* 0: there is no sample. */
    int64_t hours;
    double long_units[METER_DIRECTIONS];
    bool has_target[METER_DIRECTIONS]; /* Auto scaling. */
    /* What was provisioned on average in the time of the bins; 0: there are no samples. */
    double provisioned[METER_DIRECTIONS];
};

/* What Contributor Insights counted; `is_enabled` false: nothing is known. */
struct advice_keys {
    bool is_enabled;
    int64_t from_ms;
    double total;      /* Units; reads and writes, the latter three times, as the service counts. */
    double top;        /* Of the heaviest partition key, at least. */
    double top_minute; /* Of it in its busiest minute, or the average one of an hour. */
    uint64_t distinct;
    bool top_is_time; /* The heaviest key is a date or time. */
    int64_t minutes;  /* In which anything was counted. */
};

/* A few hundred items of the table or entries of an index, read for the answer. */
struct advice_sample {
    size_t count; /* 0: there are none, or they were not read. */
    double attribute_average;
    double size_average;
    double name_size_average;
    size_t barely_above; /* Whose size exceeds a multiple of 1 KB by less than 100 bytes. */
    /* The attribute that most often holds a time in the past, in seconds since 1970. */
    struct bytes expired_name; /* data NULL: none. */
    size_t expired_count;
};

struct advice_table {
    const struct table_definition *definition;
    int64_t now_ms;
    int64_t since_ms;   /* The window that was asked for begins here. */
    int64_t started_ms; /* The server's start. */
    bool has_stats;     /* The next two are known. */
    int64_t item_count, size;
    int64_t index_counts[INDEXES_MAX], index_sizes[INDEXES_MAX]; /* As in the definition. */
    struct advice_window window;
    bool counts_shapes;
    const struct shape_use *shapes;
    size_t shape_count;
    int64_t shapes_from_ms;
    struct advice_usage usage;
    struct advice_usage index_usage[INDEXES_MAX];
    struct advice_keys keys;
    struct advice_keys index_keys[INDEXES_MAX];
    struct advice_sample sample;
    struct advice_sample index_samples[INDEXES_MAX];
    size_t alarm_count;            /* That watch a metric of the table. */
    size_t trigger_count;          /* Of its stream. */
    double stream_lag_s;           /* Of the slowest trigger. */
    int64_t collection_size_max;   /* The largest item collection that was seen; 0: none. */
    int64_t collection_size_limit; /* What is allowed. */
};

/* --- Findings --- */

struct advice_number {
    const char *name;
    double value;
};

struct advice_finding {
    const char *rule; /* "scan": as in doc/advice.md. */
    bool is_warning;  /* Otherwise it is for information. */
    struct bytes table_name;
    struct bytes index_name; /* data NULL: the table. */
    const char *operation;   /* NULL: none. */
    struct bytes shape;      /* data NULL: none. */
    struct bytes summary;    /* One sentence, with the numbers that matter. */
    const char *action;      /* What to do. */
    struct advice_number evidence[ADVICE_EVIDENCE_MAX];
    size_t evidence_count;
    int64_t from_ms, until_ms; /* The window of the evidence. */
    bool has_cost;
    double cost; /* USD per month at this rate: what could be saved, or is at stake. */
};

/* A rule that could not be applied. */
struct advice_unjudged {
    const char *rule;
    struct bytes table_name;
    struct bytes index_name;
    const char *reason;
};

/* Grows in the arena. */
struct advice_report {
    struct arena *arena;
    struct advice_finding *findings;
    size_t finding_count, finding_capacity;
    struct advice_unjudged *unjudged;
    size_t unjudged_count, unjudged_capacity;
};
void advice_report_init(struct advice_report *report, struct arena *arena);
/* Applies all rules. `table` may go afterwards, but not its definition and shapes. */
void advice_judge(struct advice_report *report, const struct advice_table *table);

#endif
