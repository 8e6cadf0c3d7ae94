"""What the service answers about backups, restores, exports and imports, measured in October
2026."""

import re
import time

import pytest
from answers import accept, attributes, create, key_schema, refuse

INVALID = "One or more parameter values were invalid: "
TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/"
OTHER_ACCOUNT = TABLE.replace("000000000000", "111111111111")
DENIED = ("Access is denied", "AccessDeniedException")
NAME_LENGTH = "TableName must be at least 3 characters long and at most 255 characters long"
NOT_NULL = "Member must not be null"


def broken(*faults):
    count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''} detected: "
    return count + "; ".join(
        f"Value {value} failed to satisfy constraint: {rule}" for value, rule in faults
    )


def outside(value, at, *values):
    rule = f"Member must satisfy enum value set: [{', '.join(values)}]"
    return broken((f"'{value}' at '{at}'", rule))


@pytest.fixture(scope="module", name="backup")
def fixture_backup(connection):
    """The ARN of an AVAILABLE backup of a table with an index."""
    create(connection, "Source", "pk")
    request = {"TableName": "Source", "BackupName": "one"}
    arn = accept(connection, "CreateBackup", request)["BackupDetails"]["BackupArn"]
    end = time.monotonic() + 20
    while True:
        details = accept(connection, "DescribeBackup", {"BackupArn": arn})["BackupDescription"]
        if details["BackupDetails"]["BackupStatus"] == "AVAILABLE":
            return arn
        assert time.monotonic() < end
        time.sleep(0.02)


# --- ARNs of backups ---


@pytest.mark.parametrize("operation", ["DescribeBackup", "DeleteBackup", "RestoreTableFromBackup"])
def test_arns_of_backups(connection, backup, operation):
    def arn(**parts):
        names = ("arn", "partition", "service", "region", "account", "resource")
        values = dict(zip(names, backup.split(":", 5), strict=True))
        return ":".join({**values, **parts}.values())

    other = "Invalid Request: BackupArn is not valid"
    for text, message, kind in [
        ("", "Invalid Backup ARN", "ValidationException"),
        ("foo", "Invalid Backup ARN", "ValidationException"),
        ("x" * 48, "Invalid Backup ARN", "ValidationException"),
        (TABLE + "Source", "Invalid Backup ARN", "ValidationException"),
        (arn(region="xx-fake-1"), other, "ValidationException"),
        (arn(partition="aws-cn"), other, "ValidationException"),
        (arn(service="s3"), other, "ValidationException"),
        (arn(region=""), *DENIED),
        (arn(account="111111111111"), *DENIED),
    ]:
        request = {"BackupArn": text, "TargetTableName": "Never"}
        refuse(connection, operation, request, message, kind)


def test_types_of_backups_are_listed_in_the_services_order(connection):
    message = outside("x", "backupType", "ALL", "AWS_BACKUP", "USER", "SYSTEM")
    refuse(connection, "ListBackups", {"BackupType": "x"}, message)


# --- RestoreTableFromBackup ---


@pytest.mark.parametrize("kind", ["global", "local"])
def test_an_index_of_a_restore_without_anything(connection, backup, kind):
    at = f"{kind}SecondaryIndexOverride.1.member."
    request = {
        "TargetTableName": "Never",
        "BackupArn": backup,
        f"{kind.capitalize()}SecondaryIndexOverride": [{}],
    }
    members = ("indexName", "keySchema", "projection")
    message = broken(*((f"null at '{at}{name}'", NOT_NULL) for name in members))
    refuse(connection, "RestoreTableFromBackup", request, message)


@pytest.mark.parametrize(
    "overrides, message",
    [
        (
            {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 0, "MaxWriteRequestUnits": 0}},
            "Invalid Request: Requested MaxReadRequestUnits for OnDemandThroughput is outside of "
            "valid range",
        ),
        (
            {"OnDemandThroughputOverride": {"MaxWriteRequestUnits": 0}},
            "Invalid Request: Requested MaxWriteRequestUnits for OnDemandThroughput is outside of "
            "valid range",
        ),
        ({"TargetTableName": ""}, NAME_LENGTH),
        ({"TargetTableName": "ab"}, NAME_LENGTH),
        ({"TargetTableName": "a" * 256}, NAME_LENGTH),
    ],
)
def test_restores_that_are_refused(connection, backup, overrides, message):
    request = {"TargetTableName": "Never", "BackupArn": backup, **overrides}
    refuse(connection, "RestoreTableFromBackup", request, message)


def test_an_empty_encryption_is_the_services_own(connection, backup):
    for name, encryption in (("EmptyKey", {}), ("NoKey", {"Enabled": False})):
        request = {"TargetTableName": name, "BackupArn": backup}
        request["SSESpecificationOverride"] = encryption
        end = time.monotonic() + 20
        while True:  # One restore at a time.
            status, answer = connection.call("RestoreTableFromBackup", request)
            if status == 200:
                break
            assert answer["__type"].endswith("#BackupInUseException") and time.monotonic() < end
            time.sleep(0.02)
        assert "SSEDescription" not in answer["TableDescription"]


def test_a_restore_to_a_time_from_another_account(connection):
    request = {"TargetTableName": "Never", "UseLatestRestorableTime": True}
    request["SourceTableArn"] = OTHER_ACCOUNT + "Source"
    message = (
        "This action is only supported by accounts that match the resource owner\u2019s account."
    )
    refuse(connection, "RestoreTableToPointInTime", request, message)


# --- Exports ---

EXPORT = "/export/01700000000000-0123abcd"


@pytest.mark.parametrize(
    "members, message",
    [
        ({"TableArn": ""}, "Invalid TableArn: Invalid Table ARN"),
        ({"ExportFormat": "CSV"}, outside("CSV", "exportFormat", "ION", "DYNAMODB_JSON")),
        (
            {"IncrementalExportSpecification": {"ExportViewType": "x"}},
            outside("x", "incrementalExportSpecification.exportViewType",
                    "NEW_AND_OLD_IMAGES", "NEW_IMAGE"),
        ),
    ],
)  # fmt: skip
def test_requests_for_exports_that_are_refused(connection, members, message):
    request = {"TableArn": TABLE + "Source", "S3Bucket": "bucket", **members}
    refuse(connection, "ExportTableToPointInTime", request, message)


def test_arns_of_exports(connection):
    missing = "ExportNotFoundException"
    own = TABLE + "Source" + EXPORT
    for arn, message, kind in [
        (own, "Export not found: Export not found: " + own, missing),
        (own.replace("us-east-1", "us-west-2"), "Export not found: Invalid export arn", missing),
        (OTHER_ACCOUNT + "Source" + EXPORT, *DENIED),
        (own.replace("export", "import"), "Invalid Export ARN", "ValidationException"),
    ]:
        refuse(connection, "DescribeExport", {"ExportArn": arn}, message, kind)


# --- Imports ---


def import_request(**members):
    return {
        "ClientToken": "token",
        "S3BucketSource": {"S3Bucket": "bucket"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": {
            "TableName": "Imported",
            "AttributeDefinitions": attributes(pk="S"),
            "KeySchema": key_schema("pk"),
        },
        **members,
    }


def test_values_of_imports(connection):
    for members, message in [
        (
            {"InputCompressionType": "BZIP2"},
            outside("BZIP2", "inputCompressionType", "ZSTD", "NONE", "GZIP"),
        ),
        (
            {"InputFormat": "XML"},
            outside("XML", "inputFormat", "CSV", "ION", "DYNAMODB_JSON"),
        ),
    ]:
        refuse(connection, "ImportTable", import_request(**members), message)


def test_arns_of_imports(connection):
    resource = "Source/import/01700000000000-0123abcd"
    refuse(connection, "DescribeImport", {"ImportArn": OTHER_ACCOUNT + resource}, *DENIED)
    status, answer = connection.call("DescribeImport", {"ImportArn": TABLE + resource})
    assert status == 400 and re.search("#ImportNotFoundException$", answer["__type"])
