/* decisions_deployments.c -- rows of the operations that deployment tools call: of
 * CloudFormation, S3, Systems Manager and STS. Each asks for its own action on its own resource. */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define MAY(action, resource) "{'Effect':'Allow','Action':'" action "','Resource':'" resource "'}"
#define MAY_NOT(action, resource) "{'Effect':'Deny','Action':'" action "','Resource':'" resource "'}"
#define ASKS_FOR(body, action, resource, ...)                                                      \
    { NOTHING, NULL, NULL, body, NO(action, resource) },                                           \
    { ALLOW_ON("*", "*"), NULL, NULL, body, NO(action, resource) },                                \
    { MAY(action, "arn:aws:s3:::other"), NULL, NULL, body, NO(action, resource) },                 \
    { ALL "," MAY_NOT(action, resource), NULL, NULL, body, DENIED(action, resource) },             \
    { MAY(action, resource), NULL, NULL, body, __VA_ARGS__ },                                      \
    { ALL, NULL, NULL, body, __VA_ARGS__ }

#define BUCKET_ARN "arn:aws:s3:::cdk-assets"
#define OBJECT_ARN BUCKET_ARN "/a/b"
#define OF_BUCKET "{'Bucket':'cdk-assets'}"
#define OF_OBJECT "{'Bucket':'cdk-assets','Key':'a/b'}"
#define ROLE_ARN "arn:aws:iam::" ACCOUNT ":role/deploy"
#define PARAMETER_ARN "arn:aws:ssm:eu-west-1:" ACCOUNT ":parameter/cdk-bootstrap/x/version"

const struct decision decisions_assume_role[] = {
    ASKS_FOR("{'RoleArn':'" ROLE_ARN "','RoleSessionName':'cdk'}", "sts:AssumeRole", ROLE_ARN, INVALID),
    END,
};
const struct decision decisions_ssm_get_parameter[] = {
    ASKS_FOR("{'Name':'/cdk-bootstrap/x/version'}", "ssm:GetParameter", PARAMETER_ARN, YES),
    { ALL, NULL, NULL, "{'Name':'other'}", FAILS(ERROR_SSM_PARAMETER_NOT_FOUND) },
    END,
};
#define UPLOAD_ID "'UploadId':'00000000-0000-4000-8000-000000000000'"
const struct decision decisions_s3_abort_upload[] = {
    ASKS_FOR("{'Bucket':'cdk-assets','Key':'a/b'," UPLOAD_ID "}", "s3:AbortMultipartUpload", OBJECT_ARN, FAILS(ERROR_S3_NO_SUCH_UPLOAD)),
    END,
};
const struct decision decisions_s3_create_bucket[] = {
    ASKS_FOR(OF_BUCKET, "s3:CreateBucket", BUCKET_ARN, YES),
    { ALL, NULL, NULL, "{'Bucket':'other'}", FAILS(ERROR_S3_NO_SUCH_BUCKET) },
    END,
};
const struct decision decisions_s3_delete_object[] = {
    ASKS_FOR(OF_OBJECT, "s3:DeleteObject", OBJECT_ARN, YES),
    END,
};
const struct decision decisions_s3_get_bucket_location[] = {
    ASKS_FOR(OF_BUCKET, "s3:GetBucketLocation", BUCKET_ARN, YES),
    END,
};
const struct decision decisions_s3_get_encryption[] = {
    ASKS_FOR(OF_BUCKET, "s3:GetEncryptionConfiguration", BUCKET_ARN, FAILS(ERROR_S3_NO_ENCRYPTION)),
    END,
};
const struct decision decisions_s3_get_object[] = {
    ASKS_FOR(OF_OBJECT, "s3:GetObject", OBJECT_ARN, FAILS(ERROR_S3_NO_SUCH_KEY)),
    { ALL, NULL, NULL, "{'Bucket':'other','Key':'a'}", FAILS(ERROR_S3_NO_SUCH_BUCKET) },
    END,
};
const struct decision decisions_s3_list_bucket[] = {
    ASKS_FOR(OF_BUCKET, "s3:ListBucket", BUCKET_ARN, YES),
    END,
};
const struct decision decisions_s3_put_object[] = {
    ASKS_FOR("{'Bucket':'cdk-assets','Key':'a/b','Body':'aGVsbG8='}", "s3:PutObject", OBJECT_ARN, YES),
    ASKS_FOR("{'Bucket':'cdk-assets','Key':'a/b','BeginsUpload':true}", "s3:PutObject", OBJECT_ARN, YES),
    ASKS_FOR("{'Bucket':'cdk-assets','Key':'a/b','PartNumber':1," UPLOAD_ID "}", "s3:PutObject", OBJECT_ARN, FAILS(ERROR_S3_NO_SUCH_UPLOAD)),
    ASKS_FOR("{'Bucket':'cdk-assets','Key':'a/b'," UPLOAD_ID "}", "s3:PutObject", OBJECT_ARN, FAILS(ERROR_S3_NO_SUCH_UPLOAD)),
    END,
};

/* --- CloudFormation: its own action on the stack, and what a deployment does to tables --- */

#define CFN "cloudformation:"
#define STACK_ARN "arn:aws:cloudformation:eu-west-1:" ACCOUNT ":stack/app/*"
#define MADE_ARN "arn:aws:cloudformation:eu-west-1:" ACCOUNT ":stack/made/*"
#define OF_MADE(more) "{'StackName':'made'" more "}"
#define OF_STACK(more) "{'StackName':'app'" more "}"
/* Inside a string of a body. */
#define TABLE_TEMPLATE ",'TemplateBody':'{\\\"Resources\\\":{\\\"T\\\":{\\\"Type\\\":\\\"AWS::DynamoDB::Table\\\",\\\"Properties\\\":{\\\"TableName\\\":\\\"Made\\\",\\\"BillingMode\\\":\\\"PAY_PER_REQUEST\\\",\\\"AttributeDefinitions\\\":[{\\\"AttributeName\\\":\\\"p\\\",\\\"AttributeType\\\":\\\"S\\\"}],\\\"KeySchema\\\":[{\\\"AttributeName\\\":\\\"p\\\",\\\"KeyType\\\":\\\"HASH\\\"}]}}}}'"

const struct decision decisions_cfn_continue_update_rollback[] = {
    ASKS_FOR(OF_STACK(""), CFN "ContinueUpdateRollback", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_rollback_stack[] = {
    ASKS_FOR(OF_STACK(""), CFN "RollbackStack", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_create_change_set[] = {
    ASKS_FOR(OF_STACK(",'ChangeSetName':'set','TemplateBody':'{}'"), CFN "CreateChangeSet", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_create_stack[] = {
    { NOTHING, NULL, NULL, OF_MADE(TABLE_TEMPLATE), NO(CFN "CreateStack", MADE_ARN) },
    { ALLOW_ON("*", "*"), NULL, NULL, OF_MADE(TABLE_TEMPLATE), NO(CFN "CreateStack", MADE_ARN) },
    { ALL "," MAY_NOT(CFN "CreateStack", MADE_ARN), NULL, NULL, OF_MADE(TABLE_TEMPLATE), DENIED(CFN "CreateStack", MADE_ARN) },
    { MAY(CFN "CreateStack", MADE_ARN), NULL, NULL, OF_MADE(TABLE_TEMPLATE), NO("CreateTable", "Made") },
    { MAY(CFN "CreateStack", MADE_ARN) "," ONLY("CreateTable", "Other"), NULL, NULL, OF_MADE(TABLE_TEMPLATE), NO("CreateTable", "Made") },
    { ALL "," DENY_ON("CreateTable", ARN("Made")), NULL, NULL, OF_MADE(TABLE_TEMPLATE), DENIED("CreateTable", "Made") },
    { MAY(CFN "CreateStack", MADE_ARN) "," ONLY("CreateTable", "Made"), NULL, NULL, OF_MADE(TABLE_TEMPLATE), YES },
    END,
};
const struct decision decisions_cfn_delete_change_set[] = {
    ASKS_FOR(OF_STACK(",'ChangeSetName':'set'"), CFN "DeleteChangeSet", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_delete_stack[] = {
    ASKS_FOR(OF_STACK(""), CFN "DeleteStack", STACK_ARN, YES),
    END,
};
const struct decision decisions_cfn_describe_change_set[] = {
    ASKS_FOR(OF_STACK(",'ChangeSetName':'set'"), CFN "DescribeChangeSet", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_describe_stack_events[] = {
    ASKS_FOR(OF_STACK(""), CFN "DescribeStackEvents", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_describe_stack_resource[] = {
    ASKS_FOR(OF_STACK(",'LogicalResourceId':'Orders'"), CFN "DescribeStackResource", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_describe_stack_resources[] = {
    ASKS_FOR(OF_STACK(""), CFN "DescribeStackResources", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_describe_stacks[] = {
    ASKS_FOR(OF_STACK(""), CFN "DescribeStacks", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_execute_change_set[] = {
    ASKS_FOR(OF_STACK(",'ChangeSetName':'set'"), CFN "ExecuteChangeSet", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_get_template[] = {
    ASKS_FOR(OF_STACK(""), CFN "GetTemplate", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_get_template_summary[] = {
    ASKS_FOR(OF_STACK(""), CFN "GetTemplateSummary", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_list_change_sets[] = {
    ASKS_FOR(OF_STACK(""), CFN "ListChangeSets", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_list_stack_resources[] = {
    ASKS_FOR(OF_STACK(""), CFN "ListStackResources", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_update_stack[] = {
    ASKS_FOR(OF_STACK(",'TemplateBody':'{}'"), CFN "UpdateStack", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_update_protection[] = {
    ASKS_FOR(OF_STACK(",'EnableTerminationProtection':true"), CFN "UpdateTerminationProtection", STACK_ARN, INVALID),
    END,
};
const struct decision decisions_cfn_list_exports[] = {
    { NOTHING, NULL, NULL, "{}", NO(CFN "ListExports", "*") },
    { ALL "," MAY_NOT(CFN "ListExports", "*"), NULL, NULL, "{}", DENIED(CFN "ListExports", "*") },
    { ALL, NULL, NULL, "{}", YES },
    END,
};
const struct decision decisions_cfn_list_imports[] = {
    { NOTHING, NULL, NULL, "{'ExportName':'x'}", NO(CFN "ListImports", "*") },
    { ALL "," MAY_NOT(CFN "ListImports", "*"), NULL, NULL, "{'ExportName':'x'}", DENIED(CFN "ListImports", "*") },
    { ALL, NULL, NULL, "{'ExportName':'x'}", INVALID },
    END,
};
const struct decision decisions_cfn_list_stacks[] = {
    { NOTHING, NULL, NULL, "{}", NO(CFN "ListStacks", "*") },
    { ALL "," MAY_NOT(CFN "ListStacks", "*"), NULL, NULL, "{}", DENIED(CFN "ListStacks", "*") },
    { ALL, NULL, NULL, "{}", YES },
    END,
};
const struct decision decisions_cfn_validate_template[] = {
    { NOTHING, NULL, NULL, "{'TemplateBody':'{}'}", NO(CFN "ValidateTemplate", "*") },
    { ALL "," MAY_NOT(CFN "ValidateTemplate", "*"), NULL, NULL, "{'TemplateBody':'{}'}", DENIED(CFN "ValidateTemplate", "*") },
    { ALL, NULL, NULL, "{'TemplateBody':'{}'}", INVALID },
    END,
};
