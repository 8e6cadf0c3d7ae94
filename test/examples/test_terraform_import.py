"""Terraform's import_table: a table made of objects in a bucket, which a plan then leaves alone."""

import gzip

import pytest
from stator_process import StatorProcess
from test_terraform import Terraform, answer, missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def test_a_table_is_imported_found_again_and_destroyed(tmp_path):
    folder = tmp_path / "buckets/catalogue/books"
    folder.mkdir(parents=True)
    lines = b"".join(b'{"Item":{"isbn":{"S":"%d"},"title":{"S":"t"}}}\n' % i for i in range(50))
    (folder / "part-1.json.gz").write_bytes(gzip.compress(lines))
    with StatorProcess("--in-memory", "--buckets", str(tmp_path / "buckets")) as server:
        terraform = Terraform(tmp_path / "terraform", server.url, "terraform_import")
        terraform.apply()
        scanned = answer(server.url, "Scan", {"TableName": "books", "Select": "COUNT"})
        assert scanned["Count"] == 50
        listed = answer(server.url, "ListImports", {})["ImportSummaryList"]
        assert [entry["ImportStatus"] for entry in listed] == ["COMPLETED"]
        terraform.run("destroy", "-auto-approve")
        assert answer(server.url, "ListTables", {})["TableNames"] == []
