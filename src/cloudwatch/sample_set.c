/* sample_set.c -- see sample_set.h. */
#include "cloudwatch/sample_set.h"
#include <assert.h>
#include <float.h>
#include "base/arena.h"
#include "cloudwatch/value_histogram.h"

/* The greatest double stands for whatever is beyond it, so that every stored number is finite. */
static double finite(double value)
{
    return value > DBL_MAX ? DBL_MAX : value < -DBL_MAX ? -DBL_MAX : value;
}

struct sample_set sample_set_of_value(double value, double count)
{
    assert(count > 0);
    return (struct sample_set){ .count = count,
                                .sum = finite(value * count),
                                .minimum = value,
                                .maximum = value,
                                .is_distributed = true };
}

struct sample_set sample_set_of_statistics(double count, double sum, double minimum, double maximum)
{
    assert(count > 0);
    return (struct sample_set){ .count = count,
                                .sum = sum,
                                .minimum = minimum,
                                .maximum = maximum,
                                .is_distributed = minimum == maximum };
}

/* A histogram of the set that may be changed. */
static struct value_histogram *own_histogram(struct arena *arena, const struct sample_set *set)
{
    struct value_histogram *own = arena_alloc(arena, sizeof *own);
    if (set->histogram != NULL) {
        *own = *set->histogram;
    } else {
        value_histogram_init(own);
        value_histogram_add(own, set->minimum, set->count);
    }
    return own;
}

static void add_distribution(struct arena *arena, struct sample_set *set,
                             const struct sample_set *more)
{
    if (!set->is_distributed || !more->is_distributed) {
        set->is_distributed = false;
        set->histogram = set->own = NULL;
        return;
    }
    bool all_equal =
        set->histogram == NULL && more->histogram == NULL && set->minimum == more->minimum;
    if (all_equal)
        return;
    if (set->own == NULL)
        set->histogram = set->own = own_histogram(arena, set);
    if (more->histogram != NULL)
        value_histogram_merge(set->own, more->histogram);
    else
        value_histogram_add(set->own, more->minimum, more->count);
}

void sample_set_add(struct arena *arena, struct sample_set *set, const struct sample_set *more)
{
    if (more->count == 0)
        return;
    if (set->count == 0) {
        *set = *more;
        set->own = NULL;
        return;
    }
    add_distribution(arena, set, more);
    set->count = finite(set->count + more->count);
    set->sum = finite(set->sum + more->sum);
    if (more->minimum < set->minimum)
        set->minimum = more->minimum;
    if (more->maximum > set->maximum)
        set->maximum = more->maximum;
}
