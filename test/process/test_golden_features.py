"""A golden store for each feature that has bytes of its own on disk.

test/golden/FEATURE-N was written by `python3 test_golden_features.py FEATURE DIRECTORY` with the
release that was current when the bytes were new. Each store is copied, checked, opened, read,
written to and checked again. A golden store is never changed or removed: when the bytes of a
feature change, FEATURE-(N+1) is added (doc/disk-format.md, "Upgrade policy").
"""

import json
import pathlib
import shutil
import sys
import time

import boto3
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import stator_process  # noqa: E402
import stream_replay  # noqa: E402
from function_target import FunctionTarget  # noqa: E402
from kinesis_server import KinesisServer, write_key_file  # noqa: E402
from moving_clock import MovingClock  # noqa: E402
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


# --- Models ---

MODEL = (
    '{"Entities":[{"Name":"User","Keys":[{"PartitionKey":"USER#<id>"}],'
    '"Attributes":[{"Name":"name","Type":"S","Required":true}]}]}'
)


def write_models(connection, _directory):
    stator_process.create_table(connection, "Users")
    put(connection, "Users", pk={"S": "stray"})
    call(connection, "PutModel", {"TableName": "Users", "Mode": "ENFORCE", "Model": MODEL})
    put(connection, "Users", pk={"S": "USER#1"}, name={"S": "Ada"})
    call(connection, "ScanModel", {"TableName": "Users"})
    wait_until(lambda: model_of(connection)["Scan"]["Status"] == "COMPLETED")


def model_of(connection):
    return call(connection, "GetModel", {"TableName": "Users"})


def verify_models(connection, _directory):
    model = model_of(connection)
    assert (model["Mode"], model["Model"]) == ("ENFORCE", MODEL)
    assert model["Scan"]["Violations"] == 1
    assert model["Scan"]["Examples"][0]["Key"] == {"pk": {"S": "stray"}}
    item = {"pk": {"S": "USER#2"}}
    status, answer = connection.call("PutItem", {"TableName": "Users", "Item": item})
    assert (status, "rule Required" in answer["message"]) == (400, True)
    put(connection, "Users", **item, name={"S": "Bob"})
    assert keys_in(connection, "Users") == ["USER#1", "USER#2", "stray"]


# --- Histories ---

ACCOUNTS = {"TableName": "Accounts"}


def write_history(connection, _directory):
    stator_process.create_table(connection, "Accounts")
    specification = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 35}
    call(
        connection,
        "UpdateContinuousBackups",
        {**ACCOUNTS, "PointInTimeRecoverySpecification": specification},
    )
    for number in range(3):
        put(connection, "Accounts", pk={"S": "alice"}, balance={"N": str(number)})
    put(connection, "Accounts", pk={"S": "bob"}, balance={"N": "7"})
    call(connection, "DeleteItem", {**ACCOUNTS, "Key": {"pk": {"S": "bob"}}})


def verify_history(connection, _directory):
    """`stator check` has read every entry. The server may trim them: they grow old."""
    described = call(connection, "DescribeContinuousBackups", ACCOUNTS)
    recovery = described["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
    assert recovery["RecoveryPeriodInDays"] == 35
    key = {"Key": {"pk": {"S": "alice"}}}
    before = call(connection, "GetItemHistory", {**ACCOUNTS, **key})["Versions"]
    assert len(before) in (0, 3)
    put(connection, "Accounts", pk={"S": "alice"}, balance={"N": "9"})
    newest = call(connection, "GetItemHistory", {**ACCOUNTS, **key})["Versions"][0]
    images = [newest[name]["balance"]["N"] for name in ("OldImage", "NewImage")]
    assert images == ["2", "9"]
    assert all(newest["WriteTimestampMicros"] > each["WriteTimestampMicros"] for each in before)


# --- Jobs: their records, backups, a deleted table, and a table that a job is filling ---

LEDGERS = ("Kept", "Deleted")


def wait_for_job(connection, kind):
    """Until no job of the kind runs; the status of the last one."""
    while True:
        jobs = call(connection, "ListJobs", {"MaxResults": 100})["Jobs"]
        statuses = [job["Status"] for job in jobs if job["Kind"] == kind]
        if "RUNNING" not in statuses:
            return statuses[0]
        time.sleep(0.05)


def hide_backups(directory):
    """A file in their place: a restore tries again and again, and its table stays CREATING."""
    (directory / "backups").rename(directory / "aside")
    (directory / "backups").touch()


def show_backups(directory):
    if (directory / "aside").exists():
        (directory / "backups").unlink()
        (directory / "aside").rename(directory / "backups")


def write_jobs(connection, directory):
    for table in LEDGERS:
        indexes = {"by-group": ([("group", "S", "HASH")], "ALL")}
        stator_process.create_table(connection, table, global_=indexes)
        specification = {"PointInTimeRecoveryEnabled": True}
        call(
            connection,
            "UpdateContinuousBackups",
            {"TableName": table, "PointInTimeRecoverySpecification": specification},
        )
        for number in range(20):
            put(connection, table, pk={"S": str(number)}, group={"S": str(number % 3)})
    backup = {"TableName": "Kept", "BackupName": "by-hand"}
    arn = call(connection, "CreateBackup", backup)["BackupDetails"]["BackupArn"]
    assert wait_for_job(connection, "backup") == "COMPLETED"
    call(connection, "DeleteTable", {"TableName": "Deleted"})
    # Without buckets these fail, with a record each.
    table_arn = TABLE_ARN + "Kept"
    call(
        connection,
        "ExportTableToPointInTime",
        {"TableArn": table_arn, "S3Bucket": "none", "ClientToken": "token"},
    )
    source = {"S3Bucket": "none", "InputFormat": "DYNAMODB_JSON"}
    report = {"S3Bucket": "none", "OutputType": ["ERROR"]}
    call(
        connection,
        "StartBulkPutItems",
        {
            "TableName": "Kept",
            "ClientToken": "token",
            "InputS3Configuration": source,
            "OutputS3Configuration": report,
        },
    )
    assert [wait_for_job(connection, kind) for kind in ("export", "bulk")] == ["FAILED"] * 2
    hide_backups(directory)
    call(connection, "RestoreTableFromBackup", {"TargetTableName": "Restored", "BackupArn": arn})


def verify_jobs(connection, _directory):
    wanted = sorted(str(number) for number in range(20))
    assert wait_for_job(connection, "restore") == "COMPLETED"  # It goes on where it was.
    backups = call(connection, "ListBackups", {"BackupType": "ALL"})["BackupSummaries"]
    names = [backup["BackupName"] for backup in backups]
    assert names == ["by-hand", "Deleted$DeletedTableBackup"]
    deleted = {"TargetTableName": "Again", "BackupArn": backups[1]["BackupArn"]}
    call(connection, "RestoreTableFromBackup", deleted)
    assert wait_for_job(connection, "restore") == "COMPLETED"
    for table in ("Kept", "Restored", "Again"):
        assert keys_in(connection, table) == wanted
        query = {"IndexName": "by-group", "KeyConditionExpression": "#g = :g"}
        query["ExpressionAttributeNames"] = {"#g": "group"}
        query["ExpressionAttributeValues"] = {":g": {"S": "1"}}
        assert len(keys_in(connection, table, **query)) == 7
    exports = call(connection, "ListExports", {})["ExportSummaries"]
    bulk = call(connection, "ListBulkOperations", {})["BulkOperationsSummaryList"]
    assert [entry["ExportStatus"] for entry in exports] == ["FAILED"]
    assert [entry["BulkOperationStatus"] for entry in bulk] == ["FAILED"]
    call(connection, "DeleteBackup", {"BackupArn": backups[0]["BackupArn"]})
    assert len(call(connection, "ListBackups", {"BackupType": "ALL"})["BackupSummaries"]) == 1


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


# --- Partitions that split: splits-1 is of a version whose partitions did not split yet ---

SPLIT_FLAGS = ("--partition-writes-max", "1", "--partition-heat-ms", "300")
SPLIT_KEYS, SPLIT_ROUNDS = 40, 3


def put_round(connection, number):
    for key in range(SPLIT_KEYS):
        put(connection, "Split", pk={"S": f"key-{key}"}, n={"N": str(number)})


def split_arn(connection):
    table = call(connection, "DescribeTable", {"TableName": "Split"})["Table"]
    return table["LatestStreamArn"]


def split_shards(connection):
    return stream_replay.shards(connection, split_arn(connection))


def split_rounds(connection):
    """How many rounds are in the stream, each change of each key once and in order."""
    seen = dict.fromkeys((f"key-{key}" for key in range(SPLIT_KEYS)), 0)
    for record in stream_replay.all_records(connection, split_arn(connection)):
        image = record["dynamodb"]["NewImage"]
        key, number = image["pk"]["S"], int(image["n"]["N"])
        assert number == seen[key] + 1, f"{key}: {number} after {seen[key]}"
        seen[key] = number
    (rounds,) = set(seen.values())
    return rounds


def has_split(connection):
    parents = [shard.get("ParentShardId") for shard in split_shards(connection)]
    return any(parents.count(parent) == 2 for parent in set(parents) - {None})


def write_splits(connection, _directory):
    stator_process.create_table(connection, "Split", stream="NEW_AND_OLD_IMAGES")
    rounds = 0
    while rounds < SPLIT_ROUNDS or not has_split(connection):
        rounds += 1
        put_round(connection, rounds)


def verify_splits(connection, _directory):
    rounds = split_rounds(connection)
    assert rounds >= SPLIT_ROUNDS
    put_round(connection, rounds + 1)
    assert split_rounds(connection) == rounds + 1


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


# --- Summaries of keys ---

# Minutes are kept for a day and hours for 15 days, so later readers find them gone.
INSIGHTS_WRITTEN_S = 1794848400  # 2026-11-16T17:00:00Z
INSIGHTS_KEPT_S = 14 * 86400
VISITS = {"TableName": "Visits"}
BY_COUNTRY = {"by-country": ([("country", "S", "HASH")], "KEYS_ONLY")}


def hot_keys(connection, **request):
    """(key, units) of the most used partition keys, since the store was written."""
    now_s = int(time.time())
    request = {**VISITS, "StartTime": INSIGHTS_WRITTEN_S - 86400, "EndTime": now_s + 60, **request}
    found = call(connection, "GetHotKeys", request)["HotKeys"]
    return [(next(iter(key["Key"].values()))["S"], key["Value"]) for key in found]


def enabled(connection, **target):
    found = call(connection, "DescribeContributorInsights", {**VISITS, **target})
    return found["ContributorInsightsStatus"] == "ENABLED"


def write_insights(connection, _directory, clock):
    """In the past, so that an hour and the minutes of the next one are over and stored."""
    stator_process.create_table(connection, "Visits", global_=BY_COUNTRY)
    for target in ({}, {"IndexName": "by-country"}):
        request = {**VISITS, **target, "ContributorInsightsAction": "ENABLE"}
        call(connection, "UpdateContributorInsights", request)
        wait_until(lambda target=target: enabled(connection, **target))
    for rest in (3600, 120, 120):
        for name, count in (("often", 5), ("rarely", 1)):
            for _ in range(count):
                put(connection, "Visits", pk={"S": name}, country={"S": "is"})
        clock.pass_time(rest)
        time.sleep(3)  # A round of the ticker.


def verify_insights(connection, _directory):
    """`stator check` has read every summary."""
    assert enabled(connection) and enabled(connection, IndexName="by-country")
    if time.time() < INSIGHTS_WRITTEN_S + INSIGHTS_KEPT_S:
        # After a day, hours are made of what was stored by the minute.
        wait_until(lambda: hot_keys(connection) == [("often", 45), ("rarely", 9)])
        wait_until(lambda: hot_keys(connection, IndexName="by-country") == [("is", 6)])
    put(connection, "Visits", pk={"S": "new"}, country={"S": "no"})
    assert ("new", 3) in hot_keys(connection)


# --- Scaling ---

SCALED = {
    "ServiceNamespace": "dynamodb",
    "ResourceId": "table/Scaled",
    "ScalableDimension": "dynamodb:table:ReadCapacityUnits",
}
TRACKING = {
    "TargetValue": 70.5,
    "PredefinedMetricSpecification": {
        "PredefinedMetricType": "DynamoDBReadCapacityUtilization"
    },
    "ScaleOutCooldown": 30,
    "ScaleInCooldown": 600,
    "DisableScaleIn": True,
}
ACTION = {"Schedule": "cron(0 9 ? * MON-FRI *)", "Timezone": "Europe/Berlin"}
BOUNDS = {"MinCapacity": 5, "MaxCapacity": 50}


def scaling(connection, operation, body):
    return call(connection, f"application-autoscaling:{operation}", body)


def write_scaling(connection, _directory):
    request = {"ProvisionedThroughput": {"ReadCapacityUnits": 7, "WriteCapacityUnits": 3}}
    call(connection, "CreateTable", {
        "TableName": "Scaled",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        **request,
    })  # fmt: skip
    tags = {"Tags": {"team": "shop"}}
    suspended = {"SuspendedState": {"ScheduledScalingSuspended": True}}
    scaling(connection, "RegisterScalableTarget", {**SCALED, **BOUNDS, **tags, **suspended})
    policy = {"PolicyName": "p", "PolicyType": "TargetTrackingScaling"}
    request = {**SCALED, **policy, "TargetTrackingScalingPolicyConfiguration": TRACKING}
    scaling(connection, "PutScalingPolicy", request)
    request = {**SCALED, **ACTION, "ScheduledActionName": "s", "ScalableTargetAction": BOUNDS}
    scaling(connection, "PutScheduledAction", request)
    scaling(connection, "RegisterScalableTarget", {**SCALED, "MinCapacity": 10})
    of_table = {"ServiceNamespace": "dynamodb", "ResourceId": "table/Scaled"}
    wait_until(lambda: scaling(connection, "DescribeScalingActivities", of_table)["ScalingActivities"])


def verify_scaling(connection, _directory):
    of_all = {"ServiceNamespace": "dynamodb"}
    (target,) = scaling(connection, "DescribeScalableTargets", of_all)["ScalableTargets"]
    assert {name: target[name] for name in SCALED} == SCALED
    assert (target["MinCapacity"], target["MaxCapacity"]) == (10, 50)
    assert target["SuspendedState"]["ScheduledScalingSuspended"]
    (policy,) = scaling(connection, "DescribeScalingPolicies", of_all)["ScalingPolicies"]
    assert policy["PolicyName"] == "p" and len(policy["Alarms"]) == 3
    assert policy["TargetTrackingScalingPolicyConfiguration"] == TRACKING
    (action,) = scaling(connection, "DescribeScheduledActions", of_all)["ScheduledActions"]
    assert {name: action[name] for name in ACTION} == ACTION
    assert action["ScalableTargetAction"] == BOUNDS
    tags = scaling(connection, "ListTagsForResource", {"ResourceARN": target["ScalableTargetARN"]})
    assert tags["Tags"] == {"team": "shop"}
    table = call(connection, "DescribeTable", {"TableName": "Scaled"})["Table"]
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 10
    alarms = call(connection, "cloudwatch:DescribeAlarms", {})["MetricAlarms"]
    listed = {alarm["AlarmName"] for alarm in policy["Alarms"]}
    assert listed == {alarm["AlarmName"] for alarm in alarms}
    scaling(connection, "DeleteScalingPolicy", {**SCALED, "PolicyName": "p"})
    assert call(connection, "cloudwatch:DescribeAlarms", {})["MetricAlarms"] == []


# --- Stacks ---

GOLDEN_TABLE = {
    "Type": "AWS::DynamoDB::Table",
    "Properties": {
        "TableName": "Stacked",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    },
}
GOLDEN_TOPIC = {"Type": "AWS::SNS::Topic"}
BUCKET = "cdk-hnb659fds-assets-000000000000-us-east-1"
STACK_FILE = bytes(range(256)) * 16


def aws(service, connection):
    return boto3.client(service, endpoint_url=f"http://127.0.0.1:{connection.port}",
                        region_name="us-east-1", aws_access_key_id="golden",
                        aws_secret_access_key="golden")


def stacked(*resources, stage="dev"):
    return json.dumps({
        "Description": "golden",
        "Parameters": {"Stage": {"Type": "String", "Default": stage}},
        "Resources": dict(resources),
        "Outputs": {"Name": {"Value": {"Ref": "Stacked"}, "Export": {"Name": "golden-name"}}},
    })


def settled(cfn, name):
    def status():
        return cfn.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]

    wait_until(lambda: not status().endswith("IN_PROGRESS"))
    return status()


def write_stacks(connection, _directory):
    """One that was updated, with a change set; one that failed; one that was deleted; files."""
    cfn, s3 = aws("cloudformation", connection), aws("s3", connection)
    table, topic = ("Stacked", GOLDEN_TABLE), ("Topic", GOLDEN_TOPIC)
    tags = [{"Key": "team", "Value": "shop"}]
    cfn.create_stack(StackName="golden", TemplateBody=stacked(table), Tags=tags)
    assert settled(cfn, "golden") == "CREATE_COMPLETE"
    cfn.update_stack(StackName="golden", TemplateBody=stacked(table, topic))
    assert settled(cfn, "golden") == "UPDATE_COMPLETE"
    cfn.create_change_set(StackName="golden", ChangeSetName="next",
                          TemplateBody=stacked(table, stage="prod"))
    body = json.dumps({"Resources": {"Stacked": GOLDEN_TABLE}})
    cfn.create_stack(StackName="failed", TemplateBody=body)
    assert settled(cfn, "failed") == "ROLLBACK_COMPLETE"
    gone = cfn.create_stack(StackName="gone", TemplateBody=json.dumps(
        {"Resources": {"Topic": GOLDEN_TOPIC}}))["StackId"]
    settled(cfn, gone)
    cfn.delete_stack(StackName="gone")
    assert settled(cfn, gone) == "DELETE_COMPLETE"
    s3.put_object(Bucket=BUCKET, Key="code.zip", Body=STACK_FILE, ContentType="application/zip")
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="large.zip")["UploadId"]
    s3.upload_part(Bucket=BUCKET, Key="large.zip", UploadId=upload, PartNumber=1, Body=STACK_FILE)


def verify_stacks(connection, _directory):
    cfn, s3 = aws("cloudformation", connection), aws("s3", connection)
    stack = cfn.describe_stacks(StackName="golden")["Stacks"][0]
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    assert stack["Outputs"][0]["OutputValue"] == "Stacked"
    assert stack["Tags"] == [{"Key": "team", "Value": "shop"}]
    shown = cfn.describe_stack_resources(StackName="golden")["StackResources"]
    assert {resource["LogicalResourceId"] for resource in shown} == {"Stacked", "Topic"}
    events = cfn.describe_stack_events(StackName="golden")["StackEvents"]
    assert (events[0]["ResourceStatus"], events[-1]["ResourceStatus"]) == (
        "UPDATE_COMPLETE", "CREATE_IN_PROGRESS")
    statuses = {entry["StackName"]: entry["StackStatus"]
                for entry in cfn.list_stacks()["StackSummaries"]}
    assert statuses == {"golden": "UPDATE_COMPLETE", "failed": "ROLLBACK_COMPLETE",
                        "gone": "DELETE_COMPLETE"}
    assert cfn.list_exports()["Exports"][0]["Value"] == "Stacked"
    assert s3.get_object(Bucket=BUCKET, Key="code.zip")["Body"].read() == STACK_FILE
    put(connection, "Stacked", pk={"S": "new"})
    cfn.execute_change_set(StackName="golden", ChangeSetName="next")
    assert settled(cfn, "golden") == "UPDATE_COMPLETE"
    identity = stack["StackId"]
    cfn.delete_stack(StackName="golden")
    assert settled(cfn, identity) == "DELETE_COMPLETE"
    assert "Stacked" not in call(connection, "ListTables", {})["TableNames"]


# --- Kinesis destinations ---

STREAM_ARN = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"


def destinations(connection, table):
    found = call(connection, "DescribeKinesisStreamingDestination", {"TableName": table})
    return [(entry["StreamArn"].rsplit("/", 1)[1], entry["DestinationStatus"])
            for entry in found["KinesisDataStreamDestinations"]]


def write_kinesis(connection, _directory, kinesis):
    """A destination that delivered, and one that was disabled."""
    arn = {}
    for name in ("changes", "former"):
        arn[name] = kinesis.create_stream(name)
    for table, stream in (("Sends", "changes"), ("Sent", "former")):
        stator_process.create_table(connection, table)
        request = {"TableName": table, "StreamArn": arn[stream]}
        precision = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
        call(connection, "EnableKinesisStreamingDestination",
             {**request, "EnableKinesisStreamingConfiguration": precision})
        wait_until(lambda t=table, s=stream: destinations(connection, t) == [(s, "ACTIVE")])
    put(connection, "Sends", pk={"S": "delivered"})
    client = kinesis.client()

    def delivered():
        shard = client.describe_stream(StreamName="changes")["StreamDescription"]["Shards"][0]
        iterator = client.get_shard_iterator(
            StreamName="changes", ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
        return client.get_records(ShardIterator=iterator["ShardIterator"])["Records"]

    wait_until(delivered)
    call(connection, "DisableKinesisStreamingDestination",
         {"TableName": "Sent", "StreamArn": arn["former"]})
    wait_until(lambda: destinations(connection, "Sent") == [("former", "DISABLED")])


def verify_kinesis(connection, _directory):
    """Without a Kinesis server: what is stored stays, and changes wait."""
    assert destinations(connection, "Sends") == [("changes", "ACTIVE")]
    assert destinations(connection, "Sent") == [("former", "DISABLED")]
    put(connection, "Sends", pk={"S": "new"})
    assert keys_in(connection, "Sends") == ["delivered", "new"]
    call(connection, "DisableKinesisStreamingDestination",
         {"TableName": "Sends", "StreamArn": STREAM_ARN})
    wait_until(lambda: destinations(connection, "Sends") == [("changes", "DISABLED")])


FEATURES = {
    "alarms": (write_alarms, verify_alarms),
    "history": (write_history, verify_history),
    "jobs": (write_jobs, verify_jobs),
    "kinesis": (write_kinesis, verify_kinesis),
    "models": (write_models, verify_models),
    "indexes": (write_indexes, verify_indexes),
    "insights": (write_insights, verify_insights),
    "metrics": (write_metrics, verify_metrics),
    "policies": (write_policies, verify_policies),
    "scaling": (write_scaling, verify_scaling),
    "stacks": (write_stacks, verify_stacks),
    "splits": (write_splits, verify_splits),
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


@pytest.mark.parametrize("name", ["splits-1", "splits-2"])
def test_partitions_of_a_golden_store_split(name, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(GOLDEN / name, data)
    with StatorProcess("--data-dir", str(data), *SPLIT_FLAGS) as server:
        connection = Connection(server.port)
        assert has_split(connection) == (name == "splits-2")
        before = len(split_shards(connection))
        rounds = split_rounds(connection)
        deadline = time.monotonic() + LIMIT_S
        while len(split_shards(connection)) < before + 4:
            assert time.monotonic() < deadline
            rounds += 1
            put_round(connection, rounds)
        assert has_split(connection)
        assert split_rounds(connection) == rounds
        connection.close()
        server.stop()
    assert_clean(data)


def test_each_feature_has_a_golden_store():
    assert {path.name.rsplit("-", 1)[0] for path in STORES} == set(FEATURES)


def write(feature, directory):
    """A store with one part in table files and the rest in the write-ahead log."""
    flags = {"splits": SPLIT_FLAGS, "ttl": TTL_FLAGS}.get(feature, ())
    more, started = (), {}
    if feature == "insights":
        clock = MovingClock(directory.parent / "clock")
        clock.jump(INSIGHTS_WRITTEN_S - 7200 - int(time.time()))
        more, started = (clock,), {"variables": clock.variables()}
    if feature == "kinesis":
        server = KinesisServer(directory.parent / "streams")
        more = (server,)
        flags = ("--kinesis-endpoint", server.url, "--kinesis-key-file",
                 write_key_file(directory.parent / "credentials"))
    with StatorProcess("--data-dir", str(directory), *flags, **started) as server:
        FEATURES[feature][0](Connection(server.port), directory, *more)
        server.stop()
    with StatorProcess("--data-dir", str(directory), *flags, **started) as server:
        stator_process.create_table(Connection(server.port), "Later")
        server.stop()
    if feature == "kinesis":
        server = more[0]
        server.kill()
    show_backups(directory)
    for file in [*directory.glob("LOG*"), directory / "RESERVE", *directory.glob("*.lock")]:
        file.unlink(missing_ok=True)


if __name__ == "__main__":
    write(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
