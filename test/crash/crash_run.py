"""Clients that go on until the server is stopped or killed under them, round after round.

CRASH_ROUNDS sets the number of rounds and CRASH_SECONDS the longest time up to a kill; CRASH_SEED
replays the choices of a run (not its timing). What a test prints is shown when it fails.
"""

import contextlib
import os
import random
import threading
import time

import stator_process
from fast_client import FastClient, ServerGone

ROUNDS = 8
ROUNDS_LONG = 400
SETTINGS = ("CRASH_POINT", "CRASH_ROUNDS", "CRASH_SECONDS", "CRASH_STATES", "STATOR_TEST_LONG")
PYTEST = "/usr/bin/python3 -m pytest"
UNTIL_KILL_MIN_S = 0.02
UNTIL_KILL_MAX_S = 0.6
# `stator check` reads everything, and in a long run there is ever more.
ROUNDS_PER_CHECK_LONG = 20


def seeded():
    seed = int(os.environ.get("CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
    test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
    settings = [f"{name}={value}" for name, value in os.environ.items() if name in SETTINGS]
    print(" ".join(["again:", *settings, f"CRASH_SEED={seed}", PYTEST, f"'{test}'"]))
    return seed


def is_long():
    return os.environ.get("STATOR_TEST_LONG") == "1"


def rounds(short=ROUNDS, long=ROUNDS_LONG):
    return range(int(os.environ.get("CRASH_ROUNDS", long if is_long() else short)))


def until_kill_s(choices):
    longest = float(os.environ.get("CRASH_SECONDS", UNTIL_KILL_MAX_S))
    return choices.uniform(UNTIL_KILL_MIN_S, longest)


def program():
    return stator_process.binary(
        "STATOR_RELEASE_BINARY", "build/stator", "build/release/stator", "build/asan/stator"
    )


def flags(directory):
    # A small write buffer, so that recovery also meets table files and not the log alone.
    return ("--data-dir", str(directory), "--write-buffer-size", "1M")


def start_server(directory, *more_flags, variables=None):
    return stator_process.StatorProcess(
        *flags(directory), *more_flags, program=program(), variables=variables
    )


class Client:
    """One thread that does one step after the other, over all rounds."""

    def __init__(self, name, seed):
        self.name = name
        self.choices = random.Random(f"{seed}-{name}")
        self.stopping = False
        self.failure = None

    def step(self, connection):
        """Raises ServerGone if the answer did not come any more."""
        raise NotImplementedError

    def settle(self, killed_at_ns):
        """The server was killed; a step under way has no answer."""

    def run(self, port):
        try:
            connection = FastClient(port)
            while not self.stopping:
                self.step(connection)
            connection.close()
        except ServerGone:
            pass
        except BaseException as error:  # Reported by the thread that waits.
            self.failure = error


@contextlib.contextmanager
def working(clients, port):
    """The clients are at work until the block ends, or until it has killed the server."""
    threads = [threading.Thread(target=client.run, args=(port,)) for client in clients]
    for client, thread in zip(clients, threads):
        client.stopping = False
        thread.start()
    try:
        yield
    finally:
        for client in clients:
            client.stopping = True
        for thread in threads:
            thread.join()
    for client in clients:
        if client.failure:
            raise client.failure


def work(clients, port, seconds):
    with working(clients, port):
        time.sleep(seconds)


def work_until_killed(clients, server, seconds):
    with working(clients, server.port):
        time.sleep(seconds)
        assert server.process.poll() is None, server.log()  # It did not end by itself.
        server.kill()
    killed_at_ns = time.monotonic_ns()
    for client in clients:
        client.settle(killed_at_ns)


def work_across_kills(clients, directory, seed):
    """Returns the number of kills."""
    choices = random.Random(seed)
    for number in (numbers := rounds()):
        with start_server(directory) as server:
            work_until_killed(clients, server, until_kill_s(choices))
        assert_whole_at_times(directory, number)
    return len(numbers)


def assert_whole(directory):
    """What an end of the server leaves behind is whole, says `stator check`."""
    result = stator_process.check(directory, program())
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith(": no problems\n"), result.stdout


def assert_whole_at_times(directory, round_number):
    """In each round, or in a few of a long run."""
    if round_number % (ROUNDS_PER_CHECK_LONG if is_long() else 1) == 0:
        assert_whole(directory)
