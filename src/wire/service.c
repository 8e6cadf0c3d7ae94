/* service.c -- see service.h. DynamoDB comes first, since nearly all requests are its own. */
#include "wire/service.h"
#include <assert.h>
#include "base/compiler.h"

#define JSON_1_0 "application/x-amz-json-1.0"
#define JSON_1_1 "application/x-amz-json-1.1"

static const struct codec_names no_names = { 0 };

/* Sorted; from the service's model. */
static const struct codec_member cloudwatch_members[] = {
    { "AggregateValue", CODEC_DOUBLE },
    { "AlarmConfigurationUpdatedTimestamp", CODEC_TIMESTAMP },
    { "AlarmContributorAttributes", CODEC_MAP },
    { "ApproximateAggregateValue", CODEC_DOUBLE },
    { "ApproximateValue", CODEC_DOUBLE },
    { "Average", CODEC_DOUBLE },
    { "ContributorAttributes", CODEC_MAP },
    { "CreationDate", CODEC_TIMESTAMP },
    { "EndTime", CODEC_TIMESTAMP },
    { "ExpireDate", CODEC_TIMESTAMP },
    { "ExtendedStatistics", CODEC_MAP_OF_DOUBLES },
    { "LastModified", CODEC_TIMESTAMP },
    { "LastUpdateDate", CODEC_TIMESTAMP },
    { "LastUpdatedTimestamp", CODEC_TIMESTAMP },
    { "MaxContributorValue", CODEC_DOUBLE },
    { "Maximum", CODEC_DOUBLE },
    { "MetricWidgetImage", CODEC_BLOB },
    { "Minimum", CODEC_DOUBLE },
    { "SampleCount", CODEC_DOUBLE },
    { "StartDate", CODEC_TIMESTAMP },
    { "StartTime", CODEC_TIMESTAMP },
    { "StateTransitionedTimestamp", CODEC_TIMESTAMP },
    { "StateUpdatedTimestamp", CODEC_TIMESTAMP },
    { "Sum", CODEC_DOUBLE },
    { "Threshold", CODEC_DOUBLE },
    { "Timestamp", CODEC_TIMESTAMP },
    { "Timestamps", CODEC_TIMESTAMP },
    { "UniqueContributors", CODEC_DOUBLE },
    { "Values", CODEC_DOUBLE },
};
static const struct codec_names cloudwatch_names = { cloudwatch_members,
                                                     COUNT_OF(cloudwatch_members) };

static const struct codec_member sts_members[] = { { "Expiration", CODEC_TIMESTAMP } };
static const struct codec_names sts_names = { sts_members, COUNT_OF(sts_members) };

/* Sorted; from the service's model. */
static const struct codec_member cloudformation_members[] = {
    { "CreationTime", CODEC_TIMESTAMP },    { "DeletionTime", CODEC_TIMESTAMP },
    { "LastUpdatedTime", CODEC_TIMESTAMP }, { "LastUpdatedTimestamp", CODEC_TIMESTAMP },
    { "Timestamp", CODEC_TIMESTAMP },
};
static const struct codec_names cloudformation_names = { cloudformation_members,
                                                         COUNT_OF(cloudformation_members) };

static const struct service services[] = {
    {
        .operations = OPERATION_OF_DYNAMODB,
        .name = "DynamoDB",
        .signing_name = "dynamodb",
        .target_prefix = "DynamoDB_20120810",
        .json_type = JSON_1_0,
        .validation_error = ERROR_VALIDATION,
        .internal_error = ERROR_INTERNAL,
        .names = &no_names,
    },
    {
        .operations = OPERATION_OF_STREAMS,
        .name = "DynamoDB Streams",
        .signing_name = "dynamodb",
        .target_prefix = "DynamoDBStreams_20120810",
        .json_type = JSON_1_0,
        .validation_error = ERROR_VALIDATION,
        .internal_error = ERROR_INTERNAL,
        .names = &no_names,
    },
    {
        .operations = OPERATION_OF_STATOR,
        .name = "stator",
        .signing_name = "dynamodb",
        .target_prefix = "Stator_20261101",
        .json_type = JSON_1_0,
        .validation_error = ERROR_VALIDATION,
        .internal_error = ERROR_INTERNAL,
        .names = &no_names,
    },
    {
        .operations = OPERATION_OF_CLOUDWATCH,
        .name = "CloudWatch",
        .signing_name = "monitoring",
        .target_prefix = "GraniteServiceVersion20100801",
        .json_type = JSON_1_0,
        .has_cbor = true,
        .query_version = "2010-08-01",
        .query_namespace = "http://monitoring.amazonaws.com/doc/2010-08-01/",
        .unknown_action_code = "InvalidAction",
        .tells_query_codes = true,
        .message_field = "message",
        .validation_error = ERROR_VALIDATION,
        .internal_error = ERROR_CW_INTERNAL,
        .names = &cloudwatch_names,
    },
    {
        .operations = OPERATION_OF_SCALING,
        .name = "Application Auto Scaling",
        .signing_name = "application-autoscaling",
        .target_prefix = "AnyScaleFrontendService",
        .json_type = JSON_1_1,
        .has_bare_types = true,
        .message_field = "Message",
        .validation_error = ERROR_SCALING_VALIDATION,
        .internal_error = ERROR_SCALING_INTERNAL,
        .names = &no_names,
    },
    {
        .operations = OPERATION_OF_STS,
        .name = "STS",
        .signing_name = "sts",
        .query_version = "2011-06-15",
        .query_namespace = "https://sts.amazonaws.com/doc/2011-06-15/",
        .unknown_action_code = "InvalidAction",
        .validation_error = ERROR_VALIDATION,
        .internal_error = ERROR_INTERNAL,
        .names = &sts_names,
    },
    {
        .operations = OPERATION_OF_CLOUDFORMATION,
        .name = "CloudFormation",
        .signing_name = "cloudformation",
        .query_version = "2010-05-15",
        .query_namespace = "http://cloudformation.amazonaws.com/doc/2010-05-15/",
        .unknown_action_code = "InvalidAction",
        .validation_error = ERROR_VALIDATION,
        .internal_error = ERROR_INTERNAL,
        .names = &cloudformation_names,
    },
    {
        .operations = OPERATION_OF_SSM,
        .name = "Systems Manager",
        .signing_name = "ssm",
        .target_prefix = "AmazonSSM",
        .json_type = JSON_1_1,
        .has_bare_types = true,
        .message_field = "message",
        .validation_error = ERROR_SCALING_VALIDATION, /* By the same name. */
        .internal_error = ERROR_INTERNAL,
        .names = &no_names,
    },
    /* Its protocol is of its own: s3.c. */
    {
        .operations = OPERATION_OF_S3,
        .name = "S3",
        .signing_name = "s3",
        .validation_error = ERROR_S3_INVALID_ARGUMENT,
        .internal_error = ERROR_INTERNAL,
        .names = &no_names,
    },
    /* Terraform's provider may ask IAM for the account before it asks STS. AccessDenied is an
     * answer that it expects: it goes on at once, without a retry or a warning. */
    {
        .operations = OPERATION_SERVICE_COUNT,
        .name = "IAM",
        .signing_name = "iam",
        .query_version = "2010-05-08",
        .query_namespace = "https://iam.amazonaws.com/doc/2010-05-08/",
        .unknown_action_code = "AccessDenied",
        .validation_error = ERROR_VALIDATION,
        .internal_error = ERROR_INTERNAL,
        .names = &no_names,
    },
};

size_t service_count(void)
{
    return COUNT_OF(services);
}

const struct service *service_at(size_t index)
{
    return &services[index];
}

const struct service *service_of(enum operation_service operations)
{
    for (size_t i = 0; i < COUNT_OF(services); i++)
        if (services[i].operations == operations)
            return &services[i];
    assert(false);
    return NULL;
}

const struct service *service_find_target(struct bytes prefix)
{
    for (size_t i = 0; i < COUNT_OF(services); i++)
        if (services[i].target_prefix != NULL &&
            bytes_equal_text(prefix, services[i].target_prefix))
            return &services[i];
    return NULL;
}

const struct service *service_find_version(struct bytes version)
{
    for (size_t i = 0; i < COUNT_OF(services); i++)
        if (services[i].query_version != NULL &&
            bytes_equal_text(version, services[i].query_version))
            return &services[i];
    return NULL;
}

const struct service *service_find_action(struct bytes action)
{
    for (size_t i = 0; i < COUNT_OF(services); i++)
        if (services[i].query_version != NULL && service_operation(&services[i], action) != NULL)
            return &services[i];
    return NULL;
}

const struct operation *service_operation(const struct service *service, struct bytes name)
{
    return service->operations == OPERATION_SERVICE_COUNT
               ? NULL
               : operation_find(service->operations, name);
}
