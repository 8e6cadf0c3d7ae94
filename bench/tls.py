"""tls.py -- GetItem through TLS and without, in turns, on connections that are kept; and the memory
of connections that do nothing.

bench/load asks for no certificate's authority, so one that signs itself will do. The handshakes are over
after the first moment: what is measured are records.
"""

import contextlib
import socket

import auth
import measuring
import stator_process
import workload

ITEMS = 100_000
TURNS = 5
TURN_SECONDS = 4
CONNECTIONS = 32
IDLE_CONNECTIONS = 500


def idle_kb(server, context):
    """Resident memory of one connection that has sent a request and does nothing more."""
    before = measuring.resident_mb(server.pid)
    with contextlib.ExitStack() as stack:
        for _ in range(IDLE_CONNECTIONS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 10))
            if context is not None:
                client = stack.enter_context(context.wrap_socket(client))
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
        return (measuring.resident_mb(server.pid) - before) * 1024 / IDLE_CONNECTIONS


def measure(program, scratch, item_count):
    certificate = stator_process.Certificate(scratch / "tls", program=program)
    trusting = certificate.trusting()
    trusting.check_hostname = False
    sides = {"http": ([], None), "https": (certificate.flags, trusting)}
    requests = workload.write_requests(
        scratch / "requests", [(1, "GetItem", workload.get(workload.key()))]
    )
    turns = {name: [] for name in sides}
    idle = {}
    with contextlib.ExitStack() as stack:
        servers = {}
        for name, (flags, _) in sides.items():
            data = ["--data-dir", str(scratch / name)]
            auth.load(program, data, item_count)
            servers[name] = stack.enter_context(
                stator_process.StatorProcess(*data, *flags, program=program)
            )
        for name, (_, context) in sides.items():
            idle[name] = idle_kb(servers[name], context)
        for _ in range(TURNS):
            for name, server in servers.items():
                turns[name].append(
                    measuring.turn(
                        server.port, [server.pid], requests, CONNECTIONS, item_count, TURN_SECONDS,
                        tls=name == "https",
                    )
                )  # fmt: skip
        for server in servers.values():
            server.stop()
    return {"idle_kb": idle, **{name: measuring.median_of(each) for name, each in turns.items()}}


def report(result):
    plain, tls, idle = result["http"], result["https"], result["idle_kb"]
    return [
        f"- GetItem through TLS: {tls['requests_per_s']:,.0f} requests/s, "
        f"{tls['requests_per_s'] / plain['requests_per_s']:.0%} of the rate without; "
        f"{tls['cpu_us_per_request']:.1f} us of CPU per request, without "
        f"{plain['cpu_us_per_request']:.1f}. Others took "
        f"{max(tls['others_share'], plain['others_share']):.0%} of the machine.",
        f"- An idle connection takes {idle['https']:.1f} KB through TLS, {idle['http']:.1f} KB without.",
    ]
