"""Power cuts of a region that takes the rows of another one and sends its own: at the points where
rows are in the log and not synced, are synced and not answered, or anywhere else. Each time its disk
is left in a state that it could be in, and it is started on that: both regions become equal, and have
all that either of them has acknowledged.
"""

import random
import shutil
import threading
import time

from botocore.exceptions import BotoCoreError, ClientError

import crash_run
import power_cut
from global_tables import Regions, create_table
from stator_process import Connection, check

ROUNDS = 3
ROUNDS_LONG = 60
HOME, AWAY = "eu-west-1", "us-east-1"
KEYS = 5  # Of each region; each value is written once, and counts up.
LOG = "*.log"
POINTS = (("before", "sync"), ("after", "sync"), ("after", "write"))
POINT_MAX = 60  # Which of these calls it is.
REACHED_MAX_S = 20


class Writer(threading.Thread):
    """Counts up in keys of its region, and writes to some that both regions write to."""

    def __init__(self, regions, region, values, seed):
        super().__init__(daemon=True)
        self.dynamodb, self.region, self.values = regions.clients[region], region, values
        self.choices = random.Random(f"{seed}-{region}-{values}")
        self.stopping = threading.Event()

    def put(self, key, value):
        item = {"p": {"S": key}, "n": {"N": str(value)}, "g": {"S": "x"}}
        self.dynamodb.put_item(TableName="Tab", Item=item)

    def run(self):
        value = max(self.values.values(), default=0)
        while not self.stopping.is_set():
            value += 1
            key = f"{self.region}-{value % KEYS}"
            try:
                self.put(key, value)
                self.values[key] = value
                shared = f"shared-{self.choices.randrange(KEYS)}"
                if self.choices.random() < 0.3:
                    self.dynamodb.delete_item(TableName="Tab", Key={"p": {"S": shared}})
                else:
                    self.put(shared, value)
            except (ClientError, BotoCoreError):
                return  # The power is off.


def work_until_cut(regions, values, choices, arm):
    writers = [Writer(regions, region, values[region], choices.random()) for region in values]
    for writer in writers:
        writer.start()
    arm.touch()
    until = time.monotonic() + REACHED_MAX_S
    server = regions.servers[AWAY]
    while server.process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    reached = server.process.poll() is not None
    server.kill()
    for writer in writers:
        writer.stopping.set()
    for writer in writers:
        writer.join()
    return reached


def assert_nothing_is_lost(regions, values, what):
    deadline = time.monotonic() + 60
    while True:
        items = regions.wait_until_equal(index="Ind")
        found = {item["p"]["S"]: int(item["n"]["N"]) for item in items}
        lost = {
            key: value
            for of_region in values.values()
            for key, value in of_region.items()
            if found.get(key, 0) < value
        }
        if not lost:
            return
        assert time.monotonic() < deadline, (what, lost)
        time.sleep(0.1)


def waiting_stamps(regions):
    connection = Connection(regions.servers[AWAY].port)  # It signs for that region.
    try:
        return connection.call("DescribeRegions", {})[1]["Tables"][0]["WaitingStamps"]
    finally:
        connection.close()


def test_a_power_cut_takes_back_nothing_that_a_region_has_told_another(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    root, journal, arm = tmp_path / AWAY, tmp_path / "journal", tmp_path / "armed"
    values = {HOME: {}, AWAY: {}}
    reached = 0
    with Regions(tmp_path, [HOME, AWAY], seed=seed) as regions:
        create_table(regions.clients[HOME])
        regions.add_replica(HOME, AWAY)
        for _ in crash_run.rounds(ROUNDS, ROUNDS_LONG):
            regions.servers[AWAY].stop()
            arm.unlink(missing_ok=True)
            journal.unlink(missing_ok=True)
            disk = power_cut.Disk(root)
            when, call = choices.choice(POINTS)
            kill = f"{when}/{call}/{LOG}/*/{choices.randint(1, POINT_MAX)}"
            regions.variables = {AWAY: power_cut.variables(root, journal, kill, 0, arm)}
            regions.start(AWAY)
            reached += work_until_cut(regions, values, choices, arm)
            for line in power_cut.read_journal(journal):
                disk.apply(line)
            state, what = disk.cut(choices)
            shutil.rmtree(root)
            power_cut.write_state(state, root)
            regions.variables = {}
            regions.start(AWAY)
            assert_nothing_is_lost(regions, values, f"{kill}: {what}")
        assert all(values.values()) and reached > 0
        deadline = time.monotonic() + 60
        while waiting_stamps(regions) > 0:
            assert time.monotonic() < deadline, "stamps are not collected"
            time.sleep(0.2)
        regions.stop()
        for region in (HOME, AWAY):
            result = check(regions.folder / region)
            assert result.returncode == 0, result.stdout + result.stderr
