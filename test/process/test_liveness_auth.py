"""With `--auth`, large requests of a key that is allowed nothing never hold up others: they are
refused for what their key may not do, before their attributes are looked at. Nor do requests that
wait for somebody who keeps the access keys locked. While they come, an administrator's requests
(lib/honest.py), on a kept connection and on fresh ones, are all answered, and none waits for longer
than honest.WORST_MS."""

import fcntl
import http.client
import json
import threading
import time

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
import stator_process
from honest import TABLE, Honest, in_time, reads_and_writes, release_binary

REGION = "us-east-1"
EVERYTHING = {"Effect": "Allow", "Action": ["dynamodb:*", "stator:*"], "Resource": "*"}
SECONDS = 3
TIMEOUT_S = 60
ATTRIBUTES = 40_000
BATCH_ITEMS = 25
BATCH_ATTRIBUTES = 11_500  # Of each item: 7 MB in all.
PAGES, PAGE_ITEMS, PAGE_ITEM_SIZE = "pages", 3, 100_000  # A Scan outlasts its first slice.
LOCKED_CLIENTS = 8  # More than there are threads for operations that wait.


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
            "X-Amz-Target": f"{stator_process.operation_prefix(operation)}.{operation}",
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
        stator_process.create_table(client, PAGES)
        for number in range(PAGE_ITEMS):
            item = {"pk": {"S": str(number)}, "pad": {"S": "p" * PAGE_ITEM_SIZE}}
            assert client.call("PutItem", {"TableName": PAGES, "Item": item})[0] == 200
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


def requests_and_a_scan(number):
    yield from reads_and_writes(number)
    yield "Scan", {"TableName": PAGES}


@in_time
def test_changes_of_keys_that_wait_for_the_lock_of_their_file(server, keys, admin):
    """Each waits for two seconds, and is refused then."""
    answers = []
    end = time.monotonic() + SECONDS

    def send():
        client = SignedClient(server.port, admin)
        while time.monotonic() < end:
            answers.append(client.call("CreateKey", {"UserName": "nobody"}))
        client.close()

    with (keys.folder / "data" / "KEYS.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        attackers = [threading.Thread(target=send) for _ in range(LOCKED_CLIENTS)]
        with Honest(
            server, requests_and_a_scan, connect=lambda port: SignedClient(port, admin)
        ) as honest:
            for attacker in attackers:
                attacker.start()
            for attacker in attackers:
                attacker.join()
    for status, answer in answers:
        assert status == 400 and answer["__type"].endswith("ThrottlingException"), answer
    honest.check(f"{len(answers)} changes of keys")
