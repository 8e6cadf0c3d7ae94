"""Whether a history of operations on one item could have come from an item that does one operation
at a time.

An operation takes effect at some moment between its start and its end. The search (Wing and Gong)
picks, again and again, one of the operations that may come next, which are those that started
before any other one still open had ended, applies it to the state, and goes back if the result is
not the one observed. What was tried is remembered by the set of operations already placed and the
state they led to; two orders that lead to the same are one.

An operation whose answer never came, because the server was killed, took effect before the kill or
not at all: it has the kill as its end, UNKNOWN as its result, and may be left out.
"""

import dataclasses
import typing

UNKNOWN = object()


@dataclasses.dataclass(frozen=True)
class Operation:
    start: int
    end: int
    call: tuple
    result: typing.Any
    client: typing.Any = None

    def __str__(self):
        result = "?" if self.result is UNKNOWN else self.result
        return f"[{self.start}..{self.end}] {self.client}: {self.call} -> {result}"


class Violation:
    """No order explains the history. `reached` operations could be placed at most; `near` are
    those that came next, with the states that the placed ones may have led to."""

    def __init__(self, reached, near, states):
        self.reached = reached
        self.near = near
        self.states = states

    def __str__(self):
        lines = [f"not linearizable after {self.reached} operations; state {self.states}; next:"]
        return "\n".join(lines + [f"  {operation}" for operation in self.near])


def candidates(operations, first, placed):
    """The indexes of operations that may come next. All before `first` are placed; bit i of
    `placed` tells of operation first + i. By start, so the search ends at the first operation that
    started too late."""
    earliest_end = None
    found = []
    for index in range(first, len(operations)):
        if placed >> (index - first) & 1:
            continue
        operation = operations[index]
        if earliest_end is not None and operation.start > earliest_end:
            break
        found.append(index)
        if earliest_end is None or operation.end < earliest_end:
            earliest_end = operation.end
    return [index for index in found if operations[index].start <= earliest_end]


def place(first, placed, index):
    """`index` is placed too; `first` moves on over all that are."""
    placed |= 1 << (index - first)
    while placed & 1:
        placed >>= 1
        first += 1
    return first, placed


def successors(operations, step, first, placed, state):
    """What one more operation leads to, as (first, placed, state)."""
    for index in candidates(operations, first, placed):
        operation = operations[index]
        new_state, result = step(state, operation.call)
        if operation.result is UNKNOWN:
            yield (*place(first, placed, index), new_state)
            if new_state != state:
                yield (*place(first, placed, index), state)  # It never happened.
        elif result == operation.result:
            yield (*place(first, placed, index), new_state)


def check(history, step, initial):
    """None if the history is linearizable, else a Violation.

    `step(state, call)` returns (new state, result); states are hashable."""
    operations = sorted(history, key=lambda operation: operation.start)
    root = (0, 0, initial)
    seen = {root}
    stack = [successors(operations, step, *root)]
    most = (0, 0, 0, {initial})  # How many are placed, then where that was.
    if not operations:
        return None
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            continue
        if node in seen:
            continue
        seen.add(node)
        first, placed, state = node
        if first == len(operations):
            return None
        count = first + placed.bit_count()
        if count > most[0]:
            most = (count, first, placed, {state})
        elif count == most[0] and (first, placed) == most[1:3]:
            most[3].add(state)
        stack.append(successors(operations, step, first, placed, state))
    count, first, placed, states = most
    near = [operations[index] for index in candidates(operations, first, placed)]
    return Violation(count, near, states)


# --- The item of the tests: one number, or no item. ---


def item_step(state, call):
    """`state` is the number in the item, or None without an item. The calls:

    ("read",)              a consistent read; the state
    ("put", n)             the state before
    ("put_if", old, n)     only if the state is `old`, which may be None; whether it was
    ("add", n)             upsert; the new state
    ("delete",)            the state before
    ("delete_if", old)     only if the state is `old`; whether it was
    """
    kind = call[0]
    if kind == "read":
        return state, state
    if kind == "put":
        return call[1], state
    if kind == "put_if":
        return (call[2], True) if state == call[1] else (state, False)
    if kind == "add":
        new = (state or 0) + call[1]
        return new, new
    if kind == "delete":
        return None, state
    if kind == "delete_if":
        return (None, True) if state == call[1] else (state, False)
    raise ValueError(kind)
