"""Two evaluations of a thousand templates agree: the server's, and test/lib/naive_template.py."""

import json
import random
import subprocess

import pytest

import naive_template
import stator_process
from stator_process import StatorProcess

TIMEOUT_S = 120
TEMPLATES = 1000
BATCH = 100


@pytest.fixture(scope="module")
def server():
    with StatorProcess("--in-memory") as started:
        yield started


def expected_request(template, logical_id):
    properties = template.value(template.document["Resources"][logical_id]["Properties"])
    request = {
        "TableName": template.name(logical_id),
        "AttributeDefinitions": properties["AttributeDefinitions"],
        "KeySchema": properties["KeySchema"],
        "BillingMode": properties["BillingMode"],
        "DeletionProtectionEnabled": naive_template.text(properties["DeletionProtectionEnabled"]) == "true",
    }
    if "ProvisionedThroughput" in properties:
        request["ProvisionedThroughput"] = {
            name: int(naive_template.text(units)) for name, units in properties["ProvisionedThroughput"].items()}
    if properties["Tags"]:
        request["Tags"] = [
            {name: naive_template.text(value) for name, value in tag.items()} for tag in properties["Tags"]]
    return request


@pytest.mark.parametrize("batch", range(TEMPLATES // BATCH))
def test_two_evaluations_agree(batch, server, tmp_path):
    rng = random.Random(batch)
    documents = []
    for number in range(BATCH):
        document = naive_template.Maker(rng).template()
        in_yaml = rng.random() < 0.5
        name = f"s{number}." + ("yaml" if in_yaml else "json")
        (tmp_path / name).write_text(
            naive_template.yaml_document(document) if in_yaml else json.dumps(document), "utf-8")
        documents.append((name, document))
    done = subprocess.run(
        [stator_process.binary(), "apply", *(name for name, _ in documents), "--plan", "--json",
         "--endpoint", server.url],
        capture_output=True, text=True, timeout=TIMEOUT_S, cwd=tmp_path,
    )
    assert done.returncode == 3, done.stderr
    for (name, document), stack in zip(documents, json.loads(done.stdout)["Stacks"], strict=True):
        template = naive_template.Template(document, name.split(".")[0])
        assert stack["Outputs"] == template.outputs(), document
        made = {item["LogicalId"]: item["Requests"][0]["Body"]
                for item in stack["Items"] if item["Action"] == "Create"}
        assert made == {one: expected_request(template, one)
                        for one in document["Resources"] if one != "Role"}, document
        order = [item["LogicalId"] for item in stack["Items"]]
        for one, resource in document["Resources"].items():
            depends_on = resource.get("DependsOn", [])
            for other in [depends_on] if isinstance(depends_on, str) else depends_on:
                assert order.index(other) < order.index(one)
