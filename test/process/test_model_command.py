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
        ("until", "note table shop: time to live is by expires, not until; disable it, and enable it after an hour"),
        (None, "note table shop: time to live by expires is not in the model, and is left alone"),
        ("expires", "nothing differs"),
    ]:
        model["Stator"]["Tables"] = [{"TableName": "shop", "TimeToLive": attribute}] if attribute else []
        path.write_text(json.dumps(model))
        assert live(server, "diff", path).stdout.splitlines() == [text]
    assert json.loads(live(server, "infer", "shop").stdout)["Stator"]["Tables"] == [
        {"TableName": "shop", "TimeToLive": "expires"}]  # fmt: skip
    switch = {"Enabled": False, "AttributeName": "expires"}
    call(server, "UpdateTimeToLive", TableName="shop", TimeToLiveSpecification=switch)
    assert live(server, "diff", "shop").stdout == "do   table shop: enable time to live\n"


def test_diff_tells_what_cannot_be_done_in_place(tmp_path):
    model = json.loads((EXAMPLES / "devices.json").read_text())
    del model["Stator"]["Entities"][0]["Attributes"]
    model["Stator"]["Tables"] = []
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    lines = stator("diff", "devices", path).stdout.splitlines()
    assert any(line.startswith("note table devices: local index byValue differs") for line in lines)
    assert any(line.startswith("note entity Device has changed: PutModel in mode") for line in lines)


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
