"""Several clients put, update, delete and read a few items at once, and for each item the whole
history must be linearizable: in normal running, and across kill -9 and restarts."""

import time

import crash_run
import stator_process
from fast_client import FastClient
from linearizability import UNKNOWN, Operation, check, item_step

CLIENTS = 8
KEYS = 4
NORMAL_S = 3
TABLE = "linearizable"
FAILED = "ConditionalCheckFailedException"


def key_of(key):
    return {"pk": {"S": f"hot-{key}"}}


def number(value):
    return {"N": str(value)}


def state_of(attributes):
    return int(attributes["n"]["N"]) if attributes else None


def condition(old):
    if old is None:
        return {"ConditionExpression": "attribute_not_exists(pk)"}
    return {
        "ConditionExpression": "n = :old",
        "ExpressionAttributeValues": {":old": number(old)},
    }


def request_of(key, call):
    """The operation and its parameters that make a call of item_step."""
    kind = call[0]
    if kind == "read":
        return "GetItem", {"Key": key_of(key), "ConsistentRead": True}
    if kind == "put":
        item = {**key_of(key), "n": number(call[1])}
        return "PutItem", {"Item": item, "ReturnValues": "ALL_OLD"}
    if kind == "put_if":
        return "PutItem", {"Item": {**key_of(key), "n": number(call[2])}, **condition(call[1])}
    if kind == "add":
        return "UpdateItem", {
            "Key": key_of(key),
            "UpdateExpression": "ADD n :n",
            "ExpressionAttributeValues": {":n": number(call[1])},
            "ReturnValues": "UPDATED_NEW",
        }
    if kind == "delete":
        return "DeleteItem", {"Key": key_of(key), "ReturnValues": "ALL_OLD"}
    return "DeleteItem", {"Key": key_of(key), **condition(call[1])}


def result_of(call, status, answer):
    if call[0].endswith("_if"):
        assert status == 200 or answer["__type"].endswith(FAILED), answer
        return status == 200
    assert status == 200, answer
    return state_of(answer.get("Item" if call[0] == "read" else "Attributes"))


class Client(crash_run.Client):
    """Writes down what it did and when."""

    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.histories = [[] for _ in range(KEYS)]
        self.seen = [None] * KEYS
        self.written = 0
        self.open = None  # (key, start, call) of the operation that was under way when it ended.

    def choose(self, key):
        """Mostly with what this client saw last, so that conditions hold often enough."""
        self.written += 1
        # Of this client alone, and with room for increments.
        fresh = (self.written * CLIENTS + self.name) * 1000
        seen = self.seen[key]
        kind = self.choices.choices(
            ["read", "add", "put_if", "put", "delete_if", "delete"], [30, 25, 25, 5, 10, 5]
        )[0]
        if kind == "delete_if" and seen is None:
            kind = "put_if"
        return {
            "read": ("read",),
            "add": ("add", 1),
            "put_if": ("put_if", seen, fresh),
            "put": ("put", fresh),
            "delete_if": ("delete_if", seen),
            "delete": ("delete",),
        }[kind]

    def learn(self, key, call, result):
        if call[0] in ("read", "add"):
            self.seen[key] = result
        elif call[0] in ("put", "delete") or result:
            self.seen[key] = item_step(self.seen[key], call)[0]

    def step(self, connection):
        key = self.choices.randrange(KEYS)
        call = self.choose(key)
        operation, body = request_of(key, call)
        start = time.monotonic_ns()
        self.open = (key, start, call)
        status, answer = connection.call(operation, {"TableName": TABLE, **body})
        end = time.monotonic_ns()
        result = result_of(call, status, answer)
        self.open = None
        self.histories[key].append(Operation(start, end, call, result, self.name))
        self.learn(key, call, result)

    def settle(self, killed_at_ns):
        """The operation without an answer: done before the kill, or never."""
        if self.open:
            key, start, call = self.open
            self.open = None
            if call[0] != "read":
                self.histories[key].append(Operation(start, killed_at_ns, call, UNKNOWN, self.name))


def read_all(clients, port):
    """What is there at the end belongs to the history too."""
    client = FastClient(port)
    for key in range(KEYS):
        operation, body = request_of(key, ("read",))
        start = time.monotonic_ns()
        status, answer = client.call(operation, {"TableName": TABLE, **body})
        result = result_of(("read",), status, answer)
        clients[0].histories[key].append(
            Operation(start, time.monotonic_ns(), ("read",), result, "last")
        )
    client.close()


def verify(clients):
    total = unknown = 0
    for key in range(KEYS):
        history = [operation for client in clients for operation in client.histories[key]]
        total += len(history)
        unknown += sum(operation.result is UNKNOWN for operation in history)
        violation = check(history, item_step, None)
        assert violation is None, f"hot-{key}, {len(history)} operations: {violation}"
    print(f"{total} operations on {KEYS} items, {unknown} without an answer")
    return total, unknown


def create_table(port):
    client = FastClient(port)
    stator_process.create_table(client, TABLE)
    client.close()


def test_histories_of_normal_running_are_linearizable(tmp_path):
    seed = crash_run.seeded()
    clients = [Client(name, seed) for name in range(CLIENTS)]
    with crash_run.start_server(tmp_path) as server:
        create_table(server.port)
        crash_run.work(clients, server.port, NORMAL_S)
        read_all(clients, server.port)
        server.stop()
    total, unknown = verify(clients)
    assert total > 100 * KEYS and unknown == 0


def test_histories_across_kills_are_linearizable(tmp_path):
    seed = crash_run.seeded()
    clients = [Client(name, seed) for name in range(CLIENTS)]
    with crash_run.start_server(tmp_path) as server:
        create_table(server.port)
        server.stop()
    rounds = crash_run.work_across_kills(clients, tmp_path, seed)
    with crash_run.start_server(tmp_path) as server:
        read_all(clients, server.port)
        server.stop()
    total, unknown = verify(clients)
    assert total > 10 * rounds and unknown > 0
