"""Terraform's aws_dynamodb_contributor_insights: applied, planned empty, changed and destroyed."""

import pytest
from test_terraform import Terraform, answer, missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def listed(url):
    summaries = answer(url, "ListContributorInsights", {})["ContributorInsightsSummaries"]
    return [
        (entry["TableName"], entry.get("IndexName"), entry["ContributorInsightsStatus"])
        for entry in summaries
    ]


def test_insights_are_applied_changed_and_destroyed(server_url, tmp_path):
    terraform = Terraform(tmp_path / "terraform", server_url, "terraform_insights")
    terraform.apply()
    assert listed(server_url) == [("orders", None, "ENABLED")]
    terraform.apply("of_index=true")
    assert listed(server_url) == [("orders", None, "ENABLED"), ("orders", "by_day", "ENABLED")]
    terraform.run("destroy", "-auto-approve")
    assert listed(server_url) == []
