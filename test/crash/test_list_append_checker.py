"""The checker finds what it is there to find, and nothing else."""

import pytest
from list_append import UNKNOWN_END, Transaction, Violation, check

LAST = 1000


def append(name, start, end, **values):
    return Transaction(name, start, end, values, {})


def read(name, start, end, **lists):
    return Transaction(name, start, end, {}, lists)


GOOD = {
    "one after the other": [
        append("a", 0, 1, x=1, y=1),
        append("b", 2, 3, x=2),
        read("last", LAST, LAST, x=[1, 2], y=[1]),
    ],
    "at the same time, in either order": [
        append("a", 0, 9, x=1),
        append("b", 0, 9, x=2),
        read("r", 0, 9, x=[2]),
        read("last", LAST, LAST, x=[2, 1]),
    ],
    "no answer, and it took place": [
        append("a", 0, UNKNOWN_END, x=1, y=1),
        read("last", LAST, LAST, x=[1], y=[1]),
    ],
    "no answer, and it did not take place": [
        append("a", 0, UNKNOWN_END, x=1, y=1),
        read("last", LAST, LAST, x=[], y=[]),
    ],
}
BAD = {
    "an acknowledged append is lost": (
        [append("a", 0, 1, x=1), read("last", LAST, LAST, x=[])],
        "acknowledged and is lost",
    ),
    "half a transaction": (
        [append("a", 0, UNKNOWN_END, x=1, y=1), read("last", LAST, LAST, x=[1], y=[])],
        "took place in part",
    ),
    "a value out of nothing": ([read("last", LAST, LAST, x=[7])], "nobody appended"),
    "an append made twice": (
        [append("a", 0, 1, x=1), read("last", LAST, LAST, x=[1, 1])],
        "twice",
    ),
    "a list that lost its beginning": (
        [append("a", 0, 1, x=1), append("b", 0, 1, x=2), read("r", 2, 3, x=[2])]
        + [read("last", LAST, LAST, x=[1, 2])],
        "and also",
    ),
    "a read of half a transaction": (
        [append("a", 0, 9, x=1, y=1), read("r", 0, 9, x=[1], y=[])]
        + [read("last", LAST, LAST, x=[1], y=[1])],
        "no order explains",
    ),
    "two reads that see two appends in opposite orders": (
        [append("a", 0, 9, x=1), append("b", 0, 9, y=1)]
        + [read("r", 0, 9, x=[1], y=[]), read("s", 0, 9, x=[], y=[1])]
        + [read("last", LAST, LAST, x=[1], y=[1])],
        "no order explains",
    ),
    "a read that misses what was acknowledged before it began": (
        [append("a", 0, 1, x=1), read("r", 2, 3, x=[]), read("last", LAST, LAST, x=[1])],
        "no order explains",
    ),
    "a read that takes back what another saw": (
        [append("a", 0, UNKNOWN_END, x=1), read("r", 1, 2, x=[1]), read("s", 3, 4, x=[])]
        + [read("last", LAST, LAST, x=[1])],
        "no order explains",
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_history_that_an_order_explains_passes(name):
    check(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_a_history_that_no_order_explains_is_refused(name):
    history, reason = BAD[name]
    with pytest.raises(Violation, match=reason):
        check(history)
