"""PartiQL through Debian's boto3: the client, the resource's Python types, and a restart between two
pages."""

from decimal import Decimal

import boto3
import botocore.config
import botocore.exceptions
import pytest

from stator_process import StatorProcess

SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "secret",
    "config": botocore.config.Config(retries={"max_attempts": 0}),
}
WAIT = {"Delay": 1, "MaxAttempts": 20}
TABLE = "Music"


def make_table(client):
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "Artist", "AttributeType": "S"},
            {"AttributeName": "SongTitle", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "Artist", "KeyType": "HASH"},
            {"AttributeName": "SongTitle", "KeyType": "RANGE"},
        ],
    )
    client.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig=WAIT)


@pytest.fixture(scope="module")
def resource(server_url):
    made = boto3.resource("dynamodb", endpoint_url=server_url, **SETTINGS)
    make_table(made.meta.client)
    yield made
    made.Table(TABLE).delete()


@pytest.fixture(scope="module")
def client(resource, server_url):
    return boto3.client("dynamodb", endpoint_url=server_url, **SETTINGS)


def test_statements_as_the_developer_guide_has_them(client):
    insert = "INSERT INTO \"Music\" value {'Artist':?,'SongTitle':?}"
    for title in ("PartiQL Rocks", "Call Me Today"):
        client.execute_statement(Statement=insert, Parameters=[{"S": "Acme Band"}, {"S": title}])
    client.execute_statement(
        Statement='UPDATE "Music" SET AwardsWon=1 SET AwardDetail={\'Grammys\':[2020, 2018]} '
        "WHERE Artist='Acme Band' AND SongTitle='PartiQL Rocks'"
    )
    client.execute_statement(
        Statement='UPDATE "Music" '
        "SET AwardDetail.Grammys=list_append(AwardDetail.Grammys,[2016]) "
        "SET BandMembers=<<'member1','member2'>> "
        "WHERE Artist='Acme Band' AND SongTitle='PartiQL Rocks'"
    )
    client.execute_statement(
        Statement='UPDATE "Music" SET BandMembers=set_add(BandMembers,<<\'newmember\'>>) '
        "REMOVE AwardDetail.Grammys[2] "
        "WHERE Artist='Acme Band' AND SongTitle='PartiQL Rocks'"
    )
    found = client.execute_statement(
        Statement="SELECT AwardsWon, AwardDetail.Grammys, BandMembers FROM \"Music\" "
        "WHERE Artist='Acme Band' AND SongTitle='PartiQL Rocks'"
    )
    assert found["Items"] == [
        {
            "AwardsWon": {"N": "1"},
            "Grammys": {"L": [{"N": "2020"}, {"N": "2018"}]},
            "BandMembers": {"SS": ["member1", "member2", "newmember"]},
        }
    ]
    old = client.execute_statement(
        Statement="DELETE FROM \"Music\" WHERE Artist='Acme Band' AND "
        "SongTitle='Call Me Today' RETURNING ALL OLD *"
    )
    assert old["Items"] == [{"Artist": {"S": "Acme Band"}, "SongTitle": {"S": "Call Me Today"}}]


def test_the_resource_speaks_python_types(resource):
    run = resource.meta.client.execute_statement
    run(
        Statement="INSERT INTO \"Music\" VALUE {'Artist':?,'SongTitle':?,'Plays':?,'Tags':?}",
        Parameters=["Python", "Types", Decimal("1.5"), {"a", "b"}],
    )
    run(Statement="INSERT INTO \"Music\" VALUE {'Artist':'Python','SongTitle':'Again'}")
    found = run(
        Statement='SELECT * FROM "Music" WHERE Artist=? AND Plays<?',
        Parameters=["Python", 2],
    )
    assert found["Items"] == [
        {"Artist": "Python", "SongTitle": "Types", "Plays": Decimal("1.5"), "Tags": {"a", "b"}}
    ]
    answers = resource.meta.client.batch_execute_statement(
        Statements=[
            {
                "Statement": 'UPDATE "Music" SET Plays=Plays+? WHERE Artist=? AND SongTitle=?',
                "Parameters": [1, "Python", "Types"],
            },
            {"Statement": "INSERT INTO \"Music\" VALUE {'Artist':'Python','SongTitle':'Again'}"},
        ]
    )["Responses"]
    assert answers == [
        {"TableName": TABLE},
        {
            "TableName": TABLE,
            "Error": {
                "Code": "DuplicateItem",
                "Message": "Duplicate primary key exists in table",
            },
        },
    ]


def test_refusals_are_exceptions_of_their_own_types(client):
    key = "{'Artist':'Twice','SongTitle':'Twice'}"
    client.execute_statement(Statement=f'INSERT INTO "Music" VALUE {key}')
    with pytest.raises(client.exceptions.DuplicateItemException):
        client.execute_statement(Statement=f'INSERT INTO "Music" VALUE {key}')
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        client.execute_statement(
            Statement="UPDATE \"Music\" SET x=1 WHERE Artist='Twice' AND SongTitle='Twice' AND x=1"
        )
    with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
        client.execute_transaction(
            TransactStatements=[
                {
                    "Statement": "EXISTS(SELECT * FROM \"Music\" WHERE Artist='Twice' AND "
                    "SongTitle='Twice' AND x IS MISSING)"
                },
                {"Statement": "INSERT INTO \"Music\" VALUE {'Artist':'New','SongTitle':'New'}"},
                {"Statement": "UPDATE \"Music\" SET x=1 WHERE Artist='No' AND SongTitle='No'"},
            ]
        )
    reasons = [reason["Code"] for reason in caught.value.response["CancellationReasons"]]
    assert reasons == ["None", "None", "ConditionalCheckFailed"]


def test_a_next_token_outlives_the_server(tmp_path):
    def connect(server):
        return boto3.client("dynamodb", endpoint_url=server.url, **SETTINGS)

    statement = {"Statement": "SELECT * FROM \"Music\" WHERE Artist IN ['b','a']", "Limit": 3}
    with StatorProcess("--data-dir", str(tmp_path)) as server:
        client = connect(server)
        make_table(client)
        for artist in ("a", "b"):
            for title in ("1", "2"):
                client.execute_statement(
                    Statement='INSERT INTO "Music" VALUE {\'Artist\':?,\'SongTitle\':?}',
                    Parameters=[{"S": artist}, {"S": title}],
                )
        first = client.execute_statement(**statement)
        server.stop()
    with StatorProcess("--data-dir", str(tmp_path)) as server:
        second = connect(server).execute_statement(**statement, NextToken=first["NextToken"])
        server.stop()
    found = [item["Artist"]["S"] + item["SongTitle"]["S"] for item in first["Items"] + second["Items"]]
    assert found == ["b1", "b2", "a1", "a2"]
    assert "NextToken" not in second
