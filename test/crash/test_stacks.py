"""kill -9 at every step of a deployment of five resources: after the restart the stack continues or
rolls back, what it says agrees with the tables, and the next deployment succeeds.

A step is one write to the engine's log, which the server ends behind (test/lib/preload/power_cut.c):
the first after the request, the second, and so on, until a deployment is not interrupted any more.
"""

import json
import shutil
import time

import boto3
import botocore.config
import botocore.exceptions
import crash_run
import power_cut
import pytest

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "x",
    "aws_secret_access_key": "x",
    "config": botocore.config.Config(retries={"max_attempts": 0}, read_timeout=20),
}
PATIENCE_S = 60
STEPS_MAX = 200
EVERY = 3  # In the short form: each third step, from another one each time.


def table(name, index=None, ttl=False):
    names = ["id"] + ([index] if index else [])
    properties = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in names],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    }
    if index:
        properties["GlobalSecondaryIndexes"] = [{
            "IndexName": "by-" + index,
            "KeySchema": [{"AttributeName": index, "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }]
    if ttl:
        properties["TimeToLiveSpecification"] = {"AttributeName": "ttl", "Enabled": True}
    return {"Type": "AWS::DynamoDB::Table", "Properties": properties}


def template(index=None, names=("a", "b", "c", "d", "e"), bad=False):
    resources = {f"T{name}": table(f"t-{name}", index, ttl=name == "b") for name in names}
    if bad:  # Of a key that has no attribute: DynamoDB refuses it.
        resources["Tz"] = table("t-z")
        resources["Tz"]["DependsOn"] = list(resources)[:-1]
        resources["Tz"]["Properties"]["KeySchema"][0]["AttributeName"] = "other"
    return json.dumps({"Resources": resources})


class Server:
    def __init__(self, directory, variables=None):
        self.process = crash_run.start_server(directory, variables=variables)
        self.cfn = boto3.client("cloudformation", endpoint_url=self.process.url, **SETTINGS)
        self.dynamodb = boto3.client("dynamodb", endpoint_url=self.process.url, **SETTINGS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()

    def stack(self):
        """None if there is none."""
        try:
            return self.cfn.describe_stacks(StackName="app")["Stacks"][0]
        except botocore.exceptions.ClientError as error:
            assert "does not exist" in str(error)
            return None

    def settled(self):
        """The status of the stack once nothing is done with it."""
        until = time.monotonic() + PATIENCE_S
        while (stack := self.stack()) and stack["StackStatus"].endswith("IN_PROGRESS"):
            assert time.monotonic() < until, stack
            time.sleep(0.01)
        return stack and stack["StackStatus"]

    def tables(self):
        """{name: its indexes}"""
        found = {}
        for name in self.dynamodb.list_tables()["TableNames"]:
            described = self.dynamodb.describe_table(TableName=name)["Table"]
            assert described["TableStatus"] == "ACTIVE"
            found[name] = [i["IndexName"] for i in described.get("GlobalSecondaryIndexes", [])]
        return found

    def resources(self):
        """{logical id: physical id} of those that the stack says it has."""
        listed = self.cfn.describe_stack_resources(StackName="app")["StackResources"]
        return {r["LogicalResourceId"]: r["PhysicalResourceId"] for r in listed
                if not r["ResourceStatus"].startswith("DELETE")}


def run_to_kill(tmp_path, directory, step, request):
    """Whether the server ended at that step; `request` gets the server."""
    arm = tmp_path / "armed"
    arm.unlink(missing_ok=True)
    variables = power_cut.variables(directory.parent, kill=f"after/sync/*.log/*/{step}", arm=arm)
    with Server(directory, variables) as server:
        arm.touch()
        try:
            request(server)
            server.settled()
        except botocore.exceptions.BotoCoreError:
            pass
        except botocore.exceptions.ClientError as error:
            assert error.response["ResponseMetadata"]["HTTPStatusCode"] >= 500, error
        time.sleep(0.02)
        return server.process.process.poll() is not None


def unnamed(key):
    """A stack of one table whose name the template leaves open."""
    made = table("")
    del made["Properties"]["TableName"]
    made["Properties"]["AttributeDefinitions"][0]["AttributeName"] = key
    made["Properties"]["KeySchema"][0]["AttributeName"] = key
    return json.dumps({"Resources": {"T": made}})


def recovering(days):
    """A table is made, then its recovery period is set; one of 99 days is refused."""
    made = table("t-r")
    made["Properties"]["PointInTimeRecoverySpecification"] = {
        "PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}
    return json.dumps({"Resources": {"Ta": table("t-a"), "Tr": {**made, "DependsOn": "Ta"}}})


def create(server, body=None):
    server.cfn.create_stack(StackName="app", TemplateBody=body or template())


def agree(server):
    """The stack's resources are the tables."""
    assert sorted(server.resources().values()) == sorted(server.tables())


def each_step(first=1):
    every = 1 if crash_run.is_long() else EVERY
    return range(first + int(crash_run.seeded()) % every, STEPS_MAX, every)


def test_a_creation_continues_after_a_kill_at_any_step(tmp_path):
    for step in each_step():
        directory = tmp_path / str(step) / "data"
        directory.parent.mkdir()
        killed = run_to_kill(tmp_path, directory, step, create)
        with Server(directory) as server:
            status = server.settled()
            assert status in (None, "CREATE_COMPLETE")
            if status is None:
                assert server.tables() == {}
                create(server)
                assert server.settled() == "CREATE_COMPLETE"
            agree(server)
            assert len(server.tables()) == 5
            ttl = server.dynamodb.describe_time_to_live(TableName="t-b")
            assert ttl["TimeToLiveDescription"]["TimeToLiveStatus"] == "ENABLED"
            server.cfn.update_stack(StackName="app", TemplateBody=template(names=("a", "b", "x")))
            assert server.settled() == "UPDATE_COMPLETE"
            assert sorted(server.tables()) == ["t-a", "t-b", "t-x"]
            agree(server)
            server.process.stop()
        crash_run.assert_whole(directory)
        if not killed:
            return
    raise AssertionError("the deployment takes too many steps")


def interrupted_update(tmp_path, body, expected, before=None):
    """For each step: a stack, of five tables, is updated, killed, and looked at again."""
    base = tmp_path / "base" / "data"
    base.parent.mkdir()
    with Server(base) as server:
        create(server, before)
        assert server.settled() == "CREATE_COMPLETE"
        server.process.stop()
    for step in each_step():
        root = tmp_path / str(step)
        shutil.copytree(base, root / "data")
        killed = run_to_kill(
            tmp_path, root / "data", step,
            lambda server: server.cfn.update_stack(StackName="app", TemplateBody=body))
        with Server(root / "data") as server:
            expected(server, server.settled())
            server.process.stop()
        crash_run.assert_whole(root / "data")
        if not killed:
            return
    raise AssertionError("the deployment takes too many steps")


def test_an_update_continues_after_a_kill_at_any_step(tmp_path):
    new = template(index="kind", names=("a", "b", "c", "f"))

    def expected(server, status):
        if status == "CREATE_COMPLETE":  # The request was lost.
            server.cfn.update_stack(StackName="app", TemplateBody=new)
            status = server.settled()
        assert status == "UPDATE_COMPLETE"
        assert server.tables() == {f"t-{n}": ["by-kind"] for n in "abcf"}
        agree(server)

    interrupted_update(tmp_path, new, expected)


def test_a_failed_update_is_rolled_back_after_a_kill_at_any_step(tmp_path):
    bad = template(index="kind", bad=True)

    def expected(server, status):
        assert status in ("CREATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")
        assert server.tables() == {f"t-{n}": [] for n in "abcde"}
        agree(server)
        server.cfn.update_stack(StackName="app", TemplateBody=template(index="kind"))
        assert server.settled() == "UPDATE_COMPLETE"
        assert server.tables() == {f"t-{n}": ["by-kind"] for n in "abcde"}

    interrupted_update(tmp_path, bad, expected)


def test_a_replacement_under_a_new_name_continues_after_a_kill_at_any_step(tmp_path):
    def expected(server, status):
        if status == "CREATE_COMPLETE":  # The request was lost.
            server.cfn.update_stack(StackName="app", TemplateBody=unnamed("pk"))
            status = server.settled()
        assert status == "UPDATE_COMPLETE"
        agree(server)
        [name] = server.tables()
        key = server.dynamodb.describe_table(TableName=name)["Table"]["KeySchema"]
        assert key[0]["AttributeName"] == "pk"

    interrupted_update(tmp_path, unnamed("pk"), expected, before=unnamed("id"))


@pytest.mark.parametrize("keeps", [False, True])
def test_a_failed_creation_leaves_nothing_that_no_stack_has(tmp_path, keeps):
    """Whether the stack is rolled back, or keeps what was made and is corrected by an update."""
    for step in each_step():
        directory = tmp_path / str(step) / "data"
        directory.parent.mkdir()
        killed = run_to_kill(
            tmp_path, directory, step,
            lambda server: server.cfn.create_stack(
                StackName="app", TemplateBody=recovering(99), DisableRollback=keeps))
        with Server(directory) as server:
            status = server.settled()
            assert status in (None, "CREATE_FAILED" if keeps else "ROLLBACK_COMPLETE")
            if keeps and status:
                server.cfn.update_stack(StackName="app", TemplateBody=recovering(9))
                assert server.settled() == "UPDATE_COMPLETE"
                assert sorted(server.tables()) == ["t-a", "t-r"]
                agree(server)
            if status:
                server.cfn.delete_stack(StackName="app")
                server.settled()
            assert server.stack() is None and server.tables() == {}
            create(server, recovering(9))
            assert server.settled() == "CREATE_COMPLETE"
            server.process.stop()
        crash_run.assert_whole(directory)
        if not killed:
            return
    raise AssertionError("the creation takes too many steps")


def test_a_deletion_continues_after_a_kill_at_any_step(tmp_path):
    base = tmp_path / "base" / "data"
    base.parent.mkdir()
    with Server(base) as server:
        create(server)
        assert server.settled() == "CREATE_COMPLETE"
        server.process.stop()
    for step in each_step():
        root = tmp_path / str(step)
        shutil.copytree(base, root / "data")
        killed = run_to_kill(tmp_path, root / "data", step,
                             lambda server: server.cfn.delete_stack(StackName="app"))
        with Server(root / "data") as server:
            if server.settled() == "CREATE_COMPLETE":
                server.cfn.delete_stack(StackName="app")
                server.settled()
            assert server.stack() is None and server.tables() == {}
            create(server)
            assert server.settled() == "CREATE_COMPLETE"
            server.process.stop()
        if not killed:
            return
    raise AssertionError("the deletion takes too many steps")
