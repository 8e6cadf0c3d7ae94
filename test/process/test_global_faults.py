"""Regions that replicate a table while everything goes wrong: links that lose, delay, cut and repeat
requests, kills, clocks that differ. In the end all regions have the same items, and of each key
the last write that was acknowledged."""

import os
import random
import threading
import time

from botocore.exceptions import BotoCoreError, ClientError

from global_tables import REGIONS, Regions, create_table
from moving_clock import MovingClock
from stator_process import check

LONG = os.environ.get("STATOR_TEST_LONG") == "1"  # Otherwise it is "0".
SEED = int(os.environ.get("REPLICA_SEED", "0")) or random.randrange(1, 1 << 30)
RUN_S = 1800 if LONG else 8
KEYS = 12
OWN_KEYS = 6  # Of each region, which no other one writes.


class Writer(threading.Thread):
    """Writes to one region: puts, updates, deletions and transactions, each value once only."""

    def __init__(self, regions, region, seed):
        super().__init__(daemon=True)
        self.regions, self.region = regions, region
        self.random = random.Random(seed)
        self.stopping = threading.Event()
        self.count, self.failed = 0, 0
        # Of its own keys: what each may have, by what was acknowledged and what failed since.
        self.possible = {f"{region}-{number}": {None} for number in range(OWN_KEYS)}

    def run(self):
        while not self.stopping.is_set():
            try:
                self.write_own() if self.random.random() < 0.3 else self.write()
                self.count += 1
            except (ClientError, BotoCoreError):
                self.failed += 1  # It is down: whether it had its effect is unknown.
                time.sleep(0.05)
            time.sleep(self.random.random() * 0.01)

    def write_own(self):
        key = self.random.choice(sorted(self.possible))
        value = None if self.random.random() < 0.3 else f"{self.count}-{self.random.random()}"
        self.possible[key].add(value)
        dynamodb = self.regions.clients[self.region]
        if value is None:
            dynamodb.delete_item(TableName="Tab", Key={"p": {"S": key}})
        else:
            item = {"p": {"S": key}, "v": {"S": value}}
            dynamodb.put_item(TableName="Tab", Item=item)
        self.possible[key] = {value}

    def item(self):
        key = f"k{self.random.randrange(KEYS)}"
        value = f"{self.region}-{self.count}-{self.random.random()}"
        item = {"p": {"S": key}, "v": {"S": value}}
        if self.random.random() < 0.7:
            item["g"] = {"S": self.random.choice("xyz")}
        return item

    def write(self):
        dynamodb = self.regions.clients[self.region]
        kind, item = self.random.random(), self.item()
        if kind < 0.5:
            dynamodb.put_item(TableName="Tab", Item=item)
        elif kind < 0.7:
            dynamodb.delete_item(TableName="Tab", Key={"p": item["p"]})
        elif kind < 0.85:
            dynamodb.update_item(
                TableName="Tab",
                Key={"p": item["p"]},
                UpdateExpression="SET v = :v ADD n :one",
                ExpressionAttributeValues={":v": item["v"], ":one": {"N": "1"}},
            )
        else:
            other = self.item()
            if other["p"] != item["p"]:
                dynamodb.transact_write_items(
                    TransactItems=[
                        {"Put": {"TableName": "Tab", "Item": item}},
                        {"Put": {"TableName": "Tab", "Item": other}},
                    ]
                )


def disturb(regions, rng):
    kind = rng.random()
    if kind < 0.45:
        a, b = rng.sample(regions.regions, 2)
        regions.cut(a, b)
        time.sleep(rng.random())
        regions.cut(a, b, False)
    elif kind < 0.6:
        region = rng.choice(regions.regions)
        regions.kill(region)
        time.sleep(rng.random() * 0.5)
        regions.start(region)
    else:
        time.sleep(rng.random() * 0.5)


def finish(regions, writers):
    """All regions become equal, and nothing that was acknowledged is lost. What is written then is
    the last write of its key, whatever the clock of its region says, since the region has seen all
    others."""
    regions.set_rate(0)
    items = regions.wait_until_equal(index="Ind")
    found = {item["p"]["S"]: item["v"]["S"] for item in items}
    for writer in writers:
        for key, possible in writer.possible.items():
            assert found.get(key) in possible, (key, found.get(key), possible)
    truth = {}
    for number in range(KEYS):
        if number % 3 == 0:
            continue
        region = regions.regions[number % len(regions.regions)]
        item = {"p": {"S": f"k{number}"}, "v": {"S": f"last of {region}"}}
        regions.clients[region].put_item(TableName="Tab", Item=item)
        truth[f"k{number}"] = item["v"]["S"]
    deadline = time.monotonic() + 60
    while True:
        items = regions.wait_until_equal(index="Ind")
        found = {item["p"]["S"]: item["v"]["S"] for item in items}
        if all(found.get(key) == value for key, value in truth.items()):
            return
        assert time.monotonic() < deadline, (found, truth)
        time.sleep(0.1)


def check_all(regions):
    regions.stop()
    for region in regions.regions:
        result = check(regions.folder / region)
        assert result.returncode == 0, result.stdout + result.stderr


def test_three_regions_converge_whatever_happens_on_the_way(tmp_path):
    print("REPLICA_SEED", SEED)
    rng = random.Random(SEED)
    clocks = {region: MovingClock(tmp_path / f"clock-{region}") for region in REGIONS}
    clocks[REGIONS[1]].jump(-3600)
    clocks[REGIONS[2]].jump(-1800)
    variables = {region: clock.variables() for region, clock in clocks.items()}
    flags = ["--replication-skew-max-ms", str(2 * 3600 * 1000)]
    with Regions(tmp_path, REGIONS, seed=SEED, flags=flags, variables=variables) as regions:
        create_table(regions.clients[REGIONS[0]])
        for number in range(30):  # Some of what is there is written before it is global.
            item = {"p": {"S": f"k{number % KEYS}"}, "v": {"S": f"old {number}"}}
            regions.clients[REGIONS[0]].put_item(TableName="Tab", Item=item)
        writers = [Writer(regions, region, SEED + i) for i, region in enumerate(REGIONS)]
        writers[0].start()
        regions.add_replica(REGIONS[0], REGIONS[1])
        writers[1].start()
        regions.set_rate(0.2)
        try_to_add(regions, REGIONS[1], REGIONS[2])
        writers[2].start()
        end = time.monotonic() + RUN_S
        while time.monotonic() < end:
            disturb(regions, rng)
        for writer in writers:
            writer.stopping.set()
        for writer in writers:
            writer.join()
        assert all(writer.count > 0 for writer in writers)
        finish(regions, writers)
        check_all(regions)


def try_to_add(regions, region, to):
    """Through links that fail."""
    deadline = time.monotonic() + 60
    while True:
        try:
            regions.add_replica(region, to, wait=False)
            break
        except ClientError as error:
            assert time.monotonic() < deadline, error
            if "already" in str(error):
                break
            time.sleep(0.2)
    regions.wait_until_active(to)
