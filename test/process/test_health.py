"""What a server says of itself: /healthz while the process answers, /readyz while reads and writes
are possible, and otherwise 503 with one line that says why."""

import http.client
import json
import pathlib
import shutil
import socket
import threading
import time

import pytest

import stator_process
from fast_client import FastClient
from stator_process import StatorProcess, create_table, operation_headers

DEADLINE_S = 90
POLL_S = 0.02
TABLE = "health"
LOST = "The data directory was removed or replaced: nothing can be written until the server is restarted"


def get(server, path, **headers):
    """(status, text) on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE_S)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def wait_for_ready(server, status):
    """The line of /readyz, once it has that status."""
    deadline = time.monotonic() + DEADLINE_S
    while (answer := get(server, "/readyz"))[0] != status:
        assert time.monotonic() < deadline, answer
        time.sleep(POLL_S)
    return answer[1]


def wait_for_log(server, text):
    deadline = time.monotonic() + DEADLINE_S
    while text not in server.log():
        assert time.monotonic() < deadline, server.log()
        time.sleep(POLL_S)


def put(client, number):
    item = {"pk": {"S": str(number)}, "value": {"S": "x" * 100}}
    return client.call("PutItem", {"TableName": TABLE, "Item": item})


def start(tmp_path, *flags, **options):
    return StatorProcess("--data-dir", str(tmp_path / "data"), *flags, **options)


def test_a_server_that_works_is_alive_and_ready(tmp_path):
    with start(tmp_path) as server:
        assert get(server, "/healthz") == (200, "ok\n")
        assert get(server, "/readyz") == (200, "ok\n")
        server.stop()


def test_a_log_that_failed_is_told(tmp_path):
    """The tenth write or so to a file of the store fails, and all later ones."""
    variables = {
        "LD_PRELOAD": stator_process.preload("failing_calls"),
        "FAILING_CALLS_UNDER": str(tmp_path / "data"),
        "FAILING_CALLS_KIND": "write",
        "FAILING_CALLS_HOW": "EIO",
        "FAILING_CALLS_NTH": "60",
        "FAILING_CALLS_STAYING": "1",
    }
    program = stator_process.binary("STATOR_RELEASE_BINARY", "build/stator")
    with start(tmp_path, program=program, variables=variables) as server:
        client = FastClient(server.port)
        create_table(client, TABLE)
        number = 0
        while put(client, number)[0] == 200:
            number += 1
            assert number < 1000
        assert get(server, "/readyz") == (
            503, "log failed: the store refuses writes; see the server's log\n",
        )  # fmt: skip
        assert put(client, number)[0] == 500
        assert get(server, "/readyz")[0] == 503
        assert get(server, "/healthz") == (200, "ok\n")
        client.close()


def remove(directory):
    shutil.rmtree(directory)


def rename(directory):
    directory.rename(directory.parent / "elsewhere")


def replace(directory):
    rename(directory)
    ignored = shutil.ignore_patterns("*.socket")
    shutil.copytree(directory.parent / "elsewhere", directory, ignore=ignored)


@pytest.mark.parametrize("durability", ["sync", "os"])
@pytest.mark.parametrize("loses", [remove, rename, replace])
def test_no_write_is_acknowledged_once_the_data_directory_is_gone(tmp_path, loses, durability):
    with start(tmp_path, "--durability", durability) as server:
        client = FastClient(server.port)
        create_table(client, TABLE)
        assert put(client, 0)[0] == 200
        loses(tmp_path / "data")
        if durability == "os":  # Nothing is synced, so only the watch can notice.
            wait_for_ready(server, 503)
        for number in range(50):
            status, answer = put(client, number)
            assert (status, answer["message"]) == (500, LOST)
        assert get(server, "/readyz") == (
            503, "data directory removed or replaced: restart the server\n",
        )  # fmt: skip
        assert get(server, "/healthz") == (200, "ok\n")
        key = {"TableName": TABLE, "Key": {"pk": {"S": "0"}}}
        assert client.call("GetItem", key)[1]["Item"]["pk"] == {"S": "0"}
        client.close()
        server.stop()


def test_writers_are_not_acknowledged_behind_the_removal(tmp_path):
    """Many at a time, while the files go one by one. What was sent after the log was unlinked is not
    acknowledged."""
    gone = threading.Event()
    late = []

    def write(server, first):
        client = FastClient(server.port)
        number = first
        while True:
            was_gone = gone.is_set()
            number += 1
            status, _ = put(client, number)
            if status == 200 and was_gone:
                late.append(number)
            if status != 200 or len(late) > 0:
                break
        client.close()

    with start(tmp_path) as server:
        client = FastClient(server.port)
        create_table(client, TABLE)
        threads = [
            threading.Thread(target=write, args=(server, 1_000_000 * i)) for i in range(8)
        ]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        for path in sorted((tmp_path / "data").glob("*.log")):
            path.unlink()
        gone.set()
        time.sleep(0.05)
        remove(tmp_path / "data")
        for thread in threads:
            thread.join()
        assert late == []
        server.stop()


def test_memory_pressure_is_told_and_health_checks_are_answered(tmp_path):
    """Answers of 15 MB that nobody reads take more than three quarters of 64 MB."""
    with start(tmp_path, "--request-memory-max", "64M") as server:
        client = FastClient(server.port)
        create_table(client, TABLE)
        keys = []
        for number in range(40):
            item = {"pk": {"S": str(number)}, "value": {"S": "x" * 390_000}}
            assert client.call("PutItem", {"TableName": TABLE, "Item": item})[0] == 200
            keys.append({"pk": item["pk"]})
        body = json.dumps({"RequestItems": {TABLE: {"Keys": keys}}}).encode()
        headers = {**operation_headers("BatchGetItem"), "Host": "x", "Content-Length": len(body)}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        silent = []
        deadline = time.monotonic() + DEADLINE_S
        while get(server, "/readyz")[0] == 200:
            assert time.monotonic() < deadline and len(silent) < 50
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(f"POST / HTTP/1.1\r\n{head}\r\n".encode() + body)
            silent.append(connection)
            time.sleep(0.1)
        status, text = get(server, "/readyz")
        assert status == 503 and text.startswith("memory pressure: ") and text.count("\n") == 1
        assert get(server, "/healthz") == (200, "ok\n")
        for connection in silent:
            connection.close()
        wait_for_ready(server, 200)
        client.close()
        server.stop()


def test_a_server_that_stops_says_so_while_requests_under_way_finish(tmp_path):
    with start(tmp_path, "--workers", "1") as server:
        client = FastClient(server.port)
        create_table(client, TABLE)
        client.close()
        body = json.dumps({"TableName": TABLE, "Item": {"pk": {"S": "last"}}}).encode()
        under_way = http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE_S)
        under_way.putrequest("POST", "/")
        for name, value in operation_headers("PutItem").items():
            under_way.putheader(name, value)
        under_way.putheader("Content-Length", str(len(body)))
        under_way.endheaders(body[:10])
        assert get(server, "/readyz")[0] == 200  # It was sent later, so the other one has begun.
        server.process.terminate()
        wait_for_log(server, "stopping: ")  # A connection that comes just before it may be closed.
        assert get(server, "/readyz") == (503, "shutting down\n")
        assert get(server, "/healthz") == (200, "ok\n")
        late = FastClient(server.port)
        assert late.call("ListTables", {})[0] == 503  # Not begun; SDKs try again elsewhere.
        late.close()
        under_way.send(body[10:])
        assert under_way.getresponse().status == 200
        under_way.close()
        assert server.process.wait(DEADLINE_S) == 0, server.log()


def test_the_log_is_filled_ahead_unless_that_is_turned_off(tmp_path):
    def newest_log_ends_with_fill(*flags):
        directory = tmp_path / f"data{len(flags)}"
        with StatorProcess("--data-dir", str(directory), *flags) as server:
            client = FastClient(server.port)
            create_table(client, TABLE)
            for number in range(2000):
                assert put(client, number)[0] == 200
            log = max(pathlib.Path(directory).glob("*.log"))
            filled = log.read_bytes().endswith(b"\xff" * 1000)
            client.close()
            server.stop()
        return filled

    assert newest_log_ends_with_fill()
    assert not newest_log_ends_with_fill("--no-log-prefill")
