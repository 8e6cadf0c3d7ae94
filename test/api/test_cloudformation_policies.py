"""DeletionPolicy and UpdateReplacePolicy: those of the template in force say what a stack leaves."""

import pytest

from stack_account import Account, table, template


@pytest.fixture
def account(server_url):
    account = Account(server_url)
    yield account
    account.clean()


def retained(resource, policy="DeletionPolicy", value="Retain"):
    return {**resource, policy: value}


def refused(name):
    """A table whose key has no attribute definition: DynamoDB refuses it."""
    made = table(TableName=name)
    made["Properties"]["KeySchema"][0]["AttributeName"] = "other"
    return made


def test_a_policy_of_a_table_that_an_update_does_not_touch_counts(account):
    account.create("app", template(Kept=table(TableName="kept"), Other=table(TableName="other")))
    account.update("app", template(Kept=retained(table(TableName="kept")),
                                   Other=table(TableName="other", indexes=["kind"])))
    account.delete("app")
    assert account.tables() == ["kept"]


def test_a_policy_that_is_gone_from_the_template_retains_nothing(account):
    account.create("app", template(Kept=retained(table(TableName="kept")),
                                   Other=table(TableName="other")))
    account.update("app", template(Kept=table(TableName="kept"),
                                   Other=table(TableName="other", indexes=["kind"])))
    account.delete("app")
    assert account.tables() == []


@pytest.mark.parametrize("policy", ["DeletionPolicy", "UpdateReplacePolicy"])
def test_a_policy_alone_is_an_update(account, policy):
    account.create("app", template(T=table(TableName="orders")))
    body = template(T=retained(table(TableName="orders"), policy))
    account.cfn.create_change_set(StackName="app", ChangeSetName="set", TemplateBody=body)
    described = account.cfn.describe_change_set(StackName="app", ChangeSetName="set")
    change = described["Changes"][0]["ResourceChange"]
    assert (change["Action"], change["Scope"], change["Replacement"]) == (
        "Modify", [policy], "False")
    assert change["Details"][0]["Target"]["Attribute"] == policy
    assert account.update("app", body)["StackStatus"] == "UPDATE_COMPLETE"
    assert account.refusal("update_stack", StackName="app", TemplateBody=body) == (
        "ValidationError", "No updates are to be performed.")
    account.delete("app")
    assert account.tables() == (["orders"] if policy == "DeletionPolicy" else [])


def test_an_update_that_is_rolled_back_leaves_the_policy_as_it_was(account):
    account.create("app", template(T=retained(table(TableName="orders"))))
    changed = template(T=table(TableName="orders", indexes=["kind"]),
                       Bad={**refused("bad"), "DependsOn": "T"})
    assert account.update("app", changed)["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    account.delete("app")
    assert account.tables() == ["orders"]


def test_a_policy_of_an_update_that_failed_retains_and_its_absence_does_not_delete(account):
    account.create("app", template(Was=retained(table(TableName="was")),
                                   Becomes=table(TableName="becomes")))
    changed = template(Bad=refused("bad"), Was=table(TableName="was", indexes=["kind"]),
                       Becomes=retained(table(TableName="becomes")))
    stack = account.update("app", changed, DisableRollback=True)
    assert stack["StackStatus"] == "UPDATE_FAILED"
    account.delete("app")
    assert account.tables() == ["becomes", "was"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_either_template_may_retain_what_an_update_replaces(account, when):
    def orders(name, keeps):
        made = table(TableName=name)
        return template(T=retained(made, "UpdateReplacePolicy") if keeps else made)
    account.create("app", orders("old", when == "before"))
    account.update("app", orders("new", when == "after"))
    assert account.tables() == ["new", "old"]
    account.delete("app")
    assert account.tables() == ["old"]
