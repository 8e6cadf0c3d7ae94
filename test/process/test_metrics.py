"""GET /metrics: who may read it, in which formats, and what bounds it."""

import gzip
import http.client
import shutil
import subprocess
import sys
import textwrap

import pytest

import metrics_text
import stator_process
from stator_process import Connection, StatorProcess, create_table

TIMEOUT_S = 90


def get(port, path="/metrics", method="GET", host="127.0.0.1", **headers):
    """(status, headers, body)"""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def call(server, operation, body):
    connection = Connection(server.port)
    status, _ = connection.call(operation, body)
    connection.close()
    return status


def put(server, table, key="x"):
    return call(server, "PutItem", {"TableName": table, "Item": {"pk": {"S": key}}})


@pytest.fixture(scope="module")
def server():
    with StatorProcess("--in-memory") as started:
        create_table(Connection(started.port), "Orders")
        assert put(started, "Orders", "a secret key") == 200
        yield started


def test_the_page_is_prometheus_text(server):
    status, headers, body = get(server.port)
    assert status == 200
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    page = metrics_text.parse(body.decode())
    labels = {"operation": "PutItem", "table": "Orders", "code": "ok"}
    assert page.value("stator_requests_total", **labels) == 1
    assert page.value("stator_consumed_write_units_total", table="Orders", index="") == 1
    assert page.value("stator_table_items", table="Orders", index="") == 1
    assert page.value("stator_http_connections") >= 1
    assert page.value("process_resident_memory_bytes") > 1 << 20
    assert page.sum("stator_build_info") == 1


def test_open_metrics_when_asked_for(server):
    accept = (
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
        "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    )
    status, headers, body = get(server.port, Accept=accept)
    assert status == 200
    assert headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert body.endswith(b"\n# EOF\n")
    assert b"# TYPE stator_requests counter\n" in body
    assert b'stator_requests_total{operation="PutItem"' in body


def test_gzip_when_asked_for(server):
    status, headers, body = get(server.port, Accept_Encoding="gzip")
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert b"stator_requests_total" in gzip.decompress(body)


def test_head_has_no_body(server):
    status, headers, body = get(server.port, method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) > 1000


def test_no_item_and_no_unknown_name_shows(server):
    assert put(server, "NoSuchTable") == 400
    _, _, body = get(server.port)
    assert b"a secret key" not in body
    assert b"NoSuchTable" not in body


def test_a_deleted_tables_series_go(server):
    create_table(Connection(server.port), "Passing")
    assert put(server, "Passing") == 200
    assert b'table="Passing"' in get(server.port)[2]
    assert call(server, "DeleteTable", {"TableName": "Passing"}) == 200
    assert b'table="Passing"' not in get(server.port)[2]


def test_tables_beyond_the_bound_are_added_up():
    with StatorProcess("--in-memory", "--metrics-page-tables", "3") as server:
        for number in range(8):
            create_table(Connection(server.port), f"table{number}")
            assert put(server, f"table{number}") == 200
        page = metrics_text.parse(get(server.port)[2].decode())
        shown = page.values("stator_requests_total", operation="PutItem", code="ok")
        assert {labels["table"]: value for labels, value in shown} == {
            "table0": 1, "table1": 1, "table2": 1, "(other)": 5,
        }  # fmt: skip
        assert page.value("stator_consumed_write_units_total", table="(other)", index="") == 5


def test_the_page_can_be_switched_off():
    with StatorProcess("--in-memory", "--no-metrics") as server:
        status, _, body = get(server.port)
        assert status != 200
        assert b"stator_" not in body


def test_a_listener_of_its_own_is_the_only_place():
    with StatorProcess("--in-memory", "--metrics-bind", "127.0.0.1:0") as server:
        line = ""
        while not line.startswith("metrics on "):
            line = server.process.stdout.readline()
            assert line != ""
        port = int(line.rsplit(" ", 1)[1])
        status, _, body = get(port)
        assert status == 200
        assert b"stator_build_info" in body
        assert get(port, "/")[0] == 404
        assert get(port, "/healthz")[0] == 404
        assert get(port, "/metrics", method="POST")[0] == 404
        status, _, body = get(server.port)
        assert status != 200
        assert b"stator_" not in body


@pytest.mark.parametrize("value", ["9100", "localhost:9100", "127.0.0.1", "[::1]", "127.0.0.1:99999", "::1:9100"])
def test_metrics_bind_must_be_address_and_port(value):
    with pytest.raises(stator_process.DidNotStart) as caught:
        StatorProcess("--in-memory", "--metrics-bind", value)
    assert "metrics-bind" in caught.value.log


# In a network of its own, where the machine has an address that is no loopback.
STRANGER = textwrap.dedent(
    """
    import http.client, subprocess, sys
    for command in ("ip link set lo up", "ip addr add 192.0.2.1/32 dev lo"):
        if subprocess.run(command.split(), stderr=subprocess.DEVNULL).returncode != 0:
            sys.exit(77)
    server = subprocess.Popen([sys.argv[1], "serve", "--port", "0", "--in-memory", "--insecure",
                               "--bind", "0.0.0.0"], stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline().split(",")[0].rsplit(":", 1)[1])
    for host in ("127.0.0.1", "192.0.2.1"):
        connection = http.client.HTTPConnection(host, port, timeout=30)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        print(host, answer.status, b"stator_" in answer.read())
    server.terminate()
    server.wait()
    """
)


@pytest.mark.skipif(not shutil.which("unshare") or not shutil.which("ip"), reason="no unshare or ip")
def test_other_machines_are_refused():
    done = subprocess.run(
        ["unshare", "--map-root-user", "--net", sys.executable, "-c", STRANGER, stator_process.binary()],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S * 2,
    )
    if done.returncode != 0 and not done.stdout:
        pytest.skip(f"no network namespace here: {done.stderr.strip()}")
    assert done.stdout.splitlines() == ["127.0.0.1 200 True", "192.0.2.1 403 False"]
