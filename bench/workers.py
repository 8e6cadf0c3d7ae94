"""workers.py -- what a GetItem costs with one worker and with two, in turns.

Two loops that write the same cache line make each other slower, so CPU time per request shows what
they still share. Each has the same number of connections, so that it finds as many requests in a turn.
"""

import statistics

import auth
import measuring
import stator_process
import workload

ITEMS = 10_000
WORKERS = (1, 2)
CONNECTIONS_EACH = 32
TURNS = 9
TURN_SECONDS = 2


def turn(server, requests, count, item_count):
    connections = CONNECTIONS_EACH * count
    return measuring.turn(
        server.port, [server.pid], requests, connections, item_count, TURN_SECONDS
    )


def measure(program, scratch, item_count):
    requests = workload.write_requests(
        scratch / "requests", [(1, "GetItem", workload.get(workload.key()))]
    )
    data = ["--data-dir", str(scratch / "data")]
    auth.load(program, data, item_count)
    turns = {count: [] for count in WORKERS}
    # One after the other on the same store: a server that waits still wakes up now and then.
    for number in range(TURNS + 1):
        for count in WORKERS:
            with stator_process.StatorProcess(*data, "--workers", str(count), program=program) as server:
                turn(server, requests, count, item_count)  # Fills the cache.
                measured = turn(server, requests, count, item_count)
                server.stop()
            if number > 0:
                turns[count].append(measured)
    ratios = [
        two["cpu_us_per_request"] / one["cpu_us_per_request"]
        for one, two in zip(turns[1], turns[2], strict=True)
    ]
    return {
        "cells": {count: measuring.median_of(each) for count, each in turns.items()},
        "ratio": statistics.median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
    }


def report(result):
    lines = [
        "| workers | GetItem/s | CPU us/request | others' share of the machine |",
        "|---|---:|---:|---:|",
    ]
    for count, cell in result["cells"].items():
        lines.append(
            f"| {count} | {cell['requests_per_s']:,.0f} | {cell['cpu_us_per_request']:.2f} "
            f"| {cell['others_share']:.0%} |"
        )
    return [
        *lines,
        "",
        f"CPU per request of two workers over one: {result['ratio']:.3f} "
        f"({result['lowest']:.2f} to {result['highest']:.2f}; wanted at most 1.05).",
    ]
