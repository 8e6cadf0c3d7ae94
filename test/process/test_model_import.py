"""Model files as people have them: every version and every oddity is read with a report, what is
unknown stays in its place, and what is saved loads and saves as the same bytes."""

import json
import pathlib
import random
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import stator_process  # noqa: E402

FILES = 32
LIMIT_S = 60


def stator(*arguments, text=None):
    return subprocess.run([stator_process.binary(), "model", *arguments], input=text, capture_output=True,
                          text=True, timeout=LIMIT_S, check=False)  # fmt: skip


def saved(text):
    done = stator("export", "-", "--format", "workbench", text=text)
    assert done.returncode == 0, done.stderr
    return done.stdout


def key(name, kind="S"):
    return {"AttributeName": name, "AttributeType": kind}


# --- Generated files ---


def value(rng, depth=0):
    """An attribute value, or what public files have in its place."""
    kind = rng.choice(["S", "N", "BOOL", "NULL", "L", "M", "plain", "twice", "SS"][: 9 if depth < 3 else 4])
    if kind == "S":
        return {"S": rng.choice(["", "x\t", "<sub_feature>", "é😀", "a\u2028b"])}
    if kind == "N":
        return {"N": rng.choice(["1", "-0.5", "12345678901234567890123456789012345678"])}
    if kind == "BOOL":
        return {"BOOL": rng.random() < 0.5}
    if kind == "NULL":
        return {"NULL": True}
    if kind == "SS":
        return {"SS": ["a", "b"]}
    if kind == "L":
        return {"L": [value(rng, depth + 1) for _ in range(rng.randrange(3))]}
    if kind == "M":
        return {"M": {f"k{i}": value(rng, depth + 1) for i in range(rng.randrange(3))}}
    if kind == "twice":
        return {"M": {"M": {"HP": {"N": "50"}}}}
    return {"M": {"is_enabled": True, "x": 59, "f": 1.50, "n": None, "l": [1, "a"], "o": {"deep": False}}}


def noise(rng, node):
    """Adds keys that nobody knows, anywhere but in items."""
    if isinstance(node, list):
        for entry in node:
            noise(rng, entry)
    elif isinstance(node, dict):
        for name in list(node):
            if name not in ("TableData", "KeyAttributes", "PartitionKey", "SortKey", "Projection"):
                noise(rng, node[name])
        if rng.random() < 0.5:
            node[f"Unknown{rng.randrange(100)}"] = rng.choice([1.10, None, [], {"a": [{"b": "c"}]}, "text"])
        if rng.random() < 0.2:
            entries = list(node.items())
            rng.shuffle(entries)
            node.clear()
            node.update(entries)
    return node


def row(rng, number):
    return {"PK": {"S": f"p{number}"}, "SK": {"N": str(number % 3)},
            **{f"a{i}": value(rng) for i in range(rng.randrange(4))}}  # fmt: skip


def generated(seed):
    rng = random.Random(seed)
    version = [None, "1.0", "2.0", "3.0"][seed % 4]
    metadata = {"Author": "", "DateCreated": rng.choice(["Jun 24, 2020, 04:20 PM", "Tue Mar 02 2021 10:00:00 GMT+0100"]),
                "DateLastModified": "x", "Description": "1. Get it\n2. Put it"}  # fmt: skip
    if version in ("2.0", "3.0"):
        metadata["AWSService"] = "Amazon DynamoDB"
    if version is not None:
        metadata["Version"] = version
    tables = []
    for number in range(rng.randrange(1, 4)):
        table = {"TableName": f"table-{number}", "DataAccess": {"MySql": {}},
                 "KeyAttributes": {"PartitionKey": key("PK"), "SortKey": key("SK", "N")},
                 "NonKeyAttributes": [key("a0", "M"), key("a1", "SS")]}  # fmt: skip
        if rng.random() < 0.6:
            projection = rng.choice([{"ProjectionType": "ALL"}, {"ProjectionType": "KEYS_ONLY"},
                                     {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["PK", "SK", "a1"]}])  # fmt: skip
            table["GlobalSecondaryIndexes"] = [
                {"IndexName": "by-SK", "Projection": projection,
                 "KeyAttributes": {"PartitionKey": key("SK", "N"), "SortKey": key("PK")}}]  # fmt: skip
        elif rng.random() < 0.5:
            table["GlobalSecondaryIndexes"] = []
        rows = [row(rng, i) for i in range(rng.randrange(5))]
        if version not in (None,) and rng.random() < 0.5:
            table["TableFacets"] = [
                {"FacetName": name, "DataAccess": {"MySql": {}}, "NonKeyAttributes": ["a0"], "TableData": part,
                 "KeyAttributeAlias": {"PartitionKeyAlias": "#METADATA#id", "SortKeyAlias": "SK"}}
                for name, part in (("One", rows), ("Two", rows[:1]))]  # fmt: skip
        else:
            table["TableData"] = rows
        if version == "2.0":
            table["KeyAttributes"]["SortKey"]["MapFunction"] = {"Room": "${timestamp}#${roomId}"}
            table["SavedQuery"] = {"q": {"PK": "x", "SK": {"condition": "=", "values": []}}}
        if version == "3.0":
            table["BillingMode"] = rng.choice(["PROVISIONED", "PAY_PER_REQUEST"])
            scaling = {"ScalableTargetRequest": {"MinCapacity": 1, "MaxCapacity": 10, "ServiceRole": "r"},
                       "ScalingPolicyConfiguration": {"TargetValue": 70}}  # fmt: skip
            table["ProvisionedCapacitySettings"] = {
                "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
                "AutoScalingRead": scaling, "AutoScalingWrite": scaling}  # fmt: skip
            table["SampleDataFormats"] = {"a0": ["identifiers", "Email"]}
        tables.append(table)
    return noise(rng, {"ModelName": f"Model {seed}", "ModelMetadata": metadata, "DataModel": tables})


def without_items(node):
    """What must survive unchanged, with the order of its members."""
    if isinstance(node, dict):
        return [(name, without_items(member)) for name, member in node.items() if name != "TableData"]
    return [without_items(entry) for entry in node] if isinstance(node, list) else node


def texts(node):
    """Numbers as they are written."""
    return json.loads(node, parse_float=str, parse_int=str)


@pytest.mark.parametrize("seed", range(FILES))
def test_a_file_of_any_version_with_noise_loads_and_saves_as_itself(seed):
    source = json.dumps(generated(seed))
    once = saved(source)
    assert saved(once) == once
    before, after = texts(source), texts(once)
    assert after["ModelMetadata"]["Version"] == "3.0"
    # What version 3.0 has and the file had not is added.
    for name in ("Version", "AWSService"):
        if before["ModelMetadata"].get(name) != after["ModelMetadata"][name]:
            before["ModelMetadata"].pop(name, None)
            after["ModelMetadata"].pop(name)
    for old, new in zip(before["DataModel"], after["DataModel"]):
        if "BillingMode" not in old:
            assert new.pop("BillingMode", "PAY_PER_REQUEST") == "PAY_PER_REQUEST"
    assert without_items(after) == without_items(before)
    checked = stator("check", "-", text=source)
    assert checked.returncode == 0, checked.stdout
    again = stator("check", "-", text=once)
    assert again.returncode == 0
    # Whatever was repaired is repaired in what was saved.
    assert "is read as" not in again.stdout and "wrapped twice" not in again.stdout
    report = again.stdout.splitlines()[0]
    assert report.split("):")[1] == checked.stdout.splitlines()[0].split("):")[1]


# --- Each oddity by itself ---


def one(**more):
    table = {"TableName": "table", "KeyAttributes": {"PartitionKey": key("PK")}, "NonKeyAttributes": [],
             "BillingMode": "PAY_PER_REQUEST", "TableData": [], **more}  # fmt: skip
    return {"ModelName": "m", "ModelMetadata": {"Version": "3.0"}, "DataModel": [table]}


def imported(model):
    return json.loads(saved(json.dumps(model)))


def test_bytes_of_keys_are_kept():
    rows = [{"PK": {"S": "a\t"}}, {"PK": {"S": "<sub_feature>"}}, {"PK": {"S": "a"}}]
    assert imported(one(TableData=rows))["DataModel"][0]["TableData"] == rows


def test_plain_json_in_a_map_is_marshalled_with_the_numbers_of_the_text():
    text = json.dumps(one(TableData=[{"PK": {"S": "a"}, "m": {"M": {"is_enabled": True, "x": "N"}}}]))
    after = json.loads(saved(text.replace('"N"', "59.10")))["DataModel"][0]["TableData"][0]["m"]
    assert after["M"]["is_enabled"] == {"BOOL": True}
    assert after["M"]["x"] in ({"N": "59.10"}, {"N": "59.1"})


def test_a_map_that_is_wrapped_twice_loses_the_outer_wrapper():
    rows = [{"PK": {"S": "a"}, "m": {"M": {"M": {"HP": {"N": "50"}}}}}]
    assert imported(one(TableData=rows))["DataModel"][0]["TableData"][0]["m"] == {"M": {"HP": {"N": "50"}}}


def test_an_include_that_lists_keys_is_passed_on():
    projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["PK", "x"]}
    index = {"IndexName": "index", "KeyAttributes": {"PartitionKey": key("x")}, "Projection": projection}
    assert imported(one(GlobalSecondaryIndexes=[index]))["DataModel"][0]["GlobalSecondaryIndexes"] == [index]
    assert stator("check", "-", text=json.dumps(one(GlobalSecondaryIndexes=[index]))).returncode == 0


def test_of_the_same_key_in_two_facets_the_last_one_wins_with_a_note():
    model = one()
    del model["DataModel"][0]["TableData"]
    rows = [[{"PK": {"S": "a"}, "n": {"N": str(i)}}] for i in range(2)]
    model["DataModel"][0]["TableFacets"] = [
        {"FacetName": f"F{i}", "KeyAttributeAlias": {"PartitionKeyAlias": "PK"}, "TableData": rows[i]} for i in range(2)]  # fmt: skip
    model["Stator"] = {"Patterns": [{"Name": "one", "Operation": "GetItem", "PartitionKey": "a", "Filter": "",
                                     "Expect": {"Keys": [rows[1][0]]}}]}  # fmt: skip
    done = stator("check", "-", text=json.dumps(model))
    assert done.returncode == 0, done.stdout
    assert "a later row has the same key, and replaces this one" in done.stdout and "1 rows" in done.stdout


def test_rows_that_do_not_follow_templates_beside_the_keys_are_no_fault():
    model = one(TableData=[{"PK": {"S": "ROOM#1"}}, {"PK": {"S": "else"}}])
    model["DataModel"][0]["KeyAttributes"]["PartitionKey"]["MapFunction"] = {"Room": "ROOM#${room}"}
    assert imported(model)["DataModel"] == model["DataModel"]
    done = stator("check", "-", text=json.dumps(model))
    assert done.returncode == 0, done.stdout
    assert "1 entities" in done.stdout
    assert "  note  DataModel[0].TableData[1]: rule Key: the key follows the templates of no entity" in done.stdout
    # Entities of the file's own are meant.
    model["Stator"] = {"Entities": [{"Name": "Room", "Keys": [{"PartitionKey": "ROOM#<room>"}]}]}
    assert stator("check", "-", text=json.dumps(model)).returncode == 1


def test_a_model_of_another_service_is_refused_with_a_sentence():
    model = one()
    model["ModelMetadata"]["AWSService"] = "Amazon Keyspaces"
    done = stator("check", "-", text=json.dumps(model))
    assert done.returncode == 2
    assert "the model is for Amazon Keyspaces; only Amazon DynamoDB is supported" in done.stderr


# --- Templates ---

TEMPLATE = """
Parameters:
  Name: {Type: String, Default: things}
Resources:
  Things:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Ref Name
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: id, AttributeType: S}
        - {AttributeName: at, AttributeType: N}
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
      GlobalSecondaryIndexes:
        - IndexName: byTime
          KeySchema: [{AttributeName: at, KeyType: HASH}]
          Projection: {ProjectionType: KEYS_ONLY}
  Function: {Type: AWS::Lambda::Function}
"""


def test_a_template_is_a_model_of_its_tables():
    model = json.loads(saved(TEMPLATE))
    table = model["DataModel"][0]
    assert (table["TableName"], table["BillingMode"]) == ("things", "PAY_PER_REQUEST")
    assert table["GlobalSecondaryIndexes"][0]["KeyAttributes"] == {"PartitionKey": key("at", "N")}
    assert model["Stator"]["Tables"] == [{"TableName": "things", "TimeToLive": "expires"}]
    done = stator("check", "-", text=TEMPLATE)
    assert done.returncode == 0 and "(a template): 1 tables, 1 indexes" in done.stdout


@pytest.mark.parametrize("text, reason", [
    ("Resources: {Bucket: {Type: 'AWS::S3::Bucket'}}", "the template has no tables"),
    (TEMPLATE.replace("!Ref Name", "!Ref Nobody"), "Nobody"),
    ("x: [", "it is not JSON"),
])  # fmt: skip
def test_a_template_that_makes_no_sense_has_exit_code_2(text, reason):
    done = stator("check", "-", text=text)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
