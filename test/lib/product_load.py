"""A random load on a table of products, while the server is restarted and killed: what the
consumers of its stream have to keep up with.

The clients are those of an application: boto3 tries again while the server is away, so a request
may take effect twice. LOAD_SEED repeats the choices of a run, not its timing.
"""

import os
import random
import threading

import botocore.exceptions
import stator_process

TABLE = "products"
PRODUCTS = 40  # Few, so that each has a history.
WORDS = ["blue", "garden", "large", "light", "old", "paper", "steel", "table"]
WRITERS = 4
STEPS = 50  # Of each writer.
CONFLICTS = {"TransactionCanceledException", "TransactionConflictException"}


class Writer(threading.Thread):
    def __init__(self, client, seed, steps):
        super().__init__()
        self.client = client
        self.choices = random.Random(seed)
        self.steps = steps
        self.failure = None

    def keys(self, count):
        numbers = self.choices.sample(range(PRODUCTS), count)
        return [{"product": {"S": f"product-{number}"}} for number in numbers]

    def name(self):
        return {"S": " ".join(self.choices.sample(WORDS, 3))}

    def item(self, key):
        return {**key, "name": self.name(), "price": {"N": str(self.choices.randrange(100))}}

    def update(self, key):
        return {
            "TableName": TABLE,
            "Key": key,
            "UpdateExpression": "SET #name = :name ADD price :one",
            "ExpressionAttributeNames": {"#name": "name"},
            "ExpressionAttributeValues": {":name": self.name(), ":one": {"N": "1"}},
        }

    def batch(self):
        requests = [
            {"PutRequest": {"Item": self.item(key)}}
            if self.choices.random() < 0.7
            else {"DeleteRequest": {"Key": key}}
            for key in self.keys(self.choices.randrange(1, 10))
        ]
        self.client.batch_write_item(RequestItems={TABLE: requests})

    def transaction(self):
        removed, placed, changed = self.keys(3)
        self.client.transact_write_items(
            TransactItems=[
                {"Delete": {"TableName": TABLE, "Key": removed}},
                {"Put": {"TableName": TABLE, "Item": self.item(placed)}},
                {"Update": self.update(changed)},
            ]
        )

    def step(self):
        kind = self.choices.randrange(6)
        [key] = self.keys(1)
        if kind < 2:
            self.client.put_item(TableName=TABLE, Item=self.item(key))
        elif kind == 2:
            self.client.update_item(**self.update(key))
        elif kind == 3:
            self.client.delete_item(TableName=TABLE, Key=key)
        elif kind == 4:
            self.batch()
        else:
            self.transaction()

    def run(self):
        try:
            for _ in range(STEPS):
                try:
                    self.step()
                except botocore.exceptions.ClientError as error:
                    if error.response["Error"]["Code"] not in CONFLICTS:
                        raise
                self.steps.release()
        except BaseException as error:  # Reported by the thread that waits.
            self.failure = error
            self.steps.release(WRITERS * STEPS)


class RestartedServer:
    """Comes back at the same address. Its port is not among those that the system gives to whoever
    asks for any (on Linux from 32768 on), so nobody takes it while the server is away."""

    PORTS = range(10_000, 30_000)
    START_ATTEMPTS = 5

    def __init__(self, directory, *flags):
        self.flags = ("--data-dir", str(directory), *flags)
        self.process = None

    def start(self, port):
        return stator_process.StatorProcess(*self.flags, "--port", str(port))

    def __enter__(self):
        for port in random.SystemRandom().sample(self.PORTS, self.START_ATTEMPTS):
            try:
                self.process = self.start(port)
                return self
            except AssertionError as error:
                failure = error
        raise failure

    def __exit__(self, *_):
        self.process.kill()

    @property
    def url(self):
        return self.process.url

    def restart(self, orderly):
        if orderly:
            self.process.stop()
        self.process.kill()
        self.process = self.start(self.process.port)

    def stop(self):
        self.process.stop()


class ProductLoad(threading.Thread):
    """Random writes; on the way an orderly end of the server, and one by kill -9."""

    def __init__(self, client, server):
        super().__init__()
        seed = os.environ.get("LOAD_SEED", random.SystemRandom().randrange(1 << 32))
        print(f"LOAD_SEED={seed}")
        self.server = server
        self.steps = threading.Semaphore(0)
        self.writers = [Writer(client, f"{seed}-{n}", self.steps) for n in range(WRITERS)]
        self.failure = None

    def run(self):
        try:
            for writer in self.writers:
                writer.start()
            for orderly in (True, False):
                for _ in range(WRITERS * STEPS // 3):
                    self.steps.acquire()
                self.server.restart(orderly)
            for writer in self.writers:
                writer.join()
        except BaseException as error:  # Reported by `finish`.
            self.failure = error

    def finish(self):
        self.join()
        for part in (self, *self.writers):
            if part.failure:
                raise part.failure
