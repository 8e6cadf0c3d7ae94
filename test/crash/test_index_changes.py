"""kill -9 while an index is filled or deleted: it is gone on with, and nothing is left behind.

Each round starts the server on the same directory and lets writers put and delete items while one
thread creates and deletes an index over and over, until SIGKILL ends the server at a random moment.
What a kill leaves behind is whole, says `stator check`. After a restart the change that was under
way comes to its end by itself; an index that is there then has just the items that it should.

CRASH_ROUNDS sets the number of rounds, CRASH_SEED replays the choices of a run.
"""

import os
import random
import time

import stator_process
from fast_client import FastClient
from kill import assert_whole, work_until_killed

ROUNDS = 12
ROUNDS_LONG = 300
WRITERS = 3
ITEMS = 4000
KEYS_PER_WRITER = 400
TABLE = "crash"
INDEX = "by-bucket"
UNTIL_KILL_MAX_S = 0.4
SETTLE_MAX_S = 60
BATCH = 25


def item(key, number):
    """Every fifth has no bucket and is not in the index."""
    content = {"pk": {"S": key}, "filler": {"S": "x" * (number % 300)}}
    if number % 5 > 0:
        content["bucket"] = {"S": f"bucket-{number % 7}"}
    return content


def load(client):
    for start in range(0, ITEMS, BATCH):
        puts = [{"PutRequest": {"Item": item(f"old-{i}", i)}} for i in range(start, start + BATCH)]
        status, answer = client.call("BatchWriteItem", {"RequestItems": {TABLE: puts}})
        assert status == 200, answer


class Writer:
    def __init__(self, number, seed):
        self.number = number
        self.random = random.Random(f"{seed}-writer-{number}")
        self.writes = 0

    def run(self, port):
        client = FastClient(port)
        while True:
            key = f"{self.number}-{self.random.randrange(KEYS_PER_WRITER)}"
            if self.random.random() < 0.3:
                body = {"TableName": TABLE, "Key": {"pk": {"S": key}}}
                status, answer = client.call("DeleteItem", body)
            else:
                body = {"TableName": TABLE, "Item": item(key, self.random.randrange(1000))}
                status, answer = client.call("PutItem", body)
            assert status == 200, answer
            self.writes += 1


class IndexMaker:
    """Creates the index and deletes it, at times before it is complete."""

    def __init__(self, seed):
        self.random = random.Random(f"{seed}-index-maker")
        self.changes = 0

    def run(self, port):
        client = FastClient(port)
        while True:
            index = describe(client)
            if index is None:
                self.change(client, creation())
            elif index["IndexStatus"] == "ACTIVE" or (
                index["IndexStatus"] == "CREATING" and self.random.random() < 0.02
            ):
                self.change(client, {"Delete": {"IndexName": INDEX}})
            time.sleep(0.002)

    def change(self, client, update):
        body = {
            "TableName": TABLE,
            "AttributeDefinitions": [{"AttributeName": "bucket", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [update],
        }
        status, answer = client.call("UpdateTable", body)
        # Not while it is allocated, which does not show in its status.
        assert status == 200 or "ResourceInUse" in answer["__type"], answer
        self.changes += status == 200


def creation():
    return {
        "Create": {
            "IndexName": INDEX,
            "KeySchema": [{"AttributeName": "bucket", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    }


def describe(client):
    status, answer = client.call("DescribeTable", {"TableName": TABLE})
    assert status == 200, answer
    return next(iter(answer["Table"].get("GlobalSecondaryIndexes", [])), None)


def settle(client):
    """The index once it is ACTIVE, or None once it is gone."""
    until = time.monotonic() + SETTLE_MAX_S
    while (index := describe(client)) and index["IndexStatus"] != "ACTIVE":
        assert time.monotonic() < until, f"the index stays {index}"
        time.sleep(0.01)
    return index


def scan(client, **parameters):
    items = []
    start = {}
    while True:
        status, page = client.call("Scan", {"TableName": TABLE, **parameters, **start})
        assert status == 200, page
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def verify(client):
    index = settle(client)
    if index is None:
        return False
    want = {one["pk"]["S"]: one["bucket"] for one in scan(client) if "bucket" in one}
    found = scan(client, IndexName=INDEX)
    assert {one["pk"]["S"]: one["bucket"] for one in found} == want
    assert index["ItemCount"] == len(found) == len(want)
    return True


def test_changes_of_an_index_survive_kills(tmp_path):
    seed = int(os.environ.get("CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
    long = os.environ.get("STATOR_TEST_LONG") == "1"
    rounds = int(os.environ.get("CRASH_ROUNDS", ROUNDS_LONG if long else ROUNDS))
    print(f"CRASH_SEED={seed} CRASH_ROUNDS={rounds}")
    choices = random.Random(seed)
    flags = ("--data-dir", str(tmp_path / "data"), "--write-buffer-size", "1M")
    program = stator_process.binary(
        "STATOR_RELEASE_BINARY", "build/stator", "build/release/stator", "build/asan/stator"
    )
    writers = [Writer(number, seed) for number in range(WRITERS)]
    maker = IndexMaker(seed)
    verified = 0
    for number in range(rounds):
        with stator_process.StatorProcess(*flags, program=program) as server:
            client = FastClient(server.port)
            if number == 0:
                stator_process.create_table(client, TABLE)
                load(client)
            client.close()
            seconds = choices.uniform(0.01, UNTIL_KILL_MAX_S)
            work_until_killed(server, [*writers, maker], seconds)
        assert_whole(tmp_path / "data", program)
        with stator_process.StatorProcess(*flags, program=program) as server:
            if choices.random() < 0.3:
                time.sleep(choices.uniform(0, 0.1))
                server.kill()  # While it goes on with what was under way.
                assert_whole(tmp_path / "data", program)
                continue
            client = FastClient(server.port)
            verified += verify(client)
            client.close()
            server.stop()
        assert_whole(tmp_path / "data", program)
    print(f"{sum(w.writes for w in writers)} writes, {maker.changes} changes, {verified} verified")
    assert maker.changes > 0
