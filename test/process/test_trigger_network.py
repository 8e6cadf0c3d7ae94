"""What is between a trigger and its function: names that do not resolve, TLS, hostile answers."""

import contextlib
import os
import socket
import subprocess
import threading

import pytest

from function_target import FunctionTarget
from stator_process import Certificate, Connection, Keys, StatorProcess, binary, create_table, preload
from test_triggers import DEADLINE_S, call, wait_for

RELEASE_BINARY = binary("STATOR_RELEASE_BINARY", "build/stator")
LOOKUP_S = 40  # How long a lookup of a name hangs; all that is tested must be done before.
EVERYTHING = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}


def put(server):
    call(server, "PutItem", {"TableName": "orders", "Item": {"pk": {"S": "a"}}})


def add_trigger(server, url, **members):
    return call(server, "AddTrigger", {"TableName": "orders", "Url": url, **members})["UUID"]


def last_result(server):
    return call(server, "ListTriggers", {})["Triggers"][0]["LastProcessingResult"]


@contextlib.contextmanager
def server_with_table(*flags, **options):
    with StatorProcess("--in-memory", *flags, **options) as server:
        connection = Connection(server.port)
        create_table(connection, "orders", stream="NEW_IMAGE")
        connection.close()
        yield server
        server.stop()


# --- A name server that does not answer ---


class SlowNames:
    """Lookups of names ending with ".slow" hang in the server that has these variables."""

    def __init__(self, folder):
        self._report = folder / "lookups"
        self.variables = {
            "LD_PRELOAD": preload("slow_names"),
            "SLOW_NAMES_SECONDS": str(LOOKUP_S),
            "SLOW_NAMES_REPORT": str(self._report),
        }

    def lines(self):
        return self._report.read_text("utf-8").splitlines() if self._report.exists() else []

    def wait_until_begun(self, count):
        wait_for(lambda: self.lines().count("begun") == count, "no lookup")

    def assert_hanging(self):
        assert "ended" not in self.lines(), "this took as long as the lookup of a name"


@pytest.fixture(name="names")
def fixture_names(tmp_path):
    return SlowNames(tmp_path)


def test_nobody_waits_for_a_name_that_does_not_resolve(names):
    with StatorProcess("--in-memory", program=RELEASE_BINARY, variables=names.variables) as server:
        connection = Connection(server.port)
        create_table(connection, "orders", stream="NEW_IMAGE")
        put(server)
        uuid = add_trigger(server, "http://one.slow/f")
        add_trigger(server, "http://two.slow/f")
        names.wait_until_begun(2)
        with FunctionTarget() as target:
            add_trigger(server, target.url)
            wait_for(target.delivered, "no delivery beside the others")
        names.assert_hanging()
        create_table(connection, "others")
        names.assert_hanging()
        assert connection.call("RemoveTrigger", {"UUID": uuid}) == (200, {})
        names.assert_hanging()
        connection.close()
        server.stop()  # With the code 0.
        names.assert_hanging()


def test_a_name_that_hangs_is_looked_up_by_one_thread_however_often_it_is_wanted(names):
    with StatorProcess("--in-memory", program=RELEASE_BINARY, variables=names.variables) as server:
        connection = Connection(server.port)
        create_table(connection, "orders", stream="NEW_IMAGE")
        put(server)
        add_trigger(server, "http://one.slow/f", TimeoutInSeconds=1)
        add_trigger(server, "http://one.slow/g", TimeoutInSeconds=1)
        wait_for(
            lambda: "PROBLEM: the host's name was not resolved in time" in last_result(server),
            "not noticed",
        )
        names.assert_hanging()
        assert names.lines() == ["begun"]
        connection.close()
        server.stop()
        names.assert_hanging()


# --- TLS ---


@pytest.fixture(scope="module", name="certificate")
def fixture_certificate(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("cert"))


@pytest.fixture(scope="module", name="elsewhere")
def fixture_elsewhere(tmp_path_factory):
    """The certificate of another host."""
    return Certificate(tmp_path_factory.mktemp("elsewhere"), "--host", "elsewhere.test")


def test_a_function_may_be_called_over_https(certificate):
    with FunctionTarget(certificate=certificate) as target:
        with server_with_table("--outbound-ca-file", str(certificate.cert)) as server:
            put(server)
            add_trigger(server, target.url)
            wait_for(target.delivered, "no delivery")
            wait_for(lambda: last_result(server) == "OK", "not noticed")


def test_a_function_that_is_not_trusted_gets_nothing_and_costs_no_retries(certificate, elsewhere):
    for shown, trusted, problem in (
        (certificate, elsewhere, "PROBLEM: TLS: SSL certificate problem: self-signed certificate"),
        (
            elsewhere,
            elsewhere,
            "PROBLEM: TLS: SSL: no alternative certificate subject name matches target host name "
            "'127.0.0.1'",
        ),
    ):
        with FunctionTarget(certificate=shown) as target:
            with server_with_table("--outbound-ca-file", str(trusted.cert)) as server:
                put(server)
                add_trigger(server, target.url, MaximumRetryAttempts=0)
                wait_for(lambda: last_result(server) == problem, "not noticed")
            assert target.snapshot() == []


def test_a_server_does_not_start_without_its_authorities_or_with_a_proxy_that_is_none(tmp_path):
    for flags, message in (
        (["--outbound-ca-file", f"{tmp_path}/none"], f"{tmp_path}/none: No such file or directory"),
        (["--outbound-proxy", "proxy"], "proxy: it does not begin with http:// or https://"),
    ):
        result = subprocess.run(
            [binary(), "serve", "--port", "0", "--in-memory", *flags],
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        assert (result.returncode, result.stderr) == (1, f"stator: {message}\n")


def list_triggers(server, *words, **variables):
    result = subprocess.run(
        [binary(), "trigger", "list", "--endpoint", server.url, *words],
        capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        env={**os.environ, **variables},
    )  # fmt: skip
    return result.returncode, result.stderr


def test_the_command_asks_a_server_over_https_that_it_trusts(certificate, elsewhere, tmp_path):
    keys = Keys(tmp_path)
    key, secret = keys.create("somebody", EVERYTHING)
    signer = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}
    with StatorProcess("--auth", *keys.flags, *certificate.flags) as server:
        assert list_triggers(server, "--ca-file", str(certificate.cert), **signer) == (0, "")
        assert list_triggers(server, AWS_CA_BUNDLE=str(certificate.cert), **signer) == (0, "")
        code, text = list_triggers(server, "--ca-file", str(elsewhere.cert), **signer)
        assert code == 1
        assert text == (
            f"stator: {server.url}: TLS: SSL certificate problem: self-signed certificate\n"
        )
        assert list_triggers(server, **signer)[0] == 1
        server.stop()


# --- Proxies ---


def test_calls_go_through_the_proxy_that_is_set_and_through_no_other():
    with FunctionTarget() as target:
        variables = {"http_proxy": target.url, "all_proxy": target.url}
        with server_with_table(variables=variables) as server:
            put(server)
            add_trigger(server, "http://192.0.2.1:9/f", TimeoutInSeconds=1)
            wait_for(lambda: "PROBLEM" in last_result(server), "not noticed")
        assert target.snapshot() == []
        with server_with_table("--outbound-proxy", f"http://127.0.0.1:{target.port}") as server:
            put(server)
            add_trigger(server, "http://192.0.2.1:9/f")
            wait_for(target.delivered, "no delivery")


# --- Hostile answers ---


class RawTarget:
    """Reads a request's beginning and answers with bytes: once, or again and again until the caller
    leaves."""

    def __init__(self, answer, endless=b""):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._answer, self._endless = answer, endless
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/f"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                connection.recv(65536)
                connection.sendall(self._answer)
                while self._endless:
                    connection.sendall(self._endless)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


@pytest.mark.parametrize(
    "answer, endless, problem",
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536, "the answer is too large"),
        (b"HTTP/1.1 200 OK\r\n", b"Name: value\r\n" * 1000, "the answer is too large"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"", "the answer is too large"),
        (b"HTTP/1.1 200 OK\r\n", b"", "the connection ended without an answer"),
        (b"", b"\0\xff\r\n" * 1000, "the answer is not HTTP"),
    ],
)
def test_a_hostile_answer_is_bounded_and_reported(answer, endless, problem):
    with RawTarget(answer, endless) as target:
        with server_with_table() as server:
            put(server)
            add_trigger(server, target.url)
            wait_for(lambda: last_result(server) == f"PROBLEM: {problem}", "not noticed")


def test_neither_results_nor_the_log_show_the_query_of_a_url(elsewhere):
    with RawTarget(b"garbage\r\n\r\n") as garbage, FunctionTarget(certificate=elsewhere) as strange:
        urls = [garbage.url, strange.url, "http://127.0.0.1:1/f", f"http://{'x' * 64}/f"]
        with server_with_table() as server:
            put(server)
            for url in urls:
                add_trigger(server, f"{url}?token=hunter2")

            def results():
                triggers = call(server, "ListTriggers", {})["Triggers"]
                return [entry["LastProcessingResult"] for entry in triggers]

            wait_for(lambda: all("PROBLEM" in result for result in results()), "not noticed")
            assert "hunter2" not in str(results())
            assert server.log().count("warn trigger: ") >= len(urls)
            assert "hunter2" not in server.log()
