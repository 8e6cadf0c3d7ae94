"""What the service answers to requests about streams, captured in 2025 and 2026."""

import pytest
from answers import accept, create, refuse

NO_ARN = "this-is-no-arn-but-as-long-as-one-must-be-at-least"
BEHIND_ALL = "shardId-99999999999999999999-ffffffff"


@pytest.fixture(scope="module", name="arn")
def fixture_arn(connection):
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    create(connection, "Streamed", "pk", StreamSpecification=stream)
    return accept(connection, "DescribeTable", {"TableName": "Streamed"})["Table"]["LatestStreamArn"]


@pytest.mark.parametrize(
    "operation, request_",
    [
        ("ListStreams", {"ExclusiveStartStreamArn": NO_ARN}),
        ("DescribeStream", {"StreamArn": NO_ARN}),
        (
            "GetShardIterator",
            {"StreamArn": NO_ARN, "ShardId": BEHIND_ALL, "ShardIteratorType": "LATEST"},
        ),
    ],
)
def test_a_stream_arn_that_is_no_arn_is_refused(connection, operation, request_):
    refuse(connection, operation, request_, f"Invalid StreamArn: {NO_ARN}")


def test_an_arn_of_a_stream_that_is_not_there_is_not_found(connection, arn):
    other = arn.replace("Streamed", "Missing")
    refuse(
        connection,
        "DescribeStream",
        {"StreamArn": other},
        f"Requested resource not found: Stream: {other} not found",
        kind="ResourceNotFoundException",
    )


def shard_ids(connection, arn, **request):
    answer = accept(connection, "DescribeStream", {"StreamArn": arn, **request})
    return [shard["ShardId"] for shard in answer["StreamDescription"]["Shards"]]


def test_shards_follow_the_start_in_the_order_of_ids(connection, arn):
    every = shard_ids(connection, arn)
    assert len(every) == 4
    assert shard_ids(connection, arn, ExclusiveStartShardId=BEHIND_ALL) == []
    assert shard_ids(connection, arn, ExclusiveStartShardId="z" * 28) == []
    assert shard_ids(connection, arn, ExclusiveStartShardId="a" * 28) == every
    assert shard_ids(connection, arn, ExclusiveStartShardId=every[1]) == every[2:]
    between = every[1] + "0"  # Sorts behind the second, and is none of them.
    assert shard_ids(connection, arn, ExclusiveStartShardId=between) == every[2:]


@pytest.mark.parametrize(
    "filter_, member",
    [
        ({}, "type' failed to satisfy constraint: Member must be CHILD_SHARDS"),
        ({"ShardId": BEHIND_ALL}, "type' failed to satisfy constraint: Member must be CHILD_SHARDS"),
        ({"Type": "CHILD_SHARDS"}, "shardId' failed to satisfy constraint: Member must not be null"),
    ],
)
def test_a_shard_filter_has_a_type_and_a_shard(connection, arn, filter_, member):
    refuse(
        connection,
        "DescribeStream",
        {"StreamArn": arn, "ShardFilter": filter_},
        f"1 validation error detected: Value 'null' at 'shardFilter.{member}",
    )
