"""workload.py -- the tables and items that the benchmarks use, and the requests they send.

Requests are templates for bench/load: `key(7)` is a place for key number 7 of a request and TOKEN one
for a text that no other request has (bench/load/template.h has them all). Every server gets the same bytes but for
the port.
"""

import concurrent.futures
import dataclasses
import json
import random
import re
import time
import typing

import stator_process
from fast_client import FastClient

ITEM_SIZE = 300
KEY_COUNT = 10_000
# Item size -> items of its table. Of the largest as many as every server keeps in memory.
TABLE_ITEMS = {300: KEY_COUNT, 4096: KEY_COUNT, 102400: 500}
QUERY_COUNTS = (10, 100)  # Items of each partition key; KEY_COUNT in all.
BATCH_SIZE = 25  # The most that one BatchWriteItem takes.
BATCH_BYTES_MAX = 4_000_000  # Well below what a request may have.
BATCH_LOADERS = 4
KEY_DIGITS = 8
TOKEN = "~T" + "~" * 34
READ_SHARE = (4, 1)  # Reads and writes of the mixed load: 80% and 20%.


def key_of(number):
    return f"{number:0{KEY_DIGITS}d}"


def key(number=0):
    """The place of a key, of a real key's length."""
    return f"~K{number:02d}~~~~"


def table_of(item_size=ITEM_SIZE):
    return f"bench-{item_size}"


def query_table_of(count):
    return f"bench-query-{count}"


TABLE = table_of()


# --- Items ---


def sized(value):
    """A string or a whole number that does not end with a zero, and what the service charges."""
    if isinstance(value, str):
        return {"S": value}, len(value)
    return {"N": str(value)}, 1 + (len(str(value)) + 1) // 2


def notes(partition_key, size):
    """In a template the place of a random text, else a text of the key's own."""
    if partition_key.startswith("~"):
        return f"~R{size:06d}".ljust(size, "~")
    return random.Random(partition_key).randbytes(size).hex()[:size]


def item(partition_key, item_size=ITEM_SIZE, **more):
    """An item of so many bytes as the service counts them: names, values, no overhead. `more` are
    attributes of it beside the usual ones, strings or numbers. Most of it is random, since a text
    that repeats itself would take no space on the disk."""
    known = {
        "pk": ({"S": partition_key}, len(partition_key)),
        "name": ({"S": "Grace Hopper"}, 12),
        "email": ({"S": "grace@example.com"}, 17),
        "visits": ({"N": "1906"}, 3),
        "active": ({"BOOL": True}, 1),
        **{name: sized(value) for name, value in more.items()},
    }
    rest = item_size - sum(len(name) + size for name, (_, size) in known.items()) - len("notes")
    return {**{name: value for name, (value, _) in known.items()}, "notes": {"S": notes(partition_key, rest)}}


def sort_key_of(number):
    """The sort key of a partition's item number 0, 1, ...: none ends with a zero."""
    return number // 9 * 10 + number % 9 + 1


# --- Requests ---


def concrete(body):
    """A request of a template: its places filled in."""
    text = json.dumps(body).replace(TOKEN, f"{time.monotonic_ns():036d}")
    text = re.sub(r"~K(\d\d)~~~~", lambda place: key_of(int(place[1])), text)
    text = re.sub(r"~R(\d{6})~*", lambda place: notes("", int(place[1])), text)
    return json.loads(text)


def put(partition_key, table=TABLE, item_size=ITEM_SIZE):
    return {"TableName": table, "Item": item(partition_key, item_size)}


def get(partition_key, table=TABLE):
    return {"TableName": table, "Key": {"pk": {"S": partition_key}}}


def update(partition_key, table=TABLE):
    """Two actions under a condition of three terms."""
    return {
        "TableName": table,
        "Key": {"pk": {"S": partition_key}},
        "UpdateExpression": "SET visits = visits + :one, active = :yes",
        "ConditionExpression": "attribute_exists(pk) AND visits > :zero AND active = :yes",
        "ExpressionAttributeValues": {
            ":one": {"N": "1"},
            ":yes": {"BOOL": True},
            ":zero": {"N": "0"},
        },
    }


def query(partition_key, count):
    return {
        "TableName": query_table_of(count),
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": partition_key}},
    }


def transact(*partition_keys):
    puts = [{"Put": put(each)} for each in partition_keys]
    return {"TransactItems": puts, "ClientRequestToken": TOKEN}


def batch(table, items):
    return {"RequestItems": {table: [{"PutRequest": {"Item": each}} for each in items]}}


def request_text(operation, body):
    """A whole HTTP request."""
    lines = "".join(f"{k}: {v}\r\n" for k, v in stator_process.operation_headers(operation).items())
    text = json.dumps(body)
    return f"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}Content-Length: {len(text)}\r\n\r\n{text}"


def write_requests(folder, requests):
    """The arguments of bench/load for [(weight, operation, body), ...]."""
    folder.mkdir(parents=True)
    arguments = []
    for number, (weight, operation, body) in enumerate(requests):
        path = folder / f"{number}-{operation}"
        path.write_text(request_text(operation, body))
        arguments.append(f"{weight}:{path}")
    return arguments


# --- What is measured ---


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    what: str
    requests: tuple  # (weight, operation, body)
    key_count: int
    is_right: typing.Callable  # Whether an answer to the first of them, read from JSON, is.
    item_size: int = ITEM_SIZE


def is_item_of(item_size):
    def is_right(answer):
        got = answer.get("Item", {})
        return len(json.dumps(got)) >= item_size and got["name"] == {"S": "Grace Hopper"}

    return is_right


def is_page_of(count_min):
    def is_right(answer):
        items = answer["Items"]
        return answer["Count"] == len(items) >= count_min and all(
            len(json.dumps(each)) >= ITEM_SIZE for each in items
        )

    return is_right


def is_done(answer):
    """There is nothing to say, of a batch that nothing is left."""
    return answer == {} or answer == {"UnprocessedItems": {}}


def workloads():
    """All there are; reads first, so that they meet the tables as they were filled."""
    size, partitions = ITEM_SIZE, {count: KEY_COUNT // count for count in QUERY_COUNTS}
    page_min = 2000  # Of 1 MB: 3,495, if the items' sizes are counted as DynamoDB does.
    mixed = ((READ_SHARE[0], "GetItem", get(key())), (READ_SHARE[1], "PutItem", put(key())))
    keys = [key(number) for number in range(BATCH_SIZE)]
    return (
        Workload("GetItem", f"one of {KEY_COUNT:,} items, at random",
                 ((1, "GetItem", get(key())),), KEY_COUNT, is_item_of(size)),
        *(Workload(f"Query of {count}", f"all {count} items of one of {number:,} partitions",
                   ((1, "Query", query(key(), count)),), number, is_page_of(count))
          for count, number in partitions.items()),
        Workload("Scan", "the first page of 1 MB",
                 ((1, "Scan", {"TableName": TABLE}),), 1, is_page_of(page_min)),
        Workload("PutItem", f"replaces one of {KEY_COUNT:,} items",
                 ((1, "PutItem", put(key())),), KEY_COUNT, is_done),
        Workload("UpdateItem", "two actions under a condition of three terms",
                 ((1, "UpdateItem", update(key())),), KEY_COUNT, is_done),
        Workload("TransactWriteItems of 2", "two puts, with a ClientRequestToken as SDKs send",
                 ((1, "TransactWriteItems", transact(key(0), key(1))),), KEY_COUNT, is_done),
        Workload("BatchWriteItem of 25", "replaces 25 items",
                 ((1, "BatchWriteItem", batch(TABLE, [item(each) for each in keys])),),
                 KEY_COUNT, is_done),
        Workload("80% GetItem, 20% PutItem", "of the same items", mixed, KEY_COUNT, is_item_of(size)),
        *(each for item_size in (4096, 102400) for each in sized_workloads(item_size)),
    )  # fmt: skip


def sized_workloads(item_size):
    """Reads and writes of larger items."""
    table, count = table_of(item_size), TABLE_ITEMS[item_size]
    label = f"{item_size // 1024} KB"
    return (
        Workload(f"GetItem, {label}", f"one of {count:,} items of {label}",
                 ((1, "GetItem", get(key(), table)),), count, is_item_of(item_size), item_size),
        Workload(f"PutItem, {label}", f"replaces one of {count:,} items of {label}",
                 ((1, "PutItem", put(key(), table, item_size)),), count, is_done, item_size),
    )  # fmt: skip


# --- Filling ---


def fill_requests(table, item_size=ITEM_SIZE):
    """[(weight, operation, body)] that puts as many items as it has keys into a table."""
    count = max(1, min(BATCH_SIZE, BATCH_BYTES_MAX // item_size))
    items = [item(key(number), item_size) for number in range(count)]
    return [(1, "BatchWriteItem", batch(table, items))]


def query_fill_requests(count):
    """Lists of one request: each puts up to 25 of every partition's items."""
    items = [item(key(), sk=sort_key_of(number)) for number in range(count)]
    return [
        [(1, "BatchWriteItem", batch(query_table_of(count), items[start : start + BATCH_SIZE]))]
        for start in range(0, count, BATCH_SIZE)
    ]


def in_threads(load, count):
    """Runs load(0) to load(count - 1) side by side."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        list(pool.map(load, range(count)))  # The list raises what a thread has raised.


def fill_by_batches(port, table, count, more_of=lambda number: {}):
    """Puts items number 0 to count - 1 in the largest batches, each with what is its own."""

    def load(first):
        client = FastClient(port)
        for start in range(first * BATCH_SIZE, count, BATCH_LOADERS * BATCH_SIZE):
            numbers = range(start, min(start + BATCH_SIZE, count))
            body = batch(table, [item(key_of(number), **more_of(number)) for number in numbers])
            status, answer = client.call("BatchWriteItem", body)
            assert status == 200 and not answer["UnprocessedItems"], answer
        client.close()

    in_threads(load, BATCH_LOADERS)
