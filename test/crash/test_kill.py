"""kill -9 at random moments: what was acknowledged stays, and so does what anybody saw.

Each round starts the server on the same directory, lets writers put, overwrite and delete items of
their own, readers read them, and one thread create and delete tables, until SIGKILL ends the server
at a random moment. After a restart each item must be in the state of the last write that was
acknowledged or seen, or of one attempted later. Readers also check, while the server runs, that no
read misses a write acknowledged before it began. What a kill leaves behind is whole, says `stator
check`: each item has exactly its index entries, and the figures add up.
"""

import random
import subprocess
import time

import crash_run
import stator_process
from fast_client import FastClient

WRITERS = 6
READERS = 2
ROUNDS = 20
ROUNDS_LONG = 1000
TABLE = "crash"
VERIFY_BATCH = 64
# Items of earlier rounds that are looked at again in each round; all of them are after the last.
VERIFY_SAMPLE = 500
INDEXES = {
    "by-bucket": ([("bucket", "S", "HASH"), ("sequence", "N", "RANGE")], "KEYS_ONLY"),
    "sparse": ([("third", "N", "HASH")], "ALL"),
}
MISSING = None


def content(key, sequence):
    """An item that its sequence number determines, so that a mixture of two writes shows."""
    size = 8000 if sequence % 97 == 0 else sequence * 37 % 300
    filler = chr(ord("a") + sequence % 26) * size
    item = {
        "pk": {"S": key},
        "sequence": {"N": str(sequence)},
        "filler": {"S": filler},
        "bucket": {"S": f"bucket-{sequence % 10}"},
    }
    if sequence % 3 == 0:
        item["third"] = {"N": str(sequence // 3 % 100)}
    return item


class Item:
    """What is known about one item. Only its own writer attempts writes, one at a time."""

    __slots__ = ("acknowledged", "acknowledged_sequence", "attempted", "seen_sequence")

    def __init__(self):
        self.acknowledged = MISSING  # Sequence of the acknowledged put; MISSING after a delete.
        self.acknowledged_sequence = 0  # Of the acknowledged write, put or delete.
        self.attempted = None  # (sequence, put sequence or MISSING) of the write under way.
        self.seen_sequence = 0  # A reader saw the effect of this write or of a later one.

    def allowed(self):
        """The states the item may be in after a crash."""
        states = []
        if self.seen_sequence <= self.acknowledged_sequence:
            states.append(self.acknowledged)
        if self.attempted:
            states.append(self.attempted[1])
        return states


class Writer(crash_run.Client):
    """Numbers its writes upwards; over all rounds."""

    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.sequence = 0
        self.items = {}
        self.keys = []
        self.touched = set()

    def choose(self):
        """(key, whether to put or else delete)."""
        if not self.keys or self.choices.random() < 0.6:
            key = f"{self.name}-{len(self.keys)}"
            self.items[key] = Item()
            self.keys.append(key)
            return key, True
        return self.choices.choice(self.keys[-200:]), self.choices.random() < 0.7

    def step(self, connection):
        key, is_put = self.choose()
        item = self.items[key]
        self.sequence += 1
        sequence = self.sequence
        self.touched.add(key)
        item.attempted = (sequence, sequence if is_put else MISSING)
        if is_put:
            status, answer = connection.call(
                "PutItem", {"TableName": TABLE, "Item": content(key, sequence)}
            )
        else:
            status, answer = connection.call(
                "DeleteItem", {"TableName": TABLE, "Key": {"pk": {"S": key}}}
            )
        assert status == 200, answer
        item.acknowledged = item.attempted[1]
        item.acknowledged_sequence = sequence
        item.attempted = None


class Reader(crash_run.Client):
    def __init__(self, name, seed, writers):
        super().__init__(name, seed)
        self.writers = writers
        self.reads = 0

    def step(self, connection):
        writer = self.choices.choice(self.writers)
        if not writer.keys:
            return
        key = self.choices.choice(writer.keys[-50:])
        item = writer.items[key]
        # In this order: a write between the two lines only makes the check milder.
        before = item.acknowledged
        before_sequence = item.acknowledged_sequence
        status, answer = connection.call(
            "GetItem", {"TableName": TABLE, "Key": {"pk": {"S": key}}, "ConsistentRead": True}
        )
        assert status == 200, answer
        self.reads += 1
        sequence = sequence_of(key, answer)
        if sequence is not MISSING:
            assert sequence >= (before or 0), f"{key}: read {sequence}, acknowledged {before}"
            item.seen_sequence = max(item.seen_sequence, sequence)
        elif before is not MISSING and before == before_sequence:
            # Somebody's later delete was seen, so it may not be undone.
            item.seen_sequence = max(item.seen_sequence, before_sequence + 1)


class TableMaker(crash_run.Client):
    """Creates tables and deletes them again; the acknowledged state of each is kept."""

    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.count = 0
        self.acknowledged = {}  # Name: whether it exists.
        self.attempted = None

    def step(self, connection):
        name = f"made-{self.count}"
        self.attempted = name
        stator_process.create_table(connection, name)
        self.acknowledged[name] = True
        if self.count % 2 == 0:
            status, answer = connection.call("DeleteTable", {"TableName": name})
            assert status == 200, answer
            self.acknowledged[name] = False
        self.attempted = None
        self.count += 1
        time.sleep(0.005)  # Leave the disk to the writers.

    def verify(self, client):
        names = set()
        start = {}
        while True:
            status, page = client.call("ListTables", start)
            assert status == 200, page
            names.update(page["TableNames"])
            if "LastEvaluatedTableName" not in page:
                break
            start = {"ExclusiveStartTableName": page["LastEvaluatedTableName"]}
        for name, exists in self.acknowledged.items():
            if name != self.attempted:
                assert (name in names) == exists, f"{name}: acknowledged as {exists}"
        if self.attempted:
            self.acknowledged[self.attempted] = self.attempted in names
            self.count += 1
            self.attempted = None


def sequence_of(key, answer):
    """The sequence number of a GetItem's answer, or MISSING; its content must be of one write."""
    item = answer.get("Item")
    if item is None:
        return MISSING
    sequence = int(item["sequence"]["N"])
    assert item == content(key, sequence), f"{key}: content of no write"
    return sequence


def verify(client, writers, choose_keys):
    checked = 0
    for writer in writers:
        keys = sorted(choose_keys(writer))
        for start in range(0, len(keys), VERIFY_BATCH):
            batch = keys[start : start + VERIFY_BATCH]
            answers = client.call_many(
                "GetItem", [{"TableName": TABLE, "Key": {"pk": {"S": key}}} for key in batch]
            )
            for key, (status, answer) in zip(batch, answers):
                assert status == 200, answer
                item = writer.items[key]
                state = sequence_of(key, answer)
                assert state in item.allowed(), (
                    f"{key}: found {state}, acknowledged {item.acknowledged} "
                    f"({item.acknowledged_sequence}), seen {item.seen_sequence}, "
                    f"attempted {item.attempted}"
                )
                settle(item, state)
                checked += 1
        writer.touched.clear()
    return checked


def settle(item, state):
    """What was found after a restart counts as acknowledged from now on."""
    if item.attempted and state == item.attempted[1]:
        item.acknowledged_sequence = item.attempted[0]
    item.acknowledged = state
    item.attempted = None


def kill_in_recovery(directory, seconds):
    """Starts a server and kills it whether it has come up by then or not."""
    command = [crash_run.program(), "serve", "--port", "0", *crash_run.flags(directory)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    process.kill()
    process.wait()


def test_nothing_acknowledged_or_seen_is_lost(tmp_path):
    seed = crash_run.seeded()
    rounds = crash_run.rounds(ROUNDS, ROUNDS_LONG)
    choices = random.Random(seed)
    directory = tmp_path / "data"

    def start():
        return crash_run.start_server(directory)

    with start() as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE, global_=INDEXES)
        server.kill()

    writers = [Writer(number, seed) for number in range(WRITERS)]
    readers = [Reader(f"reader-{number}", seed, writers) for number in range(READERS)]
    table_maker = TableMaker("table-maker", seed)
    clients = [*writers, *readers, table_maker]
    for number in rounds:
        with start() as server:
            crash_run.work_until_killed(clients, server, crash_run.until_kill_s(choices))
        if choices.random() < 0.3:
            kill_in_recovery(directory, choices.uniform(0, 0.05))
        crash_run.assert_whole_at_times(directory, number)
        with start() as server:
            client = FastClient(server.port)
            verify(
                client,
                writers,
                lambda writer: writer.touched
                | set(choices.sample(writer.keys, min(len(writer.keys), VERIFY_SAMPLE))),
            )
            table_maker.verify(client)
            server.kill()
    with start() as server:
        client = FastClient(server.port)
        checked = verify(client, writers, lambda writer: writer.keys)
        table_maker.verify(client)
        client.close()
        server.stop()
    crash_run.assert_whole(directory)
    writes = sum(writer.sequence for writer in writers)
    reads = sum(reader.reads for reader in readers)
    print(f"{writes} writes, {reads} reads, {table_maker.count} tables, {checked} items at the end")
    assert writes > len(rounds) and reads > len(rounds)
