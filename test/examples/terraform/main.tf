# Two tables with everything that Terraform reads back on each plan; test_terraform.py applies them.

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

variable "recovery_days" {
  default = 7
}

variable "team" {
  default = "shop"
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
    dynamodb = var.endpoint
  }
}

resource "aws_dynamodb_table" "orders" {
  name             = "orders"
  billing_mode     = "PAY_PER_REQUEST"
  hash_key         = "customer"
  range_key        = "placed_at"
  stream_enabled   = true
  stream_view_type = "NEW_AND_OLD_IMAGES"

  attribute {
    name = "customer"
    type = "S"
  }
  attribute {
    name = "placed_at"
    type = "S"
  }
  attribute {
    name = "total"
    type = "N"
  }

  local_secondary_index {
    name            = "by_total"
    range_key       = "total"
    projection_type = "KEYS_ONLY"
  }
  global_secondary_index {
    name               = "by_day"
    hash_key           = "placed_at"
    range_key          = "total"
    projection_type    = "INCLUDE"
    non_key_attributes = ["state"]
  }

  ttl {
    attribute_name = "expires_at"
    enabled        = true
  }
  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = var.recovery_days
  }
  tags = {
    team = var.team
  }
}

resource "aws_dynamodb_table_item" "first" {
  table_name = aws_dynamodb_table.orders.name
  hash_key   = aws_dynamodb_table.orders.hash_key
  range_key  = aws_dynamodb_table.orders.range_key
  item = jsonencode({
    customer  = { S = "ada" }
    placed_at = { S = "2026-11-15" }
    total     = { N = "12.5" }
    marks     = { SS = ["gift", "new"] }
    seller    = { S = var.team }
  })
}

resource "aws_dynamodb_resource_policy" "orders" {
  resource_arn = aws_dynamodb_table.orders.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = var.team
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::000000000000:root" }
      Action    = "dynamodb:GetItem"
      Resource  = aws_dynamodb_table.orders.arn
    }]
  })
}

resource "aws_dynamodb_table" "ledger" {
  name                        = "ledger"
  read_capacity               = 5
  write_capacity              = 6
  table_class                 = "STANDARD_INFREQUENT_ACCESS"
  deletion_protection_enabled = false
  hash_key                    = "account"

  attribute {
    name = "account"
    type = "B"
  }
  attribute {
    name = "day"
    type = "N"
  }

  global_secondary_index {
    name            = "by_day"
    hash_key        = "day"
    projection_type = "ALL"
    read_capacity   = 7
    write_capacity  = 8
  }
}
