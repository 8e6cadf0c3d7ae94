"""Order management in one table, with boto3's resource interface.

    item      pk             sk                    index `lookup`               index `open`
    customer  CUSTOMER#<id>  PROFILE               EMAIL#<mail>, CUSTOMER#<id>  -
    order     CUSTOMER#<id>  ORDER#<date>#<order>  STATUS#<status>, <date>      <warehouse>, <date>
    line      ORDER#<order>  LINE#<number>         -                            -

`lookup` is overloaded: it finds customers by e-mail and orders by status. `open` is sparse: an
order is in it only as long as it has the attribute `open_in`, which shipping removes.
"""

from decimal import Decimal

import boto3
import pytest
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError


def create_table(dynamodb):
    names = ("pk", "sk", "lookup_pk", "lookup_sk", "open_in", "placed")
    table = dynamodb.create_table(
        TableName="orders-boto3",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "lookup",
                "KeySchema": [
                    {"AttributeName": "lookup_pk", "KeyType": "HASH"},
                    {"AttributeName": "lookup_sk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            },
            {
                "IndexName": "open",
                "KeySchema": [
                    {"AttributeName": "open_in", "KeyType": "HASH"},
                    {"AttributeName": "placed", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["order", "total"]},
            },
        ],
    )
    table.wait_until_exists()
    return table


class Orders:
    """What the application calls. No key of the table is spelled anywhere else."""

    def __init__(self, table):
        self.table = table

    def add_customer(self, customer, name, email):
        """False if there is a customer of that id already."""
        item = {
            "pk": f"CUSTOMER#{customer}",
            "sk": "PROFILE",
            "lookup_pk": f"EMAIL#{email}",
            "lookup_sk": f"CUSTOMER#{customer}",
            "name": name,
            "order_count": 0,
        }
        try:
            self.table.put_item(Item=item, ConditionExpression=Attr("pk").not_exists())
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            return False
        return True

    def customer_by_email(self, email):
        found = self.table.query(
            IndexName="lookup", KeyConditionExpression=Key("lookup_pk").eq(f"EMAIL#{email}")
        )["Items"]
        return found[0] if found else None

    def place(self, customer, order, placed, warehouse, lines):
        """`lines` are (article, count, price); the lines are written in batches of 25."""
        total = sum(count * price for _, count, price in lines)
        with self.table.batch_writer() as batch:
            for number, (article, count, price) in enumerate(lines, start=1):
                batch.put_item(
                    Item={
                        "pk": f"ORDER#{order}",
                        "sk": f"LINE#{number:04}",
                        "article": article,
                        "count": count,
                        "price": price,
                    }
                )
            batch.put_item(
                Item={
                    "pk": f"CUSTOMER#{customer}",
                    "sk": f"ORDER#{placed}#{order}",
                    "lookup_pk": "STATUS#PLACED",
                    "lookup_sk": placed,
                    "open_in": warehouse,
                    "placed": placed,
                    "order": order,
                    "status": "PLACED",
                    "total": total,
                }
            )
        self.table.update_item(
            Key={"pk": f"CUSTOMER#{customer}", "sk": "PROFILE"},
            UpdateExpression="ADD order_count :one SET last_order = :order",
            ExpressionAttributeValues={":one": 1, ":order": order},
        )

    def ship(self, customer, order, placed, tracking):
        """Moves the order in `lookup` and takes it out of `open`. Shipping twice is refused."""
        return self.table.update_item(
            Key={"pk": f"CUSTOMER#{customer}", "sk": f"ORDER#{placed}#{order}"},
            UpdateExpression="SET #status = :new, lookup_pk = :key, tracking = :tracking "
            "REMOVE open_in",
            ConditionExpression="#status = :old",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={
                ":old": "PLACED",
                ":new": "SHIPPED",
                ":key": "STATUS#SHIPPED",
                ":tracking": tracking,
            },
            ReturnValues="ALL_NEW",
        )["Attributes"]

    def customer_page(self, customer):
        """The customer and all orders with one Query: they share a partition key."""
        items = self.table.query(KeyConditionExpression=Key("pk").eq(f"CUSTOMER#{customer}"))
        orders = [item for item in items["Items"] if item["sk"] != "PROFILE"]
        return items["Items"][-1], orders  # "PROFILE" sorts behind "ORDER#".

    def newest(self, customer, limit):
        return self.table.query(
            KeyConditionExpression=Key("pk").eq(f"CUSTOMER#{customer}")
            & Key("sk").begins_with("ORDER#"),
            ScanIndexForward=False,
            Limit=limit,
        )["Items"]

    def placed_between(self, customer, first, last):
        """Both days included: '~' sorts behind every digit and letter."""
        return self.table.query(
            KeyConditionExpression=Key("pk").eq(f"CUSTOMER#{customer}")
            & Key("sk").between(f"ORDER#{first}", f"ORDER#{last}~"),
        )["Items"]

    def lines(self, order):
        return self.table.query(KeyConditionExpression=Key("pk").eq(f"ORDER#{order}"))["Items"]

    def with_status(self, status, month, page_size=100):
        """Every order of a status and month, page after page."""
        request = {
            "IndexName": "lookup",
            "KeyConditionExpression": Key("lookup_pk").eq(f"STATUS#{status}")
            & Key("lookup_sk").begins_with(month),
            "Limit": page_size,
        }
        while True:
            page = self.table.query(**request)
            yield from page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def open_in(self, warehouse):
        """Oldest first: what the warehouse should pack next."""
        return self.table.query(
            IndexName="open", KeyConditionExpression=Key("open_in").eq(warehouse)
        )["Items"]


PEN, INK, DESK = ("pen", 3, Decimal("1.50")), ("ink", 1, Decimal("7.25")), ("desk", 1, Decimal(320))
PLACED = [
    ("ada", "o-1", "2026-01-05T09:00", "north", [PEN]),
    ("ada", "o-2", "2026-01-20T10:30", "south", [PEN, INK]),
    ("bob", "o-3", "2026-01-20T11:00", "north", [DESK]),
    ("ada", "o-4", "2026-01-31T23:59", "north", [INK] * 30),
    ("ada", "o-5", "2026-02-01T00:00", "north", [DESK, PEN]),
]


@pytest.fixture(scope="module")
def orders(server_url):
    dynamodb = boto3.resource(
        "dynamodb",
        endpoint_url=server_url,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    table = create_table(dynamodb)
    orders = Orders(table)
    assert orders.add_customer("ada", "Ada", "ada@example.com")
    assert orders.add_customer("bob", "Bob", "bob@example.com")
    for customer, order, placed, warehouse, lines in PLACED:
        orders.place(customer, order, placed, warehouse, lines)
    yield orders
    table.delete()


def ids(items):
    return [item["order"] for item in items]


def test_a_customer_is_added_once(orders):
    assert not orders.add_customer("ada", "Another Ada", "other@example.com")
    assert orders.customer_by_email("other@example.com") is None


def test_one_query_finds_a_customer_by_email(orders):
    assert orders.customer_by_email("bob@example.com")["name"] == "Bob"


def test_one_query_reads_a_customer_and_all_orders(orders):
    profile, found = orders.customer_page("ada")
    assert (profile["name"], profile["order_count"], profile["last_order"]) == ("Ada", 4, "o-5")
    assert ids(found) == ["o-1", "o-2", "o-4", "o-5"]
    assert found[1]["total"] == Decimal("11.75")


def test_the_newest_orders_come_first(orders):
    assert ids(orders.newest("ada", 2)) == ["o-5", "o-4"]


def test_orders_between_two_days(orders):
    assert ids(orders.placed_between("ada", "2026-01-06", "2026-01-31")) == ["o-2", "o-4"]


def test_the_lines_of_an_order_keep_their_order(orders):
    assert [line["article"] for line in orders.lines("o-2")] == ["pen", "ink"]
    many = orders.lines("o-4")  # More than one batch.
    assert [line["sk"] for line in many] == [f"LINE#{n:04}" for n in range(1, 31)]


def test_shipping_moves_an_order_to_its_new_status_and_out_of_the_open_ones(orders):
    assert ids(orders.open_in("north")) == ["o-1", "o-3", "o-4", "o-5"]
    shipped = orders.ship("bob", "o-3", "2026-01-20T11:00", "T-77")
    assert shipped["status"] == "SHIPPED" and "open_in" not in shipped
    still_open = orders.open_in("north")
    assert ids(still_open) == ["o-1", "o-4", "o-5"]
    assert "status" not in still_open[0]  # Not among the attributes that `open` includes.
    assert ids(orders.with_status("SHIPPED", "2026-01")) == ["o-3"]
    assert ids(orders.with_status("PLACED", "2026-01", page_size=1)) == ["o-1", "o-2", "o-4"]
    with pytest.raises(ClientError, match="ConditionalCheckFailedException"):
        orders.ship("bob", "o-3", "2026-01-20T11:00", "T-78")
