"""Users and groups as an adjacency list, with boto3's resource interface.

    item        pk            sk            other attributes
    user        USER#<id>     USER#<id>     name
    group       GROUP#<id>    GROUP#<id>    title, members (a counter), version
    membership  GROUP#<id>    USER#<id>     role_since (<role>#<date>), title

A node is an item whose two keys are equal, an edge one that joins two nodes. The table answers "who
is in this group"; the index `inverse`, with the keys swapped, "which groups is this user in". The
local index `by-role` sorts a group's members by role and date.
"""

import boto3
import pytest
from boto3.dynamodb.conditions import Attr, Key


def create_table(dynamodb):
    def schema(partition_key, sort_key):
        return [
            {"AttributeName": partition_key, "KeyType": "HASH"},
            {"AttributeName": sort_key, "KeyType": "RANGE"},
        ]

    names = ("pk", "sk", "role_since")
    table = dynamodb.create_table(
        TableName="groups-boto3",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=schema("pk", "sk"),
        GlobalSecondaryIndexes=[
            {
                "IndexName": "inverse",
                "KeySchema": schema("sk", "pk"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        LocalSecondaryIndexes=[
            {
                "IndexName": "by-role",
                "KeySchema": schema("pk", "role_since"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )
    table.wait_until_exists()
    return table


class Directory:
    def __init__(self, table):
        self.table = table
        self.refused = table.meta.client.exceptions.ConditionalCheckFailedException

    def load(self, items):
        """Later items replace earlier ones of the same key, which one batch could not hold."""
        with self.table.batch_writer(overwrite_by_pkeys=["pk", "sk"]) as batch:
            for item in items:
                batch.put_item(Item=item)

    def join(self, group, user, role, since):
        """False if the user is a member already; the counter counts each member once."""
        title = self.group(group)["title"]  # Copied to the edge: a list of groups needs it.
        try:
            self.table.put_item(
                Item=membership(group, user, role, since, title),
                ConditionExpression=Attr("pk").not_exists(),
            )
        except self.refused:
            return False
        self._count(group, 1)
        return True

    def leave(self, group, user):
        key = {"pk": f"GROUP#{group}", "sk": f"USER#{user}"}
        removed = self.table.delete_item(Key=key, ReturnValues="ALL_OLD")
        if "Attributes" in removed:
            self._count(group, -1)

    def _count(self, group, change):
        self.table.update_item(
            Key={"pk": f"GROUP#{group}", "sk": f"GROUP#{group}"},
            UpdateExpression="ADD members :change",
            ExpressionAttributeValues={":change": change},
        )

    def group(self, group):
        key = {"pk": f"GROUP#{group}", "sk": f"GROUP#{group}"}
        return self.table.get_item(Key=key, ConsistentRead=True)["Item"]

    def rename(self, group, title, version):
        """Refused if the group was renamed since `version` was read."""
        self.table.update_item(
            Key={"pk": f"GROUP#{group}", "sk": f"GROUP#{group}"},
            UpdateExpression="SET title = :title, version = version + :one",
            ConditionExpression=Attr("version").eq(version),
            ExpressionAttributeValues={":title": title, ":one": 1},
        )

    def members(self, group, page_size=100):
        """Pages of user ids."""
        request = {
            "KeyConditionExpression": Key("pk").eq(f"GROUP#{group}")
            & Key("sk").begins_with("USER#"),
            "Limit": page_size,
        }
        while True:
            page = self.table.query(**request)
            yield [ident(item["sk"]) for item in page["Items"]]
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def members_since(self, group, role, first, last):
        found = self.table.query(
            IndexName="by-role",
            KeyConditionExpression=Key("pk").eq(f"GROUP#{group}")
            & Key("role_since").between(f"{role}#{first}", f"{role}#{last}"),
            ConsistentRead=True,  # A local index can; `inverse` could not.
        )
        return [ident(item["sk"]) for item in found["Items"]]

    def groups_of(self, user):
        """(group, title) of each."""
        found = self.table.query(
            IndexName="inverse",
            KeyConditionExpression=Key("sk").eq(f"USER#{user}") & Key("pk").begins_with("GROUP#"),
            ProjectionExpression="pk, title",
        )
        return [(ident(item["pk"]), item["title"]) for item in found["Items"]]

    def names(self, users):
        """The second step from a list of edges to the nodes behind them."""
        keys = [{"pk": f"USER#{user}", "sk": f"USER#{user}"} for user in users]
        client = self.table.meta.client  # The table has no batches, its client speaks Python too.
        found = client.batch_get_item(RequestItems={self.table.name: {"Keys": keys}})
        return sorted(item["name"] for item in found["Responses"][self.table.name])

    def disband(self, group):
        """The group and all its edges: the item collection of one partition key."""
        found = self.table.query(
            KeyConditionExpression=Key("pk").eq(f"GROUP#{group}"), ProjectionExpression="pk, sk"
        )
        with self.table.batch_writer() as batch:
            for key in found["Items"]:
                batch.delete_item(Key=key)


def ident(key):
    return key.split("#", 1)[1]


def node(kind, node_id, **attributes):
    return {"pk": f"{kind}#{node_id}", "sk": f"{kind}#{node_id}", **attributes}


def membership(group, user, role, since, title):
    return {
        "pk": f"GROUP#{group}",
        "sk": f"USER#{user}",
        "role_since": f"{role}#{since}",
        "title": title,
    }


@pytest.fixture(scope="module")
def directory(server_url):
    dynamodb = boto3.resource(
        "dynamodb",
        endpoint_url=server_url,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    table = create_table(dynamodb)
    directory = Directory(table)
    crowd = [f"u{n:02}" for n in range(40)]
    directory.load(
        [node("USER", user, name=f"User {user}") for user in ("ada", "bob", "cem", *crowd)]
        + [node("GROUP", "chess", title="Chess club", members=0, version=1)]
        + [node("GROUP", "choir", title="Choir", members=40, version=1)]
        + [node("GROUP", "rowing", title="Rowing", members=0, version=1)]
        + [membership("choir", user, "singer", "2026-01-01", "Choir") for user in crowd]
    )
    assert directory.join("chess", "ada", "admin", "2025-11-01")
    assert directory.join("chess", "bob", "member", "2025-12-24")
    assert directory.join("chess", "cem", "member", "2026-02-14")
    assert directory.join("rowing", "bob", "admin", "2026-03-01")
    yield directory
    table.delete()


def test_who_is_in_a_group(directory):
    assert list(directory.members("chess")) == [["ada", "bob", "cem"]]
    assert directory.names(["bob", "cem", "nobody"]) == ["User bob", "User cem"]


def test_a_large_group_comes_in_pages(directory):
    pages = list(directory.members("choir", page_size=16))
    assert [len(page) for page in pages] == [16, 16, 8]
    assert sum(pages, []) == [f"u{n:02}" for n in range(40)]


def test_which_groups_a_user_is_in(directory):
    assert directory.groups_of("bob") == [("chess", "Chess club"), ("rowing", "Rowing")]
    assert directory.groups_of("nobody") == []


def test_members_of_a_role_who_joined_between_two_days(directory):
    assert directory.members_since("chess", "member", "2025-12-24", "2026-01-31") == ["bob"]
    assert directory.members_since("chess", "member", "2025-01-01", "2026-12-31") == ["bob", "cem"]
    assert directory.members_since("chess", "admin", "2025-01-01", "2026-12-31") == ["ada"]


def test_members_are_counted_once(directory):
    assert directory.group("rowing")["members"] == 1
    assert directory.join("rowing", "ada", "member", "2026-04-01")
    assert not directory.join("rowing", "ada", "admin", "2026-04-02")
    assert directory.group("rowing")["members"] == 2
    directory.leave("rowing", "ada")
    directory.leave("rowing", "ada")
    assert directory.group("rowing")["members"] == 1
    assert directory.groups_of("ada") == [("chess", "Chess club")]


def test_a_group_is_renamed_by_who_saw_its_last_name(directory):
    version = directory.group("choir")["version"]
    directory.rename("choir", "Chamber choir", version)
    with pytest.raises(directory.refused):
        directory.rename("choir", "Rock choir", version)
    assert directory.group("choir")["title"] == "Chamber choir"


def test_a_group_that_disbands_leaves_no_edge(directory):
    assert directory.groups_of("u07") == [("choir", "Choir")]
    directory.disband("choir")
    assert list(directory.members("choir")) == [[]]
    assert directory.groups_of("u07") == []
