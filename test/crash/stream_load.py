"""Writers of a table with a stream, and the proof that a replay of the stream is the table."""

import time

import crash_run
import stator_process
from stream_replay import Replay, call, scan, shards

KEYS = 40
TABLE = "streamed"
KEY_NAMES = ["pk"]
BATCH_MAX = 8
ROLLOVER_MS = 150
EXPIRES = "expires"
TTL_INTERVAL_MS = 20


def splits(size):
    """Flags with which partitions split until each has so many bytes of items."""
    return (
        *("--partition-size-max", str(size), "--partition-writes-max", "0"),
        *("--partition-heat-ms", "100"),
    )


FLAGS = (
    *("--stream-rollover-ms", str(ROLLOVER_MS), "--ttl-interval", str(TTL_INTERVAL_MS)),
    *splits(50),  # Of some 400.
)
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


def set_up(client):
    """Returns the ARN of the stream."""
    stator_process.create_table(client, TABLE, stream=VIEW["StreamViewType"])
    expiry = {"Enabled": True, "AttributeName": EXPIRES}
    call(client, "UpdateTimeToLive", {"TableName": TABLE, "TimeToLiveSpecification": expiry})
    return call(client, "ListStreams", {"TableName": TABLE})["Streams"][0]["StreamArn"]


def ended_shards(client, arn):
    ranges = [shard["SequenceNumberRange"] for shard in shards(client, arn)]
    return [numbers for numbers in ranges if "EndingSequenceNumber" in numbers]


def split_parents(client, arn):
    """Shards with two children."""
    parents = [shard.get("ParentShardId") for shard in shards(client, arn)]
    return {parent for parent in parents if parent is not None and parents.count(parent) == 2}


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
