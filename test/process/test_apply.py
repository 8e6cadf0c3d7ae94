"""`stator apply` against a real server: plans, updates, refusals, exit codes, and running again."""

import json
import os
import subprocess

import boto3
import pytest

import stator_process
from stator_process import Connection, DidNotStart, StatorProcess

TIMEOUT_S = 60

TABLE = {
    "Type": "AWS::DynamoDB::Table",
    "Properties": {
        "TableName": "orders",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    },
}


def template(**resources):
    return {"Resources": resources}


def table(name="orders", **properties):
    described = json.loads(json.dumps(TABLE))
    described["Properties"]["TableName"] = name
    described["Properties"].update(properties)
    return described


def index(name, *keys, **more):
    kinds = ["HASH", "RANGE"]
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, kinds)],
        "Projection": {"ProjectionType": "ALL"},
        **more,
    }


def attributes(**types):
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


@pytest.fixture
def server():
    with StatorProcess("--in-memory") as started:
        yield started


class Applied:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr


@pytest.fixture
def apply(server, tmp_path):
    """Runs `stator apply` on a template, given as an object or as text."""

    def run(document, *flags, code=0, name="app.json", text=None):
        path = tmp_path / name
        if document is not None:
            path.write_text(document if isinstance(document, str) else json.dumps(document))
        done = subprocess.run(
            [stator_process.binary(), "apply", str(path) if document is not None else "-", *flags,
             "--endpoint", server.url],
            capture_output=True, text=True, timeout=TIMEOUT_S, input=text or "",
        )
        assert done.returncode == code, done.stdout + done.stderr
        return Applied(done)

    return run


@pytest.fixture
def call(server):
    connection = Connection(server.port)

    def send(operation, **body):
        status, answer = connection.call(operation, body)
        assert status == 200, answer
        return answer

    yield send
    connection.close()


def plan_items(apply, document, *flags, code):
    shown = apply(document, "--plan", "--json", *flags, code=code)
    stack, = json.loads(shown.out)["Stacks"]
    return {item["LogicalId"]: item for item in stack["Items"]}


# --- Creation ---


def test_a_plan_alone_changes_nothing_and_says_that_changes_are_pending(apply, call):
    shown = apply(template(Orders=table()), "--plan", code=3)
    assert "+   Orders  create table orders (id S; on demand)" in shown.out
    assert call("ListTables")["TableNames"] == []


def test_without_a_terminal_and_without_yes_nothing_is_done(apply, call):
    refused = apply(template(Orders=table()), code=2)
    assert "give --yes" in refused.err
    assert call("ListTables")["TableNames"] == []


def test_a_second_run_has_nothing_to_do(apply, call):
    document = template(
        Orders=table(
            AttributeDefinitions=attributes(id="S", user="S", at="N"),
            GlobalSecondaryIndexes=[index("byUser", "user", "at"), index("byTime", "user")],
            LocalSecondaryIndexes=None,
            StreamSpecification={"StreamViewType": "NEW_AND_OLD_IMAGES"},
            TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": "true"},
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7},
            ContributorInsightsSpecification={"Enabled": True},
            DeletionProtectionEnabled=True,
            TableClass="STANDARD_INFREQUENT_ACCESS",
            Tags=[{"Key": "team", "Value": "a"}],
            ResourcePolicy={"PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Principal": {"AWS": "000000000000"}, "Action": "dynamodb:GetItem",
                               "Resource": {"Fn::Sub": "arn:aws:dynamodb:${AWS::Region}:${AWS::AccountId}:table/orders"}}],
            }},
        )
    )
    apply(document, "--yes")
    described = call("DescribeTable", TableName="orders")["Table"]
    assert [one["IndexName"] for one in described["GlobalSecondaryIndexes"]] in (
        ["byUser", "byTime"], ["byTime", "byUser"])
    assert described["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert described["DeletionProtectionEnabled"] is True
    assert described["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    ttl = call("DescribeTimeToLive", TableName="orders")["TimeToLiveDescription"]
    assert ttl["AttributeName"] == "ttl" and ttl["TimeToLiveStatus"] in ("ENABLING", "ENABLED")
    backups = call("DescribeContinuousBackups", TableName="orders")["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["RecoveryPeriodInDays"] == 7
    assert "Allow" in call("GetResourcePolicy", ResourceArn=described["TableArn"])["Policy"]
    assert call("ListTagsOfResource", ResourceArn=described["TableArn"])["Tags"] == [
        {"Key": "team", "Value": "a"}]
    assert {item["Action"] for item in plan_items(apply, document, code=0).values()} == {"None"}
    assert "Nothing to do." in apply(document).out  # And no question either.


def test_scaling_and_monitoring_are_made_with_the_table_and_compared_afterwards(apply, call, server):
    document = template(
        Orders=table(BillingMode="PROVISIONED",
                     ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}),
        Target={"Type": "AWS::ApplicationAutoScaling::ScalableTarget", "Properties": {
            "MinCapacity": 5, "MaxCapacity": 50, "ResourceId": {"Fn::Join": ["/", ["table", {"Ref": "Orders"}]]},
            "ScalableDimension": "dynamodb:table:ReadCapacityUnits", "ServiceNamespace": "dynamodb",
            "ScheduledActions": [{"ScheduledActionName": "night", "Schedule": "cron(0 1 * * ? *)",
                                  "ScalableTargetAction": {"MinCapacity": 6}}]}},
        Policy={"Type": "AWS::ApplicationAutoScaling::ScalingPolicy", "Properties": {
            "PolicyName": "reads", "PolicyType": "TargetTrackingScaling", "ScalingTargetId": {"Ref": "Target"},
            "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70, "PredefinedMetricSpecification": {
                "PredefinedMetricType": "DynamoDBReadCapacityUtilization"}}}},
        Alarm={"Type": "AWS::CloudWatch::Alarm", "Properties": {
            "Namespace": "AWS/DynamoDB", "MetricName": "ReadThrottleEvents", "Statistic": "Sum", "Period": 60,
            "EvaluationPeriods": 1, "Threshold": 1, "ComparisonOperator": "GreaterThanOrEqualToThreshold",
            "Dimensions": [{"Name": "TableName", "Value": {"Ref": "Orders"}}]}},
        Board={"Type": "AWS::CloudWatch::Dashboard", "Properties": {
            "DashboardName": "orders", "DashboardBody": json.dumps({"widgets": []})}},
    )
    apply(document, "--yes")
    scaling = boto3.client("application-autoscaling", endpoint_url=server.url, region_name="us-east-1",
                           aws_access_key_id="x", aws_secret_access_key="x")
    assert scaling.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"][0]["MaxCapacity"] == 50
    assert scaling.describe_scheduled_actions(ServiceNamespace="dynamodb")["ScheduledActions"][0][
        "ScheduledActionName"] == "night"
    assert {item["Action"] for item in plan_items(apply, document, code=0).values()} == {"None"}
    document["Resources"]["Alarm"]["Properties"]["Threshold"] = 2
    document["Resources"]["Target"]["Properties"]["MaxCapacity"] = 60
    items = plan_items(apply, document, code=3)
    assert {name for name, item in items.items() if item["Action"] == "Update"} == {"Alarm", "Target"}
    apply(document, "--yes")
    assert {item["Action"] for item in plan_items(apply, document, code=0).values()} == {"None"}
    # What auto scaling has set within its bounds is not set back.
    call("UpdateTable", TableName="orders",
         ProvisionedThroughput={"ReadCapacityUnits": 20, "WriteCapacityUnits": 5})
    assert plan_items(apply, document, code=0)["Orders"]["Action"] == "None"


def test_resources_of_other_services_are_skipped_or_refused(apply, call):
    document = template(Orders=table(), Handler={"Type": "AWS::Lambda::Function", "Properties": {"X": {"Ref": "Nobody"}}})
    shown = apply(document, "--yes")
    assert "    Handler  skipped: AWS::Lambda::Function" in shown.out
    refused = apply(document, "--yes", "--strict", code=2)
    assert "app.json:1: Template format error: Unrecognized resource types: [AWS::Lambda::Function]" in refused.err


def test_no_text_of_a_template_or_server_reaches_the_terminal_as_a_command(apply):
    hostile = "x\x1b[2K\r\n-   Orders  \u009b1A\x7f"
    shown = apply(template(
        Orders=table(AttributeDefinitions=attributes(**{hostile: "S"}),
                     KeySchema=[{"AttributeName": hostile, "KeyType": "HASH"}]),
        Other={"Type": hostile}), "--plan", code=3)
    assert "create table orders (x?[2K??-   Orders  ?1A? S; on demand)" in shown.out
    assert "skipped: x?[2K??-   Orders  ?1A?\n" in shown.out
    outputs = {"Text": {"Value": hostile}}
    shown = apply({"Resources": {"F": {"Type": "AWS::X::Y"}}, "Outputs": outputs}, "--yes")
    assert "app.Text = x?[2K??-   Orders  ?1A?\n" in shown.out
    refused = apply({"Resources": {hostile: table()}}, "--plan", code=2)
    assert "Resource name x?[2K??-   Orders  ?1A? is non alphanumeric" in refused.err
    refused = apply(template(Orders=table(TableName=hostile)), "--plan", code=1)
    assert refused.err.startswith("stator: table x?[2K??-   Orders  ?1A?: ")
    assert refused.err.count("\n") == 1


def test_outputs_are_shown_with_what_only_the_server_knows(apply, call):
    document = template(Orders=table(StreamSpecification={"StreamViewType": "KEYS_ONLY"}))
    document["Outputs"] = {"Stream": {"Value": {"Fn::GetAtt": ["Orders", "StreamArn"]}}}
    shown = apply(document, "--yes")
    arn = call("DescribeTable", TableName="orders")["Table"]["LatestStreamArn"]
    assert f"app.Stream = {arn}" in shown.out


# --- Changes ---


def test_indexes_come_and_go_one_after_the_other(apply, call):
    apply(template(Orders=table()), "--yes")
    more = template(Orders=table(
        AttributeDefinitions=attributes(id="S", a="S", b="N"),
        GlobalSecondaryIndexes=[index("one", "a"), index("two", "b"), index("three", "a", "b")],
    ))
    shown = apply(more, "--plan", code=3)
    assert "      + index three (a S, b N; ALL)   builds in the background" in shown.out
    apply(more, "--yes")
    names = {one["IndexName"] for one in call("DescribeTable", TableName="orders")["Table"]["GlobalSecondaryIndexes"]}
    assert names == {"one", "two", "three"}
    other = template(Orders=table(
        AttributeDefinitions=attributes(id="S", b="S"),
        GlobalSecondaryIndexes=[index("two", "b")],  # Of another type.
    ))
    shown = apply(other, "--yes")
    assert "      - index one" in shown.out and "      -/+ index two (b S; ALL)" in shown.out
    described = call("DescribeTable", TableName="orders")["Table"]
    assert [one["IndexName"] for one in described["GlobalSecondaryIndexes"]] == ["two"]
    assert plan_items(apply, other, code=0)["Orders"]["Action"] == "None"


def test_settings_change_and_go_back_to_their_defaults(apply, call):
    apply(template(Orders=table(
        TimeToLiveSpecification={"AttributeName": "a", "Enabled": True},
        Tags=[{"Key": "x", "Value": "1"}, {"Key": "y", "Value": "1"}],
    )), "--yes")
    changed = template(Orders=table(
        BillingMode="PROVISIONED",
        ProvisionedThroughput={"ReadCapacityUnits": 3, "WriteCapacityUnits": 2},
        TimeToLiveSpecification={"AttributeName": "b", "Enabled": True},
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        Tags=[{"Key": "y", "Value": "2"}, {"Key": "z", "Value": "3"}],
        DeletionProtectionEnabled=True,
        StreamSpecification={"StreamViewType": "NEW_IMAGE"},
    ))
    shown = apply(changed, "--yes")
    for line in ("~ billing  PAY_PER_REQUEST -> PROVISIONED 3/2", "~ time to live  a -> b",
                 "~ point-in-time recovery  off -> on", "- tag x", "~ tag y=2", "+ tag z=3",
                 "~ deletion protection  off -> on", "~ stream  off -> NEW_IMAGE"):
        assert "      " + line in shown.out, shown.out
    assert plan_items(apply, changed, code=0)["Orders"]["Action"] == "None"
    described = call("DescribeTable", TableName="orders")["Table"]
    assert described["ProvisionedThroughput"]["ReadCapacityUnits"] == 3
    assert call("DescribeTimeToLive", TableName="orders")["TimeToLiveDescription"]["AttributeName"] == "b"
    bare = template(Orders=table())
    apply(bare, "--yes")
    assert call("DescribeTimeToLive", TableName="orders")["TimeToLiveDescription"]["TimeToLiveStatus"] in (
        "DISABLING", "DISABLED")
    assert call("ListTagsOfResource", ResourceArn=described["TableArn"])["Tags"] == []
    assert "StreamSpecification" not in call("DescribeTable", TableName="orders")["Table"]
    assert plan_items(apply, bare, code=0)["Orders"]["Action"] == "None"


def test_a_request_file_leaves_alone_what_requests_do_not_say(apply, call):
    apply(template(Orders=table(TimeToLiveSpecification={"AttributeName": "a", "Enabled": True},
                                Tags=[{"Key": "x", "Value": "1"}])), "--yes")
    request = dict(TABLE["Properties"])
    assert plan_items(apply, request, code=0)["orders"]["Action"] == "None"
    description = call("DescribeTable", TableName="orders")
    assert plan_items(apply, description, code=0)["orders"]["Action"] == "None"
    call("DeleteTable", TableName="orders")
    apply(description, "--yes")
    assert call("ListTables")["TableNames"] == ["orders"]


# --- Replacement and deletion ---


def test_a_replacement_needs_its_flag_and_says_what_is_lost(apply, call):
    apply(template(Orders=table()), "--yes")
    call("PutItem", TableName="orders", Item={"id": {"S": "1"}})
    other = template(Orders=table(
        AttributeDefinitions=attributes(pk="S"), KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}]))
    refused = apply(other, "--yes", code=1)
    assert "-/+ Orders  REPLACE: key id S -> pk S; 1 items would be lost (needs --allow-replace)" in refused.out
    assert call("Scan", TableName="orders")["Count"] == 1
    apply(other, "--yes", "--allow-replace")
    assert call("DescribeTable", TableName="orders")["Table"]["KeySchema"][0]["AttributeName"] == "pk"


def test_a_protected_table_is_not_replaced(apply):
    apply(template(Orders=table(DeletionProtectionEnabled=True)), "--yes")
    other = template(Orders=table(
        AttributeDefinitions=attributes(pk="S"), KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}]))
    refused = apply(other, "--yes", "--allow-replace", code=1)
    assert "the table is protected against deletion" in refused.out


def test_prune_deletes_only_what_the_stack_made_and_may_delete(apply, call):
    call("CreateTable", **TABLE["Properties"] | {"TableName": "foreign"})
    kept = table("kept")
    kept["DeletionPolicy"] = "Retain"
    apply(template(One=table("one"), Two=table("two"), Kept=kept), "--yes", "--stack", "mine")
    apply(template(Other=table("other")), "--yes", "--stack", "theirs")
    rest = template(One=table("one"))
    assert "two" in call("ListTables")["TableNames"]
    apply(rest, "--yes", "--stack", "mine")  # Not asked to.
    assert "two" in call("ListTables")["TableNames"]
    shown = apply(rest, "--yes", "--stack", "mine", "--prune")
    assert "-   two  DELETE table two (id S; on demand); 0 items would be lost" in shown.out
    assert sorted(call("ListTables")["TableNames"]) == ["foreign", "kept", "one", "other"]
    assert "needs --stack" in apply(rest, "--yes", "--prune", code=2).err


# --- Failures ---


def test_a_failure_stops_and_a_second_run_does_the_rest(apply, call):
    document = template(
        First=table("first", TimeToLiveSpecification={"AttributeName": "t", "Enabled": True}),
        Bad=table("bad", AttributeDefinitions=attributes(id="S", unused="S")),
        Last=table("last"),
    )
    failed = apply(document, "--yes", code=1)
    assert "stator: Bad: CreateTable: " in failed.err
    assert "stopped after 1 of 3 changes; nothing was undone" in failed.err
    assert call("ListTables")["TableNames"] == ["first"]
    document["Resources"]["Bad"]["Properties"]["AttributeDefinitions"] = attributes(id="S")
    done = apply(document, "--yes")
    assert "    First  no change of table first" in done.out
    assert sorted(call("ListTables")["TableNames"]) == ["bad", "first", "last"]
    assert all(item["Action"] == "None" for item in plan_items(apply, document, code=0).values())


def test_a_table_that_was_made_halfway_is_completed(apply, call):
    call("CreateTable", **TABLE["Properties"])  # As if the run had ended before UpdateTimeToLive.
    document = template(Orders=table(TimeToLiveSpecification={"AttributeName": "t", "Enabled": True}))
    assert plan_items(apply, document, code=3)["Orders"]["Action"] == "Update"
    apply(document, "--yes")
    assert plan_items(apply, document, code=0)["Orders"]["Action"] == "None"


@pytest.mark.parametrize("document, message", [
    ("Resources:\n  A:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      Nonsense: 1\n",
     "app.yaml:5: Properties validation failed for resource A with message: #: extraneous key [Nonsense] is not permitted"),
    ("a: [", "app.yaml:2: not valid YAML: "),
    ("a: 1\n", "app.yaml: not a template: "),
    ("service: x\nprovider: aws\n", "run `serverless package`"),
])
def test_a_file_that_makes_no_sense_is_told_with_its_line(apply, document, message):
    assert message in apply(document, "--plan", code=2, name="app.yaml").err


def test_a_missing_file_a_bad_parameter_and_a_server_that_is_not_there(server, tmp_path):
    def run(*words):
        done = subprocess.run([stator_process.binary(), "apply", *words], capture_output=True, text=True,
                              timeout=TIMEOUT_S)
        return done.returncode, done.stderr

    path = tmp_path / "a.json"
    path.write_text(json.dumps(template(A=table("aaa"))))
    assert run(str(tmp_path / "none.json"))[0] == 2
    assert run(str(tmp_path))[0] == 2
    assert run(str(path), "--parameter", "nonsense")[0] == 2
    assert "Parameters: [X] do not exist in the template" in run(
        str(path), "--parameter", "X=1", "--endpoint", server.url)[1]
    assert run(str(path), "--endpoint", "http://127.0.0.1:1")[0] == 1
    assert run()[0] == 2


# --- Where templates come from ---


def test_standard_input_and_parameters(apply, call):
    document = "Parameters: {Name: {Type: String}}\nResources:\n  A:\n    Type: AWS::DynamoDB::Table\n" \
        "    Properties:\n      TableName: !Sub '${Name}-a'\n      BillingMode: PAY_PER_REQUEST\n" \
        "      AttributeDefinitions: [{AttributeName: k, AttributeType: S}]\n" \
        "      KeySchema: [{AttributeName: k, KeyType: HASH}]\n"
    apply(None, "--yes", "--parameter", "Name=x", text=document)
    assert call("ListTables")["TableNames"] == ["x-a"]


def test_a_cdk_folder_in_the_order_of_its_stacks(server, call, tmp_path):
    folder = tmp_path / "cdk.out"
    folder.mkdir()
    first = template(A=table("aaa"))
    first["Outputs"] = {"Name": {"Value": {"Ref": "A"}, "Export": {"Name": "shared"}}}
    first["Parameters"] = {"BootstrapVersion": {"Type": "AWS::SSM::Parameter::Value<String>",
                                                "Default": "/cdk-bootstrap/hnb659fds/version"}}
    first["Rules"] = {"CheckBootstrapVersion": {"Assertions": []}}
    second = template(B=table({"Fn::Join": ["-", [{"Fn::ImportValue": "shared"}, "b"]]}))
    (folder / "First.template.json").write_text(json.dumps(first))
    (folder / "Second.template.json").write_text(json.dumps(second))
    (folder / "manifest.json").write_text(json.dumps({"version": "36.0.0", "artifacts": {
        "Second": {"type": "aws:cloudformation:stack", "environment": "aws://unknown-account/unknown-region",
                   "properties": {"templateFile": "Second.template.json"}, "dependencies": ["First"]},
        "First": {"type": "aws:cloudformation:stack", "environment": "aws://unknown-account/unknown-region",
                  "properties": {"templateFile": "First.template.json", "stackName": "the-first"}},
        "Tree": {"type": "cdk:tree", "properties": {"file": "tree.json"}},
    }}))
    done = subprocess.run([stator_process.binary(), "apply", str(folder), "--yes", "--endpoint", server.url],
                          capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("stack the-first") < done.stdout.index("stack Second")
    assert call("ListTables")["TableNames"] == ["aaa", "aaa-b"]


def test_a_terraform_plan(apply, call):
    values = {
        "name": "music", "billing_mode": "PROVISIONED", "read_capacity": 4, "write_capacity": 2,
        "hash_key": "artist", "range_key": "song",
        "attribute": [{"name": "artist", "type": "S"}, {"name": "song", "type": "S"}, {"name": "year", "type": "N"}],
        "global_secondary_index": [{"name": "byYear", "hash_key": "year", "range_key": None, "read_capacity": 1,
                                    "write_capacity": 1, "projection_type": "KEYS_ONLY", "non_key_attributes": None}],
        "ttl": [{"attribute_name": "expires", "enabled": True}],
        "point_in_time_recovery": [{"enabled": True}], "stream_enabled": True, "stream_view_type": "NEW_IMAGE",
        "tags": {"env": "test"}, "tags_all": {"env": "test", "owner": "x"}, "deletion_protection_enabled": None,
    }
    document = {"format_version": "1.2", "terraform_version": "1.11.4", "planned_values": {"root_module": {
        "resources": [
            {"address": "aws_dynamodb_table.music", "mode": "managed", "type": "aws_dynamodb_table", "values": values},
            {"address": "aws_s3_bucket.x", "mode": "managed", "type": "aws_s3_bucket", "values": {}}]}}}
    shown = apply(document, "--yes")
    assert "aws_s3_bucket.x           skipped: aws_s3_bucket" in shown.out
    described = call("DescribeTable", TableName="music")["Table"]
    assert described["ProvisionedThroughput"]["ReadCapacityUnits"] == 4
    assert described["GlobalSecondaryIndexes"][0]["Projection"]["ProjectionType"] == "KEYS_ONLY"
    assert {tag["Key"] for tag in call("ListTagsOfResource", ResourceArn=described["TableArn"])["Tags"]} == {
        "env", "owner"}
    assert plan_items(apply, document, code=0)["aws_dynamodb_table.music"]["Action"] == "None"


def test_sam_tables(apply, call):
    document = "Transform: AWS::Serverless-2016-10-31\nGlobals: {SimpleTable: {Tags: {all: x}}}\nResources:\n" \
        "  Plain: {Type: AWS::Serverless::SimpleTable}\n" \
        "  Own:\n    Type: AWS::Serverless::SimpleTable\n    Properties:\n      TableName: own\n" \
        "      PrimaryKey: {Name: number, Type: Number}\n" \
        "      ProvisionedThroughput: {ReadCapacityUnits: 1, WriteCapacityUnits: 2}\n"
    apply(document, "--yes", name="sam.yaml")
    described = call("DescribeTable", TableName="own")["Table"]
    assert described["AttributeDefinitions"] == [{"AttributeName": "number", "AttributeType": "N"}]
    assert described["ProvisionedThroughput"]["WriteCapacityUnits"] == 2
    plain, = [name for name in call("ListTables")["TableNames"] if name.startswith("sam-Plain-")]
    assert call("DescribeTable", TableName=plain)["Table"]["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


MODEL = {
    "ModelName": "Shop",
    "ModelMetadata": {"Version": "3.0", "AWSService": "Amazon DynamoDB"},
    "DataModel": [{
        "TableName": "shop",
        "KeyAttributes": {"PartitionKey": {"AttributeName": "PK", "AttributeType": "S"},
                          "SortKey": {"AttributeName": "SK", "AttributeType": "N"}},
        "NonKeyAttributes": [{"AttributeName": "status", "AttributeType": "S"}],
        "GlobalSecondaryIndexes": [{
            "IndexName": "byStatus",
            "KeyAttributes": {"PartitionKey": {"AttributeName": "status", "AttributeType": "S"}},
            "Projection": {"ProjectionType": "KEYS_ONLY"}}],
        "TableData": [{"PK": {"S": "a"}, "SK": {"N": "1"}, "status": {"S": "new"}}],
        "BillingMode": "PAY_PER_REQUEST",
    }],
}


def test_the_tables_of_a_workbench_model(apply, call):
    apply(MODEL, "--yes")
    described = call("DescribeTable", TableName="shop")["Table"]
    assert described["KeySchema"] == [{"AttributeName": "PK", "KeyType": "HASH"},
                                      {"AttributeName": "SK", "KeyType": "RANGE"}]
    assert [entry["IndexName"] for entry in described["GlobalSecondaryIndexes"]] == ["byStatus"]
    assert apply(MODEL, "--plan").code == 0
    refused = apply({"ModelName": "x", "DataModel": 5}, "--yes", code=2)
    assert "DataModel" in refused.err


# --- serve --apply ---


def test_a_server_makes_the_tables_before_it_is_ready(tmp_path):
    path = tmp_path / "app.json"
    path.write_text(json.dumps(template(
        Orders=table(TimeToLiveSpecification={"AttributeName": "t", "Enabled": True}))))
    flags = ("--data-dir", str(tmp_path / "data"), "--apply", str(path))
    for _ in range(2):  # The second time there is nothing to do.
        with StatorProcess(*flags) as started:
            connection = Connection(started.port)
            assert connection.call("ListTables", {})[1]["TableNames"] == ["orders"]
            status = connection.call("DescribeTimeToLive", {"TableName": "orders"})[1]
            assert status["TimeToLiveDescription"]["TimeToLiveStatus"] in ("ENABLING", "ENABLED")
            connection.close()


def test_a_server_whose_template_cannot_be_applied_does_not_start(tmp_path):
    path = tmp_path / "app.json"
    path.write_text(json.dumps(template(Orders=table(BillingMode="NONSENSE"))))
    with pytest.raises(DidNotStart) as failure:
        StatorProcess("--in-memory", "--apply", str(path))
    assert "Orders: CreateTable: " in str(failure.value)
    path.write_text("Resources: {}")
    with pytest.raises(DidNotStart):
        StatorProcess("--in-memory", "--apply", str(path))


def test_with_auth_each_request_needs_its_right(tmp_path):
    keys = stator_process.Keys(tmp_path)
    path = tmp_path / "app.json"
    path.write_text(json.dumps(template(Orders=table())))
    reads = {"Effect": "Allow", "Action": ["dynamodb:Describe*", "dynamodb:List*"], "Resource": "*"}
    makes = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
    reader, writer = keys.create("reader", reads), keys.create("writer", makes)

    def run(key, url):
        variables = {"AWS_ACCESS_KEY_ID": key[0], "AWS_SECRET_ACCESS_KEY": key[1], "AWS_REGION": "us-east-1"}
        done = subprocess.run([stator_process.binary(), "apply", str(path), "--yes", "--endpoint", url],
                              capture_output=True, text=True, timeout=TIMEOUT_S, env={**os.environ, **variables})
        return done.returncode, done.stderr

    with StatorProcess("--auth", *keys.flags) as started:
        code, message = run(reader, started.url)
        assert code == 1 and "not authorized to perform: dynamodb:CreateTable" in message
        assert run(writer, started.url)[0] == 0
        assert run(reader, started.url)[0] == 0  # Nothing to do.
