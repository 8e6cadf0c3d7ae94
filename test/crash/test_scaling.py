"""The commands of DynamoDB's guide to auto scaling, as they are written there; then the table scales
out under load and in when it is idle, though the server is killed in between.

The clock is moved by test/lib/preload/moving_clock.c, so that minutes pass at once.
"""

import json
import os
import shutil
import subprocess
import time

import boto3
import botocore.config
import pytest

import crash_run
from moving_clock import MovingClock

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "x",
    "aws_secret_access_key": "x",
    "config": botocore.config.Config(retries={"max_attempts": 0}, read_timeout=20),
}
CAPACITY = 5
PATIENCE_S = 60


class Server:
    def __init__(self, tmp_path):
        self.directory = tmp_path / "data"
        self.clock = MovingClock(tmp_path / "clock")
        self.start()

    def start(self):
        self.process = crash_run.start_server(
            self.directory, "--metrics-interval", "100", variables=self.clock.variables()
        )
        self.dynamodb = boto3.client("dynamodb", endpoint_url=self.process.url, **SETTINGS)
        self.scaling = boto3.client("application-autoscaling", endpoint_url=self.process.url, **SETTINGS)

    def kill(self):
        self.process.kill()

    def write_units(self):
        table = self.dynamodb.describe_table(TableName="TestTable")["Table"]
        return table["ProvisionedThroughput"]["WriteCapacityUnits"]

    def live(self, minutes, writes):
        """So many writes of one unit in each minute."""
        for _ in range(minutes):
            for start in range(0, writes, 25):
                batch = [{"PutRequest": {"Item": {"pk": {"S": str(start + i)}}}} for i in range(25)]
                self.dynamodb.batch_write_item(RequestItems={"TestTable": batch})
            self.clock.pass_time(61)
            time.sleep(0.3)  # Some rounds of the ticker.

    def await_units(self, expected):
        """Minutes pass until the table has that capacity."""
        end = time.monotonic() + PATIENCE_S
        while self.write_units() != expected:
            assert time.monotonic() < end, (self.write_units(), self.activities())
            self.clock.pass_time(61)
            time.sleep(0.3)

    def activities(self):
        return self.scaling.describe_scaling_activities(ServiceNamespace="dynamodb")["ScalingActivities"]


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    server.dynamodb.create_table(
        TableName="TestTable",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        ProvisionedThroughput={"ReadCapacityUnits": CAPACITY, "WriteCapacityUnits": CAPACITY},
    )
    try:
        yield server
    finally:
        server.process.stop()


def aws(server, *arguments):
    result = subprocess.run(
        ["aws", "application-autoscaling", *arguments, "--endpoint-url", server.process.url],
        env={
            **os.environ,
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_PAGER": "",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


@pytest.mark.skipif(shutil.which("aws") is None, reason="the AWS CLI is not installed")
def test_the_guides_commands_make_a_table_scale(server, tmp_path):
    aws(
        server,
        *"register-scalable-target --service-namespace dynamodb --resource-id table/TestTable".split(),
        *"--scalable-dimension dynamodb:table:WriteCapacityUnits --min-capacity 5 --max-capacity 10".split(),
    )
    policy = tmp_path / "scaling-policy.json"
    policy.write_text(
        json.dumps(
            {
                "PredefinedMetricSpecification": {
                    "PredefinedMetricType": "DynamoDBWriteCapacityUtilization"
                },
                "ScaleOutCooldown": 60,
                "ScaleInCooldown": 60,
                "TargetValue": 70.0,
            }
        )
    )
    aws(
        server,
        *"put-scaling-policy --service-namespace dynamodb --resource-id table/TestTable".split(),
        *"--scalable-dimension dynamodb:table:WriteCapacityUnits --policy-name MyScalingPolicy".split(),
        *"--policy-type TargetTrackingScaling --target-tracking-scaling-policy-configuration".split(),
        f"file://{policy}",
    )
    server.live(4, 900)  # 15 units per second on 5.
    server.kill()
    server.start()
    server.live(2, 900)
    assert server.write_units() == 10
    server.kill()
    server.start()
    server.await_units(5)
    done = [activity for activity in server.activities() if activity["StatusCode"] == "Successful"]
    assert [activity["Description"] for activity in reversed(done)] == [
        "Setting write capacity units to 10.",
        "Setting write capacity units to 5.",
    ]
    told = aws(server, *"describe-scaling-activities --service-namespace dynamodb".split())
    assert "triggered policy MyScalingPolicy" in told
