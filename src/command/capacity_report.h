/* capacity_report.h -- what `stator simulate-capacity` prints: what a table has consumed, and what
 * each mode would have cost and throttled.
 *
 * Pure: answers of a server in, text out, so that a test needs no server. Costs are list prices
 * (advice/price_list.h) without free bands, of throughput only. A month has 730 hours.
 *
 * No data is not zero: minutes without a sample are left out, and a table or index with samples of
 * less than a day is not judged.
 */
#ifndef STATOR_COMMAND_CAPACITY_REPORT_H
#define STATOR_COMMAND_CAPACITY_REPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct buffer;

enum {
    CAPACITY_REPORT_RESOURCES_MAX = 21, /* A table and its global indexes. */
    CAPACITY_REPORT_DAYS_MAX = 63,
    CAPACITY_REPORT_MINUTES_PER_DAY = 24 * 60,
    /* How long samples of a minute are kept; older ones are merged into those of five minutes. */
    CAPACITY_REPORT_MINUTE_DAYS = 15,
    CAPACITY_REPORT_COARSE_MINUTES = 5,
};

enum capacity_report_direction { REPORT_READS, REPORT_WRITES, REPORT_DIRECTIONS };

/* One direction of a table or index. */
struct capacity_report_side {
    double *units;       /* Consumed in each minute. */
    int64_t provisioned; /* Now; 0: on demand. */
};

struct capacity_report_resource {
    struct bytes index_name; /* data NULL: the table. */
    struct capacity_report_side sides[REPORT_DIRECTIONS];
    bool *is_known; /* Minutes with a sample of reads or writes: idle ones have a sample of zero. */
    size_t known_count;
};

struct capacity_report {
    struct bytes table_name;
    bool is_on_demand;
    bool is_infrequent;   /* Its class is STANDARD_INFREQUENT_ACCESS. */
    int64_t first_minute; /* Since 1970. */
    size_t minute_count;
    size_t sample_minutes; /* Of one sample, which is spread evenly over them. */
    struct capacity_report_resource resources[CAPACITY_REPORT_RESOURCES_MAX];
    size_t resource_count;
    /* Of auto scaling. */
    double target_percent;
    int64_t min_units, max_units;
};

/* Reads what DescribeTable says of a table into names, modes and provisioned units. False if it is
 * no such object. */
MUST_CHECK bool capacity_report_read_table(struct capacity_report *report, struct arena *arena,
                                           struct bytes table);
/* The window: so many days until the beginning of a minute, or a few minutes less where samples are
 * coarser. Makes room for the minutes of all resources; before the next two. */
void capacity_report_set_window(struct capacity_report *report, struct arena *arena,
                                int64_t end_minute, size_t days);
/* The request for GetMetricData about one resource; `token` data NULL: the first page. */
struct bytes capacity_report_request(const struct capacity_report *report, struct arena *arena,
                                     size_t resource, struct bytes token);
/* Adds the samples of an answer; `*token` is that of the next page, data NULL: there is none. False
 * if it is no answer of GetMetricData. */
MUST_CHECK bool capacity_report_read_samples(struct capacity_report *report, struct arena *arena,
                                             size_t resource, struct bytes answer,
                                             struct bytes *token);

/* As lines for people, or as one line of JSON. */
void capacity_report_write(const struct capacity_report *report, struct buffer *out);
void capacity_report_write_json(const struct capacity_report *report, struct buffer *out);

#endif
