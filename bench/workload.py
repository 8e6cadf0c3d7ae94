"""workload.py -- the tables and items that the benchmarks use, and the requests they send."""

import concurrent.futures
import json

from fast_client import FastClient

TABLE = "bench"
KEY_COUNT = 10_000
KEY_DIGITS = 8
ITEM_SIZE = 300
STREAM_TABLE = "bench-stream"  # Like TABLE, with a stream of both images.
QUERY_TABLE = "bench-query"
QUERY_COUNT = 10  # Items of each partition key.
SECOND_ITEM = "x"  # Before the key of the other item in a transaction.
TOKEN = "t" * 36  # As long as the UUIDs that SDKs send.
LOADERS = 32
# Of a real key's length, since items are filled up to their size.
KEY_PLACEHOLDER = "0" * KEY_DIGITS
BATCH_LOADERS = 4
BATCH_SIZE = 25  # The most that one BatchWriteItem takes.


def key_of(number):
    return f"{number:0{KEY_DIGITS}d}"


def sized(value):
    """A string or a whole number that does not end with a zero, and what the service charges."""
    if isinstance(value, str):
        return {"S": value}, len(value)
    return {"N": str(value)}, 1 + (len(str(value)) + 1) // 2


def item(key, **more):
    """An item of ITEM_SIZE bytes as the service counts them: names, values, no overhead. `more` are
    attributes of it beside the usual ones, strings or numbers."""
    known = {
        "pk": ({"S": key}, len(key)),
        "name": ({"S": "Grace Hopper"}, 12),
        "email": ({"S": "grace@example.com"}, 17),
        "visits": ({"N": "1906"}, 3),
        "active": ({"BOOL": True}, 1),
        **{name: sized(value) for name, value in more.items()},
    }
    rest = ITEM_SIZE - sum(len(name) + size for name, (_, size) in known.items()) - len("notes")
    return {**{name: value for name, (value, _) in known.items()}, "notes": {"S": "n" * rest}}


def body_of(operation, key):
    if operation == "GetItem":
        return {"TableName": TABLE, "Key": {"pk": {"S": key}}}
    if operation == "Query":
        return {
            "TableName": QUERY_TABLE,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": key}},
        }
    if operation == "UpdateItem":
        return {
            "TableName": TABLE,
            "Key": {"pk": {"S": key}},
            "UpdateExpression": "SET visits = visits + :one, active = :yes",
            "ConditionExpression": "attribute_exists(pk) AND visits > :zero AND active = :yes",
            "ExpressionAttributeValues": {
                ":one": {"N": "1"},
                ":yes": {"BOOL": True},
                ":zero": {"N": "0"},
            },
        }
    if operation == "TransactWriteItems":
        puts = [body_of("PutItem", key), body_of("PutItem", SECOND_ITEM + key)]
        return {"TransactItems": [{"Put": put} for put in puts], "ClientRequestToken": TOKEN}
    return {"TableName": TABLE, "Item": item(key)}


def query_item(key, number):
    """An item of the same size, one of the partition key's ten."""
    ranged = {**item(key), "sk": {"N": str(number)}}
    ranged["notes"] = {"S": ranged["notes"]["S"][: -len("sk") - 2]}
    return ranged


def in_threads(load, count):
    """Runs load(0) to load(count - 1) side by side."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        list(pool.map(load, range(count)))  # The list raises what a thread has raised.


def fill(port):
    """Puts all keys, over several connections so that they share the syncs."""

    def load(first):
        client = FastClient(port)
        for number in range(first, KEY_COUNT, LOADERS):
            key = key_of(number // QUERY_COUNT)
            put = body_of("PutItem", key_of(number))
            for body in (
                put,
                {**put, "TableName": STREAM_TABLE},
                body_of("PutItem", SECOND_ITEM + key_of(number)),
                {"TableName": QUERY_TABLE, "Item": query_item(key, 1 + number % QUERY_COUNT)},
            ):
                status, answer = client.call("PutItem", body)
                assert status == 200, answer
        client.close()

    in_threads(load, LOADERS)


def fill_by_batches(port, table, count, more_of=lambda number: {}):
    """Puts items number 0 to count - 1 in the largest batches, each with what is its own."""

    def load(first):
        client = FastClient(port)
        for start in range(first * BATCH_SIZE, count, BATCH_LOADERS * BATCH_SIZE):
            puts = [
                {"PutRequest": {"Item": item(key_of(number), **more_of(number))}}
                for number in range(start, min(start + BATCH_SIZE, count))
            ]
            status, answer = client.call("BatchWriteItem", {"RequestItems": {table: puts}})
            assert status == 200 and not answer["UnprocessedItems"], answer
        client.close()

    in_threads(load, BATCH_LOADERS)


def write_template(path, body):
    """A request's body for request.lua. `body` has KEY_PLACEHOLDER wherever a key belongs, and TOKEN
    wherever a token of its own does."""
    text = json.dumps(body).replace(KEY_PLACEHOLDER, "@KEY@").replace(TOKEN, "@TOKEN@")
    path.write_text(text)
    return path
