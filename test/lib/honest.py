"""Honest clients beside attackers: how long each of their requests waits, and that all are answered.

The machine may be busy with other work. The kernel tells how long a thread was ready to run and got
no processor; that time is not charged to the server."""

import collections
import functools
import pathlib
import threading
import time

import stator_process
from fast_client import FastClient

TABLE = "honest"
WORST_MS = 200
ATTEMPTS = 3
ROUNDS_PER_NEW_TABLE = 20  # A change of a table takes longer than a request about an item.
OWN_SCHEDSTAT = pathlib.Path("/proc/thread-self/schedstat")


class TooLate(AssertionError):
    """A request waited for longer than the test allows."""


def in_time(test):
    """Passes if honest clients are answered in time in one of ATTEMPTS runs: a busy machine delays
    one run, a server that is held up delays all of them. Any other failure counts at once."""

    @functools.wraps(test)
    def run(*arguments, **named):
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return test(*arguments, **named)
            except TooLate as late:
                print(f"attempt {attempt}: {late}")
                if attempt == ATTEMPTS:
                    raise

    return run


def release_binary():
    """The optimised build: sanitizers make a server several times slower."""
    return stator_process.binary("STATOR_RELEASE_BINARY", "build/stator", "build/release/stator")


# --- What they send ---


def reads(number):
    key = {"pk": {"S": f"k{number % 50}"}}
    yield "GetItem", {"TableName": TABLE, "Key": key, "ConsistentRead": True}
    yield (
        "Query",
        {
            "TableName": TABLE,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": key["pk"]},
        },
    )


def reads_and_writes(number):
    key = {"pk": {"S": f"k{number % 50}"}}
    yield "PutItem", {"TableName": TABLE, "Item": {**key, "v": {"N": str(number)}}}
    yield from reads(number)
    yield (
        "UpdateItem",
        {
            "TableName": TABLE,
            "Key": key,
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        },
    )
    if number % ROUNDS_PER_NEW_TABLE == 1:
        yield "CreateTable", stator_process.table_request(f"{TABLE}-{number}")
    # Later, so that DeleteTable does not meet a table that is still being created.
    if number % ROUNDS_PER_NEW_TABLE == 0:
        yield "DeleteTable", {"TableName": f"{TABLE}-{number - ROUNDS_PER_NEW_TABLE + 1}"}


# --- How long they wait ---


class Machine:
    """How long the machine kept the server's threads, and the calling one, from a processor."""

    def __init__(self, pid):
        # Threads of low priority wait for the server's others, which is the server's own doing.
        tasks = pathlib.Path(f"/proc/{pid}/task")
        usual = self._nice(tasks / str(pid))
        self._paths = [t / "schedstat" for t in tasks.iterdir() if self._nice(t) == usual]

    @staticmethod
    def _nice(task):
        return int((task / "stat").read_text().rpartition(")")[2].split()[16])

    @staticmethod
    def _waited_s(path):
        return int(path.read_text().split()[1]) / 1e9

    def waited_s(self):
        return [self._waited_s(path) for path in self._paths], self._waited_s(OWN_SCHEDSTAT)

    def taken_s(self, before):
        """Since waited_s() was `before`: of the thread that waited longest, and of this one."""
        (threads, own), (threads_before, own_before) = self.waited_s(), before
        longest = max(now - then for now, then in zip(threads, threads_before, strict=True))
        return longest + own - own_before


class Honest(threading.Thread):
    """Sends requests(1), requests(2), ... one after the other as long as the `with` block lasts.
    Every other round uses a fresh connection for each request, whose opening counts."""

    def __init__(self, server, requests=reads_and_writes, connect=FastClient):
        super().__init__(daemon=True)
        self._port = server.port
        self._machine = Machine(server.pid)
        self._requests = requests
        self._connect = connect
        self._ends = threading.Event()
        self._failure = None
        self._refusals = []
        self.worst_s = collections.Counter()
        self.counts = collections.Counter()

    def _send(self, operation, body, kept):
        waited = self._machine.waited_s()
        before = time.monotonic()
        client = kept or self._connect(self._port)
        status, answer = client.call(operation, body)
        took = time.monotonic() - before - self._machine.taken_s(waited)
        if status != 200:
            self._refusals.append((operation, status, answer))
        kind = operation if kept else f"{operation} on a fresh connection"
        self.worst_s[kind] = max(self.worst_s[kind], took)
        self.counts[operation] += 1
        if not kept:
            client.close()

    def _send_all(self):
        kept = self._connect(self._port)
        number = 0
        # The last round is a whole one: a table that was created is also deleted.
        while not self._ends.is_set() or number % ROUNDS_PER_NEW_TABLE:
            number += 1
            for operation, body in self._requests(number):
                self._send(operation, body, kept if number % 2 else None)
            time.sleep(0.001)
        kept.close()

    def run(self):
        try:
            self._send_all()
        except Exception as error:  # pylint: disable=broad-exception-caught
            self._failure = error

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        self._ends.set()
        self.join()
        if kind is None and self._failure:
            raise self._failure

    def check(self, what, worst_ms=WORST_MS):
        """All requests were answered, none was refused, and none waited for too long."""
        worst = {kind: f"{1000 * seconds:.0f} ms" for kind, seconds in self.worst_s.items()}
        print(f"{what}: worst {worst} of {dict(self.counts)}")
        assert not self._refusals, self._refusals[:3]
        if 1000 * max(self.worst_s.values()) >= worst_ms:
            raise TooLate(f"{worst}")
