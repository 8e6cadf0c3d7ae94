"""With `--auth`, large requests of a key that is allowed nothing never hold up others: they are
refused for what their key may not do, before their attributes are looked at. While they come, an
administrator's requests (lib/honest.py), on a kept connection and on fresh ones, are all answered, and
none waits for longer than honest.WORST_MS."""

import http.client
import json
import threading
import time

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
import stator_process
from honest import TABLE, Honest, in_time, release_binary

REGION = "us-east-1"
EVERYTHING = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
SECONDS = 3
TIMEOUT_S = 60
ATTRIBUTES = 40_000
BATCH_ITEMS = 25
BATCH_ATTRIBUTES = 11_500  # Of each item: 7 MB in all.

@pytest.fixture(scope="module", name="keys")
def fixture_keys(tmp_path_factory):
    return stator_process.Keys(tmp_path_factory.mktemp("liveness"))


@pytest.fixture(scope="module", name="admin")
def fixture_admin(keys):
    return keys.create("admin", EVERYTHING)


@pytest.fixture(scope="module", name="stranger")
def fixture_stranger(keys):
    return keys.create("stranger")


class SignedClient:
    """One connection, whose requests are signed by `key`."""

    def __init__(self, port, key):
        self._url = f"http://127.0.0.1:{port}/"
        self._signer = botocore.auth.SigV4Auth(
            botocore.credentials.Credentials(*key), "dynamodb", REGION
        )
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)

    def signed(self, operation, body):
        """The text and the headers of a request."""
        text = json.dumps(body).encode()
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
        }
        request = botocore.awsrequest.AWSRequest("POST", self._url, headers, text)
        self._signer.add_auth(request)
        return text, dict(request.headers)

    def send(self, text, headers):
        self._connection.request("POST", "/", text, headers)
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def call(self, operation, body):
        return self.send(*self.signed(operation, body))

    def close(self):
        self._connection.close()


@pytest.fixture(scope="module", name="server")
def fixture_server(keys, admin, stranger):
    with stator_process.StatorProcess("--auth", *keys.flags, program=release_binary()) as server:
        client = SignedClient(server.port, admin)
        stator_process.create_table(client, TABLE)
        client.close()
        yield server
        server.stop()


def stand(server, admin, stranger, operation, body):
    """Honest requests of the administrator while a stranger sends one again and again."""
    attacks = []
    client = SignedClient(server.port, stranger)
    # Once: while Python writes so much JSON, the honest clients' thread cannot run.
    request = client.signed(operation, body)
    end = time.monotonic() + SECONDS

    def send():
        while time.monotonic() < end or not attacks:
            attacks.append(client.send(*request))
        client.close()

    with Honest(server, connect=lambda port: SignedClient(port, admin)) as honest:
        attacker = threading.Thread(target=send)
        attacker.start()
        attacker.join()
    for status, answer in attacks:
        assert status == 400 and answer["__type"].endswith("AccessDeniedException"), answer
    honest.check(f"{len(attacks)} attacks")


@in_time
def test_an_item_of_many_attributes_by_a_key_without_a_policy(server, admin, stranger):
    item = {"pk": {"S": "a"}, **{f"a{number}": {"NULL": True} for number in range(ATTRIBUTES)}}
    stand(server, admin, stranger, "PutItem", {"TableName": TABLE, "Item": item})


@in_time
def test_a_batch_of_seven_megabytes_by_a_key_without_a_policy(server, admin, stranger):
    attributes = {f"a{number}": {"NULL": True} for number in range(BATCH_ATTRIBUTES)}
    requests = [
        {"PutRequest": {"Item": {"pk": {"S": str(number)}, **attributes}}}
        for number in range(BATCH_ITEMS)
    ]
    body = {"RequestItems": {TABLE: requests}}
    stand(server, admin, stranger, "BatchWriteItem", body)
