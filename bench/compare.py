"""compare.py -- every workload on every server, in turns.

All servers run side by side for the whole time, with the same tables; only one at a time has
something to do. Before a workload is measured, each server's answer to its first request is read and
must be right: an error is answered faster than an item.
"""

import contextlib
import functools
import json
import statistics
import time

import measuring
import servers
import stator_process
import workload

MAIN_CONNECTIONS = 32
CONNECTIONS = (1, MAIN_CONNECTIONS, 256)
# A server that takes longer for one request of each connection is not asked to.
WAIT_MAX_S = 6
SIZED_CONNECTIONS = (MAIN_CONNECTIONS,)  # Of the larger items.
BODY_SHARE_MIN = 0.9  # Of the first answer's size, on the average.
START_RUNS = {"stator": 9, "stator-memory": 9}
START_RUNS_OTHERS = 3


# --- Tables ---


def create_tables(server):
    client = server.client()
    for item_size in workload.TABLE_ITEMS:
        stator_process.create_table(client, workload.table_of(item_size))
    for count in workload.QUERY_COUNTS:
        stator_process.create_table(client, workload.query_table_of(count), sort_key=True)
    client.close()


def fill_tables(server, scratch):
    """Returns the seconds it took."""
    seconds = 0
    for item_size, count in workload.TABLE_ITEMS.items():
        requests = workload.fill_requests(workload.table_of(item_size), item_size)
        seconds += fill(server, scratch / f"fill-{server.name}-{item_size}", requests, count)
    for count in workload.QUERY_COUNTS:
        for part, requests in enumerate(workload.query_fill_requests(count)):
            folder = scratch / f"fill-{server.name}-query-{count}-{part}"
            seconds += fill(server, folder, requests, workload.KEY_COUNT // count)
    return seconds


def fill(server, folder, requests, key_count):
    return measuring.fill(server.port, workload.write_requests(folder, requests), key_count)


# --- Turns ---


def check_answers(each, port, label):
    """Sends one request of each kind; the first one's answer must be right."""
    for number, (_, operation, body) in enumerate(each.requests):
        answer = servers.answer_of(port, operation, workload.concrete(body))
        if number == 0 and not each.is_right(answer):
            raise measuring.MeasuringError(
                f"{label} answers {each.name} with {json.dumps(answer)[:400]}"
            )


def check_size(each, server, turn):
    """The average answer is as large as the first: all had their items."""
    if len(each.requests) > 1:
        return
    _, operation, body = each.requests[0]
    size = len(servers.raw_answer(server.port, operation, workload.concrete(body))[1])
    if turn["body_bytes"] < size * BODY_SHARE_MIN:
        raise measuring.MeasuringError(
            f"{server.label} answers {each.name} with {turn['body_bytes']:.0f} bytes instead of {size}"
        )


def connections_of(each, options):
    if each.item_size != workload.ITEM_SIZE:
        return SIZED_CONNECTIONS
    return options.connections


def without_fail(server, unable, function):
    """What the function gives. If it fails, stator has no excuse; of a peer the reason is noted."""
    try:
        return function()
    except measuring.MeasuringError as reason:
        if not isinstance(server, servers.Peer):
            raise
        unable[server.name] = str(reason)
        return None


def warm_up(each, server, arguments, options):
    """A turn that does not count. That the answers are right is seen here."""
    if not isinstance(server, servers.Nginx):
        check_answers(each, server.port, server.label)
    turn = measuring.turn_function(
        server, arguments, MAIN_CONNECTIONS, each.key_count, options.warm_up_s
    )()
    check_size(each, server, turn)
    return turn


def measure_cell(each, able, arguments, connections, options):
    """The figures of every server with so many connections."""
    # What is compared most gets the longest turns.
    is_main = connections == MAIN_CONNECTIONS and each.item_size == workload.ITEM_SIZE
    seconds = options.turn_s if is_main else options.side_turn_s
    unable = {}

    def guarded(server):
        function = measuring.turn_function(server, arguments, connections, each.key_count, seconds)
        return lambda: without_fail(server, unable, function)

    turns = measuring.in_turns({server.name: guarded(server) for server in able}, options.turns)
    turns = {name: list_ for name, list_ in turns.items() if name not in unable}
    return {
        "workload": each.name,
        "connections": connections,
        "item_size": each.item_size,
        "servers": {name: measuring.median_of(list_) for name, list_ in turns.items()},
        "unable": unable,
        "turns": turns,
    }


def measure_workload(each, sides, arguments, options):
    """Cells of one workload: for each number of connections, the figures of every server."""
    unable, warm = {}, {}
    for server in sides:
        function = functools.partial(warm_up, each, server, arguments, options)
        warm[server.name] = without_fail(server, unable, function)
    cells = []
    for connections in connections_of(each, options):
        slow = {
            name: f"{connections} connections would wait longer than {WAIT_MAX_S} s"
            for name, turn in warm.items()
            if turn and connections / turn["requests_per_s"] > WAIT_MAX_S
        }
        able = [server for server in sides if server.name not in {*unable, *slow}]
        cell = measure_cell(each, able, arguments, connections, options)
        cell["unable"] |= unable | slow
        cells.append(cell)
    return cells


def compare(running, scratch, options, say):
    """All cells of all workloads. `running` has stator first; nginx is started for each workload."""
    cells = []
    for number, each in enumerate(workload.workloads()):
        folder = scratch / f"workload-{number}"
        arguments = workload.write_requests(folder / "requests", each.requests)
        _, operation, body = each.requests[0]
        constant = servers.raw_answer(running[0].port, operation, workload.concrete(body))
        begin = time.monotonic()
        with servers.Nginx(folder / "nginx", *constant) as nginx:
            cells += measure_workload(each, [*running, nginx], arguments, options)
        say(f"{each.name}: {time.monotonic() - begin:.0f} s")
    return cells


# --- Starting, memory, disk ---


def disk_bytes(folder):
    """What the files take of the disk, as du counts."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def start_figures(kind, program, scratch):
    """From exec to the first answer, and the memory of a server at rest, of an empty store."""
    times = []
    for run in range(START_RUNS.get(kind.name, START_RUNS_OTHERS)):
        folder = scratch / f"start-{kind.name}-{run}"
        begin = time.perf_counter()
        with kind(program, folder) as server:
            client = server.client()
            client.call("ListTables", {})
            times.append((time.perf_counter() - begin) * 1e3)
            client.close()
            if run == 0:
                time.sleep(1)
                resident_mb = server.resident_mb()
            server.stop()
    return {"start_ms": statistics.median(times), "idle_mb": resident_mb}


def start_all(program, scratch, stack, say):
    """(servers that run, {name: figures}, {label: why it is missing})"""
    running, figures, missing = [], {}, {}
    for kind in servers.DATABASES:
        try:
            figures[kind.name] = start_figures(kind, program, scratch)
            server = stack.enter_context(kind(program, scratch / kind.name))
        except servers.Unavailable as reason:
            missing[kind.label] = str(reason)
            continue
        create_tables(server)
        figures[kind.name]["fill_s"] = fill_tables(server, scratch)
        say(f"{kind.label}: tables filled in {figures[kind.name]['fill_s']:.0f} s")
        running.append(server)
    return running, figures, missing


def measure(program, scratch, options, say):
    with contextlib.ExitStack() as stack:
        running, figures, missing = start_all(program, scratch, stack, say)
        cells = compare(running, scratch, options, say)
        for server in running:
            own = figures[server.name]
            own["label"], own["mode"] = server.label, server.mode
            own["resident_mb"] = server.resident_mb()
            own["resident_peak_mb"] = server.resident_peak_mb()
        for server in running:
            server.stop()
    figures[servers.Nginx.name] = {"label": servers.Nginx.label, "mode": servers.Nginx.mode}
    return {"servers": figures, "missing": missing, "cells": cells}
