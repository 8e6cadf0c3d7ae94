"""history.py -- PutItem of a table with point-in-time recovery against one without.

New items leave little in the history; items that exist leave what they were. Two servers, so that
the bytes that each has the disk write can be told apart: logs, flushes and compactions.
"""

import contextlib
import pathlib
import re

import measuring
import servers
import stator_process
import workload

ITEMS = 200_000
TURNS = 3
TURN_S = 5
CONNECTIONS = 32
TABLE = "bench-history"
SIDES = {"without": False, "with": True}


def written_size(pid):
    """Bytes that the process had written to the disk."""
    return int(re.search(r"^write_bytes: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text(), re.M)[1])


def open_table(server, recovery):
    client = server.client()
    stator_process.create_table(client, TABLE)
    if recovery:
        specification = {"PointInTimeRecoveryEnabled": True}
        status, answer = client.call(
            "UpdateContinuousBackups",
            {"TableName": TABLE, "PointInTimeRecoverySpecification": specification},
        )
        if status != 200:
            raise SystemExit(f"run: UpdateContinuousBackups did not enable it: {answer}")
    client.close()


def insert(server, arguments, item_count):
    before = written_size(server.process.pid)
    seconds = measuring.fill(server.port, arguments, item_count)
    measuring.wait_until_idle(server.process.pid)
    return {
        "requests_per_s": item_count / seconds,
        "bytes_per_request": (written_size(server.process.pid) - before) / item_count,
    }


def update_function(server, arguments, item_count):
    def update():
        before = written_size(server.process.pid)
        turn = measuring.turn(
            server.port, [server.process.pid], arguments, CONNECTIONS, item_count, TURN_S
        )
        measuring.wait_until_idle(server.process.pid)
        turn["bytes_per_request"] = (written_size(server.process.pid) - before) / turn["answers"]
        return turn

    return update


def measure(program, scratch, item_count):
    requests = [(1, "PutItem", workload.put(workload.key(), TABLE))]
    arguments = workload.write_requests(scratch / "history-requests", requests)
    with contextlib.ExitStack() as stack:
        inserts, sides = {}, {}
        for name, recovery in SIDES.items():
            server = stack.enter_context(servers.Stator(program, scratch / f"history-{name}"))
            open_table(server, recovery)
            inserts[name] = insert(server, arguments, item_count)
            sides[name] = update_function(server, arguments, item_count)
        turns = measuring.in_turns(sides, TURNS)
    return {
        "items": item_count,
        "inserts": inserts,
        "updates": {name: measuring.median_of(each) for name, each in turns.items()},
        "update_bytes": {
            name: sum(each["bytes_per_request"] for each in turn) / len(turn)
            for name, turn in turns.items()
        },
        "turns": turns,
    }


def report(result):
    new, old, size = result["inserts"], result["updates"], result["update_bytes"]
    return [
        "- PutItem of a table with point-in-time recovery: new items at "
        f"{new['with']['requests_per_s'] / new['without']['requests_per_s']:.0%} of the rate without "
        f"and {new['with']['bytes_per_request'] / new['without']['bytes_per_request']:.2f} times the "
        "bytes written (target: 90%, 1.3 times); items that exist at "
        f"{old['with']['requests_per_s'] / old['without']['requests_per_s']:.0%} and "
        f"{size['with'] / size['without']:.2f} times (target: 75%, 2.5 times).",
    ]
