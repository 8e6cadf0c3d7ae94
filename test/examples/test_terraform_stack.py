"""Terraform's aws_cloudformation_stack: applied, planned without a difference, destroyed."""

import pytest
from test_terraform import Terraform, answer, missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def test_a_stack_is_applied_found_again_and_destroyed(server_url, tmp_path):
    terraform = Terraform(tmp_path / "terraform", server_url, "terraform_stack")
    terraform.apply()
    assert terraform.outputs()["name"]["value"] == "orders-dev"
    assert answer(server_url, "ListTables", {})["TableNames"] == ["orders-dev"]
    terraform.run("destroy", "-auto-approve")
    assert answer(server_url, "ListTables", {})["TableNames"] == []
