"""An online shop in one table, with boto3's client, where each value names its type.

    item     pk                       sk             gsi1pk               gsi1sk
    user     USER#<id>                USER           EMAIL#<mail>         USER
    order    USER#<id>                ORDER#<order>  STATUS#<status>      <date>
    session  SESSION#<id>             SESSION        USER#<id>            <expiry>
    product  PRODUCT#<id>             PRODUCT        CATEGORY#<category>  <padded price>#<id>
    views    VIEWS#<product>#<shard>  VIEWS          -                    -

One overloaded index answers: who has this e-mail, which orders are paid, which sessions has this
user, what costs between 10 and 50 in this category.
"""

import random
import time

import boto3
import pytest
from botocore.exceptions import ClientError

TABLE = "shop-boto3"
INDEX = "gsi1"
VIEW_SHARDS = 8


def create_table(client):
    names = ("pk", "sk", "gsi1pk", "gsi1sk")
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": INDEX,
                "KeySchema": [
                    {"AttributeName": "gsi1pk", "KeyType": "HASH"},
                    {"AttributeName": "gsi1sk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    client.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 1})


def keys(pk, sk, gsi1pk=None, gsi1sk=None):
    """The attributes that make up an item's keys, those of the index only where it is in it."""
    item = {"pk": {"S": pk}, "sk": {"S": sk}}
    if gsi1pk is not None:
        item |= {"gsi1pk": {"S": gsi1pk}, "gsi1sk": {"S": gsi1sk}}
    return item


def price_key(cents):
    """Text sorts by its characters, so that 999 must be written 00000999 to be below 1250."""
    return f"{cents:08}"


class Shop:
    def __init__(self, client):
        self.client = client

    def load(self, items):
        """Any number of items, in batches, until none is left unprocessed."""
        requests = [{"PutRequest": {"Item": item}} for item in items]
        while requests:
            answer = self.client.batch_write_item(RequestItems={TABLE: requests[:25]})
            requests = requests[25:] + answer["UnprocessedItems"].get(TABLE, [])

    def register(self, user, email, name):
        self.client.put_item(
            TableName=TABLE,
            Item=keys(f"USER#{user}", "USER", f"EMAIL#{email}", "USER") | {"name": {"S": name}},
            ConditionExpression="attribute_not_exists(pk)",
        )

    def _index(self, condition, values, **more):
        """All that a key condition on the index finds, whatever the number of pages."""
        pages = self.client.get_paginator("query").paginate(
            TableName=TABLE,
            IndexName=INDEX,
            KeyConditionExpression=condition,
            ExpressionAttributeValues={name: {"S": value} for name, value in values.items()},
            **more,
        )
        return [item for page in pages for item in page["Items"]]

    def user_by_email(self, email):
        return self._index("gsi1pk = :email", {":email": f"EMAIL#{email}"})

    def orders_with_status(self, status, month):
        return self._index(
            "gsi1pk = :status AND begins_with(gsi1sk, :month)",
            {":status": f"STATUS#{status}", ":month": month},
        )

    def products(self, category, low, high, page_size=None):
        """Prices in cents, both included, cheapest first."""
        return self._index(
            "gsi1pk = :category AND gsi1sk BETWEEN :low AND :high",
            {
                ":category": f"CATEGORY#{category}",
                ":low": price_key(low),
                ":high": price_key(high) + "~",
            },
            PaginationConfig={"PageSize": page_size},
        )

    def sign_in(self, user, session, expires):
        item = keys(f"SESSION#{session}", "SESSION", f"USER#{user}", str(expires))
        item["expires"] = {"N": str(expires)}
        self.client.put_item(TableName=TABLE, Item=item)

    def sessions(self, user, now):
        """Expired items are deleted in time, not on time: a reader leaves them out itself."""
        return self._index(
            "gsi1pk = :user AND gsi1sk > :now", {":user": f"USER#{user}", ":now": str(now)}
        )

    def session(self, session, now):
        """The same for a single one, by a filter."""
        answer = self.client.query(
            TableName=TABLE,
            KeyConditionExpression="pk = :session",
            FilterExpression="expires > :now",
            ExpressionAttributeValues={
                ":session": {"S": f"SESSION#{session}"},
                ":now": {"N": str(now)},
            },
        )
        return answer["Items"][0] if answer["Items"] else None

    def sign_out_everywhere(self, user):
        found = self._index("gsi1pk = :user", {":user": f"USER#{user}"})
        requests = [
            {"DeleteRequest": {"Key": {"pk": item["pk"], "sk": item["sk"]}}} for item in found
        ]
        self.client.batch_write_item(RequestItems={TABLE: requests})

    def count_view(self, product):
        """A page that everybody looks at: one counter would be one hot key."""
        self.client.update_item(
            TableName=TABLE,
            Key=keys(f"VIEWS#{product}#{random.randrange(VIEW_SHARDS)}", "VIEWS"),
            UpdateExpression="ADD seen :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    def views(self, product):
        shards = [keys(f"VIEWS#{product}#{shard}", "VIEWS") for shard in range(VIEW_SHARDS)]
        answer = self.client.batch_get_item(RequestItems={TABLE: {"Keys": shards}})
        return sum(int(item["seen"]["N"]) for item in answer["Responses"][TABLE])

    def change_price(self, product, cents, version):
        """Refused if somebody changed the product since `version` was read."""
        return self.client.update_item(
            TableName=TABLE,
            Key=keys(f"PRODUCT#{product}", "PRODUCT"),
            UpdateExpression="SET cents = :cents, gsi1sk = :key, version = version + :one",
            ConditionExpression="version = :version",
            ExpressionAttributeValues={
                ":cents": {"N": str(cents)},
                ":key": {"S": f"{price_key(cents)}#{product}"},
                ":version": {"N": str(version)},
                ":one": {"N": "1"},
            },
            ReturnValues="UPDATED_NEW",
        )["Attributes"]


def product(name, category, cents):
    index = f"CATEGORY#{category}", f"{price_key(cents)}#{name}"
    return keys(f"PRODUCT#{name}", "PRODUCT", *index) | {
        "cents": {"N": str(cents)},
        "version": {"N": "1"},
    }


def order(user, number, status, date):
    return keys(f"USER#{user}", f"ORDER#{number}", f"STATUS#{status}", date)


@pytest.fixture(scope="module")
def shop(server_url):
    client = boto3.client(
        "dynamodb",
        endpoint_url=server_url,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    create_table(client)
    shop = Shop(client)
    shop.register("u1", "ada@example.com", "Ada")
    shop.register("u2", "bob@example.com", "Bob")
    shop.load(
        [product(f"book-{n:02}", "books", 500 + 250 * n) for n in range(40)]
        + [product("lamp", "lights", 990), product("chandelier", "lights", 125_000)]
        + [order("u1", n, "PAID" if n % 3 else "SENT", f"2026-0{1 + n % 2}-15") for n in range(12)]
    )
    yield shop
    client.delete_table(TableName=TABLE)


def names(items, prefix="PRODUCT#"):
    return [item["pk"]["S"].removeprefix(prefix) for item in items]


def test_a_user_is_found_by_email_and_registered_once(shop):
    assert [user["name"]["S"] for user in shop.user_by_email("bob@example.com")] == ["Bob"]
    with pytest.raises(shop.client.exceptions.ConditionalCheckFailedException):
        shop.register("u2", "mallory@example.com", "Mallory")
    assert shop.user_by_email("mallory@example.com") == []


def test_orders_by_status_and_month(shop):
    found = shop.orders_with_status("SENT", "2026-01")
    assert sorted(item["sk"]["S"] for item in found) == ["ORDER#0", "ORDER#6"]
    assert len(shop.orders_with_status("PAID", "2026")) == 8


def test_products_by_price(shop):
    """990 is between 500 and 1000 though "990" as text is above "1000"."""
    assert names(shop.products("lights", 500, 1000)) == ["lamp"]
    assert names(shop.products("lights", 0, 999_999)) == ["lamp", "chandelier"]
    assert names(shop.products("books", 1000, 1750)) == ["book-02", "book-03", "book-04", "book-05"]
    assert names(shop.products("books", 0, 100_000, page_size=7)) == [
        f"book-{n:02}" for n in range(40)
    ]


def test_a_new_price_is_a_new_place_in_the_category(shop):
    changed = shop.change_price("lamp", 200_000, version=1)
    assert changed["version"] == {"N": "2"}
    assert names(shop.products("lights", 0, 999_999)) == ["chandelier", "lamp"]
    with pytest.raises(ClientError, match="The conditional request failed"):
        shop.change_price("lamp", 1, version=1)
    shop.change_price("lamp", 990, version=2)


def test_expired_sessions_are_not_seen(shop):
    now = int(time.time())
    shop.sign_in("u1", "old", now - 60)
    shop.sign_in("u1", "phone", now + 600)
    shop.sign_in("u1", "laptop", now + 3600)
    assert names(shop.sessions("u1", now), "SESSION#") == ["phone", "laptop"]
    assert shop.session("old", now) is None
    assert shop.session("phone", now)["gsi1pk"] == {"S": "USER#u1"}
    shop.sign_out_everywhere("u1")
    assert shop.sessions("u1", 0) == []


def test_views_are_counted_in_shards(shop):
    for _ in range(50):
        shop.count_view("lamp")
    assert shop.views("lamp") == 50
    assert shop.views("chandelier") == 0
