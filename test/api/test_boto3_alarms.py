"""Debian's boto3 with the client `cloudwatch`: alarms with their history and actions, dashboards,
tags, pages, and errors by code."""

import datetime
import json
import time

import boto3
import botocore.config
import botocore.exceptions
import pytest

from alarm_target import AlarmTarget

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}
METRIC = {
    "Namespace": "App",
    "MetricName": "m",
    "Statistic": "Sum",
    "Period": 60,
    "EvaluationPeriods": 1,
    "Threshold": 5,
    "ComparisonOperator": "GreaterThanThreshold",
}
ARN = "arn:aws:cloudwatch:us-east-1:000000000000:alarm:"


@pytest.fixture(scope="module")
def client(server_url):
    return boto3.client("cloudwatch", endpoint_url=server_url, **SETTINGS)


@pytest.fixture(autouse=True)
def clean(client):
    yield
    alarms = client.get_paginator("describe_alarms").paginate().build_full_result()
    names = [alarm["AlarmName"] for alarm in alarms["MetricAlarms"]]
    for start in range(0, len(names), 100):
        client.delete_alarms(AlarmNames=names[start : start + 100])


def refused(call, **parameters):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call(**parameters)
    return caught.value.response["Error"]


def describe(client, name):
    (alarm,) = client.describe_alarms(AlarmNames=[name])["MetricAlarms"]
    return alarm


def wait_for_state(client, name, state):
    deadline = time.monotonic() + 60
    while (alarm := describe(client, name))["StateValue"] != state:
        assert time.monotonic() < deadline, alarm
        time.sleep(0.1)
    return alarm


def test_an_alarm_has_the_members_that_it_was_given(client):
    client.put_metric_alarm(
        AlarmName="all",
        AlarmDescription="é",
        ActionsEnabled=False,
        OKActions=["arn:aws:sns:us-east-1:000000000000:t"],
        Dimensions=[{"Name": "k", "Value": "v"}],
        Unit="Count",
        DatapointsToAlarm=1,
        TreatMissingData="ignore",
        Tags=[{"Key": "team", "Value": "shop"}],
        **METRIC,
    )
    alarm = describe(client, "all")
    arn = alarm["AlarmArn"]
    for name, value in METRIC.items():
        assert alarm[name] == value
    assert arn.startswith("arn:aws:cloudwatch:us-east-1:") and arn.endswith(":alarm:all")
    assert alarm["AlarmDescription"] == "é"
    assert alarm["ActionsEnabled"] is False
    assert alarm["AlarmActions"] == [] and alarm["InsufficientDataActions"] == []
    assert alarm["Dimensions"] == [{"Name": "k", "Value": "v"}]
    assert alarm["StateValue"] == "INSUFFICIENT_DATA"
    assert alarm["StateReason"] == "Unchecked: Initial alarm creation"
    assert isinstance(alarm["StateUpdatedTimestamp"], datetime.datetime)
    assert client.list_tags_for_resource(ResourceARN=arn)["Tags"] == [
        {"Key": "team", "Value": "shop"}
    ]
    client.tag_resource(ResourceARN=arn, Tags=[{"Key": "team", "Value": "billing"}])
    client.untag_resource(ResourceARN=arn, TagKeys=["none"])
    assert client.list_tags_for_resource(ResourceARN=arn)["Tags"] == [
        {"Key": "team", "Value": "billing"}
    ]
    client.untag_resource(ResourceARN=arn, TagKeys=["team"])
    assert client.list_tags_for_resource(ResourceARN=arn)["Tags"] == []
    found = client.describe_alarms_for_metric(
        Namespace="App", MetricName="m", Dimensions=[{"Name": "k", "Value": "v"}]
    )
    assert [alarm["AlarmName"] for alarm in found["MetricAlarms"]] == ["all"]


def test_an_alarm_follows_its_metric_and_acts(client):
    with AlarmTarget() as target:
        minute = int(time.time()) // 60 * 60 - 30
        client.put_metric_data(
            Namespace="App", MetricData=[{"MetricName": "m", "Value": 7, "Timestamp": minute}]
        )
        client.put_metric_alarm(
            AlarmName="acts", AlarmActions=[target.url], OKActions=[target.url], **METRIC
        )
        alarm = wait_for_state(client, "acts", "ALARM")
        assert alarm["StateReason"].startswith("Threshold Crossed: 1 datapoint [7.0 (")
        data = json.loads(alarm["StateReasonData"])
        assert data["recentDatapoints"] == [7.0] and data["statistic"] == "Sum"
        target.wait_for(lambda: target.states(), "the action")
        (message,) = target.messages
        assert message["AlarmName"] == "acts"
        assert message["AlarmArn"] == alarm["AlarmArn"]
        assert message["OldStateValue"] == "INSUFFICIENT_DATA"
        assert message["NewStateReason"] == alarm["StateReason"]
        assert message["Trigger"]["MetricName"] == "m"
        assert target.headers["X-Amz-Sns-Message-Type"] == "Notification"
        # A new definition keeps the state, and is evaluated at once.
        client.put_metric_alarm(
            AlarmName="acts",
            AlarmActions=[target.url],
            OKActions=[target.url],
            **{**METRIC, "Threshold": 9},
        )
        wait_for_state(client, "acts", "OK")
        target.wait_for(lambda: ("ALARM", "OK") in target.states(), "the second action")

        def summaries():
            items = client.describe_alarm_history(
                AlarmName="acts", ScanBy="TimestampAscending", AlarmTypes=["MetricAlarm"]
            )["AlarmHistoryItems"]
            return [item["HistorySummary"] for item in items]

        done = f"Successfully executed action {target.url}"
        target.wait_for(lambda: summaries().count(done) == 2, "the history")
        assert [line for line in summaries() if line != done] == [
            'Alarm "acts" created',
            "Alarm updated from INSUFFICIENT_DATA to ALARM",
            'Alarm "acts" updated',
            "Alarm updated from ALARM to OK",
        ]


def test_an_alarm_of_high_resolution_is_evaluated_every_ten_seconds(client):
    client.put_metric_alarm(
        AlarmName="fast", **{**METRIC, "MetricName": "fast", "Period": 10, "Threshold": 1}
    )
    client.put_metric_data(
        Namespace="App",
        MetricData=[{"MetricName": "fast", "Value": 3, "StorageResolution": 1}],
    )
    wait_for_state(client, "fast", "ALARM")


def test_states_are_set_and_actions_enabled(client):
    client.put_metric_alarm(AlarmName="set", TreatMissingData="ignore", **METRIC)
    client.set_alarm_state(
        AlarmName="set", StateValue="ALARM", StateReason="test", StateReasonData='{"k": 1}'
    )
    alarm = describe(client, "set")
    assert (alarm["StateValue"], alarm["StateReason"]) == ("ALARM", "test")
    assert json.loads(alarm["StateReasonData"]) == {"k": 1}
    client.disable_alarm_actions(AlarmNames=["set"])
    assert describe(client, "set")["ActionsEnabled"] is False
    client.enable_alarm_actions(AlarmNames=["set"])
    assert describe(client, "set")["ActionsEnabled"] is True


def test_pages_show_every_alarm_once(client):
    names = [f"page-{number:03}" for number in range(130)]
    for name in names:
        client.put_metric_alarm(AlarmName=name, **METRIC)
    pages = client.get_paginator("describe_alarms").paginate(
        AlarmNamePrefix="page-", PaginationConfig={"PageSize": 17}
    )
    found = [alarm["AlarmName"] for page in pages for alarm in page["MetricAlarms"]]
    assert found == names
    history = client.get_paginator("describe_alarm_history").paginate(
        HistoryItemType="ConfigurationUpdate", PaginationConfig={"PageSize": 23}
    )
    items = history.build_full_result()["AlarmHistoryItems"]
    created = [item["AlarmName"] for item in items if item["AlarmName"].startswith("page-")]
    assert created == names[::-1]
    data = json.loads(items[0]["HistoryData"])
    assert data["type"] == "Create" and data["createdAlarm"]["alarmName"] == names[-1]


def test_errors_have_the_services_codes(client):
    error = refused(client.put_metric_alarm, AlarmName="x", **{**METRIC, "Period": 7})
    assert error["Code"] == "ValidationError"
    assert error["Message"] == "Period must be 10, 20, 30 or a multiple of 60"
    assert refused(client.delete_alarms, AlarmNames=["none"])["Code"] == "ResourceNotFound"
    error = refused(client.describe_alarms, NextToken="#")
    assert error["Code"] == "InvalidNextToken"
    error = refused(
        client.set_alarm_state, AlarmName="none", StateValue="OK", StateReason="", StateReasonData="{"
    )
    assert error["Code"] == "InvalidFormat"
    error = refused(client.list_tags_for_resource, ResourceARN=ARN + "none")
    assert error["Code"] == "ResourceNotFoundException"
    error = refused(client.put_composite_alarm, AlarmName="c", AlarmRule="ALARM(a)")
    assert error["Code"] == "ValidationError"


def test_dashboards(client):
    widget = {"type": "text", "x": 0, "y": 0, "properties": {"markdown": "é"}}
    body = json.dumps({"widgets": [widget]}, ensure_ascii=False)
    assert client.put_dashboard(DashboardName="d-1", DashboardBody=body)[
        "DashboardValidationMessages"
    ] == []
    client.put_dashboard(DashboardName="e", DashboardBody='{"widgets": []}')
    found = client.get_dashboard(DashboardName="d-1")
    assert found["DashboardBody"] == body
    assert found["DashboardArn"].endswith(":dashboard/d-1")
    assert found["DashboardArn"].startswith("arn:aws:cloudwatch::")
    (entry,) = client.list_dashboards(DashboardNamePrefix="d-")["DashboardEntries"]
    assert entry["Size"] == len(body.encode())
    assert isinstance(entry["LastModified"], datetime.datetime)
    error = refused(client.put_dashboard, DashboardName="f", DashboardBody="{")
    assert error["Code"] == "InvalidParameterInput"
    client.delete_dashboards(DashboardNames=["d-1", "e"])
    assert client.list_dashboards()["DashboardEntries"] == []
    assert refused(client.get_dashboard, DashboardName="d-1")["Code"] == "ResourceNotFound"
