"""`stator history`: the versions of an item in the terminal."""

import json
import re
import subprocess

import pytest

import stator_process
from stator_process import Connection, StatorProcess, create_table

TIMEOUT_S = 60
LEVELS = 32  # The service's bound on the nesting of an attribute.


def run(server, *words):
    return subprocess.run(
        [stator_process.binary(), "history", *words, "--endpoint", server.url],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def lines(server, *words):
    done = run(server, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def call(connection, operation, body):
    status, answer = connection.call(operation, body)
    assert status == 200, answer
    return answer


@pytest.fixture(scope="module")
def server():
    with StatorProcess("--in-memory") as started:
        connection = Connection(started.port)
        for name, sort_key in (("Accounts", False), ("Orders", True)):
            create_table(connection, name, sort_key=sort_key)
            recovery = {"PointInTimeRecoveryEnabled": True}
            request = {"TableName": name, "PointInTimeRecoverySpecification": recovery}
            call(connection, "UpdateContinuousBackups", request)
        for number in range(3):
            item = {"pk": {"S": "alice"}, "balance": {"N": str(number)}}
            call(connection, "PutItem", {"TableName": "Accounts", "Item": item})
        call(connection, "DeleteItem", {"TableName": "Accounts", "Key": {"pk": {"S": "alice"}}})
        connection.close()
        yield started


def test_versions_are_listed_newest_first(server):
    found = lines(server, "Accounts", "alice")
    assert [line.split()[1] for line in found] == ["REMOVE", "MODIFY", "MODIFY", "INSERT"]
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z  ", line) for line in found)
    images = [json.loads(line.split("  ")[2])["balance"]["N"] for line in found]
    assert images == ["2", "2", "1", "0"]  # Of a deletion: the item before.
    assert lines(server, "Accounts", "alice", "--max", "2") == found[:2]
    assert lines(server, "Accounts", '{"pk":{"S":"alice"}}') == found
    assert lines(server, "Accounts", "nobody") == []


def test_more_than_a_page_is_shown(server):
    connection = Connection(server.port)
    for number in range(130):
        item = {"pk": {"S": "busy"}, "n": {"N": str(number)}}
        call(connection, "PutItem", {"TableName": "Accounts", "Item": item})
    connection.close()
    found = lines(server, "Accounts", "busy", "--max", "1000", "--json")
    numbers = [int(json.loads(line)["NewImage"]["n"]["N"]) for line in found]
    assert numbers == list(range(129, -1, -1))
    assert len(lines(server, "Accounts", "busy")) == 20


def test_the_deepest_item_is_shown(server):
    value = {"S": "bottom"}
    for level in range(LEVELS - 1):
        value = {"M": {"a": value}} if level % 2 else {"L": [value]}
    item = {"pk": {"S": "deep"}, "sk": {"N": "1"}, "value": value}
    connection = Connection(server.port)
    call(connection, "PutItem", {"TableName": "Orders", "Item": item})
    connection.close()
    (line,) = lines(server, "Orders", "deep", "1")
    assert json.loads(line.split("  ", 2)[2]) == item
    (line,) = lines(server, "Orders", "deep", "1", "--json")
    assert json.loads(line)["NewImage"] == item


def test_mistakes_are_explained(server):
    for words, code, text in (
        (("Orders", "deep"), 2, "has a sort key: give both values of the key"),
        (("Accounts", "a", "b"), 2, "has no sort key: give one value"),
        (("Nowhere", "a"), 1, "Requested resource not found"),
        (("Accounts", "a", "--from", "yesterday"), 2, "expected a time such as"),
    ):
        done = run(server, *words)
        assert done.returncode == code and text in done.stderr, (words, done.stderr)
