"""`stator advise`: what it asks for, and what it prints."""

import json
import subprocess
import time

import boto3
import pytest

from stator_process import StatorProcess, binary

TABLES = [f"Tab{i:02}" for i in range(12)]  # More than a page.


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with StatorProcess("--data-dir", str(tmp_path_factory.mktemp("data"))) as server:
        client = boto3.client(
            "dynamodb", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id="x",
            aws_secret_access_key="x",
        )
        for name in TABLES:
            client.create_table(
                TableName=name,
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                BillingMode="PAY_PER_REQUEST",
            )
        for name in (TABLES[0], TABLES[-1]):
            client.put_item(TableName=name, Item={"pk": {"S": "a"}})
        yield server


def advise(server, *words):
    return subprocess.run(
        [binary(), "advise", "--endpoint", server.url, *words], capture_output=True, text=True,
        timeout=60, check=False,
    )


def advise_json(server, *words):
    run = advise(server, "--json", *words)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_json_of_all_pages_is_one_document(server):
    answer = advise_json(server)
    assert answer["Tables"] == TABLES
    found = {(finding["TableName"], finding["Rule"]) for finding in answer["Findings"]}
    for name in (TABLES[0], TABLES[-1]):
        assert (name, "no-recovery") in found
        assert (name, "no-alarms") in found
    assert {entry["TableName"] for entry in answer["NotJudged"]} == set(TABLES)
    assert answer["PriceList"]["Currency"] == "USD"
    assert answer["ShapesMissed"] == 0
    assert "LastEvaluatedTableName" not in answer


def test_findings_of_all_pages_are_printed(server):
    run = advise(server)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0].startswith("Since ") and "; the server was started at " in lines[0]
    assert lines[1].startswith("Prices: list of us-east-1, version ")
    for name in (TABLES[0], TABLES[-1]):
        at = lines.index(f"INFO     no-recovery  {name}")
        assert lines[at + 1] == (
            "    the table is written to and has no point-in-time recovery"
        )
        assert lines[at + 2] == "    evidence: WriteUnits 1"
        assert lines[at + 3].startswith("    window: ")
        assert lines[at + 4].startswith("    cost: $0.00 a month")
        assert lines[at + 5].startswith("    do: Enable it by UpdateContinuousBackups")
    assert (
        f"not judged  hot-key  {TABLES[5]}: Contributor Insights is not enabled for the table"
        in lines
    )
    assert lines[-1] == "4 findings about 12 tables."


def test_one_table_is_advised_about(server):
    assert advise_json(server, "--table", TABLES[3])["Tables"] == [TABLES[3]]
    assert advise(server, "--table", TABLES[3]).stdout.endswith("0 findings about 1 tables.\n")
    run = advise(server, "--table", "Absent")
    assert run.returncode == 1
    assert "Requested resource not found: Table: Absent not found" in run.stderr
    assert advise(server, "--table", 'a"b').returncode == 2


@pytest.mark.parametrize("since, seconds", [
    ("90s", 90), ("30m", 1800), ("24h", 86400), ("14d", 14 * 86400), (None, 86400),
])
def test_since_says_when_the_window_begins(server, since, seconds):
    before = int(time.time()) - seconds
    answer = advise_json(server, *(() if since is None else ("--since", since)))
    assert before <= answer["StartTime"] <= int(time.time()) - seconds


@pytest.mark.parametrize("since", ["5", "h", "0h", "-1h", "5x", "1hh", "456d", "99999999999h"])
def test_other_windows_are_refused(server, since):
    run = advise(server, "--since", since)
    assert run.returncode == 2
    assert "--since is a number and s, m, h or d, up to 455d" in run.stderr
