"""The system's clock is set by an hour or a day, forward or back, while the server runs and while it
does not. crash/FAULTS.md says for each thing that knows the time what must hold; this is the test.

The clock is moved by test/lib/preload/moving_clock.c.
"""

import contextlib
import struct
import time

import pytest

import crash_run
import stator_process
import stream_replay
from fast_client import FastClient

HOUR = 3600
DAY = 24 * HOUR
PATIENCE_S = 30
TABLE = "clock"
FLAGS = (
    *("--ttl-interval", "50", "--stream-rollover-ms", "500"),
    *("--transition-delay-ms", "300", "--workers", "1"),
)


class MovingClock:
    def __init__(self, path):
        self.path = path
        self.ahead = 0
        self.jump(0)

    def jump(self, seconds):
        self.ahead += seconds
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("=q", self.ahead))

    def now(self):
        return time.time() + self.ahead

    def variables(self):
        return {
            "LD_PRELOAD": stator_process.preload("moving_clock"),
            "MOVING_CLOCK_FILE": str(self.path),
        }


class Server:
    """A server on the clock, which may be restarted, and a connection to it."""

    def __init__(self, directory, clock):
        self.directory = directory
        self.clock = clock
        self.start()

    def start(self):
        self.process = crash_run.start_server(
            self.directory, *FLAGS, variables=self.clock.variables()
        )
        self.client = FastClient(self.process.port)

    def stop(self):
        self.client.close()
        self.process.stop()

    def call(self, operation, body):
        status, answer = self.client.call(operation, body)
        assert status == 200, answer
        return answer

    def put(self, key, **attributes):
        self.call("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": key}, **attributes}})

    def get(self, key):
        request = {"TableName": TABLE, "Key": {"pk": {"S": key}}, "ConsistentRead": True}
        return self.call("GetItem", request).get("Item")

    def count_with_token(self, token):
        """One more in the counter, unless the token was used."""
        update = {
            "TableName": TABLE,
            "Key": {"pk": {"S": token}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        self.call(
            "TransactWriteItems",
            {"TransactItems": [{"Update": update}], "ClientRequestToken": token},
        )
        return int(self.get(token)["n"]["N"])

    def stream(self):
        return self.call("DescribeTable", {"TableName": TABLE})["Table"]["LatestStreamArn"]


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@contextlib.contextmanager
def server_on(tmp_path):
    clock = MovingClock(tmp_path / "clock")
    server = Server(tmp_path / "data", clock)
    try:
        stator_process.create_table(server.client, TABLE, stream="NEW_AND_OLD_IMAGES")
        expiry = {"AttributeName": "until", "Enabled": True}
        server.call("UpdateTimeToLive", {"TableName": TABLE, "TimeToLiveSpecification": expiry})
        yield server, clock
    finally:
        server.process.kill()


def jump(server, clock, seconds, is_running):
    if is_running:
        clock.jump(seconds)
    else:
        server.stop()
        clock.jump(seconds)
        server.start()


def seconds_attribute(seconds):
    return {"N": str(int(seconds))}


JUMPS = [HOUR, -HOUR, DAY, -DAY] if crash_run.is_long() else [-HOUR, DAY]
jumps = pytest.mark.parametrize("seconds", JUMPS)
moments = pytest.mark.parametrize("is_running", [True, False], ids=["running", "restart"])


@jumps
@moments
def test_items_expire_at_the_time_of_the_clock(tmp_path, seconds, is_running):
    with server_on(tmp_path) as (server, clock):
        server.put("later", until=seconds_attribute(clock.now() + 2 * HOUR))
        server.put("past", until=seconds_attribute(clock.now() - HOUR // 2))
        wait_for(lambda: server.get("past") is None, "what is over does not go")
        jump(server, clock, seconds, is_running)
        server.put("soon", until=seconds_attribute(clock.now() + 1))
        wait_for(lambda: server.get("soon") is None, "nothing expires any more")
        if seconds > 2 * HOUR:
            wait_for(lambda: server.get("later") is None, "a day has passed")
        else:
            assert server.get("later") is not None
        server.stop()
    crash_run.assert_whole(tmp_path / "data")


@jumps
@moments
def test_a_token_counts_once(tmp_path, seconds, is_running):
    with server_on(tmp_path) as (server, clock):
        assert server.count_with_token("token-1") == 1
        jump(server, clock, seconds, is_running)
        # A server that was down while the clock was set forward may have been down for so long.
        expected = 2 if seconds > 0 and not is_running else 1
        assert server.count_with_token("token-1") == expected
        assert server.count_with_token("token-2") == 1
        jump(server, clock, -seconds, is_running)
        assert server.count_with_token("token-2") == 1
        server.stop()
    crash_run.assert_whole(tmp_path / "data")


@jumps
@moments
def test_streams_keep_their_order_and_go_on_rolling(tmp_path, seconds, is_running):
    with server_on(tmp_path) as (server, clock):
        for number in range(20):
            server.put(f"key-{number % 5}", n=seconds_attribute(number))
        arn = server.stream()
        jump(server, clock, seconds, is_running)
        for number in range(20, 40):
            server.put(f"key-{number % 5}", n=seconds_attribute(number))
        # A day is how long records are kept; whether a clock that says so is right nobody knows.
        replay = stream_replay.Replay(["pk"], knows_beginning=seconds < DAY)
        replay.apply_all(server.client, arn)
        assert replay.existing() == stream_replay.scan(server.client, TABLE, ["pk"])
        known = {shard["ShardId"] for shard in stream_replay.shards(server.client, arn)}

        def has_rolled():
            shards = stream_replay.shards(server.client, arn)
            return len({shard["ShardId"] for shard in shards} - known) >= 8  # Twice, all four.

        wait_for(has_rolled, "no new shards")
        for number in range(40, 60):
            server.put(f"key-{number % 5}", n=seconds_attribute(number))
        replay = stream_replay.Replay(["pk"], knows_beginning=seconds < DAY)
        replay.apply_all(server.client, arn)
        assert replay.existing() == stream_replay.scan(server.client, TABLE, ["pk"])
        server.stop()
    crash_run.assert_whole(tmp_path / "data")


@jumps
def test_an_iterator_ends_only_when_its_time_is_over(tmp_path, seconds):
    with server_on(tmp_path) as (server, clock):
        server.put("a")
        arn = server.stream()
        shard = stream_replay.shards(server.client, arn)[0]
        request = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "LATEST"}
        iterator = server.call("GetShardIterator", request)["ShardIterator"]
        clock.jump(seconds)
        status, answer = server.client.call("GetRecords", {"ShardIterator": iterator})
        if seconds > 0:
            assert answer["__type"].endswith("#ExpiredIteratorException"), answer
        else:
            assert status == 200, answer
        server.stop()


@jumps
@moments
def test_tables_in_transition_come_out_of_it(tmp_path, seconds, is_running):
    with server_on(tmp_path) as (server, clock):
        server.call(
            "CreateTable",
            {
                "TableName": "coming",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            },
        )
        jump(server, clock, seconds, is_running)

        def status():
            status, answer = server.client.call("DescribeTable", {"TableName": "coming"})
            return answer["Table"]["TableStatus"] if status == 200 else None

        wait_for(lambda: status() == "ACTIVE", "it stays CREATING")
        server.call("DeleteTable", {"TableName": "coming"})
        jump(server, clock, -seconds, is_running)
        wait_for(lambda: status() is None, "it stays DELETING")
        server.stop()
    crash_run.assert_whole(tmp_path / "data")
