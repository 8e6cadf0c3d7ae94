"""Three attacks on a server, with honest clients beside them: each of those is answered, and right;
memory stays within its bound and comes back. How long honest clients wait is bench/attacks.py's."""

import collections
import contextlib
import json
import time

import attack
import pytest
import stator_process
from fast_client import FastClient, ServerGone

TABLE = "honest"
HONEST_REQUESTS = 300
NEWCOMERS = 1000
RETRIES_MAX = 50
# What SDKs take for a reason to try again. On a machine that is too busy to let an honest client
# send, that one is dropped like the others.
TRY_AGAIN = (408, 503)
MEMORY_MAX_MB = 128
# Beside the memory of requests: the program, its caches, and what the largest request takes while it
# is read (eight times its size); the sanitizers' share is not ours to judge.
OTHER_MB = 300
SETTLED_MB = 150
WAIT_S = 60


def resident_mb(pid, field="VmRSS"):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines[field].split()[0]) / 1024


@pytest.fixture
def server(tmp_path):
    flags = ["--in-memory", "--request-memory-max", f"{MEMORY_MAX_MB}M"]
    # Not the build with sanitizers, whose memory says nothing about ours.
    program = stator_process.binary("STATOR_RELEASE_BINARY", "build/stator", "build/release/stator")
    with stator_process.StatorProcess(*flags, program=program) as started:
        client = FastClient(started.port)
        stator_process.create_table(client, TABLE)
        attack.create_pages(client)
        client.close()
        yield started
        started.stop()


def call(client, port, operation, body):
    """(client, answer): tries again where there was no room, as SDKs do."""
    for _ in range(RETRIES_MAX):
        with contextlib.suppress(ServerGone):
            status, answer = client.call(operation, body)
            if status not in TRY_AGAIN:
                assert status == 200, answer
                return client, answer
        client.close()
        time.sleep(0.05)
        client = FastClient(port)
    raise AssertionError(f"{operation} found no room")


def be_honest(port):
    """Writes and reads back, small items and one that is large."""
    client = FastClient(port)
    for number in range(HONEST_REQUESTS):
        size = 300_000 if number % 100 == 50 else 100
        item = {"pk": {"S": f"k{number}"}, "v": {"S": "v" * size + str(number)}}
        client, _ = call(client, port, "PutItem", {"TableName": TABLE, "Item": item})
        key = {"TableName": TABLE, "Key": {"pk": item["pk"]}, "ConsistentRead": True}
        client, answer = call(client, port, "GetItem", key)
        assert answer == {"Item": item}
    client.close()


def check_memory(server):
    peak = resident_mb(server.pid, "VmHWM")
    assert peak < MEMORY_MAX_MB + OTHER_MB, f"took {peak:.0f} MB"
    deadline = time.monotonic() + WAIT_S
    while (now := resident_mb(server.pid)) > SETTLED_MB:
        assert time.monotonic() < deadline, f"kept {now:.0f} MB"
        time.sleep(0.1)


def stand(server, kind, count, path=None):
    with attack.Attack(kind, server.port, count, path) as under_way:
        be_honest(server.port)
    check_memory(server)
    be_honest(server.port)
    return under_way.counts


def test_slow_heads(server):
    stand(server, "slow", attack.SLOW_COUNT)


def test_answers_that_nobody_reads(server, tmp_path):
    stand(server, "unread", attack.UNREAD_COUNT, attack.write_scan(tmp_path / "scan.http"))


def test_bodies_of_16_mb(server, tmp_path):
    counts = stand(server, "bodies", attack.BODIES_COUNT, attack.write_body(tmp_path / "body.http"))
    # Some were read and found wanting, the others were told to come back.
    assert set(counts) <= {"400", "408", "503", "connections lost"}, counts


def test_many_that_have_just_come_are_no_attack(server):
    """Reads of many items wait for their turn on a loop, however many there are: nobody is refused
    because many come at once."""
    clients = [FastClient(server.port) for _ in range(NEWCOMERS)]
    query = {
        "TableName": TABLE,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "nobody"}},
    }
    for client in clients:
        client.send("Query", query)
    statuses = collections.Counter(client.receive()[0] for client in clients)
    assert statuses == {200: NEWCOMERS}
    for client in clients:
        client.close()


def test_a_large_request_is_answered_like_any_other(server):
    """It runs in the slow pool: what it stores and what it is refused for are the same."""
    client = FastClient(server.port)
    items = [{"pk": {"S": f"b{n}"}, "v": {"S": "x" * 390_000}} for n in range(25)]
    requests = [{"PutRequest": {"Item": item}} for item in items]
    assert len(json.dumps(requests)) > 9_000_000
    status, answer = client.call("BatchWriteItem", {"RequestItems": {TABLE: requests}})
    assert (status, answer) == (200, {"UnprocessedItems": {}})
    for item in items:
        key = {"TableName": TABLE, "Key": {"pk": item["pk"]}, "ConsistentRead": True}
        assert client.call("GetItem", key) == (200, {"Item": item})
    item = {"pk": {"S": "large"}, "v": {"S": "x" * 2_000_000}}
    status, answer = client.call("PutItem", {"TableName": TABLE, "Item": item})
    assert (status, answer["message"]) == (400, "Item size has exceeded the maximum allowed size")
    client.close()
