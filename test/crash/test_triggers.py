"""Every record reaches its function at least once and in order per partition key, though the
function fails at random, dies in the middle of a call or takes too long, and the server is killed
meanwhile. What the function always refuses, and nothing else, is in the dead-letter file.

Each key has one writer, which counts up: value n of a key is one record. Values that POISON divides
are refused whenever they are in a batch. The rest fails at random, but not so often that it would
be given up.
"""

import collections
import json
import random
import threading
import time

import crash_run
from fast_client import FastClient
from function_target import FunctionTarget

WRITERS = 6
ROUNDS = 5
ROUNDS_LONG = 100
UNTIL_KILL_S = (0.2, 1.2)  # Longer than elsewhere: a function that fails is slow.
POISON = 41
PAUSE_S = 0.01  # Between two writes of a key, for the same reason.
RETRIES_MAX = 3
FAILURES_MAX = 2  # Of a record that is alone in its batch; below the retries.
CATCH_UP_S = 120
TABLE = "orders"


class Writer(crash_run.Client):
    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.key = f"key-{name}"
        self.value = 0
        self.acknowledged = set()

    def step(self, connection):
        self.value += 1  # Never twice, even if the answer to the last one was lost.
        item = {"p": {"S": self.key}, "n": {"N": str(self.value)}}
        status, answer = connection.call("PutItem", {"TableName": TABLE, "Item": item})
        assert status == 200, answer
        self.acknowledged.add((self.key, self.value))
        time.sleep(PAUSE_S)


def identity(record):
    image = record["dynamodb"]["NewImage"]
    return image["p"]["S"], int(image["n"]["N"])


class Moody:
    """How the function behaves."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.failures = collections.Counter()

    def decide(self, records):
        identities = [identity(record) for record in records]
        with self.lock:
            if any(value % POISON == 0 for _, value in identities):
                return 500, "refused"
            mood = self.random.random()
            if mood > 0.25 or (len(records) == 1 and self.failures[identities[0]] == FAILURES_MAX):
                return 200, "null"
            if len(records) == 1:
                self.failures[identities[0]] += 1
        if mood < 0.02:
            time.sleep(1.5)  # Longer than the trigger waits.
            return None
        return None if mood < 0.1 else (503, "not now")


def add_trigger(server, target):
    client = FastClient(server.port)
    status, answer = client.call(
        "CreateTable",
        {
            "TableName": TABLE,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        },
    )
    assert status == 200, answer
    status, answer = client.call(
        "AddTrigger",
        {
            "TableName": TABLE,
            "Url": target.url,
            "BatchSize": 10,
            "BisectBatchOnFunctionError": True,
            "MaximumRetryAttempts": RETRIES_MAX,
            "TimeoutInSeconds": 1,
            "DeadLetterFile": "refused.jsonl",
        },
    )
    assert status == 200, answer
    client.close()


def dead_letters(directory):
    path = directory / "dead-letters" / "refused.jsonl"
    if not path.exists():
        return []
    # The last line may have been cut by a kill, and the server ends such a line before the next.
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.endswith("}}")]


def assert_in_order(target):
    """When a record first comes, none that is behind it, of its key, has come before."""
    seen = set()
    newest = collections.Counter()
    for record in map(identity, target.delivered()):
        key, value = record
        assert record in seen or value > newest[key], f"{record} came after {newest[key]}"
        seen.add(record)
        newest[key] = max(newest[key], value)


def test_records_are_delivered_whatever_happens(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    directory = tmp_path / "data"
    writers = [Writer(number, seed) for number in range(WRITERS)]
    with FunctionTarget(Moody(seed).decide) as target:
        for number in crash_run.rounds(ROUNDS, ROUNDS_LONG):
            with crash_run.start_server(directory, "--stream-rollover-ms", "700") as server:
                if number == 0:
                    add_trigger(server, target)
                crash_run.work_until_killed(writers, server, choices.uniform(*UNTIL_KILL_S))
            crash_run.assert_whole_at_times(directory, number)
        wanted = set().union(*(writer.acknowledged for writer in writers))
        refused = {record for record in wanted if record[1] % POISON == 0}
        with crash_run.start_server(directory) as server:
            deadline = time.monotonic() + CATCH_UP_S
            while True:
                delivered = set(map(identity, target.delivered()))
                given_up = {identity(letter["record"]) for letter in dead_letters(directory)}
                if wanted <= delivered | given_up:
                    break
                assert time.monotonic() < deadline, f"missing: {wanted - delivered - given_up}"
                time.sleep(0.05)
            server.stop()
    assert refused <= given_up
    assert all(value % POISON == 0 for _, value in given_up)
    assert_in_order(target)
    crash_run.assert_whole(directory)
    print(f"{len(wanted)} records, {len(given_up)} given up, {len(target.snapshot())} calls")
