# A table that streams its changes to Kinesis; test_terraform_kinesis.py applies it.

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

variable "stream" {
  default = "changes"
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
}

resource "aws_dynamodb_kinesis_streaming_destination" "orders" {
  table_name = aws_dynamodb_table.orders.name
  stream_arn = "arn:aws:kinesis:us-east-1:000000000000:stream/${var.stream}"
}
