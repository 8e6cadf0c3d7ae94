"""Every record reaches its function at least once and in order per partition key, though the
function fails at random, dies in the middle of a call or takes too long, and the server is killed
meanwhile. What the function always refuses, and nothing else, is in the dead-letter file.

Each key has one writer, which counts up: value n of a key is one record. Values that POISON divides
are refused whenever they are in a batch. The rest fails at random, but not so often that it would
be given up.
"""

import collections
import random
import threading
import time

import crash_run
from function_target import FunctionTarget
from stream_load import splits
from trigger_load import Writer, add_trigger, assert_in_order, caught_up, identity

FLAGS = ("--stream-rollover-ms", "700", *splits(2000))
ROUNDS = 5
ROUNDS_LONG = 100
WRITERS = 6
UNTIL_KILL_S = (0.2, 1.2)  # Longer than elsewhere: a function that fails is slow.
RETRIES_MAX = 3
FAILURES_MAX = 2  # Of a record that is alone in its batch; below the retries.
POISON = 41


class Moody:
    """How the function behaves."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.failures = collections.Counter()

    def decide(self, records):
        identities = [identity(record) for record in records]
        with self.lock:
            if any(value % POISON == 0 for _, value in identities):
                return 500, "refused"
            mood = self.random.random()
            if mood > 0.25 or (len(records) == 1 and self.failures[identities[0]] == FAILURES_MAX):
                return 200, "null"
            if len(records) == 1:
                self.failures[identities[0]] += 1
        if mood < 0.02:
            time.sleep(1.5)  # Longer than the trigger waits.
            return None
        return None if mood < 0.1 else (503, "not now")


def test_records_are_delivered_whatever_happens(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    directory = tmp_path / "data"
    writers = [Writer(number, seed) for number in range(WRITERS)]
    with FunctionTarget(Moody(seed).decide) as target:
        for number in crash_run.rounds(ROUNDS, ROUNDS_LONG):
            with crash_run.start_server(directory, *FLAGS) as server:
                if number == 0:
                    add_trigger(server, target, RETRIES_MAX)
                crash_run.work_until_killed(writers, server, choices.uniform(*UNTIL_KILL_S))
            crash_run.assert_whole_at_times(directory, number)
        wanted = set().union(*(writer.acknowledged for writer in writers))
        refused = {record for record in wanted if record[1] % POISON == 0}
        with crash_run.start_server(directory) as server:
            _, given_up = caught_up(directory, target, wanted)
            server.stop()
    assert refused <= given_up
    assert all(value % POISON == 0 for _, value in given_up)
    assert_in_order(target)
    crash_run.assert_whole(directory)
    print(f"{len(wanted)} records, {len(given_up)} given up, {len(target.snapshot())} calls")
