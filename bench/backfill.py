"""backfill.py -- an index built on a table that is being read: how long, and what readers notice.

UpdateTable creates a global index, and clients read items at random until DescribeTable says that
the index is ACTIVE. Their 99th percentile is compared with that before.
"""

import statistics
import time

import measuring
import stator_process
import workload
from fast_client import FastClient

ITEMS = 1_000_000
TABLE = "bench-backfill"
INDEX = "by-group"
GROUPS = 1000
CONNECTIONS = 32
TURN_S = 2
IDLE_TURNS = 3
TIMEOUT_S = 600


def group_of(number):
    return {"group": f"group-{number % GROUPS:03d}"}


def create_index(client):
    status, answer = client.call(
        "UpdateTable",
        {
            "TableName": TABLE,
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "group", "AttributeType": "S"},
            ],
            "GlobalSecondaryIndexUpdates": [
                {
                    "Create": {
                        "IndexName": INDEX,
                        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                }
            ],
        },
    )
    if status != 200:
        raise SystemExit(f"run: UpdateTable did not create the index: {answer}")


def describe_index(client):
    table = client.call("DescribeTable", {"TableName": TABLE})[1]["Table"]
    return table["GlobalSecondaryIndexes"][0]


def wait_until_active(port):
    """When the index became ACTIVE. On a connection of its own, while others read."""
    client = FastClient(port)
    deadline = time.monotonic() + TIMEOUT_S
    while describe_index(client)["IndexStatus"] != "ACTIVE":
        if time.monotonic() > deadline:
            raise SystemExit(f"run: the index was not ACTIVE after {TIMEOUT_S} s")
        time.sleep(0.05)
    end = time.monotonic()
    client.close()
    return end


def read_turn(server, requests, item_count):
    return measuring.turn(
        server.port, [server.pid], requests, CONNECTIONS, item_count, TURN_S
    )


def read_until(ended, server, requests, item_count):
    """Turns of reading until the future `ended`; the last one only if it is the first."""
    turns = []
    while not ended.done():
        latest = read_turn(server, requests, item_count)
        if not ended.done() or not turns:
            turns.append(latest)
    return turns


def load(program, data, item_count):
    with stator_process.StatorProcess(
        "--data-dir", data, "--durability", "os", program=program
    ) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        client.close()
        workload.fill_by_batches(server.port, TABLE, item_count, group_of)
        server.stop()


def measure(program, scratch, item_count):
    data = str(scratch / "backfill")
    load(program, data, item_count)
    requests = workload.write_requests(
        scratch / "backfill-requests", [(1, "GetItem", workload.get(workload.key(), TABLE))]
    )
    with stator_process.StatorProcess("--data-dir", data, program=program) as server:
        measuring.wait_until_idle(server.pid)
        client = FastClient(server.port)
        read_turn(server, requests, item_count)  # Fills the cache.
        idle = [read_turn(server, requests, item_count) for _ in range(IDLE_TURNS)]
        begin = time.monotonic()
        create_index(client)
        with measuring.beside(lambda: wait_until_active(server.port)) as ended:
            during = read_until(ended, server, requests, item_count)
        seconds = ended.result() - begin
        entries = describe_index(client)["ItemCount"]
        assert entries == item_count, f"the index has {entries} entries"
        client.close()
        server.stop()
    return {
        "items": item_count,
        "seconds": seconds,
        "idle_p99_us": statistics.median(each["p99_us"] for each in idle),
        "during_p99_us": statistics.median(each["p99_us"] for each in during),
        "turns": {"idle": idle, "during": during},
    }


def report(result):
    return [
        f"- Index built online: {result['items']:,} items in {result['seconds']:.1f} s. The 99th "
        f"percentile of GetItem on {CONNECTIONS} connections was {result['during_p99_us']:,.0f} us "
        f"meanwhile, {result['during_p99_us'] / result['idle_p99_us']:.1f} times that before "
        f"({result['idle_p99_us']:,.0f} us).",
    ]
