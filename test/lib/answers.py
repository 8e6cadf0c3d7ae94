"""Whole answers of the service, compared to the letter. The tables of these tests: HHH has the
partition key `pk`, CCC has `pk` and the sort key `sk`; all keys are strings."""

DYNAMODB = "com.amazonaws.dynamodb.v20120810#"
CORAL = "com.amazon.coral.validate#"
SERIALIZATION = "com.amazon.coral.service#"
TYPES = {
    "ValidationException": CORAL,
    "SerializationException": SERIALIZATION,
    "AccessDeniedException": SERIALIZATION,
    "InternalServerError": DYNAMODB,
}


def key_schema(*names):
    roles = ("HASH", "RANGE")
    return [{"AttributeName": n, "KeyType": r} for n, r in zip(names, roles, strict=False)]


def attributes(**kinds):
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in kinds.items()]


def create(connection, name, *keys, **more):
    """A table with string keys, on demand unless `more` says otherwise."""
    request = {
        "TableName": name,
        "AttributeDefinitions": attributes(**dict.fromkeys(keys, "S")),
        "KeySchema": key_schema(*keys),
        **({} if "ProvisionedThroughput" in more else {"BillingMode": "PAY_PER_REQUEST"}),
        **more,
    }
    accept(connection, "CreateTable", request)


def create_usual(connection):
    create(connection, "HHH", "pk")
    create(connection, "CCC", "pk", "sk")


def accept(connection, operation, body):
    """The answer of a request that succeeds."""
    status, answer = connection.call(operation, body)
    assert status == 200, answer
    return answer


def expect(connection, operation, body, answer):
    """The request succeeds, with this answer."""
    assert connection.call(operation, body) == (200, answer)


def refuse(connection, operation, body, message, kind="ValidationException"):
    """The request fails with 400, this exception and this whole text."""
    status, answer = connection.call(operation, body)
    type_name = TYPES.get(kind, DYNAMODB) + kind
    text = answer.get("message", answer.get("Message"))
    assert (status, answer.get("__type"), text) == (400, type_name, message)


def item_of(connection, table, **key):
    """The item of that string key, or None."""
    body = {"TableName": table, "Key": {k: {"S": v} for k, v in key.items()}, "ConsistentRead": True}
    return accept(connection, "GetItem", body).get("Item")
