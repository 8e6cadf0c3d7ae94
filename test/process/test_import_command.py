"""`stator import`: files of every format into new and existing tables, by BatchWriteItem."""

import gzip
import json
import random
import subprocess

import pytest

import item_text
import stator_process
from stator_process import Connection, StatorProcess, create_table

TIMEOUT_S = 60


@pytest.fixture(scope="module")
def server():
    with StatorProcess("--in-memory") as started:
        yield started


def run(server, *words, text=None, code=0):
    done = subprocess.run(
        [stator_process.binary(), "import", *map(str, words), "--endpoint", server.url],
        capture_output=True,
        input=text,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == code, done.stderr
    return done.stdout.decode(), done.stderr.decode()


def scan(server, table):
    """All items by their partition key, with sets in order."""
    connection = Connection(server.port)
    status, answer = connection.call("Scan", {"TableName": table})
    connection.close()
    assert status == 200 and "LastEvaluatedKey" not in answer
    return {item["pk"]["S"]: json.dumps(item, sort_keys=True) for item in answer["Items"]}


def random_items(seed, count):
    rng = random.Random(seed)
    items = []
    for number in range(count):
        item = item_text.random_item(rng)
        item["pk"] = {"S": f"k{number}"}
        items.append(item)
    return items


def expected(items):
    return {
        item["pk"]["S"]: json.dumps(json.loads(item_text.json_item(item)), sort_keys=True)
        for item in items
    }


@pytest.mark.parametrize("form", ["json", "json.gz", "ion", "ion.zst"])
def test_random_items_arrive_as_they_are_in_the_file(server, tmp_path, form):
    items = random_items(form, 120)
    line = item_text.ion_line if form.startswith("ion") else item_text.json_line
    data = "".join(line(item) + "\n" for item in items).encode()
    path = tmp_path / f"items.{form}"
    if form.endswith(".gz"):
        data = gzip.compress(data)
    if form.endswith(".zst"):
        data = subprocess.run(["zstd", "-q"], input=data, stdout=subprocess.PIPE, check=True).stdout
    path.write_bytes(data)
    table = form.replace(".", "-") + "-table"
    out, _ = run(server, table, path, "--key", "pk:S")
    assert out.startswith("120 items, 0 errors, ")
    assert scan(server, table) == expected(items)


def test_csv_and_plain_json_go_into_an_existing_table(server, tmp_path):
    connection = Connection(server.port)
    create_table(connection, "people", global_={"by_n": ([("n", "N", "HASH")], "ALL")})
    connection.close()
    path = tmp_path / "people.csv"
    path.write_text('\ufeffpk;n;note\na;1;"x;y"\nb;;\n')
    run(server, "people", path, "--delimiter", ";")
    run(server, "people", "-", "--format", "JSON", text=b'{"pk":"c","n":"2","list":[1,"x",null]}\n')
    run(server, "people", "-", "--format", "CSV", "--header", "pk,n", text=b"d,3\n")
    found = {name: json.loads(item) for name, item in scan(server, "people").items()}
    assert found == {
        "a": {"pk": {"S": "a"}, "n": {"N": "1"}, "note": {"S": "x;y"}},
        "b": {"pk": {"S": "b"}},
        "c": {"pk": {"S": "c"}, "n": {"N": "2"}, "list": {"L": [{"N": "1"}, {"S": "x"}, {"NULL": True}]}},
        "d": {"pk": {"S": "d"}, "n": {"N": "3"}},
    }


def test_bad_records_are_told_and_the_others_imported(server):
    text = b'{"Item":{"pk":{"S":"a"}}}\n{"Item":{"q":{"S":"a"}}}\n{"Item":{"pk":{"S":"b"}}}\nnonsense\n'
    out, err = run(server, "some-bad", "-", "--key", "pk:S", text=text, code=1)
    assert out.startswith("2 items, 2 errors, ")
    assert err == (
        "stator: record 2: its key pk is missing, empty or not S\n"
        "stator: record 4: The record cannot be read: an object was expected\n"
    )
    assert set(scan(server, "some-bad")) == {"a", "b"}


def test_repeated_keys_are_never_in_one_batch(server):
    text = b"".join(b'{"pk":"same","n":%d}\n' % number for number in range(60))
    run(server, "repeated", "-", "--key", "pk:S", "--format", "JSON", text=text)
    assert json.loads(scan(server, "repeated")["same"])["n"] == {"N": "59"}


def test_misuse_is_told(server, tmp_path):
    for words, message in [
        (["tab"], "name a file, or --bucket, and not both"),
        (["tab", "-", "--key", "pk:X"], "--key: must be like"),
        (["tab", "-", "--format", "XML"], "--format: must be"),
        (["tab", "-", "--compression", "LZ4"], "--compression: must be"),
    ]:
        _, err = run(server, *words, text=b"", code=2)
        assert message in err
    _, err = run(server, "absent-table", "-", text=b"", code=1)
    assert "Table: absent-table not found" in err
    _, err = run(server, "tab", tmp_path / "missing", code=1)
    assert "No such file" in err
