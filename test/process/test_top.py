"""`stator top` and `stator slowlog`: what a running server does, from the terminal."""

import json
import re
import subprocess
import threading
import time

import pytest

import stator_process
from stator_process import Connection, StatorProcess, create_table

TIMEOUT_S = 60


def run(server, *words):
    done = subprocess.run(
        [stator_process.binary(), *words, "--endpoint", server.url],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def server():
    with StatorProcess("--in-memory", "--slow-request-ms", "1") as started:
        connection = Connection(started.port)
        create_table(connection, "busy", global_={"by_g": ([("g", "S", "HASH")], "ALL")})
        create_table(connection, "quiet")
        connection.close()
        yield started


def put(connection, table, number, size=10):
    item = {"pk": {"S": str(number)}, "g": {"S": "a secret"}, "text": {"S": "x" * size}}
    assert connection.call("PutItem", {"TableName": table, "Item": item})[0] == 200


class Load:
    """Writes to a table until it is stopped, and counts."""

    def __init__(self, server, table):
        self.stopped, self.count = threading.Event(), 0
        self.connection = Connection(server.port)
        self.table = table
        self.thread = threading.Thread(target=self.work)

    def work(self):
        while not self.stopped.is_set():
            put(self.connection, self.table, self.count % 100)
            self.count += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        self.connection.close()


def test_top_shows_rates_of_the_interval(server):
    connection = Connection(server.port)
    put(connection, "quiet", 1)
    with Load(server, "busy") as load:
        answer = json.loads(run(server, "top", "--once", "--json", "--interval", "1"))
    rows = {row["table"]: row for row in answer["tables"]}
    assert 0.9 < answer["seconds"] < 10
    assert answer["tables"][0]["table"] == "busy"  # By the rate of requests.
    assert 0 < rows["busy"]["requests"] * answer["seconds"] <= load.count + 1
    # An unchanged item costs nothing in the index.
    assert 0.99 <= rows["busy"]["write_units"] / rows["busy"]["requests"] <= 2.01
    assert 0 < rows["busy"]["p50_ms"] <= rows["busy"]["p99_ms"]
    assert rows["quiet"]["requests"] == 0  # It was used before the interval.
    assert rows["busy"]["throttles"] == 0


def test_top_prints_a_table(server):
    put(Connection(server.port), "quiet", 1)
    lines = run(server, "top", "--once", "--interval", "1").splitlines()
    assert lines[0].split() == "table requests/s errors p50 ms p99 ms read/s write/s throttles".split()
    assert [line for line in lines if re.match(r"quiet +0\.0 +0\.0 ", line)]
    assert "\033" not in "".join(lines)


def test_slowlog_shows_what_slow_requests_did_and_no_data(server):
    connection = Connection(server.port)
    for number in range(300):
        put(connection, "busy", f"large{number}", 3000)
    # Searching the long texts twenty times takes any machine more than the millisecond of a slow request.
    searched = {f":s{number}": {"S": f"{'x' * 20}{number} another secret"} for number in range(20)}
    query = {
        "TableName": "busy", "IndexName": "by_g", "KeyConditionExpression": "g = :g",
        "FilterExpression": " OR ".join(f"contains(#t, {name})" for name in searched),
        "ExpressionAttributeNames": {"#t": "text"},
        "ExpressionAttributeValues": {":g": {"S": "a secret"}, **searched},
    }  # fmt: skip
    status, page = connection.call("Query", query)
    assert status == 200
    text = run(server, "slowlog", "--max", "256", "--json")
    answer = json.loads(text)
    assert answer["ThresholdSeconds"] == 0.001
    seconds = [entry["Seconds"] for entry in answer["Requests"]]
    assert seconds == sorted(seconds, reverse=True)
    (found,) = [entry for entry in answer["Requests"] if entry["Operation"] == "Query"]
    assert found["TableName"] == "busy"
    assert found["IndexName"] == "by_g"
    assert found["ItemsRead"] == page["ScannedCount"]
    assert found["ItemsReturned"] == 0
    assert found["ReadUnits"] > 1
    assert 0 <= found["QueueSeconds"] < found["Seconds"]
    assert "secret" not in text
    shown = run(server, "slowlog")
    assert re.search(r" Query +busy +by_g +\d+ +0 ", shown)


def test_slowlog_shows_the_time_in_queues(server):
    """A large request is run by a thread of a pool, so it waits until one takes it."""
    connection = Connection(server.port)
    puts = [
        {"PutRequest": {"Item": {"pk": {"S": f"batch{i}"}, "text": {"S": "x" * 30000}}}} for i in range(25)
    ]
    assert connection.call("BatchWriteItem", {"RequestItems": {"busy": puts}})[0] == 200
    requests = json.loads(run(server, "slowlog", "--max", "256", "--json"))["Requests"]
    (found,) = [entry for entry in requests if entry["Operation"] == "BatchWriteItem"]
    assert 0 < found["QueueSeconds"] < found["Seconds"]
    connection.close()


def test_policies_decide(tmp_path):
    """Nobody sees other tables' names by way of the meters."""
    master = tmp_path / "master"
    master.write_text("ab" * 32)
    master.chmod(0o600)
    flags = ("--data-dir", str(tmp_path / "data"), "--master-key-file", str(master))
    with StatorProcess(*flags, "--auth") as server:
        for command in ("top", "slowlog"):
            done = subprocess.run(
                [stator_process.binary(), command, "--endpoint", server.url],
                capture_output=True, text=True, timeout=TIMEOUT_S,
                env={"AWS_ACCESS_KEY_ID": "AKIANOBODY", "AWS_SECRET_ACCESS_KEY": "x", "PATH": "/usr/bin"},
            )  # fmt: skip
            assert done.returncode == 1
            assert "UnrecognizedClient" in done.stderr or "security token" in done.stderr


def test_top_shows_hot_keys_only_if_asked(server):
    connection = Connection(server.port)
    create_table(connection, "hot")
    enable = {"TableName": "hot", "ContributorInsightsAction": "ENABLE"}
    assert connection.call("UpdateContributorInsights", enable)[0] == 200
    for _ in range(600):
        answer = connection.call("DescribeContributorInsights", {"TableName": "hot"})[1]
        if answer["ContributorInsightsStatus"] == "ENABLED":
            break
        time.sleep(0.1)
    for _ in range(3):
        put(connection, "hot", 42)
    escape = {"pk": {"S": "a\u009b2J\x7f\xe9"}}  # U+009B is ESC [ for terminals.
    assert connection.call("PutItem", {"TableName": "hot", "Item": escape})[0] == 200
    assert '"42"' not in run(server, "top", "--once", "--interval", "1")
    lines = run(server, "top", "--once", "--interval", "1", "--keys").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("hot keys of hot"))
    assert re.fullmatch(r' +9\.0  \{"pk":\{"S":"42"\}\}', lines[at + 1])
    assert re.fullmatch(r' +3\.0  \{"pk":\{"S":"a\?2J\?\xe9"\}\}', lines[at + 2])
    connection.close()
