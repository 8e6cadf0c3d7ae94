"""`stator check`: what it says of a directory, its exit codes, and that it leaves all as it is."""

import os
import signal
import subprocess
import threading
import time

import pytest

import stator_process
from fast_client import FastClient, ServerGone
from stator_process import StatorProcess, check

ITEMS = 400
LOCAL = {"by-date": ([("pk", "S", "HASH"), ("date", "S", "RANGE")], "KEYS_ONLY")}
GLOBAL = {
    "by-group": ([("group", "S", "HASH")], "ALL"),
    "by-group-and-date": ([("group", "S", "HASH"), ("date", "S", "RANGE")], "KEYS_ONLY"),
}
INDEX_COUNT = 3
CLEAN = f"1 table, {ITEMS} items, {INDEX_COUNT * ITEMS} index entries: no problems\n"
LINES_MAX = 100  # PROBLEM_LINES_MAX of store_commands.c


def item(number):
    return {
        "pk": {"S": f"customer-{number % 20}"},
        "sk": {"N": str(number)},
        "group": {"S": f"group-{number % 5}"},
        "date": {"S": f"2024-{number % 12 + 1:02}"},
        "filler": {"S": "f" * 100},
    }


def put(client, number):
    return client.call("PutItem", {"TableName": "orders", "Item": item(number)})


@pytest.fixture
def store(tmp_path):
    """A directory that a server has filled and closed."""
    directory = tmp_path / "data"
    with StatorProcess("--data-dir", str(directory)) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, "orders", sort_key=True, local=LOCAL, global_=GLOBAL)
        for number in range(ITEMS):
            status, answer = put(client, number)
            assert status == 200, answer
        client.close()
        server.stop()
    return directory


def listing(directory):
    return {
        file.name: (file.stat().st_size, file.stat().st_mtime_ns, file.stat().st_ino)
        for file in [directory, *directory.iterdir()]
    }


def assert_refused(result, code, text):
    assert (result.returncode, result.stdout) == (code, "")
    assert result.stderr == f"stator: {text}\n"


def run(*words, **variables):
    return subprocess.run(
        [stator_process.binary(), *words],
        capture_output=True,
        text=True,
        timeout=stator_process.CHECK_TIMEOUT_S,
        check=False,
        env={**os.environ, **variables},
    )


def test_a_store_that_a_server_left_is_clean_and_stays_as_it_is(store):
    before = listing(store)
    for words in (["check", str(store)], ["check", "--data-dir", str(store)]):
        result = run(*words)
        assert (result.returncode, result.stdout, result.stderr) == (0, CLEAN, "")
    assert run("check", STATOR_DATA_DIR=str(store)).stdout == CLEAN
    assert listing(store) == before


def test_an_empty_store_is_clean(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path)) as server:
        server.stop()
    assert check(tmp_path).stdout == "0 tables, 0 items, 0 index entries: no problems\n"


def test_a_store_is_clean_after_a_kill_under_load(tmp_path):
    def write_until_gone(port, first):
        try:
            client = FastClient(port)
            for number in range(first, 1 << 30, 4):
                # Every third write is a delete, so entries come and go.
                if number % 3:
                    put(client, number % 1000)
                else:
                    key = {name: item(number % 1000)[name] for name in ("pk", "sk")}
                    client.call("DeleteItem", {"TableName": "orders", "Key": key})
        except ServerGone:
            pass

    with StatorProcess("--data-dir", str(tmp_path)) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, "orders", sort_key=True, local=LOCAL, global_=GLOBAL)
        threads = [
            threading.Thread(target=write_until_gone, args=(server.port, first))
            for first in range(4)
        ]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        server.process.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()
    before = listing(tmp_path)
    result = check(tmp_path)
    assert result.returncode == 0, result.stdout
    assert result.stdout.startswith("1 table, ")
    assert result.stdout.endswith(" index entries: no problems\n")
    assert listing(tmp_path) == before


def test_a_store_that_a_server_has_open_is_refused(store):
    with StatorProcess("--data-dir", str(store)) as server:
        result = check(store)
        server.stop()
    assert_refused(result, 1, f"cannot use data directory '{store}': in use by another process")


def test_what_is_no_store_is_refused_and_not_created(tmp_path):
    missing = tmp_path / "missing"
    assert_refused(check(missing), 1, f"cannot use data directory '{missing}': it does not exist")
    assert not missing.exists()
    assert_refused(check(tmp_path), 1, f"cannot use data directory '{tmp_path}': holds no store")
    assert list(tmp_path.iterdir()) == []


def test_a_command_line_that_makes_no_sense_is_refused_with_2():
    assert_refused(run("check", "a", "b"), 2, "check: expected [DIR] (see `stator check --help`)")
    assert_refused(run("check", "--bogus"), 2, "--bogus: no such flag (see `stator check --help`)")
    assert_refused(
        run("check", "--in-memory"), 2, "--in-memory: there is no store in memory to check"
    )


def table_file(directory):
    """The one that recovery wrote when the store was opened again."""
    with StatorProcess("--data-dir", str(directory)) as server:
        server.stop()
    assert check(directory).stdout == CLEAN
    return max(directory.glob("*.sst"), key=lambda file: file.stat().st_size)


def flip(file, first, last):
    """Flips every bit of a part of the file, given in hundredths."""
    content = bytearray(file.read_bytes())
    for at in range(len(content) * first // 100, len(content) * last // 100):
        content[at] ^= 0xFF
    file.write_bytes(content)


@pytest.mark.parametrize(
    "first,last,problem",
    [
        (0, 1, "catalogue: cannot be read: corrupt"),
        (20, 21, "table orders, partition "),
        (50, 51, "table orders, "),
    ],
)
def test_a_damaged_file_is_reported(store, first, last, problem):
    flip(table_file(store), first, last)
    result = check(store)
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert any(line.startswith(problem) for line in lines), result.stdout
    assert all(": " in line or line.startswith("... and ") for line in lines)
    assert lines[-1].endswith(" problems"), result.stdout
    assert "block checksum mismatch" in result.stderr


def test_problems_beyond_a_bound_are_only_counted(store):
    flip(table_file(store), 10, 90)
    result = check(store)
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert len(lines) == LINES_MAX + 2
    more = int(lines[-2].removeprefix("... and ").removesuffix(" more"))
    assert lines[-1].endswith(f": {LINES_MAX + more} problems")


def test_a_damaged_file_beyond_reading_is_refused(store):
    flip(table_file(store), 97, 100)
    result = check(store)
    assert (result.returncode, result.stdout) == (1, "")
    start = f"stator: cannot use data directory '{store}': the store is damaged: "
    assert result.stderr.startswith(start) and result.stderr.count("\n") == 1
