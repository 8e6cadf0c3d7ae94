# A global table of three regions, through one endpoint; test_terraform_global.py applies it.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

variable "endpoint" {
  description = "Where stator listens. It relays what is signed for the other regions."
}

variable "protected" {
  default = true
}

variable "recovery" {
  description = "Whether the replicas keep every change."
  default     = true
}

variable "replicas" {
  type    = list(string)
  default = ["eu-west-1", "us-west-2"]
}

variable "team" {
  default = "shop"
}

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
  name                        = "orders"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "customer"
  range_key                   = "placed_at"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = var.protected

  attribute {
    name = "customer"
    type = "S"
  }
  attribute {
    name = "placed_at"
    type = "S"
  }

  global_secondary_index {
    name            = "by_day"
    hash_key        = "placed_at"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "expires_at"
    enabled        = true
  }
  point_in_time_recovery {
    enabled = true
  }
  tags = {
    team = var.team
  }

  dynamic "replica" {
    for_each = toset(var.replicas)
    content {
      region_name            = replica.value
      point_in_time_recovery = var.recovery
      propagate_tags         = true
    }
  }
}

resource "aws_dynamodb_table_item" "first" {
  table_name = aws_dynamodb_table.orders.name
  hash_key   = aws_dynamodb_table.orders.hash_key
  range_key  = aws_dynamodb_table.orders.range_key
  item = jsonencode({
    customer  = { S = "ada" }
    placed_at = { S = "2026-11-15" }
  })
}
