"""kill -9 while items expire and while the queue of their times is filled or removed.

Each round starts the server on the same directory and lets writers put items, most of which expire
at once or in a second or two, while one thread enables and disables time to live over and over,
until SIGKILL ends the server at a random moment. What a kill leaves behind is whole, says `stator
check`: each item is in the queue or need not be, and the reverse. After a restart, with time to live
enabled, everything that has expired goes by itself, and nothing else is gone: what was acknowledged
and has not expired is there, byte for byte.
"""

import random
import time

import crash_run
import stator_process
from expiry_load import TABLE, Switch, Writer, load, verify
from fast_client import FastClient

ROUNDS = 10
ROUNDS_LONG = 300
WRITERS = 3


def test_expiry_survives_kills(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    writers = [Writer(number, seed) for number in range(WRITERS)]
    switch = Switch("switch", seed)

    def start():
        return crash_run.start_server(tmp_path, "--ttl-interval", "20")

    with start() as server:
        client = FastClient(server.port)
        keys = [("bucket", "S", "HASH")]
        stator_process.create_table(client, TABLE, global_={"by-bucket": (keys, "ALL")})
        stays = load(client)
        client.close()
        server.stop()
    for _ in crash_run.rounds(ROUNDS, ROUNDS_LONG):
        with start() as server:
            crash_run.work_until_killed(
                [*writers, switch], server, crash_run.until_kill_s(choices)
            )
        crash_run.assert_whole(tmp_path)
        with start() as server:
            if choices.random() < 0.3:
                time.sleep(choices.uniform(0, 0.2))
                server.kill()  # While it goes on with what was under way.
            else:
                client = FastClient(server.port)
                verify(client, writers, stays)
                client.close()
                server.stop()
        crash_run.assert_whole(tmp_path)
    print(f"{sum(w.writes for w in writers)} writes, {switch.changes} changes")
    assert switch.changes > 0
