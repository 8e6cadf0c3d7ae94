"""A client with as little between it and the socket as Python allows: the crash test needs many
writes under way when the server dies."""

import json
import socket

import stator_process

RECEIVE_SIZE = 1 << 16


class ServerGone(Exception):
    """The connection ended before the answer was complete."""


class FastClient:
    def __init__(self, port, timeout_s=30):
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        except OSError as error:
            raise ServerGone from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._heads = {}
        self._received = b""

    def _request(self, operation, body):
        head = self._heads.get(operation)
        if head is None:
            lines = [f"{k}: {v}" for k, v in stator_process.operation_headers(operation).items()]
            head = "\r\n".join(["POST / HTTP/1.1", "Host: localhost", *lines, "Content-Length: "])
            self._heads[operation] = head = head.encode()
        payload = json.dumps(body).encode()
        return b"%s%d\r\n\r\n%s" % (head, len(payload), payload)

    def _answer(self):
        while (end := self._received.find(b"\r\n\r\n")) < 0:
            self._receive()
        head = self._received[:end].lower()
        start = head.index(b"content-length:") + len(b"content-length:")
        size = int(head[start:].split(b"\r\n", 1)[0])
        body_start = end + 4
        while len(self._received) < body_start + size:
            self._receive()
        body = self._received[body_start : body_start + size]
        self._received = self._received[body_start + size :]
        return int(head[9:12]), json.loads(body)

    def _receive(self):
        chunk = self._socket.recv(RECEIVE_SIZE)
        if not chunk:
            raise ServerGone
        self._received += chunk

    def call(self, operation, body):
        """(status, answer)."""
        return self.call_many(operation, [body])[0]

    def call_many(self, operation, bodies):
        """Pipelined: all are sent before the first answer is read."""
        self.send(operation, *bodies)
        return [self.receive() for _ in bodies]

    def send(self, operation, *bodies):
        try:
            self._socket.sendall(b"".join(self._request(operation, body) for body in bodies))
        except OSError as error:
            raise ServerGone from error

    def receive(self):
        """(status, answer) of the first request sent that has none yet."""
        try:
            return self._answer()
        except OSError as error:
            raise ServerGone from error

    def close(self):
        self._socket.close()
