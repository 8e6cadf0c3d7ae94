"""Restores, exports, imports, backups and bulk operations, when the power fails or a disk is full.

Each job works on a small table or on a few objects. Store and buckets are one disk. The server ends
at some call of some thread; from the journal of all that it did come several states that the disk
may then be in (test_power_cut.py). Each must be a whole store. A job whose request was answered is
known to the next server, which finishes it, exactly: no item is missing, none is there twice, no
condition was evaluated a second time, and what is in a bucket agrees with its manifest.

On a full disk a job waits, or it fails with the service's code if the bucket is full, and nothing is
lost: once there is room, the next server finishes it.

CRASH_ROUNDS is the number of servers of each kind of job, with CRASH_STATES states each.
"""

import contextlib
import gzip
import http.client
import json
import os
import random
import shutil
import time

import crash_run
import export_reader
import power_cut
import pytest
import stator_process
from fast_client import FastClient, ServerGone
from stator_process import StatorProcess
from test_power_cut import Cut

ITEMS = 1500
ROUNDS, ROUNDS_LONG = 1, 40
STATES = 2
END_MAX_S = 60
GONE = (OSError, ServerGone, http.client.HTTPException)
# Loaded before the server, which ASan does not allow.
PROGRAM = stator_process.binary("STATOR_RELEASE_BINARY", "build/stator", "build/release/stator")


def item(number):
    return {"p": {"S": f"item-{number}"}, "g": {"S": f"g{number % 7}"}, "x": {"S": "x" * 200}}


def table(name):
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in "pg"],
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "index",
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    }


def ask(client, operation, **body):
    status, answer = client.call(operation, body)
    assert status == 200, (operation, answer)
    return answer


def wait_for(found):
    deadline = time.monotonic() + END_MAX_S
    while not (result := found()):
        assert time.monotonic() < deadline, "the job does not end"
        time.sleep(0.02)
    return result


def keys(client, name, **more):
    found, page = [], {}
    while True:
        answer = ask(client, "Scan", TableName=name, ProjectionExpression="p", **more, **page)
        found += [entry["p"]["S"] for entry in answer["Items"]]
        if "LastEvaluatedKey" not in answer:
            return found
        page = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def assert_whole_table(client, name):
    want = sorted(item(number)["p"]["S"] for number in range(ITEMS))
    assert sorted(keys(client, name)) == want
    assert sorted(keys(client, name, IndexName="index")) == want
    assert ask(client, "DescribeTable", TableName=name)["Table"]["ItemCount"] == ITEMS


def is_active(client, name):
    return ask(client, "DescribeTable", TableName=name)["Table"]["TableStatus"] == "ACTIVE"


# --- The kinds of jobs ---


class Restore:
    def begin(self, client):
        target = {"SourceTableName": "source", "TargetTableName": "restored"}
        ask(client, "RestoreTableToPointInTime", UseLatestRestorableTime=True, **target)

    def is_known(self, client):
        return "restored" in ask(client, "ListTables")["TableNames"]

    def wait(self, client):
        wait_for(lambda: is_active(client, "restored"))

    def verify(self, client, _root):
        assert_whole_table(client, "restored")


class Backup:
    def begin(self, client):
        ask(client, "CreateBackup", TableName="source", BackupName="backup")

    def listed(self, client):
        return ask(client, "ListBackups")["BackupSummaries"]

    def is_known(self, client):
        return bool(self.listed(client))

    def wait(self, client):
        wait_for(lambda: [b["BackupStatus"] for b in self.listed(client)] == ["AVAILABLE"])

    def verify(self, client, _root):
        arn = self.listed(client)[0]["BackupArn"]
        ask(client, "RestoreTableFromBackup", BackupArn=arn, TargetTableName="restored")
        wait_for(lambda: is_active(client, "restored"))
        assert_whole_table(client, "restored")


class Listed:
    """A job that its own operations list and describe."""

    list_operation = list_name = arn_name = status_name = describe_operation = describe_name = ""
    statuses = ("COMPLETED",)

    def describe(self, client):
        summaries = ask(client, self.list_operation)[self.list_name]
        assert len(summaries) <= 1
        if not summaries:
            return None
        arn = summaries[0][self.arn_name]
        return ask(client, self.describe_operation, **{self.arn_name: arn})[self.describe_name]

    def is_known(self, client):
        return self.describe(client) is not None

    def wait(self, client):
        answer = wait_for(
            lambda: (found := self.describe(client))[self.status_name] != "IN_PROGRESS" and found
        )
        assert answer[self.status_name] in self.statuses, answer


class Export(Listed):
    list_operation, list_name, arn_name = "ListExports", "ExportSummaries", "ExportArn"
    describe_operation, describe_name = "DescribeExport", "ExportDescription"
    status_name = "ExportStatus"

    def begin(self, client):
        arn = ask(client, "DescribeTable", TableName="source")["Table"]["TableArn"]
        ask(client, "ExportTableToPointInTime", TableArn=arn, S3Bucket="out", ClientToken="token")

    def verify(self, client, root):
        bucket = export_reader.Folder(root / "buckets/out")
        lines = export_reader.read(bucket, self.describe(client))
        found = sorted(line["Item"]["p"]["S"] for line in lines)
        assert found == sorted(item(number)["p"]["S"] for number in range(ITEMS))


class Import(Listed):
    list_operation, list_name, arn_name = "ListImports", "ImportSummaryList", "ImportArn"
    describe_operation, describe_name = "DescribeImport", "ImportTableDescription"
    status_name = "ImportStatus"

    def begin(self, client):
        ask(
            client,
            "ImportTable",
            ClientToken="token",
            S3BucketSource={"S3Bucket": "in"},
            InputFormat="DYNAMODB_JSON",
            InputCompressionType="GZIP",
            TableCreationParameters=table("imported"),
        )

    def verify(self, client, _root):
        answer = self.describe(client)
        assert (answer["ProcessedItemCount"], answer["ImportedItemCount"]) == (ITEMS, ITEMS)
        assert_whole_table(client, "imported")


class Bulk(Listed):
    list_operation, list_name = "ListBulkOperations", "BulkOperationsSummaryList"
    arn_name, status_name = "BulkOperationArn", "BulkOperationStatus"
    describe_operation, describe_name = "DescribeBulkOperation", "BulkOperationDescription"

    def begin(self, client):
        ask(
            client,
            "StartBulkPutItems",
            TableName="target",
            ClientToken="token",
            InputS3Configuration={
                "S3Bucket": "in",
                "InputFormat": "DYNAMODB_JSON",
                "InputCompressionType": "GZIP",
            },
            OutputS3Configuration={
                "S3Bucket": "out",
                "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
            },
        )

    def verify(self, client, root):
        answer = self.describe(client)
        assert (answer["ProcessedItemCount"], answer["FailedItemCount"]) == (ITEMS, 0)
        sizes = sum(len(n) + len(v["S"]) for i in range(ITEMS) for n, v in item(i).items())
        assert answer["BulkOperationUsage"][0]["Table"]["BulkPutBytes"] == sizes
        assert_whole_table(client, "target")
        folder = root / "buckets/out/AWSDynamoDB" / answer["BulkOperationArn"].rsplit("/", 1)[1]
        assert (folder / "condition-check-failure.json").read_text() == ""
        assert json.loads((folder / "manifest.json").read_text())["processedItemCount"] == ITEMS


KINDS = {"restore": Restore, "backup": Backup, "export": Export, "import": Import, "bulk": Bulk}


# --- Stores ---


def start(root, variables=None):
    flags = ["--data-dir", str(root / "data"), "--buckets", str(root / "buckets")]
    return StatorProcess(*flags, program=PROGRAM, variables=variables)


@contextlib.contextmanager
def connected(server):
    client = FastClient(server.port)
    try:
        yield client
    finally:
        client.close()


@pytest.fixture(scope="module", name="base")
def fixture_base(tmp_path_factory):
    """A store with the table `source`, which has recovery, the empty one `target`, and objects."""
    root = tmp_path_factory.mktemp("jobs") / "root"
    for bucket in ("in", "out"):
        (root / "buckets" / bucket).mkdir(parents=True)
    for part in range(3):
        lines = [
            json.dumps({"Item": item(number), "ConditionExpression": "attribute_not_exists(p)"})
            for number in range(part, ITEMS, 3)
        ]
        text = "".join(line + "\n" for line in lines).encode()
        (root / f"buckets/in/part-{part}").write_bytes(gzip.compress(text))
    with start(root) as server, connected(server) as client:
        for name in ("source", "target"):
            ask(client, "CreateTable", **table(name))
        recovery = {"PointInTimeRecoveryEnabled": True}
        ask(
            client,
            "UpdateContinuousBackups",
            TableName="source",
            PointInTimeRecoverySpecification=recovery,
        )
        for first in range(0, ITEMS, 25):
            puts = [{"PutRequest": {"Item": item(n)}} for n in range(first, first + 25)]
            ask(client, "BatchWriteItem", RequestItems={"source": puts})
        server.stop()
    return root


def begin(job, server):
    """Whether the job's request was answered. The server may end meanwhile."""
    try:
        with connected(server) as client:
            if not job.is_known(client):
                job.begin(client)
        return True
    except GONE:
        return False


def wait_for_death(job, server):
    """Kills the server where the job ends without the call that was to."""
    with contextlib.suppress(*GONE), connected(server) as client:
        job.wait(client)
    server.kill()


def finish(job, root, must_be_known):
    crash_run.assert_whole(root / "data")
    with start(root) as server, connected(server) as client:
        known = job.is_known(client)
        assert known or not must_be_known, "the job was answered, and is not known"
        if not known:
            job.begin(client)
        job.wait(client)
        job.verify(client, root)
        server.stop()
    crash_run.assert_whole(root / "data")


# --- Power cuts ---


def write_state(cut, root):
    """Objects that nobody writes stay the same files: a job that reads one notices a copy."""
    aside = root.parent / "in"
    (root / "buckets/in").rename(aside)
    what = cut.write(root)
    shutil.rmtree(root / "buckets/in")
    aside.rename(root / "buckets/in")
    return what


def some_point(choices):
    """Of the log of the store, or of whatever the job's thread does itself."""
    when, call = choices.choice(("before", "after")), choices.choice(("write", "sync"))
    if choices.random() < 0.5:
        return f"{when}/{call}/*.log/*/{choices.randint(1, 40)}"
    call = choices.choice(("write", "sync", "rename", "mkdir", "unlink"))
    return f"{when}/{call}/*/stator:jobs/{choices.randint(1, 8)}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_survives_a_power_cut(kind, base, tmp_path):
    choices = random.Random(f"{crash_run.seeded()} {kind}")
    job, deaths = KINDS[kind](), 0
    for number in crash_run.rounds(ROUNDS, ROUNDS_LONG):
        root, journal = tmp_path / f"root-{number}", tmp_path / f"journal-{number}"
        shutil.copytree(base, root, ignore=shutil.ignore_patterns("*.sock"))
        disk = power_cut.Disk(root)
        point = some_point(choices)
        with start(root, power_cut.variables(root, journal=journal, kill=point)) as server:
            answered = begin(job, server)
            deaths += answered
            wait_for_death(job, server)
        cut = Cut(disk, journal, choices)
        for _ in range(int(os.environ.get("CRASH_STATES", STATES))):
            what = write_state(cut, root)
            try:
                finish(job, root, answered)
            except BaseException as error:
                raise AssertionError(f"at {point}, {what}: {error}") from error
        shutil.rmtree(root)
    print(f"{deaths} of {len(crash_run.rounds(ROUNDS, ROUNDS_LONG))} requests were answered")


# --- Full disks ---


def full(folder, report, nth):
    return {
        "LD_PRELOAD": stator_process.preload("failing_calls"),
        "FAILING_CALLS_UNDER": str(folder),
        "FAILING_CALLS_KIND": "write",
        "FAILING_CALLS_HOW": "ENOSPC",
        "FAILING_CALLS_NTH": str(nth),
        "FAILING_CALLS_STAYING": "1",
        "FAILING_CALLS_REPORT": str(report),
    }


@pytest.fixture(scope="module", name="start_writes")
def fixture_start_writes(base, tmp_path_factory):
    """About how many writes a server makes before it is ready."""
    folder = tmp_path_factory.mktemp("starts")
    for count in range(10, 1000, 10):
        root = folder / str(count)
        shutil.copytree(base, root, ignore=shutil.ignore_patterns("*.sock"))
        with contextlib.suppress(stator_process.DidNotStart):
            with start(root, full(root / "data", folder / "report", count)):
                return count
    raise AssertionError("the server does not start")


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_goes_on_once_the_disk_has_room(kind, base, start_writes, tmp_path):
    """The store's, and with it that of its backups."""
    job, root = KINDS[kind](), tmp_path / "root"
    choices = random.Random(f"{crash_run.seeded()} {kind}")
    for _ in crash_run.rounds(ROUNDS, ROUNDS_LONG):
        nth = start_writes + choices.choice((2, 7, 12, 20))
        shutil.copytree(base, root, ignore=shutil.ignore_patterns("*.sock"))
        report = tmp_path / "report"
        report.unlink(missing_ok=True)
        with start(root, full(root / "data", report, nth)) as server:
            try:
                answered = begin(job, server)
            except AssertionError:  # The request itself was refused.
                answered = False
            deadline = time.monotonic() + 2
            while not report.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(0.3)  # The job meets it, and waits.
            server.kill()
        finish(job, root, answered)
        shutil.rmtree(root)


@pytest.mark.parametrize("kind", ["export", "bulk"])
def test_a_full_bucket_fails_the_job(kind, base, tmp_path):
    job, root = KINDS[kind](), tmp_path / "root"
    shutil.copytree(base, root, ignore=shutil.ignore_patterns("*.sock"))
    variables = full(root / "buckets/out", tmp_path / "report", 1)
    with start(root, variables) as server, connected(server) as client:
        job.begin(client)
        with pytest.raises(AssertionError):
            job.wait(client)
        answer = job.describe(client)
        assert (answer[job.status_name], answer["FailureCode"]) == ("FAILED", "S3NoSpace")
        assert ask(client, "DescribeTable", TableName="source")["Table"]["ItemCount"] == ITEMS
        server.stop()
    manifests = [path.name for path in (root / "buckets/out").rglob("*manifest*")]
    assert manifests == []
    crash_run.assert_whole(root / "data")
