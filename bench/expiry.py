"""expiry.py -- items that expire while another table is read: how fast they go, and what readers
notice.

UpdateTimeToLive fills the queue of a table whose items have all expired; once it is ENABLED they are
deleted, and clients read items of another table at random until none is left. Their 99th percentile
is compared with that before.
"""

import concurrent.futures
import statistics
import time

import backfill
import measuring
import stator_process
import workload
from fast_client import FastClient

ITEMS = 1_000_000
TABLE = "bench-expiry"
ATTRIBUTE = "expires"
READ_ITEMS = 10_000
READ_TABLE = "bench-expiry-read"
IDLE_TURNS = 3
TIMEOUT_S = 600
POLL_S = 0.05


def expires_of(number):
    """A year ago, each in a second of its own, none of which ends with a zero."""
    return {ATTRIBUTE: (int(time.time()) - 31_000_000) // 10 * 10 + number % 9 + 1}


def enable(client):
    """Seconds until the queue is filled."""
    begin = time.monotonic()
    specification = {"Enabled": True, "AttributeName": ATTRIBUTE}
    body = {"TableName": TABLE, "TimeToLiveSpecification": specification}
    status, answer = client.call("UpdateTimeToLive", body)
    if status != 200:
        raise SystemExit(f"run: UpdateTimeToLive did not enable it: {answer}")
    while True:
        description = client.call("DescribeTimeToLive", {"TableName": TABLE})[1]
        if description["TimeToLiveDescription"]["TimeToLiveStatus"] == "ENABLED":
            return time.monotonic() - begin
        if time.monotonic() > begin + TIMEOUT_S:
            raise SystemExit(f"run: time to live was not ENABLED after {TIMEOUT_S} s")
        time.sleep(POLL_S)


def wait_until_empty(port):
    """When the last item went. On a connection of its own, while others read."""
    client = FastClient(port)
    deadline = time.monotonic() + TIMEOUT_S
    while left := client.call("DescribeTable", {"TableName": TABLE})[1]["Table"]["ItemCount"]:
        if time.monotonic() > deadline:
            raise SystemExit(f"run: {left} items were left after {TIMEOUT_S} s")
        time.sleep(POLL_S)
    end = time.monotonic()
    client.close()
    return end


def load(program, data, item_count):
    with stator_process.StatorProcess(
        "--data-dir", data, "--durability", "os", program=program
    ) as server:
        client = FastClient(server.port)
        for table in (TABLE, READ_TABLE):
            stator_process.create_table(client, table)
        client.close()
        workload.fill_by_batches(server.port, READ_TABLE, READ_ITEMS)
        workload.fill_by_batches(server.port, TABLE, item_count, expires_of)
        server.stop()


def measure(program, scratch, item_count):
    data = str(scratch / "expiry")
    load(program, data, item_count)
    requests = workload.write_requests(
        scratch / "expiry-requests", [(1, "GetItem", workload.get(workload.key(), READ_TABLE))]
    )
    with stator_process.StatorProcess("--data-dir", data, program=program) as server:
        measuring.wait_until_idle(server.pid)
        client = FastClient(server.port)
        backfill.read_turn(server, requests, READ_ITEMS)  # Fills the cache.
        idle = [backfill.read_turn(server, requests, READ_ITEMS) for _ in range(IDLE_TURNS)]
        fill_seconds = enable(client)
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            ended = pool.submit(wait_until_empty, server.port)
            during = backfill.read_until(ended, server, requests, READ_ITEMS)
        seconds = ended.result() - begin
        client.close()
        server.stop()
    return {
        "items": item_count,
        "fill_seconds": fill_seconds,
        "seconds": seconds,
        "idle_p99_us": statistics.median(each["p99_us"] for each in idle),
        "during_p99_us": statistics.median(each["p99_us"] for each in during),
        "turns": {"idle": idle, "during": during},
    }


def report(result):
    return [
        f"- Time to live: the queue of {result['items']:,} items was filled in "
        f"{result['fill_seconds']:.1f} s, and they were deleted at "
        f"{result['items'] / result['seconds']:,.0f}/s. The 99th percentile of GetItem on "
        f"{backfill.CONNECTIONS} connections was {result['during_p99_us']:,.0f} us meanwhile, "
        f"{result['during_p99_us'] / result['idle_p99_us']:.1f} times that before "
        f"({result['idle_p99_us']:,.0f} us).",
    ]
