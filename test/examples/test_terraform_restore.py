"""Terraform's restore_* arguments: tables made of another one's history, which a plan leaves alone."""

import time

import pytest
from stator_process import StatorProcess
from test_terraform import Terraform, answer, missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def names(server, table):
    items = answer(server.url, "Scan", {"TableName": table})["Items"]
    return sorted(item["customer"]["S"] for item in items)


def test_tables_are_restored_found_again_and_destroyed(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path / "data")) as server:
        terraform = Terraform(tmp_path / "terraform", server.url, "terraform_restore")
        terraform.run("apply", "-auto-approve")
        time.sleep(1)  # Moments have whole seconds; the earliest is the first after enabling.
        answer(server.url, "PutItem", {"TableName": "orders", "Item": {"customer": {"S": "ann"}}})
        second = int(time.time()) + 1
        time.sleep(second - time.time())
        answer(server.url, "PutItem", {"TableName": "orders", "Item": {"customer": {"S": "bob"}}})
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
        terraform.apply(f"to={moment}")
        assert names(server, "orders-latest") == ["ann", "bob"]
        assert names(server, "orders-earlier") == ["ann"]
        lives = answer(server.url, "DescribeTimeToLive", {"TableName": "orders-latest"})
        assert lives["TimeToLiveDescription"]["AttributeName"] == "expires"
        terraform.run("destroy", "-auto-approve")
        assert answer(server.url, "ListTables", {})["TableNames"] == []
        server.stop()
