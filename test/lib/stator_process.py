"""A server of one's own for a test or a benchmark: started on a free port, stopped by its process
id; and the few raw requests that need no SDK."""

import http.client
import json
import os
import pathlib
import re
import resource
import ssl
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 90
LOG_SHOWN_MAX = 4000  # Of a server whose test fails.
STOP_TIMEOUT_S = 90
LOG_TIMEOUT_S = 60
CHECK_TIMEOUT_S = 600
SERVICE_PREFIXES = {
    "application-autoscaling": "AnyScaleFrontendService",
    "cloudwatch": "GraniteServiceVersion20100801",
}
LISTENING = re.compile(r"stator \S+ listening on (https?://(\S+):(\d+)), data in (.*)\n")


def binary(variable="STATOR_BINARY", *candidates):
    """The server to start: what the variable names, else the first build there is."""
    if os.environ.get(variable):
        return os.environ[variable]
    for name in candidates or ("build/asan/stator", "build/stator"):
        if (ROOT / name).exists():
            return str(ROOT / name)
    raise FileNotFoundError("no server to test: run make first")


def preload(name):
    """A library of test/lib/preload, once it was built: the value of LD_PRELOAD."""
    path = pathlib.Path(os.environ.get("STATOR_PRELOADS", ROOT / "build/preload")) / f"{name}.so"
    if not path.exists():
        raise FileNotFoundError(f"{path}: run make {path.relative_to(ROOT)} first")
    return str(path)


def set_limits(limits):
    for which, value in limits.items():
        resource.setrlimit(which, (value, value))


class DidNotStart(AssertionError):
    """The server ended instead, with this code and this log."""

    def __init__(self, line, code, log):
        super().__init__(f"the server did not start: {line!r}\n{log}")
        self.code = code
        self.log = log


class StatorProcess:
    """A running server. As a context manager it is killed at the end, if it is still there."""

    def __init__(self, *flags, program=None, variables=None, limits=None, stderr=None):
        """`limits`: {resource.RLIMIT_...: value}, hard and soft. `stderr`: a file to log to; without
        it, log() has the text."""
        self._log = stderr or tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [program or binary(), "serve", "--port", "0", *flags],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, **(variables or {})},
            preexec_fn=lambda: set_limits(limits or {}),
        )
        line = self.process.stdout.readline()  # Empty if the server ended instead.
        match = LISTENING.fullmatch(line)
        if not match:
            self.kill()
            raise DidNotStart(line, self.process.returncode, self.log())
        self.url, self.host, self.port = match[1], match[2], int(match[3])
        self.data = match[4]  # Where the server says it keeps them.

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        # The server writes where the file's position is, which is shared: reading must not move it.
        file = self._log.fileno()
        text = os.pread(file, os.fstat(file).st_size, 0)
        return text.decode("utf-8", errors="replace")

    def wait_for_log(self, text, count=1):
        """The log, once it has the text so often: a line is written a moment after it is logged."""
        deadline = time.monotonic() + LOG_TIMEOUT_S
        while self.log().count(text) < count:
            assert time.monotonic() < deadline, f"{text!r} is not in the log:\n{self.log()}"
            time.sleep(0.01)
        return self.log()

    def stop(self):
        """SIGTERM, and the code of the orderly end must be 0: a leak that ASan found is not."""
        self.process.terminate()
        code = self.process.wait(STOP_TIMEOUT_S)
        assert code == 0, f"the server ended with {code}:\n{self.log()}"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(STOP_TIMEOUT_S)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.kill()
        if kind is not None:
            print(self.log()[-LOG_SHOWN_MAX:])  # pytest shows it with the failure.
        self._log.close()


def check(directory, program=None):
    """`stator check`, once it has ended."""
    return subprocess.run(
        [program or binary(), "check", str(directory)],
        capture_output=True,
        text=True,
        timeout=CHECK_TIMEOUT_S,
        check=False,
    )


class Keys:
    """Access keys in a data directory, as `stator key` and `stator policy` make them."""

    def __init__(self, folder, program=None, master_key=None):
        self.folder = pathlib.Path(folder)
        self._program = program or binary()
        digits = master_key or os.urandom(32).hex()
        master = self.folder / f"master-{digits[:8]}.key"
        master.touch(0o600)
        master.write_text(digits)
        self.flags = ["--data-dir", str(self.folder / "data"), "--master-key-file", str(master)]

    def run(self, *words, text=None, variables=None):
        """A command, once it has ended."""
        return subprocess.run(
            [self._program, *words, *self.flags],
            input=text,
            capture_output=True,
            text=True,
            timeout=START_TIMEOUT_S,
            check=False,
            env={**os.environ, **(variables or {})},
        )

    def command(self, *words, text=None):
        """What a command that works has printed."""
        result = self.run(*words, text=text)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def create(self, user, *statements):
        """A new key's id and secret."""
        made = dict(line.split("=", 1) for line in self.command("key", "create", user).splitlines())
        key = made["AWS_ACCESS_KEY_ID"]
        if statements:
            self.put_policy(key, *statements)
        return key, made["AWS_SECRET_ACCESS_KEY"]

    def put_policy(self, key, *statements, name="policy"):
        policy = {"Version": "2012-10-17", "Statement": statements}
        self.command("policy", "put", key, name, "-", text=json.dumps(policy))

    def session(self, key, seconds):
        """A temporary key's id, secret and token."""
        lines = self.command("key", "session", key, str(seconds)).splitlines()
        return tuple(line.split("=", 1)[1] for line in lines)


class Certificate:
    """A certificate and its key, as `stator cert self-signed` makes them."""

    def __init__(self, folder, *flags, program=None):
        folder = pathlib.Path(folder)
        subprocess.run(
            [program or binary(), "cert", "self-signed", "--out-dir", str(folder), *flags],
            capture_output=True,
            timeout=START_TIMEOUT_S,
            check=True,
        )
        self.cert, self.key = folder / "cert.pem", folder / "key.pem"
        self.flags = ["--tls-cert-file", str(self.cert), "--tls-key-file", str(self.key)]

    def trusting(self):
        """A client's context that trusts this server, and no other."""
        return ssl.create_default_context(cafile=str(self.cert))


STREAM_OPERATIONS = {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}


OWN_OPERATIONS = {
    "AddFault", "AddTrigger", "CancelJob", "CheckAccess", "CheckModel", "CreateKey", "CreateSession",
    "DeleteKey", "DeleteKeyPolicy", "DeleteModel", "DescribeRegions", "ExplainStatement", "GetAdvice", "GetHotKeys",
    "GetItemHistory", "GetKeyPolicy", "GetMeters", "GetModel", "GetSlowRequests", "ListFaults",
    "ListJobs", "ListKeyPolicies", "ListKeys", "ListTriggers", "PutKeyPolicy", "PutModel",
    "RemoveFault", "RemoveTrigger", "ReplicateSettings", "ScanModel", "UpdateKey",
    "WriteDataForReplication",
}  # fmt: skip


def operation_prefix(operation):
    if operation in OWN_OPERATIONS:
        return "Stator_20261101"
    return "DynamoDBStreams_20120810" if operation in STREAM_OPERATIONS else "DynamoDB_20120810"


def operation_headers(operation):
    """Of "PutItem", or of "cloudwatch:PutMetricAlarm" and its like."""
    service, _, name = operation.rpartition(":")
    prefix = SERVICE_PREFIXES.get(service) or operation_prefix(name)
    return {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": f"{prefix}.{name}",
        "X-Amz-Date": "20260101T000000Z",
        "Authorization": "AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/us-east-1/dynamodb/"
        "aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64,
    }


class Connection:
    """One kept-alive connection to a server; through TLS if there is a context for it."""

    def __init__(self, port, timeout_s=30, context=None):
        self.port = port
        if context is None:
            self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
        else:
            self._http = http.client.HTTPSConnection(
                "127.0.0.1", port, timeout=timeout_s, context=context
            )
        self._headers = {}

    def call(self, operation, body):
        """(status, answer). Raises OSError or HTTPException if the server is gone."""
        headers = self._headers.setdefault(operation, operation_headers(operation))
        self._http.request("POST", "/", json.dumps(body).encode(), headers)
        answer = self._http.getresponse()
        return answer.status, json.loads(answer.read() or "null")

    def close(self):
        self._http.close()


def key_schema(keys):
    return [{"AttributeName": key, "KeyType": role} for key, _, role in keys]


def table_request(name, sort_key=False, local=None, global_=None, stream=None):
    """CreateTable's request for a table with the string key `pk`, and the number `sk` if asked for.

    Indexes are {name: ([(key, type, role)...], projection)}; `stream` is a StreamViewType.
    """
    keys = [("pk", "S", "HASH")] + ([("sk", "N", "RANGE")] if sort_key else [])
    kinds = {key: kind for key, kind, _ in keys}
    request = {"TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": key_schema(keys)}
    if stream:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": stream}
    for member, indexes in (("LocalSecondaryIndexes", local), ("GlobalSecondaryIndexes", global_)):
        if not indexes:
            continue
        request[member] = [
            {
                "IndexName": index,
                "KeySchema": key_schema(index_keys),
                "Projection": {"ProjectionType": projection},
            }
            for index, (index_keys, projection) in indexes.items()
        ]
        for index_keys, _ in indexes.values():
            kinds.update({key: kind for key, kind, _ in index_keys})
    request["AttributeDefinitions"] = [
        {"AttributeName": key, "AttributeType": kind} for key, kind in kinds.items()
    ]
    return request


def create_table(connection, name, **described):
    """The table of table_request, once it is ACTIVE."""
    status, answer = connection.call("CreateTable", table_request(name, **described))
    assert status == 200, answer
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        answer = connection.call("DescribeTable", {"TableName": name})[1]
        if answer["Table"]["TableStatus"] == "ACTIVE":
            return
        time.sleep(0.01)
    raise AssertionError(f"{name} did not become ACTIVE")
