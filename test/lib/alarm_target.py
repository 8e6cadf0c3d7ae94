"""An endpoint for the actions of alarms: keeps what it was sent, and answers as it is told."""

import http.server
import json
import threading
import time

PATIENCE_S = 60


class AlarmTarget:
    def __init__(self):
        target = self
        self.status = 200
        self.messages = []  # Those that were answered with 200.
        self.refused = 0
        self.headers = None  # Of the last one.
        self._lock = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with target._lock:
                    status = target.status
                    target.headers = self.headers
                    if status == 200:
                        target.messages.append(message)
                    else:
                        target.refused += 1
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                except OSError:
                    pass  # Whoever called was killed.

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # A caller that was killed.

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/alarm?token=secret"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def states(self):
        """(from, to) of each message."""
        with self._lock:
            return [(m["OldStateValue"], m["NewStateValue"]) for m in self.messages]

    def wait_for(self, condition, what):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"{what}: {self.states()}"
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
