"""The documents tell the truth: their snippets run, their tables and links hold.

A fenced block is `sh` or `python`, and is run; or `json`, and is parsed; or `text`, and is only
read. What cannot run has a line `<!-- not run: REASON -->` before its fence. The blocks of one `##`
section are run in order, as one script, in an empty folder in which `build/stator` is the server to
test. Unless the section starts a server itself, one is running on ./data; with
`<!-- server: stopped -->` before a block of the section, that one has been stopped. Ports 8000 and
9000 stand for free ones.
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request

import pytest

from stator_process import operation_prefix
from test_process import Server, binary, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [
    str(path.relative_to(ROOT))
    for pattern in ("*.md", "doc/*.md", "bench/*.md", "test/*.md", "test/crash/*.md")
    for path in sorted(ROOT.glob(pattern))
]
LINKED = [*DOCUMENTS, *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("src/**/*.md")))]
LINES_MAX = 700  # Of a document; split a longer one by subject.
SNIPPET_LIMIT_S = 300
STARTS_A_SERVER = re.compile(r"build/stator (serve|-)")

# What the snippets of a section must print.
PRINTED = {
    ("README.md", "Ten lines with the AWS CLI"): ["Ege Bamyasi"],
    ("doc/getting-started.md", "Use the AWS CLI"): ["Ege Bamyasi", '"Plays"', '"Count": 1', "records"],
    ("doc/getting-started.md", "Use boto3"): ["Tago Mago", "Ege Bamyasi"],
    ("doc/getting-started.md", "Move from DynamoDB Local"): ["ok"],
    ("doc/capacity.md", "Try it"): ["writes, then: ProvisionedThroughputExceededException"],
    ("doc/capacity.md", "What each mode would cost"): ["Priced, on demand, ", '"NotJudged":'],
    ("doc/faults.md", "Try it"): [
        "throttled: 1 retry, n = 1", "lost: 1 retry, n = 3", "with a token: n = 4", "1 of 1 requests",
    ],
    ("doc/recovery.md", "Export a table"): [
        "nightly/AWSDynamoDB/", "manifest-summary.json", '{"Item":{"Artist":{"S":"Can"}', "Can,Tago Mago,1971",
    ],
    ("doc/templates.md", "Try it"): [
        "created table orders-dev (id S; on demand)", "no change of table orders-dev",
        "      ~ billing  PAY_PER_REQUEST -> PROVISIONED 5/5\n      ~ time to live  expires -> off\n",
        "    Handler  skipped: AWS::Serverless::Function", "orders.Arn = arn:aws:dynamodb:",
    ],
    ("doc/templates.md", "In CI and compose"): ['"Albums"'],
    ("doc/testing.md", "pytest"): ["1 passed"],
    ("doc/triggers.md", "Try it"): ["INSERT {'Title': {'S': 'Ege Bamyasi'}}", "  Albums  http://"],
    ("doc/recovery.md", "Point-in-time recovery"): ["recovery is ENABLED", "MODIFY  {", "INSERT  {", "\n75\n"],
    ("doc/insights.md", "Try it"): ["['Can'] 9.0", "'ErrorMax': 0.0"],
    ("doc/monitoring.md", "Alarms and dashboards"): ["Unchecked: Initial alarm creation"],
    ("doc/recovery.md", "Backups of tables"): ["Ege Bamyasi"],
    ("doc/recovery.md", "Import"): ["COMPLETED 2 items"],
    ("doc/recovery.md", "Import from files, and into tables that exist"): ["1 items, 0 errors"],
    ("doc/operations.md", "TLS"): ['"TableNames": []'],
    ("doc/operations.md", "Access keys and policies"): ['"TableNames": []', "alice"],
    ("doc/operations.md", "Back up and restore"): [": no problems"],
    ("doc/operations.md", "Check a store"): [": no problems"],
}


def text_of(document):
    return (ROOT / document).read_text("utf-8")


def blocks(text):
    """(language, marker, code) of each fenced block; the marker is the comment before it."""
    pattern = r"^(?:<!-- (.*?) -->\n)?^```(.*)\n((?:.*\n)*?)^```$"
    return [(block[2], block[1] or "", block[3]) for block in re.finditer(pattern, text, re.M)]


def sections(document):
    """{heading: text}; what comes before the first heading is under ""."""
    parts = re.split(r"^## (.*)\n", text_of(document), flags=re.M)
    return dict(zip(["", *parts[1::2]], parts[::2]))


def is_run(block):
    return block[0] in ("sh", "python") and not block[1].startswith("not run: ")


RUNNABLE = [
    (document, heading)
    for document in DOCUMENTS
    for heading, text in sections(document).items()
    if any(is_run(block) for block in blocks(text))
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_snippet_has_a_language_and_runs_or_says_why_not(document):
    for language, marker, code in blocks(text_of(document)):
        assert language in ("sh", "python", "json", "text"), code
        if language == "json":
            json.loads(code)
        assert not marker.startswith("not run") or re.fullmatch(r"not run: .{10,}", marker), marker
    prose = re.sub(r"^```.*?^```$", "", text_of(document), flags=re.M | re.S)
    assert "```" not in prose
    indented = re.findall(r"\n\n    .*", prose)
    assert [line for line in indented if not line.lstrip().startswith(("-", "|"))] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_is_short_and_has_no_heading_twice(document):
    text = text_of(document)
    headings = re.findall(r"^## .*$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    assert len(text.splitlines()) <= LINES_MAX
    assert [heading for heading in set(headings) if headings.count(heading) > 1] == []


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def run_script(command, folder, **variables):
    """Runs it to its end, without the developer's own configuration; ends what it left behind."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {"PATH": f"/usr/bin:/bin:{os.environ['PATH']}", "HOME": str(home), **variables}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=SNIPPET_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"no end after {SNIPPET_LIMIT_S} s: {error.stdout}")
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    assert process.returncode == 0, output
    return output


def run_blocks(runnable, folder, port):
    second_port = free_port()

    def local(code):
        return re.sub(r"\b9000\b", str(second_port), re.sub(r"\b8000\b", str(port), code))

    output = ""
    shell = "\n".join(local(code) for language, _, code in runnable if language == "sh")
    if shell:
        script = ["bash", "-euo", "pipefail", "-c", shell]
        output += run_script(script, folder, STATOR_PORT=str(port))
    for language, _, code in runnable:
        if language == "python":
            output += run_script(["/usr/bin/python3", "-c", local(code)], folder)
    return output


@pytest.mark.parametrize("document, heading", RUNNABLE)
def test_the_snippets_of_a_section_run(document, heading, tmp_path):
    runnable = [block for block in blocks(sections(document)[heading]) if is_run(block)]
    (tmp_path / "build").mkdir()
    (tmp_path / "build/stator").symlink_to(pathlib.Path(binary()).resolve())
    if any(STARTS_A_SERVER.search(code) for _, _, code in runnable):
        output = run_blocks(runnable, tmp_path, free_port())
    else:
        with Server("--data-dir", str(tmp_path / "data")) as server:
            if any(marker == "server: stopped" for _, marker, _ in runnable):
                assert server.end()[0] == 0
            output = run_blocks(runnable, tmp_path, server.port)
    for text in PRINTED.get((document, heading), []):
        assert text in output, output


def test_the_sections_that_must_print_something_are_there():
    assert set(PRINTED) <= set(RUNNABLE)


def test_a_server_with_auth_refuses_what_the_snippets_did_not_sign(tmp_path):
    """The snippet of operations.md once more; then a call with another secret."""
    runnable = [
        block for block in blocks(sections("doc/operations.md")["Access keys and policies"]) if is_run(block)
    ]
    first = runnable[0][2] + (
        "! AWS_SECRET_ACCESS_KEY=x aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000\n"
        "kill %1\n"
    )
    (tmp_path / "build").mkdir()
    (tmp_path / "build/stator").symlink_to(pathlib.Path(binary()).resolve())
    output = run_blocks([("sh", "", first)], tmp_path, free_port())
    assert "InvalidSignatureException" in output
    for name in ("master.key", "alice.env"):
        assert (tmp_path / "home/stator-keys" / name).stat().st_mode & 0o077 == 0


def test_each_make_target_that_a_document_names_exists():
    rules = text_of("Makefile") + text_of("packaging/packages.mk")
    targets = set(re.findall(r"^([a-z-]+):", rules, re.M))
    for document in DOCUMENTS:
        if document == "CHANGELOG.md":  # Of releases that had others.
            continue
        # A name that a slash follows is a file, which make knows by its pattern rules.
        named = re.findall(r"(?:^|`|sudo )make ([a-z-]+)(?![a-z/-])", text_of(document), re.M)
        assert [name for name in named if name not in targets] == [], document


# --- Links ---


def anchors(document):
    """As GitHub makes them of headings."""
    text = re.sub(r"^```.*?^```$", "", text_of(document), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", LINKED)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(document)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = ((ROOT / document).parent / path).resolve() if path else ROOT / document
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(str(file.relative_to(ROOT))), target


# --- Names of the code ---

ABOUT_THE_CODE = ("architecture", "bounds", "concurrency", "data", "disk-format",
                  "disk-format-monitoring", "durability", "security")
NOT_OURS = ("console/", "checkpoint/", "CURLOPT_QUICK_EXIT", "http_proxy")  # Or not there yet.
FOLDERS = ("", "src", "src/api", "src/engine", "test", "test/unit", "test/process", "doc")


def all_code():
    files = [path for folder in ("src", "test/lib") for path in (ROOT / folder).rglob("*.[chp]*")]
    return "\n".join(path.read_text("utf-8") for path in files if path.suffix in (".c", ".h", ".py"))


def is_file(name):
    """With or without its folder; a test without its ending."""
    endings = ("", ".c", ".py") if re.search("test_|bench_", name) else ("",)
    if "/" not in name and name.endswith((".c", ".h")):
        return any((ROOT / "src").rglob(name)) or any((ROOT / "test").rglob(name))
    return any((ROOT / folder / f"{name}{end}").exists() for folder in FOLDERS for end in endings)


@pytest.mark.parametrize("document", [f"doc/{name}.md" for name in ABOUT_THE_CODE])
def test_files_functions_and_constants_that_a_document_names_exist(document):
    code = all_code()
    missing = []
    for name in sorted(set(re.findall(r"`([^`\n]+)`", text_of(document)))):
        if name in NOT_OURS:
            continue
        if re.fullmatch(r"[\w./-]+\.(c|h|py)|[a-z_]+(/[a-z_0-9]+)+|[a-z_]+(/[a-z_]+)*/", name):
            missing += [] if is_file(name.rstrip("/")) else [name]
        elif re.fullmatch(r"[A-Z][A-Z0-9*]*(_[A-Z0-9*]+)+|[a-z]+(_[a-z0-9]+)+", name):
            missing += [] if name.split("*")[-1] in code else [name]
    assert not missing, missing


# --- Operations and settings ---


def table_rows(document, heading):
    rows = re.findall(r"^\| (.+) \|$", sections(document)[heading], re.M)[1:]
    return [[cell.strip() for cell in row.split(" | ")] for row in rows]


def operations(is_there):
    """Without those of other services, whose rows begin with "CloudWatch:" and the like."""
    return [
        name
        for names, state in table_rows("README.md", "What works")
        if is_there == (not state.startswith("not yet")) and ":" not in names
        for name in re.findall(r"\b[A-Z]\w+", names)
    ]


@pytest.fixture(name="server")
def fixture_server():
    with Server("--in-memory") as server:
        yield server


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


def test_the_operations_that_work_are_there_and_complete(server):
    names = operations(True)
    assert [name for name in names if is_unknown(server, name)] == []
    listed = re.findall(r'^ +X\(\w+, "(\w+)"\)', text_of("src/api/operation_list.h"), re.M)
    assert sorted(names) == sorted(listed)


def test_the_operations_that_do_not_work_are_not_there(server):
    names = operations(False)
    assert names
    assert [name for name in names if not is_unknown(server, name)] == []


def test_the_table_of_settings_is_complete_and_right():
    printed = run("--print-config", STATOR_CONFIG="")
    in_force = dict(re.findall(r"^([a-z0-9-]+) = (.*)$", printed.stdout, re.M))
    written = {row[0].strip("`"): row[1] for row in table_rows("doc/configuration.md", "Settings")}
    assert written == in_force
