"""Contributor Insights with boto3: a hot key is on top of the report, whatever the protocol."""

import datetime
import random

import boto3
import botocore.config
import botocore.exceptions
import pytest
from protocol_clients import PROTOCOLS, client

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}
TABLE = "insights"
WRITE_WEIGHT = 3  # Of a write unit in the rules' value.


@pytest.fixture(scope="module", name="dynamodb")
def fixture_dynamodb(server_url):
    return boto3.client("dynamodb", endpoint_url=server_url, **SETTINGS)


@pytest.fixture(scope="module", name="rules")
def fixture_rules(dynamodb):
    """The names of the rules by their kind. The table is about to be used."""
    dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    )
    answer = dynamodb.update_contributor_insights(
        TableName=TABLE, ContributorInsightsAction="ENABLE"
    )
    assert answer["ContributorInsightsStatus"] == "ENABLING"
    described = dynamodb.describe_contributor_insights(TableName=TABLE)
    assert described["ContributorInsightsStatus"] == "ENABLED"
    assert isinstance(described["LastUpdateDateTime"], datetime.datetime)
    names = described["ContributorInsightsRuleList"]
    return {name.split("-")[1]: name for name in names}


@pytest.fixture(scope="module", name="exact")
def fixture_exact(dynamodb, rules):
    """A skewed workload, and what it must have cost: units by partition key and by item."""
    assert set(rules) == {"PKC", "PKT", "SKC", "SKT"}
    generator = random.Random(18)
    units = {}
    for _ in range(400):
        key = f"customer-{int(generator.paretovariate(0.8)) % 60}"
        number = generator.randrange(3)
        if generator.random() < 0.5:
            dynamodb.put_item(
                TableName=TABLE, Item={"pk": {"S": key}, "sk": {"N": str(number)}}
            )
            cost = WRITE_WEIGHT
        else:
            dynamodb.get_item(
                TableName=TABLE,
                Key={"pk": {"S": key}, "sk": {"N": str(number)}},
                ConsistentRead=True,
            )
            cost = 1
        units[(key,)] = units.get((key,), 0) + cost
        units[(key, str(number))] = units.get((key, str(number)), 0) + cost
    return units


def window():
    now = datetime.datetime.now(datetime.timezone.utc)
    hour = datetime.timedelta(hours=1)
    return {"StartTime": now - hour, "EndTime": now + hour, "Period": 60}


def heaviest(exact, parts, count):
    keys = [key for key in exact if len(key) == parts]
    return sorted(keys, key=lambda key: (-exact[key], key))[:count]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind, parts", [("PKC", 1), ("SKC", 2)])
def test_reports_are_exact_while_keys_are_few(server_url, rules, exact, protocol, kind, parts):
    cloudwatch = client("cloudwatch", server_url, protocol)
    report = cloudwatch.get_insight_rule_report(
        RuleName=rules[kind], MaxContributorCount=25, Metrics=["MaxContributorValue"], **window()
    )
    shown = [tuple(contributor["Keys"]) for contributor in report["Contributors"]]
    assert report["KeyLabels"] == ["pk", "sk"][:parts]
    assert report["AggregateValue"] == sum(exact[key] for key in exact if len(key) == parts)
    assert shown[0] == heaviest(exact, parts, 1)[0]
    assert len(shown) == 25
    for contributor in report["Contributors"]:
        value = exact[tuple(contributor["Keys"])]
        assert contributor["ApproximateAggregateValue"] == value
        assert sum(point["ApproximateValue"] for point in contributor["Datapoints"]) == value
        assert isinstance(contributor["Datapoints"][0]["Timestamp"], datetime.datetime)
    distinct = len([key for key in exact if len(key) == parts])
    assert abs(report["ApproximateUniqueCount"] - distinct) <= 0.1 * distinct
    assert report["MetricDatapoints"]


def test_hot_keys_have_an_error_bound(connection, rules, exact):
    assert rules
    status, answer = connection.call("GetHotKeys", {"TableName": TABLE, "MaxResults": 5})
    assert status == 200, answer
    keys = [(hot["Key"]["pk"]["S"],) for hot in answer["HotKeys"]]
    assert [exact[key] for key in keys] == [hot["Value"] for hot in answer["HotKeys"]]
    assert keys[0] == heaviest(exact, 1, 1)[0]
    assert {hot["ErrorMax"] for hot in answer["HotKeys"]} == {0}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_rules_are_described_and_unknown_ones_refused(server_url, rules, protocol):
    cloudwatch = client("cloudwatch", server_url, protocol)
    described = cloudwatch.describe_insight_rules()["InsightRules"]
    assert {rule["Name"] for rule in described} == set(rules.values())
    assert {rule["State"] for rule in described} == {"ENABLED"}
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        cloudwatch.get_insight_rule_report(RuleName="none", **window())
    assert caught.value.response["Error"]["Code"] == "ResourceNotFoundException"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404


def test_keys_of_every_type_are_shown_as_text(dynamodb, server_url):
    dynamodb.create_table(
        TableName="typed",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "B"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    )
    dynamodb.update_contributor_insights(TableName="typed", ContributorInsightsAction="ENABLE")
    dynamodb.put_item(TableName="typed", Item={"pk": {"B": b"\x00\xffa"}, "sk": {"N": "-1.50"}})
    names = dynamodb.describe_contributor_insights(TableName="typed")["ContributorInsightsRuleList"]
    report = client("cloudwatch", server_url, "json").get_insight_rule_report(
        RuleName=next(name for name in names if "-SKC-" in name), **window()
    )
    assert [entry["Keys"] for entry in report["Contributors"]] == [["AP9h", "-1.5"]]
    dynamodb.delete_table(TableName="typed")
