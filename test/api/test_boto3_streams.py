"""Debian's boto3 with the client `dynamodbstreams`: shards, iterators, records, errors by code."""

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
TABLE = "boto3-streams"


@pytest.fixture(scope="module")
def client(server_url):
    return boto3.client("dynamodb", endpoint_url=server_url, **SETTINGS)


@pytest.fixture(scope="module")
def streams(server_url):
    return boto3.client("dynamodbstreams", endpoint_url=server_url, **SETTINGS)


@pytest.fixture(scope="module")
def arn(client):
    return client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )["TableDescription"]["LatestStreamArn"]


def read_all(streams, arn):
    found = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        found += streams.get_records(ShardIterator=iterator)["Records"]
    return found


def test_records_have_the_values_that_were_written(client, streams, arn):
    item = {
        "pk": {"S": "é"},
        "binary": {"B": b"\x00\xff"},
        "list": {"L": [{"NULL": True}, {"BOOL": False}]},
        "map": {"M": {"n": {"N": "-1.5"}}},
        "set": {"NS": ["1", "2"]},
    }
    client.put_item(TableName=TABLE, Item=item)
    client.delete_item(TableName=TABLE, Key={"pk": {"S": "é"}})
    inserted, removed = read_all(streams, arn)
    assert inserted["eventName"] == "INSERT"
    assert inserted["dynamodb"]["NewImage"] == item
    assert "OldImage" not in inserted["dynamodb"]
    assert removed["eventName"] == "REMOVE"
    assert removed["dynamodb"]["OldImage"] == item
    assert inserted["dynamodb"]["Keys"] == {"pk": {"S": "é"}}
    assert inserted["awsRegion"] == "us-east-1"
    assert inserted["dynamodb"]["ApproximateCreationDateTime"].microsecond == 0


def test_streams_are_found_by_their_table(streams, arn):
    found = streams.list_streams(TableName=TABLE)["Streams"]
    assert [stream["StreamArn"] for stream in found] == [arn]


def test_what_is_not_there_is_refused(streams, arn):
    other = arn.replace(TABLE, "nobody")
    with pytest.raises(streams.exceptions.ResourceNotFoundException) as caught:
        streams.describe_stream(StreamArn=other)
    assert (
        caught.value.response["Error"]["Message"]
        == f"Requested resource not found: Stream: {other} not found"
    )
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        streams.get_records(ShardIterator="none of ours")
    assert caught.value.response["Error"] == {
        "Code": "ValidationException",
        "Message": "Invalid ShardIterator",
    }
