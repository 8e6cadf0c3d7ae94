/* metric_query.h -- several metrics and expressions over them, evaluated together.
 *
 * What GetMetricData and alarms on metric math share. A query is either a statistic of a metric, or
 * an expression that names others by their ids. Metrics are read first, then expressions in an
 * order in which each finds what it names.
 */
#ifndef STATOR_CLOUDWATCH_METRIC_QUERY_H
#define STATOR_CLOUDWATCH_METRIC_QUERY_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudwatch/metric_math.h"
#include "cloudwatch/series.h"
#include "cloudwatch/statistic.h"

enum {
    METRIC_QUERIES_MAX = 500,
    METRIC_QUERY_FOUND_MAX = 500,      /* Series of one SEARCH, */
    METRIC_QUERY_FOUND_ALL_MAX = 5000, /* and of all of a request. */
    METRIC_QUERY_SEARCHES_MAX = 100,   /* Of a request: each looks at every series. */
    METRIC_QUERY_POINTS_MAX = 100800,
};

/* A metric that was read: the origin of its series (struct math_series). */
struct metric_source {
    struct series_key key;
    struct bytes statistic;
    int64_t period_s;
};

struct metric_query {
    struct bytes id;
    /* Either a metric: */
    struct metric_source source; /* key.namespace.data NULL: it is an expression. */
    struct statistic statistic;
    /* or an expression: */
    struct bytes expression;
    int64_t period_s; /* Of an expression, as given; 0: not given. */

    /* Results: a series, an array, or, of an expression, a scalar. */
    struct math_value value;
    bool is_done;
};

struct metric_query_run {
    struct arena *arena;
    struct series_reader *reader;
    struct metric_query *queries; /* Ids are distinct. */
    size_t count;                 /* At most METRIC_QUERIES_MAX. */
    int64_t start_s;              /* Bins are counted from here. */
    int64_t end_s;
    int64_t now_s; /* SEARCH finds metrics of the last two weeks. */
    /* Points that may be read from the store; 0: METRIC_QUERY_POINTS_MAX. */
    size_t points_max;
    /* INSIGHT_RULE_METRIC; NULL: refused. See metric_math.h. */
    bool (*insight)(void *context, struct bytes rule, struct bytes metric, struct math_value *out,
                    struct metric_math_error *err);
    void *insight_context;

    /* metric_query's own. */
    struct arena *scratch; /* For what the store gives; reset after each read. */
    size_t points;         /* Read from the store, */
    size_t math_points;    /* and made by expressions: metric_math_charge. */
    size_t searches;
    size_t found;                 /* By all of them. */
    struct metric_query *current; /* The expression that is evaluated. */
    enum engine_status status;
};

/* False with `err` set: "Error in expression 'e1': ...". If the store cannot be read, `status` of
 * the run is not ENGINE_OK. */
MUST_CHECK bool metric_query_run(struct metric_query_run *run, struct metric_math_error *err);

/* What tells the sources of an answer apart, as the service labels them: the metric's name, or
 * those dimensions, namespaces, statistics and periods that differ. One label for each. */
void metric_query_label(struct arena *arena, const struct metric_source *const *sources,
                        size_t count, struct bytes *labels);

#endif
