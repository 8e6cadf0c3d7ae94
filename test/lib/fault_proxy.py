"""A proxy between two servers that loses, delays, cuts, repeats and reorders requests.

    drop    the request gets nowhere           delay   it comes late
    cut     it is served, and the answer lost  hang    the same, and the connection stays for a while
    half    the receiver gets a part of it     repeat  it comes once more, perhaps after later ones

It reads a whole request before it decides what becomes of it, so a repeated request is the same
request, perhaps long after the first one was answered, and after later ones.
"""

import collections
import http.client
import http.server
import random
import threading
import time


class FaultProxy:
    """Listens on a free port of 127.0.0.1; `target` is the port that it sends to, set later.

    `rate` is how often something goes wrong, from 0 to 1; `is_cut` lets nothing through.
    `script` decides instead: a function of the operation's name that returns a fault or None.
    `watch` is called with the operation's name and the body of each request, whatever becomes of it.
    """

    def __init__(self, seed=0, rate=0.0):
        self.target, self.rate, self.is_cut = None, rate, False
        self.script, self.watch = None, None
        self.seen = collections.deque(maxlen=1000)  # The last operations, and their bodies.
        self.faults = {"drop": 0, "delay": 0, "cut": 0, "hang": 0, "half": 0, "repeat": 0}
        self._random = random.Random(seed)
        self._late = []
        self._stopping = threading.Event()
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def do_POST(self):
                proxy._handle(self)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self):
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def _choose(self):
        if self._random.random() >= self.rate:
            return None
        fault = self._random.choice(sorted(self.faults))
        self.faults[fault] += 1
        return fault

    @staticmethod
    def _start(connection, headers, path, body):
        connection.putrequest("POST", path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            if name.lower() not in ("connection", "expect"):
                connection.putheader(name, value)
        connection.endheaders(body)

    def _send(self, headers, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.target, timeout=30)
        try:
            self._start(connection, headers, path, body)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def _send_half(self, headers, path, body):
        """The connection breaks in the middle of the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.target, timeout=30)
        try:
            half = body[: self._random.randrange(len(body) + 1) // 2]
            self._start(connection, headers, path, half)
        except OSError:
            pass
        finally:
            connection.close()

    def _send_late(self, headers, path, body, delay_s):
        def run():
            if self._stopping.wait(delay_s) or self.is_cut:
                return
            try:
                self._send(headers, path, body)
            except OSError:
                pass

        threading.Thread(target=run, daemon=True).start()

    def _handle(self, handler):
        size = int(handler.headers.get("Content-Length", 0))
        body = handler.rfile.read(size)
        headers = list(handler.headers.items())
        operation = handler.headers.get("X-Amz-Target", "").rpartition(".")[2]
        self.seen.append((operation, body))
        if self.watch is not None:
            self.watch(operation, body)
        fault = self._choose() if self.script is None else self.script(operation)
        if self.is_cut or self.target is None or fault == "drop":
            handler.close_connection = True
            return
        if fault == "half":
            self._send_half(headers, handler.path, body)
            handler.close_connection = True
            return
        if fault == "delay":
            time.sleep(self._random.random() * 0.3)
        if fault == "repeat":
            self._send_late(headers, handler.path, body, self._random.random() * 2)
        try:
            status, answered, content = self._send(headers, handler.path, body)
        except (OSError, http.client.HTTPException):
            handler.close_connection = True
            return
        if fault == "hang":
            self._stopping.wait(self._random.random() * 3)
        if fault in ("cut", "hang"):  # It has its effect, and nobody is told.
            handler.close_connection = True
            return
        handler.send_response_only(status)
        for name, value in answered:
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
