"""CheckModel: the verdicts of `stator model check` as JSON, and suggestions that really help.

A suggestion is a JSON Patch. Each one that is offered, for broken forms of the examples and for
generated models, is applied here, and the pattern must then be served.
"""

import copy
import json
import pathlib
import random
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "lib"))
from stator_process import Connection, StatorProcess, binary  # noqa: E402

EXAMPLES = sorted((ROOT / "examples" / "models").glob("*.json"))
KINDS = {"USE", "PROJECT", "OVERLOAD", "INVERT", "SPARSE", "ADD"}


@pytest.fixture(scope="module")
def client():
    with StatorProcess("--in-memory") as server:
        client = Connection(server.port)
        yield client
        client.close()


def check(client, model, **more):
    text = model if isinstance(model, str) else json.dumps(model)
    status, answer = client.call("CheckModel", {"Model": text, **more})
    assert status == 200, answer
    return answer


def pattern_of(answer, name):
    return next(one for one in answer["Patterns"] if one["Name"] == name)


def apply_patch(model, patch):
    """RFC 6902, as far as CheckModel uses it."""
    model = copy.deepcopy(model)
    for change in patch:
        *path, last = [
            part.replace("~1", "/").replace("~0", "~") for part in change["path"].split("/")[1:]
        ]
        parent = model
        for part in path:
            parent = parent[int(part) if isinstance(parent, list) else part]
        if change["op"] == "remove":
            del parent[last]
        elif isinstance(parent, list):
            assert last == "-"
            parent.append(change["value"])
        else:
            parent[last] = change["value"]
    return model


def try_suggestions(client, model, name):
    """The kinds of what is suggested for a pattern; each of them must serve it."""
    found = pattern_of(check(client, model), name)
    assert not found["IsGood"]
    for one in found["Suggestions"]:
        changed = apply_patch(model, one["Patch"])
        after = pattern_of(check(client, changed), name)
        assert after["IsGood"], (one, after)
        if one["Kind"] in ("USE", "PROJECT", "OVERLOAD"):
            tables = zip(model["DataModel"], changed["DataModel"])
            assert all(
                len(a.get("GlobalSecondaryIndexes", [])) == len(b.get("GlobalSecondaryIndexes", []))
                for a, b in tables
            )
    kinds = [one["Kind"] for one in found["Suggestions"]]
    assert set(kinds) <= KINDS
    assert bool(kinds) != ("Hint" in found)
    return kinds


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_judged_as_the_command_does(client, path):
    answer = check(client, path.read_text())
    assert answer["IsComplete"] and answer["NoteCount"] == len(answer["Notes"])
    assert answer["Collisions"] == [] and all(one["FaultCount"] == 0 for one in answer["Tables"])
    printed = subprocess.run(
        [binary(), "model", "check", path], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    blocks = {
        block.splitlines()[0]: block for block in printed.split("\npattern ")[1:]
    }
    assert set(blocks) == {one["Name"] for one in answer["Patterns"]}
    for one in answer["Patterns"]:
        block = blocks[one["Name"]]
        assert one["IsGood"] or one["IsAllowed"]
        refused = "  ok " not in block and "  scan " not in block
        assert refused or one["Reason"] in block
        for other in one["Coverage"]:
            if not other["IsUsed"]:
                name = other.get("IndexName", "the table")
                assert f"by {name}: {other['Verdict']}, {other['Reason']}" in block
        if "Units" in one and not refused:
            unit = "read" if one["Operation"] in ("GetItem", "Query", "Scan") else "write"
            assert f"{one['Units']:.1f} {unit} units" in block


def base_model():
    return json.loads((ROOT / "examples/models/orders.json").read_text())


def add_pattern(model, **fields):
    pattern = {"Name": "New", "Operation": "Query", "Entities": ["Customer"], **fields}
    model["Stator"]["Patterns"].append(pattern)
    return model


def test_an_overloaded_index_comes_before_a_new_one(client):
    model = add_pattern(base_model(), Parameters={"email": "ada@example.com"})
    assert try_suggestions(client, model, "New") == ["OVERLOAD", "ADD"]


def test_an_index_that_has_the_keys_is_used(client):
    model = add_pattern(
        base_model(), Operation="Scan", Entities=["Order"], Parameters={"status": "open"},
        Attributes=["orderId"],
    )  # fmt: skip
    assert try_suggestions(client, model, "New") == ["USE"]
    model["Stator"]["Patterns"][-1]["Attributes"] = ["status"]
    (suggestion,) = pattern_of(check(client, model), "New")["Suggestions"]
    assert any(change["path"].endswith("/Projection") for change in suggestion["Patch"])
    assert try_suggestions(client, model, "New") == ["USE"]


def test_a_lacking_attribute_is_included(client):
    model = base_model()
    model["Stator"]["Patterns"][5]["Attributes"].append("status")
    name = model["Stator"]["Patterns"][5]["Name"]
    assert pattern_of(check(client, model), name)["Verdict"] == "not projected"
    assert try_suggestions(client, model, name)[0] == "PROJECT"


def test_a_filter_on_a_status_makes_a_sparse_index(client):
    model = add_pattern(
        base_model(), Operation="Scan", Entities=["Customer"], Filter="#s = :s",
        Names={"#s": "state"}, Values={":s": {"S": "locked"}},
    )  # fmt: skip
    assert try_suggestions(client, model, "New") == ["OVERLOAD", "SPARSE"]
    del model["DataModel"][0]["GlobalSecondaryIndexes"]
    model["Stator"]["Entities"] = [
        {**one, "Keys": [key for key in one["Keys"] if "Index" not in key]}
        for one in model["Stator"]["Entities"]
    ]
    model["Stator"]["Patterns"] = model["Stator"]["Patterns"][-1:]
    assert try_suggestions(client, model, "New") == ["SPARSE"]


def test_the_other_way_of_a_relation_is_an_inverted_index(client):
    entity = {"Name": "Membership", "Keys": [{"PartitionKey": "USER#<u>", "SortKey": "GROUP#<g>"}]}
    model = {
        "ModelName": "m",
        "ModelMetadata": {"Version": "3.0"},
        "DataModel": [{
            "TableName": "t",
            "KeyAttributes": {
                "PartitionKey": {"AttributeName": "PK", "AttributeType": "S"},
                "SortKey": {"AttributeName": "SK", "AttributeType": "S"},
            },
        }],
        "Stator": {"Entities": [entity], "Patterns": []},
    }  # fmt: skip
    add_pattern(model, Entities=["Membership"], Parameters={"g": "1"})
    assert try_suggestions(client, model, "New") == ["INVERT", "ADD"]


def test_what_cannot_be_helped_says_why(client):
    for fields, hint in [
        ({"Entities": []}, "name the entities"),
        ({"ConsistentRead": True, "Parameters": {"email": "a"}}, "no consistent reads"),
        ({"Operation": "DeleteItem"}, "whole key of the table"),
    ]:
        found = pattern_of(check(client, add_pattern(base_model(), **fields)), "New")
        assert hint in found["Hint"] and found["Suggestions"] == []


def generated(chance):
    """A model whose entities, indexes and patterns are chosen at random."""
    kinds = ["ALL", "KEYS_ONLY", "INCLUDE"]

    def key(name, kind="S"):
        return {"AttributeName": name, "AttributeType": kind}

    def index(number):
        kind = chance.choice(kinds)
        projection = {"ProjectionType": kind}
        if kind == "INCLUDE":
            projection["NonKeyAttributes"] = chance.sample(["a", "b", "c"], 1)
        keys = {"PartitionKey": key(f"GSI{number}PK", chance.choice("SSSN"))}
        if chance.random() < 0.7:
            keys["SortKey"] = key(f"GSI{number}SK", chance.choice("SSSN"))
        return {"IndexName": f"gsi{number}", "KeyAttributes": keys, "Projection": projection}

    indexes = [index(number) for number in range(chance.randrange(4))]
    has_range = chance.random() < 0.8
    keys = {"PartitionKey": key("PK"), **({"SortKey": key("SK")} if has_range else {})}

    def template(word, attribute):
        parameters = chance.sample(["p", "q", "r"], chance.randrange(1, 3))
        if attribute["AttributeType"] != "S":
            return f"<{parameters[0]}>"
        return word + "".join(f"#<{one}>" for one in parameters)

    def templates(word, keys):
        names = {"PartitionKey": template(word, keys["PartitionKey"])}
        if "SortKey" in keys:
            names["SortKey"] = template(word, keys["SortKey"])
        return names

    entities = []
    for number in range(chance.randrange(1, 4)):
        mine = [templates(f"E{number}", keys)]
        for one in indexes:
            if chance.random() < 0.5:
                mine.append(
                    {"Index": one["IndexName"], **templates(f"X{number}", one["KeyAttributes"])}
                )
        entities.append({"Name": f"Entity{number}", "Keys": mine})
    patterns = []
    for number in range(chance.randrange(1, 6)):
        names = [one["Name"] for one in entities]
        pattern = {
            "Name": f"pattern {number}",
            "Operation": chance.choice(["Query", "Scan", "GetItem"]),
            "Entities": chance.sample(names, chance.randrange(1, min(2, len(names)) + 1)),
            "Parameters": {
                name: "7" for name in chance.sample(["p", "q", "r", "s"], chance.randrange(4))
            },
        }
        if chance.random() < 0.4:
            pattern["Attributes"] = chance.sample(["a", "b", "PK"], 2)
        if chance.random() < 0.3:
            pattern["Filter"] = chance.choice(["a = :v", "#n = :v", "b > :v", "GSI0PK = :v"])
            pattern["Values"] = {":v": {"S": "x"}}
            pattern["Names"] = {"#n": "state"} if "#n" in pattern["Filter"] else {}
        if chance.random() < 0.1:
            pattern["ConsistentRead"] = True
        first = next(one for one in entities if one["Name"] == pattern["Entities"][0])
        if len(first["Keys"]) > 1 and chance.random() < 0.5:
            pattern.update(first["Keys"][1], Operation="Query", Entities=[first["Name"]])
            pattern["Parameters"] = {name: "7" for name in "pqr"}
            pattern.pop("SortKey", None)
        patterns.append(pattern)
    table = {"TableName": "t", "KeyAttributes": keys, "GlobalSecondaryIndexes": indexes}
    return {
        "ModelName": "generated",
        "ModelMetadata": {"Version": "3.0"},
        "DataModel": [table],
        "Stator": {"Entities": entities, "Patterns": patterns},
    }


def test_every_suggestion_for_generated_models_serves_its_pattern(client):
    seen = []
    for seed in range(200):
        model = generated(random.Random(seed))
        for pattern in check(client, model)["Patterns"]:
            if not pattern["IsGood"]:
                try:
                    seen += try_suggestions(client, model, pattern["Name"])
                except AssertionError as error:
                    raise AssertionError(f"seed {seed}, {pattern['Name']}") from error
    assert set(seen) == KINDS


def test_the_model_comes_back_with_what_is_unknown(client):
    model = base_model()
    model["Ours"] = {"deep": [1.50, {"x": None}]}
    answer = check(client, model, ReturnModel=True)
    assert json.loads(answer["Model"])["Ours"] == model["Ours"]
    assert "Model" not in check(client, model)
    table = {
        "TableName": "t",
        "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
    }
    answer = check(client, table, ReturnModel=True)
    assert json.loads(answer["Model"])["DataModel"][0]["TableName"] == "t"


def test_a_file_that_makes_no_sense_is_refused(client):
    for text in ["{}", "[1", '{"DataModel": 1}']:
        status, answer = client.call("CheckModel", {"Model": text})
        assert status == 400
        assert answer["message"].startswith("Model is not valid: "), answer
    status, answer = client.call("CheckModel", {"Model": "x" * (1024 * 1024 + 1)})
    assert status == 400 and "length less than or equal to 1048576" in answer["message"]


def test_work_is_bounded(client):
    """Rows times patterns: what is beyond the bound is left out, and the answer says so."""
    model = base_model()
    rows = [{"PK": {"S": f"A{n}"}, "SK": {"S": "b"}} for n in range(5000)]
    model["DataModel"][0]["TableData"] = rows
    one = model["Stator"]["Patterns"][0]
    model["Stator"]["Patterns"] = [{**one, "Name": f"p{n}"} for n in range(500)]
    answer = check(client, model)
    assert not answer["IsComplete"]
    assert all("Verdict" in pattern for pattern in answer["Patterns"])
    assert 0 < sum("Units" in pattern for pattern in answer["Patterns"]) < 500
    assert answer["Tables"][0]["FaultCount"] == 5000
    assert len(answer["Tables"][0]["Faults"]) == 100


def key(name, kind="S"):
    return {"AttributeName": name, "AttributeType": kind}


def table_model(patterns=(), entities=(), rows=(), indexes=()):
    return {
        "ModelName": "m",
        "ModelMetadata": {"Version": "3.0"},
        "DataModel": [{
            "TableName": "T",
            "KeyAttributes": {"PartitionKey": key("pk"), "SortKey": key("sk")},
            "GlobalSecondaryIndexes": list(indexes),
            "TableData": list(rows),
        }],
        "Stator": {"Entities": list(entities), "Patterns": list(patterns)},
    }  # fmt: skip


def get_pattern(name, **more):
    return {"Name": name, "Operation": "GetItem", "PartitionKey": "x", "SortKey": "x", **more}


ROW = {"pk": {"S": "x"}, "sk": {"S": "x"}}


def test_calls_per_second_are_from_0_to_a_bound_and_costs_are_finite(client):
    text = json.dumps(table_model([get_pattern("p", CallsPerSecond=0.5)], rows=[ROW]))
    for number in ["1e308", "1e999", "-1e999", "-5", "1.1e12"]:
        status, answer = client.call("CheckModel", {"Model": text.replace("0.5", number)})
        assert status == 400, number
        assert "CallsPerSecond: it is not from 0 to 1e+12" in answer["message"]
    answer = check(client, text.replace("0.5", "1e12"))
    assert answer["MonthlyCost"] == answer["Patterns"][0]["MonthlyCost"] > 1e9
    assert answer["IsComplete"]


def collisions_of(client, entity_count):
    template = "<a>" + "x" * 1000
    entities = [
        {"Name": f"e{n}", "Keys": [{"PartitionKey": template, "SortKey": template}]}
        for n in range(entity_count)
    ]
    model = table_model(entities=entities)
    return model, check(client, model)


def test_collisions_take_work_by_the_product_of_their_templates(client, tmp_path):
    _, answer = collisions_of(client, 6)
    assert answer["IsComplete"] and len(answer["Collisions"]) == 15
    model, answer = collisions_of(client, 12)
    assert not answer["IsComplete"]
    found = len(answer["Collisions"])
    assert 15 < found < 66
    _, answer = collisions_of(client, 40)
    assert not answer["IsComplete"] and len(answer["Collisions"]) == found
    # The command finds all of them.
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    printed = subprocess.run(
        [binary(), "model", "check", path], capture_output=True, text=True, timeout=60
    ).stdout
    assert printed.count("one may have the key of the other") == 66, printed[:500]


def test_suggestions_take_work_by_the_product_of_templates(client):
    """Each index of each pattern is compared with the templates of all entities there."""
    indexes = [
        {
            "IndexName": f"g{n}",
            "KeyAttributes": {"PartitionKey": key(f"g{n}pk")},
            "Projection": {"ProjectionType": "ALL"},
        }
        for n in range(2)
    ]
    long = "x" * 1000
    entities = [
        {
            "Name": f"e{n}",
            "Keys": [{"PartitionKey": f"E{n}#<id>", "SortKey": "<a>"}]
            + [{"Index": one["IndexName"], "PartitionKey": f"<a>{long}{n}"} for one in indexes],
        }
        for n in range(100)
    ]
    entities.append({"Name": "new", "Keys": [{"PartitionKey": "NEW#<id>", "SortKey": "<a>"}]})
    patterns = [
        {
            "Name": f"p{n}",
            "Operation": "Scan",
            "Filter": "a = :v",
            "Values": {":v": {"S": "x" * 900}},
            "Entities": ["new"],
        }
        for n in range(20)
    ]
    answer = check(client, table_model(patterns, entities, indexes=indexes))
    assert not answer["IsComplete"]
    assert len(answer["Patterns"]) == 20 and all("Verdict" in one for one in answer["Patterns"])
    assert "Suggestions" not in answer["Patterns"][-1]
    alone = check(client, table_model(patterns[:1], entities[-11:], indexes=indexes))
    assert alone["IsComplete"] and alone["Patterns"][0]["Suggestions"]


def test_expressions_are_as_long_as_the_service_takes_them(client):
    for name in ["Filter", "Update", "Condition"]:
        fields = {"Name": "p", "Operation": "Query", "PartitionKey": "x"}
        text = "a = :b" + " " * 4090
        assert check(client, table_model([{**fields, name: text}]))["Patterns"]
        status, answer = client.call(
            "CheckModel", {"Model": json.dumps(table_model([{**fields, name: text + " "}]))}
        )
        assert status == 400 and f"{name} is longer than 4096 bytes" in answer["message"]


def test_verdicts_take_work_by_words_of_filters_and_names(client):
    names = {f"#{n:x}": "x" for n in range(5000)}
    fields = {"Operation": "Query", "PartitionKey": "x", "Filter": "#a " * 1365}
    patterns = [{"Name": f"p{n}", **fields, "Names": names} for n in range(10)]
    answer = check(client, table_model(patterns))
    assert not answer["IsComplete"]
    assert 0 < len(answer["Patterns"]) < 10 and all("Verdict" in one for one in answer["Patterns"])
    for one in patterns:
        one["Names"] = {"#a": "x"}
    answer = check(client, table_model(patterns))
    assert answer["IsComplete"] and len(answer["Patterns"]) == 10


def test_verdicts_take_work_by_the_values_of_parameters(client):
    template = "#".join(["<p>"] * 16)
    entities = [{"Name": "e", "Keys": [{"PartitionKey": template, "SortKey": "<p>"}]}]
    pattern = {
        "Name": "p", "Operation": "Query", "PartitionKey": template, "Entities": ["e"] * 100,
        "Parameters": {"p": "v" * 500_000},
    }  # fmt: skip
    answer = check(client, table_model([pattern], entities))
    assert not answer["IsComplete"] and answer["Patterns"] == []
    pattern["Parameters"] = {"p": "v"}
    answer = check(client, table_model([pattern], entities))
    assert answer["IsComplete"] and len(answer["Patterns"]) == 1


def test_a_row_takes_work_by_its_size(client):
    patterns = [get_pattern(f"p{n}") for n in range(200)]
    for count, complete in [(10, True), (70_000, False)]:
        row = {**ROW, "l": {"L": [{"N": "1"}] * count}}
        text = json.dumps(table_model(patterns, rows=[row]), separators=(",", ":"))
        answer = check(client, text)
        assert answer["IsComplete"] == complete
        assert len(answer["Patterns"]) == 200
        known = sum("Units" in one for one in answer["Patterns"])
        assert known == 200 if complete else 0 < known < 200


def test_the_answer_is_bounded(client):
    sort = "s" * 1000 + "<id>"
    entities = [
        {"Name": f"e{n}", "Keys": [{"PartitionKey": f"{n}#<z>", "SortKey": sort}]} for n in range(50)
    ]
    index = {
        "IndexName": "g",
        "KeyAttributes": {"PartitionKey": key("gpk"), "SortKey": key("gsk")},
        "Projection": {"ProjectionType": "ALL"},
    }
    fields = {"Operation": "Scan", "Filter": "a=:b", "Values": {":b": {"S": "v" * 900}}}
    patterns = [
        {"Name": f"p{n}", **fields, "Entities": [one["Name"] for one in entities]}
        for n in range(60)
    ]
    answer = check(client, table_model(patterns, entities, indexes=[index]))
    assert not answer["IsComplete"] and len(answer["Patterns"]) == 60
    assert answer["Patterns"][0]["Suggestions"] and "Suggestions" not in answer["Patterns"][-1]
    assert 1024 * 1024 < len(json.dumps(answer, separators=(",", ":"))) < 1.5 * 1024 * 1024
    # Names of collisions, and reasons.
    entities = [
        {"Name": f"{n:0255}", "Keys": [{"PartitionKey": "<a>", "SortKey": "<b>"}]} for n in range(150)
    ]
    answer = check(client, table_model(entities=entities))
    assert not answer["IsComplete"] and len(json.dumps(answer)) < 1.5 * 1024 * 1024
    pattern = get_pattern("p", PartitionKey="<p>", Parameters={"p": "é" * 10_000}, Index="n")
    number = {**index, "IndexName": "n", "KeyAttributes": {"PartitionKey": key("n", "N")}}
    pattern.update(Operation="Query")
    del pattern["SortKey"]
    (found,) = check(client, table_model([pattern], indexes=[number]))["Patterns"]
    assert found["Verdict"] == "refused" and 2000 < len(found["Reason"].encode()) <= 2048


def test_a_model_that_grows_when_it_is_saved_is_left_out(client):
    deep = [1] * 50_000
    for _ in range(100):
        deep = [deep]
    model = {**table_model(), "Ours": deep}
    answer = check(client, model, ReturnModel=True)
    assert "Model" not in answer and not answer["IsComplete"]
    assert check(client, model)["IsComplete"]
