"""What the service answers to CreateTable, measured in October 2026."""

import re

import pytest
from answers import accept, attributes, create, key_schema, refuse

INVALID = "One or more parameter values were invalid: "
ALL = {"ProjectionType": "ALL"}
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
KEY_ARN = r"arn:aws:kms:[^:]*:\d{12}:key/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def broken(*faults):
    """The message for broken constraints: pairs of `Value ... at ...` and of what it must be."""
    count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''} detected: "
    return count + "; ".join(
        f"Value {value} failed to satisfy constraint: Member must {rule}" for value, rule in faults
    )


def index(name="ggg", *keys, **more):
    return {"IndexName": name, "KeySchema": key_schema(*keys or ("g",)), "Projection": ALL, **more}


def request_for(*keys, defined=(), **more):
    keys = keys or ("pk",)
    mode = {} if "ProvisionedThroughput" in more else {"BillingMode": "PAY_PER_REQUEST"}
    names = dict.fromkeys((*keys, *defined), "S")
    base = {"AttributeDefinitions": attributes(**names), "KeySchema": key_schema(*keys)}
    return {"TableName": "New", **base, **mode, **more}


def refuse_table(connection, message, *keys, **more):
    refuse(connection, "CreateTable", request_for(*keys, **more), message)


def made(connection, name, **more):
    """The description of a new table, which is there for this alone."""
    accept(connection, "CreateTable", {**request_for(**more), "TableName": name})
    shown = accept(connection, "DescribeTable", {"TableName": name})["Table"]
    accept(connection, "DeleteTable", {"TableName": name})
    return shown


# --- Streams and encryption ---

VIEWS = "satisfy enum value set: [OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"
NO_FLAG = broken(("null at 'streamSpecification.streamEnabled'", "not be null"))


@pytest.mark.parametrize(
    "stream, message",
    [
        (
            {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"},
            INVALID
            + "Table is being created with a stream disabled, UpdateViewType should not be specified",
        ),
        ({"StreamViewType": "NEW_IMAGE"}, NO_FLAG),
        ({}, NO_FLAG),
        (
            {"StreamEnabled": True, "StreamViewType": "new_image"},
            broken(("'new_image' at 'streamSpecification.streamViewType'", VIEWS)),
        ),
        (
            {"StreamEnabled": True, "StreamViewType": ""},
            broken(("'' at 'streamSpecification.streamViewType'", VIEWS)),
        ),
    ],
)
def test_stream_specifications(connection, stream, message):
    refuse_table(connection, message, StreamSpecification=stream)


def test_a_stream_that_is_not_enabled_is_not_shown(connection):
    assert "StreamSpecification" not in made(
        connection, "Quiet", StreamSpecification={"StreamEnabled": False}
    )


@pytest.mark.parametrize(
    "encryption, message",
    [
        (
            {"Enabled": False, "SSEType": "KMS", "KMSMasterKeyId": "alias/x"},
            INVALID + "SSEType can not be specified if Enabled is false",
        ),
        (
            {"Enabled": False, "SSEType": "AES256"},
            INVALID + "SSEType can not be specified if Enabled is false",
        ),
        ({"Enabled": True, "SSEType": "AES256"}, INVALID + "SSEType AES256 is not supported"),
        (
            {"Enabled": True, "KMSMasterKeyId": "alias/x"},
            INVALID + "SSEType KMS is required if KMSMasterKeyId is specified",
        ),
        (
            {"Enabled": True, "SSEType": "kms"},
            broken(("'kms' at 'sSESpecification.sSEType'", "satisfy enum value set: [AES256, KMS]")),
        ),
        (
            {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": ""},
            broken(
                ("'' at 'sSESpecification.kMSMasterKeyId'", "have length greater than or equal to 1")
            ),
        ),
    ],
)
def test_encryption_that_is_refused(connection, encryption, message):
    refuse_table(connection, message, SSESpecification=encryption)


def test_encryption_without_enabled(connection):
    assert "SSEDescription" not in made(connection, "Plain", SSESpecification={})
    assert "SSEDescription" not in made(connection, "Plain", SSESpecification={"Enabled": False})
    typed = made(connection, "Typed", SSESpecification={"SSEType": "KMS"})["SSEDescription"]
    assert (typed["Status"], typed["SSEType"]) == ("ENABLED", "KMS")
    assert re.fullmatch(KEY_ARN, typed["KMSMasterKeyArn"])
    keyed = {"SSEType": "KMS", "KMSMasterKeyId": "8963cda5-0fac-4af1-8635-0af67d16fe14"}
    shown = made(connection, "Keyed", SSESpecification=keyed)["SSEDescription"]
    assert shown["KMSMasterKeyArn"].endswith(":key/8963cda5-0fac-4af1-8635-0af67d16fe14")


def test_the_answer_to_creation_has_the_key_already(connection):
    request = {**request_for(SSESpecification={"Enabled": True}), "TableName": "Sealed"}
    answer = accept(connection, "CreateTable", request)["TableDescription"]["SSEDescription"]
    assert (answer["Status"], answer["SSEType"]) == ("ENABLED", "KMS")
    deleted = accept(connection, "DeleteTable", {"TableName": "Sealed"})["TableDescription"]
    assert deleted["SSEDescription"] == answer


def test_the_table_class_is_shown_if_it_was_named(connection):
    assert "TableClassSummary" not in made(connection, "Unnamed")
    named = made(connection, "Named", TableClass="STANDARD")
    assert named["TableClassSummary"] == {"TableClass": "STANDARD"}


# --- Throughput ---


def test_the_mode_comes_by_two_names(connection):
    """TableThroughputModeSummary is in no model, but in every answer of an on-demand table."""
    request = {**request_for(), "TableName": "Modes"}
    answer = accept(connection, "CreateTable", request)["TableDescription"]
    assert answer["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    assert answer["TableThroughputModeSummary"] == {"TableThroughputMode": "PAY_PER_REQUEST"}
    shown = accept(connection, "DescribeTable", {"TableName": "Modes"})["Table"]
    since = shown["BillingModeSummary"]["LastUpdateToPayPerRequestDateTime"]
    assert shown["TableThroughputModeSummary"] == {
        "TableThroughputMode": "PAY_PER_REQUEST",
        "LastUpdateToPayPerRequestDateTime": since,
    }
    provisioned = made(connection, "Fixed", ProvisionedThroughput=UNITS)
    assert not {"BillingModeSummary", "TableThroughputModeSummary"} & set(provisioned)


def both(value, rule):
    names = ("writeCapacityUnits", "readCapacityUnits")
    return broken(*((f"{value} at 'provisionedThroughput.{name}'", rule) for name in names))


AT_LEAST_ONE = "have value greater than or equal to 1"


@pytest.mark.parametrize(
    "more, message",
    [
        (
            {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": UNITS},
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}},
            both("'0'", AT_LEAST_ONE),
        ),
        (
            {"ProvisionedThroughput": {"ReadCapacityUnits": -1, "WriteCapacityUnits": -1}},
            both("'-1'", AT_LEAST_ONE),
        ),
        (
            {"ProvisionedThroughput": {"ReadCapacityUnits": 1}},
            broken(("null at 'provisionedThroughput.writeCapacityUnits'", "not be null")),
        ),
        ({"ProvisionedThroughput": {}}, both("null", "not be null")),
        (
            {"ProvisionedThroughput": UNITS, "OnDemandThroughput": {"MaxReadRequestUnits": 1}},
            INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table "
            "BillingMode is PROVISIONED.",
        ),
        (
            {"BillingMode": ""},
            broken(
                ("'' at 'billingMode'", "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]")
            ),
        ),
    ],
)
def test_throughput_of_the_wrong_mode(connection, more, message):
    refuse_table(connection, message, **more)


def test_a_table_without_a_mode_needs_units(connection):
    request = request_for()
    del request["BillingMode"]
    message = INVALID + (
        "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
        "PROVISIONED"
    )
    refuse(connection, "CreateTable", request, message)


@pytest.mark.parametrize("units", [0, -1, -2])
def test_limits_out_of_range(connection, units):
    limits = {"MaxReadRequestUnits": units, "MaxWriteRequestUnits": units}
    message = "Requested MaxReadRequestUnits for OnDemandThroughput for {} is outside of valid range"
    refuse_table(connection, INVALID + message.format("table"), OnDemandThroughput=limits)
    indexes = [index(OnDemandThroughput=limits)]
    refuse_table(
        connection,
        INVALID + message.format("index : ggg"),
        defined=["g"],
        GlobalSecondaryIndexes=indexes,
    )


INITIAL = (
    "is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/"
    "latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
)


@pytest.mark.parametrize("units", [1, 0, -1])
def test_warm_throughput_below_the_initial_one(connection, units):
    warm = {"ReadUnitsPerSecond": units, "WriteUnitsPerSecond": units}
    start = INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for "
    refuse_table(connection, f"{start}table {INITIAL}", WarmThroughput=warm)
    refuse_table(
        connection,
        f"{start}index ggg {INITIAL}",
        defined=["g"],
        GlobalSecondaryIndexes=[index(WarmThroughput=warm)],
    )


def test_empty_and_partial_throughput(connection):
    indexes = [index(WarmThroughput={}, OnDemandThroughput={})]
    more = {"OnDemandThroughput": {}, "WarmThroughput": {}, "GlobalSecondaryIndexes": indexes}
    shown = made(connection, "Empty", defined=["g"], **more)
    default = {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"}
    for part in (shown, shown["GlobalSecondaryIndexes"][0]):
        assert part["WarmThroughput"] == default
        assert "OnDemandThroughput" not in part
    more = {
        "OnDemandThroughput": {"MaxReadRequestUnits": 100},
        "WarmThroughput": {"ReadUnitsPerSecond": 12001},
    }
    shown = made(connection, "Partial", **more)
    assert shown["OnDemandThroughput"] == {"MaxReadRequestUnits": 100}
    assert shown["WarmThroughput"] == {**default, "ReadUnitsPerSecond": 12001}


def test_provisioned_units_are_warm(connection):
    indexes = [index(ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 1})]
    more = {"ProvisionedThroughput": UNITS, "GlobalSecondaryIndexes": indexes}
    shown = made(connection, "Warm", defined=["g"], **more)
    assert shown["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}
    warm = {"ReadUnitsPerSecond": 5, "WriteUnitsPerSecond": 5, "Status": "ACTIVE"}
    assert shown["WarmThroughput"] == warm
    warm = {"ReadUnitsPerSecond": 7, "WriteUnitsPerSecond": 1, "Status": "ACTIVE"}
    assert shown["GlobalSecondaryIndexes"][0]["WarmThroughput"] == warm


# --- Keys and indexes ---


@pytest.mark.parametrize(
    "keys, defined, message",
    [
        ("sk:R pk:H", "pk sk", "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
        ("pk:H sk:H", "pk sk", "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"),
        ("pk:R", "pk", "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
        (
            "PK:H",
            "pk",
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. Keys: [PK], "
            "AttributeDefinitions: [pk]",
        ),
        ("pk:H", "pk pk", "Attribute Name is duplicated: pk"),
        (
            "pk:H",
            "pk x",
            INVALID + "Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions",
        ),
        ("pk:H", "", "Invalid KeySchema: Some index key attribute have no definition"),
        (
            "pk:H",
            "x",
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], "
            "AttributeDefinitions: [x]",
        ),
        ("pk:H pk:R", "pk sk", "Both the Hash Key and the Range Key element in the KeySchema have the same name"),
    ],
)
def test_keys_and_definitions(connection, keys, defined, message):
    kinds = {"H": "HASH", "R": "RANGE"}
    pairs = [key.split(":") for key in keys.split()]
    schema = [{"AttributeName": name, "KeyType": kinds[kind]} for name, kind in pairs]
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in defined.split()]
    refuse_table(connection, message, KeySchema=schema, AttributeDefinitions=definitions)


def test_definitions_that_lack_members(connection):
    at = "null at 'attributeDefinitions.1.member."
    message = broken((f"{at}attributeType'", "not be null"), (f"{at}attributeName'", "not be null"))
    refuse_table(connection, message, AttributeDefinitions=[{}])
    at = "null at 'keySchema.1.member."
    message = broken((f"{at}attributeName'", "not be null"), (f"{at}keyType'", "not be null"))
    refuse_table(connection, message, KeySchema=[{}])
    refuse_table(
        connection,
        broken(("'[]' at 'keySchema'", "have length greater than or equal to 1")),
        KeySchema=[],
    )


def test_lists_that_are_empty(connection):
    for name in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        refuse_table(connection, f"{INVALID}List of {name} is empty", "pk", "sk", **{name: []})
    made(connection, "Untagged", Tags=[])


def test_names_of_a_global_index(connection):
    at = "'' at 'globalSecondaryIndexes.1.member.indexName'"
    message = broken(
        (at, "have length greater than or equal to 3"),
        (at, "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
    )
    refuse_table(connection, message, defined=["g"], GlobalSecondaryIndexes=[index("")])


def test_too_many_indexes(connection):
    names = [f"a{i}" for i in range(21)]
    many = [index(f"index-{name}", name) for name in names]
    refuse_table(
        connection,
        INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
        defined=names,
        GlobalSecondaryIndexes=many,
    )
    local = [index(f"index-{name}", "pk", name) for name in names[:6]]
    refuse_table(
        connection,
        INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
        "pk",
        "sk",
        defined=names[:6],
        LocalSecondaryIndexes=local,
    )


def include(*names):
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(names)}


AT = "at 'globalSecondaryIndexes.1.member.projection"


@pytest.mark.parametrize(
    "projection, message",
    [
        (
            include(),
            broken((f"'[]' {AT}.nonKeyAttributes'", "have length greater than or equal to 1")),
        ),
        (
            {"ProjectionType": "INCLUDE"},
            INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
        (
            {"ProjectionType": "ALL", "NonKeyAttributes": ["x"]},
            INVALID + "ProjectionType is ALL, but NonKeyAttributes is specified",
        ),
        (include("x", "x"), INVALID + "Duplicate element in NonKeyAttributes: x"),
        ({}, INVALID + "Unknown ProjectionType: null"),
        (None, broken((f"null {AT}'", "not be null"))),
        (
            {"ProjectionType": "all"},
            broken(
                (
                    f"'all' {AT}.projectionType'",
                    "satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]",
                )
            ),
        ),
    ],
)
def test_projections(connection, projection, message):
    indexes = [index(Projection=projection)]
    refuse_table(connection, message, defined=["g"], GlobalSecondaryIndexes=indexes)


def test_key_attributes_may_be_included(connection):
    indexes = [index(Projection=include("zz", "pk", "g"))]
    shown = made(connection, "Included", defined=["g"], GlobalSecondaryIndexes=indexes)
    projection = shown["GlobalSecondaryIndexes"][0]["Projection"]
    assert projection == include("g", "pk", "zz")


@pytest.mark.parametrize(
    "keys, table_keys, message",
    [
        (
            ("pk", "x"),
            ("pk",),
            "Table KeySchema does not have a range key, which is required when specifying a "
            "LocalSecondaryIndex",
        ),
        (
            ("x", "sk"),
            ("pk", "sk"),
            "Index KeySchema does not have the same leading hash key as table KeySchema for index: "
            "lll. index hash key: x, table hash key: pk",
        ),
        (("pk",), ("pk", "sk"), "Index KeySchema does not have a range key for index: lll"),
    ],
)
def test_keys_of_local_indexes(connection, keys, table_keys, message):
    defined = [key for key in keys if key not in table_keys]
    indexes = [index("lll", *keys)]
    refuse_table(
        connection, INVALID + message, *table_keys, defined=defined, LocalSecondaryIndexes=indexes
    )


def test_names_of_indexes_are_unique(connection):
    refuse_table(
        connection,
        INVALID + "Duplicate index name: dup",
        "pk",
        "sk",
        defined=["g"],
        GlobalSecondaryIndexes=[index("dup")],
        LocalSecondaryIndexes=[index("dup", "pk", "g")],
    )
    local = index("same-range", "pk", "sk")
    more = {"GlobalSecondaryIndexes": [index("Twin", "pk", "sk")], "LocalSecondaryIndexes": [local]}
    accept(connection, "CreateTable", {**request_for("pk", "sk", **more), "TableName": "Twin"})


def test_indexes_keep_their_order(connection):
    indexes = [index("g-z", "z"), index("g-a", "a")]
    shown = made(connection, "Order", defined=["z", "a"], GlobalSecondaryIndexes=indexes)
    assert [part["IndexName"] for part in shown["GlobalSecondaryIndexes"]] == ["g-z", "g-a"]


# --- Tables that exist ---


def test_a_table_that_exists(connection):
    create(connection, "Exists", "pk")
    message = "Table already exists: Exists"
    request = {**request_for(ProvisionedThroughput=UNITS), "TableName": "Exists"}
    refuse(connection, "CreateTable", request, message, "ResourceInUseException")
    request["KeySchema"] = [{"AttributeName": "pk", "KeyType": "RANGE"}]
    message = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
    refuse(connection, "CreateTable", request, message)
    create(connection, "EXISTS", "pk")


def test_short_names_of_tables(connection):
    length = "have length greater than or equal to 3"
    pattern = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    for name, rules in {
        "": [length, pattern],
        "ab": [length],
        "a b/c!": [pattern],
        "a" * 256: ["have length less than or equal to 255"],
    }.items():
        message = broken(*((f"'{name}' at 'tableName'", rule) for rule in rules))
        refuse(connection, "DescribeTable", {"TableName": name}, message)
        more = {"TableName": name, "WarmThroughput": {}}
        refuse(connection, "UpdateTable", more, message)
