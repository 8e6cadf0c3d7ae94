"""Backups of a server that is killed meanwhile: each is whole or refused, and the store is whole."""

import random
import shutil
import subprocess
import threading

import crash_run
import stator_process

WRITERS = 3
TABLE = "pairs"


class Writer(crash_run.Client):
    """Puts one number into two items, in one transaction; always a higher one."""

    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.number = 0
        self.acknowledged = 0

    def step(self, connection):
        self.number += 1
        items = [{"pk": {"S": f"{self.name}-{side}"}, "n": {"N": str(self.number)}} for side in "ab"]
        puts = [{"Put": {"TableName": TABLE, "Item": item}} for item in items]
        status, answer = connection.call("TransactWriteItems", {"TransactItems": puts})
        assert status == 200, answer
        self.acknowledged = self.number


class Backup(threading.Thread):
    """`stator backup`, and what had been acknowledged when it began."""

    def __init__(self, writers, data, target):
        super().__init__()
        self.acknowledged = {writer.name: writer.acknowledged for writer in writers}
        self.command = subprocess.Popen(
            [crash_run.program(), "backup", target, "--data-dir", data],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.error = None

    def run(self):
        self.error = self.command.communicate()[1]


def assert_pairs(data, acknowledged):
    with crash_run.start_server(data) as server:
        connection = stator_process.Connection(server.port)
        scan = {"TableName": TABLE, "ConsistentRead": True}
        items = connection.call("Scan", scan)[1]["Items"]
        connection.close()
    numbers = {item["pk"]["S"]: int(item["n"]["N"]) for item in items}
    for name, number in acknowledged.items():
        assert numbers.get(f"{name}-a", 0) >= number
        assert numbers.get(f"{name}-a", 0) == numbers.get(f"{name}-b", 0)


def assert_backup(backup, target, data):
    """Whether there is one."""
    if backup.command.returncode != 0:
        assert backup.error.count("\n") == 1, backup.error
        assert not target.exists()
        return False
    crash_run.assert_whole(target)
    subprocess.run(
        [crash_run.program(), "restore", target, "--data-dir", data],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert_pairs(data, backup.acknowledged)
    return True


def test_a_backup_of_a_server_that_is_killed_is_whole_or_refused(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    writers = [Writer(f"w{number}", seed) for number in range(WRITERS)]
    data, target, restored = (tmp_path / name for name in ("data", "backup", "restored"))
    made = 0
    with crash_run.start_server(data) as server:
        stator_process.create_table(stator_process.Connection(server.port), TABLE)
        server.stop()
    for number in (numbers := crash_run.rounds()):
        with crash_run.start_server(data) as server:
            with crash_run.working(writers, server.port):
                backup = Backup(writers, data, target)
                backup.start()
                # Up to some time after the usual end of the backup.
                backup.join(choices.uniform(0, 0.25))
                server.kill()
                backup.join()
        made += assert_backup(backup, target, restored)
        for directory in (target, restored):
            shutil.rmtree(directory, ignore_errors=True)
        crash_run.assert_whole_at_times(data, number)
    print(f"{made} of {len(numbers)} backups were made")
