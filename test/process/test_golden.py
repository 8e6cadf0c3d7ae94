"""Stores that earlier versions wrote stay readable for good.

test/golden/format-N is a data directory of format N, written by `python3 test_golden.py DIRECTORY`
when the format was new. Each is copied, opened and compared; none is ever changed or removed.
"""

import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from stator_process import Connection, StatorProcess  # noqa: E402

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
            assert shown["AttributeDefinitions"] == request["AttributeDefinitions"]
            assert shown["ItemCount"] == len(ITEMS[table])
            for item in ITEMS[table]:
                key = {"TableName": table, "Key": key_of(table, item)}
                assert call(connection, "GetItem", key)["Item"] == item
        assert call(connection, "DescribeTable", {"TableName": "Pages"})["Table"][
            "DeletionProtectionEnabled"
        ]
        server.stop()


def test_there_is_a_store_of_the_present_format():
    assert (GOLDEN / "format-1" / "FORMAT").read_text() == "stator store, format 1\n"


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
