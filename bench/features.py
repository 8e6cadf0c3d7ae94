"""features.py -- what counting costs: capacity units, Contributor Insights, and refusing.

Three servers in turns: one with the defaults, which count units (`capacity` is `account`), one with
`capacity` `off`, and one whose table has Contributor Insights as well. CPU per request is compared,
not rates, so that other programs on the machine matter less. A refusal is compared with a GetItem
of the same server; refusals are paced (src/call/refusal_pace.h), so their rate is that of a clock.
"""

import contextlib
import statistics
import time

import measuring
import servers
import stator_process
import throttled
import workload

ITEMS = 10_000
TURNS = 3
TURN_S = 4
CONNECTIONS = 32
REFUSED_CONNECTIONS = 256  # Each is refused 50 times a second.
ENABLE_LIMIT_S = 30
SIDES = {"account": (), "off": ("--capacity", "off"), "insights": ()}
OPERATIONS = ("GetItem", "PutItem")
# (side, compared with, what it is, the ratio that it should stay below)
COMPARISONS = (
    ("account", "off", "with `capacity` `account`, of that with `off`", 1.01),
    ("insights", "account", "with Contributor Insights, of that without", 1.03),
)


def enable_insights(client):
    request = {"TableName": workload.TABLE, "ContributorInsightsAction": "ENABLE"}
    status, answer = client.call("UpdateContributorInsights", request)
    assert status == 200, answer
    deadline = time.monotonic() + ENABLE_LIMIT_S
    while answer["ContributorInsightsStatus"] != "ENABLED":
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)
        answer = client.call("DescribeContributorInsights", {"TableName": workload.TABLE})[1]


def prepare(server, name, item_count):
    client = server.client()
    stator_process.create_table(client, workload.TABLE)
    workload.fill_by_batches(server.port, workload.TABLE, item_count)
    if name == "insights":
        enable_insights(client)
    client.close()
    measuring.wait_until_idle(server.process.pid)


def write_requests(scratch):
    bodies = {"GetItem": workload.get(workload.key()), "PutItem": workload.put(workload.key())}
    return {
        name: workload.write_requests(scratch / f"features-{name}", [(1, name, body)])
        for name, body in bodies.items()
    }


def turn_of(server, arguments, item_count, connections=CONNECTIONS, is_refused=False):
    return lambda: measuring.turn(
        server.port, server.pids(), arguments, connections, item_count, TURN_S,
        is_refused=is_refused,
    )  # fmt: skip


def measure_refusals(server, scratch, requests, item_count, turns):
    """Before the table has its throughput back: it is 100 seconds' worth below zero."""
    client = server.client()
    throttled.create_throttled(client)
    client.close()
    body = {"TableName": throttled.TABLE, "Item": {"pk": {"S": "hot"}}}
    refused = workload.write_requests(scratch / "features-refused", [(1, "PutItem", body)])
    return measuring.in_turns(
        {
            "refused": turn_of(server, refused, 1, REFUSED_CONNECTIONS, is_refused=True),
            "GetItem": turn_of(server, requests["GetItem"], item_count, REFUSED_CONNECTIONS),
        },
        min(turns, 10),
    )


def measure(program, scratch, item_count, turns=TURNS):
    requests = write_requests(scratch)
    result = {}
    with contextlib.ExitStack() as stack:
        sides = {}
        for name, flags in SIDES.items():
            folder = scratch / f"features-{name}"
            sides[name] = stack.enter_context(servers.Stator(program, folder, *flags))
            prepare(sides[name], name, item_count)
        for operation in OPERATIONS:
            takes = {
                name: turn_of(server, requests[operation], item_count)
                for name, server in sides.items()
            }
            for take in takes.values():
                take()  # For caches.
            result[operation] = measuring.in_turns(takes, turns)
        result["refusals"] = measure_refusals(
            sides["account"], scratch, requests, item_count, turns
        )
        for server in sides.values():
            server.stop()
    return result


def cpu_ratio(turns, side, other):
    """The median of the ratios of turns that followed one another."""
    pairs = zip(turns[side], turns[other], strict=True)
    return statistics.median(a["cpu_us_per_request"] / b["cpu_us_per_request"] for a, b in pairs)


def median(turns, figure="cpu_us_per_request"):
    return statistics.median(each[figure] for each in turns)


def report(result):
    lines = [
        f"- CPU time of a {operation} {what}: {cpu_ratio(result[operation], side, other):.3f} times, "
        f"{median(result[operation][side]):.1f} and {median(result[operation][other]):.1f} us "
        f"(target: {target})."
        for side, other, what, target in COMPARISONS
        for operation in OPERATIONS
    ]
    refusals = result["refusals"]
    return [
        *lines,
        f"- A refused PutItem takes {cpu_ratio(refusals, 'refused', 'GetItem'):.2f} times the CPU "
        f"time of a GetItem, {median(refusals['refused']):.1f} and "
        f"{median(refusals['GetItem']):.1f} us (target: 1). {REFUSED_CONNECTIONS} connections that "
        f"retry at once are refused {median(refusals['refused'], 'requests_per_s'):,.0f} times a "
        "second, because refusals are paced.",
    ]
