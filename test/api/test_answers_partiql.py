"""What the service answers to PartiQL statements, captured in August and October 2026."""

import pytest
from answers import accept, create, create_usual, expect, item_of, key_schema, refuse

MALFORMED = "Statement wasn't well formed, can't be processed: "
OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
    "beyond supported limit"
)
KEYS_ONLY = {"ProjectionType": "KEYS_ONLY"}


@pytest.fixture(scope="module", autouse=True, name="tables")
def fixture_tables(connection):
    create_usual(connection)
    names = ("pk", "sk", "g", "l")
    create(
        connection,
        "XXX",
        "pk",
        "sk",
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in names],
        GlobalSecondaryIndexes=[
            {"IndexName": "gko", "KeySchema": key_schema("g"), "Projection": KEYS_ONLY}
        ],
        LocalSecondaryIndexes=[
            {"IndexName": "lko", "KeySchema": key_schema("pk", "l"), "Projection": KEYS_ONLY}
        ],
    )
    item = {"pk": "p", "sk": "1", "g": "y", "l": "a", "np": "v"}
    accept(connection, "PutItem", {"TableName": "XXX", "Item": strings(**item)})


def strings(**attributes):
    return {name: {"S": value} for name, value in attributes.items()}


def statement(text, *parameters):
    return {"Statement": text, **({"Parameters": list(parameters)} if parameters else {})}


def refuse_statement(connection, text, message):
    refuse(connection, "ExecuteStatement", statement(text), message)


# --- Conditions on what an index does not have ---


@pytest.mark.parametrize("index, key", [("gko", "g='y'"), ("lko", "pk='p'"), ("gko", "g IN ['y','z']")])
def test_a_condition_on_an_attribute_that_the_index_lacks_is_refused(connection, index, key):
    refuse_statement(
        connection,
        f"SELECT pk FROM \"XXX\".\"{index}\" WHERE {key} AND np='v'",
        f"One or more parameter values were invalid: Secondary index {index} does not project one "
        "or more filter attributes: [np]",
    )


@pytest.mark.parametrize("index", ["gko", "lko"])
def test_without_the_partition_key_such_a_condition_matches_nothing(connection, index):
    expect(
        connection,
        "ExecuteStatement",
        statement(f"SELECT pk FROM \"XXX\".\"{index}\" WHERE np='v'"),
        {"Items": []},
    )


def test_a_condition_on_what_the_index_has_is_taken(connection):
    expect(
        connection,
        "ExecuteStatement",
        statement("SELECT pk FROM \"XXX\".\"gko\" WHERE g='y' AND sk='1'"),
        {"Items": [{"pk": {"S": "p"}}]},
    )


# --- FROM first ---


def test_an_update_may_begin_with_from(connection):
    accept(connection, "PutItem", {"TableName": "HHH", "Item": strings(pk="x", b="b")})
    text = 'FROM "HHH" WHERE pk=\'x\' SET c=1 REMOVE b RETURNING ALL NEW *'
    answer = {"Items": [{"pk": {"S": "x"}, "c": {"N": "1"}}]}
    expect(connection, "ExecuteStatement", statement(text), answer)
    assert item_of(connection, "HHH", pk="x") == answer["Items"][0]


def test_an_update_that_begins_with_from_needs_an_item(connection):
    refuse(
        connection,
        "ExecuteStatement",
        statement("FROM \"HHH\" WHERE pk='none' SET c=1"),
        "The conditional request failed",
        "ConditionalCheckFailedException",
    )
    assert item_of(connection, "HHH", pk="none") is None


def test_further_terms_after_from_are_the_condition(connection):
    accept(connection, "PutItem", {"TableName": "HHH", "Item": strings(pk="if", a="1")})
    text = 'FROM "HHH" WHERE pk=? AND a=? SET a=?'
    parameters = [{"S": "if"}, {"S": "2"}, {"S": "3"}]
    refuse(
        connection,
        "ExecuteStatement",
        statement(text, *parameters),
        "The conditional request failed",
        "ConditionalCheckFailedException",
    )
    parameters[1] = {"S": "1"}
    expect(connection, "ExecuteStatement", statement(text, *parameters), {"Items": []})
    assert item_of(connection, "HHH", pk="if") == strings(pk="if", a="3")


def test_batches_and_transactions_take_from(connection):
    accept(connection, "PutItem", {"TableName": "HHH", "Item": strings(pk="f")})
    one = statement('FROM "HHH" WHERE pk=\'f\' SET a=?', {"S": "1"})
    answer = {"Responses": [{"TableName": "HHH"}]}
    expect(connection, "BatchExecuteStatement", {"Statements": [one]}, answer)
    assert item_of(connection, "HHH", pk="f") == strings(pk="f", a="1")
    one = statement('FROM "HHH" WHERE pk=\'f\' REMOVE a')
    expect(connection, "ExecuteTransaction", {"TransactStatements": [one]}, {"Responses": []})
    assert item_of(connection, "HHH", pk="f") == strings(pk="f")


# --- Answers ---


def test_a_transaction_of_writes_has_no_responses(connection):
    statements = [statement(f"INSERT INTO \"HHH\" VALUE {{'pk':'t{n}'}}") for n in range(2)]
    expect(connection, "ExecuteTransaction", {"TransactStatements": statements}, {"Responses": []})


def deep(levels):
    value = {"S": "x"}
    for _ in range(levels - 1):
        value = {"L": [value]}
    return value


@pytest.mark.parametrize(
    "value, text",
    [
        ({"N": "abc"}, "The parameter cannot be converted to a numeric value: abc"),
        (deep(33), TOO_DEEP),
    ],
    ids=["no number", "too deep"],
)
def test_a_broken_parameter_of_a_batch_is_the_error_of_its_statement(connection, value, text):
    select = 'SELECT pk FROM "XXX" WHERE pk=? AND sk=?'
    statements = [
        statement(select, {"S": "p"}, {"S": "1"}),
        statement(select, {"S": "p"}, value),
    ]
    answer = [
        {"TableName": "XXX", "Item": {"pk": {"S": "p"}}},
        {"Error": {"Code": "ValidationError", "Message": text}},
    ]
    expect(connection, "BatchExecuteStatement", {"Statements": statements}, {"Responses": answer})


@pytest.mark.parametrize("wanted, found", [("true", True), ("false", False)])
def test_a_function_may_be_compared_with_its_result(connection, wanted, found):
    accept(connection, "PutItem", {"TableName": "HHH", "Item": strings(pk="fn", a="1")})
    text = f"SELECT pk FROM \"HHH\" WHERE pk='fn' AND attribute_exists(a) = {wanted}"
    items = [{"pk": {"S": "fn"}}] if found else []
    expect(connection, "ExecuteStatement", statement(text), {"Items": items})


def test_a_token_of_another_request_does_not_match(connection):
    for n in "12":
        accept(connection, "PutItem", {"TableName": "CCC", "Item": strings(pk="p", sk=n)})
    text = 'SELECT * FROM "CCC" WHERE pk=?'
    page = accept(connection, "ExecuteStatement", {**statement(text, {"S": "p"}), "Limit": 1})
    token = {"NextToken": page["NextToken"]}
    other = "NextToken does not match request"
    refuse(connection, "ExecuteStatement", {**statement(text, {"S": "q"}), **token}, other)
    refuse(connection, "ExecuteStatement", {**statement(text + " ", {"S": "p"}), **token}, other)
    unreadable = {**statement(text, {"S": "p"}), "NextToken": "abcd"}
    refuse(connection, "ExecuteStatement", unreadable, "Invalid NextToken")


# --- Texts ---


@pytest.mark.parametrize(
    "text, message",
    [
        ("UPDATE \"HHH\" h SET a=1 WHERE pk='x'", "Aliasing is not supported"),
        ("UPDATE \"HHH\" AS h SET a=1 WHERE pk='x'", "Aliasing is not supported"),
        ("DELETE FROM \"HHH\" AS h WHERE pk='x'", "Aliasing is not supported"),
        (
            "INSERT INTO \"HHH\" AS h VALUE {'pk':'x'}",
            MALFORMED + "Unexpected token after expression",
        ),
    ],
)
def test_there_are_no_aliases(connection, text, message):
    refuse_statement(connection, text, message)


@pytest.mark.parametrize(
    "literal, place",
    [("1e126", "root"), ("{'x':1e126}", "root.x"), ("[1,1e126]", "root[1]")],
)
def test_a_number_of_a_statement_has_its_place(connection, literal, place):
    text = f"SELECT * FROM \"HHH\" WHERE pk='x' AND a={literal}"
    refuse_statement(connection, text, f"{OVERFLOW} under {place}")


@pytest.mark.parametrize("wrong", ["a=1e2147483648", "a=1e-2147483648", "a#1", "a=1 /* to the end"])
def test_nothing_is_said_of_what_is_no_token(connection, wrong):
    refuse_statement(connection, f"SELECT * FROM \"HHH\" WHERE pk='x' AND {wrong}", MALFORMED)


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "SELECT * FROM \"HHH\" WHERE pk='x' AND    a=1 AND EXISTS(a)",
            "Unrecognized function: exists at 1:49:6",
        ),
        ("SELECT * FROM \"HHH\" WHERE foo(a)", "Unrecognized function: foo at 1:27:3"),
        ("SELECT * FROM \"HHH\" WHERE m.inner = 1", MALFORMED + "Invalid path dot component"),
        (
            "UPDATE \"HHHHHHHHHH\" SET a=set_add(b,<<1>>) WHERE pk='x'",
            "The first argument to SET_ADD must equal the assignment value at 1:27:7",
        ),
        (
            "UPDATE \"HHH\" SET a=set_delete(b,<<1>>) WHERE pk='x'",
            "The first argument to SET_DELETE must equal the assignment value at 1:20:10",
        ),
        ("SELECT * FROM \"HHH\" WHERE a=<<>>", "Empty bags are not supported"),
    ],
)
def test_a_statement_is_refused(connection, text, message):
    refuse_statement(connection, text, message)


def test_the_largest_exponent_of_a_parameter_underflows(connection):
    body = statement('SELECT * FROM "HHH" WHERE pk=\'x\' AND a=?', {"N": "1e2147483647"})
    refuse(connection, "ExecuteStatement", body, UNDERFLOW)
