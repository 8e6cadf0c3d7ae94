"""What the service answers to members that are empty, missing, out of range or do not go together,
measured in October 2026. Each case is named for the fact."""

import time

import pytest
from answers import accept, attributes, create, key_schema, refuse

INVALID = "One or more parameter values were invalid: "
REQUEST = "Invalid Request: "
ALL = {"ProjectionType": "ALL"}
ZONE = "arn:aws:dynamodb:us-east-1:000000000000:table/"
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
NAME_PATTERN = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
BUCKET_PATTERN = "satisfy regular expression pattern: ^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$"
LENGTH = "have length greater than or equal to "
AT_LEAST_ONE = "have value greater than or equal to 1"


def broken(*faults):
    count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''} detected: "
    return count + "; ".join(
        f"Value {value} failed to satisfy constraint: Member must {rule}" for value, rule in faults
    )


def absent(*names):
    return broken(*((f"null at '{name}'", "not be null") for name in names))


def both(prefix, value, rule):
    return [(f"{value} at '{prefix}.{name}CapacityUnits'", rule) for name in ("write", "read")]


def index(name, *keys, **more):
    return {"IndexName": name, "KeySchema": key_schema(*keys), "Projection": ALL, **more}


def check(connection, operation, cases):
    """Every request of {fact: (request, message)} is refused with its whole message."""
    for fact, (request, message, *kind) in cases.items():
        try:
            refuse(connection, operation, request, message, *kind)
        except AssertionError as error:
            raise AssertionError(f"{operation}: {fact}") from error


@pytest.fixture(scope="module", name="backups", autouse=True)
def fixture_backups(connection):
    """The ARNs of backups of Demand and Units, which have a global and a local index."""
    more = {
        "AttributeDefinitions": attributes(pk="S", sk="S", g="S", l="S"),
        "LocalSecondaryIndexes": [index("lsi1", "pk", "l")],
    }
    create(connection, "Demand", "pk", "sk", GlobalSecondaryIndexes=[index("gsi1", "g")], **more)
    more["ProvisionedThroughput"] = UNITS
    provisioned = [index("gsi1", "g", ProvisionedThroughput=UNITS)]
    create(connection, "Units", "pk", "sk", GlobalSecondaryIndexes=provisioned, **more)
    create(connection, "Plain", "pk")
    arns = {}
    for name in ("Demand", "Units"):
        request = {"TableName": name, "BackupName": "one"}
        arn = accept(connection, "CreateBackup", request)["BackupDetails"]["BackupArn"]
        end = time.monotonic() + 20
        while (
            accept(connection, "DescribeBackup", {"BackupArn": arn})["BackupDescription"][
                "BackupDetails"
            ]["BackupStatus"]
            != "AVAILABLE"
        ):
            assert time.monotonic() < end
            time.sleep(0.02)
        arns[name] = arn
    return arns


# --- CreateTable ---


def new_table(*keys, **more):
    keys = keys or ("pk",)
    mode = {} if "ProvisionedThroughput" in more else {"BillingMode": "PAY_PER_REQUEST"}
    return {
        "TableName": "New",
        "KeySchema": key_schema(*keys),
        "AttributeDefinitions": attributes(**dict.fromkeys(keys, "S")),
        **mode,
        **more,
    }


def with_index(projection=None, mode=None, **more):
    """A table with the index ggg, which has these members."""
    share = {"Projection": projection} if projection else {}
    request = new_table(
        AttributeDefinitions=attributes(pk="S", g="S"),
        GlobalSecondaryIndexes=[{**index("ggg", "g"), **share, **more}],
    )
    return {**request, **(mode or {})}


def test_create_table(connection):
    names = [f"a{i:02}" for i in range(21)]
    at = "globalSecondaryIndexes.1.member."
    provisioned = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}
    zero = {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    no_keys, no_definitions = new_table(), new_table()
    del no_keys["KeySchema"], no_definitions["AttributeDefinitions"]
    zero_units = broken(*both(at + "provisionedThroughput", "'0'", AT_LEAST_ONE))
    keys_only = {"ProjectionType": "KEYS_ONLY", "NonKeyAttributes": ["x"]}
    many = {"ProjectionType": "INCLUDE", "NonKeyAttributes": names}
    cases = {
        "a key schema is required": (no_keys, absent("keySchema")),
        "definitions are required": (no_definitions, absent("attributeDefinitions")),
        "KEYS_ONLY includes nothing": (
            with_index(keys_only),
            INVALID + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
        ),
        "an index includes 20 names": (
            with_index(many),
            broken(
                (
                    f"'[{', '.join(names)}]' at '{at}projection.nonKeyAttributes'",
                    "have length less than or equal to 20",
                )
            ),
        ),
        "an index on demand has no units": (
            with_index(ProvisionedThroughput=UNITS),
            INVALID + "ProvisionedThroughput should not be specified for index: ggg when BillingMode "
            "is PAY_PER_REQUEST",
        ),
        "a provisioned index has units": (
            with_index(mode=provisioned),
            INVALID + "ProvisionedThroughput is not specified for index: ggg",
        ),
        "zero units of an index on demand": (with_index(ProvisionedThroughput=zero), zero_units),
        "zero units of a provisioned index": (
            with_index(mode=provisioned, ProvisionedThroughput=zero),
            zero_units,
        ),
        "zero units of a table on demand": (
            {**new_table(), "ProvisionedThroughput": zero},
            broken(*both("provisionedThroughput", "'0'", AT_LEAST_ONE)),
        ),
        "a limit of writes alone on provisioned units": (
            new_table(ProvisionedThroughput=UNITS, OnDemandThroughput={"MaxWriteRequestUnits": 5}),
            INVALID + "MaxWriteRequestUnits for OnDemandThroughput cannot be specified when table "
            "BillingMode is PROVISIONED.",
        ),
    }
    check(connection, "CreateTable", cases)


# --- UpdateTable ---

LISTED = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
    "ReplicaTransitRoleArn, {}DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or "
    "TableClass is required"
)


def demand(**change):
    return {"TableName": "Demand", **change}


def units(**change):
    return {"TableName": "Units", **change}


def actions(*list_):
    return {"GlobalSecondaryIndexUpdates": list(list_)}


def of_index(name="gsi1", **change):
    return actions({"Update": {"IndexName": name, **change}})


def test_update_table_without_a_change(connection):
    alone = LISTED.format("MultiRegionConsistency, ")
    cases = {
        "consistency is left out of the list if it was sent": (
            demand(MultiRegionConsistency="STRONG"),
            LISTED.format(""),
        ),
        "definitions alone": (demand(AttributeDefinitions=attributes(pk="S")), alone),
        "no change is told before a missing table": ({"TableName": "Missing"}, alone),
        "an empty witness is no change": (demand(GlobalTableWitnessUpdates=[{}]), alone),
        "a witness alone is no change": (
            demand(GlobalTableWitnessUpdates=[{"Create": {"RegionName": "us-east-2"}}]),
            alone,
        ),
        "a member that does not exist is no change": (demand(KeySchema="x"), alone),
    }
    check(connection, "UpdateTable", cases)


def test_members_of_update_table(connection):
    at = "globalSecondaryIndexUpdates.1.member."
    pair = "provisionedThroughput"
    of_update = at + "update." + pair
    name = f"'' at '{at}create.indexName'"
    views = "satisfy enum value set: [OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"
    no_flag = absent("streamSpecification.streamEnabled")
    no_warmth = INVALID + (
        "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond "
        "specified for index: ghost"
    )
    empty_key = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": ""}
    cases = {
        "an empty stream": (demand(StreamSpecification={}), no_flag),
        "a view alone": (demand(StreamSpecification={"StreamViewType": "NEW_IMAGE"}), no_flag),
        "an empty view": (
            demand(StreamSpecification={"StreamEnabled": True, "StreamViewType": ""}),
            broken(("'' at 'streamSpecification.streamViewType'", views)),
        ),
        "empty units": (
            units(ProvisionedThroughput={}),
            absent(f"{pair}.writeCapacityUnits", f"{pair}.readCapacityUnits"),
        ),
        "units are not merged": (
            units(ProvisionedThroughput={"ReadCapacityUnits": 1}),
            absent(f"{pair}.writeCapacityUnits"),
        ),
        "zero units": (
            units(ProvisionedThroughput={"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}),
            broken(*both(pair, "'0'", AT_LEAST_ONE)),
        ),
        "an empty update of an index": (
            demand(**actions({"Update": {}})),
            absent(at + "update.indexName"),
        ),
        "an empty deletion of an index": (
            demand(**actions({"Delete": {}})),
            absent(at + "delete.indexName"),
        ),
        "empty units of an index": (
            demand(**of_index(ProvisionedThroughput={})),
            absent(f"{of_update}.writeCapacityUnits", f"{of_update}.readCapacityUnits"),
        ),
        "an empty name of an index": (
            demand(**actions({"Create": index("", "n")})),
            broken((name, LENGTH + "3"), (name, NAME_PATTERN)),
        ),
        "nothing is warm in an index that is not there": (
            demand(**of_index("ghost", WarmThroughput={})),
            no_warmth,
        ),
        "nothing is warm in a table that is not there": (
            {"TableName": "Missing", **of_index("ghost", WarmThroughput={})},
            no_warmth,
        ),
        "an empty definition beside a change": (
            demand(AttributeDefinitions=[{}], DeletionProtectionEnabled=False),
            absent(
                "attributeDefinitions.1.member.attributeType",
                "attributeDefinitions.1.member.attributeName",
            ),
        ),
        "an empty key of encryption": (
            demand(SSESpecification=empty_key),
            broken(("'' at 'sSESpecification.kMSMasterKeyId'", LENGTH + "1")),
        ),
    }
    check(connection, "UpdateTable", cases)


def test_replicas_and_other_changes(connection):
    def plain(**change):
        replica = {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}
        return {"TableName": "Plain", **replica, **change}

    alone = INVALID + "Replica modification must be the only operation in the request"
    witness = {"GlobalTableWitnessUpdates": [{"Create": {"RegionName": "us-east-2"}}]}
    strong = {"MultiRegionConsistency": "STRONG"}
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    mode = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}
    new_index = {"AttributeDefinitions": attributes(n="S"), **actions({"Create": index("gg2", "n")})}
    cases = {
        "a stream": (plain(StreamSpecification=stream), alone),
        "a table class": (plain(TableClass="STANDARD"), alone),
        "deletion protection": (plain(DeletionProtectionEnabled=True), alone),
        "encryption": (plain(SSESpecification={"Enabled": True}), alone),
        "a billing mode": (plain(**mode), alone),
        "an index": (plain(**new_index), alone),
        "strong consistency of two regions": (
            plain(**strong),
            "Unsupported replica count for global tables with MultiRegionConsistency set to STRONG.",
        ),
        "a replica, a witness and another change": (
            plain(**witness, **strong, DeletionProtectionEnabled=True),
            INVALID + "Requests that modify replicas or witnesses must not also modify other fields",
        ),
    }
    check(connection, "UpdateTable", cases)


# --- Backups and restores ---


def test_backups(connection):
    name = "'' at 'backupName'"
    cases = {
        "an empty name": (
            {"TableName": "Demand", "BackupName": ""},
            broken((name, NAME_PATTERN), (name, LENGTH + "3")),
        )
    }
    check(connection, "CreateBackup", cases)
    types = "satisfy enum value set: [ALL, AWS_BACKUP, USER, SYSTEM]"
    cases = {
        "a type in lower case": ({"BackupType": "user"}, broken(("'user' at 'backupType'", types))),
        "101 backups": (
            {"Limit": 101},
            broken(("'101' at 'limit'", "have value less than or equal to 100")),
        ),
    }
    check(connection, "ListBackups", cases)


def test_restores_of_a_backup(connection, backups):
    def of(table, **overrides):
        return {"TargetTableName": "Never", "BackupArn": backups[table], **overrides}

    at = "globalSecondaryIndexOverride.1.member."
    units_override = "provisionedThroughputOverride"
    modes = "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"
    on_demand = {"BillingModeOverride": "PAY_PER_REQUEST"}
    paid = index("gsi1", "g", ProvisionedThroughput=UNITS)
    empty_key = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": ""}
    other = {**paid, "Projection": {"ProjectionType": "KEYS_ONLY"}}
    unknown = (
        "Index {} does not match a secondary index that existed in the source table and cannot be "
        "created during the restore operation"
    )
    cases = {
        "a mode that does not exist": (
            of("Demand", BillingModeOverride="BOGUS"),
            broken(("'BOGUS' at 'billingModeOverride'", modes)),
        ),
        "an index that was not there": (
            of("Demand", GlobalSecondaryIndexOverride=[index("nope", "q")]),
            REQUEST + unknown.format("nope"),
        ),
        "an index of another projection": (
            of("Units", GlobalSecondaryIndexOverride=[other]),
            REQUEST + unknown.format("gsi1"),
        ),
        "units of an index on demand": (
            of("Units", **on_demand, GlobalSecondaryIndexOverride=[paid]),
            REQUEST + "Cannot override ProvisionedThroughput if BillingMode is overridden to "
            "PAY_PER_REQUEST for index gsi1",
        ),
        "no units of a provisioned index": (
            of("Units", GlobalSecondaryIndexOverride=[index("gsi1", "g")]),
            REQUEST + "Must specify provisioned throughput for index gsi1",
        ),
        "limits on provisioned units": (
            of("Units", OnDemandThroughputOverride={"MaxReadRequestUnits": 5}),
            REQUEST + "Cannot override MaxReadRequestUnits for OnDemandThroughput unless "
            "BillingModeOverride is PAY_PER_REQUEST",
        ),
        "units on demand": (
            of("Units", **on_demand, ProvisionedThroughputOverride=UNITS),
            REQUEST + "Cannot override ProvisionedThroughput if BillingMode is overridden to "
            "PAY_PER_REQUEST",
        ),
        "empty units": (
            of("Demand", ProvisionedThroughputOverride={}),
            absent(f"{units_override}.writeCapacityUnits", f"{units_override}.readCapacityUnits"),
        ),
        "an empty key": (
            of("Demand", SSESpecificationOverride=empty_key),
            broken(("'' at 'sSESpecificationOverride.kMSMasterKeyId'", LENGTH + "1")),
        ),
        "an index of a short name alone": (
            of("Demand", GlobalSecondaryIndexOverride=[{"IndexName": "x"}]),
            broken(
                (f"'x' at '{at}indexName'", LENGTH + "3"),
                (f"null at '{at}keySchema'", "not be null"),
                (f"null at '{at}projection'", "not be null"),
            ),
        ),
    }
    check(connection, "RestoreTableFromBackup", cases)


# --- Exports and imports ---


def test_requests_for_exports(connection):
    def export(**members):
        return {"TableArn": ZONE + "Demand", "S3Bucket": "bucket", **members}

    def incremental(**specification):
        return export(ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=specification)

    now = int(time.time())
    no_key = REQUEST + "KMS Key Id is not supported for this encryption type"
    no_start = REQUEST + "ExportFromTime must be provided in IncrementalExportSpecification"
    specification = {"IncrementalExportSpecification": {"ExportFromTime": now}}
    bucket = "arn:aws:s3:::x"
    cases = {
        "a name instead of an ARN": (
            export(TableArn="Demand"),
            INVALID + "tableArn is not a valid ARN",
        ),
        "the ARN of an index": (
            export(TableArn=ZONE + "Demand/index/gsi1"),
            REQUEST + "Table ARN is invalid.",
        ),
        "the ARN of a bucket": (
            export(S3Bucket=bucket),
            broken((f"'{bucket}' at 's3Bucket'", BUCKET_PATTERN)),
        ),
        "an empty bucket": (export(S3Bucket=""), broken(("'' at 's3Bucket'", BUCKET_PATTERN))),
        "an owner that is no account": (
            export(S3BucketOwner="nobody"),
            broken(("'nobody' at 's3BucketOwner'", "satisfy regular expression pattern: [0-9]{12}")),
        ),
        "a specification without a type": (
            export(**specification),
            REQUEST + "Export Type expected to be Incremental Export when incremental export "
            "specification is provided",
        ),
        "a specification of a full export": (
            export(ExportType="FULL_EXPORT", **specification),
            REQUEST + "When Export Type is Full Export , Incremental Export Specification should not "
            "be provided",
        ),
        "no specification": (
            export(ExportType="INCREMENTAL_EXPORT"),
            REQUEST + "Incremental Export Specification expected when export type is set as "
            "Incremental Export",
        ),
        "an empty specification": (incremental(), no_start),
        "a view alone": (incremental(ExportViewType="NEW_IMAGE"), no_start),
        "a key without an algorithm": (export(S3SseKmsKeyId="alias/x"), no_key),
        "a key of AES256": (export(S3SseKmsKeyId="alias/x", S3SseAlgorithm="AES256"), no_key),
        "an empty filter": (
            export(FilterSpecification={}),
            REQUEST + "Invalid FilterSpecification: The specification can not be empty",
        ),
    }
    check(connection, "ExportTableToPointInTime", cases)


def test_requests_for_imports(connection):
    def request(csv=None, **table):
        options = {"InputFormatOptions": {"Csv": csv}} if csv else {}
        return {
            "ClientToken": "token",
            "S3BucketSource": {"S3Bucket": "bucket"},
            "InputFormat": "DYNAMODB_JSON",
            "TableCreationParameters": {
                "TableName": "Imported",
                "AttributeDefinitions": attributes(pk="S"),
                "KeySchema": key_schema("pk"),
                **table,
            },
            **options,
        }

    cases = {
        "neither a mode nor units": (
            request(),
            INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
            "BillingMode is PROVISIONED",
        ),
        "limits on provisioned units": (
            request(ProvisionedThroughput=UNITS, OnDemandThroughput={"MaxWriteRequestUnits": 1}),
            INVALID + "MaxWriteRequestUnits for OnDemandThroughput cannot be specified when table "
            "BillingMode is PROVISIONED.",
        ),
        "options of another format": (
            request({"Delimiter": ","}, BillingMode="PAY_PER_REQUEST"),
            REQUEST + "Unsupported InputFormatOptions for the given input format: DYNAMODB_JSON.",
        ),
        "a name that is taken": (
            request(TableName="Plain", BillingMode="PAY_PER_REQUEST"),
            "Table already exists: Plain",
            "ResourceInUseException",
        ),
    }
    check(connection, "ImportTable", cases)


# --- Others ---


def test_insights_of_indexes_that_have_none(connection):
    for name in ("lsi1", "nope"):
        missing = (
            f"Requested resource not found: Index: {name} not found for table: Demand",
            "ResourceNotFoundException",
        )
        request = {"TableName": "Demand", "IndexName": name}
        check(connection, "DescribeContributorInsights", {name: (request, *missing)})
        request["ContributorInsightsAction"] = "ENABLE"
        check(connection, "UpdateContributorInsights", {name: (request, *missing)})


def test_an_empty_setting_of_a_global_table(connection):
    request = {"GlobalTableName": "Demand", "ReplicaSettingsUpdate": [{}]}
    cases = {"no region": (request, absent("replicaSettingsUpdate.1.member.regionName"))}
    check(connection, "UpdateGlobalTableSettings", cases)
