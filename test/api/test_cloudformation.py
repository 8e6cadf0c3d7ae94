"""CloudFormation's API: stacks from their creation to their end, change sets, exports, and the texts
of refusals."""

import json
import threading
import time

import botocore.exceptions
import pytest

from stack_account import PATIENCE_S, Account, client, table, template
from stator_process import DidNotStart, StatorProcess

@pytest.fixture
def account(server_url):
    account = Account(server_url)
    yield account
    account.clean()


# --- The life of a stack ---


def test_a_stack_creates_describes_and_deletes_its_tables(account):
    stack = account.create(
        "life", template(Orders=table(TableName="orders"), Sessions=table(),
                         outputs={"Name": {"Value": {"Ref": "Sessions"}},
                                  "Arn": {"Value": {"Fn::GetAtt": ["Orders", "Arn"]}}}),
        Tags=[{"Key": "team", "Value": "blue"}])
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    outputs = {o["OutputKey"]: o["OutputValue"] for o in stack["Outputs"]}
    assert outputs["Arn"].endswith(":table/orders")
    assert outputs["Name"].startswith("life-Sessions-")
    assert account.tables() == sorted(["orders", outputs["Name"]])
    assert account.events("life") == [
        ("life", "CREATE_IN_PROGRESS"),
        ("Orders", "CREATE_IN_PROGRESS"), ("Orders", "CREATE_COMPLETE"),
        ("Sessions", "CREATE_IN_PROGRESS"), ("Sessions", "CREATE_COMPLETE"),
        ("life", "CREATE_COMPLETE")]
    tags = account.dynamodb.list_tags_of_resource(
        ResourceArn=account.described("orders")["TableArn"])["Tags"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {
        "team": "blue",
        "aws:cloudformation:stack-name": "life",
        "aws:cloudformation:stack-id": stack["StackId"],
        "aws:cloudformation:logical-id": "Orders"}
    resources = account.cfn.describe_stack_resources(StackName="life")["StackResources"]
    assert {(r["LogicalResourceId"], r["ResourceStatus"]) for r in resources} == {
        ("Orders", "CREATE_COMPLETE"), ("Sessions", "CREATE_COMPLETE")}
    one = account.cfn.describe_stack_resource(StackName="life", LogicalResourceId="Orders")
    assert one["StackResourceDetail"]["PhysicalResourceId"] == "orders"
    assert account.delete("life")["StackStatus"] == "DELETE_COMPLETE"
    assert account.tables() == []
    assert account.refusal("describe_stacks", StackName="life") == (
        "ValidationError", "Stack with id life does not exist")
    assert account.cfn.delete_stack(StackName="life")["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_waiters_of_the_sdk_end(account):
    account.cfn.create_stack(StackName="waits", TemplateBody=template(T=table()))
    account.cfn.get_waiter("stack_create_complete").wait(
        StackName="waits", WaiterConfig={"Delay": 1})
    account.cfn.delete_stack(StackName="waits")
    account.cfn.get_waiter("stack_delete_complete").wait(
        StackName="waits", WaiterConfig={"Delay": 1})


def test_an_update_adds_an_index_and_a_second_one_has_nothing_to_do(account):
    account.create("grows", template(Orders=table(TableName="orders")))
    account.dynamodb.put_item(TableName="orders", Item={"id": {"S": "1"}, "kind": {"S": "k"}})
    new = template(Orders=table(TableName="orders", indexes=["kind"]), Other=table(TableName="other"))
    assert account.update("grows", new)["StackStatus"] == "UPDATE_COMPLETE"
    indexes = account.described("orders")["GlobalSecondaryIndexes"]
    assert [index["IndexName"] for index in indexes] == ["by-kind"]
    assert account.dynamodb.get_item(TableName="orders", Key={"id": {"S": "1"}})["Item"]
    assert account.refusal("update_stack", StackName="grows", TemplateBody=new) == (
        "ValidationError", "No updates are to be performed.")
    assert account.update("grows", template(Other=table(TableName="other")))["StackStatus"] == (
        "UPDATE_COMPLETE")
    assert account.tables() == ["other"]
    assert account.events("grows")[-4:] == [
        ("grows", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), ("Orders", "DELETE_IN_PROGRESS"),
        ("Orders", "DELETE_COMPLETE"), ("grows", "UPDATE_COMPLETE")]


def test_two_index_changes_at_once_are_refused_and_rolled_back(account):
    account.create("twice", template(Orders=table(TableName="orders", indexes=["a"])))
    stack = account.update("twice", template(Orders=table(TableName="orders", indexes=["b"])))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    failed = [event for event in account.cfn.describe_stack_events(StackName="twice")["StackEvents"]
              if event["ResourceStatus"] == "UPDATE_FAILED"]
    assert "Cannot perform more than one GSI creation or deletion in a single update" in (
        failed[0]["ResourceStatusReason"])
    indexes = account.described("orders")["GlobalSecondaryIndexes"]
    assert [index["IndexName"] for index in indexes] == ["by-a"]


def test_a_table_without_a_name_is_replaced_and_one_with_a_name_is_not(account):
    account.create("swap", template(Own=table(TableName="own"), Free=table()))
    before = account.tables()
    stack = account.update("swap", template(Own=table(TableName="own"), Free=table(key="pk")))
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    after = account.tables()
    assert "own" in after and len(after) == 2 and after != before
    new = next(name for name in after if name != "own")
    assert account.described(new)["KeySchema"][0]["AttributeName"] == "pk"
    stack = account.update("swap", template(Own=table(key="pk", TableName="own"),
                                            Free=table(key="pk")))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    events = account.cfn.describe_stack_events(StackName="swap")["StackEvents"]
    failed = next(e for e in events if e["ResourceStatus"] == "UPDATE_FAILED")
    assert "CloudFormation cannot update a stack when a custom-named resource requires replacing" in (
        failed["ResourceStatusReason"])
    assert account.tables() == after


def test_a_creation_that_fails_is_rolled_back(account):
    bad = table(TableName="bad")
    bad["Properties"]["KeySchema"][0]["AttributeName"] = "other"
    bad["DependsOn"] = "Good"
    stack = account.create("fails", template(Good=table(TableName="good"), Bad=bad))
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert account.tables() == []
    events = account.cfn.describe_stack_events(StackName="fails")["StackEvents"]
    reasons = [event.get("ResourceStatusReason", "") for event in events]
    assert any(reason.startswith('Resource handler returned message: "') for reason in reasons)
    assert "The following resource(s) failed to create: [Bad]. Rollback requested by user." in reasons
    code, message = account.refusal("update_stack", StackName="fails",
                                    TemplateBody=template(Good=table()))
    assert code == "ValidationError"
    assert message == f"Stack:{stack['StackId']} is in ROLLBACK_COMPLETE state and can not be updated."


@pytest.mark.parametrize("choice, status, tables", [
    ("DO_NOTHING", "CREATE_FAILED", ["good"]), ("DELETE", "DELETE_COMPLETE", [])])
def test_what_happens_on_failure_can_be_chosen(account, choice, status, tables):
    bad = table(TableName="bad")
    bad["Properties"]["KeySchema"][0]["AttributeName"] = "other"
    bad["DependsOn"] = "Good"
    stack = account.create("chosen", template(Good=table(TableName="good"), Bad=bad),
                           OnFailure=choice)
    assert stack["StackStatus"] == status
    assert account.tables() == tables


def test_a_table_of_somebody_else_is_neither_taken_nor_deleted(account):
    account.dynamodb.create_table(
        TableName="theirs", BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}])
    stack = account.create("takes", template(T=table(TableName="theirs")))
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert account.tables() == ["theirs"]
    events = account.cfn.describe_stack_events(StackName="takes")["StackEvents"]
    assert "Resource of type 'AWS::DynamoDB::Table' with identifier 'theirs' already exists." in [
        event.get("ResourceStatusReason") for event in events]


def alarm(name, threshold=1):
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": {
        "AlarmName": name, "Namespace": "AWS/DynamoDB", "MetricName": "UserErrors",
        "Statistic": "Sum", "Period": 60, "EvaluationPeriods": 1, "Threshold": threshold,
        "ComparisonOperator": "GreaterThanThreshold"}}


def board(name):
    return {"Type": "AWS::CloudWatch::Dashboard", "Properties": {
        "DashboardName": name, "DashboardBody": '{"widgets": []}'}}


def exists(type_name, name):
    return f"Resource of type 'AWS::CloudWatch::{type_name}' with identifier '{name}' already exists."


def test_an_alarm_or_dashboard_of_somebody_else_is_neither_changed_nor_deleted(account):
    cloudwatch = client("cloudwatch", account.url)
    cloudwatch.put_metric_alarm(**alarm("theirs", 7)["Properties"])
    cloudwatch.put_dashboard(DashboardName="theirs", DashboardBody='{"widgets": [], "start": "-PT1H"}')
    composite = {"Type": "AWS::CloudWatch::CompositeAlarm", "Properties": {
        "AlarmName": "theirs", "AlarmRule": "FALSE"}}
    for stack, resource, reason in [
            ("first", alarm("theirs"), exists("Alarm", "theirs")),
            ("second", board("theirs"), exists("Dashboard", "theirs")),
            ("third", composite, exists("CompositeAlarm", "theirs"))]:
        assert account.create(stack, template(A=resource))["StackStatus"] == "ROLLBACK_COMPLETE"
        assert reason in account.reasons(stack)
        assert account.delete(stack)["StackStatus"] == "DELETE_COMPLETE"
    [found] = cloudwatch.describe_alarms(AlarmNames=["theirs"])["MetricAlarms"]
    assert found["Threshold"] == 7
    assert "start" in cloudwatch.get_dashboard(DashboardName="theirs")["DashboardBody"]
    cloudwatch.delete_alarms(AlarmNames=["theirs"])
    cloudwatch.delete_dashboards(DashboardNames=["theirs"])


def test_two_resources_do_not_share_what_one_of_them_would_delete(account):
    cloudwatch = client("cloudwatch", account.url)
    scaling = client("application-autoscaling", account.url)
    target = {"Type": "AWS::ApplicationAutoScaling::ScalableTarget", "Properties": {
        "MinCapacity": 1, "MaxCapacity": 9, "ResourceId": "table/scaled", "RoleARN": "r",
        "ScalableDimension": "dynamodb:table:ReadCapacityUnits", "ServiceNamespace": "dynamodb"}}
    scaled = table(TableName="scaled", BillingMode="PROVISIONED",
                   ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
    account.create("app", template(T=scaled, A=alarm("bell"), B=board("view"),
                                   S={**target, "DependsOn": "T"}))
    for renamed, reason in [
            ({"New": alarm("bell"), "B": board("view"), "S": target}, exists("Alarm", "bell")),
            ({"A": alarm("bell"), "New": board("view"), "S": target}, exists("Dashboard", "view")),
            ({"A": alarm("bell"), "B": board("view"), "New": target},
             "Resource of type 'AWS::ApplicationAutoScaling::ScalableTarget' with identifier "
             "'table/scaled|dynamodb:table:ReadCapacityUnits|dynamodb' already exists.")]:
        stack = account.update("app", template(T=scaled, **renamed))
        assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
        assert reason in account.reasons("app")
    assert len(cloudwatch.describe_alarms(AlarmNames=["bell"])["MetricAlarms"]) == 1
    assert cloudwatch.get_dashboard(DashboardName="view")["DashboardName"] == "view"
    assert len(scaling.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"]) == 1
    # Its own resources are changed, and a name that became free is taken.
    stack = account.update("app", template(T=scaled, A=alarm("bell", 5), B=board("view")))
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    stack = account.update("app", template(T=scaled, B=board("view"), S={**target, "DependsOn": "T"}))
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    stack = account.update("app", template(T=scaled, New=alarm("bell")))
    assert stack["StackStatus"] == "UPDATE_COMPLETE"


def test_retained_and_protected_tables_stay(account):
    kept = table(TableName="kept")
    kept["DeletionPolicy"] = "Retain"
    account.create("keeps", template(
        Kept=kept, Guarded=table(TableName="guarded", DeletionProtectionEnabled=True)))
    stack = account.delete("keeps")
    assert stack["StackStatus"] == "DELETE_FAILED"
    assert stack["StackStatusReason"] == "The following resource(s) failed to delete: [Guarded]. "
    assert account.tables() == ["guarded", "kept"]
    account.unprotect("guarded")
    assert account.delete("keeps")["StackStatus"] == "DELETE_COMPLETE"
    assert account.tables() == ["kept"]


def test_termination_protection_keeps_a_stack(account):
    account.create("guarded", template(T=table()), EnableTerminationProtection=True)
    assert account.refusal("delete_stack", StackName="guarded") == (
        "ValidationError",
        "Stack [guarded] cannot be deleted while TerminationProtection is enabled")
    account.cfn.update_termination_protection(StackName="guarded",
                                              EnableTerminationProtection=False)
    assert account.delete("guarded")["StackStatus"] == "DELETE_COMPLETE"


def test_resources_of_other_services_are_skipped_and_said_so(account):
    function = {"Type": "AWS::Lambda::Function", "Properties": {"Role": "x"}}
    account.create("mixed", template(F=function, T=table()))
    events = account.cfn.describe_stack_events(StackName="mixed")["StackEvents"]
    assert ("F", "CREATE_COMPLETE", "Skipped: not a DynamoDB resource") in [
        (e["LogicalResourceId"], e["ResourceStatus"], e.get("ResourceStatusReason"))
        for e in events]


def test_tags_of_a_stack_follow_its_updates(account):
    body = template(T=table(TableName="ttt", Tags=[{"Key": "own", "Value": "1"}]))
    account.create("tagged", body, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "1"}])
    account.update("tagged", body, Tags=[{"Key": "b", "Value": "2"}, {"Key": "c", "Value": "3"}])
    tags = account.dynamodb.list_tags_of_resource(
        ResourceArn=account.described("ttt")["TableArn"])["Tags"]
    assert {t["Key"]: t["Value"] for t in tags if not t["Key"].startswith("aws:")} == {
        "own": "1", "b": "2", "c": "3"}


# --- Parameters, capabilities, exports ---


def test_parameters_have_defaults_and_previous_values(account):
    body = template(T=table(TableName={"Fn::Sub": "t-${Stage}"}),
                    parameters={"Stage": {"Type": "String", "Default": "dev"},
                                "Secret": {"Type": "String", "Default": "s", "NoEcho": True}})
    stack = account.create("stages", body,
                           Parameters=[{"ParameterKey": "Stage", "ParameterValue": "prod"}])
    assert {p["ParameterKey"]: p["ParameterValue"] for p in stack["Parameters"]} == {
        "Stage": "prod", "Secret": "****"}
    previous = [{"ParameterKey": "Stage", "UsePreviousValue": True}]
    assert account.refusal("update_stack", StackName="stages", UsePreviousTemplate=True,
                           Parameters=previous)[1] == "No updates are to be performed."
    code, message = account.refusal(
        "create_stack", StackName="other", TemplateBody=body,
        Parameters=[{"ParameterKey": "Nobody", "ParameterValue": "x"}])
    assert (code, message) == ("ValidationError",
                               "Parameters: [Nobody] do not exist in the template")


def test_a_role_needs_a_capability(account):
    body = template(R={"Type": "AWS::IAM::Role", "Properties": {}}, T=table())
    assert account.refusal("create_stack", StackName="roles", TemplateBody=body) == (
        "InsufficientCapabilitiesException", "Requires capabilities : [CAPABILITY_IAM]")
    assert account.create("roles", body, Capabilities=["CAPABILITY_IAM"])["StackStatus"] == (
        "CREATE_COMPLETE")
    summary = account.cfn.get_template_summary(StackName="roles")
    assert summary["Capabilities"] == ["CAPABILITY_IAM"]
    assert set(summary["ResourceTypes"]) == {"AWS::IAM::Role", "AWS::DynamoDB::Table"}


def test_exports_are_imported_and_kept_while_in_use(account):
    exports = {"Name": {"Value": {"Ref": "T"}, "Export": {"Name": "table-name"}}}
    account.create("giver", template(T=table(TableName="given"), outputs=exports))
    stack = account.create("taker", template(
        T=table(), outputs={"From": {"Value": {"Fn::ImportValue": "table-name"}}}))
    assert stack["Outputs"] == [{"OutputKey": "From", "OutputValue": "given"}]
    assert [(e["Name"], e["Value"]) for e in account.cfn.list_exports()["Exports"]] == [
        ("table-name", "given")]
    assert account.cfn.list_imports(ExportName="table-name")["Imports"] == ["taker"]
    stack = account.delete("giver")
    assert (stack["StackStatus"], stack["StackStatusReason"]) == (
        "DELETE_FAILED", "Export table-name cannot be deleted as it is in use by taker")
    stack = account.create("second", template(T=table(), outputs=exports))
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert account.delete("taker")["StackStatus"] == "DELETE_COMPLETE"
    assert account.delete("giver")["StackStatus"] == "DELETE_COMPLETE"


# --- Change sets ---


def test_a_change_set_creates_a_stack_once_it_is_executed(account):
    cfn = account.cfn
    made = cfn.create_change_set(StackName="sets", ChangeSetName="first", ChangeSetType="CREATE",
                                 TemplateBody=template(T=table(TableName="ttt")))
    account.made.append(made["StackId"])
    assert cfn.describe_stacks(StackName="sets")["Stacks"][0]["StackStatus"] == (
        "REVIEW_IN_PROGRESS")
    described = cfn.describe_change_set(ChangeSetName=made["Id"])
    assert (described["Status"], described["ExecutionStatus"]) == ("CREATE_COMPLETE", "AVAILABLE")
    change = described["Changes"][0]["ResourceChange"]
    assert (change["Action"], change["LogicalResourceId"]) == ("Add", "T")
    assert account.tables() == []
    cfn.execute_change_set(StackName="sets", ChangeSetName="first")
    assert account.settled("sets")["StackStatus"] == "CREATE_COMPLETE"
    assert account.tables() == ["ttt"]
    code, message = account.refusal("execute_change_set", ChangeSetName=made["Id"])
    assert code == "InvalidChangeSetStatus" and "[EXECUTE_COMPLETE]" in message


def test_a_change_set_without_changes_fails_and_one_with_changes_says_which(account):
    cfn = account.cfn
    account.create("sets", template(T=table(TableName="ttt"), U=table()))
    cfn.create_change_set(StackName="sets", ChangeSetName="same",
                          TemplateBody=template(T=table(TableName="ttt"), U=table()))
    described = cfn.describe_change_set(StackName="sets", ChangeSetName="same")
    assert (described["Status"], described["StatusReason"]) == (
        "FAILED", "The submitted information didn't contain changes. Submit different "
        "information to create a change set.")
    cfn.create_change_set(StackName="sets", ChangeSetName="more", TemplateBody=template(
        T=table(TableName="ttt", indexes=["a"]), U=table(key="other"), V=table()))
    changes = {c["ResourceChange"]["LogicalResourceId"]: c["ResourceChange"]
               for c in cfn.describe_change_set(StackName="sets", ChangeSetName="more")["Changes"]}
    assert {name: (c["Action"], c.get("Replacement")) for name, c in changes.items()} == {
        "T": ("Modify", "False"), "U": ("Modify", "True"), "V": ("Add", None)}
    assert {s["ChangeSetName"] for s in cfn.list_change_sets(StackName="sets")["Summaries"]} == {
        "same", "more"}
    assert json.loads(json.dumps(cfn.get_template(StackName="sets", ChangeSetName="more")[
        "TemplateBody"]))["Resources"].keys() == {"T", "U", "V"}
    for _ in range(2):
        cfn.delete_change_set(StackName="sets", ChangeSetName="same")
    assert account.refusal("describe_change_set", StackName="sets", ChangeSetName="same") == (
        "ChangeSetNotFound", "ChangeSet [same] does not exist")
    assert account.refusal("create_change_set", StackName="none", ChangeSetName="x",
                           TemplateBody="{}") == ("ValidationError", "Stack [none] does not exist")


# --- Templates and refusals ---


def test_yaml_comes_back_as_it_was_sent_and_is_validated(account):
    body = "Resources:\n  T:\n    Type: AWS::DynamoDB::Table # one\n    Properties:\n" \
           "      BillingMode: PAY_PER_REQUEST\n" \
           "      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]\n" \
           "      KeySchema: [{AttributeName: id, KeyType: HASH}]\n"
    account.create("yaml", body)
    assert account.cfn.get_template(StackName="yaml")["TemplateBody"] == body
    assert account.cfn.validate_template(TemplateBody=body)["Parameters"] == []
    code, message = account.refusal("validate_template", TemplateBody="Resources: [")
    assert code == "ValidationError" and message.startswith("Template format error")
    code, message = account.refusal(
        "create_stack", StackName="unresolved",
        TemplateBody=template(T=table(TableName={"Ref": "Nobody"})))
    assert code == "ValidationError" and "Nobody" in message


def test_a_template_may_be_an_uploaded_file(account, server_url):
    s3 = client("s3", server_url)
    s3.put_object(Bucket="cdk-x-assets", Key="a/t.json", Body=template(T=table(TableName="uploaded")))
    answer = account.cfn.create_stack(StackName="up", TemplateURL=f"{server_url}/cdk-x-assets/a/t.json")
    account.made.append(answer["StackId"])
    assert account.settled("up")["StackStatus"] == "CREATE_COMPLETE"
    code, message = account.refusal(
        "create_stack", StackName="gone",
        TemplateURL="https://cdk-x-assets.s3.us-east-1.amazonaws.com/nothing")
    assert (code, message) == ("ValidationError", "S3 error: The specified key does not exist.")


@pytest.mark.parametrize("operation, arguments, code, message", [
    ("create_stack", {"StackName": "1x", "TemplateBody": "{}"}, "ValidationError",
     "1 validation error detected: Value '1x' at 'stackName' failed to satisfy constraint: Member "
     "must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/._+]*"),
    ("create_stack", {"StackName": "x"}, "ValidationError",
     "Either Template URL or Template Body must be specified."),
    ("update_stack", {"StackName": "x", "TemplateBody": "{}"}, "ValidationError",
     "Stack [x] does not exist"),
    ("describe_stack_events", {"StackName": "x"}, "ValidationError",
     "Stack with id x does not exist"),
    ("create_change_set", {"StackName": "x", "ChangeSetName": "y", "ChangeSetType": "IMPORT",
                           "TemplateBody": "{}"}, "ValidationError",
     "stator does not import resources into stacks"),
    ("create_stack", {"StackName": "x", "TemplateBody": "{}", "StackPolicyBody": "{}"},
     "ValidationError", "stator does not support StackPolicyBody. Leave it out."),
])
def test_refusals_have_the_services_words(account, operation, arguments, code, message):
    assert account.refusal(operation, **arguments) == (code, message)


def test_a_stack_exists_once(account):
    account.create("once", template(T=table()))
    assert account.refusal("create_stack", StackName="once", TemplateBody=template(T=table())) == (
        "AlreadyExistsException", "Stack [once] already exists")
    names = [s["StackName"] for s in account.cfn.list_stacks(
        StackStatusFilter=["CREATE_COMPLETE"])["StackSummaries"]]
    assert names == ["once"]


# --- Waiting ---


def wait_until(condition):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


def test_a_stack_that_waits_for_a_table_holds_up_no_other(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path), "--transition-delay-ms", "1500") as server:
        account = Account(server.url)
        account.cfn.create_stack(StackName="slow", TemplateBody=template(T=table(TableName="orders")))
        wait_until(lambda: "orders" in account.tables())
        account.create("quick", template(T={"Type": "AWS::SNS::Topic"}))
        slow = account.cfn.describe_stacks(StackName="slow")["Stacks"][0]
        assert slow["StackStatus"] == "CREATE_IN_PROGRESS"
        assert account.settled("slow")["StackStatus"] == "CREATE_COMPLETE"

        account.cfn.delete_stack(StackName="slow")
        wait_until(lambda: account.described("orders")["TableStatus"] == "DELETING")
        assert account.delete("quick")["StackStatus"] == "DELETE_COMPLETE"
        assert account.described("orders")["TableStatus"] == "DELETING"
        server.stop()


def test_a_new_table_of_the_same_name_does_not_keep_a_stack_from_ending(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path), "--transition-delay-ms", "300") as server:
        account = Account(server.url)
        properties = table(TableName="orders")["Properties"]
        stack_id = account.create("app", template(T=table(TableName="orders")))["StackId"]
        account.cfn.delete_stack(StackName="app")

        def is_made():
            try:
                account.dynamodb.create_table(**properties)
            except account.dynamodb.exceptions.ResourceInUseException:
                return False
            return True
        wait_until(is_made)
        assert account.settled(stack_id)["StackStatus"] == "DELETE_COMPLETE"
        wait_until(lambda: account.described("orders")["TableStatus"] == "ACTIVE")
        server.stop()


def test_a_deployment_uses_the_exports_that_its_request_found(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path), "--transition-delay-ms", "1000") as server:
        account = Account(server.url)

        def exporter(value):
            return template({"Out": {"Value": value, "Export": {"Name": "table-name"}}},
                            T={"Type": "AWS::SNS::Topic"})
        account.create("exporter", exporter("asked"))
        account.cfn.create_stack(StackName="importer", TemplateBody=template(
            First=table(TableName="first"),
            Second={**table(TableName={"Fn::ImportValue": "table-name"}), "DependsOn": "First"}))
        wait_until(lambda: "first" in account.tables())
        account.update("exporter", exporter("changed"))
        assert "asked" not in account.tables()
        assert account.settled("importer")["StackStatus"] == "CREATE_COMPLETE"
        assert sorted(account.tables()) == ["asked", "first"]
        server.stop()


# --- What is refused rather than accepted without effect ---

UNSUPPORTED = [
    ({"NotificationARNs": ["arn:aws:sns:us-east-1:000000000000:t"]}, "NotificationARNs"),
    ({"RollbackConfiguration": {"MonitoringTimeInMinutes": 5}}, "RollbackConfiguration"),
    ({"RollbackConfiguration": {"RollbackTriggers": [
        {"Arn": "arn:aws:cloudwatch:us-east-1:000000000000:alarm:a",
         "Type": "AWS::CloudWatch::Alarm"}]}}, "RollbackConfiguration"),
    ({"ResourceTypes": ["AWS::DynamoDB::*"]}, "ResourceTypes"),
]


@pytest.mark.parametrize("more, what", UNSUPPORTED)
def test_what_would_have_no_effect_is_refused(account, more, what):
    expected = ("ValidationError", f"stator does not support {what}. Leave it out.")
    body = template(T=table())
    assert account.refusal("create_stack", StackName="inert", TemplateBody=body, **more) == expected
    assert account.refusal("create_change_set", StackName="inert", ChangeSetName="s",
                           ChangeSetType="CREATE", TemplateBody=body, **more) == expected


def test_what_asks_for_nothing_is_accepted(account):
    account.create("idle", template(T=table()), NotificationARNs=[], ResourceTypes=[],
                   RollbackConfiguration={"MonitoringTimeInMinutes": 0, "RollbackTriggers": []})


def test_foreign_resources_are_refused_by_a_setting(tmp_path):
    with StatorProcess("--in-memory", "--foreign-resources", "fail") as server:
        account = Account(server.url)
        body = template(T=table(), F={"Type": "AWS::Lambda::Function"})
        expected = ("ValidationError", "Template format error: Unrecognized resource types: "
                                       "[AWS::Lambda::Function]")
        assert account.refusal("create_stack", StackName="app", TemplateBody=body) == expected
        assert account.refusal("create_change_set", StackName="app", ChangeSetName="s",
                               ChangeSetType="CREATE", TemplateBody=body) == expected
        stack = account.create("app", template(T=table(), M={"Type": "AWS::CDK::Metadata"}))
        assert stack["StackStatus"] == "CREATE_COMPLETE"
        server.stop()
    file = tmp_path / "t.json"
    file.write_text(body)
    with pytest.raises(DidNotStart) as caught:
        StatorProcess("--in-memory", "--foreign-resources", "fail", "--apply", str(file))
    assert "AWS::Lambda::Function" in caught.value.log


# --- Requests that meet ---

def test_of_updates_that_meet_each_succeeds_or_is_refused_and_the_last_one_shows(account):
    """Templates are evaluated without a lock, and again if the stack has changed meanwhile."""
    parameters = {"Stage": {"Type": "String"}}
    outputs = {"Stage": {"Value": {"Ref": "Stage"}}}
    body = template(outputs, parameters, T={"Type": "AWS::SNS::Topic"})

    def stage(value):
        return [{"ParameterKey": "Stage", "ParameterValue": value}]

    account.create("busy", body, Parameters=stage("0"))
    ended, failures = [], []

    def run(number):
        cfn = client("cloudformation", account.url)
        for turn in range(10):
            value = f"{number}-{turn}"
            try:
                cfn.update_stack(StackName="busy", TemplateBody=body, Parameters=stage(value))
                ended.append(value)
            except botocore.exceptions.ClientError as err:
                error = err.response["Error"]
                if error["Code"] not in ("ValidationError", "Throttling"):
                    failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and ended
    stack = account.settled("busy")
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    shown = stack["Outputs"][0]["OutputValue"]
    assert shown in ended and stack["Parameters"][0]["ParameterValue"] == shown


def test_of_creations_that_meet_one_succeeds(account):
    answers = []

    def run():
        try:
            client("cloudformation", account.url).create_stack(
                StackName="race", TemplateBody=template(T={"Type": "AWS::SNS::Topic"}))
            answers.append("ok")
        except botocore.exceptions.ClientError as err:
            answers.append(err.response["Error"]["Code"])

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["AlreadyExistsException"] * 7 + ["ok"]
    account.made.append(account.settled("race")["StackId"])
