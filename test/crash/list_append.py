"""Whether a history of transactions that append to lists and read them is strictly serializable.

Every appended value is appended once, so a list that was read tells which appends came before, and
in which order. From that follow the edges of a graph over the transactions:

  append to append   the order within a list,
  append to read     a read saw the append as the last one of a list,
  read to append     a read did not see the append that comes next,
  time               one had ended before the other began.

A cycle means that no order of whole transactions explains what was seen. A transaction whose answer
never came took place if any of its appends was seen, and then all of them must be.
"""

import collections
import dataclasses

UNKNOWN_END = float("inf")


@dataclasses.dataclass(frozen=True)
class Transaction:
    name: str
    start: float
    end: float  # UNKNOWN_END: the answer never came.
    appends: dict  # Key: the value appended.
    reads: dict  # Key: the list seen. A transaction appends or reads, never both.

    @property
    def acknowledged(self):
        return self.end != UNKNOWN_END


class Violation(Exception):
    pass


def longest_lists(transactions):
    """The final order of each list. Every list read must be the beginning of a longer one."""
    longest = collections.defaultdict(list)
    for transaction in transactions:
        for key, values in transaction.reads.items():
            shorter, longer = sorted((values, longest[key]), key=len)
            if longer[: len(shorter)] != shorter:
                raise Violation(f"{transaction.name}: {key} was {values} and also {longest[key]}")
            longest[key] = longer
    return longest


def appenders_of(transactions, lists):
    """(key, value): the transaction that appended it. Checks that effects are whole."""
    appenders = {}
    for transaction in transactions:
        for key, value in transaction.appends.items():
            appenders[key, value] = transaction
    for key, values in lists.items():
        if len(set(values)) != len(values):
            raise Violation(f"{key} has a value twice: {values}")
        for value in values:
            if (key, value) not in appenders:
                raise Violation(f"{key} has {value}, which nobody appended")
    for transaction in transactions:
        seen = [value in lists.get(key, ()) for key, value in transaction.appends.items()]
        if any(seen) and not all(seen):
            raise Violation(f"{transaction.name} took place in part: {transaction.appends}")
        if transaction.acknowledged and not all(seen):
            raise Violation(f"{transaction.name} was acknowledged and is lost")
    return appenders


def add_order_edges(graph, transactions, lists, appenders):
    for key, values in lists.items():
        for before, after in zip(values, values[1:]):
            graph[appenders[key, before].name].add(appenders[key, after].name)
    for transaction in transactions:
        for key, values in transaction.reads.items():
            order = lists[key]
            if values:
                graph[appenders[key, values[-1]].name].add(transaction.name)
            if len(values) < len(order):
                graph[transaction.name].add(appenders[key, order[len(values)]].name)


def add_time_edges(graph, transactions):
    """Through a chain of moments, so that there are as many edges as transactions and not their
    square."""
    events = []
    for transaction in transactions:
        # At one moment starts come first: then neither was before the other.
        events.append((transaction.start, 0, transaction.name))
        if transaction.acknowledged:
            events.append((transaction.end, 1, transaction.name))
    moment = None
    for number, (_, is_end, name) in enumerate(sorted(events)):
        if not is_end:
            if moment is not None:
                graph[moment].add(name)
            continue
        following = ("moment", number)
        graph[name].add(following)
        if moment is not None:
            graph[moment].add(following)
        moment = following


def find_cycle(graph):
    """The names along a cycle, or None. Depth first, without recursion."""
    finished = set()
    for root in list(graph):
        if root in finished:
            continue
        path, on_path = [root], {root}
        branches = [iter(graph[root])]
        while branches:
            for following in branches[-1]:
                if following in on_path:
                    return path[path.index(following) :]
                if following not in finished:
                    path.append(following)
                    on_path.add(following)
                    branches.append(iter(graph[following]))
                    break
            else:
                branches.pop()
                finished.add(path[-1])
                on_path.discard(path.pop())
    return None


def check(transactions):
    """Raises Violation. The last transaction must have read every list."""
    lists = longest_lists(transactions)
    appenders = appenders_of(transactions, lists)
    took_place = [
        transaction
        for transaction in transactions
        if transaction.acknowledged
        or any(value in lists.get(key, ()) for key, value in transaction.appends.items())
    ]
    graph = collections.defaultdict(set)
    add_order_edges(graph, took_place, lists, appenders)
    add_time_edges(graph, took_place)
    cycle = find_cycle(graph)
    if cycle:
        names = [name for name in cycle if not isinstance(name, tuple)]
        raise Violation("no order explains " + " -> ".join(names))
