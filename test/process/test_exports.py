"""Exports: the algebra of full and incremental ones in both formats, folders and S3 servers, tokens,
filters, failures of buckets, and a server that is killed at every request to its bucket."""

import contextlib
import csv
import gzip
import json
import os
import pty
import random
import subprocess
import time

import boto3
import export_reader
import pytest
from botocore.config import Config
from fake_s3 import FakeS3
from moving_clock import MovingClock
from stator_process import Connection, StatorProcess, binary

PATIENCE_S = 60


class Refused(Exception):
    """An exception of the server: its code and its message."""

    def __init__(self, answer):
        super().__init__(answer)
        self.code, self.message = answer["__type"].split("#")[1], answer.get("message")


class World:
    """A server with a table, a bucket, and a clock that a test moves."""

    def __init__(self, path, kind="folder"):
        self.path = path
        self.clock = MovingClock(path / "clock")
        self.s3 = None
        self.flags = ["--data-dir", str(path / "data")]
        if kind == "folder":
            (path / "buckets" / "bucket").mkdir(parents=True)
            self.flags += ["--buckets", str(path / "buckets")]
            self.bucket = export_reader.Folder(path / "buckets" / "bucket")
        else:
            self.s3 = FakeS3(buckets=["bucket"])
            self.s3.now = self.clock.now
            self.s3.write_key_file(path / "keys")
            self.flags += ["--s3-endpoint", self.s3.endpoint, "--s3-key-file", str(path / "keys")]
            self.flags += ["--s3-retry-ms", "3000"]
            self.bucket = export_reader.Fake(self.s3, "bucket")
        self.server = None
        self.start()

    def start(self):
        # The sanitizers' server cannot be given another clock: its runtime must be loaded first.
        program = binary("STATOR_RELEASE_BINARY", "build/stator")
        self.server = StatorProcess(*self.flags, program=program, variables=self.clock.variables())
        self.db = boto3.client(
            "dynamodb",
            endpoint_url=self.server.url,
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            config=Config(retries={"max_attempts": 0}),
        )

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.server.__exit__(*details)
        if self.s3 is not None:
            self.s3.close()

    def create_table(self, name="Tab"):
        self.db.create_table(
            TableName=name,
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "N"},
            ],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by-number",
                    "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        self.db.update_continuous_backups(
            TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        self.arn = self.db.describe_table(TableName=name)["Table"]["TableArn"]
        # The history begins when no write is under way that does not know it.
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.wait(self.start_export())
                return
            except Refused as refused:
                assert refused.code == "InvalidExportTimeException", refused
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def call(self, operation, **body):
        """By a raw request: SDKs that are older than a parameter refuse it."""
        connection = Connection(self.server.port)
        status, answer = connection.call(operation, body)
        connection.close()
        if status != 200:
            raise Refused(answer)
        return answer

    def start_export(self, **more):
        parameters = {"TableArn": self.arn, "S3Bucket": "bucket", **more}
        return self.call("ExportTableToPointInTime", **parameters)["ExportDescription"]

    def wait(self, description):
        deadline = time.monotonic() + PATIENCE_S
        while description["ExportStatus"] == "IN_PROGRESS":
            assert time.monotonic() < deadline, self.server.log()
            time.sleep(0.02)
            arn = description["ExportArn"]
            description = self.call("DescribeExport", ExportArn=arn)["ExportDescription"]
        return description

    def export(self, **more):
        description = self.wait(self.start_export(**more))
        assert description["ExportStatus"] == "COMPLETED", description
        return description

    def full(self, **more):
        return export_reader.state(export_reader.read(self.bucket, self.export(**more)))

    def increment(self, first, last, **more):
        specification = {"ExportFromTime": first, "ExportToTime": last, **more.pop("spec", {})}
        description = self.export(
            ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=specification, **more
        )
        return export_reader.read(self.bucket, description)

    def scan(self, name="Tab"):
        """What the table has, in the form of exports."""
        pages = self.db.get_paginator("scan").paginate(TableName=name)
        items = [plain(item) for page in pages for item in page["Items"]]
        return {export_reader.key_of(item): item for item in items}


def plain(value):
    """boto3's bytes as base64, as exports have them."""
    import base64

    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: plain(element) for name, element in value.items()}
    if isinstance(value, list):
        return [plain(element) for element in value]
    return value


def some_item(rng, number):
    item = {"pk": {"S": f"p{number % 7}"}, "sk": {"N": str(number)}}
    values = [
        {"S": 'text "quoted" \u20ac\n'},
        {"N": rng.choice(["0", "-1.5", "600", "0.0000012", "1234567890123456789", "1E+30"])},
        {"B": bytes(range(rng.randrange(1, 20)))},
        {"BOOL": True},
        {"NULL": True},
        {"L": [{"N": "1"}, {"S": ""}]},
        {"M": {"in ner": {"S": "x"}, "true": {"BOOL": False}}},
        {"SS": ["a", "b"]},
        {"NS": ["1", "2.5"]},
        {"BS": [b"x", b"y"]},
    ]
    for name in ("a", "with space", "$9", "null"):
        if rng.random() < 0.6:
            item[name] = rng.choice(values)
    return item


def change_some(world, rng, count=30):
    for _ in range(count):
        item = some_item(rng, rng.randrange(20))
        if rng.random() < 0.3:
            world.db.delete_item(TableName="Tab", Key={"pk": item["pk"], "sk": item["sk"]})
        else:
            world.db.put_item(TableName="Tab", Item=item)


def without_times(changes):
    return {
        export_reader.key_of(line["Keys"]): {k: v for k, v in line.items() if k != "Metadata"}
        for line in changes
    }


@pytest.fixture(name="world", params=["folder", "s3"])
def fixture_world(request, tmp_path):
    with World(tmp_path, request.param) as world:
        yield world


@pytest.mark.parametrize("kind", ["folder", "s3"])
@pytest.mark.parametrize("form", ["DYNAMODB_JSON", "ION"])
def test_full_and_incremental_exports_add_up(tmp_path, kind, form):
    rng = random.Random(20)
    with World(tmp_path, kind) as world:
        world.create_table()
        moments, states = [], []
        for _ in range(3):
            change_some(world, rng)
            world.clock.pass_time(2)
            moments.append(int(world.clock.now()))
            states.append(world.scan())
            world.clock.pass_time(15 * 60)
            change_some(world, rng, 5)
        a, b, c = moments
        same = {"ExportFormat": form, "S3Prefix": "some/prefix"}
        fulls = [world.full(ExportTime=moment, **same) for moment in moments]
        assert fulls == states
        first, second = world.increment(a, b, **same), world.increment(b, c, **same)
        both = world.increment(a, c, **same)
        assert export_reader.apply(fulls[0], first) == fulls[1]
        assert export_reader.apply(fulls[1], second) == fulls[2]
        assert export_reader.apply(fulls[0], both) == fulls[2]
        joined = without_times(export_reader.join(first, second).values())
        # What was changed and changed back is in the joined ones, with equal images.
        assert {k: v for k, v in joined.items() if v.get("OldImage") != v.get("NewImage")} == {
            k: v for k, v in without_times(both).items() if v.get("OldImage") != v.get("NewImage")
        }
        for line in both:
            micros = int(line["Metadata"]["WriteTimestampMicros"]["N"])
            assert a * 1000000 <= micros < c * 1000000
        new = world.increment(a, c, spec={"ExportViewType": "NEW_IMAGE"}, **same)
        assert all("OldImage" not in line for line in new)
        assert len(new) == len(both)
        assert all(key.startswith("some/prefix/AWSDynamoDB/") or "/" in key for key in world.bucket.keys())
        world.server.stop()


def test_an_export_without_a_time_has_all_that_was_acknowledged(world):
    world.create_table()
    for i in range(50):
        world.db.put_item(TableName="Tab", Item={"pk": {"S": str(i)}, "sk": {"N": "1"}})
        if i % 10 == 9:
            assert len(world.full()) == i + 1


def test_descriptions_and_lists(world):
    world.create_table()
    started = world.start_export(S3Prefix="p", ClientToken="token")
    shown = {"ExportArn", "ExportStatus", "StartTime", "TableArn", "TableId", "ExportTime", "ClientToken",
             "S3Bucket", "S3Prefix", "S3SseAlgorithm", "ExportFormat", "DestinationType"}  # fmt: skip
    assert set(started) == shown
    assert started["ExportStatus"] == "IN_PROGRESS"
    assert started["ExportTime"] == started["StartTime"]
    assert started["S3SseAlgorithm"] == "AES256"
    assert started["ExportArn"].startswith(world.arn + "/export/0")
    ended = world.wait(started)
    assert set(ended) == shown | {"EndTime", "ExportManifest", "ItemCount", "BilledSizeBytes"}
    folder = "p/AWSDynamoDB/" + started["ExportArn"].split("/")[-1]
    assert ended["ExportManifest"] == folder + "/manifest-summary.json"
    again = world.start_export(S3Prefix="p", ClientToken="token")
    assert again == ended
    with pytest.raises(Refused) as refused:
        world.start_export(S3Prefix="q", ClientToken="token")
    assert refused.value.code == "ExportConflictException"
    assert (
        refused.value.message
        == "Export conflict: Duplicate request detected with conflicting parameters"
    )
    arns = [world.export(ExportType="FULL_EXPORT")["ExportArn"] for _ in range(3)]
    listed = world.call("ListExports", TableArn=world.arn, MaxResults=2)
    assert [entry["ExportArn"] for entry in listed["ExportSummaries"]] == [arns[2], arns[1]]
    assert listed["ExportSummaries"][0] == {
        "ExportArn": arns[2], "ExportStatus": "COMPLETED", "ExportType": "FULL_EXPORT",
    }  # fmt: skip
    rest = world.call(
        "ListExports", TableArn=world.arn, MaxResults=25, NextToken=listed["NextToken"]
    )
    assert rest["ExportSummaries"][0]["ExportArn"] == arns[0]
    assert "NextToken" not in rest
    assert "export_completed" not in world.db.waiter_names or world.db.get_waiter(
        "export_completed"
    ).wait(ExportArn=arns[0], WaiterConfig={"Delay": 1}) is None
    world.db.delete_table(TableName="Tab")
    assert world.db.describe_export(ExportArn=arns[0])["ExportDescription"]["ExportStatus"] == "COMPLETED"


def test_filters_choose_items_and_attributes(world):
    world.create_table()
    for i in range(20):
        item = {"pk": {"S": f"p{i % 2}"}, "sk": {"N": str(i)}, "v": {"N": str(i % 5)}, "w": {"S": "w"}}
        world.db.put_item(TableName="Tab", Item=item)

    def lines(more=None, **filters):
        description = world.start_export(FilterSpecification=filters, **(more or {}))
        assert description["FilterSpecification"] == filters
        return export_reader.read(world.bucket, world.wait(description))

    def keys(**filters):
        return sorted(int(line["Item"]["sk"]["N"]) for line in lines(**filters))

    p1, ten, two = {":p": {"S": "p1"}}, {":s": {"N": "10"}}, {":v": {"N": "2"}}
    by_key = {"KeyConditionExpression": "pk = :p AND sk > :s"}
    assert keys(**by_key, ExpressionAttributeValues={**p1, **ten}) == [11, 13, 15, 17, 19]
    assert keys(FilterExpression="v = :v", ExpressionAttributeValues=two) == [2, 7, 12, 17]
    assert keys(FilterExpression="sk < :s AND v = :v", ExpressionAttributeValues={**ten, **two}) == [2, 7]
    both = {**by_key, "FilterExpression": "v = :v"}
    assert keys(**both, ExpressionAttributeValues={**p1, **ten, **two}) == [17]
    projected = lines(ProjectionExpression="sk, #v", ExpressionAttributeNames={"#v": "v"})
    assert len(projected) == 20 and all(set(line["Item"]) == {"sk", "v"} for line in projected)
    ion = lines({"ExportFormat": "ION"}, ProjectionExpression="w")
    assert [line["Item"] for line in ion] == [{"w": {"S": "w"}}] * 20
    assert lines(**{"KeyConditionExpression": "pk = :p"}, ExpressionAttributeValues={":p": {"S": "none"}}) == []

    def refusal(**filters):
        with pytest.raises(Refused) as refused:
            world.start_export(FilterSpecification=filters)
        assert refused.value.code == "ValidationException"
        return refused.value.message

    assert refusal() == "Invalid Request: Invalid FilterSpecification: The specification can not be empty"
    assert refusal(**by_key, FilterExpression="sk = :s", ExpressionAttributeValues={**p1, **ten}) == (
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"
    )
    assert refusal(FilterExpression="v = :v").startswith("Invalid FilterExpression: ")


FAILURES = [
    ({"S3Bucket": "missing"}, "S3NoSuchBucket", "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket; Request ID: "),
    ({"S3BucketOwner": "111111111111"}, "S3AccessDenied", "Access Denied"),
]  # fmt: skip


@pytest.mark.parametrize("parameters, code, text", FAILURES)
def test_a_bucket_that_cannot_be_used_fails_the_export_not_the_request(world, parameters, code, text):
    world.create_table()
    failed = world.wait(world.start_export(**parameters))
    assert failed["ExportStatus"] == "FAILED"
    assert failed["FailureCode"] == code
    assert failed["FailureMessage"].startswith(text)
    assert "ExportManifest" not in failed and "EndTime" in failed


def test_a_server_that_is_busy_is_waited_for_and_one_that_is_gone_is_not_forever(tmp_path):
    with World(tmp_path, "s3") as world:
        world.create_table()
        world.db.put_item(TableName="Tab", Item={"pk": {"S": "a"}, "sk": {"N": "1"}})
        for kind in ("slow-down", "cut", "error-200", "lost"):
            world.s3.fail(kind, times=2, contains="data/")
            assert len(world.full()) == 1
        assert world.s3.uploads == {}
        world.s3.fail("full", times=1, contains="data/")
        failed = world.wait(world.start_export())
        assert (failed["ExportStatus"], failed["FailureCode"]) == ("FAILED", "S3NoSpace")
        assert world.s3.uploads == {}
        world.s3.fail("cut", times=1000000)
        failed = world.wait(world.start_export())
        assert (failed["ExportStatus"], failed["FailureCode"]) == ("FAILED", "S3Unavailable")
        # A server that stops does not wait for the bucket.
        world.start_export()
        started = time.monotonic()
        world.server.stop()
        assert time.monotonic() - started < 10
        world.s3.heal()
        world.start()
        [running] = [
            entry for entry in world.db.list_exports()["ExportSummaries"] if entry["ExportStatus"] == "IN_PROGRESS"
        ]
        ended = world.wait({**running})
        assert ended["ExportStatus"] == "COMPLETED"
        assert len(export_reader.read(world.bucket, ended)) == 1


def test_a_server_killed_at_any_request_finishes_the_export(tmp_path):
    """Before and after each request of an export, and whole files are kept."""
    with World(tmp_path, "s3") as world:
        world.create_table()
        for i in range(40):
            world.db.put_item(TableName="Tab", Item={"pk": {"S": f"p{i}"}, "sk": {"N": "1"}})
        before = len(world.s3.requests)
        expected = world.full()
        count = len(world.s3.requests) - before
        assert count >= 8
        take = world.s3.take_failure
        for number in range(count):
            for kind in ("cut", "lost"):
                left = [number]

                def killing(method, target, kind=kind, left=left):
                    if left[0] == 0:
                        left[0] -= 1
                        world.server.process.kill()
                        return {"kind": kind}
                    left[0] -= 1
                    return take(method, target)

                world.s3.take_failure = killing
                started = world.start_export()
                world.server.process.wait(PATIENCE_S)
                world.s3.take_failure = take
                world.server.kill()
                world.start()
                ended = world.wait(started)
                assert ended["ExportStatus"] == "COMPLETED", (number, kind, ended)
                found = export_reader.state(export_reader.read(world.bucket, ended))
                assert found == expected, (number, kind)
        assert world.s3.uploads == {}


def run_on_a_terminal(words, awaited, then):
    """What the command wrote to standard output, and to the terminal that standard error is. Calls
    `then` once that shows the awaited text."""
    main, other = pty.openpty()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=other, text=True)
    os.close(other)
    shown = b""
    with contextlib.suppress(OSError):  # EIO: the other end was closed.
        while piece := os.read(main, 4096):
            shown += piece
            if awaited in shown and then is not None:
                then()
                then = None
    os.close(main)
    with process.stdout:
        assert process.wait(PATIENCE_S) == 0, shown
        return process.stdout.read(), shown.decode()


def test_the_command_shows_the_progress_of_an_export_to_a_bucket(tmp_path):
    with World(tmp_path, "s3") as world:
        world.create_table()
        for number in range(40):
            world.db.put_item(TableName="Tab", Item={"pk": {"S": "a"}, "sk": {"N": str(number)}})
        world.server.stop()
        world.flags[world.flags.index("--s3-retry-ms") + 1] = "600000"
        world.start()
        world.s3.fail("slow-down", times=1000000, contains="manifest-files")
        bar = b"\r\033[K[########################] 100 %  40 items, "
        printed, shown = run_on_a_terminal(
            [binary(), "export", "Tab", "--endpoint", world.server.url, "--bucket", "bucket"],
            bar,
            world.s3.heal,
        )
        assert printed.strip() in world.bucket.keys()
        assert bar.decode() in shown and shown.endswith("\r\033[K")


def test_incremental_exports_check_their_window(world):
    world.create_table()
    world.clock.pass_time(3600)
    now = int(world.clock.now())

    def refusal(**spec):
        with pytest.raises(Refused) as refused:
            world.start_export(ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=spec)
        return refused.value.code, refused.value.message

    def text(second):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))

    invalid = "InvalidExportTimeException"
    assert refusal(ExportFromTime=now - 7200) == (
        invalid,
        f"Incremental export period from time cannot be less than the table creation time : {text(now - 7200)}",
    )
    assert refusal(ExportFromTime=now - 600) == (
        invalid,
        "Difference between export period from time and export period to time is less than 15 minutes",
    )
    assert refusal(ExportFromTime=now - 600, ExportToTime=now + 600) == (
        invalid,
        f"Incremental export period to time cannot be greater than the current time : {text(now + 600)}",
    )
    assert refusal(ExportToTime=now) == (
        "ValidationException",
        "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification",
    )
    assert json.dumps(world.increment(now - 1800, now - 60)) == "[]"


def test_the_command_writes_files_and_buckets(tmp_path):
    with World(tmp_path) as world:
        world.create_table()
        items = [
            {"pk": {"S": f"p{i}"}, "sk": {"N": str(i)}, "t": {"S": 'a,"b"'}, "n": {"N": "1.5"}, "s": {"SS": ["x", "y"]}}
            for i in range(30)
        ]
        for item in items:
            world.db.put_item(TableName="Tab", Item=item)

        def run(*words):
            return subprocess.run(
                [binary(), "export", "Tab", "--endpoint", world.server.url, *words],
                capture_output=True, text=True, timeout=PATIENCE_S, check=False,
            )  # fmt: skip

        def written(name, *words):
            path = tmp_path / name
            result = run("--out", str(path), *words)
            assert result.returncode == 0, result.stderr
            data = path.read_bytes()
            return (gzip.decompress(data) if name.endswith(".gz") else data).decode()

        lines = [json.loads(line) for line in written("all.json.gz").splitlines()]
        assert export_reader.state(lines) == world.scan()
        plain_lines = [json.loads(line) for line in written("plain", "--format", "json").splitlines()]
        assert {"pk": "p3", "sk": 3, "t": 'a,"b"', "n": 1.5, "s": ["x", "y"]} in plain_lines
        rows = list(csv.reader(written("rows.csv", "--format", "csv").splitlines()))
        assert rows[0] == ["n", "pk", "s", "sk", "t"] and len(rows) == 31
        assert ["1.5", "p3", '["x","y"]', "3", 'a,"b"'] in rows
        chosen = written("few.csv", "--format", "csv", "--columns", "sk,pk").splitlines()
        assert chosen[0] == "sk,pk" and "3,p3" in chosen
        ion = [export_reader.ion_line(line) for line in run("--out", "-", "--format", "ion").stdout.splitlines()]
        assert export_reader.state(ion) == world.scan()
        result = run("--bucket", "bucket", "--prefix", "by-hand")
        assert result.returncode == 0, result.stderr
        key = result.stdout.strip()
        assert key.startswith("by-hand/AWSDynamoDB/") and key in world.bucket.keys()
        assert json.loads(world.bucket.get(key))["itemCount"] == 30
        missing = run("--bucket", "missing")
        assert missing.returncode == 1
        assert missing.stderr.startswith("stator: S3NoSuchBucket: The specified bucket does not exist")
        for words, text in [
            ((), "stator: export: needs either --out or --bucket\n"),
            (("--bucket", "b", "--format", "csv"), "stator: --format: of an export to a bucket is dynamodb-json or ion\n"),
            (("--out", "f", "--at", "1"), "stator: --at and --from: are for exports to a bucket: a file has the table as it is now\n"),
            (("--bucket", "bucket", "--at", "noon"), "stator: --at and --from: take seconds since 1970, or 2026-11-15T12:00:00Z\n"),
        ]:  # fmt: skip
            refused = run(*words)
            assert (refused.returncode, refused.stderr) == (2, text)
        assert not list(tmp_path.glob("*.part"))
