"""Writers, and a maker of an index that comes and goes."""

import time

import crash_run

ITEMS = 4000
KEYS_PER_WRITER = 400
TABLE = "crash"
INDEX = "by-bucket"
SETTLE_MAX_S = 60
BATCH = 25


def item(key, number):
    """Every fifth has no bucket and is not in the index."""
    content = {"pk": {"S": key}, "filler": {"S": "x" * (number % 300)}}
    if number % 5 > 0:
        content["bucket"] = {"S": f"bucket-{number % 7}"}
    return content


def load(client, count=ITEMS):
    for start in range(0, count, BATCH):
        puts = [{"PutRequest": {"Item": item(f"old-{i}", i)}} for i in range(start, start + BATCH)]
        status, answer = client.call("BatchWriteItem", {"RequestItems": {TABLE: puts}})
        assert status == 200, answer


class Writer(crash_run.Client):
    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.writes = 0

    def step(self, connection):
        key = f"{self.name}-{self.choices.randrange(KEYS_PER_WRITER)}"
        if self.choices.random() < 0.3:
            body = {"TableName": TABLE, "Key": {"pk": {"S": key}}}
            status, answer = connection.call("DeleteItem", body)
        else:
            body = {"TableName": TABLE, "Item": item(key, self.choices.randrange(1000))}
            status, answer = connection.call("PutItem", body)
        assert status == 200, answer
        self.writes += 1


class IndexMaker(crash_run.Client):
    """Creates the index and deletes it, at times before it is complete."""

    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.changes = 0

    def step(self, connection):
        index = describe(connection)
        if index is None:
            self.change(connection, creation())
        elif index["IndexStatus"] == "ACTIVE" or (
            index["IndexStatus"] == "CREATING" and self.choices.random() < 0.02
        ):
            self.change(connection, {"Delete": {"IndexName": INDEX}})
        time.sleep(0.002)

    def change(self, connection, update):
        body = {
            "TableName": TABLE,
            "AttributeDefinitions": [{"AttributeName": "bucket", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [update],
        }
        status, answer = connection.call("UpdateTable", body)
        # Not while it is allocated, which does not show in its status.
        assert status == 200 or "ResourceInUse" in answer["__type"], answer
        self.changes += status == 200


def creation():
    return {
        "Create": {
            "IndexName": INDEX,
            "KeySchema": [{"AttributeName": "bucket", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    }


def describe(client):
    status, answer = client.call("DescribeTable", {"TableName": TABLE})
    assert status == 200, answer
    return next(iter(answer["Table"].get("GlobalSecondaryIndexes", [])), None)


def settle(client):
    """The index once it is ACTIVE, or None once it is gone."""
    until = time.monotonic() + SETTLE_MAX_S
    while (index := describe(client)) and index["IndexStatus"] != "ACTIVE":
        assert time.monotonic() < until, f"the index stays {index}"
        time.sleep(0.01)
    return index


def scan(client, **parameters):
    items = []
    start = {}
    while True:
        status, page = client.call("Scan", {"TableName": TABLE, **parameters, **start})
        assert status == 200, page
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def verify(client):
    index = settle(client)
    if index is None:
        return False
    want = {one["pk"]["S"]: one["bucket"] for one in scan(client) if "bucket" in one}
    found = scan(client, IndexName=INDEX)
    assert {one["pk"]["S"]: one["bucket"] for one in found} == want
    assert index["ItemCount"] == len(found) == len(want)
    return True
