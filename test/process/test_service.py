"""The server under a service manager: its messages, its unit, and how little it may do."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.request

import pytest

import stator_process
from stator_process import Connection, StatorProcess, binary

ROOT = pathlib.Path(__file__).parents[2]
RELEASE_BINARY = binary("STATOR_RELEASE_BINARY", "build/stator")
LIMIT_S = 60
NOBODY = 65534
TABLE = "orders"
EXPOSURE_MAX = 20  # In tenths; systemd calls that "OK".


def needs(*programs):
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: not on this machine")


def run(*words, **options):
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        **options,
    )


# --- Messages ---


class Manager:
    """The socket that a service manager listens on."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.settimeout(LIMIT_S)
        self._socket.bind(address)

    def receive(self):
        return self._socket.recv(1000).decode("ascii")

    def has_more(self):
        self._socket.setblocking(False)
        try:
            return bool(self._socket.recv(1000))
        except BlockingIOError:
            return False
        finally:
            self._socket.settimeout(LIMIT_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_the_manager_is_told_when_it_serves_and_when_it_stops(tmp_path, kind):
    name = str(tmp_path / "notify") if kind == "path" else f"@stator-test-{os.getpid()}"
    with Manager(name.replace("@", "\0")) as manager:
        with StatorProcess("--in-memory", variables={"NOTIFY_SOCKET": name}) as server:
            assert manager.receive() == "READY=1"
            with urllib.request.urlopen(f"{server.url}/readyz", timeout=LIMIT_S) as answer:
                assert answer.status == 200
            assert not manager.has_more()
            server.process.send_signal(signal.SIGHUP)
            assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+", manager.receive())
            assert manager.receive() == "READY=1"
            server.stop()
            assert manager.receive() == "STOPPING=1"
            assert "warn server" not in server.log()


def test_a_server_that_cannot_start_is_never_ready(tmp_path):
    (tmp_path / "file").touch()
    with Manager(str(tmp_path / "notify")) as manager:
        result = run(
            binary(),
            *("serve", "--port", "0", "--data-dir", tmp_path / "file"),
            env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")},
        )
        assert result.returncode == 1
        assert not manager.has_more()


@pytest.mark.parametrize("name", ["/nowhere/notify", "relative", "@", "/" + "n" * 200])
def test_a_manager_that_cannot_be_told_is_no_reason_to_end(name):
    with StatorProcess("--in-memory", variables={"NOTIFY_SOCKET": name}) as server:
        assert urllib.request.urlopen(f"{server.url}/healthz", timeout=LIMIT_S).status == 200
        server.stop()
        assert "warn server: cannot tell the service manager READY=1: " in server.log()


# --- The unit ---


@pytest.fixture(scope="module", name="installed")
def fixture_installed(tmp_path_factory):
    """What `make install` leaves below a prefix."""
    prefix = tmp_path_factory.mktemp("installed")
    build = pathlib.Path(RELEASE_BINARY).parents[1 if "release" in RELEASE_BINARY else 0]
    result = run("make", "-C", ROOT, "install", f"PREFIX={prefix}", f"BUILD={build}")
    assert result.returncode == 0, result.stdout + result.stderr
    return prefix


def test_an_installed_server_says_its_version(installed):
    assert run(installed / "bin/stator", "--version").stdout.startswith("stator ")
    assert (installed / "share/doc/stator/README.md").is_file()
    unit = (installed / "lib/systemd/system/stator.service").read_text("utf-8")
    assert f"\nExecStart={installed}/bin/stator serve\n" in unit
    assert "/usr/local" not in unit


@needs("systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(installed):
    result = run("systemd-analyze", "verify", installed / "lib/systemd/system/stator.service")
    assert (result.returncode, result.stderr) == (0, "")


@needs("systemd-analyze")
def test_systemd_finds_the_unit_well_confined(installed):
    result = run(
        *("systemd-analyze", "security", "--no-pager", "--offline=true"),
        f"--threshold={EXPOSURE_MAX}",
        installed / "lib/systemd/system/stator.service",
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_unit_waits_longer_than_the_server_takes_to_stop():
    unit = (ROOT / "systemd/stator.service").read_text("utf-8")
    source = (ROOT / "src/command/serve.c").read_text("utf-8")
    waits_s = int(re.search(r"^TimeoutStopSec=(\d+)s$", unit, re.M)[1])
    assert waits_s > int(re.search(r"SERVE_STOP_SECONDS_MAX = (\d+),", source)[1])


def filter_set(name):
    """The system calls of one of systemd's sets, and of the sets within it."""
    names = set()
    for line in run("systemd-analyze", "syscall-filter", name).stdout.splitlines()[1:]:
        word = line.strip()
        if word.startswith("@"):
            names |= filter_set(word)
        elif word and not word.startswith("#"):
            names.add(word)
    return names


@pytest.fixture(scope="module", name="traced")
def fixture_traced(tmp_path_factory):
    """Every system call of a server that starts, works, is backed up and ends."""
    if run("strace", "-f", "-o", "/dev/null", "true").returncode != 0:
        pytest.skip("strace may not trace here")
    folder = tmp_path_factory.mktemp("traced")
    trace = folder / "trace"
    wrapper = folder / "traced-stator"
    wrapper.write_text(f'#!/bin/sh\nexec strace -f -o {trace} {RELEASE_BINARY} "$@"\n')
    wrapper.chmod(0o700)
    flags = ["--data-dir", str(folder / "data"), "--write-buffer-size", "1M"]
    with StatorProcess(*flags, program=str(wrapper)) as server:
        connection = Connection(server.port)
        stator_process.create_table(connection, TABLE, stream="NEW_IMAGE")
        for number in range(1200):  # Enough for a flush.
            item = {"pk": {"S": f"k{number}"}, "filler": {"S": "f" * 1000}}
            assert connection.call("PutItem", {"TableName": TABLE, "Item": item})[0] == 200
        assert connection.call("Scan", {"TableName": TABLE})[0] == 200
        assert connection.call("DeleteTable", {"TableName": TABLE})[0] == 200
        connection.close()
        result = run(RELEASE_BINARY, "backup", folder / "backup", "--data-dir", folder / "data")
        assert result.returncode == 0, result.stderr
        # The tracer stands between the process we know and the server.
        main = re.match(r"\d+", trace.read_text("utf-8", "replace"))[0]
        os.kill(int(main), 15)
        assert server.process.wait(LIMIT_S) == 0
    return trace.read_text("utf-8", "replace")


@needs("strace", "systemd-analyze")
def test_the_server_gets_by_with_the_system_calls_that_it_is_left(traced):
    called = set(re.findall(r"^\d+ +(\w+)\(", traced, re.M)) - {"execve"}
    assert len(called) > 30
    assert called <= filter_set("@system-service") - filter_set("@privileged")


@needs("strace")
def test_the_server_never_asks_for_memory_to_write_and_execute(traced):
    """What MemoryDenyWriteExecute forbids."""
    assert re.search(r" mmap\(.*PROT_EXEC", traced)  # Libraries, read-only.
    assert not re.search(r" mmap\(.*(PROT_WRITE\|PROT_EXEC|PROT_EXEC\|PROT_WRITE)", traced)
    assert not re.search(r" (mprotect|pkey_mprotect)\(.*PROT_EXEC", traced)


# --- An unprivileged user ---


@pytest.fixture(name="as_nobody")
def fixture_as_nobody():
    """(folder that nobody may enter, program that runs the server as nobody)."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        program = folder / "stator"
        shutil.copy(RELEASE_BINARY, program)
        wrapper = folder / "stator-as-nobody"
        become = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --no-new-privs"
        wrapper.write_text(f'#!/bin/sh\nexec {become} --bounding-set=-all {program} "$@"\n')
        wrapper.chmod(0o755)
        yield folder, str(wrapper)


@needs("setpriv")
def test_the_server_needs_no_rights_but_those_to_its_data(as_nobody):
    folder, program = as_nobody
    data = folder / "data"
    data.mkdir()
    os.chown(data, NOBODY, NOBODY)
    with StatorProcess("--data-dir", str(data), program=program) as server:
        status = pathlib.Path(f"/proc/{server.pid}/status").read_text("ascii")
        assert re.search(rf"^Uid:\t{NOBODY}\t{NOBODY}\t", status, re.M)
        assert re.search(r"^CapEff:\t0+$", status, re.M)
        connection = Connection(server.port)
        stator_process.create_table(connection, TABLE)
        connection.close()
        server.stop()
    assert {file.stat().st_uid for file in data.iterdir()} == {NOBODY}


@needs("setpriv")
@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_a_directory_of_somebody_else_is_refused_in_one_line(as_nobody, mode):
    folder, program = as_nobody
    data = folder / "data"
    data.mkdir()
    data.chmod(mode)
    result = run(program, "serve", "--port", "0", "--data-dir", data)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        f"stator: cannot use data directory '{data}': no permission to read and write it\n"
    )
