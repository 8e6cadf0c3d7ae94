"""`stator backup` and `stator restore`: whole copies of stores at rest and at work, or nothing."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

import stator_process
from fast_client import FastClient, ServerGone
from stator_process import Connection, Keys, StatorProcess, binary, check

LIMIT_S = 60
ITEMS = 300
GLOBAL = {"by-group": ([("group", "S", "HASH")], "ALL")}
CLEAN = f"1 table, {ITEMS} items, {ITEMS} index entries: no problems\n"
UNFINISHED = "a backup or restore into it is not finished, or was interrupted"


def run(*words, **options):
    return subprocess.run(
        [binary(), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        **options,
    )


def back_up(data, target):
    return run("backup", target, "--data-dir", data)


def restore(source, data):
    return run("restore", source, "--data-dir", data)


def assert_done(result, verb):
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    assert result.stdout.startswith(verb) and result.stdout.count("\n") == 1


def assert_refused(result, text):
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"stator: {text}\n"


def wait_until(condition):
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def fill(port):
    client = Connection(port)
    stator_process.create_table(client, "orders", global_=GLOBAL, stream="NEW_IMAGE")
    for number in range(ITEMS):
        item = {"pk": {"S": f"k{number}"}, "group": {"S": f"g{number % 7}"}}
        status, answer = client.call("PutItem", {"TableName": "orders", "Item": item})
        assert status == 200, answer
    client.close()


@pytest.fixture(name="store")
def fixture_store(tmp_path):
    """A directory that a server has filled and closed."""
    with StatorProcess("--data-dir", str(tmp_path / "data")) as server:
        fill(server.port)
        server.stop()
    return tmp_path / "data"


def stream_keys(connection):
    """The keys of all records of the one stream, by shard."""
    arn = connection.call("ListStreams", {})[1]["Streams"][0]["StreamArn"]
    shards = connection.call("DescribeStream", {"StreamArn": arn})[1]["StreamDescription"]["Shards"]
    keys = []
    for shard in shards:
        place = {"StreamArn": arn, "ShardId": shard["ShardId"]}
        request = {**place, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = connection.call("GetShardIterator", request)[1]["ShardIterator"]
        records = connection.call("GetRecords", {"ShardIterator": iterator})[1]["Records"]
        keys += [record["dynamodb"]["Keys"]["pk"]["S"] for record in records]
    return keys


# --- Stores at rest ---


def test_a_store_at_rest_comes_back(store, tmp_path):
    before = {file.name: file.stat().st_mtime_ns for file in store.iterdir()}
    assert_done(back_up(store, tmp_path / "b"), "backed up ")
    assert {file.name: file.stat().st_mtime_ns for file in store.iterdir()} == before
    assert check(tmp_path / "b").stdout == CLEAN
    assert_done(restore(tmp_path / "b", tmp_path / "new"), "restored ")
    assert check(tmp_path / "new").stdout == CLEAN
    with StatorProcess("--data-dir", str(tmp_path / "new")) as server:
        connection = Connection(server.port)
        assert connection.call("Scan", {"TableName": "orders"})[1]["Count"] == ITEMS
        assert sorted(stream_keys(connection)) == sorted(f"k{number}" for number in range(ITEMS))
        connection.close()
        server.stop()
    assert check(tmp_path / "b").stdout == CLEAN  # Nothing in the backup was touched.


def test_backups_of_tables_that_a_copy_lacks_are_announced(store, tmp_path):
    with StatorProcess("--data-dir", str(store)) as server:
        client = Connection(server.port)
        status, answer = client.call("CreateBackup", {"TableName": "orders", "BackupName": "backup"})
        assert status == 200, answer
        request = {"BackupArn": answer["BackupDetails"]["BackupArn"]}
        wait_until(lambda: "AVAILABLE" in str(client.call("DescribeBackup", request)[1]))
        client.close()
        server.stop()
    left_out = f"stator: the backups of tables in {store}/backups are not part of the copy: copy that folder too\n"
    result = back_up(store, tmp_path / "b")
    assert (result.returncode, result.stderr) == (0, left_out)
    assert_done(restore(tmp_path / "b", tmp_path / "new"), "restored ")
    result = check(tmp_path / "new")
    assert result.returncode == 0 and result.stdout.endswith(" no problems\n")
    assert f"stator: backups of tables (1) are not in {tmp_path}/new/backups, the first one is " in result.stderr
    shutil.copytree(store / "backups", tmp_path / "new" / "backups")
    assert check(tmp_path / "new").stderr == ""


def test_a_backup_is_no_data_directory_until_it_is_restored(store, tmp_path):
    assert_done(back_up(store, tmp_path / "b"), "backed up ")
    result = run("serve", "--port", "0", "--data-dir", tmp_path / "b")
    assert_refused(
        result,
        f"cannot use data directory '{tmp_path}/b': holds a backup; `stator restore` makes a store "
        "of it",
    )


def test_directories_with_something_in_them_are_refused(store, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    assert_refused(back_up(store, tmp_path / "full"), f"{tmp_path}/full: is not empty")
    assert_done(back_up(store, tmp_path / "b"), "backed up ")
    assert_refused(restore(tmp_path / "b", tmp_path / "full"), f"{tmp_path}/full: is not empty")
    assert_refused(restore(tmp_path / "b", store), f"{store}: is not empty")
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["file"]


def test_what_is_no_store_and_what_is_no_backup_is_refused(store, tmp_path):
    missing = f"'{tmp_path}/none': it does not exist"
    result = back_up(tmp_path / "none", tmp_path / "b")
    assert_refused(result, f"cannot use data directory {missing}")
    assert_refused(restore(tmp_path / "none", tmp_path / "new"), f"cannot use backup {missing}")
    assert_refused(restore(store, tmp_path / "new"), f"{store}: holds no complete backup")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["data"]


def test_a_damaged_backup_is_named_and_not_restored(store, tmp_path):
    assert_done(back_up(store, tmp_path / "b"), "backed up ")
    log = next((tmp_path / "b").glob("*.log"))
    content = bytearray(log.read_bytes())
    content[-1] ^= 1  # RocksDB alone would take it for a torn end, and the mark for a loss.
    log.write_bytes(content)
    result = restore(tmp_path / "b", tmp_path / "new")
    assert result.returncode == 1
    assert not (tmp_path / "new").exists()
    options = next((tmp_path / "b").glob("OPTIONS-*"))
    log.write_bytes(log.read_bytes()[:-1] + bytes([content[-1] ^ 1]))
    options.write_text("other")
    damaged = f"{options}: damaged: not what was backed up"
    assert_refused(restore(tmp_path / "b", tmp_path / "new"), damaged)
    result = check(tmp_path / "b")
    assert result.returncode == 1
    assert result.stdout.splitlines() == [damaged, CLEAN.replace("no problems\n", "1 problem")]
    assert not (tmp_path / "new").exists()


def test_command_lines_that_make_no_sense_are_refused_with_2():
    for words, text in [
        (["backup"], "backup: expected DIR (see `stator backup --help`)"),
        (["backup", "a", "b"], "backup: expected DIR (see `stator backup --help`)"),
        (["restore"], "restore: expected DIR (see `stator restore --help`)"),
        (["restore", ""], "restore: expected DIR (see `stator restore --help`)"),
        (["backup", "a", "--in-memory"], "--in-memory: there is no store in memory to back up"),
        (["restore", "a", "--in-memory"], "--in-memory: there is no store in memory to restore"),
    ]:
        result = run(*words)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr == f"stator: {text}\n"


def run_on_a_terminal(*words):
    """(exit code, standard output, what a terminal on standard error showed)."""
    main, terminal = os.openpty()
    process = subprocess.Popen(
        [binary(), *map(str, words)], stdout=subprocess.PIPE, stderr=terminal, text=True
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # EIO: the other end was closed.
        while piece := os.read(main, 4096):
            shown += piece
    os.close(main)
    with process.stdout:
        return process.wait(LIMIT_S), process.stdout.read(), shown.decode("utf-8")


def test_progress_is_shown_on_a_terminal_and_nowhere_else(store, tmp_path):
    for words, verb, result in (
        (["backup", tmp_path / "b", "--data-dir", store], "copied", "backed up "),
        (["check", tmp_path / "b"], "compared", CLEAN),
        (["restore", tmp_path / "b", "--data-dir", tmp_path / "new"], "restored", "restored "),
    ):
        code, printed, shown = run_on_a_terminal(*words)
        assert code == 0 and printed.startswith(result), shown
        assert f"\r\033[K{verb} 1 of " in shown
        assert shown.endswith("\r\033[K")  # The line is cleared in the end.


# --- Stores at work ---

ACCOUNTS = 8
BALANCE = 100
CLIENTS = 3


class Teller(threading.Thread):
    """Moves money between accounts, and counts what was acknowledged."""

    def __init__(self, port, number):
        super().__init__()
        self.number = number
        self.acknowledged = 0
        self.stopping = False
        self.failure = None
        self._client = FastClient(port)
        self._choices = random.Random(number)

    def move(self, count):
        giver, taker = self._choices.sample(range(ACCOUNTS), 2)
        changes = [(f"account-{giver}", "-1"), (f"account-{taker}", "1")]
        changes.append((f"teller-{self.number}", "1"))
        actions = [
            {
                "Update": {
                    "TableName": "bank",
                    "Key": {"pk": {"S": key}},
                    "UpdateExpression": "ADD amount :change",
                    "ExpressionAttributeValues": {":change": {"N": change}},
                }
            }
            for key, change in changes
        ]
        status, answer = self._client.call("TransactWriteItems", {"TransactItems": actions})
        assert status == 200, answer
        self.acknowledged = count

    def run(self):
        try:
            count = 0
            while not self.stopping:
                count += 1
                self.move(count)
        except ServerGone:
            pass
        except BaseException as error:  # Reported by whoever waits.
            self.failure = error


@contextlib.contextmanager
def bank(port):
    """Tellers at work."""
    client = Connection(port)
    stator_process.create_table(client, "bank", global_={"by-amount": GLOBAL["by-group"]})
    for number in range(ACCOUNTS):
        item = {
            "pk": {"S": f"account-{number}"},
            "amount": {"N": str(BALANCE)},
            "group": {"S": f"g{number % 2}"},
        }
        assert client.call("PutItem", {"TableName": "bank", "Item": item})[0] == 200
    client.close()
    tellers = [Teller(port, number) for number in range(CLIENTS)]
    for teller in tellers:
        teller.start()
    try:
        yield tellers
    finally:
        for teller in tellers:
            teller.stopping = True
        for teller in tellers:
            teller.join()
    for teller in tellers:
        if teller.failure:
            raise teller.failure


def assert_books_balance(data, acknowledged):
    result = check(data)
    assert result.returncode == 0, result.stdout + result.stderr
    with StatorProcess("--data-dir", str(data)) as server:
        connection = Connection(server.port)
        scan = {"TableName": "bank", "ConsistentRead": True}
        items = connection.call("Scan", scan)[1]["Items"]
        connection.close()
    amounts = {item["pk"]["S"]: int(item["amount"]["N"]) for item in items}
    assert sum(amounts[f"account-{n}"] for n in range(ACCOUNTS)) == ACCOUNTS * BALANCE
    for number, count in enumerate(acknowledged):
        assert amounts.get(f"teller-{number}", 0) >= count


def test_a_backup_under_load_has_what_was_acknowledged_and_only_whole_transactions(tmp_path):
    flags = ["--data-dir", str(tmp_path / "data"), "--write-buffer-size", "1M"]
    rounds = []
    with StatorProcess(*flags) as server:
        with bank(server.port) as tellers:
            for number in range(4):
                rounds.append([teller.acknowledged for teller in tellers])
                assert_done(back_up(tmp_path / "data", tmp_path / f"b{number}"), "backed up ")
                count = tellers[0].acknowledged
                wait_until(lambda t=tellers[0], c=count: t.acknowledged > c)  # It goes on.
        server.stop()
    assert not (tmp_path / "data/checkpoint").exists()
    for number, acknowledged in enumerate(rounds):
        assert check(tmp_path / f"b{number}").returncode == 0
        assert_done(restore(tmp_path / f"b{number}", tmp_path / f"new{number}"), "restored ")
        assert_books_balance(tmp_path / f"new{number}", acknowledged)


def test_backups_at_the_same_time_take_turns(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path / "data")) as server:
        fill(server.port)
        commands = [
            subprocess.Popen([binary(), "backup", tmp_path / f"b{n}", "--data-dir", server.data])
            for n in range(3)
        ]
        assert [command.wait(LIMIT_S) for command in commands] == [0, 0, 0]
        server.stop()
    for number in range(3):
        assert check(tmp_path / f"b{number}").stdout == CLEAN


def test_keys_travel_sealed_and_no_key_is_asked_for(tmp_path):
    keys = Keys(tmp_path)
    key, _ = keys.create("admin", {"Effect": "Allow", "Action": "*", "Resource": "*"})
    with StatorProcess("--auth", *keys.flags) as server:
        assert_done(back_up(tmp_path / "data", tmp_path / "b"), "backed up ")
        server.stop()
    shutil.rmtree(tmp_path / "data")
    assert_done(restore(tmp_path / "b", tmp_path / "data"), "restored ")
    assert keys.command("key", "list").startswith(f"{key} admin active ")
    master = next(tmp_path.glob("master-*.key")).read_bytes()
    assert not [file for file in (tmp_path / "b").iterdir() if master in file.read_bytes()]


def ask(data):
    """A connection to the socket of backups, once the server has made its copy."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(LIMIT_S)
    descriptor = os.open(data, os.O_RDONLY)
    client.connect(f"/proc/self/fd/{descriptor}/backup.socket")
    os.close(descriptor)
    assert client.recv(100) == b"ok\n"
    return client


def test_the_copy_goes_when_whoever_asked_for_it_goes(tmp_path):
    data = tmp_path / "data"
    with StatorProcess("--data-dir", str(data)) as server:
        assert (data / "backup.socket").stat().st_mode & 0o777 == 0o600
        client = ask(data)
        assert (data / "checkpoint/FORMAT").is_file()
        client.close()
        wait_until(lambda: not (data / "checkpoint").exists())
        with ask(data):
            server.stop()  # In good time, with a copy under way.
    assert not (data / "checkpoint").exists()
    assert not (data / "backup.socket").exists()


def test_a_killed_server_leaves_nothing_that_the_next_one_does_not_remove(tmp_path):
    data = tmp_path / "data"
    with StatorProcess("--data-dir", str(data)) as server:
        fill(server.port)
        with ask(data):
            server.kill()
            assert (data / "checkpoint").exists()
    (data / "checkpoint.tmp").mkdir()
    (data / "checkpoint.tmp/half").touch()
    assert_done(back_up(data, tmp_path / "b"), "backed up ")  # The socket is still there.
    assert check(tmp_path / "b").stdout == CLEAN
    with StatorProcess("--data-dir", str(data)) as server:
        assert not (data / "checkpoint").exists() and not (data / "checkpoint.tmp").exists()
        assert_done(back_up(data, tmp_path / "b2"), "backed up ")
        server.stop()
    assert check(data).stdout == CLEAN


# --- Ends at any moment ---


def large(data):
    """A file that takes some time to copy."""
    with open(data / "000000.filler", "wb") as file:
        file.truncate(128 << 20)


def run_until_killed(delay_s, *words):
    """Whether it was killed before its end."""
    command = subprocess.Popen(
        [binary("STATOR_RELEASE_BINARY", "build/stator"), *map(str, words)],
        stdout=subprocess.DEVNULL,
    )
    time.sleep(delay_s)
    command.send_signal(signal.SIGKILL)
    return command.wait(LIMIT_S) != 0


def assert_nothing_or_unfinished(directory):
    """A directory that never looks like a whole one."""
    if not directory.exists() or not any(directory.iterdir()):
        return False
    text = f"cannot use data directory '{directory}': {UNFINISHED}"
    assert_refused(run("serve", "--port", "0", "--data-dir", directory), text)
    assert_refused(check(directory), text)
    result = restore(directory, directory.parent / "from-half")
    assert_refused(result, text.replace("data directory", "backup"))
    assert not (directory / "BACKUP").exists()
    return True


def test_a_killed_backup_or_restore_is_never_taken_for_a_whole_one(store, tmp_path):
    large(store)
    assert_done(back_up(store, tmp_path / "whole"), "backed up ")
    unfinished = 0
    for delay_ms in (10, 20, 40, 60, 80, 120):
        for number, words in enumerate(
            [("backup", "{}", "--data-dir", store), ("restore", tmp_path / "whole", "--data-dir", "{}")]
        ):
            target = tmp_path / f"target-{number}-{delay_ms}"
            words = [target if word == "{}" else word for word in words]
            if run_until_killed(delay_ms / 1000, *words):
                unfinished += assert_nothing_or_unfinished(target)
            else:
                assert check(target).stdout == CLEAN
            shutil.rmtree(target, ignore_errors=True)
    assert unfinished > 0


@contextlib.contextmanager
def small_disk(path, size):
    """A file system of its own; skips where none can be mounted."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(path)]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_ends_a_backup_and_leaves_nothing(tmp_path):
    with small_disk(tmp_path / "small", "32k") as small:
        with StatorProcess("--data-dir", str(tmp_path / "data")) as server:
            fill(server.port)
            result = back_up(tmp_path / "data", small / "b")
            assert result.returncode == 1
            assert result.stderr.endswith(": No space left on device\n")
            assert list(small.iterdir()) == []
            assert_done(back_up(tmp_path / "data", tmp_path / "b"), "backed up ")
            server.stop()
    assert check(tmp_path / "b").stdout == CLEAN


def test_a_server_whose_disk_is_full_says_so_and_goes_on(tmp_path):
    with small_disk(tmp_path / "small", "64m") as small:
        with StatorProcess("--data-dir", str(small / "data")) as server:
            fill(server.port)
            space = os.statvfs(small)
            with open(small / "filler", "wb") as file:
                os.posix_fallocate(file.fileno(), 0, space.f_bavail * space.f_frsize - (2 << 20))
            assert_refused(
                back_up(small / "data", tmp_path / "b"),
                f"{small}/data: the server cannot copy its store: no space left",
            )
            (small / "filler").unlink()
            assert_done(back_up(small / "data", tmp_path / "b"), "backed up ")
            client = Connection(server.port)
            item = {"pk": {"S": "more"}, "group": {"S": "g"}}
            assert client.call("PutItem", {"TableName": "orders", "Item": item})[0] == 200
            client.close()
            server.stop()
    assert check(tmp_path / "b").stdout == CLEAN
