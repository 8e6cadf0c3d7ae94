"""Servers that end in the middle of an import: the next one finishes it, to the record.

The points are those of kill_points.py, for what an import writes: its batches in the log, and the
file of the records that it refuses.
"""

import json
import random
import time

import power_cut
import pytest
import stator_process
from stator_process import Connection, StatorProcess, binary

ITEMS, BAD_EVERY = 3000, 50
LOG, ERRORS = "*.log", "error"
END_MAX_S = 120

POINTS = {
    "import_table_appended": ("after", "write", LOG, 2),
    "import_appended": ("after", "write", LOG, 6),
    "before_import_sync": ("before", "sync", LOG, 6),
    "import_synced": ("after", "sync", LOG, 6),
    "error_folder_made": ("after", "mkdir", "imports", 1),
    "before_errors": ("before", "write", ERRORS, 3),
    "errors_written": ("after", "write", ERRORS, 3),
    "before_errors_sync": ("before", "sync", ERRORS, 3),
    "errors_synced": ("after", "sync", ERRORS, 3),
}

# The libraries that kill it are loaded before it, which ASan does not allow.
PROGRAM = binary("STATOR_RELEASE_BINARY", "build/stator", "build/release/stator")


def put_objects(folder):
    folder.mkdir(parents=True)
    for part in range(3):
        with open(folder / f"part-{part}", "w", encoding="utf-8") as file:
            for number in range(ITEMS):
                name = "q" if number % BAD_EVERY == 7 else "p"
                item = {name: {"S": f"{part}-{number}"}, "g": {"S": f"g{number % 10}"}}
                file.write(json.dumps({"Item": item}) + "\n")


def request():
    names = [{"AttributeName": name, "AttributeType": "S"} for name in ("p", "g")]
    return {
        "ClientToken": "token",
        "S3BucketSource": {"S3Bucket": "in"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": {
            "TableName": "imported",
            "AttributeDefinitions": names,
            "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "by_g",
                    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
        },
    }


def start(root, variables=None):
    flags = ["--data-dir", str(root / "data"), "--buckets", str(root / "buckets")]
    return StatorProcess(*flags, program=PROGRAM, variables=variables)


def begin(server):
    """Starts the import, or finds the one that was. The server may end meanwhile."""
    try:
        connection = Connection(server.port)
        status, answer = connection.call("ImportTable", request())
        connection.close()
    except OSError:
        return
    assert status == 200 or "already exists" in answer["message"], answer


def has_ended(server):
    """Whether the server has finished the import; False if it does not answer any more."""
    try:
        connection = Connection(server.port)
        summaries = connection.call("ListImports", {})[1]["ImportSummaryList"]
        connection.close()
    except OSError:
        return False
    return [entry["ImportStatus"] for entry in summaries] not in ([], ["IN_PROGRESS"])


def wait_for_death(server):
    """False if the import came to its end without the call that was to kill the server."""
    deadline = time.monotonic() + END_MAX_S
    while server.process.poll() is None and time.monotonic() < deadline:
        if has_ended(server):
            break
        time.sleep(0.02)
    return server.process.poll() is not None


def wait_for_end(connection):
    deadline = time.monotonic() + END_MAX_S
    while time.monotonic() < deadline:
        summaries = connection.call("ListImports", {})[1]["ImportSummaryList"]
        assert len(summaries) == 1
        arn = summaries[0]["ImportArn"]
        answer = connection.call("DescribeImport", {"ImportArn": arn})[1]["ImportTableDescription"]
        if answer["ImportStatus"] != "IN_PROGRESS":
            return answer
        time.sleep(0.05)
    raise AssertionError("the import does not end")


def count(connection, **more):
    total, start_key = 0, {}
    while True:
        body = {"TableName": "imported", "Select": "COUNT", **more, **start_key}
        answer = connection.call("Scan", body)[1]
        total += answer["Count"]
        if "LastEvaluatedKey" not in answer:
            return total
        start_key = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def check_result(root, server):
    bad = 3 * (ITEMS // BAD_EVERY)
    good = 3 * ITEMS - bad
    connection = Connection(server.port)
    answer = wait_for_end(connection)
    assert (answer["ImportStatus"], answer["FailureCode"]) == ("FAILED", "ItemValidationError")
    assert answer["ProcessedItemCount"] == 3 * ITEMS
    assert (answer["ImportedItemCount"], answer["ErrorCount"]) == (good, bad)
    assert count(connection) == good
    assert count(connection, IndexName="by_g") == good
    described = connection.call("DescribeTable", {"TableName": "imported"})[1]["Table"]
    assert (described["TableStatus"], described["ItemCount"]) == ("ACTIVE", good)
    connection.close()
    identifier = answer["ImportArn"].rsplit("/", 1)[1]
    lines = (root / "data/imports" / identifier / "error").read_text().splitlines()
    places = [
        (line["itemS3Pointer"]["key"], line["itemS3Pointer"]["itemIndex"])
        for line in map(json.loads, lines)
    ]
    assert places == [
        (f"part-{part}", number)
        for part in range(3)
        for number in range(ITEMS)
        if number % BAD_EVERY == 7
    ]


@pytest.mark.parametrize("name", POINTS)
def test_an_import_survives_the_end_of_its_server(name, tmp_path):
    choices = random.Random(name)
    when, call, file, count_max = POINTS[name]
    root = tmp_path / "root"
    root.mkdir()
    put_objects(root / "buckets/in")
    with start(root) as server:
        server.stop()  # The store is there; what follows is the import's.
    for turn in range(3):
        kill = f"{when}/{call}/{file}/*/{choices.randint(1, count_max)}"
        try:
            server = start(root, power_cut.variables(root, kill=kill))
        except stator_process.DidNotStart:
            assert turn > 0  # The import goes on as soon as the store is open.
            continue
        with server:
            begin(server)
            died = wait_for_death(server) if turn == 0 or call != "mkdir" else False
            if not died:
                server.kill()
    with start(root) as server:
        begin(server)
        check_result(root, server)
        server.stop()
    checked = stator_process.check(root / "data")
    assert checked.returncode == 0, checked.stdout + checked.stderr
