"""`stator model`: what it prints, and its exit codes."""

import copy
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import stator_process  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/models"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.json"))


def stator(*arguments, **options):
    return subprocess.run(
        [stator_process.binary(), "model", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, **options,
    )  # fmt: skip


def test_the_samples_are_those_in_the_folder_and_are_printed_whole():
    listed = stator("samples")
    assert listed.returncode == 0
    assert sorted(line.split()[0] for line in listed.stdout.splitlines()) == NAMES
    for name in NAMES:
        printed = stator("samples", name)
        assert (printed.returncode, printed.stdout) == (0, (EXAMPLES / f"{name}.json").read_text())
    unknown = stator("samples", "none")
    assert unknown.returncode == 2
    assert "there is no such sample" in unknown.stderr


@pytest.mark.parametrize("name", NAMES)
def test_each_sample_passes_its_check(name):
    by_name, by_file = stator("check", name), stator("check", EXAMPLES / f"{name}.json")
    assert (by_name.returncode, by_name.stderr) == (0, ""), by_name.stdout
    assert by_file.stdout == by_name.stdout
    assert "0 of them failed; 0 problems" in by_name.stdout
    assert "FAIL" not in by_name.stdout
    assert "a month on demand" in by_name.stdout


def orders():
    return json.loads((EXAMPLES / "orders.json").read_text())


def pattern(model, name):
    return next(p for p in model["Stator"]["Patterns"] if p["Name"].startswith(name))


def needs_a_scan(model):
    del pattern(model, "Lines")["PartitionKey"], pattern(model, "Lines")["SortKey"]


def scans(model):
    model["Stator"]["Patterns"].append({"Name": "All", "Operation": "Scan"})


def lacks_an_attribute(model):
    pattern(model, "Open orders")["Attributes"].append("status")


def collides(model):
    keys = [{"PartitionKey": "CUSTOMER#<customerId>", "SortKey": "ORDER#<x>#<y>"}]
    model["Stator"]["Entities"].append({"Name": "Return", "Keys": keys})


def has_a_wrong_count(model):
    pattern(model, "Lines")["Expect"]["Count"] = 3


def has_wrong_keys(model):
    pattern(model, "Open orders")["Expect"]["Keys"].reverse()


def expects_another_entity(model):
    pattern(model, "Profile")["Expect"]["Entities"] = ["Order"]
    pattern(model, "Profile")["Entities"] = ["Customer"]


def asks_for_keys_that_nobody_has(model):
    pattern(model, "Profile")["PartitionKey"] = "CLIENT#<customerId>"


def lacks_a_value(model):
    pattern(model, "Lines")["Parameters"] = {}


def reads_an_index_consistently(model):
    pattern(model, "Open orders")["ConsistentRead"] = True


def has_a_row_of_no_entity(model):
    row = {"PK": {"S": "x"}, "SK": {"S": "y"}}
    model["DataModel"][0]["TableData"].append(row)


def is_not_refused(model):
    pattern(model, "Place an order twice").pop("Condition")


FAILURES = [
    (needs_a_scan, "FAIL  needs a Scan: it does not give the partition key PK"),
    (scans, "FAIL  needs a Scan: it reads all of table orders"),
    (lacks_an_attribute, "FAIL  not projected: index byStatus does not project status: include it,"),
    (collides, "FAIL  entities Order and Return collide: an item of one may have the key of the"),
    (has_a_wrong_count, "FAIL  expected 3 items, found 2"),
    (has_wrong_keys, "FAIL  expected item 1 with "),
    (expects_another_entity, "FAIL  item 1 is of entity Customer, which is not expected"),
    (asks_for_keys_that_nobody_has, "FAIL  finds nothing: no Customer has such a key there"),
    (lacks_a_value, "FAIL  refused: the parameter orderId has no value"),
    (reads_an_index_consistently, "FAIL  refused: a global index has no consistent reads"),
    (has_a_row_of_no_entity, "rule Key: the key follows the templates of no entity"),
    (is_not_refused, "FAIL  expected a refusal, and it succeeded"),
]


@pytest.mark.parametrize("change, sentence", FAILURES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_check_fails_with_the_right_sentence_and_exit_code_1(change, sentence, tmp_path):
    model = orders()
    before = copy.deepcopy(model)
    change(model)
    assert model != before
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    checked = stator("check", path)
    assert checked.returncode == 1, checked.stdout
    assert sentence in checked.stdout
    assert checked.stdout.count("FAIL") == 1, checked.stdout
    assert checked.stderr == f"stator: model: 1 problems in {path}\n"


@pytest.mark.parametrize(
    "text, reason",
    [
        ("{", "it is not JSON"),
        ("{}", "the file is no model"),
        ('{"DataModel":[{"TableName":"t"}]}', "DataModel[0]: there is no KeyAttributes"),
    ],
)
def test_a_file_that_makes_no_sense_has_exit_code_2(text, reason, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(text)
    checked = stator("check", path)
    assert (checked.returncode, checked.stdout) == (2, "")
    assert reason in checked.stderr
    assert stator("check", tmp_path / "absent.json").returncode == 2


def test_repairs_are_reported(tmp_path):
    model = orders()
    del model["ModelMetadata"]["Version"], model["DataModel"][0]["BillingMode"]
    model["DataModel"][0]["TableData"][0]["name"] = "Ada"
    checked = stator("check", "-", input=json.dumps(model))
    assert checked.returncode == 0, checked.stdout
    notes = [line.strip() for line in checked.stdout.splitlines() if line.startswith("  note")]
    assert notes == [
        "note  ModelMetadata: there is no version: it is saved as 3.0",
        "note  DataModel[0]: there is no BillingMode: the table is on demand",
        "note  DataModel[0].TableData[0].name: plain JSON is read as a DynamoDB value",
    ]


# --- With a server ---


@pytest.fixture(name="server", scope="module")
def fixture_server():
    with stator_process.StatorProcess("--in-memory") as process:
        yield process


def live(server, *arguments):
    return stator(*arguments, "--endpoint", server.url)


def call(server, operation, **body):
    status, answer = stator_process.Connection(server.port).call(operation, body)
    assert status == 200, answer
    return answer


def test_apply_plans_first_then_creates_and_loads(server):
    planned = live(server, "apply", "shop")
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout.splitlines() == [
        "do   create table shop with 1 indexes",
        "do   table shop: enable time to live",
        "do   put 9 items into table shop",
        "Nothing was done; --yes carries it out.",
    ]
    assert call(server, "ListTables")["TableNames"] == []
    done = live(server, "apply", "shop", "--yes")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "Done."), done.stderr
    assert call(server, "Scan", TableName="shop", Select="COUNT")["Count"] == 9
    described = call(server, "DescribeTimeToLive", TableName="shop")["TimeToLiveDescription"]
    assert described["AttributeName"] == "expires"
    again = live(server, "apply", "shop", "--yes")
    assert again.stdout.splitlines() == ["nothing differs", "Done."]


def test_diff_of_a_live_table_names_the_steps_and_apply_does_them(server, tmp_path):
    live(server, "apply", "orders", "--yes", "--no-data")
    model = orders()
    table = model["DataModel"][0]
    table["GlobalSecondaryIndexes"][0]["Projection"] = {"ProjectionType": "ALL"}
    inverted = {"PartitionKey": table["KeyAttributes"]["SortKey"]}
    inverted["SortKey"] = table["KeyAttributes"]["PartitionKey"]
    projection = {"ProjectionType": "KEYS_ONLY"}
    index = {"IndexName": "inverted", "KeyAttributes": inverted, "Projection": projection}
    table["GlobalSecondaryIndexes"].append(index)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    steps = [
        "do   table orders: delete index byStatus, which differs from the model",
        "do   table orders: create index byStatus, which differs",
        "do   table orders: create index inverted, which is new",
    ]
    assert live(server, "diff", path).stdout.splitlines() == steps
    assert stator("diff", EXAMPLES / "orders.json", path).stdout.splitlines() == steps
    assert live(server, "apply", path, "--yes").returncode == 0
    assert live(server, "diff", path).stdout == "nothing differs\n"


def test_diff_compares_time_to_live(server, tmp_path):
    live(server, "apply", "shop", "--yes", "--no-data")
    model = json.loads((EXAMPLES / "shop.json").read_text())
    path = tmp_path / "model.json"
    for attribute, text in [
        ("until", "do   table shop: disable time to live by expires\n"
                  "do   table shop: enable time to live by until"),
        (None, "note table shop: time to live by expires is not in the model, and is left alone"),
        ("expires", "nothing differs"),
    ]:  # fmt: skip
        model["Stator"]["Tables"] = [{"TableName": "shop", "TimeToLive": attribute}] if attribute else []
        path.write_text(json.dumps(model))
        assert live(server, "diff", path).stdout == text + "\n"
    assert json.loads(live(server, "infer", "shop").stdout)["Stator"]["Tables"] == [
        {"TableName": "shop", "TimeToLive": "expires"}]  # fmt: skip
    switch = {"Enabled": False, "AttributeName": "expires"}
    call(server, "UpdateTimeToLive", TableName="shop", TimeToLiveSpecification=switch)
    assert live(server, "diff", "shop").stdout == "do   table shop: enable time to live\n"


def applied(server, path, model):
    """Applies the model, after which nothing differs. Returns the steps."""
    path.write_text(json.dumps(model))
    done = live(server, "apply", path, "--yes", "--no-data")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.splitlines()[-1] == "Done."
    assert live(server, "diff", path).stdout == "nothing differs\n"
    return done.stdout.splitlines()[:-1]


def test_apply_gives_time_to_live_another_attribute(tmp_path):
    with stator_process.StatorProcess("--in-memory") as server:
        model = json.loads((EXAMPLES / "shop.json").read_text())
        applied(server, tmp_path / "model.json", model)
        model["Stator"]["Tables"] = [{"TableName": "shop", "TimeToLive": "until"}]
        assert len(applied(server, tmp_path / "model.json", model)) == 2
        described = call(server, "DescribeTimeToLive", TableName="shop")["TimeToLiveDescription"]
        assert described["AttributeName"] == "until"


def units_of(server, name):
    table = call(server, "DescribeTable", TableName=name)["Table"]
    return [(part["ProvisionedThroughput"]["ReadCapacityUnits"], part["ProvisionedThroughput"]["WriteCapacityUnits"])
            for part in [table, *table["GlobalSecondaryIndexes"]]]  # fmt: skip


def test_apply_turns_a_table_with_indexes_to_provisioned_and_sets_their_units(tmp_path):
    with stator_process.StatorProcess("--in-memory") as server:
        model, path = orders(), tmp_path / "model.json"
        table = model["DataModel"][0]
        table["BillingMode"] = "PAY_PER_REQUEST"
        applied(server, path, model)
        table["BillingMode"] = "PROVISIONED"
        units = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}
        table["ProvisionedCapacitySettings"] = {"ProvisionedThroughput": units}
        assert applied(server, path, model) == ["do   table orders: set its billing mode or throughput"]
        assert units_of(server, "orders") == [(7, 8), (7, 8)]
        own = {"IndexName": "byStatus", "WriteCapacityUnits": 9}
        model["Stator"]["Tables"] = [{"TableName": "orders", "IndexThroughput": [own]}]
        assert applied(server, path, model) == ["do   table orders: set the throughput of its indexes"]
        assert units_of(server, "orders") == [(7, 8), (7, 9)]
        inferred = live(server, "infer", "orders")
        assert json.loads(inferred.stdout)["Stator"]["Tables"][0]["IndexThroughput"] == [own]
        units["ReadCapacityUnits"] = 6
        assert applied(server, path, model) == ["do   table orders: set its billing mode or throughput"]
        assert units_of(server, "orders") == [(6, 8), (6, 9)]
        # An index that is created with other keys is in the way of the change of mode until it is deleted.
        table["BillingMode"] = "PAY_PER_REQUEST"
        applied(server, path, model)
        table["BillingMode"] = "PROVISIONED"
        table["GlobalSecondaryIndexes"][0]["Projection"] = {"ProjectionType": "KEYS_ONLY"}
        assert len(applied(server, path, model)) == 3
        assert units_of(server, "orders") == [(6, 8), (6, 9)]


def attribute(name, kind="S"):
    return {"AttributeName": name, "AttributeType": kind}


def key_schema(hashes, ranges=()):
    return [{"AttributeName": name, "KeyType": role} for role, names in (("HASH", hashes), ("RANGE", ranges))
            for name in names]  # fmt: skip


def test_an_index_with_a_key_of_several_attributes_is_left_alone(tmp_path):
    path = tmp_path / "model.json"
    whole = {"ProjectionType": "ALL"}
    with stator_process.StatorProcess("--in-memory") as server:
        call(server, "CreateTable", TableName="wide", BillingMode="PAY_PER_REQUEST",
             AttributeDefinitions=[attribute(name) for name in "pab"], KeySchema=key_schema("p"),
             GlobalSecondaryIndexes=[
                 {"IndexName": "both", "KeySchema": key_schema("ab"), "Projection": whole},
                 {"IndexName": "one", "KeySchema": key_schema("a"), "Projection": whole}])  # fmt: skip
        inferred = live(server, "infer", "wide")
        assert inferred.returncode == 0
        note = "stator: model: note: GlobalSecondaryIndexes[0]: an index whose key has several attributes has no form"
        assert inferred.stderr.startswith(note)
        model = json.loads(inferred.stdout)
        assert model["Stator"]["Tables"] == [{"TableName": "wide", "OtherIndexes": ["both"]}]
        assert [index["IndexName"] for index in model["DataModel"][0]["GlobalSecondaryIndexes"]] == ["one"]
        assert applied(server, path, model) == ["nothing differs"]
        # It needs its share like any other.
        model["DataModel"][0]["BillingMode"] = "PROVISIONED"
        applied(server, path, model)
        assert units_of(server, "wide") == [(5, 5)] * 3
        # A model that does not know it does not delete it, and cannot take its name.
        model["Stator"]["Tables"] = []
        model["DataModel"][0]["GlobalSecondaryIndexes"] = []
        path.write_text(json.dumps(model))
        left = "note table wide: index both has a key of several attributes, which a model cannot describe, and is left alone"
        assert live(server, "apply", path, "--yes").stdout.splitlines() == [
            "do   table wide: delete index one, which is not in the model", left, "Done."]  # fmt: skip
        index = {"IndexName": "both", "KeyAttributes": {"PartitionKey": attribute("a")}, "Projection": whole}
        model["DataModel"][0]["GlobalSecondaryIndexes"] = [index]
        path.write_text(json.dumps(model))
        again = live(server, "apply", path, "--yes")
        assert again.returncode == 0
        assert again.stdout.splitlines() == [left + ": give the new index another name", "Done."]
        indexes = call(server, "DescribeTable", TableName="wide")["Table"]["GlobalSecondaryIndexes"]
        assert [index["IndexName"] for index in indexes] == ["both"]


@pytest.mark.parametrize("local", [True, False])
def test_a_local_and_a_global_index_of_one_name_do_not_replace_each_other(local, tmp_path):
    path = tmp_path / "model.json"
    index = {"IndexName": "byA", "KeySchema": key_schema("p", "a"), "Projection": {"ProjectionType": "ALL"}}
    kind = "LocalSecondaryIndexes" if local else "GlobalSecondaryIndexes"
    with stator_process.StatorProcess("--in-memory") as server:
        call(server, "CreateTable", TableName="tab", BillingMode="PAY_PER_REQUEST",
             AttributeDefinitions=[attribute(name) for name in "psa"], KeySchema=key_schema("p", "s"),
             **{kind: [index]})  # fmt: skip
        model = json.loads(live(server, "infer", "tab").stdout)
        assert applied(server, path, model) == ["nothing differs"]
        model.setdefault("Stator", {})["Tables"] = [] if local else [{"TableName": "tab", "LocalIndexes": ["byA"]}]
        path.write_text(json.dumps(model))
        done = live(server, "apply", path, "--yes")
        assert (done.returncode, done.stderr) == (0, "")
        text = "is local, and a local index cannot be deleted: give the global" if local else "is global and should be local;"
        assert done.stdout.splitlines()[0].startswith("note table tab: index byA " + text)
        assert len(done.stdout.splitlines()) == 2
        assert kind in call(server, "DescribeTable", TableName="tab")["Table"]


def test_diff_tells_what_cannot_be_done_in_place(tmp_path):
    model = json.loads((EXAMPLES / "devices.json").read_text())
    del model["Stator"]["Entities"][0]["Attributes"]
    model["Stator"]["Tables"] = []
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    lines = stator("diff", "devices", path).stdout.splitlines()
    assert any(line.startswith("note table devices: index byValue is local, and a local index cannot") for line in lines)
    assert any(line.startswith("note entity Device has changed: PutModel in mode") for line in lines)


def test_diff_shows_control_characters_as_question_marks(tmp_path):
    model = json.loads((EXAMPLES / "devices.json").read_text())
    model["Stator"]["Entities"][0]["Name"] = "x\x1b[2K\u009b1A\x7f"
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    assert stator("diff", "devices", path).stdout.startswith("note entity x?[2K?1A? is new")


def test_what_is_wrong_in_a_model_does_not_drive_the_terminal(tmp_path):
    model = json.loads((EXAMPLES / "devices.json").read_text())
    model["Stator"]["Entities"][0]["Keys"][0]["PartitionKey"] = "x\x1b[2K\u009b1A<"
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    assert 'the template "x?[2K?1A<" has' in stator("check", path).stderr


def test_a_model_that_is_inferred_from_a_table_fits_its_items(server, tmp_path):
    assert live(server, "apply", "tenants", "--yes").returncode == 0
    inferred = live(server, "infer", "tenants")
    assert inferred.returncode == 0, inferred.stderr
    model = json.loads(inferred.stdout)
    entities = {entity["Name"]: entity for entity in model["Stator"]["Entities"]}
    assert sorted(entities) == ["Project", "Tenant", "Usage", "User"]
    assert entities["User"]["Keys"] == [
        {"PartitionKey": "TENANT#<tenantId>", "SortKey": "USER#<userId>"},
        {"Index": "byEmail", "PartitionKey": "EMAIL#<emailId>"},
    ]
    assert entities["Project"]["Attributes"][0]["Required"] is True
    path = tmp_path / "model.json"
    path.write_text(inferred.stdout)
    checked = stator("check", path)
    assert checked.returncode == 0, checked.stdout
    assert len(model["DataModel"][0]["TableData"]) == 12
    assert live(server, "infer", "absent").returncode == 1


@pytest.mark.parametrize("form", ["workbench", "cloudformation", "cdk", "terraform", "cli"])
def test_each_form_of_export_names_every_index(form):
    exported = stator("export", "devices", "--format", form)
    assert exported.returncode == 0
    model = json.loads((EXAMPLES / "devices.json").read_text())
    for index in model["DataModel"][0]["GlobalSecondaryIndexes"]:
        assert index["IndexName"] in exported.stdout
    if form in ("workbench", "cloudformation"):
        json.loads(exported.stdout)
    if form == "workbench":
        assert json.loads(exported.stdout) == model


def test_an_unknown_form_of_export_is_refused():
    refused = stator("export", "devices", "--format", "none")
    assert refused.returncode == 2
    assert "is workbench, cloudformation, cdk, terraform or cli" in refused.stderr
