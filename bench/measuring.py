"""measuring.py -- what a server process takes of the machine, and one run of wrk against it."""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent
WRK_THREADS = 2
IDLE_WAIT_S = 1
IDLE_WAITS_MAX = 300
IDLE_SHARE_MAX = 0.05


def cpu_seconds(pids):
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # utime and stime
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_until_idle(pid):
    """Until the process has nothing left to do, such as compaction behind a load."""
    for _ in range(IDLE_WAITS_MAX):
        before = cpu_seconds([pid])
        time.sleep(IDLE_WAIT_S)
        if cpu_seconds([pid]) - before <= IDLE_SHARE_MAX * IDLE_WAIT_S:
            return
    sys.exit("run: the server does not come to rest")


def resident_mb(pid, field="VmRSS"):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) / 1024


def resident_peak_mb(pid):
    """The most since reset_resident_peak."""
    return resident_mb(pid, "VmHWM")


def reset_resident_peak(pid):
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")


def machine_seconds():
    """(CPU time that programs took, CPU time there was), of the whole machine since its start.

    Interrupts are left out of the former: those of the network are work for the servers under
    test, but are not counted as theirs.
    """
    fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, idle, wait, irq, softirq, steal = (
        int(field) / os.sysconf("SC_CLK_TCK") for field in fields
    )
    used = user + nice + system + steal
    return used, used + idle + wait + irq + softirq


def children_seconds():
    times = os.times()
    return times.children_user + times.children_system


def turn(
    port, pids, operation, connections, template, key_count, seconds, script="request.lua",
    scheme="http", pause_ms=None,
):  # fmt: skip
    """One run of wrk against one server, with keys below `key_count`. Each connection sends its next
    request at once, or after `pause_ms` on average."""
    pause = [] if pause_ms is None else [str(pause_ms)]
    before, wrk_before = cpu_seconds(pids), children_seconds()
    machine_before, capacity_before = machine_seconds()
    output = subprocess.run(
        ["wrk", "-t", str(WRK_THREADS), "-c", str(connections), "-d", f"{seconds}s", "--timeout", "10s",
         "-s", str(BENCH / script), f"{scheme}://127.0.0.1:{port}/", "--",
         operation, str(template), str(key_count), *pause],
        capture_output=True, text=True, check=True, timeout=seconds + 30,
    ).stdout  # fmt: skip
    used = cpu_seconds(pids) - before
    machine_after, capacity_after = machine_seconds()
    ours = used + children_seconds() - wrk_before
    others = machine_after - machine_before - ours
    match = re.search(r"^RESULT (.*)$", output, re.M)
    if not match:
        sys.exit(f"run: wrk gave no result:\n{output}")
    result = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", match[1])}
    if result["errors"] or not result["requests"]:
        sys.exit(f"run: {operation} met errors: {match[1]}")
    return {
        "requests_per_s": result["requests"] / (result["duration_us"] / 1e6),
        "p50_us": result["p50_us"],
        "p99_us": result["p99_us"],
        "cpu_us_per_request": used * 1e6 / result["requests"],
        "others_share": max(0.0, others / (capacity_after - capacity_before)),
    }


def median_of(turns):
    return {name: statistics.median(each[name] for each in turns) for name in turns[0]}
