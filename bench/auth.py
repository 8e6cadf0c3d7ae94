"""auth.py -- GetItem with and without `--auth`, in turns: what a signature and a policy cost.

Both servers get the very same requests, signed before the run by the SDK's own code. One checks the
signatures and asks the policy, the other takes them as they are.
"""

import json

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import measuring
import stator_process
import workload
from fast_client import FastClient

ITEMS = 100  # As many signed requests are sent again and again.
TURNS = 5
TURN_SECONDS = 4
CONNECTIONS = 32
POLICY = {
    "Effect": "Allow",
    "Action": ["dynamodb:GetItem", "dynamodb:Query"],
    "Resource": f"arn:aws:dynamodb:*:*:table/{workload.TABLE}",
    "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": "*"}},
}


def signed_request(port, credentials, body):
    """A whole GetItem as bytes."""
    request = botocore.awsrequest.AWSRequest(
        method="POST",
        url=f"http://127.0.0.1:{port}/",
        data=body,
        headers={
            "Host": f"127.0.0.1:{port}",
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "DynamoDB_20120810.GetItem",
        },
    )
    botocore.auth.SigV4Auth(credentials, "dynamodb", "us-east-1").add_auth(request)
    lines = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    return f"POST / HTTP/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def write_requests(folder, port, credentials, item_count):
    """The arguments of bench/load: whole requests in which nothing changes."""
    folder.mkdir()
    paths = []
    for number in range(item_count):
        body = json.dumps(workload.get(workload.key_of(number)))
        paths.append(folder / str(number))
        paths[-1].write_bytes(signed_request(port, credentials, body))
    return [f"1:{path}" for path in paths]


def load(program, flags, item_count):
    """The items, stored by a server that takes anybody's word."""
    with stator_process.StatorProcess(*flags, program=program) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, workload.TABLE)
        client.close()
        workload.fill_by_batches(server.port, workload.TABLE, item_count)
        server.stop()


def measure(program, scratch, item_count):
    keys = stator_process.Keys(scratch, program)
    credentials = botocore.credentials.Credentials(*keys.create("bench", POLICY))
    plain = ["--data-dir", str(scratch / "plain")]
    load(program, plain, item_count)
    load(program, keys.flags, item_count)
    turns = {"plain": [], "auth": []}
    with (
        stator_process.StatorProcess(*plain, program=program) as open_server,
        stator_process.StatorProcess("--auth", *keys.flags, program=program) as server,
    ):
        for number in range(TURNS):
            for name, each in (("plain", open_server), ("auth", server)):
                folder = scratch / f"requests-{name}-{number}"
                requests = write_requests(folder, each.port, credentials, item_count)
                turns[name].append(
                    measuring.turn(
                        each.port, [each.pid], requests, CONNECTIONS, item_count, TURN_SECONDS
                    )
                )
        open_server.stop()
        server.stop()
    return {name: measuring.median_of(each) for name, each in turns.items()}


def report(result):
    plain, auth = result["plain"], result["auth"]
    return [
        f"- GetItem with `--auth`: {auth['requests_per_s']:,.0f} requests/s, "
        f"{auth['requests_per_s'] / plain['requests_per_s']:.0%} of the rate without; "
        f"{auth['cpu_us_per_request']:.1f} us of CPU per request, without "
        f"{plain['cpu_us_per_request']:.1f}. Others took "
        f"{max(auth['others_share'], plain['others_share']):.0%} of the machine.",
    ]
