"""README.md tells the truth: its tours run, its tables of operations and settings hold."""

import os
import pathlib
import re
import subprocess
import urllib.error
import urllib.request

import pytest

from function_target import FunctionTarget
from stator_process import operation_prefix
from test_process import Server, binary, run

README = (pathlib.Path(__file__).parents[2] / "README.md").read_text("utf-8")
TOUR_ENDPOINT = "http://127.0.0.1:8000"
TOUR_LIMIT_S = 90


def section(heading):
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", README, re.M | re.S)[1]


def code_block(heading):
    return re.search(r"^```\w*\n(.*?)^```", section(heading), re.M | re.S)[1]


def table_rows(heading):
    rows = re.findall(r"^\| (.+) \|$", section(heading), re.M)[1:]
    return [[cell.strip() for cell in row.split(" | ")] for row in rows]


def operations(state):
    """Those of the rows whose state begins so."""
    return [
        name
        for names, row_state in table_rows("What works")
        if row_state.startswith(state)
        for name in re.findall(r"\b[A-Z]\w+", re.sub(r"\(.*?\)", "", names))
    ]


SHELL = ("bash", "-euo", "pipefail")


def run_tour(text, folder, interpreter=SHELL):
    """Runs it to its end, in a folder of its own, without whatever configuration the developer has."""
    result = subprocess.run(
        interpreter,
        input=text,
        capture_output=True,
        text=True,
        timeout=TOUR_LIMIT_S,
        check=False,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


@pytest.fixture(name="server")
def fixture_server():
    with Server("--in-memory") as server:
        yield server


@pytest.mark.parametrize(
    "heading, interpreter",
    [
        ("Five minutes with the AWS CLI", SHELL),
        ("And with boto3", ["/usr/bin/python3", "-"]),
    ],
)
def test_the_tour_runs(server, tmp_path, heading, interpreter):
    text = code_block(heading)
    assert TOUR_ENDPOINT in text
    result = run_tour(text.replace(TOUR_ENDPOINT, server.url), tmp_path, interpreter)
    assert "Ege Bamyasi" in result.stdout


def test_the_tour_of_triggers_runs(server, tmp_path):
    """Up to the moment when the function has been called."""
    with FunctionTarget() as free:
        function_url = f"http://127.0.0.1:{free.port}"
    text = code_block("Triggers").replace(TOUR_ENDPOINT, server.url)
    text = text.replace("http://127.0.0.1:9000", function_url)
    text = text.replace('("127.0.0.1", 9000)', f'("127.0.0.1", {free.port})')
    text = text.replace("build/stator", binary()).replace("python3 ", "/usr/bin/python3 ")
    result = run_tour(text + "until grep -q INSERT function.log; do sleep 0.05; done; kill %1\n", tmp_path)
    assert "  Albums  http://127.0.0.1:" in result.stdout
    assert "INSERT {'Title': {'S': 'Ege Bamyasi'}}" in (tmp_path / "function.log").read_text("utf-8")


def test_the_tour_of_tls_runs(tmp_path):
    with FunctionTarget() as free:
        port = free.port
    text = code_block("TLS").replace("build/stator", binary())
    text = text.replace("stator serve ", f"stator serve --in-memory --port {port} ")
    text = text.replace("https://localhost:8000", f"https://localhost:{port}")
    result = run_tour(text + "kill %1\nwait %1\n", tmp_path)
    assert '"TableNames": []' in result.stdout


def test_the_tour_of_authentication_runs(tmp_path):
    """From nothing to a signed call, which is let in; then one that is not."""
    with FunctionTarget() as free:
        port = free.port
    text = code_block("Authentication").replace("build/stator", binary())
    text = text.replace("serve --auth", f"serve --auth --port {port}")
    text = text.replace(TOUR_ENDPOINT, f"http://127.0.0.1:{port}")
    listening = f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null"
    text = text.replace("sleep 1\n", f"trap 'kill %1' EXIT; until {listening}; do sleep 0.05; done\n")
    assert "trap" in text
    call = f"aws dynamodb list-tables --endpoint-url http://127.0.0.1:{port}"
    result = run_tour(f"{text}! AWS_SECRET_ACCESS_KEY=x {call}\n", tmp_path)
    assert '"TableNames": []' in result.stdout
    assert "InvalidSignatureException" in result.stderr
    assert (tmp_path / "alice.env").stat().st_mode & 0o077 == 0


def is_unknown(server, name):
    request = urllib.request.Request(
        server.url,
        data=b"{}",
        headers={
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"{operation_prefix(name)}.{name}",
            "Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/dynamodb/aws4_request,"
            " SignedHeaders=host, Signature=0",
            "X-Amz-Date": "20260101T000000Z",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=30):
            return False
    except urllib.error.HTTPError as answer:
        return b"UnknownOperationException" in answer.read()


def test_the_operations_that_work_are_there(server):
    names = operations("work")
    assert len(names) >= 10
    assert [name for name in names if is_unknown(server, name)] == []


def test_the_operations_that_do_not_work_are_not_there(server):
    assert [name for name in operations("not yet") if not is_unknown(server, name)] == []


def test_the_table_of_settings_is_complete_and_right():
    printed = run("--print-config", STATOR_CONFIG="")
    in_force = dict(re.findall(r"^([a-z-]+) = (.*)$", printed.stdout, re.M))
    written = {row[0].strip("`"): row[1] for row in table_rows("Settings")}
    assert written == in_force
