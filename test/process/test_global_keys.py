"""Servers that replicate by TLS, with a key whose policy allows that and nothing else; and what they
refuse with any other key."""

import os
import shutil
import socket
import threading
import time

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from global_tables import create_table
from stator_process import Certificate, Keys, StatorProcess

HOME, AWAY = "eu-west-1", "us-east-1"
REPLICATION = {
    "Effect": "Allow",
    "Action": ["stator:ReplicateSettings", "stator:WriteDataForReplication"],
    "Resource": "*",
}
EVERYTHING = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}


class Pipe:
    """A port that is known before the server behind it, to which it passes on what it gets."""

    def __init__(self):
        self.target = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            if self.target is None:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.target))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=pair, daemon=True).start()

    @staticmethod
    def _copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self._listener.close()


class Pair:
    """Two servers with TLS and `auth`, with the same access keys."""

    def __init__(self, folder, *statements):
        self.folder, self.certificate = folder, Certificate(folder)
        self.keys = Keys(folder, master_key=os.urandom(32).hex())
        self.client_key = self.keys.create("client", EVERYTHING)
        key_id, secret = self.keys.create("replication", *statements)
        self.key_file = folder / "replication"
        self.key_file.touch(0o600)
        self.key_file.write_text(f"aws_access_key_id = {key_id}\naws_secret_access_key = {secret}\n")
        self.replication_key = key_id
        self.pipes = {region: Pipe() for region in (HOME, AWAY)}
        self.servers = {}

    def __enter__(self):
        for region, other in ((HOME, AWAY), (AWAY, HOME)):
            data = self.folder / region
            data.mkdir()
            shutil.copy(self.folder / "data" / "KEYS", data)
            server = StatorProcess(
                "--region", region, "--region-peers", f"{other} {self.pipes[other].url}",
                *self.keys.flags[2:], "--data-dir", str(data), "--auth",
                *self.certificate.flags, "--outbound-ca-file", str(self.certificate.cert),
                "--replication-key-file", str(self.key_file),
            )  # fmt: skip
            self.servers[region] = server
            self.pipes[region].target = server.port
        return self

    def __exit__(self, *_):
        for server in self.servers.values():
            server.kill()
        for pipe in self.pipes.values():
            pipe.close()

    def client(self, region):
        return boto3.client(
            "dynamodb",
            endpoint_url=self.servers[region].url,
            region_name=region,
            aws_access_key_id=self.client_key[0],
            aws_secret_access_key=self.client_key[1],
            verify=str(self.certificate.cert),
            config=Config(retries={"total_max_attempts": 1}, read_timeout=60),
        )

    def add_replica(self):
        create_table(self.client(HOME))
        updates = [{"Create": {"RegionName": AWAY}}]
        self.client(HOME).update_table(TableName="Tab", ReplicaUpdates=updates)


def wait_for_item(dynamodb, key):
    deadline = time.monotonic() + 60
    while True:
        try:
            if "Item" in dynamodb.get_item(TableName="Tab", Key={"p": {"S": key}}):
                return
        except dynamodb.exceptions.ResourceNotFoundException:
            pass  # It is CREATING.
        assert time.monotonic() < deadline, key
        time.sleep(0.05)


def test_a_key_that_may_replicate_is_enough(tmp_path):
    with Pair(tmp_path, REPLICATION) as pair:
        pair.add_replica()
        pair.client(HOME).put_item(TableName="Tab", Item={"p": {"S": "a"}})
        wait_for_item(pair.client(AWAY), "a")
        pair.client(AWAY).put_item(TableName="Tab", Item={"p": {"S": "b"}})
        wait_for_item(pair.client(HOME), "b")


@pytest.mark.parametrize("statement", [EVERYTHING, {**REPLICATION, "Resource": "arn:aws:s3:::x"}])
def test_no_other_key_makes_a_replica(tmp_path, statement):
    with Pair(tmp_path, statement) as pair:
        with pytest.raises(ClientError, match="does not admit this server's key"):
            pair.add_replica()
        assert pair.client(AWAY).list_tables()["TableNames"] == []
        table = pair.client(HOME).describe_table(TableName="Tab")["Table"]
        assert "Replicas" not in table


def test_rows_wait_while_the_key_may_not_send_them(tmp_path):
    with Pair(tmp_path, REPLICATION) as pair:
        pair.add_replica()
        pair.client(HOME).put_item(TableName="Tab", Item={"p": {"S": "a"}})
        wait_for_item(pair.client(AWAY), "a")
        settings = {**REPLICATION, "Action": "stator:ReplicateSettings"}
        pair.keys.flags[1] = str(tmp_path / AWAY)  # The keys of the receiver.
        pair.keys.put_policy(pair.replication_key, settings)
        time.sleep(1.5)  # Keys are read again each second.
        pair.client(HOME).put_item(TableName="Tab", Item={"p": {"S": "b"}})
        pair.servers[HOME].wait_for_log("AccessDeniedException")
        found = pair.client(AWAY).get_item(TableName="Tab", Key={"p": {"S": "b"}})
        assert "Item" not in found
        pair.keys.put_policy(pair.replication_key, REPLICATION)
        wait_for_item(pair.client(AWAY), "b")
