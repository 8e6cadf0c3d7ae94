# A provisioned table with an index, both scaled by Application Auto Scaling; test_terraform.py
# applies them.

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

variable "target" {
  default = 70
}

variable "max" {
  default = 100
}

# A server that is no AWS account: any keys, and no questions to other services.
provider "aws" {
  region                      = "us-east-1"
  access_key                  = "x"
  secret_key                  = "x"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
  endpoints {
    dynamodb              = var.endpoint
    applicationautoscaling = var.endpoint
  }
}

resource "aws_dynamodb_table" "orders" {
  name           = "scaled"
  billing_mode   = "PROVISIONED"
  read_capacity  = 5
  write_capacity = 5
  hash_key       = "id"

  attribute {
    name = "id"
    type = "S"
  }
  attribute {
    name = "customer"
    type = "S"
  }

  global_secondary_index {
    name            = "by-customer"
    hash_key        = "customer"
    projection_type = "ALL"
    read_capacity   = 5
    write_capacity  = 5
  }

  lifecycle {
    ignore_changes = [read_capacity, write_capacity, global_secondary_index]
  }
}

resource "aws_appautoscaling_target" "writes" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${aws_dynamodb_table.orders.name}"
  scalable_dimension = "dynamodb:table:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = var.max
}

resource "aws_appautoscaling_target" "index" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${aws_dynamodb_table.orders.name}/index/by-customer"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 5
  max_capacity       = var.max
}

resource "aws_appautoscaling_policy" "writes" {
  name               = "writes"
  service_namespace  = aws_appautoscaling_target.writes.service_namespace
  resource_id        = aws_appautoscaling_target.writes.resource_id
  scalable_dimension = aws_appautoscaling_target.writes.scalable_dimension
  policy_type        = "TargetTrackingScaling"

  target_tracking_scaling_policy_configuration {
    target_value = var.target

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_scheduled_action" "morning" {
  name               = "morning"
  service_namespace  = aws_appautoscaling_target.writes.service_namespace
  resource_id        = aws_appautoscaling_target.writes.resource_id
  scalable_dimension = aws_appautoscaling_target.writes.scalable_dimension
  schedule           = "cron(0 8 ? * MON-FRI *)"
  timezone           = "Europe/Berlin"

  scalable_target_action {
    min_capacity = 20
    max_capacity = var.max
  }
}
