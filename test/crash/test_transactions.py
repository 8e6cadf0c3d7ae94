"""kill -9 while transactions are under way: each one is there whole or not at all, those that were
acknowledged are there, and a request that is sent again with its token has one effect."""

import random
import threading
import time

import stator_process
from fast_client import FastClient, ServerGone

CLIENTS = 8
ACCOUNTS = 6  # Few, so that transactions meet.
ROUNDS = 3
UNTIL_KILL_S = (0.1, 0.5)
TABLE = "accounts"
START = 1000


def key(number):
    return {"pk": {"S": f"account-{number}"}}


def transfer(source, target, journal, token):
    """One unit from one account to another, counted in the client's journal."""

    def add(name, amount):
        return {
            "Update": {
                "TableName": TABLE,
                "Key": name,
                "UpdateExpression": "ADD n :v",
                "ExpressionAttributeValues": {":v": {"N": str(amount)}},
            }
        }

    return {
        "TransactItems": [add(key(source), -1), add(key(target), 1), add(journal, 1)],
        "ClientRequestToken": token,
    }


class Client(threading.Thread):
    """Sends transfers until the server is gone. The last one may or may not have taken place."""

    def __init__(self, number, port, round_number, seed):
        super().__init__()
        self.port = port
        self.random = random.Random(seed)
        self.journal = {"pk": {"S": f"journal-{round_number}-{number}"}}
        self.prefix = f"{round_number}-{number}"
        self.acknowledged = 0
        self.last = None  # The request that was sent last.
        self.failure = None

    def run(self):
        try:
            client = FastClient(self.port)
            while True:
                source, target = self.random.sample(range(ACCOUNTS), 2)
                token = f"{self.prefix}-{self.acknowledged}"
                self.last = transfer(source, target, self.journal, token)
                status, answer = client.call("TransactWriteItems", self.last)
                assert status == 200, answer
                self.acknowledged += 1
        except ServerGone:
            pass
        except BaseException as error:  # Reported by the thread that waits.
            self.failure = error


def numbers(client, names):
    gets = [{"Get": {"TableName": TABLE, "Key": name}} for name in names]
    status, answer = client.call("TransactGetItems", {"TransactItems": gets})
    assert status == 200, answer
    return [int(each["Item"]["n"]["N"]) if "Item" in each else 0 for each in answer["Responses"]]


def load_and_kill(server, round_number, chance):
    clients = [
        Client(number, server.port, round_number, chance.random()) for number in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    time.sleep(chance.uniform(*UNTIL_KILL_S))
    server.kill()
    for client in clients:
        client.join()
    for client in clients:
        if client.failure:
            raise client.failure
    return [client for client in clients if client.last]


def check(port, clients):
    """All money is there, journals have what was acknowledged, and the last request, sent twice
    more, makes it one more than that."""
    client = FastClient(port)
    journals = [each.journal for each in clients]
    assert sum(numbers(client, map(key, range(ACCOUNTS)))) == START * ACCOUNTS
    for each, counted in zip(clients, numbers(client, journals)):
        assert each.acknowledged <= counted <= each.acknowledged + 1
    for each in clients:
        for _ in range(2):
            status, answer = client.call("TransactWriteItems", each.last)
            assert status == 200, answer
    assert numbers(client, journals) == [each.acknowledged + 1 for each in clients]
    assert sum(numbers(client, map(key, range(ACCOUNTS)))) == START * ACCOUNTS
    client.close()


def test_a_kill_takes_no_part_of_a_transaction(tmp_path):
    chance = random.Random(time.time_ns())
    program = stator_process.binary(
        "STATOR_RELEASE_BINARY", "build/stator", "build/release/stator", "build/asan/stator"
    )
    flags = ("--data-dir", str(tmp_path / "data"))
    with stator_process.StatorProcess(*flags, program=program) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        for number in range(ACCOUNTS):
            item = {**key(number), "n": {"N": str(START)}}
            assert client.call("PutItem", {"TableName": TABLE, "Item": item})[0] == 200
        client.close()
        clients = load_and_kill(server, 0, chance)
    for round_number in range(1, ROUNDS + 1):
        with stator_process.StatorProcess(*flags, program=program) as server:
            check(server.port, clients)
            if round_number == ROUNDS:
                server.stop()
            else:
                clients = load_and_kill(server, round_number, chance)
