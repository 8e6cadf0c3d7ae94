"""before.py -- this build against another one, usually the one before a change, in turns.

Both servers run side by side, each with its own tables, and take turns of a second or two, so other
work on the machine slows both alike. The ratio of one pair of turns is what counts: a table shows
the median of those ratios and how far apart they lie.
"""

import statistics

import compare
import measuring
import servers
import workload

PAIRS = 9
CONNECTIONS = 32
NAMES = (
    "GetItem", "Query of 10", "Query of 100", "Scan", "PutItem", "UpdateItem",
    "TransactWriteItems of 2", "BatchWriteItem of 25",
)  # fmt: skip


def pair_ratio(name, before, now):
    return statistics.median(b[name] / a[name] for a, b in zip(before, now, strict=True))


def measure_workload(each, sides, arguments, seconds):
    functions = {
        name: measuring.turn_function(server, arguments, CONNECTIONS, each.key_count, seconds)
        for name, server in sides.items()
    }
    for server in sides.values():
        compare.check_answers(each, server.port, server.label)
    measuring.in_turns(functions, 1)
    turns = measuring.in_turns(functions, PAIRS)
    before, now = turns["before"], turns["now"]
    rates = sorted(b["requests_per_s"] / a["requests_per_s"] for a, b in zip(before, now, strict=True))
    return {
        "rate": statistics.median(rates),
        "rate_min": rates[0],
        "rate_max": rates[-1],
        "cpu": pair_ratio("cpu_us_per_request", before, now),
        "p99": pair_ratio("p99_us", before, now),
        "before": measuring.median_of(before),
        "now": measuring.median_of(now),
    }


def measure(program, before_program, scratch, seconds, say):
    """{workload: ratios and medians}, of this build over the one before."""
    results = {}
    with (
        servers.Stator(before_program, scratch / "before") as before,
        servers.Stator(program, scratch / "now") as now,
    ):
        sides = {"before": before, "now": now}
        for server in sides.values():
            compare.create_tables(server)
        for name, server in sides.items():
            folder = scratch / f"fill-{name}"
            folder.mkdir()
            compare.fill_tables(server, folder)
            measuring.wait_until_idle(server.process.pid)
        for number, each in enumerate(each for each in workload.workloads() if each.name in NAMES):
            arguments = workload.write_requests(scratch / f"before-{number}", each.requests)
            results[each.name] = own = measure_workload(each, sides, arguments, seconds)
            say(f"{each.name}: {own['rate']:.3f} of the rate before")
        for server in sides.values():
            server.stop()
    return results


def report(results):
    lines = [
        f"This build over the one before, {PAIRS} pairs of turns with {CONNECTIONS} connections:",
        "",
        "| workload | requests/s before | now | ratio | lowest to highest | CPU per request | p99 |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, own in results.items():
        lines.append(
            f"| {name} | {own['before']['requests_per_s']:,.0f} "
            f"| {own['now']['requests_per_s']:,.0f} | {own['rate']:.3f} "
            f"| {own['rate_min']:.2f} to {own['rate_max']:.2f} | {own['cpu']:.3f} | {own['p99']:.2f} |"
        )
    others = max(own["now"]["others_share"] for own in results.values())
    return [*lines, "", f"Other programs took up to {others:.0%} of the machine."]
