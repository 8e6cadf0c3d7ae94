"""A function to be called over HTTP: keeps what it was called with, and answers as it is told."""

import http.server
import json
import ssl
import threading


class FunctionTarget:
    """`decide(records)` returns how a call ends: (status, body); None: without an answer, as if the
    function had died. It may take its time. Calls run one at a time or together, as they come.

    With a `certificate` of stator_process it speaks https."""

    def __init__(self, decide=lambda records: (200, "null"), port=0, certificate=None):
        target = self
        self.calls = []  # (records, status; None: no answer), in the order they ended.
        self._lock = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = decide(event["Records"])
                with target._lock:
                    target.calls.append((event["Records"], answer and answer[0]))
                if answer is None:
                    self.close_connection = True
                    self.connection.close()
                    return
                status, body = answer
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body.encode())))
                    self.end_headers()
                    self.wfile.write(body.encode())
                except OSError:
                    pass  # Whoever called did not wait, or was killed.

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # A caller that was killed.

        self._server = Server(("127.0.0.1", port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate.cert, certificate.key)
            # A handshake on the accepting thread would make every other caller wait for it.
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self._server.server_address[1]
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}/2015-03-31/functions/f/invocations"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def snapshot(self):
        with self._lock:
            return list(self.calls)

    def delivered(self):
        """The records of the calls that ended well, in order."""
        return [record for records, status in self.snapshot() if status == 200 for record in records]

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
