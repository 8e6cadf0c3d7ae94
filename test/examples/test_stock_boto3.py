"""An order is created only if it does not exist, and takes one from stock only if there is one: both
or neither, with boto3's client, by TransactWriteItems and by PartiQL.

    item     pk             what it has
    product  PRODUCT#<id>   stock
    order    ORDER#<id>     product, customer
"""

import concurrent.futures

import boto3
import pytest

TABLE = "stock-boto3"
STOCK = 5


class SoldOut(Exception):
    pass


class OrderExists(Exception):
    pass


def text(value):
    return {"S": value}


class Shop:
    def __init__(self, client):
        self.client = client

    def add_product(self, product, stock):
        item = {"pk": text(f"PRODUCT#{product}"), "stock": {"N": str(stock)}}
        self.client.put_item(TableName=TABLE, Item=item)

    def stock(self, product):
        answer = self.client.get_item(TableName=TABLE, Key={"pk": text(f"PRODUCT#{product}")})
        return int(answer["Item"]["stock"]["N"])

    def order(self, order):
        return self.client.get_item(TableName=TABLE, Key={"pk": text(f"ORDER#{order}")}).get("Item")

    def place(self, order, product, customer):
        raise NotImplementedError

    def place_or_explain(self, transact, **parameters):
        """What did not hold stands in the order of the actions: first the order, then the stock."""
        try:
            transact(**parameters)
        except self.client.exceptions.TransactionCanceledException as error:
            order, stock = (reason["Code"] for reason in error.response["CancellationReasons"])
            if order in ("ConditionalCheckFailed", "DuplicateItem"):
                raise OrderExists from error
            if stock == "ConditionalCheckFailed":
                raise SoldOut from error
            raise


class TransactShop(Shop):
    def place(self, order, product, customer):
        create = {
            "TableName": TABLE,
            "Item": {
                "pk": text(f"ORDER#{order}"),
                "product": text(product),
                "customer": text(customer),
            },
            "ConditionExpression": "attribute_not_exists(pk)",
        }
        take = {
            "TableName": TABLE,
            "Key": {"pk": text(f"PRODUCT#{product}")},
            "UpdateExpression": "SET stock = stock - :one",
            "ConditionExpression": "stock >= :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        self.place_or_explain(
            self.client.transact_write_items, TransactItems=[{"Put": create}, {"Update": take}]
        )


class PartiqlShop(Shop):
    def place(self, order, product, customer):
        """INSERT itself refuses an item that exists."""
        create = {
            "Statement": f"INSERT INTO \"{TABLE}\" VALUE {{'pk': ?, 'product': ?, 'customer': ?}}",
            "Parameters": [text(f"ORDER#{order}"), text(product), text(customer)],
        }
        take = {
            "Statement": f'UPDATE "{TABLE}" SET stock = stock - 1 WHERE pk = ? AND stock >= 1',
            "Parameters": [text(f"PRODUCT#{product}")],
        }
        self.place_or_explain(
            self.client.execute_transaction, TransactStatements=[create, take]
        )


@pytest.fixture(scope="module")
def client(server_url):
    made = boto3.client(
        "dynamodb",
        endpoint_url=server_url,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    made.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    made.get_waiter("table_exists").wait(TableName=TABLE)
    yield made
    made.delete_table(TableName=TABLE)


@pytest.fixture(params=[TransactShop, PartiqlShop])
def shop(client, request):
    made = request.param(client)
    made.name = request.param.__name__  # Keeps the orders of the two apart.
    made.add_product("lamp", STOCK)
    return made


def test_an_order_takes_one_from_stock(shop):
    shop.place(f"{shop.name}-1", "lamp", "ada")
    assert shop.stock("lamp") == STOCK - 1
    assert shop.order(f"{shop.name}-1")["customer"] == text("ada")


def test_an_order_that_exists_takes_nothing(shop):
    shop.place(f"{shop.name}-2", "lamp", "ada")
    with pytest.raises(OrderExists):
        shop.place(f"{shop.name}-2", "lamp", "bob")
    assert shop.stock("lamp") == STOCK - 1
    assert shop.order(f"{shop.name}-2")["customer"] == text("ada")


def test_what_is_sold_out_is_not_ordered(shop):
    shop.add_product("last", 0)
    with pytest.raises(SoldOut):
        shop.place(f"{shop.name}-3", "last", "ada")
    assert shop.order(f"{shop.name}-3") is None


def test_no_more_are_sold_than_there_are_however_many_ask(shop):
    def ask(number):
        try:
            shop.place(f"{shop.name}-many-{number}", "lamp", "ada")
        except SoldOut:
            return 0
        return 1

    with concurrent.futures.ThreadPoolExecutor(8) as customers:
        assert sum(customers.map(ask, range(3 * STOCK))) == STOCK
    assert shop.stock("lamp") == 0
