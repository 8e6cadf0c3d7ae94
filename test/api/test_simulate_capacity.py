"""`stator simulate-capacity` against a server that plays AWS, and against stator."""

import http.server
import json
import subprocess
import threading

import boto3
import pytest

from stator_process import StatorProcess, binary


class Aws(http.server.BaseHTTPRequestHandler):
    """DescribeTable, and GetMetricData in two pages."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        target = self.headers["X-Amz-Target"]
        self.server.requests.append((target, self.headers["Authorization"], body))
        if target == "DynamoDB_20120810.DescribeTable":
            answer = {"Table": {"TableName": "Orders", "ProvisionedThroughput": {
                "ReadCapacityUnits": 0, "WriteCapacityUnits": 0,
            }, "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"}}}
        else:
            assert target == "GraniteServiceVersion20100801.GetMetricData"
            first = "NextToken" not in body
            period = body["MetricDataQueries"][0]["MetricStat"]["Period"]
            half = body["StartTime"] + (body["EndTime"] - body["StartTime"]) // 2
            times = range(*((body["StartTime"], half) if first else (half, body["EndTime"])),
                          period)
            answer = {"MetricDataResults": [
                {"Id": "writes", "Timestamps": list(times), "Values": [period / 60] * len(times)},
            ]}
            if first:
                answer["NextToken"] = "more"
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def aws():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Aws)
    server.requests = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def simulate(*words):
    return subprocess.run(
        [binary(), "simulate-capacity", *words], capture_output=True, text=True, timeout=60,
        check=False,
    )


def test_all_pages_of_the_metrics_are_read(aws):
    url = f"http://127.0.0.1:{aws.server_address[1]}"
    run = simulate("Orders", "--endpoint", url, "--days", "1", "--json")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    writes = answer["Resources"][0]["Writes"]
    assert writes["ConsumedUnits"] == 1440
    assert writes["MinutesWithSamples"] == 1440
    assert writes["OnDemand"]["Cost"] == pytest.approx(1440 * 0.625e-6)
    assert writes["Provisioned"]["ThrottledUnits"] == 0
    assert answer["Prices"]["Date"] == "2026-09-06"
    targets = [target for target, _, _ in aws.requests]
    assert targets[1:] == ["GraniteServiceVersion20100801.GetMetricData"] * 2
    assert "/dynamodb/aws4_request" in aws.requests[0][1]
    assert "/monitoring/aws4_request" in aws.requests[1][1]
    assert aws.requests[1][2]["EndTime"] - aws.requests[1][2]["StartTime"] == 86400


@pytest.mark.parametrize("days, period", [(15, 60), (16, 300), (63, 300)])
def test_windows_of_more_than_15_days_ask_for_five_minutes(aws, days, period):
    url = f"http://127.0.0.1:{aws.server_address[1]}"
    run = simulate("Orders", "--endpoint", url, "--days", str(days), "--json")
    assert run.returncode == 0, run.stderr
    body = aws.requests[1][2]
    assert {query["MetricStat"]["Period"] for query in body["MetricDataQueries"]} == {period}
    assert body["StartTime"] % period == 0
    assert json.loads(run.stdout)["Resources"][0]["Writes"]["ConsumedUnits"] == days * 1440


def test_metrics_may_have_an_endpoint_of_their_own(aws, tmp_path):
    with StatorProcess("--data-dir", str(tmp_path)) as server:
        create(server)
        run = simulate("Orders", "--endpoint", server.url, "--cloudwatch-endpoint",
                       f"http://127.0.0.1:{aws.server_address[1]}", "--days", "1")
    assert run.returncode == 0, run.stderr
    assert "Orders, on demand, " in run.stdout
    assert "table writes                    24.0         1440" in run.stdout
    assert [target for target, _, _ in aws.requests] == [
        "GraniteServiceVersion20100801.GetMetricData"
    ] * 2


def create(server):
    boto3.client(
        "dynamodb", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id="x",
        aws_secret_access_key="x",
    ).create_table(
        TableName="Orders",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )


def test_a_server_without_samples_is_told_from_an_idle_one(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path)) as server:
        create(server)
        run = simulate("Orders", "--endpoint", server.url)
        assert run.returncode == 0, run.stderr
        assert "not judged: there are samples of less than 24 hours" in run.stdout
        assert "hours: with samples, of 336 in the window" in run.stdout
        run = simulate("Absent", "--endpoint", server.url)
        assert run.returncode == 1
        assert "Requested resource not found: Table: Absent not found" in run.stderr


@pytest.mark.parametrize("flags", [["--days", "0"], ["--days", "64"], ["--target", "19"],
                                   ["--min", "0"], ["--min", "5", "--max", "4"]])
def test_values_out_of_range_are_refused(flags):
    run = simulate("Orders", *flags)
    assert run.returncode == 2
    assert "must be from" in run.stderr
