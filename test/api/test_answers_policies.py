"""What the service answers about resource policies, measured in October 2026."""

import json

import pytest
from answers import accept, create, refuse

INVALID = "One or more parameter values were invalid: "
DOCUMENT = INVALID + "Invalid policy document: "
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
ACCOUNT = "111122223333"
ROOT = f"arn:aws:iam::{ACCOUNT}:root"


@pytest.fixture(scope="module", name="arns")
def fixture_arns(connection):
    """Of the table and of its stream."""
    create(connection, "Policies", "pk", StreamSpecification=STREAM)
    table = accept(connection, "DescribeTable", {"TableName": "Policies"})["Table"]
    return table["TableArn"], table["LatestStreamArn"]


def statement(resource, **changes):
    """A statement with these elements changed; None takes one away."""
    base = {
        "Sid": "One",
        "Effect": "Allow",
        "Principal": {"AWS": ROOT},
        "Action": "dynamodb:GetItem",
        "Resource": resource,
    }
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


def document(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def put(connection, arn, policy, **more):
    return accept(
        connection, "PutResourcePolicy", {"ResourceArn": arn, "Policy": policy, **more}
    )["RevisionId"]


def get(connection, arn):
    return accept(connection, "GetResourcePolicy", {"ResourceArn": arn})


def refuse_policy(connection, arn, policy, message, kind="ValidationException"):
    request = {"ResourceArn": arn, "Policy": policy}
    refuse(connection, "PutResourcePolicy", request, message, kind)


# --- The form in which a document is shown ---


def canonical(arn, **changes):
    parts = json.dumps(statement(arn, **changes), separators=(",", ":"))
    return '{"Version":"2012-10-17","Statement":[' + parts + "]}"


@pytest.mark.parametrize(
    "sent, shown",
    [
        ({}, {}),
        ({"Action": ["dynamodb:GetItem"]}, {}),
        ({"Principal": {"AWS": ACCOUNT}}, {}),
        ({"Principal": {"AWS": [ACCOUNT, ROOT]}}, {}),
        ({"Effect": "allow"}, {}),
        ({"Action": ["dynamodb:Query", "dynamodb:GetItem"]}, "same"),
        ({"Action": ["dynamodb:GetItem", "dynamodb:GetItem"]}, "same"),
        ({"Action": "dynamodb:getitem"}, "same"),
        ({"Sid": None}, "same"),
        (
            {"Condition": {"StringEquals": {"aws:PrincipalAccount": [ACCOUNT]}}},
            {"Condition": {"StringEquals": {"aws:PrincipalAccount": ACCOUNT}}},
        ),
    ],
)
def test_the_form_of_a_document(connection, arns, sent, shown):
    table, _ = arns
    revision = put(connection, table, document(statement(table, **sent)))
    form = canonical(table, **(sent if shown == "same" else shown))
    assert get(connection, table) == {"Policy": form, "RevisionId": revision}
    assert put(connection, table, form) == revision


def test_equal_documents_are_one_revision(connection, arns):
    table, _ = arns
    parts = statement(table)
    revision = put(connection, table, document(parts))
    for same in (
        json.dumps(json.loads(document(parts)), indent=4),
        json.dumps({"Statement": dict(reversed(parts.items())), "Version": "2012-10-17"}),
        document({**parts, "Action": [parts["Action"]], "Resource": [table]}),
        document({**parts, "Sid": "One"}).replace('"One"', '"\\u004fne"'),
    ):
        assert put(connection, table, same) == revision
    assert put(connection, table, document(statement(table, Sid="Two"))) > revision


def test_a_document_without_version(connection, arns):
    table, _ = arns
    without = json.dumps({"Statement": [statement(table)]})
    first = put(connection, table, without)
    shown = get(connection, table)["Policy"]
    assert shown.startswith('{"Version":"2008-10-17","Statement":[')
    assert put(connection, table, without) == first
    second = put(connection, table, shown)
    assert second != first
    assert put(connection, table, without) != second


def test_notaction_takes_the_place_of_action(connection, arns):
    table, _ = arns
    parts = statement(table, Action=None, NotAction="dynamodb:DeleteTable")
    put(connection, table, document(parts))
    shown = json.loads(get(connection, table)["Policy"])["Statement"][0]
    assert list(shown) == ["Sid", "Effect", "Principal", "NotAction", "Resource"]


# --- Documents that are refused ---


@pytest.mark.parametrize(
    "policy, message",
    [
        ("{}", "Syntax error at position (1,3)"),
        ("", "This policy contains invalid Json"),
        ("[]", "This policy contains invalid Json"),
        ("{not json", "This policy contains invalid Json"),
        ("null", "This text appears not to be a policy"),
        ('{"Statement":[{}]}', "Missing required field Effect"),
        ('{"Statement":[]}', "Could not parse the policy: Statement is empty!"),
    ],
)
def test_documents_that_are_no_policy(connection, arns, policy, message):
    table, _ = arns
    refuse_policy(connection, table, policy, DOCUMENT + message)
    request = {
        "TableName": "Never",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "ResourcePolicy": policy,
    }
    refuse(connection, "CreateTable", request, DOCUMENT + message)


@pytest.mark.parametrize("field", ["Effect", "Principal", "Action", "Resource"])
def test_fields_that_are_required(connection, arns, field):
    table, _ = arns
    policy = document(statement(table, **{field: None}))
    refuse_policy(connection, table, policy, f"{DOCUMENT}Missing required field {field}")


def test_a_principal_that_is_a_bare_account(connection, arns):
    table, _ = arns
    policy = json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [statement(table, Sid="V01", Principal=ACCOUNT)],
        },
        separators=(",", ":"),
    )
    refuse_policy(connection, table, policy, DOCUMENT + "Syntax error at position (1,94)")


def test_principals_that_do_not_exist(connection, arns):
    table, _ = arns
    policy = document(statement(table, Principal={"AWS": "nobody"}))
    refuse_policy(connection, table, policy, INVALID + "Invalid principal in policy document.")


def test_sids_are_unique(connection, arns):
    table, _ = arns
    policy = document(statement(table), statement(table, Action="dynamodb:Query"))
    message = DOCUMENT + "The Statement Ids in the policy are not unique"
    refuse_policy(connection, table, policy, message)


def test_nobody_allows_everybody(connection, arns):
    table, _ = arns
    message = (
        "Resource-based policy grants unbounded access in one or more elements. Please revise the "
        "policy to ensure least-privilege form of access"
    )
    for principal in ("*", {"AWS": "*"}):
        policy = document(statement(table, Principal=principal))
        refuse_policy(connection, table, policy, message)
        put(connection, table, document(statement(table, Principal=principal, Effect="Deny")))


def test_resources_of_a_document(connection, arns):
    table, stream = arns
    for resource in ("*", f"{table}x", f"{table}/index/ggg"):
        put(connection, table, document(statement(resource)))
    relative = stream.split(":", 5)[5]
    message = f'{DOCUMENT}The relative-id "{relative}" is invalid for ARN "{stream}"'
    refuse_policy(connection, table, document(statement(stream)), message)
    message = f'{DOCUMENT}The relative-id "table/Policies" is invalid for ARN "{table}"'
    for arn in (stream, f"{table}/stream/2000-01-01T00:00:00.000"):
        refuse_policy(connection, arn, document(statement(table)), message)


def test_actions_of_a_document(connection, arns):
    table, stream = arns
    actions = ["dynamodb:GetRecords", "dynamodb:DescribeStream"]
    message = (
        DOCUMENT + "The following action names are invalid: "
        '"dynamodb:GetRecords", "dynamodb:DescribeStream"'
    )
    refuse_policy(connection, table, document(statement(table, Action=actions)), message)
    put(connection, stream, document(statement(stream, Action=actions)))
    message = f'{DOCUMENT}The following action names are invalid: "dynamodb:ListStreams"'
    for arn in (table, stream):
        policy = document(statement(arn, Action="dynamodb:ListStreams"))
        refuse_policy(connection, arn, policy, message)


def test_sizes_of_documents(connection, arns):
    table, _ = arns
    policy = document(statement(table))
    put(connection, table, policy + " " * (20480 - len(policy)))
    message = INVALID + "Maximum policy size of 20480 bytes exceeded"
    refuse_policy(connection, table, policy + " " * (20481 - len(policy)), message)


# --- Callers that shut themselves out ---

LOCKED = "The new resource policy will not allow you to update the resource policy in the future."


def test_callers_do_not_shut_themselves_out(connection):
    create(connection, "Locked", "pk")
    arn = accept(connection, "DescribeTable", {"TableName": "Locked"})["Table"]["TableArn"]
    put_action, delete_action = "dynamodb:PutResourcePolicy", "dynamodb:DeleteResourcePolicy"
    denial = {"Effect": "Deny", "Principal": "*"}
    for actions in ([put_action, delete_action], put_action, "dynamodb:*"):
        policy = document(statement(arn, Action=actions, **denial))
        for more in ({}, {"ConfirmRemoveSelfResourceAccess": False}):
            request = {"ResourceArn": arn, "Policy": policy, **more}
            status, answer = connection.call("PutResourcePolicy", request)
            assert (status, answer) == (
                400,
                {"__type": "com.amazon.coral.service#AccessDeniedException", "Message": LOCKED},
            )
    put(connection, arn, document(statement(arn, Action=delete_action, **denial)))
    policy = document(statement(arn, Action=put_action, **denial))
    put(connection, arn, policy, ConfirmRemoveSelfResourceAccess=True)


# --- Resources and revisions ---


@pytest.mark.parametrize("operation", ["GetResourcePolicy", "PutResourcePolicy", "DeleteResourcePolicy"])
def test_resources_that_are_refused(connection, arns, operation):
    table, _ = arns
    parts = table.split(":")

    def arn(**changes):
        places = {"partition": 1, "region": 3, "account": 4}
        other = list(parts)
        for name, value in changes.items():
            other[places[name]] = value
        return ":".join(other)

    policy = {"Policy": document(statement(table))} if operation.startswith("Put") else {}
    invalid = INVALID + "Invalid resource Arn: "
    for bad, message in {
        arn(region="ap-south-9"): invalid + arn(region="ap-south-9"),
        arn(partition="aws-cn"): invalid + arn(partition="aws-cn"),
        arn(account="999999999999"): "This action is only supported by accounts that match the "
        "resource owner\u2019s account.",
        f"{table}/backup/0170": f"{INVALID}Provided Arn is not a DynamoDB resource arn: "
        f"{table}/backup/0170",
    }.items():
        refuse(connection, operation, {"ResourceArn": bad, **policy}, message)
    upper = table.replace("Policies", "POLICIES")
    message = "Requested resource not found: Table: POLICIES not found"
    request = {"ResourceArn": upper, **policy}
    refuse(connection, operation, request, message, "ResourceNotFoundException")


def test_a_stream_has_a_policy_of_its_own(connection):
    create(connection, "Slots", "pk", StreamSpecification=STREAM)
    shown = accept(connection, "DescribeTable", {"TableName": "Slots"})["Table"]
    table, stream = shown["TableArn"], shown["LatestStreamArn"]
    put(connection, stream, document(statement(stream, Action="dynamodb:GetRecords")))
    start = "Resource-based policy not found for the provided ResourceArn: "
    refuse(
        connection,
        "GetResourcePolicy",
        {"ResourceArn": table},
        start + table,
        "PolicyNotFoundException",
    )
    put(connection, table, document(statement(table)))
    accept(connection, "DeleteResourcePolicy", {"ResourceArn": stream})
    refuse(
        connection,
        "GetResourcePolicy",
        {"ResourceArn": stream},
        start + stream,
        "PolicyNotFoundException",
    )
    assert get(connection, table)["Policy"] == canonical(table)


def test_deletions_and_revisions(connection):
    create(connection, "Revised", "pk")
    arn = accept(connection, "DescribeTable", {"TableName": "Revised"})["Table"]["TableArn"]
    request = {"ResourceArn": arn}
    for _ in range(2):
        assert accept(connection, "DeleteResourcePolicy", request) == {}
    message = (
        "Resource-based policy not found for the provided ResourceArn: Requested update for policy "
        "with revision id 123, but table Revised has no associated policy."
    )
    policy = {"Policy": document(statement(arn))}
    for operation, body in (("DeleteResourcePolicy", {}), ("PutResourcePolicy", policy)):
        body = {**request, **body, "ExpectedRevisionId": "123"}
        refuse(connection, operation, body, message, "PolicyNotFoundException")
    revision = put(connection, arn, policy["Policy"])
    assert len(revision) == 13
    expected = {**request, "ExpectedRevisionId": revision}
    assert accept(connection, "DeleteResourcePolicy", expected) == {"RevisionId": revision}
    deletion = accept(connection, "DeleteResourcePolicy", request)["RevisionId"]
    assert deletion > revision
    refuse(
        connection,
        "DeleteResourcePolicy",
        expected,
        message.replace("123", revision),
        "PolicyNotFoundException",
    )
    assert put(connection, arn, policy["Policy"]) > deletion
    empty = (
        "1 validation error detected: Value '' at 'expectedRevisionId' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1"
    )
    refuse(connection, "DeleteResourcePolicy", {**request, "ExpectedRevisionId": ""}, empty)
