"""Fault injection, seen by real clients: boto3 gets through a server that fails on purpose, and a
test can repeat what happened."""

import http.client
import json
import subprocess
import time

import boto3
import botocore.config
import botocore.exceptions
import pytest

from stator_process import StatorProcess, binary, operation_headers


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    data = tmp_path_factory.mktemp("faults")
    with StatorProcess("--data-dir", str(data), "--fault-injection", "--region",
                       "us-east-1") as running:
        yield running


def connect(server, kind="client", **retries):
    return getattr(boto3, kind)(
        "dynamodb",
        endpoint_url=server.url,
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=botocore.config.Config(retries=retries, read_timeout=5),
    )


def fault(server, *words):
    """Runs `stator fault`; returns what it prints."""
    run = subprocess.run(
        [binary(), "fault", *words, "--endpoint", server.url],
        capture_output=True, text=True, timeout=60, check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.fixture
def table(server, request):
    name = request.node.name.replace("[", ".").replace("]", "")
    connect(server).create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return name


def injected(server, table):
    answer = json.loads(fault(server, "list", "--table", table, "--json"))
    return [(entry["Injected"], entry["Requests"]) for entry in answer["Faults"]]


def attempts(answer):
    return answer["ResponseMetadata"]["RetryAttempts"]


@pytest.mark.parametrize("mode", ["legacy", "standard"])
@pytest.mark.parametrize("kind", ["Throttle", "InternalServerError", "CutConnection"])
def test_boto3_retries_what_fails(server, table, mode, kind):
    client = connect(server, mode=mode, max_attempts=10)
    fault(server, "add", "--table", table, "--fault", kind, "--max-count", "2")
    answer = client.put_item(TableName=table, Item={"pk": {"S": "a"}})
    assert attempts(answer) == 2
    assert injected(server, table) == [(2, 2)]
    assert "Item" in client.get_item(TableName=table, Key={"pk": {"S": "a"}})


def test_a_lost_answer_makes_boto3_write_twice(server, table):
    """What every counter must expect: the retry adds once more."""
    client = connect(server, mode="standard", max_attempts=3)
    fault(server, "add", "--table", table, "--fault", "LoseAnswer", "--operation", "UpdateItem",
          "--max-count", "1")
    answer = client.update_item(
        TableName=table, Key={"pk": {"S": "a"}}, UpdateExpression="ADD n :one",
        ExpressionAttributeValues={":one": {"N": "1"}}, ReturnValues="ALL_NEW",
    )
    assert attempts(answer) == 1
    assert answer["Attributes"]["n"] == {"N": "2"}


def test_a_token_protects_a_transaction_whose_answer_is_lost(server, table):
    client = connect(server, mode="standard", max_attempts=3)
    fault(server, "add", "--table", table, "--fault", "LoseAnswer", "--operation",
          "TransactWriteItems", "--max-count", "1")
    answer = client.transact_write_items(TransactItems=[{"Update": {
        "TableName": table, "Key": {"pk": {"S": "a"}}, "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }}])
    assert attempts(answer) == 1
    item = client.get_item(TableName=table, Key={"pk": {"S": "a"}}, ConsistentRead=True)["Item"]
    assert item["n"] == {"N": "1"}


def test_a_batch_writer_finishes_by_unprocessed_items(server, table):
    fault(server, "add", "--table", table, "--fault", "Throttle", "--operation", "BatchWriteItem",
          "--percent", "50", "--seed", "3", "--max-count", "60")
    resource = connect(server, "resource", mode="standard", max_attempts=10).Table(table)
    with resource.batch_writer() as batch:
        for number in range(100):
            batch.put_item(Item={"pk": str(number)})
    assert len(resource.scan(ConsistentRead=True)["Items"]) == 100
    assert injected(server, table)[0][0] == 60


def test_a_seed_repeats_the_run(server, table):
    client = connect(server, max_attempts=0)
    runs = []
    for _ in range(2):
        outcomes = []
        number = fault(server, "add", "--table", table, "--fault", "InternalServerError",
                       "--percent", "37.5", "--seed", "99")
        for key in range(40):
            try:
                client.put_item(TableName=table, Item={"pk": {"S": str(key)}})
                outcomes.append(True)
            except client.exceptions.InternalServerError:
                outcomes.append(False)
        fault(server, "remove", number)
        runs.append(outcomes)
    assert runs[0] == runs[1]
    assert 5 <= runs[0].count(False) <= 25


DELAY_S = 6  # Well beyond what twenty writes take on a busy machine.


def test_a_delay_keeps_nobody_else_waiting(server, table):
    """The delayed client waits; others on the same loops do not."""
    client = connect(server, max_attempts=0)
    client.put_item(TableName=table, Item={"pk": {"S": "a"}})
    fault(server, "add", "--table", table, "--fault", "Delay", "--delay-ms", str(DELAY_S * 1000),
          "--operation", "GetItem")
    connections = [http.client.HTTPConnection("127.0.0.1", server.port) for _ in range(50)]
    body = json.dumps({"TableName": table, "Key": {"pk": {"S": "a"}}})
    began = time.monotonic()
    for connection in connections:
        connection.request("POST", "/", body, operation_headers("GetItem"))
    for _ in range(20):
        client.put_item(TableName=table, Item={"pk": {"S": "b"}})
    assert time.monotonic() - began < DELAY_S
    for connection in connections:
        answer = connection.getresponse()
        assert answer.status == 200 and b'"Item"' in answer.read()
        connection.close()
    assert time.monotonic() - began >= DELAY_S


def test_stopping_sends_delayed_answers_at_once(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path), "--fault-injection") as stopping:
        connect(stopping).create_table(
            TableName="Slow",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
        fault(stopping, "add", "--table", "Slow", "--fault", "Delay", "--delay-ms", "60000")
        connection = http.client.HTTPConnection("127.0.0.1", stopping.port, timeout=20)
        connection.request("POST", "/", '{"TableName":"Slow"}', operation_headers("Scan"))
        time.sleep(0.3)
        began = time.monotonic()
        stopping.stop()
        assert connection.getresponse().status == 200
        assert time.monotonic() - began < 10


def test_metrics_count_faults_apart(server, table):
    client = connect(server, max_attempts=0)

    def page():
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()

    def total(text):
        lines = [line for line in text.splitlines()
                 if line.startswith('stator_injected_faults_total{fault="TransactionConflict"}')]
        return float(lines[0].split()[-1])

    before = total(page())
    fault(server, "add", "--table", table, "--fault", "TransactionConflict")
    with pytest.raises(client.exceptions.TransactionConflictException):
        client.put_item(TableName=table, Item={"pk": {"S": "a"}})
    text = page()
    assert total(text) == before + 1
    assert f'operation="PutItem",table="{table}"' not in text


def test_without_the_setting_the_command_says_so(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path)) as off:
        run = subprocess.run(
            [binary(), "fault", "list", "--endpoint", off.url],
            capture_output=True, text=True, timeout=60, check=False,
        )
        assert run.returncode == 1
        assert "Fault injection is off" in run.stderr
