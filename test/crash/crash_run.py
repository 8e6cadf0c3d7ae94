"""Clients that go on until the server is killed under them, round after round.

CRASH_ROUNDS sets the number of kills and CRASH_SECONDS the longest time up to each; CRASH_SEED
replays the choices of a run (not its timing).
"""

import os
import random
import threading
import time

import stator_process
from fast_client import FastClient, ServerGone

ROUNDS = 8
ROUNDS_LONG = 400
UNTIL_KILL_MIN_S = 0.02
UNTIL_KILL_MAX_S = 0.6


def seeded():
    seed = int(os.environ.get("CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"CRASH_SEED={seed}")
    return seed


def rounds(short=ROUNDS, long=ROUNDS_LONG):
    is_long = os.environ.get("STATOR_TEST_LONG") == "1"
    return int(os.environ.get("CRASH_ROUNDS", long if is_long else short))


def until_kill_max_s():
    return float(os.environ.get("CRASH_SECONDS", UNTIL_KILL_MAX_S))


def program():
    return stator_process.binary(
        "STATOR_RELEASE_BINARY", "build/stator", "build/release/stator", "build/asan/stator"
    )


def flags(directory):
    # A small write buffer, so that recovery also meets table files and not the log alone.
    return ("--data-dir", str(directory), "--write-buffer-size", "1M")


def start_server(directory):
    return stator_process.StatorProcess(*flags(directory), program=program())


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


def run_clients(clients, port, seconds, finish):
    threads = [threading.Thread(target=client.run, args=(port,)) for client in clients]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    finish()
    for thread in threads:
        thread.join()
    for client in clients:
        if client.failure:
            raise client.failure


def run_until_stopped(clients, port, seconds):
    def stop_all():
        for client in clients:
            client.stopping = True

    run_clients(clients, port, seconds, stop_all)


def run_across_kills(clients, directory, seed):
    """Returns the number of kills."""
    choices = random.Random(seed)
    count = rounds()
    for _ in range(count):
        with start_server(directory) as server:

            def kill(server=server):
                assert server.process.poll() is None, server.log()
                server.kill()

            seconds = choices.uniform(UNTIL_KILL_MIN_S, until_kill_max_s())
            run_clients(clients, server.port, seconds, kill)
            killed_at_ns = time.monotonic_ns()
            for client in clients:
                client.settle(killed_at_ns)
    return count


def assert_whole(directory):
    """What a kill leaves behind is whole, says `stator check`."""
    result = stator_process.check(directory, program())
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith(": no problems\n"), result.stdout
