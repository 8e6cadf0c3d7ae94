"""`stator model code`: what it generates runs, tests what it should, and is no way to inject code.

TypeScript is compiled where the packages of test/typescript/package.json are installed: `make test`
installs them if the npm registry can be reached.
"""

import ast
import copy
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/lib"))

import stator_process  # noqa: E402

EXAMPLES = ROOT / "examples/models"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.json"))
COMPILER = ROOT / "test/typescript/node_modules/typescript/bin/tsc"
SDK = ROOT / "test/api/node_modules/@aws-sdk"
LIMIT_S = 180

# What must never become code: it would end a literal or a comment, and leave a file behind.
HOSTILE = [
    '"); open("injected", "w") #',
    "'''; open('injected', 'w'); '''",
    '"""; open("injected", "w"); """',
    "*/ require('fs').writeFileSync('injected', '') /*",
    "${require('fs').writeFileSync('injected', '')}",
    "`${require('fs').writeFileSync('injected', '')}`",
    "\\",
    '\\"',
    "\nopen('injected', 'w')\n",
    "\u2028require('fs').writeFileSync('injected', '')\u2029",
    "\r\n\t\x00\x1b\x7f",
    "\u202e\u2066 right to left \u00e9 \U0001f600",
    "__proto__",
    "constructor",
    "class",
    "import",
    "1",
    "#",
    "",
]


def generate(model, language, folder, expected=0):
    done = subprocess.run(
        [stator_process.binary(), "model", "code", str(model), "--language", language, "--out", str(folder)],
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == expected, done.stderr
    return done


def example(name):
    return json.loads((EXAMPLES / f"{name}.json").read_text())


def written(folder, model):
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    return path


@pytest.fixture(name="server", scope="module")
def fixture_server():
    with stator_process.StatorProcess("--in-memory") as process:
        yield process


def environment(server):
    return {**os.environ, "AWS_ENDPOINT_URL_DYNAMODB": server.url, "AWS_EC2_METADATA_DISABLED": "true"}


def run_python(server, folder):
    return subprocess.run(
        ["/usr/bin/python3", "-m", "unittest", "test_access"],
        cwd=folder, env=environment(server), capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip


def a_wrong_expectation(name):
    """A model with one expectation that does not hold, and the name of its pattern."""
    model = example(name)
    pattern = next(p for p in model["Stator"]["Patterns"] if "Count" in p.get("Expect", {}))
    pattern["Expect"]["Count"] += 1
    return model, pattern["Name"]


# --- Python ---


@pytest.mark.parametrize("name", NAMES)
def test_generated_python_passes_its_tests(server, name, tmp_path):
    generate(name, "python", tmp_path)
    done = run_python(server, tmp_path)
    assert done.returncode == 0, done.stderr
    model = example(name)["Stator"]
    count = len(model["Patterns"]) + len(model["Entities"])
    assert f"Ran {count} tests" in done.stderr
    assert "skipped" not in done.stderr


def test_a_wrong_expectation_fails_the_python_test(server, tmp_path):
    model, _ = a_wrong_expectation("orders")
    generate(written(tmp_path, model), "python", tmp_path)
    done = run_python(server, tmp_path)
    assert done.returncode == 1
    assert "FAILED (failures=1)" in done.stderr


def test_a_wrong_key_or_entity_or_page_count_fails_the_python_test(server, tmp_path):
    model = example("orders")
    patterns = {p["Name"]: p for p in model["Stator"]["Patterns"]}
    patterns["Open orders, oldest first"]["Expect"]["Keys"].reverse()
    patterns["Lines of an order"]["Expect"]["Entities"] = ["Order"]
    patterns["Orders of a customer, newest first"]["Expect"]["Pages"] = 2
    patterns["Place an order"]["Expect"] = {"Refused": True}
    del patterns["Place an order twice"]["Expect"]
    generate(written(tmp_path, model), "python", tmp_path)
    done = run_python(server, tmp_path)
    assert "FAILED (failures=4, errors=1)" in done.stderr, done.stderr


def test_python_tests_are_skipped_without_an_endpoint(tmp_path):
    generate("orders", "python", tmp_path)
    variables = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    done = subprocess.run(["/usr/bin/python3", "-m", "unittest", "test_access"], cwd=tmp_path,
                          env=variables, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0 and "skipped=11" in done.stderr


# --- Every type of key and value ---


def every_type():
    """A model with numbers, binary, sets and nested values in keys, attributes and expressions."""
    def attribute(name, kind):
        return {"AttributeName": name, "AttributeType": kind}

    row = {
        "id": {"B": "AP9hIw=="}, "at": {"N": "12345678901234567890123456789012345678"},
        "kind": {"S": "event"}, "s": {"S": "\u00e9\U0001f600\n\"\\"}, "n": {"N": "0.1"}, "b": {"B": "AAEC"},
        "yes": {"BOOL": True}, "no": {"NULL": True}, "l": {"L": [{"N": "1"}, {"L": []}, {"S": ""}]},
        "m": {"M": {"__proto__": {"S": "x"}, "deep": {"M": {"n": {"N": "-7"}}}}},
        "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "12345678901234567890123456789012345678"]},
        "bs": {"BS": ["AA==", "/w=="]}, "score": {"N": "42"}, "rank": {"S": "SCORE#0042"},
    }  # fmt: skip
    types = {"s": "S", "n": "N", "b": "B", "yes": "BOOL", "no": "NULL", "l": "L", "m": "M",
             "ss": "SS", "ns": "NS", "bs": "BS", "score": "N"}  # fmt: skip
    key = {name: row[name] for name in ("id", "at")}
    other = {**row, "at": {"N": "2"}}
    keys = {"PartitionKey": "<id>", "SortKey": "<at>"}
    update = "SET #m = :m, l = list_append(l, :l) ADD ss :ss, ns :ns DELETE bs :bs"
    values = {":m": row["m"], ":l": row["l"], ":ss": row["ss"], ":ns": row["ns"], ":bs": {"BS": ["AA=="]}}
    return {
        "ModelName": "types",
        "ModelMetadata": {"Version": "3.0"},
        "DataModel": [{
            "TableName": "types", "BillingMode": "PAY_PER_REQUEST", "TableData": [row, other],
            "KeyAttributes": {"PartitionKey": attribute("id", "B"), "SortKey": attribute("at", "N")},
            "GlobalSecondaryIndexes": [{
                "IndexName": "byRank", "Projection": {"ProjectionType": "KEYS_ONLY"},
                "KeyAttributes": {"PartitionKey": attribute("rank", "S")}}]}],
        "Stator": {
            "Entities": [{
                "Name": "Event", "Discriminator": {"Attribute": "kind", "Value": "event"},
                "Keys": [keys, {"Index": "byRank", "PartitionKey": "SCORE#<score>"}],
                "Attributes": [{"Name": n, "Type": t, "Required": n in "sn"} for n, t in types.items()]}],
            "Patterns": [
                {"Name": "One", "Operation": "GetItem", **keys, "Entities": ["Event"],
                 "Parameters": {"id": "AP9hIw==", "at": 2}, "Expect": {"Count": 1, "Entities": ["Event"]}},
                {"Name": "Until", "Operation": "Query", "PartitionKey": "<id>", "SortKey": {"Between": ["<from>", "<to>"]},
                 "Parameters": {"id": "AP9hIw==", "from": "1", "to": "1e38"}, "Filter": "m = :m AND contains(bs, :b)",
                 "Values": {":m": row["m"], ":b": {"B": "/w=="}}, "Expect": {"Count": 2, "Keys": [
                     {"id": row["id"], "at": {"N": "2"}}, key]}},
                {"Name": "Ranked", "Operation": "Query", "Index": "byRank", "PartitionKey": "SCORE#<score>",
                 "Parameters": {"score": "0042"}, "Expect": {"Count": 2}},
                {"Name": "All", "Operation": "Scan", "AllowScan": True, "Expect": {"Keys": [key, {"id": row["id"], "at": {"N": "2"}}]}},
                {"Name": "One a page", "Operation": "Query", "PartitionKey": "<id>", "Limit": 1,
                 "Parameters": {"id": "AP9hIw=="}, "Expect": {"Count": 1, "Pages": 1}},
                {"Name": "Change", "Operation": "UpdateItem", **keys, "Parameters": {"id": "AP9hIw==", "at": "2"},
                 "Update": update, "Names": {"#m": "m"}, "Values": values},
                {"Name": "Store", "Operation": "PutItem", "Item": {**row, "at": {"N": "3"}}},
                {"Name": "Remove", "Operation": "DeleteItem", **keys, "Condition": "attribute_exists(yes)",
                 "Parameters": {"id": "AP9hIw==", "at": "3"}},
                {"Name": "Remove nothing", "Operation": "DeleteItem", **keys, "Condition": "attribute_exists(yes)",
                 "Parameters": {"id": "AP9hIw==", "at": "4"}, "Expect": {"Refused": True}},
            ],
        },
    }  # fmt: skip


def test_python_has_every_type_of_key_and_value(server, tmp_path):
    generate(written(tmp_path, every_type()), "python", tmp_path)
    done = run_python(server, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Ran 10 tests" in done.stderr


def test_builders_refuse_values_that_would_be_other_keys(tmp_path):
    generate("orders", "python", tmp_path)
    script = """
import access
for value in ("", "c1#ORDER", "#"):
    try:
        access.new_customer(customer_id=value, name="n", email="e")
    except ValueError as error:
        assert str(error) == "customerId must not be empty or contain #", error
    else:
        raise SystemExit(f"{value} is accepted")
built = access.new_order(customer_id="c", date="d", order_id="o", status="s", total=1,
                         omit_indexes=["byStatus"])
assert "GSI1PK" not in built and built["SK"] == "ORDER#d#o", built
"""
    subprocess.run(["/usr/bin/python3", "-c", script], cwd=tmp_path, check=True, timeout=LIMIT_S)


# --- Untrusted names and texts ---


def hostile(texts, has_names=False):
    """The orders model in which the texts are in every name and text, in turn. has_names: also in the
    names of table and index and in expressions, which no server accepts."""
    model = example("orders")
    table = model["DataModel"][0]
    texts, count = itertools.cycle(texts), itertools.count()
    renamed = {}

    def attribute(name):
        """Templates and conditions name the keys: these stay simple."""
        if name not in renamed:
            renamed[name] = name + ("x" if name[-1] in "Ke" else next(texts))
        return renamed[name]

    def item(values):
        return {attribute(name): value for name, value in values.items()}

    model["ModelName"] = "m" + next(texts)
    model["ModelMetadata"]["Description"] = model["ModelMetadata"]["Author"] = next(texts)
    index = table["GlobalSecondaryIndexes"][0]
    for key in (table["KeyAttributes"], index["KeyAttributes"]):
        for part in key.values():
            part["AttributeName"] = attribute(part["AttributeName"])
    for part in table["NonKeyAttributes"]:
        part["AttributeName"] = attribute(part["AttributeName"])
    index["Projection"]["NonKeyAttributes"] = list(map(attribute, index["Projection"]["NonKeyAttributes"]))
    table["TableData"] = [item(row) for row in table["TableData"]]
    for row in table["TableData"]:
        for name in row:
            if name.startswith("email"):
                row[name] = {"M": {next(texts) + "k": {"L": [{"S": next(texts)}]}}}
    entities = {}
    for entity in model["Stator"]["Entities"]:
        entities[entity["Name"]] = entity["Name"] = entity["Name"] + next(texts)
        entity["Discriminator"]["Attribute"] = attribute(entity["Discriminator"]["Attribute"])
        for part in entity["Attributes"]:
            part["Name"] = attribute(part["Name"])
            part.pop("Type")
    for pattern in model["Stator"]["Patterns"]:
        pattern["Name"] = f"p{next(count)}{next(texts)}"
        pattern["Entities"] = [entities[name] for name in pattern["Entities"]]
        expect = pattern.get("Expect", {})
        if "Entities" in expect:
            expect["Entities"] = [entities[name] for name in expect["Entities"]]
        if "Keys" in expect:
            expect["Keys"] = [item(key) for key in expect["Keys"]]
        if "Attributes" in pattern:
            pattern["Attributes"] = [attribute(name) for name in pattern["Attributes"]]
        if "Item" in pattern:
            pattern["Item"] = item(pattern["Item"])
            pattern["Condition"] = "attribute_not_exists(PKx)"
    if has_names:
        table["TableName"] = "t" + next(texts)
        index["IndexName"] = model["Stator"]["Entities"][1]["Keys"][1]["Index"] = "i" + next(texts)
        for pattern in model["Stator"]["Patterns"]:
            if "Index" in pattern:
                pattern["Index"] = index["IndexName"]
            pattern["Filter"] = pattern["Update"] = next(texts) + "f"
            pattern["Names"] = {"#n" + next(texts): next(texts) + "n"}
            pattern["Values"] = {":v" + next(texts): {"S": next(texts)}}
            if pattern["Operation"] == "GetItem":
                pattern["SortKey"] = "PROFILE" + next(texts).replace("${", "{")
    return model


def masked_python(text):
    """The structure of a program, without what literals say and how names are spelled."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for field in ("id", "name", "arg", "attr"):
            if isinstance(getattr(node, field, None), str):
                setattr(node, field, "x")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = "x"
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            raise AssertionError("no such statement is generated")
    return ast.dump(tree)


TOKENS = re.compile(
    r"""/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\w+|\s+|.""", re.S)


def masked_typescript(text):
    tokens = [token for token in TOKENS.findall(text) if not token.isspace() and token[:2] not in ("/*", "//")]
    return ["x" if re.match(r'["\w]', token) else token for token in tokens]


MASKS = {"python": ("access.py", "test_access.py", masked_python),
         "typescript": ("access.ts", "access.test.ts", masked_typescript)}  # fmt: skip


@pytest.mark.parametrize("has_names", [False, True], ids=["data", "names"])
@pytest.mark.parametrize("language", sorted(MASKS))
def test_hostile_texts_do_not_change_the_structure_of_the_program(language, has_names, tmp_path):
    access, tests, mask = MASKS[language]
    wanted = None
    for number, text in enumerate(["x", *HOSTILE]):
        folder = tmp_path / str(number)
        folder.mkdir()
        generate(written(folder, hostile([text], has_names)), language, folder)
        texts = [(folder / name).read_bytes() for name in (access, tests)]
        assert all(byte == 10 or 32 <= byte < 127 for byte in texts[0] + texts[1]), text
        structure = [mask(text.decode()) for text in texts]
        wanted = wanted or structure
        assert structure == wanted, text


def test_hostile_models_pass_their_generated_python_tests(server, tmp_path):
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        generate(written(folder, hostile(HOSTILE[number * 7 :] + HOSTILE[: number * 7])), "python", folder)
        done = run_python(server, folder)
        assert done.returncode == 0, done.stderr
        assert "Ran 11 tests" in done.stderr
        assert not (folder / "injected").exists()


def test_names_are_safe_and_differ(tmp_path):
    model = example("orders")
    stator = model["Stator"]
    pattern = stator["Patterns"][0]
    names = ["class", "class ", "Class", "import", "None", "database", "1st", "order", "Order", "\u00e9", "!", "!!",
             "new Order", "_encode", "Results", "Promise", "await", "request", "x" * 255]  # fmt: skip
    stator["Patterns"] = [{**copy.deepcopy(pattern), "Name": name} for name in names]
    stator["Entities"] += [{"Name": name, "Keys": [{"PartitionKey": f"E{i}"}]} for i, name in enumerate(names)
                           if name != "Order"]  # fmt: skip
    path = written(tmp_path, model)
    generate(path, "python", tmp_path)
    generate(path, "typescript", tmp_path)
    tree = ast.parse((tmp_path / "access.py").read_text())
    found = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    found += [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)]
    assert len(found) == len(set(found))
    for name in ("class_", "class_2", "class_3", "import_", "none", "n1st", "unnamed", "unnamed_2", "unnamed_3",
                 "encode", "Results_", "order", "order_2", "new_order", "request_"):  # fmt: skip
        assert name in found, (name, found)
    exported = re.findall(r"^export (?:async )?(?:function|interface|class|type) (\w+)",
                          (tmp_path / "access.ts").read_text(), re.M)  # fmt: skip
    assert len(exported) == len(set(exported))
    assert {"class_", "import_", "Promise_", "await_", "request_", "newOrder"} <= set(exported)


# --- TypeScript ---


def missing():
    """Why TypeScript cannot be compiled here, or None."""
    if shutil.which("node") is None:
        return "there is no Node.js"
    if not COMPILER.exists():
        return "TypeScript is not installed: npm ci in test/typescript"
    if not SDK.exists():
        return "the AWS SDK is not installed: npm ci in test/api"
    return None


needs_typescript = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def compile_typescript(folder, names):
    """Compiles the generated files of several folders in one run, strictly."""
    modules = folder / "node_modules"
    modules.mkdir()
    (modules / "@aws-sdk").symlink_to(SDK)
    (modules / "@types").symlink_to(COMPILER.parents[2] / "@types")
    options = {"target": "ES2022", "module": "commonjs", "moduleResolution": "node10", "strict": True,
               "noImplicitReturns": True, "noUnusedParameters": True, "skipLibCheck": True, "types": ["node"],
               "rootDir": ".", "outDir": "."}  # fmt: skip
    files = [f"{name}/{file}" for name in names for file in ("access.ts", "access.test.ts")]
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": files}))
    done = subprocess.run(["node", str(COMPILER), "-p", "."], cwd=folder, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout


def run_typescript(server, folder, names):
    """Each file is a process of its own; they are slow to start, so all are given at once."""
    return subprocess.run(["node", "--test", *(f"{name}/access.test.js" for name in names)], cwd=folder,
                          env=environment(server), capture_output=True, text=True, timeout=LIMIT_S,
                          check=False)  # fmt: skip


@needs_typescript
def test_generated_typescript_compiles_strictly_and_passes_its_tests(server, tmp_path):
    wrong, pattern = a_wrong_expectation("orders")
    models = {name: example(name) for name in NAMES}
    models["types"] = every_type()
    models["hostile"] = hostile(HOSTILE)
    count = sum(len(m["Stator"]["Patterns"]) + len(m["Stator"]["Entities"]) for m in models.values())
    others = {"wrong": wrong, "names": hostile(HOSTILE, has_names=True)}
    for name, model in {**models, **others}.items():
        (tmp_path / name).mkdir()
        generate(written(tmp_path / name, model), "typescript", tmp_path / name)
    compile_typescript(tmp_path, [*models, *others])
    done = run_typescript(server, tmp_path, models)
    assert done.returncode == 0, done.stdout
    assert f"# pass {count}\n" in done.stdout, done.stdout
    done = run_typescript(server, tmp_path, ["wrong"])
    assert done.returncode == 1
    assert "# fail 1\n" in done.stdout and f"not ok 1 - {pattern}\n" in done.stdout, done.stdout
    assert not list(tmp_path.rglob("injected"))


# --- The command ---


def test_code_is_printed_without_a_folder():
    done = subprocess.run([stator_process.binary(), "model", "code", "orders", "--language", "python"],
                          capture_output=True, text=True, timeout=LIMIT_S, check=True)  # fmt: skip
    assert "def place_an_order(" in done.stdout


@pytest.mark.parametrize("arguments", [[], ["--language", "cobol"]])
def test_an_unknown_language_is_refused(arguments):
    done = subprocess.run([stator_process.binary(), "model", "code", "orders", *arguments],
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "stator: --language: is python or typescript\n")


def test_a_value_that_the_functions_would_refuse_is_told(tmp_path):
    model = example("orders")
    model["Stator"]["Patterns"][0]["Parameters"]["customerId"] = "c#1"
    done = generate(written(tmp_path, model), "python", tmp_path, expected=1)
    assert "pattern Profile of a customer: the parameter customerId is empty or contains #" in done.stderr
    model = example("shop")
    pattern = next(p for p in model["Stator"]["Patterns"] if "Values" in p)
    pattern["Values"] = {":one": {"N": "one"}}
    assert "Values" in generate(written(tmp_path, model), "python", tmp_path, expected=1).stderr


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    done = generate("orders", "python", tmp_path / "file", expected=1)
    assert "file: Not a directory" in done.stderr
