# A table that is imported from a bucket; test_terraform_import.py applies it.

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

resource "aws_dynamodb_table" "books" {
  name         = "books"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "isbn"

  attribute {
    name = "isbn"
    type = "S"
  }

  import_table {
    input_format           = "DYNAMODB_JSON"
    input_compression_type = "GZIP"
    s3_bucket_source {
      bucket     = "catalogue"
      key_prefix = "books/"
    }
  }
}
