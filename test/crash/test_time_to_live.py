"""kill -9 while items expire and while the queue of their times is filled or removed.

Each round starts the server on the same directory and lets writers put items, most of which expire
at once or in a second or two, while one thread enables and disables time to live over and over,
until SIGKILL ends the server at a random moment. What a kill leaves behind is whole, says `stator
check`: each item is in the queue or need not be, and the reverse. After a restart, with time to live
enabled, everything that has expired goes by itself, and nothing else is gone: what was acknowledged
and has not expired is there, byte for byte.

CRASH_ROUNDS sets the number of rounds, CRASH_SEED replays the choices of a run.
"""

import os
import random
import time

import stator_process
from fast_client import FastClient
from kill import assert_whole, work_until_killed

ROUNDS = 10
ROUNDS_LONG = 300
WRITERS = 3
OLD_ITEMS = 3000
KEYS_PER_WRITER = 300
TABLE = "crash"
ATTRIBUTE = "expires"
UNTIL_KILL_MAX_S = 0.6
SETTLE_MAX_S = 60
BATCH = 25
NEVER = None


def item(key, second, number):
    content = {"pk": {"S": key}, "filler": {"S": "x" * (number % 200)}}
    content["bucket"] = {"S": f"bucket-{number % 7}"}
    if second is not NEVER:
        content[ATTRIBUTE] = {"N": str(second)}
    return content


def load(client):
    """Items from before: half of them have expired, the others do so in a year."""
    now = int(time.time())
    stays = {}
    for start in range(0, OLD_ITEMS, BATCH):
        items = [
            item(f"old-{i}", now - 100 if i % 2 else now + 31_000_000, i)
            for i in range(start, start + BATCH)
        ]
        stays.update({one["pk"]["S"]: one for one in items[start % 2 :: 2]})
        puts = [{"PutRequest": {"Item": one}} for one in items]
        status, answer = client.call("BatchWriteItem", {"RequestItems": {TABLE: puts}})
        assert status == 200, answer
    return stays


class Writer:
    """Knows of each of its keys what may be there: what was acknowledged, or was under way."""

    def __init__(self, number, seed):
        self.number = number
        self.random = random.Random(f"{seed}-writer-{number}")
        self.writes = 0
        self.possible = {}

    def choose_second(self):
        now = int(time.time())
        return self.random.choice(
            (NEVER, now - 5, now, now + 1, now + 2, now + 31_000_000, now - 200_000_000)
        )

    def run(self, port):
        client = FastClient(port)
        while True:
            key = f"{self.number}-{self.random.randrange(KEYS_PER_WRITER)}"
            new = item(key, self.choose_second(), self.random.randrange(1000))
            before = self.possible.get(key, [None])
            self.possible[key] = [*before, new]
            status, answer = client.call("PutItem", {"TableName": TABLE, "Item": new})
            assert status == 200, answer
            self.possible[key] = [new]
            self.writes += 1


class Switch:
    """Enables and disables time to live."""

    def __init__(self, seed):
        self.random = random.Random(f"{seed}-switch")
        self.changes = 0

    def run(self, port):
        client = FastClient(port)
        while True:
            self.changes += change(client, describe(client) != "ENABLED")
            time.sleep(self.random.uniform(0.002, 0.05))


def describe(client):
    status, answer = client.call("DescribeTimeToLive", {"TableName": TABLE})
    assert status == 200, answer
    return answer["TimeToLiveDescription"]["TimeToLiveStatus"]


def change(client, enabled):
    body = {
        "TableName": TABLE,
        "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": ATTRIBUTE},
    }
    status, answer = client.call("UpdateTimeToLive", body)
    assert status == 200 or "ValidationException" in answer["__type"], answer
    return status == 200


def scan(client, **parameters):
    items = []
    start = {}
    while True:
        status, page = client.call("Scan", {"TableName": TABLE, **parameters, **start})
        assert status == 200, page
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def has_expired(one, now):
    second = int(one.get(ATTRIBUTE, {"N": "0"})["N"])
    return now - 5 * 365 * 24 * 3600 <= second <= now


def settle(client):
    """Enables time to live and waits until nothing that has expired is left."""
    until = time.monotonic() + SETTLE_MAX_S
    while describe(client) != "ENABLED":
        change(client, True)
        assert time.monotonic() < until, f"time to live stays {describe(client)}"
        time.sleep(0.01)
    while True:
        now = int(time.time())
        items = scan(client)
        left = [one for one in items if has_expired(one, now)]
        if not left:
            return {one["pk"]["S"]: one for one in items}
        assert time.monotonic() < until, f"{len(left)} expired items stay, such as {left[0]}"
        time.sleep(0.05)


def verify(client, writers, stays):
    now = int(time.time())
    found = settle(client)
    for key, one in stays.items():
        assert found.get(key) == one, f"{key} should be {one}, and is {found.get(key)}"
    for writer in writers:
        for key, possible in writer.possible.items():
            one = found.get(key)
            if one is None:
                # Gone in time, or never there.
                assert any(p is None or has_expired(p, int(time.time())) for p in possible), key
            else:
                assert one in possible, f"{key} is {one}, not one of {possible}"
                assert not has_expired(one, now), one
            writer.possible[key] = [one]
    indexed = {one["pk"]["S"] for one in scan(client, IndexName="by-bucket")}
    # Some may have expired meanwhile.
    assert indexed <= set(found)
    assert all(has_expired(found[key], int(time.time())) for key in set(found) - indexed)


def start_over(program, flags, data, choices):
    """A start that is killed as well, while it goes on with what was under way."""
    with stator_process.StatorProcess(*flags, program=program) as server:
        time.sleep(choices.uniform(0, 0.2))
        server.kill()
    assert_whole(data, program)


def test_expiry_survives_kills(tmp_path):
    seed = int(os.environ.get("CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
    long = os.environ.get("STATOR_TEST_LONG") == "1"
    rounds = int(os.environ.get("CRASH_ROUNDS", ROUNDS_LONG if long else ROUNDS))
    print(f"CRASH_SEED={seed} CRASH_ROUNDS={rounds}")
    choices = random.Random(seed)
    data = tmp_path / "data"
    flags = ("--data-dir", str(data), "--write-buffer-size", "1M", "--ttl-interval", "20")
    program = stator_process.binary(
        "STATOR_RELEASE_BINARY", "build/stator", "build/release/stator", "build/asan/stator"
    )
    writers = [Writer(number, seed) for number in range(WRITERS)]
    switch = Switch(seed)
    stays = {}
    for number in range(rounds):
        with stator_process.StatorProcess(*flags, program=program) as server:
            client = FastClient(server.port)
            if number == 0:
                keys = [("bucket", "S", "HASH")]
                stator_process.create_table(client, TABLE, global_={"by-bucket": (keys, "ALL")})
                stays = load(client)
            client.close()
            work_until_killed(server, [*writers, switch], choices.uniform(0.01, UNTIL_KILL_MAX_S))
        assert_whole(data, program)
        if choices.random() < 0.4:
            start_over(program, flags, data, choices)
        with stator_process.StatorProcess(*flags, program=program) as server:
            client = FastClient(server.port)
            verify(client, writers, stays)
            client.close()
            server.stop()
        assert_whole(data, program)
    print(f"{sum(w.writes for w in writers)} writes, {switch.changes} changes")
    assert switch.changes > 0
