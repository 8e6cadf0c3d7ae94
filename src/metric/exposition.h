/* exposition.h -- a page in Prometheus' text format 0.0.4, or in OpenMetrics 1.0.
 *
 * The format wants all samples of a family together. Whoever goes through tables meets all families
 * at each of them, so every family collects its samples in a text of its own, and the page joins
 * these texts at the end. A family without samples does not show at all.
 */
#ifndef STATOR_METRIC_EXPOSITION_H
#define STATOR_METRIC_EXPOSITION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;
struct exposition;
struct exposition_family;
struct histogram;

enum exposition_type { EXPOSITION_COUNTER, EXPOSITION_GAUGE, EXPOSITION_HISTOGRAM };

enum { EXPOSITION_LABELS_MAX = 6, EXPOSITION_FAMILIES_MAX = 96 };

struct exposition_label {
    const char *name;
    struct bytes value; /* Any bytes: they are escaped. */
};

/* `size_max`: samples beyond are left out, and counted. */
struct exposition *exposition_create(struct arena *arena, bool open_metrics, size_t size_max);

/* `name` is without the "_total" that the samples of a counter get. Names and help are texts of the
 * code; help is one line. `unit` is the end of the name, NULL: none. */
struct exposition_family *exposition_add(struct exposition *page, enum exposition_type type,
                                         const char *name, const char *unit, const char *help);

void exposition_integer(struct exposition_family *family, const struct exposition_label *labels,
                        size_t label_count, uint64_t value);
void exposition_number(struct exposition_family *family, const struct exposition_label *labels,
                       size_t label_count, double value);
/* Halves of a unit, exactly: 3 is "1.5". */
void exposition_halves(struct exposition_family *family, const struct exposition_label *labels,
                       size_t label_count, uint64_t halves);

/* A histogram with the given upper ends in ascending order. `counts` has one element for each and
 * one more for all above; `sum` is of the same unit as the ends. */
void exposition_buckets(struct exposition_family *family, const struct exposition_label *labels,
                        size_t label_count, const double *ends, size_t end_count,
                        const uint64_t *counts, double sum);
/* The same from a histogram; a value is `scale` of the family's unit (1e-9 for ns in seconds). An
 * end counts the buckets that lie below it. */
void exposition_histogram(struct exposition_family *family, const struct exposition_label *labels,
                          size_t label_count, const double *ends, size_t end_count,
                          const struct histogram *histogram, double scale);

/* Samples that found no room. */
uint64_t exposition_left_out(const struct exposition *page);
/* The page's Content-Type. */
struct bytes exposition_content_type(bool open_metrics);
/* Joins the families, in the order in which they were added. */
struct bytes exposition_finish(struct exposition *page);

/* Whether a request with this Accept header wants OpenMetrics rather than the older format; data
 * NULL: it has none. */
bool exposition_wants_open_metrics(struct bytes accept);

#endif
