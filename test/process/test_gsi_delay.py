"""gsi-delay-ms reaches the reads of global indexes, and nothing else."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from stator_process import Connection, StatorProcess  # noqa: E402

TABLE = {
    "TableName": "Orders",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("id", "state")
    ],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-state",
            "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
ITEM = {"id": {"S": "1"}, "state": {"S": "open"}}
HOUR_MS = 60 * 60 * 1000


def call(connection, operation, body):
    status, answer = connection.call(operation, body)
    assert status == 200, answer
    return answer


@pytest.mark.parametrize("delay_ms, shown", [(0, 1), (HOUR_MS, 0)])
def test_a_global_index_is_as_old_as_told(tmp_path, delay_ms, shown):
    flags = ("--data-dir", str(tmp_path), "--gsi-delay-ms", str(delay_ms))
    with StatorProcess(*flags) as server:
        connection = Connection(server.port)
        call(connection, "CreateTable", TABLE)
        call(connection, "PutItem", {"TableName": "Orders", "Item": ITEM})
        index = {"TableName": "Orders", "IndexName": "by-state"}
        assert call(connection, "Scan", {"TableName": "Orders"})["Items"] == [ITEM]
        assert call(connection, "Scan", index)["Count"] == shown
        server.stop()
    with StatorProcess(*flags) as server:
        assert call(Connection(server.port), "Scan", index)["Items"] == [ITEM]
        server.stop()
