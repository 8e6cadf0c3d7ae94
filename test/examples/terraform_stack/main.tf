# A stack of CloudFormation; test_terraform_stack.py applies it.

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

variable "stage" {
  default = "dev"
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
    cloudformation = var.endpoint
  }
}

resource "aws_cloudformation_stack" "shop" {
  name       = "shop"
  parameters = { Stage = var.stage }
  tags       = { team = "blue" }
  template_body = jsonencode({
    Parameters = { Stage = { Type = "String" } }
    Resources = {
      Orders = {
        Type = "AWS::DynamoDB::Table"
        Properties = {
          TableName            = { "Fn::Sub" = "orders-$${Stage}" }
          BillingMode          = "PAY_PER_REQUEST"
          AttributeDefinitions = [{ AttributeName = "id", AttributeType = "S" }]
          KeySchema            = [{ AttributeName = "id", KeyType = "HASH" }]
        }
      }
    }
    Outputs = { Name = { Value = { Ref = "Orders" } } }
  })
}

output "name" {
  value = aws_cloudformation_stack.shop.outputs["Name"]
}
