"""On-demand backups and restores by boto3: shapes, statuses, overrides, and every refusal's text."""

import re
import time
from datetime import datetime, timedelta, timezone

import boto3
import botocore.config
import botocore.exceptions
import pytest

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}, parameter_validation=False),
}
ACCOUNT = "000000000000"
TABLE_ARN = f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/"
MISSING_ID = "01700000000000-0123abcd"
ITEMS = 60


@pytest.fixture(scope="module")
def client(server_url):
    return boto3.client("dynamodb", endpoint_url=server_url, **SETTINGS)


def refusal(function, **arguments):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        function(**arguments)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def shape(name, **more):
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": a, "AttributeType": t}
                                 for a, t in (("p", "S"), ("s", "N"), ("g", "S"), ("l", "S"))],
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
        "GlobalSecondaryIndexes": [GLOBAL],
        "LocalSecondaryIndexes": [LOCAL],
        **more,
    }


GLOBAL = {
    "IndexName": "global",
    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y"]},
}
LOCAL = {
    "IndexName": "local",
    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "l", "KeyType": "RANGE"}],
    "Projection": {"ProjectionType": "ALL"},
}


def wait_for(check, what, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def wait_available(client, arn):
    def available():
        description = client.describe_backup(BackupArn=arn)["BackupDescription"]
        return description if description["BackupDetails"]["BackupStatus"] == "AVAILABLE" else None
    return wait_for(available, "the backup")


def wait_active(client, name):
    def active():
        table = client.describe_table(TableName=name)["Table"]
        return table if table["TableStatus"] == "ACTIVE" else None
    return wait_for(active, "the restore")


@pytest.fixture(scope="module")
def source(client):
    """A table with items, all of whose settings differ from the defaults."""
    client.create_table(**shape("source", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
                                Tags=[{"Key": "team", "Value": "blue"}],
                                SSESpecification={"Enabled": True}))
    client.get_waiter("table_exists").wait(TableName="source", WaiterConfig={"Delay": 1, "MaxAttempts": 20})
    client.update_time_to_live(TableName="source",
                               TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    for i in range(ITEMS):
        item = {"p": {"S": str(i % 7)}, "s": {"N": str(i)}, "x": {"S": "x" * i}}
        if i % 2:
            item["g"] = {"S": f"g{i % 3}"}
        if i % 3:
            item["l"] = {"S": f"l{i % 4}"}
        client.put_item(TableName="source", Item=item)
    return "source"


@pytest.fixture(scope="module")
def backup(client, source):
    arn = client.create_backup(TableName=source, BackupName="first.backup")["BackupDetails"]["BackupArn"]
    return wait_available(client, arn)["BackupDetails"]["BackupArn"]


@pytest.fixture
def restored(client):
    """Names of tables that a test makes; they are deleted behind it."""
    names = []

    def name():
        names.append(f"restored{len(names)}")
        return names[-1]
    yield name
    for made in names:
        try:
            wait_active(client, made)
            client.delete_table(TableName=made)
        except client.exceptions.ResourceNotFoundException:
            pass
    wait_for(lambda: not set(names) & set(client.list_tables()["TableNames"]), "the deletion")


# --- CreateBackup and DescribeBackup ---

def test_create_answers_with_the_details_alone(client, source):
    before = datetime.now(timezone.utc)
    answer = client.create_backup(TableName=source, BackupName="abc")
    details = answer["BackupDetails"]
    assert set(answer) == {"BackupDetails", "ResponseMetadata"}
    assert set(details) == {"BackupArn", "BackupName", "BackupSizeBytes", "BackupStatus", "BackupType",
                            "BackupCreationDateTime"}
    assert details["BackupStatus"] == "CREATING" and details["BackupType"] == "USER"
    match = re.fullmatch(re.escape(TABLE_ARN) + r"source/backup/(\d{14})-[0-9a-f]{8}", details["BackupArn"])
    created = details["BackupCreationDateTime"]
    assert int(match[1]) == round(created.timestamp() * 1000)
    assert timedelta(seconds=-1) < created - before < timedelta(seconds=10)
    wait_available(client, details["BackupArn"])


def test_description_has_the_table_as_it_was(client, source, backup):
    description = client.describe_backup(BackupArn=backup)["BackupDescription"]
    table = client.describe_table(TableName=source)["Table"]
    details = description["SourceTableDetails"]
    assert details["TableId"] == table["TableId"] and details["TableArn"] == table["TableArn"]
    assert details["ItemCount"] == ITEMS and details["TableSizeBytes"] == table["TableSizeBytes"]
    assert details["ProvisionedThroughput"] == {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    assert details["BillingMode"] == "PAY_PER_REQUEST"
    features = description["SourceTableFeatureDetails"]
    assert set(features) == {"LocalSecondaryIndexes", "GlobalSecondaryIndexes", "StreamDescription",
                             "TimeToLiveDescription", "SSEDescription"}
    assert features["LocalSecondaryIndexes"] == [LOCAL]
    assert features["GlobalSecondaryIndexes"][0]["Projection"] == GLOBAL["Projection"]
    assert features["StreamDescription"] == {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    assert features["TimeToLiveDescription"]["AttributeName"] == "ttl"
    assert features["SSEDescription"]["SSEType"] == "KMS"
    assert description["BackupDetails"]["BackupSizeBytes"] == table["TableSizeBytes"]
    assert "BackupExpiryDateTime" not in description["BackupDetails"]


def test_features_of_a_plain_table_are_empty(client):
    client.create_table(TableName="plain", BillingMode="PAY_PER_REQUEST",
                        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
                        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}])
    arn = client.create_backup(TableName=TABLE_ARN + "plain", BackupName="plain")["BackupDetails"]["BackupArn"]
    assert wait_available(client, arn)["SourceTableFeatureDetails"] == {}
    client.delete_table(TableName="plain")
    # The backup outlives the table.
    assert client.describe_backup(BackupArn=arn)["BackupDescription"]["SourceTableDetails"]["TableName"] == "plain"
    client.restore_table_from_backup(TargetTableName="plain", BackupArn=arn)
    assert wait_active(client, "plain")["ItemCount"] == 0
    client.delete_table(TableName="plain")


def test_backup_of_a_missing_table(client):
    assert refusal(client.create_backup, TableName="absent", BackupName="abc") == (
        "TableNotFoundException", "Table not found: absent")


@pytest.mark.parametrize("name", ["ab", "a" * 256, "with space"])
def test_name_of_a_backup_is_checked(client, source, name):
    code, message = refusal(client.create_backup, TableName=source, BackupName=name)
    assert code == "ValidationException" and "'backupName' failed to satisfy constraint" in message


@pytest.mark.parametrize("arn, code, message", [
    (TABLE_ARN + "source", "ValidationException", "Invalid Backup ARN"),
    ("x" * 40, "ValidationException", "Invalid Backup ARN"),
    ("arn:aws:dynamodb:nowhere:000000000000:table/t/backup/" + MISSING_ID, "ValidationException",
     "Invalid Request: BackupArn is not valid"),
    ("arn:aws:s3:us-east-1:000000000000:table/t/backup/" + MISSING_ID, "ValidationException",
     "Invalid Request: BackupArn is not valid"),
    ("arn:aws:dynamodb:us-east-1:111111111111:table/t/backup/" + MISSING_ID, "AccessDeniedException",
     "Access is denied"),
    (TABLE_ARN + "source/backup/" + MISSING_ID, "BackupNotFoundException",
     f"Backup not found: {TABLE_ARN}source/backup/{MISSING_ID}"),
    (TABLE_ARN + "source/backup/other", "BackupNotFoundException",
     f"Backup not found: {TABLE_ARN}source/backup/other"),
])
def test_arns_are_checked(client, arn, code, message):
    assert refusal(client.describe_backup, BackupArn=arn) == (code, message)
    assert refusal(client.delete_backup, BackupArn=arn) == (code, message)
    assert refusal(client.restore_table_from_backup, BackupArn=arn, TargetTableName="new") == (code, message)


def test_region_of_an_arn_is_ignored_and_echoed(client, backup):
    other = backup.replace("us-east-1", "eu-west-1")
    details = client.describe_backup(BackupArn=other)["BackupDescription"]["BackupDetails"]
    assert details["BackupArn"] == other


# --- ListBackups ---

def test_list_filters_and_pages(client, source):
    arns = [client.create_backup(TableName=source, BackupName=f"list-{i}")["BackupDetails"]["BackupArn"]
            for i in range(5)]
    for arn in arns:
        wait_available(client, arn)
    everything = client.list_backups(TableName=source)["BackupSummaries"]
    listed = [summary["BackupArn"] for summary in everything]
    assert listed == sorted(listed) and set(arns) <= set(listed)
    assert set(everything[0]) == {"TableName", "TableId", "TableArn", "BackupArn", "BackupName",
                                  "BackupCreationDateTime", "BackupStatus", "BackupType", "BackupSizeBytes"}
    assert "LastEvaluatedBackupArn" not in client.list_backups(TableName=source, Limit=len(listed))
    page = client.list_backups(TableName=source, Limit=len(listed) - 1)
    assert page["LastEvaluatedBackupArn"] == listed[-2]
    rest = client.list_backups(TableName=source, ExclusiveStartBackupArn=page["LastEvaluatedBackupArn"])
    assert [summary["BackupArn"] for summary in rest["BackupSummaries"]] == listed[-1:]
    paged = client.get_paginator("list_backups").paginate(TableName=source, PaginationConfig={"PageSize": 2})
    assert [s["BackupArn"] for part in paged for s in part["BackupSummaries"]] == listed

    second = next(s["BackupCreationDateTime"] for s in everything if s["BackupArn"] == sorted(arns)[1])
    below = client.list_backups(TableName=source, TimeRangeUpperBound=second)["BackupSummaries"]
    above = client.list_backups(TableName=source, TimeRangeLowerBound=second)["BackupSummaries"]
    assert [s["BackupArn"] for s in below + above] == listed
    assert all(s["BackupCreationDateTime"] < second for s in below)
    for kind, count in (("SYSTEM", 0), ("AWS_BACKUP", 0), ("ALL", len(listed)), ("USER", len(listed))):
        assert len(client.list_backups(TableName=source, BackupType=kind)["BackupSummaries"]) == count
    assert client.list_backups(TableName="never-existed")["BackupSummaries"] == []


def test_list_refuses_a_range_that_ends_before_it_begins(client):
    now = datetime.now(timezone.utc)
    assert refusal(client.list_backups, TimeRangeLowerBound=now, TimeRangeUpperBound=now - timedelta(hours=1)) == (
        "ValidationException", "One or more parameter values were invalid: Time range lower bound must be less than "
        "or equal to upper bound")
    start = f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/source/backup/{MISSING_ID}"
    assert refusal(client.list_backups, ExclusiveStartBackupArn=start) == (
        "ValidationException", "Invalid Request: The supplied ExclusiveStartBackupArn does not match the region")


# --- DeleteBackup ---

def test_deleted_backup_is_gone_at_once(client, source):
    arn = client.create_backup(TableName=source, BackupName="to-go")["BackupDetails"]["BackupArn"]
    wait_available(client, arn)
    description = client.delete_backup(BackupArn=arn)["BackupDescription"]
    assert description["BackupDetails"]["BackupStatus"] == "DELETED"
    gone = ("BackupNotFoundException", f"Backup not found: {arn}")
    assert refusal(client.describe_backup, BackupArn=arn) == gone
    assert refusal(client.delete_backup, BackupArn=arn) == gone
    assert arn not in [s["BackupArn"] for s in client.list_backups(TableName=source)["BackupSummaries"]]


# --- RestoreTableFromBackup ---

def items_of(client, name, **more):
    pages = client.get_paginator("scan").paginate(TableName=name, **more)
    return sorted((item for page in pages for item in page["Items"]), key=lambda i: (i["p"]["S"], int(i["s"]["N"])))


def test_restored_table_is_equal(client, source, backup, restored):
    name = restored()
    table = client.restore_table_from_backup(TargetTableName=name, BackupArn=backup)["TableDescription"]
    original = client.describe_table(TableName=source)["Table"]
    assert table["TableStatus"] == "CREATING" and table["TableId"] != original["TableId"]
    summary = table["RestoreSummary"]
    assert summary["SourceBackupArn"] == backup and summary["RestoreInProgress"] is True
    assert summary["SourceTableArn"] == TABLE_ARN + "source"
    assert "IndexStatus" not in table["GlobalSecondaryIndexes"][0]
    table = wait_active(client, name)
    assert "RestoreSummary" not in table
    assert items_of(client, name) == items_of(client, source)
    assert items_of(client, name, IndexName="global") == items_of(client, source, IndexName="global")
    assert items_of(client, name, IndexName="local") == items_of(client, source, IndexName="local")
    for member in ("ItemCount", "TableSizeBytes", "KeySchema", "AttributeDefinitions", "SSEDescription"):
        assert table[member] == original[member]
    for ours, theirs in zip(table["GlobalSecondaryIndexes"], original["GlobalSecondaryIndexes"]):
        assert (ours["ItemCount"], ours["IndexSizeBytes"]) == (theirs["ItemCount"], theirs["IndexSizeBytes"])
    for member in ("StreamSpecification", "LatestStreamArn"):
        assert member not in table
    assert client.describe_time_to_live(TableName=name)["TimeToLiveDescription"] == {"TimeToLiveStatus": "DISABLED"}
    assert client.list_tags_of_resource(ResourceArn=TABLE_ARN + name)["Tags"] == []
    client.put_item(TableName=name, Item={"p": {"S": "new"}, "s": {"N": "1"}, "g": {"S": "new"}})
    assert len(items_of(client, name)) == ITEMS + 1


def test_indexes_may_be_left_out_or_renamed(client, backup, restored):
    bare, renamed = restored(), restored()
    client.restore_table_from_backup(TargetTableName=bare, BackupArn=backup, GlobalSecondaryIndexOverride=[],
                                     LocalSecondaryIndexOverride=[])
    table = wait_active(client, bare)
    assert "GlobalSecondaryIndexes" not in table and "LocalSecondaryIndexes" not in table
    assert [a["AttributeName"] for a in table["AttributeDefinitions"]] == ["p", "s"]
    client.restore_table_from_backup(TargetTableName=renamed, BackupArn=backup,
                                     GlobalSecondaryIndexOverride=[{**GLOBAL, "IndexName": "other"}])
    table = wait_active(client, renamed)
    assert [i["IndexName"] for i in table["GlobalSecondaryIndexes"]] == ["other"]
    assert items_of(client, renamed, IndexName="other")


def test_throughput_may_be_overridden(client, backup, restored):
    name = restored()
    units = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 3}
    client.restore_table_from_backup(
        TargetTableName=name, BackupArn=backup, BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride=units,
        GlobalSecondaryIndexOverride=[{**GLOBAL, "ProvisionedThroughput": units}])
    table = wait_active(client, name)
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 7
    assert table["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["WriteCapacityUnits"] == 3


UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}


@pytest.mark.parametrize("overrides, message", [
    ({"ProvisionedThroughputOverride": UNITS},
     "Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"),
    ({"BillingModeOverride": "PROVISIONED"},
     "Invalid Request: Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED"),
    ({"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": UNITS},
     "Invalid Request: Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED for index "
     "global"),
    ({"BillingModeOverride": "PAY_PER_REQUEST", "ProvisionedThroughputOverride": UNITS},
     "Invalid Request: Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST"),
    ({"BillingModeOverride": "PAY_PER_REQUEST",
      "GlobalSecondaryIndexOverride": [{**GLOBAL, "ProvisionedThroughput": UNITS}]},
     "Invalid Request: Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST for "
     "index global"),
    ({"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": UNITS,
      "GlobalSecondaryIndexOverride": [GLOBAL]},
     "Invalid Request: Must specify provisioned throughput for index global"),
    ({"GlobalSecondaryIndexOverride": [{**GLOBAL, "Projection": {"ProjectionType": "ALL"}}]},
     "Invalid Request: Index global does not match a secondary index that existed in the source table and cannot be "
     "created during the restore operation"),
    ({"LocalSecondaryIndexOverride": [{**LOCAL, "KeySchema": [
        {"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "g", "KeyType": "RANGE"}]}]},
     "Invalid Request: Index local does not match a secondary index that existed in the source table and cannot be "
     "created during the restore operation"),
])
def test_overrides_that_do_not_fit(client, backup, overrides, message):
    assert refusal(client.restore_table_from_backup, TargetTableName="never", BackupArn=backup, **overrides) == (
        "ValidationException", message)
    assert "never" not in client.list_tables()["TableNames"]


def test_other_region_needs_its_own_encryption(client, backup):
    assert refusal(client.restore_table_from_backup, TargetTableName="never",
                   BackupArn=backup.replace("us-east-1", "eu-west-1")) == (
        "ValidationException", "Invalid Request: sseSpecificationOverride must be provided for cross-region restores")


def test_target_that_exists(client, source, backup):
    assert refusal(client.restore_table_from_backup, TargetTableName=source, BackupArn=backup) == (
        "TableAlreadyExistsException", f"Table already exists: {source}")


# --- RestoreTableToPointInTime: what is refused without any recovery ---

@pytest.mark.parametrize("arguments, code, message", [
    ({"SourceTableName": "source", "SourceTableArn": TABLE_ARN + "source", "UseLatestRestorableTime": True},
     "ValidationException", "Must provide exactly one of: sourceTableArn, sourceTableName"),
    ({"UseLatestRestorableTime": True}, "ValidationException",
     "The parameter 'TableName' is required but was not present in the request"),
    ({"SourceTableName": "source", "UseLatestRestorableTime": True, "RestoreDateTime": datetime(2026, 1, 1)},
     "ValidationException",
     "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore "
     "request. Please specify either RestoreDateTime time or UseLatestRestorableTime"),
    ({"SourceTableName": "source"}, "ValidationException",
     "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"),
    ({"SourceTableName": "source", "UseLatestRestorableTime": False}, "ValidationException",
     "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"),
    ({"SourceTableArn": "nonsense", "UseLatestRestorableTime": True}, "ValidationException",
     "One or more parameter values were invalid: ARNs must start with 'arn:': nonsense"),
    ({"SourceTableArn": "arn:aws:nonsense", "UseLatestRestorableTime": True}, "ValidationException",
     "One or more parameter values were invalid: sourceTableArn is not a valid ARN"),
    ({"SourceTableArn": "arn:aws:dynamodb:us-east-1:111111111111:table/other", "UseLatestRestorableTime": True},
     "ValidationException",
     "This action is only supported by accounts that match the resource owner’s account."),
    ({"SourceTableName": "absent", "UseLatestRestorableTime": True}, "TableNotFoundException",
     "Table not found: absent"),
    ({"SourceTableName": "source", "UseLatestRestorableTime": True}, "PointInTimeRecoveryUnavailableException",
     "Point in time recovery is not enabled for table 'source'"),
])
def test_restores_to_a_time_that_are_refused(client, source, arguments, code, message):
    assert refusal(client.restore_table_to_point_in_time, TargetTableName="never", **arguments) == (code, message)


def test_a_deleted_table_with_recovery_can_be_restored(client, restored):
    client.create_table(**shape("short_lived"))
    wait_active(client, "short_lived")
    client.update_continuous_backups(TableName="short_lived",
                                     PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    for i in range(ITEMS):
        client.put_item(TableName="short_lived", Item={"p": {"S": str(i % 7)}, "s": {"N": str(i)}, "g": {"S": "g"}})
    client.delete_item(TableName="short_lived", Key={"p": {"S": "0"}, "s": {"N": "0"}})
    before = client.scan(TableName="short_lived")["Items"]
    client.delete_table(TableName="short_lived")

    def system_backups(**more):
        return client.list_backups(TableName="short_lived", **more)["BackupSummaries"]
    summary, = wait_for(lambda: system_backups(BackupType="SYSTEM"), "the backup")
    assert system_backups() == []
    assert system_backups(BackupType="ALL") == [summary]
    arn = summary["BackupArn"]
    assert re.fullmatch(re.escape(TABLE_ARN) + r"short_lived/backup/\d{14}-00000000", arn)
    assert summary["BackupName"] == "short_lived$DeletedTableBackup"
    assert summary["BackupStatus"] == "AVAILABLE" and summary["BackupType"] == "SYSTEM"
    assert summary["BackupExpiryDateTime"] - summary["BackupCreationDateTime"] == timedelta(days=35)
    description = client.describe_backup(BackupArn=arn)["BackupDescription"]
    assert description["SourceTableFeatureDetails"] == {}
    assert description["SourceTableDetails"]["ItemCount"] == ITEMS - 1
    code, message = refusal(client.delete_backup, BackupArn=arn)
    assert code == "ValidationException"
    assert re.fullmatch("Invalid Request: User is not allowed to delete the system backup with arn "
                        f"{re.escape(arn)}. It will automatically expire on .*Z", message)
    name = restored()
    client.restore_table_from_backup(TargetTableName=name, BackupArn=arn)
    wait_active(client, name)
    key = repr
    assert sorted(client.scan(TableName=name)["Items"], key=key) == sorted(before, key=key)
    assert client.scan(TableName=name, IndexName="global", Select="COUNT")["Count"] == ITEMS - 1
