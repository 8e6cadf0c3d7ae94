"""What the service answers to UpdateTable, measured in October 2026."""

import itertools

import pytest
from answers import accept, attributes, create, key_schema, refuse

INVALID = "One or more parameter values were invalid: "
ALL = {"ProjectionType": "ALL"}
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
COUNTER = itertools.count()


def units(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def limits(read=None, write=None):
    pairs = {"MaxReadRequestUnits": read, "MaxWriteRequestUnits": write}
    return {name: value for name, value in pairs.items() if value is not None}


def warm(read, write, status="ACTIVE"):
    return {"ReadUnitsPerSecond": read, "WriteUnitsPerSecond": write, "Status": status}


def index(name="gsi1", key="g", **more):
    return {"IndexName": name, "KeySchema": key_schema(key), "Projection": ALL, **more}


def new_table(connection, **more):
    """A table with a global index gsi1 and a local one lsi1, on demand unless `more` has units."""
    name = f"Table{next(COUNTER)}"
    provisioned = "ProvisionedThroughput" in more
    share = {"ProvisionedThroughput": more["ProvisionedThroughput"]} if provisioned else {}
    create(
        connection,
        name,
        "pk",
        "sk",
        AttributeDefinitions=attributes(pk="S", sk="S", g="S", l="S"),
        GlobalSecondaryIndexes=[index(**share)],
        LocalSecondaryIndexes=[
            {"IndexName": "lsi1", "KeySchema": key_schema("pk", "l"), "Projection": ALL}
        ],
        **more,
    )
    return name


@pytest.fixture(scope="module", name="on_demand")
def fixture_on_demand(connection):
    return new_table(connection)


@pytest.fixture(scope="module", name="provisioned")
def fixture_provisioned(connection):
    return new_table(connection, ProvisionedThroughput=units(5, 5))


def update(connection, name, **change):
    request = {"TableName": name, **change}
    return accept(connection, "UpdateTable", request)["TableDescription"]


def describe(connection, name):
    return accept(connection, "DescribeTable", {"TableName": name})["Table"]


def of_index(name="gsi1", **change):
    return {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": name, **change}}]}


def gsi(description):
    return description["GlobalSecondaryIndexes"][0]


# --- Changes that are done with the answer ---


def test_deletion_protection_is_done_at_once(connection):
    name = new_table(connection)
    for protected in (True, True, False):
        answer = update(connection, name, DeletionProtectionEnabled=protected)
        assert (answer["TableStatus"], answer["DeletionProtectionEnabled"]) == ("ACTIVE", protected)


def test_on_demand_limits_are_done_at_once(connection):
    name = new_table(connection)
    for change, answered, shown in [
        (limits(1000, 500), limits(1000, 500), limits(1000, 500)),
        (limits(2000), limits(2000, 500), limits(2000, 500)),
        (limits(2000), limits(2000, 500), limits(2000, 500)),
        (limits(-1), limits(-1, 500), limits(write=500)),
        (limits(write=-1), limits(write=-1), None),
        (limits(-1, -1), limits(-1, -1), None),
        (limits(write=700), limits(write=700), limits(write=700)),
    ]:
        answer = update(connection, name, OnDemandThroughput=change)
        assert (answer["TableStatus"], answer["OnDemandThroughput"]) == ("ACTIVE", answered)
        assert describe(connection, name).get("OnDemandThroughput") == shown
    answer = update(connection, name, **of_index(OnDemandThroughput=limits(50, 60)))
    assert answer["TableStatus"] == "ACTIVE"
    assert gsi(answer)["IndexStatus"] == "UPDATING"
    shown = gsi(describe(connection, name))
    assert (shown["IndexStatus"], shown["OnDemandThroughput"]) == ("ACTIVE", limits(50, 60))
    update(connection, name, **of_index(OnDemandThroughput=limits(-1, -1)))
    assert "OnDemandThroughput" not in gsi(describe(connection, name))


def test_warm_throughput_answers_with_the_old_values(connection):
    name = new_table(connection)
    change = {"ReadUnitsPerSecond": 12001, "WriteUnitsPerSecond": 4001}
    answer = update(connection, name, WarmThroughput=change)
    assert answer["TableStatus"] == "ACTIVE"
    assert answer["WarmThroughput"] == warm(12000, 4000, "UPDATING")
    assert describe(connection, name)["WarmThroughput"] == warm(12001, 4001)
    answer = update(connection, name, WarmThroughput=change)
    assert answer["WarmThroughput"] == warm(12001, 4001, "UPDATING")
    answer = update(connection, name, **of_index(WarmThroughput={"ReadUnitsPerSecond": 12002}))
    assert (answer["TableStatus"], gsi(answer)["IndexStatus"]) == ("ACTIVE", "ACTIVE")
    assert gsi(answer)["WarmThroughput"] == warm(12000, 4000, "UPDATING")
    assert gsi(describe(connection, name))["WarmThroughput"] == warm(12002, 4000)


def test_encryption_shows_what_was_before(connection):
    name = new_table(connection)
    answer = update(connection, name, SSESpecification={"Enabled": True})
    assert answer["TableStatus"] == "ACTIVE"
    assert answer["SSEDescription"] == {"Status": "UPDATING"}
    first = describe(connection, name)["SSEDescription"]
    assert first["Status"] == "ENABLED"
    for again in ({"Enabled": True}, {"SSEType": "KMS"}):
        answer = update(connection, name, SSESpecification=again)
        assert answer["SSEDescription"] == {**first, "Status": "UPDATING"}
    key = first["KMSMasterKeyArn"].rsplit("/", 1)[0] + "/8963cda5-0fac-4af1-8635-0af67d16fe14"
    other = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
    answer = update(connection, name, SSESpecification=other)
    assert answer["SSEDescription"] == {**first, "Status": "UPDATING"}
    shown = describe(connection, name)["SSEDescription"]
    assert shown == {**first, "KMSMasterKeyArn": key}
    message = INVALID + (
        "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you "
        "want to change Master Key"
    )
    refuse(connection, "UpdateTable", {"TableName": name, "SSESpecification": other}, message)
    answer = update(connection, name, SSESpecification={"Enabled": False})
    assert answer["SSEDescription"] == {**shown, "Status": "UPDATING"}
    assert "SSEDescription" not in describe(connection, name)


def test_encryption_of_a_table_that_has_none(connection, on_demand):
    message = INVALID + "Table is already encrypted by default"
    for specification in ({}, {"Enabled": False}):
        request = {"TableName": on_demand, "SSESpecification": specification}
        refuse(connection, "UpdateTable", request, message)


# --- Changes of the table's status ---


def test_the_same_again_answers_updating(connection):
    name = new_table(connection)
    for change in ({"BillingMode": "PAY_PER_REQUEST"}, {"TableClass": "STANDARD"}):
        answer = update(connection, name, **change)
        assert answer["TableStatus"] == "UPDATING"
        assert "TableClassSummary" not in answer
        shown = describe(connection, name)
        assert shown["TableStatus"] == "ACTIVE"
        assert "TableClassSummary" not in shown


def test_the_table_class_answers_with_the_old_one(connection):
    name = new_table(connection)
    rare = "STANDARD_INFREQUENT_ACCESS"
    answer = update(connection, name, TableClass=rare)
    assert answer["TableStatus"] == "UPDATING"
    assert "TableClassSummary" not in answer
    shown = describe(connection, name)["TableClassSummary"]
    assert (shown["TableClass"], set(shown)) == (rare, {"TableClass", "LastUpdateDateTime"})
    answer = update(connection, name, TableClass="STANDARD")
    assert answer["TableClassSummary"] == shown
    assert describe(connection, name)["TableClassSummary"]["TableClass"] == "STANDARD"


def test_streams(connection):
    name = new_table(connection)
    request = {"TableName": name, "StreamSpecification": {"StreamEnabled": False}}
    none = f"Table has no stream to disable: TableName: {name}"
    refuse(connection, "UpdateTable", request, none)
    answer = update(connection, name, StreamSpecification=STREAM)
    assert (answer["TableStatus"], answer["StreamSpecification"]) == ("UPDATING", STREAM)
    first = answer["LatestStreamArn"]
    assert first.endswith(answer["LatestStreamLabel"])
    again = f"Table already has an enabled stream: TableName: {name}"
    for view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
        specification = {"StreamEnabled": True, "StreamViewType": view}
        change = {"TableName": name, "StreamSpecification": specification}
        refuse(connection, "UpdateTable", change, again)
    accept(connection, "UpdateTable", request)
    shown = describe(connection, name)
    assert "StreamSpecification" not in shown
    assert shown["LatestStreamArn"] == first
    refuse(connection, "UpdateTable", request, none)
    assert update(connection, name, StreamSpecification=STREAM)["LatestStreamArn"] != first


def test_provisioned_units_answer_with_the_old_ones(connection):
    name = new_table(connection, ProvisionedThroughput=units(5, 5))
    answer = update(connection, name, ProvisionedThroughput=units(6, 7))
    times = answer["ProvisionedThroughput"]
    assert answer["TableStatus"] == "UPDATING"
    since = times["LastIncreaseDateTime"]
    expected = {"LastIncreaseDateTime": since, "NumberOfDecreasesToday": 0, **units(5, 5)}
    assert times == expected
    assert describe(connection, name)["ProvisionedThroughput"] == {**expected, **units(6, 7)}
    answer = update(connection, name, ProvisionedThroughput=units(6, 1))
    decreased = answer["ProvisionedThroughput"]["LastDecreaseDateTime"]
    expected["LastDecreaseDateTime"] = decreased
    assert answer["ProvisionedThroughput"] == {**expected, **units(6, 7)}
    shown = describe(connection, name)
    expected["NumberOfDecreasesToday"] = 1
    assert shown["ProvisionedThroughput"] == {**expected, **units(6, 1)}
    assert shown["WarmThroughput"] == warm(6, 7)
    assert "BillingModeSummary" not in shown


def test_units_of_an_index_answer_with_the_old_ones(connection):
    name = new_table(connection, ProvisionedThroughput=units(5, 5))
    answer = update(connection, name, **of_index(ProvisionedThroughput=units(2, 5)))
    assert (answer["TableStatus"], gsi(answer)["IndexStatus"]) == ("ACTIVE", "UPDATING")
    old = gsi(answer)["ProvisionedThroughput"]
    assert {**old, "LastDecreaseDateTime": 0} == {
        "LastDecreaseDateTime": 0,
        "NumberOfDecreasesToday": 0,
        **units(5, 5),
    }
    shown = gsi(describe(connection, name))
    assert shown["IndexStatus"] == "ACTIVE"
    assert shown["ProvisionedThroughput"] == {
        "LastDecreaseDateTime": old["LastDecreaseDateTime"],
        "NumberOfDecreasesToday": 1,
        **units(2, 5),
    }
    assert shown["WarmThroughput"] == warm(5, 5)


def test_a_table_turns_to_provisioned_units(connection):
    name = new_table(connection)
    update(connection, name, OnDemandThroughput=limits(9, 9))
    update(connection, name, **of_index(OnDemandThroughput=limits(9, 9)))
    since = describe(connection, name)["BillingModeSummary"]["LastUpdateToPayPerRequestDateTime"]
    answer = update(
        connection,
        name,
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units(50, 40),
        **of_index(ProvisionedThroughput=units(30, 20)),
    )
    mode = {"BillingMode": "PROVISIONED", "LastUpdateToPayPerRequestDateTime": since}
    assert (answer["TableStatus"], gsi(answer)["IndexStatus"]) == ("UPDATING", "UPDATING")
    shown = describe(connection, name)
    for description in (answer, shown):
        assert description["BillingModeSummary"] == mode
        assert description["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **units(50, 40)}
        assert gsi(description)["ProvisionedThroughput"] == {
            "NumberOfDecreasesToday": 0,
            **units(30, 20),
        }
        assert "OnDemandThroughput" not in description
        assert "OnDemandThroughput" not in gsi(description)
        assert description["WarmThroughput"] == warm(12000, 4000)


def test_a_table_turns_to_on_demand_throughput(connection):
    name = new_table(connection, ProvisionedThroughput=units(5, 5))
    answer = update(connection, name, BillingMode="PAY_PER_REQUEST")
    assert answer["TableStatus"] == "UPDATING"
    assert answer["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    none = {"NumberOfDecreasesToday": 0, **units(0, 0)}
    assert set(answer["ProvisionedThroughput"]) == {"LastDecreaseDateTime", *none}
    assert answer["ProvisionedThroughput"] == {**answer["ProvisionedThroughput"], **none}
    assert gsi(answer)["IndexStatus"] == "UPDATING"
    assert gsi(answer)["ProvisionedThroughput"] == none
    shown = describe(connection, name)
    assert set(shown["BillingModeSummary"]) == {"BillingMode", "LastUpdateToPayPerRequestDateTime"}
    assert shown["ProvisionedThroughput"] == none
    assert shown["WarmThroughput"] == warm(12000, 4000)
    decreased = gsi(shown)["ProvisionedThroughput"].pop("LastDecreaseDateTime")
    assert decreased > 0
    assert gsi(shown)["ProvisionedThroughput"] == {**none, "NumberOfDecreasesToday": 1}


def test_increases_and_decreases_are_remembered(connection):
    name = new_table(connection, ProvisionedThroughput=units(5, 5))
    update(connection, name, ProvisionedThroughput=units(6, 6))
    update(connection, name, ProvisionedThroughput=units(4, 4))
    before = describe(connection, name)["ProvisionedThroughput"]
    update(connection, name, BillingMode="PAY_PER_REQUEST")
    assert describe(connection, name)["ProvisionedThroughput"] == {**before, **units(0, 0)}


def test_an_index_that_is_created_and_deleted(connection):
    name = new_table(connection)
    create_index = {"GlobalSecondaryIndexUpdates": [{"Create": index("gsi2", "n")}]}
    answer = update(connection, name, AttributeDefinitions=attributes(n="S"), **create_index)
    assert answer["TableStatus"] == "UPDATING"
    added = answer["GlobalSecondaryIndexes"][1]
    assert (added["IndexStatus"], added["Backfilling"]) == ("CREATING", False)
    assert (added["IndexSizeBytes"], added["ItemCount"]) == (0, 0)


# --- What is refused ---


def refuse_update(connection, name, message, kind="ValidationException", **change):
    refuse(connection, "UpdateTable", {"TableName": name, **change}, message, kind)


def test_units_and_modes_that_do_not_fit(connection, on_demand, provisioned):
    for name, message, change in [
        (
            provisioned,
            "ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST",
            {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": units(1, 1)},
        ),
        (
            provisioned,
            "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
            {"BillingMode": "PROVISIONED"},
        ),
        (
            on_demand,
            "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
            {"BillingMode": "PROVISIONED", **of_index(ProvisionedThroughput=units(1, 1))},
        ),
        (
            on_demand,
            "ProvisionedThroughput must be specified for index: gsi1",
            {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)},
        ),
        (
            on_demand,
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST",
            {"ProvisionedThroughput": units(1, 1), "WarmThroughput": {}},
        ),
        (
            on_demand,
            "The only Updates for index: gsi1 when TableThroughputMode is PAY_PER_REQUEST can be to "
            "OnDemandThroughput, WarmThroughput",
            of_index(ProvisionedThroughput=units(1, 1)),
        ),
        (
            provisioned,
            "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "
            "BillingMode is PROVISIONED",
            {"OnDemandThroughput": limits(5)},
        ),
        (
            provisioned,
            "MaxReadRequestUnits for OnDemandThroughput for index : gsi1 cannot be specified when "
            "the table BillingMode is PROVISIONED",
            of_index(OnDemandThroughput=limits(5)),
        ),
        (
            provisioned,
            "You cannot modify stream status while updating table IOPS",
            {"BillingMode": "PROVISIONED", "StreamSpecification": STREAM},
        ),
    ]:
        refuse_update(connection, name, INVALID + message, **change)


def test_limits_that_are_out_of_range(connection, on_demand):
    message = "Requested {} for OnDemandThroughput for {} is outside of valid range"
    read, write = "MaxReadRequestUnits", "MaxWriteRequestUnits"
    for name, change in [
        (message.format(write, "table"), {"OnDemandThroughput": limits(write=0)}),
        (message.format(read, "table"), {"OnDemandThroughput": limits(-2)}),
        (message.format(read, "table"), {"OnDemandThroughput": limits(0, 0)}),
        (message.format(read, "index : gsi1"), of_index(OnDemandThroughput=limits(0))),
        (
            message.format(read, "index: gsi2"),
            {
                "AttributeDefinitions": attributes(n="S"),
                "GlobalSecondaryIndexUpdates": [
                    {"Create": index("gsi2", "n", OnDemandThroughput=limits(0))}
                ],
            },
        ),
    ]:
        refuse_update(connection, on_demand, INVALID + name, **change)


def test_warm_throughput_does_not_fall(connection, on_demand, provisioned):
    message = INVALID + (
        "Requested ReadUnitsPerSecond for WarmThroughput for {} is lower than current "
        "WarmThroughput, decreasing WarmThroughput is not supported"
    )
    for name, read in [(on_demand, 0), (on_demand, -1), (on_demand, 11999), (provisioned, 4)]:
        change = {"ReadUnitsPerSecond": read, "WriteUnitsPerSecond": read}
        refuse_update(connection, name, message.format("table"), WarmThroughput=change)
        of_gsi = of_index(WarmThroughput=change)
        refuse_update(connection, name, message.format("index gsi1"), **of_gsi)


def test_a_new_index_of_a_provisioned_table_needs_units(connection, provisioned):
    refuse_update(
        connection,
        provisioned,
        INVALID + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: gsi2",
        AttributeDefinitions=attributes(n="S"),
        GlobalSecondaryIndexUpdates=[{"Create": index("gsi2", "n")}],
    )


def test_indexes_that_cannot_be_changed(connection, on_demand, provisioned):
    missing = f"Requested resource not found: Index ghost for table {provisioned}"
    for action in (
        {"Delete": {"IndexName": "ghost"}},
        {"Update": {"IndexName": "ghost", "ProvisionedThroughput": units(1, 1)}},
    ):
        change = {"GlobalSecondaryIndexUpdates": [action]}
        refuse_update(connection, provisioned, missing, "ResourceNotFoundException", **change)
    for action, verb in (
        ({"Delete": {"IndexName": "lsi1"}}, "delete"),
        ({"Update": {"IndexName": "lsi1", "OnDemandThroughput": limits(1)}}, "update"),
    ):
        message = f"Cannot {verb} an index that is not a GlobalSecondaryIndex: lsi1"
        refuse_update(connection, on_demand, message, GlobalSecondaryIndexUpdates=[action])
    for name in ("lsi1", "gsi1"):
        refuse_update(
            connection,
            on_demand,
            "Attempting to create an index which already exists",
            AttributeDefinitions=attributes(n="S"),
            GlobalSecondaryIndexUpdates=[{"Create": index(name, "n")}],
        )


def test_actions_of_one_request(connection, on_demand):
    def refuse_actions(message, *actions):
        change = {"GlobalSecondaryIndexUpdates": list(actions)}
        refuse_update(connection, on_demand, INVALID + message, **change)

    delete = {"Delete": {"IndexName": "gsi1"}}
    change = {"Update": {"IndexName": "gsi1", "OnDemandThroughput": limits(1)}}
    twice = "Only one global secondary index update per index is allowed simultaneously. Index: gsi1"
    refuse_actions(twice, delete, {"Create": index("gsi1", "n")})
    refuse_actions(twice, change, change)
    refuse_actions(twice, delete, change)
    refuse_actions(
        "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
        "GlobalSecondaryIndexUpdate.Delete must not be null",
        {},
    )
    refuse_update(
        connection,
        on_demand,
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
        "per table",
        "LimitExceededException",
        AttributeDefinitions=attributes(n="S", m="S"),
        GlobalSecondaryIndexUpdates=[
            {"Create": index("gsi3", "n")},
            {"Create": index("gsi4", "m")},
        ],
    )


def test_definitions_matter_for_new_indexes_only(connection):
    name = new_table(connection)
    before = describe(connection, name)["AttributeDefinitions"]
    for change in (
        {"DeletionProtectionEnabled": False},
        {"BillingMode": "PAY_PER_REQUEST"},
        of_index(OnDemandThroughput=limits(1)),
    ):
        for definitions in (attributes(pk="N", sk="N", x="B"), []):
            update(connection, name, AttributeDefinitions=definitions, **change)
            assert describe(connection, name)["AttributeDefinitions"] == before


def test_members_that_are_empty(connection, on_demand):
    """Alone they change nothing, and beside another change they are not there."""
    missing = "Requested resource not found: Table: Missing not found"
    for member in ("WarmThroughput", "OnDemandThroughput"):
        change = {member: {}}
        refuse_update(connection, "Missing", missing, "ResourceNotFoundException", **change)
    update(connection, on_demand, WarmThroughput={}, DeletionProtectionEnabled=False)
    update(connection, on_demand, WarmThroughput={}, TableClass="STANDARD")
    update(connection, on_demand, OnDemandThroughput={}, BillingMode="PAY_PER_REQUEST")


def test_members_that_do_not_exist_are_ignored(connection, on_demand):
    update(
        connection,
        on_demand,
        DeletionProtectionEnabled=False,
        KeySchema=key_schema("other"),
        LocalSecondaryIndexes="none",
    )
    assert describe(connection, on_demand)["KeySchema"] == key_schema("pk", "sk")


def test_pairs_that_are_accepted(connection):
    name = new_table(connection, ProvisionedThroughput=units(5, 5))
    update(connection, name, BillingMode="PAY_PER_REQUEST", StreamSpecification=STREAM)
    shown = describe(connection, name)
    assert shown["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert shown["StreamSpecification"] == STREAM
    name = new_table(connection, ProvisionedThroughput=units(5, 5))
    update(connection, name, BillingMode="PAY_PER_REQUEST", OnDemandThroughput=limits(1, 1))
    assert describe(connection, name)["OnDemandThroughput"] == limits(1, 1)
    name = new_table(connection, ProvisionedThroughput=units(5, 5))
    update(
        connection,
        name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=attributes(n="S"),
        GlobalSecondaryIndexUpdates=[{"Create": index("gsi2", "n")}],
    )


def test_the_order_of_what_must_come_alone(connection, on_demand):
    changes = [
        ("Server-Side Encryption modification", {"SSESpecification": {"Enabled": True}}),
        ("TableClass modification", {"TableClass": "STANDARD_INFREQUENT_ACCESS"}),
        ("DeletionProtection modification", {"DeletionProtectionEnabled": True}),
        ("WarmThroughput", {"WarmThroughput": {"ReadUnitsPerSecond": 13000}}),
    ]
    for (what, first), (_, second) in itertools.combinations(changes, 2):
        message = f"{INVALID}{what} must be the only operation in the request"
        refuse_update(connection, on_demand, message, **second, **first)


def test_an_index_of_no_warm_throughput_comes_before_what_must_come_alone(connection, on_demand):
    message = (
        f"{INVALID}WarmThroughput must have at least one of ReadUnitsPerSecond or "
        "WriteUnitsPerSecond specified for index: gsi1"
    )
    nothing = [{"Update": {"IndexName": "gsi1", "WarmThroughput": {}}}]
    for more in ({}, {"TableClass": "STANDARD"}):
        refuse_update(connection, on_demand, message, GlobalSecondaryIndexUpdates=nothing, **more)


def test_a_protected_table_is_not_deleted_but_its_indexes_are(connection):
    name = new_table(connection, DeletionProtectionEnabled=True)
    message = (
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
        "protection first."
    )
    refuse(connection, "DeleteTable", {"TableName": name}, message)
    delete = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "gsi1"}}]}
    answer = update(connection, name, **delete)
    assert (answer["TableStatus"], gsi(answer)["IndexStatus"]) == ("UPDATING", "DELETING")
    update(connection, name, DeletionProtectionEnabled=False)
