"""A disk that fails at its Nth write, sync, open, rename, ...: io_errors.py has the run.

The long form goes through all N of all kinds and errors, each once and as a disk that stays bad,
on a new store and on one to be recovered. The short form takes a few of these by chance; CRASH_SEED
repeats its choices.
"""

import collections
import concurrent.futures
import itertools
import json
import random
import shutil
import time

import crash_run
import io_errors
import stator_process
from fast_client import FastClient
from function_target import FunctionTarget
from io_errors import Fault

AT_A_TIME = 2
NTH_MAX = 2000  # Far more calls than a run makes.
SAMPLE = 10  # Rows of the short form, with one fault of each.
SAMPLE_NTH_MAX = 70

# Kind, how it fails, and whether also for good. What is interrupted or short is done again by its
# caller, so a disk that is so for good would be one that does nothing.
ROWS = [
    ("write", "EIO", True),
    ("write", "ENOSPC", True),
    ("write", "EINTR", False),
    ("write", "short", True),
    ("sync", "EIO", True),
    ("sync", "ENOSPC", False),
    ("sync", "EINTR", False),
    ("open", "EIO", True),
    ("open", "ENOSPC", True),
    ("open", "EINTR", False),
    ("rename", "EIO", True),
    ("rename", "ENOSPC", False),
    ("size", "EIO", True),
    ("size", "ENOSPC", True),
    ("size", "EINTR", False),
    ("mkdir", "EIO", True),
    ("mkdir", "ENOSPC", False),
    ("unlink", "EIO", True),
]
# A write that is interrupted or short goes on, and so does an open: nobody must notice.
INVISIBLE = {("write", "EINTR"), ("write", "short"), ("open", "EINTR")}
NOT_REPEATED = {".", "LOCK"}  # By RocksDB, which opens these at the start alone.


def one_run(fault, store):
    hit, ending = io_errors.run(fault, *store)
    if (fault.kind, fault.how) in INVISIBLE:
        may_refuse = fault.kind == "open" and hit in NOT_REPEATED
        allowed = {"passes", "does not start"} if may_refuse else {"passes"}
        assert ending in allowed, f"{fault} at {hit}: {ending}"
    return hit, ending


def sweep(kind, how, staying, store, pool):
    """(how many calls failed, one per run; how these runs ended)"""
    endings = collections.Counter()
    for first in range(1, NTH_MAX, AT_A_TIME):
        faults = [Fault(kind, how, first + i, staying) for i in range(AT_A_TIME)]
        for hit, ending in pool.map(lambda fault: one_run(fault, store), faults):
            if hit is None:
                return sum(endings.values()), dict(endings)
            endings[ending] += 1
    raise AssertionError(f"{kind}: no end in sight")


def every_fault(stores):
    """The long form. Goes on after a failure, and returns them all."""
    failures = []
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        for (kind, how, may_stay), begin in itertools.product(ROWS, stores):
            for staying in (False, True) if may_stay else (False,):
                row = f"{begin}: {kind} {how}{' for good' if staying else ''}"
                try:
                    print(row, *sweep(kind, how, staying, stores[begin], pool), flush=True)
                except AssertionError as error:
                    failures.append(f"{row}: {error} {error.__notes__}")
    return failures


def some_faults(stores, choices):
    faults = []
    for kind, how, may_stay in choices.sample(ROWS, SAMPLE):
        staying = may_stay and choices.random() < 0.5
        fault = Fault(kind, how, choices.randint(1, SAMPLE_NTH_MAX), staying)
        faults.append((fault, stores[choices.choice(list(stores))]))
    print(*(fault for fault, _ in faults), sep="\n")
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        list(pool.map(lambda each: one_run(*each), faults))


def test_nothing_is_lost_whichever_call_fails(tmp_path):
    folder = tmp_path / "prepared"
    stores = {"new": (), "recovering": (folder, io_errors.prepared(folder))}
    if crash_run.is_long():
        assert every_fault(stores) == []
    else:
        some_faults(stores, random.Random(crash_run.seeded()))


# --- The fill of the log ---

FILLED_ITEMS = 60
FILLED_SIZE = 4096


def test_a_log_that_cannot_be_filled_ahead_takes_all_writes(tmp_path):
    """The first piece fails, or one in the middle, once or for good."""
    hows, nths = ("EIO", "ENOSPC", "short"), (1, 5)
    for number, (how, nth, staying) in enumerate(itertools.product(hows, nths, (False, True))):
        directory, report = tmp_path / f"data{number}", tmp_path / f"report{number}"
        variables = Fault("append", how, nth, staying).variables(directory, report)
        keys = [f"key{i}" for i in range(FILLED_ITEMS)]
        with crash_run.start_server(directory, variables=variables) as server:
            client = FastClient(server.port)
            stator_process.create_table(client, "filled")
            for key in keys:
                item = {"pk": {"S": key}, "value": {"S": "v" * FILLED_SIZE}}
                assert client.call("PutItem", {"TableName": "filled", "Item": item})[0] == 200
            server.kill()
        assert report.read_text().endswith(".log")
        crash_run.assert_whole(directory)
        with crash_run.start_server(directory) as server:
            client = FastClient(server.port)
            _, answer = client.call("Scan", {"TableName": "filled"})
            assert {item["pk"]["S"] for item in answer["Items"]} == set(keys)
            server.stop()


# --- Files that are not RocksDB's ---

SMALL_KINDS = ("write", "sync", "open", "rename", "mkdir")
LETTERS_S = 20


def kinds_and_errors():
    for kind, how in itertools.product(SMALL_KINDS, ("EIO", "ENOSPC", "EINTR", "short")):
        if how != "short" or kind == "write":
            yield kind, how


def some_kinds_and_errors():
    """All in the long form, else a few."""
    pairs = list(kinds_and_errors())
    return pairs if crash_run.is_long() else random.Random(crash_run.seeded()).sample(pairs, 3)


def sweep_keys(tmp_path, kind, how):
    keys = stator_process.Keys(tmp_path, crash_run.program())
    old = keys.create("old")[0]
    data, report = tmp_path / "data", tmp_path / "report"
    for nth in range(1, NTH_MAX):
        before = keys.command("key", "list")
        variables = Fault(kind, how, nth).variables(data, report)
        created = keys.run("key", "create", f"user{nth}", variables=variables)
        after = keys.command("key", "list")
        assert old in after
        if created.returncode == 0:
            assert f"user{nth}" in after
        else:
            assert created.returncode == 1 and created.stderr.startswith("stator: "), created
            # Only the sync of the folder comes behind the renaming: nobody knows what it did.
            is_unknown = report.read_text() == str(data) and kind in ("sync", "open")
            assert after == before or is_unknown, report.read_text()
        if (kind, how) in INVISIBLE:
            assert created.returncode == 0, created.stderr
        if not report.exists():
            return
        report.unlink()
    raise AssertionError("no end in sight")


def test_keys_are_the_old_ones_or_the_new_ones(tmp_path):
    for kind, how in some_kinds_and_errors():
        folder = tmp_path / f"{kind}-{how}"
        folder.mkdir()
        sweep_keys(folder, kind, how)


def add_trigger(server, target):
    client = FastClient(server.port)
    stator_process.create_table(client, "watched", stream="NEW_IMAGE")
    trigger = {
        "TableName": "watched",
        "Url": target.url,
        "MaximumRetryAttempts": 0,
        "DeadLetterFile": "letters.jsonl",
    }
    status, answer = client.call("AddTrigger", trigger)
    assert status == 200, answer
    return client


def letters(directory):
    """The keys of the records in the file, but for a line that was cut short."""
    path = directory / "dead-letters/letters.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {
        json.loads(line)["record"]["dynamodb"]["Keys"]["pk"]["S"]
        for line in lines
        if line.endswith("}}")
    }


def one_run_of_letters(directory, fault, report):
    """All records end in the file, whatever happens to the first attempt."""
    with FunctionTarget(lambda records: (500, "refused")) as target:
        variables = fault.variables(directory / "dead-letters", report)
        with crash_run.start_server(directory, variables=variables) as server:
            client = add_trigger(server, target)
            for key in ("a", "b", "c"):
                item = {"TableName": "watched", "Item": {"pk": {"S": key}}}
                assert client.call("PutItem", item)[0] == 200
            deadline = time.monotonic() + LETTERS_S
            while letters(directory) != {"a", "b", "c"}:
                assert time.monotonic() < deadline, f"{fault}: {letters(directory)}\n{server.log()}"
                time.sleep(0.02)
            server.stop()
    crash_run.assert_whole(directory)


def sweep_letters(folder, kind, how):
    for nth in range(1, NTH_MAX):
        directory, report = folder / f"data{nth}", folder / f"report{nth}"
        one_run_of_letters(directory, Fault(kind, how, nth), report)
        shutil.rmtree(directory)
        if not report.exists() or not crash_run.is_long():
            return


def test_no_dead_letter_is_lost(tmp_path):
    for kind, how in some_kinds_and_errors():
        folder = tmp_path / f"{kind}-{how}"
        folder.mkdir()
        sweep_letters(folder, kind, how)
