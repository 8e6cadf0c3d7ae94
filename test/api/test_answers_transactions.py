"""What the service answers to transactions, captured in October 2026."""

import pytest
from answers import create_usual, expect, refuse

TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
    "beyond supported limit"
)


@pytest.fixture(scope="module", autouse=True, name="tables")
def fixture_tables(connection):
    create_usual(connection)


def deep(levels):
    value = {"S": "x"}
    for _ in range(levels - 1):
        value = {"L": [value]}
    return value


def put(value, **more):
    return {"Put": {"TableName": "HHH", "Item": {"pk": {"S": "p"}, "a": value}, **more}}


def delete(condition):
    key = {"pk": {"S": "d"}}
    return {"Delete": {"TableName": "HHH", "Key": key, "ConditionExpression": condition}}


def transact(connection, *actions, message):
    refuse(connection, "TransactWriteItems", {"TransactItems": list(actions)}, message)


# --- One action after the other ---

SYNTAX = 'Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"'


def test_a_syntax_error_of_the_first_action_comes_before_a_deep_value_of_the_second(connection):
    transact(connection, delete("a = = b"), put(deep(33)), message=SYNTAX)


def test_a_deep_value_of_the_first_action_comes_before_a_syntax_error_of_the_second(connection):
    transact(connection, put(deep(33)), delete("a = = b"), message=TOO_DEEP)


def test_an_element_without_an_action_comes_behind_a_fault_of_the_one_before(connection):
    transact(connection, delete("a = = b"), {}, message=SYNTAX)


# --- Parameters ---


def test_a_token_that_is_too_long_comes_before_a_bad_return_consumed_capacity(connection):
    token = "t" * 37
    body = {
        "TransactItems": [put({"S": "x"})],
        "ReturnConsumedCapacity": "SOME",
        "ClientRequestToken": token,
    }
    refuse(
        connection,
        "TransactWriteItems",
        body,
        f"2 validation errors detected: Value '{token}' at 'clientRequestToken' failed to satisfy "
        "constraint: Member must have length less than or equal to 36; Value 'SOME' at "
        "'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value "
        "set: [INDEXES, TOTAL, NONE]",
    )


# --- Nesting ---


@pytest.mark.parametrize("levels", [33, 62, 63, 64, 100])
def test_a_value_that_is_nested_too_deep_has_its_text(connection, levels):
    transact(connection, put(deep(levels)), message=TOO_DEEP)
    item = {"pk": {"S": "p"}, "a": deep(levels)}
    refuse(connection, "PutItem", {"TableName": "HHH", "Item": item}, TOO_DEEP)
    requests = {"HHH": [{"PutRequest": {"Item": item}}]}
    refuse(connection, "BatchWriteItem", {"RequestItems": requests}, TOO_DEEP)


def test_thirty_two_levels_are_stored(connection):
    expect(connection, "TransactWriteItems", {"TransactItems": [put(deep(32))]}, {})
