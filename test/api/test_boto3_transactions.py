"""Debian's boto3: transactions, their reasons, and its own tokens."""

import boto3
import botocore.config
import botocore.exceptions
import pytest

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}
WAIT = {"Delay": 1, "MaxAttempts": 20}
TABLE = "boto3-transactions"


@pytest.fixture(scope="module")
def client(server_url):
    return boto3.client("dynamodb", endpoint_url=server_url, **SETTINGS)


@pytest.fixture(scope="module", autouse=True)
def table(client):
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    client.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig=WAIT)
    yield
    client.delete_table(TableName=TABLE)


def put(name, **rest):
    return {"Put": {"TableName": TABLE, "Item": {"pk": {"S": name}}, **rest}}


def transfer(source, target, amount):
    """Moves an amount between two accounts, if the first one has it."""
    values = {":a": {"N": str(amount)}}
    return [
        {
            "Update": {
                "TableName": TABLE,
                "Key": {"pk": {"S": source}},
                "UpdateExpression": "SET balance = balance - :a",
                "ConditionExpression": "balance >= :a",
                "ExpressionAttributeValues": values,
            }
        },
        {
            "Update": {
                "TableName": TABLE,
                "Key": {"pk": {"S": target}},
                "UpdateExpression": "SET balance = balance + :a",
                "ExpressionAttributeValues": values,
            }
        },
    ]


def balances(client, *names):
    gets = [{"Get": {"TableName": TABLE, "Key": {"pk": {"S": name}}}} for name in names]
    answer = client.transact_get_items(TransactItems=gets)
    return [int(response["Item"]["balance"]["N"]) for response in answer["Responses"]]


def test_a_transfer_happens_whole_or_not_at_all(client):
    client.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": TABLE, "Item": {"pk": {"S": name}, "balance": {"N": "100"}}}}
            for name in ("from", "to")
        ]
    )
    client.transact_write_items(TransactItems=transfer("from", "to", 70))
    assert balances(client, "from", "to") == [30, 170]
    with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
        client.transact_write_items(TransactItems=transfer("from", "to", 70))
    assert caught.value.response["Error"]["Message"] == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[ConditionalCheckFailed, None]"
    )
    assert caught.value.response["CancellationReasons"] == [
        {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"},
        {"Code": "None"},
    ]
    assert balances(client, "from", "to") == [30, 170]


def test_a_token_that_is_sent_again_has_no_second_effect(client):
    client.transact_write_items(TransactItems=[put("token")], ClientRequestToken="boto3")
    client.delete_item(TableName=TABLE, Key={"pk": {"S": "token"}})
    client.transact_write_items(TransactItems=[put("token")], ClientRequestToken="boto3")
    assert "Item" not in client.get_item(TableName=TABLE, Key={"pk": {"S": "token"}})
    with pytest.raises(client.exceptions.IdempotentParameterMismatchException):
        client.transact_write_items(TransactItems=[put("other")], ClientRequestToken="boto3")


def test_calls_without_a_token_of_their_own_are_told_apart(client):
    """botocore makes up a token for each call."""
    for _ in range(2):
        client.transact_write_items(TransactItems=[put("twice")])
        client.delete_item(TableName=TABLE, Key={"pk": {"S": "twice"}})
    client.transact_write_items(TransactItems=[put("twice")])
    assert "Item" in client.get_item(TableName=TABLE, Key={"pk": {"S": "twice"}})


def test_capacity_and_refusals(client):
    answer = client.transact_write_items(
        TransactItems=[put("capacity-1"), put("capacity-2")], ReturnConsumedCapacity="TOTAL"
    )
    assert answer["ConsumedCapacity"] == [
        {"TableName": TABLE, "CapacityUnits": 4.0, "WriteCapacityUnits": 4.0}
    ]
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        client.transact_write_items(TransactItems=[put("same"), put("same")])
    error = caught.value.response["Error"]
    assert error["Code"] == "ValidationException"
    assert error["Message"] == "Transaction request cannot include multiple operations on one item"
