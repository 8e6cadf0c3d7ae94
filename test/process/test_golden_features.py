"""A golden store for each feature that has bytes of its own on disk.

test/golden/FEATURE-N was written by `python3 test_golden_features.py FEATURE DIRECTORY` with the
release that was current when the bytes were new. Each store is copied, checked, opened, read,
written to and checked again. A golden store is never changed or removed: when the bytes of a
feature change, FEATURE-(N+1) is added (doc/disk-format.md, "Upgrade policy").
"""

import pathlib
import shutil
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import stator_process  # noqa: E402
import stream_replay  # noqa: E402
from function_target import FunctionTarget  # noqa: E402
from stator_process import Connection, Keys, StatorProcess  # noqa: E402

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
LIMIT_S = 60
FAR_FUTURE = "4102444800"  # 2100-01-01
LONG_PAST = "946684800"  # 2000-01-01
MASTER_KEY = bytes(range(32)).hex()
TABLE_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"


def call(connection, operation, body):
    status, answer = connection.call(operation, body)
    assert status == 200, answer
    return answer


def put(connection, table, **attributes):
    call(connection, "PutItem", {"TableName": table, "Item": attributes})


def keys_in(connection, table, **request):
    """The partition keys that a Scan, or a Query with `request`, finds."""
    operation = "Query" if "KeyConditionExpression" in request else "Scan"
    found = call(connection, operation, {"TableName": table, **request})["Items"]
    return sorted(item["pk"]["S"] for item in found)


def wait_until(condition):
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# --- Time to live ---

TTL = {"TableName": "Sessions"}
TTL_FLAGS = ("--ttl-interval", "3600000")  # The writer leaves the expired item in the store.


def write_ttl(connection, _directory):
    stator_process.create_table(connection, "Sessions")
    specification = {"AttributeName": "expires", "Enabled": True}
    call(connection, "UpdateTimeToLive", {**TTL, "TimeToLiveSpecification": specification})
    put(connection, "Sessions", pk={"S": "kept"}, expires={"N": FAR_FUTURE})
    put(connection, "Sessions", pk={"S": "expired"}, expires={"N": LONG_PAST})
    put(connection, "Sessions", pk={"S": "forever"})


def verify_ttl(connection, _directory):
    described = call(connection, "DescribeTimeToLive", TTL)["TimeToLiveDescription"]
    assert described == {"AttributeName": "expires", "TimeToLiveStatus": "ENABLED"}
    # An item that expired decades ago is not deleted (DynamoDB's limit is five years).
    assert keys_in(connection, "Sessions") == ["expired", "forever", "kept"]
    soon = str(int(time.time()) - 60)
    put(connection, "Sessions", pk={"S": "expired"}, expires={"N": soon})
    wait_until(lambda: keys_in(connection, "Sessions") == ["forever", "kept"])


# --- Indexes ---

LOCAL = {
    "by-date": ([("pk", "S", "HASH"), ("date", "S", "RANGE")], "KEYS_ONLY"),
    "by-total": ([("pk", "S", "HASH"), ("total", "N", "RANGE")], "ALL"),
}
GLOBAL = {"by-group": ([("group", "S", "HASH"), ("total", "N", "RANGE")], "ALL")}


def order(number):
    return {
        "pk": {"S": f"customer-{number % 3}"},
        "sk": {"N": str(number)},
        "date": {"S": f"2026-{12 - number:02}"},
        "total": {"N": str(100 - number)},
        "group": {"S": f"group-{number % 2}"},
    }


def sort_keys(connection, index, key, value):
    request = {
        "TableName": "Orders",
        "IndexName": index,
        "KeyConditionExpression": "#k = :v",
        "ExpressionAttributeNames": {"#k": key},
        "ExpressionAttributeValues": {":v": {"S": value}},
    }
    return [int(item["sk"]["N"]) for item in call(connection, "Query", request)["Items"]]


def write_indexes(connection, _directory):
    stator_process.create_table(connection, "Orders", sort_key=True, local=LOCAL, global_=GLOBAL)
    for number in range(9):
        put(connection, "Orders", **order(number))
    put(connection, "Orders", pk={"S": "customer-0"}, sk={"N": "99"})  # In no index.


def verify_indexes(connection, _directory):
    for index in LOCAL:
        assert sort_keys(connection, index, "pk", "customer-0") == [6, 3, 0]
    assert sort_keys(connection, "by-group", "group", "group-1") == [7, 5, 3, 1]
    put(connection, "Orders", **order(9))
    assert sort_keys(connection, "by-date", "pk", "customer-0") == [9, 6, 3, 0]
    assert sort_keys(connection, "by-group", "group", "group-1") == [9, 7, 5, 3, 1]


# --- Streams ---


def stream_arn(connection):
    return call(connection, "ListStreams", {})["Streams"][0]["StreamArn"]


def changes(connection):
    """(event, old or None, new or None) of each record, with the values of `v`."""
    for record in stream_replay.all_records(connection, stream_arn(connection)):
        images = [record["dynamodb"].get(name) for name in ("OldImage", "NewImage")]
        yield (record["eventName"], *(image and image["v"]["S"] for image in images))


WRITTEN = [("INSERT", None, "1"), ("MODIFY", "1", "2"), ("REMOVE", "2", None)]


def write_streams(connection, _directory):
    stator_process.create_table(connection, "Changes", stream="NEW_AND_OLD_IMAGES")
    key = {"pk": {"S": "a"}}
    for value in ("1", "2"):
        put(connection, "Changes", **key, v={"S": value})
    call(connection, "DeleteItem", {"TableName": "Changes", "Key": key})


def verify_streams(connection, _directory):
    assert list(changes(connection)) == WRITTEN
    put(connection, "Changes", pk={"S": "a"}, v={"S": "3"})
    assert list(changes(connection)) == [*WRITTEN, ("INSERT", None, "3")]


# --- Triggers ---

NOWHERE = "http://127.0.0.1:1/function"
PATTERN = '{"eventName":["INSERT"]}'


def write_triggers(connection, _directory):
    stator_process.create_table(connection, "Events", stream="NEW_IMAGE")
    request = {
        "TableName": "Events",
        "Url": NOWHERE,
        "StartingPosition": "TRIM_HORIZON",
        "BatchSize": 7,
        "MaximumBatchingWindowInSeconds": 300,  # Longer than this server runs.
        "MaximumRetryAttempts": 5,
        "MaximumRecordAgeInSeconds": 600,
        "BisectBatchOnFunctionError": True,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "TimeoutInSeconds": 9,
        "DeadLetterFile": "given-up",
        "FilterCriteria": {"Filters": [{"Pattern": PATTERN}]},
    }
    call(connection, "AddTrigger", request)
    for number in range(3):
        put(connection, "Events", pk={"S": f"event-{number}"})


def verify_triggers(connection, _directory):
    (trigger,) = call(connection, "ListTriggers", {})["Triggers"]
    assert trigger["Url"] == NOWHERE and trigger["TableName"] == "Events"
    assert trigger["BatchSize"] == 7 and trigger["MaximumRetryAttempts"] == 5
    assert trigger["DeadLetterFile"] == "given-up" and trigger["BisectBatchOnFunctionError"]
    assert trigger["FilterCriteria"] == {"Filters": [{"Pattern": PATTERN}]}
    put(connection, "Events", pk={"S": "event-3"})
    with FunctionTarget() as target:
        request = {"TableName": "Events", "Url": target.url, "StartingPosition": "TRIM_HORIZON"}
        added = call(connection, "AddTrigger", request)["UUID"]

        def delivered():
            return {record["dynamodb"]["Keys"]["pk"]["S"] for record in target.delivered()}

        wait_until(lambda: len(delivered()) == 4)
        assert delivered() == {f"event-{number}" for number in range(4)}
        call(connection, "RemoveTrigger", {"UUID": added})


# --- Policies ---

POLICY = (
    '{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*",'
    '"Action":"dynamodb:GetItem","Resource":"*"}]}'
)
# Of stores of versions that let a policy allow something to everybody.
OLD_POLICY = POLICY.replace("Deny", "Allow")
KEY_POLICY = '{"Statement":{"Effect":"Allow","Action":"dynamodb:*","Resource":"*"}}'


def write_policies(connection, directory):
    stator_process.create_table(connection, "Guarded")
    arn = TABLE_ARN + "Guarded"
    call(connection, "PutResourcePolicy", {"ResourceArn": arn, "Policy": POLICY})
    keys = Keys(directory.parent, master_key=MASTER_KEY)
    keys.flags[1] = str(directory)
    key = keys.create("alice")[0]
    keys.command("policy", "put", key, "everything", "-", text=KEY_POLICY)
    keys.session(key, 3600)


def verify_policies(connection, directory):
    arn = TABLE_ARN + "Guarded"
    shown = call(connection, "GetResourcePolicy", {"ResourceArn": arn})["Policy"]
    assert shown in (POLICY, OLD_POLICY)
    keys = Keys(directory.parent, master_key=MASTER_KEY)
    key = next(
        line.split()[0]
        for line in keys.command("key", "list").splitlines()
        if line.endswith(" everything") and " of " not in line
    )
    assert keys.command("policy", "get", key, "everything") == KEY_POLICY
    keys.command("policy", "put", key, "more", "-", text=KEY_POLICY)
    assert keys.command("policy", "get", key, "more") == KEY_POLICY
    request = {"ResourceArn": arn, "Policy": POLICY.replace("GetItem", "Query")}
    call(connection, "PutResourcePolicy", request)


# --- Alarms and dashboards ---

ALARM = {
    "AlarmName": "reads",
    "AlarmDescription": "é",
    "Namespace": "App",
    "MetricName": "m",
    "Dimensions": [{"Name": "k", "Value": "v"}],
    "Statistic": "Sum",
    "Period": 60,
    "EvaluationPeriods": 3,
    "DatapointsToAlarm": 2,
    "Threshold": 0.1,
    "ComparisonOperator": "GreaterThanThreshold",
    "TreatMissingData": "ignore",
    "AlarmActions": [NOWHERE],
    "OKActions": ["arn:aws:sns:us-east-1:000000000000:topic"],
}
METRICS = [
    {
        "Id": "m1",
        "MetricStat": {
            "Metric": {"Namespace": "App", "MetricName": "m", "Dimensions": []},
            "Period": 60,
            "Stat": "p99.9",
        },
        "ReturnData": True,
    }
]
MATH_ALARM = {
    "AlarmName": "slow",
    "Metrics": METRICS,
    "EvaluationPeriods": 1,
    "Threshold": 1e300,
    "ComparisonOperator": "LessThanThreshold",
    "TreatMissingData": "ignore",
}
DASHBOARD = '{"widgets":[{"type":"text","properties":{"markdown":"é"}}]}'


def write_alarms(connection, _directory):
    tags = [{"Key": "team", "Value": "shop"}]
    call(connection, "cloudwatch:PutMetricAlarm", {**ALARM, "Tags": tags})
    call(connection, "cloudwatch:PutMetricAlarm", MATH_ALARM)
    change = {"AlarmName": "reads", "StateReason": "test", "StateReasonData": '{"k":1}'}
    call(connection, "cloudwatch:SetAlarmState", {**change, "StateValue": "OK"})
    call(connection, "cloudwatch:SetAlarmState", {**change, "StateValue": "ALARM"})
    request = {"DashboardName": "d", "DashboardBody": DASHBOARD}
    call(connection, "cloudwatch:PutDashboard", {**request, "Tags": tags})


def verify_alarms(connection, _directory):
    alarms = call(connection, "cloudwatch:DescribeAlarms", {})["MetricAlarms"]
    assert [alarm["AlarmName"] for alarm in alarms] == ["reads", "slow"]
    for name, value in ALARM.items():
        assert alarms[0][name] == value
    assert alarms[0]["StateValue"] == "ALARM" and alarms[0]["StateReasonData"] == '{"k":1}'
    assert alarms[1]["Metrics"] == METRICS
    history = call(connection, "cloudwatch:DescribeAlarmHistory", {"AlarmName": "reads"})
    assert [item["HistorySummary"] for item in history["AlarmHistoryItems"]][-4:] == [
        "Alarm updated from OK to ALARM",
        "Failed to execute action arn:aws:sns:us-east-1:000000000000:topic",
        "Alarm updated from INSUFFICIENT_DATA to OK",
        'Alarm "reads" created',
    ]
    found = call(connection, "cloudwatch:GetDashboard", {"DashboardName": "d"})
    assert found["DashboardBody"] == DASHBOARD
    for arn in (alarms[0]["AlarmArn"], found["DashboardArn"]):
        tags = call(connection, "cloudwatch:ListTagsForResource", {"ResourceARN": arn})["Tags"]
        assert tags == [{"Key": "team", "Value": "shop"}]
    call(connection, "cloudwatch:DeleteAlarms", {"AlarmNames": ["reads"]})
    call(connection, "cloudwatch:PutDashboard", {"DashboardName": "e", "DashboardBody": DASHBOARD})


# --- Metrics ---

# When the store was written. Samples are kept for 455 days, so later readers find the names gone.
METRICS_WRITTEN_S = 1794830400  # 2026-11-16T12:00:00Z
METRICS_KEPT_S = 400 * 86400
DIMENSION = {"Name": "Host", "Value": "a"}


def hourly(connection, start_s, **more):
    """GetMetricStatistics of two hours, by hours: they outlast minutes and five minutes."""
    request = {
        "Namespace": "App",
        "MetricName": "Load",
        "Dimensions": [DIMENSION],
        "StartTime": start_s,
        "EndTime": start_s + 7200,
        "Period": 3600,
        **more,
    }
    points = call(connection, "cloudwatch:GetMetricStatistics", request)["Datapoints"]
    return sorted(points, key=lambda point: point["Timestamp"])


def put_load(connection, time_s, **value):
    datum = {"MetricName": "Load", "Dimensions": [DIMENSION], "Timestamp": time_s, **value}
    request = {"Namespace": "App", "MetricData": [{**datum, "Unit": "Percent"}]}
    call(connection, "cloudwatch:PutMetricData", request)


def write_metrics(connection, _directory):
    start_s = METRICS_WRITTEN_S - 3600
    put_load(connection, start_s, Values=[1, 2, 3.5], Counts=[1, 2, 1], StorageResolution=1)
    put_load(connection, start_s + 60, Value=0.25)
    set_ = {"SampleCount": 2, "Sum": 10, "Minimum": -4, "Maximum": 14}
    put_load(connection, start_s + 3600, StatisticValues=set_)
    stator_process.create_table(connection, "Counted")
    put(connection, "Counted", pk={"S": "a"})


def verify_metrics(connection, _directory):
    statistics = ["SampleCount", "Sum", "Minimum", "Maximum"]
    if time.time() < METRICS_WRITTEN_S + METRICS_KEPT_S:
        found = hourly(connection, METRICS_WRITTEN_S - 3600, Statistics=statistics)
        assert [[point[name] for name in statistics] for point in found] == [
            [5, 8.75, 0.25, 3.5],
            [2, 10, -4, 14],
        ]
        assert {point["Unit"] for point in found} == {"Percent"}
        found = hourly(connection, METRICS_WRITTEN_S - 3600, ExtendedStatistics=["p100"])
        assert [point["ExtendedStatistics"]["p100"] for point in found] == [3.5]
    hour_s = int(time.time()) // 3600 * 3600
    put_load(connection, hour_s, Value=77)
    (point,) = hourly(connection, hour_s, Statistics=["Maximum"])
    assert point["Maximum"] == 77
    listed = call(connection, "cloudwatch:ListMetrics", {"Namespace": "App"})["Metrics"]
    assert listed == [{"Namespace": "App", "MetricName": "Load", "Dimensions": [DIMENSION]}]


FEATURES = {
    "alarms": (write_alarms, verify_alarms),
    "indexes": (write_indexes, verify_indexes),
    "metrics": (write_metrics, verify_metrics),
    "policies": (write_policies, verify_policies),
    "streams": (write_streams, verify_streams),
    "triggers": (write_triggers, verify_triggers),
    "ttl": (write_ttl, verify_ttl),
}
# Before server time; test_golden.py reads it.
STORES = sorted(
    path
    for path in GOLDEN.iterdir()
    if path.name.rsplit("-", 1)[0] in FEATURES and path.name != "streams-1"
)


def assert_clean(directory):
    result = stator_process.check(directory)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("store", STORES, ids=lambda path: path.name)
def test_a_golden_store_is_checked_read_and_written(store, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(store, data)
    for file in data.glob("KEYS*"):
        file.chmod(0o600)
    assert_clean(data)
    with StatorProcess("--data-dir", str(data)) as server:
        connection = Connection(server.port)
        FEATURES[store.name.rsplit("-", 1)[0]][1](connection, data)
        connection.close()
        server.stop()
    assert_clean(data)
    with StatorProcess("--data-dir", str(data)) as server:  # And once more, as it was left.
        server.stop()


def test_each_feature_has_a_golden_store():
    assert {path.name.rsplit("-", 1)[0] for path in STORES} == set(FEATURES)


def write(feature, directory):
    """A store with one part in table files and the rest in the write-ahead log."""
    flags = TTL_FLAGS if feature == "ttl" else ()
    with StatorProcess("--data-dir", str(directory), *flags) as server:
        FEATURES[feature][0](Connection(server.port), directory)
        server.stop()
    with StatorProcess("--data-dir", str(directory), *flags) as server:
        stator_process.create_table(Connection(server.port), "Later")
        server.stop()
    for file in [*directory.glob("LOG*"), directory / "RESERVE", *directory.glob("*.lock")]:
        file.unlink(missing_ok=True)


if __name__ == "__main__":
    write(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
