"""The server as a process: what it prints, how it starts, how it ends."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.request

import pytest

from stator_process import StatorProcess, binary

RELEASE_BINARY = binary("STATOR_RELEASE_BINARY", "build/stator")
DEADLINE_S = 90
# Bytes of a request whose rest never comes.
HALF_REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf"


class Server(StatorProcess):
    def healthy(self):
        with urllib.request.urlopen(f"{self.url}/healthz", timeout=DEADLINE_S) as answer:
            return answer.status == 200

    def end(self, number=signal.SIGTERM):
        """The exit code after a signal, and how long it took."""
        started = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(DEADLINE_S)
        return code, time.monotonic() - started


def run(*flags, **variables):
    return subprocess.run(
        [binary(), *flags],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        env={**os.environ, **variables},
    )


def assert_refused(result, code, text):
    """One line on standard error, nothing on standard output."""
    assert (result.returncode, result.stdout) == (code, "")
    assert result.stderr == f"stator: {text}\n"


def test_start_is_announced_with_a_command_to_paste(tmp_path):
    with Server("--data-dir", str(tmp_path / "d"), "--region", "eu-west-1") as server:
        assert server.healthy()
        assert server.data == str(tmp_path / "d")
        assert server.process.stdout.readline() == (
            "AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x aws dynamodb list-tables "
            f"--endpoint-url {server.url} --region eu-west-1\n"
        )


def test_memory_leaves_no_directory(tmp_path):
    with Server("--in-memory", variables={"STATOR_DATA_DIR": str(tmp_path / "d")}) as server:
        assert server.data == "memory"
        assert server.end()[0] == 0
    assert not (tmp_path / "d").exists()


def test_an_ipv6_address_is_printed_in_brackets():
    with Server("--in-memory", "--bind", "::1") as server:
        assert server.host == "[::1]"
        assert server.healthy()


def test_flags_of_dynamodb_local_start_the_server():
    with Server("-inMemory", "-sharedDb", "-disableTelemetry") as server:
        assert server.healthy()
        assert server.end()[0] == 0
        assert "info config: flags without effect here: -sharedDb (" in server.log()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_with_0(tmp_path, number):
    with Server("--data-dir", str(tmp_path)) as server:
        # An idle connection must not hold the server up.
        with socket.create_connection(("127.0.0.1", server.port)):
            code, seconds = server.end(number)
    assert code == 0
    assert seconds < 3


def test_a_request_that_never_ends_holds_the_end_up_within_bounds():
    with Server("--in-memory") as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(HALF_REQUEST)
            time.sleep(0.2)
            code, seconds = server.end()
    assert code == 0
    assert seconds < 10


def test_a_second_signal_ends_the_server_at_once():
    with Server("--in-memory") as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(HALF_REQUEST)
            time.sleep(0.2)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert server.process.poll() is None
            code, seconds = server.end(signal.SIGINT)
    assert code == 128 + signal.SIGINT
    assert seconds < 2


def test_a_directory_is_used_again_after_a_kill(tmp_path):
    for _ in range(2):
        with Server("--data-dir", str(tmp_path)) as server:
            assert server.healthy()
            server.process.kill()
            server.process.wait()


def test_a_port_in_use_is_refused():
    with Server("--in-memory") as server:
        result = run("--in-memory", "--port", str(server.port))
    assert_refused(
        result, 1, f"cannot listen on 127.0.0.1 port {server.port}: address already in use"
    )


def test_a_directory_in_use_is_refused(tmp_path):
    with Server("--data-dir", str(tmp_path)):
        result = run("--port", "0", "--data-dir", str(tmp_path))
    assert_refused(result, 1, f"cannot use data directory '{tmp_path}': in use by another process")


def test_a_directory_with_files_of_others_is_refused_and_left_alone(tmp_path):
    for name in (".hidden", "KEYS.lock", "lost+found"):
        (tmp_path / name).touch()
    (tmp_path / "thesis.tex").touch()
    before = sorted(tmp_path.iterdir())
    assert_refused(
        run("--port", "0", "--data-dir", str(tmp_path)),
        1,
        f"cannot use data directory '{tmp_path}': it holds no store, but other files, such as "
        "'thesis.tex'; name an empty or a missing directory",
    )
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "thesis.tex").unlink()
    with Server("--data-dir", str(tmp_path)) as server:
        assert server.healthy()
    (tmp_path / "thesis.tex").touch()  # Beside a store it does no harm.
    with Server("--data-dir", str(tmp_path)) as server:
        assert server.healthy()


def test_a_file_in_place_of_the_directory_is_refused(tmp_path):
    (tmp_path / "file").touch()
    result = run("--port", "0", "--data-dir", str(tmp_path / "file"))
    assert_refused(result, 1, f"cannot use data directory '{tmp_path}/file': not a directory")


def test_settings_that_cannot_be_are_refused_with_2(tmp_path):
    file = tmp_path / "s.conf"
    file.write_text("# a comment\nport = high\n")
    assert_refused(run("--bogus"), 2, "--bogus: no such flag (see --help)")
    number = "is not a number from 0 to 65535"
    assert_refused(run(STATOR_PORT="x"), 2, f"STATOR_PORT: 'x' {number}")
    assert_refused(run("--config", str(file)), 2, f"{file}:2: port: 'high' {number}")
    assert_refused(
        run("--bind", "0.0.0.0"),
        2,
        "--bind: other machines can reach 0.0.0.0, which requires --tls-cert-file and "
        "--tls-key-file, and --auth, or --insecure",
    )


def test_version_help_and_settings_are_printed():
    for words in (["--version"], ["-V"], ["version"], ["-version"], ["key", "--version"]):
        result = run(*words)
        assert (result.returncode, result.stderr) == (0, "")
        first, second = result.stdout.splitlines()
        assert re.fullmatch(r"stator 0\.1\.0 \(\S+\)", first)
        libraries = re.findall(r"(\w+) \d+\.\d+(?:\.\d+)*", second)
        assert libraries == [
            "RocksDB", "libuv", "OpenSSL", "zlib", "zstd", "libyaml", "xxHash",
        ]
    assert run("--help").stdout.startswith("Usage: stator [COMMAND] [FLAGS]\n")
    assert run("help").stdout == run("--help").stdout
    assert run("help", "key").stdout == run("key", "--help").stdout
    assert run("key", "-h").stdout.startswith("Usage: stator key create USER [FLAGS]\n")
    assert_refused(run("help", "nope"), 2, "nope: no such command (see --help)")
    result = run("--print-config", "--port", "1", STATOR_REGION="eu-west-1")
    assert result.returncode == 0
    assert "\nport = 1\n" in result.stdout
    assert "\nregion = eu-west-1\n" in result.stdout


def cpu_seconds(pid):
    """Of all threads that the process has."""
    threads = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def test_the_server_answers_after_100_ms_of_work(tmp_path):
    """CPU time, as the machine may be busy with other tests."""
    best = float("inf")
    for _ in range(5):
        with Server("--data-dir", str(tmp_path), program=RELEASE_BINARY) as server:
            assert server.healthy()
            best = min(best, cpu_seconds(server.process.pid))
            server.end()
    assert 0 < best < 0.1


def test_an_idle_server_takes_less_than_40_mb(tmp_path):
    with Server("--data-dir", str(tmp_path), program=RELEASE_BINARY) as server:
        assert server.healthy()
        with open(f"/proc/{server.pid}/status", encoding="ascii") as status:
            resident_kb = int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1])
    assert resident_kb < 40 * 1024
