"""bench/load, the load generator: what it sends, and that it counts what was answered."""

import http.server
import json
import pathlib
import re
import socket
import socketserver
import subprocess
import sys
import threading
import time

import pytest

from stator_process import Certificate, StatorProcess, binary, create_table
from fast_client import FastClient

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

# ruff: noqa: E402 (the path comes first)
import histogram
import workload

LOAD = pathlib.Path(binary()).parent / "bench/load/load"
LIMIT_S = 60


class Recorder(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Keeps the bodies it was sent and answers as it is told."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), RecorderHandler)
        self.bodies = []
        self.status_of = lambda number: 200
        self.delay_of = lambda number: 0
        threading.Thread(target=self.serve_forever, daemon=True).start()


class RecorderHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        number = len(self.server.bodies)
        self.server.bodies.append(body)
        time.sleep(self.server.delay_of(number))
        self.send_response(self.server.status_of(number))
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"right")

    def log_message(self, *_):
        pass


@pytest.fixture(name="recorder")
def fixture_recorder():
    with Recorder() as server:
        yield server
        server.shutdown()


def run(port, *words):
    words = [str(word) for word in (LOAD, "--port", port, *words)]
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def result_of(port, *words):
    done = run(port, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def template(folder, body, weight=1):
    path = folder / f"request-{len(list(folder.iterdir()))}"
    path.write_text(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}")
    return f"{weight}:{path}"


def test_a_fill_sends_each_key_once(recorder, tmp_path):
    request = template(tmp_path, f"{workload.key(0)} {workload.key(1)} {workload.key(0)}")
    options = ("--connections", 3, "--threads", 2, "--keys", 100, "--fill")
    result = result_of(recorder.server_address[1], *options, request)
    assert (result["answers"], result["errors"], result["body_bytes"]) == (50, 0, 250)
    wanted = [f"{n:08d} {n + 1:08d} {n:08d}" for n in range(0, 100, 2)]
    assert sorted(recorder.bodies) == wanted


def test_random_keys_of_one_request_differ(recorder, tmp_path):
    keys = " ".join(workload.key(number) for number in range(25))
    options = ("--connections", 2, "--keys", 50, "--seconds", 1)
    result = result_of(recorder.server_address[1], *options, template(tmp_path, keys))
    assert result["answers"] == len(recorder.bodies) > 0
    for body in recorder.bodies:
        numbers = [int(word) for word in body.split()]
        assert len(set(numbers)) == 25 and max(numbers) < 50
    assert len(set(recorder.bodies)) > 1


def test_no_two_requests_have_the_same_token(recorder, tmp_path):
    options = ("--connections", 4, "--threads", 2, "--seconds", 0.3)
    result_of(recorder.server_address[1], *options, template(tmp_path, workload.TOKEN))
    assert len(set(recorder.bodies)) == len(recorder.bodies) > 0
    assert {len(body) for body in recorder.bodies} == {36}


def test_random_texts_differ_and_are_as_long_as_their_places(recorder, tmp_path):
    places = [workload.notes(workload.key(), size) for size in (8, 9, 300)]
    request = template(tmp_path, f"{workload.key()}|{'|'.join(places)}|end")
    result_of(recorder.server_address[1], "--keys", 20, "--fill", request)
    texts = [body.split("|") for body in recorder.bodies]
    assert {tuple(map(len, each)) for each in texts} == {(8, 8, 9, 300, 3)}
    assert all(each[4] == "end" for each in texts)
    for number in (1, 2, 3):
        assert len({each[number] for each in texts}) == 20
    assert re.fullmatch("[A-Za-z0-9 .]+", "".join(each[3] for each in texts))


def test_requests_are_sent_in_proportion_to_their_weights(recorder, tmp_path):
    requests = [template(tmp_path, "often", 4), template(tmp_path, "seldom", 1)]
    result_of(recorder.server_address[1], "--keys", 500, "--fill", *requests)
    assert 350 < recorder.bodies.count("often") < 450


def test_answers_other_than_200_are_errors_and_the_first_is_shown(recorder, tmp_path):
    recorder.status_of = lambda number: 400 if number % 2 else 200
    done = run(recorder.server_address[1], "--keys", 10, "--fill", template(tmp_path, workload.key()))
    result = json.loads(done.stdout)
    assert (result["answers"], result["errors"]) == (10, 5)
    assert done.stderr.count("400 Bad Request") == 1


def test_intervals_add_up_to_all_answers(recorder, tmp_path):
    options = ("--connections", 2, "--seconds", 1, "--interval", 0.3)
    result = result_of(recorder.server_address[1], *options, template(tmp_path, "x"))
    assert len(result["intervals"]) == 4
    assert sum(each["answers"] for each in result["intervals"]) == result["answers"]
    times = histogram.merged(each["times_ns"] for each in result["intervals"])
    assert sum(count for _, count in times) == result["answers"]


def test_with_a_rate_a_stall_counts_for_all_that_were_due_meanwhile(recorder, tmp_path):
    """One connection and one answer of half a second: of 200 requests, one every 5 ms, about a
    hundred were due before it came. Without correction one single time would be long."""
    recorder.delay_of = lambda number: 0.5 if number == 0 else 0
    options = ("--connections", 1, "--seconds", 1, "--rate", 200)
    result = result_of(recorder.server_address[1], *options, template(tmp_path, "x"))
    assert result["answers"] + result["unsent"] == 200
    late = sum(count for end, count in result["intervals"][0]["times_ns"] if end > 100e6)
    assert late > 50


@pytest.mark.parametrize("tls", [False, True])
def test_requests_and_answers_larger_than_any_buffer(tls, tmp_path):
    """The request is sent in pieces; a server's answer of the same size comes in pieces."""
    flags, words, data = [], [], ["--data-dir", str(tmp_path / "data")]
    with StatorProcess(*data) as server:
        client = FastClient(server.port)
        create_table(client, "large")
        client.close()
        server.stop()
    if tls:
        flags, words = Certificate(tmp_path / "tls").flags, ["--tls"]
    with StatorProcess(*data, *flags) as server:
        put = workload.put(workload.key(), "large", 390_000)
        get = workload.get(workload.key(), "large")
        folder = tmp_path / "requests"
        fill = workload.write_requests(folder / "put", [(1, "PutItem", put)])
        options = (*words, "--connections", 3, "--keys", 6)
        assert result_of(server.port, *options, "--fill", *fill)["errors"] == 0
        read = workload.write_requests(folder / "get", [(1, "GetItem", get)])
        result = result_of(server.port, *options, "--seconds", 0.5, *read)
        assert result["errors"] == 0 and result["body_bytes"] > 390_000 * result["answers"]
        server.stop()


@pytest.mark.parametrize(
    "words, message",
    [
        (["--seconds", "1"], "needs 1 to 256 requests"),
        (["--seconds", "1", "--fill"], "one of --seconds and --fill"),
        (["--seconds", "0"], "expected a number"),
        (["--keys", "0", "--fill"], "expected a number"),
        (["--keys", "7", "--fill", "TWO KEYS"], "no multiple of a request's 2"),
        (["--keys", "1", "--seconds", "1", "TWO KEYS"], "has 2 keys, and there are 1"),
        (["--seconds", "1", "1:/nowhere"], "/nowhere"),
        (["--seconds", "1", "WRONG PLACE"], "neither a key nor a token nor a random text"),
        (["--seconds", "1", "SHORT TEXT"], "neither a key nor a token nor a random text"),
        (["--seconds", "1", "LONG TEXT"], "neither a key nor a token nor a random text"),
        (["--seconds", "1", "0:WEIGHT"], "expected WEIGHT:FILE"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused(tmp_path, words, message):
    files = {
        "TWO KEYS": template(tmp_path, workload.key(0) + workload.key(1)),
        "WRONG PLACE": template(tmp_path, "~K0~"),
        "SHORT TEXT": template(tmp_path, "~R000007"),
        "LONG TEXT": template(tmp_path, "~R000010~"),
    }
    done = run(1, *(files.get(word, word) for word in words))
    assert done.returncode == 2 and message in done.stderr


def test_a_server_that_breaks_off_ends_the_run(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            connection, _ = listener.accept()
            connection.recv(1000)
            connection.close()

        threading.Thread(target=serve, daemon=True).start()
        done = run(listener.getsockname()[1], "--seconds", 5, template(tmp_path, "x"))
    assert done.returncode == 1 and "closed a connection" in done.stderr
