/* metric_search.h -- which metrics a SEARCH of metric math finds.
 *
 *     {AWS/DynamoDB,TableName} MetricName="ConsumedReadCapacityUnits" orders OR customers
 *
 * The schema in braces, which may be missing, is a namespace and exactly the names of the
 * dimensions. Behind it stand terms: words match if they occur anywhere, whatever their case; words
 * in double quotes only if they are the whole name, value or namespace; name=word looks at that
 * property or dimension alone. Terms are joined by AND (which may be left out), OR, NOT and
 * parentheses.
 */
#ifndef STATOR_CLOUDWATCH_METRIC_SEARCH_H
#define STATOR_CLOUDWATCH_METRIC_SEARCH_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct metric_math_error;
struct metric_search;
struct series_filter;
struct series_key;

enum {
    METRIC_SEARCH_SIZE_MAX = 1024,
    METRIC_SEARCH_DEPTH_MAX = 16,
    METRIC_SEARCH_TERMS_MAX = 128,
};

/* NULL with `err` set. Borrows `text`. */
MUST_CHECK const struct metric_search *metric_search_parse(struct arena *arena, struct bytes text,
                                                           struct metric_math_error *err);
/* What the schema asks for, for series_list; it borrows from the search. */
struct series_filter metric_search_filter(const struct metric_search *search);
/* Whether the terms match. */
bool metric_search_matches(const struct metric_search *search, const struct series_key *key);

#endif
