"""What follows an update that failed and was not rolled back: another update, a deletion."""

import pytest

from stack_account import Account, table, template


@pytest.fixture
def account(server_url):
    account = Account(server_url)
    yield account
    account.clean()


def refused(name):
    """A table whose key has no attribute definition: DynamoDB refuses it. Made last."""
    made = table(TableName=name)
    made["Properties"]["KeySchema"][0]["AttributeName"] = "other"
    return {**made, "DependsOn": "T"}


def fail(account, resource):
    """Updates T, which succeeds, and adds a table, which fails."""
    stack = account.update("app", template(T=resource, Bad=refused("bad")), DisableRollback=True)
    assert stack["StackStatus"] == "UPDATE_FAILED"


def indexes(account, name):
    return [i["IndexName"] for i in account.described(name).get("GlobalSecondaryIndexes", [])]


def physical_id(account):
    return account.cfn.describe_stack_resource(StackName="app", LogicalResourceId="T")[
        "StackResourceDetail"]["PhysicalResourceId"]


def test_the_next_update_undoes_what_its_template_does_not_have(account):
    account.create("app", template(T=table(TableName="orders")))
    fail(account, table(TableName="orders", indexes=["kind"]))
    assert indexes(account, "orders") == ["by-kind"]
    stack = account.update("app", template(T=table(TableName="orders"),
                                           Good=table(TableName="good")))
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    assert indexes(account, "orders") == []


def time_to_live(account, name):
    described = account.dynamodb.describe_time_to_live(TableName=name)
    return described["TimeToLiveDescription"]["TimeToLiveStatus"]


def expire(account, name):
    """As somebody else who changes a table of the stack."""
    account.dynamodb.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": True})


def test_tags_alone_leave_what_others_have_changed(account):
    body = template(T=table(TableName="orders"))
    account.create("app", body)
    expire(account, "orders")
    stack = account.update("app", body, Tags=[{"Key": "team", "Value": "blue"}])
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    assert time_to_live(account, "orders") == "ENABLED"
    listed = account.dynamodb.list_tags_of_resource(
        ResourceArn=account.described("orders")["TableArn"])
    assert {"Key": "team", "Value": "blue"} in listed["Tags"]


def test_tags_after_an_update_that_failed_bring_tables_to_the_template(account):
    account.create("app", template(T=table(TableName="orders")))
    fail(account, table(TableName="orders", indexes=["kind"]))
    expire(account, "orders")
    stack = account.update("app", template(T=table(TableName="orders")),
                           Tags=[{"Key": "team", "Value": "blue"}])
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    assert indexes(account, "orders") == [] and time_to_live(account, "orders") == "DISABLED"


def test_a_rollback_is_disabled_for_one_operation(account):
    account.create("app", template(T=table(TableName="orders")))
    fail(account, table(TableName="orders", indexes=["kind"]))
    stack = account.update("app", template(T=table(TableName="orders"), Bad=refused("bad")))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert stack["DisableRollback"] is False


def test_a_rollback_undoes_all_updates_since_the_last_one_that_succeeded(account):
    account.create("app", template(T=table(TableName="orders"), U=table(TableName="users")))
    both = {"T": table(TableName="orders", indexes=["kind"]), "U": table(TableName="users")}
    account.update("app", template(**both, Bad=refused("bad")), DisableRollback=True)
    both["T"] = table(TableName="orders")
    both["U"] = table(TableName="users", indexes=["kind"])
    stack = account.update("app", template(**both, Bad={**refused("bad"), "DependsOn": ["T", "U"]}))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert indexes(account, "orders") == indexes(account, "users") == []


def test_a_replacement_is_kept_by_the_next_update_that_wants_it(account):
    account.create("app", template(T=table()))
    first = physical_id(account)
    fail(account, table("pk"))
    second = physical_id(account)
    assert account.tables() == sorted([first, second])
    stack = account.update("app", template(T=table("pk", indexes=["kind"])))
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    assert account.tables() == [second] and indexes(account, second) == ["by-kind"]


@pytest.mark.parametrize("names", [(None, None), ("old", "new")])
def test_a_replacement_is_deleted_by_the_next_update_that_does_not_want_it(account, names):
    before, after = ({"TableName": name} if name else {} for name in names)
    account.create("app", template(T=table(**before)))
    first = physical_id(account)
    fail(account, table("pk", **after))
    stack = account.update("app", template(T=table(indexes=["kind"], **before)))
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    assert account.tables() == [first] and indexes(account, first) == ["by-kind"]


def test_a_replacement_is_not_replaced_again(account):
    account.create("app", template(T=table(TableName="one")))
    fail(account, table(TableName="two"))
    stack = account.update("app", template(T=table(TableName="three")), DisableRollback=True)
    assert stack["StackStatus"] == "UPDATE_FAILED"
    resource = account.cfn.describe_stack_resource(StackName="app", LogicalResourceId="T")
    assert resource["StackResourceDetail"]["ResourceStatusReason"] == (
        "An update that failed has replaced 'one' by 'two'. "
        "Roll the stack back before you give another name.")
    assert account.tables() == ["one", "two"]


def test_a_replacement_is_undone_by_the_rollback_of_the_next_update(account):
    account.create("app", template(T=table()))
    first = physical_id(account)
    fail(account, table("pk"))
    stack = account.update("app", template(T=table("pk"), Bad=refused("bad")))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert account.tables() == [first] and physical_id(account) == first


def test_a_deletion_takes_both_the_replacement_and_what_it_replaced(account):
    account.create("app", template(T=table(TableName="old")))
    fail(account, table(TableName="new"))
    assert account.tables() == ["new", "old"]
    account.delete("app")
    assert account.tables() == []


# --- A creation that failed half way ---


def half_made(days=99, **properties):
    """Its table is made; then its recovery period, of 99 days, is refused."""
    recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}
    return table(PointInTimeRecoverySpecification=recovery, **properties)


def fail_half_way(account, **properties):
    stack = account.create("app", template(T=half_made(**properties)), DisableRollback=True)
    assert stack["StackStatus"] == "CREATE_FAILED" and len(account.tables()) == 1


@pytest.mark.parametrize("properties", [{"TableName": "orders"}, {}])
def test_what_a_failed_creation_made_is_finished_by_the_next_update(account, properties):
    fail_half_way(account, **properties)
    made = account.described(account.tables()[0])
    stack = account.update("app", template(T=half_made(9, **properties)))
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    assert account.described(physical_id(account))["TableId"] == made["TableId"]
    account.delete("app")
    assert account.tables() == []


def test_what_a_failed_creation_made_stays_the_stacks_after_an_update_that_fails_too(account):
    fail_half_way(account, TableName="orders")
    for _ in range(2):
        stack = account.update("app", template(T=half_made(98, TableName="orders")),
                               DisableRollback=True)
        assert stack["StackStatus"] == "UPDATE_FAILED" and physical_id(account) == "orders"
    account.delete("app")
    assert account.tables() == []


def test_what_a_failed_creation_made_is_deleted_by_the_rollback_of_the_next_update(account):
    fail_half_way(account, TableName="orders")
    stack = account.update("app", template(T=half_made(98, TableName="other")))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert account.tables() == []


def test_what_a_failed_creation_made_under_another_name_is_deleted_by_the_next_update(account):
    fail_half_way(account, TableName="one")
    stack = account.update("app", template(T=half_made(98, TableName="two")), DisableRollback=True)
    assert stack["StackStatus"] == "UPDATE_FAILED" and account.tables() == ["one", "two"]
    stack = account.update("app", template(T=half_made(9, TableName="three")), DisableRollback=True)
    assert stack["StackStatus"] == "UPDATE_FAILED" and account.tables() == ["one", "two"]
    stack = account.update("app", template(T=half_made(9, TableName="one")))
    assert stack["StackStatus"] == "UPDATE_COMPLETE" and account.tables() == ["one"]


def test_a_table_that_a_stack_retained_is_not_made_its_own_again(account):
    kept = {**table(TableName="kept"), "DeletionPolicy": "Retain"}
    account.create("app", template(T=kept, U=table(TableName="users")))
    account.update("app", template(U=table(TableName="users")))
    stack = account.update("app", template(T=table(TableName="kept"), U=table(TableName="users")))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert account.tables() == ["kept", "users"]


# --- RollbackStack, ContinueUpdateRollback ---


def test_a_failed_update_is_rolled_back_on_request(account):
    account.create("app", template(T=table(TableName="orders")))
    fail(account, table(TableName="orders", indexes=["kind"]))
    answer = account.cfn.rollback_stack(StackName="app")
    assert account.settled("app")["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert answer["StackId"] == account.made[-1]
    assert indexes(account, "orders") == [] and account.tables() == ["orders"]


def test_a_failed_creation_is_rolled_back_on_request(account):
    body = template(T=table(TableName="orders"), Bad=refused("bad"))
    assert account.create("app", body, DisableRollback=True)["StackStatus"] == "CREATE_FAILED"
    assert account.tables() == ["orders"]
    account.cfn.rollback_stack(StackName="app")
    assert account.settled("app")["StackStatus"] == "ROLLBACK_COMPLETE"
    assert account.tables() == []


def fail_rollback(account):
    """A stack in UPDATE_ROLLBACK_FAILED: the name of its table is that of somebody else's."""
    account.create("app", template(T=table(TableName="orders")))
    fail(account, table(TableName="orders", indexes=["kind"]))
    account.dynamodb.delete_table(TableName="orders")
    account.dynamodb.create_table(**table("other", TableName="orders")["Properties"])
    account.cfn.rollback_stack(StackName="app")
    assert account.settled("app")["StackStatus"] == "UPDATE_ROLLBACK_FAILED"


def test_a_rollback_that_failed_continues_once_the_cause_is_gone(account):
    fail_rollback(account)
    account.cfn.continue_update_rollback(StackName="app")
    assert account.settled("app")["StackStatus"] == "UPDATE_ROLLBACK_FAILED"
    account.dynamodb.delete_table(TableName="orders")
    account.cfn.continue_update_rollback(StackName="app")
    assert account.settled("app")["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert account.described("orders")["KeySchema"][0]["AttributeName"] == "id"
    stack = account.update("app", template(T=table(TableName="orders", indexes=["kind"])))
    assert stack["StackStatus"] == "UPDATE_COMPLETE"


def test_a_rollback_that_failed_continues_without_a_skipped_resource(account):
    fail_rollback(account)
    assert account.refusal("continue_update_rollback", StackName="app",
                           ResourcesToSkip=["Bad"]) == (
        "ValidationError", "The resource [Bad] cannot be skipped: it is not in the UPDATE_FAILED "
                           "state of this rollback")
    account.cfn.continue_update_rollback(StackName="app", ResourcesToSkip=["T"])
    assert account.settled("app")["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert account.described("orders")["KeySchema"][0]["AttributeName"] == "other"
    account.delete("app")
    assert account.tables() == ["orders"]  # It is not the stack's.


@pytest.mark.parametrize("operation", ["rollback_stack", "continue_update_rollback"])
def test_only_what_failed_is_rolled_back(account, operation):
    stack = account.create("app", template(T=table()))
    assert account.refusal(operation, StackName="app") == (
        "ValidationError",
        f"Stack:{stack['StackId']} is in CREATE_COMPLETE state and can not be rolled back.")
    assert account.refusal(operation, StackName="none") == (
        "ValidationError", "Stack with id none does not exist")
