"""What the command line promises, as clients see it: settings, directories, restarts.

How the process itself starts and ends is in test/process/.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

import stator_process
from fast_client import FastClient, ServerGone
from stator_process import StatorProcess, create_table

RUN_TIMEOUT_S = 90
# What -delayTransientStatuses makes a status last, with room for a slow machine.
TRANSITION_MAX_S = 20
TABLE_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/kept"
POLICY = {
    "Statement": {"Effect": "Deny", "Principal": "*", "Action": "dynamodb:Get*", "Resource": "*"},
}


def run(*words, **variables):
    """A command that ends by itself."""
    return subprocess.run(
        [stator_process.binary(), *words],
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        env={**os.environ, **variables},
    )


def assert_refused(result, code, *parts):
    """One line for people, naming the trouble."""
    assert result.returncode == code, result
    assert result.stdout == ""
    assert result.stderr.startswith("stator: ") and result.stderr.count("\n") == 1, result.stderr
    for part in parts:
        assert part in result.stderr, result.stderr


def settings(*words, **variables):
    result = run("serve", *words, "--print-config", **variables)
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line and not line.startswith("#")]
    return dict(line.split(" = ", 1) if " = " in line else (line[:-2], "") for line in lines)


def put(client, table, key, value="v"):
    return client.call(
        "PutItem", {"TableName": table, "Item": {"pk": {"S": key}, "v": {"S": value}}}
    )


def get(client, table, key):
    status, answer = client.call("GetItem", {"TableName": table, "Key": {"pk": {"S": key}}})
    assert status == 200, answer
    return answer.get("Item")


def status_of(client, table):
    """The table's status, or None if there is no such table."""
    status, answer = client.call("DescribeTable", {"TableName": table})
    return answer["Table"]["TableStatus"] if status == 200 else None


def wait_for_status(client, table, wanted):
    deadline = time.monotonic() + TRANSITION_MAX_S
    while (status := status_of(client, table)) != wanted:
        assert time.monotonic() < deadline, f"{table} is still {status}"
        time.sleep(0.05)


# --- Settings ---


def test_a_file_yields_to_a_variable_and_that_to_a_flag(tmp_path):
    file = tmp_path / "settings"
    file.write_text("# ours\nport = 1111\nregion = eu-west-1\nworkers = 1\n")
    assert settings()["port"] == "8000"
    assert settings("--config", str(file))["port"] == "1111"
    both = settings("--config", str(file), STATOR_PORT="2222")
    assert (both["port"], both["region"]) == ("2222", "eu-west-1")
    all_three = settings("--config", str(file), "--port", "3333", STATOR_PORT="2222")
    assert (all_three["port"], all_three["workers"]) == ("3333", "1")
    assert settings(STATOR_CONFIG=str(file))["region"] == "eu-west-1"


def test_printed_settings_read_back_as_the_same(tmp_path):
    printed = run("--port=9", "--region=eu-north-1", "--block-cache-size=32M", "--print-config")
    file = tmp_path / "settings"
    file.write_text(printed.stdout)
    assert run("--config", str(file), "--print-config").stdout == printed.stdout


@pytest.mark.parametrize(
    "words, parts",
    [
        (["--nonsense"], ["--nonsense"]),
        (["serve", "--port", "70000"], ["--port", "65535"]),
        (["serve", "--port", "x"], ["--port"]),
        (["serve", "--port"], ["--port"]),
        (["serve", "--durability", "maybe"], ["--durability", "sync"]),
        (["serve", "--account-id", "12"], ["--account-id", "12 digits"]),
        (["serve", "--bind", "0.0.0.0"], ["--insecure"]),
        (["serve", "--config", "/not/there"], ["/not/there"]),
        (["nonsense"], ["nonsense"]),
    ],
)
def test_what_cannot_be_is_refused_with_2(words, parts):
    assert_refused(run(*words), 2, *parts)


def test_a_bad_line_in_a_file_is_named(tmp_path):
    file = tmp_path / "settings"
    file.write_text("port = 1\n\nregion: eu\n")
    assert_refused(run("serve", "--config", str(file)), 2, str(file), "3")


def test_region_and_account_are_those_in_arns():
    with StatorProcess(
        "--in-memory", "--region", "eu-central-1", "--account-id", "123456789012"
    ) as server:
        client = FastClient(server.port)
        create_table(client, "named")
        table = client.call("DescribeTable", {"TableName": "named"})[1]["Table"]
        assert table["TableArn"] == "arn:aws:dynamodb:eu-central-1:123456789012:table/named"
        server.stop()


def test_origins_are_limited_to_those_given():
    with StatorProcess("--in-memory", "--cors-origins", "http://a.example") as server:
        for origin, allowed in (("http://a.example", True), ("http://b.example", False)):
            answer = raw(
                server.port,
                f"OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: {origin}\r\n"
                "Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n",
            )
            assert (b"access-control-allow-origin" in answer.lower()) == allowed
        server.stop()


def test_all_origins_may_be_allowed_as_before():
    for flags in (("--cors-origins", "*"), ("-cors", "*")):
        with StatorProcess("--in-memory", *flags) as server:
            for mark in ("Origin: http://b.example", "Sec-Fetch-Site: cross-site"):
                answer = raw(
                    server.port,
                    f"GET /healthz HTTP/1.1\r\nHost: db.example\r\n{mark}\r\n"
                    "Connection: close\r\n\r\n",
                )
                assert answer.startswith(b"HTTP/1.1 200 ")
            server.stop()


def test_pages_may_use_the_names_of_allowed_hosts():
    with StatorProcess("--in-memory", "--allowed-hosts", "db.example,dynamodb") as server:
        for host, status in (("db.example:8000", 200), ("dynamodb", 200), ("x.example", 421)):
            answer = raw(
                server.port,
                f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nOrigin: http://localhost:3000\r\n"
                "Connection: close\r\n\r\n",
            )
            assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        server.stop()


# --- Connections ---


def raw(port, text):
    """All that comes back until the server ends the connection."""
    with socket.create_connection(("127.0.0.1", port), RUN_TIMEOUT_S) as connection:
        connection.sendall(text.encode())
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    return received


def test_a_request_that_dawdles_is_given_up():
    with StatorProcess(
        "--in-memory", "--header-timeout-ms", "200", "--body-timeout-ms", "200",
        "--idle-timeout-ms", "300",
    ) as server:  # fmt: skip
        assert raw(server.port, "POST / HTTP/1.1\r\nHost:").startswith(b"HTTP/1.1 408")
        half = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"
        assert raw(server.port, half).startswith(b"HTTP/1.1 408")
        assert raw(server.port, "") == b""  # Silent: closed without a word.
        answered = raw(server.port, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answered.startswith(b"HTTP/1.1 200")
        server.stop()


def test_one_connection_too_many_is_answered_503():
    with StatorProcess("--in-memory", "--connections-max", "5") as server:
        clients = [FastClient(server.port) for _ in range(5)]
        for client in clients:
            assert client.call("ListTables", {})[0] == 200
        assert raw(server.port, "").startswith(b"HTTP/1.1 503")
        for client in clients:
            assert client.call("ListTables", {})[0] == 200
        clients[0].close()
        deadline = time.monotonic() + RUN_TIMEOUT_S
        while not raw(
            server.port, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        ).startswith(b"HTTP/1.1 200"):
            assert time.monotonic() < deadline
        server.stop()


def resident_mb(server):
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


def request_text(operation, body, size=None):
    headers = stator_process.operation_headers(operation).items()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return (
        f"POST / HTTP/1.1\r\nHost: x\r\n{lines}Content-Length: {size or len(body)}\r\n\r\n{body}"
    ).encode()


def test_bodies_that_are_only_announced_take_no_memory():
    with StatorProcess("--in-memory") as server:
        before = resident_mb(server)
        opened = []
        for _ in range(500):
            connection = socket.create_connection(("127.0.0.1", server.port), RUN_TIMEOUT_S)
            connection.sendall(request_text("PutItem", "{", size=16 << 20))
            opened.append(connection)
        assert FastClient(server.port).call("ListTables", {})[0] == 200
        assert resident_mb(server) - before < 100  # All of them would be 8 GB.
        for connection in opened:
            connection.close()
        server.stop()


def test_answers_that_nobody_reads_take_bounded_memory():
    with StatorProcess("--in-memory") as server:
        client = FastClient(server.port)
        create_table(client, "large")
        put(client, "large", "a", "x" * 400_000)
        before = resident_mb(server)
        opened = []
        for _ in range(50):
            connection = socket.create_connection(("127.0.0.1", server.port), RUN_TIMEOUT_S)
            body = json.dumps({"TableName": "large", "Key": {"pk": {"S": "a"}}})
            connection.sendall(request_text("GetItem", body) * 50)
            opened.append(connection)
        time.sleep(1)
        assert client.call("ListTables", {})[0] == 200
        assert resident_mb(server) - before < 300  # All of them would be 1 GB.
        for connection in opened:
            connection.close()
        server.stop()


# --- Directories ---


def test_data_is_there_after_a_restart(tmp_path):
    directory = str(tmp_path / "data")
    with StatorProcess("--data-dir", directory) as server:
        client = FastClient(server.port)
        create_table(client, "kept")
        put(client, "kept", "a", "first")
        table = client.call("DescribeTable", {"TableName": "kept"})[1]["Table"]
        server.stop()
    with StatorProcess("--data-dir", directory) as server:
        client = FastClient(server.port)
        assert get(client, "kept", "a") == {"pk": {"S": "a"}, "v": {"S": "first"}}
        again = client.call("DescribeTable", {"TableName": "kept"})[1]["Table"]
        for field in ("TableId", "TableArn", "CreationDateTime", "KeySchema"):
            assert again[field] == table[field]
        server.stop()


def without_latest_time(answers):
    """Answers without LatestRestorableDateTime, which goes with the time."""
    for _, answer in answers:
        backups = answer.get("ContinuousBackupsDescription", {})
        backups.get("PointInTimeRecoveryDescription", {}).pop("LatestRestorableDateTime", None)
    return answers


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_settings_of_a_table_are_there_after_a_restart(tmp_path, end):
    flags = ("--data-dir", str(tmp_path))
    asked = [
        ("DescribeContinuousBackups", {"TableName": "kept"}),
        ("GetResourcePolicy", {"ResourceArn": TABLE_ARN}),
    ]
    recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 3}
    with StatorProcess(*flags) as server:
        client = FastClient(server.port)
        create_table(client, "kept")
        changes = [
            (
                "UpdateContinuousBackups",
                {"TableName": "kept", "PointInTimeRecoverySpecification": recovery},
            ),
            ("PutResourcePolicy", {"ResourceArn": TABLE_ARN, "Policy": json.dumps(POLICY)}),
        ]
        assert [client.call(*change)[0] for change in changes] == [200, 200]
        before = without_latest_time([client.call(*question) for question in asked])
        assert [status for status, _ in before] == [200, 200]
        getattr(server, end)()
    with StatorProcess(*flags) as server:
        client = FastClient(server.port)
        assert without_latest_time([client.call(*question) for question in asked]) == before
        server.stop()


def test_a_stop_amid_writes_keeps_what_was_acknowledged(tmp_path):
    acknowledged = []

    def write(port, number):
        try:
            client = FastClient(port)
            for index in range(1_000_000):
                key = f"{number}-{index}"
                status, _ = put(client, "busy", key)
                if status == 200:
                    acknowledged.append(key)
        except ServerGone:
            pass

    with StatorProcess("--data-dir", str(tmp_path)) as server:
        create_table(FastClient(server.port), "busy")
        threads = [threading.Thread(target=write, args=(server.port, n)) for n in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        server.stop()
        for thread in threads:
            thread.join()
    assert acknowledged
    with StatorProcess("--data-dir", str(tmp_path)) as server:
        client = FastClient(server.port)
        missing = [key for key in acknowledged if get(client, "busy", key) is None]
        assert missing == []
        server.stop()


def test_the_directory_is_one_servers_own(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path)) as server:
        second = run("serve", "--port", "0", "--data-dir", str(tmp_path))
        assert_refused(second, 1, str(tmp_path))
        assert FastClient(server.port).call("ListTables", {})[0] == 200
        server.stop()
    with StatorProcess("--data-dir", str(tmp_path)) as server:
        server.stop()


def test_a_directory_that_cannot_be_made_is_refused(tmp_path):
    # Not even root may make directories there.
    assert_refused(run("serve", "--port", "0", "--data-dir", "/proc/stator"), 1, "/proc/stator")


@pytest.fixture
def mounted(tmp_path):
    """Mounts a file system of its own, with the options given; taken away after the test."""
    place = tmp_path / "disk"
    place.mkdir()
    done = []

    def mount(options):
        result = shutil.which("mount") and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True
        )
        if not result or result.returncode != 0:
            pytest.skip("not permitted to mount a file system")
        done.append(place)
        return place

    yield mount
    for each in done:
        subprocess.run(["umount", "--lazy", str(each)], check=True)


def test_a_directory_that_may_not_be_written_is_refused(tmp_path, mounted):
    if os.geteuid() == 0:  # To root, permissions mean nothing.
        place = mounted("ro")
    else:
        place = tmp_path / "ours"
        place.mkdir(mode=0o500)
    assert_refused(run("serve", "--port", "0", "--data-dir", str(place)), 1, str(place))


# --- What GET / answers ---

LOCALS_REFUSAL = {
    "__type": "com.amazonaws.dynamodb.v20120810#MissingAuthenticationToken",
    "message": "Request must contain either a valid (registered) AWS access key ID or X.509 "
    "certificate.",
}
VISIT = "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"


def ask_root(server, method="GET", headers=""):
    request = f"{method} / HTTP/1.1\r\nHost: localhost\r\n{headers}Connection: close\r\n\r\n"
    head, _, body = raw(server.port, request).partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode().lower(), body


@pytest.mark.parametrize("flags", [("-inMemory",), ("--in-memory", "--root-answer=dynamodb-local")])
def test_the_root_answers_400_as_dynamodb_local_does(flags):
    with StatorProcess(*flags) as server:
        status, head, body = ask_root(server)
        assert (status, json.loads(body)) == (400, LOCALS_REFUSAL)
        assert "content-type: application/x-amz-json-1.0\r\n" in head
        assert ask_root(server, "HEAD")[::2] == (400, b"")
        # A person with a browser gets the console all the same.
        status, head, _ = ask_root(server, headers=VISIT)
        assert status == 303 and "location: /console/" in head
        server.stop()


def test_the_root_answers_200_unless_dynamodb_local_is_meant():
    with StatorProcess("--in-memory") as server:
        assert ask_root(server)[::2] == (200, b"healthy: localhost ")
        assert ask_root(server, "HEAD")[0] == 200
        server.stop()


# --- Tables in transition ---


def test_dynamodb_locals_command_line_with_delayed_statuses(tmp_path):
    process = subprocess.Popen(
        [stator_process.binary(), "-Djava.library.path=./lib", "-jar", "DynamoDBLocal.jar",
         "-port", "0", "-sharedDb", "-dbPath", str(tmp_path), "-delayTransientStatuses"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        match = stator_process.LISTENING.fullmatch(process.stdout.readline())
        client = FastClient(int(match[3]))
        see_transitions(client)
        process.send_signal(signal.SIGTERM)
        assert process.wait(RUN_TIMEOUT_S) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def see_transitions(client):
    shape = {
        "TableName": "slow",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    status, answer = client.call("CreateTable", shape)
    assert (status, answer["TableDescription"]["TableStatus"]) == (200, "CREATING")
    assert status_of(client, "slow") == "CREATING"
    status, answer = put(client, "slow", "a")
    assert (status, answer["__type"].split("#")[1]) == (400, "ResourceNotFoundException")
    status, answer = client.call("DeleteTable", {"TableName": "slow"})
    assert (status, answer["__type"].split("#")[1]) == (400, "ResourceInUseException")
    wait_for_status(client, "slow", "ACTIVE")
    assert put(client, "slow", "a")[0] == 200

    status, answer = client.call("DeleteTable", {"TableName": "slow"})
    assert (status, answer["TableDescription"]["TableStatus"]) == (200, "DELETING")
    assert status_of(client, "slow") == "DELETING"
    status, answer = client.call("CreateTable", shape)
    assert (status, answer["__type"].split("#")[1]) == (400, "ResourceInUseException")
    wait_for_status(client, "slow", None)


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_transition_goes_on_after_a_restart(tmp_path, end):
    flags = ("--data-dir", str(tmp_path), "-delayTransientStatuses")
    with StatorProcess(*flags) as server:
        client = FastClient(server.port)
        create_table(client, "leaving")
        put(client, "leaving", "a")
        client.call("DeleteTable", {"TableName": "leaving"})
        client.call(
            "CreateTable",
            {
                "TableName": "coming",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            },
        )
        getattr(server, end)()
    with StatorProcess(*flags) as server:
        client = FastClient(server.port)
        wait_for_status(client, "leaving", None)
        wait_for_status(client, "coming", "ACTIVE")
        server.stop()


def test_a_deleted_table_leaves_nothing_behind_after_a_restart(tmp_path):
    flags = ("--data-dir", str(tmp_path))
    with StatorProcess(*flags) as server:
        client = FastClient(server.port)
        create_table(client, "emptied")
        for index in range(500):
            put(client, "emptied", str(index))
        assert client.call("DeleteTable", {"TableName": "emptied"})[0] == 200
        server.kill()  # While the items are perhaps still being removed.
    with StatorProcess(*flags) as server:
        client = FastClient(server.port)
        wait_for_status(client, "emptied", None)
        create_table(client, "emptied")
        assert [i for i in range(500) if get(client, "emptied", str(i)) is not None] == []
        server.stop()
