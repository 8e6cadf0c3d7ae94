"""Tables that are replicated between servers of several regions: everything that was written in any
of them is in all of them, and the last writer wins."""

import base64
import json
import subprocess
import time

import pytest
from botocore.exceptions import ClientError

from global_tables import Regions, create_table
from moving_clock import MovingClock
from stator_process import Connection, binary, check

HOME, AWAY, THIRD = "eu-west-1", "us-east-1", "us-west-2"


def put(regions, region, key, value, **more):
    item = {"p": {"S": key}, "v": {"S": value}, "g": {"S": value[:1]}, **more}
    regions.clients[region].put_item(TableName="Tab", Item=item)


def delete(regions, region, key):
    regions.clients[region].delete_item(TableName="Tab", Key={"p": {"S": key}})


def value_of(items):
    return {item["p"]["S"]: item["v"]["S"] for item in items}


@pytest.fixture
def two(tmp_path):
    with Regions(tmp_path, [HOME, AWAY]) as regions:
        create_table(regions.clients[HOME])
        yield regions


def assert_whole(regions):
    regions.stop()
    for region in regions.regions:
        result = check(regions.folder / region)
        assert result.returncode == 0, result.stdout + result.stderr


def test_what_was_there_and_what_is_written_reaches_the_other_region(two):
    for number in range(40):
        put(two, HOME, f"old{number}", "a")
    two.add_replica(HOME, AWAY)
    assert len(two.wait_until_equal(index="Ind")) == 40
    put(two, HOME, "new", "b")
    put(two, AWAY, "other", "c")
    put(two, AWAY, "old1", "d")
    delete(two, HOME, "old2")
    delete(two, AWAY, "old3")
    deadline = time.monotonic() + 30
    while True:
        found = value_of(two.wait_until_equal(index="Ind"))
        if found.get("new") == "b" and found.get("other") == "c" and len(found) == 40:
            break
        assert time.monotonic() < deadline
    assert found["old1"] == "d" and "old2" not in found and "old3" not in found
    assert_whole(two)


def test_the_last_writer_wins_after_a_partition(two):
    two.add_replica(HOME, AWAY)
    put(two, HOME, "both", "a")
    two.wait_until_equal()
    two.cut(HOME, AWAY)
    put(two, HOME, "both", "from home")
    put(two, HOME, "gone", "x")
    put(two, AWAY, "both", "last")
    put(two, AWAY, "kept", "y")
    delete(two, AWAY, "both")
    put(two, AWAY, "both", "last")
    delete(two, HOME, "gone")
    two.cut(HOME, AWAY, False)
    deadline = time.monotonic() + 30
    while value_of(two.items(HOME)) != {"both": "last", "kept": "y"}:
        assert time.monotonic() < deadline, two.items(HOME)
        time.sleep(0.05)
    two.wait_until_equal(index="Ind")
    assert_whole(two)


def test_a_later_write_wins_even_if_it_changes_nothing_where_it_is_made(two):
    two.add_replica(HOME, AWAY)
    put(two, HOME, "same", "a")
    two.wait_until_equal()
    two.cut(HOME, AWAY)
    put(two, AWAY, "same", "earlier")
    put(two, AWAY, "gone", "earlier")
    put(two, HOME, "same", "a")
    delete(two, HOME, "gone")
    two.cut(HOME, AWAY, False)
    wait_for(two, AWAY, {"same": "a"})
    wait_for(two, HOME, {"same": "a"})
    assert_whole(two)


def wait_for(regions, region, wanted, seconds=30):
    deadline = time.monotonic() + seconds
    while value_of(regions.items(region)) != wanted:
        assert time.monotonic() < deadline, (region, regions.items(region), wanted)
        time.sleep(0.05)


def test_deletions_of_a_long_partition_are_not_undone(two):
    for number in range(20):
        put(two, HOME, f"k{number}", "a")
    two.add_replica(HOME, AWAY)
    two.wait_until_equal()
    time.sleep(2)  # Stamps are collected meanwhile.
    two.cut(HOME, AWAY)
    for number in range(20):
        delete(two, HOME if number % 2 else AWAY, f"k{number}")
    two.kill(HOME)
    two.start(HOME)
    two.cut(HOME, AWAY, False)
    wait_for(two, HOME, {})
    wait_for(two, AWAY, {})
    assert_whole(two)


def stamps(regions):
    connection = Connection(regions.servers[AWAY].port)  # It signs for that region.
    try:
        return connection.call("DescribeRegions", {})[1]["Tables"][0]["WaitingStamps"]
    finally:
        connection.close()


def test_stamps_wait_while_a_region_is_away_and_go_once_it_is_back(two):
    two.add_replica(HOME, AWAY)
    put(two, AWAY, "k", "a")
    two.wait_until_equal()
    two.cut(HOME, AWAY)
    for number in range(0, 500, 25):
        requests = [
            {"PutRequest": {"Item": {"p": {"S": f"{number + each}"}}}} for each in range(25)
        ]
        two.clients[AWAY].batch_write_item(RequestItems={"Tab": requests})
    time.sleep(2)  # Passes of the collector, which has nothing to look at.
    assert stamps(two) >= 500
    two.cut(HOME, AWAY, False)
    deadline = time.monotonic() + 60
    while stamps(two) > 0:
        assert time.monotonic() < deadline, stamps(two)
        time.sleep(0.2)


def test_a_removed_replica_is_deleted_and_the_last_table_is_regional(two):
    put(two, HOME, "k", "a")
    two.add_replica(HOME, AWAY)
    two.clients[HOME].update_table(
        TableName="Tab", ReplicaUpdates=[{"Delete": {"RegionName": AWAY}}]
    )
    deadline = time.monotonic() + 30
    while two.clients[AWAY].list_tables()["TableNames"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    put(two, HOME, "k", "b")
    time.sleep(1.5)
    two.add_replica(HOME, AWAY)  # It may come back.
    wait_for(two, AWAY, {"k": "b"})
    assert_whole(two)


def test_a_global_table_takes_no_bulk_operation(two):
    two.add_replica(HOME, AWAY)
    connection = Connection(two.servers[AWAY].port)
    source = {"S3Bucket": "bucket", "InputFormat": "DYNAMODB_JSON"}
    report = {"S3Bucket": "bucket", "OutputType": ["ERROR"]}
    status, answer = connection.call(
        "StartBulkPutItems",
        {"TableName": "Tab", "InputS3Configuration": source, "OutputS3Configuration": report},
    )
    connection.close()
    assert status == 400 and "not supported for global tables. Table: Tab" in answer["message"]


def wait_for_item(regions, region, key, table):
    deadline = time.monotonic() + 30
    found = {}
    while "Item" not in found:
        assert time.monotonic() < deadline, (region, table, key)
        time.sleep(0.05)
        found = regions.clients[region].get_item(TableName=table, Key={"p": {"S": key}})


def test_a_table_that_a_region_refuses_holds_up_no_other_table(two):
    create_table(two.clients[HOME], "Uab")
    two.add_replica(HOME, AWAY)
    two.add_replica(HOME, AWAY, "Uab")
    connection = Connection(two.servers[AWAY].port)
    protected = {"TableName": "Tab", "DeletionProtectionEnabled": True}
    assert connection.call("UpdateTable", protected)[0] == 200
    connection.close()
    two.kill(AWAY)
    two.clients[HOME].update_table(
        TableName="Tab", ReplicaUpdates=[{"Delete": {"RegionName": AWAY}}]
    )
    two.start(AWAY)
    two.servers[HOME].wait_for_log("protected against deletion")
    two.clients[HOME].put_item(TableName="Uab", Item={"p": {"S": "k"}})
    wait_for_item(two, AWAY, "k", "Uab")


def test_a_table_of_that_name_is_no_replica(two):
    create_table(two.clients[AWAY])
    with pytest.raises(ClientError, match="already existed as tables"):
        two.add_replica(HOME, AWAY)
    put(two, AWAY, "k", "own")
    put(two, HOME, "k", "other")
    time.sleep(0.5)
    assert value_of(two.items(AWAY)) == {"k": "own"}


def test_a_clock_far_ahead_holds_up_its_own_rows_only(tmp_path):
    clock = MovingClock(tmp_path / "clock")
    clock.jump(3600)
    with Regions(tmp_path, [HOME, AWAY], variables={AWAY: clock.variables()}) as regions:
        create_table(regions.clients[HOME])
        regions.add_replica(HOME, AWAY)
        put(regions, AWAY, "ahead", "a")
        put(regions, HOME, "now", "b")
        wait_for(regions, AWAY, {"ahead": "a", "now": "b"})
        time.sleep(1)
        assert value_of(regions.items(HOME)) == {"now": "b"}
        assert "from the future" in regions.servers[AWAY].wait_for_log("from the future")
        clock.jump(-3600)  # Mended: stamps do not go back, so new writes wait for their time, too.
        put(regions, HOME, "now", "c")
        wait_for(regions, AWAY, {"ahead": "a", "now": "c"})


def rows(two, rows, **more):
    group = {
        "TableName": "Tab", "FromRegion": HOME, "ToRegion": AWAY, "GroupId": "0" * 36, "Session": "", "Number": 1,
        "Epoch": 1, "SentTime": 1, "ClosedTime": 0, "LowTime": 0, "Rows": rows, **more,
    }  # fmt: skip
    connection = Connection(two.servers[AWAY].port)  # It signs for that region.
    try:
        return connection.call("WriteDataForReplication", group)
    finally:
        connection.close()


def test_rows_of_strangers_are_refused(two):
    two.add_replica(HOME, AWAY)
    put(two, HOME, "k", "a")
    two.wait_until_equal()
    status, answer = rows(two, [])
    assert status == 400 and "no replica of that group" in str(answer)
    for row in (
        {"Time": 1, "Item": "AAAA"},
        {"Time": 1, "Region": 1, "Item": "AAAA", "Deleted": "AAAA"},
        {"Time": 0, "Region": 1, "Item": "AAAA"},
        {"Region": 1, "Item": "AAAA"},
    ):
        assert rows(two, [row])[0] == 400
    for name in ("Number", "Epoch"):  # The receiver counts on from them.
        status, answer = rows(two, [], **{name: 2**53 + 1})
        assert status == 400 and "less than or equal to 9007199254740992" in str(answer)
    assert value_of(two.items(AWAY)) == {"k": "a"}


def sent(two, operation):
    """What this region has sent to the other one."""
    return [json.loads(body) for name, body in list(two.links[HOME, AWAY].seen)
            if name == operation]  # fmt: skip


def damaged(text):
    data = bytearray(base64.b64decode(text))
    data[-1] ^= 1
    return base64.b64encode(data).decode()


def test_rows_that_a_member_cannot_have_sent_are_refused(two):
    two.add_replica(HOME, AWAY)
    put(two, HOME, "k", "a")
    two.wait_until_equal()
    real = [body for body in sent(two, "WriteDataForReplication") if body["Rows"]][-1]
    row = real["Rows"][0]
    two.cut(HOME, AWAY)  # Nothing else is sent in the session.
    later = {"Time": row["Time"] + 1, "Region": row["Region"]}
    for number, forged in enumerate(
        (
            {**later, "Item": damaged(row["Item"])},
            {**later, "Item": row["Item"][: len(row["Item"]) // 8 * 4]},
            {**later, "Deleted": "AAAA"},
            {**later, "Deleted": base64.b64encode(b"12345678k").decode()},
            {"Deleted": row["Item"]},
        )
    ):
        more = {**real, "Number": real["Number"] + 1000 + number, "Rows": [forged]}
        status, answer = rows(two, [], **more)
        assert status == 400 and "does not fit the table" in str(answer), (forged, answer)
    assert value_of(two.items(AWAY)) == {"k": "a"}


def test_rows_for_another_region_are_refused(two):
    two.add_replica(HOME, AWAY)
    put(two, HOME, "k", "a")
    two.wait_until_equal()
    for operation in ("WriteDataForReplication", "ReplicateSettings"):
        body = sent(two, operation)[-1]
        assert body["ToRegion"] == AWAY
        connection = Connection(two.servers[AWAY].port)  # It signs for that region.
        try:
            status, answer = connection.call(operation, {**body, "ToRegion": "ap-east-1"})
        finally:
            connection.close()
        assert status == 400
        assert f"the server of the region {AWAY}, not of ap-east-1" in str(answer)


def remove_replica(regions, region, other):
    regions.clients[region].update_table(
        TableName="Tab", ReplicaUpdates=[{"Delete": {"RegionName": other}}]
    )


def wait_until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def tables(regions, region):
    return regions.clients[region].list_tables()["TableNames"]


def statuses(regions, region):
    table = regions.clients[region].describe_table(TableName="Tab")["Table"]
    return {each["RegionName"]: each["ReplicaStatus"] for each in table.get("Replicas", [])}


def test_a_replica_that_is_updating_is_deleted_afterwards(tmp_path):
    with Regions(tmp_path, [HOME, AWAY], flags=["--transition-delay-ms", "1500"]) as regions:
        create_table(regions.clients[HOME])
        regions.wait_until_active(HOME)
        regions.add_replica(HOME, AWAY)
        wait_until(lambda: statuses(regions, HOME).get(AWAY) == "ACTIVE")
        answer = regions.clients[AWAY].update_table(
            TableName="Tab", TableClass="STANDARD_INFREQUENT_ACCESS"
        )
        assert answer["TableDescription"]["TableStatus"] == "UPDATING"
        with pytest.raises(ClientError, match="is in use"):
            remove_replica(regions, HOME, AWAY)
        assert tables(regions, AWAY) == ["Tab"]
        regions.wait_until_active(AWAY)
        remove_replica(regions, HOME, AWAY)
        wait_until(lambda: not tables(regions, AWAY))
        wait_until(lambda: not statuses(regions, HOME))


def test_a_replica_that_does_not_know_yet_that_it_is_filled_is_deleted(two):
    calls = []

    def lose_the_activation(operation):
        calls.append(operation)
        return "drop" if calls.count("ReplicateSettings") > 2 else None

    two.links[HOME, AWAY].script = lose_the_activation
    two.add_replica(HOME, AWAY, wait=False)
    wait_until(lambda: statuses(two, HOME).get(AWAY) == "ACTIVE")
    assert two.clients[AWAY].describe_table(TableName="Tab")["Table"]["TableStatus"] == "CREATING"
    two.links[HOME, AWAY].script = None
    remove_replica(two, HOME, AWAY)
    wait_until(lambda: not tables(two, AWAY))
    assert_whole(two)


def test_a_region_that_is_lost_for_good_is_taken_out_by_a_second_delete(tmp_path):
    with Regions(tmp_path, [HOME, AWAY, THIRD]) as regions:
        create_table(regions.clients[HOME])
        regions.add_replica(HOME, AWAY)
        wait_until(lambda: statuses(regions, HOME) == {AWAY: "ACTIVE"})
        regions.add_replica(HOME, THIRD)
        wait_until(lambda: statuses(regions, HOME) == {AWAY: "ACTIVE", THIRD: "ACTIVE"})
        regions.kill(AWAY)
        put(regions, HOME, "k", "a")
        remove_replica(regions, HOME, AWAY)
        assert statuses(regions, HOME) == {AWAY: "DELETING", THIRD: "ACTIVE"}
        with pytest.raises(ClientError, match="is in use"):
            remove_replica(regions, HOME, THIRD)
        with pytest.raises(ClientError, match="is in use"):
            regions.clients[HOME].delete_table(TableName="Tab")
        remove_replica(regions, HOME, AWAY)
        assert statuses(regions, HOME) == {THIRD: "ACTIVE"}
        wait_until(lambda: statuses(regions, THIRD) == {HOME: "ACTIVE"})
        put(regions, THIRD, "l", "b")
        wait_for(regions, HOME, {"k": "a", "l": "b"})
        regions.kill(THIRD)
        remove_replica(regions, HOME, THIRD)
        regions.clients[HOME].delete_table(TableName="Tab")
        assert tables(regions, HOME) == []


def test_a_second_delete_forgets_no_region_that_answers(two):
    two.add_replica(HOME, AWAY)
    wait_until(lambda: statuses(two, HOME) == {AWAY: "ACTIVE"})
    two.links[HOME, AWAY].is_cut = True
    remove_replica(two, HOME, AWAY)
    assert statuses(two, HOME) == {AWAY: "DELETING"}
    two.links[HOME, AWAY].is_cut = False
    wait_until(lambda: not statuses(two, HOME))
    assert tables(two, AWAY) == []


def test_a_replica_whose_making_was_not_confirmed_goes_and_may_be_made_again(two):
    two.links[HOME, AWAY].script = lambda operation: "cut"
    with pytest.raises(ClientError):
        two.add_replica(HOME, AWAY)
    two.links[HOME, AWAY].script = None
    wait_until(lambda: not tables(two, AWAY))
    put(two, HOME, "k", "a")
    two.add_replica(HOME, AWAY)
    wait_for(two, AWAY, {"k": "a"})
    assert_whole(two)


def fill(regions, region, count):
    for number in range(0, count, 25):
        requests = [
            {"PutRequest": {"Item": {"p": {"S": f"{number + each}"}, "v": {"S": "a"}}}}
            for each in range(25)
        ]
        regions.clients[region].batch_write_item(RequestItems={"Tab": requests})


def lose_store(regions, region):
    """The region's disk is gone, and its server starts on an empty one."""
    regions.kill(region)
    folder = regions.folder / region
    folder.rename(folder.with_name(f"{region}-lost"))
    regions.start(region)


def test_a_replica_whose_store_is_lost_while_it_is_made_is_not_taken_for_a_whole_one(two):
    count = 1000
    fill(two, HOME, count)
    pages = []

    def let_one_page_pass(operation):
        if operation != "WriteDataForReplication":
            return None
        pages.append(operation)
        return "drop" if len(pages) > 2 else None  # The first one only gives out a session.

    two.links[HOME, AWAY].script = let_one_page_pass
    two.add_replica(HOME, AWAY, wait=False)
    wait_until(lambda: len(pages) > 2)
    lose_store(two, AWAY)
    two.links[HOME, AWAY].script = None
    wait_until(lambda: not statuses(two, HOME) or statuses(two, HOME)[AWAY] == "ACTIVE")
    assert statuses(two, HOME) == {} and tables(two, AWAY) == []
    time.sleep(1.5)
    two.add_replica(HOME, AWAY)
    assert len(two.wait_until_equal()) == count
    assert_whole(two)


def begin_a_replica_that_nothing_reaches(regions, region):
    regions.links[HOME, region].script = lambda operation: (
        "drop" if operation == "WriteDataForReplication" else None
    )
    regions.add_replica(HOME, region, wait=False)


def once_the_source_is_missed(action):
    """The way out opens when the region has noticed that the source does not answer."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return action()
        except ClientError as error:
            assert "in use" in str(error) and time.monotonic() < deadline, error
            time.sleep(0.1)


def test_a_replica_whose_source_is_lost_while_it_is_made_is_deleted_by_another_region(tmp_path):
    with Regions(tmp_path, [HOME, AWAY, THIRD]) as regions:
        create_table(regions.clients[HOME])
        put(regions, HOME, "k", "a")
        regions.add_replica(HOME, AWAY)
        wait_until(lambda: statuses(regions, HOME) == {AWAY: "ACTIVE"})
        begin_a_replica_that_nothing_reaches(regions, THIRD)
        wait_until(lambda: statuses(regions, AWAY) == {HOME: "ACTIVE", THIRD: "CREATING"})
        time.sleep(1)  # The source is called, and answers.
        with pytest.raises(ClientError, match="is in use"):
            remove_replica(regions, AWAY, THIRD)
        regions.kill(HOME)
        once_the_source_is_missed(lambda: remove_replica(regions, AWAY, THIRD))
        wait_until(lambda: not tables(regions, THIRD))
        wait_until(lambda: statuses(regions, AWAY) == {HOME: "ACTIVE"})
        put(regions, AWAY, "l", "b")
        regions.links[HOME, THIRD].script = None
        regions.start(HOME)  # It was not lost after all.
        wait_until(lambda: statuses(regions, HOME) == {AWAY: "ACTIVE"})
        wait_for(regions, HOME, {"k": "a", "l": "b"})
        assert tables(regions, THIRD) == []
        assert_whole(regions)


def test_a_replica_whose_source_is_lost_while_it_is_made_is_deleted_in_its_region(two):
    put(two, HOME, "k", "a")
    begin_a_replica_that_nothing_reaches(two, AWAY)
    time.sleep(1)
    with pytest.raises(ClientError, match="is being used"):
        two.clients[AWAY].delete_table(TableName="Tab")
    two.kill(HOME)
    once_the_source_is_missed(lambda: two.clients[AWAY].delete_table(TableName="Tab"))
    wait_until(lambda: not tables(two, AWAY))
    two.links[HOME, AWAY].script = None
    two.start(HOME)
    wait_until(lambda: statuses(two, HOME) == {})
    assert tables(two, AWAY) == []
    time.sleep(1.5)
    two.add_replica(HOME, AWAY)
    wait_for(two, AWAY, {"k": "a"})
    assert_whole(two)


def restore(regions, region, backup):
    """In place of the region's store."""
    regions.kill(region)
    folder = regions.folder / region
    folder.rename(folder.with_name(f"{region}-before"))
    command = [binary(), "restore", str(backup), "--data-dir", str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    regions.start(region)


def test_a_region_that_was_restored_from_an_older_backup_leaves_and_may_come_back(tmp_path):
    with Regions(tmp_path, [HOME, AWAY, THIRD]) as regions:
        create_table(regions.clients[HOME])
        regions.add_replica(HOME, AWAY)
        wait_until(lambda: statuses(regions, HOME) == {AWAY: "ACTIVE"})
        regions.add_replica(HOME, THIRD)
        put(regions, HOME, "old", "a")
        put(regions, HOME, "deleted", "a")
        regions.wait_until_equal()
        backup = tmp_path / "backup"
        command = [binary(), "backup", str(backup), "--data-dir", str(tmp_path / HOME)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        regions.cut(HOME, THIRD)
        put(regions, HOME, "new", "b")  # It reaches one of the others only.
        delete(regions, HOME, "deleted")
        wait_for(regions, AWAY, {"old": "a", "new": "b"})
        restore(regions, HOME, backup)
        regions.cut(HOME, THIRD, False)
        wait_until(lambda: statuses(regions, HOME) == {})
        wait_until(lambda: statuses(regions, AWAY) == {THIRD: "ACTIVE"})
        wait_until(lambda: statuses(regions, THIRD) == {AWAY: "ACTIVE"})
        wait_for(regions, THIRD, {"old": "a", "new": "b"})
        assert value_of(regions.items(HOME)) == {"old": "a", "deleted": "a"}
        assert not (tmp_path / HOME / "RESTORED").exists()
        regions.clients[HOME].delete_table(TableName="Tab")
        wait_until(lambda: not tables(regions, HOME))
        regions.add_replica(AWAY, HOME)
        wait_for(regions, HOME, {"old": "a", "new": "b"})
        assert_whole(regions)


def test_a_server_that_may_lose_writes_has_no_replicas(tmp_path):
    with Regions(tmp_path, [HOME, AWAY]) as regions:
        create_table(regions.clients[HOME])
        regions.flags = ["--durability", "os"]
        regions.kill(AWAY)
        regions.start(AWAY)
        with pytest.raises(ClientError, match='region us-east-1 has the setting durability "os"'):
            regions.add_replica(HOME, AWAY)
        create_table(regions.clients[AWAY], "Own")
        with pytest.raises(ClientError, match='this server has the setting durability "os"'):
            regions.add_replica(AWAY, HOME, "Own")
        regions.flags = []
        regions.kill(AWAY)
        regions.start(AWAY)
        regions.add_replica(HOME, AWAY)
        regions.flags = ["--durability", "os"]
        regions.kill(AWAY)
        regions.start(AWAY)
        put(regions, HOME, "k", "a")
        regions.servers[HOME].wait_for_log('has the setting durability "os"')
        assert regions.items(AWAY) == []
        regions.flags = []
        regions.kill(AWAY)
        regions.start(AWAY)
        wait_for(regions, AWAY, {"k": "a"})


def update_away(regions, **members):
    """UpdateTable in AWAY, for whose region Connection signs. boto3 may be older than the members."""
    connection = Connection(regions.servers[AWAY].port)
    try:
        return connection.call("UpdateTable", {"TableName": "Tab", **members})
    finally:
        connection.close()


def disassociate_away(regions):
    action = {"RegionName": AWAY, "DisassociationMode": "WAIT_FOR_REPLICATION"}
    return update_away(regions, ReplicaUpdates=[{"Disassociate": action}])


def test_a_region_that_is_disassociated_has_what_was_written_before_and_keeps_its_table(tmp_path):
    with Regions(tmp_path, [HOME, AWAY, THIRD]) as regions:
        create_table(regions.clients[HOME])
        regions.add_replica(HOME, AWAY)
        wait_until(lambda: statuses(regions, HOME) == {AWAY: "ACTIVE"})
        regions.add_replica(HOME, THIRD)
        wait_until(lambda: set(statuses(regions, AWAY).values()) == {"ACTIVE"})
        wait_until(lambda: len(statuses(regions, AWAY)) == 2)
        status, answer = disassociate_away(regions)
        assert status == 400 and "disassociation protection enabled" in answer["message"]
        both = {"DisassociationProtectionEnabled": False, "TableClass": "STANDARD"}
        assert "only parameter" in update_away(regions, **both)[1]["message"]
        assert update_away(regions, DisassociationProtectionEnabled=False)[0] == 200
        regions.cut(HOME, AWAY)
        put(regions, AWAY, "from away", "a")
        put(regions, HOME, "from home", "b")
        status, answer = disassociate_away(regions)
        assert status == 200, answer
        time.sleep(2)  # It waits for what it lacks and for what the other one lacks.
        assert len(statuses(regions, AWAY)) == 2
        regions.cut(HOME, AWAY, False)
        wait_until(lambda: statuses(regions, AWAY) == {})
        everything = {"from away": "a", "from home": "b"}
        assert value_of(regions.items(AWAY)) == everything
        wait_until(lambda: statuses(regions, HOME) == {THIRD: "ACTIVE"})
        wait_until(lambda: statuses(regions, THIRD) == {HOME: "ACTIVE"})
        put(regions, AWAY, "own", "c")
        put(regions, HOME, "others", "d")
        wait_for(regions, THIRD, {**everything, "others": "d"})
        assert value_of(regions.items(AWAY)) == {**everything, "own": "c"}
        assert_whole(regions)


def test_a_region_leaves_at_once_when_it_is_asked_again_while_another_is_lost(two):
    two.add_replica(HOME, AWAY)
    wait_until(lambda: statuses(two, AWAY) == {HOME: "ACTIVE"})
    assert update_away(two, DisassociationProtectionEnabled=False)[0] == 200
    put(two, AWAY, "k", "a")
    two.wait_until_equal()
    two.kill(HOME)
    put(two, AWAY, "late", "b")
    two.servers[AWAY].wait_for_log("trying again")
    assert disassociate_away(two)[0] == 200
    assert disassociate_away(two)[0] == 200
    wait_until(lambda: statuses(two, AWAY) == {})
    put(two, AWAY, "k", "c")
    two.start(HOME)
    wait_until(lambda: statuses(two, HOME) == {})
    assert value_of(two.items(HOME)) == {"k": "a"}
    assert value_of(two.items(AWAY)) == {"k": "c", "late": "b"}
    assert_whole(two)


def test_a_table_with_a_long_queue_holds_up_no_other_table(two):
    rows_of_a_turn = 16 * 256  # As replica/replicas.h has it.
    create_table(two.clients[HOME], "Uab")
    two.add_replica(HOME, AWAY)
    two.add_replica(HOME, AWAY, "Uab")
    wait_until(lambda: statuses(two, HOME) == {AWAY: "ACTIVE"})
    two.cut(HOME, AWAY)
    count = rows_of_a_turn * 3 // 2
    for number in range(0, count, 25):
        requests = [
            {"PutRequest": {"Item": {"p": {"S": f"{number + each}"}}}} for each in range(25)
        ]
        two.clients[HOME].batch_write_item(RequestItems={"Tab": requests})
    two.clients[HOME].put_item(TableName="Uab", Item={"p": {"S": "k"}})
    two.links[HOME, AWAY].script = lambda _: time.sleep(0.1)
    two.cut(HOME, AWAY, False)
    wait_for_item(two, AWAY, "k", "Uab")
    assert len(two.items(AWAY)) < count
    two.links[HOME, AWAY].script = None
    assert len(two.wait_until_equal()) >= count
    assert_whole(two)


def make_zombie(regions):
    """THIRD is taken out while it is down, and starts again without a way to learn of it."""
    create_table(regions.clients[HOME])
    for region in (AWAY, THIRD):
        regions.add_replica(HOME, region)
        wait_until(lambda r=region: statuses(regions, HOME).get(r) == "ACTIVE")
    put(regions, HOME, "deleted", "a")
    regions.wait_until_equal()
    regions.kill(THIRD)
    remove_replica(regions, HOME, THIRD)
    remove_replica(regions, HOME, THIRD)
    wait_until(lambda: statuses(regions, AWAY) == {HOME: "ACTIVE"})
    delete(regions, HOME, "deleted")
    put(regions, HOME, "kept", "b")
    for region in (HOME, AWAY):
        regions.cut(region, THIRD)
    regions.start(THIRD)
    assert statuses(regions, THIRD) == {HOME: "ACTIVE", AWAY: "ACTIVE"}


@pytest.mark.parametrize("changes", [0, 5])
def test_a_region_that_was_taken_out_and_comes_back_is_regional(tmp_path, changes):
    """Even if its epoch has grown meanwhile beyond that of the others."""
    with Regions(tmp_path, [HOME, AWAY, THIRD]) as regions:
        make_zombie(regions)
        for number in range(changes):
            names = ["STANDARD_INFREQUENT_ACCESS", "STANDARD"]
            regions.clients[THIRD].update_table(TableName="Tab", TableClass=names[number % 2])
            regions.wait_until_active(THIRD)
        for region in (HOME, AWAY):
            regions.cut(region, THIRD, False)
        if changes:
            regions.servers[THIRD].wait_for_log("is no member of the global table")
            for number in range(changes + 2):  # The others catch up.
                names = ["STANDARD_INFREQUENT_ACCESS", "STANDARD"]
                regions.clients[HOME].update_table(TableName="Tab", TableClass=names[number % 2])
                regions.wait_until_active(HOME)
        wait_until(lambda: statuses(regions, THIRD) == {})
        assert statuses(regions, HOME) == {AWAY: "ACTIVE"}
        assert statuses(regions, AWAY) == {HOME: "ACTIVE"}
        assert value_of(regions.items(THIRD)) == {"deleted": "a"}
        assert value_of(regions.items(HOME)) == value_of(regions.items(AWAY)) == {"kept": "b"}
        assert_whole(regions)


def test_an_old_replica_is_a_table_that_exists(tmp_path):
    """What was deleted elsewhere since must not come back with it."""
    with Regions(tmp_path, [HOME, AWAY, THIRD]) as regions:
        make_zombie(regions)
        regions.links[HOME, THIRD].is_cut = False
        with pytest.raises(ClientError, match="already existed as tables"):
            regions.add_replica(HOME, THIRD)
        regions.links[THIRD, HOME].is_cut = False
        wait_until(lambda: statuses(regions, THIRD) == {})
        regions.clients[THIRD].delete_table(TableName="Tab")
        wait_until(lambda: not tables(regions, THIRD))
        regions.add_replica(HOME, THIRD)
        wait_for(regions, THIRD, {"kept": "b"})
