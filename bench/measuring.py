"""measuring.py -- what a server process takes of the machine, and one run of bench/load against it."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import time

import histogram

ROOT = pathlib.Path(__file__).resolve().parents[1]
# One is enough to keep two cores of any server busy, and leaves them more of the machine.
LOAD_THREADS = 1
FILL_CONNECTIONS = 32
FILL_LIMIT_S = 1800
TURN_LIMIT_S = 90  # Beyond the turn itself: bench/load waits 60 s for the last answers.
PERCENTILES = (50, 99, 99.9)
IDLE_WAIT_S = 1
IDLE_WAITS_MAX = 300
IDLE_SHARE_MAX = 0.05
CORES = sorted(os.sched_getaffinity(0))
_load_cores = []  # Empty: wherever the scheduler likes.


class MeasuringError(Exception):
    """A server did not do what was asked; the text says what it answered."""


# --- Cores ---


@contextlib.contextmanager
def apart():
    """The load generator on the first core, and whatever else is started meanwhile, the servers, on
    the others: then a ratio compares servers, and not how the scheduler has divided the cores between
    them and the generator. False, and nothing, on a machine with one core."""
    if len(CORES) < 2:
        yield False
        return
    assert not _load_cores
    _load_cores.append(CORES[0])
    os.sched_setaffinity(0, CORES[1:])
    try:
        yield True
    finally:
        _load_cores.clear()
        os.sched_setaffinity(0, CORES)


def server_core_count():
    """How many cores a server has that is started now."""
    return len(os.sched_getaffinity(0))


def load_command():
    pinning = ["taskset", "-c", str(_load_cores[0])] if _load_cores else []
    return [*pinning, load_program()]


# --- What a process takes ---


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
    raise MeasuringError("the server does not come to rest")


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


def load_program():
    """The load generator, `make build/release/bench/load/load`."""
    return os.environ.get("STATOR_LOAD_BINARY", str(ROOT / "build/release/bench/load/load"))


def run_load(port, *arguments, limit_s, is_refused=False):
    """What bench/load counted. Answers that were not 200 end everything: their times mean nothing.
    With `is_refused` it is the other way round."""
    done = subprocess.run(
        [*load_command(), "--port", str(port), *map(str, arguments)],
        capture_output=True, text=True, timeout=limit_s, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise MeasuringError(done.stderr)
    result = json.loads(done.stdout)
    if result["errors"] != (result["answers"] if is_refused else 0) or not result["answers"]:
        raise MeasuringError(f"{result['errors']} of {result['answers']} failed: {done.stderr}")
    return result


def fill(port, arguments, key_count):
    """Sends each key once. Returns the seconds it took."""
    limits = ("--connections", FILL_CONNECTIONS, "--keys", key_count)
    return run_load(port, *limits, "--fill", *arguments, limit_s=FILL_LIMIT_S)["elapsed_s"]


def turn(
    port, pids, arguments, connections, key_count, seconds, rate_per_s=None, tls=False,
    threads=LOAD_THREADS, is_refused=False,
):  # fmt: skip
    """One run of bench/load against one server, with keys below `key_count`. `arguments` are those of
    workload.write_requests. `is_refused`: every answer has to be an error."""
    before, load_before = cpu_seconds(pids), children_seconds()
    machine_before, capacity_before = machine_seconds()
    options = ["--connections", connections, "--threads", threads, "--keys", key_count]
    options += ["--seconds", seconds, "--seed", time.monotonic_ns() % 2**31 + 1]
    if rate_per_s:
        options += ["--rate", f"{rate_per_s:.0f}"]
    if tls:
        options.append("--tls")
    result = run_load(
        port, *options, *arguments, limit_s=seconds + TURN_LIMIT_S, is_refused=is_refused
    )
    used, load_used = cpu_seconds(pids) - before, children_seconds() - load_before
    machine_after, capacity_after = machine_seconds()
    others = machine_after - machine_before - used - load_used
    return {
        "answers": result["answers"],
        "requests_per_s": result["answers"] / result["elapsed_s"],
        **latencies(each["times_ns"] for each in result["intervals"]),
        "cpu_us_per_request": used * 1e6 / result["answers"],
        "body_bytes": result["body_bytes"] / result["answers"],
        "unsent": result["unsent"],
        "others_share": max(0.0, others / (capacity_after - capacity_before)),
        "load_share": load_used / (result["elapsed_s"] * threads),
    }


def turn_function(server, arguments, connections, key_count, seconds):
    """`turn` of a server of servers.py, for in_turns."""
    return lambda: turn(server.port, server.pids(), arguments, connections, key_count, seconds)


def latencies(histograms):
    times = histogram.merged(histograms)
    return {
        f"p{str(percent).replace('.', '')}_us": histogram.percentile(times, percent) / 1e3
        for percent in PERCENTILES
    }


def median_of(turns):
    """The median of each figure, and how far apart the rates were."""
    rates = [each["requests_per_s"] for each in turns]
    return {
        **{name: statistics.median(each[name] for each in turns) for name in turns[0]},
        "requests_per_s_min": min(rates),
        "requests_per_s_max": max(rates),
    }


def in_turns(sides, count):
    """Calls each of {name: measure} `count` times, one after the other, so that whatever else the
    machine does meets all alike. Returns {name: [what each call gave]}."""
    turns = {name: [] for name in sides}
    for _ in range(count):
        for name, measure in sides.items():
            turns[name].append(measure())
    return turns


@contextlib.contextmanager
def beside(function):
    """Runs it in a thread of its own, which has ended when the block is left. Gives its future."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        yield pool.submit(function)
