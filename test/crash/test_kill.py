"""kill -9 at random moments: what was acknowledged stays, and so does what anybody saw.

Each round starts the server on the same directory, lets writers put, overwrite and delete items of
their own, readers read them, and one thread create and delete tables, until SIGKILL ends the server
at a random moment. After a restart each item must be in the state of the last write that was
acknowledged or seen, or of one attempted later. Readers also check, while the server runs, that no
read misses a write acknowledged before it began. What a kill leaves behind is whole, says `stator
check`: each item has exactly its index entries, and the statistics add up.
"""

import random
import subprocess
import time

import crash_run
import stator_process
from fast_client import FastClient
from item_load import INDEXES, TABLE, Reader, TableMaker, Writer, verify

ROUNDS = 20
ROUNDS_LONG = 1000
WRITERS = 6
READERS = 2
# Items of earlier rounds that are looked at again in each round; all of them are after the last.
VERIFY_SAMPLE = 500


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
