"""`--auth`: who is let in, what is told to those who are not, and what the log says of it."""

import gzip
import json
import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.request

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions
import pytest
from stator_process import Keys, StatorProcess, binary

REGION = "us-east-1"
FOLLOW_S = 1.2  # A server follows the file of keys within a second.
EVERYTHING = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
INVALID = "The security token included in the request is invalid."
MISMATCH = (
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided. Check your AWS "
    "Secret Access Key and signing method. Consult the service documentation for details.",
)
TABLE = {
    "TableName": "Table",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}


@pytest.fixture(scope="module", name="keys")
def fixture_keys(tmp_path_factory):
    return Keys(tmp_path_factory.mktemp("auth"))


@pytest.fixture(scope="module", name="admin")
def fixture_admin(keys):
    return keys.create("admin", EVERYTHING)


@pytest.fixture(scope="module", name="server")
def fixture_server(keys, admin):
    with StatorProcess("--auth", *keys.flags) as server:
        client(server, *admin).create_table(**TABLE)
        yield server
        server.stop()


def client(server, key, secret, token=None, region=REGION):
    return boto3.client(
        "dynamodb",
        endpoint_url=server.url,
        region_name=region,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        aws_session_token=token,
        config=botocore.config.Config(retries={"max_attempts": 0}),
    )


def refusal(call, **arguments):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call(**arguments)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def send(server, key, secret, *, change=None, operation="ListTables", body=b"{}", sign=()):
    """One request, signed and then changed. (status, type, message) of its answer."""
    request = botocore.awsrequest.AWSRequest(
        method="POST",
        url=server.url + "/",
        data=body,
        headers={
            "Host": f"{server.host}:{server.port}",
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            **dict(sign),
        },
    )
    credentials = botocore.credentials.Credentials(key, secret)
    botocore.auth.SigV4Auth(credentials, "dynamodb", REGION).add_auth(request)
    prepared = urllib.request.Request(request.url, data=body, headers=dict(request.headers))
    if change:
        change(prepared)
    try:
        with urllib.request.urlopen(prepared, timeout=30) as answer:
            return answer.status, None, None
    except urllib.error.HTTPError as error:
        told = json.loads(error.read())
        return error.code, told["__type"].split("#")[1], told.get("message", told.get("Message"))


# --- Who is let in ---


def test_a_key_with_a_policy_works(server, admin):
    dynamodb = client(server, *admin)
    dynamodb.put_item(TableName="Table", Item={"pk": {"S": "a"}, "n": {"N": "1"}})
    got = dynamodb.get_item(TableName="Table", Key={"pk": {"S": "a"}})
    assert got["Item"] == {"pk": {"S": "a"}, "n": {"N": "1"}}


def test_unknown_and_disabled_keys_are_told_the_same(server, keys, admin):
    key, secret = keys.create("eve", EVERYTHING)
    time.sleep(FOLLOW_S)
    client(server, key, secret).list_tables()
    same = ("UnrecognizedClientException", INVALID)
    assert refusal(client(server, "AKIA" + "A" * 16, secret).list_tables) == same
    assert refusal(client(server, "x", secret).list_tables) == same
    assert refusal(client(server, key, "x" * 40).list_tables) == MISMATCH
    assert refusal(client(server, key, secret, token="made-up").list_tables) == same
    keys.command("key", "disable", key)
    time.sleep(FOLLOW_S)
    assert refusal(client(server, key, secret).list_tables) == same
    keys.command("key", "enable", key)
    time.sleep(FOLLOW_S)
    client(server, key, secret).list_tables()
    keys.command("key", "delete", key)
    time.sleep(FOLLOW_S)
    assert refusal(client(server, key, secret).list_tables) == same
    client(server, *admin).list_tables()


def test_a_temporary_key_needs_its_token_and_ends(server, keys):
    parent, _ = keys.create("temp", EVERYTHING)
    session = keys.session(parent, 3600)
    short = keys.session(parent, 1)
    time.sleep(FOLLOW_S)
    client(server, *session).list_tables()
    same = ("UnrecognizedClientException", INVALID)
    assert refusal(client(server, *session[:2]).list_tables) == same
    assert refusal(client(server, *session[:2], token=short[2]).list_tables) == same
    assert refusal(client(server, *short).list_tables) == (
        "ExpiredTokenException",
        "The security token included in the request is expired",
    )
    keys.command("key", "disable", parent)
    time.sleep(FOLLOW_S)
    assert refusal(client(server, *session).list_tables) == same


# --- Each rule of the signature ---


def test_a_changed_request_is_refused(server, admin):
    def change_body(request):
        request.data = b'{"Limit":1}'

    def change_target(request):
        request.add_header("X-Amz-Target", "DynamoDB_20120810.DescribeLimits")

    def change_host(request):
        request.add_header("Host", "localhost")

    for change in (change_body, change_target, change_host):
        assert send(server, *admin, change=change)[1:] == MISMATCH


def test_every_amazon_header_must_be_signed(server, admin):
    def add(request):
        request.add_header("X-Amz-Extra", "1")

    def drop(request):
        text = request.get_header("Authorization").replace(";x-amz-target", "")
        request.add_header("Authorization", text)

    for change, header in ((add, "x-amz-extra"), (drop, "x-amz-target")):
        _, kind, message = send(server, *admin, change=change)
        assert kind == "InvalidSignatureException"
        assert message.lower() == (
            "there were headers present in the request which were not signed: " + header
        )


def test_payloads_must_be_hashed(server, admin):
    for claimed in ("UNSIGNED-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "0" * 64):
        answer = send(server, *admin, sign={"X-Amz-Content-SHA256": claimed}.items())
        assert answer[1:] == MISMATCH


def test_a_compressed_body_is_signed_as_it_travels(server, admin):
    packed = gzip.compress(b"{}")
    encoding = {"Content-Encoding": "gzip"}.items()

    def unpack(request):
        request.data = b"{}"
        request.remove_header("Content-encoding")

    assert send(server, *admin, body=packed, sign=encoding)[0] == 200
    assert send(server, *admin, body=packed, sign=encoding, change=unpack)[1:] == MISMATCH


def test_streams_are_signed_for_the_same_service(server, admin):
    streams = boto3.client(
        "dynamodbstreams",
        endpoint_url=server.url,
        region_name=REGION,
        aws_access_key_id=admin[0],
        aws_secret_access_key=admin[1],
    )
    assert streams.list_streams()["Streams"] == []


def test_credentials_come_in_one_header(server, admin):
    def remove(request):
        request.remove_header("Authorization")

    def query(request):
        request.full_url += "?X-Amz-Credential=x"

    assert send(server, *admin, change=remove)[1:] == (
        "MissingAuthenticationTokenException",
        "Request is missing Authentication Token",
    )
    assert send(server, *admin, change=query)[1:] == MISMATCH


def test_an_unknown_operation_is_told_before_who_asks(server):
    answer = send(server, "AKIA" + "A" * 16, "x", operation="Nonsense")
    assert answer[:2] == (400, "UnknownOperationException")


# --- What they may do ---


def test_a_policy_limits_a_key_to_its_items(server, keys, admin):
    own = {
        "Effect": "Allow",
        "Action": ["dynamodb:*Item", "dynamodb:Query"],
        "Resource": "arn:aws:dynamodb:*:*:table/Table",
        "Condition": {
            "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]},
            "IpAddress": {"aws:SourceIp": "127.0.0.0/8"},
        },
    }
    key, secret = keys.create("bob", own)
    time.sleep(FOLLOW_S)
    bob = client(server, key, secret)
    bob.put_item(TableName="Table", Item={"pk": {"S": "bob"}})
    denied = refusal(bob.get_item, TableName="Table", Key={"pk": {"S": "alice"}})
    assert denied == (
        "AccessDeniedException",
        "User: arn:aws:iam::000000000000:user/bob is not authorized to perform: dynamodb:GetItem "
        "on resource: arn:aws:dynamodb:us-east-1:000000000000:table/Table because no "
        "identity-based policy allows the dynamodb:GetItem action",
    )
    mixed = [{"pk": {"S": "bob"}}, {"pk": {"S": "alice"}}]
    batch = refusal(bob.batch_get_item, RequestItems={"Table": {"Keys": mixed}})
    assert batch[0] == "AccessDeniedException"
    assert refusal(bob.scan, TableName="Table")[0] == "AccessDeniedException"
    assert refusal(bob.delete_table, TableName="Table")[0] == "AccessDeniedException"
    keys.command("policy", "delete", key, "policy")
    time.sleep(FOLLOW_S)
    gone = refusal(bob.get_item, TableName="Table", Key={"pk": {"S": "bob"}})
    assert gone[0] == "AccessDeniedException"


def test_a_policy_sees_how_a_request_came(server, keys):
    direct = {
        **EVERYTHING,
        "Condition": {
            "Bool": {"aws:ViaAWSService": "false", "aws:PrincipalIsAWSService": "false"},
            "StringEquals": {"aws:ResourceAccount": "000000000000", "aws:Referer": "here"},
            "Null": {"aws:SourceVpc": "true", "aws:PrincipalOrgID": "true"},
        },
    }
    no_sessions = {
        "Effect": "Deny",
        "Action": "*",
        "Resource": "*",
        "Condition": {"DateGreaterThan": {"aws:TokenIssueTime": "2020-01-01T00:00:00Z"}},
    }
    key, secret = keys.create("direct", direct, no_sessions)
    session = keys.session(key, 3600)
    time.sleep(FOLLOW_S)
    referer = {"Referer": "here"}.items()
    assert send(server, key, secret, sign=referer)[0] == 200
    assert send(server, key, secret)[1] == "AccessDeniedException"
    code, message = refusal(client(server, *session).list_tables)
    assert code == "AccessDeniedException"
    assert message.endswith("with an explicit deny in an identity-based policy")


def count_up(dynamodb, key, token):
    """n of the item goes up by one, unless the request was carried out before."""
    update = {
        "TableName": "Table",
        "Key": {"pk": {"S": key}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    dynamodb.transact_write_items(TransactItems=[{"Update": update}], ClientRequestToken=token)


def test_a_token_is_its_users_own_and_outlives_the_users_key(server, keys, admin):
    alice, bob = keys.create("alice", EVERYTHING), keys.create("bob", EVERYTHING)
    alice_later = keys.create("alice", EVERYTHING)
    session = keys.session(alice[0], 3600)
    time.sleep(FOLLOW_S)
    for user in (alice, bob, alice_later, session, alice):
        count_up(client(server, *user), "counted", "token")
    count_up(client(server, *admin), "other", "token")  # Another's token is no obstacle.
    got = client(server, *admin).get_item(TableName="Table", Key={"pk": {"S": "counted"}})
    assert got["Item"]["n"] == {"N": "2"}


def test_the_log_names_changes_and_refusals_and_no_items(server, keys, admin):
    key, secret = keys.create("mallory")
    time.sleep(FOLLOW_S)
    mallory = client(server, key, secret)
    refusal(mallory.put_item, TableName="Table", Item={"pk": {"S": "private"}})
    refusal(client(server, key, "wrong").list_tables)
    client(server, *admin).tag_resource(
        ResourceArn="arn:aws:dynamodb:us-east-1:000000000000:table/Table",
        Tags=[{"Key": "team", "Value": "blue"}],
    )
    table = "arn:aws:dynamodb:us-east-1:000000000000:table/Table"
    log = server.wait_for_log('operation="TagResource"')
    user = "arn:aws:iam::000000000000:user/"
    assert (
        f'warn audit: event="denied" user="{user}mallory" key="{key}" operation="PutItem" '
        f'resource="{table}" result="AccessDeniedException"' in log
    )
    assert (
        f'warn audit: event="refused" key="{key}" operation="ListTables" address="127.0.0.1" '
        'result="InvalidSignatureException"' in log
    )
    assert (
        f'info audit: event="change" user="{user}admin" key="{admin[0]}" operation="TagResource" '
        f'resource="{table}" result="ok"' in log
    )
    assert "private" not in log
    assert secret not in log


def test_requests_without_form_do_not_use_up_the_lines_about_changes(server, keys, admin):
    """600 of them: more lines than one burst has. Without a policy they could not change anything."""
    key, secret = keys.create("flood")
    time.sleep(FOLLOW_S)
    flood = client(server, key, secret)
    for _ in range(600):
        code, _ = refusal(flood.create_table, **{**TABLE, "TableName": "not a name"})
        assert code == "ValidationException"
    for number in range(5):
        client(server, *admin).tag_resource(
            ResourceArn="arn:aws:dynamodb:us-east-1:000000000000:table/Table",
            Tags=[{"Key": f"after-the-flood-{number}", "Value": "x"}],
        )
    user = "arn:aws:iam::000000000000:user/flood"
    server.wait_for_log('event="change"', 5)
    assert user not in server.log()


def test_a_stranger_cannot_forge_a_field_of_the_log(server):
    forged = 'mallory" user="admin" result="ok\\'
    assert send(server, forged, "x" * 40)[1] == "UnrecognizedClientException"
    shown = forged.replace("\\", "\\\\").replace('"', '\\"')
    server.wait_for_log(
        f'warn audit: event="refused" key="{shown}" operation="ListTables" address="127.0.0.1" '
        'result="UnrecognizedClientException"'
    )


# --- The commands ---


def trigger(server, key=None, secret=None, token=None, region=None):
    """`stator trigger list`, with these credentials in its environment."""
    variables = {
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_SESSION_TOKEN": token,
        "AWS_REGION": region,
    }
    return subprocess.run(
        [binary(), "trigger", "list", "--endpoint", server.url],
        env={name: value for name, value in variables.items() if value},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_commands_sign_with_the_environments_credentials(server, keys, admin):
    session = keys.session(admin[0], 3600)
    poor = keys.create("poor-commander")
    time.sleep(FOLLOW_S)
    for credentials in (admin, session):
        result = trigger(server, *credentials)
        assert (result.returncode, result.stderr) == (0, "")
    for arguments, said in (
        ((), INVALID),
        ((), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        (session[:2], INVALID),
        ((*admin, None, "eu-west-1"), "Credential should be scoped to a valid region"),
        (poor, "is not authorized to perform: dynamodb:ListTriggers on resource: *"),
    ):
        result = trigger(server, *arguments)
        assert result.returncode == 1
        assert said in result.stderr
    for arguments, said in (
        (admin[:1], "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: one is set alone"),
        (("a b", "c"), "AWS_ACCESS_KEY_ID: has a character that no such value has"),
        (("a", "c" * 129), "AWS_SECRET_ACCESS_KEY: is too long"),
    ):
        result = trigger(server, *arguments)
        assert (result.returncode, result.stderr) == (2, f"stator: {said}\n")


def test_policies_are_put_got_and_refused(keys):
    key, _ = keys.create("commands")
    text = json.dumps({"Statement": EVERYTHING})
    keys.command("policy", "put", key, "all", "-", text=text)
    assert keys.command("policy", "get", key, "all") == text
    keys.command("policy", "put", key, "again", "-", text=text)
    assert keys.command("policy", "list", key).splitlines() == ["all", "again"]
    keys.command("policy", "delete", key, "again")
    assert keys.command("policy", "list", key) == "all\n"
    line = next(line for line in keys.command("key", "list").splitlines() if key in line)
    assert line.startswith(f"{key} commands active ") and line.endswith(" all")
    for words, said in (
        (("policy", "put", key, "bad", "-"), "Unknown field Statment"),
        (("policy", "list", "AKIAX"), "there is no access key AKIAX"),
        (("policy", "get", key, "none"), f"the access key {key} has no policy none"),
        (("key", "delete", "AKIAX"), "there is no access key AKIAX"),
        (("key", "session", key, "x"), "'x' is no number of seconds"),
    ):
        result = keys.run(*words, text='{"Statment":[]}')
        assert (result.returncode, result.stderr) == (1, f"stator: {said}\n")
    for words, said in (
        (("key",), "key: expected create, session, list, disable, enable or delete"),
        (("key", "create"), "key create: expected USER"),
        (("key", "list", "x"), "key list: expected no further words"),
        (("policy", "put", key), "policy put: expected ID NAME FILE"),
    ):
        result = keys.run(*words)
        assert (result.returncode, result.stderr) == (
            2,
            f"stator: {said} (see `stator {words[0]} --help`)\n",
        )


@pytest.mark.parametrize(
    "words",
    [
        ("serve", "--auth", "--port", "0"),
        ("key", "create", "alice"),
        ("key", "list"),
        ("policy", "get", "AKIA", "policy"),
    ],
)
def test_a_master_key_that_others_may_read_is_refused(tmp_path, words):
    keys = Keys(tmp_path)
    master = pathlib.Path(keys.flags[3])
    master.chmod(0o644)
    result = keys.run(*words)
    assert (result.returncode, result.stderr) == (
        1,
        f"stator: {master}: users other than its owner can open it; run: chmod 600 {master}\n",
    )
    subprocess.run(["chmod", "600", str(master)], check=True)
    keys.command("key", "create", "alice")


@pytest.mark.parametrize("name", ["KEYS.new", "KEYS.lock"])
def test_a_link_beside_the_keys_is_not_followed(tmp_path, name):
    """Root may run the command in a directory that belongs to a service."""
    keys = Keys(tmp_path)
    keys.command("key", "create", "alice")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    link = pathlib.Path(keys.flags[1]) / name
    link.unlink(missing_ok=True)
    link.symlink_to(victim)
    keys.run("key", "create", "bob")
    assert victim.read_text() == "precious"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to another user")
def test_keys_that_root_makes_belong_to_the_owner_of_the_data_directory(tmp_path):
    keys = Keys(tmp_path)
    keys.command("key", "create", "alice")
    data = pathlib.Path(keys.flags[1])
    os.chown(data, 12345, 12345)
    keys.command("key", "create", "bob")
    assert [(data / name).stat().st_uid for name in ("KEYS", "KEYS.lock")] == [12345, 12345]


def test_another_master_key_opens_nothing(keys):
    other = Keys(keys.folder)  # The same data directory, and a new master key.
    result = other.run("key", "list")
    assert (result.returncode, result.stderr) == (
        1,
        f"stator: {other.flags[1]}/KEYS: sealed under another master key, or damaged\n",
    )


def test_an_ipv4_client_of_an_ipv6_socket_is_known_by_its_ipv4_address(tmp_path):
    keys = Keys(tmp_path)
    from_here = {"IpAddress": {"aws:SourceIp": "127.0.0.0/8"}}
    denied = {"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": from_here}
    key, secret = keys.create("dave", EVERYTHING, denied)
    with StatorProcess("--auth", "--bind", "::", "--insecure", *keys.flags) as server:
        server.url = f"http://127.0.0.1:{server.port}"
        code, _ = refusal(client(server, key, secret).list_tables)
        assert code == "AccessDeniedException"
        server.stop()
