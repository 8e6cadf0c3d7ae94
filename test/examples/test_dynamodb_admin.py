"""dynamodb-admin, the web interface from npm, against stator: what a person does with its forms.

Its pages send their forms as JSON, and so does this test; no browser is needed. It runs where the
package is installed, by test/examples/dynamodb_admin/package.json: `make test` installs it if the
npm registry can be reached.
"""

import http.client
import json
import pathlib
import re
import shutil
import subprocess
import urllib.parse

import pytest

PROGRAM = (
    pathlib.Path(__file__).parent
    / "dynamodb_admin/node_modules/dynamodb-admin/dist/dynamodb-admin.js"
)
LISTENING = re.compile(r"dynamodb-admin listening on http://\S+?:(\d+)\s")
END_LIMIT_S = 90


NODE_MAJOR_MIN = 20  # The SDK that it uses needs it.


def node_major():
    """The version of Node.js; 0 if there is none."""
    if shutil.which("node") is None:
        return 0
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    return int(version.stdout.lstrip("v").split(".")[0])


def missing():
    """Why the test cannot run here, or None."""
    if node_major() < NODE_MAJOR_MIN:
        return f"there is no Node.js {NODE_MAJOR_MIN} or later"
    if not PROGRAM.exists():
        return "dynamodb-admin is not installed: npm ci in test/examples/dynamodb_admin"
    return None


pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


class Admin:
    """Requests to a running dynamodb-admin."""

    def __init__(self, port):
        self.port = port

    def send(self, method, path, body=None):
        """The status, and the text or what the JSON means."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {} if body is None else {"Content-Type": "application/json"}
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, headers)
        answer = connection.getresponse()
        content = answer.read().decode()
        connection.close()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, json.loads(content) if is_json else content

    def items(self, table, **query):
        """The items that the page of a table shows."""
        named = urllib.parse.urlencode(query)
        status, answer = self.send("GET", f"/tables/{table}/items?{named}")
        assert status == 200, answer
        for item in answer["Items"]:
            del item["__key"]
        return answer["Items"]


def wait_until_it_listens(process):
    """Its port, from the line that it prints."""
    for line in process.stdout:
        if match := LISTENING.search(line):
            return int(match[1])
    raise AssertionError(f"dynamodb-admin ended with {process.wait(END_LIMIT_S)}")


@pytest.fixture(scope="module", name="admin")
def fixture_admin(server_url, tmp_path_factory):
    program = ["node", str(PROGRAM), "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(
        [*program, "--dynamo-endpoint", server_url],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path_factory.mktemp("admin"),
    ) as process:
        try:
            yield Admin(wait_until_it_listens(process))
        finally:
            process.kill()


def test_a_person_keeps_songs_in_a_table(admin):
    # The form sends what was typed, numbers included, as strings.
    form = {
        "TableName": "Songs",
        "HashAttributeName": "artist",
        "HashAttributeType": "S",
        "RangeAttributeName": "year",
        "RangeAttributeType": "N",
        "ReadCapacityUnits": "3",
        "WriteCapacityUnits": "3",
    }
    index = {
        "IndexName": "ByTitle",
        "IndexType": "global",
        "HashAttributeName": "title",
        "HashAttributeType": "S",
        "RangeAttributeName": "",
        "RangeAttributeType": "S",
        "ReadCapacityUnits": "1",
        "WriteCapacityUnits": "1",
    }
    request = {"TableDefinition": form, "SecondaryIndexes": [index]}
    assert admin.send("POST", "/create-table", request) == (204, "")
    status, page = admin.send("GET", "/")
    assert (status, "Songs" in page) == (200, True)

    song = {"artist": "Can", "year": 1972, "title": "Vitamin C", "tags": ["krautrock"]}
    key = {"artist": "Can", "year": 1972}
    assert admin.send("PUT", "/tables/Songs/add-item", song) == (200, key)
    assert admin.items("Songs") == [song]

    edited = {**song, "tags": ["krautrock", "funk"], "rating": {"stars": 5, "final": True}}
    assert admin.send("PUT", "/tables/Songs/items/Can,1972", edited) == (200, edited)
    status, page = admin.send("GET", "/tables/Songs/items/Can,1972")
    assert (status, "funk" in page) == (200, True)

    def query(selection, **filters):
        typed = {
            name: {"operator": "=", "type": "N" if name == "year" else "S", "value": value}
            for name, value in filters.items()
        }
        return admin.items(
            "Songs",
            operationType="query",
            queryableSelection=selection,
            filters=json.dumps(typed),
        )

    assert query("table", artist="Can", year="1972") == [edited]
    assert query("table", artist="Neu!") == []
    assert query("ByTitle", title="Vitamin C") == [edited]
    for page in ("", "/get?hash=Can&range=1972", "/meta", "/ttl"):
        status, text = admin.send("GET", f"/tables/Songs{page}")
        assert status in (200, 302), text

    assert admin.send("DELETE", "/tables/Songs/items/Can,1972") == (204, "")
    assert admin.items("Songs") == []
    assert admin.send("GET", "/tables/Songs/items/Can,1972") == (404, "Not found")
    assert admin.send("DELETE", "/tables/Songs") == (204, "")
    assert admin.send("GET", "/api/tables") == (200, [])
