/* bulk_request.c -- see bulk_request.h. */
#include "api/import/bulk_request.h"
#include "api/common_shapes.h"
#include "api/import/import_request.h"
#include "base/compiler.h"

static const char *const formats[] = { "ION", "DYNAMODB_JSON", NULL };
static const struct shape format_shape = { .kind = SHAPE_STRING,
                                           .enum_values = formats,
                                           SHAPE_UNBOUNDED };
static const char *const algorithms[] = { "AES256", "KMS", NULL };
static const struct shape algorithm_shape = { .kind = SHAPE_STRING,
                                              .enum_values = algorithms,
                                              SHAPE_UNBOUNDED };
static const struct shape key_shape = { .kind = SHAPE_STRING, .min = 1, .max = 2048 };
static const char *const output_types[] = { "ERROR", "CONDITION_CHECK_FAILURE", NULL };
static const struct shape output_type_shape = { .kind = SHAPE_STRING,
                                                .enum_values = output_types,
                                                SHAPE_UNBOUNDED };
static const struct shape output_list_shape = {
    .kind = SHAPE_LIST, .element = &output_type_shape, .min = 1, .max = 2
};
static const char *const tiers[] = { "ACCELERATED", "STANDARD", NULL };
static const struct shape tier_shape = { .kind = SHAPE_STRING,
                                         .enum_values = tiers,
                                         SHAPE_UNBOUNDED };
static const struct shape units_shape = { .kind = SHAPE_LONG,
                                          .min = BULK_WRITE_UNITS_MIN,
                                          .max = SHAPE_NO_MAX };

static const struct shape_field input_fields[] = {
    { SHAPE_FIELD(struct bulk_input_request, bucket_owner, "S3BucketOwner", &import_owner_shape) },
    { SHAPE_FIELD(struct bulk_input_request, bucket, "S3Bucket", &import_bucket_shape),
      .required = true },
    { SHAPE_FIELD(struct bulk_input_request, key_prefix, "S3KeyPrefix", &import_prefix_shape) },
    { SHAPE_FIELD(struct bulk_input_request, input_format, "InputFormat", &format_shape),
      .required = true },
    { SHAPE_FIELD(struct bulk_input_request, compression, "InputCompressionType",
                  &import_compression_shape) },
};
static const struct shape input_shape = {
    SHAPE_STRUCTURE_OF(struct bulk_input_request, input_fields),
    .type_name = "InputS3Configuration",
};
/* The words of the model ask for the bucket, too. */
static const struct shape_field output_fields[] = {
    { SHAPE_FIELD(struct bulk_output_request, bucket_owner, "S3BucketOwner", &import_owner_shape) },
    { SHAPE_FIELD(struct bulk_output_request, bucket, "S3Bucket", &import_bucket_shape),
      .required = true },
    { SHAPE_FIELD(struct bulk_output_request, key_prefix, "S3KeyPrefix", &import_prefix_shape) },
    { SHAPE_FIELD(struct bulk_output_request, sse_algorithm, "S3SseAlgorithm", &algorithm_shape) },
    { SHAPE_FIELD(struct bulk_output_request, sse_key, "S3SseKmsKeyId", &key_shape) },
    { SHAPE_FIELD(struct bulk_output_request, output_type, "OutputType", &output_list_shape),
      .required = true },
};
static const struct shape output_shape = {
    SHAPE_STRUCTURE_OF(struct bulk_output_request, output_fields),
    .type_name = "OutputS3Configuration",
};

static const struct shape_field start_fields[] = {
    { SHAPE_FIELD(struct start_bulk_request, client_token, "ClientToken", &import_token_shape) },
    { SHAPE_FIELD(struct start_bulk_request, input, "InputS3Configuration", &input_shape),
      .required = true },
    { SHAPE_FIELD(struct start_bulk_request, output, "OutputS3Configuration", &output_shape),
      .required = true },
    { SHAPE_FIELD(struct start_bulk_request, table_name, "TableName", &common_existing_table_name),
      .required = true },
    { SHAPE_FIELD(struct start_bulk_request, max_write_units, "MaxWriteRequestUnits",
                  &units_shape) },
    { SHAPE_FIELD(struct start_bulk_request, tier, "PerformanceTier", &tier_shape) },
};
const struct shape start_bulk_shape = {
    SHAPE_STRUCTURE_OF(struct start_bulk_request, start_fields),
    .type_name = "StartBulkPutItemsInput",
};

static const struct shape arn_shape = { .kind = SHAPE_STRING,
                                        .min = IMPORT_ARN_SIZE_MIN,
                                        .max = IMPORT_ARN_SIZE_MAX };
static const struct shape_field arn_fields[] = {
    { SHAPE_FIELD(struct bulk_arn_request, arn, "BulkOperationArn", &arn_shape), .required = true },
};
const struct shape describe_bulk_shape = {
    SHAPE_STRUCTURE_OF(struct bulk_arn_request, arn_fields),
    .type_name = "DescribeBulkOperationInput",
};
const struct shape cancel_bulk_shape = {
    SHAPE_STRUCTURE_OF(struct bulk_arn_request, arn_fields),
    .type_name = "CancelBulkOperationInput",
};

static const struct shape max_results_shape = { .kind = SHAPE_INTEGER,
                                                .min = 1,
                                                .max = IMPORT_PAGE_SIZE_MAX };
static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_bulk_request, max_results, "MaxResults", &max_results_shape) },
    { SHAPE_FIELD(struct list_bulk_request, next_token, "NextToken", &import_list_token_shape) },
};
const struct shape list_bulk_shape = {
    SHAPE_STRUCTURE_OF(struct list_bulk_request, list_fields),
    .type_name = "ListBulkOperationsInput",
};

bool bulk_request_reports(const struct start_bulk_request *request, const char *type)
{
    const struct bytes *types = request->output->output_type.elements;
    for (size_t i = 0; i < request->output->output_type.kept; i++) {
        if (bytes_equal_text(types[i], type))
            return true;
    }
    return false;
}
