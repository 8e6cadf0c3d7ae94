"""What the service answers to requests in their HTTP form, captured in 2025 and 2026."""

import gzip
import http.client
import json
import urllib.parse
import zlib

import pytest
from answers import create
from stator_process import operation_headers

PAGE = "http://localhost:3000"  # Pages of this machine may call.
SERIALIZATION = "com.amazon.coral.service#SerializationException"
UNKNOWN = "com.amazon.coral.service#UnknownOperationException"
INFLATE = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    None: lambda body: body,
}


@pytest.fixture(scope="module", name="ask")
def fixture_ask(server_url):
    """Sends one request on a connection of its own; gives status, headers and body."""

    def send(method, path="/", body=None, headers=()):
        host = urllib.parse.urlsplit(server_url)
        connection = http.client.HTTPConnection(host.hostname, host.port, timeout=30)
        try:
            connection.putrequest(
                method, path, skip_host="Host" in headers, skip_accept_encoding=True
            )
            for name, value in [*dict(headers).items(), ("Content-Length", len(body or b""))]:
                connection.putheader(name, str(value))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    return send


def call(ask, operation, body, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask("POST", "/", body, {**operation_headers(operation), **named})


# --- Request bodies ---


def test_a_gzip_body_may_have_several_members(ask):
    body = gzip.compress(b'{"Lim') + gzip.compress(b"") + gzip.compress(b'it":1}')
    status, _, answer = call(ask, "ListTables", body, Content_Encoding="gzip")
    assert (status, set(json.loads(answer))) == (200, {"TableNames"})


@pytest.mark.parametrize(
    "encoding, body",
    [
        ("br", b"{}"),
        ("gzip", b"{}"),
        ("deflate", b"{}"),
        ("gzip", zlib.compress(b"{}")),
        ("deflate", gzip.compress(b"{}")),
        ("gzip", gzip.compress(b"{}")[:-1]),
        ("deflate", zlib.compress(b"{}")[:-1]),
        ("gzip", gzip.compress(b"{}") + gzip.compress(b" ")[:-1]),
        ("gzip", b""),
        ("deflate", b""),
    ],
)
def test_a_body_that_does_not_follow_its_content_encoding_is_the_clients_fault(ask, encoding, body):
    """On purpose: the service answers InternalServerError, status 500, which SDKs repeat."""
    status, _, answer = call(ask, "ListTables", body, Content_Encoding=encoding)
    message = "The body does not follow its Content-Encoding"
    assert (status, json.loads(answer)) == (400, {"__type": SERIALIZATION, "Message": message})


# --- Methods other than POST ---


def test_get_of_the_root_answers_healthy_with_the_host(ask):
    for host in ("dynamodb.us-east-1.amazonaws.com", "localhost:8000"):
        status, headers, body = ask("GET", "/", None, {"Host": host})
        assert (status, body.decode()) == (200, f"healthy: {host} ")
        assert headers["x-amz-crc32"] == str(zlib.crc32(body))
        status, _, body = ask("HEAD", "/", None, {"Host": host})
        assert (status, body) == (200, b"")


def access_headers(headers):
    prefix = "access-control-"
    return {k.lower(): v for k, v in headers.items() if k.lower().startswith(prefix)}


@pytest.mark.parametrize("method", ["POST", "GET", "PUT"])
def test_a_preflight_gets_its_method_back_and_the_exposed_headers(ask, method):
    wanted = "x-amz-target, authorization"
    request = {
        "Origin": PAGE,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": wanted,
    }
    status, headers, body = ask("OPTIONS", "/", None, request)
    assert (status, body) == (200, b"")
    assert access_headers(headers) == {
        "access-control-allow-origin": PAGE,
        "access-control-allow-methods": method,
        "access-control-allow-headers": wanted,
        "access-control-expose-headers": "x-amzn-RequestId,x-amzn-ErrorType,x-amz-crc32,Date",
        "access-control-max-age": "172800",
    }


def test_a_preflight_of_a_page_that_may_not_call_gets_no_such_header(ask):
    request = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    status, headers, _ = ask("OPTIONS", "/", None, request)
    assert (status, access_headers(headers)) == (403, {})
    status, headers, _ = ask("OPTIONS", "/", None, {"Access-Control-Request-Method": "POST"})
    assert (status, access_headers(headers)) == (200, {})


# --- Compressed answers ---


@pytest.fixture(scope="module", name="sized")
def fixture_sized(ask, connection):
    """Asks for an item whose answer has that many bytes before compression."""
    create(connection, "Sized", "pk")

    def get(size, **headers):
        empty = len('{"Item":{"pk":{"S":"%s"},"v":{"S":""}}}' % size)
        item = {"pk": {"S": str(size)}, "v": {"S": "x" * (size - empty)}}
        connection.call("PutItem", {"TableName": "Sized", "Item": item})
        body = json.dumps({"TableName": "Sized", "Key": {"pk": item["pk"]}}).encode()
        status, answer_headers, answer = call(ask, "GetItem", body, **headers)
        assert status == 200
        assert answer_headers["x-amz-crc32"] == str(zlib.crc32(answer))
        encoding = answer_headers["Content-Encoding"]
        whole = INFLATE[encoding](answer)
        assert (len(whole), json.loads(whole)) == (size, {"Item": item})
        return encoding

    return get


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_answers_above_4096_bytes_are_compressed(sized, encoding):
    assert sized(4096, Accept_Encoding=encoding) is None
    assert sized(4097, Accept_Encoding=encoding) == encoding
    assert sized(300_000, Accept_Encoding=encoding) == encoding


@pytest.mark.parametrize(
    "accepted, encoding",
    [
        ("br, identity, deflate, gzip", "deflate"),
        ("gzip, deflate", "gzip"),
        ("gzip;q=0.5, deflate;q=0.6", "deflate"),
        ("*", "gzip"),
        ("gzip;q=0.5, *", "deflate"),
        ("gzip;q=0", None),
        ("identity", None),
        ("deflate, gzip;q=7", "deflate"),
        ("gzip;q=0.5, deflate;q=0.x", "deflate"),
        ("gzip;q=-1", None),
        ("gzip;q=0;q=1", None),
    ],
)
def test_the_highest_quality_wins_and_the_first_of_equals(sized, accepted, encoding):
    assert sized(5000, Accept_Encoding=accepted) == encoding


# --- Operations ---


def test_an_operation_that_stator_lacks_says_so(ask):
    status, _, answer = call(ask, "SearchVectors", b"{}")
    message = "stator does not have the operation SearchVectors"
    assert (status, json.loads(answer)) == (400, {"__type": UNKNOWN, "message": message})


def test_an_operation_that_the_service_lacks_gets_its_bare_answer(ask):
    status, _, answer = call(ask, "Nonsense", b"{}")
    assert (status, answer) == (400, b'{"__type":"%s"}' % UNKNOWN.encode())
