"""A disk that is really full: a small ext4 file system in a file.

Writes of items are answered with one error, reads and deletions go on, and the server takes writes
again by itself once there is room. Nothing acknowledged is lost, nothing refused is there. Mounting
needs root; without it the tests are skipped, and the runner says so.
"""

import http.client
import os
import shutil
import subprocess
import threading
import time

import pytest

import crash_run
import io_errors
import stator_process
import stream_replay
from fast_client import FastClient, ServerGone

DISK_SIZE = 64 << 20
ITEM_SIZE = 20_000
RESUME_S = 30  # RocksDB looks for space every five seconds, where it had to stop.
RESTARTS_MAX = 3
NOT_READY = "disk full: items can be read and deleted, but not written\n"
REFUSAL = (
    500,
    "InternalServerError",
    "The disk is full: items can be read and deleted, but not written",
)


@pytest.fixture
def disk(tmp_path):
    image, place = tmp_path / "image", tmp_path / "disk"
    place.mkdir()
    with open(image, "wb") as file:
        file.truncate(DISK_SIZE)
    commands = [
        ["mkfs.ext4", "-q", "-F", "-m", "0", str(image)],
        ["mount", "-o", "loop", str(image), str(place)],
    ]
    for command in commands:
        found = shutil.which(command[0], path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
        if not found or subprocess.run([found, *command[1:]], capture_output=True).returncode:
            pytest.skip("not permitted to make and mount a file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


class Items:
    """Puts and deletes items of a table, and knows what must be there."""

    def __init__(self, port, table):
        self.client = FastClient(port)
        self.table = table
        self.there = {}
        self.next = 0
        self.unknown = set()  # Keys whose last request has no answer.

    def put(self):
        """Whether it was done; the one other answer is the documented one."""
        key, value = str(self.next), os.urandom(ITEM_SIZE // 2).hex()
        self.next += 1
        item = {"pk": {"S": key}, "group": {"S": "g"}, "value": {"S": value}}
        status, answer = self.call(key, "PutItem", {"TableName": self.table, "Item": item})
        if status == 200:
            self.there[key] = item
            return True
        assert (status, answer["__type"].split("#")[1], answer["message"]) == REFUSAL
        return False

    def call(self, key, operation, request):
        self.unknown.add(key)
        answer = self.client.call(operation, request)
        self.unknown.discard(key)
        return answer

    def put_until_refused(self):
        while self.put():
            assert len(self.there) * ITEM_SIZE < DISK_SIZE, "more than the disk can hold"

    def delete(self):
        key = next(iter(self.there))
        request = {"TableName": self.table, "Key": {"pk": {"S": key}}}
        status, answer = self.call(key, "DeleteItem", request)
        if status == 200:
            del self.there[key]
        return status, answer

    def known(self, items):
        return {key: item for key, item in items.items() if key not in self.unknown}

    def verify(self, port):
        client = FastClient(port)
        scanned = stream_replay.scan(client, self.table, ["pk"])
        found = {item["pk"]["S"]: item for item in scanned.values()}
        assert self.known(found) == self.known(self.there)
        client.close()


def start(disk):
    return crash_run.start_server(disk / "data", "--workers", "1")


def create(server, table):
    client = FastClient(server.port)
    indexes = {"by-group": ([("group", "S", "HASH"), ("pk", "S", "RANGE")], "KEYS_ONLY")}
    stator_process.create_table(client, table, global_=indexes)
    client.close()
    return Items(server.port, table)


def fill(path):
    """Takes all that is left, as another program might."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            pass


def ready(server):
    """(status, text) of /readyz."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=RESUME_S)
    connection.request("GET", "/readyz")
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def wait_until_ready(server):
    deadline = time.monotonic() + RESUME_S
    while (answer := ready(server))[0] != 200:
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)


def wait_until_writable(items):
    deadline = time.monotonic() + RESUME_S
    while not items.put():
        assert time.monotonic() < deadline, "writing does not go on"
        time.sleep(0.05)


def end_and_verify(server, disk, *tables):
    for items in tables:
        items.verify(server.port)
    server.stop()
    crash_run.assert_whole(disk / "data")
    with start(disk) as again:
        for items in tables:
            items.verify(again.port)
        again.stop()


def test_items_are_refused_and_reads_and_deletions_go_on(disk):
    (disk / "other").write_bytes(os.urandom(20 << 20))
    with start(disk) as server:
        items = create(server, "full")
        assert ready(server) == (200, "ok\n")
        items.put_until_refused()
        assert ready(server) == (503, NOT_READY)
        items.verify(server.port)
        for _ in range(100):
            assert items.delete()[0] == 200
        items.verify(server.port)
        (disk / "other").unlink()
        wait_until_ready(server)  # Without a write that finds out.
        assert items.put()
        assert "writing fails" not in server.log()  # RocksDB never noticed.
        end_and_verify(server, disk, items)


def test_deletions_go_on_when_others_took_all_there_was(disk):
    with start(disk) as server:
        items = create(server, "full")
        for _ in range(200):
            assert items.put()
        fill(disk / "other")
        time.sleep(0.2)  # Longer than a look at the disk is good for.
        assert not items.put()
        for _ in range(100):
            assert items.delete()[0] == 200
            assert not items.put()
        items.verify(server.port)
        (disk / "other").unlink()
        wait_until_writable(items)
        end_and_verify(server, disk, items)


def test_a_disk_that_fills_up_under_writers_comes_back(disk):
    """Whoever writes in the moment in which the last byte goes has RocksDB's own refusal; where it
    then goes on with a log that refused a write, its assertion ends the server: FAULTS.md."""
    with start(disk) as server:
        tables = [create(server, f"table-{number}") for number in range(3)]
        stopping = threading.Event()
        failures = []

        def work(items):
            try:
                while not stopping.is_set():
                    items.put()
                    if len(items.there) > 50:
                        status, answer = items.delete()
                        assert status in (200, 500), answer
            except ServerGone:
                pass
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(items,)) for items in tables]
        for thread in threads:
            thread.start()
        for _ in range(3):
            fill(disk / "other")
            time.sleep(0.5)
            (disk / "other").unlink()
            time.sleep(0.5)
        stopping.set()
        for thread in threads:
            thread.join()
        assert failures == []
        if server.process.poll() is not None:
            io_errors.ended(server)
        else:
            server.stop()
    for attempt in range(RESTARTS_MAX):
        with start(disk) as server:
            try:
                for items in tables:
                    items.client = FastClient(server.port)
                    wait_until_writable(items)
            except ServerGone:
                # ext4 may report what it could not allocate with a later sync, which then fails.
                io_errors.ended(server)
                assert attempt + 1 < RESTARTS_MAX, server.log()
                continue
            end_and_verify(server, disk, *tables)
            return


def test_a_table_can_be_deleted(disk):
    (disk / "other").write_bytes(os.urandom(20 << 20))
    with start(disk) as server:
        dropped, kept = create(server, "dropped"), create(server, "kept")
        assert kept.put()
        dropped.put_until_refused()
        status, answer = kept.client.call("DeleteTable", {"TableName": "dropped"})
        assert status == 200, answer
        (disk / "other").unlink()
        wait_until_writable(kept)
        end_and_verify(server, disk, kept)


def test_items_with_recovery_can_be_deleted_and_recovery_disabled(disk):
    """A deletion keeps what the item was, within the reserve. Disabling frees all of it."""
    (disk / "other").write_bytes(os.urandom(20 << 20))
    with start(disk) as server:
        items = create(server, "full")

        def set_recovery(enabled):
            request = {
                "TableName": "full",
                "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": enabled},
            }
            status, answer = items.client.call("UpdateContinuousBackups", request)
            assert status == 200, answer

        set_recovery(True)
        items.put_until_refused()
        for _ in range(20):
            assert items.delete()[0] == 200
        set_recovery(False)
        assert items.delete()[0] == 200
        items.verify(server.port)
        (disk / "other").unlink()
        wait_until_writable(items)
        end_and_verify(server, disk, items)
