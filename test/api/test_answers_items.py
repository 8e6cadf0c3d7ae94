"""What the service answers to requests about items, captured in 2025 and 2026."""

import pytest
from answers import accept, attributes, create, create_usual, expect, item_of, key_schema, refuse


@pytest.fixture(scope="module", autouse=True, name="tables")
def fixture_tables(connection):
    create_usual(connection)
    create(
        connection,
        "III",
        "pk",
        AttributeDefinitions=attributes(pk="S", c="S"),
        GlobalSecondaryIndexes=[
            {
                "IndexName": "ccc",
                "KeySchema": key_schema("c"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )


# --- An update that only deletes creates nothing ---

SET = {":s": {"SS": ["x"]}}
DELETIONS = {
    "REMOVE": {"UpdateExpression": "REMOVE a"},
    "REMOVE of a path": {"UpdateExpression": "REMOVE x.y, z[0]"},
    "DELETE": {"UpdateExpression": "DELETE a :s", "ExpressionAttributeValues": SET},
    "AttributeUpdates": {"AttributeUpdates": {"a": {"Action": "DELETE"}}},
    "AttributeUpdates with a value": {
        "AttributeUpdates": {"a": {"Action": "DELETE", "Value": {"SS": ["x"]}}}
    },
}


@pytest.mark.parametrize("deletion", DELETIONS.values(), ids=DELETIONS)
@pytest.mark.parametrize("returned", ["NONE", "ALL_NEW", "ALL_OLD", "UPDATED_NEW", "UPDATED_OLD"])
def test_an_update_that_only_deletes_creates_no_item(connection, deletion, returned):
    key = {"pk": {"S": "none"}}
    expect(connection, "UpdateItem", {"TableName": "HHH", "Key": key, **deletion, "ReturnValues": returned}, {})
    assert item_of(connection, "HHH", pk="none") is None


def test_an_update_that_only_deletes_costs_a_write_of_nothing(connection):
    body = {"TableName": "HHH", "Key": {"pk": {"S": "none"}}, "ReturnConsumedCapacity": "TOTAL"}
    consumed = {"TableName": "HHH", "CapacityUnits": 1.0}
    expect(
        connection, "UpdateItem", {**body, "UpdateExpression": "REMOVE a"}, {"ConsumedCapacity": consumed}
    )


def test_an_update_of_a_transaction_that_only_deletes_creates_no_item(connection):
    update = {"TableName": "HHH", "Key": {"pk": {"S": "none"}}, "UpdateExpression": "REMOVE a"}
    expect(connection, "TransactWriteItems", {"TransactItems": [{"Update": update}]}, {})
    assert item_of(connection, "HHH", pk="none") is None


@pytest.mark.parametrize("missing", [{}, {"AttributeUpdates": {}}])
def test_an_update_without_an_action_creates_the_item(connection, missing):
    key = {"pk": {"S": "empty"}}
    accept(connection, "DeleteItem", {"TableName": "HHH", "Key": key})
    expect(connection, "UpdateItem", {"TableName": "HHH", "Key": key, **missing}, {})
    assert item_of(connection, "HHH", pk="empty") == key


def test_a_deletion_beside_a_set_creates_the_item(connection):
    update = {
        "TableName": "HHH",
        "Key": {"pk": {"S": "set"}},
        "UpdateExpression": "SET b = :s REMOVE a",
        "ExpressionAttributeValues": SET,
    }
    expect(connection, "UpdateItem", update, {})
    assert item_of(connection, "HHH", pk="set") == {"pk": {"S": "set"}, "b": {"SS": ["x"]}}


def test_a_deletion_below_an_attribute_that_an_item_lacks_is_refused(connection):
    accept(connection, "PutItem", {"TableName": "HHH", "Item": {"pk": {"S": "here"}}})
    refuse(
        connection,
        "UpdateItem",
        {"TableName": "HHH", "Key": {"pk": {"S": "here"}}, "UpdateExpression": "REMOVE x.y"},
        "The document path provided in the update expression is invalid for update",
    )


# --- Names of attributes in the older parameters ---

EMPTY_NAME = "Empty attribute name"
LONG_NAME = (
    "1 validation error detected: Attribute name is too large, must be less than 65536 bytes"
)
H1 = {"TableName": "HHH", "Key": {"pk": {"S": "names"}}}


@pytest.mark.parametrize("name, text", [("", EMPTY_NAME), ("n" * 65536, LONG_NAME)])
def test_names_in_the_older_parameters_of_writes_are_checked(connection, name, text):
    updates = {name: {"Value": {"S": "1"}, "Action": "PUT"}}
    refuse(connection, "UpdateItem", {**H1, "AttributeUpdates": updates}, text)
    refuse(connection, "UpdateItem", {**H1, "Expected": {name: {"Exists": False}}}, text)
    refuse(connection, "DeleteItem", {**H1, "Expected": {name: {"Exists": False}}}, text)
    assert item_of(connection, "HHH", pk="names") is None


def test_names_in_attributes_to_get_are_checked(connection):
    refuse(connection, "GetItem", {**H1, "AttributesToGet": [""]}, EMPTY_NAME)


# --- Pages of a table without a sort key ---

QUERY = {
    "TableName": "HHH",
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": {"S": "x"}},
}


def test_a_query_of_a_table_without_a_sort_key_has_no_start(connection):
    refuse(
        connection,
        "Query",
        {**QUERY, "ExclusiveStartKey": {"pk": {"S": "x"}}},
        "The provided exclusive start key is invalid: ExclusiveStartKey: {pk=AttributeValue: {S:x}}",
    )


def test_a_query_of_a_table_without_a_sort_key_has_no_further_page(connection):
    accept(connection, "PutItem", {"TableName": "HHH", "Item": {"pk": {"S": "x"}}})
    page = {"Items": [{"pk": {"S": "x"}}], "Count": 1, "ScannedCount": 1}
    expect(connection, "Query", {**QUERY, "Limit": 1}, page)
    expect(connection, "Query", {**QUERY, "Limit": 1, "ScanIndexForward": False}, page)


# --- Numbers and sets, in both families of texts ---

OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
DIGITS = "Attempting to store more than 38 significant digits in a Number"
UNREADABLE = "The parameter cannot be converted to a numeric value"
INVALID = "One or more parameter values were invalid: "
ENVELOPE = "1 validation error detected: "
# (value, text of the newer family, text of the older one)
FAULTS = [
    ({"N": "1e126"}, OVERFLOW, OVERFLOW),
    ({"N": "0e126"}, OVERFLOW, OVERFLOW),
    ({"N": "0e-131"}, UNDERFLOW, UNDERFLOW),
    ({"N": "1e2147483648"}, OVERFLOW, f"{UNREADABLE}: 1e2147483648"),
    ({"N": "1e-99999999999"}, UNDERFLOW, f"{UNREADABLE}: 1e-99999999999"),
    ({"N": "1" * 39}, DIGITS, DIGITS),
    ({"N": "x"}, f"{UNREADABLE}: x", f"{UNREADABLE}: x"),
    ({"N": ""}, f"{UNREADABLE}: ", UNREADABLE),
    (
        {"SS": ["b", "a", "b"]},
        INVALID + 'Input collection ["a", "b", "b"] contains duplicates.',
        INVALID + "Input collection [b, a, b] contains duplicates.",
    ),
    (
        {"BS": ["/w==", "AA==", "AA=="]},
        INVALID + 'Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
        INVALID + "Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
    ),
    (
        {"NS": ["1", "1.0"]},
        INVALID + "Input collection contains duplicates.",
        "Input collection contains duplicates",
    ),
]
BROKEN = pytest.mark.parametrize("value, newer, older", FAULTS, ids=[str(f[0])[:30] for f in FAULTS])


def condition(value):
    return {"ConditionExpression": "a = :v", "ExpressionAttributeValues": {":v": value}}


@BROKEN
def test_a_broken_value_of_a_write_is_told_behind_the_envelope(connection, value, newer, older):
    text = ENVELOPE + newer
    item = {"pk": {"S": "v"}, "a": {"L": [value]}}
    refuse(connection, "PutItem", {"TableName": "HHH", "Item": item}, text)
    for operation in ("PutItem", "UpdateItem", "DeleteItem"):
        key = {"Item" if operation == "PutItem" else "Key": {"pk": {"S": "v"}}}
        body = {"TableName": "HHH", **key}
        refuse(connection, operation, {**body, **condition(value)}, text)
        refuse(connection, operation, {**body, "Expected": {"a": {"Value": value}}}, text)
    updates = {"AttributeUpdates": {"a": {"Value": value}}}
    refuse(connection, "UpdateItem", {"TableName": "HHH", "Key": {"pk": {"S": "v"}}, **updates}, text)


@BROKEN
def test_a_broken_value_of_a_read_is_told_bare(connection, value, newer, older):
    key = {"pk": value}
    refuse(connection, "GetItem", {"TableName": "HHH", "Key": key}, newer)
    refuse(connection, "BatchGetItem", {"RequestItems": {"HHH": {"Keys": [key]}}}, newer)
    refuse(connection, "Query", {**QUERY, "ExpressionAttributeValues": {":p": value}}, newer)


@BROKEN
def test_a_broken_value_in_other_operations_has_the_older_text(connection, value, newer, older):
    item = {"pk": {"S": "v"}, "a": value}
    put = {"PutRequest": {"Item": item}}
    refuse(connection, "BatchWriteItem", {"RequestItems": {"HHH": [put]}}, older)
    actions = [{"Put": {"TableName": "HHH", "Item": item}}]
    refuse(connection, "TransactWriteItems", {"TransactItems": actions}, older)
    filter_ = {"FilterExpression": "a = :v", "ExpressionAttributeValues": {":v": value}}
    named = f"ExpressionAttributeValues contains invalid value: {older} for key :v"
    refuse(connection, "Scan", {"TableName": "HHH", **filter_}, named)


@pytest.mark.parametrize(
    "left, right",
    [("1e50", "1"), ("9.9999999999999999999999999999999999999E+125", "1E+125")],
)
def test_a_sum_that_does_not_fit_is_too_large(connection, left, right):
    values = {":a": {"N": left}, ":b": {"N": right}}
    key = {"TableName": "HHH", "Key": {"pk": {"S": "sum"}}}
    set_ = {"UpdateExpression": "SET x = :a", "ExpressionAttributeValues": {":a": values[":a"]}}
    accept(connection, "UpdateItem", {**key, **set_})
    one = {"ExpressionAttributeValues": {":b": values[":b"]}}
    refuse(connection, "UpdateItem", {**key, "UpdateExpression": "SET x = x + :b", **one}, OVERFLOW)
    refuse(connection, "UpdateItem", {**key, "UpdateExpression": "ADD x :b", **one}, OVERFLOW)


def test_zero_at_the_ends_of_the_range_is_zero(connection):
    for text in ("0e125", "0e-130", "-0"):
        item = {"pk": {"S": "zero"}, "n": {"N": text}}
        accept(connection, "PutItem", {"TableName": "HHH", "Item": item})
        assert item_of(connection, "HHH", pk="zero")["n"] == {"N": "0"}


# --- Parameters of writes, behind the envelope in all three ---


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
@pytest.mark.parametrize(
    "parameters, text",
    [
        ({"ConditionExpression": ""}, "Invalid ConditionExpression: The expression can not be empty;"),
        (
            {"ExpressionAttributeValues": {":v": {"S": "x"}}},
            "ExpressionAttributeValues can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeValues": {}},
            "ExpressionAttributeValues must not be empty",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {}},
            "ExpressionAttributeNames must not be empty",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {"#b": "b"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}",
        ),
        (
            {"Expected": {"a": {"Exists": True}}},
            INVALID + "Value must be provided when Exists is true for Attribute: a",
        ),
    ],
)
def test_a_fault_of_a_parameter_is_told_behind_the_envelope(connection, operation, parameters, text):
    key = {"Item" if operation == "PutItem" else "Key": {"pk": {"S": "p"}}}
    refuse(connection, operation, {"TableName": "HHH", **key, **parameters}, ENVELOPE + text)


@pytest.mark.parametrize("operation", ["PutItem", "DeleteItem"])
def test_return_values_of_a_write_are_two(connection, operation):
    key = {"Item" if operation == "PutItem" else "Key": {"pk": {"S": "p"}}}
    refuse(
        connection,
        operation,
        {"TableName": "HHH", **key, "ReturnValues": "ALL_NEW"},
        ENVELOPE + "ReturnValues can only be ALL_OLD or NONE",
    )


def test_an_enumeration_of_update_item_has_the_list_of_the_service(connection):
    refuse(
        connection,
        "UpdateItem",
        {"TableName": "HHH", "Key": {"pk": {"S": "p"}}, "ReturnValues": "SOME"},
        ENVELOPE + "Failed to satisfy constraint: Member must satisfy enum value set: "
        "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
    )


def test_put_item_does_not_show_an_empty_table_name(connection):
    refuse(
        connection,
        "PutItem",
        {"TableName": "", "Item": {"pk": {"S": "p"}}},
        ENVELOPE + "Value at 'TableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
    )


# --- Booleans and integers as strings ---


@pytest.mark.parametrize("text, value", [("true", True), ("YES", True), ("1", True), ("False", False), ("no", False), ("0", False)])
def test_a_boolean_may_be_a_string(connection, text, value):
    item = {"pk": {"S": "bool"}, "b": {"BOOL": text}}
    accept(connection, "PutItem", {"TableName": "HHH", "Item": item})
    body = {"TableName": "HHH", "Key": {"pk": {"S": "bool"}}, "ConsistentRead": text}
    expect(connection, "GetItem", body, {"Item": {"pk": {"S": "bool"}, "b": {"BOOL": value}}})


def test_another_string_is_no_boolean(connection):
    text = "Unexpected token received from parser"
    item = {"pk": {"S": "bool"}, "b": {"BOOL": "maybe"}}
    refuse(connection, "PutItem", {"TableName": "HHH", "Item": item}, text, "SerializationException")
    body = {"TableName": "HHH", "Key": {"pk": {"S": "b"}}, "ConsistentRead": "maybe"}
    refuse(connection, "GetItem", body, text, "SerializationException")


def test_an_integer_may_be_a_string(connection):
    expect(connection, "Query", {**QUERY, "Limit": "1", "Select": "COUNT"}, {"Count": 1, "ScannedCount": 1})
    refuse(
        connection,
        "Query",
        {**QUERY, "Limit": "one"},
        "STRING_VALUE cannot be converted to Integer",
        "SerializationException",
    )


# --- Key conditions ---


@pytest.mark.parametrize(
    "expression, text",
    [
        (
            "pk = :p AND sk > :p AND sk < :p",
            "Invalid KeyConditionExpression: "
            "KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk.a = :p",
            "Invalid KeyConditionExpression: "
            "KeyConditionExpressions cannot have conditions on nested attributes",
        ),
        (
            "pk = :p AND sk = :p AND a = :p",
            "The number of query conditions (3) exceeds the number of key attributes defined in "
            "the schema (2)",
        ),
    ],
)
def test_a_key_condition_is_refused(connection, expression, text):
    refuse(
        connection,
        "Query",
        {
            "TableName": "CCC",
            "KeyConditionExpression": expression,
            "ExpressionAttributeValues": {":p": {"S": "x"}},
        },
        text,
    )


def test_a_key_condition_compares_with_a_value(connection):
    refuse(
        connection,
        "Query",
        {"TableName": "CCC", "KeyConditionExpression": "pk = sk"},
        "Invalid KeyConditionExpression: Invalid condition in KeyConditionExpression: "
        "Multiple attribute names used in one condition",
    )


def test_a_conditional_operator_of_query_is_judged_first(connection):
    refuse(
        connection,
        "Query",
        {"TableName": "CCC", "ConditionalOperator": "XOR", "Select": "ALL"},
        "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]",
    )


@pytest.mark.parametrize(
    "select, text",
    [
        ({"Select": "ALL_PROJECTED_ATTRIBUTES"}, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"),
        ({"Select": "SPECIFIC_ATTRIBUTES"}, "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"),
    ],
)
def test_texts_about_select_have_the_envelope_in_query_only(connection, select, text):
    refuse(connection, "Query", {**QUERY, **select}, ENVELOPE + text)
    refuse(connection, "Scan", {"TableName": "HHH", **select}, text)


def test_an_update_expression_that_is_too_long_does_not_tell_its_size(connection):
    update = {"TableName": "HHH", "Key": {"pk": {"S": "p"}}, "UpdateExpression": "REMOVE " + "a" * 4096}
    refuse(
        connection,
        "TransactWriteItems",
        {"TransactItems": [{"Update": update}]},
        "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;",
    )


def test_the_end_of_base64_is_judged_first(connection):
    item = {"pk": {"S": "b"}, "b": {"B": "=+/="}}
    refuse(
        connection,
        "PutItem",
        {"TableName": "HHH", "Item": item},
        "Invalid last non-pad Base64 character dectected",
        "SerializationException",
    )


# --- Keys ---

MISMATCH = "The provided key element does not match the schema"


def test_a_put_of_a_batch_without_a_key_does_not_match_the_schema(connection):
    for item in ({"a": {"S": "x"}}, {"pk": {"S": "x"}}):
        requests = {"CCC": [{"PutRequest": {"Item": item}}]}
        refuse(connection, "BatchWriteItem", {"RequestItems": requests}, MISMATCH)


@pytest.mark.parametrize("path", ["c.d", "c[1]"])
def test_a_key_of_an_index_has_no_parts(connection, path):
    update = {
        "TableName": "III",
        "Key": {"pk": {"S": "p"}},
        "UpdateExpression": f"SET {path} = :v",
        "ExpressionAttributeValues": {":v": {"S": "x"}},
    }
    refuse(
        connection,
        "UpdateItem",
        update,
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
        "allowed: IndexKey: c",
    )


NO_TYPE = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
TWO_TYPES = (
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
    "supported datatypes"
)
SORTED_QUERY = {**QUERY, "TableName": "CCC"}


@pytest.mark.parametrize("value, text", [({}, NO_TYPE), ({"S": "a", "N": "1"}, TWO_TYPES)])
def test_a_start_without_a_type_or_with_two_is_an_invalid_start(connection, value, text):
    start = {"ExclusiveStartKey": {"pk": {"S": "x"}, "sk": value}}
    message = f"The provided starting key is invalid: {text}"
    refuse(connection, "Query", {**SORTED_QUERY, **start}, message)
    refuse(connection, "Scan", {"TableName": "CCC", **start}, message)


# --- Order of faults ---


@pytest.mark.parametrize(
    "projection, text",
    [
        (
            {"ProjectionExpression": "a", "ExpressionAttributeNames": {}},
            "ExpressionAttributeNames must not be empty",
        ),
        (
            {"ProjectionExpression": ""},
            "Invalid ProjectionExpression: The expression can not be empty;",
        ),
        (
            {"AttributesToGet": ["a", "a"]},
            INVALID + "Duplicate value in attribute name: a",
        ),
    ],
)
def test_a_projection_of_a_batch_is_judged_before_repeated_keys(connection, projection, text):
    keys = [{"pk": {"S": "x"}}, {"pk": {"S": "x"}}]
    body = {"RequestItems": {"HHH": {"Keys": keys, **projection}}}
    refuse(connection, "BatchGetItem", body, text)


def test_unused_names_come_before_a_bad_key_condition(connection):
    refuse(
        connection,
        "Query",
        {
            "TableName": "CCC",
            "KeyConditionExpression": "pk = sk",
            "ExpressionAttributeNames": {"#a": "a"},
        },
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
    )


def test_an_empty_key_condition_comes_before_an_empty_filter(connection):
    refuse(
        connection,
        "Query",
        {"TableName": "CCC", "KeyConditionExpression": "", "FilterExpression": ""},
        "Invalid KeyConditionExpression: The expression can not be empty;",
    )


def test_values_of_a_filter_come_before_those_of_the_start(connection):
    start = {"ExclusiveStartKey": {"pk": {"S": "x"}, "sk": {}}}
    old = {"ComparisonOperator": "EQ", "AttributeValueList": [{"N": "f"}]}
    conditions = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]}}
    body = {"TableName": "CCC", "KeyConditions": conditions, "QueryFilter": {"a": old}, **start}
    refuse(connection, "Query", body, f"{UNREADABLE}: f")
    body = {"TableName": "CCC", "ScanFilter": {"a": old}, **start}
    refuse(connection, "Scan", body, f"{UNREADABLE}: f")
    new = {"FilterExpression": "a = :f", "ExpressionAttributeValues": {":p": {"S": "x"}, ":f": {"N": "f"}}}
    refuse(connection, "Query", {**SORTED_QUERY, **new, **start}, f"{UNREADABLE}: f")


def test_a_filter_of_a_key_comes_before_a_path_into_a_key(connection):
    refuse(
        connection,
        "Query",
        {**SORTED_QUERY, "FilterExpression": "pk.a = :p"},
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: pk",
    )


# --- The envelope of UpdateItem ---


@pytest.mark.parametrize(
    "parameters, text",
    [
        ({"UpdateExpression": ""}, "Invalid UpdateExpression: The expression can not be empty;"),
        (
            {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {}},
            "ExpressionAttributeValues must not be empty",
        ),
        (
            {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {":v": {"SS": []}}},
            INVALID + "An string set  may not be empty",
        ),
        (
            {"UpdateExpression": "REMOVE a", "ExpressionAttributeValues": {":v": {"S": "x"}}},
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
        ),
    ],
)
def test_a_fault_of_an_update_is_told_behind_the_envelope(connection, parameters, text):
    body = {"TableName": "HHH", "Key": {"pk": {"S": "p"}}, **parameters}
    refuse(connection, "UpdateItem", body, ENVELOPE + text)
