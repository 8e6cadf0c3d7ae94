"""Clients that mean harm, as a program of its own so that it can run at a low priority:

    attackers.py slow PORT COUNT            heads that never end, a line every second
    attackers.py unread PORT COUNT FILE     the request in FILE, again and again; answers are not read
    attackers.py bodies PORT COUNT FILE     the request in FILE, again and again, as fast as it goes
    attackers.py turns PORT COUNT FILE...   the requests in the files, in turns; each answer is read
    attackers.py newcomers PORT COUNT FILE  one request per connection, then a new connection

With --idle before the kind, once all have connected, the program only gets what processor time all
others leave. Whoever is thrown out comes back. Prints a line once all have connected and, at the end of its input,
how often it was answered what, as JSON. One thread, and files go from the kernel to the kernel: the
attack should cost the attacked more than the attacker.
"""

import collections
import json
import os
import pathlib
import select
import socket
import sys
import time

TICK_S = 1
PIPELINED = 8  # Requests that are sent without an answer being read.
SMALL_BUFFER = 4096  # Of a socket that nobody reads.
# A longer call would keep a processor from others: the kernel does not interrupt it.
SENT_AT_ONCE = RECEIVED_AT_ONCE = 1 << 14


class Attacker:
    """One connection at a time, and what it does when the socket is ready."""

    events = 0  # What to wait for, beside the end of the connection.

    def __init__(self, attack):
        self.attack = attack
        self.socket = None
        self.connect()

    def connect(self):
        self.socket = socket.socket()
        self.prepare()
        self.socket.setblocking(False)
        try:
            self.socket.connect(("127.0.0.1", self.attack.port))
        except BlockingIOError:
            pass
        self.attack.add(self, select.EPOLLOUT)

    def prepare(self):
        pass

    def again(self):
        self.attack.remove(self)
        self.socket.close()
        self.attack.counts["connections lost"] += 1
        self.connect()

    def begin(self):
        """The socket is connected."""

    def go_on(self):
        """Something of `events` has happened."""

    def tick(self):
        """A second has passed."""

    def count_answers(self, data):
        for answer in data.split(b"HTTP/1.1 ")[1:]:
            self.attack.counts[answer[:3].decode("ascii", "replace")] += 1


class Slow(Attacker):
    events = select.EPOLLIN
    began = False

    def begin(self):
        self.socket.send(b"POST / HTTP/1.1\r\nHost: localhost\r\n")
        self.began = True

    def go_on(self):
        data = self.socket.recv(4096)
        self.count_answers(data)
        if not data:
            self.began = False
            self.again()

    def tick(self):
        if self.began:
            self.socket.send(b"X-Header: and on\r\n")


class Unread(Attacker):
    def prepare(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)

    def begin(self):
        self.socket.send(self.attack.request * PIPELINED)


class Bodies(Attacker):
    events = select.EPOLLIN | select.EPOLLOUT
    sent = 0

    def begin(self):
        self.sent = 0
        self.go_on()

    def go_on(self):
        try:
            data = self.socket.recv(65536)
            self.count_answers(data)
            if not data:
                self.again()
                return
            self.sent = 0  # Answered; or refused, and the connection is about to end.
        except BlockingIOError:
            pass
        if self.sent < self.attack.size:
            self.sent += os.sendfile(
                self.socket.fileno(),
                self.attack.file,
                self.sent,
                min(self.attack.size - self.sent, SENT_AT_ONCE),
            )
        waits = self.sent == self.attack.size
        self.attack.change(self, select.EPOLLIN if waits else self.events)


class Turns(Attacker):
    events = select.EPOLLIN
    request = 0
    unsent = b""
    received = 0
    expected = None  # Size of the answer, head included; None: not known yet.
    head = b""

    def begin(self):
        self.send(self.attack.requests[self.request % len(self.attack.requests)])

    def send(self, data):
        self.received, self.expected, self.head = 0, None, b""
        self.unsent = data
        self.flush()

    def flush(self):
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except BlockingIOError:
            pass
        both = select.EPOLLIN | select.EPOLLOUT
        self.attack.change(self, both if self.unsent else select.EPOLLIN)

    def go_on(self):
        if self.unsent:
            self.flush()
        data = self.socket.recv(RECEIVED_AT_ONCE)
        if not data:
            self.again()
            return
        self.received += len(data)
        if self.expected is None:
            self.head += data
            head, end, _ = self.head.partition(b"\r\n\r\n")
            if not end:
                return
            self.count_answers(head)
            size = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
            self.expected = len(head) + len(end) + int(size)
        if self.received >= self.expected:
            self.request += 1
            self.answered()

    def answered(self):
        self.begin()


class Newcomers(Turns):
    def answered(self):
        self.attack.remove(self)
        self.socket.close()
        self.connect()


class Attack:
    def __init__(self, kind, port, count, paths, is_idle):
        self.port = port
        self._is_idle = is_idle
        path = paths[0] if paths else None
        self.counts = collections.Counter()
        self._poll = select.epoll()
        self._by_fd = {}
        self._connecting = set()
        if path:
            self.file = os.open(path, os.O_RDONLY)
            self.size = os.fstat(self.file).st_size
        if kind is Unread:
            self.request = os.pread(self.file, self.size, 0)
        if issubclass(kind, Turns):
            self.requests = [pathlib.Path(each).read_bytes() for each in paths]
        self.attackers = [kind(self) for _ in range(count)]

    def add(self, attacker, events):
        fd = attacker.socket.fileno()
        self._by_fd[fd] = attacker
        self._connecting.add(fd)
        self._poll.register(fd, events)

    def remove(self, attacker):
        fd = attacker.socket.fileno()
        self._poll.unregister(fd)
        self._connecting.discard(fd)
        del self._by_fd[fd]

    def change(self, attacker, events):
        self._poll.modify(attacker.socket.fileno(), events)

    def handle(self, fd, events):
        attacker = self._by_fd.get(fd)
        if attacker is None:
            return
        try:
            if fd in self._connecting:
                self._connecting.discard(fd)
                self._poll.modify(fd, attacker.events)
                attacker.begin()
            elif attacker.events == 0 or events & (select.EPOLLERR | select.EPOLLHUP):
                attacker.again()
            else:
                attacker.go_on()
        except BlockingIOError:
            pass
        except OSError:
            attacker.again()

    def tick(self):
        for attacker in self.attackers:
            try:
                attacker.tick()
            except OSError:
                attacker.again()

    def run(self):
        """Until standard input ends."""
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN)
        announced = False
        next_tick = time.monotonic() + TICK_S
        while True:
            for fd, events in self._poll.poll(TICK_S):
                if fd == sys.stdin.fileno():
                    return
                self.handle(fd, events)
                if self._is_idle and announced:
                    os.sched_yield()  # See bench/README.md.
            if not announced and not self._connecting:
                announced = True
                if self._is_idle:
                    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
                print("attacking", flush=True)
            if time.monotonic() >= next_tick:
                next_tick += TICK_S
                self.tick()


KINDS = {
    "slow": Slow,
    "unread": Unread,
    "bodies": Bodies,
    "turns": Turns,
    "newcomers": Newcomers,
}


def main():
    os.nice(19)
    is_idle = sys.argv[1] == "--idle"
    kind, port, count, *paths = sys.argv[2 if is_idle else 1 :]
    attack = Attack(KINDS[kind], int(port), int(count), paths, is_idle)
    attack.run()
    print(json.dumps(attack.counts))


if __name__ == "__main__":
    main()
