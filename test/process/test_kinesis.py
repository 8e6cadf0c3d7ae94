"""Kinesis destinations of a running server, with a real Kinesis server beside it: statuses, the
form of records, what enabling and disabling streams meanwhile does, metrics, and the end."""

import re
import urllib.request

import pytest
from botocore.exceptions import ClientError

from kinesis_server import (
    ARN,
    KinesisServer,
    Reader,
    client,
    enable,
    status_of,
    wait_for,
    write_key_file,
)
from stator_process import Connection, StatorProcess, check

TABLE = "orders"


@pytest.fixture(name="kinesis")
def fixture_kinesis(tmp_path):
    with KinesisServer(tmp_path / "kinesis") as kinesis:
        yield kinesis


def start(tmp_path, kinesis, *flags):
    return StatorProcess(
        "--data-dir",
        str(tmp_path / "data"),
        "--kinesis-endpoint",
        kinesis.url,
        "--kinesis-key-file",
        write_key_file(tmp_path / "credentials"),
        *flags,
    )


@pytest.fixture(name="server")
def fixture_server(tmp_path, kinesis):
    with start(tmp_path, kinesis) as server:
        yield server
        server.stop()
    check(tmp_path / "data")


@pytest.fixture(name="dynamodb")
def fixture_dynamodb(server):
    return client("dynamodb", server.url)


def create_table(dynamodb, **settings):
    dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}],
        **settings,
    )


def put(dynamodb, name, value):
    dynamodb.put_item(TableName=TABLE, Item={"p": {"S": name}, "v": {"N": str(value)}})


def metrics(server):
    return urllib.request.urlopen(f"{server.url}/metrics").read().decode()


def await_records(reader, count):
    wait_for(lambda: len(reader.read()) >= count, f"{count} records")
    records = reader.read()
    assert len(records) == count
    return records


def test_a_record_has_the_services_form_and_both_images(kinesis, dynamodb):
    create_table(dynamodb)
    arn = kinesis.create_stream("changes")
    answer = dynamodb.enable_kinesis_streaming_destination(TableName=TABLE, StreamArn=arn)
    del answer["ResponseMetadata"]
    assert answer.pop("EnableKinesisStreamingConfiguration", {}) == {}  # An old SDK drops it.
    assert answer == {
        "TableName": TABLE,
        "StreamArn": arn,
        "DestinationStatus": "ENABLING",
    }
    wait_for(lambda: status_of(dynamodb, TABLE, arn) == "ACTIVE", "destination that is ACTIVE")
    described = dynamodb.describe_kinesis_streaming_destination(TableName=TABLE)
    assert described["KinesisDataStreamDestinations"] == [
        {"StreamArn": arn, "DestinationStatus": "ACTIVE"}
    ]
    put(dynamodb, "a", 1)
    put(dynamodb, "a", 2)
    dynamodb.delete_item(TableName=TABLE, Key={"p": {"S": "a"}})
    dynamodb.delete_item(TableName=TABLE, Key={"p": {"S": "a"}})  # Changes nothing.
    records = await_records(Reader(kinesis, "changes"), 3)
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
    assert len({record["eventID"] for record in records}) == 3
    assert len({record.pop("key") for record in records}) == 1
    old, new = ({"p": {"S": "a"}, "v": {"N": str(value)}} for value in (1, 2))
    change = records[1]
    time_ms = change["dynamodb"].pop("ApproximateCreationDateTime")
    assert 1_700_000_000_000 < time_ms < 10_000_000_000_000
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}",
                        change.pop("eventID"))
    assert list(change) == [
        "awsRegion", "eventName", "userIdentity", "recordFormat", "tableName", "dynamodb",
        "eventSource",
    ]
    assert change == {
        "awsRegion": "us-east-1",
        "eventName": "MODIFY",
        "userIdentity": None,
        "recordFormat": "application/json",
        "tableName": TABLE,
        "dynamodb": {
            "Keys": {"p": {"S": "a"}},
            "NewImage": new,
            "OldImage": old,
            "SizeBytes": 2 + 5 + 5,
        },
        "eventSource": "aws:dynamodb",
    }
    assert "OldImage" not in records[0]["dynamodb"] and "NewImage" not in records[2]["dynamodb"]


def test_microseconds_are_shown_from_the_update_on(kinesis, server, dynamodb):
    create_table(dynamodb)
    arn = kinesis.create_stream("changes")
    reader = Reader(kinesis, "changes")
    enable(dynamodb, TABLE, arn)
    put(dynamodb, "a", 1)
    await_records(reader, 1)
    connection = Connection(server.port)
    precision = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
    status, answer = connection.call(
        "UpdateKinesisStreamingDestination",  # Older than some SDKs.
        {"TableName": TABLE, "StreamArn": arn, "UpdateKinesisStreamingConfiguration": precision},
    )
    assert status == 200 and answer == {
        "TableName": TABLE,
        "StreamArn": arn,
        "DestinationStatus": "UPDATING",
        "UpdateKinesisStreamingConfiguration": precision,
    }
    wait_for(lambda: status_of(dynamodb, TABLE, arn) == "ACTIVE", "destination that is ACTIVE")
    _, described = connection.call("DescribeKinesisStreamingDestination", {"TableName": TABLE})
    connection.close()
    assert described["KinesisDataStreamDestinations"] == [
        {"StreamArn": arn, "DestinationStatus": "ACTIVE", **precision}
    ]
    put(dynamodb, "a", 2)
    change = await_records(reader, 2)[1]["dynamodb"]
    assert change["ApproximateCreationDateTime"] > 1_700_000_000_000_000
    assert list(change)[-1] == "ApproximateCreationDateTimePrecision"
    assert change["ApproximateCreationDateTimePrecision"] == "MICROSECOND"


def test_a_stream_that_comes_and_goes_neither_shows_nor_hides_changes(kinesis, server, dynamodb):
    create_table(dynamodb)
    arn = kinesis.create_stream("changes")
    streams = client("dynamodbstreams", server.url)
    enable(dynamodb, TABLE, arn)
    before = dynamodb.describe_table(TableName=TABLE)["Table"]
    assert "LatestStreamArn" not in before and "StreamSpecification" not in before
    assert streams.list_streams(TableName=TABLE)["Streams"] == []
    put(dynamodb, "a", 1)
    value, shown = 1, []
    for view in ("KEYS_ONLY", "OLD_IMAGE"):
        stream = dynamodb.update_table(
            TableName=TABLE,
            StreamSpecification={"StreamEnabled": True, "StreamViewType": view},
        )["TableDescription"]["LatestStreamArn"]
        put(dynamodb, "a", value + 1)
        dynamodb.update_table(TableName=TABLE, StreamSpecification={"StreamEnabled": False})
        put(dynamodb, "a", value + 2)
        value += 2
        shown.append(stream)
    for stream, view in zip(shown, ("KEYS_ONLY", "OLD_IMAGE")):
        description = streams.describe_stream(StreamArn=stream)["StreamDescription"]
        assert description["StreamStatus"] == "DISABLED"
        found = []
        for shard in description["Shards"]:
            iterator = streams.get_shard_iterator(
                StreamArn=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            page = streams.get_records(ShardIterator=iterator)
            assert "NextShardIterator" not in page
            found += page["Records"]
        assert len(found) == 1
        assert ("OldImage" in found[0]["dynamodb"]) == (view == "OLD_IMAGE")
        assert "NewImage" not in found[0]["dynamodb"]
    records = await_records(Reader(kinesis, "changes"), value)
    numbers = [int(record["dynamodb"]["NewImage"]["v"]["N"]) for record in records]
    assert numbers == list(range(1, value + 1))
    assert all("OldImage" in record["dynamodb"] for record in records[1:])


def test_a_stream_that_cannot_be_used_fails_after_the_answer(kinesis, server, dynamodb):
    create_table(dynamodb)
    cases = {
        ARN + "nowhere": "User does not have a permission to use kinesis stream",
        ARN.replace("us-east-1", "us-west-2") + "far": "The kinesis Arn used to enable kinesis "
        "replication belongs to a stream which is not in the current region",
        "arn:aws:firehose:us-east-1:000000000000:deliverystream/x": "The kinesis Arn used to "
        "enable kinesis replication belongs to a stream which is not in Active state",
    }
    for arn, description in cases.items():
        dynamodb.enable_kinesis_streaming_destination(TableName=TABLE, StreamArn=arn)
        wait_for(lambda: status_of(dynamodb, TABLE, arn) == "ENABLE_FAILED", "failure")
        entries = dynamodb.describe_kinesis_streaming_destination(TableName=TABLE)
        (entry,) = [
            entry
            for entry in entries["KinesisDataStreamDestinations"]
            if entry["StreamArn"] == arn
        ]
        assert entry["DestinationStatusDescription"] == description
    assert len(entries["KinesisDataStreamDestinations"]) == len(cases)  # They pile up.
    arn = kinesis.create_stream("nowhere")
    enable(dynamodb, TABLE, arn)
    dynamodb.disable_kinesis_streaming_destination(TableName=TABLE, StreamArn=arn)
    wait_for(lambda: status_of(dynamodb, TABLE, arn) == "DISABLED", "end")
    with pytest.raises(ClientError, match="must be ACTIVE to perform DISABLE operation"):
        dynamodb.disable_kinesis_streaming_destination(TableName=TABLE, StreamArn=arn)
    put(dynamodb, "unseen", 1)
    enable(dynamodb, TABLE, arn)
    put(dynamodb, "seen", 1)
    (record,) = await_records(Reader(kinesis, "nowhere"), 1)
    assert record["dynamodb"]["Keys"] == {"p": {"S": "seen"}}
    dynamodb.delete_table(TableName=TABLE)
    create_table(dynamodb)
    described = dynamodb.describe_kinesis_streaming_destination(TableName=TABLE)
    assert described["KinesisDataStreamDestinations"] == []


def test_changes_wait_for_a_server_that_is_away_and_survive_restarts(tmp_path, kinesis):
    arn = kinesis.create_stream("changes", shards=3)
    with start(tmp_path, kinesis) as server:
        dynamodb = client("dynamodb", server.url)
        create_table(dynamodb)
        enable(dynamodb, TABLE, arn)
        kinesis.kill()
        for value in range(30):
            put(dynamodb, f"key {value % 7}", value)
        assert 'stator_kinesis_lag_seconds{table="orders"' in metrics(server)
        server.kill()
    with start(tmp_path, kinesis) as server:
        for value in range(30, 40):
            put(client("dynamodb", server.url), f"key {value % 7}", value)
        kinesis.start()
        reader = Reader(kinesis, "changes")
        wait_for(lambda: len(reader.read()) >= 40, "all records")
        values = {}
        for record in reader.read():
            image = record["dynamodb"]["NewImage"]
            values.setdefault(image["p"]["S"], []).append(int(image["v"]["N"]))
        assert sorted(sum(values.values(), [])) == list(range(40))
        assert all(numbers == sorted(numbers) for numbers in values.values())
        counted = r'stator_kinesis_delivered_records_total\{table="orders".*\} 40'
        wait_for(lambda: re.search(counted, metrics(server)), "count of 40")
        server.stop()
    check(tmp_path / "data")
