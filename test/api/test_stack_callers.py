"""With `auth`, a deployment does nothing that the caller who began it may not do: also not what
only the deployment finds out, such as what somebody else has changed in a table."""

import json
import time
import uuid
from types import SimpleNamespace

import boto3
import botocore.config
import botocore.exceptions
import pytest
from stack_account import PATIENCE_S, Account, table, template
from stator_process import Keys, StatorProcess

REGION = "us-east-1"
ALARMS = f"arn:aws:cloudwatch:{REGION}:000000000000:alarm:"
ALLOW = {"Effect": "Allow", "Action": "*", "Resource": "*"}


def denied(action):
    return {"Effect": "Deny", "Action": action, "Resource": "*"}


@pytest.fixture(scope="module", name="place")
def fixture_place(tmp_path_factory):
    keys = Keys(tmp_path_factory.mktemp("stack-callers"))
    admin = keys.create("admin", ALLOW)
    with StatorProcess("--auth", *keys.flags) as server:
        yield SimpleNamespace(keys=keys, server=server, admin=admin)
        server.stop()


def client(place, service, credentials):
    return boto3.client(service, endpoint_url=place.server.url, region_name=REGION,
                        aws_access_key_id=credentials[0], aws_secret_access_key=credentials[1],
                        config=botocore.config.Config(retries={"max_attempts": 0}))


@pytest.fixture(name="account")
def fixture_account(place):
    """Of an administrator."""
    account = Account(place.server.url)
    account.cfn = client(place, "cloudformation", place.admin)
    account.dynamodb = client(place, "dynamodb", place.admin)
    yield account
    for stack in account.cfn.describe_stacks()["Stacks"]:
        account.cfn.delete_stack(StackName=stack["StackId"])
        account.settled(stack["StackId"])
    for name in account.tables():
        account.dynamodb.delete_table(TableName=name)


def user(place, *statements):
    """CloudFormation as somebody with these statements, once the server has read them."""
    name = "user-" + uuid.uuid4().hex
    cfn = client(place, "cloudformation", place.keys.create(name, *statements))
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            cfn.list_stacks()
            return cfn
        except botocore.exceptions.ClientError:
            assert time.monotonic() < until
            time.sleep(0.05)


def is_denied(function, **arguments):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        function(**arguments)
    return caught.value.response["Error"]["Code"] in ("AccessDenied", "AccessDeniedException")


def reasons(account):
    return [event.get("ResourceStatusReason", "")
            for event in account.cfn.describe_stack_events(StackName="app")["StackEvents"]]


def tags(account, name):
    arn = account.described(name)["TableArn"]
    listed = account.dynamodb.list_tags_of_resource(ResourceArn=arn)["Tags"]
    return {tag["Key"]: tag["Value"] for tag in listed if not tag["Key"].startswith("aws:")}


def test_the_tags_of_a_stack_need_the_right_to_tag_its_tables(place, account):
    may_not_tag = user(place, ALLOW, denied("dynamodb:TagResource"))
    may_not_untag = user(place, ALLOW, denied("dynamodb:UntagResource"))
    orders = {"StackName": "app", "TemplateBody": template(T=table(TableName="orders"))}
    one, two = [{"Key": "k", "Value": "one"}], [{"Key": "k", "Value": "two"}]
    assert is_denied(may_not_tag.create_stack, **orders, Tags=one)
    account.create("app", orders["TemplateBody"], Tags=one)
    assert is_denied(may_not_tag.update_stack, **orders, Tags=two)
    assert is_denied(may_not_untag.update_stack, **orders, Tags=[])
    assert tags(account, "orders") == {"k": "one"}
    may_not_untag.update_stack(**orders, Tags=two)
    assert account.settled("app")["StackStatus"] == "UPDATE_COMPLETE"
    may_not_tag.update_stack(**orders, Tags=[])
    assert account.settled("app")["StackStatus"] == "UPDATE_COMPLETE"
    assert tags(account, "orders") == {}


def test_a_stack_without_tags_needs_no_right_to_tag(place, account):
    may_not_tag = user(place, ALLOW, denied("dynamodb:TagResource"))
    may_not_tag.create_stack(StackName="app", TemplateBody=template(T=table(TableName="orders")))
    assert account.settled("app")["StackStatus"] == "CREATE_COMPLETE"


def test_what_others_have_changed_is_undone_only_with_the_right(place, account):
    caller = user(place, ALLOW, denied("dynamodb:UpdateTimeToLive"))
    account.create("app", template(T=table(TableName="orders")))
    account.dynamodb.update_time_to_live(
        TableName="orders", TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": True})
    caller.update_stack(StackName="app",
                        TemplateBody=template(T=table(TableName="orders", indexes=["kind"])))
    assert account.settled("app")["StackStatus"] == "UPDATE_ROLLBACK_FAILED"
    assert any("not authorized to perform: dynamodb:UpdateTimeToLive" in reason and
               "HandlerErrorCode: AccessDenied" in reason for reason in reasons(account))
    ttl = account.dynamodb.describe_time_to_live(TableName="orders")["TimeToLiveDescription"]
    assert ttl["TimeToLiveStatus"] == "ENABLED"
    # Whoever continues is asked instead.
    account.cfn.continue_update_rollback(StackName="app")
    assert account.settled("app")["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"


def alarm(name):
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": {
        "AlarmName": name, "Namespace": "AWS/DynamoDB", "MetricName": "UserErrors",
        "Statistic": "Sum", "Period": 60, "EvaluationPeriods": 1, "Threshold": 1,
        "ComparisonOperator": "GreaterThanThreshold"}}


def test_what_depends_on_a_replaced_table_is_asked_for_by_its_new_name(place, account):
    bell = alarm({"Fn::Sub": "${T}-bell"})
    account.create("app", template(T=table(), Bell=bell))
    old = account.tables()[0]
    own_alarm = {"Effect": "Deny", "Action": "cloudwatch:*", "NotResource": ALARMS + old + "-bell"}
    caller = user(place, ALLOW, own_alarm)
    caller.update_stack(StackName="app", TemplateBody=template(T=table("pk"), Bell=bell))
    assert account.settled("app")["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert any("not authorized to perform: cloudwatch:PutMetricAlarm" in reason
               for reason in reasons(account))
    assert account.tables() == [old]
    cloudwatch = client(place, "cloudwatch", place.admin)
    assert [found["AlarmName"] for found in cloudwatch.describe_alarms()["MetricAlarms"]] == [
        old + "-bell"]


def test_a_name_made_of_what_is_not_known_yet_is_refused(place, account):
    parts = {"Fn::Length": {"Fn::Split": [":", {"Fn::GetAtt": ["T", "StreamArn"]}]}}
    body = json.loads(template(T=table(StreamSpecification={"StreamViewType": "NEW_IMAGE"}),
                               Bell=alarm({"Fn::Sub": ["bell-${n}", {"n": parts}]})))
    body["Transform"] = "AWS::LanguageExtensions"
    caller = user(place, ALLOW)
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        caller.create_stack(StackName="app", TemplateBody=json.dumps(body),
                            Capabilities=["CAPABILITY_AUTO_EXPAND"])
    assert "T.StreamArn is not known before it is created" in str(caught.value)
    assert account.tables() == []


def test_a_rollback_may_do_what_its_caller_may_do(place, account):
    caller = user(place, ALLOW, denied("dynamodb:DeleteTable"))
    recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 99}
    body = template(T=table(TableName="orders", PointInTimeRecoverySpecification=recovery))
    caller.create_stack(StackName="app", TemplateBody=body)
    assert account.settled("app")["StackStatus"] == "ROLLBACK_FAILED"
    assert account.tables() == ["orders"]
    account.delete("app")
    assert account.tables() == []


def test_a_key_that_was_deleted_meanwhile_may_do_nothing_more(tmp_path):
    keys = Keys(tmp_path)
    place = SimpleNamespace(keys=keys, admin=keys.create("admin", ALLOW))
    caller = keys.create("caller", ALLOW)
    flags = ["--auth", *keys.flags]
    hour_ms = "3600000"
    body = template(T=table(TableName="orders", TimeToLiveSpecification={
        "AttributeName": "ttl", "Enabled": True}))
    with StatorProcess(*flags, "--transition-delay-ms", hour_ms) as place.server:
        client(place, "cloudformation", caller).create_stack(StackName="app", TemplateBody=body)
        dynamodb = client(place, "dynamodb", place.admin)
        until = time.monotonic() + PATIENCE_S
        while not dynamodb.list_tables()["TableNames"]:  # Then it is CREATING for an hour.
            assert time.monotonic() < until
        place.server.stop()
    keys.command("key", "delete", caller[0])
    with StatorProcess(*flags) as place.server:
        account = Account(place.server.url)
        account.cfn = client(place, "cloudformation", place.admin)
        account.dynamodb = client(place, "dynamodb", place.admin)
        assert account.settled("app")["StackStatus"] == "ROLLBACK_FAILED"
        assert any("because the access key that began the operation was deleted" in reason
                   for reason in reasons(account))
        assert account.tables() == ["orders"]
        ttl = account.dynamodb.describe_time_to_live(TableName="orders")["TimeToLiveDescription"]
        assert ttl["TimeToLiveStatus"] == "DISABLED"
        account.delete("app")
        assert account.tables() == []
        place.server.stop()
