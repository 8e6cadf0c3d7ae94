/* authorization_deployments.h -- what the operations of CloudFormation, S3, Systems Manager and STS
 * ask for: rows of test_authorization.c. */
#ifndef STATOR_TEST_AUTHORIZATION_DEPLOYMENTS_H
#define STATOR_TEST_AUTHORIZATION_DEPLOYMENTS_H

#define STACK_ARN "arn:aws:cloudformation:eu-west-1:123456789012:stack/app/*"
static const struct asked asked_cfn_continue_update_rollback[] = {
    { "{'StackName':'app'}", "cloudformation:ContinueUpdateRollback", STACK_ARN },
};
static const struct asked asked_cfn_rollback_stack[] = {
    { "{'StackName':'app'}", "cloudformation:RollbackStack", STACK_ARN },
};
static const struct asked asked_cfn_create_change_set[] = {
    { "{'StackName':'app','ChangeSetName':'set','TemplateBody':'{}'}",
      "cloudformation:CreateChangeSet", STACK_ARN },
};
static const struct asked asked_cfn_create_stack[] = {
    { "{'StackName':'app','TemplateBody':'{}'}", "cloudformation:CreateStack", STACK_ARN },
};
static const struct asked asked_cfn_delete_change_set[] = {
    { "{'StackName':'app','ChangeSetName':'set'}", "cloudformation:DeleteChangeSet", STACK_ARN },
};
static const struct asked asked_cfn_delete_stack[] = {
    { "{'StackName':'app'}", "cloudformation:DeleteStack", STACK_ARN },
};
static const struct asked asked_cfn_describe_change_set[] = {
    { "{'StackName':'app','ChangeSetName':'set'}", "cloudformation:DescribeChangeSet", STACK_ARN },
};
static const struct asked asked_cfn_describe_stack_events[] = {
    { "{'StackName':'app'}", "cloudformation:DescribeStackEvents", STACK_ARN },
};
static const struct asked asked_cfn_describe_stack_resource[] = {
    { "{'StackName':'app','LogicalResourceId':'Orders'}", "cloudformation:DescribeStackResource",
      STACK_ARN },
};
static const struct asked asked_cfn_describe_stack_resources[] = {
    { "{'StackName':'app'}", "cloudformation:DescribeStackResources", STACK_ARN },
    { "{}", "cloudformation:DescribeStackResources", "*" },
};
static const struct asked asked_cfn_describe_stacks[] = {
    { "{'StackName':'app'}", "cloudformation:DescribeStacks", STACK_ARN },
    { "{}", "cloudformation:DescribeStacks", "*" },
};
static const struct asked asked_cfn_execute_change_set[] = {
    { "{'StackName':'app','ChangeSetName':'set'}", "cloudformation:ExecuteChangeSet", STACK_ARN },
};
static const struct asked asked_cfn_get_template[] = {
    { "{'StackName':'app'}", "cloudformation:GetTemplate", STACK_ARN },
};
static const struct asked asked_cfn_get_template_summary[] = {
    { "{'StackName':'app'}", "cloudformation:GetTemplateSummary", STACK_ARN },
    { "{}", "cloudformation:GetTemplateSummary", "*" },
};
static const struct asked asked_cfn_list_change_sets[] = {
    { "{'StackName':'app'}", "cloudformation:ListChangeSets", STACK_ARN },
};
static const struct asked asked_cfn_list_stack_resources[] = {
    { "{'StackName':'app'}", "cloudformation:ListStackResources", STACK_ARN },
};
static const struct asked asked_cfn_update_stack[] = {
    { "{'StackName':'app','TemplateBody':'{}'}", "cloudformation:UpdateStack", STACK_ARN },
};
static const struct asked asked_cfn_update_protection[] = {
    { "{'StackName':'app','EnableTerminationProtection':true}",
      "cloudformation:UpdateTerminationProtection", STACK_ARN },
};
static const struct asked asked_cfn_list_exports[] = {
    { "{}", "cloudformation:ListExports", "*" },
};
static const struct asked asked_cfn_list_imports[] = {
    { "{'ExportName':'x'}", "cloudformation:ListImports", "*" },
};
static const struct asked asked_cfn_list_stacks[] = {
    { "{}", "cloudformation:ListStacks", "*" },
};
static const struct asked asked_cfn_validate_template[] = {
    { "{'TemplateBody':'{}'}", "cloudformation:ValidateTemplate", "*" },
};
#define ROLE "arn:aws:iam::123456789012:role/deploy"
static const struct asked asked_assume_role[] = {
    { "{'RoleArn':'" ROLE "','RoleSessionName':'cdk'}", "sts:AssumeRole", ROLE },
};
static const struct asked asked_ssm_get_parameter[] = {
    { "{'Name':'/cdk-bootstrap/x/version'}", "ssm:GetParameter",
      "arn:aws:ssm:eu-west-1:123456789012:parameter/cdk-bootstrap/x/version" },
    { "{'Name':'other'}", "ssm:GetParameter",
      "arn:aws:ssm:eu-west-1:123456789012:parameter/other" },
};
#define BUCKET_ARN "arn:aws:s3:::cdk-assets"
#define IN_BUCKET "{'Bucket':'cdk-assets'}"
#define IN_OBJECT "{'Bucket':'cdk-assets','Key':'a/b'}"
static const struct asked asked_s3_abort_upload[] = {
    { IN_OBJECT, "s3:AbortMultipartUpload", BUCKET_ARN "/a/b" },
};
static const struct asked asked_s3_create_bucket[] = {
    { IN_BUCKET, "s3:CreateBucket", BUCKET_ARN },
};
static const struct asked asked_s3_delete_object[] = {
    { IN_OBJECT, "s3:DeleteObject", BUCKET_ARN "/a/b" },
};
static const struct asked asked_s3_get_bucket_location[] = {
    { IN_BUCKET, "s3:GetBucketLocation", BUCKET_ARN },
};
static const struct asked asked_s3_get_encryption[] = {
    { IN_BUCKET, "s3:GetEncryptionConfiguration", BUCKET_ARN },
};
static const struct asked asked_s3_get_object[] = {
    { IN_OBJECT, "s3:GetObject", BUCKET_ARN "/a/b" },
    { "{'Bucket':'other','Key':'a'}", "s3:GetObject", "arn:aws:s3:::other/a" },
};
static const struct asked asked_s3_list_bucket[] = {
    { IN_BUCKET, "s3:ListBucket", BUCKET_ARN },
};
static const struct asked asked_s3_put_object[] = {
    { "{'Bucket':'cdk-assets','Key':'a/b','Body':'aGVsbG8='}", "s3:PutObject", BUCKET_ARN "/a/b" },
};

#endif
