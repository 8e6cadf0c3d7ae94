"""Imports and bulk operations with boto3: whole answers, waiters, every format, random items."""

import gzip
import json
import pathlib
import random
import subprocess
import time

import boto3
import botocore.config
import botocore.exceptions
import botocore.waiter
import item_text
import pytest
import stator_process
from stator_process import Connection, StatorProcess

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}
KEY = {
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
END_MAX_S = 60
# As botocore has it since 1.42; Debian's is older.
WAITERS = {
    "version": 2,
    "waiters": {
        "ImportCompleted": {
            "operation": "DescribeImport",
            "delay": 20,
            "maxAttempts": 60,
            "acceptors": [
                {
                    "state": state,
                    "matcher": "path",
                    "expected": status,
                    "argument": "ImportTableDescription.ImportStatus",
                }
                for status, state in [
                    ("COMPLETED", "success"),
                    ("FAILED", "failure"),
                    ("CANCELLED", "failure"),
                ]
            ],
        }
    },
}


def wait_completed(client, arn):
    model = botocore.waiter.WaiterModel(WAITERS)
    waiter = botocore.waiter.create_waiter_with_client("ImportCompleted", model, client)
    waiter.wait(ImportArn=arn, WaiterConfig={"Delay": 1, "MaxAttempts": 60})


class Place:
    """A server with buckets in a folder."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        for name in ("in", "out"):
            (self.root / "buckets" / name).mkdir(parents=True)
        self.server = StatorProcess(
            "--data-dir", str(self.root / "data"), "--buckets", str(self.root / "buckets")
        )
        self.client = boto3.client("dynamodb", endpoint_url=self.server.url, **SETTINGS)

    def put(self, key, data):
        path = self.root / "buckets/in" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def start(self, table, prefix, **more):
        parameters = {
            "S3BucketSource": {"S3Bucket": "in", "S3KeyPrefix": prefix},
            "InputFormat": "DYNAMODB_JSON",
            "TableCreationParameters": {"TableName": table, **KEY},
            **more,
        }
        return self.client.import_table(**parameters)["ImportTableDescription"]

    def run(self, table, prefix, **more):
        arn = self.start(table, prefix, **more)["ImportArn"]
        deadline = time.monotonic() + END_MAX_S
        while time.monotonic() < deadline:
            answer = self.client.describe_import(ImportArn=arn)["ImportTableDescription"]
            if answer["ImportStatus"] != "IN_PROGRESS":
                return answer
            time.sleep(0.02)
        raise AssertionError("the import does not end")

    def items(self, table):
        found = {}
        for page in self.client.get_paginator("scan").paginate(TableName=table):
            for item in page["Items"]:
                found[item["pk"]["S"]] = item_text.json_item(item)
        return found


@pytest.fixture(scope="module", name="place")
def fixture_place(tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("imports"))
    with place.server:
        yield place
        place.server.stop()


def random_items(seed, count=150):
    rng = random.Random(seed)
    return [{**item_text.random_item(rng), "pk": {"S": f"k{number}"}} for number in range(count)]


def packed(data, compression):
    if compression == "GZIP":
        return gzip.compress(data)
    if compression == "ZSTD":
        return subprocess.run(["zstd", "-q"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


@pytest.mark.parametrize("compression", ["NONE", "GZIP", "ZSTD"])
@pytest.mark.parametrize("form", ["DYNAMODB_JSON", "ION"])
def test_random_items_are_imported_exactly(place, form, compression):
    items = random_items(form + compression)
    line = item_text.ion_line if form == "ION" else item_text.json_line
    name = f"{form}-{compression}"
    for part in range(3):
        text = "".join(line(item) + "\n" for item in items[part::3]).encode()
        place.put(f"{name}/part-{part}", packed(text, compression))
    answer = place.run(name, name + "/", InputFormat=form, InputCompressionType=compression)
    assert answer["ImportStatus"] == "COMPLETED"
    assert place.items(name) == {item["pk"]["S"]: item_text.json_item(item) for item in items}


def test_the_waiter_sees_the_end_and_the_answer_is_whole(place):
    place.put("whole/a", b'{"Item":{"pk":{"S":"x"}}}\n')
    started = place.start("whole", "whole/", ClientToken="whole-token")
    arn = started["ImportArn"]
    wait_completed(place.client, arn)
    answer = place.client.describe_import(ImportArn=arn)["ImportTableDescription"]
    assert answer.pop("StartTime") == started.pop("StartTime") <= answer.pop("EndTime")
    assert answer.pop("TableId") == started.pop("TableId")
    account = arn.split(":")[4]
    common = {
        "ImportArn": arn,
        "TableArn": arn.split("/import/")[0],
        "ClientToken": "whole-token",
        "S3BucketSource": {"S3BucketOwner": account, "S3Bucket": "in", "S3KeyPrefix": "whole/"},
        "ErrorCount": 0,
        "CloudWatchLogGroupArn": f"arn:aws:logs:us-east-1:{account}:log-group:/aws-dynamodb/imports:*",
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "NONE",
        "TableCreationParameters": {"TableName": "whole", **KEY},
    }
    assert started == {
        **common,
        "ImportStatus": "IN_PROGRESS",
        "ProcessedItemCount": 0,
        "ImportedItemCount": 0,
    }
    assert answer == {
        **common,
        "ImportStatus": "COMPLETED",
        "ProcessedSizeBytes": 26,
        "ProcessedItemCount": 1,
        "ImportedItemCount": 1,
    }


def test_a_failure_is_the_waiters_failure(place):
    arn = place.start("no-bucket", "", S3BucketSource={"S3Bucket": "missing"})["ImportArn"]
    with pytest.raises(botocore.exceptions.WaiterError):
        wait_completed(place.client, arn)
    answer = place.client.describe_import(ImportArn=arn)["ImportTableDescription"]
    assert answer["FailureCode"] == "S3NoSuchBucket"
    assert answer["FailureMessage"].startswith("The specified bucket does not exist")
    assert "no-bucket" not in place.client.list_tables()["TableNames"]


def test_errors_are_counted_and_listed_in_a_file(place):
    place.put("bad/1", b'{"Item":{"q":{"S":"x"}}}\n{"Item":{"pk":{"S":"x"}}}\n')
    place.put("bad/2", b"nonsense\n")
    answer = place.run("bad", "bad/")
    assert (answer["ImportStatus"], answer["FailureCode"]) == ("FAILED", "ItemValidationError")
    assert (answer["ProcessedItemCount"], answer["ImportedItemCount"], answer["ErrorCount"]) == (3, 1, 2)
    path = place.root / "data/imports" / answer["ImportArn"].rsplit("/", 1)[1] / "error"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {
        "itemS3Pointer": {"bucket": "in", "key": "bad/1", "itemIndex": 0},
        "importArn": answer["ImportArn"],
        "errorMessages": [
            "One or more parameter values were invalid: Missing the key pk in the item"
        ],
    }
    assert lines[1]["itemS3Pointer"] == {"bucket": "in", "key": "bad/2", "itemIndex": 0}


def test_imports_are_listed_in_pages(place):
    arns, token = [], {}
    while True:
        page = place.client.list_imports(PageSize=2, **token)
        arns += [entry["ImportArn"] for entry in page["ImportSummaryList"]]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert len(arns) == len(set(arns)) >= 9
    assert arns == sorted(arns, key=lambda arn: arn.rsplit("/", 1)[1], reverse=True)


def first_whole_second(client, table):
    """The first that the table can be restored to: boto3 sends times in whole seconds."""
    while True:
        answer = client.describe_continuous_backups(TableName=table)
        times = answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        if times["LatestRestorableDateTime"].microsecond == 0:
            return times["LatestRestorableDateTime"]
        time.sleep(0.05)


@pytest.mark.parametrize("form", ["DYNAMODB_JSON", "ION"])
def test_an_export_is_imported_as_the_table_was(place, form):
    """Of a table with recovery: what came after the time of the export is not in it."""
    name = f"exported-{form}"
    items = random_items(name, 60)
    place.put(f"{name}/items", "".join(item_text.json_line(item) + "\n" for item in items).encode())
    table_arn = place.run(name, f"{name}/")["TableArn"]
    place.client.update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    at = first_whole_second(place.client, name)
    arn = place.client.export_table_to_point_in_time(
        TableArn=table_arn, S3Bucket="in", S3Prefix=f"{name}-x", ExportFormat=form, ExportTime=at
    )["ExportDescription"]["ExportArn"]
    place.client.put_item(TableName=name, Item={"pk": {"S": "later"}})
    deadline = time.monotonic() + END_MAX_S
    while True:
        described = place.client.describe_export(ExportArn=arn)["ExportDescription"]
        if described["ExportStatus"] != "IN_PROGRESS" or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    assert described["ExportStatus"] == "COMPLETED", described
    folder = described["ExportManifest"].rsplit("/", 1)[0] + "/data/"
    answer = place.run(name + "-back", folder, InputFormat=form, InputCompressionType="GZIP")
    assert answer["ImportStatus"] == "COMPLETED"
    assert place.items(name + "-back") == {
        item["pk"]["S"]: item_text.json_item(item) for item in items
    }
    place.client.restore_table_to_point_in_time(
        SourceTableName=name,
        TargetTableName=name + "-restored",
        RestoreDateTime=described["ExportTime"],
    )
    place.client.get_waiter("table_exists").wait(
        TableName=name + "-restored", WaiterConfig={"Delay": 1, "MaxAttempts": 60}
    )
    assert place.items(name + "-restored") == place.items(name + "-back")


# --- Bulk operations, which botocore does not know ---


def bulk(place, **more):
    connection = Connection(place.server.port)
    body = {
        "TableName": "whole",
        "InputS3Configuration": {"S3Bucket": "in", "S3KeyPrefix": "bulk/", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": "out", "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]},
        **more,
    }
    status, answer = connection.call("StartBulkPutItems", body)
    assert status == 200, answer
    arn = answer["BulkOperationDescription"]["BulkOperationArn"]
    deadline = time.monotonic() + END_MAX_S
    while time.monotonic() < deadline:
        answer = connection.call("DescribeBulkOperation", {"BulkOperationArn": arn})[1]
        answer = answer["BulkOperationDescription"]
        if answer["BulkOperationStatus"] not in ("IN_PROGRESS", "CANCELLING"):
            connection.close()
            return answer
        time.sleep(0.02)
    raise AssertionError("the operation does not end")


def test_a_bulk_operation_puts_items_under_conditions_and_reports(place):
    if "whole" not in place.client.list_tables()["TableNames"]:
        place.run("whole", "whole/")
    lines = [
        {"Item": {"pk": {"S": "x"}}, "ConditionExpression": "attribute_not_exists(pk)"},
        {"Item": {"pk": {"S": "y"}}, "ConditionExpression": "attribute_not_exists(pk)"},
        {"Item": {"pk": {"S": "z"}}},
        {"Item": {"pk": {"N": "1"}}},
    ]
    place.put("bulk/1", "".join(json.dumps(line) + "\n" for line in lines).encode())
    answer = bulk(place)
    assert answer["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (answer["ProcessedItemCount"], answer["FailedItemCount"]) == (4, 1)
    assert set(place.items("whole")) == {"x", "y", "z"}
    folder = place.root / "buckets/out/AWSDynamoDB" / answer["BulkOperationArn"].rsplit("/", 1)[1]
    refused = [json.loads(line) for line in (folder / "condition-check-failure.json").open()]
    assert [line["existingItem"] for line in refused] == [{"pk": {"S": "x"}}]
    assert len((folder / "error.json").read_text().splitlines()) == 1
    assert json.loads((folder / "manifest.json").read_text())["processedItemCount"] == 4


def test_bulk_operations_and_the_command_obey_the_model_of_a_table(place, tmp_path):
    """An import makes another table, which has no model; what loads into one that has is refused."""
    if "whole" not in place.client.list_tables()["TableNames"]:
        place.run("whole", "whole/")
    connection = Connection(place.server.port)
    entity = {"Name": "Thing", "Keys": [{"PartitionKey": "THING#<id>"}]}
    model = {"TableName": "whole", "Mode": "ENFORCE", "Model": json.dumps({"Entities": [entity]})}
    assert connection.call("PutModel", model)[0] == 200
    lines = [{"Item": {"pk": {"S": name}}} for name in ("THING#1", "other", "THING#2")]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    place.put("modelled/1", text.encode())
    source = {"S3Bucket": "in", "S3KeyPrefix": "modelled/", "InputFormat": "DYNAMODB_JSON"}
    answer = bulk(place, InputS3Configuration=source)
    assert answer["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (answer["ProcessedItemCount"], answer["FailedItemCount"]) == (3, 1)
    assert {"THING#1", "THING#2"} <= set(place.items("whole"))
    assert "other" not in place.items("whole")
    path = tmp_path / "items.json"
    path.write_text(text.replace("THING#1", "THING#3"))
    subprocess.run([stator_process.binary(), "import", "whole", path, "--endpoint", place.server.url],
                   capture_output=True, timeout=60)  # fmt: skip
    assert "other" not in place.items("whole")
    assert connection.call("GetModel", {"TableName": "whole"})[1]["Violations"]["ByRule"]["Key"] >= 2
    assert connection.call("DeleteModel", {"TableName": "whole"})[0] == 200
    connection.close()


def test_the_command_imports_from_a_bucket(place):
    place.put("command/1.csv", b"pk,n\na,1\nb,2\n")
    for words, message in [
        (["from-bucket", "--key", "pk:S", "--format", "CSV", "--prefix", "command/"], "2 items, 0 errors"),
        (["from-bucket", "--prefix", "whole/"], "1 items, 0 errors"),
    ]:
        done = subprocess.run(
            [stator_process.binary(), "import", *words, "--bucket", "in", "--endpoint", place.server.url],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(message)
    assert set(place.items("from-bucket")) == {"a", "b", "x"}
