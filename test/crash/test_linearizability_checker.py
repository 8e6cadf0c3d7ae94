"""The checker itself: histories made by hand, good and bad, and random ones against a search that
tries every order."""

import itertools
import random

import crash_run
import pytest
from linearizability import UNKNOWN, Operation, check, item_step


def history(*operations):
    """Each as (start, end, call, result)."""
    return [Operation(*operation, client=number) for number, operation in enumerate(operations)]


READ = ("read",)

GOOD = {
    "nothing": [],
    "one after the other": [
        (0, 1, ("put", 1), None),
        (2, 3, READ, 1),
        (4, 5, ("add", 2), 3),
        (6, 7, ("delete",), 3),
        (8, 9, READ, None),
    ],
    "a read during a write sees it": [(0, 9, ("put", 1), None), (1, 2, READ, 1)],
    "a read during a write does not see it yet": [(0, 9, ("put", 1), None), (1, 2, READ, None)],
    "concurrent increments in either order": [
        (0, 9, ("add", 1), 2),
        (1, 8, ("add", 1), 1),
        (10, 11, READ, 2),
    ],
    "of two writers of one version one wins": [
        (0, 1, ("put", 3), None),
        (2, 9, ("put_if", 3, 4), True),
        (3, 8, ("put_if", 3, 5), False),
        (10, 11, READ, 4),
    ],
    "a condition that fails though the item was right before": [
        (0, 1, ("put", 3), None),
        (2, 9, ("delete",), 3),
        (3, 8, ("delete_if", 3), False),
    ],
    "a new item after a delete": [
        (0, 1, ("put", 3), None),
        (2, 3, ("delete_if", 3), True),
        (4, 5, ("put_if", None, 3), True),
        (6, 7, READ, 3),
    ],
    "an unknown write that happened": [(0, 5, ("put", 1), UNKNOWN), (6, 7, READ, 1)],
    "an unknown write that did not happen": [(0, 5, ("put", 1), UNKNOWN), (6, 7, READ, None)],
    "two unknown writes of which the first was the last": [
        (0, 5, ("put", 1), UNKNOWN),
        (1, 5, ("put", 2), UNKNOWN),
        (6, 7, READ, 1),
    ],
    "an unknown increment that a later one counts": [
        (0, 5, ("add", 1), UNKNOWN),
        (6, 7, ("add", 1), 2),
    ],
    "an unknown conditional write that found the wrong version": [
        (0, 1, ("put", 3), None),
        (2, 5, ("put_if", 4, 5), UNKNOWN),
        (6, 7, READ, 3),
    ],
    "seen once, an unknown write stays": [
        (0, 5, ("put", 1), UNKNOWN),
        (2, 3, READ, 1),
        (6, 7, READ, 1),
    ],
}

BAD = {
    "lost update: two increments made the same number": [
        (0, 9, ("add", 1), 1),
        (1, 8, ("add", 1), 1),
    ],
    "lost update: an acknowledged increment is missing": [
        (0, 1, ("add", 1), 1),
        (2, 3, ("add", 1), 2),
        (4, 5, READ, 1),
    ],
    "two writers of one version both won": [
        (0, 1, ("put", 3), None),
        (2, 9, ("put_if", 3, 4), True),
        (3, 8, ("put_if", 3, 5), True),
    ],
    "stale read: of what was overwritten before it began": [
        (0, 1, ("put", 1), None),
        (2, 3, ("put", 2), 1),
        (4, 5, READ, 1),
    ],
    "stale read: the new value and then the old one": [
        (0, 1, ("put", 1), None),
        (2, 20, ("put", 2), 1),
        (3, 4, READ, 2),
        (5, 6, READ, 1),
    ],
    "a read of what nobody wrote": [(0, 1, ("put", 1), None), (2, 3, READ, 7)],
    "resurrected delete": [
        (0, 1, ("put", 1), None),
        (2, 3, ("delete",), 1),
        (4, 5, READ, 1),
    ],
    "resurrected delete: a condition holds on what is gone": [
        (0, 1, ("put", 1), None),
        (2, 3, ("delete_if", 1), True),
        (4, 5, ("put_if", 1, 2), True),
    ],
    "two creators both won": [
        (0, 9, ("put_if", None, 1), True),
        (1, 8, ("put_if", None, 2), True),
    ],
    "a condition that failed though it held all the time": [
        (0, 1, ("put", 3), None),
        (2, 3, ("put_if", 3, 4), False),
    ],
    "an acknowledged write lost in a crash": [
        (0, 1, ("put", 1), None),
        (2, 5, ("put", 2), UNKNOWN),
        (6, 7, READ, None),
    ],
    "an unknown write seen, and undone by the crash": [
        (0, 5, ("put", 1), UNKNOWN),
        (2, 3, READ, 1),
        (6, 7, READ, None),
    ],
    "an unknown write that happens after the crash": [
        (0, 5, ("put", 1), UNKNOWN),
        (6, 7, READ, None),
        (8, 9, READ, 1),
    ],
    "an unknown increment counted twice": [
        (0, 5, ("add", 1), UNKNOWN),
        (6, 7, READ, 2),
    ],
    "an old value returned by a delete": [
        (0, 1, ("put", 1), None),
        (2, 3, ("put", 2), 1),
        (4, 5, ("delete",), 1),
    ],
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_history_is_accepted(name):
    violation = check(history(*GOOD[name]), item_step, None)
    assert violation is None, str(violation)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_history_is_found(name):
    violation = check(history(*BAD[name]), item_step, None)
    assert violation is not None
    assert violation.near and str(violation)


def explained(operations, order):
    """Whether this order of all operations explains them; an unknown one may be left out."""
    for index, operation in enumerate(order):
        if any(later.end < operation.start for later in order[index + 1 :]):
            return False
    unknown = [operation for operation in operations if operation.result is UNKNOWN]
    for left_out in itertools.product((False, True), repeat=len(unknown)):
        gone = [operation for operation, out in zip(unknown, left_out) if out]
        state = None
        for operation in order:
            if any(operation is one for one in gone):
                continue
            state, result = item_step(state, operation.call)
            if operation.result is not UNKNOWN and operation.result != result:
                break
        else:
            return True
    return False


def random_call(choices):
    number = choices.randrange(1, 4)
    return choices.choice(
        [
            READ,
            ("put", number),
            ("put_if", choices.choice([None, 1, 2, 3]), number),
            ("add", number),
            ("delete",),
            ("delete_if", number),
        ]
    )


def random_history(choices, size, mistakes):
    """Of operations that each took effect at a moment of its own; `mistakes` results are wrong."""
    state = None
    operations = []
    for moment in range(size):
        call = random_call(choices)
        unknown = choices.random() < 0.15
        new_state, result = item_step(state, call)
        if not unknown or choices.random() < 0.5:
            state = new_state
        operations.append(
            Operation(
                start=moment * 10 - choices.randrange(40),
                end=moment * 10 + choices.randrange(40),
                call=call,
                result=UNKNOWN if unknown else result,
                client=moment,
            )
        )
    for index in choices.sample(range(size), min(mistakes, size)):
        wrong = choices.choice([None, 1, 2, 3, True, False])
        operations[index] = Operation(
            operations[index].start, operations[index].end, operations[index].call, wrong, index
        )
    return operations


def test_it_agrees_with_a_search_of_every_order():
    choices = random.Random(crash_run.seeded())
    verdicts = {True: 0, False: 0}
    for _ in range(400):
        operations = random_history(choices, choices.randrange(1, 6), choices.randrange(3))
        expected = any(
            explained(operations, order) for order in itertools.permutations(operations)
        )
        found = check(operations, item_step, None) is None
        assert found == expected, "\n".join(map(str, operations))
        verdicts[expected] += 1
    assert min(verdicts.values()) > 20, verdicts


def test_a_long_history_is_checked_quickly():
    choices = random.Random(crash_run.seeded())
    operations = random_history(choices, 5000, 0)
    assert check(operations, item_step, None) is None
    # A read near the end that saw a number nobody ever made.
    wrong = Operation(48_000, 48_001, READ, 10**9, "wrong")
    assert check([*operations, wrong], item_step, None) is not None
