"""pollers.py -- consumers that poll a stream in which nothing happens: what they cost the server.

Each consumer asks each shard for records on a connection of its own and goes on from the iterator
it was given, as a consumer with an SDK does. Requests are spread over time, so each one wakes the
server by itself. Two rates: once a second, which is common, and four times, which is AWS Lambda's.
"""

import time

import measuring
import stator_process
import workload
from fast_client import FastClient

ITEMS = 10_000  # Whose records the stream has: its end is not its beginning.
TABLE = "bench-pollers"
CONSUMERS = 10
RATES_PER_S = (1, 4)
SECONDS = 20


def call(client, operation, body):
    status, answer = client.call(operation, body)
    assert status == 200, answer
    return answer


class ShardPoller:
    """One consumer at one shard, from its end on."""

    def __init__(self, client, arn, shard):
        self.client = client
        place = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "LATEST"}
        self.iterator = call(client, "GetShardIterator", place)["ShardIterator"]

    def poll(self):
        page = call(self.client, "GetRecords", {"ShardIterator": self.iterator})
        assert not page["Records"], "the stream is not idle"
        self.iterator = page["NextShardIterator"]


def shards_of(client):
    """(ARN, the ids of the shards) of the table's stream."""
    arn = call(client, "ListStreams", {"TableName": TABLE})["Streams"][0]["StreamArn"]
    description = call(client, "DescribeStream", {"StreamArn": arn})["StreamDescription"]
    return arn, [shard["ShardId"] for shard in description["Shards"]]


def core_share(pid, pollers, rate_per_s):
    """The share of a core that the server takes while each poller polls so often."""
    polls = int(SECONDS * rate_per_s) * len(pollers)
    begin, before = time.monotonic(), measuring.cpu_seconds([pid])
    for number in range(polls):
        time.sleep(max(0, begin + number / (rate_per_s * len(pollers)) - time.monotonic()))
        pollers[number % len(pollers)].poll()
    time.sleep(max(0, begin + SECONDS - time.monotonic()))
    return (measuring.cpu_seconds([pid]) - before) / (time.monotonic() - begin)


def measure(program, scratch, item_count):
    data = str(scratch / "pollers")
    with stator_process.StatorProcess("--data-dir", data, program=program) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE, stream="NEW_AND_OLD_IMAGES")
        workload.fill_by_batches(server.port, TABLE, item_count)
        arn, shards = shards_of(client)
        clients = [FastClient(server.port) for _ in range(CONSUMERS)]
        pollers = [ShardPoller(each, arn, shard) for shard in shards for each in clients]
        measuring.wait_until_idle(server.pid)
        shares = {rate: core_share(server.pid, pollers, rate) for rate in (0, *RATES_PER_S)}
        for each in (client, *clients):
            each.close()
        server.stop()
    return {"items": item_count, "shards": len(shards), "core_shares": shares}


def report(result):
    lines = []
    for rate in RATES_PER_S:
        share = result["core_shares"][rate]
        requests_per_s = rate * CONSUMERS * result["shards"]
        lines.append(
            f"- {CONSUMERS} consumers of an idle stream, each with {rate} GetRecords per second for "
            f"each of {result['shards']} shards: {share:.2%} of a core for {requests_per_s} requests/s, "
            f"{share * 1e6 / requests_per_s:,.0f} us for each; without them the server takes "
            f"{result['core_shares'][0]:.2%}."
        )
    return lines
