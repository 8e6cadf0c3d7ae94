"""Writers, readers and a maker of tables, and what is known of each item whatever ends the server."""

import time

import crash_run
import stator_process

TABLE = "crash"
VERIFY_BATCH = 64
REFUSED_SHARE = 0.05
INDEXES = {
    "by-bucket": ([("bucket", "S", "HASH"), ("sequence", "N", "RANGE")], "KEYS_ONLY"),
    "sparse": ([("third", "N", "HASH")], "ALL"),
}
MISSING = None


# Of a writer's items, if that is its name: thirty of them fill a write buffer.
HEAVY = "heavy"
HEAVY_SIZE = 30_000


def content(key, sequence):
    """An item that its sequence number determines, so that a mixture of two writes shows."""
    size = 8000 if sequence % 97 == 0 else sequence * 37 % 300
    if key.startswith(HEAVY):
        size = HEAVY_SIZE + sequence % 100
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

    def __init__(self, name, seed, keys_max=None):
        super().__init__(name, seed)
        self.keys_max = keys_max
        self.sequence = 0
        self.items = {}
        self.keys = []
        self.touched = set()

    def choose(self):
        """(key, whether to put or else delete)."""
        has_room = self.keys_max is None or len(self.keys) < self.keys_max
        if not self.keys or (has_room and self.choices.random() < 0.6):
            key = f"{self.name}-{len(self.keys)}"
            self.items[key] = Item()
            self.keys.append(key)
            return key, True
        return self.choices.choice(self.keys[-200:]), self.choices.random() < 0.7

    def step(self, connection):
        if self.keys and self.choices.random() < REFUSED_SHARE:
            self.be_refused(connection)
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


    def be_refused(self, connection):
        """A put on condition that the item is not there, which is; it must never show."""
        key = self.choices.choice(self.keys)
        if self.items[key].acknowledged is MISSING:
            return
        self.sequence += 1
        body = {"TableName": TABLE, "Item": content(key, self.sequence)}
        status, answer = connection.call(
            "PutItem", {**body, "ConditionExpression": "attribute_not_exists(pk)"}
        )
        assert status == 400 and "ConditionalCheckFailed" in answer["__type"], answer


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
