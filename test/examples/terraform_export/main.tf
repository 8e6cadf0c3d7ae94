# An export of a table to a bucket; test_terraform_export.py applies it.

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

provider "aws" {
  region                      = "us-east-1"
  access_key                  = "x"
  secret_key                  = "x"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  endpoints {
    dynamodb = var.endpoint
    iam      = var.endpoint
    sts      = var.endpoint
  }
}

resource "aws_dynamodb_table" "orders" {
  name         = "orders"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "customer"

  attribute {
    name = "customer"
    type = "S"
  }

  point_in_time_recovery {
    enabled = true
  }
}

resource "aws_dynamodb_table_item" "first" {
  table_name = aws_dynamodb_table.orders.name
  hash_key   = aws_dynamodb_table.orders.hash_key
  item       = jsonencode({ customer = { S = "ann" }, total = { N = "12.5" } })
}

resource "aws_dynamodb_table_export" "orders" {
  table_arn  = aws_dynamodb_table.orders.arn
  s3_bucket  = "exports"
  s3_prefix  = "nightly"
  depends_on = [aws_dynamodb_table_item.first]
}

output "manifest" {
  value = aws_dynamodb_table_export.orders.manifest_files_s3_key
}

output "item_count" {
  value = aws_dynamodb_table_export.orders.item_count
}
