"""endurance.py -- a quarter of an hour of writes: whether they slow down once compaction has work.

PutItem of random ones of a million keys on 32 connections, as fast as they are answered, every one
synced. Rates and percentiles are given for each interval.
"""

import statistics

import measuring
import servers
import stator_process
import workload
from measuring import latencies

ITEMS = 1_000_000
SECONDS_DEFAULT = 900
INTERVALS = 30
CONNECTIONS = 32
TABLE = "bench-endurance"


def measure(program, scratch, item_count, seconds):
    requests = workload.write_requests(
        scratch / "endurance-requests", [(1, "PutItem", workload.put(workload.key(), TABLE))]
    )
    with servers.Stator(program, scratch / "endurance") as server:
        client = server.client()
        stator_process.create_table(client, TABLE)
        client.close()
        cpu_before = measuring.cpu_seconds(server.pids())
        options = ["--connections", CONNECTIONS, "--keys", item_count]
        options += ["--seconds", seconds, "--interval", seconds / INTERVALS]
        result = measuring.run_load(
            server.port, *options, *requests, limit_s=seconds + measuring.TURN_LIMIT_S
        )
        cpu_s = measuring.cpu_seconds(server.pids()) - cpu_before
        peak_mb = server.resident_peak_mb()
        server.stop()
    return {
        "items": item_count,
        "seconds": seconds,
        "requests": result["answers"],
        "cpu_us_per_request": cpu_s * 1e6 / result["answers"],
        "resident_peak_mb": peak_mb,
        **latencies(each["times_ns"] for each in result["intervals"]),
        "intervals": [
            {
                "requests_per_s": each["answers"] / (seconds / INTERVALS),
                **(latencies([each["times_ns"]]) if each["times_ns"] else {}),
            }
            for each in result["intervals"]
        ],
    }


def thirds(result):
    """The median rates of the first third and of the last."""
    rates = [each["requests_per_s"] for each in result["intervals"]]
    third = len(rates) // 3
    return statistics.median(rates[:third]), statistics.median(rates[-third:])


def report(result):
    first, last = thirds(result)
    rates = [each["requests_per_s"] for each in result["intervals"]]
    tails = [each.get("p999_us", 0) for each in result["intervals"]]
    length = result["seconds"] / INTERVALS
    return [
        f"- {result['seconds']:g} s of PutItem on {CONNECTIONS} connections, {result['items']:,} keys, "
        f"every write synced: {first:,.0f}/s in the first third and {last:,.0f}/s in the last "
        f"({last / first:.0%}); the slowest {length:g} s had {min(rates):,.0f}/s. "
        f"p50 {result['p50_us']:,.0f} us, p99 {result['p99_us']:,.0f} us, p99.9 "
        f"{result['p999_us']:,.0f} us, in the worst {length:g} s {max(tails):,.0f} us. "
        f"{result['cpu_us_per_request']:.1f} us of CPU per request; at most "
        f"{result['resident_peak_mb']:.0f} MB resident.",
    ]
