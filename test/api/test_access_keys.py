"""Access keys and their policies over HTTP, signed as boto3 signs, beside `stator key`; and
CheckAccess, which tells what a key may do before it tries."""

import concurrent.futures
import json
import urllib.error
import urllib.request

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions
import pytest
from stator_process import Keys, StatorProcess, operation_prefix

REGION = "us-east-1"
EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
OF_DYNAMODB = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
MAY_READ = {"Effect": "Allow", "Action": ["dynamodb:GetItem", "dynamodb:ListTables"]}
MAY_READ["Resource"] = "*"


class Refused(Exception):
    """(type, message)"""


def call(server, credentials, operation, **body):
    """The answer to one signed request of our own operations."""
    data = json.dumps(body).encode()
    headers = {
        "Host": f"{server.host}:{server.port}",
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": f"{operation_prefix(operation)}.{operation}",
    }
    request = botocore.awsrequest.AWSRequest("POST", server.url + "/", headers, data)
    signer = botocore.credentials.Credentials(*credentials)
    botocore.auth.SigV4Auth(signer, "dynamodb", REGION).add_auth(request)
    prepared = urllib.request.Request(request.url, data=data, headers=dict(request.headers))
    try:
        with urllib.request.urlopen(prepared, timeout=30) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        told = json.loads(error.read())
        name = told["__type"].split("#")[1]
        raise Refused(name, told.get("message", told.get("Message"))) from None


def client(server, credentials):
    return boto3.client(
        "dynamodb",
        endpoint_url=server.url,
        region_name=REGION,
        aws_access_key_id=credentials[0],
        aws_secret_access_key=credentials[1],
        aws_session_token=credentials[2] if len(credentials) > 2 else None,
        config=botocore.config.Config(retries={"total_max_attempts": 1}),
    )


@pytest.fixture(scope="module", name="keys")
def fixture_keys(tmp_path_factory):
    return Keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module", name="admin")
def fixture_admin(keys):
    return keys.create("admin", EVERYTHING)


@pytest.fixture(scope="module", name="server")
def fixture_server(keys, admin):  # pylint: disable=unused-argument
    with StatorProcess("--auth", *keys.flags) as server:
        yield server


def create(server, admin, user, *statements):
    made = call(server, admin, "CreateKey", UserName=user)["Key"]
    if statements:
        put_policy(server, admin, made["AccessKeyId"], *statements)
    return made["AccessKeyId"], made["SecretAccessKey"]


def put_policy(server, admin, key, *statements):
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    call(
        server, admin, "PutKeyPolicy", AccessKeyId=key, PolicyName="policy", PolicyDocument=document
    )


def refusal(function, *arguments, **more):
    with pytest.raises((Refused, botocore.exceptions.ClientError)) as caught:
        function(*arguments, **more)
    error = caught.value
    return error.args[0] if isinstance(error, Refused) else error.response["Error"]["Code"]


def test_a_change_is_in_force_with_its_answer(server, admin):
    """No pause anywhere: the next request already meets it."""
    bob = create(server, admin, "bob")
    assert refusal(client(server, bob).list_tables) == "AccessDeniedException"
    put_policy(server, admin, bob[0], MAY_READ)
    assert client(server, bob).list_tables()["TableNames"] == []
    call(server, admin, "UpdateKey", AccessKeyId=bob[0], Status="Inactive")
    assert refusal(client(server, bob).list_tables) == "UnrecognizedClientException"
    call(server, admin, "UpdateKey", AccessKeyId=bob[0], Status="Active")
    made = call(server, admin, "CreateSession", AccessKeyId=bob[0], DurationSeconds=60)["Key"]
    session = made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"]
    assert client(server, session).list_tables()["TableNames"] == []
    call(server, admin, "DeleteKeyPolicy", AccessKeyId=bob[0], PolicyName="policy")
    assert refusal(client(server, session).list_tables) == "AccessDeniedException"
    call(server, admin, "DeleteKey", AccessKeyId=bob[0])
    assert refusal(client(server, bob).list_tables) == "UnrecognizedClientException"
    assert refusal(client(server, session).list_tables) == "UnrecognizedClientException"


def test_rights_on_all_of_dynamodb_are_none_on_keys(server, admin):
    bob = create(server, admin, "bob", OF_DYNAMODB)
    for operation, body in {
        "CreateKey": {"UserName": "bob"},
        "CreateSession": {"AccessKeyId": bob[0]},
        "ListKeys": {},
        "UpdateKey": {"AccessKeyId": admin[0], "Status": "Inactive"},
        "DeleteKey": {"AccessKeyId": admin[0]},
        "PutKeyPolicy": {"AccessKeyId": bob[0], "PolicyName": "p", "PolicyDocument": "{}"},
        "GetKeyPolicy": {"AccessKeyId": admin[0], "PolicyName": "policy"},
        "ListKeyPolicies": {"AccessKeyId": admin[0]},
        "DeleteKeyPolicy": {"AccessKeyId": admin[0], "PolicyName": "policy"},
    }.items():
        with pytest.raises(Refused) as caught:
            call(server, bob, operation, **body)
        name, message = caught.value.args
        assert name == "AccessDeniedException"
        assert f"not authorized to perform: stator:{operation} on resource: *" in message


def test_the_command_and_the_server_keep_each_others_changes(server, admin, keys):
    before = len(call(server, admin, "ListKeys", MaxResults=1000)["Keys"])
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        made = [pool.submit(create, server, admin, "http", MAY_READ) for _ in range(15)]
        made += [pool.submit(keys.create, "command") for _ in range(15)]
        made = [job.result() for job in made]
    stored = keys.command("key", "list").splitlines()
    assert len(stored) == before + 30
    for key, _ in made:
        assert any(line.startswith(key) for line in stored)
    assert all(line.endswith(" policy") for line in stored if " http " in line)


def test_the_log_tells_who_changed_which_key_and_no_secret(server, admin):
    key, secret = create(server, admin, "carol", MAY_READ)
    call(server, admin, "DeleteKey", AccessKeyId=key)
    refusal(call, server, admin, "DeleteKey", AccessKeyId=key)
    log = server.wait_for_log('result="ResourceNotFoundException"')
    user = "arn:aws:iam::000000000000:user/admin"
    for event, operation, result in (
        ("change", "CreateKey", "ok"),
        ("change", "PutKeyPolicy", "ok"),
        ("change", "DeleteKey", "ok"),
        ("failed", "DeleteKey", "ResourceNotFoundException"),
    ):
        assert (
            f'audit: event="{event}" user="{user}" key="{admin[0]}" operation="{operation}" '
            f'resource="arn:aws:iam::000000000000:access-key/{key}" result="{result}"' in log
        )
    assert secret not in log


def test_everybody_may_ask_what_it_may_do_and_few_what_others_may(server, admin):
    own = {
        "Effect": "Allow",
        "Action": "dynamodb:PutItem",
        "Resource": "*",
        "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}},
    }
    bob = create(server, admin, "bob", MAY_READ, own)
    questions = [
        {"Action": "dynamodb:GetItem", "Resource": "Table"},
        {"Action": "dynamodb:DeleteItem", "Resource": "Table"},
        {"Action": "dynamodb:PutItem", "Resource": "Table", "LeadingKeys": ["bob"]},
        {"Action": "dynamodb:PutItem", "Resource": "Table", "LeadingKeys": ["carol"]},
        {"Action": "stator:ListKeys"},
    ]
    answers = call(server, bob, "CheckAccess", Questions=questions)["Answers"]
    assert [answer["Allowed"] for answer in answers] == [True, False, True, False, False]
    assert "no identity-based policy allows the dynamodb:DeleteItem" in answers[1]["Message"]
    asked = {"AccessKeyId": bob[0], "Questions": questions}
    assert call(server, bob, "CheckAccess", **asked)["Answers"] == answers
    assert call(server, admin, "CheckAccess", **asked)["Answers"] == answers
    asked["AccessKeyId"] = admin[0]
    assert refusal(call, server, bob, "CheckAccess", **asked) == "AccessDeniedException"


def test_without_auth_there_are_no_keys():
    with StatorProcess("--in-memory") as server:
        anybody = ("x", "x")
        with pytest.raises(Refused) as caught:
            call(server, anybody, "ListKeys")
        assert caught.value.args == (
            "ValidationException",
            "There are no access keys here, because requests are not authenticated. "
            "Start the server with auth = true",
        )
        answer = call(
            server, anybody, "CheckAccess", Questions=[{"Action": "dynamodb:DeleteTable"}]
        )
        assert answer["Answers"][0]["Allowed"] is True
