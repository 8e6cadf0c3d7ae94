"""https with keys: boto3 and Debian's AWS CLI, which are told of the certificate by AWS_CA_BUNDLE."""

import concurrent.futures
import json
import os
import subprocess

import boto3
import botocore.config
import botocore.exceptions
import pytest
from stator_process import Certificate, Keys, StatorProcess

AWS = "/usr/bin/aws"
COMMAND_TIMEOUT_S = 60
EVERYTHING = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
LARGE = "x" * (350 * 1024)


@pytest.fixture(scope="module", name="place")
def fixture_place(tmp_path_factory):
    """A running server, and the variables of a program that may use it."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, keys = Certificate(folder / "cert"), Keys(folder)
    key, secret = keys.create("admin", EVERYTHING)
    variables = {
        "AWS_CA_BUNDLE": str(certificate.cert),
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "HOME": str(folder),
    }
    with StatorProcess("--auth", *keys.flags, *certificate.flags) as server:
        yield server, variables
        server.stop()


@pytest.fixture(name="client")
def fixture_client(place, monkeypatch):
    server, variables = place
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    config = botocore.config.Config(retries={"max_attempts": 0}, max_pool_connections=20)
    client = boto3.Session().client("dynamodb", endpoint_url=server.url, config=config)
    yield client
    client.close()


def create_table(client, name):
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})


def test_boto3_writes_and_reads_large_and_many_items(client):
    create_table(client, "boto3")
    for number in range(6):
        client.put_item(TableName="boto3", Item={"pk": {"S": f"{number}"}, "text": {"S": LARGE}})
    answer = client.batch_get_item(
        RequestItems={"boto3": {"Keys": [{"pk": {"S": f"{number}"}} for number in range(6)]}}
    )
    assert [item["text"]["S"] == LARGE for item in answer["Responses"]["boto3"]] == [True] * 6

    def count(number):
        return client.update_item(
            TableName="boto3",
            Key={"pk": {"S": "counter"}},
            UpdateExpression="ADD amount :number",
            ExpressionAttributeValues={":number": {"N": str(number)}},
        )

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        list(pool.map(count, range(200)))
    item = client.get_item(TableName="boto3", Key={"pk": {"S": "counter"}}, ConsistentRead=True)
    assert item["Item"]["amount"] == {"N": str(sum(range(200)))}


def test_boto3_does_not_trust_whom_it_was_not_told_to(client, place, monkeypatch):
    server, _ = place
    monkeypatch.delenv("AWS_CA_BUNDLE")
    config = botocore.config.Config(retries={"max_attempts": 0})
    stranger = boto3.Session().client("dynamodb", endpoint_url=server.url, config=config)
    with pytest.raises(botocore.exceptions.SSLError, match="certificate verify failed"):
        stranger.list_tables()


def test_the_aws_cli_needs_nothing_but_its_variables(place, client):
    server, variables = place
    create_table(client, "cli")

    def aws(*words):
        result = subprocess.run(
            [AWS, "dynamodb", *words, "--endpoint-url", server.url, "--output", "json"],
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "AWS_PAGER": "", **variables},
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=True,
        )
        return json.loads(result.stdout) if result.stdout.strip() else {}

    item = {"pk": {"S": "a"}, "text": {"S": "over TLS"}}
    aws("put-item", "--table-name", "cli", "--item", json.dumps(item))
    assert aws("scan", "--table-name", "cli")["Items"] == [item]
