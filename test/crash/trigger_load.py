"""Writers of a table with a trigger, and how to tell what has come of its records."""

import collections
import json
import time

import crash_run
from fast_client import FastClient

PAUSE_S = 0.01  # Between two writes of a key: a function that fails is slow.
STANDSTILL_S = 30
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


def add_trigger(server, target, retries_max):
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
            "MaximumRetryAttempts": retries_max,
            "TimeoutInSeconds": 1,
            "DeadLetterFile": "refused.jsonl",
        },
    )
    assert status == 200, answer
    client.close()


def dead_letters(directory):
    """The letters of the file. A kill may have cut a line short, and a power cut may have left zeros
    or garbage; the server ends what is no whole line before it goes on."""
    path = directory / "dead-letters" / "refused.jsonl"
    letters = []
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        try:
            letters.append(json.loads(line))
        except ValueError:
            continue
    return letters


def assert_in_order(target):
    """When a record first comes, none that is behind it, of its key, has come before."""
    seen = set()
    newest = collections.Counter()
    for record in map(identity, target.delivered()):
        key, value = record
        assert record in seen or value > newest[key], f"{record} came after {newest[key]}"
        seen.add(record)
        newest[key] = max(newest[key], value)


def caught_up(directory, target, wanted):
    """(delivered, given up), once each record that is wanted is one of the two. How many there are
    depends on how fast the server was; so time is up only if none comes for a while."""
    deadline = time.monotonic() + STANDSTILL_S
    missing = wanted
    while True:
        delivered = set(map(identity, target.delivered()))
        given_up = {identity(letter["record"]) for letter in dead_letters(directory)}
        if wanted <= delivered | given_up:
            return delivered, given_up
        if len(wanted - delivered - given_up) < len(missing):
            missing = wanted - delivered - given_up
            deadline = time.monotonic() + STANDSTILL_S
        assert time.monotonic() < deadline, f"missing: {missing}"
        time.sleep(0.05)
