"""Alarms follow their metrics, and every action of an acknowledged change of state is carried out at
least once, though the endpoint refuses it and the server is killed meanwhile.

The clock is moved by test/lib/preload/moving_clock.c, so that minutes pass at once.
"""

import contextlib
import random
import time

import boto3
import botocore.config
import botocore.exceptions
import pytest

import crash_run
import stator_process
from alarm_target import AlarmTarget
from moving_clock import MovingClock

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}, read_timeout=20),
}
TABLE = "watched"
KEY = {"pk": {"S": "a"}}
ROUNDS = 8
ROUNDS_LONG = 200


class Server:
    def __init__(self, directory, clock):
        self.directory = directory
        self.clock = clock
        self.start()

    def start(self):
        self.process = crash_run.start_server(
            self.directory, "--metrics-interval", "100", variables=self.clock.variables()
        )
        self.dynamodb = boto3.client("dynamodb", endpoint_url=self.process.url, **SETTINGS)
        self.cloudwatch = boto3.client("cloudwatch", endpoint_url=self.process.url, **SETTINGS)

    def kill(self):
        self.process.kill()

    def state(self, name):
        (alarm,) = self.cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
        return alarm["StateValue"]

    def next_minute(self):
        """Past the end of the open minute, and of the time in which it settles."""
        self.clock.pass_time(61)


@contextlib.contextmanager
def server_on(tmp_path):
    server = Server(tmp_path / "data", MovingClock(tmp_path / "clock"))
    try:
        yield server
    finally:
        server.kill()


def create_table(server):
    server.dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )


def watch_reads(server, url):
    server.cloudwatch.put_metric_alarm(
        AlarmName="reads",
        Namespace="AWS/DynamoDB",
        MetricName="ConsumedReadCapacityUnits",
        Dimensions=[{"Name": "TableName", "Value": TABLE}],
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=5,
        ComparisonOperator="GreaterThanThreshold",
        AlarmActions=[url],
        OKActions=[url],
    )


def wait_for_state(target, server, wanted):
    """Minutes pass until the alarm is there, a few at most."""
    for _ in range(5):
        server.next_minute()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            if server.state("reads") == wanted:
                return
            time.sleep(0.05)
    pytest.fail(f"{server.state('reads')}: {target.states()}")


def read_ten(server):
    for _ in range(10):
        server.dynamodb.get_item(TableName=TABLE, Key=KEY, ConsistentRead=True)


@pytest.mark.parametrize("killed", [False, True])
def test_an_alarm_on_consumed_capacity_acts_and_recovers(tmp_path, killed):
    with AlarmTarget() as target, server_on(tmp_path) as server:
        create_table(server)
        watch_reads(server, target.url)
        target.status = 503 if killed else 200
        read_ten(server)
        wait_for_state(target, server, "ALARM")
        if killed:
            target.wait_for(lambda: target.refused > 0, "an attempt")
            server.kill()
            target.status = 200
            server.start()
            assert server.state("reads") == "ALARM"
        target.wait_for(lambda: ("ALARM") in [to for _, to in target.states()], "the action")
        wait_for_state(target, server, "OK")
        target.wait_for(lambda: ("ALARM", "OK") in target.states(), "the second action")
        history = server.cloudwatch.describe_alarm_history(AlarmName="reads")
        summaries = [item["HistorySummary"] for item in history["AlarmHistoryItems"]]
        assert "Alarm updated from ALARM to OK" in summaries
        assert f"Successfully executed action {target.url}" in summaries
        server.kill()
        result = stator_process.check(server.directory)
        assert result.returncode == 0, result.stdout


def test_every_acknowledged_change_acts_though_the_server_is_killed(tmp_path):
    choices = random.Random(crash_run.seeded())
    acknowledged = []
    with AlarmTarget() as target, server_on(tmp_path) as server:
        server.cloudwatch.put_metric_alarm(
            AlarmName="reads",
            Namespace="App",
            MetricName="m",
            Statistic="Sum",
            Period=60,
            EvaluationPeriods=1,
            Threshold=5,
            ComparisonOperator="GreaterThanThreshold",
            TreatMissingData="ignore",
            AlarmActions=[target.url],
            OKActions=[target.url],
        )
        number = 0
        for _ in crash_run.rounds(ROUNDS, ROUNDS_LONG):
            target.status = choices.choice([200, 500])
            for _ in range(choices.randrange(1, 12)):
                number += 1
                # The state may be this one already: then nothing changes, and nothing acts.
                state = "ALARM" if server.state("reads") != "ALARM" else "OK"
                server.cloudwatch.set_alarm_state(
                    AlarmName="reads", StateValue=state, StateReason=f"change {number}"
                )
                acknowledged.append(f"change {number}")
                time.sleep(choices.uniform(0, 0.02))
            server.kill()
            result = stator_process.check(server.directory)
            assert result.returncode == 0, result.stdout
            server.start()
            (alarm,) = server.cloudwatch.describe_alarms()["MetricAlarms"]
            assert alarm["StateReason"] == acknowledged[-1]
        target.status = 200

        def missing():
            return set(acknowledged) - {m["NewStateReason"] for m in target.messages}

        target.wait_for(lambda: not missing(), "all actions")
        history = server.cloudwatch.get_paginator("describe_alarm_history").paginate(
            AlarmName="reads", HistoryItemType="StateUpdate"
        )
        assert len(history.build_full_result()["AlarmHistoryItems"]) == len(acknowledged)
