"""Replicas of tables: what UpdateTable refuses, to the letter, what DescribeTable shows, and which
settings follow. Texts were measured on the service in October 2026."""

import json
import os
import subprocess
import time

import boto3
import pytest
from answers import accept, create, refuse
from botocore.exceptions import ClientError

from stator_process import Connection, Keys, StatorProcess, binary, operation_headers

OWN, WEST, SOUTH = "us-east-1", "us-west-2", "ap-south-1"
P = "One or more parameter values were invalid: "
MORE_THAN_ONE = (
    "Update table operation with more than one create or delete replica actions not allowed"
)
TYPES = "Update table operation with more than one type of replica actions not allowed."
SAME = "Cannot target multiple regions with the same action"
LOCAL = (
    "Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, DeleteTable, "
    "or UpdateTable as required."
)
NOTHING = "There are no actions specified in the Replica Update Action of the request."
ONLY = P + "Replica modification must be the only operation in the request"
STRONG = "global tables with MultiRegionConsistency set to STRONG"
COUNT = f"Unsupported replica count for {STRONG}."
WITNESS = (
    "MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is "
    "present."
)
AT_LEAST = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
    "ReplicaTransitRoleArn, {}DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or "
    "TableClass is required"
)


def absent(region):
    return (
        "Update global table operation failed because one or more replicas were not part of the "
        f"global table. Please retry the request without these replicas: [{region}]."
    )


def unknown(region):
    return (
        f"Region {region} is not supported. The latest version of global tables are only "
        f"supported in the following regions: [{OWN}, {WEST}, {SOUTH}]"
    )


def added(*regions, **more):
    return [{"Create": {"RegionName": region, **more}} for region in regions]


def removed(*regions):
    return [{"Delete": {"RegionName": region}} for region in regions]


def changed(region, **more):
    return [{"Update": {"RegionName": region, **more}}]


def witness(*regions, kind="Create"):
    return [{kind: {"RegionName": region}} for region in regions]


@pytest.fixture(scope="module", name="peers")
def fixture_peers():
    """A server with two peers that nobody needs to reach: everything here is refused before."""
    nobody = "http://127.0.0.1:1"
    flags = ["--in-memory", "--region-peers", f"{WEST} {nobody}, {SOUTH} {nobody}"]
    with StatorProcess(*flags) as server:
        connection = Connection(server.port)
        create(connection, "demand", "pk")
        units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
        create(connection, "provisioned", "pk", ProvisionedThroughput=units)
        keyed = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "mine"}
        create(connection, "keyed", "pk", SSESpecification=keyed)
        yield connection
        connection.close()


READS = {"ProvisionedThroughputOverride": {"ReadCapacityUnits": 7}}
MAXIMUM = {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 7}}


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        (added(WEST, SOUTH), MORE_THAN_ONE),
        (added(WEST) + removed(SOUTH), MORE_THAN_ONE),
        (removed(WEST, SOUTH), MORE_THAN_ONE),
        (added(WEST) * 65, MORE_THAN_ONE),
        ([{**added(WEST)[0], **removed(WEST)[0]}], TYPES),
        (added(WEST) + changed(SOUTH, **READS), TYPES),
        (removed(WEST, WEST), SAME),
        (added(WEST) + added(WEST, **READS), SAME),
        (changed(WEST, **READS) * 2, SAME),
        (changed(WEST, **READS) + changed(SOUTH, **READS), SAME),
        ([{}], NOTHING),
        (changed(WEST), NOTHING),
        (added(OWN), LOCAL),
        (removed(OWN), LOCAL),
        (added("mars-1"), unknown("mars-1")),
        (added(WEST.upper()), unknown(WEST.upper())),
        (removed("mars-1"), absent("mars-1")),
        (removed(WEST), absent(WEST)),
        (changed(WEST, **READS), absent(WEST)),
        (
            [{"Disassociate": {"RegionName": OWN, "DisassociationMode": "WAIT_FOR_REPLICATION"}}],
            absent(OWN),
        ),
        (
            [],
            "1 validation error detected: Value '[]' at 'replicaUpdates' failed to satisfy "
            "constraint: Member must have length greater than or equal to 1",
        ),
        (
            [{"Update": {}}],
            "1 validation error detected: Value null at 'replicaUpdates.1.member.update."
            "regionName' failed to satisfy constraint: Member must not be null",
        ),
        (
            added(WEST, ProvisionedThroughputOverride={"ReadCapacityUnits": 0}),
            "1 validation error detected: Value '0' at 'replicaUpdates.1.member.create."
            "provisionedThroughputOverride.readCapacityUnits' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        ),
    ],
)
def test_actions_are_refused_in_the_services_words(peers, updates, message):
    refuse(peers, "UpdateTable", {"TableName": "demand", "ReplicaUpdates": updates}, message)


@pytest.mark.parametrize(
    "member",
    [
        {"BillingMode": "PAY_PER_REQUEST"},
        {"DeletionProtectionEnabled": True},
        {"StreamSpecification": {"StreamEnabled": False}},
        {"TableClass": "STANDARD"},
        {"AttributeDefinitions": []},
        {"GlobalTableSettingsReplicationMode": "ENABLED"},
        {"DisassociationProtectionEnabled": False},
    ],
)
def test_replicas_are_changed_alone(peers, member):
    body = {"TableName": "demand", "ReplicaUpdates": added("mars-1"), **member}
    refuse(peers, "UpdateTable", body, ONLY)
    body.update({"GlobalTableWitnessUpdates": witness(SOUTH)})
    text = P + "Requests that modify replicas or witnesses must not also modify other fields"
    refuse(peers, "UpdateTable", body, text)


def test_an_empty_region_is_denied(peers):
    body = {"TableName": "demand", "ReplicaUpdates": added("")}
    status, answer = peers.call("UpdateTable", body)
    assert (status, answer["__type"].partition("#")[2]) == (400, "AccessDeniedException")


@pytest.mark.parametrize(
    ("table", "updates", "message"),
    [
        ("provisioned", added(WEST), "Table write capacity should either be Pay-Per-Request or AutoScaled."),
        (
            "provisioned",
            added(WEST, **MAXIMUM),
            "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "
            "BillingMode is PROVISIONED",
        ),
        ("keyed", added(WEST), P + "KMSMasterKeyId must be specified for each replica."),
        (
            "demand",
            added(WEST, KMSMasterKeyId="theirs"),
            P + "KMSMasterKeyId must be specified for each replica.",
        ),
    ],
)
def test_some_tables_cannot_have_replicas(peers, table, updates, message):
    refuse(peers, "UpdateTable", {"TableName": table, "ReplicaUpdates": updates}, message)


def test_scaled_writes_of_the_table_and_each_index_qualify_for_a_replica(peers):
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    index = {
        "IndexName": "by-pk",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": units,
    }
    create(peers, "scaled", "pk", ProvisionedThroughput=units, GlobalSecondaryIndexes=[index])
    target = {
        "ServiceNamespace": "dynamodb",
        "ResourceId": "table/scaled",
        "ScalableDimension": "dynamodb:table:WriteCapacityUnits",
    }
    bounds = {"MinCapacity": 5, "MaxCapacity": 9}
    accept(peers, "application-autoscaling:RegisterScalableTarget", target | bounds)
    body = {"TableName": "scaled", "ReplicaUpdates": added(WEST)}
    table = "Table write capacity should either be Pay-Per-Request or AutoScaled."
    refuse(peers, "UpdateTable", body, table)
    policy = {
        "PolicyName": "p",
        "PolicyType": "TargetTrackingScaling",
        "TargetTrackingScalingPolicyConfiguration": {
            "TargetValue": 50.0,
            "PredefinedMetricSpecification": {
                "PredefinedMetricType": "DynamoDBWriteCapacityUtilization"
            },
        },
    }
    accept(peers, "application-autoscaling:PutScalingPolicy", target | policy)
    refuse(peers, "UpdateTable", body, table.replace("Table", "GSI"))


# --- Strong consistency ---


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"ReplicaUpdates": added(WEST)}, COUNT),
        ({"ReplicaUpdates": added(WEST, SOUTH, "mars-1")}, COUNT),
        (
            {"ReplicaUpdates": removed(WEST)},
            "Only Replica Create actions are supported when MultiRegionConsistency parameter is "
            "provided.",
        ),
        (
            {"ReplicaUpdates": added(WEST), "GlobalTableWitnessUpdates": witness(OWN)},
            "Cannot add a witness in the same region as an existing replica when creating a "
            "global table with MultiRegionConsistency set to STRONG.",
        ),
        (
            {"ReplicaUpdates": added(WEST, SOUTH)},
            f"Unsupported Region(s) specified for {STRONG}: [{WEST}, {SOUTH}].",
        ),
        (
            {"ReplicaUpdates": added(WEST), "GlobalTableWitnessUpdates": witness(SOUTH)},
            f"Unsupported Region(s) specified for {STRONG}: [{WEST}, {SOUTH}].",
        ),
        ({"ReplicaUpdates": added(WEST, OWN)}, LOCAL),
        ({"ReplicaUpdates": added(WEST, "mars-1")}, unknown("mars-1")),
        ({}, AT_LEAST.format("")),
    ],
)
def test_strong_consistency_is_refused_in_the_services_words(peers, members, message):
    body = {"TableName": "demand", "MultiRegionConsistency": "STRONG", **members}
    refuse(peers, "UpdateTable", body, message)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"GlobalTableWitnessUpdates": witness(SOUTH)}, AT_LEAST.format("MultiRegionConsistency, ")),
        (
            {"ReplicaUpdates": added(WEST), "GlobalTableWitnessUpdates": witness(SOUTH)},
            WITNESS,
        ),
        (
            {
                "ReplicaUpdates": removed(WEST),
                "GlobalTableWitnessUpdates": witness(SOUTH, kind="Delete"),
            },
            WITNESS,
        ),
        (
            {"ReplicaUpdates": added(WEST), "MultiRegionConsistency": "WEAK"},
            "1 validation error detected: Value 'WEAK' at 'multiRegionConsistency' failed to "
            "satisfy constraint: Member must satisfy enum value set: [EVENTUAL, STRONG]",
        ),
        (
            {"ReplicaUpdates": removed(WEST), "MultiRegionConsistency": "EVENTUAL"},
            "Only Replica Create actions are supported when MultiRegionConsistency parameter is "
            "provided.",
        ),
    ],
)
def test_witnesses_need_strong_consistency(peers, members, message):
    refuse(peers, "UpdateTable", {"TableName": "demand", **members}, message)


def test_there_is_one_witness(peers):
    body = {
        "TableName": "demand",
        "MultiRegionConsistency": "STRONG",
        "ReplicaUpdates": added(WEST),
        "GlobalTableWitnessUpdates": witness(WEST, SOUTH),
    }
    status, answer = peers.call("UpdateTable", body)
    assert status == 400
    assert answer["message"].endswith(
        " at 'globalTableWitnessUpdates' failed to satisfy constraint: Member must have length "
        "less than or equal to 1"
    )


# --- Settings of global tables ---


def test_a_regional_table_has_no_overrides(peers):
    body = {"TableName": "demand", "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES"}
    refuse(
        peers,
        "UpdateTable",
        body,
        "Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed to satisfy "
        "constraint: Only ENABLED and DISABLED settings replication are supported for a Regional "
        "Table.",
    )


def test_a_missing_table_has_no_replicas(peers):
    body = {"TableName": "Nowhere", "ReplicaUpdates": added(WEST)}
    text = "Requested resource not found: Table: Nowhere not found"
    refuse(peers, "UpdateTable", body, text, "ResourceNotFoundException")


def test_a_caller_needs_the_action_in_the_replicas_region(tmp_path):
    keys = Keys(tmp_path, master_key=os.urandom(32).hex())
    update = {"Effect": "Allow", "Action": "dynamodb:UpdateTable", "Resource": "*"}
    actions = ["CreateTableReplica", "DeleteTableReplica"]
    west = {
        "Effect": "Allow",
        "Action": [f"dynamodb:{action}" for action in actions],
        "Resource": f"arn:aws:dynamodb:{WEST}:*:table/*",
    }
    updates = {"CreateTableReplica": added, "DeleteTableReplica": removed}
    peers = f"{WEST} http://127.0.0.1:1, {SOUTH} http://127.0.0.1:1"
    some, more = keys.create("some", update), keys.create("more", update, west)
    with StatorProcess(*keys.flags, "--auth", "--region-peers", peers) as server:
        for key, region, allowed in [(some, WEST, False), (more, SOUTH, False), (more, WEST, True)]:
            dynamodb = boto3.client(
                "dynamodb",
                endpoint_url=server.url,
                region_name=OWN,
                aws_access_key_id=key[0],
                aws_secret_access_key=key[1],
            )
            for action in actions:
                with pytest.raises(ClientError) as problem:
                    dynamodb.update_table(TableName="none", ReplicaUpdates=updates[action](region))
                error = problem.value.response["Error"]
                resource = f"arn:aws:dynamodb:{region}:000000000000:table/none"
                asked = f"dynamodb:{action} on resource: {resource}"
                wanted = "ResourceNotFoundException" if allowed else "AccessDeniedException"
                assert error["Code"] == wanted and (allowed or asked in error["Message"])
        server.stop()


# --- Replicas that are made ---


class Region(Connection):
    """A connection whose requests are signed for a region."""

    def __init__(self, port, region):
        super().__init__(port)
        self.region = region

    def call(self, operation, body):
        headers = operation_headers(operation)
        signed = headers["Authorization"].replace("/us-east-1/", f"/{self.region}/")
        self._headers[operation] = headers | {"Authorization": signed}
        return super().call(operation, body)


class Regions:
    """Three regions behind one port."""

    def __init__(self, server):
        self.connections = {name: Region(server.port, name) for name in (OWN, WEST, SOUTH)}

    def __getitem__(self, region):
        return self.connections[region]

    def update(self, region, name, **members):
        answer = accept(self[region], "UpdateTable", {"TableName": name, **members})
        return answer["TableDescription"]

    def refuse(self, region, name, message, **members):
        refuse(self[region], "UpdateTable", {"TableName": name, **members}, message)

    def table(self, region, name):
        """What DescribeTable shows; None if there is no table."""
        status, answer = self[region].call("DescribeTable", {"TableName": name})
        assert status == 200 or answer["__type"].endswith("#ResourceNotFoundException"), answer
        return answer["Table"] if status == 200 else None

    def replicas(self, region, name):
        table = self.table(region, name)
        return {r["RegionName"]: r["ReplicaStatus"] for r in table.get("Replicas", [])}

    def create(self, name, **more):
        create(self[OWN], name, "pk", **more)

    def add(self, name, region, source=OWN, **more):
        answer = self.update(source, name, ReplicaUpdates=added(region, **more))
        self.wait(lambda: self.replicas(source, name).get(region) == "ACTIVE", f"{region} ACTIVE")
        self.wait(lambda: self.table(region, name)["TableStatus"] == "ACTIVE", f"{region} usable")
        return answer

    def remove(self, name, region, source=OWN):
        self.update(source, name, ReplicaUpdates=removed(region))
        self.wait(lambda: region not in self.replicas(source, name), f"{region} is left")
        self.wait(lambda: self.table(region, name) is None, f"the table in {region} is left")

    @staticmethod
    def wait(condition, what):
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, what
            time.sleep(0.02)


@pytest.fixture(scope="module", name="regions")
def fixture_regions(region_server):
    return Regions(region_server)


@pytest.fixture(scope="module", name="server_port")
def fixture_server_port(region_server):
    return region_server.port


@pytest.fixture(scope="module", name="region_server")
def fixture_region_server(tmp_path_factory):
    directory = tmp_path_factory.mktemp("regions")
    names = ",".join([OWN, WEST, SOUTH])
    with StatorProcess("--data-dir", str(directory), "--regions", names) as server:
        yield server
        server.stop()


GLOBAL = ["GlobalTableVersion", "Replicas", "MultiRegionConsistency", "GlobalTableWitnesses"]


def test_a_replica_is_made_shown_and_deleted(regions):
    regions.create("shown")
    accept(regions[OWN], "PutItem", {"TableName": "shown", "Item": {"pk": {"S": "old"}}})
    assert not any(member in regions.table(OWN, "shown") for member in GLOBAL)
    answer = regions.add("shown", WEST)
    assert answer["Replicas"] == [] and answer["TableStatus"] == "UPDATING"
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert answer["StreamSpecification"] == stream
    own, other = regions.table(OWN, "shown"), regions.table(WEST, "shown")
    assert own["GlobalTableVersion"] == "2019.11.21"
    assert "MultiRegionConsistency" not in own
    warm = {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"}
    (entry,) = own["Replicas"]
    assert entry["RegionName"] == WEST and entry["WarmThroughput"] == warm
    assert "ReplicaArn" not in entry and "ReplicaStatusPercentProgress" not in entry
    assert [r["RegionName"] for r in other["Replicas"]] == [OWN]
    assert other["StreamSpecification"] == stream
    assert own["TableId"] != other["TableId"]
    assert other["TableArn"].startswith(f"arn:aws:dynamodb:{WEST}:")
    found = accept(regions[WEST], "GetItem", {"TableName": "shown", "Key": {"pk": {"S": "old"}}})
    assert found["Item"] == {"pk": {"S": "old"}}
    regions.remove("shown", WEST)
    own = regions.table(OWN, "shown")
    assert not any(member in own for member in GLOBAL)
    assert own["StreamSpecification"] == stream


def test_a_member_or_a_stranger_cannot_be_added(regions):
    exists = (
        "Failed to create a the new replica of table with name: ‘{}’ because one or more "
        "replicas already existed as tables."
    )
    regions.create("twice")
    regions.add("twice", WEST)
    regions.refuse(OWN, "twice", exists.format("twice"), ReplicaUpdates=added(WEST))
    regions.create("taken")
    create(regions[WEST], "taken", "other")
    regions.refuse(OWN, "taken", exists.format("taken"), ReplicaUpdates=added(WEST))
    assert "Replicas" not in regions.table(OWN, "taken")
    assert regions.table(WEST, "taken")["KeySchema"][0]["AttributeName"] == "other"


def test_leaves_are_deleted_first(regions):
    regions.create("tree")
    regions.add("tree", WEST)
    regions.add("tree", SOUTH, source=WEST)
    source = (
        "Replica cannot be deleted because it has acted as a source region for new replica(s) "
        "being added to the table in the last 24 hours."
    )
    active = {WEST: "ACTIVE", SOUTH: "ACTIVE"}
    regions.wait(lambda: regions.replicas(OWN, "tree") == active, "members")
    refuse(regions[OWN], "DeleteTable", {"TableName": "tree"}, source)
    regions.refuse(OWN, "tree", source, ReplicaUpdates=removed(WEST))
    regions.remove("tree", SOUTH)
    regions.remove("tree", WEST)
    accept(regions[OWN], "DeleteTable", {"TableName": "tree"})
    assert regions.table(OWN, "tree") is None


def test_the_stream_of_a_replica_stays(regions):
    keys = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    regions.create("streamed", StreamSpecification=keys)
    regions.add("streamed", WEST)
    for region in (OWN, WEST):
        stream = regions.table(region, "streamed")["StreamSpecification"]
        assert stream == {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
        text = P + "Disabling Stream is not allowed for a Global Table replica."
        off = {"StreamEnabled": False}
        regions.refuse(region, "streamed", text, StreamSpecification=off)
        text = "Table already has an enabled stream: TableName: streamed"
        regions.refuse(region, "streamed", text, StreamSpecification=stream)


def test_shared_settings_follow_and_others_stay(regions):
    regions.create("settings")
    regions.add("settings", WEST)
    ttl = {"AttributeName": "expires", "Enabled": True}
    body = {"TableName": "settings", "TimeToLiveSpecification": ttl}
    accept(regions[OWN], "UpdateTimeToLive", body)
    index = {
        "IndexName": "by-a",
        "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }

    def lives():
        answer = accept(regions[WEST], "DescribeTimeToLive", {"TableName": "settings"})
        return answer["TimeToLiveDescription"]["TimeToLiveStatus"] == "ENABLED"

    regions.wait(lives, "time to live did not follow")
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "a")]
    regions.update(
        WEST,
        "settings",
        AttributeDefinitions=definitions,
        GlobalSecondaryIndexUpdates=[{"Create": index}],
    )
    regions.update(OWN, "settings", DeletionProtectionEnabled=True)

    def indexes(region):
        shown = regions.table(region, "settings").get("GlobalSecondaryIndexes", [])
        return [(index["IndexName"], index["IndexStatus"]) for index in shown]

    for region in (OWN, WEST):
        regions.wait(lambda r=region: indexes(r) == [("by-a", "ACTIVE")], "no index follows")
    assert not regions.table(WEST, "settings")["DeletionProtectionEnabled"]
    replicas = regions.table(OWN, "settings")["Replicas"]
    assert [i["IndexName"] for i in replicas[0]["GlobalSecondaryIndexes"]] == ["by-a"]


def test_replica_scaling_shows_all_regions(regions):
    regions.create("rescaled")
    regions.add("rescaled", WEST)
    named = {"TableName": "rescaled"}
    shown = accept(regions[OWN], "DescribeTableReplicaAutoScaling", named)
    description = shown["TableAutoScalingDescription"]
    assert [r["RegionName"] for r in description["Replicas"]] == sorted([OWN, WEST])
    disabled = {"AutoScalingDisabled": True, "ScalingPolicies": []}
    for replica in description["Replicas"]:
        assert replica["ReplicaProvisionedReadCapacityAutoScalingSettings"] == disabled
        assert replica["ReplicaStatus"] == "ACTIVE"
    update, writes = "UpdateTableReplicaAutoScaling", "ProvisionedWriteCapacityAutoScalingUpdate"
    accept(regions[OWN], update, {**named, writes: {"AutoScalingDisabled": True}})
    failed = "Failed to update settings for global table with name: ‘rescaled’ because "
    policy = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70}}
    whole = {"MinimumUnits": 1, "MaximumUnits": 9, "ScalingPolicyUpdate": policy}
    west = {"RegionName": WEST, "ReplicaProvisionedReadCapacityAutoScalingUpdate": whole}
    for members, message in [
        (
            {writes: whole},
            "Failed to update global table with name ‘rescaled‘. Replicas 'US-EAST-1', "
            "'US-WEST-2' BillingMode is PayPerRequest. You must convert table's BillingMode to "
            "PROVISIONED to set parameters: "
            "'GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate'.",
        ),
        ({}, failed + "at least one update parameter must be specified."),
        (
            {"ReplicaUpdates": [{"RegionName": WEST}]},
            failed + f"at least one update parameter must be specified for region: ‘{WEST}’.",
        ),
        (
            {"ReplicaUpdates": [west, west]},
            failed + f"the regions: ‘[{WEST}]’ were specified more than once.",
        ),
    ]:
        refuse(regions[OWN], update, {**named, **members}, message)


def test_a_protected_replica_stays(regions):
    regions.create("guarded")
    regions.add("guarded", WEST)
    regions.update(WEST, "guarded", DeletionProtectionEnabled=True)
    text = (
        f"Cannot delete table guarded in region {WEST} because it has deletion protection "
        "enabled. Disable deletion protection first."
    )
    regions.refuse(OWN, "guarded", text, ReplicaUpdates=removed(WEST))
    assert regions.replicas(OWN, "guarded") == {WEST: "ACTIVE"}
    regions.update(WEST, "guarded", DeletionProtectionEnabled=False)
    regions.remove("guarded", WEST)


def test_an_override_is_shown_where_it_differs(regions):
    regions.create("capped")
    regions.add("capped", WEST)
    override = {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 7}}
    regions.update(OWN, "capped", ReplicaUpdates=changed(WEST, **override))

    def maximum():
        return regions.table(WEST, "capped").get("OnDemandThroughput", {})

    regions.wait(lambda: maximum().get("MaxReadRequestUnits") == 7, "the override is not there")
    (replica,) = regions.table(OWN, "capped")["Replicas"]
    assert replica["OnDemandThroughputOverride"] == {"MaxReadRequestUnits": 7}
    assert "OnDemandThroughput" not in regions.table(OWN, "capped")
    regions.update(OWN, "capped", OnDemandThroughput={"MaxReadRequestUnits": 9})
    regions.wait(lambda: maximum().get("MaxReadRequestUnits") == 9, "the override has not ended")
    (replica,) = regions.table(OWN, "capped")["Replicas"]
    assert "OnDemandThroughputOverride" not in replica


def test_a_table_that_is_deleted_in_its_region_leaves_the_others(regions):
    regions.create("left")
    regions.add("left", WEST)
    accept(regions[WEST], "DeleteTable", {"TableName": "left"})
    regions.wait(lambda: "Replicas" not in regions.table(OWN, "left"), "the replica is left")


def test_stator_regions_shows_members_and_lag(regions, server_port):
    regions.create("watched")
    regions.add("watched", WEST)
    for number in range(3):
        item = {"pk": {"S": str(number)}}
        accept(regions[OWN], "PutItem", {"TableName": "watched", "Item": item})
    command = [binary(), "regions", "--endpoint", f"http://127.0.0.1:{server_port}"]

    def members():
        text = subprocess.run([*command, "--json"], check=True, capture_output=True).stdout
        (table,) = (t for t in json.loads(text)["Tables"] if t["TableName"] == "watched")
        return table["WaitingStamps"], table["Members"]

    def is_quiet():
        stamps, (member,) = members()
        return stamps == 0 and member["WaitingItems"] == 0 and member["Reached"]

    regions.wait(is_quiet, "stamps are not collected")
    _, (member,) = members()
    assert (member["RegionName"], member["ReplicaStatus"]) == (WEST, "ACTIVE")
    assert member["SendLagSeconds"] >= 0 and member["ReceiveLagSeconds"] >= 0
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert any(line.split()[:4] == ["watched", WEST, "ACTIVE", "yes"] for line in shown.splitlines())
