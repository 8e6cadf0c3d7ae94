"""What the service answers about a table's settings that have operations of their own, and about
tables named by ARNs; measured in October 2026."""

import time

import pytest
from answers import accept, create, expect, key_schema, refuse

ALL = {"ProjectionType": "ALL"}
INVALID = "One or more parameter values were invalid: "


def broken(*faults):
    count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''} detected: "
    return count + "; ".join(
        f"Value {value} failed to satisfy constraint: Member must {rule}" for value, rule in faults
    )


@pytest.fixture(scope="module", name="arn", autouse=True)
def fixture_arn(connection):
    create(
        connection,
        "Settings",
        "pk",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")
        ],
        GlobalSecondaryIndexes=[
            {"IndexName": "gsi1", "KeySchema": key_schema("g"), "Projection": ALL}
        ],
    )
    return accept(connection, "DescribeTable", {"TableName": "Settings"})["Table"]["TableArn"]


# --- Contributor Insights and Kinesis ---


def test_modes_of_insights_are_listed_in_the_services_order(connection):
    modes = "satisfy enum value set: [THROTTLED_KEYS, ACCESSED_AND_THROTTLED_KEYS]"
    request = {"TableName": "Settings", "ContributorInsightsAction": "ENABLE"}
    request["ContributorInsightsMode"] = ""
    message = broken(("'' at 'contributorInsightsMode'", modes))
    refuse(connection, "UpdateContributorInsights", request, message)


def test_the_newest_destination_comes_first(connection):
    create(connection, "Streamed", "pk")
    streams = [f"arn:aws:kinesis:us-east-1:000000000000:stream/{name}" for name in "bca"]

    def states():
        request = {"TableName": "Streamed"}
        answer = accept(connection, "DescribeKinesisStreamingDestination", request)
        return [
            (entry["StreamArn"], entry["DestinationStatus"])
            for entry in answer["KinesisDataStreamDestinations"]
        ]

    for count, stream in enumerate(streams, 1):
        request = {"TableName": "Streamed", "StreamArn": stream}
        accept(connection, "EnableKinesisStreamingDestination", request)
        wanted = [(other, "ENABLE_FAILED") for other in reversed(streams[:count])]
        end = time.monotonic() + 20
        while states() != wanted:
            assert time.monotonic() < end, states()
            time.sleep(0.02)


# --- Time to live ---


def specification(**members):
    return {"TableName": "Settings", "TimeToLiveSpecification": members}


def test_time_to_live_specifications(connection):
    at = "timeToLiveSpecification"
    name = f"null at '{at}.attributeName'"
    for members, message in [
        ({}, broken((name, "not be null"), (f"null at '{at}.enabled'", "not be null"))),
        ({"Enabled": True}, broken((name, "not be null"))),
        ({"Enabled": False}, broken((name, "not be null"))),
        ({"AttributeName": "ttl"}, broken((f"null at '{at}.enabled'", "not be null"))),
        (
            {"Enabled": True, "AttributeName": ""},
            broken((f"'' at '{at}.attributeName'", "have length greater than or equal to 1")),
        ),
        (
            {"Enabled": True, "AttributeName": "a" * 256},
            broken(
                (f"'{'a' * 256}' at '{at}.attributeName'", "have length less than or equal to 255")
            ),
        ),
    ]:
        refuse(connection, "UpdateTimeToLive", specification(**members), message)


def test_time_to_live_that_is_there_already(connection):
    create(connection, "Expiring", "pk")

    def update(enabled, name):
        members = {"Enabled": enabled, "AttributeName": name}
        return {"TableName": "Expiring", "TimeToLiveSpecification": members}

    described = {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    expect(connection, "DescribeTimeToLive", {"TableName": "Expiring"}, described)
    message = "TimeToLive is already disabled"
    refuse(connection, "UpdateTimeToLive", update(False, "pk"), message)
    answer = {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "pk"}}
    expect(connection, "UpdateTimeToLive", update(True, "pk"), answer)
    refuse(connection, "UpdateTimeToLive", update(True, "pk"), "TimeToLive is already enabled")
    other = "TimeToLive is active on a different AttributeName: current AttributeName is pk"
    for enabled in (True, False):
        refuse(connection, "UpdateTimeToLive", update(enabled, "x"), other)


# --- Continuous backups ---


def test_recovery_specifications(connection):
    at = "pointInTimeRecoverySpecification"

    def request(**members):
        return {"TableName": "Settings", "PointInTimeRecoverySpecification": members}

    days = f"at '{at}.recoveryPeriodInDays'"
    low = "have value greater than or equal to 1"
    for members, message in [
        ({}, broken((f"null at '{at}.pointInTimeRecoveryEnabled'", "not be null"))),
        (
            {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 0},
            broken((f"'0' {days}", low)),
        ),
        (
            {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": -1},
            broken((f"'-1' {days}", low)),
        ),
        (
            {"PointInTimeRecoveryEnabled": False, "RecoveryPeriodInDays": 0},
            broken((f"'0' {days}", low)),
        ),
        (
            {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 36},
            broken((f"'36' {days}", "have value less than or equal to 35")),
        ),
    ]:
        refuse(connection, "UpdateContinuousBackups", request(**members), message)


def test_recovery_is_enabled_and_disabled(connection):
    def update(**members):
        request = {"TableName": "Settings", "PointInTimeRecoverySpecification": members}
        answer = accept(connection, "UpdateContinuousBackups", request)
        shown = accept(connection, "DescribeContinuousBackups", {"TableName": "Settings"})
        assert set(answer) == {"ContinuousBackupsDescription"}
        description = shown["ContinuousBackupsDescription"]
        assert description["ContinuousBackupsStatus"] == "ENABLED"
        return description["PointInTimeRecoveryDescription"]

    members = {
        "PointInTimeRecoveryStatus",
        "RecoveryPeriodInDays",
        "EarliestRestorableDateTime",
        "LatestRestorableDateTime",
    }
    enabled = update(PointInTimeRecoveryEnabled=True)
    assert (set(enabled), enabled["RecoveryPeriodInDays"]) == (members, 35)
    assert update(PointInTimeRecoveryEnabled=True, RecoveryPeriodInDays=7)["RecoveryPeriodInDays"] == 7
    for _ in range(2):
        disabled = update(PointInTimeRecoveryEnabled=False)
        assert disabled == {"PointInTimeRecoveryStatus": "DISABLED"}
    assert update(PointInTimeRecoveryEnabled=True)["RecoveryPeriodInDays"] == 35
    update(PointInTimeRecoveryEnabled=False)


# --- Tables that do not exist ---


@pytest.mark.parametrize(
    "operation, more",
    [
        ("DescribeTable", {}),
        ("DeleteTable", {}),
        ("UpdateTable", {"DeletionProtectionEnabled": True}),
        ("DescribeTimeToLive", {}),
        ("UpdateTimeToLive", specification(Enabled=True, AttributeName="ttl")),
        ("DescribeContributorInsights", {}),
        ("ListContributorInsights", {}),
        ("DescribeKinesisStreamingDestination", {}),
    ],
)
def test_missing_tables(connection, operation, more):
    message = "Requested resource not found: Table: Missing not found"
    request = {**more, "TableName": "Missing"}
    refuse(connection, operation, request, message, "ResourceNotFoundException")


def test_missing_tables_of_backups(connection):
    recovery = {"PointInTimeRecoveryEnabled": True}
    for operation, more in (
        ("DescribeContinuousBackups", {}),
        ("UpdateContinuousBackups", {"PointInTimeRecoverySpecification": recovery}),
    ):
        request = {"TableName": "Missing", **more}
        refuse(connection, operation, request, "Table not found: Missing", "TableNotFoundException")


# --- Tables named by ARNs ---


def test_a_table_named_by_its_arn(connection, arn):
    for operation in (
        "DescribeTable",
        "DescribeTimeToLive",
        "DescribeContinuousBackups",
        "DescribeContributorInsights",
        "DescribeKinesisStreamingDestination",
    ):
        accept(connection, operation, {"TableName": arn})
    shown = accept(connection, "DescribeTable", {"TableName": arn})["Table"]
    assert shown["TableName"] == "Settings"
    change = {"TableName": arn, "DeletionProtectionEnabled": False}
    assert accept(connection, "UpdateTable", change)["TableDescription"]["TableName"] == "Settings"


KEY = {"Key": {"pk": {"S": "x"}}}
BY_ARN = [
    ("DescribeTable", {}),
    ("DescribeTimeToLive", {}),
    ("DescribeContinuousBackups", {}),
    ("DescribeContributorInsights", {}),
    ("UpdateTable", {"DeletionProtectionEnabled": False}),
    ("GetItem", KEY),
    ("DeleteItem", KEY),
    ("Scan", {}),
]


@pytest.mark.parametrize("operation, more", BY_ARN)
def test_arns_of_other_places(connection, arn, operation, more):
    parts = arn.split(":")
    for place, message in {
        (3, "ap-south-9"): "1 validation error detected: Invalid AWS region in '{}'",
        (1, "aws-cn"): "1 validation error detected: Invalid AWS partition in '{}'",
    }.items():
        other = list(parts)
        other[place[0]] = place[1]
        foreign = ":".join(other)
        refuse(connection, operation, {"TableName": foreign, **more}, message.format(foreign))
    parts[4] = "999999999999"
    status, answer = connection.call(operation, {"TableName": ":".join(parts), **more})
    assert (status, answer) == (
        400,
        {"__type": "com.amazon.coral.service#AccessDeniedException", "Message": "Access is denied"},
    )


# --- Tags ---


def test_tags_of_another_account(connection, arn):
    parts = arn.split(":")
    parts[4] = "999999999999"
    for operation, more in (
        ("ListTagsOfResource", {}),
        ("TagResource", {"Tags": [{"Key": "a", "Value": ""}]}),
        ("UntagResource", {"TagKeys": ["a"]}),
    ):
        status, answer = connection.call(operation, {"ResourceArn": ":".join(parts), **more})
        assert (status, answer["Message"]) == (400, "Access is denied")


def test_tags_that_lack_members(connection, arn):
    for tag, message in (
        ({}, "The Tag Key provided is invalid, Key: null"),
        ({"Value": "v"}, "The Tag Key provided is invalid, Key: null"),
        ({"Key": "k"}, "The Tag Value provided is invalid, Value: null"),
    ):
        refuse(connection, "TagResource", {"ResourceArn": arn, "Tags": [tag]}, message)
    message = "Atleast one Tag needs to be provided as Input."
    refuse(connection, "TagResource", {"ResourceArn": arn, "Tags": []}, message)
    message = "Atleast one Tag Key needs to be provided as Input."
    refuse(connection, "UntagResource", {"ResourceArn": arn, "TagKeys": []}, message)


def test_reserved_keys_of_tags(connection, arn):
    for key in ("aws:foo", "AWS:foo"):
        message = f"Tag Key cannot be prefixed with aws:, Key: {key}"
        tags = {"ResourceArn": arn, "Tags": [{"Key": key, "Value": "v"}]}
        refuse(connection, "TagResource", tags, message)
        refuse(connection, "UntagResource", {"ResourceArn": arn, "TagKeys": [key]}, message)
    accept(
        connection,
        "TagResource",
        {"ResourceArn": arn, "Tags": [{"Key": "myaws:foo", "Value": "v"}]},
    )


def test_tags_are_replaced_and_kept_apart(connection, arn):
    def listed():
        tags = accept(connection, "ListTagsOfResource", {"ResourceArn": arn})["Tags"]
        return {tag["Key"]: tag["Value"] for tag in tags}

    def put(**pairs):
        tags = [{"Key": key, "Value": value} for key, value in pairs.items()]
        accept(connection, "TagResource", {"ResourceArn": arn, "Tags": tags})

    put(k="v1")
    put(k="v2", Env="", env="x")
    shown = listed()
    assert (shown["k"], shown["Env"], shown["env"]) == ("v2", "", "x")
    accept(connection, "UntagResource", {"ResourceArn": arn, "TagKeys": ["never", "k"]})
    assert "k" not in listed()
    for value in ("a,b", "100%", "(x)", "a&b", "a*b", "a;b", "a?b", "a|b", "a\\b", "<a>", "~a"):
        tags = {"ResourceArn": arn, "Tags": [{"Key": "k", "Value": value}]}
        message = f"The Tag Value provided is invalid, Value: {value}"
        refuse(connection, "TagResource", tags, message)
    put(k="a+b-c=d.e_f:g/h@i", café="\u8868\u00a0\u3000")


def test_the_size_of_all_tags_of_a_table(connection):
    create(connection, "ManyTags", "pk")
    arn = accept(connection, "DescribeTable", {"TableName": "ManyTags"})["Table"]["TableArn"]

    def tags(first, last):
        some = [{"Key": f"k{i:02}", "Value": "v" * 253} for i in range(first, last)]
        return {"ResourceArn": arn, "Tags": some}

    accept(connection, "TagResource", tags(0, 40))  # 256 bytes each: 10,240.
    message = "Tag set size 10496 bytes is above max size limit of 10240 bytes"
    refuse(connection, "TagResource", tags(40, 41), message)
    refuse(connection, "TagResource", tags(0, 41), message)
    accept(connection, "TagResource", tags(39, 40))
    assert len(accept(connection, "ListTagsOfResource", {"ResourceArn": arn})["Tags"]) == 40


def test_tags_of_an_index(connection, arn):
    index = f"{arn}/index/gsi1"
    message = (
        "One or more parameter values were invalid: Invalid resource arn provided, only table or "
        f"stream is accepted. Provided resource arn: {index}"
    )
    tags = {"ResourceArn": index, "Tags": [{"Key": "k", "Value": "v"}]}
    refuse(connection, "TagResource", tags, message)
    refuse(connection, "ListTagsOfResource", {"ResourceArn": index}, message)


def test_keys_of_tags_are_not_trimmed(connection):
    create(connection, "SpacedTags", "pk")
    arn = accept(connection, "DescribeTable", {"TableName": "SpacedTags"})["Table"]["TableArn"]
    tags = [{"Key": key, "Value": " v "} for key in ("k", "k ", " k", " ")]
    accept(connection, "TagResource", {"ResourceArn": arn, "Tags": tags})
    shown = accept(connection, "ListTagsOfResource", {"ResourceArn": arn})["Tags"]
    assert sorted(shown, key=str) == sorted(tags, key=str)


def test_a_stream_has_tags_of_its_own(connection):
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    create(connection, "TaggedStream", "pk", StreamSpecification=stream)
    table = accept(connection, "DescribeTable", {"TableName": "TaggedStream"})["Table"]
    arns = (table["LatestStreamArn"], table["TableArn"])

    def listed():
        return [accept(connection, "ListTagsOfResource", {"ResourceArn": a})["Tags"] for a in arns]

    tag = {"Key": "k", "Value": "v"}
    assert listed() == [[], []]
    accept(connection, "TagResource", {"ResourceArn": arns[0], "Tags": [tag]})
    assert listed() == [[tag], []]
    accept(connection, "UntagResource", {"ResourceArn": arns[0], "TagKeys": ["k"]})
    accept(connection, "TagResource", {"ResourceArn": arns[1], "Tags": [tag]})
    assert listed() == [[], [tag]]
    missing = arns[0][:-1] + "x"
    message = f"Requested resource not found: ResourceArn: {missing} not found"
    refuse(
        connection,
        "ListTagsOfResource",
        {"ResourceArn": missing},
        message,
        "ResourceNotFoundException",
    )


# --- ListTables ---


def test_list_tables(connection):
    at = "'' at 'exclusiveStartTableName'"
    message = broken(
        (at, "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
        (at, "have length greater than or equal to 3"),
    )
    refuse(connection, "ListTables", {"ExclusiveStartTableName": ""}, message)
    message = broken(("'0' at 'limit'", "have value greater than or equal to 1"))
    refuse(connection, "ListTables", {"Limit": 0}, message)
    names = accept(connection, "ListTables", {})["TableNames"]
    assert names == sorted(names)
    page = accept(connection, "ListTables", {"Limit": 1})
    assert page == {"TableNames": names[:1], "LastEvaluatedTableName": names[0]}
    request = {"Limit": 1, "ExclusiveStartTableName": names[-2]}
    expect(connection, "ListTables", request, {"TableNames": names[-1:]})
    expect(connection, "ListTables", {"ExclusiveStartTableName": "zzz"}, {"TableNames": []})
