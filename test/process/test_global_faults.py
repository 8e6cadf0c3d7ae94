"""Regions that replicate a table while everything goes wrong: links that lose, delay, cut and repeat
requests, kills, clocks that differ and are set. In the end all regions have the same items: of each
key the state with the latest of all stamps that were ever sent, and of those that one region writes
the last write that was acknowledged. Streams show how each region came there, and no stamp is left."""

import base64
import json
import os
import random
import re
import threading
import time

from botocore.exceptions import BotoCoreError, ClientError

from global_tables import REGIONS, Regions, create_table
from moving_clock import MovingClock
from stator_process import check

LONG = os.environ.get("STATOR_TEST_LONG") == "1"  # Otherwise it is "0".
SEED = int(os.environ.get("REPLICA_SEED", "0")) or random.randrange(1, 1 << 30)
RUN_S = int(os.environ.get("REPLICA_RUN_S", "1800" if LONG else "8"))
ROUNDS = 20 if LONG else 1
FILLED = 1500  # Items that are there before a replica is made.
KEYS = 12
OWN_KEYS = 6  # Of each region, which no other one writes.


def shared_key(number):
    return f"k{number:02}"


class Truth:
    """Of each key the state with the latest stamp that any region has sent to another one."""

    # As it is stored: behind the hash, or as the value of "p". Other bytes may look like a key.
    KEY = rb"(own-[a-z]+-[a-z]+-\d-\d|k\d\d)"
    IN_KEY = re.compile(rb".{8}" + KEY, re.DOTALL)
    IN_ITEM = re.compile(rb"\x01p\x01[\x01-\x20]" + KEY)

    def __init__(self, regions):
        self.latest = {}  # Of a key: its stamp, and the stored item or None.
        self.doubles = []  # Rows whose stamp was sent with another state.
        self.counts = {"Item": 0, "Deleted": 0}
        self._mutex = threading.Lock()
        for link in regions.links.values():
            link.watch = self._watch

    def _watch(self, operation, body):
        if operation != "WriteDataForReplication":
            return
        for row in json.loads(body)["Rows"]:
            if "Time" in row:
                self._note((row["Time"], row["Region"]), row)

    def _note(self, stamp, row):
        stored = base64.b64decode(row.get("Item", row.get("Deleted")))
        item = stored if "Item" in row else None
        found = self.IN_KEY.match(stored) if item is None else self.IN_ITEM.search(stored)
        if not found:
            return  # What was filled in.
        with self._mutex:
            self.counts["Deleted" if item is None else "Item"] += 1
            known = self.latest.get(found[1].decode(), ((0, 0), None))
            if stamp == known[0] and item != known[1]:
                self.doubles.append(row)
            if stamp > known[0]:
                self.latest[found[1].decode()] = (stamp, item)

    def differences(self, items):
        """Keys whose state is not the latest."""
        values = {item["p"]["S"]: item["v"]["S"].encode() for item in items}
        with self._mutex:
            return [
                (key, values.get(key), latest)
                for key, latest in self.latest.items()
                if (key in values) != (latest[1] is not None)
                or (key in values and values[key] not in latest[1])
            ]


class Writer(threading.Thread):
    """Writes to one region: puts, updates, deletions and transactions, each value once only."""

    def __init__(self, regions, region, seed):
        super().__init__(daemon=True)
        self.regions, self.region = regions, region
        self.random = random.Random(seed)
        self.stopping = threading.Event()
        self.count, self.failed = 0, 0
        # Of its own keys: what each may have, by what was acknowledged and what failed since.
        self.possible = {f"own-{region}-{number}": {None} for number in range(OWN_KEYS)}

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
        key = shared_key(self.random.randrange(KEYS))
        value = f"{self.region}-{self.count}-{self.random.random()}"
        item = {"p": {"S": key}, "v": {"S": value}}
        if self.random.random() < 0.7:
            item["g"] = {"S": self.random.choice("xyz")}
        if self.random.random() < 0.1:
            seconds = self.regions.now(self.region) + self.random.randrange(-1, 4)
            item["e"] = {"N": str(int(seconds))}
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
    if regions.clocks and rng.random() < 0.1:
        regions.clocks[rng.choice(regions.regions)].jump(rng.randrange(-10, 11))
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
        item = {"p": {"S": shared_key(number)}, "v": {"S": f"last of {region}"}}
        regions.clients[region].put_item(TableName="Tab", Item=item)
        truth[shared_key(number)] = item["v"]["S"]
    deadline = time.monotonic() + 60
    while True:
        items = regions.wait_until_equal(index="Ind")
        found = {item["p"]["S"]: item["v"]["S"] for item in items}
        if all(found.get(key) == value for key, value in truth.items()):
            break
        assert time.monotonic() < deadline, (found, truth)
        time.sleep(0.1)
    wait_until_final(regions)


def wait_until_final(regions):
    """Nothing waits or expires any more. What expires waits for the times of all regions. Those whose
    clocks are behind follow the region that is ahead only while it writes."""
    deadline = time.monotonic() + 120
    ahead = regions.clients[regions.regions[0]]
    while True:
        ahead.put_item(TableName="Tab", Item={"p": {"S": "tick"}, "v": {"S": str(time.time())}})
        items = regions.wait_until_equal(index="Ind")
        waiting = [item for item in items if "e" in item]
        different = regions.truth.differences(items)
        if not waiting and not different:
            break
        assert time.monotonic() < deadline, (waiting, different)
        time.sleep(0.2)
    regions.wait_until_collected()
    assert regions.truth.differences(regions.wait_until_equal()) == []
    assert all(regions.truth.counts.values()) and regions.truth.doubles == []


def check_all(regions):
    regions.stop()
    for region in regions.regions:
        result = check(regions.folder / region)
        assert result.returncode == 0, result.stdout + result.stderr


class Disturbed(Regions):
    """With what is known of the rows that were sent, and clocks that tests may set."""

    def __init__(self, folder, clocks, flags):
        self.clocks = clocks
        variables = {region: clock.variables() for region, clock in clocks.items()}
        super().__init__(folder, REGIONS, seed=SEED, flags=flags, variables=variables)
        self.truth = Truth(self)

    def now(self, region):
        return self.clocks[region].now() if self.clocks else time.time()

    def create_table(self):
        dynamodb = self.clients[REGIONS[0]]
        create_table(dynamodb)
        ttl = {"Enabled": True, "AttributeName": "e"}
        dynamodb.update_time_to_live(TableName="Tab", TimeToLiveSpecification=ttl)


def test_three_regions_converge_whatever_happens_on_the_way(tmp_path):
    print("REPLICA_SEED", SEED)
    rng = random.Random(SEED)
    clocks = {region: MovingClock(tmp_path / f"clock-{region}") for region in REGIONS}
    clocks[REGIONS[1]].jump(-3600)
    clocks[REGIONS[2]].jump(-1800)
    flags = ["--replication-skew-max-ms", str(2 * 3600 * 1000), "--ttl-interval", "100"]
    with Disturbed(tmp_path, clocks, flags) as regions:
        regions.create_table()
        for number in range(30):  # Some of what is there is written before it is global.
            item = {"p": {"S": shared_key(number % KEYS)}, "v": {"S": f"old {number}"}}
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
        for region in REGIONS[1:]:  # The first one had items before it had a stream.
            regions.replay(region)
        check_all(regions)


def fill(dynamodb):
    for number in range(0, FILLED, 25):
        requests = [
            {"PutRequest": {"Item": {"p": {"S": f"f{number + each}"}, "v": {"S": "x" * 100}}}}
            for each in range(25)
        ]
        dynamodb.batch_write_item(RequestItems={"Tab": requests})


def members(regions, region):
    table = regions.clients[region].describe_table(TableName="Tab")["Table"]
    return {each["RegionName"]: each["ReplicaStatus"] for each in table.get("Replicas", [])}


def wait_for_members(regions, wanted):
    deadline = time.monotonic() + 120
    for region in wanted:
        others = {each: "ACTIVE" for each in wanted if each != region}
        while members(regions, region) != others:
            assert time.monotonic() < deadline, (region, members(regions, region))
            time.sleep(0.1)


def test_a_region_is_filled_and_removed_while_all_write_and_servers_are_killed(tmp_path):
    print("REPLICA_SEED", SEED)
    rng = random.Random(SEED)
    home, away, third = REGIONS
    with Disturbed(tmp_path, {}, ["--ttl-interval", "100"]) as regions:
        regions.create_table()
        fill(regions.clients[home])
        regions.add_replica(home, away)
        wait_for_members(regions, [home, away])
        writers = [Writer(regions, region, SEED + i) for i, region in enumerate([home, away])]
        for writer in writers:
            writer.start()
        for number in range(ROUNDS):
            regions.set_rate(0.2)
            try_to_add(regions, rng.choice([home, away]), third, wait=False)
            for _ in range(rng.randrange(1, 4)):
                time.sleep(rng.random() * 0.5)
                region = rng.choice([home, away, third])
                regions.kill(region)
                time.sleep(rng.random() * 0.3)
                regions.start(region)
            regions.set_rate(0)
            wait_for_members(regions, REGIONS)
            if number == ROUNDS - 1:
                break
            remove(regions, rng.choice([home, away]), third)
            wait_for_members(regions, [home, away])
            while regions.clients[third].list_tables()["TableNames"]:
                time.sleep(0.1)
        for writer in writers:
            writer.stopping.set()
        for writer in writers:
            writer.join()
        finish(regions, writers)
        regions.replay(third)
        check_all(regions)


def remove(regions, region, removed):
    """Members that took part in the last change may still be learning of it."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return regions.clients[region].update_table(
                TableName="Tab", ReplicaUpdates=[{"Delete": {"RegionName": removed}}]
            )
        except ClientError as error:
            assert "in use" in str(error) and time.monotonic() < deadline, error
            time.sleep(0.1)


def try_to_add(regions, region, to, wait=True):
    """Through links that fail."""
    deadline = time.monotonic() + 60
    while True:
        try:
            regions.add_replica(region, to, wait=False)
            break
        except ClientError as error:
            assert time.monotonic() < deadline, error
            if to in members(regions, region):
                break
            time.sleep(0.2)  # A table that was made for an answer that got lost goes soon.
    if wait:
        regions.wait_until_active(to)
