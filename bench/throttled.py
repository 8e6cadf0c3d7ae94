"""throttled.py -- what other tables notice of a table that is throttled.

Clients write one hot key of a table that has used up its throughput, as fast as they are refused.
Turns with and without them alternate, as in attacks.py; honest clients read another table.
"""

import attack
import attacks
import stator_process
import workload
from fast_client import FastClient

ITEMS = attacks.ITEMS
TABLE = "throttled"
CLIENTS = 16
UNITS = 400  # Of one write; the table starts with 300.


def create_throttled(client):
    request = stator_process.table_request(TABLE)
    request["BillingMode"] = "PROVISIONED"
    request["ProvisionedThroughput"] = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    request["Tags"] = [{"Key": "stator:capacity", "Value": "enforce"}]
    assert client.call("CreateTable", request)[0] == 200
    item = {"pk": {"S": "hot"}, "v": {"S": "x" * (UNITS * 1024 - 100)}}
    assert client.call("PutItem", {"TableName": TABLE, "Item": item})[0] == 200
    status, answer = client.call("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "hot"}}})
    assert status == 400 and "ThrottlingReasons" in answer, answer


def measure(program, scratch, item_count):
    requests = workload.write_requests(
        scratch / "throttled-requests", [(1, "GetItem", workload.get(workload.key()))]
    )
    put = attack.write_request(
        scratch / "throttled.http", "PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "hot"}}}
    )
    with stator_process.StatorProcess(
        "--data-dir", str(scratch / "throttled"), program=program
    ) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, workload.TABLE)
        create_throttled(client)
        client.close()
        workload.fill_by_batches(server.port, workload.TABLE, item_count)
        attacks.turn(server, requests, item_count)  # Fills the cache.
        result = attacks.compare(server, requests, item_count, "turns", CLIENTS, [put])
        server.stop()
    return result


def report(result):
    quiet, beside = result["quiet_p99_us"], result["attacked_p99_us"]
    return [
        f"- GetItem of another table at {attacks.RATE_PER_S:,} requests/s on "
        f"{attacks.CONNECTIONS} connections, beside {CLIENTS} clients whose writes of one hot key "
        f"are throttled: p99 {quiet:,.0f} us without them, {beside:,.0f} us with them, "
        f"{beside / quiet:.2f} times."
    ]
