"""A search index kept in step with a table of products, by a consumer with boto3's client
`dynamodbstreams` and full-text search of SQLite.

    products  <product>    name, price
    search    SQLite: the words of each name, and how far each shard has been read

The index and how far the consumer has come are one SQLite database, so they are committed together.
Where a product's entry is simply replaced, a change that comes in a wrong order would stay: a shard
is read behind its parent, and one shard has all changes of a product.
"""

import sqlite3
import time

import boto3
import botocore.config
import pytest
from product_load import TABLE, WORDS, ProductLoad, RestartedServer

POLL_S = 0.05  # Once a second would do for people.
SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "any",
    "aws_secret_access_key": "any",
    # Until the server is back.
    "config": botocore.config.Config(retries={"mode": "standard", "max_attempts": 20}),
}


def create_table(client):
    description = client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "product", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "product", "KeyType": "HASH"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )["TableDescription"]
    client.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 1})
    return description["LatestStreamArn"]


class SearchIndex:
    def __init__(self, path):
        self.database = sqlite3.connect(path)
        self.database.execute("CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(product, name)")
        self.database.execute(
            "CREATE TABLE IF NOT EXISTS shards (id TEXT PRIMARY KEY, seen TEXT, ended INTEGER)"
        )

    def close(self):
        self.database.close()

    def progress(self, shard):
        """(the last sequence number that was read, whether the shard has come to its end)."""
        row = self.database.execute("SELECT seen, ended FROM shards WHERE id = ?", [shard])
        return row.fetchone() or (None, False)

    def apply(self, shard, records, ended):
        with self.database:  # One transaction.
            for record in records:
                self.replace(record["dynamodb"]["Keys"], record["dynamodb"].get("NewImage"))
            seen = records[-1]["dynamodb"]["SequenceNumber"] if records else self.progress(shard)[0]
            self.database.execute("REPLACE INTO shards VALUES (?, ?, ?)", [shard, seen, ended])

    def replace(self, key, item):
        product = key["product"]["S"]
        self.database.execute("DELETE FROM words WHERE product = ?", [product])
        if item:
            self.database.execute("INSERT INTO words VALUES (?, ?)", [product, item["name"]["S"]])

    def search(self, word):
        found = self.database.execute("SELECT product FROM words WHERE words MATCH ?", [word])
        return sorted(product for (product,) in found)


def list_shards(streams, arn):
    """All of them: a page has a hundred at most."""
    shards = []
    start = {}
    while True:
        page = streams.describe_stream(StreamArn=arn, **start)["StreamDescription"]
        shards += page["Shards"]
        if "LastEvaluatedShardId" not in page:
            return shards
        start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}


class Consumer:
    def __init__(self, streams, arn, index):
        self.streams = streams
        self.arn = arn
        self.index = index
        self.iterators = {}

    def iterator(self, shard):
        if shard not in self.iterators:
            seen, _ = self.index.progress(shard)
            place = (
                {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": seen}
                if seen
                else {"ShardIteratorType": "TRIM_HORIZON"}
            )
            self.iterators[shard] = self.streams.get_shard_iterator(
                StreamArn=self.arn, ShardId=shard, **place
            )["ShardIterator"]
        return self.iterators[shard]

    def poll_shard(self, shard):
        page = self.streams.get_records(ShardIterator=self.iterator(shard))
        following = page.get("NextShardIterator")
        if page["Records"] or not following:
            self.index.apply(shard, page["Records"], ended=not following)
        self.iterators[shard] = following

    def poll(self):
        """One page of each shard that is neither at its end nor behind a parent that is not."""
        shards = list_shards(self.streams, self.arn)
        listed = {shard["ShardId"] for shard in shards}
        for shard in shards:
            parent = shard.get("ParentShardId")
            waits = parent in listed and not self.index.progress(parent)[1]
            if not waits and not self.index.progress(shard["ShardId"])[1]:
                self.poll_shard(shard["ShardId"])


# The example at work.

POLLS_UNTIL_END = 2  # Then the consumer ends, and another one takes over.
CATCH_UP_S = 60


@pytest.fixture
def server(tmp_path):
    with RestartedServer(tmp_path / "data", "--stream-rollover-ms", "500") as running:
        yield running
        running.stop()


def consume_until(is_done, streams, arn, path):
    """Consumers, one after the other, each with nothing but what the database has."""
    deadline = time.monotonic() + CATCH_UP_S
    while time.monotonic() < deadline:
        index = SearchIndex(path)
        consumer = Consumer(streams, arn, index)
        for _ in range(POLLS_UNTIL_END):
            consumer.poll()
            if is_done(index):
                index.close()
                return
            time.sleep(POLL_S)
        index.close()
    raise AssertionError(f"not so within {CATCH_UP_S} seconds: {is_done.__doc__}")


def products_by_word(client):
    pages = client.get_paginator("scan").paginate(TableName=TABLE, ConsistentRead=True)
    items = [item for page in pages for item in page["Items"]]
    return {
        word: sorted(item["product"]["S"] for item in items if word in item["name"]["S"].split())
        for word in WORDS
    }


def searched(index):
    return {word: index.search(word) for word in WORDS}


def test_the_index_follows_the_products_whoever_ends_meanwhile(server, tmp_path):
    client = boto3.client("dynamodb", endpoint_url=server.url, **SETTINGS)
    streams = boto3.client("dynamodbstreams", endpoint_url=server.url, **SETTINGS)
    stream = (streams, create_table(client), tmp_path / "search.db")
    roots = [shard["ShardId"] for shard in list_shards(*stream[:2])]

    def load_has_ended(_index):
        """the load has ended"""
        return not load.is_alive()

    def roots_have_ended(index):
        """the first shards have ended, so that their children take the next load"""
        return all(index.progress(shard)[1] for shard in roots)

    def is_in_step(index):
        """each word finds what has it in the table"""
        return searched(index) == products_by_word(client)

    for _ in range(2):
        load = ProductLoad(client, server)
        load.start()
        consume_until(load_has_ended, *stream)
        load.finish()
        consume_until(is_in_step, *stream)
        consume_until(roots_have_ended, *stream)

    index = SearchIndex(stream[2])
    assert searched(index) == products_by_word(client)
    assert all(searched(index).values())
    index.close()
