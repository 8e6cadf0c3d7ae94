"""One small run of everything the server does with its disk, on a disk that fails at the Nth call
of a kind, and what must be so afterwards.

The calls fail by test/lib/preload/failing_calls.c. The work is the same in each run, so the Nth
call is much the same one too; a sweep is over N, from 1 until a run in which nothing failed any
more.

What may come of a fault: the server does not start and says why; it answers 500 to what it could
not do, and goes on; or it ends itself with a message, because only recovery can tell what the disk
holds (ENDINGS has the list). Afterwards, on a disk that works, all that was acknowledged is there,
nothing that was refused is, and what was answered 500 is there as a whole or not at all.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import tempfile
import time

import crash_run
import stator_process
import stream_replay
from fast_client import FastClient, ServerGone

TABLE = "faults"
INDEXES = {"by-group": ([("group", "S", "HASH")], "ALL")}
BIG = 300_000  # Some of these fill a write buffer.
HANG_S = 20
# A server that ends itself by abort() says one of these before.
ENDINGS = (
    "cannot sync the write-ahead log",  # A sync is never repeated.
    # Debian's RocksDB, asked to sync or close a file that failed to take a write.
    "AssertFalseAndGetStatusForPrevError",
)
FLAGS = ("--write-buffer-size", "1M", "--ttl-interval", "50", "--workers", "1")


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    how: str
    nth: int
    staying: bool = False

    def variables(self, directory, report):
        variables = {
            "LD_PRELOAD": stator_process.preload("failing_calls"),
            "FAILING_CALLS_UNDER": str(directory),
            "FAILING_CALLS_KIND": self.kind,
            "FAILING_CALLS_HOW": self.how,
            "FAILING_CALLS_NTH": str(self.nth),
            "FAILING_CALLS_REPORT": str(report),
        }
        return variables | ({"FAILING_CALLS_STAYING": "1"} if self.staying else {})

    def __str__(self):
        return f"{self.kind} {self.nth} {self.how}{' and all later ones' if self.staying else ''}"


def text(value):
    return {"S": value}


def number(value):
    return {"N": str(value)}


class Effects:
    """What each item may be, by what was answered."""

    def __init__(self, has_table=False):
        self.table = {has_table}
        self.possible = {}

    def of(self, key):
        return self.possible.get(key, [None])

    def note(self, is_known, key, change):
        before = self.of(key)
        after = [change(item) for item in before]
        self.possible[key] = after if is_known else before + [i for i in after if i not in before]


class Work:
    """The requests of a run. An answer that is not foreseen fails the test."""

    def __init__(self, port, effects):
        self.client = FastClient(port, HANG_S)
        self.effects = effects
        self.failures = 0  # How many requests were answered 500.
        self.gone = False  # The server is, and the last request has no answer.

    def call(self, operation, body, refusal=None):
        """Whether it was done; what fails is unknown. `refusal` is the answer of one that is meant
        to be refused."""
        try:
            status, answer = self.client.call(operation, body)
        except ServerGone:
            self.gone = True
            return False
        kind = answer.get("__type", "").split("#")[-1]
        if status == 500:
            assert kind == "InternalServerError", answer
            self.failures += 1
            return False
        assert (status, kind) == ((400, refusal) if refusal else (200, "")), answer
        return True

    def put(self, key, **attributes):
        item = {"pk": text(key), "group": text("g"), **attributes}
        done = self.call("PutItem", {"TableName": TABLE, "Item": item})
        self.effects.note(done, key, lambda _: item)

    def add(self, key, name):
        def change(item):
            item = dict(item or {"pk": text(key)})
            return item | {name: number(int(item.get(name, number(0))["N"]) + 1)}

        body = {
            "TableName": TABLE,
            "Key": {"pk": text(key)},
            "UpdateExpression": f"ADD {name} :one",
            "ExpressionAttributeValues": {":one": number(1)},
        }
        self.effects.note(self.call("UpdateItem", body), key, change)

    def refused_update(self, key):
        body = {
            "TableName": TABLE,
            "Key": {"pk": text(key)},
            "UpdateExpression": "SET refused = :true",
            "ConditionExpression": "never = :true",
            "ExpressionAttributeValues": {":true": {"BOOL": True}},
        }
        self.call("UpdateItem", body, "ConditionalCheckFailedException")

    def delete(self, key):
        done = self.call("DeleteItem", {"TableName": TABLE, "Key": {"pk": text(key)}})
        self.effects.note(done, key, lambda _: None)

    def transaction(self, keys):
        items = [{"pk": text(key), "group": text("t"), "pair": text(keys[0])} for key in keys]
        body = {
            "TransactItems": [{"Put": {"TableName": TABLE, "Item": item}} for item in items],
            "ClientRequestToken": keys[0],
        }
        done = self.call("TransactWriteItems", body)
        for key, item in zip(keys, items):
            self.effects.note(done, key, lambda _, item=item: item)

    def refused_transaction(self, keys):
        actions = [
            {"Put": {"TableName": TABLE, "Item": {"pk": text(key), "refused": text("t")}}}
            for key in keys
        ]
        actions[-1]["Put"]["ConditionExpression"] = "attribute_exists(never)"
        self.call("TransactWriteItems", {"TransactItems": actions}, "TransactionCanceledException")

    def create_table(self, name, **parts):
        try:
            stator_process.create_table(self.client, name, **parts)
        except AssertionError as error:
            assert "InternalServerError" in str(error) or "did not become" in str(error), error
            self.failures += 1
            return False
        return True

    def short_lived_table(self, name):
        if self.create_table(name):
            self.call("PutItem", {"TableName": name, "Item": {"pk": text("a")}})
            self.call("DeleteTable", {"TableName": name})

    def all(self, round_name):
        """What one server does in its life."""
        if self.effects.table != {True}:
            self.effects.table = {True, False}
            if not self.create_table(TABLE, global_=INDEXES, stream="NEW_AND_OLD_IMAGES"):
                return
            self.effects.table = {True}
            expiry = {"AttributeName": "until", "Enabled": True}
            self.call("UpdateTimeToLive", {"TableName": TABLE, "TimeToLiveSpecification": expiry})
            if self.gone:
                raise ServerGone
        for step in self.steps(round_name):
            step()
            if self.gone:
                raise ServerGone

    def steps(self, name):
        yield lambda: self.put(f"a{name}")
        yield lambda: self.put("b", n=number(7), round=text(name))
        yield lambda: self.add("b", "n")
        yield lambda: self.refused_update("b")
        yield lambda: self.put(f"expired{name}", until=number(int(time.time()) - 3600))
        yield lambda: self.transaction([f"t1{name}", f"t2{name}"])
        yield lambda: self.refused_transaction([f"a{name}", "never"])
        for index in range(4):
            yield lambda index=index: self.put(f"big{index}", filler=text(name * BIG))
        yield lambda: self.delete(f"a{name}")
        yield lambda: self.short_lived_table(f"passing{name}")
        yield lambda: self.put(f"last{name}")
        yield lambda: self.refused_update(f"last{name}")


# --- A run ---


def prepared(folder):
    """A store that was killed after its work, with that work's effects."""
    effects = Effects()
    with crash_run.start_server(folder, *FLAGS) as server:
        Work(server.port, effects).all("1")
        server.kill()
    return effects


def lasting(items):
    """Without what expires: an item may go between two looks."""
    return {key: item for key, item in items.items() if "until" not in item}


def in_index(client):
    query = {
        "TableName": TABLE,
        "IndexName": "by-group",
        "KeyConditionExpression": "#group = :group",
        "ExpressionAttributeNames": {"#group": "group"},
    }
    found = []
    for group in ("g", "t"):
        start = {}
        while start is not None:
            values = {"ExpressionAttributeValues": {":group": text(group)}}
            page = stream_replay.call(client, "Query", query | values | start)
            found += page["Items"]
            last = page.get("LastEvaluatedKey")
            start = {"ExclusiveStartKey": last} if last else None
    return lasting({item["pk"]["S"]: item for item in found})


def has_stream(client, arn, waits):
    """A table is there a moment before its stream is, and stays so if it can no longer write."""
    deadline = time.monotonic() + HANG_S
    while client.call("DescribeStream", {"StreamArn": arn})[0] != 200:
        if not waits:
            return False
        assert time.monotonic() < deadline, "the stream does not come"
        time.sleep(0.01)
    return True


def seen(port, is_well):
    """The items as a client sees them, in which table, index and stream must agree. None without
    the table. `is_well`: no write has failed."""
    client = FastClient(port, HANG_S)
    status, answer = client.call("DescribeTable", {"TableName": TABLE})
    if status != 200:
        assert answer["__type"].endswith("#ResourceNotFoundException"), answer
        return None
    scanned = stream_replay.scan(client, TABLE, ["pk"])
    items = lasting({item["pk"]["S"]: item for item in scanned.values()})
    assert in_index(client) == {key: item for key, item in items.items() if "group" in item}
    arn = answer["Table"]["LatestStreamArn"]
    replayed = {}
    if has_stream(client, arn, waits=is_well):
        replay = stream_replay.Replay(["pk"]).apply_all(client, arn)
        replayed = lasting({item["pk"]["S"]: item for item in replay.existing().values()})
    assert replayed == items
    client.close()
    return items


def ending_in(log):
    found = [ending for ending in ENDINGS if ending in log]
    assert found, log
    return found[0]


def ended(server):
    """Why the server ended itself, for one that is gone."""
    code = server.process.wait(HANG_S)
    assert code == -signal.SIGABRT, f"ended with {code}:\n{server.log()}"
    return ending_in(server.log())


def run_with_fault(fault, directory, report, effects, round_name):
    """(how it ended, what was seen at last or None)."""
    try:
        server = crash_run.start_server(
            directory, *FLAGS, variables=fault.variables(directory, report)
        )
    except stator_process.DidNotStart as error:
        if error.code == -signal.SIGABRT:
            return f"ends itself: {ending_in(error.log)}", None
        assert error.code == 1 and "stator: cannot " in error.log, f"{error.code}: {error.log}"
        return "does not start", None
    with server:
        last = None
        try:
            work = Work(server.port, effects)
            work.all(round_name)
            work.client.close()
            last = seen(server.port, is_well=work.failures == 0)
        except ServerGone:
            return f"ends itself: {ended(server)}", None
        server.process.terminate()
        code = server.process.wait(HANG_S)
        if code != 0:
            return f"ends itself when stopped: {ended(server)}", last
        if work.failures:
            assert "writing fails: " in server.log(), server.log()
            return "answers 500", last
        return "passes", last


def verify(directory, effects, last):
    with crash_run.start_server(directory, *FLAGS) as server:
        items = seen(server.port, is_well=True)
        assert (items is not None) in effects.table, f"the table: {items}"
        if last is not None:
            assert items == last
        for key, possible in effects.possible.items():
            found = (items or {}).get(key)
            if "until" not in (possible[-1] or {}):
                assert found in possible, f"{key}: {found}, not one of {possible}"[:2000]
        for item in (items or {}).values():
            assert "refused" not in item
            if "pair" in item:
                assert (item["pair"]["S"].replace("t1", "t2")) in items
        Work(server.port, Effects(has_table=items is not None)).all("3")
        server.stop()
    crash_run.assert_whole(directory)


def run(fault, template=None, effects=None):
    """(path of the call that failed or None, how it ended)."""
    folder = pathlib.Path(tempfile.mkdtemp())
    directory, report = folder / "data", folder / "report"
    round_name = "1"
    possible = Effects()
    if template:
        shutil.copytree(template, directory, ignore=shutil.ignore_patterns("*.socket"))
        possible.table = set(effects.table)
        possible.possible = dict(effects.possible)
        round_name = "2"
    try:
        ending, last = run_with_fault(fault, directory, report, possible, round_name)
        hit = os.path.relpath(report.read_text(), directory) if report.exists() else None
        verify(directory, possible, last)
    except BaseException as error:
        error.add_note(f"fault: {fault}; kept in {folder}")
        raise
    shutil.rmtree(folder)
    return hit, ending
