"""Terraform's aws_dynamodb_kinesis_streaming_destination: applied, planned empty, changed and
destroyed. The streams are in a Kinesis server, which lacks what Terraform would ask about them."""

import pytest
from kinesis_server import KinesisServer, write_key_file
from stator_process import StatorProcess
from test_terraform import Terraform, answer, missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def destinations(url):
    listed = answer(url, "DescribeKinesisStreamingDestination", {"TableName": "orders"})
    return {
        entry["StreamArn"].rpartition("/")[2]: entry["DestinationStatus"]
        for entry in listed["KinesisDataStreamDestinations"]
    }


def test_a_destination_is_applied_changed_and_destroyed(tmp_path):
    with (
        KinesisServer(tmp_path / "kinesis") as kinesis,
        StatorProcess(
            "--in-memory",
            "--kinesis-endpoint",
            kinesis.url,
            "--kinesis-key-file",
            write_key_file(tmp_path / "credentials"),
        ) as server,
    ):
        terraform = Terraform(tmp_path / "terraform", server.url, "terraform_kinesis")
        for name in ("changes", "others"):
            kinesis.create_stream(name)
        terraform.apply()
        assert destinations(server.url) == {"changes": "ACTIVE"}
        terraform.apply("stream=others")
        assert destinations(server.url) == {"changes": "DISABLED", "others": "ACTIVE"}
        terraform.run("destroy", "-auto-approve")
        assert answer(server.url, "ListTables", {})["TableNames"] == []
        server.stop()
