"""scan.py -- a whole table read page by page: how fast per core, and in how much memory.

The items are several times what the server may cache, so the pages come from files, through the
cache, as in any table that is larger than memory. One client asks for one page after the other.
"""

import time

import measuring
import stator_process
import workload
from fast_client import FastClient

ITEMS = 300_000
TABLE = "bench-scan"
BLOCK_CACHE_MB = 32


def read_all(client):
    """The number of items, page by page."""
    count = 0
    request = {"TableName": TABLE}
    while True:
        status, answer = client.call("Scan", request)
        assert status == 200, answer
        count += answer["Count"]
        if "LastEvaluatedKey" not in answer:
            return count
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def measure(program, scratch, item_count):
    data = str(scratch / "scan")
    begin = time.perf_counter()
    with stator_process.StatorProcess(
        "--data-dir", data, "--durability", "os", program=program
    ) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        client.close()
        requests = workload.write_requests(scratch / "scan-fill", workload.fill_requests(TABLE))
        measuring.fill(server.port, requests, item_count)
        server.stop()
    load_s = time.perf_counter() - begin
    # Another process, so that the memory of the writes does not hide that of the reads.
    with stator_process.StatorProcess(
        "--data-dir", data, "--block-cache-size", f"{BLOCK_CACHE_MB}M", program=program
    ) as server:
        client = FastClient(server.port)
        client.call("Scan", {"TableName": TABLE, "Limit": 1})
        measuring.wait_until_idle(server.pid)
        before_mb = measuring.resident_mb(server.pid)
        measuring.reset_resident_peak(server.pid)
        cpu_before, begin = measuring.cpu_seconds([server.pid]), time.perf_counter()
        count = read_all(client)
        assert count == item_count, count
        elapsed_s = time.perf_counter() - begin
        cpu_s = measuring.cpu_seconds([server.pid]) - cpu_before
        peak_mb = measuring.resident_peak_mb(server.pid)
        client.close()
        server.stop()
    return {
        "items": item_count,
        "load_s": load_s,
        "elapsed_s": elapsed_s,
        "mb_per_s_and_core": item_count * workload.ITEM_SIZE / 1e6 / cpu_s,
        "resident_before_mb": before_mb,
        "resident_rise_mb": peak_mb - before_mb,
        "block_cache_mb": BLOCK_CACHE_MB,
    }


def report(result):
    return [
        f"- Scan, page by page: {result['items']:,} items of {workload.ITEM_SIZE} bytes, "
        f"{result['mb_per_s_and_core']:,.0f} MB/s of stored items per core of the server. "
        f"Resident memory rose by {result['resident_rise_mb']:.1f} MB over "
        f"{result['resident_before_mb']:.1f} MB; the block cache may take "
        f"{result['block_cache_mb']} MB, the page under way a few more.",
    ]
