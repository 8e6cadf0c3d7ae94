"""The system's clock is set by an hour, a day or a month, forward or back, while the server runs and
while it does not. crash/FAULTS.md says for each thing that knows the time what must hold; this is
the test.

The clock is moved by test/lib/preload/moving_clock.c.
"""

import contextlib
import threading
import time

import pytest

import crash_run
import stator_process
import stream_replay
from fast_client import FastClient
from function_target import FunctionTarget
from moving_clock import MovingClock

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MONTH = 30 * DAY
YEAR_10000 = 253402300800  # Its first second.
PATIENCE_S = 90
TABLE = "clock"
FLAGS = (
    *("--ttl-interval", "50", "--stream-rollover-ms", "500"),
    *("--transition-delay-ms", "300", "--workers", "1"),
)


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

    def kill(self):
        self.client.close()
        self.process.kill()

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


def jump(server, clock, seconds, moment):
    if moment == "stopped":
        server.stop()
    elif moment == "killed":
        server.kill()
    clock.jump(seconds)
    if moment != "running":
        server.start()


def shard_ids(server):
    return {s["ShardId"] for s in stream_replay.shards(server.client, server.stream())}


def wait_for_upkeep(server):
    """Until the control thread has done what was due when this was called."""
    known = shard_ids(server)
    wait_for(lambda: len(shard_ids(server) - known) >= 8, "no new shards")  # Twice, all four.


def seconds_attribute(seconds):
    return {"N": str(int(seconds))}


JUMPS = [HOUR, -HOUR, DAY, -DAY, MONTH, -MONTH] if crash_run.is_long() else [-HOUR, MONTH]
jumps = pytest.mark.parametrize("seconds", JUMPS)
moments = pytest.mark.parametrize("moment", ["running", "stopped", "killed"])


@jumps
@moments
def test_items_expire_at_the_time_of_the_clock(tmp_path, seconds, moment):
    with server_on(tmp_path) as (server, clock):
        server.put("later", until=seconds_attribute(clock.now() + 2 * HOUR))
        server.put("past", until=seconds_attribute(clock.now() - HOUR // 2))
        wait_for(lambda: server.get("past") is None, "what is over does not go")
        jump(server, clock, seconds, moment)
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
def test_a_token_counts_once(tmp_path, seconds, moment):
    with server_on(tmp_path) as (server, clock):
        assert server.count_with_token("token-1") == 1
        jump(server, clock, seconds, moment)
        assert server.count_with_token("token-1") == 1
        assert server.count_with_token("token-2") == 1
        jump(server, clock, -seconds, moment)
        assert server.count_with_token("token-2") == 1
        server.stop()
    crash_run.assert_whole(tmp_path / "data")


@jumps
@moments
def test_streams_keep_their_order_and_go_on_rolling(tmp_path, seconds, moment):
    with server_on(tmp_path) as (server, clock):
        for number in range(20):
            server.put(f"key-{number % 5}", n=seconds_attribute(number))
        arn = server.stream()
        jump(server, clock, seconds, moment)
        for number in range(20, 40):
            server.put(f"key-{number % 5}", n=seconds_attribute(number))
        replay = stream_replay.Replay(["pk"])
        replay.apply_all(server.client, arn)
        assert replay.existing() == stream_replay.scan(server.client, TABLE, ["pk"])
        wait_for_upkeep(server)
        for number in range(40, 60):
            server.put(f"key-{number % 5}", n=seconds_attribute(number))
        replay = stream_replay.Replay(["pk"])
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
        assert status == 200, answer
        server.stop()


@jumps
@moments
def test_a_trigger_gets_records_that_are_seconds_old(tmp_path, seconds, moment):
    """Its function fails until the clock has jumped, and the streams were looked after since."""
    is_up = threading.Event()
    with (
        FunctionTarget(lambda _: (200, "null") if is_up.is_set() else None) as target,
        server_on(tmp_path) as (server, clock),
    ):
        trigger = {"TableName": TABLE, "Url": target.url, "MaximumRecordAgeInSeconds": 3600}
        server.call("AddTrigger", trigger)
        keys = {f"key-{number}" for number in range(20)}
        for key in keys:
            server.put(key)
        jump(server, clock, seconds, moment)
        wait_for_upkeep(server)
        is_up.set()

        def delivered():
            return {record["dynamodb"]["Keys"]["pk"]["S"] for record in target.delivered()}

        wait_for(lambda: delivered() == keys, "records were not delivered")
        server.stop()
    crash_run.assert_whole(tmp_path / "data")


def records_of(server):
    records = stream_replay.all_records(server.client, server.stream())
    return [record["dynamodb"]["Keys"]["pk"]["S"] for record in records]


@pytest.mark.parametrize("seconds", [0, MONTH, -MONTH])
def test_records_go_after_a_day_of_server_time(tmp_path, seconds):
    with server_on(tmp_path) as (server, clock):
        clock.jump(seconds)
        server.put("old")
        clock.pass_time(DAY - HOUR)
        wait_for_upkeep(server)
        assert records_of(server) == ["old"]
        server.put("new")
        clock.pass_time(HOUR + 1)
        wait_for_upkeep(server)
        assert records_of(server) == ["new"]
        server.stop()
    crash_run.assert_whole(tmp_path / "data")


@pytest.mark.parametrize("seconds", [0, MONTH, -MONTH])
def test_a_token_is_forgotten_after_ten_minutes_of_server_time(tmp_path, seconds):
    with server_on(tmp_path) as (server, clock):
        assert server.count_with_token("token") == 1
        clock.jump(seconds)
        clock.pass_time(9 * MINUTE)
        assert server.count_with_token("token") == 1
        clock.pass_time(MINUTE)
        assert server.count_with_token("token") == 2
        server.stop()


def test_time_without_a_server_does_not_count(tmp_path):
    with server_on(tmp_path) as (server, clock):
        server.put("old")
        assert server.count_with_token("token") == 1
        server.stop()
        clock.pass_time(MONTH)
        server.start()
        wait_for_upkeep(server)
        assert server.count_with_token("token") == 1
        assert sorted(records_of(server)) == ["old", "token"]
        server.stop()


def test_a_crash_loses_a_minute_of_server_time_at_most_and_gains_none(tmp_path):
    with server_on(tmp_path) as (server, clock):
        server.put("old")
        for _ in range(4):
            clock.pass_time(DAY // 4 - MINUTE)
            wait_for_upkeep(server)
            clock.pass_time(MINUTE - 1)  # May be lost.
            jump(server, clock, MONTH, "killed")
            assert records_of(server) == ["old"]
        # Four minutes were lost at most. Trimming is looked at every ten minutes.
        clock.pass_time(4 * MINUTE + 10)
        wait_for_upkeep(server)
        clock.pass_time(10 * MINUTE)
        wait_for_upkeep(server)
        assert records_of(server) == []
        server.stop()
    crash_run.assert_whole(tmp_path / "data")


def test_a_disabled_stream_stays_readable(tmp_path):
    with server_on(tmp_path) as (server, clock):
        server.put("a")
        arn = server.stream()
        server.call("DeleteTable", {"TableName": TABLE})
        for moment in ("running", "stopped", "killed"):
            jump(server, clock, MONTH, moment)
            stator_process.create_table(server.client, f"wakes-the-upkeep-{moment}")
            assert len(list(stream_replay.all_records(server.client, arn))) == 1
        server.stop()
    crash_run.assert_whole(tmp_path / "data")


@moments
@pytest.mark.parametrize("year", [1970, 10000])
def test_the_server_works_in_the_first_year_and_after_the_last(tmp_path, year, moment):
    with server_on(tmp_path) as (server, clock):
        server.put("before")
        now = int(time.time())
        jump(server, clock, (MINUTE if year == 1970 else YEAR_10000) - now, moment)
        server.put("after")
        assert server.get("after") is not None
        assert server.count_with_token("token-1") == 1
        stator_process.create_table(server.client, "second", stream="KEYS_ONLY")
        server.call("PutItem", {"TableName": "second", "Item": {"pk": {"S": "a"}}})
        arn = server.call("DescribeTable", {"TableName": "second"})["Table"]["LatestStreamArn"]
        assert len(list(stream_replay.all_records(server.client, arn))) == 1
        assert len(list(stream_replay.all_records(server.client, server.stream()))) == 3
        server.stop()
        server.start()
        assert server.get("before") is not None
        server.stop()
    crash_run.assert_whole(tmp_path / "data")


@jumps
@moments
def test_tables_in_transition_come_out_of_it(tmp_path, seconds, moment):
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
        jump(server, clock, seconds, moment)

        def status():
            status, answer = server.client.call("DescribeTable", {"TableName": "coming"})
            return answer["Table"]["TableStatus"] if status == 200 else None

        wait_for(lambda: status() == "ACTIVE", "it stays CREATING")
        server.call("DeleteTable", {"TableName": "coming"})
        jump(server, clock, -seconds, moment)
        wait_for(lambda: status() is None, "it stays DELETING")
        server.stop()
    crash_run.assert_whole(tmp_path / "data")
