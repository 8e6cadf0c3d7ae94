"""Terraform against stator: what it applied is what it finds again, so that a plan stays empty.

It runs where `terraform` is installed and a directory has the AWS provider in the layout of
Terraform's file-system mirrors: the one that TERRAFORM_PLUGINS names, one of those where Terraform
itself looks, or one below /opt. Nothing is downloaded.
"""

import json
import os
import pathlib
import shutil
import subprocess
import urllib.parse

import boto3
import pytest

from stator_process import Connection

HERE = pathlib.Path(__file__).parent
STEP_LIMIT_S = 300
NO_CHANGE = 0  # Of `terraform plan -detailed-exitcode`.


def find_plugins():
    """The directory that has the AWS provider, or None."""
    named = [os.environ.get(name) for name in ("TERRAFORM_PLUGINS", "TF_PLUGIN_CACHE_DIR")]
    usual = [
        pathlib.Path.home() / ".terraform.d/plugins",
        "/usr/local/share/terraform/plugins",
        "/usr/share/terraform/plugins",
        *pathlib.Path("/opt").glob("*"),
    ]
    for directory in filter(None, [*named, *usual]):
        if list(pathlib.Path(directory).glob("registry.terraform.io/hashicorp/aws/*")):
            return str(directory)
    return None


PLUGINS = find_plugins()


def missing():
    """Why the test cannot run here, or None."""
    if shutil.which("terraform") is None:
        return "terraform is not installed"
    if PLUGINS is None:
        return "there is no directory with Terraform's AWS provider"
    return None


pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


class Terraform:
    """A working directory, in which a configuration is applied to one server."""

    def __init__(self, directory, endpoint, configuration="terraform"):
        self.directory = directory
        self.variables = {
            **os.environ,
            "TF_VAR_endpoint": endpoint,
            "TF_IN_AUTOMATION": "1",
            "TF_CLI_CONFIG_FILE": os.devnull,
            "CHECKPOINT_DISABLE": "1",  # Asks nobody for newer versions.
        }
        shutil.copytree(HERE / configuration, directory)
        self.run("init", f"-plugin-dir={PLUGINS}")

    def run(self, command, *arguments, expected=0):
        result = subprocess.run(
            ["terraform", command, "-no-color", "-input=false", *arguments],
            cwd=self.directory,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=STEP_LIMIT_S,
            check=False,
        )
        assert result.returncode == expected, result.stdout

    def outputs(self):
        return json.loads((self.directory / "terraform.tfstate").read_text())["outputs"]

    def apply(self, *variables):
        """Applies, and a plan right behind it finds nothing left to do."""
        settings = [f"-var={variable}" for variable in variables]
        self.run("apply", "-auto-approve", *settings)
        self.run("plan", "-detailed-exitcode", *settings, expected=NO_CHANGE)


def answer(url, operation, body):
    """On a connection of its own: between Terraform's steps one would grow old."""
    connection = Connection(urllib.parse.urlsplit(url).port)
    status, result = connection.call(operation, body)
    connection.close()
    assert status == 200, result
    return result


def test_a_plan_behind_an_apply_is_empty(server_url, tmp_path):
    terraform = Terraform(tmp_path / "terraform", server_url)
    terraform.apply()
    assert answer(server_url, "ListTables", {})["TableNames"] == ["ledger", "orders"]
    terraform.apply("team=billing", "recovery_days=14")
    backups = answer(server_url, "DescribeContinuousBackups", {"TableName": "orders"})
    recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["RecoveryPeriodInDays"] == 14
    arn = answer(server_url, "DescribeTable", {"TableName": "orders"})["Table"]["TableArn"]
    tags = answer(server_url, "ListTagsOfResource", {"ResourceArn": arn})["Tags"]
    assert tags == [{"Key": "team", "Value": "billing"}]
    policy = json.loads(answer(server_url, "GetResourcePolicy", {"ResourceArn": arn})["Policy"])
    assert policy["Statement"][0]["Sid"] == "billing"
    terraform.run("destroy", "-auto-approve")
    assert answer(server_url, "ListTables", {})["TableNames"] == []


def test_a_plan_behind_alarms_and_a_dashboard_is_empty(server_url, tmp_path):
    terraform = Terraform(tmp_path / "terraform", server_url, "terraform_monitoring")
    cloudwatch = boto3.client(
        "cloudwatch",
        endpoint_url=server_url,
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )
    terraform.apply()
    assert terraform.outputs()["account"]["value"] == "000000000000"
    alarms = cloudwatch.describe_alarms()["MetricAlarms"]
    assert [alarm["AlarmName"] for alarm in alarms] == ["orders-reads", "orders-slow"]
    assert alarms[0]["DatapointsToAlarm"] == 2
    assert alarms[1]["ExtendedStatistic"] == "p99"
    terraform.apply("team=billing", "threshold=0.25")
    alarm = cloudwatch.describe_alarms()["MetricAlarms"][0]
    assert alarm["Threshold"] == 0.25
    assert alarm["AlarmDescription"] == 'Reads of orders & more: "<0.25>"'
    tags = cloudwatch.list_tags_for_resource(ResourceARN=alarm["AlarmArn"])["Tags"]
    assert tags == [{"Key": "team", "Value": "billing"}]
    body = json.loads(cloudwatch.get_dashboard(DashboardName="orders")["DashboardBody"])
    assert body["widgets"][0]["properties"]["title"] == "billing"
    terraform.run("destroy", "-auto-approve")
    assert cloudwatch.describe_alarms()["MetricAlarms"] == []
    assert cloudwatch.list_dashboards()["DashboardEntries"] == []


def test_a_plan_behind_targets_policies_and_scheduled_actions_is_empty(server_url, tmp_path):
    terraform = Terraform(tmp_path / "terraform", server_url, "terraform_scaling")
    scaling = boto3.client(
        "application-autoscaling",
        endpoint_url=server_url,
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )
    terraform.apply()
    targets = scaling.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"]
    assert [target["ResourceId"] for target in targets] == ["table/scaled", "table/scaled/index/by-customer"]
    terraform.apply("target=50", "max=200")
    (policy,) = scaling.describe_scaling_policies(ServiceNamespace="dynamodb")["ScalingPolicies"]
    assert policy["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] == 50
    assert len(policy["Alarms"]) == 4
    (action,) = scaling.describe_scheduled_actions(ServiceNamespace="dynamodb")["ScheduledActions"]
    assert action["ScalableTargetAction"] == {"MinCapacity": 20, "MaxCapacity": 200}
    terraform.run("destroy", "-auto-approve")
    assert scaling.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"] == []
    assert "scaled" not in answer(server_url, "ListTables", {})["TableNames"]
