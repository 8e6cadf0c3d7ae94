"""Every acknowledged change reaches the Kinesis stream at least once and in order for each key, with
both images right, though both servers are killed at random meanwhile and the table's own stream is
switched on and off.

Each key has one writer, which counts up: value n of a key is one change, and its old image is the
state of value n - 1 or of a later one that was written but not acknowledged.
"""

import random
import threading

import crash_run
from fast_client import FastClient
from kinesis_server import KinesisServer, Reader, wait_for, write_key_file
from stream_load import splits

ROUNDS = 3
ROUNDS_LONG = 60
WRITERS = 5
SHARDS = 3
UNTIL_KILL_S = (0.3, 1.0)
TABLE = "orders"
DEADLINE_S = 120


class Writer(crash_run.Client):
    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.key = f"key-{name}"
        self.value = 0
        self.acknowledged = set()

    def step(self, connection):
        self.value += 1  # Never twice, even if the answer to the last one was lost.
        if self.value % 7 == 0:
            body = {"TableName": TABLE, "Key": {"p": {"S": self.key}}}
            status, answer = connection.call("DeleteItem", body)
        else:
            item = {"p": {"S": self.key}, "n": {"N": str(self.value)}}
            status, answer = connection.call("PutItem", {"TableName": TABLE, "Item": item})
        assert status == 200, answer
        self.acknowledged.add(self.value)


class Switcher(crash_run.Client):
    """Enables and disables the table's own stream, which must not disturb the destination."""

    def step(self, connection):
        enabled = self.choices.random() < 0.5
        specification = {"StreamEnabled": enabled}
        if enabled:
            specification["StreamViewType"] = self.choices.choice(["KEYS_ONLY", "NEW_IMAGE"])
        body = {"TableName": TABLE, "StreamSpecification": specification}
        connection.call("UpdateTable", body)  # It may be refused: it is on, or off, already.
        threading.Event().wait(0.1)


def set_up(server, arn):
    client = FastClient(server.port)
    for operation, body in (
        (
            "CreateTable",
            {
                "TableName": TABLE,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
            },
        ),
        ("EnableKinesisStreamingDestination", {"TableName": TABLE, "StreamArn": arn}),
    ):
        status, answer = client.call(operation, body)
        assert status == 200, answer

    def is_active():
        _, answer = client.call("DescribeKinesisStreamingDestination", {"TableName": TABLE})
        (entry,) = answer["KinesisDataStreamDestinations"]
        return entry["DestinationStatus"] == "ACTIVE"

    wait_for(is_active, "destination that is ACTIVE")
    client.close()


def number(record, image):
    return int(record["dynamodb"][image]["n"]["N"]) if image in record["dynamodb"] else None


def last_copies(records):
    """Each record once, where it came last, by key."""
    places = {record["eventID"]: place for place, record in enumerate(records)}
    found = {}
    for place, record in enumerate(records):
        if places[record["eventID"]] == place:
            found.setdefault(record["dynamodb"]["Keys"]["p"]["S"], []).append(record)
    return found


def assert_consistent(records):
    """Each change begins with what the one before has left."""
    before = None
    for record in records:
        assert number(record, "OldImage") == before, record
        before = number(record, "NewImage")
        wanted = {(False, True): "INSERT", (True, True): "MODIFY", (True, False): "REMOVE"}
        images = ("OldImage" in record["dynamodb"], "NewImage" in record["dynamodb"])
        assert record["eventName"] == wanted[images]


def test_changes_arrive_whatever_is_killed(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    directory = tmp_path / "data"
    writers = [Writer(number, seed) for number in range(WRITERS)]
    switcher = Switcher("switcher", seed)
    with KinesisServer(tmp_path / "kinesis") as kinesis:
        arn = kinesis.create_stream("changes", shards=SHARDS)
        flags = [
            "--kinesis-endpoint",
            kinesis.url,
            "--kinesis-key-file",
            write_key_file(tmp_path / "credentials"),
            "--stream-rollover-ms",
            "700",
            *splits(2000),
        ]
        for round_number in crash_run.rounds(ROUNDS, ROUNDS_LONG):
            with crash_run.start_server(directory, *flags) as server:
                if round_number == 0:
                    set_up(server, arn)
                until_kill_s = choices.uniform(*UNTIL_KILL_S)
                killer = threading.Timer(until_kill_s * choices.random(), kinesis.kill)
                killer.start()
                crash_run.work_until_killed([*writers, switcher], server, until_kill_s)
                killer.join()
            crash_run.assert_whole_at_times(directory, round_number)
            kinesis.start()
        reader = Reader(kinesis, "changes")
        wanted = {
            (writer.key, value)
            for writer in writers
            for value in writer.acknowledged
            if value % 7 != 0
        }

        def all_arrived():
            found = {
                (record["dynamodb"]["Keys"]["p"]["S"], number(record, "NewImage"))
                for record in reader.read()
            }
            return wanted <= found

        with crash_run.start_server(directory, *flags) as server:
            wait_for(all_arrived, "all changes", DEADLINE_S)
            server.stop()
        records = reader.read()
    for changes in last_copies(records).values():
        assert_consistent(changes)
    crash_run.assert_whole(directory)
    print(f"{len(wanted)} changes, {len(records)} records")
