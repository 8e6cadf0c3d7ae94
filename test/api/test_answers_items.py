"""What the service answers to requests about items, captured in 2025 and 2026."""

import pytest
from answers import accept, create_usual, expect, item_of, refuse


@pytest.fixture(scope="module", autouse=True, name="tables")
def fixture_tables(connection):
    create_usual(connection)


# --- An update that only deletes creates nothing ---

SET = {":s": {"SS": ["x"]}}
DELETIONS = {
    "REMOVE": {"UpdateExpression": "REMOVE a"},
    "REMOVE of a path": {"UpdateExpression": "REMOVE x.y, z[0]"},
    "DELETE": {"UpdateExpression": "DELETE a :s", "ExpressionAttributeValues": SET},
    "AttributeUpdates": {"AttributeUpdates": {"a": {"Action": "DELETE"}}},
    "AttributeUpdates with a value": {
        "AttributeUpdates": {"a": {"Action": "DELETE", "Value": {"SS": ["x"]}}}
    },
}


@pytest.mark.parametrize("deletion", DELETIONS.values(), ids=DELETIONS)
@pytest.mark.parametrize("returned", ["NONE", "ALL_NEW", "ALL_OLD", "UPDATED_NEW", "UPDATED_OLD"])
def test_an_update_that_only_deletes_creates_no_item(connection, deletion, returned):
    key = {"pk": {"S": "none"}}
    expect(connection, "UpdateItem", {"TableName": "HHH", "Key": key, **deletion, "ReturnValues": returned}, {})
    assert item_of(connection, "HHH", pk="none") is None


def test_an_update_that_only_deletes_costs_a_write_of_nothing(connection):
    body = {"TableName": "HHH", "Key": {"pk": {"S": "none"}}, "ReturnConsumedCapacity": "TOTAL"}
    consumed = {"TableName": "HHH", "CapacityUnits": 1.0}
    expect(
        connection, "UpdateItem", {**body, "UpdateExpression": "REMOVE a"}, {"ConsumedCapacity": consumed}
    )


def test_an_update_of_a_transaction_that_only_deletes_creates_no_item(connection):
    update = {"TableName": "HHH", "Key": {"pk": {"S": "none"}}, "UpdateExpression": "REMOVE a"}
    expect(connection, "TransactWriteItems", {"TransactItems": [{"Update": update}]}, {})
    assert item_of(connection, "HHH", pk="none") is None


@pytest.mark.parametrize("missing", [{}, {"AttributeUpdates": {}}])
def test_an_update_without_an_action_creates_the_item(connection, missing):
    key = {"pk": {"S": "empty"}}
    accept(connection, "DeleteItem", {"TableName": "HHH", "Key": key})
    expect(connection, "UpdateItem", {"TableName": "HHH", "Key": key, **missing}, {})
    assert item_of(connection, "HHH", pk="empty") == key


def test_a_deletion_beside_a_set_creates_the_item(connection):
    update = {
        "TableName": "HHH",
        "Key": {"pk": {"S": "set"}},
        "UpdateExpression": "SET b = :s REMOVE a",
        "ExpressionAttributeValues": SET,
    }
    expect(connection, "UpdateItem", update, {})
    assert item_of(connection, "HHH", pk="set") == {"pk": {"S": "set"}, "b": {"SS": ["x"]}}


def test_a_deletion_below_an_attribute_that_an_item_lacks_is_refused(connection):
    accept(connection, "PutItem", {"TableName": "HHH", "Item": {"pk": {"S": "here"}}})
    refuse(
        connection,
        "UpdateItem",
        {"TableName": "HHH", "Key": {"pk": {"S": "here"}}, "UpdateExpression": "REMOVE x.y"},
        "The document path provided in the update expression is invalid for update",
    )
