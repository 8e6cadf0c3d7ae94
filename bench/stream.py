"""stream.py -- UpdateItem of a table with a stream of both images against one without, in turns."""

import measuring
import servers
import stator_process
import workload

ITEMS = 10_000
TURNS = 3
TURN_S = 3
CONNECTIONS = 32
TABLES = {"without": None, "with": "NEW_AND_OLD_IMAGES"}


def measure(program, scratch, item_count):
    with servers.Stator(program, scratch / "stream") as server:
        client = server.client()
        sides = {}
        for name, view in TABLES.items():
            table = f"bench-stream-{name}"
            stator_process.create_table(client, table, stream=view)
            workload.fill_by_batches(server.port, table, item_count)
            requests = [(1, "UpdateItem", workload.update(workload.key(), table))]
            arguments = workload.write_requests(scratch / table, requests)
            sides[name] = measuring.turn_function(
                server, arguments, CONNECTIONS, item_count, TURN_S
            )
        client.close()
        turns = measuring.in_turns(sides, TURNS)
        server.stop()
    return {**{name: measuring.median_of(each) for name, each in turns.items()}, "turns": turns}


def report(result):
    plain, streamed = result["without"], result["with"]
    return [
        "- UpdateItem of a table with a stream of both images: "
        f"{streamed['requests_per_s'] / plain['requests_per_s']:.0%} of the rate without, "
        f"{streamed['cpu_us_per_request']:.1f} instead of {plain['cpu_us_per_request']:.1f} us of CPU.",
    ]
