"""Many clients count on few items at once: no increment is lost or made twice, whether the server
adds or the client reads, adds and puts under a condition."""

import threading
import time

import crash_run
import pytest
import stator_process
from fast_client import FastClient

CLIENTS = 64
ITEMS = 10
TABLE = "counters"
FAILED = "ConditionalCheckFailedException"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with crash_run.start_server(tmp_path_factory.mktemp("data")) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        client.close()
        yield server.port
        server.stop()


def key(item):
    return {"pk": {"S": f"counter-{item}"}}


def call(client, operation, **body):
    status, answer = client.call(operation, {"TableName": TABLE, **body})
    assert status == 200, answer
    return answer


def read(client, item):
    return int(call(client, "GetItem", Key=key(item), ConsistentRead=True)["Item"]["n"]["N"])


def update(client, item, expression):
    answer = call(
        client,
        "UpdateItem",
        Key=key(item),
        UpdateExpression=expression,
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )
    return int(answer["Attributes"]["n"]["N"])


def increment_by_add(client, item):
    return update(client, item, "ADD n :one")


def increment_by_set(client, item):
    return update(client, item, "SET n = n + :one")


def increment_by_older_parameters(client, item):
    answer = call(
        client,
        "UpdateItem",
        Key=key(item),
        AttributeUpdates={"n": {"Action": "ADD", "Value": {"N": "1"}}},
        ReturnValues="UPDATED_NEW",
    )
    return int(answer["Attributes"]["n"]["N"])


def put_until_nobody_interferes(client, item, condition):
    """`condition` makes the parameters that refuse the put unless `n` is still the number read."""
    while True:
        number = read(client, item)
        status, answer = client.call(
            "PutItem",
            {
                "TableName": TABLE,
                "Item": {**key(item), "n": {"N": str(number + 1)}},
                **condition({"N": str(number)}),
            },
        )
        if status == 200:
            return number + 1
        assert answer["__type"].endswith(FAILED), answer


def increment_by_conditional_put(client, item):
    return put_until_nobody_interferes(
        client,
        item,
        lambda number: {
            "ConditionExpression": "n = :read",
            "ExpressionAttributeValues": {":read": number},
        },
    )


def increment_by_expected_put(client, item):
    return put_until_nobody_interferes(
        client, item, lambda number: {"Expected": {"n": {"Value": number}}}
    )


class Counter(threading.Thread):
    def __init__(self, number, port, increment, turns, barrier):
        super().__init__()
        self.number = number
        self.port = port
        self.increment = increment
        self.turns = turns
        self.barrier = barrier
        self.results = [[] for _ in range(ITEMS)]  # What each increment made of its item.
        self.failure = None

    def run(self):
        try:
            client = FastClient(self.port)
            self.barrier.wait()
            for turn in range(self.turns):
                item = (self.number + turn) % ITEMS
                self.results[item].append(self.increment(client, item))
            client.close()
        except BaseException as error:  # Reported by the thread that waits.
            self.failure = error
            self.barrier.abort()


@pytest.mark.parametrize(
    ("increment", "turns"),
    [
        (increment_by_add, 40),
        (increment_by_set, 40),
        (increment_by_older_parameters, 40),
        # Most puts find that somebody was faster.
        (increment_by_conditional_put, 8),
        (increment_by_expected_put, 8),
    ],
)
def test_every_increment_counts_once(port, increment, turns):
    client = FastClient(port)
    for item in range(ITEMS):
        call(client, "PutItem", Item={**key(item), "n": {"N": "0"}})
    barrier = threading.Barrier(CLIENTS)
    counters = [Counter(number, port, increment, turns, barrier) for number in range(CLIENTS)]
    started = time.monotonic()
    for counter in counters:
        counter.start()
    for counter in counters:
        counter.join()
    for counter in counters:
        if counter.failure:
            raise counter.failure
    seconds = time.monotonic() - started
    print(f"{CLIENTS * turns} increments in {seconds:.2f} s")
    for item in range(ITEMS):
        results = [result for counter in counters for result in counter.results[item]]
        assert read(client, item) == len(results)
        # Each increment saw a number of its own, and a client's own ones rise.
        assert sorted(results) == list(range(1, len(results) + 1))
        for counter in counters:
            assert counter.results[item] == sorted(counter.results[item])
    client.close()
