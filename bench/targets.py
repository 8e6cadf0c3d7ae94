"""targets.py -- what stator is meant to reach, and whether a run did."""

import dataclasses
import typing

import cold
import servers
from compare import MAIN_CONNECTIONS

PEERS = tuple(kind.name for kind in servers.PEERS)
# The settings' defaults.
CACHES_MB = {"item-cache-size": 64, "block-cache-size": 256, "write-buffer-size": 64}


class NotMeasured(Exception):
    """The run has no figure for it."""


def cell_of(results, workload, connections=MAIN_CONNECTIONS):
    for cell in results["cells"]:
        if (cell["workload"], cell["connections"]) == (workload, connections):
            return cell
    raise NotMeasured(workload)


def rate_of(results, workload, server):
    cell = cell_of(results, workload)
    if server not in cell["servers"]:
        raise NotMeasured(f"{workload} of {server}")
    return cell["servers"][server]["requests_per_s"]


def over(workload, server):
    """stator's rate as a multiple of another server's."""
    return lambda results: rate_of(results, workload, "stator") / rate_of(results, workload, server)


def over_best_peer(workload):
    def figure(results):
        measured = cell_of(results, workload)["servers"]
        rates = [measured[name]["requests_per_s"] for name in PEERS if name in measured]
        if not rates:
            raise NotMeasured(f"{workload} of any peer")
        return rate_of(results, workload, "stator") / max(rates)

    return figure


def large_over_small(results):
    cell = results["scaling"]["sizes"]["cells"]["GetItem"]
    return cell["large"]["requests_per_s"] / cell["small"]["requests_per_s"]


def half_rate_spread(results):
    half = results["scaling"]["half_rate"]["half"]
    return half["p99_us"] / half["p50_us"]


def two_workers_over_one(results):
    cell = results["scaling"]["workers"]["GetItem"]
    return cell["2"]["cpu_us_per_request"] / cell["1"]["cpu_us_per_request"]


def cpu_over_nginx(workload):
    """CPU time of a request, as a multiple of nginx's."""

    def figure(results):
        measured = cell_of(results, workload)["servers"]
        return measured["stator"]["cpu_us_per_request"] / measured["nginx"]["cpu_us_per_request"]

    return figure


def part(name, figure):
    """A figure of a part of its own."""
    return lambda results: figure(results["part_figures"][name])


def with_over_without(sides):
    return sides["with"]["requests_per_s"] / sides["without"]["requests_per_s"]


def worst_attack(attacks):
    return max(each["attacked_p99_us"] / each["quiet_p99_us"] for each in attacks.values())


def resident_peak_mb(results):
    """The most of all durable servers of the run."""
    tables = results["scaling"]["sizes"]["tables"].values()
    peaks = [results["servers"]["stator"]["resident_peak_mb"]]
    peaks += [own[name] for own in tables for name in ("load_peak_mb", "resident_peak_mb")]
    return max(peaks)


@dataclasses.dataclass(frozen=True)
class Target:
    name: str
    relation: str  # "at least" or "below"
    wanted: float
    form: str  # Of the figures, for str.format.
    figure: typing.Callable


def at_least(name, wanted, form, figure):
    return Target(name, "at least", wanted, form, figure)


def below(name, wanted, form, figure):
    return Target(name, "below", wanted, form, figure)


TARGETS = (
    at_least("GetItem, over nginx with a constant answer", 0.55, "{:.0%}", over("GetItem", "nginx")),
    below("CPU per GetItem, over nginx's", 1.10, "{:.2f} times", cpu_over_nginx("GetItem")),
    at_least("GetItem, over Dynoxide", 10, "{:.1f} times", over("GetItem", "dynoxide")),
    at_least("GetItem, over DynamoDB Local", 10, "{:.1f} times", over("GetItem", "dynamodb-local")),
    at_least("Query of 10, over nginx with a constant answer", 0.45, "{:.0%}", over("Query of 10", "nginx")),
    at_least("Query of 10, over the best peer", 15, "{:.1f} times", over_best_peer("Query of 10")),
    at_least("Query of 100 items that are not cached, over cached", 0.50, "{:.0%}",
             part("cold", cold.query_ratio)),
    at_least("Scan, pages of 1 MB, over nginx with a file", 0.30, "{:.0%}", over("Scan", "nginx")),
    at_least("Scan, MB/s of stored items per core", 600, "{:.0f}",
             part("scan", lambda scan: scan["mb_per_s_and_core"])),
    at_least("BatchGetItem of 100 items that are not cached, items/s over GetItem", 3, "{:.1f} times",
             part("cold", cold.batch_ratio)),
    at_least("PutItem, synced, over nginx with a constant answer", 0.60, "{:.0%}", over("PutItem", "nginx")),
    at_least("UpdateItem with a condition, synced, over nginx with a constant answer", 0.55, "{:.0%}",
             over("UpdateItem", "nginx")),
    at_least("TransactWriteItems of 2, synced, over nginx with a constant answer", 0.45, "{:.0%}",
             over("TransactWriteItems of 2", "nginx")),
    at_least("PutItem, synced, over the best peer", 5, "{:.1f} times", over_best_peer("PutItem")),
    at_least("UpdateItem with a condition, synced, over the best peer", 5, "{:.1f} times",
             over_best_peer("UpdateItem")),
    at_least("TransactWriteItems of 2, synced, over the best peer", 10, "{:.1f} times",
             over_best_peer("TransactWriteItems of 2")),
    at_least("BatchWriteItem of 25, synced, items/s over the best peer", 12, "{:.1f} times",
             over_best_peer("BatchWriteItem of 25")),
    at_least("PutItem with a stream of both images, over without", 0.85, "{:.0%}",
             part("stream", lambda stream: with_over_without(stream["PutItem"]))),
    at_least("PutItem of new items with point-in-time recovery, over without", 0.92, "{:.0%}",
             part("history", lambda history: with_over_without(history["inserts"]))),
    at_least("GetItem in the large table, over 10,000 items", 0.70, "{:.0%}", large_over_small),
    below("p99 of GetItem at half of the peak rate, over its p50", 3, "{:.1f} times", half_rate_spread),
    below("p99 of honest clients beside the worst attack, over quiet", 3, "{:.1f} times",
          part("attacks", worst_attack)),
    below("CPU per GetItem of two workers, over one", 1.05, "{:.2f} times", two_workers_over_one),
    below("start to first answer, empty store", 50, "{:.0f} ms",
          lambda results: results["servers"]["stator"]["start_ms"]),
    below("start to first answer, large table", 500, "{:.0f} ms",
          lambda results: results["scaling"]["sizes"]["tables"]["large"]["start_ms"]),
    below("resident memory, idle", 30, "{:.0f} MB",
          lambda results: results["servers"]["stator"]["idle_mb"]),
    below("resident memory, at any time: caches and 100 MB", sum(CACHES_MB.values()) + 100, "{:.0f} MB",
          resident_peak_mb),
)  # fmt: skip


def evaluate(results):
    """[{name, wanted, figure, met}]; a figure that was not measured is None, and not met."""
    rows = []
    for target in TARGETS:
        try:
            figure = target.figure(results)
        except (NotMeasured, KeyError):
            figure = None
        met = figure is not None and (
            figure >= target.wanted if target.relation == "at least" else figure < target.wanted
        )
        rows.append(
            {
                "name": target.name,
                "wanted": f"{target.relation} {target.form.format(target.wanted)}".replace(".0 ", " "),
                "figure": None if figure is None else target.form.format(figure),
                "value": figure,
                "met": met,
            }
        )
    return rows
