"""attacks.py -- what honest clients notice of attacks, and how much memory the server takes.

Slow heads, answers of 1 MB that nobody reads, bodies of 16 MB, and three kinds of heavy reads: see
test/lib/attack.py. Turns with
and without the attack alternate. Honest clients send at a rate that leaves the server time, so that
they measure how long it makes them wait and not how much processor time the attackers leave. The
attackers are scheduled as idle (SCHED_IDLE), for they are other machines' work: they get a processor
only when neither the server nor the honest clients want it.
"""

import statistics

import attack
import measuring
import stator_process
import workload
from fast_client import FastClient

ITEMS = 10_000
CONNECTIONS = 64
RATE_PER_S = 3000
TURN_S = 5
NEWCOMERS, TURNS_CLIENTS, IN_CLIENTS, IN_VALUES = 300, 30, 4, 50_000
TURNS = 3
MEMORY_MAX = "512M"
MEMORY_MAX_MB = 512


def attacks_on(scratch):
    """(what it is, kind, clients, files)"""
    scan = attack.write_scan(scratch / "scan.http")
    body = attack.write_body(scratch / "body.http")
    query = attack.write_request(
        scratch / "query.http",
        "Query",
        {
            "TableName": attack.PAGE_TABLE,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": "nobody"}},
        },
    )
    values = [{"N": str(1_000_000 + number)} for number in range(IN_VALUES)]
    condition = {"ComparisonOperator": "IN", "AttributeValueList": values}
    in_scan = attack.write_request(
        scratch / "in.http", "Scan", {"TableName": workload.TABLE, "ScanFilter": {"visits": condition}}
    )
    return [
        (f"{attack.SLOW_COUNT:,} slow heads", "slow", attack.SLOW_COUNT, []),
        (f"{attack.UNREAD_COUNT} unread answers of 1 MB", "unread", attack.UNREAD_COUNT, [scan]),
        (f"bodies of 16 MB from {attack.BODIES_COUNT}", "bodies", attack.BODIES_COUNT, [body]),
        (f"new connections with a Scan, {NEWCOMERS} at a time", "newcomers", NEWCOMERS, [scan]),
        (f"light Queries and Scans in turns, {TURNS_CLIENTS} clients", "turns", TURNS_CLIENTS, [query, scan]),
        (f"an IN of {IN_VALUES:,} values, {IN_CLIENTS} clients", "turns", IN_CLIENTS, [in_scan]),
    ]


def turn(server, requests, item_count):
    return measuring.turn(
        server.port, [server.pid], requests, CONNECTIONS, item_count, TURN_S,
        rate_per_s=RATE_PER_S,
    )  # fmt: skip


def compare(server, requests, item_count, kind, clients, paths):
    quiet, attacked, counts = [], [], []
    measuring.reset_resident_peak(server.pid)
    before = measuring.resident_mb(server.pid)
    for _ in range(TURNS):
        quiet.append(turn(server, requests, item_count))
        with attack.Attack(kind, server.port, clients, *paths, idle=True) as under_way:
            attacked.append(turn(server, requests, item_count))
        counts.append(under_way.counts)
        measuring.wait_until_idle(server.pid)
    return {
        "quiet_p99_us": statistics.median(each["p99_us"] for each in quiet),
        "attacked_p99_us": statistics.median(each["p99_us"] for each in attacked),
        "before_mb": before,
        "peak_mb": measuring.resident_peak_mb(server.pid),
        "after_mb": measuring.resident_mb(server.pid),
        "counts": counts,
        "turns": {"quiet": quiet, "attacked": attacked},
    }


def measure(program, scratch, item_count):
    requests = workload.write_requests(
        scratch / "attacks-requests", [(1, "GetItem", workload.get(workload.key()))]
    )
    with stator_process.StatorProcess(
        "--data-dir", str(scratch / "attacks"), "--request-memory-max", MEMORY_MAX, program=program
    ) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, workload.TABLE)
        attack.create_pages(client)
        client.close()
        workload.fill_by_batches(server.port, workload.TABLE, item_count)
        turn(server, requests, item_count)  # Fills the cache.
        results = {
            what: compare(server, requests, item_count, kind, clients, paths)
            for what, kind, clients, paths in attacks_on(scratch)
        }
        server.stop()
    return results


def report(results):
    lines = [
        f"- GetItem at {RATE_PER_S:,} requests/s on {CONNECTIONS} connections, under attack; with "
        f"`request-memory-max = {MEMORY_MAX}`:",
        "",
        "| attack | p99 us quiet | attacked | ratio | resident MB before | peak | after |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for what, result in results.items():
        quiet, attacked = result["quiet_p99_us"], result["attacked_p99_us"]
        lines.append(
            f"| {what} | {quiet:,.0f} | {attacked:,.0f} | {attacked / quiet:.1f} "
            f"| {result['before_mb']:.0f} | {result['peak_mb']:.0f} | {result['after_mb']:.0f} |"
        )
    return lines
