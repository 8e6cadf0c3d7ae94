"""What the service answers about global tables of version 2017.11.29, which it no longer creates,
and about the replicas of tables that have none; measured in October 2026."""

import pytest
from answers import accept, create, refuse

UNSUPPORTED = (
    "One or more parameter values were invalid: DynamoDB global tables version 2017.11.29 is not "
    "supported. We recommend using DynamoDB global tables version 2019.11.21, instead of version "
    "2017.11.29 (Legacy)."
)


@pytest.fixture(scope="module", autouse=True)
def fixture_table(connection):
    create(connection, "Global", "pk")


def absent(name, before=""):
    return f"{before}Global table with name: '{name}' does not exist."


@pytest.mark.parametrize("name", ["Global", "Nowhere"])
def test_creation_is_refused_whether_the_table_exists_or_not(connection, name):
    body = {"GlobalTableName": name, "ReplicationGroup": [{"RegionName": "eu-west-1"}]}
    refuse(connection, "CreateGlobalTable", body, UNSUPPORTED)
    updates = [{"Delete": {"RegionName": "a"}}, {"Create": {"RegionName": "b"}}]
    body = {"GlobalTableName": name, "ReplicaUpdates": updates}
    refuse(connection, "UpdateGlobalTable", body, UNSUPPORTED)


def test_shapes_are_checked_first(connection):
    refuse(
        connection,
        "CreateGlobalTable",
        {"GlobalTableName": "Global"},
        "1 validation error detected: Value null at 'replicationGroup' failed to satisfy "
        "constraint: Member must not be null",
    )
    for updates in ([], [{}]):
        refuse(
            connection,
            "UpdateGlobalTable",
            {"GlobalTableName": "Global", "ReplicaUpdates": updates},
            "One or more parameter values were invalid",
        )


@pytest.mark.parametrize("name", ["", "ab", "a" * 256])
@pytest.mark.parametrize("operation", ["DescribeGlobalTable", "DescribeGlobalTableSettings"])
def test_the_length_of_a_name(connection, operation, name):
    message = "TableName must be at least 3 characters long and at most 255 characters long"
    refuse(connection, operation, {"GlobalTableName": name}, message)


@pytest.mark.parametrize("name", ["Global", "Nowhere"])
def test_nothing_is_a_global_table(connection, name):
    kind = "GlobalTableNotFoundException"
    named = {"GlobalTableName": name}
    deletes = [{"Delete": {"RegionName": "eu-west-1"}}]
    for operation, body, message in [
        ("DescribeGlobalTable", named, absent(name, "Global table not found: ")),
        ("DescribeGlobalTableSettings", named, absent(name)),
        ("UpdateGlobalTableSettings", named, absent(name)),
        ("UpdateGlobalTable", {**named, "ReplicaUpdates": deletes}, absent(name)),
    ]:
        refuse(connection, operation, body, message, kind)
    for operation in ["DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"]:
        body = {"TableName": name}
        refuse(connection, operation, body, absent(name), "ResourceNotFoundException")


def test_lists_are_empty(connection):
    assert accept(connection, "ListGlobalTables", {}) == {"GlobalTables": []}
    assert accept(connection, "ListGlobalTables", {"RegionName": "x"}) == {"GlobalTables": []}
