"""One workload, whose metrics boto3, the AWS CLI and the SDK for JavaScript read alike.

What each request consumed is added up from the answers; CloudWatch must show the same sums.
"""

import collections
import datetime
import json
import os
import pathlib
import random
import subprocess
import time

import boto3
import botocore.config
import botocore.exceptions
import pytest

AWS = "/usr/bin/aws"
COMMAND_TIMEOUT_S = 60
TABLE = "metered"
INDEX = "by-group"
SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}


@pytest.fixture(scope="module", name="watch")
def fixture_watch(server_url):
    return boto3.client("cloudwatch", endpoint_url=server_url, **SETTINGS)


class Workload:
    """Random requests to a table with an index, and what they must have counted."""

    def __init__(self, url):
        self.client = boto3.client("dynamodb", endpoint_url=url, **SETTINGS)
        self.units = collections.Counter()
        self.calls = collections.Counter()
        self.returned = collections.Counter()
        self.condition_failures = 0
        self.user_errors = 0
        self.client.create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "group")
            ],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": INDEX,
                    "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        )
        self.client.get_waiter("table_exists").wait(
            TableName=TABLE, WaiterConfig={"Delay": 1, "MaxAttempts": 30}
        )

    def call(self, operation, kind, **request):
        answer = getattr(self.client, operation)(
            TableName=TABLE, ReturnConsumedCapacity="INDEXES", **request
        )
        name = "".join(part.capitalize() for part in operation.split("_"))
        self.calls[name] += 1
        consumed = answer["ConsumedCapacity"]
        self.units[kind, None] += consumed.get("Table", {}).get("CapacityUnits", 0)
        for index, part in consumed.get("GlobalSecondaryIndexes", {}).items():
            self.units[kind, index] += part["CapacityUnits"]
        if "Count" in answer:
            self.returned[name] += answer["Count"]
        return answer

    def step(self, generator):
        key = {"pk": {"S": f"k{generator.randrange(8)}"}}
        group = {"S": f"g{generator.randrange(3)}"}
        body = {"S": "x" * generator.randrange(3000)}
        choice = generator.randrange(6)
        if choice == 0:
            self.call("put_item", "Write", Item={**key, "group": group, "body": body})
        elif choice == 1:
            strong = generator.random() < 0.5
            self.call("get_item", "Read", Key=key, ConsistentRead=strong)
        elif choice == 2:
            self.call("delete_item", "Write", Key=key)
        elif choice == 3:
            self.call(
                "query",
                "Read",
                IndexName=INDEX,
                KeyConditionExpression="#g = :g",
                ExpressionAttributeNames={"#g": "group"},
                ExpressionAttributeValues={":g": group},
            )
        elif choice == 4:
            self.call("scan", "Read")
        else:
            self.refuse(key)

    def refuse(self, key):
        """One item that lacks what its condition wants, and a request without a key."""
        with pytest.raises(self.client.exceptions.ConditionalCheckFailedException):
            self.client.delete_item(
                TableName=TABLE, Key=key, ConditionExpression="attribute_exists(absent)"
            )
        self.condition_failures += 1
        with pytest.raises(botocore.exceptions.ClientError):
            self.client.get_item(TableName=TABLE, Key={"wrong": {"S": "a"}})
        self.user_errors += 1


@pytest.fixture(scope="module", name="workload")
def fixture_workload(server_url):
    workload = Workload(server_url)
    generator = random.Random(4711)
    for _ in range(120):
        workload.step(generator)
    return workload


def window():
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "StartTime": now - datetime.timedelta(minutes=10),
        "EndTime": now + datetime.timedelta(minutes=10),
        "Period": 3600,
    }


def dimensions(**values):
    return [{"Name": name, "Value": value} for name, value in values.items()]


def read(watch, name, statistics=("Sum", "SampleCount"), **values):
    answer = watch.get_metric_statistics(
        Namespace="AWS/DynamoDB",
        MetricName=name,
        Dimensions=dimensions(**values),
        Statistics=list(statistics),
        **window(),
    )
    assert answer["Label"] == name
    points = answer["Datapoints"]
    assert len(points) <= 1
    return points[0] if points else None


def test_every_counter_is_what_the_answers_told(watch, workload):
    for kind in ("Read", "Write"):
        name = f"Consumed{kind}CapacityUnits"
        if kind == "Read":  # What a refused write consumes is not in an answer.
            assert read(watch, name, TableName=TABLE)["Sum"] == workload.units[kind, None]
        found = read(watch, name, TableName=TABLE, GlobalSecondaryIndexName=INDEX)
        assert found["Sum"] == workload.units[kind, INDEX]
        assert found["Unit"] == "Count"
    for name, count in workload.calls.items():
        found = read(
            watch,
            "SuccessfulRequestLatency",
            ("SampleCount", "Minimum", "Maximum", "Average"),
            TableName=TABLE,
            Operation=name,
        )
        assert found["SampleCount"] == count and found["Unit"] == "Milliseconds"
        assert 0 < found["Minimum"] <= found["Average"] <= found["Maximum"]
    for name, count in workload.returned.items():
        found = read(watch, "ReturnedItemCount", TableName=TABLE, Operation=name)
        assert found["Sum"] == count and found["SampleCount"] == workload.calls[name]
    found = read(watch, "ConditionalCheckFailedRequests", TableName=TABLE)
    assert found["Sum"] == workload.condition_failures
    assert read(watch, "UserErrors")["Sum"] >= workload.user_errors
    # Fewer dimensions than the metric has: nothing.
    assert read(watch, "SuccessfulRequestLatency", TableName=TABLE) is None


def test_percentiles_of_latencies(watch, workload):
    answer = watch.get_metric_statistics(
        Namespace="AWS/DynamoDB",
        MetricName="SuccessfulRequestLatency",
        Dimensions=dimensions(TableName=TABLE, Operation="Scan"),
        ExtendedStatistics=["p0", "p50", "p99.9", "p100", "tm(10%:90%)", "IQM"],
        **window(),
    )
    (point,) = answer["Datapoints"]
    found = point["ExtendedStatistics"]
    assert 0 < found["p0"] <= found["p50"] <= found["p99.9"] <= found["p100"]
    assert found["p0"] <= found["IQM"] <= found["p100"]


def test_list_metrics_shows_what_there_is(watch, workload):
    pages = watch.get_paginator("list_metrics").paginate(
        Namespace="AWS/DynamoDB", Dimensions=dimensions(TableName=TABLE)
    )
    found = {metric["MetricName"] for page in pages for metric in page["Metrics"]}
    assert {
        "ConsumedReadCapacityUnits",
        "ConsumedWriteCapacityUnits",
        "SuccessfulRequestLatency",
        "ReturnedItemCount",
        "ConditionalCheckFailedRequests",
    } <= found
    everything = watch.list_metrics(Namespace="AWS/DynamoDB")["Metrics"]
    assert any(metric["MetricName"] == "UserErrors" for metric in everything)


def test_metric_data_with_math(watch, workload):
    metric = {
        "Namespace": "AWS/DynamoDB",
        "MetricName": "ConsumedReadCapacityUnits",
        "Dimensions": dimensions(TableName=TABLE),
    }
    span = window()
    period = span.pop("Period")
    answer = watch.get_metric_data(
        MetricDataQueries=[
            {"Id": "rate", "Expression": "m1/PERIOD(m1)"},
            {"Id": "m1", "MetricStat": {"Metric": metric, "Period": period, "Stat": "Sum"}},
            {
                "Id": "found",
                "Expression": "SEARCH('{AWS/DynamoDB,TableName} "
                f'MetricName="ConsumedReadCapacityUnits" {TABLE}\', \'Sum\', 3600)',
                "Label": "${PROP('Dim.TableName')} ${LABEL}",
            },
        ],
        **span,
    )
    results = {result["Id"]: result for result in answer["MetricDataResults"]}
    assert [result["Id"] for result in answer["MetricDataResults"]] == ["m1", "rate", "found"]
    units = workload.units["Read", None]
    assert results["m1"]["Values"] == [units]
    assert results["rate"]["Values"] == [units / 3600]
    assert results["found"]["Values"] == [units]
    assert results["found"]["Label"] == f"{TABLE} ConsumedReadCapacityUnits"
    assert {result["StatusCode"] for result in results.values()} == {"Complete"}


def environment(home):
    return {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "AWS_ACCESS_KEY_ID": "AKIATEST",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_PAGER": "",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def run(command, home):
    result = subprocess.run(
        command, env=environment(home), capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def numbers(point):
    return {name: point[name] for name in ("Sum", "SampleCount", "Minimum", "Maximum", "Unit")}


def test_three_clients_read_the_same_numbers(watch, workload, server_url, tmp_path):
    statistics = ["Sum", "SampleCount", "Minimum", "Maximum"]
    name, operation = "SuccessfulRequestLatency", "Query"
    wanted = numbers(read(watch, name, statistics, TableName=TABLE, Operation=operation))
    start = int(time.time()) - 600
    command = [AWS, "cloudwatch", "get-metric-statistics", "--endpoint-url", server_url]
    command += ["--namespace", "AWS/DynamoDB", "--metric-name", name, "--period", "3600"]
    command += ["--dimensions", f"Name=TableName,Value={TABLE}"]
    command += [f"Name=Operation,Value={operation}", "--statistics", *statistics]
    command += ["--start-time", str(start), "--end-time", str(start + 1200), "--output", "json"]
    (point,) = run(command, tmp_path)["Datapoints"]
    assert numbers(point) == wanted
    request = {
        "Namespace": "AWS/DynamoDB",
        "MetricName": name,
        "Dimensions": dimensions(TableName=TABLE, Operation=operation),
        "StartTime": start,
        "EndTime": start + 1200,
        "Period": 3600,
        "Statistics": statistics,
    }
    script = pathlib.Path(__file__).parent / "lib" / "read_metric.js"
    (point,) = run(["node", str(script), server_url, json.dumps(request)], tmp_path)
    assert numbers(point) == wanted
