"""What policies deny below a prefix, or of an item, no job reads, writes or shows."""

import json
import time
from types import SimpleNamespace

import boto3
import botocore.config
import botocore.exceptions
import pytest
from stator_process import Keys, StatorProcess

REGION = "us-east-1"
ACCOUNT = "000000000000"
TABLE_ARN = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/"
END_MAX_S = 60
ALLOW = {"Effect": "Allow", "Action": ["dynamodb:*", "s3:*", "stator:*"], "Resource": "*"}
FROM_HERE = {"IpAddress": {"aws:SourceIp": "127.0.0.1"}}
USERS = {
    "admin": [ALLOW],
    # The condition is about the request, which is over when the job runs.
    "reader": [
        {**ALLOW, "Condition": FROM_HERE},
        {"Effect": "Deny", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::in/secret/*"},
    ],
    "writer": [ALLOW, {"Effect": "Deny", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::out/*/data/*"}],
    "blind": [ALLOW, {"Effect": "Deny", "Action": "dynamodb:GetItem", "Resource": "*"}],
    "own": [
        ALLOW,
        {
            "Effect": "Deny",
            "Action": "dynamodb:GetItem",
            "Resource": "*",
            "Condition": {"ForAnyValue:StringNotEquals": {"dynamodb:LeadingKeys": ["own"]}},
        },
    ],
}


@pytest.fixture(scope="module", name="place")
def fixture_place(tmp_path_factory):
    root = tmp_path_factory.mktemp("job-access")
    for bucket in ("in", "out"):
        (root / "buckets" / bucket).mkdir(parents=True)
    (root / "keys").mkdir()
    keys = Keys(root / "keys")
    credentials = {user: keys.create(user, *statements) for user, statements in USERS.items()}
    credentials["session"] = keys.session(credentials["reader"][0], 3600)
    flags = ["--auth", *keys.flags, "--buckets", str(root / "buckets"), "--fault-injection"]
    with StatorProcess(*flags) as server:
        place = SimpleNamespace(root=root, keys=keys, credentials=credentials, server=server)
        put(place, "open/1", {"pk": {"S": "open"}})
        put(place, "secret/1", {"pk": {"S": "secret"}})
        admin = client(place, "admin")
        admin.create_table(
            TableName="games",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )
        admin.get_waiter("table_exists").wait(TableName="games")
        yield place
        server.stop()


def put(place, key, *items):
    path = place.root / "buckets/in" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"Item": item}) + "\n" for item in items))


def client(place, user):
    credentials = place.credentials[user]
    return boto3.client(
        "dynamodb",
        endpoint_url=place.server.url,
        region_name=REGION,
        aws_access_key_id=credentials[0],
        aws_secret_access_key=credentials[1],
        aws_session_token=credentials[2] if len(credentials) > 2 else None,
        config=botocore.config.Config(retries={"max_attempts": 0}),
    )


def call(made, target, body):
    """An operation that botocore does not know."""
    answers = []

    def change(params, **_):
        params["headers"]["X-Amz-Target"] = f"DynamoDB_20120810.{target}"
        params["body"] = json.dumps(body).encode()

    def keep(http_response, **_):
        answers.append(json.loads(http_response.content))

    made.meta.events.register_last("before-call", change, unique_id="change")
    made.meta.events.register("after-call", keep, unique_id="keep")
    try:
        made.describe_limits()
    finally:
        made.meta.events.unregister("before-call", unique_id="change")
        made.meta.events.unregister("after-call", unique_id="keep")
    return answers[0]


def wait(describe, running=("IN_PROGRESS", "CANCELLING")):
    deadline = time.monotonic() + END_MAX_S
    while time.monotonic() < deadline:
        status, answer = describe()
        if status not in running:
            return status, answer
        time.sleep(0.02)
    raise AssertionError("the job does not end")


def run_import(place, user, name, prefix):
    made = client(place, user)
    source = {"S3Bucket": "in"} if prefix is None else {"S3Bucket": "in", "S3KeyPrefix": prefix}
    arn = made.import_table(
        S3BucketSource=source,
        InputFormat="DYNAMODB_JSON",
        TableCreationParameters={
            "TableName": name,
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )["ImportTableDescription"]["ImportArn"]

    def describe():
        answer = made.describe_import(ImportArn=arn)["ImportTableDescription"]
        return answer["ImportStatus"], answer

    return wait(describe)


def run_bulk(place, user, prefix):
    made = client(place, user)
    body = {
        "TableName": "games",
        "InputS3Configuration": {"S3Bucket": "in", "S3KeyPrefix": prefix, "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": "out", "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]},
    }
    arn = call(made, "StartBulkPutItems", body)["BulkOperationDescription"]["BulkOperationArn"]

    def describe():
        answer = call(made, "DescribeBulkOperation", {"BulkOperationArn": arn})["BulkOperationDescription"]
        return answer["BulkOperationStatus"], answer

    return wait(describe)


def test_an_import_reads_no_object_that_is_denied_below_its_prefix(place):
    status, answer = run_import(place, "reader", "some", "open/")
    assert status == "COMPLETED", answer
    status, answer = run_import(place, "reader", "denied", "secret")
    assert (status, answer["FailureCode"]) == ("FAILED", "S3AccessDenied")
    assert "denied" not in client(place, "admin").list_tables()["TableNames"]
    # In the order of keys: what comes before is imported.
    status, answer = run_import(place, "reader", "part", None)
    assert (status, answer["FailureCode"]) == ("FAILED", "S3AccessDenied")
    items = client(place, "admin").scan(TableName="part")["Items"]
    assert items == [{"pk": {"S": "open"}}]


def test_a_bulk_operation_reads_no_object_that_is_denied_below_its_prefix(place):
    status, answer = run_bulk(place, "reader", "s")
    assert (status, answer["FailureCode"]) == ("FAILED", "S3AccessDenied")
    assert "Item" not in client(place, "admin").get_item(TableName="games", Key={"pk": {"S": "secret"}})


def test_a_temporary_key_imports_with_the_policies_of_its_parent(place):
    status, answer = run_import(place, "session", "session", "open/")
    assert status == "COMPLETED", answer
    status, answer = run_import(place, "session", "session-denied", "secret")
    assert (status, answer["FailureCode"]) == ("FAILED", "S3AccessDenied")


@pytest.mark.parametrize("user,shown", [("admin", {"own", "other"}), ("blind", set()), ("own", {"own"})])
def test_a_report_shows_existing_items_to_those_who_may_read_them(place, user, shown):
    admin = client(place, "admin")
    path = place.root / "buckets/in" / user / "1"
    path.parent.mkdir(exist_ok=True)
    lines = []
    for name in ("own", "other"):
        admin.put_item(TableName="games", Item={"pk": {"S": name}, "pay": {"S": "classified"}})
        lines.append({"Item": {"pk": {"S": name}}, "ConditionExpression": "attribute_not_exists(pk)"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    status, answer = run_bulk(place, user, f"{user}/")
    assert (status, answer["ProcessedItemCount"]) == ("COMPLETED", 2)
    folder = place.root / "buckets/out/AWSDynamoDB" / answer["BulkOperationArn"].rsplit("/", 1)[1]
    notes = [json.loads(line) for line in (folder / "condition-check-failure.json").open()]
    assert [note["item"]["pk"]["S"] for note in notes] == ["own", "other"]
    assert {note["existingItem"]["pk"]["S"] for note in notes if "existingItem" in note} == shown
    assert ("classified" in (folder / "condition-check-failure.json").read_text()) == bool(shown)


def test_an_export_writes_no_object_that_is_denied_below_its_prefix(place):
    made = client(place, "writer")
    made.update_continuous_backups(
        TableName="games", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    arn = made.export_table_to_point_in_time(TableArn=f"{TABLE_ARN}games", S3Bucket="out")["ExportDescription"][
        "ExportArn"
    ]

    def describe():
        answer = made.describe_export(ExportArn=arn)["ExportDescription"]
        return answer["ExportStatus"], answer

    status, answer = wait(describe)
    assert (status, answer["FailureCode"]) == ("FAILED", "S3AccessDenied")
    assert not list((place.root / "buckets/out/AWSDynamoDB" / arn.rsplit("/", 1)[1]).glob("data/*"))


def test_cancelling_leaves_a_line_in_the_audit(place):
    status, answer = run_bulk(place, "admin", "open/")
    assert status == "COMPLETED"
    call(client(place, "admin"), "CancelBulkOperation", {"BulkOperationArn": answer["BulkOperationArn"]})
    deadline, lines = time.monotonic() + END_MAX_S, []
    while not lines and time.monotonic() < deadline:  # The log is written by a thread of its own.
        lines = [line for line in place.server.log().splitlines() if 'operation="CancelBulkOperation"' in line]
    assert len(lines) == 1 and 'event="change"' in lines[0] and answer["BulkOperationArn"] in lines[0]
