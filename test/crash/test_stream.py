"""A stream tells of every change, once and in order: under load, across rollovers, restarts and
kill -9, and while it is enabled and disabled.

Writers put, update and delete items of a few keys, alone, in batches and in transactions, and some
items expire at once. They share the keys, so changes of one item come from several connections, or
from the server itself. Each replay reads the stream from
TRIM_HORIZON on and compares every old image with what the records before left, and the end with
the table.
"""

import random
import time

import crash_run
import stator_process
from fast_client import FastClient
from stream_replay import Replay, call, scan, shards

WRITERS = 4
KEYS = 40
ROUNDS = 6
ROUNDS_LONG = 200
TABLE = "streamed"
KEY_NAMES = ["pk"]
BATCH_MAX = 8
ROLLOVER_MS = 150
TOGGLES = 5
EXPIRES = "expires"
TTL_INTERVAL_MS = 20
VIEW = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


class Writer(crash_run.Client):
    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.writes = 0

    def key(self):
        return {"pk": {"S": f"key-{self.choices.randrange(KEYS)}"}}

    def item(self):
        # Few values, so that some writes change nothing.
        item = {**self.key(), "value": {"N": str(self.choices.randrange(5))}}
        if self.choices.random() < 0.2:
            item[EXPIRES] = {"N": str(int(time.time()) - 10)}
        return item

    def request(self):
        kind = self.choices.randrange(10)
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
                "ExpressionAttributeValues": {":v": {"N": str(self.choices.randrange(5))}},
            }
        changes = list(self.changes())
        if kind < 9:
            requests = [{f"{name}Request": change} for name, change in changes]
            return "BatchWriteItem", {"RequestItems": {TABLE: requests}}
        actions = [{name: {"TableName": TABLE, **change}} for name, change in changes]
        return "TransactWriteItems", {"TransactItems": actions}

    def changes(self):
        """Several items to put or delete, none twice."""
        for key in self.choices.sample(range(KEYS), self.choices.randrange(1, BATCH_MAX)):
            pk = {"pk": {"S": f"key-{key}"}}
            if self.choices.random() < 0.7:
                yield "Put", {"Item": {**pk, "value": {"N": str(self.choices.randrange(5))}}}
            else:
                yield "Delete", {"Key": pk}

    def step(self, connection):
        status, answer = connection.call(*self.request())
        # Two transactions that meet at an item: one of them may be cancelled.
        assert status == 200 or "Conflict" in str(answer), answer
        self.writes += 1


def start_server(directory):
    return crash_run.start_server(
        directory,
        *("--stream-rollover-ms", str(ROLLOVER_MS)),
        *("--ttl-interval", str(TTL_INTERVAL_MS)),
    )


def ended_shards(client, arn):
    ranges = [shard["SequenceNumberRange"] for shard in shards(client, arn)]
    return [numbers for numbers in ranges if "EndingSequenceNumber" in numbers]


def settled(client):
    """The table's items once nothing is left to expire; nobody writes meanwhile."""
    while True:
        items = scan(client, TABLE, KEY_NAMES)
        if not any(EXPIRES in item for item in items.values()):
            return items
        time.sleep(TTL_INTERVAL_MS / 1000)


def assert_replays_to_the_table(client, arn):
    items = settled(client)
    replay = Replay(KEY_NAMES).apply_all(client, arn)
    assert replay.existing() == items
    return replay


def test_a_replay_is_the_table_whatever_ends_the_server(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    with start_server(tmp_path) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE, stream=VIEW["StreamViewType"])
        arn = call(client, "ListStreams", {"TableName": TABLE})["Streams"][0]["StreamArn"]
        expiry = {"Enabled": True, "AttributeName": EXPIRES}
        call(client, "UpdateTimeToLive", {"TableName": TABLE, "TimeToLiveSpecification": expiry})
        server.stop()
    writers = [Writer(number, seed) for number in range(WRITERS)]
    records = 0
    for number in crash_run.rounds(ROUNDS, ROUNDS_LONG):
        with start_server(tmp_path) as server:
            if choices.random() < 0.7:
                crash_run.work_until_killed(writers, server, crash_run.until_kill_s(choices))
            else:
                crash_run.work(writers, server.port, crash_run.until_kill_s(choices))
                assert_replays_to_the_table(FastClient(server.port), arn)
                server.stop()
        crash_run.assert_whole_at_times(tmp_path, number)
        with start_server(tmp_path) as server:
            client = FastClient(server.port)
            replay = assert_replays_to_the_table(client, arn)
            assert replay.record_count >= records
            records = replay.record_count
            ended = ended_shards(client, arn)
            server.stop()
    assert replay.expired_count > 0
    assert ended, "no shard was rolled over"
    print(
        f"{sum(w.writes for w in writers)} writes, {records} records, {replay.expired_count} of them "
        f"of expired items, {len(ended)} ended shards"
    )


def test_nothing_is_missing_between_the_records_of_a_stream_enabled_under_load(tmp_path):
    seed = crash_run.seeded()
    writers = [Writer(number, seed) for number in range(WRITERS)]
    with start_server(tmp_path) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        for _ in range(TOGGLES):
            with crash_run.working(writers, server.port):
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
            with crash_run.working(writers, server.port):
                time.sleep(0.05)
                disable = {"TableName": TABLE, "StreamSpecification": {"StreamEnabled": False}}
                call(client, "UpdateTable", disable)
                time.sleep(0.05)
            Replay(KEY_NAMES, knows_beginning=False).apply_all(client, arn)
        server.stop()
    crash_run.assert_whole(tmp_path)
