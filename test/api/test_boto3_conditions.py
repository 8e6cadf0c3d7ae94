"""boto3's condition builders, update expressions and older parameters, as programs use them."""

from decimal import Decimal

import boto3
import botocore.config
import botocore.exceptions
import pytest
from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.types import DYNAMODB_CONTEXT, Binary, TypeDeserializer

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}
NAME = "boto3-conditions"
KEY = {"pk": "item", "sk": Decimal(1)}


@pytest.fixture(scope="module")
def table(server_url):
    resource = boto3.resource("dynamodb", endpoint_url=server_url, **SETTINGS)
    handle = resource.create_table(
        TableName=NAME,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    )
    handle.wait_until_exists()
    yield handle
    handle.delete()
    handle.wait_until_not_exists()


@pytest.fixture
def item(table):
    stored = {
        **KEY,
        "version": Decimal(3),
        "price": Decimal("12.50"),
        "text": "Zürich",
        "flag": True,
        "nothing": None,
        "blob": Binary(b"\x00\x01"),
        "words": {"a", "b"},
        "numbers": {Decimal(1), Decimal("2.5")},
        "entries": [{"sku": "x", "count": Decimal(2)}, "two"],
        "address": {"city": "Bern", "zip": Decimal(3000)},
    }
    table.put_item(Item=stored)
    return stored


def read(table):
    return table.get_item(Key=KEY, ConsistentRead=True).get("Item")


def holds(table, item, condition):
    try:
        table.put_item(Item=item, ConditionExpression=condition)
    except table.meta.client.exceptions.ConditionalCheckFailedException:
        return False
    return True


CONDITIONS = [
    (Attr("version").eq(3), True),
    (Attr("version").eq(Decimal("3.00")), True),
    (Attr("version").eq("3"), False),
    (Attr("version").ne(3), False),
    (Attr("version").lt(4), True),
    (Attr("version").lte(2), False),
    (Attr("version").gt(2), True),
    (Attr("version").gte(4), False),
    (Attr("version").between(3, 5), True),
    (Attr("version").is_in([1, 2, 3]), True),
    (Attr("version").is_in([1, 2]), False),
    (Attr("text").begins_with("Zü"), True),
    (Attr("text").contains("ric"), True),
    (Attr("words").contains("a"), True),
    (Attr("words").contains("c"), False),
    (Attr("numbers").contains(Decimal("2.50")), True),
    (Attr("words").eq({"b", "a"}), True),
    (Attr("flag").eq(True), True),
    (Attr("nothing").eq(None), True),
    (Attr("nothing").exists(), True),
    (Attr("nope").exists(), False),
    (Attr("nope").not_exists(), True),
    (Attr("blob").eq(b"\x00\x01"), True),
    (Attr("blob").attribute_type("B"), True),
    (Attr("entries").attribute_type("M"), False),
    (Attr("entries").size().eq(2), True),
    (Attr("text").size().gt(6), False),
    (Attr("entries[0].count").eq(2), True),
    (Attr("address.zip").between(2999, 3001), True),
    (Attr("address.nope").exists(), False),
    (Attr("version").eq(3) & Attr("flag").eq(True), True),
    (Attr("version").eq(4) | Attr("flag").eq(True), True),
    (Attr("version").eq(4) | Attr("flag").eq(False), False),
    (~Attr("version").eq(4), True),
    (~(Attr("version").eq(3) & ~Attr("flag").eq(False)), False),
    ((Attr("version").eq(4) | Attr("version").eq(3)) & Attr("nope").not_exists(), True),
]


@pytest.mark.parametrize(("condition", "held"), CONDITIONS)
def test_a_condition_builder(table, item, condition, held):
    assert holds(table, item, condition) is held


def test_optimistic_locking(table, item):
    new = {**item, "version": item["version"] + 1}
    expected = Attr("version").eq(3)
    table.put_item(Item=new, ConditionExpression=expected)
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        table.put_item(Item=new, ConditionExpression=expected)
    error = caught.value.response
    assert error["Error"]["Code"] == "ConditionalCheckFailedException"
    assert error["Error"]["Message"] == "The conditional request failed"
    assert error["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert read(table) == new


def test_an_item_is_created_once(table, item):
    assert not holds(table, item, Attr("pk").not_exists())
    table.delete_item(Key=KEY, ConditionExpression=Attr("pk").exists())
    assert holds(table, item, Attr("pk").not_exists())


def test_an_update_expression(table, item):
    answer = table.update_item(
        Key=KEY,
        UpdateExpression="SET price = price - :discount, entries[0].#count = :count, "
        "address.#street = :street REMOVE nothing ADD version :one, words :more "
        "DELETE numbers :less",
        ConditionExpression=Attr("version").eq(3) & Attr("price").gte(Decimal("2.5")),
        ExpressionAttributeNames={"#count": "count", "#street": "street"},
        ExpressionAttributeValues={
            ":discount": Decimal("2.25"),
            ":count": 7,
            ":street": "Gasse",
            ":one": 1,
            ":more": {"c"},
            ":less": {Decimal(1)},
        },
        ReturnValues="ALL_NEW",
    )
    changed = {
        **item,
        "version": Decimal(4),
        "price": Decimal("10.25"),
        "words": {"a", "b", "c"},
        "numbers": {Decimal("2.5")},
        "entries": [{"sku": "x", "count": Decimal(7)}, "two"],
        "address": {"city": "Bern", "zip": Decimal(3000), "street": "Gasse"},
    }
    del changed["nothing"]
    assert answer["Attributes"] == changed
    assert read(table) == changed


def test_numbers_come_back_as_exact_decimals(table, item):
    exact = Decimal("1234567890123456789012345678.0123456789")
    for step in (Decimal("0.0000000001"), Decimal("-0.0000000001")):
        table.put_item(Item={**KEY, "n": exact})
        answer = table.update_item(
            Key=KEY,
            UpdateExpression="SET n = n + :step",
            ExpressionAttributeValues={":step": step},
            ReturnValues="UPDATED_NEW",
        )
        assert isinstance(answer["Attributes"]["n"], Decimal)
        assert answer["Attributes"]["n"] == DYNAMODB_CONTEXT.add(exact, step)


def test_values_of_the_client_are_read_by_the_deserializer(table, item):
    found = table.meta.client.get_item(TableName=NAME, Key=KEY)["Item"]
    assert found == item
    # The client of a resource converts; one of its own does not.
    endpoint_url = table.meta.client.meta.endpoint_url
    client = boto3.client("dynamodb", endpoint_url=endpoint_url, **SETTINGS)
    raw = client.get_item(TableName=NAME, Key={"pk": {"S": "item"}, "sk": {"N": "1"}})["Item"]
    deserialize = TypeDeserializer().deserialize
    assert {name: deserialize(value) for name, value in raw.items()} == item


def test_a_projection(table, item):
    answer = table.get_item(
        Key=KEY,
        ProjectionExpression="version, #text, entries[0].sku, address.zip",
        ExpressionAttributeNames={"#text": "text"},
    )
    assert answer["Item"] == {
        "version": Decimal(3),
        "text": "Zürich",
        "entries": [{"sku": "x"}],
        "address": {"zip": Decimal(3000)},
    }


def test_the_older_parameters(table, item):
    answer = table.update_item(
        Key=KEY,
        AttributeUpdates={
            "version": {"Action": "ADD", "Value": 1},
            "text": {"Action": "PUT", "Value": "Chur"},
            "words": {"Action": "DELETE", "Value": {"a"}},
            "nothing": {"Action": "DELETE"},
        },
        Expected={
            "version": {"Value": 3, "Exists": True},
            "nope": {"Exists": False},
            "price": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [12, 13]},
        },
        ReturnValues="UPDATED_NEW",
    )
    assert answer["Attributes"] == {"version": Decimal(4), "text": "Chur", "words": {"b"}}
    with pytest.raises(table.meta.client.exceptions.ConditionalCheckFailedException):
        table.put_item(Item=item, Expected={"version": {"Value": 3}})
    assert table.get_item(Key=KEY, AttributesToGet=["version", "nothing"])["Item"] == {
        "version": Decimal(4)
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"UpdateExpression": "SET sk = :v", "ExpressionAttributeValues": {":v": 1}},
            "One or more parameter values were invalid: Cannot update attribute sk. This attribute "
            "is part of the key",
        ),
        (
            {"UpdateExpression": "SET version = nope"},
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            {"UpdateExpression": "SET nope.a = :v", "ExpressionAttributeValues": {":v": 1}},
            "The document path provided in the update expression is invalid for update",
        ),
        (
            {"UpdateExpression": "SET #s = :v", "ExpressionAttributeValues": {":v": 1}},
            "1 validation error detected: Invalid UpdateExpression: An expression attribute name "
            "used in the document path is not defined; attribute name: #s",
        ),
    ],
)
def test_a_refusal_has_its_message(table, item, arguments, message):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        table.update_item(Key=KEY, **arguments)
    error = caught.value.response["Error"]
    assert (error["Code"], error["Message"]) == ("ValidationException", message)
    assert read(table) == item
