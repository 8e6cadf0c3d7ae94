"""What the service answers about replicas of version 2019.11.21 and about their scaling, measured in
October 2026. One server has the regions; the tests call it as the one or the other."""

import time

import pytest
import stator_process
from answers import accept, create, refuse

INVALID = "One or more parameter values were invalid: "
HERE, THERE, THIRD = "us-east-1", "us-west-2", "eu-west-1"
KEY = "arn:aws:kms:us-east-1:000000000000:key/12345678-1234-1234-1234-123456789012"
SECONDS = 20


class Abroad(stator_process.Connection):
    """A connection whose requests are signed for the other region."""

    def call(self, operation, body):
        if operation not in self._headers:
            headers = stator_process.operation_headers(operation)
            headers["Authorization"] = headers["Authorization"].replace(HERE, THERE)
            self._headers[operation] = headers
        return super().call(operation, body)


@pytest.fixture(scope="module", name="server")
def fixture_server():
    flags = ("--in-memory", "--regions", f"{HERE},{THERE},{THIRD}")
    with stator_process.StatorProcess(*flags) as server:
        yield server
        server.stop()


@pytest.fixture(scope="module", name="here")
def fixture_here(server):
    opened = stator_process.Connection(server.port)
    create(opened, "Regional", "pk")
    yield opened
    opened.close()


@pytest.fixture(scope="module", name="there")
def fixture_there(server):
    opened = Abroad(server.port)
    yield opened
    opened.close()


def update(name, *actions, **more):
    updates = {"ReplicaUpdates": list(actions)} if actions else {}
    return {"TableName": name, **updates, **more}


def make(region, **more):
    return {"Create": {"RegionName": region, **more}}


def change(region, **more):
    return {"Update": {"RegionName": region, **more}}


def delete(region):
    return {"Delete": {"RegionName": region}}


def witness(action, region):
    return {"GlobalTableWitnessUpdates": [{action: {"RegionName": region}}]}


def describe(connection, name="Rep"):
    return accept(connection, "DescribeTable", {"TableName": name})["Table"]


def wait_for(check):
    end = time.monotonic() + SECONDS
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(scope="module", name="global_table")
def fixture_global_table(here, there):
    create(here, "Rep", "pk")
    answer = accept(here, "UpdateTable", update("Rep", make(THERE)))["TableDescription"]
    wait_for(lambda: [r["ReplicaStatus"] for r in describe(here)["Replicas"]] == ["ACTIVE"])
    wait_for(lambda: describe(there)["TableStatus"] == "ACTIVE")
    return answer


# --- The regions of a request ---


@pytest.mark.parametrize(
    "request_, message",
    [
        (update("Regional", {"Create": {}}), INVALID[:-2]),
        (
            update("Regional", {"Update": {}}),
            "1 validation error detected: Value null at 'replicaUpdates.1.member.update.regionName'"
            " failed to satisfy constraint: Member must not be null",
        ),
        (
            update("Regional", delete("")),
            "Region  is not supported. The latest version of global tables are only supported in "
            f"the following regions: [{HERE}, {THERE}, {THIRD}]",
        ),
        (
            update("Regional", make(THERE), MultiRegionConsistency="STRONG",
                   **witness("Create", THERE)),
            "Cannot target multiple regions with the same action",
        ),
        (
            update("Regional", make(THERE), MultiRegionConsistency="STRONG",
                   **witness("Create", HERE)),
            "Cannot add a witness in the same region as an existing replica when creating a global "
            "table with MultiRegionConsistency set to STRONG.",
        ),
    ],
)  # fmt: skip
def test_regions_of_actions(here, request_, message):
    refuse(here, "UpdateTable", request_, message)


# --- Keys ---


def test_keys_of_replicas(here, global_table):
    own_key = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY}
    create(here, "Encrypted", "pk", SSESpecification=own_key)
    needed = INVALID + "KMSMasterKeyId must be specified for each replica."
    mixed = INVALID + "All replica keys must either be Customer Managed CMK or AWS Managed CMK."
    default = {"KMSMasterKeyId": "alias/aws/dynamodb"}
    for request, message in [
        (update("Encrypted", make(THERE)), needed),
        (update("Encrypted", make(THERE, **default)), mixed),
        (update("Regional", make(THERE, **default)), needed),
        (update("Rep", change(THERE, **default)), needed),
    ]:
        refuse(here, "UpdateTable", request, message)


# --- Answers and states ---


def test_the_answer_shows_a_replica_as_it_was(here, global_table):
    assert global_table["Replicas"] == []
    assert global_table["TableStatus"] == "UPDATING"
    before = describe(here)["Replicas"]
    action = change(THERE, TableClassOverride="STANDARD_INFREQUENT_ACCESS")
    answer = accept(here, "UpdateTable", update("Rep", action))["TableDescription"]
    assert (answer["TableStatus"], answer["Replicas"]) == ("UPDATING", before)
    assert describe(here)["Replicas"] != before


def test_deletion_protection_of_a_replica_names_its_region(here, there, global_table):
    accept(there, "UpdateTable", {"TableName": "Rep", "DeletionProtectionEnabled": True})
    message = (
        f"Cannot delete table Rep in region {THERE} because it has deletion protection enabled. "
        "Disable deletion protection first."
    )
    refuse(here, "UpdateTable", update("Rep", delete(THERE)), message)
    refuse(there, "DeleteTable", {"TableName": "Rep"}, message)
    accept(there, "UpdateTable", {"TableName": "Rep", "DeletionProtectionEnabled": False})


# --- UpdateTableReplicaAutoScaling ---

POLICY = {"ScalingPolicyUpdate": {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70}}}
BOUNDS = {"MinimumUnits": 1, "MaximumUnits": 10}
QUOTED = "\u2018{}\u2019"
FAILED = "Failed to update settings for global table with name: " + QUOTED


def reads(region, settings):
    return {"RegionName": region, "ReplicaProvisionedReadCapacityAutoScalingUpdate": settings}


def writes(settings):
    return {"ProvisionedWriteCapacityAutoScalingUpdate": settings}


def required(name, *parameters):
    listed = ", ".join(f"'{p}'" for p in parameters)
    return (
        FAILED.format(name)
        + f": Parameters {listed} are required unless auto scaling is being disabled."
    )


def blank(*parameters):
    listed = ", ".join(f"'{p}'" for p in parameters)
    return (
        "Failed to update settings for global table with name "
        + QUOTED.format("Rep")
        + f": Parameters {listed} must be left blank when disabling auto scaling."
    )


@pytest.mark.parametrize(
    "settings, message",
    [
        (BOUNDS, required("Rep", "ScalingPolicyUpdate")),
        (POLICY, required("Rep", "MaximumUnits", "MinimumUnits")),
        ({**POLICY, "MinimumUnits": 1}, required("Rep", "MaximumUnits")),
        ({}, required("Rep", "MaximumUnits", "ScalingPolicyUpdate", "MinimumUnits")),
        (
            {"AutoScalingDisabled": False},
            required("Rep", "MaximumUnits", "ScalingPolicyUpdate", "MinimumUnits"),
        ),
        ({"AutoScalingDisabled": True, **BOUNDS}, blank("MaximumUnits", "MinimumUnits")),
        ({"AutoScalingDisabled": True, **POLICY}, blank("ScalingPolicyUpdate")),
    ],
)
def test_settings_of_scaling_are_whole_or_disabled(here, global_table, settings, message):
    operation = "UpdateTableReplicaAutoScaling"
    refuse(here, operation, {"TableName": "Rep", **writes(settings)}, message)
    request = {"TableName": "Rep", "ReplicaUpdates": [reads(HERE, settings)]}
    refuse(here, operation, request, message)


def test_settings_of_scaling_are_judged_before_the_table(here, global_table):
    operation = "UpdateTableReplicaAutoScaling"
    request = {"TableName": "Nope", **writes(BOUNDS)}
    refuse(here, operation, request, required("Nope", "ScalingPolicyUpdate"))
    for name in ("Nope", "Regional"):
        request = {"TableName": name, **writes({**BOUNDS, **POLICY})}
        absent = f"Global table with name: '{name}' does not exist."
        refuse(here, operation, request, absent, "ResourceNotFoundException")


def test_regions_and_indexes_of_scaling_come_before_the_billing_mode(here, global_table):
    operation = "UpdateTableReplicaAutoScaling"
    whole = {**BOUNDS, **POLICY}
    missing = "ResourceNotFoundException"
    failed = FAILED.format("Rep")
    nope = {"IndexName": "nope"}
    of_replica = {**nope, "ProvisionedReadCapacityAutoScalingUpdate": whole}
    for members, message, kind in [
        ({}, f"{failed} because at least one update parameter must be specified.", None),
        (
            {"ReplicaUpdates": [{"RegionName": HERE}]},
            f"{failed} because at least one update parameter must be specified for region: "
            + QUOTED.format(HERE)
            + ".",
            None,
        ),
        (
            {"ReplicaUpdates": [reads(HERE, whole), reads(HERE, whole)]},
            f"{failed} because the regions: {QUOTED.format(f'[{HERE}]')} were specified more than "
            "once.",
            None,
        ),
        (
            {"ReplicaUpdates": [reads(THIRD, whole)]},
            f"{failed} because a replica does not exist in regions: "
            f"{QUOTED.format(f'[{THIRD}]')}.",
            missing,
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{**nope, **writes(whole)}]},
            f"{failed} because the global secondary indexes with names: {QUOTED.format('[nope]')} "
            "do not exist.",
            missing,
        ),
        (
            {"ReplicaUpdates": [
                {"RegionName": HERE, "ReplicaGlobalSecondaryIndexUpdates": [of_replica]}
            ]},
            f"{failed} because a global secondary index with name: {QUOTED.format('nope')} does "
            f"not exist in region: {QUOTED.format(HERE)}.",
            missing,
        ),
    ]:  # fmt: skip
        request = {"TableName": "Rep", **members}
        refuse(here, operation, request, message, kind or "ValidationException")


def test_scaling_of_a_table_on_demand(here, global_table):
    operation = "UpdateTableReplicaAutoScaling"
    whole = {**BOUNDS, **POLICY}
    text = (
        "Failed to update global table with name \u2018Rep\u2018. Replicas 'US-EAST-1', 'US-WEST-2' "
        "BillingMode is PayPerRequest. You must convert table's BillingMode to PROVISIONED to set "
        "parameters: '{}'."
    )
    for members, parameter in [
        (writes(whole), "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate"),
        (
            {"ReplicaUpdates": [reads(HERE, whole)]},
            "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate",
        ),
    ]:
        refuse(here, operation, {"TableName": "Rep", **members}, text.format(parameter))
    accept(here, operation, {"TableName": "Rep", **writes({"AutoScalingDisabled": True})})


# --- Without its last replica, a table is a regional one; last, because it takes the replica ---


def test_a_table_without_its_last_replica_is_regional(here, there, global_table):
    stream = {"TableName": "Rep", "StreamSpecification": {"StreamEnabled": False}}
    disabling = INVALID + "Disabling Stream is not allowed for a Global Table replica."
    refuse(here, "UpdateTable", stream, disabling)
    before = describe(here)["Replicas"]
    answer = accept(here, "UpdateTable", update("Rep", delete(THERE)))["TableDescription"]
    assert (answer["TableStatus"], answer["Replicas"]) == ("UPDATING", before)
    wait_for(lambda: "Replicas" not in describe(here))
    wait_for(lambda: there.call("DescribeTable", {"TableName": "Rep"})[0] == 400)
    table = describe(here)
    for member in ("GlobalTableVersion", "GlobalTableSettingsReplicationMode"):
        assert member not in table
    absent = "Global table with name: 'Rep' does not exist."
    for operation in ("DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"):
        refuse(here, operation, {"TableName": "Rep"}, absent, "ResourceNotFoundException")
    accept(here, "UpdateTable", stream)
