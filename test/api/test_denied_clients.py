"""Denied means denied, for boto3 and `stator trigger`: no item is shown by a failed condition, and no
trigger leads out of a table that is none of the caller's business.

(test/api/denied.test.js is the same for the JavaScript SDK, and what callers without rights learn.)
"""

import json
import os
import subprocess
import time

import boto3
import botocore.config
import botocore.exceptions
import pytest
from function_target import FunctionTarget
from stator_process import Keys, StatorProcess, binary

REGION = "us-east-1"
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
DEADLINE_S = 60
ALLOW = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
DENY = {"Effect": "Deny", "Action": "dynamodb:*"}
ITEM = {"pk": {"S": "a"}, "nick": {"S": "known"}, "pay": {"S": "classified"}}
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
NO_TRIGGER = "00000000-0000-4000-8000-000000000000"

USERS = {
    "admin": [ALLOW],
    "silent": [
        {**ALLOW, "Condition": {"StringEqualsIfExists": {"dynamodb:ReturnValues": "NONE"}}}
    ],
    "limited": [
        {
            **ALLOW,
            "Condition": {
                "ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "nick"]},
                "StringEqualsIfExists": {
                    "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
                    "dynamodb:ReturnValues": ["NONE", "UPDATED_NEW"],
                },
            },
        }
    ],
    "kept": [
        ALLOW,
        {
            **DENY,
            "Resource": "*",
            "Condition": {"StringEquals": {"dynamodb:ReturnValues": "ALL_OLD"}},
        },
    ],
    # Whoever may do everything elsewhere, in two ways.
    "outside": [ALLOW, {**DENY, "Resource": [f"{ARN}secret", f"{ARN}secret/*"]}],
    "elsewhere": [{"Effect": "Allow", "Action": "dynamodb:*", "NotResource": f"{ARN}secret*"}],
    # Whom only the resource policies of the table or of its stream stop.
    "stopped": [ALLOW],
    "unread": [ALLOW],
}


@pytest.fixture(scope="module", name="keys")
def fixture_keys(tmp_path_factory):
    return Keys(tmp_path_factory.mktemp("denied"))


@pytest.fixture(scope="module", name="credentials")
def fixture_credentials(keys):
    return {user: keys.create(user, *statements) for user, statements in USERS.items()}


@pytest.fixture(scope="module", name="server")
def fixture_server(keys, credentials):
    with StatorProcess("--auth", *keys.flags) as server:
        admin = client(server, credentials["admin"])
        for name in ("games", "secret"):
            admin.create_table(
                TableName=name,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                StreamSpecification=STREAM,
            )
            admin.get_waiter("table_exists").wait(TableName=name)
            admin.put_item(TableName=name, Item=ITEM)
        stream = admin.describe_table(TableName="secret")["Table"]["LatestStreamArn"]
        deny(server, credentials["admin"], f"{ARN}secret", "stopped")
        deny(server, credentials["admin"], stream, "unread")
        yield server
        server.stop()


def client(server, credentials):
    return boto3.client(
        "dynamodb",
        endpoint_url=server.url,
        region_name=REGION,
        aws_access_key_id=credentials[0],
        aws_secret_access_key=credentials[1],
        config=botocore.config.Config(retries={"max_attempts": 0}),
    )


def send(made, operation, **more):
    """Calls with members that an older boto3 does not know; the raw answer's bytes."""
    answers = []

    def add(params, **_):
        params["body"] = json.dumps({**json.loads(params["body"]), **more}).encode()

    def keep(http_response, **_):
        answers.append(http_response.content)

    made.meta.events.register_last("before-call", add)
    made.meta.events.register("after-call", keep)
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        operation(made)
    return caught.value.response["Error"], answers[0]


def deny(server, admin, arn, user):
    """A resource policy that denies one user everything."""
    statement = {
        **DENY,
        "Resource": "*",
        "Principal": {"AWS": f"arn:aws:iam::000000000000:user/{user}"},
    }
    made = client(server, admin)
    # As a request of another operation: an older boto3 does not know PutResourcePolicy.
    body = {"ResourceArn": arn, "Policy": json.dumps({"Statement": statement})}

    def replace(params, **_):
        params["headers"]["X-Amz-Target"] = "DynamoDB_20120810.PutResourcePolicy"
        params["body"] = json.dumps(body).encode()

    made.meta.events.register_last("before-call", replace)
    made.list_tables()


# --- Failed conditions ---

KEY = {"pk": {"S": "a"}}
FAILING = {"TableName": "games", "ConditionExpression": "attribute_not_exists(pk)"}
REQUESTS = {
    "PutItem": lambda made: made.put_item(**FAILING, Item=KEY),
    "UpdateItem": lambda made: made.update_item(**FAILING, Key=KEY),
    "DeleteItem": lambda made: made.delete_item(**FAILING, Key=KEY),
    "PartiQLUpdate": lambda made: made.execute_statement(
        Statement="UPDATE games SET nick='x' WHERE pk='a' AND nick='wrong'"
    ),
    "PartiQLDelete": lambda made: made.execute_statement(
        Statement="DELETE FROM games WHERE pk='a' AND nick='wrong'"
    ),
}
SHOWN = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


@pytest.mark.parametrize("user", ["silent", "limited", "kept"])
@pytest.mark.parametrize("action", REQUESTS)
def test_a_failed_condition_shows_no_item_to_one_that_may_not_see_it(
    server, credentials, user, action
):
    made = client(server, credentials[user])
    error, answer = send(made, REQUESTS[action], **SHOWN)
    assert error["Code"] == "AccessDeniedException"
    assert f"dynamodb:{action} on resource: {ARN}games " in error["Message"]
    assert b"classified" not in answer


@pytest.mark.parametrize("action", REQUESTS)
def test_a_failed_condition_shows_the_item_to_one_that_may_see_it(server, credentials, action):
    error, answer = send(client(server, credentials["admin"]), REQUESTS[action], **SHOWN)
    assert error["Code"] == "ConditionalCheckFailedException"
    assert b"classified" in answer
    stored = client(server, credentials["admin"]).get_item(TableName="games", Key=KEY)
    assert stored["Item"] == ITEM


# --- Triggers ---

FORBIDDEN = ["outside", "elsewhere", "stopped", "unread"]


def trigger(server, credentials, *words):
    """`stator trigger`, signed."""
    return subprocess.run(
        [binary(), "trigger", *words, "--endpoint", server.url],
        env={
            **os.environ,
            "AWS_ACCESS_KEY_ID": credentials[0],
            "AWS_SECRET_ACCESS_KEY": credentials[1],
            "AWS_REGION": REGION,
        },
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


@pytest.fixture(name="target")
def fixture_target():
    target = FunctionTarget()
    yield target
    target.close()


def test_nothing_leaves_a_table_by_the_trigger_of_one_that_is_denied(server, credentials, target):
    attackers = FunctionTarget()
    try:
        for user in FORBIDDEN:
            refused = trigger(
                server, credentials[user], "add", "--table", "secret", "--url", attackers.url
            )
            assert refused.returncode == 1
            assert "is not authorized to perform: dynamodb:" in refused.stderr
            assert f"{ARN}secret" in refused.stderr
        added = trigger(
            server, credentials["admin"], "add", "--table", "secret", "--url", target.url
        )
        assert added.returncode == 0, added.stderr
        # What the administrator's trigger has seen, another one would have seen as well.
        deadline = time.monotonic() + DEADLINE_S
        while not target.delivered():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert attackers.snapshot() == []
        removed = trigger(server, credentials["admin"], "remove", added.stdout.strip())
        assert removed.returncode == 0, removed.stderr
    finally:
        attackers.close()


def test_a_trigger_is_neither_shown_to_nor_removed_by_one_that_is_denied(
    server, credentials, target
):
    url = target.url + "?token=hidden"
    added = trigger(server, credentials["admin"], "add", "--table", "secret", "--url", url)
    assert added.returncode == 0, added.stderr
    uuid = added.stdout.strip()
    for user in ("outside", "elsewhere", "stopped"):
        shown = trigger(server, credentials[user], "list")
        assert uuid not in shown.stdout + shown.stderr
        removed = trigger(server, credentials[user], "remove", uuid)
        absent = trigger(server, credentials[user], "remove", NO_TRIGGER)
        assert removed.returncode == 1
        assert removed.stderr.replace(uuid, NO_TRIGGER) == absent.stderr
    shown = trigger(server, credentials["admin"], "list")
    assert uuid in shown.stdout
    assert "hidden" not in shown.stdout
    assert trigger(server, credentials["admin"], "remove", uuid).returncode == 0
