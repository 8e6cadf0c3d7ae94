"""Debian's AWS CLI: the commands a person types, and the JSON they print."""

import json
import os
import subprocess

import pytest

AWS = "/usr/bin/aws"
COMMAND_TIMEOUT_S = 60
TABLE = "aws-cli"


@pytest.fixture(scope="module")
def aws(server_url, tmp_path_factory):
    """Runs `aws dynamodb ...`; returns what it printed, or the text of its failure."""
    home = tmp_path_factory.mktemp("home")
    environment = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(home),  # No configuration of whoever runs the tests.
        "AWS_ACCESS_KEY_ID": "AKIATEST",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_PAGER": "",
        "AWS_EC2_METADATA_DISABLED": "true",
    }

    def run(*words, fails=False):
        result = subprocess.run(
            [AWS, "dynamodb", *words, "--endpoint-url", server_url, "--output", "json"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
        )
        if fails:
            assert result.returncode != 0, result.stdout
            return result.stderr.strip()
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout) if result.stdout.strip() else {}

    return run


def test_a_session_at_the_command_line(aws):
    created = aws(
        "create-table",
        "--table-name", TABLE,
        "--attribute-definitions", "AttributeName=pk,AttributeType=S",
        "--key-schema", "AttributeName=pk,KeyType=HASH",
        "--billing-mode", "PAY_PER_REQUEST",
    )  # fmt: skip
    assert created["TableDescription"]["TableName"] == TABLE
    aws("wait", "table-exists", "--table-name", TABLE)
    assert TABLE in aws("list-tables")["TableNames"]
    described = aws("describe-table", "--table-name", TABLE)["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["TableArn"].endswith(f":table/{TABLE}")

    item = {"pk": {"S": "a"}, "n": {"N": "1.5"}, "set": {"SS": ["x", "y"]}, "no": {"BOOL": False}}
    assert aws("put-item", "--table-name", TABLE, "--item", json.dumps(item)) == {}
    key = json.dumps({"pk": {"S": "a"}})
    answer = aws(
        "get-item", "--table-name", TABLE, "--key", key, "--return-consumed-capacity", "TOTAL"
    )
    assert answer == {
        "Item": item,
        "ConsumedCapacity": {"TableName": TABLE, "CapacityUnits": 0.5},
    }
    removed = aws(
        "delete-item", "--table-name", TABLE, "--key", key, "--return-values", "ALL_OLD"
    )
    assert removed["Attributes"] == item
    assert aws("get-item", "--table-name", TABLE, "--key", key) == {}

    recovery = aws(
        "update-continuous-backups",
        "--table-name", TABLE,
        "--point-in-time-recovery-specification", "PointInTimeRecoveryEnabled=true",
    )  # fmt: skip
    described = aws("describe-continuous-backups", "--table-name", TABLE)
    for answer in (recovery, described):  # Which goes with the time.
        times = answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert times.pop("LatestRestorableDateTime") >= times["EarliestRestorableDateTime"]
    assert described == recovery
    assert aws("describe-contributor-insights", "--table-name", TABLE) == {
        "TableName": TABLE,
        "ContributorInsightsStatus": "DISABLED",
    }
    assert aws("describe-kinesis-streaming-destination", "--table-name", TABLE) == {
        "TableName": TABLE,
        "KinesisDataStreamDestinations": [],
    }

    assert aws("delete-table", "--table-name", TABLE)["TableDescription"]["TableName"] == TABLE
    aws("wait", "table-not-exists", "--table-name", TABLE)
    assert TABLE not in aws("list-tables")["TableNames"]


def test_an_error_is_shown_with_its_name_and_message(aws):
    assert aws("describe-table", "--table-name", "not-there", fails=True) == (
        "An error occurred (ResourceNotFoundException) when calling the DescribeTable operation: "
        "Requested resource not found: Table: not-there not found"
    )
    assert aws("describe-continuous-backups", "--table-name", "not-there", fails=True) == (
        "An error occurred (TableNotFoundException) when calling the DescribeContinuousBackups "
        "operation: Table not found: not-there"
    )
