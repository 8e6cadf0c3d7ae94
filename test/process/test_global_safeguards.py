"""Each safeguard of replication alone (src/replica/, lib/replica_model.py): the fault that it is there
for is made to happen."""

import base64
import json
import time

import pytest

from global_tables import Regions, create_table
from moving_clock import MovingClock
from stator_process import Connection, check

HOME, AWAY, THIRD = "eu-west-1", "us-east-1", "us-west-2"
ROWS, SETTINGS = "WriteDataForReplication", "ReplicateSettings"


@pytest.fixture
def two(tmp_path):
    with Regions(tmp_path, [HOME, AWAY]) as regions:
        create_table(regions.clients[HOME])
        regions.add_replica(HOME, AWAY)
        wait_until(lambda: statuses(regions, HOME) == {AWAY: "ACTIVE"})
        yield regions
        assert_whole(regions)


@pytest.fixture
def three(tmp_path):
    """Of which the last one is no member yet."""
    with Regions(tmp_path, [HOME, AWAY, THIRD]) as regions:
        create_table(regions.clients[HOME])
        put(regions, HOME, "base", "old")
        regions.add_replica(HOME, AWAY)
        wait_until(lambda: statuses(regions, HOME) == {AWAY: "ACTIVE"})
        wait_until(lambda: values(regions, AWAY) == {"base": "old"})
        regions.wait_until_collected([HOME, AWAY])
        yield regions
        assert_whole(regions)


def put(regions, region, key, value):
    item = {"p": {"S": key}, "v": {"S": value}}
    regions.clients[region].put_item(TableName="Tab", Item=item)


def delete(regions, region, key):
    regions.clients[region].delete_item(TableName="Tab", Key={"p": {"S": key}})


def values(regions, region):
    return {item["p"]["S"]: item["v"]["S"] for item in regions.items(region)}


def statuses(regions, region):
    table = regions.clients[region].describe_table(TableName="Tab")["Table"]
    return {each["RegionName"]: each["ReplicaStatus"] for each in table.get("Replicas", [])}


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def assert_whole(regions):
    regions.stop()
    for region in regions.regions:
        result = check(regions.folder / region)
        assert result.returncode == 0, result.stdout + result.stderr


def drop(regions, a, b, *operations):
    regions.links[a, b].script = lambda name: "drop" if name in operations else None


def rows_sent(regions, a, b):
    return [body for name, data in list(regions.links[a, b].seen) if name == ROWS
            for body in [json.loads(data)] if body["Rows"]]  # fmt: skip


def send(regions, body):
    """To AWAY, for whose region Connection signs."""
    connection = Connection(regions.servers[AWAY].port)
    try:
        status, answer = connection.call(ROWS, body)
    finally:
        connection.close()
    assert status == 200, answer
    return answer["Applied"]


def deleted_and_forgotten(regions):
    """The message that brought an item, which is deleted since; no stamp says so any more."""
    put(regions, HOME, "k", "a")
    wait_until(lambda: values(regions, AWAY) == {"k": "a"})
    message = rows_sent(regions, HOME, AWAY)[-1]
    assert len(message["Rows"]) == 1
    delete(regions, HOME, "k")
    wait_until(lambda: values(regions, AWAY) == {})
    regions.wait_until_collected()
    return message


def test_a_message_from_before_the_receivers_start_brings_nothing_back(two):
    message = deleted_and_forgotten(two)
    two.cut(HOME, AWAY)  # It does not hear again which stamps were collected.
    two.kill(AWAY)
    two.start(AWAY)
    for number in (message["Number"], 2**50):
        assert not send(two, {**message, "Number": number})
    assert values(two, AWAY) == {}


def test_a_message_that_was_taken_is_not_taken_twice(two):
    message = deleted_and_forgotten(two)
    assert not send(two, message)


def test_a_row_from_before_what_was_collected_brings_nothing_back(two):
    message = deleted_and_forgotten(two)
    two.cut(HOME, AWAY)
    assert send(two, {**message, "Number": message["Number"] + 10_000})
    assert values(two, AWAY) == {}


def test_a_write_while_its_item_is_being_sent_is_sent_too(two):
    def slow(operation):
        time.sleep(0.5 if operation == ROWS else 0)

    two.links[HOME, AWAY].script = slow
    before = len(rows_sent(two, HOME, AWAY))
    put(two, HOME, "k", "first")
    wait_until(lambda: len(rows_sent(two, HOME, AWAY)) > before)
    put(two, HOME, "k", "second")
    two.links[HOME, AWAY].script = None
    wait_until(lambda: values(two, AWAY) == {"k": "second"})


def test_a_closed_time_promises_no_more_than_was_sent(two):
    """Of 40 keys that are written while others are sent, some are behind the walk."""
    broken, sent, closed = [], set(), [0]

    def watch(operation, data):
        if operation != ROWS:
            return
        body = json.loads(data)
        for row in body["Rows"]:
            stamp = (row["Time"], base64.b64decode(row["Item"]))
            if row["Time"] <= closed[0] and stamp not in sent:
                broken.append((row["Time"], closed[0]))
            sent.add(stamp)
        closed[0] = body["ClosedTime"]

    def slow(operation):
        time.sleep(0.05 if operation == ROWS else 0)

    two.links[HOME, AWAY].watch = watch
    two.links[HOME, AWAY].script = slow
    for number in range(160):
        put(two, HOME, f"k{number % 40}", str(number))
    wait_until(lambda: two.describe(HOME)["Tables"][0]["Members"][0]["WaitingItems"] == 0)
    two.wait_until_equal()
    assert closed[0] > 0 and len(sent) > 40 and broken == []


def test_what_is_seen_is_older_than_what_is_written_then(tmp_path):
    clock = MovingClock(tmp_path / "clock")
    clock.jump(-3600)
    flags = ["--replication-skew-max-ms", str(2 * 3600 * 1000)]
    variables = {AWAY: clock.variables()}
    with Regions(tmp_path, [HOME, AWAY], flags=flags, variables=variables) as regions:
        create_table(regions.clients[HOME])
        regions.add_replica(HOME, AWAY)
        put(regions, HOME, "k", "a")
        wait_until(lambda: values(regions, AWAY) == {"k": "a"})
        put(regions, AWAY, "k", "b")
        wait_until(lambda: values(regions, HOME) == {"k": "b"})
        assert_whole(regions)


def test_a_replica_is_not_filled_before_all_members_know_it(three):
    drop(three, HOME, AWAY, SETTINGS)
    three.add_replica(HOME, THIRD, wait=False)
    time.sleep(2)
    assert statuses(three, HOME)[THIRD] == "CREATING"
    assert rows_sent(three, HOME, THIRD) == []
    three.links[HOME, AWAY].script = None
    wait_until(lambda: statuses(three, AWAY) == {HOME: "ACTIVE", THIRD: "ACTIVE"})
    wait_until(lambda: values(three, THIRD) == {"base": "old"})


def test_no_stamp_is_collected_while_a_replica_is_being_made(three):
    drop(three, HOME, THIRD, ROWS)
    three.add_replica(HOME, THIRD, wait=False)
    wait_until(lambda: statuses(three, AWAY).get(THIRD) == "CREATING")
    put(three, HOME, "gone", "x")
    delete(three, HOME, "gone")
    put(three, AWAY, "kept", "x")
    wait_until(lambda: "kept" in values(three, HOME) and "gone" not in values(three, AWAY))
    time.sleep(3)  # Passes of the collector, and heartbeats.
    for region in (HOME, AWAY):
        assert three.describe(region)["Tables"][0]["WaitingStamps"] == 2
    three.links[HOME, THIRD].script = None
    wait_until(lambda: statuses(three, HOME) == {AWAY: "ACTIVE", THIRD: "ACTIVE"})
    three.wait_until_active(THIRD)
    assert {item["p"]["S"] for item in three.wait_until_equal()} == {"base", "kept"}
    three.wait_until_collected()


def test_what_a_new_replica_is_filled_with_replaces_nothing(three):
    drop(three, HOME, THIRD, ROWS)
    drop(three, AWAY, HOME, ROWS)
    three.add_replica(HOME, THIRD, wait=False)
    wait_until(lambda: statuses(three, AWAY).get(THIRD) == "CREATING")
    put(three, AWAY, "base", "new")
    wait_until(lambda: any("Time" in row for body in rows_sent(three, AWAY, THIRD)
                           for row in body["Rows"]))  # fmt: skip
    time.sleep(1)
    three.links[HOME, THIRD].script = None
    three.wait_until_active(THIRD)
    assert values(three, THIRD) == {"base": "new"}
    three.links[AWAY, HOME].script = None
    wait_until(lambda: values(three, HOME) == {"base": "new"})
    assert three.wait_until_equal()


@pytest.mark.parametrize("region", [HOME, AWAY])  # The one that lacks it, or has it.
def test_what_a_lost_region_sent_to_some_only_reaches_all(three, region):
    three.add_replica(HOME, THIRD)
    wait_until(lambda: statuses(three, AWAY) == {HOME: "ACTIVE", THIRD: "ACTIVE"})
    three.cut(HOME, THIRD)
    put(three, THIRD, "k", "a")
    wait_until(lambda: "k" in values(three, AWAY))
    three.kill(THIRD)
    for _ in range(2):
        three.clients[region].update_table(
            TableName="Tab", ReplicaUpdates=[{"Delete": {"RegionName": THIRD}}]
        )
    wait_until(lambda: values(three, HOME) == {"base": "old", "k": "a"})
    three.start(THIRD)  # So that its store is checked, too.
