"""A log that nobody reads holds nobody up, and says later what it lacks."""

import fcntl
import os
import re
import socket
import threading
import time
import urllib.request

import boto3
import pytest
from stator_process import Certificate, Connection, Keys, StatorProcess

PIPE_SIZE = 4096
# More lines than the pipe and the server's buffer (LOG_WAITING_SIZE_MAX, 256 KB) hold.
BROKEN_HANDSHAKES = 5000
STRANGERS_REQUESTS = 3000
# Of these the log has a burst, and a few per second after it (AUDIT_REFUSED_* of call/audit.h).
STRANGERS_LINES_MAX = STRANGERS_REQUESTS // 2
EVERYTHING = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}


class UnreadPipe:
    """A small pipe for a server's log, of which nothing is read before read() is called."""

    def __init__(self):
        self._out, self.stderr = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), "rw"))
        fcntl.fcntl(self.stderr, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        self._lines = []
        self._reader = threading.Thread(target=self._read)

    def _read(self):
        for line in self._out:
            self._lines.append(line)

    def read_until(self, text):
        """Begins to read. Returns when the text has come; reading goes on."""
        self.stderr.close()  # The server has its own.
        self._reader.start()
        deadline = time.monotonic() + 30
        while not any(text in line for line in self._lines):
            assert time.monotonic() < deadline, f"{text!r} is not in the log"
            time.sleep(0.01)

    def text(self):
        """All of it, once the server has ended."""
        self._reader.join()
        return "".join(self._lines)

    def close(self):
        self.stderr.close()
        self._out.close()


@pytest.fixture(name="pipe")
def fixture_pipe():
    pipe = UnreadPipe()
    yield pipe
    pipe.close()


def healthy(server, context=None):
    answer = urllib.request.urlopen(f"{server.url}/healthz", timeout=30, context=context)
    return answer.status == 200


def end(server):
    """SIGTERM, with a log that cannot be shown."""
    server.process.terminate()
    return server.process.wait(30)


def test_lines_that_find_no_room_are_dropped_counted_and_reported(pipe, tmp_path):
    certificate = Certificate(tmp_path)
    flags = ["--in-memory", "--log-level", "debug", *certificate.flags]
    with StatorProcess(*flags, stderr=pipe.stderr) as server:
        for _ in range(BROKEN_HANDSHAKES):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as broken:
                broken.sendall(b"no handshake\r\n\r\n")
                broken.recv(100)  # Then it was refused, and the line logged.
        assert healthy(server, certificate.trusting())
        connection = Connection(server.port, context=certificate.trusting())
        assert connection.call("ListTables", {})[0] == 200
        connection.close()
        pipe.read_until(" lines were dropped")
        assert end(server) == 0
    text = pipe.text()
    dropped = re.findall(r" warn log: (\d+) lines were dropped: ", text)
    assert len(dropped) == 1
    written = text.count(" debug tls: connection from ") + text.count(" debug request: ")
    assert written + int(dropped[0]) == BROKEN_HANDSHAKES + 1
    assert "info server: stopping" in text


def test_a_server_whose_log_nobody_reads_can_be_stopped(pipe, tmp_path):
    certificate = Certificate(tmp_path)
    flags = ["--in-memory", "--log-level", "debug", *certificate.flags]
    with StatorProcess(*flags, stderr=pipe.stderr) as server:
        for _ in range(100):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as broken:
                broken.sendall(b"no handshake\r\n\r\n")
                broken.recv(100)
        assert end(server) == 0


REQUEST_LINE = re.compile(r' debug request: (.*?) ?ms="(\d+\.\d{3})" units="([\d.]+)"\n')


def send_usual_requests(server):
    """Requests of several kinds, whose items have the word `secret`."""
    connection = Connection(server.port)
    table = {
        "TableName": "Orders",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    key = {"pk": {"S": "secret"}}
    item = {**key, "secret": {"S": "secret" * 500}}
    keys = {"Keys": [key]}
    calls = [
        ("CreateTable", table),
        ("PutItem", {"TableName": "Orders", "Item": item}),
        ("GetItem", {"TableName": "Orders", "Key": key}),
        ("GetItem", {"TableName": 'No"pe', "Key": key}),
        ("GetItem", {"TableName": "Nope", "Key": key}),
        ("PutItem", {"TableName": "Orders", "Item": {"secret": {"S": "secret"}}}),
        ("BatchGetItem", {"RequestItems": {"Orders": keys}}),
        ("SearchVectors", {}),
    ]
    for call in calls:
        connection.call(*call)
    connection.close()


def test_debug_logs_every_request_without_its_data():
    with StatorProcess("--in-memory", "--log-level", "debug") as server:
        send_usual_requests(server)
        log = server.wait_for_log("SearchVectors")
        server.stop()
    name = "DynamoDB_20120810.SearchVectors"
    refused = f'operation="{name}" status="400" result="Unknown'
    assert f" debug request: {refused}OperationException\"\n" in log
    assert [(text, units) for text, _, units in REQUEST_LINE.findall(log)] == [
        ('operation="CreateTable" table="Orders" status="200"', "0"),
        ('operation="PutItem" table="Orders" status="200"', "3"),
        ('operation="GetItem" table="Orders" status="200"', "0.5"),
        ('operation="GetItem" status="400" result="ValidationException"', "0"),
        ('operation="GetItem" table="Nope" status="400" result="ResourceNotFoundException"', "0"),
        ('operation="PutItem" table="Orders" status="400" result="ValidationException"', "0"),
        ('operation="BatchGetItem" table="Orders" status="200"', "0.5"),
    ]
    assert "secret" not in log


def test_requests_are_not_logged_otherwise():
    with StatorProcess("--in-memory") as server:
        send_usual_requests(server)
        server.stop()
        assert "request:" not in server.log()


def client(server, key, secret):
    return boto3.client(
        "dynamodb",
        endpoint_url=server.url,
        region_name="us-east-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
    )


def make_table(dynamodb):
    dynamodb.create_table(
        TableName="Table",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )


def test_strangers_hold_up_nobody_and_crowd_out_no_line(pipe, tmp_path):
    keys = Keys(tmp_path)
    admin = keys.create("admin", EVERYTHING)
    with StatorProcess("--auth", *keys.flags, stderr=pipe.stderr) as server:
        dynamodb = client(server, *admin)
        make_table(dynamodb)
        stranger = Connection(server.port)
        for _ in range(STRANGERS_REQUESTS):
            assert stranger.call("ListTables", {})[0] == 400
        stranger.close()
        assert healthy(server)
        dynamodb.put_item(TableName="Table", Item={"pk": {"S": "a"}})
        assert dynamodb.get_item(TableName="Table", Key={"pk": {"S": "a"}})["Item"]
        dynamodb.delete_table(TableName="Table")
        pipe.read_until('operation="DeleteTable"')
        assert end(server) == 0
    lines = re.findall(r' audit: event="refused"(.*)', pipe.text())
    shown = [line for line in lines if " key=" in line]
    suppressed = re.findall(r' suppressed="(\d+)"$', "\n".join(lines), re.MULTILINE)
    assert 0 < len(shown) < STRANGERS_LINES_MAX
    assert len(shown) + sum(map(int, suppressed)) == STRANGERS_REQUESTS
    assert "lines were dropped" not in pipe.text()
