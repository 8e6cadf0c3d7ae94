"""What `sam deploy --resolve-s3` and `sam delete` call, in their order, by boto3: SAM itself is not
installed where these tests run. The calls are those of SAM's documentation and of its own library,
boto3: its managed bucket by a stack, uploads that it looks for first, a change set by a template in
that bucket, its waiters and paginators, and the events."""

import hashlib
import os
import time

import boto3
import botocore.config
import botocore.exceptions
import pytest

MANAGED = "aws-sam-cli-managed-default"
MANAGED_TEMPLATE = """
AWSTemplateFormatVersion: '2010-09-09'
Transform: AWS::Serverless-2016-10-31
Description: Managed Stack for AWS SAM CLI
Metadata:
  SamCliInfo: {version: '1.140.0', installationId: '?'}
Resources:
  SamCliSourceBucket:
    Type: AWS::S3::Bucket
    Properties:
      VersioningConfiguration: {Status: Enabled}
      Tags: [{Key: ManagedStackSource, Value: AwsSamCli}]
  SamCliSourceBucketBucketPolicy:
    Type: AWS::S3::BucketPolicy
    Properties:
      Bucket: !Ref SamCliSourceBucket
      PolicyDocument:
        Statement:
          - Action: ["s3:GetObject"]
            Effect: Allow
            Resource: !Join ["", ["arn:", !Ref "AWS::Partition", ":s3:::", !Ref SamCliSourceBucket, "/*"]]
            Principal: {Service: serverlessrepo.amazonaws.com}
Outputs:
  SourceBucket:
    Value: !Ref SamCliSourceBucket
"""
APP = """
AWSTemplateFormatVersion: '2010-09-09'
Transform: AWS::Serverless-2016-10-31
Parameters:
  Stage: {Type: String, Default: dev}
Resources:
  Orders:
    Type: AWS::Serverless::SimpleTable
    Properties:
      TableName: !Sub "orders-${Stage}"
      PrimaryKey: {Name: order, Type: String}
      Tags: {team: shop}
  Handler:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: nodejs22.x
      Handler: app.handler
      CodeUri: CODE
      Policies: [DynamoDBCrudPolicy: {TableName: !Ref Orders}]
      Environment: {Variables: {TABLE: !Ref Orders}}
Outputs:
  Table: {Value: !Ref Orders}
  Function: {Value: !GetAtt Handler.Arn}
"""
CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
QUICK = {"Delay": 1, "MaxAttempts": 60}
CODE_SIZE = 9 * 1024 * 1024  # More than boto3 sends at once.


class Sam:
    """The calls of one command line."""

    def __init__(self, url):
        def client(service):
            return boto3.client(service, endpoint_url=url, region_name="us-east-1",
                                aws_access_key_id="sam", aws_secret_access_key="sam",
                                config=botocore.config.Config(retries={"max_attempts": 0}))
        self.cfn, self.s3 = client("cloudformation"), client("s3")
        self.url = url

    def exists(self, stack):
        try:
            found = self.cfn.describe_stacks(StackName=stack)["Stacks"][0]
        except botocore.exceptions.ClientError as err:
            assert f"Stack with id {stack} does not exist" in str(err)
            return False
        return found["StackStatus"] != "REVIEW_IN_PROGRESS"

    def outputs(self, stack):
        shown = self.cfn.describe_stacks(StackName=stack)["Stacks"][0]
        return {entry["OutputKey"]: entry["OutputValue"] for entry in shown["Outputs"]}

    def managed_bucket(self):
        if not self.exists(MANAGED):
            self.cfn.create_change_set(
                StackName=MANAGED, TemplateBody=MANAGED_TEMPLATE, ChangeSetName="InitialCreation",
                ChangeSetType="CREATE", Capabilities=["CAPABILITY_AUTO_EXPAND"],
                Tags=[{"Key": "ManagedStackSource", "Value": "AwsSamCli"}])
            names = {"StackName": MANAGED, "ChangeSetName": "InitialCreation"}
            self.cfn.get_waiter("change_set_create_complete").wait(**names, WaiterConfig=QUICK)
            self.cfn.execute_change_set(**names)
            self.cfn.get_waiter("stack_create_complete").wait(StackName=MANAGED,
                                                              WaiterConfig=QUICK)
        stack = self.cfn.describe_stacks(StackName=MANAGED)["Stacks"][0]
        assert {"Key": "ManagedStackSource", "Value": "AwsSamCli"} in stack["Tags"]
        return self.outputs(MANAGED)["SourceBucket"]

    def upload(self, bucket, path, suffix=""):
        key = "app/" + hashlib.md5(path.read_bytes()).hexdigest() + suffix
        try:
            self.s3.head_object(Bucket=bucket, Key=key)
        except botocore.exceptions.ClientError as err:
            assert err.response["Error"]["Code"] == "404"
            self.s3.upload_file(str(path), bucket, key)
        return key

    def deploy(self, stack, folder, **parameters):
        bucket = self.managed_bucket()
        code = self.upload(bucket, folder / "code.zip")
        packaged = folder / "packaged.yaml"
        packaged.write_text(APP.replace("CODE", f"s3://{bucket}/{code}"))
        template = self.upload(bucket, packaged, ".template")
        update = self.exists(stack)
        if update:
            self.cfn.get_template_summary(StackName=stack)
        set_name = f"samcli-deploy{time.time_ns()}"
        answer = self.cfn.create_change_set(
            StackName=stack, ChangeSetName=set_name, ChangeSetType="UPDATE" if update else "CREATE",
            TemplateURL=f"https://s3.us-east-1.amazonaws.com/{bucket}/{template}",
            Parameters=[{"ParameterKey": key, "ParameterValue": value}
                        for key, value in parameters.items()],
            Capabilities=CAPABILITIES, Description=f"Created by SAM CLI at {time.time()} UTC",
            Tags=[], NotificationARNs=[])
        names = {"ChangeSetName": answer["Id"], "StackName": stack}
        try:
            self.cfn.get_waiter("change_set_create_complete").wait(**names, WaiterConfig=QUICK)
        except botocore.exceptions.WaiterError as err:
            assert err.last_response["Status"] == "FAILED"
            assert "The submitted information didn't contain changes." in (
                err.last_response["StatusReason"])
            return []
        pages = self.cfn.get_paginator("describe_change_set").paginate(**names)
        changes = [change["ResourceChange"] for page in pages for change in page["Changes"]]
        self.cfn.execute_change_set(**names, DisableRollback=False)
        self.cfn.get_waiter(f"stack_{'update' if update else 'create'}_complete").wait(
            StackName=stack, WaiterConfig=QUICK)
        return [(change["Action"], change["LogicalResourceId"]) for change in changes]

    def events(self, stack):
        pages = self.cfn.get_paginator("describe_stack_events").paginate(StackName=stack)
        return [(event["LogicalResourceId"], event["ResourceStatus"])
                for page in pages for event in page["StackEvents"]][::-1]

    def delete(self, stack):
        self.exists(stack)
        self.cfn.get_template(StackName=stack, TemplateStage="Original")
        self.cfn.delete_stack(StackName=stack)
        self.cfn.get_waiter("stack_delete_complete").wait(StackName=stack, WaiterConfig=QUICK)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "code.zip").write_bytes(os.urandom(CODE_SIZE))
    return tmp_path


def test_the_calls_of_sam_deploy_create_find_no_changes_update_and_delete(server_url, folder):
    sam = Sam(server_url)
    dynamodb = boto3.client("dynamodb", endpoint_url=server_url, region_name="us-east-1",
                            aws_access_key_id="sam", aws_secret_access_key="sam")
    assert {("Add", "Orders"), ("Add", "Handler")} <= set(sam.deploy("sam-shop", folder))
    table = dynamodb.describe_table(TableName="orders-dev")["Table"]
    assert table["KeySchema"] == [{"AttributeName": "order", "KeyType": "HASH"}]
    assert sam.outputs("sam-shop")["Table"] == "orders-dev"
    events = sam.events("sam-shop")
    assert events[0][1] in ("REVIEW_IN_PROGRESS", "CREATE_IN_PROGRESS")
    assert ("Orders", "CREATE_COMPLETE") in events
    assert events[-1] == ("sam-shop", "CREATE_COMPLETE")
    assert sam.deploy("sam-shop", folder) == []
    changes = sam.deploy("sam-shop", folder, Stage="prod")  # Another name: a replacement.
    assert ("Modify", "Orders") in changes
    names = dynamodb.list_tables()["TableNames"]
    assert "orders-prod" in names and "orders-dev" not in names
    sam.delete("sam-shop")
    assert "orders-prod" not in dynamodb.list_tables()["TableNames"]
    sam.delete(MANAGED)
    assert not sam.exists("sam-shop")
