"""Terraform's aws_dynamodb_table with two replicas, through the endpoint of one region: what it
reads and changes in the other regions, with the same client and endpoint, is relayed to them."""

import boto3
import pytest
from test_terraform import Terraform, answer, missing

from stator_process import StatorProcess

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

HOME, AWAY, THIRD = "us-east-1", "eu-west-1", "us-west-2"


class Region:
    """What is in a region, asked through the one endpoint."""

    def __init__(self, url, region):
        self.dynamodb = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name=region,
            aws_access_key_id="x",
            aws_secret_access_key="x",
        )

    def table(self):
        return self.dynamodb.describe_table(TableName="orders")["Table"]

    def tables(self):
        return self.dynamodb.list_tables()["TableNames"]

    def tags(self):
        arn = self.table()["TableArn"]
        tags = self.dynamodb.list_tags_of_resource(ResourceArn=arn)["Tags"]
        return {tag["Key"]: tag["Value"] for tag in tags}

    def keeps_every_change(self):
        backups = self.dynamodb.describe_continuous_backups(TableName="orders")
        recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        return recovery["PointInTimeRecoveryStatus"] == "ENABLED"


def replicas(table):
    return {each["RegionName"]: each["ReplicaStatus"] for each in table.get("Replicas", [])}


def is_protected(server):
    """Asked without boto3, which may be older than this setting. It signs for HOME."""
    table = answer(server.url, "DescribeTable", {"TableName": "orders"})["Table"]
    return table["DeletionProtectionEnabled"]


def test_a_table_with_two_replicas_is_applied_changed_and_destroyed(tmp_path):
    names = ",".join([HOME, AWAY, THIRD])
    with StatorProcess("--data-dir", str(tmp_path / "data"), "--regions", names) as server:
        home, away, third = (Region(server.url, name) for name in (HOME, AWAY, THIRD))
        terraform = Terraform(tmp_path / "terraform", server.url, "terraform_global")
        terraform.apply()
        assert replicas(home.table()) == {AWAY: "ACTIVE", THIRD: "ACTIVE"}
        assert is_protected(server)
        for region in (home, away, third):
            assert region.keeps_every_change()
            assert region.tags() == {"team": "shop"}
            assert region.table()["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"

        terraform.apply("protected=false", "recovery=false", "team=billing")
        assert not is_protected(server) and home.keeps_every_change()
        for region in (away, third):
            assert not region.keeps_every_change()
            assert region.tags() == {"team": "billing"}

        settings = ["protected=false", "recovery=false", f'replicas=["{THIRD}"]']
        terraform.apply(*settings)
        assert replicas(home.table()) == {THIRD: "ACTIVE"}
        assert away.tables() == []

        terraform.run("destroy", "-auto-approve", *[f"-var={each}" for each in settings])
        assert [region.tables() for region in (home, away, third)] == [[], [], []]
        server.stop()
