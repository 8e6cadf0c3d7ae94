
import base64
import decimal
import json
import os
import pathlib
import unittest
import uuid

import access
import boto3
import botocore.exceptions

ENDPOINT = os.environ.get("AWS_ENDPOINT_URL_DYNAMODB") or os.environ.get("AWS_ENDPOINT_URL")
SAMPLE = json.loads(pathlib.Path(__file__).with_name("sample.json").read_text(encoding="utf-8"))


def native(value):
    """The attribute value of a JSON text, in which binary is base64, as the functions have it."""
    ((kind, content),) = value.items()
    if kind == "NULL":
        return None
    if kind in ("N", "B"):
        return scalar(kind, content)
    if kind in ("SS", "NS", "BS"):
        return {scalar(kind[0], member) for member in content}
    if kind == "L":
        return [native(member) for member in content]
    if kind == "M":
        return native_item(content)
    return content


def scalar(kind, content):
    if kind == "N":
        return decimal.Decimal(content)
    return base64.b64decode(content) if kind == "B" else content


def native_item(item):
    return {name: native(value) for name, value in item.items()}


def key_of(table, item):
    names = [key["AttributeName"] for key in table["CreateTable"]["KeySchema"]]
    return [item.get(name) for name in names]


@unittest.skipUnless(ENDPOINT, "AWS_ENDPOINT_URL_DYNAMODB names no server to create tables on")
class ModelTest(unittest.TestCase):
    """Creates the tables under names of their own, and loads the sample."""

    @classmethod
    def setUpClass(cls):
        cls.client = boto3.client(
            "dynamodb",
            endpoint_url=ENDPOINT,
            region_name=os.environ.get("AWS_REGION", "us-east-1"),
            aws_access_key_id=os.environ.get("AWS_ACCESS_KEY_ID", "test"),
            aws_secret_access_key=os.environ.get("AWS_SECRET_ACCESS_KEY", "test"),
        )
        cls.database = access.Database(cls.client, {})
        for table in SAMPLE["Tables"]:
            name = f"model-test-{uuid.uuid4()}"
            cls.client.create_table(**{**table["CreateTable"], "TableName": name})
            cls.addClassCleanup(cls.client.delete_table, TableName=name)
            cls.database.tables[table["CreateTable"]["TableName"]] = name
            cls.client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
            for row in table["Rows"]:
                item = access._encode_item(native_item(row["Item"]))
                cls.client.put_item(TableName=name, Item=item)

    def check(self, run, table, *, count=None, keys=None, ordered=True, entities=None, pages=None,
              refused=False):
        if refused:
            with self.assertRaises((botocore.exceptions.ClientError, ValueError)):
                self.items_of(run())
            return
        items, page_count = self.items_of(run())
        if count is not None:
            self.assertEqual(len(items), count)
        if pages is not None:
            self.assertEqual(page_count, pages)
        if keys is not None:
            found = [{name: item.get(name) for name in key} for item, key in zip(items, keys)]
            if not ordered and keys:
                found = [{name: item.get(name) for name in keys[0]} for item in items]
            self.assertEqual(len(items), len(keys))
            (self.assertEqual if ordered else self.assertCountEqual)(found, keys)
        if entities is not None:
            self.assertEqual({self.entity_of(table, item) for item in items}, set(entities))

    @staticmethod
    def written(_item):
        """The result of a write, of which the model expects nothing but that it succeeds."""
        return None

    @staticmethod
    def items_of(result):
        if isinstance(result, access.Results):
            pages = list(result.pages())
            return [item for page in pages for item in page.items], len(pages)
        return ([] if result is None else [result]), 1

    @staticmethod
    def entity_of(name, item):
        """The entity of the sample's row that has the item's key."""
        (table,) = [t for t in SAMPLE["Tables"] if t["CreateTable"]["TableName"] == name]
        for row in table["Rows"]:
            if key_of(table, native_item(row["Item"])) == key_of(table, item):
                return row["Entity"]
        return None

    def check_built(self, table, row, built):
        """What is built is in the sample's row."""
        item = native_item(SAMPLE["Tables"][table]["Rows"][row]["Item"])
        self.assertEqual(built, {name: item.get(name) for name in built})


