"""CancelJob and `stator jobs --cancel`: exports, imports and restores whose bucket does not answer."""

import contextlib
import hashlib
import pathlib
import subprocess
import sys
import time

import boto3
import botocore.config
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))
import fake_s3  # noqa: E402
import stator_process  # noqa: E402

SETTINGS = {"region_name": "us-east-1", "aws_access_key_id": "AKIATEST", "aws_secret_access_key": "secret"}
KEY = {"BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
       "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}]}
FOREVER_S = 3600


def wait_for(check, seconds=60):
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@contextlib.contextmanager
def server_of(directory, s3):
    keys = directory / "keys"
    s3.write_key_file(keys)
    with stator_process.StatorProcess(
            "--data-dir", str(directory / "data"), "--s3-endpoint", s3.endpoint, "--s3-key-file", str(keys),
            "--s3-region", fake_s3.REGION, "--backup-bucket", "vault") as server:
        server.client = boto3.client("dynamodb", endpoint_url=server.url,
                                     config=botocore.config.Config(retries={"max_attempts": 0}), **SETTINGS)
        yield server


def call(server, operation, request):
    connection = stator_process.Connection(server.port)
    status, answer = connection.call(operation, request)
    connection.close()
    return status, answer


def jobs(server, **request):
    return call(server, "ListJobs", request)[1]["Jobs"]


def block(s3, method, text):
    """Requests like these get no answer while the test lasts."""
    s3.fail("slow", times=10**6, method=method, contains=text, seconds=FOREVER_S)
    s3.blocked = lambda: sum(r.startswith(method) and text in r for r in s3.requests)


def start_import(server, s3):
    content = b'{"Item":{"p":{"S":"a"}}}\n'
    s3.objects["objects"]["items"] = fake_s3.Object(content, hashlib.md5(content).hexdigest())
    block(s3, "GET", "/items")
    server.client.import_table(S3BucketSource={"S3Bucket": "objects"}, InputFormat="DYNAMODB_JSON",
                               TableCreationParameters={"TableName": "made", **KEY})


def start_restore(server, s3):
    make_source(server)
    arn = server.client.create_backup(TableName="source", BackupName="abc")["BackupDetails"]["BackupArn"]
    wait_for(lambda: not jobs(server, Active=True))
    before = len(s3.requests)
    block(s3, "GET", "data-00000")
    server.client.restore_table_from_backup(TargetTableName="made", BackupArn=arn)
    assert len(s3.requests) >= before


def make_source(server):
    server.client.create_table(TableName="source", **KEY)
    server.client.put_item(TableName="source", Item={"p": {"S": "a"}})


def start_export(server, s3):
    make_source(server)
    enabled = {"PointInTimeRecoveryEnabled": True}
    server.client.update_continuous_backups(TableName="source", PointInTimeRecoverySpecification=enabled)
    block(s3, "PUT", "/data/")
    request = {"TableArn": server.client.describe_table(TableName="source")["Table"]["TableArn"],
               "S3Bucket": "objects"}
    wait_for(lambda: call(server, "ExportTableToPointInTime", request)[0] == 200)  # Once its history is there.


STARTS = {"import": (start_import, "CANCELLED"), "restore": (start_restore, "CANCELLED"),
          "export": (start_export, "FAILED")}


def tables(server):
    return [name for name in server.client.list_tables()["TableNames"] if name != "source"]


@pytest.mark.parametrize("kind", STARTS)
def test_job_that_waits_for_its_bucket_is_cancelled(kind, tmp_path):
    start, status = STARTS[kind]
    with fake_s3.FakeS3(buckets=["objects", "vault"]) as s3, server_of(tmp_path, s3) as server:
        start(server, s3)
        wait_for(lambda: s3.blocked() > 0)
        (job,) = jobs(server, Active=True)
        assert (job["Kind"], job["Status"]) == (kind, "RUNNING")
        command = [stator_process.binary(), "jobs", "--endpoint", server.url]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
        assert shown.startswith(f"{kind:8} RUNNING ") and f" {job['JobId']} " in shown
        done = subprocess.run([*command, "--cancel", job["JobId"]], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, f"job {job['JobId']} is being cancelled\n"), done.stderr
        wait_for(lambda: not jobs(server, Active=True))
        (job,) = jobs(server, Kind=kind)
        assert (job["Status"], job["FailureCode"]) == (status, "Cancelled")
        assert tables(server) == []
        assert call(server, "CancelJob", {"JobId": job["JobId"]})[0] == 400  # It has ended.
        server.stop()
    result = stator_process.check(tmp_path / "data")
    assert result.stdout.endswith(" no problems\n"), result.stdout
