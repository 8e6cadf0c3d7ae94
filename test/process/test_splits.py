"""Partitions that split under load: no request fails, the stream has every change once and in order
whatever shard it is in, a trigger delivers changes of a key in order, and a kill in the middle of
it changes nothing of that."""

import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import stator_process  # noqa: E402
import stream_replay  # noqa: E402
from function_target import FunctionTarget  # noqa: E402
from stator_process import Connection, StatorProcess  # noqa: E402

FLAGS = ("--partition-writes-max", "1", "--partition-heat-ms", "300")
WRITERS, KEYS = 3, 12  # Each writer has keys of its own.
LIMIT_S = 120


def call(connection, operation, body):
    status, answer = connection.call(operation, body)
    assert status == 200, answer
    return answer


class Writer(threading.Thread):
    """Puts its keys with the numbers 1, 2, 3... `acknowledged` and what was sent last tell which
    changes must be in the stream, and which may."""

    def __init__(self, port, index):
        super().__init__()
        self.port = port
        self.keys = [f"key-{index}-{key}" for key in range(KEYS)]
        self.sent = dict.fromkeys(self.keys, 0)
        self.acknowledged = dict.fromkeys(self.keys, 0)
        self.failures = []
        self.stopping = threading.Event()
        self.dies = False  # The server is killed: the request under way fails.

    def put_all(self, connection):
        for key in self.keys:
            number = self.sent[key] = self.sent[key] + 1
            item = {"pk": {"S": key}, "n": {"N": str(number)}}
            status, answer = connection.call("PutItem", {"TableName": "Split", "Item": item})
            if status != 200:
                self.failures.append(answer)
                return
            self.acknowledged[key] = number

    def run(self):
        connection = Connection(self.port)
        try:
            while not self.stopping.is_set() and not self.failures:
                self.put_all(connection)
        except OSError as error:
            if not self.dies:
                self.failures.append(error)


def stream_of(connection):
    return call(connection, "DescribeTable", {"TableName": "Split"})["Table"]["LatestStreamArn"]


def wait_for_splits(connection, count):
    deadline = time.monotonic() + LIMIT_S
    while True:
        shards = stream_replay.shards(connection, stream_of(connection))
        parents = [shard.get("ParentShardId") for shard in shards]
        if sum(parents.count(parent) == 2 for parent in set(parents) - {None}) >= count:
            return
        assert time.monotonic() < deadline, shards
        time.sleep(0.05)


def children_of(connection, parent):
    shard_filter = {"Type": "CHILD_SHARDS", "ShardId": parent}
    request = {"StreamArn": stream_of(connection), "ShardFilter": shard_filter}
    shards = call(connection, "DescribeStream", request)["StreamDescription"]["Shards"]
    return [shard["ShardId"] for shard in shards]


def assert_children_are_found(connection):
    """Of every shard, at a time when none splits."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        shards = stream_replay.shards(connection, stream_of(connection))
        found = {shard["ShardId"]: children_of(connection, shard["ShardId"]) for shard in shards}
        if stream_replay.shards(connection, stream_of(connection)) == shards:
            break
        assert time.monotonic() < deadline
    wanted = {shard["ShardId"]: [] for shard in shards}
    for shard in shards:
        if "ParentShardId" in shard:
            wanted[shard["ParentShardId"]].append(shard["ShardId"])
    assert found == wanted


def numbers_of(connection):
    """The numbers of each key in the order of the stream, a parent before its children."""
    found = {}
    for record in stream_replay.all_records(connection, stream_of(connection)):
        image = record["dynamodb"]["NewImage"]
        found.setdefault(image["pk"]["S"], []).append(int(image["n"]["N"]))
    return found


def assert_complete(connection, writers):
    found = numbers_of(connection)
    for writer in writers:
        assert not writer.failures
        for key in writer.keys:
            numbers = found.get(key, [])
            # A put whose answer was lost is there or not; the next one has another number.
            lost = writer.sent[key] - writer.acknowledged[key]
            assert numbers == sorted(set(numbers)), f"{key}: {numbers}"
            assert numbers[: writer.acknowledged[key]] == list(
                range(1, writer.acknowledged[key] + 1)
            )
            assert len(numbers) <= writer.acknowledged[key] + lost


def start_writers(port):
    writers = [Writer(port, index) for index in range(WRITERS)]
    for writer in writers:
        writer.start()
    return writers


def stop_writers(writers):
    for writer in writers:
        writer.stopping.set()
    for writer in writers:
        writer.join()


def assert_delivered_in_order(target, found):
    """Each key's records, in order; a repeated one does not count."""
    newest, numbers = {}, {}
    for record in target.delivered():
        image = record["dynamodb"]["NewImage"]
        key, number = image["pk"]["S"], int(image["n"]["N"])
        if number > newest.get(key, 0):
            newest[key] = number
            numbers.setdefault(key, []).append(number)
    assert numbers == found


def assert_clean(directory):
    result = stator_process.check(directory)
    assert result.returncode == 0, result.stdout + result.stderr


def test_partitions_split_under_load_and_nobody_notices(tmp_path):
    data = tmp_path / "data"
    with FunctionTarget() as target:
        with StatorProcess("--data-dir", str(data), *FLAGS) as server:
            connection = Connection(server.port)
            stator_process.create_table(connection, "Split", stream="NEW_AND_OLD_IMAGES")
            request = {"TableName": "Split", "Url": target.url, "StartingPosition": "TRIM_HORIZON"}
            call(connection, "AddTrigger", request)
            writers = start_writers(server.port)
            wait_for_splits(connection, 5)
            stop_writers(writers)
            assert_complete(connection, writers)
            assert_children_are_found(connection)
            found = numbers_of(connection)
            deadline = time.monotonic() + LIMIT_S
            count = sum(len(numbers) for numbers in found.values())
            while len(target.delivered()) < count:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert_delivered_in_order(target, found)
            connection.close()
            server.stop()
    assert_clean(data)


def test_a_kill_among_splits_loses_nothing(tmp_path):
    data = tmp_path / "data"
    with StatorProcess("--data-dir", str(data), *FLAGS) as server:
        connection = Connection(server.port)
        stator_process.create_table(connection, "Split", stream="NEW_AND_OLD_IMAGES")
        writers = start_writers(server.port)
        wait_for_splits(connection, 2)
        for writer in writers:
            writer.dies = True
        server.kill()
        stop_writers(writers)
    assert_clean(data)
    with StatorProcess("--data-dir", str(data), *FLAGS) as server:
        connection = Connection(server.port)
        assert_complete(connection, writers)
        more = start_writers(server.port)
        for writer, before in zip(more, writers):
            assert writer.keys == before.keys
        stop_writers(more)
        connection.close()
        server.stop()
    assert_clean(data)
