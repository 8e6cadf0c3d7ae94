"""Makes test/lib importable and gives each test file a server of its own."""

import os
import pathlib
import sys
import urllib.parse

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lib"))

import stator_process  # noqa: E402 (the path comes first)


@pytest.fixture(scope="module")
def server_url(tmp_path_factory):
    """Where a server listens. $STATOR_URL names one that runs already, to check the tests."""
    if os.environ.get("STATOR_URL"):
        yield os.environ["STATOR_URL"]
        return
    directory = tmp_path_factory.mktemp("data")
    with stator_process.StatorProcess("--data-dir", str(directory)) as server:
        yield server.url
        server.stop()


@pytest.fixture(scope="module")
def connection(server_url):
    opened = stator_process.Connection(urllib.parse.urlsplit(server_url).port)
    yield opened
    opened.close()
