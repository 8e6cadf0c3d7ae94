"""Whatever a client asks of a table with every feature, the server answers, and its store is whole.

RANDOM_SEED repeats a run; RANDOM_REQUESTS=100000 is the long form.
"""

import http.client
import json
import os
import random

import pytest
from random_requests import TABLES, RandomRequests
from stator_process import StatorProcess, check

REQUESTS = int(os.environ.get("RANDOM_REQUESTS", "2500"))
SEEDS = [int(os.environ.get("RANDOM_SEED", random.randrange(1_000_000))) + n for n in range(2)]
TIMEOUT_S = 60
SUCCEEDED_MIN = 60  # Operations that answered 200 at least once; fewer means that the requests got poor.


def send(connection, headers, body):
    connection.request("POST", "/", json.dumps(body), headers)
    response = connection.getresponse()
    return response.status, json.loads(response.read() or b"{}")


@pytest.mark.parametrize("seed", SEEDS)
def test_no_request_crashes_the_server_fails_inside_it_or_damages_the_store(tmp_path, seed):
    requests, succeeded = RandomRequests(seed), set()
    (tmp_path / "buckets" / "bucket").mkdir(parents=True)
    flags = ["--data-dir", str(tmp_path / "data"), "--buckets", str(tmp_path / "buckets")]
    with StatorProcess(*flags) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
        for name in TABLES:
            headers = requests.headers("dynamodb", "CreateTable")
            assert send(connection, headers, requests.create_full_table(name))[0] == 200
        for _ in range(REQUESTS):
            headers, operation, body = requests.next()
            status, answer = send(connection, headers, body)
            assert status < 500, (seed, operation, body, answer)
            if status == 200:
                succeeded.add(operation)
                requests.learn(answer)
        connection.close()
        server.stop()
    assert len(succeeded) >= SUCCEEDED_MIN, (seed, sorted(succeeded))
    assert check(tmp_path / "data").returncode == 0, seed
