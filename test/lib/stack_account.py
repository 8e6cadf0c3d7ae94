"""An account whose stacks are made, changed and watched by tests."""

import json
import time
import urllib.parse

import boto3
import botocore.config
import botocore.exceptions
import pytest

from stator_process import Connection

PATIENCE_S = 90


def client(service, url):
    return boto3.client(service, endpoint_url=url, region_name="us-east-1",
                        aws_access_key_id="test", aws_secret_access_key="test",
                        config=botocore.config.Config(retries={"max_attempts": 0}))


def table(key="id", indexes=(), **properties):
    attributes = {key, *indexes}
    described = {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"}
                                 for name in sorted(attributes)],
        "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
        **properties,
    }
    if indexes:
        described["GlobalSecondaryIndexes"] = [
            {"IndexName": f"by-{name}",
             "KeySchema": [{"AttributeName": name, "KeyType": "HASH"}],
             "Projection": {"ProjectionType": "ALL"}} for name in indexes]
    return {"Type": "AWS::DynamoDB::Table", "Properties": described}


def template(outputs=None, parameters=None, **resources):
    document = {"Resources": resources}
    if outputs:
        document["Outputs"] = outputs
    if parameters:
        document["Parameters"] = parameters
    return json.dumps(document)


class Account:
    def __init__(self, url):
        self.cfn = client("cloudformation", url)
        self.dynamodb = client("dynamodb", url)
        self.made = []
        self.url = url

    def settled(self, name):
        until = time.monotonic() + PATIENCE_S
        while True:
            stack = self.cfn.describe_stacks(StackName=name)["Stacks"][0]
            if not stack["StackStatus"].endswith("IN_PROGRESS"):
                return stack
            assert time.monotonic() < until, stack
            time.sleep(0.005)

    def create(self, name, body, **more):
        answer = self.cfn.create_stack(StackName=name, TemplateBody=body, **more)
        self.made.append(answer["StackId"])
        return self.settled(answer["StackId"])

    def update(self, name, body, **more):
        self.cfn.update_stack(StackName=name, TemplateBody=body, **more)
        return self.settled(name)

    def delete(self, name):
        stack_id = self.cfn.describe_stacks(StackName=name)["Stacks"][0]["StackId"]
        self.cfn.delete_stack(StackName=name)
        return self.settled(stack_id)

    def refusal(self, operation, **arguments):
        with pytest.raises(botocore.exceptions.ClientError) as caught:
            getattr(self.cfn, operation)(**arguments)
        error = caught.value.response["Error"]
        return error["Code"], error["Message"]

    def events(self, name):
        """Oldest first."""
        pages = self.cfn.get_paginator("describe_stack_events").paginate(StackName=name)
        found = [event for page in pages for event in page["StackEvents"]]
        return [(event["LogicalResourceId"], event["ResourceStatus"]) for event in found[::-1]]

    def reasons(self, name):
        """Of the last page of events."""
        events = self.cfn.describe_stack_events(StackName=name)["StackEvents"]
        return [event.get("ResourceStatusReason") for event in events]

    def tables(self):
        return self.dynamodb.list_tables()["TableNames"]

    def unprotect(self, name):
        """The boto3 of Debian does not know the parameter."""
        connection = Connection(urllib.parse.urlsplit(self.url).port)
        connection.call("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
        connection.close()

    def described(self, name):
        return self.dynamodb.describe_table(TableName=name)["Table"]

    def clean(self):
        """Deletes its stacks, and what they have retained."""
        for stack_id in self.made[::-1]:
            self.cfn.delete_stack(StackName=stack_id)
        for stack_id in self.made[::-1]:
            self.settled(stack_id)
        for name in self.tables():
            self.unprotect(name)
            self.dynamodb.delete_table(TableName=name)
