"""What `stator model export` prints, through the tools that it is for: each makes the tables of the
model, so that `stator model diff` finds nothing left to do.

Terraform, the CDK and TypeScript are used where they are installed.
"""

import json
import os
import pathlib
import shutil
import subprocess

import boto3
import pytest
import stator_process
import test_cloudformation_cdk
import test_terraform

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPESCRIPT = ROOT / "test/typescript/node_modules"
LIMIT_S = 180
HEADER = """
terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}
variable "endpoint" {}
provider "aws" {
  region                      = "us-east-1"
  access_key                  = "x"
  secret_key                  = "x"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
  endpoints {
    dynamodb = var.endpoint
  }
}
"""


def key(name, kind="S"):
    return {"AttributeName": name, "AttributeType": kind}


def index(name, partition, sort, projection):
    keys = {"PartitionKey": partition, **({"SortKey": sort} if sort else {})}
    return {"IndexName": name, "KeyAttributes": keys, "Projection": projection}


def model():
    """Two tables with every kind of index, type and projection, and names that need quotes."""
    quoted = "it's \"${path.cwd}\" %{if} `$(id)` \\n"
    first = {
        "TableName": "exported.orders-1", "BillingMode": "PROVISIONED",
        "ProvisionedCapacitySettings": {
            "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 2}},
        "KeyAttributes": {"PartitionKey": key("id"), "SortKey": key("at", "N")},
        "GlobalSecondaryIndexes": [
            index("byRaw", key("raw", "B"), None, {"ProjectionType": "KEYS_ONLY"}),
            index("bySome", key(quoted), key("at", "N"),
                  {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total", "$" + "{x}"]}),
            index("local", key("id"), key("status"), {"ProjectionType": "ALL"})],
        "TableData": [{"id": {"S": "a'b\"${HOME}\\"}, "at": {"N": "1"}, quoted: {"S": "é"}}],
    }  # fmt: skip
    second = {
        "TableName": "exported.orders_1", "BillingMode": "PAY_PER_REQUEST", "TableData": [],
        "KeyAttributes": {"PartitionKey": key("id")}, "GlobalSecondaryIndexes": [],
    }  # fmt: skip
    tables = [{"TableName": "exported.orders-1", "LocalIndexes": ["local"], "TimeToLive": "expires"}]
    return {"ModelName": "An \"export\" ${x}", "ModelMetadata": {"Version": "3.0"},
            "DataModel": [first, second], "Stator": {"Tables": tables}}  # fmt: skip


def stator(*arguments, expected=0):
    done = subprocess.run([stator_process.binary(), *map(str, arguments)], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)  # fmt: skip
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model()))
    return path


@pytest.fixture(name="client")
def fixture_client(server_url):
    client = boto3.client("dynamodb", endpoint_url=server_url, region_name="us-east-1",
                          aws_access_key_id="x", aws_secret_access_key="x")
    yield client
    for name in client.list_tables()["TableNames"]:
        client.delete_table(TableName=name)
        client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig={"Delay": 1})


def assert_same(server_url, path, client, rows=0):
    assert stator("model", "diff", path, "--endpoint", server_url) == "nothing differs\n"
    assert client.scan(TableName="exported.orders-1")["Count"] == rows
    table = client.describe_table(TableName="exported.orders-1")["Table"]
    assert table["LocalSecondaryIndexes"][0]["IndexName"] == "local"
    ttl = client.describe_time_to_live(TableName="exported.orders-1")["TimeToLiveDescription"]
    assert ttl["AttributeName"] == "expires"


def test_cloudformation_by_stator_apply(server_url, path, client, tmp_path):
    template = tmp_path / "template.json"
    template.write_text(stator("model", "export", path, "--format", "cloudformation"))
    stator("apply", template, "--yes", "--endpoint", server_url)
    assert_same(server_url, path, client)
    # The template is a model, too.
    assert stator("model", "diff", template, path) == "nothing differs\n"
    assert stator("model", "diff", path, template) == "nothing differs\n"


def test_cloudformation_by_its_own_api(server_url, path, client):
    cloudformation = boto3.client("cloudformation", endpoint_url=server_url, region_name="us-east-1",
                                  aws_access_key_id="x", aws_secret_access_key="x")  # fmt: skip
    body = stator("model", "export", path, "--format", "cloudformation")
    cloudformation.create_stack(StackName="exported", TemplateBody=body)
    cloudformation.get_waiter("stack_create_complete").wait(StackName="exported", WaiterConfig={"Delay": 1})
    assert_same(server_url, path, client)
    cloudformation.delete_stack(StackName="exported")
    cloudformation.get_waiter("stack_delete_complete").wait(StackName="exported", WaiterConfig={"Delay": 1})


@pytest.mark.skipif(not os.path.exists("/usr/bin/aws"), reason="the AWS CLI is not installed")
def test_commands_of_the_cli(server_url, path, client, tmp_path):
    script = tmp_path / "create.sh"
    script.write_text(stator("model", "export", path, "--format", "cli"))
    wrapper = tmp_path / "aws"
    wrapper.write_text(f'#!/bin/sh\nexec /usr/bin/aws --endpoint-url {server_url} "$@"\n')
    wrapper.chmod(0o755)
    done = subprocess.run(
        ["sh", str(script)], capture_output=True, text=True, timeout=LIMIT_S, check=False,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8",
             "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1",
             "AWS_PAGER": "", "AWS_EC2_METADATA_DISABLED": "true"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert_same(server_url, path, client, rows=1)
    assert client.scan(TableName="exported.orders-1")["Items"] == model()["DataModel"][0]["TableData"]


class Terraform(test_terraform.Terraform):
    def __init__(self, directory, endpoint, text):
        self.directory = directory
        self.variables = {**os.environ, "TF_VAR_endpoint": endpoint, "TF_IN_AUTOMATION": "1",
                          "TF_CLI_CONFIG_FILE": os.devnull, "CHECKPOINT_DISABLE": "1"}  # fmt: skip
        directory.mkdir()
        (directory / "main.tf").write_text(HEADER + text)
        self.run("init", f"-plugin-dir={test_terraform.PLUGINS}")


@pytest.mark.skipif(test_terraform.missing() is not None, reason=str(test_terraform.missing()))
def test_terraform_applies_and_finds_nothing_left(server_url, path, client, tmp_path):
    terraform = Terraform(tmp_path / "tf", server_url, stator("model", "export", path, "--format", "terraform"))
    terraform.apply()
    assert_same(server_url, path, client)
    terraform.run("destroy", "-auto-approve")


def cdk_missing():
    if not (TYPESCRIPT / "typescript/bin/tsc").exists():
        return "TypeScript is not installed: npm ci in test/typescript"
    if shutil.which("node") is None or not (test_cloudformation_cdk.FOLDER / "node_modules/aws-cdk-lib").exists():
        return "the CDK is not installed: npm ci in test/examples/cdk"
    return None


APP = """
import { App } from 'aws-cdk-lib';
import { ModelStack } from './stack';
const app = new App({ outdir: 'cdk.out', analyticsReporting: false });
new ModelStack(app, 'Exported');
app.synth();
"""


@pytest.mark.skipif(cdk_missing() is not None, reason=str(cdk_missing()))
def test_cdk_compiles_and_its_template_makes_the_tables(server_url, path, client, tmp_path):
    modules = tmp_path / "node_modules"
    modules.mkdir()
    for name in ("aws-cdk-lib", "constructs"):
        (modules / name).symlink_to(test_cloudformation_cdk.FOLDER / "node_modules" / name)
    (modules / "@types").symlink_to(TYPESCRIPT / "@types")
    (tmp_path / "stack.ts").write_text(stator("model", "export", path, "--format", "cdk"))
    (tmp_path / "app.ts").write_text(APP)
    subprocess.run(
        ["node", str(TYPESCRIPT / "typescript/bin/tsc"), "--strict", "--skipLibCheck", "--target", "ES2022",
         "--module", "commonjs", "--moduleResolution", "node10", "--types", "node", "app.ts", "stack.ts"],
        cwd=tmp_path, check=True, timeout=LIMIT_S)  # fmt: skip
    subprocess.run(["node", "app.js"], cwd=tmp_path, check=True, timeout=LIMIT_S)
    stator("apply", tmp_path / "cdk.out", "--yes", "--endpoint", server_url)
    assert_same(server_url, path, client)
