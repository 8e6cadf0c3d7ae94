"""TLS: the certificate a server is started with, reads again and makes itself; who may connect."""

import http.client
import os
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import time

import boto3
import botocore.config
import botocore.exceptions
import pytest
from stator_process import Certificate, Connection, Keys, StatorProcess, binary

EVERYTHING = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}


def run(*words):
    return subprocess.run(
        [binary(), *words], capture_output=True, text=True, timeout=60, check=False
    )


def served_cert(port):
    """What the server shows, in PEM."""
    return ssl.get_server_certificate(("127.0.0.1", port)).strip()


def text_of(path):
    return path.read_text("ascii").strip()


@pytest.fixture(scope="module", name="certificate")
def fixture_certificate(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("cert"))


@pytest.fixture(scope="module", name="other")
def fixture_other(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("other"))


@pytest.fixture(name="replaceable")
def fixture_replaceable(certificate, tmp_path):
    """A copy of the certificate that a test may replace."""
    shutil.copytree(certificate.cert.parent, tmp_path / "in-use")
    copy = Certificate.__new__(Certificate)
    copy.cert, copy.key = tmp_path / "in-use/cert.pem", tmp_path / "in-use/key.pem"
    copy.flags = ["--tls-cert-file", str(copy.cert), "--tls-key-file", str(copy.key)]
    return copy


def replace(current, new):
    shutil.copy(new.cert, current.cert)
    shutil.copy(new.key, current.key)


# --- Serving ---


def test_the_server_announces_https_and_how_to_call_it(certificate):
    with StatorProcess("--in-memory", *certificate.flags) as server:
        assert server.url == f"https://127.0.0.1:{server.port}"
        hint = server.process.stdout.readline()
        assert hint.startswith(f"AWS_CA_BUNDLE={certificate.cert} AWS_ACCESS_KEY_ID=x ")
        assert f"--endpoint-url {server.url} " in hint
        connection = Connection(server.port, context=certificate.trusting())
        assert connection.call("ListTables", {}) == (200, {"TableNames": []})
        server.stop()  # With the connection open.


def test_a_client_that_does_not_trust_the_server_leaves(certificate, other):
    with StatorProcess("--in-memory", *certificate.flags) as server:
        with pytest.raises(ssl.SSLCertVerificationError):
            Connection(server.port, context=other.trusting()).call("ListTables", {})
        server.stop()


def test_plain_http_is_told_to_use_https(certificate):
    with StatorProcess("--in-memory", *certificate.flags) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        assert answer.status == 400
        assert b"https://" in answer.read()
        server.stop()


def test_clients_need_a_certificate_if_there_are_authorities_for_them(certificate, other):
    flags = ["--in-memory", *certificate.flags, "--tls-client-ca-file", str(other.cert)]
    with StatorProcess(*flags) as server:
        with pytest.raises((ssl.SSLError, ConnectionError), match="certificate required|reset"):
            Connection(server.port, context=certificate.trusting()).call("ListTables", {})
        server.stop()


@pytest.mark.parametrize(
    "cert, key, message",
    [
        ("none", "key.pem", "none: No such file or directory"),
        ("cert.pem", "none", "none: No such file or directory"),
        ("cert.pem", "cert.pem", "cert.pem: there is no private key in PEM format"),
        ("cert.pem", "other.pem", "other.pem: not the key of the certificate in {}/cert.pem"),
    ],
)
def test_a_server_does_not_start_without_its_certificate(replaceable, other, cert, key, message):
    folder = replaceable.cert.parent
    shutil.copy(other.key, folder / "other.pem")
    result = run("--port", "0", "--in-memory",
                 "--tls-cert-file", f"{folder}/{cert}", "--tls-key-file", f"{folder}/{key}")  # fmt: skip
    assert result.returncode == 1
    assert result.stderr == f"stator: {folder}/{message.format(folder)}\n"


# --- Who may be reached ---


def test_with_tls_and_keys_other_machines_may_reach_the_server(certificate, tmp_path):
    keys = Keys(tmp_path)
    with StatorProcess("--bind", "0.0.0.0", "--auth", *keys.flags, *certificate.flags) as server:
        assert server.url == f"https://0.0.0.0:{server.port}"
        server.stop()


def test_with_tls_alone_they_may_not(certificate):
    result = run("--port", "0", "--in-memory", "--bind", "0.0.0.0", *certificate.flags)
    assert result.returncode == 2
    assert result.stderr == (
        "stator: --bind: other machines can reach 0.0.0.0, which requires --auth, or --insecure\n"
    )


def test_a_policy_can_insist_on_tls(certificate, tmp_path):
    keys = Keys(tmp_path)
    condition = {"Bool": {"aws:SecureTransport": "true"}}
    key, secret = keys.create("careful", {**EVERYTHING, "Condition": condition})

    def list_tables(server):
        return boto3.client(
            "dynamodb",
            endpoint_url=server.url,
            region_name="us-east-1",
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            verify=str(certificate.cert),
            config=botocore.config.Config(retries={"max_attempts": 0}),
        ).list_tables()["TableNames"]

    with StatorProcess("--auth", *keys.flags, *certificate.flags) as server:
        assert list_tables(server) == []
        server.stop()
    with StatorProcess("--auth", *keys.flags) as server:
        with pytest.raises(botocore.exceptions.ClientError, match="AccessDenied"):
            list_tables(server)
        server.stop()


# --- Reading the certificate again ---


def test_sighup_brings_a_new_certificate_to_new_connections_only(replaceable, other):
    before = replaceable.trusting()
    with StatorProcess("--in-memory", *replaceable.flags) as server:
        old = Connection(server.port, context=before)
        assert old.call("ListTables", {})[0] == 200
        replace(replaceable, other)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_log(f"info tls: read {replaceable.cert} again")
        assert served_cert(server.port) == text_of(other.cert)
        new = Connection(server.port, context=other.trusting())
        assert new.call("ListTables", {})[0] == 200
        assert old.call("ListTables", {})[0] == 200
        with pytest.raises(ssl.SSLCertVerificationError):
            Connection(server.port, context=before).call("ListTables", {})
        server.stop()


@pytest.mark.parametrize(
    "spoil, problem",
    [
        (lambda current, other: current.cert.unlink(), "cert.pem: No such file or directory"),
        (lambda current, other: current.key.write_text(""), "key.pem: there is no private key"),
        (lambda current, other: shutil.copy(other.key, current.key), "key.pem: not the key of"),
    ],
)
def test_a_broken_certificate_changes_nothing(replaceable, certificate, other, spoil, problem):
    with StatorProcess("--in-memory", *replaceable.flags) as server:
        old = Connection(server.port, context=certificate.trusting())
        assert old.call("ListTables", {})[0] == 200
        spoil(replaceable, other)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_log("error tls: the certificate in use stays: ")
        assert problem in server.log()
        assert served_cert(server.port) == text_of(certificate.cert)
        assert old.call("ListTables", {})[0] == 200
        replace(replaceable, other)  # Put right, it is taken.
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_log("info tls: read ")
        assert served_cert(server.port) == text_of(other.cert)
        server.stop()


def test_sighup_again_and_again_drops_no_connection(replaceable, certificate, other):
    count = 20
    with StatorProcess("--in-memory", *replaceable.flags) as server:
        connections = []
        for i in range(count):
            current = certificate if i % 2 == 0 else other
            connections.append(Connection(server.port, context=current.trusting()))
            assert connections[-1].call("ListTables", {})[0] == 200
            replace(replaceable, other if i % 2 == 0 else certificate)
            server.process.send_signal(signal.SIGHUP)
            server.wait_for_log("info tls: read ", i + 1)
        for connection in connections:
            assert connection.call("ListTables", {})[0] == 200
        server.stop()


def test_sighup_without_tls_is_ignored():
    with StatorProcess("--in-memory") as server:
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_log("info server: SIGHUP ignored: ")
        assert Connection(server.port).call("ListTables", {})[0] == 200
        server.stop()


def test_sighup_while_the_server_stops_does_no_harm(certificate):
    with StatorProcess("--in-memory", *certificate.flags) as server:
        context = certificate.trusting()
        with context.wrap_socket(
            socket.create_connection(("127.0.0.1", server.port)), server_hostname="localhost"
        ) as client:
            client.sendall(
                b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            )
            assert client.recv(100).startswith(b"HTTP/1.1 100 ")  # So it has begun.
            server.process.send_signal(signal.SIGTERM)
            server.wait_for_log("stopping")
            server.process.send_signal(signal.SIGHUP)
            client.sendall(b"hello")
            assert client.recv(1000).startswith(b"HTTP/1.1 ")  # Nothing was cut short.
        assert server.process.wait(30) == 0, server.log()


# --- stator cert ---


def test_self_signed_writes_a_pair_that_clients_can_be_told_to_trust(tmp_path):
    folder = tmp_path / "new"
    result = run("cert", "self-signed", "--out-dir", str(folder))
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("A certificate for localhost, 127.0.0.1, ::1, valid until ")
    for line in (
        f"stator --tls-cert-file {folder}/cert.pem --tls-key-file {folder}/key.pem\n",
        f"AWS_CA_BUNDLE={folder}/cert.pem\n",
        f"NODE_EXTRA_CA_CERTS={folder}/cert.pem\n",
    ):
        assert line in result.stdout
    assert stat.S_IMODE((folder / "key.pem").stat().st_mode) == 0o600
    with StatorProcess(
        "--in-memory", "--bind", "::1",
        "--tls-cert-file", str(folder / "cert.pem"), "--tls-key-file", str(folder / "key.pem"),
    ) as server:  # fmt: skip
        context = ssl.create_default_context(cafile=str(folder / "cert.pem"))
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # As newer versions of Python ask for.
        for name in ("localhost", "127.0.0.1", "::1"):
            with context.wrap_socket(
                socket.create_connection(("::1", server.port)), server_hostname=name
            ) as client:
                assert client.version() == "TLSv1.3"
        server.stop()


def test_self_signed_takes_names_and_days(tmp_path):
    made = Certificate(tmp_path / "c", "--host", "db.example.com", "--host=10.0.0.7", "--days", "2")
    with StatorProcess("--in-memory", *made.flags) as server:
        with made.trusting().wrap_socket(
            socket.create_connection(("127.0.0.1", server.port)), server_hostname="db.example.com"
        ) as client:
            shown = client.getpeercert()
        server.stop()
    assert shown["subjectAltName"] == (("DNS", "db.example.com"), ("IP Address", "10.0.0.7"))
    left_s = ssl.cert_time_to_seconds(shown["notAfter"]) - time.time()
    assert 2 * 86400 - 600 < left_s <= 2 * 86400


@pytest.mark.parametrize("name", ["cert.pem", "key.pem"])
def test_self_signed_overwrites_nothing(tmp_path, name):
    (tmp_path / name).write_text("precious")
    result = run("cert", "self-signed", "--out-dir", str(tmp_path))
    assert result.returncode == 1
    assert result.stderr == f"stator: {tmp_path}/{name}: File exists\n"
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "precious"


@pytest.mark.parametrize(
    "words, code, message",
    [
        ([], 2, "cert: expected self-signed (see `stator cert --help`)"),
        (["new"], 2, "cert: expected self-signed (see `stator cert --help`)"),
        (["self-signed"], 2, "cert self-signed: needs --out-dir"),
        (["self-signed", "--out-dir"], 2, "--out-dir: needs a value behind it"),
        (["self-signed", "--host", "a b"], 2, "--host: takes a DNS name or an IP address"),
        (["self-signed", "--host"], 2, "--host: needs a value behind it"),
        (["self-signed", "--days", "0"], 2, "--days: takes a number from 1 to 3650"),
        (["self-signed", "--days", "3651"], 2, "--days: takes a number from 1 to 3650"),
        (["self-signed", "--days=x"], 2, "--days: takes a number from 1 to 3650"),
        (["self-signed", "--bogus"], 2, "--bogus: no such flag (see `stator cert --help`)"),
        (["self-signed", *["--host", "a"] * 101], 2, "--host: too many of them"),
        (["self-signed", "--out-dir", "/none/of/it"], 1, "/none/of/it: No such file or directory"),
    ],
)
def test_what_cannot_be_is_refused(words, code, message):
    result = run("cert", *words)
    assert (result.returncode, result.stderr) == (code, f"stator: {message}\n")


def test_the_largest_numbers_are_taken(tmp_path):
    result = run("cert", "self-signed", "--out-dir", str(tmp_path / "c"), "--days", "3650",
                 *["--host", "a"] * 100)  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert run("cert", "--help").stdout.startswith("Usage: stator cert self-signed ")
