/* statistic.h -- the statistics of CloudWatch by their names: "Average", "p99.9", "TM(10%:90%)".
 */
#ifndef STATOR_CLOUDWATCH_STATISTIC_H
#define STATOR_CLOUDWATCH_STATISTIC_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct sample_set;

enum statistic_kind {
    STATISTIC_SAMPLE_COUNT,
    STATISTIC_AVERAGE,
    STATISTIC_SUM,
    STATISTIC_MINIMUM,
    STATISTIC_MAXIMUM,
    /* The extended ones, which need the distribution: */
    STATISTIC_PERCENTILE,
    STATISTIC_TRIMMED_MEAN,
    STATISTIC_WINSORIZED_MEAN,
    STATISTIC_TRIMMED_COUNT,
    STATISTIC_TRIMMED_SUM,
    STATISTIC_PERCENTILE_RANK,
};

struct statistic {
    enum statistic_kind kind;
    bool by_value; /* The bounds are values, not percentages. */
    bool has_low;  /* Without them, from the smallest or to the greatest value. */
    bool has_high;
    double low; /* Of a percentile, only `high` counts. */
    double high;
};

/* "SampleCount", "Average", "Sum", "Minimum" or "Maximum". */
MUST_CHECK bool statistic_parse_simple(struct bytes name, struct statistic *out);
/* Percentiles (p99), trimmed and winsorized means (tm90, wm(5%:95%)), trimmed counts and sums (tc,
 * ts), percentile ranks (PR(100:2000)) and IQM, in upper or lower case. */
MUST_CHECK bool statistic_parse_extended(struct bytes name, struct statistic *out);
/* Either of the two. */
MUST_CHECK bool statistic_parse(struct bytes name, struct statistic *out);
const char *statistic_name(enum statistic_kind kind); /* Of a simple one. */

/* False if the set does not tell, because its distribution is not known or nothing is within the
 * bounds. The set is not empty. */
MUST_CHECK bool statistic_value(const struct statistic *statistic, const struct sample_set *set,
                                double *out);

#endif
