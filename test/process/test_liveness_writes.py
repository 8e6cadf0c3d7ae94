"""Writes that take long never hold up others. While they run, honest clients (lib/honest.py) read and
write another table and create tables, on a kept connection and on fresh ones: every request is
answered, none is refused, and none waits for longer than honest.WORST_MS."""

import contextlib
import json
import threading
import time

import attack
import pytest
import stator_process
from fast_client import FastClient, ServerGone
from honest import TABLE, WORST_MS, Honest, in_time, reads, release_binary

WIDE = "wide"
# A group of updates of wide items keeps its loop busy for so long at most, and cannot be cut.
WIDE_DECISION_MS = 50
WIDE_ITEMS = 50
WIDE_ATTRIBUTES = 70_000
INDEXES = 20
UPDATERS, UPDATES = 40, 2
CALL_TIMEOUT_S = 120

TURNS_CLIENTS, TURNS_S = 30, 4

# RocksDB has two of these, and flushes one in three seconds.
WRITE_BUFFER = "1M"
FLUSH_MS = 3000
STALL_S = 8
STALL_WRITERS = 8
STALL_ITEM_SIZE = 50_000
STOP_FLUSH_MS = 20_000  # Longer than a server has to stop.
STOP_WRITERS = 60


# --- Items that take long to write ---


def wide_item(number):
    """As many attributes as fit, of the smallest size."""
    item = {f"{n:x}": {"NULL": True} for n in range(WIDE_ATTRIBUTES)}
    item["pk"] = {"S": f"w{number}"}
    item["count"] = {"N": "0"}
    item.update({f"g{n}": {"S": f"{number}"} for n in range(INDEXES)})
    return item


def create_wide_table(client):
    request = {
        "TableName": WIDE,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"}
            for name in ["pk", *(f"g{n}" for n in range(INDEXES))]
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": f"by-{n}",
                "KeySchema": [{"AttributeName": f"g{n}", "KeyType": "HASH"}],
                "Projection": {
                    "ProjectionType": "INCLUDE",
                    "NonKeyAttributes": [f"{n * 1000 + m:x}" for m in range(4)] + ["count"],
                },
            }
            for n in range(INDEXES)
        ],
    }
    status, answer = client.call("CreateTable", request)
    assert status == 200, answer
    for number in range(WIDE_ITEMS):
        status, answer = client.call("PutItem", {"TableName": WIDE, "Item": wide_item(number)})
        assert status == 200, answer


@pytest.fixture(scope="module")
def server():
    with stator_process.StatorProcess("--in-memory", program=release_binary()) as started:
        client = FastClient(started.port, CALL_TIMEOUT_S)
        stator_process.create_table(client, TABLE)
        create_wide_table(client)
        client.close()
        yield started
        started.stop()


def update(number):
    return {
        "TableName": WIDE,
        "Key": {"pk": {"S": f"w{number}"}},
        "UpdateExpression": "SET #c = #c + :one",
        "ExpressionAttributeNames": {"#c": "count"},
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }


def counts(port):
    client = FastClient(port, CALL_TIMEOUT_S)
    found = []
    for number in range(WIDE_ITEMS):
        body = {
            "TableName": WIDE,
            "Key": {"pk": {"S": f"w{number}"}},
            "ConsistentRead": True,
            "ProjectionExpression": "#c",
            "ExpressionAttributeNames": {"#c": "count"},
        }
        _, answer = client.call("GetItem", body)
        found.append(int(answer["Item"]["count"]["N"]))
    client.close()
    return found


@in_time
def test_updates_of_wide_items_of_many_clients(server):
    """Of different items, without a transaction anywhere: none is refused."""
    before = counts(server.port)
    refusals = []

    def send(number):
        client = FastClient(server.port, CALL_TIMEOUT_S)
        for _ in range(UPDATES):
            status, answer = client.call("UpdateItem", update(number))
            if status != 200:
                refusals.append(answer)
        client.close()

    clients = [threading.Thread(target=send, args=(n,)) for n in range(UPDATERS)]
    with Honest(server) as honest:
        for client in clients:
            client.start()
        for client in clients:
            client.join()
    assert not refusals
    after = counts(server.port)
    assert [b - a for a, b in zip(before, after)] == [UPDATES] * UPDATERS + [0] * (
        WIDE_ITEMS - UPDATERS
    )
    honest.check(f"{UPDATERS} clients with wide updates", WORST_MS + WIDE_DECISION_MS)


@in_time
def test_a_transaction_of_wide_items(server):
    """It is decided at once, or not at all, and nobody else waits for it."""
    before = counts(server.port)
    client = FastClient(server.port, CALL_TIMEOUT_S)
    actions = [{"Update": update(number)} for number in range(WIDE_ITEMS)]
    with Honest(server) as honest:
        start = time.monotonic()
        for _ in range(2):
            status, answer = client.call("TransactWriteItems", {"TransactItems": actions})
            assert status == 200, json.dumps(answer)[:1000]
        took = time.monotonic() - start
    client.close()
    assert [b - a for a, b in zip(before, counts(server.port))] == [2] * WIDE_ITEMS
    honest.check(f"transactions that took {took:.1f} s")


def refused_transaction():
    """Every update is carried out, and only then the condition of the last one is false."""
    actions = [{"Update": update(number)} for number in range(WIDE_ITEMS)]
    actions[-1]["Update"]["ConditionExpression"] = "attribute_exists(nothing)"
    return {"TransactItems": actions}


def light_transaction():
    actions = [{"Put": {"TableName": TABLE, "Item": {"pk": {"S": f"light{n}"}}}} for n in range(2)]
    return {"TransactItems": actions}


@in_time
def test_light_and_heavy_transactions_in_turns(server, tmp_path):
    """What the last transaction of a connection was like says nothing about the next one."""
    before = counts(server.port)
    light, heavy = (
        attack.write_request(tmp_path / f"{name}.http", "TransactWriteItems", body)
        for name, body in (("light", light_transaction()), ("heavy", refused_transaction()))
    )
    with attack.Attack("turns", server.port, TURNS_CLIENTS, light, heavy) as under_way:
        with Honest(server) as honest:
            time.sleep(TURNS_S)
    assert set(under_way.counts) == {"200", "400"}, under_way.counts
    assert counts(server.port) == before
    honest.check(f"transactions in turns, attackers {under_way.counts}")


# --- A disk that cannot follow ---


def stalling(folder, flush_ms):
    flags = ["--data-dir", str(folder), "--write-buffer-size", WRITE_BUFFER]
    variables = {
        "LD_PRELOAD": stator_process.preload("slow_tables"),
        "SLOW_TABLES_MS": str(flush_ms),
    }
    return stator_process.StatorProcess(*flags, program=release_binary(), variables=variables)


@pytest.fixture
def stalling_server(tmp_path):
    with stalling(tmp_path / "data", FLUSH_MS) as started:
        client = FastClient(started.port, CALL_TIMEOUT_S)
        stator_process.create_table(client, TABLE)
        client.call("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "k1"}}})
        client.close()
        yield started


@in_time
def test_reads_while_rocksdb_stops_writers(stalling_server):
    """Writes wait until a buffer was flushed, and are then carried out. Reads do not notice."""
    end = time.monotonic() + STALL_S
    waits, refusals = [], []

    def send(number):
        client = FastClient(stalling_server.port, CALL_TIMEOUT_S)
        count = 0
        while time.monotonic() < end:
            count += 1
            item = {"pk": {"S": f"s{number}-{count}"}, "pad": {"S": "p" * STALL_ITEM_SIZE}}
            before = time.monotonic()
            status, answer = client.call("PutItem", {"TableName": TABLE, "Item": item})
            waits.append(time.monotonic() - before)
            if status != 200:
                refusals.append(answer)
        client.close()

    writers = [threading.Thread(target=send, args=(n,)) for n in range(STALL_WRITERS)]
    with Honest(stalling_server, reads) as honest:
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    assert not refusals
    assert max(waits) > FLUSH_MS / 1000 / 2, "RocksDB did not stop writers"
    honest.check(f"{len(waits)} writes, the slowest took {max(waits):.1f} s")


def test_a_server_that_is_stopped_while_rocksdb_stops_writers(tmp_path):
    """It ends within the time that it has, although writes cannot; and nothing that it has
    acknowledged is lost."""
    folder = tmp_path / "data"
    acknowledged = []

    def send(port, number):
        client = FastClient(port, CALL_TIMEOUT_S)
        key = {"pk": {"S": f"s{number}"}}
        item = {**key, "pad": {"S": "p" * STALL_ITEM_SIZE}}
        with contextlib.suppress(ServerGone):
            # Twice, so that the second write waits for the first one's latch.
            for _ in range(2):
                status, _ = client.call("PutItem", {"TableName": TABLE, "Item": item})
                if status == 200:
                    acknowledged.append(key)
        client.close()

    with stalling(folder, STOP_FLUSH_MS) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        client.close()
        writers = [
            threading.Thread(target=send, args=(server.port, n % STOP_WRITERS))
            for n in range(2 * STOP_WRITERS)
        ]
        for writer in writers:
            writer.start()
        time.sleep(1)
        start = time.monotonic()
        server.process.terminate()
        code = server.process.wait(STOP_FLUSH_MS / 1000)
        took = time.monotonic() - start
        for writer in writers:
            writer.join()
        assert code == 0, server.log()
    print(f"{len(acknowledged)} of {4 * STOP_WRITERS} writes acknowledged, stopped in {took:.1f} s")
    assert acknowledged and len(acknowledged) < 4 * STOP_WRITERS
    with stator_process.StatorProcess("--data-dir", str(folder)) as server:
        client = FastClient(server.port)
        for key in acknowledged:
            body = {"TableName": TABLE, "Key": key, "ConsistentRead": True}
            status, answer = client.call("GetItem", body)
            assert status == 200 and "Item" in answer, answer
        client.close()
        server.stop()
