"""A stream tells of every change, once and in order: under load, across rollovers, restarts and
kill -9, and while it is enabled and disabled.

Writers put, update and delete items of a few keys, alone, in batches and in transactions. They share
the keys, so changes of one item come from several connections. Each replay reads the stream from
TRIM_HORIZON on and compares every old image with what the records before left, and the end with
the table.

STREAM_ROUNDS sets the number of rounds, STREAM_SEED replays the choices of a run.
"""

import os
import random
import threading
import time

import stator_process
from fast_client import FastClient, ServerGone
from stream_replay import Replay, call, scan, shards

WRITERS = 4
KEYS = 40
ROUNDS = 6
ROUNDS_LONG = 200
TABLE = "streamed"
KEY_NAMES = ["pk"]
BATCH_MAX = 8
UNTIL_END_MAX_S = 0.4
ROLLOVER_MS = 150
TOGGLES = 5
VIEW = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def settings():
    seed = int(os.environ.get("STREAM_SEED", random.SystemRandom().randrange(1 << 32)))
    is_long = os.environ.get("STATOR_TEST_LONG") == "1"
    rounds = int(os.environ.get("STREAM_ROUNDS", ROUNDS_LONG if is_long else ROUNDS))
    print(f"STREAM_SEED={seed} STREAM_ROUNDS={rounds}")
    return seed, rounds


class Writer:
    def __init__(self, number, seed):
        self.random = random.Random(f"{seed}-{number}")
        self.writes = 0

    def key(self):
        return {"pk": {"S": f"key-{self.random.randrange(KEYS)}"}}

    def item(self):
        # Few values, so that some writes change nothing.
        return {**self.key(), "value": {"N": str(self.random.randrange(5))}}

    def request(self):
        kind = self.random.randrange(10)
        if kind < 4:
            return "PutItem", {"TableName": TABLE, "Item": self.item()}
        if kind < 6:
            return "DeleteItem", {"TableName": TABLE, "Key": self.key()}
        if kind < 8:
            return "UpdateItem", {
                "TableName": TABLE,
                "Key": self.key(),
                "UpdateExpression": "SET #v = :v",
                "ExpressionAttributeNames": {"#v": "value"},
                "ExpressionAttributeValues": {":v": {"N": str(self.random.randrange(5))}},
            }
        changes = list(self.changes())
        if kind < 9:
            requests = [{f"{name}Request": change} for name, change in changes]
            return "BatchWriteItem", {"RequestItems": {TABLE: requests}}
        actions = [{name: {"TableName": TABLE, **change}} for name, change in changes]
        return "TransactWriteItems", {"TransactItems": actions}

    def changes(self):
        """Several items to put or delete, none twice."""
        for key in self.random.sample(range(KEYS), self.random.randrange(1, BATCH_MAX)):
            pk = {"pk": {"S": f"key-{key}"}}
            if self.random.random() < 0.7:
                yield "Put", {"Item": {**pk, "value": {"N": str(self.random.randrange(5))}}}
            else:
                yield "Delete", {"Key": pk}

    def run(self, port, stopping):
        try:
            client = FastClient(port)
            while not stopping.is_set():
                status, answer = client.call(*self.request())
                # Two transactions that meet at an item: one of them is cancelled.
                assert status == 200 or "Conflict" in str(answer), answer
                self.writes += 1
        except ServerGone:
            pass


class Load:
    """Writers at work until the block ends."""

    def __init__(self, server, writers):
        self.failures = []
        self.stopping = threading.Event()
        self.threads = [
            threading.Thread(target=self.guarded, args=(writer, server.port)) for writer in writers
        ]

    def guarded(self, writer, port):
        try:
            writer.run(port, self.stopping)
        except BaseException as error:  # Reported by the thread that waits.
            self.failures.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise self.failures[0]


def starter(tmp_path):
    flags = (
        *("--data-dir", str(tmp_path / "data"), "--write-buffer-size", "1M"),
        *("--stream-rollover-ms", str(ROLLOVER_MS)),
    )
    program = stator_process.binary(
        "STATOR_RELEASE_BINARY", "build/stator", "build/release/stator", "build/asan/stator"
    )
    return lambda: stator_process.StatorProcess(*flags, program=program), program


def assert_replays_to_the_table(client, arn):
    replay = Replay(KEY_NAMES).apply_all(client, arn)
    assert replay.existing() == scan(client, TABLE, KEY_NAMES)
    return replay.record_count


def assert_whole(tmp_path, program):
    result = stator_process.check(tmp_path / "data", program)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_replay_is_the_table_whatever_ends_the_server(tmp_path):
    seed, rounds = settings()
    choices = random.Random(seed)
    start, program = starter(tmp_path)
    with start() as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE, stream=VIEW["StreamViewType"])
        arn = call(client, "ListStreams", {"TableName": TABLE})["Streams"][0]["StreamArn"]
        server.stop()
    writers = [Writer(number, seed) for number in range(WRITERS)]
    records = 0
    for _ in range(rounds):
        with start() as server:
            with Load(server, writers):
                time.sleep(choices.uniform(0.05, UNTIL_END_MAX_S))
                if choices.random() < 0.7:
                    server.kill()
            if server.process.poll() is None:
                assert_replays_to_the_table(FastClient(server.port), arn)
                server.stop()
        assert_whole(tmp_path, program)
        with start() as server:
            client = FastClient(server.port)
            before, records = records, assert_replays_to_the_table(client, arn)
            assert records > before
            closed = [s for s in shards(client, arn) if "EndingSequenceNumber" in
                      s["SequenceNumberRange"]]
            server.stop()
    assert closed, "no shard was rolled over"
    print(f"{sum(w.writes for w in writers)} writes, {records} records, {len(closed)} ended shards")


def test_nothing_is_missing_between_the_records_of_a_stream_enabled_under_load(tmp_path):
    seed, _ = settings()
    start, program = starter(tmp_path)
    writers = [Writer(number, seed) for number in range(WRITERS)]
    with start() as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        for _ in range(TOGGLES):
            with Load(server, writers):
                time.sleep(0.1)
                enable = {"TableName": TABLE, "StreamSpecification": VIEW}
                arn = call(client, "UpdateTable", enable)["TableDescription"]["LatestStreamArn"]
                time.sleep(0.2)
            # The writers have stopped, so the stream's end is the table.
            replay = Replay(KEY_NAMES, knows_beginning=False).apply_all(client, arn)
            items = scan(client, TABLE, KEY_NAMES)
            for key, item in replay.items.items():
                assert items.get(key) == item
            assert replay.record_count > 0
            with Load(server, writers):
                time.sleep(0.05)
                disable = {"TableName": TABLE, "StreamSpecification": {"StreamEnabled": False}}
                call(client, "UpdateTable", disable)
                time.sleep(0.05)
            Replay(KEY_NAMES, knows_beginning=False).apply_all(client, arn)
        server.stop()
    assert_whole(tmp_path, program)
