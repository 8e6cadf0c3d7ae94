"""Clients of the services beside DynamoDB, in each of their protocols: client() makes one.

For JSON and the query protocol it is boto3 with a service model that has just that protocol, so
that botocore's own serializers and parsers speak to a server. Debian's botocore has no CBOR, so
CborClient is ours: it has the same methods, answers and exceptions.
"""

import copy
import datetime
import gzip
import http.client
import struct
import urllib.parse

import boto3
import botocore.config
import botocore.exceptions
import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

PROTOCOLS = ("json", "cbor", "query")
REGION = "us-east-1"
# Newer models of CloudWatch have this beside the query protocol.
CLOUDWATCH_TARGET = "GraniteServiceVersion20100801"
JSON_METADATA = {
    "protocol": "json",
    "protocols": ["json"],
    "jsonVersion": "1.0",
    "targetPrefix": CLOUDWATCH_TARGET,
}
QUERY_METADATA = {"protocol": "query", "protocols": ["query"]}


def _session(protocol):
    session = botocore.session.get_session()
    loader = session.get_component("data_loader")
    load = loader.load_service_model

    def load_with_protocol(service, *arguments, **named):
        model = load(service, *arguments, **named)
        if service == "cloudwatch" and "operations" in model:
            model = copy.deepcopy(model)
            model["metadata"].update(JSON_METADATA if protocol == "json" else QUERY_METADATA)
        return model

    loader.load_service_model = load_with_protocol
    return session


def _ask_for_query_codes(request, **_):
    request.headers["x-amzn-query-mode"] = "true"


def _compress(request, **_):
    body = request.data
    if isinstance(body, dict):
        body = urllib.parse.urlencode(body)
    request.data = gzip.compress(body if isinstance(body, bytes) else body.encode())
    request.headers["Content-Encoding"] = "gzip"


def client(service, url, protocol=None, key="x", secret="x", token=None, compresses=False):
    """`protocol` is one of PROTOCOLS, which CloudWatch has, or None for boto3's choice."""
    if protocol == "cbor":
        return CborClient(url, Credentials(key, secret, token), compresses)
    made = boto3.Session(botocore_session=_session(protocol)).client(
        service,
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        aws_session_token=token,
        config=botocore.config.Config(retries={"total_max_attempts": 1}),
    )
    if protocol == "json":
        made.meta.events.register("before-sign", _ask_for_query_codes)
    if compresses:
        made.meta.events.register("before-sign", _compress)
    return made


def query_code(response):
    """The code of an exception in the query protocol, which JSON and CBOR have in a header."""
    header = response["ResponseMetadata"]["HTTPHeaders"].get("x-amzn-query-error")
    return header.partition(";")[0] if header else response["Error"]["Code"]


class CborClient:
    """CloudWatch by rpc-v2-cbor: put_metric_data(Namespace=...) as boto3 has it."""

    def __init__(self, url, credentials, compresses):
        self._url, self._credentials, self._compresses = url, credentials, compresses

    def __getattr__(self, method):
        operation = "".join(word.capitalize() for word in method.split("_"))
        return lambda **request: self._call(operation, request)

    def _call(self, operation, request):
        path = f"/service/{CLOUDWATCH_TARGET}/operation/{operation}"
        headers = {
            "Content-Type": "application/cbor",
            "Accept": "application/cbor",
            "smithy-protocol": "rpc-v2-cbor",
            "x-amzn-query-mode": "true",
        }
        signed = AWSRequest("POST", self._url + path, headers, cbor(request))
        if self._compresses:
            _compress(signed)
        SigV4Auth(self._credentials, "monitoring", REGION).add_auth(signed)
        connection = http.client.HTTPConnection("127.0.0.1", urllib.parse.urlsplit(self._url).port)
        connection.request("POST", path, signed.data, dict(signed.headers.items()))
        received = connection.getresponse()
        answer = from_cbor(received.read())
        connection.close()
        assert received.headers["smithy-protocol"] == "rpc-v2-cbor"
        assert received.headers["Content-Type"] == "application/cbor"
        metadata = {
            "HTTPStatusCode": received.status,
            "RequestId": received.headers["x-amzn-RequestId"],
            "HTTPHeaders": {name.lower(): value for name, value in received.headers.items()},
        }
        if received.status != 200:
            code = answer.pop("__type").rpartition("#")[2]
            error = {"Code": code, "Message": answer.get("message", "")}
            raise botocore.exceptions.ClientError(
                {"Error": error, "ResponseMetadata": metadata, **answer}, operation
            )
        return {**answer, "ResponseMetadata": metadata}


# --- CBOR ---


class Indefinite:
    """A list, dict, text or bytes that is encoded without its length."""

    def __init__(self, value):
        self.value = value


class Time:
    """Seconds since 1970, with CBOR's tag 1."""

    def __init__(self, seconds):
        self.seconds = seconds


class Float:
    """A float of 16, 32 or 64 bits."""

    def __init__(self, value, bits):
        self.value, self.bits = value, bits


def _head(major, argument):
    for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if argument < 24:
            return bytes([major << 5 | argument])
        if argument < 1 << 8 * size:
            return bytes([major << 5 | info]) + argument.to_bytes(size, "big")
    raise ValueError(argument)


def _indefinite(value):
    if isinstance(value, dict):
        return b"\xbf" + b"".join(cbor(k) + cbor(v) for k, v in value.items()) + b"\xff"
    if isinstance(value, (list, tuple)):
        return b"\x9f" + b"".join(cbor(v) for v in value) + b"\xff"
    start = b"\x7f" if isinstance(value, str) else b"\x5f"
    return start + b"".join(cbor(value[i : i + 2]) for i in range(0, len(value), 2)) + b"\xff"


def cbor(value):
    """The bytes of a value."""
    if isinstance(value, Indefinite):
        return _indefinite(value.value)
    if isinstance(value, datetime.datetime):
        value = Time(value.timestamp())
    if isinstance(value, Time):
        return b"\xc1" + cbor(value.seconds)
    if isinstance(value, Float):
        form = {16: (b"\xf9", ">e"), 32: (b"\xfa", ">f"), 64: (b"\xfb", ">d")}[value.bits]
        return form[0] + struct.pack(form[1], value.value)
    if value is None or isinstance(value, bool):
        return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[value]
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, float):
        return cbor(Float(value, 64))
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, dict):
        return _head(5, len(value)) + b"".join(cbor(k) + cbor(v) for k, v in value.items())
    return _head(4, len(value)) + b"".join(cbor(v) for v in value)


def _length(data, at):
    """(argument of the head at `at`, or None for an indefinite one; where its content begins)."""
    info = data[at] & 31
    if info < 24:
        return info, at + 1
    if info == 31:
        return None, at + 1
    size = 1 << (info - 24)
    return int.from_bytes(data[at + 1 : at + 1 + size], "big"), at + 1 + size


def _decode_container(data, at, length, is_map):
    items = []
    while length is None or len(items) < (2 * length if is_map else length):
        if length is None and data[at] == 0xFF:
            at += 1
            break
        item, at = _decode(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2])) if is_map else items), at


def _decode(data, at):
    """(value, where it ends). Times become datetimes, as boto3 has them."""
    major = data[at] >> 5
    if major == 7:
        forms = {0xF9: ">e", 0xFA: ">f", 0xFB: ">d"}
        simple = {0xF4: False, 0xF5: True, 0xF6: None}
        if data[at] in forms:
            size = struct.calcsize(forms[data[at]])
            return struct.unpack(forms[data[at]], data[at + 1 : at + 1 + size])[0], at + 1 + size
        return simple[data[at]], at + 1
    length, start = _length(data, at)
    if major < 2:
        return (length if major == 0 else -1 - length), start
    if major < 4:
        content = data[start : start + length]
        assert len(content) == length
        return (bytes(content) if major == 2 else content.decode()), start + length
    if major == 6:
        assert length == 1
        seconds, end = _decode(data, start)
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc), end
    return _decode_container(data, start, length, major == 5)


def from_cbor(data):
    value, end = _decode(data, 0)
    assert end == len(data)
    return value
