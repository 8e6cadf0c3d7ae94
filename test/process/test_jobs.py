"""Backups and restores of a real server: they survive kills, and their files any other server."""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import boto3
import botocore.config
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))
import fake_s3  # noqa: E402
import stator_process  # noqa: E402
from stator_process import Connection  # noqa: E402

ITEMS = 6000
SETTINGS = {"region_name": "us-east-1", "aws_access_key_id": "AKIATEST", "aws_secret_access_key": "secret"}


def client_of(server):
    return boto3.client("dynamodb", endpoint_url=server.url,
                        config=botocore.config.Config(retries={"max_attempts": 0}), **SETTINGS)


def start(directory, *more):
    return stator_process.StatorProcess("--data-dir", str(directory), *more)


def fill(client, name="source", count=ITEMS):
    client.create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in "pg"],
        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[{"IndexName": "index", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                                 "Projection": {"ProjectionType": "ALL"}}])
    for first in range(0, count, 25):
        client.batch_write_item(RequestItems={name: [
            {"PutRequest": {"Item": {"p": {"S": str(i)}, "g": {"S": str(i % 9)}, "x": {"S": "x" * 300}}}}
            for i in range(first, first + 25)]})


def back_up(client, name="source"):
    arn = client.create_backup(TableName=name, BackupName="backup")["BackupDetails"]["BackupArn"]
    wait_available(client, arn)
    return arn


def wait_available(client, arn):
    wait_for(lambda: client.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]["BackupStatus"] ==
             "AVAILABLE")


def wait_active(client, name):
    wait_for(lambda: client.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE")


def wait_for(check, seconds=60):
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def keys_of(client, name, **more):
    pages = client.get_paginator("scan").paginate(TableName=name, ProjectionExpression="p", **more)
    return sorted(item["p"]["S"] for page in pages for item in page["Items"])


def check(directory):
    result = stator_process.check(directory)
    assert result.returncode == 0, result.stdout + result.stderr


def test_restore_survives_kills_at_any_moment(tmp_path):
    moments = random.Random(20)
    with start(tmp_path) as server:
        client = client_of(server)
        fill(client)
        arn = back_up(client)
        expected = keys_of(client, "source")
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        time.sleep(moments.random() * 0.2)
        server.kill()
    for _ in range(4):
        with start(tmp_path) as server:
            time.sleep(moments.random() * 0.2)
            server.kill()
    with start(tmp_path) as server:
        client = client_of(server)
        wait_active(client, "restored")
        assert keys_of(client, "restored") == expected
        assert keys_of(client, "restored", IndexName="index") == expected
        assert client.describe_table(TableName="restored")["Table"]["ItemCount"] == ITEMS
        server.stop()
    check(tmp_path)


def test_backup_survives_kills_at_any_moment(tmp_path):
    moments = random.Random(21)
    with start(tmp_path) as server:
        client = client_of(server)
        fill(client)
        arn = client.create_backup(TableName="source", BackupName="backup")["BackupDetails"]["BackupArn"]
        time.sleep(moments.random() * 0.4)
        server.kill()
    for _ in range(3):
        with start(tmp_path) as server:
            time.sleep(moments.random() * 0.4)
            server.kill()
    with start(tmp_path) as server:
        client = client_of(server)
        wait_available(client, arn)
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        wait_active(client, "restored")
        assert keys_of(client, "restored") == keys_of(client, "source")
        server.stop()
    check(tmp_path)


def test_backup_of_a_table_without_recovery_is_made_after_a_kill(tmp_path):
    data, buckets = tmp_path / "data", tmp_path / "buckets"
    buckets.mkdir()
    settings = ["--buckets", str(buckets), "--backup-bucket", "vault"]
    with start(data, *settings) as server:
        client = client_of(server)
        fill(client, count=500)
        arn = client.create_backup(TableName="source", BackupName="backup")["BackupDetails"]["BackupArn"]
        server.wait_for_log("The specified bucket does not exist")
        server.kill()
    (buckets / "vault").mkdir()  # The copy begins now, long after the request.
    with start(data, *settings) as server:
        client = client_of(server)
        wait_available(client, arn)
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        wait_active(client, "restored")
        assert keys_of(client, "restored") == keys_of(client, "source")
        server.stop()
    check(data)


def test_backup_outlives_the_deletion_of_its_table(tmp_path):
    with start(tmp_path) as server:
        client = client_of(server)
        fill(client, count=2000)
        expected = keys_of(client, "source")
        arn = client.create_backup(TableName="source", BackupName="backup")["BackupDetails"]["BackupArn"]
        client.delete_item(TableName="source", Key={"p": {"S": "7"}})
        client.delete_table(TableName="source")
        wait_available(client, arn)
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        wait_active(client, "restored")
        assert keys_of(client, "restored") == expected  # As it was at the request.
        server.stop()
    check(tmp_path)


def test_damaged_backup_removes_its_target(tmp_path):
    with start(tmp_path) as server:
        client = client_of(server)
        fill(client, count=500)
        arn = back_up(client)
        data = next((tmp_path / "backups").glob("*/data-00000"))
        content = bytearray(data.read_bytes())
        content[len(content) // 2] ^= 1
        data.write_bytes(content)
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        wait_for(lambda: "restored" not in client.list_tables()["TableNames"])
        jobs = subprocess.run([stator_process.binary(), "jobs", "--all", "--endpoint", server.url],
                              capture_output=True, text=True, timeout=60)
        assert "restore  FAILED" in jobs.stdout and "BackupDamaged: the backup is damaged" in jobs.stdout
        client.create_table(TableName="restored", BillingMode="PAY_PER_REQUEST",
                            AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
                            KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}])
        server.stop()
    check(tmp_path)


def test_fresh_server_takes_over_a_folder_of_backups(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    with start(old) as server:
        client = client_of(server)
        fill(client, count=500)
        arn = back_up(client)
        expected = keys_of(client, "source")
        server.stop()
    (old / "backups" / "01700000000000-00000001").mkdir()  # One that was not completed.
    (old / "backups" / "01700000000000-00000002").mkdir()
    os.mkfifo(old / "backups" / "01700000000000-00000002" / "manifest.json")  # Nobody writes to it.
    command = [stator_process.binary(), "backups", "import", str(old / "backups"), "--data-dir", str(new)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.stdout == "1 backups imported, 0 known already, 2 not usable\n"
    assert "01700000000000-00000001: it has no manifest" in result.stderr
    assert "01700000000000-00000002: it has no manifest" in result.stderr
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.stdout == "0 backups imported, 1 known already, 2 not usable\n"
    with start(new) as server:
        client = client_of(server)
        assert [s["BackupArn"] for s in client.list_backups()["BackupSummaries"]] == [arn]
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        wait_active(client, "restored")
        assert keys_of(client, "restored") == expected
        server.stop()
    check(new)


def test_fresh_server_takes_over_backups_that_lie_in_its_own_folder(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    with start(old) as server:
        client = client_of(server)
        fill(client, count=100)
        arns = [back_up(client), back_up(client)]
        expected = keys_of(client, "source")
        server.stop()
    with start(new) as server:
        server.stop()
    ids = [arn.rsplit("/", 1)[1] for arn in arns]
    # One was copied there by hand; of the other, the files are links to the old ones.
    shutil.copytree(old / "backups" / ids[0], new / "backups" / ids[0])
    command = [stator_process.binary(), "backups", "import", str(new / "backups"), "--data-dir", str(new)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.stdout, result.stderr) == ("1 backups imported, 0 known already, 0 not usable\n", "")
    (new / "backups" / ids[1]).mkdir()
    for file in (old / "backups" / ids[1]).iterdir():
        (new / "backups" / ids[1] / file.name).hardlink_to(file)
    (old / "backups" / ids[1] / "folder").mkdir()  # Not of a backup.
    command[3] = str(old / "backups")
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.stdout, result.stderr) == ("1 backups imported, 1 known already, 0 not usable\n", "")
    with start(new) as server:
        client = client_of(server)
        assert [s["BackupArn"] for s in client.list_backups()["BackupSummaries"]] == arns
        for number, arn in enumerate(arns):
            client.restore_table_from_backup(TargetTableName=f"restored-{number}", BackupArn=arn)
            wait_active(client, f"restored-{number}")
            assert keys_of(client, f"restored-{number}") == expected
        server.stop()
    check(new)


def test_backups_can_be_stored_in_a_bucket(tmp_path):
    data, buckets = tmp_path / "data", tmp_path / "buckets"
    buckets.mkdir()
    with start(data, "--buckets", str(buckets), "--backup-bucket", "vault") as server:
        client = client_of(server)
        fill(client, count=500)
        arn = client.create_backup(TableName="source", BackupName="backup")["BackupDetails"]["BackupArn"]
        server.wait_for_log("The specified bucket does not exist")
        (buckets / "vault").mkdir()  # From now on it does.
        wait_available(client, arn)
        folder = buckets / "vault" / "stator-backups" / arn.rpartition("/")[2]
        assert sorted(file.name for file in folder.iterdir()) == ["data-00000", "manifest.json", "table.json"]
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        wait_active(client, "restored")
        assert keys_of(client, "restored") == keys_of(client, "source")
        client.delete_backup(BackupArn=arn)
        wait_for(lambda: not any(folder.parent.rglob("*-00000")))
        assert not (data / "backups").exists()
        server.stop()


@contextlib.contextmanager
def vault_of(kind, root):
    """A bucket for backups: the settings, and functions that list its keys and remove one."""
    settings = ["--backup-bucket", "vault"]
    if kind == "folder":
        vault = root / "buckets" / "vault"
        vault.mkdir(parents=True)
        yield ([*settings, "--buckets", str(root / "buckets")],
               lambda: [str(file.relative_to(vault)) for file in vault.rglob("*") if file.is_file()],
               lambda key: (vault / key).unlink())
        return
    keys = root / "keys"
    keys.write_text("[default]\n" f"aws_access_key_id = {fake_s3.ACCESS_KEY}\n"
                    f"aws_secret_access_key = {fake_s3.SECRET_KEY}\n")
    keys.chmod(0o600)
    with fake_s3.FakeS3(buckets=["vault"], page_size=2) as s3:
        yield ([*settings, "--s3-endpoint", s3.endpoint, "--s3-key-file", str(keys),
                "--s3-region", fake_s3.REGION],
               lambda: list(s3.objects["vault"]), s3.objects["vault"].pop)


@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_fresh_server_takes_over_the_backups_of_a_bucket(kind, tmp_path):
    new = tmp_path / "new"
    with vault_of(kind, tmp_path) as (settings, keys, remove):
        with start(tmp_path / "old", *settings) as server:
            client = client_of(server)
            fill(client, count=500)
            arns = [back_up(client) for _ in range(3)]
            expected = keys_of(client, "source")
            server.stop()
        incomplete = arns.pop().rpartition("/")[2]
        remove(f"stator-backups/{incomplete}/manifest.json")
        before = sorted(keys())
        command = [stator_process.binary(), "backups", "import", "--data-dir", str(new), *settings]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert result.stdout == "2 backups imported, 0 known already, 1 not usable\n", result.stderr
        assert f"{incomplete}: it has no manifest" in result.stderr
        remove(f"stator-backups/{incomplete}/table.json")
        remove(f"stator-backups/{incomplete}/data-00000")
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (result.stdout, result.returncode) == ("0 backups imported, 2 known already, 0 not usable\n", 0)
        assert sorted(keys()) == [key for key in before if incomplete not in key]
        with start(new, *settings) as server:
            client = client_of(server)
            assert [s["BackupArn"] for s in client.list_backups()["BackupSummaries"]] == arns
            client.restore_table_from_backup(TargetTableName="restored", BackupArn=arns[1])
            wait_active(client, "restored")
            assert keys_of(client, "restored") == expected
            server.stop()
        check(new)


def test_backups_are_not_copied_to_where_no_server_looks_for_them(tmp_path):
    command = [stator_process.binary(), "backups", "import", "--data-dir", str(tmp_path / "new")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (
        2, "stator: backups import: name a folder, or set backup-bucket\n")
    command += [str(tmp_path), "--buckets", str(tmp_path), "--backup-bucket", "vault"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "the server looks for backups in that bucket" in result.stderr
    command.remove(str(tmp_path))
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert "stator: vault: The specified bucket does not exist" in result.stderr


def enable_recovery(client, name):
    client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification={
        "PointInTimeRecoveryEnabled": True})


def restore(client, source, target, **moment):
    client.restore_table_to_point_in_time(SourceTableName=source, TargetTableName=target, **moment)


def balances(client, name):
    return {item["p"]["S"]: int(item["n"]["N"]) for page in
            client.get_paginator("scan").paginate(TableName=name) for item in page["Items"]}


def test_pair_of_tables_restored_to_one_moment_has_whole_transfers(tmp_path):
    """Money moves between two tables by transactions: no pair of restored tables has more or less."""
    accounts, total = 10, 2 * 10 * 100
    random_moves = random.Random(22)
    with start(tmp_path) as server:
        client = client_of(server)
        for name in ("left", "right"):
            client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST",
                                AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
                                KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}])
            for i in range(accounts):
                client.put_item(TableName=name, Item={"p": {"S": str(i)}, "n": {"N": "100"}})
            enable_recovery(client, name)
        wait_for(lambda: all("EarliestRestorableDateTime" in client.describe_continuous_backups(TableName=name)[
            "ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"] for name in ("left", "right")))
        time.sleep(1.1)
        moments = []
        for i in range(300):
            tables = ["left", "right"]
            random_moves.shuffle(tables)
            client.transact_write_items(TransactItems=[
                {"Update": {"TableName": table, "Key": {"p": {"S": str(random_moves.randrange(accounts))}},
                            "UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": amount}}}}
                for table, amount in zip(tables, ("5", "-5"))])
            if i % 75 == 40:
                moments.append(time.time())
                time.sleep(1.1)  # boto3 sends whole seconds.
        seen = []
        for number, moment in enumerate(moments):
            for name in ("left", "right"):
                restore(client, name, f"{name}{number}", RestoreDateTime=moment)
            for name in ("left", "right"):
                wait_active(client, f"{name}{number}")
            left, right = balances(client, f"left{number}"), balances(client, f"right{number}")
            assert sum(left.values()) + sum(right.values()) == total
            seen.append((left, right))
        assert any(a != b for a, b in zip(seen, seen[1:]))
        restore(client, "left", "latest", UseLatestRestorableTime=True)
        wait_active(client, "latest")
        assert balances(client, "latest") == balances(client, "left")
        server.stop()
    check(tmp_path)


def list_jobs(server, request):
    status, answer = stator_process.Connection(server.port).call("ListJobs", request)
    assert status == 200, answer
    return answer["Jobs"]


def test_jobs_are_listed_waited_for_and_counted(tmp_path):
    with start(tmp_path) as server:
        client = client_of(server)
        fill(client, count=500)
        arn = back_up(client)
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        run = [stator_process.binary(), "jobs", "--endpoint", server.url]
        assert subprocess.run(run + ["--wait"], timeout=60).returncode == 0
        assert client.describe_table(TableName="restored")["Table"]["TableStatus"] == "ACTIVE"
        assert subprocess.run(run, capture_output=True, text=True, timeout=60).stdout == ""
        listed = json.loads(subprocess.run(run + ["--all", "--json"], capture_output=True, timeout=60).stdout)
        assert sorted((job["Kind"], job["Status"], job["ItemsDone"]) for job in listed["Jobs"]) == [
            ("backup", "COMPLETED", 500), ("restore", "COMPLETED", 500)]
        for request, kinds in [({"TableName": "restored"}, ["restore"]), ({"TableName": "source"}, ["backup"]),
                               ({"Kind": "backup"}, ["backup"]), ({"Kind": "backup", "TableName": "restored"}, [])]:
            assert [job["Kind"] for job in list_jobs(server, request)] == kinds
        with urllib.request.urlopen(server.url + "/metrics", timeout=30) as answer:
            page = answer.read().decode()
        assert 'stator_jobs_ended_total{kind="backup",status="completed"} 1' in page
        assert 'stator_jobs_active{kind="restore"} 0' in page
        server.stop()


def test_deleted_backups_that_wait_for_their_folder_keep_no_other_from_being_made(tmp_path):
    """As many as may be made at a time."""
    count = 300
    with start(tmp_path) as server:
        client = client_of(server)
        fill(client, count=25)
        arns = [back_up(client)]
        arns += [client.create_backup(TableName="source", BackupName="backup")["BackupDetails"]["BackupArn"]
                 for _ in range(count - 1)]
        for arn in arns:
            wait_available(client, arn)
        (tmp_path / "backups").rename(tmp_path / "aside")
        (tmp_path / "backups").touch()
        for arn in arns:
            client.delete_backup(BackupArn=arn)
        made = client.create_backup(TableName="source", BackupName="another")["BackupDetails"]["BackupArn"]
        assert [b["BackupArn"] for b in client.list_backups()["BackupSummaries"]] == [made]
        (tmp_path / "backups").unlink()
        (tmp_path / "aside").rename(tmp_path / "backups")
        server.kill()  # The next one tries all of them at once.
    with start(tmp_path) as server:
        wait_available(client_of(server), made)
        wait_for(lambda: {path.parent.name for path in (tmp_path / "backups").glob("*/*")} == {made.rsplit("/", 1)[1]})
        server.stop()
    check(tmp_path)


def recover(server, *words):
    return subprocess.run([stator_process.binary(), "recover", *words, "--endpoint", server.url],
                          capture_output=True, text=True, timeout=60, check=False)


def test_a_command_recovers_a_table(tmp_path):
    """To a moment, from a backup, and one that was deleted."""
    with start(tmp_path) as server:
        client = client_of(server)
        fill(client, count=100)
        client.update_continuous_backups(TableName="source",
                                         PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        time.sleep(1.1)
        before = time.time()
        client.delete_item(TableName="source", Key={"p": {"S": "7"}})
        done = recover(server, "source", "--to", f"{before:.3f}", "--as", "earlier")
        assert (done.returncode, done.stderr) == (0, ""), done
        assert done.stdout.startswith("earlier: 100 items in ")
        assert len(keys_of(client, "earlier")) == 100
        assert recover(server, "source").stdout.startswith("source-recovered: 99 items in ")
        arn = back_up(client)
        assert recover(server, "source", "--backup", arn, "--as", "copy").stdout.startswith("copy: 99 items")
        client.delete_table(TableName="source")
        client.get_waiter("table_not_exists").wait(TableName="source")
        assert recover(server, "source", "--deleted").stdout.startswith("source: 99 items in ")
        assert keys_of(client, "source") == keys_of(client, "source-recovered")
        for words, code, text in [
            (["source", "--to", "yesterday"], 2, "to: expected a time such as "),
            (["source", "--to", "1", "--deleted"], 2, "recover: give one of --to, --backup and --deleted"),
            (["nothing", "--deleted"], 1, "nothing: no deleted table of that name had recovery"),
            (["nothing"], 1, "Table not found: nothing"),
            (["source", "--deleted"], 1, "Table already exists: source"),
        ]:
            done = recover(server, *words)
            assert (done.returncode, done.stdout) == (code, "") and text in done.stderr, done
        server.stop()


class ManyRestores(http.server.BaseHTTPRequestHandler):
    """A server whose newest hundred restores are of other tables."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        jobs = [{"JobId": f"{i:014}-00000001", "Kind": "restore", "Status": "COMPLETED", "ItemsDone": 3,
                 "TableName": "earlier" if i == 0 else f"other{i}"} for i in reversed(range(101))]
        jobs = [job for job in jobs if job["TableName"] == request.get("TableName", job["TableName"])]
        answer = json.dumps({"Jobs": jobs[:request.get("MaxResults", 20)]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def test_a_command_finds_its_restore_behind_a_hundred_newer_ones():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), ManyRestores) as server:
        server.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = recover(server, "source", "--as", "earlier")
        server.shutdown()
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("earlier: 3 items"), done


def test_server_stops_while_its_buckets_cannot_be_reached(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("[default]\naws_access_key_id = a\naws_secret_access_key = b\n")
    keys.chmod(0o600)
    with socket.socket() as nobody:  # Bound, so that nobody else is there, and not listening.
        nobody.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        settings = ["--s3-endpoint", endpoint, "--s3-key-file", str(keys), "--backup-bucket", "vault"]
        with start(tmp_path / "data", *settings) as server:
            client = client_of(server)
            fill(client, count=25)
            client.create_backup(TableName="source", BackupName="backup")
            client.import_table(
                S3BucketSource={"S3Bucket": "objects"}, InputFormat="DYNAMODB_JSON",
                TableCreationParameters={
                    "TableName": "imported", "BillingMode": "PAY_PER_REQUEST",
                    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
                    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}]})
            time.sleep(0.5)  # Both are trying by now; without it the test says less.
            begun = time.monotonic()
            server.stop()
            assert time.monotonic() - begun < 30  # Not the minutes of s3-retry-ms.
        check(tmp_path / "data")


@contextlib.contextmanager
def server_with_s3(directory, s3, *settings):
    keys = directory / "keys"
    s3.write_key_file(keys)
    with start(directory / "data", "--s3-endpoint", s3.endpoint, "--s3-key-file", str(keys),
               "--s3-region", fake_s3.REGION, *settings) as server:
        yield server


def count_requests(s3, method, text):
    with s3.lock:
        return sum(request.startswith(method) and text in request for request in s3.requests)


def test_backup_that_is_copied_again_is_of_the_moment_that_it_shows(tmp_path):
    with fake_s3.FakeS3(buckets=["vault"]) as s3:
        with server_with_s3(tmp_path, s3, "--backup-bucket", "vault", "--s3-retry-ms", "100") as server:
            client = client_of(server)
            fill(client, count=500)
            expected = keys_of(client, "source")
            s3.fail("slow-down", times=10**6, method="PUT")
            arn = client.create_backup(TableName="source", BackupName="backup")["BackupDetails"]["BackupArn"]
            # The third failure: the second copy has begun, and so has its history.
            server.wait_for_log(f"backup {arn.rpartition('/')[2]}: ", count=3)
            client.put_item(TableName="source", Item={"p": {"S": "later"}})
            written = time.time()
            s3.heal()
            wait_available(client, arn)
            details = client.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]
            asked = int(arn.rpartition("/")[2][:14]) / 1000
            assert asked <= details["BackupCreationDateTime"].timestamp() < written
            client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
            wait_active(client, "restored")
            assert keys_of(client, "restored") == expected
            server.stop()


def test_bucket_that_refuses_to_list_uploads_keeps_backups(tmp_path):
    with fake_s3.FakeS3(buckets=["vault"]) as s3:
        s3.fail("denied", times=10**6, method="GET", contains="uploads")
        with server_with_s3(tmp_path, s3, "--backup-bucket", "vault") as server:
            client = client_of(server)
            fill(client, count=50)
            arn = back_up(client)
            client.delete_backup(BackupArn=arn)
            wait_for(lambda: not s3.objects["vault"])
            server.stop()


def test_change_of_a_table_does_not_wait_for_the_bucket_of_a_bulk_operation(tmp_path):
    line = json.dumps({"Item": {"p": {"S": "%d"}, "g": {"S": "1"}, "x": {"S": "x" * 2000}}}) + "\n"
    content = "".join(line.replace("%d", str(i)) for i in range(2500)).encode()
    assert len(content) > 4 * 1024 * 1024  # More than one piece.
    with fake_s3.FakeS3(buckets=["objects"]) as s3:
        s3.objects["objects"]["items/1"] = fake_s3.Object(content, hashlib.md5(content).hexdigest())
        s3.fail("slow", times=10**6, method="GET", contains="items/1", skip=1, seconds=120)
        with server_with_s3(tmp_path, s3) as server:
            client = client_of(server)
            client.create_table(
                TableName="table", BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}])
            connection = Connection(server.port)
            status, answer = connection.call("StartBulkPutItems", {
                "TableName": "table",
                "InputS3Configuration": {"S3Bucket": "objects", "S3KeyPrefix": "items/",
                                         "InputFormat": "DYNAMODB_JSON"},
                "OutputS3Configuration": {"S3Bucket": "objects", "OutputType": ["ERROR"]}})
            assert status == 200, answer
            wait_for(lambda: count_requests(s3, "GET", "items/1") >= 2)
            client.update_table(
                TableName="table", AttributeDefinitions=[{"AttributeName": "g", "AttributeType": "S"}],
                GlobalSecondaryIndexUpdates=[{"Create": {
                    "IndexName": "index", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "KEYS_ONLY"}}}])
            wait_for(lambda: client.describe_table(TableName="table")["Table"]["GlobalSecondaryIndexes"][0]
                     ["IndexStatus"] == "ACTIVE")
            arn = answer["BulkOperationDescription"]["BulkOperationArn"]
            status, answer = connection.call("DescribeBulkOperation", {"BulkOperationArn": arn})
            assert answer["BulkOperationDescription"]["BulkOperationStatus"] == "IN_PROGRESS", answer
            connection.close()
            server.stop()
