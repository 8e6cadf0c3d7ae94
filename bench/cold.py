"""cold.py -- reads of items that the server has not cached, against others.

A Query of 100 items of a table that is ten times what the caches hold, over the same Query of a
small one, which is cached; and a BatchGetItem of 100 items of the large table over 100 GetItems. The
files stay in the memory of the operating system: the disk is not what is measured.
"""

import measuring
import servers
import stator_process
import workload

ITEMS = 300_000
PER_KEY = 100
TURNS = 3
TURN_S = 3
CONNECTIONS = 32
BATCH_KEYS = 100
KEYS_TABLE = "bench-cold-keys"
CACHES = ("--item-cache-size", "0", "--block-cache-size", "8M")


def batch_get(table):
    keys = [{"pk": {"S": workload.key(number)}} for number in range(BATCH_KEYS)]
    return {"RequestItems": {table: {"Keys": keys}}}


def fill(server, scratch, name, partitions, item_count):
    """Both tables: items in partitions of 100, and as many of which each has a key of its own."""
    client = server.client()
    stator_process.create_table(client, workload.query_table_of(PER_KEY), sort_key=True)
    stator_process.create_table(client, KEYS_TABLE)
    client.close()
    for part, requests in enumerate(workload.query_fill_requests(PER_KEY)):
        arguments = workload.write_requests(scratch / f"{name}-fill-{part}", requests)
        measuring.fill(server.port, arguments, partitions)
    requests = workload.fill_requests(KEYS_TABLE)
    measuring.fill(
        server.port, workload.write_requests(scratch / f"{name}-fill-keys", requests), item_count
    )
    measuring.wait_until_idle(server.process.pid)


def measure(program, scratch, item_count):
    counts = {"cached": workload.KEY_COUNT, "cold": item_count}
    flags = {"cached": (), "cold": CACHES}
    bodies = {
        "Query": workload.query(workload.key(), PER_KEY),
        "GetItem": workload.get(workload.key(), KEYS_TABLE),
        "BatchGetItem": batch_get(KEYS_TABLE),
    }
    arguments = {
        operation: workload.write_requests(scratch / f"cold-{operation}", [(1, operation, body)])
        for operation, body in bodies.items()
    }
    for name, count in counts.items():
        # Another process reads, so that nothing is left in memory of what was written.
        with servers.Stator(program, scratch / f"cold-{name}") as server:
            fill(server, scratch, f"cold-{name}", count // PER_KEY, count)
            server.stop()
    with (
        servers.Stator(program, scratch / "cold-cached", *flags["cached"]) as cached,
        servers.Stator(program, scratch / "cold-cold", *flags["cold"]) as cold,
    ):
        sides = {
            name: measuring.turn_function(
                server, arguments[operation], CONNECTIONS, key_count, TURN_S
            )
            for name, server, operation, key_count in (
                ("Query, cached", cached, "Query", counts["cached"] // PER_KEY),
                ("Query", cold, "Query", item_count // PER_KEY),
                ("GetItem", cold, "GetItem", item_count),
                ("BatchGetItem", cold, "BatchGetItem", item_count),
            )
        }
        measuring.in_turns(sides, 1)  # Fills the caches that there are.
        turns = measuring.in_turns(sides, TURNS)
        for server in (cached, cold):
            server.stop()
    return {**{name: measuring.median_of(each) for name, each in turns.items()}, "turns": turns}


def query_ratio(result):
    return result["Query"]["requests_per_s"] / result["Query, cached"]["requests_per_s"]


def batch_ratio(result):
    """Items that come in batches over those that come one by one, each second."""
    return (
        BATCH_KEYS * result["BatchGetItem"]["requests_per_s"] / result["GetItem"]["requests_per_s"]
    )


def report(result):
    return [
        f"- Query of {PER_KEY} items that are not cached: {query_ratio(result):.0%} of the rate of "
        f"cached ones, {result['Query']['cpu_us_per_request']:.0f} instead of "
        f"{result['Query, cached']['cpu_us_per_request']:.0f} us of CPU.",
        f"- BatchGetItem of {BATCH_KEYS} items that are not cached: {batch_ratio(result):.1f} times "
        "the items of GetItem, "
        f"{result['BatchGetItem']['cpu_us_per_request'] / BATCH_KEYS:.1f} instead of "
        f"{result['GetItem']['cpu_us_per_request']:.1f} us of CPU for each.",
    ]
