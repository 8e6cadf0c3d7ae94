"""What the service answers to requests about tables, captured in 2025 and 2026."""

import re

import pytest
from answers import accept, attributes, create, key_schema, refuse

INVALID = "One or more parameter values were invalid: "
ALL = {"ProjectionType": "ALL"}
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


def index(name, *keys, **more):
    return {"IndexName": name, "KeySchema": key_schema(*keys), "Projection": ALL, **more}


def table(name="New", keys=("pk",), defined=None, **more):
    """A request that creates a table on demand unless `more` says otherwise."""
    mode = {} if "ProvisionedThroughput" in more else {"BillingMode": "PAY_PER_REQUEST"}
    defined = attributes(**dict.fromkeys(defined or keys, "S"))
    more = {"AttributeDefinitions": defined, **mode, **more}
    return {"TableName": name, "KeySchema": key_schema(*keys), **more}


def elements(roles):
    """A key schema of `name:H` and `name:R`."""
    kinds = {"H": "HASH", "R": "RANGE"}
    pairs = [role.split(":") for role in roles.split()]
    return [{"AttributeName": name, "KeyType": kinds[kind]} for name, kind in pairs]


@pytest.fixture(scope="module", name="arns", autouse=True)
def fixture_arns(connection):
    """Demand is on demand, Units provisioned; both have a local index lll and a global one ggg."""
    more = {
        "AttributeDefinitions": attributes(pk="S", sk="S", l="S", g="S"),
        "LocalSecondaryIndexes": [index("lll", "pk", "l")],
    }
    create(connection, "Demand", "pk", "sk", GlobalSecondaryIndexes=[index("ggg", "g")], **more)
    provisioned = [index("ggg", "g", ProvisionedThroughput=UNITS)]
    more["ProvisionedThroughput"] = UNITS
    create(connection, "Units", "pk", "sk", GlobalSecondaryIndexes=provisioned, **more)
    return {name: describe(connection, name)["TableArn"] for name in ("Demand", "Units")}


def describe(connection, name):
    return accept(connection, "DescribeTable", {"TableName": name})["Table"]


def refuse_update(connection, message, name="Demand", **request):
    refuse(connection, "UpdateTable", {"TableName": name, **request}, message)


def refuse_table(connection, message, *keys, **request):
    refuse(connection, "CreateTable", table(keys=keys or ("pk",), **request), message)


# --- Descriptions ---


def test_the_answer_to_deletion_says_little(connection):
    create(connection, "Gone", "pk", StreamSpecification=STREAM, TableClass="STANDARD")
    answer = accept(connection, "DeleteTable", {"TableName": "Gone"})["TableDescription"]
    assert set(answer) == {
        "TableName",
        "TableStatus",
        "TableId",
        "TableArn",
        "ItemCount",
        "TableSizeBytes",
        "BillingModeSummary",
        "TableThroughputModeSummary",
        "ProvisionedThroughput",
        "DeletionProtectionEnabled",
    }
    assert (answer["TableName"], answer["TableStatus"]) == ("Gone", "DELETING")


def test_creation_shows_warm_throughput_only_if_asked(connection):
    request = table("Warm", defined=("pk", "g"), GlobalSecondaryIndexes=[index("ggg", "g")])
    answer = accept(connection, "CreateTable", request)["TableDescription"]
    assert "WarmThroughput" not in answer
    assert "WarmThroughput" not in answer["GlobalSecondaryIndexes"][0]
    shown = describe(connection, "Warm")
    warm = {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"}
    assert shown["WarmThroughput"] == shown["GlobalSecondaryIndexes"][0]["WarmThroughput"] == warm
    request = table("Warmer", WarmThroughput={"ReadUnitsPerSecond": 13000})
    answer = accept(connection, "CreateTable", request)["TableDescription"]
    assert answer["WarmThroughput"] == {
        "ReadUnitsPerSecond": 13000,
        "WriteUnitsPerSecond": 4000,
        "Status": "UPDATING",
    }


def test_names_come_back_sorted(connection):
    included = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["z", "y", "x"]}
    indexes = [index("ggg", "b", Projection=included)]
    request = table("Sorted", ("c", "a"), ("c", "b", "a"), GlobalSecondaryIndexes=indexes)
    answer = accept(connection, "CreateTable", request)["TableDescription"]
    assert answer["AttributeDefinitions"] == attributes(a="S", b="S", c="S")
    projection = answer["GlobalSecondaryIndexes"][0]["Projection"]
    assert projection["NonKeyAttributes"] == ["x", "y", "z"]


def test_encryption_that_ends_is_still_shown(connection):
    create(connection, "Sealed", "pk", SSESpecification={"Enabled": True})
    shown = describe(connection, "Sealed")["SSEDescription"]
    assert re.fullmatch(r"arn:aws:kms:[^:]*:\d{12}:key/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
                        shown["KMSMasterKeyArn"])
    request = {"TableName": "Sealed", "SSESpecification": {"Enabled": False}}
    answer = accept(connection, "UpdateTable", request)["TableDescription"]
    assert answer["SSEDescription"] == {**shown, "Status": "UPDATING"}
    assert "SSEDescription" not in describe(connection, "Sealed")


# --- Keys and indexes ---


def test_definitions(connection):
    twice = [*attributes(pk="S"), *attributes(xyz="S"), *attributes(xyz="N")]
    refuse_table(connection, "Attribute Name is duplicated: xyz", AttributeDefinitions=twice)
    unused = INVALID + (
        "Some AttributeDefinitions are not used. AttributeDefinitions: [a, c, zz], keys used: [a, c]"
    )
    indexes = [index("ggg", "c")]
    refuse_table(connection, unused, "a", defined=("a", "c", "zz"), GlobalSecondaryIndexes=indexes)


def test_unused_definitions_come_before_the_other_rules_of_indexes(connection):
    message = INVALID + (
        "Some AttributeDefinitions are not used. AttributeDefinitions: [pk, g, b], keys used: "
        "[pk, g]"
    )
    indexes = [index("ggg", "g", Projection={})]
    refuse_table(connection, message, defined=("pk", "g", "b"), GlobalSecondaryIndexes=indexes)


@pytest.mark.parametrize(
    "keys, message",
    [
        (
            "a:H b:H c:H d:H e:H",
            INVALID + "The KeySchema exceeds the maximum allowed number of HASH key attributes",
        ),
        (
            "a:H b:R c:R d:R e:R f:R",
            INVALID + "The KeySchema exceeds the maximum allowed number of RANGE key attributes",
        ),
        (
            "a:H b:R c:H",
            INVALID + "All HASH key attributes must precede RANGE key attributes in the KeySchema",
        ),
        ("a:H a:R", "The KeySchema contains multiple key attributes with the same name"),
        ("a:H b:R b:R", "The KeySchema contains multiple key attributes with the same name"),
    ],
)
def test_keys_of_an_index(connection, keys, message):
    schema = elements(keys)
    names = sorted({element["AttributeName"] for element in schema})
    indexes = [{"IndexName": "ggg", "KeySchema": schema, "Projection": ALL}]
    refuse_table(connection, message, defined=("pk", *names), GlobalSecondaryIndexes=indexes)


def test_names_that_an_index_includes_twice(connection):
    twice = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["z", "y", "z"]}
    indexes = [index("ggg", "g", Projection=twice)]
    message = INVALID + "Duplicate element in NonKeyAttributes: z"
    refuse_table(connection, message, defined=("pk", "g"), GlobalSecondaryIndexes=indexes)


def test_keys_of_an_index_come_before_its_projection(connection):
    local = {"IndexName": "lll", "KeySchema": elements("pk:H l:H"), "Projection": {}}
    message = "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
    defined = ("pk", "sk", "l")
    refuse_table(connection, message, "pk", "sk", defined=defined, LocalSecondaryIndexes=[local])


def test_names_of_global_indexes_come_before_those_of_local_ones(connection):
    message = "2 validation errors detected: " + "; ".join(
        f"Value 'x' at '{kind}SecondaryIndexes.1.member.indexName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3"
        for kind in ("global", "local")
    )
    lists = {
        "LocalSecondaryIndexes": [index("x", "pk", "sk")],
        "GlobalSecondaryIndexes": [index("x", "sk")],
    }
    refuse_table(connection, message, "pk", "sk", **lists)


def updates(*actions):
    return {"GlobalSecondaryIndexUpdates": list(actions)}


NEW = {"Create": index("gg2", "n")}
DELETED = {"Delete": {"IndexName": "ggg"}}
DEFINED = {"AttributeDefinitions": attributes(n="S")}
PROTECTED = {"DeletionProtectionEnabled": True}


def test_one_action_for_each_element(connection):
    message = INVALID + (
        "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
    )
    refuse_update(connection, message, **DEFINED, **updates({**NEW, **DELETED}))


def test_changes_of_indexes(connection):
    refuse_update(
        connection, INVALID + "AttributeDefinitions is not specified for index: gg2", **updates(NEW)
    )
    message = INVALID + "List of GlobalSecondaryIndexUpdates is empty"
    refuse_update(connection, message, **updates(), **PROTECTED)
    refuse_update(
        connection,
        "Cannot delete an index that is not a GlobalSecondaryIndex: lll",
        **updates({"Delete": {"IndexName": "lll"}}),
    )
    message = INVALID + (
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: gg2 when "
        "BillingMode is PAY_PER_REQUEST"
    )
    provisioned = {"Create": index("gg2", "n", ProvisionedThroughput=UNITS)}
    refuse_update(connection, message, **DEFINED, **updates(provisioned))


# --- UpdateTable ---

ALONE = "modification must be the only operation in the request"
ENCRYPTED = {"SSESpecification": {"Enabled": True}}
CLASS = {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
WARM = {"WarmThroughput": {"ReadUnitsPerSecond": 13000}}
LIMITED = {"OnDemandThroughput": {"MaxReadRequestUnits": 5}}
STREAMED = {"StreamSpecification": STREAM}
PROVISIONED = {"ProvisionedThroughput": {"ReadCapacityUnits": 6, "WriteCapacityUnits": 6}}
CREATED = {**DEFINED, **updates(NEW)}


@pytest.mark.parametrize(
    "request_, message",
    [
        ({**ENCRYPTED, **STREAMED}, f"Server-Side Encryption {ALONE}"),
        ({**CLASS, **updates(DELETED)}, f"TableClass {ALONE}"),
        ({**PROTECTED, **STREAMED}, f"DeletionProtection {ALONE}"),
        ({**PROTECTED, **PROVISIONED}, f"DeletionProtection {ALONE}"),
        ({**WARM, **STREAMED}, "WarmThroughput must be the only operation in the request"),
        (
            {**WARM, **CREATED},
            "Create global secondary index cannot be specified when updating WarmThroughput",
        ),
        (
            {**LIMITED, **STREAMED},
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        ),
        ({**STREAMED, **PROVISIONED}, "You cannot modify stream status while updating table IOPS"),
        (
            {**CREATED, **PROVISIONED},
            "You cannot create or delete index while updating table IOPS",
        ),
        (
            {**updates(DELETED), **PROVISIONED},
            "You cannot create or delete index while updating table IOPS",
        ),
        (
            {**updates(DELETED), **STREAMED},
            "You cannot create or delete index while changing stream status",
        ),
    ],
)
def test_changes_that_must_come_alone(connection, request_, message):
    refuse_update(connection, INVALID + message, **request_)


def test_a_limit_may_come_with_the_mode(connection):
    request = {"TableName": "Demand", "BillingMode": "PAY_PER_REQUEST", **LIMITED}
    accept(connection, "UpdateTable", request)


def test_nothing_to_update(connection):
    message = (
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
        "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "
        "OnDemandThroughput, WarmThroughput or TableClass is required"
    )
    refuse_update(connection, message)
    refuse_update(connection, message, **DEFINED, **updates())


def test_units_that_do_not_change(connection):
    message = (
        "The provisioned throughput for the index ggg will not change. The requested value equals "
        "the current value. Current ReadCapacityUnits provisioned for index ggg: 5. Requested "
        "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for index ggg: 5. Requested "
        "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits and "
        "how to request higher limits."
    )
    same = {"Update": {"IndexName": "ggg", "ProvisionedThroughput": UNITS}}
    refuse_update(connection, message, "Units", **updates(same))


def test_stream_specifications(connection):
    message = "Table is being created with a stream enabled, UpdateViewType is required"
    enabled = {"StreamEnabled": True}
    refuse_table(connection, INVALID + message, StreamSpecification=enabled)
    message = "If stream is being enabled then UpdateViewType is required"
    refuse_update(connection, INVALID + message, StreamSpecification=enabled)
    message = "If stream is being disabled, then UpdateViewType must not be specified"
    disabled = {**STREAM, "StreamEnabled": False}
    refuse_update(connection, INVALID + message, StreamSpecification=disabled)


def test_encryption_that_is_not_enabled(connection):
    typed = {"Enabled": False, "SSEType": "KMS"}
    message = INVALID + "SSEType can not be specified if Enabled is false"
    refuse_table(connection, message, SSESpecification=typed)
    keyed = {"Enabled": False, "KMSMasterKeyId": "alias/mine"}
    message = INVALID + "KMSMasterKeyId can not be specified if Enabled is false"
    refuse_table(connection, message, SSESpecification=keyed)
    message = INVALID + "Table is already encrypted by default"
    refuse_update(connection, message, SSESpecification={"Enabled": False})


def test_table_class(connection):
    message = (
        "Invalid table-class parameter provided. Please try again with a valid table-class value: "
        "[STANDARD, STANDARD_INFREQUENT_ACCESS]."
    )
    refuse_table(connection, message, TableClass="COLD")
    refuse_update(connection, message, TableClass="COLD")


def test_warm_throughput_is_not_below_what_is_provisioned(connection):
    message = (
        "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than ReadCapacityUnits "
        "of ProvisionedThroughput"
    )
    warm = {"ReadUnitsPerSecond": 4, "WriteUnitsPerSecond": 4}
    refuse_table(connection, INVALID + message, ProvisionedThroughput=UNITS, WarmThroughput=warm)


def test_updates_of_indexes(connection):
    message = INVALID + (
        "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond "
        "specified for index: ggg"
    )
    empty = {"Update": {"IndexName": "ggg", "WarmThroughput": {}}}
    for name in ("Demand", "Missing"):
        refuse_update(connection, message, name, **updates(empty))
    message = INVALID + (
        "The only Updates for index: ggg when TableThroughputMode is PAY_PER_REQUEST can be to "
        "OnDemandThroughput, WarmThroughput"
    )
    for nothing in ({}, {"OnDemandThroughput": {}}):
        refuse_update(connection, message, **updates({"Update": {"IndexName": "ggg", **nothing}}))


def test_limits_of_an_index_of_a_provisioned_table(connection):
    message = INVALID + (
        "MaxReadRequestUnits for OnDemandThroughput for index: ggg cannot be specified when table "
        "BillingMode is PROVISIONED."
    )
    indexes = [index("ggg", "g", ProvisionedThroughput=UNITS, **LIMITED)]
    more = {"ProvisionedThroughput": UNITS, "GlobalSecondaryIndexes": indexes}
    refuse_table(connection, message, defined=("pk", "g"), **more)


# --- Settings with operations of their own ---


def test_insights_of_an_index(connection):
    operation = "DescribeContributorInsights"
    refuse(
        connection,
        operation,
        {"TableName": "Demand", "IndexName": "lll"},
        "Requested resource not found: Index: lll not found for table: Demand",
        "ResourceNotFoundException",
    )
    message = "IndexName must be at least 3 characters long and at most 255 characters long"
    refuse(connection, operation, {"TableName": "Demand", "IndexName": ""}, message)


def test_recovery_period_of_a_disabled_recovery(connection):
    specification = {"PointInTimeRecoveryEnabled": False, "RecoveryPeriodInDays": 5}
    refuse(
        connection,
        "UpdateContinuousBackups",
        {"TableName": "Demand", "PointInTimeRecoverySpecification": specification},
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.",
    )


def test_time_to_live_of_another_attribute(connection):
    def request(name):
        specification = {"Enabled": True, "AttributeName": name}
        return {"TableName": "Demand", "TimeToLiveSpecification": specification}

    accept(connection, "UpdateTimeToLive", request("ttl"))
    message = (
        "TimeToLive is active on a different AttributeName: current AttributeName is ttl"
    )
    refuse(connection, "UpdateTimeToLive", request("other"), message)


def policy(arn, action="dynamodb:GetItem"):
    return (
        '{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"'
        f'{action}","Resource":"{arn}"}}]}}'
    )


def test_texts_of_policies(connection, arns):
    arn = arns["Demand"]
    request = {"ResourceArn": arn, "Policy": " " * 20481}
    message = INVALID + "Maximum policy size of 20480 bytes exceeded"
    refuse(connection, "PutResourcePolicy", request, message)
    message = INVALID + "Invalid policy document: This policy contains invalid Json"
    refuse(connection, "PutResourcePolicy", {"ResourceArn": arn, "Policy": "{"}, message)
    message = INVALID + "Invalid policy document: This text appears not to be a policy"
    refuse(connection, "PutResourcePolicy", {"ResourceArn": arn, "Policy": "null"}, message)
    refuse(
        connection,
        "GetResourcePolicy",
        {"ResourceArn": f"{arn}/stream/never"},
        "Requested resource not found: Stream: never not found for Table: Demand",
        "ResourceNotFoundException",
    )


def test_revisions_of_policies(connection, arns):
    arn = arns["Demand"]
    put = {"ResourceArn": arn, "Policy": policy(arn)}
    revision = accept(connection, "PutResourcePolicy", put)["RevisionId"]
    other = {**put, "Policy": policy(arn, "dynamodb:PutItem")}
    start = "Resource-based policy not found for the provided ResourceArn: "
    for operation, body in (
        ("PutResourcePolicy", other),
        ("DeleteResourcePolicy", {"ResourceArn": arn}),
    ):
        refuse(
            connection,
            operation,
            {**body, "ExpectedRevisionId": "7"},
            f"{start}Requested update for policy with revision id 7, but the policy associated to "
            f"target table Demand has revision id {revision}.",
            "PolicyNotFoundException",
        )
    refuse(
        connection,
        "PutResourcePolicy",
        {**other, "ExpectedRevisionId": "NO_POLICY"},
        f"{start}Requested policy update expecting none to be present for table Demand, but a "
        f"policy exists with revision id {revision}.",
        "PolicyNotFoundException",
    )
    accept(connection, "DeleteResourcePolicy", {"ResourceArn": arn})


# --- ARNs and tags ---

TAG = {"Tags": [{"Key": "a", "Value": ""}]}
OF_ARN = [
    ("TagResource", TAG),
    ("UntagResource", {"TagKeys": ["a"]}),
    ("ListTagsOfResource", {}),
    ("GetResourcePolicy", {}),
    ("DeleteResourcePolicy", {}),
    ("PutResourcePolicy", {"Policy": "{}"}),
]


@pytest.mark.parametrize("operation, rest", OF_ARN)
def test_resource_arns(connection, arns, operation, rest):
    arn = arns["Demand"]
    refused = {
        "I_do_not_exist": INVALID + "ARNs must start with 'arn:': I_do_not_exist",
        f"{arn}/index/ggg": INVALID
        + "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: "
        + f"{arn}/index/ggg",
    }
    other = arn.replace("table/Demand", "global-table/Demand")
    refused[other] = f"{INVALID}Provided Arn is not a DynamoDB resource arn: {other}"
    elsewhere = arn.replace(arn.split(":")[3], "ap-south-9")
    refused[elsewhere] = (
        f"{INVALID}Invalid resource Arn: {elsewhere}"
        if "Policy" in operation
        else f"Invalid TableArn: Invalid ResourceArn provided as input {elsewhere}"
    )
    for bad, message in refused.items():
        refuse(connection, operation, {"ResourceArn": bad, **rest}, message)


def tags(**pairs):
    return [{"Key": key, "Value": value} for key, value in pairs.items()]


MANY = "Number of Tags exceed the current limit for the provided ResourceArn"
BAD_TAGS = [
    ([{"Key": "hi!", "Value": ""}], "The Tag Key provided is invalid, Key: hi!"),
    ([{"Key": "\U0001f511", "Value": ""}], "The Tag Key provided is invalid, Key: \U0001f511"),
    ([{"Key": "", "Value": ""}], "The Tag Key provided is invalid, Key: "),
    ([{"Key": "k" * 129, "Value": ""}], "The Tag Key provided is invalid, Key: " + "k" * 129),
    ([{"Key": "a", "Value": "d%g"}], "The Tag Value provided is invalid, Value: d%g"),
    (
        [{"Key": "a", "Value": "v" * 257}],
        "The Tag Value provided is invalid, Value: " + "v" * 257,
    ),
    ([{"Key": "a"}], "The Tag Value provided is invalid, Value: null"),
    ([{"Key": "aws:x", "Value": ""}], "Tag Key cannot be prefixed with aws:, Key: aws:x"),
    (
        [*tags(a="1", b="2"), *tags(a="3")],
        "Duplicate Tag Keys provided as input: Duplicate Tag Key found a",
    ),
    (tags(**{f"k{i}": "" for i in range(51)}), MANY),
]


@pytest.mark.parametrize("bad, message", BAD_TAGS)
def test_bad_tags(connection, arns, bad, message):
    arn = arns["Units"]
    request = {"ResourceArn": arn, "Tags": [*tags(good="1"), *bad]}
    refuse(connection, "TagResource", request, message)
    assert accept(connection, "ListTagsOfResource", {"ResourceArn": arn}) == {"Tags": []}
    refuse_table(connection, message, Tags=bad)
    missing = "Requested resource not found: Table: New not found"
    refuse(connection, "DescribeTable", {"TableName": "New"}, missing, "ResourceNotFoundException")


def test_good_tags(connection, arns):
    arn = arns["Units"]
    good = [{"Key": "Zürich + a-b=c.d_e:f/9@x", "Value": "ü" * 256}, {"Key": "é" * 128, "Value": ""}]
    accept(connection, "TagResource", {"ResourceArn": arn, "Tags": good})
    request = {"ResourceArn": arn, "NextToken": "ignored"}
    assert accept(connection, "ListTagsOfResource", request) == {"Tags": good}
    full = tags(**{f"k{i}": "" for i in range(49)})
    refuse(connection, "TagResource", {"ResourceArn": arn, "Tags": full}, MANY)
    keys = [tag["Key"] for tag in good]
    accept(connection, "UntagResource", {"ResourceArn": arn, "TagKeys": keys})


def test_keys_of_tags_to_remove(connection, arns):
    arn = arns["Units"]
    for bad in ("hi!", "", "k" * 129):
        message = f"The Tag Key provided is invalid, Key: {bad}"
        refuse(connection, "UntagResource", {"ResourceArn": arn, "TagKeys": [bad]}, message)
    keys = [f"k{i}" for i in range(51)]
    refuse(connection, "UntagResource", {"ResourceArn": arn, "TagKeys": keys}, MANY)
    for missing in (f"{arn}x", f"{arn}/stream/never"):
        refuse(
            connection,
            "ListTagsOfResource",
            {"ResourceArn": missing},
            f"Requested resource not found: ResourceArn: {missing} not found",
            "ResourceNotFoundException",
        )
    missing = {"ResourceArn": f"{arn}x", "TagKeys": ["a"]}
    message = "Requested resource not found"
    refuse(connection, "UntagResource", missing, message, "ResourceNotFoundException")
