"""replicas.py -- PutItem of a table with replicas in two other regions against one without.

Three servers run on this machine, so the rate says how many cores it has; what counts is the CPU
time of the server that is written to, until the other regions have everything: stamps, queues and
sending included.
"""

import time

import measuring
import servers
import stator_process
import workload

ITEMS = 50_000
TURNS = 3
TURN_S = 3
CONNECTIONS = 32
REGIONS = ("us-east-1", "eu-west-1", "us-west-2")
TABLES = {"without": "bench-alone", "with": "bench-global"}
TIMEOUT_S = 300
POLL_S = 0.01
WANTED = 1.5  # Times the CPU time of a write without replicas.


def call(client, operation, body):
    status, answer = client.call(operation, body)
    if status != 200:
        raise measuring.MeasuringError(f"{operation}: {answer}")
    return answer


def until(client, condition):
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise measuring.MeasuringError("the other regions do not get everything")
        time.sleep(POLL_S)


def add_replica(client, region):
    table = TABLES["with"]
    call(client, "UpdateTable", {"TableName": table, "ReplicaUpdates": [{"Create": {"RegionName": region}}]})

    def is_active():
        entries = call(client, "DescribeTable", {"TableName": table})["Table"].get("Replicas", [])
        return any(e["RegionName"] == region and e["ReplicaStatus"] == "ACTIVE" for e in entries)

    until(client, is_active)


def is_drained(client):
    (table,) = call(client, "DescribeRegions", {})["Tables"]
    return all(member["WaitingItems"] == 0 for member in table["Members"])


def turn_of(server, client, arguments, item_count):
    def measure():
        pid = server.process.pid
        before = measuring.cpu_seconds([pid])
        turn = measuring.turn(server.port, [pid], arguments, CONNECTIONS, item_count, TURN_S)
        ended = time.monotonic()
        until(client, lambda: is_drained(client))
        turn["behind_s"] = time.monotonic() - ended
        turn["cpu_us_per_request"] = (measuring.cpu_seconds([pid]) - before) * 1e6 / turn["answers"]
        return turn

    return measure


def measure(program, scratch, item_count):
    flags = ("--regions", ",".join(REGIONS))
    with servers.Stator(program, scratch / "replicas", *flags) as server:
        client = server.client()
        sides = {}
        for name, table in TABLES.items():
            stator_process.create_table(client, table)
            requests = [(1, "PutItem", workload.put(workload.key(), table))]
            arguments = workload.write_requests(scratch / f"replicas-{name}", requests)
            measuring.fill(server.port, arguments, item_count)
            sides[name] = turn_of(server, client, arguments, item_count)
        for region in REGIONS[1:]:
            add_replica(client, region)
        until(client, lambda: is_drained(client))
        turns = measuring.in_turns(sides, TURNS)
        client.close()
    return {
        "items": item_count,
        "puts": {name: measuring.median_of(each) for name, each in turns.items()},
        "turns": turns,
    }


def report(result):
    without, with_ = result["puts"]["without"], result["puts"]["with"]
    return [
        f"- PutItem of a table with two replicas takes "
        f"{with_['cpu_us_per_request'] / without['cpu_us_per_request']:.2f} times the CPU time of one "
        f"without in the server that is written to (target: {WANTED}), at "
        f"{with_['requests_per_s'] / without['requests_per_s']:.0%} of the rate with all three servers "
        f"on this machine; the others have everything {with_['behind_s']:.2f} s after the last answer."
    ]
