"""Writers of items that expire, and a switch of the table's time to live."""

import time

import crash_run

OLD_ITEMS = 3000
KEYS_PER_WRITER = 300
TABLE = "crash"
ATTRIBUTE = "expires"
SETTLE_MAX_S = 60
BATCH = 25
NEVER = None


def item(key, second, number):
    content = {"pk": {"S": key}, "filler": {"S": "x" * (number % 200)}}
    content["bucket"] = {"S": f"bucket-{number % 7}"}
    if second is not NEVER:
        content[ATTRIBUTE] = {"N": str(second)}
    return content


def load(client, count=OLD_ITEMS):
    """Items from before: half of them have expired, the others do so in a year."""
    now = int(time.time())
    stays = {}
    for start in range(0, count, BATCH):
        items = [
            item(f"old-{i}", now - 100 if i % 2 else now + 31_000_000, i)
            for i in range(start, start + BATCH)
        ]
        stays.update({one["pk"]["S"]: one for one in items[start % 2 :: 2]})
        puts = [{"PutRequest": {"Item": one}} for one in items]
        status, answer = client.call("BatchWriteItem", {"RequestItems": {TABLE: puts}})
        assert status == 200, answer
    return stays


class Writer(crash_run.Client):
    """Knows of each of its keys what may be there: what was acknowledged, or was under way."""

    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.writes = 0
        self.possible = {}

    def choose_second(self):
        now = int(time.time())
        return self.choices.choice(
            (NEVER, now - 5, now, now + 1, now + 2, now + 31_000_000, now - 200_000_000)
        )

    def step(self, connection):
        key = f"{self.name}-{self.choices.randrange(KEYS_PER_WRITER)}"
        new = item(key, self.choose_second(), self.choices.randrange(1000))
        before = self.possible.get(key, [None])
        self.possible[key] = [*before, new]
        status, answer = connection.call("PutItem", {"TableName": TABLE, "Item": new})
        assert status == 200, answer
        self.possible[key] = [new]
        self.writes += 1


class Switch(crash_run.Client):
    """Enables and disables time to live."""

    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.changes = 0

    def step(self, connection):
        self.changes += change(connection, describe(connection) != "ENABLED")
        time.sleep(self.choices.uniform(0.002, 0.05))


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
