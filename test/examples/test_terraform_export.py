"""Terraform's point_in_time_recovery and aws_dynamodb_table_export: applied, and planned empty."""

import gzip
import json

import pytest
import stator_process
from test_terraform import Terraform, missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def test_a_table_is_exported(tmp_path):
    bucket = tmp_path / "buckets" / "exports"
    bucket.mkdir(parents=True)
    flags = ["--data-dir", str(tmp_path / "data"), "--buckets", str(tmp_path / "buckets")]
    with stator_process.StatorProcess(*flags) as server:
        terraform = Terraform(tmp_path / "terraform", server.url, "terraform_export")
        terraform.apply()
        outputs = terraform.outputs()
        manifest = outputs["manifest"]["value"]
        assert outputs["item_count"]["value"] == 1
        assert manifest.startswith("nightly/AWSDynamoDB/")
        summary = json.loads((bucket / manifest).read_text())
        [entry] = (bucket / summary["manifestFilesS3Key"]).read_text().splitlines()
        data = gzip.decompress((bucket / json.loads(entry)["dataFileS3Key"]).read_bytes())
        assert json.loads(data) == {"Item": {"customer": {"S": "ann"}, "total": {"N": "12.5"}}}
        server.stop()
