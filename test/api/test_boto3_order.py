"""The order in which the service shows items: by MD5 of "Outliers" and the key, and the number of
shards that follows from a table's throughput."""

import hashlib

import boto3
import botocore.config
import pytest

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}

# Zero, and both signs; the form in which the service hashes a number.
NUMBERS = {
    0: b"\x80",
    1: b"\xc1\x02",
    -1: b"\x3e\x64\x66",
    100: b"\xc2\x02",
    123: b"\xc2\x02\x18",
    -123: b"\x3d\x64\x4e\x66",
    5000: b"\xc2\x33",
}


def digest(*parts):
    return hashlib.md5(b"Outliers" + b"".join(parts)).digest()


def table(client, name, definitions, **more):
    client.create_table(
        TableName=name,
        AttributeDefinitions=[
            {"AttributeName": key, "AttributeType": kind} for key, kind in definitions.items()
        ],
        **{"BillingMode": "PAY_PER_REQUEST", **more},
    )
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})


def keys(*names):
    return [
        {"AttributeName": name, "KeyType": kind}
        for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def pages(client, operation, **request):
    return [
        item for page in client.get_paginator(operation).paginate(**request) for item in page["Items"]
    ]


@pytest.fixture(scope="module", name="client")
def fixture_client(server_url):
    return boto3.client("dynamodb", endpoint_url=server_url, **SETTINGS)


@pytest.fixture(scope="module", name="streams")
def fixture_streams(server_url):
    return boto3.client("dynamodbstreams", endpoint_url=server_url, **SETTINGS)


@pytest.fixture(name="clean")
def fixture_clean(client):
    names = []
    yield names.append
    for name in names:
        client.delete_table(TableName=name)


def test_a_scan_follows_the_hash_of_strings(client, clean):
    clean("order-strings")
    table(client, "order-strings", {"pk": "S"}, KeySchema=keys("pk"))
    texts = [f"k{number}" for number in range(40)] + ["é", "a" * 100]
    for text in texts:
        client.put_item(TableName="order-strings", Item={"pk": {"S": text}})
    got = [item["pk"]["S"] for item in pages(client, "scan", TableName="order-strings", Limit=7)]
    assert got == sorted(texts, key=lambda text: digest(text.encode()))


def test_a_scan_follows_the_hash_of_numbers(client, clean):
    clean("order-numbers")
    table(client, "order-numbers", {"pk": "N"}, KeySchema=keys("pk"))
    for number in NUMBERS:
        client.put_item(TableName="order-numbers", Item={"pk": {"N": str(number)}})
    got = [int(item["pk"]["N"]) for item in pages(client, "scan", TableName="order-numbers")]
    assert got == sorted(NUMBERS, key=lambda number: digest(NUMBERS[number]))


def test_segments_are_ranges_of_the_hash(client, clean):
    clean("order-segments")
    table(client, "order-segments", {"pk": "S"}, KeySchema=keys("pk"))
    texts = [f"k{number}" for number in range(40)]
    for text in texts:
        client.put_item(TableName="order-segments", Item={"pk": {"S": text}})
    for total in (2, 3):
        got = [
            item["pk"]["S"]
            for segment in range(total)
            for item in pages(
                client, "scan", TableName="order-segments", Segment=segment, TotalSegments=total
            )
        ]
        assert got == sorted(texts, key=lambda text: digest(text.encode()))


def test_entries_with_equal_keys_follow_the_hash_of_the_table_s_key(client, clean):
    clean("order-ties")
    projection = {"Projection": {"ProjectionType": "ALL"}}
    table(
        client,
        "order-ties",
        {"pk": "S", "sk": "S", "g": "S"},
        KeySchema=keys("pk", "sk"),
        GlobalSecondaryIndexes=[{"IndexName": "by-g", "KeySchema": keys("g"), **projection}],
        LocalSecondaryIndexes=[{"IndexName": "by-pk", "KeySchema": keys("pk", "g"), **projection}],
    )
    both = [(f"p{p}", f"s{s}") for p in range(4) for s in range(5)]
    for pk, sk in both:
        item = {"pk": {"S": pk}, "sk": {"S": sk}, "g": {"S": "same"}}
        client.put_item(TableName="order-ties", Item=item)
    in_order = sorted(both, key=lambda key: digest(key[0].encode(), key[1].encode()))

    def read(index, name, value, forward):
        items = pages(
            client, "query", TableName="order-ties", IndexName=index, Limit=3,
            KeyConditionExpression="#k = :v", ExpressionAttributeNames={"#k": name},
            ExpressionAttributeValues={":v": {"S": value}}, ScanIndexForward=forward,
        )  # fmt: skip
        return [(item["pk"]["S"], item["sk"]["S"]) for item in items]

    assert read("by-g", "g", "same", True) == in_order
    assert read("by-g", "g", "same", False) == in_order[::-1]
    of_p1 = [key for key in in_order if key[0] == "p1"]
    assert read("by-pk", "pk", "p1", True) == of_p1
    assert read("by-pk", "pk", "p1", False) == of_p1[::-1]


@pytest.mark.parametrize(
    "capacity, shards",
    [
        ({}, 4),
        ({"BillingMode": "PROVISIONED", "ProvisionedThroughput": (5, 5)}, 1),
        ({"BillingMode": "PROVISIONED", "ProvisionedThroughput": (3000, 1)}, 2),
    ],
)
def test_a_new_table_s_stream_has_a_shard_for_each_partition(client, streams, clean, capacity, shards):
    name = f"order-shards-{shards}"
    clean(name)
    capacity = dict(capacity)
    if "ProvisionedThroughput" in capacity:
        read, write = capacity["ProvisionedThroughput"]
        capacity["ProvisionedThroughput"] = {"ReadCapacityUnits": read, "WriteCapacityUnits": write}
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    table(client, name, {"pk": "S"}, KeySchema=keys("pk"), StreamSpecification=stream, **capacity)
    arn = client.describe_table(TableName=name)["Table"]["LatestStreamArn"]
    described = streams.describe_stream(StreamArn=arn)["StreamDescription"]
    assert len(described["Shards"]) == shards
