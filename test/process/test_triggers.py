"""Triggers of a running server: the command, the event, failures and what becomes of them."""

import json
import pathlib
import subprocess
import threading
import time

import pytest

from function_target import FunctionTarget
from stator_process import Connection, StatorProcess, binary, check

DEADLINE_S = 60
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def trigger(server, *words):
    return subprocess.run(
        [binary(), "trigger", *words, "--endpoint", server.url],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def add_trigger(server, target, *words):
    result = trigger(server, "add", "--table", "orders", "--url", target.url, *words)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def create_table(server, stream=STREAM):
    body = {
        "TableName": "orders",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "p", "AttributeType": "S"},
            {"AttributeName": "s", "AttributeType": "S"},
        ],
        "KeySchema": [
            {"AttributeName": "p", "KeyType": "HASH"},
            {"AttributeName": "s", "KeyType": "RANGE"},
        ],
    }
    call(server, "CreateTable", {**body, "StreamSpecification": stream} if stream else body)


def call(server, operation, body):
    connection = Connection(server.port)
    status, answer = connection.call(operation, body)
    connection.close()
    assert status == 200, answer
    return answer


def key_of(name):
    """All items have one partition key, so that their records come in order."""
    return {"p": {"S": "x"}, "s": {"S": name}}


def put(server, name, value=0):
    item = {**key_of(name), "v": {"N": str(value)}}
    call(server, "PutItem", {"TableName": "orders", "Item": item})


def keys(records):
    return [record["dynamodb"]["Keys"]["s"]["S"] for record in records]


def wait_for(condition, what):
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


@pytest.fixture(name="server")
def fixture_server(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path / "data")) as server:
        create_table(server)
        yield server


def test_a_function_gets_the_event_that_lambda_sends(server):
    with FunctionTarget() as target:
        uuid = add_trigger(server, target)
        put(server, "a", 1)
        wait_for(lambda: len(target.delivered()) == 1, "no delivery")
        record = target.delivered()[0]
        arn = call(server, "DescribeTable", {"TableName": "orders"})["Table"]["LatestStreamArn"]
        assert record["eventSourceARN"] == arn
        assert record["dynamodb"]["NewImage"] == {**key_of("a"), "v": {"N": "1"}}
        assert "OldImage" not in record["dynamodb"] and "userIdentity" not in record
        assert list(record) == [
            *("eventID", "eventName", "eventVersion", "eventSource", "awsRegion"),
            *("dynamodb", "eventSourceARN"),
        ]
        line = trigger(server, "list").stdout
        assert line == f"{uuid}  orders  {target.url}  Enabled  OK\n"


def has_loaded_curl(server):
    return "libcurl" in pathlib.Path(f"/proc/{server.pid}/maps").read_text()


def test_libcurl_is_loaded_with_the_first_trigger(server):
    """It brings 26 libraries, which an idle server shall not pay for."""
    put(server, "a")
    assert not has_loaded_curl(server)
    with FunctionTarget() as target:
        add_trigger(server, target)
        wait_for(target.delivered, "no delivery")
        assert has_loaded_curl(server)


def test_a_trigger_that_was_removed_calls_no_more(server):
    with FunctionTarget() as target:
        uuid = add_trigger(server, target)
        put(server, "a")
        wait_for(target.delivered, "no delivery")
        assert trigger(server, "remove", uuid).returncode == 0
        assert trigger(server, "list").stdout == ""
        again = trigger(server, "remove", uuid)
        assert again.returncode == 1
        assert again.stderr == (
            f"stator: Requested resource not found: Trigger: {uuid} not found\n"
        )
        put(server, "b")
        with FunctionTarget() as other:
            add_trigger(server, other, "--starting-position", "TRIM_HORIZON")
            wait_for(lambda: keys(other.delivered()) == ["a", "b"], "the second trigger stands still")
        assert keys(target.delivered()) == ["a"]


def test_latest_begins_with_what_comes_after_it(server):
    put(server, "before")
    with FunctionTarget() as target:
        add_trigger(server, target, "--starting-position", "LATEST")
        put(server, "after")
        wait_for(target.delivered, "no delivery")
        assert keys(target.delivered()) == ["after"]


def test_filters_drop_records_and_the_position_moves_on(server, tmp_path):
    with FunctionTarget() as target:
        add_trigger(
            server, target,
            "--filter", '{"dynamodb":{"NewImage":{"v":{"N":["1"]}}}}',
            "--filter", '{"eventName":["REMOVE"]}',
        )  # fmt: skip
        for value in range(3):
            put(server, f"key-{value}", value)
        call(server, "DeleteItem", {"TableName": "orders", "Key": key_of("key-2")})
        wait_for(lambda: len(target.delivered()) == 2, "no delivery")
        assert keys(target.delivered()) == ["key-1", "key-2"]
    server.stop()
    assert check(tmp_path / "data").returncode == 0


def test_a_batch_waits_for_its_window_or_until_it_is_full(server):
    with FunctionTarget() as target:
        add_trigger(server, target, "--batch-window", "300", "--batch-size", "3")
        for key in "abc":
            put(server, key)
        wait_for(target.snapshot, "no delivery")
        assert [keys(records) for records, _ in target.snapshot()] == [["a", "b", "c"]]


def poison(records):
    refused = any(record["dynamodb"]["Keys"]["s"]["S"].startswith("bad") for record in records)
    return (500, "no") if refused else (200, "null")


def dead_letters(directory, name):
    path = directory / "data" / "dead-letters" / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def test_bisecting_finds_what_the_function_refuses_and_delivers_the_rest(server, tmp_path):
    with FunctionTarget(poison) as target:
        for number in range(20):
            put(server, f"{'bad' if number in (3, 4, 17) else 'good'}-{number:02}")
        uuid = add_trigger(server, target, "--bisect", "--max-retries", "1", "--dead-letters", "d.jsonl")
        wait_for(lambda: len(target.delivered()) == 17, "good records are missing")
        wait_for(lambda: len(dead_letters(tmp_path, "d.jsonl")) == 3, "dead letters are missing")
        letters = dead_letters(tmp_path, "d.jsonl")
        assert keys([letter["record"] for letter in letters]) == ["bad-03", "bad-04", "bad-17"]
        assert keys(target.delivered()) == sorted(keys(target.delivered()))
        for letter in letters:
            assert letter["trigger"] == uuid
            assert letter["condition"] == "RetryAttemptsExhausted"
            assert letter["failures"] == 2
        for name in ("bad-03", "bad-17"):
            alone = [records for records, _ in target.snapshot() if keys(records) == [name]]
            assert len(alone) == 2  # Once, and one retry.


def test_a_dead_letter_file_is_replaced_at_its_bound(tmp_path):
    bound = 16 << 20
    with StatorProcess(
        "--data-dir", str(tmp_path / "data"), "--dead-letters-max", "16M"
    ) as server, FunctionTarget(poison) as target:  # fmt: skip
        create_table(server)
        add_trigger(server, target, "--max-retries", "0", "--dead-letters", "d.jsonl")
        folder = tmp_path / "data" / "dead-letters"
        number = 0
        while not (folder / "d.jsonl~").exists():
            assert number * 300_000 < 3 * bound
            item = {**key_of(f"bad-{number}"), "v": {"S": "x" * 300_000}}
            call(server, "PutItem", {"TableName": "orders", "Item": item})
            number += 1
            wait_for(lambda: len(target.snapshot()) >= number, "not called")
        assert bound // 2 < (folder / "d.jsonl~").stat().st_size <= bound
        assert "dead letters: 'd.jsonl' would exceed 16777216 bytes" in server.log()


def test_a_function_that_reports_failures_gets_the_rest_again(server):
    failed = set()

    def decide(records):
        for record in records:
            number = record["dynamodb"]["SequenceNumber"]
            if record["dynamodb"]["Keys"]["s"]["S"] == "c" and number not in failed:
                failed.add(number)
                return 200, json.dumps({"batchItemFailures": [{"itemIdentifier": number}]})
        return 200, '{"batchItemFailures":[]}'

    for key in "abcd":
        put(server, key)
    with FunctionTarget(decide) as target:
        add_trigger(server, target, "--report-failures")
        wait_for(lambda: len(target.snapshot()) == 2, "no second call")
        assert [keys(records) for records, _ in target.snapshot()] == [list("abcd"), list("cd")]


@pytest.mark.parametrize(
    "answer",
    [
        (500, "null"),
        (404, "null"),
        (200, '{"errorMessage":"no","errorType":"Error","trace":[]}'),
        (200, "2026-01-01 Task timed out after 3.00 seconds"),
        None,
    ],
)
def test_whatever_is_no_success_is_tried_again(server, answer):
    answers = [answer, answer]
    with FunctionTarget(lambda records: answers.pop() if answers else (200, "null")) as target:
        add_trigger(server, target)
        put(server, "a")
        wait_for(lambda: len(target.snapshot()) == 3, "too few calls")
        assert [keys(records) for records, _ in target.snapshot()] == [["a"]] * 3


def test_the_log_has_neither_the_words_of_a_function_nor_secrets_of_its_url(server):
    words = '{"errorMessage":"refused <private>","errorType":"Error","trace":[]}'
    with FunctionTarget(lambda records: (200, words)) as target:
        target.url += "?token=s3cret"
        add_trigger(server, target, "--max-retries", "0")
        put(server, "a")
        wait_for(lambda: "refused <private>" in trigger(server, "list").stdout, "the words")
        log = server.wait_for_log("gave up 1 records")
        assert "warn trigger: " in log and ": the function failed\n" in log
        assert "private" not in log and "s3cret" not in log


def test_a_call_that_takes_too_long_is_broken_off_and_tried_again(server):
    slow = [True]

    def decide(records):
        if slow:
            slow.pop()
            time.sleep(3)
        return 200, "null"

    with FunctionTarget(decide) as target:
        add_trigger(server, target, "--timeout", "1")
        put(server, "a")
        wait_for(lambda: len(target.snapshot()) == 2, "not tried again")


def test_a_function_that_is_down_costs_no_retries(server, tmp_path):
    with FunctionTarget() as target:
        port = target.port
        uuid = add_trigger(server, target, "--max-retries", "0", "--dead-letters", "d.jsonl")
    put(server, "a")
    wait_for(lambda: "PROBLEM: Connection refused" in trigger(server, "list").stdout, "not noticed")
    with FunctionTarget(port=port) as target:
        wait_for(target.delivered, f"{uuid} does not come back")
    assert dead_letters(tmp_path, "d.jsonl") == []


def test_a_trigger_ends_with_its_stream(server):
    update = {"TableName": "orders", "StreamSpecification": {"StreamEnabled": False}}
    with FunctionTarget() as target:
        add_trigger(server, target)
        put(server, "a")
        call(server, "UpdateTable", update)
        put(server, "b")
        wait_for(lambda: "  Ended  OK\n" in trigger(server, "list").stdout, "does not end")
        call(server, "UpdateTable", {**update, "StreamSpecification": STREAM})
        put(server, "c")
        assert "  Ended  OK\n" in trigger(server, "list").stdout
        assert keys(target.delivered()) == ["a"]


def test_a_table_without_a_stream_is_refused(tmp_path):
    with StatorProcess("--data-dir", str(tmp_path / "data")) as server:
        create_table(server, stream=None)
        refused = trigger(server, "add", "--table", "orders", "--url", "http://127.0.0.1:1/")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr == (
            "stator: Table orders has no stream to take records from: enable one first, with "
            "StreamSpecification of UpdateTable\n"
        )


def test_a_server_stops_in_time_though_a_call_is_under_way(server):
    called, stopped = threading.Event(), threading.Event()

    def hang(_records):
        called.set()
        stopped.wait(DEADLINE_S)
        return 200, "null"

    with FunctionTarget(hang) as target:
        add_trigger(server, target)
        put(server, "a")
        assert called.wait(DEADLINE_S)
        started = time.monotonic()
        server.stop()
        stopped.set()
        assert time.monotonic() - started < DEADLINE_S / 2


@pytest.mark.parametrize(
    "words, code, text",
    [
        ([], 2, "trigger: expected add, list or remove (see `stator trigger --help`)"),
        (["frob"], 2, "trigger: expected add, list or remove (see `stator trigger --help`)"),
        (["add", "--nope"], 2, "--nope: no such flag (see `stator trigger --help`)"),
        (["add", "--url"], 2, "--url: needs a value behind it"),
        (["add", "--bisect=1"], 2, "--bisect: takes no value"),
        (["add", "--batch-size", "x"], 2, "--batch-size: takes a whole number"),
        (["remove"], 2, "trigger remove: expected UUID (see `stator trigger --help`)"),
        (["list", "--url", "x"], 2, "--url: no such flag (see `stator trigger --help`)"),
        (["list", "--endpoint", "ftp://x"], 2, "ftp://x: it does not begin with http:// or https://"),
        (["list", "--ca-file"], 2, "--ca-file: needs a value behind it"),
        (["list", "--ca-file", "nowhere.pem"], 1, "nowhere.pem: No such file or directory"),
        (["list", "--endpoint", "http://127.0.0.1:1"], 1, "http://127.0.0.1:1: Connection refused"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused(words, code, text):
    result = subprocess.run(
        [binary(), "trigger", *words], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (code, "", f"stator: {text}\n")
