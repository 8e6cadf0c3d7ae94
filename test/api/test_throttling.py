"""Tables whose throughput is enforced, seen by real clients: the exact bodies of refusals, and
programs of boto3 that get through all the same, without losing or doubling a write."""

import http.client
import json
import threading
import time

import boto3
import botocore.config
import botocore.exceptions
import pytest

from stator_process import StatorProcess, operation_headers

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
TABLE_TEXT = (
    "The level of configured provisioned throughput for the table was exceeded. Consider "
    "increasing your provisioning level with the UpdateTable API."
)
INDEX_TEXT = (
    "The level of configured provisioned throughput for one or more global secondary indexes of "
    "the table was exceeded. Consider increasing your provisioning level for the "
    "under-provisioned global secondary indexes with the UpdateTable API"
)
TYPE = "com.amazonaws.dynamodb.v20120810#"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    data = tmp_path_factory.mktemp("throttled")
    with StatorProcess("--data-dir", str(data), "--capacity", "enforce", "--region", "us-east-1",
                       "--account-id", "000000000000") as running:
        yield running


def connect(server, kind="client", **retries):
    return getattr(boto3, kind)(
        "dynamodb",
        endpoint_url=server.url,
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=botocore.config.Config(retries=retries, max_pool_connections=20),
    )


@pytest.fixture(scope="module")
def once(server):
    """A client that does not retry."""
    return connect(server, max_attempts=0)


def create(client, name, units, **more):
    client.create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}, *more.pop("with_", [])],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        ProvisionedThroughput={"ReadCapacityUnits": 1000, "WriteCapacityUnits": units},
        **more,
    )


def drain(client, name, units, **attributes):
    """One write that costs this much more than a full bucket of the table holds, at most 400."""
    client.put_item(
        TableName=name, Item={"pk": {"S": "drain"}, "v": {"S": "x" * (units * 1024 - 50)}, **attributes}
    )


def empty(client, name, units):
    """Uses up what a fresh table of so many units has saved up, and some more, so that it stays
    empty for some seconds. No key is used too much."""
    left = 300 * units + 60
    while left > 0:
        cost = min(left, 390)
        item = {"pk": {"S": f"empty-{left}"}, "v": {"S": "x" * (cost * 1024 - 50)}}
        client.put_item(TableName=name, Item=item)
        left -= cost


def raw(server, operation, body):
    """(status, text) of an answer as it comes."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    connection.request("POST", "/", json.dumps(body), operation_headers(operation))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_the_body_of_a_refusal_is_the_services(server, once):
    create(once, "Exact", 1)
    drain(once, "Exact", 350)
    reason = '{"reason":"TableWriteProvisionedThroughputExceeded","resource":"' + ARN + 'Exact"}'
    assert raw(server, "PutItem", {"TableName": "Exact", "Item": {"pk": {"S": "a"}}}) == (
        400,
        '{"__type":"' + TYPE + 'ProvisionedThroughputExceededException","message":"' + TABLE_TEXT
        + '","ThrottlingReasons":[' + reason + "]}",
    )


def test_an_index_pushes_back_with_its_own_body(server, once):
    create(
        once,
        "ExactIndex",
        1000,
        with_=[{"AttributeName": "g", "AttributeType": "S"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byG",
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
            }
        ],
    )
    drain(once, "ExactIndex", 350, g={"S": "x"})
    reason = ('{"reason":"IndexWriteProvisionedThroughputExceeded","resource":"' + ARN
              + 'ExactIndex/index/byG"}')
    item = {"pk": {"S": "a"}, "g": {"S": "x"}}
    assert raw(server, "PutItem", {"TableName": "ExactIndex", "Item": item}) == (
        400,
        '{"__type":"' + TYPE + 'ProvisionedThroughputExceededException","message":"' + INDEX_TEXT
        + '","ThrottlingReasons":[' + reason + "]}",
    )
    once.put_item(TableName="ExactIndex", Item={"pk": {"S": "a"}})


def test_a_throttling_exception_spells_its_reasons_as_the_model_does(server, once):
    status, _ = raw(
        server,
        "CreateTable",
        {
            "TableName": "ExactMaximum",
            "BillingMode": "PAY_PER_REQUEST",
            "OnDemandThroughput": {"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 1},
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        },
    )
    assert status == 200
    drain(once, "ExactMaximum", 100)
    reason = ('{"reason":"TableWriteMaxOnDemandThroughputExceeded","resource":"' + ARN
              + 'ExactMaximum"}')
    delete = {"TableName": "ExactMaximum", "Key": {"pk": {"S": "a"}}}
    assert raw(server, "DeleteItem", delete) == (
        400,
        '{"__type":"' + TYPE + 'ThrottlingException","message":"Throughput exceeds the maximum '
        'OnDemandThroughput configured on table or index","throttlingReasons":[' + reason + "]}",
    )


def count(client, name):
    deadline = time.monotonic() + 60
    while True:
        try:
            return client.scan(TableName=name, Select="COUNT", ConsistentRead=True)["Count"]
        except client.exceptions.ProvisionedThroughputExceededException:
            assert time.monotonic() < deadline
            time.sleep(0.1)


# Each adds 1 to a counter of its own item: a lost or doubled write would show.
@pytest.mark.parametrize("mode, attempts", [("legacy", 9), ("standard", 10)])
def test_single_writes_get_through_by_retries(server, once, mode, attempts):
    name = f"Retries-{mode}"
    client = connect(server, mode=mode, max_attempts=attempts)
    retries = []
    client.meta.events.register(
        "needs-retry.dynamodb.UpdateItem", lambda response, **_: retries.append(response)
    )
    create(once, name, 20)
    empty(once, name, 20)
    refused = []

    def work(worker):
        for i in range(5):
            client.update_item(
                TableName=name,
                Key={"pk": {"S": f"{worker}-{i}"}},
                UpdateExpression="ADD n :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )

    def try_work(worker):
        try:
            work(worker)
        except botocore.exceptions.ClientError as error:
            refused.append(error)

    threads = [threading.Thread(target=try_work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == []
    pages = once.get_paginator("scan").paginate(TableName=name, ConsistentRead=True)
    items = [item for page in pages for item in page["Items"] if "n" in item]
    assert sorted(item["n"]["N"] for item in items) == ["1"] * 30
    assert len(retries) > 30, "nothing was throttled, so nothing was shown"


def test_a_batch_writer_finishes_by_unprocessed_items(server, once):
    create(once, "Batches", 30)
    answers = []
    table = connect(server, "resource", max_attempts=9).Table("Batches")
    table.meta.client.meta.events.register(
        "after-call.dynamodb.BatchWriteItem", lambda parsed, **_: answers.append(parsed)
    )
    empty(once, "Batches", 30)
    with table.batch_writer() as batch:
        for i in range(100):
            batch.put_item(Item={"pk": f"item-{i}", "v": "x" * 1000})
    pages = once.get_paginator("scan").paginate(TableName="Batches", ConsistentRead=True)
    keys = [item["pk"]["S"] for page in pages for item in page["Items"]]
    written = sorted(key for key in keys if not key.startswith("empty"))
    assert written == sorted(f"item-{i}" for i in range(100))
    partial = [answer for answer in answers if 0 < len(answer.get("UnprocessedItems", {}).get("Batches", [])) < 25]
    assert partial, "no batch was served in part"


def test_other_tables_are_served_meanwhile(server, once):
    create(once, "Busy", 1)
    create(once, "Free", 1000)
    drain(once, "Busy", 350)
    for i in range(20):
        with pytest.raises(once.exceptions.ProvisionedThroughputExceededException):
            once.put_item(TableName="Busy", Item={"pk": {"S": "a"}})
        once.put_item(TableName="Free", Item={"pk": {"S": str(i)}})
    assert count(once, "Busy") == 1
    assert count(once, "Free") == 20


CLIENTS = 40  # Above what a loop refuses at once.
ROUNDS = 200


@pytest.fixture
def one_loop():
    """A server whose refusals are all of one loop; it may be asked to refuse, too."""
    with StatorProcess("--in-memory", "--workers", "1", "--capacity", "enforce",
                       "--fault-injection") as running:
        yield running


def refusals_delayed(server):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    name = "stator_refusals_delayed_total "
    return next(float(line.removeprefix(name)) for line in lines if line.startswith(name))


def refuse_many(connections, table):
    """Sends a write on each connection, then reads the answers: all are refused."""
    body = json.dumps({"TableName": table, "Item": {"pk": {"S": "a"}}})
    for connection in connections:
        connection.request("POST", "/", body, operation_headers("PutItem"))
    for connection in connections:
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 400 and "ThroughputExceeded" in text, text


def test_a_flood_of_refusals_is_delayed_unless_it_was_asked_for(one_loop):
    client = connect(one_loop, max_attempts=0)
    create(client, "Asked", 1000)
    create(client, "Spent", 1)
    drain(client, "Spent", 390)
    raw(one_loop, "AddFault", {"TableName": "Asked", "Fault": "Throttle"})
    connections = [http.client.HTTPConnection(one_loop.host, one_loop.port, timeout=30)
                   for _ in range(CLIENTS)]
    for _ in range(10):
        refuse_many(connections, "Asked")
    assert refusals_delayed(one_loop) == 0
    # A slow machine may spread one round over several periods, but not all rounds.
    rounds = 0
    while refusals_delayed(one_loop) == 0 and rounds < ROUNDS:
        refuse_many(connections, "Spent")
        rounds += 1
    assert 0 < refusals_delayed(one_loop) <= rounds * CLIENTS
    for connection in connections:
        connection.close()
