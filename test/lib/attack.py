"""The three attacks that a server has to stand: what they send, and the attackers' process."""

import json
import pathlib
import subprocess
import sys

import stator_process

ATTACKERS = pathlib.Path(__file__).resolve().with_name("attackers.py")
END_TIMEOUT_S = 30
BODY_SIZE = 16 * 1024 * 1024  # The largest there may be.
PAGE_TABLE = "pages"
PAGE_ITEMS = 30
PAGE_ITEM_SIZE = 40_000  # So that a Scan answers a page of 1 MB.
# The attacks as they are to be stood, and how many clients take part.
SLOW_COUNT, UNREAD_COUNT, BODIES_COUNT = 2000, 200, 100


class Attack:
    """Attackers of one kind, as long as the block of `with` lasts. `counts` is set at its end. With
    `idle` they take no processor time that anybody else wants, as if they were another machine."""

    def __init__(self, kind, port, count, *paths, idle=False):
        named = [str(path) for path in paths if path]
        first = ["--idle"] if idle else []
        self._process = subprocess.Popen(
            [sys.executable, str(ATTACKERS), *first, kind, str(port), str(count), *named],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.counts = None

    def __enter__(self):
        if self._process.stdout.readline() != "attacking\n":
            raise AssertionError("the attackers did not connect")
        return self

    def __exit__(self, *_):
        try:
            out, _ = self._process.communicate(timeout=END_TIMEOUT_S)
            self.counts = json.loads(out or "{}")
        finally:
            self._process.kill()
            self._process.wait()


def _request(operation, body, headers):
    named = {**stator_process.operation_headers(operation), **headers}
    lines = [f"{k}: {v}" for k, v in named.items()]
    head = ["POST / HTTP/1.1", "Host: localhost", *lines, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode() + body


def create_pages(client):
    """A table of which one page is as large as pages are."""
    stator_process.create_table(client, PAGE_TABLE)
    for number in range(PAGE_ITEMS):
        item = {"pk": {"S": str(number)}, "pad": {"S": "p" * PAGE_ITEM_SIZE}}
        status, answer = client.call("PutItem", {"TableName": PAGE_TABLE, "Item": item})
        assert status == 200, answer


def write_request(path, operation, body, **headers):
    """`body`: what is sent as JSON, or bytes that are sent as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    path.write_bytes(_request(operation, data, headers))
    return path


def write_scan(path):
    """A request that is answered with a page of 1 MB."""
    return write_request(path, "Scan", {"TableName": PAGE_TABLE})


def write_body(path):
    """The largest request there may be, of what takes longest to read: millions of names."""
    start = f'{{"TableName":"{PAGE_TABLE}","Key":{{"pk":{{"S":"0"}}}},"AttributesToGet":["a"'.encode()
    name, end = b',"a"', b"]}"
    body = start + name * ((BODY_SIZE - len(start) - len(end)) // len(name)) + end
    path.write_bytes(_request("GetItem", body, {}))
    return path
