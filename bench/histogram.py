"""histogram.py -- percentiles of what bench/load has counted: lists of [end of a bucket, count]."""

import math


def merged(histograms):
    """One histogram of all of them, in rising order."""
    counts = {}
    for histogram in histograms:
        for end, count in histogram:
            counts[end] = counts.get(end, 0) + count
    return sorted(counts.items())


def percentile(histogram, percent):
    """The smallest bucket's end that at least so many percent of the values do not pass.

    `histogram` is in rising order and has at least one value.
    """
    total = sum(count for _, count in histogram)
    # Rounded first: 99.9% of 1,000 is 999, not the next float above it.
    rank = max(1, math.ceil(round(total * percent / 100, 6)))
    seen = 0
    for end, count in histogram:
        seen += count
        if seen >= rank:
            return end
    raise ValueError("an empty histogram has no percentiles")
