"""A stream tells of every change, once and in order: under load, across rollovers, splits, restarts
and kill -9, and while it is enabled and disabled.

Writers put, update and delete items of a few keys, alone, in batches and in transactions, and some
items expire at once. They share the keys, so changes of one item come from several connections, or
from the server itself. Each replay reads the stream from
TRIM_HORIZON on and compares every old image with what the records before left, and the end with
the table.
"""

import random
import time

import crash_run
import stator_process
from fast_client import FastClient
from stream_load import (
    FLAGS,
    KEY_NAMES,
    TABLE,
    VIEW,
    Writer,
    assert_replays_to_the_table,
    ended_shards,
    set_up,
    split_parents,
)
from stream_replay import Replay, call, scan

ROUNDS = 6
ROUNDS_LONG = 200
WRITERS = 4
TOGGLES = 5


def start_server(directory):
    return crash_run.start_server(directory, *FLAGS)


def test_a_replay_is_the_table_whatever_ends_the_server(tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    with start_server(tmp_path) as server:
        client = FastClient(server.port)
        arn = set_up(client)
        server.stop()
    writers = [Writer(number, seed) for number in range(WRITERS)]
    records = 0
    for number in crash_run.rounds(ROUNDS, ROUNDS_LONG):
        with start_server(tmp_path) as server:
            if choices.random() < 0.7:
                crash_run.work_until_killed(writers, server, crash_run.until_kill_s(choices))
            else:
                crash_run.work(writers, server.port, crash_run.until_kill_s(choices))
                assert_replays_to_the_table(FastClient(server.port), arn)
                server.stop()
        crash_run.assert_whole_at_times(tmp_path, number)
        with start_server(tmp_path) as server:
            client = FastClient(server.port)
            replay = assert_replays_to_the_table(client, arn)
            assert replay.record_count >= records
            records = replay.record_count
            ended = ended_shards(client, arn)
            splits = split_parents(client, arn)
            server.stop()
    assert replay.expired_count > 0
    assert ended, "no shard was rolled over"
    assert splits, "no partition was split"
    print(
        f"{sum(w.writes for w in writers)} writes, {records} records, {replay.expired_count} of them "
        f"of expired items, {len(ended)} ended shards, {len(splits)} splits"
    )


def test_nothing_is_missing_between_the_records_of_a_stream_enabled_under_load(tmp_path):
    seed = crash_run.seeded()
    writers = [Writer(number, seed) for number in range(WRITERS)]
    with start_server(tmp_path) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        for _ in range(TOGGLES):
            with crash_run.working(writers, server.port):
                time.sleep(0.1)
                enable = {"TableName": TABLE, "StreamSpecification": VIEW}
                arn = call(client, "UpdateTable", enable)["TableDescription"]["LatestStreamArn"]
                time.sleep(0.2)
            # The writers have stopped, so the stream's end is the table.
            replay = Replay(KEY_NAMES, knows_beginning=False).apply_all(client, arn)
            items = scan(client, TABLE, KEY_NAMES)
            for key, item in replay.items.items():
                assert items.get(key) == item
            assert replay.record_count > 0
            with crash_run.working(writers, server.port):
                time.sleep(0.05)
                disable = {"TableName": TABLE, "StreamSpecification": {"StreamEnabled": False}}
                call(client, "UpdateTable", disable)
                time.sleep(0.05)
            Replay(KEY_NAMES, knows_beginning=False).apply_all(client, arn)
        server.stop()
    crash_run.assert_whole(tmp_path)
