"""Exports through a real S3 server, Ceph's gateway; skipped where that is not installed."""

import random
import time

import boto3
import export_reader
import pytest
import radosgw
from botocore.config import Config
from test_exports import PATIENCE_S, World, change_some

pytestmark = pytest.mark.skipif(
    bool(radosgw.missing()), reason=f"Ceph's gateway is not installed: {', '.join(radosgw.missing())}"
)


class Bucket:
    def __init__(self, client, name):
        self.client, self.name = client, name

    def get(self, key):
        return self.client.get_object(Bucket=self.name, Key=key)["Body"].read()

    def keys(self):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name)
        return sorted(entry["Key"] for page in pages for entry in page.get("Contents", []))


def open_world(gateway, world, keys):
    """A server of the gateway's. Signatures name the time, so exports need the true one."""
    client = boto3.client(
        "s3", endpoint_url=gateway.endpoint, region_name="us-east-1",
        aws_access_key_id=radosgw.ACCESS_KEY, aws_secret_access_key=radosgw.SECRET_KEY,
        config=Config(s3={"addressing_style": "path"}),
    )  # fmt: skip
    client.create_bucket(Bucket="bucket")
    gateway.write_key_file(keys)
    world.server.stop()
    world.flags = ["--data-dir", str(world.path / "real"), "--s3-endpoint", gateway.endpoint]
    world.flags += ["--s3-key-file", str(keys)]
    world.bucket = Bucket(client, "bucket")
    world.start()
    return client


def change_for_three_quarters_of_an_hour(world, rng):
    """That long ago: windows have a quarter at least. Returns moments, and the table at them."""
    moments, states = [], []
    world.clock.jump(-50 * 60)
    world.create_table()
    for _ in range(3):
        change_some(world, rng)
        world.clock.pass_time(2)
        moments.append(int(world.clock.now()))
        states.append(world.scan())
        world.clock.pass_time(16 * 60 - 2)
        change_some(world, rng, 5)
    world.clock.pass_time(2 * 60)
    assert world.clock.ahead == 0
    return moments, states


def import_back(world, described, form):
    names = [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}]
    answer = world.call(
        "ImportTable",
        ClientToken="token",
        S3BucketSource={
            "S3Bucket": "bucket",
            "S3KeyPrefix": described["ExportManifest"].rsplit("/", 1)[0] + "/data/",
        },
        InputFormat=form,
        InputCompressionType="GZIP",
        TableCreationParameters={
            "TableName": "back",
            "AttributeDefinitions": names,
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )["ImportTableDescription"]
    deadline = time.monotonic() + PATIENCE_S
    while answer["ImportStatus"] == "IN_PROGRESS":
        assert time.monotonic() < deadline, world.server.log()
        time.sleep(0.05)
        answer = world.call("DescribeImport", ImportArn=answer["ImportArn"])["ImportTableDescription"]
    assert (answer["ImportStatus"], answer["ErrorCount"]) == ("COMPLETED", 0)


def restore(world, moment):
    world.call(
        "RestoreTableToPointInTime",
        SourceTableName="Tab",
        TargetTableName="restored",
        RestoreDateTime=moment,
    )
    world.db.get_waiter("table_exists").wait(
        TableName="restored", WaiterConfig={"Delay": 1, "MaxAttempts": PATIENCE_S}
    )


@pytest.mark.parametrize("form", ["DYNAMODB_JSON", "ION"])
def test_full_and_incremental_exports_add_up_at_a_real_server(tmp_path, form):
    rng = random.Random(21)
    (tmp_path / "world").mkdir()
    with radosgw.Gateway() as gateway, World(tmp_path / "world") as world:
        client = open_world(gateway, world, tmp_path / "keys")
        (a, b, c), states = change_for_three_quarters_of_an_hour(world, rng)
        same = {"ExportFormat": form, "S3Prefix": "a b/c+d"}
        fulls = [world.full(ExportTime=moment, **same) for moment in (a, b, c)]
        assert fulls == states
        first, second = world.increment(a, b, **same), world.increment(b, c, **same)
        assert first and second
        assert export_reader.apply(fulls[0], first) == fulls[1]
        assert export_reader.apply(fulls[1], second) == fulls[2]
        assert export_reader.apply(fulls[0], world.increment(a, c, **same)) == fulls[2]

        import_back(world, world.export(ExportTime=b, **same), form)
        restore(world, b)
        assert world.scan("back") == world.scan("restored") == states[1]

        assert client.list_multipart_uploads(Bucket="bucket").get("Uploads", []) == []
        for key in world.bucket.keys():
            assert key.startswith("a b/c+d/AWSDynamoDB/")
        missing = world.wait(world.start_export(S3Bucket="missing"))
        assert missing["FailureCode"] == "S3NoSuchBucket"
        world.server.stop()
