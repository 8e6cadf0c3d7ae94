# A table with recovery, and what it was as other tables; test_terraform_restore.py applies it.

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
  skip_requesting_account_id  = true
  endpoints {
    dynamodb = var.endpoint
  }
}

variable "to" {
  description = "A moment of the table's history; empty: nothing is restored yet."
  default     = ""
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

resource "aws_dynamodb_table" "latest" {
  count                  = var.to == "" ? 0 : 1
  name                   = "orders-latest"
  restore_source_name    = aws_dynamodb_table.orders.name
  restore_to_latest_time = true
  billing_mode           = "PAY_PER_REQUEST"
  hash_key               = "customer"

  attribute {
    name = "customer"
    type = "S"
  }

  # A restore forgets it: Terraform applies it behind.
  ttl {
    enabled        = true
    attribute_name = "expires"
  }
}

resource "aws_dynamodb_table" "earlier" {
  count               = var.to == "" ? 0 : 1
  name                = "orders-earlier"
  restore_source_name = aws_dynamodb_table.orders.name
  restore_date_time   = var.to
  billing_mode        = "PAY_PER_REQUEST"
  hash_key            = "customer"

  attribute {
    name = "customer"
    type = "S"
  }
}
