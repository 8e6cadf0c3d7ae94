"""CloudWatch, Application Auto Scaling and STS on DynamoDB's endpoint, in their three protocols."""

import http.client
import json
import re
import time
import urllib.parse
import xml.etree.ElementTree

import botocore.exceptions
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from protocol_clients import PROTOCOLS, cbor, client, query_code
from stator_process import Keys, StatorProcess

CLOUDWATCH = "GraniteServiceVersion20100801"
STS_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"
FOLLOW_S = 1.2  # A server follows the file of keys within a second.
FORM = "application/x-www-form-urlencoded; charset=utf-8"


def post(url, body, path="/", **headers):
    """(status, headers, body) of a request without a signature."""
    connection = http.client.HTTPConnection("127.0.0.1", urllib.parse.urlsplit(url).port)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", path, body, {"Authorization": "none", **names})
    answer = connection.getresponse()
    result = answer.status, answer.headers, answer.read()
    connection.close()
    return result


def refusal(call, *arguments, **named):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call(*arguments, **named)
    return caught.value.response


# --- STS ---


def test_without_auth_the_caller_is_the_root_user(server_url):
    answer = client("sts", server_url).get_caller_identity()
    assert answer["Account"] == "000000000000"
    assert answer["UserId"] == "000000000000"
    assert answer["Arn"] == "arn:aws:iam::000000000000:root"


def test_the_query_protocol_answers_in_xml(server_url):
    body = "Version=2011-06-15&Action=GetCallerIdentity"
    status, headers, text = post(server_url, body, Content_Type=FORM)
    assert status == 200
    assert headers["Content-Type"] == "text/xml"
    assert headers["x-amz-crc32"] is None
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == f"{{{STS_NAMESPACE}}}GetCallerIdentityResponse"
    assert [re.sub("{.*}", "", child.tag) for child in root] == [
        "GetCallerIdentityResult",
        "ResponseMetadata",
    ]
    assert [re.sub("{.*}", "", child.tag) for child in root[0]] == ["Arn", "UserId", "Account"]
    assert root[1][0].text == headers["x-amzn-RequestId"]


# --- Operations that are not there ---


def test_unknown_operations_answer_as_their_service_would(server_url):
    error = refusal(client("sts", server_url).get_session_token)
    assert error["Error"] == {
        "Type": "Sender",
        "Code": "InvalidAction",
        "Message": "Could not find operation GetSessionToken for version 2011-06-15",
    }
    assert error["ResponseMetadata"]["HTTPStatusCode"] == 400
    # Terraform's provider asks for it, and goes on.
    error = refusal(client("iam", server_url).get_user)
    assert error["Error"]["Code"] == "AccessDenied"
    assert error["ResponseMetadata"]["HTTPStatusCode"] == 403
    status, headers, body = post(
        server_url,
        b"{}",
        Content_Type="application/x-amz-json-1.1",
        X_Amz_Target="AnyScaleFrontendService.Nope",
    )
    assert (status, headers["Content-Type"]) == (400, "application/x-amz-json-1.1")
    assert body.startswith(b'{"__type":"UnknownOperationException","Message":"')


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_unknown_operations_of_cloudwatch_have_its_code_in_every_protocol(server_url, protocol):
    cloudwatch = client("cloudwatch", server_url, protocol)
    error = refusal(cloudwatch.list_managed_insight_rules, ResourceARN="arn:aws:x")
    assert query_code(error) == "InvalidAction"
    assert "ListManagedInsightRules" in error["Error"]["Message"]
    assert error["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert error["ResponseMetadata"]["RequestId"]


def test_a_query_code_is_told_only_to_clients_that_ask(server_url):
    path = f"/service/{CLOUDWATCH}/operation/Nope"
    plain = {"Content_Type": "application/cbor", "smithy_protocol": "rpc-v2-cbor"}
    status, headers, body = post(server_url, cbor({}), path, **plain)
    assert status == 400
    assert headers["x-amzn-query-error"] is None
    assert headers["smithy-protocol"] == "rpc-v2-cbor"
    assert headers["Content-Type"] == "application/cbor"
    assert b"com.amazon.coral.service#UnknownOperationException" in body
    status, headers, _ = post(server_url, cbor({}), path, x_amzn_query_mode="true", **plain)
    assert headers["x-amzn-query-error"] == "InvalidAction;Sender"


FOREIGN = [
    ("/", "Action=GetCallerIdentity", "text/plain"),
    ("/", "Action=GetCallerIdentity&Version=1999-01-01", FORM),
    ("/", "Version=2011-06-15", FORM),
    ("/", "", FORM),
    ("/", "Action=", FORM),
    ("/service/DynamoDB_20120810/operation/ListTables", "", "application/cbor"),
    (f"/service/{CLOUDWATCH}/ListMetrics", "", "application/cbor"),
    (f"/service/{CLOUDWATCH}", "", "application/cbor"),
    ("/service/Nobody/operation/ListMetrics", "", "application/cbor"),
]


@pytest.mark.parametrize(("path", "body", "kind"), FOREIGN)
def test_what_names_no_service_is_refused_like_any_other_request(server_url, path, body, kind):
    status, _, text = post(server_url, body, path, Content_Type=kind)
    assert (status, text) == (404, b"<UnknownOperationException/>\n")


def test_an_action_without_a_version_is_found_by_its_name(server_url):
    status, _, text = post(server_url, "Action=GetCallerIdentity", Content_Type=FORM)
    assert status == 200
    assert b"<GetCallerIdentityResult>" in text


@pytest.mark.parametrize("size", [65000, 65536, 70000, 300000])
def test_sorted_parameters_have_their_version_far_behind(server_url, size):
    """Go's clients sort their parameters by name."""
    body = json.dumps({"widgets": [], "comment": "x" * size})
    form = (
        f"Action=PutDashboard&DashboardBody={urllib.parse.quote(body)}&DashboardName=long&"
        "Version=2010-08-01"
    )
    status, _, text = post(server_url, form, Content_Type=FORM)
    assert status == 200, text
    assert b"<PutDashboardResult>" in text
    form = f"Dummy={'x' * size}&Action=GetCallerIdentity"
    status, _, text = post(server_url, form, Content_Type=FORM)
    assert status == (200 if size == 65000 else 404)


def test_a_malformed_body_is_refused_in_its_protocol(server_url):
    bad = "Action=GetCallerIdentity&Version=2011-06-15&x=%zz"
    status, _, text = post(server_url, bad, Content_Type=FORM)
    assert status == 400
    root = xml.etree.ElementTree.fromstring(text)
    assert root.find(f"{{{STS_NAMESPACE}}}Error/{{{STS_NAMESPACE}}}Code").text == "MalformedInput"


# --- Signatures ---

ALLOW = {"Effect": "Allow", "Action": "cloudwatch:*", "Resource": "*"}
NOTHING = {"Effect": "Allow", "Action": "cloudwatch:Nothing", "Resource": "*"}


@pytest.fixture(scope="module", name="keys")
def fixture_keys(tmp_path_factory):
    return Keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module", name="alice")
def fixture_alice(keys):
    return keys.create("alice", ALLOW)


@pytest.fixture(scope="module", name="bob")
def fixture_bob(keys):
    return keys.create("bob", NOTHING)


@pytest.fixture(scope="module", name="guarded")
def fixture_guarded(keys, alice, bob):
    """Where a server listens that knows alice and bob."""
    assert alice != bob
    with StatorProcess("--auth", *keys.flags) as server:
        yield server.url
        server.stop()


def test_callers_learn_who_they_are_whatever_policies_say(guarded, alice, bob, keys):
    mine = client("sts", guarded, None, *alice).get_caller_identity()
    others = client("sts", guarded, None, *bob).get_caller_identity()
    assert mine["Arn"] == "arn:aws:iam::000000000000:user/alice"
    assert others["Arn"] == "arn:aws:iam::000000000000:user/bob"
    assert re.fullmatch("AIDA[A-Z2-7]{17}", mine["UserId"])
    assert mine["UserId"] != others["UserId"]
    temporary = keys.session(alice[0], 900)
    time.sleep(FOLLOW_S)
    again = client("sts", guarded, None, *temporary).get_caller_identity()
    assert {name: again[name] for name in ("Arn", "UserId", "Account")} == {
        name: mine[name] for name in ("Arn", "UserId", "Account")
    }


def test_wrong_signatures_have_the_query_protocols_codes(guarded, alice):
    wrong = client("sts", guarded, None, alice[0], "wrong")
    error = refusal(wrong.get_caller_identity)
    assert error["Error"]["Code"] == "SignatureDoesNotMatch"
    assert error["ResponseMetadata"]["HTTPStatusCode"] == 403
    error = refusal(client("sts", guarded, None, "AKIA" + "A" * 16).get_caller_identity)
    assert error["Error"]["Code"] == "InvalidClientTokenId"
    status, _, text = post(guarded, "Action=GetCallerIdentity", Content_Type=FORM)
    assert (status, b"<Code>MissingAuthenticationToken</Code>" in text) == (403, True)


def test_a_signature_is_for_one_service(guarded, alice):
    """STS's requests are not accepted with a signature for DynamoDB."""
    request = AWSRequest("POST", guarded + "/", {"Content-Type": FORM}, "Action=GetCallerIdentity")
    SigV4Auth(Credentials(*alice), "dynamodb", "us-east-1").add_auth(request)
    status, _, text = post(guarded, request.data, **dict(request.headers))
    assert status == 403
    assert b"Credential should be scoped to correct service: 'sts'." in text


@pytest.mark.parametrize("path", ["/", "/a/b", "/a//b/../c/?x=1&b=%20&a", "/%20%2F~"])
def test_a_signature_covers_the_path_and_the_query(guarded, alice, path):
    body = "Action=GetCallerIdentity&Version=2011-06-15"
    request = AWSRequest("POST", guarded + path, {"Content-Type": FORM}, body)
    SigV4Auth(Credentials(*alice), "sts", "us-east-1").add_auth(request)
    headers = {name: value for name, value in request.headers.items()}
    assert post(guarded, body, path, **headers)[0] == 200
    for other in (path + "x", path + "?y=1", "/z" + path):
        status, _, text = post(guarded, body, other, **headers)
        assert (status, b"SignatureDoesNotMatch" in text) == (403, True), other


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_policies_decide_in_every_protocol(guarded, alice, bob, protocol):
    assert "Metrics" in client("cloudwatch", guarded, protocol, *alice).list_metrics()
    error = refusal(client("cloudwatch", guarded, protocol, *bob).list_metrics)
    assert query_code(error) == "AccessDenied"
    assert error["Error"]["Message"] == (
        "User: arn:aws:iam::000000000000:user/bob is not authorized to perform: "
        "cloudwatch:ListMetrics on resource: * because no identity-based policy allows the "
        "cloudwatch:ListMetrics action"
    )
    assert error["ResponseMetadata"]["HTTPStatusCode"] == (403 if protocol == "query" else 400)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_credentials_are_checked_in_every_protocol(guarded, alice, keys, protocol):
    wrong = client("cloudwatch", guarded, protocol, alice[0], "wrong")
    assert query_code(refusal(wrong.list_metrics)) == "SignatureDoesNotMatch"
    unknown = client("cloudwatch", guarded, protocol, "AKIA" + "B" * 16, "x")
    assert query_code(refusal(unknown.list_metrics)) == "InvalidClientTokenId"
    temporary = keys.session(alice[0], 900)
    time.sleep(FOLLOW_S)
    assert "Metrics" in client("cloudwatch", guarded, protocol, *temporary).list_metrics()


def test_a_signature_is_for_one_operation_of_cbor(guarded, alice):
    """A captured request cannot be sent to another path."""
    path = f"/service/{CLOUDWATCH}/operation/"
    headers = {"Content-Type": "application/cbor", "smithy-protocol": "rpc-v2-cbor"}
    request = AWSRequest("POST", guarded + path + "ListMetrics", headers, b"\xa0")
    SigV4Auth(Credentials(*alice), "monitoring", "us-east-1").add_auth(request)
    headers = dict(request.headers.items())
    assert post(guarded, b"\xa0", path + "ListMetrics", **headers)[0] == 200
    status, _, body = post(guarded, b"\xa0", path + "PutMetricData", **headers)
    assert (status, b"InvalidSignatureException" in body) == (400, True)
    status, _, body = post(guarded, b"", path + "ListMetrics", **headers)
    assert (status, b"InvalidSignatureException" in body) == (400, True)
