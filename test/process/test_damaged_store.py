"""A store that was damaged while no server had it open: nothing is shortened in silence.

Most damage is noticed at the start, which is refused with a line that names the file or says what is
missing, and changes nothing. What lies in the middle of a table file is noticed when it is read: the
request is answered with an error, and `stator check` tells.
"""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import stator_process
from fast_client import FastClient

# What RocksDB notes of its own doings, and space that is set aside and given up at each start.
OF_NO_MATTER = ("LOG", "LOG.old.*", "RESERVE")
TABLE = "items"
ITEMS = 100
MISSING = "changes that were synced cannot be read back"


def flip(share):
    def damage(path):
        content = bytearray(path.read_bytes())
        content[int(len(content) * share)] ^= 1
        path.write_bytes(content)

    return damage


def shorten(size):
    return lambda path: os.truncate(path, path.stat().st_size - size)


def halve(path):
    os.truncate(path, path.stat().st_size // 2)


def empty(path):
    os.truncate(path, 0)


def zero_end(path):
    content = path.read_bytes()
    path.write_bytes(content[:-200] + bytes(200))


def overwrite(path):
    path.write_bytes(b"\xff" * path.stat().st_size)


delete = pathlib.Path.unlink

# (file, damage, what the refusal says)
REFUSED = {
    "the log lost its end": ("*.log", shorten(100), MISSING),
    "the log lost its last byte": ("*.log", shorten(1), MISSING),
    "the log has a flipped bit": ("*.log", flip(0.5), MISSING),
    "the log's first byte is another": ("*.log", flip(0), MISSING),
    "the log's end is zero": ("*.log", zero_end, MISSING),
    "the log is empty": ("*.log", empty, MISSING),
    "the log is gone": ("*.log", delete, MISSING),
    "the manifest lost its end": ("MANIFEST-*", shorten(10), "MANIFEST-.* bytes, and .* synced"),
    "the manifest lost its half": ("MANIFEST-*", halve, "MANIFEST-.* bytes, and .* synced"),
    "the manifest is empty": ("MANIFEST-*", empty, "MANIFEST-.* has 0 bytes, and .* synced"),
    "the manifest has a flipped bit": ("MANIFEST-*", flip(0.5), "MANIFEST-.* is not what was"),
    "the manifest's end is zero": ("MANIFEST-*", zero_end, "MANIFEST-.* is not what was synced"),
    "the manifest is gone": ("MANIFEST-*", delete, "MANIFEST-"),
    "CURRENT is gone": ("CURRENT", delete, "CURRENT"),
    "CURRENT is overwritten": ("CURRENT", overwrite, "CURRENT"),
    "a table file is gone": ("*.sst", delete, r"\d+\.(sst|ldb)"),
    "a table file lost its end": ("*.sst", shorten(100), r"\d+\.sst"),
    "a table file is empty": ("*.sst", empty, r"\d+\.sst"),
    "a table file's end is damaged": ("*.sst", flip(0.99), r"\d+\.sst"),
    "FORMAT is gone": ("FORMAT", delete, "holds a RocksDB store that is not stator's"),
    "FORMAT is overwritten": ("FORMAT", overwrite, "FORMAT is unreadable"),
}


def fill(directory, first, last):
    with stator_process.StatorProcess("--data-dir", str(directory)) as server:
        client = FastClient(server.port)
        if first == 0:
            stator_process.create_table(client, TABLE)
        for number in range(first, last):
            item = {"pk": {"S": f"key-{number}"}, "filler": {"S": "x" * 500}}
            status, answer = client.call("PutItem", {"TableName": TABLE, "Item": item})
            assert status == 200, answer
        client.close()
        server.stop()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """One half of the items is in a table file, the other half in the log."""
    directory = tmp_path_factory.mktemp("whole") / "data"
    fill(directory, 0, ITEMS // 2)
    fill(directory, ITEMS // 2, ITEMS)
    return directory


@pytest.fixture
def copy(store, tmp_path):
    without = shutil.ignore_patterns(*OF_NO_MATTER)
    return pathlib.Path(shutil.copytree(store, tmp_path / "data", ignore=without))


def newest_file(directory, pattern):
    """RocksDB numbers its files; an older one of a kind may be of no use any more."""
    return max(path for path in directory.glob(pattern) if path.stat().st_size > 0)


def content(directory):
    files = [path for path in directory.iterdir() if path.is_file()]
    return {
        path.name: path.read_bytes()
        for path in files
        if not any(fnmatch.fnmatch(path.name, pattern) for pattern in OF_NO_MATTER)
    }


def serve(directory):
    """A server that should not start, once it has ended."""
    command = [stator_process.binary(), "serve", "--port", "0", "--data-dir", str(directory)]
    limit = stator_process.START_TIMEOUT_S
    return subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)


@pytest.mark.parametrize("name", REFUSED)
def test_a_damaged_store_is_refused_and_left_alone(name, copy):
    pattern, damage, says = REFUSED[name]
    damage(newest_file(copy, pattern))
    damaged = content(copy)
    refusal = re.compile(f"^stator: cannot use data directory '.*': .*{says}", re.M)
    for result in (serve(copy), stator_process.check(copy)):
        assert result.returncode == 1, result.stdout
        assert refusal.search(result.stderr), result.stderr
        assert content(copy) == damaged


def get_all(server):
    client = FastClient(server.port)
    keys = [{"pk": {"S": f"key-{number}"}} for number in range(ITEMS)]
    answers = client.call_many("GetItem", [{"TableName": TABLE, "Key": key} for key in keys])
    client.close()
    return answers


def test_a_damaged_block_is_an_error_for_whoever_reads_it(copy):
    path = newest_file(copy, "*.sst")
    flip(0.3)(path)
    with stator_process.StatorProcess("--data-dir", str(copy)) as server:
        answers = get_all(server)
        failed = [answer for status, answer in answers if status == 500]
        assert failed and len(failed) < ITEMS // 2
        assert all("InternalServerError" in answer["__type"] for answer in failed)
        assert sum("Item" in answer for _, answer in answers) == ITEMS - len(failed)
        server.stop()
        assert path.name in server.log()
    result = stator_process.check(copy)
    assert result.returncode == 1
    assert path.name in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("damage", "says"), [(delete, "is missing"), (empty, "is missing"), (overwrite, "cannot be read")]
)
def test_a_lost_mark_is_told_and_loses_nothing(damage, says, copy):
    damage(copy / "SYNCED")
    warning = f"the file SYNCED {says}: whether all that was synced is there cannot be told"
    result = stator_process.check(copy)
    assert result.returncode == 0 and warning in result.stderr, result.stderr
    with stator_process.StatorProcess("--data-dir", str(copy)) as server:
        assert warning in server.log()
        assert all("Item" in answer for _, answer in get_all(server))
        server.stop()
    with stator_process.StatorProcess("--data-dir", str(copy)) as server:
        assert "SYNCED" not in server.log()
        server.stop()
