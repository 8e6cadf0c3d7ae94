"""Clients that do what they should beside others that take much: how long they wait, and that they are
always answered.

The machine may be busy with other work. A watch beside them sleeps and measures by how much it wakes
up late: what the machine itself took away is not charged to the server."""

import collections
import functools
import threading
import time

from fast_client import FastClient

WATCH_S = 0.002
ATTEMPTS = 3


class TooLate(AssertionError):
    """Somebody waited for longer than the test allows."""


def in_time(test):
    """A test whose honest clients are answered in time in one of ATTEMPTS runs, one after the other:
    a busy machine makes one run late, a server that is held up makes all of them late. Whatever else
    goes wrong fails at once."""

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


class Watch(threading.Thread):
    """How late the machine wakes somebody who only sleeps, as long as the block of `with` lasts."""

    def __init__(self):
        super().__init__(daemon=True)
        self.worst_s = 0.0
        self._ends = False

    def run(self):
        while not self._ends:
            before = time.monotonic()
            time.sleep(WATCH_S)
            self.worst_s = max(self.worst_s, time.monotonic() - before - WATCH_S)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._ends = True
        self.join()


class Honest(threading.Thread):
    """Sends [(operation, body), ...] again and again until `end`; `times` is {operation: [seconds]}.
    Half of the rounds use a fresh connection, whose opening counts."""

    def __init__(self, port, requests):
        super().__init__(daemon=True)
        self.times = collections.defaultdict(list)
        self.refusals = []
        self._port = port
        self._requests = requests
        self._ends = threading.Event()
        self.start()

    def run(self):
        kept = FastClient(self._port)
        number = 0
        while not self._ends.is_set():
            number += 1
            for operation, body in self._requests(number):
                before = time.monotonic()
                client = kept if number % 2 else FastClient(self._port)
                status, answer = client.call(operation, body)
                self.times[operation].append(time.monotonic() - before)
                if status != 200:
                    self.refusals.append((operation, status, answer))
                if client is not kept:
                    client.close()
            time.sleep(0.001)
        kept.close()

    def end(self):
        self._ends.set()
        self.join()
        return self

    def worst_ms(self):
        return {operation: 1000 * max(times) for operation, times in self.times.items()}
