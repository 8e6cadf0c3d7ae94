"""Imports and bulk operations from an S3 server that is slow, cuts connections, or says no."""

import hashlib
import json
import os
import threading
import time

import boto3
import botocore.config
import fake_s3
import pytest
from stator_process import Connection, StatorProcess

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}
END_MAX_S = 60
ITEMS = 500


def put(s3, key, content):
    s3.objects["in"][key] = fake_s3.Object(content, hashlib.md5(content).hexdigest(), {})


@pytest.fixture(name="s3")
def fixture_s3():
    with fake_s3.FakeS3(buckets=["in", "out"]) as s3:
        lines = [json.dumps({"Item": {"pk": {"S": str(i)}}}) + "\n" for i in range(ITEMS)]
        for part in range(5):
            put(s3, f"data/{part}", "".join(lines[part::5]).encode())
        yield s3


@pytest.fixture(name="server")
def fixture_server(s3, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(
        "[default]\n"
        f"aws_access_key_id = {fake_s3.ACCESS_KEY}\n"
        f"aws_secret_access_key = {fake_s3.SECRET_KEY}\n"
    )
    os.chmod(keys, 0o600)
    flags = ["--in-memory", "--s3-endpoint", s3.endpoint, "--s3-key-file", str(keys)]
    with StatorProcess(*flags, "--s3-retry-ms", "5000") as server:
        yield server
        server.stop()


def run(server, prefix="data/", bucket="in"):
    client = boto3.client("dynamodb", endpoint_url=server.url, **SETTINGS)
    arn = client.import_table(
        S3BucketSource={"S3Bucket": bucket, "S3KeyPrefix": prefix},
        InputFormat="DYNAMODB_JSON",
        TableCreationParameters={
            "TableName": "imported",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )["ImportTableDescription"]["ImportArn"]
    deadline = time.monotonic() + END_MAX_S
    while time.monotonic() < deadline:
        answer = client.describe_import(ImportArn=arn)["ImportTableDescription"]
        if answer["ImportStatus"] != "IN_PROGRESS":
            return answer
        time.sleep(0.05)
    raise AssertionError("the import does not end")


@pytest.mark.parametrize("kind", [None, "slow-down", "cut", "garbage"])
def test_an_import_gets_through_failures_that_pass(s3, server, kind):
    if kind is not None:
        s3.fail(kind, times=2, method="GET", skip=1)
    answer = run(server)
    assert (answer["ImportStatus"], answer["ImportedItemCount"]) == ("COMPLETED", ITEMS)


@pytest.mark.parametrize(
    "kind, bucket, code", [("denied", "in", "S3AccessDenied"), (None, "missing", "S3NoSuchBucket")]
)
def test_what_does_not_pass_fails_the_import_and_leaves_no_table(s3, server, kind, bucket, code):
    if kind is not None:
        s3.fail(kind, times=1000)
    answer = run(server, bucket=bucket)
    assert (answer["ImportStatus"], answer["FailureCode"]) == ("FAILED", code)
    connection = Connection(server.port)
    assert connection.call("ListTables", {})[1]["TableNames"] == []
    connection.close()


def test_an_object_that_is_replaced_meanwhile_fails_the_import(s3, server):
    """The second object is another one when its turn comes: the list named its ETag."""
    s3.fail("slow", times=1, method="GET", contains="data/0", seconds=1)

    def replace():
        while not any("data/0" in request for request in list(s3.requests)):
            time.sleep(0.01)
        put(s3, "data/1", b'{"Item":{"pk":{"S":"other"}}}\n')

    replaced = threading.Thread(target=replace, daemon=True)
    replaced.start()
    answer = run(server)
    replaced.join()
    assert answer["ImportStatus"] == "FAILED"
    assert answer["FailureCode"] == "ObjectModifiedInS3DuringImport"
    assert answer["FailureMessage"] == (
        "The S3 object could not be imported because it was overwritten."
    )
