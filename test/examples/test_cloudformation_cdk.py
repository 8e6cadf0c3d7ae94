"""The unmodified CDK CLI: deploy, deploy again, diff, an update, destroy.

It runs where the packages of test/examples/cdk/package.json are installed: `make test` installs them
if the npm registry can be reached.
"""

import json
import os
import pathlib
import shutil
import subprocess

import boto3
import pytest

FOLDER = pathlib.Path(__file__).with_name("cdk")
PROGRAM = FOLDER / "node_modules/aws-cdk/bin/cdk"
STEP_LIMIT_S = 180
ASSEMBLY_LIMIT_S = 180


def missing():
    """Why the test cannot run here, or None."""
    if shutil.which("node") is None:
        return "there is no Node.js"
    if not PROGRAM.exists():
        return "the CDK is not installed: npm ci in test/examples/cdk"
    return None


pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


class Cdk:
    def __init__(self, url, folder):
        self.folder = folder
        self.variables = {
            **os.environ,
            "HOME": str(folder),
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "CDK_DISABLE_VERSION_CHECK": "1",
            "CDK_DISABLE_CLI_TELEMETRY": "1",
            "CI": "1",
        }

    def synthesize(self, name, **variables):
        """A folder with the templates of the app: the library alone makes them, without the CLI."""
        out = self.folder / name
        subprocess.run(["node", str(FOLDER / "app.js")],
                       env={**self.variables, "CDK_OUTDIR": str(out), **variables},
                       cwd=self.folder, check=True, capture_output=True, timeout=ASSEMBLY_LIMIT_S)
        return str(out)

    def run(self, assembly, command, *more):
        result = subprocess.run(
            ["node", str(PROGRAM), command, "--app", assembly, "--no-color", *more],
            env=self.variables, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=STEP_LIMIT_S, check=False)
        assert result.returncode == 0, result.stdout
        return result.stdout


def test_cdk_deploys_finds_no_difference_updates_and_destroys(server_url, tmp_path):
    dynamodb = boto3.client("dynamodb", endpoint_url=server_url, region_name="us-east-1",
                            aws_access_key_id="any", aws_secret_access_key="any")
    cdk = Cdk(server_url, tmp_path)
    first = cdk.synthesize("first")
    outputs = tmp_path / "outputs.json"
    cdk.run(first, "deploy", "--all", "--require-approval", "never", "--outputs-file", str(outputs))
    told = json.loads(outputs.read_text())
    orders = told["Shop"]["OrdersName"]
    assert told["Report"]["From"] == orders  # By Fn::ImportValue.
    described = dynamodb.describe_table(TableName=orders)["Table"]
    assert [index["IndexName"] for index in described["GlobalSecondaryIndexes"]] == ["byStatus"]
    ttl = dynamodb.describe_time_to_live(TableName=orders)["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    assert "no changes" in cdk.run(first, "deploy", "--all", "--require-approval", "never")
    assert "Number of stacks with differences: 0" in cdk.run(first, "diff")
    second = cdk.synthesize("second", INDEX="1")
    cdk.run(second, "deploy", "--all", "--require-approval", "never")
    sums = dynamodb.describe_table(TableName="sums-dev")["Table"]
    assert [index["IndexName"] for index in sums["GlobalSecondaryIndexes"]] == ["byMonth"]
    cdk.run(second, "destroy", "--all", "--force")
    assert dynamodb.list_tables()["TableNames"] == ["sums-dev"]  # Retained.
    dynamodb.delete_table(TableName="sums-dev")
