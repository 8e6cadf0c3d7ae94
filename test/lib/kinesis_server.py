"""A Kinesis server (kinesalite, from the npm packages of test/kinesis) for tests of destinations:
started on a free port, killed and started again by its process id, and read as a consumer would."""

import json
import os
import pathlib
import shutil
import subprocess
import threading
import time

import boto3
import pytest
from botocore.config import Config

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "test/kinesis"
DEADLINE_S = 60
KEY = "AKIDEXAMPLE"
ARN = "arn:aws:kinesis:us-east-1:000000000000:stream/"


def require():
    """Skips the test where there is no Kinesis server."""
    if shutil.which("node") is None:
        pytest.skip("no Node.js for kinesalite")
    if not (FOLDER / "node_modules/kinesalite").exists():
        pytest.skip("kinesalite is not installed: run npm ci in test/kinesis")


def client(service, url, region="us-east-1"):
    return boto3.client(
        service,
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=KEY,
        aws_secret_access_key="secret",
        config=Config(retries={"total_max_attempts": 8, "mode": "standard"}, read_timeout=30),
    )


def write_key_file(path):
    path.write_text(f"[default]\naws_access_key_id = {KEY}\naws_secret_access_key = secret\n")
    os.chmod(path, 0o600)
    return str(path)


class KinesisServer:
    """Keeps its streams and its port over `kill` and `start`."""

    def __init__(self, folder):
        require()
        self.folder = folder
        self.port = 0
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["node", str(FOLDER / "server.js"), str(self.folder), str(self.port)],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = int(self.process.stdout.readline())

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def client(self):
        return client("kinesis", self.url)

    def create_stream(self, name, shards=1):
        kinesis = self.client()
        kinesis.create_stream(StreamName=name, ShardCount=shards)
        wait_for(
            lambda: kinesis.describe_stream(StreamName=name)["StreamDescription"]["StreamStatus"]
            == "ACTIVE",
            "a stream that is ACTIVE",
        )
        return ARN + name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


class Reader:
    """All records of a stream so far, shard by shard in their order."""

    def __init__(self, server, name):
        self.server = server
        self.name = name
        self.shards = {}  # What was read of each, and behind which sequence number to go on.
        self.lock = threading.Lock()

    def read(self):
        kinesis = self.server.client()
        with self.lock:
            description = kinesis.describe_stream(StreamName=self.name)["StreamDescription"]
            for shard in description["Shards"]:
                self._read_shard(kinesis, shard["ShardId"])
            return [record for read, _ in self.shards.values() for record in read]

    def _read_shard(self, kinesis, shard):
        records, last = self.shards.get(shard, ([], None))
        place = (
            {"ShardIteratorType": "TRIM_HORIZON"}
            if last is None
            else {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": last}
        )
        iterator = kinesis.get_shard_iterator(StreamName=self.name, ShardId=shard, **place)
        iterator = iterator["ShardIterator"]
        while True:
            page = kinesis.get_records(ShardIterator=iterator, Limit=1000)
            for record in page["Records"]:
                last = record["SequenceNumber"]
                records.append({**json.loads(record["Data"]), "key": record["PartitionKey"]})
            if not page["Records"]:
                break
            iterator = page["NextShardIterator"]
        self.shards[shard] = (records, last)


def wait_for(condition, what, deadline_s=DEADLINE_S):
    deadline = time.monotonic() + deadline_s
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < deadline, f"no {what}"
        time.sleep(0.02)


def status_of(dynamodb, table, arn):
    for found in dynamodb.describe_kinesis_streaming_destination(TableName=table)[
        "KinesisDataStreamDestinations"
    ]:
        if found["StreamArn"] == arn:
            return found["DestinationStatus"]
    return None


def enable(dynamodb, table, arn, **configuration):
    dynamodb.enable_kinesis_streaming_destination(TableName=table, StreamArn=arn, **configuration)
    wait_for(lambda: status_of(dynamodb, table, arn) == "ACTIVE", "destination that is ACTIVE")
