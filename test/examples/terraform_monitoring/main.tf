# Alarms and a dashboard of CloudWatch; test_terraform.py applies them.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

variable "endpoint" {
  description = "Where stator listens."
}

variable "threshold" {
  default = 100
}

variable "team" {
  default = "shop"
}

# A server that is no AWS account: any keys. The provider asks IAM and then STS for the account.
provider "aws" {
  region                      = "us-east-1"
  access_key                  = "x"
  secret_key                  = "x"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  endpoints {
    cloudwatch = var.endpoint
    iam        = var.endpoint
    sts        = var.endpoint
  }
}

data "aws_caller_identity" "me" {}

output "account" {
  value = data.aws_caller_identity.me.account_id
}

resource "aws_cloudwatch_metric_alarm" "reads" {
  alarm_name          = "orders-reads"
  alarm_description   = "Reads of orders & more: \"<${var.threshold}>\""
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedReadCapacityUnits"
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 3
  datapoints_to_alarm = 2
  threshold           = var.threshold
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = ["arn:aws:sns:us-east-1:123456789012:alarms"]
  ok_actions          = ["arn:aws:sns:us-east-1:123456789012:topic"]

  dimensions = {
    TableName = "orders"
  }
  tags = {
    team = var.team
  }
}

resource "aws_cloudwatch_metric_alarm" "slow" {
  alarm_name                            = "orders-slow"
  namespace                             = "AWS/DynamoDB"
  metric_name                           = "SuccessfulRequestLatency"
  extended_statistic                    = "p99"
  period                                = 300
  evaluation_periods                    = 1
  threshold                             = 0.5
  comparison_operator                   = "GreaterThanThreshold"
  evaluate_low_sample_count_percentiles = "ignore"
  actions_enabled                       = false

  dimensions = {
    TableName = "orders"
    Operation = "GetItem"
  }
}

resource "aws_cloudwatch_dashboard" "orders" {
  dashboard_name = "orders"
  dashboard_body = jsonencode({
    widgets = [
      {
        type   = "metric"
        x      = 0
        y      = 0
        width  = 12
        height = 6
        properties = {
          metrics = [["AWS/DynamoDB", "ConsumedReadCapacityUnits", "TableName", "orders"]]
          region  = "us-east-1"
          title   = var.team
        }
      },
    ]
  })
}
