# Contributor Insights of a table and of one of its indexes; test_terraform_insights.py applies it.

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

variable "of_index" {
  default = false
}

# The id of the resource has the account's, so the provider asks STS for it.
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
  attribute {
    name = "day"
    type = "S"
  }

  global_secondary_index {
    name            = "by_day"
    hash_key        = "day"
    projection_type = "ALL"
  }
}

resource "aws_dynamodb_contributor_insights" "orders" {
  table_name = aws_dynamodb_table.orders.name
}

resource "aws_dynamodb_contributor_insights" "by_day" {
  count      = var.of_index ? 1 : 0
  table_name = aws_dynamodb_table.orders.name
  index_name = "by_day"
}
