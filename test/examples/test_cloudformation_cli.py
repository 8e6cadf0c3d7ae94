"""The real `aws cloudformation deploy`: creates, finds nothing to do, updates, is refused, replaces."""

import json
import shutil
import subprocess
import time

import pytest

STEP_LIMIT_S = 300

pytestmark = pytest.mark.skipif(shutil.which("aws", path="/usr/bin:/bin") is None,
                                reason="the AWS CLI is not installed")


class Cli:
    def __init__(self, url, folder):
        self.folder = folder
        self.variables = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_PAGER": "",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": url,
        }
        self.url = url

    def run(self, *words, fails=False):
        result = subprocess.run(["aws", *words, "--endpoint-url", self.url], env=self.variables,
                                cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=STEP_LIMIT_S, check=False)
        assert (result.returncode != 0) == fails, result.stdout + result.stderr
        return result.stdout + result.stderr

    def deploy(self, body, *more, fails=False):
        (self.folder / "template.json").write_text(json.dumps(body))
        time.sleep(1.1)  # The CLI names its change set by the second, and a name is good once.
        return self.run("cloudformation", "deploy", "--stack-name", "shop", "--template-file",
                        "template.json", *more, fails=fails)

    def table(self, name):
        return json.loads(self.run("dynamodb", "describe-table", "--table-name", name))["Table"]


def template(index=None, key="id", name="orders"):
    attributes = [key] + ([index] if index else [])
    properties = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": a, "AttributeType": "S"} for a in attributes],
        "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
    }
    if index:
        properties["GlobalSecondaryIndexes"] = [{
            "IndexName": "by-" + index, "Projection": {"ProjectionType": "ALL"},
            "KeySchema": [{"AttributeName": index, "KeyType": "HASH"}]}]
    if name is None:
        del properties["TableName"]
    return {"Resources": {"Orders": {"Type": "AWS::DynamoDB::Table", "Properties": properties}}}


def reasons(cli):
    events = json.loads(cli.run("cloudformation", "describe-stack-events", "--stack-name", "shop"))
    return [event.get("ResourceStatusReason", "") for event in events["StackEvents"]]


def test_deploy_creates_updates_refuses_and_replaces(server_url, tmp_path):
    cli = Cli(server_url, tmp_path)
    assert "Successfully created/updated stack - shop" in cli.deploy(template())
    assert "No changes to deploy. Stack shop is up to date" in cli.deploy(template())
    cli.deploy(template(index="status"))
    indexes = cli.table("orders")["GlobalSecondaryIndexes"]
    assert [index["IndexName"] for index in indexes] == ["by-status"]
    assert "Failed to create/update the stack" in cli.deploy(template(index="kind"), fails=True)
    assert any("Cannot perform more than one GSI creation or deletion in a single update" in reason
               for reason in reasons(cli))
    assert [i["IndexName"] for i in cli.table("orders")["GlobalSecondaryIndexes"]] == ["by-status"]
    cli.deploy(template(index="status", key="pk"), fails=True)
    assert any("CloudFormation cannot update a stack when a custom-named resource requires replacing"
               in reason for reason in reasons(cli))
    cli.deploy(template(index="status", key="pk", name="orders-2"))  # Replaced by its new name.
    names = json.loads(cli.run("dynamodb", "list-tables"))["TableNames"]
    assert "orders-2" in names and "orders" not in names
    cli.run("cloudformation", "delete-stack", "--stack-name", "shop")
    cli.run("cloudformation", "wait", "stack-delete-complete", "--stack-name", "shop")
    assert "orders-2" not in json.loads(cli.run("dynamodb", "list-tables"))["TableNames"]
