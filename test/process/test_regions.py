"""One endpoint for several regions: requests that are signed for another region are relayed to its
server, which may be a process of the same command."""

import http.client
import json
import os
import pathlib
import socket
import threading
import time
import urllib.request

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from stator_process import Connection, DidNotStart, Keys, StatorProcess, check

HOME, AWAY = "us-east-1", "eu-west-1"
DEADLINE_S = 90


def client(url, region, key=("x", "x"), service="dynamodb"):
    return boto3.client(
        service,
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=key[0],
        aws_secret_access_key=key[1],
        config=Config(retries={"total_max_attempts": 1}, read_timeout=60),
    )


def create_table(dynamodb, name="orders"):
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}],
    )


def names(dynamodb):
    return dynamodb.list_tables()["TableNames"]


def children(pid):
    return [
        int(entry)
        for entry in os.listdir("/proc")
        if entry.isdigit() and parent_of(entry) == pid
    ]


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def wait_for(condition, what):
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def test_regions_in_memory_leave_nothing_on_the_disk(tmp_path):
    directory = tmp_path / "data"
    flags = ("--in-memory", "--data-dir", str(directory), "--regions", f"{AWAY},us-west-2")
    with StatorProcess(*flags) as server:
        create_table(client(server.url, "us-west-2"))
        assert names(client(server.url, "us-west-2")) == ["orders"]
        assert not directory.exists()
        server.stop()
    assert not directory.exists()


def test_one_command_serves_several_regions_through_one_port(tmp_path):
    directory = tmp_path / "data"
    flags = ["--data-dir", str(directory), "--regions", f"{AWAY},us-west-2"]
    with StatorProcess(*flags) as server:
        home, away = client(server.url, AWAY), client(server.url, "us-west-2")
        create_table(home)
        create_table(away, "others")
        assert names(home) == ["orders"] and names(away) == ["others"]
        arn = away.describe_table(TableName="others")["Table"]["TableArn"]
        assert arn.startswith("arn:aws:dynamodb:us-west-2:")
        large = "x" * 390_000
        for number in range(3):
            away.put_item(TableName="others", Item={"p": {"S": str(number)}, "v": {"S": large}})
        found = away.scan(TableName="others")
        assert [item["v"]["S"] for item in found["Items"]] == [large] * len(found["Items"])
        assert client(server.url, "us-west-2", service="cloudwatch").list_metrics()
        with pytest.raises(ClientError) as refused:
            away.describe_table(TableName="orders")
        assert refused.value.response["Error"]["Code"] == "ResourceNotFoundException"
        processes = children(server.pid)
        assert len(processes) == 1
        server.stop()
    assert all(parent_of(process) is None for process in processes)
    check(directory / "regions/us-west-2")
    with StatorProcess(*flags) as server:
        assert names(client(server.url, "us-west-2")) == ["others"]
        (process,) = children(server.pid)
        server.kill()  # The children end however the parent does.
        wait_for(lambda: parent_of(process) is None, "a region outlived its parent")
    check(directory)


def test_a_list_of_regions_must_make_sense(tmp_path):
    for flags, message in (
        (["--regions", "a-1,a-1"], "regions: a-1: named twice"),
        (["--regions", "a-1,B"], "regions: B: this is no region's name"),
        (
            ["--region", "b-1", "--regions", "a-1"],
            "regions: a-1: the first region must be that of the setting region",
        ),
        (["--region-peers", "us-east-1 http://h"], "this is the server's own region"),
        (["--region-peers", "us-west-2"], "a peer is a region's name, a space and a URL"),
        (["--region-peers", "us-west-2 ftp://h"], "region-peers"),
    ):
        with pytest.raises(DidNotStart) as refused:
            StatorProcess("--data-dir", str(tmp_path / "data"), *flags)
        assert message in refused.value.log


def test_a_peer_that_is_away_is_named_and_comes_back(tmp_path):
    with StatorProcess("--in-memory", "--region", AWAY) as away:
        port = away.port
        peers = ["--region-peers", f"{AWAY} http://127.0.0.1:{port}"]
        with StatorProcess("--in-memory", *peers) as home:
            relayed, own = client(home.url, AWAY), client(home.url, HOME)
            create_table(relayed)
            assert names(client(away.url, AWAY)) == ["orders"] and names(own) == []
            away.kill()
            with pytest.raises(ClientError) as refused:
                names(relayed)
            answer = refused.value.response
            assert answer["Error"]["Code"].startswith("ServiceUnavailable")
            assert answer["ResponseMetadata"]["HTTPStatusCode"] == 503
            assert "did not answer: Connection refused" in answer["Error"]["Message"]
            create_table(own)  # The rest goes on.
            with StatorProcess("--in-memory", "--region", AWAY, "--port", str(port)):
                assert names(relayed) == []
            home.stop()


class HostilePeer:
    """Answers every request with the same bytes, whatever they are."""

    def __init__(self, answer):
        self._answer = answer
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(DEADLINE_S)

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(self._answer)


BODY = b'Content-Length: 17\r\n\r\n{"TableNames":[]}'


@pytest.mark.parametrize(
    "answer, status",
    [
        (b"HTTP/1.1 200 OK\r\nX-A: b\rX-C: d\r\n" + BODY, 200),
        (b"HTTP/1.1 200 OK\r\nX-A: b\x01\x7f\r\n" + BODY, 200),
        (b"HTTP/1.1 200 OK\r\nX\x01 A: b\r\n" + BODY, 200),
        (b"HTTP/1.1 999 What\r\n" + BODY, 500),
        (b"HTTP/1.1 600 What\r\n" + BODY, 500),
        (b"HTTP/1.1 204 None\r\n" + BODY, 204),
    ],
)
def test_a_server_survives_what_a_peer_answers(answer, status):
    with HostilePeer(answer) as peer:
        with StatorProcess("--in-memory", "--region-peers", f"{AWAY} {peer.url}") as home:
            body = b"{}"
            headers = {
                "Content-Type": "application/x-amz-json-1.0",
                "X-Amz-Target": "DynamoDB_20120810.ListTables",
            }
            request = AWSRequest(method="POST", url=home.url + "/", data=body, headers=headers)
            SigV4Auth(Credentials("x", "x"), "dynamodb", AWAY).add_auth(request)
            connection = http.client.HTTPConnection("127.0.0.1", home.port, timeout=30)
            connection.request("POST", "/", body, dict(request.headers))
            got = connection.getresponse()
            assert got.status == status
            assert not {"x-a", "x-c"} & {name.lower() for name in dict(got.getheaders())}
            assert (got.read() == b'{"TableNames":[]}') == (status == 200)
            connection.close()
            assert names(client(home.url, HOME)) == []
            home.stop()


def test_the_peer_verifies_the_signature(tmp_path):
    master = os.urandom(32).hex()
    keys = Keys(tmp_path, master_key=master)
    everything = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
    key = keys.create("anna", everything)
    with StatorProcess(*keys.flags, "--auth", "--regions", f"{HOME},{AWAY}") as server:
        relayed = client(server.url, AWAY, key)
        create_table(relayed)
        assert names(relayed) == ["orders"] and names(client(server.url, HOME, key)) == []
        with pytest.raises(ClientError) as refused:
            names(client(server.url, AWAY, (key[0], "wrong")))
        assert refused.value.response["Error"]["Code"] == "InvalidSignatureException"
        server.stop()


def test_keys_that_are_made_later_hold_in_all_regions(tmp_path):
    keys = Keys(tmp_path, master_key=os.urandom(32).hex())
    anything = {"Effect": "Allow", "Action": ["dynamodb:*", "stator:*"], "Resource": "*"}
    admin = keys.create("admin", anything)
    regions = [HOME, AWAY, "us-west-2"]
    with StatorProcess(*keys.flags, "--auth", "--regions", ",".join(regions)) as server:
        made = create_key(server, AWAY, admin)
        for region in regions:
            wait_for(lambda r=region: knows(server, r, made), f"the key is unknown in {region}")
        server.stop()


def knows(server, region, key):
    """The key has no policy yet, so a request with it is denied: as one of a known key."""
    with pytest.raises(ClientError) as refused:
        names(client(server.url, region, key))
    code = refused.value.response["Error"]["Code"]
    assert code in ("UnrecognizedClientException", "AccessDeniedException")
    return code == "AccessDeniedException"


def create_key(server, region, admin):
    """CreateKey over HTTP, in a region."""
    body = json.dumps({"UserName": "ben"})
    request = AWSRequest(
        method="POST",
        url=server.url + "/",
        data=body,
        headers={
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "Stator_20261101.CreateKey",
        },
    )
    SigV4Auth(Credentials(*admin), "dynamodb", region).add_auth(request)
    sent = urllib.request.Request(server.url + "/", body.encode(), dict(request.headers))
    with urllib.request.urlopen(sent, timeout=30) as response:
        made = json.load(response)["Key"]
    return made["AccessKeyId"], made["SecretAccessKey"]


def test_what_is_for_clients_on_this_machine_is_not_for_relayed_requests(tmp_path):
    """The region behind the endpoint sees an address of this machine, whoever asks."""
    flags = ["--data-dir", str(tmp_path / "data"), "--regions", f"{HOME},{AWAY}"]
    with StatorProcess(*flags, "--metrics-bind", "127.0.0.1:0") as server:
        signed = f"AWS4-HMAC-SHA256 Credential=x/20260101/{AWAY}/dynamodb/aws4_request"
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", "/metrics", headers={"Authorization": signed})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (403, b"only for clients on this machine\n")
        connection.close()
        server.stop()


def test_a_request_is_relayed_once(tmp_path):
    """Two servers that take each other for the region of a third one."""
    with StatorProcess("--in-memory", "--region", AWAY) as first:
        peers = ["--region-peers", f"us-west-2 {first.url}"]
        with StatorProcess("--in-memory", *peers) as second:
            connection = Connection(second.port)
            assert connection.call("ListTables", {})[0] == 200  # Of its own region.
            connection.close()
            # Without `auth` a server does not look at the region itself; it answers for its own.
            create_table(client(second.url, "us-west-2"))
            assert names(client(first.url, AWAY)) == ["orders"]
            second.stop()
        first.stop()
