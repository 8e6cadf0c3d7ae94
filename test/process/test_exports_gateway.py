"""Exports through a real S3 server, Ceph's gateway; skipped where that is not installed."""

import random

import boto3
import export_reader
import pytest
import radosgw
from botocore.config import Config
from test_exports import World, change_some

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


@pytest.mark.parametrize("form", ["DYNAMODB_JSON", "ION"])
def test_full_and_incremental_exports_add_up_at_a_real_server(tmp_path, form):
    rng = random.Random(21)
    (tmp_path / "world").mkdir()
    with radosgw.Gateway() as gateway, World(tmp_path / "world") as world:
        client = boto3.client(
            "s3", endpoint_url=gateway.endpoint, region_name="us-east-1",
            aws_access_key_id=radosgw.ACCESS_KEY, aws_secret_access_key=radosgw.SECRET_KEY,
            config=Config(s3={"addressing_style": "path"}),
        )  # fmt: skip
        client.create_bucket(Bucket="bucket")
        gateway.write_key_file(tmp_path / "keys")
        world.server.stop()
        # Signatures name the time, so this server has the true one.
        world.flags = ["--data-dir", str(tmp_path / "real"), "--s3-endpoint", gateway.endpoint]
        world.flags += ["--s3-key-file", str(tmp_path / "keys")]
        world.bucket = Bucket(client, "bucket")
        world.start()
        world.create_table()
        change_some(world, rng)
        expected = world.scan()
        ended = world.export(ExportFormat=form, S3Prefix="a b/c+d")
        assert export_reader.state(export_reader.read(world.bucket, ended)) == expected
        assert client.list_multipart_uploads(Bucket="bucket").get("Uploads", []) == []
        for key in world.bucket.keys():
            assert key.startswith(("a b/c+d/AWSDynamoDB/", "AWSDynamoDB/"))
        missing = world.wait(world.start_export(S3Bucket="missing"))
        assert missing["FailureCode"] == "S3NoSuchBucket"
        world.server.stop()
