"""boto3 and the AWS CLI against `--auth`: let in with a right key, and told the service's error when
the key, its secret, its token, the region, the clock or the policy is wrong.

(test/api/auth.test.js is the same for the JavaScript SDK, which corrects a wrong clock by itself.)
"""

import contextlib
import datetime
import json
import os
import re
import subprocess
import sys
import time
import unittest.mock

import boto3
import botocore.config
import botocore.exceptions
import pytest
from stator_process import Keys, StatorProcess

REGION = "us-east-1"
FOLLOW_S = 1.2  # A server follows the file of keys within a second.
EVERYTHING = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
READ_ONLY = {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}
UNRECOGNIZED = (
    "UnrecognizedClientException",
    "The security token included in the request is invalid.",
)
MISMATCH = (
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided. Check your AWS "
    "Secret Access Key and signing method. Consult the service documentation for details.",
)

# Read by the AWS CLI's Python before anything else: a clock that is wrong by $CLOCK_OFFSET_S.
SITE_CUSTOMIZE = """
import datetime, os
offset = datetime.timedelta(seconds=float(os.environ["CLOCK_OFFSET_S"]))
class Shifted(datetime.datetime):
    @classmethod
    def utcnow(cls):
        return super().utcnow() + offset
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + offset
datetime.datetime = Shifted
"""


@pytest.fixture(scope="module", name="place")
def fixture_place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    (folder / "sitecustomize.py").write_text(SITE_CUSTOMIZE)
    return folder


@pytest.fixture(scope="module", name="keys")
def fixture_keys(place):
    return Keys(place)


@pytest.fixture(scope="module", name="credentials")
def fixture_credentials(keys):
    """Credentials of every sort: (id, secret) or (id, secret, token)."""
    right = keys.create("right", EVERYTHING)
    disabled = keys.create("disabled", EVERYTHING)
    keys.command("key", "disable", disabled[0])
    session = keys.session(right[0], 3600)
    return {
        "right": right,
        "session": session,
        "unknown": ("AKIA" + "A" * 16, right[1]),
        "disabled": disabled,
        "wrong secret": (right[0], "x" * 40),
        "wrong secret of a session": (session[0], "x" * 40, session[2]),
        "session without token": session[:2],
        "session with another token": (*session[:2], keys.session(right[0], 3600)[2]),
        "read only": keys.create("reader", READ_ONLY),
        "short": keys.session(right[0], 1),
    }


@pytest.fixture(scope="module", name="server")
def fixture_server(keys, credentials):
    with StatorProcess("--auth", *keys.flags) as server:
        assert len(credentials) == 10  # There before the server.
        yield server
        server.stop()


def shifted(offset_s):
    """The module datetime, for whom the clock is wrong."""
    offset = datetime.timedelta(seconds=offset_s)

    class Shifted(datetime.datetime):
        @classmethod
        def utcnow(cls):
            return datetime.datetime.utcnow() + offset

        @classmethod
        def now(cls, tz=None):
            return datetime.datetime.now(tz) + offset

    return type("datetime", (), {"datetime": Shifted, "timezone": datetime.timezone})


def by_boto3(url, key, secret, token, region, clock_offset_s):
    client = boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        aws_session_token=token,
        config=botocore.config.Config(retries={"max_attempts": 0}),
    )
    with contextlib.ExitStack() as stack:
        # Which of the two signs depends on what is installed.
        for name in {"botocore.auth", "botocore.crt.auth"} & sys.modules.keys():
            patch = unittest.mock.patch.object(sys.modules[name], "datetime", shifted(clock_offset_s))
            stack.enter_context(patch)
        try:
            return {"TableNames": client.list_tables()["TableNames"]}
        except botocore.exceptions.ClientError as error:
            return error.response["Error"]["Code"], error.response["Error"]["Message"].strip()


def by_aws_cli(url, place, key, secret, token, region, clock_offset_s):
    result = subprocess.run(
        ["/usr/bin/aws", "dynamodb", "list-tables", "--endpoint-url", url],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "PYTHONPATH": str(place),
            "CLOCK_OFFSET_S": str(clock_offset_s),
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
            **({"AWS_SESSION_TOKEN": token} if token else {}),
            "AWS_DEFAULT_REGION": region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_MAX_ATTEMPTS": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if result.returncode == 0:
        return json.loads(result.stdout)
    told = re.search(r"An error occurred \((\w+)\) .* operation(?: \(.*?\))?: (.*)", result.stderr)
    assert told, result.stderr
    return told[1], told[2].strip()


@pytest.fixture(name="list_tables", params=["boto3", "aws-cli"])
def fixture_list_tables(request, server, place, credentials):
    """Lists the tables with one of the two clients: the answer, or the error's code and text."""

    def run(which, region=REGION, clock_offset_s=0):
        key, secret, token = (*credentials[which], None)[:3]
        if request.param == "boto3":
            return by_boto3(server.url, key, secret, token, region, clock_offset_s)
        return by_aws_cli(server.url, place, key, secret, token, region, clock_offset_s)

    return run


@pytest.mark.parametrize("which", ["right", "session"])
def test_a_right_key_is_let_in(list_tables, which):
    assert list_tables(which) == {"TableNames": []}


@pytest.mark.parametrize(
    "which", ["unknown", "disabled", "session without token", "session with another token"]
)
def test_unknown_and_disabled_keys_are_told_the_same(list_tables, which):
    assert list_tables(which) == UNRECOGNIZED


@pytest.mark.parametrize("which", ["wrong secret", "wrong secret of a session"])
def test_a_wrong_secret_is_a_wrong_signature(list_tables, which):
    assert list_tables(which) == MISMATCH


def test_a_session_that_is_over_is_told_so(list_tables):
    time.sleep(FOLLOW_S)
    assert list_tables("short") == (
        "ExpiredTokenException",
        "The security token included in the request is expired",
    )


def test_a_wrong_region_is_refused(list_tables):
    assert list_tables("right", region="eu-west-1") == (
        "InvalidSignatureException",
        "Credential should be scoped to a valid region, not 'eu-west-1'.",
    )


@pytest.mark.parametrize("minutes", [-14, 14])
def test_a_clock_may_be_off_by_a_quarter_of_an_hour(list_tables, minutes):
    assert list_tables("right", clock_offset_s=minutes * 60) == {"TableNames": []}


def test_a_wrong_clock_is_refused(list_tables):
    for minutes, text in (
        (-16, r"Signature expired: T is now earlier than T \(T - 15 min\.\)"),
        (16, r"Signature not yet current: T is still later than T \(T \+ 15 min\.\)"),
    ):
        code, message = list_tables("right", clock_offset_s=minutes * 60)
        assert code == "InvalidSignatureException"
        assert re.fullmatch(text, re.sub(r"\d{8}T\d{6}Z", "T", message))


def test_what_no_policy_allows_is_denied(list_tables):
    assert list_tables("read only") == (
        "AccessDeniedException",
        "User: arn:aws:iam::000000000000:user/reader is not authorized to perform: "
        "dynamodb:ListTables on resource: * because no identity-based policy allows the "
        "dynamodb:ListTables action",
    )
