"""Reads a whole stream and replays it.

With both images in each record, a replay proves more than the final state: the old image of each
record must be what the records before it left of the item, so none is missing, doubled or out of
order.
"""


def call(client, operation, body):
    status, answer = client.call(operation, body)
    assert status == 200, answer
    return answer


def shards(client, arn):
    """All shards, a parent before its children."""
    found = []
    start = {}
    while True:
        page = call(client, "DescribeStream", {"StreamArn": arn, "Limit": 7, **start})
        description = page["StreamDescription"]
        found += description["Shards"]
        if "LastEvaluatedShardId" not in description:
            break
        start = {"ExclusiveStartShardId": description["LastEvaluatedShardId"]}
    ids = [shard["ShardId"] for shard in found]
    assert len(set(ids)) == len(ids)
    for position, shard in enumerate(found):
        parent = shard.get("ParentShardId")
        assert parent not in ids[position:], f"{shard} comes before its parent"
    return found


def records_of(client, arn, shard):
    """What a shard has now, from TRIM_HORIZON on."""
    iterator = call(
        client,
        "GetShardIterator",
        {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"},
    )["ShardIterator"]
    numbers = shard["SequenceNumberRange"]
    last = int(numbers["StartingSequenceNumber"])
    end = int(numbers.get("EndingSequenceNumber", "9" * 40))
    while iterator:
        page = call(client, "GetRecords", {"ShardIterator": iterator, "Limit": 100})
        for record in page["Records"]:
            number = int(record["dynamodb"]["SequenceNumber"])
            assert last < number <= end, f"{number} behind {last} in {numbers}"
            last = number
            yield record
        iterator = page.get("NextShardIterator")
        if not page["Records"] and "EndingSequenceNumber" not in numbers:
            break  # It is open, and this is its end for now.


def all_records(client, arn):
    for shard in shards(client, arn):
        yield from records_of(client, arn, shard)


class Replay:
    """Items by key, as the records leave them."""

    def __init__(self, key_names, knows_beginning=True):
        self.key_names = key_names
        self.knows_beginning = knows_beginning  # Nothing was there before the first record.
        self.items = {}  # None: removed.
        self.record_count = 0
        self.expired_count = 0  # Of them: what the service itself removed.

    def key(self, item):
        return tuple(str(item[name]) for name in self.key_names)

    def apply(self, record):
        change = record["dynamodb"]
        key = self.key(change["Keys"])
        before, after = change.get("OldImage"), change.get("NewImage")
        event = {(False, True): "INSERT", (True, True): "MODIFY", (True, False): "REMOVE"}[
            (before is not None, after is not None)
        ]
        assert record["eventName"] == event, record
        assert before != after, f"changes nothing: {record}"
        if key in self.items or self.knows_beginning:
            assert before == self.items.get(key), f"{record}: {self.items.get(key)} was there"
        if "userIdentity" in record:
            identity = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
            assert event == "REMOVE" and record["userIdentity"] == identity, record
            self.expired_count += 1
        self.items[key] = after
        self.record_count += 1

    def apply_all(self, client, arn):
        for record in all_records(client, arn):
            self.apply(record)
        return self

    def existing(self):
        return {key: item for key, item in self.items.items() if item is not None}


def scan(client, table, key_names):
    """The table's items by key."""
    items = {}
    start = {}
    while True:
        page = call(client, "Scan", {"TableName": table, "ConsistentRead": True, **start})
        for item in page["Items"]:
            items[tuple(str(item[name]) for name in key_names)] = item
        if "LastEvaluatedKey" not in page:
            return items
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
