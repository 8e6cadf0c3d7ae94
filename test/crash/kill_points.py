"""The named points at which a server is ended, and how it gets there.

A point is a call to the system that changes a file, before or after which the process ends itself
(test/lib/preload/power_cut.c). Nothing in the server knows of points: they follow from the names of
files and threads, and from what runs in a scenario. Where a scenario writes by one thread only, such
as that which fills an index, the log's appends and syncs are those of that thread.
"""

import collections
import fnmatch
import os
import signal
import subprocess
import time

import crash_run
import power_cut

Point = collections.namedtuple("Point", "scenario when call file thread count_max at_start")

LOG, TABLE_FILE, MANIFEST = "*.log", "*.sst", "MANIFEST-*"
FLUSHING, MERGING = "rocksdb:high", "rocksdb:low"
LETTERS, LETTER_FOLDER = "refused.jsonl", "dead-letters"
REACHED_MAX_S = 30  # A point that is not reached by then is missed.
LINGER_MS = (0, 0, 2, 20)  # At the point, while other threads go on.
BEFORE_START_S = (0.02, 0.2)  # Time for writes that the start at a point then finds in the log.


def point(scenario, when, call, file, thread="*", count_max=1, at_start=False):
    return Point(scenario, when, call, file, thread, count_max, at_start)


POINTS = {
    # The write path.
    "before_wal_append": point("Items", "before", "write", LOG, count_max=200),
    "wal_appended": point("Items", "after", "write", LOG, count_max=200),
    "before_wal_sync": point("Items", "before", "sync", LOG, count_max=100),
    "wal_synced_before_answer": point("Items", "after", "sync", LOG, count_max=100),
    "before_mark": point("Items", "before", "write", "SYNCED", count_max=100),
    "mark_moved": point("Items", "after", "write", "SYNCED", count_max=100),
    # The log is filled ahead, piece by piece.
    "before_fill": point("Items", "before", "append", LOG, count_max=16),
    "filled": point("Items", "after", "append", LOG, count_max=16),
    # Flush: the log changes, the memtable becomes a file, the log loses its fill and goes.
    "wal_created": point("HeavyItems", "after", "open", LOG, count_max=2),
    "before_wal_cut": point("HeavyItems", "before", "truncate", LOG, count_max=2),
    "wal_cut": point("HeavyItems", "after", "truncate", LOG, count_max=2),
    "before_wal_delete": point("HeavyItems", "before", "unlink", LOG, count_max=2),
    "wal_deleted": point("HeavyItems", "after", "unlink", LOG, count_max=2),
    "flush_created": point("HeavyItems", "after", "open", TABLE_FILE, FLUSHING, 2),
    "flush_written": point("HeavyItems", "after", "write", TABLE_FILE, FLUSHING, 4),
    "before_flush_sync": point("HeavyItems", "before", "sync", TABLE_FILE, FLUSHING, 2),
    "flush_synced": point("HeavyItems", "after", "sync", TABLE_FILE, FLUSHING, 2),
    "flush_in_manifest": point("HeavyItems", "after", "write", MANIFEST, FLUSHING, 2),
    "before_manifest_sync": point("HeavyItems", "before", "sync", MANIFEST, FLUSHING, 2),
    "manifest_synced": point("HeavyItems", "after", "sync", MANIFEST, FLUSHING, 2),
    # Compaction.
    "merge_created": point("HeavyItems", "after", "open", TABLE_FILE, MERGING),
    "merge_written": point("HeavyItems", "after", "write", TABLE_FILE, MERGING),
    "before_merge_sync": point("HeavyItems", "before", "sync", TABLE_FILE, MERGING),
    "merge_synced": point("HeavyItems", "after", "sync", TABLE_FILE, MERGING),
    "merge_in_manifest": point("HeavyItems", "after", "write", MANIFEST, MERGING),
    "merge_manifest_synced": point("HeavyItems", "after", "sync", MANIFEST, MERGING),
    "before_table_file_delete": point("HeavyItems", "before", "unlink", TABLE_FILE, count_max=2),
    "table_file_deleted": point("HeavyItems", "after", "unlink", TABLE_FILE, count_max=4),
    # Start: the log is replayed into a file, and a new manifest becomes the current one.
    "recovery_created": point("HeavyItems", "after", "open", TABLE_FILE, at_start=True),
    "recovery_written": point("HeavyItems", "after", "write", TABLE_FILE, at_start=True),
    "recovery_manifest_created": point("Items", "after", "open", MANIFEST, at_start=True),
    "recovery_manifest_written": point(
        "Items", "after", "write", MANIFEST, count_max=3, at_start=True
    ),
    "before_current": point("Items", "before", "rename", "CURRENT", at_start=True),
    "current_renamed": point("Items", "after", "rename", "CURRENT", at_start=True),
    "old_manifest_deleted": point("Items", "after", "unlink", MANIFEST, at_start=True),
    "recovered_wal_deleted": point("HeavyItems", "after", "unlink", LOG, at_start=True),
    # Tables: only the catalogue is written.
    "table_change_appended": point("Tables", "after", "write", LOG, count_max=20),
    "before_table_change_sync": point("Tables", "before", "sync", LOG, count_max=20),
    "table_change_synced": point("Tables", "after", "sync", LOG, count_max=20),
    # Indexes: only their statuses, their entries, and how far the job has come.
    "backfill_appended": point("Backfill", "after", "write", LOG, count_max=40),
    "before_backfill_sync": point("Backfill", "before", "sync", LOG, count_max=40),
    "backfill_synced": point("Backfill", "after", "sync", LOG, count_max=40),
    "written_in_backfill": point("BackfillWithWrites", "after", "write", LOG, count_max=100),
    "synced_in_backfill": point("BackfillWithWrites", "after", "sync", LOG, count_max=100),
    # Time to live.
    "expiry_appended": point("Expiry", "after", "write", LOG, count_max=100),
    "before_expiry_sync": point("Expiry", "before", "sync", LOG, count_max=100),
    "expiry_synced": point("Expiry", "after", "sync", LOG, count_max=100),
    # Streams.
    "change_appended": point("Stream", "after", "write", LOG, count_max=100),
    "change_synced": point("Stream", "after", "sync", LOG, count_max=100),
    "trim_appended": point("Trimming", "after", "write", LOG, count_max=4, at_start=True),
    "trim_synced": point("Trimming", "after", "sync", LOG, count_max=4, at_start=True),
    # Triggers: positions are in the log, records that were given up in a file.
    "position_appended": point("Triggers", "after", "write", LOG, count_max=40),
    "position_synced": point("Triggers", "after", "sync", LOG, count_max=40),
    "letter_folder_made": point("Triggers", "after", "mkdir", LETTER_FOLDER),
    "before_letter": point("Triggers", "before", "append", LETTERS, count_max=5),
    "letter_written": point("Triggers", "after", "append", LETTERS, count_max=5),
    "before_letter_sync": point("Triggers", "before", "sync", LETTERS, count_max=5),
    "letter_synced": point("Triggers", "after", "sync", LETTERS, count_max=5),
    "before_letter_folder_sync": point("Triggers", "before", "sync", LETTER_FOLDER, count_max=5),
}


def chosen_points(scenario):
    """The names of its points that fit CRASH_POINT, in the order of the table."""
    pattern = os.environ.get("CRASH_POINT", "*")
    names = [name for name, one in POINTS.items() if one.scenario == scenario]
    return [name for name in names if fnmatch.fnmatch(name, pattern)]


def set_up(scenario, root):
    """A new store, at rest."""
    root.mkdir()
    with crash_run.start_server(root / "data", *scenario.flags) as server:
        scenario.set_up(server)
        server.stop()


def kill_setting(one, choices):
    count = choices.randint(1, one.count_max)
    return f"{one.when}/{one.call}/{one.file}/{one.thread}/{count}"


class Run:
    """One server, from its start to its end at a point."""

    def __init__(self, scenario, root, journal=None):
        self.scenario = scenario
        self.root = root
        self.directory = root / "data"
        self.journal = journal
        self.arm = root.parent / "armed"

    def variables(self, kill=None, linger_ms=0, arm=None):
        return power_cut.variables(
            self.root, self.journal, kill, linger_ms, arm, self.scenario.clock_s
        )

    def start(self, variables):
        return crash_run.start_server(self.directory, *self.scenario.flags, variables=variables)

    def to_point(self, one, choices):
        """Whether the server ended at the point; else it was killed after a while."""
        kill = kill_setting(one, choices), choices.choice(LINGER_MS)
        if one.at_start:
            self.for_a_while(choices.uniform(*BEFORE_START_S))
        self.scenario.new_round()
        reached = self.start_to_point(*kill) if one.at_start else self.work_to_point(*kill)
        ended_at_ns = time.monotonic_ns()
        for client in self.scenario.clients:
            client.settle(ended_at_ns)
        return reached

    def start_to_point(self, *kill):
        command = [crash_run.program(), "serve", "--port", "0", *crash_run.flags(self.directory)]
        process = subprocess.Popen(
            [*command, *self.scenario.flags],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **self.variables(*kill)},
        )
        try:
            _, log = process.communicate(timeout=REACHED_MAX_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return False
        assert process.returncode == -signal.SIGKILL, log
        return True

    def work_to_point(self, *kill):
        self.arm.unlink(missing_ok=True)
        variables = self.variables(*kill, arm=self.arm)
        with self.start(variables) as server:
            with crash_run.working(self.scenario.clients, server.port):
                self.arm.touch()
                until = time.monotonic() + REACHED_MAX_S
                while server.process.poll() is None and time.monotonic() < until:
                    time.sleep(0.002)
                reached = server.process.poll() is not None
                server.kill()
            assert server.process.returncode == -signal.SIGKILL, server.log()
        return reached

    def for_a_while(self, seconds):
        """The server is killed at no point in particular."""
        with self.start(self.variables()) as server:
            crash_run.work_until_killed(self.scenario.clients, server, seconds)

    def verify(self):
        """What is left is whole, and has all that the scenario knows of."""
        crash_run.assert_whole(self.directory)
        with self.start(self.variables()) as server:
            self.scenario.verify(server, self.directory)
            server.stop()

    def try_out(self):
        """The same for a store that is then given up: the scenario forgets what was found."""
        crash_run.assert_whole(self.directory)
        with self.start(self.variables()) as server:
            self.scenario.try_out(server, self.directory)
