"""Few files, few threads, little memory: a server that cannot do its work says so at the start, and
one that can is not brought down by its clients."""

import pathlib
import re
import resource
import signal
import socket
import sys
import time

import pytest

import stator_process
from fast_client import FastClient, ServerGone

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "crash"))
from io_errors import Fault  # noqa: E402

FILES = 256
# What ThreadSanitizer's and AddressSanitizer's servers reserve is no memory: the release build.
RELEASE = stator_process.binary("STATOR_RELEASE_BINARY", "build/stator", "build/release/stator")


def start(directory, *flags, **options):
    flags = ("--data-dir", str(directory), "--workers", "2", "--write-buffer-size", "1M", *flags)
    return stator_process.StatorProcess(*flags, program=RELEASE, **options)


def refusal(directory, **options):
    with pytest.raises(stator_process.DidNotStart) as caught:
        start(directory, **options)
    assert caught.value.code == 1, caught.value.log
    lines = [line for line in caught.value.log.splitlines() if line.startswith("stator: ")]
    assert len(lines) == 1, caught.value.log
    return lines[0]


# --- Files ---


def needed_files(directory):
    line = refusal(directory, limits={resource.RLIMIT_NOFILE: 64})
    found = re.fullmatch(
        r"stator: the system allows 64 open files; with these settings (\d+) are needed", line
    )
    return int(found[1])


def test_too_few_files_are_refused_at_the_start(tmp_path):
    needed = needed_files(tmp_path)
    refusal(tmp_path, limits={resource.RLIMIT_NOFILE: needed - 1})
    with start(tmp_path, limits={resource.RLIMIT_NOFILE: needed}) as server:
        assert FastClient(server.port).call("ListTables", {})[0] == 200
        server.stop()


def put(client, key, size=10):
    item = {"pk": {"S": str(key)}, "filler": {"S": "x" * size}}
    return client.call("PutItem", {"TableName": "files", "Item": item})[0]


def test_connections_leave_the_store_the_files_it_needs(tmp_path):
    with start(tmp_path, limits={resource.RLIMIT_NOFILE: FILES}) as server:
        assert "open files" in server.log()  # It says how many connections there may be.
        client = FastClient(server.port)
        stator_process.create_table(client, "files")
        crowd = []
        for _ in range(2 * FILES):
            crowd.append(socket.create_connection(("127.0.0.1", server.port)))
        for key in range(60):  # Many write buffers, so that table files come and go.
            assert put(client, key, 300_000) == 200
        for each in crowd:
            each.close()
        fresh = None
        while fresh is None:  # The server may not have noticed yet.
            try:
                fresh = FastClient(server.port)
                if put(fresh, "after") == 503:
                    fresh = None
            except ServerGone:
                fresh = None
        assert "cannot accept" not in server.log()
        assert "writing fails" not in server.log()
        server.stop()
    assert stator_process.check(tmp_path, RELEASE).returncode == 0


# --- Threads ---


def start_with_threads_until(directory, nth, staying):
    fault = Fault("thread", "EIO", nth, staying)
    return start(directory, variables=fault.variables(directory, directory / "report"))


def refused_start(directory, nth):
    """How a start ends in which threads fail from the Nth on: its code, or None if it does not."""
    try:
        with start_with_threads_until(directory, nth, staying=True) as server:
            server.stop()
        return None
    except stator_process.DidNotStart as error:
        pattern = "^stator: .*thread" if error.code == 1 else "thread|Resource temporarily"
        assert re.search(pattern, error.log, re.M), error.log
        return error.code


def add_trigger(server):
    client = FastClient(server.port)
    stator_process.create_table(client, "files", stream="NEW_IMAGE")
    trigger = {"TableName": "files", "Url": "http://127.0.0.1:9/f"}
    assert client.call("AddTrigger", trigger)[0] == 200
    return client


def result_of_trigger(client):
    return client.call("ListTriggers", {})[1]["Triggers"][0]["LastProcessingResult"]


def test_too_few_threads_are_refused_at_the_start_and_hurt_nobody_later(tmp_path):
    """Those the server needs are tried out before any of them does something. If one fails all the
    same, between that and the end of the start, it may end roughly: RocksDB knows no better."""
    codes = []
    while (code := refused_start(tmp_path / "data", len(codes) + 1)) is not None:
        codes.append(code)
    assert set(codes) == {1, -signal.SIGABRT} and codes.count(1) > len(codes) / 2
    with start_with_threads_until(tmp_path / "data", len(codes) + 1, staying=True) as server:
        client = add_trigger(server)
        assert result_of_trigger(client) == "not running"
        for key in range(20):
            assert put(client, key, 300_000) == 200
        assert put(client, "too large", 12_000_000) == 400  # Its memory goes back another way.
        assert put(client, "after") == 200
        server.stop()
    assert stator_process.check(tmp_path / "data", RELEASE).returncode == 0
    (tmp_path / "once").mkdir()
    with start_with_threads_until(tmp_path / "once", len(codes) + 1, staying=False) as server:
        client = add_trigger(server)
        while result_of_trigger(client) == "not running":
            time.sleep(0.05)
        server.stop()


# --- Memory ---


def test_too_little_memory_is_refused_at_the_start(tmp_path):
    line = refusal(tmp_path, limits={resource.RLIMIT_AS: 300 << 20})
    needed = re.fullmatch(
        r"stator: the system allows 314572800 bytes of memory; with these settings (\d+) are needed",
        line,
    )
    with start(tmp_path, limits={resource.RLIMIT_AS: int(needed[1])}) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, "files")
        for key in range(20):
            assert put(client, key, 300_000) == 200
        server.stop()
