"""kill -9 while an index is filled or deleted: it is gone on with, and nothing is left behind.

Each round starts the server on the same directory and lets writers put and delete items while one
thread creates and deletes an index over and over, until SIGKILL ends the server at a random moment.
What a kill leaves behind is whole, says `stator check`. After a restart the change that was under
way comes to its end by itself; an index that is there then has just the items that it should.
"""

import random
import time

import crash_run
import stator_process
from fast_client import FastClient
from index_load import TABLE, IndexMaker, Writer, load, verify

ROUNDS = 12
ROUNDS_LONG = 300
WRITERS = 3


def test_changes_of_an_index_survive_kills(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    writers = [Writer(number, seed) for number in range(WRITERS)]
    maker = IndexMaker("index-maker", seed)
    with crash_run.start_server(tmp_path) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        load(client)
        client.close()
        server.stop()
    verified = 0
    for _ in crash_run.rounds(ROUNDS, ROUNDS_LONG):
        with crash_run.start_server(tmp_path) as server:
            crash_run.work_until_killed([*writers, maker], server, crash_run.until_kill_s(choices))
        crash_run.assert_whole(tmp_path)
        with crash_run.start_server(tmp_path) as server:
            if choices.random() < 0.3:
                time.sleep(choices.uniform(0, 0.1))
                server.kill()  # While it goes on with what was under way.
            else:
                client = FastClient(server.port)
                verified += verify(client)
                client.close()
                server.stop()
        crash_run.assert_whole(tmp_path)
    print(f"{sum(w.writes for w in writers)} writes, {maker.changes} changes, {verified} verified")
    assert maker.changes > 0
