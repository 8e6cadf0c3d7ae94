"""Stores that earlier versions wrote stay readable for good.

test/golden/format-N is a data directory of format N, written by `python3 test_golden.py DIRECTORY`
when the format was new. test/golden/streams-1 has streams and a token from before there was server
time, written by `python3 test_golden.py DIRECTORY streams`. test/golden/keys-N/KEYS is a file of
access keys of version N. Each is copied, opened and compared; none is ever changed or removed.
"""

import pathlib
import shutil
import struct
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import stator_process  # noqa: E402
import stream_replay  # noqa: E402
from stator_process import Connection, Keys, StatorProcess  # noqa: E402

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"

TABLES = {
    "Pages": {
        "TableName": "Pages",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "site", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "N"},
        ],
        "KeySchema": [
            {"AttributeName": "site", "KeyType": "HASH"},
            {"AttributeName": "at", "KeyType": "RANGE"},
        ],
        "Tags": [{"Key": "team", "Value": "docs"}],
        "DeletionProtectionEnabled": True,
    },
    "Blobs": {
        "TableName": "Blobs",
        "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4},
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "B"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    },
}

# Every type, and numbers and keys at the edges of their encodings.
ITEMS = {
    "Pages": [
        {
            "site": {"S": "example"},
            "at": {"N": number},
            "text": {"S": "héllo 😀"},
            "empty": {"S": ""},
            "raw": {"B": "AAEC/w=="},
            "yes": {"BOOL": True},
            "no": {"BOOL": False},
            "nothing": {"NULL": True},
            "list": {"L": [{"N": "1.5"}, {"M": {"deep": {"L": []}}}]},
            "map": {"M": {"b": {"S": "2"}, "a": {"N": "-7"}}},
            "words": {"SS": ["a", "b"]},
            "numbers": {"NS": ["-1", "0.001", "1000"]},
            "bytes": {"BS": ["AA==", "AAA="]},
        }
        for number in ("0", "-1", "100", "0.000001", "12345678901234567890123456789012345678")
    ],
    "Blobs": [{"id": {"B": key}, "size": {"N": "1"}} for key in ("AA==", "AAD/", "/////w==")],
}


def call(connection, operation, body):
    status, answer = connection.call(operation, body)
    assert status == 200, answer
    return answer


def key_of(table, item):
    return {e["AttributeName"]: item[e["AttributeName"]] for e in TABLES[table]["KeySchema"]}


def write(directory):
    """A store whose content lies partly in table files and partly in the write-ahead log."""
    for part in range(2):
        with StatorProcess("--data-dir", str(directory)) as server:
            connection = Connection(server.port)
            for table, request in TABLES.items():
                if part == 0:
                    call(connection, "CreateTable", request)
                for item in ITEMS[table][part::2]:
                    call(connection, "PutItem", {"TableName": table, "Item": item})
            server.stop()
    for log in directory.glob("LOG*"):
        log.unlink()


@pytest.mark.parametrize("store", sorted(GOLDEN.glob("format-*")), ids=lambda path: path.name)
def test_a_store_of_an_earlier_format_is_read_whole(store, tmp_path):
    shutil.copytree(store, tmp_path / "data")
    with StatorProcess("--data-dir", str(tmp_path / "data")) as server:
        connection = Connection(server.port)
        for table, request in TABLES.items():
            shown = call(connection, "DescribeTable", {"TableName": table})["Table"]
            assert shown["KeySchema"] == request["KeySchema"]
            by_name = sorted(request["AttributeDefinitions"], key=lambda each: each["AttributeName"])
            assert shown["AttributeDefinitions"] == by_name
            assert shown["ItemCount"] == len(ITEMS[table])
            for item in ITEMS[table]:
                key = {"TableName": table, "Key": key_of(table, item)}
                assert call(connection, "GetItem", key)["Item"] == item
        assert call(connection, "DescribeTable", {"TableName": "Pages"})["Table"][
            "DeletionProtectionEnabled"
        ]
        server.stop()


# The master key of test/golden/keys-N, which `stator key` and `stator policy` of that time wrote.
MASTER_KEY = bytes(range(32)).hex()


@pytest.mark.parametrize("golden", sorted(GOLDEN.glob("keys-*")), ids=lambda path: path.name)
def test_keys_of_an_earlier_version_are_read_and_written_anew(golden, tmp_path):
    keys = Keys(tmp_path, master_key=MASTER_KEY)
    keys.command("key", "list")  # Makes the directory.
    file = tmp_path / "data" / "KEYS"
    shutil.copyfile(golden / "KEYS", file)
    file.chmod(0o600)
    listed = keys.command("key", "list")
    assert listed == "AKIAIZR7XYFIEOHLUERE alice active 2026-11-16T04:36:58Z everything\n"
    keys.create("bob")
    assert file.read_bytes().startswith(b"stator keys 2\n")
    assert listed in keys.command("key", "list")


def test_there_is_a_store_of_the_present_format():
    assert (GOLDEN / "format-1" / "FORMAT").read_text() == "stator store, format 1\n"


# --- Streams ---

ORDERS = [f"order-{number}" for number in range(12)]
MONTH_S = 30 * 24 * 3600


def count_with_token(connection):
    update = {
        "TableName": "Orders",
        "Key": {"pk": {"S": "counter"}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    call(
        connection,
        "TransactWriteItems",
        {"TransactItems": [{"Update": update}], "ClientRequestToken": "token-1"},
    )


def stream_arns(connection):
    return {s["TableName"]: s["StreamArn"] for s in call(connection, "ListStreams", {})["Streams"]}


def write_streams(directory):
    """A stream with ended and open shards, one that was disabled with its table, and a token."""
    for part in range(2):
        with StatorProcess("--data-dir", str(directory), "--stream-rollover-ms", "1500") as server:
            connection = Connection(server.port)
            if part == 0:
                for table in ("Orders", "Gone"):
                    stator_process.create_table(connection, table, stream="NEW_IMAGE")
                call(connection, "PutItem", {"TableName": "Gone", "Item": {"pk": {"S": "last"}}})
                call(connection, "DeleteTable", {"TableName": "Gone"})
            for key in ORDERS[part::2]:
                call(connection, "PutItem", {"TableName": "Orders", "Item": {"pk": {"S": key}}})
            time.sleep(2)  # A rollover.
            if part == 1:
                count_with_token(connection)
            server.stop()
    for file in [*directory.glob("LOG*"), directory / "RESERVE"]:
        file.unlink(missing_ok=True)


def recorded_keys(connection, arn):
    records = stream_replay.all_records(connection, arn)
    return sorted(record["dynamodb"]["Keys"]["pk"]["S"] for record in records)


@pytest.mark.parametrize("ahead_s", [0, MONTH_S, -MONTH_S], ids=["now", "ahead", "behind"])
def test_streams_and_tokens_from_before_server_time_are_kept(tmp_path, ahead_s):
    """They count as stored when a server with server time first opens them."""
    shutil.copytree(GOLDEN / "streams-1", tmp_path / "data")
    (tmp_path / "clock").write_bytes(struct.pack("=q", ahead_s))
    variables = {
        "LD_PRELOAD": stator_process.preload("moving_clock"),
        "MOVING_CLOCK_FILE": str(tmp_path / "clock"),
    }
    flags = ("--data-dir", str(tmp_path / "data"))
    expected = sorted([*ORDERS, "counter"])
    for new in ("first", "second"):
        server = StatorProcess(
            *flags, program=stator_process.binary("STATOR_RELEASE_BINARY", "build/stator"),
            variables=variables,
        )
        with server:
            connection = Connection(server.port)
            arns = stream_arns(connection)
            assert recorded_keys(connection, arns["Gone"]) == ["last"]
            count_with_token(connection)
            counter = {"TableName": "Orders", "Key": {"pk": {"S": "counter"}}}
            assert call(connection, "GetItem", counter)["Item"]["n"] == {"N": "1"}
            assert recorded_keys(connection, arns["Orders"]) == expected
            call(connection, "PutItem", {"TableName": "Orders", "Item": {"pk": {"S": new}}})
            expected = sorted([*expected, new])
            assert recorded_keys(connection, arns["Orders"]) == expected
            server.stop()
    assert stator_process.check(tmp_path / "data").returncode == 0


if __name__ == "__main__":
    (write_streams if sys.argv[2:] == ["streams"] else write)(pathlib.Path(sys.argv[1]))
