"""kill -9, and steps of the clock, while histories are written, opened, closed and trimmed.

Each client writes to items of its own in two tables, always to both in one transaction. So after
every kill the two items of a pair have the same history: the same commit times, the same values,
each version beginning where the one before ended, the last one the item itself. Commit times only
ever rise, although the clock is set before each start. What was acknowledged is there.

Another client enables and disables recovery of a third table and changes its period, which must
leave nothing behind: `stator check` knows every owner.

One more creates tables with recovery and deletes them: after every kill each of them is a table or
a backup, and never both.
"""

import random

import crash_run
import stator_process
from fast_client import FastClient
from moving_clock import MovingClock

TABLES = ("Left", "Right")
FLAPPING = "Flapping"
WRITERS = 3
KEYS = 3
ROUNDS = 8
ROUNDS_LONG = 200
STEPS_S = (-86400, -3600, -1, 0, 0, 1, 3600, 86400)


def recovery(client, table, **specification):
    body = {"TableName": table, "PointInTimeRecoverySpecification": specification}
    status, answer = client.call("UpdateContinuousBackups", body)
    assert status == 200, answer


class Writer(crash_run.Client):
    def __init__(self, number, seed):
        super().__init__(f"writer-{number}", seed)
        self.number = number
        self.value = 0
        self.acknowledged = {}  # Key: its values, None for a deletion.

    def step(self, connection):
        key = f"{self.number}-{self.choices.randrange(KEYS)}"
        deletes = self.choices.random() < 0.2
        self.value += 1
        value = None if deletes else self.value
        actions = []
        for table in TABLES:
            name = {"pk": {"S": key}}
            if deletes:
                actions.append({"Delete": {"TableName": table, "Key": name}})
            else:
                item = {**name, "v": {"N": str(value)}}
                actions.append({"Put": {"TableName": table, "Item": item}})
        status, answer = connection.call("TransactWriteItems", {"TransactItems": actions})
        assert status == 200, answer
        self.acknowledged.setdefault(key, []).append(value)


class Switch(crash_run.Client):
    changes = 0

    def step(self, connection):
        if self.choices.random() < 0.5:
            recovery(connection, FLAPPING, PointInTimeRecoveryEnabled=False)
        else:
            days = self.choices.randrange(1, 36)
            recovery(connection, FLAPPING, PointInTimeRecoveryEnabled=True, RecoveryPeriodInDays=days)
        for number in range(5):
            item = {"pk": {"S": str(number)}, "v": {"N": str(self.changes)}}
            assert connection.call("PutItem", {"TableName": FLAPPING, "Item": item})[0] == 200
        self.changes += 1


class Dropper(crash_run.Client):
    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.made = []  # With recovery.
        self.dropped = set()

    def step(self, connection):
        table = f"Dropped-{self.choices.getrandbits(48)}"
        stator_process.create_table(connection, table)
        recovery(connection, table, PointInTimeRecoveryEnabled=True)
        item = {"pk": {"S": table}}
        assert connection.call("PutItem", {"TableName": table, "Item": item})[0] == 200
        self.made.append(table)
        assert connection.call("DeleteTable", {"TableName": table})[0] == 200
        self.dropped.add(table)


def verify_dropped(client, dropper):
    for table in dropper.made:
        exists = client.call("DescribeTable", {"TableName": table})[0] == 200
        status, answer = client.call("ListBackups", {"TableName": table, "BackupType": "SYSTEM"})
        assert status == 200, answer
        backups = answer["BackupSummaries"]
        assert len(backups) == (0 if exists else 1), (table, backups)
        assert not (exists and table in dropper.dropped), table
        if exists:
            assert client.call("DeleteTable", {"TableName": table})[0] == 200


def versions(client, table, key):
    """All of them, the oldest first: (commit time, before, after), with the values of `v`."""
    found, page = [], {}
    while True:
        request = {"TableName": table, "Key": {"pk": {"S": key}}, "Limit": 50, **page}
        status, answer = client.call("GetItemHistory", request)
        assert status == 200, answer
        for version in answer["Versions"]:
            images = [version.get(name) for name in ("OldImage", "NewImage")]
            values = [image and int(image["v"]["N"]) for image in images]
            found.append((version["WriteTimestampMicros"], *values))
        if "NextToken" not in answer:
            return found[::-1]
        page = {"NextToken": answer["NextToken"]}


def verify_pair(client, key, acknowledged):
    left, right = (versions(client, table, key) for table in TABLES)
    assert left == right, key
    for older, newer in zip(left, left[1:]):
        assert older[0] < newer[0], (key, older, newer)
        assert older[2] == newer[1], (key, older, newer)
    if left:
        assert left[0][1] is None
    # A deletion of what is not there is no version.
    values = [after for _, _, after in left]
    wanted, last = [], None
    for value in acknowledged:
        if value is not None or last is not None:
            wanted.append(value)
        last = value
    at = 0
    for value in wanted:  # What was under way may stand between them.
        assert value in values[at:], (key, value)
        at = values.index(value, at) + 1
    request = {"TableName": TABLES[0], "Key": {"pk": {"S": key}}, "ConsistentRead": True}
    item = client.call("GetItem", request)[1].get("Item")
    assert (item and int(item["v"]["N"])) == (values[-1] if values else None)
    return left[-1][0] if left else 0


def verify(client, writers):
    return max(
        (verify_pair(client, key, values) for w in writers for key, values in w.acknowledged.items()),
        default=0,
    )


def test_histories_survive_kills_and_steps_of_the_clock(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    clock = MovingClock(tmp_path / "clock")
    directory = tmp_path / "data"
    writers = [Writer(number, seed) for number in range(WRITERS)]
    switch = Switch("switch", seed)
    dropper = Dropper("dropper", seed)
    newest = 0

    def start():
        return crash_run.start_server(directory, variables=clock.variables())

    with start() as server:
        client = FastClient(server.port)
        for table in (*TABLES, FLAPPING):
            stator_process.create_table(client, table)
        for table in TABLES:
            recovery(client, table, PointInTimeRecoveryEnabled=True)
        client.close()
        server.kill()
    for _ in crash_run.rounds(ROUNDS, ROUNDS_LONG):
        clock.jump(choices.choice(STEPS_S))
        with start() as server:
            crash_run.work_until_killed(
                [*writers, switch, dropper], server, crash_run.until_kill_s(choices)
            )
        crash_run.assert_whole(directory)
        with start() as server:
            client = FastClient(server.port)
            reached = verify(client, writers)
            verify_dropped(client, dropper)
            client.close()
            assert reached >= newest
            newest = reached
            server.kill()
    print(f"{sum(w.value for w in writers)} transactions, {switch.changes} changes")
    assert switch.changes > 0
    assert dropper.dropped
