"""stream.py -- PutItem and UpdateItem of a table with a stream of both images against one without, in
turns."""

import measuring
import servers
import stator_process
import workload

ITEMS = 10_000
TURNS = 3
TURN_S = 3
CONNECTIONS = 32
TABLES = {"without": None, "with": "NEW_AND_OLD_IMAGES"}
OPERATIONS = {"PutItem": workload.put, "UpdateItem": workload.update}


def measure(program, scratch, item_count):
    with servers.Stator(program, scratch / "stream") as server:
        client = server.client()
        sides = {}
        for name, view in TABLES.items():
            table = f"bench-stream-{name}"
            stator_process.create_table(client, table, stream=view)
            workload.fill_by_batches(server.port, table, item_count)
            for operation, request in OPERATIONS.items():
                requests = [(1, operation, request(workload.key(), table))]
                arguments = workload.write_requests(scratch / f"{table}-{operation}", requests)
                sides[operation, name] = measuring.turn_function(
                    server, arguments, CONNECTIONS, item_count, TURN_S
                )
        client.close()
        turns = measuring.in_turns(sides, TURNS)
        server.stop()
    return {
        operation: {name: measuring.median_of(turns[operation, name]) for name in TABLES}
        for operation in OPERATIONS
    }


def report(result):
    return [
        f"- {operation} of a table with a stream of both images: "
        f"{own['with']['requests_per_s'] / own['without']['requests_per_s']:.0%} of the rate without, "
        f"{own['with']['cpu_us_per_request']:.1f} instead of "
        f"{own['without']['cpu_us_per_request']:.1f} us of CPU."
        for operation, own in result.items()
    ]
