"""monitoring/: a real Prometheus scrapes a real server with the shipped files, and every query of the
dashboard and of the rules is answered with data."""

import http.client
import json
import pathlib
import re
import shutil
import socket
import subprocess
import time
import urllib.parse

import pytest

from function_target import FunctionTarget
from stator_process import ROOT, Connection, StatorProcess, create_table, table_request

pytestmark = pytest.mark.skipif(
    not shutil.which("prometheus") or not shutil.which("promtool"),
    reason="Debian's package prometheus is not installed",
)

MONITORING = pathlib.Path(ROOT) / "monitoring"
RULES = MONITORING / "prometheus" / "stator.rules.yml"
DASHBOARD = MONITORING / "grafana" / "dashboards" / "stator.json"
DEADLINE_S = 60
VARIABLES = {"$__rate_interval": "30s", "$job": ".*", "$instance": ".*", "$table": ".*", "$index": ".*"}
# The one query that has no data: nothing makes a server fail with status 500 on demand.
UNUSED = re.compile("InternalServerError")
# An alert is judged without its threshold: healthy or not, it must have something to compare.
THRESHOLD = re.compile(r" (>|==) [0-9.]+$")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prometheus:
    """Scrapes `port` every second, with the shipped rules."""

    def __init__(self, folder, port):
        text = (MONITORING / "prometheus" / "prometheus.yml").read_text()
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{port}").replace("15s", "1s")
        (folder / "prometheus.yml").write_text(text)
        shutil.copy(RULES, folder)
        self.port = free_port()
        self.log = (folder / "log").open("w+")
        self.process = subprocess.Popen(
            [
                "prometheus", f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=self.log, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def ask(self, path, **parameters):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        assert answer["status"] == "success", (parameters, answer)
        return answer["data"]

    def query(self, expression):
        return self.ask("query", query=expression)["result"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def workload(connection, turn):
    """A little of everything."""
    key = {"pk": {"S": f"key{turn % 50}"}}
    calls = [
        ("PutItem", {"TableName": "orders", "Item": {**key, "group": {"S": "g"}, "text": {"S": "x" * 300}}}),
        ("GetItem", {"TableName": "orders", "Key": key}),
        ("UpdateItem", {"TableName": "billed", "Key": key, "UpdateExpression": "ADD n :one",
                        "ExpressionAttributeValues": {":one": {"N": "1"}}}),
        ("GetItem", {"TableName": "billed", "Key": key, "ConsistentRead": True}),
        ("Query", {"TableName": "orders", "IndexName": "by_group", "KeyConditionExpression": "#g = :g",
                   "FilterExpression": "pk <> :none", "ExpressionAttributeNames": {"#g": "group"},
                   "ExpressionAttributeValues": {":g": {"S": "g"}, ":none": {"S": "none"}}}),
        ("Scan", {"TableName": "billed"}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key]}, "billed": {"Keys": [key]}}}),
        ("PutItem", {"TableName": "orders", "Item": {"pk": {"S": f"old{turn}"}, "until": {"N": "%d" % (time.time() - 60)}}}),
        ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "orders", "Item": key}}]}),
    ]  # fmt: skip
    for operation, body in calls:
        status, answer = connection.call(operation, body)
        assert status == 200, (operation, answer)
    for _ in range(2):  # Three units at once, of one a second.
        statement = {"TableName": "limited", "Item": {**key, "text": {"S": "x" * 2500}}}
        assert connection.call("PutItem", statement)[0] in (200, 400)
        assert connection.call("GetItem", {"TableName": "limited", "Key": {"pk": {"S": "large"}}})[0] in (200, 400)
    refused = {"TableName": "orders", "Item": key, "ConditionExpression": "attribute_not_exists(pk)"}
    assert connection.call("PutItem", refused)[0] == 400


def prepare(connection, target):
    index = {"by_group": ([("group", "S", "HASH")], "ALL")}
    create_table(connection, "orders", global_=index, stream="KEYS_ONLY")
    request = table_request("billed")
    request.update(BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 10000, "WriteCapacityUnits": 10000})
    assert connection.call("CreateTable", request)[0] == 200
    request = table_request("limited")
    request.update(BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
    assert connection.call("CreateTable", request)[0] == 200
    large = {"pk": {"S": "large"}, "text": {"S": "x" * 250_000}}
    assert connection.call("PutItem", {"TableName": "limited", "Item": large})[0] == 200
    expiry = {"AttributeName": "until", "Enabled": True}
    status, answer = connection.call("UpdateTimeToLive", {"TableName": "orders", "TimeToLiveSpecification": expiry})
    assert status == 200, answer
    status, answer = connection.call("AddTrigger", {"TableName": "orders", "Url": target.url, "StartingPosition": "TRIM_HORIZON"})
    assert status == 200, answer


def rule_expressions():
    """Of the file, as far as its form needs: no YAML library is among the tests' dependencies."""
    text = RULES.read_text()
    found = re.findall(r"^ +expr: (?:>-\n((?: {10}.*\n)+)|(.+)\n)", text, re.MULTILINE)
    expressions = [" ".join((folded or plain).split()) for folded, plain in found]
    assert len(expressions) == text.count("expr:") > 10
    return expressions


def alerts_without_thresholds():
    return [THRESHOLD.sub("", expression) for expression in rule_expressions()]


def dashboard_expressions():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    expressions = []
    for panel in panels:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            assert "$" not in expression, expression
            expressions.append(expression)
    assert len(expressions) > 40
    return expressions


def test_promtool_accepts_rules_configuration_and_page(tmp_path):
    folder = MONITORING / "prometheus"
    subprocess.run(["promtool", "check", "rules", str(RULES)], check=True, capture_output=True)
    subprocess.run(["promtool", "check", "config", str(folder / "prometheus.yml")], check=True, capture_output=True)
    with StatorProcess("--data-dir", str(tmp_path / "data")) as server, FunctionTarget() as target:
        connection = Connection(server.port)
        prepare(connection, target)
        workload(connection, 1)
        page = http.client.HTTPConnection("127.0.0.1", server.port)
        page.request("GET", "/metrics")
        done = subprocess.run(["promtool", "check", "metrics"], input=page.getresponse().read(), capture_output=True)
        assert (done.returncode, done.stdout + done.stderr) == (0, b"")


def test_the_dashboard_can_be_provisioned_from_a_file():
    dashboard = json.loads(DASHBOARD.read_text())
    assert dashboard["id"] is None
    assert dashboard["uid"] == "stator"
    assert "__inputs" not in dashboard
    source = {"type": "prometheus", "uid": "${datasource}"}
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    assert {"job", "instance", "table", "index"} <= variables.keys()
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            continue
        assert panel["datasource"] == source
        assert all(target["datasource"] == source for target in panel["targets"])
    identities = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(identities)) == len(identities)


def test_every_query_is_answered(tmp_path):
    (tmp_path / "prometheus").mkdir()
    flags = ("--data-dir", str(tmp_path / "data"), "--ttl-interval", "100", "--capacity", "enforce")
    with FunctionTarget() as target:
        with StatorProcess(*flags) as server:
            connection = Connection(server.port)
            prepare(connection, target)
            for turn in range(50):
                workload(connection, turn)
            server.stop()
        check_queries(tmp_path, flags)


def check_queries(tmp_path, flags):
    """After a restart, so that some items are in files and reads go through the block cache."""
    with StatorProcess(*flags) as server:
        connection = Connection(server.port)
        with Prometheus(tmp_path / "prometheus", server.port) as prometheus:
            missing = ["not asked yet"]
            deadline = time.monotonic() + DEADLINE_S
            turn = 0
            while missing and time.monotonic() < deadline:
                for turn in range(turn + 1, turn + 10):
                    workload(connection, turn)
                time.sleep(0.5)
                try:
                    missing = [
                        expression
                        for expression in dashboard_expressions() + alerts_without_thresholds()
                        if not UNUSED.search(expression) and not prometheus.query(expression)
                    ]
                except ConnectionRefusedError:
                    pass  # It is starting.
            assert missing == []
            names = prometheus.ask("label/table/values")
            assert {"orders", "billed"} <= set(names)
            groups = prometheus.ask("rules")["groups"]
            rules = [rule for group in groups for rule in group["rules"]]
            assert len(rules) == len(rule_expressions())
            assert [rule for rule in rules if rule["health"] == "err"] == []
            assert not [rule for rule in rules if rule.get("state") == "firing"]
