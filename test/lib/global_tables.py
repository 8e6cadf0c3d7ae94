"""Servers of several regions that replicate tables, with a proxy of faults on each way."""

import contextlib
import json
import time
import urllib.request

import boto3
from botocore import xform_name
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

from fault_proxy import FaultProxy
from stator_process import StatorProcess, binary
from stream_replay import Replay

REGIONS = ["eu-west-1", "us-east-1", "us-west-2"]
DEADLINE_S = 60


class Regions:
    """A server for each region. `links[a, b]` is the proxy that a's calls of b go through."""

    def __init__(self, folder, regions=REGIONS, seed=0, flags=(), variables=None):
        self.folder, self.regions, self.flags = folder, list(regions), list(flags)
        self.variables = variables or {}
        self.links = {
            (a, b): FaultProxy(f"{seed}{a}{b}") for a in regions for b in regions if a != b
        }
        self.servers, self.clients = {}, {}
        self._stack = contextlib.ExitStack()
        for region in self.regions:
            self.start(region)

    def start(self, region):
        peers = ",".join(
            f"{other} {self.links[region, other].url}" for other in self.regions if other != region
        )
        variables = self.variables.get(region)
        # A library that is preloaded comes before the sanitizer's, which refuses that.
        release = binary("STATOR_RELEASE_BINARY", "build/stator") if variables else None
        server = self._stack.enter_context(
            StatorProcess(
                "--data-dir", str(self.folder / region), "--region", region,
                "--region-peers", peers, *self.flags,
                program=release,
                variables=variables,
            )
        )  # fmt: skip
        self.servers[region] = server
        for (_, to), link in self.links.items():
            if to == region:
                link.target = server.port
        self.clients[region] = client(server.url, region)

    def kill(self, region):
        self.servers[region].kill()

    def cut(self, a, b, is_cut=True):
        self.links[a, b].is_cut = self.links[b, a].is_cut = is_cut

    def set_rate(self, rate):
        for link in self.links.values():
            link.rate = rate
            link.is_cut = False

    def stop(self):
        for server in self.servers.values():
            server.stop()

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self._stack.__exit__(*arguments)
        for link in self.links.values():
            link.stop()

    def items(self, region, table="Tab", **more):
        pages = self.clients[region].get_paginator("scan").paginate(
            TableName=table, ConsistentRead="IndexName" not in more, **more
        )
        return sorted((item for page in pages for item in page["Items"]), key=repr)

    def wait_until_equal(self, regions=None, table="Tab", index=None):
        """All regions have the same items, which are returned."""
        regions = regions or self.regions
        deadline = time.monotonic() + DEADLINE_S
        while True:
            found = [self.items(region, table) for region in regions]
            if all(items == found[0] for items in found):
                break
            assert time.monotonic() < deadline, differences(regions, found)
            time.sleep(0.05)
        if index is not None:
            for region in regions:
                entries = self.items(region, table, IndexName=index)
                assert entries == [item for item in found[0] if "g" in item]
        return found[0]

    def describe(self, region):
        """DescribeRegions: what the region knows of the others."""
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "Stator_20261101.DescribeRegions",
        }
        url = f"{self.servers[region].url}/"
        request = AWSRequest(method="POST", url=url, data="{}", headers=headers)
        SigV4Auth(Credentials("x", "x"), "dynamodb", region).add_auth(request)
        sent = urllib.request.Request(url, b"{}", dict(request.headers))
        with urllib.request.urlopen(sent, timeout=60) as answer:
            return json.load(answer)

    def wait_until_collected(self, regions=None):
        """No stamp and no entry of a queue is left."""
        deadline = time.monotonic() + DEADLINE_S
        for region in regions or self.regions:
            while True:
                (table,) = self.describe(region)["Tables"]
                waiting = [member["WaitingItems"] for member in table["Members"]]
                if table["WaitingStamps"] == 0 and not any(waiting):
                    break
                assert time.monotonic() < deadline, (region, table)
                time.sleep(0.1)

    def replay(self, region):
        """The stream of the region, whose end must be its table."""
        table = self.clients[region].describe_table(TableName="Tab")["Table"]
        caller = Caller(self.servers[region].url, region)
        found = Replay(["p"]).apply_all(caller, table["LatestStreamArn"])
        assert found.existing() == {found.key(item): item for item in self.items(region)}
        return found

    def add_replica(self, region, to, table="Tab", wait=True):
        self.clients[region].update_table(
            TableName=table, ReplicaUpdates=[{"Create": {"RegionName": to}}]
        )
        if wait:
            self.wait_until_active(to, table)

    def wait_until_active(self, region, table="Tab"):
        deadline = time.monotonic() + DEADLINE_S
        while True:
            found = self.clients[region].describe_table(TableName=table)["Table"]
            if found["TableStatus"] == "ACTIVE":
                return found
            assert time.monotonic() < deadline, found
            time.sleep(0.05)


class Caller:
    """What Replay needs of a client, in the region that boto3 signs for."""

    def __init__(self, url, region):
        self.clients = [
            boto3.client(
                service,
                endpoint_url=url,
                region_name=region,
                aws_access_key_id="x",
                aws_secret_access_key="x",
            )
            for service in ("dynamodb", "dynamodbstreams")
        ]

    def call(self, operation, body):
        name = xform_name(operation)
        for client in self.clients:
            if hasattr(client, name):
                return 200, getattr(client, name)(**body)
        raise AttributeError(operation)


def client(url, region, key=("x", "x")):
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=key[0],
        aws_secret_access_key=key[1],
        config=Config(retries={"total_max_attempts": 1}, read_timeout=60),
    )


def create_table(dynamodb, name="Tab", **more):
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "p", "AttributeType": "S"},
            {"AttributeName": "g", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "Ind",
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        **more,
    )


def differences(regions, found):
    lines = []
    every = {repr(item) for items in found for item in items}
    for region, items in zip(regions, found):
        missing = every - {repr(item) for item in items}
        lines.append(f"{region} has {len(items)} items and lacks {sorted(missing)[:3]}")
    return "\n".join(lines)
