"""scaling.py -- what becomes of stator's figures with more items, more workers and less load.

- The same requests to a table of 10,000 items and to one of 10,000,000, which is larger than the
  caches, in turns; how the large one was loaded, what it takes of the disk and of memory, and how
  fast a server starts on it.
- One worker against two.
- GetItem at half of the rate that a server reaches, sent at fixed times.
"""

import contextlib
import statistics
import time

import compare
import measuring
import servers
import stator_process
import workload

ITEMS = 10_000_000
TABLE = "bench-scaling"
CONNECTIONS = 32
WORKERS = (1, 2)
START_RUNS = 3
REQUESTS = {
    "GetItem": workload.get(workload.key(), TABLE),
    "PutItem": workload.put(workload.key(), TABLE),
    "UpdateItem": workload.update(workload.key(), TABLE),
}


def load(program, folder, item_count):
    """Seconds that it took to put so many items, each request synced."""
    requests = workload.fill_requests(TABLE)
    with servers.Stator(program, folder) as server:
        client = server.client()
        stator_process.create_table(client, TABLE)
        client.close()
        seconds = compare.fill(server, folder / "fill", requests, item_count)
        measuring.wait_until_idle(server.process.pid)
        peak_mb = server.resident_peak_mb()
        server.stop()
    return {"items": item_count, "load_s": seconds, "load_peak_mb": peak_mb}


def start_ms(program, folder, item_count):
    """From exec to the first item, the median of a few."""
    times = []
    for _ in range(START_RUNS):
        begin = time.perf_counter()
        with servers.Stator(program, folder) as server:
            client = server.client()
            status, answer = client.call(
                "GetItem", workload.get(workload.key_of(item_count // 2), TABLE)
            )
            times.append((time.perf_counter() - begin) * 1e3)
            if status != 200 or "Item" not in answer:
                raise measuring.MeasuringError(f"the item is not there: {answer}")
            client.close()
            server.stop()
    return statistics.median(times)


def measure_sizes(program, scratch, item_count, options, say):
    """Both tables, each with a server of its own, in turns."""
    folders = {"small": scratch / "scaling-small", "large": scratch / "scaling-large"}
    counts = {"small": workload.KEY_COUNT, "large": item_count}
    loaded = {name: load(program, folders[name], counts[name]) for name in folders}
    for name, own in loaded.items():
        own["disk_bytes_per_item"] = compare.disk_bytes(folders[name] / "data") / counts[name]
        own["start_ms"] = start_ms(program, folders[name], counts[name])
    say(f"{item_count:,} items loaded in {loaded['large']['load_s']:.0f} s")
    arguments = request_arguments(scratch / "scaling-requests")
    cells = {}
    with (
        servers.Stator(program, folders["small"]) as small,
        servers.Stator(program, folders["large"]) as large,
    ):
        sides = {"small": small, "large": large}
        for operation in REQUESTS:
            cells[operation] = in_turns(sides, arguments[operation], counts, options)
        for name, server in sides.items():
            loaded[name]["resident_peak_mb"] = server.resident_peak_mb()
            server.stop()
    return {"tables": loaded, "cells": cells}


def request_arguments(folder):
    return {
        operation: workload.write_requests(folder / operation, [(1, operation, body)])
        for operation, body in REQUESTS.items()
    }


def in_turns(sides, arguments, counts, options):
    """{name: the medians of its turns}, after one turn that does not count."""

    functions = {
        name: measuring.turn_function(server, arguments, CONNECTIONS, counts[name], options.turn_s)
        for name, server in sides.items()
    }
    measuring.in_turns(functions, 1)
    turns = measuring.in_turns(functions, options.turns)
    return {name: measuring.median_of(list_) for name, list_ in turns.items()}


def measure_workers(program, scratch, options):
    """{operation: {number of workers: the medians of its turns}}"""
    arguments = request_arguments(scratch / "workers-requests")
    sides, cells = {}, {}
    with contextlib.ExitStack() as stack:
        for count in map(str, WORKERS):
            folder = scratch / f"workers-{count}"
            load(program, folder, workload.KEY_COUNT)
            sides[count] = stack.enter_context(servers.Stator(program, folder, "--workers", count))
        counts = dict.fromkeys(sides, workload.KEY_COUNT)
        for operation in REQUESTS:
            cells[operation] = in_turns(sides, arguments[operation], counts, options)
        for server in sides.values():
            server.stop()
    return cells


def measure_half_rate(program, scratch, options):
    """The peak, then turns at half of it."""
    folder = scratch / "half-rate"
    load(program, folder, workload.KEY_COUNT)
    arguments = request_arguments(folder / "requests")["GetItem"]
    with servers.Stator(program, folder) as server:
        counts = {"stator": workload.KEY_COUNT}
        peak = in_turns({"stator": server}, arguments, counts, options)["stator"]
        rate = peak["requests_per_s"] / 2
        turns = [
            measuring.turn(
                server.port, server.pids(), arguments, CONNECTIONS, workload.KEY_COUNT,
                options.half_rate_s, rate_per_s=rate,
            )
            for _ in range(options.turns)
        ]  # fmt: skip
        server.stop()
    return {"peak": peak, "rate_per_s": rate, "half": measuring.median_of(turns), "turns": turns}


def measure(program, scratch, options, say):
    half = measure_half_rate(program, scratch, options)
    workers = measure_workers(program, scratch, options)
    say("half of the peak, and one worker against two: done")
    sizes = measure_sizes(program, scratch, options.items or ITEMS, options, say)
    return {"half_rate": half, "workers": workers, "sizes": sizes}
