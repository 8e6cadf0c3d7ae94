"""Debian's boto3: the client and the resource interface, errors by code and message."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import boto3
import botocore.config
import botocore.exceptions
import pytest
from boto3.dynamodb.types import Binary

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}
WAIT = {"Delay": 1, "MaxAttempts": 20}


@pytest.fixture(scope="module")
def client(server_url):
    return boto3.client("dynamodb", endpoint_url=server_url, **SETTINGS)


@pytest.fixture(scope="module")
def resource(server_url):
    return boto3.resource("dynamodb", endpoint_url=server_url, **SETTINGS)


def shape(name):
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    }


@pytest.fixture
def table(client):
    """The name of a table that lives as long as the test."""
    name = "boto3"
    client.create_table(**shape(name))
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAIT)
    yield name
    client.delete_table(TableName=name)
    client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig=WAIT)


def refusal(function, **arguments):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        function(**arguments)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def test_a_table_is_described_and_listed(client, table):
    described = client.describe_table(TableName=table)["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["KeySchema"] == shape(table)["KeySchema"]
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    pages = client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 1})
    assert table in [name for page in pages for name in page["TableNames"]]


def test_the_client_puts_gets_and_deletes(client, table):
    item = {
        "pk": {"S": "a"},
        "sk": {"N": "1"},
        "binary": {"B": b"\x00\xff"},
        "binaries": {"BS": [b"\x01", b"\x02"]},
        "list": {"L": [{"NULL": True}, {"BOOL": False}, {"M": {"n": {"N": "0.5"}}}]},
    }
    key = {"pk": {"S": "a"}, "sk": {"N": "1.0"}}
    client.put_item(TableName=table, Item=item)
    assert client.get_item(TableName=table, Key=key)["Item"] == item
    removed = client.delete_item(TableName=table, Key=key, ReturnValues="ALL_OLD")
    assert removed["Attributes"] == item
    assert "Item" not in client.get_item(TableName=table, Key=key)


def test_the_resource_speaks_python_types(resource, table):
    item = {
        "pk": "resource",
        "sk": Decimal("-12.75"),
        "text": "Zürich 😀",
        "binary": Binary(b"\x00\x01"),
        "flag": True,
        "nothing": None,
        "words": {"b", "a"},
        "numbers": {Decimal(1), Decimal("2.5")},
        "list": [Decimal(1), "two", {"three": [Decimal(3)]}],
        "map": {"empty": "", "nested": {"deep": Decimal("1E+20")}},
    }
    handle = resource.Table(table)
    handle.put_item(Item=item)
    key = {"pk": "resource", "sk": Decimal("-12.75")}
    assert handle.get_item(Key=key, ConsistentRead=True)["Item"] == item
    assert handle.item_count >= 0
    assert handle.table_status == "ACTIVE"
    handle.delete_item(Key=key)
    assert "Item" not in handle.get_item(Key=key)


def test_the_resource_creates_and_deletes_a_table(resource, client):
    handle = resource.create_table(**shape("boto3-resource"))
    handle.wait_until_exists()
    assert handle in list(resource.tables.all())
    handle.delete()
    handle.wait_until_not_exists()
    assert "boto3-resource" not in client.list_tables()["TableNames"]


def test_tags(client, table):
    arn = client.describe_table(TableName=table)["Table"]["TableArn"]
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "stage", "Value": "test"}])
    assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == [
        {"Key": "stage", "Value": "test"}
    ]
    client.untag_resource(ResourceArn=arn, TagKeys=["stage"])
    assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == []


def test_continuous_backups(client, table):
    def recovery(answer):
        return answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]

    def update(enabled):
        specification = {"PointInTimeRecoveryEnabled": enabled}
        return recovery(
            client.update_continuous_backups(
                TableName=table, PointInTimeRecoverySpecification=specification
            )
        )

    assert recovery(client.describe_continuous_backups(TableName=table)) == {
        "PointInTimeRecoveryStatus": "DISABLED"
    }
    enabled = update(True)
    assert enabled["PointInTimeRecoveryStatus"] == "ENABLED"
    age = datetime.now(timezone.utc) - enabled["EarliestRestorableDateTime"]
    # A whole second, not before the first change that is kept.
    assert timedelta(seconds=-1) < age < timedelta(minutes=1)
    assert enabled["LatestRestorableDateTime"] >= enabled["EarliestRestorableDateTime"]
    described = recovery(client.describe_continuous_backups(TableName=table))
    assert described.pop("LatestRestorableDateTime") >= enabled.pop("LatestRestorableDateTime")
    assert described == enabled
    assert update(False) == {"PointInTimeRecoveryStatus": "DISABLED"}
    with pytest.raises(client.exceptions.TableNotFoundException):
        client.describe_continuous_backups(TableName="not-there")


def test_errors_have_their_code_and_message(client, table):
    assert refusal(client.create_table, **shape(table)) == (
        "ResourceInUseException",
        f"Table already exists: {table}",
    )
    assert refusal(client.describe_table, TableName="not-there") == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: not-there not found",
    )
    assert refusal(client.get_item, TableName="not-there", Key={"pk": {"S": "a"}}) == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )
    assert refusal(client.get_item, TableName=table, Key={"pk": {"S": "a"}}) == (
        "ValidationException",
        "The provided key element does not match the schema",
    )
    assert refusal(client.put_item, TableName=table, Item={"pk": {"S": "a"}}) == (
        "ValidationException",
        "One or more parameter values were invalid: Missing the key sk in the item",
    )


def test_an_error_is_an_exception_of_its_own_type(client):
    with pytest.raises(client.exceptions.ResourceNotFoundException) as caught:
        client.delete_table(TableName="not-there")
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert len(caught.value.response["ResponseMetadata"]["RequestId"]) == 52


def test_a_large_answer_arrives_whole(client, table):
    item = {"pk": {"S": "large"}, "sk": {"N": "1"}, "text": {"S": "x" * 300_000}}
    client.put_item(TableName=table, Item=item)
    assert client.get_item(TableName=table, Key={"pk": item["pk"], "sk": item["sk"]})["Item"] == item
